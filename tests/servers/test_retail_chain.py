"""The rules of the retail chain: what is reserved cannot be sold twice, goods travel, orders cost budget, managers have their stores."""

from datetime import UTC, date, datetime, timedelta

import pytest

from prove.library.retail_chain.tools import next_month
from prove.servers.catalog import load
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


@pytest.mark.parametrize(("near", "days"), [(True, 1), (False, 2)])
def test_transferred_goods_are_on_the_way_until_they_arrive(session, near, days):
    stores = session.call("list_stores", {}).value["items"]
    pairs = [(a, b) for a in stores for b in stores if a["managed"] and a != b and (a["region"] == b["region"]) == near]
    origin, destination = (store["store_id"] for store in pairs[0])
    chain = session.servers["retail_chain"]
    sku = next(s.sku for s in chain.stock.where(store_id=origin) if s.on_hand - chain._held(s) >= 4)
    here, there = {"sku": sku, "store_id": origin}, {"sku": sku, "store_id": destination}
    coming = sum(t.quantity for t in chain.transfers.where(status="in_transit", **{"sku": sku, "destination": destination}))
    on_hand = sum(x["on_hand"] for x in session.call("check_inventory", there).value["items"])
    before = level(session, here)["on_hand"]
    assert session.call("transfer_stock", {"origin": origin, "destination": destination, "sku": sku, "quantity": 4}).ok
    assert level(session, here)["on_hand"] == before - 4
    session.advance(hours=24 * days - 10)  # it is nine o'clock
    assert chain._stock(destination, sku).on_hand < on_hand + coming + 4
    session.advance(hours=10)
    assert level(session, there)["on_hand"] == on_hand + coming + 4


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


# --- the past, and time that passes


@pytest.mark.parametrize("seed", range(25))
def test_what_has_happened_is_what_the_rules_would_have_made(seed):
    chain = Session.open("retail_chain", seed).servers["retail_chain"]
    assert list(load("retail_chain").past(chain)) == []


@pytest.mark.parametrize("seed", range(25))
def test_a_city_is_in_one_part_of_the_country(seed):
    stores = Session.open("retail_chain", seed).call("list_stores", {}).value["items"]
    region = {s["city"]: s["region"] for s in stores}
    assert all(region[s["city"]] == s["region"] for s in stores)
    assert sum(s["city"] == "Portland" for s in stores) == 2
    right = {"Portland": "west", "Seattle": "west", "Boston": "east", "Chicago": "north", "Austin": "south"}
    assert all(right.get(city, there) == there for city, there in region.items())


def test_goods_that_arrived_before_they_were_sent_are_no_past_of_a_chain(session):
    chain = session.servers["retail_chain"]
    sent = next(iter(chain.transfers.where(status="in_transit")))
    chain.transfers.update(sent.transfer_id, status="arrived")
    assert any(sent.transfer_id in problem for problem in load("retail_chain").past(chain))


def budget(session, store_id):
    return next(s for s in session.call("list_stores", {}).value["items"] if s["store_id"] == store_id)


def test_the_budget_is_renewed_when_a_month_begins_and_what_was_left_lapses(session, place):
    before = budget(session, place["store_id"])
    product = next(p for p in session.call("find_product", {"limit": 50}).value["items"] if not p["discontinued"])
    order = session.call("create_purchase_order", {"store_id": place["store_id"], "sku": product["sku"], "cases": 1}).value
    assert budget(session, place["store_id"])["budget"] == before["budget"] - order["total"]
    now = session.servers["retail_chain"].now
    month = next_month(now.date())
    left = (datetime(month.year, month.month, 1, tzinfo=UTC) - now).total_seconds()
    session.advance(seconds=left - 1)
    assert budget(session, place["store_id"])["budget"] == before["budget"] - order["total"]
    session.advance(seconds=1)
    assert budget(session, place["store_id"])["budget"] == before["monthly_budget"]
    session.advance(days=62)
    assert budget(session, place["store_id"])["budget"] == before["monthly_budget"]


@pytest.mark.parametrize(("day", "after"), [("2026-01-31", "2026-02-01"), ("2026-12-01", "2027-01-01"), ("2028-02-29", "2028-03-01")])
def test_the_month_after_begins_on_its_first_day(day, after):
    assert next_month(date.fromisoformat(day)) == date.fromisoformat(after)


