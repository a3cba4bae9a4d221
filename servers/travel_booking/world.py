"""A fortnight of flights between European cities, hotels and cars in each of them, and one customer's bookings: past and to
come, on hold, cancelled, one that cannot be refunded and some that another person travels on. They were all made with the tools."""

from datetime import UTC, datetime, time, timedelta

from prove.servers.maker import Maker

from .fares import BUSINESS_ROWS, FARES, PICK_UP, cabin_of
from .records import Airport, Booking, Car, Fare, Flight, Hotel, Profile, Room
from .tools import TravelBooking

AIRPORTS = (
    ("LHR", "London Heathrow", "London", "United Kingdom"),
    ("LGW", "London Gatwick", "London", "United Kingdom"),
    ("CDG", "Paris Charles de Gaulle", "Paris", "France"),
    ("ORY", "Paris Orly", "Paris", "France"),
    ("LIS", "Lisbon Humberto Delgado", "Lisbon", "Portugal"),
    ("BCN", "Barcelona El Prat", "Barcelona", "Spain"),
    ("AMS", "Amsterdam Schiphol", "Amsterdam", "Netherlands"),
    ("BER", "Berlin Brandenburg", "Berlin", "Germany"),
    ("FCO", "Rome Fiumicino", "Rome", "Italy"),
    ("VIE", "Vienna Schwechat", "Vienna", "Austria"),
    ("CPH", "Copenhagen Kastrup", "Copenhagen", "Denmark"),
    ("ATH", "Athens Eleftherios Venizelos", "Athens", "Greece"),
)
ROUTES = (  # from, to, minutes in the air, usual lowest fare in cents, flights a day
    ("LHR", "CDG", 75, 8900, 2),
    ("LHR", "BCN", 130, 11900, 1),
    ("LHR", "CPH", 115, 10900, 1),
    ("LGW", "LIS", 160, 7900, 2),
    ("LGW", "ATH", 225, 14900, 1),
    ("CDG", "FCO", 130, 9900, 2),
    ("CDG", "VIE", 120, 10900, 1),
    ("ORY", "LIS", 150, 7400, 1),
    ("AMS", "LHR", 70, 8400, 2),
    ("AMS", "BCN", 140, 9900, 1),
    ("AMS", "BER", 80, 7900, 1),
    ("BER", "VIE", 75, 6900, 1),
    ("FCO", "ATH", 125, 9400, 1),
    ("CPH", "BER", 65, 6900, 1),
)
HOMES = ("London", "Paris", "Amsterdam", "Berlin")  # from which one flies to several cities
AIRLINES = (("A9", "Aurelia Air"), ("M2", "Meridian Airways"), ("N4", "Northwind"), ("S6", "Solenne"))
AIRCRAFT = {  # the letters of the seats in a row of economy
    "Airbus A320neo": "ABCDEF",
    "Airbus A220-300": "ACDEF",
    "Boeing 737-800": "ABCDEF",
    "Embraer E195": "ACDF",
}
PAST = (-20, -17)  # the days of a trip that is over
PAST_TRIP, NEXT_TRIP, LATER_TRIP = (-20, (-17,)), (3, (4, 5)), (7, (8, 9))  # the days of going, and of coming home
ON_SALE = range(11)  # the days whose flights are on sale
BUSINESS_SEATS = [f"{row}{letter}" for row in range(1, BUSINESS_ROWS + 1) for letter in "ACDF"]
ECONOMY_SEATS = {
    aircraft: [f"{row}{letter}" for row in range(BUSINESS_ROWS + 1, 28) for letter in letters] for aircraft, letters in AIRCRAFT.items()
}

HOTELS = (  # name, stars, lowest price of a single in cents
    ("Grand Aurora", 5, 24500),
    ("Lantern House", 4, 15800),
    ("Hotel Meridian", 4, 14200),
    ("Riverside Inn", 3, 9900),
    ("Old Town Lodge", 3, 8700),
    ("Station Rooms", 2, 6100),
)
STREETS = ("Castle Street", "Harbour Road", "Market Square", "Museum Lane", "Station Avenue", "Canal Street", "Garden Row")
COMPANIES = ("Drivewell", "Kestrel Cars", "Roadlark")
MODELS = {  # category -> (model, seats, usual price a day)
    "economy": ("Fiat Panda", 4, 3400),
    "compact": ("Volkswagen Golf", 5, 4600),
    "suv": ("Nissan Qashqai", 5, 6900),
    "van": ("Ford Transit Custom", 9, 9800),
    "premium": ("BMW 5 Series", 5, 12400),
}
TRIPS = ("Summer holiday", "Sales conference", "Weekend away", "Family visit")


