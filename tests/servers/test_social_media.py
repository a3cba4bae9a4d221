"""What a member can rely on: who sees and who may comment, how requests are accepted, and what ranks the feed."""

import re
from datetime import datetime, timedelta

import pytest

from prove.servers.catalog import load
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


@pytest.mark.parametrize("seed", range(20))
def test_nobody_follows_before_both_have_joined(seed):
    social = live(Session.open("social_media", seed))
    for follow in social.follows:
        both = max(social.users.get(follow.follower).joined, social.users.get(follow.followed).joined)
        assert both <= follow.since.date()


@pytest.mark.parametrize("seed", range(20))
def test_between_a_blocker_and_the_blocked_there_is_nothing(seed):
    social = live(Session.open("social_media", seed))
    blocker, blocked = next((u.user_id, u.blocks[0]) for u in social.users if u.blocks)
    pair = {blocker, blocked}
    assert not [f for f in social.follows if {f.follower, f.followed} == pair]
    author = {p.post_id: p.author for p in social.posts}
    assert not [like for like in social.likes if {like.user_id, author[like.post_id]} == pair]
    assert not [c for c in social.comments if {c.author, author[c.post_id]} == pair]
    assert not [p for p in social.posts if p.shares and {p.author, author[p.shares]} == pair]


@pytest.mark.parametrize("seed", range(20))
def test_a_member_shares_a_post_once(seed):
    shares = [(p.author, p.shares) for p in live(Session.open("social_media", seed)).posts if p.shares]
    assert shares
    assert len(set(shares)) == len(shares)


def test_changing_one_thing_of_the_profile_wipes_nothing_else(network):
    before = value(network, "get_profile")
    value(network, "update_profile", bio="Bread and bikes")
    after = value(network, "update_profile", visibility="private")
    assert (after["bio"], after["name"], after["visibility"]) == ("Bread and bikes", before["name"], "private")
    after = value(network, "update_profile", name="  Robin Castellanos ")
    assert (after["bio"], after["name"], after["visibility"]) == ("Bread and bikes", "Robin Castellanos", "private")
    assert value(network, "update_profile", bio="")["bio"] == ""
    assert network.call("update_profile", {}).code == "invalid_argument"
    assert network.call("update_profile", {"name": "  "}).code == "invalid_argument"


def test_posts_of_one_moment_come_the_last_made_first(network):
    made = [value(network, "create_post", text=f"Number {n}")["post_id"] for n in range(3)]
    assert [p["post_id"] for p in value(network, "search_posts", author=me(network))["items"]][:3] == made[::-1]
    user = stranger(network, visibility="public")
    value(network, "follow_user", user_id=user)
    theirs = [post_of(network, user) for _ in range(3)]
    assert [p["post_id"] for p in value(network, "get_feed", order="latest")["items"]][:3] == theirs[::-1]


def test_every_post_that_is_counted_can_be_reached(network):
    total = value(network, "search_posts")["total"]
    assert total > 50
    shown = [p["post_id"] for o in range(0, total, 50) for p in value(network, "search_posts", limit=50, offset=o)["items"]]
    assert len(set(shown)) == total


def test_a_post_is_found_by_its_topic_and_by_each_hashtag_in_its_text(network):
    tagged = value(network, "create_post", text="Sunday ride with soup #Cycling #soup_2026")["post_id"]
    titled = value(network, "create_post", text="New tyres", topic="cycling")["post_id"]
    value(network, "create_post", text="I said cycling, and meant recycling #recycling")
    mine = {"author": me(network), "since": live(network).today.isoformat()}
    assert [p["post_id"] for p in value(network, "search_posts", topic="CYCLING", **mine)["items"]] == [titled, tagged]
    assert [p["post_id"] for p in value(network, "search_posts", topic="soup_2026", **mine)["items"]] == [tagged]
    assert [p["post_id"] for p in value(network, "search_posts", query="#cycling", **mine)["items"]] == [tagged]


@pytest.mark.parametrize("text", [" ", "\t\n", "\u3000"])
def test_blank_text_is_no_post_and_no_comment(network, text):
    assert network.call("create_post", {"text": text}).code == "invalid_argument"
    post = value(network, "create_post", text="Hello")["post_id"]
    assert network.call("comment_on_post", {"post_id": post, "text": text}).code == "invalid_argument"


