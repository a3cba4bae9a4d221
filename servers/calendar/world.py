"""One person's calendars: half a year of series, two months of single events, invitations, and what colleagues are busy with."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import structs

from prove.servers.maker import Maker
from servers.calendar.tools import Appointment, Attendee, Calendar, Calendars, Event, Person, occurrences

# fmt: off
HOME_ZONES = ("Europe/London", "Europe/Lisbon", "Europe/Dublin")
ZONES = ("Europe/London", "Europe/Berlin", "Europe/Madrid", "America/New_York", "America/Chicago", "Asia/Kolkata")
CALENDARS = (("Work", "owner"), ("Private", "owner"), ("Family", "writer"), ("New York office", "writer"), ("Company holidays", "reader"),
             ("Birthdays", "reader"))
HOLIDAYS_FROM, BIRTHDAYS_FROM = "people.team@example.com", "birthdays@example.com"
ANSWERS = ("accepted", "accepted", "needs_action", "tentative", "declined")
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
    _series(server, make, calendars, people)
    _single(server, make, calendars, people)
    for person in people[1:]:
        _appointments(server, make, person)


def _people(server: Calendars, make: Maker, home: str) -> list[Person]:
    """The user and eleven colleagues: two of one first name, one who hides when they are free, some who never answer."""
    names = [make.person() for _ in range(11)]
    names.append(f"{names[1].split()[0]} {make.faker.last_name()}")
    zones = [home, home, home, *(make.pick(ZONES) for _ in names[3:])]
    people = [Person(make.email(n), n, zones[i], shares=i != 4, answers=i % 4 != 3) for i, n in enumerate(names)]
    return [server.people.add(person) for person in people]


def _series(server: Calendars, make: Maker, calendars: dict[str, Calendar], people: list[Person]) -> None:
    """Series that began some weeks ago; of a few, an instance was moved or called off."""
    for name, title, hour, minute, duration, rule, guests, mine in SERIES:
        begin = _local(make.day(-make.between(14, 34)), hour, minute, calendars[name].zone)
        start = next(occurrences(rule, begin, calendars[name].zone))
        _add(server, make, calendars[name], title, start, duration, "", people, guests, mine, rule)
    for person in people[1:7]:
        start = _local(make.day(-make.between(1, 360)), 0, 0, "UTC")
        title = f"{person.name}'s birthday"
        event = Event(server.events.mint(), calendars["Birthdays"].calendar_id, title, start, 1440, "", "", BIRTHDAYS_FROM)
        server.lay_out(server.events.add(structs.replace(event, recurrence="FREQ=YEARLY", shows_as="free")))
    coming = [i for i in server.instances if i.start > make.start and i.duration < 1440]
    for instance in make.some(coming, 6):
        server.instances.update(instance.instance_id, status="cancelled")
    for instance in make.some(coming, 6):
        moved = instance.start + timedelta(minutes=make.pick((60, 90, 120)))
        server.instances.update(instance.instance_id, status="changed", start=moved, location=make.pick(ROOMS))


def _single(server: Calendars, make: Maker, calendars: dict[str, Calendar], people: list[Person]) -> None:
    """Events of the past two weeks and the month to come; a second visit to the dentist, and what others invite the user to."""
    workdays = [d for d in range(-14, 31) if make.day(d).weekday() < 5]
    for title, duration, notes in WORK_EVENTS:
        start = make.moment(make.pick(workdays), make.between(9, 15), make.pick((0, 0, 30)))
        _add(server, make, calendars["Work"], title, start, duration, notes, people, make.between(0, 5), make.chance(0.65))
    for title, duration, place in (*PRIVATE_EVENTS, PRIVATE_EVENTS[0]):
        start = make.moment(make.between(-10, 40), make.between(8, 19), make.pick((0, 15, 30)))
        event = _add(server, make, calendars["Private"], title, start, duration, "", people, 0, True)
        server.events.update(event.event_id, location=place)
    for title, ahead in HOLIDAYS:
        start, calendar_id = _local(make.day(ahead), 0, 0, "UTC"), calendars["Company holidays"].calendar_id
        server.events.add(Event(server.events.mint(), calendar_id, title, start, 1440, "", "", HOLIDAYS_FROM, shows_as="free"))


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
    attendees = [Attendee(p.email, make.pick(ANSWERS), make.chance(0.2)) for p in invited]
    if not mine:
        attendees.append(Attendee(me.email, make.pick(("accepted", "needs_action", "needs_action", "declined"))))
    place = make.pick(ROOMS) if calendar.name in ("Work", "New York office") else ""
    organizer = me.email if mine else host.email
    attendees.sort(key=lambda a: a.email)
    event = Event(server.events.mint(), calendar.calendar_id, title, start, duration, place, notes, organizer, attendees, rule)
    event = server.events.add(structs.replace(event, reminders=[10] if make.chance(0.3) else []))
    server.lay_out(event)
    return event


def _appointments(server: Calendars, make: Maker, person: Person) -> None:
    """What a colleague is busy with in the coming three weeks."""
    for ahead in range(21):
        if make.day(ahead).weekday() < 5 and make.chance(0.7):
            start = _local(make.day(ahead), make.between(9, 15), make.pick((0, 30)), person.zone)
            server.appointments.add(Appointment(server.appointments.mint(), person.email, start, make.pick((30, 60, 60, 90, 120))))


def _local(day: date, hour: int, minute: int, zone: str) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone)).astimezone(UTC)
