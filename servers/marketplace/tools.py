"""A marketplace for one signed-in member, who both buys and sells. Bids are maxima: the price rises only as far as it must."""

from bisect import bisect_right
from datetime import datetime, timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Cents,
    Day,
    Limit,
    Meta,
    Moment,
    Money,
    Page,
    Query,
    Record,
    Server,
    given,
    matches,
    page,
    read,
    require,
    table,
    write,
)

MemberId = NewType("MemberId", str)
ListingId = NewType("ListingId", str)
BidId = NewType("BidId", str)
OrderId = NewType("OrderId", str)
MessageId = NewType("MessageId", str)
FeedbackId = NewType("FeedbackId", str)

Title = Annotated[str, Meta(min_length=3, max_length=80, description="what is for sale, in one line")]
Description = Annotated[str, Meta(max_length=1000, description="what a buyer should know about the item")]
Category = Annotated[
    Literal["cameras", "music", "watches", "books", "furniture", "toys", "bicycles", "kitchen"], Meta(description="what sort of item it is")
]
Condition = Annotated[Literal["new", "like_new", "used", "for_parts"], Meta(description="the state the item is in")]
Format = Annotated[Literal["auction", "fixed_price"], Meta(description="sold to the highest bidder, or at once for its price")]
Price = Annotated[Cents, Meta(description="the price, or the starting price of an auction, an amount in cents")]
PriceLimit = Annotated[Cents, Meta(description="the highest price to look at, an amount in cents")]
MaximumBid = Annotated[Cents, Meta(description="the most the bidder is ready to pay, an amount in cents; others do not see it")]
DaysOpen = Annotated[int, Meta(ge=1, le=10, description="for how many days it is on offer")]
Mine = Annotated[bool, Meta(description="only what the signed-in member sells")]
Ending = Annotated[
    Literal["cancel_bids", "sell_to_highest"],
    Meta(description="whether an auction that has bids is called off, or the highest bidder gets the item now"),
]
Role = Annotated[Literal["buying", "selling"], Meta(description="the signed-in member's side of an order")]
OrderStatus = Annotated[Literal["paid", "shipped", "delivered"], Meta(description="how far an order has come")]
Carrier = Annotated[Literal["post", "dhl", "ups", "fedex"], Meta(description="who carries the parcel")]
TrackingNumber = Annotated[str, Meta(pattern=r"^[A-Z0-9]{8,20}$", description="the carrier's tracking number, capitals and digits")]
MessageText = Annotated[str, Meta(min_length=1, max_length=1000, description="the message's text")]
Rating = Annotated[Literal["positive", "neutral", "negative"], Meta(description="how the other side of an order did")]
Comment = Annotated[str, Meta(min_length=1, max_length=200, description="what others should know about the deal")]

INCREMENTS = (0, 500, 2_500, 10_000, 25_000, 50_000)  # from which price on ...
STEPS = (25, 50, 100, 250, 500, 1_000)  # ... a bid must be by how much higher
LAST_HOURS = timedelta(hours=12)  # before the end, when bids stand
SECOND_THOUGHTS = timedelta(hours=1)  # after a bid, when it can be withdrawn in any case
SHIPS_AFTER, ARRIVES_AFTER = timedelta(days=1), timedelta(days=4)
SELLING_LIMIT = 25  # listings of one member at a time


class Member(Record):
    member_id: MemberId
    location: str
    joined: Day
    positive: int
    neutral: int
    negative: int
    suspended: bool = False
    me: bool = False


class Listing(Record):
    listing_id: ListingId
    seller: MemberId
    title: Title
    category: Category
    condition: Condition
    format: Format
    start: Price
    price: Price  # of an auction: what the highest bidder would pay now
    opened: Moment
    ends: Moment
    description: Description = ""
    status: Literal["active", "sold", "ended"] = "active"


class Bid(Record):
    bid_id: BidId
    listing_id: ListingId
    bidder: MemberId
    maximum: MaximumBid
    placed: Moment
    status: Literal["active", "withdrawn", "cancelled"] = "active"


class Order(Record):
    order_id: OrderId
    listing_id: ListingId
    title: Title
    seller: MemberId
    buyer: MemberId
    price: Price
    placed: Moment
    status: OrderStatus = "paid"
    shipped: Moment | None = None
    carrier: Carrier | None = None
    tracking_number: TrackingNumber | None = None


class Message(Record):
    message_id: MessageId
    sender: MemberId
    recipient: MemberId
    text: MessageText
    sent: Moment
    listing_id: ListingId | None = None


