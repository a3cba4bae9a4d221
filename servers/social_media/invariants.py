"""What must hold in a social network after every call, and what a past made by its rules looks like."""

from collections import Counter
from collections.abc import Iterator

from .records import Post
from .tools import ACCEPTED_AFTER, POSTS_A_DAY, SocialMedia


def invariants(social: SocialMedia) -> Iterator[str]:
    pairs = Counter((f.follower, f.followed) for f in social.follows)
    for (follower, followed), count in pairs.items():
        if count > 1 or follower == followed or follower not in social.users or followed not in social.users:
            yield f"{follower} follows {followed} {count} times"
    for user in social.users:
        if any((blocked, user.user_id) in pairs or (user.user_id, blocked) in pairs for blocked in user.blocks):
            yield f"{user.user_id} follows, or is followed by, somebody whom they have blocked"
    for post in social.posts:
        if post.shares is not None and (post.shares not in social.posts or social.posts.get(post.shares).shares):
            yield f"{post.post_id} shares what is gone, or what is itself a share"
        if post.posted > social.now:
            yield f"{post.post_id} is from the future"
    for (author, shared), count in Counter((p.author, p.shares) for p in social.posts if p.shares).items():
        if count > 1:
            yield f"{author} shares {shared} {count} times"
    for (post_id, user_id), count in Counter((like.post_id, like.user_id) for like in social.likes).items():
        if count > 1 or post_id not in social.posts:
            yield f"{user_id} likes {post_id} {count} times, or it is gone"
    if any(c.due <= social.now for c in social.coming):
        yield "a post is late"
    for comment in social.comments:
        if comment.post_id not in social.posts or comment.posted < social.posts.get(comment.post_id).posted:
            yield f"{comment.comment_id} is on a post that is gone, or older than it"


def past(social: SocialMedia) -> Iterator[str]:
    yield from (f"there are {count} members @{h}" for h, count in Counter(u.handle for u in social.users).items() if count > 1)
    yield from _followed_by_the_rules(social)
    me = social.logins.one().me
    posts, comments = [p.posted for p in social.posts], [c.posted for c in social.comments]
    if posts != sorted(posts) or comments != sorted(comments):
        yield "the posts or the comments are not in the order of time"
    for (author, day), count in Counter((p.author, p.posted.date()) for p in social.posts).items():
        if count > POSTS_A_DAY or day < social.users.get(author).joined:
            yield f"{author} posted {count} times on {day}"
    for (author, text), count in Counter((p.author, p.text) for p in social.posts if not p.shares and p.author != me).items():
        if count > 1:
            yield f"{author} posted {text!r} {count} times"
    blocked = {(u.user_id, other) for u in social.users for other in u.blocks}
    blocked |= {(other, user_id) for user_id, other in blocked}
    yield from _reacted_by_the_rules(social, blocked)
    for share in [p for p in social.posts if p.shares]:
        original = social.posts.get(share.shares)
        if original.audience != "everyone" or original.posted > share.posted or (share.author, original.author) in blocked:
            yield f"{share.post_id} shares {original.post_id}, which {share.author} could not"


def _followed_by_the_rules(social: SocialMedia) -> Iterator[str]:
    """Since both had joined; a private member was asked, and accepted after a while if they ever do."""
    for follow in social.follows:
        followed = social.users.get(follow.followed)
        if not max(followed.joined, social.users.get(follow.follower).joined) <= follow.since.date() <= social.today:
            yield f"{follow.follow_id} is from {follow.since:%Y-%m-%d}, when one of the two had not joined"
        if follow.status == "accepted" and followed.visibility == "private" and not followed.answers:
            yield f"{follow.follow_id} was accepted by @{followed.handle}, who never answers"
        if follow.status == "requested" and followed.answers and follow.since + ACCEPTED_AFTER <= social.now:
            yield f"{follow.follow_id} should have been accepted"


def _reacted_by_the_rules(social: SocialMedia, blocked: set[tuple[str, str]]) -> Iterator[str]:
    """By who may see the post, and comment on it; of the user, who may have unfollowed or become private since, less is known."""
    me = social.logins.one().me
    follows = {(f.follower, f.followed): f.since for f in social.follows if f.status == "accepted"}

    def may_see(user_id: str, post: Post) -> bool:
        author = social.users.get(post.author)
        for_all = post.audience == "everyone" and (author.visibility == "public" or post.author == me)
        return for_all or user_id in (me, post.author) or (user_id, post.author) in follows

    for like in social.likes:
        post = social.posts.get(like.post_id)
        if not may_see(like.user_id, post) or (like.user_id, post.author) in blocked:
            yield f"{like.user_id} likes {post.post_id}, which they may not see"
    for comment in social.comments:
        post, pair = social.posts.get(comment.post_id), (comment.author, social.posts.get(comment.post_id).author)
        if not may_see(comment.author, post) or pair in blocked or comment.posted > social.now:
            yield f"{comment.comment_id} is on {post.post_id}, which its author may not see"
        known = comment.author in (me, post.author) or (pair in follows and follows[pair] <= comment.posted)
        if comment.author != post.author and (post.repliers == "nobody" or (post.repliers == "followers" and not known)):
            yield f"{comment.comment_id} is on {post.post_id}, on which {comment.author} may not comment"
