"""Video meetings' own rules: the waiting room, who leads, one meeting at a time, seats, and what becomes of a recording."""

from datetime import timedelta

import pytest

from prove.library.video_meeting.records import Meeting, Participant
from prove.servers.session import Session


@pytest.fixture
def video():
    return Session.open("video_meeting", seed=0)


@pytest.fixture
def quiet(video):
    """An empty diary: nothing is planned, and nobody is anywhere."""
    rows = video.servers["video_meeting"]
    for table in (rows.meetings, rows.participants, rows.recordings):
        for record in list(table):
            table.remove(table.key_of(record))
    return video


def me_in(video):
    return next(iter(video.servers["video_meeting"].users))


def open_now(video, **changes):
    return video.call("create_meeting", {"topic": "Tea", "duration": 60, **changes}).value


def theirs(video, role="attendee", after=0, minutes=60, host=1, waiting_room=True):
    """A meeting of a colleague's that begins after so many minutes, with the user in that role."""
    rows, user = video.servers["video_meeting"], me_in(video)
    colleague = list(rows.users)[host]
    start = video.clock.now + timedelta(minutes=after)
    how = (start, minutes, waiting_room, "")
    meeting = rows.meetings.add(Meeting(rows.meetings.mint(), "Theirs", colleague.email, *how))
    for who, part in ((colleague, "host"), (user, role)):
        person = (meeting.meeting_id, who.name, who.email, video.clock.now, part)
        rows.participants.add(Participant(rows.participants.mint(), *person))
    return meeting.meeting_id


def people(video, meeting):
    meeting_id = meeting if isinstance(meeting, str) else meeting["meeting"]["meeting_id"]
    return video.call("get_meeting", {"meeting_id": meeting_id}).value["participants"]


def states(video, meeting):
    return [p["state"] for p in people(video, meeting)]


def mine(video, meeting):
    return next(p for p in people(video, meeting) if p["email"] == me_in(video).email)


# --- who is in


def test_who_turns_up_waits_until_the_host_lets_them_in(quiet):
    meeting = open_now(quiet, invitees=["a@example.com", "b@example.com"])
    host, first, _ = (p["participant_id"] for p in people(quiet, meeting))
    assert quiet.call("admit_participant", {"participant_id": first}).code == "failed_precondition"  # not there yet
    quiet.advance(minutes=1)
    assert states(quiet, meeting) == ["in_meeting", "waiting", "waiting"]
    assert quiet.call("admit_participant", {"participant_id": first}).value["state"] == "in_meeting"
    quiet.advance(minutes=30)
    assert states(quiet, meeting) == ["in_meeting", "in_meeting", "waiting"]  # the user is the host: nobody else lets people in
    assert quiet.call("remove_participant", {"participant_id": host}).code == "permission_denied"


def test_another_host_lets_in_whoever_waits_within_five_minutes(quiet):
    meeting = theirs(quiet, after=10)
    quiet.advance(minutes=11)
    assert mine(quiet, meeting)["state"] == "waiting"
    quiet.advance(minutes=5)
    me, start = mine(quiet, meeting), quiet.clock.now - timedelta(minutes=6)
    assert me["state"] == "in_meeting"
    assert (me["came"], me["joined"]) == tuple(f"{start + timedelta(minutes=m):%Y-%m-%dT%H:%M:%SZ}" for m in (1, 6))


def test_a_full_meeting_of_another_host_lets_the_next_in_once_somebody_is_removed(quiet):
    meeting, rows = theirs(quiet, role="co_host", after=1), quiet.servers["video_meeting"]
    rows.invite(rows.meetings.get(meeting), [f"p{n}@example.com" for n in range(7)])
    quiet.advance(minutes=10)
    assert states(quiet, meeting).count("in_meeting") == 8
    guests = [p for p in people(quiet, meeting) if p["role"] == "attendee"]
    waiting, inside = (next(p for p in guests if p["state"] == state) for state in ("waiting", "in_meeting"))
    quiet.call("remove_participant", {"participant_id": inside["participant_id"]})
    assert next(p for p in people(quiet, meeting) if p["email"] == waiting["email"])["state"] == "in_meeting"


