"""A marketplace on an ordinary morning: auctions that end today and next week, rivals with secret maxima, orders in every state.

What has happened is written down first, in no order, and then put on record in the order of time, as the tools would have done.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from prove.servers import Table
from prove.servers.maker import Maker

from .bidding import leaders, price_of, step
from .records import Bid, Feedback, Listing, Member, Message, Order
from .tools import ANSWER_AFTER, ARRIVES_AFTER, SHIPS_AFTER, VISITS_EVERY, Marketplace

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
PRAISE = ("Quick and well packed.", "Exactly as described.", "Friendly contact, gladly again.")
PRAISE_OF_BUYERS = ("Paid at once, thank you!", "Friendly contact, gladly again.", "A buyer as one wishes for.")
GRUMBLES = ("Not as quick as promised.", "More worn than the pictures show.")
QUESTIONS = ("Is it still available?", "Would you ship abroad?", "Could you send a picture of the back?", "Does the box come with it?")
ANSWERS = ("Yes, of course.", "I'm afraid not.", "Let me look, I'll add it to the description.")


def populate(market: Marketplace, make: Maker) -> None:
    handles = make.shuffled(HANDLES)[:20]
    for i, handle in enumerate(handles):
        ratings = (make.between(0, 480), make.between(0, 6), make.between(0, 5)) if i else (make.between(20, 80), 1, 1)
        joined, looks = make.day(-make.between(200, 3000)), 0 < i < 19
        visit = make.start + timedelta(minutes=make.between(30, VISITS_EVERY // timedelta(minutes=1))) if looks else None
        habits = (make.some(tuple(GOODS), 3), make.between(6_000, 60_000, 500))
        market.members.add(Member(handle, make.pick(PLACES), joined, *ratings, *habits, suspended=i == 19, me=i == 0, next_visit=visit))
    _History(market, make, handles[0], handles[1:19]).write()


class _History:
    """What has happened: records whose ids are places in these lists until they are put in the order of time."""

    def __init__(self, market: Marketplace, make: Maker, me: str, others: list[str]) -> None:
        self.market, self.make, self.me, self.others = market, make, me, others
        self.listings: list[Listing] = []
        self.bids: list[Bid] = []
        self.orders: list[Order] = []
        self.messages: list[Message] = []
        self.feedback: list[Feedback] = []

    def write(self) -> None:
        goods = [(category, title, price) for category, titles in GOODS.items() for title, price in titles.items()]
        goods = self.make.shuffled(goods)
        for i, item in enumerate(goods[:72]):
            self.on_offer(self.me if i % 4 == 0 else self.make.pick(self.others), item)
        for i, item in enumerate(goods[72:]):
            self.over(self.make.pick(self.others), item, i)
        market = self.market
        of = _put(self.listings, market.listings, lambda x: x.opened)
        _put([replace(b, listing_id=of[b.listing_id]) for b in self.bids], market.bids, lambda b: b.placed)
        order_of = _put([replace(o, listing_id=of[o.listing_id]) for o in self.orders], market.orders, lambda o: o.placed)
        _put([replace(m, listing_id=of[m.listing_id]) for m in self.messages], market.messages, lambda m: m.sent)
        _put([replace(f, order_id=order_of[f.order_id]) for f in self.feedback], market.feedback, lambda f: f.left)
        for f in self.feedback:
            market.members.update(f.about, **{f.rating: getattr(market.members.get(f.about), f.rating) + 1})

    def on_offer(self, seller: str, item: tuple[str, str, int]) -> None:
        auction, hours = self.make.chance(0.65), self.make.pick((2, 5, 9, *range(16, 220, 12)))
        ends = self.make.start + timedelta(hours=hours, minutes=self.make.between(0, 59))
        listing = self.listing(seller, item, auction, ends)
        if auction:
            rivals = self.make.shuffled([m for m in self.others if m != seller])[: self.make.pick((0, 0, 1, 2, 3, 4))]
            if seller != self.me and self.make.chance(0.6):
                rivals.insert(self.make.between(0, len(rivals)), self.me)
            self.bidding(listing, rivals)
        if seller == self.me and self.make.chance(0.4):
            asked = listing.opened + (self.make.start - listing.opened) // 2
            self.talk(listing, self.make.pick(self.others), asked, answered=self.make.chance(0.4))

    def over(self, other: str, item: tuple[str, str, int], number: int) -> None:
        """A sale or purchase in every state, the newest not shipped yet; or a listing of the member's that nobody wanted."""
        ended = (1, 1, 1, 2, 3, 7, 9, 14)[number] if number < 8 else self.make.between(20, 90)
        ends = self.make.start + timedelta(hours=-24 * ended + self.make.between(-8, 8), minutes=self.make.between(0, 59))
        unsold = number % 7 == 6
        selling = unsold or number % 2 == 0
        seller, buyer = (self.me, other) if selling else (other, self.me)
        listing = self.listing(seller, item, auction=number % 3 == 0 and not unsold, ends=ends)
        if listing.format == "auction":
            rivals = [m for m in self.make.some(self.others, 2) if m != other]
            listing = self.bidding(listing, [*rivals, buyer])
        self.listings[int(listing.listing_id)] = replace(listing, status="ended" if unsold else "sold")
        if not unsold:
            self.order(listing, buyer)

    def listing(self, seller: str, item: tuple[str, str, int], auction: bool, ends: datetime) -> Listing:
        category, title, usual = item
        start = max(usual * (self.make.between(30, 60) if auction else self.make.between(80, 130)) // 5000 * 50, 500)
        condition = self.make.pick(("new", "like_new", "used", "used", "used", "for_parts"))
        what = (seller, title, category, condition, "auction" if auction else "fixed_price", start, start)
        made = Listing(str(len(self.listings)), *what, ends - timedelta(days=10), ends, self.make.pick(STORIES))
        self.listings.append(made)
        return made

    def bidding(self, listing: Listing, bidders: list[str]) -> Listing:
        """Each bids above the one before."""
        maximum, bids, until = listing.start, list[Bid](), min(listing.ends, self.make.start)
        for i, bidder in enumerate(bidders):
            maximum += self.make.between(1, 4) * 5 * step(maximum)
            placed = listing.opened + (until - listing.opened) * (i + 1) // (len(bidders) + 1)
            bids.append(Bid(str(len(self.bids) + i), listing.listing_id, bidder, maximum, placed))
        self.bids += bids
        self.listings[int(listing.listing_id)] = replace(listing, price=price_of(listing.start, leaders(bids)))
        return self.listings[int(listing.listing_id)]

    def order(self, listing: Listing, buyer: str) -> None:
        selling, now, placed = listing.seller == self.me, self.make.start, listing.ends
        shipped = placed + SHIPS_AFTER if placed + (SHIPS_AFTER + timedelta(days=2) if selling else SHIPS_AFTER) <= now else None
        status = "paid" if not shipped else "delivered" if shipped + ARRIVES_AFTER <= now else "shipped"
        how = (shipped, "post", f"RR{self.make.digits(9)}US" if selling else None) if shipped else (None, None, None)
        told = (listing.listing_id, listing.title, listing.seller, buyer, listing.price, placed, status, *how)
        order = Order(str(len(self.orders)), *told)
        self.orders.append(order)
        if shipped and status == "delivered":
            self.rate(order, shipped + ARRIVES_AFTER)
        if self.make.chance(0.4):
            self.talk(listing, buyer, placed - timedelta(days=2), answered=True)

    def rate(self, order: Order, arrived: datetime) -> None:
        """The other side says how it went when the parcel arrives; the member does so later, now and then."""
        later = min(arrived + timedelta(hours=self.make.between(2, 40)), self.make.start)
        for author, about in ((order.buyer, order.seller), (order.seller, order.buyer)):
            if author != self.me or self.make.chance(0.5):
                rating = "positive" if author == order.seller or self.make.chance(0.8) else "negative"
                praise = PRAISE_OF_BUYERS if author == order.seller else PRAISE
                comment = self.make.pick(praise if rating == "positive" else GRUMBLES)
                left = later if author == self.me else arrived
                self.feedback.append(Feedback(str(len(self.feedback)), order.order_id, author, about, rating, comment, left))

    def talk(self, listing: Listing, asker: str, asked: datetime, answered: bool) -> None:
        said = [(asker, listing.seller, self.make.pick(QUESTIONS), asked)]
        if answered:
            said.append((listing.seller, asker, self.make.pick(ANSWERS), asked + ANSWER_AFTER))
            if listing.seller == self.me:
                said.append((asker, listing.seller, "Thank you for letting me know.", asked + 2 * ANSWER_AFTER))
        for sender, recipient, text, sent in said:
            self.messages.append(Message(str(len(self.messages)), listing.listing_id, sender, recipient, text, sent))


def _put(records: list[Any], rows: Table[Any], when: Callable[[Any], datetime]) -> dict[str, str]:
    """Add records in the order of time; returns the id of each by its place among them."""
    made = {}
    for record in sorted(records, key=when):
        place, *rest = (getattr(record, field) for field in record.__struct_fields__)
        made[place] = rows.mint()
        rows.add(type(record)(made[place], *rest))
    return made
