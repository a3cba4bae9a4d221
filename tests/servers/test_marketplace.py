"""The rules of the marketplace: proxy bidding, auctions that end by the clock, selling, shipping and feedback."""

from collections import Counter
from datetime import timedelta

import pytest

from prove.library.marketplace.bidding import leaders, price_of, step
from prove.library.marketplace.records import Bid
from prove.servers.catalog import load
from prove.servers.session import Session

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
    session.call("place_bid", {"listing_id": listing.listing_id, "maximum": 3 * listing.start})
    session.advance(seconds=(listing.ends - session.servers["marketplace"].now).total_seconds())
    order = session.call("list_orders", {"query": listing.title, "role": "buying"}).value["items"][0]
    price = price_of(listing.start, session.servers["marketplace"]._ranked(listing.listing_id))
    assert (order["price"], order["status"]) == (price, "paid")
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
    about = {"member_id": listing.seller, "listing_id": listing.listing_id}
    assert session.call("send_message", about | {"text": "Still there?"}).ok
    assert session.call("send_message", about | {"text": "Write to me@mail.example"}).code == "permission_denied"


# --- the past, and time that passes


@pytest.mark.parametrize("seed", range(25))
def test_what_has_happened_is_what_the_rules_would_have_made(seed):
    session = Session.open("marketplace", seed)
    assert list(load("marketplace").past(session.servers["marketplace"])) == []


def test_an_order_of_another_seller_that_was_never_shipped_is_no_past_of_a_marketplace(session):
    market = session.servers["marketplace"]
    bought = next(o for o in market.orders.where(status="delivered") if o.buyer == market._me())
    market.orders.update(bought.order_id, status="paid", shipped=None)
    assert any(bought.order_id in problem for problem in load("marketplace").past(market))


def test_a_listing_that_is_new_is_bid_on_by_those_who_collect_such_things(session):
    key = session.call("create_listing", ITEM | {"days": 10}).value["listing_id"]
    session.advance(days=9)
    bids = session.call("list_bids", {"listing_id": key}).value
    market = session.servers["marketplace"]
    assert bids["total"] >= 1
    assert all("furniture" in market.members.get(b["bidder"]).collects for b in bids["items"])
    session.advance(days=1)
    assert session.call("list_orders", {"query": "Walnut", "role": "selling"}).value["items"][0]["status"] == "paid"


def test_a_rival_who_is_outbid_bids_again_up_to_what_a_thing_is_worth_to_them(session):
    key = session.call("create_listing", ITEM | {"days": 10}).value["listing_id"]
    session.advance(days=10)
    market = session.servers["marketplace"]
    bids = market.bids.where(listing_id=key)
    assert max(b.maximum for b in bids) <= 2 * ITEM["price"]
    assert len(bids) > len(leaders(bids))


def test_what_has_a_fixed_price_and_is_new_is_bought(session):
    key = session.call("create_listing", ITEM | {"format": "fixed_price"}).value["listing_id"]
    session.advance(days=4)
    order = session.call("list_orders", {"query": "Walnut"}).value["items"][0]
    assert (order["listing_id"], order["price"]) == (key, ITEM["price"])


def test_what_nobody_bought_is_bought_once_it_is_reduced(session):
    key = session.call("create_listing", ITEM | {"format": "fixed_price", "price": 9_000_000, "days": 10}).value["listing_id"]
    session.advance(days=5)
    assert session.call("update_listing", {"listing_id": key, "price": 1_000}).ok
    session.advance(days=4)
    assert session.call("list_orders", {"query": "Walnut"}).value["items"][0]["listing_id"] == key


@pytest.mark.parametrize("seed", [3, 44])
def test_who_has_sold_a_thing_does_not_sell_it_again(seed):
    session = Session.open("marketplace", seed=seed)
    session.advance(days=60)
    market = session.servers["marketplace"]
    sold = Counter((x.seller, x.title) for x in market.listings.where(status="sold"))
    assert max(sold.values()) == 1
    again = Counter(x.title for x in market.listings.where(status="sold"))
    assert max(again.values()) > 1  # others have another


def test_there_is_something_on_offer_after_two_months(session):
    session.advance(days=60)
    items = session.call("search_listings", {"limit": 50}).value["items"]
    assert {x["format"] for x in items} == {"auction", "fixed_price"}


