"""An online store for one signed-in customer. Money is in cents, tax included; the store ships from the United States."""

from datetime import UTC, date, datetime, time, timedelta

from prove.servers import Limit, Offset, Page, PersonName, Query, Server, brief, matches, newest, page, read, require, table, write
from .cards import brand_of, latest_expiry
from .prices import POSTAL_CODES, days_on_the_way, discounts, is_postal_code, lacks, refund_for, shipping_price, ships, ships_free
from .records import (
    Address, AddressId, AddressLabel, Basket, CardNumber, Cart, CartItem, CartItemId, Category, CategoryId, City, Comparison,
    Country, Coupon, CouponCode, Department, Expiry, GiftMessage, Grams, InStock, Money, Order, OrderDetails, OrderId, OrderItem,
    OrderItemId, OrderLine, OrderStatus, PaymentMethod, PaymentMethodId, Pieces, PostalCode, PriceLimit, Product, ProductDetails,
    ProductId, ProductLine, Reason, Return, Review, Shipment, ShippingOption, ShippingOptionId, ShippingQuote, Sort, Stars,
    Street, Tracking, Traits, Variant, VariantId,
)  # fmt: skip

DAYS_TO_RETURN, DAYS_UNTIL_RECEIVED = 30, 5
RESTOCKED_BY = 20  # pieces that come with a delivery to the warehouse
STORES_FAULT = ("damaged", "not_as_described")  # what is on final sale comes back for these alone


