"""The five components of the paper's reward, and the abstention rule. Pure functions (arXiv:2606.03892, section 4).

C is the policy's calls, G the ground truth's steps, E its dependency edges, mu(g) the position of g's match in C.
"""

import math
from typing import Any

from prove.rewards.matching import Match
from prove.rewards.trajectory import Call, Step, Trajectory

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def validity(trajectory: Trajectory) -> float:
    """Mean over C of three equal levels: known name; required parameters present and well typed; executed.

    A call scores 0, 1/3, 2/3 or 1, and a level counts only above the one before it. No call: 0.
    """
    reached = [levels(call, trajectory.schemas) for call in trajectory.calls]
    return sum(reached) / (3 * len(reached)) if reached else 0.0


def levels(call: Call, schemas: dict[str, dict[str, Any]]) -> int:
    """How many of the three levels a call reaches, one after the other: 0 to 3."""
    if call.name not in schemas:
        return 0
    if not well_formed(call.arguments, schemas[call.name]):
        return 1
    return 3 if call.ok else 2


def well_formed(arguments: Any, schema: dict[str, Any]) -> bool:
    """Whether all required parameters are there with compatible JSON types (5.0 is an integer, true is no number)."""
    if not isinstance(arguments, dict):
        return False
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in arguments or not _has_type(arguments[name], properties.get(name, {}).get("type")):
            return False
    return True


def _has_type(value: Any, json_type: str | list[str] | None) -> bool:
    if type(value) is str and json_type == "string":
        return True  # nearly always
    names = [json_type] if isinstance(json_type, str) else json_type or list(_PYTHON_TYPES)
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _PYTHON_TYPES.get(name, ())) for name in names)


def coverage(steps: tuple[Step, ...], matches: tuple[Match, ...]) -> float:
    """(1/|G|) * sum over g of m(g) * product over (j, g) in E of [mu(j) < mu(g)]; a step without a match is nowhere."""
    return len(in_order(steps, matches)) / len(steps)


def in_order(steps: tuple[Step, ...], matches: tuple[Match, ...]) -> list[Match]:
    """The matches whose step has every step that it depends on matched to an earlier call."""
    at = {m.step: m.call for m in matches}
    return [m for m in matches if not (after := steps[m.step].after) or all(j in at and at[j] < m.call for j in after)]


def efficiency(n_calls: int, n_steps: int, alpha: float = 0.5, beta: float = 0.5) -> float:
    """-alpha * max(0, n_calls - B) / B with the budget B = n_steps + ceil(beta * n_steps). Counts calls, not steps."""
    budget = n_steps + math.ceil(round(beta * n_steps, 9))  # 0.1 * 3 is a little above 0.3, and means 0.3
    over = max(0, n_calls - budget)
    return -alpha * over / budget if over else 0.0


def name(calls: tuple[Call, ...], steps: tuple[Step, ...]) -> float:
    """Share of C whose name occurs in G. No call: 0."""
    names = {step.name for step in steps}
    return sum(call.name in names for call in calls) / len(calls) if calls else 0.0


def argument(matches: tuple[Match, ...]) -> float:
    """Mean over the matched pairs of the share of the step's arguments whose value is equal. No pair: 0."""
    return sum(m.equal for m in matches) / len(matches) if matches else 0.0


def abstention(calls: tuple[Call, ...]) -> float:
    """For a task without ground truth: 1 for no call at all, else 0."""
    return 0.0 if calls else 1.0
