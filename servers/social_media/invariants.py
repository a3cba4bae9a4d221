"""What must hold in a social network after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.social_media.tools import SocialMedia


def invariants(social: SocialMedia) -> Iterator[str]:
    pairs = Counter((f.follower, f.followed) for f in social.follows)
    for (follower, followed), count in pairs.items():
        if count > 1 or follower == followed or follower not in social.users or followed not in social.users:
            yield f"{follower} follows {followed} {count} times"
    for user in social.users:
        if any((blocked, user.user_id) in pairs for blocked in user.blocks):
            yield f"{user.user_id} is followed by somebody whom they have blocked"
    for post in social.posts:
        if post.shares is not None and (post.shares not in social.posts or social.posts.get(post.shares).shares):
            yield f"{post.post_id} shares what is gone, or what is itself a share"
        if post.posted > social.now:
            yield f"{post.post_id} is from the future"
    for (post_id, user_id), count in Counter((like.post_id, like.user_id) for like in social.likes).items():
        if count > 1 or post_id not in social.posts:
            yield f"{user_id} likes {post_id} {count} times, or it is gone"
    for comment in social.comments:
        if comment.post_id not in social.posts or comment.posted < social.posts.get(comment.post_id).posted:
            yield f"{comment.comment_id} is on a post that is gone, or older than it"
