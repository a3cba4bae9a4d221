"""How a person may say a value: an independent reading of users' words.

It goes the other way round than synthesis does, which parses words into values: from the value, every way of saying it, looked
for in the words between word boundaries.
"""

import re
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from prove.servers.catalog import load
from prove.servers.schema import without_none

Said = tuple[str, date]  # a user's words, and the day they were said on

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_COUNTS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_SPELLED = dict(enumerate(_COUNTS)) | {
    15: "fifteen", 20: "twenty", 25: "twenty-five", 30: "thirty", 40: "forty", 45: "forty-five", 50: "fifty", 60: "sixty", 90: "ninety",
}  # fmt: skip
_CLOCK = r"(?: at (?:\d{1,2}(?::\d\d)? [ap]m|\d{1,2}:\d\d|noon))?"
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(rf"(?:(?:{_MONTH}) \d{{1,2}}(?:, \d{{4}})?(?!\w)|the \d{{1,2}}(?:st|nd|rd|th) of (?:{_MONTH})(?!\w)){_CLOCK}")
_NEAR = {
    0: "today", 1: "tomorrow", -1: "yesterday", 2: "the day after tomorrow", -2: "the day before yesterday",
    7: "a week from today", 14: "two weeks from today", -7: "a week ago", -14: "two weeks ago",
}  # fmt: skip
_SIZES = {"minutes": ("hour", 60), "days": ("week", 7)}  # what people count minutes and days in, where there are many
_ZONE = re.compile(r"(?:[ap]m|\d:\d\d|noon) ([A-Z][\w-]*(?: [A-Z][\w-]*)*) time(?!\w)")


def heard(value: Any, spec: dict[str, Any], said: list[Said], choices: dict[str, str]) -> str:
    """How the words say a value whose JSON Schema is `spec`: the names of the computations, or "" where they don't say all of it.

    `choices` are the words for the values of a closed choice.
    """
    if isinstance(value, list):
        found = [heard(item, spec["items"], said, choices) for item in value]
        return "; ".join(dict.fromkeys(found)) if all(found) else ""
    plain_number = isinstance(value, int | float) and "in cents" not in spec.get("description", "")
    for text, today in said:
        words = _DATE.sub(" ", text) if plain_number else text  # "July 3" says no 3
        for pattern, why in _ways(value, spec, today, choices, words):
            if re.search(pattern, words, re.IGNORECASE):
                return why
    return ""


def verbatim(text: str, said: list[Said]) -> bool:
    """Whether somebody said exactly this text."""
    return any(re.search(_whole(text), words, re.IGNORECASE) for words, _ in said)


def without(said: list[Said], texts: list[str]) -> list[Said]:
    """The words less these texts: "a receipt from Blue Door Books" names no books where the shop is meant."""
    pattern = "|".join(map(_whole, sorted(filter(None, texts), key=len, reverse=True))) or r"(?!)"
    return [(re.sub(pattern, " ", words, flags=re.IGNORECASE), day) for words, day in said]


def choices_of(server: str, name: str, hint: Any) -> dict[str, str]:
    """The words for the values of a closed choice: the domain's `[words.<type>]`, else its `[words.<argument or field>]`."""
    tables, declared = _word_tables(server), vars(sys.modules[load(server).server.__module__])
    of_type = [table for table in tables if table in declared and without_none(hint) == declared[table]]
    return tables.get(of_type[0] if of_type else name, {})


@cache
def _word_tables(server: str) -> dict[str, dict[str, str]]:
    try:
        return dict(load(server).phrases().get("words", {}))
    except FileNotFoundError:
        return {}


# --- ways of saying


def _whole(text: str, ending: str = "") -> str:
    """A pattern for a text that stands by itself: no letter or digit of it belongs to a longer word, but for an ending."""
    before = r"(?<!\w)" if re.match(r"\w", text) else ""
    after = rf"{ending}(?!\w)" if re.search(r"\w$", text) else ""
    return before + re.escape(text) + after


def _ways(value: Any, spec: dict[str, Any], today: date, choices: dict[str, str], words: str) -> Iterator[tuple[str, str]]:
    """(pattern, name of the computation) of each way of saying a value on that day; of a time, in the zones that the words name."""
    key = str(value).lower() if isinstance(value, bool) else str(value)
    if key in choices:
        yield _whole(choices[key], "s?"), "choice in words"
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        told = spec.get("description", "")
        yield from _amounts(int(value)) if "in cents" in told else _numbers(value)
        yield from (way for unit in _SIZES if unit in told and "in cents" not in told for way in _counted(int(value), unit))
        return
    yield _whole(value), "as it is"
    if spec.get("format") == "date":
        yield from _dates(date.fromisoformat(value), today)
    elif spec.get("format") == "date-time":
        yield from _moments(datetime.fromisoformat(value), today, words)
    elif spec.get("description", "").startswith("a month"):
        yield _whole(f"{_MONTHS[int(value[5:]) - 1]} {value[:4]}"), "month by name"
        before = 12 * (today.year - int(value[:4])) + today.month - int(value[5:])
        yield from ((_whole(name), name) for n, name in enumerate(("this month", "last month")) if n == before)
    elif "_" in value:
        yield _whole(value.replace("_", " ")), "choice in words"


