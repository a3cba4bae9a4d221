"""Maps of the Isle of Averra. Distances on the map are great-circle, those on the way are along its roads; times are in UTC."""

from datetime import timedelta
from itertools import combinations, pairwise
from math import atan2, degrees
from typing import Any

import networkx as nx
from msgspec.structs import asdict

from prove.servers import (
    Latitude, Limit, Longitude, Moment, Offset, Page, Query, Server, ToolError, brief, matches, page, read, require, table, write,
)  # fmt: skip
from prove.servers.errors import did_you_mean

from .geography import (
    HOUSE_M, MOST_STOPS, OFF_THE_MAP_M, SPEEDS, TRAFFIC_PERCENT,
    graph_of, has_way, metres_between, metres_east_north, minutes_of, nearest_on, parts_of, plain, point_on, traffic_at,
)  # fmt: skip
from .records import (
    Address, Category, Directions, Elevation, Junction, Label, Leg, Location, Matrix, NearbyLine, Note, Place, PlaceDetails, PlaceId,
    PlaceLine, Radius, Road, Route, RouteId, RouteLine, RouteName, RoutePlan, SavedPlace, SavedPlaceId, Spot, Step, StopNumber, Town,
    TravelMode, TravelTime, Turn,
)  # fmt: skip


class Maps(Server):
    """Addresses, places, distances and ways on an island, with saved places and routes."""

    category = "Travel"

    junctions = table(Junction, "J{}", start=1)
    roads = table(Road, "R{}", start=1)
    places = table(Place, "PLC-{}", start=1001)
    spots = table(Spot)
    saved_places = table(SavedPlace, "SVD-{}", start=31)
    routes = table(Route, "RTE-{}", start=71)

    # --- addresses and places

    @read
    def geocode(self, address: Address, limit: Limit = 5) -> Page[Location]:
        """Find the coordinates of an address and the nearest place; without a town, wherever on the island there is such a street."""
        number, street, town = parts_of(address)
        named = [r for r in self._addressed() if plain(r.name) == street]
        if not named:
            raise ToolError("not_found", f"there is no street {street!r} on the island{did_you_mean(street, self._street_names())}")
        here = [r for r in named if town in ("", plain(r.town))]
        elsewhere = ", ".join(dict.fromkeys(r.town for r in named))
        require(here, "not_found", f"{named[0].name} is not in {town!r} but in {elsewhere}: name one of these, or no town")
        found = [r for r in here if 1 <= number <= r.length_m // HOUSE_M]
        last = max(r.length_m // HOUSE_M for r in here)
        require(found, "not_found", f"there is no number {number} on {here[0].name}: numbers go from 1 to {last}")
        return page((self._location(r, HOUSE_M * number) for r in found), limit, Location)

    @read
    def reverse_geocode(self, latitude: Latitude, longitude: Longitude) -> Location:
        """Find the address and the place that are nearest to some coordinates."""
        ends = ((r, self.junctions.get(r.start), self.junctions.get(r.end)) for r in self._addressed())
        road, along, away = min(((r, *nearest_on(a, b, latitude, longitude)) for r, a, b in ends), key=lambda r: r[2])
        require(away <= OFF_THE_MAP_M, "not_found", f"there is no road within {OFF_THE_MAP_M // 1000} km of {latitude}, {longitude}")
        return self._location(road, round(along * road.length_m))

    @read
    def search_places(
        self,
        query: Query | None = None,
        category: Category | None = None,
        town: Town | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[PlaceLine]:
        """List places by name, category and town."""
        towns = list(dict.fromkeys(p.town for p in self.places))
        known = town is None or plain(town) in map(plain, towns)
        require(known, "not_found", f"there is no town {town!r} on the island: there are {', '.join(towns)}")
        found = [p for p in self.places if matches(query, p.name, p.town) and category in (None, p.category)]
        return page((p for p in found if town is None or plain(town) == plain(p.town)), limit, PlaceLine, offset)

    @read
    def get_place(self, place_id: PlaceId) -> PlaceDetails:
        """Show a place's address, coordinates, phone number, rating and opening hours, and whether it is open now."""
        place = self.places.get(place_id)
        open_today = f"{self.now:%A}" != place.closed_on
        return PlaceDetails(**asdict(place), open_now=open_today and place.opens <= f"{self.now:%H:%M}" < place.closes)

    @read
    def find_nearby(
        self, place_id: PlaceId, category: Category | None = None, radius_m: Radius = 1000, limit: Limit = 10, offset: Offset = 0
    ) -> Page[NearbyLine]:
        """List the places around a place, the nearest first, with their distance as the crow flies."""
        centre = self.places.get(place_id)
        around = [p for p in self.places if p.place_id != place_id and category in (None, p.category)]
        lines = (NearbyLine(**asdict(brief(p, PlaceLine)), distance_m=metres_between(centre, p)) for p in around)
        return page(sorted((n for n in lines if n.distance_m <= radius_m), key=lambda n: n.distance_m), limit, NearbyLine, offset)

    # --- ways

    @read
    def get_directions(self, origin: PlaceId, destination: PlaceId, mode: TravelMode = "drive") -> Directions:
        """Show the quickest way between two places road by road, at the usual traffic."""
        nodes, edges = self._way(origin, destination, mode)
        starts = [i for i, edge in enumerate(edges) if i == 0 or edge["road"] != edges[i - 1]["road"]]
        steps = [
            Step(self._turn(nodes, i), edges[i]["road"], sum(e["metres"] for e in edges[i:end]))
            for i, end in pairwise([*starts, len(edges)])
        ]
        return Directions(sum(s.distance_m for s in steps), minutes_of(edges), steps)

    @read
    def get_travel_time(
        self, origin: PlaceId, destination: PlaceId, mode: TravelMode = "drive", leave_at: Moment | None = None
    ) -> TravelTime:
        """Tell when one arrives if one leaves now or at some time, traffic included."""
        leaves, horizon = leave_at or self.now, self.now + timedelta(days=365)
        span = f"between now, {self.now:%Y-%m-%dT%H:%MZ}, and {horizon:%Y-%m-%dT%H:%MZ}"
        require(self.now <= leaves <= horizon, "failed_precondition", f"one cannot leave at {leaves:%Y-%m-%dT%H:%MZ}: give a time {span}")
        traffic = traffic_at(leaves) if mode == "drive" else "usual"
        minutes = -(-minutes_of(self._way(origin, destination, mode)[1]) * TRAFFIC_PERCENT[traffic] // 100)
        return TravelTime(leaves, leaves + timedelta(minutes=minutes), minutes, traffic)

    # --- saved places

    @write
    def save_place(self, place_id: PlaceId, label: Label, note: Note = "") -> SavedPlace:
        """Keep a place under a label of the user's own."""
        for saved in self.saved_places.where(place_id=place_id):
            raise ToolError("conflict", f"{place_id} is saved as {saved.label!r} already: remove {saved.saved_place_id} first")
        for saved in (s for s in self.saved_places if plain(s.label) == plain(label)):
            raise ToolError("conflict", f"{saved.label!r} is {saved.place_id}: choose another label, or remove {saved.saved_place_id}")
        return self.saved_places.add(SavedPlace(SavedPlaceId(self.saved_places.mint()), label, place_id, note))

    @read
    def list_saved_places(self, query: Query | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[SavedPlace]:
        """List the user's saved places; query looks at label and note."""
        return page((s for s in self.saved_places if matches(query, s.label, s.note)), limit, SavedPlace, offset)

    @write(destructive=True)
    def remove_saved_place(self, saved_place_id: SavedPlaceId) -> SavedPlace:
        """Forget a saved place."""
        return self.saved_places.remove(saved_place_id)

    # --- saved routes

    @write
    def create_route(self, name: RouteName, origin: PlaceId, destination: PlaceId, mode: TravelMode) -> Route:
        """Save a route between two places, to which stops can then be added."""
        known = [r.route_id for r in self.routes if plain(r.name) == plain(name)]
        require(not known, "conflict", f"there is a route {name!r} already, {', '.join(known)}: choose another name")
        self._way(origin, destination, mode)
        return self.routes.add(Route(RouteId(self.routes.mint()), name, mode, [origin, destination]))

    @write
    def add_route_stop(self, route_id: RouteId, place_id: PlaceId, number: StopNumber | None = None) -> Route:
        """Put a stop into a route; unless it is told which, it becomes the last before the destination."""
        route = self.routes.get(route_id)
        stops = len(route.stops)
        require(place_id not in route.stops, "conflict", f"{place_id} is a stop of {route_id} already")
        require(stops < MOST_STOPS, "resource_exhausted", f"{route_id} has {MOST_STOPS} stops, the most there can be: create another route")
        at = (number or stops) - 1
        require(at < stops, "invalid_argument", f"{route_id} ends with stop {stops}: a new stop can become number 2 to {stops}")
        for other in route.stops[at - 1 : at + 1]:
            self._way(other, place_id, route.mode)
        return self.routes.update(route_id, stops=[*route.stops[:at], place_id, *route.stops[at:]])

    @read
    def list_routes(
        self, query: Query | None = None, mode: TravelMode | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[RouteLine]:
        """List the user's routes by name, without their stops."""
        return page((r for r in self.routes if matches(query, r.name) and mode in (None, r.mode)), limit, RouteLine, offset)

    @read
    def get_route(self, route_id: RouteId) -> RoutePlan:
        """Show a route from stop to stop, with the distance and time of each leg and of the whole."""
        route = self.routes.get(route_id)
        legs = [self._leg(a, b, route.mode) for a, b in pairwise(route.stops)]
        total, minutes = sum(leg.distance_m for leg in legs), sum(leg.minutes for leg in legs)
        return RoutePlan(route_id, route.name, route.mode, total, minutes, legs)

    @read
    def get_distance_matrix(self, route_id: RouteId) -> Matrix:
        """Measure the way between every two stops of a route, to see whether another order would be shorter."""
        route = self.routes.get(route_id)
        return Matrix(route_id, [self._leg(a, b, route.mode) for a, b in combinations(route.stops, 2)])

    @read
    def get_elevation_profile(self, route_id: RouteId) -> Elevation:
        """Tell how many metres a route climbs and falls, and how high and low it gets."""
        route = self.routes.get(route_id)
        heights = [self._point(n).elevation_m for a, b in pairwise(route.stops) for n in self._way(a, b, route.mode)[0]]
        changes = [after - before for before, after in pairwise(heights)]
        ascent, descent = sum(c for c in changes if c > 0), -sum(c for c in changes if c < 0)
        return Elevation(route_id, ascent, descent, max(heights), min(heights))

    # --- geography

    def _addressed(self) -> list[Road]:
        return [r for r in self.roads if r.kind not in ("motorway", "ferry")]

    def _street_names(self) -> list[str]:
        return [plain(r.name) for r in self._addressed()]

    def _point(self, node: str) -> Place | Junction:
        return self.places.find(node) or self.junctions.get(node)

    def _graph(self, mode: str) -> "nx.Graph[str]":
        return graph_of(self.roads.base, self.spots.base, mode)

    def _way(self, origin: str, destination: str, mode: str) -> tuple[list[str], list[dict[str, Any]]]:
        """The quickest way: the junctions and places that it passes, and the stretches of road between them."""
        require(origin != destination, "invalid_argument", f"origin and destination are both {origin}: choose two places")
        graph = self._graph(mode)
        if not has_way(graph, origin, destination):
            here, there = self.places.get(origin), self.places.get(destination)
            others = [other for other in SPEEDS if has_way(self._graph(other), origin, destination)]
            hint = f"one can {' or '.join(others)} there" if others else "nor any other"
            raise ToolError("not_found", f"there is no way to {mode} from {here.name} to {there.name}: {hint}")
        nodes = nx.shortest_path(graph, origin, destination, weight="ms")
        return nodes, [graph.edges[pair] for pair in pairwise(nodes)]

    def _leg(self, origin: PlaceId, destination: PlaceId, mode: TravelMode) -> Leg:
        edges = self._way(origin, destination, mode)[1]
        return Leg(origin, destination, self.places.get(destination).name, sum(e["metres"] for e in edges), minutes_of(edges))

    def _turn(self, nodes: list[str], at: int) -> Turn:
        """Which way one turns at the node where a step begins."""
        if at == 0:
            return "start"
        before, here, after = (self._point(n) for n in nodes[at - 1 : at + 2])
        (x, y), (u, v) = metres_east_north(before, here), metres_east_north(here, after)
        angle = degrees(atan2(x * v - y * u, x * u + y * v))  # counter-clockwise
        return "straight on" if abs(angle) < 30 else "left" if angle > 0 else "right"

    def _location(self, road: Road, offset_m: int) -> Location:
        """The plot on a road that is about so many metres from its start, and the place that is there, or nearest."""
        number = min(max(1, (offset_m + HOUSE_M // 2) // HOUSE_M), road.length_m // HOUSE_M)
        for spot in self.spots.where(road_id=road.road_id, offset_m=HOUSE_M * number):
            place = self.places.get(spot.place_id)
            return Location(place.address, place.latitude, place.longitude, place.place_id, place.name, 0)
        start, end = self.junctions.get(road.start), self.junctions.get(road.end)
        latitude, longitude = point_on(start, end, HOUSE_M * number / road.length_m)
        here = Junction(road.start, latitude, longitude, 0)
        away, place_id = min((metres_between(here, p), p.place_id) for p in self.places)
        nearest = self.places.get(place_id)
        return Location(f"{number} {road.name}, {road.town}", latitude, longitude, place_id, nearest.name, away)
