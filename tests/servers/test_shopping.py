"""The rules of the store: stock, coupons, what checkout needs, and an order's life until its return is refunded."""

import re
from datetime import datetime

import pytest

from prove.library.shopping.cards import brand_of
from prove.library.shopping.prices import spread
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


def test_no_card_is_good_for_more_than_twenty_years(session):
    card = {"card_number": "4242424242424242"}  # and it is August 2026
    refused = session.call("add_payment_method", {**card, "expires": "2046-09"})
    assert (refused.code, "2046-08 is the latest" in refused.text) == ("invalid_argument", True)
    assert session.call("add_payment_method", {**card, "expires": "2046-08"}).ok


@pytest.mark.parametrize("seed", range(40, 50))
def test_what_is_sent_back_as_too_small_is_worn(seed):
    shop = Session.open("shopping", seed).servers["shopping"]
    for sent in shop.returns.where(reason="too_small"):
        product = shop._product(shop.order_items.get(sent.order_item_id).variant_id)
        assert shop.categories.get(product.category_id).department == "clothing"


def live(session):
    return session.servers["shopping"]


def value(session, tool, **arguments):
    result = session.call(tool, arguments)
    assert result.ok, result.text
    return result.value


def put(session, name, pieces=1, final_sale=False):
    """Put a product into the cart by its name, out of a full warehouse, made to be returnable or not."""
    shop = live(session)
    product = next(p for p in shop.products if p.name == name)
    shop.products.update(product.product_id, returnable=not final_sale)
    variant = shop.variants.where(product_id=product.product_id)[0]
    shop.variants.update(variant.variant_id, stock=50)
    value(session, "add_to_cart", variant_id=variant.variant_id, quantity=pieces)
    return variant


def ordered(session, coupon=None, shipping="SHP-3"):
    """Buy what is in the cart and wait until it has come; returns the details of the order."""
    if coupon:
        value(session, "apply_coupon", code=coupon)
    value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id=shipping)
    order = value(session, "checkout", payment_method_id="PAY-1")
    session.advance(days=14)
    return value(session, "get_order", order_id=order["order_id"])


def test_a_coupon_takes_its_share_off_the_lines_it_counts_and_nothing_off_the_others(session):
    put(session, "Cast Iron Skillet")
    put(session, "Dutch Oven")
    put(session, "Down Jacket")
    details = ordered(session, coupon="KITCHEN20", shipping="SHP-2")
    skillet, oven, jacket = details["items"]
    assert skillet["discount"] == skillet["price"] * 20 // 100
    assert skillet["discount"] + oven["discount"] == (skillet["price"] + oven["price"]) * 20 // 100 == details["order"]["discount"]
    assert jacket["discount"] == 0
    refund = value(session, "return_order_item", order_item_id=skillet["order_item_id"], reason="too_big")["refund"]
    assert refund == skillet["price"] - skillet["discount"]


@pytest.mark.parametrize(("amount", "weights", "shares"), [(100, [1, 1, 1], [33, 33, 34]), (5, [0, 7, 0], [0, 5, 0]), (0, [3, 4], [0, 0])])
def test_odd_cents_are_handed_out_and_the_shares_add_up(amount, weights, shares):
    assert spread(amount, weights) == shares


def test_pieces_sent_back_one_by_one_give_back_what_was_paid_to_the_cent(session):
    put(session, "Harbor Masters", pieces=3)  # 3 x 4900
    live(session).coupons.update("BIGSPEND50", minimum=1000, value=1000)
    item = ordered(session, coupon="BIGSPEND50")["items"][0]
    back = [value(session, "return_order_item", order_item_id=item["order_item_id"], reason="changed_mind")["refund"] for _ in range(3)]
    assert back == [4566, 4567, 4567]
    assert sum(back) == 3 * 4900 - 1000
    session.advance(days=5)
    details = value(session, "get_order", order_id=item["order_id"])
    assert details["order"]["refunded"] == 3 * 4900 - 1000
    assert [r["status"] for r in details["returns"]] == ["received"] * 3


