"""The rules of a car, each on one example."""

from datetime import date, timedelta
from itertools import pairwise
from random import Random

import pytest

from prove.library.vehicle.driving import metres_between
from prove.library.vehicle.records import Appointment
from prove.servers.catalog import load
from prove.servers.session import Session


class Garage:
    """A session on the car of seed 0, parked at a fuel station, doors locked, windows shut, 40 liters in the tank."""

    def __init__(self):
        self.session = Session.open("vehicle", seed=0)
        self.server = self.session.servers["vehicle"]
        self.plate = next(iter(self.server.cars)).plate
        self.home = self.server.places.where(category="fuel_station")[0]
        self.put("cars", engine="off", gear="park", brake_pedal="released", parking_brake="engaged", speed=0, cruise_speed=None)
        self.put("doors", driver="locked", passengers="locked", trunk="locked")
        self.put("windows", driver=0, passenger=0, rear_left=0, rear_right=0)
        self.put("tanks", capacity=60, ml_per_km=80)
        self.put("motions", since=self.session.clock.now, fuel_ul=40_000_000)
        self.stand_at(self.home)
        for way in list(self.server.ways):
            self.server.ways.remove(way.plate)

    def __call__(self, tool, **arguments):
        return self.session.call(tool, arguments)

    def put(self, table, **changes):
        """Set the stage: change the car behind the tools' back."""
        return self.server.state[table].update(self.plate, **changes)

    def stand_at(self, place):
        self.put("motions", latitude=place.latitude, longitude=place.longitude, place_id=place.place_id)

    def place(self, category, at_least_km=0):
        places = self.server.places.where(category=category)
        return next(p for p in places if self("get_place", place_id=p.place_id).value["distance_km"] > at_least_km)

    def next_day(self, ahead=1):
        """The first open day so many days ahead or later."""
        day = self.server.today + timedelta(days=ahead)
        return (day + timedelta(days=day.weekday() == 6)).isoformat()

    def wait_until(self, hour):
        now = self.session.clock.now
        self.session.advance(hours=(hour - now.hour - now.minute / 60) % 24)

    def status(self):
        return self("get_vehicle_status").value

    def set_off(self, speed):
        self("set_brake_pedal", pedal="pressed")
        self("start_engine")
        self("set_parking_brake", parking_brake="released")
        self("shift_gear", gear="drive")
        self("set_brake_pedal", pedal="released")
        return self("set_cruise_control", speed=speed)


@pytest.fixture
def car():
    return Garage()


def test_the_engine_starts_only_with_the_brake_pressed(car):
    assert car("start_engine").code == "failed_precondition"
    car("set_brake_pedal", pedal="pressed")
    assert car("start_engine").value["engine"] == "on"


def test_a_car_drives_only_with_its_doors_locked_and_keeps_them_so(car):
    car("set_door_lock", door="trunk", lock="unlocked")
    assert "trunk" in car.set_off(60).text
    car("set_door_lock", door="all", lock="locked")
    assert car("set_cruise_control", speed=60).value["speed"] == 60
    assert car("set_door_lock", door="driver", lock="unlocked").code == "failed_precondition"


def test_windows_stay_shut_above_100(car):
    car.set_off(100)
    assert car("set_window", window="driver", position=50).ok
    assert car("set_cruise_control", speed=120).code == "failed_precondition"
    car("set_window", window="driver", position=0)
    assert car("set_cruise_control", speed=120).ok
    assert car("set_window", window="driver", position=50).code == "failed_precondition"


def test_the_brake_stops_the_car_and_ends_cruise_control(car):
    car.set_off(80)
    assert car("shift_gear", gear="park").code == "failed_precondition"
    stopped = car("set_brake_pedal", pedal="pressed").value
    assert (stopped["speed"], stopped["cruise_speed"]) == (0, None)
    assert car("shift_gear", gear="park").ok


def test_an_hour_at_80_burns_what_80_km_need(car):
    before = car.status()["odometer_km"]
    car.set_off(80)
    car.session.advance(hours=1)
    after = car("get_vehicle_status").value
    assert round(after["odometer_km"] - before, 1) == 80.0
    assert after["fuel_liters"] == 33.6  # 40 - 80 km at 8 liters per 100 km
    assert after["range_km"] == 420


def test_an_engine_that_idles_burns_fuel_and_goes_nowhere(car):
    car("set_brake_pedal", pedal="pressed")
    car("start_engine")
    car.session.advance(hours=5)
    status = car("get_vehicle_status").value
    assert status["fuel_liters"] == 36.0  # 40 - 5 hours at 0.8 liters
    car("stop_engine")
    assert car("list_trips", limit=50).value["total"] == len(car.session.worlds["vehicle"].bases["trips"].records)