def test_without_a_waiting_room_people_come_in_as_long_as_there_are_seats(quiet):
    meeting = open_now(quiet, waiting_room=False, invitees=[f"p{n}@example.com" for n in range(8)])
    quiet.advance(minutes=1)
    assert states(quiet, meeting) == ["in_meeting"] * 8 + ["waiting"]  # the host and seven more


def test_opening_the_waiting_room_lets_everybody_in(quiet):
    meeting = open_now(quiet, invitees=["a@example.com", "b@example.com"])
    quiet.advance(minutes=2)
    quiet.call("update_meeting", {"meeting_id": meeting["meeting"]["meeting_id"], "waiting_room": False})
    assert states(quiet, meeting) == ["in_meeting"] * 3


def test_whoever_was_removed_can_be_invited_again(quiet):
    meeting = open_now(quiet, invitees=["a@example.com"])
    quiet.advance(minutes=1)
    guest = people(quiet, meeting)[1]["participant_id"]
    assert quiet.call("remove_participant", {"participant_id": guest}).value["state"] == "removed"
    assert quiet.call("remove_participant", {"participant_id": guest}).code == "failed_precondition"
    quiet.call("update_meeting", {"meeting_id": meeting["meeting"]["meeting_id"], "invitees": ["A@example.com"]})
    quiet.advance(minutes=1)
    assert states(quiet, meeting) == ["in_meeting", "waiting"]


# --- one meeting at a time


def test_whoever_is_in_one_meeting_comes_to_the_other_when_it_ends(quiet):
    first, second = theirs(quiet, minutes=30, after=1), theirs(quiet, after=10, host=2, waiting_room=False)
    quiet.advance(minutes=20)
    assert (mine(quiet, first)["state"], mine(quiet, second)["state"]) == ("in_meeting", "invited")
    quiet.advance(minutes=11)
    assert (mine(quiet, first)["state"], mine(quiet, second)["state"]) == ("left", "in_meeting")


def test_whoever_opens_a_meeting_of_their_own_leaves_the_one_they_are_in(quiet):
    first = theirs(quiet, after=1)
    quiet.advance(minutes=10)
    own = open_now(quiet)
    assert (mine(quiet, first)["state"], mine(quiet, own)["state"]) == ("left", "in_meeting")


def test_the_user_is_in_one_meeting_when_a_world_begins():
    for seed in range(20):
        rows = Session.open("video_meeting", seed).servers["video_meeting"]
        there = [p for p in rows.participants.where(email=next(iter(rows.users)).email) if p.state in ("waiting", "in_meeting")]
        assert len(there) == 1
        assert len(rows.meetings.where(status="in_progress")) == 4


# --- who leads


def test_a_co_host_leads_only_while_in_the_meeting(quiet):
    meeting, rows = theirs(quiet, role="co_host", after=1), quiet.servers["video_meeting"]
    rows.invite(rows.meetings.get(meeting), ["a@example.com"])
    quiet.advance(minutes=2)  # all wait
    me, guest = mine(quiet, meeting)["participant_id"], people(quiet, meeting)[-1]["participant_id"]
    for participant in (me, guest):
        assert quiet.call("admit_participant", {"participant_id": participant}).code == "failed_precondition"
    assert quiet.call("start_recording", {"meeting_id": meeting}).code == "failed_precondition"
    assert quiet.call("remove_participant", {"participant_id": guest}).code == "failed_precondition"
    quiet.advance(minutes=5)  # the host has let them in
    assert quiet.call("start_recording", {"meeting_id": meeting}).ok
    assert quiet.call("remove_participant", {"participant_id": guest}).ok
    assert quiet.call("remove_participant", {"participant_id": me}).code == "permission_denied"
    for tool, change in (("cancel_meeting", {}), ("update_meeting", {"topic": "Mine"})):
        assert quiet.call(tool, {"meeting_id": meeting, **change}).code == "permission_denied"


def test_an_attendee_leads_nothing(quiet):
    meeting = theirs(quiet, after=1)
    quiet.advance(minutes=10)
    assert quiet.call("start_recording", {"meeting_id": meeting}).code == "permission_denied"


# --- the plan


