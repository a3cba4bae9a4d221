"""What must hold in a budget after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.budget.tools import Budget


def invariants(budget: Budget) -> Iterator[str]:
    names = Counter(c.name.casefold() for c in budget.categories)
    yield from (f"{count} categories are called {name!r}" for name, count in names.items() if count > 1)
    moved = 0
    for category in budget.categories:
        months = list(budget._history(category))
        moved += sum(m.moved for m in months)
        short = min(m.available for m in months)
        if category.strict and short < 0:
            yield f"{category.category_id} is strict and {-short} cents short"
        never_forgiven = category.strict and category.carries_over
        if never_forgiven and months[-1].available != sum(m.limit + m.moved - m.spent for m in months):
            yield f"{category.category_id}: what is available is not what it got less what was spent"
        if sum(m.spent for m in months) != sum(e.amount for e in budget.expenses.where(category_id=category.category_id)):
            yield f"{category.category_id}: an expense falls into no month"
    if moved:
        yield "moving money between categories made or lost some"
    for expense in budget.expenses:
        if expense.category_id not in budget.categories:
            yield f"{expense.expense_id} belongs to no category"
        if expense.day > budget.today:
            yield f"{expense.expense_id} has not happened yet"
    for goal in budget.goals:
        if budget.categories.get(goal.category_id).group != "savings":
            yield f"{goal.category_id} has a goal and is no savings category"
