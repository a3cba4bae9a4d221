"""Which records a user can mean: those of which everything is true that the words say about one.

No phrasebook is asked: whatever fields of a record the words say are what they tell of it, whoever wrote them.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime
from functools import cache
from typing import Any, Literal, get_origin

from prove.records import Attempt, GroundTruthCall
from prove.servers.catalog import toolbox
from prove.servers.schema import bare, fields_of, ids_in, is_id, schema
from prove.servers.session import Session
from prove.servers.state import Table
from prove.servers.tools import Tool
from prove.verify.evidence import Evidence, scalars
from prove.verify.words import Said, choices_of, heard, verbatim
from prove.verify.working import hinges

Ids = dict[Any, set[str]]  # id type -> keys


def misunderstood(e: Evidence) -> Iterator[str]:
    """Every id argument for which the words could mean another record of its kind just as well.

    A record that the words do not single out must be the only one of its kind that this query has named or made, or else the
    only one that the last query about such records named or, where it named none, made or was shown.
    """
    for home in e.record.homes:
        yield from _misunderstood(e, home)


def _misunderstood(e: Evidence, home: str) -> Iterator[str]:
    """The same of one server's records."""
    tools, recent = {name: tool for name, (server, tool) in toolbox(e.record.homes).items() if server == home}, Ids()
    for i, turn in enumerate(e.record.turns):
        query, own = asked(e, i), [c for c in turn.calls if c.name in tools]
        words, after = (Words(home, query, e.whole.states[k]) for k in (i, i + 1))
        refused = [a for a in (offer_before(e, i), *turn.attempts) if a and a.recovery in ("asked", "alternative")]
        named, messages = Ids(), " ".join(a.message for a in refused)
        tried = [a for a in turn.attempts if a.name in tools and a.recovery != "corrected"]
        calls: list[GroundTruthCall | Attempt] = [*own, *tried]
        for call in calls:
            for kind, key in _ids(tools[call.name], call.arguments):
                if kind not in words.tables:
                    continue
                new = not words.has(kind, key)  # made by an earlier call of this turn
                meant = named.get(kind, set()) | {key} if new else named.get(kind) or recent.get(kind)
                clear = (after if new else words).single_out(kind, key) or meant == {key} or _by_rank(e, call, key)
                if not clear and not _whole_key(key, messages):  # what stands in the way is named by the refusal
                    yield f"turn {i + 1}: {' '.join(text for text, _ in query)!r} does not single out {key}"
                named.setdefault(kind, set()).add(key)
        shown = {text for c in own for _, text in scalars(e.whole.results[c.id])}
        recent |= {kind: keys for kind, keys in words.among(shown).items() if len(keys) == 1}
        recent |= words.made(after, shown) | named


