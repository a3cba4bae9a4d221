"""One function a figure: data in, a matplotlib Figure out. `save` writes the same bytes for the same figure.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; the style sheet is `paper.mplstyle`.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.style
import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from prove.benchmarks.statistics import Estimate
from prove.rewards.effect import VALUES
from prove.rewards.paper import COMPONENTS

STYLE = Path(__file__).with_name("paper.mplstyle")
BLUE, ORANGE, GREEN, PINK, RED, SKY, YELLOW, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#444444"

matplotlib.style.use(STYLE)


class Picture(Figure):
    """A figure of so many inches that a notebook shows as a picture, whatever its backend."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), layout="constrained")

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


FORMATS = (".svg", ".pdf", ".png")


def save(figure: Figure, path: Path) -> Path:
    """Write a figure without a date in it, so that a rerun is byte-identical; the suffix chooses the format.

    Raises LookupError for a suffix that is none of `FORMATS`."""
    if path.suffix not in FORMATS:
        raise LookupError(f"{path} is no name for a picture: it must end in {', '.join(FORMATS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {".pdf": {"CreationDate": None, "Creator": None, "Producer": None}, ".svg": {"Date": None}}.get(path.suffix, {})
    figure.savefig(path, metadata=metadata)
    return path


def _axes(width: float, height: float, rows: int = 1, columns: int = 1, **given: Any) -> tuple[Figure, Any]:
    figure = Picture(width, height)
    return figure, figure.subplots(rows, columns, **given)


# --- servers and their tools


def tool_graph(graph: nx.DiGraph) -> Figure:
    """A server's dependency graph: reads in blue, writes in orange; solid edges are explicit, dashed ones implicit."""
    figure, axes = _axes(11, 7)
    at = nx.kamada_kawai_layout(nx.Graph(graph))
    for a, b, edge in graph.edges(data=True):
        explicit = edge["kind"] == "explicit"
        style = {"linestyle": "-", "color": "#b8b8b8"} if explicit else {"linestyle": (0, (4, 2)), "color": RED}
        arrow = FancyArrowPatch(
            at[a], at[b], arrowstyle="-|>", mutation_scale=9, linewidth=1, shrinkA=16, shrinkB=16, connectionstyle="arc3,rad=0.08", **style
        )
        axes.add_patch(arrow)
    for name, (x, y) in at.items():
        colour = ORANGE if graph.nodes[name]["writes"] else BLUE
        label = name.replace("_", "\n", 1) if len(name) > 14 else name
        box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour, "linewidth": 1.4}
        axes.text(x, y, label, ha="center", va="center", fontsize=7.5, bbox=box, zorder=3)
    kinds = [e["kind"] for *_, e in graph.edges(data=True)]
    axes.set_title(
        f"{graph.graph['server']}: {len(graph)} tools, {kinds.count('explicit')} explicit and {kinds.count('implicit')} implicit edges"
    )
    for handle, text in ((BLUE, "read"), (ORANGE, "write")):
        axes.plot([], [], "s", markerfacecolor="white", markeredgecolor=handle, label=text)
    axes.plot([], [], "-", color="#b8b8b8", label="explicit: hands an id over")
    axes.plot([], [], "--", color=RED, label="implicit: clears the way")
    axes.legend(loc="lower center", ncols=4, bbox_to_anchor=(0.5, -0.06))
    axes.margins(0.12)
    axes.axis("off")
    return figure


def library(entries: Sequence[dict[str, Any]]) -> Figure:
    """The library: reads and writes of every server, and how many records its default world holds."""
    order = sorted(entries, key=lambda e: len(e["tools"]))
    names, at = [e["server"] for e in order], np.arange(len(order))
    figure, (left, right) = _axes(10, 0.6 + 0.27 * len(order), 1, 2, sharey=True)
    left.barh(at, [e["reads"] for e in order], color=BLUE, label="reads")
    left.barh(at, [e["writes"] for e in order], left=[e["reads"] for e in order], color=ORANGE, label="writes")
    left.set_yticks(at, names)
    left.set_title(f"{sum(len(e['tools']) for e in order)} tools on {len(order)} servers")
    left.legend(loc="lower right")
    right.barh(at, [e["records"] for e in order], color=GREEN)
    right.set_title("records in the default world")
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
    return figure


# --- synthesis


def machine(groups: dict[str, Sequence[str]], transitions: dict[Any, Sequence[Any]]) -> Figure:
    """The state machine, drawn from its own transition table: one column a group of states."""
    figure, axes = _axes(11, 4.2)
    colours = dict(zip(groups, (BLUE, ORANGE, GREEN, PINK, GREY), strict=False))
    at = {}
    for x, (group, states) in enumerate(groups.items()):
        axes.text(x, 1.0, group, ha="center", fontweight="bold", color=colours[group])
        for i, state in enumerate(states):
            at[state] = (x, 0.0 - i if len(states) < 4 else 0.35 - 0.8 * i)
            box = {"boxstyle": "round,pad=0.02", "facecolor": "white", "edgecolor": colours[group], "zorder": 2}
            axes.add_patch(FancyBboxPatch((x - 0.32, at[state][1] - 0.16), 0.64, 0.32, **box))
            axes.text(*at[state], state.replace("_", " "), ha="center", va="center", fontsize=8, zorder=3)
    for a, targets in transitions.items():
        for b in targets:
            bend = 0.0 if at[a][0] < at[b][0] else -0.35 if at[a][0] > at[b][0] else 0.0
            axes.add_patch(
                FancyArrowPatch(
                    at[a], at[b], arrowstyle="-|>", mutation_scale=10, color="#888888", shrinkA=26, shrinkB=26, linewidth=0.9,
                    connectionstyle=f"arc3,rad={bend}",
                )
            )  # fmt: skip
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set_ylim(-2.4, 1.2)
    axes.axis("off")
    return figure


