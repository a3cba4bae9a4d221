"""A market of 24 companies with thirty days behind it and two weeks of other traders' orders to come, and one trader in it."""

from prove.servers.maker import Maker
from servers.trading.book import Bar
from servers.trading.tools import Account, Arrival, Instrument, Order, Tape, Trading

COMPANIES = (  # symbol, name, sector, usual price in cents
    ("HLCN", "Halcyon Robotics", "technology", 8_420),
    ("QRRY", "Quarry Software", "technology", 11_260),
    ("LUMN", "Lumen & Pine Semiconductors", "technology", 9_380),
    ("ORBT", "Orbital Networks", "technology", 4_175),
    ("NWNE", "Northwind Energy", "energy", 6_240),
    ("NWNF", "Northwind Foods", "consumer", 5_510),  # easily taken for the one above
    ("SOLR", "Solera Solar", "energy", 3_885),
    ("BRNT", "Brentwater Oil", "energy", 7_120),
    ("MPLH", "Maple Health", "health", 9_030),
    ("VRDX", "Veridex Diagnostics", "health", 6_675),
    ("KLTH", "Kelthorpe Pharma", "health", 12_140),
    ("CRDW", "Cardwell Bank", "finance", 5_290),
    ("HRRW", "Harrow Mutual Insurance", "finance", 7_745),
    ("FNBR", "Finbridge Capital", "finance", 10_310),
    ("GRNL", "Greenleaf Markets", "consumer", 4_630),
    ("STCH", "Stitch & Sole Apparel", "consumer", 3_540),
    ("RLHS", "Reelhouse Entertainment", "consumer", 8_905),
    ("ORNL", "Orion Logistics", "industry", 6_020),
    ("ALDR", "Alder Aerospace", "industry", 11_780),
    ("TRNM", "Tarn Machine Works", "industry", 4_960),
    ("CPRV", "Copper Valley Mining", "materials", 3_720),
    ("PNCR", "Pinecrest Paper", "materials", 5_845),
    ("CTYU", "City Utilities", "utilities", 6_390),
    ("BLWR", "Bluewater Grid", "utilities", 7_480),
)
NOT_SHORTABLE = ("STCH", "CPRV", "TRNM", "PNCR")
HALTED, ILLIQUID = "VRDX", "TRNM"
HELD = 8  # symbols that the trader has traded in
DAYS_AHEAD, ARRIVALS_EACH = 14, 10


def populate(market: Trading, make: Maker) -> None:
    for symbol, name, sector, usual in COMPANIES:
        halted_until = make.moment(1, hour=14) if symbol == HALTED else None
        market.instruments.add(Instrument(symbol, name, sector, symbol not in NOT_SHORTABLE, halted_until))
        _tape(market, make, symbol, usual)
        _book(market, make, symbol)
    cash = make.between(3_500_000, 6_000_000, 10_000)
    market.accounts.add(Account("ACCT-1", cash, cash))
    traded = make.some([symbol for symbol, *_ in COMPANIES if symbol not in (HALTED, ILLIQUID)], HELD)
    _past_trades(market, make, traded)
    _waiting_orders(market, make, [*traded[:5], *make.some(["HLCN", "NWNE", "CTYU", "GRNL"], 2)])
    _arrivals(market, make)


