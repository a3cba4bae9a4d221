"""What a library keeps: titles and their copies, members, loans, holds and fees. Money is in cents."""

from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, EmailAddress, Meta, Moment, Money, PersonName, Record

TitleId = NewType("TitleId", str)
CopyId = NewType("CopyId", str)
MemberId = NewType("MemberId", str)
LoanId = NewType("LoanId", str)
HoldId = NewType("HoldId", str)
FeeId = NewType("FeeId", str)

TitleName = Annotated[str, Meta(min_length=1, max_length=80, description="what a title is called")]
Author = Annotated[str, Meta(min_length=1, max_length=100, description="who wrote, spoke, directed or designed it")]
Medium = Annotated[Literal["book", "audiobook", "film", "board_game"], Meta(description="what kind of thing is lent")]
CopyStatus = Annotated[
    Literal["on_shelf", "on_loan", "set_aside", "lost"],
    Meta(description="where a copy is; set aside for the member whose hold is ready"),
]
MemberKind = Annotated[Literal["adult", "child", "senior"], Meta(description="which card a member has")]
LoanStatus = Annotated[Literal["out", "returned", "lost"], Meta(description="out until the copy comes back, or is reported lost")]
Overdue = Annotated[bool, Meta(description="true for loans that should be back by now, false for those that are out in time")]
HoldStatus = Annotated[
    Literal["waiting", "ready", "collected", "cancelled", "expired"],
    Meta(description="waiting until a copy is free, then ready for a week; collected once it is lent"),
]
FeeReason = Annotated[Literal["overdue", "lost"], Meta(description="what a fee is for")]
FeeStatus = Annotated[Literal["open", "paid", "waived"], Meta(description="whether a fee is still owed")]
Payment = Annotated[Cents, Meta(description="how much of a fee is paid, an amount in cents")]
WaiverReason = Annotated[
    Literal["hardship", "library_error", "illness", "first_time"], Meta(description="why the library lets a member off a fee")
]


class Title(Record):
    title_id: TitleId
    name: TitleName
    author: Author
    medium: Medium
    year: int
    price: Money  # what a lost copy costs


class Copy(Record):
    copy_id: CopyId
    title_id: TitleId
    status: CopyStatus = "on_shelf"


class Member(Record):
    member_id: MemberId
    name: PersonName
    email: EmailAddress
    kind: MemberKind
    since: Day
    expires: Day  # the last day on which the card is good


class Loan(Record):
    loan_id: LoanId
    copy_id: CopyId
    title_id: TitleId
    title: TitleName
    member_id: MemberId
    lent: Day
    due: Day
    renewals: int = 0
    status: LoanStatus = "out"
    ended: Day | None = None


class Hold(Record):
    hold_id: HoldId
    title_id: TitleId
    title: TitleName
    member_id: MemberId
    placed: Moment
    status: HoldStatus = "waiting"
    copy_id: CopyId | None = None  # the one set aside
    until: Day | None = None  # the last day on which a ready one can be collected

    @property
    def live(self) -> bool:
        return self.status in ("waiting", "ready")


class Fee(Record):
    fee_id: FeeId
    member_id: MemberId
    loan_id: LoanId
    reason: FeeReason
    amount: Money  # as it was charged
    owed: Money  # what is left of it
    charged: Day
    status: FeeStatus = "open"
    waiver: WaiverReason | None = None


class TitleLine(Record):
    title_id: TitleId
    name: TitleName
    author: Author
    medium: Medium
    on_shelf: int


class TitleCard(Record):
    title: Title
    copies: list[Copy]
    waiting: int


class MemberLine(Record):
    member_id: MemberId
    name: PersonName
    kind: MemberKind
    expires: Day


class MemberCard(Record):
    member: Member
    loans: list[LoanId]
    holds: list[HoldId]
    owed: Money


class Return(Record):
    loan: Loan
    fee: Fee | None
    next_hold: HoldId | None  # for whom the copy is set aside now
