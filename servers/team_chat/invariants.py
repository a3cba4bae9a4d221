"""What must hold in a workspace after every call, and what its past looks like."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from .tools import TeamChat


def invariants(chat: TeamChat) -> Iterator[str]:
    members = Counter((m.channel_id, m.user_id) for m in chat.memberships)
    for (channel_id, user_id), times in members.items():
        if times > 1 or channel_id not in chat.channels or user_id not in chat.users:
            yield f"{user_id} is {times} times a member of {channel_id}"
    for name, times in Counter(c.name for c in chat.channels).items():
        if times > 1:
            yield f"{times} channels are called #{name}"
    latest = None
    for message in chat.messages:
        if latest and message.posted < latest:
            yield f"{message.message_id} is older than the message before it"
        latest = message.posted
        for user_id in filter(None, (message.author, message.notified)):
            if (message.channel_id, user_id) not in members:
                yield f"{message.message_id} is by or for {user_id}, who is not in {message.channel_id}"
        if message.author == message.notified:
            yield f"{message.message_id} notifies the one who wrote it"
        root = chat.messages.find(message.thread) if message.thread else None
        if message.thread and (root is None or root.thread or root.channel_id != message.channel_id or root.posted > message.posted):
            yield f"{message.message_id} is a reply to {message.thread}, which starts no thread before it in its channel"
    for (message_id, user_id, emoji), times in Counter((r.message_id, r.user_id, r.emoji) for r in chat.reactions).items():
        if times > 1 or message_id not in chat.messages:
            yield f"{user_id} reacted {times} times with {emoji} to {message_id}"
    if any(c.due <= chat.now for c in chat.coming):
        yield "a message is late"


def past(chat: TeamChat) -> Iterator[str]:
    """Channels are opened by their first member, joined by people with an account, and written to by those who are in."""
    joined = {(m.channel_id, m.user_id): m.joined for m in chat.memberships}
    for one, other in pairwise(chat.channels):
        if other.created < one.created:
            yield f"{other.channel_id} is older than {one.channel_id} before it"
    for channel in chat.channels:
        if joined.get((channel.channel_id, channel.creator)) != channel.created:
            yield f"{channel.channel_id} was not opened by its first member"
    for member in chat.memberships:
        if not chat.channels.get(member.channel_id).created <= member.joined <= chat.now:
            yield f"{member.membership_id} joined before the channel was opened, or later than now"
        if chat.users.get(member.user_id).status == "deactivated":
            yield f"{member.user_id} has no account any more and is in {member.channel_id}"
    general = next(c.channel_id for c in chat.channels if c.name == "general")
    yield from (f"{u.user_id} is not in #general" for u in chat.users if u.status == "active" and (general, u.user_id) not in joined)
    for message in chat.messages:
        channel = chat.channels.get(message.channel_id)
        for user_id in filter(None, (message.author, message.notified)):
            if joined[channel.channel_id, user_id] > message.posted:
                yield f"{message.message_id} is by or for {user_id}, who joined later"
        if channel.announcements and message.thread is None and message.author != channel.creator:
            yield f"{message.message_id} is an announcement by somebody who may not make any"
    yield from _talked_at_work(chat)
    for reaction in chat.reactions:
        if (chat.messages.get(reaction.message_id).channel_id, reaction.user_id) not in joined:
            yield f"{reaction.reaction_id} is by somebody who is not in the channel"


def _talked_at_work(chat: TeamChat) -> Iterator[str]:
    """What colleagues write: on workdays, and to each other."""
    threads: dict[str, set[str]] = {}
    for message in (m for m in chat.messages if m.author != chat.workspaces.one().me):
        if message.posted.weekday() > 4:
            yield f"{message.message_id} was written on a weekend"
        if message.thread and chat.messages.get(message.thread).author == message.author:
            yield f"{message.message_id} answers what its author wrote"
        said = threads.setdefault(message.thread or message.message_id, set())
        if message.text in said:
            yield f"{message.message_id} says what was said in its thread"
        said.add(message.text)
