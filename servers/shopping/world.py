"""A store with ten shelves: variants that ran out, parcels in every stage, an expired card, a coupon that is spent.

The customer's half year is lived by the store's own tools, with a clock that moves.
"""

from datetime import datetime, timedelta

from prove.servers.maker import Maker

from .records import Address, Basket, Category, Coupon, Order, PaymentMethod, Product, Review, ShippingOption, Variant
from .tools import Shopping

SIZES = [f"{colour}, size {size}" for colour in ("black", "navy", "olive") for size in ("S", "M", "L", "XL")]
SHOES = [f"{colour}, size {size}" for colour in ("grey", "white", "brown") for size in (7, 8, 9, 10, 11)]
COLOURS = ["black", "white", "slate blue", "forest green", "terracotta", "sand"]
MEMORY = ["grey with 64 GB", "grey with 128 GB", "silver with 128 GB", "silver with 256 GB"]
BEDS = ["white, twin", "white, queen", "white, king", "linen grey, queen", "linen grey, king"]
BOTTLES = ["a 30 ml bottle", "a 50 ml bottle", "a 100 ml bottle"]
EDITIONS = ["the English edition", "the Spanish edition", "the French edition"]
TENTS = ["green", "orange", "stone"]

SHELVES = {  # category -> department, options, returnable, (name, brand, price, grams, months of warranty, description)
    "Jackets": ("clothing", SIZES, True, (
        ("Rain Shell", "Northfell", 12900, 420, 24, "a waterproof jacket with taped seams and a roll-away hood"),
        ("Down Jacket", "Northfell", 18900, 510, 24, "responsible goose down, packs into its own pocket"),
        ("Fleece Pullover", "Alder & Pine", 6900, 380, 12, "recycled fleece with a half zip"),
        ("Denim Jacket", "Marlow", 8900, 820, 12, "a classic cut in washed denim"),
        ("Wool Overcoat", "Marlow", 21900, 1450, 12, "a long single-breasted coat in Italian wool"),
        ("Rain Shell", "Alder & Pine", 9900, 460, 12, "a simple waterproof for city and trail"),
    )),
    "Shoes": ("clothing", SHOES, True, (
        ("Trail Runners", "Northfell", 11900, 620, 12, "grippy soles and a snug heel for rough paths"),
        ("Canvas Sneakers", "Marlow", 5900, 700, 6, "a low sneaker with a rubber sole"),
        ("Leather Boots", "Hobart", 17900, 1380, 24, "Goodyear-welted boots in full-grain leather"),
        ("Hiking Boots", "Northfell", 15900, 1240, 24, "ankle-high, waterproof, with a stiff sole"),
        ("Slippers", "Hobart", 3900, 350, 6, "boiled wool with a felt sole"),
    )),
    "Cookware": ("home", COLOURS, True, (
        ("Cast Iron Skillet", "Ironleaf", 4900, 2300, 120, "a pre-seasoned 10-inch pan for any stove"),
        ("Dutch Oven", "Ironleaf", 11900, 5200, 120, "an enamelled five-quart pot with lid"),
        ("Cast Iron Skillet", "Copperhill", 7900, 2500, 120, "a smooth machined 11-inch pan"),
        ("Chef's Knife", "Kettler", 9900, 240, 60, "an eight-inch forged blade"),
        ("Baking Sheet Set", "Copperhill", 3400, 1700, 24, "three steel sheets that do not warp"),
        ("Stand Mixer", "Kettler", 32900, 9800, 36, "ten speeds, a five-quart bowl, three hooks"),
    )),
    "Bedding": ("home", BEDS, True, (
        ("Linen Duvet Cover", "Softmoor", 12900, 1600, 12, "stonewashed flax linen with coconut buttons"),
        ("Cotton Sheet Set", "Softmoor", 7900, 1500, 12, "percale sheets with two pillowcases"),
        ("Wool Blanket", "Alder & Pine", 9900, 1900, 24, "a heavy blanket in undyed wool"),
        ("Down Comforter", "Cloudrest", 16900, 2100, 60, "medium warmth for all seasons"),
        ("Mattress Topper", "Cloudrest", 14900, 6800, 120, "two inches of natural latex"),
    )),
    "Headphones": ("electronics", COLOURS, True, (
        ("Studio Headphones", "Audira", 19900, 280, 24, "closed-back headphones with a long cable"),
        ("Noise-Cancelling Headphones", "Audira", 27900, 250, 24, "thirty hours of quiet on one charge"),
        ("Wireless Earbuds", "Pulse", 9900, 60, 12, "small buds with a charging case"),
        ("Kids' Headphones", "Tumble", 3900, 180, 24, "volume kept below 85 decibels"),
        ("Wireless Earbuds", "Audira", 14900, 55, 24, "buds with noise cancelling and wireless charging"),
    )),
    "Tablets": ("electronics", MEMORY, True, (
        ("Slate 11", "Lumio", 44900, 480, 24, "an eleven-inch tablet with a laminated screen"),
        ("Sketch Pro", "Inkwell", 62900, 590, 24, "a drawing tablet with a pressure-sensitive pen"),
        ("E-Reader", "Inkwell", 13900, 190, 12, "a paper-like screen with a warm front light"),
        ("Kids' Tablet", "Tumble", 16900, 540, 36, "a shock-proof case and a parents' mode"),
    )),
    "Skincare": ("beauty", BOTTLES, False, (
        ("Vitamin C Serum", "Fern & Clay", 3400, 90, 0, "15 percent vitamin C with ferulic acid"),
        ("Night Cream", "Fern & Clay", 4200, 130, 0, "squalane and ceramides"),
        ("Mineral Sunscreen", "Solari", 2600, 120, 0, "zinc oxide, SPF 50, no fragrance"),
        ("Cleansing Oil", "Solari", 2900, 210, 0, "rinses off without a film"),
        ("Hand Balm", "Fern & Clay", 1400, 80, 0, "shea butter and calendula"),
    )),
    "Board Games": ("toys", EDITIONS, True, (
        ("Harbor Masters", "Oak Table", 4900, 1800, 0, "trade and build a port, two to four players"),
        ("Lost Cartographers", "Oak Table", 3900, 1200, 0, "draw the map before the others do"),
        ("Moonlight Market", "Paper Fox", 2900, 700, 0, "a quick card game about haggling"),
        ("Dragon Bakery", "Paper Fox", 3400, 950, 0, "bake, serve and do not burn the shop down"),
        ("Signal Lost", "Oak Table", 5900, 2100, 0, "a cooperative rescue in space"),
    )),
    "Backpacks": ("outdoor", COLOURS, True, (
        ("Day Pack", "Northfell", 7900, 640, 36, "eighteen litres, padded straps, bottle pockets"),
        ("Trail Backpack", "Northfell", 16900, 1480, 36, "fifty litres with an adjustable back"),
        ("Commuter Backpack", "Marlow", 9900, 980, 24, "a laptop sleeve and a hidden pocket"),
        ("Trail Backpack", "Basecamp", 13900, 1610, 24, "forty-five litres and a rain cover"),
    )),
    "Tents": ("outdoor", TENTS, True, (
        ("Two-Person Tent", "Basecamp", 24900, 2400, 36, "a free-standing tent for three seasons"),
        ("Four-Person Tent", "Basecamp", 36900, 4900, 36, "standing height and two doors"),
        ("Ultralight Tarp", "Northfell", 14900, 410, 24, "ten feet of coated ripstop"),
        ("Family Tunnel Tent", "Basecamp", 54900, 11800, 36, "three rooms for six people"),
        ("Camping Hammock", "Alder & Pine", 6400, 520, 24, "with tree straps and a bug net"),
    )),
}  # fmt: skip

