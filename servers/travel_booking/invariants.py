"""What must hold in a travel agency after every call, and what its bookings tell of the past."""

from collections.abc import Iterator
from itertools import combinations, pairwise

from .fares import (
    BAG_PRICE,
    CHECK_IN_CLOSES,
    COOLING_OFF,
    FARES,
    HOLD,
    MOST_BAGS,
    MOST_HOLDS,
    WELL_AHEAD,
    cabin_of,
    ends_of,
    is_active,
    plain,
    start_of,
    too_close,
    too_early,
)
from .records import Booking, Flight
from .tools import TravelBooking


def invariants(travel: TravelBooking) -> Iterator[str]:
    profile = travel.profiles.one()
    on_credit = sum(b.credit_used for b in travel.bookings)
    if profile.travel_credit < 0 or profile.travel_credit + on_credit != profile.opening_credit:
        yield f"travel credit of {profile.opening_credit} is not what is left and what was paid with it"
    active = [b for b in travel.bookings if is_active(b)]
    if sum(b.status == "held" for b in active) > MOST_HOLDS:
        yield "there are too many holds at once"
    for booking in travel.bookings:
        yield from _wrong_with(travel, booking)
    for flight_id in {b.flight_id: None for b in active if b.flight_id}:
        yield from _wrong_aboard(travel, [b for b in active if b.flight_id == flight_id])
    for one, other in combinations([b for b in active if b.flight_id], 2):
        if plain(one.traveller) == plain(other.traveller) and too_close(one, other):
            yield f"{one.traveller} cannot check in between {one.booking_id} and {other.booking_id}"
    yield from _double_use(travel, active)
    for itinerary in travel.itineraries:
        if len(set(itinerary.bookings)) != len(itinerary.bookings) or any(b not in travel.bookings for b in itinerary.bookings):
            yield f"{itinerary.itinerary_id} has a booking twice, or one that is not there"
    names = [plain(i.name) for i in travel.itineraries]
    if len(set(names)) != len(names):
        yield "two itineraries have one name"


def _wrong_with(travel: TravelBooking, booking: Booking) -> Iterator[str]:
    due = {"held": 0, "expired": 0, "confirmed": booking.price, "completed": booking.price}
    if booking.paid != due.get(booking.status, booking.paid) or not 0 <= booking.credit_used <= booking.paid <= booking.price:
        yield f"{booking.booking_id} is {booking.status} and has {booking.paid} of {booking.price} paid, {booking.credit_used} on credit"
    if booking.status == "cancelled" and booking.paid < booking.change_fees:
        yield f"{booking.booking_id} got its fees for changes back"
    if is_active(booking) and ends_of(booking) <= travel.now:
        yield f"{booking.booking_id} is still {booking.status} after {ends_of(booking)}"
    if booking.starts >= booking.ends:
        yield f"{booking.booking_id} ends before it starts"
    if sum(map(bool, (booking.flight_id, booking.hotel_id, booking.car_id))) != 1:
        yield f"{booking.booking_id} is not for exactly one thing"


def _wrong_aboard(travel: TravelBooking, bookings: list[Booking]) -> Iterator[str]:
    flight = travel.flights.get(bookings[0].flight_id or "")
    seats = [b.seat for b in bookings if b.seat]
    if len(set(seats)) != len(seats) or not set(seats) <= set(flight.seats):
        yield f"{flight.flight_id} has a seat that is taken twice, or that was not on sale"
    for cabin in ("economy", "business"):
        aboard = [b for b in bookings if b.fare and FARES[b.fare].cabin == cabin]
        if len(aboard) > sum(cabin_of(seat) == cabin for seat in flight.seats):
            yield f"{flight.flight_id} is overbooked in {cabin}"
        if any(b.seat and cabin_of(b.seat) != cabin for b in aboard):
            yield f"{flight.flight_id} has somebody in the wrong cabin"


def _double_use(travel: TravelBooking, active: list[Booking]) -> Iterator[str]:
    """No room and no car is given away more often than it is there."""
    for booking in active:
        same = [b for b in active if (b.hotel_id, b.room, b.car_id) == (booking.hotel_id, booking.room, booking.car_id)]
        used = sum(b.starts <= booking.starts < b.ends for b in same)
        if booking.hotel_id:
            rooms = {r.room: r.available for r in travel.hotels.get(booking.hotel_id).rooms}
            if used > rooms.get(booking.room or "single", 0):
                yield f"{booking.hotel_id} has given its {booking.room} away {used} times for {booking.starts.date()}"
        if booking.car_id and used > travel.cars.get(booking.car_id).fleet:
            yield f"{booking.car_id} is rented out {used} times from {booking.starts}"


