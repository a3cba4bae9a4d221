"""A chain of eight stores, five of them ours: shelves full and empty, goods on hold, transfers and orders on their way or at the dock.

The stores open their books six weeks ago, and then live: what was ordered, sent, held and counted in that time was so by
the server's own rules, day by day.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from prove.servers.maker import Maker

from .records import Demand, Product, Reservation, Stock, Store
from .tools import LOSSES, RetailChain

STORES = {  # name -> city; two stores are in one city
    "Riverside": "Portland", "Market Square": "Portland", "Old Mill": "Denver", "Harbour Point": "Boston", "Kings Cross": "Chicago",
    "Lakeview": "Madison", "Station Road": "Austin", "Northgate": "Seattle", "Greenfield": "Columbus", "Castle Street": "Richmond",
    "Parkway": "Omaha", "Bridge End": "Tucson",
}  # fmt: skip
REGIONS = {  # as the census divides the country: the Midwest is our north, the Northeast our east
    "Portland": "west", "Denver": "west", "Seattle": "west", "Tucson": "west", "Chicago": "north", "Madison": "north", "Omaha": "north",
    "Columbus": "north", "Boston": "east", "Austin": "south", "Richmond": "south",
}  # fmt: skip

CATALOGUE = {  # department -> supplier, how long it takes, and name: (price, case size)
    "kitchen": ("Homeware Direct", 6, {
        "Aurora electric kettle": (3999, 6), "Basil cast-iron pan": (5450, 4), "Copper mixing bowl": (2299, 6),
        "Fjord knife block": (8900, 2), "Juno hand blender": (4495, 6), "Maple chopping board": (2750, 8),
        "Tern coffee press": (2999, 6), "Vela toaster": (5999, 4),
    }),
    "garden": ("Greenway Supply", 9, {
        "Heron watering can": (1899, 10), "Cedar planter": (4299, 4), "Robin bird feeder": (1550, 12),
        "Sage pruning shears": (2199, 12), "Solar path light": (999, 24), "Willow hose reel": (6499, 2), "Clover seed mix": (499, 48),
        "Oak garden bench": (18900, 1),
    }),
    "toys": ("Playworks", 5, {
        "Comet building blocks": (2999, 8), "Dragon puzzle": (1499, 12), "Nimbus kite": (1999, 12),
        "Pixel plush fox": (1799, 12), "Rocket balance bike": (7999, 1), "Sailor bath boats": (1299, 18),
        "Storybook lantern": (2499, 8), "Wooden train set": (4999, 4),
    }),
    "sports": ("Peak Distribution", 7, {
        "Alpine day pack": (6999, 4), "Breeze yoga mat": (2999, 10), "Cascade water bottle": (1799, 24),
        "Glide skipping rope": (1199, 24), "Ridge trekking poles": (5999, 6), "Summit headlamp": (3499, 12),
        "Tempo running belt": (2199, 12), "Volt bicycle lock": (4299, 8),
    }),
    "electronics": ("Circuit Wholesale", 4, {
        "Beacon desk lamp": (4999, 6), "Echo shower speaker": (3999, 8), "Lark wireless earbuds": (7999, 10),
        "Link charging cable": (1299, 50), "Orbit travel adapter": (2499, 20), "Pulse power bank": (4499, 12),
        "Slate reading light": (1999, 16), "Zephyr desk fan": (3299, 4),
    }),
    "stationery": ("Paper & Post", 3, {
        "Atlas wall calendar": (1599, 20), "Birch pencil set": (899, 36), "Cobalt fountain pen": (3499, 10),
        "Dune leather notebook": (2299, 16), "Linen gift wrap": (699, 40), "Meadow greeting cards": (1199, 30),
        "Quill dark green ink": (1099, 18), "Terra desk organiser": (2799, 6),
    }),
}  # fmt: skip


Event = tuple[datetime, Callable[[], object]]
DAYS_BACK = 42
DEMANDS = 60
PERISHABLE = ("Clover seed mix", "Atlas wall calendar", "Quill dark green ink")


def populate(chain: RetailChain, make: Maker) -> None:
    _stores(chain, make)
    _products(chain, make)
    for product in chain.products:
        for store in chain.stores:
            if make.chance(0.85):  # not every store sells everything
                on_hand = make.pick((0, 1, 2, 3, *range(4, 40, 2)))
                row = (f"{store.store_id}:{product.sku}", store.store_id, product.sku, on_hand, on_hand, make.pick((3, 5, 8)))
                chain.stock.add(Stock(*row))
    _demands(chain, make)
    events = [*_purchase_orders(chain, make), *_transfers(chain, make), *_adjustments(chain, make), *_reservations(chain, make)]
    for at, happens in sorted(events, key=lambda e: e[0]):
        chain.live_until(at)
        happens()
    chain.live_until(make.start)
    _spend_nearly_all(chain, make)


def _stores(chain: RetailChain, make: Maker) -> None:
    names = ["Riverside", "Market Square", *make.shuffled(list(STORES)[2:])[:6]]
    month = make.day(-DAYS_BACK).replace(day=1)
    for i, name in enumerate(make.shuffled(names)):
        budget = make.between(500_000, 1_500_000, 5_000)
        chain.stores.add(Store(chain.stores.mint(), name, STORES[name], REGIONS[STORES[name]], i < 5, budget, budget, month))


def _products(chain: RetailChain, make: Maker) -> None:
    number = make.between(100, 600)
    for department, (supplier, lead_days, goods) in CATALOGUE.items():
        for name in make.some(list(goods), 7):
            number += make.between(1, 9)
            price, case_size = goods[name]
            cost = price * make.between(45, 62) // 100
            sku = f"{department[:3].upper()}-{number:04}"
            chain.products.add(Product(sku, name, department, supplier, price, cost, case_size, lead_days, make.chance(0.08)))


def _demands(chain: RetailChain, make: Maker) -> None:
    """What sells well where: some pieces once or twice a week, from the first day on."""
    for stock in make.some([s for s in chain.stock if s.on_hand > 3], DEMANDS):
        every = make.between(4, 14)
        first = make.day(make.between(1, every) - DAYS_BACK)
        chain.demands.add(Demand(chain.demands.mint(), stock.store_id, stock.sku, make.between(1, 3), every, first))


def _purchase_orders(chain: RetailChain, make: Maker) -> list[Event]:
    """Some long in stock, some at the dock of our stores, where nobody had time in the last days, some on their way."""
    products = [p for p in chain.products if not p.discontinued]

    def order(kind: str) -> Event:
        product, store = make.pick(products), make.pick([s for s in chain.stores if s.managed or kind != "at the dock"])
        lead, cases = product.lead_days, make.between(1, 4)
        spans = {"in stock": (lead + 6, 28), "at the dock": (lead, lead + 4), "on its way": (1, lead - 1)}
        at = make.moment(-make.between(*spans[kind]), make.between(9, 17), make.between(0, 59))
        return at, lambda: chain._order(chain.stores.get(store.store_id), product, cases)

    orders = [order(kind) for kind in ["in stock"] * 8 + ["at the dock"] * 9 + ["on its way"] * 6]
    mornings = [(make.moment(-ago, 8, 15), lambda: _take_in(chain)) for ago in range(DAYS_BACK - 1, 5, -1)]
    return [*orders, *mornings, (make.moment(0, 8, 15), lambda: _count_in_part(chain))]


def _take_in(chain: RetailChain) -> None:
    for order in chain.purchase_orders.where(status="delivered"):
        chain._receive(order, order.quantity)


def _count_in_part(chain: RetailChain) -> None:
    for order in [o for o in chain.purchase_orders.where(status="delivered") if o.quantity > 1][:2]:
        chain._receive(order, order.quantity // 2)


def _well_stocked(chain: RetailChain, make: Maker, least: int, names: tuple[str, ...] = ()) -> Stock:
    """A shelf with more than that available, if need be of a product that is called so."""
    called = [s.stock_id for s in chain.stock if names and s.on_hand > least and chain.products.get(s.sku).name in names]
    shelves = called or chain.stock.keys()
    while True:
        stock = chain.stock.get(make.pick(shelves))
        if stock.on_hand > least and stock.on_hand - chain._held(stock) > least:
            return stock


def _transfers(chain: RetailChain, make: Maker) -> list[Event]:
    """Three long there, three sent this morning."""

    def send() -> None:
        stock = _well_stocked(chain, make, 5)
        to = make.pick([s.store_id for s in chain.stores if s.store_id != stock.store_id])
        chain._send(stock.store_id, to, stock.sku, make.between(1, 5))

    past = [make.moment(-make.between(3, 20), make.between(9, 17)) for _ in range(3)]
    return [(at, send) for at in (*past, *(make.moment(0, 8, minute) for minute in (20, 30, 40)))]


def _adjustments(chain: RetailChain, make: Maker) -> list[Event]:
    def count(reason: str) -> None:
        stock, units = _well_stocked(chain, make, 5, PERISHABLE if reason == "expired" else ()), make.between(1, 3)
        chain._move(stock.store_id, stock.sku, -units if reason in LOSSES else units, reason)

    reasons = make.shuffled(["damaged", "damaged", "stolen", "expired", "found", "returned", "returned"])
    return [(make.moment(-make.between(1, 30), make.between(9, 18)), partial(count, reason)) for reason in reasons]


def _reservations(chain: RetailChain, make: Maker) -> list[Event]:
    """Most are held now, each for somebody else; a few were collected, given up or forgotten."""

    def hold() -> Reservation:
        stock = _well_stocked(chain, make, 3)
        return chain._hold(stock.store_id, stock.sku, make.between(1, 3), make.person())

    def hold_and_close(outcome: str) -> None:
        held = hold()
        if outcome == "collected":
            chain._move(held.store_id, held.sku, -held.quantity, "reservation", held.reservation_id)
        if outcome != "expired":
            chain.reservations.update(held.reservation_id, status=outcome)

    outcomes = ("collected", "released", "expired") * 2
    over = [(make.moment(-make.between(4, 20), make.between(9, 18)), partial(hold_and_close, outcome)) for outcome in outcomes]
    return [*over, *((make.moment(-1, make.between(9, 19), make.between(0, 59)), hold) for _ in range(24))]


def _spend_nearly_all(chain: RetailChain, make: Maker) -> None:
    """One of our stores had just enough left for what it ordered this morning."""
    store = make.pick(chain.stores.where(managed=True))
    product = make.pick([p for p in chain.products if not p.discontinued])
    cost = 2 * product.case_size * product.unit_cost
    spent = store.monthly_budget - store.budget
    tight = chain.stores.update(store.store_id, monthly_budget=spent + cost + 1_500, budget=cost + 1_500)
    chain._order(tight, product, 2)
