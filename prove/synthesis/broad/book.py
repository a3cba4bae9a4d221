"""What a domain says of itself in `broad.toml`: what can be known there, which lists there are, what can be done, and why people ask.

Everything is a part of a sentence, so that it can be put together: a fact and a list are noun phrases, a deed is a clause in the
imperative. `{slots}` are the tool's arguments; a part in [brackets] holds an optional one.
"""

import tomllib
from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from prove.servers.catalog import catalogue, load
from prove.servers.schema import bare
from prove.servers.tools import Parameter, Tool
from prove.synthesis.language.phrases import Template, paths_of, phrasebook
from prove.synthesis.language.saying import is_money
from prove.synthesis.planning.working import SAID

_MORE = 5  # times that something about what was spoken of just before is likelier than anything else

Kind = str  # of value: those of `MONEY`, "day", "email", "person", "title", "text", "place", "number", "state"
#: What amounts are: the price of something, what there is to spend, what something is worth, what a share trades at, the most allowed.
MONEY = ("cost", "at hand", "worth", "quote", "bound")


class Fact(msgspec.Struct, frozen=True):
    """Something that one read tells: `say` are noun phrases for it; `over` and `under` sentences that hold it against {n}."""

    server: str
    tool: str
    path: str
    kind: Kind
    say: tuple[Template, ...]
    over: tuple[Template, ...] = ()
    under: tuple[Template, ...] = ()
    given: dict[str, Any] = {}  # arguments that the phrase itself stands for


class Listing(msgspec.Struct, frozen=True):
    """A list that one read gives: "my next appointment" is `whose`, an adjective and `one`; `many` are several of them. Words that can
    stand for each other are parted by "|"."""

    server: str
    tool: str
    whose: str
    one: str
    many: str
    label: Template  # how the assistant names one, by what the list shows of it
    best: dict[str, tuple[str, str]] = {}  # field -> what the largest and the smallest is called
    that: dict[str, tuple[str, str]] = {}  # field -> which ones are meant: those over {n}, those under {n}
    tells: dict[str, tuple[Kind, str]] = {}  # field -> the kind of value, and a noun phrase for it with {it}, a record
    given: dict[str, Any] = {}
    rows: str = "items"
    newest: bool = False  # whether it comes newest first, so that one can speak of the last so many


class Mend(msgspec.Struct, frozen=True):
    """How what was just made is put right: the tool, which of its arguments names it, which one is changed, and what people say."""

    tool: str
    id: str
    change: str
    say: tuple[Template, ...]


class Deed(msgspec.Struct, frozen=True):
    """Something that a write does: `say` are clauses in the imperative, `did` one in the past ("moved {amount} to ...")."""

    server: str
    tool: str
    say: tuple[Template, ...]
    did: Template
    takes: dict[str, tuple[Kind, ...]] = {}  # argument -> the kinds of value that can be worked out for it
    mend: Mend | None = None
    given: dict[str, Any] = {}
    each: bool = False  # whether it makes sense for several records at once


class Book(msgspec.Struct, frozen=True):
    """A domain's `broad.toml`."""

    server: str
    why: tuple[str, ...]
    facts: tuple[Fact, ...]
    listings: tuple[Listing, ...]
    deeds: tuple[Deed, ...]


@cache
def book(server: str) -> Book:
    """What a server says of itself; nothing where it has no `broad.toml`. Raises LookupError with the first problem of a broken one."""
    path = Path(load(server).package.__path__[0]) / "broad.toml"
    raw = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    it = Book(
        server,
        tuple(raw.get("why", ())),
        tuple(_made(Fact, server, one) for one in raw.get("fact", ())),
        tuple(_made(Listing, server, one) for one in raw.get("list", ())),
        tuple(_made(Deed, server, one) for one in raw.get("do", ())),
    )
    for problem in problems(it):
        raise LookupError(f"{path}: {problem}")
    return it


@cache
def with_a_book() -> tuple[str, ...]:
    """The servers of the library that have one."""
    return tuple(server for server in catalogue() if book(server).deeds)


def _made(kind: Any, server: str, raw: dict[str, Any]) -> Any:
    return msgspec.convert({"server": server, **_parsed(raw)}, kind)


def _parsed(raw: dict[str, Any]) -> dict[str, Any]:
    """The same with each text that has slots as a template."""
    out = dict(raw)
    for name in raw.keys() & {"say", "over", "under"}:
        out[name] = [Template.parse(text) for text in raw[name]]
    for name in raw.keys() & {"label", "did"}:
        out[name] = Template.parse(raw[name])
    return out | ({"mend": _parsed(raw["mend"])} if "mend" in raw else {})


def ways(deed: Deed) -> list[Template]:
    """What people say for a deed: its own clauses and, where its tool is used for one thing only, those of the domain's phrasebook that
    say as much."""
    asks = phrasebook(deed.server).asks.get(deed.tool, ())
    clauses = asks[0].clauses if len(asks) == 1 and not deed.given else ()
    needed = {p.name for p in tool_of(deed).parameters if p.required} | {*deed.takes, *deed.did.slots(droppable=False)}
    return [*deed.say, *(t for t in clauses if t.form == "do" and needed <= set(t.slots(droppable=False)))]


def tool_of(it: Fact | Listing | Deed) -> Tool:
    """The tool that tells it or does it."""
    return load(it.server).server.tools[it.tool]


