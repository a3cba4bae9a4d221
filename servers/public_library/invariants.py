"""What must hold in a library after every call, and what a past that its rules have made looks like."""

from collections import Counter
from collections.abc import Iterator

from .records import Copy, Fee, Hold, Loan
from .tools import A_DAY_LATE, CARD, HOLDS, LOANS, MOST_FOR_LATE, RENEWALS, SET_ASIDE, PublicLibrary


def invariants(library: PublicLibrary) -> Iterator[str]:
    yield from (f"{n} members have the address {who}" for who, n in Counter(m.email for m in library.members).items() if n > 1)
    for copy in library.copies:
        yield from _wrong_with_copy(library, copy)
    for member in library.members:
        if len(library.loans.where(member_id=member.member_id, status="out")) > LOANS[member.kind]:
            yield f"{member.member_id} has too much out"
        if sum(h.live for h in library.holds.where(member_id=member.member_id)) > HOLDS:
            yield f"{member.member_id} waits for too much"
    live = Counter((h.title_id, h.member_id) for h in library.holds if h.live)
    yield from (f"{who} holds {title} {n} times" for (title, who), n in live.items() if n > 1)
    for hold in library.holds:
        yield from _wrong_with_hold(library, hold)
    for fee in library.fees:
        yield from _wrong_with_fee(library, fee)


def _wrong_with_copy(library: PublicLibrary, copy: Copy) -> Iterator[str]:
    key = copy.copy_id
    out, lost = (len(library.loans.where(copy_id=key, status=status)) for status in ("out", "lost"))
    ready = len(library.holds.where(copy_id=key, status="ready"))
    if (out, lost, ready) != ((copy.status == "on_loan") * 1, (copy.status == "lost") * 1, (copy.status == "set_aside") * 1):
        yield f"{key} is {copy.status}, with {out} loans out, {lost} lost, and {ready} holds ready"
    if copy.status == "on_shelf" and library.holds.where(title_id=copy.title_id, status="waiting"):
        yield f"{key} is on the shelf, and somebody waits for it"


def _wrong_with_hold(library: PublicLibrary, hold: Hold) -> Iterator[str]:
    if (hold.status == "ready") != (hold.until is not None) or (hold.until and hold.until < library.today):
        yield f"{hold.hold_id} is {hold.status} until {hold.until}"
    if (hold.status in ("ready", "collected")) != (hold.copy_id is not None):
        yield f"{hold.hold_id} is {hold.status} with the copy {hold.copy_id}"
    if hold.copy_id and library.copies.get(hold.copy_id).title_id != hold.title_id:
        yield f"{hold.hold_id} has a copy of another title"


def _wrong_with_fee(library: PublicLibrary, fee: Fee) -> Iterator[str]:
    if (fee.status == "open") != (fee.owed > 0) or fee.owed > fee.amount:
        yield f"{fee.fee_id} is {fee.status}, and {fee.owed} of {fee.amount} are owed"
    if (fee.status == "waived") != (fee.waiver is not None):
        yield f"{fee.fee_id} is {fee.status}, waived for {fee.waiver}"


def past(library: PublicLibrary) -> Iterator[str]:
    for loan in library.loans:
        yield from _never_lent(library, loan)
    for member in library.members:
        good_for = (member.expires - member.since).days
        if member.since > library.today or good_for < CARD.days:
            yield f"{member.member_id} is a member since {member.since}, with a card until {member.expires}"
    for hold in library.holds:
        if hold.placed > library.now or (hold.until and hold.until > library.today + SET_ASIDE):
            yield f"{hold.hold_id} was placed on {hold.placed}, and waits until {hold.until}"


def _never_lent(library: PublicLibrary, loan: Loan) -> Iterator[str]:
    key, member = loan.loan_id, library.members.get(loan.member_id)
    if (loan.status == "out") != (loan.ended is None) or not member.since <= loan.lent <= (loan.ended or library.today) <= library.today:
        yield f"{key} was lent on {loan.lent} and ended on {loan.ended}, to a member since {member.since}"
    if loan.renewals > RENEWALS:
        yield f"{key} was renewed {loan.renewals} times"
    late = (loan.ended - loan.due).days if loan.status == "returned" and loan.ended else 0
    price = library.titles.get(loan.title_id).price
    charged = [(f.reason, f.amount) for f in library.fees.where(loan_id=key)]
    expected = [("lost", price)] if loan.status == "lost" else [("overdue", min(late * A_DAY_LATE, MOST_FOR_LATE))] if late > 0 else []
    if charged != expected:
        yield f"{key} cost {charged} instead of {expected}"
    if library.copies.get(loan.copy_id).title_id != loan.title_id:
        yield f"{key} is of another title than its copy"
