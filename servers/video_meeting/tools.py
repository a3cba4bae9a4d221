"""Video meetings. A meeting opens at its time and ends when its minutes are over; its host and co-hosts run it meanwhile."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Day,
    EmailAddress,
    Limit,
    Meta,
    Moment,
    Page,
    PersonName,
    Query,
    Record,
    Server,
    brief,
    given,
    matches,
    page,
    read,
    require,
    table,
    write,
)

MeetingId = NewType("MeetingId", str)
ParticipantId = NewType("ParticipantId", str)
RecordingId = NewType("RecordingId", str)

Agenda = Annotated[str, Meta(max_length=2000, description="what is to be talked about")]
Invitees = Annotated[list[EmailAddress], Meta(min_length=1, max_length=10, description="the addresses of those to invite")]
MeetingStatus = Annotated[
    Literal["scheduled", "in_progress", "ended", "cancelled"], Meta(description="whether it is still to come, running, over or called off")
]
Minutes = Annotated[int, Meta(ge=5, le=1440, description="how long it is to last, in minutes")]
StartTime = Annotated[datetime, Meta(tz=True, description="when it begins, with a zone, for example 2026-03-04T09:30:00Z")]
Topic = Annotated[str, Meta(min_length=1, max_length=120, description="what the meeting is called")]
WaitingRoom = Annotated[bool, Meta(description="whether people who join wait until the host lets them in")]

MB_A_MINUTE = 6


class User(Record):
    """Somebody with an account here; the one who is signed in comes first."""

    email: EmailAddress
    name: PersonName
    longest: Minutes = 90  # what the plan allows: the length of a meeting,
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
    role: Literal["host", "co_host", "attendee"] = "attendee"
    state: Literal["invited", "waiting", "in_meeting", "left", "removed"] = "invited"


class Recording(Record):
    recording_id: RecordingId
    meeting_id: MeetingId
    started: Moment
    status: Literal["recording", "processing", "ready"] = "recording"
    stopped: Moment | None = None
    size_mb: int = 0
    speakers: list[PersonName] = []


class MeetingLine(Record):
    meeting_id: MeetingId
    topic: Topic
    start: Moment
    status: MeetingStatus


class RecordingLine(Record):
    recording_id: RecordingId
    meeting_id: MeetingId
    started: Moment


class MeetingDetails(Record):
    meeting: Meeting
    participants: list[Participant]
    recordings: list[RecordingLine]


class VideoMeetings(Server):
    """Meetings, the people in them and their recordings, for one user who hosts and takes part."""

    category = "Lifestyle"

    users = table(User)
    meetings = table(Meeting, "845-2017-{:04}", start=311)
    participants = table(Participant, "PRT-{}", start=7001)
    recordings = table(Recording, "REC-{}", start=401)

    # --- meetings

    @read
    def list_meetings(
        self,
        query: Query | None = None,
        status: MeetingStatus | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = 10,
    ) -> Page[MeetingLine]:
        """List the user's meetings, soonest first; those from today on, unless a topic, a status or a first day is given."""
        first = since or (date.min if query or status else self.today)
        found = [m for m in self.meetings if matches(query, m.topic) and status in (None, m.status)]
        found = [m for m in found if first <= m.start.date() <= (until or date.max)]
        return page(sorted(found, key=lambda m: m.start), limit, MeetingLine)

    @read
    def get_meeting(self, meeting_id: MeetingId) -> MeetingDetails:
        """Show a meeting with its agenda, everybody who is invited, waiting or in it, and its recordings."""
        meeting = self.meetings.get(meeting_id)
        recordings = [brief(r, RecordingLine) for r in self.recordings.where(meeting_id=meeting_id)]
        return MeetingDetails(meeting, self.participants.where(meeting_id=meeting_id), recordings)

    @write
    def create_meeting(
        self,
        topic: Topic,
        duration: Minutes,
        start: StartTime | None = None,
        invitees: Invitees | None = None,
        waiting_room: WaitingRoom = True,
        agenda: Agenda = "",
    ) -> MeetingDetails:
        """Schedule a meeting that the user hosts; without a start it opens at once."""
        require(start is None or start > self.now, "failed_precondition", f"{start} has passed: give a later start, or none to open it now")
        me, begins = self._me(), (start or self.now).astimezone(UTC)
        meeting = Meeting(MeetingId(self.meetings.mint()), topic, me.email, begins, duration, waiting_room, agenda)
        meeting = self.meetings.add(self._fitting(meeting))
        self.participants.add(Participant(ParticipantId(self.participants.mint()), meeting.meeting_id, me.name, me.email, "host"))
        self._invite(meeting, invitees or [])
        if start is None:
            self._open(meeting)
        return self.get_meeting(meeting.meeting_id)

    @write(idempotent=True)
    def update_meeting(
        self,
        meeting_id: MeetingId,
        topic: Topic | None = None,
        start: StartTime | None = None,
        duration: Minutes | None = None,
        waiting_room: WaitingRoom | None = None,
        invitees: Invitees | None = None,
    ) -> MeetingDetails:
        """Change a meeting of the user, move it if it has not begun, or invite more people to it."""
        meeting = self._led(meeting_id, "scheduled", "in_progress", co_hosts=False)
        require(start is None or meeting.status == "scheduled", "failed_precondition", f"{meeting_id} has begun: its start cannot be moved")
        require(start is None or start > self.now, "failed_precondition", f"{start} has passed: move the meeting to a later time")
        changes = given(topic=topic, start=start and start.astimezone(UTC), duration=duration, waiting_room=waiting_room)
        missing = "nothing to change: give at least one of topic, start, duration, waiting_room, invitees"
        require(changes or invitees, "invalid_argument", missing)
        self._fitting(self.meetings.update(meeting_id, **changes))
        self._invite(meeting, invitees or [])
        return self.get_meeting(meeting_id)

    @write(destructive=True)
    def cancel_meeting(self, meeting_id: MeetingId) -> Meeting:
        """Call off a meeting that has not begun."""
        self._led(meeting_id, "scheduled", co_hosts=False)
        return self.meetings.update(meeting_id, status="cancelled")

    # --- who is in

    @write
    def admit_participant(self, participant_id: ParticipantId) -> Participant:
        """Let somebody in from the waiting room."""
        person = self.participants.get(participant_id)
        meeting = self._led(person.meeting_id, "in_progress")
        require(person.state == "waiting", "failed_precondition", f"{participant_id} is not in the waiting room but {person.state}")
        require(self._seats_left(meeting), "resource_exhausted", f"{meeting.meeting_id} is full: remove somebody first")
        return self.participants.update(participant_id, state="in_meeting")

    @write(destructive=True)
    def remove_participant(self, participant_id: ParticipantId) -> Participant:
        """Take somebody out of a meeting or its waiting room, or off the invitations to it."""
        person = self.participants.get(participant_id)
        self._led(person.meeting_id, "scheduled", "in_progress")
        require(person.role != "host", "permission_denied", f"{participant_id} hosts the meeting and cannot be removed")
        there = person.state in ("invited", "waiting", "in_meeting")
        require(there, "failed_precondition", f"{participant_id} is not in the meeting any more but {person.state}")
        return self.participants.update(participant_id, state="removed")

    # --- recordings

    @write
    def start_recording(self, meeting_id: MeetingId) -> Recording:
        """Record a meeting that is running."""
        self._led(meeting_id, "in_progress")
        active = [r.recording_id for r in self.recordings.where(meeting_id=meeting_id) if r.status == "recording"]
        require(not active, "failed_precondition", f"{meeting_id} is being recorded already: stop {', '.join(active)} first")
        used, quota = sum(r.size_mb for r in self.recordings), self._me().storage_mb
        require(used < quota, "resource_exhausted", f"{used} of {quota} MB of storage are used: nothing more can be recorded")
        return self.recordings.add(Recording(RecordingId(self.recordings.mint()), meeting_id, self.now))

    @write
    def stop_recording(self, recording_id: RecordingId) -> Recording:
        """End a recording that is running; it is then processed, which takes as long as it lasted."""
        recording = self.recordings.get(recording_id)
        self._led(recording.meeting_id, "in_progress", "ended")
        require(recording.status == "recording", "failed_precondition", f"{recording_id} is not running but {recording.status}")
        return self._stop(recording, self.now)

    @read
    def get_recording(self, recording_id: RecordingId) -> Recording:
        """Show how long and large a recording is, who is in it, and whether it can be watched yet."""
        recording = self.recordings.get(recording_id)
        self._led(recording.meeting_id, "in_progress", "ended")
        require(recording.status != "recording", "failed_precondition", f"{recording_id} is still running: stop it first")
        return recording

    # --- rules

    def elapse(self) -> None:
        for due in sorted((m for m in self.meetings.where(status="scheduled") if m.start <= self.now), key=lambda m: m.start):
            self._open(due)
        for meeting in self.meetings.where(status="in_progress"):
            self._arrive(meeting)
            if meeting.end <= self.now:
                self._close(meeting)
        for done in self.recordings.where(status="processing"):
            if done.stopped and self.now - done.stopped >= done.stopped - done.started:
                self.recordings.update(done.recording_id, status="ready")

    def _open(self, meeting: Meeting) -> None:
        for person in self.participants.where(meeting_id=meeting.meeting_id, role="host"):
            self.participants.update(person.participant_id, state="in_meeting")
        self.meetings.update(meeting.meeting_id, status="in_progress")

    def _arrive(self, meeting: Meeting) -> None:
        """Everybody who is invited turns up; where there is a waiting room, or no seat, they wait."""
        for person in self.participants.where(meeting_id=meeting.meeting_id, state="invited"):
            waits = meeting.waiting_room or not self._seats_left(meeting)
            self.participants.update(person.participant_id, state="waiting" if waits else "in_meeting")

    def _close(self, meeting: Meeting) -> None:
        for recording in self.recordings.where(meeting_id=meeting.meeting_id, status="recording"):
            self._stop(recording, meeting.end)
        for person in self.participants.where(meeting_id=meeting.meeting_id):
            if person.state in ("waiting", "in_meeting"):
                self.participants.update(person.participant_id, state="left")
        self.meetings.update(meeting.meeting_id, status="ended")

    def _stop(self, recording: Recording, stopped: datetime) -> Recording:
        there = self.participants.where(meeting_id=recording.meeting_id, state="in_meeting")
        size = MB_A_MINUTE * max(1, (stopped - recording.started) // timedelta(minutes=1))
        changes = {"status": "processing", "stopped": stopped, "size_mb": size, "speakers": [p.name for p in there]}
        return self.recordings.update(recording.recording_id, **changes)

    def _me(self) -> User:
        return next(iter(self.users))

    def _led(self, meeting_id: MeetingId, *status: MeetingStatus, co_hosts: bool = True) -> Meeting:
        """A meeting that is in one of these states and that the user runs, as its host or, where that is enough, as a co-host."""
        meeting, me = self.meetings.get(meeting_id), self._me().email
        roles = [p.role for p in self.participants.where(meeting_id=meeting_id, email=me) if p.state != "removed"]
        right = "host" in roles or (co_hosts and "co_host" in roles)
        require(right, "permission_denied", f"only its host, {meeting.host}{', or a co-host' * co_hosts}, may do that in {meeting_id}")
        require(meeting.status in status, "failed_precondition", f"{meeting_id} is {meeting.status}, not {' or '.join(status)}")
        return meeting

    def _fitting(self, meeting: Meeting) -> Meeting:
        """A meeting as the plan allows it: not too long, and no other of the same host at the time."""
        longest = self._me().longest
        require(meeting.duration <= longest, "resource_exhausted", f"the plan allows {longest} minutes at most, not {meeting.duration}")
        require(meeting.end > self.now, "failed_precondition", f"{meeting.meeting_id} has lasted longer than that already")
        others = (m for m in self.meetings.where(host=meeting.host) if m.meeting_id != meeting.meeting_id)
        clash = [m for m in others if m.status in ("scheduled", "in_progress") and m.start < meeting.end and meeting.start < m.end]
        require(not clash, "conflict", f"at that time the user hosts {', '.join(m.meeting_id for m in clash)}: choose another")
        return meeting

    def _invite(self, meeting: Meeting, invitees: Iterable[EmailAddress]) -> None:
        """Invite those who are not invited yet; who was removed is invited again."""
        for email in dict.fromkeys(address.lower() for address in invitees):
            known, user = self.participants.where(meeting_id=meeting.meeting_id, email=email), self.users.find(email)
            if not known:
                name = user.name if user else email
                self.participants.add(Participant(ParticipantId(self.participants.mint()), meeting.meeting_id, name, email))
            elif known[0].state == "removed":
                self.participants.update(known[0].participant_id, state="invited")

    def _seats_left(self, meeting: Meeting) -> int:
        return self._me().seats - len(self.participants.where(meeting_id=meeting.meeting_id, state="in_meeting"))
