"""What a foreign tool can be sent when nothing but its schema is known, and which results could go where."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from prove.mcp.adopt.server import FOLDER, ForeignTool

_QUOTED = re.compile(r"['\"`]([\w./:+-]{2,40})['\"`]")
_PATHS = {"path", "file", "filename", "folder", "dir", "directory", "source", "destination"}
_FORMS = {
    "date": "2026-03-02",
    "date-time": "2026-03-02T10:00:00Z",
    "time": "10:00",
    "email": "alpha@example.com",
    "uri": "https://example.com",
}


class Leaf(msgspec.Struct, frozen=True):
    """A scalar in a result: the names around it and where it stands."""

    owner: str  # the nearest name above its own
    field: str
    value: str | int
    path: tuple[str | int, ...]


def arguments(tool: ForeignTool, turn: int) -> dict[str, Any]:
    """Arguments for the required parameters; each turn takes the next plausible value of each."""
    schema = tool.input_schema
    required = {name: schema.get("properties", {}).get(name, {}) for name in schema.get("required", [])}
    return {name: _nth(plausible(name, spec, schema), turn) for name, spec in required.items()}


def _nth(values: list[Any], turn: int) -> Any:
    return values[min(turn, len(values) - 1)]


def plausible(name: str, spec: dict[str, Any], root: dict[str, Any]) -> list[Any]:
    """Values for a parameter, the likeliest first: those that its schema names, else some of its form.

    Texts are the same for every parameter of every tool, so that what one call makes another can name.
    """
    spec = resolved(spec, root)
    named = [v for v in (spec.get("const"), spec.get("default"), *spec.get("enum", []), *spec.get("examples", [])) if v is not None]
    if named:
        return named
    match spec.get("type"):
        case "object":
            inside = {n: plausible(n, spec.get("properties", {}).get(n, {}), root)[0] for n in spec.get("required", [])}
            return [inside]
        case "array":
            return [[value] for value in plausible(name, spec.get("items", {}), root)]
        case "integer" | "number":
            return [spec.get("minimum", min(spec.get("maximum", 1), 1))]
        case "boolean":
            return [False, True]
    if spec.get("format") in _FORMS:
        return [_FORMS[spec["format"]]]
    if _PATHS & set(words(name)):
        return [f"{FOLDER}/alpha.txt", FOLDER]
    return [*_QUOTED.findall(spec.get("description", "")), "alpha"]


def resolved(spec: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """A schema without `$ref` and without the null of an optional value."""
    if "$ref" in spec:
        target: Any = root
        for step in spec["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return resolved(target, root)
    for choice in spec.get("anyOf", []) + spec.get("oneOf", []):
        if choice.get("type") != "null":
            return {**spec, "anyOf": [], "oneOf": [], **resolved(choice, root)}
    kind = spec.get("type")
    return spec | {"type": next(k for k in kind if k != "null")} if isinstance(kind, list) else spec


def words(name: str) -> list[str]:
    """A name's words, lower case and singular: `entityNames` and `entity_name` are the same."""
    return [w if len(w) < 4 else w.removesuffix("s") for w in map(str.lower, re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name))]


def leaves(value: Any, owner: str = "", field: str = "", path: tuple[str | int, ...] = ()) -> Iterator[Leaf]:
    """Every text and whole number of a result that has a name."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, field or owner, name, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, owner, field, (*path, place))
    elif field and isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        yield Leaf(owner, field, value, path)


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """What stands at a path of a result. Raises LookupError where nothing does."""
    for step in path:
        if not isinstance(value, dict | list):
            raise LookupError(f"nothing at {path}")
        value = value[step]  # type: ignore[index]
    return value


def fits(leaf: Leaf, parameter: str, tool: ForeignTool) -> bool:
    """Whether a result could be what a parameter asks for, by name and type: `books[].id` for `book_id`, `id` for `id`."""
    wanted, given = words(parameter), words(leaf.field)
    longer = [*words(leaf.owner), *given]
    named = wanted in (given, longer) or (wanted == given[-len(wanted) :] and set(given[: -len(wanted)]) <= set(words(tool.name)))
    spec = resolved(tool.input_schema.get("properties", {}).get(parameter, {}), tool.input_schema)
    return named and filled(spec, tool, leaf.value) is not None


def filled(spec: dict[str, Any], tool: ForeignTool, value: str | int) -> Any:
    """A value as the parameter takes it, alone or as the one item of a list; None where its type is another."""
    if spec.get("type") == "array":
        inner = filled(resolved(spec.get("items", {}), tool.input_schema), tool, value)
        return None if inner is None else [inner]
    return value if spec.get("type") == {str: "string", int: "integer"}[type(value)] else None


def unlike(value: str | int) -> str | int:
    """A value of the same form that nobody handed out."""
    return value + 1_000_003 if isinstance(value, int) else f"{value}-x"
