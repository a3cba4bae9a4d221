"""The rules of the platform: an invoice's life, one payment for one key, partial refunds, and webhooks that are tried again."""

from datetime import UTC, datetime, timedelta

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
        platform.cards.add(type(next(iter(platform.cards)))(made, **{"last_four": "4242", "expires": "2030-01", "funds": 1_000_000} | card))
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


def moment(at):
    """A moment as a result shows it."""
    return at.isoformat().replace("+00:00", "Z")


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


# --- time


def tries(session, invoice_id):
    shown = show(session, invoice_id)["invoice"]
    return shown["attempts"], shown["charge_at"]


@pytest.mark.parametrize("steps", [1, 72])
def test_an_automatic_charge_is_made_an_hour_after_finalising_however_time_passes(session, steps):
    bill = invoice(session, customer(session, funds=100_000), collection="charge_automatically")
    for _ in range(steps):
        session.advance(hours=72 / steps)
    (payment,) = show(session, bill["invoice_id"])["payments"]
    assert datetime.fromisoformat(payment["paid"]) - datetime.fromisoformat(bill["finalized"]) == timedelta(hours=1)


def test_a_declined_charge_is_tried_again_after_three_five_and_seven_days_and_each_failure_is_told(session):
    url = {"url": "https://new.example/hook", "event_types": ["invoice.payment_failed"]}
    session.call("create_webhook", url)
    begins = session.clock.now
    bill = invoice(session, customer(session, funds=10_000), collection="charge_automatically")["invoice_id"]
    assert tries(session, bill) == (0, moment(begins + timedelta(hours=1)))
    session.advance(days=3)
    assert tries(session, bill) == (1, moment(begins + timedelta(days=3, hours=1)))
    session.advance(days=27)
    assert tries(session, bill) == (4, None)
    told = session.call("list_webhook_events", {"query": bill, "event_type": "invoice.payment_failed", "limit": 50}).value["items"]
    heard = [e["created"] for e in reversed(told) if e["url"] == url["url"]]
    assert heard == [moment(begins + timedelta(days=d, hours=1)) for d in (0, 3, 8, 15)]
    assert pay(session, bill, out_of_band=True).ok


def test_a_card_that_expires_is_not_charged_any_more(session):
    bill = invoice(session, customer(session, expires="2026-08"), collection="charge_automatically")["invoice_id"]
    assert session.clock.now.date().isoformat() < "2026-08-31"
    later = session.fork()
    session.advance(hours=1)
    assert show(session, bill)["invoice"]["status"] == "paid"
    later.servers["payments"].invoices.update(bill, charge_at=datetime(2026, 9, 1, tzinfo=UTC))
    later.advance(days=20)
    assert show(later, bill)["invoice"]["status"] == "open"


def test_an_invoice_falls_overdue_when_its_day_is_over_and_is_not_overdue_once_paid(session):
    bill = invoice(session, customer(session), days_until_due=1)["invoice_id"]
    session.advance(days=1)
    assert not show(session, bill)["invoice"]["overdue"]
    session.advance(days=1)
    assert show(session, bill)["invoice"]["overdue"]
    (told,) = session.call("list_webhook_events", {"query": f"{bill} alerts", "event_type": "invoice.overdue"}).value["items"]
    assert told["created"].endswith("T00:00:00Z")
    pay(session, bill, out_of_band=True)
    assert not show(session, bill)["invoice"]["overdue"]


def test_a_webhook_that_is_gone_is_tried_after_1_4_12_24_and_48_hours_and_then_no_more(session):
    bill = invoice(session, customer(session))["invoice_id"]
    pay(session, bill, out_of_band=True)
    ask = {"query": f"{bill} old.studio", "event_type": "invoice.paid"}
    told = []
    for hours in (1, 4, 12, 24, 48):
        told += session.call("list_webhook_events", ask).value["items"]
        session.advance(hours=hours)
    told += session.call("list_webhook_events", ask).value["items"]
    assert [e["attempts"] for e in told] == [1, 2, 3, 4, 5, 6]
    assert [e["delivery"] for e in told] == ["retrying"] * 5 + ["failed"]


def test_a_refund_has_a_time_of_its_own(session):
    payment = pay(session, invoice(session, customer(session, funds=100_000))["invoice_id"]).value
    session.advance(days=5)
    refund = session.call("create_refund", {"payment_id": payment["payment_id"], "amount": 100}).value
    assert datetime.fromisoformat(refund["created"]) - datetime.fromisoformat(payment["paid"]) == timedelta(days=5)


# --- reading


def test_cards_on_file_and_webhooks_with_their_events_can_be_read(session):
    made = customer(session, last_four="1881", expires="2029-05")
    (shown,) = session.call("search_resources", {"customer_id": made}).value["customers"]["items"]
    assert (shown["card"], shown["card_expires"]) == ("1881", "2029-05")
    session.call("create_webhook", {"url": "https://new.example/hook", "event_types": ["invoice.paid", "charge.refunded", "invoice.paid"]})
    (webhook,) = session.call("search_resources", {"query": "new.example"}).value["webhooks"]["items"]
    assert webhook["event_types"] == ["charge.refunded", "invoice.paid"]


def test_what_is_found_comes_newest_first_and_can_all_be_reached(session):
    buyer = customer(session)
    made = [session.call("create_invoice", {"customer_id": buyer}).value["invoice_id"] for _ in range(3)]
    ask = {"customer_id": buyer, "limit": 2}
    pages = [session.call("search_resources", {**ask, "offset": at}).value["invoices"]["items"] for at in (0, 2)]
    assert [i["invoice_id"] for page in pages for i in page] == made[::-1]


