"""What a mailbox holds: emails in threads, labels, drafts. Where an email is and how it stands are labels too."""

from datetime import timedelta
from typing import Annotated, Literal, NewType

from prove.servers import EmailAddress, Meta, Moment, Record, Unordered

EmailId = NewType("EmailId", str)
ThreadId = NewType("ThreadId", str)
DraftId = NewType("DraftId", str)
LabelId = NewType("LabelId", str)

Sender = Annotated[
    str,
    Meta(min_length=1, max_length=80, description="the name or the address of who sent it", extra_json_schema={"x-normal": "words"}),
]
Recipients = Annotated[Unordered[list[EmailAddress]], Meta(max_length=20, description="whom it goes to")]
Copies = Annotated[Unordered[list[EmailAddress]], Meta(max_length=20, description="who else gets a copy")]
Subject = Annotated[str, Meta(max_length=200, description="the subject line")]
Body = Annotated[str, Meta(min_length=1, max_length=10_000, description="the text of the email")]
ForwardNote = Annotated[str, Meta(max_length=2_000, description="what to say above the forwarded email")]
ReplyAll = Annotated[bool, Meta(description="whether everybody on the email gets the reply, not just its sender")]
ReadState = Annotated[Literal["read", "unread"], Meta(description="how the email should stand")]
LabelName = Annotated[str, Meta(min_length=1, max_length=40, description="what the label is called")]
LabelColor = Annotated[
    Literal["red", "orange", "yellow", "green", "blue", "purple", "grey"], Meta(description="the colour in which the label is shown")
]
LabelKind = Annotated[Literal["system", "user"], Meta(description="built into every mailbox, or made by its owner")]

INBOX, UNREAD, SENT, SPAM, TRASH = map(LabelId, ("INBOX", "UNREAD", "SENT", "SPAM", "TRASH"))
PLACES = (INBOX, SPAM, TRASH)  # an email is in one of them, or archived
DISCARDED = {SPAM, TRASH}  # what is there is shown only where one looks for it, and gone after a while
KEPT_BY = {TRASH: "delete_email puts an email there, and the label INBOX takes it out", SENT: "only sending puts it there"}
KEPT = timedelta(days=30)


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
    discarded: Moment | None = None  # when it came into the trash or into spam; thirty days later it is gone


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


class EmailLine(Record):
    email_id: EmailId
    thread_id: ThreadId
    sent: Moment
    sender: Sender
    subject: Subject
    labels: list[LabelId]


class LabelCount(Record):
    label_id: LabelId
    name: LabelName
    kind: LabelKind
    color: LabelColor | None
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
    discarded: int  # how many more are in the trash or in spam
