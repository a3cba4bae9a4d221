"""A city of some thirty kitchens, and a customer with a past: deliveries on the way, carts half full, codes that ran out.

The past is lived by the server's own tools, with a clock that moves.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from prove.servers.maker import Maker

from .records import Address, Courier, MenuItem, Order, Promo, Restaurant
from .rides import METRES_EAST, METRES_NORTH
from .tools import FoodDelivery

CENTRE = (53.3438, -6.2675)  # where cents are paid and the clocks show UTC in winter
NEIGHBOURHOODS = {  # metres north and east of the centre
    "Old Town": (200, 100),
    "Harbourside": (-600, -500),
    "Station Quarter": (300, 1400),
    "University": (900, -800),
    "Riverside": (-1300, 1100),
    "Northgate": (2600, 400),
    "Hillcrest": (3400, -3200),
}
ADDRESSES = (("home", "Old Town"), ("office", "Station Quarter"), ("gym", "University"), ("parents'", "Hillcrest"))
STREETS = ("Mill Lane", "Chapel Street", "Orchard Road", "Canal Walk", "Beech Avenue", "Station Road", "Queen Street", "Park Row")

KITCHENS = {  # a name that comes twice is a chain
    "american": ("Burger Barn", "Burger Barn", "Smokestack Grill"),
    "breakfast": ("Early Bird", "Copper Kettle", "Crumb & Co"),
    "chinese": ("Golden Wok", "Lucky Dumpling", "Jade Garden"),
    "indian": ("Saffron House", "Curry Corner", "Tandoor Nights"),
    "italian": ("Bella Napoli", "Bella Napoli", "Trattoria Lucia"),
    "japanese": ("Sakura Sushi", "Ramen Republic", "Bento Box"),
    "mediterranean": ("Olive & Thyme", "Falafel Palace", "Aegean Table"),
    "mexican": ("El Camino", "Taco Loco", "Casa Verde"),
    "thai": ("Bangkok Basil", "Thai Orchid", "Lemongrass"),
    "vegan": ("Green Bowl", "Beet Box", "Rooted"),
}
LATE = ("Smokestack Grill", "Tandoor Nights", "Trattoria Lucia", "Ramen Republic", "Lemongrass")  # dinner only, past midnight

V, VG, GF = ["vegetarian"], ["vegetarian", "vegan"], ["gluten_free"]
MENUS = {  # cuisine -> name, section, usual price, description, diets, allergens, calories
    "american": (
        ("Classic Cheeseburger", "mains", 1150, "beef patty, cheddar, pickles, house sauce", [], ["gluten", "milk", "eggs"], 780),
        ("Smoky Bacon Burger", "mains", 1320, "beef patty, bacon, onion rings, barbecue sauce", [], ["gluten", "milk"], 920),
        ("Buttermilk Chicken Sandwich", "mains", 1190, "fried chicken thigh, slaw, brioche", [], ["gluten", "milk", "eggs"], 810),
        ("Black Bean Burger", "mains", 1080, "black bean patty, avocado, tomato relish", VG, ["gluten", "soy"], 610),
        ("Loaded Fries", "sides", 690, "fries, cheddar sauce, spring onion", [*V, *GF], ["milk"], 640),
        ("Skinny Fries", "sides", 380, "twice-cooked potatoes, sea salt", [*VG, *GF], [], 390),
        ("Chicken Wings", "starters", 790, "eight wings, hot sauce, blue cheese dip", GF, ["milk"], 720),
        ("Mac and Cheese", "sides", 720, "macaroni, three cheeses, crumbs", V, ["gluten", "milk"], 680),
        ("Vanilla Milkshake", "drinks", 550, "vanilla ice cream, whole milk", [*V, *GF], ["milk"], 510),
        ("Pecan Pie", "desserts", 620, "a warm slice with cream", V, ["gluten", "nuts", "milk", "eggs"], 560),
    ),
    "breakfast": (
        ("Full Breakfast", "mains", 1180, "eggs, bacon, sausage, beans, toast", [], ["eggs", "gluten"], 890),
        ("Eggs Benedict", "mains", 1050, "poached eggs, ham, hollandaise, muffin", [], ["eggs", "gluten", "milk"], 640),
        ("Blueberry Pancakes", "mains", 920, "buttermilk pancakes, maple syrup", V, ["eggs", "gluten", "milk"], 690),
        ("Avocado Toast", "mains", 890, "sourdough, avocado, chilli, lime", VG, ["gluten"], 430),
        ("Almond Granola", "starters", 640, "oats, almonds, berries, oat yoghurt", VG, ["nuts", "gluten"], 410),
        ("Hash Browns", "sides", 390, "three crisp potato cakes", [*VG, *GF], [], 320),
        ("Cinnamon Bun", "desserts", 420, "a soft bun with cardamom icing", V, ["gluten", "milk", "eggs"], 460),
        ("Flat White", "drinks", 370, "double espresso, steamed milk", [*V, *GF], ["milk"], 120),
        ("Fresh Orange Juice", "drinks", 420, "pressed this morning", [*VG, *GF], [], 110),
    ),
    "chinese": (
        ("Kung Pao Chicken", "mains", 1190, "chicken, peanuts, dried chilli, Sichuan pepper", [], ["peanuts", "soy"], 690),
        ("Sweet and Sour Pork", "mains", 1150, "crisp pork, pineapple, peppers", [], ["gluten", "soy"], 760),
        ("Mapo Tofu", "mains", 990, "silken tofu, fermented beans, chilli oil", VG, ["soy"], 480),
        ("Beef Chow Mein", "mains", 1120, "wok-fried noodles, beef, bean sprouts", [], ["gluten", "soy", "eggs"], 710),
        ("Egg Fried Rice", "sides", 420, "jasmine rice, egg, peas", [*V, *GF], ["eggs"], 440),
        ("Steamed Greens", "sides", 520, "pak choi, garlic, ginger", [*VG, *GF], [], 120),
        ("Pork Dumplings", "starters", 680, "six pieces, black vinegar", [], ["gluten", "soy", "sesame"], 390),
        ("Vegetable Spring Rolls", "starters", 560, "four rolls, plum sauce", VG, ["gluten", "soy"], 310),
        ("Sesame Balls", "desserts", 480, "fried rice balls, red bean", VG, ["sesame"], 350),
        ("Jasmine Tea", "drinks", 290, "a pot for one", [*VG, *GF], [], 0),
    ),
    "indian": (
        ("Butter Chicken", "mains", 1290, "tandoori chicken, tomato, cream", GF, ["milk", "nuts"], 740),
        ("Lamb Rogan Josh", "mains", 1390, "slow-cooked lamb, Kashmiri chilli", GF, ["milk"], 690),
        ("Chana Masala", "mains", 990, "chickpeas, tomato, cumin", [*VG, *GF], [], 460),
        ("Palak Paneer", "mains", 1090, "spinach, fresh cheese, fenugreek", [*V, *GF], ["milk"], 520),
        ("Vegetable Biryani", "mains", 1120, "basmati rice, saffron, cashews", [*V, *GF], ["nuts", "milk"], 610),
        ("Garlic Naan", "sides", 350, "from the clay oven", V, ["gluten", "milk"], 290),
        ("Pilau Rice", "sides", 340, "basmati, cardamom, bay", [*VG, *GF], [], 310),
        ("Onion Bhaji", "starters", 520, "four fritters, mint chutney", [*VG, *GF], [], 280),
        ("Lamb Samosas", "starters", 590, "two pastries, tamarind", [], ["gluten"], 340),
        ("Mango Lassi", "drinks", 410, "yoghurt, Alphonso mango", [*V, *GF], ["milk"], 220),
        ("Gulab Jamun", "desserts", 490, "milk dumplings in rose syrup", V, ["milk", "gluten"], 380),
    ),
    "italian": (
        ("Margherita Pizza", "mains", 1090, "tomato, mozzarella, basil", V, ["gluten", "milk"], 820),
        ("Pepperoni Pizza", "mains", 1290, "tomato, mozzarella, spicy salami", [], ["gluten", "milk"], 960),
        ("Marinara Pizza", "mains", 950, "tomato, garlic, oregano", VG, ["gluten"], 690),
        ("Spaghetti Carbonara", "mains", 1240, "guanciale, egg yolk, pecorino", [], ["gluten", "eggs", "milk"], 850),
        ("Lasagne", "mains", 1280, "beef ragu, bechamel", [], ["gluten", "milk", "eggs"], 790),
        ("Mushroom Risotto", "mains", 1190, "carnaroli rice, porcini, aged cheese", [*V, *GF], ["milk"], 640),
        ("Garlic Bread", "starters", 490, "ciabatta, garlic butter", V, ["gluten", "milk"], 380),
        ("Burrata Salad", "starters", 890, "burrata, tomatoes, basil oil", [*V, *GF], ["milk"], 420),
        ("Rocket Salad", "sides", 450, "rocket, shaved cheese, lemon", [*V, *GF], ["milk"], 160),
        ("Tiramisu", "desserts", 620, "mascarpone, espresso, cocoa", V, ["eggs", "milk", "gluten"], 470),
        ("San Pellegrino", "drinks", 280, "half a litre", [*VG, *GF], [], 0),
    ),
    "japanese": (
        ("Salmon Nigiri", "starters", 780, "four pieces", GF, ["fish"], 220),
        ("California Roll", "mains", 920, "crab, avocado, cucumber, eight pieces", [], ["shellfish", "sesame", "soy"], 360),
        ("Spicy Tuna Roll", "mains", 990, "tuna, chilli mayonnaise, eight pieces", [], ["fish", "eggs", "soy"], 390),
        ("Tonkotsu Ramen", "mains", 1340, "pork broth, noodles, marinated egg", [], ["gluten", "eggs", "soy"], 780),
        ("Miso Ramen", "mains", 1250, "miso broth, tofu, sweetcorn", VG, ["gluten", "soy"], 620),
        ("Chicken Katsu Curry", "mains", 1220, "breaded chicken, curry sauce, rice", [], ["gluten", "eggs"], 880),
        ("Edamame", "sides", 430, "sea salt", [*VG, *GF], ["soy"], 150),
        ("Prawn Gyoza", "starters", 720, "six dumplings, ponzu", [], ["gluten", "shellfish", "soy"], 310),
        ("Matcha Mochi", "desserts", 540, "three pieces", [*V, *GF], ["milk"], 260),
        ("Green Tea", "drinks", 280, "sencha", [*VG, *GF], [], 0),
    ),
    "mediterranean": (
        ("Chicken Shawarma Wrap", "mains", 1020, "chicken, garlic sauce, pickles", [], ["gluten", "milk"], 680),
        ("Falafel Wrap", "mains", 920, "falafel, tahini, salad", VG, ["gluten", "sesame"], 590),
        ("Lamb Kofta", "mains", 1290, "two skewers, bulgur, yoghurt", [], ["gluten", "milk"], 730),
        ("Moussaka", "mains", 1180, "aubergine, lamb, bechamel", [], ["milk", "eggs", "gluten"], 690),
        ("Grilled Sea Bass", "mains", 1590, "whole fish, lemon, oregano", GF, ["fish"], 520),
        ("Greek Salad", "starters", 780, "feta, olives, tomato, cucumber", [*V, *GF], ["milk"], 310),
        ("Hummus", "starters", 560, "chickpeas, tahini, warm pita", VG, ["sesame", "gluten"], 390),
        ("Halloumi Fries", "sides", 690, "fried cheese, pomegranate", V, ["milk", "gluten"], 480),
        ("Baklava", "desserts", 490, "pistachio, honey", V, ["nuts", "gluten"], 410),
        ("Mint Lemonade", "drinks", 380, "fresh mint, lemon", [*VG, *GF], [], 140),
    ),
    "mexican": (
        ("Carnitas Tacos", "mains", 1050, "three tacos, slow-cooked pork, salsa verde", GF, [], 620),
        ("Baja Fish Tacos", "mains", 1120, "three tacos, battered cod, lime crema", [], ["fish", "gluten", "milk"], 660),
        ("Chicken Burrito", "mains", 1080, "chicken, rice, beans, salsa", [], ["gluten"], 790),
        ("Bean Burrito", "mains", 960, "black beans, rice, peppers, guacamole", VG, ["gluten"], 680),
        ("Beef Enchiladas", "mains", 1240, "corn tortillas, beef, red chilli sauce", GF, ["milk"], 750),
        ("Cheese Quesadilla", "starters", 750, "flour tortilla, two cheeses", V, ["gluten", "milk"], 520),
        ("Guacamole and Chips", "starters", 690, "avocado, lime, corn chips", [*VG, *GF], [], 480),
        ("Elote", "sides", 480, "grilled corn, cotija, chilli", [*V, *GF], ["milk"], 290),
        ("Churros", "desserts", 550, "cinnamon sugar, chocolate sauce", V, ["gluten", "milk", "eggs"], 430),
        ("Horchata", "drinks", 390, "rice, almond, cinnamon", [*VG, *GF], ["nuts"], 180),
    ),
    "thai": (
        ("Pad Thai", "mains", 1150, "rice noodles, prawns, egg, tamarind, peanuts", GF, ["peanuts", "eggs", "fish", "shellfish"], 690),
        ("Green Curry", "mains", 1190, "chicken, coconut milk, Thai basil", GF, ["fish"], 640),
        ("Massaman Beef", "mains", 1290, "beef, potatoes, peanuts, star anise", GF, ["peanuts", "fish"], 760),
        ("Tofu Pad See Ew", "mains", 1060, "wide noodles, tofu, Chinese broccoli", VG, ["soy", "gluten"], 590),
        ("Jasmine Rice", "sides", 300, "steamed", [*VG, *GF], [], 260),
        ("Papaya Salad", "starters", 790, "green papaya, lime, dried shrimp", GF, ["fish", "shellfish", "peanuts"], 180),
        ("Chicken Satay", "starters", 740, "four skewers, peanut sauce", GF, ["peanuts"], 380),
        ("Tom Yum Soup", "starters", 820, "prawns, lemongrass, chilli", GF, ["shellfish", "fish"], 190),
        ("Mango Sticky Rice", "desserts", 620, "coconut cream", [*VG, *GF], [], 420),
        ("Thai Iced Tea", "drinks", 390, "black tea, condensed milk", [*V, *GF], ["milk"], 210),
    ),
    "vegan": (
        ("Buddha Bowl", "mains", 1120, "quinoa, roast squash, kale, tahini", [*VG, *GF], ["sesame"], 540),
        ("Poke Bowl", "mains", 1180, "marinated tofu, rice, edamame, seaweed", VG, ["soy", "sesame"], 580),
        ("Jackfruit Burger", "mains", 1140, "pulled jackfruit, slaw, bun", VG, ["gluten", "soy"], 620),
        ("Lentil Dal", "mains", 960, "red lentils, coconut, spinach", [*VG, *GF], [], 430),
        ("Sweet Potato Wedges", "sides", 520, "smoked paprika", [*VG, *GF], [], 340),
        ("Kale Caesar", "starters", 820, "kale, cashew dressing, croutons", VG, ["nuts", "gluten"], 360),
        ("Beetroot Hummus", "starters", 580, "seeded crackers", VG, ["sesame", "gluten"], 310),
        ("Chocolate Avocado Mousse", "desserts", 590, "cocoa, avocado, hazelnut", [*VG, *GF], ["nuts"], 390),
        ("Green Smoothie", "drinks", 560, "spinach, apple, banana, ginger", [*VG, *GF], [], 170),
        ("Kombucha", "drinks", 420, "ginger and lemon", [*VG, *GF], [], 60),
    ),
}  # fmt: skip
NOTES = ("no onions", "extra spicy", "sauce on the side", "well done, please")

Step = tuple[datetime, Callable[[], None]]  # what the customer did, and when


def populate(food: FoodDelivery, make: Maker) -> None:
    for label, neighbourhood in ADDRESSES:
        street = f"{make.between(1, 120)} {make.pick(STREETS)}"
        food.addresses.add(Address(food.addresses.mint(), label, street, neighbourhood, *_place(make, neighbourhood)))
    for cuisine, names in KITCHENS.items():
        areas = make.some(list(NEIGHBOURHOODS), len(names))
        for name, neighbourhood in zip(names, areas, strict=True):
            _restaurant(food, make, name, cuisine, neighbourhood)
    for _ in range(9):
        vehicle = make.pick(("bicycle", "bicycle", "scooter", "car"))
        food.couriers.add(Courier(food.couriers.mint(), make.person(), vehicle, f"020 91{make.digits(1)} {make.digits(4)}"))
    _promos(food, make)
    _live(food, make)
    _sell_out(food, make)


def _place(make: Maker, neighbourhood: str) -> tuple[float, float]:
    north, east = (metres + make.between(-350, 350) for metres in NEIGHBOURHOODS[neighbourhood])
    return round(CENTRE[0] + north / METRES_NORTH, 5), round(CENTRE[1] + east / METRES_EAST, 5)


def _restaurant(food: FoodDelivery, make: Maker, name: str, cuisine: str, neighbourhood: str) -> None:
    opens, closes = (17, 2) if name in LATE else (make.pick((7, 8, 8, 11)), make.between(21, 23))
    if cuisine == "breakfast":
        opens, closes = 6, make.between(14, 16)
    place = _place(make, neighbourhood)
    restaurant = Restaurant(
        restaurant_id=food.restaurants.mint(),
        name=name,
        cuisine=cuisine,
        neighbourhood=neighbourhood,
        rating=make.between(32, 49) / 10,
        opens=opens,
        closes=closes,
        minimum_order=make.between(1000, 2000, 250),
        delivery_fee=make.between(0, 350, 50),
        delivers_within=make.between(2500, 5500, 500),
        preparation=make.between(15, 40, 5),
        latitude=place[0],
        longitude=place[1],
    )
    food.restaurants.add(restaurant)
    for dish, section, usual_price, description, diets, allergens, calories in make.some(MENUS[cuisine], make.between(8, 10)):
        price = usual_price + make.between(-80, 120, 10)
        ids = food.menu_items.mint(), restaurant.restaurant_id
        food.menu_items.add(MenuItem(*ids, dish, section, price, description, diets, allergens, calories, available=True))


def _promos(food: FoodDelivery, make: Maker) -> None:
    soon = make.between(1, 6)
    for promo in (
        Promo("WELCOME50", "percent", 50, 1000, make.day(90), first_order_only=True),
        Promo("TASTY10", "percent", 10, 1500, make.day(30)),
        Promo("LUNCH20", "percent", 20, 2500, make.day(soon)),
        Promo("FIVEOFF", "amount", 500, 2000, make.day(14)),
        Promo("TENOFF40", "amount", 1000, 4000, make.day(45)),
        Promo("FREERIDE", "free_delivery", 0, 1200, make.day(10)),
        Promo("SPRING15", "percent", 15, 1500, make.day(-12)),
        Promo("THANKYOU", "amount", 300, 1000, make.day(60)),
    ):
        food.promos.add(promo)


def _live(food: FoodDelivery, make: Maker) -> None:
    """Two months of dinners, and this morning: orders in every stage, and carts."""
    near, open_now = _near(food, open_now=False), make.shuffled(_near(food, open_now=True))
    busy, waiting = open_now[:4], open_now[4:9]
    steps = [
        *_dinners(food, make, [r for r in near if r not in waiting and r.cuisine != "breakfast"]),
        *_on_the_way(food, make, busy),
        *_carts(food, make, waiting),
    ]
    if late := [r for r in near if r.name in LATE]:  # open for dinner only
        steps.append((make.moment(-1, 23), partial(_fill, food, make, make.pick(late), 3)))
    for moment, step in sorted(steps, key=lambda s: s[0]):
        food.live_until(moment)
        step()
    food.live_until(make.start)


def _near(food: FoodDelivery, open_now: bool) -> list[Restaurant]:
    """Kitchens that deliver to the customer's home."""
    home = next(iter(food.addresses)).address_id
    reached = {line.restaurant_id for line in food.search_restaurants(address_id=home, open_now=open_now, limit=50).items}
    return [r for r in food.restaurants if r.restaurant_id in reached]


