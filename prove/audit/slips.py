"""Slips: what goes wrong in one call of a policy that means well."""

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from prove.episode import Episode, ToolCall
from prove.servers.session import Session
from prove.servers.state import Table
from prove.servers.tools import Tool


def tool(session: Session, name: str) -> Tool:
    """The tool that is called by that name in a session."""
    return session.tools[name][1]


def ids(episode: Episode, call: ToolCall) -> Iterator[tuple[str, str, Table[Any]]]:
    """(argument, key, table) of the records that a call names and that there are."""
    home, known = episode.session.tools[call.name]
    for p in known.parameters:
        value = call.arguments.get(p.name)
        if p.id_type and isinstance(value, str):
            tables = (rows for rows in episode.session.servers[home].state.values() if value in rows)
            if (rows := next(tables, None)) is not None:
                yield p.name, value, rows


def another_record(episode: Episode, name: str, argument: str, key: str) -> str:
    """The next record of the same kind; "" where there is none."""
    for _, _, rows in (found for found in ids(episode, ToolCall(name, {argument: key})) if found[0] == argument):
        keys = rows.keys()
        return keys[(keys.index(key) + 1) % len(keys)] if len(keys) > 1 else ""
    return ""


def most_alike(rows: Table[Any], key: str) -> str:
    """The record that shares most fields with one; "" where there is no other."""
    this = msgspec.to_builtins(rows.get(key))
    shared = lambda other: sum(msgspec.to_builtins(rows.get(other)).get(field) == value for field, value in this.items())
    return min((k for k in rows.keys() if k != key), key=lambda k: (-shared(k), k), default="")  # noqa: SIM118, a table is no dict


def of_the_same_name(rows: Table[Any], key: str) -> str:
    """A record whose name begins with the same word; "" where there is none."""
    field = next((f for f in ("name", "title", "subject", "label") if hasattr(rows.get(key), f)), "")
    first = lambda record: str(getattr(record, field)).split(" ")[0]
    same = (rows.key_of(r) for r in rows if field and first(r) == first(rows.get(key)))
    return next((k for k in same if k != key), "")


def instead(episode: Episode, call: ToolCall, pick: Any) -> ToolCall:
    """The call about another record: that which `pick(table, key)` gives for the first that has one."""
    for argument, key, rows in ids(episode, call):
        if other := pick(rows, key):
            return ToolCall(call.name, call.arguments | {argument: other})
    return call


def next_record(rows: Table[Any], key: str) -> str:
    """The record after one, in the table's order."""
    keys = rows.keys()
    return keys[(keys.index(key) + 1) % len(keys)] if len(keys) > 1 else ""


def number_off(call: ToolCall) -> ToolCall:
    """The call with its first number one too high."""
    for name, value in call.arguments.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            return ToolCall(call.name, call.arguments | {name: value + 1})
    return call


def another_choice(episode: Episode, call: ToolCall) -> ToolCall:
    """The call with its first choice of a few, or yes and no, made otherwise."""
    specs = tool(episode.session, call.name).input_schema["properties"]
    for name, value in call.arguments.items():
        others = [v for v in specs.get(name, {}).get("enum", ()) if v != value]
        if isinstance(value, bool) or others:
            return ToolCall(call.name, call.arguments | {name: not value if isinstance(value, bool) else others[0]})
    return call


def wrong_value(episode: Episode, call: ToolCall, rng: Random) -> ToolCall:
    """The call with one value wrong: another record that there is, another number, choice or text; an invented argument if it has none."""
    if not call.arguments:
        return ToolCall(call.name, {"note_": "x"})
    name = rng.choice(sorted(call.arguments))
    value = call.arguments[name]
    one = ToolCall(call.name, {name: value})
    for slip in (instead(episode, one, most_alike), another_choice(episode, one), number_off(one)):
        if slip != one:
            return ToolCall(call.name, call.arguments | slip.arguments)
    text = [f"{v} else" for v in value] if isinstance(value, list) else f"{value} else"
    return ToolCall(call.name, call.arguments | {name: text})
