"""A payment platform seen by one merchant. Money is in cents. An invoice is drafted, finalised and then paid: by the card on
file, or outside the platform. Webhooks are told of each event, again and again until they answer."""

from datetime import timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Cents,
    Day,
    EmailAddress,
    Limit,
    Meta,
    Moment,
    Money,
    Month,
    Page,
    Quantity,
    Query,
    Record,
    Server,
    ToolError,
    matches,
    page,
    read,
    require,
    table,
    write,
)

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
WebhookUrl = Annotated[str, Meta(pattern=r"^https://[^\s]+$", description="the address that is told of events, beginning with https://")]
EventType = Annotated[
    Literal[
        "customer.created", "invoice.created", "invoice.finalized", "invoice.paid", "invoice.payment_failed", "invoice.overdue",
        "charge.refunded",
    ],
    Meta(description="what happened"),
]  # fmt: skip
EventTypes = Annotated[list[EventType], Meta(min_length=1, max_length=7, description="the events that the webhook is told of")]
Delivery = Annotated[Literal["delivered", "retrying", "failed"], Meta(description="whether the webhook has taken an event")]

MOST_WEBHOOKS = 16
CHARGE_AFTER = timedelta(hours=1)
RETRY_AFTER = [timedelta(hours=h) for h in (1, 4, 12, 24, 48)]  # then delivery has failed


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
    due: Day | None = None
    charge_at: Moment | None = None
    overdue: bool = False


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


class PaymentLine(Record):
    payment_id: PaymentId
    customer_id: CustomerId
    number: InvoiceNumber
    amount: Cents
    paid: Moment


class Found(Record):
    customers: Page[CustomerLine]
    prices: Page[PriceLine]
    invoices: Page[InvoiceLine]
    payments: Page[PaymentLine]


class InvoiceDetails(Record):
    invoice: Invoice
    items: list[InvoiceItem]
    amount_due: Money
    payments: list[Payment]
    refunds: list[Refund]


