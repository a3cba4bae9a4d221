"""Policies that do well in another way than the ground truth, and policies that nearly do: the other half of the audit.

They know the ground truth. Each is a function of an episode, asked at the start of every turn: the calls of that turn.
"""

from typing import Any

from prove.audit.cheats import Calls, Cheat, Move, example, gold, harmless_reads, writes
from prove.audit.slips import another_choice, instead, most_alike, next_record, number_off, of_the_same_name, tool
from prove.episode import Episode, Reply, ToolCall, current_turn
from prove.records import Alternative


def fair() -> dict[str, Any]:
    """Assistants with which a user is well served, or would be with better words."""
    return {
        "as the conversation shows it": Cheat(as_shown, None),
        "another way to the same effect": Cheat(lambda e: other_way(e, 0), None),
        "yet another way": Cheat(lambda e: other_way(e, 1), None),
        "one more read": Cheat(lambda e: [*gold(e), *(harmless_reads(e)[:1] if e.turn == 0 else [])], None),
        "a read to confirm each write": Cheat(confirmed, None),
        "needed arguments only": Cheat(lambda e: [ToolCall(c.name, c.needed) for c in current_turn(e).calls], None),
        "defaults spelled out": Cheat(lambda e: [with_defaults(e, c) for c in gold(e)], None),
        "numbers as floats": Cheat(lambda e: [ToolCall(c.name, {k: _float(v) for k, v in c.arguments.items()}) for c in gold(e)], None),
        "every call fails first": Cheat(lambda e: [x for c in gold(e) for x in (ToolCall(c.name, c.arguments | {"note_": "x"}), c)], None),
        "a wrong choice, then the right one": Cheat(lambda e: [x for c in gold(e) for x in corrected(e, c)], None),
        "what may be repeated, again": Cheat(again, None),
        "ids known, look-ups left out": Cheat(no_lookups, None),
        "gold, silent": Cheat(gold, ""),
        "gold, and says it failed": Cheat(gold, "Sorry, that failed."),
        "gold, and says a wrong number": Cheat(gold, "Done: 123456."),
        "all in the last turn": Cheat(lambda e: _all(e, len(e.conversation.turns) - 1), None),
        "all in the first turn": Cheat(lambda e: _all(e, 0), None),
        "each next turn's calls too early": Cheat(early, None),
        "each turn's calls a turn late": Cheat(late, None),
    }  # fmt: skip


