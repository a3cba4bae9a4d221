"""A workspace's own rules: who sees and enters a channel, who may post, threads, reactions, and colleagues who go on talking."""

import pytest

from prove.servers.catalog import load
from prove.servers.session import Session


@pytest.fixture
def chat():
    return Session.open("team_chat", seed=0)


def channel(chat, name):
    found = chat.call("list_channels", {"query": name, "limit": 50}).value["items"]
    return next((c["channel_id"] for c in found if c["name"] == name), None)


def outsider(chat, channel_id):
    """An active colleague who is not in a channel."""
    inside = {u["user_id"] for u in chat.call("list_users", {"channel_id": channel_id, "limit": 50}).value["items"]}
    everybody = chat.call("list_users", {"limit": 50}).value["items"]
    return next(u["user_id"] for u in everybody if u["user_id"] not in inside and u["status"] == "active")


def test_one_must_join_before_one_may_write(chat):
    running = channel(chat, "running")
    assert chat.call("post_message", {"channel_id": running, "text": "Hello"}).code == "failed_precondition"
    assert chat.call("join_channel", {"channel_id": running}).ok
    assert chat.call("post_message", {"channel_id": running, "text": "Hello"}).ok
    assert chat.call("join_channel", {"channel_id": running}).code == "conflict"


def test_a_private_channel_of_others_is_as_good_as_not_there(chat):
    assert channel(chat, "salary-round") is None
    hidden = next(c.channel_id for c in chat.servers["team_chat"].channels if c.name == "salary-round")
    for tool in ("join_channel", "get_channel_history", "list_users", "search_messages"):
        assert chat.call(tool, {"channel_id": hidden}).code == "not_found"
    secret = chat.servers["team_chat"].messages.where(channel_id=hidden)[0]
    assert chat.call("get_thread_replies", {"message_id": secret.message_id}).code == "not_found"
    assert chat.call("search_messages", {"query": secret.text}).value["total"] == 0
    assert chat.call("create_channel", {"name": "salary-round"}).code == "conflict"


def test_whoever_is_to_be_notified_must_be_in_the_channel(chat):
    lunch = channel(chat, "lunch")
    guest = outsider(chat, lunch)
    message = {"channel_id": lunch, "text": "Soup?", "notify": guest}
    assert chat.call("post_message", message).code == "failed_precondition"
    assert chat.call("invite_to_channel", {"channel_id": lunch, "user_id": guest}).ok
    posted = chat.call("post_message", message).value
    found = chat.call("search_messages", {"notified": guest}).value["items"]
    assert found[0]["message_id"] == posted["message_id"]


def test_a_reply_to_a_reply_joins_the_same_thread(chat):
    root = chat.call("post_message", {"channel_id": channel(chat, "general"), "text": "Who is in?"}).value["message_id"]
    first = chat.call("reply_in_thread", {"message_id": root, "text": "Me"}).value["message_id"]
    assert chat.call("reply_in_thread", {"message_id": first, "text": "Me too"}).value["thread"] == root
    assert [r["text"] for r in chat.call("get_thread_replies", {"message_id": root}).value["replies"]] == ["Me", "Me too"]
    newest = chat.call("get_channel_history", {"channel_id": channel(chat, "general"), "limit": 1}).value["items"]
    assert newest[0]["message_id"] == root  # replies stay in their thread


def test_an_archived_channel_can_only_be_read_and_announcements_only_be_replied_to(chat):
    old, official = channel(chat, "spring-launch"), channel(chat, "announcements")
    message = chat.call("get_channel_history", {"channel_id": old}).value["items"][0]["message_id"]
    assert chat.call("add_reaction", {"message_id": message, "emoji": "tada"}).code == "failed_precondition"
    assert chat.call("post_message", {"channel_id": official, "text": "Hi all"}).code == "permission_denied"
    news = chat.call("get_channel_history", {"channel_id": official}).value["items"][0]["message_id"]
    assert chat.call("reply_in_thread", {"message_id": news, "text": "Thanks"}).ok


def test_one_reacts_only_once_with_the_same_emoji(chat):
    root = chat.call("post_message", {"channel_id": channel(chat, "general"), "text": "Cake!"}).value["message_id"]
    assert chat.call("add_reaction", {"message_id": root, "emoji": "heart"}).ok
    assert chat.call("add_reaction", {"message_id": root, "emoji": "heart"}).code == "conflict"
    assert chat.call("add_reaction", {"message_id": root, "emoji": "rocket"}).ok
    assert [t["emoji"] for t in chat.call("get_thread_replies", {"message_id": root}).value["reactions"]] == ["heart", "rocket"]


# --- people


def test_the_user_finds_their_own_id(chat):
    everybody = chat.call("list_users", {"limit": 50}).value["items"]
    me = [u["user_id"] for u in everybody if u["is_me"]]
    created = chat.call("create_channel", {"name": "mine"}).value
    assert me == [created["creator"]]
    posted = chat.call("post_message", {"channel_id": created["channel_id"], "text": "Hello"}).value
    assert chat.call("search_messages", {"author": me[0], "limit": 1}).value["items"] == [posted]


def test_a_handle_and_a_channel_are_found_with_and_without_their_sign(chat):
    user = chat.call("list_users", {"limit": 1}).value["items"][0]
    for query in (user["handle"], f"@{user['handle']}"):
        assert user in chat.call("list_users", {"query": query}).value["items"]
    assert [c["name"] for c in chat.call("list_channels", {"query": "#lunch"}).value["items"]] == ["lunch"]


