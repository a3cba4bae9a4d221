"""One connected car. What it lets its driver do depends on what it is doing; as time passes it burns fuel and follows its route."""

from datetime import date, timedelta
from math import ceil, sqrt
from typing import Annotated, Literal, NewType, TypeVar

from prove.servers import (
    Day,
    Latitude,
    Limit,
    Longitude,
    Meta,
    Moment,
    Page,
    Query,
    Record,
    Server,
    given,
    matches,
    page,
    read,
    require,
    table,
    write,
)

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
ServiceDay = Annotated[Day, Meta(description="the day on which the car is brought in, YYYY-MM-DD")]

KM_PER_DEGREE = (111.2, 74.4)  # of latitude, and of longitude where this car drives
DETOUR = 1.25  # roads are longer than the straight line
WINDOWS_SHUT_ABOVE = 100  # km/h
BAYS = 2  # cars that a service center takes on one day
DARK = (20, 7)  # from this hour to that one
INSPECTION_KM = 30_000  # from one inspection to the next
IDLE_LITERS_PER_HOUR = 0.8

R = TypeVar("R", bound=Record)


class Car(Record):
    plate: str
    engine: Literal["on", "off"]
    gear: Gear
    brake_pedal: Pedal
    parking_brake: ParkingBrake
    speed: int  # km/h
    cruise_speed: Speed | None
    headlights: Headlights
    odometer_km: float
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
    liters: float
    capacity: int
    liters_per_100_km: float


class Tires(Record):
    plate: str
    front_left: int  # kPa
    front_right: int
    rear_left: int
    rear_right: int
    recommended: int


class Position(Record):
    plate: str
    latitude: Latitude
    longitude: Longitude
    place_id: PlaceId | None  # where it stands; None on the road
    since: Moment  # up to when its driving is accounted for
    trip_from_km: float  # the odometer when the engine was started
    trip_from_liters: float


class Route(Record):
    plate: str
    place_id: PlaceId
    name: str
    remaining_km: float
    arrival: Moment  # at 60 km/h


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


class VehicleStatus(Record):
    car: Car
    doors: Doors
    windows: Windows
    climate: Climate
    fuel_liters: float
    range_km: int
    destination: str | None


