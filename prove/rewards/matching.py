"""Which call stands for which ground-truth step: one to one, so that a repeated call can never match twice.

Among the calls that qualify for a step (its name, all of its argument keys) the assignment with the most matches
wins; then the one with most calls that succeeded, then most equal argument values, then the earliest calls.
The paper leaves the matching open (section 4, "coverage"); this is what the project decides.
"""

from collections import defaultdict
from typing import Any

import msgspec
import numpy as np
from scipy.optimize import linear_sum_assignment

from prove.rewards.trajectory import Call, Step, Trajectory

# Units of the lexicographic weight. Each exceeds all that the lesser ones can sum to over 200 pairs, and the whole
# stays below 2**53, so that the solver's doubles hold it exactly.
_EARLIER, _EQUAL, _OK, _MATCH = 1, 2**16, 2**34, 2**42


class Match(msgspec.Struct, frozen=True):
    """Step `step` is done by call `call` (positions in G and C); `equal` is the share of its arguments that agree."""

    step: int
    call: int
    equal: float


def match(trajectory: Trajectory) -> tuple[Match, ...]:
    """The best assignment of calls to steps, in the order of the steps."""
    steps, calls = defaultdict(list), defaultdict(list)
    for i, step in enumerate(trajectory.ground_truth):
        steps[step.name].append(i)
    for j, call in enumerate(trajectory.calls):
        if call.name in steps and isinstance(call.arguments, dict):
            calls[call.name].append(j)
    found = [m for name in calls for m in _match_tool(trajectory, trajectory.schemas.get(name, {}), steps[name], calls[name])]
    return tuple(sorted(found, key=lambda m: m.step))


def _match_tool(trajectory: Trajectory, schema: dict[str, Any], steps: list[int], calls: list[int]) -> list[Match]:
    """Match the steps and calls of one tool: a call can only stand for a step of its own name."""
    shares = [[equal_share(trajectory.ground_truth[i], trajectory.calls[j], schema) for j in calls] for i in steps]
    weights = [[_weight(share, trajectory.calls[j], j) for share, j in zip(row, calls, strict=True)] for row in shares]
    if len(steps) == 1:
        pairs = [(0, max(range(len(calls)), key=weights[0].__getitem__))]
    else:
        pairs = list(zip(*linear_sum_assignment(np.array(weights, float), maximize=True), strict=True))
    return [Match(steps[a], calls[b], share) for a, b in pairs if (share := shares[a][b]) is not None]


def _weight(share: float | None, call: Call, position: int) -> int:
    if share is None:
        return 0
    return _MATCH + _OK * call.ok + _EQUAL * round(1000 * share) - _EARLIER * min(position, 300)


def equal_share(step: Step, call: Call, schema: dict[str, Any]) -> float | None:
    """The share of the step's arguments whose value the call has too; None if it lacks one of the keys.

    Defaults count as given. A step without arguments is met in full: 1.
    """
    properties = schema.get("properties", {})
    given = {k: p["default"] for k, p in properties.items() if "default" in p} | call.arguments
    if not step.arguments.keys() <= given.keys():
        return None
    equal = [same_value(value, given[key], properties.get(key, {})) for key, value in step.arguments.items()]
    return sum(equal) / len(equal) if equal else 1.0


def same_value(a: Any, b: Any, schema: dict[str, Any]) -> bool:
    """JSON equality: 5 equals 5.0, True is no number, and case counts unless the schema says `x-case-insensitive`."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, str) and isinstance(b, str):
        return a.casefold() == b.casefold() if schema.get("x-case-insensitive") else a == b
    if isinstance(a, list) and isinstance(b, list):
        items = schema.get("items", {})
        return len(a) == len(b) and all(same_value(x, y, items) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        properties = schema.get("properties", {})
        return a.keys() == b.keys() and all(same_value(v, b[k], properties.get(k, {})) for k, v in a.items())
    return bool(a == b)
