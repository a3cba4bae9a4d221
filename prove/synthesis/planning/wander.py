"""A caller guided by the schemas alone: the tool for laws, and for finding what depends on what."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import msgspec

from prove.servers.catalog import load
from prove.servers.errors import Code
from prove.servers.session import Result, Session
from prove.servers.tools import Tool
from prove.synthesis.planning.values import NoValue, draw


class Visit(msgspec.Struct, frozen=True):
    """One call of a wanderer."""

    tool: Tool
    arguments: dict[str, Any]
    result: Result
    time_passed: bool  # before the call


def arguments_for(session: Session, server: str, tool: Tool, rng: Random, values: dict[str, list[Any]]) -> dict[str, Any]:
    """Plausible arguments: every required one, and each optional one now and then. Raises `NoValue`."""
    live = session.servers[server]
    chosen = [p for p in tool.parameters if p.required or rng.random() < 0.35]
    return {p.name: draw(live, tool, p, rng, values) for p in chosen}


def wander(session: Session, server: str, calls: int, rng: Random, mistakes: float = 0.05) -> Iterator[Visit]:
    """Make `calls` calls on a session, tools that have not succeeded yet more often; some with a mistake in them.

    Now and then an hour or a day passes.
    """
    tools, values = list(session.servers[server].tools.values()), curated(server)
    succeeded: Counter[str] = Counter()
    time_passed = False
    for _ in range(calls):
        if rng.random() < 0.02:
            session.advance(hours=rng.choice((1, 4, 24, 72)))
            time_passed = True
        tool = min(rng.sample(tools, min(3, len(tools))), key=lambda t: succeeded[t.name])
        try:
            arguments = arguments_for(session, server, tool, rng, values)
        except NoValue:
            continue
        if rng.random() < mistakes:
            arguments = with_mistake(arguments, rng)
        result = session.call(tool.name, arguments)
        succeeded[tool.name] += result.ok
        yield Visit(tool, arguments, result, time_passed)
        time_passed = False


def with_mistake(arguments: dict[str, Any], rng: Random) -> dict[str, Any]:
    """The arguments with one thing wrong: one missing, one of another type, one too many, a date at the end of the
    calendar, or an id that nobody has."""
    if not arguments or rng.random() < 0.2:
        return {**arguments, "colour": "blue"}
    name = rng.choice(list(arguments))
    kind = rng.randrange(3)
    if kind == 0:
        return {k: v for k, v in arguments.items() if k != name}
    if kind == 1 and re.match(r"\d{4}-\d\d", str(arguments[name])):
        return {**arguments, name: rng.choice(("9999", "0001")) + str(arguments[name])[4:]}  # where date arithmetic ends
    return {**arguments, name: {"nested": True} if kind == 1 else "XXX-0"}


@cache
def refusing(server: str, *codes: Code) -> frozenset[str]:
    """The writes in whose way the state of a world can stand: they have refused, with such a code, arguments that were fine."""
    return frozenset(name for name, code in _refusals(server) if code in codes)


@cache
def _refusals(server: str) -> set[tuple[str, Code | None]]:
    """Which writes a wanderer without mistakes sees refused, and how."""
    session, calls = Session.open(server, 0), 25 * len(load(server).server.tools)
    visits = wander(session, server, calls, Random(server), mistakes=0)
    return {(v.tool.name, v.result.code) for v in visits if v.tool.marks.writes}


@cache
def curated(server: str) -> dict[str, list[Any]]:
    """A domain's curated values by type name; none where it has no phrases."""
    try:
        return load(server).phrases().get("values", {})
    except FileNotFoundError:
        return {}
