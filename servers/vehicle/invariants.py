"""What must hold in a car after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.vehicle.tools import BAYS, WINDOWS_SHUT_ABOVE, Car, Vehicle


def invariants(vehicle: Vehicle) -> Iterator[str]:
    car = next(iter(vehicle.cars))
    yield from _of_driving(vehicle, car)
    if car.engine == "off" and len(vehicle.routes):
        yield "guidance is on with the engine off"
    if car.engine == "off" and vehicle.climates.get(car.plate).mode != "off":
        yield "climate control is on with the engine off"
    if car.gear == "neutral" and "released" == car.parking_brake == car.brake_pedal:
        yield "the car is rolling away"
    tank = vehicle.tanks.get(car.plate)
    if not 0 <= tank.liters <= tank.capacity:
        yield f"there are {tank.liters} liters in a tank of {tank.capacity}"
    for route in vehicle.routes:
        if route.place_id not in vehicle.places or route.remaining_km < 0:
            yield f"guidance leads nowhere: {route.name}"
    bays = Counter((a.service_center_id, a.day) for a in vehicle.appointments)
    for (center, day), cars in bays.items():
        if cars > BAYS:
            yield f"{center} has {cars} cars on {day}"
    for appointment in vehicle.appointments:
        if appointment.service not in vehicle.service_centers.get(appointment.service_center_id).services:
            yield f"{appointment.appointment_id} is for a job that its service center does not do"
        if appointment.status == "booked" and appointment.day <= vehicle.today:
            yield f"{appointment.appointment_id} is overdue"
    if sum(t.distance_km for t in vehicle.trips) > car.odometer_km:
        yield "the trips are longer than what the odometer shows"


def _of_driving(vehicle: Vehicle, car: Car) -> Iterator[str]:
    if car.cruise_speed not in (None, car.speed):
        yield f"cruise control is set to {car.cruise_speed} at {car.speed} km/h"
    if not car.speed:
        return
    if (car.engine, car.gear, car.brake_pedal, car.parking_brake) != ("on", "drive", "released", "released"):
        yield f"the car drives in {car.gear}, engine {car.engine}, pedal {car.brake_pedal}, parking brake {car.parking_brake}"
    doors, windows = vehicle.doors.get(car.plate), vehicle.windows.get(car.plate)
    if "unlocked" in (doors.driver, doors.passengers, doors.trunk):
        yield f"the car drives at {car.speed} km/h with a door unlocked"
    if car.speed > WINDOWS_SHUT_ABOVE and any((windows.driver, windows.passenger, windows.rear_left, windows.rear_right)):
        yield f"the car drives at {car.speed} km/h with a window open"
    if vehicle.positions.get(car.plate).place_id:
        yield "the car drives and stands at a place"