def test_a_car_without_fuel_stops_and_logs_its_trip(car):
    car.put("motions", fuel_ul=2_000_000)
    car.set_off(50)
    car.session.advance(minutes=30, microseconds=-1)
    assert car.status()["car"]["engine"] == "on"
    car.session.advance(microseconds=1)
    status = car.status()
    assert (status["car"]["engine"], status["car"]["speed"], status["fuel_liters"]) == ("off", 0, 0.0)
    assert '"fuel_liters":0.0,' in car("get_vehicle_status").text  # not -0.0
    assert car("list_trips", limit=1).value["items"][0]["distance_km"] == 25.0
    assert car("start_engine").code == "failed_precondition"


def test_guidance_ends_where_it_leads(car):
    goal = car.place("hotel", at_least_km=20)
    car("set_brake_pedal", pedal="pressed")
    assert car("start_navigation", place_id=goal.place_id).code == "failed_precondition"
    car.set_off(130)
    car.put("motions", fuel_ul=60_000_000)
    distance = car("get_place", place_id=goal.place_id).value["distance_km"]
    assert car("start_navigation", place_id=goal.place_id).value["remaining_km"] == distance
    car.session.advance(hours=2)
    status = car("get_vehicle_status").value
    assert (status["destination"], status["car"]["speed"]) == (None, 0)
    assert car("get_place", place_id=goal.place_id).value["distance_km"] == 0.0
    assert car("start_navigation", place_id=goal.place_id).code == "failed_precondition"


def test_a_full_workshop_takes_nobody_else(car):
    center = next(iter(car.server.service_centers))
    booking = {"service_center_id": center.service_center_id, "day": car.next_day(30)}
    for plate in ("AAA-0001", "AAA-0002"):
        day, new_id = date.fromisoformat(booking["day"]), car.server.appointments.mint()
        car.server.appointments.add(Appointment(new_id, center.service_center_id, plate, center.services[0], day))
    assert car("book_service", **booking, service=center.services[0]).code == "resource_exhausted"


def test_one_car_takes_one_bay_however_much_is_done_to_it(car):
    center = next(c for c in car.server.service_centers if len(c.services) >= 3)
    booking = {"service_center_id": center.service_center_id, "day": car.next_day(30)}
    assert all(car("book_service", **booking, service=job).ok for job in center.services)


def test_a_car_is_not_booked_in_at_two_service_centers_on_one_day(car):
    one = next(iter(car.server.service_centers))
    job, other = next((j, c) for c in car.server.service_centers if c is not one for j in c.services if j != one.services[0])
    day, first = car.next_day(30), {"service_center_id": one.service_center_id, "service": one.services[0]}
    second = {"service_center_id": other.service_center_id, "service": job}
    assert car("book_service", **first, day=day).ok
    refused = car("book_service", **second, day=day)
    assert refused.code == "conflict"
    assert "choose another day" in refused.text
    assert car("book_service", **second, day=car.next_day(33)).ok
    assert car("book_service", **second, day=day).code == "conflict"


@pytest.mark.parametrize("seed", range(700, 706))
def test_towns_lie_apart_and_their_places_together(seed):
    places = list(Session.open("vehicle", seed=seed).servers["vehicle"].places)
    for one in places:
        nearest = min((p for p in places if p is not one), key=lambda p: metres_between(one, p))
        assert nearest.town == one.town


def test_no_more_fuel_goes_in_than_there_is_room_for(car):
    assert car("fill_fuel", liters=21).code == "resource_exhausted"  # 40 of 60 liters are in
    assert car("fill_fuel", liters=20).value["liters"] == 60.0


# --- interlocks hold on every path


def test_beams_go_off_with_the_engine_and_auto_stays(car):
    car("set_brake_pedal", pedal="pressed")
    for lights, after in (("low_beam", "off"), ("high_beam", "off"), ("auto", "auto")):
        car("start_engine")
        car("set_headlights", headlights=lights)
        assert car("stop_engine").value["headlights"] == after


def test_a_car_that_ran_dry_in_drive_would_roll_without_a_brake(car):
    car.put("motions", fuel_ul=100_000)
    car.set_off(50)
    car("set_headlights", headlights="low_beam")
    car.session.advance(hours=1)
    status = car.status()["car"]
    assert (status["engine"], status["gear"], status["parking_brake"], status["headlights"]) == ("off", "drive", "released", "off")
    assert car("set_brake_pedal", pedal="released").code == "failed_precondition"
    car("shift_gear", gear="park")
    assert car("set_brake_pedal", pedal="released").ok