OPINIONS = (  # stars, and what people write with them
    (5, "Exactly what I hoped for, and it arrived early."),
    (5, "I bought a second one for my sister."),
    (5, "Worth every cent."),
    (5, "Better than what I had before at twice the price."),
    (5, "I use it every day and would buy it again."),
    (4, "Very good, only the packaging was damaged."),
    (4, "Does what it says, a little dearer than elsewhere."),
    (4, "Solid quality. I would have liked more to choose from."),
    (4, "My brother is happy with it; delivery took a while."),
    (3, "Fine, but it differs from the picture."),
    (3, "Average. I have had better for less."),
    (3, "Good idea, done so-so."),
    (2, "Lost its charm after a month."),
    (2, "Less than the description claims."),
    (1, "Disappointing from the second day on."),
    (1, "I sent it back the same week."),
)

SHIPPING = (  # name, carrier, days, price, per kilogram, abroad, heaviest
    ("economy", "Parcel Post", 7, 299, 50, 900, 10_000),
    ("standard", "Parcel Post", 4, 499, 75, 1500, 20_000),
    ("express", "Swift Courier", 2, 1299, 150, 2500, 15_000),
    ("overnight", "Swift Courier", 1, 2499, 250, None, 8_000),
    ("freight", "Roadline", 6, 4900, 40, None, 200_000),
)