class Feedback(Record):
    feedback_id: FeedbackId
    order_id: OrderId
    author: MemberId
    about: MemberId
    rating: Rating
    comment: Comment
    left: Moment


class ListingLine(Record):
    listing_id: ListingId
    title: Title
    category: Category
    format: Format
    price: Price
    ends: Moment
    seller: MemberId


class ListingView(Record):
    listing: Listing
    bids: int
    highest_bidder: MemberId | None
    minimum_bid: Price | None
    seller_location: str
    seller_positive_percent: int


class BidLine(Record):
    bid_id: BidId
    listing_id: ListingId
    bidder: MemberId
    placed: Moment
    winning: bool
    maximum: Money | None  # of the member's own bids only


class Marketplace(Server):
    """Auctions and fixed-price listings between members: bids, orders, shipping, messages and feedback."""

    category = "Commerce"

    members = table(Member)
    listings = table(Listing, "LST-{}", start=110201)
    bids = table(Bid, "BID-{}", start=60001)
    orders = table(Order, "ORD-{}", start=20101)
    messages = table(Message, "MSG-{}", start=4001)
    feedback = table(Feedback, "FDB-{}", start=701)

    # --- looking around

    @read
    def search_listings(
        self,
        query: Query | None = None,
        category: Category | None = None,
        format: Format | None = None,
        max_price: PriceLimit | None = None,
        mine: Mine = False,
        limit: Limit = 10,
    ) -> Page[ListingLine]:
        """Find what is on offer, the soonest to end first; query looks at title, description and seller."""
        among = [x for x in self.listings.where(status="active") if category in (None, x.category) and format in (None, x.format)]
        found = [x for x in among if (max_price is None or x.price <= max_price) and (not mine or x.seller == self._me())]
        found = [x for x in found if matches(query, x.title, x.description, x.seller)]
        return page(sorted(found, key=lambda x: x.ends), limit, ListingLine)

    @read
    def get_listing(self, listing_id: ListingId) -> ListingView:
        """Show one listing in full: condition, description, how the bidding stands and how the seller is rated."""
        listing = self.listings.get(listing_id)
        bids, seller = self._ranked(listing_id), self.members.get(listing.seller)
        rated = seller.positive + seller.neutral + seller.negative
        leader = bids[0].bidder if bids else None
        least = self._minimum_bid(listing) if listing.format == "auction" else None
        return ListingView(listing, len(bids), leader, least, seller.location, 100 * seller.positive // max(rated, 1))

    # --- buying

    @write
    def place_bid(self, listing_id: ListingId, maximum: MaximumBid) -> BidLine:
        """Bid in an auction up to a maximum, or raise an earlier bid; the price rises only as far as other bids make it."""
        listing, me = self._active(listing_id, own=False), self._me()
        require(listing.format == "auction", "invalid_argument", f"{listing_id} has a fixed price of {listing.price} cents: buy it now")
        own = next((b for b in self._ranked(listing_id) if b.bidder == me), None)
        already = own.maximum if own else 0
        require(maximum > already, "conflict", f"your bid on {listing_id} is {already} cents already: a new one must be higher")
        least = self._minimum_bid(listing)
        require(maximum >= least, "invalid_argument", f"{maximum} is below the minimum bid on {listing_id}, {least} cents")
        bid = own or self.bids.add(Bid(BidId(self.bids.mint()), listing.listing_id, me, maximum, self.now))
        bid = self.bids.update(bid.bid_id, maximum=maximum, placed=self.now)
        self._reprice(listing)
        return self._line(bid)

    @read
    def list_bids(self, listing_id: ListingId, limit: Limit = 10) -> Page[BidLine]:
        """List the bids on a listing, the highest first; only the member's own show their maximum."""
        self.listings.get(listing_id)
        return page(map(self._line, self._ranked(listing_id)), limit, BidLine)

    @write(destructive=True)
    def withdraw_bid(self, bid_id: BidId) -> Bid:
        """Take back one of the member's own bids, up to 12 hours before the auction ends or within an hour of bidding."""
        bid = self.bids.get(bid_id)
        require(bid.bidder == self._me(), "permission_denied", f"{bid_id} is a bid of {bid.bidder}: only they can withdraw it")
        require(bid.status == "active", "failed_precondition", f"{bid_id} is {bid.status} already")
        listing = self._active(bid.listing_id, own=False)
        free = listing.ends - self.now >= LAST_HOURS or self.now - bid.placed <= SECOND_THOUGHTS
        require(free, "failed_precondition", f"{bid.listing_id} ends in less than 12 hours: bids on it stand")
        withdrawn = self.bids.update(bid_id, status="withdrawn")
        self._reprice(listing)
        return withdrawn

    @write
    def buy_now(self, listing_id: ListingId) -> Order:
        """Buy and pay an item that has a fixed price."""
        listing = self._active(listing_id, own=False)
        require(listing.format == "fixed_price", "invalid_argument", f"{listing_id} is an auction: place a bid")
        return self._sell(listing, self._me(), self.now)

    # --- selling

    @write
    def create_listing(
        self, title: Title, category: Category, condition: Condition, price: Price, format: Format = "auction", days: DaysOpen = 7
    ) -> Listing:
        """Put an item up for sale, for a fixed price or by auction from a starting price."""
        mine = self.listings.where(seller=self._me(), status="active")
        same = ", ".join(x.listing_id for x in mine if x.title.casefold() == title.casefold())
        require(not same, "conflict", f"{same} offers {title!r} already: end it first, or choose another title")
        full = f"you have {len(mine)} listings, and {SELLING_LIMIT} is the limit: end one first"
        require(len(mine) < SELLING_LIMIT, "resource_exhausted", full)
        made = (self._me(), title, category, condition, format, price, price, self.now, self.now + timedelta(days=days))
        return self.listings.add(Listing(self.listings.mint(), *made))

    @write(idempotent=True)
    def update_listing(
        self,
        listing_id: ListingId,
        title: Title | None = None,
        description: Description | None = None,
        price: Price | None = None,
        condition: Condition | None = None,
    ) -> Listing:
        """Change one of the member's own listings; once somebody has bid, only the description."""
        self._active(listing_id, own=True)
        firm = given(title=title, price=price, start=price, condition=condition)
        require(firm or description is not None, "invalid_argument", "nothing to change: give a title, description, price or condition")
        free = not firm or not self._ranked(listing_id)
        require(free, "failed_precondition", f"{listing_id} has bids: only its description can be changed")
        return self.listings.update(listing_id, **firm, **given(description=description))

    @write(destructive=True)
    def end_listing(self, listing_id: ListingId, ending: Ending = "cancel_bids") -> Listing:
        """End one of the member's own listings early; with bids, in its last 12 hours, only by selling to the highest bidder."""
        listing, bids = self._active(listing_id, own=True), self._ranked(listing_id)
        if ending == "sell_to_highest":
            require(bids, "failed_precondition", f"{listing_id} has no bids: there is nobody to sell it to")
            self._sell(listing, bids[0].bidder, self.now)
            return self.listings.get(listing_id)
        late = bids and listing.ends - self.now < LAST_HOURS
        require(not late, "failed_precondition", f"{listing_id} has bids and ends within 12 hours: sell to the highest bidder, or wait")
        for bid in bids:
            self.bids.update(bid.bid_id, status="cancelled")
        return self.listings.update(listing_id, status="ended", price=listing.start, ends=self.now)

    # --- after the sale

    @read
    def list_orders(
        self, query: Query | None = None, role: Role | None = None, status: OrderStatus | None = None, limit: Limit = 10
    ) -> Page[Order]:
        """List what the member has bought and sold, newest first; query looks at the title and the other side."""
        me = self._me()
        bought, sold = self.orders.where(buyer=me), self.orders.where(seller=me)
        among = bought if role == "buying" else sold if role == "selling" else [*bought, *sold]
        found = [o for o in among if status in (None, o.status) and matches(query, o.title, o.seller, o.buyer)]
        return page(sorted(found, key=lambda o: o.placed, reverse=True), limit, Order)

    @write
    def mark_shipped(self, order_id: OrderId, carrier: Carrier, tracking_number: TrackingNumber) -> Order:
        """Tell the buyer of something the member sold that it is on its way."""
        order = self.orders.get(order_id)
        require(order.seller == self._me(), "permission_denied", f"{order_id} is sold by {order.seller}: only they ship it")
        require(order.status == "paid", "failed_precondition", f"{order_id} is {order.status} already")
        used = ", ".join(o.order_id for o in self.orders.where(tracking_number=tracking_number))
        require(not used, "conflict", f"{tracking_number} is the tracking number of {used}")
        return self.orders.update(order_id, status="shipped", shipped=self.now, carrier=carrier, tracking_number=tracking_number)

    @write
    def send_message(self, member_id: MemberId, text: MessageText, listing_id: ListingId | None = None) -> Message:
        """Write to another member, about one of the listings if one is named."""
        me, recipient = self._me(), self.members.get(member_id)
        require(member_id != me, "invalid_argument", f"{member_id} is the signed-in member: choose somebody else")
        require(not recipient.suspended, "failed_precondition", f"{member_id} is suspended and cannot be written to")
        require("@" not in text, "permission_denied", "messages must not hold email addresses: deals stay on the marketplace")
        require(listing_id is None or listing_id in self.listings, "not_found", f"there is no listing {listing_id!r}")
        return self.messages.add(Message(self.messages.mint(), me, recipient.member_id, text, self.now, listing_id))

    @write
    def leave_feedback(self, order_id: OrderId, rating: Rating, comment: Comment) -> Feedback:
        """Rate the other side of an order that has been shipped, once; sellers can only praise their buyers."""
        order, me = self.orders.get(order_id), self._me()
        require(me in (order.buyer, order.seller), "permission_denied", f"{order_id} is between other members: only they can rate it")
        require(order.status != "paid", "failed_precondition", f"{order_id} has not been shipped yet: rate it after that")
        free = me == order.buyer or rating == "positive"
        require(free, "permission_denied", f"you sold {order_id}: sellers leave only positive feedback")
        given = ", ".join(f.feedback_id for f in self.feedback.where(order_id=order_id, author=me))
        require(not given, "conflict", f"you have rated {order_id} already, with {given}")
        other = self.members.get(order.seller if me == order.buyer else order.buyer)
        self.members.update(other.member_id, **{rating: getattr(other, rating) + 1})
        return self.feedback.add(Feedback(self.feedback.mint(), order.order_id, me, other.member_id, rating, comment, self.now))

    # --- rules

    def elapse(self) -> None:
        over = [x for x in self.listings.where(status="active") if x.ends <= self.now]
        for listing in sorted(over, key=lambda x: x.ends):
            bids = self._ranked(listing.listing_id)
            if bids:
                self._sell(listing, bids[0].bidder, listing.ends)
            else:
                self.listings.update(listing.listing_id, status="ended")
        for order in [o for o in self.orders.where(status="paid") if o.seller != self._me() and o.placed + SHIPS_AFTER <= self.now]:
            self.orders.update(order.order_id, status="shipped", shipped=order.placed + SHIPS_AFTER, carrier="post")
        for order in [o for o in self.orders.where(status="shipped") if o.shipped and o.shipped + ARRIVES_AFTER <= self.now]:
            self.orders.update(order.order_id, status="delivered")

    def _me(self) -> MemberId:
        return self.members.where(me=True)[0].member_id

    def _active(self, listing_id: ListingId, own: bool) -> Listing:
        listing, me = self.listings.get(listing_id), self._me()
        theirs = f"{listing_id} is offered by {listing.seller}: only they can change it"
        require(not own or listing.seller == me, "permission_denied", theirs)
        require(own or listing.seller != me, "permission_denied", f"{listing_id} is your own listing: you can only sell it")
        require(listing.status == "active", "failed_precondition", f"{listing_id} is over: {listing.status} on {listing.ends:%Y-%m-%d}")
        return listing

    def _ranked(self, listing_id: ListingId) -> list[Bid]:
        """The bids that stand, the highest first; of two equal ones the earlier wins."""
        return sorted(self.bids.where(listing_id=listing_id, status="active"), key=lambda b: (-b.maximum, b.placed))

    def _minimum_bid(self, listing: Listing) -> Price:
        return listing.price + step(listing.price) if self._ranked(listing.listing_id) else listing.start

    def _reprice(self, listing: Listing) -> None:
        self.listings.update(listing.listing_id, price=price_of(listing.start, self._ranked(listing.listing_id)))

    def _line(self, bid: Bid) -> BidLine:
        leads = self._ranked(bid.listing_id)[0].bid_id == bid.bid_id
        return BidLine(bid.bid_id, bid.listing_id, bid.bidder, bid.placed, leads, bid.maximum if bid.bidder == self._me() else None)

    def _sell(self, listing: Listing, buyer: MemberId, at: datetime) -> Order:
        self.listings.update(listing.listing_id, status="sold", ends=at)
        made = (listing.listing_id, listing.title, listing.seller, buyer, listing.price, at)
        return self.orders.add(Order(self.orders.mint(), *made))


def step(price: Price) -> int:
    """By how much a bid must be above that price."""
    return STEPS[bisect_right(INCREMENTS, price) - 1]


def price_of(start: Price, ranked: list[Bid]) -> Price:
    """What the highest bidder would pay: one step more than the second, within their own maximum."""
    if len(ranked) < 2:
        return start
    first, second = ranked[:2]
    return min(first.maximum, second.maximum + step(second.maximum))