def test_what_a_member_does_not_ship_is_paid_back_after_two_weeks_and_rated_badly(session):
    session.call("create_listing", ITEM | {"format": "fixed_price"})
    session.advance(days=4)
    order = session.call("list_orders", {"query": "Walnut"}).value["items"][0]
    session.advance(days=14)
    order = session.call("list_orders", {"query": "Walnut"}).value["items"][0]
    assert (order["status"], [f["rating"] for f in order["feedback"]]) == ("cancelled", ["negative"])
    parcel = {"order_id": order["order_id"], "carrier": "dhl", "tracking_number": "JD0146000093"}
    assert session.call("mark_shipped", parcel).code == "failed_precondition"


@pytest.mark.parametrize(("waited", "rating"), [(2, "positive"), (5, "neutral")])
def test_a_buyer_says_how_it_went_when_the_parcel_arrives(session, waited, rating):
    market = session.servers["marketplace"]
    key = session.call("create_listing", ITEM).value["listing_id"]
    rival_bids(session, key, 9000, next(m.member_id for m in market.members if not m.me))
    session.call("end_listing", {"listing_id": key, "ending": "sell_to_highest"})
    session.advance(days=waited)
    order = session.call("list_orders", {"query": "Walnut"}).value["items"][0]
    session.call("mark_shipped", {"order_id": order["order_id"], "carrier": "dhl", "tracking_number": "JD0146000093"})
    session.advance(days=4)
    order = session.call("list_orders", {"query": "Walnut"}).value["items"][0]
    assert (order["status"], [f["rating"] for f in order["feedback"]]) == ("delivered", [rating])


# --- withdrawing bids, as on eBay


def bid_and_come_to_the_last_hours(session):
    """A bid of the member's, days old by now, on an auction that ends in six hours."""
    listing = foreign_auction(session)
    key, market = listing.listing_id, session.servers["marketplace"]
    old = session.call("place_bid", {"listing_id": key, "maximum": 5 * listing.start}).value["bid_id"]
    session.advance(seconds=(listing.ends - timedelta(hours=6) - market.now).total_seconds())
    return key, old, 5 * listing.start


def test_a_bid_raised_by_a_cent_can_be_withdrawn_and_leaves_the_older_one_standing(session):
    key, old, maximum = bid_and_come_to_the_last_hours(session)
    assert session.call("withdraw_bid", {"bid_id": old}).code == "failed_precondition"
    raised = session.call("place_bid", {"listing_id": key, "maximum": maximum + 1}).value["bid_id"]
    assert session.call("withdraw_bid", {"bid_id": old}).code == "failed_precondition"
    assert session.call("withdraw_bid", {"bid_id": raised}).value["status"] == "withdrawn"
    market = session.servers["marketplace"]
    assert [(b.bid_id, b.maximum) for b in market._standing(key) if b.bidder == market._me()] == [(old, maximum)]


def test_a_bid_of_the_last_hour_stands_once_that_hour_is_over(session):
    key, _, maximum = bid_and_come_to_the_last_hours(session)
    raised = session.call("place_bid", {"listing_id": key, "maximum": maximum + 1}).value["bid_id"]
    session.advance(hours=1)
    assert session.fork().call("withdraw_bid", {"bid_id": raised}).ok
    session.advance(seconds=1)
    assert session.call("withdraw_bid", {"bid_id": raised}).code == "failed_precondition"


def test_more_than_twelve_hours_before_the_end_all_bids_of_a_member_go(session):
    listing = foreign_auction(session)
    first, second = (session.call("place_bid", {"listing_id": listing.listing_id, "maximum": n * listing.start}).value for n in (1, 2))
    assert session.call("list_bids", {"listing_id": listing.listing_id}).value["total"] == 2
    assert session.call("withdraw_bid", {"bid_id": second["bid_id"]}).ok
    assert session.call("list_bids", {"listing_id": listing.listing_id}).value["total"] == 0
    assert session.call("withdraw_bid", {"bid_id": first["bid_id"]}).code == "failed_precondition"
    assert session.call("get_listing", {"listing_id": listing.listing_id}).value["listing"]["price"] == listing.start


# --- feedback


