"""The rules of a market: price before time, partial fills, what may wait, margin, an account that adds up, and a tape without holes."""

from datetime import UTC, date, datetime, timedelta

import pytest

from prove.library.trading.records import Arrival, Bar
from prove.servers.catalog import load
from prove.servers.session import Session


def calm():
    """A symbol that is neither held, halted nor on order in this world, and can be sold short."""
    market = Session.open("trading", seed=0).servers["trading"]
    used = {p.symbol for p in market.positions} | {o.symbol for o in market._working()}
    return next(i.symbol for i in market.instruments if i.symbol not in used and i.shortable and not i.halted_until)


CALM = calm()


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
    session.servers["trading"]._arrive(symbol, side, quantity, price)


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


# --- the past, and time that passes


@pytest.mark.parametrize("seed", range(25))
def test_what_the_trader_did_agrees_with_the_tape(seed):
    session = Session.open("trading", seed)
    assert list(load("trading").past(session.servers["trading"])) == []


def test_an_order_that_waited_through_its_price_is_no_past_of_a_market(session):
    market = session.servers["trading"]
    waits = next(o for o in market._working() if o.side == "buy" and o.since.date() < market.today)
    low = min(b.low for b in (*market.tapes.get(waits.symbol).bars, market.tapes.get(waits.symbol).today) if b.day > waits.since.date())
    market.orders.update(waits.order_id, limit_price=low + 1)
    assert any(waits.order_id in problem for problem in load("trading").past(market))


def test_a_fill_outside_the_days_low_and_high_is_no_past_of_a_market(session):
    market = session.servers["trading"]
    fill = next(iter(market.fills))
    market.fills.update(fill.fill_id, price=fill.price * 2)
    assert any(fill.fill_id in problem and "outside" in problem for problem in load("trading").past(market))


def test_every_day_has_a_bar_after_a_month_at_once(session):
    session.advance(days=30)
    today = session.servers["trading"].today
    for symbol in ("HLCN", "TRNM", "VRDX"):
        days = [b["day"] for b in session.call("get_price_history", {"symbol": symbol, "days": 30}).value["bars"]]
        assert days == [(today - timedelta(days=ago)).isoformat() for ago in range(30, 0, -1)]


def test_others_still_come_after_two_months(session):
    session.advance(days=60)
    traded = [b["volume"] for b in session.call("get_price_history", {"symbol": CALM, "days": 20}).value["bars"]]
    assert sum(traded) > 0


@pytest.mark.parametrize("seed", [4, 40])
def test_as_much_is_traded_after_a_world_begins_as_before_it_within_a_factor_of_three(seed):
    session = Session.open("trading", seed)
    market = session.servers["trading"]

    def volume():
        return sum(b.volume for tape in market.tapes for b in tape.bars)

    before = volume()
    session.advance(days=31)
    assert before / 3 < volume() < 3 * before
    bars = [b for tape in market.tapes for b in tape.bars]
    assert sum(b.volume > 0 for b in bars) > len(bars) / 2


def test_a_bar_of_a_day_without_trades_is_the_last_price_and_the_first_trade_opens_the_day():
    quiet = Bar(date(2026, 3, 4), 500, 500, 500, 500, 0)
    assert quiet.printed(540, 10) == Bar(date(2026, 3, 4), 540, 540, 540, 540, 10)
    assert quiet.printed(540, 10).printed(520, 5) == Bar(date(2026, 3, 4), 540, 540, 520, 520, 15)


@pytest.mark.parametrize("steps", [1, 40])
def test_an_order_that_waits_is_filled_when_the_market_crosses_it_in_a_long_wait_too(session, steps):
    price = book(session)["bids"][0]["price"] + 1
    mine = place(session, "buy", 10, limit_price=price, time_in_force="gtc").value["order_id"]
    market = session.servers["trading"]
    comes = datetime(market.today.year, market.today.month, market.today.day, 11, tzinfo=UTC) + timedelta(days=3)
    for arrival in market.arrivals:
        market.arrivals.remove(arrival.arrival_id)
    market.arrivals.add(Arrival("ARR-1", comes, CALM, "sell", 30, -50))
    for _ in range(steps):
        session.advance(hours=240 / steps)
    fill = order(session, mine)["fills"][0]
    assert (fill["quantity"], fill["price"], fill["at"]) == (10, price, comes.strftime("%Y-%m-%dT%H:%M:%SZ"))
    bars = {b["day"]: b for b in session.call("get_price_history", {"symbol": CALM, "days": 10}).value["bars"]}
    assert bars[comes.date().isoformat()]["low"] <= price <= bars[comes.date().isoformat()]["high"]


def test_a_trader_who_comes_again_waits_at_one_price_only(session):
    session.advance(days=60)
    market = session.servers["trading"]
    waiting = [a.waits for a in market.arrivals if a.waits]
    others = [r.resting_id for r in market.resting if r.order_id is None]
    opened_with = set(session.worlds["trading"].bases["resting"].records)
    assert set(others) - opened_with <= set(waiting)


# --- what is listed


