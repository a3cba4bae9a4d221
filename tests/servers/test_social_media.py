"""What a member can rely on: who sees and who may comment, how requests are accepted, and what ranks the feed."""

from datetime import datetime

import pytest

from prove.servers.session import Session


@pytest.fixture
def network():
    return Session.open("social_media", seed=0)


def live(session):
    return session.servers["social_media"]


def value(session, tool, **arguments):
    result = session.call(tool, arguments)
    assert result.ok, result.text
    return result.value


def me(session):
    return live(session).logins.one().me


def stranger(session, **fields):
    """A member with these traits whom the user neither follows nor has asked to."""
    known = {f.followed for f in live(session).follows.where(follower=me(session))} | {me(session)}
    wanted = (u for u in live(session).users if u.user_id not in known and me(session) not in u.blocks)
    return next(u for u in wanted if all(getattr(u, f) == v for f, v in fields.items())).user_id


def post_of(session, author, **fields):
    """A post of another member, put straight into the world."""
    posts = live(session).posts
    return posts.add(type(next(iter(posts)))(posts.mint(), author, session.clock.now, None, "Hello from next door", **fields)).post_id


def test_a_private_member_accepts_a_request_after_two_hours(network):
    user = stranger(network, visibility="private", answers=True)
    post = post_of(network, user)
    assert value(network, "follow_user", user_id=user)["status"] == "requested"
    assert network.call("get_post", {"post_id": post}).code == "failed_precondition"
    network.advance(hours=1)
    assert value(network, "get_profile", user_id=user)["you_follow"] == "requested"
    network.advance(hours=1)
    assert value(network, "get_profile", user_id=user)["you_follow"] == "yes"
    assert value(network, "get_post", post_id=post)["text"] == "Hello from next door"


def test_some_members_never_answer(network):
    silent = next(u for u in live(network).users if not u.answers)
    network.advance(days=30)
    assert value(network, "get_profile", user_id=silent.user_id)["you_follow"] == "requested"


def test_who_has_blocked_the_user_cannot_be_followed_or_read(network):
    blocker = next(u for u in live(network).users if me(network) in u.blocks).user_id
    assert network.call("follow_user", {"user_id": blocker}).code == "permission_denied"
    assert network.call("like_post", {"post_id": post_of(network, blocker)}).code == "permission_denied"
    assert value(network, "search_posts", author=blocker)["total"] == 0


def test_only_followers_comment_where_the_author_says_so(network):
    user = stranger(network, visibility="public")
    post = post_of(network, user, repliers="followers")
    comment = {"post_id": post, "text": "Love it"}
    assert network.call("comment_on_post", comment).code == "failed_precondition"
    value(network, "follow_user", user_id=user)
    value(network, "comment_on_post", **comment)
    assert value(network, "get_post", post_id=post)["comment_count"] == 1
    closed = post_of(network, user, repliers="nobody")
    assert network.call("comment_on_post", {"post_id": closed, "text": "Love it"}).code == "permission_denied"


def test_a_like_counts_once_and_can_be_taken_back(network):
    post = post_of(network, stranger(network, visibility="public"))
    assert value(network, "like_post", post_id=post)["like_count"] == 1
    assert network.call("like_post", {"post_id": post}).code == "conflict"
    assert value(network, "unlike_post", post_id=post)["like_count"] == 0
    assert network.call("unlike_post", {"post_id": post}).code == "not_found"


def test_a_share_passes_on_the_original_and_is_gone_with_it(network):
    mine = value(network, "create_post", text="Street party on Saturday")["post_id"]
    share = value(network, "share_post", post_id=mine, remark="Bring a chair")["post_id"]
    assert network.call("share_post", {"post_id": share}).code == "conflict"  # sharing a share shares what it shares
    assert value(network, "get_post", post_id=mine)["share_count"] == 1
    value(network, "comment_on_post", post_id=share, text="Count me in")
    value(network, "delete_post", post_id=mine)
    assert network.call("get_post", {"post_id": share}).code == "not_found"


def test_what_is_for_followers_only_cannot_be_shared_and_what_is_not_ones_own_not_deleted(network):
    user = stranger(network, visibility="public")
    value(network, "follow_user", user_id=user)
    post = post_of(network, user, audience="followers")
    assert network.call("share_post", {"post_id": post}).code == "permission_denied"
    assert network.call("delete_post", {"post_id": post}).code == "permission_denied"


def test_the_feed_weighs_comments_twice_and_shares_thrice_and_fades_by_the_hour(network):
    server = live(network)
    followed = {f.followed for f in server.follows.where(follower=me(network), status="accepted")}
    feed = value(network, "get_feed", limit=50)["items"]
    assert {p["author"] for p in feed} <= followed

    def score(post):
        points = 1 + len(server.likes.where(post_id=post)) + 2 * len(server.comments.where(post_id=post))
        hours = (network.clock.now - server.posts.get(post).posted).total_seconds() // 3600
        return (points + 3 * len(server.posts.where(shares=post))) * 1000 // (hours + 2)

    scores = [score(p["post_id"]) for p in feed]
    assert scores == sorted(scores, reverse=True)
    latest = [datetime.fromisoformat(p["posted"]) for p in value(network, "get_feed", order="latest", limit=50)["items"]]
    assert latest == sorted(latest, reverse=True)


def test_the_eleventh_post_of_a_day_must_wait(network):
    for number in range(10):
        value(network, "create_post", text=f"Number {number}")
    assert network.call("create_post", {"text": "One more"}).code == "resource_exhausted"
    network.advance(days=1)
    value(network, "create_post", text="One more")
