"""What must hold of a conversation. Each check yields what does not; its name is its row in the table."""

from collections.abc import Iterator, Sequence

import msgspec

from prove.records import GroundTruthCall
from prove.servers.catalog import load, toolbox
from prove.verify.asks import asked_for
from prove.verify.effects import alternatives, arguments, effects, only_told_by, together
from prove.verify.evidence import Bound, Evidence, run, scalars, stands_at, told_by, untraced
from prove.verify.facts import covers, told
from prove.verify.mentions import Words, asked, asked_back, misunderstood, offer_before
from prove.verify.refusals import recoveries
from prove.verify.replies import replies
from prove.verify.rules import broken
from prove.verify.words import choices_of, heard, verbatim, without
from prove.verify.working import wrong

_DISTRACTORS = range(3, 61)  # three to eight in the paper's mix, up to sixty in ours


def candidates(e: Evidence) -> Iterator[str]:
    """The candidate tools exist and hold every call; three distractors or more are other servers' tools, or there are none."""
    record, own = e.record, toolbox(e.record.homes)
    if unknown := set(record.tools) - own.keys():
        yield f"{', '.join(record.homes)}: there is no {', '.join(sorted(unknown))}"
    if len(set(record.tools)) != len(record.tools):
        yield "a candidate is listed twice"
    if missing := {c.name for c in record.calls} - set(record.tools):
        yield f"{', '.join(sorted(missing))} is called but no candidate"
    pairs = [name.split(".") for name in record.distractors]
    if any(server in record.homes or tool not in load(server).server.tools for server, tool in pairs):
        yield f"not all of these are other servers' tools: {', '.join(record.distractors)}"
    if pairs and (len(pairs) not in _DISTRACTORS or len({tool for _, tool in pairs} - own.keys()) != len(pairs)):
        yield f"{len(pairs)} distractors, or two tools of one name: {', '.join(record.distractors)}"


def kind(e: Evidence) -> Iterator[str]:
    """An abstention has no call, a clarification none in its last turn; any other conversation ends with something done."""
    record, last = e.record, e.record.turns[-1]
    fits = {"abstention": not record.calls, "clarification": bool(record.calls) and not last.calls}
    if not fits.get(record.kind, bool(last.calls or last.attempts or offer_before(e, len(record.turns) - 1))):
        yield f"{record.kind} with {len(record.calls)} calls, {len(last.calls)} of them in the last turn"
    if len({c.id for c in record.calls}) != len(record.calls):
        yield "two calls have the same id"


def replay(e: Evidence) -> Iterator[str]:
    """Twice from the seed, every call succeeds with the same bytes, attempts fail as stated, and the end is the certificate's."""
    yield from e.whole.refused
    yield from e.whole.attempts
    end, certificate = e.whole.states[-1], e.record.certificate
    if run(e.record).texts != e.whole.texts:
        yield "the results differ from one run to the next"
    if certificate is None:
        yield "there is no certificate"
    elif (end.digest(), end.outcome()) != (certificate.replay, certificate.outcome):
        yield "the end is not the state of the certificate"


def answers(e: Evidence) -> Iterator[str]:
    """What the user is told stands in the result where the record says, and is of the records that it says."""
    calls = {c.id: c for c in e.record.calls}
    for answer in (a for turn in e.record.turns for a in turn.answers):
        try:
            there = stands_at(e.whole.results[answer.call], answer.path) == answer.value
        except (LookupError, TypeError):
            there = False
        if not there:
            yield f"{answer.call} does not hold {answer.value!r} at {answer.path}"
        elif answer.records != (whose := _records_at(e, calls[answer.call], answer.path)):
            yield f"{answer.path} of {answer.call} is of {', '.join(whose)}, not of {', '.join(answer.records) or 'nothing'}"


def _records_at(e: Evidence, call: GroundTruthCall, path: str) -> list[str]:
    """Whose the scalars are that stand at a path, in order."""
    names, found = path.split("."), list[str]()
    for place, record, *_ in told(e.whole.states[0], call.name, call.arguments, e.whole.results[call.id]):
        steps, left = place.split("."), list(names)
        while steps and left:
            step = steps.pop(0)
            if step == left[0]:
                del left[0]
            elif not step.isdigit():
                break
        found += [] if left else [record or ""]
    return found


def provenance(e: Evidence) -> Iterator[str]:
    """Every argument value was said, was read before, or is the schema's default."""
    for call, name, value in untraced(e, e.whole.results, e.said):
        yield f"{call}: {name} = {value!r} is from nowhere"


def workings(e: Evidence) -> Iterator[str]:
    """What was worked out from results comes out again, the words say it, and the calls that hinge on it come after it."""
    yield from wrong(e.record, e.whole.results, e.said)


def secrets(e: Evidence) -> Iterator[str]:
    """A PIN, password or token stands to the letter in the user's words so far or in an earlier result."""
    tools, shown = toolbox(e.record.homes), set[str]()
    for turn, words in zip(e.record.turns, e.said, strict=True):
        for call in turn.calls:
            for name in (p.name for p in tools[call.name][1].parameters if p.secret and p.name in call.arguments):
                if not verbatim(call.arguments[name], words) and msgspec.json.encode(call.arguments[name]).decode() not in shown:
                    yield f"{call.id}: nobody told the {name}"
            shown |= {text for _, text in scalars(e.whole.results.get(call.id))}


