"""What is on a payment platform: customers and their cards, prices, invoices, payments, refunds, webhooks. Money is in cents."""

from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, EmailAddress, Meta, Moment, Money, Month, Page, Quantity, Record, Unordered

CustomerId = NewType("CustomerId", str)
PriceId = NewType("PriceId", str)
InvoiceId = NewType("InvoiceId", str)
InvoiceItemId = NewType("InvoiceItemId", str)
PaymentId = NewType("PaymentId", str)
RefundId = NewType("RefundId", str)
WebhookId = NewType("WebhookId", str)
EventId = NewType("EventId", str)

CustomerName = Annotated[str, Meta(min_length=1, max_length=80, description="the name of a person or a company")]
InvoiceNumber = Annotated[str, Meta(description="the number that a finalised invoice carries")]
InvoiceStatus = Annotated[Literal["draft", "open", "paid", "void"], Meta(description="where an invoice is in its life")]
Collection = Annotated[
    Literal["charge_automatically", "send_invoice"],
    Meta(description="whether the card on file is charged an hour after finalising, or the customer is sent the invoice to pay"),
]
DaysUntilDue = Annotated[int, Meta(ge=0, le=90, description="how many days after finalising an invoice is due")]
InvoiceMemo = Annotated[str, Meta(max_length=200, description="a note printed on the invoice")]
IdempotencyKey = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9_-]{6,40}$", description="a key of the merchant's choice: said again with it, a payment is not made twice"),
]
OutOfBand = Annotated[bool, Meta(description="true to record that the customer paid outside the platform")]
RefundReason = Annotated[Literal["duplicate", "fraudulent", "requested_by_customer"], Meta(description="why money goes back")]
WebhookUrl = Annotated[
    str, Meta(pattern=r"^https://[^\s]+$", max_length=200, description="the address that is told of events, beginning with https://")
]
EventType = Annotated[
    Literal[
        "customer.created", "invoice.created", "invoice.finalized", "invoice.paid", "invoice.payment_failed", "invoice.overdue",
        "charge.refunded",
    ],
    Meta(description="what happened"),
]  # fmt: skip
EventTypes = Annotated[Unordered[list[EventType]], Meta(min_length=1, max_length=7, description="the events that the webhook is told of")]
Delivery = Annotated[Literal["delivered", "retrying", "failed"], Meta(description="whether the webhook has taken an event")]


class Customer(Record):
    customer_id: CustomerId
    name: CustomerName
    email: EmailAddress


class Card(Record):
    customer_id: CustomerId
    last_four: str
    expires: Month
    funds: Money  # the bank declines to pay more than this at once


class Price(Record):
    price_id: PriceId
    product: str
    rate: str
    unit_amount: Cents
    active: bool


class Invoice(Record):
    invoice_id: InvoiceId
    customer_id: CustomerId
    collection: Collection
    days_until_due: DaysUntilDue
    memo: InvoiceMemo
    created: Moment
    number: InvoiceNumber | None = None
    status: InvoiceStatus = "draft"
    total: Money = 0
    finalized: Moment | None = None
    due: Day | None = None
    attempts: int = 0  # to charge the card by itself
    charge_at: Moment | None = None  # when it is tried next
    overdue: bool = False  # it is open, and its due day is over


class Numbering(Record):
    number: InvoiceNumber
    invoice_id: InvoiceId


class InvoiceItem(Record):
    invoice_item_id: InvoiceItemId
    invoice_id: InvoiceId
    price_id: PriceId
    product: str
    quantity: Quantity
    unit_amount: Cents
    amount: Cents


class Payment(Record):
    payment_id: PaymentId
    invoice_id: InvoiceId
    customer_id: CustomerId
    number: InvoiceNumber
    amount: Cents
    paid: Moment
    card: str | None  # its last four digits; None where it was paid outside the platform
    refunded: Money = 0


class Request(Record):
    """A payment asked for under an idempotency key, so that it can be recognised when it is asked for again."""

    idempotency_key: IdempotencyKey
    invoice_id: InvoiceId
    out_of_band: OutOfBand
    payment_id: PaymentId


class Refund(Record):
    refund_id: RefundId
    payment_id: PaymentId
    amount: Cents
    reason: RefundReason | None
    created: Moment


class Webhook(Record):
    webhook_id: WebhookId
    url: WebhookUrl
    event_types: EventTypes
    created: Moment


class Outage(Record):
    url: WebhookUrl
    response_code: int
    since: Moment
    until: Moment | None  # None: for good


class Event(Record):
    event_id: EventId
    webhook_id: WebhookId
    url: WebhookUrl
    event_type: EventType
    about: str  # the id of the customer, invoice or refund
    created: Moment
    delivery: Delivery = "retrying"
    attempts: int = 0
    response_code: int = 0
    next_attempt: Moment | None = None


class CustomerLine(Record):
    customer_id: CustomerId
    name: CustomerName
    email: EmailAddress
    card: str | None  # the last four digits of the one on file
    card_expires: Month | None


class PriceLine(Record):
    price_id: PriceId
    product: str
    rate: str
    unit_amount: Cents
    active: bool


class InvoiceLine(Record):
    invoice_id: InvoiceId
    customer_id: CustomerId
    number: InvoiceNumber | None
    status: InvoiceStatus
    total: Money
    created: Moment
    overdue: bool


class PaymentLine(Record):
    payment_id: PaymentId
    customer_id: CustomerId
    number: InvoiceNumber
    amount: Cents
    refunded: Money
    paid: Moment


class Found(Record):
    customers: Page[CustomerLine]
    prices: Page[PriceLine]
    invoices: Page[InvoiceLine]
    payments: Page[PaymentLine]
    webhooks: Page[Webhook]


class InvoiceDetails(Record):
    invoice: Invoice
    items: list[InvoiceItem]
    amount_due: Money
    payments: list[Payment]
    refunds: list[Refund]
