"""The suite of the benchmark `heldout`: `python benchmarks/suite.py --make 1` makes its tasks anew, as that version, and has them checked
by `prove verify`; without it, what needs no model is measured: the ground truth, doing nothing and chance, into `results/benchmarks/`.

A version is made once. Whoever changes a server, its worlds or what counts as reached makes the next one: results of different
versions, or of tasks with another digest, do not compare.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import msgspec

from prove.benchmarks import report, suite
from prove.benchmarks.evaluate import Who, evaluate
from prove.progress import Progress
from prove.records import write_conversations
from prove.run import results, write_json
from prove.synthesis.data.suite import tasks
from prove.verify.report import verify

SEED = 1


def make(version: str) -> None:
    with Progress("tasks") as tell:
        made = list(tasks(SEED, tell))
    with tempfile.TemporaryDirectory() as folder:
        write_conversations(path := Path(folder) / "tasks.jsonl", made)
        verdict = verify(path, 1)
    if verdict.faults:
        sys.exit(f"{verdict.table()}\nnothing was written")
    header = suite.write(made, version)
    print(f"version {header.version}, digest {header.digest}: {len(made)} tasks, {suite.FILE.stat().st_size} bytes")


def measure(workers: int) -> None:
    for policy in ("gold", "silent", "random"):
        _, found = evaluate("heldout", Who(policy), workers=workers)
        print("\n".join(report.lines(found)))
        write_json(results() / "benchmarks" / f"heldout-{policy}.json", msgspec.to_builtins(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", metavar="VERSION", default="")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.make:
        make(given.make)
    else:
        measure(given.workers)
