"""Food delivery for one signed-in customer. Money is in cents, times of day are UTC; orders are charged to the card on file."""

from datetime import UTC, date, datetime, time, timedelta

from prove.servers import Limit, Offset, Page, Query, Server, matches, newest, page, read, require, table, write
from .bills import discount, refund, service_fee, uses_up
from .records import (
    MOST_PORTIONS, Address, AddressId, Comment, Courier, CourierId, Cuisine, Diet, DropOff, Estimate, KitchenNote, MenuItem,
    MenuItemId, MenuItemLine, Metres, OpenNow, Order, OrderDetails, OrderId, OrderItem, OrderItemId, OrderLine, OrderStatus,
    Portions, Promo, PromoCode, Restaurant, RestaurantId, RestaurantLine, Section, Stars, Tip, Tracking, Trip,
)  # fmt: skip
from .rides import delivery_fee, distance, is_open, reaches, schedule

MOVING = ("placed", "preparing", "out_for_delivery")
DAYS_TO_RATE = 30


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
        found = [r for r in self.restaurants if cuisine in (None, r.cuisine) and (not open_now or is_open(r, self.now))]
        found = [r for r in found if address is None or reaches(r, address)]
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
        """List the customer's saved addresses; the first within reach is used unless another is set."""
        return page(self.addresses, 50, Address)

    @read
    def get_delivery_estimate(self, restaurant_id: RestaurantId, address_id: AddressId) -> Estimate:
        """Estimate how long a restaurant's delivery to an address takes, and what it costs."""
        restaurant, address = self.restaurants.get(restaurant_id), self.addresses.get(address_id)
        metres = self._distance_in_range(restaurant, address)
        minutes = (schedule(restaurant, metres, self.now)[-1] - self.now).seconds // 60
        return Estimate(restaurant_id, address_id, metres, delivery_fee(restaurant, metres), minutes)

    # --- filling a cart

    @write
    def add_item(self, menu_item_id: MenuItemId, quantity: Portions = 1, note: KitchenNote = "") -> OrderItem:
        """Put a dish into the cart at its restaurant; the first dish opens the cart."""
        dish = self.menu_items.get(menu_item_id)
        cart = self._cart_at(dish.restaurant_id) or self._open_cart(self.restaurants.get(dish.restaurant_id))
        item = self._put_in(cart.order_id, dish, quantity, note)
        self.recount(cart.order_id)
        return item

    @write(destructive=True)
    def remove_item(self, order_item_id: OrderItemId, quantity: Portions | None = None) -> Order:
        """Take a dish out of a cart, or some portions of it; a promo code whose minimum is then missed comes off, unused."""
        item = self.order_items.get(order_item_id)
        self._order(item.order_id, "cart")
        left = item.quantity - (quantity or item.quantity)
        require(left >= 0, "invalid_argument", f"only {item.quantity} of {order_item_id} are in the cart: remove that many at most")
        if left:
            self.order_items.update(order_item_id, quantity=left)
        else:
            self.order_items.remove(order_item_id)
        return self.recount(item.order_id)

    @write(idempotent=True)
    def set_delivery_address(self, order_id: OrderId, address_id: AddressId) -> Order:
        """Choose where a cart is to be delivered; the delivery fee follows the distance."""
        cart = self._order(order_id, "cart")
        self._distance_in_range(self.restaurants.get(cart.restaurant_id), self.addresses.get(address_id))
        self.orders.update(order_id, address_id=address_id)
        return self.recount(order_id)

    @write
    def apply_promo(self, order_id: OrderId, code: PromoCode) -> Order:
        """Use a promo code on a cart, in place of any other; each code works once."""
        cart, promo = self._order(order_id, "cart"), self.promos.get(code)
        require(promo.until >= self.today, "failed_precondition", f"{code} expired on {promo.until}")
        known = self.orders.where(promo_code=code)
        used = [o.order_id for o in known if uses_up(o)]
        require(not used, "conflict", f"{code} was used for {', '.join(used)} already: choose another code")
        waits = [o for o in known if o.status == "cart"]
        require(cart not in waits, "conflict", f"{code} is on {order_id} already")
        require(not waits, "conflict", f"{code} is on another cart: cancel {', '.join(o.order_id for o in waits)} or choose another code")
        first = not promo.first_order_only or not any(uses_up(o) for o in self.orders)
        require(first, "permission_denied", f"{code} is for a customer's first order only")
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
        require(is_open(restaurant, self.now), "failed_precondition", f"{restaurant.name} is closed until {restaurant.opens:02}:00")
        metres = self._distance_in_range(restaurant, address)
        missing = restaurant.minimum_order - cart.subtotal
        require(missing <= 0, "failed_precondition", f"{restaurant.name} asks for {missing} cents more: add items to {order_id} first")
        for item in self.order_items.where(order_id=order_id):
            dish = self.menu_items.get(item.menu_item_id)
            require(dish.available, "failed_precondition", f"{_sold_out(dish)}: remove {item.order_item_id} first")
        trip = self.trips.add(Trip(order_id, self._courier(), *schedule(restaurant, metres, self.now)))
        due = {"tip": tip, "total": cart.total + tip, "drop_off": drop_off, "arrives": trip.arrives}
        return self.orders.update(order_id, status="placed", placed=self.now, **due)

    @read
    def list_orders(
        self, query: Query | None = None, status: OrderStatus | None = None, limit: Limit = 20, offset: Offset = 0
    ) -> Page[OrderLine]:
        """List the customer's orders and open carts, the last placed or opened first; query looks at the restaurant and the dishes."""
        found = [o for o in self.orders if status in (None, o.status)]
        found = [o for o in found if not query or matches(query, o.restaurant, *(i.name for i in self._dishes(o.order_id)))]
        return page(newest(found, lambda o: o.placed or o.opened), limit, OrderLine, offset)

    @read
    def get_order(self, order_id: OrderId) -> OrderDetails:
        """Show one order or cart: its dishes, its costs, where and when it arrives."""
        return OrderDetails(self.orders.get(order_id), self._dishes(order_id))

    @read
    def track_courier(self, order_id: OrderId) -> Tracking:
        """Show who brings a placed order, how far they still have to ride and when they come."""
        order = self._order(order_id, *MOVING)
        trip = self.trips.get(order_id)
        courier = self.couriers.get(trip.courier_id)
        metres = distance(self.restaurants.get(order.restaurant_id), self.addresses.get(order.address_id))
        ride, left = trip.arrives - trip.leaves, trip.arrives - self.now
        metres_left = metres * min(left, ride) // ride
        return Tracking(order_id, courier.name, courier.vehicle, courier.phone, metres_left, -(-left.seconds // 60))

    @write(destructive=True)
    def cancel_order(self, order_id: OrderId) -> Order:
        """Drop a cart or call off an order; once the kitchen has begun, the food is not refunded."""
        order = self._order(order_id, "cart", "placed", "preparing")
        if order.placed:
            self.trips.remove(order_id)
        return self.orders.update(order_id, status="cancelled", refunded=refund(order, self._promo(order)), arrives=None)

    @write
    def rate_order(self, order_id: OrderId, stars: Stars, comment: Comment = "") -> Order:
        """Rate a delivered order, once, within 30 days of its delivery."""
        order = self._order(order_id, "delivered")
        require(order.stars is None, "conflict", f"{order_id} was given {order.stars} stars already")
        days = (self.now - self.trips.get(order_id).arrives).days
        require(days <= DAYS_TO_RATE, "failed_precondition", f"{order_id} came {days} days ago: ratings end after {DAYS_TO_RATE}")
        return self.orders.update(order_id, stars=stars, comment=comment)

    @write
    def reorder(self, order_id: OrderId) -> Order:
        """Open a cart with the dishes of a past order, at today's prices and to the same address."""
        past = self._order(order_id, "delivered", "cancelled")
        open_cart, items = self._cart_at(past.restaurant_id), self._dishes(order_id)
        taken = f"{open_cart and open_cart.order_id} is still open at {past.restaurant}: place it or cancel it first"
        require(open_cart is None, "failed_precondition", taken)
        require(items, "failed_precondition", f"there was nothing in {order_id}: choose another order")
        dishes = [self.menu_items.get(item.menu_item_id) for item in items]
        gone = ", ".join(_sold_out(d) for d in dishes if not d.available)
        require(not gone, "resource_exhausted", f"{gone}: add the other dishes one by one")
        cart = self._open_cart(self.restaurants.get(past.restaurant_id), past.address_id)
        for dish, item in zip(dishes, items, strict=True):
            self._put_in(cart.order_id, dish, item.quantity, item.note)
        return self.recount(cart.order_id)

    # --- what happens by itself

    def due(self) -> datetime | None:
        moments = [m for t in self._rides() for m in (t.starts, t.leaves, t.arrives) if m > self.now]
        moments += [_midnight(d.back) for d in self.menu_items if d.back]
        moments += [_midnight(p.until + timedelta(days=1)) for o in self.orders.where(status="cart") if (p := self._promo(o))]
        return min(moments, default=None)

    def elapse(self) -> None:
        for trip in self._rides():
            reached = sum(self.now >= moment for moment in (trip.starts, trip.leaves, trip.arrives))
            self.orders.update(trip.order_id, status=(*MOVING, "delivered")[reached])
        for dish in [d for d in self.menu_items if d.back and d.back <= self.today]:
            self.menu_items.update(dish.menu_item_id, available=True, back=None)
        for cart in self.orders.where(status="cart"):
            if (promo := self._promo(cart)) and promo.until < self.today:
                self.recount(cart.order_id)

    # --- rules

    def recount(self, order_id: OrderId) -> Order:
        """Work out what a cart costs, from its dishes, its address and its promo code, which comes off where it no longer works."""
        cart = self.orders.get(order_id)
        restaurant = self.restaurants.get(cart.restaurant_id)
        subtotal = sum(i.price * i.quantity for i in self._dishes(order_id))
        delivery = delivery_fee(restaurant, distance(restaurant, self.addresses.get(cart.address_id))) if subtotal else 0
        promo = self._promo(cart)
        if promo and (promo.until < self.today or subtotal < promo.minimum):
            promo = None
        off, service = discount(promo, subtotal, delivery), service_fee(subtotal)
        costs = {"subtotal": subtotal, "discount": off, "delivery_fee": delivery, "service_fee": service}
        return self.orders.update(order_id, promo_code=promo and promo.code, **costs, total=subtotal - off + delivery + service)

    def _promo(self, order: Order) -> Promo | None:
        return self.promos.get(order.promo_code) if order.promo_code else None

    def _dishes(self, order_id: OrderId) -> list[OrderItem]:
        return self.order_items.where(order_id=order_id)

    def _rides(self) -> list[Trip]:
        """The trips of the orders that are on their way, from the kitchen's start on."""
        return [t for t in self.trips if self.orders.get(t.order_id).status in MOVING]

    def _distance_in_range(self, restaurant: Restaurant, address: Address) -> Metres:
        metres, others = distance(restaurant, address), [a for a in self.addresses if reaches(restaurant, a)]
        instead = " or ".join(f"{a.address_id} ({a.label})" for a in others) or "another restaurant"
        far = f"{restaurant.name} delivers within {restaurant.delivers_within} m, and {address.address_id} is {metres} m away"
        require(address in others, "failed_precondition", f"{far}: choose {instead}")
        return metres

    def _order(self, order_id: OrderId, *allowed: OrderStatus) -> Order:
        order = self.orders.get(order_id)
        wanted = " or ".join(allowed)
        require(order.status in allowed, "failed_precondition", f"{order_id} has the status {order.status}: this needs {wanted}")
        return order

    def _cart_at(self, restaurant_id: RestaurantId) -> Order | None:
        return next(iter(self.orders.where(restaurant_id=restaurant_id, status="cart")), None)

    def _open_cart(self, restaurant: Restaurant, address_id: AddressId | None = None) -> Order:
        """A new cart, to go to the first address within reach unless another is wanted."""
        reached = [address_id] if address_id else [a.address_id for a in self.addresses if reaches(restaurant, a)]
        far = f"{restaurant.name} delivers to none of the customer's addresses: choose another restaurant"
        require(reached, "failed_precondition", far)
        return self.orders.add(Order(self.orders.mint(), restaurant.restaurant_id, restaurant.name, reached[0], "cart", self.now))

    def _put_in(self, order_id: OrderId, dish: MenuItem, quantity: Portions, note: KitchenNote) -> OrderItem:
        require(dish.available, "resource_exhausted", f"{_sold_out(dish)}: choose another dish")
        for item in self.order_items.where(order_id=order_id, menu_item_id=dish.menu_item_id, note=note):
            together = item.quantity + quantity
            many = f"{item.quantity} of {dish.name} are in the cart: {MOST_PORTIONS - item.quantity} more can be added at most"
            require(together <= MOST_PORTIONS, "resource_exhausted", many)
            return self.order_items.update(item.order_item_id, quantity=together)
        item_id = OrderItemId(self.order_items.mint())
        return self.order_items.add(OrderItem(item_id, order_id, dish.menu_item_id, dish.name, quantity, dish.price, note))

    def _courier(self) -> CourierId:
        """The courier who has least to do."""
        busy = [t.courier_id for t in self._rides()]
        return min((c.courier_id for c in self.couriers), key=lambda c: (busy.count(c), c))

    def _dish_names(self, restaurant: Restaurant) -> list[str]:
        return [d.name for d in self.menu_items.where(restaurant_id=restaurant.restaurant_id)]


def _sold_out(dish: MenuItem) -> str:
    until = f" until {dish.back}" if dish.back else ""
    return f"{dish.name} ({dish.menu_item_id}) is sold out{until}"


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
