"""When one event takes place: once, or as its series says, with what was said of single days and what was kept of former times."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from heapq import merge
from itertools import takewhile
from zoneinfo import ZoneInfo

import msgspec
from msgspec import structs

from prove.servers import given

from .records import Deviation, Event, Held, Instance
from .recurrence import after, between, local_day
from .times import overlap

LONGEST = timedelta(days=1)  # nothing lasts longer


class Schedule(msgspec.Struct, frozen=True):
    """An event, the zone of its calendar, and the days on which it is different."""

    event: Event
    zone: str
    deviations: list[Deviation]
    held: list[Held]

    def between(self, begin: datetime, end: datetime) -> list[Instance]:
        """The times that the event takes place within a span of time."""
        return [i for i in self._with(self.by_rule(begin - LONGEST, end)) if overlap(i.span, (begin, end))]

    def since(self, moment: datetime) -> Iterator[Instance]:
        """The times that it takes place which are not over at a moment, the soonest first."""
        rule = self.event.recurrence
        moments = after(rule, self.event.start, self.zone, moment - LONGEST) if rule else [self.event.start]
        return (i for i in self._with(moments) if moment < i.span[1])

    def starts_after(self, moment: datetime) -> datetime | None:
        return next((i.start for i in self.since(moment) if i.start > moment), None)

    def starts_at(self, moment: datetime) -> bool:
        return any(i.start == moment for i in self.between(moment, moment + timedelta(seconds=1)))

    def by_rule(self, begin: datetime, end: datetime) -> list[datetime]:
        """When its rule alone holds, from `begin` to before `end`."""
        rule = self.event.recurrence
        return between(rule, self.event.start, self.zone, begin, end) if rule else [self.event.start]

    def has(self, day: date) -> bool:
        """Whether its rule has that day."""
        at = self._at(day)
        return self.event.recurrence is not None and bool(self.by_rule(at, at + timedelta(seconds=1)))

    def as_it_is(self, deviation: Deviation) -> Instance:
        """An instance that deviates from its series, and in what it does not is like it."""
        own = given(**{f: getattr(deviation, f) for f in ("start", "duration", "summary", "location")})
        return structs.replace(self._regular(deviation.day, self._at(deviation.day)), **own)

    def _with(self, moments: Iterable[datetime]) -> Iterator[Instance]:
        """The instances at moments of the rule that are as it says, and whatever was said or kept of single days."""
        different = {d.day for d in self.deviations}
        regular = (self._regular(day, t) for t in moments if (day := local_day(t, self.zone)) not in different)
        fixed = [self.as_it_is(d) for d in self.deviations if not d.cancelled] + [h.instance for h in self.held]
        return merge(sorted(fixed, key=_start), regular, key=_start) if fixed else regular

    def _regular(self, day: date, start: datetime) -> Instance:
        event = self.event
        return Instance(event.event_id, day, event.summary, start, event.duration, event.location)

    def _at(self, day: date) -> datetime:
        """The moment at which a series takes place on a day, if it does."""
        zone = ZoneInfo(self.zone)
        return datetime.combine(day, self.event.start.astimezone(zone).time().replace(fold=0), zone).astimezone(UTC)


def carried_over(before: Schedule, moved: Schedule, now: datetime) -> tuple[list[Held], list[Deviation]]:
    """What is kept of a series that is moved: what has passed of it, and what was said of single days to come. That stays with its
    day, if the series still has it, and otherwise goes to the day that takes its place."""
    passed = before.by_rule(before.event.start, now + timedelta(microseconds=1))
    over = {local_day(t, before.zone) for t in passed}
    kept = {h.start for h in before.held}
    held = [kept_of(i) for i in before._with(passed) if i.day in over and i.start not in kept]
    coming = [d for d in before.deviations if d.day not in over]
    places = _places(before, moved, now, max((d.day for d in coming), default=date.min))
    places |= {d.day: d.day for d in coming if moved.has(d.day)}
    taken: dict[date, Deviation] = {}
    for deviation in sorted(coming, key=lambda d: places.get(d.day) != d.day):  # who keeps a day comes first
        if day := places.get(deviation.day):
            taken.setdefault(day, structs.replace(deviation, key=key_of(deviation.event_id, day), day=day))
    return held, list(taken.values())


def _places(before: Schedule, moved: Schedule, now: datetime, last: date) -> dict[date, date]:
    """Which day takes the place of which: the first of the one that of the other, and so on."""
    old, new = ((local_day(t, s.zone) for t in after(s.event.recurrence or "", s.event.start, s.zone, now)) for s in (before, moved))
    return dict(zip(takewhile(lambda day: day <= last, old), new, strict=False))


def kept_of(instance: Instance) -> Held:
    return Held(f"{instance.event_id}@{instance.start:%Y%m%dT%H%M%SZ}", *structs.astuple(instance))


def key_of(event_id: str, day: date) -> str:
    return f"{event_id}/{day}"


def _start(instance: Instance) -> datetime:
    return instance.start
