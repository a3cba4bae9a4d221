"""What a travel agency keeps: airports and flights, hotels and cars, one customer's bookings and trips. Money is in cents."""

from typing import Annotated, Literal, NewType

from prove.servers import Caseless, Day, Meta, Moment, Money, PersonName, Record

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
Cabin = Literal["economy", "business"]
SeatPosition = Annotated[Literal["window", "middle", "aisle"], Meta(description="where in its row a seat is")]
Seat = Annotated[str, Meta(pattern=r"^\d{1,2}[A-F]$", description="a seat by row and letter, for example 12C")]
Bags = Annotated[int, Meta(ge=1, le=4, description="how many checked bags to add")]
Stars = Annotated[int, Meta(ge=1, le=5, description="how many stars a hotel has")]
RoomKind = Annotated[Literal["single", "double", "suite"], Meta(description="what sort of hotel room")]
Nights = Annotated[int, Meta(ge=1, le=21, description="how many nights to stay")]
CarCategory = Annotated[Literal["economy", "compact", "suv", "van", "premium"], Meta(description="what size of car")]
RentalDays = Annotated[int, Meta(ge=1, le=30, description="for how many days to rent the car")]
PickUpHour = Annotated[int, Meta(ge=7, le=22, description="the full hour at which the car is picked up, in UTC")]
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
    seats: list[Seat]  # which seats the airline still has to sell; what is sold here is taken off


class FareRule(Record):
    fare: Fare
    cabin: Cabin
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
    status: Status


class Booking(BookingLine):
    ends: Moment
    traveller: PersonName
    made: Moment
    price: Money  # of all that was bought, fees for changes included
    paid: Money = 0  # less what was refunded
    credit_used: Money = 0  # how much of what is paid came from the travel credit
    change_fees: Money = 0  # never refunded
    free_until: Moment | None = None  # until when cancelling costs no more than the fees for changes
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


class BookingList(Record):
    items: list[BookingLine]
    total: int
    travel_credit: Money  # what the customer has left


class ItineraryLine(Record):
    itinerary_id: ItineraryId
    name: TripName


class Itinerary(ItineraryLine):
    bookings: list[BookingId]


class ItineraryPlan(ItineraryLine):
    total_price: Money
    bookings: list[BookingLine]
