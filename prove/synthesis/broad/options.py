"""Something to be done with all that can be said about it: the optional arguments too."""

from random import Random

from prove.records import Turn
from prove.synthesis.broad.book import Deed, any_of, book
from prove.synthesis.broad.filling import fill
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.several import perform
from prove.synthesis.broad.speech import done

_TRIES = 12


def in_full(scene: Scene, rng: Random) -> list[Turn]:
    """A deed with its optional arguments."""
    rich = [deed for server in scene.servers for deed in book(server).deeds if any(t.slots(droppable=True) for t in deed.say)]
    tries = range(_TRIES if rich else 0)
    return scene.first(
        (lambda trial: _one(trial, any_of(rich, rng, trial.recent), rng) for _ in tries), "nothing here has optional arguments"
    )


def _one(scene: Scene, deed: Deed, rng: Random) -> list[Turn]:
    filled = fill(scene, deed, rng, optional=1.0)
    if not filled.template.slots(droppable=True):
        raise Off("it is said without any")
    before = len(scene.calls)
    _, workings = perform(scene, filled, filled.find(scene, rng))
    user, reply = scene.voice.wants([filled.text], [deed], rng), done([filled.told(deed.did)], rng)
    return [Turn(user, "complete", scene.calls[before:], reply, workings=workings)]
