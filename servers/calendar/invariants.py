"""What must hold in somebody's calendars after every call, and what their past looks like."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from .records import Event
from .recurrence import normal
from .times import overlap
from .tools import ANSWERED_WITHIN, MOST_REMINDERS, Calendars


def invariants(server: Calendars) -> Iterator[str]:
    names = [c.name.casefold() for c in server.calendars]
    if len(names) != len(set(names)):
        yield "two calendars have the same name"
    for (_, title, start), times in Counter((e.calendar_id, e.summary.casefold(), e.start) for e in server.events).items():
        if times > 1:
            yield f"{times} events are called {title!r} and begin at {start} in the same calendar"
    for event in server.events:
        yield from _of(event, server)
    for single in (*server.deviations, *server.held):
        series = server.events.find(single.event_id)
        if series is None or series.recurrence is None:
            yield f"{single.key} belongs to no series"
    for deviation in server.deviations:
        if server.events.find(deviation.event_id) and not server.schedule(server.events.get(deviation.event_id)).has(deviation.day):
            yield f"{deviation.key} is no day of its series"


def _of(event: Event, server: Calendars) -> Iterator[str]:
    if event.calendar_id not in server.calendars:
        yield f"{event.event_id} is in no calendar"
    guests = [event.organizer, *(a.email for a in event.attendees)]
    if len(guests) != len(set(guests)):
        yield f"{event.event_id} has somebody twice among its guests: {guests}"
    if len(event.reminders) > MOST_REMINDERS or event.reminders != sorted(set(event.reminders)):
        yield f"{event.event_id} has odd reminders: {event.reminders}"
    if event.recurrence and normal(event.recurrence) != event.recurrence:
        yield f"{event.event_id} repeats by a rule in another spelling: {event.recurrence}"
    if any(a.invited > server.now for a in event.attendees) or (event.reminded and event.reminded > server.now):
        yield f"{event.event_id} has guests who will be asked, or a reminder that will have gone out, only later"


def past(server: Calendars) -> Iterator[str]:
    """Whoever answers has answered within the hour, and comes only if free."""
    me = next(iter(server.people))
    answering = {p.email for p in server.people if p.answers and p != me}
    promised: dict[str, list[Event]] = {}
    for event in server.events:
        for guest in event.attendees:
            by = guest.invited + ANSWERED_WITHIN
            late = guest.answer == "needs_action" and guest.email in answering and server.now >= by
            if late and next(server.schedule(event).since(by), None):
                yield f"{guest.email} has not answered the invitation to {event.event_id}"
            if guest.answer == "tentative" and guest.email in answering:
                yield f"{guest.email} has answered {event.event_id} with maybe, which colleagues do not"
            if guest.answer == "accepted" and guest.email in answering and not event.recurrence and event.shows_as == "busy":
                promised.setdefault(guest.email, []).append(event)
    for email, events in promised.items():
        spans = {e.event_id: next(server.schedule(e).since(e.start)).span for e in events}
        for one, other in combinations(spans, 2):
            if overlap(spans[one], spans[other]):
                yield f"{email} has accepted {one} and {other}, which overlap"
        for appointment in server.appointments.where(email=email):
            yield from (f"{email} has accepted {e} and has an appointment" for e, span in spans.items() if overlap(span, appointment.span))