def test_the_user_hosts_one_meeting_at_a_time_and_none_that_is_too_long(quiet):
    open_now(quiet)
    day = f"{quiet.clock.now:%Y-%m-%d}"
    assert quiet.call("create_meeting", {"topic": "Clash", "duration": 30, "start": f"{day}T09:59:00Z"}).code == "conflict"
    assert quiet.call("create_meeting", {"topic": "After", "duration": 30, "start": f"{day}T10:00:00Z"}).ok
    assert quiet.call("create_meeting", {"topic": "Long", "duration": 91, "start": f"{day}T12:00:00Z"}).code == "resource_exhausted"


def test_blank_topics_are_none_and_nobody_is_invited_twice(quiet):
    assert quiet.call("create_meeting", {"topic": " \n", "duration": 30}).code == "invalid_argument"
    meeting = open_now(quiet, invitees=["a@example.com", "A@Example.com", me_in(quiet).email])
    assert len(people(quiet, meeting)) == 2


# --- recordings


def test_a_recording_is_stopped_then_processed_then_ready_then_deleted(quiet):
    meeting = open_now(quiet)["meeting"]["meeting_id"]
    recording = quiet.call("start_recording", {"meeting_id": meeting}).value["recording_id"]
    assert quiet.call("start_recording", {"meeting_id": meeting}).code == "failed_precondition"
    quiet.advance(minutes=10)
    stopped = quiet.call("stop_recording", {"recording_id": recording}).value
    assert (stopped["status"], stopped["size_mb"]) == ("processing", 60)  # 10 minutes of 6 MB
    quiet.advance(minutes=9)
    assert quiet.call("get_recording", {"recording_id": recording}).value["status"] == "processing"
    quiet.advance(minutes=1)
    assert quiet.call("get_recording", {"recording_id": recording}).value["status"] == "ready"
    quiet.advance(days=30)
    assert quiet.call("get_recording", {"recording_id": recording}).code == "not_found"


def test_in_a_recording_is_everybody_who_was_in_the_meeting_meanwhile(quiet):
    meeting = open_now(quiet, waiting_room=False, invitees=["early@example.com", "stays@example.com"])
    meeting_id = meeting["meeting"]["meeting_id"]
    quiet.advance(minutes=2)
    recording = quiet.call("start_recording", {"meeting_id": meeting_id}).value["recording_id"]
    quiet.advance(minutes=2)
    early = next(p["participant_id"] for p in people(quiet, meeting) if p["email"] == "early@example.com")
    quiet.call("remove_participant", {"participant_id": early})
    quiet.advance(minutes=2)
    speakers = quiet.call("stop_recording", {"recording_id": recording}).value["speakers"]
    assert speakers == [me_in(quiet).name, "early@example.com", "stays@example.com"]


def test_a_meeting_opens_at_its_time_and_ends_with_its_minutes_and_its_recording(quiet):
    meeting = open_now(quiet)
    quiet.call("start_recording", {"meeting_id": meeting["meeting"]["meeting_id"]})
    start = quiet.clock.now
    later = {"topic": "Cake", "duration": 30, "start": f"{start:%Y-%m-%d}T10:30:00Z"}
    cake = quiet.call("create_meeting", later).value["meeting"]["meeting_id"]
    quiet.advance(minutes=100)  # from 09:00 to 10:40
    over = quiet.call("get_meeting", {"meeting_id": meeting["meeting"]["meeting_id"]}).value
    assert over["meeting"]["status"] == "ended"
    assert quiet.call("get_meeting", {"meeting_id": cake}).value["meeting"]["status"] == "in_progress"
    recording = quiet.call("get_recording", {"recording_id": over["recordings"][0]["recording_id"]}).value
    assert recording["stopped"] == f"{start:%Y-%m-%d}T10:00:00Z"


# --- refusals


def _at(moment):
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _message(refused):
    return refused.value["error"]["message"]


def _a_clash(video):
    open_now(video)
    video.call("create_meeting", {"topic": "Next", "duration": 60, "start": _at(video.clock.now + timedelta(minutes=90))})
    refused = video.call("create_meeting", {"topic": "Clash", "duration": 60})
    yield refused
    free = _message(refused).split("the next free start is ")[1]
    assert free == _at(video.clock.now + timedelta(minutes=150))  # there is no hour between the two
    yield video.call("create_meeting", {"topic": "Clash", "duration": 60, "start": free})


