"""Facts: what results tell, each of the record that it is about.

A record's key is its first field, and that is an id. A fact is of the record whose fields it stands among; of what has no id,
it is of the record that holds it: an attendee's answer is of the event and the attendee. What stands in no record at all (how
many there are, a balance) is of the records that the call names. A record that the session itself has made is "new": another
rollout may have made it under another id.
"""

from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, NewType, get_args, get_origin

import msgspec

from prove.records import Fact
from prove.servers.schema import bare, fields_of, is_id
from prove.servers.server import Server, World
from prove.servers.session import Session
from prove.servers.tools import Tool

NEW = "new"


def told(session: Session, tool: str, arguments: dict[str, Any], result: Any) -> set[Fact]:
    """Everything that the result of a call tells, or its refusal. Raises LookupError for a tool that the session has not."""
    return {fact for _, fact in located(session, tool, arguments, result)}


def told_in(session: Session, tool: str, arguments: dict[str, Any], text: str) -> frozenset[Fact]:
    """`told` of a result's text, kept a while: the rollouts of a group read the same results. Raises LookupError as `told` does."""
    home, known = session.tools[tool]
    key = (session.worlds[home], known.name, _named(session.servers[home], known, arguments), text)
    if key not in _kept:
        _kept[key] = frozenset(told(session, tool, arguments, msgspec.json.decode(text)))
        if len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return _kept[key]


_kept: OrderedDict[tuple[World, str, str, str], frozenset[Fact]] = OrderedDict()
_MOST_KEPT = 1024  # results


def located(session: Session, name: str, arguments: dict[str, Any], result: Any) -> Iterator[tuple[str, Fact]]:
    """(dotted path, fact) of everything that the result of a call tells, in its order."""
    home, tool = session.tools[name]
    server = session.servers[home]
    yield from _walk(result, _shape(type(server), tool.name), _named(server, tool, arguments), "", "", server)


def all_told(wanted: set[Fact], facts: set[Fact]) -> bool:
    """Whether all that is wanted is among the facts, of the record that it is wanted of."""
    left = wanted - facts
    return not left or left <= {Fact(None, fact.field, fact.value) for fact in facts}


def name_of_record(server: Server, kind: Any, key: str) -> str:
    """A record's key, or `NEW` if it was minted in the session."""
    table = server.homes.get(kind)
    return NEW if table and is_new(server, table, key) else key


def is_new(server: Server, table: str, key: str) -> bool:
    """Whether a record's key was minted in the session; one that comes from the domain (a path) is the same in any."""
    return bool(server.tables[table].id_format) and key not in server.state[table].base.records


class _Shape(NamedTuple):
    """Where the keys of records stand in a result: the name and the type of its own, and the shapes of its fields."""

    key: str
    kind: NewType | None
    fields: dict[str, "_Shape"]


_PLAIN = _Shape("", None, {})


@cache
def _shape(server: type[Server], tool: str) -> _Shape:
    return _shape_of(server.tools[tool].returns)


def _shape_of(hint: Any) -> _Shape:
    core = bare(hint)
    if get_origin(core) in (list, dict):
        return _shape_of(get_args(core)[-1])
    fields = fields_of(core)
    if not fields:
        return _PLAIN
    first, kind = next((name, bare(inner)) for name, inner in fields.items())
    shapes = {name: shape for name, inner in fields.items() if (shape := _shape_of(inner)) is not _PLAIN}
    return _Shape(first, kind, shapes) if is_id(kind) else _Shape("", None, shapes)


def _named(server: Server, tool: Tool, arguments: dict[str, Any]) -> str:
    """The records that a call names; for a page of records, what kind of them too."""
    named = [(p.id_type, arguments[p.name]) for p in tool.parameters if p.id_type and isinstance(arguments.get(p.name), str)]
    kind = [tool.subject.__name__] if tool.subject and "total" in fields_of(bare(tool.returns)) else []
    return " ".join([*kind, *sorted(name_of_record(server, id_type, key) for id_type, key in named)])


def _walk(value: Any, shape: _Shape, record: str, field: str, path: str, server: Server, item: bool = False) -> Iterator[tuple[str, Fact]]:
    if isinstance(value, dict):
        key = value.get(shape.key) if shape.key else None
        if isinstance(key, str):
            record = name_of_record(server, shape.kind, key)
        elif item and value and not isinstance(first := next(iter(value.values())), dict | list):
            record = f"{record}/{first}"  # what has no id is told from its like by its first field
        start = f"{path}." if path else ""
        for name, inner in value.items():
            yield from _walk(inner, shape.fields.get(name, _PLAIN), record, name, start + name, server)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _walk(inner, shape, record, field, f"{path}.{i}", server, item=True)
    else:
        yield path, Fact(record, field, value)
