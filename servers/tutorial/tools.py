"""A lending shelf: four tools, one kind of record. Copy this folder to start a server of your own."""

from prove.servers import Page, Query, Server, matches, page, read, require, table, write
from .records import Borrower, Item, ItemId, ItemLine


class Tutorial(Server):
    """A shelf from which neighbours lend things."""

    category = "Tutorial"
    hidden = True

    items = table(Item, "ITM-{}", start=1)

    @read
    def list_items(self, query: Query | None = None) -> Page[ItemLine]:
        """List what stands on the shelf or has been lent from it."""
        return page((i for i in self.items if matches(query, i.name)), 50, ItemLine)

    @read
    def get_item(self, item_id: ItemId) -> Item:
        """Show who has a thing, and how often it has been lent."""
        return self.items.get(item_id)

    @write
    def lend_item(self, item_id: ItemId, borrower: Borrower) -> Item:
        """Lend a thing that is on the shelf."""
        item = self.items.get(item_id)
        require(item.borrower is None, "failed_precondition", f"{item_id} is with {item.borrower}: it must be returned first")
        return self.items.update(item_id, borrower=borrower, times_lent=item.times_lent + 1)

    @write
    def return_item(self, item_id: ItemId) -> Item:
        """Put a thing that was lent back on the shelf."""
        require(self.items.get(item_id).borrower, "failed_precondition", f"{item_id} is on the shelf already")
        return self.items.update(item_id, borrower=None)
