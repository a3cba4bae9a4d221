"""People change their minds: what was just made is put right, or a value is taken back in the middle of a sentence."""

from functools import partial
from random import Random

import msgspec

from prove.records import Turn
from prove.servers.schema import is_id
from prove.servers.tools import Parameter
from prove.synthesis.broad.book import Deed, Mend, any_of, book, tool_of
from prove.synthesis.broad.filling import Filled, Said, argument, fill
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.several import perform
from prove.synthesis.broad.speech import done, form, sentence
from prove.synthesis.language.phrases import polished

_TRIES = 12


def correction(scene: Scene, rng: Random) -> list[Turn]:
    """Something is done and then put right, or put right before it is done."""
    return _mended(scene, rng) if rng.random() < 0.6 else _in_time(scene, rng)


def _mended(scene: Scene, rng: Random) -> list[Turn]:
    ways = [deed for server in scene.servers for deed in book(server).deeds if deed.mend]
    try:
        return scene.first((partial(_twice, deed=deed, rng=rng) for deed in rng.sample(ways, len(ways))), "nothing made can be put right")
    except Off:
        return _in_time(scene, rng)


def _twice(scene: Scene, deed: Deed, rng: Random) -> list[Turn]:
    mend = deed.mend
    assert mend is not None
    filled = fill(scene, deed, rng)
    before = len(scene.calls)
    call, workings = perform(scene, filled, filled.find(scene, rng))
    made = scene.calls[before:]
    first = Turn(scene.voice.wants([filled.text], [deed], rng), "complete", made, done([filled.told(deed.did)], rng), workings=workings)
    key = _made_id(scene, deed, mend, call)
    template = rng.choice(mend.say)
    right = _another(scene, deed, mend, filled, template.spec(mend.change), rng)
    words = template.fill(lambda slot, _: right.words)
    after = len(scene.calls)
    scene.changes(deed.server, mend.tool, {mend.id: key, mend.change: right.value})
    scene.do(deed.server, mend.tool, {mend.id: key, mend.change: right.value})
    user = polished(sentence(form("sorry", rng) + words))
    reply = f"No problem, I've changed it to {right.told}." if '"' not in words else f'No problem, it now says "{right.told}".'
    return [first, Turn(user, "complete", scene.calls[after:], polished(reply))]


def _made_id(scene: Scene, deed: Deed, mend: Mend, call: str) -> str:
    """The id of what was made, wherever the result shows it."""
    tool = type(scene.live(deed.server)).tools[mend.tool]
    kind = next(p.id_type for p in tool.parameters if p.name == mend.id)
    table = type(scene.live(deed.server)).homes.get(kind) if is_id(kind) else None
    if table is None:
        raise Off(f"{mend.tool} changes nothing that has an id")
    rows = scene.live(deed.server).state[table]
    made = [key for key, (before, after) in rows.changes().items() if before is None and after is not None]
    if not made or f"'{made[-1]}'" not in str(scene.results[call]):
        raise Off("nothing new was shown")
    return made[-1]


def _another(scene: Scene, deed: Deed, mend: Mend, filled: Filled, unit: str, rng: Random) -> Said:
    """Another value for what is put right. Raises `Off` where none is found."""
    tool = type(scene.live(deed.server)).tools[mend.tool]
    parameter = next(p for p in tool.parameters if p.name == mend.change)
    return _other(scene, deed, parameter, filled.said.get(mend.change), unit, rng)


def _other(scene: Scene, deed: Deed, parameter: Parameter, than: Said | None, unit: str, rng: Random) -> Said:
    for _ in range(_TRIES):
        said = argument(scene, deed.server, parameter, tool_of(deed), rng, {}, 0.0, unit)
        if than is None or (said.value != than.value and said.words not in than.words and than.words not in said.words):
            return said
    raise Off(f"there is no other {parameter.name}")


def _in_time(scene: Scene, rng: Random) -> list[Turn]:
    """The user takes a value back while saying it."""
    return scene.first((lambda trial: _repaired(trial, rng) for _ in range(_TRIES)), "nobody changes their mind here")


def _repaired(scene: Scene, rng: Random) -> list[Turn]:
    deed = any_of([d for s in scene.servers for d in book(s).deeds], rng, scene.recent)
    filled = fill(scene, deed, rng, rank=0.0)
    plain = [p for p in tool_of(deed).parameters if p.name in filled.said and _free(filled, p)]
    if not plain:
        raise Off("nothing can be said twice")
    parameter = rng.choice(plain)
    right = filled.said[parameter.name]
    wrong = _other(scene, deed, parameter, right, filled.template.spec(parameter.name), rng)
    words = form("repair", rng, wrong=wrong.words, right=right.words)
    said = {**filled.said, parameter.name: msgspec.structs.replace(right, words=words)}
    before = len(scene.calls)
    _, workings = perform(scene, filled, filled.find(scene, rng))
    user = scene.voice.wants([msgspec.structs.replace(filled, said=said).text], [deed], rng)
    return [Turn(user, "complete", scene.calls[before:], done([filled.told(deed.did)], rng), workings=workings)]


def _free(filled: Filled, parameter: Parameter) -> bool:
    """Whether an argument is a plain value that is said outside quotes, so that another can be said beside it."""
    plain = not parameter.id_type and not parameter.secret
    return plain and f'"{{{parameter.name}}}"' not in "".join(text for text, _ in filled.template.parts)