def _dinners(food: FoodDelivery, make: Maker, kitchens: list[Restaurant]) -> list[Step]:
    """Some were rated the next morning; one was called off at once, one when the kitchen had begun."""
    steps: list[Step] = []
    for ago in (58, 47, 40, 33, 25, 19, 14, 12, 6, 3, 1):
        kitchen, opened = make.pick(kitchens), make.moment(-ago, make.between(17, 20), make.between(0, 45))
        code = {58: "THANKYOU", 40: "TENOFF40"}.get(ago)
        steps += _ordered(food, make, kitchen, opened, opened + timedelta(minutes=make.between(3, 12)), code)
        if ago in (40, 14):
            steps.append((steps[-1][0] + timedelta(minutes=6 if ago == 40 else 1), partial(_call_off, food, kitchen)))
        elif make.chance(0.4):
            steps.append((make.moment(1 - ago, 7), partial(_rate, food, make)))
    return steps


def _on_the_way(food: FoodDelivery, make: Maker, kitchens: list[Restaurant]) -> list[Step]:
    """This morning's orders: one was just placed, one is in the kitchen, two have left it."""
    steps: list[Step] = []
    for number, kitchen in enumerate(kitchens):
        minutes = (1, make.between(4, kitchen.preparation), kitchen.preparation + 3, kitchen.preparation + 4)[number]
        placed = make.start - timedelta(minutes=minutes)
        steps += _ordered(food, make, kitchen, placed - timedelta(minutes=make.between(2, 9)), placed)
    return steps


