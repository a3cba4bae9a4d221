"""What an order costs, what a promo code takes off it, and what comes back when it is called off."""

from prove.servers import Money

from .records import Order, Promo


def service_fee(subtotal: Money) -> Money:
    """A tenth of the dishes' price, four hundred cents at most."""
    return min(subtotal // 10, 400)


def discount(promo: Promo | None, subtotal: Money, delivery: Money) -> Money:
    """What a promo code takes off: the dishes, or the ride."""
    if promo is None or subtotal < promo.minimum:
        return 0
    return {"percent": subtotal * promo.value // 100, "amount": min(promo.value, subtotal), "free_delivery": delivery}[promo.kind]


def paid_for_food(order: Order, promo: Promo | None) -> Money:
    """What the dishes of an order cost after what its promo code took off them."""
    return order.subtotal - (0 if promo and promo.kind == "free_delivery" else order.discount)


def refund(order: Order, promo: Promo | None) -> Money:
    """What is paid back when an order is called off: all of it until the kitchen begins, then all but the food."""
    return {"cart": 0, "placed": order.total, "preparing": order.total - paid_for_food(order, promo)}[order.status]


def uses_up(order: Order) -> bool:
    """Whether an order has used up its promo code: something was paid and kept."""
    return order.placed is not None and order.total > order.refunded
