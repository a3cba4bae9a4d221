"""A travel agency for one signed-in customer. Money is in cents, times are in UTC, prices do not move during a session."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from msgspec.structs import asdict

from prove.servers import (
    Day, Limit, Money, Offset, Page, PersonName, Query, Server, ToolError, brief, matches, page, read, require, table, write,
)  # fmt: skip

from .fares import (
    BAG_PRICE, CHECK_IN, CHECK_IN_CLOSES, CHECK_OUT, FARES, HOLD, MOST_BAGS, MOST_HOLDS, PICK_UP,
    cabin_of, days_ahead, ends_of, fare_paid, free_until, full_nights, is_active, plain, position_of, price_of, start_of,
    too_close, too_early,
)  # fmt: skip
from .records import (
    Airport, AirportId, Bags, Booking, BookingDetails, BookingId, BookingKind, BookingLine, BookingList, Cabin, Car, CarCategory, CarId,
    City, Fare, FareOffer, FareRule, Flight, FlightDetails, FlightId, FlightLine, FlightNumber, FlightOrder, Hotel, HotelId, HotelLine,
    Itinerary, ItineraryId, ItineraryLine, ItineraryPlan, Nights, Payment, PickUpHour, Profile, RentalDays, Room, RoomKind, Seat,
    SeatPosition, Stars, Status, TripName,
)  # fmt: skip


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
        last = max(f.day for f in self.flights)
        require(day >= self.today, "failed_precondition", f"{day} is in the past: today is {self.today}")
        require(day <= last, "failed_precondition", f"what flies on {day} is not known yet: flights are on sale up to {last}")
        found = [f for f in self.flights.where(day=day) if origin in (None, f.origin) and destination in (None, f.destination)]
        order = {"departure": lambda f: f.departs, "price": lambda f: f.lowest_price, "duration": lambda f: f.arrives - f.departs}
        return page(sorted((f for f in found if number in (None, f.number)), key=order[sort_by]), limit, FlightLine)

    @read
    def get_flight(self, flight_id: FlightId) -> FlightDetails:
        """Show what each fare of a flight costs and includes, how many seats are left, and which are free."""
        flight = self.flights.get(flight_id)
        line, fares = asdict(brief(flight, FlightLine)), [self._offer(flight, fare) for fare in FARES]
        free = [*self._free_seats(flight, "business"), *self._free_seats(flight, "economy")]
        return FlightDetails(**line, airline=flight.airline, aircraft=flight.aircraft, fares=fares, free_seats=free)

    @write
    def hold_flight(self, flight_id: FlightId, fare: Fare, traveller: PersonName | None = None) -> Booking:
        """Keep a seat at its price for up to 24 hours without paying; for the account holder unless a traveller is named."""
        flight, name = self.flights.get(flight_id), self._person(traveller)
        self._boarding(flight, name)
        held = [b.booking_id for b in self.bookings.where(status="held")]
        require(len(held) < MOST_HOLDS, "resource_exhausted", f"only {MOST_HOLDS} holds at once: book or cancel one of {', '.join(held)}")
        offer = self._open_offer(flight, fare)
        ticket = {"flight_id": flight_id, "fare": fare, "bags": offer.bags_included, "free_until": free_until(flight, self.now)}
        expires = min(self.now + HOLD, flight.departs - CHECK_IN_CLOSES)
        line = ("flight", self._title(flight), flight.departs, flight.arrives, name)
        return self._reserve(*line, price=offer.price, hold_expires=expires, **ticket)

    @write
    def book_flight(self, booking_id: BookingId, payment: Payment = "card") -> Booking:
        """Buy the seat that a booking holds."""
        booking = self.bookings.get(booking_id)
        over = booking.flight_id and booking.status in ("expired", "cancelled")
        hint = f"hold {booking.flight_id} again" if over else "there is nothing to buy"
        require(booking.status == "held", "failed_precondition", f"{booking_id} is {booking.status}, not held: {hint}")
        return self._pay(booking, booking.price, payment, status="confirmed", hold_expires=None)

    @write
    def change_flight(self, booking_id: BookingId, day: Day, number: FlightNumber | None = None, payment: Payment = "card") -> Booking:
        """Move a ticket to another day, or another flight on its route, for the fare's change fee and what the new flight costs more."""
        booking, old, rule = self._ticket(booking_id)
        if rule.change_fee is None:
            raise ToolError("failed_precondition", f"{booking_id} is a {rule.fare} fare: it cannot be changed, only cancelled")
        name, route = number or old.number, f"{old.origin} to {old.destination}"
        found = self.flights.where(day=day, number=name, origin=old.origin, destination=old.destination)
        require(found, "not_found", f"there is no {name} from {route} on {day}: search for another flight")
        new = found[0]
        self._boarding(new, booking.traveller, instead_of=booking)
        cost = rule.change_fee + max(0, self._open_offer(new, rule.fare).price - fare_paid(booking))
        moved = {"flight_id": new.flight_id, "title": self._title(new), "starts": new.departs, "ends": new.arrives, "seat": None}
        return self._buy_more(booking, cost, payment, change_fees=booking.change_fees + rule.change_fee, **moved)

    @write
    def select_seat(self, booking_id: BookingId, position: SeatPosition, payment: Payment = "card") -> Booking:
        """Take the foremost free seat of that sort in the ticket's cabin; a basic fare pays for its first choice."""
        booking, flight, rule = self._ticket(booking_id)
        require(not booking.seat or position_of(booking.seat) != position, "conflict", f"{booking.seat} is a {position} seat already")
        free = self._free_seats(flight, rule.cabin)
        seat = next((s for s in free if position_of(s) == position), None)
        require(seat, "resource_exhausted", f"no {position} seat is free in {rule.cabin}: free are {', '.join(free) or 'none'}")
        return self._buy_more(booking, 0 if booking.seat else rule.seat_fee, payment, seat=seat)

    @write
    def add_baggage(self, booking_id: BookingId, bags: Bags, payment: Payment = "card") -> Booking:
        """Add checked bags to a ticket, and pay for them."""
        booking, _, _ = self._ticket(booking_id)
        more = MOST_BAGS - booking.bags
        require(bags <= more, "resource_exhausted", f"{booking_id} has {booking.bags} bags already: at most {more} can be added")
        return self._buy_more(booking, bags * BAG_PRICE, payment, bags=booking.bags + bags)

    # --- hotels and cars

    @read
    def search_hotels(
        self, city: City, check_in: Day | None = None, nights: Nights = 1, min_stars: Stars = 1, limit: Limit = 10
    ) -> Page[HotelLine]:
        """List a city's hotels, most stars first; with check_in only those that have a room on all the nights."""
        found = [h for h in self.hotels.where(city=self._city(city)) if h.stars >= min_stars]
        if check_in:
            self._ahead(check_in, CHECK_IN)
            free = (h for h in found if not full_nights(h, check_in, nights))
            found = [h for h in free if any(self._rooms_left(h, r, check_in, nights) for r in h.rooms)]
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
        full = full_nights(hotel, check_in, nights)
        require(not full, "resource_exhausted", f"{hotel_id} is full on {', '.join(map(str, full))}: choose other nights")
        left = self._rooms_left(hotel, chosen, check_in, nights)
        require(left, "resource_exhausted", f"you have booked the last {room} of {hotel_id} on those nights: try another day or room")
        ends, price = starts + timedelta(days=nights, hours=CHECK_OUT - CHECK_IN), chosen.nightly_price * nights
        until = days_ahead(starts, hotel.free_cancellation_days, self.now)
        line = ("hotel", hotel.name, starts, ends, self._person(guest))
        booking = self._reserve(*line, price=price, hotel_id=hotel_id, room=room, free_until=until)
        return self._pay(booking, price, payment, status="confirmed")

    @read
    def search_cars(
        self,
        city: City,
        category: CarCategory | None = None,
        pick_up_day: Day | None = None,
        days: RentalDays = 1,
        pick_up_hour: PickUpHour = PICK_UP,
        limit: Limit = 10,
    ) -> Page[Car]:
        """List rental cars in a city, the cheapest first; with pick_up_day only those that are free on all the days."""
        found = [c for c in self.cars.where(city=self._city(city)) if category in (None, c.category)]
        if pick_up_day:
            starts = self._ahead(pick_up_day, pick_up_hour)
            found = [c for c in found if self._left(c.fleet, starts, starts + timedelta(days=days), car_id=c.car_id)]
        return page(sorted(found, key=lambda c: (c.daily_price, c.car_id)), limit, Car)

    @write
    def book_car(
        self,
        car_id: CarId,
        pick_up_day: Day,
        days: RentalDays,
        pick_up_hour: PickUpHour = PICK_UP,
        payment: Payment = "card",
        driver: PersonName | None = None,
    ) -> Booking:
        """Rent and pay a car; the account holder drives it unless a driver is named, who must have landed by then."""
        car, starts, name = self.cars.get(car_id), self._ahead(pick_up_day, pick_up_hour), self._person(driver)
        ends, price = starts + timedelta(days=days), car.daily_price * days
        left = self._left(car.fleet, starts, ends, car_id=car_id)
        require(left, "resource_exhausted", f"{car_id} is rented out on some of those days: try another car or other days")
        for flight in (b for b in self._plans_of(name) if b.flight_id):
            early = too_early(starts, flight.starts, flight.ends, self._city_of(flight) == car.city)
            landed = f"{name} lands with {flight.booking_id} at {flight.ends:%H:%M}"
            require(not early, "conflict", f"{landed}: pick the car up after that, or on the day after {flight.ends.date()}")
        line = ("car", f"{car.company} {car.model}", starts, ends, name)
        booking = self._reserve(*line, price=price, car_id=car_id, free_until=days_ahead(starts, 1, self.now))
        return self._pay(booking, price, payment, status="confirmed")

    # --- bookings and trips

    @read
    def list_bookings(
        self, kind: BookingKind | None = None, status: Status | None = None, limit: Limit = 20, offset: Offset = 0
    ) -> BookingList:
        """List the customer's bookings in the order in which they start, past ones included, and the travel credit that is left."""
        found = [b for b in self.bookings if kind in (None, b.kind) and status in (None, b.status)]
        lines = page(sorted(found, key=start_of), limit, BookingLine, offset)
        return BookingList(lines.items, lines.total, self.profiles.one().travel_credit)

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
            why = booking.status if not is_active(booking) else "past check-in" if booking.flight_id else "under way"
            raise ToolError("failed_precondition", f"{booking_id} is {why}: it can no longer be cancelled")
        to_credit = max(0, refund - (booking.paid - booking.credit_used))  # what the card has paid goes back to it first
        self._change_credit(to_credit)
        left = {"paid": booking.paid - refund, "credit_used": booking.credit_used - to_credit}
        return self.bookings.update(booking_id, status="cancelled", **left)

    @write
    def create_itinerary(self, name: TripName) -> Itinerary:
        """Begin an empty itinerary for a trip."""
        known = [i.itinerary_id for i in self.itineraries if plain(i.name) == plain(name)]
        require(not known, "conflict", f"there is an itinerary {name!r} already, {', '.join(known)}: choose another name")
        return self.itineraries.add(Itinerary(ItineraryId(self.itineraries.mint()), name, []))

    @write
    def add_to_itinerary(self, itinerary_id: ItineraryId, booking_id: BookingId) -> Itinerary:
        """Put a held or confirmed booking into an itinerary."""
        itinerary, booking = self.itineraries.get(itinerary_id), self.bookings.get(booking_id)
        require(booking_id not in itinerary.bookings, "conflict", f"{booking_id} is in {itinerary_id} already")
        require(is_active(booking), "failed_precondition", f"{booking_id} is {booking.status}, neither held nor confirmed")
        return self.itineraries.update(itinerary_id, bookings=[*itinerary.bookings, booking_id])

    @read
    def list_itineraries(self, query: Query | None = None, limit: Limit = 10, offset: Offset = 0) -> Page[ItineraryLine]:
        """List the customer's itineraries by name, without their bookings."""
        found = (i for i in self.itineraries if matches(query, i.name))
        return page(sorted(found, key=lambda i: plain(i.name)), limit, ItineraryLine, offset)

    @read
    def get_itinerary(self, itinerary_id: ItineraryId) -> ItineraryPlan:
        """Show an itinerary's bookings in the order in which they start, and what they cost without the cancelled ones."""
        itinerary = self.itineraries.get(itinerary_id)
        bookings = sorted(map(self.bookings.get, itinerary.bookings), key=start_of)
        total = sum(b.price for b in bookings if b.status not in ("cancelled", "expired"))
        return ItineraryPlan(itinerary_id, itinerary.name, total, [brief(b, BookingLine) for b in bookings])

    # --- time

    def due(self) -> datetime | None:
        return min((ends_of(b) for b in self.bookings if is_active(b)), default=None)

    def elapse(self) -> None:
        for booking in [b for b in self.bookings if is_active(b) and ends_of(b) <= self.now]:
            self.bookings.update(booking.booking_id, status="expired" if booking.status == "held" else "completed")

    # --- money

    def _reserve(self, kind: BookingKind, title: str, starts: datetime, ends: datetime, who: PersonName, **details: Any) -> Booking:
        """A booking that is not paid yet."""
        booking_id = BookingId(self.bookings.mint())
        return self.bookings.add(Booking(booking_id, kind, title, starts, "held", ends, who, self.now, **details))

    def _buy_more(self, booking: Booking, cost: Money, payment: Payment, **changes: Any) -> Booking:
        return self._pay(booking, cost, payment, price=booking.price + cost, **changes)

    def _pay(self, booking: Booking, amount: Money, payment: Payment, **changes: Any) -> Booking:
        """Take an amount from the card or the travel credit, and put the changes into the booking."""
        from_credit = amount if payment == "travel_credit" else 0
        self._change_credit(-from_credit)
        sums = {"paid": booking.paid + amount, "credit_used": booking.credit_used + from_credit}
        return self.bookings.update(booking.booking_id, **sums, **changes)

    def _change_credit(self, amount: Money) -> None:
        profile = self.profiles.one()
        left = profile.travel_credit + amount
        require(left >= 0, "resource_exhausted", f"travel credit is down to {profile.travel_credit} cents: pay {-amount} by card")
        self.profiles.update(profile.profile_id, travel_credit=left)

    def _refund(self, booking: Booking) -> Money | None:
        """What cancelling now would give back, or None if it cannot be cancelled."""
        closes = booking.starts - CHECK_IN_CLOSES if booking.flight_id else booking.starts
        if not is_active(booking) or self.now >= closes:
            return None
        return max(0, booking.paid - booking.change_fees - self._penalty(booking))

    def _penalty(self, booking: Booking) -> Money:
        """What is kept when a booking is cancelled now, besides its fees for changes."""
        if booking.free_until and self.now <= booking.free_until:
            return 0
        if booking.fare:
            fee = FARES[booking.fare].cancel_fee
            return booking.paid if fee is None else fee
        if booking.hotel_id and self.hotels.get(booking.hotel_id).free_cancellation_days is None:
            return booking.paid
        return booking.price // (booking.ends.date() - booking.starts.date()).days  # the first night, or day

    # --- days, cities, people

    def _ahead(self, day: date, hour: int) -> datetime:
        """A time on a day that is still to come."""
        moment = datetime.combine(day, time(hour), UTC)
        require(moment > self.now, "failed_precondition", f"{day} at {hour}:00 is over: choose a day after {self.today}")
        require(moment < self.now + timedelta(days=365), "failed_precondition", f"{day} is more than a year ahead: choose an earlier day")
        return moment

    def _city(self, name: City) -> City:
        """A city as the catalogue spells it."""
        cities = {a.city.casefold(): a.city for a in self.airports}
        require(name.casefold() in cities, "not_found", f"nothing is on offer in {name!r}, only in {', '.join(sorted(cities.values()))}")
        return cities[name.casefold()]

    def _city_of(self, ticket: Booking | Flight) -> City:
        """Where a flight lands."""
        flight = ticket if isinstance(ticket, Flight) else self.flights.get(ticket.flight_id or "")
        return self.airports.get(flight.destination).city

    def _person(self, name: PersonName | None) -> PersonName:
        """Somebody as the agency spells the name; the account holder if nobody is named."""
        known = [self.profiles.one().holder, *(b.traveller for b in self.bookings)]
        return next((k for k in known if plain(k) == plain(name)), " ".join(name.split())) if name else known[0]

    def _plans_of(self, name: PersonName) -> list[Booking]:
        return [b for b in self.bookings if is_active(b) and plain(b.traveller) == plain(name)]

    # --- seats, rooms, fleets

    def _boarding(self, flight: Flight, name: PersonName, instead_of: Booking | None = None) -> None:
        """See that a flight can still be bought, and that its traveller has no other plans for that time."""
        closed = self.now >= flight.departs - CHECK_IN_CLOSES
        require(not closed, "failed_precondition", f"check-in for {flight.flight_id} has closed: take a later one")
        for other in self._plans_of(name):
            same = other.flight_id == flight.flight_id
            require(not same, "conflict", f"{name} is on {flight.flight_id} already, with {other.booking_id}")
            if other == instead_of:
                continue
            both = other.flight_id and too_close(flight, other)
            way_out = f"cancel that, or take one that leaves from {other.ends + CHECK_IN_CLOSES:%Y-%m-%d %H:%M} on"
            require(not both, "conflict", f"{name} is in the air within an hour of that, with {other.booking_id}: {way_out}")
            if other.car_id and other.starts > self.now:
                same_city = self.cars.get(other.car_id).city == self._city_of(flight)
                early = too_early(other.starts, flight.departs, flight.arrives, same_city)
                pick_up = f"{name} picks up a car before that lands, with {other.booking_id}"
                require(not early, "conflict", f"{pick_up}: cancel that, or take an earlier flight")

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
        return [b for b in self.bookings.where(flight_id=flight_id) if is_active(b)]

    def _free_seats(self, flight: Flight, cabin: Cabin) -> list[Seat]:
        taken = [b.seat for b in self._passengers(flight.flight_id)]
        return [seat for seat in flight.seats if cabin_of(seat) == cabin and seat not in taken]

    def _offer(self, flight: Flight, fare: Fare) -> FareOffer:
        rule = FARES[fare]
        sold = sum(FARES[b.fare].cabin == rule.cabin for b in self._passengers(flight.flight_id) if b.fare)
        seats_left = sum(cabin_of(seat) == rule.cabin for seat in flight.seats) - sold
        return FareOffer(**asdict(rule), price=price_of(flight, fare), seats_left=seats_left)

    def _open_offer(self, flight: Flight, fare: Fare) -> FareOffer:
        offer = self._offer(flight, fare)
        require(offer.seats_left > 0, "resource_exhausted", f"{flight.flight_id} is full in {offer.cabin}: take another flight or cabin")
        return offer

    def _title(self, flight: Flight) -> str:
        return f"{flight.number} {self.airports.get(flight.origin).city} to {self.airports.get(flight.destination).city}"

    def _rooms_left(self, hotel: Hotel, room: Room, check_in: date, nights: int) -> int:
        starts, ends = (datetime.combine(check_in + timedelta(days=n), time(CHECK_IN), UTC) for n in (0, nights))
        return self._left(room.available, starts, ends, hotel_id=hotel.hotel_id, room=room.room)

    def _left(self, available: int, starts: datetime, ends: datetime, **what: Any) -> int:
        """How many of something are free all the time, when the customer's own bookings are taken off."""
        own = [b for b in self.bookings.where(**what) if is_active(b) and b.starts < ends and starts < b.ends]
        busiest = max(sum(b.starts <= moment < b.ends for b in own) for moment in (starts, *(b.starts for b in own)))
        return available - busiest
