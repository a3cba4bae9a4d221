"""A workspace where colleagues write to each other in channels, as one of them sees it."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Limit,
    Meta,
    Moment,
    Page,
    PersonName,
    Query,
    Record,
    Server,
    ToolError,
    matches,
    page,
    read,
    require,
    table,
    write,
)

UserId = NewType("UserId", str)
ChannelId = NewType("ChannelId", str)
MessageId = NewType("MessageId", str)

ChannelName = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{1,79}$", description="a channel's name: small letters, digits, - and _, without the #")
]
Topic = Annotated[str, Meta(max_length=250, description="what a channel is about")]
Private = Annotated[bool, Meta(description="whether only those invited can see the channel")]
OnlyMine = Annotated[bool, Meta(description="whether to list only channels that the user is in")]
Text = Annotated[str, Meta(min_length=1, max_length=4000, description="the text of a message")]
Notified = Annotated[UserId, Meta(description="a member of the channel who is to be notified")]
Days = Annotated[int, Meta(ge=1, le=3650, description="how many days to look back")]
Emoji = Annotated[
    Literal["thumbsup", "heart", "tada", "eyes", "white_check_mark", "joy", "rocket", "pray"],
    Meta(description="the emoji to react with"),
]


class Workspace(Record):
    workspace_id: str
    name: str
    me: UserId


class User(Record):
    user_id: UserId
    name: PersonName
    handle: str
    title: str
    status: Literal["active", "deactivated"]


class Channel(Record):
    channel_id: ChannelId
    name: ChannelName
    topic: Topic
    private: Private
    creator: UserId
    created: Moment
    archived: bool = False
    announcements: bool = False  # only its creator starts threads


class Membership(Record):
    membership_id: str
    channel_id: ChannelId
    user_id: UserId
    joined: Moment


class Message(Record):
    message_id: MessageId
    channel_id: ChannelId
    author: UserId
    posted: Moment
    text: Text
    thread: MessageId | None = None  # the message that it replies to
    notified: UserId | None = None


class Reaction(Record):
    reaction_id: str
    message_id: MessageId
    user_id: UserId
    emoji: Emoji


class Tally(Record):
    emoji: Emoji
    users: list[UserId]


class Thread(Record):
    message: Message
    reactions: list[Tally]
    replies: list[Message]


class TeamChat(Server):
    """The channels, messages and threads of a company's chat workspace."""

    category = "Social"

    workspaces = table(Workspace)
    users = table(User, "U{}", start=301)
    channels = table(Channel, "C{}", start=7001)
    memberships = table(Membership, "MBR-{}", start=1)
    messages = table(Message, "M{}", start=50001)
    reactions = table(Reaction, "R{}", start=1)

    # --- people and channels

    @read
    def list_users(self, query: Query | None = None, channel_id: ChannelId | None = None, limit: Limit = 10) -> Page[User]:
        """List the people of the workspace or of one channel; query looks at name, handle and title."""
        found = [u for u in self.users if matches(query, u.name, u.handle, u.title)]
        if channel_id is not None:
            channel = self._visible(channel_id)
            found = [u for u in found if self._is_member(channel, u.user_id)]
        return page(sorted(found, key=lambda u: u.name), limit, User)

    @read
    def list_channels(self, query: Query | None = None, only_mine: OnlyMine = False, limit: Limit = 20) -> Page[Channel]:
        """List public channels and the private ones that the user is in; query looks at name and topic."""
        found = [c for c in self.channels if self._can_see(c) and matches(query, c.name, c.topic)]
        if only_mine:
            found = [c for c in found if self._is_member(c, self._me)]
        return page(sorted(found, key=lambda c: c.name), limit, Channel)

    @write
    def create_channel(self, name: ChannelName, topic: Topic = "", private: Private = False) -> Channel:
        """Open a channel, with the user as its first member."""
        require(not self.channels.where(name=name), "conflict", f"there is a channel #{name} already: choose another name")
        channel = self.channels.add(Channel(self.channels.mint(), name, topic, private, self._me, self.now))
        self._enter(channel, self._me)
        return channel

    @write
    def join_channel(self, channel_id: ChannelId) -> Membership:
        """Become a member of a public channel."""
        channel = self._in_use(channel_id)
        require(not self._is_member(channel, self._me), "conflict", f"you are in #{channel.name} already")
        return self._enter(channel, self._me)

    @write
    def invite_to_channel(self, channel_id: ChannelId, user_id: UserId) -> Membership:
        """Make a colleague a member of a channel that the user is in."""
        channel, user = self._joined(channel_id), self.users.get(user_id)
        require(user.status == "active", "failed_precondition", f"the account of {user.name} is deactivated")
        require(not self._is_member(channel, user_id), "conflict", f"{user.name} is in #{channel.name} already")
        return self._enter(channel, user_id)

    # --- messages

    @read
    def get_channel_history(self, channel_id: ChannelId, days: Days | None = None, limit: Limit = 20) -> Page[Message]:
        """Show a channel's messages, newest first, without the replies in their threads."""
        channel = self._visible(channel_id)
        messages = (m for m in self.messages.where(channel_id=channel.channel_id) if m.thread is None)
        return page(self._recent(messages, days), limit, Message)

    @read
    def search_messages(
        self,
        query: Query | None = None,
        channel_id: ChannelId | None = None,
        author: UserId | None = None,
        notified: UserId | None = None,
        days: Days | None = None,
        limit: Limit = 10,
    ) -> Page[Message]:
        """Find messages and replies by words, channel, author, who was notified and age, newest first."""
        if channel_id is not None:
            self._visible(channel_id)
        seen = {c.channel_id for c in self.channels if self._can_see(c) and channel_id in (None, c.channel_id)}
        found = [m for m in self.messages if m.channel_id in seen and matches(query, m.text)]
        found = [m for m in found if author in (None, m.author) and notified in (None, m.notified)]
        return page(self._recent(found, days), limit, Message)

    @read
    def get_thread_replies(self, message_id: MessageId) -> Thread:
        """Show the replies to a message, oldest first, and the reactions it got."""
        message = self._message(message_id)
        users: dict[Emoji, list[UserId]] = {}
        for reaction in self.reactions.where(message_id=message_id):
            users.setdefault(reaction.emoji, []).append(reaction.user_id)
        tallies = [Tally(emoji, sorted(users[emoji])) for emoji in sorted(users)]
        return Thread(message, tallies, self.messages.where(thread=message_id))

    @write
    def post_message(self, channel_id: ChannelId, text: Text, notify: Notified | None = None) -> Message:
        """Write a message to a channel that the user is in, and notify somebody of it."""
        channel = self._joined(channel_id)
        official = f"only {self.users.get(channel.creator).name} may post in #{channel.name}: reply to one of its messages instead"
        require(not channel.announcements or channel.creator == self._me, "permission_denied", official)
        return self._say(channel, text, None, notify)

    @write
    def reply_in_thread(self, message_id: MessageId, text: Text, notify: Notified | None = None) -> Message:
        """Reply to a message, in the thread that it belongs to."""
        message = self._message(message_id)
        return self._say(self._joined(message.channel_id), text, message.thread or message_id, notify)

    @write
    def add_reaction(self, message_id: MessageId, emoji: Emoji) -> Reaction:
        """React to a message with an emoji."""
        self._joined(self._message(message_id).channel_id)
        mine = self.reactions.where(message_id=message_id, user_id=self._me, emoji=emoji)
        require(not mine, "conflict", f"you have reacted to {message_id} with {emoji} already: choose another emoji")
        return self.reactions.add(Reaction(self.reactions.mint(), message_id, self._me, emoji))

    # --- rules

    @property
    def _me(self) -> UserId:
        return next(iter(self.workspaces)).me

    def _is_member(self, channel: Channel, user_id: UserId) -> bool:
        return bool(self.memberships.where(channel_id=channel.channel_id, user_id=user_id))

    def _can_see(self, channel: Channel) -> bool:
        return not channel.private or self._is_member(channel, self._me)

    def _visible(self, channel_id: ChannelId) -> Channel:
        """A channel that the user may know of: others are as good as not there."""
        channel = self.channels.find(channel_id)
        if channel is None or not self._can_see(channel):
            raise ToolError("not_found", f"there is no channel {channel_id!r} that you can see")
        return channel

    def _in_use(self, channel_id: ChannelId) -> Channel:
        channel = self._visible(channel_id)
        require(not channel.archived, "failed_precondition", f"#{channel.name} is archived: it can only be read")
        return channel

    def _joined(self, channel_id: ChannelId) -> Channel:
        channel = self._in_use(channel_id)
        require(self._is_member(channel, self._me), "failed_precondition", f"you are not in #{channel.name}: join_channel first")
        return channel

    def _message(self, message_id: MessageId) -> Message:
        message = self.messages.get(message_id)
        known = self._can_see(self.channels.get(message.channel_id))
        require(known, "not_found", f"there is no message {message_id!r}")
        return message

    def _recent(self, messages: Iterable[Message], days: Days | None) -> list[Message]:
        """The messages of the last days, or all, newest first."""
        newest_first = reversed(list(messages))  # they are kept in the order of time
        return [m for m in newest_first if days is None or m.posted >= self.now - timedelta(days=days)]

    def _enter(self, channel: Channel, user_id: UserId) -> Membership:
        return self.memberships.add(Membership(self.memberships.mint(), channel.channel_id, user_id, self.now))

    def _say(self, channel: Channel, text: Text, thread: MessageId | None, notify: UserId | None) -> Message:
        if notify is not None:
            user = self.users.get(notify)
            require(user.status == "active", "failed_precondition", f"the account of {user.name} is deactivated")
            reachable = self._is_member(channel, notify)
            require(reachable, "failed_precondition", f"{user.name} is not in #{channel.name}: invite_to_channel first")
        return self.messages.add(Message(self.messages.mint(), channel.channel_id, self._me, self.now, text, thread, notify))