def test_a_store_of_somebody_else_takes_in_what_is_delivered(session):
    chain = session.servers["retail_chain"]
    session.advance(days=10)
    others = {s.store_id for s in chain.stores if not s.managed}
    assert {o.status for o in chain.purchase_orders if o.store_id in others} <= {"received"}


# --- what is booked can be read


def test_what_moves_is_shown_with_its_cause_the_newest_first(session, place):
    held = reserve(session, place, 2).value["reservation_id"]
    session.call("close_reservation", {"reservation_id": held, "outcome": "collected"})
    session.call("adjust_inventory", {**place, "quantity": 1, "reason": "damaged"})
    last, before = session.call("check_inventory", place).value["movements"][:2]
    assert (last["change"], last["why"]) == (-1, "damaged")
    assert (before["change"], before["why"], before["reference"]) == (-2, "reservation", held)


def test_goods_on_their_way_are_shown_with_the_day_on_which_they_come(session, place):
    to = next(s["store_id"] for s in session.call("list_stores", {}).value["items"] if s["store_id"] != place["store_id"])
    sent = session.call("transfer_stock", {"origin": place["store_id"], "destination": to, "sku": place["sku"], "quantity": 4}).value
    out = session.call("check_inventory", place).value["movements"][0]
    assert (out["change"], out["why"], out["reference"]) == (-4, "transfer", sent["transfer_id"])
    there = session.call("check_inventory", {"sku": place["sku"], "store_id": to}).value
    assert {"store_id": to, "reference": sent["transfer_id"], "quantity": 4, "expected": sent["arrives"]} in there["coming"]
    assert there["items"][0]["incoming"] == sum(c["quantity"] for c in there["coming"])
    session.advance(days=2)
    there = session.call("check_inventory", {"sku": place["sku"], "store_id": to}).value
    assert sent["transfer_id"] in [m["reference"] for m in there["movements"]]


def test_reservations_that_are_over_can_be_read_too(session, place):
    held = reserve(session, place, 2).value["reservation_id"]
    session.advance(hours=48)

    def listed(**more):
        return [r["reservation_id"] for r in session.call("list_reservations", {"limit": 50, **more}).value["items"]]

    assert held not in listed()
    assert held in listed(status="expired")


def test_purchase_orders_come_newest_first_the_last_made_first_among_those_of_one_day(session):
    store = max((s for s in session.call("list_stores", {}).value["items"] if s["managed"]), key=lambda s: s["budget"])["store_id"]
    product = next(p for p in session.call("find_product", {"limit": 50}).value["items"] if not p["discontinued"])["sku"]
    wanted = {"store_id": store, "sku": product, "cases": 1}
    first, second = (session.call("create_purchase_order", wanted).value["purchase_order_id"] for _ in range(2))
    listed = session.call("list_purchase_orders", {"limit": 50}).value["items"]
    assert [o["purchase_order_id"] for o in listed[:2]] == [second, first]
    assert [o["ordered"] for o in listed] == sorted((o["ordered"] for o in listed), reverse=True)


def test_what_is_reserved_counts_as_gone_when_a_store_runs_low(session, place):
    have = level(session, place)
    assert have["available"] > have["reorder_point"]
    low = {"low_at": place["store_id"], "limit": 50}
    assert place["sku"] not in [p["sku"] for p in session.call("find_product", low).value["items"]]
    reserve(session, place, have["available"] - have["reorder_point"])
    assert place["sku"] in [p["sku"] for p in session.call("find_product", low).value["items"]]


# --- advice, followed to the letter


def number_after(words, text):
    return int(text.split(words)[1].split()[0].strip('",}:.()'))


def test_as_many_cases_as_the_refusal_says_can_be_ordered(session):
    store = max((s for s in session.call("list_stores", {}).value["items"] if s["managed"]), key=lambda s: s["budget"])["store_id"]
    products = [p for p in session.call("find_product", {"limit": 50}).value["items"] if not p["discontinued"]]
    dear = max(products, key=lambda p: p["case_size"] * p["unit_cost"])
    wanted = {"store_id": store, "sku": dear["sku"]}
    refused = session.call("create_purchase_order", wanted | {"cases": 100})
    most = number_after("at most ", refused.text)
    assert session.call("create_purchase_order", wanted | {"cases": most + 1}).code == "resource_exhausted"
    assert session.call("create_purchase_order", wanted | {"cases": most}).ok


