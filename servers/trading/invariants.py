"""What must hold in a market and a trader's account after every call."""

from collections.abc import Iterator

from servers.trading.tools import WORKING, Trading


def invariants(market: Trading) -> Iterator[str]:
    for instrument in market.instruments:
        bids, asks = market._queue(instrument.symbol, "buy"), market._queue(instrument.symbol, "sell")
        if bids and asks and bids[0].price >= asks[0].price:
            yield f"the book of {instrument.symbol} is crossed: {bids[0].price} bid, {asks[0].price} asked"
    yield from _orders(market)
    shares = dict.fromkeys((p.symbol for p in market.positions), 0)
    for fill in market.fills:
        order = market.orders.get(fill.order_id)
        shares[order.symbol] += fill.quantity if order.side == "buy" else -fill.quantity
    for position in market.positions:
        if position.quantity != shares[position.symbol]:
            yield f"{position.quantity} shares of {position.symbol} are held and {shares[position.symbol]} were traded"
        if position.quantity == 0 and position.cost:
            yield f"no shares of {position.symbol} cost {position.cost}"
    account = market.accounts.one()
    if account.cash != account.opening_cash + sum(p.realised_gain - p.cost for p in market.positions):
        yield f"cash of {account.cash} is not the opening cash, less what the shares cost, plus what was gained"


def _orders(market: Trading) -> Iterator[str]:
    waiting = {r.order_id: r for r in market.resting if r.order_id}
    for order in market.orders:
        fills = market.fills.where(order_id=order.order_id)
        if order.filled != sum(f.quantity for f in fills) or order.value != sum(f.quantity * f.price for f in fills):
            yield f"{order.order_id}: its fills do not add up"
        if (order.status == "filled") != (order.left == 0) or order.left < 0:
            yield f"{order.order_id} is {order.status} with {order.left} shares left"
        rests = waiting.pop(order.order_id, None)
        if (order.status in WORKING) != (rests is not None):
            yield f"{order.order_id} is {order.status}, and the book says otherwise"
        if rests and (rests.quantity, rests.price, rests.side, rests.symbol) != (order.left, order.limit_price, order.side, order.symbol):
            yield f"{order.order_id} waits in the book as something else"
    yield from (f"the book holds {order_id}, which is no order" for order_id in waiting)
    yield from (f"{r.resting_id} waits with {r.quantity} shares" for r in market.resting if r.quantity <= 0)
