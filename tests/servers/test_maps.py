"""What a traveller can rely on: distances that agree with the globe, ways that agree with the roads, addresses that agree with both."""

from datetime import datetime, timedelta
from itertools import combinations

import pytest

from prove.library.maps.geography import metres_between
from prove.library.maps.records import Junction
from prove.servers.catalog import load
from prove.servers.session import Session


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
    roads = list(island.servers["maps"].roads)
    name = max((r.name for r in roads if r.kind == "street"), key=[r.name for r in roads].count)
    towns = [r.town for r in roads if r.name == name]
    found = value(island, "geocode", address=f"2 {name.lower()}", limit=20)["items"]
    assert [t["address"] for t in found] == [f"2 {name}, {town}" for town in towns]
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
        assert way["distance_m"] >= metres_between(one, other)
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


@pytest.mark.parametrize("seed", range(6))
def test_no_road_is_shorter_than_the_crow_flies(seed):
    maps = Session.open("maps", seed).servers["maps"]
    pairs = [
        (abs(a.offset_m - b.offset_m), maps.places.get(a.place_id), maps.places.get(b.place_id))
        for road in maps.roads
        for a, b in combinations(maps.spots.where(road_id=road.road_id), 2)
    ]
    assert len(pairs) > 100
    assert [(road, one, other) for road, one, other in pairs if road < metres_between(one, other)] == []


@pytest.mark.parametrize("seed", range(6))
def test_home_is_a_home_the_dentist_a_dentist_and_the_commute_ends_at_work(seed):
    session = Session.open("maps", seed)
    saved = {s["label"]: value(session, "get_place", place_id=s["place_id"]) for s in value(session, "list_saved_places")["items"]}
    expected = {"Home": "residence", "Work": "office", "Gym": "gym", "Grandma": "residence", "Dentist": "dentist"}
    assert {label: place["category"] for label, place in saved.items()} == expected
    commute = next(r for r in value(session, "list_routes")["items"] if r["name"] == "Commute")
    leg = value(session, "get_route", route_id=commute["route_id"])["legs"][0]
    assert (leg["origin"], leg["destination"]) == (saved["Home"]["place_id"], saved["Work"]["place_id"])


def test_what_an_address_gives_leads_on_to_a_way(island):
    there = value(island, "geocode", address="3 South Road, Averby")["items"][0]  # where no place is
    assert there["place_distance_m"] > 0
    nearest = min(metres_between(p, Junction("", there["latitude"], there["longitude"], 0)) for p in places(island))
    assert there["place_distance_m"] == nearest
    back = value(island, "reverse_geocode", latitude=there["latitude"], longitude=there["longitude"])
    assert back == there
    home = places(island, town="Northby")[0].place_id
    assert value(island, "get_directions", origin=home, destination=there["place_id"])["distance_m"] > 0


def test_an_address_may_be_spelled_as_people_spell_it(island):
    place = places(island, town="Port Selwick")[0]
    number, _, rest = place.address.partition(" ")
    for spelling in (place.address.upper(), f" {number}  {rest.lower().replace(',', ' ,')} "):
        assert value(island, "geocode", address=spelling)["items"][0]["place_id"] == place.place_id
    assert island.call("geocode", {"address": "   "}).code == "invalid_argument"
    assert island.call("geocode", {"address": "0 " + rest}).code == "not_found"


@pytest.mark.parametrize("tool", ["search_places", "find_nearby"])
def test_every_place_can_be_reached_by_turning_pages(island, tool):
    around = {"place_id": "PLC-1001", "radius_m": 50_000} if tool == "find_nearby" else {}
    total = value(island, tool, **around)["total"]
    pages = [value(island, tool, **around, limit=50, offset=offset)["items"] for offset in range(0, total, 50)]
    assert len({p["place_id"] for page in pages for p in page}) == total > 100


@pytest.mark.parametrize("label", ["home", " HOME "])
def test_a_label_is_one_whatever_its_capitals_and_spaces(island, label):
    free = places(island, category="museum")[0].place_id
    assert island.call("save_place", {"place_id": free, "label": label}).code == "conflict"
    assert island.call("save_place", {"place_id": free, "label": "  "}).code == "invalid_argument"


# --- refusals whose advice works


def place_saved_already(island):
    home = value(island, "list_saved_places", query="home")["items"][0]
    save = {"place_id": home["place_id"], "label": "My place"}
    advice = f"remove {home['saved_place_id']} first"
    return ("save_place", save, advice), [("remove_saved_place", {"saved_place_id": home["saved_place_id"]}), ("save_place", save)]


def label_taken(island):
    free = places(island, category="museum")[0].place_id
    return ("save_place", {"place_id": free, "label": "home"}, "choose another label"), [("save_place", {"place_id": free, "label": "Art"})]


def label_wanted_back(island):
    home = value(island, "list_saved_places", query="home")["items"][0]["saved_place_id"]
    save = {"place_id": places(island, category="museum")[0].place_id, "label": "home"}
    return ("save_place", save, f"or remove {home}"), [("remove_saved_place", {"saved_place_id": home}), ("save_place", save)]


