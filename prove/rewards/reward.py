"""The reward of a trajectory, and why it is what it is.

total = 0.5 validity + 0.5 coverage + 0.15 efficiency + 0.2 name + 0.1 argument, at most 1.3; a task without ground
truth scores by abstention alone (arXiv:2606.03892, section 4).
"""

import msgspec

from prove.rewards import components as c
from prove.rewards.matching import Match, match
from prove.rewards.trajectory import Trajectory


class Weights(msgspec.Struct, frozen=True):
    """How much each component counts; `alpha` and `beta` shape the efficiency term. The defaults are the paper's."""

    validity: float = 0.5
    coverage: float = 0.5
    efficiency: float = 0.15
    name: float = 0.2
    argument: float = 0.1
    alpha: float = 0.5
    beta: float = 0.5


PAPER = Weights()

COMPONENTS = ("validity", "coverage", "efficiency", "name", "argument", "abstention")


class Explanation(msgspec.Struct, frozen=True):
    """Every component (None where it does not apply), what each adds to the total, and every match."""

    total: float
    validity: float | None = None
    coverage: float | None = None
    efficiency: float | None = None
    name: float | None = None
    argument: float | None = None
    abstention: float | None = None
    matches: tuple[Match, ...] = ()
    weights: Weights = PAPER

    def contributions(self) -> dict[str, float]:
        """What each component that applies adds to the total."""
        values = {name: getattr(self, name) for name in COMPONENTS}
        return {name: value * getattr(self.weights, name, 1.0) for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        lines = [f"{name:<11}{getattr(self, name):>7.3f}  adds {added:+.3f}" for name, added in self.contributions().items()]
        return "\n".join([*lines, f"{'total':<11}{self.total:>7.3f}"])


def explain(trajectory: Trajectory, weights: Weights = PAPER) -> Explanation:
    """The reward of a trajectory with all of its parts."""
    calls, steps = trajectory.calls, trajectory.ground_truth
    if not steps:
        score = c.abstention(calls)
        return Explanation(total=score, abstention=score, weights=weights)
    matches = match(trajectory)
    parts = {
        "validity": c.validity(trajectory),
        "coverage": c.coverage(steps, matches),
        "efficiency": c.efficiency(len(calls), len(steps), weights.alpha, weights.beta),
        "name": c.name(calls, steps),
        "argument": c.argument(matches),
    }
    total = sum(getattr(weights, part) * value for part, value in parts.items())
    return Explanation(total=total, matches=matches, weights=weights, **parts)


def reward(trajectory: Trajectory, weights: Weights = PAPER) -> float:
    """The reward of a trajectory: at most 1.3 with the paper's weights. An exception is a bug, never a 0."""
    return explain(trajectory, weights).total
