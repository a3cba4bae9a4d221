"""The arithmetic of a market: who is first in a queue, who trades with whom, and what a trade does to a position."""

from collections.abc import Iterable, Iterator

from prove.servers import Money

from .records import Level, Order, Resting


def queue(waiting: Iterable[Resting]) -> list[Resting]:
    """One side of a book, given in the order of time: the best price first and, as the sort is stable, then the oldest."""
    return sorted(waiting, key=lambda r: -r.price if r.side == "buy" else r.price)


def reach(facing: Iterable[Resting], quantity: int, limit_price: int | None) -> Iterator[tuple[Resting, int]]:
    """The waiting orders that an order would trade with, and how many shares with each. No limit: at any price."""
    for waiting in facing:
        sign = 1 if waiting.side == "sell" else -1
        if quantity == 0 or (limit_price is not None and sign * waiting.price > sign * limit_price):
            return
        traded = min(quantity, waiting.quantity)
        yield waiting, traded
        quantity -= traded


def levels(waiting: Iterable[Resting]) -> list[Level]:
    """A queue summed up by price."""
    out: dict[int, Level] = {}
    for one in waiting:
        level = out.get(one.price, Level(one.price, 0, 0))
        out[one.price] = Level(one.price, level.quantity + one.quantity, level.orders + 1)
    return list(out.values())


def opening(order: Order, held: int, ahead: Iterable[Order]) -> int:
    """How many shares of an order open or enlarge a position, as the holding and the orders ahead of it leave it nothing to close."""
    closable = held if order.side == "sell" else -held
    closable -= sum(o.left for o in ahead if (o.symbol, o.side) == (order.symbol, order.side))
    return order.left - min(order.left, max(0, closable))


def booked(held: int, cost: Money, shares: int, price: int) -> tuple[Money, Money]:
    """What a position costs after a trade, and what the trade gained. Shares below zero are sold, or sold short.

    Those that leave the position take their share of its cost with them; the rest come in at the price.
    """
    closing = 0
    if held * shares < 0:
        closing = max(shares, -held) if shares < 0 else min(shares, -held)
    given_up = -cost * closing // held if closing else 0
    return cost - given_up + (shares - closing) * price, -closing * price - given_up


def average(total: Money, shares: int) -> Money:
    """The price per share, rounded to the nearest cent."""
    return (2 * total + shares) // (2 * shares)