def test_a_running_car_holds_itself_in_drive_but_rolls_in_neutral(car):
    car("set_brake_pedal", pedal="pressed")
    car("start_engine")
    car("set_parking_brake", parking_brake="released")
    car("shift_gear", gear="neutral")
    assert car("set_brake_pedal", pedal="released").code == "failed_precondition"
    car("shift_gear", gear="drive")
    assert car("set_brake_pedal", pedal="released").ok


def test_nobody_sets_off_after_dark_without_lights(car):
    car.wait_until(21)
    car("set_headlights", headlights="off")
    assert "dark" in car.set_off(60).text
    assert car("set_headlights", headlights="low_beam").ok
    assert car("set_cruise_control", speed=60).ok
    assert car("set_headlights", headlights="off").code == "failed_precondition"


def test_the_lights_of_a_moving_car_come_on_at_nightfall(car):
    car.put("motions", fuel_ul=60_000_000)
    car.wait_until(18)
    car.set_off(60)
    car("set_headlights", headlights="off")
    car.session.advance(hours=2, microseconds=-1)
    assert car.status()["car"]["headlights"] == "off"
    car.session.advance(microseconds=1)
    assert car.status()["car"]["headlights"] == "auto"


def test_fuel_comes_from_a_station_or_in_a_can_to_an_empty_tank(car):
    car.stand_at(car.place("hotel"))
    assert car("fill_fuel", liters=5).code == "failed_precondition"
    car.put("motions", fuel_ul=0)
    assert car("fill_fuel", liters=11).code == "resource_exhausted"
    assert car("fill_fuel", liters=10).value["liters"] == 10.0
    assert car("fill_fuel", liters=1).code == "failed_precondition"
    car.stand_at(car.home)
    assert car("fill_fuel", liters=50).value["liters"] == 60.0


def test_a_car_without_guidance_goes_straight_on(car):
    car.put("motions", heading="north")
    car.set_off(100)
    before = car.status()["location"]
    assert before["at"] == f"{car.home.name}, {car.home.street}"
    car.session.advance(hours=1)
    after = car.status()["location"]
    assert after["at"] == "on the road"
    assert round((after["latitude"] - before["latitude"]) * 111.2, 1) == 80.0  # 100 km of road are 80 as the crow flies
    assert after["longitude"] == before["longitude"]


def test_under_guidance_what_is_left_shrinks_by_what_was_driven(car):
    goal = car.place("hotel", at_least_km=20)
    car.set_off(60)
    total = car("start_navigation", place_id=goal.place_id).value["remaining_km"]
    car.session.advance(minutes=10)
    assert round(total - car("get_place", place_id=goal.place_id).value["distance_km"], 1) == 10.0
    assert round(total - car("cancel_navigation").value["remaining_km"], 1) == 10.0


# --- time


@pytest.mark.parametrize("pieces", [2, 36, 360])
def test_six_hours_burn_the_same_in_one_piece_and_in_many(pieces):
    for seed in (3, 16):
        one, many = Session.open("vehicle", seed), Session.open("vehicle", seed)
        one.advance(hours=6)
        for _ in range(pieces):
            many.advance(seconds=6 * 3600 / pieces)
        assert one.call("get_vehicle_status", {}).text == many.call("get_vehicle_status", {}).text
        assert one.digest() == many.digest()


def test_time_may_be_cut_anywhere(car):
    """A car that drives and then idles, in random pieces."""
    rng = Random(1)
    car.set_off(77)
    car("start_navigation", place_id=car.place("hotel", at_least_km=20).place_id)
    whole, cut = car.session.fork(), car.session.fork()
    whole.advance(seconds=200_000)
    moments = sorted(rng.random() * 200_000 for _ in range(40))
    for before, after in zip([0.0, *moments], [*moments, 200_000], strict=True):
        cut.advance(microseconds=round(after * 1e6) - round(before * 1e6))
    assert whole.digest() == cut.digest()


def test_what_changes_no_speed_changes_nothing_of_the_way(car):
    car.set_off(83)
    busy = car.session.fork()
    for _ in range(7):
        car.session.advance(minutes=7)
        busy.advance(minutes=7)
        busy.call("set_cruise_control", {"speed": 83})
        busy.call("set_window", {"window": "driver", "position": 10})
    assert car.status()["fuel_liters"] == busy.call("get_vehicle_status", {}).value["fuel_liters"]
    assert car.server.motions.one() == busy.servers["vehicle"].motions.one()


# --- service


def booked(car, service="tires"):
    center = next(c for c in car.server.service_centers if service in c.services)
    day = car.next_day(30)
    appointment = car("book_service", service_center_id=center.service_center_id, service=service, day=day).value
    return center, appointment


