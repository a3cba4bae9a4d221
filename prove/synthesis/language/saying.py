"""How people say values, and how to read them back.

`ways` gives every way in which a person may say an argument ("$45.50", "the 4th of March", "noon Sydney time"), `say` draws one
of them; `readings` finds, in words, every value that they can stand for. The two are separate on purpose: what `say` wrote is
only believed once `readings` finds it.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from prove.servers.schema import bare, metas
from prove.synthesis.language.zones import place, zones_called

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
WORDED = dict(enumerate(NUMBERS)) | {
    15: "fifteen", 20: "twenty", 25: "twenty-five", 30: "thirty", 40: "forty", 45: "forty-five", 50: "fifty", 60: "sixty", 90: "ninety",
}  # fmt: skip
#: Days from today that have a name of their own.
NEAR = {
    0: "today", 1: "tomorrow", -1: "yesterday", 2: "the day after tomorrow", -2: "the day before yesterday",
    7: "a week from today", 14: "two weeks from today", -7: "a week ago", -14: "two weeks ago",
}  # fmt: skip
#: How many of the smaller unit are one of the larger.
LARGER = {"minutes": ("hour", 60), "days": ("week", 7)}


def is_money(hint: Any) -> bool:
    """Whether a hint is an amount in minor units: an integer whose description says cents."""
    return bare(hint) is int and any("in cents" in (m.description or "") for m in metas(hint))


def is_month(hint: Any) -> bool:
    """Whether a hint is a calendar month, YYYY-MM."""
    return any((m.description or "").startswith("a month") for m in metas(hint))


def say(hint: Any, value: Any, today: date, rng: Random | None, words: dict[str, str] | None = None, unit: str = "", zone: str = "") -> str:
    """A value as a person would say it, or in one plain way without `rng`.

    `words` are those for a closed choice; with a `unit` ("minutes", "days") a number is said with it; with a `zone` (IANA), a
    time is that zone's, and says so.
    """
    if isinstance(value, list) and not (words and _key(value) in words):
        item = getattr(bare(hint), "__args__", (str,))[0]
        return listed([say(item, v, today, rng, words, unit, zone) for v in value])
    plain, *others = ways(hint, value, today, words, unit, zone)
    return rng.choice(others) if rng is not None and others and rng.random() < 0.5 else plain


def ways(hint: Any, value: Any, today: date, words: dict[str, str] | None = None, unit: str = "", zone: str = "") -> list[str]:
    """Every way of saying a value that is no list, the plain one first."""
    core = bare(hint)
    if words and _key(value) in words:
        return [words[_key(value)]]
    if value is None:
        return ["nothing"]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if is_money(hint):
        return _money(int(value))
    if core is date:
        return _day(_as_date(value), today)
    if core is datetime:
        return _moment(_as_datetime(value), today, zone)
    if is_month(hint):
        return _month(value, today)
    if isinstance(value, float):
        return [_float(value)]
    if core is int:
        return _counted(value, unit)
    return [str(value).replace("_", " ") if hasattr(core, "__args__") else str(value)]


def listed(parts: list[str]) -> str:
    """Things in a row: "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "nothing"


