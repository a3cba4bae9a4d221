"""A fact from one server is used in a call on another: worked out, or taken as it is."""

from datetime import date, timedelta
from random import Random
from typing import Any, get_origin

import msgspec

from prove.records import Turn, Working
from prove.servers.schema import bare
from prove.synthesis.broad.book import MONEY, Deed, Fact, Listing, any_fact, book, facts, parameter
from prove.synthesis.broad.filling import Filled, Said, fill
from prove.synthesis.broad.nouns import Known, Row, apart, know
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.speech import done, form, sentence
from prove.synthesis.language.phrases import polished
from prove.synthesis.language.saying import NUMBERS, say

_TRIES = 12


class Derived(msgspec.Struct, frozen=True):
    """A value that follows from facts: how the user says it, with the fact in it and after the fact was named before, what comes
    out, and how it is worked out."""

    inside: str
    after: str
    value: Any
    how: str
    given: tuple[Any, ...] = ()


def of_money(amount: int, text: str, rng: Random) -> Derived:
    """An amount that follows from another: the same, half of it, so much more. Raises `Off` for one that is no amount to pay."""
    ways = [Derived(text, rng.choice(("that amount", "exactly that much", "the same amount")), amount, "same")]
    for percent, words in ((50, "half of {x}"), (10, "10% of {x}"), (20, "20 percent of {x}"), (25, "a quarter of {x}")):
        if amount * percent % 100 == 0 and amount * percent // 100 >= 100:
            inside, after = words.format(x=text), words.format(x="that")
            ways.append(Derived(inside, after, amount * percent // 100, "share", (percent,)))
    extra = rng.choice((500, 1000, 1500, 2000, 5000))
    ways.append(Derived(f"{text} plus ${extra // 100}", f"that plus ${extra // 100}", amount + extra, "plus", (extra,)))
    if amount > 2 * extra:
        ways.append(Derived(f"{text} minus ${extra // 100}", f"that minus ${extra // 100}", amount - extra, "minus", (extra,)))
    return rng.choice(ways)


def of_day(day: str, text: str, rng: Random) -> Derived:
    """A day that follows from another: the same, the day after, two days before."""
    there = date.fromisoformat(day[:10])
    ways = [(0, text, "that day")]
    for n in (1, 2, 3, 5, 7):
        count = "a week" if n == 7 else "the day" if n == 1 else f"{NUMBERS[n]} days"
        ways += [(n, f"{count} after {text}", f"{count} after that"), (-n, f"{count} before {text}", f"{count} before that")]
    shift, inside, after = rng.choice(ways)
    return Derived(inside, after, (there + timedelta(days=shift)).isoformat(), "day", (shift,))


def derive(known: Known | Row, rng: Random) -> Derived:
    """What a user may want made of a fact. Raises `Off` where nothing can be."""
    kind, value = known.kind, known.value
    if kind in MONEY:
        if not isinstance(value, int) or value < 200:
            raise Off(f"{value} is nothing to pay")
        return of_money(value, known.text, rng)
    if kind == "day":
        return of_day(value, known.text, rng)
    again = isinstance(known, Known) and any(s.reference and s.reference.by is None for s in known.filled.said.values())
    if again or str(value).casefold() in known.text.casefold():
        raise Off("its name says it, now or before")
    return Derived(known.text, known.text, value, "same")


def across(scene: Scene, rng: Random) -> list[Turn]:
    """A deed on one server with a value that another tells."""
    return _with_a_fact(scene, rng, elsewhere=True)


def within(scene: Scene, rng: Random) -> list[Turn]:
    """A deed with a value that is worked out from what the same server tells."""
    return _with_a_fact(scene, rng, elsewhere=False)


def _with_a_fact(scene: Scene, rng: Random, elsewhere: bool) -> list[Turn]:
    return scene.first((lambda trial: _one(trial, rng, elsewhere) for _ in range(_TRIES)), "no fact is of use there")


def _one(scene: Scene, rng: Random, elsewhere: bool) -> list[Turn]:
    deed, slot = _taker(scene, rng)
    others = tuple(s for s in scene.servers if (s != deed.server) == elsewhere)
    known = know(scene, _fact(scene, deed.takes[slot], others, rng), rng)
    derived = derive(known, rng)
    if deed.server == known.server and derived.how == "same" and known.kind not in (*MONEY, "day"):
        raise Off("it is there already")
    many = get_origin(bare(parameter(deed, slot).hint)) is list
    value = Said([derived.value] if many else derived.value, derived.inside, _told(scene, deed, slot, derived.value))
    filled = msgspec.structs.replace(fill(scene, deed, rng, {slot: value}), worked=slot)
    apart(known, filled)
    before = len(scene.calls)
    workings, more = known.find(scene, rng), filled.find(scene, rng)
    place, workings = known.read(scene, workings)
    call, more = perform(scene, filled, more)
    plain = derived.how == "same" and isinstance(derived.value, str)
    worked = [] if plain else [Working(derived.how, [place], derived.value, list(derived.given), calls=[call])]
    user = _words(scene, filled, slot, known, derived, rng)
    reply = polished(f"{sentence(known.told(scene))} {done([filled.told(deed.did)], rng)}")
    return [Turn(user, "complete", scene.calls[before:], reply, workings=[*_hung_on(workings, call), *more, *worked])]


def _taker(scene: Scene, rng: Random) -> tuple[Deed, str]:
    """A deed and an argument of it that can be worked out."""
    takers = [(deed, slot) for server in scene.servers for deed in book(server).deeds for slot in deed.takes]
    if not takers:
        raise Off("nothing here takes a value from elsewhere")
    return rng.choice(takers)


def _fact(scene: Scene, kinds: tuple[str, ...], servers: tuple[str, ...], rng: Random) -> Fact | tuple[Listing, str]:
    found = facts(kinds, servers)
    if not found:
        raise Off(f"{', '.join(servers)} tell no {', '.join(kinds)}")
    return any_fact(found, rng, scene.recent)  # type: ignore[no-any-return]


def _told(scene: Scene, deed: Deed, slot: str, value: Any) -> str:
    return say(parameter(deed, slot).hint, value, scene.live(deed.server).today, None)


def _hung_on(workings: list[Working], call: str) -> list[Working]:
    """The workings, of which those that no other call hinges on are for this one."""
    return [w if w.calls else msgspec.structs.replace(w, calls=[call]) for w in workings]


def perform(scene: Scene, filled: Filled, workings: list[Working]) -> tuple[str, list[Working]]:
    """Do a deed whose records have been found; returns its call, and the workings as what it hinges on. Raises `Off` where nothing
    changes."""
    draft = scene.drafts[filled.it.server]
    was = draft.outcome()
    call = scene.do(filled.it.server, filled.it.tool, filled.arguments)
    if draft.outcome() == was:
        raise Off(f"{filled.it.tool} changes nothing")
    return call, [msgspec.structs.replace(w, calls=[call]) for w in workings]


def _words(scene: Scene, filled: Filled, slot: str, known: Known | Row, derived: Derived, rng: Random) -> str:
    """In one clause, or the fact first and then what to do with it."""
    deed, voice = filled.it, scene.voice
    assert isinstance(deed, Deed)
    if rng.random() < 0.45:
        return voice.wants([filled.text], [deed], rng)
    said = {**filled.said, slot: msgspec.structs.replace(filled.said[slot], words=_again(known, derived))}
    clause = msgspec.structs.replace(filled, said=said).text
    look = form("look", rng, what=known.text)
    return voice.wants([form("then", rng, look=look, clause=clause)] if rng.random() < 0.5 else [look, clause], [deed], rng)


def _again(known: Known | Row, derived: Derived) -> str:
    """What the user says of the value once the fact has been named."""
    if known.kind in (*MONEY, "day"):
        return derived.after
    return {"email": "that address", "person": "that name", "place": "that address"}.get(known.kind, "exactly that")
