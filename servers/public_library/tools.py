"""The desk of a public library: lending, holds and fees. A copy that comes back goes to whoever has waited longest."""

from datetime import UTC, datetime, time, timedelta

from prove.servers import (
    EmailAddress, Limit, Moment, Money, Offset, Page, PersonName, Query, Server, given, matches, newest, page, read, require, table, write,
)  # fmt: skip
from .records import (
    Copy, CopyId, Fee, FeeId, FeeReason, FeeStatus, Hold, HoldId, HoldStatus, Loan, LoanId, Medium, Member, MemberCard, MemberId,
    MemberKind, MemberLine, Overdue, Payment, Return, Title, TitleCard, TitleId, TitleLine, WaiverReason,
)  # fmt: skip

LENT_FOR = {"book": 21, "audiobook": 21, "film": 7, "board_game": 14}  # days
LOANS = {"adult": 8, "child": 5, "senior": 8}  # at a time
HOLDS = 5  # at a time
RENEWALS = 2
SET_ASIDE = timedelta(days=7)
A_DAY_LATE = 25  # cents
MOST_FOR_LATE = 1000
MOST_OWED = 1000  # with more than that open, nothing is lent
CARD = timedelta(days=365)
RENEWED_FROM = timedelta(days=60)  # before a card expires


