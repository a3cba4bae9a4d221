"""The reward of a trajectory, and why it is what it is.

total = 0.5 validity + 0.5 coverage + 0.15 efficiency + 0.2 name + 0.1 argument, at most 1.3; a task without ground
truth scores by abstention alone (arXiv:2606.03892, section 4).
"""

from typing import Literal

import msgspec

from prove.rewards import components as c
from prove.rewards import strict
from prove.rewards.matching import Match, match
from prove.rewards.trajectory import Trajectory


class Weights(msgspec.Struct, frozen=True):
    """How much each component counts; `alpha` and `beta` shape the efficiency term. The defaults are the paper's.

    The last two are not the paper's: `over` says whether components are means over the calls made or over the steps to be
    done, and `elsewhere` what is left over the steps of all that was earned for each flaw (`prove.rewards.strict`): a call that
    led elsewhere, a step left undone, the goal missed.
    """

    validity: float = 0.5
    coverage: float = 0.5
    efficiency: float = 0.15
    name: float = 0.2
    argument: float = 0.1
    alpha: float = 0.5
    beta: float = 0.5
    over: Literal["calls", "steps"] = "calls"
    elsewhere: float = 1.0


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

#: The project's own: only steps earn, and every flaw leaves three quarters of it. A quarter of 1.3 is more than 0.3.
STRICT = Weights(over="steps", elsewhere=0.75)

PRESETS = {"paper": PAPER, "strict": STRICT, **ABLATIONS}

COMPONENTS = ("validity", "coverage", "efficiency", "name", "argument", "abstention")


class Explanation(msgspec.Struct, frozen=True):
    """Every component (None where it does not apply), and every match, beside the trajectory and the weights they are of.

    `str` shows it as text; `prove.figures_rewards.waterfall` draws it.
    """

    trajectory: Trajectory
    validity: float | None = None
    coverage: float | None = None
    efficiency: float | None = None
    name: float | None = None
    argument: float | None = None
    abstention: float | None = None
    flaws: int = 0  # over the steps: how often `elsewhere` applies
    matches: tuple[Match, ...] = ()
    weights: Weights = PAPER

    @property
    def total(self) -> float:
        """The reward."""
        return sum(self.contributions().values())

    def contributions(self) -> dict[str, float]:
        """What each component that applies adds to the total; `elsewhere` is what the flaws take away."""
        values = {name: value for name in COMPONENTS if (value := getattr(self, name)) is not None}
        added = {name: value * getattr(self.weights, name, 1.0) for name, value in values.items()}
        if self.flaws:
            earned = sum(value for name, value in added.items() if name != "efficiency")  # a penalty is not made smaller
            added["elsewhere"] = (self.weights.elsewhere**self.flaws - 1.0) * earned
        return added

    def __str__(self) -> str:
        shown = {name: getattr(self, name, self.flaws) for name in self.contributions()}  # of elsewhere, the number of flaws
        sums = [f"{name:<11}{shown[name]:>7.3f}  adds {added:+.3f}" for name, added in self.contributions().items()]
        return "\n".join([*sums, f"{'total':<11}{self.total:>7.3f}", *self._calls(), *self._left()])

    def _calls(self) -> list[str]:
        """One line a call: how far it got, and which step it stands for."""
        stands = {m.call: m for m in self.matches}
        kept = {m.call for m in c.in_order(self.trajectory.ground_truth, self.matches)}
        lines = []
        for position, call in enumerate(self.trajectory.calls):
            what = _LEVELS[c.levels(call, self.trajectory.schemas)]
            if m := stands.get(position):
                what += f"; stands for step {m.step + 1}, {m.equal:.0%} of its values"
                what += "" if position in kept else ", before something that it depends on"
            lines.append(f"call {position + 1}  {call.name or 'unreadable'}: {what}")
        return lines

    def _left(self) -> list[str]:
        """One line a step that no call stands for."""
        done = {m.step for m in self.matches}
        return [f"step {i + 1}  {step.name}: nobody did it" for i, step in enumerate(self.trajectory.ground_truth) if i not in done]


_LEVELS = ("no such tool", "arguments missing or mistyped", "refused", "succeeded")


def explain(trajectory: Trajectory, weights: Weights = PAPER) -> Explanation:
    """The reward of a trajectory with all of its parts."""
    calls, steps = trajectory.calls, trajectory.ground_truth
    if not steps:
        return Explanation(trajectory, abstention=c.abstention(calls), weights=weights)
    matches = match(trajectory)
    efficiency = c.efficiency(len(calls), len(steps), weights.alpha, weights.beta)
    if weights.over == "steps":
        coverage = strict.coverage(trajectory, matches)
        return Explanation(
            trajectory,
            validity=strict.validity(trajectory, matches),
            coverage=coverage,
            efficiency=efficiency,
            name=strict.name(trajectory, matches),
            argument=strict.argument(trajectory, matches),
            flaws=strict.flaws(trajectory, matches, coverage),
            matches=matches,
            weights=weights,
        )
    return Explanation(
        trajectory,
        validity=c.validity(trajectory),
        coverage=c.coverage(steps, matches),
        efficiency=efficiency,
        name=c.name(calls, steps),
        argument=c.argument(matches),
        matches=matches,
        weights=weights,
    )


def reward(trajectory: Trajectory, weights: Weights = PAPER) -> float:
    """The reward of a trajectory: at most 1.3 with the paper's weights. An exception is a bug, never a 0."""
    return explain(trajectory, weights).total
