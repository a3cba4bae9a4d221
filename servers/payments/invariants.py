"""What must hold on a payment platform: after every call, and of its past."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise

from .records import Card, Event, Invoice
from .tools import CHARGE_AFTER, CHARGE_AGAIN_AFTER, RETRY_AFTER, Payments, address_of, overdue_from


def invariants(platform: Payments) -> Iterator[str]:
    for invoice in platform.invoices:
        key, payments = invoice.invoice_id, platform.payments.where(invoice_id=invoice.invoice_id)
        if invoice.total != sum(i.amount for i in platform.invoice_items.where(invoice_id=key)):
            yield f"{key}: its items do not add up to {invoice.total}"
        if [p.amount for p in payments] != ([invoice.total] if invoice.status == "paid" else []):
            yield f"{key} is {invoice.status} with {len(payments)} payments"
        numbered = invoice.number is not None and platform.numbers.get(invoice.number).invoice_id == key
        if numbered != (invoice.status != "draft") or (invoice.due is None) == numbered or (invoice.finalized is None) == numbered:
            yield f"{key} is {invoice.status} with number {invoice.number} and due date {invoice.due}"
        if invoice.customer_id not in platform.customers:
            yield f"{key} is to nobody"
        if invoice.status != "open" and (invoice.charge_at or invoice.overdue):
            yield f"{key} is {invoice.status}, and is to be charged at {invoice.charge_at} or overdue"
    for item in platform.invoice_items:
        if item.amount != item.quantity * item.unit_amount:
            yield f"{item.invoice_item_id}: {item.quantity} times {item.unit_amount} is not {item.amount}"
    refunded = Counter[str]()
    for refund in platform.refunds:
        refunded[refund.payment_id] += refund.amount
    for payment in platform.payments:
        if payment.refunded != refunded[payment.payment_id]:
            yield f"{payment.payment_id}: its refunds do not add up to {payment.refunded}"
        if not 0 <= payment.refunded <= payment.amount:
            yield f"{payment.payment_id}: {payment.refunded} of {payment.amount} are refunded"
    for what, values in (("address", [address_of(w.url) for w in platform.webhooks]), ("email", [c.email for c in platform.customers])):
        yield from (f"{count} have the {what} {value}" for value, count in Counter(values).items() if count > 1)
    for event in platform.events:
        if event.event_type not in platform.webhooks.get(event.webhook_id).event_types:
            yield f"{event.event_id} was sent to a webhook that did not ask for it"
        if (event.delivery == "retrying") != (event.next_attempt is not None) or not event.attempts:
            yield f"{event.event_id} is {event.delivery} after {event.attempts} attempts, the next at {event.next_attempt}"


def past(platform: Payments) -> Iterator[str]:
    for invoice in platform.invoices:
        yield from _collected(platform, invoice)
        yield from _told(platform, invoice)
    yield from _in_order(platform)
    for payment in platform.payments:
        card = platform.cards.find(payment.customer_id)
        if payment.card and (card is None or not _good(card, f"{payment.paid:%Y-%m}", payment.amount)):
            yield f"{payment.payment_id} was paid {payment.paid} by a card that could not have been used"
        if payment.card is None and platform.requests.where(payment_id=payment.payment_id, out_of_band=True) == []:
            yield f"{payment.payment_id} was paid elsewhere, and nobody has said so"
    for refund in platform.refunds:
        payment = platform.payments.get(refund.payment_id)
        if not payment.card or refund.created < payment.paid:
            yield f"{refund.refund_id} gives back {payment.payment_id}, of card {payment.card} at {payment.paid}, on {refund.created}"
    for event in platform.events:
        yield from _tried(platform, event)


def _good(card: Card, month: str, amount: int) -> bool:
    return card.expires >= month and amount <= card.funds


def _collected(platform: Payments, invoice: Invoice) -> Iterator[str]:
    """What is charged automatically is charged an hour after finalising and, where that is declined, some days later again."""
    key, waits = invoice.invoice_id, [CHARGE_AFTER, *CHARGE_AGAIN_AFTER]
    automatic = invoice.collection == "charge_automatically"
    if invoice.finalized is None:
        return
    tries = [invoice.finalized + sum(waits[: n + 1], timedelta()) for n in range(len(waits))] if automatic else []
    if invoice.status == "open":
        passed = sum(at <= platform.now for at in tries)
        following = tries[passed] if passed < len(tries) else None
        if (invoice.attempts, invoice.charge_at) != (passed, following):
            yield f"{key} was tried {invoice.attempts} times, and is to be next at {invoice.charge_at}"
        card = platform.cards.find(invoice.customer_id)
        if passed and card and _good(card, f"{platform.now:%Y-%m}", invoice.total):
            yield f"{key} is open, although the card on file is good for it"
        if invoice.due and invoice.overdue != (overdue_from(invoice.due) <= platform.now):
            yield f"{key} was due {invoice.due}, and overdue is {invoice.overdue}"
    for payment in platform.payments.where(invoice_id=key):
        if payment.paid < invoice.finalized:
            yield f"{key} was finalised {invoice.finalized} and paid {payment.paid}"
        asked_for = platform.requests.where(payment_id=payment.payment_id)
        if not asked_for and payment.paid not in tries:
            yield f"{key} was charged at {payment.paid}, when nothing was due"


def _told(platform: Payments, invoice: Invoice) -> Iterator[str]:
    """Each webhook that asks for it has heard once of whatever happened since it was registered."""
    payments = platform.payments.where(invoice_id=invoice.invoice_id)
    happened = {"invoice.created": [invoice.created], "invoice.paid": [p.paid for p in payments]}
    happened["invoice.finalized"] = [invoice.finalized] if invoice.finalized else []
    events = platform.events.where(about=invoice.invoice_id)
    for webhook in platform.webhooks:
        for event_type in set(webhook.event_types) & happened.keys():
            heard = [e.created for e in events if (e.webhook_id, e.event_type) == (webhook.webhook_id, event_type)]
            missed = [at for at in happened[event_type] if at > webhook.created and at not in heard]
            if missed or len(heard) > len(happened[event_type]):
                yield f"{webhook.webhook_id} heard {len(heard)} times of {event_type} of {invoice.invoice_id}, and not at {missed}"


def _in_order(platform: Payments) -> Iterator[str]:
    """Whatever is numbered was made in the order of its numbers, and none of it is still to come."""
    final = [platform.invoices.get(n.invoice_id) for n in platform.numbers]
    made = {
        "invoice": [i.created for i in platform.invoices],
        "number": [i.finalized for i in final if i.finalized],
        "payment": [p.paid for p in platform.payments],
        "refund": [r.created for r in platform.refunds],
        "event": [e.created for e in platform.events],
    }
    for what, moments in made.items():
        if any(later < earlier for earlier, later in pairwise(moments)) or (moments and moments[-1] > platform.now):
            yield f"one {what} was made before the one before it, or is still to come"
    for invoice in platform.invoices:
        if invoice.finalized and invoice.finalized < invoice.created:
            yield f"{invoice.invoice_id} was finalised before it was created"


def _tried(platform: Payments, event: Event) -> Iterator[str]:
    if event.created < platform.webhooks.get(event.webhook_id).created:
        yield f"{event.event_id} was sent to a webhook that was not registered yet"
    if event.attempts > len(RETRY_AFTER) + 1 or (event.delivery == "failed" and event.attempts <= len(RETRY_AFTER)):
        yield f"{event.event_id} is {event.delivery} after {event.attempts} attempts"
    if event.next_attempt and event.next_attempt != event.created + sum(RETRY_AFTER[: event.attempts], timedelta()):
        yield f"{event.event_id} of {event.created} is to be tried for time {event.attempts + 1} at {event.next_attempt}"
    if event.next_attempt and event.next_attempt < platform.now:
        yield f"{event.event_id} should have been tried at {event.next_attempt}"
