"""A conversation in the making over several servers: a live world of each, and one list of calls.

Each server has a draft of its own, as in `planning`: servers have nothing in common but the clock. What is called gets its place in
the one list, under the name that it has in the session of them all.
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any, NewType, TypeVar

import msgspec

from prove.records import GroundTruthCall, paths
from prove.servers.catalog import toolbox
from prove.servers.server import Server
from prove.servers.session import Session
from prove.synthesis.broad.speech import Voice
from prove.synthesis.language.phrases import phrasebook
from prove.synthesis.planning.planner import Draft, Named, Unplannable, name_record, resolve

T = TypeVar("T")


class Off(Exception):
    """It does not work here and now: something else may."""


class Scene:
    """Look with `look`, do with `do`; `fork` to try something."""

    def __init__(self, servers: tuple[str, ...], seed: int, voice: Voice) -> None:
        self.servers, self.seed, self.voice = servers, seed, voice
        self.drafts = {s: Draft(s, phrasebook(s), Session.open(s, seed)) for s in servers}
        self.names = {(home, tool.name): name for name, (home, tool) in toolbox(servers).items()}
        self.calls: list[GroundTruthCall] = []
        self.results: dict[str, Any] = {}
        self.made: list[tuple[str, str, dict[str, Any]]] = []  # (server, tool, arguments) of each call
        self.settled: dict[str, int] = {}  # server -> how many calls there were when its state last changed
        self.recent: dict[tuple[str, Any], str] = {}  # (server, id type) -> the one such record that the last query was about

    def fork(self) -> "Scene":
        """An independent copy."""
        copy = object.__new__(Scene)
        copy.__dict__ |= self.__dict__
        copy.drafts = {s: d.fork() for s, d in self.drafts.items()}
        copy.recent, copy.voice = {**self.recent}, self.voice.fork()
        copy.calls, copy.results, copy.made, copy.settled = [*self.calls], {**self.results}, [*self.made], {**self.settled}
        return copy

    def first(self, ways: Iterable[Callable[["Scene"], T]], otherwise: str) -> T:
        """What comes of the first way that works, each tried on a copy. Raises `Off` where none does, and leaves the scene as it was."""
        for way in ways:
            trial = self.fork()
            try:
                found = way(trial)
            except Off:
                continue
            self.__dict__ |= trial.__dict__
            return found
        raise Off(otherwise)

    def live(self, server: str) -> Server:
        """A server as it is now."""
        return self.drafts[server].live

    def advance(self, minutes: int) -> None:
        """Let time pass, on every server."""
        for server, draft in self.drafts.items():
            draft.session.advance(minutes=minutes)
            self.settled[server] = len(self.calls)

    def would(self, server: str, tool: str, arguments: dict[str, Any]) -> Any:
        """What a call would return; nothing is done. Raises `Off` where it would be refused."""
        result = self.drafts[server].session.fork().call(tool, arguments)
        if not result.ok:
            raise Off(result.text)
        return result.value

    def changes(self, server: str, tool: str, arguments: dict[str, Any]) -> None:
        """See that a call would succeed and leave something changed. Raises `Off`."""
        there = self.drafts[server].session.fork()
        if not there.call(tool, arguments).ok or there.outcome() == self.drafts[server].outcome():
            raise Off(f"{tool} would change nothing")

    def do(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        """Make a call; returns its id. Raises `Off` where it is refused."""
        result = self.drafts[server].call(tool, arguments)
        if not result.ok:
            raise Off(result.text)
        self._take_up(server)
        return self.calls[-1].id

    def look(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        """Make a read, unless it has been made and nothing has changed since; returns the id of the call that shows it."""
        since = self.settled.get(server, 0)
        for call, made in list(zip(self.calls, self.made, strict=True))[since:]:
            if made == (server, tool, arguments):
                return call.id
        return self.do(server, tool, arguments)

    def named(self, server: str, kind: NewType, key: str, rng: Random) -> Named:
        """How a user names a record. Raises `Off` where nothing tells it from its like."""
        if kind.__name__ not in self.drafts[server].book.mentions:
            raise Off(f"nobody speaks of {kind.__name__}")
        try:
            return name_record(self.drafts[server], kind, key, rng)
        except Unplannable as why:
            raise Off(str(why)) from None

    def find(self, server: str, kind: NewType, key: str, named: Named, rng: Random) -> None:
        """Make the look-ups that lead from those words to the record. Raises `Off` where none do."""
        try:
            resolve(self.drafts[server], kind, key, named, rng)
        except Unplannable as why:
            raise Off(str(why)) from None
        self._take_up(server)

    def shown(self, server: str, kind: Any, key: str, path: str, value: Any) -> str:
        """Where a value stands beside its record's key in what was read of such records since the state last changed
        ("c1: items.2.total"), or ""."""
        tools = type(self.live(server)).tools
        field = path.rpartition(".")[2]
        for i in range(self.settled.get(server, 0), len(self.calls)):
            (home, tool, _), call = self.made[i], self.calls[i].id
            if home == server and (tools[tool].subject is kind or (kind in tools[tool].produces and tools[tool].subject is None)):
                beside = {p.rpartition(".")[0] for p, v in paths(self.results[call]) if v == key}
                for where, found in paths(self.results[call]):
                    holder, _, name = where.rpartition(".")
                    if name == field and found == value and holder in beside:
                        return f"{call}: {where}"
        return ""

    def said(self, since: int) -> None:
        """A query has been answered by the calls since then: whatever single record of a kind they were about can be "that one"."""
        about: dict[tuple[str, Any], set[str]] = {}
        for server, tool, arguments in self.made[since:]:
            for p in (p for p in type(self.live(server)).tools[tool].parameters if p.id_type and p.name in arguments):
                about.setdefault((server, p.id_type), set()).add(arguments[p.name])
        self.recent = {kind: next(iter(keys)) for kind, keys in about.items() if len(keys) == 1}

    def _take_up(self, server: str) -> None:
        """What the server's draft has called joins the list."""
        draft, known = self.drafts[server], sum(home == server for home, *_ in self.made)
        tools = type(draft.live).tools
        for call, result in zip(draft.calls[known:], draft.results[known:], strict=True):
            name = f"c{len(self.calls) + 1}"
            self.calls.append(msgspec.structs.replace(call, id=name, name=self.names[server, call.name]))
            self.made.append((server, call.name, call.arguments))
            self.results[name] = result
            if tools[call.name].marks.writes:
                self.settled[server] = len(self.calls)