def shares(counts: dict[str, dict[str, float]], targets: dict[str, dict[str, float]]) -> Figure:
    """Measured shares as bars with their targets as marks, one panel a question."""
    figure, panels = _axes(3.2 * len(counts), 2.8, 1, len(counts))
    for axes, (question, found) in zip(np.atleast_1d(panels), counts.items(), strict=True):
        at = np.arange(len(found))
        axes.bar(at, list(found.values()), color=SKY, width=0.6, label="measured")
        goal = targets.get(question, {})
        axes.plot(
            [i for i, k in enumerate(found) if k in goal],
            [goal[k] for k in found if k in goal],
            "_",
            color=RED,
            ms=22,
            mew=2,
            label="target",
        )
        axes.set_xticks(at, [k.replace("_", "\n") for k in found])
        axes.set_title(question)
        axes.grid(axis="x", visible=False)
    np.atleast_1d(panels)[0].legend()
    return figure


# --- rewards


def spread(rewards: dict[str, Sequence[float]], highest: float) -> Figure:
    """How the rewards of several policies spread over the same conversations; the line is the highest there is."""
    figure, axes = _axes(7, 0.8 + 0.5 * len(rewards))
    axes.boxplot(list(rewards.values()), orientation="horizontal", widths=0.55, medianprops={"color": RED}, showfliers=False)
    for i, values in enumerate(rewards.values(), 1):
        axes.plot(values, np.full(len(values), i), "|", color=BLUE, alpha=0.4, ms=9)
    axes.axvline(highest, color=GREY, linestyle=":")
    axes.set_yticks(range(1, len(rewards) + 1), list(rewards))
    axes.invert_yaxis()
    axes.set_xlabel("reward")
    axes.grid(axis="y", visible=False)
    return figure


# --- training and evaluation


def training_curves(rows: Sequence[dict[str, Any]]) -> Figure:
    """Reward, its components (those of the reward that was trained on), the goal rate and the calls of each GRPO step, with a running
    mean."""
    figure, panels = _axes(10, 5.2, 2, 2, sharex=True)
    steps = [row["step"] for row in rows]
    told = {name for row in rows for name, value in row.items() if value is not None}
    parts: list[str] = [name for name in ("validity", "coverage", "name", "argument", "done", "said", "timely") if name in told]
    costs: list[str] = [name for name in ("efficiency", "economy", "harm") if name in told]
    for axes, names in zip(panels.flat, [["reward"], parts, ["goal"], costs], strict=True):
        for name in names:
            points = [(s, row[name]) for s, row in zip(steps, rows, strict=True) if row.get(name) is not None]
            if points:
                x, y = np.array(points).T
                (line,) = axes.plot(x, _running_mean(y), label=name)
                axes.plot(x, y, ".", ms=3, alpha=0.4, color=line.get_color())
        axes.set_title(", ".join(names).replace("goal", "share of goals reached"))
        axes.legend() if len(names) > 1 else None
    for axes in panels[-1]:
        axes.set_xlabel("GRPO step")
    return figure


def _running_mean(values: Any, width: int = 5) -> Any:
    return np.array([np.mean(values[max(0, i + 1 - width) : i + 1]) for i in range(len(values))])


def comparison(summaries: dict[str, dict[str, Estimate]], metrics: Sequence[str] = ("goal", "reward", *COMPONENTS[:5])) -> Figure:
    """Models side by side on held-out conversations: one panel a metric, means with 95 % intervals."""
    shown = [m for m in metrics if any(m in s for s in summaries.values())]
    figure, panels = _axes(1.75 * len(shown), 3.0, 1, len(shown))
    for axes, metric in zip(np.atleast_1d(panels), shown, strict=True):
        for i, (name, summary) in enumerate(summaries.items()):
            if metric in summary:
                e = summary[metric]
                axes.errorbar(i, e.mean, [[e.mean - e.low], [e.high - e.mean]], fmt="o", capsize=4, ms=6, label=name)
        axes.set_title(metric)
        axes.set_xticks(range(len(summaries)), list(summaries), rotation=35, ha="right")
        axes.set_xlim(-0.5, len(summaries) - 0.5)
        axes.grid(axis="x", visible=False)
    return figure


def components(steps: dict[str, dict[str, float]], title: str = "") -> Figure:
    """The reward's components at several moments of training, grouped bars (after the paper's figure 4)."""
    figure, axes = _axes(7, 3)
    names = [name for name in (*COMPONENTS[:5], *VALUES) if any(name in values for values in steps.values())]
    width = 0.8 / len(steps)
    for i, (moment, values) in enumerate(steps.items()):
        at = np.arange(len(names)) + (i - (len(steps) - 1) / 2) * width
        axes.bar(at, [values.get(n, 0.0) for n in names], width, label=moment)
    axes.set_xticks(range(len(names)), names)
    axes.set_title(title)
    axes.grid(axis="x", visible=False)
    axes.legend()
    return figure
