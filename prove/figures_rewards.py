"""The reward in pictures: one explanation, the audit, the calibration. Data in, a matplotlib Figure out."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch

from prove.figures import BLUE, GREEN, GREY, ORANGE, RED, Picture
from prove.rewards.audit import MARGIN
from prove.rewards.components import in_order, levels
from prove.rewards.reward import Explanation

PRESET_COLOURS = {"paper": BLUE, "strict": ORANGE}
_LEVEL_NOTES = (": no such tool", ": malformed", ": refused", "")


def waterfall(why: Explanation) -> Figure:
    """One reward: on the left the ground truth and the calls, with the matches between them (dashed where an edge is broken); on
    the right what each component adds to the total."""
    n_rows = max(len(why.trajectory.calls), len(why.trajectory.ground_truth), 5)
    figure = Picture(10, 0.8 + 0.34 * n_rows)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    _matches(left, why)
    bottom = 0.0
    bars = [*why.contributions().items()]
    for i, (_, added) in enumerate(bars):
        right.barh(i, added, left=bottom, color=GREEN if added >= 0 else RED, height=0.6)
        right.text(max(bottom, bottom + added) + 0.02, i, f"{added:+.3f}", va="center", fontsize=8)
        right.plot([bottom + added] * 2, [i - 0.3, i + 1.3], color=GREY, linewidth=0.6)
        bottom += added
    right.barh(len(bars), why.total, color=BLUE, height=0.6)
    right.text(max(0.0, why.total) + 0.02, len(bars), f"{why.total:.3f}", va="center", fontweight="bold")
    right.set_yticks(range(len(bars) + 1), [*(f"{why.flaws} flaws" if name == "elsewhere" else name for name, _ in bars), "total"])
    right.invert_yaxis()
    right.set_xlim(min(0.0, why.total) - 0.05, 1.5)
    right.grid(axis="y", visible=False)
    right.set_title("what each component adds")
    return figure


def _matches(axes: Any, why: Explanation) -> None:
    steps, calls = why.trajectory.ground_truth, why.trajectory.calls
    fine = {m.step for m in in_order(steps, why.matches)}
    done, standing = {m.step for m in why.matches}, {m.call for m in why.matches}
    for i, step in enumerate(steps):
        axes.text(0.36, i, step.name if i in done else f"{step.name}: not done", **_place(i in done))
    for j, call in enumerate(calls):
        level = levels(call, why.trajectory.schemas)
        label = (call.name or "unreadable") + _LEVEL_NOTES[level] + ("" if j in standing else ": for no step")
        axes.text(0.64, j, label, va="center", fontsize=8, color="black" if level == 3 and j in standing else RED)
    for m in why.matches:
        style = {"color": GREY, "linestyle": "-" if m.step in fine else "--", "linewidth": 0.8 + 1.2 * m.equal}
        axes.add_patch(ConnectionPatch((0.38, m.step), (0.62, m.call), "data", "data", **style))
        at = 0.3  # of the way: labels of crossing lines keep apart
        axes.text(0.38 + 0.24 * at, m.step + (m.call - m.step) * at, f"{m.equal:.0%}", fontsize=6.5, ha="center", backgroundcolor="white")
    axes.text(0.36, -1, "ground truth", ha="right", fontweight="bold", fontsize=9)
    axes.text(0.64, -1, "calls", fontweight="bold", fontsize=9)
    axes.set_xlim(0, 1)
    axes.set_ylim(max(len(steps), len(calls), 1) - 0.4, -1.6)
    axes.axis("off")


def _place(done: bool) -> dict[str, Any]:
    return {"ha": "right", "va": "center", "fontsize": 8, "color": "black" if done else RED}


def audit(table: pd.DataFrame) -> Figure:
    """The audit (`prove.rewards.audit.table`): each policy's mean reward and spread, and the share of tasks on which it passes for
    gold without being equivalent to it; filled where it does not even reach the goal. A tick marks where it is equivalent."""
    table = table.iloc[::-1]
    at = np.arange(len(table))
    figure = Picture(10, 0.9 + 0.3 * len(table))
    left, right = figure.subplots(1, 2, sharey=True)
    for (preset, colour), shift in zip(PRESET_COLOURS.items(), (0.17, -0.17), strict=True):
        left.errorbar(table[f"{preset}_mean"], at + shift, xerr=table[f"{preset}_std"], fmt="o", ms=4, color=colour, label=preset)
        label = f"{preset}: within {MARGIN[preset]} of gold"
        right.barh(at + shift, table[f"{preset}_near"], 0.3, facecolor="white", edgecolor=colour, label=label)
        right.barh(at + shift, table[f"{preset}_fooled"], 0.3, facecolor=colour, edgecolor=colour, label="... without reaching the goal")
    right.plot(table.equivalent, at, "|", ms=9, color="black", label="equivalent to gold")
    left.set_yticks(at, [f"{name}  (n={n})" for name, n in zip(table.index, table.n, strict=True)])
    left.axvline(0, color=GREY, linewidth=0.6)
    left.set_title("reward: mean, standard deviation")
    left.legend(loc="lower left")
    right.set_xlim(0, 1.02)
    right.set_title("share of tasks on which it wrongly passes for gold")
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
    return figure


def calibration(curves: dict[str, pd.DataFrame]) -> Figure:
    """What a reward says of the goal: share of goals reached against the reward, with 95 % intervals, one line a preset
    (`prove.rewards.agreement.calibration`)."""
    figure = Picture(5, 3.4)
    axes = figure.subplots()
    for preset, curve in curves.items():
        error = [curve.goal - curve.low, curve.high - curve.goal]
        axes.errorbar(curve.reward, curve.goal, error, fmt="o-", ms=4, capsize=3, label=f"{preset} (n={curve.n.sum()})")
    axes.set_xlabel("reward")
    axes.set_ylabel("share of goals reached")
    axes.set_ylim(-0.03, 1.03)
    axes.legend()
    return figure
