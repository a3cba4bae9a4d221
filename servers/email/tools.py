"""One person's mailbox. Where an email is and how it stands (inbox, trash, unread, starred) are labels, as are the owner's own."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Annotated, Literal, NewType

from msgspec import structs

from prove.servers import (
    Day,
    EmailAddress,
    Limit,
    Meta,
    Moment,
    Page,
    Query,
    Record,
    Server,
    brief,
    matches,
    page,
    read,
    require,
    some_given,
    table,
    write,
)

EmailId = NewType("EmailId", str)
ThreadId = NewType("ThreadId", str)
DraftId = NewType("DraftId", str)
LabelId = NewType("LabelId", str)

Sender = Annotated[str, Meta(min_length=1, max_length=80, description="the name of who sent it")]
Recipients = Annotated[list[EmailAddress], Meta(max_length=20, description="whom it goes to")]
Copies = Annotated[list[EmailAddress], Meta(max_length=20, description="who else gets a copy")]
Subject = Annotated[str, Meta(max_length=200, description="the subject line")]
Body = Annotated[str, Meta(max_length=10_000, description="the text of the email")]
ForwardNote = Annotated[str, Meta(max_length=2_000, description="what to say above the forwarded email")]
IsUnread = Annotated[bool, Meta(description="true for unread emails only, false for read ones only")]
ReplyAll = Annotated[bool, Meta(description="whether everybody on the email gets the reply, not just its sender")]
ReadState = Annotated[Literal["read", "unread"], Meta(description="how the email should stand")]
LabelName = Annotated[str, Meta(min_length=1, max_length=40, description="what the label is called")]
LabelColor = Annotated[
    Literal["red", "orange", "yellow", "green", "blue", "purple", "grey"], Meta(description="the colour in which the label is shown")
]
LabelKind = Annotated[Literal["system", "user"], Meta(description="built into every mailbox, or made by its owner")]

INBOX, UNREAD, SENT, SPAM, TRASH = map(LabelId, ("INBOX", "UNREAD", "SENT", "SPAM", "TRASH"))
PLACES = (INBOX, SPAM, TRASH)  # an email is in one of them, or archived
KEPT_BY = {TRASH: "delete_email puts it there, INBOX takes it out", SENT: "only sending puts it there"}
TRASH_DAYS = 30


class Mailbox(Record):
    address: EmailAddress
    name: Sender
    daily_limit: int  # to how many addresses it may send within a day


class Label(Record):
    label_id: LabelId
    name: LabelName
    kind: LabelKind = "user"
    color: LabelColor | None = None


class Thread(Record):
    thread_id: ThreadId
    subject: Subject


class Email(Record):
    email_id: EmailId
    thread_id: ThreadId
    sent: Moment
    sender: Sender
    sender_address: EmailAddress
    recipients: Recipients
    cc: Copies
    subject: Subject
    body: Body
    labels: list[LabelId]
    attachments: list[str] = []
    trashed: Moment | None = None  # thirty days later it is gone


class Draft(Record):
    draft_id: DraftId
    thread_id: ThreadId | None
    recipients: Recipients
    cc: Copies
    subject: Subject
    body: Body
    updated: Moment


class Incoming(Record):
    """An email on its way: it arrives when the clock gets there."""

    incoming_id: str
    due: Moment
    sender: Sender
    sender_address: EmailAddress
    subject: Subject
    body: Body
    thread_id: ThreadId | None = None


class EmailLine(Record):
    email_id: EmailId
    thread_id: ThreadId
    sent: Moment
    sender: Sender
    subject: Subject
    labels: list[LabelId]


class DraftLine(Record):
    draft_id: DraftId
    subject: Subject
    recipients: Recipients
    updated: Moment


class LabelCount(Record):
    label_id: LabelId
    name: LabelName
    kind: LabelKind
    emails: int
    unread: int


class ThreadEmail(Record):
    email_id: EmailId
    sent: Moment
    sender: Sender
    recipients: Recipients
    body: Body
    labels: list[LabelId]


class Conversation(Record):
    thread_id: ThreadId
    subject: Subject
    participants: list[Sender]
    emails: list[ThreadEmail]


class Mail(Server):
    """One person's mailbox: search, threads, drafts, sending and labels."""

    category = "Productivity"

    mailboxes = table(Mailbox)
    labels = table(Label, "Label_{}", start=1)
    threads = table(Thread, "THR-{}", start=3001)
    emails = table(Email, "MSG-{}", start=61001)  # kept in the order of time
    drafts = table(Draft, "DRF-{}", start=801)
    incoming = table(Incoming, "INC-{}")

    # --- finding and reading

    @read
    def search_emails(
        self,
        query: Query | None = None,
        sender: Sender | None = None,
        label_id: LabelId | None = None,
        unread: IsUnread | None = None,
        since: Day | None = None,
        limit: Limit = 10,
    ) -> Page[EmailLine]:
        """Find emails, newest first; trash and spam only by their label. The query looks at sender, subject and text."""
        if label_id:
            self.labels.get(label_id)
        hidden = {SPAM, TRASH} - {label_id}
        found = (e for e in reversed(list(self.emails)) if hidden.isdisjoint(e.labels) and label_id in (None, *e.labels))
        found = (e for e in found if matches(query, e.subject, e.sender, e.sender_address, e.body) and matches(sender, e.sender))
        found = (e for e in found if unread in (None, UNREAD in e.labels) and (since is None or e.sent.date() >= since))
        return page(found, limit, EmailLine)

    @read
    def read_email(self, email_id: EmailId) -> Email:
        """Show one email with its text, addresses and attachments; it stays unread until it is marked as read."""
        return self.emails.get(email_id)

    @read
    def get_thread(self, thread_id: ThreadId) -> Conversation:
        """Show a whole conversation, oldest email first, without what is in the trash."""
        thread = self.threads.get(thread_id)
        emails = [e for e in self.emails.where(thread_id=thread_id) if TRASH not in e.labels]
        participants = list(dict.fromkeys(e.sender for e in emails))
        return Conversation(thread.thread_id, thread.subject, participants, [brief(e, ThreadEmail) for e in emails])

    # --- writing

    @read
    def list_drafts(self, query: Query | None = None, limit: Limit = 10) -> Page[DraftLine]:
        """List unsent drafts, the last changed first; the query looks at subject and text."""
        found = [d for d in self.drafts if matches(query, d.subject, d.body)]
        return page(sorted(found, key=lambda d: d.updated, reverse=True), limit, DraftLine)

    @write
    def create_draft(
        self,
        subject: Subject,
        body: Body,
        recipients: Recipients | None = None,
        cc: Copies | None = None,
        in_reply_to: EmailId | None = None,
    ) -> Draft:
        """Save an email without sending it, if wanted as an answer in the thread of another; recipients may be added later."""
        thread_id = self._at_hand(in_reply_to).thread_id if in_reply_to else None
        return self.drafts.add(Draft(DraftId(self.drafts.mint()), thread_id, *_addresses(recipients, cc), subject, body, self.now))

    @write(idempotent=True)
    def update_draft(
        self,
        draft_id: DraftId,
        recipients: Recipients | None = None,
        cc: Copies | None = None,
        subject: Subject | None = None,
        body: Body | None = None,
    ) -> Draft:
        """Replace parts of a draft: what is given takes the place of what was there."""
        draft = self.drafts.get(draft_id)
        new = structs.replace(draft, updated=self.now, **some_given(recipients=recipients, cc=cc, subject=subject, body=body))
        recipients, cc = _addresses(new.recipients, new.cc)
        return self.drafts.update(draft_id, recipients=recipients, cc=cc, subject=new.subject, body=new.body, updated=new.updated)

    @write
    def send_draft(self, draft_id: DraftId) -> Email:
        """Send a draft, which is then no longer a draft."""
        draft = self.drafts.get(draft_id)
        require(
            draft.recipients, "failed_precondition", f"draft {draft_id} is addressed to nobody: add a recipient with update_draft first"
        )
        self.drafts.remove(draft_id)
        return self._send(draft.recipients, draft.cc, draft.subject, draft.body, draft.thread_id)

    @write
    def send_email(self, recipients: Recipients, subject: Subject, body: Body, cc: Copies | None = None) -> Email:
        """Write to somebody and send it at once; it begins a new thread."""
        return self._send(*_addresses(recipients, cc), subject, body)

    @write
    def reply_email(self, email_id: EmailId, body: Body, reply_all: ReplyAll = False) -> Email:
        """Answer an email within its thread."""
        email, me = self._at_hand(email_id), self._me()
        recipients = email.recipients if email.sender_address == me.address else [email.sender_address]
        others = [a for a in dict.fromkeys([*email.recipients, *email.cc]) if a not in (me.address, *recipients)]
        return self._send(recipients, others if reply_all else [], _prefixed("Re", email.subject), body, email.thread_id)

    @write
    def forward_email(self, email_id: EmailId, recipients: Recipients, note: ForwardNote = "") -> Email:
        """Send an email on to somebody else, with its attachments."""
        email = self._at_hand(email_id)
        body = f"{note}\n\n> From {email.sender}, {email.sent:%d %B %Y}\n> {email.body}".strip()
        return self._send(*_addresses(recipients, []), _prefixed("Fwd", email.subject), body, email.thread_id, email.attachments)

    # --- labels and the state of an email

    @read
    def list_labels(self, kind: LabelKind | None = None) -> Page[LabelCount]:
        """List the labels with how many emails, and unread ones, carry each."""
        emails = Counter(label for e in self.emails for label in e.labels)
        unread = Counter(label for e in self.emails if UNREAD in e.labels for label in e.labels)
        shown = (x for x in self.labels if kind in (None, x.kind))
        return page([LabelCount(x.label_id, x.name, x.kind, emails[x.label_id], unread[x.label_id]) for x in shown], 50, LabelCount)

    @write
    def create_label(self, name: LabelName, color: LabelColor | None = None) -> Label:
        """Make a new label; no two may have the same name."""
        same = [x.label_id for x in self.labels if x.name.casefold() == name.casefold()]
        require(not same, "conflict", f"there is a label {name!r} already: {', '.join(same)}")
        return self.labels.add(Label(LabelId(self.labels.mint()), name, "user", color))

    @write
    def apply_label(self, email_id: EmailId, label_id: LabelId) -> Email:
        """Put a label on an email; INBOX also takes it out of the archive, the trash or spam."""
        email = self._relabelable(email_id, label_id)
        require(label_id not in email.labels, "conflict", f"{email_id} carries {label_id} already")
        return self._relabel(email, add=[label_id], drop=PLACES if label_id in PLACES else ())

    @write
    def remove_label(self, email_id: EmailId, label_id: LabelId) -> Email:
        """Take a label off an email."""
        email = self._relabelable(email_id, label_id)
        require(label_id in email.labels, "failed_precondition", f"{email_id} does not carry {label_id}, only {', '.join(email.labels)}")
        return self._relabel(email, drop=[label_id])

    @write
    def archive_email(self, email_id: EmailId) -> Email:
        """Move an email out of the inbox and keep it."""
        email = self._at_hand(email_id)
        require(INBOX in email.labels, "failed_precondition", f"{email_id} is not in the inbox")
        return self._relabel(email, drop=[INBOX])

    @write(destructive=True)
    def delete_email(self, email_id: EmailId) -> Email:
        """Move an email to the trash, where it is kept for 30 days."""
        email = self.emails.get(email_id)
        require(TRASH not in email.labels, "failed_precondition", f"{email_id} is in the trash already")
        return self._relabel(email, add=[TRASH], drop=PLACES)

    @write(idempotent=True)
    def set_read_state(self, email_id: EmailId, state: ReadState) -> Email:
        """Mark an email as read or as unread."""
        email = self.emails.get(email_id)
        return self._relabel(email, drop=[UNREAD]) if state == "read" else self._relabel(email, add=[UNREAD])

    # --- rules

    def elapse(self) -> None:
        for email in [e for e in self.emails if e.trashed and self.now - e.trashed >= timedelta(days=TRASH_DAYS)]:
            self.emails.remove(email.email_id)
        for new in sorted((i for i in self.incoming if i.due <= self.now), key=lambda i: i.due):
            self.incoming.remove(new.incoming_id)
            self._receive(new)

    def _receive(self, new: Incoming) -> None:
        thread_id = new.thread_id or self._new_thread(new.subject)
        email_id, me = EmailId(self.emails.mint()), [self._me().address]
        texts = (new.subject, new.body, [INBOX, UNREAD])
        self.emails.add(Email(email_id, thread_id, new.due, new.sender, new.sender_address, me, [], *texts))

    def _me(self) -> Mailbox:
        return self.mailboxes.one()

    def _new_thread(self, subject: str) -> ThreadId:
        return self.threads.add(Thread(ThreadId(self.threads.mint()), subject)).thread_id

    def _send(
        self,
        recipients: list[str],
        cc: list[str],
        subject: str,
        body: str,
        thread_id: ThreadId | None = None,
        attachments: Sequence[str] = (),
    ) -> Email:
        me, everybody = self._me(), [*recipients, *cc]
        require(recipients, "invalid_argument", "an email needs at least one recipient")
        sent = [e for e in self.emails if SENT in e.labels and self.now - e.sent < timedelta(days=1)]
        left = me.daily_limit - sum(len(e.recipients) + len(e.cc) for e in sent)
        require(len(everybody) <= left, "resource_exhausted", f"only {left} of {me.daily_limit} recipients a day are left")
        labels = [INBOX, SENT, UNREAD] if me.address in everybody else [SENT]
        thread_id, email_id = thread_id or self._new_thread(subject), EmailId(self.emails.mint())
        texts = (recipients, cc, subject, body, labels, list(attachments))
        return self.emails.add(Email(email_id, thread_id, self.now, me.name, me.address, *texts))

    def _at_hand(self, email_id: EmailId) -> Email:
        """An email that is not in the trash or in spam."""
        email = self.emails.get(email_id)
        place = next((p for p in (TRASH, SPAM) if p in email.labels), None)
        require(place is None, "failed_precondition", f"{email_id} is in {place}: apply the label INBOX to it first")
        return email

    def _relabelable(self, email_id: EmailId, label_id: LabelId) -> Email:
        self.labels.get(label_id)
        require(label_id not in KEPT_BY, "permission_denied", f"{label_id} is not set by hand: {KEPT_BY.get(label_id)}")
        return self.emails.get(email_id)

    def _relabel(self, email: Email, add: Collection[LabelId] = (), drop: Collection[LabelId] = ()) -> Email:
        """Labels stand in the order of their names, so that it does not matter which came first."""
        labels = {*(x for x in email.labels if x not in drop), *add}
        trashed = email.trashed or self.now if TRASH in labels else None
        return self.emails.update(email.email_id, labels=sorted(labels, key=lambda x: self.labels.get(x).name), trashed=trashed)


def _addresses(recipients: list[str] | None, cc: list[str] | None) -> tuple[list[str], list[str]]:
    """Both lists in lower case. Nobody may be named twice."""
    first, second = ([address.lower() for address in some or []] for some in (recipients, cc))
    twice = [address for address, times in Counter([*first, *second]).items() if times > 1]
    require(not twice, "invalid_argument", f"{', '.join(twice)}: named twice among the recipients")
    return first, second


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.lower().startswith(f"{prefix.lower()}:") else f"{prefix}: {subject}"
