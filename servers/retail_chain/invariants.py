"""What must hold in a chain's stock after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.retail_chain.tools import RetailChain


def invariants(chain: RetailChain) -> Iterator[str]:
    moved = _moved(chain)
    for stock in chain.stock:
        if stock.on_hand != stock.opening + moved[stock.store_id, stock.sku]:
            yield f"{stock.stock_id}: {stock.on_hand} on hand are not the opening stock and what moved since"
        if not 0 <= chain._held(stock) <= stock.on_hand:
            yield f"{stock.stock_id}: {chain._held(stock)} are reserved of {stock.on_hand} on hand"
    for order in chain.purchase_orders:
        if not 0 <= order.received <= order.quantity or (order.status == "received") != (order.received == order.quantity):
            yield f"{order.purchase_order_id} is {order.status} with {order.received} of {order.quantity}"
    for store in chain.stores:
        if store.budget < 0:
            yield f"{store.store_id} has spent more than its budget"
    for held in chain.reservations.where(status="held"):
        if held.until <= chain.now:
            yield f"{held.reservation_id} is held beyond its time"


def _moved(chain: RetailChain) -> Counter[tuple[str, str]]:
    """What came into each store and left it, by store and product."""
    total: Counter[tuple[str, str]] = Counter()
    for order in chain.purchase_orders:
        total[order.store_id, order.sku] += order.received
    for transfer in chain.transfers:
        total[transfer.origin, transfer.sku] -= transfer.quantity
        total[transfer.destination, transfer.sku] += transfer.quantity if transfer.status == "arrived" else 0
    for adjustment in chain.adjustments:
        total[adjustment.store_id, adjustment.sku] += adjustment.change
    for taken in chain.reservations.where(status="collected"):
        total[taken.store_id, taken.sku] -= taken.quantity
    return total
