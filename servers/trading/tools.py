"""A stock market with one order book a symbol, and one trader's margin account in it. Prices and money are in cents.

Orders match by price, then by time. The market never closes; its day ends at midnight UTC. Other traders' orders rest in
the book, and more of them arrive as time passes, so that an order that waits may be filled later.
"""

from typing import Annotated, Literal, NewType

from prove.servers import (
    Day,
    Limit,
    Meta,
    Moment,
    Money,
    Page,
    Query,
    Record,
    Server,
    ToolError,
    matches,
    page,
    read,
    require,
    table,
    write,
)
from servers.trading.book import (
    Bar,
    Level,
    LimitPrice,
    OrderId,
    Resting,
    Shares,
    Side,
    Symbol,
    average,
    booked,
    levels,
    queue,
    reach,
)

FillId = NewType("FillId", str)
ArrivalId = NewType("ArrivalId", str)

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
COLLAR = 20  # a limit price lies within so many per cent of the last price
LEVERAGE = 2  # initial margin is one half: a cent of equity carries two cents of stock
BARS = 30  # trading days of history kept


class Instrument(Record):
    symbol: Symbol
    name: str
    sector: Sector
    shortable: bool
    halted_until: Moment | None = None


class Tape(Record):
    """The day's trading in a symbol so far, and the days before."""

    symbol: Symbol
    today: Bar
    bars: list[Bar]

    @property
    def last(self) -> Money:
        return self.today.close


class Arrival(Record):
    """Somebody else's order, still to come."""

    arrival_id: ArrivalId
    at: Moment
    symbol: Symbol
    side: Side
    quantity: Shares
    price: LimitPrice


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
    status: OrderStatus = "open"
    filled: int = 0
    value: Money = 0  # of the shares filled so far

    @property
    def left(self) -> int:
        return self.quantity - self.filled


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
    placed: Moment


class OrderDetails(Record):
    order: Order
    average_price: Money | None
    fills: list[Fill]


