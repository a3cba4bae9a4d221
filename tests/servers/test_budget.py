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


def summary(session, month=None):
    return session.call("get_summary", {"month": month or session.servers["budget"].month}).value


def test_at_a_months_end_overspending_is_taken_off_what_is_ready_to_assign_and_leftovers_are_kept_or_given_back(session):
    saved = category(session, "Rainy Season", group="savings", limit=25_000)
    kept = category(session, "Trips", limit=10_000, carries_over=True)
    given_back = category(session, "Snacks", limit=68_200)
    overspent = category(session, "Vet", limit=13_200, carries_over=True)
    spend(session, saved, 4_500)
    spend(session, given_back, 8_200)
    spend(session, overspent, 500_420)
    here = [standing(session, c)["available"] for c in (saved, kept, given_back, overspent)]
    assert here == [20_500, 10_000, 60_000, -487_220]
    own_short = summary(session)["over_limit"]
    ready, others = summary(session)["ready_to_assign"], left_by_others(session, {saved, kept, given_back, overspent})
    next_month(session)
    there = [standing(session, c)["available"] for c in (saved, kept, given_back, overspent)]
    assert there == [45_500, 20_000, 68_200, 13_200]
    later = summary(session)
    assigned = later["planned"]  # what all categories get in the new month
    assert later["ready_to_assign"] == ready - assigned + 60_000 - 487_220 + others
    assert later["overspent_before"] >= 487_220
    assert "Vet" in own_short


def left_by_others(session, mine):
    """What the world's own categories leave behind at the month's end."""
    budget = session.servers["budget"]
    lines = [c for c in budget.categories if c.category_id not in mine]
    left = [(c, standing(session, c.category_id)["available"]) for c in lines]
    return sum(available for c, available in left if available < 0 or not c.carries_over)


def test_no_money_is_made_or_lost_whatever_happens(session):
    def had(live):
        return sum(i.amount for i in live.incomes) - sum(e.amount for e in live.expenses)

    def has(live):
        lines = [c.category_id for c in live.categories]
        return sum(standing(session, c)["available"] for c in lines) + summary(session)["ready_to_assign"]

    budget = session.servers["budget"]
    pets = category(session, "Pets")
    for month in range(3):
        assert had(budget) == has(budget)
        spend(session, pets, 4_000 * (month + 1))
        session.call("add_income", {"source": f"job {month}", "amount": 7_000})
        session.call("set_category_limit", {"category_id": pets, "limit": 9_000 + month})
        session.advance(days=31)
    assert had(budget) == has(budget)


def test_income_makes_more_ready_to_assign_and_a_limit_takes_it(session):
    before = summary(session)["ready_to_assign"]
    session.call("add_income", {"source": "Grandma", "amount": 5_000})
    assert summary(session)["ready_to_assign"] == before + 5_000
    pets = category(session, "Pets", limit=3_000)
    assert summary(session)["ready_to_assign"] == before + 2_000
    session.call("set_category_limit", {"category_id": pets, "limit": 1_000})
    assert summary(session)["ready_to_assign"] == before + 4_000


# --- what was written can be read


def test_moves_are_shown_in_the_month_of_both_categories_the_last_first(session):
    pets, hobbies = category(session, "Pets"), category(session, "Hobbies")
    for amount in (100, 200):
        session.call("transfer_between_categories", {"from_category": pets, "to_category": hobbies, "amount": amount})
    for shown in (pets, hobbies):
        assert [m["amount"] for m in session.call("get_category", {"category_id": shown}).value["moves"]] == [200, 100]
    next_month(session)
    assert not session.call("get_category", {"category_id": pets}).value["moves"]
    assert len(session.call("get_category", {"category_id": pets, "month": "2026-08"}).value["moves"]) == 2


def test_a_summary_names_each_income_the_last_first(session):
    session.call("add_income", {"source": "Grandma", "amount": 5_000})
    session.call("add_income", {"source": "the flea market", "amount": 1_200})
    incomes = summary(session)["incomes"]
    assert [(i["source"], i["amount"]) for i in incomes[:2]] == [("the flea market", 1_200), ("Grandma", 5_000)]
    assert sum(i["amount"] for i in incomes) == summary(session)["income"]


def test_expenses_of_one_day_are_listed_the_last_first_and_all_can_be_reached(session):
    pets = category(session, "Pets")
    made = [spend(session, pets, amount).value["expense_id"] for amount in (100, 200, 300)]
    ask = {"category_id": pets, "limit": 2}
    pages = [session.call("list_expenses", {**ask, "offset": at}).value["items"] for at in (0, 2)]
    assert [e["expense_id"] for page in pages for e in page] == made[::-1]


# --- refusals and what they advise


def test_overspending_a_strict_category_in_the_last_month_is_mended_by_the_move_that_is_advised(session):
    strict, spare = category(session, "Sweets", strict=True), category(session, "Spare")
    next_month(session)
    late = {"amount": 10_500, "day": "2026-08-20"}
    refused = spend(session, strict, **late)
    assert refused.code == "failed_precondition"
    assert "move 500 cents to it in 2026-08 first" in refused.value["error"]["message"]
    move = {"from_category": spare, "to_category": strict, "amount": 500, "month": "2026-08"}
    assert session.call("transfer_between_categories", move).ok
    assert spend(session, strict, **late).ok


