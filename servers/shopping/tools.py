"""An online store for one signed-in customer. Money is in cents, tax included; the store ships from the United States."""

from datetime import timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Cents,
    Day,
    Limit,
    Meta,
    Moment,
    Money,
    Page,
    PersonName,
    Query,
    Record,
    Secret,
    Server,
    brief,
    matches,
    page,
    read,
    require,
    table,
    write,
)

CategoryId = NewType("CategoryId", str)
ProductId = NewType("ProductId", str)
VariantId = NewType("VariantId", str)
CartItemId = NewType("CartItemId", str)
AddressId = NewType("AddressId", str)
PaymentMethodId = NewType("PaymentMethodId", str)
ShippingOptionId = NewType("ShippingOptionId", str)
OrderId = NewType("OrderId", str)
OrderItemId = NewType("OrderItemId", str)
ReturnId = NewType("ReturnId", str)

Department = Annotated[Literal["beauty", "clothing", "electronics", "home", "outdoor", "toys"], Meta(description="a part of the store")]
PriceLimit = Annotated[int, Meta(gt=0, description="the highest price wanted, an amount in cents")]
InStock = Annotated[bool, Meta(description="true to see only products that can be had now")]
Sort = Annotated[Literal["best_rated", "cheapest"], Meta(description="which products come first")]
Stars = Annotated[int, Meta(ge=1, le=5, description="a rating out of five stars")]
Pieces = Annotated[int, Meta(ge=1, le=99, description="how many pieces")]
CouponCode = Annotated[str, Meta(pattern=r"^[A-Z0-9]{4,12}$", description="a coupon code, in capitals")]
AddressLabel = Annotated[str, Meta(min_length=1, max_length=30, description="what the customer calls the address")]
Street = Annotated[str, Meta(min_length=3, description="house number and street")]
City = Annotated[str, Meta(min_length=2, description="a town or city")]
PostalCode = Annotated[str, Meta(pattern=r"^[A-Z0-9][A-Z0-9 -]{2,9}$", description="a postal code, in capitals")]
Country = Annotated[Literal["US", "CA", "GB", "DE", "FR"], Meta(description="a country to which the store ships")]
CardNumber = Annotated[Secret[str], Meta(pattern=r"^\d{15,16}$", description="the whole number of a payment card, digits only")]
Expiry = Annotated[str, Meta(pattern=r"^20\d{2}-(0[1-9]|1[0-2])$", description="a month, YYYY-MM, the last in which the card works")]
CardBrand = Literal["visa", "mastercard", "amex", "gift"]
GiftMessage = Annotated[str, Meta(max_length=200, description="what to print on a card in the parcel")]
OrderStatus = Annotated[Literal["confirmed", "shipped", "delivered", "cancelled"], Meta(description="how far the order has come")]
Reason = Annotated[
    Literal["too_small", "too_big", "damaged", "not_as_described", "changed_mind"],
    Meta(description="why the customer sends it back"),
]
Grams = Annotated[int, Meta(ge=0, description="a weight in grams")]

HOME_COUNTRY = "US"
DAYS_TO_RETURN, DAYS_UNTIL_RECEIVED = 30, 5
RESTOCKED_BY = 20  # pieces that come with a delivery to the warehouse


class Category(Record):
    category_id: CategoryId
    department: Department
    name: str


class Product(Record):
    product_id: ProductId
    category_id: CategoryId
    name: str
    brand: str
    description: str
    price: Cents  # of its cheapest variant
    rating: float
    weight: Grams
    warranty_months: int
    returnable: bool


class Variant(Record):
    variant_id: VariantId
    product_id: ProductId
    option: str
    price: Cents
    stock: int
    restocked: Day | None = None  # when more will come


class Review(Record):
    review_id: str
    product_id: ProductId
    author: str
    stars: Stars
    text: str
    written: Day


class Basket(Record):
    """What the customer chose for the cart as a whole; there is one."""

    basket_id: str
    coupon_code: CouponCode | None = None
    address_id: AddressId | None = None
    shipping_option_id: ShippingOptionId | None = None


