"""Who and what is in the city: ids, what arguments mean, records, and the shapes of results. Money is in cents."""

from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, Latitude, Longitude, Meta, Moment, Money, PersonName, Record

MOST_PORTIONS = 20

RestaurantId = NewType("RestaurantId", str)
MenuItemId = NewType("MenuItemId", str)
AddressId = NewType("AddressId", str)
OrderId = NewType("OrderId", str)
OrderItemId = NewType("OrderItemId", str)
CourierId = NewType("CourierId", str)

Cuisine = Annotated[
    Literal["american", "breakfast", "chinese", "indian", "italian", "japanese", "mediterranean", "mexican", "thai", "vegan"],
    Meta(description="what sort of food"),
]
OpenNow = Annotated[bool, Meta(description="true to see only restaurants that take orders right now")]
Section = Annotated[Literal["starters", "mains", "sides", "desserts", "drinks"], Meta(description="a part of the menu")]
Diet = Annotated[Literal["vegetarian", "vegan", "gluten_free"], Meta(description="a diet that the dish must suit")]
Allergen = Literal["eggs", "fish", "gluten", "milk", "nuts", "peanuts", "sesame", "shellfish", "soy"]
Portions = Annotated[int, Meta(ge=1, le=MOST_PORTIONS, description="how many portions of the dish")]
KitchenNote = Annotated[str, Meta(max_length=100, description="a wish for the kitchen about this dish")]
PromoCode = Annotated[str, Meta(pattern=r"^[A-Z0-9]{4,12}$", description="a promo code, in capitals")]
Tip = Annotated[int, Meta(ge=0, le=10_000, description="a tip for the courier, an amount in cents")]
DropOff = Annotated[Literal["hand_to_me", "leave_at_door", "meet_outside"], Meta(description="how the courier hands the food over")]
OrderStatus = Annotated[
    Literal["cart", "placed", "preparing", "out_for_delivery", "delivered", "cancelled"],
    Meta(description="where the order is in its life; a cart is not placed yet"),
]
Stars = Annotated[int, Meta(ge=1, le=5, description="a rating out of five stars")]
Comment = Annotated[str, Meta(max_length=300, description="what the restaurant should hear about the order")]
Hour = Annotated[int, Meta(ge=0, le=23, description="an hour of the day")]
Vehicle = Literal["bicycle", "scooter", "car"]
Metres = Annotated[int, Meta(ge=0, description="a distance in metres")]
Minutes = Annotated[int, Meta(ge=0, description="a time span in minutes")]


class Restaurant(Record):
    restaurant_id: RestaurantId
    name: str
    cuisine: Cuisine
    neighbourhood: str
    rating: float
    opens: Hour
    closes: Hour  # before `opens`: after midnight
    minimum_order: Money
    delivery_fee: Money
    delivers_within: Metres
    preparation: Minutes
    latitude: Latitude
    longitude: Longitude


class MenuItem(Record):
    menu_item_id: MenuItemId
    restaurant_id: RestaurantId
    name: str
    section: Section
    price: Cents
    description: str
    diets: list[Diet]
    allergens: list[Allergen]
    calories: int
    available: bool
    back: Day | None = None  # when a dish that is sold out can be had again, if it can


class Address(Record):
    address_id: AddressId
    label: str
    street: str
    neighbourhood: str
    latitude: Latitude
    longitude: Longitude


class Order(Record):
    order_id: OrderId
    restaurant_id: RestaurantId
    restaurant: str
    address_id: AddressId
    status: OrderStatus
    opened: Moment  # as a cart
    placed: Moment | None = None
    promo_code: PromoCode | None = None
    subtotal: Money = 0
    discount: Money = 0
    delivery_fee: Money = 0
    service_fee: Money = 0
    tip: Tip = 0
    total: Money = 0
    refunded: Money = 0
    drop_off: DropOff = "hand_to_me"
    arrives: Moment | None = None  # promised, and once delivered the time it came
    stars: Stars | None = None
    comment: Comment = ""


class OrderItem(Record):
    order_item_id: OrderItemId
    order_id: OrderId
    menu_item_id: MenuItemId
    name: str
    quantity: Portions
    price: Cents
    note: KitchenNote = ""


class Promo(Record):
    code: PromoCode
    kind: Literal["percent", "amount", "free_delivery"]
    value: int  # per cent or cents
    minimum: Money
    until: Day
    first_order_only: bool = False


class Courier(Record):
    courier_id: CourierId
    name: PersonName
    vehicle: Vehicle
    phone: str


class Trip(Record):
    order_id: OrderId
    courier_id: CourierId
    starts: Moment
    leaves: Moment
    arrives: Moment


class RestaurantLine(Record):
    restaurant_id: RestaurantId
    name: str
    cuisine: Cuisine
    neighbourhood: str
    rating: float


class MenuItemLine(Record):
    menu_item_id: MenuItemId
    restaurant_id: RestaurantId
    name: str
    section: Section
    price: Cents


class OrderLine(Record):
    order_id: OrderId
    restaurant_id: RestaurantId
    restaurant: str
    status: OrderStatus
    opened: Moment
    placed: Moment | None


class OrderDetails(Record):
    order: Order
    items: list[OrderItem]


class Estimate(Record):
    restaurant_id: RestaurantId
    address_id: AddressId
    distance: Metres
    delivery_fee: Money
    minutes: Minutes


class Tracking(Record):
    order_id: OrderId
    courier: PersonName
    vehicle: Vehicle
    phone: str
    distance_left: Metres
    minutes_left: Minutes
