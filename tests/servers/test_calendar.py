"""A calendar's own rules: recurrence by the clock on the wall, instances of their own, answers, reminders, busy time, meeting slots."""

from datetime import UTC, datetime, timedelta

import pytest

from prove.library.calendar.records import Appointment, Calendar, Person
from prove.library.calendar.recurrence import between, normal, occurrences
from prove.servers.session import Session


@pytest.fixture
def calendar():
    return Session.open("calendar", seed=0)  # the world begins on Monday, 17 August 2026, at 09:00 UTC, in London


def book(calendar, **changes):
    event = {"calendar_id": "CAL-11", "summary": "Tea", "start": "2026-09-01T15:00:00Z", "duration": 60, **changes}
    return calendar.call("create_recurring_event" if "recurrence" in changes else "create_event", event)


def instances(calendar, event, **filters):
    return calendar.call("list_events", {"event_id": event["event_id"], "limit": 50, **filters}).value["items"]


def days(calendar, event, **filters):
    return [i["day"] for i in instances(calendar, event, **filters)]


def move(calendar, event, start):
    return calendar.call("update_event", {"event_id": event["event_id"], "start": start}).value["event"]


def cancel(calendar, event, day):
    return calendar.call("cancel_event_instance", {"event_id": event["event_id"], "day": day})


def in_zone(calendar, zone):
    return calendar.call("create_calendar", {"name": f"In {zone}", "zone": zone}).value["calendar_id"]


def alone(calendar):
    """An otherwise empty calendar of somebody in London."""
    rows = calendar.servers["calendar"]
    for table in (rows.events, rows.deviations):
        for record in list(table):
            table.remove(table.key_of(record))
    rows.people.update(next(iter(rows.people)).email, zone="Europe/London")
    return rows


def answers(calendar, event):
    guests = calendar.call("get_event", {"event_id": event["event_id"]}).value["attendees"]
    return {a["email"].split("@")[0]: a["answer"] for a in guests}


# --- recurrence


def test_a_series_keeps_its_hour_on_the_wall_when_the_clocks_change():
    starts = occurrences("FREQ=WEEKLY;BYDAY=SA,MO;COUNT=3", datetime(2026, 3, 28, 14, 0, tzinfo=UTC), "America/New_York")
    assert [f"{s:%d %H:%M}" for s in starts] == ["28 14:00", "30 14:00", "04 14:00"]  # New York changed on the 8th
    starts = occurrences("FREQ=WEEKLY;BYDAY=SA,MO;COUNT=3", datetime(2026, 3, 28, 14, 0, tzinfo=UTC), "Europe/Berlin")
    assert [f"{s:%d %H:%M}" for s in starts] == ["28 14:00", "30 13:00", "04 13:00"]  # Berlin on the 29th


def test_a_series_begins_when_its_rule_first_holds(calendar):
    event = book(calendar, recurrence="FREQ=MONTHLY;BYDAY=-1FR;COUNT=3").value["event"]
    assert days(calendar, event) == ["2026-09-25", "2026-10-30", "2026-11-27"]


def test_the_days_of_a_series_are_those_of_its_calendars_zone():
    calendar = Session.open("calendar", seed=13)  # 16 February 2026
    assert calendar.clock.now < datetime(2026, 3, 5, tzinfo=UTC)
    late = {"calendar_id": in_zone(calendar, "America/New_York"), "start": "2026-03-05T19:30:00-05:00"}
    event = book(calendar, **late, recurrence="FREQ=DAILY;COUNT=6").value["event"]
    assert days(calendar, event) == [f"2026-03-{day:02}" for day in range(5, 11)]  # across the change of clocks on the 8th
    starts = [i["start"][8:16] for i in instances(calendar, event)]
    assert starts == ["06T00:30", "07T00:30", "08T00:30", "08T23:30", "09T23:30", "10T23:30"]


