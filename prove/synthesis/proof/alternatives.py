"""Other calls that do what steps of the ground truth do: one in place of a step or of several, or two in place of one.

They are found by trying: the tools that are offered, with the values that the step has, on the world as it was before the step.
What does the same is what changes the same records to the same content, or shows the same facts so that the words tell which is
meant. Then the rest of the ground truth runs after it, to the same end.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from prove.facts import told
from prove.records import Alternative, Fact, GroundTruthCall, OtherCall
from prove.servers.session import Session
from prove.servers.tools import Tool
from prove.synthesis.proof.fillings import Value, field_names, fillings, shown_kinds, slots
from prove.synthesis.proof.necessity import Truth, objects
from prove.synthesis.proof.provenance import Said, says, sources

_FILLINGS = 6  # ways of calling one tool that are tried
_PARTS = 4  # calls that do a part of a step, for each of which the other part is looked for


def alternatives(truth: Truth) -> list[Alternative]:
    """What was found, in the order of the steps. Of several steps the first is where the calls are made; the others are left out."""
    found = list[Alternative]()
    for i, call in enumerate(truth.calls):
        if call.id in truth.hinged:
            continue  # what is worked out from a result stands at its places there
        search = _Writes(truth, i) if truth.whole.writes(call) else _Reads(truth, i)
        found += [a for a in search.found() if a not in found]
    return found


class _Search:
    """What the values of the i-th step can do with other tools."""

    def __init__(self, truth: Truth, i: int) -> None:
        self.truth, self.whole, self.i, self.call = truth, truth.whole, i, truth.calls[i]
        self.before: Session = truth.whole.before[i]
        self.home, self.tool = self.before.tools[self.call.name]
        self.server = type(self.before.servers[self.home])
        given = self.call.arguments
        self.values = [Value(s.name, s.kind, given[s.name]) for s in slots(self.server, self.tool.name) if s.name in given]

    def ways(self, writes: bool) -> Iterator[tuple[Tool, OtherCall]]:
        """Calls of the step's server's offered tools with the values at hand, the step itself not among them."""
        own = self.call.arguments.items()
        for name, (home, tool) in self.before.tools.items():
            if home == self.home and tool.marks.writes == writes and (self.before.only is None or name in self.before.only):
                for arguments in islice(fillings(slots(self.server, tool.name), self.values), _FILLINGS):
                    if name != self.call.name or not own <= arguments.items():
                        yield tool, OtherCall(name, arguments)

    def is_less(self, other: OtherCall) -> bool:
        """Whether a call is the step with fewer arguments: what it can do without is known (`spare`)."""
        return other.name == self.call.name and other.arguments.items() <= self.call.arguments.items()

    def instead(self, steps: Sequence[str], *calls: OtherCall) -> Alternative | None:
        """The calls in place of steps, of which the first is this one, and of the look-ups that nobody else needs; None where the rest
        of the ground truth does not run after them to the same end."""
        taken = {value for call in calls for value in call.arguments.values() if isinstance(value, str)}
        gone = list(steps)
        for look in reversed(self.truth.calls[: self.i]):
            users = {c.id for c in self.truth.calls if look.id in sources(c)}
            if self.truth.is_lookup(look) and users <= {*gone} and not taken & self.truth.needs[look.id].values.keys():
                gone.append(look.id)
        new = [GroundTruthCall(f"{self.call.id}.{n}", call.name, call.arguments) for n, call in enumerate(calls, 1)]
        run = self.whole.instead(self.i, [*new, *(c for c in self.truth.calls[self.i :] if c.id not in gone)])
        for step in gone:
            run.told.pop(step, None)
        facts = set[Fact]().union(*(run.told.get(call.id, set()) for call in new))
        met = all(self.truth.needs[step].met_by(facts) for step in steps)
        return Alternative(gone, list(calls)) if met and self.whole.reached_by(run) else None


class _Reads(_Search):
    """Other reads that show what is needed of this one."""

    def found(self) -> Iterator[Alternative]:
        self.values += self._said()
        single = False
        for tool, other in self.ways(writes=False):
            result = self._shows(other) if self._could_serve(tool) and not self.is_less(other) else None
            if result is not None and self._serves(self.call, other, result):
                later = (c for c in self.truth.calls[self.i + 1 :] if not self.whole.writes(c) and c.id not in self.truth.hinged)
                more = [c.id for c in later if self._serves(c, other, result)]
                if alternative := self.instead([self.call.id, *more], other):
                    single = True
                    yield alternative
        if not single and self.truth.is_lookup(self.call):
            yield from self._by_way_of_an_owner()

    def _could_serve(self, tool: Tool) -> bool:
        """Whether a tool's results have the fields that are needed at all."""
        needs = self.truth.needs[self.call.id]
        return needs.kinds <= tool.produces and {fact.field for fact in needs.facts} <= field_names(self.server, tool.name)

    def _said(self) -> list[Value]:
        """What the words say of the records that are looked for."""
        kinds, needs = shown_kinds(self.server, self.tool.name), self.truth.needs[self.call.id]
        found = [(item, words) for key, words in needs.values.items() for item in objects(self._result()) if key in item.values()]
        return [
            Value(field, kinds.get(field, ""), value)
            for item, words in found
            for field, value in item.items()
            if isinstance(value, str) and value not in needs.values and says(value, words)
        ]

    def _result(self) -> Any:
        return self.whole.results[self.call.id]

    def _shows(self, other: OtherCall) -> Any:
        result = self.before.call(other.name, other.arguments)
        return result.value if result.ok else None

    def _serves(self, step: GroundTruthCall, other: OtherCall, result: Any) -> bool:
        """Whether a result shows what is needed of a step, and the words tell which it is."""
        needs = self.truth.needs[step.id]
        return needs.met_by(told(self.before, other.name, other.arguments, result)) and all(
            self.truth.tells_which(result, key, words) for key, words in needs.values.items()
        )

    def _by_way_of_an_owner(self) -> Iterator[Alternative]:
        """Two reads: the record to which the wanted one belongs is found first, then the wanted one among its own."""
        needs, kinds = self.truth.needs[self.call.id], shown_kinds(self.server, self.tool.name)
        items = [item for item in objects(self._result()) if needs.values.keys() & {v for v in item.values() if isinstance(v, str)}]
        owners = {(kinds.get(field, ""), value) for item in items for field, value in item.items() if isinstance(value, str)}
        words, own = self.truth.words[self.call.id], OtherCall(self.call.name, self.call.arguments)
        for name, (home, tool) in self.before.tools.items():
            if home != self.home or tool.marks.writes or not needs.kinds <= tool.produces:
                continue
            for slot in (s for s in slots(self.server, tool.name) if s.required and s.id_type):
                for owner in sorted(value for kind, value in owners if kind == slot.kind and value not in needs.values):
                    first = self._finds(slot.id_type, owner, words)
                    second = OtherCall(name, {slot.name: owner})
                    result = self._shows(second) if first else None
                    fits = first and result is not None and own not in (first, second) and self._serves(self.call, second, result)
                    if first and fits and (alternative := self.instead([self.call.id], first, second)):
                        yield alternative

    def _finds(self, id_type: Any, key: str, words: list[Said]) -> OtherCall | None:
        """A read without any argument in whose result the words tell a record."""
        for name, (home, tool) in self.before.tools.items():
            if home == self.home and not tool.marks.writes and id_type in tool.produces and not any(p.required for p in tool.parameters):
                result = self._shows(OtherCall(name, {}))
                if any(key in item.values() for item in objects(result)) and self.truth.tells_which(result, key, words):
                    return OtherCall(name, {})
        return None


