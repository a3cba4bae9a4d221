"""Who and what is in a bank: the customer, accounts and what happened on them, payees, cards, disputes. Money is in cents."""

from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, Meta, Moment, Money, Month, PersonName, Record, Secret

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
DisputeStatus = Annotated[Literal["open", "refunded", "rejected"], Meta(description="what the bank has decided")]
Repeats = Annotated[Literal["once", "weekly", "monthly"], Meta(description="how often the payment is made")]
PaymentStatus = Annotated[Literal["pending", "paid", "failed", "cancelled"], Meta(description="what has become of a scheduled payment")]


class Customer(Record):
    customer_id: str
    name: PersonName
    pin: Pin
    wrong_tries: int = 0  # of the PIN, one after the other
    locked_until: Moment | None = None


class Account(Record):
    account_id: AccountId
    name: str
    kind: AccountKind
    number: str
    status: Literal["open", "frozen", "closed"]
    since: Day  # where its books begin, with the opening balance
    opening_balance: Money
    balance: Money
    overdraft: Money  # how far below zero it may go; of a credit account, its credit limit
    daily_limit: Money  # how much may be paid from it to others on one day


class Transaction(Record):
    transaction_id: TransactionId
    account_id: AccountId
    posted: Moment
    amount: Money
    counterparty: str
    memo: str
    kind: Literal["card", "payment", "transfer", "income", "refund"]
    status: Literal["posted", "disputed", "refunded"] = "posted"


class Payee(Record):
    payee_id: PayeeId
    name: PersonName
    account_number: AccountNumber


class ScheduledPayment(Record):
    """One payment; when it is due, the next of those that repeat is set up."""

    scheduled_payment_id: ScheduledPaymentId
    account_id: AccountId
    payee_id: PayeeId
    amount: Cents
    first_day: Day  # of the first that was set up, which keeps its day of the month for all that follow
    day: Day
    repeats: Repeats
    status: PaymentStatus = "pending"
    problem: str | None = None  # why it failed
    transaction_id: TransactionId | None = None  # that paid it


class Income(Record):
    """Money that somebody else sends every month: pay, a share of the household."""

    income_id: str
    account_id: AccountId
    sender: str
    amount: Cents
    memo: str
    first_day: Day
    day: Day


class StandingTransfer(Record):
    """What the bank moves between two of the customer's accounts every month: savings, or all that is owed on a card."""

    standing_transfer_id: str
    from_account: AccountId
    to_account: AccountId
    amount: Cents | None  # None: what is owed
    first_day: Day
    day: Day


class Subscription(Record):
    """What a merchant charges to a card every month, as long as it can be charged."""

    subscription_id: str
    card_id: CardId
    merchant: str
    amount: Cents
    first_day: Day
    day: Day


class Card(Record):
    card_id: CardId
    account_id: AccountId
    kind: Literal["debit", "credit"]
    last_four: str
    expires: Month  # the last month in which it is good
    status: Literal["active", "frozen", "expired"]


class Dispute(Record):
    dispute_id: DisputeId
    transaction_id: TransactionId
    reason: Reason
    opened: Moment
    status: DisputeStatus = "open"


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


class TransactionDetails(Transaction):
    dispute_id: DisputeId | None = None
    dispute_reason: Reason | None = None
    dispute_status: DisputeStatus | None = None


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
