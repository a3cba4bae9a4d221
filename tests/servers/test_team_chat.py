import pytest

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
    found = chat.call("search_messages", {"notified": guest, "days": 1}).value["items"]
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
