"""Stock of a retail chain, store by store. The signed-in manager reads all stores and changes only those they look after."""

from datetime import timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Cents,
    Day,
    Limit,
    Meta,
    Moment,
    Money,
    Page,
    PersonName,
    Quantity,
    Query,
    Record,
    Server,
    matches,
    page,
    read,
    require,
    table,
    write,
)

StoreId = NewType("StoreId", str)
ProductId = NewType("ProductId", str)
ReservationId = NewType("ReservationId", str)
TransferId = NewType("TransferId", str)
PurchaseOrderId = NewType("PurchaseOrderId", str)
AdjustmentId = NewType("AdjustmentId", str)

Region = Annotated[Literal["north", "south", "east", "west"], Meta(description="the part of the country a store is in")]
Department = Annotated[
    Literal["kitchen", "garden", "toys", "sports", "electronics", "stationery"], Meta(description="where in a store a product is sold")
]
Outcome = Annotated[
    Literal["collected", "released"], Meta(description="collected if the customer took the goods, released if they go back on sale")
]
Reason = Annotated[
    Literal["damaged", "stolen", "expired", "found", "returned"],
    Meta(description="why the count changes: damaged, stolen or expired goods leave the stock, found or returned ones join it"),
]
Cases = Annotated[int, Meta(ge=1, le=100, description="how many of the supplier's cases to order, each of the product's case size")]
OrderStatus = Annotated[
    Literal["ordered", "delivered", "received"],
    Meta(description="ordered: on its way; delivered: at the store's dock, all or part still to be received; received: all in stock"),
]

HOLD = timedelta(hours=48)  # how long goods are kept for a customer
LOSSES = ("damaged", "stolen", "expired")


class Store(Record):
    store_id: StoreId
    name: str
    city: str
    region: Region
    managed: bool  # whether the signed-in manager looks after it
    budget: Money  # what it may still spend on purchase orders this month


class Product(Record):
    sku: ProductId
    name: str
    department: Department
    supplier: str
    price: Cents
    unit_cost: Cents
    case_size: Quantity
    lead_days: int  # how long the supplier takes
    discontinued: bool = False


class Stock(Record):
    stock_id: str  # store and product
    store_id: StoreId
    sku: ProductId
    opening: int  # how much there was at first
    on_hand: int
    reorder_point: int


class Reservation(Record):
    reservation_id: ReservationId
    store_id: StoreId
    sku: ProductId
    quantity: Quantity
    customer: PersonName
    until: Moment
    status: Literal["held", "collected", "released", "expired"] = "held"


class Transfer(Record):
    transfer_id: TransferId
    origin: StoreId
    destination: StoreId
    sku: ProductId
    quantity: Quantity
    arrives: Day
    status: Literal["in_transit", "arrived"] = "in_transit"


class PurchaseOrder(Record):
    purchase_order_id: PurchaseOrderId
    store_id: StoreId
    sku: ProductId
    supplier: str
    quantity: int
    total: Cents
    expected: Day
    received: int = 0
    status: OrderStatus = "ordered"


class Adjustment(Record):
    adjustment_id: AdjustmentId
    store_id: StoreId
    sku: ProductId
    change: int
    reason: Reason
    at: Moment
    on_hand: int  # afterwards


class StockLevel(Record):
    store_id: StoreId
    store: str
    sku: ProductId
    on_hand: int
    reserved: int
    available: int
    incoming: int
    reorder_point: int


