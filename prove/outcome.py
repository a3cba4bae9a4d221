"""What came of an episode, by effect: which steps of the ground truth hold at its end, and what is otherwise.

No call is compared with a call. The ground truth is run with every part of its writes: the states in which these runs end are those
in which an honest policy may be found on its way. An episode that ended in one of them has done just these writes, whichever way
it took. Of any other, the nearest such state tells what is done; what is neither as there nor as in the whole is harm.

A read is done where what it is for was seen, whoever showed it: facts that the user asked for, of their records, and values that
later steps take; or where all steps that take them are done. All of it is known by execution.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from operator import eq
from typing import Any

import msgspec
from msgspec.structs import astuple

from prove.facts import NEW, is_new
from prove.records import Conversation, Fact
from prove.rewards import Call
from prove.said import Sayings, sayings
from prove.servers.session import Session

_ALL_SUBSETS = 5  # writes of which every subset is run; of more, those that lack one, are one, or are the first few
PARTLY = 0.7  # how much of a change counts that is right in part
ALIKE = 0.5  # of its fields as they should be, and a new record is one that was wanted, if wrongly made
MORE = 0.1  # what each harmful call after the first counts
_KEPT = 512  # conversations whose truth is kept: a group of rollouts asks for it again and again

Place = tuple[str, str]  # (table, key)


class State:
    """What a session has changed: `old` records by place, None where one is gone; by table its `new` ones by key, without minted ids."""

    def __init__(self, session: Session) -> None:
        self.old: dict[Place, Any] = {}
        self.new: dict[str, dict[str, Any]] = {}
        for table, rows in session.changes().items():
            home, name = table.split(".")
            for key, (before, after) in rows.items():
                if before is None and is_new(session.servers[home], name, key):
                    self.new.setdefault(table, {})[key] = astuple(after)[1:]
                else:
                    self.old[table, key] = None if after is None else astuple(after)
        if minted := {key for made in self.new.values() for key in made}:
            self.old = {place: _blank(fields, minted) for place, fields in self.old.items()}
            self.new = {table: {key: _blank(fields, minted) for key, fields in made.items()} for table, made in self.new.items()}


class End:
    """Where a run that did some of the writes ends."""

    def __init__(self, steps: frozenset[int], session: Session) -> None:
        self.steps, self.outcome, self.state = steps, session.outcome(), State(session)


class Truth:
    """What a certified conversation's ground truth is for, found by running it."""

    def __init__(self, conversation: Conversation, worlds: Iterable[str]) -> None:
        self.conversation, self.worlds, self.calls = conversation, list(worlds), conversation.calls
        self.fresh = Session.open(self.worlds, conversation.seed)
        self.turn_of = [i for i, turn in enumerate(conversation.turns) for _ in turn.calls]
        self.writes = [i for i, call in enumerate(self.calls) if self.fresh.tools[call.name][1].marks.writes]
        effects = conversation.certificate.effects if conversation.certificate else {}
        wanted = conversation.wanted
        facts = [effects[c.id].facts if c.id in effects else [] for c in self.calls]
        self.asked = [{f for f in found if f in wanted} for found in facts]
        self.taken = [{_text(f.value) for f in found if f not in wanted} for found in facts]
        self.takers = [self._takers(call.id) for call in self.calls]
        self.answers = [{fact for answer in turn.answers for fact in answer.facts} for turn in conversation.turns]
        self._ends: dict[int, dict[str, End]] = {}

    @cached_property
    def sayings(self) -> Sayings:
        """What replies have to say."""
        return sayings(self.conversation, self.fresh.fork())

    def _takers(self, call: str) -> list[int]:
        """The steps that take a value of a call's result."""
        cited = [{part.split(":")[0] for origin in c.origin.values() for part in origin.split("; ")} for c in self.calls]
        return [i for i, sources in enumerate(cited) if call in sources]

    def ends(self, reached: int) -> dict[str, End]:
        """By outcome, where runs with a part of the writes end, when only the first `reached` turns have come."""
        if not any(turn.minutes_later for turn in self.conversation.turns[reached:]):
            reached = len(self.conversation.turns)
        if reached not in self._ends:
            runs = (End(frozenset(part), self._run(part, reached)) for part in self._parts())
            found: dict[str, End] = {}
            for end in runs:
                found.setdefault(end.outcome, end)  # the smallest part that comes to it
            self._ends[reached] = found
        return self._ends[reached]

    def whole(self, reached: int) -> End:
        """Where the run with all of the writes ends."""
        return max(self.ends(reached).values(), key=lambda end: len(end.steps))

    def _parts(self) -> Iterator[tuple[int, ...]]:
        """Parts of the writes, small ones first, the whole last."""
        writes, n = self.writes, len(self.writes)
        for size in range(n + 1):
            if n <= _ALL_SUBSETS or size in (0, 1, n - 1, n):
                yield from combinations(writes, size)
            else:
                yield tuple(writes[:size])

    def _run(self, part: tuple[int, ...], reached: int) -> Session:
        session, i = self.fresh.fork(), 0
        for number, turn in enumerate(self.conversation.turns):
            if number < reached and turn.minutes_later:
                session.advance(minutes=turn.minutes_later)
            for call in turn.calls:
                if i in part:
                    session.call(call.name, call.arguments)
                i += 1
        return session

    # --- a rollout

    def written(self, session: Session, outcome: str, reached: int, touched: Sequence[set[Place]]) -> tuple[list[float], float]:
        """(the share of each step's changes that holds, the harm); `touched` are the records that each call has written to.

        A change that is right in part, and wrong in nothing, is done to `PARTLY` of that share; one that is wrong in something is not
        done. Harm is what becomes of other records, and of fields that the ground truth does not change; a new record is harm that is like
        none that it makes. The first call that did it counts 1, each other one `MORE`.
        """
        ends = self.ends(reached)
        if outcome in ends:
            return [float(i in ends[outcome].steps) for i in range(len(self.calls))], 0.0
        here, whole = State(session), self.whole(reached)
        wrong_in = ((self._wrong(here, end.state, whole.state), end) for end in ends.values())
        idle = min(ends.values(), key=lambda end: len(end.steps))
        possible = [(wrong, end) for wrong, end in wrong_in if _holds(here, end.state, idle.state, wrong, touched)]
        wrong, end = min(possible, key=lambda pair: (len(pair[0]), len(pair[1].steps)))
        shares = [float(i in end.steps) for i in range(len(self.calls))]
        harmed = {place for place in wrong if not self._wanted(place, here, end.state, whole.state)}
        left = {table: _without(made, end.state.new.get(table, {})) for table, made in here.new.items()}
        for i in (i for i in self.writes if i not in end.steps):
            before, after = self._around(i, end, ends)
            share, used = self._share(here, left, before.state, after.state)
            if share >= ALIKE:
                harmed -= {place for place in used if self._base(place) is None}
            if not used & wrong:
                shares[i] = share if share == 1.0 else PARTLY * share
        acts = _acts(harmed, touched)
        return shares, 1.0 + MORE * (acts - 1) if acts else 0.0

    def _wanted(self, place: Place, here: State, end: State, whole: State) -> bool:
        """Whether all that is wrong in a known record is in fields that the rest of the ground truth would change."""
        base = self._base(place)
        now, there, goal = (state.old.get(place, base) for state in (here, end, whole))
        if now is None or there is None or goal is None:
            return False
        return all(a in (b, c) or b != c for a, b, c in zip(now, there, goal, strict=True))

    def _around(self, i: int, end: End, ends: dict[str, End]) -> tuple[End, End]:
        """Two ends between which a write makes the difference: from the one that is nearest, or the first that it can be made after."""
        by_steps = {e.steps: e for e in ends.values()}
        if after := by_steps.get(end.steps | {i}):
            return end, after
        after = min((e for e in ends.values() if i in e.steps), key=lambda e: len(e.steps), default=end)
        return by_steps.get(after.steps - {i}, end), after

    def _wrong(self, here: State, end: State, whole: State) -> set[Place]:
        """The records that are neither as in an end nor between it and the whole."""
        places = {p for p in here.old.keys() | end.old.keys() if here.old.get(p, _BASE) != end.old.get(p, _BASE)}
        out = {p for p in places if not self._between(p, here, end, whole)}
        for table, made in here.new.items():  # what is as in the whole is right, whatever else there has to be for it
            known = max(end.new.get(table, {}), whole.new.get(table, {}), key=len)
            out |= {(table, key) for key in _without(made, known)}
        return out

    def _between(self, place: Place, here: State, end: State, whole: State) -> bool:
        """Whether each field of a record is as in the one or the other."""
        base = self._base(place)
        now, there, goal = (state.old.get(place, base) for state in (here, end, whole))
        if now is None or there is None or goal is None:
            return now in (there, goal)
        return all(a in (b, c) for a, b, c in zip(now, there, goal, strict=True))

    def _share(self, here: State, left: dict[str, dict[str, Any]], end: State, after: State) -> tuple[float, set[Place]]:
        """Of the fields that one more write would change or make, the share that is already as it would have them, and the records
        that were looked at. A new record stands for one that is wanted: it is taken from those that are `left`."""
        pairs, used = list[tuple[Any, Any]](), set[Place]()  # (now, as it would be)
        for place, goal in after.old.items():
            base = self._base(place)
            there, now = end.old.get(place, base), here.old.get(place, base)
            if goal == there:
                continue
            if goal is None:
                pairs.append((now, None))
            else:
                absent = [_BASE] * len(goal)
                pairs += [(a, c) for a, b, c in zip(now or absent, there or absent, goal, strict=True) if b != c]
            used |= {place} if now is not None else set()
        for table, made in after.new.items():
            for goal in _without(made, end.new.get(table, {})).values():
                mine = left.get(table, {})
                nearest = max(mine, key=lambda key: (sum(map(eq, mine[key], goal)), key), default="")
                pairs += zip(mine.pop(nearest) if mine else [_BASE] * len(goal), goal, strict=True)
                used |= {(table, nearest)} if nearest else set()
        return (sum(a == c for a, c in pairs) / len(pairs) if pairs else 0.0), used

    def _base(self, place: Place) -> Any:
        table, key = place
        home, name = table.split(".")
        record = self.fresh.servers[home].state[name].base.records.get(key)
        return None if record is None else astuple(record)

    def read(self, shares: list[float], facts: set[Fact], text: str, heard: set[int]) -> list[float]:
        """The share of each step that is done, with what was seen: facts, the text of all results, turns whose refusal was heard."""
        out = list(shares)
        for i in range(len(out) - 1, -1, -1):
            if self.turn_of[i] in heard:
                out[i] = 1.0
            elif i not in self.writes:
                asked, taken = self.asked[i], self.taken[i]
                if not asked and self.takers[i] and all(out[j] == 1.0 for j in self.takers[i]):
                    out[i] = 1.0
                elif asked or taken:
                    nameless = {Fact(None, f.field, f.value) for f in facts} if any(f.record is None for f in asked) else set()
                    seen = sum(f in facts or f in nameless for f in asked) + sum(t in text for t in taken)
                    out[i] = seen / (len(asked) + len(taken))
        return out

    def timely(self, calls: Sequence[Call]) -> float | None:
        """The share of the writes that were made in the turn that asks for them: of those made as the ground truth makes them, however
        often, one is; None without writes."""
        made: dict[int, set[int]] = {i: set() for i in self.writes}
        for call in (c for c in calls if c.ok):
            for i in self.writes:
                if self.calls[i].name == call.name and self.calls[i].needed.items() <= call.arguments.items():
                    made[i].add(call.turn)
        return sum(not turns or self.turn_of[i] in turns for i, turns in made.items()) / len(made) if made else None


