"""Arguments from a live state: what a caller who had looked around could send."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import cache
from random import Random
from typing import Any, Literal, get_args, get_origin

import msgspec

from prove.records import leaves
from prove.servers import Query
from prove.servers.schema import bare, fields_of, is_id, metas, named_types, without_none
from prove.servers.server import Server, key_hint
from prove.servers.tools import Parameter, Tool
from prove.synthesis.language.saying import is_money, is_month


class NoValue(LookupError):
    """The state holds nothing of that kind right now."""


@cache
def type_names(server: type[Server]) -> list[tuple[Any, str]]:
    """(hint, name) of the named types a server's module sees."""
    return [(hint, name) for name, hint in named_types(server)]


def name_of(server: type[Server], hint: Any) -> str:
    """The name under which a hint was declared (`Cents`), or "" for an unnamed one."""
    hint = without_none(hint)
    names = type_names(server)
    same = next((name for known, name in names if known is hint), "")  # the same object, mostly: comparing hints is slow
    return same or next((name for known, name in names if known == hint), "")


@cache
def key_type(server: type[Server], table: str) -> Any:
    """The type of a table's keys: an id type, mostly."""
    return key_hint(server.tables[table])


def table_of(server: type[Server], id_type: Any) -> str | None:
    """The table whose key is of that id type."""
    return server.homes.get(id_type)


def texts_of(live: Server, id_type: Any, key: Any, said: str) -> list[str]:
    """The texts of a record that stand in the words for it, its key apart."""
    table = table_of(type(live), id_type)
    record = live.state[table].find(key) if table and isinstance(key, str) else None
    texts = [v for f in record.__struct_fields__[1:] if isinstance(v := getattr(record, f), str)] if record else []
    return [text for text in texts if len(text) > 2 and text.casefold() in said.casefold()]


@cache
def places_of(server: type[Server], hint_text: str) -> tuple[tuple[str, str], ...]:
    """(table, field) of every record field whose hint reads as `hint_text`."""
    return tuple(
        (table, field)
        for table, spec in server.tables.items()
        for field, hint in fields_of(spec.record).items()
        if repr(without_none(hint)) == hint_text
    )


def looked_up(tool: Tool, arguments: dict[str, Any], result: Any) -> tuple[Any, list[str]] | None:
    """The kind of record that a read was to find, if the call names none of it, and the keys of those that it found: a page of
    them, or one. None for any other call."""
    kind = tool.subject
    if tool.marks.writes or not kind or kind in tool.ids_of(arguments):
        return None
    items = result.get("items", [result]) if isinstance(result, dict) else []
    keys = [next(iter(item.values()), None) for item in items if isinstance(item, dict)]
    return kind, [key for key in keys if isinstance(key, str)]


def shown_alone(server: Server, results: Iterable[Any]) -> dict[Any, str]:
    """The records that results show as the only ones of their kind: id type -> key."""
    texts = {value for result in results for _, value in leaves(result) if isinstance(value, str)}
    shown: dict[Any, set[str]] = {}
    for table, rows in server.state.items():
        kind = key_type(type(server), table)
        if is_id(kind):
            shown.setdefault(kind, set()).update(text for text in texts if text in rows)
    return {kind: next(iter(keys)) for kind, keys in shown.items() if len(keys) == 1}


def draw(
    server: Server, tool: Tool, parameter: Parameter, rng: Random, values: dict[str, list[Any]], beside: dict[str, Any] | None = None
) -> Any:
    """One plausible value for a parameter, in JSON form. Raises `NoValue` where the state holds none.

    In this order: an id of an existing record; a curated value of the domain (`values`, by type name); a value that
    existing records have in a field of the same type, preferably those of which the arguments `beside` it name the owner (a
    shop where that budget was spent before); a value of the right form.
    """
    hint = without_none(parameter.hint)
    if parameter.name == "since" and bare(hint) is date:  # where a list begins lies in the past
        return (server.today - timedelta(days=rng.randint(1, 60))).isoformat()
    owners = {value for value in (beside or {}).values() if isinstance(value, str)}
    return msgspec.to_builtins(_draw(server, tool, hint, rng, values, owners))


