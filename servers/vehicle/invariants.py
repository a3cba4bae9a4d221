"""What must hold in a car after every call, and what its logbook tells of the past."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from .driving import is_dark, metres_between, since_then
from .records import Car, Motion
from .tools import BAYS, INSPECTION_KM, WINDOWS_SHUT_ABOVE, Vehicle

TOWN_M = 10_000  # from one end of a town to the other, by road
KM_A_DAY = 140 * 24  # more than a car can drive


def invariants(vehicle: Vehicle) -> Iterator[str]:
    car = vehicle.cars.one()
    yield from _of_driving(vehicle, car)
    if car.engine == "off":
        yield from _of_rest(vehicle, car)
    held = car.gear == "park" or (car.gear != "neutral" and car.engine == "on")
    if not held and "released" == car.parking_brake == car.brake_pedal:
        yield f"the car is rolling away in {car.gear}"
    motion, tank = _now(vehicle), vehicle.tanks.one()
    if not 0 <= motion.fuel_ul <= tank.capacity * 1_000_000:
        yield f"there are {motion.fuel_ul} microliters in a tank of {tank.capacity} liters"
    for way in vehicle.ways:
        if way.place_id not in vehicle.places or way.remaining_m < 0:
            yield f"guidance leads nowhere: {way.place_id}"
    bays = Counter((center, day) for center, day, _ in {(a.service_center_id, a.day, a.plate) for a in vehicle.appointments})
    for (center, day), cars in bays.items():
        if cars > BAYS:
            yield f"{center} has {cars} cars on {day}"
    visits = {(a.service_center_id, a.day) for a in vehicle.appointments.where(plate=car.plate) if a.status == "booked"}
    for day, centers in Counter(day for _, day in visits).items():
        if centers > 1:
            yield f"the car is booked in at {centers} service centers on {day}"
    for appointment in vehicle.appointments:
        if appointment.service not in vehicle.service_centers.get(appointment.service_center_id).services:
            yield f"{appointment.appointment_id} is for a job that its service center does not do"
        if appointment.status == "booked" and appointment.day < vehicle.today:
            yield f"{appointment.appointment_id} is overdue"
    if sum(t.distance_km for t in vehicle.trips) * 1000 > motion.odometer_m + 100 * len(vehicle.trips):
        yield "the trips are longer than what the odometer shows"


def _now(vehicle: Vehicle) -> Motion:
    way = next(iter(vehicle.ways), None)
    goal = vehicle.places.get(way.place_id) if way else None
    return since_then(vehicle.motions.one(), vehicle.cars.one(), vehicle.tanks.one(), vehicle.now, way, goal)


def _of_rest(vehicle: Vehicle, car: Car) -> Iterator[str]:
    if len(vehicle.ways):
        yield "guidance is on with the engine off"
    if vehicle.climates.one().mode != "off":
        yield "climate control is on with the engine off"
    if car.headlights in ("low_beam", "high_beam"):
        yield f"the headlights are on {car.headlights} with the engine off"


def _of_driving(vehicle: Vehicle, car: Car) -> Iterator[str]:
    if car.cruise_speed not in (None, car.speed):
        yield f"cruise control is set to {car.cruise_speed} at {car.speed} km/h"
    if not car.speed:
        return
    if (car.engine, car.gear, car.brake_pedal, car.parking_brake) != ("on", "drive", "released", "released"):
        yield f"the car drives in {car.gear}, engine {car.engine}, pedal {car.brake_pedal}, parking brake {car.parking_brake}"
    doors, windows = vehicle.doors.one(), vehicle.windows.one()
    if "unlocked" in (doors.driver, doors.passengers, doors.trunk):
        yield f"the car drives at {car.speed} km/h with a door unlocked"
    if car.speed > WINDOWS_SHUT_ABOVE and any((windows.driver, windows.passenger, windows.rear_left, windows.rear_right)):
        yield f"the car drives at {car.speed} km/h with a window open"
    if is_dark(vehicle.now) and car.headlights == "off":
        yield f"the car drives at {car.speed} km/h in the dark without lights"


def past(vehicle: Vehicle) -> Iterator[str]:
    """What a car that obeys these rules could not have done."""
    car, motion, burn = vehicle.cars.one(), _now(vehicle), vehicle.tanks.one().ml_per_km
    trips = list(vehicle.trips)
    for one, other in pairwise(trips):
        if other.day < one.day:
            yield f"{other.trip_id} was made before {one.trip_id}"
        if one.place_id and other.place_id:
            road = metres_between(vehicle.places.get(one.place_id), vehicle.places.get(other.place_id))
            if other.distance_km * 1000 < road - 1:
                yield f"{other.trip_id} is {other.distance_km} km long, and the road is {road} m"
    for trip in trips:
        if trip.distance_km <= 0 or trip.fuel_liters < (trip.distance_km - 0.1) * burn / 1000 - 0.01:
            yield f"{trip.trip_id} burned {trip.fuel_liters} liters on {trip.distance_km} km"
    if trips and car.engine == "off" and trips[-1].place_id != motion.place_id:
        yield f"the last trip ended at {trips[-1].place_id}, and the car stands at {motion.place_id}"
    if car.inspection_due_km > motion.odometer_m // 1000 + 30_000:
        yield "the next inspection is further off than one ever is"
    for here, there in pairwise(sorted(vehicle.places, key=lambda p: p.town)):
        if here.town == there.town and metres_between(here, there) > TOWN_M:
            yield f"{here.place_id} and {there.place_id} are both in {here.town}, and far apart"
    for appointment in vehicle.appointments:
        if appointment.status == "done" and appointment.service == "inspection" and appointment.plate == car.plate:
            since = car.inspection_due_km - INSPECTION_KM
            if since < motion.odometer_m // 1000 - KM_A_DAY * max(1, (vehicle.today - appointment.day).days):
                yield f"{appointment.appointment_id} was an inspection, and the next one does not count from it"
        if appointment.day.weekday() == 6:
            yield f"{appointment.appointment_id} is on a Sunday"
        if appointment.status != "booked" and appointment.day > vehicle.today:
            yield f"{appointment.appointment_id} is {appointment.status} before its day"
