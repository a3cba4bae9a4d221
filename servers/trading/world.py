"""A market of 24 companies with thirty days behind it, other traders who will come with their orders, and one trader in it.

What the trader has done agrees with the tape: trades lie between a day's low and high, and an order that waits has a
limit which no price since then has reached.
"""

from datetime import timedelta

from msgspec import structs

from prove.servers.maker import Maker

from .records import Account, Arrival, Bar, Instrument, Order, Tape
from .tools import COMES_AGAIN, Trading

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
ARRIVALS_EACH = 6


def populate(market: Trading, make: Maker) -> None:
    for symbol, name, sector, usual in COMPANIES:
        halted_until = make.moment(1, hour=14) if symbol == HALTED else None
        market.instruments.add(Instrument(symbol, name, sector, symbol not in NOT_SHORTABLE, halted_until))
        _tape(market, make, symbol, usual)
        _book(market, make, symbol)
    cash = make.between(4_500_000, 7_000_000, 10_000)
    market.accounts.add(Account("ACCT-1", cash, cash))
    traded = make.some([symbol for symbol, *_ in COMPANIES if symbol not in (HALTED, ILLIQUID)], HELD)
    plan = [*_trades(market, make, traded), *_given_up(market, make, traded), *_waiting(market, make, traded)]
    for order, filled, price in sorted(plan, key=lambda p: p[0].placed):
        _happened(market, make, order, filled, price)
    _arrivals(market, make)


def _tape(market: Trading, make: Maker, symbol: str, usual: int) -> None:
    """Thirty daily bars that wander about the usual price, and the present day so far."""
    close, bars = usual * make.between(88, 112) // 100, []
    for ago in range(30, -1, -1):
        start = close
        close = max(500, start + start * make.between(-11, 12) // 1000)
        high, low = (max(start, close) + make.between(0, start // 200), min(start, close) - make.between(0, start // 200))
        bars.append(Bar(make.day(-ago), start, high, low, close, make.between(120, 220, 5) if ago else make.between(60, 120, 5)))
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


Plan = tuple[Order, int, int]  # an order of the trader's, how much of it was filled, and at which price


def _order(make: Maker, ago: int, symbol: str, side: str, quantity: int, limit: int | None = None, status: str = "open") -> Order:
    placed = make.moment(-ago, make.between(8, 20) if ago else make.between(1, 7), make.between(0, 59))
    in_force = "gtc" if limit and status == "open" else "day"
    return Order("", symbol, side, quantity, limit, in_force, placed, placed, status)


def _trades(market: Trading, make: Maker, symbols: list[str]) -> list[Plan]:
    """What was traded in the last four weeks: holdings, one sold out again, one sold short if it can be."""
    *held, sold_out, short = symbols
    done = [(make.between(8, 28), symbol, "buy", make.between(10, 60, 5)) for symbol in (*held, held[0], sold_out)]
    done += [(7, sold_out, "sell", done[-1][3]), (6, held[1], "sell", 5)]
    if short not in NOT_SHORTABLE:
        done += [(make.between(3, 5), short, "sell", make.between(10, 30, 5))]
    plan = []
    for ago, symbol, side, quantity in done:
        bar = market.tapes.get(symbol).bars[-ago]
        plan.append((_order(make, ago, symbol, side, quantity), quantity, make.between(bar.low, bar.high)))
    return plan


def _given_up(market: Trading, make: Maker, symbols: list[str]) -> list[Plan]:
    """Orders of a day whose price did not come down to them."""
    plan = []
    for ago, status in ((2, "cancelled"), (2, "expired"), (1, "expired")):
        bar = market.tapes.get(symbol := make.pick(symbols)).bars[-ago]
        limit = bar.low - bar.low * make.between(1, 5) // 100
        plan.append((_order(make, ago, symbol, "buy", make.between(10, 60, 5), limit, status), 0, 0))
    return plan


def _waiting(market: Trading, make: Maker, symbols: list[str]) -> list[Plan]:
    """Orders that wait at a price which was not reached since, the first of them at today's low, where it was filled in part."""
    first, second, *others = [*symbols[:5], make.pick(symbols[2:5])]
    quantity, low = make.between(12, 40), market.tapes.get(first).today.low
    plan = [(_order(make, 0, first, "buy", quantity, low), quantity // 3, low)]
    for position, symbol in enumerate((second, *others)):
        tape, ago = market.tapes.get(symbol), make.between(1, 4)
        since = [*tape.bars[-ago:], tape.today]
        side = "buy" if position % 2 else "sell"
        away = tape.last * make.between(1, 4) // 100
        price = max(b.high for b in since) + away if side == "sell" else min(b.low for b in since) - away
        plan.append((_order(make, ago, symbol, side, make.between(2, 4) if side == "sell" else make.between(10, 40, 5), price), 0, 0))
    return plan


def _happened(market: Trading, make: Maker, planned: Order, filled: int, price: int) -> None:
    """Put an order on record, with its fill, or two of them, and in the book if it still waits."""
    order = market.orders.add(structs.replace(planned, order_id=market.orders.mint()))
    part = filled // 2 if make.chance(0.3) else filled
    for quantity in filter(None, (part, filled - part)):
        market._fill(order.order_id, quantity, price, order.placed + timedelta(minutes=make.between(1, 30) if order.limit_price else 0))
    order = market.orders.get(order.order_id)
    if order.works:
        market._rest(order.symbol, order.side, order.limit_price, order.left, order.order_id)


def _arrivals(market: Trading, make: Maker) -> None:
    """Others, who come once in four days each: as many to buy as to sell, most of them ready to pay for being quick."""
    for symbol, *_ in COMPANIES:
        for number in range(ARRIVALS_EACH):
            side, quick = ("buy", "sell")[number % 2], number < 4
            distance = make.between(2, 10) if (side == "buy") == quick else -make.between(2, 10)
            at = make.moment(make.between(0, COMES_AGAIN.days - 1), make.between(10, 23), make.between(0, 59))
            market.arrivals.add(Arrival(market.arrivals.mint(), at, symbol, side, make.between(20, 300, 10), distance))