class PublicLibrary(Server):
    """Titles, members, loans, holds and fees at the desk of a public library."""

    category = "Community"
    heldout = True

    titles = table(Title, "TTL-{}", start=101)
    copies = table(Copy, "CPY-{}", start=5001)
    members = table(Member, "MEM-{}", start=3001)
    loans = table(Loan, "LOA-{}", start=20001)
    holds = table(Hold, "HLD-{}", start=701)
    fees = table(Fee, "FEE-{}", start=901)

    # --- titles and members

    @read
    def search_titles(
        self, query: Query | None = None, medium: Medium | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[TitleLine]:
        """Find titles by name or author, of one medium or of all, and how many copies of each stand on the shelf."""
        found = [t for t in self.titles.where(**given(medium=medium)) if matches(query, t.name, t.author)]
        return page((self._line(t) for t in found), limit, TitleLine, offset)

    @read
    def get_title(self, title_id: TitleId) -> TitleCard:
        """Show a title with all its copies, and how many members wait for one."""
        return TitleCard(self.titles.get(title_id), self.copies.where(title_id=title_id), len(self._queue(title_id)))

    @read
    def search_members(
        self, query: Query | None = None, kind: MemberKind | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[MemberLine]:
        """Find members by name or email address, or by the kind of card that they have."""
        found = (m for m in self.members.where(**given(kind=kind)) if matches(query, m.name, m.email))
        return page(found, limit, MemberLine, offset)

    @read
    def get_member(self, member_id: MemberId) -> MemberCard:
        """Show a member: what they have out, what they wait for, and how much they owe."""
        out = [x.loan_id for x in self.loans.where(member_id=member_id, status="out")]
        holds = [h.hold_id for h in self.holds.where(member_id=member_id) if h.live]
        return MemberCard(self.members.get(member_id), out, holds, self._owes(member_id))

    @write
    def register_member(self, name: PersonName, email: EmailAddress, kind: MemberKind) -> Member:
        """Give somebody who is not a member yet a card, good for a year."""
        known = ", ".join(m.member_id for m in self.members.where(email=email))
        require(not known, "conflict", f"{email} is the address of member {known} already: renew that membership instead")
        return self.members.add(Member(self.members.mint(), name, email, kind, self.today, self.today + CARD))

    @write
    def renew_membership(self, member_id: MemberId) -> Member:
        """Renew a card that has expired or soon will, for another year; nothing may be owed."""
        member, opens = self.members.get(member_id), self.members.get(member_id).expires - RENEWED_FROM
        early = f"the card of {member_id} is good until {member.expires}: it can be renewed from {opens} on"
        require(self.today >= opens, "failed_precondition", early)
        owes = self._owes(member_id)
        require(not owes, "failed_precondition", f"{member_id} owes {owes} cents: the fees must be paid or waived first")
        return self.members.update(member_id, expires=max(member.expires, self.today) + CARD)

    # --- loans

    @read
    def list_loans(
        self,
        member_id: MemberId | None = None,
        title_id: TitleId | None = None,
        overdue: Overdue | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Loan]:
        """List what is out, the soonest due first: of a member, of a title, late or in time."""
        found = self.loans.where(status="out", **given(member_id=member_id, title_id=title_id))
        found = [x for x in found if overdue in (None, x.due < self.today)]
        return page(sorted(found, key=lambda x: x.due), limit, Loan, offset)

    @write
    def check_out(self, copy_id: CopyId, member_id: MemberId) -> Loan:
        """Lend a copy to a member: one that is on the shelf, or set aside for them."""
        copy, member = self.copies.get(copy_id), self.members.get(member_id)
        self._refuse_lapsed(member)
        owes = self._owes(member_id)
        too_much = f"{member_id} owes {owes} cents, and with more than {MOST_OWED} nothing is lent: take a payment first"
        require(owes <= MOST_OWED, "failed_precondition", too_much)
        out, most = len(self.loans.where(member_id=member_id, status="out")), LOANS[member.kind]
        full = f"{member_id} has {out} loans, and a card of this kind is good for {most}: one must come back"
        require(out < most, "resource_exhausted", full)
        theirs = self.holds.where(title_id=copy.title_id, member_id=member_id, status="ready")
        waits = f"{theirs and theirs[0].copy_id} is set aside for {member_id}, of the same title: lend them that one"
        require(not theirs or theirs[0].copy_id == copy_id, "conflict", waits)
        hold = self._hold_on(copy)
        taken = f"{copy_id} is set aside for another member: lend another copy, or place a hold"
        require(hold is None or hold.member_id == member_id, "conflict", taken)
        gone = f"{copy_id} is {copy.status.replace('_', ' ')}: lend another copy, or place a hold"
        require(copy.status in ("on_shelf", "set_aside"), "failed_precondition", gone)
        if hold:
            self.holds.update(hold.hold_id, status="collected", until=None)
        self.copies.update(copy_id, status="on_loan")
        title, due = self.titles.get(copy.title_id), self.today + self._period(copy.title_id)
        return self.loans.add(Loan(self.loans.mint(), copy_id, title.title_id, title.name, member_id, self.today, due))

    @write
    def check_in(self, copy_id: CopyId) -> Return:
        """Take a copy back; a late one costs its member a fee, and whoever waits for the title gets the copy set aside."""
        copy = self.copies.get(copy_id)
        require(copy.status == "on_loan", "failed_precondition", f"{copy_id} is {copy.status.replace('_', ' ')}, not on loan")
        [loan] = self.loans.where(copy_id=copy_id, status="out")
        loan = self.loans.update(loan.loan_id, status="returned", ended=self.today)
        late = (self.today - loan.due).days
        fee = self._charge(loan, "overdue", min(late * A_DAY_LATE, MOST_FOR_LATE)) if late > 0 else None
        following = self._free(copy)
        return Return(loan, fee, following.hold_id if following else None)

    @write
    def renew_loan(self, loan_id: LoanId) -> Loan:
        """Lend a copy for another period from today on, at most twice, and only if nobody waits for the title."""
        loan = self._out(loan_id)
        self._refuse_lapsed(self.members.get(loan.member_id))
        used = f"{loan_id} has been renewed {loan.renewals} times, which is the most: the copy must come back"
        require(loan.renewals < RENEWALS, "resource_exhausted", used)
        waiting = len(self._queue(loan.title_id))
        require(not waiting, "failed_precondition", f"{waiting} members wait for {loan.title_id}: the copy must come back on {loan.due}")
        due = self.today + self._period(loan.title_id)
        require(due > loan.due, "failed_precondition", f"{loan_id} is due on {loan.due} already: renew it another day")
        return self.loans.update(loan_id, due=due, renewals=loan.renewals + 1)

    @write(destructive=True)
    def report_lost(self, loan_id: LoanId) -> Fee:
        """Note that a member has lost what they have out, and charge them what the title costs."""
        loan = self._out(loan_id)
        self.copies.update(loan.copy_id, status="lost")
        self.loans.update(loan_id, status="lost", ended=self.today)
        return self._charge(loan, "lost", self.titles.get(loan.title_id).price)

    # --- holds

    @read
    def list_holds(
        self,
        title_id: TitleId | None = None,
        member_id: MemberId | None = None,
        status: HoldStatus | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Hold]:
        """List holds in the order in which they were placed; waiting and ready ones, unless another status is named."""
        found = self.holds.where(**given(title_id=title_id, member_id=member_id, status=status))
        return page((h for h in found if status or h.live), limit, Hold, offset)

    @write
    def place_hold(self, title_id: TitleId, member_id: MemberId) -> Hold:
        """Keep the next copy of a title for a member; one that is on the shelf is set aside at once."""
        self._refuse_lapsed(self.members.get(member_id))
        has = self.loans.where(title_id=title_id, member_id=member_id, status="out")
        require(not has, "conflict", f"{member_id} has a copy of {title_id} out: renew that loan instead")
        mine = [h for h in self.holds.where(member_id=member_id) if h.live]
        same = [h.hold_id for h in mine if h.title_id == title_id]
        require(not same, "conflict", f"{member_id} has the hold {', '.join(same)} on {title_id} already")
        full = f"{member_id} has {len(mine)} holds, which is the most: cancel one first"
        require(len(mine) < HOLDS, "resource_exhausted", full)
        copies = self.copies.where(title_id=title_id)
        none_left = f"every copy of {title_id} is lost: choose another title"
        require(any(c.status != "lost" for c in copies), "failed_precondition", none_left)
        hold = self.holds.add(Hold(self.holds.mint(), title_id, self.titles.get(title_id).name, member_id, self.now))
        here = [c for c in copies if c.status == "on_shelf"]
        return self._set_aside(here[0], hold) if here else hold

    @write(destructive=True)
    def cancel_hold(self, hold_id: HoldId) -> Hold:
        """Give up a hold that is waiting or ready; a copy set aside for it goes to whoever is next."""
        hold = self.holds.get(hold_id)
        require(hold.live, "failed_precondition", f"{hold_id} is {hold.status} already")
        self._end(hold, "cancelled")
        return self.holds.get(hold_id)

    # --- fees

    @read
    def list_fees(
        self, member_id: MemberId | None = None, status: FeeStatus | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[Fee]:
        """List fees, newest first: of a member, still open or settled."""
        found = self.fees.where(**given(member_id=member_id, status=status))
        return page(newest(found, lambda f: f.charged), limit, Fee, offset)

    @write
    def pay_fee(self, fee_id: FeeId, amount: Payment | None = None) -> Fee:
        """Take a payment for an open fee: all that is owed, unless an amount is given."""
        fee = self._open_fee(fee_id)
        paid = fee.owed if amount is None else amount
        require(paid <= fee.owed, "invalid_argument", f"{paid} cents are more than the {fee.owed} owed for {fee_id}: take at most that")
        return self.fees.update(fee_id, owed=fee.owed - paid, status="open" if paid < fee.owed else "paid")

    @write
    def waive_fee(self, fee_id: FeeId, reason: WaiverReason) -> Fee:
        """Let a member off what they still owe for a fee."""
        self._open_fee(fee_id)
        return self.fees.update(fee_id, owed=0, status="waived", waiver=reason)

    # --- as time passes

    def due(self) -> Moment | None:
        """When the next hold that nobody collects expires: as the day after its last one begins."""
        last = min((h.until for h in self.holds.where(status="ready") if h.until), default=None)
        return datetime.combine(last + timedelta(days=1), time(), UTC) if last else None

    def elapse(self) -> None:
        """Holds that were not collected expire, and their copies go to whoever is next."""
        for hold in self.holds.where(status="ready"):
            if hold.until and hold.until < self.today:
                self._end(hold, "expired")

    # --- rules

    def _line(self, title: Title) -> TitleLine:
        here = len(self.copies.where(title_id=title.title_id, status="on_shelf"))
        return TitleLine(title.title_id, title.name, title.author, title.medium, here)

    def _queue(self, title_id: TitleId) -> list[Hold]:
        """The holds that wait for a copy, the longest first."""
        return self.holds.where(title_id=title_id, status="waiting")

    def _hold_on(self, copy: Copy) -> Hold | None:
        ready = self.holds.where(copy_id=copy.copy_id, status="ready")
        return ready[0] if ready else None

    def _owes(self, member_id: MemberId) -> Money:
        return sum(f.owed for f in self.fees.where(member_id=member_id, status="open"))

    def _period(self, title_id: TitleId) -> timedelta:
        return timedelta(days=LENT_FOR[self.titles.get(title_id).medium])

    def _out(self, loan_id: LoanId) -> Loan:
        loan = self.loans.get(loan_id)
        require(loan.status == "out", "failed_precondition", f"{loan_id} is {loan.status} since {loan.ended}")
        return loan

    def _open_fee(self, fee_id: FeeId) -> Fee:
        fee = self.fees.get(fee_id)
        require(fee.status == "open", "failed_precondition", f"{fee_id} is {fee.status} already: nothing is owed for it")
        return fee

    def _refuse_lapsed(self, member: Member) -> None:
        lapsed = f"the card of {member.member_id} expired on {member.expires}: renew the membership first"
        require(member.expires >= self.today, "failed_precondition", lapsed)

    def _charge(self, loan: Loan, reason: FeeReason, amount: Money) -> Fee:
        return self.fees.add(Fee(self.fees.mint(), loan.member_id, loan.loan_id, reason, amount, amount, self.today))

    def _set_aside(self, copy: Copy, hold: Hold) -> Hold:
        self.copies.update(copy.copy_id, status="set_aside")
        return self.holds.update(hold.hold_id, status="ready", copy_id=copy.copy_id, until=self.today + SET_ASIDE)

    def _free(self, copy: Copy) -> Hold | None:
        """A copy that nobody has any more: set aside for whoever is next, or put on the shelf."""
        waiting = self._queue(copy.title_id)
        if waiting:
            return self._set_aside(copy, waiting[0])
        self.copies.update(copy.copy_id, status="on_shelf")
        return None

    def _end(self, hold: Hold, status: HoldStatus) -> None:
        self.holds.update(hold.hold_id, status=status, copy_id=None, until=None)
        if hold.copy_id:
            self._free(self.copies.get(hold.copy_id))
