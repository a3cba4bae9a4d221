"""What a retail chain is made of: ids, named types, stores and stock, what is held, sent and ordered, and what the tools show of it."""

from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, Meta, Moment, Money, PersonName, Quantity, Record

StoreId = NewType("StoreId", str)
ProductId = NewType("ProductId", str)
ReservationId = NewType("ReservationId", str)
TransferId = NewType("TransferId", str)
PurchaseOrderId = NewType("PurchaseOrderId", str)
MovementId = NewType("MovementId", str)

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
ReservationStatus = Annotated[
    Literal["held", "collected", "released", "expired"], Meta(description="whether goods are held, or how that came to an end")
]
OrderStatus = Annotated[
    Literal["ordered", "delivered", "received"],
    Meta(description="ordered: on its way; delivered: at the store's dock, all or part still to be received; received: all in stock"),
]


class Store(Record):
    store_id: StoreId
    name: str
    city: str
    region: Region
    managed: bool  # whether the signed-in manager looks after it
    monthly_budget: Money  # what it may spend on purchase orders in a month; what is left lapses
    budget: Money  # what of it is left
    month: Day  # in the month that begins on that day


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


class Demand(Record):
    """What customers buy of a product in a store, and how often."""

    demand_id: str
    store_id: StoreId
    sku: ProductId
    quantity: Quantity
    every_days: int
    day: Day  # next time


class Reservation(Record):
    reservation_id: ReservationId
    store_id: StoreId
    sku: ProductId
    quantity: Quantity
    customer: PersonName
    until: Moment
    status: ReservationStatus = "held"


class Transfer(Record):
    transfer_id: TransferId
    origin: StoreId
    destination: StoreId
    sku: ProductId
    quantity: Quantity
    sent: Day
    arrives: Day
    status: Literal["in_transit", "arrived"] = "in_transit"


class PurchaseOrder(Record):
    purchase_order_id: PurchaseOrderId
    store_id: StoreId
    sku: ProductId
    supplier: str
    quantity: int
    total: Cents
    ordered: Day
    expected: Day
    received: int = 0
    status: OrderStatus = "ordered"


class Movement(Record):
    """What changed the stock of a product in a store."""

    movement_id: MovementId
    store_id: StoreId
    sku: ProductId
    at: Moment
    change: int
    why: Literal["sale", "delivery", "transfer", "reservation", "damaged", "stolen", "expired", "found", "returned"]
    reference: str | None  # of the purchase order, transfer or reservation
    on_hand: int  # afterwards


class MovementLine(Record):
    store_id: StoreId
    at: Moment
    change: int
    why: str
    reference: str | None


class Coming(Record):
    """Goods on their way to a store, or at its dock."""

    store_id: StoreId
    reference: str  # of the purchase order or transfer
    quantity: int
    expected: Day


class StockLevel(Record):
    store_id: StoreId
    store: str
    sku: ProductId
    on_hand: int
    reserved: int
    available: int
    incoming: int
    reorder_point: int


class Inventory(Record):
    """A product's stock in some stores, the soonest goods to come there, and what moved there last."""

    items: list[StockLevel]
    total: int
    coming: list[Coming]
    movements: list[MovementLine]
