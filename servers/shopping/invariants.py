"""What must hold in the store after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.shopping.tools import Shopping


def invariants(shop: Shopping) -> Iterator[str]:
    yield from (f"{v.variant_id}: the stock is {v.stock}" for v in shop.variants if v.stock < 0)
    yield from (f"{m.payment_method_id} is overdrawn" for m in shop.payment_methods if (m.balance or 0) < 0)
    if len(shop.baskets) != 1:
        yield "the customer must have one cart"
    twice = Counter(i.variant_id for i in shop.cart_items)
    yield from (f"{variant} is in the cart {count} times" for variant, count in twice.items() if count > 1)
    for order in shop.orders:
        items = shop.order_items.where(order_id=order.order_id)
        if not items or order.subtotal != sum(i.price * i.quantity for i in items):
            yield f"{order.order_id}: the subtotal {order.subtotal} is not what was bought"
        if order.total != order.subtotal - order.discount + order.shipping or order.discount > order.subtotal:
            yield f"{order.order_id}: the total {order.total} is not the sum of its parts"
        back = [r for i in items for r in shop.returns.where(order_item_id=i.order_item_id)]
        refunds = sum(r.refund for r in back if r.status == "received")
        if order.refunded != (order.total if order.status == "cancelled" else refunds) or order.refunded > order.total:
            yield f"{order.order_id}: {order.refunded} was refunded"
        for item in items:
            if item.returned != sum(r.quantity for r in back if r.order_item_id == item.order_item_id) or item.returned > item.quantity:
                yield f"{item.order_item_id}: {item.returned} of {item.quantity} were sent back"
        yield from _shipped(shop, order.order_id)
    codes = Counter(o.coupon_code for o in shop.orders if o.coupon_code and o.status != "cancelled")
    yield from (f"{code} was used {count} times" for code, count in codes.items() if count > 1)


def _shipped(shop: Shopping, order_id: str) -> Iterator[str]:
    order, shipments = shop.orders.get(order_id), shop.shipments.where(order_id=order_id)
    if len(shipments) != 1:
        yield f"{order_id} has {len(shipments)} shipments"
        return
    reached = (shop.now >= shipments[0].leaves) + (shop.now >= shipments[0].arrives)
    if order.status not in ("cancelled", ("confirmed", "shipped", "delivered")[reached]):
        yield f"{order_id} is {order.status}, which does not fit the time"