@pytest.mark.parametrize("way", ["a move", "a limit"])
def test_overspending_a_strict_category_this_month_is_mended_as_advised(session, way):
    strict, spare = category(session, "Sweets", strict=True), category(session, "Spare")
    refused = spend(session, strict, 10_500)
    assert "move 500 cents to it in 2026-08, or raise its limit, first" in refused.value["error"]["message"]
    if way == "a move":
        session.call("transfer_between_categories", {"from_category": spare, "to_category": strict, "amount": 500})
    else:
        session.call("set_category_limit", {"category_id": strict, "limit": 10_500})
    assert spend(session, strict, 10_500).ok


def test_what_is_short_in_both_months_is_said_of_both(session):
    strict = category(session, "Trips", strict=True, carries_over=True)
    spare = category(session, "Spare", limit=50_000, carries_over=True)
    next_month(session)
    spend(session, strict, 19_000)
    late = {"amount": 10_500, "day": "2026-08-20"}
    assert "move 500 cents to it in 2026-08 and 9000 cents to it in 2026-09 first" in spend(session, strict, **late).text
    for amount, month in ((500, "2026-08"), (9_000, "2026-09")):
        move = {"from_category": spare, "to_category": strict, "amount": amount, "month": month}
        assert session.call("transfer_between_categories", move).ok
    assert spend(session, strict, **late).ok


def test_too_low_a_limit_of_a_strict_category_says_the_least_there_can_be(session):
    strict = category(session, "Sweets", strict=True)
    spend(session, strict, 7_300)
    refused = session.call("set_category_limit", {"category_id": strict, "limit": 5_000})
    assert "set at least 7300" in refused.value["error"]["message"]
    assert session.call("set_category_limit", {"category_id": strict, "limit": 7_300}).ok


def test_money_moved_in_the_last_month_must_not_be_missed_in_this_one(session):
    keeps, other = category(session, "Trips", carries_over=True), category(session, "Pets")
    next_month(session)
    spend(session, keeps, 17_000)  # 7,000 of what August left
    move = {"from_category": keeps, "to_category": other, "month": "2026-08"}
    refused = session.call("transfer_between_categories", {**move, "amount": 3_001})
    assert "has only 3000 cents to spare in 2026-08" in refused.value["error"]["message"]
    assert session.call("transfer_between_categories", {**move, "amount": 3_000}).ok
    assert standing(session, keeps)["available"] == 0


def test_only_this_month_and_the_last_take_moves_and_only_of_categories_that_had_begun(session):
    fund, pets = session.call("list_categories", {"query": "emergency"}).value["items"][0]["category_id"], category(session, "Pets")
    move = {"from_category": fund, "to_category": pets, "amount": 100}
    assert session.call("transfer_between_categories", {**move, "month": "2026-06"}).code == "failed_precondition"
    assert session.call("transfer_between_categories", {**move, "month": "2026-07"}).code == "failed_precondition"
    assert session.call("transfer_between_categories", {**move, "month": "2026-08"}).ok


@pytest.mark.parametrize("month", ["2026-01", "2026-09"])
def test_a_month_without_books_is_refused_with_the_months_there_are(session, month):
    refused = session.call("get_summary", {"month": month})
    assert "ask for a month from 2026-02 to 2026-08" in refused.value["error"]["message"]
    for named in ("2026-02", "2026-08"):
        assert session.call("get_summary", {"month": named}).ok


def test_a_month_followed_by_a_newline_is_no_month(session):
    refused = session.call("get_category", {"category_id": category(session, "Pets"), "month": "2026-07\n"})
    assert refused.code == "invalid_argument"


def test_a_name_is_taken_whatever_its_case_and_the_space_around_it(session):
    for name in ("groceries", " Groceries\n", "GROCERIES"):
        again = {"name": name, "group": "needs", "limit": 100}
        assert session.call("create_category", again).code == "conflict"
    assert session.call("create_category", {"name": " ", "group": "needs", "limit": 100}).code == "invalid_argument"


def test_an_income_is_recorded_once_however_its_source_is_spelled(session):
    income = {"source": "Quiet Harbor Books", "amount": 4_200}
    assert session.call("add_income", income).ok
    again = session.call("add_income", {**income, "source": " QUIET harbor Books"})
    assert (again.code, "recorded already" in again.text) == ("conflict", True)


# --- worlds


def test_what_is_metered_does_not_cost_the_same_every_month(session):
    budget = session.servers["budget"]
    bills = [e.amount for e in budget.expenses if e.merchant == "City Utilities"]
    assert len(set(bills)) > 3
    limit = next(c for c in budget.categories if c.name == "Power & Water")
    assert max(bills) <= budget.limits.where(category_id=limit.category_id)[0].limit


@pytest.mark.parametrize("seed", range(30))
def test_a_world_assigns_no_more_than_comes_in_and_pays_its_bills_once_a_month(seed):
    session = Session.open("budget", seed)
    budget = session.servers["budget"]
    rent = [e for e in budget.expenses if e.merchant == "Lakeview Apartments"]
    assert len({(e.day.year, e.day.month) for e in rent}) == len(rent) == 7
    months = sorted({f"{e.day:%Y-%m}" for e in rent})
    assert all(summary(session, month)["ready_to_assign"] >= 0 for month in months)
    fund = next(c for c in budget.categories if c.name == "Emergency Fund")
    shown = [session.call("get_category", {"category_id": fund.category_id, "month": m}).value["standing"] for m in months]
    assert all(m["available"] >= 0 for m in shown)
    assert any(summary(session, month)["over_limit"] for month in months)
