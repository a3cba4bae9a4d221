"""Time passes between two turns, and what was true is so no longer: it has to be read again."""

import re
from random import Random

from prove.records import Turn, leaves
from prove.synthesis.broad.book import Fact, book
from prove.synthesis.broad.nouns import Known, answered, know
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.speech import form, sentence
from prove.synthesis.language.phrases import polished, value_at

_SPANS = (
    (45, "three quarters of an hour"), (120, "two hours"), (180, "three hours"), (360, "six hours"), (1440, "a day"), (2880, "two days"),
    (4320, "three days"), (10080, "a week"),
)  # fmt: skip
_RELATIVE = re.compile(r"\b(?:today|tomorrow|yesterday|this coming|last)\b")  # words that mean another day by then
_TRIES = 16


def again(scene: Scene, rng: Random) -> list[Turn]:
    """A fact is asked for, time passes, and it is asked for again, since it is another by then."""
    facts = [fact for server in scene.servers for fact in book(server).facts]
    tries = range(_TRIES if facts else 0)
    return scene.first((lambda trial: _about(trial, rng.choice(facts), rng) for _ in tries), "nothing changes by itself here")


def _about(scene: Scene, fact: Fact, rng: Random) -> list[Turn]:
    known = know(scene, fact, rng, rank=0.0)
    assert isinstance(known, Known)
    minutes, span = _until(scene, known, rng)
    return _twice(scene, known, minutes, span, rng)


def _until(scene: Scene, known: Known, rng: Random) -> tuple[int, str]:
    """How much time may pass for a fact to be another. Raises `Off` where it stays as it is."""
    for minutes, span in rng.sample(_SPANS, len(_SPANS)):
        if (
            (then := _then(scene, known, minutes)) != known.value
            and then not in (None, "")
            and not (isinstance(then, int | float) and then < 0)
        ):
            return minutes, span
    raise Off(f"it is still {known.value}")


def _then(scene: Scene, known: Known, minutes: int) -> object:
    """What a fact will be after so many minutes, if there is nobody to do anything."""
    future = scene.fork()
    future.advance(minutes)
    return value_at(future.would(known.fact.server, known.fact.tool, known.filled.arguments), known.fact.path)


def _twice(scene: Scene, known: Known, minutes: int, span: str, rng: Random) -> list[Turn]:
    fact, arguments = known.fact, known.filled.arguments
    then = _then(scene, known, minutes)
    before = len(scene.calls)
    place, _ = known.read(scene, known.find(scene, rng))
    first = _turn(scene, known, place, before, scene.voice.asks([known.text], [fact], rng), 0)
    if (fact.path.rpartition(".")[2], then) in {leaf for result in scene.results.values() for leaf in leaves(result)}:
        raise Off("something else has been like that before")
    scene.advance(minutes)
    before = len(scene.calls)
    now = Known(known.filled, then)
    call = scene.look(fact.server, fact.tool, arguments)
    named = scene.calls[int(place.partition(":")[0][1:]) - 1].arguments == arguments  # else nothing but a list has shown it
    if not named and _RELATIVE.search(known.text):
        raise Off("there are no words for it that are good on another day")
    alone = named and (rng.random() < 0.6 or _RELATIVE.search(known.text))
    words = form("later" if alone else "later_named", rng, span=span, what=known.text)
    return [first, _turn(scene, now, f"{call}: {fact.path}", before, polished(sentence(words)), minutes)]


def _turn(scene: Scene, known: Known, place: str, before: int, user: str, minutes: int) -> Turn:
    reply = polished(sentence(known.told(scene)))
    return Turn(user, "complete", scene.calls[before:], reply, [answered(place, known.value)], minutes_later=minutes)