def test_an_appointment_is_shown_and_moved_by_booking_it_again(car):
    center, appointment = booked(car)
    assert appointment in car.status()["appointments"]
    again = {"service_center_id": center.service_center_id, "service": "tires"}
    assert car("book_service", **again, day=appointment["day"]).code == "conflict"
    moved = car("book_service", **again, day=car.next_day(40)).value
    assert moved == appointment | {"day": car.next_day(40)}
    assert appointment not in car.status()["appointments"]


@pytest.mark.parametrize(("there", "status"), [(True, "done"), (False, "missed")])
def test_a_job_is_done_on_a_car_that_stands_at_the_service_center(car, there, status):
    center, appointment = booked(car)
    car.put("tires", front_left=180)
    if there:
        car.stand_at(car.server.places.get(center.place_id))
    car.session.advance(days=33)
    assert next(a for a in car.status()["appointments"] if a["appointment_id"] == appointment["appointment_id"])["status"] == status
    assert (car.server.tires.one().front_left == car.server.tires.one().recommended) is there


def test_an_inspection_counts_from_the_odometer(car):
    center, _ = booked(car, "inspection")
    car.stand_at(car.server.places.get(center.place_id))
    car.session.advance(days=33)
    status = car.status()
    assert status["car"]["inspection_due_km"] == int(status["odometer_km"]) + 30_000


# --- lists


def test_trips_come_latest_first_and_can_all_be_reached(car):
    first, rest = car("list_trips", limit=5).value, car("list_trips", limit=50, offset=5).value
    trips = [*first["items"], *rest["items"]]
    assert len(trips) == first["total"]
    assert [t["trip_id"] for t in trips] == sorted((t["trip_id"] for t in trips), reverse=True)
    assert [t["day"] for t in trips] == sorted((t["day"] for t in trips), reverse=True)


def test_every_place_can_be_reached_by_turning_pages(car):
    pages = [car("search_places", limit=50, offset=offset).value for offset in (0, 50)]
    assert len({p["place_id"] for page in pages for p in page["items"]}) == pages[0]["total"] > 50


# --- refusals whose advice works

PRESS, RELEASE = ("set_brake_pedal", {"pedal": "pressed"}), ("set_brake_pedal", {"pedal": "released"})
START, PARK, DRIVE = ("start_engine", {}), ("shift_gear", {"gear": "park"}), ("shift_gear", {"gear": "drive"})
CRUISE = ("set_cruise_control", {"speed": 60})
LOCK = ("set_door_lock", {"door": "all", "lock": "locked"})
UNLOCK = ("set_door_lock", {"door": "all", "lock": "unlocked"})
FAST, SLOWER = ("set_cruise_control", {"speed": 120}), ("set_cruise_control", {"speed": 100})
OPEN, SHUT = ("set_window", {"window": "driver", "position": 50}), ("set_window", {"window": "driver", "position": 0})
FREE, HOLD = ("set_parking_brake", {"parking_brake": "released"}), ("set_parking_brake", {"parking_brake": "engaged"})
NEUTRAL = ("shift_gear", {"gear": "neutral"})
GO = ("start_navigation", {"place_id": "PLC-320"})


@pytest.mark.parametrize(
    ("before", "refused", "advice", "steps"),
    [
        ([], START, "press it first", [PRESS, START]),
        ([PRESS, START, DRIVE], ("stop_engine", {}), "shift to park first", [PARK, ("stop_engine", {})]),
        ([PRESS], DRIVE, "start it first", [START, DRIVE]),
        ([PRESS, START], CRUISE, "shift to drive first", [DRIVE, RELEASE, CRUISE]),
        ([PRESS, START, DRIVE], CRUISE, "release it first", [RELEASE, CRUISE]),
        ([PRESS, START, DRIVE, RELEASE, UNLOCK], CRUISE, "lock the doors first", [LOCK, CRUISE]),
        ([PRESS, START, DRIVE, RELEASE, CRUISE], UNLOCK, "press the brake to stop first", [PRESS, UNLOCK]),
        (
            [],
            ("set_headlights", {"headlights": "low_beam"}),
            "start it first",
            [PRESS, START, ("set_headlights", {"headlights": "low_beam"})],
        ),
        ([PRESS, START], ("fill_fuel", {"liters": 5}), "stop it first", [("stop_engine", {}), ("fill_fuel", {"liters": 5})]),
        ([], ("fill_fuel", {"liters": 30}), "room for 20 whole liters", [("fill_fuel", {"liters": 20})]),
        ([], ("list_trips", {"since": "2026-05-02", "until": "2026-05-01"}), "swap them", [("list_trips", {"since": "2026-05-01"})]),
        ([], ("cancel_navigation", {}), "start navigation first", [PRESS, START, GO, ("cancel_navigation", {})]),
        ([PRESS, START, GO], ("start_navigation", {"place_id": "PLC-321"}), "cancel it first", [("cancel_navigation", {}), GO]),
        ([PRESS, START, FREE, NEUTRAL], RELEASE, "or engage the parking brake first", [HOLD, RELEASE]),
        ([PRESS, START, FREE, NEUTRAL], RELEASE, "shift to park or", [PARK, RELEASE]),
        ([PRESS, START, DRIVE, RELEASE, OPEN], FAST, "close driver first", [SHUT, FAST]),
        ([PRESS, START, DRIVE, RELEASE, FAST], OPEN, "slow down to 100 first", [SLOWER, OPEN]),
        ([], FREE, "start it first", [PRESS, START, FREE]),
    ],
)
def test_whoever_follows_the_advice_of_a_refusal_gets_on(car, before, refused, advice, steps):
    for tool, arguments in before:
        assert car(tool, **arguments).ok
    result = car(refused[0], **refused[1])
    assert advice in result.value["error"]["message"]
    for tool, arguments in steps:
        assert car(tool, **arguments).ok