@pytest.mark.parametrize(("ratings", "percent"), [((98, 40, 2), 98), ((0, 7, 0), None), ((2, 0, 1), 66)])
def test_a_sellers_percentage_leaves_neutral_ratings_out(session, ratings, percent):
    listing, market = foreign_auction(session), session.servers["marketplace"]
    market.members.update(listing.seller, **dict(zip(("positive", "neutral", "negative"), ratings, strict=True)))
    assert session.call("get_listing", {"listing_id": listing.listing_id}).value["seller_positive_percent"] == percent


def test_what_the_member_says_of_a_seller_is_shown_with_the_order_and_on_their_listings(session):
    market = session.servers["marketplace"]
    rated = {f.order_id for f in market.feedback.where(author=market._me())}
    recent = [o for o in market.orders.where(buyer=market._me()) if o.status != "paid" and (market.now - o.placed).days < 60]
    order = next(o for o in recent if o.order_id not in rated)
    said = {"rating": "neutral", "comment": "Smelled of smoke."}
    assert session.call("leave_feedback", {"order_id": order.order_id, **said}).ok
    shown = session.call("list_orders", {"query": order.title}).value["items"][0]["feedback"]
    assert {"author": market._me(), **said} in shown
    assert session.call("get_listing", {"listing_id": order.listing_id}).value["seller_feedback"][0] == {"author": market._me(), **said}


def test_an_order_can_be_rated_for_sixty_days(session):
    session.call("create_listing", ITEM | {"format": "fixed_price"})
    session.advance(days=4)
    order = session.call("list_orders", {"query": "Walnut"}).value["items"][0]
    session.call("mark_shipped", {"order_id": order["order_id"], "carrier": "dhl", "tracking_number": "JD0146000093"})
    praise = {"order_id": order["order_id"], "rating": "positive", "comment": "Gladly again."}
    session.advance(days=55)
    assert session.fork().call("leave_feedback", praise).ok
    session.advance(days=6)
    assert session.call("leave_feedback", praise).code == "failed_precondition"


# --- messages


def test_a_message_is_shown_with_the_listing_and_is_answered_once(session):
    listing = foreign_auction(session)
    about = {"member_id": listing.seller, "listing_id": listing.listing_id}
    session.call("send_message", about | {"text": "Still there?"})
    session.call("send_message", about | {"text": "I could fetch it."})
    session.advance(hours=5)
    told = session.call("get_listing", {"listing_id": listing.listing_id}).value["messages"]
    assert [m["text"] for m in told] == ["I could fetch it.", "Still there?"]
    session.advance(days=3)
    told = session.call("get_listing", {"listing_id": listing.listing_id}).value["messages"]
    assert [m["sender"] for m in told][:1] == [listing.seller]
    assert len(told) == 3


@pytest.mark.parametrize("text", [" ", "\n\t", "\u3000"])
def test_white_space_is_no_message(session, text):
    listing = foreign_auction(session)
    about = {"member_id": listing.seller, "listing_id": listing.listing_id}
    assert session.call("send_message", about | {"text": text}).code == "invalid_argument"


# --- listings


def test_a_title_that_the_member_uses_already_is_refused_in_a_change_too(session):
    session.call("create_listing", ITEM)
    other = session.call("create_listing", ITEM | {"title": "Oak chest"}).value["listing_id"]
    for title in ("Walnut cabinet", " WALNUT  cabinet "):
        assert session.call("create_listing", ITEM | {"title": title}).code == "conflict"
        assert session.call("update_listing", {"listing_id": other, "title": title}).code == "conflict"
    assert session.call("update_listing", {"listing_id": other, "title": "Oak Chest"}).ok


def test_what_was_not_sold_can_be_found_again(session):
    key = session.call("create_listing", ITEM).value["listing_id"]
    session.call("end_listing", {"listing_id": key})
    assert key not in [x["listing_id"] for x in session.call("search_listings", {"among": "selling", "limit": 50}).value["items"]]
    assert key in [x["listing_id"] for x in session.call("search_listings", {"among": "unsold", "limit": 50}).value["items"]]


