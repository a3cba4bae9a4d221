"""A mailbox's own rules: places are labels, drafts need recipients, replies stay in their thread, mail keeps arriving."""

import pytest

from prove.servers.session import Session


@pytest.fixture
def mail():
    return Session.open("email", seed=0)


def newest(mail, **filters):
    return mail.call("search_emails", filters).value["items"][0]


def test_an_archived_email_leaves_the_inbox_and_can_be_put_back(mail):
    email = newest(mail, label_id="INBOX")["email_id"]
    assert "INBOX" not in mail.call("archive_email", {"email_id": email}).value["labels"]
    assert mail.call("archive_email", {"email_id": email}).code == "failed_precondition"
    assert "INBOX" in mail.call("apply_label", {"email_id": email, "label_id": "INBOX"}).value["labels"]


def test_a_deleted_email_is_found_only_in_the_trash_and_gone_after_thirty_days(mail):
    email = newest(mail, label_id="INBOX")["email_id"]
    mail.call("delete_email", {"email_id": email})
    assert email not in mail.call("search_emails", {"limit": 50}).text
    assert email in mail.call("search_emails", {"label_id": "TRASH"}).text
    mail.advance(days=29)
    assert mail.call("read_email", {"email_id": email}).ok
    mail.advance(days=1)
    assert mail.call("read_email", {"email_id": email}).code == "not_found"


def test_an_email_in_the_trash_is_answered_only_after_it_was_taken_out(mail):
    email = newest(mail, label_id="INBOX")["email_id"]
    mail.call("delete_email", {"email_id": email})
    assert mail.call("reply_email", {"email_id": email, "body": "Yes."}).code == "failed_precondition"
    mail.call("apply_label", {"email_id": email, "label_id": "INBOX"})
    assert mail.call("reply_email", {"email_id": email, "body": "Yes."}).ok


def test_a_reply_goes_to_the_sender_in_the_same_thread_and_reply_all_to_everybody_else_too(mail):
    mail.servers["email"].emails.update("MSG-61001", recipients=["b@example.com"], cc=["c@example.com"], subject="Re: Lunch", labels=[])
    asked = mail.call("read_email", {"email_id": "MSG-61001"}).value
    reply = mail.call("reply_email", {"email_id": "MSG-61001", "body": "Fine."}).value
    assert (reply["recipients"], reply["cc"], reply["subject"]) == ([asked["sender_address"]], [], "Re: Lunch")
    assert reply["thread_id"] == asked["thread_id"]
    everybody = mail.call("reply_email", {"email_id": "MSG-61001", "body": "Fine.", "reply_all": True}).value
    assert everybody["cc"] == ["b@example.com", "c@example.com"]


def test_a_forwarded_email_keeps_its_attachments(mail):
    mail.servers["email"].emails.update("MSG-61001", attachments=["plan.pdf"], subject="Plan", labels=[])
    sent = mail.call("forward_email", {"email_id": "MSG-61001", "recipients": ["d@example.com"], "note": "See below."}).value
    assert (sent["subject"], sent["attachments"]) == ("Fwd: Plan", ["plan.pdf"])
    assert sent["body"].startswith("See below.")


def test_a_draft_without_a_recipient_is_sent_only_once_it_has_one(mail):
    draft = mail.call("create_draft", {"subject": "Hello", "body": "Hi."}).value["draft_id"]
    assert mail.call("send_draft", {"draft_id": draft}).code == "failed_precondition"
    mail.call("update_draft", {"draft_id": draft, "recipients": ["D@example.com"]})
    assert mail.call("send_draft", {"draft_id": draft}).value["recipients"] == ["d@example.com"]
    assert mail.call("send_draft", {"draft_id": draft}).code == "not_found"


def test_only_so_many_recipients_a_day(mail):
    mail.advance(days=2)  # nothing was sent in the last day
    letter = {"subject": "News", "body": "Here they are."}
    for batch in range(5):
        assert mail.call("send_email", {**letter, "recipients": [f"r{batch}.{n}@example.com" for n in range(10)]}).ok
    assert mail.call("send_email", {**letter, "recipients": ["one.more@example.com"]}).code == "resource_exhausted"
    mail.advance(days=1)
    assert mail.call("send_email", {**letter, "recipients": ["one.more@example.com"]}).ok


def test_new_mail_arrives_unread_as_time_passes(mail):
    before = mail.call("search_emails", {"unread": True}).value["total"]
    mail.advance(days=7)
    assert mail.call("search_emails", {"unread": True}).value["total"] == before + len(mail.worlds["email"].bases["incoming"].records)


def test_what_only_the_mailbox_itself_sets_cannot_be_set_by_hand(mail):
    email = newest(mail)["email_id"]
    assert mail.call("apply_label", {"email_id": email, "label_id": "SENT"}).code == "permission_denied"
    assert mail.call("create_label", {"name": "inbox"}).code == "conflict"
