"""The rules of a budget: what is left, what carries over, strict categories, closed months and savings goals."""

from datetime import timedelta

import pytest

from prove.servers.session import Session


@pytest.fixture
def session():
    return Session.open("budget", seed=0)  # it begins on 2026-08-17


def category(session, name, group="wants", limit=10_000, **more):
    """A new category's id."""
    return session.call("create_category", {"name": name, "group": group, "limit": limit, **more}).value["category_id"]


def spend(session, category_id, amount, **more):
    return session.call("add_expense", {"category_id": category_id, "amount": amount, "merchant": "Corner Shop", **more})


def standing(session, category_id):
    return session.call("get_category", {"category_id": category_id}).value["standing"]


def next_month(session):
    session.advance(days=20)


def test_what_is_left_is_the_limit_less_what_was_spent_and_moved(session):
    pets, hobbies = category(session, "Pets"), category(session, "Hobbies")
    spend(session, pets, 2_500)
    session.call("transfer_between_categories", {"from_category": pets, "to_category": hobbies, "amount": 3_000})
    assert standing(session, pets)["available"] == 10_000 - 2_500 - 3_000
    assert standing(session, hobbies)["available"] == 10_000 + 3_000


def test_no_more_can_be_moved_than_is_left(session):
    pets, hobbies = category(session, "Pets"), category(session, "Hobbies")
    spend(session, pets, 9_000)
    over = {"from_category": pets, "to_category": hobbies, "amount": 1_001}
    assert session.call("transfer_between_categories", over).code == "resource_exhausted"
    assert session.call("transfer_between_categories", {**over, "amount": 1_000}).ok


def test_only_some_categories_take_what_is_left_into_the_next_month(session):
    keeps, forgets = category(session, "Trips", carries_over=True), category(session, "Snacks")
    for category_id in (keeps, forgets):
        spend(session, category_id, 4_000)
    next_month(session)
    assert standing(session, keeps)["available"] == 6_000 + 10_000
    assert standing(session, forgets)["available"] == 10_000


def test_a_new_limit_leaves_past_months_alone(session):
    keeps = category(session, "Trips", carries_over=True)
    next_month(session)
    session.call("set_category_limit", {"category_id": keeps, "limit": 2_000})
    assert standing(session, keeps) | {"category_id": ""} == {
        "category_id": "", "month": "2026-09", "limit": 2_000, "carried_over": 10_000, "moved": 0, "spent": 0, "available": 12_000
    }  # fmt: skip


def test_a_strict_category_refuses_what_others_only_report(session):
    strict, lenient = category(session, "Sweets", strict=True), category(session, "Snacks")
    assert spend(session, lenient, 10_001).ok
    assert "Snacks" in session.call("get_summary", {"month": "2026-08"}).value["over_limit"]
    assert spend(session, strict, 10_001).code == "failed_precondition"
    session.call("transfer_between_categories", {"from_category": category(session, "Spare"), "to_category": strict, "amount": 1})
    assert spend(session, strict, 10_001).ok


def test_a_strict_category_cannot_spend_last_month_what_it_carried_into_this_one(session):
    strict = category(session, "Trips", strict=True, carries_over=True)
    next_month(session)
    assert spend(session, strict, 18_000).ok  # 10,000 of them carried over
    assert spend(session, strict, 3_000, day="2026-08-20").code == "failed_precondition"
    assert spend(session, strict, 2_000, day="2026-08-20").ok


def test_this_month_and_the_last_are_open(session):
    today = session.clock.now.date()
    groceries = session.call("list_categories", {"query": "groceries"}).value["items"][0]["category_id"]
    assert spend(session, groceries, 100, day="2026-07-01").ok
    assert spend(session, groceries, 100, day="2026-06-30").code == "failed_precondition"
    assert spend(session, groceries, 100, day=str(today + timedelta(days=1))).code == "failed_precondition"
    old = session.call("list_expenses", {"until": "2026-06-30"}).value["items"][0]["expense_id"]
    assert session.call("delete_expense", {"expense_id": old}).code == "failed_precondition"


def test_a_goal_says_what_each_month_must_bring(session):
    fund = category(session, "Piano", group="savings", limit=10_000)
    goal = {"category_id": fund, "target": 45_000, "day": "2026-11-30"}
    assert session.call("set_savings_goal", goal).ok
    shown = session.call("get_category", {"category_id": fund}).value
    assert shown["missing"] == 45_000 - 10_000
    assert shown["needed_a_month"] == 11_667  # 35,000 over three months, rounded up
    assert session.call("set_savings_goal", {**goal, "category_id": category(session, "Toys")}).code == "failed_precondition"


def test_a_summary_adds_up_income_and_spending(session):
    before = session.call("get_summary", {"month": "2026-08"}).value
    session.call("add_income", {"source": "Grandma", "amount": 5_000})
    spend(session, category(session, "Pets", group="needs", limit=3_000), 1_200)
    after = session.call("get_summary", {"month": "2026-08"}).value
    assert after["income"] - before["income"] == 5_000
    assert after["kept"] - before["kept"] == 5_000 - 1_200
    assert after["groups"][0]["planned"] - before["groups"][0]["planned"] == 3_000
    assert session.call("add_income", {"source": "Grandma", "amount": 5_000}).code == "conflict"
