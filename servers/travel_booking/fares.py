"""The rules of fares and cabins, and when two plans of one traveller cannot both come true."""

from datetime import date, datetime, timedelta

from prove.servers import Money

from .records import Booking, BookingId, Cabin, Fare, FareRule, Flight, Hotel, Seat

FARES: dict[Fare, FareRule] = {
    "basic": FareRule("basic", "economy", 0, 1500, None, None),
    "standard": FareRule("standard", "economy", 1, 0, 4500, 6000),
    "flex": FareRule("flex", "economy", 1, 0, 0, 0),
    "business": FareRule("business", "business", 2, 0, 0, 0),
}
PERCENT_OF_LOWEST = {"basic": 100, "standard": 130, "flex": 185, "business": 360}
BUSINESS_ROWS = 3
CHECK_IN, CHECK_OUT, PICK_UP = 15, 11, 10  # o'clock
BAG_PRICE, MOST_BAGS = 3500, 5
HOLD, MOST_HOLDS = timedelta(hours=24), 3
CHECK_IN_CLOSES = timedelta(hours=1)  # before departure: until then a seat can be bought, changed and cancelled
COOLING_OFF, WELL_AHEAD = timedelta(hours=24), timedelta(days=7)


def price_of(flight: Flight, fare: Fare) -> Money:
    return flight.lowest_price * PERCENT_OF_LOWEST[fare] // 100


def free_until(flight: Flight, reserved: datetime) -> datetime | None:
    """Any fare is refunded in full for a day if, when it was reserved, departure was a week away or more: 14 CFR 259.5(b)(4)."""
    return reserved + COOLING_OFF if flight.departs - reserved >= WELL_AHEAD else None


def days_ahead(starts: datetime, days: int | None, now: datetime) -> datetime | None:
    """The moment that many days before something starts, unless it has passed already."""
    until = None if days is None else starts - timedelta(days=days)
    return until if until and until >= now else None


def fare_paid(booking: Booking) -> Money:
    """How much of a changeable ticket's price is the fare itself: not its fees, and not the bags that were added."""
    included = FARES[booking.fare].bags_included if booking.fare else 0
    return booking.price - booking.change_fees - (booking.bags - included) * BAG_PRICE


def cabin_of(seat: Seat) -> Cabin:
    """Which cabin a seat is in: the first rows are business."""
    return "business" if int(seat[:-1]) <= BUSINESS_ROWS else "economy"


def position_of(seat: Seat) -> str:
    return {"A": "window", "F": "window", "B": "middle", "E": "middle"}.get(seat[-1], "aisle")


def plain(name: str) -> str:
    """What two spellings of a name have in common."""
    return " ".join(name.casefold().split())


def is_active(booking: Booking) -> bool:
    return booking.status in ("held", "confirmed")


def start_of(booking: Booking) -> tuple[datetime, BookingId]:
    return booking.starts, booking.booking_id


def ends_of(booking: Booking) -> datetime:
    """When a booking is over by itself: a hold that nobody buys, or what was booked."""
    return booking.hold_expires or booking.ends


def full_nights(hotel: Hotel, check_in: date, nights: int) -> list[date]:
    return [night for night in hotel.full_nights if 0 <= (night - check_in).days < nights]


def too_close(one: Booking | Flight, other: Booking) -> bool:
    """Whether nobody can be on both flights: when check-in for the later one closes, the earlier one has not landed."""
    starts, ends = (one.departs, one.arrives) if isinstance(one, Flight) else (one.starts, one.ends)
    return starts < other.ends + CHECK_IN_CLOSES and other.starts < ends + CHECK_IN_CLOSES


def too_early(pick_up: datetime, departs: datetime, arrives: datetime, same_city: bool) -> bool:
    """Whether a car would be picked up by somebody who is in the air, or who lands in its city only later that day."""
    return departs <= pick_up < arrives or (same_city and pick_up.date() == arrives.date() and pick_up < arrives)
