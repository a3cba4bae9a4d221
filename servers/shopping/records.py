"""Who and what is in the store: ids, what arguments mean, records, and the shapes of results. Money is in cents."""

from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, Meta, Moment, Money, PersonName, Record, Secret

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
PriceLimit = Annotated[int, Meta(gt=0, le=10**9, description="the highest price wanted, an amount in cents")]
InStock = Annotated[bool, Meta(description="true to see only products that can be had now")]
Sort = Annotated[Literal["best_rated", "cheapest"], Meta(description="which products come first")]
Stars = Annotated[int, Meta(ge=1, le=5, description="a rating out of five stars")]
Pieces = Annotated[int, Meta(ge=1, le=99, description="how many pieces")]
CouponCode = Annotated[str, Meta(pattern=r"^[A-Z0-9]{4,12}$", description="a coupon code, in capitals")]
AddressLabel = Annotated[str, Meta(min_length=1, max_length=30, description="what the customer calls the address")]
Street = Annotated[str, Meta(min_length=3, max_length=120, description="house number and street")]
City = Annotated[str, Meta(min_length=2, max_length=80, description="a town or city")]
PostalCode = Annotated[str, Meta(pattern=r"^[A-Z0-9][A-Z0-9 -]{2,9}$", description="a postal code, in capitals")]
Country = Annotated[Literal["US", "CA", "GB", "DE", "FR"], Meta(description="a country to which the store ships")]
CardNumber = Annotated[Secret[str], Meta(pattern=r"^\d{13,19}$", description="the whole number of a payment card, digits only")]
Expiry = Annotated[str, Meta(pattern=r"^20\d{2}-(0[1-9]|1[0-2])$", description="a month, YYYY-MM, the last in which the card works")]
CardBrand = Literal["visa", "mastercard", "amex", "discover", "gift"]
GiftMessage = Annotated[str, Meta(max_length=200, description="what to print on a card in the parcel")]
OrderStatus = Annotated[Literal["confirmed", "shipped", "delivered", "cancelled"], Meta(description="how far the order has come")]
Reason = Annotated[
    Literal["too_small", "too_big", "damaged", "not_as_described", "changed_mind"],
    Meta(description="why the customer sends it back"),
]
Grams = Annotated[int, Meta(ge=0, description="a weight in grams")]


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
    rating: float  # the mean of its reviews
    review_count: int
    weight: Grams
    warranty_months: int
    returnable: bool  # false: on final sale, comes back only if the store is at fault


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
    days: int  # on its way inside the country
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
    shipping: Money  # what was paid for it
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
    discount: Money = 0  # its share of what the order's coupon took off
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
    rating: float


class ProductDetails(Record):
    variants: list[Variant]
    product: Product


class Traits(Record):
    product_id: ProductId
    name: str
    price: Cents
    rating: float
    review_count: int
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
    returns: list[Return]


class Tracking(Record):
    order_id: OrderId
    tracking_number: str
    carrier: str
    stage: Literal["sorting_centre", "local_depot", "out_for_delivery", "delivered"]
    arrives: Day
