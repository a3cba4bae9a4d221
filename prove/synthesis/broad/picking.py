"""Records that have to be found by comparing: "cancel my largest scheduled payment", "delete all my expenses over $80"."""

from functools import partial
from random import Random
from typing import Any

import msgspec

from prove.records import Turn, Working
from prove.servers import Day
from prove.servers.schema import without_none
from prove.synthesis.broad.book import Deed, Listing, book, key_field, listed_fields, listings_of, one_of, parameter, tool_of
from prove.synthesis.broad.filling import Said, fill
from prove.synthesis.broad.naming import Ranked, arguments_of, by_rank, labelled, listed, yours
from prove.synthesis.broad.nouns import answered, know
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.several import perform
from prove.synthesis.broad.speech import done, enumerated, sentence
from prove.synthesis.language.phrases import polished
from prove.synthesis.language.saying import is_money, say
from prove.synthesis.planning.working import compute

_MANY = (2, 3, 4)  # records that "all" may be: one is not many, and each takes a call
_ALL = ("all {whose} {many}{that}", "every one of {whose} {many}{that}", "each of {whose} {many}{that}", "all of {whose} {many}{that}")
_ALL_OF = ("all of {many}{that}", "everything in {many}{that}", "every bit of {many}{that}")


def best(scene: Scene, rng: Random) -> list[Turn]:
    """Something done to the largest or smallest of a list, or told of it."""
    return _told_of_best(scene, rng) if rng.random() < 0.3 else _done_to_best(scene, rng)


def _done_to_best(scene: Scene, rng: Random) -> list[Turn]:
    ways = [(deed, name, it) for deed, name in _by_id(scene) for it in _lists(deed, name) if it.best]
    tries = (partial(_to_best, deed=deed, name=name, it=it, rng=rng) for deed, name, it in rng.sample(ways, min(len(ways), 8)))
    return scene.first(tries, "nothing can be done to the largest of anything")


def _to_best(scene: Scene, deed: Deed, name: str, it: Listing, rng: Random) -> list[Turn]:
    reference = by_rank(scene, deed.server, parameter(deed, name).id_type, rng, it)
    assert isinstance(reference.by, Ranked)
    said = Said(reference.key, reference.text, reference.by.label, reference)
    filled = fill(scene, deed, rng, {name: said}, rank=0.0)
    before = len(scene.calls)
    _, workings = perform(scene, filled, filled.find(scene, rng))
    which = f"{sentence(yours(reference.text))[:-1]} is {reference.by.label}."
    reply = polished(f"{which} {done([filled.told(deed.did)], rng)}")
    return [Turn(scene.voice.wants([filled.text], [deed], rng), "complete", scene.calls[before:], reply, workings=workings)]


def _told_of_best(scene: Scene, rng: Random) -> list[Turn]:
    shown = [(it, field) for server in scene.servers for it in book(server).listings if it.best for field in it.tells]
    tries = (partial(_of_best, it=it, field=field, rng=rng) for it, field in rng.sample(shown, min(len(shown), 6)))
    return scene.first(tries, "nothing is told of the largest of anything")


def _of_best(scene: Scene, it: Listing, field: str, rng: Random) -> list[Turn]:
    row = know(scene, (it, field), rng, rank=1.0)
    before = len(scene.calls)
    place, workings = row.read(scene, row.find(scene, rng))
    if not workings:
        raise Off("it is spoken of by its name")
    reply = polished(sentence(row.told(scene)))
    user = scene.voice.asks([row.text], [it], rng)
    return [Turn(user, "complete", scene.calls[before:], reply, [answered(place, row.value)], workings=workings)]


def _by_id(scene: Scene) -> list[tuple[Deed, str]]:
    """The deeds here that are about a record, with the argument that names it: the first one."""
    found = []
    for deed in (deed for server in scene.servers for deed in book(server).deeds):
        ids = [p.name for p in tool_of(deed).parameters if p.id_type and p.required]
        found += [(deed, ids[0])] if ids else []
    return found


def _lists(deed: Deed, name: str) -> list[Listing]:
    return listings_of(deed.server, parameter(deed, name).id_type)


# --- all that


def each(scene: Scene, rng: Random) -> list[Turn]:
    """Something done to all records of a list for which something holds."""
    ways = [(deed, name, it) for deed, name in _by_id(scene) if deed.each for it in _lists(deed, name)]
    chosen = (way for way in rng.sample(ways, min(len(ways), 8)) for _ in range(3))
    tries = (partial(_to_each, deed=deed, name=name, it=it, rng=rng) for deed, name, it in chosen)
    return scene.first(tries, "there is nothing of which there are a few")


