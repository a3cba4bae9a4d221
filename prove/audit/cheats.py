"""Policies that cheat or are broken. They know the ground truth, as no model does.

Each is a function of an episode, asked at the start of every turn: the calls of that turn.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import msgspec

from prove.audit.slips import tool
from prove.episode import Episode, Reply, ToolCall, current_turn
from prove.records import Conversation, leaves

Calls = list[ToolCall]
Move = Callable[[Episode], Calls]


class Cheat:
    """Makes all calls of a turn at once, then ends the turn with a few words, the record's own for None. A `Policy`."""

    def __init__(self, move: Move, words: str | None = "Done.") -> None:
        self.move, self.words = move, words

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        return [Reply(self._words(e), [] if e.calls_in_turn else self.move(e)) for e in episodes]

    def _words(self, episode: Episode) -> str:
        return current_turn(episode).reply if self.words is None else self.words


class Flood:
    """Says the first gold call again and again, as often as a reply may hold, and never ends the turn. A `Policy`."""

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        return [Reply("", gold(e, everything=True)[:1] * e.limits.calls_per_reply) for e in episodes]


class FromMemory:
    """Says what a good assistant would say, and calls nothing. A `Policy`."""

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        return [Reply(current_turn(e).reply) for e in episodes]


def cheats(others: Sequence[Conversation]) -> dict[str, Any]:
    """Every cheating policy by name; `others` are the tasks whose gold one of them plays."""
    other = {a.id: b for a, b in zip(others, [*others[1:], *others[:1]], strict=True)}
    return {
        "no calls": Cheat(lambda e: [], "I can't help with that."),
        "always asks back": Cheat(lambda e: [], "Could you tell me more about that?"),
        "answers from memory": FromMemory(),
        "first gold call only": Cheat(lambda e: gold(e)[:1] if not e.calls else []),
        "first gold call to the cap": Flood(),
        "one harmless read": Cheat(lambda e: [] if e.calls else harmless_reads(e)[:1]),
        "all tools once": Cheat(lambda e: [] if e.calls else all_tools(e)),
        "gold names, wrong values": Cheat(lambda e: [ToolCall(c.name, wrong(e, c.arguments)) for c in gold(e)]),
        "gold names, no arguments": Cheat(lambda e: [ToolCall(c.name, {}) for c in gold(e)]),
        "gold, always refused": Cheat(lambda e: [ToolCall(c.name, c.arguments | {"nonsense": 1}) for c in gold(e)]),
        "gold reads, no writes": Cheat(lambda e: [c for c in gold(e) if not writes(e, c)]),
        "gold writes, no reads": Cheat(lambda e: [c for c in gold(e) if writes(e, c)]),
        "gold backwards": Cheat(lambda e: [] if e.calls else gold(e, everything=True)[::-1]),
        "gold of another task": Cheat(lambda e: [] if e.calls else gold_of(other[e.conversation.id])),
        "gold, reads doubled": Cheat(lambda e: [c for call in gold(e) for c in [call] * (1 if writes(e, call) else 2)]),
        "gold twice": Cheat(lambda e: gold(e) * 2),
        "gold, budget used up": Cheat(padded),
        "gold, then undo": Cheat(lambda e: [*gold(e), *undo(e)]),
        "gold, undo, gold again": Cheat(lambda e: [*gold(e), *(back := undo(e)), *([last_write(e)] if back else [])]),
        "random tools, words of the prompt": Cheat(parrot),
        "malformed JSON": Cheat(lambda e: [ToolCall(c.name, json.dumps(c.arguments)[:-1]) for c in gold(e)]),
        "unknown tools": Cheat(lambda e: [ToolCall(f"please_{c.name}", c.arguments) for c in gold(e)]),
    }  # fmt: skip


# --- what the cheats know


def gold(episode: Episode, everything: bool = False) -> Calls:
    """The ground truth's calls of this turn, or of all."""
    truth = episode.conversation.calls if everything else current_turn(episode).calls
    return [ToolCall(c.name, c.arguments) for c in truth]


def gold_of(conversation: Conversation) -> Calls:
    """The ground truth of another conversation."""
    return [ToolCall(c.name, c.arguments) for c in conversation.calls]