def test_a_monday_evening_in_new_york_is_a_monday(calendar):
    late = {"calendar_id": in_zone(calendar, "America/New_York"), "start": "2026-09-07T20:30:00-04:00"}
    event = book(calendar, **late, recurrence="FREQ=WEEKLY;BYDAY=MO;COUNT=2").value["event"]
    assert days(calendar, event) == ["2026-09-07", "2026-09-14"]
    assert days(calendar, event, first_day="2026-09-07", days=1) == ["2026-09-07"]


def test_a_rule_may_name_several_days_of_the_month_and_the_day_that_begins_a_week(calendar):
    event = book(calendar, recurrence="FREQ=MONTHLY;BYMONTHDAY=15,1;COUNT=4").value["event"]
    assert days(calendar, event) == ["2026-09-01", "2026-09-15", "2026-10-01", "2026-10-15"]
    start = datetime(1997, 8, 5, 9, 0, tzinfo=UTC)  # the example of RFC 5545, section 3.8.5.3
    by_monday, by_sunday = (
        [f"{t:%m-%d}" for t in occurrences(normal(f"FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST={day}"), start, "UTC")]
        for day in ("MO", "SU")
    )
    assert by_monday == ["08-05", "08-10", "08-19", "08-24"]
    assert by_sunday == ["08-05", "08-17", "08-19", "08-31"]


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("FREQ=DAILY;COUNT=3;UNTIL=20270101T000000Z", "not by both"),
        ("FREQ=WEEKLY;BYDAY=2MO", "a number before a weekday in BYDAY is for FREQ=MONTHLY or YEARLY only"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY must not be used with FREQ=WEEKLY"),
        ("FREQ=MONTHLY;BYYEARDAY=100", "BYYEARDAY is for FREQ=YEARLY only"),
        ("FREQ=MONTHLY;BYWEEKNO=20", "BYWEEKNO is for FREQ=YEARLY only"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO", "must not be used with BYWEEKNO"),
        ("FREQ=MONTHLY;BYSETPOS=1", "add one, for example BYDAY"),
        ("FREQ=DAILY;BYHOUR=9", "a series takes place once a day"),
        ("FREQ=HOURLY", "FREQ must be one of DAILY, WEEKLY, MONTHLY, YEARLY"),
        ("BYDAY=MO", "FREQ must be one of"),
        ("FREQ=DAILY;FREQ=WEEKLY", "FREQ may be given once only"),
        ("RRULE:FREQ=DAILY", "give the rule alone"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY counts from 1"),
        ("FREQ=MONTHLY;BYMONTHDAY=32", "whole numbers up to 31"),
        ("FREQ=WEEKLY;BYDAY=MONDAY", "BYDAY takes MO, TU"),
        ("FREQ=MONTHLY;BYDAY=53MO", "BYDAY counts to 5 there"),
        ("FREQ=YEARLY;BYMONTH=5;BYDAY=-6MO", "BYDAY counts to 5 there"),
        ("FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=-8", "BYSETPOS counts to 7 with FREQ=WEEKLY"),
        ("FREQ=DAILY;COUNT=0", "COUNT must be at least 1"),
        ("FREQ=WEEKLY;UNTIL=20200101T000000Z", "never holds after"),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "never holds after"),
    ],
)
def test_what_the_standard_forbids_or_never_holds_is_refused_in_plain_words(calendar, rule, why):
    refused = book(calendar, recurrence=rule)
    assert refused.code == "invalid_argument"
    assert why in refused.value["error"]["message"]


def test_two_spellings_of_a_rule_are_one():
    assert normal("byday=WE,MO;interval=1;freq=weekly;wkst=mo") == normal("FREQ=WEEKLY;BYDAY=MO,WE") == "FREQ=WEEKLY;BYDAY=MO,WE"


