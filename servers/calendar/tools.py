"""Calendars of one person. Times are in UTC; a series keeps its hour in the time zone of its calendar, through summer and winter."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import takewhile
from typing import Annotated, Literal, NewType
from zoneinfo import ZoneInfo, available_timezones

from dateutil.rrule import rrulestr
from msgspec import structs

from prove.servers import (
    Day,
    EmailAddress,
    Limit,
    Meta,
    Moment,
    Page,
    PersonName,
    Query,
    Record,
    Server,
    ToolError,
    matches,
    page,
    read,
    require,
    some_given,
    table,
    write,
)

CalendarId = NewType("CalendarId", str)
EventId = NewType("EventId", str)
InstanceId = NewType("InstanceId", str)

Access = Annotated[Literal["owner", "writer", "reader"], Meta(description="what the user may do with the calendar")]
Answer = Annotated[Literal["accepted", "declined", "tentative"], Meta(description="what the user answers to the invitation")]
CalendarName = Annotated[str, Meta(min_length=1, max_length=60, description="what the calendar is called")]
ComingDay = Annotated[date, Meta(description="a date from today on, YYYY-MM-DD")]
Days = Annotated[int, Meta(ge=1, le=62, description="how many days to look at")]
Invitees = Annotated[list[EmailAddress], Meta(min_length=1, max_length=10, description="who must be free, besides the user")]
Lead = Annotated[int, Meta(ge=0, le=40_320, description="how many minutes before the event")]
Minutes = Annotated[int, Meta(ge=5, le=1440, description="how long it lasts, in minutes")]
Notes = Annotated[str, Meta(max_length=2000, description="an agenda, or whatever else is to be known")]
OptionalGuest = Annotated[bool, Meta(description="whether the event can go ahead without this guest")]
Place = Annotated[str, Meta(max_length=120, description="where: a room, an address, or how to dial in")]
RecurrenceRule = Annotated[
    str,
    Meta(
        pattern=r"^FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(;(INTERVAL=[1-9]\d?|COUNT=[1-9]\d{0,2}|UNTIL=\d{8}T\d{6}Z"
        r"|BYDAY=([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)(,([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU))*"
        r"|BYMONTHDAY=-?([1-9]|[12]\d|3[01])))*$",
        description="how it repeats, as an RFC 5545 rule, for example FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10",
    ),
]
StartTime = Annotated[datetime, Meta(tz=True, description="when it begins, with a zone, for example 2026-03-04T09:30:00Z")]
Summary = Annotated[str, Meta(min_length=1, max_length=120, description="the title of the event")]
ZoneName = Annotated[str, Meta(pattern=r"^[A-Za-z_]+(/[A-Za-z_]+)*$", description="an IANA time zone, for example Europe/Berlin")]

LAID_OUT = timedelta(weeks=26)  # so far ahead a series has its instances
WORKDAY = (9, 17)  # in everybody's own time zone
MOST_REMINDERS = 5

zones = cache(available_timezones)

Span = tuple[datetime, datetime]


class Person(Record):
    """Somebody of the same organisation; the user is the first of them."""

    email: EmailAddress
    name: PersonName
    zone: ZoneName
    shares: bool = True  # lets others see when they are free
    answers: bool = True  # answers an invitation as soon as time passes


class Appointment(Record):
    """Something in another person's calendar, of which one sees only that they are busy."""

    appointment_id: str
    email: EmailAddress
    start: Moment
    duration: Minutes


class Calendar(Record):
    calendar_id: CalendarId
    name: CalendarName
    zone: ZoneName
    access: Access


class Attendee(Record):
    email: EmailAddress
    answer: Literal["accepted", "declined", "tentative", "needs_action"] = "needs_action"
    optional: OptionalGuest = False


class Event(Record):
    event_id: EventId
    calendar_id: CalendarId
    summary: Summary
    start: Moment  # of a series: of its first instance
    duration: Minutes
    location: Place
    notes: Notes
    organizer: EmailAddress
    attendees: list[Attendee] = []  # besides the organizer
    recurrence: RecurrenceRule | None = None
    shows_as: Literal["busy", "free"] = "busy"
    reminders: list[Lead] = []


class Instance(Record):
    """One time at which a series takes place."""

    instance_id: InstanceId
    event_id: EventId
    day: Day  # on which the rule puts it, even if it was moved
    summary: Summary
    start: Moment
    duration: Minutes
    location: Place
    status: Literal["regular", "changed", "cancelled"] = "regular"