def _to_each(scene: Scene, deed: Deed, name: str, it: Listing, rng: Random) -> list[Turn]:
    rows, last = listed(scene, it, rng)
    working, that = _which(scene, it, rows, last, rng)
    keys = compute(working, {"x": _result(it, rows)})
    if len(keys) not in _MANY:
        raise Off(f"{len(keys)} of them")
    labels = [labelled(scene, it, row) for row in rows if row[key_field(it)] in keys]
    if len(set(labels)) != len(labels):
        raise Off("two have the same name")
    many = one_of(it.many, rng)
    many = f"last {say(int, last, None, rng)} {many}" if last else many  # type: ignore[arg-type]
    forms = _ALL_OF if not it.one else _ALL[1:] if last else _ALL
    text = rng.choice(forms).format(whose=it.whose, many=many, that=f" {that}" if that else "")
    filled = fill(scene, deed, rng, {name: Said(keys[0], text, "all of them")}, rank=0.0)
    before = len(scene.calls)
    source = scene.look(it.server, it.tool, arguments_of(it, last))
    for said in (s for s in filled.said.values() if s.reference):
        said.reference.find(scene, rng)  # type: ignore[union-attr]
    calls = [scene.do(deed.server, deed.tool, {**filled.arguments, name: key}) for key in keys]
    place = working.of[0].replace("x: ", f"{source}: ")
    done_ = msgspec.structs.replace(working, of=[place], value=keys, calls=calls)
    reply = polished(f"There are {len(keys)} of them: {enumerated(labels)}. {done([filled.told(deed.did)], rng)}")
    return [Turn(scene.voice.wants([filled.text], [deed], rng, reasons=False), "complete", scene.calls[before:], reply, workings=[done_])]


def _result(it: Listing, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A result that shows just these rows."""
    result: dict[str, Any] = {it.rows.rpartition(".")[2]: rows, "total": len(rows)}
    for step in reversed(it.rows.split(".")[:-1]):
        result = {step: result}
    return result


def _which(scene: Scene, it: Listing, rows: list[dict[str, Any]], last: int, rng: Random) -> tuple[Working, str]:
    """Which of the rows are meant, and the words for it. Raises `Off`."""
    pick, among = f"{it.rows}.{key_field(it)}", [last] if last else []
    if len(rows) in _MANY and (not it.that or rng.random() < 0.4):
        return Working("every", [f"x: {pick}"], None, among, pick), ""
    if not it.that:
        raise Off("there are too many")
    field = rng.choice(list(it.that))
    how, phrase = rng.choice(list(zip(("over", "under"), it.that[field], strict=True)))
    bound, words = _bound(scene, listed_fields(it)[field], [r[field] for r in rows if r[field] is not None], how, rng)
    return Working(how, [f"x: {it.rows}.{field}"], None, [bound, *among], pick), one_of(phrase, rng).replace("{n}", words)


def _bound(scene: Scene, hint: Any, values: list[Any], how: str, rng: Random) -> tuple[Any, str]:
    """A bound that a few of the values are over, or under, and the words for it. Raises `Off`."""
    ranked = sorted({v[:10] if isinstance(v, str) else v for v in values}, reverse=how == "over")
    if len(ranked) < 3:
        raise Off("they are all alike")
    cut = rng.randint(2, min(4, len(ranked) - 1))
    inside, outside = ranked[cut - 1], ranked[cut]
    if isinstance(inside, str):
        return outside, say(Day, outside, scene.live(scene.servers[0]).today, None)
    return rounded(without_none(hint), inside, outside)


def rounded(hint: Any, inside: float, outside: float) -> tuple[Any, str]:
    """A round number that divides two, and the words for it. Raises `Off` where there is none."""
    steps = (100000, 50000, 10000, 5000, 2500, 1000, 500, 100) if is_money(hint) else (100, 50, 25, 10, 5, 1)
    low, high = sorted((inside, outside))
    for step in steps:
        bound = int(high // step * step)
        if low < bound < high or (bound == outside and bound != inside):
            return bound, say(hint if is_money(hint) else int, bound, None, None)  # type: ignore[arg-type]
    raise Off(f"nothing round lies between {inside} and {outside}")
