"""JSON Schemas from type hints: closed, flat, self-contained.

No `$ref`, no `anyOf`, no titles: what small models and constrained decoders handle best.
"""

import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from prove.servers.state import spaced

_JSON_TYPES: dict[Any, dict[str, str]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": "string", "format": "date-time"},
}
_KEYWORDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
    "description": "description",
}
_REMEMBERED = 10_000
_LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}


def is_id(hint: Any) -> bool:
    """Whether a hint is an id: a NewType of str."""
    return isinstance(hint, NewType)


def _remembered(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Ask a hint only once. Many hints have no hash, so that they are known by being the same object."""
    memory: dict[int, tuple[Any, Any]] = {}

    @wraps(function)
    def ask(hint: Any) -> Any:
        known = memory.get(id(hint))
        if known is None:
            if len(memory) >= _REMEMBERED:
                memory.clear()
            known = memory[id(hint)] = (hint, function(hint))  # holding the hint keeps its id its own
        return known[1]

    return ask


@_remembered
def without_none(hint: Any) -> Any:
    """`X | None` -> `X`; anything else as it is."""
    if get_origin(hint) in (Union, UnionType):
        rest = [a for a in get_args(hint) if a is not NoneType]
        if len(rest) != 1:
            raise TypeError(f"{hint}: a union of several types makes `anyOf`; use one type, or `X | None`")
        return rest[0]
    return hint


@_remembered
def metas(hint: Any) -> list[Meta]:
    """The `Meta`s of an annotated hint, innermost first; of a list's items too."""
    hint = without_none(hint)
    if get_origin(hint) is Annotated:
        inner, *extra = get_args(hint)
        return [*metas(inner), *(m for m in extra if isinstance(m, Meta))]
    return []


@_remembered
def bare(hint: Any) -> Any:
    """A hint without `None`, `Annotated` and, for an id, the NewType kept."""
    hint = without_none(hint)
    return bare(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def is_secret(hint: Any) -> bool:
    """Whether a hint is marked `Secret[...]`."""
    return any((m.extra or {}).get("secret") for m in metas(hint))


def ids_in(hint: Any) -> set[NewType]:
    """Every id type that occurs in a hint: as itself, in a list, in a record's fields, in a generic."""
    hint = bare(hint)
    if is_id(hint):
        return {hint}
    found = set().union(*(ids_in(a) for a in get_args(hint) if not isinstance(a, str | int)), set())
    return found.union(*(ids_in(h) for h in fields_of(hint).values()))


def subject_of(hint: Any) -> Any:
    """What a result is about: the id type of its record's key, looking into a list or a page of records."""
    core = bare(hint)
    if get_origin(core) is list:
        return subject_of(get_args(core)[0])
    first = next(iter(fields_of(core).values()), None)
    return first if first is None or is_id(first) else subject_of(first)


def fields_of(hint: Any) -> dict[str, Any]:
    """The fields of a record type and their hints, type variables filled in; empty for anything else."""
    origin = get_origin(hint) or hint
    if not (isinstance(origin, type) and issubclass(origin, msgspec.Struct)):
        return {}
    hints = _hints(origin)
    values = dict(zip(getattr(origin, "__parameters__", ()), get_args(hint), strict=False))
    return {name: _fill(hints[name], values) for name in origin.__struct_fields__}


@cache
def _hints(record: type) -> dict[str, Any]:
    return get_type_hints(record, include_extras=True)


def _fill(hint: Any, values: dict[Any, Any]) -> Any:
    if isinstance(hint, TypeVar):
        return values.get(hint, hint)
    if get_origin(hint) is list:
        return list[_fill(get_args(hint)[0], values)]  # type: ignore[misc]
    return hint


def schema(hint: Any, nullable: bool = False) -> dict[str, Any]:
    """The JSON Schema of a hint. `nullable` says null where a value may be None (for results, not parameters)."""
    core = bare(hint)
    origin = get_origin(core) or core
    if is_id(core):
        out: dict[str, Any] = {"type": "string", "description": f"the id of {_a(spaced(core.__name__.removesuffix('Id')))}"}
    elif origin is Literal:
        out = {"type": "string", "enum": list(get_args(core))}
    elif origin is list:
        out = {"type": "array", "items": schema(get_args(core)[0], nullable)}
    elif fields := fields_of(core):
        out = {
            "type": "object",
            "properties": {name: schema(h, nullable) for name, h in fields.items()},
            "required": [f.name for f in msgspec.structs.fields(origin) if f.required],
            "additionalProperties": False,
        }
    elif origin is dict:
        out = {"type": "object", "additionalProperties": schema(get_args(core)[1], nullable)}
    elif core in _JSON_TYPES:
        out = dict(_JSON_TYPES[core])
    else:
        raise TypeError(f"{hint} has no flat JSON Schema: use str, int, float, bool, date, datetime, an id, a Literal, a list or a record")
    for meta in metas(hint):
        out |= _keywords(meta, out["type"])
    if nullable and without_none(hint) is not hint:
        out["type"] = [out["type"], "null"]
        if "enum" in out:
            out["enum"] = [*out["enum"], None]
    return out


def _keywords(meta: Meta, json_type: str) -> dict[str, Any]:
    out = {word: getattr(meta, name) for name, word in _KEYWORDS.items() if getattr(meta, name) is not None}
    for value, word in zip((meta.min_length, meta.max_length), _LENGTHS.get(json_type, ()), strict=False):
        if value is not None:
            out[word] = value
    return out | (meta.extra_json_schema or {})


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" and not noun.startswith(("use", "uni")) else f"a {noun}"


def named_types(cls: type) -> Iterator[tuple[str, Any]]:
    """The named types visible where a class was written: `("Cents", Cents)`, ids included."""
    for name, value in vars(sys.modules[cls.__module__]).items():
        if get_origin(value) is Annotated or is_id(value) or get_origin(value) is Literal:
            yield name, value
