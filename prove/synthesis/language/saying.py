"""How people say values, and how to read them back.

`say` turns an argument into words ("$45.50", "next Friday" as a weekday, "March 4 at 3:30 pm"); `readings` finds, in words,
every value they can stand for. The two are separate on purpose: what `say` wrote is only believed once `readings` finds it.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from prove.servers.schema import bare, metas

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def is_money(hint: Any) -> bool:
    """Whether a hint is an amount in minor units: an integer whose description says cents."""
    return bare(hint) is int and any("in cents" in (m.description or "") for m in metas(hint))


def is_month(hint: Any) -> bool:
    """Whether a hint is a calendar month, YYYY-MM."""
    return any((m.description or "").startswith("a month") for m in metas(hint))


def say(hint: Any, value: Any, today: date, rng: Random | None, words: dict[str, str] | None = None) -> str:
    """A value as a person would say it, or in one plain way without `rng`. `words` are those for a closed choice."""
    core = bare(hint)
    if words and _key(value) in words:
        return words[_key(value)]
    if value is None:
        return "nothing"
    if isinstance(value, list):
        item = getattr(core, "__args__", (str,))[0]
        return _listed([say(item, v, today, rng, words) for v in value])
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_money(hint):
        return _money(int(value), rng)
    if core is date:
        return _day(_as_date(value), today, rng)
    if core is datetime:
        return _moment(_as_datetime(value), today, rng)
    if is_month(hint):
        return f"{MONTHS[int(value[5:]) - 1]} {value[:4]}"
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1e6 and round(value, 4) == float(f"{value:g}") else str(value)
    if core is int and 2 <= value <= 12 and _now_and_then(rng, 0.4):
        return NUMBERS[value]
    return str(value).replace("_", " ") if hasattr(core, "__args__") else str(value)


def _now_and_then(rng: Random | None, chance: float) -> bool:
    return rng is not None and rng.random() < chance


def _key(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "nothing"


def _money(cents: int, rng: Random | None) -> str:
    cents = abs(cents)
    whole, rest = divmod(cents, 100)
    if rest == 0 and _now_and_then(rng, 0.3):
        return f"{whole} dollars"
    return f"${whole:,}" if rest == 0 else f"${whole:,}.{rest:02}"


def _day(day: date, today: date, rng: Random | None) -> str:
    ahead = (day - today).days
    near = {0: "today", 1: "tomorrow", -1: "yesterday"}
    if ahead in near:
        return near[ahead]
    if 2 <= ahead <= 6 and _now_and_then(rng, 0.6):
        return f"this coming {WEEKDAYS[day.weekday()]}"
    if -6 <= ahead <= -2 and _now_and_then(rng, 0.6):
        return f"last {WEEKDAYS[day.weekday()]}"
    return f"{MONTHS[day.month - 1]} {day.day}" + ("" if day.year == today.year else f", {day.year}")


def _moment(moment: datetime, today: date, rng: Random | None) -> str:
    moment = moment.astimezone(UTC)
    clock = f"{moment.hour % 12 or 12}{f':{moment.minute:02}' if moment.minute else ''} {'am' if moment.hour < 12 else 'pm'}"
    return f"{_day(moment.date(), today, rng)} at {clock}"


def _as_date(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(value)


def _as_datetime(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


# --- reading back

_MONEY = re.compile(r"\$(\d[\d,]*)(?:\.(\d\d))?|(\d[\d,]*)(?:\.(\d\d))? dollars")
_CALENDAR = re.compile(rf"({'|'.join(MONTHS)}) (\d{{1,2}})(?:, (\d{{4}}))?\b")
_WEEKDAY = re.compile(rf"(this coming|last) ({'|'.join(WEEKDAYS)})")
_NEAR = re.compile(r"\b(today|tomorrow|yesterday)\b", re.I)
_MONTH = re.compile(rf"({'|'.join(MONTHS)}) (\d{{4}})")
_CLOCK = re.compile(r" at (\d{1,2})(?::(\d\d))? (am|pm)")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


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
        yield from ((f"{m[2]}-{MONTHS.index(m[1]) + 1:02}", "month by name") for m in _MONTH.finditer(text))
    elif core in (int, float):
        yield from ((core(m[0].replace(",", "")), "number") for m in _NUMBER.finditer(text) if core is float or "." not in m[0])
        yield from ((n, "number word") for n, word in enumerate(NUMBERS) if re.search(rf"\b{word}\b", text, re.I))


def _amounts(text: str) -> Iterator[int]:
    for m in _MONEY.finditer(text):
        whole, rest = (m[1], m[2]) if m[1] else (m[3], m[4])
        yield int(whole.replace(",", "")) * 100 + int(rest or 0)


def _days(text: str, today: date) -> Iterator[tuple[date, str, int]]:
    """(day, named computation, where in the text it ends)."""
    for m in _CALENDAR.finditer(text):
        try:
            yield date(int(m[3] or today.year), MONTHS.index(m[1]) + 1, int(m[2])), "date by name", m.end()
        except ValueError:
            continue
    for m in _NEAR.finditer(text):
        yield today + timedelta(days={"today": 0, "tomorrow": 1, "yesterday": -1}[m[1].lower()]), f"date of {m[1].lower()}", m.end()
    for m in _WEEKDAY.finditer(text):
        ahead = (WEEKDAYS.index(m[2]) - today.weekday()) % 7 or 7
        yield today + timedelta(days=ahead if m[1] == "this coming" else ahead - 7 or -7), f"date of {m[0]}", m.end()


def _moments(text: str, today: date) -> Iterator[tuple[str, str]]:
    for day, why, end in _days(text, today):
        if clock := _CLOCK.match(text, end):
            hour = int(clock[1]) % 12 + (12 if clock[3] == "pm" else 0)
            moment = datetime(day.year, day.month, day.day, hour, int(clock[2] or 0), tzinfo=UTC)
            yield moment.isoformat().replace("+00:00", "Z"), f"{why}, time of day"
