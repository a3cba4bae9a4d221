"""The audit: what policies get, live, beside what gold gets on the same tasks.

A reward is as good as the worst policy that it cannot tell from a good one, and as the best that it takes for a bad one. Every
policy plays every task on a session of its own; a rollout whose calls are gold's own is left out (a task without reads
has none to double).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from prove.audit.assistants import LastWords, careless, fair
from prove.audit.cheats import cheats, gold
from prove.benchmarks.statistics import estimate
from prove.episode import Episode, play
from prove.policies import Oracle
from prove.records import Conversation, Split
from prove.rewards import PRESETS, Preset, reward
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import PAPER_MIX, Plan

AUDITED: Mapping[str, Preset] = {name: PRESETS[name] for name in ("paper", "effect")}
BATCH = 100  # episodes in memory at once
BAR = 0.8  # of gold: no rollout that misses the goal gets so much, none that reaches it with few calls gets less
FEW = 2  # times gold's calls

Tell = Callable[[int, int], None]  # how many of how many are done


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


def policies(conversations: Sequence[Conversation]) -> dict[str, Any]:
    """Every policy that is played, by name, gold first."""
    return {"gold": Oracle(attempts=False), "gold, all words at the end": LastWords(), **fair(), **careless(), **cheats(conversations)}


def rollouts(
    conversations: Sequence[Conversation], tell: Tell = lambda done, n: None, presets: Mapping[str, Preset] = AUDITED
) -> pd.DataFrame:
    """Every policy on every task, one row each: `policy`, `task`, `goal`, `calls` and those of gold (`least`), the reward of every
    preset, and as `PRESET of gold` its share of what gold gets on that task."""
    players = policies(conversations)
    rows, right = list[dict[str, Any]](), dict[str, Any]()
    for number, (name, policy) in enumerate(players.items()):
        for start in range(0, len(conversations), BATCH):
            for episode in play(policy, conversations[start : start + BATCH]):
                task, done = episode.conversation.id, _deeds(episode)
                if name == "gold":
                    right[task] = done
                elif done == right[task] and getattr(policy, "move", None) is not gold:  # what gold says, silence among it, is played
                    continue
                rows.append(_row(name, episode, presets))
        tell(number + 1, len(players))
    table = pd.DataFrame(rows)
    best = table[table.policy == "gold"].set_index("task")
    for preset in presets:
        table[f"{preset} of gold"] = table[preset] / table.task.map(best[preset])
    return table


def _deeds(episode: Episode) -> Any:
    """What the assistant has called, and when."""
    return [(call.turn, call.name, json.dumps(call.arguments)) for call in episode.calls]


def _row(policy: str, episode: Episode, presets: Mapping[str, Preset]) -> dict[str, Any]:
    it = episode.trajectory()
    about = {"policy": policy, "task": episode.conversation.id, "goal": bool(it.goal)}
    return about | {"calls": len(it.calls), "least": len(it.ground_truth)} | {name: reward(it, preset) for name, preset in presets.items()}


def table(rows: pd.DataFrame, seed: int = 0, presets: Mapping[str, Preset] = AUDITED) -> pd.DataFrame:
    """One line a policy: `n` tasks, mean `calls` over gold's, share of `goal` reached; and for each preset the mean of what it pays
    over what it pays gold on the same tasks with its 95 % interval (`_low`, `_high`), and the most that a miss gets (`_miss`)."""
    out = []
    for name, group in rows.groupby("policy", sort=False):
        with_calls = group[group.least > 0]
        line: dict[str, Any] = {
            "policy": name,
            "n": len(group),
            "calls": (with_calls.calls / with_calls.least).mean(),
            "goal": group.goal.mean(),
        }
        for preset in presets:
            share = group[f"{preset} of gold"]
            found = estimate(share.to_list(), seed)
            line |= {f"{preset}_mean": found.mean, f"{preset}_low": found.low, f"{preset}_high": found.high}
            line[f"{preset}_miss"] = share[~group.goal].max()
        out.append(line)
    return pd.DataFrame(out).set_index("policy")


def faults(rows: pd.DataFrame, presets: Mapping[str, Preset] = AUDITED) -> pd.DataFrame:
    """One line a preset: of the `misses` how many pass for gold (`passing`) and the most that one gets (`most`); of the `hits` with at
    most twice gold's calls how many do not (`denied`) and the least that one gets (`least`), in shares of gold."""
    few = rows[rows.goal & (rows.calls <= FEW * rows.least)]
    missed = rows[~rows.goal]
    out = {}
    for preset in presets:
        high, low = missed[f"{preset} of gold"], few[f"{preset} of gold"]
        out[preset] = {
            "misses": len(missed),
            "passing": int((high >= BAR).sum()),
            "most": high.max(),
            "hits": len(few),
            "denied": int((low < BAR - 1e-9).sum()),
            "least": low.min(),
        }
    return pd.DataFrame.from_dict(out, orient="index")
