"""Whether a reward means what it should: how it ranks gold with damage of known size against what came of it.

The damage is done at random to gold's calls and played live, so that goal and end state are those of a real session. An audit
asks about the worst policy; this asks about the usual one, which is nearly right. The strict preset looks at the end state,
which is a part of the goal: that it agrees with the goal better than others is partly its own input.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from prove.benchmarks.statistics import estimate
from prove.episode import Episode, ToolCall, play
from prove.records import Conversation
from prove.rewards.cheats import Cheat, harmless_reads, wrong
from prove.rewards.reward import PRESETS, reward

SIZES = range(7)  # edits done to gold
RESAMPLES = 1000  # a rank correlation costs more than a mean

Turns = list[list[ToolCall]]


def damaged(episode: Episode, size: int, rng: Random) -> Turns:
    """Gold's calls turn by turn, with `size` edits, each of which changes something (and may mend what another one broke)."""
    turns = [[ToolCall(c.name, c.arguments) for c in turn.calls] for turn in episode.conversation.turns]
    for _ in range(size):
        before = [list(turn) for turn in turns]
        while turns == before:
            turn = rng.choice(turns)
            rng.choice(EDITS)(turn, rng, episode)
    return turns


def _drop(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    if turn:
        del turn[rng.randrange(len(turn))]


def _change_a_value(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    at = rng.randrange(len(turn)) if turn else -1
    if turn and isinstance(turn[at].arguments, dict) and turn[at].arguments:
        name = rng.choice(sorted(turn[at].arguments))
        arguments = turn[at].arguments
        turn[at] = ToolCall(turn[at].name, arguments | wrong(episode, {name: arguments[name]}))


def _lose_an_argument(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    at = rng.randrange(len(turn)) if turn else -1
    if turn and isinstance(turn[at].arguments, dict) and turn[at].arguments:
        gone = rng.choice(sorted(turn[at].arguments))
        turn[at] = ToolCall(turn[at].name, {k: v for k, v in turn[at].arguments.items() if k != gone})


def _swap(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    if len(turn) > 1:
        at = rng.randrange(len(turn) - 1)
        turn[at], turn[at + 1] = turn[at + 1], turn[at]


def _repeat(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    if turn:
        turn.insert(rng.randint(0, len(turn)), rng.choice(turn))


def _look_elsewhere(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    if reads := harmless_reads(episode):
        turn.insert(rng.randint(0, len(turn)), rng.choice(reads))


def _mistake_the_tool(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    if turn:
        at = rng.randrange(len(turn))
        turn[at] = ToolCall(rng.choice(sorted(episode.schemas)), turn[at].arguments)


def _garble(turn: list[ToolCall], rng: Random, episode: Episode) -> None:
    if turn:
        at = rng.randrange(len(turn))
        turn[at] = ToolCall(turn[at].name, "{")


EDITS = (_drop, _change_a_value, _lose_an_argument, _swap, _repeat, _look_elsewhere, _mistake_the_tool, _garble)


def rollouts(conversations: Sequence[Conversation], seed: int = 0, tell: Callable[[int, int], None] = lambda done, n: None) -> pd.DataFrame:
    """Every task that has calls, once a size of damage: `task`, `damage`, `goal` and the reward under every preset."""
    tasks, rows = [c for c in conversations if c.calls], list[dict[str, Any]]()
    for size in SIZES:
        plans: dict[str, Turns] = {}

        def move(episode: Episode, size: int = size, plans: dict[str, Turns] = plans) -> list[ToolCall]:
            name = episode.conversation.id
            if name not in plans:
                plans[name] = damaged(episode, size, Random(f"{seed}:{size}:{name}"))
            return plans[name][episode.turn]

        for episode in play(Cheat(move), tasks):
            trajectory = episode.trajectory()
            scores = {name: reward(trajectory, weights) for name, weights in PRESETS.items()}
            rows.append({"task": episode.conversation.id, "damage": size, "goal": episode.goal_reached(), **scores})
        tell(size + 1, len(SIZES))
    return pd.DataFrame(rows)


# --- how well they agree


def agreement(rows: pd.DataFrame, seed: int = 0, resamples: int = RESAMPLES) -> pd.DataFrame:
    """One line a preset: its rank correlation (Spearman's) with the `goal` reached and with the `damage`, and how often, of two
    rollouts of one task of which one reached the goal, that one has the higher reward (`within`, ties half). Each with its 95 %
    percentile bootstrap interval (`_low`, `_high`), tasks resampled.
    """
    tasks = [group.index.to_numpy() for _, group in rows.reset_index(drop=True).groupby("task")]
    picks_R_T = np.random.default_rng(seed).integers(0, len(tasks), (resamples, len(tasks)))
    columns = {name: rows[name].to_numpy(float) for name in ("goal", "damage", *PRESETS)}
    out = {}
    for preset in PRESETS:
        wins_T, pairs_T = np.array([_orders(columns["goal"][t], columns[preset][t]) for t in tasks]).T

        def measure(picked_T: Any, preset: str = preset, wins_T: Any = wins_T, pairs_T: Any = pairs_T) -> list[float]:
            at = np.concatenate([tasks[t] for t in picked_T])
            pairs = pairs_T[picked_T].sum()
            within = wins_T[picked_T].sum() / pairs if pairs else np.nan
            return [*(spearman(columns[preset][at], columns[other][at]) for other in ("goal", "damage")), within]

        found, resampled = measure(np.arange(len(tasks))), np.array([measure(picked) for picked in picks_R_T])
        low, high = np.nanpercentile(resampled, [2.5, 97.5], axis=0)
        out[preset] = {
            f"{what}{end}": value
            for i, what in enumerate(("goal", "damage", "within"))
            for end, value in (("", found[i]), ("_low", low[i]), ("_high", high[i]))
        }
    return pd.DataFrame(out).T


def spearman(a: Any, b: Any) -> float:
    """Spearman's rank correlation, ties sharing their mean rank; nan where one side is constant."""
    ranks = rankdata(a), rankdata(b)
    return float(np.corrcoef(*ranks)[0, 1]) if all(np.ptp(r) for r in ranks) else float("nan")


def _orders(goal: Any, scores: Any) -> tuple[float, int]:
    """Of the pairs of one rollout that reached the goal and one that did not: in how many the reward agrees, and how many."""
    reached, missed = scores[goal > 0][:, None], scores[goal == 0][None, :]
    return float((reached > missed).sum() + 0.5 * (reached == missed).sum()), reached.size * missed.size


def calibration(rows: pd.DataFrame, preset: str, bins: int = 10, seed: int = 0) -> pd.DataFrame:
    """What a reward says of the goal: mean `reward`, share of `goal` with its interval, and `n`, in `bins` equally full bins
    (fewer where many rewards are equal)."""
    bin_of = pd.qcut(rows[preset], bins, labels=False, duplicates="drop")
    lines = []
    for _, group in rows.groupby(bin_of):
        share = estimate(group.goal.astype(float).to_list(), seed)
        lines.append({"reward": group[preset].mean(), "goal": share.mean, "low": share.low, "high": share.high, "n": share.n})
    return pd.DataFrame(lines)
