"""The rules of a car, each on one example."""

import pytest

from prove.servers.session import Session


class Garage:
    """A session on the car of seed 0, parked at a place, doors locked, windows shut, 40 liters in the tank."""

    def __init__(self):
        self.session = Session.open("vehicle", seed=0)
        self.server = self.session.servers["vehicle"]
        self.plate = next(iter(self.server.cars)).plate
        self.home = next(iter(self.server.places))
        self.put("cars", engine="off", gear="park", brake_pedal="released", parking_brake="engaged", speed=0, cruise_speed=None)
        self.put("doors", driver="locked", passengers="locked", trunk="locked")
        self.put("windows", driver=0, passenger=0, rear_left=0, rear_right=0)
        self.put("tanks", liters=40.0, capacity=60, liters_per_100_km=8.0)
        self.put("positions", latitude=self.home.latitude, longitude=self.home.longitude, place_id=self.home.place_id)
        for route in list(self.server.routes):
            self.server.routes.remove(route.plate)

    def __call__(self, tool, **arguments):
        return self.session.call(tool, arguments)

    def put(self, table, **changes):
        """Set the stage: change the car behind the tools' back."""
        return self.server.state[table].update(self.plate, **changes)

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
    before = car("get_vehicle_status").value["car"]["odometer_km"]
    car.set_off(80)
    car.session.advance(hours=1)
    after = car("get_vehicle_status").value
    assert round(after["car"]["odometer_km"] - before, 1) == 80.0
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
    car.put("tanks", liters=2.0)
    car.set_off(50)
    car.session.advance(hours=2)
    status = car("get_vehicle_status").value
    assert (status["car"]["engine"], status["car"]["speed"], status["fuel_liters"]) == ("off", 0, 0.0)
    assert car("list_trips", limit=1).value["items"][0]["distance_km"] == 25.0
    assert car("start_engine").code == "failed_precondition"


def test_guidance_ends_where_it_leads(car):
    goal = car.server.places.get("PLC-305")
    car("set_brake_pedal", pedal="pressed")
    assert car("start_navigation", place_id=goal.place_id).code == "failed_precondition"
    car.set_off(130)
    car.put("tanks", liters=60.0)
    distance = car("get_place", place_id=goal.place_id).value["distance_km"]
    assert car("start_navigation", place_id=goal.place_id).value["remaining_km"] == distance
    car.session.advance(hours=2)
    status = car("get_vehicle_status").value
    assert (status["destination"], status["car"]["speed"]) == (None, 0)
    assert car("get_place", place_id=goal.place_id).value["distance_km"] == 0.0
    assert car("start_navigation", place_id=goal.place_id).code == "failed_precondition"


def test_a_full_workshop_takes_nobody_else(car):
    center = car.server.service_centers.get("SVC-11")
    day = next(car.session.clock.now.date().fromordinal(d) for d in range(car.server.today.toordinal() + 30, 999_999) if d % 7)
    first, second, third = center.services[:3]
    for job in (first, second):
        assert car("book_service", service_center_id="SVC-11", service=job, day=day.isoformat()).ok
    assert car("book_service", service_center_id="SVC-11", service=third, day=day.isoformat()).code == "resource_exhausted"


def test_no_more_fuel_goes_in_than_there_is_room_for(car):
    assert car("fill_fuel", liters=21).code == "resource_exhausted"  # 40 of 60 liters are in
    assert car("fill_fuel", liters=20).value["liters"] == 60.0
