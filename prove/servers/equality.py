"""When two states are the same deed: equal up to a renaming of the ids minted on the way."""

import hashlib
from typing import Any

import msgspec

from prove.servers.state import Table

_ROUNDS = 4  # how far a chain of new records that name each other is followed


def fingerprint(servers: dict[str, list[tuple[str, Table[Any]]]]) -> str:
    """A digest of all changes in which a minted id stands for what it names, not for its number.

    Each new record's colour starts as its content with minted ids blanked, and is refined by the colours of the
    records it names (Weisfeiler and Leman's refinement). Clocks and counters do not take part.
    """
    changed: list[tuple[str, str, bool, Any]] = []  # (table, key, key was minted here, content)
    for server, tables in servers.items():
        for name, rows in tables:
            for key, (before, after) in rows.changes().items():
                minted = before is None and bool(rows.spec.id_format)
                changed.append((f"{server}.{name}", key, minted, msgspec.to_builtins(after)))
    colours = dict.fromkeys((key for _, key, minted, _ in changed if minted), "new")
    if not colours:
        return _hash(sorted(msgspec.json.encode((table, key, content)) for table, key, _, content in changed))
    for _ in range(_ROUNDS):
        colours |= {key: _hash((table, _recolour(content, colours))) for table, key, minted, content in changed if minted}
    rows_seen = sorted(
        msgspec.json.encode((table, colours.get(key, key) if minted else key, _recolour(content, colours)))
        for table, key, minted, content in changed
    )
    return _hash(rows_seen)


def _recolour(content: Any, colours: dict[str, str]) -> Any:
    kind = type(content)
    if kind is str:
        return colours.get(content, content)
    if kind is list:
        return [_recolour(item, colours) for item in content]
    if kind is dict:
        return {colours.get(k, k): _recolour(v, colours) for k, v in content.items()}
    return content


def _hash(value: Any) -> str:
    return hashlib.blake2b(msgspec.json.encode(value), digest_size=16).hexdigest()
