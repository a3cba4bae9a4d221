"""What a record says was worked out from results, worked out again."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from prove.records import Conversation, Working
from prove.servers.schema import schema
from prove.servers.types import Cents
from prove.verify.words import Said, heard

_TOP = (
    "largest|biggest|highest|most|latest|newest|last|longest|farthest|furthest|busiest|top|best|heaviest|priciest|dearest|fullest|brightest"
)
_BOTTOM = (
    "smallest|lowest|least|earliest|oldest|next|shortest|nearest|closest|soonest|cheapest|first|lightest|fewest|worst|emptiest|quickest"
)
_WORDS = {
    "largest": _TOP,
    "smallest": _BOTTOM,
    "every": "all|every|each|everything|everyone",
    "sum": "together|sum|total|combined|altogether|in all|adds? up|added up",
    "difference": "difference|gap|apart",
    "plus": "plus|on top|more|add|extra",
    "minus": "minus|less|short of",
    "share": "percent|half|quarter|third|tenth",
}
_WHETHER = "if|unless|whether|in case|provided|as long as|should|only when|only while"
_SHARES = {50: "half", 25: "a quarter", 10: "a tenth"}
_COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def again(working: Working, results: dict[str, Any]) -> Any:
    """What comes out of it. Raises LookupError, TypeError or ValueError where nothing does."""
    how, given = working.how, working.given
    columns = [_column(results[place.split(": ")[0]], place.split(": ")[1]) for place in working.of]
    if working.pick:
        call = working.of[0].split(": ")[0]
        return _picked(how, given, columns[0], _column(results[call], working.pick), results[call], working.pick)
    values = [value for column in columns for value in column]
    for place in working.of if how in ("sum", "count") else ():
        call, path = place.split(": ")
        if (
            path.startswith("items.")
            and not path.split(".")[1].isdigit()
            and len(results[call]["items"]) not in (results[call].get("total"), *given)
        ):
            raise ValueError(f"{len(results[call]['items'])} of {results[call]['total']} were read")
    if how in ("over", "under", "equal"):
        return _compares(how, values[0], given[0])
    if how == "sum":
        return sum(values)
    if how == "count":
        return len(values)
    if how == "same":
        return values[0]
    if how == "difference":
        first, second = values
        return max(first, second) - min(first, second)
    if how in ("plus", "minus"):
        return values[0] + (given[0] if how == "plus" else -given[0])
    if how == "share":
        if values[0] * given[0] % 100:
            raise ValueError(f"{given[0]} % of {values[0]} is no whole number")
        return values[0] * given[0] // 100
    if how == "day":
        return str(date.fromisoformat(values[0][:10]) + timedelta(given[0]))
    raise LookupError(f"there is no computation {how!r}")


def _column(value: Any, path: str) -> list[Any]:
    """What stands at a dotted path, one value for each item of the lists on the way."""
    found = [value]
    for step in path.split("."):
        if step.isdigit() and all(isinstance(f, list) for f in found):
            found = [f[int(step)] for f in found]
        else:
            found = [item[step] for f in found for item in (f if isinstance(f, list) else [f])]
    return [item for f in found for item in (f if isinstance(f, list) else [f])]


def _picked(how: str, given: list[Any], values: list[Any], keys: list[Any], result: Any, pick: str) -> Any:
    for step in pick.split(".")[:-2]:
        result = result[step]
    if len(keys) < result.get("total", 0) and len(keys) not in given:
        raise ValueError(f"{len(keys)} of {result['total']} were read")
    pairs = [(v, k) for v, k in zip(values, keys, strict=True) if v is not None]
    if how == "every":
        return keys
    if how in ("over", "under", "equal"):
        return [key for value, key in pairs if _compares(how, value, given[0])]
    ordered = sorted(pairs, key=lambda pair: pair[0], reverse=how == "largest")
    if len(ordered) > 1 and ordered[0][0] == ordered[1][0]:
        raise ValueError(f"there are two {how}")
    return ordered[0][1]


def _compares(how: str, value: Any, bound: Any) -> bool:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", str(bound)):
        value = value[:10]
    return bool({"over": value > bound, "under": value < bound, "equal": value == bound}[how])


def wrong(record: Conversation, results: dict[str, Any], said: list[list[Said]]) -> Iterator[str]:
    """What of a record's workings does not come out, is not said, or comes before what it is worked out from."""
    order = [call.id for call in record.calls]
    for call in record.calls:
        if set(call.hinges) != {place.split(": ")[0] for w in hinges(record, call.id) for place in w.of}:
            yield f"{call.id} hinges on {', '.join(call.hinges) or 'nothing'}, other than what was worked out for it"
    for i, turn in enumerate(record.turns):
        for working in turn.workings:
            name = f"turn {i + 1}: {working.how} of {', '.join(working.of)}"
            try:
                value = again(working, results)
            except (LookupError, TypeError, ValueError) as error:
                yield f"{name}: {error}"
                continue
            if value != working.value:
                yield f"{name} is {value!r}, not {working.value!r}"
            text = " ".join(words for words, _ in said[i])
            if not _says(working, text, said[i]):
                yield f"{name}: {turn.user!r} does not say so"
            sources = {place.split(": ")[0] for place in working.of}
            for call in (c for c in record.calls if c.id in working.calls):
                if not sources <= set(call.after) or any(order.index(s) >= order.index(call.id) for s in sources):
                    yield f"{name}: {call.id} need not come after it"


def _says(working: Working, text: str, said: list[Said]) -> bool:
    asks = working.how in ("over", "under", "equal") and not working.pick
    pattern = _WHETHER if asks else _WORDS.get(working.how, "")
    if pattern and not re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE) and not (working.how == "share" and "%" in text):
        return False
    return all(_given(value, working.how, text, said) for value in working.given)


def _given(value: Any, how: str, text: str, said: list[Said]) -> bool:
    if how == "share" and re.search(_SHARES.get(value, r"(?!)"), text, re.IGNORECASE):
        return True
    if how == "day":
        days = abs(value)
        counts = [f"{days} days", *([f"{_COUNTS[days]} days"] if days < len(_COUNTS) else [])]
        counts += {1: ["the day after", "the day before"], 7: ["week"], 14: ["fortnight"]}.get(days, [])
        return days == 0 or any(count in text.casefold() for count in counts)
    if isinstance(value, str):
        spec = {"type": "string", "format": "date"} if re.fullmatch(r"\d{4}-\d\d-\d\d", value) else {"type": "string"}
        return bool(heard(value, spec, said, {}))
    return bool(heard(value, schema(Cents), said, {}) or heard(value, schema(int), said, {}))


def hinges(record: Conversation, call: str) -> list[Working]:
    """What a call hinges on."""
    return [working for turn in record.turns for working in turn.workings if call in working.calls]


def known(value: Any, workings: list[Working], results: dict[str, Any]) -> bool:
    """Whether a value comes out of one of the workings, with what has been read."""
    return any(type(value) is type(found) and value == found for found in (_or_none(w, results) for w in workings))


def lost(workings: list[Working], results: dict[str, Any]) -> list[str]:
    """The computations among these that do not come out as they should, with what has been read."""
    return [f"{w.how} of {', '.join(w.of)}" for w in workings if _or_none(w, results) != w.value]


def _or_none(working: Working, results: dict[str, Any]) -> Any:
    try:
        return again(working, results)
    except (LookupError, TypeError, ValueError):
        return None
