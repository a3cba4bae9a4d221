"""What a run's rows say: scores with intervals, what they cost, and what stands beside them. Nothing here is typed by hand."""

from collections.abc import Sequence
from typing import Any

from prove.benchmarks import suite
from prove.benchmarks.statistics import Difference, compare, detectable, pass_hat, rate
from prove.run import Run, RunError

Rows = Sequence[dict[str, Any]]
SAME = ("benchmark", "version", "about", "options", "subset", "user")  # what two results must share to be compared


def summary(run: Run, rows: Rows, asked: int, subset: str) -> dict[str, Any]:
    """A run's result: its parameters, n, the score and its parts with 95 % intervals, pass^k over trials, and what it cost.

    A task's score is the mean over its trials; a task that the harness could not bring to an end counts as 0, and under `errors`.
    """
    scores = by_task(rows, "score")
    trials = min(map(len, scores.values()), default=0)
    means = [sum(found) / len(found) for found in scores.values()]
    parts = sorted({name for row in rows for name in row.get("parts", {})})
    return {
        **{name: run.parameters[name] for name in ("benchmark", "version", "about", "options", "policy", "user", "sampling")},
        "subset": subset,
        "n": len(scores),
        "trials": trials,
        "score": rate(means) if means else None,
        "parts": {name: rate([row["parts"][name] for row in rows if name in row.get("parts", {})]) for name in parts},
        "pass^k": {str(k): pass_hat(list(scores.values()), k) for k in range(1, trials + 1)} if trials > 1 else {},
        "errors": sum(bool(row["error"]) for row in rows),
        "unplayed": asked - len(rows),
        **{name: sum(row.get(name, 0) for row in rows) for name in ("calls", "replies", "retries", "tokens_in", "tokens_out")},
        **{name: round(sum(row.get(name, 0.0) for row in rows), 1) for name in ("seconds", "harness_seconds")},
        "scores": {task: sum(found) / len(found) for task, found in scores.items()},
    }


def by_task(rows: Rows, name: str) -> dict[str, list[float]]:
    """A field's values of each task, one a trial."""
    out: dict[str, list[float]] = {}
    for row in rows:
        out.setdefault(row["task"], []).append(row[name])
    return out


def gain(after: dict[str, Any], before: dict[str, Any]) -> Difference:
    """What one result gains over another, paired by the tasks that both have. Raises `RunError` for results that do not compare."""
    for name in SAME:
        if after[name] != before[name]:
            raise RunError(f"these results do not compare: {name} is {after[name]!r} in one and {before[name]!r} in the other")
    both = [task for task in before["scores"] if task in after["scores"]]
    if not both:
        raise RunError("these results do not compare: they have no task in common")
    return compare([after["scores"][t] for t in both], [before["scores"][t] for t in both])


def lines(found: dict[str, Any]) -> list[str]:
    """A summary to read."""
    head = " ".join(part for part in (found["benchmark"], found["version"], found["subset"]) if part) + f", {found['policy']}"
    out = [f"{head}: {found['score']}, n = {found['n']}, {found['trials']} a task"]
    if found.get("floor"):
        out.append(f"doing nothing: {found['floor']}, n = {found['floor'].n}")
    out += [f"  {name:<28}{value}  n = {value.n}" for name, value in found["parts"].items()]
    out += [f"  pass^{k:<9}{value:.3f}" for k, value in found["pass^k"].items()]
    if found["benchmark"] == "heldout" and "tasks" in found["about"]:
        out += suite.table_lines(found["scores"])
    cost = f"{found['calls']} calls, {found['tokens_in']} tokens in, {found['tokens_out']} out, {found['retries']} requests retried"
    out.append(f"  {cost}; {found['seconds']} s, {found['harness_seconds']} s of them the harness's")
    if found["errors"]:
        out.append(f"  {found['errors']} tasks ended in an error of the harness, and count as 0")
    if found["unplayed"]:
        out.append(f"  {found['unplayed']} tasks are not played, for the policy could not be asked: run this again")
    if found["n"]:
        out.append(
            f"  two such results must differ by {detectable(found['n'], 0.5**0.5):.3f} to be told apart, or less if most tasks agree"
        )
    return out
