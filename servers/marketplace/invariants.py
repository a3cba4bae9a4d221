"""What must hold on a marketplace after every call, and what a past that its rules have made looks like."""

from collections import Counter
from collections.abc import Iterator

from .bidding import leaders, minimum, price_of
from .records import Listing, Order
from .tools import ANSWER_AFTER, FEEDBACK_DAYS, SHIPS_AFTER, Marketplace


def invariants(market: Marketplace) -> Iterator[str]:
    orders = Counter(o.listing_id for o in market.orders)
    for listing in market.listings:
        yield from _wrong_with(market, listing, orders[listing.listing_id])
    for order in market.orders:
        if (order.buyer == market._me()) == (order.seller == market._me()) or market.listings.get(order.listing_id).status != "sold":
            yield f"{order.order_id} is for something that was not sold, or of no or both sides the member's"
        if (order.status in ("paid", "cancelled")) != (order.shipped is None):
            yield f"{order.order_id} is {order.status} and shipped {order.shipped}"
    for (order_id, author), count in Counter((f.order_id, f.author) for f in market.feedback).items():
        if count > 1:
            yield f"{author} rated {order_id} {count} times"
    for given in market.feedback:
        order = market.orders.get(given.order_id)
        if {given.author, given.about} != {order.buyer, order.seller}:
            yield f"{given.feedback_id} is by or about somebody who was not there"


def _wrong_with(market: Marketplace, listing: Listing, orders: int) -> Iterator[str]:
    key, bids = listing.listing_id, market._ranked(listing.listing_id)
    bought = any(b.bidder == market._me() for b in bids[:1])
    if orders > (listing.status == "sold") or (listing.status == "sold" and not orders and (bought or listing.seller == market._me())):
        yield f"{key} is {listing.status} with {orders} orders"
    if listing.status == "active" and listing.ends <= market.now:
        yield f"{key} is on offer beyond its end"
    if listing.format == "fixed_price" and bids:
        yield f"{key} has a fixed price and bids"
    if listing.format == "auction" and listing.price != price_of(listing.start, bids):
        yield f"{key} stands at {listing.price}, which its bids do not make"
    if listing.seller in {b.bidder for b in bids}:
        yield f"{key} has a bid of its seller"


def past(market: Marketplace) -> Iterator[str]:
    for listing in market.listings:
        yield from _never_held(market, listing)
    for order in market.orders:
        yield from _never_sold(market, order)
    yield from _never_rated(market)
    yield from _never_written(market)
    in_time = ((market.bids, "placed"), (market.orders, "placed"), (market.messages, "sent"), (market.feedback, "left"))
    for rows, field in (*in_time, (market.listings, "opened")):
        moments = [getattr(record, field) for record in rows]
        if moments != sorted(moments) or moments[-1] > market.now:
            yield f"there is a {rows.spec.noun} out of its order in time"
    titles = Counter((x.seller, x.title.casefold()) for x in market.listings.where(status="active"))
    yield from (f"{seller} offers {title!r} {count} times" for (seller, title), count in titles.items() if count > 1)


def _never_held(market: Marketplace, listing: Listing) -> Iterator[str]:
    key, bids = listing.listing_id, market._standing(listing.listing_id)
    seller = market.members.get(listing.seller)
    if seller.suspended or seller.joined > listing.opened.date() or not listing.opened <= listing.ends:
        yield f"{key} was opened by somebody who could not, or ended before"
    if listing.status != "active" and listing.ends > market.now:
        yield f"{key} is {listing.status} before its end"
    if listing.format == "auction" and (listing.ends - listing.opened).days > 10:
        yield f"{key} is an auction of more than ten days"
    for i, bid in enumerate(bids):
        bidder, least = market.members.get(bid.bidder), minimum(listing.start, leaders(bids[:i]))
        if bidder.suspended or bidder.joined > bid.placed.date() or not listing.opened <= bid.placed <= listing.ends:
            yield f"{bid.bid_id} was placed by somebody who could not, or when {key} was not on offer"
        if bid.maximum < least or bid.maximum <= max((b.maximum for b in bids[:i] if b.bidder == bid.bidder), default=0):
            yield f"{bid.bid_id} of {bid.maximum} was too low: {least} was the least"


def _never_sold(market: Marketplace, order: Order) -> Iterator[str]:
    key, listing = order.order_id, market.listings.get(order.listing_id)
    if (order.placed, order.price, order.seller) != (listing.ends, listing.price, listing.seller):
        yield f"{key} is not what {listing.listing_id} was sold for, or when"
    if listing.format == "auction" and market._ranked(listing.listing_id)[0].bidder != order.buyer:
        yield f"{key} went to somebody other than the highest bidder"
    if order.status in ("shipped", "delivered") and (order.status == "delivered") != (market._arrives(order) <= market.now):
        yield f"{key} is {order.status}, and ought to have arrived on {market._arrives(order)}"
    if order.status == "paid" and market._leaves(order) <= market.now:
        yield f"{key} is still not shipped, and was to be by {market._leaves(order)}"
    mine = order.seller == market._me()
    if order.shipped and not (order.placed <= order.shipped if mine else order.shipped == order.placed + SHIPS_AFTER):
        yield f"{key} was shipped at {order.shipped}, and placed at {order.placed}"
    if order.shipped and mine != (order.tracking_number is not None):
        yield f"{key} has the tracking number {order.tracking_number}"


def _never_rated(market: Marketplace) -> Iterator[str]:
    rated = {(f.order_id, f.author) for f in market.feedback}
    for order in market.orders.where(status="delivered"):
        for side in {order.buyer, order.seller} - {market._me()}:
            if (order.order_id, side) not in rated:
                yield f"{side} did not say how {order.order_id} went"
    counts = Counter((f.about, f.rating) for f in market.feedback)
    for member in market.members:
        if any(getattr(member, rating) < counts[member.member_id, rating] for rating in ("positive", "neutral", "negative")):
            yield f"{member.member_id} has more ratings than are counted"
    for given in market.feedback:
        order = market.orders.get(given.order_id)
        if given.rating != "positive" and given.author == order.seller:
            yield f"{given.feedback_id} is a seller's, and not positive"
        if given.left < (order.shipped or order.placed) or (given.author == market._me() and given.left - order.placed > FEEDBACK_DAYS):
            yield f"{given.feedback_id} was left too early or too late"


def _never_written(market: Marketplace) -> Iterator[str]:
    for message in market.messages:
        listing = market.listings.get(message.listing_id)
        if (
            listing.seller not in (message.sender, message.recipient)
            or message.sender == message.recipient
            or message.sent < listing.opened
        ):
            yield f"{message.message_id} is not between the seller and somebody else, or older than the listing"
    for message in market._unanswered():
        if message.sent + ANSWER_AFTER <= market.now:
            yield f"{message.message_id} was not answered"
