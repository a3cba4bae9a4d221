"""A session: one rollout's private world over one or several servers."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import msgspec

from prove.servers.catalog import toolbox, world_of
from prove.servers.decoding import quoted
from prove.servers.equality import fingerprint
from prove.servers.errors import Code, Strike, ToolError, did_you_mean
from prove.servers.server import Clock, Server, World, pass_until
from prove.servers.state import Saved
from prove.servers.tools import Tool

Snapshot = tuple[datetime, list[dict[str, Saved]]]
Change = tuple[Any, Any]  # (before, after); None where there is no record
_ENCODER = msgspec.json.Encoder()


class Result(msgspec.Struct, frozen=True):
    """What a call gave. `text` is the JSON that a model sees, the same over every transport."""

    ok: bool
    text: str
    code: Code | None = None

    @property
    def value(self) -> Any:
        """The text as plain data."""
        return msgspec.json.decode(self.text)


def refusal(code: Code, message: str) -> Result:
    """The result of a call that a tool, or the session, refused."""
    return Result(False, msgspec.json.encode({"error": {"code": code, "message": message}}).decode(), code)


class Session:
    """Sessions share structure and never state; calls run one at a time, each a transaction.

    With several servers, tools have the names of their `toolbox`. `only` limits what may be called, as a model's candidate tools
    do.
    """

    def __init__(
        self, worlds: dict[str, World], snapshot: Snapshot, tools: dict[str, tuple[str, Tool]], only: frozenset[str] | None
    ) -> None:
        now, states = snapshot
        self.worlds, self.clock, self.tools, self.only = worlds, Clock(now), tools, only
        self.servers: dict[str, Server] = {
            name: world.open(self.clock, saved) for (name, world), saved in zip(worlds.items(), states, strict=True)
        }

    @classmethod
    def open(cls, servers: str | Sequence[str], seed: int = 0, only: Collection[str] | None = None) -> "Session":
        """A fresh session on the worlds of `seed`. Raises LookupError for an unknown server, naming those there are."""
        names = [servers] if isinstance(servers, str) else list(dict.fromkeys(servers))
        worlds = {name: world_of(name, seed) for name in names}
        start: Snapshot = (worlds[names[0]].start, [{} for _ in names])
        return cls(worlds, start, toolbox(tuple(names)), None if only is None else frozenset(only))

    def call(self, name: str, arguments: Any) -> Result:
        """Run one tool. A refusal is a `Result` and leaves no trace (but for a `Strike`); any other exception is a bug and is raised."""
        found = self.tools.get(name)
        if found is None or (self.only is not None and name not in self.only):
            known = self.tools if self.only is None else self.only
            return refusal("not_found", f"there is no tool {quoted(name)}{did_you_mean(str(name)[:60], sorted(known))}")
        home, tool = found
        server = self.servers[home]
        server.state.journal.clear()
        try:
            values = tool.decode(arguments)
            server.look_up(tool, values)
            text = _ENCODER.encode(tool.function(server, *values)).decode()
        except BaseException as error:
            if not isinstance(error, Strike):
                server.state.undo()
            if isinstance(error, ToolError):
                return refusal(error.code, error.message)
            raise
        return Result(True, text)

    def written_by(self, name: str) -> set[tuple[str, str]]:
        """(table, key) of the records that the last call, of this tool, has written to."""
        home, _ = self.tools[name]
        state = self.servers[home].state
        names = {id(rows): table for table, rows in state.touched()} if state.journal else {}
        return {(f"{home}.{names[id(rows)]}", key) for rows, key, _ in state.journal if key is not None}

    def advance(self, **duration: float) -> None:
        """Let time pass (`advance(hours=2)`), and make happen what becomes due, each at its moment. Raises ValueError for time that
        runs backwards."""
        passed = timedelta(**duration)
        if passed < timedelta():
            raise ValueError(f"time cannot run backwards: advance({passed})")
        pass_until(self.servers.values(), self.clock, self.clock.now + passed)

    # --- copies

    def fork(self) -> "Session":
        """An independent copy, in time that does not depend on the size of the world."""
        return Session(self.worlds, self.snapshot(), self.tools, self.only)

    def snapshot(self) -> Snapshot:
        """The state now, to `restore` later."""
        return self.clock.now, [server.state.save() for server in self.servers.values()]

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this session, or of one on the same worlds."""
        self.clock.now, states = snapshot
        for server, saved in zip(self.servers.values(), states, strict=True):
            server.state.load(saved)

    # --- comparing

    def changes(self) -> dict[str, dict[str, Change]]:
        """What this session changed: `{"banking.accounts": {key: (before, after)}}`."""
        tables = ((f"{s}.{t}", rows.changes()) for s, server in self.servers.items() for t, rows in server.state.touched())
        return {name: cast("dict[str, Change]", changed) for name, changed in tables if changed}

    def diff(self, other: "Session") -> dict[str, dict[str, Change]]:
        """Where two sessions on the same worlds differ: (here, there) by table and key. Empty if they are equal."""
        out: dict[str, dict[str, Change]] = {}
        for name, server in self.servers.items():
            theirs = other.servers[name].state
            for table in sorted({t for state in (server.state, theirs) for t, _ in state.touched()}, key=list(server.state).index):
                rows, others = server.state[table], theirs[table]
                keys = sorted(rows.changes().keys() | others.changes().keys())
                pairs = {k: (rows.find(k), others.find(k)) for k in keys}
                differing = {k: pair for k, pair in pairs.items() if pair[0] != pair[1]}
                if differing:
                    out[f"{name}.{table}"] = differing
        return out

    def digest(self) -> str:
        """The exact state as 32 hex digits: worlds, time, every change, and the counters that mint ids."""
        content = [(name, self.worlds[name].digest, list(self._told(name))) for name in self.servers]
        return hashlib.blake2b(msgspec.msgpack.encode((self.clock.now, content)), digest_size=16).hexdigest()

    def _told(self, server: str) -> Iterator[tuple[str, int, list[tuple[str, Change]]]]:
        """Of each table in which something differs from the world: its name, its count of ids, its changes."""
        for name, rows in self.servers[server].state.touched():
            changes = list(rows.changes().items())
            if changes or rows.minted != self.worlds[server].fresh[name][1]:
                yield name, rows.minted, changes

    def outcome(self, servers: Collection[str] | None = None) -> str:
        """The state, of some servers or all, up to a renaming of the ids minted in this session: two sessions with the same
        outcome did the same deed, in whatever order they created things."""
        among = self.servers if servers is None else [name for name in self.servers if name in servers]
        return fingerprint({name: list(self.servers[name].state.touched()) for name in among})
