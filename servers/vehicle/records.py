"""What a car knows of itself and of the country around it. Lengths are in metres and fuel in microliters, so that sums are exact."""

from typing import Annotated, Literal, NewType

from prove.servers import Day, Latitude, Longitude, Meta, Moment, Record

PlaceId = NewType("PlaceId", str)
ServiceCenterId = NewType("ServiceCenterId", str)
AppointmentId = NewType("AppointmentId", str)
TripId = NewType("TripId", str)

Gear = Annotated[Literal["park", "reverse", "neutral", "drive"], Meta(description="a position of the gear selector")]
Pedal = Annotated[Literal["pressed", "released"], Meta(description="whether the brake pedal is held down")]
ParkingBrake = Annotated[Literal["engaged", "released"], Meta(description="whether the parking brake holds the car")]
Speed = Annotated[int, Meta(ge=30, le=140, description="a cruising speed in km/h")]
Door = Annotated[
    Literal["driver", "passengers", "trunk", "all"], Meta(description="the driver's door, the other three, the trunk, or all of them")
]
Lock = Annotated[Literal["locked", "unlocked"], Meta(description="whether a door is locked")]
Window = Annotated[Literal["driver", "passenger", "rear_left", "rear_right"], Meta(description="which window, by the seat beside it")]
Openness = Annotated[int, Meta(ge=0, le=100, description="how far open in percent, 0 closed and 100 fully open")]
ClimateMode = Annotated[Literal["off", "auto", "heat", "cool", "defrost"], Meta(description="what the climate control does")]
CabinTemperature = Annotated[
    float, Meta(ge=16, le=28, multiple_of=0.5, description="a cabin temperature in degrees Celsius, in steps of 0.5")
]
FanLevel = Annotated[int, Meta(ge=1, le=7, description="how strongly the fan blows, 1 to 7")]
Headlights = Annotated[Literal["off", "auto", "low_beam", "high_beam"], Meta(description="how the headlights are set")]
Liters = Annotated[int, Meta(ge=1, le=80, description="an amount of fuel in liters")]
PlaceCategory = Annotated[
    Literal["fuel_station", "restaurant", "hotel", "supermarket", "parking", "hospital", "attraction", "contact", "service_center"],
    Meta(description="what sort of place; contact is the home of somebody the driver knows"),
]
ServiceKind = Annotated[
    Literal["oil_change", "tires", "brakes", "battery", "air_conditioning", "inspection"],
    Meta(description="a job that a service center does"),
]
ServiceDay = Annotated[
    Day, Meta(description="the day on which the job is done if the car stands there, engine off, when they close at 17:00; YYYY-MM-DD")
]
Heading = Literal["north", "east", "south", "west"]


class Car(Record):
    plate: str
    engine: Literal["on", "off"]
    gear: Gear
    brake_pedal: Pedal
    parking_brake: ParkingBrake
    speed: int  # km/h
    cruise_speed: Speed | None
    headlights: Headlights
    inspection_due_km: int  # what the odometer will show then


class Doors(Record):
    plate: str
    driver: Lock
    passengers: Lock
    trunk: Lock


class Windows(Record):
    plate: str
    driver: Openness
    passenger: Openness
    rear_left: Openness
    rear_right: Openness


class Climate(Record):
    plate: str
    mode: ClimateMode
    temperature: CabinTemperature
    fan: FanLevel


class Tank(Record):
    plate: str
    capacity: int  # liters
    ml_per_km: int


class Tires(Record):
    plate: str
    front_left: int  # kPa
    front_right: int
    rear_left: int
    rear_right: int
    recommended: int


class Motion(Record):
    """Where things stood when speed, engine or guidance last changed; what has happened since follows from it."""

    plate: str
    since: Moment
    odometer_m: int
    fuel_ul: int
    latitude: Latitude
    longitude: Longitude
    place_id: PlaceId | None  # where it stands; None on the road
    heading: Heading  # where it drives without guidance
    trip_from_m: int  # the odometer when the engine was started
    trip_from_ul: int


class Way(Record):
    """Guidance that is on."""

    plate: str
    place_id: PlaceId
    remaining_m: int  # at the moment since which the motion counts


class Route(Record):
    place_id: PlaceId
    name: str
    remaining_km: float
    arrival: Moment  # at the speed it goes, or at 60 km/h


class Place(Record):
    place_id: PlaceId
    name: str
    category: PlaceCategory
    street: str
    town: str
    latitude: Latitude
    longitude: Longitude


class ServiceCenter(Record):
    service_center_id: ServiceCenterId
    name: str
    town: str
    place_id: PlaceId
    services: list[ServiceKind]


class Appointment(Record):
    appointment_id: AppointmentId
    service_center_id: ServiceCenterId
    plate: str
    service: ServiceKind
    day: ServiceDay
    status: Literal["booked", "done", "missed"] = "booked"


class Trip(Record):
    trip_id: TripId
    day: Day
    place_id: PlaceId | None  # where it ended
    distance_km: float
    fuel_liters: float


class PlaceLine(Record):
    place_id: PlaceId
    name: str
    category: PlaceCategory
    street: str
    town: str


class PlaceDetails(Record):
    place_id: PlaceId
    name: str
    distance_km: float
    minutes: int
    fuel_needed_liters: float
    reachable: bool  # with what is in the tank


class FuelLevel(Record):
    liters: float
    capacity: int


class Location(Record):
    latitude: Latitude
    longitude: Longitude
    at: str  # the place's name, or "on the road"


class VehicleStatus(Record):
    car: Car
    doors: Doors
    windows: Windows
    climate: Climate
    odometer_km: float
    fuel_liters: float
    range_km: int
    location: Location
    destination: str | None
    appointments: list[Appointment]  # the five latest of this car
