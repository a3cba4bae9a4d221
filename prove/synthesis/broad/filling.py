"""Facts and deeds with their arguments, in the user's words and the assistant's."""

import re
from random import Random
from typing import Any

import msgspec

from prove.records import Working
from prove.servers.schema import without_none
from prove.servers.tools import Parameter
from prove.synthesis.broad.book import Deed, Fact, tool_of, ways
from prove.synthesis.broad.naming import Ranked, Reference, by_name, by_rank, yours
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.language.phrases import Template, phrasebook
from prove.synthesis.language.saying import say
from prove.synthesis.language.zones import zone_of
from prove.synthesis.planning.values import NoValue, draw, name_of, table_of

_AGAIN = 0.85  # chance that a record that was spoken of just before is spoken of again
_TRIES = 8


class Said(msgspec.Struct, frozen=True):
    """An argument: its value, the user's words for it, the assistant's, and the record that it names."""

    value: Any
    words: str
    told: str
    reference: Reference | None = None


def argument(scene: Scene, server: str, p: Parameter, tool: Any, rng: Random, so_far: dict[str, Any], rank: float, unit: str = "") -> Said:
    """A value for one argument, with its unit; a record is spoken of by rank now and then. Raises `Off`."""
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
    zone = zone_of(live, so_far)
    said, told = (say(hint, value, live.today, how, words, unit, zone) for how in (rng, None))
    return Said(value, said, told)


def _reference(scene: Scene, server: str, p: Parameter, tool: Any, rng: Random, rank: float) -> Reference:
    recent, words = scene.recent.get((server, p.id_type)), phrasebook(server).mentions
    again = words[p.id_type.__name__].again if p.id_type and p.id_type.__name__ in words else ()
    alone = sum(other.id_type is p.id_type for other in tool.parameters) == 1  # else it could be either
    if recent and again and alone and rng.random() < _AGAIN and recent in _there(scene, server, p.id_type):
        return Reference(server, p.id_type, recent, rng.choice(again), None)
    if rng.random() < rank:
        try:
            return by_rank(scene, server, p.id_type, rng, whole=True)
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
        text = Template(plain).fill(lambda slot, _: self.said[slot].words, lambda slot: slot in self.said)
        return re.sub(r"\bthe (\w+) that \1\b", r"that \1", text)  # "with the address that address"

    def told(self, template: Template) -> str:
        """A text in the assistant's words."""
        return template.fill(lambda slot, _: self.said[slot].told, lambda slot: slot in self.said)

    @property
    def references(self) -> list[Reference]:
        """The records that it names."""
        return [one.reference for one in self.said.values() if one.reference]

    def find(self, scene: Scene, rng: Random) -> list[Working]:
        """The look-ups for the records that it names. Raises `Off`."""
        return [w for reference in self.references for w in reference.find(scene, rng)]


def fill(
    scene: Scene, it: Fact | Deed, rng: Random, known: dict[str, Said] | None = None, rank: float = 0.4, optional: float = 0.25
) -> Filled:
    """Choose a phrase and arguments with which the call succeeds now. `known` are arguments that are settled already, `rank` and
    `optional` the chances of a superlative and of each optional argument. Raises `Off` where none is found."""
    tool, known = tool_of(it), known or {}
    for _ in range(_TRIES):
        template = rng.choice(ways(it) if isinstance(it, Deed) else it.say)
        slots, droppable = set(template.slots(droppable=False)) | known.keys(), template.slots(droppable=True)
        chosen = slots | {slot for slot in droppable if rng.random() < optional}
        said: dict[str, Said] = {}
        try:
            for p in (p for p in tool.parameters if p.name in chosen):
                so_far, unit = {n: s.value for n, s in said.items()}, template.spec(p.name)
                said[p.name] = known.get(p.name) or argument(scene, it.server, p, tool, rng, so_far, rank, unit)
            filled = Filled(it, template, said)
            scene.would(it.server, it.tool, filled.arguments)
        except Off:
            continue
        if len({s.reference.key for s in said.values() if s.reference}) == sum(s.reference is not None for s in said.values()):
            return filled
    raise Off(f"{it.tool} finds nothing to do")
