"""Stock of a retail chain, store by store. The signed-in manager reads all stores and changes only those they look after."""

from datetime import UTC, date, datetime, time, timedelta

from prove.servers import (
    Limit, Moment, Offset, Page, PersonName, Quantity, Query, Server, matches, newest, page, read, require, table, write,
)  # fmt: skip
from .records import (
    Cases, Coming, Demand, Department, Inventory, Movement, MovementLine, OrderStatus, Outcome, Product, ProductId, PurchaseOrder,
    PurchaseOrderId, Reason, Region, Reservation, ReservationId, ReservationStatus, Stock, StockLevel, Store, StoreId, Transfer,
)  # fmt: skip

HOLD = timedelta(hours=48)  # how long goods are kept for a customer
CLOSING = time(20)  # when the tills are closed, and what was sold on a day is booked
LOSSES = ("damaged", "stolen", "expired")
SHOWN = 10  # movements of a product, and goods to come


class RetailChain(Server):
    """Stock levels, reservations, transfers and purchase orders across the stores of a retail chain."""

    category = "Commerce"

    stores = table(Store, "STO-{:02}")
    products = table(Product)
    stock = table(Stock)
    reservations = table(Reservation, "RSV-{}", start=3001)
    transfers = table(Transfer, "TRF-{}", start=801)
    purchase_orders = table(PurchaseOrder, "PO-{}", start=55001)
    movements = table(Movement, "MOV-{}", start=9001)
    demands = table(Demand, "DEM-{}", start=101)

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
        """Find products by name or supplier; low_at keeps those of which that store has no more than its reorder point."""
        levels = self.stock.where(store_id=low_at) if low_at else []
        low = {s.sku for s in levels if s.on_hand - self._held(s) <= s.reorder_point}
        found = [p for p in self.products if department in (None, p.department) and (low_at is None or p.sku in low)]
        return page((p for p in found if matches(query, p.name, p.supplier)), limit, Product)

    @read
    def check_inventory(self, sku: ProductId, store_id: StoreId | None = None, limit: Limit = 20) -> Inventory:
        """Show a product's stock in one store or in each: on hand, reserved, available, on the way, and what moved last."""
        coming = [c for c in self._coming(sku) if store_id in (None, c.store_id)]
        there = {s.store_id for s in self.stock.where(sku=sku)} | {c.store_id for c in coming}
        shown = [s.store_id for s in self.stores if s.store_id in there and store_id in (None, s.store_id)]
        levels = page((self._level(self._stock(key, sku)) for key in shown), limit, StockLevel)
        moved = [m for m in self.movements.where(sku=sku) if store_id in (None, m.store_id)]
        last = page(newest(moved, lambda m: m.at), SHOWN, MovementLine).items
        return Inventory(levels.items, levels.total, sorted(coming, key=lambda c: c.expected)[:SHOWN], last)

    # --- reservations

    @write
    def reserve_stock(self, store_id: StoreId, sku: ProductId, quantity: Quantity, customer: PersonName) -> Reservation:
        """Keep goods in a store for a customer to collect within 48 hours."""
        self._check_available(store_id, sku, quantity)
        return self._hold(store_id, sku, quantity, customer)

    @read
    def list_reservations(
        self,
        store_id: StoreId | None = None,
        query: Query | None = None,
        status: ReservationStatus = "held",
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Reservation]:
        """List goods held for customers, or no longer held, the soonest to expire first; query looks at the customer's name."""
        chosen = [r for r in self.reservations.where(status=status) if store_id in (None, r.store_id) and matches(query, r.customer)]
        return page(sorted(chosen, key=lambda r: r.until), limit, Reservation, offset)

    @write(destructive=True)
    def close_reservation(self, reservation_id: ReservationId, outcome: Outcome) -> Reservation:
        """End a reservation: the customer has collected the goods, or they are released for sale."""
        held = self.reservations.get(reservation_id)
        self._managed(held.store_id)
        over = f"{reservation_id} is {held.status}: it holds nothing any more, so reserve the goods anew if they are still wanted"
        require(held.status == "held", "failed_precondition", over)
        if outcome == "collected":
            self._move(held.store_id, held.sku, -held.quantity, "reservation", reservation_id)
        return self.reservations.update(reservation_id, status=outcome)

    # --- moving stock

    @write
    def adjust_inventory(self, store_id: StoreId, sku: ProductId, quantity: Quantity, reason: Reason) -> Movement:
        """Correct a count: book units as damaged, stolen or expired (out), or as found or returned (in)."""
        self._managed(store_id)
        if reason in LOSSES:
            self._check_available(store_id, sku, quantity)
        return self._move(store_id, sku, -quantity if reason in LOSSES else quantity, reason)

    @write
    def transfer_stock(self, origin: StoreId, destination: StoreId, sku: ProductId, quantity: Quantity) -> Transfer:
        """Send goods from a managed store to another; they arrive the next day, or two days later in another region."""
        require(origin != destination, "invalid_argument", f"origin and destination are both {origin}: name another store to send to")
        self._check_available(origin, sku, quantity)
        return self._send(origin, destination, sku, quantity)

    # --- purchase orders

    @write
    def create_purchase_order(self, store_id: StoreId, sku: ProductId, cases: Cases) -> PurchaseOrder:
        """Order a product from its supplier for a store, by the case, out of the store's budget."""
        store, product = self._managed(store_id), self.products.get(sku)
        require(not product.discontinued, "failed_precondition", f"{sku} is discontinued: {self._instead(store_id, sku)}")
        case = product.case_size * product.unit_cost
        most = store.budget // case
        instead = f"order at most {most} cases" if most else f"wait for the budget of {next_month(self.today)}"
        too_much = f"{cases} cases cost {cases * case} cents, and {store_id} has {store.budget} cents left this month: {instead}"
        require(cases <= most, "resource_exhausted", too_much)
        return self._order(store, product, cases)

    @read
    def list_purchase_orders(
        self, store_id: StoreId | None = None, status: OrderStatus | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[PurchaseOrder]:
        """List purchase orders of one store or of all, the newest first."""
        found = [o for o in self.purchase_orders if store_id in (None, o.store_id) and status in (None, o.status)]
        return page(newest(found, lambda o: o.ordered), limit, PurchaseOrder, offset)

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
        return self._receive(order, units)

    # --- as time passes

    def due(self) -> Moment:
        """When the next reservation runs out, goods arrive or are sold, or a month begins."""
        moments = [*(r.until for r in self.reservations.where(status="held")), evening(min(d.day for d in self.demands))]
        days = [t.arrives for t in self.transfers.where(status="in_transit")]
        days += [o.expected for o in self.purchase_orders.where(status="ordered")]
        return min([*moments, *map(midnight, [*days, next_month(self._month())])])

    def elapse(self) -> None:
        """Budgets are renewed, reservations run out, goods are sold and arrive. In other managers' stores they are taken into stock."""
        if self._month() < self.today.replace(day=1):
            for store in self.stores:
                self.stores.update(store.store_id, budget=store.monthly_budget, month=self.today.replace(day=1))
        for held in [r for r in self.reservations.where(status="held") if r.until <= self.now]:
            self.reservations.update(held.reservation_id, status="expired")
        for transfer in [t for t in self.transfers.where(status="in_transit") if t.arrives <= self.today]:
            self._move(transfer.destination, transfer.sku, transfer.quantity, "transfer", transfer.transfer_id)
            self.transfers.update(transfer.transfer_id, status="arrived")
        for order in [o for o in self.purchase_orders.where(status="ordered") if o.expected <= self.today]:
            delivered = self.purchase_orders.update(order.purchase_order_id, status="delivered")
            if not self.stores.get(order.store_id).managed:
                self._receive(delivered, order.quantity)

        closed = self.today if self.now.time() >= CLOSING else self.today - timedelta(days=1)  # the last day whose tills are
        for demand in [d for d in self.demands if d.day <= closed]:
            self._sell(demand)

    # --- what happens in a store, whoever looks after it

    def _sell(self, demand: Demand) -> None:
        """Customers buy what is there and not held for somebody else."""
        stock = self._stock(demand.store_id, demand.sku)
        sold = min(demand.quantity, stock.on_hand - self._held(stock))
        if sold:
            self._move(demand.store_id, demand.sku, -sold, "sale")
        self.demands.update(demand.demand_id, day=demand.day + timedelta(days=demand.every_days))

    def _hold(self, store_id: StoreId, sku: ProductId, quantity: Quantity, customer: PersonName) -> Reservation:
        made = (store_id, sku, quantity, customer, self.now + HOLD)
        return self.reservations.add(Reservation(self.reservations.mint(), *made))

    def _send(self, origin: StoreId, destination: StoreId, sku: ProductId, quantity: Quantity) -> Transfer:
        near = self.stores.get(origin).region == self.stores.get(destination).region
        made = (origin, destination, sku, quantity, self.today, self.today + timedelta(days=1 if near else 2))
        transfer = self.transfers.add(Transfer(self.transfers.mint(), *made))
        self._move(origin, sku, -quantity, "transfer", transfer.transfer_id)
        return transfer

    def _order(self, store: Store, product: Product, cases: Cases) -> PurchaseOrder:
        units = cases * product.case_size
        total = units * product.unit_cost
        self.stores.update(store.store_id, budget=store.budget - total)
        made = (store.store_id, product.sku, product.supplier, units, total, self.today, self.today + timedelta(days=product.lead_days))
        return self.purchase_orders.add(PurchaseOrder(self.purchase_orders.mint(), *made))

    def _receive(self, order: PurchaseOrder, units: int) -> PurchaseOrder:
        self._move(order.store_id, order.sku, units, "delivery", order.purchase_order_id)
        received = order.received + units
        status = "received" if received == order.quantity else "delivered"
        return self.purchase_orders.update(order.purchase_order_id, received=received, status=status)

    def _move(self, store_id: StoreId, sku: ProductId, change: int, why: str, reference: str | None = None) -> Movement:
        stock = self._stock(store_id, sku)
        if stock.stock_id not in self.stock:
            self.stock.add(stock)
        on_hand = self.stock.update(stock.stock_id, on_hand=stock.on_hand + change).on_hand
        return self.movements.add(Movement(self.movements.mint(), store_id, sku, self.now, change, why, reference, on_hand))

    # --- rules

    def _month(self) -> date:
        """The first day of the month that the budgets are of."""
        return self.stores.one().month

    def _managed(self, store_id: StoreId) -> Store:
        store = self.stores.get(store_id)
        own = ", ".join(s.store_id for s in self.stores.where(managed=True))
        require(store.managed, "permission_denied", f"{store_id} ({store.name}) is looked after by somebody else; yours are {own}")
        return store

    def _stock(self, store_id: StoreId, sku: ProductId) -> Stock:
        """How much of a product a store has; nothing where it never had any."""
        return self.stock.find(f"{store_id}:{sku}") or Stock(f"{store_id}:{sku}", store_id, sku, 0, 0, 0)

    def _held(self, stock: Stock) -> int:
        return sum(r.quantity for r in self.reservations.where(sku=stock.sku, store_id=stock.store_id, status="held"))

    def _check_available(self, store_id: StoreId, sku: ProductId, quantity: Quantity) -> None:
        self._managed(store_id)
        stock = self._stock(store_id, sku)
        held = self._held(stock)
        left = stock.on_hand - held
        few = f"{store_id} has {left} of {sku} available ({stock.on_hand} on hand, {held} reserved), not {quantity}"
        require(quantity <= left, "resource_exhausted", few)

    def _instead(self, store_id: StoreId, sku: ProductId) -> str:
        """How a store can get what suppliers no longer have."""
        others = [s for s in self.stock.where(sku=sku) if s.store_id != store_id and self.stores.get(s.store_id).managed]
        free = [f"{s.store_id} ({left})" for s in others if (left := s.on_hand - self._held(s)) > 0]
        return f"transfer some from {', '.join(free)} instead" if free else "none of your other stores has any either"

    def _coming(self, sku: ProductId) -> list[Coming]:
        """What of a product is on its way to a store, or at its dock."""
        orders = [o for o in self.purchase_orders.where(sku=sku) if o.status != "received"]
        coming = [Coming(o.store_id, o.purchase_order_id, o.quantity - o.received, o.expected) for o in orders]
        transfers = self.transfers.where(sku=sku, status="in_transit")
        return coming + [Coming(t.destination, t.transfer_id, t.quantity, t.arrives) for t in transfers]

    def _level(self, stock: Stock) -> StockLevel:
        held, have, name = self._held(stock), stock.on_hand, self.stores.get(stock.store_id).name
        incoming = sum(c.quantity for c in self._coming(stock.sku) if c.store_id == stock.store_id)
        return StockLevel(stock.store_id, name, stock.sku, have, held, have - held, incoming, stock.reorder_point)


def midnight(day: date) -> Moment:
    return datetime.combine(day, time(), UTC)


def evening(day: date) -> Moment:
    return datetime.combine(day, CLOSING, UTC)


def next_month(day: date) -> date:
    """The first day of the month after."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