def test_an_endless_series_can_be_asked_about_at_any_date(calendar):
    book(calendar, summary="Standup", recurrence="FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")
    week = calendar.call("list_events", {"first_day": "2027-06-07", "days": 5, "limit": 50}).value["items"]
    assert [e["day"] for e in week if e["summary"] == "Standup"] == [f"2027-06-{day:02}" for day in range(7, 12)]
    assert calendar.call("list_events", {"first_day": "2150-06-01", "days": 5, "limit": 50}).value["total"] > 0
    me = next(iter(calendar.servers["calendar"].people)).email
    assert calendar.call("get_free_busy", {"email": me, "day": "2027-06-07"}).value["busy_minutes"] > 0


def test_counting_from_near_a_date_gives_what_counting_from_the_start_gives():
    start = datetime(2026, 1, 7, 15, 0, tzinfo=UTC)
    rules = ("FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,TU", "FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=DAILY;BYMONTH=2")
    for rule in rules:
        end = datetime(2031, 1, 1, tzinfo=UTC)
        whole = [t for t in occurrences(rule, start, "Europe/Berlin") if datetime(2030, 1, 1, tzinfo=UTC) <= t < end]
        assert between(rule, start, "Europe/Berlin", datetime(2030, 1, 1, tzinfo=UTC), end) == whole
        assert whole


# --- single days of a series


