"""Values as people speak of them: as something that a read tells, or that a list shows of one of its records."""

import re
from random import Random
from typing import Any

import msgspec

from prove.records import Answer, Working
from prove.servers.schema import without_none
from prove.synthesis.broad.book import Fact, Listing, hint_of, key_field, listed_fields, one_of
from prove.synthesis.broad.filling import Filled, fill
from prove.synthesis.broad.naming import Ranked, Reference, by_name, by_rank, listed, yours
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.language.phrases import phrasebook, value_at
from prove.synthesis.language.saying import say
from prove.synthesis.language.zones import zone_of
from prove.synthesis.planning.values import name_of

_UNITS = ("minutes", "kilometres", "km", "metres", "liters", "bytes", "calories", "percent", "words", "lines")


def answered(place: str, value: Any) -> Answer:
    """That the user is told a value, which stands there."""
    call, _, path = place.partition(": ")
    return Answer(call, path, value)


class Known(msgspec.Struct, frozen=True):
    """A fact that is about to be read: how the user speaks of it, and what it will tell."""

    filled: Filled
    value: Any

    @property
    def fact(self) -> Fact:
        fact = self.filled.it
        assert isinstance(fact, Fact)
        return fact

    @property
    def kind(self) -> str:
        return self.fact.kind

    @property
    def server(self) -> str:
        return self.fact.server

    @property
    def about(self) -> Fact:
        return self.fact

    @property
    def references(self) -> list[Reference]:
        return self.filled.references

    @property
    def text(self) -> str:
        """What the user calls it."""
        return self.filled.text

    def find(self, scene: Scene, rng: Random) -> list[Working]:
        """The look-ups for the records that it is about. Raises `Off`."""
        return self.filled.find(scene, rng)

    def read(self, scene: Scene, workings: list[Working]) -> tuple[str, list[Working]]:
        """Make the call that shows it, unless what was found has shown it; returns where it stands ("c2: balance"), and the workings
        with the calls that hinge on them. Raises `Off`."""
        fact, arguments = self.fact, self.filled.arguments
        keys = [s.value for s in self.filled.said.values() if s.reference]
        kind = next((s.reference.kind for s in self.filled.said.values() if s.reference), None)
        place = scene.shown(fact.server, kind, keys[0], fact.path, self.value) if len(keys) == 1 and len(arguments) == 1 else ""
        if not place:
            call = scene.look(fact.server, fact.tool, arguments)
            place = f"{call}: {fact.path}"
            workings = [msgspec.structs.replace(w, calls=[call]) for w in workings]
        return place, workings

    def words(self, scene: Scene) -> str:
        """What it tells, in words."""
        return in_words(scene, self.server, hint_of(self.fact), self.fact.path, self.value, self.filled.arguments)

    def told(self, scene: Scene) -> str:
        """A sentence that tells it, without the full stop."""
        return _is(yours(self.filled.told(self.filled.template)), self.words(scene))


class Row(msgspec.Struct, frozen=True):
    """What a list shows of a record in one of its fields."""

    listing: Listing
    field: str
    reference: Reference
    value: Any
    phrase: str  # for it, with {it} in it, the record

    @property
    def kind(self) -> str:
        return self.listing.tells[self.field][0]

    @property
    def server(self) -> str:
        return self.listing.server

    @property
    def about(self) -> Listing:
        return self.listing

    @property
    def references(self) -> list[Reference]:
        return [self.reference]

    @property
    def text(self) -> str:
        """What the user calls it."""
        return self.phrase.replace("{it}", self.reference.text)

    def find(self, scene: Scene, rng: Random) -> list[Working]:
        """As `Known.find`."""
        return self.reference.find(scene, rng)

    def read(self, scene: Scene, workings: list[Working]) -> tuple[str, list[Working]]:
        """As `Known.read`. Raises `Off` where no list has shown it."""
        place = scene.shown(self.server, self.reference.kind, self.reference.key, self.field, self.value)
        if not place:
            raise Off(f"nothing has shown {self.field} of {self.reference.key}")
        return place, workings

    def words(self, scene: Scene) -> str:
        """What it tells, in words."""
        return in_words(scene, self.server, listed_fields(self.listing)[self.field], self.field, self.value, {"": self.reference.key})

    def told(self, scene: Scene) -> str:
        """A sentence that tells it, without the full stop."""
        by, words = self.reference.by, self.words(scene)
        it = by.label if isinstance(by, Ranked) and words not in by.label else yours(self.reference.text)
        return _is(yours(self.phrase).replace("{it}", it), words)


def know(scene: Scene, it: Fact | tuple[Listing, str], rng: Random, rank: float = 0.45) -> Known | Row:
    """Something that can be known of some record, and has a value now that its name does not say. Raises `Off`."""
    known = _known(scene, it, rng, rank) if isinstance(it, Fact) else _row(scene, *it, rng)
    if known.words(scene).casefold() in known.text.casefold():
        raise Off(f"{known.text!r} says it already")
    return known


def _known(scene: Scene, it: Fact, rng: Random, rank: float) -> Known:
    filled = fill(scene, it, rng, rank=rank)
    return Known(filled, _of_use(value_at(scene.would(it.server, it.tool, filled.arguments), it.path)))


def _row(scene: Scene, it: Listing, field: str, rng: Random) -> Row:
    rows, _ = listed(scene, it, rng)
    if not rows:
        raise Off(f"{it.tool} lists nothing")
    kind = listed_fields(it)[key_field(it)]
    if it.best and rng.random() < 0.5:
        reference = by_rank(scene, it.server, kind, rng, it)
    else:
        reference = by_name(scene, it.server, kind, rng.choice(rows)[key_field(it)], rng)
    value = next((r[field] for r in rows if r[key_field(it)] == reference.key), None)
    return Row(it, field, reference, _of_use(value), one_of(it.tells[field][1], rng))


def _is(what: str, words: str) -> str:
    """That something is so; its unit is told with the value."""
    measured = re.fullmatch(rf"(.*?),? in ({'|'.join(_UNITS)})", what)
    if not measured:
        return f"{what} is {words}"
    return f"{measured[1]} is {words} {measured[2] if words != '1' else measured[2].removesuffix('s')}"


def _of_use(value: Any) -> Any:
    if value in (None, "", []) or isinstance(value, list | bool) or (isinstance(value, int | float) and value < 0):
        raise Off(f"{value!r} is nothing to speak of")
    return value


def in_words(scene: Scene, server: str, hint: Any, path: str, value: Any, about: dict[str, Any]) -> str:
    """A value of that type in words; a time in the zone of what it is about."""
    live, hint = scene.live(server), without_none(hint)
    words = phrasebook(server).words_for(name_of(type(live), hint), path.rpartition(".")[2])
    return say(hint, value, live.today, None, words, zone=zone_of(live, about))


def apart(*parts: "Filled | Known | Row") -> None:
    """Raise `Off` where one part of a query speaks of "that one" and another of a different record of the same kind."""
    named = [r for part in parts for r in part.references]
    for one in (r for r in named if r.by is None):
        if any((r.server, r.kind) == (one.server, one.kind) and r.key != one.key for r in named):
            raise Off(f"{one.text!r} could be another")
