"""A small design studio's payments: customers, some of one name, half a year of invoices in every state, and a webhook that is down."""

from datetime import timedelta

from dateutil.relativedelta import relativedelta

from prove.servers.maker import Maker
from servers.payments.tools import (
    Card,
    Customer,
    Invoice,
    InvoiceItem,
    Numbering,
    Outage,
    Payment,
    Payments,
    Price,
    Refund,
    Request,
    Webhook,
)

COMPANIES = (
    "Northwind Foods", "Northwind Energy", "Orion Logistics", "Maple Health", "Quarry Software", "Harbor Cinema", "Greenleaf Market",
    "Blue Door Books", "Pinecrest School", "Fjord & Sons", "Alder Aerospace", "Stitch & Sole", "Cardwell Bank", "Lakeview Apartments",
)  # fmt: skip
PRICES = (  # product, rate, price in cents, still sold
    ("Consulting Hour", "standard", 14_500, True),
    ("Consulting Hour", "weekend", 21_000, True),
    ("Consulting Hour", "nonprofit", 9_500, True),
    ("Logo Design", "standard", 120_000, True),
    ("Logo Design", "express", 175_000, True),
    ("Brand Guidelines", "standard", 240_000, True),
    ("Landing Page", "standard", 185_000, True),
    ("Landing Page", "launch offer", 129_000, False),
    ("Photo Session", "half day", 48_000, True),
    ("Photo Session", "full day", 82_000, True),
    ("Print Flyer", "standard", 35, True),
    ("Business Cards", "standard", 4_900, True),
    ("Website Hosting", "yearly", 24_000, True),
    ("Website Hosting", "monthly", 2_500, True),
    ("Newsletter Setup", "standard", 56_000, True),
    ("Accessibility Audit", "standard", 98_000, True),
    ("Icon Set", "standard", 39_000, False),
    ("Training Workshop", "standard", 110_000, True),
    ("Training Workshop", "nonprofit", 65_000, True),
)
BULK = ("Print Flyer", "Consulting Hour", "Business Cards")  # sold by the dozen
MEMOS = ("", "", "", "Thank you for your business", "Second half, as agreed", "Purchase order 4471", "Spring campaign", "Includes travel")
WEBHOOKS = (  # address, what it is told
    ("https://books.studio.example/hooks", ["invoice.finalized", "invoice.paid", "invoice.overdue", "charge.refunded"]),
    ("https://alerts.studio.example/payments", ["invoice.payment_failed", "invoice.overdue"]),
    ("https://crm.studio.example/sync", ["customer.created", "invoice.created", "invoice.paid"]),  # comes back in two days
    ("https://old.studio.example/listener", ["invoice.paid"]),  # gone for good
)
INVOICES, DRAFTS = 72, 14


def populate(platform: Payments, make: Maker) -> None:
    _webhooks(platform, make)
    _customers(platform, make)
    for price in PRICES:
        platform.prices.add(Price(platform.prices.mint(), *price))
    for ago in sorted((make.between(1, 180) for _ in range(INVOICES)), reverse=True):
        _invoice(platform, make, ago)
    for ago in sorted((make.between(0, 6) for _ in range(DRAFTS)), reverse=True):
        _draft(platform, make, ago, make.between(0, 3))  # some still without an item
    platform._retry()  # deliveries that were due before the world begins


def _webhooks(platform: Payments, make: Maker) -> None:
    for url, event_types in WEBHOOKS:
        platform.webhooks.add(Webhook(platform.webhooks.mint(), url, list(event_types), make.moment(-200)))
    platform.outages.add(Outage(WEBHOOKS[2][0], 503, make.moment(2)))
    platform.outages.add(Outage(WEBHOOKS[3][0], 404, None))


