"""One person's mailbox. Where an email is and how it stands (inbox, trash, unread, starred) are labels, as are the owner's own."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import chain

from prove.servers import (
    Day, Limit, Offset, Page, Query, Server, brief, given, matches, newest, page, read, require, some_given, table, write
)  # fmt: skip
from .records import (
    DISCARDED, INBOX, KEPT, KEPT_BY, PLACES, SENT, SPAM, TRASH, UNREAD, Body, Conversation, Copies, Draft, DraftId, Email, EmailId,
    EmailLine, ForwardNote, Incoming, Label, LabelColor, LabelCount, LabelId, LabelKind, LabelName, Mailbox, ReadState, Recipients,
    ReplyAll, Sender, Subject, Thread, ThreadEmail, ThreadId,
)  # fmt: skip

DAY = timedelta(days=1)


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
        since: Day | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[EmailLine]:
        """Find emails, newest first; trash and spam only by their label. The query looks at people, subject and text."""
        found = [e for e in self.emails if since is None or e.sent.date() >= since]
        found = [e for e in found if _shown(e, label_id) and matches(sender, e.sender, e.sender_address)]
        found = [e for e in found if matches(query, e.subject, e.sender, e.sender_address, e.body, *e.recipients, *e.cc)]
        return page(newest(found, lambda e: e.sent), limit, EmailLine, offset)

    @read
    def read_email(self, email_id: EmailId) -> Email:
        """Show one email with its text, addresses and attachments; it stays unread until it is marked as read."""
        return self.emails.get(email_id)

    @read
    def get_thread(self, thread_id: ThreadId) -> Conversation:
        """Show a whole conversation, oldest email first, without what is in the trash or in spam."""
        thread, emails = self.threads.get(thread_id), self.emails.where(thread_id=thread_id)
        shown = [e for e in emails if _shown(e)]
        participants = list(dict.fromkeys(e.sender for e in shown))
        hidden = len(emails) - len(shown)
        return Conversation(thread.thread_id, thread.subject, participants, [brief(e, ThreadEmail) for e in shown], hidden)

    # --- writing

    @read
    def list_drafts(self, query: Query | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[Draft]:
        """List unsent drafts, the last changed first; the query looks at recipients, subject and text."""
        found = [d for d in self.drafts if matches(query, d.subject, d.body, *d.recipients, *d.cc)]
        return page(newest(found, lambda d: d.updated), limit, Draft, offset)

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
        _refuse_twice(recipients or [], cc or [])
        return self.drafts.add(Draft(DraftId(self.drafts.mint()), thread_id, recipients or [], cc or [], subject, body, self.now))

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
        changed = self.drafts.update(draft_id, updated=self.now, **some_given(recipients=recipients, cc=cc, subject=subject, body=body))
        _refuse_twice(changed.recipients, changed.cc)
        return changed

    @write
    def send_draft(self, draft_id: DraftId) -> Email:
        """Send a draft, which is then no longer a draft."""
        draft = self.drafts.get(draft_id)
        nobody = f"draft {draft_id} is addressed to nobody: add a recipient with update_draft first"
        require(draft.recipients, "failed_precondition", nobody)
        self.drafts.remove(draft_id)
        return self._send(draft.recipients, draft.cc, draft.subject, draft.body, draft.thread_id)

    @write
    def send_email(self, recipients: Recipients, subject: Subject, body: Body, cc: Copies | None = None) -> Email:
        """Write to somebody and send it at once; it begins a new thread."""
        return self._send(recipients, cc or [], subject, body)

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
        head = f"From {email.sender} <{email.sender_address}>, {email.sent:%d %B %Y}\nSubject: {email.subject}\n\n"
        body = f"{note}\n\n{_quoted(head + email.body)}".strip()
        return self._send(recipients, [], _prefixed("Fwd", email.subject), body, email.thread_id, email.attachments)

    # --- labels and the state of an email

    @read
    def list_labels(self, kind: LabelKind | None = None, offset: Offset = 0) -> Page[LabelCount]:
        """List the labels with how many emails, and unread ones, a search by each finds."""
        return page((self._counted(x) for x in self.labels.where(**given(kind=kind))), 50, LabelCount, offset)

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

    # --- what happens by itself

    def due(self) -> datetime | None:
        moments = chain((i.due for i in self.incoming), (e.discarded + KEPT for e in self.emails if e.discarded))
        return min((t for t in moments if t > self.now), default=None)

    def elapse(self) -> None:
        for email in [e for e in self.emails if e.discarded and e.discarded + KEPT <= self.now]:
            self._delete_forever(email)
        for new in [i for i in self.incoming if i.due <= self.now]:
            self.incoming.remove(new.incoming_id)
            self._receive(new)

    def _delete_forever(self, email: Email) -> None:
        """With its last email a conversation is gone, unless an answer to it is being written."""
        self.emails.remove(email.email_id)
        left = (*self.emails.where(thread_id=email.thread_id), *self.drafts.where(thread_id=email.thread_id))
        if not left:
            self.threads.remove(email.thread_id)

    def _receive(self, new: Incoming) -> None:
        email_id, thread_id, me = EmailId(self.emails.mint()), self._new_thread(new.subject), [self._me().address]
        texts = (new.subject, new.body, [INBOX, UNREAD])
        self.emails.add(Email(email_id, thread_id, new.due, new.sender, new.sender_address, me, [], *texts))

    # --- rules

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
        _refuse_twice(recipients, cc)
        self._refuse_too_many(len(everybody))
        labels = [INBOX, SENT, UNREAD] if me.address in everybody else [SENT]
        thread_id, email_id = thread_id or self._new_thread(subject), EmailId(self.emails.mint())
        texts = (recipients, cc, subject, body, labels, list(attachments))
        return self.emails.add(Email(email_id, thread_id, self.now, me.name, me.address, *texts))

    def _refuse_too_many(self, wanted: int) -> None:
        """Within a day the mailbox may write to so many addresses; what was sent a day ago no longer counts."""
        limit, free = self._me().daily_limit, self.now
        sent = [e for e in self.emails if SENT in e.labels and e.sent + DAY > self.now]
        left = limit - sum(len(e.recipients) + len(e.cc) for e in sent)
        freed = left
        for email in sent:
            if freed < wanted:
                freed, free = freed + len(email.recipients) + len(email.cc), email.sent + DAY
        full = f"only {left} of {limit} recipients a day are left: wait until {free:%Y-%m-%dT%H:%M:%SZ} to write to {wanted}"
        require(wanted <= left, "resource_exhausted", full)

    def _counted(self, label: Label) -> LabelCount:
        emails = [e for e in self.emails if _shown(e, label.label_id)]
        return LabelCount(label.label_id, label.name, label.kind, label.color, len(emails), sum(UNREAD in e.labels for e in emails))

    def _at_hand(self, email_id: EmailId) -> Email:
        """An email that is not in the trash or in spam."""
        email = self.emails.get(email_id)
        place = next((p for p in (TRASH, SPAM) if p in email.labels), None)
        require(place is None, "failed_precondition", f"{email_id} is in {place}: apply the label INBOX to it first")
        return email

    def _relabelable(self, email_id: EmailId, label_id: LabelId) -> Email:
        require(label_id not in KEPT_BY, "permission_denied", f"{label_id} is not set by hand: {KEPT_BY.get(label_id)}")
        return self.emails.get(email_id)

    def _relabel(self, email: Email, add: Collection[LabelId] = (), drop: Collection[LabelId] = ()) -> Email:
        """Labels stand in the order of their names, so that it does not matter which came first."""
        labels = {*(x for x in email.labels if x not in drop), *add}
        stays = labels & DISCARDED == DISCARDED & set(email.labels)
        discarded = email.discarded if stays else self.now if labels & DISCARDED else None
        return self.emails.update(email.email_id, labels=sorted(labels, key=lambda x: self.labels.get(x).name), discarded=discarded)


def _shown(email: Email, label_id: LabelId | None = None) -> bool:
    """Whether an email is among those of a label, or among all: what is in the trash or in spam, only where that is asked for."""
    return DISCARDED.isdisjoint(email.labels) if label_id is None else label_id in email.labels and not _elsewhere(email, label_id)


def _elsewhere(email: Email, label_id: LabelId) -> bool:
    return not (DISCARDED - {label_id}).isdisjoint(email.labels)


def _refuse_twice(recipients: list[str], cc: list[str]) -> None:
    twice = ", ".join(sorted({*recipients} & {*cc}))
    require(not twice, "invalid_argument", f"{twice}: named in recipients and in cc, leave it out of one of them")


def _quoted(text: str) -> str:
    """A text with the mark of a quotation before each line."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.lower().startswith(f"{prefix.lower()}:") else f"{prefix}: {subject}"