PLACES = (  # label, city, postal code, country
    ("home", "Portland", "97205", "US"),
    ("office", "Portland", "97209", "US"),
    ("mother's", "Boise", "83702", "US"),
    ("brother's", "Vancouver", "V6B 1A1", "CA"),
)
STREETS = ("Maple Street", "Alder Avenue", "Hawthorne Road", "Cedar Lane", "Division Street", "Lakeview Drive")


HISTORY = (  # days ago, days that the parcel must take at least, paid with, sent to, coupon
    (170, 0, "PAY-3", "ADR-1", None),
    (121, 0, "PAY-3", "ADR-1", None),
    (83, 0, "PAY-1", "ADR-4", None),
    (55, 0, "PAY-1", "ADR-1", "THANKS5"),
    (38, 0, "PAY-2", "ADR-1", None),
    (27, 0, "PAY-1", "ADR-3", None),
    (21, 0, "PAY-1", "ADR-1", None),
    (16, 0, "PAY-2", "ADR-1", None),
    (12, 0, "PAY-1", "ADR-2", None),
    (9, 0, "PAY-1", "ADR-1", None),  # called off within the hour
    (5, 6, "PAY-1", "ADR-1", None),
    (4, 4, "PAY-1", "ADR-1", None),
    (3, 2, "PAY-2", "ADR-2", None),
    (1, 0, "PAY-1", "ADR-1", None),
    (0, 0, "PAY-1", "ADR-1", None),
)


def populate(shop: Shopping, make: Maker) -> None:
    _catalogue(shop, make)
    customer = make.person()
    for label, city, postal_code, country in PLACES:
        recipient = customer if label in ("home", "office") else make.person()
        street = f"{make.between(10, 4900)} {make.pick(STREETS)}"
        shop.addresses.add(Address(shop.addresses.mint(), label, recipient, street, city, postal_code, country))
    _wallet(shop, make)
    for option in SHIPPING:
        shop.shipping_options.add(ShippingOption(shop.shipping_options.mint(), *option))
    _coupons(shop, make)
    shop.baskets.add(Basket("cart"))
    _orders(shop, make)
    _fill_the_cart(shop, make)


