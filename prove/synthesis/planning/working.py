"""What is worked out from results before a call can be made: which is the largest, how much it all is, whether it is under a bound.

A `Working` of the record names one of these computations, where the values stand, and what comes out:

- a record that is picked from a list: "largest", "smallest" (only one, of a list that is complete)
- records that are picked from a list: "over", "under", "equal" with a bound, "every"
- whether it is so of a value: "over", "under", "equal" with a bound, without anything to pick
- a value: "same", "sum", "difference", "plus", "minus", "share" (a percentage), "count"; of days, "day" (so many days later)

Certification computes each again from what the calls returned, and asks that the words say it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from prove.records import Conversation, GroundTruthCall, Turn, Working
from prove.servers import Cents, Day
from prove.synthesis.language.phrases import value_at
from prove.synthesis.language.saying import NUMBERS, readings

#: How each computation is said. One of these has to be among the words; what is not here needs no words of its own.
SAID: dict[str, tuple[str, ...]] = {
    "largest": (
        "largest", "biggest", "highest", "most", "latest", "newest", "last", "longest", "farthest", "busiest", "top", "best", "heaviest",
        "priciest", "dearest", "furthest", "fullest", "brightest",
    ),
    "smallest": (
        "smallest", "lowest", "least", "earliest", "oldest", "next", "shortest", "nearest", "cheapest", "first", "lightest", "fewest",
        "closest", "soonest", "worst", "emptiest", "quickest",
    ),
    "over": ("over", "more than", "above", "after", "later than", "higher than", "larger than", "exceeds", "longer than", "beyond",
             "past", "bigger than", "better than"),
    "under": ("under", "less than", "below", "before", "earlier than", "lower than", "cheaper than", "smaller than", "fewer than",
              "shorter than", "short of", "no more than", "worse than"),
    "whether": ("if", "unless", "whether", "in case", "provided", "as long as", "should", "only when", "only while"),
    "every": ("all", "every", "each", "everything", "everyone"),
    "sum": ("together", "sum", "total", "combined", "altogether", "in all", "add up", "adds up", "added up"),
    "difference": ("difference", "gap", "apart"),
    "plus": ("plus", "on top", "more than", "add", "extra"),
    "minus": ("minus", "less", "short of"),
    "share": ("%", "percent", "half", "a quarter", "a third", "a tenth"),
    "count": ("how many", "number of", "count"),
}  # fmt: skip
_SHARES = {50: "half", 25: "a quarter", 10: "a tenth"}
_SPANS = {"week": 7, "fortnight": 14}


def places(working: Working) -> list[tuple[str, str]]:
    """(call, path) of each place in which it finds its values."""
    return [(call, path) for call, _, path in (place.partition(": ") for place in working.of)]


def sources(turns: Iterable[Turn]) -> dict[str, set[str]]:
    """For each call that hinges on something worked out, the calls whose results that was worked out from."""
    out: dict[str, set[str]] = {}
    for working in (w for turn in turns for w in turn.workings):
        for call in working.calls:
            out.setdefault(call, set()).update(source for source, _ in places(working))
    return out


def workings_of(turns: Iterable[Turn], call: str) -> list[Working]:
    """What a call hinges on."""
    return [w for turn in turns for w in turn.workings if call in w.calls]


def picked(turns: Iterable[Turn], call: str) -> set[str]:
    """The keys of the records that were picked for a call, by what was worked out of them."""
    values = [w.value for w in workings_of(turns, call) if w.pick]
    return {key for value in values for key in (value if isinstance(value, list) else [value])}


def origin_of(value: Any, workings: Iterable[Working]) -> str:
    """The origin of an argument that was worked out; "" for one that was not."""
    found = (w for w in workings if w.value == value and type(w.value) is type(value) and not w.pick)  # 1 is not True
    return next((f"worked out: {w.how} of {', '.join(w.of)}" for w in found), "")


# --- computing


def compute(working: Working, results: dict[str, Any]) -> Any:
    """What comes out, from the results of the calls. Raises LookupError or TypeError where a value is not there, ValueError where
    nothing definite comes out: no largest, or a list of which only a page was read."""
    found = [value_at(results[call], path) for call, path in places(working)]
    if working.pick:
        return _pick(working, found[0], results[places(working)[0][0]])
    for (call, path), values in zip(places(working), found, strict=True):
        if isinstance(values, list):
            _whole(value_at(results[call], path.split(".")[-3]) if path.count(".") > 1 else results[call], len(values), working)
    return _VALUES[working.how](found, working.given)


def _pick(working: Working, values: list[Any], result: Any) -> Any:
    keys = value_at(result, working.pick)
    whole = working.pick.rpartition(".")[0].rpartition(".")[0]  # what holds the list, and says how many there are
    holder = value_at(result, whole) if whole else result
    _whole(holder, len(keys), working)
    if working.how in ("largest", "smallest"):
        ranked = [v for v in values if v is not None]
        best = max(ranked) if working.how == "largest" else min(ranked)
        if ranked.count(best) != 1:
            raise ValueError(f"{ranked.count(best)} are the {working.how}")
        return keys[values.index(best)]
    if working.how == "every":
        return keys
    holds = HOLDS[working.how]
    return [
        key
        for key, value in zip(keys, values, strict=True)
        if value is not None and holds(_like(value, working.given[0]), working.given[0])
    ]


def _whole(holder: Any, count: int, working: Working) -> None:
    """See that a list was read to its end, or as far as the words say: "of the last 40"."""
    if isinstance(holder, dict) and holder.get("total", count) != count and count not in working.given:
        raise ValueError(f"only {count} of {holder['total']} were read")


def _like(value: Any, bound: Any) -> Any:
    """A moment as its day where it is held against a day."""
    return value[:10] if isinstance(value, str) and isinstance(bound, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", bound) else value


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "over": lambda value, bound: value > bound,
    "under": lambda value, bound: value < bound,
    "equal": lambda value, bound: value == bound,
}


def _flat(values: list[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _share(whole: int, percent: int) -> int:
    """So many percent, where that is a whole number of cents. Raises ValueError where it is not."""
    part, rest = divmod(whole * percent, 100)
    if rest:
        raise ValueError(f"{percent} % of {whole} is no whole number")
    return part


_VALUES: dict[str, Callable[[list[Any], list[Any]], Any]] = {
    "same": lambda found, _: found[0],
    "sum": lambda found, _: sum(_flat(found)),
    "difference": lambda found, _: abs(found[0] - found[1]),
    "plus": lambda found, given: found[0] + given[0],
    "minus": lambda found, given: found[0] - given[0],
    "share": lambda found, given: _share(found[0], given[0]),
    "count": lambda found, _: len(found[0]),
    "day": lambda found, given: (date.fromisoformat(found[0][:10]) + timedelta(days=given[0])).isoformat(),
    **{how: lambda found, given, holds=holds: holds(_like(found[0], given[0]), given[0]) for how, holds in HOLDS.items()},  # type: ignore[misc]
}


# --- words


def unsaid(working: Working, words: str, today: date) -> Iterator[str]:
    """What of a computation the words do not say."""
    heard = words.casefold()
    asks = working.how in ("over", "under", "equal") and not working.pick  # and "unless it is below ..." asks for what is over it
    ways = SAID["whether"] if asks else SAID.get(working.how, ())
    if ways and not any(re.search(rf"(?<![a-z]){re.escape(way)}(?![a-z])", heard) for way in ways):
        yield working.how
    for value in working.given:
        if not _said(value, working.how, words, today):
            yield str(value)


def _said(value: Any, how: str, words: str, today: date) -> bool:
    heard = words.casefold()
    if how == "share" and value in _SHARES and _SHARES[value] in heard:
        return True
    if how == "day":
        spans = [word for word, length in _SPANS.items() if abs(value) == length] + (
            ["the day after", "the day before"] if abs(value) == 1 else []
        )
        number = str(abs(value)), NUMBERS[abs(value)] if abs(value) < len(NUMBERS) else str(abs(value))
        return value == 0 or any(w in heard for w in spans) or any(re.search(rf"\b{n} days\b", heard) for n in number)
    if isinstance(value, str):
        return value.replace("_", " ").casefold() in heard or any(found == value for found, _ in readings(words, Day, today))
    return any(found == value for hint in (Cents, int, float) for found, _ in readings(words, hint, today))


def check(conversation: Conversation, results: dict[str, Any], said: list[list[tuple[str, date]]]) -> None:
    """Raise ValueError with the first thing that is wrong with what the record says was worked out; `said` is what had been said by
    each turn."""
    at = {call.id: i for i, call in enumerate(conversation.calls)}
    for turn, so_far in zip(conversation.turns, said, strict=True):
        for working in turn.workings:
            if (value := compute(working, results)) != working.value:
                raise ValueError(f"{working.how} of {working.of} is {value!r}, not {working.value!r}")
            if missing := list(unsaid(working, "\n".join(words for words, _ in so_far), so_far[-1][1])):
                raise ValueError(f"nobody says {missing[0]!r} in {turn.user!r}")
            for call in working.calls:
                if any(at[source] >= at[call] for source, _ in places(working)):
                    raise ValueError(f"{call} hinges on what is read later")


def comes_out(turns: Iterable[Turn], call: str, result: Any, results: dict[str, Any]) -> bool:
    """Whether all that is worked out from a call's result comes out the same from another one."""
    for working in (w for turn in turns for w in turn.workings):
        if call in {source for source, _ in places(working)}:
            try:
                if compute(working, {**results, call: result}) != working.value:
                    return False
            except (LookupError, TypeError, ValueError):
                return False
    return True


def gives(call: GroundTruthCall, turns: Iterable[Turn], results: dict[str, Any], elsewhere: set[Any]) -> bool:
    """Whether later calls hinge on what this one has shown, and on nothing that was shown elsewhere by then."""
    for working in (w for turn in turns for w in turn.workings if w.calls):
        for source, path in places(working):
            if source == call.id:
                value = value_at(results[source], path)
                if not elsewhere.issuperset(v for v in (value if isinstance(value, list) else [value]) if not isinstance(v, bool)):
                    return True
    return False
