"""What must hold on a marketplace after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.marketplace.tools import Listing, Marketplace, price_of


def invariants(market: Marketplace) -> Iterator[str]:
    for listing in market.listings:
        yield from _wrong_with(market, listing)
    for order in market.orders:
        if order.buyer == order.seller or market.listings.get(order.listing_id).status != "sold":
            yield f"{order.order_id} is for something that was not sold, or to its own seller"
        if (order.status == "paid") != (order.shipped is None):
            yield f"{order.order_id} is {order.status} and shipped {order.shipped}"
    for (order_id, author), count in Counter((f.order_id, f.author) for f in market.feedback).items():
        if count > 1:
            yield f"{author} rated {order_id} {count} times"
    for given in market.feedback:
        order = market.orders.get(given.order_id)
        if {given.author, given.about} != {order.buyer, order.seller}:
            yield f"{given.feedback_id} is by or about somebody who was not there"


def _wrong_with(market: Marketplace, listing: Listing) -> Iterator[str]:
    key, bids = listing.listing_id, market._ranked(listing.listing_id)
    if len(market.orders.where(listing_id=key)) != (listing.status == "sold"):
        yield f"{key} is {listing.status} with {len(market.orders.where(listing_id=key))} orders"
    if listing.status == "active" and listing.ends <= market.now:
        yield f"{key} is on offer beyond its end"
    if listing.format == "fixed_price" and bids:
        yield f"{key} has a fixed price and bids"
    if listing.format == "auction" and listing.price != price_of(listing.start, bids):
        yield f"{key} stands at {listing.price}, which its bids do not make"
    if max(Counter(b.bidder for b in bids).values(), default=0) > 1 or listing.seller in {b.bidder for b in bids}:
        yield f"{key} has two bids of one member, or a bid of its seller"
