"""A mailbox's own rules: places are labels, drafts need recipients, replies stay in their thread, mail arrives and is thrown away."""

from datetime import timedelta

import pytest

from prove.library.email.world import WORK
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
    before = mail.call("search_emails", {"label_id": "UNREAD"}).value["total"]
    mail.advance(days=7)
    assert mail.call("search_emails", {"label_id": "UNREAD"}).value["total"] == before + len(mail.worlds["email"].bases["incoming"].records)


def test_what_only_the_mailbox_itself_sets_cannot_be_set_by_hand(mail):
    email = newest(mail)["email_id"]
    assert mail.call("apply_label", {"email_id": email, "label_id": "SENT"}).code == "permission_denied"
    assert mail.call("create_label", {"name": "inbox"}).code == "conflict"


# --- finding


def test_a_label_counts_what_a_search_by_it_finds():
    for seed in range(5):
        mail = Session.open("email", seed)
        mail.call("delete_email", {"email_id": newest(mail, label_id="STARRED")["email_id"]})
        for label in mail.call("list_labels", {}).value["items"]:
            found, at = [], 0
            while page := mail.call("search_emails", {"label_id": label["label_id"], "limit": 50, "offset": at}).value["items"]:
                found, at = [*found, *page], at + 50
            counts = (len(found), sum("UNREAD" in e["labels"] for e in found))
            assert (label["emails"], label["unread"]) == counts, label["name"]


def test_a_sender_is_found_by_name_and_by_address(mail):
    email = mail.call("read_email", {"email_id": newest(mail)["email_id"]}).value
    by_name, by_address = (mail.call("search_emails", {"sender": email[f]}).value for f in ("sender", "sender_address"))
    assert by_name == by_address
    assert by_name["total"] > 0


def test_what_one_has_sent_is_found_by_whom_it_went_to(mail):
    mail.call("send_email", {"recipients": ["hannah@example.net"], "subject": "Hello", "body": "Hi."})
    assert newest(mail, query="hannah@example.net")["subject"] == "Hello"


def test_mail_and_drafts_of_one_moment_come_the_last_made_first(mail):
    letter = {"recipients": ["a@example.com"], "body": "Hi."}
    for subject in ("One", "Two", "Three"):
        mail.call("send_email", {**letter, "subject": subject})
        mail.call("create_draft", {**letter, "subject": subject})
    for tool in ("search_emails", "list_drafts"):
        assert [e["subject"] for e in mail.call(tool, {"limit": 3}).value["items"]] == ["Three", "Two", "One"]


def test_a_draft_can_be_read(mail):
    mail.call("create_draft", {"subject": "Plan", "body": "First the roof.", "cc": ["b@example.com"], "recipients": ["a@example.com"]})
    draft = mail.call("list_drafts", {"query": "roof"}).value["items"][0]
    assert (draft["body"], draft["cc"]) == ("First the roof.", ["b@example.com"])


def test_a_label_is_listed_in_its_colour(mail):
    mail.call("create_label", {"name": "Garden", "color": "green"})
    assert mail.call("list_labels", {"kind": "user"}).value["items"][-1]["color"] == "green"


# --- throwing away


def test_spam_is_gone_after_thirty_days_too(mail):
    spam = mail.call("read_email", {"email_id": newest(mail, label_id="SPAM")["email_id"]}).value
    assert spam["discarded"] == spam["sent"]
    mail.advance(days=30)
    assert mail.call("search_emails", {"label_id": "SPAM"}).value["total"] == 0
    assert mail.call("read_email", {"email_id": spam["email_id"]}).code == "not_found"
    assert mail.call("get_thread", {"thread_id": spam["thread_id"]}).code == "not_found"


def test_thirty_days_begin_anew_when_spam_is_deleted_and_end_when_it_is_taken_out(mail):
    first, second = (e["email_id"] for e in mail.call("search_emails", {"label_id": "SPAM"}).value["items"][:2])
    mail.advance(hours=1)
    assert mail.call("delete_email", {"email_id": first}).value["discarded"] == f"{mail.clock.now:%Y-%m-%dT%H:%M:%SZ}"
    assert mail.call("apply_label", {"email_id": second, "label_id": "INBOX"}).value["discarded"] is None
    mail.advance(days=29)
    assert mail.call("read_email", {"email_id": first}).ok
    mail.advance(days=31)
    assert mail.call("read_email", {"email_id": second}).ok


def test_a_conversation_says_how_much_of_it_was_thrown_away(mail):
    email = newest(mail, label_id="INBOX")
    before = mail.call("get_thread", {"thread_id": email["thread_id"]}).value
    mail.call("apply_label", {"email_id": email["email_id"], "label_id": "SPAM"})
    after = mail.call("get_thread", {"thread_id": email["thread_id"]}).value
    assert (len(after["emails"]), after["discarded"]) == (len(before["emails"]) - 1, before["discarded"] + 1)


def test_a_conversation_stays_as_long_as_an_answer_to_it_is_being_written(mail):
    email = newest(mail, label_id="INBOX")
    answer = {"subject": "Re", "body": "Yes.", "in_reply_to": email["email_id"], "recipients": ["a@example.com"]}
    draft = mail.call("create_draft", answer).value
    for one in mail.call("get_thread", {"thread_id": email["thread_id"]}).value["emails"]:
        mail.call("delete_email", {"email_id": one["email_id"]})
    mail.advance(days=31)
    assert mail.call("send_draft", {"draft_id": draft["draft_id"]}).value["thread_id"] == email["thread_id"]