class CartItem(Record):
    cart_item_id: CartItemId
    variant_id: VariantId
    name: str
    option: str
    quantity: Pieces
    price: Cents


class Coupon(Record):
    code: CouponCode
    kind: Literal["percent", "amount", "free_shipping"]
    value: int  # per cent or cents
    minimum: Money
    until: Day
    category_id: CategoryId | None = None  # counts only what is in this category


class Address(Record):
    address_id: AddressId
    label: AddressLabel
    recipient: PersonName
    street: Street
    city: City
    postal_code: PostalCode
    country: Country


class PaymentMethod(Record):
    payment_method_id: PaymentMethodId
    brand: CardBrand
    last_four: str
    expires: Expiry
    balance: Money | None = None  # of a gift card


class ShippingOption(Record):
    shipping_option_id: ShippingOptionId
    name: str
    carrier: str
    days: int
    price: Money
    per_kilogram: Money
    abroad: Money | None  # on top, for other countries; None: not offered there
    heaviest: Grams


class Order(Record):
    order_id: OrderId
    placed: Moment
    status: OrderStatus
    address_id: AddressId
    shipping_option_id: ShippingOptionId
    payment_method_id: PaymentMethodId
    coupon_code: CouponCode | None
    subtotal: Money
    discount: Money
    shipping: Money
    total: Money
    refunded: Money = 0
    gift_message: GiftMessage = ""


class OrderItem(Record):
    order_item_id: OrderItemId
    order_id: OrderId
    variant_id: VariantId
    name: str
    option: str
    quantity: Pieces
    price: Cents
    returned: int = 0


class Shipment(Record):
    tracking_number: str
    order_id: OrderId
    carrier: str
    leaves: Moment
    arrives: Moment


class Return(Record):
    return_id: ReturnId
    order_item_id: OrderItemId
    quantity: Pieces
    reason: Reason
    refund: Money
    requested: Moment
    status: Literal["requested", "received"] = "requested"


class ProductLine(Record):
    product_id: ProductId
    name: str
    brand: str
    price: Cents


class ProductDetails(Record):
    variants: list[Variant]
    product: Product


class Traits(Record):
    product_id: ProductId
    name: str
    price: Cents
    rating: float
    weight: Grams
    warranty_months: int


class Comparison(Record):
    first: Traits
    second: Traits


class Cart(Record):
    items: list[CartItem]
    coupon_code: CouponCode | None
    address_id: AddressId | None
    shipping_option_id: ShippingOptionId | None
    subtotal: Money
    discount: Money
    shipping: Money
    total: Money


class ShippingQuote(Record):
    shipping_option_id: ShippingOptionId
    name: str
    carrier: str
    price: Money
    arrives: Day


class OrderLine(Record):
    order_id: OrderId
    placed: Moment
    status: OrderStatus


class OrderDetails(Record):
    order: Order
    items: list[OrderItem]


