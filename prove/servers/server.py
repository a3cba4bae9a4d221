"""What a server is: a class with tables and tools, and a world it opens on."""

import hashlib
from collections.abc import Callable, Collection
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, NewType

import msgspec

from prove.servers.schema import fields_of, ids_in, is_id
from prove.servers.state import Base, Saved, Table, Tables, TableSpec
from prove.servers.tools import Tool, tool_of

_FIRST_DAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_SPAN_DAYS = 360


def stable_hash(*parts: object) -> int:
    """A 64-bit hash of the parts' text that is the same on every machine and under any PYTHONHASHSEED."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def start_of(seed: int) -> datetime:
    """The moment at which the worlds of a seed begin: 09:00 UTC on some day of 2026."""
    return _FIRST_DAY + timedelta(days=stable_hash("start", seed) % _SPAN_DAYS)


class Clock:
    """A session's time. It stands still while tools run; only the episode moves it."""

    __slots__ = ("now",)

    def __init__(self, now: datetime) -> None:
        self.now = now


def pass_until(servers: Collection["Server"], clock: Clock, until: datetime) -> None:
    """Move a clock on, and stop it at each moment at which something is due, in order, where it happens: so two hours are one hour
    and another. Raises RuntimeError for what is still due after it has happened."""
    while (due := _next_due(servers)) and due <= until:
        clock.now = max(due, clock.now)  # what a world left undone is done at once
        for server in servers:
            server.elapse()
        if (left := _next_due(servers)) and left <= due:
            raise RuntimeError(f"{', '.join(type(s).__name__ for s in servers)}: what was due at {due} is still due after elapse()")
    if until > clock.now:
        clock.now = until
        for server in servers:
            server.elapse()


def _next_due(servers: Collection["Server"]) -> datetime | None:
    return min((due for server in servers if (due := server.due())), default=None)


class _Opens:
    """What stands for a table in a server's class: opens it in a server that first asks for it, which then has it for its own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, server: Any, cls: type) -> Table[Any]:
        rows: Table[Any] = server.state[self.name]
        server.__dict__[self.name] = rows
        return rows


class Server:
    """Base class of every domain.

    Declare tables (`accounts = table(Account, "ACC-{:04}")`) and tools (`@read` and `@write` methods); the rest is
    derived. A tool returns a record or a small struct, and refuses with `ToolError`. It never looks at the wall
    clock and never draws a random number: the time is `self.now`, ids come from `self.<table>.mint()`.
    """

    category: ClassVar[str] = ""
    hidden: ClassVar[bool] = False  # not part of the library of twenty
    heldout: ClassVar[bool] = False  # nor this, which is there to measure by: no training split has it
    tables: ClassVar[dict[str, TableSpec]] = {}
    tools: ClassVar[dict[str, Tool]] = {}
    sources: ClassVar[dict[NewType, list[Tool]]] = {}  # who hands out the ids of each type, the likeliest first
    homes: ClassVar[dict[NewType, str]] = {}  # the table in which the records of each id type are
    references: ClassVar[dict[str, tuple[tuple[int, str], ...]]] = {}  # of each tool: which value names a record of which table

    def __init_subclass__(cls) -> None:
        cls.tables = {name: spec for name, spec in vars(cls).items() if isinstance(spec, TableSpec)}
        for name in cls.tables:
            setattr(cls, name, _Opens(name))
        methods = (m for m in vars(cls).values() if hasattr(m, "__prove__"))
        cls.tools = {tool.name: tool for tool in map(tool_of, methods)}
        cls.homes = {hint: name for name, spec in reversed(cls.tables.items()) if is_id(hint := key_hint(spec))}  # the first one has it
        cls.references = {t.name: tuple((at, cls.homes[kind]) for at, kind in t.names if kind in cls.homes) for t in cls.tools.values()}
        cls.sources = {id_type: _sources(id_type, cls.tools) for t in cls.tools.values() for id_type in t.produces}
        _say_where_ids_come_from(cls)

    def __init__(self, state: Tables, clock: Clock) -> None:
        self.state = state
        self.clock = clock

    @property
    def now(self) -> datetime:
        """The session's time, in UTC."""
        return self.clock.now

    @property
    def today(self) -> date:
        """The session's date."""
        return self.clock.now.date()

    def look_up(self, tool: Tool, values: tuple[Any, ...]) -> None:
        """See that every record which a call names is there, be it to filter by. Raises `ToolError("not_found")`."""
        for at, home in self.references[tool.name]:
            named = values[at]
            if type(named) is str:
                getattr(self, home).get(named)
            elif named is not None:
                for key in named:
                    getattr(self, home).get(key)

    def due(self) -> datetime | None:
        """The next moment at which something happens by itself, or None. The clock will stop there and call `elapse`."""
        return None

    def live_until(self, moment: datetime) -> None:
        """Let time pass for this server alone, as `Session.advance` does for all of a session: for worlds whose past is lived. A
        moment that lies back is where such a past begins."""
        self.clock.now = min(moment, self.clock.now)
        pass_until([self], self.clock, moment)

    def elapse(self) -> None:
        """The clock stands at such a moment, or where an episode moved it: make happen what is due at `self.now`, and no more.

        Afterwards `due()` must lie later. Calling it once more at the same moment must change nothing.
        """


