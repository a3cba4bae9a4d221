"""Who is in the market: ids, named types, instruments and their tapes, orders and fills, and what the tools show of them."""

from typing import Annotated, Literal, NewType

from prove.servers import Day, Meta, Moment, Money, Record

Symbol = NewType("Symbol", str)
OrderId = NewType("OrderId", str)
RestingId = NewType("RestingId", str)
FillId = NewType("FillId", str)
ArrivalId = NewType("ArrivalId", str)

Side = Annotated[Literal["buy", "sell"], Meta(description="whether shares are bought or sold")]
Shares = Annotated[int, Meta(ge=1, le=5000, description="how many shares")]
LimitPrice = Annotated[int, Meta(gt=0, le=10_000_000, description="the worst price per share to accept, an amount in cents")]
Sector = Annotated[
    Literal["consumer", "energy", "finance", "health", "industry", "materials", "technology", "utilities"],
    Meta(description="the part of the economy a company belongs to"),
]
TimeInForce = Annotated[
    Literal["day", "gtc", "ioc", "fok"],
    Meta(description="how long it works: until midnight, until cancelled, fill at once what can be, or all at once or nothing"),
]
OrderStatus = Annotated[
    Literal["open", "partly_filled", "filled", "cancelled", "expired"],
    Meta(description="what has become of an order; open and partly_filled ones still work"),
]
Days = Annotated[int, Meta(ge=1, le=30, description="how many past trading days to show")]
Depth = Annotated[int, Meta(ge=1, le=10, description="how many price levels to show of each side")]

WORKING = ("open", "partly_filled")


class Resting(Record):
    """An order that waits in a book."""

    resting_id: RestingId
    symbol: Symbol
    side: Side
    price: LimitPrice
    quantity: Shares
    order_id: OrderId | None = None  # the trader's own, if it is


class Bar(Record):
    """One day's trading. Of a day without a trade, all prices are the last one before it."""

    day: Day
    open: Money
    high: Money
    low: Money
    close: Money
    volume: int

    def printed(self, price: Money, quantity: int) -> "Bar":
        """The bar after one more trade."""
        if not self.volume:
            return Bar(self.day, price, price, price, price, quantity)
        return Bar(self.day, self.open, max(self.high, price), min(self.low, price), price, self.volume + quantity)


class Instrument(Record):
    symbol: Symbol
    name: str
    sector: Sector
    shortable: bool
    halted_until: Moment | None = None

    def halted(self, at: Moment) -> bool:
        return self.halted_until is not None and self.halted_until > at


class Tape(Record):
    """The day's trading in a symbol so far, and the days before."""

    symbol: Symbol
    today: Bar
    bars: list[Bar]

    @property
    def last(self) -> Money:
        return self.today.close


class Arrival(Record):
    """Somebody else, who comes to the market again and again, with an order at so many thousandths above or below the last price."""

    arrival_id: ArrivalId
    at: Moment  # next time
    symbol: Symbol
    side: Side
    quantity: Shares
    distance: int
    waits: RestingId | None = None  # what is left of the last order


class Account(Record):
    account_id: str
    opening_cash: Money
    cash: Money


class Position(Record):
    symbol: Symbol
    quantity: int  # below zero: sold short
    cost: Money
    realised_gain: Money


class Order(Record):
    order_id: OrderId
    symbol: Symbol
    side: Side
    quantity: Shares
    limit_price: LimitPrice | None
    time_in_force: TimeInForce
    placed: Moment
    since: Moment  # it has been for that price since
    status: OrderStatus = "open"
    filled: int = 0
    value: Money = 0  # of the shares filled so far

    @property
    def left(self) -> int:
        return self.quantity - self.filled

    @property
    def works(self) -> bool:
        return self.status in WORKING


class Fill(Record):
    fill_id: FillId
    order_id: OrderId
    at: Moment
    quantity: Shares
    price: Money


class InstrumentLine(Record):
    symbol: Symbol
    name: str
    sector: Sector


class Quote(Record):
    symbol: Symbol
    last: Money
    change: Money  # since the previous day's close
    bid: Money | None
    bid_size: int
    ask: Money | None
    ask_size: int
    today: Bar
    shortable: bool
    halted: bool


class Level(Record):
    price: Money
    quantity: int
    orders: int


class OrderBook(Record):
    symbol: Symbol
    bids: list[Level]
    asks: list[Level]


class PriceHistory(Record):
    symbol: Symbol
    change: Money  # from the first close to the last
    highest: Money
    lowest: Money
    bars: list[Bar]


class Portfolio(Record):
    cash: Money
    long_value: Money
    short_value: Money
    equity: Money
    reserved: Money  # by orders that still work
    buying_power: Money
    unrealised_gain: Money
    realised_gain: Money


class PositionLine(Record):
    symbol: Symbol
    quantity: int


class PositionDetails(Record):
    symbol: Symbol
    quantity: int
    average_price: Money
    last: Money
    market_value: Money
    unrealised_gain: Money
    realised_gain: Money


class OrderLine(Record):
    order_id: OrderId
    symbol: Symbol
    side: Side
    quantity: Shares
    limit_price: LimitPrice | None
    status: OrderStatus
    placed: Moment


class OrderDetails(Record):
    order: Order
    average_price: Money | None
    fills: list[Fill]
