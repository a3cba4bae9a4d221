"""Trajectories from the result files of BFCL's multi-turn categories, as its own harness writes them:

    {"id": "multi_turn_base_0", "result": [[[{"cd": "{\\"folder\\": \\"document\\"}"}], "Done."], ...], "inference_log": [...]}

`result` holds turns of steps; a step is a list of calls, or text, in which prompted models write their calls (`[cd(folder='a')]`).
Tools and ground truth come from the data of the package `bfcl-eval`, of which nothing is imported. Whether a call succeeded stands
in the log; a call of which it holds no result was not executed. BFCL knows no edges between the calls of its ground truth.
"""

import ast
import json
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prove.rewards.messages import Wrong, expect, is_error, part
from prove.rewards.trajectory import Call, Step, Trajectory
from prove.strict_json import fault, loads

#: The file of each class's tools, and BFCL's names of types that JSON Schema has other names for.
_DOCS = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def are_results(path: Path) -> bool:
    """Whether a file's first line is a result of BFCL."""
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    return b'"result"' in first and b'"id"' in first and b'"turns"' not in first


def trajectory(line: Any) -> Trajectory:
    """The trajectory of one result. Raises `Wrong` for one that is malformed, LookupError where the package is not installed."""
    record = expect(line, dict, "the line")
    name = part(record, "id", str)
    if isinstance(record.get("result"), str):
        raise Wrong(f"{name} has no result to score but {record['result'][:60]!r}: let BFCL generate it again")
    category = name.rpartition("_")[0]
    if not category.startswith("multi_turn_") or name not in _entries(category):
        raise Wrong(f"{name!r} is no task of BFCL's multi-turn categories")
    schemas = _schemas(_entries(category)[name])
    truth = [_written(text, schemas) for turn in _entries(category, "possible_answer/")[name]["ground_truth"] for text in turn]
    return Trajectory(schemas, tuple(Step(n, arguments) for n, arguments in truth), tuple(_calls(record, schemas)))


def _calls(record: dict[str, Any], schemas: dict[str, Any]) -> Iterator[Call]:
    logs = [turn for turn in part(record, "inference_log", list, default=[]) if isinstance(turn, dict)]
    for i, turn in enumerate(part(record, "result", list)):
        for j, step in enumerate(expect(turn, list, f"result[{i}]")):
            log = logs[i].get(f"step_{j}", []) if i < len(logs) else []
            answers = iter([m.get("content") for m in log if isinstance(m, dict) and m.get("role") == "tool"])
            for name, arguments in _step(step, f"result[{i}][{j}]", schemas):
                answer = next(answers, None)
                yield Call(name, arguments, answer is not None and arguments is not None and not _failed(answer))


def _failed(answer: Any) -> bool:
    return is_error(answer) or (isinstance(answer, str) and answer.startswith("Error during execution"))


def _step(step: Any, where: str, schemas: dict[str, Any]) -> list[tuple[str, dict[str, Any] | None]]:
    """The calls of a step: (name, arguments), None for arguments that are no object. Text that holds no calls is just words."""
    if isinstance(step, str):
        try:
            tree = ast.parse(step.strip(), mode="eval").body
            return [_named(call, schemas) for call in (tree.elts if isinstance(tree, ast.List) else [tree])]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
    pairs = [pair for call in expect(step, list, where) for pair in expect(call, dict, where).items()]
    return [(name, _object(given)) for name, given in pairs]


def _object(given: Any) -> dict[str, Any] | None:
    try:
        value = loads(given or "{}") if isinstance(given, str) else given
    except ValueError:
        return None
    return value if isinstance(value, dict) and not fault(value) else None


def _written(text: str, schemas: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A call of the ground truth, `mv('a', destination='b')`."""
    return _named(ast.parse(text, mode="eval").body, schemas)


def _named(node: ast.AST, schemas: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of a call; those without a name go to the tool's parameters in their order. Raises ValueError for
    anything else than a call with plain values."""
    if not isinstance(node, ast.Call):
        raise ValueError("not a call")
    name = ast.unparse(node.func)
    order = list(schemas.get(name, {}).get("properties", {}))
    placed = zip(order, map(ast.literal_eval, node.args), strict=False)
    return name, dict(placed) | {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}


def _schemas(entry: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The tools of a task by name. One that is held out at first counts as there: the result does not say when it came."""
    tools = [tool for name in entry["involved_classes"] for tool in _lines(f"multi_turn_func_doc/{_DOCS[name]}.json")]
    return {tool["name"]: _json_schema(tool["parameters"]) for tool in tools if tool["name"] not in entry.get("excluded_function", [])}


def _json_schema(spec: Any) -> Any:
    if isinstance(spec, list):
        return [_json_schema(item) for item in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        k: _TYPES.get(v, v) if k == "type" and isinstance(v, str) else _json_schema(v) for k, v in spec.items() if (k, v) != ("type", "any")
    }


@cache
def _entries(category: str, folder: str = "") -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in _lines(f"{folder}BFCL_v4_{category}.json")}


@cache
def _lines(name: str) -> list[dict[str, Any]]:
    """A JSON-lines file of the package's data; none where there is no such file."""
    package = find_spec("bfcl_eval")
    if package is None or not package.submodule_search_locations:
        raise LookupError("BFCL's results need its data: pip install --no-deps bfcl-eval==2026.3.23")
    path = Path(package.submodule_search_locations[0]) / "data" / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()] if path.exists() else []
