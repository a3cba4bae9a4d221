"""Our own evaluation: conversations whose worlds training never saw, played live."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from prove.benchmarks.statistics import Estimate, difference, estimate
from prove.episode import Episode, Limits, Policy, play
from prove.records import Conversation
from prove.rewards import explain
from prove.rewards.reward import COMPONENTS


class Score(msgspec.Struct, frozen=True):
    """How one conversation went. Components that do not apply are None."""

    id: str
    kind: str
    goal: bool
    reward: float
    calls: int
    ground_truth: int
    validity: float | None = None
    coverage: float | None = None
    efficiency: float | None = None
    name: float | None = None
    argument: float | None = None
    abstention: float | None = None


def score(episode: Episode) -> Score:
    """The score of a finished episode."""
    why = explain(episode.trajectory())
    return Score(
        episode.conversation.id,
        episode.conversation.kind,
        episode.goal_reached(),
        why.total,
        len(episode.calls),
        len(episode.conversation.calls),
        **{name: getattr(why, name) for name in COMPONENTS},
    )


def evaluate(
    policy: Policy,
    conversations: Sequence[Conversation],
    limits: Limits | None = None,
    batch: int = 16,
    keep: Callable[[Episode, Score], None] = lambda episode, score: None,
) -> list[Score]:
    """Play every conversation, `batch` at a time; `keep` is told of each as soon as it is finished."""
    scores = []
    for start in range(0, len(conversations), batch):
        for episode in play(policy, conversations[start : start + batch], limits):
            scores.append(score(episode))
            keep(episode, scores[-1])
    return scores


def by_server(scores: dict[str, Sequence[Score]], trained_on: Collection[str]) -> dict[str, list[Score]]:
    """The scores of each model on the servers that training had and, apart, on those that it never saw; an id begins with its server."""
    out: dict[str, list[Score]] = {}
    for name, found in scores.items():
        for s in found:
            group = "seen" if s.id.rsplit("-", 2)[0] in trained_on else "unseen"
            out.setdefault(f"{name}, {group} servers", []).append(s)
    return out


def summary(scores: Sequence[Score], seed: int = 0) -> dict[str, Estimate]:
    """The mean of every metric with its interval; of `calls`, the ratio to the ground truth's where there is one."""
    columns: dict[str, list[float]] = {
        "goal": [float(s.goal) for s in scores],
        "reward": [s.reward for s in scores],
        "calls_per_ground_truth": [s.calls / s.ground_truth for s in scores if s.ground_truth],
    }
    for name in COMPONENTS:
        columns[name] = [value for s in scores if (value := getattr(s, name)) is not None]
    return {name: estimate(values, seed) for name, values in columns.items() if values}


def gains(scores: dict[str, Sequence[Score]], seed: int = 0) -> dict[str, dict[str, Estimate]]:
    """What each model gains over each before it ("grpo - warm"), paired by conversation, for every metric both have."""
    names = list(scores)
    pairs = [(after, before) for i, after in enumerate(names) for before in names[:i]]
    return {f"{after} - {before}": _gain(scores[after], scores[before], seed) for after, before in pairs}


def _gain(after: Sequence[Score], before: Sequence[Score], seed: int) -> dict[str, Estimate]:
    out = {}
    for metric in ("goal", "reward", *COMPONENTS):
        pairs = [(getattr(a, metric), getattr(b, metric)) for a, b in zip(after, before, strict=True)]
        both = [(float(a), float(b)) for a, b in pairs if a is not None and b is not None]
        if both:
            out[metric] = difference([a for a, _ in both], [b for _, b in both], seed)
    return out


def as_numbers(summary: dict[str, Estimate]) -> dict[str, Any]:
    """A summary as plain data, for `numbers.json`."""
    return {name: msgspec.to_builtins(value) for name, value in summary.items()}
