"""What a traveller can rely on: prices by fare, holds that run out, refunds by the rules, no seat sold twice, nobody in two places."""

from datetime import datetime, timedelta

import pytest

from prove.servers.catalog import load
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


def bought(session, fare, days_ahead, traveller="Ines Barros", **payment):
    flight = flight_with(session, "business" if fare == "business" else "economy", days_ahead)
    held = value(session, "hold_flight", flight_id=flight["flight_id"], fare=fare, traveller=traveller)
    return value(session, "book_flight", booking_id=held["booking_id"], **payment)


def moved(session, booking):
    """The ticket, changed to the next day on which its flight has a seat."""
    days = (datetime.fromisoformat(booking["starts"]).date() + timedelta(days=n) for n in (1, 2, 3, 4, -1, -2))
    tries = (session.call("change_flight", {"booking_id": booking["booking_id"], "day": d.isoformat()}) for d in days)
    return next(t.value for t in tries if t.ok)


def same_time_flights(session):
    """Two flights, with economy seats on both, of which one is in the air while the other is; and no holds that stand in the way."""
    for held in value(session, "list_bookings", status="held")["items"]:
        value(session, "cancel_booking", booking_id=held["booking_id"])
    flights = [f for f in session.servers["travel_booking"].flights if f.day > session.clock.now.date()]
    open_ones = [f for f in flights if value(session, "get_flight", flight_id=f.flight_id)["fares"][0]["seats_left"] > 0]
    pairs = ((a, b) for a in open_ones for b in open_ones if a is not b)
    return next((a, b) for a, b in pairs if a.departs < b.arrives and b.departs < a.arrives)


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


def test_the_week_of_the_24_hour_rule_is_counted_when_the_flight_is_reserved(trip):
    """14 CFR 259.5(b)(4): for at least 24 hours after the reservation, if that is made one week or more before departure."""
    flight = flight_with(trip, "economy", 8)
    departs = datetime.fromisoformat(flight["departs"])
    trip.advance(seconds=(departs - timedelta(days=7) - trip.clock.now).total_seconds())  # to the second a week before
    held = value(trip, "hold_flight", flight_id=flight["flight_id"], fare="basic", traveller="Ines Barros")
    booking = value(trip, "book_flight", booking_id=held["booking_id"])
    trip.advance(hours=24)
    assert value(trip, "get_booking", booking_id=booking["booking_id"])["refund_if_cancelled"] == booking["price"]
    trip.advance(seconds=1)
    assert value(trip, "get_booking", booking_id=booking["booking_id"])["refund_if_cancelled"] == 0


