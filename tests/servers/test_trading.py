"""The rules of a market: price before time, partial fills, what may wait, margin, and an account that adds up."""

import pytest

from prove.servers.session import Session

CALM = "ALDR"  # neither held, halted nor on order in this world


@pytest.fixture
def session():
    return Session.open("trading", seed=0)


def book(session, symbol=CALM):
    return session.call("get_order_book", {"symbol": symbol, "depth": 10}).value


def place(session, side, quantity, symbol=CALM, **more):
    return session.call("place_order", {"symbol": symbol, "side": side, "quantity": quantity, **more})


def order(session, order_id):
    return session.call("get_order", {"order_id": order_id}).value


def others(session, side, quantity, price, symbol=CALM):
    """Somebody else's order arrives."""
    market = session.servers["trading"]
    left = market._match(symbol, side, quantity, price, market.now)
    if left:
        market._rest(symbol, side, price, left)


def test_a_market_order_takes_the_best_prices_first(session):
    first, second = book(session)["asks"][:2]
    bought = place(session, "buy", first["quantity"] + 1).value
    assert bought["status"] == "filled"
    assert bought["value"] == first["quantity"] * first["price"] + second["price"]
    assert book(session)["asks"][0] == second | {"quantity": second["quantity"] - 1}


def test_what_a_limit_order_cannot_fill_waits_in_the_book(session):
    best = book(session)["asks"][0]
    bought = place(session, "buy", best["quantity"] + 7, limit_price=best["price"]).value
    assert (bought["status"], bought["filled"]) == ("partly_filled", best["quantity"])
    assert book(session)["bids"][0] == {"price": best["price"], "quantity": 7, "orders": 1}
    assert session.call("cancel_order", {"order_id": bought["order_id"]}).value["status"] == "cancelled"
    assert book(session)["bids"][0]["price"] < best["price"]


def test_at_one_price_the_older_order_is_served_first(session):
    price = book(session)["bids"][0]["price"] + 1
    mine = place(session, "buy", 10, limit_price=price, time_in_force="gtc").value["order_id"]
    others(session, "buy", 10, price)
    others(session, "sell", 10, price)
    assert order(session, mine)["order"]["status"] == "filled"
    assert book(session)["bids"][0] == {"price": price, "quantity": 10, "orders": 1}  # the later one still waits


def test_a_replaced_order_keeps_its_place_only_if_it_becomes_smaller(session):
    price = book(session)["bids"][0]["price"] + 1
    mine = place(session, "buy", 10, limit_price=price).value["order_id"]
    others(session, "buy", 10, price)
    session.call("replace_order", {"order_id": mine, "quantity": 9})
    others(session, "sell", 1, price)
    assert order(session, mine)["order"]["filled"] == 1
    session.call("replace_order", {"order_id": mine, "quantity": 12})  # back to the end of the queue
    others(session, "sell", 10, price)
    assert order(session, mine)["order"]["filled"] == 1
    assert session.call("replace_order", {"order_id": mine, "quantity": 1}).code == "failed_precondition"


def test_fill_or_kill_is_all_or_nothing_and_the_rest_of_an_immediate_order_is_cancelled(session):
    best = book(session)["asks"][0]
    terms = {"quantity": best["quantity"] + 1, "limit_price": best["price"]}
    assert place(session, "buy", **terms, time_in_force="fok").value["filled"] == 0
    taken = place(session, "buy", **terms, time_in_force="ioc").value
    assert (taken["status"], taken["filled"]) == ("cancelled", best["quantity"])


def test_nobody_trades_with_themselves(session):
    price = book(session)["asks"][0]["price"] - 1
    mine = place(session, "sell", 10, limit_price=price).value["order_id"]
    assert place(session, "buy", 5, limit_price=price).code == "failed_precondition"
    session.call("cancel_order", {"order_id": mine})
    assert place(session, "buy", 5, limit_price=price).ok


def test_day_orders_expire_at_midnight_and_others_wait_on(session):
    low = book(session)["bids"][-1]["price"] * 9 // 10
    day, gtc = (place(session, "buy", 5, limit_price=low, time_in_force=t).value["order_id"] for t in ("day", "gtc"))
    session.advance(hours=15)  # from 09:00 to midnight
    assert [order(session, o)["order"]["status"] for o in (day, gtc)] == ["expired", "open"]


def test_buying_power_is_twice_the_equity_less_what_is_held_and_reserved(session):
    now = session.call("get_portfolio", {}).value
    assert now["buying_power"] == 2 * now["equity"] - now["long_value"] - now["short_value"] - now["reserved"]
    price = book(session)["bids"][0]["price"]
    place(session, "buy", 10, limit_price=price)
    assert session.call("get_portfolio", {}).value["reserved"] == now["reserved"] + 10 * price
    assert place(session, "buy", now["buying_power"] // price, limit_price=price).code == "resource_exhausted"


def test_gains_are_measured_against_the_average_cost(session):
    first = place(session, "buy", 10).value["value"] // 10
    second = place(session, "buy", 10).value["value"]
    sold = place(session, "sell", 5).value["value"]
    position = session.call("get_position", {"symbol": CALM}).value
    assert position["realised_gain"] == sold - (10 * first + second) * 5 // 20
    assert session.call("close_position", {"symbol": CALM}).value["filled"] == 15
    assert session.call("get_position", {"symbol": CALM}).code == "not_found"


def test_only_some_symbols_can_be_sold_short_and_a_halt_stops_trading(session):
    assert place(session, "sell", 5).ok
    assert session.call("get_position", {"symbol": CALM}).value["quantity"] == -5
    assert place(session, "sell", 500, symbol="PNCR").code == "failed_precondition"
    assert place(session, "buy", 5, symbol="VRDX").code == "failed_precondition"
    session.advance(hours=48)
    assert place(session, "buy", 5, symbol="VRDX").ok
