"""Facts as a second reader binds them: to the record that a result's schema says they stand in."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from prove.servers.server import Server
from prove.servers.session import Session


class Told(NamedTuple):
    """A scalar of a result: where it stands, whose it is (None where a record does not say), its field, and its JSON text."""

    path: str
    record: str | None
    field: str
    text: str

    @property
    def fact(self) -> tuple[str | None, str, str]:
        return self.record, self.field, self.text


def told(start: Session, name: str, arguments: dict[str, Any], result: Any) -> list[Told]:
    """Everything that a call's result tells. `start` is the session before anything was done: what it lacks was made since."""
    home, tool = start.tools[name]
    server = start.servers[home]
    named = sorted(_name(server, v) for p in tool.parameters if p.id_type and isinstance(v := arguments.get(p.name), str))
    page = [tool.subject.__name__] if tool.subject and "total" in tool.output_schema.get("properties", {}) else []
    return list(_read(result, tool.output_schema, " ".join([*page, *named]), "", "", server))


def covers(facts: set[tuple[str | None, str, str]], wanted: set[tuple[str | None, str, str]]) -> bool:
    """Whether all that is wanted is there; what names no record may be any's."""
    return wanted <= facts | {(None, field, text) for _, field, text in facts}


def _is_key(spec: dict[str, Any]) -> bool:
    return str(spec.get("description", "")).startswith("the id of")


def _name(server: Server, key: str) -> str:
    """A record as it is called in any session: its key, unless only a counter of this session has given it that."""
    numbered = [rows for rows in server.state.values() if rows.spec.id_format]
    forms = [re.sub(r"\\\{.*?\\\}", r"[^\\s/]+", re.escape(rows.spec.id_format)) for rows in numbered if key not in rows]
    known = any(key in rows for rows in server.state.values())
    return "new" if not known and any(re.fullmatch(form, key) for form in forms) else key


def _read(value: Any, spec: dict[str, Any], record: str, field: str, path: str, server: Server, listed: bool = False) -> Iterator[Told]:
    at = f"{path}." if path else ""
    if isinstance(value, dict):
        fields = spec.get("properties", {})
        first = next(iter(value.items()), ("", None))
        if _is_key(fields.get(first[0], {})) and isinstance(first[1], str):
            record = _name(server, first[1])
        elif listed and value and not isinstance(first[1], dict | list):
            record = f"{record}/{first[1]}"
        for name, inner in value.items():
            yield from _read(inner, fields.get(name, spec.get("additionalProperties") or {}), record, name, at + name, server)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _read(inner, spec.get("items", {}), record, field, f"{at}{number}", server, listed=True)
    else:
        yield Told(path, record, field, msgspec.json.encode(value).decode())
