"""A marketplace for one signed-in member, who both buys and sells. Bids are maxima: the price rises only as far as it must."""

from datetime import timedelta

from msgspec.structs import replace

from prove.servers import (
    Limit, Moment, Offset, Page, Query, Server, brief, given, matches, newest, page, read, require, some_given, table, write,
)  # fmt: skip
from .bidding import leaders, minimum, price_of, step
from .records import (
    Among, Bid, BidId, BidLine, Carrier, Category, Comment, Condition, DaysOpen, Description, Ending, Feedback, FeedbackLine, Format,
    Listing, ListingId, ListingLine, ListingView, MaximumBid, Member, MemberId, Message, MessageLine, MessageText, Order, OrderId,
    OrderLine, OrderStatus, Price, PriceLimit, Rating, Role, Title, TrackingNumber,
)  # fmt: skip

LAST_HOURS = timedelta(hours=12)  # before the end, when bids stand
SECOND_THOUGHTS = timedelta(hours=1)  # after a bid, when it can be withdrawn in any case
SHIPS_AFTER, ARRIVES_AFTER = timedelta(days=1), timedelta(days=4)
PATIENCE, REFUND_AFTER = timedelta(days=3), timedelta(days=14)  # of a buyer whose order is not shipped
FEEDBACK_DAYS = timedelta(days=60)  # from an order, in which it can be rated
ANSWER_AFTER = timedelta(hours=6)
VISITS_EVERY = timedelta(days=3)
RELISTED = timedelta(days=10)  # how long what others offer again is on offer
SELLING_LIMIT = 25  # listings of one member at a time


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
        max_price: PriceLimit | None = None,
        among: Among = "on_offer",
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[ListingLine]:
        """Find listings on offer, or of the member's own, the soonest to end first; query looks at title, description and seller."""
        found = [x for x in self._among(among) if category in (None, x.category) and (max_price is None or x.price <= max_price)]
        found = [x for x in found if matches(query, x.title, x.description, x.seller)]
        return page(sorted(found, key=lambda x: x.ends), limit, ListingLine, offset)

    @read
    def get_listing(self, listing_id: ListingId) -> ListingView:
        """Show one listing in full: condition, description, bidding, messages about it, and how the seller is rated."""
        listing, bids, me = self.listings.get(listing_id), self._standing(listing_id), self._me()
        seller, ranked = self.members.get(listing.seller), leaders(bids)
        judged = seller.positive + seller.negative
        told = [m for m in self.messages.where(listing_id=listing_id) if me in (m.sender, m.recipient)]
        return ListingView(
            listing,
            len(bids),
            ranked[0].bidder if ranked else None,
            minimum(listing.start, ranked) if listing.format == "auction" else None,
            seller.location,
            100 * seller.positive // judged if judged else None,
            page(newest(self.feedback.where(about=seller.member_id), lambda f: f.left), 3, FeedbackLine).items,
            page(newest(told, lambda m: m.sent), 10, MessageLine).items,
        )

    # --- buying

    @write
    def place_bid(self, listing_id: ListingId, maximum: MaximumBid) -> BidLine:
        """Bid in an auction up to a maximum, or raise an earlier bid; the price rises only as far as other bids make it."""
        listing, me, ranked = self._active(listing_id, own=False), self._me(), self._ranked(listing_id)
        require(listing.format == "auction", "invalid_argument", f"{listing_id} has a fixed price of {listing.price} cents: buy it now")
        already = max((b.maximum for b in ranked if b.bidder == me), default=0)
        least = max(minimum(listing.start, ranked), already + 1)
        yours = f"your bid on {listing_id} is {already} cents already: bid at least {least}"
        require(maximum > already, "conflict", yours)
        require(maximum >= least, "invalid_argument", f"{maximum} is below the minimum bid on {listing_id}: bid at least {least} cents")
        return self._line(self._bid(listing, me, maximum))

    @read
    def list_bids(self, listing_id: ListingId, limit: Limit = 10, offset: Offset = 0) -> Page[BidLine]:
        """List the bids on a listing, the highest first; only the member's own show their maximum."""
        found = sorted(self._standing(listing_id), key=lambda b: (-b.maximum, b.placed))
        return page(map(self._line, found), limit, BidLine, offset)

    @write(destructive=True)
    def withdraw_bid(self, bid_id: BidId) -> Bid:
        """Take back the member's bids on a listing; in its last 12 hours, only one that was placed within the last hour."""
        bid = self.bids.get(bid_id)
        require(bid.bidder == self._me(), "permission_denied", f"{bid_id} is a bid of {bid.bidder}: only they can withdraw it")
        require(bid.status == "active", "failed_precondition", f"{bid_id} is {bid.status} already")
        listing = self._active(bid.listing_id, own=False)
        early = listing.ends - self.now >= LAST_HOURS
        free = early or self.now - bid.placed <= SECOND_THOUGHTS
        require(free, "failed_precondition", f"{bid.listing_id} ends in less than 12 hours, and bids stand after an hour: this one does")
        for one in self.bids.where(listing_id=bid.listing_id, bidder=bid.bidder, status="active") if early else [bid]:
            self.bids.update(one.bid_id, status="withdrawn")
        self._reprice(listing)
        return self.bids.get(bid_id)

    @write
    def buy_now(self, listing_id: ListingId) -> Order:
        """Buy and pay an item that has a fixed price."""
        listing = self._active(listing_id, own=False)
        require(listing.format == "fixed_price", "invalid_argument", f"{listing_id} is an auction: place a bid")
        return self._order(self._sell(listing), self._me())

    # --- selling

    @write
    def create_listing(
        self, title: Title, category: Category, condition: Condition, price: Price, format: Format = "auction", days: DaysOpen = 7
    ) -> Listing:
        """Put an item up for sale, for a fixed price or by auction from a starting price."""
        self._check_new_title(title)
        mine = self.listings.where(seller=self._me(), status="active")
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
        listing = self._active(listing_id, own=True)
        changes = some_given(title=title, description=description, price=price, condition=condition)
        free = changes.keys() <= {"description"} or not self._standing(listing_id)
        require(free, "failed_precondition", f"{listing_id} has bids: only its description can be changed")
        if title:
            self._check_new_title(title, of=listing_id)
        if price and price < listing.price:
            changes["reduced"] = self.now
        return self.listings.update(listing_id, **changes, **given(start=price))

    @write(destructive=True)
    def end_listing(self, listing_id: ListingId, ending: Ending = "cancel_bids") -> Listing:
        """End one of the member's own listings early; with bids, in its last 12 hours, only by selling to the highest bidder."""
        listing, ranked = self._active(listing_id, own=True), self._ranked(listing_id)
        if ending == "sell_to_highest":
            require(ranked, "failed_precondition", f"{listing_id} has no bids, so there is nobody to sell it to: choose cancel_bids")
            self._order(self._sell(listing), ranked[0].bidder)
            return self.listings.get(listing_id)
        late = ranked and listing.ends - self.now < LAST_HOURS
        require(not late, "failed_precondition", f"{listing_id} has bids and ends within 12 hours: choose sell_to_highest, or wait")
        for bid in self._standing(listing_id):
            self.bids.update(bid.bid_id, status="cancelled")
        return self.listings.update(listing_id, status="ended", price=listing.start, ends=self.now)

    # --- after the sale

    @read
    def list_orders(
        self,
        query: Query | None = None,
        role: Role | None = None,
        status: OrderStatus | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[OrderLine]:
        """List what the member has bought and sold, newest first; query looks at the title and the other side."""
        me = self._me()
        among = self.orders if role is None else self.orders.where(buyer=me) if role == "buying" else self.orders.where(seller=me)
        found = [o for o in among if status in (None, o.status) and matches(query, o.title, o.seller, o.buyer)]
        return page(map(self._order_line, newest(found, lambda o: o.placed)), limit, OrderLine, offset)

    @write
    def mark_shipped(self, order_id: OrderId, carrier: Carrier, tracking_number: TrackingNumber) -> Order:
        """Tell the buyer of something the member sold that it is on its way."""
        order = self.orders.get(order_id)
        require(order.seller == self._me(), "permission_denied", f"{order_id} is sold by {order.seller}: only they ship it")
        require(order.status == "paid", "failed_precondition", f"{order_id} is {order.status} already")
        used = ", ".join(o.order_id for o in self.orders.where(tracking_number=tracking_number))
        require(not used, "conflict", f"{tracking_number} is the tracking number of {used}: give that of this parcel")
        return self.orders.update(order_id, status="shipped", shipped=self.now, carrier=carrier, tracking_number=tracking_number)

    @write
    def send_message(self, member_id: MemberId, listing_id: ListingId, text: MessageText) -> Message:
        """Write to another member about a listing that one of the two offers; get_listing shows what was written."""
        me, recipient, seller = self._me(), self.members.get(member_id), self.listings.get(listing_id).seller
        require(member_id != me, "invalid_argument", f"{member_id} is the signed-in member: choose somebody else")
        require(seller in (me, member_id), "invalid_argument", f"{listing_id} is offered by {seller}: write to {seller} about it")
        require(not recipient.suspended, "failed_precondition", f"{member_id} is suspended and cannot be written to")
        kept = "messages must not hold email addresses, as deals stay on the marketplace: leave the @ out"
        require("@" not in text, "permission_denied", kept)
        return self.messages.add(Message(self.messages.mint(), listing_id, me, member_id, text, self.now))

    @write
    def leave_feedback(self, order_id: OrderId, rating: Rating, comment: Comment) -> Feedback:
        """Rate the other side of an order that has been shipped, once, within 60 days; sellers can only praise their buyers."""
        order, me = self.orders.get(order_id), self._me()
        rated = ", ".join(f.feedback_id for f in self.feedback.where(order_id=order_id, author=me))
        require(not rated, "conflict", f"you have rated {order_id} already, with {rated}")
        require(order.status != "paid", "failed_precondition", f"{order_id} has not been shipped yet: rate it after that")
        late = f"{order_id} is of {order.placed:%Y-%m-%d}: orders can be rated for {FEEDBACK_DAYS.days} days"
        require(self.now - order.placed <= FEEDBACK_DAYS, "failed_precondition", late)
        free = me == order.buyer or rating == "positive"
        require(free, "permission_denied", f"you sold {order_id}, and sellers leave only positive feedback: choose positive, or leave none")
        return self._rate(order, me, rating, comment)

    # --- as time passes

    def due(self) -> Moment | None:
        """When the next listing ends, member looks around, parcel goes or arrives, buyer gives up or message is answered."""
        moments = [x.ends for x in self.listings.where(status="active")]
        moments += [m.next_visit for m in self.members if m.next_visit]
        moments += [self._leaves(o) for o in self.orders.where(status="paid")]
        moments += [self._arrives(o) for o in self.orders.where(status="shipped")]
        moments += [m.sent + ANSWER_AFTER for m in self._unanswered()]
        return min(moments, default=None)

    def elapse(self) -> None:
        """Auctions end, others bid and buy, parcels go and arrive, and messages are answered."""
        for listing in [x for x in self.listings.where(status="active") if x.ends <= self.now]:
            self._end(listing)
        for order in [o for o in self.orders.where(status="paid") if self._leaves(o) <= self.now]:
            self._leave(order)
        for order in [o for o in self.orders.where(status="shipped") if self._arrives(o) <= self.now]:
            self._arrive(self.orders.update(order.order_id, status="delivered"))
        for member in [m for m in self.members if m.next_visit and m.next_visit <= self.now]:
            self._look_around(member)
            self.members.update(member.member_id, next_visit=self.now + VISITS_EVERY)
        for message in [m for m in self._unanswered() if m.sent + ANSWER_AFTER <= self.now]:
            self._answer(message)

    def _end(self, listing: Listing) -> None:
        """The highest bidder gets it. What nobody wanted its seller offers once more; like what was sold, somebody else has another."""
        ranked, mine = self._ranked(listing.listing_id), listing.seller == self._me()
        if listing.format == "fixed_price" and not mine:
            self.listings.update(listing.listing_id, ends=listing.ends + RELISTED)
            return
        if ranked:
            self._goes_to(ranked[0].bidder, listing)
        else:
            self.listings.update(listing.listing_id, status="ended")
        if not mine:
            offer = {"seller": self._next_seller(listing, ranked[0].bidder), "description": ""} if ranked else {}
            when = {"opened": self.now, "ends": self.now + RELISTED}
            self.listings.add(replace(listing, listing_id=self.listings.mint(), price=listing.start, **offer, **when))

    def _next_seller(self, sold: Listing, buyer: MemberId) -> MemberId:
        """Whoever comes after a seller in the order of members, and neither bought the thing nor has sold one."""
        members = [m.member_id for m in self.members if m.next_visit]
        have_sold = {x.seller for x in self.listings if x.title == sold.title}
        after = members.index(sold.seller) + 1
        others = [m for m in (*members[after:], *members[:after]) if m != buyer]
        return next((m for m in others if m not in have_sold), others[0])

    def _look_around(self, member: Member) -> None:
        """Of what they collect, a member buys something new or reduced for its fixed price, or bids in the auction that ends next."""
        wanted = [x for x in self.listings.where(status="active") if x.category in member.collects and x.seller != member.member_id]
        for listing in wanted:
            new = self.now - (listing.reduced or listing.opened) <= VISITS_EVERY
            if listing.format == "fixed_price" and new and listing.price <= member.spends:
                self._goes_to(member.member_id, listing)
                return
        for listing in sorted((x for x in wanted if x.format == "auction"), key=lambda x: x.ends):
            ranked, worth = self._ranked(listing.listing_id), min(member.spends, 2 * listing.start)
            least = minimum(listing.start, ranked)
            if least <= worth and not (ranked and ranked[0].bidder == member.member_id):
                self._bid(listing, member.member_id, min(worth, least + 2 * step(least)))
                return

    def _leaves(self, order: Order) -> Moment:
        """When an order that is paid is shipped, if others sell it, or cancelled, if the member does not ship it."""
        return order.placed + (REFUND_AFTER if order.seller == self._me() else SHIPS_AFTER)

    def _leave(self, order: Order) -> None:
        if order.seller != self._me():
            self.orders.update(order.order_id, status="shipped", shipped=self.now, carrier="post")
            return
        self.orders.update(order.order_id, status="cancelled")
        self._rate(order, order.buyer, "negative", "Paid, and it was never shipped.")

    def _arrives(self, order: Order) -> Moment:
        return (order.shipped or order.placed) + ARRIVES_AFTER

    def _arrive(self, order: Order) -> None:
        """The others who took part say how it went."""
        slow = (order.shipped or order.placed) - order.placed > PATIENCE
        of_buyer = ("neutral", "It took a while to be shipped.") if slow else ("positive", "Arrived as described.")
        for author, (rating, comment) in ((order.buyer, of_buyer), (order.seller, ("positive", "Paid at once, thank you."))):
            if author != self._me():
                self._rate(order, author, rating, comment)

    def _unanswered(self) -> list[Message]:
        """What the member has written and has not been answered since."""
        last = {(m.listing_id, m.sender): m.sent for m in self.messages}
        mine = self.messages.where(sender=self._me())
        return [m for m in mine if (answered := last.get((m.listing_id, m.recipient))) is None or answered < m.sent]

    def _answer(self, message: Message) -> None:
        if any(m.message_id == message.message_id for m in self._unanswered()):
            text = "Thank you for asking. Everything I know of it is in the description."
            if self.listings.get(message.listing_id).seller == message.sender:
                text = "Thank you for letting me know."
            self.messages.add(Message(self.messages.mint(), message.listing_id, message.recipient, message.sender, text, self.now))

    # --- rules

    def _me(self) -> MemberId:
        return self.members.where(me=True)[0].member_id

    def _among(self, among: Among) -> list[Listing]:
        if among == "unsold":
            return self.listings.where(seller=self._me(), status="ended")
        if among == "selling":
            return self.listings.where(seller=self._me(), status="active")
        bid_on = {b.listing_id for b in self.bids.where(bidder=self._me(), status="active")} if among == "bidding" else None
        return [x for x in self.listings.where(status="active") if bid_on is None or x.listing_id in bid_on]

    def _active(self, listing_id: ListingId, own: bool) -> Listing:
        listing, me = self.listings.get(listing_id), self._me()
        theirs = f"{listing_id} is offered by {listing.seller}: only they can change it"
        require(not own or listing.seller == me, "permission_denied", theirs)
        require(own or listing.seller != me, "permission_denied", f"{listing_id} is your own listing: you can only sell it")
        require(listing.status == "active", "failed_precondition", f"{listing_id} is over: {listing.status} on {listing.ends:%Y-%m-%d}")
        return listing

    def _check_new_title(self, title: Title, of: ListingId | None = None) -> None:
        mine = [x for x in self.listings.where(seller=self._me(), status="active") if x.listing_id != of]
        same = ", ".join(x.listing_id for x in mine if x.title.casefold().split() == title.casefold().split())
        require(not same, "conflict", f"{same} offers {title!r} already: end it first, or choose another title")

    def _standing(self, listing_id: ListingId) -> list[Bid]:
        return self.bids.where(listing_id=listing_id, status="active")

    def _ranked(self, listing_id: ListingId) -> list[Bid]:
        return leaders(self._standing(listing_id))

    def _bid(self, listing: Listing, bidder: MemberId, maximum: MaximumBid) -> Bid:
        bid = self.bids.add(Bid(BidId(self.bids.mint()), listing.listing_id, bidder, maximum, self.now))
        self._reprice(listing)
        return bid

    def _reprice(self, listing: Listing) -> None:
        self.listings.update(listing.listing_id, price=price_of(listing.start, self._ranked(listing.listing_id)))

    def _line(self, bid: Bid) -> BidLine:
        leads = self._ranked(bid.listing_id)[0].bid_id == bid.bid_id
        return BidLine(bid.bid_id, bid.listing_id, bid.bidder, bid.placed, leads, bid.maximum if bid.bidder == self._me() else None)

    def _order_line(self, order: Order) -> OrderLine:
        said = [brief(f, FeedbackLine) for f in self.feedback.where(order_id=order.order_id)]
        told = (order.title, order.seller, order.buyer, order.price, order.placed, order.status, order.tracking_number)
        return OrderLine(order.order_id, order.listing_id, *told, said)

    def _goes_to(self, buyer: MemberId, listing: Listing) -> None:
        """Somebody gets a listing. What others sell to others is no order of the member's."""
        sold = self._sell(listing)
        if self._me() in (buyer, listing.seller):
            self._order(sold, buyer)

    def _sell(self, listing: Listing) -> Listing:
        return self.listings.update(listing.listing_id, status="sold", ends=self.now)

    def _order(self, sold: Listing, buyer: MemberId) -> Order:
        made = (sold.listing_id, sold.title, sold.seller, buyer, sold.price, self.now)
        return self.orders.add(Order(self.orders.mint(), *made))

    def _rate(self, order: Order, author: MemberId, rating: Rating, comment: Comment) -> Feedback:
        other = self.members.get(order.seller if author == order.buyer else order.buyer)
        self.members.update(other.member_id, **{rating: getattr(other, rating) + 1})
        return self.feedback.add(Feedback(self.feedback.mint(), order.order_id, author, other.member_id, rating, comment, self.now))