def test_orders_come_newest_first_the_last_placed_first_among_those_of_one_moment(session):
    price = book(session)["bids"][-1]["price"] * 9 // 10
    first, second = (place(session, "buy", 5, limit_price=price).value["order_id"] for _ in range(2))
    listed = session.call("list_orders", {"limit": 50}).value["items"]
    assert [o["order_id"] for o in listed[:2]] == [second, first]
    assert [o["placed"] for o in listed] == sorted((o["placed"] for o in listed), reverse=True)


def test_a_list_of_orders_shows_what_became_of_each_and_reaches_all_of_them(session):
    first, rest = (session.call("list_orders", page).value for page in ({"limit": 5}, {"limit": 50, "offset": 5}))
    assert len(first["items"]) + len(rest["items"]) == first["total"] == rest["total"]
    assert all(o["status"] == order(session, o["order_id"])["order"]["status"] for o in first["items"])


# --- shares that cannot be sold short, on every path


@pytest.fixture
def two_sells(session):
    """Two sell orders of 35 shares, which together cover the 70 held of what cannot be sold short."""
    others(session, "sell", 70, book(session, "PNCR")["asks"][0]["price"], "PNCR")
    market = session.servers["trading"]
    for o in market._working():
        if o.symbol == "PNCR":
            session.call("cancel_order", {"order_id": o.order_id})
    held = market._quantity("PNCR")
    assert place(session, "buy", 70 - held, "PNCR").ok
    limit = market.tapes.get("PNCR").last * 110 // 100
    return [place(session, "sell", 35, "PNCR", limit_price=limit, time_in_force="gtc").value["order_id"] for _ in range(2)]


def test_a_larger_order_does_not_take_the_shares_that_cover_a_younger_one(session, two_sells):
    older, younger = two_sells
    assert session.call("replace_order", {"order_id": older, "quantity": 70}).code == "failed_precondition"
    assert session.call("replace_order", {"order_id": older, "quantity": 36}).code == "failed_precondition"
    session.call("cancel_order", {"order_id": younger})
    assert session.call("replace_order", {"order_id": older, "quantity": 70}).value["quantity"] == 70


def test_shares_promised_to_orders_that_wait_cannot_be_sold_by_another(session, two_sells):
    assert place(session, "sell", 1, "PNCR").code == "failed_precondition"
    assert session.call("close_position", {"symbol": "PNCR"}).code == "failed_precondition"
    session.call("replace_order", {"order_id": two_sells[0], "quantity": 34})
    assert place(session, "sell", 1, "PNCR").ok


def test_what_an_order_would_open_is_reserved_once_when_it_is_replaced(session):
    price = book(session)["bids"][0]["price"]
    mine = place(session, "buy", 10, limit_price=price).value["order_id"]
    before = session.call("get_portfolio", {}).value["reserved"]
    session.call("replace_order", {"order_id": mine, "quantity": 12})
    assert session.call("get_portfolio", {}).value["reserved"] == before + 2 * price


# --- advice, followed to the letter


def number_after(words, text):
    return int(text.split(words)[1].split()[0].strip('",}:.'))


def test_the_range_that_a_refused_limit_price_is_told_holds_at_both_ends(session):
    refused = place(session, "buy", 5, limit_price=1).text
    lowest, highest = number_after("between ", refused), number_after(" and ", refused)
    assert place(session, "buy", 5, limit_price=lowest).ok
    assert place(session, "sell", 5, limit_price=highest).ok
    assert place(session, "buy", 5, limit_price=lowest - 1).code == "invalid_argument"
    assert place(session, "sell", 5, limit_price=highest + 1).code == "invalid_argument"


def test_as_many_shares_as_the_refusal_says_can_be_ordered(session):
    price = book(session)["bids"][0]["price"]
    most = number_after("at most ", place(session, "buy", 5000, limit_price=price).text)
    assert place(session, "buy", most + 1, limit_price=price).code == "resource_exhausted"
    assert place(session, "buy", most, limit_price=price).ok


def test_where_nobody_offers_an_order_with_a_limit_waits(session):
    market = session.servers["trading"]
    for waiting in market.resting.where(symbol=CALM, side="sell"):
        market.resting.remove(waiting.resting_id)
    refused = place(session, "buy", 5)
    assert (refused.code, "limit_price" in refused.text) == ("resource_exhausted", True)
    assert place(session, "buy", 5, limit_price=market.tapes.get(CALM).last).value["status"] == "open"


def test_an_order_that_no_longer_works_is_placed_anew(session):
    mine = place(session, "buy", 1).value["order_id"]
    refused = session.call("cancel_order", {"order_id": mine})
    assert (refused.code, "place a new order" in refused.text) == ("failed_precondition", True)
    assert place(session, "buy", 1).ok


def test_a_position_can_be_closed_once_the_orders_that_the_refusal_names_are_cancelled(session):
    place(session, "buy", 10)
    price = session.servers["trading"].tapes.get(CALM).last * 110 // 100
    mine = place(session, "sell", 4, limit_price=price).value["order_id"]
    refused = session.call("close_position", {"symbol": CALM})
    assert (refused.code, f"cancel {mine} first" in refused.text) == ("failed_precondition", True)
    session.call("cancel_order", {"order_id": mine})
    assert session.call("close_position", {"symbol": CALM}).value["filled"] == 10


def test_a_symbol_that_is_not_traded_is_not_found_where_it_filters_too(session):
    assert session.call("list_orders", {"symbol": "NONE"}).code == "not_found"
