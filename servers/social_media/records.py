"""Who and what is on the network: ids, what arguments mean, records, and the shapes of results."""

from typing import Annotated, Literal, NewType

from prove.servers import Caseless, Day, Meta, Moment, PersonName, Record

UserId = NewType("UserId", str)
PostId = NewType("PostId", str)
CommentId = NewType("CommentId", str)
FollowId = NewType("FollowId", str)
LikeId = NewType("LikeId", str)

Handle = Annotated[str, Meta(pattern=r"^[a-z0-9_]{3,30}$", description="the unique name of a member, without the @")]
Bio = Annotated[str, Meta(max_length=160, description="what a member says about themselves")]
Visibility = Annotated[Literal["public", "private"], Meta(description="whether anybody may follow, or only who is accepted")]
PostText = Annotated[str, Meta(min_length=1, max_length=280, description="what the post says")]
Topic = Annotated[
    Caseless[str],
    Meta(pattern=r"^[A-Za-z][A-Za-z0-9_]{1,29}$", description="what a post is about: one word, or a hashtag in its text, without the #"),
]
Audience = Annotated[Literal["everyone", "followers"], Meta(description="who sees the post")]
Repliers = Annotated[Literal["everyone", "followers", "nobody"], Meta(description="who may comment on the post")]
CommentText = Annotated[str, Meta(min_length=1, max_length=280, description="what the comment says")]
Remark = Annotated[str, Meta(max_length=280, description="what to say about a shared post")]
FeedOrder = Annotated[Literal["top", "latest"], Meta(description="most talked about first, or newest first")]


class Login(Record):
    login_id: str
    me: UserId


class UserLine(Record):
    user_id: UserId
    name: PersonName
    handle: Handle


class User(UserLine):
    bio: Bio
    visibility: Visibility
    joined: Day
    answers: bool = True  # whether a private member accepts requests, or leaves them unanswered
    blocks: list[UserId] = []


class Profile(UserLine):
    bio: Bio
    visibility: Visibility
    joined: Day
    posts: int
    followers: int
    following: int
    you_follow: Literal["no", "requested", "yes"]
    follows_you: bool


class Follow(Record):
    follow_id: FollowId
    follower: UserId
    followed: UserId
    since: Moment  # asked, or accepted, then
    status: Literal["accepted", "requested"] = "accepted"


class PostLine(Record):
    post_id: PostId
    author: UserId
    posted: Moment
    topic: Topic | None
    text: PostText


class Post(PostLine):
    audience: Audience = "everyone"
    repliers: Repliers = "everyone"
    shares: PostId | None = None  # the post that this one passes on


class PostDetails(Post):
    like_count: int = 0
    comment_count: int = 0
    share_count: int = 0
    liked_by_you: bool = False


class Like(Record):
    like_id: LikeId
    post_id: PostId
    user_id: UserId


class Comment(Record):
    comment_id: CommentId
    post_id: PostId
    author: UserId
    posted: Moment
    text: CommentText


class Coming(Record):
    """What a member will post when the clock gets there."""

    coming_id: str
    due: Moment
    author: UserId
    topic: Topic | None
    text: PostText
