"""The rules of the marketplace: proxy bidding, auctions that end by the clock, selling, shipping and feedback."""

from datetime import timedelta

import pytest

from prove.servers.session import Session
from servers.marketplace.tools import Bid, price_of, step

ITEM = {"title": "Walnut cabinet", "category": "furniture", "condition": "used", "price": 5000}


@pytest.fixture
def session():
    return Session.open("marketplace", seed=0)


def rival_bids(session, listing_id, maximum, bidder):
    """Put a rival's bid into the state: only the member's own can be placed by a tool."""
    market = session.servers["marketplace"]
    market.bids.add(Bid(market.bids.mint(), listing_id, bidder, maximum, market.now))
    market._reprice(market.listings.get(listing_id))


def foreign_auction(session):
    """An auction of somebody else that nobody has bid on and that has more than a day to go."""
    market = session.servers["marketplace"]
    quiet = (x for x in market.listings.where(status="active", format="auction") if not market._ranked(x.listing_id))
    return next(x for x in quiet if x.seller != market._me() and x.ends - market.now > timedelta(days=1))


def test_a_bid_must_be_higher_by_a_step_that_grows_with_the_price():
    assert [step(p) for p in (499, 500, 2_499, 2_500, 10_000, 70_000)] == [25, 50, 50, 100, 250, 1_000]


def test_the_highest_bidder_pays_one_step_more_than_the_second(session):
    listing, market = foreign_auction(session), session.servers["marketplace"]
    key, rivals = listing.listing_id, [m.member_id for m in market.members if not m.me and m.member_id != listing.seller]
    mine = session.call("place_bid", {"listing_id": key, "maximum": listing.start + 10_000}).value
    assert mine["winning"]
    assert market.listings.get(key).price == listing.start  # nobody else has bid
    rival_bids(session, key, listing.start + 4_000, rivals[0])
    assert market.listings.get(key).price == listing.start + 4_000 + step(listing.start + 4_000)
    rival_bids(session, key, listing.start + 10_000, rivals[1])  # as high, but later
    assert market.listings.get(key).price == listing.start + 10_000
    assert session.call("get_listing", {"listing_id": key}).value["highest_bidder"] == market._me()
    assert price_of(listing.start, market._ranked(key)) == listing.start + 10_000


def test_a_bid_that_is_too_low_or_below_the_own_one_is_refused(session):
    listing = foreign_auction(session)
    bid = {"listing_id": listing.listing_id, "maximum": listing.start}
    assert session.call("place_bid", bid | {"maximum": listing.start - 1}).code == "invalid_argument"
    assert session.call("place_bid", bid).ok
    assert session.call("place_bid", bid).code == "conflict"


def test_bids_stand_in_the_last_twelve_hours_save_for_second_thoughts(session):
    listing = foreign_auction(session)
    bid = {"bid_id": session.call("place_bid", {"listing_id": listing.listing_id, "maximum": listing.start}).value["bid_id"]}
    early = session.fork()
    assert early.call("withdraw_bid", bid).value["status"] == "withdrawn"
    left = listing.ends - session.servers["marketplace"].now
    session.advance(seconds=left.total_seconds() - 3600)
    assert session.call("withdraw_bid", bid).code == "failed_precondition"


def test_an_auction_that_ends_becomes_an_order_which_the_seller_ships(session):
    listing = foreign_auction(session)
    session.call("place_bid", {"listing_id": listing.listing_id, "maximum": listing.start + 5_000})
    session.advance(seconds=(listing.ends - session.servers["marketplace"].now).total_seconds())
    order = session.call("list_orders", {"query": listing.title, "role": "buying"}).value["items"][0]
    assert (order["price"], order["status"]) == (listing.start, "paid")
    rating = {"order_id": order["order_id"], "rating": "negative", "comment": "Slow."}
    assert session.call("leave_feedback", rating).code == "failed_precondition"
    session.advance(days=1)
    assert session.call("leave_feedback", rating).ok
    assert session.call("leave_feedback", rating).code == "conflict"


def test_what_somebody_has_bid_on_can_be_sold_to_them_but_not_changed(session):
    market = session.servers["marketplace"]
    key = session.call("create_listing", ITEM).value["listing_id"]
    assert session.call("place_bid", {"listing_id": key, "maximum": 9000}).code == "permission_denied"
    assert session.call("end_listing", {"listing_id": key, "ending": "sell_to_highest"}).code == "failed_precondition"
    rival = next(m.member_id for m in market.members if not m.me)
    rival_bids(session, key, 9000, rival)
    assert session.call("update_listing", {"listing_id": key, "price": 6000}).code == "failed_precondition"
    assert session.call("update_listing", {"listing_id": key, "description": "With key."}).ok
    assert session.call("end_listing", {"listing_id": key, "ending": "sell_to_highest"}).value["status"] == "sold"
    order = session.call("list_orders", {"query": "Walnut", "role": "selling"}).value["items"][0]
    assert (order["buyer"], order["price"]) == (rival, 5000)
    rating = {"order_id": order["order_id"], "rating": "positive", "comment": "Nice."}
    assert session.call("leave_feedback", rating).code == "failed_precondition"
    parcel = {"order_id": order["order_id"], "carrier": "dhl", "tracking_number": "JD0146000093"}
    assert session.call("mark_shipped", parcel).ok
    assert session.call("leave_feedback", rating | {"rating": "negative"}).code == "permission_denied"
    assert session.call("leave_feedback", rating).ok


def test_messages_keep_deals_on_the_marketplace(session):
    listing = foreign_auction(session)
    assert session.call("send_message", {"member_id": listing.seller, "text": "Still there?"}).ok
    assert session.call("send_message", {"member_id": listing.seller, "text": "Write to me@mail.example"}).code == "permission_denied"