def parameter(it: Fact | Listing | Deed, name: str) -> Parameter:
    """One of its tool's parameters."""
    return next(p for p in tool_of(it).parameters if p.name == name)


@cache
def _weight(deed: tuple[str, str]) -> float:
    """How often a deed is wished for: less for each text that has to be dictated, more for amounts, days and times."""
    needed = [p for p in load(deed[0]).server.tools[deed[1]].parameters if p.required]
    dictated = sum(bare(p.hint) is str and not p.secret for p in needed)
    return float(0.08**dictated * (4 if any(is_money(p.hint) or bare(p.hint) in (date, datetime) for p in needed) else 1))


def any_of(deeds: Sequence[Deed], rng: Random, recent: Collection[tuple[str, Any]] = ()) -> Deed:
    """One of some deeds, those rather for which little has to be dictated, in which values are said otherwise than they are sent, or
    which are about what was spoken of just before (`recent`, (server, id type)). Raises IndexError where there are none."""
    weights = [_weight((d.server, d.tool)) * (_MORE if _about(d, recent) else 1) for d in deeds]
    return rng.choices(deeds, weights)[0]


def _about(it: Fact | Deed, recent: Collection[tuple[str, Any]]) -> bool:
    return any((it.server, p.id_type) in recent for p in tool_of(it).parameters if p.id_type)


def any_fact(known: Sequence[Fact | tuple[Listing, str]], rng: Random, recent: Collection[tuple[str, Any]] = ()) -> Any:
    """One of some things to know, those rather that are about what was spoken of just before. Raises IndexError where there are
    none."""
    weights = [(_MORE if _about(it, recent) else 1) if isinstance(it, Fact) else 0.4 if it[0].given else 1 for it in known]
    return rng.choices(known, weights)[0]


def one_of(words: str, rng: Random) -> str:
    """One of the words that can stand for each other."""
    return rng.choice(words.split("|"))


def key_field(it: Listing) -> str:
    """The field of a listed record that is its id."""
    return next(iter(listed_fields(it)))


def listed_fields(it: Listing) -> dict[str, Any]:
    """The fields that a list shows of each record, with their hints."""
    hints = paths_of(tool_of(it).returns)
    prefix = f"{it.rows}."
    inner = {path.removeprefix(prefix): hint for path, hint in hints.items() if path.startswith(prefix)}
    return {name: hint for name, hint in inner.items() if "." not in name}


def hint_of(it: Fact) -> Any:
    """The type of what it tells."""
    return paths_of(tool_of(it).returns)[it.path]


def facts(kinds: tuple[Kind, ...], servers: tuple[str, ...]) -> list[Fact | tuple[Listing, str]]:
    """What can be known of some kinds at some servers: what a read tells, and what a list shows in a field."""
    told: list[Fact | tuple[Listing, str]] = [fact for server in servers for fact in book(server).facts if fact.kind in kinds]
    shown = ((it, field) for server in servers for it in book(server).listings for field, (kind, _) in it.tells.items() if kind in kinds)
    return [*told, *shown]


def listings_of(server: str, id_type: Any) -> list[Listing]:
    """The lists of records of that kind."""
    return [it for it in book(server).listings if listed_fields(it)[key_field(it)] == id_type]


# --- what is wrong with one


def problems(it: Book) -> Iterator[str]:
    """What is wrong with a domain's book, one sentence each."""
    tools = load(it.server).server.tools
    parts: list[Fact | Listing | Deed] = [*it.facts, *it.listings, *it.deeds]
    for part in parts:
        if part.tool not in tools:
            yield f"there is no tool {part.tool!r}"
            return
        if unknown := set(part.given) - {p.name for p in tools[part.tool].parameters}:
            yield f"{part.tool} has no {', '.join(sorted(unknown))}"
    for fact in it.facts:
        yield from _unfit(fact, fact.say)
        if fact.path not in paths_of(tool_of(fact).returns):
            yield f"{fact.tool} tells no {fact.path!r}"
    for listing in it.listings:
        fields = listed_fields(listing)
        if unknown := {*listing.best, *listing.that, *listing.tells, *listing.label.slots()} - fields.keys():
            yield f"{listing.tool} lists no {', '.join(sorted(unknown))}"
        for most, least in listing.best.values():
            if not all(_says(how, word) for how, words in (("largest", most), ("smallest", least)) for word in words.split("|")):
                yield f"{listing.tool}: {most!r} and {least!r} must hold a word for the largest and the smallest (planning/working.py)"
    for deed in it.deeds:
        yield from _unfit(deed, (*deed.say, deed.did))
        if unknown := {*deed.takes} - {s for t in deed.say for s in t.slots()}:
            yield f"{deed.tool}: nothing is said of {', '.join(sorted(unknown))}"


def _unfit(it: Fact | Deed, templates: tuple[Template, ...]) -> Iterator[str]:
    tool = tool_of(it)
    names, required = {p.name for p in tool.parameters}, {p.name for p in tool.parameters if p.required} - it.given.keys()
    for template in templates:
        if unknown := set(template.slots()) - names:
            yield f"{it.tool} has no {', '.join(sorted(unknown))}"
    for template in it.say:
        if missing := required - set(template.slots()):
            yield f"{it.tool}: {', '.join(sorted(missing))} must be in every phrase"


def _says(how: str, words: str) -> bool:
    return any(f" {way} " in f" {words} " for way in SAID[how])
