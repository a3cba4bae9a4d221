"""What each step is for, and that nothing is asked for which the goal can do without: no call, no set of calls, no argument."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

import msgspec

from prove.facts import NEW, all_told, is_new, located, told
from prove.records import Conversation, Effect, Fact, GroundTruthCall
from prove.servers.server import Server
from prove.servers.session import Session
from prove.synthesis.planning import working
from prove.synthesis.proof.provenance import Said, Seen, cited, places, said_by, says, sources
from prove.synthesis.proof.replay import Rejected, Whole


class Needs(msgspec.Struct):
    """What only this call shows: facts that the user asked for, and values that a later call takes, with the words by then."""

    facts: set[Fact]
    values: dict[Any, list[Said]]
    kinds: set[Any]  # the id types of those values

    def met_by(self, facts: set[Fact]) -> bool:
        return all_told(self.facts, facts) and self.values.keys() <= {fact.value for fact in facts}


class Truth:
    """A traced conversation that has been run: what its steps are for."""

    def __init__(self, conversation: Conversation, whole: Whole) -> None:
        self.conversation, self.whole, self.calls = conversation, whole, conversation.calls
        self.hinged = {source for turn in conversation.turns for w in turn.workings for source, _ in working.places(w)}
        self.asked = {answer.call for turn in conversation.turns for answer in turn.answers}
        self.words = {call.id: said for turn, said in zip(conversation.turns, said_by(conversation), strict=True) for call in turn.calls}
        self.needs = self._needs()
        self.changed = {call.id: self._changes(i) for i, call in enumerate(self.calls)}

    def _needs(self) -> dict[str, Needs]:
        """What each call alone shows; of the values that later arguments take, those that no other result gives as well by then."""
        told, out, seen = self.whole.told, dict[str, Needs](), Seen()
        for call in self.calls:
            others = (facts for other, facts in told.items() if other != call.id)
            out[call.id] = Needs((self.whole.wanted & told[call.id]).difference(*others), {}, set())
        for call in self.calls:
            words = self.words[call.id]
            for p in self.whole.session.tools[call.name][1].parameters:
                value, sources = call.arguments.get(p.name), cited(call.origin.get(p.name, ""))
                for v in (value if isinstance(value, list) else [value]) if sources else ():
                    source = seen.source(v, words)
                    if source and source.call in sources and seen.only_in(source.call, v, words):
                        out[source.call].values.setdefault(v, words)
                        out[source.call].kinds |= {p.id_type} if p.id_type else set()
            seen.add(call.id, self.whole.results[call.id])
        return out

    def _changes(self, i: int) -> list[tuple[str, str]]:
        """(table, key) of the records that a call changes."""
        if not self.whole.writes(self.calls[i]):
            return []
        after = self.whole.before[i].fork()
        after.call(self.calls[i].name, self.calls[i].arguments)
        return [(table, key) for table, rows in after.diff(self.whole.before[i]).items() for key in rows]

    def is_lookup(self, call: GroundTruthCall) -> bool:
        """Whether a call was only made to find something: nobody asked for what it shows."""
        return call.id not in self.asked and not self.whole.writes(call)

    # --- what is lost

    def loss_without(self, i: int) -> str:
        """What is lost if the i-th call is left out: "origin", "refusal", "state" or "answer". Raises `Rejected` for nothing."""
        call = self.calls[i]
        needs = self.needs[call.id]
        others = {fact.value for other, facts in self.whole.told.items() if other != call.id for fact in facts}
        if needs.values or working.gives(call, self.conversation.turns, self.whole.results, others):
            return "origin"
        if not self.whole.writes(call):  # the rest is as it was
            if needs.facts:
                return "answer"
            raise Rejected("necessity", f"{call.name} shows nothing that is needed")
        run = self.whole.instead(i, self.calls[i + 1 :])
        if not run.ok:
            return "refusal"
        if run.outcome != self.whole.outcome:
            return "state"
        if not run.tells(self.whole.wanted):
            return "answer"
        raise Rejected("necessity", f"{call.name} changes nothing")

    def needed_together(self) -> None:
        """Raise `Rejected` where several calls can be left out at once, though none of them alone: what makes and what undoes.

        With some reads more, a goal is no further away. So it is writes that are left out, with what then fails; and only those that
        change nothing that no other write changes. What is made anew can stand for anything else of its kind that was made.
        """
        changed = {call: self._stated(places) for call, places in self.changed.items()}
        touched = [place for places in changed.values() for place in set(places)]
        shared = [i for i, c in enumerate(self.calls) if (own := changed[c.id]) and all(touched.count(place) > 1 for place in own)]
        for count in range(2, len(shared) + 1):
            for left_out in combinations(shared, count):
                gone = {self.calls[i].id for i in left_out}
                for call in self.calls[left_out[0] :]:
                    if any(source in gone and self.needs[source].values for source in sources(call)):
                        gone.add(call.id)
                run = self.whole.instead(left_out[0], [c for c in self.calls[left_out[0] :] if c.id not in gone])
                if run.tells(self.whole.wanted) and run.outcome == self.whole.outcome:
                    raise Rejected("necessity", f"nothing is lost without {', '.join(sorted(gone))}")

    # --- arguments

    def spare(self, i: int) -> list[str]:
        """The arguments of the i-th call without which, left out alone or with others, it does its job. Raises `Rejected` for those of
        a look-up that finds what it is for without them."""
        call, out = self.calls[i], set[str]()
        optional = [p.name for p in self.whole.session.tools[call.name][1].parameters if not p.required and p.name in call.arguments]
        for gone in chain.from_iterable(combinations(optional, count) for count in range(1, len(optional) + 1)):
            shorter = msgspec.structs.replace(call, arguments={n: v for n, v in call.arguments.items() if n not in gone})
            result = self._does(i, shorter)
            if result is None:
                continue
            if self.is_lookup(call) and all(self.tells_which(result, value, words) for value, words in self.needs[call.id].values.items()):
                raise Rejected("needless argument", f"{call.name} finds it without {' and '.join(gone)}")
            out.update(gone)
        return [name for name in optional if name in out]

    def _does(self, i: int, call: GroundTruthCall) -> Any:
        """What a call returns that is put in place of the i-th one and does its job; None for any other."""
        whole, needs = self.whole, self.needs[call.id]
        if whole.writes(call):
            run = whole.instead(i, [call, *self.calls[i + 1 :]])
            return run.results[call.id] if whole.reached_by(run) and needs.met_by(run.told[call.id]) else None
        result = whole.before[i].call(call.name, call.arguments)
        value = result.value
        met = result.ok and needs.met_by(told(whole.session, call.name, call.arguments, value))
        return value if met and working.comes_out(self.conversation.turns, call.id, value, whole.results) else None

    def tells_which(self, result: Any, key: Any, words: list[Said]) -> bool:
        """Whether in a result the words single out what holds a value: no other item agrees with all that they say of it."""
        items = list(objects(result))
        found = [(item, field) for item in items for field, value in item.items() if value == key]
        for item, field in found:
            said = {f: v for f, v in item.items() if v != key and says(v, words)}
            rivals = (other for other in items if other.get(field, key) != key)
            if any(all(other.get(f) == v for f, v in said.items()) for other in rivals):
                return False
        return bool(found)

    # --- effects

    def effect(self, i: int) -> Effect:
        """What the i-th call is for."""
        call, session = self.calls[i], self.whole.session
        at = dict(located(session, call.name, call.arguments, self.whole.results[call.id]))
        taken = {at[path] for later in self.calls[i + 1 :] for source, path in places(later) if source == call.id}
        facts = taken | (self.whole.wanted & set(at.values()))
        return Effect(sorted(self._stated(self.changed[call.id])), sorted(facts, key=msgspec.json.encode))

    def _stated(self, places: Sequence[tuple[str, str]]) -> list[str]:
        """The records that a call changes, as they are called in any session."""
        session = self.whole.session
        return [f"{table} {NEW if is_new(*_home(session, table), key) else key}" for table, key in places]


def _home(session: Session, table: str) -> tuple[Server, str]:
    """The server of a table named like "banking.accounts", and the table's own name."""
    home, name = table.split(".")
    return session.servers[home], name


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)
