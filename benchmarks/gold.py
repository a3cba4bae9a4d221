"""The ceiling and the floor of every benchmark, whole, through our adapters: `make bench-gold`, or `python benchmarks/gold.py --only tau2`.

The ground truth must get what its authors' own code gives it, and doing nothing what it is known to get: retail and airline reward it.
A benchmark that is not installed, and data that is not there, are a line that says so.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from prove.benchmarks.evaluate import Who, evaluate
from prove.run import RunError

# benchmark, subset, options, policy, at least, at most; of 0 to 1. BFCL's ground truth one call a step fails where a tool is held out
# until after it is needed (miss_func_49), and where a turn needs more steps than BFCL allows (long_context_38 and _46).
CASES: list[tuple[str, str, dict[str, Any], str, float, float]] = [
    *(("bfcl", category, {}, "gold", 1.0, 1.0) for category in ("base", "miss_func", "miss_param", "long_context")),
    ("bfcl", "base", {"parallel": False}, "gold", 1.0, 1.0),
    ("bfcl", "miss_func", {"parallel": False}, "gold", 199 / 200, 199 / 200),
    ("bfcl", "miss_param", {"parallel": False}, "gold", 1.0, 1.0),
    ("bfcl", "long_context", {"parallel": False}, "gold", 198 / 200, 198 / 200),
    ("bfcl", "", {}, "silent", 0.0, 0.0),
    *(("tau2", domain, {}, "gold", 1.0, 1.0) for domain in ("telecom-solo", "telecom", "airline", "retail")),
    ("tau2", "telecom-solo", {}, "silent", 0.0, 0.0),
    ("tau2", "telecom", {}, "silent", 0.0, 0.0),
    ("tau2", "airline", {}, "silent", 19 / 50, 19 / 50),
    ("tau2", "retail", {}, "silent", 7 / 114, 7 / 114),
    ("agentdojo", "", {}, "gold", 96 / 97, 1.0),
    ("agentdojo", "", {}, "silent", 5 / 97, 5 / 97),
    ("heldout", "", {}, "gold", 1.0, 1.0),
    ("heldout", "", {}, "silent", 0.0, 0.0),
]
TEVAL: list[tuple[str, str, float]] = [("review_str", "v2", 1.0), ("plan_json", "v2", 0.99), ("plan_str", "v1", 0.99)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="one benchmark")
    parser.add_argument("--limit", type=int, default=0, help="so many tasks of each, by chance; the bounds then hold for the ground truth")
    parser.add_argument("--teval", default="", help="the folder with T-Eval's data")
    parser.add_argument("--tau2", default="", help="a folder with other task files, named ..._airline_tasks.json and ..._retail_tasks.json")
    given = parser.parse_args()
    cases = list(CASES)
    if given.teval:
        cases += [("teval", k, {"data": given.teval, "rules": r, "embedder": "minilm"}, "gold", low, 1.0) for k, r, low in TEVAL]
    for file in sorted(Path(given.tau2).glob("*_tasks.json")) if given.tau2 else ():
        cases.append(("tau2", file.name.split("_")[-2], {"tasks": str(file)}, "gold", 1.0, 1.0))
    wrong = [case for case in cases if given.only in ("", case[0]) and not _holds(case, given.workers, given.limit)]
    sys.exit(f"{len(wrong)} of {len(cases)} are not what they must be" if wrong else 0)


def _holds(case: tuple[str, str, dict[str, Any], str, float, float], workers: int, limit: int) -> bool:
    benchmark, subset, options, policy, least, most = case
    name = " ".join(str(part) for part in (benchmark, subset, *options.values(), policy) if part != "")
    try:
        _, found = evaluate(benchmark, Who(policy), subset=subset, options=options, workers=workers, limit=limit)
    except RunError as missing:
        print(f"{name}: left out, {missing}", flush=True)
        return True
    score = found["score"].mean
    good = not found["errors"] and (least - 1e-9 <= score <= most + 1e-9 or (bool(limit) and policy != "gold"))
    print(f"{name}: {score:.4f} of {found['n']} ({score * found['n']:.1f}), {'as it must be' if good else 'WRONG'}", flush=True)
    return good


if __name__ == "__main__":
    main()
