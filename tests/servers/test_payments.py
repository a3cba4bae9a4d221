"""The rules of the platform: an invoice's life, one payment for one key, partial refunds, and webhooks that are tried again."""

import pytest

from prove.servers.session import Session

CONSULTING, RETIRED = "price_101", "price_108"  # 145.00 an hour; a launch offer that is not sold any more


@pytest.fixture
def session():
    return Session.open("payments", seed=0)


def customer(session, **card):
    """A new customer, with a card on file if asked for."""
    made = session.call("create_customer", {"name": "Test & Co", "email": "pay@test.example"}).value["customer_id"]
    if card:
        platform = session.servers["payments"]
        platform.cards.add(type(next(iter(platform.cards)))(made, "4242", **{"expires": "2030-01", "funds": 1_000_000} | card))
    return made


def invoice(session, customer_id, hours=2, **more):
    """A finalised invoice for some hours of consulting."""
    made = session.call("create_invoice", {"customer_id": customer_id, **more}).value["invoice_id"]
    session.call("add_invoice_item", {"invoice_id": made, "price_id": CONSULTING, "quantity": hours})
    return session.call("finalize_invoice", {"invoice_id": made}).value


def pay(session, invoice_id, key="KEY-000001", **more):
    return session.call("pay_invoice", {"invoice_id": invoice_id, "idempotency_key": key, **more})


def show(session, invoice_id):
    return session.call("get_invoice", {"invoice_id": invoice_id}).value


def test_an_invoice_is_drafted_filled_finalised_and_paid(session):
    draft = {"invoice_id": session.call("create_invoice", {"customer_id": customer(session, funds=100_000)}).value["invoice_id"]}
    assert session.call("finalize_invoice", draft).code == "failed_precondition"  # it has no items
    item = {**draft, "price_id": CONSULTING, "quantity": 3}
    assert session.call("add_invoice_item", item).value["amount"] == 3 * 14_500
    assert session.call("add_invoice_item", {**draft, "price_id": RETIRED}).code == "failed_precondition"
    assert pay(session, draft["invoice_id"]).code == "failed_precondition"  # still a draft
    assert session.call("finalize_invoice", draft).value["number"] == "INV-1073"  # the next after the 72 of this world
    assert session.call("add_invoice_item", item).code == "failed_precondition"  # no draft any more
    assert pay(session, draft["invoice_id"]).value["amount"] == 43_500
    assert show(session, draft["invoice_id"])["amount_due"] == 0


def test_one_key_pays_once(session):
    buyer = customer(session, funds=100_000)
    first, second = invoice(session, buyer)["invoice_id"], invoice(session, buyer)["invoice_id"]
    paid = pay(session, first).value
    assert pay(session, first).value == paid
    assert pay(session, second).code == "conflict"
    assert pay(session, first, key="KEY-000002").code == "failed_precondition"  # paid already
    assert pay(session, second, key="KEY-000002").ok


def test_a_card_must_be_there_valid_and_good_for_the_amount(session):
    buyer = customer(session)
    bill = invoice(session, buyer)["invoice_id"]
    assert pay(session, bill).code == "failed_precondition"
    assert session.call("create_invoice", {"customer_id": buyer, "collection": "charge_automatically"}).code == "failed_precondition"
    assert pay(session, bill, out_of_band=True).value["card"] is None


@pytest.mark.parametrize(("card", "code"), [({"expires": "2020-01"}, "failed_precondition"), ({"funds": 28_999}, "resource_exhausted")])
def test_a_bad_card_is_declined(session, card, code):
    assert pay(session, invoice(session, customer(session, **card))["invoice_id"]).code == code


def test_refunds_add_up_to_the_payment_and_no_more(session):
    payment = pay(session, invoice(session, customer(session, funds=100_000))["invoice_id"]).value["payment_id"]
    refund = {"payment_id": payment, "amount": 9_000}
    assert session.call("create_refund", refund).ok
    assert session.call("create_refund", {**refund, "amount": 20_001}).code == "resource_exhausted"
    assert session.call("create_refund", {"payment_id": payment}).value["amount"] == 20_000  # the rest of 29,000
    assert session.call("create_refund", {"payment_id": payment}).code == "resource_exhausted"


def test_an_automatic_invoice_is_charged_an_hour_later_and_any_other_falls_overdue(session):
    buyer = customer(session, funds=30_000)
    good = invoice(session, buyer, hours=2, collection="charge_automatically")["invoice_id"]
    declined = invoice(session, buyer, hours=3, collection="charge_automatically", days_until_due=1)["invoice_id"]
    session.call("create_webhook", {"url": "https://new.example/hook", "event_types": ["invoice.payment_failed", "invoice.overdue"]})
    session.advance(hours=1)
    assert [show(session, i)["invoice"]["status"] for i in (good, declined)] == ["paid", "open"]
    session.advance(days=2)
    assert show(session, declined)["invoice"]["overdue"]
    told = session.call("list_webhook_events", {"query": "new.example", "limit": 50}).value["items"]
    assert [e["event_type"] for e in told if e["about"] == declined] == ["invoice.overdue", "invoice.payment_failed"]


def test_a_webhook_that_is_down_is_tried_again_until_it_answers(session):
    made = customer(session)  # the webhook that hears of new customers is down for two more days
    event = {"query": made}
    assert session.call("list_webhook_events", event).value["items"][0]["response_code"] == 503
    session.advance(hours=6)  # tried again after 1 and 4 more hours
    assert session.call("list_webhook_events", event).value["items"][0]["attempts"] == 3
    session.advance(days=4)  # after 12 and 24 hours more it was still down, after another 48 it was not
    delivered = session.call("list_webhook_events", event).value["items"][0]
    assert (delivered["delivery"], delivered["attempts"]) == ("delivered", 6)


def test_a_webhook_that_is_gone_fails_for_good(session):
    bill = invoice(session, customer(session))["invoice_id"]
    pay(session, bill, out_of_band=True)
    session.advance(days=8)
    told = session.call("list_webhook_events", {"query": bill, "event_type": "invoice.paid"}).value["items"]
    assert {e["url"]: e["delivery"] for e in told}["https://old.studio.example/listener"] == "failed"
