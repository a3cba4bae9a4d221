"""What must hold on a payment platform after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.payments.tools import Payments


def invariants(platform: Payments) -> Iterator[str]:
    for invoice in platform.invoices:
        key, payments = invoice.invoice_id, platform.payments.where(invoice_id=invoice.invoice_id)
        if invoice.total != sum(i.amount for i in platform.invoice_items.where(invoice_id=key)):
            yield f"{key}: its items do not add up to {invoice.total}"
        if [p.amount for p in payments] != ([invoice.total] if invoice.status == "paid" else []):
            yield f"{key} is {invoice.status} with {len(payments)} payments"
        numbered = invoice.number is not None and platform.numbers.get(invoice.number).invoice_id == key
        if numbered != (invoice.status != "draft") or (invoice.due is None) == numbered:
            yield f"{key} is {invoice.status} with number {invoice.number} and due date {invoice.due}"
        if invoice.customer_id not in platform.customers:
            yield f"{key} is to nobody"
    for item in platform.invoice_items:
        if item.amount != item.quantity * item.unit_amount:
            yield f"{item.invoice_item_id}: {item.quantity} times {item.unit_amount} is not {item.amount}"
    for payment in platform.payments:
        if payment.refunded != sum(r.amount for r in platform.refunds.where(payment_id=payment.payment_id)):
            yield f"{payment.payment_id}: its refunds do not add up to {payment.refunded}"
        if not 0 <= payment.refunded <= payment.amount:
            yield f"{payment.payment_id}: {payment.refunded} of {payment.amount} are refunded"
    urls = Counter(w.url for w in platform.webhooks)
    yield from (f"{count} webhooks have the address {url}" for url, count in urls.items() if count > 1)
    for event in platform.events:
        if event.event_type not in platform.webhooks.get(event.webhook_id).event_types:
            yield f"{event.event_id} was sent to a webhook that did not ask for it"
        if (event.delivery == "retrying") != (event.next_attempt is not None) or not event.attempts:
            yield f"{event.event_id} is {event.delivery} after {event.attempts} attempts, the next at {event.next_attempt}"