def test_a_member_finds_what_they_have_bid_on(session):
    listing = foreign_auction(session)
    session.call("place_bid", {"listing_id": listing.listing_id, "maximum": listing.start})
    found = session.call("search_listings", {"among": "bidding", "limit": 50}).value["items"]
    assert listing.listing_id in [x["listing_id"] for x in found]
    assert all(session.call("list_bids", {"listing_id": x["listing_id"]}).value["total"] for x in found)


def test_every_listing_that_is_counted_can_be_reached(session):
    pages = [session.call("search_listings", {"limit": 50, "offset": offset}).value for offset in (0, 50)]
    found = [x["listing_id"] for page in pages for x in page["items"]]
    assert len(found) == len(set(found)) == pages[0]["total"] > 50


def test_orders_come_newest_first_the_last_made_first_among_those_of_one_moment(session):
    market = session.servers["marketplace"]
    on_offer = [x.listing_id for x in market.listings.where(status="active", format="fixed_price") if x.seller != market._me()]
    first, second = (session.call("buy_now", {"listing_id": key}).value["order_id"] for key in on_offer[:2])
    assert [o["order_id"] for o in session.call("list_orders", {}).value["items"][:2]] == [second, first]


# --- advice, followed to the letter


def number_after(words, text):
    return int(text.split(words)[1].split()[0].strip('",}:.'))


def test_a_bid_as_high_as_the_refusal_says_is_taken(session):
    listing, market = foreign_auction(session), session.servers["marketplace"]
    key, rival = listing.listing_id, next(m.member_id for m in market.members if not m.me and m.member_id != listing.seller)
    low = session.call("place_bid", {"listing_id": key, "maximum": listing.start - 1})
    assert session.call("place_bid", {"listing_id": key, "maximum": number_after("at least ", low.text)}).ok
    rival_bids(session, key, listing.start, rival)  # as much as the member bid, so that the price stands at the member's maximum
    low = session.call("place_bid", {"listing_id": key, "maximum": listing.start})
    least = number_after("at least ", low.text)
    assert least == listing.start + step(listing.start)
    assert session.call("place_bid", {"listing_id": key, "maximum": least}).ok


def test_an_auction_without_bids_ends_in_the_way_that_the_refusal_names(session):
    key = session.call("create_listing", ITEM).value["listing_id"]
    refused = session.call("end_listing", {"listing_id": key, "ending": "sell_to_highest"})
    assert "choose cancel_bids" in refused.text
    assert session.call("end_listing", {"listing_id": key, "ending": "cancel_bids"}).ok


def test_an_auction_in_its_last_hours_ends_in_the_way_that_the_refusal_names(session):
    market = session.servers["marketplace"]
    key = session.call("create_listing", ITEM | {"days": 1}).value["listing_id"]
    rival_bids(session, key, 9000, next(m.member_id for m in market.members if not m.me))
    session.advance(hours=13)
    refused = session.call("end_listing", {"listing_id": key})
    assert (refused.code, "choose sell_to_highest" in refused.text) == ("failed_precondition", True)
    assert session.call("end_listing", {"listing_id": key, "ending": "sell_to_highest"}).ok


def test_whoever_writes_to_the_wrong_member_is_told_whom_to_write_to(session):
    listing, market = foreign_auction(session), session.servers["marketplace"]
    wrong = next(m.member_id for m in market.members if not m.me and not m.suspended and m.member_id != listing.seller)
    told = {"listing_id": listing.listing_id, "text": "Still there?"}
    refused = session.call("send_message", told | {"member_id": wrong})
    assert (refused.code, f"write to {listing.seller}" in refused.text) == ("invalid_argument", True)
    assert session.call("send_message", told | {"member_id": listing.seller}).ok


def test_sellers_who_want_to_grumble_are_told_that_they_can_only_praise(session):
    market = session.servers["marketplace"]
    rated = {f.order_id for f in market.feedback.where(author=market._me())}
    sold = [o for o in market.orders.where(seller=market._me()) if o.shipped and (market.now - o.placed).days < 60]
    order = next(o.order_id for o in sold if o.order_id not in rated)
    refused = session.call("leave_feedback", {"order_id": order, "rating": "negative", "comment": "Slow to pay."})
    assert (refused.code, "choose positive" in refused.text) == ("permission_denied", True)
    assert session.call("leave_feedback", {"order_id": order, "rating": "positive", "comment": "Slow to pay."}).ok
