"""What must hold in somebody's calendars after every call."""

from collections.abc import Iterator

from servers.calendar.tools import MOST_REMINDERS, Calendars, Event, Instance


def invariants(server: Calendars) -> Iterator[str]:
    names = [c.name.casefold() for c in server.calendars]
    if len(names) != len(set(names)):
        yield "two calendars have the same name"
    for event in server.events:
        yield from _of(event, server)
    for instance in server.instances:
        series = server.events.find(instance.event_id)
        if series is None or series.recurrence is None:
            yield f"{instance.instance_id} belongs to no series"
        elif instance.status == "regular" and instance.start > server.now and _looks(instance) != _looks(series):
            yield f"{instance.instance_id} is not what its series has become"


def _of(event: Event, server: Calendars) -> Iterator[str]:
    if event.calendar_id not in server.calendars:
        yield f"{event.event_id} is in no calendar"
    guests = [event.organizer, *(a.email for a in event.attendees)]
    if len(guests) != len(set(guests)):
        yield f"{event.event_id} has somebody twice among its guests: {guests}"
    if len(event.reminders) > MOST_REMINDERS or event.reminders != sorted(set(event.reminders)):
        yield f"{event.event_id} has odd reminders: {event.reminders}"
    instances = server.instances.where(event_id=event.event_id)
    days = [i.day for i in instances if i.start > server.now]
    if len(days) != len(set(days)):
        yield f"{event.event_id} takes place twice on one day to come"
    if event.recurrence and not instances:
        yield f"{event.event_id} is a series that never takes place"


def _looks(what: Event | Instance) -> tuple[str, int, str]:
    return what.summary, what.duration, what.location
