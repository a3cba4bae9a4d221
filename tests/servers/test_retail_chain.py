"""The rules of the retail chain: what is reserved cannot be sold twice, goods travel, orders cost budget, managers have their stores."""

import pytest

from prove.servers.session import Session


@pytest.fixture
def session():
    return Session.open("retail_chain", seed=0)


@pytest.fixture
def place(session):
    """A managed store and a product of which it has at least ten available."""
    managed = {s["store_id"] for s in session.call("list_stores", {}).value["items"] if s["managed"]}
    for product in session.call("find_product", {"limit": 50}).value["items"]:
        for found in session.call("check_inventory", {"sku": product["sku"]}).value["items"]:
            if found["store_id"] in managed and found["available"] >= 10:
                return {"store_id": found["store_id"], "sku": product["sku"]}
    raise AssertionError("no store has ten of anything")


def level(session, place):
    return session.call("check_inventory", place).value["items"][0]


def reserve(session, place, quantity):
    return session.call("reserve_stock", {**place, "quantity": quantity, "customer": "Nadia Petrov"})


def test_reserved_goods_cannot_be_promised_again(session, place):
    have = level(session, place)["available"]
    held = reserve(session, place, have - 1)
    assert level(session, place)["available"] == 1
    assert reserve(session, place, 2).code == "resource_exhausted"
    session.call("close_reservation", {"reservation_id": held.value["reservation_id"], "outcome": "released"})
    assert level(session, place)["available"] == have


def test_collected_goods_leave_the_store(session, place):
    before = level(session, place)
    held = reserve(session, place, 3).value["reservation_id"]
    session.call("close_reservation", {"reservation_id": held, "outcome": "collected"})
    after = level(session, place)
    assert (after["on_hand"], after["reserved"]) == (before["on_hand"] - 3, before["reserved"])
    assert session.call("close_reservation", {"reservation_id": held, "outcome": "released"}).code == "failed_precondition"


def test_a_reservation_ends_after_48_hours(session, place):
    held = reserve(session, place, 2).value["reservation_id"]
    session.advance(hours=47)
    fork = session.fork()
    assert fork.call("close_reservation", {"reservation_id": held, "outcome": "released"}).ok
    session.advance(hours=1)
    assert session.call("close_reservation", {"reservation_id": held, "outcome": "released"}).code == "failed_precondition"


def test_transferred_goods_are_on_the_way_until_they_arrive(session, place):
    stores = session.call("list_stores", {}).value["items"]
    region = next(s["region"] for s in stores if s["store_id"] == place["store_id"])
    near = next(s["store_id"] for s in stores if s["region"] == region and s["store_id"] != place["store_id"])
    there = {"sku": place["sku"], "store_id": near}
    on_hand = sum(x["on_hand"] for x in session.call("check_inventory", there).value["items"])
    before = level(session, place)["on_hand"]
    sent = {"origin": place["store_id"], "destination": near, "sku": place["sku"], "quantity": 4}
    assert session.call("transfer_stock", sent).ok
    assert level(session, place)["on_hand"] == before - 4
    session.advance(days=1)
    assert level(session, there)["on_hand"] == on_hand + 4


def test_a_loss_cannot_take_what_is_reserved(session, place):
    reserve(session, place, level(session, place)["available"])
    loss = {**place, "quantity": 1, "reason": "damaged"}
    assert session.call("adjust_inventory", loss).code == "resource_exhausted"
    assert session.call("adjust_inventory", loss | {"reason": "found"}).value["change"] == 1
    assert session.call("adjust_inventory", loss).value["change"] == -1


def test_an_order_costs_budget_and_is_received_in_parts_once_it_is_there(session, place):
    store = next(s for s in session.call("list_stores", {}).value["items"] if s["managed"] and s["budget"] >= 150_000)
    products = session.call("find_product", {"limit": 50}).value["items"]
    product = next(p for p in products if not p["discontinued"] and p["case_size"] > 2 and p["case_size"] * p["unit_cost"] < 75_000)
    wanted = {"store_id": store["store_id"], "sku": product["sku"], "cases": 2}
    order = session.call("create_purchase_order", wanted).value
    units, number = 2 * product["case_size"], {"purchase_order_id": order["purchase_order_id"]}
    assert (order["quantity"], order["total"]) == (units, units * product["unit_cost"])
    left = next(s["budget"] for s in session.call("list_stores", {}).value["items"] if s["store_id"] == store["store_id"])
    assert left == store["budget"] - order["total"]
    assert session.call("receive_purchase_order", number).code == "failed_precondition"  # it is on its way
    session.advance(days=product["lead_days"])
    assert session.call("receive_purchase_order", number | {"quantity": units - 1}).value["status"] == "delivered"
    assert session.call("receive_purchase_order", number | {"quantity": 2}).code == "invalid_argument"
    assert session.call("receive_purchase_order", number).value["status"] == "received"


def test_a_manager_changes_only_the_stores_they_look_after(session, place):
    other = next(s["store_id"] for s in session.call("list_stores", {}).value["items"] if not s["managed"])
    assert session.call("check_inventory", {"sku": place["sku"], "store_id": other}).ok
    assert reserve(session, place | {"store_id": other}, 1).code == "permission_denied"
    sent = {"origin": other, "destination": place["store_id"], "sku": place["sku"], "quantity": 1}
    assert session.call("transfer_stock", sent).code == "permission_denied"
