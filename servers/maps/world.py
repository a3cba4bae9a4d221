"""The Isle of Averra: ten towns of a few streets each, the roads that join them, places with namesakes in other towns, an islet
without cars and a refuge that only walkers reach."""

from math import cos, radians, sin

from prove.servers.maker import Maker

from .geography import HOUSE_M, metres_between, point_on
from .records import Junction, Place, Road, Route, SavedPlace, Spot
from .tools import Maps

SOUTH_WEST = (44.8, -13.9)
KM_NORTH, KM_EAST = 1 / 111.2, 1 / 78.7  # of a degree, about the island's latitude
TOWNS = {  # kilometres east and north of the island's south-west corner, metres above the sea
    "Port Selwick": (6, 8, 5),
    "Averby": (22, 14, 40),
    "Tolling": (38, 9, 25),
    "Pellhaven": (55, 12, 5),
    "Castle Ness": (62, 24, 30),
    "Wexcombe": (45, 27, 90),
    "Harrowmere": (28, 29, 210),
    "Dunmarrow": (12, 26, 120),
    "Northby": (30, 41, 15),
}
ISLET = ("Little Ostrey", (60, 6, 8))
REFUGE = ("Ridge Refuge", 3.2, 640)  # its name, how many kilometres north of its town it is, and how high
REFUGE_TOWN, FERRY_TOWN = "Harrowmere", "Pellhaven"
LINKS = (  # town, town, road, kind
    ("Port Selwick", "Averby", "South Road", "main"),
    ("Averby", "Tolling", "South Road", "main"),
    ("Tolling", "Pellhaven", "South Road", "main"),
    ("Pellhaven", "Castle Ness", "Ness Road", "main"),
    ("Castle Ness", "Wexcombe", "East Road", "main"),
    ("Wexcombe", "Harrowmere", "Moor Road", "main"),
    ("Harrowmere", "Dunmarrow", "Old Mine Road", "main"),
    ("Dunmarrow", "Port Selwick", "West Road", "main"),
    ("Averby", "Harrowmere", "Lake Road", "main"),
    ("Harrowmere", "Northby", "Northby Road", "main"),
    ("Averby", "Wexcombe", "Island Motorway", "motorway"),
    ("Port Selwick", "Averby", "Island Motorway", "motorway"),
    ("Wexcombe", "Castle Ness", "Island Motorway", "motorway"),
    ("Tolling", "Wexcombe", "Old Railway Path", "track"),
)
STREETS = (
    "Church Street", "Mill Lane", "Station Road", "Castle Street", "Harbour Street", "Queen Street", "School Lane", "Market Street",
    "Bridge Street", "Garden Road", "Chapel Lane", "High Street", "Meadow Way", "Orchard Road", "Smithy Lane", "Well Street",
)  # fmt: skip
PLACES = {  # category -> names, opening hours, the day on which some are closed
    "restaurant": (("The Copper Pot", "Golden Fig", "Trattoria Lina", "Salt & Smoke", "Jade Garden"), ("11:30", "22:00"), "Monday"),
    "cafe": (("Corner Bakery", "Blue Kettle", "Station Cafe", "Marmalade"), ("07:30", "18:00"), "Tuesday"),
    "supermarket": (("Freshway", "Island Grocer", "Budget Basket"), ("08:00", "21:00"), None),
    "pharmacy": (("Green Cross Pharmacy", "Town Pharmacy"), ("08:30", "18:30"), "Sunday"),
    "hospital": (("General Hospital", "Cottage Hospital"), ("00:00", "24:00"), None),
    "museum": (("Fishing Museum", "Museum of Maps", "Town Museum"), ("10:00", "17:00"), "Monday"),
    "hotel": (("Grand Hotel", "Seaview Hotel", "Anchor Inn"), ("00:00", "24:00"), None),
    "park": (("Memorial Park", "Rose Garden", "Town Park"), ("06:00", "22:00"), None),
    "school": (("Primary School", "Island College"), ("08:00", "16:00"), "Sunday"),
    "station": (("Bus Station", "Harbour Bus Stop"), ("05:00", "23:30"), None),
    "fuel": (("Averra Fuel", "Coastline Fuel"), ("06:00", "22:00"), None),
    "viewpoint": (("Lookout Point", "Old Lighthouse"), ("00:00", "24:00"), None),
    "residence": (("Harbour Apartments", "Elm Court", "Garden Terrace", "Mariner House"), ("00:00", "24:00"), None),
    "office": (("Averra Insurance", "Island Telecom", "Seabird Software"), ("08:00", "18:00"), "Sunday"),
    "gym": (("Fit & Well Gym", "Rowers' Gym"), ("06:30", "22:00"), None),
    "dentist": (("Dr. Hale Dental Practice", "Bright Smile Dental Clinic"), ("08:30", "17:00"), "Sunday"),
}
ALWAYS_RESTS = ("school", "office", "dentist")  # on their day; of the others, some do
TWO_IN_A_TOWN = ("restaurant", "cafe", "supermarket", "residence")
SAVED = (  # label, note, what sort of place it is
    ("Home", "", "residence"),
    ("Work", "park behind the building", "office"),
    ("Gym", "", "gym"),
    ("Grandma", "ring twice", "residence"),
    ("Dentist", "second floor", "dentist"),
)
ERRANDS = ("supermarket", "pharmacy", "fuel", "cafe")


def populate(maps: Maps, make: Maker) -> None:
    centres = {}
    for town, (east, north, height) in [*TOWNS.items(), ISLET]:
        shift = make.between(-15, 15) / 10, make.between(-15, 15) / 10
        centres[town] = _town(maps, make, town, east + shift[0], north + shift[1], height)
    for one, other, name, kind in (*LINKS, (FERRY_TOWN, ISLET[0], "Ostrey Ferry", "ferry")):
        _link(maps, make, centres[one], centres[other], name, kind, one)
    _refuge(maps, make, centres[REFUGE_TOWN])
    _saved(maps, make)


