"""A company's workspace: two dozen colleagues, channels of every kind, a month of talk with threads and reactions."""

from datetime import datetime, timedelta
from typing import get_args

from prove.servers.maker import Maker

from .records import Channel, ChannelId, Coming, Emoji, Membership, Message, Reaction, User, UserId, Workspace
from .tools import TeamChat

SATURDAY = 5
EMOJI = get_args(get_args(Emoji)[0])
COMPANIES = ("Northwind Instruments", "Paper Lantern Games", "Tessel Robotics", "Blue Heron Maps")
TITLES = (
    "Backend Engineer", "Frontend Engineer", "Product Designer", "Support Lead", "Support Agent", "Product Manager",
    "Data Analyst", "Recruiter", "Office Manager", "Release Manager", "QA Engineer", "Marketing Manager",
)  # fmt: skip

PUBLIC, EVERYBODY, OFFICIAL, ARCHIVED = "public", "everybody", "official", "archived"
PRIVATE, HIDDEN, ELSEWHERE = "private", "hidden", "elsewhere"
CHANNELS = {  # name -> (kind, topic, how messages there begin a thread)
    "general": (EVERYBODY, "company-wide news and questions", (
        "The fire drill is at {hour} on {day}", "Parking level {few} is closed on {day}", "Who has the key to room {number}?",
        "New badges are ready, ask at desk {few}", "Out of coffee again, {few} days in a row", "All hands moved to {hour} on {day}",
    )),
    "announcements": (OFFICIAL, "official announcements", (
        "The office closes at {hour} on {day}", "Release {version} is available to all customers", "Expense reports are due on {day}",
        "We welcome {few} new colleagues this month",
    )),
    "engineering": (PUBLIC, "code, builds and architecture", (
        "Build {number} fails on the main branch", "Can somebody review pull request {number}?", "The staging database moves on {day}",
        "I updated the linter to {version}", "{few} flaky tests are finally fixed", "Deploy {number} is out",
        "Code freeze starts on {day} at {hour}",
    )),
    "design": (PUBLIC, "mockups, fonts and colours", (
        "Mockup {few} of the start page is ready", "Which blue do we use on screen {number}?", "Design review on {day} at {hour}",
        "Icon set {few} needs another round",
    )),
    "support": (PUBLIC, "customer tickets that need a hand", (
        "Ticket {number} is back, same error as before", "A customer cannot log in since {day}, ticket {number}",
        "Who knows the refund rules for order {number}?", "The phone line is down until {hour}", "{number} open tickets this morning",
    )),
    "incidents": (PUBLIC, "what is broken right now", (
        "Incident {number}: checkout is slow", "Incident {number}: emails are delayed", "Incident {number} is resolved",
        "Postmortem for incident {number} on {day}",
    )),
    "lunch": (PUBLIC, "lunch breaks", (
        "Pizza at {hour}, anyone?", "Table for {few} at the noodle place", "Soup day on {day}", "Cake from {who} on the second floor",
    )),
    "proj-atlas": (PUBLIC, "the new map view", (
        "Atlas milestone {few} is done", "Atlas demo on {day} at {hour}", "Tile server {few} needs a restart",
        "Spec section {version} is outdated",
    )),
    "hiring": (PRIVATE, "candidates and interviews", (
        "Interview with {who} on {day} at {hour}", "{who} accepted our offer", "Feedback about {who} is due on {day}",
    )),
    "salary-round": (HIDDEN, "the salary round, confidential", ("Draft {few} of the budget is up", "Final numbers on {day}")),
    "book-club": (ELSEWHERE, "one book a month", ("We read up to chapter {few} by {day}", "Next meeting on {day} at {hour}")),
    "running": (ELSEWHERE, "running together after work", ("{few} kilometres on {day}?", "Meeting point: gate {few} at {hour}")),
    "parents": (ELSEWHERE, "children, schools and sick days", ("School is closed on {day}", "{few} cots to give away, see me at {hour}")),
    "music": (ELSEWHERE, "concerts and instruments", ("{few} tickets left for {day}", "Choir practice at {hour} in room {number}")),
    "office-plants": (ELSEWHERE, "watering the plants", ("{few} cuttings to give away", "The fern in room {number} needs water by {day}")),
    "photography": (ELSEWHERE, "pictures and cameras", ("Photo walk on {day} at {hour}", "Album {few} is online")),
    "proj-lynx": (ELSEWHERE, "the search rewrite", ("Lynx build {number} is green", "Index version {version} is live")),
    "proj-heron": (ELSEWHERE, "the offline mode", ("Sync bug {number} is reproduced", "Heron planning on {day} at {hour}")),
    "spring-launch": (ARCHIVED, "the spring launch, over and done", ("Press kit {few} is final", "Launch party on {day} at {hour}")),
}  # fmt: skip
CANDIDATES = ("Ines", "Tobias", "Farah", "Mateo", "Signe", "Oluwaseun", "Yuki", "Bram")
REPLIES = (
    "On it", "Thanks for the heads-up", "I can take that", "Same here", "Could you share the link?", "I'll have a look after lunch",
    "Done", "Works for me", "Let's talk about it tomorrow", "Not before next week, sorry", "I think we tried that already",
    "Who else is affected?", "Please add me to the loop", "That was quick!", "Moved to the top of my list",
)  # fmt: skip


