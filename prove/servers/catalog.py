"""Finding servers: those of `prove.library`, and of the entry-point group `prove.servers`.

A domain is a package with `tools.py` (one `Server` class), `world.py` (`populate(server, make)`) and, for synthesis,
`phrases.toml`. `invariants.py` says what must hold after every call (`invariants(server)`) and what a past that the
domain's rules have made looks like (`past(server)`). Nothing lists them.
"""

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from prove.servers.errors import did_you_mean
from prove.servers.server import Server, World
from prove.servers.tools import Tool


class Domain(msgspec.Struct, frozen=True):
    """One server's package, loaded."""

    name: str
    server: type[Server]
    populate: Callable[[Any, Any], None]
    package: ModuleType

    @property
    def summary(self) -> str:
        """The first line of the server class's docstring."""
        return (self.server.__doc__ or "").strip().split("\n")[0]

    def phrases(self) -> dict[str, Any]:
        """How people ask, from `phrases.toml`. Raises FileNotFoundError where a domain has none."""
        return tomllib.loads((Path(self.package.__path__[0]) / "phrases.toml").read_text(encoding="utf-8"))

    def invariants(self, server: Server) -> Iterator[str]:
        """What is wrong with a state, one sentence each; nothing if the domain's rules hold."""
        yield from self._asked("invariants", server)

    def past(self, server: Server) -> Iterator[str]:
        """What in a state's past the domain's rules could not have made, one sentence each."""
        yield from self._asked("past", server)

    def _asked(self, question: str, server: Server) -> Iterator[str]:
        name = f"{self.package.__name__}.invariants"
        if find_spec(name):
            yield from getattr(importlib.import_module(name), question, lambda _: ())(server)


@cache
def packages() -> dict[str, str]:
    """Every server's name and the package it lives in, sorted by name."""
    library = importlib.import_module("prove.library")
    found = {m.name: f"{library.__name__}.{m.name}" for m in pkgutil.iter_modules(library.__path__) if m.ispkg}
    found |= {point.name: point.value for point in entry_points(group="prove.servers")}
    return dict(sorted(found.items()))


@cache
def load(name: str) -> Domain:
    """A domain by name. Raises LookupError for an unknown one, naming those there are."""
    if name not in packages():
        raise LookupError(f"there is no server {name!r}{did_you_mean(name, packages())}; there are: {', '.join(packages())}")
    package = importlib.import_module(packages()[name])
    for part in ("tools", "world"):
        if find_spec(f"{package.__name__}.{part}") is None:
            raise LookupError(f"{package.__name__} has no {part}.py: a server is made of tools.py and world.py")
    tools = importlib.import_module(f"{package.__name__}.tools")
    classes = [c for c in vars(tools).values() if isinstance(c, type) and issubclass(c, Server) and c.__module__ == tools.__name__]
    if len(classes) != 1:
        raise LookupError(f"{tools.__name__} must define exactly one Server class, found {len(classes)}")
    return Domain(name, classes[0], importlib.import_module(f"{package.__name__}.world").populate, package)


@cache
def toolbox(servers: tuple[str, ...]) -> dict[str, tuple[str, Tool]]:
    """The tools of several servers in one session, by the names under which they are called there: (server, tool).

    A tool keeps its bare name unless a server before it has one of the same name: then it is `server_tool`. Raises LookupError
    for an unknown server.
    """
    out: dict[str, tuple[str, Tool]] = {}
    for server in servers:
        for tool in load(server).server.tools.values():
            out[tool.name if tool.name not in out else f"{server}_{tool.name}"] = (server, tool)
    return out


def catalogue() -> list[str]:
    """The names of the servers of the library, hidden and held-out ones left out, sorted."""
    return [name for name in packages() if not (load(name).server.hidden or load(name).server.heldout)]


def heldout() -> list[str]:
    """The names of the servers that only measure: no training split has tasks on them, or their tools as distractors."""
    return [name for name in packages() if load(name).server.heldout]


def chosen(servers: str) -> list[str]:
    """The servers in a comma-separated text, all of the library for an empty one. Raises LookupError for an unknown one."""
    names = [s.strip() for s in servers.split(",") if s.strip()] or catalogue()
    return [load(name).name for name in names]


@lru_cache(maxsize=2048)  # all that a split of the library has: 16 ms to build one, and some 130 KB
def world_of(name: str, seed: int) -> World:
    """The world of (server, seed), built once and shared."""
    domain = load(name)
    return World(domain.server, seed, domain.populate)
