"""One household's books: some twenty categories and seven months of expenses, with a goal overdue and a category overspent."""

from datetime import date

from dateutil.relativedelta import relativedelta

from prove.servers.maker import Maker

from .records import Category, Expense, Goal, Income, LimitChange, Move
from .tools import Budget

MONTHS = 7  # kept so far, the present one included

FIXED = (  # name, group, monthly limit, day of the month, merchant, amount (what is metered varies about it)
    ("Rent", "needs", 145_000, 1, "Lakeview Apartments", 145_000),
    ("Power & Water", "needs", 16_000, 12, "City Utilities", 13_800),
    ("Internet", "needs", 6_000, 5, "Brightnet", 5_999),
    ("Phone", "needs", 4_500, 8, "Tellwave Mobile", 4_100),
    ("Health Insurance", "needs", 21_000, 3, "Meridian Health", 20_900),
    ("Car Insurance", "needs", 9_500, 15, "Harrow Mutual", 9_240),
    ("Streaming", "wants", 3_000, 20, "Reelhouse", 1_599),
    ("Gym", "wants", 4_000, 2, "Anytime Gym", 3_499),
)
DAILY = (  # name, group, monthly limit, carries over, strict, purchases a month, {merchant: (lowest, highest)}
    ("Groceries", "needs", 62_000, False, False, 9, {"Greenleaf Market": (2_500, 11_500), "Corner Grocer": (600, 3_800)}),
    ("Fuel", "needs", 15_000, False, False, 3, {"Fleet Fuel": (2_800, 6_400), "Highway Stop": (2_400, 5_200)}),
    ("Car Repairs", "needs", 6_000, True, False, 0.3, {"Hillside Garage": (9_000, 34_000)}),
    ("Public Transport", "needs", 6_500, False, False, 4, {"Metro Transit": (275, 2_400)}),
    ("Pharmacy", "needs", 5_000, True, False, 1.2, {"Northside Pharmacy": (700, 4_200)}),
    ("Kids", "needs", 12_000, True, False, 2, {"Little Acorns": (1_500, 7_500), "School Office": (500, 6_000)}),
    ("Eating Out", "wants", 22_000, False, False, 6, {"Sakura Sushi": (2_200, 8_400), "Taco Loco": (1_100, 4_300)}),
    ("Coffee", "wants", 4_500, False, True, 6, {"Corner Coffee": (350, 920), "Beanery": (380, 1_150)}),
    ("Books", "wants", 3_500, True, True, 1.5, {"Blue Door Books": (900, 3_200)}),
    ("Cinema & Concerts", "wants", 7_000, True, True, 1.2, {"Harbor Cinema": (1_100, 3_900), "Town Hall": (2_500, 6_800)}),
    ("Clothes", "wants", 12_000, True, False, 1.5, {"Stitch & Sole": (2_500, 14_000), "Second Thread": (800, 4_200)}),
    ("Presents", "wants", 5_000, True, False, 0.8, {"The Gift Barn": (1_200, 6_500), "Bloom Florist": (1_800, 5_400)}),
)
SAVINGS = (  # name, monthly limit, target or none, months from now to reach it
    ("Emergency Fund", 25_000, 500_000, 14),
    ("Next Holiday", 18_000, 160_000, 5),
    ("New Bicycle", 9_000, 85_000, 4),
    ("Old Sofa Replacement", 4_000, 60_000, -1),  # should have been reached a month ago
    ("Rainy Day Jar", 2_000, None, 0),  # no goal yet
)
METERED = ("Power & Water", "Phone")
NOTES = ("", "", "", "paid in cash", "split with a friend", "on sale", "for the weekend", "voucher used")


def populate(budget: Budget, make: Maker) -> None:
    first = make.today.replace(day=1) - relativedelta(months=MONTHS - 1)
    months = [first + relativedelta(months=n) for n in range(MONTHS)]
    for name, group, limit, *_ in FIXED:
        _open(budget, months[0], name, group, limit)
    for name, group, limit, carries, strict, *_ in DAILY:
        _open(budget, months[0], name, group, limit, carries, strict)
    for name, limit, target, ahead in SAVINGS:
        category = _open(budget, months[0], name, "savings", limit, carries=True)
        if target is not None:
            budget.goals.add(Goal(category.category_id, target, make.today + relativedelta(months=ahead, day=28)))
    _open(budget, months[-1], "Garden", "wants", 4_000)  # new, and nothing spent on it so far
    _history(budget, make, months)
    _incomes(budget, make, months)
    _changes_of_plan(budget, make, months)


