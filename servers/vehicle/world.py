"""One car and the country around it: parked, idling or already on the road; chains with several branches, full workshops. The
car was driven for two months, with its own controls: that is where its trips come from, and what is in its tank."""

from datetime import date, timedelta

from prove.servers.maker import Maker

from .driving import metres_between, range_m
from .records import Appointment, Car, Climate, Doors, Motion, Place, ServiceCenter, Tank, Tires, Windows
from .tools import Vehicle

CENTER = (52.11, -0.93)  # latitude and longitude of where the car is at home
TOWN_GRID = [(north, east) for north in (-2000, 2000) for east in (-4000, 0, 4000)]  # ten-thousandths of a degree: one town in each part
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
    towns = {name: _centre(make, *part) for name, part in zip(make.some(TOWNS, 6), make.shuffled(TOWN_GRID), strict=True)}
    _places(vehicle, make, towns)
    _service_centers(vehicle, make, towns)
    _car(vehicle, make, plate)
    _live(vehicle, make)
    _appointments(vehicle, make, plate)
    _today(vehicle, make)


Towns = dict[str, tuple[float, float]]  # where the middle of each is


def _centre(make: Maker, north: int, east: int) -> tuple[float, float]:
    off_north, off_east = north + make.between(-1000, 1000), east + make.between(-1000, 1000)
    return CENTER[0] + off_north / 10_000, CENTER[1] + off_east / 10_000


def _places(vehicle: Vehicle, make: Maker, towns: Towns) -> None:
    wanted = [(name, category, street) for name, (category, count) in CHAINS.items() for street in make.some(STREETS, count)]
    wanted += [(name, category, make.pick(STREETS)) for category, names in SINGLES.items() for name in names]
    people = [make.person() for _ in range(9)]
    while (namesake := f"{people[0].split()[0]} {make.faker.last_name()}") in people:  # two people of one first name
        pass
    wanted += [(f"{person}'s home", "contact", make.pick(STREETS)) for person in (*people, namesake)]
    for name, category, street in wanted:
        _place(vehicle, make, name, category, street, *make.pick(list(towns.items())))


def _place(vehicle: Vehicle, make: Maker, name: str, category: str, street: str, town: str, middle: tuple[float, float]) -> Place:
    """A place in a town, at most three kilometres north, east, south or west of its middle."""
    latitude = round(middle[0] + make.between(-250, 250) / 10_000, 4)
    longitude = round(middle[1] + make.between(-400, 400) / 10_000, 4)
    return vehicle.places.add(Place(vehicle.places.mint(), name, category, street, town, latitude, longitude))


def _service_centers(vehicle: Vehicle, make: Maker, towns: Towns) -> None:
    for number in range(12):
        name, town = f"{make.person().split()[-1]} {WORKSHOPS[number % len(WORKSHOPS)]}", make.pick(list(towns))
        place = _place(vehicle, make, name, "service_center", make.pick(STREETS), town, towns[town])
        services = make.some(JOBS, make.between(3, 6))
        vehicle.service_centers.add(ServiceCenter(vehicle.service_centers.mint(), name, town, place.place_id, services))


def _car(vehicle: Vehicle, make: Maker, plate: str) -> None:
    """The car as it stood two months ago."""
    capacity, odometer_m = make.pick((45, 50, 60, 70)), make.between(12_000_000, 180_000_000)
    due = odometer_m // 1000 + make.between(9_000, 28_000)
    vehicle.cars.add(Car(plate, "off", "park", "released", "engaged", 0, None, "auto", due))
    vehicle.doors.add(Doors(plate, "locked", "locked", "locked"))
    vehicle.windows.add(Windows(plate, 0, 0, 0, 0))
    vehicle.climates.add(Climate(plate, "off", make.between(36, 46) / 2, make.between(1, 5)))
    vehicle.tanks.add(Tank(plate, capacity, make.between(52, 95)))
    recommended = make.pick((220, 230, 240, 250))
    pressures = [recommended - make.pick((0, 0, 5, 10, 45)) for _ in range(4)]
    vehicle.tires.add(Tires(plate, *pressures, recommended))  # type: ignore[call-arg]  # mypy does not count starred values
    home, then = make.pick(vehicle.places.where(category="contact")), make.moment(-62)
    fuel = (capacity - make.between(1, 9)) * 1_000_000
    place = (home.latitude, home.longitude, home.place_id, make.pick(("north", "east", "south", "west")))
    vehicle.motions.add(Motion(plate, then, odometer_m, fuel, *place, odometer_m, fuel))


def _appointments(vehicle: Vehicle, make: Maker, plate: str) -> None:
    """Other people's cars fill some days; this one has been serviced before, and may be booked in again."""
    open_days = [make.day(ahead) for ahead in range(1, 22) if make.day(ahead).weekday() < 6]
    for ago in (380, 190, 70):
        day = make.day(-ago if make.day(-ago).weekday() < 6 else 1 - ago)
        _book(vehicle, make, make.pick(list(vehicle.service_centers)), plate, day, "done")
    for center in vehicle.service_centers:
        for day in make.some(open_days, 3):
            for _ in range(make.pick((1, 1, 2))):
                _book(vehicle, make, center, f"{make.digits(3)}-{make.digits(4)}", day, "booked")
    if make.chance(0.5):
        center = make.pick(list(vehicle.service_centers))
        free = [d for d in open_days if len(vehicle.appointments.where(service_center_id=center.service_center_id, day=d)) < 2]
        _book(vehicle, make, center, plate, free[0], "booked")


