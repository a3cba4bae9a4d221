"""A shelf of a dozen things, a few of them lent."""

from prove.servers.maker import Maker

from .records import Item
from .tools import Tutorial

THINGS = (
    "cordless drill", "step ladder", "sewing machine", "pressure washer", "tent for two", "projector",
    "waffle iron", "bike pump", "paint roller set", "carpet cleaner", "metal detector", "telescope",
)  # fmt: skip


def populate(shelf: Tutorial, make: Maker) -> None:
    for name in make.shuffled(THINGS):
        borrower = make.person() if make.chance(0.3) else None
        shelf.items.add(Item(shelf.items.mint(), name, borrower, make.between(1 if borrower else 0, 20)))
