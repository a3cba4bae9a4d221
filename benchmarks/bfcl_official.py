"""Whether BFCL's own command gives our plays the score that we gave them. It needs an environment with the whole of it, apart from ours:

python -m venv bfcl && bfcl/bin/pip install bfcl-eval==2026.3.23 soundfile
python benchmarks/bfcl_official.py --bfcl bfcl/bin/bfcl --record
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from prove.benchmarks.bfcl import CATEGORIES, export
from prove.benchmarks.evaluate import Who, evaluate
from prove.run import results, write_json

MODEL = "gpt-4.1-2025-04-14-FC"  # whose handler reads calls as chat completions have them; nobody is asked
COLUMNS = {"base": "Base", "miss_func": "Miss Func", "miss_param": "Miss Param", "long_context": "Long Context"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bfcl", required=True, help="the command of the whole package")
    parser.add_argument("--record", action="store_true", help="write results/checks/bfcl_official.json")
    given = parser.parse_args()
    found = {policy: _both(policy, Path(given.bfcl).absolute()) for policy in ("gold", "random")}
    for policy, scores in found.items():
        print(policy, scores)
    if given.record:
        write_json(results() / "checks" / "bfcl_official.json", found)
    sys.exit(any(ours != theirs for scores in found.values() for ours, theirs in scores.values()))


def _both(policy: str, command: Path) -> dict[str, tuple[float, float]]:
    """Of each category: (our score, theirs), in percent."""
    run, found = evaluate("bfcl", Who(policy), workers=2)
    with tempfile.TemporaryDirectory() as folder:
        export(run.rows("records"), Path(folder), MODEL)
        words = [str(command), "evaluate", "--model", MODEL, "--test-category", "multi_turn"]
        settings = {**os.environ, "BFCL_PROJECT_ROOT": folder, "OPENAI_API_KEY": "none"}
        settings.pop("PYTHONPATH", None)
        subprocess.run(words, check=True, env=settings, cwd=folder, stdout=subprocess.DEVNULL)
        [row] = csv.DictReader((Path(folder) / "score" / "data_multi_turn.csv").open(encoding="utf-8"))
    return {c: (round(100 * found["parts"][c].mean, 2), float(row[COLUMNS[c]].rstrip("%"))) for c in CATEGORIES}


if __name__ == "__main__":
    main()