def test_everybody_with_an_account_is_in_general(chat):
    inside = chat.call("list_users", {"channel_id": channel(chat, "general"), "limit": 50}).value["items"]
    active = [u for u in chat.call("list_users", {"limit": 50}).value["items"] if u["status"] == "active"]
    assert inside == active


def test_a_deactivated_account_is_neither_invited_nor_notified(chat):
    gone = next(u["user_id"] for u in chat.call("list_users", {"limit": 50}).value["items"] if u["status"] == "deactivated")
    lunch = channel(chat, "lunch")
    assert chat.call("invite_to_channel", {"channel_id": lunch, "user_id": gone}).code == "failed_precondition"
    assert chat.call("post_message", {"channel_id": lunch, "text": "Soup?", "notify": gone}).code == "failed_precondition"


# --- messages


def test_messages_of_one_moment_come_the_last_made_first(chat):
    general = channel(chat, "general")
    for text in ("One", "Two", "Three"):
        chat.call("post_message", {"channel_id": general, "text": text})
    for tool, ask in (("get_channel_history", {"channel_id": general}), ("search_messages", {})):
        assert [m["text"] for m in chat.call(tool, {**ask, "limit": 3}).value["items"]] == ["Three", "Two", "One"]


def test_whatever_a_search_counts_can_be_reached(chat):
    found, at = [], 0
    while page := chat.call("search_messages", {"limit": 50, "offset": at}).value["items"]:
        found, at = [*found, *page], at + 50
    assert len({m["message_id"] for m in found}) == chat.call("search_messages", {}).value["total"] > 100


def test_colleagues_go_on_talking_at_their_time(chat):
    rows, general = chat.servers["team_chat"], channel(chat, "general")
    colleague = outsider(chat, channel(chat, "lunch"))
    due = chat.clock.now.replace(hour=9, minute=30)
    coming = next(iter(rows.coming))
    rows.coming.update(coming.coming_id, due=due, channel_id=general, author=colleague, text="Morning!", thread=None)
    chat.advance(minutes=29)
    assert chat.call("search_messages", {"query": "morning!"}).value["total"] == 0
    chat.advance(days=60)
    said = chat.call("search_messages", {"query": "morning!"}).value["items"][0]
    assert (said["author"], said["posted"]) == (colleague, f"{due:%Y-%m-%dT%H:%M:%SZ}")
    assert not list(rows.coming)


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0"])
def test_blank_text_is_no_message(chat, text):
    assert chat.call("post_message", {"channel_id": channel(chat, "general"), "text": text}).code == "invalid_argument"


def test_a_private_channel_is_not_told_from_one_that_does_not_exist(chat):
    hidden = next(c.channel_id for c in chat.servers["team_chat"].channels if c.name == "salary-round")
    there, nowhere = (chat.call("get_channel_history", {"channel_id": i}).text.replace(i, "X") for i in (hidden, "C1"))
    assert there == nowhere


# --- refusals


def _writing_where_one_is_not(chat):
    message = {"channel_id": channel(chat, "running"), "text": "Hello"}
    yield chat.call("post_message", message)
    chat.call("join_channel", {"channel_id": message["channel_id"]})
    yield chat.call("post_message", message)


def _notifying_who_is_not_there(chat):
    lunch = channel(chat, "lunch")
    message = {"channel_id": lunch, "text": "Soup?", "notify": outsider(chat, lunch)}
    yield chat.call("post_message", message)
    chat.call("invite_to_channel", {"channel_id": lunch, "user_id": message["notify"]})
    yield chat.call("post_message", message)


def _notifying_oneself(chat):
    me = next(u["user_id"] for u in chat.call("list_users", {"limit": 50}).value["items"] if u["is_me"])
    message = {"channel_id": channel(chat, "general"), "text": "Note to self"}
    yield chat.call("post_message", {**message, "notify": me})
    yield chat.call("post_message", message)


def _announcing(chat):
    official = channel(chat, "announcements")
    yield chat.call("post_message", {"channel_id": official, "text": "Hi all"})
    message = chat.call("get_channel_history", {"channel_id": official}).value["items"][0]["message_id"]
    yield chat.call("reply_in_thread", {"message_id": message, "text": "Hi all"})


def _the_same_emoji_again(chat):
    root = chat.call("post_message", {"channel_id": channel(chat, "general"), "text": "Cake!"}).value["message_id"]
    chat.call("add_reaction", {"message_id": root, "emoji": "heart"})
    yield chat.call("add_reaction", {"message_id": root, "emoji": "heart"})
    yield chat.call("add_reaction", {"message_id": root, "emoji": "tada"})


def _a_name_that_is_taken(chat):
    yield chat.call("create_channel", {"name": "general"})
    yield chat.call("create_channel", {"name": "general-2"})


ADVICE = (
    _writing_where_one_is_not, _notifying_who_is_not_there, _notifying_oneself, _announcing, _the_same_emoji_again, _a_name_that_is_taken,
)  # fmt: skip


@pytest.mark.parametrize("case", ADVICE)
def test_whoever_follows_the_advice_of_a_refusal_succeeds(chat, case):
    refused, followed = case(chat)
    assert not refused.ok
    assert followed.ok, followed.text


@pytest.mark.parametrize("seed", range(900, 906))
def test_colleagues_talk_on_workdays_and_to_each_other_before_and_after_a_world_begins(seed):
    session, domain = Session.open("team_chat", seed=seed), load("team_chat")
    workspace = session.servers["team_chat"]
    before = len(workspace.messages)
    assert not list(domain.past(workspace))
    session.advance(days=7)
    assert len(workspace.messages) == before + 40
    assert not list(domain.past(workspace))
    assert not any(r.user_id == workspace.messages.get(r.message_id).author for r in workspace.reactions)
