"""A reward with its reasons."""

from typing import Any

import msgspec

from prove.rewards import components as c
from prove.rewards.matching import Match
from prove.rewards.trajectory import Trajectory


class Explanation(msgspec.Struct, frozen=True):
    """What each component adds to the total, its value where it is weighted, and every match. `str` shows it as text;
    `prove.figures_rewards.waterfall` draws it."""

    trajectory: Trajectory
    added: dict[str, float]
    values: dict[str, float] = {}  # component -> its value before it is weighted; what does not apply is not there
    matches: tuple[Match, ...] = ()  # where the reward compares calls with steps
    notes: tuple[str, ...] = ()  # what else has to be said

    @property
    def total(self) -> float:
        """The reward."""
        return sum(self.added.values())

    def __str__(self) -> str:
        sums = [f"{name:<11}{self.values.get(name, added):>7.3f}  adds {added:+.3f}" for name, added in self.added.items()]
        return "\n".join([*sums, f"{'total':<11}{self.total:>7.3f}", *self.notes, *self._calls(), *self._left()])

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
        """One line a step that no call stands for, where the reward compares calls with steps."""
        done = {m.step for m in self.matches} if self.matches else range(len(self.trajectory.ground_truth))
        return [f"step {i + 1}  {step.name}: nobody did it" for i, step in enumerate(self.trajectory.ground_truth) if i not in done]


_LEVELS = ("no such tool", "arguments missing or mistyped", "refused", "succeeded")


def as_explanation(found: Any, trajectory: Trajectory) -> Explanation:
    """What a preset returned, as an explanation. Raises TypeError for anything but one or a dict of numbers by component."""
    if isinstance(found, Explanation):
        return found
    if isinstance(found, dict) and all(isinstance(v, int | float) for v in found.values()):
        return Explanation(trajectory, {name: float(value) for name, value in found.items()})
    raise TypeError(f"a preset returns what each component adds, such as {{'goal': 1.0}}, and not {found!r}")
