"""One host's video meetings: three that are running, nine days that are over and four weeks to come, and what was recorded."""

from datetime import datetime, timedelta
from typing import Any

from prove.servers.maker import Maker
from servers.video_meeting.tools import MB_A_MINUTE, Meeting, Participant, Recording, User, VideoMeetings

# fmt: off
TOPICS = (  # topic, agenda
    ("Design review", "New checkout, then the empty states."), ("Sprint planning", "Capacity first, then the backlog."),
    ("Customer onboarding", "Import of their old data."), ("Budget check", "Forecast against plan."),
    ("Marketing sync", "Autumn campaign and the podcast."), ("Interview with a data engineer", "System design part."),
    ("Security briefing", "Phishing test results."), ("Partner call with Bluebird", "Terms for the coming year."),
    ("Retrospective", "What to keep, what to drop."), ("Sales pipeline review", "Ten largest deals."),
    ("Legal office hours", "Bring your contract questions."), ("Product demo for Harbor", "Show the new import."),
    ("Support handover", "Open tickets from last week."), ("Release readiness", "Blockers only."),
    ("Data migration dry run", "Read-only from the start."), ("Brand workshop", "Second round of logos."),
    ("Quarterly all-hands", "Numbers, people, questions."), ("Accessibility clinic", "Contrast and keyboard."),
    ("Mentoring hour", "Career questions."), ("Board rehearsal", "Slides are locked by then."),
    ("Vendor negotiation", "Freight costs."), ("Incident review", "Outage of the billing service."),
    ("Hiring committee", "Two candidates for design."), ("Newsletter planning", "Topics for three issues."),
    ("Research readout", "Eight interviews, five findings."), ("Pricing workshop", "Annual plans."),
    ("Book club", "Chapters four to six."), ("Language exchange", "Half in Spanish, half in English."),
    ("Yoga with Mira", "Bring a mat."), ("Family call", "Who brings what on Sunday."),
    ("Alumni meetup", "Introductions, then small groups."), ("Neighbourhood council", "The crossing at Mill Lane."),
    ("Parents' evening online", "Ten minutes a family."), ("Press briefing", "Questions by mail beforehand."),
)
# fmt: on
RUNNING = (  # begun when, length, what the user may be in it
    (-20, 90, ("host", "co_host")),
    (-35, 240, ("co_host",)),
    (-10, 180, ("co_host",)),
    (-10, 120, ("attendee",)),
)


def populate(server: VideoMeetings, make: Maker) -> None:
    names = [make.person() for _ in range(15)]
    names.append(f"{names[3].split()[0]} {make.faker.last_name()}")  # two people of one first name
    for name in names:
        server.users.add(User(make.email(name), name))
    topics = make.shuffled(TOPICS)[:28]
    slots = make.shuffled([(day, hour) for day in (*range(-9, 0), *range(1, 29)) for hour in (8, 10, 12, 14, 16)])
    for (topic, agenda), (ago, duration, roles) in zip(topics, RUNNING, strict=False):
        meeting = _hold(server, make, make.pick(roles), topic, make.start + timedelta(minutes=ago), duration, True, agenda, "in_progress")
        if ago == -35:
            server.recordings.add(Recording(server.recordings.mint(), meeting.meeting_id, meeting.start + timedelta(minutes=5)))
    for topic, agenda in (*topics[4:], topics[-1], topics[-2]):  # two topics come up twice
        day, hour = slots.pop()
        duration, role = make.pick((30, 30, 45, 60, 90)), make.pick(("host", "host", "host", "co_host", "attendee"))
        status = "ended" if day < 0 else "cancelled" if make.chance(0.1) else "scheduled"
        meeting = _hold(server, make, role, topic, make.moment(day, hour), duration, make.chance(0.6), agenda, status)
        if status == "ended" and make.chance(0.7):
            _record(server, make, meeting)


def _hold(server: VideoMeetings, make: Maker, role: str, topic: str, start: datetime, *rest: Any) -> Meeting:
    """Add a meeting in which the user has that role, and the people who belong to it."""
    me, *others = server.users
    people = make.shuffled(others)[: 7 if "in_progress" in rest else make.between(2, 5)]
    host = me if role == "host" else people.pop()
    meeting = server.meetings.add(Meeting(server.meetings.mint(), topic, host.email, start, *rest))
    parts = [(host, "host"), *([] if host is me else [(me, role)]), *((person, "attendee") for person in people)]
    for number, (person, part) in enumerate(parts):
        state = _state(make, meeting, part, number)
        who = (meeting.meeting_id, person.name, person.email, part, state)
        server.participants.add(Participant(server.participants.mint(), *who))
    return meeting


def _state(make: Maker, meeting: Meeting, part: str, number: int) -> str:
    if meeting.status in ("scheduled", "cancelled"):
        return "invited"
    if meeting.status == "ended":
        return "left" if part != "attendee" or make.chance(0.85) else "invited"  # some never came
    return "in_meeting" if part != "attendee" else ("waiting", "in_meeting", "waiting", "waiting", "invited")[number % 5]


def _record(server: VideoMeetings, make: Maker, meeting: Meeting) -> None:
    started = meeting.start + timedelta(minutes=make.between(1, 5))
    stopped = meeting.end - timedelta(minutes=make.between(0, 8))
    size = MB_A_MINUTE * ((stopped - started) // timedelta(minutes=1))
    there = [p.name for p in server.participants.where(meeting_id=meeting.meeting_id) if p.state == "left"]
    server.recordings.add(Recording(server.recordings.mint(), meeting.meeting_id, started, "ready", stopped, size, there))