def _catalogue(shop: Shopping, make: Maker) -> None:
    readers, reviews = [make.person() for _ in range(24)], list[Review]()
    for shelf, (department, options, returnable, products) in SHELVES.items():
        category = shop.categories.add(Category(shop.categories.mint(), department, shelf))
        for name, brand, price, grams, warranty, description in products:
            product_id = shop.products.mint()
            written = _reviews(make, product_id, readers)
            reviews += written
            rating = round(sum(r.stars for r in written) / len(written), 1)
            about = (name, brand, description, price, rating, len(written), grams, warranty, returnable and not make.chance(0.06))
            shop.products.add(Product(product_id, category.category_id, *about))
            for number, option in enumerate(make.some(options, make.between(2, 4))):
                stock = make.pick((0, 1, 3, 8, 15, 40, 60))
                more = make.day(make.between(1, 12)) if stock == 0 and make.chance(0.6) else None
                surcharge = number * (price // 1000 * 100) // 2 if options in (MEMORY, BEDS, BOTTLES) else 0
                shop.variants.add(Variant(shop.variants.mint(), product_id, option, price + surcharge, stock, more))
    for review in sorted(reviews, key=lambda r: r.written):
        shop.reviews.add(Review(shop.reviews.mint(), review.product_id, review.author, review.stars, review.text, review.written))


def _reviews(make: Maker, product_id: str, readers: list[str]) -> list[Review]:
    """What some readers, one time each, thought of a product: of most they think well."""
    liked = make.chance(0.7)
    opinions = make.some([o for o in OPINIONS if o[0] >= 3 or not liked], make.between(1, 7))
    authors = make.some(readers, len(opinions))
    return [Review("", product_id, a, *o, make.day(-make.between(2, 300))) for a, o in zip(authors, opinions, strict=True)]


def _wallet(shop: Shopping, make: Maker) -> None:
    for brand, expires, balance in (
        ("visa", make.day(make.between(400, 900)), None),
        ("mastercard", make.day(500), None),
        ("visa", make.day(-make.between(35, 90)), None),  # it expired
        ("gift", make.day(300), make.between(2500, 20000, 500)),
    ):
        method = (shop.payment_methods.mint(), brand, make.digits(4), f"{expires:%Y-%m}", balance)
        shop.payment_methods.add(PaymentMethod(*method))


def _coupons(shop: Shopping, make: Maker) -> None:
    shelves = {c.name: c.category_id for c in shop.categories}
    for coupon in (
        Coupon("WELCOME10", "percent", 10, 3000, make.day(60)),
        Coupon("SAVE15", "amount", 1500, 7500, make.day(20)),
        Coupon("SHIPFREE", "free_shipping", 0, 5000, make.day(30)),
        Coupon("KITCHEN20", "percent", 20, 4000, make.day(10), shelves["Cookware"]),
        Coupon("TRAIL25", "amount", 2500, 15000, make.day(3), shelves["Backpacks"]),
        Coupon("BIGSPEND50", "amount", 5000, 40000, make.day(45)),
        Coupon("SUMMER30", "percent", 30, 2000, make.day(-20)),
        Coupon("THANKS5", "amount", 500, 1000, make.day(90)),
    ):
        shop.coupons.add(coupon)


def _orders(shop: Shopping, make: Maker) -> None:
    """Half a year of orders, parcels on their way, one order called off; one thing was sent back, another is on its way back."""
    for ago, days, card, address_id, coupon in HISTORY:
        if ago == 121:
            _send_back(shop, make.moment(-155))
        if ago == 1:
            _send_back(shop, make.moment(-2))
        shop.live_until(make.moment(-ago, 8 if ago == 0 else make.between(10, 21), make.between(0, 59)))
        order = _order(shop, make, days, card, address_id, coupon)
        if ago == 9:
            shop.live_until(order.placed + timedelta(minutes=40))
            shop.cancel_order(order.order_id)
    shop.live_until(make.start)


def _order(shop: Shopping, make: Maker, days: int, card: str, address_id: str, coupon: str | None) -> Order:
    _fill(shop, make, 1 if address_id == "ADR-4" else make.between(1, 3))
    if coupon:
        shop.apply_coupon(coupon)
    offered = [q.shipping_option_id for q in shop.get_shipping_options(address_id).items]
    slow = [o for o in offered if shop.shipping_options.get(o).days >= days]
    shop.set_shipping_option(address_id, make.pick(slow))
    return shop.checkout(card)


def _fill(shop: Shopping, make: Maker, kinds: int) -> None:
    """Put different products that are in stock into the cart; of a single one just one piece, which every carrier takes."""
    variants = {v.product_id: v for v in make.shuffled([v for v in shop.variants if v.stock >= 3])}
    for variant in make.some(list(variants.values()), kinds):
        shop.add_to_cart(variant.variant_id, 1 if kinds == 1 else make.pick((1, 1, 1, 2)))


def _send_back(shop: Shopping, moment: datetime) -> None:
    """Return the first thing of the order that came last."""
    shop.live_until(moment)
    last = shop.orders.where(status="delivered")[-1]
    item = shop.order_items.where(order_id=last.order_id)[0]
    product = shop.products.get(shop.variants.get(item.variant_id).product_id)
    worn = shop.categories.get(product.category_id).department == "clothing"
    shop.return_order_item(item.order_item_id, "damaged" if not product.returnable else "too_small" if worn else "changed_mind")


def _fill_the_cart(shop: Shopping, make: Maker) -> None:
    """Mostly a few things, now and then nothing or one that has sold out since; some have a coupon, or their shipping chosen."""
    kind = make.pick(("filled", "filled", "filled", "sold_out", "empty"))
    if kind == "empty":
        return
    _fill(shop, make, make.between(2, 4))
    if shop.get_cart().subtotal >= 3000 and make.chance(0.3):
        shop.apply_coupon("WELCOME10")
    if make.chance(0.5):
        home = next(iter(shop.addresses)).address_id
        shop.set_shipping_option(home, make.pick(shop.get_shipping_options(home).items).shipping_option_id)
    if kind == "sold_out":
        shop.variants.update(next(iter(shop.cart_items)).variant_id, stock=0)
