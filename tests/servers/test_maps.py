"""What a traveller can rely on: distances that agree with the globe, ways that agree with the roads, addresses that agree with both."""

from datetime import datetime, timedelta

import pytest

from prove.servers.session import Session
from servers.maps.tools import Junction, metres_between


@pytest.fixture
def island():
    return Session.open("maps", seed=0)


def value(session, tool, **arguments):
    result = session.call(tool, arguments)
    assert result.ok, result.text
    return result.value


def places(session, **fields):
    return session.servers["maps"].places.where(**fields)


def test_a_degree_of_latitude_is_111_kilometres():
    assert metres_between(Junction("a", 44.0, -13.0, 0), Junction("b", 45.0, -13.0, 0)) == 111_195


def test_every_place_is_found_by_its_address_and_by_its_coordinates(island):
    for place in island.servers["maps"].places:
        there = value(island, "geocode", address=place.address)["items"]
        assert [t["place_id"] for t in there] == [place.place_id]
        back = value(island, "reverse_geocode", latitude=place.latitude, longitude=place.longitude)
        assert back["address"] == place.address


def test_a_street_without_its_town_is_found_in_every_town_that_has_it(island):
    towns = [r.town for r in island.servers["maps"].roads if r.name == "Mill Lane"]
    found = value(island, "geocode", address="2 mill lane", limit=20)["items"]
    assert [t["address"] for t in found] == [f"2 Mill Lane, {town}" for town in towns]
    assert len(towns) > 1


def test_there_is_nothing_far_out_at_sea(island):
    assert island.call("reverse_geocode", {"latitude": 40.0, "longitude": -20.0}).code == "not_found"


def test_cars_reach_neither_the_islet_nor_the_refuge(island):
    mainland, islet = places(island, town="Averby")[0], places(island, town="Little Ostrey")[0]
    refuge = places(island, name="Ridge Refuge")[0]
    expected = {(islet, "drive"): False, (islet, "cycle"): True, (refuge, "drive"): False, (refuge, "cycle"): False, (refuge, "walk"): True}
    for (place, mode), reachable in expected.items():
        ends = {"origin": mainland.place_id, "destination": place.place_id}
        assert island.call("get_directions", ends | {"mode": mode}).ok is reachable


def test_no_way_is_shorter_than_the_straight_line_or_than_its_steps(island):
    for one, other in zip(places(island, category="cafe"), places(island, category="museum"), strict=False):
        way = value(island, "get_directions", origin=one.place_id, destination=other.place_id, mode="walk")
        assert way["distance_m"] >= metres_between(one, other) * 0.99 - 20  # coordinates are rounded to about ten metres
        assert way["distance_m"] == sum(s["distance_m"] for s in way["steps"])
        assert way["steps"][0]["turn"] == "start"


def test_the_rush_hour_takes_two_fifths_longer_and_only_by_car(island):
    one, other = places(island, town="Averby")[0], places(island, town="Wexcombe")[0]
    ends = {"origin": one.place_id, "destination": other.place_id}
    now = island.clock.now
    monday = now + timedelta(days=7 - now.weekday())
    for mode, hour, percent in (("drive", 8, 140), ("drive", 12, 100), ("walk", 8, 100)):
        free = value(island, "get_directions", **ends, mode=mode)["minutes"]
        leave = monday.replace(hour=hour, minute=0)
        trip = value(island, "get_travel_time", **ends, mode=mode, leave_at=leave.isoformat())
        assert trip["minutes"] == -(-free * percent // 100)
        assert datetime.fromisoformat(trip["arrives"]) - leave == timedelta(minutes=trip["minutes"])


def test_a_new_stop_comes_before_the_destination_and_the_ninth_is_one_too_many(island):
    cafes = [p.place_id for p in places(island, category="cafe")[:9]]
    route = value(island, "create_route", name="Crawl", origin=cafes[0], destination=cafes[1], mode="walk")["route_id"]
    for cafe in cafes[2:8]:
        stops = value(island, "add_route_stop", route_id=route, place_id=cafe)["stops"]
    assert stops == [cafes[0], *cafes[2:8], cafes[1]]
    assert island.call("add_route_stop", {"route_id": route, "place_id": cafes[0]}).code == "conflict"
    assert island.call("add_route_stop", {"route_id": route, "place_id": cafes[8]}).code == "resource_exhausted"
    plan = value(island, "get_route", route_id=route)
    assert plan["distance_m"] == sum(leg["distance_m"] for leg in plan["legs"])
    assert len(value(island, "get_distance_matrix", route_id=route)["pairs"]) == 8 * 7 // 2


def test_the_climb_less_the_fall_is_the_difference_in_height(island):
    refuge, foot = places(island, name="Ridge Refuge")[0], places(island, town="Harrowmere")[0]
    ends = {"origin": foot.place_id, "destination": refuge.place_id}
    route = value(island, "create_route", name="Up", mode="walk", **ends)["route_id"]
    profile = value(island, "get_elevation_profile", route_id=route)
    assert profile["ascent_m"] - profile["descent_m"] == refuge.elevation_m - foot.elevation_m


def test_a_museum_is_open_by_day_and_not_on_its_day_of_rest(island):
    museum = next(p for p in places(island, category="museum") if p.closed_on == "Monday")  # 10:00 to 17:00
    island.advance(hours=1)  # worlds begin at nine
    for _ in range(7):
        at_ten = value(island, "get_place", place_id=museum.place_id)["open_now"]
        assert at_ten == (island.clock.now.weekday() != 0)
        island.advance(hours=7)
        assert not value(island, "get_place", place_id=museum.place_id)["open_now"]
        island.advance(hours=17)
