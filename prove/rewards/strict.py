"""The project's own, stricter reading of the paper's components, and what is as good as gold.

In the paper's formulas a call earns validity and name whatever it is for, a step counts as covered whatever the values, and a
step that nobody did costs coverage alone. Here the components are over the steps to be done: only a call that stands for a step
earns, a step is covered as far as its values are right and its call went through, and a step that nobody did is missed in every
component. One term is added: each flaw (`flaws`) leaves only a part of all that was earned (`Weights.elsewhere`, three quarters). So

- a call that stands for no step never raises the score, and of two orders the one that keeps fewer edges never scores more;
- only what is `equivalent` to gold comes within 0.3 of it, as one flaw costs a quarter of 1.3;
- every step that is done still pays, whatever went wrong before: a bad policy has something to climb.

G is the ground truth's steps; a match pairs one of them with a call. The laws are in tests/test_rewards.py.
"""

from prove.rewards.components import in_order, levels
from prove.rewards.matching import Match, match
from prove.rewards.trajectory import Trajectory


def validity(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """Mean over the steps of the level (0 to 1) that its call reached; 0 for a step that nobody did."""
    return sum(levels(trajectory.calls[m.call], trajectory.schemas) for m in matches) / (3 * len(trajectory.ground_truth))


def coverage(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """(1/|G|) * sum over g of the share of g's values that are equal, if its call succeeded and came after those of all
    steps that g depends on."""
    steps, calls = trajectory.ground_truth, trajectory.calls
    return sum(m.equal for m in in_order(steps, matches) if calls[m.call].ok) / len(steps)


def name(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """Share of the steps that some call stands for."""
    return len(matches) / len(trajectory.ground_truth)


def argument(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """Mean over the steps of the share of their values that are equal; 0 for a step that nobody did."""
    return sum(m.equal for m in matches) / len(trajectory.ground_truth)


def flaws(trajectory: Trajectory, matches: tuple[Match, ...], coverage: float) -> int:
    """How many calls stand for no step, one more where a step is not fully covered, and two where the goal is missed: that is what all
    of it was for, so that it outweighs a call too many."""
    return len(trajectory.calls) - len(matches) + (coverage < 1.0) + 2 * (trajectory.goal is False)


def equivalent(trajectory: Trajectory) -> bool:
    """Whether a rollout is as good as gold: it reached the goal, with no more calls than the ground truth, in any order that the
    dependency edges allow. A goal that nobody looked at counts as reached."""
    steps, calls = trajectory.ground_truth, trajectory.calls
    done = [m for m in in_order(steps, match(trajectory)) if calls[m.call].ok]
    return trajectory.goal is not False and len(calls) <= len(steps) == len(done)
