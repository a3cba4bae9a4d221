"""State: frozen records in copy-on-write tables.

A world's records are built once and shared by every session. A session's table holds only what it changed (its
*delta*), so that opening, forking or saving a session costs the same for ten records as for a hundred thousand. A
table is opened when it is first asked for; what a call writes is noted, so that a refusal can take it back.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, cast, dataclass_transform

import msgspec

from prove.servers.errors import ToolError


@dataclass_transform(frozen_default=True)
class Record(msgspec.Struct, frozen=True):
    """One row of a table, or the shape of a result. Its first field is its key.

    Records never change: `table.update(key, field=value)` puts a new one in the old one's place.
    """


R = TypeVar("R", bound=Record)
_GONE: Any = None  # in a delta: the record with this key was removed
_NEW: Any = object()  # in a journal: the delta did not have this key

Saved = tuple[dict[str, Any], int]  # a session's part of a table: its delta, and how many ids it has minted in all


class Base(Generic[R]):
    """The shared, never-changing part of a table, with indexes built when first asked for."""

    __slots__ = ("_indexes", "_positions", "records")

    def __init__(self, records: dict[str, R]) -> None:
        self.records = records
        self._indexes: dict[str, dict[Any, list[str]]] = {}
        self._positions: dict[str, int] = {}

    def position(self, key: str) -> int:
        """Where in the table's order the record with that key stands."""
        if not self._positions:
            self._positions = {k: i for i, k in enumerate(self.records)}
        return self._positions[key]

    def keys_where(self, field: str, value: Any) -> list[str]:
        """The keys of the records whose `field` equals `value`, in the table's order."""
        index = self._indexes.get(field)
        if index is None:
            index = {}
            for key, record in self.records.items():
                index.setdefault(getattr(record, field), []).append(key)
            self._indexes[field] = index
        return index.get(value, [])


class TableSpec(msgspec.Struct, frozen=True):
    """What a server class declares with `table(...)`: the record type, and how ids are minted."""

    record: type[Record]
    id_format: str
    start: int
    key: str

    @property
    def noun(self) -> str:
        """What to call such a record in a message: `ScheduledPayment` is a "scheduled payment"."""
        return spaced(self.record.__name__)


