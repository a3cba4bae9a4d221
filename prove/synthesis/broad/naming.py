"""Records as people speak of them: by name, or by rank ("my most expensive order")."""

from random import Random
from typing import Any, NewType

import msgspec

from prove.records import Working
from prove.servers.schema import without_none
from prove.synthesis.broad.book import Listing, key_field, listed_fields, listings_of, one_of
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.language.phrases import phrasebook, value_at
from prove.synthesis.language.saying import say
from prove.synthesis.language.zones import zone_of
from prove.synthesis.planning.planner import Named
from prove.synthesis.planning.values import name_of
from prove.synthesis.planning.working import compute

_RANKED = ("{whose} {best} {one}", "{whose} {best} {one}", "the {best} of {whose} {many}", "the {best} among {whose} {many}")
_RANKED_OF = ("the {best} of {whose} last {last} {many}", "the {best} among {whose} last {last} {many}")
_LAST = (20, 25, 30, 40, 50)  # "of my last 40 transactions"
_NAMES = 3  # that are tried


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
    """A record by its name, rather one by which it is found in a list than one to search for. Raises `Off`."""
    for _ in range(_NAMES):
        named = scene.named(server, kind, key, rng)
        reference = Reference(server, kind, key, named.text, named)
        trial = scene.fork()
        reference.find(trial, rng)
        if not any(value in named.fields.values() for call in trial.calls[len(scene.calls) :] for value in call.arguments.values()):
            break
    return reference


def by_rank(
    scene: Scene, server: str, kind: Any, rng: Random, only: Listing | None = None, widest: bool = False, whole: bool = False
) -> Reference:
    """A record that is the largest or smallest of a list, with `widest` of as much of it as can be read, with `whole` of none that is
    read by pages. Raises `Off` where no list
    has just one such."""
    among = [only] if only else [it for it in listings_of(server, kind) if not (whole and it.newest)]
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
        best = one_of(it.best[field][how == "smallest"], rng)
        forms = _RANKED_OF if last else _RANKED if it.one else _RANKED[2:]
        form = rng.choice(forms if best.endswith("est") or best.startswith("most") else forms[:-1])
        one, many, count = one_of(it.one, rng), one_of(it.many, rng), say(int, last, None, rng)  # type: ignore[arg-type]
        text = " ".join(form.format(best=best, whose=it.whose, one=one, many=many, last=count).split())
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
        return say(without_none(hints[slot]), row[slot], live.today, None, words, zone=zone_of(live, row))

    return it.label.fill(word)


_YOURS = {"my": "your", "My": "Your", "our": "your", "Our": "Your", "I": "you", "me": "you", "I'm": "you're", "mine": "yours"}


def yours(text: str) -> str:
    """A noun phrase of the user's in the assistant's mouth: my becomes your. What is quoted stays as it is."""
    parts = text.split('"')
    return '"'.join(part if i % 2 else " ".join(_YOURS.get(word, word) for word in part.split(" ")) for i, part in enumerate(parts))
