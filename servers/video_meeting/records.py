"""Who and what video meetings are made of: accounts with their plans, meetings, the people in them, recordings."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NewType

from prove.servers import EmailAddress, Meta, Moment, PersonName, Record, Unordered

MeetingId = NewType("MeetingId", str)
ParticipantId = NewType("ParticipantId", str)
RecordingId = NewType("RecordingId", str)

Agenda = Annotated[str, Meta(max_length=2000, description="what is to be talked about")]
Invitees = Annotated[Unordered[list[EmailAddress]], Meta(min_length=1, max_length=10, description="the addresses of those to invite")]
MeetingStatus = Annotated[
    Literal["scheduled", "in_progress", "ended", "cancelled"], Meta(description="whether it is still to come, running, over or called off")
]
Minutes = Annotated[int, Meta(ge=5, le=1440, description="how long it is to last, in minutes")]
StartTime = Annotated[datetime, Meta(tz=True, description="when it begins, with a zone, for example 2026-03-04T09:30:00Z")]
Topic = Annotated[str, Meta(min_length=1, max_length=120, description="what the meeting is called")]
WaitingRoom = Annotated[bool, Meta(description="whether people who join wait until the host lets them in")]

MB_A_MINUTE = 6
RECORDINGS_KEPT = timedelta(days=30)


class User(Record):
    """Somebody with an account here; the one who is signed in comes first."""

    email: EmailAddress
    name: PersonName
    longest: Minutes = 90  # what the plan allows in the meetings that they host: how long one may last,
    seats: int = 8  # how many people may be in it,
    storage_mb: int = 5000  # and how much may be recorded


class Meeting(Record):
    meeting_id: MeetingId
    topic: Topic
    host: EmailAddress
    start: Moment
    duration: Minutes
    waiting_room: WaitingRoom
    agenda: Agenda
    status: MeetingStatus = "scheduled"

    @property
    def end(self) -> datetime:
        return self.start + timedelta(minutes=self.duration)


class Participant(Record):
    participant_id: ParticipantId
    meeting_id: MeetingId
    name: PersonName
    email: EmailAddress
    invited: Moment
    role: Literal["host", "co_host", "attendee"] = "attendee"
    state: Literal["invited", "waiting", "in_meeting", "left", "removed"] = "invited"
    came: Moment | None = None
    joined: Moment | None = None
    gone: Moment | None = None


class Recording(Record):
    recording_id: RecordingId
    meeting_id: MeetingId
    started: Moment
    status: Literal["recording", "processing", "ready"] = "recording"
    stopped: Moment | None = None
    size_mb: int = 0
    speakers: list[PersonName] = []
    kept_until: Moment | None = None

    @property
    def ready(self) -> datetime | None:
        """Processing takes as long as the recording lasted."""
        return self.stopped and self.stopped + max(self.stopped - self.started, timedelta(minutes=1))


class MeetingLine(Record):
    meeting_id: MeetingId
    topic: Topic
    start: Moment
    status: MeetingStatus


class RecordingLine(Record):
    recording_id: RecordingId
    meeting_id: MeetingId
    started: Moment
    status: Literal["recording", "processing", "ready"]


class MeetingDetails(Record):
    meeting: Meeting
    participants: list[Participant]
    recordings: list[RecordingLine]
