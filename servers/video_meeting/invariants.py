"""What must hold among video meetings after every call."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from .tools import Meeting, Participant, VideoMeetings


def invariants(server: VideoMeetings) -> Iterator[str]:
    people: dict[str, list[Participant]] = {}
    for person in server.participants:
        people.setdefault(person.meeting_id, []).append(person)
    for meeting in server.meetings:
        yield from _of(meeting, people[meeting.meeting_id], server)
    mine = sorted((m for m in server.meetings if m.host == next(iter(server.users)).email), key=lambda m: m.start)
    alive = [m for m in mine if m.status in ("scheduled", "in_progress")]
    for one, other in pairwise(alive):
        if other.start < one.end:
            yield f"the user hosts {one.meeting_id} and {other.meeting_id} at the same time"
    if len({r.meeting_id for r in server.recordings if r.status == "recording"}) < sum(r.status == "recording" for r in server.recordings):
        yield "a meeting is recorded twice at once"
    for recording in server.recordings:
        running = recording.status == "recording"
        if running and server.meetings.get(recording.meeting_id).status != "in_progress":
            yield f"{recording.recording_id} runs without its meeting"
        if running == (recording.stopped is not None) or running == (recording.size_mb > 0):
            yield f"{recording.recording_id} is {recording.status} and yet stopped, or not"


def _of(meeting: Meeting, people: list[Participant], server: VideoMeetings) -> Iterator[str]:
    if [p.email for p in people if p.role == "host"] != [meeting.host]:
        yield f"{meeting.meeting_id} is hosted by nobody, or by somebody else"
    if meeting.duration > server.users.get(meeting.host).longest:
        yield f"{meeting.meeting_id} is longer than the plan of its host allows"
    if len({p.email for p in people}) != len(people):
        yield f"somebody is twice in {meeting.meeting_id}"
    inside = [p for p in people if p.state in ("waiting", "in_meeting")]
    if inside and meeting.status != "in_progress":
        yield f"{meeting.meeting_id} is {meeting.status} with people in it"
    if sum(p.state == "in_meeting" for p in people) > next(iter(server.users)).seats:
        yield f"{meeting.meeting_id} holds more people than it may"
    if server.now >= {"scheduled": meeting.start, "in_progress": meeting.end}.get(meeting.status, server.now + timedelta(1)):
        yield f"{meeting.meeting_id} is {meeting.status} at the wrong time"
