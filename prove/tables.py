"""Tables and figures of `results/`, all from its `numbers.json` and the paper's reported numbers."""

import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from prove.benchmarks import suite
from prove.benchmarks.reference import POLICIES
from prove.benchmarks.statistics import Estimate
from prove.rewards import PRESETS
from prove.run import results

REPORTED = Path(__file__).parent / "benchmarks" / "reported.toml"
METRICS = ("goal", "reward", "validity", "coverage", "efficiency", "name", "argument", "calls_per_ground_truth")


@cache
def _reported() -> dict[str, Any]:
    return tomllib.loads(REPORTED.read_text(encoding="utf-8"))


def reported(table: str) -> pd.DataFrame:
    """One of the paper's tables, in percent: reported, not measured. Raises LookupError for an unknown one."""
    if table not in _reported():
        raise LookupError(f"the paper has no table {table!r} here; there are: {', '.join(_reported())}")
    rows = {name: values for name, values in _reported()[table].items() if name != "columns"}
    return pd.DataFrame.from_dict(rows, orient="index", columns=_reported()[table]["columns"])


def estimates(section: dict[str, dict[str, Any]]) -> dict[str, dict[str, Estimate]]:
    """A section of `numbers.json` as estimates again."""
    return {name: {m: msgspec.convert(e, Estimate) for m, e in summary.items()} for name, summary in section.items()}


