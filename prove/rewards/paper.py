"""The paper's reward: 0.5 validity + 0.5 coverage + 0.15 efficiency + 0.2 name + 0.1 argument, at most 1.3; a task without ground
truth scores by abstention alone (arXiv:2606.03892, section 4).
"""

import msgspec

from prove.rewards import components as c
from prove.rewards.explanation import Explanation
from prove.rewards.matching import match
from prove.rewards.trajectory import Trajectory

COMPONENTS = ("validity", "coverage", "efficiency", "name", "argument", "abstention")


class Weights(msgspec.Struct, frozen=True):
    """How much each component counts; `alpha` and `beta` shape the efficiency term. The defaults are the paper's.

    Called with a trajectory, they explain its reward.
    """

    validity: float = 0.5
    coverage: float = 0.5
    efficiency: float = 0.15
    name: float = 0.2
    argument: float = 0.1
    alpha: float = 0.5
    beta: float = 0.5

    def __call__(self, trajectory: Trajectory) -> Explanation:
        """The reward of a trajectory with all of its parts."""
        calls, steps = trajectory.calls, trajectory.ground_truth
        if not steps:
            value = c.abstention(calls)
            return Explanation(trajectory, {"abstention": value}, {"abstention": value})
        matches = match(trajectory)
        values = {
            "validity": c.validity(trajectory),
            "coverage": c.coverage(steps, matches),
            "efficiency": c.efficiency(len(calls), len(steps), self.alpha, self.beta),
            "name": c.name(calls, steps),
            "argument": c.argument(matches),
        }
        return Explanation(trajectory, {name: value * getattr(self, name) for name, value in values.items()}, values, matches)


PAPER = Weights()

#: The paper's ablations (table 5), under the names of its rows.
ABLATIONS = {
    "no_validity": Weights(validity=0.0),
    "no_coverage": Weights(coverage=0.0),
    "no_efficiency": Weights(efficiency=0.0),
    "no_name": Weights(name=0.0),
    "no_argument": Weights(argument=0.0),
    "flat_budget": Weights(beta=0.0),
}