def test_a_change_costs_the_fee_and_the_dearer_price_and_frees_the_seat(trip):
    booking = bought(trip, "standard", 4)
    there = moved(trip, booking)
    assert there["title"] == booking["title"]
    assert there["flight_id"] != booking["flight_id"]
    old, new = (value(trip, "get_flight", flight_id=b["flight_id"])["lowest_price"] * 130 // 100 for b in (booking, there))
    assert there["paid"] == booking["paid"] + 4500 + max(0, new - old)


def test_going_back_to_the_dearer_flight_does_not_pay_its_price_again(trip):
    booking = bought(trip, "flex", 4)  # whose changes cost no fee
    there = moved(trip, booking)
    day = datetime.fromisoformat(booking["starts"]).date().isoformat()
    back = value(trip, "change_flight", booking_id=booking["booking_id"], day=day)
    assert back["paid"] == there["paid"] == max(booking["paid"], there["paid"])


@pytest.mark.parametrize(("hours", "penalty"), [(1, 0), (25, 6000)])
def test_the_fee_for_a_change_never_comes_back(trip, hours, penalty):
    booking = bought(trip, "standard", 8)  # reserved a week ahead: on the first day only the fee for the change is kept
    change = moved(trip, booking)
    trip.advance(hours=hours)
    kept = value(trip, "cancel_booking", booking_id=booking["booking_id"])["paid"]
    assert kept == change["change_fees"] + penalty == 4500 + penalty


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


# --- one traveller


@pytest.mark.parametrize("spelling", ["INES BARROS", "ines barros", " Ines Barros ", "Ines  Barros"])
def test_one_traveller_is_one_however_the_name_is_spelled(trip, spelling):
    booking = bought(trip, "standard", 6)
    again = trip.call("hold_flight", {"flight_id": booking["flight_id"], "fare": "flex", "traveller": spelling})
    assert again.code == "conflict"
    stay = {"hotel_id": "HTL-301", "room": "single", "nights": 1}
    day = (trip.servers["travel_booking"].today + timedelta(days=90)).isoformat()
    assert value(trip, "book_hotel", **stay, check_in=day, guest=spelling)["traveller"] == "Ines Barros"


def test_nobody_is_in_the_air_twice_at_once_by_holding_or_by_changing(trip):
    one, other = same_time_flights(trip)
    value(trip, "hold_flight", flight_id=one.flight_id, fare="flex", traveller="Ines Barros")
    clash = trip.call("hold_flight", {"flight_id": other.flight_id, "fare": "flex", "traveller": "ines barros"})
    assert clash.code == "conflict"
    assert value(trip, "hold_flight", flight_id=other.flight_id, fare="flex", traveller="Theo Marchetti")["status"] == "held"
    server = trip.servers["travel_booking"]
    later = next(f for f in server.flights.where(number=other.number) if f.day > other.day and any(int(s[:-1]) > 3 for s in f.seats))
    third = value(trip, "hold_flight", flight_id=later.flight_id, fare="flex", traveller="Ines Barros")["booking_id"]
    value(trip, "book_flight", booking_id=third)
    change = trip.call("change_flight", {"booking_id": third, "day": other.day.isoformat()})
    assert (change.code, "in the air" in change.text) == ("conflict", True)


@pytest.mark.parametrize("seed", [20, 21, 23])
def test_nobody_lands_and_leaves_again_before_check_in_closes_and_the_advice_for_it_is_right(seed):
    trip = Session.open("travel_booking", seed)
    for held in value(trip, "list_bookings", status="held")["items"]:
        value(trip, "cancel_booking", booking_id=held["booking_id"])
    flights = [f for f in trip.servers["travel_booking"].flights if f.departs > trip.clock.now + timedelta(days=1)]
    flights = sorted((f for f in flights if any(int(s[:-1]) > 3 for s in f.seats)), key=lambda f: f.departs)
    hour = timedelta(hours=1)
    one, other = next((a, b) for a in flights for b in flights if a.arrives <= b.departs < a.arrives + hour)
    value(trip, "hold_flight", flight_id=one.flight_id, fare="flex", traveller="Ines Barros")
    refused = trip.call("hold_flight", {"flight_id": other.flight_id, "fare": "flex", "traveller": "Ines Barros"})
    assert refused.code == "conflict"
    advised = f"{one.arrives + hour:%Y-%m-%d %H:%M}"
    assert f"from {advised} on" in refused.text
    later = next(f for f in flights if f"{f.departs:%Y-%m-%d %H:%M}" >= advised)
    assert trip.call("hold_flight", {"flight_id": later.flight_id, "fare": "flex", "traveller": "Ines Barros"}).ok


def test_a_car_is_picked_up_after_landing_by_booking_either_first(trip):
    flights = [f for f in trip.servers["travel_booking"].flights if f.arrives.hour in range(12, 19) and f.day > trip.clock.now.date()]
    flight = next(f for f in flights if any(int(s[:-1]) > 3 for s in f.seats))
    city = trip.servers["travel_booking"].airports.get(flight.destination).city
    car = value(trip, "search_cars", city=city)["items"][0]["car_id"]
    rent = {"car_id": car, "pick_up_day": flight.day.isoformat(), "days": 2, "driver": "Ines Barros"}
    ticket = {"flight_id": flight.flight_id, "fare": "flex", "traveller": "Ines Barros"}
    other = trip.fork()
    value(trip, "hold_flight", **ticket)
    assert trip.call("book_car", rent | {"pick_up_hour": 10}).code == "conflict"
    assert value(trip, "book_car", **rent, pick_up_hour=flight.arrives.hour + 1)["starts"] > flight.arrives.isoformat()[:19]
    value(other, "book_car", **rent, pick_up_hour=10)
    assert other.call("hold_flight", ticket).code == "conflict"


def test_the_fleet_is_counted_by_the_hour(trip):
    car = next(c for c in trip.servers["travel_booking"].cars if c.fleet == 1)
    day = trip.servers["travel_booking"].today + timedelta(days=40)
    rent = {"car_id": car.car_id, "days": 1}
    value(trip, "book_car", **rent, pick_up_day=day.isoformat(), pick_up_hour=18)
    next_day = (day + timedelta(days=1)).isoformat()
    assert trip.call("book_car", rent | {"pick_up_day": next_day, "pick_up_hour": 17}).code == "resource_exhausted"
    assert trip.call("book_car", rent | {"pick_up_day": next_day, "pick_up_hour": 18}).ok


# --- what can be read


def test_the_travel_credit_that_is_left_can_be_read(trip):
    before = value(trip, "list_bookings")["travel_credit"]
    booking = bought(trip, "basic", 6, payment="travel_credit")
    assert value(trip, "list_bookings")["travel_credit"] == before - booking["price"]


def test_what_was_paid_with_card_and_credit_goes_back_to_each(trip):
    before = value(trip, "list_bookings")["travel_credit"]
    booking = bought(trip, "flex", 7)
    loaded = value(trip, "add_baggage", booking_id=booking["booking_id"], bags=1, payment="travel_credit")
    assert (loaded["paid"] - booking["paid"], loaded["credit_used"]) == (3500, 3500)
    assert value(trip, "list_bookings")["travel_credit"] == before - 3500
    value(trip, "cancel_booking", booking_id=booking["booking_id"])
    assert value(trip, "list_bookings")["travel_credit"] == before


def test_lists_and_itineraries_show_how_each_booking_stands(trip):
    statuses = {b["status"] for b in value(trip, "list_bookings", limit=50)["items"]}
    assert statuses == {"held", "confirmed", "completed", "cancelled", "expired"}
    plans = [value(trip, "get_itinerary", itinerary_id=i["itinerary_id"]) for i in value(trip, "list_itineraries")["items"]]
    assert {b["status"] for p in plans for b in p["bookings"]} == {"completed", "confirmed"}


def test_all_bookings_can_be_reached_however_many_there_are(trip):
    first, rest = value(trip, "list_bookings", limit=3), value(trip, "list_bookings", limit=50, offset=3)
    ids = [b["booking_id"] for b in (*first["items"], *rest["items"])]
    assert len(set(ids)) == first["total"] == rest["total"]


def test_a_trip_has_one_name_whatever_its_capitals_and_spaces(trip):
    value(trip, "create_itinerary", name="Trade fair")
    assert trip.call("create_itinerary", {"name": " TRADE  FAIR "}).code == "conflict"
    assert trip.call("create_itinerary", {"name": "  "}).code == "invalid_argument"


# --- refusals whose advice works


def over_credit(trip):
    car = value(trip, "search_cars", city="Rome")["items"][0]["car_id"]
    rent = {"car_id": car, "pick_up_day": tomorrow(trip), "days": 30}
    return ("book_car", rent | {"payment": "travel_credit"}, "by card"), [("book_car", rent | {"payment": "card"})]


def bag_over_credit(trip):
    booking = bought(trip, "basic", 6)["booking_id"]
    server = trip.servers["travel_booking"]
    profile = server.profiles.one()
    server.profiles.update(profile.profile_id, travel_credit=3499, opening_credit=profile.opening_credit - profile.travel_credit + 3499)
    bag = {"booking_id": booking, "bags": 1}
    return ("add_baggage", bag | {"payment": "travel_credit"}, "by card"), [("add_baggage", bag | {"payment": "card"})]


def expired_hold(trip):
    expired = value(trip, "list_bookings", status="expired")["items"][0]["booking_id"]
    flight = value(trip, "get_booking", booking_id=expired)["flight_id"]
    hold = {"flight_id": flight, "fare": "basic", "traveller": "Ines Barros"}
    return ("book_flight", {"booking_id": expired}, f"hold {flight} again"), [("hold_flight", hold)]


def holds_used_up(trip):
    held = [b["booking_id"] for b in value(trip, "list_bookings", status="held")["items"]]
    flights = [flight_with(trip, "economy", n)["flight_id"] for n in (1, 2, 4, 5)]
    while len(held) < 3:
        booking = value(trip, "hold_flight", flight_id=flights[len(held)], fare="basic", traveller="Ines Barros")
        held.append(booking["booking_id"])
    hold = {"flight_id": flights[3], "fare": "basic", "traveller": "Theo Marchetti"}
    return ("hold_flight", hold, "book or cancel one of"), [("book_flight", {"booking_id": held[0]}), ("hold_flight", hold)]


def held_ticket(trip):
    flight = flight_with(trip, "economy", 6)["flight_id"]
    held = value(trip, "hold_flight", flight_id=flight, fare="standard", traveller="Ines Barros")["booking_id"]
    bag = {"booking_id": held, "bags": 1}
    return ("add_baggage", bag, "book it first"), [("book_flight", {"booking_id": held}), ("add_baggage", bag)]


def basic_fare(trip):
    booking = bought(trip, "basic", 6)["booking_id"]
    change = {"booking_id": booking, "day": tomorrow(trip)}
    return ("change_flight", change, "only cancelled"), [("cancel_booking", {"booking_id": booking})]


def in_the_air(trip):
    one, other = same_time_flights(trip)
    booked = value(trip, "hold_flight", flight_id=one.flight_id, fare="basic", traveller="Ines Barros")["booking_id"]
    hold = {"flight_id": other.flight_id, "fare": "basic", "traveller": "Ines Barros"}
    return ("hold_flight", hold, f"with {booked}: cancel that"), [("cancel_booking", {"booking_id": booked}), ("hold_flight", hold)]


def full_hotel(trip):
    hotel = next(h for h in trip.servers["travel_booking"].hotels if h.full_nights)
    stay = {"hotel_id": hotel.hotel_id, "room": "double", "nights": 1}
    full = max(hotel.full_nights)
    later = {"check_in": (full + timedelta(days=1)).isoformat()}
    return ("book_hotel", stay | {"check_in": full.isoformat()}, f"full on {full}: choose other"), [("book_hotel", stay | later)]


def beyond_the_timetable(trip):
    last = max(f.day for f in trip.servers["travel_booking"].flights)
    beyond = {"day": (last + timedelta(days=1)).isoformat()}
    return ("search_flights", beyond, f"up to {last}"), [("search_flights", {"day": last.isoformat()})]


def unknown_city(trip):
    return ("search_hotels", {"city": "Gotham"}, "only in Amsterdam"), [("search_hotels", {"city": "amsterdam"})]


def car_before_landing(trip):
    flights = [f for f in trip.servers["travel_booking"].flights if f.arrives.hour in range(12, 19) and f.day > trip.clock.now.date()]
    flight = next(f for f in flights if any(int(s[:-1]) > 3 for s in f.seats))
    value(trip, "hold_flight", flight_id=flight.flight_id, fare="flex", traveller="Ines Barros")
    car = value(trip, "search_cars", city=trip.servers["travel_booking"].airports.get(flight.destination).city)["items"][0]["car_id"]
    rent = {"car_id": car, "days": 1, "driver": "Ines Barros"}
    today, next_day = ({"pick_up_day": (flight.day + timedelta(days=n)).isoformat()} for n in (0, 1))
    return ("book_car", rent | today, f"on the day after {flight.day}"), [("book_car", rent | next_day)]


def name_of_a_trip_taken(trip):
    taken = value(trip, "list_itineraries")["items"][0]["name"]
    return ("create_itinerary", {"name": taken.upper()}, "choose another name"), [("create_itinerary", {"name": "Grand tour"})]


def night_that_is_over(trip):
    stay = {"hotel_id": "HTL-301", "room": "single", "nights": 1}
    yesterday, later = ((trip.servers["travel_booking"].today + timedelta(days=n)).isoformat() for n in (-1, 90))
    today = trip.servers["travel_booking"].today
    return ("book_hotel", stay | {"check_in": yesterday}, f"choose a day after {today}"), [("book_hotel", stay | {"check_in": later})]


def last_car(trip):
    car = next(c for c in trip.servers["travel_booking"].cars if c.fleet == 1)
    rent, day = {"car_id": car.car_id, "days": 2}, trip.servers["travel_booking"].today + timedelta(days=40)
    value(trip, "book_car", **rent, pick_up_day=day.isoformat())
    other = next(c["car_id"] for c in value(trip, "search_cars", city=car.city)["items"] if c["car_id"] != car.car_id)
    elsewhere, later = {"car_id": other, "pick_up_day": day.isoformat()}, {"pick_up_day": (day + timedelta(days=2)).isoformat()}
    steps = [("book_car", rent | elsewhere), ("book_car", rent | later)]
    return ("book_car", rent | {"pick_up_day": day.isoformat()}, "another car or other days"), steps


def cabin_full(trip):
    flight = next(
        f
        for f in trip.servers["travel_booking"].flights
        if f.day > trip.clock.now.date() and not any(int(s[:-1]) < 4 for s in f.seats) and f.seats
    )
    hold = {"flight_id": flight.flight_id, "traveller": "Ines Barros"}
    return ("hold_flight", hold | {"fare": "business"}, "another flight or cabin"), [("hold_flight", hold | {"fare": "basic"})]


ADVICE = [
    over_credit, bag_over_credit, expired_hold, holds_used_up, held_ticket, basic_fare, in_the_air, full_hotel, beyond_the_timetable,
    unknown_city, car_before_landing, name_of_a_trip_taken, night_that_is_over, last_car, cabin_full,
]  # fmt: skip


@pytest.mark.parametrize("case", ADVICE)
def test_whoever_follows_the_advice_of_a_refusal_gets_on(trip, case):
    (tool, arguments, advice), steps = case(trip)
    refused = trip.call(tool, arguments)
    assert not refused.ok
    assert advice in refused.value["error"]["message"]
    for step, values in steps:
        value(trip, step, **values)


# --- the past


@pytest.mark.parametrize("seed", range(25))
def test_the_past_is_one_that_the_agency_could_have_made(seed):
    session, domain = Session.open("travel_booking", seed), load("travel_booking")
    assert not list(domain.past(session.servers["travel_booking"]))
    session.advance(days=30)
    assert not [*domain.past(session.servers["travel_booking"]), *domain.invariants(session.servers["travel_booking"])]


def test_a_traveller_who_turns_up_elsewhere_is_noticed(trip):
    server = trip.servers["travel_booking"]
    back = [b for b in server.bookings if b.flight_id and b.status == "completed"][1]
    flight = server.flights.get(back.flight_id)
    elsewhere = next(f for f in server.flights.where(day=flight.day) if f.origin not in (flight.origin, flight.destination))
    lived = dict(server.bookings.base.records)
    changes = {"flight_id": elsewhere.flight_id, "starts": elsewhere.departs, "ends": elsewhere.arrives}
    server.bookings.update(back.booking_id, **changes)
    lived[back.booking_id] = server.bookings.get(back.booking_id)
    server.bookings.base = type(server.bookings.base)(lived)
    assert any("lands in" in problem for problem in load("travel_booking").past(server))