def _a_meeting_drawn_out_into_the_next(video):
    running = open_now(video, duration=30)["meeting"]["meeting_id"]
    video.call("create_meeting", {"topic": "Next", "duration": 60, "start": _at(video.clock.now + timedelta(minutes=45))})
    refused = video.call("update_meeting", {"meeting_id": running, "duration": 60})
    yield refused
    assert _message(refused).endswith(f"end by {_at(video.clock.now + timedelta(minutes=45))}")
    yield video.call("update_meeting", {"meeting_id": running, "duration": 45})


def _a_full_meeting(video):
    meeting = open_now(video, waiting_room=False, invitees=[f"p{n}@example.com" for n in range(8)])
    video.advance(minutes=1)
    last = people(video, meeting)[-1]["participant_id"]
    yield video.call("admit_participant", {"participant_id": last})
    video.call("remove_participant", {"participant_id": people(video, meeting)[1]["participant_id"]})
    yield video.call("admit_participant", {"participant_id": last})


def _a_recording_that_runs(video):
    recording = video.call("start_recording", {"meeting_id": open_now(video)["meeting"]["meeting_id"]}).value["recording_id"]
    yield video.call("get_recording", {"recording_id": recording})
    video.call("stop_recording", {"recording_id": recording})
    yield video.call("get_recording", {"recording_id": recording})


def _a_full_storage(video):
    meeting, rows = open_now(video)["meeting"]["meeting_id"], video.servers["video_meeting"]
    recording = video.call("start_recording", {"meeting_id": meeting}).value["recording_id"]
    video.advance(minutes=1)
    video.call("stop_recording", {"recording_id": recording})
    rows.recordings.update(recording, size_mb=5000)
    refused = video.call("start_recording", {"meeting_id": meeting})
    yield refused
    freed = _message(refused).split("is deleted, at ")[1]
    assert freed == _at(video.clock.now + timedelta(days=30))
    video.advance(days=30)
    yield video.call("start_recording", {"meeting_id": open_now(video)["meeting"]["meeting_id"]})


def _a_start_that_has_passed(video):
    yield video.call("create_meeting", {"topic": "Late", "duration": 30, "start": _at(video.clock.now - timedelta(minutes=1))})
    yield video.call("create_meeting", {"topic": "Late", "duration": 30})  # "give a later start, or none to open it now"


def _a_meeting_that_is_too_long(video):
    yield video.call("create_meeting", {"topic": "Long", "duration": 120})
    yield video.call("create_meeting", {"topic": "Long", "duration": 90})  # "90 minutes at most"


ADVICE = (
    _a_clash, _a_meeting_drawn_out_into_the_next, _a_full_meeting, _a_recording_that_runs, _a_full_storage, _a_start_that_has_passed,
    _a_meeting_that_is_too_long,
)  # fmt: skip


@pytest.mark.parametrize("case", ADVICE)
def test_whoever_follows_the_advice_of_a_refusal_succeeds(quiet, case):
    refused, followed = case(quiet)
    assert not refused.ok
    assert followed.ok, followed.text


@pytest.mark.parametrize("seed", range(800, 806))
def test_meetings_are_planned_on_workdays_and_as_long_as_the_plan_of_their_host_allows(seed):
    server = Session.open("video_meeting", seed=seed).servers["video_meeting"]
    assert all(m.start.weekday() < 5 or m.start.date() == server.today for m in server.meetings)
    assert all(m.duration <= server.users.get(m.host).longest for m in server.meetings)


def test_days_that_are_over_are_listed_from_a_first_day_on(quiet):
    today = quiet.servers["video_meeting"].today
    over = (today - timedelta(days=1)).isoformat()
    refused = quiet.call("list_meetings", {"until": over})
    assert refused.code == "invalid_argument"
    assert "give an earlier since" in refused.text
    assert quiet.call("list_meetings", {"since": over, "until": over}).ok
    assert quiet.call("list_meetings", {"since": today.isoformat(), "until": over}).code == "invalid_argument"


def test_a_namesake_has_a_name_of_their_own():
    names = [u.name for u in Session.open("video_meeting", seed=301).servers["video_meeting"].users]  # the first name drawn was taken
    assert len(set(names)) == len(names) == 16
