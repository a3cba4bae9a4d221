"""What must hold in a mailbox after every call, and what its past looks like."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from .records import DISCARDED, KEPT, PLACES, SENT, Email
from .tools import Mail


def invariants(mail: Mail) -> Iterator[str]:
    me = mail.mailboxes.one()
    names = [label.name.casefold() for label in mail.labels]
    if len(names) != len(set(names)):
        yield "two labels have the same name"
    for email in mail.emails:
        if unknown := [label for label in email.labels if label not in mail.labels]:
            yield f"{email.email_id} carries unknown labels: {unknown}"
        if sum(place in email.labels for place in PLACES) > 1 or len(email.labels) != len(set(email.labels)):
            yield f"{email.email_id} is in two places: {email.labels}"
        if DISCARDED.isdisjoint(email.labels) != (email.discarded is None):
            yield f"{email.email_id}: when it was thrown away is not known, or it was not"
        if email.discarded and mail.now - email.discarded >= KEPT:
            yield f"{email.email_id} has been in the trash or in spam for too long"
        if email.thread_id not in mail.threads:
            yield f"{email.email_id} belongs to no thread"
        if (SENT in email.labels) != (email.sender_address == me.address):
            yield f"{email.email_id} is marked as sent by somebody else, or is not marked"
        if {*email.recipients} & {*email.cc}:
            yield f"{email.email_id} goes to somebody twice"
    for draft in mail.drafts:
        if draft.thread_id and draft.thread_id not in mail.threads:
            yield f"{draft.draft_id} answers in no thread"
        if {*draft.recipients} & {*draft.cc}:
            yield f"{draft.draft_id} goes to somebody twice"
    used = {record.thread_id for record in (*mail.emails, *mail.drafts)}
    yield from (f"{thread.thread_id} holds nothing" for thread in mail.threads if thread.thread_id not in used)
    sent = [e for e in mail.emails if SENT in e.labels and mail.now - e.sent < timedelta(days=1)]
    if sum(len(e.recipients) + len(e.cc) for e in sent) > me.daily_limit:
        yield "more was sent in a day than the limit allows"
    if any(i.due <= mail.now for i in mail.incoming):
        yield "an email is late"


def past(mail: Mail) -> Iterator[str]:
    """Mail comes in the order of time and to the owner, and in a thread write only those whom it was addressed to."""
    me, threads = mail.mailboxes.one().address, dict[str, list[Email]]()
    for one, other in pairwise(mail.emails):
        if other.sent < one.sent:
            yield f"{other.email_id} is older than {one.email_id} before it"
    for email in mail.emails:
        threads.setdefault(email.thread_id, []).append(email)
        if email.sent > mail.now or (email.discarded and not email.sent <= email.discarded <= mail.now):
            yield f"{email.email_id} was sent, or thrown away, before its time"
        if SENT not in email.labels and me not in (*email.recipients, *email.cc):
            yield f"{email.email_id} was not sent to the owner"
    for emails in threads.values():
        known = {me, emails[0].sender_address}
        for email in emails:
            if email.sender_address not in known:
                yield f"{email.email_id} is by {email.sender_address}, to whom nothing in its thread was addressed"
            known |= {email.sender_address, *email.recipients, *email.cc}
    for draft in mail.drafts:
        if draft.updated > mail.now or (draft.thread_id in threads and draft.updated < threads[draft.thread_id][0].sent):
            yield f"{draft.draft_id} was written before what it answers, or later than now"
