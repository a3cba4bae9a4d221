"""Maps of the Isle of Averra. Distances on the map are great-circle, those on the way are along its roads; times are in UTC."""

from collections.abc import Iterator
from datetime import UTC, timedelta
from functools import lru_cache
from itertools import combinations, pairwise
from math import asin, atan2, cos, degrees, hypot, radians, sin, sqrt
from typing import Annotated, Any, Literal, NewType

import networkx as nx
from msgspec.structs import asdict

from prove.servers import (
    Caseless,
    Latitude,
    Limit,
    Longitude,
    Meta,
    Moment,
    Page,
    Query,
    Record,
    Server,
    ToolError,
    brief,
    matches,
    page,
    read,
    require,
    table,
    write,
)
from prove.servers.state import Base

PlaceId = NewType("PlaceId", str)
SavedPlaceId = NewType("SavedPlaceId", str)
RouteId = NewType("RouteId", str)
JunctionId = NewType("JunctionId", str)
RoadId = NewType("RoadId", str)

Category = Annotated[
    Literal[
        "restaurant", "cafe", "supermarket", "pharmacy", "hospital", "museum", "hotel", "park", "school", "station", "fuel", "viewpoint"
    ],
    Meta(description="what sort of place"),
]
Town = Annotated[Caseless[str], Meta(min_length=1, max_length=60, description="the name of a town")]
Address = Annotated[str, Meta(min_length=3, description="house number, street and town, for example 12 Mill Lane, Averby")]
Clock = Annotated[str, Meta(pattern=r"^\d\d:\d\d$", description="a time of day, HH:MM")]
Weekday = Annotated[
    Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], Meta(description="a day of the week")
]
Radius = Annotated[int, Meta(ge=100, le=50_000, description="how far away a place may be, in metres as the crow flies")]
Metres = Annotated[int, Meta(description="a length or height in metres")]
Minutes = Annotated[int, Meta(description="how long it takes, in minutes")]
TravelMode = Annotated[Literal["drive", "cycle", "walk"], Meta(description="how to travel")]
Label = Annotated[str, Meta(min_length=1, max_length=40, description="what the user calls a saved place")]
Note = Annotated[str, Meta(max_length=120, description="what to remember about a saved place")]
RouteName = Annotated[str, Meta(min_length=1, max_length=60, description="what the user calls a route")]
StopNumber = Annotated[int, Meta(ge=2, le=7, description="which stop it becomes: 2 is the first after the start")]


class Junction(Record):
    junction_id: JunctionId
    latitude: Latitude
    longitude: Longitude
    elevation_m: Metres


class Road(Record):
    road_id: RoadId
    name: str
    town: Town
    kind: Literal["motorway", "main", "street", "track", "trail", "ferry"]
    start: JunctionId
    end: JunctionId
    length_m: Metres


class PlaceLine(Record):
    place_id: PlaceId
    name: str
    category: Category
    town: Town


class Place(PlaceLine):
    address: Address
    latitude: Latitude
    longitude: Longitude
    elevation_m: Metres
    phone: str
    rating: float
    opens: Clock
    closes: Clock
    closed_on: Weekday | None


class Spot(Record):
    """Where on its road a place is."""

    place_id: PlaceId
    road_id: RoadId
    offset_m: Metres


class PlaceDetails(Place):
    open_now: bool


class NearbyLine(PlaceLine):
    distance_m: Metres


class Location(Record):
    address: Address
    latitude: Latitude
    longitude: Longitude
    place_id: PlaceId | None  # what is there, if anything is


class SavedPlace(Record):
    saved_place_id: SavedPlaceId
    label: Label
    place_id: PlaceId
    note: Note


class RouteLine(Record):
    route_id: RouteId
    name: RouteName
    mode: TravelMode


class Route(RouteLine):
    stops: list[PlaceId]


class Leg(Record):
    origin: PlaceId
    destination: PlaceId
    destination_name: str
    distance_m: Metres
    minutes: Minutes


class RoutePlan(RouteLine):
    distance_m: Metres
    minutes: Minutes
    legs: list[Leg]


class Matrix(Record):
    route_id: RouteId
    pairs: list[Leg]


class Elevation(Record):
    route_id: RouteId
    ascent_m: Metres
    descent_m: Metres
    highest_m: Metres
    lowest_m: Metres


class Step(Record):
    turn: Literal["start", "left", "right", "straight on"]
    road: str
    distance_m: Metres


