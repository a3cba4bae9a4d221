"""What shipping costs and how long it takes, and what a coupon takes off each line of a cart: sums are exact to the cent."""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from prove.servers import Money

from .records import Address, CategoryId, Country, Coupon, Grams, OrderItem, PostalCode, ShippingOption

HOME_COUNTRY = "US"
DAYS_AT_CUSTOMS = 4
POSTAL_CODES: dict[Country, tuple[str, str]] = {  # how a country writes them, and an example
    "US": (r"[0-9]{5}(-[0-9]{4})?", "97205"),
    "CA": (r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]", "V6B 1A1"),
    "GB": (r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}", "BS1 4DJ"),
    "DE": (r"[0-9]{5}", "10115"),
    "FR": (r"[0-9]{5}", "75011"),
}


def is_postal_code(code: PostalCode, country: Country) -> bool:
    """Whether a country writes its postal codes like that."""
    return re.fullmatch(POSTAL_CODES[country][0], code) is not None


def ships(option: ShippingOption, address: Address, weight: Grams) -> bool:
    """Whether an option takes so much to an address."""
    return weight <= option.heaviest and (address.country == HOME_COUNTRY or option.abroad is not None)


def shipping_price(option: ShippingOption, address: Address, weight: Grams) -> Money:
    """The price of an option, something for each kilogram begun, and the surcharge for other countries."""
    abroad = option.abroad if option.abroad and address.country != HOME_COUNTRY else 0
    return option.price + option.per_kilogram * -(-weight // 1000) + abroad


def days_on_the_way(option: ShippingOption, address: Address) -> int:
    """How long a parcel is on its way."""
    return option.days + (0 if address.country == HOME_COUNTRY else DAYS_AT_CUSTOMS)


Lines = Sequence[tuple[CategoryId, Money]]  # of a cart or an order: what each thing is, and what it costs


def counted_for(coupon: Coupon, lines: Lines) -> list[Money]:
    """What of each line counts for a coupon."""
    return [cost if coupon.category_id in (None, category) else 0 for category, cost in lines]


def lacks(coupon: Coupon, lines: Lines) -> Money:
    """What is missing for a coupon to work."""
    return max(coupon.minimum - sum(counted_for(coupon, lines)), 0)


def discounts(coupon: Coupon | None, lines: Lines) -> list[Money]:
    """What a coupon takes off each line; nothing while its minimum is not reached."""
    if coupon is None or lacks(coupon, lines):
        return [0] * len(lines)
    counted = counted_for(coupon, lines)
    total = sum(counted)
    off = {"percent": total * coupon.value // 100, "amount": min(coupon.value, total), "free_shipping": 0}[coupon.kind]
    return spread(off, counted)


def ships_free(coupon: Coupon | None, lines: Lines) -> bool:
    return coupon is not None and coupon.kind == "free_shipping" and not lacks(coupon, lines)


def spread(amount: Money, weights: Sequence[Money]) -> list[Money]:
    """An amount in shares proportional to the weights, in whole cents that add up to it."""
    total, ends = max(sum(weights), 1), [0, *accumulate(weights)]
    return [amount * end // total - amount * begin // total for begin, end in pairwise(ends)]


def refund_for(item: OrderItem, pieces: int) -> Money:
    """What the next pieces that come back are worth: all of a line's pieces, one by one, give back exactly what was paid for it."""
    paid, before = item.price * item.quantity - item.discount, item.returned
    return paid * (before + pieces) // item.quantity - paid * before // item.quantity