def origins(e: Evidence) -> Iterator[str]:
    """Every argument has an origin; one like "c1: items.2.account_id" holds that very value, in a call that must come before."""
    done = list[str]()
    for call in e.record.calls:
        if call.origin.keys() != call.arguments.keys():
            yield f"{call.id} states origins for {', '.join(call.origin) or 'nothing'}"
        for name in call.origin.keys() & call.arguments.keys():
            value = call.arguments[name]
            for source, path in _cited(call.origin[name]):
                if source not in done or not _holds(e, source, path, value if isinstance(value, list) else [value]):
                    yield f"{call.id}: {name} is not at {source}: {path}"
                elif source not in call.after:
                    yield f"{call.id} takes {name} from {source} but need not come after it"
        done.append(call.id)


def _cited(origin: str) -> Iterator[tuple[str, str]]:
    """(call, path) of each part of an origin that is a result."""
    for part in origin.split("; "):
        source, colon, path = part.partition(": ")
        if colon and source not in ("user", "worked out"):
            yield source, path


def _holds(e: Evidence, source: str, path: str, values: list[object]) -> bool:
    try:
        return stands_at(e.whole.results[source], path) in values
    except (LookupError, TypeError):
        return False


def necessity(e: Evidence) -> Iterator[str]:
    """Without any one call, another is refused, a value has no source or nothing tells that it is meant, the end differs, or something
    stays unread."""
    for call in e.record.calls:
        rest = run(e.record, leave_out=call.id)
        if e.reached(rest) and not any(untraced(e, rest.results, e.said)) and not any(only_told_by(e, call, rest)):
            yield f"nothing is lost without {call.id} {call.name}"


def order(e: Evidence) -> Iterator[str]:
    """The edges point back; with each turn's calls as far from their order as the edges allow, the goal is reached all the same."""
    number = {c.id: i for i, c in enumerate(e.record.calls)}
    forward = [f"{c.id} after {a}" for c in e.record.calls for a in c.after if number.get(a, len(number)) >= number[c.id]]
    if forward:
        yield f"not an earlier call: {', '.join(forward)}"
    elif e.record.calls and not e.reached(run(e.record, order=(turned := _turned_round(e.record.calls)))):
        yield f"the edges allow {', '.join(turned)}, which fails"


def _turned_round(calls: Sequence[GroundTruthCall]) -> list[str]:
    """The calls in an order that the edges allow: again and again the last one goes first that has nothing to wait for."""
    left, out = {c.id: c for c in calls}, list[str]()
    while left:
        ready = [c.id for c in left.values() if not left.keys() & set(c.after)]
        out.append(ready[-1])
        del left[ready[-1]]
    return out


def goal(e: Evidence) -> Iterator[str]:
    """No turn's goal is true before it, nor that of the whole: calls change the state, or tell something not told before."""
    known = set[Bound]()
    for i, turn in enumerate(e.record.turns):
        wanted = {fact for answer in turn.answers for fact in told_by(answer)}
        if turn.calls and covers(known, wanted) and e.whole.states[i].outcome() == e.whole.states[i + 1].outcome():
            yield f"turn {i + 1} wants nothing that was not so before it"
        known = known.union(*(e.whole.told.get(call.id, set()) for call in turn.calls))
    silent = not any(turn.answers for turn in e.record.turns)
    if e.record.calls and silent and e.whole.states[0].outcome() == e.whole.states[-1].outcome():
        yield "the end is the beginning, and nothing is told: silence reaches it"


def questions(e: Evidence) -> Iterator[str]:
    """Where the assistant asks back, the answer gives a value that the query did not, or tells more of a record that is meant."""
    for i, turn in enumerate(e.record.turns):
        given = [(call, name) for call in turn.calls for name in call.arguments]
        asks = given and asked_back(e, i) and not e.record.turns[i - 1].held  # to ask for leave is no question
        if asks and all(_said_before(e, i, *one) for one in given):
            yield f"turn {i}: the assistant asks back though everything was said"


def _said_before(e: Evidence, i: int, call: GroundTruthCall, name: str) -> bool:
    """Whether a turn's query gives an argument before the assistant asks back as well as it does with the answer."""
    (home, tool), value = toolbox(e.record.homes)[call.name], call.arguments[name]
    parameter = next(p for p in tool.parameters if p.name == name)
    others = [v for n, v in call.arguments.items() if n != name and isinstance(v, str)]
    *before, _ = query = without(asked(e, i), others)
    first, both = (Words(home, words, e.whole.states[i]) for words in (before, query))
    if kind := parameter.id_type:
        return first.single_out(kind, value) and first.told(kind, value) == both.told(kind, value)
    spec, choices = tool.input_schema["properties"][name], choices_of(first.server, name, parameter.hint)
    return heard(value, spec, before, choices) not in ("", "number word")  # "just one column of it" gives no number


def refusal(e: Evidence) -> Iterator[str]:
    """Where the tool for the last query is missing, no other candidate is asked for in it."""
    if e.record.kind != "clarification":
        return
    words = e.record.turns[-1].user
    for tools in (tools for home in e.record.homes for tools in asked_for(home, words)):
        if tools <= set(e.record.tools):
            yield f"{words!r} asks for {' or '.join(sorted(tools))}, which is there"


def policy(e: Evidence) -> Iterator[str]:
    """The rules in the prompt are those of the server, the calls keep them, and while something is held nothing changes."""
    yield from broken(e)


def ambiguity(e: Evidence) -> Iterator[str]:
    """The words for a record fit no other of its kind, or it is the one that the conversation was about just before."""
    yield from misunderstood(e)


def recovery(e: Evidence) -> Iterator[str]:
    """What is refused is put right, done another way, offered or given up; where it stays undone, the reason was read."""
    yield from recoveries(e)


ALL = (
    candidates, kind, replay, answers, provenance, workings, secrets, origins, necessity, together, arguments, effects, alternatives, order,
    goal, questions, refusal, policy, ambiguity, recovery, replies,
)  # fmt: skip
NEED_A_RUN = ALL[3:]  # where the ground truth does not run, these have nothing to look at