def populate(chat: TeamChat, make: Maker) -> None:
    _people(chat, make)
    me = list(chat.users)[make.between(0, 9)].user_id
    chat.workspaces.add(Workspace("W1", make.pick(COMPANIES), me))
    ages = [make.between(360, 1000) for _ in CHANNELS]  # #general comes with the workspace, the others later
    opened = sorted(make.moment(-days, make.between(8, 15), make.between(0, 59)) for days in ages)
    names = ["general", *make.shuffled([name for name in CHANNELS if name != "general"])]
    members = dict(_channel(chat, make, name, created, me) for name, created in zip(names, opened, strict=True))
    _talk(chat, make, members)
    _react(chat, make, members)
    _go_on_talking(chat, make, members)


def _people(chat: TeamChat, make: Maker) -> None:
    names = [make.person() for _ in range(20)]
    names += [f"{names[n].split()[0]} {make.faker.last_name()}-{make.faker.last_name()}" for n in (3, 7)]  # same first names
    for number, name in enumerate(names):
        status = "deactivated" if number in (17, 19) else "active"
        handle = make.email(name).split("@")[0]
        chat.users.add(User(chat.users.mint(), name, handle, make.pick(TITLES), status))


def _channel(chat: TeamChat, make: Maker, name: str, created: datetime, me: UserId) -> tuple[ChannelId, list[UserId]]:
    """Open a channel; returns its id and who is in it, the one who opened it first."""
    kind, topic, _ = CHANNELS[name]
    others = [u.user_id for u in chat.users if u.user_id != me and u.status == "active"]
    size = {PUBLIC: make.between(8, 16), OFFICIAL: len(others), EVERYBODY: len(others)}.get(kind, make.between(3, 7))
    members = make.shuffled(others)[:size]
    flags = (kind in (PRIVATE, HIDDEN), members[0], created, kind == ARCHIVED, kind == OFFICIAL)
    channel = chat.channels.add(Channel(chat.channels.mint(), name, topic, *flags))
    if kind not in (HIDDEN, ELSEWHERE):
        members.append(me)
    later = sorted(created + timedelta(days=make.between(0, 20), minutes=make.between(1, 200)) for _ in members[1:])
    for user_id, joined in zip(members, [created, *later], strict=True):
        chat.memberships.add(Membership(chat.memberships.mint(), channel.channel_id, user_id, joined))
    return channel.channel_id, members


