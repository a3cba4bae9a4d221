"""What is in a budget: categories with their limits, moves between them, expenses, incomes, savings goals. Money is in cents."""

from datetime import date
from typing import Annotated, Literal, NewType

from prove.servers import Cents, Day, Meta, Money, Month, Record

CategoryId = NewType("CategoryId", str)
LimitId = NewType("LimitId", str)
MoveId = NewType("MoveId", str)
ExpenseId = NewType("ExpenseId", str)
IncomeId = NewType("IncomeId", str)

CategoryName = Annotated[str, Meta(min_length=1, max_length=40, description="what a category is called")]
Group = Annotated[Literal["needs", "wants", "savings"], Meta(description="what a category is for; goals belong to savings")]
MonthlyLimit = Annotated[int, Meta(ge=0, le=10**10, description="how much a category gets each month, an amount in cents")]
CarriesOver = Annotated[
    bool, Meta(description="true if what is left stays for the next month, as in savings it always does; else it can be assigned anew")
]
Strict = Annotated[bool, Meta(description="true to refuse expenses beyond what is left")]
Merchant = Annotated[str, Meta(min_length=1, max_length=60, description="where the money was spent")]
Note = Annotated[str, Meta(max_length=120, description="a remark about the expense")]
Source = Annotated[str, Meta(min_length=1, max_length=60, description="who the income comes from")]
Target = Annotated[int, Meta(gt=0, le=10**11, description="how much a goal asks for, an amount in cents")]
MoveMonth = Annotated[Month, Meta(description="a month, YYYY-MM, this one or the one before it")]
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
    moves: list[Move] = []  # of that month, the last made first


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
    overspent_before: Money  # in the month before, taken off what is ready to assign
    ready_to_assign: Money  # what has come in and belongs to no category
    groups: list[GroupTotal]
    over_limit: list[CategoryName]
    incomes: list[Income]
