"""A household budget in cents. What a category has left in a month is its limit, what was carried over and what was moved,
less what was spent. The present month and the one before it can be changed; older months are closed."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Literal, NewType

from dateutil.relativedelta import relativedelta

from prove.servers import (
    Cents,
    Day,
    Limit,
    Meta,
    Money,
    Month,
    Page,
    Query,
    Record,
    Server,
    given,
    matches,
    page,
    read,
    require,
    table,
    write,
)

CategoryId = NewType("CategoryId", str)
LimitId = NewType("LimitId", str)
MoveId = NewType("MoveId", str)
ExpenseId = NewType("ExpenseId", str)
IncomeId = NewType("IncomeId", str)

CategoryName = Annotated[str, Meta(min_length=1, max_length=40, description="what a category is called")]
Group = Annotated[Literal["needs", "wants", "savings"], Meta(description="what a category is for; goals belong to savings")]
MonthlyLimit = Annotated[int, Meta(ge=0, description="how much a category gets each month, an amount in cents")]
CarriesOver = Annotated[bool, Meta(description="true if what is left is added to the next month; savings always do")]
Strict = Annotated[bool, Meta(description="true to refuse expenses beyond what is left")]
Merchant = Annotated[str, Meta(min_length=1, max_length=60, description="where the money was spent")]
Note = Annotated[str, Meta(max_length=120, description="a remark about the expense")]
Source = Annotated[str, Meta(min_length=1, max_length=60, description="who the income comes from")]
Target = Annotated[int, Meta(gt=0, description="how much a goal asks for, an amount in cents")]
TargetDay = Annotated[date, Meta(description="when a goal should be reached, a date, YYYY-MM-DD")]


class Category(Record):
    category_id: CategoryId
    name: CategoryName
    group: Group
    carries_over: CarriesOver
    strict: Strict
    since: Month


class LimitChange(Record):
    limit_id: LimitId
    category_id: CategoryId
    month: Month  # the first month to which it applies
    limit: MonthlyLimit


class Move(Record):
    move_id: MoveId
    month: Month
    from_category: CategoryId
    to_category: CategoryId
    amount: Cents


class Expense(Record):
    expense_id: ExpenseId
    category_id: CategoryId
    day: Day
    amount: Cents
    merchant: Merchant
    note: Note = ""


class Income(Record):
    income_id: IncomeId
    source: Source
    day: Day
    amount: Cents


class Goal(Record):
    category_id: CategoryId
    target: Target
    day: TargetDay


class CategoryLine(Record):
    category_id: CategoryId
    name: CategoryName
    group: Group


class CategoryMonth(Record):
    category_id: CategoryId
    month: Month
    limit: MonthlyLimit
    carried_over: Money
    moved: Money
    spent: Money
    available: Money


class CategoryDetails(Record):
    category: Category
    standing: CategoryMonth
    target: Target | None = None
    target_day: TargetDay | None = None
    missing: Money | None = None  # until the target
    needed_a_month: Money | None = None  # to have it in time


class GroupTotal(Record):
    group: Group
    planned: Money
    spent: Money


class Summary(Record):
    month: Month
    income: Money
    planned: Money
    spent: Money
    kept: Money
    groups: list[GroupTotal]
    over_limit: list[CategoryName]


class Budget(Server):
    """Categories, limits, expenses, income and savings goals of one household, month by month."""

    category = "Knowledge"

    categories = table(Category, "CAT-{}", start=11)
    limits = table(LimitChange, "LIM-{}", start=301)
    moves = table(Move, "MOV-{}", start=71)
    expenses = table(Expense, "EXP-{}", start=5001)
    incomes = table(Income, "INC-{}", start=801)
    goals = table(Goal)

    # --- categories and their money

    @read
    def list_categories(self, group: Group | None = None, query: Query | None = None, limit: Limit = 30) -> Page[CategoryLine]:
        """List categories by name, without their money."""
        found = (c for c in self.categories if group in (None, c.group) and matches(query, c.name))
        return page(sorted(found, key=lambda c: c.name), limit, CategoryLine)

    @read
    def get_category(self, category_id: CategoryId, month: Month | None = None) -> CategoryDetails:
        """Show a category's month, this one unless given: limit, spent, available, and its savings goal if it has one."""
        category, goal = self.categories.get(category_id), self.goals.find(category_id)
        self._check_known(month or self.month, category.since)
        standing = next(m for m in self._history(category) if m.month == (month or self.month))
        if goal is None:
            return CategoryDetails(category, standing)
        missing = max(0, goal.target - self._available(category))
        months = max(1, _months_between(self.month, _month_of(goal.day)))
        return CategoryDetails(category, standing, goal.target, goal.day, missing, -(-missing // months))

    @write
    def create_category(
        self, name: CategoryName, group: Group, limit: MonthlyLimit, carries_over: CarriesOver = False, strict: Strict = False
    ) -> Category:
        """Add a category with a monthly limit, from this month on."""
        taken = [c.category_id for c in self.categories if c.name.casefold() == name.casefold()]
        require(not taken, "conflict", f"there is a category {name!r} already, {', '.join(taken)}")
        carries = carries_over or group == "savings"
        created = self.categories.add(Category(self.categories.mint(), name, group, carries, strict, self.month))
        self.limits.add(LimitChange(self.limits.mint(), created.category_id, self.month, limit))
        return created

    @write(idempotent=True)
    def set_category_limit(self, category_id: CategoryId, limit: MonthlyLimit) -> LimitChange:
        """Set what a category gets each month, from this month on."""
        category = self.categories.get(category_id)
        known = self.limits.where(category_id=category_id, month=self.month)
        if known:
            changed = self.limits.update(known[0].limit_id, limit=limit)
        else:
            changed = self.limits.add(LimitChange(self.limits.mint(), category.category_id, self.month, limit))
        self._check_strict(category, f"{limit} cents are less than it has spent already")
        return changed

    @write
    def transfer_between_categories(self, from_category: CategoryId, to_category: CategoryId, amount: Cents) -> Move:
        """Move money that is left in one category this month to another category."""
        require(from_category != to_category, "invalid_argument", "from_category and to_category are the same category")
        source, target = self.categories.get(from_category), self.categories.get(to_category)
        left = self._available(source)
        require(amount <= left, "resource_exhausted", f"{source.name} ({from_category}) has only {left} cents available this month")
        return self.moves.add(Move(self.moves.mint(), self.month, source.category_id, target.category_id, amount))

    @write(idempotent=True)
    def set_savings_goal(self, category_id: CategoryId, target: Target, day: TargetDay) -> Goal:
        """Give a savings category an amount to reach by a day, in place of the goal it may have."""
        category = self.categories.get(category_id)
        group = category.group
        require(group == "savings", "failed_precondition", f"{category_id} is a category of {group}: goals need one of savings")
        require(day > self.today, "failed_precondition", f"{day} is not after today, {self.today}: choose a later day")
        if category_id in self.goals:
            return self.goals.update(category_id, target=target, day=day)
        return self.goals.add(Goal(category_id, target, day))

    # --- money out and in

    @read
    def list_expenses(
        self,
        category_id: CategoryId | None = None,
        query: Query | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = 10,
    ) -> Page[Expense]:
        """List expenses, newest first; query looks at merchant and note."""
        chosen = self.expenses.where(category_id=self.categories.get(category_id).category_id) if category_id else self.expenses
        found = [e for e in chosen if matches(query, e.merchant, e.note) and (since or date.min) <= e.day <= (until or date.max)]
        return page(sorted(found, key=lambda e: (e.day, e.expense_id), reverse=True), limit, Expense)

    @write
    def add_expense(self, category_id: CategoryId, amount: Cents, merchant: Merchant, day: Day | None = None, note: Note = "") -> Expense:
        """Record money spent, today unless a day is given."""
        category = self.categories.get(category_id)
        added = self.expenses.add(Expense(self.expenses.mint(), category.category_id, day or self.today, amount, merchant, note))
        self._check_booked(added)
        return added

    @write(idempotent=True)
    def update_expense(
        self,
        expense_id: ExpenseId,
        category_id: CategoryId | None = None,
        amount: Cents | None = None,
        day: Day | None = None,
        merchant: Merchant | None = None,
        note: Note | None = None,
    ) -> Expense:
        """Correct an expense of an open month; what is not given stays."""
        changes = given(category_id=category_id, amount=amount, day=day, merchant=merchant, note=note)
        require(changes, "invalid_argument", f"say what to change of {expense_id}: category_id, amount, day, merchant, note")
        self._check_open(self.expenses.get(expense_id).day)
        changed = self.expenses.update(expense_id, **changes)
        self._check_booked(changed)
        return changed

    @write(destructive=True)
    def delete_expense(self, expense_id: ExpenseId) -> Expense:
        """Delete an expense of an open month."""
        self._check_open(self.expenses.get(expense_id).day)
        return self.expenses.remove(expense_id)

    @write
    def add_income(self, source: Source, amount: Cents, day: Day | None = None) -> Income:
        """Record money received, today unless a day is given."""
        received = day or self.today
        self._check_open(received)
        known = self.incomes.where(day=received, source=source, amount=amount)
        already = ", ".join(i.income_id for i in known)
        require(not known, "conflict", f"{amount} cents from {source} on {received} are recorded already, as {already}")
        return self.incomes.add(Income(self.incomes.mint(), source, received, amount))

    @read
    def get_summary(self, month: Month) -> Summary:
        """Sum up a month: income, plan and spending, by needs, wants and savings, and which categories went over."""
        self._check_known(month, min(c.since for c in self.categories))
        standings = [(c, m) for c in self.categories for m in self._history(c) if m.month == month]
        planned, spent = Counter[str](), Counter[str]()
        for category, standing in standings:
            planned[category.group] += standing.limit
            spent[category.group] += standing.spent
        income = sum(i.amount for i in self.incomes if _month_of(i.day) == month)
        groups = [GroupTotal(g, planned[g], spent[g]) for g in ("needs", "wants", "savings")]
        over = [c.name for c, standing in standings if standing.available < 0]
        return Summary(month, income, planned.total(), spent.total(), income - spent.total(), groups, over)

    # --- rules

    @property
    def month(self) -> Month:
        """The present month."""
        return _month_of(self.today)

    def _history(self, category: Category) -> Iterator[CategoryMonth]:
        """A category month by month up to the present one: what one month leaves may be carried over to the next."""
        key = category.category_id
        limits = {change.month: change.limit for change in self.limits.where(category_id=key)}
        spent, moved = Counter[Month](), Counter[Month]()
        for expense in self.expenses.where(category_id=key):
            spent[_month_of(expense.day)] += expense.amount
        for move in [*self.moves.where(from_category=key), *self.moves.where(to_category=key)]:
            moved[move.month] += move.amount if move.to_category == key else -move.amount
        month, present, limit, carried = category.since, self.month, 0, 0
        while month <= present:
            limit = limits.get(month, limit)
            available = carried + limit + moved[month] - spent[month]
            yield CategoryMonth(key, month, limit, carried, moved[month], spent[month], available)
            carried = max(0, available) if category.carries_over else 0
            month = _month_after(month)

    def _available(self, category: Category) -> Money:
        *_, present = self._history(category)
        return present.available

    def _check_known(self, month: Month, first: Month) -> None:
        known = first <= month <= self.month
        require(known, "failed_precondition", f"there is nothing for {month}: ask for a month from {first} to {self.month}")

    def _check_open(self, day: Day) -> None:
        require(day <= self.today, "failed_precondition", f"{day} is after today, {self.today}: record it when it has happened")
        before = _month_of(self.today - relativedelta(months=1))
        require(_month_of(day) >= before, "failed_precondition", f"{day:%Y-%m} is closed: only {before} and {self.month} can be changed")

    def _check_booked(self, expense: Expense) -> None:
        category = self.categories.get(expense.category_id)
        self._check_open(expense.day)
        begun = _month_of(expense.day) >= category.since
        require(begun, "failed_precondition", f"{category.name} ({category.category_id}) begins in {category.since}, after {expense.day}")
        self._check_strict(category, "raise its limit or move money to it first")

    def _check_strict(self, category: Category, advice: str) -> None:
        """A strict category never falls below zero, in no month: what is spent in the last one is not carried over twice."""
        if not category.strict:
            return
        short = -min(m.available for m in self._history(category))
        require(short <= 0, "failed_precondition", f"{category.category_id} is strict and would be {short} cents short: {advice}")


def _month_of(day: date) -> Month:
    return day.isoformat()[:7]


def _month_after(month: Month) -> Month:
    year, last = divmod(int(month[:4]) * 12 + int(month[5:]), 12)
    return f"{year}-{last + 1:02}"


def _months_between(first: Month, last: Month) -> int:
    return (int(last[:4]) - int(first[:4])) * 12 + int(last[5:]) - int(first[5:])
