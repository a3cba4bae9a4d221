"""Video meetings. A meeting opens at its time and ends when its minutes are over; its host and co-hosts run it while they are in it."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from itertools import chain

from prove.servers import (
    Day, EmailAddress, Limit, Offset, Page, Query, Server, ToolError, brief, given, matches, page, read, require, table, write
)  # fmt: skip
from .records import (
    MB_A_MINUTE, RECORDINGS_KEPT, Agenda, Invitees, Meeting, MeetingDetails, MeetingId, MeetingLine, MeetingStatus, Minutes,
    Participant, ParticipantId, Recording, RecordingId, RecordingLine, StartTime, Topic, User, WaitingRoom,
)  # fmt: skip

COMES_WITHIN = timedelta(minutes=1)  # whoever is invited and free
ADMITTED_WITHIN = timedelta(minutes=5)  # whoever waits in a meeting that somebody else hosts


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
        offset: Offset = 0,
    ) -> Page[MeetingLine]:
        """List the user's meetings, soonest first; those from today on, unless a topic, a status or a first day is given."""
        first, last = since or (date.min if query or status else self.today), until or date.max
        order = f"since, {first}, is after until, {last}: swap them" if since else f"until, {last}, has passed: give an earlier since, too"
        require(first <= last, "invalid_argument", order)
        found = [m for m in self.meetings.where(**given(status=status)) if matches(query, m.topic)]
        found = [m for m in found if first <= m.start.date() <= last]
        return page(sorted(found, key=lambda m: m.start), limit, MeetingLine, offset)

    @read
    def get_meeting(self, meeting_id: MeetingId) -> MeetingDetails:
        """Show a meeting with its agenda, everybody who is invited, waiting or in it, and its recordings."""
        recordings = [brief(r, RecordingLine) for r in self.recordings.where(meeting_id=meeting_id)]
        return MeetingDetails(self.meetings.get(meeting_id), self.participants.where(meeting_id=meeting_id), recordings)

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
        """Schedule a meeting that the user hosts; without a start it opens at once, and the user leaves the one they are in."""
        require(start is None or start > self.now, "failed_precondition", f"{start} has passed: give a later start, or none to open it now")
        me, meeting_id = self._me(), MeetingId(self.meetings.mint())
        meeting = Meeting(meeting_id, topic, me.email, start or self.now, duration, waiting_room, agenda)
        self._refuse_unfit(meeting)
        self.meetings.add(meeting)
        host_id = ParticipantId(self.participants.mint())
        self.participants.add(Participant(host_id, meeting_id, me.name, me.email, self.now, "host"))
        self.invite(meeting, invitees or [])
        if start is None:
            self._open(meeting)
            self._settle()
        return self.get_meeting(meeting_id)

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
        meeting = self._hosted(meeting_id, "scheduled", "in_progress")
        require(start is None or meeting.status == "scheduled", "failed_precondition", f"{meeting_id} has begun: its start cannot be moved")
        require(start is None or start > self.now, "failed_precondition", f"{start} has passed: move the meeting to a later time")
        changes = given(topic=topic, start=start, duration=duration, waiting_room=waiting_room)
        missing = "nothing to change: give at least one of topic, start, duration, waiting_room, invitees"
        require(changes or invitees, "invalid_argument", missing)
        changed = self.meetings.update(meeting_id, **changes)
        self._refuse_unfit(changed)
        self.invite(changed, invitees or [])
        if waiting_room is False:
            self._let_in(changed, self.participants.where(meeting_id=meeting_id, state="waiting"))
        return self.get_meeting(meeting_id)

    @write(destructive=True)
    def cancel_meeting(self, meeting_id: MeetingId) -> Meeting:
        """Call off a meeting of the user that has not begun."""
        self._hosted(meeting_id, "scheduled")
        return self.meetings.update(meeting_id, status="cancelled")

    # --- who is in

    @write
    def admit_participant(self, participant_id: ParticipantId) -> Participant:
        """Let somebody in from the waiting room of a meeting that the user runs."""
        person = self.participants.get(participant_id)
        meeting = self._run(person.meeting_id)
        require(person.state == "waiting", "failed_precondition", f"{participant_id} is not in the waiting room but {person.state}")
        require(self._seats_left(meeting), "resource_exhausted", f"{meeting.meeting_id} is full: remove somebody who is in it first")
        return self._join(person)

    @write(destructive=True)
    def remove_participant(self, participant_id: ParticipantId) -> Participant:
        """Take somebody out of a meeting or its waiting room, or off the invitations to it."""
        person = self.participants.get(participant_id)
        meeting = self.meetings.get(person.meeting_id)
        _ = self._run(meeting.meeting_id) if meeting.status == "in_progress" else self._hosted(meeting.meeting_id, "scheduled")
        require(person.role != "host", "permission_denied", f"{participant_id} hosts the meeting and cannot be removed")
        require(person.email != self._me().email, "permission_denied", f"{participant_id} is the user, whom only others can remove")
        there = person.state in ("invited", "waiting", "in_meeting")
        require(there, "failed_precondition", f"{participant_id} is not in the meeting any more but {person.state}")
        self.participants.update(participant_id, state="removed", gone=self.now)
        self._settle()
        return self.participants.get(participant_id)

    # --- recordings

    @write
    def start_recording(self, meeting_id: MeetingId) -> Recording:
        """Record a meeting that the user runs, as its host or a co-host who is in it."""
        meeting = self._run(meeting_id)
        active = [r.recording_id for r in self.recordings.where(meeting_id=meeting_id, status="recording")]
        require(not active, "failed_precondition", f"{meeting_id} is being recorded already: stop {', '.join(active)} first")
        used, quota = self._used(meeting.host), self._plan(meeting.host).storage_mb
        full = f"{used} of {quota} MB of {meeting.host} are used: {self._when_space_is_freed(meeting)}"
        require(used < quota, "resource_exhausted", full)
        return self.recordings.add(Recording(RecordingId(self.recordings.mint()), meeting_id, self.now))

    @write
    def stop_recording(self, recording_id: RecordingId) -> Recording:
        """End a recording that is running; it is then processed, which takes as long as it lasted."""
        recording = self.recordings.get(recording_id)
        require(recording.status == "recording", "failed_precondition", f"{recording_id} is not running but {recording.status}")
        self._run(recording.meeting_id)
        return self._stop(recording)

    @read
    def get_recording(self, recording_id: RecordingId) -> Recording:
        """Show how long and large a recording is, who is in it, whether it can be watched yet, and how long it is kept."""
        recording = self.recordings.get(recording_id)
        self._refuse_attendees(self.meetings.get(recording.meeting_id))
        require(recording.status != "recording", "failed_precondition", f"{recording_id} is still running: stop it first")
        return recording

    # --- what happens by itself

    def due(self) -> datetime | None:
        moments = chain(
            (m.start for m in self.meetings if m.status == "scheduled"),
            (t for m in self.meetings if m.status == "in_progress" for t in (m.end, *self._comings(m))),
            (r.kept_until if r.status == "ready" else r.ready for r in self.recordings),
        )
        return min((t for t in moments if t and t > self.now), default=None)

    def _comings(self, meeting: Meeting) -> Iterator[datetime]:
        """When somebody will come to a running meeting, or be let in by its host."""
        for person in self.participants.where(meeting_id=meeting.meeting_id):
            if person.state == "invited":
                yield max(meeting.start, person.invited) + COMES_WITHIN
            elif person.state == "waiting" and person.came and meeting.host != self._me().email:
                yield person.came + ADMITTED_WITHIN

    def elapse(self) -> None:
        for meeting in [m for m in self.meetings.where(status="in_progress") if m.end <= self.now]:
            self._close(meeting)
        for meeting in [m for m in self.meetings.where(status="scheduled") if m.start <= self.now]:
            self._open(meeting)
        self._settle()
        for recording in self.recordings.where(status="processing"):
            if recording.ready and recording.ready <= self.now:
                self.recordings.update(recording.recording_id, status="ready")
        for recording in self.recordings.where(status="ready"):
            if recording.kept_until and recording.kept_until <= self.now:
                self.recordings.remove(recording.recording_id)

    def _open(self, meeting: Meeting) -> None:
        """The host goes in, and leaves the meeting of somebody else that they are in: nobody is in two at once."""
        for elsewhere in self._there(meeting.host):
            self.participants.update(elsewhere.participant_id, state="left", gone=self.now)
        for host in self.participants.where(meeting_id=meeting.meeting_id, role="host"):
            self._join(self.participants.update(host.participant_id, came=self.now))
        self.meetings.update(meeting.meeting_id, status="in_progress")

    def _settle(self) -> None:
        """Whoever is invited to a running meeting comes, once they are free; other hosts let in whoever has waited long enough."""
        for meeting in sorted(self.meetings.where(status="in_progress"), key=lambda m: m.start):
            people = self.participants.where(meeting_id=meeting.meeting_id)
            for person in (p for p in people if p.state == "invited"):
                if max(meeting.start, person.invited) + COMES_WITHIN <= self.now and not self._there(person.email):
                    arrived = self.participants.update(person.participant_id, state="waiting", came=self.now)
                    self._let_in(meeting, [] if meeting.waiting_room else [arrived])
            if meeting.host != self._me().email:
                waiting = (p for p in people if p.state == "waiting")
                self._let_in(meeting, (p for p in waiting if p.came and p.came + ADMITTED_WITHIN <= self.now))

    def _let_in(self, meeting: Meeting, people: Iterable[Participant]) -> None:
        for person in people:
            if self._seats_left(meeting):
                self._join(person)

    def _join(self, person: Participant) -> Participant:
        return self.participants.update(person.participant_id, state="in_meeting", joined=self.now)

    def _close(self, meeting: Meeting) -> None:
        for recording in self.recordings.where(meeting_id=meeting.meeting_id, status="recording"):
            self._stop(recording)
        for person in self.participants.where(meeting_id=meeting.meeting_id):
            if person.state in ("waiting", "in_meeting"):
                self.participants.update(person.participant_id, state="left", gone=self.now)
        self.meetings.update(meeting.meeting_id, status="ended")

    def _stop(self, recording: Recording) -> Recording:
        """End a recording. In it is everybody who was in the meeting meanwhile."""
        people = self.participants.where(meeting_id=recording.meeting_id)
        heard = [p.name for p in people if p.joined and (p.gone is None or p.gone >= recording.started)]
        size = MB_A_MINUTE * max(1, (self.now - recording.started) // timedelta(minutes=1))
        changes = {"stopped": self.now, "size_mb": size, "speakers": heard, "kept_until": self.now + RECORDINGS_KEPT}
        return self.recordings.update(recording.recording_id, status="processing", **changes)

    # --- rules

    def _me(self) -> User:
        return next(iter(self.users))

    def _plan(self, host: EmailAddress) -> User:
        return self.users.get(host)

    def _there(self, email: EmailAddress) -> list[Participant]:
        """Where somebody is right now, in the waiting room or in the meeting: in one meeting at most."""
        return [p for p in self.participants.where(email=email) if p.state in ("waiting", "in_meeting")]

    def _seats_left(self, meeting: Meeting) -> int:
        return self._plan(meeting.host).seats - len(self.participants.where(meeting_id=meeting.meeting_id, state="in_meeting"))

    def _hosted(self, meeting_id: MeetingId, *status: MeetingStatus) -> Meeting:
        """A meeting of the user's own that is in one of these states."""
        meeting = self.meetings.get(meeting_id)
        require(meeting.host == self._me().email, "permission_denied", f"only its host, {meeting.host}, may do that to {meeting_id}")
        require(meeting.status in status, "failed_precondition", f"{meeting_id} is {meeting.status}, not {' or '.join(status)}")
        return meeting

    def _refuse_attendees(self, meeting: Meeting) -> Participant:
        """The user in a meeting that they host, or help to host."""
        mine = self.participants.where(meeting_id=meeting.meeting_id, email=self._me().email)
        leading = [p for p in mine if p.role != "attendee" and p.state != "removed"]
        denied = f"only its host, {meeting.host}, or a co-host, may do that in {meeting.meeting_id}"
        require(leading, "permission_denied", denied)
        return leading[0]

    def _run(self, meeting_id: MeetingId) -> Meeting:
        """A running meeting that the user leads: hosts and co-hosts do so while they are in it."""
        meeting = self.meetings.get(meeting_id)
        me = self._refuse_attendees(meeting)
        require(meeting.status == "in_progress", "failed_precondition", f"{meeting_id} is {meeting.status}, not in_progress")
        where = "".join(f", and is in {p.meeting_id}" for p in self._there(me.email) if p.meeting_id != meeting_id)
        outside = f"a co-host leads {meeting_id} only while in it: the user is marked as {me.state} there{where}"
        require(me.state == "in_meeting", "failed_precondition", outside)
        return meeting

    def _refuse_unfit(self, meeting: Meeting) -> None:
        """See that a meeting is as the plan allows, and that the user hosts no other at the time."""
        longest = self._me().longest
        require(meeting.duration <= longest, "resource_exhausted", f"the plan allows {longest} minutes at most, not {meeting.duration}")
        over = f"{meeting.meeting_id} has lasted longer than that already: it runs since {meeting.start:%H:%M}"
        require(meeting.end > self.now, "failed_precondition", over)
        if clash := self._clashing(meeting, meeting.start):
            hosted = f"at that time the user hosts {', '.join(m.meeting_id for m in clash)}"
            running = f"end by {clash[0].start:%Y-%m-%dT%H:%M:%SZ}"
            to_come = f"the next free start is {self._next_free(meeting):%Y-%m-%dT%H:%M:%SZ}"
            raise ToolError("conflict", f"{hosted}: {to_come if meeting.status == 'scheduled' else running}")

    def _clashing(self, meeting: Meeting, start: datetime) -> list[Meeting]:
        end = start + timedelta(minutes=meeting.duration)
        others = (m for m in self.meetings.where(host=meeting.host) if m.meeting_id != meeting.meeting_id)
        clash = [m for m in others if m.status in ("scheduled", "in_progress") and m.start < end and start < m.end]
        return sorted(clash, key=lambda m: m.start)

    def _next_free(self, meeting: Meeting) -> datetime:
        start = meeting.start
        while clash := self._clashing(meeting, start):
            start = clash[-1].end
        return start

    def _used(self, host: EmailAddress) -> int:
        return sum(r.size_mb for r in self.recordings if self.meetings.get(r.meeting_id).host == host)

    def _when_space_is_freed(self, meeting: Meeting) -> str:
        kept = [r.kept_until for r in self.recordings if r.kept_until and self.meetings.get(r.meeting_id).host == meeting.host]
        return f"wait until the oldest recording is deleted, at {min(kept):%Y-%m-%dT%H:%M:%SZ}" if kept else "nothing can be recorded"

    def invite(self, meeting: Meeting, invitees: Iterable[EmailAddress]) -> None:
        """Invite those who are not invited yet; who was removed is invited again."""
        for email in invitees:
            known, user = self.participants.where(meeting_id=meeting.meeting_id, email=email), self.users.find(email)
            if not known:
                name, participant_id = user.name if user else email, ParticipantId(self.participants.mint())
                self.participants.add(Participant(participant_id, meeting.meeting_id, name, email, self.now))
            elif known[0].state == "removed":
                again = {"state": "invited", "invited": self.now, "came": None, "joined": None, "gone": None}
                self.participants.update(known[0].participant_id, **again)
