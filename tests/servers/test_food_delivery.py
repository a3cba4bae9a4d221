"""The rules of food delivery: minimum order, opening hours, range, promo codes, and an order's life by the clock."""

import pytest

from prove.servers.session import Session


@pytest.fixture
def session():
    return Session.open("food_delivery", seed=0)


def restaurants(session, **wanted):
    """The restaurants that answer to the wishes, in full."""
    found = session.call("search_restaurants", {"limit": 50, **wanted}).value["items"]
    return [session.call("get_restaurant", {"restaurant_id": r["restaurant_id"]}).value for r in found]


def dishes(session, restaurant):
    menu = session.call("list_menu", {"restaurant_id": restaurant["restaurant_id"]}).value["items"]
    return [d for d in menu if session.call("get_menu_item", {"menu_item_id": d["menu_item_id"]}).value["available"]]


def fresh(session, **wanted):
    """A restaurant at which the customer has ordered nothing yet."""
    known = {o["restaurant_id"] for o in session.call("list_orders", {"limit": 50}).value["items"]}
    return next(r for r in restaurants(session, **wanted) if r["restaurant_id"] not in known)


def fill(session, restaurant, quantity=5):
    dish = dishes(session, restaurant)[0]
    item = session.call("add_item", {"menu_item_id": dish["menu_item_id"], "quantity": quantity}).value
    return item["order_id"], item


def order(session, order_id):
    return session.call("get_order", {"order_id": order_id}).value["order"]


def test_a_cart_costs_its_dishes_the_ride_and_ten_per_cent(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, item = fill(session, restaurant, quantity=2)
    subtotal = 2 * item["price"]
    fee = session.call("get_delivery_estimate", {"restaurant_id": restaurant["restaurant_id"], "address_id": "ADR-1"}).value["delivery_fee"]
    assert order(session, order_id)["total"] == subtotal + fee + subtotal // 10
    session.call("remove_item", {"order_item_id": item["order_item_id"], "quantity": 1})
    assert order(session, order_id)["subtotal"] == item["price"]


def test_an_order_below_the_minimum_waits_for_more_dishes(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    cheapest = min(dishes(session, restaurant), key=lambda d: d["price"])
    assert cheapest["price"] < restaurant["minimum_order"]
    order_id = session.call("add_item", {"menu_item_id": cheapest["menu_item_id"]}).value["order_id"]
    assert session.call("place_order", {"order_id": order_id}).code == "failed_precondition"
    session.call("add_item", {"menu_item_id": cheapest["menu_item_id"], "quantity": 9})
    assert session.call("place_order", {"order_id": order_id, "tip": 300}).value["tip"] == 300


def test_a_closed_restaurant_takes_the_order_once_it_opens(session):
    restaurant = next(r for r in restaurants(session, address_id="ADR-1") if r["opens"] == 17)
    order_id, _ = fill(session, restaurant)
    assert "closed until 17:00" in session.call("place_order", {"order_id": order_id}).text
    session.advance(hours=8)  # 09:00 to 17:00
    assert session.call("place_order", {"order_id": order_id}).ok


def test_food_goes_only_where_the_restaurant_delivers(session):
    reached = {r["restaurant_id"] for r in restaurants(session, address_id="ADR-4")}
    restaurant = next(r for r in restaurants(session, address_id="ADR-1", open_now=True) if r["restaurant_id"] not in reached)
    order_id, _ = fill(session, restaurant)
    refused = session.call("set_delivery_address", {"order_id": order_id, "address_id": "ADR-4"})
    assert refused.code == "failed_precondition"
    assert session.call("place_order", {"order_id": order_id}).ok


def test_a_promo_code_works_once_and_only_from_its_minimum(session):
    first, first_item = fill(session, fresh(session, address_id="ADR-1", open_now=True))
    second, _ = fill(session, fresh(session, address_id="ADR-1", open_now=True))
    assert 5 * first_item["price"] >= 2000
    assert session.call("apply_promo", {"order_id": first, "code": "FIVEOFF"}).value["discount"] == 500
    assert session.call("apply_promo", {"order_id": second, "code": "FIVEOFF"}).code == "conflict"
    assert session.call("apply_promo", {"order_id": second, "code": "SPRING15"}).code == "failed_precondition"  # it ran out
    assert session.call("apply_promo", {"order_id": second, "code": "WELCOME50"}).code == "permission_denied"
    session.call("remove_item", {"order_item_id": first_item["order_item_id"]})
    assert order(session, first)["discount"] == 0  # below the minimum of $20 again


def test_an_order_moves_with_the_clock_and_can_be_cancelled_until_it_leaves(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, _ = fill(session, restaurant)
    placed = session.call("place_order", {"order_id": order_id, "tip": 200}).value
    minutes = session.call("track_courier", {"order_id": order_id}).value["minutes_left"]
    at_once = session.fork()
    assert at_once.call("cancel_order", {"order_id": order_id}).value["refunded"] == placed["total"]
    session.advance(minutes=2)
    cooking = session.fork()
    assert cooking.call("cancel_order", {"order_id": order_id}).value["refunded"] == placed["total"] - placed["subtotal"]
    session.advance(minutes=restaurant["preparation"])
    assert order(session, order_id)["status"] == "out_for_delivery"
    assert session.call("cancel_order", {"order_id": order_id}).code == "failed_precondition"
    session.advance(minutes=minutes - 2 - restaurant["preparation"])
    assert order(session, order_id)["status"] == "delivered"
    assert session.call("rate_order", {"order_id": order_id, "stars": 4}).value["stars"] == 4
    assert session.call("rate_order", {"order_id": order_id, "stars": 5}).code == "conflict"


def test_a_past_order_can_be_had_again_unless_a_cart_is_open_there(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, item = fill(session, restaurant)
    session.call("cancel_order", {"order_id": order_id})
    again = session.call("reorder", {"order_id": order_id}).value
    assert (again["status"], again["subtotal"]) == ("cart", 5 * item["price"])
    assert session.call("reorder", {"order_id": order_id}).code == "failed_precondition"
