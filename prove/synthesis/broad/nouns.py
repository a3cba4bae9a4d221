"""Records and values as people speak of them: by name, by rank ("my most expensive order"), as something that a read tells."""

from random import Random
from typing import Any, NewType

import msgspec

from prove.records import Answer, Working
from prove.servers.schema import bare, is_id, without_none
from prove.servers.tools import Parameter
from prove.synthesis.broad.book import Deed, Fact, Listing, hint_of, key_field, listed_fields, listings_of, parameter, tool_of
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.language.phrases import Template, phrasebook, value_at
from prove.synthesis.language.saying import say
from prove.synthesis.planning.planner import Named
from prove.synthesis.planning.values import NoValue, draw, name_of, table_of
from prove.synthesis.planning.working import compute

_RANKED = ("{whose} {best} {one}", "the {best} of {whose} {many}", "the {best} one of {whose} {many}")
_LAST = (20, 25, 30, 40, 50)  # "of my last 40 transactions"
_AGAIN = 0.7  # chance that a record that was spoken of just before is spoken of again
_TRIES = 8


class Ranked(msgspec.Struct, frozen=True):
    """A record that a list shows to be the largest or the smallest by one of its fields."""

    listing: Listing
    field: str
    how: str
    among: int = 0  # of how many at most; 0 for all
    label: str = ""  # what the assistant calls it, by what the list shows


class Reference(msgspec.Struct, frozen=True):
    """A record, and how the user speaks of it."""

    server: str
    kind: Any
    key: str
    text: str
    by: Named | Ranked | None  # None: it was spoken of just before, and is "that one" now

    def find(self, scene: Scene, rng: Random) -> list[Working]:
        """Make the look-ups that lead to it; what is to be worked out of them. Raises `Off`."""
        if self.by is None:
            return []
        if isinstance(self.by, Named):
            scene.find(self.server, self.kind, self.key, self.by, rng)
            return []
        it, among = self.by.listing, self.by.among
        call = scene.look(self.server, it.tool, arguments_of(it, among))
        given = [among] if among else []
        return [Working(self.by.how, [f"{call}: {it.rows}.{self.by.field}"], self.key, given, f"{it.rows}.{key_field(it)}")]


def arguments_of(it: Listing, among: int = 0) -> dict[str, Any]:
    """The arguments with which a list is read."""
    return it.given | ({"limit": among} if among else {})


def by_name(scene: Scene, server: str, kind: NewType, key: str, rng: Random) -> Reference:
    """A record by its name. Raises `Off`."""
    named = scene.named(server, kind, key, rng)
    return Reference(server, kind, key, named.text, named)


def by_rank(scene: Scene, server: str, kind: Any, rng: Random, only: Listing | None = None, widest: bool = False) -> Reference:
    """A record that is the largest or smallest of a list, with `widest` of as much of it as can be read. Raises `Off` where no list
    has just one such."""
    among = [only] if only else listings_of(server, kind)
    ways = [(it, field, how) for it in among for field in it.best for how in ("largest", "smallest")]
    for it, field, how in rng.sample(ways, len(ways)):
        result, last = _page(scene, it, rng, widest)
        rows = value_at(result, it.rows)
        if len(rows) < 3:
            continue
        working = Working(how, [f"x: {it.rows}.{field}"], None, [last] if last else [], f"{it.rows}.{key_field(it)}")
        try:
            key = compute(working, {"x": result})
        except ValueError:
            continue
        row = next(r for r in rows if r[key_field(it)] == key)
        if it.newest and how == "largest" and row is rows[0] and isinstance(row[field], str):
            continue  # the latest is simply the first
        best = rng.choice(it.best[field][how == "smallest"].split("|"))
        form = "the {best} of {whose} last {last} {many}" if last else rng.choice(_RANKED if it.one else _RANKED[1:2])
        text = " ".join(form.format(best=best, whose=it.whose, one=it.one, many=it.many, last=last).split())
        return Reference(server, kind, key, text, Ranked(it, field, how, last, labelled(scene, it, row)))
    raise Off(f"no one {kind} is the largest of its like")


def _page(scene: Scene, it: Listing, rng: Random, widest: bool = False) -> tuple[Any, int]:
    """What a list shows, and of how many at most; 0 where that is all there is. Raises `Off` where it cannot be read whole."""
    result = scene.would(it.server, it.tool, arguments_of(it))
    rows = value_at(result, it.rows)
    holder = value_at(result, it.rows.rpartition(".")[0]) if "." in it.rows else result
    if holder.get("total", len(rows)) == len(rows):
        return result, 0
    fitting = [n for n in _LAST if n < holder["total"]]
    if not it.newest or not fitting:
        raise Off(f"{it.tool} shows a page only")
    last = fitting[-1] if widest else rng.choice(fitting)
    return scene.would(it.server, it.tool, arguments_of(it, last)), last


