"""What must hold in a chain's stock after every call, and what a past that its rules have made looks like."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from .records import Stock
from .tools import HOLD, RetailChain, evening, midnight


def invariants(chain: RetailChain) -> Iterator[str]:
    moved: Counter[tuple[str, str]] = Counter()
    for movement in chain.movements:
        moved[movement.store_id, movement.sku] += movement.change
    for stock in chain.stock:
        if stock.on_hand != stock.opening + moved[stock.store_id, stock.sku]:
            yield f"{stock.stock_id}: {stock.on_hand} on hand are not the opening stock and what moved since"
        if not 0 <= chain._held(stock) <= stock.on_hand:
            yield f"{stock.stock_id}: {chain._held(stock)} are reserved of {stock.on_hand} on hand"
    for order in chain.purchase_orders:
        if not 0 <= order.received <= order.quantity or (order.status == "received") != (order.received == order.quantity):
            yield f"{order.purchase_order_id} is {order.status} with {order.received} of {order.quantity}"
    for store in chain.stores:
        spent = sum(o.total for o in chain.purchase_orders.where(store_id=store.store_id) if o.ordered >= store.month)
        if store.budget < 0 or store.budget != store.monthly_budget - spent:
            yield f"{store.store_id} has {store.budget} left of {store.monthly_budget}, of which it spent {spent}"
    for held in chain.reservations.where(status="held"):
        if held.until <= chain.now:
            yield f"{held.reservation_id} is held beyond its time"


def past(chain: RetailChain) -> Iterator[str]:
    yield from _never_moved(chain)
    for stock in chain.stock:
        yield from _never_there(chain, stock)
    regions = {(s.city, s.region) for s in chain.stores}
    if len(regions) != len({s.city for s in chain.stores}):
        yield "two stores of one city are in different regions"
    for demand in chain.demands:
        if evening(demand.day) <= chain.now:
            yield f"nobody bought {demand.sku} in {demand.store_id} on {demand.day}"
    for store in chain.stores:
        if store.month != chain.today.replace(day=1):
            yield f"the budget of {store.store_id} is that of {store.month}"
    for order in chain.purchase_orders:
        if order.ordered > chain.today or order.expected != order.ordered + timedelta(days=chain.products.get(order.sku).lead_days):
            yield f"{order.purchase_order_id} is expected on {order.expected}, which is not how long its supplier takes"
        if (order.status == "ordered") != (order.expected > chain.today):
            yield f"{order.purchase_order_id} is {order.status}, and was expected on {order.expected}"
        if order.status == "delivered" and not chain.stores.get(order.store_id).managed:
            yield f"{order.purchase_order_id} stands at the dock of a store that somebody else looks after"
    for transfer in chain.transfers:
        near = chain.stores.get(transfer.origin).region == chain.stores.get(transfer.destination).region
        if transfer.arrives - transfer.sent != timedelta(days=1 if near else 2):
            yield f"{transfer.transfer_id} was on its way for {transfer.arrives - transfer.sent}"
        if (transfer.status == "in_transit") != (transfer.arrives > chain.today):
            yield f"{transfer.transfer_id} is {transfer.status}, and arrives on {transfer.arrives}"
    for held in chain.reservations:
        if held.until - HOLD > chain.now or (held.status == "expired" and held.until > chain.now):
            yield f"{held.reservation_id} is {held.status} before its time"


def _never_there(chain: RetailChain, stock: Stock) -> Iterator[str]:
    """On hand after each movement is what was there and what came, and never less than nothing."""
    on_hand = stock.opening
    for movement in chain.movements.where(store_id=stock.store_id, sku=stock.sku):
        on_hand += movement.change
        if movement.on_hand != on_hand or on_hand < 0:
            yield f"{movement.movement_id} left {movement.on_hand} of {stock.stock_id}, where {on_hand} were"


def _never_moved(chain: RetailChain) -> Iterator[str]:
    """Each movement has its cause, and each cause its movement, at the time at which it happened."""
    moments = [m.at for m in chain.movements]
    if moments != sorted(moments) or any(m > chain.now for m in moments):
        yield "movements are not numbered in the order of time"
    moved: Counter[tuple[str | None, str]] = Counter()
    for m in chain.movements:
        moved[m.reference, m.store_id] += m.change
    for order in chain.purchase_orders:
        if moved[order.purchase_order_id, order.store_id] != order.received:
            yield f"{order.received} of {order.purchase_order_id} were received, and {moved[order.purchase_order_id, order.store_id]} moved"
    for transfer in chain.transfers:
        there = transfer.quantity if transfer.status == "arrived" else 0
        if (moved[transfer.transfer_id, transfer.origin], moved[transfer.transfer_id, transfer.destination]) != (-transfer.quantity, there):
            yield f"{transfer.transfer_id} is {transfer.status}, and the stock says otherwise"
    for held in chain.reservations:
        if moved[held.reservation_id, held.store_id] != (-held.quantity if held.status == "collected" else 0):
            yield f"{held.reservation_id} is {held.status}, and the stock says otherwise"
    for m in chain.movements.where(why="sale"):
        if m.change >= 0 or m.at != evening(m.at.date()):
            yield f"{m.movement_id} sold {-m.change} at {m.at}, when no tills are closed"
    for m in chain.movements.where(why="delivery"):
        if m.at < midnight(chain.purchase_orders.get(m.reference or "").expected):
            yield f"{m.movement_id} took {m.reference} into stock before it was delivered"
