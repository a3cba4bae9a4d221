"""One connected car. What it lets its driver do depends on what it is doing; as time passes it burns fuel and follows its route."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from msgspec.structs import asdict

from prove.servers import Day, Limit, Offset, Page, Query, Server, ToolError, given, matches, newest, page, read, require, table, write

from .driving import (
    GUESSED_SPEED, heading_to, is_dark, metres_between, next_event, nightfall_after, range_m, since_then, time_for,
)  # fmt: skip
from .records import (
    Appointment, AppointmentId, CabinTemperature, Car, Climate, ClimateMode, Door, Doors, FanLevel, FuelLevel, Gear, Headlights, Liters,
    Location, Lock, Motion, Openness, ParkingBrake, Pedal, Place, PlaceCategory, PlaceDetails, PlaceId, PlaceLine, Route, ServiceCenter,
    ServiceCenterId, ServiceDay, ServiceKind, Speed, Tank, Tires, Trip, TripId, VehicleStatus, Way, Window, Windows,
)  # fmt: skip

WINDOWS_SHUT_ABOVE = 100  # km/h
BAYS = 2  # cars that a service center takes on one day
CLOSES = time(17, tzinfo=UTC)  # a service center: what was brought in is ready then
INSPECTION_KM = 30_000  # from one inspection to the next
CAN = 10  # liters that the breakdown service brings to an empty tank
WHEELS = ("front_left", "front_right", "rear_left", "rear_right")


class Vehicle(Server):
    """The controls, the fuel, the navigation and the service book of one car."""

    category = "Devices"

    cars = table(Car)
    doors = table(Doors)
    windows = table(Windows)
    climates = table(Climate)
    tanks = table(Tank)
    tires = table(Tires)
    motions = table(Motion)
    ways = table(Way)
    places = table(Place, "PLC-{}", start=301)
    service_centers = table(ServiceCenter, "SVC-{}", start=11)
    appointments = table(Appointment, "APT-{}", start=601)
    trips = table(Trip, "TRP-{}", start=1001)

    # --- engine, brakes, gears

    @read
    def get_vehicle_status(self) -> VehicleStatus:
        """Show the car right now: engine, gear, brakes, speed, doors, windows, climate, fuel, where it is and its service appointments."""
        motion, goal = self._motion(), self._goal()
        parts = (self.cars.one(), self.doors.one(), self.windows.one(), self.climates.one())
        numbers = (motion.odometer_m // 100 / 10, _liters(motion.fuel_ul), range_m(motion, self.tanks.one()) // 1000)
        place = self.places.get(motion.place_id) if motion.place_id else None
        location = Location(motion.latitude, motion.longitude, f"{place.name}, {place.street}" if place else "on the road")
        latest = newest(self.appointments.where(plate=motion.plate), when=lambda a: a.day)[:5]
        return VehicleStatus(*parts, *numbers, location, goal.name if goal else None, latest)

    @write
    def start_engine(self) -> Car:
        """Start the engine, with the brake pressed and the gear in park or neutral."""
        car, motion = self.cars.one(), self.motions.one()
        require(car.engine == "off", "failed_precondition", "the engine is running already")
        self._braked()
        require(car.gear in ("park", "neutral"), "failed_precondition", f"the gear is in {car.gear}: shift to park first")
        require(range_m(motion, self.tanks.one()), "failed_precondition", f"the tank is empty: fill in up to {CAN} liters first")
        self.motions.update(car.plate, since=self.now, trip_from_m=motion.odometer_m, trip_from_ul=motion.fuel_ul)
        return self.cars.update(car.plate, engine="on")

    @write
    def stop_engine(self) -> Car:
        """Stop the engine of a parked car; lights, climate and navigation go off with it, and the trip is logged."""
        car = self._running()
        require(car.gear == "park", "failed_precondition", f"the gear is in {car.gear}: shift to park first")
        return self._switch_off()

    @write(idempotent=True)
    def set_brake_pedal(self, pedal: Pedal) -> Car:
        """Press the brake, which stops the car and ends cruise control, or release it."""
        car = self.cars.one()
        if pedal == "pressed":
            return self._halt()
        loose = car.gear == "neutral" or (car.gear != "park" and car.engine == "off")  # a running engine holds the car until it is to go
        rolls = loose and car.parking_brake == "released"
        require(not rolls, "failed_precondition", f"the car would roll in {car.gear}: shift to park or engage the parking brake first")
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
        """Drive at a steady speed, from a standstill too: in drive, brake pedal released, doors locked, after dark with lights."""
        car = self._running()
        require(car.gear == "drive", "failed_precondition", f"the gear is in {car.gear}: shift to drive first")
        require(car.brake_pedal == "released", "failed_precondition", "the brake pedal is pressed: release it first")
        unlocked = _fields_other_than("locked", self.doors.one())
        require(not unlocked, "failed_precondition", f"unlocked: {unlocked}; lock the doors first")
        ajar = _fields_other_than(0, self.windows.one())
        too_fast = speed > WINDOWS_SHUT_ABOVE and ajar
        require(not too_fast, "failed_precondition", f"above {WINDOWS_SHUT_ABOVE} km/h windows must be shut: close {ajar} first")
        blind = is_dark(self.now) and car.headlights == "off"
        require(not blind, "failed_precondition", "it is dark and the headlights are off: set them to auto or low_beam first")
        if speed != car.speed:
            self._settle()
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
        blind = headlights == "off" and car.speed and is_dark(self.now)
        require(not blind, "failed_precondition", f"the car goes {car.speed} km/h in the dark: stop first, or set auto")
        return self.cars.update(car.plate, headlights=headlights)

    # --- tires, fuel, service

    @read
    def check_tire_pressure(self) -> Tires:
        """Read the pressure of the four tires in kPa; their sensors report while the engine runs."""
        return self.tires.get(self._running().plate)

    @write
    def fill_fuel(self, liters: Liters) -> FuelLevel:
        """Put fuel into the tank at a fuel station, engine off; to an empty tank anywhere the breakdown service brings up to 10 liters."""
        car, tank, motion = self.cars.one(), self.tanks.one(), self.motions.one()
        require(car.engine == "off", "failed_precondition", "the engine is running: stop it first")
        place = self.places.get(motion.place_id) if motion.place_id else None
        if not place or place.category != "fuel_station":
            where = f"at {place.name}" if place else "on the road"
            dry = range_m(motion, tank) == 0
            require(dry, "failed_precondition", f"the car is {where}, not at a fuel station: drive to one first")
            require(liters <= CAN, "resource_exhausted", f"the car is {where}: the breakdown service brings at most {CAN} liters")
        room = tank.capacity * 1_000_000 - motion.fuel_ul
        fits = liters * 1_000_000 <= room
        require(fits, "resource_exhausted", f"{liters} liters do not fit: there is room for {room // 1_000_000} whole liters")
        motion = self.motions.update(car.plate, fuel_ul=motion.fuel_ul + liters * 1_000_000)
        return FuelLevel(_liters(motion.fuel_ul), tank.capacity)

    @read
    def find_service_centers(
        self, query: Query | None = None, service: ServiceKind | None = None, limit: Limit = 10
    ) -> Page[ServiceCenter]:
        """Find service centers by name, town or what they do, nearest first."""
        found = [c for c in self.service_centers if matches(query, c.name, c.town) and (service is None or service in c.services)]
        here = self._motion()
        return page(sorted(found, key=lambda c: metres_between(here, self.places.get(c.place_id))), limit, ServiceCenter)

    @write
    def book_service(self, service_center_id: ServiceCenterId, service: ServiceKind, day: ServiceDay) -> Appointment:
        """Book the car in for a job on a coming weekday or Saturday that has a free bay; a job that is booked already is moved."""
        center, plate = self.service_centers.get(service_center_id), self.cars.one().plate
        require(service in center.services, "invalid_argument", f"{center.name} does not do {service}, only {', '.join(center.services)}")
        require(day > self.today, "failed_precondition", f"{day} is not after today, {self.today}: choose a later day")
        last = self.today + timedelta(days=365)
        require(day <= last, "failed_precondition", f"{center.name} takes bookings up to {last}: choose a day before {day}")
        require(day.weekday() < 6, "failed_precondition", f"{day} is a Sunday, and {center.name} is closed: choose another day")
        mine = next(iter(self.appointments.where(plate=plate, service=service, status="booked")), None)
        same = mine and (mine.service_center_id, mine.day) == (service_center_id, day)
        require(not same, "conflict", f"{service} is booked there for {day} already: choose another day to move it")
        booked = self.appointments.where(day=day, status="booked")
        for other in (a for a in booked if a.plate == plate and a.service != service and a.service_center_id != service_center_id):
            there = f"the car is booked in at {other.service_center_id} on {day} ({other.service})"
            raise ToolError("conflict", f"{there}, and stands at one place at 17:00: choose another day")
        others = {a.plate for a in booked if a.service_center_id == service_center_id and a.plate != plate}
        require(len(others) < BAYS, "resource_exhausted", f"{center.name} is full on {day}: choose another day")
        if mine:
            return self.appointments.update(mine.appointment_id, service_center_id=service_center_id, day=day)
        return self.appointments.add(Appointment(AppointmentId(self.appointments.mint()), service_center_id, plate, service, day))

    # --- places, navigation, trips

    @read
    def search_places(
        self, query: Query | None = None, category: PlaceCategory | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[PlaceLine]:
        """Find places by name, street, town or category, nearest first."""
        found = [p for p in self.places if matches(query, p.name, p.street, p.town) and category in (None, p.category)]
        here = self._motion()
        return page(sorted(found, key=lambda p: metres_between(here, p)), limit, PlaceLine, offset)

    @read
    def get_place(self, place_id: PlaceId) -> PlaceDetails:
        """Show how far away a place is, how long the drive takes, and whether the fuel will do."""
        place, tank, motion = self.places.get(place_id), self.tanks.one(), self._motion()
        metres = metres_between(motion, place)
        fuel, minutes = -(-metres * tank.ml_per_km // 100_000) / 10, -(-time_for(metres, GUESSED_SPEED) // timedelta(minutes=1))
        return PlaceDetails(place_id, place.name, _km(metres), minutes, fuel, metres <= range_m(motion, tank))

    @write
    def start_navigation(self, place_id: PlaceId) -> Route:
        """Guide the driver to a place; needs a running engine and no other guidance."""
        place, plate, goal = self.places.get(place_id), self._running().plate, self._goal()
        require(goal is None, "failed_precondition", f"guidance to {goal and goal.name} is on: cancel it first")
        metres = metres_between(self._motion(), place)
        require(metres, "failed_precondition", f"the car is at {place.name} already")
        self._settle_if_moving()
        self.ways.add(Way(plate, place_id, metres))
        return self._route(place, metres)

    @write(destructive=True)
    def cancel_navigation(self) -> Route:
        """End the guidance before it has reached its destination; without it the car goes straight on."""
        goal = self._goal()
        require(goal, "failed_precondition", "no guidance is on: start navigation first")
        self._settle_if_moving()
        way = self.ways.remove(self.cars.one().plate)
        place = self.places.get(way.place_id)
        self.motions.update(way.plate, heading=heading_to(self.motions.one(), place))
        return self._route(place, way.remaining_m)

    @read
    def list_trips(self, since: Day | None = None, until: Day | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[Trip]:
        """List past trips, latest first: where they ended, how far they went and what they burned."""
        first, last = since or date.min, until or date.max
        require(first <= last, "invalid_argument", f"since, {first}, is after until, {last}: swap them")
        return page(newest((t for t in self.trips if first <= t.day <= last), when=lambda t: t.day), limit, Trip, offset)

    # --- time

    def due(self) -> datetime | None:
        return min((moment for moment in self._coming() if moment), default=None)

    def _coming(self) -> Iterator[datetime | None]:
        car, way = self.cars.one(), next(iter(self.ways), None)
        yield next_event(self.motions.one(), car, self.tanks.one(), way)
        if car.speed and car.headlights == "off":
            yield nightfall_after(self.now)
        yield from (_ready(a) for a in self.appointments.where(status="booked"))

    def elapse(self) -> None:
        car, motion, goal = self.cars.one(), self._motion(), self._goal()
        if car.speed and goal and motion.place_id == goal.place_id:
            self._arrive(goal)
        if car.engine == "on" and range_m(motion, self.tanks.one()) == 0 and (car.speed or motion.fuel_ul == 0):
            self._run_dry()
        if self.cars.one().speed and is_dark(self.now) and car.headlights == "off":
            self.cars.update(car.plate, headlights="auto")  # a moving car sees to that by itself
        for appointment in [a for a in self.appointments.where(status="booked") if _ready(a) <= self.now]:
            self._serve(appointment)

    def _arrive(self, goal: Place) -> None:
        self._halt()
        way = self.ways.remove(self.cars.one().plate)
        self.motions.update(way.plate, latitude=goal.latitude, longitude=goal.longitude)

    def _run_dry(self) -> None:
        self._halt()
        self._settle()
        self.motions.update(self.cars.one().plate, fuel_ul=0)  # what is left does not make a metre
        self._switch_off()

    def _serve(self, appointment: Appointment) -> None:
        """A car that stands at the service center when it closes got its job done there that day."""
        car, motion, tires = self.cars.one(), self._motion(), self.tires.one()
        mine = appointment.plate == car.plate
        place_id = self.service_centers.get(appointment.service_center_id).place_id
        missed = mine and (car.engine == "on" or motion.place_id != place_id)
        self.appointments.update(appointment.appointment_id, status="missed" if missed else "done")
        if mine and not missed and appointment.service == "tires":
            self.tires.update(car.plate, **dict.fromkeys(WHEELS, tires.recommended))
        if mine and not missed and appointment.service == "inspection":
            self.cars.update(car.plate, inspection_due_km=motion.odometer_m // 1000 + INSPECTION_KM)

    # --- rules

    def _motion(self) -> Motion:
        """Where the car is and what is in its tank, now."""
        motion, car, tank, way = self.motions.one(), self.cars.one(), self.tanks.one(), next(iter(self.ways), None)
        return since_then(motion, car, tank, self.now, way, self._goal())

    def _settle(self) -> None:
        """Write down what has happened since the last change, before the next one."""
        motion, now = self.motions.one(), self._motion()
        if way := next(iter(self.ways), None):
            self.ways.update(way.plate, remaining_m=way.remaining_m - (now.odometer_m - motion.odometer_m))
        self.motions.update(now.plate, **asdict(now))

    def _settle_if_moving(self) -> None:
        if self.cars.one().speed:
            self._settle()

    def _halt(self) -> Car:
        self._settle_if_moving()
        return self.cars.update(self.cars.one().plate, brake_pedal="pressed", speed=0, cruise_speed=None)

    def _switch_off(self) -> Car:
        self._settle()
        car, motion = self.cars.one(), self.motions.one()
        metres, fuel = motion.odometer_m - motion.trip_from_m, motion.trip_from_ul - motion.fuel_ul
        if metres:
            self.trips.add(Trip(TripId(self.trips.mint()), self.today, motion.place_id, _km(metres), _liters(fuel)))
        if self._goal():
            self.ways.remove(car.plate)
        self.climates.update(car.plate, mode="off")
        return self.cars.update(car.plate, engine="off", headlights="auto" if car.headlights == "auto" else "off")

    def _goal(self) -> Place | None:
        way = next(iter(self.ways), None)
        return self.places.get(way.place_id) if way else None

    def _route(self, place: Place, metres: int) -> Route:
        arrival = self.now + time_for(metres, self.cars.one().speed or GUESSED_SPEED)
        return Route(place.place_id, place.name, _km(metres), arrival.replace(microsecond=0))

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


def _ready(appointment: Appointment) -> datetime:
    return datetime.combine(appointment.day, CLOSES)


def _km(metres: int) -> float:
    return -(-metres // 100) / 10


def _liters(microliters: int) -> float:
    return round(microliters / 1_000_000, 2)


def _fields_other_than(value: object, parts: Doors | Windows) -> str:
    """The names of the doors or windows that are not as wanted."""
    return ", ".join(name for name in parts.__struct_fields__[1:] if getattr(parts, name) != value)
