"""What stands on the shelf: one kind of record, and what a list shows of it."""

from typing import Annotated, NewType

from prove.servers import Meta, Record

ItemId = NewType("ItemId", str)  # an id is a type: whoever returns it leads to whoever requires it

ItemName = Annotated[str, Meta(min_length=1, max_length=60, description="what the thing is called")]
Borrower = Annotated[str, Meta(min_length=1, max_length=60, description="the name of the neighbour who takes it")]


class Item(Record):
    item_id: ItemId
    name: ItemName
    borrower: Borrower | None = None
    times_lent: int = 0


class ItemLine(Record):
    item_id: ItemId
    name: ItemName