def _customers(platform: Payments, make: Maker) -> None:
    """Companies and people; two people share a full name, and not everybody's card is good."""
    people = [make.person() for _ in range(18)]
    for name in [*COMPANIES, *people, people[0]]:
        again = any(c.name == name for c in platform.customers)
        email = make.email(name.replace(" & ", " "), "mail.example" if again else "example.com")
        customer = platform.customers.add(Customer(platform.customers.mint(), name, email))
        if make.chance(0.75):
            ahead = -2 if make.chance(0.12) else make.between(1, 40)
            expires = make.today + relativedelta(months=ahead)
            funds = make.between(20_000, 90_000, 1000) if make.chance(0.2) else make.between(500_000, 2_000_000, 1000)
            platform.cards.add(Card(customer.customer_id, make.digits(4), f"{expires:%Y-%m}", funds))


def _draft(platform: Payments, make: Maker, ago: int, items: int) -> Invoice:
    customer = make.pick(list(platform.customers))
    collection = "charge_automatically" if customer.customer_id in platform.cards and make.chance(0.5) else "send_invoice"
    created = make.moment(-ago, make.between(6, 8), make.between(0, 59))
    invoice = Invoice(platform.invoices.mint(), customer.customer_id, collection, make.pick((14, 30)), make.pick(MEMOS), created)
    total = 0
    for price in make.some([p for p in platform.prices if p.active or ago > 60], items):
        quantity = make.between(2, 12) if price.product in BULK else 1
        amount = quantity * price.unit_amount
        what = (invoice.invoice_id, price.price_id, price.product, quantity, price.unit_amount, amount)
        platform.invoice_items.add(InvoiceItem(platform.invoice_items.mint(), *what))
        total += amount
    platform.invoices.add(invoice)
    return platform.invoices.update(invoice.invoice_id, total=total)


def _invoice(platform: Payments, make: Maker, ago: int) -> None:
    """An invoice finalised so many days ago; most were paid in time, some are open, a few overdue or void."""
    invoice = _draft(platform, make, ago, make.between(1, 3))
    key, finalized = invoice.invoice_id, invoice.created + timedelta(hours=1)
    number = platform.numbers.add(Numbering(platform.numbers.mint(), key)).number
    due = finalized.date() + timedelta(days=invoice.days_until_due)
    overdue, void = due < make.today and make.chance(0.1), make.chance(0.05)
    paid_after = min(ago - 1, 0 if invoice.collection == "charge_automatically" else make.between(2, invoice.days_until_due))
    paid = not void and not overdue and (ago > invoice.days_until_due or make.chance(0.5))
    status = "void" if void else "paid" if paid else "open"
    platform.invoices.update(key, number=number, status=status, due=due, overdue=status == "open" and due < make.today)
    if ago <= 40:
        platform._tell("invoice.finalized", key, finalized)
    if paid:
        _pay(platform, make, platform.invoices.get(key), paid_after)
    elif overdue and not void and (make.today - due).days <= 40:
        platform._tell("invoice.overdue", key, make.moment((due - make.today).days + 1, hour=0))


def _pay(platform: Payments, make: Maker, invoice: Invoice, after: int) -> None:
    card, at = platform.cards.find(invoice.customer_id), invoice.created + timedelta(days=after, hours=2)
    last_four = card.last_four if card and invoice.total <= card.funds else None
    what = (invoice.invoice_id, invoice.customer_id, invoice.number, invoice.total, at, last_four)
    payment = Payment(platform.payments.mint(), *what)
    platform.payments.add(payment)
    if (make.start - at).days <= 40:
        platform._tell("invoice.paid", invoice.invoice_id, at)
    if make.chance(0.2):
        platform.requests.add(Request(f"pay-{make.digits(8)}", invoice.invoice_id, last_four is None, payment.payment_id))
    if last_four and make.chance(0.2):
        amount = payment.amount if make.chance(0.3) else payment.amount // make.between(2, 6)
        refund = Refund(platform.refunds.mint(), payment.payment_id, amount, make.pick(("duplicate", "requested_by_customer", None)), at)
        platform.refunds.add(refund)
        platform.payments.update(payment.payment_id, refunded=amount)
        if (make.start - at).days <= 40:
            platform._tell("charge.refunded", refund.refund_id, at)
