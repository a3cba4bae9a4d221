"""One car and the country around it: parked, idling or already on the road; chains with several branches, full workshops."""

from prove.servers.maker import Maker
from servers.vehicle.tools import (
    Appointment,
    Car,
    Climate,
    Doors,
    Place,
    Position,
    ServiceCenter,
    Tank,
    Tires,
    Trip,
    Vehicle,
    Windows,
)

CENTER = (47.66, -117.43)  # latitude and longitude of where the car is at home
TOWNS = (
    "Ashford", "Millbrook", "Cedar Falls", "Hartwell", "Linden", "Oakridge", "Port Avery",
    "Redmill", "Stanton", "Wexley", "Juniper Creek", "Fairhaven",
)  # fmt: skip
STREETS = (
    "Elm Street", "King Street", "Station Road", "Harbor Drive", "Mill Lane", "Church Street", "Park Avenue", "Orchard Way",
    "Ridge Road", "Depot Street", "Lakeview Drive", "Canal Street", "Market Street", "Pine Street", "Quarry Road", "Union Avenue",
    "Valley Road", "Willow Court", "Airport Road", "Bridge Street", "Cherry Lane", "Summit Avenue",
)  # fmt: skip
CHAINS = {  # name -> (category, how many branches)
    "Comet Fuel": ("fuel_station", 4),
    "Northgate Fuel": ("fuel_station", 4),
    "Halden Oil": ("fuel_station", 3),
    "Greenleaf Market": ("supermarket", 4),
    "Budget Basket": ("supermarket", 3),
    "Pike Inn": ("hotel", 3),
    "Noodle Corner": ("restaurant", 3),
}
SINGLES = {
    "restaurant": ("Trattoria Sole", "The Blue Lantern", "Casa Paloma", "Old Mill Grill", "Sakura House", "Curry Leaf", "Dockside Diner"),
    "hotel": ("Grand Lindgren Hotel", "Lakeside Lodge", "Hotel Meridian"),
    "parking": ("Old Town Parking", "Central Station Garage", "Arena Parking", "Harbor Deck", "Airport Long Stay"),
    "hospital": ("St. Anne's Hospital", "Mercy General Hospital", "Children's Hospital"),
    "attraction": ("Museum of Flight", "Botanical Garden", "Eagle Ridge Lookout", "City Aquarium", "Riverside Stadium", "Silver Falls"),
}
WORKSHOPS = ("Auto Care", "Garage", "Motors", "Car Service", "Workshop")
JOBS = ("oil_change", "tires", "brakes", "battery", "air_conditioning", "inspection")


def populate(vehicle: Vehicle, make: Maker) -> None:
    plate = f"{''.join(make.some('ABCDEFGHKLMNPRSTVWXYZ', 3))}-{make.digits(4)}"
    towns = make.some(TOWNS, 6)
    _places(vehicle, make, towns)
    _service_centers(vehicle, make, towns)
    _car(vehicle, make, plate)
    _trips(vehicle, make)
    _appointments(vehicle, make, plate)


def _places(vehicle: Vehicle, make: Maker, towns: list[str]) -> None:
    wanted = [(name, category, street) for name, (category, count) in CHAINS.items() for street in make.some(STREETS, count)]
    wanted += [(name, category, make.pick(STREETS)) for category, names in SINGLES.items() for name in names]
    people = [make.person() for _ in range(9)]
    namesake = f"{people[0].split()[0]} {make.faker.last_name()}"  # two people of one first name
    wanted += [(f"{person}'s home", "contact", make.pick(STREETS)) for person in (*people, namesake)]
    for name, category, street in wanted:
        _place(vehicle, make, name, category, street, make.pick(towns))


def _place(vehicle: Vehicle, make: Maker, name: str, category: str, street: str, town: str) -> Place:
    latitude = round(CENTER[0] + make.between(-4000, 4000) / 10_000, 4)
    longitude = round(CENTER[1] + make.between(-6000, 6000) / 10_000, 4)
    return vehicle.places.add(Place(vehicle.places.mint(), name, category, street, town, latitude, longitude))


def _service_centers(vehicle: Vehicle, make: Maker, towns: list[str]) -> None:
    for number in range(12):
        name, town = f"{make.person().split()[-1]} {WORKSHOPS[number % len(WORKSHOPS)]}", make.pick(towns)
        place = _place(vehicle, make, name, "service_center", make.pick(STREETS), town)
        services = make.some(JOBS, make.between(3, 6))
        vehicle.service_centers.add(ServiceCenter(vehicle.service_centers.mint(), name, town, place.place_id, services))