class _Part(NamedTuple):
    """A call that changes some of the records that the step changes, and the world after it."""

    call: OtherCall
    after: Session


class _Writes(_Search):
    """Other writes that change what this one changes."""

    def found(self) -> Iterator[Alternative]:
        self.target, self.after = set(self.truth.changed[self.call.id]), self.before.fork()
        self.after.call(self.call.name, self.call.arguments)
        parts, whole = list[_Part](), list[OtherCall]()
        for _, other in self.ways(writes=True):
            part = self._part(self.before, other)
            if part is None:
                continue
            places = _places(part.after, self.before)
            if places == self.target and not part.after.diff(self.after):
                whole.append(other)
                if not self.is_less(other) and (alternative := self.instead([self.call.id], other)):
                    yield alternative
            elif places > self.target and (alternative := self._for_several(other, places)):
                yield alternative
            elif places and places <= self.target:
                parts.append(part)
        yield from self._in_two(parts[:_PARTS], whole)

    def _part(self, before: Session, other: OtherCall) -> _Part | None:
        after = before.fork()
        return _Part(other, after) if after.call(other.name, other.arguments).ok else None

    def _for_several(self, other: OtherCall, places: set[tuple[str, str]]) -> Alternative | None:
        """A call that does this step and later ones too."""
        later = [c.id for c in self.truth.calls[self.i + 1 :] if (changed := self.truth.changed[c.id]) and places.issuperset(changed)]
        return self.instead([self.call.id, *later], other) if later else None

    def _in_two(self, parts: Sequence[_Part], whole: Sequence[OtherCall]) -> Iterator[Alternative]:
        """Two calls, each of which does a part of it; in one order only."""
        seen = set[frozenset[str]]()
        for first in parts:
            for _, other in self.ways(writes=True):
                pair = frozenset((repr(first.call), repr(other)))
                if other in whole or len(pair) == 1 or pair in seen:
                    continue
                second = self._part(first.after, other)
                if second and not second.after.diff(self.after) and (alternative := self.instead([self.call.id], first.call, other)):
                    seen.add(pair)
                    yield alternative


def _places(after: Session, before: Session) -> set[tuple[str, str]]:
    return {(table, key) for table, rows in after.diff(before).items() for key in rows}
