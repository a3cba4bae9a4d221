"""Retail banking for one signed-in customer. Money is in cents; outgoing payments need the customer's PIN."""

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Literal, NewType

from dateutil.relativedelta import relativedelta

from prove.servers import (
    Cents,
    Day,
    Limit,
    Meta,
    Moment,
    Money,
    Month,
    Page,
    PersonName,
    Query,
    Record,
    Secret,
    Server,
    matches,
    page,
    read,
    require,
    table,
    write,
)

AccountId = NewType("AccountId", str)
TransactionId = NewType("TransactionId", str)
PayeeId = NewType("PayeeId", str)
ScheduledPaymentId = NewType("ScheduledPaymentId", str)
CardId = NewType("CardId", str)
DisputeId = NewType("DisputeId", str)

AccountKind = Annotated[Literal["checking", "savings", "credit"], Meta(description="what sort of account")]
AccountNumber = Annotated[str, Meta(pattern=r"^\d{10}$", description="a payee's bank account number, ten digits")]
Memo = Annotated[str, Meta(max_length=80, description="what the payment is for, as the payee will see it")]
Pin = Annotated[Secret[str], Meta(pattern=r"^\d{4}$", description="the customer's four-digit PIN, which only they can tell")]
Reason = Annotated[
    Literal["not_recognised", "wrong_amount", "charged_twice", "not_received"],
    Meta(description="what is wrong with the charge"),
]
Repeats = Annotated[Literal["once", "weekly", "monthly"], Meta(description="how often the payment is made")]


class Customer(Record):
    customer_id: str
    name: PersonName
    pin: Pin


class Account(Record):
    account_id: AccountId
    name: str
    kind: AccountKind
    number: str
    status: Literal["open", "frozen", "closed"]
    opening_balance: Money
    balance: Money
    overdraft: Money  # how far below zero it may go
    daily_limit: Money  # how much may leave it on one day


class Transaction(Record):
    transaction_id: TransactionId
    account_id: AccountId
    posted: Moment
    amount: Money
    counterparty: str
    memo: str
    status: Literal["posted", "disputed"] = "posted"


class Payee(Record):
    payee_id: PayeeId
    name: PersonName
    account_number: AccountNumber


class ScheduledPayment(Record):
    scheduled_payment_id: ScheduledPaymentId
    account_id: AccountId
    payee_id: PayeeId
    amount: Cents
    day: Day
    repeats: Repeats
    status: Literal["pending", "paid", "failed", "cancelled"] = "pending"


class Card(Record):
    card_id: CardId
    account_id: AccountId
    kind: Literal["debit", "credit"]
    last_four: str
    status: Literal["active", "frozen", "expired"]


class Dispute(Record):
    dispute_id: DisputeId
    transaction_id: TransactionId
    reason: Reason
    opened: Moment
    status: Literal["open", "resolved"] = "open"


class AccountLine(Record):
    account_id: AccountId
    name: str
    kind: AccountKind
    number: str


class TransactionLine(Record):
    transaction_id: TransactionId
    posted: Moment
    amount: Money
    counterparty: str


class Statement(Record):
    account_id: AccountId
    month: Month
    opening_balance: Money
    money_in: Money
    money_out: Money
    closing_balance: Money
    transactions: int


class Transfer(Record):
    sent: Transaction
    received: Transaction