def test_a_coupon_whose_minimum_is_missed_is_refused_at_checkout_and_not_spent(session):
    item = put(session, "Harbor Masters")
    value(session, "apply_coupon", code="WELCOME10")
    put(session, "Moonlight Market")
    cart = value(session, "get_cart")
    first = next(i["cart_item_id"] for i in cart["items"] if i["variant_id"] == item.variant_id)
    cart = value(session, "remove_from_cart", cart_item_id=first)
    assert (cart["coupon_code"], cart["discount"]) == ("WELCOME10", 0)  # 2900 of 3000
    value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id="SHP-1")
    refused = session.call("checkout", {"payment_method_id": "PAY-1"})
    assert refused.code == "failed_precondition"
    assert "add 100 cents more, or remove the coupon first" in refused.text
    value(session, "remove_coupon")
    assert value(session, "checkout", payment_method_id="PAY-1")["coupon_code"] is None
    put(session, "Harbor Masters")
    assert value(session, "apply_coupon", code="WELCOME10")["discount"] == 490


def test_cancelling_gives_back_the_money_the_goods_and_the_coupon(session):
    variant = put(session, "Harbor Masters", pieces=2)
    value(session, "apply_coupon", code="WELCOME10")
    value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id="SHP-1")
    order = value(session, "checkout", payment_method_id="PAY-1")
    assert session.call("apply_coupon", {"code": "WELCOME10"}).code == "conflict"
    cancelled = value(session, "cancel_order", order_id=order["order_id"])
    assert cancelled["refunded"] == order["total"] == 9800 - 980 + 299 + 50 * 4
    assert stock(session, {"product_id": variant.product_id, "variant_id": variant.variant_id}) == 50
    put(session, "Harbor Masters")
    assert value(session, "apply_coupon", code="WELCOME10")["discount"] == 490


def test_free_shipping_takes_the_shipping_off_and_a_coupon_goes_when_it_expires(session):
    put(session, "Harbor Masters", pieces=2)
    value(session, "set_shipping_option", address_id="ADR-4", shipping_option_id="SHP-1")
    cart = value(session, "apply_coupon", code="SHIPFREE")
    assert (cart["discount"], cart["shipping"], cart["total"]) == (0, 0, 9800)
    session.advance(days=31)
    cart = value(session, "get_cart")
    assert (cart["coupon_code"], cart["shipping"]) == (None, 299 + 50 * 4 + 900)


@pytest.mark.parametrize(("reason", "back_on_sale"), [("damaged", 0), ("not_as_described", 1), ("too_small", 1)])
def test_what_came_back_damaged_is_not_sold_again(session, reason, back_on_sale):
    variant = put(session, "Harbor Masters")
    item = ordered(session)["items"][0]
    value(session, "return_order_item", order_item_id=item["order_item_id"], reason=reason)
    session.advance(days=5)
    assert live(session).variants.get(variant.variant_id).stock == 49 + back_on_sale


def test_final_sale_holds_unless_the_store_is_at_fault(session):
    put(session, "Night Cream", final_sale=True)
    item = ordered(session)["items"][0]["order_item_id"]
    refused = session.call("return_order_item", {"order_item_id": item, "reason": "changed_mind"})
    assert refused.code == "failed_precondition"
    assert "only as damaged or not_as_described" in refused.text
    assert value(session, "return_order_item", order_item_id=item, reason="damaged")["refund"] == 4200


@pytest.mark.parametrize(
    ("number", "brand"),
    [
        ("4222222222222", "visa"),  # 13 digits
        ("4242424242424242", "visa"),
        ("4000000000000000006", "visa"),  # 19 digits
        ("400000000000006", None),  # no Visa has 15 digits
        ("5555555555554444", "mastercard"),
        ("2221000000000009", "mastercard"),
        ("2720990000000007", "mastercard"),
        ("2720999999999996", "mastercard"),
        ("2220999999999992", None),  # just below the 2-series
        ("2721000000000004", None),  # just above
        ("5055555555555552", None),
        ("378282246310005", "amex"),
        ("341111111111111", "amex"),
        ("361111111111111", None),
        ("6011111111111117", "discover"),
        ("6500000000000002", "discover"),
        ("6440000000000005", "discover"),
        ("4242424242424241", None),  # the last digit is wrong
    ],
)
def test_a_card_is_of_the_brand_in_whose_range_it_is(number, brand):
    assert brand_of(number) == brand


