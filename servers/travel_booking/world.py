"""A fortnight of flights between European cities, hotels and cars in each of them, and one customer's bookings: past and to
come, on hold, cancelled, one that cannot be refunded and one that another person travels on."""

from datetime import UTC, datetime, time, timedelta

from prove.servers.maker import Maker
from servers.travel_booking.tools import (
    BUSINESS_ROWS,
    FARES,
    Airport,
    Car,
    Flight,
    Hotel,
    Itinerary,
    Profile,
    Room,
    TravelBooking,
    cabin_of,
)

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
AIRLINES = (("A9", "Aurelia Air"), ("M2", "Meridian Airways"), ("N4", "Northwind"), ("S6", "Solenne"))
AIRCRAFT = ("Airbus A320neo", "Airbus A220-300", "Boeing 737-800", "Embraer E195")
DAYS = 11  # of flights on sale
BUSINESS_SEATS = [f"{row}{letter}" for row in range(1, BUSINESS_ROWS + 1) for letter in "ACDF"]
ECONOMY_SEATS = [f"{row}{letter}" for row in range(BUSINESS_ROWS + 1, 31) for letter in "ABCDEF"]

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
    _bookings(travel, make)
    _itineraries(travel, make)


def _flights(travel: TravelBooking, make: Maker) -> None:
    """Each flight has its number, airline, hour and price, and flies every day; what is left to sell differs by day."""
    number = make.between(100, 130)
    for origin, destination, minutes, usual, daily in [*ROUTES, *((to, at, m, u, n) for at, to, m, u, n in ROUTES)]:
        for part in range(daily):
            code, airline = make.pick(AIRLINES)
            number += make.between(1, 9)
            hour, minute = (make.between(6, 11), make.between(14, 19))[part], make.between(0, 55, 5)
            price, aircraft = usual * make.between(80, 140) // 100, make.pick(AIRCRAFT)
            for ahead in (-20, *range(DAYS)):
                departs = datetime.combine(make.day(ahead), time(hour, minute), UTC)
                times = (departs.date(), departs, departs + timedelta(minutes=minutes))
                weekend = 120 if departs.weekday() in (4, 6) else 100  # Fridays and Sundays are dearer
                lowest, seats = price * weekend // 10_000 * 100, _seats(make)
                flight_id, name = travel.flights.mint(), f"{code} {number}"
                travel.flights.add(Flight(flight_id, name, origin, destination, *times, lowest, airline, aircraft, seats))


def _seats(make: Maker) -> list[str]:
    """Which seats are left to sell: some in each cabin, and none on a full flight."""
    return make.some(BUSINESS_SEATS, make.between(0, 4)) + make.some(ECONOMY_SEATS, make.between(0, 8))


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


def _bookings(travel: TravelBooking, make: Maker) -> None:
    """Made with the tools themselves at earlier times, so that they obey every rule."""
    colleague = make.person()
    for ahead, hours_ago in ((-20, 1200), (3, 500)):  # a trip that is over, and one that is about to begin
        city = _ticket(travel, make, ahead, hours_ago, "standard", pay=True)
        _stay(travel, make, city, ahead, nights=3)
        car = make.pick(travel.cars.where(city=city))
        travel.book_car(car.car_id, make.day(ahead), 3)
    flex = _ticket(travel, make, 7, 300, "flex", pay=True)
    _stay(travel, make, flex, 7, nights=2, refundable=False)
    _ticket(travel, make, 6, 200, "basic", pay=True, who=colleague)
    _ticket(travel, make, 10, 12, "basic", pay=True)  # bought so lately that even this fare is refunded
    cancelled = _ticket(travel, make, 5, 150, "standard", pay=True)
    travel.cancel_booking(list(travel.bookings)[-1].booking_id)
    _stay(travel, make, cancelled, 5, nights=1)
    _ticket(travel, make, 4, 120, "basic", pay=False)  # a hold that has expired
    _ticket(travel, make, 8, 23, "standard", pay=False)  # and one that is about to
    _ticket(travel, make, 9, 2, "business", pay=False, who=colleague)
    travel.clock.now = make.start
    travel.elapse()


def _ticket(travel: TravelBooking, make: Maker, ahead: int, hours_ago: int, fare: str, pay: bool, who: str | None = None) -> str:
    """Hold a flight `hours_ago`, and buy it or not; returns the city it flies to."""
    travel.clock.now = make.start - timedelta(hours=hours_ago) + timedelta(minutes=make.between(1, 50))
    cabin = FARES[fare].cabin
    flight = make.pick([f for f in travel.flights.where(day=make.day(ahead)) if cabin in map(cabin_of, f.seats)])
    booking = travel.hold_flight(flight.flight_id, fare, who)
    if pay:
        travel.book_flight(booking.booking_id)
    return travel.airports.get(flight.destination).city


def _stay(travel: TravelBooking, make: Maker, city: str, ahead: int, nights: int, refundable: bool = True) -> None:
    wanted = {make.day(ahead + n) for n in range(nights)}
    free = [h for h in travel.hotels.where(city=city) if wanted.isdisjoint(h.full_nights)]
    fitting = [h for h in free if (h.free_cancellation_days is not None) == refundable]
    if free:  # in most worlds; sometimes a city is full
        travel.book_hotel(make.pick(fitting or free).hotel_id, "double", make.day(ahead), nights)


def _itineraries(travel: TravelBooking, make: Maker) -> None:
    past = [b.booking_id for b in travel.bookings if b.status == "completed"]
    coming = [b.booking_id for b in travel.bookings if b.starts.date() == make.day(3)]
    for name, bookings in zip(make.shuffled(TRIPS), (past, coming, []), strict=False):
        travel.itineraries.add(Itinerary(travel.itineraries.mint(), name, bookings))
