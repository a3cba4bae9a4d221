"""A workspace where colleagues write to each other in channels, as one of them sees it."""

from datetime import datetime, timedelta

from prove.servers import Limit, Offset, Page, Query, Server, given, matches, newest, page, read, require, table, write
from .records import (
    Channel, ChannelId, ChannelName, Coming, Days, Emoji, Membership, Message, MessageId, Notified, OnlyMine, Private, Reaction,
    Tally, Text, Thread, Topic, User, UserId, UserLine, Workspace,
)  # fmt: skip


class TeamChat(Server):
    """The channels, messages and threads of a company's chat workspace."""

    category = "Social"

    workspaces = table(Workspace)
    users = table(User, "U{}", start=301)
    channels = table(Channel, "C{}", start=7001)
    memberships = table(Membership, "MBR-{}", start=1)
    messages = table(Message, "M{}", start=50001)
    reactions = table(Reaction, "R{}", start=1)
    coming = table(Coming, "CMG-{}", start=1)

    # --- people and channels

    @read
    def list_users(self, query: Query | None = None, channel_id: ChannelId | None = None, limit: Limit = 10) -> Page[UserLine]:
        """List the people of the workspace or of one channel, and say who the user is; query looks at name, handle and title."""
        found = [u for u in self.users if matches(query, u.name, f"@{u.handle}", u.title)]
        if channel_id is not None:
            channel = self._visible(channel_id)
            found = [u for u in found if self._is_member(channel, u.user_id)]
        return page((self._shown(u) for u in sorted(found, key=lambda u: u.name)), limit, UserLine)

    @read
    def list_channels(
        self, query: Query | None = None, only_mine: OnlyMine = False, limit: Limit = 20, offset: Offset = 0
    ) -> Page[Channel]:
        """List public channels and the private ones that the user is in; query looks at name and topic."""
        found = [c for c in self.channels if self._can_see(c) and matches(query, f"#{c.name}", c.topic)]
        if only_mine:
            found = [c for c in found if self._is_member(c, self._me)]
        return page(sorted(found, key=lambda c: c.name), limit, Channel, offset)

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
    def get_channel_history(self, channel_id: ChannelId, days: Days | None = None, limit: Limit = 20, offset: Offset = 0) -> Page[Message]:
        """Show a channel's messages, newest first, without the replies in their threads."""
        self._visible(channel_id)
        since = self.now - timedelta(days=days or 0)
        messages = [m for m in self.messages.where(channel_id=channel_id) if m.thread is None and (days is None or m.posted >= since)]
        return page(newest(messages, lambda m: m.posted), limit, Message, offset)

    @read
    def search_messages(
        self,
        query: Query | None = None,
        channel_id: ChannelId | None = None,
        author: UserId | None = None,
        notified: UserId | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Message]:
        """Find messages and replies by words, channel, author and who was notified, newest first."""
        channels = list(self.channels) if channel_id is None else [self._visible(channel_id)]
        seen = {c.channel_id for c in channels if self._can_see(c)}
        found = self.messages.where(**given(author=author, notified=notified))
        found = [m for m in found if m.channel_id in seen and matches(query, m.text)]
        return page(newest(found, lambda m: m.posted), limit, Message, offset)

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

    # --- what happens by itself

    def due(self) -> datetime | None:
        return min((c.due for c in self.coming), default=None)

    def elapse(self) -> None:
        """Colleagues go on talking."""
        for new in [c for c in self.coming if c.due <= self.now]:
            self.coming.remove(new.coming_id)
            self.messages.add(Message(self.messages.mint(), new.channel_id, new.author, new.due, new.text, new.thread))

    # --- rules

    @property
    def _me(self) -> UserId:
        return self.workspaces.one().me

    def _shown(self, user: User) -> UserLine:
        return UserLine(user.user_id, user.name, user.handle, user.title, user.status, user.user_id == self._me)

    def _is_member(self, channel: Channel, user_id: UserId) -> bool:
        return bool(self.memberships.where(channel_id=channel.channel_id, user_id=user_id))

    def _can_see(self, channel: Channel) -> bool:
        return not channel.private or self._is_member(channel, self._me)

    def _visible(self, channel_id: ChannelId) -> Channel:
        """A channel that the user may know of: others are as good as not there."""
        channel = self.channels.get(channel_id)
        require(self._can_see(channel), "not_found", f"there is no channel {channel_id!r}")
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

    def _enter(self, channel: Channel, user_id: UserId) -> Membership:
        return self.memberships.add(Membership(self.memberships.mint(), channel.channel_id, user_id, self.now))

    def _say(self, channel: Channel, text: Text, thread: MessageId | None, notify: UserId | None) -> Message:
        if notify is not None:
            user = self.users.get(notify)
            myself = f"{notify} is the user, whom their own messages do not notify: leave notify out"
            require(notify != self._me, "invalid_argument", myself)
            require(user.status == "active", "failed_precondition", f"the account of {user.name} is deactivated")
            reachable = self._is_member(channel, notify)
            require(reachable, "failed_precondition", f"{user.name} is not in #{channel.name}: invite_to_channel first")
        return self.messages.add(Message(self.messages.mint(), channel.channel_id, self._me, self.now, text, thread, notify))
