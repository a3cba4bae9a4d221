"""A calendar's own rules: recurrence by the clock on the wall, instances of their own, answers, busy time, meeting slots."""

from datetime import UTC, datetime

import pytest

from prove.servers.session import Session
from servers.calendar.tools import Appointment, Calendar, Person, occurrences


@pytest.fixture
def calendar():
    return Session.open("calendar", seed=0)  # the world begins on Monday, 17 August 2026, at 09:00 UTC


def book(calendar, **changes):
    event = {"calendar_id": "CAL-11", "summary": "Tea", "start": "2026-09-01T15:00:00Z", "duration": 60, **changes}
    return calendar.call("create_recurring_event" if "recurrence" in changes else "create_event", event)


def instances(calendar, event, **filters):
    return calendar.call("list_events", {"event_id": event["event_id"], "limit": 50, **filters}).value["items"]


def test_a_series_keeps_its_hour_on_the_wall_when_the_clocks_change():
    starts = occurrences("FREQ=WEEKLY;BYDAY=SA,MO;COUNT=3", datetime(2026, 3, 28, 14, 0, tzinfo=UTC), "America/New_York")
    assert [f"{s:%d %H:%M}" for s in starts] == ["28 14:00", "30 14:00", "04 14:00"]  # New York changed on the 8th
    starts = occurrences("FREQ=WEEKLY;BYDAY=SA,MO;COUNT=3", datetime(2026, 3, 28, 14, 0, tzinfo=UTC), "Europe/Berlin")
    assert [f"{s:%d %H:%M}" for s in starts] == ["28 14:00", "30 13:00", "04 13:00"]  # Berlin on the 29th


def test_a_series_begins_when_its_rule_first_holds(calendar):
    event = book(calendar, recurrence="FREQ=MONTHLY;BYDAY=-1FR;COUNT=3").value["event"]
    assert [i["day"] for i in instances(calendar, event)] == ["2026-09-25", "2026-10-30", "2026-11-27"]


@pytest.mark.parametrize("rule", ["FREQ=DAILY;COUNT=3;UNTIL=20270101T000000Z", "FREQ=WEEKLY;UNTIL=20200101T000000Z"])
def test_a_rule_that_contradicts_itself_or_never_holds_is_refused(calendar, rule):
    assert book(calendar, recurrence=rule).code == "invalid_argument"


def test_one_instance_is_moved_or_called_off_without_the_others(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU;COUNT=3").value["event"]
    first, second, third = (i["instance_id"] for i in instances(calendar, event))
    calendar.call("cancel_event_instance", {"instance_id": second})
    calendar.call("update_event_instance", {"instance_id": third, "start": "2026-09-16T10:00:00+02:00"})
    left = [(i["instance_id"], i["day"], i["start"]) for i in instances(calendar, event)]
    assert left == [(first, "2026-09-01", "2026-09-01T15:00:00Z"), (third, "2026-09-15", "2026-09-16T08:00:00Z")]
    assert calendar.call("update_event_instance", {"instance_id": second, "duration": 30}).code == "failed_precondition"


def test_renaming_a_series_leaves_an_instance_that_was_changed_alone(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU;COUNT=2").value["event"]
    first = instances(calendar, event)[0]["instance_id"]
    calendar.call("update_event_instance", {"instance_id": first, "summary": "Tea with cake"})
    calendar.call("update_event", {"event_id": event["event_id"], "summary": "Coffee"})
    assert [i["summary"] for i in instances(calendar, event)] == ["Tea with cake", "Coffee"]


def test_an_endless_series_is_laid_out_further_as_time_passes(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU").value["event"]
    late = {"first_day": "2027-01-01"}
    assert instances(calendar, event, **late)[-1]["day"] == "2027-02-23"  # 2 March at 16:00 is an hour beyond 26 weeks
    calendar.advance(weeks=4)
    assert instances(calendar, event, **late)[-1]["day"] == "2027-03-09"  # 26 weeks from 14 September end on 15 March


def test_a_new_event_says_what_it_overlaps_with(calendar):
    first = book(calendar, start="2026-09-05T03:00:00Z").value
    assert first["overlaps"] == []
    second = book(calendar, summary="Call", start="2026-09-05T03:59:00Z", duration=5).value
    assert [o["event_id"] for o in second["overlaps"]] == [first["event"]["event_id"]]
    assert book(calendar, start="2026-09-05T03:00:00Z").code == "conflict"


def test_a_colleague_accepts_when_free_and_declines_when_busy(calendar):
    rows = calendar.servers["calendar"]
    for name in ("free", "busy"):
        rows.people.add(Person(f"{name}@example.com", name, "Europe/London"))
    rows.appointments.add(Appointment(rows.appointments.mint(), "busy@example.com", datetime(2026, 9, 1, 15, 30, tzinfo=UTC), 60))
    event = book(calendar).value["event"]["event_id"]
    for name in ("free", "busy", "unknown"):
        calendar.call("add_attendee", {"event_id": event, "email": f"{name}@example.com"})
    calendar.advance(hours=1)
    answers = {a["email"]: a["answer"] for a in calendar.call("get_event", {"event_id": event}).value["attendees"]}
    assert answers == {"free@example.com": "accepted", "busy@example.com": "declined", "unknown@example.com": "needs_action"}


def test_a_slot_lies_in_everybodys_working_hours_and_free_time(calendar):
    rows = calendar.servers["calendar"]
    for table in (rows.events, rows.instances):
        for record in list(table):
            table.remove(table.key_of(record))
    rows.people.update(next(iter(rows.people)).email, zone="Europe/London")
    rows.people.add(Person("ny@example.com", "Ny", "America/New_York"))
    ask = {"invitees": ["ny@example.com"], "duration": 60, "first_day": "2026-08-18", "days": 1}
    slots = calendar.call("find_meeting_slot", ask).value["items"]  # 9 to 17 in London is 8 to 16 UTC, in New York 13 to 21
    assert [s["start"][11:16] for s in slots] == ["13:00", "13:30", "14:00", "14:30", "15:00"]
    rows.appointments.add(Appointment(rows.appointments.mint(), "ny@example.com", datetime(2026, 8, 18, 13, 45, tzinfo=UTC), 30))
    slots = calendar.call("find_meeting_slot", ask).value["items"]
    assert [s["start"][11:16] for s in slots] == ["14:30", "15:00"]


def test_what_others_organise_or_only_show_cannot_be_changed(calendar):
    rows = calendar.servers["calendar"]
    rows.calendars.add(Calendar("CAL-X", "Readable", "UTC", "reader"))
    assert book(calendar, calendar_id="CAL-X").code == "permission_denied"
    theirs = next(e.event_id for e in rows.events if e.organizer != next(iter(rows.people)).email)
    assert calendar.call("delete_event", {"event_id": theirs}).code == "permission_denied"
