"""A small design studio's payments: customers, some of one name, half a year of invoices in every state, and a webhook that is down."""

import heapq
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from dateutil.relativedelta import relativedelta

from prove.servers.maker import Maker

from .records import Card, Customer, Outage, Payment, Price, Webhook
from .tools import Payments

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
PIECES = {"Print Flyer": (200, 1000, 50), "Consulting Hour": (2, 12, 1), "Business Cards": (2, 12, 1)}  # sold at once; of others one
MEMOS = ("", "", "", "Thank you for your business", "Second half, as agreed", "Purchase order 4471", "Spring campaign", "Includes travel")
WEBHOOKS = (  # address, what it is told
    ("https://books.studio.example/hooks", ["invoice.finalized", "invoice.paid", "invoice.overdue", "charge.refunded"]),
    ("https://alerts.studio.example/payments", ["invoice.payment_failed", "invoice.overdue"]),
    ("https://crm.studio.example/sync", ["customer.created", "invoice.created", "invoice.paid"]),  # went down, comes back in two days
    ("https://old.studio.example/listener", ["invoice.paid"]),  # gone for good
)
INVOICES, DRAFTS = 71, 14
REGISTERED = -40  # the day of the webhooks


def populate(platform: Payments, make: Maker) -> None:
    _customers(platform, make)
    for price in PRICES:
        platform.prices.add(Price(platform.prices.mint(), *price[:3], active=True))
    studio = Studio(platform, make)
    studio.plan(make.moment(-60, 5), studio.retire_prices)
    studio.plan(make.moment(REGISTERED, 5), studio.register_webhooks)
    for _ in range(INVOICES):
        studio.plan(make.moment(-make.between(1, 180), make.between(6, 8), make.between(0, 59)), studio.bill)
    studio.plan(make.moment(-make.between(2, 12), 7, make.between(0, 59)), studio.bill_too_much)
    for _ in range(DRAFTS):
        studio.plan(make.moment(-make.between(0, 6), make.between(6, 8), make.between(0, 59)), studio.draft)
    studio.live()


def _customers(platform: Payments, make: Maker) -> None:
    """Companies and people; two people share a full name, and not everybody's card is good."""
    people = [make.person() for _ in range(18)]
    for name in [*COMPANIES, *people, people[0]]:
        again = any(c.name == name for c in platform.customers)
        email = make.email(name.replace(" & ", " "), "mail.example" if again else "example.com")
        customer = platform.customers.add(Customer(platform.customers.mint(), name, email))
        if make.chance(0.75):
            ahead = -make.between(1, 5) if make.chance(0.2) else make.between(1, 40)
            expires = make.today + relativedelta(months=ahead)
            funds = make.between(20_000, 90_000, 1000) if make.chance(0.2) else make.between(500_000, 2_000_000, 1000)
            platform.cards.add(Card(customer.customer_id, make.digits(4), f"{expires:%Y-%m}", funds))
    poor = platform.customers.add(Customer(platform.customers.mint(), "Tinker & Daughters", "tinker@example.com"))
    platform.cards.add(Card(poor.customer_id, make.digits(4), f"{make.today + relativedelta(months=9):%Y-%m}", 60_000))