def test_a_blank_remark_shares_the_words_of_the_original(network):
    post = post_of(network, stranger(network, visibility="public"))
    assert value(network, "share_post", post_id=post, remark="  ")["text"] == "Hello from next door"


def test_who_has_blocked_the_user_is_not_read_through_a_share_either(network):
    blocker = next(u for u in live(network).users if u.blocks).user_id
    sharer = stranger(network, visibility="public")
    share = post_of(network, sharer, shares=post_of(network, blocker))
    assert network.call("get_post", {"post_id": share}).code == "permission_denied"
    assert share not in [p["post_id"] for p in value(network, "search_posts", author=sharer, limit=50)["items"]]
    assert network.call("search_users", {"follows": blocker}).code == "permission_denied"


@pytest.mark.parametrize("hours", [2, 3, 50])
def test_a_request_is_accepted_after_two_hours_however_long_the_wait(network, hours):
    user = stranger(network, visibility="private", answers=True)
    asked = datetime.fromisoformat(value(network, "follow_user", user_id=user)["since"])
    network.advance(hours=hours)
    [follow] = live(network).follows.where(follower=me(network), followed=user)
    assert (follow.status, follow.since) == ("accepted", asked + timedelta(hours=2))


def test_unfollowing_takes_back_a_request_and_closes_what_is_for_followers(network):
    user = stranger(network, visibility="private", answers=True)
    post = post_of(network, user)
    value(network, "follow_user", user_id=user)
    value(network, "unfollow_user", user_id=user)
    network.advance(hours=3)
    assert value(network, "get_profile", user_id=user)["you_follow"] == "no"
    value(network, "follow_user", user_id=user)
    network.advance(hours=2)
    value(network, "get_post", post_id=post)
    value(network, "unfollow_user", user_id=user)
    assert network.call("get_post", {"post_id": post}).code == "failed_precondition"
    assert network.call("unfollow_user", {"user_id": user}).code == "not_found"


@pytest.mark.parametrize(
    ("tool", "fields"),
    [("get_post", {"audience": "followers"}), ("comment_on_post", {"repliers": "followers"}), ("like_post", {"audience": "followers"})],
)
def test_advice_to_follow_a_public_member_works_at_once(network, tool, fields):
    user = stranger(network, visibility="public")
    call = {"post_id": post_of(network, user, **fields)} | ({"text": "Love it"} if tool == "comment_on_post" else {})
    assert "follow them first" in network.call(tool, call).text
    value(network, "follow_user", user_id=user)
    value(network, tool, **call)


def test_advice_to_ask_a_private_member_and_wait_works(network):
    user = stranger(network, visibility="private", answers=True)
    post = post_of(network, user)
    assert "ask to follow them, and wait until they accept" in network.call("get_post", {"post_id": post}).text
    assert "ask to follow them" in network.call("search_users", {"followed_by": user}).text
    value(network, "follow_user", user_id=user)
    assert "wait until they accept the user's request" in network.call("get_post", {"post_id": post}).text
    network.advance(hours=2)
    value(network, "get_post", post_id=post)
    value(network, "search_users", followed_by=user)


def test_advice_on_a_second_share_works(network):
    post = post_of(network, stranger(network, visibility="public"))
    value(network, "share_post", post_id=post)
    refused = network.call("share_post", {"post_id": post}).text
    value(network, "delete_post", post_id=re.search(r"delete (PST-\d+) first", refused)[1])
    value(network, "share_post", post_id=post, remark="Once more")


@pytest.mark.parametrize("seed", range(900, 906))
def test_others_go_on_posting_and_nobody_says_a_thing_twice(seed):
    session, domain = Session.open("social_media", seed=seed), load("social_media")
    network = session.servers["social_media"]
    before = [p.post_id for p in network.posts]
    session.advance(days=14)
    new = [p for p in network.posts if p.post_id not in before]
    assert len(new) > 20
    assert {p.author for p in new}.isdisjoint({network.logins.one().me})
    assert session.call("get_feed", {"order": "latest"}).value["items"]
    assert len({(c.post_id, c.text) for c in network.comments}) == len(network.comments)
    assert not [*domain.past(network), *domain.invariants(network)]
