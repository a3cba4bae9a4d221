"""A stock market with one order book a symbol, and one trader's margin account in it. Prices and money are in cents.

Orders match by price, then by time. The market never closes; its day ends at midnight UTC. Other traders' orders rest in
the book, and more of them arrive as time passes, so that an order that waits may be filled later.
"""

from datetime import UTC, datetime, time, timedelta

from prove.servers import (
    Limit, Moment, Money, Offset, Page, Query, Server, ToolError, matches, newest, page, read, require, table, write,
)  # fmt: skip
from .book import average, booked, levels, opening, queue, reach
from .records import (
    Account, Arrival, Bar, Days, Depth, Fill, Instrument, InstrumentLine, LimitPrice, Order, OrderBook, OrderDetails, OrderId,
    OrderLine, OrderStatus, Portfolio, Position, PositionDetails, PositionLine, PriceHistory, Quote, Resting, RestingId, Sector,
    Shares, Side, Symbol, Tape, TimeInForce,
)  # fmt: skip

COLLAR = 20  # a limit price lies within so many per cent of the last price
LEVERAGE = 2  # initial margin is one half: a cent of equity carries two cents of stock
BARS = 30  # trading days of history kept
COMES_AGAIN = timedelta(days=4)  # when somebody who has been to the market is there the next time


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
        change, halted = tape.last - tape.bars[-1].close, instrument.halted(self.now)
        return Quote(symbol, tape.last, change, bid, bid_size, ask, ask_size, tape.today, instrument.shortable, halted)

    @read
    def get_order_book(self, symbol: Symbol, depth: Depth = 5) -> OrderBook:
        """Show how many shares are bid for and offered at each price, best first."""
        return OrderBook(symbol, levels(self._queue(symbol, "buy"))[:depth], levels(self._queue(symbol, "sell"))[:depth])

    @read
    def get_price_history(self, symbol: Symbol, days: Days = 10) -> PriceHistory:
        """Show the daily bars of the last days before today, oldest first."""
        bars = self.tapes.get(symbol).bars[-days:]
        return PriceHistory(symbol, bars[-1].close - bars[0].close, max(b.high for b in bars), min(b.low for b in bars), bars)

    # --- what the trader owns

    @read
    def get_portfolio(self) -> Portfolio:
        """Sum up the account: cash, market value, equity, buying power and gains."""
        cash, (long, short), reserved = self.accounts.one().cash, self._market_values(), self._reserved(self._working())
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
        working = ", ".join(o.order_id for o in self._working() if o.symbol == symbol)
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
        order = Order(self.orders.mint(), symbol, side, quantity, limit_price, time_in_force, self.now, self.now)
        return self._work(self.orders.add(order))

    @read
    def list_orders(
        self,
        status: OrderStatus | None = None,
        symbol: Symbol | None = None,
        side: Side | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[OrderLine]:
        """List the trader's orders, newest first."""
        found = [o for o in self.orders if symbol in (None, o.symbol) and status in (None, o.status) and side in (None, o.side)]
        return page(newest(found, lambda o: o.placed), limit, OrderLine, offset)

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
        return self._work(self.orders.update(order_id, since=self.now))

    @write(destructive=True)
    def cancel_order(self, order_id: OrderId) -> Order:
        """Take what is left of an order out of the book."""
        return self._end(self._order_that_works(order_id), "cancelled")

    # --- matching

    def _work(self, order: Order) -> Order:
        """Match an order; what is left then waits in the book, or is cancelled if it must not wait."""
        partners = list(reach(self._facing(order.symbol, order.side), order.left, order.limit_price))
        self._check(order, partners)
        killed = order.time_in_force == "fok" and sum(traded for _, traded in partners) < order.left
        if not killed:
            self._match(order.symbol, order.side, order.left, order.limit_price, order.order_id)
            order = self.orders.get(order.order_id)
        if order.left and order.limit_price is not None and order.time_in_force in ("day", "gtc"):
            self._rest(order.symbol, order.side, order.limit_price, order.left, order.order_id)
            return order
        return self._end(order, "cancelled") if order.left else order

    def _match(self, symbol: Symbol, side: Side, quantity: int, limit_price: int | None, order_id: OrderId | None = None) -> int:
        """Trade against the other side of the book; returns how many shares are left."""
        for waiting, traded in reach(self._facing(symbol, side), quantity, limit_price):
            if traded == waiting.quantity:
                self.resting.remove(waiting.resting_id)
            else:
                self.resting.update(waiting.resting_id, quantity=waiting.quantity - traded)
            self.tapes.update(symbol, today=self.tapes.get(symbol).today.printed(waiting.price, traded))
            for mine in filter(None, (order_id, waiting.order_id)):
                self._fill(mine, traded, waiting.price, self.now)
            quantity -= traded
        return quantity

    def _facing(self, symbol: Symbol, side: Side) -> list[Resting]:
        """The other side of the book."""
        return self._queue(symbol, "sell" if side == "buy" else "buy")

    def _queue(self, symbol: Symbol, side: Side) -> list[Resting]:
        return queue(self.resting.where(symbol=symbol, side=side))

    def _best(self, symbol: Symbol, side: Side) -> tuple[Money | None, int]:
        best = levels(self._queue(symbol, side))[:1]
        return (best[0].price, best[0].quantity) if best else (None, 0)

    def _rest(self, symbol: Symbol, side: Side, price: int, quantity: int, order_id: OrderId | None = None) -> RestingId:
        return self.resting.add(Resting(self.resting.mint(), symbol, side, price, quantity, order_id)).resting_id

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
        free = not instrument.halted(self.now)
        require(free, "failed_precondition", f"trading in {order.symbol} is halted until {instrument.halted_until}: try again then")
        if order.limit_price is None:
            nobody = f"nobody offers to trade {order.symbol} now: place an order with a limit_price, which waits"
            require(partners, "resource_exhausted", nobody)
        elif abs(order.limit_price - last) * 100 > COLLAR * last:
            far = f"{order.limit_price} is more than {COLLAR} per cent from the last price of {order.symbol}, {last}"
            lowest, highest = last - COLLAR * last // 100, last + COLLAR * last // 100
            raise ToolError("invalid_argument", f"{far}: choose one between {lowest} and {highest}")
        own = ", ".join(waiting.order_id for waiting, _ in partners if waiting.order_id)
        require(not own, "failed_precondition", f"it would trade with the trader's own {own}: cancel or replace that first")
        self._check_margin(order, order.limit_price or max(waiting.price for waiting, _ in partners), instrument.shortable)

    def _check_margin(self, order: Order, price: int, shortable: bool) -> None:
        """What an order would open needs buying power, and shares that can be sold short; all others that work keep what they have."""
        others = [o for o in self._working() if o.order_id != order.order_id]
        short = opening(order, self._quantity(order.symbol), others)
        free = order.left - short
        cannot = f"only {free} shares of {order.symbol} are free to sell, and it cannot be sold short: sell fewer"
        allowed = short == 0 or order.side == "buy" or shortable
        require(allowed, "failed_precondition", f"{cannot}, cancel another sell order, or buy more first")
        power = self._buying_power(self._reserved(others))
        most = f"at most {order.filled + free + power // price} shares can be ordered at {price}"
        needs = f"this needs {short * price} cents of buying power, and {power} are left: {most}"
        require(short * price <= power, "resource_exhausted", needs)

    def _reserved(self, orders: list[Order]) -> Money:
        """What orders, given oldest first, would need to be filled."""
        needed = ((opening(o, self._quantity(o.symbol), orders[:i]), o.limit_price or 0) for i, o in enumerate(orders))
        return sum(shares * price for shares, price in needed)

    def _buying_power(self, reserved: Money) -> Money:
        long, short = self._market_values()
        equity = self.accounts.one().cash + long - short
        return max(0, LEVERAGE * equity - long - short - reserved)

    def _market_values(self) -> tuple[Money, Money]:
        """What the shares held are worth, and what those sold short would cost."""
        values = [p.quantity * self.tapes.get(p.symbol).last for p in self.positions]
        return sum(v for v in values if v > 0), -sum(v for v in values if v < 0)

    def _quantity(self, symbol: Symbol) -> int:
        held = self.positions.find(symbol)
        return held.quantity if held else 0

    def _working(self) -> list[Order]:
        return [o for o in self.orders if o.works]

    def _order_that_works(self, order_id: OrderId) -> Order:
        order = self.orders.get(order_id)
        require(order.works, "failed_precondition", f"{order_id} is {order.status} and no longer works: place a new order instead")
        return order

    def _held(self, symbol: Symbol) -> Position:
        held = self.positions.find(symbol)
        if held is None or held.quantity == 0:
            raise ToolError("not_found", f"no shares of {symbol} are held: list_positions shows what is")
        return held

    # --- as time passes

    def due(self) -> Moment:
        """The next midnight, at which a trading day ends, or the next trader's coming if that is sooner."""
        midnight = datetime.combine(self.tapes.one().today.day + timedelta(days=1), time(), UTC)
        return min([midnight, *(a.at for a in self.arrivals)])

    def elapse(self) -> None:
        """A day ends; other traders come, trade or wait, and will come again."""
        self._end_days_before_today()
        for arrival in sorted((a for a in self.arrivals if a.at <= self.now), key=lambda a: (a.at, a.arrival_id)):
            if arrival.waits and arrival.waits in self.resting:
                self.resting.remove(arrival.waits)  # nobody waits at last time's price and at this time's
            waits = None
            if not self.instruments.get(arrival.symbol).halted(self.now):
                last = self.tapes.get(arrival.symbol).last
                waits = self._arrive(arrival.symbol, arrival.side, arrival.quantity, max(1, last + last * arrival.distance // 1000))
            self.arrivals.update(arrival.arrival_id, at=arrival.at + COMES_AGAIN, waits=waits)

    def _arrive(self, symbol: Symbol, side: Side, quantity: int, price: int) -> RestingId | None:
        """Somebody else's order trades with what it can; the rest of it waits."""
        left = self._match(symbol, side, quantity, price)
        return self._rest(symbol, side, price, left) if left else None

    def _end_days_before_today(self) -> None:
        if self.tapes.one().today.day == self.today:
            return
        for tape in self.tapes:
            bars, last = [*tape.bars, tape.today][-BARS:], tape.last
            self.tapes.update(tape.symbol, today=Bar(self.today, last, last, last, last, 0), bars=bars)
        for order in self._working():
            if order.time_in_force == "day" and order.placed.date() < self.today:
                self._end(order, "expired")
