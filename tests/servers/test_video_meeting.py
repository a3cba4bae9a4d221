"""Video meetings' own rules: the waiting room, host rights, seats, and what becomes of a recording."""

import pytest

from prove.servers.session import Session


@pytest.fixture
def video():
    return Session.open("video_meeting", seed=0)


def open_now(video, **changes):
    """A meeting of the user that runs from now on, in an otherwise empty calendar."""
    rows = video.servers["video_meeting"]
    for meeting in list(rows.meetings):
        rows.meetings.update(meeting.meeting_id, status="cancelled")
    return video.call("create_meeting", {"topic": "Tea", "duration": 60, **changes}).value


def people(video, meeting):
    return video.call("get_meeting", {"meeting_id": meeting["meeting"]["meeting_id"]}).value["participants"]


def test_who_turns_up_waits_until_the_host_lets_them_in(video):
    meeting = open_now(video, invitees=["a@example.com", "b@example.com"])
    host, first, _ = (p["participant_id"] for p in people(video, meeting))
    assert video.call("admit_participant", {"participant_id": first}).code == "failed_precondition"  # not there yet
    video.advance(minutes=1)
    assert [p["state"] for p in people(video, meeting)] == ["in_meeting", "waiting", "waiting"]
    assert video.call("admit_participant", {"participant_id": first}).value["state"] == "in_meeting"
    assert video.call("remove_participant", {"participant_id": host}).code == "permission_denied"


def test_without_a_waiting_room_people_come_in_as_long_as_there_are_seats(video):
    meeting = open_now(video, waiting_room=False, invitees=[f"p{n}@example.com" for n in range(8)])
    video.advance(minutes=1)
    states = [p["state"] for p in people(video, meeting)]
    assert states == ["in_meeting"] * 8 + ["waiting"]  # the host and seven more
    last = people(video, meeting)[-1]["participant_id"]
    assert video.call("admit_participant", {"participant_id": last}).code == "resource_exhausted"
    video.call("remove_participant", {"participant_id": people(video, meeting)[1]["participant_id"]})
    assert video.call("admit_participant", {"participant_id": last}).ok


def test_a_recording_is_stopped_then_processed_then_ready(video):
    meeting = open_now(video)["meeting"]["meeting_id"]
    recording = video.call("start_recording", {"meeting_id": meeting}).value["recording_id"]
    assert video.call("start_recording", {"meeting_id": meeting}).code == "failed_precondition"
    assert video.call("get_recording", {"recording_id": recording}).code == "failed_precondition"
    video.advance(minutes=10)
    stopped = video.call("stop_recording", {"recording_id": recording}).value
    assert (stopped["status"], stopped["size_mb"]) == ("processing", 60)  # 10 minutes of 6 MB
    video.advance(minutes=9)
    assert video.call("get_recording", {"recording_id": recording}).value["status"] == "processing"
    video.advance(minutes=1)
    assert video.call("get_recording", {"recording_id": recording}).value["status"] == "ready"


def test_a_meeting_opens_at_its_time_and_ends_with_its_minutes_and_its_recording(video):
    meeting = open_now(video)
    video.call("start_recording", {"meeting_id": meeting["meeting"]["meeting_id"]})
    start = video.clock.now.replace(microsecond=0)
    later = {"topic": "Cake", "duration": 30, "start": f"{start:%Y-%m-%d}T10:30:00Z"}
    cake = video.call("create_meeting", later).value["meeting"]["meeting_id"]
    video.advance(minutes=100)  # from 09:00 to 10:40
    over = video.call("get_meeting", {"meeting_id": meeting["meeting"]["meeting_id"]}).value
    assert over["meeting"]["status"] == "ended"
    assert video.call("get_meeting", {"meeting_id": cake}).value["meeting"]["status"] == "in_progress"
    recording = video.call("get_recording", {"recording_id": over["recordings"][0]["recording_id"]}).value
    assert recording["stopped"] == f"{start:%Y-%m-%d}T10:00:00Z"


def test_the_user_hosts_one_meeting_at_a_time_and_none_that_is_too_long(video):
    open_now(video)
    day = f"{video.clock.now:%Y-%m-%d}"
    assert video.call("create_meeting", {"topic": "Clash", "duration": 30, "start": f"{day}T09:59:00Z"}).code == "conflict"
    assert video.call("create_meeting", {"topic": "After", "duration": 30, "start": f"{day}T10:00:00Z"}).ok
    assert video.call("create_meeting", {"topic": "Long", "duration": 91, "start": f"{day}T12:00:00Z"}).code == "resource_exhausted"


def test_a_co_host_may_admit_and_record_but_not_call_off(video):
    rows = video.servers["video_meeting"]
    me = next(iter(rows.users)).email
    helped = next(
        p.meeting_id for p in rows.participants.where(email=me, role="co_host") if rows.meetings.get(p.meeting_id).duration == 180
    )
    watched = next(p.meeting_id for p in rows.participants.where(email=me, role="attendee"))
    assert video.call("start_recording", {"meeting_id": helped}).ok
    assert video.call("cancel_meeting", {"meeting_id": helped}).code == "permission_denied"
    assert video.call("start_recording", {"meeting_id": watched}).code == "permission_denied"
