"""What must hold on a map after every call."""

from collections.abc import Iterator

from servers.maps.tools import MOST_STOPS, Maps, graph_of, metres_between


def invariants(maps: Maps) -> Iterator[str]:
    for road in maps.roads:
        straight = metres_between(maps.junctions.get(road.start), maps.junctions.get(road.end))
        if road.length_m < straight:
            yield f"{road.name} in {road.town} is shorter than the straight line"
    for spot in maps.spots:
        if spot.place_id not in maps.places or not 0 < spot.offset_m < maps.roads.get(spot.road_id).length_m:
            yield f"{spot.place_id} is not on its road"
    labels = [s.label.casefold() for s in maps.saved_places]
    if len(set(labels)) != len(labels) or any(s.place_id not in maps.places for s in maps.saved_places):
        yield "a label is used twice, or a saved place is nowhere"
    for route in maps.routes:
        graph = graph_of(maps.roads.base, maps.spots.base, route.mode)
        if not 2 <= len(route.stops) <= MOST_STOPS or len(set(route.stops)) != len(route.stops):
            yield f"{route.route_id} has too few or too many stops, or one twice"
        if not all(stop in graph for stop in route.stops):
            yield f"{route.route_id} has a stop that one cannot {route.mode} to"