# --- writing


def test_in_a_thread_write_only_those_whom_it_was_addressed_to():
    for seed in range(10):
        rows = Session.open("email", seed).servers["email"]
        for thread in rows.threads:
            first, *answers = rows.emails.where(thread_id=thread.thread_id)
            addressed = {first.sender_address, *first.recipients, *first.cc}
            assert all(email.sender_address in addressed for email in answers)


@pytest.mark.parametrize("body", ["", " \n\t"])
def test_blank_text_is_no_text(mail, body):
    assert mail.call("send_email", {"recipients": ["a@example.com"], "subject": "Hi", "body": body}).code == "invalid_argument"
    assert mail.call("create_label", {"name": body}).code == "invalid_argument"


@pytest.mark.parametrize("address", ["@ noon", "a@b", "a b@example.com"])
def test_what_is_no_address_gets_no_mail(mail, address):
    assert mail.call("send_email", {"recipients": [address], "subject": "Hi", "body": "Hi."}).code == "invalid_argument"


def test_the_order_of_recipients_says_nothing(mail):
    one, other = mail.fork(), mail.fork()
    letter = {"subject": "Hi", "body": "Hi."}
    one.call("send_email", {**letter, "recipients": ["a@example.com", "B@example.com"]})
    other.call("send_email", {**letter, "recipients": ["b@example.com", "a@example.com", "b@example.com"]})
    assert one.outcome() == other.outcome()


# --- refusals


def _mail_in_spam(mail):
    email = newest(mail, label_id="SPAM")["email_id"]
    yield mail.call("reply_email", {"email_id": email, "body": "Who are you?"})
    mail.call("apply_label", {"email_id": email, "label_id": "INBOX"})
    yield mail.call("reply_email", {"email_id": email, "body": "Who are you?"})


def _the_trash_as_a_label(mail):
    email = newest(mail)["email_id"]
    yield mail.call("apply_label", {"email_id": email, "label_id": "TRASH"})
    yield mail.call("delete_email", {"email_id": email})  # "delete_email puts an email there"


def _taking_off_the_trash(mail):
    email = newest(mail)["email_id"]
    mail.call("delete_email", {"email_id": email})
    yield mail.call("remove_label", {"email_id": email, "label_id": "TRASH"})
    yield mail.call("apply_label", {"email_id": email, "label_id": "INBOX"})  # "the label INBOX takes it out"


def _somebody_named_twice(mail):
    letter = {"subject": "Hi", "body": "Hi.", "recipients": ["a@example.com"]}
    yield mail.call("send_email", {**letter, "cc": ["A@example.com"]})
    yield mail.call("send_email", letter)


def _too_many_in_a_day(mail):
    mail.advance(days=2)
    letter = {"subject": "News", "body": "Here they are."}
    for hour in range(3):
        mail.call("send_email", {**letter, "recipients": [f"r{hour}.{n}@example.com" for n in range(15)]})
        mail.advance(hours=1)
    last = {**letter, "recipients": [f"last.{n}@example.com" for n in range(20)]}
    refused = mail.call("send_email", last)  # five are left; fifteen more a day after the first
    yield refused
    message = refused.value["error"]["message"]
    assert f"wait until {mail.clock.now + timedelta(hours=21):%Y-%m-%dT%H:%M:%SZ}" in message
    mail.advance(hours=21)
    yield mail.call("send_email", last)


def _a_draft_to_nobody(mail):
    draft = mail.call("create_draft", {"subject": "Hello", "body": "Hi."}).value["draft_id"]
    yield mail.call("send_draft", {"draft_id": draft})
    mail.call("update_draft", {"draft_id": draft, "recipients": ["a@example.com"]})
    yield mail.call("send_draft", {"draft_id": draft})


ADVICE = (_mail_in_spam, _the_trash_as_a_label, _taking_off_the_trash, _somebody_named_twice, _too_many_in_a_day, _a_draft_to_nobody)


@pytest.mark.parametrize("case", ADVICE)
def test_whoever_follows_the_advice_of_a_refusal_succeeds(mail, case):
    refused, followed = case(mail)
    assert not refused.ok
    assert followed.ok, followed.text


def test_a_forwarded_email_is_quoted_line_by_line_with_its_sender_and_subject(mail):
    sent = mail.call("send_email", {"recipients": ["kim@example.com"], "subject": "Plan", "body": "One.\n\nTwo."}).value
    body = mail.call("forward_email", {"email_id": sent["email_id"], "recipients": ["bo@example.com"], "note": "See below"}).value["body"]
    note, _, *quoted = body.split("\n")
    assert note == "See below"
    assert all(line.startswith(">") for line in quoted)
    assert quoted[-3:] == ["> One.", ">", "> Two."]
    assert "> Subject: Plan" in quoted
    assert f"<{sent['sender_address']}>" in quoted[0]


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_people_write_by_day_and_begin_to_write_about_work_on_working_days(seed):
    mailbox = Session.open("email", seed).servers["email"]
    work = {subject for subject, *_ in WORK}
    written = [e for e in mailbox.emails if not e.sender_address.startswith("no-reply@")]
    assert all(e.sent.hour >= 7 for e in written)
    assert all(i.due.hour >= 7 for i in mailbox.incoming if not i.sender_address.startswith("no-reply@"))
    begun = [e for e in written if e.subject in work]
    assert {e.sent.weekday() for e in begun} <= {0, 1, 2, 3, 4}
    assert begun