def past(travel: TravelBooking) -> Iterator[str]:
    """What the agency's own rules could not have made."""
    made = [b.made for b in travel.bookings]
    if made != sorted(made) or any(m > travel.now for m in made):
        yield "bookings were not made one after the other, up to now"
    for booking in travel.bookings:
        yield from _unlike_its_rules(travel, booking)
    for day, flights in _timetable(travel).items():
        if len({(f.origin, f.destination, f.airline, f.aircraft, f.departs.time(), f.arrives - f.departs) for f in flights}) > 1:
            yield f"{day} flies at different hours, or to different places"
    began_with = travel.bookings.base.records or {b.booking_id: b for b in travel.bookings}
    lived = [b for b in began_with.values() if b.status not in ("cancelled", "expired")]
    for name in {plain(b.traveller): None for b in lived}:
        yield from _unlike_a_life(travel, sorted((b for b in lived if plain(b.traveller) == name), key=start_of))


def _timetable(travel: TravelBooking) -> dict[str, list[Flight]]:
    return {flight.number: travel.flights.where(number=flight.number) for flight in travel.flights}


def _unlike_its_rules(travel: TravelBooking, booking: Booking) -> Iterator[str]:
    closes = booking.starts - CHECK_IN_CLOSES if booking.flight_id else booking.starts
    if booking.made >= closes:
        yield f"{booking.booking_id} was made when it was too late"
    if booking.flight_id and booking.fare:
        flight, rule = travel.flights.get(booking.flight_id), FARES[booking.fare]
        if (booking.starts, booking.ends) != (flight.departs, flight.arrives):
            yield f"{booking.booking_id} has other times than {flight.flight_id}"
        extra = booking.change_fees + (booking.bags - rule.bags_included) * BAG_PRICE
        if not rule.bags_included <= booking.bags <= MOST_BAGS or booking.price <= extra:
            yield f"{booking.booking_id} has {booking.bags} bags for {booking.price} in all"
        if booking.hold_expires and booking.hold_expires > min(booking.made + HOLD, closes):
            yield f"{booking.booking_id} is held for longer than a day, or after check-in"
        week_ahead = booking.starts - booking.made >= WELL_AHEAD
        if (
            not booking.change_fees
            and rule.change_fee is None
            and booking.free_until != (booking.made + COOLING_OFF if week_ahead else None)
        ):
            yield f"{booking.booking_id} may be cancelled until {booking.free_until}"
    nights = (booking.ends.date() - booking.starts.date()).days
    if booking.hotel_id:
        hotel = travel.hotels.get(booking.hotel_id)
        rate = next((r.nightly_price for r in hotel.rooms if r.room == booking.room), 0)
        if booking.price != nights * rate or any(0 <= (n - booking.starts.date()).days < nights for n in hotel.full_nights):
            yield f"{booking.booking_id} costs {booking.price} for {nights} nights at {rate}, or the hotel is full"
    if booking.car_id and booking.price != nights * travel.cars.get(booking.car_id).daily_price:
        yield f"{booking.booking_id} costs {booking.price} for {nights} days"


def _lands_in(travel: TravelBooking, ticket: Booking) -> str:
    return travel.airports.get(travel.flights.get(ticket.flight_id or "").destination).city


def _unlike_a_life(travel: TravelBooking, plans: list[Booking]) -> Iterator[str]:
    """What the world began with: one flies on from where one has landed, sleeps there, and drives a car there after landing."""
    flights = [b for b in plans if b.flight_id]
    for one, other in pairwise(flights):
        landed, leaves = _lands_in(travel, one), travel.airports.get(travel.flights.get(other.flight_id or "").origin).city
        if landed != leaves:
            yield f"{one.traveller} lands in {landed} with {one.booking_id} and leaves {leaves} with {other.booking_id}"
    for plan in (b for b in plans if not b.flight_id):
        city = travel.hotels.get(plan.hotel_id).city if plan.hotel_id else travel.cars.get(plan.car_id or "").city
        there = [f for f in flights if f.starts.date() <= plan.starts.date() and _lands_in(travel, f) == city]
        if not there:
            yield f"{plan.booking_id} is in {city}, to which {plan.traveller} does not fly"
            continue
        flight = there[-1]
        away = next((f.starts for f in flights if f.starts >= flight.ends), plan.ends)
        if plan.car_id and (too_early(plan.starts, flight.starts, flight.ends, True) or plan.ends > away):
            yield f"{plan.booking_id} is driven before {flight.booking_id} has landed, or after {plan.traveller} has left"
        if plan.hotel_id and plan.ends.date() > away.date():
            yield f"{plan.booking_id} goes on after {plan.traveller} has left"