def _car(vehicle: Vehicle, make: Maker, plate: str) -> None:
    """A parked car, one whose driver has just got in, one that idles, is about to leave, or is on the road, perhaps under guidance."""
    doing = make.pick(("parked", "boarded", "boarded", "idling", "idling", "leaving", "driving", "driving"))
    running, driving, in_gear = doing in ("idling", "leaving", "driving"), doing == "driving", doing in ("leaving", "driving")
    pressed = doing in ("boarded", "leaving") or (doing == "idling" and make.chance(0.5))
    speed = make.between(40, 130, 5) if driving else 0
    odometer = make.between(120_000, 1_800_000) / 10
    start = make.pick(list(vehicle.places))
    capacity, burn = make.pick((45, 50, 60, 70)), make.between(52, 95) / 10
    liters = float(make.between(3, capacity - 2) if make.chance(0.7) else make.between(2, 6))
    vehicle.cars.add(
        Car(
            plate=plate,
            engine="on" if running else "off",
            gear="drive" if in_gear else "park",
            brake_pedal="pressed" if pressed else "released",
            parking_brake="released" if in_gear else "engaged",
            speed=speed,
            cruise_speed=speed if driving and make.chance(0.6) else None,
            headlights=make.pick(("off", "auto", "low_beam")) if running else "auto",
            odometer_km=odometer,
            inspection_due_km=int(odometer) + make.between(200, 28_000),
        )
    )
    unlocked = not in_gear and make.chance(0.5)
    vehicle.doors.add(Doors(plate, *("unlocked" if unlocked and make.chance(0.6) else "locked" for _ in range(3))))
    vehicle.windows.add(Windows(plate, *(make.pick((0, 0, 0, 30, 100)) if speed <= 100 else 0 for _ in range(4))))
    mode = make.pick(("off", "auto", "heat", "cool")) if running else "off"
    vehicle.climates.add(Climate(plate, mode, make.between(36, 46) / 2, make.between(1, 5)))
    vehicle.tanks.add(Tank(plate, liters, capacity, burn))
    recommended = make.pick((220, 230, 240, 250))
    pressures = [recommended - make.pick((0, 0, 5, 10, 45)) for _ in range(4)]
    vehicle.tires.add(Tires(plate, *pressures, recommended))  # type: ignore[call-arg]  # mypy does not count starred values
    at = None if driving else start.place_id
    vehicle.positions.add(Position(plate, start.latitude, start.longitude, at, make.start, odometer, liters))
    if running and make.chance(0.35):
        vehicle.start_navigation(make.pick([p for p in vehicle.places if p != start]).place_id)


def _trips(vehicle: Vehicle, make: Maker) -> None:
    burn = next(iter(vehicle.tanks)).liters_per_100_km
    for ago in sorted((make.between(1, 60) for _ in range(40)), reverse=True):
        km = make.between(15, 1400) / 10
        place_id = make.pick(list(vehicle.places)).place_id if make.chance(0.9) else None  # some end at no known place
        vehicle.trips.add(Trip(vehicle.trips.mint(), make.day(-ago), place_id, km, round(km * burn / 100, 2)))


def _appointments(vehicle: Vehicle, make: Maker, plate: str) -> None:
    """Other people's cars fill some days; this one has been serviced before, and may be booked in again."""
    open_days = [make.day(ahead) for ahead in range(1, 22) if make.day(ahead).weekday() < 6]
    for center in vehicle.service_centers:
        for day in make.some(open_days, 3):
            for _ in range(make.pick((1, 1, 2))):
                _book(vehicle, make, center, f"{make.digits(3)}-{make.digits(4)}", day, "booked")
    for ago in (40, 190, 380):
        _book(vehicle, make, make.pick(list(vehicle.service_centers)), plate, make.day(-ago), "done")
    if make.chance(0.5):
        center = make.pick(list(vehicle.service_centers))
        free = [d for d in open_days if len(vehicle.appointments.where(service_center_id=center.service_center_id, day=d)) < 2]
        _book(vehicle, make, center, plate, free[0], "booked")


def _book(vehicle: Vehicle, make: Maker, center: ServiceCenter, plate: str, day: object, status: str) -> None:
    job = make.pick(center.services)
    vehicle.appointments.add(Appointment(vehicle.appointments.mint(), center.service_center_id, plate, job, day, status))
