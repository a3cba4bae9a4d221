"""A household budget in cents. What a category has left in a month is its limit, what was carried over and what was moved,
less what was spent. No money is lost at a month's end: what does not stay in a category, overspending too, changes what is ready
to assign. The present month and the one before it can be changed; older months are closed."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

from prove.servers import (
    Cents, Day, Limit, Money, Month, Offset, Page, Query, Server, given, matches, newest, page, read, require, some_given, table, write,
)  # fmt: skip
from .records import (
    CarriesOver, Category, CategoryDetails, CategoryId, CategoryLine, CategoryMonth, CategoryName, Expense, ExpenseId, Goal, Group,
    GroupTotal, Income, LimitChange, Merchant, MonthlyLimit, Move, MoveMonth, Note, Source, Strict, Summary, Target, TargetDay,
)  # fmt: skip


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
    def list_categories(
        self, group: Group | None = None, query: Query | None = None, limit: Limit = 30, offset: Offset = 0
    ) -> Page[CategoryLine]:
        """List categories by name, without their money."""
        found = (c for c in self.categories.where(**given(group=group)) if matches(query, c.name))
        return page(sorted(found, key=lambda c: c.name.casefold()), limit, CategoryLine, offset)

    @read
    def get_category(self, category_id: CategoryId, month: Month | None = None) -> CategoryDetails:
        """Show a category's month, this one unless given: limit, spent, available, moves, and its savings goal if it has one."""
        category, goal, month = self.categories.get(category_id), self.goals.find(category_id), month or self.month
        self._check_known(month, category.since)
        standing = next(m for m in self._history(category) if m.month == month)
        touching = [m for m in self.moves.where(month=month) if category_id in (m.from_category, m.to_category)]
        moves = newest(touching, lambda m: m.month)
        if goal is None:
            return CategoryDetails(category, standing, moves=moves)
        missing = max(0, goal.target - self._available(category))
        months = max(1, _months_between(self.month, month_of(goal.day)))
        return CategoryDetails(category, standing, goal.target, goal.day, missing, -(-missing // months), moves)

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
        short = sum(-m.available for m in self._short(category))
        require(not short, "failed_precondition", f"{category_id} is strict and has spent more than that: set at least {limit + short}")
        return changed

    @write
    def transfer_between_categories(
        self, from_category: CategoryId, to_category: CategoryId, amount: Cents, month: MoveMonth | None = None
    ) -> Move:
        """Move money that is left in one category to another, this month unless the one before it is given."""
        require(from_category != to_category, "invalid_argument", "from_category and to_category are the same category")
        source, target, month = self.categories.get(from_category), self.categories.get(to_category), month or self.month
        self._check_open(month)
        self._check_begun(source, month)
        self._check_begun(target, month)
        left = self._to_spare(source, month)
        require(amount <= left, "resource_exhausted", f"{source.name} ({from_category}) has only {left} cents to spare in {month}")
        return self.moves.add(Move(self.moves.mint(), month, from_category, to_category, amount))

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
        offset: Offset = 0,
    ) -> Page[Expense]:
        """List expenses, newest first; query looks at merchant and note."""
        chosen = self.expenses.where(**given(category_id=category_id))
        found = [e for e in chosen if matches(query, e.merchant, e.note) and (since or date.min) <= e.day <= (until or date.max)]
        return page(newest(found, lambda e: e.day), limit, Expense, offset)

    @write
    def add_expense(self, category_id: CategoryId, amount: Cents, merchant: Merchant, day: Day | None = None, note: Note = "") -> Expense:
        """Record money spent, today unless a day is given."""
        added = self.expenses.add(Expense(self.expenses.mint(), category_id, day or self.today, amount, merchant, note))
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
        changes = some_given(category_id=category_id, amount=amount, day=day, merchant=merchant, note=note)
        self._check_open(month_of(self.expenses.get(expense_id).day))
        changed = self.expenses.update(expense_id, **changes)
        self._check_booked(changed)
        return changed

    @write(destructive=True)
    def delete_expense(self, expense_id: ExpenseId) -> Expense:
        """Delete an expense of an open month."""
        self._check_open(month_of(self.expenses.get(expense_id).day))
        return self.expenses.remove(expense_id)

    @write
    def add_income(self, source: Source, amount: Cents, day: Day | None = None) -> Income:
        """Record money received, today unless a day is given."""
        received = day or self.today
        self._check_happened(received)
        known = [i for i in self.incomes.where(day=received, amount=amount) if i.source.casefold() == source.casefold()]
        already = ", ".join(i.income_id for i in known)
        require(not known, "conflict", f"{amount} cents from {source} on {received} are recorded already, as {already}")
        return self.incomes.add(Income(self.incomes.mint(), source, received, amount))

    @read
    def get_summary(self, month: Month) -> Summary:
        """Sum up a month: incomes, plan, spending by needs, wants and savings, what is ready to assign and which categories went over."""
        self._check_known(month, min(c.since for c in self.categories))
        standings = [(c, m) for c in self.categories for m in self._history(c)]
        planned, spent = Counter[str](), Counter[str]()
        for category, standing in standings:
            if standing.month == month:
                planned[category.group] += standing.limit
                spent[category.group] += standing.spent
        incomes = newest((i for i in self.incomes if month_of(i.day) == month), lambda i: i.day)
        income, before = sum(i.amount for i in incomes), _month_after(month, -1)
        return Summary(
            month,
            income,
            planned.total(),
            spent.total(),
            income - spent.total(),
            overspent_before=-sum(min(0, m.available) for _, m in standings if m.month == before),
            ready_to_assign=self._ready_to_assign(month),
            groups=[GroupTotal(g, planned[g], spent[g]) for g in ("needs", "wants", "savings")],
            over_limit=[c.name for c, m in standings if m.month == month and m.available < 0],
            incomes=incomes,
        )

    # --- rules

    @property
    def month(self) -> Month:
        """The present month."""
        return month_of(self.today)

    def _history(self, category: Category) -> Iterator[CategoryMonth]:
        """A category month by month up to the present one: what one month leaves may be carried over to the next."""
        key = category.category_id
        limits = {change.month: change.limit for change in self.limits.where(category_id=key)}
        spent, moved = Counter[Month](), Counter[Month]()
        for expense in self.expenses.where(category_id=key):
            spent[month_of(expense.day)] += expense.amount
        for move in [*self.moves.where(from_category=key), *self.moves.where(to_category=key)]:
            moved[move.month] += move.amount if move.to_category == key else -move.amount
        month, present, limit, carried = category.since, self.month, 0, 0
        while month <= present:
            limit = limits.get(month, limit)
            available = carried + limit + moved[month] - spent[month]
            yield CategoryMonth(key, month, limit, carried, moved[month], spent[month], available)
            carried = available - left_behind(category, available)
            month = _month_after(month)

    def _ready_to_assign(self, month: Month) -> Money:
        """What has come in until a month's end, less what categories have got, and what the months before have left behind."""
        ready = sum(i.amount for i in self.incomes if month_of(i.day) <= month)
        for category in self.categories:
            for standing in self._history(category):
                ready -= standing.limit if standing.month <= month else 0
                ready += left_behind(category, standing.available) if standing.month < month else 0
        return ready

    def _to_spare(self, category: Category, month: Month) -> Money:
        """What can be taken from a category in a month without being missed in a later one."""
        left = [m.available for m in self._history(category) if m.month >= month]
        return max(0, min(left) if category.carries_over else left[0])

    def _available(self, category: Category) -> Money:
        *_, present = self._history(category)
        return present.available

    def _check_known(self, month: Month, first: Month) -> None:
        known = first <= month <= self.month
        require(known, "failed_precondition", f"there is nothing for {month}: ask for a month from {first} to {self.month}")

    def _check_open(self, month: Month) -> None:
        before = _month_after(self.month, -1)
        require(before <= month <= self.month, "failed_precondition", f"{month} is closed: only {before} and {self.month} can be changed")

    def _check_happened(self, day: Day) -> None:
        require(day <= self.today, "failed_precondition", f"{day} is after today, {self.today}: record it when it has happened")
        self._check_open(month_of(day))

    def _check_begun(self, category: Category, month: Month) -> None:
        begun = month >= category.since
        require(begun, "failed_precondition", f"{category.name} ({category.category_id}) begins in {category.since}, after {month}")

    def _check_booked(self, expense: Expense) -> None:
        category = self.categories.get(expense.category_id)
        self._check_happened(expense.day)
        self._check_begun(category, month_of(expense.day))
        short = self._short(category)
        missing = " and ".join(f"{-m.available} cents to it in {m.month}" for m in short)
        otherwise = ", or raise its limit," if [m.month for m in short] == [self.month] else ""
        key = category.category_id
        require(not short, "failed_precondition", f"{key} is strict and would be overspent: move {missing}{otherwise} first")

    def _short(self, category: Category) -> list[CategoryMonth]:
        """The months in which a strict category would have less than nothing: what is spent in the last one is not carried over twice."""
        return [m for m in self._history(category) if m.available < 0] if category.strict else []


def left_behind(category: Category, available: Money) -> Money:
    """What of a month's end does not stay in the category: what was overspent, and what is left where nothing is carried over."""
    return available if available < 0 or not category.carries_over else 0


def month_of(day: date) -> Month:
    return day.isoformat()[:7]


def _month_after(month: Month, count: int = 1) -> Month:
    year, index = divmod(int(month[:4]) * 12 + int(month[5:]) - 1 + count, 12)
    return f"{year}-{index + 1:02}"


def _months_between(first: Month, last: Month) -> int:
    return (int(last[:4]) - int(first[:4])) * 12 + int(last[5:]) - int(first[5:])