class Payments(Server):
    """Customers, prices, invoices, payments, refunds and webhooks of one merchant."""

    category = "Finance"

    customers = table(Customer, "cus_{}", start=3001)
    cards = table(Card)
    prices = table(Price, "price_{}", start=101)
    invoices = table(Invoice, "in_{}", start=5001)
    numbers = table(Numbering, "INV-{}", start=1001)
    invoice_items = table(InvoiceItem, "ii_{}", start=8001)
    payments = table(Payment, "pi_{}", start=6001)
    requests = table(Request)
    refunds = table(Refund, "re_{}", start=901)
    webhooks = table(Webhook, "we_{}", start=11)
    outages = table(Outage)
    events = table(Event, "evt_{}", start=20001)

    # --- finding things

    @read
    def search_resources(
        self,
        query: Query | None = None,
        customer_id: CustomerId | None = None,
        status: InvoiceStatus | None = None,
        limit: Limit = 10,
    ) -> Found:
        """Find customers, prices, invoices and payments by name, email, product or number; a status finds invoices only."""
        require(query or customer_id or status, "invalid_argument", "give a query, a customer_id or a status to search by")
        whose = [self.customers.get(customer_id)] if customer_id else list(self.customers)
        who = {c.customer_id for c in whose}
        invoices = [i for i in reversed(list(self.invoices)) if i.customer_id in who and matches(query, i.number or "", i.memo)]
        payments = [p for p in reversed(list(self.payments)) if p.customer_id in who and matches(query, p.number, p.card or "")]
        return Found(
            page([c for c in whose if not status and matches(query, c.name, c.email)], limit, CustomerLine),
            page([p for p in self.prices if not (status or customer_id) and matches(query, p.product, p.rate)], limit, PriceLine),
            page([i for i in invoices if status in (None, i.status)], limit, InvoiceLine),
            page([] if status else payments, limit, PaymentLine),
        )

    @read
    def get_invoice(self, invoice_id: InvoiceId) -> InvoiceDetails:
        """Show one invoice: its items, when it is due, what is still to be paid, its payment and refunds."""
        invoice, payments = self.invoices.get(invoice_id), self.payments.where(invoice_id=invoice_id)
        refunds = [r for p in payments for r in self.refunds.where(payment_id=p.payment_id)]
        due = invoice.total if invoice.status in ("draft", "open") else 0
        return InvoiceDetails(invoice, self.invoice_items.where(invoice_id=invoice_id), due, payments, refunds)

    # --- customers and invoices

    @write
    def create_customer(self, name: CustomerName, email: EmailAddress) -> Customer:
        """Add a customer, without a card on file."""
        known = ", ".join(c.customer_id for c in self.customers if c.email.casefold() == email.casefold())
        require(not known, "conflict", f"{email} belongs to {known} already")
        customer = self.customers.add(Customer(self.customers.mint(), name, email))
        self._tell("customer.created", customer.customer_id, self.now)
        return customer

    @write
    def create_invoice(
        self, customer_id: CustomerId, collection: Collection = "send_invoice", days_until_due: DaysUntilDue = 30, memo: InvoiceMemo = ""
    ) -> Invoice:
        """Draft an empty invoice to a customer."""
        customer = self.customers.get(customer_id)
        if collection == "charge_automatically":
            self._usable_card(customer_id)
        invoice = Invoice(self.invoices.mint(), customer.customer_id, collection, days_until_due, memo, self.now)
        self._tell("invoice.created", invoice.invoice_id, self.now)
        return self.invoices.add(invoice)

    @write
    def add_invoice_item(self, invoice_id: InvoiceId, price_id: PriceId, quantity: Quantity = 1) -> InvoiceItem:
        """Put so many of a price's product on a draft invoice."""
        invoice, price = self._draft(invoice_id), self.prices.get(price_id)
        require(price.active, "failed_precondition", f"{price_id}, {price.product}, is not sold any more: choose an active price")
        amount = quantity * price.unit_amount
        self.invoices.update(invoice_id, total=invoice.total + amount)
        item = InvoiceItem(self.invoice_items.mint(), invoice_id, price_id, price.product, quantity, price.unit_amount, amount)
        return self.invoice_items.add(item)

    @write
    def finalize_invoice(self, invoice_id: InvoiceId) -> Invoice:
        """Give a draft its number and due date; its items can't be changed any more."""
        invoice = self._draft(invoice_id)
        require(invoice.total > 0, "failed_precondition", f"{invoice_id} has no items: add an item first")
        number = self.numbers.add(Numbering(self.numbers.mint(), invoice_id)).number
        charge_at = self.now + CHARGE_AFTER if invoice.collection == "charge_automatically" else None
        due = self.today + timedelta(days=invoice.days_until_due)
        self._tell("invoice.finalized", invoice_id, self.now)
        return self.invoices.update(invoice_id, number=number, status="open", due=due, charge_at=charge_at)

    # --- money in and back

    @write(idempotent=True)
    def pay_invoice(self, invoice_id: InvoiceId, idempotency_key: IdempotencyKey, out_of_band: OutOfBand = False) -> Payment:
        """Charge the customer's card for an open invoice, or with out_of_band record that it was paid elsewhere."""
        invoice, earlier = self.invoices.get(invoice_id), self.requests.find(idempotency_key)
        if earlier is not None:
            same = (earlier.invoice_id, earlier.out_of_band) == (invoice_id, out_of_band)
            require(same, "conflict", f"{idempotency_key} was used for another payment, of {earlier.invoice_id}: choose a new key")
            return self.payments.get(earlier.payment_id)
        advice = "finalize it first" if invoice.status == "draft" else "nothing is to be paid"
        require(invoice.status == "open", "failed_precondition", f"{invoice_id} is {invoice.status}: {advice}")
        payment = self._settle(invoice, None if out_of_band else self._charged(invoice))
        self.requests.add(Request(idempotency_key, invoice_id, out_of_band, payment.payment_id))
        return payment

    @write
    def create_refund(self, payment_id: PaymentId, amount: Cents | None = None, reason: RefundReason | None = None) -> Refund:
        """Give back a card payment, or a part of it; without an amount all that is left."""
        payment = self.payments.get(payment_id)
        require(payment.card, "failed_precondition", f"{payment_id} was paid outside the platform: it must be given back there too")
        left = payment.amount - payment.refunded
        require(left and (amount or left) <= left, "resource_exhausted", f"only {left} cents of {payment_id} can still be refunded")
        self.payments.update(payment_id, refunded=payment.refunded + (amount or left))
        refund = self.refunds.add(Refund(self.refunds.mint(), payment_id, amount or left, reason, self.now))
        self._tell("charge.refunded", refund.refund_id, self.now)
        return refund

    # --- webhooks

    @write
    def create_webhook(self, url: WebhookUrl, event_types: EventTypes) -> Webhook:
        """Have an address told of events from now on."""
        known = ", ".join(w.webhook_id for w in self.webhooks if w.url == url)
        require(not known, "conflict", f"{url} is registered already, as {known}")
        require(len(self.webhooks) < MOST_WEBHOOKS, "resource_exhausted", f"there are {MOST_WEBHOOKS} webhooks, and no more are possible")
        return self.webhooks.add(Webhook(self.webhooks.mint(), url, list(dict.fromkeys(event_types)), self.now))

    @read
    def list_webhook_events(
        self,
        webhook_id: WebhookId | None = None,
        query: Query | None = None,
        event_type: EventType | None = None,
        delivery: Delivery | None = None,
        limit: Limit = 10,
    ) -> Page[Event]:
        """List events sent to webhooks, newest first, with how delivery went; query looks at the address and what they are about."""
        chosen = self.events.where(webhook_id=self.webhooks.get(webhook_id).webhook_id) if webhook_id else self.events
        found = [e for e in chosen if event_type in (None, e.event_type) and delivery in (None, e.delivery)]
        newest = sorted((e for e in found if matches(query, e.url, e.about)), key=lambda e: (e.created, e.event_id), reverse=True)
        return page(newest, limit, Event)

    # --- rules

    def _draft(self, invoice_id: InvoiceId) -> Invoice:
        invoice = self.invoices.get(invoice_id)
        require(invoice.status == "draft", "failed_precondition", f"{invoice_id} is {invoice.status}, no longer a draft")
        return invoice

    def _usable_card(self, customer_id: CustomerId) -> Card:
        card = self.cards.find(customer_id)
        if card is None:
            raise ToolError("failed_precondition", f"{customer_id} has no card on file: the invoice must be sent and paid out_of_band")
        valid = card.expires >= f"{self.today:%Y-%m}"
        require(valid, "failed_precondition", f"the card of {customer_id}, {card.last_four}, expired in {card.expires}: use out_of_band")
        return card

    def _charged(self, invoice: Invoice) -> Card:
        card = self._usable_card(invoice.customer_id)
        declined = f"card {card.last_four} was declined, {invoice.total} cents are more than it can pay: use out_of_band"
        require(invoice.total <= card.funds, "resource_exhausted", declined)
        return card

    def _settle(self, invoice: Invoice, card: Card | None) -> Payment:
        key, number = invoice.invoice_id, invoice.number or ""
        last_four = card.last_four if card else None
        payment = Payment(self.payments.mint(), key, invoice.customer_id, number, invoice.total, self.now, last_four)
        self.invoices.update(key, status="paid", charge_at=None)
        self._tell("invoice.paid", key, self.now)
        return self.payments.add(payment)

    def _tell(self, event_type: EventType, about: str, at: Moment) -> None:
        """Send an event to every webhook that wants to know."""
        for webhook in self.webhooks:
            if event_type in webhook.event_types:
                event = Event(self.events.mint(), webhook.webhook_id, webhook.url, event_type, about, at)
                self._deliver(self.events.add(event), at)

    def _deliver(self, event: Event, at: Moment) -> None:
        """Try once; a webhook that is down is tried again, each time after a longer while."""
        outage, attempts = self.outages.find(event.url), event.attempts + 1
        if outage is None or (outage.until and outage.until <= at):
            self.events.update(event.event_id, delivery="delivered", attempts=attempts, response_code=200, next_attempt=None)
        else:
            again = at + RETRY_AFTER[event.attempts] if event.attempts < len(RETRY_AFTER) else None
            tried = {"attempts": attempts, "response_code": outage.response_code, "next_attempt": again}
            self.events.update(event.event_id, delivery="retrying" if again else "failed", **tried)

    def elapse(self) -> None:
        for invoice in [i for i in self.invoices if i.charge_at and i.charge_at <= self.now]:
            self._charge_automatically(invoice)
        for invoice in [i for i in self.invoices if i.status == "open" and not i.overdue and i.due and i.due < self.today]:
            self.invoices.update(invoice.invoice_id, overdue=True)
            self._tell("invoice.overdue", invoice.invoice_id, self.now)
        self._retry()

    def _charge_automatically(self, invoice: Invoice) -> None:
        try:
            self._settle(invoice, self._charged(invoice))
        except ToolError:
            self.invoices.update(invoice.invoice_id, charge_at=None)
            self._tell("invoice.payment_failed", invoice.invoice_id, self.now)

    def _retry(self) -> None:
        while due := [e for e in self.events if e.next_attempt and e.next_attempt <= self.now]:
            for event in due:
                self._deliver(event, event.next_attempt or self.now)
