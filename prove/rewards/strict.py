"""The paper's components over the steps to be done instead of the calls that were made: the project's own, stricter reading.

In the paper's formulas a call earns validity and name whatever it is for, a step counts as covered whatever the values, and a
step that nobody did costs coverage alone. Here only a call that stands for a step earns, a step is covered as far as its values
are right and its call went through, and a step that nobody did is missed in every component. So no call that does
nothing towards the ground truth can raise the score: the laws in tests/test_rewards.py hold without exception.

C is the policy's calls, G the ground truth's steps; a match pairs one of each.
"""

import json

from prove.rewards.components import in_order, levels
from prove.rewards.matching import Match
from prove.rewards.trajectory import Call, Trajectory


def validity(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """Levels (0 to 1) of the calls that stand for a step, over |G| and the bad calls: those beside them that fail a level or
    repeat an earlier call."""
    earned = sum(levels(trajectory.calls[m.call], trajectory.schemas) for m in matches)
    return earned / (3 * (len(trajectory.ground_truth) + _bad(trajectory, {m.call for m in matches})))


def _bad(trajectory: Trajectory, standing: set[int]) -> int:
    """How many calls stand for no step and either fail or say again what was said before."""
    said, bad = set(), 0
    for position, call in enumerate(trajectory.calls):
        key = _canonical(call)
        bad += position not in standing and (key in said or levels(call, trajectory.schemas) < 3)
        said.add(key)
    return bad


def _canonical(call: Call) -> str:
    return json.dumps((call.name, call.arguments), sort_keys=True)


def coverage(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """(1/|G|) * sum over g of the share of g's values that are equal, if its call succeeded and came after those of all
    steps that g depends on."""
    steps, calls = trajectory.ground_truth, trajectory.calls
    return sum(m.equal for m in in_order(steps, matches) if calls[m.call].ok) / len(steps)


def name(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """Steps that some call stands for, over |C| or |G|, whichever is more: every step once, every call counted."""
    return len(matches) / max(len(trajectory.calls), len(trajectory.ground_truth))


def argument(trajectory: Trajectory, matches: tuple[Match, ...]) -> float:
    """Mean over the steps of the share of their values that are equal; 0 for a step that nobody did."""
    return sum(m.equal for m in matches) / len(trajectory.ground_truth)
