"""The rules of the library: cards and limits, copies that are passed on, late and lost ones, fees."""

from datetime import date, timedelta

import pytest

from prove.servers.session import Session

DAY = timedelta(days=1)


@pytest.fixture
def session():
    return Session.open("public_library", seed=0)


def live(session):
    return session.servers["public_library"]


def member(session, name="Imani Bauer", kind="adult"):
    told = {"name": name, "email": f"{name.split()[0].lower()}@example.org", "kind": kind}
    return session.call("register_member", told).value["member_id"]


def free(session, copies=1):
    """The id of a title with so many copies, all of them on the shelf, and theirs."""
    for title in live(session).titles:
        found = live(session).copies.where(title_id=title.title_id)
        if len(found) == copies and all(c.status == "on_shelf" for c in found):
            return title.title_id, [c.copy_id for c in found]
    raise AssertionError("no such title")


def lend(session, copy_id, member_id):
    return session.call("check_out", {"copy_id": copy_id, "member_id": member_id})


def test_a_loan_lasts_as_long_as_its_medium_says(session):
    who = member(session)
    for medium, days in (("book", 21), ("film", 7), ("board_game", 14)):
        titles = {t.title_id for t in live(session).titles.where(medium=medium)}
        copy = next(c for c in live(session).copies.where(status="on_shelf") if c.title_id in titles)
        loan = lend(session, copy.copy_id, who).value
        assert date.fromisoformat(loan["due"]) - date.fromisoformat(loan["lent"]) == days * DAY


def test_a_card_is_good_for_so_many_loans(session):
    who = member(session, kind="child")
    shelf = [c.copy_id for c in live(session).copies.where(status="on_shelf")]
    assert [lend(session, c, who).ok for c in shelf[:6]] == [True] * 5 + [False]
    assert lend(session, shelf[6], who).code == "resource_exhausted"
    assert session.call("check_in", {"copy_id": shelf[0]}).ok
    assert lend(session, shelf[6], who).ok


def test_a_copy_that_comes_back_is_set_aside_for_whoever_has_waited_longest(session):
    title, [copy] = free(session)
    first, second, third = (member(session, name) for name in ("Ana Diaz", "Ben Kahn", "Cem Aydin"))
    lend(session, copy, first)
    holds = [session.call("place_hold", {"title_id": title, "member_id": m}).value for m in (second, third)]
    assert [h["status"] for h in holds] == ["waiting", "waiting"]
    assert session.call("check_in", {"copy_id": copy}).value["next_hold"] == holds[0]["hold_id"]
    assert lend(session, copy, third).code == "conflict"
    assert lend(session, copy, second).ok
    assert session.call("list_holds", {"member_id": second, "status": "collected"}).value["total"] == 1


def test_a_hold_that_nobody_collects_expires_and_the_copy_goes_on(session):
    title, [copy] = free(session)
    first, second = member(session, "Ana Diaz"), member(session, "Ben Kahn")
    ready = session.call("place_hold", {"title_id": title, "member_id": first}).value
    assert (ready["status"], ready["copy_id"]) == ("ready", copy)
    waits = session.call("place_hold", {"title_id": title, "member_id": second}).value
    session.advance(days=7)
    assert live(session).holds.get(ready["hold_id"]).status == "ready"
    session.advance(days=1)
    assert live(session).holds.get(ready["hold_id"]).status == "expired"
    assert live(session).holds.get(waits["hold_id"]).copy_id == copy
    session.advance(days=8)
    assert live(session).copies.get(copy).status == "on_shelf"


def test_a_member_with_a_copy_set_aside_is_lent_that_one(session):
    title, copies = free(session, copies=2)
    who = member(session)
    kept = session.call("place_hold", {"title_id": title, "member_id": who}).value["copy_id"]
    other = next(c for c in copies if c != kept)
    assert lend(session, other, who).code == "conflict"
    assert lend(session, kept, who).ok
    assert session.call("place_hold", {"title_id": title, "member_id": who}).code == "conflict"


@pytest.mark.parametrize(("days", "fee"), [(21, None), (22, 25), (25, 100), (90, 1000)])
def test_a_late_return_costs_a_quarter_a_day_up_to_ten_dollars(session, days, fee):
    _, [copy] = free(session)
    lend(session, copy, member(session))
    session.advance(days=days)
    charged = session.call("check_in", {"copy_id": copy}).value["fee"]
    assert (charged and charged["amount"]) == fee


def test_who_owes_too_much_is_lent_nothing_until_it_is_paid(session):
    who, shelf = member(session), [c.copy_id for c in live(session).copies.where(status="on_shelf")]
    loan = lend(session, shelf[0], who).value
    fee = session.call("report_lost", {"loan_id": loan["loan_id"]}).value
    price = live(session).titles.get(loan["title_id"]).price
    assert (fee["owed"], live(session).copies.get(shelf[0]).status) == (price, "lost")
    assert lend(session, shelf[1], who).ok == (price <= 1000)
    assert session.call("pay_fee", {"fee_id": fee["fee_id"], "amount": price + 1}).code == "invalid_argument"
    part = session.call("pay_fee", {"fee_id": fee["fee_id"], "amount": price - 100}).value
    assert (part["status"], part["owed"]) == ("open", 100)
    assert lend(session, shelf[2], who).ok
    assert session.call("waive_fee", {"fee_id": fee["fee_id"], "reason": "hardship"}).value["status"] == "waived"
    assert session.call("pay_fee", {"fee_id": fee["fee_id"]}).code == "failed_precondition"


def test_a_loan_is_renewed_twice_and_not_while_somebody_waits(session):
    _, [copy] = free(session)
    loan = lend(session, copy, member(session)).value["loan_id"]
    assert session.call("renew_loan", {"loan_id": loan}).code == "failed_precondition"  # it would gain nothing
    for _ in range(2):
        session.advance(days=5)
        assert session.call("renew_loan", {"loan_id": loan}).ok
    session.advance(days=5)
    assert session.call("renew_loan", {"loan_id": loan}).code == "resource_exhausted"
    _, [other] = free(session)
    loan = lend(session, other, member(session, "Ana Diaz")).value
    session.call("place_hold", {"title_id": loan["title_id"], "member_id": member(session, "Ben Kahn")})
    session.advance(days=1)
    assert session.call("renew_loan", {"loan_id": loan["loan_id"]}).code == "failed_precondition"


def test_a_lapsed_card_is_renewed_before_anything_is_lent(session):
    who, shelf = member(session), live(session).copies.where(status="on_shelf")[0].copy_id
    assert session.call("renew_membership", {"member_id": who}).code == "failed_precondition"  # too early
    session.advance(days=366)
    assert lend(session, shelf, who).code == "failed_precondition"
    assert session.call("renew_membership", {"member_id": who}).value["expires"] == (live(session).today + 365 * DAY).isoformat()
    assert lend(session, shelf, who).ok


def test_an_address_has_one_card_whatever_its_case(session):
    member(session)
    told = {"name": "Somebody Else", "email": "IMANI@example.org", "kind": "senior"}
    assert session.call("register_member", told).code == "conflict"