def _tape(market: Trading, make: Maker, symbol: str, usual: int) -> None:
    """Thirty daily bars that wander about the usual price, and the present day so far."""
    close, bars = usual * make.between(88, 112) // 100, []
    for ago in range(30, -1, -1):
        start = close
        close = max(500, start + start * make.between(-22, 23) // 1000)
        high, low = (max(start, close) + make.between(0, start // 90), min(start, close) - make.between(0, start // 90))
        bars.append(Bar(make.day(-ago), start, high, low, close, make.between(2_000, 60_000, 10) if ago else make.between(500, 9_000, 10)))
    *past, today = bars
    market.tapes.add(Tape(symbol, today, past))


def _book(market: Trading, make: Maker, symbol: str) -> None:
    """Some orders on each side, fewer shares near the last price than far from it."""
    last = market.tapes.get(symbol).last
    tick = max(1, last // 1200)
    for side, sign in (("buy", -1), ("sell", 1)):
        levels = 1 if symbol == ILLIQUID else 5
        for level in range(1, levels + 1):
            price = last + sign * tick * (2 * level - 1)
            for _ in range(make.between(1, 2)):
                market._rest(symbol, side, price, make.between(10, 60 * level, 5))


def _past_trades(market: Trading, make: Maker, symbols: list[str]) -> None:
    """What the trader did in the last four weeks, oldest first: holdings, one sold out again, one sold short, one order left alone."""
    *held, sold_out, short = symbols
    plan = [(make.between(8, 28), symbol, "buy", make.between(10, 80, 5)) for symbol in (*held, held[0], sold_out)]
    plan += [(7, sold_out, "sell", next(quantity for _, symbol, _, quantity in plan if symbol == sold_out))]
    plan += [(6, held[1], "sell", 5)]
    if short not in NOT_SHORTABLE:
        plan += [(make.between(3, 5), short, "sell", make.between(10, 30, 5))]
    for ago, symbol, side, quantity in sorted(plan, key=lambda p: -p[0]):
        order = _past_order(market, make, ago, symbol, side, quantity)
        price, at = market.tapes.get(symbol).bars[-ago].close, order.placed
        first = quantity // 2 if make.chance(0.3) else quantity  # some were filled in two parts
        for part in filter(None, (first, quantity - first)):
            market._fill(order.order_id, part, price + (part != first), at)
    for ago, status in ((2, "cancelled"), (2, "expired"), (1, "expired")):
        order = _past_order(market, make, ago, make.pick(symbols), "buy", make.between(10, 60, 5), below=6)
        market._end(order, status)


def _past_order(market: Trading, make: Maker, ago: int, symbol: str, side: str, quantity: int, below: int = 0) -> Order:
    limit = market.tapes.get(symbol).bars[-ago].close * (100 - below) // 100 if below else None
    placed = make.moment(-ago, make.between(8, 20), make.between(0, 59))
    return market.orders.add(Order(market.orders.mint(), symbol, side, quantity, limit, "day", placed))


def _waiting_orders(market: Trading, make: Maker, symbols: list[str]) -> None:
    """Orders of the trader that wait in the book at a better price than the last, one of them filled in part."""
    for position, symbol in enumerate(symbols):
        held, last = market.positions.find(symbol), market.tapes.get(symbol).last
        side = "sell" if held and held.quantity > 10 and position % 2 else "buy"
        quantity = make.between(5, 10) if side == "sell" else make.between(10, 50, 5)
        away = last * make.between(1, 6) // 100
        price = last + away if side == "sell" else last - away
        placed = make.moment(-make.between(1, 4), make.between(8, 20), make.between(0, 59))
        order = market.orders.add(Order(market.orders.mint(), symbol, side, quantity, price, "gtc", placed))
        if position == 0:
            market._fill(order.order_id, quantity // 3, price, placed)
        market._rest(symbol, side, price, market.orders.get(order.order_id).left, order.order_id)


def _arrivals(market: Trading, make: Maker) -> None:
    """Orders of others that come in over two weeks, most of them near the last price, some ready to pay for being quick."""
    for symbol, *_ in COMPANIES:
        last = market.tapes.get(symbol).last
        for _ in range(ARRIVALS_EACH):
            side, quick = make.pick(("buy", "sell")), make.chance(0.4)
            distance = last * make.between(1, 14) // 1000
            price = last + distance if (side == "buy") == quick else last - distance
            at = make.moment(make.between(0, DAYS_AHEAD), make.between(10, 23), make.between(0, 59))
            market.arrivals.add(Arrival(market.arrivals.mint(), at, symbol, side, make.between(20, 300, 10), price))