def spaced(name: str) -> str:
    """`ScheduledPayment` -> "scheduled payment"."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def table(record: type[R], id_format: str = "", start: int = 1) -> "Table[R]":
    """Declare a table of a server: `accounts = table(Account, "ACC-{:04}", start=1001)`.

    `id_format` is the shape of minted ids; leave it empty where keys come from the domain (a path, a symbol).
    """
    spec = TableSpec(record, id_format, start, record.__struct_fields__[0])
    return cast("Table[R]", spec)  # the server's class puts in its place what opens a real Table


class Table(Generic[R]):
    """Records by key, in the order in which they were added."""

    __slots__ = ("_delta", "_journal", "_minted", "_shared", "base", "spec")

    def __init__(self, spec: TableSpec, base: Base[R], saved: Saved = ({}, 0), journal: list[Any] | None = None) -> None:
        self.spec = spec
        self.base = base
        self._delta: dict[str, R]
        self._delta, self._minted = saved
        self._shared = True  # somebody else holds this delta: it is copied before the next write
        self._journal = [] if journal is None else journal  # (table, key, what the delta had there) or (table, None, count of ids)

    # --- reading

    def find(self, key: str) -> R | None:
        """The record with that key, or None."""
        if key in self._delta:
            return self._delta[key]
        return self.base.records.get(key)

    def get(self, key: str) -> R:
        """The record with that key. Raises `ToolError("not_found")`."""
        record = self._delta[key] if key in self._delta else self.base.records.get(key)  # as `find` has it, without the call
        if record is None:
            raise ToolError("not_found", f"there is no {self.spec.noun} {key!r}")
        return record

    def keys(self) -> list[str]:
        """The keys of all records, in order."""
        base, delta = self.base.records, self._delta
        if not delta:
            return list(base)
        kept = [k for k in base if delta.get(k, base) is not _GONE]
        return [*kept, *(k for k, r in delta.items() if k not in base and r is not _GONE)]

    def one(self) -> R:
        """The record of a table that always holds exactly one: a working directory, the car."""
        return next(iter(self))

    def __contains__(self, key: str) -> bool:
        return self.find(key) is not None

    def __iter__(self) -> Iterator[R]:
        base, delta = self.base.records, self._delta
        if not delta:
            yield from base.values()
            return
        for key, record in base.items():
            current = delta.get(key, record)
            if current is not _GONE:
                yield current
        for key, record in delta.items():
            if key not in base and record is not _GONE:
                yield record

    def __len__(self) -> int:
        base = self.base.records
        changes = ((r is not _GONE) - (k in base) for k, r in self._delta.items())
        return len(base) + sum(changes)

    def where(self, **equal: Any) -> list[R]:
        """The records whose fields equal the given values, all without any; the first field is looked up in an index."""
        if not equal:
            return list(self)
        (field, value), *rest = equal.items()
        records, delta = self.base.records, self._delta
        keys = self.base.keys_where(field, value)
        if delta:
            changed = [k for k, r in delta.items() if r is not _GONE and getattr(r, field) == value]
            keys = [k for k in keys if k not in delta]
            if moved := [k for k in changed if k in records]:
                keys = sorted([*keys, *moved], key=self.base.position)
            keys = [*keys, *(k for k in changed if k not in records)]
        found = [delta[k] if k in delta else records[k] for k in keys]
        for other, wanted in rest:
            found = [r for r in found if getattr(r, other) == wanted]
        return found

    # --- writing

    def mint(self) -> str:
        """The next unused id of this table. Deterministic: a counter that is part of the state."""
        spec = self.spec
        self._own()
        self._journal.append((self, None, self._minted))
        self._minted += 1
        return spec.id_format.format(spec.start + self._minted - 1)

    def add(self, record: R) -> R:
        """Add a record under a new key. Raises `ToolError("conflict")` if the key is taken."""
        key = self.key_of(record)
        if key in self:
            raise ToolError("conflict", f"there is already a {self.spec.noun} {key!r}")
        return self._put(key, record)

    def update(self, key: str, **changes: Any) -> R:
        """Replace fields of a record, and return the new one. Raises `ToolError("not_found")`."""
        return self._put(key, msgspec.structs.replace(self.get(key), **changes))

    def remove(self, key: str) -> R:
        """Remove a record, and return it. Raises `ToolError("not_found")`."""
        record = self.get(key)
        self._put(key, _GONE)
        return record

    def key_of(self, record: R) -> str:
        return cast(str, getattr(record, self.spec.key))

    def _put(self, key: str, record: R) -> R:
        self._own()
        self._journal.append((self, key, self._delta.get(key, _NEW)))
        self._delta[key] = record
        return record

    def undo(self, key: str | None, before: Any) -> None:
        """Take one entry of the journal back, the last first."""
        if key is None:
            self._minted = before
        elif before is _NEW:
            del self._delta[key]
        else:
            self._delta[key] = before

    def _own(self) -> None:
        if self._shared:
            self._delta = dict(self._delta)
            self._shared = False

    # --- snapshots

    def save(self) -> Saved:
        """The session's part of the state. Costs nothing now; the next write copies the delta."""
        self._shared = True
        return self._delta, self._minted

    def load(self, saved: Saved) -> None:
        """Go back to what `save` returned."""
        self._delta, self._minted = saved
        self._shared = True

    @property
    def written(self) -> bool:
        """Whether anything was written since it was last saved or loaded."""
        return not self._shared

    @property
    def minted(self) -> int:
        """How many ids were minted so far."""
        return self._minted

    def changes(self) -> dict[str, tuple[R | None, R | None]]:
        """What differs from the base: key -> (before, after), None where there is no record. Sorted by key."""
        base, delta = self.base.records, self._delta
        pairs = ((key, base.get(key), delta[key]) for key in sorted(delta))
        return {key: (before, after) for key, before, after in pairs if before != after}


class Tables(Mapping[str, Table[Any]]):
    """A server's tables by name, each opened when it is first asked for: a fork costs nothing for those that nobody touches."""

    __slots__ = ("_fresh", "_open", "_saved", "bases", "journal", "specs")

    def __init__(self, specs: dict[str, TableSpec], bases: dict[str, Base[Any]], fresh: dict[str, Saved], saved: dict[str, Saved]) -> None:
        self.specs, self.bases = specs, bases
        self._fresh, self._saved = fresh, saved  # as the world left them; as a session did, where it touched them
        self._open: dict[str, Table[Any]] = {}
        self.journal: list[Any] = []

    def __getitem__(self, name: str) -> Table[Any]:
        found = self._open.get(name)
        if found is None:
            found = self._open[name] = Table(self.specs[name], self.bases[name], self._saved.get(name) or self._fresh[name], self.journal)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def touched(self) -> Iterator[tuple[str, Table[Any]]]:
        """The tables that a session has written to, maybe in vain, in the order of their declaration."""
        for name in self.specs:
            if name in self._saved or (name in self._open and self._open[name].written):
                yield name, self[name]

    def save(self) -> dict[str, Saved]:
        """What a session has written so far."""
        written = {name: rows.save() for name, rows in self._open.items() if rows.written}
        if written:
            self._saved = {**self._saved, **written}
        return self._saved

    def load(self, saved: dict[str, Saved]) -> None:
        """Go back to what `save` returned."""
        self._saved = saved
        for name, rows in self._open.items():
            rows.load(saved.get(name) or self._fresh[name])

    def undo(self) -> None:
        """Take back all that the journal holds, the last first."""
        while self.journal:
            rows, key, before = self.journal.pop()
            rows.undo(key, before)