class RetailChain(Server):
    """Stock levels, reservations, transfers and purchase orders across the stores of a retail chain."""

    category = "Commerce"

    stores = table(Store, "STO-{:02}")
    products = table(Product)
    stock = table(Stock)
    reservations = table(Reservation, "RSV-{}", start=3001)
    transfers = table(Transfer, "TRF-{}", start=801)
    purchase_orders = table(PurchaseOrder, "PO-{}", start=55001)
    adjustments = table(Adjustment, "ADJ-{}", start=9001)

    # --- stores, products and what is where

    @read
    def list_stores(self, query: Query | None = None, region: Region | None = None, limit: Limit = 20) -> Page[Store]:
        """List stores by name or city, with what each may still spend; `managed` marks those the user looks after."""
        found = [s for s in self.stores if region in (None, s.region)]
        return page((s for s in found if matches(query, s.name, s.city)), limit, Store)

    @read
    def find_product(
        self, query: Query | None = None, department: Department | None = None, low_at: StoreId | None = None, limit: Limit = 10
    ) -> Page[Product]:
        """Find products by name or supplier; low_at keeps those at or below their reorder point in that store."""
        levels = self.stock.where(store_id=self.stores.get(low_at).store_id) if low_at else []
        low = {s.sku for s in levels if s.on_hand <= s.reorder_point}
        found = [p for p in self.products if department in (None, p.department) and (low_at is None or p.sku in low)]
        return page((p for p in found if matches(query, p.name, p.supplier)), limit, Product)

    @read
    def check_inventory(self, sku: ProductId, store_id: StoreId | None = None, limit: Limit = 20) -> Page[StockLevel]:
        """Show a product's stock in one store or in each: on hand, reserved, available for sale and on the way."""
        self.products.get(sku)
        require(store_id is None or store_id in self.stores, "not_found", f"there is no store {store_id!r}")
        levels = [self._level(s) for s in self.stock.where(sku=sku) if store_id in (None, s.store_id)]
        return page(levels, limit, StockLevel)

    # --- reservations

    @write
    def reserve_stock(self, store_id: StoreId, sku: ProductId, quantity: Quantity, customer: PersonName) -> Reservation:
        """Keep goods in a store for a customer to collect within 48 hours."""
        self._check_available(store_id, sku, quantity)
        made = (store_id, sku, quantity, customer, self.now + HOLD)
        return self.reservations.add(Reservation(self.reservations.mint(), *made))

    @read
    def list_reservations(self, store_id: StoreId | None = None, query: Query | None = None, limit: Limit = 10) -> Page[Reservation]:
        """List goods being held, the soonest to expire first; query looks at the customer's name."""
        require(store_id is None or store_id in self.stores, "not_found", f"there is no store {store_id!r}")
        held = [r for r in self.reservations.where(status="held") if store_id in (None, r.store_id) and matches(query, r.customer)]
        return page(sorted(held, key=lambda r: r.until), limit, Reservation)

    @write(destructive=True)
    def close_reservation(self, reservation_id: ReservationId, outcome: Outcome) -> Reservation:
        """End a reservation: the customer has collected the goods, or they are released for sale."""
        held = self.reservations.get(reservation_id)
        self._managed(held.store_id)
        require(held.status == "held", "failed_precondition", f"{reservation_id} is {held.status}: it holds nothing any more")
        if outcome == "collected":
            self._move(held.store_id, held.sku, -held.quantity)
        return self.reservations.update(reservation_id, status=outcome)

    # --- moving stock

    @write
    def adjust_inventory(self, store_id: StoreId, sku: ProductId, quantity: Quantity, reason: Reason) -> Adjustment:
        """Correct a count: book units as damaged, stolen or expired (out), or as found or returned (in)."""
        self._managed(store_id)
        change = quantity
        if reason in LOSSES:
            self._check_available(store_id, sku, quantity)
            change = -quantity
        moved = self._move(store_id, sku, change)
        return self.adjustments.add(Adjustment(self.adjustments.mint(), store_id, sku, change, reason, self.now, moved.on_hand))

    @write
    def transfer_stock(self, origin: StoreId, destination: StoreId, sku: ProductId, quantity: Quantity) -> Transfer:
        """Send goods from a managed store to another; they arrive the next day, or two days later in another region."""
        require(origin != destination, "invalid_argument", "origin and destination are the same store")
        self._check_available(origin, sku, quantity)
        near = self.stores.get(origin).region == self.stores.get(destination).region
        self._move(origin, sku, -quantity)
        made = (origin, destination, sku, quantity, self.today + timedelta(days=1 if near else 2))
        return self.transfers.add(Transfer(self.transfers.mint(), *made))

    # --- purchase orders

    @write
    def create_purchase_order(self, store_id: StoreId, sku: ProductId, cases: Cases) -> PurchaseOrder:
        """Order a product from its supplier for a store, by the case, out of the store's budget."""
        store, product = self._managed(store_id), self.products.get(sku)
        require(not product.discontinued, "failed_precondition", f"{sku} is discontinued: transfer some from another store instead")
        units = cases * product.case_size
        total = units * product.unit_cost
        too_much = f"{cases} cases cost {total} cents, and {store_id} has {store.budget} cents left this month: order fewer"
        require(total <= store.budget, "resource_exhausted", too_much)
        self.stores.update(store_id, budget=store.budget - total)
        made = (store_id, sku, product.supplier, units, total, self.today + timedelta(days=product.lead_days))
        return self.purchase_orders.add(PurchaseOrder(self.purchase_orders.mint(), *made))

    @read
    def list_purchase_orders(
        self, store_id: StoreId | None = None, status: OrderStatus | None = None, limit: Limit = 10
    ) -> Page[PurchaseOrder]:
        """List purchase orders of one store or of all, the newest first."""
        require(store_id is None or store_id in self.stores, "not_found", f"there is no store {store_id!r}")
        found = [o for o in self.purchase_orders if store_id in (None, o.store_id) and status in (None, o.status)]
        return page(reversed(found), limit, PurchaseOrder)

    @write
    def receive_purchase_order(self, purchase_order_id: PurchaseOrderId, quantity: Quantity | None = None) -> PurchaseOrder:
        """Take delivered units into stock: all that are outstanding, or as many as were counted."""
        order = self.purchase_orders.get(purchase_order_id)
        self._managed(order.store_id)
        nothing = f"{purchase_order_id} is {order.status}, expected {order.expected}: there is nothing to receive"
        require(order.status == "delivered", "failed_precondition", nothing)
        outstanding = order.quantity - order.received
        units = quantity or outstanding
        require(units <= outstanding, "invalid_argument", f"only {outstanding} units of {purchase_order_id} are outstanding, not {units}")
        self._move(order.store_id, order.sku, units)
        status = "received" if units == outstanding else "delivered"
        return self.purchase_orders.update(purchase_order_id, received=order.received + units, status=status)

    # --- rules

    def elapse(self) -> None:
        for held in [r for r in self.reservations.where(status="held") if r.until <= self.now]:
            self.reservations.update(held.reservation_id, status="expired")
        for transfer in [t for t in self.transfers.where(status="in_transit") if t.arrives <= self.today]:
            self._move(transfer.destination, transfer.sku, transfer.quantity)
            self.transfers.update(transfer.transfer_id, status="arrived")
        for order in [o for o in self.purchase_orders.where(status="ordered") if o.expected <= self.today]:
            self.purchase_orders.update(order.purchase_order_id, status="delivered")

    def _managed(self, store_id: StoreId) -> Store:
        store = self.stores.get(store_id)
        own = ", ".join(s.store_id for s in self.stores.where(managed=True))
        require(store.managed, "permission_denied", f"{store_id} ({store.name}) is looked after by somebody else; yours are {own}")
        return store

    def _stock(self, store_id: StoreId, sku: ProductId) -> Stock:
        """How much of a product a store has; nothing where it never had any."""
        return self.stock.find(f"{store_id}:{sku}") or Stock(f"{store_id}:{sku}", store_id, sku, 0, 0, 0)

    def _move(self, store_id: StoreId, sku: ProductId, change: int) -> Stock:
        stock = self._stock(store_id, self.products.get(sku).sku)
        if stock.stock_id not in self.stock:
            self.stock.add(stock)
        return self.stock.update(stock.stock_id, on_hand=stock.on_hand + change)

    def _held(self, stock: Stock) -> int:
        return sum(r.quantity for r in self.reservations.where(sku=stock.sku, store_id=stock.store_id, status="held"))

    def _check_available(self, store_id: StoreId, sku: ProductId, quantity: Quantity) -> None:
        self._managed(store_id)
        stock = self._stock(store_id, self.products.get(sku).sku)
        held = self._held(stock)
        left = stock.on_hand - held
        few = f"{store_id} has {left} of {sku} available ({stock.on_hand} on hand, {held} reserved), not {quantity}"
        require(quantity <= left, "resource_exhausted", few)

    def _level(self, stock: Stock) -> StockLevel:
        held = self._held(stock)
        at = {"sku": stock.sku, "store_id": stock.store_id}
        ordered = sum(o.quantity - o.received for o in self.purchase_orders.where(**at))
        sent = sum(t.quantity for t in self.transfers.where(sku=stock.sku, destination=stock.store_id, status="in_transit"))
        have = stock.on_hand
        name = self.stores.get(stock.store_id).name
        return StockLevel(stock.store_id, name, stock.sku, have, held, have - held, ordered + sent, stock.reorder_point)
