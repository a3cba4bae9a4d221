"""Long results: pages of up to fifty records, of two lists where there are two, among which one has to be found."""

from random import Random

from prove.records import Answer, Turn, Working
from prove.synthesis.broad.book import Listing, book, key_field, tool_of
from prove.synthesis.broad.naming import Ranked, Reference, by_rank, listed, yours
from prove.synthesis.broad.nouns import answered
from prove.synthesis.broad.scene import Off, Scene
from prove.synthesis.broad.speech import sentence
from prove.synthesis.language.phrases import polished, value_at

_FEW = 12  # rows that are no long result yet


def pages(scene: Scene, rng: Random) -> list[Turn]:
    """The largest or smallest of one long list or two."""
    lists = [it for server in scene.servers for it in book(server).listings if it.best]
    chosen: list[Reference] = []
    for it in sorted(rng.sample(lists, len(lists)), key=lambda it: not it.newest):
        try:
            if len(listed(scene, it, Random(0))[0]) < _FEW:
                continue
            reference = by_rank(scene, it.server, _kind(it), rng, it, widest=True)
        except Off:
            continue
        if all(other.by.listing != it for other in chosen):  # type: ignore[union-attr]
            chosen.append(reference)
        if len(chosen) == 2:
            break
    if not chosen:
        raise Off("there is no long list here")
    before = len(scene.calls)
    answers: list[Answer] = []
    workings: list[Working] = []
    told = []
    for reference in chosen:
        ranked = reference.by
        assert isinstance(ranked, Ranked)
        workings += reference.find(scene, rng)
        place = f"{workings[-1].of[0].partition(': ')[0]}: {ranked.listing.rows}"
        row, value = _row(scene, place, reference, ranked)
        answers.append(answered(f"{place}.{row}.{ranked.field}", value))
        told.append(f"{sentence(yours(reference.text))[:-1]} is {ranked.label}.")
    lists = [r.by.listing for r in chosen if isinstance(r.by, Ranked)]
    user = scene.voice.asks([r.text for r in chosen], lists, rng, "find")
    return [Turn(user, "complete", scene.calls[before:], polished(" ".join(told)), answers, workings=workings)]


def _kind(it: Listing) -> object:
    return tool_of(it).subject


def _row(scene: Scene, place: str, reference: Reference, ranked: Ranked) -> tuple[int, object]:
    """Which row of the list it is, and what that shows in the field by which the record was found."""
    call, _, path = place.partition(": ")
    rows = value_at(scene.results[call], path)
    row = next(i for i, r in enumerate(rows) if r[key_field(ranked.listing)] == reference.key)
    return row, rows[row][ranked.field]