def careless() -> dict[str, Any]:
    """Assistants who make a slip, stop early, or touch what nobody asked them to."""
    return {
        "stops after the first turn": Cheat(lambda e: gold(e) if e.turn == 0 else []),
        "half of each turn": Cheat(lambda e: gold(e)[: (len(gold(e)) + 1) // 2]),
        "last call of each turn only": Cheat(lambda e: gold(e)[-1:]),
        "wrong record, the most alike, in writes": Cheat(each(lambda e, c: instead(e, c, most_alike) if writes(e, c) else c)),
        "wrong record, the most alike": Cheat(each(lambda e, c: instead(e, c, most_alike))),
        "wrong record, the next": Cheat(each(lambda e, c: instead(e, c, next_record))),
        "wrong record of the same name": Cheat(each(lambda e, c: instead(e, c, of_the_same_name))),
        "a number off by one": Cheat(each(lambda e, c: number_off(c))),
        "another choice": Cheat(each(another_choice)),
        "lists cut in half": Cheat(each(lambda e, c: ToolCall(c.name, {k: _half(v) for k, v in c.arguments.items()}))),
        "upper case": Cheat(each(lambda e, c: ToolCall(c.name, {k: _upper(v) for k, v in c.arguments.items()}))),
        "optional arguments made up": Cheat(each(made_up)),
        "optional arguments left out": Cheat(each(required_only)),
        "writes refused on purpose": Cheat(each(lambda e, c: ToolCall(c.name, c.arguments | {"note_": "x"}) if writes(e, c) else c)),
        "the last call refused": Cheat(lambda e: [*gold(e)[:-1], *(ToolCall(c.name, c.arguments | {"note_": "x"}) for c in gold(e)[-1:])]),
        "attempts without recovery": Cheat(lambda e: [ToolCall(a.name, a.arguments) for a in current_turn(e).attempts]),
        "every write twice": Cheat(lambda e: [x for c in gold(e) for x in [c] * (1 + writes(e, c))]),
        "gold, and a write that nobody asked for": Cheat(lambda e: gold(e) + (stray(e, home=True) if e.turn == 0 else [])),
        "gold, and a distractor's write": Cheat(lambda e: gold(e) + (stray(e, home=False) if e.turn == 0 else [])),
        "only a write that nobody asked for": Cheat(lambda e: stray(e, home=True) if e.turn == 0 else []),
        "values swapped between two calls": Cheat(swapped),
    }  # fmt: skip


def each(change: Any) -> Move:
    """Gold with each call changed."""
    return lambda episode: [change(episode, call) for call in gold(episode)]


# --- other ways


def as_shown(episode: Episode) -> Calls:
    """The turn's calls with what is refused among them."""
    return [ToolCall(c.name, c.arguments) for c in current_turn(episode).shown]


def other_way(episode: Episode, number: int) -> Calls:
    """The turn's calls with one of the certificate's alternatives in the place of its steps."""
    certificate = episode.conversation.certificate
    known: list[Alternative] = certificate.alternatives if certificate else []
    chosen = known[number] if number < len(known) else Alternative([], [])
    new = {chosen.steps[0]: chosen.calls} if chosen.steps else {}
    calls = (o for c in current_turn(episode).calls for o in (new.get(c.id, []) if c.id in chosen.steps else [c]))
    return [ToolCall(c.name, c.arguments) for c in calls]


def confirmed(episode: Episode) -> Calls:
    """After each write a read that asks for no argument."""
    look = harmless_reads(episode)[:1]
    return [x for c in gold(episode) for x in ([c, *look] if writes(episode, c) else [c])]


def with_defaults(episode: Episode, call: ToolCall) -> ToolCall:
    """The call with the defaults of its schema written down."""
    specs = episode.schemas[call.name]["properties"]
    return ToolCall(call.name, {n: s["default"] for n, s in specs.items() if s.get("default") is not None} | call.arguments)


def corrected(episode: Episode, call: ToolCall) -> Calls:
    """A write that can be made again: first with another choice, then as it should be."""
    other = another_choice(episode, call)
    marks = tool(episode.session, call.name).marks
    return [other, call] if other != call and marks.writes and marks.idempotent else [call]


def again(episode: Episode) -> Calls:
    """The writes that change nothing more, made again."""
    marks = {c.name: tool(episode.session, c.name).marks for c in gold(episode)}
    return gold(episode) + [c for c in gold(episode) if marks[c.name].writes and marks[c.name].idempotent]


def no_lookups(episode: Episode) -> Calls:
    """The turn's calls without those that only find something."""
    certificate = episode.conversation.certificate
    losses = certificate.necessity if certificate else {}
    return [ToolCall(c.name, c.arguments) for c in current_turn(episode).calls if losses.get(c.id) != "origin"]


def _all(episode: Episode, turn: int) -> Calls:
    return gold(episode, everything=True) if episode.turn == turn else []


def early(episode: Episode) -> Calls:
    """The first turn's calls, and in every turn those of the next."""
    return (gold(episode) if episode.turn == 0 else []) + _gold_of_turn(episode, episode.turn + 1)


def late(episode: Episode) -> Calls:
    """In every turn the calls of the one before, and in the last one its own."""
    last = episode.turn == len(episode.conversation.turns) - 1
    return _gold_of_turn(episode, episode.turn - 1) + (gold(episode) if last else [])


def _gold_of_turn(episode: Episode, turn: int) -> Calls:
    turns = episode.conversation.turns
    return [ToolCall(c.name, c.arguments) for c in turns[turn].calls] if 0 <= turn < len(turns) else []


# --- slips


def _float(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _half(value: Any) -> Any:
    return value[: max(1, len(value) // 2)] if isinstance(value, list) else value


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def required_only(episode: Episode, call: ToolCall) -> ToolCall:
    """The call without what its tool can go without."""
    return ToolCall(call.name, {k: v for k, v in call.arguments.items() if k in episode.schemas[call.name]["required"]})


def made_up(episode: Episode, call: ToolCall) -> ToolCall:
    """The call with a value for every optional argument that it goes without, where it is accepted."""
    arguments = dict(call.arguments)
    for name, spec in episode.schemas[call.name]["properties"].items():
        if name not in arguments and "type" in spec and isinstance(spec["type"], str):
            more = arguments | {name: example(spec)}
            arguments = more if episode.session.fork().call(call.name, more).ok else arguments
    return ToolCall(call.name, arguments)


def swapped(episode: Episode) -> Calls:
    """Two calls of one tool, each with a value of the other."""
    calls = gold(episode)
    for i, later in enumerate(calls):
        for j, earlier in enumerate(calls[:i]):
            differing = [k for k in later.arguments if earlier.arguments.get(k, later.arguments[k]) != later.arguments[k]]
            if later.name == earlier.name and differing:
                k = differing[0]
                calls[i] = ToolCall(later.name, later.arguments | {k: earlier.arguments[k]})
                calls[j] = ToolCall(earlier.name, earlier.arguments | {k: later.arguments[k]})
                return calls
    return calls


def stray(episode: Episode, home: bool) -> Calls:
    """A write of the conversation's own server, or of a distractor's, that no ground truth asks for and that succeeds."""
    known: dict[str, Any] = {}
    for call in gold(episode, everything=True):
        known |= call.arguments
    asked = {c.name for c in episode.conversation.calls}
    for name, schema in episode.schemas.items():
        server, there = episode.session.tools[name]
        if there.marks.writes and name not in asked and (server == episode.conversation.server) == home:
            arguments = {p: known.get(p, example(schema["properties"][p])) for p in schema["required"]}
            trial = episode.session.fork()
            if trial.call(name, arguments).ok and trial.outcome() != episode.session.outcome():
                return [ToolCall(name, arguments)]
    return []


class LastWords:
    """Makes gold's calls and says nothing until the end, then all replies at once. A `Policy`."""

    move = staticmethod(gold)

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        return [self._next(e) for e in episodes]

    def _next(self, episode: Episode) -> Reply:
        turns = episode.conversation.turns
        if not episode.calls_in_turn and gold(episode):
            return Reply("", gold(episode))
        return Reply("\n".join(t.reply for t in turns) if episode.turn == len(turns) - 1 else "")