def _open(budget: Budget, since: date, name: str, group: str, limit: int, carries: bool = False, strict: bool = False) -> Category:
    category = budget.categories.add(Category(budget.categories.mint(), name, group, carries, strict, f"{since:%Y-%m}"))
    budget.limits.add(LimitChange(budget.limits.mint(), category.category_id, category.since, limit))
    return category


def _history(budget: Budget, make: Maker, months: list[date]) -> None:
    """Every month's bills and purchases up to today, oldest first; a strict category is never overspent."""
    ids = {c.name: c.category_id for c in budget.categories}
    for month in months:
        bought = [(month.replace(day=day), name, merchant, _billed(make, name, usual), "") for name, _, _, day, merchant, usual in FIXED]
        for name, _, limit, _, strict, often, merchants in DAILY:
            left = limit
            for _ in range(int(often + make.rng.random())):
                merchant = make.pick(list(merchants))
                amount = make.between(*merchants[merchant])
                if strict and amount > left:
                    continue
                left -= amount
                bought.append((month.replace(day=make.between(1, 28)), name, merchant, amount, make.pick(NOTES)))
        for day, name, merchant, amount, note in sorted(bought, key=lambda b: b[0]):
            if day <= make.today:
                budget.expenses.add(Expense(budget.expenses.mint(), ids[name], day, amount, merchant, note))
    eating_out = budget.categories.get(ids["Eating Out"])
    feast = max(9_000, budget._available(eating_out) + make.between(500, 6_000))  # more than is left this month
    budget.expenses.add(Expense(budget.expenses.mint(), eating_out.category_id, make.today, feast, "Sakura Sushi", "birthday dinner"))


def _billed(make: Maker, name: str, usual: int) -> int:
    return usual * make.between(84, 108) // 100 if name in METERED else usual


def _incomes(budget: Budget, make: Maker, months: list[date]) -> None:
    mine, partners = make.between(310_000, 370_000, 1000), make.between(120_000, 170_000, 1000)
    employers = make.some(("Orion Logistics", "Maple Health", "Quarry Software", "Fjord & Sons", "Pinecrest School"), 2)
    for month in months:
        paid = [(month, employers[0], mine), (month.replace(day=15), employers[1], partners)]
        if make.chance(0.4):
            side_job = (month.replace(day=make.between(5, 25)), make.person(), make.between(5_000, 40_000, 500))
            paid.insert(1 if side_job[0].day < 15 else 2, side_job)
        for day, source, amount in paid:
            if day <= make.today:
                budget.incomes.add(Income(budget.incomes.mint(), source, day, amount))


def _changes_of_plan(budget: Budget, make: Maker, months: list[date]) -> None:
    """Raised limits, and money moved out of the emergency fund where a category ran short."""
    categories = {c.name: c for c in budget.categories}
    for name in make.some(("Groceries", "Fuel", "Eating Out", "Clothes", "Kids"), 2):
        category = categories[name]
        limit = budget.limits.where(category_id=category.category_id)[0].limit * 11 // 10
        since = make.pick(months[2:5])
        budget.limits.add(LimitChange(budget.limits.mint(), category.category_id, f"{since:%Y-%m}", limit))
    _help_out(budget, make, categories["Emergency Fund"])


def _help_out(budget: Budget, make: Maker, fund: Category) -> None:
    """Now and then the emergency fund makes up for what a category was short of, as far as it goes."""
    history = {c.category_id: list(budget._history(c)) for c in budget.categories}
    left = 0
    for n, standing in enumerate(history[fund.category_id]):
        left += standing.limit
        for category_id, months in history.items():
            short = -months[n].available if len(months) == MONTHS else 0
            amount = min(short, left)
            if amount > 0 and make.chance(0.4):
                budget.moves.add(Move(budget.moves.mint(), standing.month, fund.category_id, category_id, amount))
                left -= amount
