"""One host's video meetings: four that are running, nine days that were lived through and four weeks to come."""

from collections.abc import Callable
from datetime import datetime, timedelta

from prove.servers.maker import Maker

from .records import Meeting, Participant, User
from .tools import VideoMeetings

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
SATURDAY = 5
LARGER_PLAN = 300  # minutes
Deed = tuple[datetime, Callable[[], object]]


def populate(server: VideoMeetings, make: Maker) -> None:
    names = [make.person() for _ in range(15)]
    names.append(_namesake(make, names))
    for name in names:
        server.users.add(User(make.email(name), name))
    server.clock.now = make.moment(-10, 7)
    deeds: list[Deed] = []
    topics = make.shuffled(TOPICS)[:28]
    _running(server, make, topics[:4], deeds)
    workdays = [day for day in (*range(-9, 0), *range(1, 29)) if make.day(day).weekday() < SATURDAY]
    slots = make.shuffled([(day, hour) for day in workdays for hour in (8, 10, 12, 14, 16)])
    plans = list(zip((*topics[4:], topics[-1], topics[-2]), slots, strict=False))  # two topics come up twice
    for topic, (day, hour) in (plan for plan in plans if plan[1][0] < 0):
        meeting, role = _plan(server, make, topic, make.moment(day, hour))
        if role != "attendee":
            _lead(server, make, meeting, deeds)
    for moment, deed in sorted(deeds, key=lambda d: d[0]):
        server.live_until(moment)
        deed()
    server.live_until(make.start)
    for topic, (day, hour) in (plan for plan in plans if plan[1][0] > 0):
        meeting, _ = _plan(server, make, topic, make.moment(day, hour))
        if make.chance(0.1):
            server.meetings.update(meeting.meeting_id, status="cancelled")


def _namesake(make: Maker, names: list[str]) -> str:
    """Somebody else with the first name of one of them."""
    while (name := f"{names[3].split()[0]} {make.faker.last_name()}") in names:
        pass
    return name


def _plan(server: VideoMeetings, make: Maker, topic: tuple[str, str], start: datetime) -> tuple[Meeting, str]:
    duration, role = make.pick((30, 30, 45, 60, 90)), make.pick(("host", "host", "host", "co_host", "attendee"))
    people = make.shuffled(list(server.users)[1:])[: make.between(2, 5)]
    return _schedule(server, make, role, topic, start, duration, make.chance(0.6), people), role


def _running(server: VideoMeetings, make: Maker, topics: list[tuple[str, str]], deeds: list[Deed]) -> None:
    """Four meetings at one time. The user can be in one of them only: their own, if they host one, or the one that they came to first."""
    users, own = make.shuffled(list(server.users)[1:]), make.chance(0.75)
    hosts, guests = users[:4], (make.person() for _ in range(18))
    people = [*users[4:], *(User(make.email(name, "example.org"), name) for name in guests)]
    parts = ((-35, 240, "co_host"), (-20, 90, "host" if own else "attendee"), (-10, 180, "co_host"), (-10, 120, "attendee"))
    for (ago, duration, role), topic in zip(parts, topics, strict=True):
        there = [people.pop() for _ in range(10 if ago == -20 else 4)]
        there += [] if role == "host" else [hosts.pop()]
        meeting = _schedule(server, make, role, topic, make.start + timedelta(minutes=ago), duration, True, there)
        if role == "host" or (ago == -35 and not own):
            _lead(server, make, meeting, deeds, admitted=make.pick((2, 3, 4, 7)))
        if role == "co_host":  # some are asked to join in at the last minute, and wait when the world begins
            deeds.append((make.start - timedelta(minutes=3), _inviting(server, meeting, [people.pop().email for _ in range(3)])))


def _inviting(server: VideoMeetings, meeting: Meeting, emails: list[str]) -> Callable[[], object]:
    return lambda: server.invite(meeting, emails)


def _schedule(
    server: VideoMeetings,
    make: Maker,
    role: str,
    topic: tuple[str, str],
    start: datetime,
    duration: int,
    waiting_room: bool,
    people: list[User],
) -> Meeting:
    """Plan a meeting in which the user has that role, with the last of the others as its host if the user is not."""
    me = next(iter(server.users))
    host, others = (me, people) if role == "host" else (people[-1], people[:-1])
    if duration > host.longest:  # whoever hosts for longer has a larger plan
        server.users.update(host.email, longest=LARGER_PLAN)
    meeting_id = server.meetings.mint()
    meeting = server.meetings.add(Meeting(meeting_id, topic[0], host.email, start, duration, waiting_room, topic[1]))
    parts = [(host, "host"), *([] if host is me else [(me, role)]), *((person, "attendee") for person in others)]
    for person, part in parts:
        who = (meeting_id, person.name, person.email, server.now, part)
        server.participants.add(Participant(server.participants.mint(), *who))
    return meeting


def _lead(server: VideoMeetings, make: Maker, meeting: Meeting, deeds: list[Deed], admitted: int = 9) -> None:
    """What the user does in a meeting that they run: let in those who wait, or some of them, and mostly record it."""

    def admit() -> None:
        for person in server.participants.where(meeting_id=meeting.meeting_id, state="waiting")[:admitted]:
            server.admit_participant(person.participant_id)

    def stop() -> None:
        for recording in server.recordings.where(meeting_id=meeting.meeting_id, status="recording"):
            server.stop_recording(recording.recording_id)

    if meeting.host == next(iter(server.users)).email:
        deeds.append((meeting.start + timedelta(minutes=3), admit))
    if make.chance(0.7):
        deeds.append((meeting.start + timedelta(minutes=8), lambda: server.start_recording(meeting.meeting_id)))
    early = meeting.end - timedelta(minutes=make.between(1, 8))
    if make.chance(0.7) and early < make.start:  # else the recording ends with the meeting
        deeds.append((early, stop))