def test_a_store_that_has_spent_its_budget_can_order_on_the_day_that_the_refusal_names(session):
    stores = [s for s in session.call("list_stores", {}).value["items"] if s["managed"]]
    store = min(stores, key=lambda s: s["budget"])
    products = [p for p in session.call("find_product", {"limit": 50}).value["items"] if not p["discontinued"]]
    dear = next(p for p in products if store["budget"] < p["case_size"] * p["unit_cost"] <= store["monthly_budget"])
    wanted = {"store_id": store["store_id"], "sku": dear["sku"], "cases": 1}
    refused = session.call("create_purchase_order", wanted)
    day = date.fromisoformat(refused.text.split("the budget of ")[1][:10])
    assert refused.code == "resource_exhausted"
    session.advance(days=(day - session.servers["retail_chain"].today).days)
    assert session.call("create_purchase_order", wanted).ok


def test_what_suppliers_no_longer_have_comes_from_the_store_that_the_refusal_names(session, place):
    chain = session.servers["retail_chain"]
    chain.products.update(place["sku"], discontinued=True)
    other = next(s.store_id for s in chain.stores if s.managed and s.store_id != place["store_id"])
    refused = session.call("create_purchase_order", {"store_id": other, "sku": place["sku"], "cases": 1})
    assert (refused.code, place["store_id"] in refused.text) == ("failed_precondition", True)
    has = number_after(f"{place['store_id']} (", refused.text)
    sent = {"origin": place["store_id"], "destination": other, "sku": place["sku"], "quantity": has}
    assert session.call("transfer_stock", sent).ok


def test_goods_of_a_reservation_that_is_over_can_be_reserved_anew(session, place):
    held = reserve(session, place, 2).value["reservation_id"]
    session.advance(hours=48)
    refused = session.call("close_reservation", {"reservation_id": held, "outcome": "collected"})
    assert (refused.code, "reserve the goods anew" in refused.text) == ("failed_precondition", True)
    assert reserve(session, place, 2).ok


def test_a_store_sells_what_is_not_held_for_somebody_else(session):
    chain = session.servers["retail_chain"]
    mine = {s.store_id for s in chain.stores if s.managed}
    demand = next(d for d in chain.demands if d.store_id in mine and chain._level(chain._stock(d.store_id, d.sku)).available > d.quantity)
    place = {"store_id": demand.store_id, "sku": demand.sku}
    twin, free = session.fork(), level(session, place)["available"]
    to_evening = (demand.day - chain.today).days * 24 + 11  # from nine in the morning to eight in the evening
    held = reserve(twin, place, free)
    assert held.ok
    twin.servers["retail_chain"].reservations.update(held.value["reservation_id"], until=session.clock.now + timedelta(days=40))
    for one in (session, twin):
        one.advance(hours=to_evening)
    sale = session.call("check_inventory", place).value["movements"][0]
    assert (sale["why"], sale["change"], sale["at"]) == ("sale", -demand.quantity, f"{demand.day}T20:00:00Z")
    assert level(twin, place)["on_hand"] >= free  # nothing of it was sold


@pytest.mark.parametrize("seed", range(50, 60))
def test_a_chain_lives_of_what_it_sells_and_only_what_can_expire_expires(seed):
    chain = Session.open("retail_chain", seed).servers["retail_chain"]
    assert len(chain.movements.where(why="sale")) > len(chain.movements) / 2
    expired = [chain.products.get(m.sku).name for m in chain.movements.where(why="expired")]
    assert set(expired) <= {"Clover seed mix", "Atlas wall calendar", "Quill dark green ink"}


def test_goods_on_their_way_to_a_store_that_never_had_any_are_shown_there(session):
    chain = session.servers["retail_chain"]
    bare = ((s.store_id, p.sku) for p in chain.products for s in chain.stores if f"{s.store_id}:{p.sku}" not in chain.stock)
    to, sku = next(
        (to, sku) for to, sku in bare if any(s.on_hand > 5 and chain.stores.get(s.store_id).managed for s in chain.stock.where(sku=sku))
    )
    origin = next(s for s in chain.stock.where(sku=sku) if s.on_hand > 5 and chain.stores.get(s.store_id).managed)
    assert session.call("transfer_stock", {"origin": origin.store_id, "destination": to, "sku": sku, "quantity": 2}).ok
    (shown,) = session.call("check_inventory", {"sku": sku, "store_id": to}).value["items"]
    assert (shown["on_hand"], shown["incoming"]) == (0, 2)