def _junction(maps: Maps, east: float, north: float, height: int) -> Junction:
    latitude, longitude = SOUTH_WEST[0] + north * KM_NORTH, SOUTH_WEST[1] + east * KM_EAST
    return maps.junctions.add(Junction(maps.junctions.mint(), round(latitude, 4), round(longitude, 4), height))


def _road(maps: Maps, name: str, town: str, kind: str, start: Junction, end: Junction, percent: int) -> Road:
    """A road that is so many percent of the straight line between its ends."""
    length = -(-metres_between(start, end) * percent // 100)
    return maps.roads.add(Road(maps.roads.mint(), name, town, kind, start.junction_id, end.junction_id, length))


def _town(maps: Maps, make: Maker, town: str, east: float, north: float, height: int) -> list[Junction]:
    """A crossing in the middle, four around it, eight streets between them, and places along the streets."""
    middle, around = _junction(maps, east, north, height), []
    for direction in (0, 90, 180, 270):
        away, bearing = make.between(38, 70) / 100, radians(direction + make.between(-20, 20))
        rise = make.between(-height // 8, height // 4)
        around.append(_junction(maps, east + away * sin(bearing), north + away * cos(bearing), height + rise))
    names, kind = make.some(STREETS, 8), "track" if town == ISLET[0] else "street"
    ends = [(middle, corner) for corner in around] + list(zip(around, [*around[1:], around[0]], strict=True))
    streets = [_road(maps, name, town, kind, a, b, make.between(102, 108)) for name, (a, b) in zip(make.shuffled(names), ends, strict=True)]
    _places(maps, make, town, streets)
    return around


def _places(maps: Maps, make: Maker, town: str, streets: list[Road]) -> None:
    plots = [(road, number) for road in streets for number in range(1, road.length_m // HOUSE_M)]
    chosen = iter(make.shuffled(plots))
    for category, (names, hours, rest_day) in PLACES.items():
        for name in make.some(names, 2 if category in TWO_IN_A_TOWN else 1):
            if town == ISLET[0] and category in ("fuel", "hospital"):
                continue
            closed_on = rest_day if category in ALWAYS_RESTS or make.chance(0.6) else None
            _place(maps, make, name, category, *next(chosen), hours, closed_on)


def _place(
    maps: Maps, make: Maker, name: str, category: str, road: Road, number: int, hours: tuple[str, str], closed_on: str | None
) -> Place:
    start, end = maps.junctions.get(road.start), maps.junctions.get(road.end)
    offset = HOUSE_M * number
    latitude, longitude = point_on(start, end, offset / road.length_m)
    height = start.elevation_m + (end.elevation_m - start.elevation_m) * offset // road.length_m
    facts = (height, _free_number(maps, make), make.between(28, 50) / 10, *hours, closed_on)
    address = f"{number} {road.name}, {road.town}"
    place = maps.places.add(Place(maps.places.mint(), name, category, road.town, address, latitude, longitude, *facts))
    maps.spots.add(Spot(place.place_id, road.road_id, offset))
    return place


def _free_number(maps: Maps, make: Maker) -> str:
    """A telephone number that no other place has."""
    while maps.places.where(phone=(number := f"555 {make.digits(4)}")):
        pass
    return number


def _link(maps: Maps, make: Maker, one: list[Junction], other: list[Junction], name: str, kind: str, town: str) -> None:
    """A road between two towns, where they are closest to each other."""
    start, end = min(((a, b) for a in one for b in other), key=lambda pair: metres_between(*pair))
    _road(maps, name, town, kind, start, end, 102 if kind == "ferry" else make.between(105, 130))


def _refuge(maps: Maps, make: Maker, around: list[Junction]) -> None:
    """A trail up the ridge, and the hut at its end."""
    name, north, height = REFUGE
    foot = around[0]
    top = maps.junctions.add(Junction(maps.junctions.mint(), round(foot.latitude + north * KM_NORTH, 4), foot.longitude, height))
    trail = _road(maps, "Ridge Trail", REFUGE_TOWN, "trail", foot, top, 140)
    _place(maps, make, name, "restaurant", trail, trail.length_m // HOUSE_M - 1, ("08:00", "20:00"), None)


def _saved(maps: Maps, make: Maker) -> None:
    """Home is where one lives, the commute leads to work, and errands begin at home and are done nearby."""
    by_car = [p for p in maps.places if p.town in TOWNS and p.name != REFUGE[0]]
    saved: dict[str, Place] = {}
    for label, note, category in SAVED:
        saved[label] = make.pick([p for p in by_car if p.category == category and p not in saved.values()])
        maps.saved_places.add(SavedPlace(maps.saved_places.mint(), label, saved[label].place_id, note))
    home = saved["Home"]
    errands = [make.pick([p for p in by_car if p.category == category and p.town == home.town]) for category in ERRANDS]
    hike = [next(p for p in maps.places if p.town == REFUGE_TOWN), next(p for p in maps.places if p.name == REFUGE[0])]
    islet = [p for p in maps.places if p.town == ISLET[0]]
    for name, mode, stops in (
        ("Commute", "drive", [home, saved["Work"]]),
        ("Saturday errands", "drive", [home, *errands]),
        ("Ferry ride", "cycle", [home, *islet[:2]]),
        ("Ridge hike", "walk", hike),
    ):
        maps.routes.add(Route(maps.routes.mint(), name, mode, [p.place_id for p in stops]))
