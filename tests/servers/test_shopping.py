"""The rules of the store: stock, coupons, what checkout needs, and an order's life until its return is refunded."""

import pytest

from prove.servers.session import Session


@pytest.fixture
def session():
    """A session with an empty cart."""
    session = Session.open("shopping", seed=0)
    for item in session.call("get_cart", {}).value["items"]:
        session.call("remove_from_cart", {"cart_item_id": item["cart_item_id"]})
    session.call("remove_coupon", {})
    return session


def variants(session, **wanted):
    """All variants of the products that answer to the wishes."""
    products = session.call("search_products", {"limit": 50, **wanted}).value["items"]
    details = [session.call("get_product", {"product_id": p["product_id"]}).value for p in products]
    return [v for d in details if d["product"]["returnable"] for v in d["variants"]]


def fill(session, quantity=2):
    """Put something of which there is enough into the cart; returns the variant."""
    variant = next(v for v in variants(session, query="Jackets") if v["stock"] >= 5)
    assert session.call("add_to_cart", {"variant_id": variant["variant_id"], "quantity": quantity}).ok
    return variant


def buy(session, quantity=2, payment="PAY-1"):
    variant = fill(session, quantity)
    session.call("set_shipping_option", {"address_id": "ADR-1", "shipping_option_id": "SHP-3"})
    return variant, session.call("checkout", {"payment_method_id": payment})


def stock(session, variant):
    found = session.call("get_product", {"product_id": variant["product_id"]}).value["variants"]
    return next(v["stock"] for v in found if v["variant_id"] == variant["variant_id"])


def test_nobody_can_put_more_into_the_cart_than_there_is(session):
    variant = fill(session)
    more = {"variant_id": variant["variant_id"], "quantity": variant["stock"] - 1}  # two are in the cart
    assert session.call("add_to_cart", more).code == "resource_exhausted"


def test_sold_out_goods_come_back_on_the_day_that_was_announced(session):
    gone = next(v for v in variants(session) if v["restocked"])
    assert session.call("add_to_cart", {"variant_id": gone["variant_id"]}).code == "resource_exhausted"
    session.advance(days=12)
    assert session.call("add_to_cart", {"variant_id": gone["variant_id"], "quantity": 20}).ok


def test_a_cart_takes_one_coupon_and_keeps_to_its_minimum(session):
    variant = fill(session)
    subtotal = 2 * variant["price"]
    assert session.call("apply_coupon", {"code": "SUMMER30"}).code == "failed_precondition"  # it ran out
    assert session.call("apply_coupon", {"code": "KITCHEN20"}).code == "failed_precondition"  # nothing from the kitchen
    assert session.call("apply_coupon", {"code": "THANKS5"}).code == "conflict"  # an earlier order used it
    assert session.call("apply_coupon", {"code": "WELCOME10"}).value["discount"] == subtotal * 10 // 100
    assert session.call("apply_coupon", {"code": "SAVE15"}).code == "failed_precondition"  # there is one on the cart
    cart = session.call("remove_coupon", {}).value
    assert cart["total"] == subtotal + cart["shipping"]


def test_shipping_costs_its_price_and_something_a_kilogram_begun(session):
    variant = fill(session)
    weight = 2 * session.call("get_product", {"product_id": variant["product_id"]}).value["product"]["weight"]
    cart = session.call("set_shipping_option", {"address_id": "ADR-4", "shipping_option_id": "SHP-3"}).value
    assert cart["shipping"] == 1299 + 150 * ((weight + 999) // 1000) + 2500  # express, to Canada
    abroad = session.call("set_shipping_option", {"address_id": "ADR-4", "shipping_option_id": "SHP-4"})
    assert abroad.code == "failed_precondition"  # overnight stays in the country


def test_checkout_wants_goods_shipping_and_a_card_that_works(session):
    assert "empty" in session.call("checkout", {"payment_method_id": "PAY-1"}).text
    variant, paid = buy(session, payment="PAY-3")
    assert "expired" in paid.text
    order = session.call("checkout", {"payment_method_id": "PAY-1"}).value
    assert order["total"] == 2 * variant["price"] + order["shipping"]
    assert stock(session, variant) == variant["stock"] - 2
    assert not session.call("get_cart", {}).value["items"]


def test_a_gift_card_pays_what_it_holds_and_is_refunded(session):
    def balance():
        return session.call("list_payment_methods", {}).value["items"][3]["balance"]

    before = balance()
    cheap = next(v for v in variants(session, sort="cheapest", in_stock=True, query="Slippers") if v["stock"] and v["price"] < before)
    session.call("add_to_cart", {"variant_id": cheap["variant_id"]})
    session.call("set_shipping_option", {"address_id": "ADR-1", "shipping_option_id": "SHP-1"})
    order = session.call("checkout", {"payment_method_id": "PAY-4"}).value
    assert balance() == before - order["total"]
    session.call("cancel_order", {"order_id": order["order_id"]})
    assert balance() == before
    fill(session, quantity=5)
    session.call("set_shipping_option", {"address_id": "ADR-1", "shipping_option_id": "SHP-1"})
    assert session.call("checkout", {"payment_method_id": "PAY-4"}).code == "resource_exhausted"


def test_an_order_ships_arrives_and_can_be_sent_back_for_thirty_days(session):
    variant, paid = buy(session)
    order_id = paid.value["order_id"]
    item = session.call("get_order", {"order_id": order_id}).value["items"][0]["order_item_id"]
    assert session.call("track_shipment", {"order_id": order_id}).code == "failed_precondition"
    session.advance(days=1)
    assert session.call("track_shipment", {"order_id": order_id}).value["stage"] == "sorting_centre"
    assert session.call("cancel_order", {"order_id": order_id}).code == "failed_precondition"
    session.advance(days=2)  # express
    late = session.fork()
    late.advance(days=31)
    assert late.call("return_order_item", {"order_item_id": item, "reason": "too_big"}).code == "failed_precondition"
    sent = session.call("return_order_item", {"order_item_id": item, "reason": "too_big"}).value
    assert sent["refund"] == variant["price"]
    assert session.call("return_order_item", {"order_item_id": item, "reason": "too_big", "quantity": 2}).code == "resource_exhausted"
    session.advance(days=5)
    assert session.call("get_order", {"order_id": order_id}).value["order"]["refunded"] == variant["price"]
    assert stock(session, variant) == variant["stock"] - 1


def test_a_mistyped_card_number_is_not_saved(session):
    good, bad = "4242424242424242", "4242424242424241"
    assert session.call("add_payment_method", {"card_number": bad, "expires": "2029-05"}).code == "invalid_argument"
    assert session.call("add_payment_method", {"card_number": good, "expires": "2029-05"}).value["last_four"] == "4242"