def heldout(section: dict[str, Any]) -> pd.DataFrame:
    """Held-out results: a row a model, a column a metric, "mean [low, high]"."""
    rows = {
        name: {metric: str(summary[metric]) for metric in METRICS if metric in summary}
        for name, summary in estimates(section["models"]).items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def gains(section: dict[str, Any]) -> pd.DataFrame:
    """Paired differences between models: mean gain with its 95 % interval."""
    rows = {
        name: {metric: str(summary[metric]) for metric in METRICS if metric in summary}
        for name, summary in estimates(section["gains"]).items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def shares(found: dict[str, Any], targets: dict[str, dict[str, float]]) -> pd.DataFrame:
    """A data set's shares beside what they should be, in percent, and how many points they are apart."""
    rows = {
        f"{question}: {kind}": (100 * found[question].get(kind, 0.0), 100 * target)
        for question, goal in targets.items()
        for kind, target in goal.items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["measured %", "target %"])
    return table.assign(points=table["measured %"] - table["target %"]).round(1)


def caption(section: dict[str, Any]) -> str:
    """What a held-out table is about: model, profile, seed and n."""
    trained = "" if section["reward"] == "paper" else f", GRPO on the reward {section['reward']}"
    return f"{section['model']}, profile {section['profile']}{trained}, seed {section['seed']}, n = {section['n']} held-out conversations"


def section_of(what: str, variant: str) -> str:
    """Where `numbers.json` keeps a run's numbers: `heldout`, or `heldout_effect` where GRPO was trained on another reward than the
    paper's, or otherwise otherwise (`prove.profiles.Profile.variant`)."""
    return what if variant == "paper" else f"{what}_{variant}"


def _runs(numbers: dict[str, Any], what: str) -> dict[str, Any]:
    """The sections of all rewards that there are, the project's own first, then the paper's."""
    names = (section_of(what, reward) for reward in dict.fromkeys(["effect", *PRESETS]))
    return {name: numbers[name] for name in names if name in numbers}


def write_all(numbers: dict[str, Any]) -> list[Path]:
    """Every table and figure that the numbers allow."""
    return [*_tables(numbers), *_figures(numbers)]


def readme_section(numbers: dict[str, Any]) -> str:
    """What the README shows of a run: the held-out table and its gains."""
    if "heldout" not in numbers:
        return "No trained model's results are committed yet; `make reproduce`, and then `make figures`, write them here."
    shown = ["goal", "reward", "validity", "coverage", "argument"]
    about = "Measured ({}); means with 95 % bootstrap intervals, differences paired by conversation; `reward` is the paper's."
    parts = []
    for section in _runs(numbers, "heldout").values():
        parts += [about.format(caption(section)), _markdown(heldout(section)[shown]), _markdown(gains(section)[shown[:2]])]
    return "\n\n".join(parts)


def transports(numbers: dict[str, Any]) -> str:
    """What the README says of the cost of a call, by the way it takes."""
    if "transports" not in numbers:
        return "What a call costs on its way is not measured yet: `python benchmarks/transports.py --record`."
    about = "What a call costs (`python benchmarks/transports.py`, all in one run on two cores; by the SDK's client unless it says plain):"
    table = pd.DataFrame.from_dict(numbers["transports"], orient="index").astype({"calls/s": int})
    return f"{about}\n\n{_markdown(table)}"


def suite_section(numbers: dict[str, Any]) -> str:
    """What the suite's page says of it: version and digest, how many tasks of a level each server has, and what was measured."""
    it = suite.read()
    digests = f"Version {it.header.version}, digest of the tasks `{it.header.digest}`, n = {len(it.tasks)}."
    sizes = pd.DataFrame([(task.server, f"level {suite.level(task.id)}") for task in it.tasks], columns=["server", "level"])
    sizes = pd.crosstab(sizes["server"], sizes["level"], margins=True, margins_name="all")
    measured = suite_results(results() / "benchmarks")
    about = "Measured: tasks whose goal was reached, in percent, with 95 % intervals."
    return "\n\n".join([digests, _markdown(sizes), *([about, _markdown(measured)] if len(measured) else [])])


def suite_results(folder: Path) -> pd.DataFrame:
    """What was measured on the suite as it is now: a row a policy, those that are no model first, a column a level."""
    digest = suite.read().header.digest
    found = [msgspec.json.decode(path.read_bytes()) for path in sorted(folder.glob("heldout*.json"))]
    mine = [f for f in found if f["about"].get("tasks") == digest and not f["subset"]]
    columns = [*(f"level {n}, {name}" for n, name in suite.LEVELS.items()), "its own servers", "the twenty servers"]
    rows = {
        f["policy"]: {"n": f["n"], "all": _percent(f["score"]), **{c: _percent(f["parts"][c]) for c in columns if c in f["parts"]}}
        for f in sorted(mine, key=lambda f: (f["policy"] not in POLICIES, f["policy"]))
    }
    return pd.DataFrame.from_dict(rows, orient="index").fillna("")


def _percent(value: dict[str, Any]) -> str:
    it = msgspec.convert(value, Estimate)
    return f"{100 * it.mean:.1f} [{100 * it.low:.1f}, {100 * it.high:.1f}]"


Section = Callable[[dict[str, Any]], str]
#: By page, what stands between <!-- NAME --> and <!-- end of NAME -->.
PAGES: dict[str, dict[str, Section]] = {
    "README.md": {"results": readme_section, "transports": transports},
    "docs/benchmark.md": {"suite": suite_section},
}


def update_pages(home: Path, numbers: dict[str, Any]) -> list[Path]:
    """Put every section between its two marks on its page; the pages that this changed. No number is typed by hand."""
    changed = []
    for name, sections in PAGES.items():
        path = home / name
        old = new = path.read_text(encoding="utf-8")
        for section, written in sections.items():
            first, last = f"<!-- {section} -->", f"<!-- end of {section} -->"
            before, rest = new.split(first)
            new = f"{before}{first}\n{written(numbers)}\n{last}{rest.split(last)[1]}"
        if new != old:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed


def benchmarks(folder: Path) -> pd.DataFrame:
    """The paper's cells beside what was measured by the same benchmark's own code, in percent: a row a cell and model."""
    cells = {("bfcl", c): ("bfcl_multi_turn", c) for c in ("base", "miss_param", "miss_func", "long_context")}
    cells |= {("tau2", c): ("tau2_bench", c) for c in ("airline", "retail", "telecom")}
    cells |= {("teval", c): ("t_eval", c) for c in ("instruct", "plan", "reason", "retrieve", "understand", "review")}
    rows = []
    for path in sorted(folder.glob("*.json")):
        found = msgspec.json.decode(path.read_bytes())
        if found["policy"] in POLICIES:
            continue  # no model
        names = {found["subset"] or "all": found["score"]} | found["parts"]
        for name, value in names.items():
            cell = (found["benchmark"], name.split()[0])
            if cell not in cells and name != (found["subset"] or "all"):
                continue
            measured = msgspec.convert(value, Estimate)
            known = _reported()[cells[cell][0]] if cell in cells else {"columns": []}
            rows.append(
                {
                    "benchmark": f"{found['benchmark']} {name}",
                    "model": found["policy"],
                    **{f"reported {kind}": _cell(known, found["policy"], kind, cells.get(cell, ("", ""))[1]) for kind in ("base", "PROVE")},
                    "measured": _percent(value),
                    "n": measured.n,
                    "doing nothing": f"{100 * found['floor']['mean']:.1f}" if found["floor"] else "",
                    "by": found["version"],
                }
            )
    return pd.DataFrame(rows).set_index("benchmark") if rows else pd.DataFrame()


def _cell(table: dict[str, Any], model: str, kind: str, column: str) -> str:
    """What the paper reports for a model that it has too, else nothing."""
    name = next((row for row in table if row.lower() == f"{model} {kind}".lower()), "")
    return f"{table[name][table['columns'].index(column)]:.1f}" if name else ""


def _tables(numbers: dict[str, Any]) -> Iterator[Path]:
    measured = benchmarks(results() / "benchmarks")
    if len(measured):
        about = "In percent. Reported: by arXiv:2606.03892, single runs. Measured: by each benchmark's own code, 95 % intervals."
        yield _write("benchmarks", measured, about)
    on_suite = suite_results(results() / "benchmarks")
    if len(on_suite):
        about = f"Measured on version {suite.read().header.version} of our suite: goals reached, in percent, with 95 % intervals."
        yield _write("suite", on_suite, about)
    for name in _reported():
        yield _write(f"reported_{name}", reported(name), "Reported by the paper (arXiv:2606.03892), percent; not measured here.")
    if "mix" in numbers:
        mix = numbers["mix"]
        about = f"Measured: {mix['n']} conversations of the paper's mix, seed {mix['seed']}; levels and recoveries are shares of queries."
        yield _write("mix", shares(mix, mix["targets"]), about)
    if "rewards" in numbers:
        yield from _audit(numbers["rewards"])
    for name, section in _runs(numbers, "heldout").items():
        about = caption(section)
        yield _write(name, heldout(section), f"Measured: {about}; mean and 95 % bootstrap interval.")
        yield _write(f"{name}_gains", gains(section), f"Measured: {about}; differences paired by conversation.")


def _audit(section: dict[str, Any]) -> Iterator[Path]:
    from prove.audit import report  # needs scipy: only where there is an audit

    about = f"Measured: {section['tasks']} tasks of the {section['split']} worlds, seed {section['seed']}"
    rows = {name: report.table(section[name]).round(3) for name in ("audit", "faults", "agreement", "slopes", "learnt")}
    yield _write("reward_audit", rows["audit"], f"{about}; shares of what the ground truth gets on the same tasks, 95 % intervals.")
    yield _write("reward_faults", rows["faults"], f"{about}, {section['policies']} policies; at 80 % of the ground truth's.")
    yield _write("reward_agreement", rows["agreement"], f"{about}, {section['weak']} weak rollouts; the nearer of two is paid less.")
    yield _write("reward_slopes", rows["slopes"], f"{about}; {section['tables']} short ones, one action changed.")
    yield _write("reward_learnt", rows["learnt"], f"{about}; GRPO simulated on those {section['tables']} tables.")


def _write(name: str, table: pd.DataFrame, about: str) -> Path:
    path = results() / "tables" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{about}\n\n{_markdown(table)}\n", encoding="utf-8")
    return path


def _markdown(table: pd.DataFrame) -> str:
    header = ["", *map(str, table.columns)]
    rows = ([str(i), *map(str, row)] for i, row in zip(table.index, table.to_numpy(), strict=True))
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *rows))


def _figures(numbers: dict[str, Any]) -> Iterator[Path]:
    from prove import figures  # matplotlib only where something is drawn

    folder = results() / "figures"
    for name, section in _runs(numbers, "training").items():
        curves = figures.training_curves(section["steps"])
        yield from (figures.save(curves, folder / f"{name}.{suffix}") for suffix in ("svg", "pdf"))
    for name, section in _runs(numbers, "heldout").items():
        figure = figures.comparison(estimates(section["models"]))
        yield from (figures.save(figure, folder / f"{name}.{suffix}") for suffix in ("svg", "pdf"))