def cycling_to_the_refuge(island):
    ends = {"origin": places(island, town="Averby")[0].place_id, "destination": places(island, name="Ridge Refuge")[0].place_id}
    return ("get_directions", ends | {"mode": "cycle"}, "one can walk there"), [("get_directions", ends | {"mode": "walk"})]


def driving_to_the_islet(island):
    ends = {"origin": places(island, town="Averby")[0].place_id, "destination": places(island, town="Little Ostrey")[0].place_id}
    steps = [("get_directions", ends | {"mode": mode}) for mode in ("cycle", "walk")]
    return ("get_directions", ends | {"mode": "drive"}, "one can cycle or walk there"), steps


def street_in_another_town(island):
    streets = [r for r in island.servers["maps"].roads if r.kind == "street"]
    street = next(r for r in streets if not any(o.name == r.name and o.town == "Averby" for o in streets))
    wrong, right, bare = (f"2 {street.name}{town}" for town in (", Averby", f", {street.town}", ""))
    return ("geocode", {"address": wrong}, street.town), [("geocode", {"address": right}), ("geocode", {"address": bare})]


def number_too_high(island):
    street = next(r for r in island.servers["maps"].roads if r.kind == "street")
    last = street.length_m // 20
    where = f"{street.name}, {street.town}"
    return ("geocode", {"address": f"9999 {where}"}, f"from 1 to {last}"), [("geocode", {"address": f"{last} {where}"})]


def street_misspelled(island):
    return ("geocode", {"address": "2 Hihg Street"}, "did you mean 'high street'?"), [("geocode", {"address": "2 high street"})]


def town_unknown(island):
    return ("search_places", {"town": "Gotham"}, "there are Port Selwick"), [("search_places", {"town": "Port Selwick"})]


def stop_too_far_back(island):
    commute = value(island, "list_routes", query="commute")["items"][0]["route_id"]
    stop = {"route_id": commute, "place_id": places(island, town="Northby", category="cafe")[0].place_id}
    return ("add_route_stop", stop | {"number": 5}, "number 2 to 2"), [("add_route_stop", stop | {"number": 2})]


def name_of_a_route_taken(island):
    ends = {"origin": places(island)[0].place_id, "destination": places(island)[1].place_id, "mode": "walk"}
    return ("create_route", ends | {"name": "COMMUTE"}, "choose another name"), [("create_route", ends | {"name": "Stroll"})]


def leaving_yesterday(island):
    now = island.clock.now
    trip = {"origin": places(island)[0].place_id, "destination": places(island)[1].place_id}
    past, last = (now - timedelta(days=1)).isoformat(), now + timedelta(days=365)
    steps = [("get_travel_time", trip | {"leave_at": moment.isoformat()}) for moment in (now, last)]
    return ("get_travel_time", trip | {"leave_at": past}, f"now, {now:%Y-%m-%dT%H:%MZ}, and {last:%Y-%m-%dT%H:%MZ}"), steps


ADVICE = [
    place_saved_already, label_taken, label_wanted_back, cycling_to_the_refuge, driving_to_the_islet, street_in_another_town,
    number_too_high, street_misspelled, town_unknown, stop_too_far_back, name_of_a_route_taken, leaving_yesterday,
]  # fmt: skip


@pytest.mark.parametrize("case", ADVICE)
def test_whoever_follows_the_advice_of_a_refusal_gets_on(island, case):
    (tool, arguments, advice), steps = case(island)
    refused = island.call(tool, arguments)
    assert not refused.ok
    assert advice in refused.value["error"]["message"]
    for step, values in steps:
        value(island, step, **values)


# --- the past


@pytest.mark.parametrize("seed", range(25))
def test_the_island_and_what_is_saved_on_it_hang_together(seed):
    session, domain = Session.open("maps", seed), load("maps")
    session.advance(days=30)
    assert not [*domain.past(session.servers["maps"]), *domain.invariants(session.servers["maps"])]


def test_a_road_that_is_cut_short_is_noticed(island):
    road = next(iter(island.servers["maps"].roads))
    island.servers["maps"].roads.update(road.road_id, length_m=road.length_m // 2)
    assert any(f"{road.name} in {road.town}" in problem for problem in load("maps").past(island.servers["maps"]))


@pytest.mark.parametrize("seed", range(600, 606))
def test_no_school_office_or_dentist_works_on_sundays_and_nobody_shares_a_telephone(seed):
    found = list(Session.open("maps", seed).servers["maps"].places)
    assert {p.closed_on for p in found if p.category in ("school", "office", "dentist")} == {"Sunday"}
    assert len({p.phone for p in found}) == len(found)


@pytest.mark.parametrize("seed", range(600, 606))
def test_errands_are_done_in_the_town_where_one_lives(seed):
    maps = Session.open("maps", seed).servers["maps"]
    errands = next(r for r in maps.routes if r.name == "Saturday errands")
    assert {maps.places.get(stop).town for stop in errands.stops} == {maps.places.get(errands.stops[0]).town}