class EventLine(Record):
    event_id: EventId
    calendar_id: CalendarId
    summary: Summary
    start: Moment


class Occurrence(Record):
    """One entry of the agenda: a single event, or an instance of a series."""

    event_id: EventId
    instance_id: InstanceId | None
    summary: Summary
    start: Moment
    day: Day


class Booked(Record):
    event: Event
    overlaps: list[Occurrence]  # what the user is busy with at that time


class Slot(Record):
    start: Moment
    end: Moment


class FreeBusy(Record):
    email: EmailAddress
    day: Day
    busy: list[Slot]
    busy_minutes: int


class Calendars(Server):
    """Calendars of one person: events, series, invitations, free and busy time."""

    category = "Productivity"

    people = table(Person)
    appointments = table(Appointment, "APT-{}")
    calendars = table(Calendar, "CAL-{}", start=11)
    events = table(Event, "EVT-{}", start=2001)
    instances = table(Instance, "INS-{}", start=50001)

    # --- calendars and what is in them

    @read
    def list_calendars(self, access: Access | None = None) -> Page[Calendar]:
        """List the user's calendars with their time zones and what the user may do with them."""
        return page((c for c in self.calendars if access in (None, c.access)), 50, Calendar)

    @write
    def create_calendar(self, name: CalendarName, zone: ZoneName) -> Calendar:
        """Make a new calendar of the user's own."""
        same = [c.calendar_id for c in self.calendars if c.name.casefold() == name.casefold()]
        require(not same, "conflict", f"there is a calendar {name!r} already: {', '.join(same)}")
        require(zone in zones(), "invalid_argument", f"there is no time zone {zone!r}; one is Europe/Berlin")
        return self.calendars.add(Calendar(CalendarId(self.calendars.mint()), name, zone, "owner"))

    @read
    def list_events(
        self,
        first_day: Day | None = None,
        days: Days | None = None,
        calendar_id: CalendarId | None = None,
        event_id: EventId | None = None,
        limit: Limit = 10,
    ) -> Page[Occurrence]:
        """Show the agenda, soonest first, series with each instance; by default a week from today, or half a year of one event."""
        first = first_day or self.today
        end = first + (timedelta(days=days) if days else LAID_OUT if event_id else timedelta(days=7))
        events = [self.events.get(event_id)] if event_id else self._in_calendar(calendar_id)
        found = (_occurrence(t) for e in events for t in self._times(e) if first <= t.start.date() < end)
        return page(sorted(found, key=lambda o: (o.start, o.event_id)), limit, Occurrence)

    @read
    def search_events(self, query: Query, calendar_id: CalendarId | None = None, limit: Limit = 10) -> Page[EventLine]:
        """Find events by words in title, place or notes, the latest first; a series counts as one event."""
        found = [e for e in self._in_calendar(calendar_id) if matches(query, e.summary, e.location, e.notes)]
        return page(sorted(found, key=lambda e: e.start, reverse=True), limit, EventLine)

    @read
    def get_event(self, event_id: EventId) -> Event:
        """Show an event with its length, place, notes, guests and their answers."""
        return self.events.get(event_id)

    # --- making and changing events

    @write
    def create_event(
        self, calendar_id: CalendarId, summary: Summary, start: StartTime, duration: Minutes, location: Place = "", notes: Notes = ""
    ) -> Booked:
        """Put a single event into a calendar; says what it overlaps with."""
        event_id, start = EventId(self.events.mint()), start.astimezone(UTC)
        return self._book(Event(event_id, calendar_id, summary, start, duration, location, notes, self._me().email))

    @write
    def create_recurring_event(
        self,
        calendar_id: CalendarId,
        summary: Summary,
        start: StartTime,
        duration: Minutes,
        recurrence: RecurrenceRule,
        location: Place = "",
    ) -> Booked:
        """Put a series into a calendar, with its instances for half a year; it begins when the rule first holds from start on."""
        calendar, event_id = self.calendars.get(calendar_id), EventId(self.events.mint())
        first = self._first(recurrence, start, calendar.zone)
        return self._book(Event(event_id, calendar_id, summary, first, duration, location, "", self._me().email, recurrence=recurrence))

    @write(idempotent=True)
    def update_event(
        self,
        event_id: EventId,
        summary: Summary | None = None,
        start: StartTime | None = None,
        duration: Minutes | None = None,
        location: Place | None = None,
        notes: Notes | None = None,
    ) -> Booked:
        """Change or move an event; a series is laid out anew from its new start, and what has passed of it stays."""
        event = self._own(event_id)
        changes = some_given(summary=summary, start=start and start.astimezone(UTC), duration=duration, location=location, notes=notes)
        if event.recurrence and start:
            changes["start"] = self._first(event.recurrence, start, self.calendars.get(event.calendar_id).zone)
        changed = self.events.update(event_id, **changes)
        self._bring_in_line(changed, restart=changed.start != event.start)
        return self._with_overlaps(changed)

    @write(destructive=True)
    def delete_event(self, event_id: EventId) -> Event:
        """Call off an event, or a whole series, that the user organises."""
        self._own(event_id)
        for instance in self.instances.where(event_id=event_id):
            self.instances.remove(instance.instance_id)
        return self.events.remove(event_id)

    @write(idempotent=True)
    def update_event_instance(
        self,
        instance_id: InstanceId,
        start: StartTime | None = None,
        duration: Minutes | None = None,
        summary: Summary | None = None,
        location: Place | None = None,
    ) -> Instance:
        """Change or move one instance of a series and leave the others alone."""
        self._coming(instance_id)
        require((start or self.now) >= self.now, "failed_precondition", f"{start} has passed: move it to a later time")
        changes = some_given(start=start and start.astimezone(UTC), duration=duration, summary=summary, location=location)
        return self.instances.update(instance_id, **changes, status="changed")

    @write(destructive=True)
    def cancel_event_instance(self, instance_id: InstanceId) -> Instance:
        """Call off one instance of a series."""
        self._coming(instance_id)
        return self.instances.update(instance_id, status="cancelled")

    @write
    def set_reminder(self, event_id: EventId, lead_time: Lead) -> Event:
        """Remind the user of an event; it may have up to five reminders."""
        event = self.events.get(event_id)
        require(self._lies_ahead(event), "failed_precondition", f"{event_id} is over")
        require(lead_time not in event.reminders, "conflict", f"{event_id} has a reminder {lead_time} minutes before already")
        require(len(event.reminders) < MOST_REMINDERS, "resource_exhausted", f"{event_id} has {MOST_REMINDERS} reminders: that is the most")
        return self.events.update(event_id, reminders=sorted([*event.reminders, lead_time]))

    # --- guests

    @write(idempotent=True)
    def respond_to_event(self, event_id: EventId, answer: Answer) -> Event:
        """Answer an invitation; a declined event no longer makes the user busy."""
        event, me = self.events.get(event_id), self._me().email
        require(event.organizer != me, "failed_precondition", f"{event_id} is the user's own event: there is no invitation to answer")
        require(any(a.email == me for a in event.attendees), "permission_denied", f"the user is not invited to {event_id}")
        guests = [structs.replace(a, answer=answer) if a.email == me else a for a in event.attendees]
        return self.events.update(event_id, attendees=guests)

    @write
    def add_attendee(self, event_id: EventId, email: EmailAddress, optional: OptionalGuest = False) -> Event:
        """Invite somebody to an event that the user organises."""
        event, email = self._own(event_id), email.lower()
        require(self._lies_ahead(event), "failed_precondition", f"{event_id} is over: nobody can be invited any more")
        there = [event.organizer, *(a.email for a in event.attendees)]
        require(email not in there, "conflict", f"{email} takes part in {event_id} already")
        guests = sorted([*event.attendees, Attendee(email, optional=optional)], key=lambda a: a.email)
        return self.events.update(event_id, attendees=guests)

    @write(destructive=True)
    def remove_attendee(self, event_id: EventId, email: EmailAddress) -> Event:
        """Take somebody off the guests of an event that the user organises."""
        event, email = self._own(event_id), email.lower()
        rest = [a for a in event.attendees if a.email != email]
        invited = ", ".join(a.email for a in event.attendees) or "nobody"
        require(len(rest) < len(event.attendees), "not_found", f"{email} is not invited to {event_id}, only {invited}")
        return self.events.update(event_id, attendees=rest)

    @read
    def get_free_busy(self, email: EmailAddress, day: ComingDay) -> FreeBusy:
        """Show when somebody is busy on a day, without saying with what."""
        whole = _day(day)
        engaged = self._busy(self._sharing(email), whole)
        busy = _merged((max(s, whole[0]), min(e, whole[1])) for s, e in engaged if _overlap((s, e), whole))
        return FreeBusy(email.lower(), day, [Slot(*b) for b in busy], sum((end - start) // timedelta(minutes=1) for start, end in busy))

    @read
    def find_meeting_slot(
        self, invitees: Invitees, duration: Minutes, first_day: ComingDay, days: Days = 5, limit: Limit = 5
    ) -> Page[Slot]:
        """Find times at which the user and all invitees are free within everybody's working hours."""
        require(first_day >= self.today, "invalid_argument", f"{first_day} has passed: look from {self.today} on")
        people = [self._me(), *(self._sharing(email) for email in dict.fromkeys(invitees))]
        begin = _day(first_day)[0]
        busy = _merged(span for person in people for span in self._busy(person, (begin, begin + timedelta(days=days + 1))))
        starts = (begin + timedelta(minutes=30 * n) for n in range(48 * days))
        spans = [(start, start + timedelta(minutes=duration)) for start in starts if start >= self.now]
        free = (s for s in spans if all(_in_working_hours(s, p.zone) for p in people) and not _meets(s, busy))
        return page((Slot(*s) for s in free), limit, Slot)

    # --- rules

    def elapse(self) -> None:
        for event in [e for e in self.events if e.recurrence]:
            self.lay_out(event, after=max((i.day for i in self.instances.where(event_id=event.event_id)), default=date.min))
        for event in [e for e in self.events if e.organizer == self._me().email and self._lies_ahead(e)]:
            if any(guest.answer == "needs_action" for guest in event.attendees):
                self.events.update(event.event_id, attendees=[self._answer(event, guest) for guest in event.attendees])

    def _answer(self, event: Event, guest: Attendee) -> Attendee:
        """A guest who answers at all comes if free; of a series, the next instance counts."""
        person = self.people.find(guest.email)
        if guest.answer != "needs_action" or person is None or not person.answers:
            return guest
        next_time = min(span for span in map(_span, self._times(event)) if span[1] > self.now)
        taken = any(_overlap(_span(a), next_time) for a in self.appointments.where(email=person.email))
        return structs.replace(guest, answer="declined" if taken else "accepted")

    def _me(self) -> Person:
        return next(iter(self.people))

    def _in_calendar(self, calendar_id: CalendarId | None) -> list[Event]:
        if calendar_id is None:
            return list(self.events)
        return self.events.where(calendar_id=self.calendars.get(calendar_id).calendar_id)

    def _own(self, event_id: EventId) -> Event:
        """An event that the user may change."""
        event = self.events.get(event_id)
        theirs = f"{event_id} is organised by {event.organizer}: only they can change it, the user can only answer"
        require(event.organizer == self._me().email, "permission_denied", theirs)
        return event

    def _coming(self, instance_id: InstanceId) -> Instance:
        """An instance that the user may still change."""
        instance = self.instances.get(instance_id)
        self._own(instance.event_id)
        require(instance.status != "cancelled", "failed_precondition", f"{instance_id} has been cancelled")
        require(instance.start > self.now, "failed_precondition", f"{instance_id} has begun or is over")
        return instance

    def _sharing(self, email: EmailAddress) -> Person:
        """Somebody who lets others see when they are free."""
        known = [p for p in self.people if p.email == email.lower()]
        require(known, "not_found", f"nobody here has the address {email}")
        require(known[0].shares, "permission_denied", f"{email} does not show others when they are free: ask them")
        return known[0]

    def _first(self, rule: str, start: datetime, zone: str) -> datetime:
        """When a series that is to begin at `start` has its first instance."""
        require(start > self.now, "failed_precondition", f"{start:%Y-%m-%d %H:%M} has passed: a series begins in the future")
        for first in occurrences(rule, start, zone):
            return first
        raise ToolError("invalid_argument", f"{rule} never holds after {start:%Y-%m-%d %H:%M}")

    def _book(self, event: Event) -> Booked:
        calendar = self.calendars.get(event.calendar_id)
        require(calendar.access != "reader", "permission_denied", f"the user can only read {calendar.calendar_id}, {calendar.name}")
        same = [e.event_id for e in self.events.where(start=event.start, calendar_id=calendar.calendar_id) if e.summary == event.summary]
        require(not same, "conflict", f"{', '.join(same)} has the same title and start in the same calendar")
        self.events.add(event)
        self.lay_out(event)
        return self._with_overlaps(event)

    def lay_out(self, event: Event, after: date = date.min) -> None:
        """Give a series its instances, for as far ahead as instances are kept."""
        if event.recurrence is None:
            return
        horizon = max(self.now, event.start) + LAID_OUT
        starts = takewhile(lambda t: t <= horizon, occurrences(event.recurrence, event.start, self.calendars.get(event.calendar_id).zone))
        for start in (t for t in starts if t.date() > after):
            what = (event.event_id, start.date(), event.summary, start, event.duration, event.location)
            self.instances.add(Instance(InstanceId(self.instances.mint()), *what))

    def _bring_in_line(self, event: Event, restart: bool) -> None:
        """Make the coming instances what their series has become."""
        for instance in [i for i in self.instances.where(event_id=event.event_id) if i.start > self.now]:
            if restart:
                self.instances.remove(instance.instance_id)
            elif instance.status == "regular":
                self.instances.update(instance.instance_id, summary=event.summary, duration=event.duration, location=event.location)
        if restart:
            self.lay_out(event)

    def _times(self, event: Event) -> list[Event] | list[Instance]:
        """When an event takes place: as itself, or as the instances of a series."""
        if event.recurrence is None:
            return [event]
        return [i for i in self.instances.where(event_id=event.event_id) if i.status != "cancelled"]

    def _lies_ahead(self, event: Event) -> bool:
        return any(_span(t)[1] > self.now for t in self._times(event))

    def _with_overlaps(self, event: Event) -> Booked:
        mine = _merged(span for span in map(_span, self._times(event)) if span[1] > self.now)
        others = (e for e in self.events if e.event_id != event.event_id and _engages(e, self._me().email))
        around = (mine[0][0], mine[-1][1]) if mine else (self.now, self.now)
        found = [_occurrence(t) for e in others for t in self._times(e) if _near(t, around) and _meets(_span(t), mine)]
        return Booked(event, sorted(found, key=lambda o: (o.start, o.event_id))[:5])

    def _busy(self, person: Person, around: Span) -> list[Span]:
        """When somebody is engaged, as far as it can touch a time."""
        taken = [
            *self.appointments.where(email=person.email),
            *(t for e in self.events if _engages(e, person.email) for t in self._times(e)),
        ]
        return [_span(what) for what in taken if _near(what, around)]


def _engages(event: Event, email: str) -> bool:
    """Whether an event makes somebody busy: they organise it, or are invited and have not declined."""
    takes_part = event.organizer == email or any(a.email == email and a.answer != "declined" for a in event.attendees)
    return takes_part and event.shows_as == "busy"


def occurrences(rule: str, start: datetime, zone: str) -> Iterator[datetime]:
    """When a rule holds from `start` on. It is followed by the clock on the wall of its zone, so that ten stays ten in summer."""
    once = all(rule.count(part) == 1 for part in {item.split("=")[0] for item in rule.split(";")})
    require(once and not ("COUNT" in rule and "UNTIL" in rule), "invalid_argument", f"{rule}: give each part once, and COUNT or UNTIL")
    try:
        holds = rrulestr(rule, dtstart=start.astimezone(ZoneInfo(zone)))
    except ValueError as problem:
        raise ToolError("invalid_argument", f"{rule} is no recurrence rule: {problem}") from None
    return (moment.astimezone(UTC) for moment in holds)


def _near(what: Appointment | Event | Instance, around: Span) -> bool:
    """Whether something could touch a time; nothing lasts longer than a day."""
    return around[0] - timedelta(days=1) <= what.start < around[1]


def _span(what: Appointment | Event | Instance) -> Span:
    return what.start, what.start + timedelta(minutes=what.duration)


def _occurrence(what: Event | Instance) -> Occurrence:
    if isinstance(what, Event):
        return Occurrence(what.event_id, None, what.summary, what.start, what.start.date())
    return Occurrence(what.event_id, what.instance_id, what.summary, what.start, what.day)


def _day(day: date) -> Span:
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return midnight, midnight + timedelta(days=1)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _meets(span: Span, busy: list[Span]) -> bool:
    """Whether a span overlaps one of those, which are in order and apart (`_merged`)."""
    begun = bisect_left(busy, (span[1],))  # so many begin before it ends
    return begun > 0 and span[0] < busy[begun - 1][1]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The same time in as few spans as possible, the earliest first."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def _in_working_hours(span: Span, zone: str) -> bool:
    start, end = (t.astimezone(ZoneInfo(zone)) for t in span)
    midnight = start.replace(hour=0, minute=0)
    opens, closes = (midnight.replace(hour=hour) for hour in WORKDAY)
    return start.weekday() < 5 and opens <= start and end <= closes
