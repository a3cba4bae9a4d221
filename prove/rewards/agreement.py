"""Whether a reward means what it should: how it ranks gold with damage of known size against what came of it.

The damage is done at random to gold's calls and played live, so that goal and end state are those of a real session. An audit
asks about the worst policy; this asks about the usual one, which is nearly right. The strict preset is told whether the goal
was reached: that it agrees with the goal better than others is partly its own input.
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
from prove.rewards.audit import BATCH
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

        for start in range(0, len(tasks), BATCH):
            for episode in play(Cheat(move), tasks[start : start + BATCH]):
                it = episode.trajectory()
                scores = {name: reward(it, weights) for name, weights in PRESETS.items()}
                rows.append({"task": episode.conversation.id, "damage": size, "goal": bool(it.goal), **scores})
        tell(size + 1, len(SIZES))
    return pd.DataFrame(rows)


# --- how well they agree


def agreement(rows: pd.DataFrame, seed: int = 0, resamples: int = RESAMPLES) -> pd.DataFrame:
    """One line a preset: its rank correlation (Spearman's) with the `goal` reached and with the `damage`, and how often, of two
    rollouts of one task of which one reached the goal, that one has the higher reward (`within`, ties half). Each with its 95 %
    percentile bootstrap interval (`_low`, `_high`), tasks resampled.
    """
    tasks = [group.index.to_numpy() for _, group in rows.reset_index(drop=True).groupby("task")]
    scores_N_P, outcomes_N_2 = rows[list(PRESETS)].to_numpy(float), rows[["goal", "damage"]].to_numpy(float)
    orders_T_P_2 = np.array([[_orders(outcomes_N_2[t, 0], scores) for scores in scores_N_P[t].T] for t in tasks])

    def measures(picked_T: Any) -> Any:
        at = np.concatenate([tasks[t] for t in picked_T])
        wins_P, pairs_P = orders_T_P_2[picked_T].sum(axis=0).T
        within_P = np.divide(wins_P, pairs_P, out=np.full(len(PRESETS), np.nan), where=pairs_P > 0)
        return np.column_stack([spearman(scores_N_P[at], outcomes_N_2[at]), within_P])

    picks_R_T = np.random.default_rng(seed).integers(0, len(tasks), (resamples, len(tasks)))
    found_P_3, resampled_R_P_3 = measures(np.arange(len(tasks))), np.array([measures(picked) for picked in picks_R_T])
    low_P_3, high_P_3 = np.nanpercentile(resampled_R_P_3, [2.5, 97.5], axis=0)
    columns = [f"{what}{end}" for what in ("goal", "damage", "within") for end in ("", "_low", "_high")]
    values = np.stack([found_P_3, low_P_3, high_P_3], axis=2).reshape(len(PRESETS), -1)
    return pd.DataFrame(values, list(PRESETS), columns)


def spearman(a_N_P: Any, b_N_Q: Any) -> Any:
    """Spearman's rank correlation of every column with every other, P x Q, ties sharing their mean rank; nan where a column is
    constant."""
    ranks_a, ranks_b = ((r := rankdata(x, axis=0)) - r.mean(axis=0) for x in (a_N_P, b_N_Q))
    norms_P_Q = np.outer(np.linalg.norm(ranks_a, axis=0), np.linalg.norm(ranks_b, axis=0))
    return np.divide(ranks_a.T @ ranks_b, norms_P_Q, out=np.full(norms_P_Q.shape, np.nan), where=norms_P_Q > 0)


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


def signal(rows: pd.DataFrame, preset: str) -> pd.DataFrame:
    """What a preset leaves to learn from: of every size of damage its quartiles, the share of rollouts that score 0 or less, and the
    number of different scores."""
    groups = rows.groupby("damage")[preset]
    out = groups.quantile([0.25, 0.5, 0.75]).unstack().set_axis(["low", "median", "high"], axis=1)
    out["nothing"] = groups.agg(lambda scores: (scores <= 0).mean())
    out["different"] = groups.agg(lambda scores: scores.round(6).nunique())
    return out
