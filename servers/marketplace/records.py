"""Who is on the marketplace and what passes between them: ids, named types, records, and what the tools show of them."""

from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, Meta, Moment, Money, Record

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
Among = Annotated[
    Literal["on_offer", "selling", "bidding", "unsold"],
    Meta(description="where to look: all that is on offer, what the member sells or has bid on, or what ended without a buyer"),
]
Ending = Annotated[
    Literal["cancel_bids", "sell_to_highest"],
    Meta(description="whether an auction that has bids is called off, or the highest bidder gets the item now"),
]
Role = Annotated[Literal["buying", "selling"], Meta(description="the signed-in member's side of an order")]
OrderStatus = Annotated[Literal["paid", "shipped", "delivered", "cancelled"], Meta(description="how far an order has come")]
Carrier = Annotated[Literal["post", "dhl", "ups", "fedex"], Meta(description="who carries the parcel")]
TrackingNumber = Annotated[str, Meta(pattern=r"^[A-Z0-9]{8,20}$", description="the carrier's tracking number, capitals and digits")]
MessageText = Annotated[str, Meta(min_length=1, max_length=1000, description="the message's text")]
Rating = Annotated[Literal["positive", "neutral", "negative"], Meta(description="how the other side of an order did")]
Comment = Annotated[str, Meta(min_length=1, max_length=200, description="what others should know about the deal")]


class Member(Record):
    member_id: MemberId
    location: str
    joined: Day
    positive: int
    neutral: int
    negative: int
    collects: list[Category]
    spends: Cents  # on one thing, at most
    suspended: bool = False
    me: bool = False
    next_visit: Moment | None = None  # when they will look around, and may bid or buy


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
    reduced: Moment | None = None  # when its price was last lowered


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
    listing_id: ListingId
    sender: MemberId
    recipient: MemberId
    text: MessageText
    sent: Moment


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


class FeedbackLine(Record):
    author: MemberId
    rating: Rating
    comment: Comment


class MessageLine(Record):
    sender: MemberId
    text: MessageText
    sent: Moment


class ListingView(Record):
    listing: Listing
    bids: int
    highest_bidder: MemberId | None
    minimum_bid: Price | None
    seller_location: str
    seller_positive_percent: int | None  # of the positive and negative ratings; None without any
    seller_feedback: list[FeedbackLine]  # the newest
    messages: list[MessageLine]  # to and from the member, the newest


class OrderLine(Record):
    order_id: OrderId
    listing_id: ListingId
    title: Title
    seller: MemberId
    buyer: MemberId
    price: Price
    placed: Moment
    status: OrderStatus
    tracking_number: TrackingNumber | None
    feedback: list[FeedbackLine]


class BidLine(Record):
    bid_id: BidId
    listing_id: ListingId
    bidder: MemberId
    placed: Moment
    winning: bool
    maximum: Money | None  # of the member's own bids only
