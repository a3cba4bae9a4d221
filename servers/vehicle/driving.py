"""The physics of one car: how far it gets, what that burns, when it arrives or runs dry, and when it is dark."""

from datetime import datetime, timedelta
from math import sqrt

from msgspec.structs import replace

from .records import Car, Heading, Motion, Place, Tank, Way

M_PER_DEGREE = (111_200, 68_400)  # of latitude, and of longitude where this car drives
DETOUR = 1.25  # roads are longer than the straight line
IDLE_UL_PER_HOUR = 800_000
GUESSED_SPEED = 60  # km/h, of a car that stands
DARK = (20, 7)  # from this hour to that one; the car drives where clocks show UTC
TOWARDS: dict[Heading, tuple[int, int]] = {"north": (1, 0), "east": (0, 1), "south": (-1, 0), "west": (0, -1)}
_HOUR = timedelta(hours=1)
_TICK = timedelta(microseconds=1)


def is_dark(now: datetime) -> bool:
    return now.hour >= DARK[0] or now.hour < DARK[1]


def nightfall_after(now: datetime) -> datetime:
    tonight = now.replace(hour=DARK[0], minute=0, second=0, microsecond=0)
    return tonight if now <= tonight else tonight + timedelta(days=1)


def metres_between(here: Motion | Place, there: Motion | Place) -> int:
    """How long the road between two places is."""
    north, east = ((b - a) * scale for a, b, scale in zip(_point(here), _point(there), M_PER_DEGREE, strict=True))
    return round(DETOUR * sqrt(north * north + east * east))


def _point(it: Motion | Place) -> tuple[float, float]:
    return it.latitude, it.longitude


def range_m(motion: Motion, tank: Tank) -> int:
    return motion.fuel_ul // tank.ml_per_km  # a microliter a metre is a milliliter a kilometre


def time_for(metres: int, speed: int) -> timedelta:
    """How long so many metres take, to the microsecond after which they are done."""
    return -(-metres * (_HOUR // _TICK) // (speed * 1000)) * _TICK


def since_then(motion: Motion, car: Car, tank: Tank, now: datetime, way: Way | None, goal: Place | None) -> Motion:
    """Where things stand now. A car that drives burns by the metre, one that idles by the hour."""
    if car.engine == "off" or now == motion.since:
        return motion
    ticks, hour = (now - motion.since) // _TICK, _HOUR // _TICK
    metres = min(car.speed * 1000 * ticks // hour, _reach(motion, tank, way))
    burned = metres * tank.ml_per_km if car.speed else min(IDLE_UL_PER_HOUR * ticks // hour, motion.fuel_ul)
    there = {"since": now, "odometer_m": motion.odometer_m + metres, "fuel_ul": motion.fuel_ul - burned}
    if not metres:
        return replace(motion, **there)
    if way and goal:
        latitude, longitude = (a + (b - a) * metres / way.remaining_m for a, b in zip(_point(motion), _point(goal), strict=True))
        arrived = goal.place_id if metres == way.remaining_m else None
        return replace(motion, **there, latitude=_degrees(latitude), longitude=_degrees(longitude), place_id=arrived)
    north, east = TOWARDS[motion.heading]
    latitude = motion.latitude + north * metres / DETOUR / M_PER_DEGREE[0]
    longitude = motion.longitude + east * metres / DETOUR / M_PER_DEGREE[1]
    return replace(motion, **there, latitude=_degrees(latitude), longitude=_degrees(longitude), place_id=None)


def _degrees(value: float) -> float:
    return round(value, 5) + 0.0  # there is one zero


def _reach(motion: Motion, tank: Tank, way: Way | None) -> int:
    """How far the car goes at most before it arrives or runs dry."""
    return min(range_m(motion, tank), way.remaining_m) if way else range_m(motion, tank)


def heading_to(here: Motion, there: Place) -> Heading:
    """Roughly where a place lies: the driver of a car without guidance goes straight on."""
    north, east = ((b - a) * scale for a, b, scale in zip(_point(here), _point(there), M_PER_DEGREE, strict=True))
    if abs(north) > abs(east):
        return "north" if north > 0 else "south"
    return "east" if east > 0 else "west"


def next_event(motion: Motion, car: Car, tank: Tank, way: Way | None) -> datetime | None:
    """When a running car will arrive or run dry, if nobody interferes."""
    if car.engine == "off":
        return None
    if not car.speed:
        return motion.since + -(-motion.fuel_ul * (_HOUR // _TICK) // IDLE_UL_PER_HOUR) * _TICK
    return motion.since + time_for(_reach(motion, tank, way), car.speed)
