"""One person's calendars: series, two months of single events, invitations that were answered, and what colleagues are busy with."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from prove.servers.maker import Maker

from .records import Appointment, Attendee, Calendar, Event, Person
from .recurrence import normal, occurrences
from .tools import Calendars

# fmt: off
HOME_ZONES = ("Europe/London", "Europe/Lisbon", "Europe/Dublin")
ZONES = ("Europe/London", "Europe/Berlin", "Europe/Madrid", "America/New_York", "America/Chicago", "Asia/Kolkata")
CALENDARS = (("Work", "owner"), ("Private", "owner"), ("Family", "writer"), ("New York office", "writer"), ("Company holidays", "reader"),
             ("Birthdays", "reader"))
HOLIDAYS_FROM, BIRTHDAYS_FROM = "people.team@example.com", "birthdays@example.com"
ROOMS = ("Room Aspen", "Room Birch", "Room Cedar", "Room Juniper", "Phone booth 2", "Video call", "")
WORK_EVENTS = (  # title, duration, notes
    ("Budget review", 60, "Bring the forecast for the next quarter."),
    ("Product demo for Harbor Logistics", 45, "Show the new import."), ("Security audit kickoff", 90, "Scope, access, timetable."),
    ("Roadmap workshop", 180, "Prepare three themes each."), ("Interview with the data engineer", 60, "System design part."),
    ("Contract talk with legal", 30, "Exit clause and liability."), ("Brand refresh review", 45, "Second round of logos."),
    ("Incident review", 60, "Outage of the billing service."), ("Onboarding of the new hire", 120, "Laptop, accounts, lunch."),
    ("Board meeting rehearsal", 60, "Slides are locked by then."), ("Vendor call with Northwind", 30, "Prices for the coming year."),
    ("Pricing experiment readout", 45, "Results of the annual plan test."), ("Accessibility training", 90, ""),
    ("Warehouse site visit", 240, "Wear closed shoes."), ("Press briefing", 30, "Questions by mail beforehand."),
    ("Salary talk", 45, "Confidential."), ("Database migration window", 120, "Read-only from the start."),
    ("Usability test", 60, "Five participants."), ("Quarterly sales forecast", 60, "Assumptions first."),
    ("Office move planning", 30, "Boxes and keys."), ("Partner lunch", 90, "Table is booked for six."),
    ("Handbook translation check", 30, "Spanish appendix."), ("Fire drill", 20, "Leave by the east stairs."),
    ("Customer interview with Bluebird", 45, "Record only if they agree."), ("Team photo", 30, "Courtyard if dry."),
    ("Farewell drinks", 120, "Everybody is welcome."), ("Sprint demo", 45, ""), ("Hiring committee", 60, "Two candidates for design."),
    ("Tax adviser call", 30, "Receipts from last year."), ("Data privacy refresher", 45, ""),
)
PRIVATE_EVENTS = (
    ("Dentist appointment", 30, "Westfield Dental"), ("Haircut", 45, "Mill Lane"), ("Parents' evening", 90, "Hillside School"),
    ("Dinner with the neighbours", 150, "Next door"), ("Car inspection", 60, "Fleet Garage"),
    ("Concert in the park", 180, "East Meadow"), ("Boiler maintenance", 60, "Home"), ("Eye test", 30, "Clearview Optics"),
    ("Flat viewing on Canal Street", 30, "14 Canal Street"), ("Weekend hike", 360, "North trailhead"),
    ("Museum with grandma", 150, "City Museum"), ("Vet appointment for the cat", 30, "Paws Clinic"),
    ("Train to the coast", 140, "Central Station"), ("Bike repair", 30, "Spokes"), ("Swimming gala", 120, "Public baths"),
    ("Tennis with the old team", 90, "Riverside courts"),
)
HOLIDAYS = (("Founders' day", 12), ("Office closed for maintenance", 24), ("Charity run", 37))
SERIES = (  # calendar, title, hour and minute, length, rule, how many guests, whether the user organises it
    ("Work", "Daily standup", 9, 30, 15, "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", 5, True),
    ("Work", "Weekly planning", 10, 0, 60, "FREQ=WEEKLY;BYDAY=MO", 4, True),
    ("Work", "Design critique", 14, 0, 60, "FREQ=WEEKLY;BYDAY=WE", 4, False),
    ("Work", "Retrospective", 15, 0, 60, "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", 5, True),
    ("Work", "One-on-one with my manager", 11, 0, 30, "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH", 0, False),
    ("Work", "All-hands meeting", 16, 0, 60, "FREQ=MONTHLY;BYDAY=1TU", 8, False),
    ("Work", "Expense deadline", 12, 0, 15, "FREQ=MONTHLY;BYMONTHDAY=25", 0, True),
    ("New York office", "Sync with New York", 10, 0, 45, "FREQ=WEEKLY;BYDAY=TU", 3, True),
    ("Private", "Yoga class", 18, 30, 60, "FREQ=WEEKLY;BYDAY=TU,TH", 0, True),
    ("Private", "Piano lesson", 17, 30, 45, "FREQ=WEEKLY;BYDAY=WE;COUNT=20", 0, True),
    ("Private", "Book club", 19, 0, 120, "FREQ=MONTHLY;BYDAY=-1TH", 0, True),
    ("Family", "Football practice", 10, 0, 90, "FREQ=WEEKLY;BYDAY=SA", 0, True),
    ("Family", "Sunday lunch at my parents'", 12, 30, 150, "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU", 0, True),
)
# fmt: on


def populate(server: Calendars, make: Maker) -> None:
    home = make.pick(HOME_ZONES)
    people = _people(server, make, home)
    zones = {"New York office": "America/New_York"}
    for name, access in CALENDARS:
        server.calendars.add(Calendar(server.calendars.mint(), name, zones.get(name, home), access))
    calendars = {c.name: c for c in server.calendars}
    for person in people[1:]:
        _appointments(server, make, person)
    _ask(server, make.moment(-36), lambda: _series(server, make, calendars, people))
    _ask(server, make.moment(-15), lambda: _single(server, make, calendars, people, -14, 3))
    _ask(server, make.moment(-2), lambda: _single(server, make, calendars, people, 4, 30))
    server.clock.now = make.start
    _holidays(server, make, calendars["Company holidays"])
    _changes(server, make)


def _ask(server: Calendars, when: datetime, send: Callable[[], None]) -> None:
    """Send invitations at a moment; an hour later all have answered who do."""
    server.clock.now = when
    send()
    server.clock.now = when + timedelta(hours=1)
    server.elapse()


def _people(server: Calendars, make: Maker, home: str) -> list[Person]:
    """The user and eleven colleagues: two of one first name, one who hides when they are free, some who never answer."""
    names = [make.person() for _ in range(11)]
    while (namesake := f"{names[1].split()[0]} {make.faker.last_name()}") in names:
        pass
    names.append(namesake)
    zones = [home, home, home, *(make.pick(ZONES) for _ in names[3:])]
    people = [Person(make.email(n), n, zones[i], shares=i != 4, answers=i % 4 != 3) for i, n in enumerate(names)]
    return [server.people.add(person) for person in people]


def _series(server: Calendars, make: Maker, calendars: dict[str, Calendar], people: list[Person]) -> None:
    """Series that began some weeks ago, and birthdays."""
    for name, title, hour, minute, duration, rule, guests, mine in SERIES:
        begin = _local(make.day(-make.between(14, 34)), hour, minute, calendars[name].zone)
        rule = normal(rule)
        start = next(occurrences(rule, begin, calendars[name].zone))
        _add(server, make, calendars[name], title, start, duration, "", people, guests, mine, rule)
    birthdays = calendars["Birthdays"]
    for person in people[1:7]:
        start = _local(make.day(-make.between(1, 360)), 0, 0, birthdays.zone)
        what = (birthdays.calendar_id, f"{person.name}'s birthday", start, 1440, "", "", BIRTHDAYS_FROM)
        server.events.add(Event(server.events.mint(), *what, recurrence="FREQ=YEARLY", shows_as="free"))


def _single(server: Calendars, make: Maker, calendars: dict[str, Calendar], people: list[Person], first: int, last: int) -> None:
    """Half of the single events, and what others invite the user to; a second visit to the dentist comes later."""
    later = first > 0
    workdays = [d for d in range(first, last + 1) if make.day(d).weekday() < 5]
    work, private = calendars["Work"], calendars["Private"]
    for title, duration, notes in WORK_EVENTS[later::2]:
        start = _local(make.day(make.pick(workdays)), make.between(9, 15), make.pick((0, 0, 30)), work.zone)
        _add(server, make, work, title, start, duration, notes, people, make.between(0, 5), make.chance(0.65))
    for title, duration, place in (*PRIVATE_EVENTS[later::2], *PRIVATE_EVENTS[:1] * later):
        start = _local(make.day(make.between(first, last)), make.between(8, 19), make.pick((0, 15, 30)), private.zone)
        event = _add(server, make, private, title, start, duration, "", people, 0, True)
        server.events.update(event.event_id, location=place)


def _holidays(server: Calendars, make: Maker, calendar: Calendar) -> None:
    for title, ahead in HOLIDAYS:
        what = (calendar.calendar_id, title, _local(make.day(ahead), 0, 0, calendar.zone), 1440, "", "", HOLIDAYS_FROM)
        server.events.add(Event(server.events.mint(), *what, shows_as="free"))


def _changes(server: Calendars, make: Maker) -> None:
    """Of the user's own series some days are called off or moved; the user wants to be reminded of some events."""
    mine = [e for e in server.events if e.recurrence and e.organizer == server.people.keys()[0]]
    ahead = (i for e in mine for i in server.schedule(e).between(make.start, make.start + timedelta(days=40)))
    coming = [i for i in ahead if i.start > make.start + timedelta(hours=1)]
    chosen = make.shuffled(coming)[:12]
    for instance in chosen[:6]:
        server.cancel_event_instance(instance.event_id, instance.day)
    for instance in chosen[6:]:
        moved = instance.start + timedelta(minutes=make.pick((60, 90, 120)))
        server.update_event_instance(instance.event_id, instance.day, moved, location=make.pick(ROOMS[:-1]))
    for event in server.events.where(organizer=mine[0].organizer):
        if make.chance(0.3) and (event.recurrence or event.start > make.start + timedelta(hours=1)):
            server.set_reminder(event.event_id, 10)


