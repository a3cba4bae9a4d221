"""The reward in pictures: one explanation, the audit, the calibration. Data in, a matplotlib Figure out."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch

from prove.audit.audit import BAR
from prove.figures import BLUE, GREEN, GREY, ORANGE, RED, Picture
from prove.rewards.components import in_order, levels
from prove.rewards.explanation import Explanation

COLOURS = (BLUE, ORANGE, GREEN, RED)
_LEVEL_NOTES = (": no such tool", ": malformed", ": refused", "")


def waterfall(why: Explanation) -> Figure:
    """One reward: on the left the ground truth and the calls, with the matches between them (dashed where an edge is broken), or what
    share of each step's effect is there; on the right what each component adds to the total."""
    n_rows = max(len(why.trajectory.calls), len(why.trajectory.ground_truth), 5)
    figure = Picture(10, 0.8 + 0.34 * n_rows)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    _matches(left, why)
    bottom = 0.0
    bars = [*why.added.items()]
    for i, (_, added) in enumerate(bars):
        right.barh(i, added, left=bottom, color=GREEN if added >= 0 else RED, height=0.6)
        right.text(max(bottom, bottom + added) + 0.02, i, f"{added:+.3f}", va="center", fontsize=8)
        right.plot([bottom + added] * 2, [i - 0.3, i + 1.3], color=GREY, linewidth=0.6)
        bottom += added
    right.barh(len(bars), why.total, color=BLUE, height=0.6)
    right.text(max(0.0, why.total) + 0.02, len(bars), f"{why.total:.3f}", va="center", fontweight="bold")
    right.set_yticks(range(len(bars) + 1), [*(name for name, _ in bars), "total"])
    right.invert_yaxis()
    right.set_xlim(min(0.0, why.total) - 0.05, 1.5)
    right.grid(axis="y", visible=False)
    right.set_title("what each component adds")
    return figure


def _matches(axes: Any, why: Explanation) -> None:
    steps, calls = why.trajectory.ground_truth, why.trajectory.calls
    fine = {m.step for m in in_order(steps, why.matches)}
    compares = why.matches or why.trajectory.findings is None
    shares = why.trajectory.findings.done if why.trajectory.findings and not compares else ()
    done = {m.step for m in why.matches} | {i for i, share in enumerate(shares) if share == 1.0}
    standing = {m.call for m in why.matches} if compares else set(range(len(calls)))
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
    """The audit (`prove.audit.audit.table`): on the left what each policy gets of what gold gets on the same tasks, with 95 % intervals,
    and its share of goals; on the right the most that a miss gets. The line is what no miss should get."""
    table = table.iloc[::-1]
    at = np.arange(len(table))
    figure = Picture(10, 0.9 + 0.2 * len(table))
    left, right = figure.subplots(1, 2, sharey=True)
    presets = [name.removesuffix("_mean") for name in table if name.endswith("_mean")]
    for number, preset in enumerate(presets):
        mean, low, high = (table[f"{preset}_{what}"].astype(float) for what in ("mean", "low", "high"))
        colour, shift = COLOURS[number % len(COLOURS)], 0.17 - 0.34 * number / max(1, len(presets) - 1)
        left.errorbar(mean, at + shift, xerr=[mean - low, high - mean], fmt="o", ms=3, color=colour, label=preset)
        right.plot(table[f"{preset}_miss"].astype(float), at + shift, "o", ms=3, color=colour, label=preset)
    left.plot(table.goal.astype(float), at, "|", ms=8, color="black", label="share of goals")
    left.set_yticks(at, [f"{name}  (n={n})" for name, n in zip(table.index, table.n, strict=True)], fontsize=6)
    left.set_title("reward, as a share of the ground truth's")
    right.set_title("the most that a miss gets")
    right.axvline(BAR, color=GREY, linewidth=0.8)
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
        axes.set_xlim(-0.55, 1.05)
    left.legend(loc="lower left")
    return figure


def calibration(curves: dict[str, pd.DataFrame]) -> Figure:
    """What a reward says of the goal: share of goals reached against the reward, with 95 % intervals, one line a preset
    (`prove.audit.agreement.calibration`)."""
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
