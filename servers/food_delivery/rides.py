"""Where and when: opening hours, distances, how long a delivery takes and what it costs."""

from datetime import timedelta
from math import isqrt

from prove.servers import Moment, Money

from .records import Address, Metres, Restaurant

METRES_NORTH, METRES_EAST = 111_320, 66_450  # in one degree, at this city's latitude


def is_open(restaurant: Restaurant, now: Moment) -> bool:
    opens, closes = restaurant.opens, restaurant.closes
    return opens <= now.hour < closes if opens < closes else not closes <= now.hour < opens


def distance(restaurant: Restaurant, address: Address) -> Metres:
    north = round((restaurant.latitude - address.latitude) * METRES_NORTH)
    east = round((restaurant.longitude - address.longitude) * METRES_EAST)
    return isqrt(north**2 + east**2)


def reaches(restaurant: Restaurant, address: Address) -> bool:
    return distance(restaurant, address) <= restaurant.delivers_within


def schedule(restaurant: Restaurant, metres: Metres, placed: Moment) -> tuple[Moment, Moment, Moment]:
    """When the kitchen starts, the courier leaves and the food arrives: 2 minutes to accept, a ride of 300 m a minute."""
    starts = placed + timedelta(minutes=2)
    leaves = starts + timedelta(minutes=restaurant.preparation)
    return starts, leaves, leaves + timedelta(minutes=3 + metres // 300)


def delivery_fee(restaurant: Restaurant, metres: Metres) -> Money:
    """The restaurant's own fee, and 60 cents for each kilometre begun beyond two."""
    return restaurant.delivery_fee + -(-max(metres - 2000, 0) // 1000) * 60
