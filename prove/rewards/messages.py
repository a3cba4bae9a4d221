"""Trajectories from anywhere: JSON lines of chat-completions messages with tool calls, beside their ground truth.

    {"tools": [...], "messages": [...], "ground_truth": [[{"name": ..., "arguments": {...}}, ...], ...]}

`tools` are functions (`{"type": "function", "function": {"name", "parameters"}}`) or just `{"name", "parameters"}`. `ground_truth` is
a list of calls, or one such list a turn; a call's `after` holds the positions, in the whole of it, of the calls that must come
first. A call succeeded if a tool message answers it that reports no error: none with `is_error`, none whose content is a
JSON object with `error`. A call that nobody answered was not executed. Arguments that are no JSON object are kept as unreadable.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from prove.records import BadRecord
from prove.rewards.effect import effect
from prove.rewards.paper import COMPONENTS
from prove.rewards.reward import Preset, explain, reward
from prove.rewards.trajectory import Call, Step, Trajectory
from prove.strict_json import escaped, fault, loads

if TYPE_CHECKING:
    import pandas as pd

_KIND = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}
_MISSING: Any = object()


class Wrong(ValueError):
    """What is wrong with a line, and where in it."""


def are_messages(path: Path) -> bool:
    """Whether a file's first line is of this form and not a conversation of `prove synthesize`."""
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    return b'"messages"' in first and b'"turns"' not in first


def read_trajectories(path: Path, of: Callable[[Any], Trajectory] | None = None) -> list[Trajectory]:
    """The trajectories of a file, `of` each line (messages by default; `prove.rewards.bfcl` has another). Raises `BadRecord` with the
    number of the line that is wrong, FileNotFoundError for no file."""
    out = []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    out.append((of or _trajectory)(_decoded(line)))
                except Wrong as wrong:
                    raise BadRecord(f"{path}, line {number}: {wrong}") from None
    if not out:
        raise BadRecord(f"{path}: no line in it")
    return out


def rows(trajectories: list[Trajectory], more: Mapping[str, Preset] = MappingProxyType({})) -> dict[object, dict[str, float | None]]:
    """One row a trajectory and their `mean`: the paper's components and total, `effect`, and more presets; None for a component that
    does not apply. Whether recorded messages reached their goal is not known: `effect` is of the calls alone (`AS_CALLED`)."""
    whys, presets = [explain(t) for t in trajectories], {"effect": effect, **more}
    totals: list[dict[str, Any]] = [{name: reward(w.trajectory, preset) for name, preset in presets.items()} for w in whys]
    each = [{n: w.values.get(n) for n in COMPONENTS} | {"paper": w.total} | other for w, other in zip(whys, totals, strict=True)]
    known = {name: [row[name] for row in each if row[name] is not None] for name in each[0]}
    return {**dict(enumerate(each, 1)), "mean": {name: fmean(values) if values else None for name, values in known.items()}}


def scores(trajectories: list[Trajectory], more: Mapping[str, Preset] = MappingProxyType({})) -> "pd.DataFrame":
    """The `rows` as a table."""
    import pandas as pd  # slow to import, and only tables need it

    return pd.DataFrame.from_dict(rows(trajectories, more), orient="index", dtype=float)


def _decoded(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Wrong(f"not JSON: {error}") from None


def _trajectory(line: Any) -> Trajectory:
    record = expect(line, dict, "the line")
    schemas = dict(_schema(t, f"tools[{i}]") for i, t in enumerate(part(record, "tools", list)))
    messages = [expect(m, dict, f"messages[{i}]") for i, m in enumerate(part(record, "messages", list))]
    return Trajectory(schemas, tuple(_steps(part(record, "ground_truth", list))), tuple(_calls(messages)))


def part(record: dict[str, Any], name: str, kind: type, where: str = "", default: Any = _MISSING) -> Any:
    if name not in record and default is not _MISSING:
        return default
    if name not in record:
        raise Wrong(f"{where or 'the line'} has no {name!r}; expected {_KIND[kind]} there")
    return expect(record[name], kind, f"{where}.{name}" if where else name)


def expect(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Wrong(f"{where} must be {_KIND[kind]}, got {json.dumps(value)[:60]}")
    return value


def _schema(tool: Any, where: str) -> tuple[str, dict[str, Any]]:
    tool = expect(tool, dict, where)
    function = part(tool, "function", dict, where, tool)
    schema = part(function, "parameters", dict, where, {})
    properties = part(schema, "properties", dict, f"{where}.parameters", {})
    part(schema, "required", list, f"{where}.parameters", [])
    for name, spec in properties.items():
        expect(spec, dict, f"{where}.parameters.properties.{name}")
    return part(function, "name", str, where), schema


def _answers(messages: list[Any], asked: int) -> dict[str, bool]:
    """Which calls of the message at `asked` were answered, by id, and whether without an error: ids may come again later."""
    out: dict[str, bool] = {}
    for i, message in enumerate(messages[asked + 1 :], asked + 1):
        if message.get("role") == "assistant":
            break
        if message.get("role") == "tool":
            fine = not (message.get("is_error") or is_error(message.get("content")))
            out[part(message, "tool_call_id", str, f"messages[{i}]")] = fine
    return out


def is_error(content: Any) -> bool:
    if isinstance(content, list):  # parts of a text
        content = "".join(p.get("text", "") for p in content if isinstance(p, dict))
    try:
        value = json.loads(content) if isinstance(content, str) else content
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value.get("error"))


def _calls(messages: list[Any]) -> Iterator[Call]:
    for i, message in enumerate(messages):
        asked = message.get("tool_calls") or []
        answers = _answers(messages, i) if asked else {}
        for j, call in enumerate(expect(asked, list, f"messages[{i}].tool_calls")):
            where = f"messages[{i}].tool_calls[{j}]"
            function = part(expect(call, dict, where), "function", dict, where)
            arguments = _arguments(function.get("arguments"))
            ok = arguments is not None and answers.get(part(call, "id", str, where), False)
            yield Call(escaped(part(function, "name", str, f"{where}.function")), arguments, ok)


def _arguments(given: Any) -> dict[str, Any] | None:
    try:
        value = loads(given or "{}") if isinstance(given, str | None) else given
    except ValueError:
        return None
    return value if isinstance(value, dict) and not fault(value) else None


def _steps(ground_truth: list[Any]) -> Iterator[Step]:
    nested = bool(ground_truth) and all(isinstance(turn, list) for turn in ground_truth)
    for i, call in enumerate([c for turn in ground_truth for c in turn] if nested else ground_truth):
        where = f"ground_truth call {i}"
        call = expect(call, dict, where)
        after = tuple(expect(a, int, f"{where}.after") for a in part(call, "after", list, where, []))
        if not all(0 <= a < i for a in after):
            raise Wrong(f"{where}.after must hold positions of earlier calls (0 to {i - 1}), got {list(after)}")
        yield Step(part(call, "name", str, where), part(call, "arguments", dict, where, {}), after)
