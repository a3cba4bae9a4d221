"""Weak rollouts: the ground truth, each of its calls made right, with a wrong value, with an argument that is invented, left out, or
right only at the second try; and how far from the goal they end, by three measures that no reward looks at.

Nothing is known that was not shown: where the call that shows a value was left out, the next record of its kind is guessed.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from typing import Any

import msgspec

from prove.audit.slips import another_record, wrong_value
from prove.episode import Episode, Limits, Reply, ToolCall
from prove.facts import all_told, told
from prove.records import Conversation, Fact, GroundTruthCall, leaves
from prove.servers.session import Session

LIMITS = Limits(user_turns=9, assistant_turns=99)
RIGHT, WRONG, INVENTED, SKIPPED, TWICE = "RWIST"  # twice: refused at first, for an invented argument
_SEARCHED = 7  # calls of a task in which the fewest that are missing are looked for by trying

Choose = Callable[[int], str]


def perform(conversation: Conversation, choose: Choose, slip: Callable[[int], Random]) -> Episode:
    """The episode in which the i-th call of the ground truth is made as `choose(i)` says; `slip(i)` draws what goes wrong in it."""
    episode, seen, i = Episode(conversation, LIMITS), set[str](), 0
    for turn in conversation.turns:
        for call in turn.calls:
            action = choose(i)
            if action == SKIPPED:
                i += 1
                continue
            guesses = _guesses(episode, call, seen)
            made = ToolCall(call.name, call.arguments | guesses)
            if action == WRONG and not guesses:  # a second slip could mend the first
                made = wrong_value(episode, made, slip(i))
            if action in (INVENTED, TWICE):
                episode.step(Reply("", [ToolCall(made.name, made.arguments | {"note_": "x"})]))
            if action != INVENTED:
                episode.step(Reply("", [made]))
            seen, i = seen | _shown(episode.results[-1]), i + 1
        if not episode.done:
            episode.step(Reply(turn.reply))
    return episode


def _guesses(episode: Episode, call: GroundTruthCall, seen: set[str]) -> dict[str, Any]:
    """Other records in the place of those that nobody has shown."""
    unknown = {name: call.arguments[name] for name, values in from_results(call) if not values <= seen}
    return {n: another_record(episode, call.name, n, v) or "X-1" if isinstance(v, str) else ["X-1"] for n, v in unknown.items()}


def from_results(call: GroundTruthCall) -> list[tuple[str, set[str]]]:
    """(argument, its values) of those that come from earlier results."""
    cited = [n for n, o in call.origin.items() if any(not part.startswith("user") for part in o.split("; "))]
    return [(n, {str(v) for v in value} if isinstance(value := call.arguments[n], list) else {str(value)}) for n in cited]


def _shown(result: Any) -> set[str]:
    return {str(value) for _, value in leaves(result.value)} if result.ok else set()


def chance(rng: Random) -> Choose:
    """A policy of random weakness, which may also give up on the way."""
    wrong, skipped, invented = (rng.choice([0, 0.1, 0.25, 0.5]) for _ in range(3))
    gives_up, over = rng.choice([0, 0, 0.2]), False

    def choose(i: int) -> str:
        nonlocal over
        if over or rng.random() < skipped:
            action = SKIPPED
        else:
            action = INVENTED if rng.random() < invented else WRONG if rng.random() < wrong else RIGHT
        over = over or rng.random() < gives_up
        return action

    return choose


# --- how far from the goal


class Distance(msgspec.Struct, frozen=True):
    """Three measures of what is left to do."""

    calls: int  # the fewest calls of the ground truth that, made now, reach the goal; if none do, the steps not done and the stray writes
    steps: int  # steps of which no call was made as the ground truth makes it
    state: int  # fields in which the state differs from the ground truth's
    repairable: bool  # whether calls of the ground truth can still reach the goal


def distance(episode: Episode, goal: Counter[Any]) -> Distance:
    """How far an episode is from the goal; `goal` are the `state_facts` of the ground truth's end."""
    calls = episode.conversation.calls
    left = Counter((c.name, _text(c.arguments)) for c in calls)
    stray = 0
    for call, result in zip(episode.calls, episode.results, strict=True):
        key = (call.name, _text(call.arguments))
        if result.ok and left[key] > 0:
            left[key] -= 1
        elif result.ok and episode.session.tools[call.name][1].marks.writes:
            stray += 1
    steps, here = left.total(), state_facts(episode.session)
    state = ((goal - here) + (here - goal)).total()
    missing = fewest_missing(episode)
    return Distance(steps + max(1, stray) if missing is None else missing, steps, state, missing is not None)


def fewest_missing(episode: Episode) -> int | None:
    """The fewest calls of the ground truth with which the goal is reached from here; None where none do."""
    calls = episode.conversation.calls
    if len(calls) > _SEARCHED:
        return 0 if episode.goal_reached() else None
    seen, facts, wanted = set[str]().union(*map(_shown, episode.results)), episode.facts(), _unheard(episode)
    for size in range(len(calls) + 1):
        if any(_reaches(episode, some, seen, facts, wanted) for some in combinations(calls, size)):
            return size
    return None


def _unheard(episode: Episode) -> set[Fact]:
    """What the user asked to know, but for what a refusal has answered."""
    turns = [t for i, t in enumerate(episode.conversation.turns) if not (t.refusal and episode.heard(i, t))]
    return {fact for turn in turns for answer in turn.answers for fact in answer.facts}


def _reaches(episode: Episode, calls: Sequence[GroundTruthCall], seen: set[str], facts: set[Fact], wanted: set[Fact]) -> bool:
    """Whether calls, made now, reach the goal, with nothing in them that was not shown."""
    session = episode.session.fork()
    for call in calls:
        if not all(values <= seen for _, values in from_results(call)):
            return False
        result = session.call(call.name, call.arguments)
        if not result.ok:
            return False
        seen, facts = seen | _shown(result), facts | told(session, call.name, call.arguments, result.value)
    certificate, homes = episode.conversation.certificate, episode.conversation.homes
    if not all_told(wanted, facts) or certificate is None or session.outcome(homes) != certificate.outcome:
        return False
    others = session.servers.keys() - set(homes)
    return session.outcome(others) == episode.untouched().outcome(others)


def state_facts(session: Session) -> Counter[Any]:
    """(table, record, field, value) of all that a session has changed; records made in it count as one."""
    found = Counter[Any]()
    for table, rows in session.changes().items():
        for key, (before, after) in rows.items():
            was, now = ({} if r is None else msgspec.to_builtins(r) for r in (before, after))
            for field in {*was, *now}:
                if was.get(field) != now.get(field):
                    found[table, "new" if before is None else key, field, _text(now.get(field)) if now else "gone"] += 1
    return found


def _text(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()
