"""A travel agency for one signed-in customer. Money is in cents, times are in UTC, prices do not move during a session."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal, NewType

from msgspec.structs import asdict

from prove.servers import (
    Caseless,
    Day,
    Limit,
    Meta,
    Moment,
    Money,
    Page,
    PersonName,
    Query,
    Record,
    Server,
    ToolError,
    brief,
    matches,
    page,
    read,
    require,
    table,
    write,
)

AirportId = NewType("AirportId", str)
FlightId = NewType("FlightId", str)
HotelId = NewType("HotelId", str)
CarId = NewType("CarId", str)
BookingId = NewType("BookingId", str)
ItineraryId = NewType("ItineraryId", str)

City = Annotated[Caseless[str], Meta(min_length=1, max_length=60, description="the name of a city")]
FlightNumber = Annotated[str, Meta(pattern=r"^[A-Z]\d \d{3}$", description="an airline's number for a flight, for example A9 214")]
FlightOrder = Annotated[Literal["departure", "price", "duration"], Meta(description="what comes first: the earliest, cheapest or shortest")]
Fare = Annotated[Literal["basic", "standard", "flex", "business"], Meta(description="the fare: it decides cabin, bags and fees")]
SeatPosition = Annotated[Literal["window", "middle", "aisle"], Meta(description="where in its row a seat is")]
Seat = Annotated[str, Meta(pattern=r"^\d{1,2}[A-F]$", description="a seat by row and letter, for example 12C")]
Bags = Annotated[int, Meta(ge=1, le=4, description="how many checked bags to add")]
Stars = Annotated[int, Meta(ge=1, le=5, description="how many stars a hotel has")]
RoomKind = Annotated[Literal["single", "double", "suite"], Meta(description="what sort of hotel room")]
Nights = Annotated[int, Meta(ge=1, le=21, description="how many nights to stay")]
CarCategory = Annotated[Literal["economy", "compact", "suv", "van", "premium"], Meta(description="what size of car")]
RentalDays = Annotated[int, Meta(ge=1, le=30, description="for how many days to rent the car")]
Payment = Annotated[Literal["card", "travel_credit"], Meta(description="what to pay with; a refund goes back to it")]
BookingKind = Annotated[Literal["flight", "hotel", "car"], Meta(description="what was booked")]
Status = Annotated[Literal["held", "confirmed", "completed", "cancelled", "expired"], Meta(description="how a booking stands")]
TripName = Annotated[str, Meta(min_length=1, max_length=60, description="what the customer calls a trip")]


class Profile(Record):
    profile_id: str
    holder: PersonName
    opening_credit: Money
    travel_credit: Money


class Airport(Record):
    code: AirportId
    name: str
    city: City
    country: str


class FlightLine(Record):
    flight_id: FlightId
    number: FlightNumber
    origin: AirportId
    destination: AirportId
    day: Day
    departs: Moment
    arrives: Moment
    lowest_price: Money  # of the basic fare


class Flight(FlightLine):
    airline: str
    aircraft: str
    seats: list[Seat]  # which seats the airline still had to sell when the session began


class FareRule(Record):
    fare: Fare
    cabin: Literal["economy", "business"]
    bags_included: int
    seat_fee: Money
    change_fee: Money | None  # None: no changes
    cancel_fee: Money | None  # None: no refund


class FareOffer(FareRule):
    price: Money
    seats_left: int


class FlightDetails(FlightLine):
    airline: str
    aircraft: str
    fares: list[FareOffer]
    free_seats: list[Seat]


class Room(Record):
    room: RoomKind
    sleeps: int
    nightly_price: Money
    available: int  # on a night that is not full


class HotelLine(Record):
    hotel_id: HotelId
    name: str
    city: City
    stars: Stars


class Hotel(HotelLine):
    address: str
    breakfast: bool
    free_cancellation_days: int | None  # before check-in; None: no refund
    rooms: list[Room]
    full_nights: list[Day]


class Car(Record):
    car_id: CarId
    company: str
    category: CarCategory
    city: City
    model: str
    seats: int
    daily_price: Money
    fleet: int


class BookingLine(Record):
    booking_id: BookingId
    kind: BookingKind
    title: str
    starts: Moment


class Booking(BookingLine):
    status: Status
    ends: Moment
    traveller: PersonName
    made: Moment
    price: Money
    paid: Money = 0  # less what was refunded
    payment: Payment | None = None
    hold_expires: Moment | None = None
    flight_id: FlightId | None = None
    fare: Fare | None = None
    seat: Seat | None = None
    bags: int = 0
    hotel_id: HotelId | None = None
    room: RoomKind | None = None
    car_id: CarId | None = None


class BookingDetails(Booking):
    refund_if_cancelled: Money | None = None  # now; None: it is too late to cancel


class ItineraryLine(Record):
    itinerary_id: ItineraryId
    name: TripName


class Itinerary(ItineraryLine):
    bookings: list[BookingId]


class ItineraryPlan(ItineraryLine):
    total_price: Money
    bookings: list[BookingLine]


FARES = {
    "basic": FareRule("basic", "economy", 0, 1500, None, None),
    "standard": FareRule("standard", "economy", 1, 0, 4500, 6000),
    "flex": FareRule("flex", "economy", 1, 0, 0, 0),
    "business": FareRule("business", "business", 2, 0, 0, 0),
}
PERCENT_OF_LOWEST = {"basic": 100, "standard": 130, "flex": 185, "business": 360}
BUSINESS_ROWS = 3
CHECK_IN, CHECK_OUT, PICK_UP = 15, 11, 10  # o'clock
BAG_PRICE, MOST_BAGS = 3500, 5
HOLD, MOST_HOLDS = timedelta(hours=24), 3
CHECK_IN_CLOSES = timedelta(hours=1)  # before departure: until then a seat can be bought, changed and cancelled
COOLING_OFF = timedelta(hours=24)  # in which any fare is refunded in full if the flight leaves in a week or later


class TravelBooking(Server):
    """Flights, hotels, rental cars and trips of one traveller."""

    category = "Travel"

    profiles = table(Profile)
    airports = table(Airport)
    flights = table(Flight, "FLT-{}", start=20001)
    hotels = table(Hotel, "HTL-{}", start=301)
    cars = table(Car, "CAR-{}", start=601)
    bookings = table(Booking, "BKG-{}", start=84101)
    itineraries = table(Itinerary, "ITN-{}", start=51)

    # --- flights

    @read
    def search_airports(self, query: Query, limit: Limit = 10) -> Page[Airport]:
        """Find airports by name, city, country or code."""
        return page((a for a in self.airports if matches(query, a.code, a.name, a.city, a.country)), limit, Airport)

    @read
    def search_flights(
        self,
        day: Day,
        origin: AirportId | None = None,
        destination: AirportId | None = None,
        number: FlightNumber | None = None,
        sort_by: FlightOrder = "departure",
        limit: Limit = 10,
    ) -> Page[FlightLine]:
        """List the direct flights of a day, between two airports or of one number; full ones are included."""
        for code in (origin, destination):
            require(code is None or code in self.airports, "not_found", f"there is no airport {code!r}: search by city")
        require(day >= self.today, "failed_precondition", f"{day} is in the past: today is {self.today}")
        found = [f for f in self.flights.where(day=day) if origin in (None, f.origin) and destination in (None, f.destination)]
        order = {"departure": lambda f: f.departs, "price": lambda f: f.lowest_price, "duration": lambda f: f.arrives - f.departs}
        return page(sorted((f for f in found if number in (None, f.number)), key=order[sort_by]), limit, FlightLine)

    @read
    def get_flight(self, flight_id: FlightId) -> FlightDetails:
        """Show what each fare of a flight costs and includes, how many seats are left, and which are free."""
        flight = self.flights.get(flight_id)
        line, fares = asdict(brief(flight, FlightLine)), [self._offer(flight, fare) for fare in FARES]
        free = [seat for cabin in ("business", "economy") for seat in self._free_seats(flight, cabin)]
        return FlightDetails(**line, airline=flight.airline, aircraft=flight.aircraft, fares=fares, free_seats=free)

    @write
    def hold_flight(self, flight_id: FlightId, fare: Fare, traveller: PersonName | None = None) -> Booking:
        """Keep a seat at its price for up to 24 hours without paying; for the account holder unless a traveller is named."""
        flight, held = self._boarding(flight_id, traveller), [b.booking_id for b in self.bookings.where(status="held")]
        require(len(held) < MOST_HOLDS, "resource_exhausted", f"only {MOST_HOLDS} holds at once: book or cancel one of {', '.join(held)}")
        offer = self._open_offer(flight, fare)
        expires = min(self.now + HOLD, flight.departs - CHECK_IN_CLOSES)
        ticket = {"flight_id": flight_id, "fare": fare, "bags": offer.bags_included, "hold_expires": expires}
        return self._reserve("flight", self._title(flight), flight.departs, flight.arrives, traveller, price=offer.price, **ticket)

    @write
    def book_flight(self, booking_id: BookingId, payment: Payment = "card") -> Booking:
        """Buy the seat that a booking holds."""
        booking = self.bookings.get(booking_id)
        require(booking.status == "held", "failed_precondition", f"{booking_id} is {booking.status}, not held: hold the flight first")
        return self._pay(booking, booking.price, status="confirmed", payment=payment)

    @write
    def change_flight(self, booking_id: BookingId, day: Day, number: FlightNumber | None = None) -> Booking:
        """Move a ticket to another day, or another flight on its route, for the fare's change fee and any difference in price."""
        booking, old, rule = self._ticket(booking_id)
        if rule.change_fee is None:
            raise ToolError("failed_precondition", f"{booking_id} is a {rule.fare} fare: it cannot be changed, only cancelled")
        name, route = number or old.number, f"{old.origin} to {old.destination}"
        found = self.flights.where(day=day, number=name, origin=old.origin, destination=old.destination)
        require(found, "not_found", f"there is no {name} from {route} on {day}: search for another flight")
        new = self._boarding(found[0].flight_id, booking.traveller)
        cost = rule.change_fee + max(0, self._open_offer(new, rule.fare).price - _price(old, rule.fare))
        moved = {"flight_id": new.flight_id, "title": self._title(new), "starts": new.departs, "ends": new.arrives, "seat": None}
        return self._pay(booking, cost, price=booking.price + cost, **moved)

    @write
    def select_seat(self, booking_id: BookingId, position: SeatPosition) -> Booking:
        """Take the foremost free seat of that sort in the ticket's cabin; a basic fare pays for its first choice."""
        booking, flight, rule = self._ticket(booking_id)
        require(not booking.seat or _position(booking.seat) != position, "conflict", f"{booking.seat} is a {position} seat already")
        free = self._free_seats(flight, rule.cabin)
        seat = next((s for s in free if _position(s) == position), None)
        require(seat, "resource_exhausted", f"no {position} seat is free in {rule.cabin}: free are {', '.join(free) or 'none'}")
        fee = 0 if booking.seat else rule.seat_fee
        return self._pay(booking, fee, price=booking.price + fee, seat=seat)

    @write
    def add_baggage(self, booking_id: BookingId, bags: Bags) -> Booking:
        """Add checked bags to a ticket, and pay for them."""
        booking, _, _ = self._ticket(booking_id)
        more, cost = MOST_BAGS - booking.bags, bags * BAG_PRICE
        require(bags <= more, "resource_exhausted", f"{booking_id} has {booking.bags} bags already: at most {more} can be added")
        return self._pay(booking, cost, price=booking.price + cost, bags=booking.bags + bags)

    # --- hotels and cars

    @read
    def search_hotels(
        self, city: City, check_in: Day | None = None, nights: Nights = 1, min_stars: Stars = 1, limit: Limit = 10
    ) -> Page[HotelLine]:
        """List a city's hotels, most stars first; with check_in only those that have a room on all the nights."""
        found = [h for h in self.hotels.where(city=self._city(city)) if h.stars >= min_stars]
        if check_in:
            self._ahead(check_in, CHECK_IN)
            found = [h for h in found if any(self._rooms_left(h, r, check_in, nights) for r in h.rooms)]
        return page(sorted(found, key=lambda h: (-h.stars, h.name)), limit, HotelLine)

    @read
    def get_hotel(self, hotel_id: HotelId) -> Hotel:
        """Show a hotel's address, rooms, prices, cancellation rule and the nights on which it is full."""
        return self.hotels.get(hotel_id)

    @write
    def book_hotel(
        self, hotel_id: HotelId, room: RoomKind, check_in: Day, nights: Nights, payment: Payment = "card", guest: PersonName | None = None
    ) -> Booking:
        """Book and pay a hotel room; for the account holder unless a guest is named."""
        hotel, starts = self.hotels.get(hotel_id), self._ahead(check_in, CHECK_IN)
        chosen = next((r for r in hotel.rooms if r.room == room), None)
        if chosen is None:
            raise ToolError("not_found", f"{hotel_id} has no {room}: it has {', '.join(r.room for r in hotel.rooms)}")
        left = self._rooms_left(hotel, chosen, check_in, nights)
        require(left, "resource_exhausted", f"{hotel_id} has no {room} left on all those nights: try another day or room")
        ends, price = starts + timedelta(days=nights, hours=CHECK_OUT - CHECK_IN), chosen.nightly_price * nights
        booking = self._reserve("hotel", hotel.name, starts, ends, guest, price=price, hotel_id=hotel_id, room=room)
        return self._pay(booking, price, status="confirmed", payment=payment)

    @read
    def search_cars(
        self, city: City, category: CarCategory | None = None, pick_up_day: Day | None = None, days: RentalDays = 1, limit: Limit = 10
    ) -> Page[Car]:
        """List rental cars in a city, the cheapest first; with pick_up_day only those that are free on all the days."""
        found = [c for c in self.cars.where(city=self._city(city)) if category in (None, c.category)]
        if pick_up_day:
            self._ahead(pick_up_day, PICK_UP)
            found = [c for c in found if self._left(c.fleet, pick_up_day, days, car_id=c.car_id)]
        return page(sorted(found, key=lambda c: (c.daily_price, c.car_id)), limit, Car)

    @write
    def book_car(
        self, car_id: CarId, pick_up_day: Day, days: RentalDays, payment: Payment = "card", driver: PersonName | None = None
    ) -> Booking:
        """Rent and pay a car; the account holder drives it unless a driver is named."""
        car, starts = self.cars.get(car_id), self._ahead(pick_up_day, PICK_UP)
        left = self._left(car.fleet, pick_up_day, days, car_id=car_id)
        require(left, "resource_exhausted", f"{car_id} is rented out on some of those days: try another car or other days")
        ends, price = starts + timedelta(days=days), car.daily_price * days
        booking = self._reserve("car", f"{car.company} {car.model}", starts, ends, driver, price=price, car_id=car_id)
        return self._pay(booking, price, status="confirmed", payment=payment)

    # --- bookings and trips

    @read
    def list_bookings(self, kind: BookingKind | None = None, status: Status | None = None, limit: Limit = 20) -> Page[BookingLine]:
        """List the customer's bookings in the order in which they start, past ones included."""
        found = [b for b in self.bookings if kind in (None, b.kind) and status in (None, b.status)]
        return page(sorted(found, key=_start), limit, BookingLine)

    @read
    def get_booking(self, booking_id: BookingId) -> BookingDetails:
        """Show a booking's traveller, price, seat and bags, when a hold expires, and what cancelling now would refund."""
        booking = self.bookings.get(booking_id)
        return BookingDetails(**asdict(booking), refund_if_cancelled=self._refund(booking))

    @write(destructive=True)
    def cancel_booking(self, booking_id: BookingId) -> Booking:
        """Cancel a hold or a booking that has not begun, and refund what its rules allow."""
        booking = self.bookings.get(booking_id)
        refund = self._refund(booking)
        if refund is None:
            why = "about to begin" if _is_active(booking) else booking.status
            raise ToolError("failed_precondition", f"{booking_id} is {why}: it can no longer be cancelled")
        return self._pay(booking, -refund, status="cancelled")

    @write
    def create_itinerary(self, name: TripName) -> Itinerary:
        """Begin an empty itinerary for a trip."""
        known = [i.itinerary_id for i in self.itineraries if i.name.casefold() == name.casefold()]
        require(not known, "conflict", f"there is an itinerary {name!r} already, {', '.join(known)}: choose another name")
        return self.itineraries.add(Itinerary(self.itineraries.mint(), name, []))

    @write
    def add_to_itinerary(self, itinerary_id: ItineraryId, booking_id: BookingId) -> Itinerary:
        """Put a held or confirmed booking into an itinerary; a traveller cannot be on two flights at once."""
        itinerary, booking = self.itineraries.get(itinerary_id), self.bookings.get(booking_id)
        require(booking_id not in itinerary.bookings, "conflict", f"{booking_id} is in {itinerary_id} already")
        require(_is_active(booking), "failed_precondition", f"{booking_id} is {booking.status}, neither held nor confirmed")
        clashes = [b.booking_id for b in map(self.bookings.get, itinerary.bookings) if _clash(b, booking)]
        require(not clashes, "conflict", f"{booking_id} is at the same time as {', '.join(clashes)} in {itinerary_id}")
        return self.itineraries.update(itinerary_id, bookings=[*itinerary.bookings, booking_id])

    @read
    def list_itineraries(self, query: Query | None = None, limit: Limit = 10) -> Page[ItineraryLine]:
        """List the customer's itineraries by name, without their bookings."""
        return page((i for i in self.itineraries if matches(query, i.name)), limit, ItineraryLine)

    @read
    def get_itinerary(self, itinerary_id: ItineraryId) -> ItineraryPlan:
        """Show an itinerary's bookings in the order in which they start, and what they cost without the cancelled ones."""
        itinerary = self.itineraries.get(itinerary_id)
        bookings = sorted(map(self.bookings.get, itinerary.bookings), key=_start)
        total = sum(b.price for b in bookings if b.status not in ("cancelled", "expired"))
        return ItineraryPlan(itinerary_id, itinerary.name, total, [brief(b, BookingLine) for b in bookings])

    # --- rules

    def elapse(self) -> None:
        for booking in list(self.bookings):
            if booking.status == "held" and booking.hold_expires and booking.hold_expires <= self.now:
                self.bookings.update(booking.booking_id, status="expired")
            elif booking.status == "confirmed" and booking.ends <= self.now:
                self.bookings.update(booking.booking_id, status="completed")

    def _reserve(self, kind: BookingKind, title: str, starts: datetime, ends: datetime, who: str | None, **details: Any) -> Booking:
        """A booking that is not paid yet."""
        line = (self.bookings.mint(), kind, title, starts)
        return self.bookings.add(Booking(*line, "held", ends, who or self._holder(), self.now, **details))

    def _pay(self, booking: Booking, amount: Money, **changes: Any) -> Booking:
        """Take the amount, or give it back if it is negative, and put the changes into the booking."""
        if changes.get("payment", booking.payment) == "travel_credit":
            profile = self.profiles.one()
            credit = profile.travel_credit - amount
            require(credit >= 0, "resource_exhausted", f"travel credit is down to {profile.travel_credit} cents: pay {amount} by card")
            self.profiles.update(profile.profile_id, travel_credit=credit)
        return self.bookings.update(booking.booking_id, paid=booking.paid + amount, **changes)

    def _refund(self, booking: Booking) -> Money | None:
        """What cancelling now would give back, or None if it cannot be cancelled."""
        closes = booking.starts - CHECK_IN_CLOSES if booking.flight_id else booking.starts
        if not _is_active(booking) or self.now >= closes:
            return None
        return max(0, booking.paid - self._kept(booking, booking.starts - self.now))

    def _kept(self, booking: Booking, ahead: timedelta) -> Money:
        """What is not given back when a booking is cancelled that long before it starts."""
        if booking.fare:
            fee = FARES[booking.fare].cancel_fee
            cooling_off = self.now - booking.made <= COOLING_OFF and ahead >= timedelta(days=7)
            return 0 if cooling_off else booking.paid if fee is None else fee
        free_days = self.hotels.get(booking.hotel_id).free_cancellation_days if booking.hotel_id else 1
        if free_days is None:
            return booking.paid
        first_day = booking.price // (booking.ends.date() - booking.starts.date()).days
        return 0 if ahead >= timedelta(days=free_days) else first_day

    def _holder(self) -> PersonName:
        return self.profiles.one().holder

    def _ahead(self, day: date, hour: int) -> datetime:
        """A time on a day that is still to come."""
        moment = datetime.combine(day, time(hour), UTC)
        require(moment > self.now, "failed_precondition", f"{day} is over: choose a day after {self.today}")
        require(moment < self.now + timedelta(days=365), "failed_precondition", f"{day} is more than a year ahead: choose an earlier day")
        return moment

    def _city(self, name: City) -> City:
        """A city as the catalogue spells it."""
        cities = {a.city.casefold(): a.city for a in self.airports}
        require(name.casefold() in cities, "not_found", f"nothing is on offer in {name!r}, only in {', '.join(sorted(cities.values()))}")
        return cities[name.casefold()]

    def _boarding(self, flight_id: FlightId, traveller: str | None) -> Flight:
        """A flight that can still be bought for a traveller who is not on it."""
        flight, name = self.flights.get(flight_id), traveller or self._holder()
        require(
            self.now < flight.departs - CHECK_IN_CLOSES, "failed_precondition", f"check-in for {flight_id} has closed: take a later one"
        )
        same = [b.booking_id for b in self._passengers(flight_id) if b.traveller == name]
        require(not same, "conflict", f"{name} is on {flight_id} already, with {', '.join(same)}")
        return flight

    def _ticket(self, booking_id: BookingId) -> tuple[Booking, Flight, FareRule]:
        """A booking that is a ticket, paid for and not yet used."""
        booking = self.bookings.get(booking_id)
        if booking.flight_id is None or booking.fare is None:
            raise ToolError("invalid_argument", f"{booking_id} is a {booking.kind} booking: choose a flight")
        hint = "book it first" if booking.status == "held" else "choose a confirmed one"
        require(booking.status == "confirmed", "failed_precondition", f"{booking_id} is {booking.status}: {hint}")
        require(self.now < booking.starts - CHECK_IN_CLOSES, "failed_precondition", f"check-in for {booking_id} has closed")
        return booking, self.flights.get(booking.flight_id), FARES[booking.fare]

    def _passengers(self, flight_id: FlightId) -> list[Booking]:
        return [b for b in self.bookings.where(flight_id=flight_id) if _is_active(b)]

    def _free_seats(self, flight: Flight, cabin: str) -> list[Seat]:
        taken = [b.seat for b in self._passengers(flight.flight_id)]
        return [seat for seat in flight.seats if cabin_of(seat) == cabin and seat not in taken]

    def _offer(self, flight: Flight, fare: Fare) -> FareOffer:
        rule = FARES[fare]
        sold = sum(FARES[b.fare].cabin == rule.cabin for b in self._passengers(flight.flight_id) if b.fare)
        seats_left = sum(cabin_of(seat) == rule.cabin for seat in flight.seats) - sold
        return FareOffer(**asdict(rule), price=_price(flight, fare), seats_left=seats_left)

    def _open_offer(self, flight: Flight, fare: Fare) -> FareOffer:
        offer = self._offer(flight, fare)
        require(offer.seats_left > 0, "resource_exhausted", f"{flight.flight_id} is full in {offer.cabin}: take another flight or cabin")
        return offer

    def _title(self, flight: Flight) -> str:
        return f"{flight.number} {self.airports.get(flight.origin).city} to {self.airports.get(flight.destination).city}"

    def _rooms_left(self, hotel: Hotel, room: Room, check_in: date, nights: int) -> int:
        full = any(0 <= (night - check_in).days < nights for night in hotel.full_nights)
        return 0 if full else self._left(room.available, check_in, nights, hotel_id=hotel.hotel_id, room=room.room)

    def _left(self, available: int, first: date, count: int, **what: Any) -> int:
        """How many of something are free on all the days, when the customer's own bookings are taken off."""
        own = [b for b in self.bookings.where(**what) if _is_active(b)]
        days = [first + timedelta(days=n) for n in range(count)]
        return available - max(sum(b.starts.date() <= day < b.ends.date() for b in own) for day in days)


def cabin_of(seat: Seat) -> str:
    """Which cabin a seat is in: the first rows are business."""
    return "business" if int(seat[:-1]) <= BUSINESS_ROWS else "economy"


def _position(seat: Seat) -> str:
    return {"A": "window", "F": "window", "B": "middle", "E": "middle"}.get(seat[-1], "aisle")


def _price(flight: Flight, fare: Fare) -> Money:
    return flight.lowest_price * PERCENT_OF_LOWEST[fare] // 100


def _start(booking: Booking) -> tuple[datetime, BookingId]:
    return booking.starts, booking.booking_id


def _is_active(booking: Booking) -> bool:
    return booking.status in ("held", "confirmed")


def _clash(one: Booking, other: Booking) -> bool:
    """Whether one traveller would have to be on two flights at once."""
    both = one.kind == other.kind == "flight" and _is_active(one) and one.traveller == other.traveller
    return both and one.starts < other.ends and other.starts < one.ends
