"""The rules of food delivery: minimum order, opening hours, range, promo codes, and an order's life by the clock."""

import re

import pytest

from prove.servers.catalog import load
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


def live(session):
    return session.servers["food_delivery"]


def value(session, tool, **arguments):
    result = session.call(tool, arguments)
    assert result.ok, result.text
    return result.value


def cart_with(session, code, **promo):
    """A cart of five dishes with a promo code on it, whose terms are set for the occasion."""
    live(session).promos.update(code, **promo)
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, item = fill(session, restaurant)
    return item, value(session, "apply_promo", order_id=order_id, code=code)


@pytest.mark.parametrize("seed", range(20))
def test_no_past_order_is_below_the_minimum_or_from_a_closed_kitchen(seed):
    food = live(Session.open("food_delivery", seed))
    placed = [o for o in food.orders if o.placed]
    assert len(placed) >= 11
    for order in placed:
        kitchen = food.restaurants.get(order.restaurant_id)
        assert order.subtotal >= kitchen.minimum_order
        after_midnight = kitchen.closes < kitchen.opens
        hour = order.placed.hour
        assert (kitchen.opens <= hour or hour < kitchen.closes) if after_midnight else kitchen.opens <= hour < kitchen.closes


@pytest.mark.parametrize("seed", range(10))
def test_the_past_holds_an_order_called_off_at_once_and_one_called_off_in_the_kitchen(seed):
    food = live(Session.open("food_delivery", seed))
    in_the_kitchen, at_once = [o for o in food.orders.where(status="cancelled") if o.placed]
    assert at_once.refunded == at_once.total
    assert in_the_kitchen.refunded == in_the_kitchen.total - (in_the_kitchen.subtotal - in_the_kitchen.discount)


def test_called_off_in_the_kitchen_a_free_ride_pays_back_no_fee_that_was_never_paid(session):
    item, cart = cart_with(session, "FREERIDE")
    assert cart["discount"] == cart["delivery_fee"]
    placed = value(session, "place_order", order_id=cart["order_id"], tip=200)
    assert placed["total"] == 5 * item["price"] + placed["service_fee"] + 200
    session.advance(minutes=2)
    cancelled = value(session, "cancel_order", order_id=cart["order_id"])
    assert cancelled["refunded"] == placed["service_fee"] + 200  # neither the food nor the ride


def test_called_off_in_the_kitchen_what_a_code_took_off_the_food_is_not_paid_back(session):
    item, cart = cart_with(session, "FIVEOFF")
    placed = value(session, "place_order", order_id=cart["order_id"])
    session.advance(minutes=2)
    cancelled = value(session, "cancel_order", order_id=cart["order_id"])
    assert placed["total"] - cancelled["refunded"] == 5 * item["price"] - 500
    assert cancelled["refunded"] == placed["delivery_fee"] + placed["service_fee"]


@pytest.mark.parametrize(("minutes", "again"), [(0, True), (1, True), (2, False)])
def test_a_code_can_be_had_again_only_if_nothing_was_kept_for_it(session, minutes, again):
    _, cart = cart_with(session, "FIVEOFF")
    value(session, "place_order", order_id=cart["order_id"])
    session.advance(minutes=minutes)
    value(session, "cancel_order", order_id=cart["order_id"])
    second = value(session, "reorder", order_id=cart["order_id"])["order_id"]
    assert session.call("apply_promo", {"order_id": second, "code": "FIVEOFF"}).ok is again


def test_a_cart_that_is_dropped_pays_nothing_back_and_frees_its_code(session):
    _, cart = cart_with(session, "FIVEOFF")
    assert value(session, "cancel_order", order_id=cart["order_id"])["refunded"] == 0
    second = value(session, "reorder", order_id=cart["order_id"])
    assert (second["promo_code"], second["discount"]) == (None, 0)
    assert value(session, "apply_promo", order_id=second["order_id"], code="FIVEOFF")["discount"] == 500


def test_a_code_that_expires_on_a_cart_takes_nothing_off_when_it_is_placed(session):
    today = live(session).today
    item, cart = cart_with(session, "FIVEOFF", until=today)
    assert cart["discount"] == 500
    session.advance(days=1)
    placed = value(session, "place_order", order_id=cart["order_id"])
    assert (placed["promo_code"], placed["discount"]) == (None, 0)
    assert placed["total"] == 5 * item["price"] + placed["delivery_fee"] + placed["service_fee"]


