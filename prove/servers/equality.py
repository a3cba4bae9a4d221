"""When two states are the same deed: equal up to a renaming of the ids minted on the way."""

import hashlib
from collections.abc import Container, Iterable
from typing import Any

import msgspec
from msgspec.structs import astuple

from prove.servers.state import Table

_ROUNDS = 4  # how far a chain of new records that name each other is followed


def fingerprint(servers: dict[str, list[tuple[str, Table[Any]]]]) -> str:
    """A digest of all changes in which a minted id stands for what it names, not for its number.

    Each new record's colour starts as its content with minted ids blanked, and is refined by the colours of the
    records it names (Weisfeiler and Leman's refinement). Clocks and counters do not take part.
    """
    changed: list[tuple[str, str, bool, Any]] = []  # (table, key, key was minted here, record)
    for server, tables in servers.items():
        for name, rows in tables:
            for key, (before, after) in rows.changes().items():
                changed.append((f"{server}.{name}", key, before is None and bool(rows.spec.id_format), after))
    new = {key for _, key, minted, _ in changed if minted}
    plain: list[bytes] = []  # what names no new record, as it is
    colours: dict[str, str] = {}
    naming: list[tuple[str, str, bool, Any]] = []
    for table, key, minted, record in changed:
        fields = astuple(record)[1:] if record is not None else None  # a record's first field is its key
        if new and fields is not None and _names(fields, new):
            naming.append((table, key, minted, msgspec.to_builtins(record)))
        else:
            plain.append(text := msgspec.json.encode((table, "" if minted else key, fields)))
            if minted:
                colours[key] = _hash([text])
    if not naming:
        return _hash(sorted(plain))
    colours |= {key: "new" for _, key, minted, _ in naming if minted}
    for _ in range(_ROUNDS):
        colours |= {key: _hash([_text(table, "", content, colours)]) for table, key, minted, content in naming if minted}
    told = (_text(table, colours[key] if minted else key, content, colours) for table, key, minted, content in naming)
    return _hash(sorted([*plain, *told]))


def _names(value: Any, new: Container[str]) -> bool:
    """Whether a new record's id stands anywhere in a value."""
    kind = type(value)
    if kind is str:
        return value in new
    if kind is list or kind is tuple:
        return any(_names(item, new) for item in value)
    if kind is dict:
        return any(k in new or _names(v, new) for k, v in value.items())
    return isinstance(value, msgspec.Struct) and _names(astuple(value), new)


def _text(table: str, key: str, content: Any, colours: dict[str, str]) -> bytes:
    return msgspec.json.encode((table, key, _recolour(content, colours)))


def _recolour(content: Any, colours: dict[str, str]) -> Any:
    kind = type(content)
    if kind is str:
        return colours.get(content, content)
    if kind is list:
        return [_recolour(item, colours) for item in content]
    if kind is dict:
        return {colours.get(k, k): _recolour(v, colours) for k, v in content.items()}
    return content


def _hash(texts: Iterable[bytes]) -> str:
    return hashlib.blake2b(b"\n".join(texts), digest_size=16).hexdigest()
