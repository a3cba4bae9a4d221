"""What must hold in a budget: after every call, and of its past."""

import itertools
from collections import Counter
from collections.abc import Iterator

from .records import Category
from .tools import Budget, left_behind, month_of


def invariants(budget: Budget) -> Iterator[str]:
    names = Counter(c.name.casefold() for c in budget.categories)
    yield from (f"{count} categories are called {name!r}" for name, count in names.items() if count > 1)
    moved = available = 0
    for category in budget.categories:
        months = list(budget._history(category))
        moved += sum(m.moved for m in months)
        available += months[-1].available
        short = min(m.available for m in months)
        if category.strict and short < 0:
            yield f"{category.category_id} is strict and {-short} cents short"
        if sum(m.spent for m in months) != sum(e.amount for e in budget.expenses.where(category_id=category.category_id)):
            yield f"{category.category_id}: an expense falls into no month"
    if moved:
        yield "moving money between categories made or lost some"
    had = sum(i.amount for i in budget.incomes) - sum(e.amount for e in budget.expenses)
    has = available + budget._ready_to_assign(budget.month)
    if had != has:
        yield f"{had} cents came in and were not spent, and {has} are in categories or ready to assign"
    for expense in budget.expenses:
        if expense.category_id not in budget.categories:
            yield f"{expense.expense_id} belongs to no category"
        if expense.day > budget.today:
            yield f"{expense.expense_id} has not happened yet"
    for goal in budget.goals:
        if budget.categories.get(goal.category_id).group != "savings":
            yield f"{goal.category_id} has a goal and is no savings category"


def past(budget: Budget) -> Iterator[str]:
    for category in budget.categories:
        yield from _lived(budget, category)
    for move in budget.moves:
        if max(budget.categories.get(key).since for key in (move.from_category, move.to_category)) > move.month:
            yield f"{move.move_id} of {move.month} is older than a category that it is between"
    for income in budget.incomes:
        if income.day > budget.today:
            yield f"{income.income_id} has not come in yet"
    same = Counter((i.day, i.source.casefold(), i.amount) for i in budget.incomes)
    yield from (f"{what} came in {count} times" for what, count in same.items() if count > 1)
    known = {month_of(i.day) for i in budget.incomes}
    begun = min(c.since for c in budget.categories)
    lived = {m.month for c in budget.categories if c.since == begun for m in budget._history(c) if m.spent}
    yield from (f"{month} has expenses and no income" for month in sorted(lived - known) if month < budget.month)


def _lived(budget: Budget, category: Category) -> Iterator[str]:
    key, months = category.category_id, list(budget._history(category))
    if category.group == "savings" and not category.carries_over:
        yield f"{key} is for savings and keeps nothing"
    changes = [change.month for change in budget.limits.where(category_id=key)]
    if len(set(changes)) != len(changes) or min(changes) != category.since or max(changes) > budget.month:
        yield f"{key} began in {category.since} and has limits from {changes}"
    for earlier, later in itertools.pairwise(months):
        if later.carried_over != earlier.available - left_behind(category, earlier.available) or later.carried_over < 0:
            yield f"{key} ended {earlier.month} with {earlier.available} and began {later.month} with {later.carried_over}"
    if any(month_of(e.day) < category.since for e in budget.expenses.where(category_id=key)):
        yield f"{key} has an expense from before it began"