def key_hint(spec: TableSpec) -> Any:
    """The type of a table's keys: an id type, mostly."""
    return fields_of(spec.record)[spec.key]


def _say_where_ids_come_from(server: type[Server]) -> None:
    """Add to each id parameter's description the tools that hand out such ids, the likeliest first."""
    for tool in server.tools.values():
        for parameter in tool.parameters:
            spec = tool.input_schema["properties"][parameter.name]
            spec = spec.get("items", spec)
            for id_type in ids_in(parameter.hint):
                sources = server.sources.get(id_type, [])[:2]
                if sources and spec.get("description", "").startswith("the id of"):
                    spec["description"] += f", from {' or '.join(t.name for t in sources)}"


def _sources(id_type: NewType, tools: dict[str, Tool]) -> list[Tool]:
    """The tools whose results hold ids of that type which they did not need to be told, likeliest first: a read before
    a write, one that destroys nothing, a tool about such records before one that mentions them, one that needs few
    arguments before one that needs many."""

    def effort(tool: Tool) -> tuple[bool, bool, bool, int]:
        marks, required = tool.marks, sum(p.required for p in tool.parameters)
        return marks.writes, marks.destructive, tool.subject is not id_type, required

    return sorted((t for t in tools.values() if id_type in t.produces - t.consumes), key=effort)


class World:
    """A server's starting state: a pure function of (server, seed), shared by all its sessions."""

    def __init__(self, server: type[Server], seed: int, populate: Callable[[Any, "Any"], None]) -> None:
        from prove.servers.maker import Maker  # Faker is slow to import; only worlds need it

        self.server, self.seed, self.start = server, seed, start_of(seed)
        empty: dict[str, Saved] = {n: ({}, 0) for n in server.tables}
        draft = server(Tables(server.tables, {n: Base({}) for n in server.tables}, empty, {}), Clock(self.start))
        populate(draft, Maker(server.__name__, seed, self.start))
        self.bases: dict[str, Base[Any]] = {n: Base({rows.key_of(r): r for r in rows}) for n, rows in draft.state.items()}
        self.fresh: dict[str, Saved] = {n: ({}, rows.minted) for n, rows in draft.state.items()}
        self.digest = self._digest()

    def open(self, clock: Clock, saved: dict[str, Saved]) -> Server:
        """A server on this world, with what a session has changed so far."""
        return self.server(Tables(self.server.tables, self.bases, self.fresh, saved), clock)

    def __len__(self) -> int:
        return sum(len(base.records) for base in self.bases.values())

    def _digest(self) -> str:
        content = [(n, self.fresh[n][1], list(base.records.items())) for n, base in self.bases.items()]
        return hashlib.blake2b(msgspec.msgpack.encode((self.start, content)), digest_size=16).hexdigest()
