"""The audit: what cheating and broken policies get, live, beside what gold gets.

A reward is as good as the worst policy that it cannot tell from a good one. Every cheat plays every task on a session of
its own; a rollout whose calls are gold's own is left out (a task without reads has none to double). On some tasks a cheat does
nothing wrong (gold backwards, where no step depends on another): `prove.rewards.strict.equivalent` tells these apart.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from prove.episode import Episode, play
from prove.policies import Oracle
from prove.records import Conversation, Split
from prove.rewards.cheats import cheats
from prove.rewards.reward import PAPER, STRICT, reward
from prove.rewards.strict import equivalent
from prove.synthesis.data.dataset import PAPER_MIX, Plan, item

PRESETS = {"paper": PAPER, "strict": STRICT}

BATCH = 100  # episodes in memory at once

Tell = Callable[[int, int], None]  # how many of how many are done

#: How far below gold a rollout still counts as mistaken for it.
MARGIN = {"paper": 0.1, "strict": 0.3}


def tasks(
    n: int, servers: Sequence[str] = (), seed: int = 0, split: Split = "validation", tell: Tell = lambda done, n: None
) -> list[Conversation]:
    """`n` certified conversations in the paper's mix of kinds. Raises LookupError where so many cannot be made."""
    plan = Plan(n, seed, tuple(servers), split, tuple(PAPER_MIX.items()))
    found: list[Conversation] = []
    for i in range(20 * n + 100):
        record, _ = item(plan, i)
        found += [record] if record else []
        tell(len(found), n)
        if len(found) == n:
            break
    if len(found) < n:
        raise LookupError(f"only {len(found)} of {n} tasks could be made on {', '.join(plan.homes)}: ask for fewer, or for more servers")
    return found


def rollouts(conversations: Sequence[Conversation], tell: Tell = lambda done, n: None) -> pd.DataFrame:
    """Every policy on every task, one row each: `policy`, `task`, `goal`, `equivalent`, `calls`, `paper`, `strict`; gold's too."""
    players = {"gold": Oracle(attempts=False), **cheats(conversations)}
    rows, right = list[dict[str, Any]](), dict[str, tuple[Any, ...]]()
    for number, (name, policy) in enumerate(players.items()):
        for start in range(0, len(conversations), BATCH):
            for episode in play(policy, conversations[start : start + BATCH]):
                done = tuple((call.name, call.arguments) for call in episode.calls)
                if name == "gold":
                    right[episode.conversation.id] = done
                elif done == right[episode.conversation.id]:
                    continue
                rows.append(_row(name, episode))
        tell(number + 1, len(players))
    return pd.DataFrame(rows)


def _row(policy: str, episode: Episode) -> dict[str, Any]:
    it = episode.trajectory()
    about = {"policy": policy, "task": episode.conversation.id, "goal": bool(it.goal), "equivalent": equivalent(it), "calls": len(it.calls)}
    return about | {name: reward(it, weights) for name, weights in PRESETS.items()}


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """One line a policy: `n` tasks, mean `calls`, share of `goal` reached and of `equivalent` to gold; and for each preset the mean,
    the standard deviation, the share of tasks on which it comes within the preset's margin of gold without being equivalent
    (`near`), and on which it does so without reaching the goal (`fooled`), all over `n`."""
    gold = rows[rows.policy == "gold"].set_index("task")
    groups = rows.groupby("policy", sort=False)
    out = groups.agg(n=("task", "size"), calls=("calls", "mean"), goal=("goal", "mean"), equivalent=("equivalent", "mean"))
    for name in PRESETS:
        near = (rows[name] >= rows.task.map(gold[name]) - MARGIN[name] - 1e-9) & ~rows.equivalent
        by_policy = pd.DataFrame({"policy": rows.policy, "near": near, "fooled": near & ~rows.goal}).groupby("policy", sort=False).mean()
        out[f"{name}_mean"], out[f"{name}_std"] = groups[name].mean(), groups[name].std(ddof=0)
        out[f"{name}_near"], out[f"{name}_fooled"] = by_policy.near, by_policy.fooled
    return out
