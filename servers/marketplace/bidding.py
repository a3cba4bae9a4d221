"""The arithmetic of auctions: who leads, what they would pay, and how much a bid must be higher."""

from bisect import bisect_right
from collections.abc import Iterable

from .records import Bid, Price

INCREMENTS = (0, 500, 2_500, 10_000, 25_000, 50_000)  # from which price on ...
STEPS = (25, 50, 100, 250, 500, 1_000)  # ... a bid must be by how much higher


def step(price: Price) -> int:
    """By how much a bid must be above that price."""
    return STEPS[bisect_right(INCREMENTS, price) - 1]


def leaders(bids: Iterable[Bid]) -> list[Bid]:
    """The highest bid of each bidder, the highest first; of two equal ones the earlier wins."""
    best: dict[str, Bid] = {}
    for bid in sorted(bids, key=lambda b: (-b.maximum, b.placed)):
        best.setdefault(bid.bidder, bid)
    return list(best.values())


def price_of(start: Price, ranked: list[Bid]) -> Price:
    """What the highest bidder would pay: one step more than the second, within their own maximum."""
    if len(ranked) < 2:
        return start
    first, second = ranked[:2]
    return min(first.maximum, second.maximum + step(second.maximum))


def minimum(start: Price, ranked: list[Bid]) -> Price:
    """The least that a new bidder must be ready to pay."""
    price = price_of(start, ranked)
    return price + step(price) if ranked else start