def test_one_instance_is_moved_or_called_off_without_the_others(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU;COUNT=3").value["event"]
    assert cancel(calendar, event, "2026-09-08").ok
    moved = {"event_id": event["event_id"], "day": "2026-09-15", "start": "2026-09-16T10:00:00+02:00"}
    assert calendar.call("update_event_instance", moved).value["start"] == "2026-09-16T08:00:00Z"
    left = [(i["day"], i["start"]) for i in instances(calendar, event)]
    assert left == [("2026-09-01", "2026-09-01T15:00:00Z"), ("2026-09-15", "2026-09-16T08:00:00Z")]
    again = {"event_id": event["event_id"], "day": "2026-09-08", "duration": 30}
    assert calendar.call("update_event_instance", again).code == "failed_precondition"


def test_renaming_a_series_leaves_an_instance_that_was_renamed_alone(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU;COUNT=3").value["event"]
    first, second = ({"event_id": event["event_id"], "day": day} for day in ("2026-09-01", "2026-09-08"))
    calendar.call("update_event_instance", {**first, "summary": "Tea with cake"})
    calendar.call("update_event_instance", {**second, "location": "Garden"})
    calendar.call("update_event", {"event_id": event["event_id"], "summary": "Coffee"})
    assert [i["summary"] for i in instances(calendar, event)] == ["Tea with cake", "Coffee", "Coffee"]


def test_a_series_that_is_moved_keeps_its_count_and_what_was_called_off(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU;COUNT=5").value["event"]
    cancel(calendar, event, "2026-09-22")
    calendar.advance(days=17)  # to Thursday, 3 September: one has passed
    moved = move(calendar, event, "2026-09-08T10:00:00Z")
    assert moved["recurrence"] == "FREQ=WEEKLY;COUNT=4;BYDAY=TU"
    assert [i["start"][5:16] for i in instances(calendar, event, first_day="2026-09-01")] == [
        "09-01T15:00", "09-08T10:00", "09-15T10:00", "09-29T10:00",
    ]  # fmt: skip
    assert cancel(calendar, event, "2026-09-22").code == "failed_precondition"  # it is called off still


def test_where_a_moved_series_goes_by_other_days_the_second_time_stays_the_second(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;COUNT=3").value["event"]
    cancel(calendar, event, "2026-09-08")
    move(calendar, event, "2026-09-03T15:00:00Z")
    assert days(calendar, event) == ["2026-09-03", "2026-09-17"]


def test_moving_a_series_twice_keeps_all_that_has_passed(calendar):
    event = book(calendar, recurrence="FREQ=DAILY;COUNT=4").value["event"]
    calendar.advance(days=15, hours=12)  # 1 September, 21:00
    move(calendar, event, "2026-09-01T22:00:00Z")
    calendar.advance(hours=2)
    move(calendar, event, "2026-09-05T08:00:00Z")
    starts = [i["start"][5:16] for i in instances(calendar, event, first_day="2026-09-01")]
    assert starts == ["09-01T15:00", "09-01T22:00", "09-05T08:00", "09-06T08:00"]
    calendar.call("delete_event", {"event_id": event["event_id"]})
    assert not calendar.servers["calendar"].held.where(event_id=event["event_id"])


# --- the agenda


def test_an_event_from_the_evening_before_is_shown_on_the_day_it_ends(calendar):
    event = book(calendar, start="2026-09-05T22:00:00Z", duration=180).value["event"]  # 23:00 to 02:00 in London
    for first_day, shown in (("2026-09-05", 1), ("2026-09-06", 1), ("2026-09-07", 0)):
        assert len(instances(calendar, event, first_day=first_day, days=1)) == shown


def test_whatever_the_agenda_counts_can_be_reached(calendar):
    ask = {"days": 30, "limit": 50}
    first = calendar.call("list_events", ask).value
    rest = calendar.call("list_events", {**ask, "offset": 50}).value["items"]
    assert len(first["items"]) + len(rest) == first["total"] > 50


def test_a_new_event_says_what_it_overlaps_with(calendar):
    first = book(calendar, start="2026-09-05T03:00:00Z").value
    assert first["overlaps"] == []
    second = book(calendar, summary="Call", start="2026-09-05T03:59:00Z", duration=5).value
    assert [o["event_id"] for o in second["overlaps"]] == [first["event"]["event_id"]]


def test_no_event_has_a_twin_by_whatever_way(calendar):
    book(calendar)
    assert book(calendar, summary="  TEA ").code == "conflict"
    other = book(calendar, summary="Call").value["event"]["event_id"]
    assert calendar.call("update_event", {"event_id": other, "summary": "tea"}).code == "conflict"
    assert calendar.call("update_event", {"event_id": other, "summary": "Tea at noon"}).ok


# --- guests


def invite(calendar, event, *names):
    rows = calendar.servers["calendar"]
    for name in names:
        if f"{name}@example.com" not in rows.people and name != "unknown":
            rows.people.add(Person(f"{name}@example.com", name, "Europe/London"))
        assert calendar.call("add_attendee", {"event_id": event["event_id"], "email": f"{name}@example.com"}).ok


def busy(calendar, name, start, duration=60):
    rows = calendar.servers["calendar"]
    rows.appointments.add(Appointment(rows.appointments.mint(), f"{name}@example.com", start, duration))


def test_a_colleague_accepts_within_the_hour_when_free_and_declines_when_busy(calendar):
    busy(calendar, "busy", datetime(2026, 9, 1, 15, 30, tzinfo=UTC))
    event = book(calendar).value["event"]
    invite(calendar, event, "free", "busy", "unknown")
    calendar.advance(minutes=59)
    assert set(answers(calendar, event).values()) == {"needs_action"}
    calendar.advance(minutes=1)
    assert answers(calendar, event) == {"free": "accepted", "busy": "declined", "unknown": "needs_action"}


def test_a_colleague_does_not_promise_to_be_at_two_meetings_at_one_hour(calendar):
    one, other = book(calendar).value["event"], book(calendar, summary="Coffee").value["event"]
    invite(calendar, one, "ana")
    invite(calendar, other, "ana")
    calendar.advance(hours=1)
    assert (answers(calendar, one), answers(calendar, other)) == ({"ana": "accepted"}, {"ana": "declined"})


def test_guests_are_asked_anew_when_an_event_is_moved(calendar):
    busy(calendar, "ana", datetime(2026, 9, 2, 15, 0, tzinfo=UTC))
    event = book(calendar).value["event"]
    invite(calendar, event, "ana")
    calendar.advance(hours=1)
    assert answers(calendar, event) == {"ana": "accepted"}
    move(calendar, event, "2026-09-02T15:00:00Z")
    assert answers(calendar, event) == {"ana": "needs_action"}
    calendar.advance(hours=1)
    assert answers(calendar, event) == {"ana": "declined"}


def test_what_a_colleague_was_invited_to_makes_them_busy(calendar):
    event = book(calendar).value["event"]
    invite(calendar, event, "ana")
    seen = calendar.call("get_free_busy", {"email": "ana@example.com", "day": "2026-09-01"}).value
    assert (seen["busy_minutes"], seen["busy"][0]["start"]) == (60, "2026-09-01T15:00:00Z")


def test_a_slot_lies_in_everybodys_working_hours_and_free_time(calendar):
    rows = alone(calendar)
    rows.people.add(Person("ny@example.com", "Ny", "America/New_York"))
    ask = {"invitees": ["ny@example.com"], "duration": 60, "first_day": "2026-08-18", "days": 1}
    slots = calendar.call("find_meeting_slot", ask).value["items"]  # 9 to 17 in London is 8 to 16 UTC, in New York 13 to 21
    assert [s["start"][11:16] for s in slots] == ["13:00", "13:30", "14:00", "14:30", "15:00"]
    busy(calendar, "ny", datetime(2026, 8, 18, 13, 45, tzinfo=UTC), 30)
    slots = calendar.call("find_meeting_slot", ask).value["items"]
    assert [s["start"][11:16] for s in slots] == ["14:30", "15:00"]


def test_a_day_of_the_users_begins_at_midnight_where_the_user_lives(calendar):
    alone(calendar)
    book(calendar, start="2026-09-01T23:30:00Z")  # half past midnight on the 2nd, in London
    me = next(iter(calendar.servers["calendar"].people)).email
    minutes = [calendar.call("get_free_busy", {"email": me, "day": f"2026-09-0{day}"}).value["busy_minutes"] for day in (1, 2)]
    assert minutes == [0, 60]


# --- reminders


def reminded(calendar, event):
    return calendar.call("get_event", {"event_id": event["event_id"]}).value["reminded"]


def test_a_reminder_goes_out_at_its_time_and_can_be_taken_away(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU").value["event"]
    remind = {"event_id": event["event_id"], "lead_time": 30}
    assert calendar.call("set_reminder", remind).value["reminders"] == [30]
    calendar.advance(days=15)  # 1 September, 09:00
    assert reminded(calendar, event) is None
    calendar.advance(hours=12)
    assert reminded(calendar, event) == "2026-09-01T14:30:00Z"
    cancel(calendar, event, "2026-09-08")
    calendar.advance(days=7)
    assert reminded(calendar, event) == "2026-09-01T14:30:00Z"  # what is called off needs no reminder
    calendar.advance(days=7)
    assert reminded(calendar, event) == "2026-09-15T14:30:00Z"
    assert calendar.call("set_reminder", {**remind, "remove": True}).value["reminders"] == []
    assert calendar.call("set_reminder", {**remind, "remove": True}).code == "not_found"
    calendar.advance(days=7)
    assert reminded(calendar, event) == "2026-09-15T14:30:00Z"


# --- refusals


def _too_late_a_reminder(calendar):
    start = calendar.clock.now + timedelta(minutes=90)
    event = book(calendar, start=start.isoformat()).value["event"]["event_id"]
    yield calendar.call("set_reminder", {"event_id": event, "lead_time": 90})
    yield calendar.call("set_reminder", {"event_id": event, "lead_time": 89})  # "choose at most 89"


def _too_many_reminders(calendar):
    event = book(calendar).value["event"]["event_id"]
    for lead in range(5):
        calendar.call("set_reminder", {"event_id": event, "lead_time": lead})
    yield calendar.call("set_reminder", {"event_id": event, "lead_time": 60})
    calendar.call("set_reminder", {"event_id": event, "lead_time": 4, "remove": True})
    yield calendar.call("set_reminder", {"event_id": event, "lead_time": 60})


def _a_date_for_until(calendar):
    yield book(calendar, recurrence="FREQ=DAILY;UNTIL=20260905")
    yield book(calendar, recurrence="FREQ=DAILY;UNTIL=20260905T235959Z")


def _a_day_that_a_series_does_not_have(calendar):
    event = book(calendar, recurrence="FREQ=WEEKLY;BYDAY=TU").value["event"]
    refused = cancel(calendar, event, "2026-09-09")
    yield refused
    yield cancel(calendar, event, refused.value["error"]["message"].split("its next days are ")[1].split(",")[0])


def _an_instance_of_a_single_event(calendar):
    event = book(calendar).value["event"]
    yield cancel(calendar, event, "2026-09-01")
    yield calendar.call("delete_event", {"event_id": event["event_id"]})


def _a_series_that_is_over(calendar):
    event = book(calendar, recurrence="FREQ=DAILY;COUNT=2").value["event"]["event_id"]
    calendar.advance(days=30)
    yield calendar.call("update_event", {"event_id": event, "start": "2026-10-01T15:00:00Z"})
    yield book(calendar, recurrence="FREQ=DAILY;COUNT=2", start="2026-10-01T15:00:00Z")


def _a_day_that_has_passed(calendar):
    me = next(iter(calendar.servers["calendar"].people)).email
    yield calendar.call("get_free_busy", {"email": me, "day": "2026-08-16"})
    yield calendar.call("get_free_busy", {"email": me, "day": "2026-08-17"})


def _a_calendar_name_that_is_taken(calendar):
    yield calendar.call("create_calendar", {"name": " WORK", "zone": "Europe/Berlin"})
    yield calendar.call("create_calendar", {"name": "Work at home", "zone": "Europe/Berlin"})


ADVICE = (
    _too_late_a_reminder, _too_many_reminders, _a_date_for_until, _a_day_that_a_series_does_not_have, _an_instance_of_a_single_event,
    _a_series_that_is_over, _a_day_that_has_passed, _a_calendar_name_that_is_taken,
)  # fmt: skip


@pytest.mark.parametrize("case", ADVICE)
def test_whoever_follows_the_advice_of_a_refusal_succeeds(calendar, case):
    refused, followed = case(calendar)
    assert not refused.ok
    assert followed.ok, followed.text


def test_what_others_organise_or_only_show_cannot_be_changed(calendar):
    rows = calendar.servers["calendar"]
    rows.calendars.add(Calendar("CAL-X", "Readable", "UTC", "reader"))
    assert book(calendar, calendar_id="CAL-X").code == "permission_denied"
    theirs = next(e.event_id for e in rows.events if e.organizer != next(iter(rows.people)).email)
    assert calendar.call("delete_event", {"event_id": theirs}).code == "permission_denied"


# --- what somebody who knows calendars tries


@pytest.mark.parametrize(("rule", "hint"), [("RRULE:FREQ=DAILY;COUNT=3", "without"), ("FREQ=DAILY;COUNT=3;", "semicolon")])
def test_a_rule_copied_from_a_calendar_file_is_refused_with_what_to_leave_out(calendar, rule, hint):
    refused = book(calendar, recurrence=rule)
    assert refused.code == "invalid_argument"
    assert hint in refused.text
    assert book(calendar, recurrence=rule.removeprefix("RRULE:").removesuffix(";")).ok


def test_an_instance_is_moved_only_to_a_time_that_is_still_to_come(calendar):
    event = book(calendar, recurrence="FREQ=DAILY;COUNT=3").value["event"]
    moved = {"event_id": event["event_id"], "day": days(calendar, event)[0]}
    assert calendar.call("update_event_instance", moved | {"start": "2026-08-17T09:00:00Z"}).code == "failed_precondition"
    assert calendar.call("update_event_instance", moved | {"start": "2026-08-17T09:05:00Z"}).ok


@pytest.mark.parametrize("seed", [228, 382])  # in which the second person of one first name drew a name that was taken
def test_two_people_of_one_first_name_never_have_the_same_name(seed):
    people = Session.open("calendar", seed).servers["calendar"].people
    assert len({p.name for p in people}) == len(people) == 12
