"""The main job: the six notebooks in order, through papermill. `make reproduce` calls it.

Each notebook is saved with its output under `results/`. A run that was stopped goes on where it stopped: what is done is
found in the run folders.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from prove.run import RunError, repository, results, writing

# what share of the whole each notebook takes, measured with the profile `small`; only the time that is left is guessed from it
SHARES = {
    "01_servers": 0.02,
    "02_synthesis": 0.04,
    "03_rewards": 0.02,
    "04_train": 0.62,
    "05_benchmarks": 0.29,
    "06_figures": 0.01,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the six notebooks in order; the figures and tables are in results/ afterwards.")
    parser.add_argument("--profile", default="small", help="smoke, small, paper or transfer (default: small)")
    parser.add_argument("--model", default="", help="a model's name, a hub id or a folder (default: the profile's)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    try:
        reproduce(given.profile, given.model, given.seed)
    except (LookupError, RunError) as error:
        sys.exit(f"prove: {error.args[0]}")
    except KeyboardInterrupt:
        print("\nprove: stopped; what is done is kept in the run folders, and the same command goes on from there", file=sys.stderr)
        sys.exit(130)


def reproduce(profile: str, model: str, seed: int) -> None:
    """Run everything. Raises LookupError for an unknown profile, and `RunError` where another process does the same; exits with a
    line for a notebook that fails."""
    from prove.profiles import find

    size = find(profile)
    home = repository()
    if home is None:
        raise LookupError("the notebooks are in the repository: clone it, and run `make reproduce` there")
    sizes = {"profile": profile, "seed": seed}
    trained = {**sizes, "model": model or size.model}
    parameters: dict[str, dict[str, Any]] = {
        "01_servers": {"seed": seed},
        "02_synthesis": {**sizes, "n": 40 if profile == "smoke" else 400},
        "03_rewards": {"seed": seed, "n": 10 if profile == "smoke" else 40},
        "04_train": trained,
        "05_benchmarks": trained,
        "06_figures": {},
    }
    with writing(results() / "reproduce"):
        _run_all(home, parameters)


def _run_all(home: Path, parameters: dict[str, dict[str, Any]]) -> None:
    begun, share = time.monotonic(), 0.0
    for number, (name, values) in enumerate(parameters.items(), 1):
        print(f"{number} of {len(parameters)}: {name}{_left(begun, share)}", flush=True)
        run_notebook(home / "notebooks" / f"{name}.ipynb", results() / f"{name}.ipynb", values)
        share += SHARES[name]
    print(f"done in {_minutes(time.monotonic() - begun)}; tables and figures are in {results()}")


def run_notebook(source: Path, target: Path, parameters: dict[str, Any]) -> None:
    """Run one notebook; its output, live, and its error, in one line, go where everybody sees them."""
    import papermill

    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        papermill.execute_notebook(
            source, target, parameters, progress_bar=False, stdout_file=sys.stdout, stderr_file=sys.stderr, cwd=str(source.parent)
        )
    except papermill.PapermillExecutionError as error:
        sys.exit(f"prove: {source.name} stopped: {error.ename}: {error.evalue} (see {target})")


def _left(begun: float, share: float) -> str:
    gone = time.monotonic() - begun
    return f" ({_minutes(gone)} gone, about {_minutes(gone / share * (1 - share))} left)" if share else ""


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


if __name__ == "__main__":
    main()
