"""What must hold in a mailbox after every call."""

from collections.abc import Iterator
from datetime import timedelta

from servers.email.tools import PLACES, SENT, TRASH, TRASH_DAYS, Mail


def invariants(mail: Mail) -> Iterator[str]:
    me = next(iter(mail.mailboxes))
    names = [label.name.casefold() for label in mail.labels]
    if len(names) != len(set(names)):
        yield "two labels have the same name"
    for email in mail.emails:
        if unknown := [label for label in email.labels if label not in mail.labels]:
            yield f"{email.email_id} carries unknown labels: {unknown}"
        if sum(place in email.labels for place in PLACES) > 1 or len(email.labels) != len(set(email.labels)):
            yield f"{email.email_id} is in two places: {email.labels}"
        if (TRASH in email.labels) != (email.trashed is not None):
            yield f"{email.email_id}: when it was trashed is not known, or it was not"
        if email.trashed and mail.now - email.trashed >= timedelta(days=TRASH_DAYS):
            yield f"{email.email_id} has been in the trash for too long"
        if email.thread_id not in mail.threads:
            yield f"{email.email_id} belongs to no thread"
        if (SENT in email.labels) != (email.sender_address == me.address):
            yield f"{email.email_id} is marked as sent by somebody else, or is not marked"
    for draft in mail.drafts:
        if draft.thread_id and draft.thread_id not in mail.threads:
            yield f"{draft.draft_id} answers in no thread"
    sent = [e for e in mail.emails if SENT in e.labels and mail.now - e.sent < timedelta(days=1)]
    if sum(len(e.recipients) + len(e.cc) for e in sent) > me.daily_limit:
        yield "more was sent in a day than the limit allows"
    if any(i.due <= mail.now for i in mail.incoming):
        yield "an email is late"