def populate(travel: TravelBooking, make: Maker) -> None:
    credit = make.between(12_000, 60_000, 500)
    travel.profiles.add(Profile("PRF-1", make.person(), credit, credit))
    for code, name, city, country in AIRPORTS:
        travel.airports.add(Airport(code, name, city, country))
    _flights(travel, make)
    for city in dict.fromkeys(a.city for a in travel.airports):
        _hotels(travel, make, city)
        _cars(travel, make, city)
    _live(travel, make)


def _flights(travel: TravelBooking, make: Maker) -> None:
    """Each flight has its number, airline, hour and price, and flies every day; what is left to sell differs by day."""
    number = make.between(100, 130)
    for origin, destination, minutes, usual, daily in [*ROUTES, *((to, at, m, u, n) for at, to, m, u, n in ROUTES)]:
        for part in range(daily):
            code, airline = make.pick(AIRLINES)
            number += make.between(1, 9)
            hour, minute = (make.between(6, 11), make.between(14, 19))[part], make.between(0, 55, 5)
            price, aircraft = usual * make.between(80, 140) // 100, make.pick(list(AIRCRAFT))
            for ahead in (*PAST, *ON_SALE):
                departs = datetime.combine(make.day(ahead), time(hour, minute), UTC)
                times = (departs.date(), departs, departs + timedelta(minutes=minutes))
                weekend = 120 if departs.weekday() in (4, 6) else 100  # Fridays and Sundays are dearer
                lowest, seats = price * weekend // 10_000 * 100, _seats(make, aircraft)
                flight_id, name = travel.flights.mint(), f"{code} {number}"
                travel.flights.add(Flight(flight_id, name, origin, destination, *times, lowest, airline, aircraft, seats))


def _seats(make: Maker, aircraft: str) -> list[str]:
    """Which seats are left to sell: some in each cabin, and none on a full flight."""
    return make.some(BUSINESS_SEATS, make.between(0, 4)) + make.some(ECONOMY_SEATS[aircraft], make.between(0, 8))


