"""What must hold in the store after every call, and what a past made by its rules looks like."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from .prices import days_on_the_way, discounts, is_postal_code, lacks, shipping_price, ships, ships_free
from .records import Order
from .tools import DAYS_TO_RETURN, DAYS_UNTIL_RECEIVED, STORES_FAULT, Shopping


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
        if order.discount != sum(i.discount for i in items) or any(not 0 <= i.discount <= i.price * i.quantity for i in items):
            yield f"{order.order_id}: the discount {order.discount} is not what was taken off its items"
        if order.total != order.subtotal - order.discount + order.shipping or order.shipping < 0:
            yield f"{order.order_id}: the total {order.total} is not the sum of its parts"
        back = [r for i in items for r in shop.returns.where(order_item_id=i.order_item_id)]
        refunds = sum(r.refund for r in back if r.status == "received")
        if order.refunded != (order.total if order.status == "cancelled" else refunds) or order.refunded > order.total:
            yield f"{order.order_id}: {order.refunded} was refunded"
        for item in items:
            sent = [r for r in back if r.order_item_id == item.order_item_id]
            pieces, paid = sum(r.quantity for r in sent), item.price * item.quantity - item.discount
            if item.returned != pieces or pieces > item.quantity:
                yield f"{item.order_item_id}: {item.returned} of {item.quantity} were sent back"
            if sum(r.refund for r in sent) != paid * pieces // item.quantity:
                yield f"{item.order_item_id}: what came back for {pieces} of {item.quantity} is not their share of {paid}"
        yield from _shipped(shop, order)
    codes = Counter(o.coupon_code for o in shop.orders if o.coupon_code and o.status != "cancelled")
    yield from (f"{code} was used {count} times" for code, count in codes.items() if count > 1)


def _shipped(shop: Shopping, order: Order) -> Iterator[str]:
    shipments = shop.shipments.where(order_id=order.order_id)
    if len(shipments) != (order.status != "cancelled"):
        yield f"{order.order_id} is {order.status} and has {len(shipments)} shipments"
    for shipment in shipments:
        reached = (shop.now >= shipment.leaves) + (shop.now >= shipment.arrives)
        if order.status != ("confirmed", "shipped", "delivered")[reached]:
            yield f"{order.order_id} is {order.status}, which does not fit the time"


def past(shop: Shopping) -> Iterator[str]:
    for product in shop.products:
        stars = [r.stars for r in shop.reviews.where(product_id=product.product_id)]
        if not stars or (product.rating, product.review_count) != (round(sum(stars) / len(stars), 1), len(stars)):
            yield f"{product.product_id}: {product.rating} is not the mean of its {len(stars)} reviews"
        if product.price != min(v.price for v in shop.variants.where(product_id=product.product_id)):
            yield f"{product.product_id}: {product.price} is not the price of its cheapest variant"
    writers = Counter((r.product_id, r.author) for r in shop.reviews)
    yield from (f"{author} wrote {count} reviews of {product}" for (product, author), count in writers.items() if count > 1)
    yield from _out_of_order("reviews", [r.written for r in shop.reviews])
    yield from _out_of_order("orders", [o.placed for o in shop.orders])
    for address in shop.addresses:
        if not is_postal_code(address.postal_code, address.country):
            yield f"{address.address_id}: {address.postal_code} is no postal code of {address.country}"
    for variant in shop.variants:
        if variant.restocked and variant.restocked <= shop.today:
            yield f"{variant.variant_id} should have been restocked on {variant.restocked}"
    for order in shop.orders:
        yield from _paid_by_the_rules(shop, order)
        yield from _sent_by_the_rules(shop, order)


def _out_of_order(what: str, moments: list[Any]) -> Iterator[str]:
    if moments != sorted(moments):
        yield f"the {what} are not in the order of time"


def _paid_by_the_rules(shop: Shopping, order: Order) -> Iterator[str]:
    """A coupon that was valid, each line's share of it, shipping as option, weight and country say, a card that worked."""
    items = shop.order_items.where(order_id=order.order_id)
    products = [shop.products.get(shop.variants.get(i.variant_id).product_id) for i in items]
    lines = [(p.category_id, i.price * i.quantity) for p, i in zip(products, items, strict=True)]
    coupon = shop.coupons.get(order.coupon_code) if order.coupon_code else None
    if coupon and (coupon.until < order.placed.date() or lacks(coupon, lines)):
        yield f"{order.order_id}: {coupon.code} had expired or its minimum was not reached"
    if [i.discount for i in items] != discounts(coupon, lines):
        yield f"{order.order_id}: the discounts {[i.discount for i in items]} are not what {order.coupon_code} takes off"
    if any(i.price != shop.variants.get(i.variant_id).price for i in items):
        yield f"{order.order_id}: something was sold at another price than the store's"
    option, address = shop.shipping_options.get(order.shipping_option_id), shop.addresses.get(order.address_id)
    weight = sum(p.weight * i.quantity for p, i in zip(products, items, strict=True))
    if not ships(option, address, weight):
        yield f"{order.order_id}: {option.name} does not take {weight} g to {address.country}"
    if order.shipping != (0 if ships_free(coupon, lines) else shipping_price(option, address, weight)):
        yield f"{order.order_id}: {order.shipping} is not what {option.name} costs for {weight} g to {address.country}"
    if f"{order.placed:%Y-%m}" > shop.payment_methods.get(order.payment_method_id).expires:
        yield f"{order.order_id} was paid with a card that had expired"


def _sent_by_the_rules(shop: Shopping, order: Order) -> Iterator[str]:
    """A parcel that left after a day and took the option's days; returns in time, for a reason that counts."""
    option, address = shop.shipping_options.get(order.shipping_option_id), shop.addresses.get(order.address_id)
    for shipment in shop.shipments.where(order_id=order.order_id):
        took = shipment.arrives - shipment.leaves
        if shipment.leaves - order.placed != timedelta(days=1) or took != timedelta(days=days_on_the_way(option, address)):
            yield f"{order.order_id}: the parcel took {took} with {option.name}"
        if shipment.carrier != option.carrier:
            yield f"{order.order_id} went with {shipment.carrier}, not with {option.carrier}"
        for item in shop.order_items.where(order_id=order.order_id):
            returnable = shop.products.get(shop.variants.get(item.variant_id).product_id).returnable
            for sent in shop.returns.where(order_item_id=item.order_item_id):
                if not timedelta() <= sent.requested - shipment.arrives < timedelta(days=DAYS_TO_RETURN + 1):
                    yield f"{sent.return_id} was asked for on {sent.requested}, the parcel came on {shipment.arrives}"
                if not returnable and sent.reason not in STORES_FAULT:
                    yield f"{sent.return_id}: what is on final sale came back because of {sent.reason}"
                if (sent.status == "received") != (shop.now - sent.requested >= timedelta(days=DAYS_UNTIL_RECEIVED)):
                    yield f"{sent.return_id} is {sent.status}, which does not fit the time"
