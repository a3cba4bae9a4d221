"""A chain of eight stores, five of them ours: shelves full and empty, goods on hold, transfers and orders on their way or at the dock."""

from prove.servers.maker import Maker
from servers.retail_chain.tools import LOSSES, Adjustment, Product, PurchaseOrder, Reservation, RetailChain, Stock, Store, Transfer

STORES = {  # name -> city; two stores are in one city
    "Riverside": "Portland", "Market Square": "Portland", "Old Mill": "Denver", "Harbour Point": "Boston", "Kings Cross": "Chicago",
    "Lakeview": "Madison", "Station Road": "Austin", "Northgate": "Seattle", "Greenfield": "Columbus", "Castle Street": "Richmond",
    "Parkway": "Omaha", "Bridge End": "Tucson",
}  # fmt: skip
REGIONS = ("north", "south", "east", "west")

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


def populate(chain: RetailChain, make: Maker) -> None:
    _stores(chain, make)
    _products(chain, make)
    for product in chain.products:
        for store in chain.stores:
            if make.chance(0.85):  # not every store sells everything
                on_hand = make.pick((0, 1, 2, 3, *range(4, 40, 2)))
                row = (f"{store.store_id}:{product.sku}", store.store_id, product.sku, on_hand, on_hand, make.pick((3, 5, 8)))
                chain.stock.add(Stock(*row))
    _purchase_orders(chain, make)
    _transfers(chain, make)
    _adjustments(chain, make)
    _reservations(chain, make)


def _stores(chain: RetailChain, make: Maker) -> None:
    names = ["Riverside", "Market Square", *make.shuffled(list(STORES)[2:])[:6]]
    for i, name in enumerate(make.shuffled(names)):
        budget = make.between(150_000, 900_000, 5_000) if i else 2_000  # one has spent nearly all of it
        chain.stores.add(Store(chain.stores.mint(), name, STORES[name], REGIONS[i // 2], i < 5, budget))


def _products(chain: RetailChain, make: Maker) -> None:
    number = make.between(100, 600)
    for department, (supplier, lead_days, goods) in CATALOGUE.items():
        for name in make.some(list(goods), 7):
            number += make.between(1, 9)
            price, case_size = goods[name]
            cost = price * make.between(45, 62) // 100
            sku = f"{department[:3].upper()}-{number:04}"
            chain.products.add(Product(sku, name, department, supplier, price, cost, case_size, lead_days, make.chance(0.08)))


def _purchase_orders(chain: RetailChain, make: Maker) -> None:
    """Old ones in stock, some at the dock (one of them counted in part), some on their way."""
    products = [p for p in chain.products if not p.discontinued]
    for status in make.shuffled(["received"] * 8 + ["delivered"] * 9 + ["ordered"] * 6):
        product, store = make.pick(products), make.pick(list(chain.stores))
        units = make.between(1, 4) * product.case_size
        expected = make.between(1, product.lead_days) if status == "ordered" else -make.between(0 if status == "delivered" else 4, 20)
        received = units if status == "received" else units // 2 if status == "delivered" and make.chance(0.2) else 0
        told = (store.store_id, product.sku, product.supplier, units, units * product.unit_cost, make.day(expected), received, status)
        chain.purchase_orders.add(PurchaseOrder(chain.purchase_orders.mint(), *told))
        chain._move(store.store_id, product.sku, received)


def _transfers(chain: RetailChain, make: Maker) -> None:
    for status in ("arrived", "arrived", "arrived", "in_transit", "in_transit", "in_transit"):
        stock = make.pick([s for s in chain.stock if s.on_hand > 5])
        to = make.pick([s for s in chain.stores if s.store_id != stock.store_id])
        quantity = make.between(1, 5)
        day = make.day(1 if status == "in_transit" else -make.between(1, 20))
        transfer = Transfer(chain.transfers.mint(), stock.store_id, to.store_id, stock.sku, quantity, day, status)
        chain.transfers.add(transfer)
        chain._move(stock.store_id, stock.sku, -quantity)
        if status == "arrived":
            chain._move(to.store_id, stock.sku, quantity)


def _adjustments(chain: RetailChain, make: Maker) -> None:
    for reason in make.shuffled(["damaged", "damaged", "stolen", "expired", "found", "returned", "returned"]):
        stock = make.pick([s for s in chain.stock if s.on_hand > 5])
        change = -make.between(1, 3) if reason in LOSSES else make.between(1, 3)
        after = chain._move(stock.store_id, stock.sku, change).on_hand
        at = make.moment(-make.between(1, 30), make.between(9, 18))
        told = (stock.store_id, stock.sku, change, reason, at, after)
        chain.adjustments.add(Adjustment(chain.adjustments.mint(), *told))


def _reservations(chain: RetailChain, make: Maker) -> None:
    """Most are held now, each for somebody else; a few were collected, given up or forgotten."""
    shelves = make.some([s for s in chain.stock if s.on_hand > 3], 30)
    for i, stock in enumerate(make.shuffled(shelves)):
        status = ("collected", "released", "expired")[i % 3] if i < 6 else "held"
        day = -make.between(2, 20) if i < 6 else make.between(0, 1)
        until, quantity = make.moment(day, make.between(10, 19)), make.between(1, 3)
        told = (stock.store_id, stock.sku, quantity, make.person(), until, status)
        chain.reservations.add(Reservation(chain.reservations.mint(), *told))
        if status == "collected":
            chain._move(stock.store_id, stock.sku, -quantity)
