"""The geography of an island: where things are, how far apart, and which roads a traveller can use."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import asin, cos, hypot, radians, sin, sqrt
from typing import Any

import networkx as nx

from prove.servers import Moment
from prove.servers.state import Base

from .records import Junction, Place, Road, Spot

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


def has_way(graph: "nx.Graph[str]", origin: str, destination: str) -> bool:
    return origin in graph and destination in graph and nx.has_path(graph, origin, destination)


def _stretches(road: Road, spots: list[Spot]) -> Iterator[tuple[str, str, int]]:
    inner = sorted((s.offset_m, s.place_id) for s in spots)
    for (start, a), (end, b) in pairwise([(0, road.start), *inner, (road.length_m, road.end)]):
        yield a, b, end - start


def point_on(start: Junction, end: Junction, along: float) -> tuple[float, float]:
    """Latitude and longitude, to a tenth of a metre, of what is `along` (from 0 to 1) the straight line between two junctions."""
    latitude = start.latitude + along * (end.latitude - start.latitude)
    return round(latitude, 6), round(start.longitude + along * (end.longitude - start.longitude), 6)


def metres_between(a: Place | Junction, b: Place | Junction) -> int:
    """Great-circle distance, by the haversine formula."""
    p, q = radians(a.latitude), radians(b.latitude)
    h = sin((q - p) / 2) ** 2 + cos(p) * cos(q) * sin(radians(b.longitude - a.longitude) / 2) ** 2
    return round(2 * EARTH_M * asin(sqrt(h)))


def metres_east_north(a: Place | Junction, b: Place | Junction) -> tuple[float, float]:
    """Where `b` lies as seen from `a`, on a map that is flat around there."""
    scale = radians(1) * EARTH_M
    return (b.longitude - a.longitude) * scale * cos(radians(a.latitude)), (b.latitude - a.latitude) * scale


def minutes_of(edges: list[dict[str, Any]]) -> int:
    """How long the stretches take, in minutes begun."""
    return -(-sum(e["ms"] for e in edges) // 60_000)


def traffic_at(moment: Moment) -> str:
    rush = moment.weekday() < 5 and moment.hour in (7, 8, 16, 17)
    return "heavy" if rush else "light" if moment.hour >= 22 or moment.hour < 6 else "usual"


def parts_of(address: str) -> tuple[int, str, str]:
    """House number (1 if there is none), street and town of an address, the latter two in lower case."""
    head, _, town = address.partition(",")
    first, _, rest = head.strip().partition(" ")
    numbered = first.isascii() and first.isdecimal() and len(first) < 6
    return (int(first), plain(rest), plain(town)) if numbered else (1, plain(head), plain(town))


def plain(name: str) -> str:
    """What two spellings of a name have in common."""
    return " ".join(name.casefold().split())


def nearest_on(start: Junction, end: Junction, latitude: float, longitude: float) -> tuple[float, float]:
    """How far along a straight road, from 0 to 1, one is nearest to some coordinates, and how many metres away from them."""
    here = Junction(start.junction_id, latitude, longitude, 0)
    (x, y), (u, v) = metres_east_north(start, here), metres_east_north(start, end)
    along = min(1.0, max(0.0, (x * u + y * v) / (u * u + v * v)))
    return along, hypot(x - along * u, y - along * v)
