"""Who and what is in a person's calendars: colleagues, calendars, events, series and what is different about single days of them."""

from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NewType

from prove.servers import Day, EmailAddress, Meta, Moment, PersonName, Record, Unordered

CalendarId = NewType("CalendarId", str)
EventId = NewType("EventId", str)

Access = Annotated[Literal["owner", "writer", "reader"], Meta(description="what the user may do with the calendar")]
Answer = Annotated[Literal["accepted", "declined", "tentative"], Meta(description="what the user answers to the invitation")]
CalendarName = Annotated[str, Meta(min_length=1, max_length=60, description="what the calendar is called")]
ComingDay = Annotated[date, Meta(description="a date from today on, YYYY-MM-DD")]
Days = Annotated[int, Meta(ge=1, le=62, description="how many days to look at")]
InstanceDay = Annotated[date, Meta(description="the day of one instance of a series, as list_events shows it, YYYY-MM-DD")]
Invitees = Annotated[Unordered[list[EmailAddress]], Meta(min_length=1, max_length=10, description="who must be free, besides the user")]
Lead = Annotated[int, Meta(ge=0, le=40_320, description="how many minutes before the event")]
Minutes = Annotated[int, Meta(ge=5, le=1440, description="how long it lasts, in minutes")]
Notes = Annotated[str, Meta(max_length=2000, description="an agenda, or whatever else is to be known")]
OptionalGuest = Annotated[bool, Meta(description="whether the event can go ahead without this guest")]
Place = Annotated[str, Meta(max_length=120, description="where: a room, an address, or how to dial in")]
RecurrenceRule = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="how it repeats, as an RFC 5545 rule, for example FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10",
    ),
]
Removed = Annotated[bool, Meta(description="true to take that reminder away again")]
StartTime = Annotated[datetime, Meta(tz=True, description="when it begins, with a zone, for example 2026-03-04T09:30:00Z")]
Summary = Annotated[str, Meta(min_length=1, max_length=120, description="the title of the event")]
ZoneName = Annotated[
    str, Meta(pattern=r"^[A-Za-z_]+(/[A-Za-z0-9_+-]+)*$", max_length=60, description="an IANA time zone, for example Europe/Berlin")
]

Span = tuple[datetime, datetime]


class Person(Record):
    """Somebody of the same organisation; the user is the first of them."""

    email: EmailAddress
    name: PersonName
    zone: ZoneName
    shares: bool = True  # lets others see when they are free
    answers: bool = True  # answers an invitation within the hour


class Appointment(Record):
    """Something in another person's calendar, of which one sees only that they are busy."""

    appointment_id: str
    email: EmailAddress
    start: Moment
    duration: Minutes

    @property
    def span(self) -> Span:
        return self.start, self.start + timedelta(minutes=self.duration)


class Calendar(Record):
    calendar_id: CalendarId
    name: CalendarName
    zone: ZoneName
    access: Access


class Attendee(Record):
    email: EmailAddress
    invited: Moment  # when they were asked, or asked again because the event was moved
    answer: Literal["accepted", "declined", "tentative", "needs_action"] = "needs_action"
    optional: OptionalGuest = False


class Event(Record):
    event_id: EventId
    calendar_id: CalendarId
    summary: Summary
    start: Moment  # of a series: of the first instance of its rule
    duration: Minutes
    location: Place
    notes: Notes
    organizer: EmailAddress
    attendees: list[Attendee] = []  # besides the organizer
    recurrence: RecurrenceRule | None = None
    shows_as: Literal["busy", "free"] = "busy"
    reminders: list[Lead] = []
    reminded: Moment | None = None  # when the user was last reminded


class Deviation(Record):
    """What is different about one day of a series; None where it is as the series says."""

    key: str  # the series and the day
    event_id: EventId
    day: Day
    cancelled: bool = False
    start: Moment | None = None
    duration: Minutes | None = None
    summary: Summary | None = None
    location: Place | None = None


class Instance(Record):
    """One time at which an event takes place."""

    event_id: EventId
    day: Day  # in the calendar's time zone; of a series, on which the rule puts it, even if it was moved
    summary: Summary
    start: Moment
    duration: Minutes
    location: Place

    @property
    def span(self) -> Span:
        return self.start, self.start + timedelta(minutes=self.duration)


class Held(Record):
    """One time at which a series took place before it was moved: its rule no longer says so."""

    key: str  # the series and the moment
    event_id: EventId
    day: Day
    summary: Summary
    start: Moment
    duration: Minutes
    location: Place

    @property
    def instance(self) -> Instance:
        return Instance(self.event_id, self.day, self.summary, self.start, self.duration, self.location)


class EventLine(Record):
    event_id: EventId
    calendar_id: CalendarId
    summary: Summary
    start: Moment


class Occurrence(Record):
    """One entry of the agenda: a single event, or an instance of a series."""

    event_id: EventId
    day: Day
    summary: Summary
    start: Moment
    recurring: bool


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