class Trading(Server):
    """Quotes, order books, orders and positions of one trader with a margin account."""

    category = "Finance"

    instruments = table(Instrument)
    tapes = table(Tape)
    resting = table(Resting, "BK-{}", start=100001)
    arrivals = table(Arrival, "ARR-{}", start=1001)
    accounts = table(Account)
    positions = table(Position)
    orders = table(Order, "ORD-{}", start=70001)
    fills = table(Fill, "FIL-{}", start=4001)

    # --- the market

    @read
    def search_symbols(self, query: Query | None = None, sector: Sector | None = None, limit: Limit = 10) -> Page[InstrumentLine]:
        """Find what is traded, by symbol or company name."""
        found = (i for i in self.instruments if sector in (None, i.sector) and matches(query, i.symbol, i.name))
        return page(found, limit, InstrumentLine)

    @read
    def get_quote(self, symbol: Symbol) -> Quote:
        """Show the last price, the best bid and ask, the day's trading, and whether a symbol is halted or can be sold short."""
        instrument, tape = self.instruments.get(symbol), self.tapes.get(symbol)
        (bid, bid_size), (ask, ask_size) = self._best(symbol, "buy"), self._best(symbol, "sell")
        change, halted = tape.last - tape.bars[-1].close, _halted(instrument, self.now)
        return Quote(symbol, tape.last, change, bid, bid_size, ask, ask_size, tape.today, instrument.shortable, halted)

    @read
    def get_order_book(self, symbol: Symbol, depth: Depth = 5) -> OrderBook:
        """Show how many shares are bid for and offered at each price, best first."""
        self.instruments.get(symbol)
        return OrderBook(symbol, levels(self._queue(symbol, "buy"))[:depth], levels(self._queue(symbol, "sell"))[:depth])

    @read
    def get_price_history(self, symbol: Symbol, days: Days = 10) -> PriceHistory:
        """Show the daily bars of the last days before today, oldest first."""
        self.instruments.get(symbol)
        bars = self.tapes.get(symbol).bars[-days:]
        return PriceHistory(symbol, bars[-1].close - bars[0].close, max(b.high for b in bars), min(b.low for b in bars), bars)

    # --- what the trader owns

    @read
    def get_portfolio(self) -> Portfolio:
        """Sum up the account: cash, market value, equity, buying power and gains."""
        cash, (long, short), reserved = self.accounts.one().cash, self._market_values(), self._reserved()
        unrealised = long - short - sum(p.cost for p in self.positions)
        realised = sum(p.realised_gain for p in self.positions)
        return Portfolio(cash, long, short, cash + long - short, reserved, self._buying_power(reserved), unrealised, realised)

    @read
    def list_positions(self, limit: Limit = 20) -> Page[PositionLine]:
        """List the symbols held, with the number of shares; below zero where they are sold short."""
        return page((p for p in self.positions if p.quantity), limit, PositionLine)

    @read
    def get_position(self, symbol: Symbol) -> PositionDetails:
        """Show what a holding cost, what it is worth and what it has gained."""
        held, last = self._held(symbol), self.tapes.get(symbol).last
        value = held.quantity * last
        price = average(held.cost, held.quantity)
        return PositionDetails(symbol, held.quantity, price, last, value, value - held.cost, held.realised_gain)

    @write(destructive=True)
    def close_position(self, symbol: Symbol) -> Order:
        """Sell all shares of a symbol, or buy back those sold short, at the market."""
        held = self._held(symbol)
        working = ", ".join(o.order_id for o in self._working(symbol))
        require(not working, "failed_precondition", f"orders for {symbol} still work: cancel {working} first")
        return self.place_order(symbol, "sell" if held.quantity > 0 else "buy", abs(held.quantity))

    # --- orders

    @write
    def place_order(
        self,
        symbol: Symbol,
        side: Side,
        quantity: Shares,
        limit_price: LimitPrice | None = None,
        time_in_force: TimeInForce = "day",
    ) -> Order:
        """Buy or sell shares: at the market, or with a limit_price, at which what is not filled at once waits in the book."""
        self.instruments.get(symbol)
        order = Order(self.orders.mint(), symbol, side, quantity, limit_price, time_in_force, self.now)
        return self._work(self.orders.add(order))

    @read
    def list_orders(
        self, status: OrderStatus | None = None, symbol: Symbol | None = None, side: Side | None = None, limit: Limit = 10
    ) -> Page[OrderLine]:
        """List the trader's orders, newest first."""
        chosen = self.orders.where(symbol=self.instruments.get(symbol).symbol) if symbol else self.orders
        found = [o for o in chosen if status in (None, o.status) and side in (None, o.side)]
        return page(reversed(found), limit, OrderLine)

    @read
    def get_order(self, order_id: OrderId) -> OrderDetails:
        """Show one order: its status, limit, and the fills with their prices."""
        order = self.orders.get(order_id)
        price = average(order.value, order.filled) if order.filled else None
        return OrderDetails(order, price, self.fills.where(order_id=order_id))

    @write
    def replace_order(self, order_id: OrderId, quantity: Shares | None = None, limit_price: LimitPrice | None = None) -> Order:
        """Change an order that waits; it keeps its place in the queue only if nothing but its quantity falls."""
        before = self._order_that_works(order_id)
        order = self.orders.update(order_id, quantity=quantity or before.quantity, limit_price=limit_price or before.limit_price)
        require(order != before, "invalid_argument", f"nothing would change: say which quantity or limit_price {order_id} should have")
        require(order.left > 0, "failed_precondition", f"{before.filled} shares are filled already: cancel {order_id} to stop there")
        waiting = self.resting.where(order_id=order_id)[0]
        if order.limit_price == before.limit_price and order.quantity < before.quantity:
            self.resting.update(waiting.resting_id, quantity=order.left)
            return order
        self.resting.remove(waiting.resting_id)
        return self._work(order)

    @write(destructive=True)
    def cancel_order(self, order_id: OrderId) -> Order:
        """Take what is left of an order out of the book."""
        return self._end(self._order_that_works(order_id), "cancelled")

    # --- matching

    def _work(self, order: Order) -> Order:
        """Match an order; what is left then waits in the book, or is cancelled if it must not wait."""
        partners = self._reach(order)
        self._check(order, partners)
        killed = order.time_in_force == "fok" and sum(traded for _, traded in partners) < order.left
        if not killed:
            self._match(order.symbol, order.side, order.left, order.limit_price, self.now, order.order_id)
            order = self.orders.get(order.order_id)
        if order.left and order.limit_price is not None and order.time_in_force in ("day", "gtc"):
            self._rest(order.symbol, order.side, order.limit_price, order.left, order.order_id)
            return order
        return self._end(order, "cancelled") if order.left else order

    def _match(
        self, symbol: Symbol, side: Side, quantity: int, limit_price: int | None, at: Moment, order_id: OrderId | None = None
    ) -> int:
        """Trade against the other side of the book; returns how many shares are left."""
        for waiting, traded in reach(self._facing(symbol, side), quantity, limit_price):
            if traded == waiting.quantity:
                self.resting.remove(waiting.resting_id)
            else:
                self.resting.update(waiting.resting_id, quantity=waiting.quantity - traded)
            self.tapes.update(symbol, today=self.tapes.get(symbol).today.printed(waiting.price, traded))
            for mine in filter(None, (order_id, waiting.order_id)):
                self._fill(mine, traded, waiting.price, at)
            quantity -= traded
        return quantity

    def _reach(self, order: Order) -> list[tuple[Resting, int]]:
        """The waiting orders with which an order would trade, and how many shares with each."""
        return list(reach(self._facing(order.symbol, order.side), order.left, order.limit_price))

    def _facing(self, symbol: Symbol, side: Side) -> list[Resting]:
        """The other side of the book."""
        return self._queue(symbol, "sell" if side == "buy" else "buy")

    def _queue(self, symbol: Symbol, side: Side) -> list[Resting]:
        return queue(self.resting.where(symbol=symbol, side=side))

    def _best(self, symbol: Symbol, side: Side) -> tuple[Money | None, int]:
        best = levels(self._queue(symbol, side))[:1]
        return (best[0].price, best[0].quantity) if best else (None, 0)

    def _rest(self, symbol: Symbol, side: Side, price: int, quantity: int, order_id: OrderId | None = None) -> None:
        self.resting.add(Resting(self.resting.mint(), symbol, side, price, quantity, order_id))

    def _end(self, order: Order, status: OrderStatus) -> Order:
        for waiting in self.resting.where(order_id=order.order_id):
            self.resting.remove(waiting.resting_id)
        return self.orders.update(order.order_id, status=status)

    def _fill(self, order_id: OrderId, quantity: int, price: int, at: Moment) -> None:
        """Book a trade of the trader's: on the order, in cash, and on the position at its average cost."""
        order, account = self.orders.get(order_id), self.accounts.one()
        status = "filled" if order.left == quantity else "partly_filled"
        self.orders.update(order_id, filled=order.filled + quantity, value=order.value + quantity * price, status=status)
        self.fills.add(Fill(self.fills.mint(), order_id, at, quantity, price))
        shares = quantity if order.side == "buy" else -quantity
        self.accounts.update(account.account_id, cash=account.cash - shares * price)
        held = self.positions.find(order.symbol) or self.positions.add(Position(order.symbol, 0, 0, 0))
        cost, gain = booked(held.quantity, held.cost, shares, price)
        self.positions.update(order.symbol, quantity=held.quantity + shares, cost=cost, realised_gain=held.realised_gain + gain)

    # --- rules

    def _check(self, order: Order, partners: list[tuple[Resting, int]]) -> None:
        """Whether the market and the margin account take an order that would trade with these partners."""
        instrument, last = self.instruments.get(order.symbol), self.tapes.get(order.symbol).last
        free = not _halted(instrument, self.now)
        require(free, "failed_precondition", f"trading in {order.symbol} is halted until {instrument.halted_until}: try again then")
        if order.limit_price is None:
            require(partners, "resource_exhausted", f"nobody offers to trade {order.symbol} now: give a limit_price and wait")
        elif abs(order.limit_price - last) * 100 > COLLAR * last:
            far = f"{order.limit_price} is more than {COLLAR} per cent from the last price of {order.symbol}, {last}"
            raise ToolError("invalid_argument", f"{far}: choose one nearer to it")
        own = ", ".join(waiting.order_id for waiting, _ in partners if waiting.order_id)
        require(not own, "failed_precondition", f"it would trade with the trader's own {own}: cancel or replace that first")
        self._check_margin(order, order.limit_price or max(waiting.price for waiting, _ in partners), instrument.shortable)

    def _check_margin(self, order: Order, price: int, shortable: bool) -> None:
        opening = self._opening(order)
        allowed = opening == 0 or order.side == "buy" or shortable
        free = f"only {order.left - opening} shares of {order.symbol} are free to sell"
        require(allowed, "failed_precondition", f"{free}, and it cannot be sold short: cancel a sell order or buy more first")
        needed, power = opening * price, self._buying_power(self._reserved(without=order.order_id))
        require(needed <= power, "resource_exhausted", f"this needs {needed} cents of buying power, and {power} are left")

    def _opening(self, order: Order) -> int:
        """How many shares of an order open or enlarge a position, as the older orders leave nothing held to close."""
        held = self.positions.find(order.symbol)
        closable = (held.quantity if order.side == "sell" else -held.quantity) if held else 0
        for other in self._working(order.symbol):
            if other.order_id == order.order_id:
                break
            closable -= other.left if other.side == order.side else 0
        return order.left - min(order.left, max(0, closable))

    def _reserved(self, without: OrderId | None = None) -> Money:
        return sum(self._opening(o) * (o.limit_price or 0) for o in self._working() if o.order_id != without)

    def _buying_power(self, reserved: Money) -> Money:
        long, short = self._market_values()
        equity = self.accounts.one().cash + long - short
        return max(0, LEVERAGE * equity - long - short - reserved)

    def _market_values(self) -> tuple[Money, Money]:
        """What the shares held are worth, and what those sold short would cost."""
        values = [p.quantity * self.tapes.get(p.symbol).last for p in self.positions]
        return sum(v for v in values if v > 0), -sum(v for v in values if v < 0)

    def _working(self, symbol: Symbol | None = None) -> list[Order]:
        return [o for o in (self.orders.where(symbol=symbol) if symbol else self.orders) if o.status in WORKING]

    def _order_that_works(self, order_id: OrderId) -> Order:
        order = self.orders.get(order_id)
        require(order.status in WORKING, "failed_precondition", f"{order_id} is {order.status}: it no longer works")
        return order

    def _held(self, symbol: Symbol) -> Position:
        self.instruments.get(symbol)
        held = self.positions.find(symbol)
        if held is None or held.quantity == 0:
            raise ToolError("not_found", f"no shares of {symbol} are held: list_positions shows what is")
        return held

    # --- as time passes

    def elapse(self) -> None:
        """Other traders' orders arrive, each in its time, and days end."""
        due = [a for a in self.arrivals if a.at <= self.now]
        for arrival in sorted(due, key=lambda a: (a.at, a.arrival_id)):
            self.arrivals.remove(arrival.arrival_id)
            self._end_days_before(arrival.at.date())
            if not _halted(self.instruments.get(arrival.symbol), arrival.at):
                left = self._match(arrival.symbol, arrival.side, arrival.quantity, arrival.price, arrival.at)
                if left:
                    self._rest(arrival.symbol, arrival.side, arrival.price, left)
        self._end_days_before(self.today)

    def _end_days_before(self, day: Day) -> None:
        for tape in [t for t in self.tapes if t.today.day < day]:
            bars, last = [*tape.bars, tape.today][-BARS:], tape.last
            self.tapes.update(tape.symbol, today=Bar(day, last, last, last, last, 0), bars=bars)
        for order in self._working():
            if order.time_in_force == "day" and order.placed.date() < day:
                self._end(order, "expired")


def _halted(instrument: Instrument, at: Moment) -> bool:
    return instrument.halted_until is not None and instrument.halted_until > at
