"""Who and what is in a workspace: people, channels and who is in them, messages with their threads and reactions."""

from typing import Annotated, Literal, NewType

from prove.servers import Meta, Moment, PersonName, Record

UserId = NewType("UserId", str)
ChannelId = NewType("ChannelId", str)
MessageId = NewType("MessageId", str)

ChannelName = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$", description="a channel's name: small letters, digits, - and _, without the #")
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


class UserLine(Record):
    user_id: UserId
    name: PersonName
    handle: str
    title: str
    status: Literal["active", "deactivated"]
    is_me: bool  # whether this is the one who is signed in


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


class Coming(Record):
    """A message that a colleague will write when the clock gets there."""

    coming_id: str
    due: Moment
    channel_id: ChannelId
    author: UserId
    text: Text
    thread: MessageId | None = None


class Tally(Record):
    emoji: Emoji
    users: list[UserId]


class Thread(Record):
    message: Message
    reactions: list[Tally]
    replies: list[Message]