class Tracking(Record):
    order_id: OrderId
    tracking_number: str
    carrier: str
    stage: Literal["sorting_centre", "local_depot", "out_for_delivery", "delivered"]
    arrives: Day


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
        order = {"best_rated": lambda p: (-p.rating, p.product_id), "cheapest": lambda p: (p.price, p.product_id)}
        return page(sorted(found, key=order[sort]), limit, ProductLine)

    @read
    def get_product(self, product_id: ProductId) -> ProductDetails:
        """Show one product with the variants that can be bought, their prices and stock."""
        return ProductDetails(self.variants.where(product_id=product_id), self.products.get(product_id))

    @read
    def list_reviews(self, product_id: ProductId, stars: Stars | None = None, limit: Limit = 10) -> Page[Review]:
        """List what customers wrote about a product, newest first."""
        self.products.get(product_id)
        found = [r for r in self.reviews.where(product_id=product_id) if stars in (None, r.stars)]
        return page(sorted(found, key=lambda r: r.written, reverse=True), limit, Review)

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
        used = [o.order_id for o in self.orders if o.coupon_code == code and o.status != "cancelled"]
        require(not used, "conflict", f"{code} was used on {', '.join(used)} already")
        missing = coupon.minimum - self._counted(coupon)
        where = f" in {self.categories.get(coupon.category_id).name}" if coupon.category_id else ""
        require(missing <= 0, "failed_precondition", f"{code} needs {coupon.minimum} cents{where}: add {missing} cents more first")
        return self._choose(coupon_code=code)

    @write(destructive=True)
    def remove_coupon(self) -> Cart:
        """Take the coupon off the cart."""
        require(self._cart().coupon_code, "failed_precondition", "the cart has no coupon")
        return self._choose(coupon_code=None)

    # --- where it goes and who pays

    @read
    def list_addresses(self) -> Page[Address]:
        """List the customer's saved addresses."""
        return page(self.addresses, 50, Address)

    @write
    def add_address(
        self, label: AddressLabel, recipient: PersonName, street: Street, city: City, postal_code: PostalCode, country: Country = "US"
    ) -> Address:
        """Save an address to ship to."""
        taken = [a.address_id for a in self.addresses if a.label.casefold() == label.casefold()]
        require(not taken, "conflict", f"{', '.join(taken)} is called {label!r} already: choose another label")
        return self.addresses.add(Address(self.addresses.mint(), label, recipient, street, city, postal_code, country))

    @read
    def list_payment_methods(self) -> Page[PaymentMethod]:
        """List the customer's cards and gift cards."""
        return page(self.payment_methods, 50, PaymentMethod)

    @write
    def add_payment_method(self, card_number: CardNumber, expires: Expiry) -> PaymentMethod:
        """Save a payment card; only its last four digits are kept."""
        brand = {"3": "amex", "4": "visa", "5": "mastercard"}.get(card_number[0])
        require(brand and _is_card_number(card_number), "invalid_argument", "that is no valid card number: check the digits")
        require(expires >= f"{self.today:%Y-%m}", "failed_precondition", f"the card expired in {expires}: add another")
        known = self.payment_methods.where(brand=brand, last_four=card_number[-4:], expires=expires)
        require(not known, "conflict", f"that card is saved already, as {', '.join(m.payment_method_id for m in known)}")
        return self.payment_methods.add(PaymentMethod(self.payment_methods.mint(), brand, card_number[-4:], expires))

    @read
    def get_shipping_options(self, address_id: AddressId | None = None) -> Page[ShippingQuote]:
        """List how the cart can be shipped to an address (to the first saved one if none is given), with price and day."""
        address = self.addresses.get(address_id) if address_id else next(iter(self.addresses))
        self._filled_cart()
        quotes = (self._quote(o, address) for o in self.shipping_options if _ships(o, address, self._weight()))
        return page(quotes, 50, ShippingQuote)

    @write(idempotent=True)
    def set_shipping_option(self, address_id: AddressId, shipping_option_id: ShippingOptionId) -> Cart:
        """Choose where the cart is to go, and how."""
        self._filled_cart()
        self._check_shipping(self.addresses.get(address_id), self.shipping_options.get(shipping_option_id))
        return self._choose(address_id=address_id, shipping_option_id=shipping_option_id)

    @write
    def checkout(self, payment_method_id: PaymentMethodId, gift_message: GiftMessage = "") -> Order:
        """Buy what is in the cart, and charge a payment method."""
        cart, method = self._filled_cart(), self.payment_methods.get(payment_method_id)
        require(cart.shipping_option_id, "failed_precondition", "no shipping option is set for the cart: set one first")
        address, option = self.addresses.get(cart.address_id), self.shipping_options.get(cart.shipping_option_id)
        self._check_shipping(address, option)
        self._charge(method, cart.total)
        choices = (address.address_id, option.shipping_option_id, payment_method_id, cart.coupon_code)
        costs = (cart.subtotal, cart.discount, cart.shipping, cart.total)
        order = self.orders.add(Order(self.orders.mint(), self.now, "confirmed", *choices, *costs, gift_message=gift_message))
        for item in cart.items:
            self._sell(item, order)
        leaves = self.now + timedelta(days=1)
        times = (leaves, leaves + timedelta(days=_days(option, address)))
        self.shipments.add(Shipment(self.shipments.mint(), order.order_id, option.carrier, *times))
        self._choose(coupon_code=None, address_id=None, shipping_option_id=None)
        return order

    # --- orders

    @read
    def list_orders(self, query: Query | None = None, status: OrderStatus | None = None, limit: Limit = 20) -> Page[OrderLine]:
        """List the customer's orders, newest first; query looks at the products that were bought."""
        found = [o for o in self.orders if status in (None, o.status)]
        found = [o for o in found if any(self._is_about(self._product(i.variant_id), query) for i in self._bought(o.order_id))]
        return page(sorted(found, key=lambda o: (o.placed, o.order_id), reverse=True), limit, OrderLine)

    @read
    def get_order(self, order_id: OrderId) -> OrderDetails:
        """Show one order: what was bought, where it goes, what it cost, what was refunded."""
        return OrderDetails(self.orders.get(order_id), self._bought(order_id))

    @read
    def track_shipment(self, order_id: OrderId) -> Tracking:
        """Show where the parcel of an order is, once it has left the warehouse."""
        self._order(order_id, "shipped", "delivered")
        shipment = self.shipments.where(order_id=order_id)[0]
        gone = min((self.now - shipment.leaves) / (shipment.arrives - shipment.leaves), 1)
        stage = "delivered" if gone == 1 else "out_for_delivery" if gone > 0.85 else "local_depot" if gone > 0.5 else "sorting_centre"
        return Tracking(order_id, shipment.tracking_number, shipment.carrier, stage, shipment.arrives.date())

    @write(destructive=True)
    def cancel_order(self, order_id: OrderId) -> Order:
        """Cancel an order that has not left the warehouse, for a full refund."""
        order = self._order(order_id, "confirmed")
        for item in self._bought(order_id):
            self._restock(item.variant_id, item.quantity)
        self._refund(order, order.total)
        return self.orders.update(order_id, status="cancelled")

    @write
    def return_order_item(self, order_item_id: OrderItemId, reason: Reason, quantity: Pieces = 1) -> Return:
        """Send something back within 30 days of its delivery; the refund comes when the store has it."""
        item = self.order_items.get(order_item_id)
        order = self._order(item.order_id, "delivered")
        require(self._product(item.variant_id).returnable, "failed_precondition", f"{item.name} is on final sale: it can not be sent back")
        days = (self.now - self.shipments.where(order_id=item.order_id)[0].arrives).days
        require(days <= DAYS_TO_RETURN, "failed_precondition", f"{order_item_id} came {days} days ago: returns end after {DAYS_TO_RETURN}")
        left = item.quantity - item.returned
        require(quantity <= left, "resource_exhausted", f"only {left} of {order_item_id} can be sent back")
        self.order_items.update(order_item_id, returned=item.returned + quantity)
        refund = item.price * quantity * (order.subtotal - order.discount) // order.subtotal
        return self.returns.add(Return(self.returns.mint(), order_item_id, quantity, reason, refund, self.now))

    # --- rules

    def elapse(self) -> None:
        for shipment in self.shipments:
            if self.orders.get(shipment.order_id).status in ("confirmed", "shipped"):
                reached = (self.now >= shipment.leaves) + (self.now >= shipment.arrives)
                self.orders.update(shipment.order_id, status=("confirmed", "shipped", "delivered")[reached])
        for due in [r for r in self.returns.where(status="requested") if (self.now - r.requested).days >= DAYS_UNTIL_RECEIVED]:
            self._receive(due)
        for variant in [v for v in self.variants if v.restocked and v.restocked <= self.today]:
            self.variants.update(variant.variant_id, stock=variant.stock + RESTOCKED_BY, restocked=None)
        for basket in self.baskets:
            if basket.coupon_code and self.coupons.get(basket.coupon_code).until < self.today:
                self._choose(coupon_code=None)

    def _cart(self) -> Cart:
        chosen, items = self.baskets.one(), list(self.cart_items)
        subtotal, shipping = sum(i.price * i.quantity for i in items), 0
        if items and chosen.shipping_option_id:
            option, address = self.shipping_options.get(chosen.shipping_option_id), self.addresses.get(chosen.address_id)
            shipping = self._quote(option, address).price
        discount, saved = self._worth(self.coupons.get(chosen.coupon_code), shipping) if chosen.coupon_code else (0, 0)
        choices = (chosen.coupon_code, chosen.address_id, chosen.shipping_option_id)
        return Cart(items, *choices, subtotal, discount, shipping - saved, subtotal - discount + shipping - saved)

    def _filled_cart(self) -> Cart:
        cart = self._cart()
        require(cart.items, "failed_precondition", "the cart is empty: add something to it first")
        return cart

    def _choose(self, **choices: str | None) -> Cart:
        self.baskets.update(self.baskets.one().basket_id, **choices)
        return self._cart()

    def _counted(self, coupon: Coupon) -> Money:
        """What in the cart counts for a coupon."""
        wanted = coupon.category_id
        return sum(i.price * i.quantity for i in self.cart_items if wanted in (None, self._product(i.variant_id).category_id))

    def _worth(self, coupon: Coupon, shipping: Money) -> tuple[Money, Money]:
        """What a coupon takes off the goods and off the shipping."""
        counted = self._counted(coupon)
        if counted < coupon.minimum:
            return 0, 0
        percent, amount = counted * coupon.value // 100, min(coupon.value, counted)
        return {"percent": (percent, 0), "amount": (amount, 0), "free_shipping": (0, shipping)}[coupon.kind]

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
        abroad = option.abroad if option.abroad and address.country != HOME_COUNTRY else 0
        price = option.price + option.per_kilogram * -(-self._weight() // 1000) + abroad
        arrives = self.today + timedelta(days=1 + _days(option, address))
        return ShippingQuote(option.shipping_option_id, option.name, option.carrier, price, arrives)

    def _check_shipping(self, address: Address, option: ShippingOption) -> None:
        weight = self._weight()
        problem = f"{option.name} shipping can not take {weight} g to {address.country}: choose another shipping option"
        require(_ships(option, address, weight), "failed_precondition", problem)

    def _check_stock(self, variant: Variant, wanted: Pieces) -> None:
        more = f", and more come on {variant.restocked}" if variant.restocked else ""
        require(wanted <= variant.stock, "resource_exhausted", f"only {variant.stock} of {variant.variant_id} are in stock{more}")

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

    def _sell(self, item: CartItem, order: Order) -> None:
        variant = self.variants.get(item.variant_id)
        enough = item.quantity <= variant.stock
        require(enough, "failed_precondition", f"only {variant.stock} of {item.name} are left: change or remove {item.cart_item_id} first")
        self._restock(item.variant_id, -item.quantity)
        what = (item.variant_id, item.name, item.option, item.quantity, item.price)
        self.order_items.add(OrderItem(self.order_items.mint(), order.order_id, *what))
        self.cart_items.remove(item.cart_item_id)

    def _restock(self, variant_id: VariantId, pieces: int) -> None:
        self.variants.update(variant_id, stock=self.variants.get(variant_id).stock + pieces)

    def _receive(self, due: Return) -> None:
        item = self.order_items.get(due.order_item_id)
        self._restock(item.variant_id, due.quantity)
        self._refund(self.orders.get(item.order_id), due.refund)
        self.returns.update(due.return_id, status="received")

    def _bought(self, order_id: OrderId) -> list[OrderItem]:
        return self.order_items.where(order_id=order_id)

    def _order(self, order_id: OrderId, *allowed: OrderStatus) -> Order:
        order = self.orders.get(order_id)
        wanted = " or ".join(allowed)
        require(order.status in allowed, "failed_precondition", f"{order_id} has the status {order.status}: this needs {wanted}")
        return order


def _ships(option: ShippingOption, address: Address, weight: Grams) -> bool:
    return weight <= option.heaviest and (address.country == HOME_COUNTRY or option.abroad is not None)


def _days(option: ShippingOption, address: Address) -> int:
    """How long a parcel is on its way; customs take four days more."""
    return option.days + (0 if address.country == HOME_COUNTRY else 4)


def _is_card_number(digits: str) -> bool:
    """The Luhn check: every second digit from the right counts double, and all digits sum up to a multiple of ten."""
    doubled = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(d // 10 + d % 10 for d in doubled) % 10 == 0