def _amounts(cents: int) -> Iterator[tuple[str, str]]:
    """Cents as dollars: "$1,234.50", "1,234.50 dollars", "20 bucks", "forty dollars", "12 dollars and 50 cents"."""
    whole, rest = divmod(cents, 100)
    figure = rf"(?:{whole}|{whole:,})" + (rf"\.{rest:02}" if rest else r"(?:\.00)?")
    yield rf"(?<!-)\${figure}(?!\d|[.,]\d)", "dollars to cents"
    yield rf"(?<![\w$.,-]){figure} (?:dollars?|bucks)(?! and \d)(?!\w)", "dollars to cents"
    if rest:
        yield rf"(?<![\w$.,-]){whole} dollars and {rest} cents(?!\w)", "dollars to cents"
    elif whole in _SPELLED:
        yield rf"(?<![\w-]){_SPELLED[whole]} dollars(?!\w)", "dollars to cents"


def _counted(value: int, unit: str) -> Iterator[tuple[str, str]]:
    """Minutes in hours, days in weeks: "half an hour", "an hour and a half", "two weeks"."""
    larger, size = _SIZES[unit]
    whole, rest = divmod(value, size)
    if whole == 0:
        yield from [(_whole("half an hour"), "hours to minutes")] if (value, unit) == (30, "minutes") else []
        return
    many = f"{'an' if larger == 'hour' else 'a'} {larger}" if whole == 1 else f"(?:{_SPELLED.get(whole, whole)}|{whole})"
    half = rf" and a half{'' if whole == 1 else f' {larger}s'}"
    if rest == 0:
        yield rf"(?<!\w)(?<!half ){many}{'' if whole == 1 else f' {larger}s'}(?! and a half)(?!\w)", f"{larger}s to {unit}"
    elif 2 * rest == size:
        yield rf"(?<!\w){many}{half}(?!\w)", f"{larger}s to {unit}"


def _numbers(value: float) -> Iterator[tuple[str, str]]:
    plain = int(value) if float(value).is_integer() else value
    fraction = r"(?:\.0+)?" if isinstance(plain, int) else "0*"
    yield rf"(?<![\w.,$-])(?:{re.escape(str(plain))}|{re.escape(f'{plain:,}')}){fraction}(?!\d|[.,]\d)", "number"
    if isinstance(plain, int) and plain in _SPELLED:
        yield rf"(?<![\w-]){_SPELLED[plain]}(?![\w-])", "number word"


def _dates(day: date, today: date) -> Iterator[tuple[str, str]]:
    """A day by its date, and a near one as people call it; a weekday is the nearest one on that side of today."""
    ahead, name = (day - today).days, f"{_MONTHS[day.month - 1]} {day.day}"
    if day.year == today.year:
        yield rf"(?<!\w){name}(?!\w|, \d{{4}})", "date by name"
        yield rf"(?<!\w)the {day.day}(?:st|nd|rd|th) of {_MONTHS[day.month - 1]}(?!\w)", "date by name"
    yield rf"(?<!\w){name}, {day.year}(?!\w)", "date by name"
    if ahead in _NEAR:
        yield _whole(_NEAR[ahead]), f"date of {_NEAR[ahead]}"
    if 1 <= ahead <= 7:
        yield _whole(f"this coming {_DAYS[day.weekday()]}"), "date of a coming weekday"
    if -7 <= ahead <= -1:
        yield _whole(f"last {_DAYS[day.weekday()]}"), "date of a past weekday"


def _moments(moment: datetime, today: date, words: str) -> Iterator[tuple[str, str]]:
    """A time by day and clock: in UTC, named or not, and in each zone that the words name by its town."""
    towns = {m[1] for m in _ZONE.finditer(words)}
    zones: list[tuple[tzinfo, str]] = [(UTC, r"(?: UTC)?(?! (?-i:[A-Z])[\w -]* time)")]
    zones += [(ZoneInfo(zone), f" {town} time") for town in sorted(towns) for zone in _zones().get(town, [])]
    for zone, whose in zones:
        there = moment.astimezone(zone)
        minutes = f":{there.minute:02}" if there.minute else "(?::00)?"
        clocks = [rf"{there.hour % 12 or 12}{minutes} {'am' if there.hour < 12 else 'pm'}", rf"0?{there.hour}:{there.minute:02}"]
        clocks += ["noon"] if (there.hour, there.minute) == (12, 0) else []
        for pattern, why in _dates(there.date(), today):
            yield rf"{pattern} at (?:{'|'.join(clocks)}){whose}(?!\w)", f"{why}, time of day"


@cache
def _zones() -> dict[str, list[str]]:
    """The IANA zones by the town that they are named after."""
    out: dict[str, list[str]] = {}
    for zone in sorted(available_timezones()):
        out.setdefault(zone.rsplit("/", 1)[-1].replace("_", " "), []).append(zone)
    return out
