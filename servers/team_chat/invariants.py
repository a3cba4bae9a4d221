"""What must hold in a workspace after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.team_chat.tools import TeamChat


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
        root = chat.messages.find(message.thread) if message.thread else None
        if message.thread and (root is None or root.thread or root.channel_id != message.channel_id or root.posted > message.posted):
            yield f"{message.message_id} is a reply to {message.thread}, which starts no thread before it in its channel"
    for (message_id, user_id, emoji), times in Counter((r.message_id, r.user_id, r.emoji) for r in chat.reactions).items():
        if times > 1 or message_id not in chat.messages:
            yield f"{user_id} reacted {times} times with {emoji} to {message_id}"
