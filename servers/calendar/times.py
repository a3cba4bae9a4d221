"""Spans of time: whether they overlap, and what is left between them."""

from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from .records import Span

WORKDAY = (9, 17)  # in everybody's own time zone

zones = cache(available_timezones)


def overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def meets(span: Span, busy: list[Span]) -> bool:
    """Whether a span overlaps one of those, which are in order and apart (`merged`)."""
    begun = bisect_left(busy, (span[1],))  # so many begin before it ends
    return begun > 0 and span[0] < busy[begun - 1][1]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same time in as few spans as possible, the earliest first."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def in_working_hours(span: Span, zone: str) -> bool:
    start, end = (t.astimezone(ZoneInfo(zone)) for t in span)
    midnight = start.replace(hour=0, minute=0)
    opens, closes = (midnight.replace(hour=hour) for hour in WORKDAY)
    return start.weekday() < 5 and opens <= start and end <= closes