def test_whoever_is_told_of_the_dark_sets_the_lights_or_stops(car):
    car.wait_until(21)
    car("set_headlights", headlights="off")
    assert "set them to auto or low_beam first" in car.set_off(60).text
    for lights in ("auto", "low_beam"):
        assert car("set_headlights", headlights=lights).ok
        assert car("set_cruise_control", speed=60).ok
    assert "stop first, or set auto" in car("set_headlights", headlights="off").text
    assert car("set_headlights", headlights="auto").ok
    assert car("set_brake_pedal", pedal="pressed").ok
    assert car("set_headlights", headlights="off").ok


@pytest.mark.parametrize(
    ("ahead", "advice"),
    [(0, "choose a later day"), (366, "choose a day before"), ("sunday", "choose another day"), ("full", "choose another day")],
)
def test_whoever_chooses_another_day_gets_an_appointment(car, ahead, advice):
    full = next(a for a in car.server.appointments if a.status == "booked" and len(on_day(car, a)) == 2)
    center = car.server.service_centers.get(full.service_center_id)
    sunday = car.server.today + timedelta(days=6 - car.server.today.weekday() or 7)
    day = {"sunday": sunday, "full": full.day}.get(ahead) or car.server.today + timedelta(days=ahead)
    job = {"service_center_id": center.service_center_id, "service": center.services[0]}
    assert advice in car("book_service", **job, day=day.isoformat()).text
    assert car("book_service", **job, day=car.next_day(50)).ok


def on_day(car, appointment):
    return car.server.appointments.where(service_center_id=appointment.service_center_id, day=appointment.day)


def test_whoever_is_told_to_drive_to_a_fuel_station_can_fill_up_there(car):
    hotel = car.place("hotel")
    car.stand_at(hotel)
    assert "drive to one first" in car("fill_fuel", liters=20).text
    station = car("search_places", category="fuel_station").value["items"][0]
    car.set_off(60)
    car("start_navigation", place_id=station["place_id"])
    car.session.advance(hours=3)
    assert car("shift_gear", gear="park").ok
    assert car("stop_engine").ok
    assert car("fill_fuel", liters=20).ok


def test_whoever_ran_dry_gets_on_with_a_can(car):
    car.put("motions", fuel_ul=1_000_000)
    car.set_off(60)
    car.session.advance(hours=1)
    assert car("shift_gear", gear="park").ok
    assert "fill in up to 10 liters first" in car("start_engine").text
    assert car("fill_fuel", liters=10).ok
    assert car("start_engine").ok


# --- the past


@pytest.mark.parametrize("seed", range(25))
def test_the_past_is_one_that_the_car_could_have_had(seed):
    session, domain = Session.open("vehicle", seed), load("vehicle")
    assert not list(domain.past(session.servers["vehicle"]))
    session.advance(days=30)
    assert not [*domain.past(session.servers["vehicle"]), *domain.invariants(session.servers["vehicle"])]


def test_a_trip_that_is_shorter_than_its_road_is_noticed(car):
    trips = list(car.server.trips)
    last = next(b for a, b in pairwise(trips) if a.place_id and b.place_id)
    car.server.trips.update(last.trip_id, distance_km=0.5)
    assert any(last.trip_id in problem for problem in load("vehicle").past(car.server))
