"""What must hold on a map after every call, and of what its user has saved before."""

from collections.abc import Iterator
from itertools import combinations, pairwise

from .geography import HOUSE_M, MOST_STOPS, graph_of, has_way, metres_between, plain, point_on
from .records import Place, Road, Spot
from .tools import Maps
from .world import ALWAYS_RESTS, SAVED


def invariants(maps: Maps) -> Iterator[str]:
    labels, saved = [plain(s.label) for s in maps.saved_places], [s.place_id for s in maps.saved_places]
    if len(set(labels)) != len(labels) or len(set(saved)) != len(saved) or any(place_id not in maps.places for place_id in saved):
        yield "a label or a place is saved twice, or a saved place is nowhere"
    names = [plain(r.name) for r in maps.routes]
    if len(set(names)) != len(names):
        yield "two routes have one name"
    for route in maps.routes:
        graph = graph_of(maps.roads.base, maps.spots.base, route.mode)
        if not 2 <= len(route.stops) <= MOST_STOPS or len(set(route.stops)) != len(route.stops):
            yield f"{route.route_id} has too few or too many stops, or one twice"
        if not all(has_way(graph, a, b) for a, b in pairwise(route.stops)):
            yield f"{route.route_id} has a stop that one cannot {route.mode} to"


def past(maps: Maps) -> Iterator[str]:
    """What no surveyor could have drawn, and nobody would have saved."""
    for road in maps.roads:
        yield from _off_the_ground(maps, road, maps.spots.where(road_id=road.road_id))
    for place in maps.places:
        if not place.opens < place.closes:
            yield f"{place.name} in {place.town} closes before it opens"
        if place.category in ALWAYS_RESTS and place.closed_on != "Sunday":
            yield f"{place.name} in {place.town}, a {place.category}, is open on Sundays"
    if len({place.phone for place in maps.places}) < len(maps.places):
        yield "two places have one telephone number"
    sorts = {label: category for label, _, category in SAVED}
    began_with = maps.saved_places.base.records.values() or list(maps.saved_places)
    saved = {s.label: maps.places.get(s.place_id) for s in began_with if s.label in sorts}
    for label, place in saved.items():
        if place.category != sorts[label]:
            yield f"{label} is a {place.category}"
    for route in maps.routes.base.records.values():
        if route.name == "Commute" and [saved["Home"].place_id, saved["Work"].place_id] != route.stops:
            yield f"the commute leads from {route.stops[0]} to {route.stops[-1]}"
        if route.name == "Saturday errands" and len({maps.places.get(stop).town for stop in route.stops}) > 1:
            yield "the errands lead from town to town for what there is in each"


def _off_the_ground(maps: Maps, road: Road, spots: list[Spot]) -> Iterator[str]:
    """No way along a road is shorter than the crow flies, and what is on it is where its house number says."""
    start, end = maps.junctions.get(road.start), maps.junctions.get(road.end)
    along: list[tuple[int, Place | object]] = [(s.offset_m, maps.places.get(s.place_id)) for s in spots]
    for (metres, one), (further, other) in combinations([(0, start), *along, (road.length_m, end)], 2):
        if abs(further - metres) < metres_between(one, other):  # type: ignore[arg-type]
            yield f"{road.name} in {road.town} is shorter than the straight line"
    for spot in spots:
        place = maps.places.get(spot.place_id)
        if not 0 < spot.offset_m < road.length_m or point_on(start, end, spot.offset_m / road.length_m) != (
            place.latitude,
            place.longitude,
        ):
            yield f"{place.name} is not on {road.name} in {road.town}"
        if place.address != f"{spot.offset_m // HOUSE_M} {road.name}, {road.town}" or place.town != road.town:
            yield f"{place.name} is not at {place.address}"
        if not min(start.elevation_m, end.elevation_m) <= place.elevation_m <= max(start.elevation_m, end.elevation_m):
            yield f"{place.name} is higher or lower than its road"