def _hotels(travel: TravelBooking, make: Maker, city: str) -> None:
    for name, stars, usual in make.some(HOTELS, 4):
        price = usual * make.between(80, 130) // 10_000 * 100
        kinds = (("single", 1, 100), ("double", 2, 135), ("suite", 4, 240))
        rooms = [Room(kind, sleeps, price * percent // 100, make.between(2, 6)) for kind, sleeps, percent in kinds]
        address = f"{make.between(1, 140)} {make.pick(STREETS)}"
        full = [make.day(ahead) for ahead in make.some(range(60), make.between(0, 12))]
        rules = (address, make.chance(0.6), make.pick((None, 1, 1, 5)), rooms[: max(2, stars - 1)], full)
        travel.hotels.add(Hotel(travel.hotels.mint(), name, city, stars, *rules))


def _cars(travel: TravelBooking, make: Maker, city: str) -> None:
    for category in make.some(list(MODELS), 4):
        model, seats, usual = MODELS[category]
        price = usual * make.between(85, 125) // 10_000 * 100
        car = (make.pick(COMPANIES), category, city, model, seats, price)
        travel.cars.add(Car(travel.cars.mint(), *car, make.between(1, 4)))


def _live(travel: TravelBooking, make: Maker) -> None:
    """The last two months, from the first booking to now. Whoever has flown somewhere flies on from there."""
    home, colleague, names = make.pick([h for h in HOMES if _is_well_served(travel, make, h)]), make.person(), make.shuffled(TRIPS)
    _trip(travel, make, 1200, _there_and_back(travel, make, home, *PAST_TRIP), names[0])
    _wait(travel, make, 650)
    unwanted = _ticket(travel, make.pick(_on_sale(travel, make, 5, "standard", home)), "standard")
    _wait(travel, make, 640)
    travel.cancel_booking(unwanted.booking_id)
    _trip(travel, make, 500, _there_and_back(travel, make, home, *NEXT_TRIP), names[1])
    _wait(travel, make, 300)
    out, back = make.pick(_there_and_back(travel, make, home, *LATER_TRIP))
    _ticket(travel, out, "flex")
    _stay(travel, make, out, back, refundable=False)
    _wait(travel, make, 200)
    away = make.pick([f for city in HOMES if city != home for f in _on_sale(travel, make, 6, "basic", city)])
    _ticket(travel, away, "basic", who=colleague)
    _wait(travel, make, 120)
    _ticket(travel, make.pick(_on_sale(travel, make, 6, "basic", home)), "basic", buy=False)  # a hold that has expired
    _wait(travel, make, 23)
    _ticket(travel, back, "flex", buy=False)  # and one that is about to
    _wait(travel, make, 12)
    _ticket(travel, make.pick(_on_sale(travel, make, 10, "basic", home)), "basic")  # so lately that even this fare is refunded
    _wait(travel, make, 2)
    onward = [f for day in (8, 9, 10) for f in _on_sale(travel, make, day, "business", _city(travel, away.destination))]
    if onward:  # business class is full now and then
        _ticket(travel, make.pick(onward), "business", who=colleague, buy=False)
    travel.create_itinerary(names[2])
    _wait(travel, make, 0)


def _wait(travel: TravelBooking, make: Maker, hours_ago: int) -> None:
    """Let time pass up to then."""
    then = make.start - timedelta(hours=hours_ago) + timedelta(minutes=make.between(1, 50) if hours_ago else 0)
    travel.live_until(then)


def _trip(travel: TravelBooking, make: Maker, hours_ago: int, choices: list[tuple[Flight, Flight]], name: str) -> None:
    """There by plane, a hotel, a car after landing that is brought back before flying home, all in one itinerary."""
    _wait(travel, make, hours_ago)
    out, back = make.pick(choices)
    booked = [_ticket(travel, out, "standard"), _ticket(travel, back, "standard"), *_stay(travel, make, out, back)]
    landed = out.arrives.hour + 1
    day, hour = (out.day, landed) if landed <= 22 else (out.day + timedelta(days=1), PICK_UP)
    if days := (back.departs - datetime.combine(day, time(hour), UTC)).days:
        car = make.pick(travel.cars.where(city=_city(travel, out.destination)))
        booked.append(travel.book_car(car.car_id, day, days, hour))
    itinerary = travel.create_itinerary(name)
    for booking in booked:
        travel.add_to_itinerary(itinerary.itinerary_id, booking.booking_id)


def _is_well_served(travel: TravelBooking, make: Maker, home: str) -> bool:
    """Whether all that is booked from home has seats: flights fill up."""
    trips = all(_there_and_back(travel, make, home, *days) for days in (PAST_TRIP, NEXT_TRIP, LATER_TRIP))
    return trips and all(_on_sale(travel, make, ahead, "basic", home) for ahead in (5, 6, 10))


def _there_and_back(travel: TravelBooking, make: Maker, home: str, there_on: int, back_on: tuple[int, ...]) -> list[tuple[Flight, Flight]]:
    """The flights from home, each with one from there back home, that have an economy seat left."""
    homeward = [f for ahead in back_on for f in _on_sale(travel, make, ahead, "standard", None) if _city(travel, f.destination) == home]
    there = _on_sale(travel, make, there_on, "standard", home)
    return [(a, b) for a in there for b in homeward if _city(travel, a.destination) == _city(travel, b.origin)]


def _on_sale(travel: TravelBooking, make: Maker, ahead: int, fare: Fare, city: str | None) -> list[Flight]:
    """The flights of that day, from a city, that have a seat to sell."""
    flights = (f for f in travel.flights.where(day=make.day(ahead)) if city in (None, _city(travel, f.origin)))
    return [f for f in flights if FARES[fare].cabin in map(cabin_of, f.seats)]


def _city(travel: TravelBooking, code: str) -> str:
    return travel.airports.get(code).city


def _ticket(travel: TravelBooking, flight: Flight, fare: Fare, who: str | None = None, buy: bool = True) -> Booking:
    held = travel.hold_flight(flight.flight_id, fare, who)
    return travel.book_flight(held.booking_id) if buy else held


def _stay(travel: TravelBooking, make: Maker, out: Flight, back: Flight, refundable: bool = True) -> list[Booking]:
    nights = (back.day - out.day).days
    wanted = {out.day + timedelta(days=n) for n in range(nights)}
    free = [h for h in travel.hotels.where(city=_city(travel, out.destination)) if wanted.isdisjoint(h.full_nights)]
    fitting = [h for h in free if (h.free_cancellation_days is not None) == refundable]
    if not free:  # now and then a city is full
        return []
    return [travel.book_hotel(make.pick(fitting or free).hotel_id, "double", out.day, nights)]