class Studio:
    """The people of the studio: what they have planned to do, each at its time, while the platform does what is due."""

    def __init__(self, platform: Payments, make: Maker) -> None:
        self.platform, self.make = platform, make
        self.plans: list[tuple[datetime, int, Callable[[], None]]] = []
        self.planned = 0

    def plan(self, at: datetime, deed: Callable[[], None]) -> None:
        self.planned += 1
        heapq.heappush(self.plans, (at, self.planned, deed))

    def later(self, days: int, deed: Callable[[], None]) -> None:
        """Plan to do something, at some time of a later day."""
        at = self.platform.now + timedelta(days=days)
        self.plan(at.replace(hour=self.make.between(8, 17), minute=self.make.between(0, 59)), deed)

    def live(self) -> None:
        """Do all that was planned until the world's start."""
        start = self.make.start
        while self.plans and self.plans[0][0] <= start:
            at, _, deed = heapq.heappop(self.plans)
            self.platform.live_until(at)
            deed()
        self.platform.live_until(start)

    # --- what they do

    def retire_prices(self) -> None:
        for price, (*_, still_sold) in zip(list(self.platform.prices), PRICES, strict=True):
            self.platform.prices.update(price.price_id, active=still_sold)

    def register_webhooks(self) -> None:
        for url, event_types in WEBHOOKS:
            self.platform.webhooks.add(Webhook(self.platform.webhooks.mint(), url, sorted(event_types), self.platform.now))
        self.platform.outages.add(Outage(WEBHOOKS[2][0], 503, self.make.moment(-1), self.make.moment(2)))
        self.platform.outages.add(Outage(WEBHOOKS[3][0], 404, self.make.moment(-20), None))

    def draft(self) -> None:
        self.drafted(self.make.between(0, 3))  # some still without an item

    def drafted(self, items: int) -> str:
        platform, make = self.platform, self.make
        customer_id = make.pick(platform.customers.keys())
        card = platform.cards.find(customer_id)
        good = card is not None and card.expires >= f"{platform.today:%Y-%m}"
        collection = "charge_automatically" if good and make.chance(0.5) else "send_invoice"
        key = platform.create_invoice(customer_id, collection, make.pick((14, 30)), make.pick(MEMOS)).invoice_id
        for price in make.some([p for p in platform.prices if p.active], items):
            platform.add_invoice_item(key, price.price_id, make.between(*PIECES.get(price.product, (1, 1, 1))))
        return key

    def bill(self) -> None:
        """Draft and finalise an invoice; most are paid in time, some late, a few not at all or void."""
        make, key = self.make, self.drafted(self.make.between(1, 3))
        invoice = self.platform.finalize_invoice(key)
        if make.chance(0.05):
            self.later(make.between(1, 5), partial(self.void, key))
        elif invoice.collection == "send_invoice" and make.chance(0.92):
            late = make.between(1, 12) if make.chance(0.1) else -make.between(0, invoice.days_until_due - 2)
            self.later(invoice.days_until_due + late, partial(self.collect, key))
        elif invoice.collection == "charge_automatically":
            self.later(1, partial(self.regret, key))

    def bill_too_much(self) -> None:
        """More than the customer's card can pay: it is tried again and again."""
        *_, customer_id = self.platform.customers.keys()
        key = self.platform.create_invoice(customer_id, "charge_automatically", 14).invoice_id
        self.platform.add_invoice_item(key, self.platform.prices.where(product="Landing Page")[0].price_id)
        self.platform.finalize_invoice(key)

    def void(self, key: str) -> None:
        if self.platform.invoices.get(key).status == "open":
            self.platform.invoices.update(key, status="void", charge_at=None, overdue=False)

    def collect(self, key: str) -> None:
        """By the card on file where that works."""
        platform, invoice = self.platform, self.platform.invoices.get(key)
        card = platform.cards.find(invoice.customer_id)
        works = card is not None and invoice.total <= card.funds and card.expires >= f"{platform.today:%Y-%m}"
        platform.pay_invoice(key, f"pay-{self.make.digits(8)}", not works)
        self.regret(key)

    def regret(self, key: str) -> None:
        """One card payment in five is given back some days later, as a whole or in part."""
        for payment in self.platform.payments.where(invoice_id=key):
            if payment.card and self.make.chance(0.2):
                self.later(self.make.between(2, 15), partial(self.refund, payment))

    def refund(self, payment: Payment) -> None:
        """What was paid twice is given back as a whole."""
        whole = self.make.chance(0.3)
        amount = payment.amount if whole else payment.amount // self.make.between(2, 6)
        reasons = ("duplicate", "requested_by_customer", None) if whole else ("requested_by_customer", None)
        self.platform.create_refund(payment.payment_id, amount, self.make.pick(reasons))
