"""BFCL v4 Multi-Turn by PyPI `bfcl-eval`: its own loop, functions, step limit and checker, on its own 800 tasks.

Berkeley Function Calling Leaderboard, Patil et al. (2025).
"""

import ast
import contextlib
import copy
import io
import itertools
import json
import os
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

from prove.benchmarks.contract import Message, NotInstalled, Outcome, Policy, say

os.environ.setdefault("BFCL_PROJECT_ROOT", tempfile.gettempdir())  # it makes folders there as soon as it is imported
try:
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker, multi_turn_irrelevance_checker
    from bfcl_eval.utils import load_dataset_entry, load_ground_truth_entry

    from prove.benchmarks.bfcl_handler import Handler
except ImportError as missing:
    raise NotInstalled(f"bfcl needs the package bfcl-eval ({missing}): make bench-env") from None

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")


class Bfcl:
    """The four categories, 200 tasks each; a subset is a category.

    The ground truth makes all calls of a turn at once, or with `parallel=False` one a step, and then only of tools that are offered.
    """

    def __init__(self, parallel: bool = True) -> None:
        self.parallel, self.version = parallel, version("bfcl-eval")
        self.about: dict[str, Any] = {"data": "v4 multi-turn", "tools": "chat completions, by convert_to_tool"}

    def tasks(self, subset: str) -> list[str]:
        if subset and subset not in CATEGORIES:
            raise LookupError(f"bfcl has no subset {subset!r}; there are: {', '.join(CATEGORIES)}")
        return [task for category in ([subset] if subset else CATEGORIES) for task in _entries(category)]

    def play(self, task: str, trial: int, agent: Policy, user: Policy | None) -> Outcome:
        category = task.removeprefix("multi_turn_").rsplit("_", 1)[0]
        entry, truth = copy.deepcopy(_entries(category)[task]), _truths(category)[task]  # its loop changes the entry
        handler = Handler(agent, f"p{uuid4().hex}", entry)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                turns, _ = handler.inference_multi_turn_FC(entry, include_input_log=False, exclude_state_log=True)
                verdict, relevant = _check(handler, turns, truth, entry)
        finally:
            for name in [name for name in vars(multi_turn_utils) if name.endswith("_instance")]:
                del vars(multi_turn_utils)[name]
        calls = sum(len(step) for turn in turns for step in turn if isinstance(step, list))
        parts = {category: float(verdict["valid"])} | ({"irrelevance": float(relevant)} if [] in truth else {})
        return Outcome(float(verdict["valid"]), parts, verdict.get("error_type", ""), calls, turns)

    def gold(self, task: str) -> Policy:
        category = task.removeprefix("multi_turn_").rsplit("_", 1)[0]
        left = copy.deepcopy(_truths(category)[task])
        docs = [*_entries(category)[task]["function"], *itertools.chain(*_entries(category)[task].get("missed_function", {}).values())]
        parameters = {tool["name"]: list(tool["parameters"]["properties"]) for tool in docs}

        def policy(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
            turn = sum(m["role"] == "user" for m in messages) - 1
            calls = [_written(text, parameters) for text in left[turn]]
            if not self.parallel:
                offered = {tool["function"]["name"] for tool in tools}
                calls = [call for call in calls if call[0] in offered][:1]
            left[turn] = left[turn][len(calls) :] if calls else []
            return say("" if calls else "Done.", *calls)

        return policy


def _check(handler: Handler, turns: list[Any], truth: list[Any], entry: Any) -> tuple[dict[str, Any], bool]:
    """BFCL's verdict, by the steps of its `eval_runner`: a play that was stopped has too few turns, unreadable steps do not count."""
    if len(turns) != len(truth):
        return {"valid": False, "error_type": "multi_turn:force_terminated"}, False
    decoded: list[list[list[str]]] = []
    for turn in turns:
        decoded.append([])
        for step in turn:
            with contextlib.suppress(Exception):  # as there: whatever cannot be decoded is left out
                calls = handler.decode_execute(step)
                if not multi_turn_utils.is_empty_execute_response(calls):
                    decoded[-1].append(calls)
    relevant = multi_turn_irrelevance_checker(decoded, truth)["valid"]
    return multi_turn_checker(decoded, truth, entry, None, handler.model_name), relevant


@cache
def _entries(category: str) -> dict[str, Any]:
    return {entry["id"]: entry for entry in load_dataset_entry(f"multi_turn_{category}")}


@cache
def _truths(category: str) -> dict[str, Any]:
    return {entry["id"]: entry["ground_truth"] for entry in load_ground_truth_entry(f"multi_turn_{category}")}


def _written(text: str, parameters: dict[str, list[str]]) -> tuple[str, dict[str, Any]]:
    """A call of the ground truth, `mv('a', destination='b')`; arguments without a name go to the tool's in their order."""
    node: Any = ast.parse(text, mode="eval").body
    placed = zip(parameters[node.func.id], map(ast.literal_eval, node.args), strict=False)
    return node.func.id, dict(placed) | {k.arg: ast.literal_eval(k.value) for k in node.keywords}


def export(rows: list[dict[str, Any]], folder: Path, model: str) -> None:
    """Write plays in BFCL's result format, for `bfcl evaluate --model MODEL --test-category multi_turn` to score."""
    target = folder / "result" / model.replace("/", "_") / "multi_turn"
    target.mkdir(parents=True, exist_ok=True)
    for category in CATEGORIES:
        lines = [json.dumps({"id": r["task"], "result": r["record"]}) for r in rows if r["task"].startswith(f"multi_turn_{category}_")]
        if lines:
            (target / f"BFCL_v4_multi_turn_{category}_result.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