def listed(scene: Scene, it: Listing, rng: Random) -> tuple[list[dict[str, Any]], int]:
    """The rows of a list, and of how many at most; 0 for all. Raises `Off`."""
    result, last = _page(scene, it, rng)
    rows: list[dict[str, Any]] = value_at(result, it.rows)
    return rows, last


def labelled(scene: Scene, it: Listing, row: dict[str, Any]) -> str:
    """What the assistant calls a listed record. Raises `Off` where the list does not show enough of it."""
    live, hints = scene.live(it.server), listed_fields(it)

    def word(slot: str, _: str) -> str:
        if row[slot] is None:
            raise Off(f"{slot} of {row} is not there")
        words = phrasebook(it.server).words_for(name_of(type(live), hints[slot]), slot)
        return say(without_none(hints[slot]), row[slot], live.today, None, words)

    return it.label.fill(word)


# --- arguments


class Said(msgspec.Struct, frozen=True):
    """An argument: its value, the user's words for it, the assistant's, and the record that it names."""

    value: Any
    words: str
    told: str
    reference: Reference | None = None


def argument(scene: Scene, server: str, p: Parameter, tool: Any, rng: Random, so_far: dict[str, Any], rank: float) -> Said:
    """A value for one argument; a record is spoken of by rank now and then. Raises `Off`."""
    live, book = scene.live(server), phrasebook(server)
    if p.id_type is not None:
        reference = _reference(scene, server, p, tool, rng, rank)
        told = reference.by.label if isinstance(reference.by, Ranked) else yours(reference.text)
        return Said(reference.key, reference.text, told, reference)
    try:
        value = draw(live, tool, p, rng, book.values, so_far)
    except NoValue as why:
        raise Off(str(why)) from None
    words, hint = book.words_for(name_of(type(live), p.hint), p.name), without_none(p.hint)
    return Said(value, say(hint, value, live.today, rng, words), say(hint, value, live.today, None, words))


def _reference(scene: Scene, server: str, p: Parameter, tool: Any, rng: Random, rank: float) -> Reference:
    recent, words = scene.recent.get((server, p.id_type)), phrasebook(server).mentions
    again = words[p.id_type.__name__].again if p.id_type and p.id_type.__name__ in words else ()
    alone = sum(other.id_type is p.id_type for other in tool.parameters) == 1  # else it could be either
    if recent and again and alone and rng.random() < _AGAIN and recent in _there(scene, server, p.id_type):
        return Reference(server, p.id_type, recent, rng.choice(again), None)
    if rng.random() < rank:
        try:
            return by_rank(scene, server, p.id_type, rng)
        except Off:
            pass
    try:
        key = draw(scene.live(server), tool, p, rng, phrasebook(server).values)
    except NoValue as why:
        raise Off(str(why)) from None
    return by_name(scene, server, p.id_type, key, rng)  # type: ignore[arg-type]


def _there(scene: Scene, server: str, kind: Any) -> Any:
    """The records of a kind that there are."""
    table = table_of(type(scene.live(server)), kind)
    return scene.live(server).state[table] if table else ()


class Filled(msgspec.Struct, frozen=True):
    """A fact or a deed with all its arguments."""

    it: Fact | Deed
    template: Template
    said: dict[str, Said]
    worked: str = ""  # the argument that has to be worked out

    @property
    def arguments(self) -> dict[str, Any]:
        return self.it.given | {name: one.value for name, one in self.said.items()}

    @property
    def text(self) -> str:
        """What the user says. Of what has to be worked out nothing is quoted."""
        plain = tuple((text.replace(f'"{{{slot}}}"', f"{{{slot}}}"), may) for text, may in self.template.parts for slot in [self.worked])
        return Template(plain).fill(lambda slot, _: self.said[slot].words, lambda slot: slot in self.said)

    def told(self, template: Template) -> str:
        """A text in the assistant's words."""
        return template.fill(lambda slot, _: self.said[slot].told, lambda slot: slot in self.said)

    def find(self, scene: Scene, rng: Random) -> list[Working]:
        """The look-ups for the records that it names. Raises `Off`."""
        return [w for one in self.said.values() if one.reference for w in one.reference.find(scene, rng)]