def _book(vehicle: Vehicle, make: Maker, center: ServiceCenter, plate: str, day: date, status: str) -> None:
    job = make.pick([j for j in center.services if status == "booked" or j != "inspection"])  # the last inspection was long ago
    vehicle.appointments.add(Appointment(vehicle.appointments.mint(), center.service_center_id, plate, job, day, status))


def _live(vehicle: Vehicle, make: Maker) -> None:
    """Two months of trips, some of which end at no known place; the driver is a careful one, or fills the tank when it is needed."""
    vehicle.clock.now = vehicle.motions.one().since
    places, reserve_m = list(vehicle.places), make.pick((15_000, 15_000, 60_000, 150_000))
    slots = sorted(make.some([(-ago, hour) for ago in range(60, 0, -1) for hour in (8, 14)], 40))
    for trip, (days, hour) in enumerate(slots):
        vehicle.live_until(make.moment(days, hour, make.between(0, 50)))
        speed = make.between(60, 100, 5)
        if trip % 10 == 4 and _range_m(vehicle) > 200_000:
            _drive(vehicle, speed, minutes=make.between(10, 30))
            continue
        last = trip == len(slots) - 1
        goal = _nearest_station(vehicle, vehicle.motions.one()) if last and make.chance(0.4) else make.pick(places)
        _drive_to(vehicle, make, goal, speed, reserve_m)


def _drive_to(vehicle: Vehicle, make: Maker, goal: Place, speed: int, reserve_m: int) -> None:
    """To a place, by a fuel station if one could not come to one afterwards."""
    way_m = metres_between(vehicle.motions.one(), goal) + metres_between(_nearest_station(vehicle, goal), goal)
    if _range_m(vehicle) < way_m + reserve_m:
        station = _nearest_station(vehicle, vehicle.motions.one())
        if vehicle.motions.one().place_id != station.place_id:
            _drive(vehicle, speed, station)
        room = vehicle.tanks.one().capacity - -(-vehicle.motions.one().fuel_ul // 1_000_000)
        vehicle.fill_fuel(max(1, room - make.between(0, 4)))
    if vehicle.motions.one().place_id != goal.place_id:
        _drive(vehicle, speed, goal)


def _drive(vehicle: Vehicle, speed: int, goal: Place | None = None, minutes: int = 0) -> None:
    """Get in, drive to a place or about for some minutes, and park."""
    _set_off(vehicle, goal, speed)
    if goal:
        while vehicle.cars.one().speed and (due := vehicle.due()):
            vehicle.clock.now = due
            vehicle.elapse()
    vehicle.live_until(vehicle.now + timedelta(minutes=minutes))
    vehicle.set_brake_pedal("pressed")
    vehicle.shift_gear("park")
    vehicle.set_parking_brake("engaged")
    vehicle.stop_engine()
    vehicle.set_brake_pedal("released")


def _set_off(vehicle: Vehicle, goal: Place | None, speed: int) -> None:
    vehicle.set_brake_pedal("pressed")
    vehicle.start_engine()
    vehicle.set_parking_brake("released")
    vehicle.shift_gear("drive")
    vehicle.set_brake_pedal("released")
    if goal:
        vehicle.start_navigation(goal.place_id)
    vehicle.set_cruise_control(speed)


def _today(vehicle: Vehicle, make: Maker) -> None:
    """A parked car, one whose driver has just got in, one that idles, is about to leave, or is on the road, perhaps under guidance."""
    doing = make.pick(("parked", "boarded", "boarded", "idling", "leaving", "driving", "driving", "driving"))
    vehicle.live_until(make.start - timedelta(minutes=make.between(3, 20)))
    goal = make.pick([p for p in vehicle.places if metres_between(vehicle.motions.one(), p) > 30_000]) if make.chance(0.4) else None
    if doing == "driving":
        _set_off(vehicle, goal, make.between(40, 130, 5))
        vehicle.set_headlights(make.pick(("off", "auto", "low_beam")))
    elif doing != "parked":
        vehicle.set_brake_pedal("pressed")
    if doing in ("idling", "leaving"):
        vehicle.start_engine()
        if goal:
            vehicle.start_navigation(goal.place_id)
    if doing == "idling" and make.chance(0.5):
        vehicle.set_brake_pedal("released")
    if doing == "leaving":
        vehicle.set_parking_brake("released")
        vehicle.shift_gear("drive")
    if vehicle.cars.one().engine == "on":
        _make_comfortable(vehicle, make)
    if doing not in ("driving", "leaving") and make.chance(0.5):
        for door in make.some(("driver", "passengers", "trunk"), make.between(1, 3)):
            vehicle.set_door_lock(door, "unlocked")
    vehicle.live_until(make.start)


def _make_comfortable(vehicle: Vehicle, make: Maker) -> None:
    vehicle.set_climate(make.pick(("off", "auto", "heat", "cool")), make.between(36, 46) / 2, make.between(1, 5))
    for window in ("driver", "passenger", "rear_left", "rear_right"):
        if vehicle.cars.one().speed <= 100 and make.chance(0.4):
            vehicle.set_window(window, make.pick((30, 100)))


def _range_m(vehicle: Vehicle) -> int:
    return range_m(vehicle.motions.one(), vehicle.tanks.one())


def _nearest_station(vehicle: Vehicle, here: Motion | Place) -> Place:
    return min(vehicle.places.where(category="fuel_station"), key=lambda p: metres_between(here, p))