def test_events_of_one_moment_are_listed_the_last_first(session):
    made = [session.call("create_customer", {"name": n, "email": f"{n}@test.example"}).value["customer_id"] for n in "abc"]
    told = session.call("list_webhook_events", {"event_type": "customer.created", "limit": 3}).value["items"]
    assert [e["about"] for e in told] == made[::-1]


# --- refusals and what they advise


def test_a_key_said_again_for_the_same_invoice_in_another_way_is_told_what_it_was_used_for(session):
    bill = invoice(session, customer(session, funds=100_000))["invoice_id"]
    paid = pay(session, bill, out_of_band=True).value
    refused = pay(session, bill)
    assert refused.code == "conflict"
    assert f"was used for {bill} with out_of_band true: choose a new key, or say just that again" in refused.value["error"]["message"]
    assert pay(session, bill, out_of_band=True).value == paid


def test_without_a_card_the_advice_is_to_send_the_invoice_and_record_the_payment(session):
    buyer = customer(session)
    refused = session.call("create_invoice", {"customer_id": buyer, "collection": "charge_automatically"})
    assert "create it with collection 'send_invoice'" in refused.value["error"]["message"]
    assert session.call("create_invoice", {"customer_id": buyer, "collection": "send_invoice"}).ok
    bill = invoice(session, buyer)["invoice_id"]
    assert "record that with out_of_band true" in pay(session, bill).value["error"]["message"]
    assert pay(session, bill, out_of_band=True).ok


def test_a_draft_without_items_can_be_finalised_once_an_item_is_added_as_advised(session):
    draft = {"invoice_id": session.call("create_invoice", {"customer_id": customer(session)}).value["invoice_id"]}
    refused = session.call("finalize_invoice", draft)
    assert "add an item first" in refused.value["error"]["message"]
    session.call("add_invoice_item", {**draft, "price_id": CONSULTING})
    assert session.call("finalize_invoice", draft).ok


def test_too_high_a_refund_says_how_much_is_left(session):
    payment = pay(session, invoice(session, customer(session, funds=100_000))["invoice_id"]).value["payment_id"]
    session.call("create_refund", {"payment_id": payment, "amount": 9_000})
    refused = session.call("create_refund", {"payment_id": payment, "amount": 29_000})
    assert f"only 20000 cents of {payment} can still be refunded" in refused.value["error"]["message"]
    assert session.call("create_refund", {"payment_id": payment, "amount": 20_000}).ok


def test_what_was_paid_elsewhere_is_not_refunded_here(session):
    payment = pay(session, invoice(session, customer(session))["invoice_id"], out_of_band=True).value["payment_id"]
    assert session.call("create_refund", {"payment_id": payment}).code == "failed_precondition"


def test_an_email_belongs_to_one_customer_whatever_its_case(session):
    customer(session)
    again = session.call("create_customer", {"name": "Somebody", "email": "PAY@Test.Example"})
    assert again.code == "conflict"


def test_a_webhook_is_registered_once_and_there_are_sixteen_at_most(session):
    hook = {"url": "https://new.example/0", "event_types": ["invoice.paid"]}
    assert session.call("create_webhook", hook).ok
    assert session.call("create_webhook", hook).code == "conflict"
    for n in range(1, 12):
        assert session.call("create_webhook", {**hook, "url": f"https://new.example/{n}"}).ok
    assert session.call("create_webhook", {**hook, "url": "https://new.example/12"}).code == "resource_exhausted"


@pytest.mark.parametrize("again", ["https://NEW.example/hooks", "https://new.example:443/hooks"])
def test_an_address_is_registered_once_however_its_host_is_spelled(session, again):
    hook = {"url": "https://new.example/hooks", "event_types": ["invoice.paid"]}
    assert session.call("create_webhook", hook).ok
    assert session.call("create_webhook", {**hook, "url": again}).code == "conflict"
    assert session.call("create_webhook", {**hook, "url": "https://new.example/other"}).ok


@pytest.mark.parametrize("url", ["https://?", "https:///hooks", "https://[hooks"])
def test_an_address_names_a_host(session, url):
    refused = session.call("create_webhook", {"url": url, "event_types": ["invoice.paid"]})
    assert (refused.code, "names no host" in refused.text) == ("invalid_argument", True)


# --- worlds


@pytest.mark.parametrize("seed", range(30, 50))
def test_nobody_prints_a_handful_of_flyers_and_what_was_paid_twice_goes_back_as_a_whole(seed):
    platform = Session.open("payments", seed).servers["payments"]
    assert all(i.quantity >= 200 for i in platform.invoice_items.where(product="Print Flyer"))
    assert min(i.total for i in platform.invoices if i.number) >= 1_000
    paid = {p.payment_id: p.amount for p in platform.payments}
    assert all(r.amount == paid[r.payment_id] for r in platform.refunds.where(reason="duplicate"))


@pytest.mark.parametrize("seed", range(30))
def test_a_world_has_charges_that_failed_cards_that_expired_and_refunds_later_than_payments(seed):
    platform = Session.open("payments", seed).servers["payments"]
    assert platform.events.where(event_type="invoice.payment_failed")
    assert any(c.expires < f"{platform.today:%Y-%m}" for c in platform.cards)
    assert {i.status for i in platform.invoices} >= {"draft", "open", "paid"}
    assert {e.delivery for e in platform.events} >= {"delivered", "failed"}
    paid = {p.payment_id: p.paid for p in platform.payments}
    assert all(r.created > paid[r.payment_id] for r in platform.refunds)
    open_charges = [i for i in platform.invoices if i.status == "open" and i.collection == "charge_automatically" and not i.attempts]
    assert all(i.finalized + timedelta(hours=1) > platform.now for i in open_charges)
