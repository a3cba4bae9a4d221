"""Something that is to be done only if something is so: it is read, held against a bound, and then done, or left."""

from random import Random
from typing import Any

from prove.records import Turn, Working
from prove.servers.schema import without_none
from prove.synthesis.broad.book import Deed, Fact, any_fact, any_of, book, hint_of
from prove.synthesis.broad.filling import Filled, fill
from prove.synthesis.broad.nouns import Known, answered, apart, know
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.several import perform
from prove.synthesis.broad.speech import done, form, sentence
from prove.synthesis.language.phrases import Template, polished
from prove.synthesis.language.saying import is_money, say
from prove.synthesis.planning.working import HOLDS

_LEFT = ("so I've left everything as it is.", "so there was nothing to do.", "so I haven't changed anything.", "so I didn't go ahead.")
_TRIES = 12


def condition(scene: Scene, rng: Random) -> list[Turn]:
    """A query with a condition on a fact; what it asks for is on another server where there is one."""
    return scene.first((lambda trial: _one(trial, rng) for _ in range(_TRIES)), "no condition can be put here")


def _one(scene: Scene, rng: Random) -> list[Turn]:
    known = know(scene, any_fact(_conditional(scene), rng, scene.recent), rng)
    assert isinstance(known, Known)
    how, cond, bound, holds = _held(scene, known, rng)
    deed = _wanted(scene, known, rng)
    other = _wanted(scene, known, rng, besides=deed) if rng.random() < 0.3 else None
    apart(known, deed, *([other] if other else []))
    chosen = deed if holds else other
    before = len(scene.calls)
    found = known.find(scene, rng)
    more = chosen.find(scene, rng) if chosen else []
    place, workings = known.read(scene, found)
    calls = []
    if chosen:
        made, more = perform(scene, chosen, more)
        calls = [made]
    workings = [*workings, *more, Working(how, [place], HOLDS[how](known.value, bound), [bound], calls=calls)]
    kind, parts = ("otherwise", {"other": other.text}) if other else ("condition", {})
    text = form(kind, rng, cond=cond, deed=deed.text, **parts)
    follows = done([chosen.told(_past(chosen))], rng) if chosen else rng.choice(_LEFT)
    reply = polished(f"{sentence(known.told(scene))} {follows}" if chosen else f"{sentence(known.told(scene))[:-1]}, {follows}")
    user = scene.voice.says(text, [known.fact, deed.it], rng)
    return [Turn(user, "complete", scene.calls[before:], reply, [answered(place, known.value)], workings=workings)]


def _past(filled: Filled) -> Template:
    assert isinstance(filled.it, Deed)
    return filled.it.did


def _conditional(scene: Scene) -> list[Fact]:
    found = [fact for server in scene.servers for fact in book(server).facts if fact.over or fact.under]
    if not found:
        raise Off("nothing here can be held against anything")
    return found


def _wanted(scene: Scene, known: Known, rng: Random, besides: Filled | None = None) -> Filled:
    """What is to be done, on another server if there is one. Raises `Off`."""
    elsewhere = [s for s in scene.servers if s != known.server] or [known.server]
    deeds = [d for s in elsewhere for d in book(s).deeds if besides is None or d.tool != besides.it.tool]
    if not deeds:
        raise Off("there is nothing to do")
    filled = fill(scene, any_of(deeds, rng, scene.recent), rng, rank=0.4)
    scene.changes(filled.it.server, filled.it.tool, filled.arguments)
    return filled


def _held(scene: Scene, known: Known, rng: Random) -> tuple[str, str, Any, bool]:
    """(over or under, the sentence that says so, the bound, whether it is so)."""
    fact = known.fact
    how = rng.choice([how for how, phrases in (("over", fact.over), ("under", fact.under)) if phrases])
    bound, words = _near(without_none(hint_of(fact)), known.value, rng)
    template = rng.choice(fact.over if how == "over" else fact.under)
    said = known.filled.said
    plain = Template(tuple((text.replace("{n}", words), may) for text, may in template.parts))
    cond = plain.fill(lambda slot, _: said[slot].words, lambda slot: slot in said)
    return how, cond, bound, HOLDS[how](known.value, bound)


def _near(hint: Any, value: float, rng: Random) -> tuple[Any, str]:
    """A round bound near a value, and not the value itself, with the words for it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Off(f"{value!r} is no number")
    step = _step(value, is_money(hint))
    bound = int(value * rng.choice((0.6, 0.8, 0.9, 1.1, 1.25, 1.5)) // step * step)
    if bound <= 0 or bound == value:
        raise Off(f"nothing round is near {value}")
    return bound, say(hint, bound, None, None) if is_money(hint) else f"{bound:,}"  # type: ignore[arg-type]


def _step(value: float, money: bool) -> int:
    """How round a number near a value is: about a tenth of it."""
    steps = (100, 500, 1000, 2500, 5000, 10000, 50000, 100000) if money else (1, 5, 10, 25, 50, 100, 500, 1000)
    return max((s for s in steps if s <= value / 4), default=steps[0])