def fill(
    scene: Scene, it: Fact | Deed, rng: Random, known: dict[str, Said] | None = None, rank: float = 0.5, optional: float = 0.4
) -> Filled:
    """Choose a phrase and arguments with which the call succeeds now. `known` are arguments that are settled already, `rank` and
    `optional` the chances of a superlative and of each optional argument. Raises `Off` where none is found."""
    tool, known = tool_of(it), known or {}
    for _ in range(_TRIES):
        template = rng.choice(it.say)
        slots, droppable = set(template.slots(droppable=False)) | known.keys(), template.slots(droppable=True)
        chosen = slots | {slot for slot in droppable if rng.random() < optional}
        said: dict[str, Said] = {}
        try:
            for p in (p for p in tool.parameters if p.name in chosen):
                so_far = {n: s.value for n, s in said.items()}
                said[p.name] = known[p.name] if p.name in known else argument(scene, it.server, p, tool, rng, so_far, rank)
            filled = Filled(it, template, said)
            scene.would(it.server, it.tool, filled.arguments)
        except Off:
            continue
        if len({s.reference.key for s in said.values() if s.reference}) == sum(s.reference is not None for s in said.values()):
            return filled
    raise Off(f"{it.tool} finds nothing to do")


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
        return in_words(scene, self.server, hint_of(self.fact), self.fact.path, self.value)

    def told(self, scene: Scene) -> str:
        """A sentence that tells it, without the full stop."""
        return f"{yours(self.filled.told(self.filled.template))} is {self.words(scene)}"


class Row(msgspec.Struct, frozen=True):
    """What a list shows of a record in one of its fields."""

    listing: Listing
    field: str
    reference: Reference
    value: Any

    @property
    def kind(self) -> str:
        return self.listing.tells[self.field][0]

    @property
    def server(self) -> str:
        return self.listing.server

    @property
    def text(self) -> str:
        """What the user calls it."""
        return self.listing.tells[self.field][1].replace("{it}", self.reference.text)

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
        return in_words(scene, self.server, listed_fields(self.listing)[self.field], self.field, self.value)

    def told(self, scene: Scene) -> str:
        """A sentence that tells it, without the full stop."""
        by, words = self.reference.by, self.words(scene)
        it = by.label if isinstance(by, Ranked) and words not in by.label else yours(self.reference.text)
        return f"{yours(self.listing.tells[self.field][1]).replace('{it}', it)} is {words}"


def know(scene: Scene, it: Fact | tuple[Listing, str], rng: Random, rank: float = 0.65) -> Known | Row:
    """Something that can be known of some record, and has a value now. Raises `Off`."""
    if not isinstance(it, Fact):
        return _row(scene, *it, rng)
    filled = fill(scene, it, rng, rank=rank)
    return Known(filled, _of_use(value_at(scene.would(it.server, it.tool, filled.arguments), it.path)))


def _row(scene: Scene, it: Listing, field: str, rng: Random) -> Row:
    rows, _ = listed(scene, it, rng)
    if not rows:
        raise Off(f"{it.tool} lists nothing")
    kind = listed_fields(it)[key_field(it)]
    if it.best and rng.random() < 0.6:
        reference = by_rank(scene, it.server, kind, rng, it)
    else:
        reference = by_name(scene, it.server, kind, rng.choice(rows)[key_field(it)], rng)
    value = next((r[field] for r in rows if r[key_field(it)] == reference.key), None)
    return Row(it, field, reference, _of_use(value))


def _of_use(value: Any) -> Any:
    if value in (None, "", []) or isinstance(value, list | bool) or (isinstance(value, int | float) and value < 0):
        raise Off(f"{value!r} is nothing to speak of")
    return value


def in_words(scene: Scene, server: str, hint: Any, path: str, value: Any) -> str:
    """A value of that type in words."""
    live, hint = scene.live(server), without_none(hint)
    words = phrasebook(server).words_for(name_of(type(live), hint), path.rpartition(".")[2])
    return say(hint, value, live.today, None, words)


def takes_id(deed: Deed, name: str) -> bool:
    """Whether an argument names a record."""
    return is_id(bare(parameter(deed, name).hint))


_YOURS = {"my": "your", "My": "Your", "our": "your", "Our": "Your", "I": "you", "me": "you", "I'm": "you're", "mine": "yours"}


def yours(text: str) -> str:
    """A noun phrase of the user's in the assistant's mouth: my becomes your. What is quoted stays as it is."""
    parts = text.split('"')
    return '"'.join(part if i % 2 else " ".join(_YOURS.get(word, word) for word in part.split(" ")) for i, part in enumerate(parts))
