"""A social network for one signed-in member. Whoever is private must agree to be followed, and shows posts to followers only."""

import re
from datetime import datetime, timedelta

from msgspec.structs import asdict

from prove.servers import (
    Day, Limit, Moment, Offset, Page, PersonName, Query, Server, ToolError,
    given, matches, newest, page, read, require, some_given, table, write,
)  # fmt: skip
from .records import (
    Audience, Bio, Coming, Comment, CommentText, FeedOrder, Follow, Like, Login, Post, PostDetails, PostId, PostLine, PostText, Profile,
    Remark, Repliers, Topic, User, UserId, UserLine, Visibility,
)  # fmt: skip

ACCEPTED_AFTER = timedelta(hours=2)
FEED_SPAN = timedelta(days=14)
POSTS_A_DAY = 10


class SocialMedia(Server):
    """Profiles, follows, posts, likes and comments of one member."""

    category = "Social"

    logins = table(Login)
    users = table(User, "USR-{}", start=301)
    follows = table(Follow, "FLW-{}", start=1)
    posts = table(Post, "PST-{}", start=9001)
    likes = table(Like, "LIK-{}", start=1)
    comments = table(Comment, "CMT-{}", start=5001)
    coming = table(Coming, "CMG-{}", start=1)

    # --- people

    @read
    def search_users(
        self, query: Query | None = None, follows: UserId | None = None, followed_by: UserId | None = None, limit: Limit = 10
    ) -> Page[UserLine]:
        """Find members by name and handle, among those who follow somebody, or whom somebody follows."""
        found = [u for u in self.users if matches(query, u.name, u.handle)]
        if follows:
            followers = {f.follower for f in self.follows.where(followed=self._open(follows), status="accepted")}
            found = [u for u in found if u.user_id in followers]
        if followed_by:
            followed = {f.followed for f in self.follows.where(follower=self._open(followed_by), status="accepted")}
            found = [u for u in found if u.user_id in followed]
        return page(sorted(found, key=lambda u: u.handle), limit, UserLine)

    @read
    def get_profile(self, user_id: UserId | None = None) -> Profile:
        """Show a member's bio, visibility and counts, and who follows whom; without an id, the user's own."""
        return self._profile(self.users.get(user_id or self._me))

    @write(idempotent=True)
    def update_profile(self, bio: Bio | None = None, name: PersonName | None = None, visibility: Visibility | None = None) -> Profile:
        """Change the user's bio, name or visibility; what is not given stays as it is, and an empty bio clears it."""
        return self._profile(self.users.update(self._me, **some_given(bio=bio, name=name, visibility=visibility)))

    @write
    def follow_user(self, user_id: UserId) -> Follow:
        """Follow a member; one who is private must accept first."""
        user = self.users.get(user_id)
        require(user_id != self._me, "invalid_argument", f"{user_id} is the user: choose somebody else")
        require(self._me not in user.blocks, "permission_denied", f"@{user.handle} has blocked the user, and cannot be followed")
        known = self._follow(self._me, user_id)
        already = "follows" if known and known.status == "accepted" else "has asked to follow"
        require(known is None, "conflict", f"the user {already} @{user.handle} already")
        status = "requested" if user.visibility == "private" else "accepted"
        return self.follows.add(Follow(self.follows.mint(), self._me, user_id, self.now, status))

    @write(destructive=True)
    def unfollow_user(self, user_id: UserId) -> Follow:
        """Stop following a member, or take back the request to."""
        user, known = self.users.get(user_id), self._follow(self._me, user_id)
        if known is None:
            raise ToolError("not_found", f"the user does not follow @{user.handle}, and has not asked to")
        return self.follows.remove(known.follow_id)

    # --- posts

    @read
    def search_posts(
        self,
        query: Query | None = None,
        author: UserId | None = None,
        topic: Topic | None = None,
        since: Day | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[PostLine]:
        """Find posts that the user may see by words, author, topic or hashtag and first day, newest first."""
        candidates = self.posts.where(**given(author=author))
        found = [p for p in candidates if matches(query, p.text) and _is_about(p, topic) and (since is None or since <= p.posted.date())]
        return page(newest(filter(self._sees, found), _posted), limit, PostLine, offset)

    @read
    def get_feed(self, order: FeedOrder = "top", topic: Topic | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[PostLine]:
        """Show posts of the members whom the user follows, of the last two weeks."""
        recent = [p for p in self.posts if _is_about(p, topic) and self.now - p.posted <= FEED_SPAN]
        found = newest([p for p in recent if self._follows(self._me, p.author) and self._sees(p)], _posted)
        if order == "top":
            found.sort(key=self._score, reverse=True)
        return page(found, limit, PostLine, offset)

    @read
    def get_post(self, post_id: PostId) -> PostDetails:
        """Show a post with its audience, who may comment, and how often it was liked, commented on and shared."""
        return self._details(self._seen(post_id))

    @write
    def create_post(
        self, text: PostText, topic: Topic | None = None, audience: Audience = "everyone", repliers: Repliers = "everyone"
    ) -> Post:
        """Publish a post."""
        return self._publish(text, topic, audience, repliers)

    @write
    def share_post(self, post_id: PostId, remark: Remark = "") -> Post:
        """Pass a public post on to the user's followers, with a remark."""
        post = self._seen(post_id)
        original = self._seen(post.shares) if post.shares else post
        public = original.audience == "everyone" and self.users.get(original.author).visibility == "public"
        require(public, "permission_denied", f"{original.post_id} is for followers only: it cannot be shared")
        mine = self.posts.where(author=self._me, shares=original.post_id)
        require(not mine, "conflict", f"the user has shared {original.post_id} already: delete {', '.join(p.post_id for p in mine)} first")
        return self._publish(remark or original.text, original.topic, "everyone", "everyone", original.post_id)

    @write(destructive=True)
    def delete_post(self, post_id: PostId) -> Post:
        """Delete one of the user's own posts, with its comments, its likes and whatever shares it."""
        post = self._seen(post_id)
        require(post.author == self._me, "permission_denied", f"{post_id} is not the user's: only own posts can be deleted")
        return self._delete(post)

    # --- likes and comments

    @write
    def like_post(self, post_id: PostId) -> PostDetails:
        """Like a post."""
        post = self._seen(post_id)
        require(not self._liked(post_id), "conflict", f"the user likes {post_id} already")
        self.likes.add(Like(self.likes.mint(), post_id, self._me))
        return self._details(post)

    @write(destructive=True)
    def unlike_post(self, post_id: PostId) -> PostDetails:
        """Take a like back."""
        post, liked = self._seen(post_id), self._liked(post_id)
        require(liked, "not_found", f"the user has not liked {post_id}")
        self.likes.remove(liked[0].like_id)
        return self._details(post)

    @write
    def comment_on_post(self, post_id: PostId, text: CommentText) -> Comment:
        """Comment on a post whose author lets the user."""
        post = self._seen(post_id)
        author = self.users.get(post.author)
        mine, follows = post.author == self._me, self._follows(self._me, post.author)
        require(mine or post.repliers != "nobody", "permission_denied", f"nobody may comment on {post_id}")
        may = mine or follows or post.repliers == "everyone"
        closed = f"only followers of @{author.handle} may comment on {post_id}: {self._how_to_follow(author)}"
        require(may, "failed_precondition", closed)
        return self.comments.add(Comment(self.comments.mint(), post_id, self._me, self.now, text))

    @read
    def list_comments(self, post_id: PostId, author: UserId | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[Comment]:
        """List the comments on a post, oldest first."""
        comments = self.comments.where(post_id=self._seen(post_id).post_id)  # they are kept in the order of time
        return page((c for c in comments if author in (None, c.author)), limit, Comment, offset)

    # --- what happens by itself

    def due(self) -> datetime | None:
        return min((*(r.since + ACCEPTED_AFTER for r in self._answered()), *(c.due for c in self.coming)), default=None)

    def elapse(self) -> None:
        """Private members accept requests, and everybody goes on posting."""
        for request in self._answered():
            if request.since + ACCEPTED_AFTER <= self.now:
                self.follows.update(request.follow_id, status="accepted", since=self.now)
        for new in [c for c in self.coming if c.due <= self.now]:
            self.coming.remove(new.coming_id)
            self.posts.add(Post(self.posts.mint(), new.author, new.due, new.topic, new.text))

    def _answered(self) -> list[Follow]:
        """The requests that will be accepted."""
        return [r for r in self.follows.where(status="requested") if self.users.get(r.followed).answers]

    # --- rules

    @property
    def _me(self) -> UserId:
        return self.logins.one().me

    def _follow(self, follower: str, followed: str) -> Follow | None:
        return next(iter(self.follows.where(follower=follower, followed=followed)), None)

    def _follows(self, follower: str, followed: str) -> bool:
        follow = self._follow(follower, followed)
        return follow is not None and follow.status == "accepted"

    def _how_to_follow(self, user: User) -> str:
        if self._follow(self._me, user.user_id):
            return "wait until they accept the user's request"
        return "follow them first" if user.visibility == "public" else "ask to follow them, and wait until they accept"

    def _open(self, user_id: UserId) -> UserId:
        """A member whose followers the user may look at."""
        user = self.users.get(user_id)
        require(self._me not in user.blocks, "permission_denied", f"@{user.handle} has blocked the user")
        may = user.visibility == "public" or user_id == self._me or self._follows(self._me, user_id)
        require(may, "failed_precondition", f"@{user.handle} is private: {self._how_to_follow(user)}")
        return user_id

    def _profile(self, user: User) -> Profile:
        known = self._follow(self._me, user.user_id)
        you_follow = "no" if known is None else "yes" if known.status == "accepted" else "requested"
        posts = len(self.posts.where(author=user.user_id))
        followers = len(self.follows.where(followed=user.user_id, status="accepted"))
        following = len(self.follows.where(follower=user.user_id, status="accepted"))
        facts = (user.user_id, user.name, user.handle, user.bio, user.visibility, user.joined)
        return Profile(*facts, posts, followers, following, you_follow, self._follows(user.user_id, self._me))

    def _sees(self, post: Post) -> bool:
        """Whether the user may see a post, and the one that it passes on."""
        return self._may_see(post) and (post.shares is None or post.author == self._me or self._may_see(self.posts.get(post.shares)))

    def _may_see(self, post: Post) -> bool:
        """Whether a post is the user's own, or for everyone, or they follow its author."""
        author = self.users.get(post.author)
        if post.author == self._me or self._me in author.blocks:
            return post.author == self._me
        return (post.audience == "everyone" and author.visibility == "public") or self._follows(self._me, post.author)

    def _seen(self, post_id: PostId) -> Post:
        """A post that the user may see. Refuses with the reason for which they may not."""
        post = self.posts.get(post_id)
        for part in [post] if post.shares is None or post.author == self._me else [post, self.posts.get(post.shares)]:
            author = self.users.get(part.author)
            blocked = f"@{author.handle}, who wrote {part.post_id}, has blocked the user"
            require(self._me not in author.blocks, "permission_denied", blocked)
            closed = f"{part.post_id} is for followers of @{author.handle} only: {self._how_to_follow(author)}"
            require(self._may_see(part), "failed_precondition", closed)
        return post

    def _liked(self, post_id: PostId) -> list[Like]:
        return self.likes.where(post_id=post_id, user_id=self._me)

    def _reach(self, post: Post) -> tuple[int, int, int]:
        """How many likes, comments and shares a post has."""
        likes, comments = self.likes.where(post_id=post.post_id), self.comments.where(post_id=post.post_id)
        return len(likes), len(comments), len(self.posts.where(shares=post.post_id))

    def _score(self, post: Post) -> int:
        """What ranks a post in the feed: a comment weighs two likes, a share three, and all of it fades by the hour."""
        likes, comments, shares = self._reach(post)
        hours = (self.now - post.posted) // timedelta(hours=1)
        return 1000 * (1 + likes + 2 * comments + 3 * shares) // (hours + 2)

    def _details(self, post: Post) -> PostDetails:
        likes, comments, shares = self._reach(post)
        counts = {"like_count": likes, "comment_count": comments, "share_count": shares}
        return PostDetails(**asdict(post), **counts, liked_by_you=bool(self._liked(post.post_id)))

    def _publish(self, text: str, topic: str | None, audience: Audience, repliers: Repliers, shares: str | None = None) -> Post:
        today = [p for p in self.posts.where(author=self._me) if p.posted.date() == self.today]
        require(len(today) < POSTS_A_DAY, "resource_exhausted", f"the user has posted {POSTS_A_DAY} times today: wait until tomorrow")
        return self.posts.add(Post(self.posts.mint(), self._me, self.now, topic, text, audience, repliers, shares))

    def _delete(self, post: Post) -> Post:
        for share in self.posts.where(shares=post.post_id):
            self._delete(share)
        for like in self.likes.where(post_id=post.post_id):
            self.likes.remove(like.like_id)
        for comment in self.comments.where(post_id=post.post_id):
            self.comments.remove(comment.comment_id)
        return self.posts.remove(post.post_id)


def _posted(post: Post) -> Moment:
    return post.posted


def _is_about(post: Post, topic: Topic | None) -> bool:
    """Whether a post has that topic, or a hashtag in its text that says so."""
    return topic is None or topic == post.topic or topic in re.findall(r"#(\w+)", post.text.lower())
