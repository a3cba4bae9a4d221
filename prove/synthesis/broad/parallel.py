"""Several things at once that have nothing to do with each other: they can be sent in one message."""

from random import Random

from prove.records import Turn, Working
from prove.synthesis.broad.book import Deed, Fact, any_fact, any_of, book
from prove.synthesis.broad.filling import Filled, fill
from prove.synthesis.broad.nouns import Known, Row, answered, apart, know
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.several import perform
from prove.synthesis.broad.speech import done, sentence
from prove.synthesis.language.phrases import polished

_TRIES = 12


def questions(scene: Scene, rng: Random) -> list[Turn]:
    """Two or three facts asked for at once."""
    known: list[Known | Row] = []
    for _ in range(_TRIES):
        try:
            one = know(scene, any_fact(_all(scene), rng, scene.recent), rng)
        except Off:
            continue
        if all(one.text != other.text and (one.server, one.value) != (other.server, other.value) for other in known):
            known.append(one)
        if len(known) == 2 + (rng.random() < 0.4):
            break
    if len(known) < 2:
        raise Off("there are not enough facts")
    known = known[:3]
    apart(*known)
    before = len(scene.calls)
    found = [one.find(scene, rng) for one in known]
    places, workings = zip(*(one.read(scene, w) for one, w in zip(known, found, strict=True)), strict=True)
    answers = [answered(place, one.value) for place, one in zip(places, known, strict=True)]
    reply = polished(" ".join(sentence(one.told(scene)) for one in known))
    flat: list[Working] = [w for ws in workings for w in ws]
    user = scene.voice.asks([one.text for one in known], [one.about for one in known], rng)
    return [Turn(user, "complete", scene.calls[before:], reply, answers, workings=flat)]


def _all(scene: Scene) -> list[Fact | tuple]:  # type: ignore[type-arg]
    facts = [fact for server in scene.servers for fact in book(server).facts]
    rows = [(it, field) for server in scene.servers for it in book(server).listings for field in it.tells]
    if not facts and not rows:
        raise Off("nothing can be known here")
    return [*facts, *rows]


def deeds(scene: Scene, rng: Random) -> list[Turn]:
    """Two things to do, none of which needs the other; on two servers where there are two."""
    return scene.first((lambda trial: _two(trial, rng) for _ in range(_TRIES)), "there are no two things to do")


def _two(scene: Scene, rng: Random) -> list[Turn]:
    busy = [s for s in scene.servers if book(s).deeds]
    servers = rng.sample(busy, 2) if len(busy) > 1 else busy * 2
    filled: list[Filled] = []
    for server in servers:
        one = fill(scene, any_of(book(server).deeds, rng, scene.recent), rng, rank=0.4)
        scene.changes(server, one.it.tool, one.arguments)
        filled.append(one)
    if len({(one.it.tool, str(one.arguments)) for one in filled}) < 2:
        raise Off("it is the same twice")
    apart(*filled)
    before = len(scene.calls)
    found = [one.find(scene, rng) for one in filled]
    workings = [w for one, ws in zip(filled, found, strict=True) for w in perform(scene, one, ws)[1]]
    asked = [one.it for one in filled if isinstance(one.it, Deed)]
    user = scene.voice.wants([one.text for one in filled], asked, rng)
    reply = done([one.told(deed.did) for one, deed in zip(filled, asked, strict=True)], rng)
    return [Turn(user, "complete", scene.calls[before:], reply, workings=workings)]


def at_once(scene: Scene, rng: Random) -> list[Turn]:
    """Several questions, or several things to do."""
    return questions(scene, rng) if rng.random() < 0.55 else deeds(scene, rng)
