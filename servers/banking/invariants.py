"""What must hold in a bank: after every call, and of its past."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from prove.servers import Day, Moment, Money

from .records import Account, ScheduledPayment, StandingTransfer, Subscription
from .tools import MOST_DAYS, Banking, morning_of, next_day


def invariants(bank: Banking) -> Iterator[str]:
    moved = Counter[str]()
    for entry in bank.transactions:
        moved[entry.account_id] += entry.amount
    for account in bank.accounts:
        if account.balance != account.opening_balance + moved[account.account_id]:
            yield f"{account.account_id}: the balance {account.balance} is not the opening balance and what moved since"
        if account.balance < -account.overdraft:
            yield f"{account.account_id}: the balance {account.balance} is below the overdraft of {account.overdraft}"
    internal = sum(t.amount for t in bank.transactions.where(kind="transfer"))
    if internal:
        yield f"transfers between own accounts made {internal} cents"
    disputed = Counter(d.transaction_id for d in bank.disputes)
    yield from (f"{key} was disputed {count} times" for key, count in disputed.items() if count > 1)
    says = {"open": "disputed", "refunded": "refunded", "rejected": "posted"}
    for dispute in bank.disputes:
        if bank.transactions.get(dispute.transaction_id).status != says[dispute.status]:
            yield f"{dispute.dispute_id} is {dispute.status}, and its transaction says otherwise"
    for scheduled in bank.scheduled_payments.where(status="pending"):
        if scheduled.payee_id not in bank.payees:
            yield f"{scheduled.scheduled_payment_id} is to a payee that is gone"
        if morning_of(scheduled.day) < bank.now:
            yield f"{scheduled.scheduled_payment_id} should have been paid on {scheduled.day}"
    numbers = Counter([*(p.account_number for p in bank.payees), *(a.number for a in bank.accounts)])
    yield from (f"{count} have the account number {number}" for number, count in numbers.items() if count > 1)


def past(bank: Banking) -> Iterator[str]:
    yield from _one_after_the_other(bank)
    for account in bank.accounts:
        yield from _books(bank, account)
    for scheduled in bank.scheduled_payments:
        yield from _scheduled(bank, scheduled)
    yield from _series(bank)
    yield from _incomes(bank)
    for standing in bank.standing_transfers:
        if standing.amount is None:
            yield from _paid_off(bank, standing)
    for subscription in bank.subscriptions:
        yield from _subscribed(bank, subscription)
    for card in bank.cards:
        if (card.status == "expired") != (card.expires < f"{bank.today:%Y-%m}"):
            yield f"{card.card_id} is {card.status} and good until {card.expires}"
    for dispute in bank.disputes:
        charge = bank.transactions.get(dispute.transaction_id)
        if charge.kind != "card" or not 0 <= (dispute.opened.date() - charge.posted.date()).days <= MOST_DAYS:
            yield f"{dispute.dispute_id} is about a {charge.kind} entry of {charge.posted}, and was opened {dispute.opened}"


def _one_after_the_other(bank: Banking) -> Iterator[str]:
    for before, after in pairwise(bank.transactions):
        if after.posted < before.posted:
            yield f"{after.transaction_id} was posted before {before.transaction_id}"
    for entry in bank.transactions:
        if not bank.accounts.get(entry.account_id).since <= entry.posted.date() <= bank.today:
            yield f"{entry.transaction_id} was posted {entry.posted}, outside the account's books"
        if (entry.amount < 0) != (entry.kind in ("card", "payment")) and entry.kind != "transfer":
            yield f"{entry.transaction_id} is a {entry.kind} entry of {entry.amount}"


def _books(bank: Banking, account: Account) -> Iterator[str]:
    """An account was never below its overdraft, and never let more go on a day than it may."""
    balance, paid = account.opening_balance, Counter[str]()
    for entry in bank.transactions.where(account_id=account.account_id):
        balance += entry.amount
        if balance < -account.overdraft:
            yield f"{account.account_id} was at {balance} after {entry.transaction_id}, below its overdraft"
        if entry.kind == "payment":
            paid[f"{entry.posted:%Y-%m-%d}"] -= entry.amount
        if entry.kind in ("payment", "income") and account.kind == "credit":
            yield f"{entry.transaction_id} is a {entry.kind} on a credit account"
        if account.status != "open":
            yield f"{entry.transaction_id} was posted on {account.account_id}, which is {account.status}"
    yield from (f"{account.account_id} paid {paid[day]} on {day}" for day in paid if paid[day] > account.daily_limit)


def _scheduled(bank: Banking, scheduled: ScheduledPayment) -> Iterator[str]:
    key = scheduled.scheduled_payment_id
    if (scheduled.status == "failed") != (scheduled.problem is not None):
        yield f"{key} is {scheduled.status}, its problem {scheduled.problem}"
    if (scheduled.status == "paid") != (scheduled.transaction_id is not None):
        yield f"{key} is {scheduled.status}, paid by {scheduled.transaction_id}"
    if scheduled.transaction_id:
        entry = bank.transactions.get(scheduled.transaction_id)
        if (entry.account_id, entry.amount, entry.posted) != (scheduled.account_id, -scheduled.amount, morning_of(scheduled.day)):
            yield f"{key} was due {scheduled.day} and paid by {entry}"


def _series(bank: Banking) -> Iterator[str]:
    """What repeats is due once on each of its days, from the first to one that is still to come or was cancelled."""
    repeating: dict[tuple[object, ...], list[ScheduledPayment]] = {}
    for s in bank.scheduled_payments:
        if s.repeats != "once":
            repeating.setdefault((s.account_id, s.payee_id, s.amount, s.first_day, s.repeats), []).append(s)
    for payments in repeating.values():
        ends = [s for s in payments if s.status in ("pending", "cancelled")]
        due = [s.first_day for s in ends]  # that many were set up alike
        for day in sorted(s.day for s in payments):
            if day not in due:
                yield f"{payments[0].payee_id} was due on {day}, which is none of the days of what began on {payments[0].first_day}"
                break
            due[due.index(day)] = next_day(payments[0].first_day, day, payments[0].repeats)


def _incomes(bank: Banking) -> Iterator[str]:
    for income in bank.incomes:
        received = [t for t in bank.transactions.where(account_id=income.account_id, kind="income") if t.counterparty == income.sender]
        days, day = [t.posted.date() for t in received], income.first_day
        for got in [*days, income.day]:
            if got != day:
                yield f"{income.sender} sent nothing on {day}"
                break
            day = next_day(income.first_day, day, "monthly")
    earning = {i.account_id for i in bank.incomes}
    for account in bank.accounts:
        if account.kind == "checking" and account.status == "open" and account.account_id not in earning:
            yield f"{account.account_id} has no income"


def _subscribed(bank: Banking, subscription: Subscription) -> Iterator[str]:
    """A subscription is charged on its days, and is due next on one of them that is still to come."""
    account_id, first = bank.cards.get(subscription.card_id).account_id, subscription.first_day
    due, day = set[Day](), first
    while day < subscription.day:
        due.add(day)
        day = next_day(first, day, "monthly")
    charged = [t.posted.date() for t in bank.transactions.where(account_id=account_id, counterparty=subscription.merchant, kind="card")]
    if len(set(charged)) < len(charged) or set(charged) - due or day != subscription.day or morning_of(day) <= bank.now:
        yield f"{subscription.merchant} charged on {charged}, and will next on {subscription.day}"


def _paid_off(bank: Banking, standing: StandingTransfer) -> Iterator[str]:
    """On its day the card was paid off, if the account could cover it."""
    payer = bank.accounts.get(standing.from_account)
    day = standing.first_day
    while day < standing.day:
        moment = morning_of(day)
        owed = -_balance_at(bank, standing.to_account, moment)
        if 0 < owed <= _balance_at(bank, standing.from_account, moment) + payer.overdraft:
            yield f"{standing.to_account} was not paid off on {day}: {owed} cents were still owed"
        day = next_day(standing.first_day, day, "monthly")


def _balance_at(bank: Banking, account_id: str, moment: Moment) -> Money:
    entries = bank.transactions.where(account_id=account_id)
    return bank.accounts.get(account_id).opening_balance + sum(t.amount for t in entries if t.posted <= moment)
