"""A marketplace on an ordinary morning: auctions that end today and next week, rivals with secret maxima, orders in every state."""

from datetime import timedelta

from prove.servers.maker import Maker
from servers.marketplace.tools import (
    ARRIVES_AFTER,
    SHIPS_AFTER,
    Bid,
    Feedback,
    Listing,
    Marketplace,
    Member,
    Message,
    Order,
    price_of,
    step,
)

HANDLES = (
    "retro_finds", "attic_treasures", "mile_high_cycles", "vinyl_vera", "bookworm_ben", "old_town_antiques", "shutterbug88",
    "tick_tock_tom", "lakeside_lou", "second_spring", "craft_and_co", "toybox_tina", "harbor_house", "sunny_side_up",
    "northern_light", "copper_cat", "pedal_pusher", "grandmas_shelf", "studio_nine", "blue_door_deals", "quiet_quill",
    "marble_and_moss", "weekend_wrench", "polka_dot_pat",
)  # fmt: skip
PLACES = ("Portland, OR", "Austin, TX", "Madison, WI", "Boulder, CO", "Toronto", "Leeds", "Galway", "Utrecht", "Leipzig", "Lyon")

GOODS = {  # category -> title: usual price
    "cameras": {
        "Canon AE-1 with 50 mm lens": 14000, "Polaroid 600 instant camera": 7500, "Nikon FM2 body": 22000,
        "Rolleiflex 3.5F twin lens": 68000, "Super 8 film camera": 9500, "Brown leather camera strap": 2800,
        "Gossen Lunasix light meter": 6500, "Carbon travel tripod": 11000, "Olympus Trip 35": 8500,
        "Slide projector with two trays": 5500, "Handmade pinhole camera": 4600, "35 mm film scanner": 12500,
        "Nikkor 85 mm lens": 19500, "Enlarger with trays": 8800,
    },
    "music": {
        "Technics SL-1200 turntable": 48000, "Box of 40 jazz records": 9000, "Yamaha folk guitar": 16000,
        "Tenor ukulele with case": 7000, "Korg analogue synthesizer": 39000, "14 inch maple snare drum": 13500,
        "Harmonica set in C, G and A": 4200, "Brazilwood violin bow": 8800, "Portable cassette player": 3900,
        "Closed studio headphones": 9900, "Silver-plated concert flute": 17500, "Three-quarter upright bass": 98000,
        "Wooden metronome": 3400, "Accordion with 72 basses": 26000,
    },
    "watches": {
        "Seiko 5 automatic from the 1990s": 11500, "Gold-plated Omega Geneve": 52000, "Casio calculator watch": 3500,
        "Silver pocket watch": 18000, "Diver's watch for 200 m": 24000, "Watch winder for two": 6800, "Swatch from 1988": 5900,
        "Leather watch roll": 4100, "Ladies' dress watch from the 1960s": 8700, "Swiss railway watch": 15500,
        "Hand-wound chronograph": 36000, "Alarm wristwatch": 7900,
    },
    "books": {
        "First edition of a 1960s cookbook": 7800, "Atlas of world railways": 4500, "Mystery novels in 12 volumes": 6200,
        "Field guide to alpine birds": 2600, "Hardcover comic albums": 8400, "Signed poetry collection": 5100,
        "Sewing patterns from the 1950s": 3300, "Illustrated fairy tales from 1931": 12500, "Folio of botanical plates": 16500,
        "Set of nine travel guides": 2900, "School primer from 1902": 3700, "Chess openings in three volumes": 4900,
        "Star atlas of 1950": 6700,
    },
    "furniture": {
        "Danish teak sideboard": 56000, "Pair of bentwood chairs": 17500, "Brass floor lamp": 9800, "Folding card table": 6400,
        "Art deco wall mirror": 14500, "Rattan armchair": 8900, "Oak bookcase with four shelves": 21000, "Step stool from the 1950s": 4700,
        "Nest of three tables": 7700, "Desk with roll top": 38000, "Wicker laundry chest": 5200, "Iron coat stand": 6100,
    },
    "toys": {
        "Wind-up tin robot": 5600, "Wooden dolls' house": 13000, "Model train starter set": 15500,
        "3 kg of building bricks": 6900, "Teddy bear with growler": 9200, "Complete marble run": 3800,
        "Olive wood chess set": 7200, "Hand-painted kite": 2900, "Spinning top collection": 3100, "Puppet theatre": 8300,
        "Slot car track": 9700, "Dapple grey rocking horse": 22500,
    },
    "bicycles": {
        "56 cm steel road bike": 42000, "16 inch folding bike": 35000, "Honey leather saddle": 7600,
        "Child's balance bike": 4800, "Pair of pannier bags": 6600, "Track pump with gauge": 2700, "Two-wheeled cargo bike": 92000,
        "Dynamo front light": 3900, "52 cm mixte frame": 18500, "Wheel truing stand": 7100, "42 cm drop handlebars": 3300,
        "Bike trailer for children": 14500,
    },
    "kitchen": {
        "Espresso lever machine": 31000, "5 litre enamel casserole": 8200, "Set of six copper moulds": 5700,
        "Cast-iron waffle maker": 3600, "Cream stand mixer": 19500, "Japanese chef's knife": 12800, "Chrome pasta machine": 4400,
        "Porcelain tea set for six": 9100, "10 litre stoneware crock": 3900, "Hand-cranked coffee grinder": 4800,
        "Orange fondue set": 3500, "Marble rolling pin": 2900,
    },
}  # fmt: skip
STORIES = (
    "Belonged to my uncle, kept in a dry place.", "Some scratches, see the last picture.", "Works as it should, tested last week.",
    "From a smoke-free home.", "Original box and papers are there.", "Needs a little love, priced accordingly.", "",
)  # fmt: skip
PRAISE = ("Quick and well packed.", "Exactly as described.", "Friendly contact, gladly again.", "Paid at once, thank you!")
GRUMBLES = ("Took two weeks to arrive.", "More worn than the pictures show.")
QUESTIONS = ("Is it still available?", "Would you ship abroad?", "Could you send a picture of the back?", "Does the box come with it?")


