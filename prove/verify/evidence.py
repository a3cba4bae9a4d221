"""What happens when a conversation's ground truth is run: the evidence that the checks look at."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from prove.records import Answer, Attempt, Conversation
from prove.servers.catalog import toolbox
from prove.servers.session import Session
from prove.verify.facts import covers, told
from prove.verify.words import Said, choices_of, heard
from prove.verify.working import hinges, lost
from prove.verify.working import known as came_out

Leaf = tuple[str, str]  # the name of a field, and the JSON text of the scalar in it
Bound = tuple[str | None, str, str]  # the same with the record before it


class Run(msgspec.Struct):
    """Calls run in some order on a fresh session."""

    texts: dict[str, str] = {}  # call -> what it returned
    results: dict[str, Any] = {}  # the same as plain data
    refused: list[str] = []  # what the calls that were refused got
    attempts: list[str] = []  # what is wrong with the attempts that should fail
    states: list[Session] = []  # at the start of each turn, then at the end
    told: dict[str, set[Bound]] = {}  # call -> the facts in its result

    def read(self, wanted: set[Bound]) -> bool:
        """Whether all of these were in some result."""
        return covers(set().union(*self.told.values()), wanted)


class Evidence(msgspec.Struct):
    """One conversation, its ground truth run as it stands, and by each turn what its user has said."""

    record: Conversation
    whole: Run
    said: list[list[Said]]

    @property
    def wanted(self) -> set[Bound]:
        """Everything that the user asked to know."""
        return {leaf for turn in self.record.turns for answer in turn.answers for leaf in told_by(answer)}

    def reached(self, other: Run) -> bool:
        """Whether another run of the calls comes to the same end, with nothing refused and everything wanted read."""
        return not other.refused and self.ends_as(other)

    def ends_as(self, other: Run) -> bool:
        """Whether another run comes to the same end with everything wanted read, whatever was refused on the way."""
        return other.read(self.wanted) and other.states[-1].outcome() == self.whole.states[-1].outcome()


def gather(record: Conversation) -> Evidence:
    """Run a conversation, and collect who said what on which day."""
    whole = run(record)
    words = [(turn.user, state.clock.now.date()) for turn, state in zip(record.turns, whole.states, strict=False)]
    rules = [(record.policy, words[0][1])] if record.policy else []  # what an assistant is told before has been told too
    return Evidence(record, whole, [[*rules, *words[: i + 1]] for i in range(len(words))])


def run(record: Conversation, leave_out: str = "", order: Sequence[str] = ()) -> Run:
    """Run a conversation turn by turn: without one call, or with the calls of each turn in another order."""
    session, out = Session.open(record.homes, record.seed, only=record.tools), Run()
    for turn in record.turns:
        session.advance(minutes=turn.minutes_later)
        out.states.append(session.fork())
        for call in sorted(turn.calls, key=lambda c: order.index(c.id)) if order else turn.calls:
            if not (leave_out or order):
                out.attempts += _attempts(session, turn.attempts, call.id)
            if call.id == leave_out:
                continue
            result = session.call(call.name, call.arguments)
            if result.ok:
                value = result.value
                out.texts[call.id], out.results[call.id] = result.text, value
                out.told[call.id] = {t.fact for t in told(out.states[0], call.name, call.arguments, value)}
            else:
                out.refused.append(f"{call.id} {call.name}: {result.text}")
        if not (leave_out or order):
            out.attempts += _attempts(session, turn.attempts, "")
    out.states.append(session)
    return out


def _attempts(session: Session, attempts: Iterable[Attempt], before: str) -> Iterator[str]:
    for attempt in (a for a in attempts if a.before == before):
        state, result = session.digest(), session.call(attempt.name, attempt.arguments)
        expected = msgspec.json.encode({"error": {"code": attempt.code, "message": attempt.message}}).decode()
        if result.text != expected or session.digest() != state:
            yield f"{attempt.name} should be refused with {expected} and leave no trace, it gave {result.text[:200]}"


def scalars(value: Any, field: str = "") -> Iterator[Leaf]:
    """Every scalar at any depth of a result, with the name of its field."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from scalars(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner, field)
    else:
        yield field, msgspec.json.encode(value).decode()


def told_by(answer: Answer) -> set[Bound]:
    """What has to be read to give an answer."""
    found = list(scalars(answer.value, answer.path.rsplit(".", 1)[-1]))
    records: Sequence[str | None] = answer.records or [None] * len(found)
    return {(record, *leaf) for record, leaf in zip(records, found, strict=False)}


def stands_at(value: Any, path: str) -> Any:
    """What stands at a dotted path: a number picks an item of a list, a name is taken of every item. Raises LookupError or
    TypeError where there is nothing."""
    for step in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value[step]
        elif step.isdigit():
            value = value[int(step)]
        else:
            value = [item[step] for item in _in_a_row(value)]
    return value


def _in_a_row(items: list[Any]) -> Iterator[Any]:
    """The items of a list, and those of the lists in it."""
    for item in items:
        yield from _in_a_row(item) if isinstance(item, list) else (item,)


def untraced(e: Evidence, results: dict[str, Any], said: list[list[Said]]) -> Iterator[tuple[str, str, Any]]:
    """(call, argument, value) of every value of the calls with a result that is neither in the words so far, nor in an earlier
    result, nor the schema's default; and what was worked out and does not come out."""
    tools, known = toolbox(e.record.homes), list[Leaf]()
    offered = list[Said]()  # what the assistant has offered, the user says with "yes"
    for turn, so_far in zip(e.record.turns, said, strict=True):
        words = [*so_far, *offered]
        offered += [(turn.reply, so_far[-1][1])] if any(a.recovery == "asked" for a in turn.attempts) else []
        yield from (("", what, None) for what in lost([w for w in turn.workings if not w.calls], results))
        for call in (c for c in turn.calls if c.id in results):
            workings = hinges(e.record, call.id)
            yield from ((call.id, what, None) for what in lost(workings, results))
            home, tool = tools[call.name]
            for p in tool.parameters:
                spec, value = tool.input_schema["properties"][p.name], call.arguments.get(p.name)
                if p.name not in call.arguments or ("default" in spec and spec["default"] == value):
                    continue
                choices = choices_of(home, p.name, p.hint)
                items, spec = (value, spec["items"]) if isinstance(value, list) else ([value], spec)
                for item in items:
                    if not heard(item, spec, words, choices) and not _shown(item, p.name, known) and not came_out(item, workings, results):
                        yield call.id, p.name, item
            known += scalars(results[call.id])


def _shown(value: Any, name: str, known: list[Leaf]) -> bool:
    """Whether a result has shown a value: a text anywhere, anything else in a field of the argument's own name."""
    text = msgspec.json.encode(value).decode()
    return any(shown == text and (isinstance(value, str) or field == name) for field, shown in known)