@pytest.mark.parametrize("number", ["4242 4242 4242 4242", "4242424242424241", "4111111111111111\n", "42424242424242424242"])
def test_a_refusal_shows_no_card_number(session, number):
    refused = session.call("add_payment_method", {"card_number": number, "expires": "2029-05"})
    assert refused.code == "invalid_argument"
    assert not re.search(r"\d{8}|4242|4111", refused.text)


@pytest.mark.parametrize(
    ("country", "good", "bad"),
    [
        ("US", "97205-1234", "9720"),
        ("CA", "V6B 1A1", "97205"),
        ("GB", "SW1A 1AA", "97205"),
        ("DE", "10115", "D-10115"),
        ("FR", "75011", "750"),
    ],
)
def test_a_postal_code_is_written_as_its_country_does(session, country, good, bad):
    address = {"label": "cabin", "recipient": "Ana Diaz", "street": "1 Main Street", "city": "Somewhere", "country": country}
    assert session.call("add_address", {**address, "postal_code": bad}).code == "invalid_argument"
    assert value(session, "add_address", **address, postal_code=good)["postal_code"] == good


def test_a_label_is_taken_also_when_it_is_spelled_otherwise(session):
    address = {"recipient": "Ana Diaz", "street": "1 Main Street", "city": "Portland", "postal_code": "97205"}
    assert session.call("add_address", {**address, "label": " HOME "}).code == "conflict"
    assert session.call("add_address", {**address, "label": "   "}).code == "invalid_argument"


@pytest.mark.parametrize("seed", range(20))
def test_past_orders_cost_and_took_what_their_shipping_option_says(seed):
    shop = live(Session.open("shopping", seed))
    for order in shop.orders:
        option, country = shop.shipping_options.get(order.shipping_option_id), shop.addresses.get(order.address_id).country
        items = shop.order_items.where(order_id=order.order_id)
        grams = sum(i.quantity * shop.products.get(shop.variants.get(i.variant_id).product_id).weight for i in items)
        abroad = 0 if country == "US" else option.abroad
        assert order.shipping == option.price + option.per_kilogram * ((grams + 999) // 1000) + abroad
        for parcel in shop.shipments.where(order_id=order.order_id):
            assert (parcel.arrives - parcel.leaves).days == option.days + (0 if country == "US" else 4)


@pytest.mark.parametrize("seed", range(20))
def test_a_rating_is_the_mean_of_the_reviews_that_are_there(seed):
    session = Session.open("shopping", seed)
    for line in value(session, "search_products", limit=50)["items"]:
        reviews = value(session, "list_reviews", product_id=line["product_id"], limit=50)
        stars = [r["stars"] for r in reviews["items"]]
        assert line["rating"] == round(sum(stars) / len(stars), 1)
        assert value(session, "get_product", product_id=line["product_id"])["product"]["review_count"] == reviews["total"]


def test_every_product_can_be_reached_by_one_search(session):
    found = value(session, "search_products", limit=50)
    assert len(found["items"]) == found["total"] == len(live(session).products)


def test_of_orders_of_one_moment_the_last_comes_first(session):
    made = []
    for _ in range(2):
        put(session, "Harbor Masters")
        value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id="SHP-1")
        made.append(value(session, "checkout", payment_method_id="PAY-1")["order_id"])
    orders = value(session, "list_orders", limit=50)["items"]
    assert [o["order_id"] for o in orders[:2]] == made[::-1]
    placed = [datetime.fromisoformat(o["placed"]) for o in orders]
    assert placed == sorted(placed, reverse=True)
    assert value(session, "list_orders", limit=1, offset=1)["items"][0]["order_id"] == made[0]


def test_advice_on_a_parcel_in_the_warehouse_is_to_wait_for_the_hour_it_leaves(session):
    put(session, "Harbor Masters")
    value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id="SHP-1")
    order = value(session, "checkout", payment_method_id="PAY-1")
    refused = session.call("track_shipment", {"order_id": order["order_id"]}).text
    leaves = datetime.fromisoformat(re.search(r"from (\S+) on", refused)[1])
    session.advance(seconds=(leaves - session.clock.now).total_seconds())
    assert value(session, "track_shipment", order_id=order["order_id"])["stage"] == "sorting_centre"


