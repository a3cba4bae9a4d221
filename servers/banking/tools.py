"""Retail banking for one signed-in customer. Money is in cents; whatever leaves for others needs the customer's PIN."""

from datetime import UTC, date, datetime, time, timedelta

import msgspec
from dateutil.relativedelta import relativedelta

from prove.servers import (
    Cents, Day, Limit, Moment, Money, Month, Offset, Page, PersonName, Query, Server, ToolError, check_secret, given,
    matches, newest, page, read, require, table, write,
)  # fmt: skip
from .records import (
    Account, AccountId, AccountKind, AccountLine, AccountNumber, Card, CardId, Customer, Dispute, Income, Memo, Payee, PayeeId,
    PaymentStatus, Pin, Reason, Repeats, ScheduledPayment, ScheduledPaymentId, StandingTransfer, Statement, Subscription, Transaction,
    TransactionDetails, TransactionId, TransactionLine, Transfer,
)  # fmt: skip

MORNING = time(6)  # when the bank does what is due on a day
MOST_DAYS = 120  # after a charge, in which it can be disputed, as the card schemes have it
DECIDED_AFTER = timedelta(days=10)  # a dispute
TWICE_WITHIN = timedelta(days=3)  # what was charged twice was charged about the same time


class Banking(Server):
    """Accounts, payments, cards and disputes of one bank customer."""

    category = "Finance"

    customers = table(Customer)
    accounts = table(Account, "ACC-{}", start=4001)
    transactions = table(Transaction, "TXN-{}", start=70001)
    payees = table(Payee, "PAY-{}", start=201)
    scheduled_payments = table(ScheduledPayment, "SCH-{}", start=501)
    incomes = table(Income, "INC-{}", start=31)
    standing_transfers = table(StandingTransfer, "STO-{}", start=41)
    cards = table(Card, "CRD-{}", start=11)
    subscriptions = table(Subscription, "SUB-{}", start=61)
    disputes = table(Dispute, "DSP-{}", start=901)

    # --- accounts and what happened on them

    @read
    def list_accounts(self, kind: AccountKind | None = None) -> Page[AccountLine]:
        """List the customer's accounts, without their balances."""
        return page(self.accounts.where(**given(kind=kind)), 50, AccountLine)

    @read
    def get_account(self, account_id: AccountId) -> Account:
        """Show one account: its balance, status, overdraft and daily limit."""
        return self.accounts.get(account_id)

    @read
    def list_transactions(
        self,
        account_id: AccountId,
        query: Query | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[TransactionLine]:
        """List an account's transactions, newest first; query looks at counterparty and memo."""
        found = [t for t in self.transactions.where(account_id=account_id) if matches(query, t.counterparty, t.memo)]
        if since or until:
            found = [t for t in found if (since or date.min) <= t.posted.date() <= (until or date.max)]
        return page(newest(found, lambda t: t.posted), limit, TransactionLine, offset)

    @read
    def get_transaction(self, transaction_id: TransactionId) -> TransactionDetails:
        """Show one transaction with its memo and, if it was disputed, why and how that stands."""
        fields = msgspec.structs.astuple(self.transactions.get(transaction_id))
        disputes = self.disputes.where(transaction_id=transaction_id)
        return TransactionDetails(*fields, *((disputes[0].dispute_id, disputes[0].reason, disputes[0].status) if disputes else ()))

    @read
    def get_statement(self, account_id: AccountId, month: Month) -> Statement:
        """Sum up one month of an account: opening and closing balance, money in and money out."""
        account, first = self.accounts.get(account_id), date.fromisoformat(f"{month}-01")
        begins = f"{account.since:%Y-%m}"
        known = begins <= month <= f"{self.today:%Y-%m}"
        require(known, "failed_precondition", f"there are no books for {month}: ask for a month from {begins} to {self.today:%Y-%m}")
        entries = self.transactions.where(account_id=account_id)
        opening = account.opening_balance + sum(t.amount for t in entries if t.posted.date() < first)
        amounts = [t.amount for t in entries if first <= t.posted.date() < first + relativedelta(months=1)]
        money_in, money_out = sum(a for a in amounts if a > 0), -sum(a for a in amounts if a < 0)
        return Statement(account_id, month, opening, money_in, money_out, opening + money_in - money_out, len(amounts))

    # --- moving money

    @write
    def transfer_between_accounts(self, from_account: AccountId, to_account: AccountId, amount: Cents) -> Transfer:
        """Move money from a checking or savings account to another account of the customer's, a card to pay off included."""
        require(from_account != to_account, "invalid_argument", "from_account and to_account are the same account")
        source, target = self._source(from_account), self._open_account(to_account)
        owed = max(0, -target.balance)
        too_much = (
            f"{owed} cents are owed on {to_account}, and what is paid beyond that cannot be moved back: transfer no more than is owed"
        )
        require(target.kind != "credit" or amount <= owed, "failed_precondition", too_much)
        return self._transfer(source, target, amount)

    @write
    def send_payment(self, account_id: AccountId, payee_id: PayeeId, amount: Cents, pin: Pin, memo: Memo = "") -> Transaction:
        """Pay a saved payee now, from a checking or savings account; the customer's PIN confirms it."""
        account, payee = self._source(account_id), self.payees.get(payee_id)
        self._check_pin(pin)
        self._check_daily_limit(account, amount)
        return self._post(account, -amount, payee.name, memo, "payment")

    @write
    def schedule_payment(
        self, account_id: AccountId, payee_id: PayeeId, amount: Cents, day: Day, pin: Pin, repeats: Repeats = "once"
    ) -> ScheduledPayment:
        """Set up a payment to a saved payee for a later day, once or repeating; the customer's PIN confirms it."""
        account = self._source(account_id)
        self._check_pin(pin)
        require(day > self.today, "failed_precondition", f"{day} is not after today, {self.today}: choose a later day")
        most = account.daily_limit
        require(amount <= most, "resource_exhausted", f"the daily limit of {account_id} is {most} cents: schedule no more than that a day")
        return self._schedule(account_id, payee_id, amount, day, day, repeats)

    @read
    def list_scheduled_payments(
        self, payee_id: PayeeId | None = None, status: PaymentStatus = "pending", limit: Limit = 20, offset: Offset = 0
    ) -> Page[ScheduledPayment]:
        """List payments that are still to come, soonest at the top, or those paid, failed or cancelled, the last at the top."""
        found = self.scheduled_payments.where(status=status, **given(payee_id=payee_id))
        ordered = sorted(found, key=lambda s: s.day) if status == "pending" else newest(found, lambda s: s.day)
        return page(ordered, limit, ScheduledPayment, offset)

    @write(destructive=True)
    def cancel_scheduled_payment(self, scheduled_payment_id: ScheduledPaymentId) -> ScheduledPayment:
        """Cancel a payment that has not been made yet, and with it those that would have repeated it."""
        scheduled = self.scheduled_payments.get(scheduled_payment_id)
        not_pending = f"{scheduled_payment_id} is {scheduled.status}: choose one of those that list_scheduled_payments shows as pending"
        require(scheduled.status == "pending", "failed_precondition", not_pending)
        return self.scheduled_payments.update(scheduled_payment_id, status="cancelled")

    # --- payees

    @read
    def list_payees(self, query: Query | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[Payee]:
        """List saved payees by name."""
        found = (p for p in self.payees if matches(query, p.name))
        return page(sorted(found, key=lambda p: p.name.casefold()), limit, Payee, offset)

    @write
    def add_payee(self, name: PersonName, account_number: AccountNumber) -> Payee:
        """Save somebody to whom the customer can then send money."""
        known = self.payees.where(account_number=account_number)
        require(not known, "conflict", f"account number {account_number} is saved already, as {', '.join(p.payee_id for p in known)}")
        own = self.accounts.where(number=account_number)
        mine = f"{account_number} is the customer's own account {', '.join(a.account_id for a in own)}: use transfer_between_accounts"
        require(not own, "conflict", mine)
        return self.payees.add(Payee(self.payees.mint(), name, account_number))

    @write(destructive=True)
    def remove_payee(self, payee_id: PayeeId) -> Payee:
        """Forget a payee to whom no payment is scheduled."""
        pending = self.scheduled_payments.where(payee_id=payee_id, status="pending")
        still = ", ".join(s.scheduled_payment_id for s in pending)
        require(not pending, "failed_precondition", f"{payee_id} still has scheduled payments: cancel {still} first")
        return self.payees.remove(payee_id)

    # --- cards and disputes

    @read
    def list_cards(self, account_id: AccountId | None = None) -> Page[Card]:
        """List the customer's cards and whether they are active."""
        return page(self.cards.where(**given(account_id=account_id)), 50, Card)

    @write
    def freeze_card(self, card_id: CardId) -> Card:
        """Block an active card at once."""
        card = self.cards.get(card_id)
        require(card.status == "active", "failed_precondition", f"card {card_id} is {card.status}, not active: nobody can pay with it")
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
        """Dispute a card charge of the last 120 days; the bank decides within 10 days."""
        charge = self.transactions.get(transaction_id)
        why_not = f"{transaction_id} is no card charge but a {charge.kind}, which cannot be disputed"
        require(charge.kind == "card", "failed_precondition", why_not)
        known = "; ".join(f"{d.dispute_id} is {d.status}" for d in self.disputes.where(transaction_id=transaction_id))
        require(not known, "conflict", f"{transaction_id} was disputed already: {known}")
        age = (self.today - charge.posted.date()).days
        too_old = f"{transaction_id} is {age} days old: only what is at most {MOST_DAYS} days old can be disputed"
        require(age <= MOST_DAYS, "failed_precondition", too_old)
        self.transactions.update(transaction_id, status="disputed")
        return self.disputes.add(Dispute(self.disputes.mint(), charge.transaction_id, reason, self.now))

    # --- rules

    def _open_account(self, account_id: AccountId) -> Account:
        account = self.accounts.get(account_id)
        require(account.status == "open", "failed_precondition", f"account {account_id} is {account.status}: use one that is open")
        return account

    def _source(self, account_id: AccountId) -> Account:
        account = self._open_account(account_id)
        sendable = account.kind != "credit"
        require(sendable, "failed_precondition", f"{account_id} is a credit account: send money from a checking or savings account")
        return account

    def _transfer(self, source: Account, target: Account, amount: Cents) -> Transfer:
        sent = self._post(source, -amount, target.name, "Transfer", "transfer")
        return Transfer(sent, self._post(target, amount, source.name, "Transfer", "transfer"))

    def _post(self, account: Account, amount: Money, counterparty: str, memo: str, kind: str) -> Transaction:
        available = account.balance + account.overdraft
        require(available + amount >= 0, "resource_exhausted", f"{account.account_id} has only {available} cents available")
        self.accounts.update(account.account_id, balance=account.balance + amount)
        entry = Transaction(self.transactions.mint(), account.account_id, self.now, amount, counterparty, memo, kind)
        return self.transactions.add(entry)

    def _check_pin(self, pin: Pin) -> None:
        check_secret(self.customers, pin == self.customers.one().pin, self.now, "PIN")

    def _check_daily_limit(self, account: Account, amount: Cents) -> None:
        paid = self.transactions.where(account_id=account.account_id, kind="payment")
        left = account.daily_limit + sum(t.amount for t in paid if t.posted.date() == self.today)
        require(amount <= left, "resource_exhausted", f"only {left} cents of {account.account_id}'s daily limit are left today")

    def _schedule(
        self, account_id: AccountId, payee_id: PayeeId, amount: Cents, first_day: Day, day: Day, repeats: Repeats
    ) -> ScheduledPayment:
        key = self.scheduled_payments.mint()
        return self.scheduled_payments.add(ScheduledPayment(key, account_id, payee_id, amount, first_day, day, repeats))

    # --- what happens of itself, at its day and hour

    def due(self) -> datetime | None:
        days = [regular.day for regular in (*self.incomes, *self.standing_transfers, *self.subscriptions)]
        days += [s.day for s in self.scheduled_payments if s.status == "pending"]
        ends = [expiry(card) for card in self.cards if card.status != "expired"]
        decisions = [d.opened + DECIDED_AFTER for d in self.disputes if d.status == "open"]
        return min([*map(morning_of, days), *ends, *decisions], default=None)

    def elapse(self) -> None:
        for card in [c for c in self.cards if c.status != "expired" and c.expires < f"{self.today:%Y-%m}"]:
            self.cards.update(card.card_id, status="expired")
        begun = self.today if self.now.time() >= MORNING else self.today - timedelta(days=1)  # the last day whose work is due
        for income in [i for i in self.incomes if i.day <= begun]:
            self._receive(income)
        for standing in [s for s in self.standing_transfers if s.day <= begun]:
            self._move(standing)
        for scheduled in [s for s in self.scheduled_payments if s.status == "pending" and s.day <= begun]:
            self._pay(scheduled)
        for subscription in [s for s in self.subscriptions if s.day <= begun]:
            self._charge(subscription)
        for dispute in [d for d in self.disputes if d.status == "open" and d.opened + DECIDED_AFTER <= self.now]:
            self._decide(dispute)

    def _receive(self, income: Income) -> None:
        self._post(self.accounts.get(income.account_id), income.amount, income.sender, income.memo, "income")
        self.incomes.update(income.income_id, day=next_day(income.first_day, income.day, "monthly"))

    def _move(self, standing: StandingTransfer) -> None:
        """A standing transfer that the account cannot cover is left out this month."""
        source, target = self.accounts.get(standing.from_account), self.accounts.get(standing.to_account)
        amount = -min(0, target.balance) if standing.amount is None else standing.amount
        if 0 < amount <= source.balance + source.overdraft:
            self._transfer(source, target, amount)
        next_one = next_day(standing.first_day, standing.day, "monthly")
        self.standing_transfers.update(standing.standing_transfer_id, day=next_one)

    def _pay(self, scheduled: ScheduledPayment) -> None:
        key, account_id, payee_id, amount = scheduled.scheduled_payment_id, scheduled.account_id, scheduled.payee_id, scheduled.amount
        try:
            account = self._source(account_id)
            self._check_daily_limit(account, amount)
            payment = self._post(account, -amount, self.payees.get(payee_id).name, "Scheduled payment", "payment")
            self.scheduled_payments.update(key, status="paid", transaction_id=payment.transaction_id)
        except ToolError as refused:
            self.scheduled_payments.update(key, status="failed", problem=refused.message)
        if scheduled.repeats != "once":
            following = next_day(scheduled.first_day, scheduled.day, scheduled.repeats)
            self._schedule(account_id, payee_id, amount, scheduled.first_day, following, scheduled.repeats)

    def _charge(self, subscription: Subscription) -> None:
        """A card that is frozen or expired is not charged this month, nor an account that has not as much."""
        card = self.cards.get(subscription.card_id)
        account = self.accounts.get(card.account_id)
        if card.status == "active" and subscription.amount <= account.balance + account.overdraft:
            self._post(account, -subscription.amount, subscription.merchant, "subscription", "card")
        following = next_day(subscription.first_day, subscription.day, "monthly")
        self.subscriptions.update(subscription.subscription_id, day=following)

    def _decide(self, dispute: Dispute) -> None:
        """The bank gives the money back, unless what is said to be charged twice was charged once."""
        charge = self.transactions.get(dispute.transaction_id)
        upheld = dispute.reason != "charged_twice" or self._has_twin(charge)
        if upheld:
            memo = f"Dispute {dispute.dispute_id}"
            self._post(self.accounts.get(charge.account_id), -charge.amount, charge.counterparty, memo, "refund")
        self.transactions.update(charge.transaction_id, status="refunded" if upheld else "posted")
        self.disputes.update(dispute.dispute_id, status="refunded" if upheld else "rejected")

    def _has_twin(self, charge: Transaction) -> bool:
        """Whether the same was charged about the same time, and has not been given back."""
        same = self.transactions.where(account_id=charge.account_id, counterparty=charge.counterparty, amount=charge.amount, kind="card")
        others = [t for t in same if t is not charge and t.status != "refunded"]
        return any(abs(t.posted - charge.posted) <= TWICE_WITHIN for t in others)


def morning_of(day: Day) -> Moment:
    return datetime.combine(day, MORNING, UTC)


def expiry(card: Card) -> Moment:
    """When a card's last month is over."""
    year, month = int(card.expires[:4]), int(card.expires[5:])
    return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def next_day(first: Day, day: Day, repeats: Repeats) -> Day:
    """When a payment is due again: a week later, or on the day of the month on which it began, the last where a month has no such."""
    if repeats == "weekly":
        return day + timedelta(weeks=1)
    months = (day.year - first.year) * 12 + day.month - first.month
    return first + relativedelta(months=months + 1)
