"""Whether a reward means what it should: how it ranks weak rollouts against how far from the goal they ended.

An audit asks about the worst policy; this asks about the usual one. Every task is played by policies of random weakness
(`prove.audit.weak`); of two rollouts of one task, the one that is nearer to the goal must not be paid less.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from prove.audit.audit import AUDITED
from prove.audit.weak import RIGHT, SKIPPED, chance, distance, perform, state_facts
from prove.benchmarks.statistics import estimate
from prove.records import Conversation
from prove.rewards import Preset, reward

EACH = 8  # rollouts of a task
LONGEST = 7  # calls of a task: of more, the fewest that are missing cannot be searched
RESAMPLES = 1000  # a rank correlation costs more than a mean
GROUP = 4  # rollouts side by side, of which some must differ for anything to be learnt

#: The distances, and how they are called in tables: fewest calls missing, steps not done, fields in which the state differs.
DISTANCES = ("missing", "steps", "state")


def rollouts(
    conversations: Sequence[Conversation],
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda done, n: None,
    presets: Mapping[str, Preset] = AUDITED,
) -> pd.DataFrame:
    """`EACH` weak rollouts of every task with calls: `task`, `least` (gold's calls), `calls`, `goal`, the three distances, `harm`, and the
    reward under every preset."""
    tasks, rows = [c for c in conversations if 1 <= len(c.calls) <= LONGEST], list[dict[str, Any]]()
    for number, conversation in enumerate(tasks):
        goal = state_facts(perform(conversation, lambda i: RIGHT, Random).session)
        for turn in range(EACH):
            rng = Random(f"{seed}:{turn}:{conversation.id}")
            choose = chance(rng) if turn else lambda i: SKIPPED
            episode = perform(conversation, choose, lambda i, rng=rng: rng)  # type: ignore[misc]
            it, far = episode.trajectory(), distance(episode, goal)
            about = {"task": conversation.id, "least": len(it.ground_truth), "calls": len(it.calls), "goal": bool(it.goal)}
            far_by_name = {"missing": far.calls, "steps": far.steps, "state": far.state, "harm": it.findings.harm if it.findings else 0.0}
            rows.append(about | far_by_name | {name: reward(it, preset) for name, preset in presets.items()})
        tell(number + 1, len(tasks))
    return pd.DataFrame(rows)


def perverse(rows: pd.DataFrame, preset: str, distance: str) -> pd.DataFrame:
    """Of every task, how many `pairs` of its rollouts differ in a distance, and in how many of them the nearer one is paid less
    (`perverse`)."""
    out = []
    for task, group in rows.groupby("task"):
        far, paid = group[distance].to_numpy(), group[preset].to_numpy()
        nearer = far[:, None] < far[None, :]
        out.append({"task": task, "pairs": nearer.sum(), "perverse": (nearer & (paid[:, None] < paid[None, :] - 1e-9)).sum()})
    return pd.DataFrame(out)


def agreement(rows: pd.DataFrame, seed: int = 0, resamples: int = RESAMPLES, presets: Mapping[str, Preset] = AUDITED) -> pd.DataFrame:
    """One line a preset: the share of pairs that are perverse by each distance, with its 95 % interval (`_low`, `_high`; tasks
    resampled), their number (`_pairs`); the rank correlation with the fewest calls missing, relative to gold's (`rank`); how often of a
    hit and a miss of one task the hit is paid more (`hit`, ties half); the share of groups of four without any spread (`flat`)."""
    out = {}
    for preset in presets:
        line = dict[str, Any]()
        for far in DISTANCES:
            found = perverse(rows, preset, far)
            counts = found[["perverse", "pairs"]].to_numpy(float)
            picks = np.random.default_rng(seed).integers(0, len(counts), (resamples, len(counts)))
            sums = counts[picks].sum(axis=1)
            low, high = np.nanpercentile(_ratio(sums), [2.5, 97.5])
            line |= {far: _ratio(counts.sum(axis=0, keepdims=True))[0], f"{far}_low": low, f"{far}_high": high}
            line[f"{far}_pairs"] = int(counts[:, 1].sum())
        left = (rows.missing / rows.least).to_numpy(float)
        line["rank"] = spearman(rows[[preset]].to_numpy(float), -left[:, None])[0, 0]
        out[preset] = line | {"hit": _hits_first(rows, preset), "flat": _flat(rows, preset)}
    return pd.DataFrame.from_dict(out, orient="index")


def _ratio(sums: Any) -> Any:
    return np.divide(sums[:, 0], sums[:, 1], out=np.full(len(sums), np.nan), where=sums[:, 1] > 0)


def _hits_first(rows: pd.DataFrame, preset: str) -> float:
    wins = pairs = 0.0
    for _, group in rows.groupby("task"):
        hit, miss = group[preset][group.goal].to_numpy()[:, None], group[preset][~group.goal].to_numpy()[None, :]
        wins, pairs = wins + float((hit > miss).sum() + 0.5 * (hit == miss).sum()), pairs + hit.size * miss.size
    return wins / pairs if pairs else float("nan")


def _flat(rows: pd.DataFrame, preset: str) -> float:
    groups = (g[preset].to_numpy() for _, g in rows.groupby("task"))
    return float(np.mean([np.ptp(values[at : at + GROUP]) < 1e-9 for values in groups for at in range(0, len(values) - GROUP + 1, GROUP)]))


def spearman(a_N_P: Any, b_N_Q: Any) -> Any:
    """Spearman's rank correlation of every column with every other, P x Q, ties sharing their mean rank; nan where a column is
    constant."""
    ranks_a, ranks_b = ((r := rankdata(x, axis=0)) - r.mean(axis=0) for x in (a_N_P, b_N_Q))
    norms_P_Q = np.outer(np.linalg.norm(ranks_a, axis=0), np.linalg.norm(ranks_b, axis=0))
    return np.divide(ranks_a.T @ ranks_b, norms_P_Q, out=np.full(norms_P_Q.shape, np.nan), where=norms_P_Q > 0)


def calibration(rows: pd.DataFrame, preset: str, bins: int = 10, seed: int = 0) -> pd.DataFrame:
    """What a reward says of the goal: mean `reward`, share of `goal` with its interval, and `n`, in `bins` equally full bins
    (fewer where many rewards are equal)."""
    bin_of = pd.qcut(rows[preset], bins, labels=False, duplicates="drop")
    lines = []
    for _, group in rows.groupby(bin_of):
        share = estimate(group.goal.astype(float).to_list(), seed)
        lines.append({"reward": group[preset].mean(), "goal": share.mean, "low": share.low, "high": share.high, "n": share.n})
    return pd.DataFrame(lines)