_BASE: Any = object()  # as the world has it
_truths: OrderedDict[int, Truth] = OrderedDict()  # by the identity of their conversations, which they keep alive


def truth(conversation: Conversation, session: Session) -> Truth:
    """The truth of a conversation, on the worlds of a session; made once and kept a while."""
    known = _truths.get(id(conversation))
    if known is None or known.worlds != [*session.worlds]:
        known = _truths[id(conversation)] = Truth(conversation, session.worlds)
        if len(_truths) > _KEPT:
            _truths.popitem(last=False)
    return known


def _without(some: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """Records by key, without as many of each content as there are among others."""
    left, out = list(others.values()), dict[str, Any]()
    for key, record in some.items():
        if record in left:
            left.remove(record)
        else:
            out[key] = record
    return out


def _holds(here: State, end: State, idle: State, wrong: set[Place], touched: Sequence[set[Place]]) -> bool:
    """Whether what an end has changed may be there: its new records all are, and what is wrong of it another call has written to again."""
    if any(_without(made, here.new.get(table, {})) for table, made in end.new.items()):
        return False
    changed = (place for place in wrong if end.old.get(place, _BASE) != idle.old.get(place, _BASE))
    return all(sum(place in places for places in touched) > 1 for place in changed)


def _acts(harmed: set[Place], touched: Sequence[set[Place]]) -> int:
    """The fewest calls, one after the other by how much each explains, that have written to all that is harmed; what none of them
    has written to is a consequence."""
    left, acts = set(harmed), 0
    while found := max((left & places for places in touched), key=len, default=set()):
        left, acts = left - found, acts + 1
    return max(acts, 1) if harmed else 0


def _text(value: Any) -> str:
    """A value as it stands in a result."""
    return msgspec.json.encode(value).decode()


def _blank(value: Any, minted: set[str]) -> Any:
    """A value in which every minted id is `NEW`."""
    kind = type(value)
    if kind is str:
        return NEW if value in minted else value
    if kind is tuple or kind is list:
        return [_blank(item, minted) for item in value] if kind is list else tuple(_blank(item, minted) for item in value)
    if kind is dict:
        return {_blank(k, minted): _blank(v, minted) for k, v in value.items()}
    return _blank(astuple(value), minted) if isinstance(value, msgspec.Struct) else value