class Banking(Server):
    """Accounts, payments, cards and disputes of one bank customer."""

    category = "Finance"

    customers = table(Customer)
    accounts = table(Account, "ACC-{}", start=4001)
    transactions = table(Transaction, "TXN-{}", start=70001)
    payees = table(Payee, "PAY-{}", start=201)
    scheduled_payments = table(ScheduledPayment, "SCH-{}", start=501)
    cards = table(Card, "CRD-{}", start=11)
    disputes = table(Dispute, "DSP-{}", start=901)

    # --- accounts and what happened on them

    @read
    def list_accounts(self, kind: AccountKind | None = None) -> Page[AccountLine]:
        """List the customer's accounts, without their balances."""
        return page((a for a in self.accounts if kind in (None, a.kind)), 50, AccountLine)

    @read
    def get_account(self, account_id: AccountId) -> Account:
        """Show one account: its balance, status, overdraft and daily limit."""
        return self.accounts.get(account_id)

    @read
    def list_transactions(
        self, account_id: AccountId, query: Query | None = None, since: Day | None = None, until: Day | None = None, limit: Limit = 10
    ) -> Page[TransactionLine]:
        """List an account's transactions, newest first; query looks at counterparty and memo."""
        self.accounts.get(account_id)
        entries = reversed(self.transactions.where(account_id=account_id))  # they are kept in the order of time
        found = [t for t in entries if matches(query, t.counterparty, t.memo)]
        if since or until:
            found = [t for t in found if (since or date.min) <= t.posted.date() <= (until or date.max)]
        return page(found, limit, TransactionLine)

    @read
    def get_transaction(self, transaction_id: TransactionId) -> Transaction:
        """Show one transaction with its memo and whether it is disputed."""
        return self.transactions.get(transaction_id)

    @read
    def get_statement(self, account_id: AccountId, month: Month) -> Statement:
        """Sum up one month of an account: opening and closing balance, money in and money out."""
        account = self.accounts.get(account_id)
        first = date.fromisoformat(f"{month}-01")
        require(first <= self.today, "failed_precondition", f"{month} has not begun yet: ask for a month up to {self.today:%Y-%m}")
        entries = self.transactions.where(account_id=account_id)
        opening = account.opening_balance + sum(t.amount for t in entries if t.posted.date() < first)
        amounts = [t.amount for t in entries if first <= t.posted.date() < first + relativedelta(months=1)]
        money_in, money_out = sum(a for a in amounts if a > 0), -sum(a for a in amounts if a < 0)
        return Statement(account_id, month, opening, money_in, money_out, opening + money_in - money_out, len(amounts))

    # --- moving money

    @write
    def transfer_between_accounts(self, from_account: AccountId, to_account: AccountId, amount: Cents) -> Transfer:
        """Move money between two of the customer's own accounts."""
        require(from_account != to_account, "invalid_argument", "from_account and to_account are the same account")
        source, target = self._open_account(from_account), self._open_account(to_account)
        sent = self._post(source, -amount, target.name, "Transfer")
        return Transfer(sent, self._post(target, amount, source.name, "Transfer"))

    @write
    def send_payment(self, account_id: AccountId, payee_id: PayeeId, amount: Cents, pin: Pin, memo: Memo = "") -> Transaction:
        """Pay a saved payee now; the customer's PIN confirms it."""
        account, payee = self._open_account(account_id), self.payees.get(payee_id)
        self._check_pin(pin)
        self._check_daily_limit(account, amount)
        return self._post(account, -amount, payee.name, memo)

    @write
    def schedule_payment(
        self, account_id: AccountId, payee_id: PayeeId, amount: Cents, day: Day, repeats: Repeats = "once"
    ) -> ScheduledPayment:
        """Set up a payment to a saved payee for a later day, once or repeating."""
        account, payee = self._open_account(account_id), self.payees.get(payee_id)
        require(day > self.today, "failed_precondition", f"{day} is not after today, {self.today}: choose a later day")
        require(amount <= account.daily_limit, "resource_exhausted", f"the daily limit of {account_id} is {account.daily_limit} cents")
        scheduled = ScheduledPayment(self.scheduled_payments.mint(), account_id, payee.payee_id, amount, day, repeats)
        return self.scheduled_payments.add(scheduled)

    @read
    def list_scheduled_payments(self, payee_id: PayeeId | None = None, limit: Limit = 20) -> Page[ScheduledPayment]:
        """List payments that are still to come, soonest first."""
        pending = [s for s in self.scheduled_payments if s.status == "pending" and payee_id in (None, s.payee_id)]
        return page(sorted(pending, key=lambda s: (s.day, s.scheduled_payment_id)), limit, ScheduledPayment)

    @write(destructive=True)
    def cancel_scheduled_payment(self, scheduled_payment_id: ScheduledPaymentId) -> ScheduledPayment:
        """Cancel a payment that has not been made yet."""
        scheduled = self.scheduled_payments.get(scheduled_payment_id)
        require(scheduled.status == "pending", "failed_precondition", f"{scheduled_payment_id} is {scheduled.status}, no longer pending")
        return self.scheduled_payments.update(scheduled_payment_id, status="cancelled")

    # --- payees

    @read
    def list_payees(self, query: Query | None = None, limit: Limit = 10) -> Page[Payee]:
        """List saved payees by name."""
        return page(sorted((p for p in self.payees if matches(query, p.name)), key=lambda p: p.name), limit, Payee)

    @write
    def add_payee(self, name: PersonName, account_number: AccountNumber) -> Payee:
        """Save somebody to whom the customer can then send money."""
        known = self.payees.where(account_number=account_number)
        require(not known, "conflict", f"account number {account_number} is saved already, as {', '.join(p.payee_id for p in known)}")
        return self.payees.add(Payee(self.payees.mint(), name, account_number))

    @write(destructive=True)
    def remove_payee(self, payee_id: PayeeId) -> Payee:
        """Forget a payee to whom no payment is scheduled."""
        pending = [s for s in self.scheduled_payments.where(payee_id=payee_id) if s.status == "pending"]
        still = ", ".join(s.scheduled_payment_id for s in pending)
        require(not pending, "failed_precondition", f"{payee_id} still has scheduled payments: cancel {still} first")
        return self.payees.remove(payee_id)

    # --- cards and disputes

    @read
    def list_cards(self, account_id: AccountId | None = None) -> Page[Card]:
        """List the customer's cards and whether they are active."""
        return page((c for c in self.cards if account_id in (None, c.account_id)), 50, Card)

    @write
    def freeze_card(self, card_id: CardId) -> Card:
        """Block an active card at once."""
        card = self.cards.get(card_id)
        require(card.status == "active", "failed_precondition", f"card {card_id} is {card.status}, not active")
        return self.cards.update(card_id, status="frozen")

    @write
    def unfreeze_card(self, card_id: CardId, pin: Pin) -> Card:
        """Put a frozen card back to use; the customer's PIN confirms it."""
        card = self.cards.get(card_id)
        require(card.status == "frozen", "failed_precondition", f"card {card_id} is {card.status}, not frozen")
        self._check_pin(pin)
        return self.cards.update(card_id, status="active")

    @write
    def dispute_transaction(self, transaction_id: TransactionId, reason: Reason) -> Dispute:
        """Open a dispute about money that left an account in the last 60 days."""
        charge = self.transactions.get(transaction_id)
        require(charge.amount < 0, "failed_precondition", f"{transaction_id} is money in: only charges can be disputed")
        require(charge.status == "posted", "failed_precondition", f"{transaction_id} is disputed already")
        require((self.now - charge.posted).days <= 60, "failed_precondition", f"{transaction_id} is more than 60 days old")
        self.transactions.update(transaction_id, status="disputed")
        return self.disputes.add(Dispute(self.disputes.mint(), charge.transaction_id, reason, self.now))

    # --- rules

    def elapse(self) -> None:
        for due in [s for s in self.scheduled_payments if s.status == "pending" and s.day <= self.today]:
            self._pay_scheduled(due)

    def _pay_scheduled(self, due: ScheduledPayment) -> None:
        account, payee = self.accounts.get(due.account_id), self.payees.get(due.payee_id)
        paid = account.status == "open" and account.balance + account.overdraft >= due.amount
        if paid:
            self._post(account, -due.amount, payee.name, "Scheduled payment")
        self.scheduled_payments.update(due.scheduled_payment_id, status="paid" if paid else "failed")
        if due.repeats != "once":
            step = relativedelta(weeks=1) if due.repeats == "weekly" else relativedelta(months=1)
            again = (due.account_id, due.payee_id, due.amount, due.day + step, due.repeats)
            self.scheduled_payments.add(ScheduledPayment(ScheduledPaymentId(self.scheduled_payments.mint()), *again))

    def _open_account(self, account_id: AccountId) -> Account:
        account = self.accounts.get(account_id)
        require(account.status == "open", "failed_precondition", f"account {account_id} is {account.status}")
        return account

    def _post(self, account: Account, amount: Money, counterparty: str, memo: str) -> Transaction:
        available = account.balance + account.overdraft
        require(available + amount >= 0, "resource_exhausted", f"{account.account_id} has only {available} cents available")
        self.accounts.update(account.account_id, balance=account.balance + amount)
        entry = Transaction(TransactionId(self.transactions.mint()), account.account_id, self.now, amount, counterparty, memo)
        return self.transactions.add(entry)

    def _check_pin(self, pin: Pin) -> None:
        require(pin == self.customers.one().pin, "permission_denied", "the PIN is wrong: ask the customer for it")

    def _check_daily_limit(self, account: Account, amount: Cents) -> None:
        spent = _spent_on(self.today, self.transactions.where(account_id=account.account_id))
        left = account.daily_limit - spent
        require(amount <= left, "resource_exhausted", f"only {left} cents of {account.account_id}'s daily limit are left today")


def _spent_on(day: date, entries: Iterable[Transaction]) -> Money:
    return -sum(t.amount for t in entries if t.posted.date() == day and t.amount < 0 and t.memo != "Transfer")