def test_a_code_is_good_to_the_last_minute_of_its_last_day(session):
    today = live(session).today
    _, cart = cart_with(session, "FIVEOFF", until=today)
    session.advance(hours=14, minutes=59)  # from 09:00
    assert order(session, cart["order_id"])["discount"] == 500
    session.advance(minutes=1)
    assert order(session, cart["order_id"])["discount"] == 0


def test_a_code_whose_minimum_is_missed_comes_off_and_is_not_used_up(session):
    item, cart = cart_with(session, "FIVEOFF", minimum=3000)
    left = value(session, "remove_item", order_item_id=item["order_item_id"], quantity=4)
    assert (left["promo_code"], left["discount"]) == (None, 0)
    assert session.call("apply_promo", {"order_id": cart["order_id"], "code": "FIVEOFF"}).code == "failed_precondition"
    value(session, "add_item", menu_item_id=item["menu_item_id"], quantity=4)
    assert value(session, "apply_promo", order_id=cart["order_id"], code="FIVEOFF")["discount"] == 500


def test_an_order_keeps_the_day_it_was_placed_apart_from_the_day_its_cart_was_opened(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, _ = fill(session, restaurant)
    opened = order(session, order_id)["opened"]
    session.advance(days=31)
    placed = value(session, "place_order", order_id=order_id)
    assert placed["opened"] == opened
    assert placed["placed"].startswith(live(session).today.isoformat())
    session.advance(hours=3)
    assert order(session, order_id)["status"] == "delivered"
    assert value(session, "rate_order", order_id=order_id, stars=5)["stars"] == 5  # it came today, whenever the cart is from


@pytest.mark.parametrize(("days", "ok"), [(30, True), (31, False)])
def test_ratings_end_thirty_days_after_the_delivery(session, days, ok):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, _ = fill(session, restaurant)
    value(session, "place_order", order_id=order_id)
    minutes = value(session, "track_courier", order_id=order_id)["minutes_left"]
    session.advance(minutes=minutes)
    session.advance(days=days)
    assert session.call("rate_order", {"order_id": order_id, "stars": 5}).ok is ok


def test_the_last_placed_or_opened_comes_first_also_within_a_moment(session):
    kitchens = restaurants(session, address_id="ADR-1", open_now=True)
    known = {o["restaurant_id"] for o in value(session, "list_orders", limit=50)["items"]}
    first, second, third = [fill(session, r)[0] for r in [k for k in kitchens if k["restaurant_id"] not in known][:3]]
    session.advance(minutes=5)
    value(session, "place_order", order_id=first)
    shown = [o["order_id"] for o in value(session, "list_orders", limit=3)["items"]]
    assert shown == [first, third, second]
    assert value(session, "list_orders", limit=1, offset=1)["items"][0]["order_id"] == third


def test_a_dish_that_is_sold_out_is_back_on_its_day(session):
    food = live(session)
    dish = next(d for d in food.menu_items if d.back)
    assert f"sold out until {dish.back}" in session.call("add_item", {"menu_item_id": dish.menu_item_id}).text
    session.advance(days=(dish.back - food.today).days)
    assert value(session, "get_menu_item", menu_item_id=dish.menu_item_id)["available"]


def test_a_restaurant_that_reaches_no_address_opens_no_cart(session):
    food = live(session)
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    dish = dishes(session, restaurant)[0]["menu_item_id"]
    food.restaurants.update(restaurant["restaurant_id"], delivers_within=1)
    assert session.call("add_item", {"menu_item_id": dish}).code == "failed_precondition"


def test_advice_on_an_address_out_of_reach_names_those_within(session):
    reached = {r["restaurant_id"] for r in restaurants(session, address_id="ADR-4")}
    restaurant = next(r for r in restaurants(session, address_id="ADR-1", open_now=True) if r["restaurant_id"] not in reached)
    order_id, _ = fill(session, restaurant)
    refused = session.call("set_delivery_address", {"order_id": order_id, "address_id": "ADR-4"}).text
    named = re.findall(r"(ADR-\d) \(", refused)
    assert "ADR-1" in named
    for address in named:
        value(session, "set_delivery_address", order_id=order_id, address_id=address)


def test_advice_on_an_order_below_the_minimum_works(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    food = live(session)
    dish = dishes(session, restaurant)[0]
    food.restaurants.update(restaurant["restaurant_id"], minimum_order=dish["price"] + 1)
    order_id = value(session, "add_item", menu_item_id=dish["menu_item_id"])["order_id"]
    assert "asks for 1 cents more: add items to" in session.call("place_order", {"order_id": order_id}).text
    value(session, "add_item", menu_item_id=dish["menu_item_id"])
    value(session, "place_order", order_id=order_id)


def test_advice_on_a_dish_that_ran_out_in_the_cart_works(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, _ = fill(session, restaurant)
    other = value(session, "add_item", menu_item_id=dishes(session, restaurant)[1]["menu_item_id"])
    live(session).menu_items.update(other["menu_item_id"], available=False)
    refused = session.call("place_order", {"order_id": order_id}).text
    value(session, "remove_item", order_item_id=re.search(r"remove (ITM-\d+) first", refused)[1])
    value(session, "place_order", order_id=order_id)


def test_advice_on_a_code_that_waits_on_another_cart_works(session):
    cart_with(session, "FIVEOFF")
    second, _ = fill(session, fresh(session, address_id="ADR-1", open_now=True))
    refused = session.call("apply_promo", {"order_id": second, "code": "FIVEOFF"}).text
    value(session, "cancel_order", order_id=re.search(r"cancel (ORD-\d+) or", refused)[1])
    assert value(session, "apply_promo", order_id=second, code="FIVEOFF")["discount"] == 500


def test_advice_on_a_past_order_with_a_dish_that_is_gone_works(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, item = fill(session, restaurant)
    other = value(session, "add_item", menu_item_id=dishes(session, restaurant)[1]["menu_item_id"])
    value(session, "cancel_order", order_id=order_id)
    live(session).menu_items.update(other["menu_item_id"], available=False)
    refused = session.call("reorder", {"order_id": order_id})
    assert refused.code == "resource_exhausted"
    assert other["menu_item_id"] in refused.text
    assert "add the other dishes one by one" in refused.text
    value(session, "add_item", menu_item_id=item["menu_item_id"], quantity=5)


def test_advice_on_an_open_cart_at_the_restaurant_works(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    order_id, _ = fill(session, restaurant)
    value(session, "cancel_order", order_id=order_id)
    value(session, "reorder", order_id=order_id)
    refused = session.call("reorder", {"order_id": order_id}).text
    value(session, "cancel_order", order_id=re.search(r"(ORD-\d+) is still open", refused)[1])
    value(session, "reorder", order_id=order_id)


def test_advice_on_too_many_portions_works(session):
    restaurant = fresh(session, address_id="ADR-1", open_now=True)
    _, item = fill(session, restaurant, quantity=15)
    refused = session.call("add_item", {"menu_item_id": item["menu_item_id"], "quantity": 6})
    assert refused.code == "resource_exhausted"
    more = int(re.search(r": (\d+) more can be added", refused.text)[1])
    assert value(session, "add_item", menu_item_id=item["menu_item_id"], quantity=more)["quantity"] == 20


@pytest.mark.parametrize("seed", range(50, 60))
def test_nobody_dines_where_breakfast_is_served_and_couriers_have_numbers_of_the_city(seed):
    food = Session.open("food_delivery", seed).servers["food_delivery"]
    mornings = {r.restaurant_id for r in food.restaurants if r.cuisine == "breakfast"}
    assert all(r.opens == 6 and r.closes <= 16 for r in food.restaurants if r.restaurant_id in mornings)
    assert all(o.placed.hour < 16 for o in food.orders if o.placed and o.restaurant_id in mornings)
    assert all(c.phone.startswith("020 91") for c in food.couriers)


def test_a_dish_that_its_diet_forbids_is_no_dish_of_this_city():
    food = Session.open("food_delivery", 0).servers["food_delivery"]
    dish = next(d for d in food.menu_items if "vegan" in d.diets)
    food.menu_items.update(dish.menu_item_id, allergens=["milk"])
    assert any(dish.menu_item_id in problem for problem in load("food_delivery").past(food))
