"""The reward against cases computed by hand (tests/data/reward_cases.json)."""

import ast
import json
import operator
from pathlib import Path

import pytest

from prove.rewards import PRESETS, Call, Findings, Step, Trajectory, explain

DATA = json.loads((Path(__file__).parent / "data" / "reward_cases.json").read_text())
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
every_case = pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["case"])


def worked_out(node):
    """What a sum of plain numbers comes to."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp):
        return -worked_out(node.operand)
    return OPERATORS[type(node.op)](worked_out(node.left), worked_out(node.right))


@every_case
def test_the_arithmetic_comes_to_what_is_expected(case):
    found = {name: worked_out(ast.parse(text, mode="eval").body) for name, text in case["arithmetic"].items()}
    assert found == pytest.approx(case["expected"], abs=1e-9)


@every_case
def test_the_reward_agrees_with_the_hand_to_nine_digits(case):
    steps = tuple(Step(s["name"], s["arguments"], tuple(s["after"])) for s in case["ground_truth"])
    calls = tuple(Call(**call) for call in case["calls"])
    findings = Findings(**case["findings"]) if case.get("findings") else None
    why = explain(Trajectory(DATA["schemas"], steps, calls, case["goal"], findings), PRESETS[case["preset"]])
    assert {"total": why.total, **why.values} == pytest.approx(case["expected"], abs=1e-9)


def test_there_are_at_least_thirty_cases_of_both_readings():
    assert len(DATA["cases"]) >= 30
    assert len({case["case"] for case in DATA["cases"]}) == len(DATA["cases"])
    assert {"paper", "effect"} <= {case["preset"] for case in DATA["cases"]}