def populate(market: Marketplace, make: Maker) -> None:
    handles = make.shuffled(HANDLES)[:20]
    for i, handle in enumerate(handles):
        ratings = (make.between(0, 480), make.between(0, 6), make.between(0, 5))
        member = Member(handle, make.pick(PLACES), make.day(-make.between(30, 3000)), *ratings, suspended=i == 19, me=i == 0)
        market.members.add(member)
    goods = make.shuffled([(category, title, price) for category, titles in GOODS.items() for title, price in titles.items()])
    me, *others = handles[:19]
    for i, (category, title, price) in enumerate(goods[:72]):
        listing = _listing(market, make, me if i % 4 == 0 else make.pick(others), category, title, price)
        if listing.format == "auction":
            _bids(market, make, listing, me, others)
    for i, (category, title, price) in enumerate(goods[72:]):
        _past(market, make, me, make.pick(others), (category, title, price), i)


def _listing(market: Marketplace, make: Maker, seller: str, category: str, title: str, usual: int, ended: int = 0) -> Listing:
    """On offer now, or over `ended` days ago."""
    auction = not ended and make.chance(0.65)
    start = (usual * make.between(30, 60) if auction else usual * make.between(80, 130)) // 5000 * 50
    hours = -24 * ended + make.between(-8, 8) if ended else make.pick((2, 5, 9, *range(16, 220, 12)))
    ends = make.start + timedelta(hours=hours, minutes=make.between(0, 59))
    opened = ends - timedelta(days=10)
    what = (title, category, make.pick(("new", "like_new", "used", "used", "used", "for_parts")), "auction" if auction else "fixed_price")
    listing = Listing(market.listings.mint(), seller, *what, max(start, 500), max(start, 500), opened, ends, make.pick(STORIES))
    return market.listings.add(listing)


def _bids(market: Marketplace, make: Maker, listing: Listing, me: str, others: list[str]) -> None:
    """A few rivals, each above the one before; the member bids on some of what others sell."""
    rivals = make.shuffled([m for m in others if m != listing.seller])[: make.pick((0, 0, 1, 2, 3, 4))]
    if listing.seller != me and make.chance(0.6):
        rivals.insert(make.between(0, len(rivals)), me)
    maximum, placed = listing.start, listing.opened
    for i, bidder in enumerate(rivals):
        maximum += make.between(1, 4) * 5 * step(maximum)
        placed = listing.opened + (make.start - listing.opened) * (i + 1) // (len(rivals) + 1)
        market.bids.add(Bid(market.bids.mint(), listing.listing_id, bidder, maximum, placed))
    market.listings.update(listing.listing_id, price=price_of(listing.start, market._ranked(listing.listing_id)))


def _past(market: Marketplace, make: Maker, me: str, other: str, item: tuple[str, str, int], number: int) -> None:
    """A sale or purchase in every state, the newest not shipped yet; or a listing that nobody wanted."""
    ended = (0, 0, 0, 2, 3, 7, 9, 14)[number] if number < 8 else make.between(20, 90)
    selling = number % 2 == 0
    listing = _listing(market, make, me if selling else other, *item, ended=ended or 1)
    if number % 7 == 6:
        market.listings.update(listing.listing_id, status="ended")
        return
    market.listings.update(listing.listing_id, status="sold")
    placed, status = listing.ends, "delivered"
    if ended == 0 or (selling and ended < 4):
        status = "paid" if selling or placed + SHIPS_AFTER > make.start else "shipped"
    elif ended < 5:
        status = "shipped"
    shipped = None if status == "paid" else placed + SHIPS_AFTER
    carrier = None if status == "paid" else "post"
    tracking = f"RR{make.digits(9)}US" if selling and shipped else None
    sides = (me, other) if selling else (other, me)
    told = (listing.listing_id, listing.title, *sides, listing.price, placed, status, shipped, carrier, tracking)
    order = market.orders.add(Order(market.orders.mint(), *told))
    if status == "delivered":
        _after(market, make, order, me, other)


def _after(market: Marketplace, make: Maker, order: Order, me: str, other: str) -> None:
    arrived = order.placed + SHIPS_AFTER + ARRIVES_AFTER
    for author, about in ((me, other), (other, me)):
        if make.chance(0.5):
            rating = "positive" if author == order.seller or make.chance(0.8) else "negative"
            comment = make.pick(PRAISE if rating == "positive" else GRUMBLES)
            market.feedback.add(Feedback(market.feedback.mint(), order.order_id, author, about, rating, comment, arrived))
    if make.chance(0.4):
        asked = order.placed - timedelta(days=2)
        told = (order.buyer, order.seller, make.pick(QUESTIONS), asked, order.listing_id)
        market.messages.add(Message(market.messages.mint(), *told))
