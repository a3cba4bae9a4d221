"""What a traveller can rely on: prices by fare, holds that run out, refunds by the rules, no seat sold twice."""

from datetime import timedelta

import pytest

from prove.servers.session import Session


@pytest.fixture
def trip():
    return Session.open("travel_booking", seed=0)


def value(session, tool, **arguments):
    result = session.call(tool, arguments)
    assert result.ok, result.text
    return result.value


def tomorrow(session):
    return (session.servers["travel_booking"].today + timedelta(days=1)).isoformat()


def flight_with(session, cabin, days_ahead):
    """A flight on that day with at least two seats left in the cabin."""
    day = session.servers["travel_booking"].today + timedelta(days=days_ahead)
    lines = value(session, "search_flights", day=day.isoformat(), limit=50)["items"]
    for line in lines:
        details = value(session, "get_flight", flight_id=line["flight_id"])
        if any(f["cabin"] == cabin and f["seats_left"] >= 2 for f in details["fares"]):
            return details
    raise AssertionError("no such flight in this world")


def bought(session, fare, days_ahead, **payment):
    flight = flight_with(session, "business" if fare == "business" else "economy", days_ahead)
    held = value(session, "hold_flight", flight_id=flight["flight_id"], fare=fare, traveller="Ines Barros")
    return value(session, "book_flight", booking_id=held["booking_id"], **payment)


def test_a_fare_costs_its_share_of_the_lowest_price(trip):
    flight = flight_with(trip, "economy", 4)
    low = flight["lowest_price"]
    prices = {f["fare"]: f["price"] for f in flight["fares"]}
    assert prices == {"basic": low, "standard": low * 130 // 100, "flex": low * 185 // 100, "business": low * 360 // 100}


def test_a_hold_runs_out_after_a_day_and_gives_its_seat_back(trip):
    flight = flight_with(trip, "economy", 6)
    held = value(trip, "hold_flight", flight_id=flight["flight_id"], fare="basic", traveller="Ines Barros")
    assert held["paid"] == 0
    trip.advance(hours=24)
    assert trip.call("book_flight", {"booking_id": held["booking_id"]}).code == "failed_precondition"
    assert value(trip, "get_booking", booking_id=held["booking_id"])["status"] == "expired"
    assert value(trip, "get_flight", flight_id=flight["flight_id"])["fares"] == flight["fares"]


def test_a_standard_fare_is_refunded_less_sixty_dollars(trip):
    booking = bought(trip, "standard", 5)
    cancelled = value(trip, "cancel_booking", booking_id=booking["booking_id"])
    assert (cancelled["status"], cancelled["paid"]) == ("cancelled", 6000)


def test_a_basic_fare_is_lost_unless_cancelled_on_the_day_it_was_bought_a_week_ahead(trip):
    soon, later = bought(trip, "basic", 5), bought(trip, "basic", 9)
    assert value(trip, "get_booking", booking_id=soon["booking_id"])["refund_if_cancelled"] == 0
    assert value(trip, "get_booking", booking_id=later["booking_id"])["refund_if_cancelled"] == later["price"]
    trip.advance(hours=25)
    assert value(trip, "get_booking", booking_id=later["booking_id"])["refund_if_cancelled"] == 0


def test_a_change_costs_the_fee_and_the_dearer_price_and_frees_the_seat(trip):
    booking = bought(trip, "standard", 4)
    days = (trip.servers["travel_booking"].today + timedelta(days=n) for n in (5, 6, 7, 8))
    number = booking["title"][:6]
    tries = (trip.call("change_flight", {"booking_id": booking["booking_id"], "day": d.isoformat()}) for d in days)
    moved = next(t.value for t in tries if t.ok)
    assert moved["title"].startswith(number)
    assert moved["flight_id"] != booking["flight_id"]
    old, new = (value(trip, "get_flight", flight_id=b["flight_id"])["lowest_price"] * 130 // 100 for b in (booking, moved))
    assert moved["paid"] == booking["paid"] + 4500 + max(0, new - old)


def test_travel_credit_pays_only_what_is_there_and_gets_its_refund_back(trip):
    credit = trip.servers["travel_booking"].profiles.one().travel_credit
    booking = bought(trip, "flex", 7, payment="travel_credit")
    assert trip.servers["travel_booking"].profiles.one().travel_credit == credit - booking["price"]
    value(trip, "cancel_booking", booking_id=booking["booking_id"])
    assert trip.servers["travel_booking"].profiles.one().travel_credit == credit
    car = value(trip, "search_cars", city="Rome")["items"][0]
    month = {"car_id": car["car_id"], "pick_up_day": tomorrow(trip), "days": 30, "payment": "travel_credit"}
    assert car["daily_price"] * 30 > credit
    assert trip.call("book_car", month).code == "resource_exhausted"


def test_nobody_is_booked_twice_on_a_flight(trip):
    booking = bought(trip, "standard", 6)
    again = trip.call("hold_flight", {"flight_id": booking["flight_id"], "fare": "flex", "traveller": "Ines Barros"})
    assert again.code == "conflict"


def test_bags_cost_35_dollars_each_and_stop_at_five(trip):
    booking = bought(trip, "basic", 6)
    loaded = value(trip, "add_baggage", booking_id=booking["booking_id"], bags=4)
    assert (loaded["bags"], loaded["price"]) == (4, booking["price"] + 14000)
    assert trip.call("add_baggage", {"booking_id": booking["booking_id"], "bags": 2}).code == "resource_exhausted"


def test_a_hotel_keeps_the_first_night_of_a_late_cancellation(trip):
    strict = [h for h in trip.servers["travel_booking"].hotels if h.free_cancellation_days == 5]
    stay = {"room": "single", "check_in": tomorrow(trip), "nights": 3}
    hotel, booked = next((h, b.value) for h in strict if (b := trip.call("book_hotel", {"hotel_id": h.hotel_id, **stay})).ok)
    assert booked["paid"] == 3 * hotel.rooms[0].nightly_price
    assert value(trip, "cancel_booking", booking_id=booked["booking_id"])["paid"] == hotel.rooms[0].nightly_price


def test_the_last_room_is_not_sold_twice(trip):
    hotel = next(iter(trip.servers["travel_booking"].hotels))
    day = trip.servers["travel_booking"].today + timedelta(days=90)  # beyond the nights that are full from the start
    stay = {"hotel_id": hotel.hotel_id, "room": "double", "check_in": day.isoformat(), "nights": 2}
    codes = [trip.call("book_hotel", stay).code for _ in range(hotel.rooms[1].available + 1)]
    assert codes == [None] * hotel.rooms[1].available + ["resource_exhausted"]
