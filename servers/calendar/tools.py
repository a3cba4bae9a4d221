"""Calendars of one person. Times are in UTC, days in the time zone of the calendar, by which a series keeps its hour all year."""

from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from msgspec import structs

from prove.servers import (
    Day, EmailAddress, Limit, Offset, Page, Query, Server, ToolError, given, matches, newest, page, read, require, some_given, table, write
)  # fmt: skip
from .records import (
    Access, Answer, Appointment, Attendee, Booked, Calendar, CalendarId, CalendarName, ComingDay, Days, Deviation, Event, EventId,
    EventLine, FreeBusy, Held, Instance, InstanceDay, Invitees, Lead, Minutes, Notes, Occurrence, OptionalGuest, Person, Place,
    RecurrenceRule, Removed, Slot, Span, StartTime, Summary, ZoneName,
)  # fmt: skip
from .recurrence import count_of, days as days_from, local_day, normal, occurrences, with_count
from .schedule import LONGEST, Schedule, carried_over, key_of
from .times import in_working_hours, meets, merged, overlap, zones

HALF_A_YEAR = 182  # days
ANSWERED_WITHIN = timedelta(hours=1)
MOST_REMINDERS = 5


class Calendars(Server):
    """Calendars of one person: events, series, invitations, free and busy time."""

    category = "Productivity"

    people = table(Person)
    appointments = table(Appointment, "APT-{}")
    calendars = table(Calendar, "CAL-{}", start=11)
    events = table(Event, "EVT-{}", start=2001)
    deviations = table(Deviation)
    held = table(Held)

    # --- calendars and what is in them

    @read
    def list_calendars(self, access: Access | None = None, offset: Offset = 0) -> Page[Calendar]:
        """List the user's calendars with their time zones and what the user may do with them."""
        return page(self.calendars.where(**given(access=access)), 50, Calendar, offset)

    @write
    def create_calendar(self, name: CalendarName, zone: ZoneName) -> Calendar:
        """Make a new calendar of the user's own."""
        same = [c.calendar_id for c in self.calendars if c.name.casefold() == name.casefold()]
        require(not same, "conflict", f"there is a calendar {name!r} already, {', '.join(same)}: choose another name")
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
        offset: Offset = 0,
    ) -> Page[Occurrence]:
        """Show the agenda, soonest first, series with each instance; by default a week from today, or half a year of one event."""
        first, count = first_day or self._today(), days or (HALF_A_YEAR if event_id else 7)
        events = self.events.where(**given(event_id=event_id, calendar_id=calendar_id))
        found = [_entry(e, i) for e in events for i in self.schedule(e).between(*days_from(first, count, self._zone(e)))]
        return page(sorted(found, key=lambda o: (o.start, o.event_id)), limit, Occurrence, offset)

    @read
    def search_events(self, query: Query, calendar_id: CalendarId | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[EventLine]:
        """Find events by words in title, place or notes, the latest first by their start; a series counts as one event."""
        found = [e for e in self.events.where(**given(calendar_id=calendar_id)) if matches(query, e.summary, e.location, e.notes)]
        return page(newest(found, lambda e: e.start), limit, EventLine, offset)

    @read
    def get_event(self, event_id: EventId) -> Event:
        """Show an event with its length, place, notes, guests and their answers, reminders and when the user was last reminded."""
        return self.events.get(event_id)

    # --- making and changing events

    @write
    def create_event(
        self, calendar_id: CalendarId, summary: Summary, start: StartTime, duration: Minutes, location: Place = "", notes: Notes = ""
    ) -> Booked:
        """Put a single event into a calendar; says what it overlaps with."""
        event_id = EventId(self.events.mint())
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
        """Put a series into a calendar; it begins when the rule first holds from start on, by the clock of the calendar's zone."""
        event_id, rule = EventId(self.events.mint()), normal(recurrence)
        first = self._first(rule, start, self.calendars.get(calendar_id).zone)
        return self._book(Event(event_id, calendar_id, summary, first, duration, location, "", self._me().email, recurrence=rule))

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
        """Change or move an event, of which its guests are asked anew; what has passed of a series stays where it was."""
        event = self._own(event_id)
        changes = some_given(summary=summary, start=start, duration=duration, location=location, notes=notes)
        changed = structs.replace(event, **changes)
        if event.recurrence and start and start != event.start:
            changed = self._begun_anew(event, changed)
        if (changed.start, changed.duration) != (event.start, event.duration):  # RFC 5546, 3.2.2.1: rescheduled, all must answer again
            changed = structs.replace(changed, attendees=[Attendee(a.email, self.now, optional=a.optional) for a in event.attendees])
        self._refuse_twins(changed)
        self.events.update(event_id, **structs.asdict(changed))
        if event.recurrence and changed.start != event.start:
            self._carry_over(event, changed)
        return self._with_overlaps(changed)

    @write(destructive=True)
    def delete_event(self, event_id: EventId) -> Event:
        """Call off an event, or a whole series, that the user organises."""
        self._own(event_id)
        for rows in (self.deviations, self.held):
            for record in rows.where(event_id=event_id):
                rows.remove(record.key)
        return self.events.remove(event_id)

    @write(idempotent=True)
    def update_event_instance(
        self,
        event_id: EventId,
        day: InstanceDay,
        start: StartTime | None = None,
        duration: Minutes | None = None,
        summary: Summary | None = None,
        location: Place | None = None,
    ) -> Instance:
        """Change or move one instance of a series and leave the others alone."""
        self._coming(event_id, day)
        passed = f"{start} has passed: move it to a time after {self.now:%Y-%m-%dT%H:%M:%SZ}"
        require(start is None or start > self.now, "failed_precondition", passed)
        changes = some_given(start=start, duration=duration, summary=summary, location=location)
        return self._deviate(event_id, day, **changes)

    @write(destructive=True)
    def cancel_event_instance(self, event_id: EventId, day: InstanceDay) -> Instance:
        """Call off one instance of a series."""
        instance = self._coming(event_id, day)
        self._deviate(event_id, day, cancelled=True)
        return instance

    @write
    def set_reminder(self, event_id: EventId, lead_time: Lead, remove: Removed = False) -> Event:
        """Remind the user of an event, which may have up to five reminders, or take a reminder away again."""
        event = self.events.get(event_id)
        has = ", ".join(map(str, event.reminders)) or "no"
        if remove:
            require(lead_time in event.reminders, "not_found", f"{event_id} has {has} minutes as reminders, not {lead_time}")
            return self.events.update(event_id, reminders=[lead for lead in event.reminders if lead != lead_time])
        self._refuse_too_late(event, timedelta(minutes=lead_time))
        require(lead_time not in event.reminders, "conflict", f"{event_id} has a reminder {lead_time} minutes before already")
        full = f"{event_id} has {MOST_REMINDERS} reminders, {has} minutes before: remove one of them first"
        require(len(event.reminders) < MOST_REMINDERS, "resource_exhausted", full)
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
        event = self._own(event_id)
        ahead = next(self.schedule(event).since(self.now), None)
        require(ahead, "failed_precondition", f"{event_id} is over: nobody can be invited any more")
        there = [event.organizer, *(a.email for a in event.attendees)]
        require(email not in there, "conflict", f"{email} takes part in {event_id} already")
        guests = sorted([*event.attendees, Attendee(email, self.now, optional=optional)], key=lambda a: a.email)
        return self.events.update(event_id, attendees=guests)

    @write(destructive=True)
    def remove_attendee(self, event_id: EventId, email: EmailAddress) -> Event:
        """Take somebody off the guests of an event that the user organises."""
        event = self._own(event_id)
        rest = [a for a in event.attendees if a.email != email]
        invited = ", ".join(a.email for a in event.attendees) or "nobody"
        require(len(rest) < len(event.attendees), "not_found", f"{email} is not invited to {event_id}, only {invited}")
        return self.events.update(event_id, attendees=rest)

    @read
    def get_free_busy(self, email: EmailAddress, day: ComingDay) -> FreeBusy:
        """Show when somebody is busy on a day of the user's, without saying with what."""
        whole = self._from_day(day, 1)
        spans = self._busy(self._sharing(email), whole)
        busy = merged((max(begin, whole[0]), min(end, whole[1])) for begin, end in spans)
        return FreeBusy(email, day, [Slot(*b) for b in busy], sum((end - begin) // timedelta(minutes=1) for begin, end in busy))

    @read
    def find_meeting_slot(
        self, invitees: Invitees, duration: Minutes, first_day: ComingDay, days: Days = 5, limit: Limit = 5, offset: Offset = 0
    ) -> Page[Slot]:
        """Find times at which the user and all invitees are free within everybody's working hours."""
        people = [self._me(), *(self._sharing(email) for email in invitees)]
        begin, end = self._from_day(first_day, days)
        busy = merged(span for person in people for span in self._busy(person, (begin, end + LONGEST)))
        starts = (begin + timedelta(minutes=30 * n) for n in range((end - begin) // timedelta(minutes=30)))
        spans = [(start, start + timedelta(minutes=duration)) for start in starts if start >= self.now]
        free = (s for s in spans if all(in_working_hours(s, p.zone) for p in people) and not meets(s, busy))
        return page((Slot(*s) for s in free), limit, Slot, offset)

    # --- when events take place

    def schedule(self, event: Event) -> Schedule:
        """When an event takes place."""
        own = (rows.where(event_id=event.event_id) if event.recurrence else [] for rows in (self.deviations, self.held))
        return Schedule(event, self._zone(event), *own)

    def _coming(self, event_id: EventId, day: date) -> Instance:
        """An instance that the user may still change."""
        event, deviation = self._own(event_id), self.deviations.find(key_of(event_id, day))
        require(event.recurrence, "failed_precondition", f"{event_id} is a single event: change it with update_event, or use delete_event")
        require(not (deviation and deviation.cancelled), "failed_precondition", f"{event_id} has been cancelled on {day}")
        schedule = self.schedule(event)
        coming = ", ".join(str(i.day) for i in islice((i for i in schedule.since(self.now) if i.start > self.now), 3)) or "none"
        require(deviation or schedule.has(day), "not_found", f"{event_id} does not take place on {day}; its next days are {coming}")
        instance = schedule.as_it_is(deviation or Deviation(key_of(event_id, day), event_id, day))
        require(instance.start > self.now, "failed_precondition", f"{event_id} has begun or is over on {day}; its next days are {coming}")
        return instance

    def _deviate(self, event_id: EventId, day: date, **changes: Any) -> Instance:
        key = key_of(event_id, day)
        if key not in self.deviations:
            self.deviations.add(Deviation(key, event_id, day))
        return self.schedule(self.events.get(event_id)).as_it_is(self.deviations.update(key, **changes))

    def _first(self, rule: str, start: datetime, zone: str) -> datetime:
        """When a series that is to begin at `start` has its first instance."""
        passed = f"{start:%Y-%m-%d %H:%M} has passed: a series begins in the future, after {self.now:%Y-%m-%d %H:%M}"
        require(start > self.now, "failed_precondition", passed)
        for first in occurrences(rule, start, zone):
            return first
        raise ToolError("invalid_argument", f"{rule} never holds after {start:%Y-%m-%d %H:%M}")

    def _begun_anew(self, event: Event, changed: Event) -> Event:
        """A series from its new start on. What has passed of it counts."""
        rule = event.recurrence or ""
        if count := count_of(rule):
            left = count - len(self.schedule(event).by_rule(event.start, self.now + timedelta(microseconds=1)))
            require(left, "failed_precondition", f"{event.event_id} is over: make a new one with create_recurring_event")
            rule = with_count(rule, left)
        return structs.replace(changed, start=self._first(rule, changed.start, self._zone(event)), recurrence=rule)

    def _carry_over(self, event: Event, changed: Event) -> None:
        held, deviations = carried_over(self.schedule(event), self.schedule(changed), self.now)
        for deviation in self.deviations.where(event_id=event.event_id):
            self.deviations.remove(deviation.key)
        for instance in held:
            self.held.add(instance)
        for deviation in deviations:
            self.deviations.add(deviation)

    # --- what happens by itself

    def due(self) -> datetime | None:
        answers = (a.invited + ANSWERED_WITHIN for e in self.events for a in e.attendees if self._will_answer(a))
        reminders = (self._next_reminder(e, timedelta(minutes=lead)) for e in self.events for lead in e.reminders)
        return min((t for t in (*answers, *reminders) if t and t > self.now), default=None)

    def elapse(self) -> None:
        for event in self.events:
            if any(self._will_answer(a) and a.invited + ANSWERED_WITHIN <= self.now for a in event.attendees):
                self._let_answer(event)
            if any(self.schedule(event).starts_at(self.now + timedelta(minutes=lead)) for lead in event.reminders):
                self.events.update(event.event_id, reminded=self.now)

    def _will_answer(self, guest: Attendee) -> bool:
        if guest.answer != "needs_action":
            return False
        person = self.people.find(guest.email)
        return person is not None and person.answers and person != self._me()

    def _let_answer(self, event: Event) -> None:
        """Whoever has been asked an hour ago comes if free; of a series, the next instance counts. What is over needs no answer."""
        if instance := next(self.schedule(event).since(self.now), None):
            due = [a for a in event.attendees if self._will_answer(a) and a.invited + ANSWERED_WITHIN <= self.now]
            guests = [self._answered(event, a, instance.span) if a in due else a for a in event.attendees]
            self.events.update(event.event_id, attendees=guests)

    def _answered(self, event: Event, guest: Attendee, span: Span) -> Attendee:
        promised = (e for e in self.events if e.event_id != event.event_id and e.shows_as == "busy" and _has_promised(e, guest.email))
        taken = any(self.schedule(e).between(*span) for e in promised)
        taken = taken or any(overlap(a.span, span) for a in self.appointments.where(email=guest.email))
        return structs.replace(guest, answer="declined" if taken else "accepted")

    def _next_reminder(self, event: Event, lead: timedelta) -> datetime | None:
        start = self.schedule(event).starts_after(self.now + lead)
        return start and start - lead

    def _refuse_too_late(self, event: Event, lead: timedelta) -> None:
        start = self.schedule(event).starts_after(self.now)
        if start is None:
            raise ToolError("failed_precondition", f"{event.event_id} has begun or is over: there is nothing to be reminded of")
        most = -((self.now - start) // timedelta(minutes=1)) - 1
        late = f"{lead // timedelta(minutes=1)} minutes before {event.event_id} have passed already: choose at most {most}"
        require(self._next_reminder(event, lead), "failed_precondition", late)

    # --- who may, and who is busy

    def _me(self) -> Person:
        return next(iter(self.people))

    def _today(self) -> date:
        return local_day(self.now, self._me().zone)

    def _zone(self, event: Event) -> str:
        return self.calendars.get(event.calendar_id).zone

    def _own(self, event_id: EventId) -> Event:
        """An event that the user may change."""
        event = self.events.get(event_id)
        theirs = f"{event_id} is organised by {event.organizer}: only they can change it, the user can only answer"
        require(event.organizer == self._me().email, "permission_denied", theirs)
        return event

    def _sharing(self, email: EmailAddress) -> Person:
        """Somebody who lets others see when they are free."""
        person = self.people.find(email)
        if person is None:
            raise ToolError("not_found", f"nobody here has the address {email}")
        require(person.shares, "permission_denied", f"{email} does not show others when they are free: ask them")
        return person

    def _from_day(self, day: date, count: int) -> Span:
        """So many days of the user's, from today on."""
        require(day >= self._today(), "invalid_argument", f"{day} has passed: look from {self._today()} on")
        return days_from(day, count, self._me().zone)

    def _book(self, event: Event) -> Booked:
        calendar = self.calendars.get(event.calendar_id)
        require(calendar.access != "reader", "permission_denied", f"the user can only read {calendar.calendar_id}, {calendar.name}")
        self._refuse_twins(event)
        return self._with_overlaps(self.events.add(event))

    def _refuse_twins(self, event: Event) -> None:
        there = self.events.where(start=event.start, calendar_id=event.calendar_id)
        same = [e.event_id for e in there if e.event_id != event.event_id and e.summary.casefold() == event.summary.casefold()]
        require(not same, "conflict", f"{', '.join(same)} has the same title and start in the same calendar: choose another of either")

    def _with_overlaps(self, event: Event) -> Booked:
        """An event, and the first five things that the user is busy with while it takes place, of a series within half a year."""
        begin = max(self.now, event.start)
        mine = merged(i.span for i in self.schedule(event).between(begin, begin + timedelta(HALF_A_YEAR)))
        others = [e for e in self.events if mine and e.event_id != event.event_id and _engages(e, self._me().email)]
        found = [_entry(e, i) for e in others for i in self.schedule(e).between(mine[0][0], mine[-1][1]) if meets(i.span, mine)]
        return Booked(event, sorted(found, key=lambda o: (o.start, o.event_id))[:5])

    def _busy(self, person: Person, around: Span) -> list[Span]:
        """When somebody is engaged within a span of time."""
        appointments = [a.span for a in self.appointments.where(email=person.email) if overlap(a.span, around)]
        return appointments + [i.span for e in self.events if _engages(e, person.email) for i in self.schedule(e).between(*around)]


def _engages(event: Event, email: str) -> bool:
    """Whether an event makes somebody busy: they organise it, or are invited and have not declined."""
    takes_part = event.organizer == email or any(a.email == email and a.answer != "declined" for a in event.attendees)
    return takes_part and event.shows_as == "busy"


def _has_promised(event: Event, email: str) -> bool:
    return event.organizer == email or any(a.email == email and a.answer in ("accepted", "tentative") for a in event.attendees)


def _entry(event: Event, instance: Instance) -> Occurrence:
    return Occurrence(event.event_id, instance.day, instance.summary, instance.start, event.recurrence is not None)