def _carts(food: FoodDelivery, make: Maker, kitchens: list[Restaurant]) -> list[Step]:
    """Three that are ready to be ordered, some with a code on the first, one too small, one forgotten and empty."""
    codes = ("LUNCH20" if make.chance(0.4) else None, None, None, None, None)
    carts = zip(kitchens, ((0, 4), (0, 5), (-1, 4), (0, 1), (-2, 0)), codes, strict=False)
    return [(make.moment(ago, 8, 40), partial(_fill, food, make, kitchen, dishes, code)) for kitchen, (ago, dishes), code in carts]


def _ordered(
    food: FoodDelivery, make: Maker, kitchen: Restaurant, opened: datetime, placed: datetime, code: str | None = None
) -> list[Step]:
    fill, place = partial(_fill, food, make, kitchen, make.between(2, 4), code), partial(_place_order, food, make, kitchen)
    return [(opened, fill), (placed, place)]


def _fill(food: FoodDelivery, make: Maker, kitchen: Restaurant, dishes: int, code: str | None = None) -> None:
    """A cart of so many dishes, and more while it lacks something for the restaurant's minimum; with one dish or none it stays small."""
    menu = make.shuffled(food.menu_items.where(restaurant_id=kitchen.restaurant_id))
    if dishes < 2:
        cheapest = food.add_item(min(menu, key=lambda d: d.price).menu_item_id)
        if not dishes:
            food.remove_item(cheapest.order_item_id)
        return
    wanted = max(kitchen.minimum_order, food.promos.get(code).minimum if code else 0)
    for number, dish in enumerate(menu):
        if number < dishes or _cart(food, kitchen).subtotal < wanted:
            food.add_item(dish.menu_item_id, make.between(1, 2), make.pick(NOTES) if make.chance(0.2) else "")
    if code:
        food.apply_promo(_cart(food, kitchen).order_id, code)


def _cart(food: FoodDelivery, kitchen: Restaurant) -> Order:
    return food.orders.where(status="cart", restaurant_id=kitchen.restaurant_id)[0]


def _place_order(food: FoodDelivery, make: Maker, kitchen: Restaurant) -> None:
    food.place_order(_cart(food, kitchen).order_id, make.pick((0, 0, 200, 300, 500)))


def _call_off(food: FoodDelivery, kitchen: Restaurant) -> None:
    food.cancel_order(food.orders.where(restaurant_id=kitchen.restaurant_id)[-1].order_id)


def _rate(food: FoodDelivery, make: Maker) -> None:
    last = food.orders.where(status="delivered")[-1]
    food.rate_order(last.order_id, make.between(2, 5), make.pick(("", "Lovely food, and still hot.")))


def _sell_out(food: FoodDelivery, make: Maker) -> None:
    """Some dishes are gone today, a few of them for good."""
    for dish in food.menu_items:
        if make.chance(0.07):
            back = make.day(make.between(1, 5)) if make.chance(0.7) else None
            food.menu_items.update(dish.menu_item_id, available=False, back=back)