class Shopping(Server):
    """The catalogue, the cart, the orders and the returns of one customer of an online store."""

    category = "Commerce"

    categories = table(Category, "CAT-{}", start=1)
    products = table(Product, "PRD-{}", start=301)
    variants = table(Variant, "VAR-{}", start=3001)
    reviews = table(Review, "REV-{}", start=7001)
    baskets = table(Basket)
    cart_items = table(CartItem, "CRT-{}", start=81)
    coupons = table(Coupon)
    addresses = table(Address, "ADR-{}", start=1)
    payment_methods = table(PaymentMethod, "PAY-{}", start=1)
    shipping_options = table(ShippingOption, "SHP-{}", start=1)
    orders = table(Order, "ORD-{}", start=10021)
    order_items = table(OrderItem, "ITM-{}", start=40001)
    shipments = table(Shipment, "TRK-{}", start=550101)
    returns = table(Return, "RET-{}", start=601)

    # --- the catalogue

    @read
    def list_categories(self, department: Department | None = None) -> Page[Category]:
        """List the store's categories of products."""
        return page((c for c in self.categories if department in (None, c.department)), 50, Category)

    @read
    def search_products(
        self,
        query: Query | None = None,
        category_id: CategoryId | None = None,
        max_price: PriceLimit | None = None,
        in_stock: InStock = False,
        sort: Sort = "best_rated",
        limit: Limit = 10,
    ) -> Page[ProductLine]:
        """Find products; query looks at names, brands, descriptions and categories."""
        found = [p for p in self.products if self._is_about(p, query) and category_id in (None, p.category_id)]
        found = [p for p in found if (max_price is None or p.price <= max_price) and (not in_stock or self._available(p))]
        order = {"best_rated": lambda p: (-p.rating, -p.review_count, p.product_id), "cheapest": lambda p: (p.price, p.product_id)}
        return page(sorted(found, key=order[sort]), limit, ProductLine)

    @read
    def get_product(self, product_id: ProductId) -> ProductDetails:
        """Show one product with the variants that can be bought, their prices and stock."""
        return ProductDetails(self.variants.where(product_id=product_id), self.products.get(product_id))

    @read
    def list_reviews(self, product_id: ProductId, stars: Stars | None = None, limit: Limit = 10) -> Page[Review]:
        """List what customers wrote about a product, newest first."""
        found = [r for r in self.reviews.where(product_id=product_id) if stars in (None, r.stars)]
        return page(newest(found, lambda r: r.written), limit, Review)

    @read
    def compare_products(self, product_id: ProductId, other_product_id: ProductId) -> Comparison:
        """Set two products of one department side by side: price, rating, weight, warranty."""
        require(product_id != other_product_id, "invalid_argument", f"both are {product_id}: name two different products")
        first, second = self.products.get(product_id), self.products.get(other_product_id)
        here, there = (self.categories.get(p.category_id).department for p in (first, second))
        require(here == there, "invalid_argument", f"{product_id} is from {here}, {other_product_id} from {there}: compare within one")
        return Comparison(brief(first, Traits), brief(second, Traits))

    # --- the cart

    @read
    def get_cart(self) -> Cart:
        """Show what is in the cart and what it would cost."""
        return self._cart()

    @write
    def add_to_cart(self, variant_id: VariantId, quantity: Pieces = 1) -> Cart:
        """Put a variant of a product into the cart, or more of it."""
        variant = self.variants.get(variant_id)
        known = self.cart_items.where(variant_id=variant_id)
        wanted = quantity + sum(i.quantity for i in known)
        self._check_stock(variant, wanted)
        for item in known:
            self.cart_items.update(item.cart_item_id, quantity=wanted)
        if not known:
            name = self.products.get(variant.product_id).name
            self.cart_items.add(CartItem(self.cart_items.mint(), variant_id, name, variant.option, quantity, variant.price))
        return self._cart()

    @write(idempotent=True)
    def update_cart_item(self, cart_item_id: CartItemId, quantity: Pieces) -> Cart:
        """Change how many of something are in the cart."""
        self._check_stock(self.variants.get(self.cart_items.get(cart_item_id).variant_id), quantity)
        self.cart_items.update(cart_item_id, quantity=quantity)
        return self._cart()

    @write(destructive=True)
    def remove_from_cart(self, cart_item_id: CartItemId) -> Cart:
        """Take something out of the cart."""
        self.cart_items.remove(cart_item_id)
        return self._cart()

    @write
    def apply_coupon(self, code: CouponCode) -> Cart:
        """Use a coupon on the cart; a cart takes one coupon, and each works once."""
        coupon, cart = self.coupons.get(code), self._cart()
        require(cart.coupon_code is None, "failed_precondition", f"the cart has the coupon {cart.coupon_code}: remove it first")
        require(coupon.until >= self.today, "failed_precondition", f"{code} expired on {coupon.until}")
        used = [o.order_id for o in self.orders.where(coupon_code=code) if o.status != "cancelled"]
        require(not used, "conflict", f"{code} was used on {', '.join(used)} already")
        self._check_minimum(coupon, " first")
        return self._choose(coupon_code=code)

    @write(destructive=True)
    def remove_coupon(self) -> Cart:
        """Take the coupon off the cart."""
        require(self._cart().coupon_code, "failed_precondition", "the cart has no coupon")
        return self._choose(coupon_code=None)

    # --- where it goes and who pays

    @read
    def list_addresses(self, offset: Offset = 0) -> Page[Address]:
        """List the customer's saved addresses, fifty at a time."""
        return page(self.addresses, 50, Address, offset)

    @write
    def add_address(
        self, label: AddressLabel, recipient: PersonName, street: Street, city: City, postal_code: PostalCode, country: Country = "US"
    ) -> Address:
        """Save an address to ship to."""
        taken = [a.address_id for a in self.addresses if a.label.casefold() == label.casefold()]
        require(not taken, "conflict", f"{', '.join(taken)} is called {label!r} already: choose another label")
        misspelt = f"{postal_code} is no postal code of {country}: write it like {POSTAL_CODES[country][1]}, or change the country"
        require(is_postal_code(postal_code, country), "invalid_argument", misspelt)
        return self.addresses.add(Address(self.addresses.mint(), label, recipient, street, city, postal_code, country))

    @read
    def list_payment_methods(self, offset: Offset = 0) -> Page[PaymentMethod]:
        """List the customer's cards and gift cards, fifty at a time."""
        return page(self.payment_methods, 50, PaymentMethod, offset)

    @write
    def add_payment_method(self, card_number: CardNumber, expires: Expiry) -> PaymentMethod:
        """Save a payment card; only its last four digits are kept."""
        brand = brand_of(card_number)
        require(brand, "invalid_argument", "that is no number of a Visa, Mastercard, Amex or Discover card: check the digits")
        require(expires >= f"{self.today:%Y-%m}", "failed_precondition", f"the card expired in {expires}: add another")
        wrong = f"no card works until {expires}: check the month, {latest_expiry(self.today)} is the latest there can be"
        require(expires <= latest_expiry(self.today), "invalid_argument", wrong)
        known = self.payment_methods.where(brand=brand, last_four=card_number[-4:], expires=expires)
        require(not known, "conflict", f"that card is saved already, as {', '.join(m.payment_method_id for m in known)}")
        return self.payment_methods.add(PaymentMethod(self.payment_methods.mint(), brand, card_number[-4:], expires))

    @read
    def get_shipping_options(self, address_id: AddressId | None = None) -> Page[ShippingQuote]:
        """List how the cart can be shipped to an address (to the first saved one if none is given), with price and day."""
        self._filled_cart()
        address = self.addresses.get(address_id) if address_id else next(iter(self.addresses))
        return page((self._quote(o, address) for o in self._offered(address)), 50, ShippingQuote)

    @write(idempotent=True)
    def set_shipping_option(self, address_id: AddressId, shipping_option_id: ShippingOptionId) -> Cart:
        """Choose where the cart is to go, and how."""
        self._filled_cart()
        self._check_shipping(self.addresses.get(address_id), self.shipping_options.get(shipping_option_id))
        return self._choose(address_id=address_id, shipping_option_id=shipping_option_id)

    @write
    def checkout(self, payment_method_id: PaymentMethodId, gift_message: GiftMessage = "") -> Order:
        """Buy what is in the cart, and charge a payment method."""
        cart = self._filled_cart()
        for item in cart.items:
            self._check_still_there(item)
        require(cart.shipping_option_id, "failed_precondition", "no shipping option is set for the cart: set one first")
        address, option = self.addresses.get(cart.address_id), self.shipping_options.get(cart.shipping_option_id)
        self._check_shipping(address, option)
        if coupon := self._coupon():
            self._check_minimum(coupon, ", or remove the coupon first")
        self._charge(self.payment_methods.get(payment_method_id), cart.total)
        choices = (address.address_id, option.shipping_option_id, payment_method_id, cart.coupon_code)
        costs = (cart.subtotal, cart.discount, cart.shipping, cart.total)
        order = self.orders.add(Order(self.orders.mint(), self.now, "confirmed", *choices, *costs, gift_message=gift_message))
        for item, discount in zip(cart.items, discounts(coupon, self._lines()), strict=True):
            self._sell(item, discount, order)
        times = (leaves := self.now + timedelta(days=1), leaves + timedelta(days=days_on_the_way(option, address)))
        self.shipments.add(Shipment(self.shipments.mint(), order.order_id, option.carrier, *times))
        for item in cart.items:
            self.cart_items.remove(item.cart_item_id)
        self._choose(coupon_code=None, address_id=None, shipping_option_id=None)
        return order

    # --- orders

    @read
    def list_orders(
        self, query: Query | None = None, status: OrderStatus | None = None, limit: Limit = 20, offset: Offset = 0
    ) -> Page[OrderLine]:
        """List the customer's orders, newest first; query looks at the products that were bought."""
        found = [o for o in self.orders if status in (None, o.status)]
        found = [o for o in found if any(self._is_about(self._product(i.variant_id), query) for i in self._bought(o.order_id))]
        return page(newest(found, lambda o: o.placed), limit, OrderLine, offset)

    @read
    def get_order(self, order_id: OrderId) -> OrderDetails:
        """Show one order: what was bought, where it goes, what it cost, what was sent back and refunded."""
        items = self._bought(order_id)
        returns = [r for i in items for r in self.returns.where(order_item_id=i.order_item_id)]
        return OrderDetails(self.orders.get(order_id), items, returns)

    @read
    def track_shipment(self, order_id: OrderId) -> Tracking:
        """Show where the parcel of an order is, once it has left the warehouse."""
        order = self.orders.get(order_id)
        require(order.status != "cancelled", "failed_precondition", f"{order_id} was cancelled: there is no parcel")
        shipment = self.shipments.where(order_id=order_id)[0]
        waiting = f"{order_id} is still in the warehouse: track it from {shipment.leaves:%Y-%m-%dT%H:%MZ} on"
        require(order.status != "confirmed", "failed_precondition", waiting)
        gone = min((self.now - shipment.leaves) / (shipment.arrives - shipment.leaves), 1)
        stage = "delivered" if gone == 1 else "out_for_delivery" if gone > 0.85 else "local_depot" if gone > 0.5 else "sorting_centre"
        return Tracking(order_id, shipment.tracking_number, shipment.carrier, stage, shipment.arrives.date())

    @write(destructive=True)
    def cancel_order(self, order_id: OrderId) -> Order:
        """Cancel an order that has not left the warehouse, for a full refund."""
        order = self.orders.get(order_id)
        require(order.status != "cancelled", "failed_precondition", f"{order_id} is cancelled already")
        gone = f"{order_id} has left the warehouse: return its items once they are there"
        require(order.status == "confirmed", "failed_precondition", gone)
        for item in self._bought(order_id):
            self._restock(item.variant_id, item.quantity)
        for shipment in self.shipments.where(order_id=order_id):
            self.shipments.remove(shipment.tracking_number)
        self._refund(order, order.total)
        return self.orders.update(order_id, status="cancelled")

    @write
    def return_order_item(self, order_item_id: OrderItemId, reason: Reason, quantity: Pieces = 1) -> Return:
        """Send something back within 30 days of its delivery; the refund comes when the store has it."""
        item = self.order_items.get(order_item_id)
        status = self.orders.get(item.order_id).status
        require(status == "delivered", "failed_precondition", f"{item.order_id} is {status}: only what was delivered can be sent back")
        final = f"{item.name} is on final sale: it comes back only as {' or '.join(STORES_FAULT)}"
        require(reason in STORES_FAULT or self._product(item.variant_id).returnable, "failed_precondition", final)
        days = (self.now - self.shipments.where(order_id=item.order_id)[0].arrives).days
        require(days <= DAYS_TO_RETURN, "failed_precondition", f"{order_item_id} came {days} days ago: returns end after {DAYS_TO_RETURN}")
        left = item.quantity - item.returned
        require(quantity <= left, "resource_exhausted", f"only {left} of {order_item_id} can be sent back")
        self.order_items.update(order_item_id, returned=item.returned + quantity)
        return self.returns.add(Return(self.returns.mint(), order_item_id, quantity, reason, refund_for(item, quantity), self.now))

    # --- what happens by itself

    def due(self) -> datetime | None:
        orders = {o.order_id: o.status for o in self.orders}
        moments = [s.leaves for s in self.shipments if orders[s.order_id] == "confirmed"]
        moments += [s.arrives for s in self.shipments if orders[s.order_id] == "shipped"]
        moments += [_received(r) for r in self.returns.where(status="requested")]
        moments += [_midnight(v.restocked) for v in self.variants if v.restocked]
        if coupon := self._coupon():
            moments.append(_midnight(coupon.until + timedelta(days=1)))
        return min(moments, default=None)

    def elapse(self) -> None:
        for shipment in self.shipments:
            reached = (self.now >= shipment.leaves) + (self.now >= shipment.arrives)
            status = ("confirmed", "shipped", "delivered")[reached]
            if self.orders.get(shipment.order_id).status != status:
                self.orders.update(shipment.order_id, status=status)
        for sent in [r for r in self.returns.where(status="requested") if _received(r) <= self.now]:
            self._receive(sent)
        for variant in [v for v in self.variants if v.restocked and v.restocked <= self.today]:
            self.variants.update(variant.variant_id, stock=variant.stock + RESTOCKED_BY, restocked=None)
        if (coupon := self._coupon()) and coupon.until < self.today:
            self._choose(coupon_code=None)

    # --- rules

    def _cart(self) -> Cart:
        chosen, items, coupon, lines = self.baskets.one(), list(self.cart_items), self._coupon(), self._lines()
        subtotal, discount, shipping = sum(cost for _, cost in lines), sum(discounts(coupon, lines)), 0
        if items and chosen.shipping_option_id:
            option, address = self.shipping_options.get(chosen.shipping_option_id), self.addresses.get(chosen.address_id)
            shipping = 0 if ships_free(coupon, lines) else self._quote(option, address).price
        costs = (subtotal, discount, shipping, subtotal - discount + shipping)
        return Cart(items, chosen.coupon_code, chosen.address_id, chosen.shipping_option_id, *costs)

    def _filled_cart(self) -> Cart:
        cart = self._cart()
        require(cart.items, "failed_precondition", "the cart is empty: add something to it first")
        return cart

    def _choose(self, **choices: str | None) -> Cart:
        self.baskets.update(self.baskets.one().basket_id, **choices)
        return self._cart()

    def _coupon(self) -> Coupon | None:
        code = self.baskets.one().coupon_code
        return self.coupons.get(code) if code else None

    def _lines(self) -> list[tuple[CategoryId, Money]]:
        """The category and the cost of each thing in the cart."""
        return [(self._product(i.variant_id).category_id, i.price * i.quantity) for i in self.cart_items]

    def _check_minimum(self, coupon: Coupon, advice: str) -> None:
        missing = lacks(coupon, self._lines())
        where = f" in {self.categories.get(coupon.category_id).name}" if coupon.category_id else ""
        problem = f"{coupon.code} needs {coupon.minimum} cents{where}: add {missing} cents more{advice}"
        require(not missing, "failed_precondition", problem)

    def _product(self, variant_id: VariantId) -> Product:
        return self.products.get(self.variants.get(variant_id).product_id)

    def _is_about(self, product: Product, query: Query | None) -> bool:
        category = self.categories.get(product.category_id).name
        return matches(query, product.name, product.brand, product.description, category)

    def _available(self, product: Product) -> bool:
        return any(v.stock for v in self.variants.where(product_id=product.product_id))

    def _weight(self) -> Grams:
        return sum(self._product(i.variant_id).weight * i.quantity for i in self.cart_items)

    def _quote(self, option: ShippingOption, address: Address) -> ShippingQuote:
        price = shipping_price(option, address, self._weight())
        arrives = self.today + timedelta(days=1 + days_on_the_way(option, address))
        return ShippingQuote(option.shipping_option_id, option.name, option.carrier, price, arrives)

    def _check_shipping(self, address: Address, option: ShippingOption) -> None:
        weight, offered = self._weight(), self._offered(address)
        instead = ", ".join(f"{o.shipping_option_id} ({o.name})" for o in offered)
        advice = f"choose {instead}" if offered else "take something out of the cart, or choose another address"
        problem = f"{option.name} shipping can not take {weight} g to {address.country}: {advice}"
        require(option in offered, "failed_precondition", problem)

    def _offered(self, address: Address) -> list[ShippingOption]:
        return [o for o in self.shipping_options if ships(o, address, self._weight())]

    def _check_stock(self, variant: Variant, wanted: Pieces) -> None:
        more = f", and more come on {variant.restocked}" if variant.restocked else ""
        require(wanted <= variant.stock, "resource_exhausted", f"only {variant.stock} of {variant.variant_id} are in stock{more}")

    def _check_still_there(self, item: CartItem) -> None:
        left = self.variants.get(item.variant_id).stock
        advice = f"change {item.cart_item_id} to {left} or less" if left else f"remove {item.cart_item_id} first"
        require(item.quantity <= left, "failed_precondition", f"only {left} of {item.name} ({item.option}) are left: {advice}")

    def _charge(self, method: PaymentMethod, amount: Money) -> None:
        key = method.payment_method_id
        require(method.expires >= f"{self.today:%Y-%m}", "failed_precondition", f"{key} expired in {method.expires}: use another card")
        if method.balance is not None:
            left = method.balance - amount
            require(left >= 0, "resource_exhausted", f"{key} holds only {method.balance} of {amount} cents: use another card")
            self.payment_methods.update(key, balance=left)

    def _refund(self, order: Order, amount: Money) -> None:
        self.orders.update(order.order_id, refunded=order.refunded + amount)
        method = self.payment_methods.get(order.payment_method_id)
        if method.balance is not None:
            self.payment_methods.update(method.payment_method_id, balance=method.balance + amount)

    def _sell(self, item: CartItem, discount: Money, order: Order) -> None:
        self._restock(item.variant_id, -item.quantity)
        what = (item.variant_id, item.name, item.option, item.quantity, item.price, discount)
        self.order_items.add(OrderItem(self.order_items.mint(), order.order_id, *what))

    def _restock(self, variant_id: VariantId, pieces: int) -> None:
        self.variants.update(variant_id, stock=self.variants.get(variant_id).stock + pieces)

    def _receive(self, due: Return) -> None:
        item = self.order_items.get(due.order_item_id)
        self._restock(item.variant_id, 0 if due.reason == "damaged" else due.quantity)
        self._refund(self.orders.get(item.order_id), due.refund)
        self.returns.update(due.return_id, status="received")

    def _bought(self, order_id: OrderId) -> list[OrderItem]:
        return self.order_items.where(order_id=order_id)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _received(sent: Return) -> datetime:
    return sent.requested + timedelta(days=DAYS_UNTIL_RECEIVED)