def _ids(tool: Tool, arguments: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    """(id type, key) of every record that a call's arguments name, by itself or in a list."""
    for p in (p for p in tool.parameters if arguments.get(p.name) is not None):
        value = arguments[p.name]
        yield from ((kind, key) for kind in ids_in(p.hint) for key in (value if isinstance(value, list) else [value]))


def asked(e: Evidence, i: int) -> list[Said]:
    """The words of a turn's query: with those before the assistant asked back or made an offer, if it did."""
    return e.said[i][-2:] if asked_back(e, i) or offer_before(e, i) else e.said[i][-1:]


def asked_back(e: Evidence, i: int) -> bool:
    """Whether a turn answers what the assistant asked back."""
    before = e.record.turns[i - 1] if i else None
    if before is None or before.calls or before.attempts:
        return False
    return before.level != "complete" or before.held


def offer_before(e: Evidence, i: int) -> Attempt | None:
    """The refusal after which the assistant has offered to clear the way, where a turn answers that."""
    return next((a for a in e.record.turns[i - 1].attempts if a.recovery == "asked"), None) if i else None


def _whole_key(key: str, text: str) -> bool:
    return re.search(rf"(?<![\w/-]){re.escape(key)}(?![\w/-])", text) is not None


def _by_rank(e: Evidence, call: GroundTruthCall | Attempt, key: str) -> bool:
    """Whether a record is meant as the largest, or as one of those that are over a bound."""
    picked = [w.value for w in hinges(e.record, call.id) if w.pick] if isinstance(call, GroundTruthCall) else []
    return any(key == value or (isinstance(value, list) and key in value) for value in picked)


class Words:
    """A user's words in a world: what they say of its records."""

    def __init__(self, server: str, query: list[Said], session: Session) -> None:
        self.server, self.query = server, query
        self.tables: dict[Any, list[Table[Any]]] = {}
        for rows in session.servers[server].state.values():
            self.tables.setdefault(next(iter(fields_of(rows.spec.record).values())), []).append(rows)

    def single_out(self, kind: Any, key: str) -> bool:
        """Whether the words name the key itself, or tell of its record what is true of no other of its table."""
        return verbatim(key, self.query) or any(self._alone(rows, key) for rows in self.tables.get(kind, ()) if key in rows)

    def has(self, kind: Any, key: str) -> bool:
        """Whether there is such a record."""
        return any(key in rows for rows in self.tables.get(kind, ()))

    def among(self, shown: set[str]) -> Ids:
        """The records whose keys (as JSON text) were shown."""
        keys = {text[1:-1] for text in shown if text.startswith('"')}
        return {kind: {k for rows in tables for k in keys if k in rows} for kind, tables in self.tables.items() if is_id(kind)}

    def told(self, kind: Any, key: str) -> set[str]:
        """The fields of a record that the words say."""
        return {field for rows in self.tables.get(kind, ()) if key in rows for field in self._told(rows, key)}

    def made(self, later: "Words", shown: set[str]) -> Ids:
        """The records that a later state has and this one has not, and whose keys (as JSON text) were shown."""
        out = Ids()
        for kind, tables in later.tables.items():
            for before, after in zip(self.tables[kind], tables, strict=True):
                keys = {k for k in after.changes() if k in after and k not in before and f'"{k}"' in shown}
                out |= {kind: out.get(kind, set()) | keys} if keys else {}
        return out

    def _alone(self, rows: Table[Any], key: str) -> bool:
        told = {field: _plain(rows.get(key), field) for field in self._told(rows, key)}
        like = [r for r in rows if all(_plain(r, field) == value for field, value in told.items())]
        return bool(told) and len(like) == 1

    def _told(self, rows: Table[Any], key: str) -> Iterator[str]:
        """The fields of a record that the words say; of one that names another record, if they say anything of that."""
        record = rows.get(key)
        for field, hint, spec in _fields(rows.spec.record):
            value, owner = getattr(record, field), bare(hint)
            if is_id(owner) and owner in self.tables and value != key:
                if any(value in owners and any(self._told(owners, value)) for owners in self.tables[owner]):
                    yield field
            elif self._said(value, field, hint, spec):
                yield field

    def _said(self, value: Any, field: str, hint: Any, spec: dict[str, Any]) -> bool:
        if isinstance(value, datetime):
            return bool(heard(value.date().isoformat(), {"format": "date"}, self.query, {}))
        if isinstance(value, date | str) and value != "":
            return bool(heard(str(value), spec, self.query, choices_of(self.server, field, hint)))
        return isinstance(value, int | float) and not isinstance(value, bool) and bool(heard(abs(value), spec, self.query, {}))


@cache
def _fields(record: Any) -> list[tuple[str, Any, dict[str, Any]]]:
    """(name, hint, JSON Schema) of a record's fields; what is no plain value has no schema to be said by."""
    plain = (str, int, float, date)
    return [(f, h, schema(h) if bare(h) in plain or get_origin(bare(h)) is Literal else {}) for f, h in fields_of(record).items()]


def _plain(record: Any, field: str) -> Any:
    """A field as far as words tell it: a text without case, an amount without its sign, a time as its day."""
    value = getattr(record, field)
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, str):
        return value.casefold()
    return abs(value) if isinstance(value, int | float) else value