def _add(
    server: Calendars,
    make: Maker,
    calendar: Calendar,
    title: str,
    start: datetime,
    duration: int,
    notes: str,
    people: list[Person],
    guests: int,
    mine: bool,
    rule: str | None = None,
) -> Event:
    me, *others = people
    host, *invited = make.shuffled(others)[: guests + 1]
    attendees = [Attendee(p.email, server.now, optional=make.chance(0.2)) for p in invited]
    if not mine:
        attendees.append(Attendee(me.email, server.now, make.pick(("accepted", "needs_action", "needs_action", "declined"))))
    attendees.sort(key=lambda a: a.email)
    place = make.pick(ROOMS) if calendar.name in ("Work", "New York office") else ""
    organizer = me.email if mine else host.email
    what = (calendar.calendar_id, title, start, duration, place, notes, organizer, attendees, rule)
    return server.events.add(Event(server.events.mint(), *what))


def _appointments(server: Calendars, make: Maker, person: Person) -> None:
    """What a colleague is busy with, from two weeks ago to six weeks ahead."""
    for ahead in range(-14, 42):
        if make.day(ahead).weekday() < 5 and make.chance(0.4):
            start = _local(make.day(ahead), make.between(9, 15), make.pick((0, 30)), person.zone)
            server.appointments.add(Appointment(server.appointments.mint(), person.email, start, make.pick((30, 60, 60, 90, 120))))


def _local(day: date, hour: int, minute: int, zone: str) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone)).astimezone(UTC)