def _talk(chat: TeamChat, make: Maker, members: dict[ChannelId, list[UserId]]) -> None:
    """Messages and replies of the last weeks, put down in the order of time."""
    said: list[tuple[datetime, int, Channel, str, int | None]] = []  # when, number, where, text, number of what it replies to
    for channel in chat.channels:
        kind, _, openers = CHANNELS[channel.name]
        ago = 300 if kind == ARCHIVED else 0
        workdays = [-day - ago for day in range(1, 31) if make.day(-day - ago).weekday() < SATURDAY]
        for _ in range(15 if kind in (PUBLIC, EVERYBODY) else 6):
            posted = make.moment(make.pick(workdays), make.between(8, 17), make.between(0, 59))
            opening = len(said)
            said.append((posted, opening, channel, _text(make, make.pick(openers)), None))
            for hour, reply in enumerate(make.shuffled(REPLIES)[: make.pick((0, 0, 0, 1, 2, 4))]):
                later = posted + timedelta(hours=hour, minutes=make.between(1, 50))
                said.append((later, len(said), channel, reply, opening))
    ids: dict[int | None, str] = {}
    for posted, number, channel, text, first in sorted(said, key=lambda s: s[:2]):
        ids[number] = chat.messages.mint()
        official = channel.announcements and first is None
        asked = chat.messages.get(ids[first]).author if first is not None else None  # others answer
        author = channel.creator if official else make.pick([m for m in members[channel.channel_id] if m != asked])
        notified = make.pick(members[channel.channel_id]) if make.chance(0.15) else None
        people = (author, posted, text, ids.get(first), notified if notified != author else None)
        chat.messages.add(Message(ids[number], channel.channel_id, *people))


def _text(make: Maker, opener: str) -> str:
    return opener.format(
        day=make.pick(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")),
        few=make.between(2, 9),
        hour=f"{make.between(9, 16)}:{make.pick(('00', '15', '30'))}",
        number=make.between(110, 990),
        version=f"{make.between(1, 5)}.{make.between(0, 30)}",
        who=make.pick(CANDIDATES),
    )


def _react(chat: TeamChat, make: Maker, members: dict[ChannelId, list[UserId]]) -> None:
    for message in chat.messages:
        if make.chance(0.3):
            emoji = make.pick(EMOJI)
            readers = [user_id for user_id in members[message.channel_id] if user_id != message.author]
            for user_id in make.some(readers, make.between(1, 3)):
                chat.reactions.add(Reaction(chat.reactions.mint(), message.message_id, user_id, emoji))


def _go_on_talking(chat: TeamChat, make: Maker, members: dict[ChannelId, list[UserId]]) -> None:
    """What colleagues will write in the coming week: new messages, and replies in threads."""
    me, used = chat.workspaces.one().me, [c for c in chat.channels if not c.archived]
    roots = {c.channel_id: [m for m in chat.messages.where(channel_id=c.channel_id) if m.thread is None] for c in used}
    workdays = [day for day in range(7) if make.day(day).weekday() < SATURDAY]
    for due in sorted(make.moment(make.pick(workdays), make.between(10, 17), make.between(0, 59)) for _ in range(40)):
        channel = make.pick(used)
        root = make.pick(roots[channel.channel_id]) if make.chance(0.4) else None
        text = make.pick(_unsaid(chat, root)) if root else _text(make, make.pick(CHANNELS[channel.name][2]))
        colleagues = [user_id for user_id in members[channel.channel_id] if user_id not in (me, root and root.author)]
        author = channel.creator if channel.announcements and root is None else make.pick(colleagues)
        thread = root.message_id if root else None
        chat.coming.add(Coming(chat.coming.mint(), due, channel.channel_id, author, text, thread))


def _unsaid(chat: TeamChat, root: Message) -> list[str]:
    """What nobody has replied to a message yet, nor is going to."""
    said = {m.text for m in chat.messages.where(thread=root.message_id)}
    said |= {m.text for m in chat.coming.where(thread=root.message_id)}
    return [reply for reply in REPLIES if reply not in said]