def test_advice_on_a_parcel_that_is_too_heavy_names_the_options_that_take_it(session):
    put(session, "Family Tunnel Tent", pieces=2)  # 23.6 kg
    refused = session.call("set_shipping_option", {"address_id": "ADR-1", "shipping_option_id": "SHP-1"}).text
    assert re.findall(r"SHP-\d", refused) == ["SHP-5"]
    value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id="SHP-5")
    nowhere = session.call("set_shipping_option", {"address_id": "ADR-4", "shipping_option_id": "SHP-5"}).text
    assert "take something out of the cart, or choose another address" in nowhere
    value(session, "update_cart_item", cart_item_id=value(session, "get_cart")["items"][0]["cart_item_id"], quantity=1)
    value(session, "set_shipping_option", address_id="ADR-4", shipping_option_id="SHP-2")


@pytest.mark.parametrize("left", [0, 2])
def test_advice_on_goods_that_ran_short_in_the_cart_works(session, left):
    variant = put(session, "Harbor Masters", pieces=3)
    put(session, "Moonlight Market")
    value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id="SHP-1")
    live(session).variants.update(variant.variant_id, stock=left)
    refused = session.call("checkout", {"payment_method_id": "PAY-1"})
    assert refused.code == "failed_precondition"
    if left:
        item, pieces = re.search(r"change (CRT-\d+) to (\d) or less", refused.text).groups()
        value(session, "update_cart_item", cart_item_id=item, quantity=int(pieces))
    else:
        value(session, "remove_from_cart", cart_item_id=re.search(r"remove (CRT-\d+) first", refused.text)[1])
    value(session, "checkout", payment_method_id="PAY-1")


def test_advice_on_a_coupon_below_its_minimum_works(session):
    put(session, "Moonlight Market")
    refused = session.call("apply_coupon", {"code": "WELCOME10"}).text
    assert "WELCOME10 needs 3000 cents: add 100 cents more first" in refused
    put(session, "Moonlight Market")
    assert value(session, "apply_coupon", code="WELCOME10")["discount"] == 580
    refused = session.call("apply_coupon", {"code": "SHIPFREE"}).text
    assert "the cart has the coupon WELCOME10: remove it first" in refused
    value(session, "remove_coupon")
    assert value(session, "apply_coupon", code="SHIPFREE")["coupon_code"] == "SHIPFREE"


def test_advice_on_an_order_that_has_left_is_to_return_its_items(session):
    put(session, "Harbor Masters")
    value(session, "set_shipping_option", address_id="ADR-1", shipping_option_id="SHP-1")
    order_id = value(session, "checkout", payment_method_id="PAY-1")["order_id"]
    session.advance(days=1)
    assert "return its items once they are there" in session.call("cancel_order", {"order_id": order_id}).text
    item = value(session, "get_order", order_id=order_id)["items"][0]["order_item_id"]
    assert session.call("return_order_item", {"order_item_id": item, "reason": "too_big"}).code == "failed_precondition"
    session.advance(days=7)
    value(session, "return_order_item", order_item_id=item, reason="too_big")


@pytest.mark.parametrize(("address", "option"), [("ADR-1", "SHP-1"), ("ADR-3", "SHP-4"), ("ADR-4", "SHP-2")])
def test_a_parcel_costs_what_was_quoted_and_comes_on_the_day_that_was_quoted(session, address, option):
    put(session, "Harbor Masters", pieces=2)
    quotes = {q["shipping_option_id"]: q for q in value(session, "get_shipping_options", address_id=address)["items"]}
    value(session, "set_shipping_option", address_id=address, shipping_option_id=option)
    order = value(session, "checkout", payment_method_id="PAY-1")
    assert order["shipping"] == quotes[option]["price"]
    session.advance(days=1)
    tracking = value(session, "track_shipment", order_id=order["order_id"])
    assert (tracking["arrives"], tracking["carrier"]) == (quotes[option]["arrives"], quotes[option]["carrier"])
