"""RFC 5545 rules: which ones there may be, and when they hold. A rule is followed by the clock on the wall of its zone."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import dropwhile, islice, takewhile
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.rrule import DAILY, MONTHLY, WEEKLY, YEARLY, rrule, weekday

from prove.servers import require

PARTS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYMONTHDAY", "BYDAY", "BYSETPOS", "WKST")
FREQUENCIES = {"DAILY": DAILY, "WEEKLY": WEEKLY, "MONTHLY": MONTHLY, "YEARLY": YEARLY}
WITHIN_A_DAY = ("BYHOUR", "BYMINUTE", "BYSECOND")
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
GREATEST = {"BYMONTH": 12, "BYWEEKNO": 53, "BYYEARDAY": 366, "BYMONTHDAY": 31, "BYSETPOS": 366}
DAYS = {"DAILY": 1, "WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}  # that a period has at most
PERIODS = {DAILY: 1, WEEKLY: 7}  # in days
UNTIL_FORMAT = "%Y%m%dT%H%M%SZ"
LAST = datetime(2200, 12, 31, tzinfo=UTC)  # nothing is asked about later years


def normal(text: str) -> str:
    """The rule in one spelling. Refuses what section 3.3.10 of the standard forbids, and says why."""
    parts = _parts(text)
    frequency = parts.get("FREQ")
    _check(frequency in FREQUENCIES, text, f"FREQ must be one of {', '.join(FREQUENCIES)}")
    _check("COUNT" not in parts or "UNTIL" not in parts, text, "a rule ends by COUNT or by UNTIL, not by both: leave one out")
    _check(frequency != "WEEKLY" or "BYMONTHDAY" not in parts, text, "BYMONTHDAY must not be used with FREQ=WEEKLY: use FREQ=MONTHLY")
    _check(frequency == "YEARLY" or "BYYEARDAY" not in parts, text, "BYYEARDAY is for FREQ=YEARLY only")
    _check(frequency == "YEARLY" or "BYWEEKNO" not in parts, text, "BYWEEKNO is for FREQ=YEARLY only")
    numbered = any(not day.isalpha() for day in parts.get("BYDAY", "MO").split(","))
    by_month = frequency in ("MONTHLY", "YEARLY")
    _check(by_month or not numbered, text, "a number before a weekday in BYDAY is for FREQ=MONTHLY or YEARLY only: leave it out")
    within_months = frequency == "MONTHLY" or "BYMONTH" in parts
    _check(not within_months or _most(parts) <= 5, text, "a month has a weekday five times at most: BYDAY counts to 5 there")
    _check("BYWEEKNO" not in parts or not numbered, text, "a number before a weekday in BYDAY must not be used with BYWEEKNO")
    others = any(part.startswith("BY") for part in parts if part != "BYSETPOS")
    _check("BYSETPOS" not in parts or others, text, "BYSETPOS picks among what another BY part gives: add one, for example BYDAY")
    days, furthest = DAYS[str(frequency)], max(abs(int(n)) for n in parts.get("BYSETPOS", "1").split(","))
    _check(furthest <= days, text, f"BYSETPOS counts to {days} with FREQ={frequency}: there are no more days to pick from")
    if parts.get("WKST") == "MO":
        del parts["WKST"]
    if parts.get("INTERVAL") == "1":
        del parts["INTERVAL"]
    return ";".join(f"{part}={parts[part]}" for part in PARTS if part in parts)


def _most(parts: dict[str, str]) -> int:
    """The highest number before a weekday, from either end."""
    return max(abs(int(day[:-2] or 0)) for day in parts.get("BYDAY", "MO").split(","))


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for item in text.upper().split(";"):
        part, _, value = item.partition("=")
        _check(":" not in part, text, "give the rule alone, without what stands before it in a calendar file, such as RRULE:")
        _check(item, text, "a semicolon stands only between two parts of a rule: leave out the others")
        _check(part not in WITHIN_A_DAY, text, f"a series takes place once a day, at the time of its start: leave {part} out")
        _check(part in PARTS, text, f"{item!r} is no part of a rule; the parts are {', '.join(PARTS)}, parted by semicolons")
        _check(part not in parts, text, f"{part} may be given once only")
        parts[part] = _value(text, part, value)
    return parts


def _value(text: str, part: str, value: str) -> str:
    """The value of a part in one spelling: numbers without a plus or zeros, lists in order."""
    if part == "UNTIL":
        _check(len(value) != 8 or not value.isdigit(), text, f"UNTIL needs a time in UTC: write UNTIL={value}T235959Z")
        _check(_is_moment(value), text, f"UNTIL={value} is no time in UTC: write it like UNTIL=20261231T235959Z")
    elif part == "WKST":
        _check(value in WEEKDAYS, text, f"WKST must be one of {', '.join(WEEKDAYS)}")
    elif part in ("COUNT", "INTERVAL"):
        value = str(_number(text, part, value, 999))
        _check(int(value) > 0, text, f"{part} must be at least 1")
    elif part in GREATEST:
        numbers = {_number(text, part, n, GREATEST[part]) for n in value.split(",")}
        _check(0 not in numbers and (part != "BYMONTH" or min(numbers) > 0), text, f"{part} counts from 1")
        value = ",".join(map(str, sorted(numbers)))
    elif part == "BYDAY":
        value = ",".join(sorted({_weekday(text, day) for day in value.split(",")}, key=lambda d: (WEEKDAYS.index(d[-2:]), d)))
    return value


def _number(text: str, part: str, value: str, greatest: int) -> int:
    sign, digits = (value[0], value[1:]) if value[:1] in ("+", "-") else ("", value)
    fits = digits.isascii() and digits.isdigit() and len(digits) < 4 and int(digits) <= greatest
    _check(fits, text, f"{part} takes whole numbers up to {greatest}, not {value!r}")
    return int(sign + digits)


def _weekday(text: str, day: str) -> str:
    _check(day[-2:] in WEEKDAYS, text, f"BYDAY takes {', '.join(WEEKDAYS)}, with FREQ=MONTHLY or YEARLY also like 2MO or -1FR, not {day!r}")
    number = _number(text, "BYDAY", day[:-2], 53) if day[:-2] else None
    _check(number != 0, text, "BYDAY counts from 1")
    return day[-2:] if number is None else f"{number}{day[-2:]}"


def _is_moment(value: str) -> bool:
    try:
        return datetime.strptime(value, UNTIL_FORMAT).year >= 1900
    except ValueError:
        return False


def _check(holds: object, text: str, why: str) -> None:
    require(holds, "invalid_argument", f"{text}: {why}")


# --- when a rule holds


def count_of(rule: str) -> int | None:
    """How often it holds in all, if it says so."""
    return next((int(part[6:]) for part in rule.split(";") if part.startswith("COUNT=")), None)


def with_count(rule: str, count: int) -> str:
    return ";".join(f"COUNT={count}" if part.startswith("COUNT=") else part for part in rule.split(";"))


def occurrences(rule: str, start: datetime, zone: str, near: datetime | None = None) -> Iterator[datetime]:
    """When a rule holds from `start` on, in UTC. With `near`, those long before it may be left out, which saves counting them."""
    count, named = count_of(rule), _named(rule)
    begin = start.astimezone(ZoneInfo(zone))
    if near and count is None:
        begin = _closer(named, begin, near)
    return (moment.astimezone(UTC) for moment in islice(rrule(dtstart=begin, **named), count))


@lru_cache(maxsize=1 << 10)
def _named(rule: str) -> dict[str, Any]:
    """A rule as dateutil takes it; how often it holds is counted elsewhere, and that it ends at the last is seen to."""
    named: dict[str, Any] = {"until": LAST}
    for part, value in (item.split("=") for item in rule.split(";")):
        if part == "FREQ":
            named["freq"] = FREQUENCIES[value]
        elif part == "UNTIL":
            named["until"] = min(LAST, datetime.strptime(value, UNTIL_FORMAT).replace(tzinfo=UTC))
        elif part == "BYDAY":
            named["byweekday"] = [weekday(WEEKDAYS.index(day[-2:]), int(day[:-2] or 0) or None) for day in value.split(",")]
        elif part == "WKST":
            named["wkst"] = WEEKDAYS.index(value)
        elif part != "COUNT":
            named[part.lower()] = [int(n) for n in value.split(",")] if part in GREATEST else int(value)
    return named


def _closer(named: dict[str, Any], begin: datetime, near: datetime) -> datetime:
    """A later day from which a daily or weekly rule goes on as it would have: whole periods after its begin."""
    period = PERIODS.get(named["freq"], 0) * named.get("interval", 1)
    periods = (near - begin).days // period - 1 if period else 0
    return begin + timedelta(days=max(0, periods) * period)


@lru_cache(maxsize=1 << 14)
def _in_month(rule: str, start: datetime, zone: str, year: int, month: int) -> tuple[datetime, ...]:
    begin = datetime(year, month, 1, tzinfo=UTC)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    since = dropwhile(lambda t: t < begin, occurrences(rule, start, zone, near=begin))
    return tuple(takewhile(lambda t: t < end, since))


def between(rule: str, start: datetime, zone: str, begin: datetime, end: datetime) -> list[datetime]:
    """When a rule that started at `start` holds, from `begin` to before `end`."""
    begin, found = max(begin, start), list[datetime]()
    months = range(begin.year * 12 + begin.month - 1, end.year * 12 + end.month)
    for month in months if begin < end else ():
        found += [t for t in _in_month(rule, start, zone, month // 12, month % 12 + 1) if begin <= t < end]
    return found


def after(rule: str, start: datetime, zone: str, moment: datetime) -> Iterator[datetime]:
    """When a rule holds after a moment."""
    return dropwhile(lambda t: t <= moment, occurrences(rule, start, zone, near=moment))


def local_day(moment: datetime, zone: str) -> date:
    return moment.astimezone(ZoneInfo(zone)).date()


def days(first: date, count: int, zone: str) -> tuple[datetime, datetime]:
    """From the midnight at which a day begins there, over so many days."""
    begin, end = (datetime(d.year, d.month, d.day, tzinfo=ZoneInfo(zone)) for d in (first, first + timedelta(days=count)))
    return begin.astimezone(UTC), end.astimezone(UTC)
