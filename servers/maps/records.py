"""What a map shows: junctions and roads, places along them, and what its user has saved. Lengths are in metres."""

from typing import Annotated, Literal, NewType

from prove.servers import Caseless, Latitude, Longitude, Meta, Moment, Record

PlaceId = NewType("PlaceId", str)
SavedPlaceId = NewType("SavedPlaceId", str)
RouteId = NewType("RouteId", str)
JunctionId = NewType("JunctionId", str)
RoadId = NewType("RoadId", str)

Category = Annotated[
    Literal[
        "restaurant",
        "cafe",
        "supermarket",
        "pharmacy",
        "hospital",
        "museum",
        "hotel",
        "park",
        "school",
        "station",
        "fuel",
        "viewpoint",
        "residence",
        "office",
        "gym",
        "dentist",
    ],
    Meta(description="what sort of place"),
]
SurveyedLatitude = Annotated[Latitude, Meta(description="degrees north, to a tenth of a metre")]
SurveyedLongitude = Annotated[Longitude, Meta(description="degrees east, to a tenth of a metre")]
Town = Annotated[Caseless[str], Meta(min_length=1, max_length=60, description="the name of a town")]
Address = Annotated[str, Meta(min_length=3, max_length=120, description="house number, street and town, for example 12 Mill Lane, Averby")]
Clock = Annotated[str, Meta(pattern=r"^\d\d:\d\d$", description="a time of day, HH:MM")]
Weekday = Annotated[
    Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], Meta(description="a day of the week")
]
Radius = Annotated[int, Meta(ge=100, le=50_000, description="how far away a place may be, in metres as the crow flies")]
Metres = Annotated[int, Meta(description="a length or height in metres")]
Minutes = Annotated[int, Meta(description="how long it takes, in minutes")]
TravelMode = Annotated[Literal["drive", "cycle", "walk"], Meta(description="how to travel")]
Turn = Literal["start", "left", "right", "straight on"]
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
    latitude: SurveyedLatitude
    longitude: SurveyedLongitude
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
    place_id: PlaceId  # what is there, or else the nearest place: ways lead from place to place
    place_name: str
    place_distance_m: Metres  # as the crow flies; 0 if the place is there


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
    turn: Turn
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