class Vehicle(Server):
    """The controls, the fuel, the navigation and the service book of one car."""

    category = "Devices"

    cars = table(Car)
    doors = table(Doors)
    windows = table(Windows)
    climates = table(Climate)
    tanks = table(Tank)
    tires = table(Tires)
    positions = table(Position)
    routes = table(Route)
    places = table(Place, "PLC-{}", start=301)
    service_centers = table(ServiceCenter, "SVC-{}", start=11)
    appointments = table(Appointment, "APT-{}", start=601)
    trips = table(Trip, "TRP-{}", start=1001)

    # --- engine, brakes, gears

    @read
    def get_vehicle_status(self) -> VehicleStatus:
        """Show how the car is right now: engine, gear, brakes, speed, doors, windows, climate, fuel and range."""
        tank, route = self.tanks.one(), self._route()
        parts = (self.cars.one(), self.doors.one(), self.windows.one(), self.climates.one())
        return VehicleStatus(*parts, tank.liters, int(_range_km(tank)), route.name if route else None)

    @write
    def start_engine(self) -> Car:
        """Start the engine, with the brake pressed and the gear in park or neutral."""
        car, tank = self.cars.one(), self.tanks.one()
        require(car.engine == "off", "failed_precondition", "the engine is running already")
        self._braked()
        require(car.gear in ("park", "neutral"), "failed_precondition", f"the gear is in {car.gear}: shift to park first")
        require(tank.liters > 0, "failed_precondition", "the tank is empty: fill it first")
        self.positions.update(car.plate, trip_from_km=car.odometer_km, trip_from_liters=tank.liters)
        return self.cars.update(car.plate, engine="on")

    @write
    def stop_engine(self) -> Car:
        """Stop the engine of a parked car; climate and navigation go off with it, and the trip is logged."""
        car = self._running()
        require(car.gear == "park", "failed_precondition", f"the gear is in {car.gear}: shift to park first")
        return self._switch_off()

    @write(idempotent=True)
    def set_brake_pedal(self, pedal: Pedal) -> Car:
        """Press the brake, which stops the car and ends cruise control, or release it."""
        car = self.cars.one()
        if pedal == "pressed":
            return self._halt()
        rolls = car.gear == "neutral" and car.parking_brake == "released"
        require(not rolls, "failed_precondition", "the car would roll in neutral: shift to park or engage the parking brake first")
        return self.cars.update(car.plate, brake_pedal="released")

    @write(idempotent=True)
    def set_parking_brake(self, parking_brake: ParkingBrake) -> Car:
        """Engage the parking brake of a standing car, or release it with the engine on and the brake pressed."""
        car = self._standing()
        if parking_brake == "released":
            self._running()
            self._braked()
        return self.cars.update(car.plate, parking_brake=parking_brake)

    @write(idempotent=True)
    def shift_gear(self, gear: Gear) -> Car:
        """Shift while the car stands with the brake pressed; drive and reverse need a running engine."""
        car = self._standing()
        self._braked()
        if gear in ("drive", "reverse"):
            self._running()
        return self.cars.update(car.plate, gear=gear)

    @write(idempotent=True)
    def set_cruise_control(self, speed: Speed) -> Car:
        """Let the car drive at a steady speed, from a standstill too: in drive, brake pedal released, doors locked."""
        car = self._running()
        require(car.gear == "drive", "failed_precondition", f"the gear is in {car.gear}: shift to drive first")
        require(car.brake_pedal == "released", "failed_precondition", "the brake pedal is pressed: release it first")
        unlocked = _fields_other_than("locked", self.doors.one())
        require(not unlocked, "failed_precondition", f"unlocked: {unlocked}; lock the doors first")
        ajar = _fields_other_than(0, self.windows.one())
        too_fast = speed > WINDOWS_SHUT_ABOVE and ajar
        require(not too_fast, "failed_precondition", f"above {WINDOWS_SHUT_ABOVE} km/h windows must be shut: close {ajar} first")
        self.positions.update(car.plate, place_id=None)
        return self.cars.update(car.plate, speed=speed, cruise_speed=speed, parking_brake="released")  # it lets go by itself

    # --- doors, windows, climate, lights

    @write(idempotent=True)
    def set_door_lock(self, door: Door, lock: Lock) -> Doors:
        """Lock or unlock a door, or all of them; a moving car keeps its doors locked."""
        if lock == "unlocked":
            self._standing()
        doors = self.doors.one()
        return self.doors.update(doors.plate, **dict.fromkeys(Doors.__struct_fields__[1:] if door == "all" else [door], lock))

    @write(idempotent=True)
    def set_window(self, window: Window, position: Openness) -> Windows:
        """Open or close a window, fully or in part, while the engine runs; not open above 100 km/h."""
        car = self._running()
        too_fast = position and car.speed > WINDOWS_SHUT_ABOVE
        require(not too_fast, "failed_precondition", f"the car goes {car.speed} km/h: slow down to {WINDOWS_SHUT_ABOVE} first")
        return self.windows.update(car.plate, **{window: position})

    @write(idempotent=True)
    def set_climate(self, mode: ClimateMode, temperature: CabinTemperature | None = None, fan: FanLevel | None = None) -> Climate:
        """Set the climate control of a running car; temperature and fan stay as they are unless given."""
        if mode != "off":
            self._running()
        return self.climates.update(self.cars.one().plate, **given(mode=mode, temperature=temperature, fan=fan))

    @write(idempotent=True)
    def set_headlights(self, headlights: Headlights) -> Car:
        """Switch the headlights; beams need a running engine, and a car that moves after dark keeps its lights."""
        car = self.cars.one()
        if headlights in ("low_beam", "high_beam"):
            self._running()
        dark = self.now.hour >= DARK[0] or self.now.hour < DARK[1]
        blind = headlights == "off" and car.speed and dark
        require(not blind, "failed_precondition", f"the car goes {car.speed} km/h in the dark: stop first, or set auto")
        return self.cars.update(car.plate, headlights=headlights)

    # --- tires, fuel, service

    @read
    def check_tire_pressure(self) -> Tires:
        """Read the pressure of the four tires in kPa; their sensors report while the engine runs."""
        return self.tires.get(self._running().plate)

    @write
    def fill_fuel(self, liters: Liters) -> Tank:
        """Put fuel into the tank, with the engine off."""
        car, tank = self.cars.one(), self.tanks.one()
        require(car.engine == "off", "failed_precondition", "the engine is running: stop it first")
        room = round(tank.capacity - tank.liters, 2)
        require(liters <= room, "resource_exhausted", f"{liters} liters do not fit: there is room for {room}")
        return self.tanks.update(car.plate, liters=round(tank.liters + liters, 2))

    @read
    def find_service_centers(
        self, query: Query | None = None, service: ServiceKind | None = None, limit: Limit = 10
    ) -> Page[ServiceCenter]:
        """Find service centers by name, town or what they do, nearest first."""
        found = [c for c in self.service_centers if matches(query, c.name, c.town) and (service is None or service in c.services)]
        return page(sorted(found, key=lambda c: self._km_to(self.places.get(c.place_id))), limit, ServiceCenter)

    @write
    def book_service(self, service_center_id: ServiceCenterId, service: ServiceKind, day: ServiceDay) -> Appointment:
        """Book the car in for a job on a coming weekday or Saturday that still has a free bay."""
        center, plate = self.service_centers.get(service_center_id), self.cars.one().plate
        require(service in center.services, "invalid_argument", f"{center.name} does not do {service}, only {', '.join(center.services)}")
        require(day > self.today, "failed_precondition", f"{day} is not after today, {self.today}: choose a later day")
        require(day.weekday() < 6, "failed_precondition", f"{day} is a Sunday, and {center.name} is closed: choose another day")
        taken = self.appointments.where(service_center_id=service_center_id, day=day)
        require(len(taken) < BAYS, "resource_exhausted", f"{center.name} is full on {day}: choose another day")
        mine = self.appointments.where(plate=plate, service=service, status="booked")
        require(not mine, "conflict", f"{service} is booked already: {', '.join(f'{a.appointment_id} on {a.day}' for a in mine)}")
        return self.appointments.add(Appointment(self.appointments.mint(), service_center_id, plate, service, day))

    # --- places, navigation, trips

    @read
    def search_places(self, query: Query | None = None, category: PlaceCategory | None = None, limit: Limit = 10) -> Page[PlaceLine]:
        """Find places by name, street, town or category, nearest first."""
        found = [p for p in self.places if matches(query, p.name, p.street, p.town) and category in (None, p.category)]
        return page(sorted(found, key=self._km_to), limit, PlaceLine)

    @read
    def get_place(self, place_id: PlaceId) -> PlaceDetails:
        """Show how far away a place is, how long the drive takes, and whether the fuel will do."""
        place, tank = self.places.get(place_id), self.tanks.one()
        km = self._km_to(place)
        fuel = round(km * tank.liters_per_100_km / 100, 1)
        return PlaceDetails(place_id, place.name, km, ceil(km), fuel, km <= _range_km(tank))

    @write
    def start_navigation(self, place_id: PlaceId) -> Route:
        """Guide the driver to a place; needs a running engine and no other guidance."""
        place, plate = self.places.get(place_id), self._running().plate
        route = self._route()
        require(route is None, "failed_precondition", f"guidance to {route and route.name} is on: cancel it first")
        require(self.positions.one().place_id != place_id, "failed_precondition", f"the car is at {place.name} already")
        km = self._km_to(place)
        return self.routes.add(Route(plate, place_id, place.name, km, self.now + timedelta(minutes=ceil(km))))

    @write(destructive=True)
    def cancel_navigation(self) -> Route:
        """End the guidance before it has reached its destination."""
        require(self._route(), "failed_precondition", "no guidance is on: start navigation first")
        return self.routes.remove(self.cars.one().plate)

    @read
    def list_trips(self, since: Day | None = None, until: Day | None = None, limit: Limit = 10) -> Page[Trip]:
        """List past trips, latest first: where they ended, how far they went and what they burned."""
        first, last = since or date.min, until or date.max
        require(first <= last, "invalid_argument", f"since, {first}, is after until, {last}: swap them")
        found = [t for t in self.trips if first <= t.day <= last]
        return page(reversed(found), limit, Trip)  # they are kept in the order of time

    # --- rules

    def elapse(self) -> None:
        position = self.positions.one()
        if self.cars.one().engine == "on":
            self._run((self.now - position.since) / timedelta(hours=1))
        self.positions.update(position.plate, since=self.now)
        for appointment in [a for a in self.appointments if a.status == "booked" and a.day <= self.today]:
            self._serve(appointment)

    def _run(self, hours: float) -> None:
        """Drive as far as time, fuel and the route allow, or idle. Without a route the car goes nowhere in particular."""
        car, tank = self.cars.one(), self.tanks.one()
        km = round(min(car.speed * hours, _range_km(tank)), 1)
        if route := self._route():
            km = min(km, route.remaining_km)
            self._follow(route, km)
        burned = km * tank.liters_per_100_km / 100 if car.speed else hours * IDLE_LITERS_PER_HOUR
        left = round(tank.liters - burned, 2)
        self.tanks.update(tank.plate, liters=max(left, 0.0))
        self.cars.update(car.plate, odometer_km=round(car.odometer_km + km, 1))
        if left < 0.05:  # run dry
            self._halt()
            self._switch_off()

    def _follow(self, route: Route, km: float) -> None:
        here, there = self.positions.one(), self.places.get(route.place_id)
        remaining = round(route.remaining_km - km, 1)
        if remaining <= 0:
            self.routes.remove(route.plate)
            self.positions.update(here.plate, latitude=there.latitude, longitude=there.longitude, place_id=there.place_id)
            self._halt()
            return
        share = km / route.remaining_km
        latitude = round(here.latitude + share * (there.latitude - here.latitude), 5)
        longitude = round(here.longitude + share * (there.longitude - here.longitude), 5)
        self.positions.update(here.plate, latitude=latitude, longitude=longitude)
        self.routes.update(route.plate, remaining_km=remaining, arrival=self.now + timedelta(minutes=ceil(remaining)))

    def _serve(self, appointment: Appointment) -> None:
        """On its day a car gets the job done, unless it is on the road."""
        car, tires = self.cars.one(), self.tires.one()
        mine = appointment.plate == car.plate
        missed = mine and car.engine == "on"
        self.appointments.update(appointment.appointment_id, status="missed" if missed else "done")
        if mine and not missed and appointment.service == "tires":
            self.tires.update(car.plate, **dict.fromkeys(("front_left", "front_right", "rear_left", "rear_right"), tires.recommended))
        if mine and not missed and appointment.service == "inspection":
            self.cars.update(car.plate, inspection_due_km=int(car.odometer_km) + INSPECTION_KM)

    def _halt(self) -> Car:
        return self.cars.update(self.cars.one().plate, brake_pedal="pressed", speed=0, cruise_speed=None)

    def _switch_off(self) -> Car:
        car, position, tank = self.cars.one(), self.positions.one(), self.tanks.one()
        km, liters = round(car.odometer_km - position.trip_from_km, 1), round(position.trip_from_liters - tank.liters, 2)
        if km:
            self.trips.add(Trip(TripId(self.trips.mint()), self.today, position.place_id, km, liters))
        if self._route():
            self.routes.remove(car.plate)
        self.climates.update(car.plate, mode="off")
        return self.cars.update(car.plate, engine="off")

    def _route(self) -> Route | None:
        return next(iter(self.routes), None)

    def _running(self) -> Car:
        car = self.cars.one()
        require(car.engine == "on", "failed_precondition", "the engine is off: start it first")
        return car

    def _standing(self) -> Car:
        car = self.cars.one()
        require(not car.speed, "failed_precondition", f"the car goes {car.speed} km/h: press the brake to stop first")
        return car

    def _braked(self) -> None:
        require(self.cars.one().brake_pedal == "pressed", "failed_precondition", "the brake pedal is released: press it first")

    def _km_to(self, place: Place) -> float:
        here = self.positions.one()
        north, east = (place.latitude - here.latitude) * KM_PER_DEGREE[0], (place.longitude - here.longitude) * KM_PER_DEGREE[1]
        return round(DETOUR * sqrt(north * north + east * east), 1)


def _range_km(tank: Tank) -> float:
    return tank.liters / tank.liters_per_100_km * 100


def _fields_other_than(value: object, parts: Doors | Windows) -> str:
    """The names of the doors or windows that are not as wanted."""
    return ", ".join(name for name in parts.__struct_fields__[1:] if getattr(parts, name) != value)
