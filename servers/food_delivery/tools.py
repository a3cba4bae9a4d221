"""Food delivery for one signed-in customer. Money is in cents, times of day are UTC; orders are charged to the card on file."""

from datetime import timedelta
from math import isqrt
from typing import Annotated, Literal, NewType

from prove.servers import (
    Cents,
    Day,
    Latitude,
    Limit,
    Longitude,
    Meta,
    Moment,
    Money,
    Page,
    PersonName,
    Query,
    Record,
    Server,
    matches,
    page,
    read,
    require,
    table,
    write,
)

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
Portions = Annotated[int, Meta(ge=1, le=20, description="how many portions of the dish")]
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

MOVING = ("placed", "preparing", "out_for_delivery")
MOST_PORTIONS = 20
METRES_NORTH, METRES_EAST = 111_320, 69_300  # in one degree, at this city's latitude


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
    opened: Moment
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


class FoodDelivery(Server):
    """Restaurants, menus, carts and deliveries of one customer in one city."""

    category = "Lifestyle"

    restaurants = table(Restaurant, "RST-{}", start=101)
    menu_items = table(MenuItem, "DSH-{}", start=2001)
    addresses = table(Address, "ADR-{}", start=1)
    orders = table(Order, "ORD-{}", start=50021)
    order_items = table(OrderItem, "ITM-{}", start=90001)
    promos = table(Promo)
    couriers = table(Courier, "COU-{}", start=31)
    trips = table(Trip)

    # --- where and what to eat

    @read
    def search_restaurants(
        self,
        query: Query | None = None,
        cuisine: Cuisine | None = None,
        address_id: AddressId | None = None,
        open_now: OpenNow = False,
        limit: Limit = 10,
    ) -> Page[RestaurantLine]:
        """Find restaurants, best rated first; query looks at names, areas and dishes, address_id keeps those that deliver there."""
        address = self.addresses.get(address_id) if address_id else None
        found = [r for r in self.restaurants if cuisine in (None, r.cuisine) and (not open_now or _is_open(r, self.now))]
        found = [r for r in found if address is None or _distance(r, address) <= r.delivers_within]
        found = [r for r in found if not query or matches(query, r.name, r.neighbourhood, *self._dish_names(r))]
        return page(sorted(found, key=lambda r: (-r.rating, r.restaurant_id)), limit, RestaurantLine)

    @read
    def get_restaurant(self, restaurant_id: RestaurantId) -> Restaurant:
        """Show one restaurant: opening hours, minimum order, delivery fee and range, time a dish takes."""
        return self.restaurants.get(restaurant_id)

    @read
    def list_menu(
        self,
        restaurant_id: RestaurantId,
        section: Section | None = None,
        diet: Diet | None = None,
        query: Query | None = None,
        limit: Limit = 20,
    ) -> Page[MenuItemLine]:
        """List a restaurant's dishes; query looks at names and descriptions."""
        self.restaurants.get(restaurant_id)
        dishes = [d for d in self.menu_items.where(restaurant_id=restaurant_id) if section in (None, d.section)]
        found = [d for d in dishes if (diet is None or diet in d.diets) and matches(query, d.name, d.description)]
        return page(found, limit, MenuItemLine)

    @read
    def get_menu_item(self, menu_item_id: MenuItemId) -> MenuItem:
        """Show one dish: what is in it, diets, allergens, calories, and whether it is available today."""
        return self.menu_items.get(menu_item_id)

    # --- where it goes

    @read
    def list_addresses(self) -> Page[Address]:
        """List the customer's saved addresses; the first is used unless another is set."""
        return page(self.addresses, 50, Address)

    @read
    def get_delivery_estimate(self, restaurant_id: RestaurantId, address_id: AddressId) -> Estimate:
        """Estimate how long a restaurant's delivery to an address takes, and what it costs."""
        restaurant, address = self.restaurants.get(restaurant_id), self.addresses.get(address_id)
        distance = _distance_in_range(restaurant, address)
        arrives = _schedule(restaurant, distance, self.now)[-1]
        minutes = (arrives - self.now).seconds // 60
        return Estimate(restaurant_id, address_id, distance, _delivery_fee(restaurant, distance), minutes)

    # --- filling a cart

    @write
    def add_item(self, menu_item_id: MenuItemId, quantity: Portions = 1, note: KitchenNote = "") -> OrderItem:
        """Put a dish into the cart at its restaurant; the first dish opens the cart."""
        dish = self.menu_items.get(menu_item_id)
        cart = self._cart_at(dish.restaurant_id) or self._open_cart(dish.restaurant_id, next(iter(self.addresses)).address_id)
        item = self._put_in(cart.order_id, dish, quantity, note)
        self.recount(cart.order_id)
        return item

    @write(destructive=True)
    def remove_item(self, order_item_id: OrderItemId, quantity: Portions | None = None) -> Order:
        """Take a dish out of a cart: some portions of it, or all if no quantity is given."""
        item = self.order_items.get(order_item_id)
        self._order(item.order_id, "cart")
        left = item.quantity - (quantity or item.quantity)
        require(left >= 0, "invalid_argument", f"only {item.quantity} of {order_item_id} are in the cart")
        if left:
            self.order_items.update(order_item_id, quantity=left)
        else:
            self.order_items.remove(order_item_id)
        return self.recount(item.order_id)

    @write(idempotent=True)
    def set_delivery_address(self, order_id: OrderId, address_id: AddressId) -> Order:
        """Choose where a cart is to be delivered; the delivery fee follows the distance."""
        cart = self._order(order_id, "cart")
        _distance_in_range(self.restaurants.get(cart.restaurant_id), self.addresses.get(address_id))
        self.orders.update(order_id, address_id=address_id)
        return self.recount(order_id)

    @write
    def apply_promo(self, order_id: OrderId, code: PromoCode) -> Order:
        """Use a promo code on a cart, in place of any other; each code works once."""
        cart, promo = self._order(order_id, "cart"), self.promos.get(code)
        require(promo.until >= self.today, "failed_precondition", f"{code} expired on {promo.until}")
        used = [o.order_id for o in self.orders if o.promo_code == code and o.status != "cancelled"]
        require(not used, "conflict", f"{code} is used on {', '.join(used)} already")
        known = promo.first_order_only and any(o.status == "delivered" for o in self.orders)
        require(not known, "permission_denied", f"{code} is for a customer's first order only")
        missing = promo.minimum - cart.subtotal
        require(missing <= 0, "failed_precondition", f"{code} needs a subtotal of {promo.minimum} cents: add {missing} cents more first")
        self.orders.update(order_id, promo_code=code)
        return self.recount(order_id)

    # --- ordering

    @write
    def place_order(self, order_id: OrderId, tip: Tip = 0, drop_off: DropOff = "hand_to_me") -> Order:
        """Send a cart to the restaurant and charge the customer."""
        cart = self._order(order_id, "cart")
        restaurant, address = self.restaurants.get(cart.restaurant_id), self.addresses.get(cart.address_id)
        require(_is_open(restaurant, self.now), "failed_precondition", f"{restaurant.name} is closed until {restaurant.opens:02}:00")
        distance = _distance_in_range(restaurant, address)
        missing = restaurant.minimum_order - cart.subtotal
        require(missing <= 0, "failed_precondition", f"{restaurant.name} asks for {missing} cents more: add items to {order_id} first")
        for item in self.order_items.where(order_id=order_id):
            available = self.menu_items.get(item.menu_item_id).available
            require(available, "failed_precondition", f"{item.name} is sold out: remove {item.order_item_id} first")
        trip = self.trips.add(Trip(order_id, self._courier(), *_schedule(restaurant, distance, self.now)))
        due = {"tip": tip, "total": cart.total + tip, "drop_off": drop_off, "arrives": trip.arrives}
        return self.orders.update(order_id, status="placed", **due)

    @read
    def list_orders(self, query: Query | None = None, status: OrderStatus | None = None, limit: Limit = 20) -> Page[OrderLine]:
        """List the customer's orders and open carts, newest first; query looks at the restaurant and the dishes."""
        found = [o for o in self.orders if status in (None, o.status)]
        found = [
            o for o in found if not query or matches(query, o.restaurant, *(i.name for i in self.order_items.where(order_id=o.order_id)))
        ]
        return page(sorted(found, key=lambda o: (o.opened, o.order_id), reverse=True), limit, OrderLine)

    @read
    def get_order(self, order_id: OrderId) -> OrderDetails:
        """Show one order or cart: its dishes, its costs, where and when it arrives."""
        return OrderDetails(self.orders.get(order_id), self.order_items.where(order_id=order_id))

    @read
    def track_courier(self, order_id: OrderId) -> Tracking:
        """Show who brings a placed order, how far they still have to ride and when they come."""
        order = self._order(order_id, *MOVING)
        trip = self.trips.get(order_id)
        courier = self.couriers.get(trip.courier_id)
        distance = _distance(self.restaurants.get(order.restaurant_id), self.addresses.get(order.address_id))
        ride, left = trip.arrives - trip.leaves, trip.arrives - self.now
        distance_left = distance * min(left, ride) // ride
        return Tracking(order_id, courier.name, courier.vehicle, courier.phone, distance_left, -(-left.seconds // 60))

    @write(destructive=True)
    def cancel_order(self, order_id: OrderId) -> Order:
        """Drop a cart or call off an order; once the kitchen has begun, the food is not refunded."""
        order = self._order(order_id, "cart", "placed", "preparing")
        food = order.subtotal - order.discount
        refunded = {"cart": 0, "placed": order.total, "preparing": max(order.total - food, 0)}[order.status]
        return self.orders.update(order_id, status="cancelled", refunded=refunded, arrives=None)

    @write
    def rate_order(self, order_id: OrderId, stars: Stars, comment: Comment = "") -> Order:
        """Rate a delivered order, once, within 30 days."""
        order = self._order(order_id, "delivered")
        require(order.stars is None, "conflict", f"{order_id} was given {order.stars} stars already")
        require((self.now - order.opened).days <= 30, "failed_precondition", f"{order_id} is more than 30 days old")
        return self.orders.update(order_id, stars=stars, comment=comment)

    @write
    def reorder(self, order_id: OrderId) -> Order:
        """Open a cart with the dishes of a past order, at today's prices and to the same address."""
        past = self._order(order_id, "delivered", "cancelled")
        free = self._cart_at(past.restaurant_id) is None
        require(free, "failed_precondition", f"a cart is still open at {past.restaurant}: place it or cancel it first")
        items = self.order_items.where(order_id=order_id)
        require(items, "failed_precondition", f"there was nothing in {order_id}: choose another order")
        cart = self._open_cart(past.restaurant_id, past.address_id)
        for item in items:
            self._put_in(cart.order_id, self.menu_items.get(item.menu_item_id), item.quantity, item.note)
        return self.recount(cart.order_id)

    # --- rules

    def elapse(self) -> None:
        for trip in [t for t in self.trips if self.orders.get(t.order_id).status in MOVING]:
            reached = sum(self.now >= moment for moment in (trip.starts, trip.leaves, trip.arrives))
            self.orders.update(trip.order_id, status=(*MOVING, "delivered")[reached])

    def recount(self, order_id: OrderId) -> Order:
        """Work out what a cart costs, from its dishes, its address and its promo code."""
        cart = self.orders.get(order_id)
        restaurant = self.restaurants.get(cart.restaurant_id)
        subtotal = sum(i.price * i.quantity for i in self.order_items.where(order_id=order_id))
        distance = _distance(restaurant, self.addresses.get(cart.address_id))
        delivery = _delivery_fee(restaurant, distance) if subtotal else 0
        service = min(subtotal // 10, 400)
        discount = _discount(self.promos.get(cart.promo_code), subtotal, delivery) if cart.promo_code else 0
        costs = {"subtotal": subtotal, "discount": discount, "delivery_fee": delivery, "service_fee": service}
        return self.orders.update(order_id, **costs, total=subtotal - discount + delivery + service)

    def _order(self, order_id: OrderId, *allowed: OrderStatus) -> Order:
        order = self.orders.get(order_id)
        wanted = " or ".join(allowed)
        require(order.status in allowed, "failed_precondition", f"{order_id} has the status {order.status}: this needs {wanted}")
        return order

    def _cart_at(self, restaurant_id: RestaurantId) -> Order | None:
        return next(iter(self.orders.where(restaurant_id=restaurant_id, status="cart")), None)

    def _open_cart(self, restaurant_id: RestaurantId, address_id: AddressId) -> Order:
        name = self.restaurants.get(restaurant_id).name
        return self.orders.add(Order(self.orders.mint(), restaurant_id, name, address_id, "cart", self.now))

    def _put_in(self, order_id: OrderId, dish: MenuItem, quantity: Portions, note: KitchenNote) -> OrderItem:
        require(dish.available, "resource_exhausted", f"{dish.name} ({dish.menu_item_id}) is sold out: choose another dish")
        for item in self.order_items.where(order_id=order_id, menu_item_id=dish.menu_item_id, note=note):
            together = item.quantity + quantity
            require(together <= MOST_PORTIONS, "resource_exhausted", f"{together} of {dish.name} is more than {MOST_PORTIONS}")
            return self.order_items.update(item.order_item_id, quantity=together)
        item_id = OrderItemId(self.order_items.mint())
        return self.order_items.add(OrderItem(item_id, order_id, dish.menu_item_id, dish.name, quantity, dish.price, note))

    def _courier(self) -> CourierId:
        """The courier who has least to do."""
        busy = [t.courier_id for t in self.trips if self.orders.get(t.order_id).status in MOVING]
        return min((c.courier_id for c in self.couriers), key=lambda c: (busy.count(c), c))

    def _dish_names(self, restaurant: Restaurant) -> list[str]:
        return [d.name for d in self.menu_items.where(restaurant_id=restaurant.restaurant_id)]


def _is_open(restaurant: Restaurant, now: Moment) -> bool:
    opens, closes = restaurant.opens, restaurant.closes
    return opens <= now.hour < closes if opens < closes else not closes <= now.hour < opens


def _distance(restaurant: Restaurant, address: Address) -> Metres:
    north = round((restaurant.latitude - address.latitude) * METRES_NORTH)
    east = round((restaurant.longitude - address.longitude) * METRES_EAST)
    return isqrt(north**2 + east**2)


def _distance_in_range(restaurant: Restaurant, address: Address) -> Metres:
    distance, within = _distance(restaurant, address), restaurant.delivers_within
    far = f"{restaurant.name} delivers within {within} m, and {address.address_id} ({address.label}) is {distance} m away"
    require(distance <= within, "failed_precondition", f"{far}: choose another address")
    return distance


def _schedule(restaurant: Restaurant, distance: Metres, placed: Moment) -> tuple[Moment, Moment, Moment]:
    """When the kitchen starts, the courier leaves and the food arrives: 2 minutes to accept, a ride of 300 m a minute."""
    starts = placed + timedelta(minutes=2)
    leaves = starts + timedelta(minutes=restaurant.preparation)
    return starts, leaves, leaves + timedelta(minutes=3 + distance // 300)


def _delivery_fee(restaurant: Restaurant, distance: Metres) -> Money:
    """The restaurant's own fee, and 60 cents for each kilometre begun beyond two."""
    return restaurant.delivery_fee + -(-max(distance - 2000, 0) // 1000) * 60


def _discount(promo: Promo, subtotal: Money, delivery: Money) -> Money:
    if subtotal < promo.minimum:
        return 0
    return {"percent": subtotal * promo.value // 100, "amount": min(promo.value, subtotal), "free_delivery": delivery}[promo.kind]