class Directions(Record):
    distance_m: Metres
    minutes: Minutes
    steps: list[Step]


class TravelTime(Record):
    leaves: Moment
    arrives: Moment
    minutes: Minutes
    traffic: Literal["light", "usual", "heavy"]


SPEEDS = {  # in km/h, by mode and by the kinds of road that the mode may use
    "drive": {"motorway": 110, "main": 70, "street": 35},
    "cycle": {"main": 18, "street": 16, "track": 14, "ferry": 20},
    "walk": {"main": 5, "street": 5, "track": 5, "trail": 3, "ferry": 20},
}
TRAFFIC_PERCENT = {"light": 90, "usual": 100, "heavy": 140}
HOUSE_M = 20  # house numbers count the plots of twenty metres from a street's start
MOST_STOPS = 8
EARTH_M = 6_371_000
OFF_THE_MAP_M = 5_000


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
        """Find the coordinates of an address; without a town, wherever on the island there is such a street."""
        number, street, town = _parts(address)
        named = [r for r in self._addressed() if r.name.casefold() == street and town in ("", r.town.casefold())]
        found = [self._location(r, HOUSE_M * number) for r in named if HOUSE_M * number <= r.length_m]
        require(found, "not_found", f"there is no {address!r}: check number and street, or leave the town out")
        return page(found, limit, Location)

    @read
    def reverse_geocode(self, latitude: Latitude, longitude: Longitude) -> Location:
        """Find the address that is nearest to some coordinates."""
        road, along, away = min(((r, *self._nearest_on(r, latitude, longitude)) for r in self._addressed()), key=lambda r: r[2])
        require(away <= OFF_THE_MAP_M, "not_found", f"there is no road within {OFF_THE_MAP_M // 1000} km of {latitude}, {longitude}")
        return self._location(road, round(along * road.length_m))

    @read
    def search_places(
        self, query: Query | None = None, category: Category | None = None, town: Town | None = None, limit: Limit = 10
    ) -> Page[PlaceLine]:
        """List places by name, category and town."""
        found = [p for p in self.places if matches(query, p.name, p.town) and category in (None, p.category)]
        return page((p for p in found if town is None or town.casefold() == p.town.casefold()), limit, PlaceLine)

    @read
    def get_place(self, place_id: PlaceId) -> PlaceDetails:
        """Show a place's address, coordinates, phone number, rating and opening hours, and whether it is open now."""
        place = self.places.get(place_id)
        open_today = f"{self.now:%A}" != place.closed_on
        return PlaceDetails(**asdict(place), open_now=open_today and place.opens <= f"{self.now:%H:%M}" < place.closes)

    @read
    def find_nearby(
        self, place_id: PlaceId, category: Category | None = None, radius_m: Radius = 1000, limit: Limit = 10
    ) -> Page[NearbyLine]:
        """List the places around a place, the nearest first, with their distance as the crow flies."""
        centre = self.places.get(place_id)
        around = [p for p in self.places if p.place_id != place_id and category in (None, p.category)]
        lines = (NearbyLine(**asdict(brief(p, PlaceLine)), distance_m=metres_between(centre, p)) for p in around)
        return page(sorted((n for n in lines if n.distance_m <= radius_m), key=lambda n: n.distance_m), limit, NearbyLine)

    # --- ways

    @read
    def get_directions(self, origin: PlaceId, destination: PlaceId, mode: TravelMode = "drive") -> Directions:
        """Show the quickest way between two places road by road, on free roads."""
        nodes, edges = self._way(origin, destination, mode)
        starts = [i for i, edge in enumerate(edges) if i == 0 or edge["road"] != edges[i - 1]["road"]]
        steps = [
            Step(self._turn(nodes, i), edges[i]["road"], sum(e["metres"] for e in edges[i:end]))
            for i, end in pairwise([*starts, len(edges)])
        ]
        return Directions(sum(s.distance_m for s in steps), _minutes(edges), steps)

    @read
    def get_travel_time(
        self, origin: PlaceId, destination: PlaceId, mode: TravelMode = "drive", leave_at: Moment | None = None
    ) -> TravelTime:
        """Tell when one arrives if one leaves now or at some time, traffic included."""
        leaves, horizon = leave_at or self.now, self.now + timedelta(days=365)
        require(self.now <= leaves <= horizon, "failed_precondition", f"{leaves.isoformat()} is not within a year from now")
        leaves = leaves.astimezone(UTC)
        traffic = _traffic(leaves) if mode == "drive" else "usual"
        minutes = -(-_minutes(self._way(origin, destination, mode)[1]) * TRAFFIC_PERCENT[traffic] // 100)
        return TravelTime(leaves, leaves + timedelta(minutes=minutes), minutes, traffic)

    # --- saved places

    @write
    def save_place(self, place_id: PlaceId, label: Label, note: Note = "") -> SavedPlace:
        """Keep a place under a label of the user's own."""
        self.places.get(place_id)
        known = [s for s in self.saved_places if s.label.casefold() == label.casefold() or s.place_id == place_id]
        taken = ", ".join(f"{s.place_id} as {s.label!r}" for s in known)
        require(not known, "conflict", f"you have saved {taken}: remove that first, or choose another label")
        return self.saved_places.add(SavedPlace(self.saved_places.mint(), label, place_id, note))

    @read
    def list_saved_places(self, query: Query | None = None, limit: Limit = 10) -> Page[SavedPlace]:
        """List the user's saved places; query looks at label and note."""
        return page((s for s in self.saved_places if matches(query, s.label, s.note)), limit, SavedPlace)

    @write(destructive=True)
    def remove_saved_place(self, saved_place_id: SavedPlaceId) -> SavedPlace:
        """Forget a saved place."""
        return self.saved_places.remove(saved_place_id)

    # --- saved routes

    @write
    def create_route(self, name: RouteName, origin: PlaceId, destination: PlaceId, mode: TravelMode) -> Route:
        """Save a route between two places, to which stops can then be added."""
        known = [r.route_id for r in self.routes if r.name.casefold() == name.casefold()]
        require(not known, "conflict", f"there is a route {name!r} already, {', '.join(known)}: choose another name")
        self._way(origin, destination, mode)
        return self.routes.add(Route(self.routes.mint(), name, mode, [origin, destination]))

    @write
    def add_route_stop(self, route_id: RouteId, place_id: PlaceId, number: StopNumber | None = None) -> Route:
        """Put a stop into a route; unless it is told which, it becomes the last before the destination."""
        route = self.routes.get(route_id)
        stops = len(route.stops)
        require(place_id not in route.stops, "conflict", f"{place_id} is a stop of {route_id} already")
        require(stops < MOST_STOPS, "resource_exhausted", f"{route_id} has {MOST_STOPS} stops, which is the most a route can have")
        at = (number or stops) - 1
        require(at < stops, "invalid_argument", f"{route_id} ends with stop {stops}: a new stop can become number 2 to {stops}")
        for other in route.stops[at - 1 : at + 1]:
            self._way(other, place_id, route.mode)
        return self.routes.update(route_id, stops=[*route.stops[:at], place_id, *route.stops[at:]])

    @read
    def list_routes(self, query: Query | None = None, mode: TravelMode | None = None, limit: Limit = 10) -> Page[RouteLine]:
        """List the user's routes by name, without their stops."""
        return page((r for r in self.routes if matches(query, r.name) and mode in (None, r.mode)), limit, RouteLine)

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

    def _point(self, node: str) -> Place | Junction:
        return self.places.find(node) or self.junctions.get(node)

    def _way(self, origin: str, destination: str, mode: TravelMode) -> tuple[list[str], list[dict[str, Any]]]:
        """The quickest way: the junctions and places that it passes, and the stretches of road between them."""
        here, there = self.places.get(origin), self.places.get(destination)
        require(origin != destination, "invalid_argument", f"origin and destination are both {origin}")
        graph = graph_of(self.roads.base, self.spots.base, mode)
        try:
            nodes = nx.shortest_path(graph, origin, destination, weight="ms")
        except (nx.NodeNotFound, nx.NetworkXNoPath):
            others = " or ".join(m for m in SPEEDS if m != mode)
            raise ToolError("not_found", f"there is no way to {mode} from {here.name} to {there.name}: try to {others}") from None
        return nodes, [graph.edges[pair] for pair in pairwise(nodes)]

    def _leg(self, origin: PlaceId, destination: PlaceId, mode: TravelMode) -> Leg:
        edges = self._way(origin, destination, mode)[1]
        return Leg(origin, destination, self.places.get(destination).name, sum(e["metres"] for e in edges), _minutes(edges))

    def _turn(self, nodes: list[str], at: int) -> str:
        """Which way one turns at the node where a step begins."""
        if at == 0:
            return "start"
        before, here, after = (self._point(n) for n in nodes[at - 1 : at + 2])
        (x, y), (u, v) = _metres_east_north(before, here), _metres_east_north(here, after)
        angle = degrees(atan2(x * v - y * u, x * u + y * v))  # counter-clockwise
        return "straight on" if abs(angle) < 30 else "left" if angle > 0 else "right"

    def _nearest_on(self, road: Road, latitude: float, longitude: float) -> tuple[float, float]:
        """How far along a road, from 0 to 1, one is nearest to some coordinates, and how many metres away from them."""
        start, end = self.junctions.get(road.start), self.junctions.get(road.end)
        here = Junction("", latitude, longitude, 0)
        (x, y), (u, v) = _metres_east_north(start, here), _metres_east_north(start, end)
        along = min(1.0, max(0.0, (x * u + y * v) / (u * u + v * v)))
        return along, hypot(x - along * u, y - along * v)

    def _location(self, road: Road, offset_m: int) -> Location:
        """The plot on a road that is about so many metres from its start, and the place on it if there is one."""
        number = min(max(1, (offset_m + HOUSE_M // 2) // HOUSE_M), road.length_m // HOUSE_M)
        for spot in self.spots.where(road_id=road.road_id, offset_m=HOUSE_M * number):
            place = self.places.get(spot.place_id)
            return Location(place.address, place.latitude, place.longitude, place.place_id)
        point = point_on(self.junctions.get(road.start), self.junctions.get(road.end), HOUSE_M * number / road.length_m)
        return Location(f"{number} {road.name}, {road.town}", *point, None)


@lru_cache(maxsize=256)
def graph_of(roads: Base[Road], spots: Base[Spot], mode: str) -> "nx.Graph[str]":
    """What a mode can use of a world's roads, cut into stretches at the places on them. Built once a world: roads never change."""
    graph = nx.Graph()
    for road in roads.records.values():
        speed = SPEEDS[mode].get(road.kind)
        if speed:
            for a, b, metres in _stretches(road, [spots.records[key] for key in spots.keys_where("road_id", road.road_id)]):
                graph.add_edge(a, b, road=road.name, metres=metres, ms=metres * 3600 // speed)
    return graph


def _stretches(road: Road, spots: list[Spot]) -> Iterator[tuple[str, str, int]]:
    inner = sorted((s.offset_m, s.place_id) for s in spots)
    for (start, a), (end, b) in pairwise([(0, road.start), *inner, (road.length_m, road.end)]):
        yield a, b, end - start


def point_on(start: Junction, end: Junction, along: float) -> tuple[float, float]:
    """Latitude and longitude of what is `along` (from 0 to 1) the straight line between two junctions."""
    latitude = start.latitude + along * (end.latitude - start.latitude)
    return round(latitude, 4), round(start.longitude + along * (end.longitude - start.longitude), 4)


def metres_between(a: Place | Junction, b: Place | Junction) -> int:
    """Great-circle distance, by the haversine formula."""
    p, q = radians(a.latitude), radians(b.latitude)
    h = sin((q - p) / 2) ** 2 + cos(p) * cos(q) * sin(radians(b.longitude - a.longitude) / 2) ** 2
    return round(2 * EARTH_M * asin(sqrt(h)))


def _metres_east_north(a: Place | Junction, b: Place | Junction) -> tuple[float, float]:
    """Where `b` lies as seen from `a`, on a map that is flat around there."""
    scale = radians(1) * EARTH_M
    return (b.longitude - a.longitude) * scale * cos(radians(a.latitude)), (b.latitude - a.latitude) * scale


def _minutes(edges: list[dict[str, Any]]) -> int:
    """How long the stretches take, in minutes begun."""
    return -(-sum(e["ms"] for e in edges) // 60_000)


def _traffic(moment: Moment) -> str:
    rush = moment.weekday() < 5 and moment.hour in (7, 8, 16, 17)
    return "heavy" if rush else "light" if moment.hour >= 22 or moment.hour < 6 else "usual"


def _parts(address: str) -> tuple[int, str, str]:
    """House number (1 if there is none), street and town of an address, the latter two in lower case."""
    head, _, town = address.casefold().partition(",")
    first, _, rest = head.strip().partition(" ")
    numbered = first.isdecimal() and len(first) < 6
    return (int(first), rest.strip(), town.strip()) if numbered else (1, head.strip(), town.strip())
