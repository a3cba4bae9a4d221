"""Makes the tasks of the benchmark `heldout`: five levels, a hundred tasks each, on the twenty servers and on two that only measure.

They live in held-out worlds. A task has passed certification and `prove verify`, and is of its level (`_fits`); which ones there
are depends on the seed alone.
"""

from collections.abc import Callable, Iterator
from itertools import cycle

import msgspec

from prove.records import Conversation
from prove.servers.catalog import catalogue, heldout, toolbox
from prove.synthesis.broad.compose import Shares
from prove.synthesis.broad.policy import with_rules
from prove.synthesis.data.dataset import item
from prove.synthesis.data.dedup import Seen
from prove.synthesis.data.plan import Plan
from prove.synthesis.machine import Shape
from prove.verify.report import check

OWN = 20  # tasks of a level on each of the servers that only measure
ALL = 100  # of a level
TRIES = 60  # items for one task

_PLAIN = Shape(
    levels=(("complete", 1.0),), min_turns=1, max_turns=1, second_wish=0.0, corrected=0.0, alternative=0.0, impossible=0.0, max_calls=1
)
_CHAIN = msgspec.structs.replace(_PLAIN, second_wish=0.4, max_calls=6)
_TURNS = Shape(levels=(("complete", 0.5), ("missing_required", 0.3), ("minimal", 0.2)), chained=0.5)
_SEVERAL = Shares(policy=0.0, plain=0.0, several=1.0)
_RULES = Shares(policy=1.0, plain=0.0)
_COMMON = Plan(n=0, split="heldout", stripped_enums=0.0)  # whoever is measured sees what values there are

PLANS: dict[int, Plan] = {
    1: msgspec.structs.replace(_COMMON, shape=_PLAIN),
    2: msgspec.structs.replace(_COMMON, shape=_CHAIN),
    3: msgspec.structs.replace(_COMMON, shape=_TURNS, mix=(("multi_turn", 5), ("clarification", 1))),
    4: msgspec.structs.replace(_COMMON, broad=_SEVERAL),
    5: msgspec.structs.replace(_COMMON, broad=_RULES),
}


def tasks(seed: int, tell: Callable[[int, int], None] = lambda done, n: None) -> Iterator[Conversation]:
    """All tasks, level by level and server by server."""
    wanted = [(level, server, n) for level in PLANS for server, n in places(level).items()]
    done, total, seen = 0, sum(n for *_, n in wanted), Seen()
    for level, server, n in wanted:
        for task in some(level, server, n, seed, seen):
            yield task
            done += 1
            tell(done, total)


def places(level: int) -> dict[str, int]:
    """How many tasks of a level each server has."""
    out = dict.fromkeys(heldout(), OWN)
    others = with_rules() if level == 5 else catalogue()
    for server in cycle(others):
        if sum(out.values()) == ALL:
            return dict(sorted(out.items()))
        out[server] = out.get(server, 0) + 1
    raise AssertionError("there are no servers")


def some(level: int, server: str, n: int, seed: int, seen: Seen) -> Iterator[Conversation]:
    """The first `n` tasks of a level on a server that are like none that was seen, and with which the second opinion finds no fault.
    Raises RuntimeError where there are too few."""
    plan = msgspec.structs.replace(PLANS[level], servers=(server,), seed=seed * 10 + level)
    made = 0
    for i in range(TRIES * n):
        task, _ = item(plan, i)
        if task is None or not _fits(level, task) or check(task)[1] or seen.known(task):
            continue
        yield msgspec.structs.replace(task, id=f"{server}-{level}-{made:02}")
        made += 1
        if made == n:
            return
    raise RuntimeError(f"{made} of {n} tasks of level {level} on {server} in {TRIES * n} tries")


def _fits(level: int, task: Conversation) -> bool:
    """Whether a task is of its level."""
    calls = task.calls
    asked = [turn for turn in task.turns if turn.calls]
    match level:
        case 1:
            return len(calls) == 1 and len(task.turns) == 1 and bool(calls[0].arguments)
        case 2:
            return len(task.turns) == 1 and len(calls) > 1 and any(call.after for call in calls)
        case 3:
            return len(task.turns) > 1 and len(asked) > (task.kind == "multi_turn") and len(calls) > 1
        case 4:
            tools = toolbox(task.homes)
            used = {tools[call.name][0] for call in calls}
            return len(used) > 1 and task.server in used
    return bool(task.policy) and bool(calls)