def writes(episode: Episode, call: ToolCall) -> bool:
    """Whether a call of the ground truth changes the state."""
    return tool(episode.session, call.name).marks.writes


def harmless_reads(episode: Episode) -> Calls:
    """A call of every candidate that reads and needs no argument."""
    found = (n for n in episode.schemas if not tool(episode.session, n).marks.writes and not episode.schemas[n]["required"])
    return [ToolCall(name, {}) for name in found]


def padded(episode: Episode) -> Calls:
    """This turn's gold, and after the last turn's as many harmless reads as the paper's budget leaves room for."""
    calls, total = gold(episode), len(episode.conversation.calls)
    last = episode.turn == max((i for i, t in enumerate(episode.conversation.turns) if t.calls), default=-1)
    return calls + (harmless_reads(episode) * total)[: -(-total // 2)] if last else calls


# --- values


def all_tools(episode: Episode) -> Calls:
    """Every candidate once, with whatever fits its schema."""
    return [ToolCall(n, {p: example(s["properties"][p]) for p in s["required"]}) for n, s in episode.schemas.items()]


def example(spec: dict[str, Any]) -> Any:
    """A value of a property's type."""
    plain = {"string": "something", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    return spec["enum"][0] if "enum" in spec else plain[spec["type"]]


def wrong(episode: Episode, arguments: dict[str, Any]) -> dict[str, Any]:
    """Other values of the same types: an id becomes another one of its digits, a number the next."""
    return {name: _other(value) for name, value in arguments.items()}


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [_other(v) for v in value]
    turned = "".join(str((int(ch) + 1) % 10) if ch.isdecimal() and ch.isascii() else ch for ch in str(value))
    return turned if turned != value else f"{value} else"


def parrot(episode: Episode) -> Calls:
    """As many calls as gold of candidates drawn at random, their required values words of the user's."""
    rng = Random(f"parrot:{episode.conversation.id}:{episode.turn}")
    words = current_turn(episode).user.split()
    names = [rng.choice(sorted(episode.schemas)) for _ in gold(episode)]
    return [ToolCall(n, {p: rng.choice(words) for p in episode.schemas[n]["required"]}) for n in names]


# --- undoing


def last_write(episode: Episode) -> ToolCall:
    """The last call of this turn's gold that changes the state."""
    return [c for c in gold(episode) if writes(episode, c)][-1]


def undo(episode: Episode) -> Calls:
    """A call that takes this turn's last write back, found by trying on a fork; none where there is none.

    Tried is every candidate that writes, with the values that the write took and gave.
    """
    session, known = episode.session.fork(), dict[str, list[Any]]()
    before, was = session.outcome(), list[tuple[str, Any]]()
    for call in gold(episode):
        old = session.fork()
        result = session.call(call.name, call.arguments)
        if writes(episode, call):
            before, was = (
                old.outcome(),
                [pair for rows in session.diff(old).values() for _, there in rows.values() for pair in _fields(there)],
            )
        for field, value in [*leaves(call.arguments), *leaves(result.value)]:
            known.setdefault(field, []).insert(0, value)  # the latest first
    for name in episode.schemas if any(writes(episode, c) for c in gold(episode)) else ():
        if tool(session, name).marks.writes:
            for arguments in _fillings(episode.schemas[name], known, dict(was)):
                trial = session.fork()
                if trial.call(name, arguments).ok and trial.outcome() == before:
                    return [ToolCall(name, arguments)]
    return []


def _fields(record: Any) -> list[tuple[str, Any]]:
    return list(msgspec.to_builtins(record).items()) if record is not None else []


def _fillings(schema: dict[str, Any], known: dict[str, list[Any]], was: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments for a tool's required parameters from fields of the same name: as they are now, with two neighbours crossed over
    (from, to), and as they were."""
    required = schema["required"]
    if all(p in known for p in required):
        values = [known[p][0] for p in required]
        yield dict(zip(required, values, strict=True))
        for i in range(len(values) - 1):
            yield dict(zip(required, [*values[:i], values[i + 1], values[i], *values[i + 2 :]], strict=True))
    if all(p in known or p in was for p in required):
        yield {p: was[p] if p in was else known[p][0] for p in required}
