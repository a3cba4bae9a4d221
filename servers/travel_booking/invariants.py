"""What must hold in a travel agency after every call."""

from collections.abc import Iterator

from servers.travel_booking.tools import FARES, Booking, TravelBooking, cabin_of


def invariants(travel: TravelBooking) -> Iterator[str]:
    profile = travel.profiles.one()
    on_credit = sum(b.paid for b in travel.bookings if b.payment == "travel_credit")
    if profile.travel_credit < 0 or profile.travel_credit + on_credit != profile.opening_credit:
        yield f"travel credit of {profile.opening_credit} is not what is left and what was paid with it"
    active = [b for b in travel.bookings if b.status in ("held", "confirmed")]
    for booking in travel.bookings:
        yield from _wrong_with(travel, booking)
    for flight_id in {b.flight_id: None for b in active if b.flight_id}:
        yield from _wrong_aboard(travel, [b for b in active if b.flight_id == flight_id])
    for itinerary in travel.itineraries:
        if len(set(itinerary.bookings)) != len(itinerary.bookings) or any(b not in travel.bookings for b in itinerary.bookings):
            yield f"{itinerary.itinerary_id} has a booking twice, or one that is not there"


def _wrong_with(travel: TravelBooking, booking: Booking) -> Iterator[str]:
    due = {"held": 0, "expired": 0, "confirmed": booking.price, "completed": booking.price}
    if booking.paid != due.get(booking.status, booking.paid) or not 0 <= booking.paid <= booking.price:
        yield f"{booking.booking_id} is {booking.status} and has {booking.paid} of {booking.price} paid"
    if booking.status == "held" and booking.hold_expires is not None and booking.hold_expires <= travel.now:
        yield f"{booking.booking_id} is still held after its hold expired"
    if booking.starts >= booking.ends:
        yield f"{booking.booking_id} ends before it starts"
    if sum(map(bool, (booking.flight_id, booking.hotel_id, booking.car_id))) != 1:
        yield f"{booking.booking_id} is not for exactly one thing"


def _wrong_aboard(travel: TravelBooking, bookings: list[Booking]) -> Iterator[str]:
    flight = travel.flights.get(bookings[0].flight_id)
    seats = [b.seat for b in bookings if b.seat]
    if len(set(seats)) != len(seats) or not set(seats) <= set(flight.seats):
        yield f"{flight.flight_id} has a seat that is taken twice, or that was not on sale"
    for cabin in ("economy", "business"):
        aboard = [b for b in bookings if b.fare and FARES[b.fare].cabin == cabin]
        if len(aboard) > sum(cabin_of(seat) == cabin for seat in flight.seats):
            yield f"{flight.flight_id} is overbooked in {cabin}"
        if any(b.seat and cabin_of(b.seat) != cabin for b in aboard):
            yield f"{flight.flight_id} has somebody in the wrong cabin"
