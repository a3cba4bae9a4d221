"""What must hold in the city after every call, and what a past made by its rules looks like."""

from collections import Counter
from collections.abc import Iterator

from prove.servers import Moment

from .bills import discount, paid_for_food, service_fee, uses_up
from .records import Order
from .rides import delivery_fee, distance, is_open, reaches, schedule
from .tools import MOVING, FoodDelivery

FORBIDDEN = {"vegan": {"eggs", "fish", "milk", "shellfish"}, "vegetarian": {"fish", "shellfish"}, "gluten_free": {"gluten"}}


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
            yield from _under_way(food, order)
        elif order.order_id in food.trips:
            yield f"{order.order_id} is {order.status} and has a courier"
        if order.stars is not None and order.status != "delivered":
            yield f"{order.order_id} was rated before it came"
    carts = Counter(o.restaurant_id for o in food.orders.where(status="cart"))
    yield from (f"there are {count} carts at {restaurant}" for restaurant, count in carts.items() if count > 1)
    codes = Counter(o.promo_code for o in food.orders if o.promo_code and (o.status == "cart" or uses_up(o)))
    yield from (f"{code} was used {count} times" for code, count in codes.items() if count > 1)


def _under_way(food: FoodDelivery, order: Order) -> Iterator[str]:
    trip = food.trips.get(order.order_id)
    due = sum(food.now >= moment for moment in (trip.starts, trip.leaves, trip.arrives))
    if order.status != (*MOVING, "delivered")[due]:
        yield f"{order.order_id} is {order.status}, which does not fit the time"
    if not food.order_items.where(order_id=order.order_id):
        yield f"{order.order_id} was placed with nothing in it"
    if order.arrives != trip.arrives or trip.courier_id not in food.couriers:
        yield f"{order.order_id} and its courier's trip disagree"


def past(food: FoodDelivery) -> Iterator[str]:
    opened = [o.opened for o in food.orders]
    if opened != sorted(opened):
        yield "the orders are not in the order of time"
    for dish in food.menu_items:
        if dish.back and (dish.available or dish.back <= food.today):
            yield f"{dish.menu_item_id} should have been back on {dish.back}"
        for diet in dish.diets:
            if FORBIDDEN[diet] & set(dish.allergens) or (diet == "vegan" and "vegetarian" not in dish.diets):
                yield f"{dish.menu_item_id} is {diet} and holds {dish.allergens}"
    for order in food.orders:
        yield from _costs(food, order)
        if order.placed is None:
            yield from _never_placed(food, order)
        else:
            yield from _placed(food, order, order.placed)


def _costs(food: FoodDelivery, order: Order) -> Iterator[str]:
    """What a cart or an order costs, with a code that is valid now, or was when it was placed."""
    restaurant, address = food.restaurants.get(order.restaurant_id), food.addresses.get(order.address_id)
    if not reaches(restaurant, address):
        yield f"{order.order_id}: {restaurant.name} does not deliver to {address.label}"
    for item in food.order_items.where(order_id=order.order_id):
        if item.price != food.menu_items.get(item.menu_item_id).price:
            yield f"{item.order_item_id} costs {item.price}, which is not the menu's price"
    fee = delivery_fee(restaurant, distance(restaurant, address)) if order.subtotal else 0
    promo = food.promos.get(order.promo_code) if order.promo_code else None
    if (order.delivery_fee, order.service_fee) != (fee, service_fee(order.subtotal)):
        yield f"{order.order_id}: the fees are {order.delivery_fee} and {order.service_fee}"
    if order.discount != discount(promo, order.subtotal, fee):
        yield f"{order.order_id}: {order.discount} is not what {order.promo_code} takes off"
    day = order.placed.date() if order.placed else food.today if order.status == "cart" else order.opened.date()
    if promo and (promo.until < day or order.subtotal < promo.minimum):
        yield f"{order.order_id}: {promo.code} had expired, or its minimum was not reached"


def _never_placed(food: FoodDelivery, order: Order) -> Iterator[str]:
    if order.status not in ("cart", "cancelled") or order.refunded or order.tip or order.arrives:
        yield f"{order.order_id} is {order.status}, and was never placed"


def _placed(food: FoodDelivery, order: Order, placed: Moment) -> Iterator[str]:
    """At a restaurant that was open, for its minimum at least, with a ride as long as the distance says; refunded by stage."""
    restaurant, address = food.restaurants.get(order.restaurant_id), food.addresses.get(order.address_id)
    if not order.opened <= placed <= food.now or not is_open(restaurant, placed):
        yield f"{order.order_id} was placed at {placed}, when {restaurant.name} was closed"
    if order.subtotal < restaurant.minimum_order:
        yield f"{order.order_id}: {order.subtotal} is below the minimum of {restaurant.name}, {restaurant.minimum_order}"
    trip, promo = food.trips.find(order.order_id), food.promos.get(order.promo_code) if order.promo_code else None
    if trip and (trip.starts, trip.leaves, trip.arrives) != schedule(restaurant, distance(restaurant, address), placed):
        yield f"{order.order_id}: the trip is not as long as the kitchen and the way take"
    paid_back = (order.total, order.total - paid_for_food(order, promo)) if order.status == "cancelled" else (0,)
    if order.refunded not in paid_back:
        yield f"{order.order_id} is {order.status}, and {order.refunded} was paid back"
    if promo and promo.first_order_only and any(o.placed and o.placed < placed and uses_up(o) for o in food.orders):
        yield f"{order.order_id} was not the first order"
