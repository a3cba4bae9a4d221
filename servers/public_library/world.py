"""A town's library: ten weeks of lending, played by its members, with late returns, queues, lapsed cards and a few things lost."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from prove.servers import ToolError
from prove.servers.maker import Maker

from .records import Copy, Member, Title
from .tools import CARD, PublicLibrary

NAMES = {  # medium -> what is lent
    "book": (
        "The Salt Road", "A House of Paper", "Nine Lanterns", "The Beekeeper's Map", "Winter Apples", "The Last Ferry", "Under the Linden",
        "The Quiet Orchard", "Letters to a Lighthouse", "The Copper Bridge", "Small Hours", "The Glassblower", "North of the River",
        "The Gardener's Almanac", "Bread and Fire", "A Short History of Rain", "The Clockmaker's Daughter", "Harbour Lights",
        "Foxglove Lane", "The Wooden Violin", "Night Train to Trieste", "The Cartographer", "Seven Bridges", "Moss and Stone",
        "The Lost Alphabet", "Birds of the Estuary", "Knots and Sails", "The Tin Whistle", "Owl Mountain", "The Pickle Jar",
    ),
    "audiobook": (
        "The Salt Road", "Small Hours", "Stories by the Stove", "The Cartographer", "Learn Portuguese in the Car", "The Sleepy Dragon",
        "Walking the Coast", "A Short History of Rain",
    ),
    "film": (
        "Harbour Lights", "The Last Ferry", "Snow on the Rails", "A Fistful of Clay", "The Lighthouse Twins", "Midsummer Garage",
        "The Moon Bakery", "Paper Planes", "Two Left Shoes", "The Great Turnip",
    ),
    "board_game": (
        "Harbour Master", "Cloud Shepherds", "The Orchard Game", "Vineyards", "Tunnel Rats", "Spice Caravan", "Castle Cats",
        "Penguin Party",
    ),
}  # fmt: skip
PRICES = {"book": (1200, 3600), "audiobook": (1500, 3000), "film": (1000, 2400), "board_game": (2400, 5600)}  # cents, from and to
DAYS = 70  # of lending before the world begins


def populate(library: PublicLibrary, make: Maker) -> None:
    _shelves(library, make)
    _members(library, make)
    for offset in range(-DAYS, 1):
        library.live_until(make.moment(offset, 8))
        _lending(library, make, offset)
    library.live_until(make.start)


def _shelves(library: PublicLibrary, make: Maker) -> None:
    """Some of every medium, several by the same hand; a few titles in more than one copy, some as a book and as a film."""
    authors = [make.person() for _ in range(34)]
    for medium, names in NAMES.items():
        low, high = PRICES[medium]
        for name in make.some(names, len(names) * 4 // 5):
            title = Title(library.titles.mint(), name, make.pick(authors), medium, make.between(1962, 2025), make.between(low, high, 50))
            library.titles.add(title)
            for _ in range(make.pick((1, 2, 2, 3, 3))):
                library.copies.add(Copy(library.copies.mint(), title.title_id))


def _members(library: PublicLibrary, make: Maker) -> None:
    """People with cards of every age, two of the same first name, some of whom have let theirs lapse."""
    people = [make.person() for _ in range(54)]
    while (namesake := f"{people[0].split()[0]} {make.faker.last_name()}") in people:
        pass
    people[1] = namesake
    for name in people:
        since = make.day(-make.between(DAYS + 1, 6 * 365))
        ends = since + CARD * make.between(1, 6)
        while ends < make.day(-200):  # a card that nobody renews is forgotten in the end
            ends += CARD
        kind = make.pick(("adult", "adult", "adult", "child", "senior"))
        library.members.add(Member(library.members.mint(), name, make.email(name), kind, since, ends))


def _lending(library: PublicLibrary, make: Maker, offset: int) -> None:
    """One day at the desk. Whoever brings something back does so in time or late, and few lose it."""
    for loan in library.loans.where(status="out"):
        left = (loan.due - library.today).days
        if make.chance(0.25 if left < -8 else 0.13 if left < 4 else 0.015):
            library.check_in(loan.copy_id)
        elif left < 2 and make.chance(0.12):
            _if_allowed(library.renew_loan, loan.loan_id)
        elif left < -20 and make.chance(0.04):
            library.report_lost(loan.loan_id)
    for hold in library.holds.where(status="ready"):
        if make.chance(0.2):
            _if_allowed(library.check_out, hold.copy_id or "", hold.member_id)
    members = [m for m in library.members if m.expires >= library.today]
    here = [c for c in library.copies if c.status == "on_shelf"]
    for copy in make.some(here, make.between(1, 4) if len(here) > 30 else 1):
        _if_allowed(library.check_out, copy.copy_id, make.pick(members).member_id)
    if make.chance(0.5):
        gone = [c for c in library.copies if c.status in ("on_loan", "set_aside")]
        _if_allowed(library.place_hold, make.pick(gone or here).title_id, make.pick(members).member_id)
    waiting = library.holds.where(status="waiting")
    if waiting and make.chance(0.03):
        library.cancel_hold(make.pick(waiting).hold_id)
    for fee in library.fees.where(status="open"):
        if fee.charged < library.today - timedelta(days=5) and make.chance(0.03):
            if make.chance(0.85):
                library.pay_fee(fee.fee_id)
            else:
                library.waive_fee(fee.fee_id, make.pick(("hardship", "illness", "first_time")))


def _if_allowed(tool: Callable[..., Any], *arguments: str) -> None:
    """What the rules refuse does not happen."""
    with suppress(ToolError):
        tool(*arguments)