def _key(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _float(value: float) -> str:
    """The shortest text that is the very same number."""
    short = f"{value:g}"
    return short if float(short) == value and "e" not in short else str(int(value)) if value.is_integer() else str(value)


def _counted(value: int, unit: str) -> list[str]:
    numbers = [str(value), *([WORDED[value]] if value > 1 and value in WORDED else [])]
    if not unit:
        return numbers
    noun = unit if value != 1 else unit.removesuffix("s")
    return [f"{n} {noun}" for n in numbers] + _in_larger(value, unit)


def _in_larger(value: int, unit: str) -> list[str]:
    """90 minutes as "an hour and a half", 14 days as "two weeks"."""
    larger, size = LARGER.get(unit, ("", 0))
    if not size or value < size:
        return ["half an hour"] if (value, unit) == (30, "minutes") else []
    article = "an" if larger == "hour" else "a"
    whole, rest = divmod(value, size)
    if rest == 0:
        return [f"{article} {larger}" if whole == 1 else f"{WORDED.get(whole, whole)} {larger}s"]
    if 2 * rest == size:
        return [f"{article} {larger} and a half" if whole == 1 else f"{WORDED.get(whole, whole)} and a half {larger}s"]
    return []


def amount(cents: int) -> str:
    """Cents in figures, with their sign."""
    return _money(cents)[0]


def _money(cents: int) -> list[str]:
    """ "$45.50", "45 dollars and 50 cents"; an amount below zero keeps its sign."""
    sign, (whole, rest) = "-" if cents < 0 else "", divmod(abs(cents), 100)
    if rest:
        spelled = [f"{whole} dollars and {rest} cents"] if 1 < whole < 1000 and rest > 1 and not sign else []
        return [f"{sign}${whole:,}.{rest:02}", *spelled]
    spelled = [f"{WORDED[whole]} dollars"] if whole > 1 and whole in WORDED else []
    return [f"{sign}${whole:,}", *([f"{whole} dollars", f"{whole} bucks", *spelled] if whole > 1 and not sign else [])]


def _day(day: date, today: date) -> list[str]:
    ahead, year = (day - today).days, "" if day.year == today.year else f", {day.year}"
    dates = [f"{MONTHS[day.month - 1]} {day.day}{year}", *([] if year else [f"the {_ordinal(day.day)} of {MONTHS[day.month - 1]}"])]
    weekday = WEEKDAYS[day.weekday()]
    near = [NEAR[ahead]] if ahead in NEAR else []
    if 2 <= ahead <= 6:
        near = [f"this coming {weekday}", *near]
    if -6 <= ahead <= -2:
        near = [f"last {weekday}", *near]
    return [*near, *dates] if -1 <= ahead <= 1 else [dates[0], *near, *dates[1:]]


def _ordinal(n: int) -> str:
    return f"{n}{'th' if n in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def _month(month: str, today: date) -> list[str]:
    apart = (today.year - int(month[:4])) * 12 + today.month - int(month[5:])
    near = {0: ["this month"], 1: ["last month"]}
    return [f"{MONTHS[int(month[5:]) - 1]} {month[:4]}", *near.get(apart, [])]


def _moment(moment: datetime, today: date, zone: str) -> list[str]:
    there = moment.astimezone(UTC if not zone else place(zone))
    clock = f"{there.hour % 12 or 12}{f':{there.minute:02}' if there.minute else ''} {'am' if there.hour < 12 else 'pm'}"
    clocks = [clock, f"{there.hour}:{there.minute:02}", *(["noon"] if (there.hour, there.minute) == (12, 0) else [])]
    whose = "" if not zone else " UTC" if zone == "UTC" else f" {zone.rsplit('/', 1)[-1].replace('_', ' ')} time"
    days = _day(there.date(), today)
    return [f"{days[0]} at {clock}{whose}", *(f"{d} at {c}{whose}" for d in days for c in clocks)]


def _as_date(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(value)


def _as_datetime(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


# --- reading back

_COUNT = "|".join(WORDED.values())
_MONEY = re.compile(r"\$(\d[\d,]*)(?:\.(\d\d))?|(\d[\d,]*)(?:\.(\d\d))? (?:dollars(?: and (\d\d?) cents)?|bucks)")
_SPELLED_MONEY = re.compile(rf"\b({_COUNT}) dollars", re.I)
_CALENDAR = re.compile(rf"({'|'.join(MONTHS)}) (\d{{1,2}})(?:, (\d{{4}}))?\b|the (\d{{1,2}})(?:st|nd|rd|th) of ({'|'.join(MONTHS)})")
_WEEKDAY = re.compile(rf"(this coming|last) ({'|'.join(WEEKDAYS)})", re.I)
_NEAR = re.compile(rf"\b({'|'.join(sorted(NEAR.values(), key=len, reverse=True))})\b", re.I)
_AHEAD = {name: ahead for ahead, name in NEAR.items()}
_MONTH = re.compile(rf"({'|'.join(MONTHS)}) (\d{{4}})|\b(this|last) month\b", re.I)
_CLOCK = re.compile(r" at (?:(\d{1,2})(?::(\d\d))? (am|pm)|(\d{1,2}):(\d\d)|(noon))(?: (?:(UTC)\b|([A-Z][\w-]*(?: [A-Z][\w-]*)*) time\b))?")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_LARGER = re.compile(rf"\b(?:(an?|{_COUNT}|\d+)( and a half)? (hour|week)s?( and a half)?|(half an hour))\b", re.I)


def readings(text: str, hint: Any, today: date) -> Iterator[tuple[Any, str]]:
    """Every (value, named computation) that words can stand for as an argument of that type, in JSON form."""
    core = bare(hint)
    if is_money(hint):
        yield from ((v, "dollars to cents") for v in _amounts(text))
    elif core is date:
        yield from ((d.isoformat(), why) for d, why, _ in _days(text, today))
    elif core is datetime:
        yield from _moments(text, today)
    elif is_month(hint):
        yield from _months(text, today)
    elif core in (int, float):
        yield from ((core(m[0].replace(",", "")), "number") for m in _NUMBER.finditer(text) if core is float or "." not in m[0])
        yield from ((n, "number word") for n, word in WORDED.items() if re.search(rf"(?<![\w-]){word}(?![\w-])", text, re.I))
        yield from _converted(text, " ".join(m.description or "" for m in metas(hint)))


def _converted(text: str, description: str) -> Iterator[tuple[int, str]]:
    """Hours and weeks, for a type that counts minutes or days."""
    for m in _LARGER.finditer(text):
        for unit, (larger, size) in LARGER.items():
            if m[5] and unit == "minutes" and unit in description:
                yield 30, "hours to minutes"
            elif m[3] and m[3].lower() == larger and unit in description:
                spelled = {word: n for n, word in WORDED.items()} | {"a": 1, "an": 1}
                count = spelled.get(m[1].lower()) if not m[1].isdigit() else int(m[1])
                yield (count or 0) * size + (size // 2 if m[2] or m[4] else 0), f"{larger}s to {unit}"


def _amounts(text: str) -> Iterator[int]:
    for m in _MONEY.finditer(text):
        whole, rest = (m[1], m[2]) if m[1] else (m[3], m[4] or m[5])
        yield int(whole.replace(",", "")) * 100 + int(rest or 0)
    for m in _SPELLED_MONEY.finditer(text):
        yield next(n for n, word in WORDED.items() if word == m[1].lower()) * 100


def _months(text: str, today: date) -> Iterator[tuple[str, str]]:
    for m in _MONTH.finditer(text):
        if m[1]:
            yield f"{m[2]}-{MONTHS.index(m[1].capitalize()) + 1:02}", "month by name"
        else:
            month = today if m[3].lower() == "this" else today.replace(day=1) - timedelta(days=1)
            yield f"{month:%Y-%m}", f"{m[3].lower()} month"


def _days(text: str, today: date) -> Iterator[tuple[date, str, int]]:
    """(day, named computation, where in the text it ends)."""
    for m in _CALENDAR.finditer(text):
        month, day = (m[1], m[2]) if m[1] else (m[5], m[4])
        try:
            yield date(int(m[3] or today.year), MONTHS.index(month) + 1, int(day)), "date by name", m.end()
        except ValueError:
            continue
    for m in _NEAR.finditer(text):
        yield today + timedelta(days=_AHEAD[m[1].lower()]), f"date of {m[1].lower()}", m.end()
    for m in _WEEKDAY.finditer(text):
        ahead = (WEEKDAYS.index(m[2].capitalize()) - today.weekday()) % 7 or 7
        yield today + timedelta(days=ahead if m[1].lower() == "this coming" else ahead - 7 or -7), f"date of {m[0].lower()}", m.end()


def _moments(text: str, today: date) -> Iterator[tuple[str, str]]:
    for day, why, end in _days(text, today):
        if clock := _CLOCK.match(text, end):
            hour, minute = (int(clock[1]) % 12 + 12 * (clock[3] == "pm"), clock[2]) if clock[1] else (int(clock[4] or 12), clock[5])
            if hour > 23 or int(minute or 0) > 59:
                continue
            for zone in zones_called(clock[8]) if clock[8] else [UTC]:
                moment = datetime(day.year, day.month, day.day, hour, int(minute or 0), tzinfo=zone).astimezone(UTC)
                yield moment.isoformat().replace("+00:00", "Z"), f"{why}, time of day"
