"""Ways of calling a tool with values at hand."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any, Literal, NamedTuple, get_args, get_origin

from prove.servers import Query
from prove.servers.schema import bare, fields_of, is_id, without_none
from prove.servers.server import Server
from prove.synthesis.planning.values import item_fields

_SEARCH = "a search"


class Value(NamedTuple):
    """A value with the name and the kind of what it stands in."""

    name: str
    kind: str
    value: Any


class Slot(NamedTuple):
    """A parameter as far as values can fill it: values of one kind can stand for each other."""

    name: str
    kind: str
    required: bool
    id_type: Any
    choices: tuple[Any, ...]  # all that a closed choice can be


@cache
def slots(server: type[Server], tool: str) -> tuple[Slot, ...]:
    """The parameters of a tool."""
    return tuple(Slot(p.name, kind_of(p.hint), p.required, p.id_type, _choices(p.hint)) for p in server.tools[tool].parameters)


@cache
def shown_kinds(server: type[Server], tool: str) -> dict[str, str]:
    """The fields of the records that a tool lists or shows, with their kinds."""
    return {name: kind_of(hint) for name, hint in item_fields(server.tools[tool].returns).items()}


@cache
def field_names(server: type[Server], tool: str) -> frozenset[str]:
    """The names of all fields in a tool's result, at any depth."""
    return frozenset(_names(server.tools[tool].returns))


def kind_of(hint: Any) -> str:
    """What values of one meaning have in common, as text: hints have no hash."""
    hint = without_none(hint)
    return _SEARCH if hint == Query else bare(hint).__name__ if is_id(bare(hint)) else repr(hint)


def fillings(parameters: Sequence[Slot], values: Sequence[Value]) -> Iterator[dict[str, Any]]:
    """Arguments from the values: what is required alone, then with one of the others, then with all that go by the same name. None
    where something required has no value."""
    needed = {p.name: _candidates(p, values) or list(p.choices) for p in parameters if p.required}
    more = {p.name: found[0] for p in parameters if not p.required and (found := _candidates(p, values))}
    names = {value.name for value in values}
    for chosen in product(*needed.values()):
        required = dict(zip(needed, chosen, strict=True))
        yield required
        yield from (required | {name: value} for name, value in more.items())
        if len(same := {name: value for name, value in more.items() if name in names}) > 1:
            yield required | same


def _candidates(slot: Slot, values: Sequence[Value]) -> list[Any]:
    """The values that can stand in a slot: those of its kind, if there are any those of its name; for a search, any text."""
    if slot.kind == _SEARCH:
        found = [v for v in values if isinstance(v.value, str) and v.kind != "id"]
    else:
        found = [v for v in values if v.kind == slot.kind]
    return list(dict.fromkeys(v.value for v in [v for v in found if v.name == slot.name] or found if not isinstance(v.value, list | dict)))


def _choices(hint: Any) -> tuple[Any, ...]:
    core = bare(hint)
    return get_args(core) if get_origin(core) is Literal else (False, True) if core is bool else ()


def _names(hint: Any) -> Iterator[str]:
    core = bare(hint)
    for inner in get_args(core) if get_origin(core) in (list, dict) else ():
        yield from _names(inner)
    for name, inner in fields_of(core).items():
        yield name
        yield from _names(inner)
