"""What the digits of a payment card tell: whose it is, and whether they can be right."""

from prove.servers import Day

from .records import CardBrand, Expiry

LONGEST = 20  # years that a card can be good for


def brand_of(number: str) -> CardBrand | None:
    """The brand whose range a number is in, or None if it is in nobody's or its check digit is wrong."""
    size, first_two, first_three, first_four = len(number), int(number[:2]), int(number[:3]), int(number[:4])
    if not _passes_luhn(number):
        return None
    if number[0] == "4" and size in (13, 16, 19):
        return "visa"
    if size == 16 and (51 <= first_two <= 55 or 2221 <= first_four <= 2720):
        return "mastercard"
    if size == 15 and first_two in (34, 37):
        return "amex"
    if 16 <= size <= 19 and (first_four == 6011 or 644 <= first_three <= 649 or first_two == 65):
        return "discover"
    return None


def _passes_luhn(digits: str) -> bool:
    """Every second digit from the right counts double, and all digits sum up to a multiple of ten."""
    doubled = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(d // 10 + d % 10 for d in doubled) % 10 == 0


def latest_expiry(today: Day) -> Expiry:
    return f"{today.year + LONGEST}-{today.month:02}"
