"""Something to be done with all that can be said about it: the optional arguments too."""

from random import Random

from prove.records import Turn
from prove.synthesis.broad.book import any_of, book
from prove.synthesis.broad.filling import fill
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.several import perform
from prove.synthesis.broad.speech import done

_TRIES = 12


def in_full(scene: Scene, rng: Random) -> list[Turn]:
    """A deed with its optional arguments."""
    rich = [deed for server in scene.servers for deed in book(server).deeds if any(t.slots(droppable=True) for t in deed.say)]
    for _ in range(_TRIES if rich else 0):
        deed, trial = any_of(rich, rng, scene.recent), scene.fork()
        try:
            filled = fill(trial, deed, rng, optional=1.0)
            if not filled.template.slots(droppable=True):
                continue
            before = len(trial.calls)
            _, workings = perform(trial, filled, filled.find(trial, rng))
        except Off:
            continue
        scene.__dict__ |= trial.__dict__
        user, reply = scene.voice.wants([filled.text], [deed], rng), done([filled.told(deed.did)], rng)
        return [Turn(user, "complete", scene.calls[before:], reply, workings=workings)]
    raise Off("nothing here has optional arguments")
