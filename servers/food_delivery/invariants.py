"""What must hold in the city after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.food_delivery.tools import MOVING, FoodDelivery


def invariants(food: FoodDelivery) -> Iterator[str]:
    for order in food.orders:
        items = food.order_items.where(order_id=order.order_id)
        if order.subtotal != sum(i.price * i.quantity for i in items):
            yield f"{order.order_id}: the subtotal {order.subtotal} is not what its dishes cost"
        if order.total != order.subtotal - order.discount + order.delivery_fee + order.service_fee + order.tip:
            yield f"{order.order_id}: the total {order.total} is not the sum of its parts"
        if not 0 <= order.discount <= order.subtotal + order.delivery_fee or not 0 <= order.refunded <= order.total:
            yield f"{order.order_id}: more is taken off or paid back than it costs"
        if order.address_id not in food.addresses:
            yield f"{order.order_id} goes to an address that is gone"
        if any(food.menu_items.get(i.menu_item_id).restaurant_id != order.restaurant_id for i in items):
            yield f"{order.order_id} holds a dish of another restaurant"
        if order.status in (*MOVING, "delivered"):
            yield from _under_way(food, order.order_id)
        if order.stars is not None and order.status != "delivered":
            yield f"{order.order_id} was rated before it came"
    carts = Counter(o.restaurant_id for o in food.orders.where(status="cart"))
    yield from (f"there are {count} carts at {restaurant}" for restaurant, count in carts.items() if count > 1)
    codes = Counter(o.promo_code for o in food.orders if o.promo_code and o.status != "cancelled")
    yield from (f"{code} was used {count} times" for code, count in codes.items() if count > 1)


def _under_way(food: FoodDelivery, order_id: str) -> Iterator[str]:
    order, trip = food.orders.get(order_id), food.trips.get(order_id)
    due = sum(food.now >= moment for moment in (trip.starts, trip.leaves, trip.arrives))
    if order.status != (*MOVING, "delivered")[due]:
        yield f"{order_id} is {order.status}, which does not fit the time"
    if not food.order_items.where(order_id=order_id):
        yield f"{order_id} was placed with nothing in it"
    if order.arrives != trip.arrives or trip.courier_id not in food.couriers:
        yield f"{order_id} and its courier's trip disagree"
