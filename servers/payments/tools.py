"""A payment platform seen by one merchant. Money is in cents. An invoice is drafted, finalised and then paid: by the card on
file, or outside the platform. Webhooks are told of each event, again and again until they answer."""

import re
from datetime import UTC, datetime, time, timedelta

from msgspec.structs import astuple

from prove.servers import (
    Cents, Day, EmailAddress, Limit, Moment, Offset, Page, Quantity, Query, Server, ToolError, given, matches, newest,
    page, read, require, table, write,
)  # fmt: skip
from .records import (
    Card, Collection, Customer, CustomerId, CustomerLine, CustomerName, DaysUntilDue, Delivery, Event, EventType, EventTypes, Found,
    IdempotencyKey, Invoice, InvoiceDetails, InvoiceId, InvoiceItem, InvoiceLine, InvoiceMemo, InvoiceStatus, Numbering,
    Outage, OutOfBand, Payment, PaymentId, PaymentLine, Price, PriceId, PriceLine, Refund, RefundReason, Request, Webhook,
    WebhookId, WebhookUrl,
)  # fmt: skip

MOST_WEBHOOKS = 16
CHARGE_AFTER = timedelta(hours=1)
CHARGE_AGAIN_AFTER = [timedelta(days=d) for d in (3, 5, 7)]  # then it is left to the merchant
RETRY_AFTER = [timedelta(hours=h) for h in (1, 4, 12, 24, 48)]  # then delivery has failed


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
        offset: Offset = 0,
    ) -> Found:
        """Find customers, prices, invoices, payments and webhooks by name, email, product, number or url; a status finds invoices only."""
        require(query or customer_id or status, "invalid_argument", "give a query, a customer_id or a status to search by")
        whose = [self.customers.get(customer_id)] if customer_id else list(self.customers)
        who, narrow, everything = {c.customer_id for c in whose}, status or customer_id, not status
        customers = [self._line(c) for c in whose if everything and matches(query, c.name, c.email)]
        prices = [p for p in self.prices if not narrow and matches(query, p.product, p.rate)]
        billed = [i for i in self.invoices.where(**given(status=status)) if i.customer_id in who]
        invoices = [i for i in billed if matches(query, i.number or "", i.memo)]
        payments = [p for p in self.payments if everything and p.customer_id in who and matches(query, p.number, p.card or "")]
        webhooks = [w for w in self.webhooks if not narrow and matches(query, w.url, *w.event_types)]
        return Found(
            page(customers, limit, CustomerLine, offset),
            page(prices, limit, PriceLine, offset),
            page(newest(invoices, lambda i: i.created), limit, InvoiceLine, offset),
            page(newest(payments, lambda p: p.paid), limit, PaymentLine, offset),
            page(webhooks, limit, Webhook, offset),
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
        known = ", ".join(c.customer_id for c in self.customers.where(email=email))
        require(not known, "conflict", f"{email} belongs to {known} already")
        customer = self.customers.add(Customer(self.customers.mint(), name, email))
        self._tell("customer.created", customer.customer_id)
        return customer

    @write
    def create_invoice(
        self, customer_id: CustomerId, collection: Collection = "send_invoice", days_until_due: DaysUntilDue = 30, memo: InvoiceMemo = ""
    ) -> Invoice:
        """Draft an empty invoice to a customer."""
        if collection == "charge_automatically":
            self._usable_card(customer_id, "create it with collection 'send_invoice'")
        invoice = Invoice(self.invoices.mint(), customer_id, collection, days_until_due, memo, self.now)
        self._tell("invoice.created", invoice.invoice_id)
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
        self._tell("invoice.finalized", invoice_id)
        return self.invoices.update(invoice_id, number=number, status="open", finalized=self.now, due=due, charge_at=charge_at)

    # --- money in and back

    @write(idempotent=True)
    def pay_invoice(self, invoice_id: InvoiceId, idempotency_key: IdempotencyKey, out_of_band: OutOfBand = False) -> Payment:
        """Charge the customer's card for an open invoice, or with out_of_band record that it was paid elsewhere."""
        invoice, earlier = self.invoices.get(invoice_id), self.requests.find(idempotency_key)
        if earlier is not None:
            same = (earlier.invoice_id, earlier.out_of_band) == (invoice_id, out_of_band)
            used = f"{earlier.invoice_id} with out_of_band {str(earlier.out_of_band).lower()}"
            require(same, "conflict", f"{idempotency_key} was used for {used}: choose a new key, or say just that again")
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
        self._tell("charge.refunded", refund.refund_id)
        return refund

    # --- webhooks

    @write
    def create_webhook(self, url: WebhookUrl, event_types: EventTypes) -> Webhook:
        """Have an address told of events from now on."""
        require(address_of(url), "invalid_argument", f"{url} names no host: write it like https://shop.example/hooks")
        known = ", ".join(w.webhook_id for w in self.webhooks if address_of(w.url) == address_of(url))
        require(not known, "conflict", f"{url} is registered already, as {known}")
        require(len(self.webhooks) < MOST_WEBHOOKS, "resource_exhausted", f"there are {MOST_WEBHOOKS} webhooks, and no more are possible")
        return self.webhooks.add(Webhook(self.webhooks.mint(), url, event_types, self.now))

    @read
    def list_webhook_events(
        self,
        webhook_id: WebhookId | None = None,
        query: Query | None = None,
        event_type: EventType | None = None,
        delivery: Delivery | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Event]:
        """List events sent to webhooks, newest first, with how delivery went; query looks at the address and what they are about."""
        chosen = self.events.where(**given(webhook_id=webhook_id, event_type=event_type, delivery=delivery))
        found = (e for e in chosen if matches(query, e.url, e.about))
        return page(newest(found, lambda e: e.created), limit, Event, offset)

    # --- rules

    def _draft(self, invoice_id: InvoiceId) -> Invoice:
        invoice = self.invoices.get(invoice_id)
        require(invoice.status == "draft", "failed_precondition", f"{invoice_id} is {invoice.status}, no longer a draft")
        return invoice

    def _line(self, customer: Customer) -> CustomerLine:
        card, (key, name, email) = self.cards.find(customer.customer_id), astuple(customer)
        return CustomerLine(key, name, email, card.last_four if card else None, card.expires if card else None)

    def _usable_card(self, customer_id: CustomerId, instead: str) -> Card:
        card = self.cards.find(customer_id)
        if card is None:
            raise ToolError("failed_precondition", f"{customer_id} has no card on file: {instead}")
        valid = card.expires >= f"{self.today:%Y-%m}"
        require(valid, "failed_precondition", f"the card of {customer_id}, {card.last_four}, expired in {card.expires}: {instead}")
        return card

    def _charged(self, invoice: Invoice) -> Card:
        elsewhere = "once it is paid elsewhere, record that with out_of_band true"
        card = self._usable_card(invoice.customer_id, elsewhere)
        declined = f"card {card.last_four} was declined, {invoice.total} cents are more than it can pay: {elsewhere}"
        require(invoice.total <= card.funds, "resource_exhausted", declined)
        return card

    def _settle(self, invoice: Invoice, card: Card | None) -> Payment:
        key, number = invoice.invoice_id, invoice.number or ""
        last_four = card.last_four if card else None
        payment = Payment(self.payments.mint(), key, invoice.customer_id, number, invoice.total, self.now, last_four)
        self.invoices.update(key, status="paid", charge_at=None, overdue=False)
        self._tell("invoice.paid", key)
        return self.payments.add(payment)

    def _tell(self, event_type: EventType, about: str) -> None:
        """Send an event to every webhook that wants to know."""
        for webhook in self.webhooks:
            if event_type in webhook.event_types:
                event = Event(self.events.mint(), webhook.webhook_id, webhook.url, event_type, about, self.now)
                self._deliver(self.events.add(event))

    def _deliver(self, event: Event) -> None:
        """Try once; a webhook that is down is tried again, each time after a longer while."""
        outage, attempts = self.outages.find(event.url), event.attempts + 1
        if outage is None or self.now < outage.since or (outage.until and outage.until <= self.now):
            self.events.update(event.event_id, delivery="delivered", attempts=attempts, response_code=200, next_attempt=None)
        else:
            again = self.now + RETRY_AFTER[event.attempts] if event.attempts < len(RETRY_AFTER) else None
            tried = {"attempts": attempts, "response_code": outage.response_code, "next_attempt": again}
            self.events.update(event.event_id, delivery="retrying" if again else "failed", **tried)

    # --- what happens of itself, at its moment

    def due(self) -> datetime | None:
        charges = [i.charge_at for i in self.invoices if i.charge_at]
        overdue = [overdue_from(i.due) for i in self.invoices if i.due and i.status == "open" and not i.overdue]
        return min([*charges, *overdue, *(e.next_attempt for e in self.events if e.next_attempt)], default=None)

    def elapse(self) -> None:
        for invoice in [i for i in self.invoices if i.charge_at and i.charge_at <= self.now]:
            self._charge_automatically(invoice)
        for invoice in [i for i in self.invoices if i.status == "open" and not i.overdue and i.due and i.due < self.today]:
            self.invoices.update(invoice.invoice_id, overdue=True)
            self._tell("invoice.overdue", invoice.invoice_id)
        for event in [e for e in self.events if e.next_attempt and e.next_attempt <= self.now]:
            self._deliver(event)

    def _charge_automatically(self, invoice: Invoice) -> None:
        """Charge the card on file; what was declined is tried again some days later, a few times."""
        again = self.now + CHARGE_AGAIN_AFTER[invoice.attempts] if invoice.attempts < len(CHARGE_AGAIN_AFTER) else None
        tried = self.invoices.update(invoice.invoice_id, attempts=invoice.attempts + 1, charge_at=again)
        try:
            self._settle(tried, self._charged(tried))
        except ToolError:
            self._tell("invoice.payment_failed", invoice.invoice_id)


def address_of(url: WebhookUrl) -> tuple[str, str] | None:
    """What the spellings of one address have in common, as a host's case says nothing; None where it names no host."""
    parts = re.fullmatch(r"https://([^/?#@\[\]]+)(.*)", url)
    return (parts[1].casefold().removesuffix(":443"), parts[2] or "/") if parts else None


def overdue_from(due: Day) -> Moment:
    """When a due day is over."""
    return datetime.combine(due + timedelta(days=1), time(), UTC)
