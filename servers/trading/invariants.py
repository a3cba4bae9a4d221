"""What must hold in a market and a trader's account after every call, and what a past that it has made looks like."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import pairwise

from prove.servers import Money

from .records import Bar, Order, Tape
from .tools import Trading


def invariants(market: Trading) -> Iterator[str]:
    for instrument in market.instruments:
        bids, asks = market._queue(instrument.symbol, "buy"), market._queue(instrument.symbol, "sell")
        if bids and asks and bids[0].price >= asks[0].price:
            yield f"the book of {instrument.symbol} is crossed: {bids[0].price} bid, {asks[0].price} asked"
    yield from _orders(market)
    yield from _positions(market)
    account = market.accounts.one()
    if account.cash != account.opening_cash + sum(p.realised_gain - p.cost for p in market.positions):
        yield f"cash of {account.cash} is not the opening cash, less what the shares cost, plus what was gained"


def _positions(market: Trading) -> Iterator[str]:
    shares, offered = Counter[str](), Counter[str]()
    for fill in market.fills:
        order = market.orders.get(fill.order_id)
        shares[order.symbol] += fill.quantity if order.side == "buy" else -fill.quantity
    for order in market._working():
        offered[order.symbol] += order.left if order.side == "sell" else 0
    for position in market.positions:
        if position.quantity != shares[position.symbol]:
            yield f"{position.quantity} shares of {position.symbol} are held and {shares[position.symbol]} were traded"
        if position.quantity == 0 and position.cost:
            yield f"no shares of {position.symbol} cost {position.cost}"
    for instrument in market.instruments:
        if not instrument.shortable and min(shares[instrument.symbol], shares[instrument.symbol] - offered[instrument.symbol]) < 0:
            yield f"{offered[instrument.symbol]} shares of {instrument.symbol} are offered and {shares[instrument.symbol]} held"


def _orders(market: Trading) -> Iterator[str]:
    waiting = {r.order_id: r for r in market.resting if r.order_id}
    for order in market.orders:
        fills = market.fills.where(order_id=order.order_id)
        if order.filled != sum(f.quantity for f in fills) or order.value != sum(f.quantity * f.price for f in fills):
            yield f"{order.order_id}: its fills do not add up"
        if (order.status == "filled") != (order.left == 0) or order.left < 0:
            yield f"{order.order_id} is {order.status} with {order.left} shares left"
        rests = waiting.pop(order.order_id, None)
        if order.works != (rests is not None):
            yield f"{order.order_id} is {order.status}, and the book says otherwise"
        if rests and (rests.quantity, rests.price, rests.side, rests.symbol) != (order.left, order.limit_price, order.side, order.symbol):
            yield f"{order.order_id} waits in the book as something else"
    yield from (f"the book holds {order_id}, which is no order" for order_id in waiting)
    yield from (f"{r.resting_id} waits with {r.quantity} shares" for r in market.resting if r.quantity <= 0)


def past(market: Trading) -> Iterator[str]:
    bars = {tape.symbol: {b.day: b for b in (*tape.bars, tape.today)} for tape in market.tapes}
    for tape in market.tapes:
        yield from _gaps(market, tape)
    yield from _trades_off_the_tape(market, bars)
    placed = [o.placed for o in market.orders]
    if placed != sorted(placed):
        yield "orders are not numbered in the order in which they were placed"
    for order in market.orders:
        yield from _missed(market, order, bars[order.symbol].values())


def _gaps(market: Trading, tape: Tape) -> Iterator[str]:
    days = [b.day for b in (*tape.bars, tape.today)]
    if days[-1] != market.today or any(after - before != timedelta(days=1) for before, after in pairwise(days)):
        yield f"{tape.symbol} has bars of other days than the last ones up to today"
    for bar in (*tape.bars, tape.today):
        if not 0 < bar.low <= min(bar.open, bar.close) <= max(bar.open, bar.close) <= bar.high:
            yield f"{tape.symbol} opens or closes outside the low and high of {bar.day}"


def _trades_off_the_tape(market: Trading, bars: dict[str, dict[date, Bar]]) -> Iterator[str]:
    traded, held = Counter[tuple[str, date]](), Counter[str]()
    for fill in market.fills:
        order, day = market.orders.get(fill.order_id), fill.at.date()
        bar = bars[order.symbol].get(day)  # none where it is older than what is kept
        if bar and not bar.low <= fill.price <= bar.high:
            yield f"{fill.fill_id} at {fill.price} is outside the low of {bar.low} and the high of {bar.high}"
        if order.limit_price is not None and order.since <= fill.at and _beyond(order, fill.price) < 0:
            yield f"{fill.fill_id} at {fill.price} is worse than the limit of {order.order_id}"
        if not order.placed <= fill.at <= market.now or (order.time_in_force != "gtc" and day != order.placed.date()):
            yield f"{fill.fill_id} came when {order.order_id} did not work"
        traded[order.symbol, day] += fill.quantity
        held[order.symbol] += fill.quantity if order.side == "buy" else -fill.quantity
        if held[order.symbol] < 0 and not market.instruments.get(order.symbol).shortable:
            yield f"{fill.fill_id} sold {order.symbol} short"
    for (symbol, day), quantity in traded.items():
        if day in bars[symbol] and bars[symbol][day].volume < quantity:
            yield f"the trader alone traded {quantity} shares of {symbol} on {day}, more than its volume"


def _missed(market: Trading, order: Order, bars: Iterable[Bar]) -> Iterator[str]:
    """A price that an order waited for, and that came on a day after without it being filled."""
    if order.works and order.time_in_force == "day" and order.placed.date() != market.today:
        yield f"{order.order_id} was for {order.placed:%Y-%m-%d} and still works"
    if order.works and (order.limit_price is None or order.time_in_force in ("ioc", "fok")):
        yield f"{order.order_id} must not wait"
    if order.status == "expired" and order.time_in_force != "day":
        yield f"{order.order_id} expired, and was good until cancelled"
    for bar in bars if order.works else ():
        if bar.day > order.since.date() and _beyond(order, bar.low if order.side == "buy" else bar.high) > 0:
            yield f"{order.order_id} waits at {order.limit_price}, and {order.symbol} traded from {bar.low} to {bar.high} on {bar.day}"


def _beyond(order: Order, price: Money) -> Money:
    """By how much a price is better than an order's limit; below zero if it is worse."""
    limit = order.limit_price or 0
    return limit - price if order.side == "buy" else price - limit