def _draw(server: Server, tool: Tool, hint: Any, rng: Random, values: dict[str, list[Any]], owners: set[str]) -> Any:
    core, cls = bare(hint), type(server)
    curated = values.get(name_of(cls, hint))
    if curated:
        return rng.choice(curated)
    if is_id(core):
        return rng.choice(_known_ids(server, core))
    if get_origin(core) is Literal:
        return rng.choice(get_args(core))
    if get_origin(core) is list:
        count = rng.randint(1, 2)
        return list(dict.fromkeys(_draw(server, tool, get_args(core)[0], rng, values, owners) for _ in range(count)))
    if hint == Query:
        return _query(server, tool, rng)
    if places := places_of(cls, repr(hint)):
        return _from_records(server, places, rng, owners)
    return _of_form(server, hint, rng)


def _known_ids(server: Server, id_type: Any) -> list[str]:
    table = table_of(type(server), id_type)
    if table is not None:
        found = server.state[table].keys()
    else:
        found = [getattr(r, f) for t, f in places_of(type(server), repr(id_type)) for r in server.state[t]]
    if not found:
        raise NoValue(f"no {id_type.__name__} in this state")
    return found


def _from_records(server: Server, places: tuple[tuple[str, str], ...], rng: Random, owners: set[str]) -> Any:
    table, field = rng.choice(places)
    found = [r for r in server.state[table] if getattr(r, field) not in (None, "")]
    if not found:
        raise NoValue(f"no {table}.{field} in this state")
    owned = [r for r in found if owners and _owned(r, owners)]
    return getattr(rng.choice(owned or found), field)


def _owned(record: Any, owners: set[str]) -> bool:
    """Whether a record belongs to one of those, and is none of them itself."""
    key, *others = (getattr(record, field) for field in record.__struct_fields__)
    return key not in owners and any(isinstance(value, str) and value in owners for value in others)


def _query(server: Server, tool: Tool, rng: Random) -> str:
    """Words that find something: a short text of a record of the kind that the tool lists, as the list shows it."""
    table = table_of(type(server), tool.subject)
    rows = list(server.state[table]) if table else []
    shown = [f for f, hint in item_fields(tool.returns).items() if bare(hint) is str]
    texts = [t for f in shown if rows and isinstance(t := getattr(rng.choice(rows), f, None), str) and 0 < len(t) <= 40]
    if not texts:
        raise NoValue(f"nothing for {tool.name} to find")
    return rng.choice(texts)


def item_fields(returns: Any) -> dict[str, Any]:
    """The fields of what a result lists, or of the result itself."""
    fields = fields_of(returns)
    return fields_of(get_args(bare(fields["items"]))[0]) if "items" in fields else fields


def _of_form(server: Server, hint: Any, rng: Random) -> Any:
    core = bare(hint)
    if is_month(hint):
        month = server.today.year * 12 + server.today.month - 1 - rng.randint(0, 3)
        return f"{month // 12}-{month % 12 + 1:02}"
    if core is bool:
        return rng.random() < 0.5
    if core is date:
        return server.today + timedelta(days=rng.randint(1, 28))
    if core is datetime:
        return server.now + timedelta(days=rng.randint(1, 14), hours=rng.randint(0, 8), minutes=30 * rng.randint(0, 1))
    if is_money(hint):
        return rng.choice((500, 1000, 1500, 2000, 2500, 4000, 5000, 7500, 10000))
    low, high = _bounds(hint)
    if core is int:
        low = 1 if low is None else low
        return rng.randint(int(low), int(min(low + 9 if high is None else high, low + 40)))
    if core is float:
        return round(rng.uniform(-90 if low is None else low, 90 if high is None else high), 4)
    return rng.choice(("green apples", "the blue one", "see you there", "all good so far"))


def _bounds(hint: Any) -> tuple[float | None, float | None]:
    low = high = None
    for meta in metas(hint):
        low = meta.ge if meta.ge is not None else (meta.gt + 1 if meta.gt is not None else low)
        high = meta.le if meta.le is not None else (meta.lt - 1 if meta.lt is not None else high)
    return low, high
