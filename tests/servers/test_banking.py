"""The rules of a bank: what leaves needs the PIN and stays within limits, what is planned happens on its day, disputes are decided."""

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

import pytest

from prove.servers.session import Session

EVERYDAY, JOINT, RAINY, HOLIDAY, CARD, STUDENT = (f"ACC-{n}" for n in range(4001, 4007))
SOMEBODY = "PAY-201"  # the first payee of every world


@pytest.fixture
def session():
    return Session.open("banking", seed=3)  # it begins on 2026-10-13


def pin(session):
    return session.servers["banking"].customers.one().pin


def balance(session, account_id):
    return session.call("get_account", {"account_id": account_id}).value["balance"]


def transfer(session, source, target, amount):
    return session.call("transfer_between_accounts", {"from_account": source, "to_account": target, "amount": amount})


def send(session, amount, account_id=EVERYDAY, **more):
    return session.call("send_payment", {"account_id": account_id, "payee_id": SOMEBODY, "amount": amount, "pin": pin(session), **more})


def schedule(session, amount, day, account_id=EVERYDAY, **more):
    what = {"account_id": account_id, "payee_id": SOMEBODY, "amount": amount, "day": str(day), "pin": pin(session)}
    return session.call("schedule_payment", {**what, **more})


def scheduled(session, status="pending", payee_id=SOMEBODY):
    """Scheduled payments to a payee, as the bank lists them."""
    return session.call("list_scheduled_payments", {"payee_id": payee_id, "status": status, "limit": 50}).value["items"]


def fresh_payee(session):
    """Somebody to whom nothing was ever paid."""
    return session.call("add_payee", {"name": "Green Street Nursery", "account_number": "5520193847"}).value["payee_id"]


def advance_to(session, day):
    """Let time pass until noon of a day."""
    noon = datetime.combine(datetime.fromisoformat(day).date(), time(12), UTC)
    session.advance(seconds=(noon - session.clock.now).total_seconds())


def a_charge(session, account_id=EVERYDAY):
    """The latest card purchase on an account that nobody has disputed."""
    found = session.servers["banking"].transactions.where(account_id=account_id, kind="card", status="posted")
    return found[-1]


# --- money that leaves


@pytest.mark.parametrize("tool", ["send_payment", "schedule_payment", "unfreeze_card"])
def test_no_way_out_without_the_pin(session, tool):
    wrong = f"{(int(pin(session)) + 1) % 10_000:04}"
    pay = {"account_id": EVERYDAY, "payee_id": SOMEBODY, "amount": 100}
    frozen = next(c for c in session.servers["banking"].cards if c.status == "frozen")
    ways = {"send_payment": pay, "schedule_payment": {**pay, "day": "2026-10-20"}, "unfreeze_card": {"card_id": frozen.card_id}}
    assert session.call(tool, ways[tool]).code == "invalid_argument"
    refused = session.call(tool, {**ways[tool], "pin": wrong})
    assert refused.code == "permission_denied"
    assert wrong not in refused.text
    assert session.call(tool, {**ways[tool], "pin": pin(session)}).ok


def test_a_payment_leaves_the_account_and_shows_its_memo(session):
    before = balance(session, EVERYDAY)
    paid = send(session, 2_550, memo="concert tickets").value
    assert balance(session, EVERYDAY) == before - 2_550
    shown = session.call("get_transaction", {"transaction_id": paid["transaction_id"]}).value
    assert (shown["amount"], shown["memo"], shown["kind"]) == (-2_550, "concert tickets", "payment")


def test_the_daily_limit_counts_payments_whatever_their_memo_says(session):
    assert send(session, 150_000, memo="Transfer").ok
    refused = send(session, 50_001, memo="Transfer")
    assert refused.code == "resource_exhausted"
    assert "only 50000 cents of ACC-4001's daily limit are left" in refused.value["error"]["message"]
    assert send(session, 50_000).ok  # as the refusal says
    assert send(session, 1).code == "resource_exhausted"
    session.advance(days=1)
    assert send(session, 1).ok


def test_transfers_between_own_accounts_count_towards_no_limit(session):
    assert transfer(session, EVERYDAY, RAINY, 250_000).ok
    assert send(session, 200_000).ok


def test_a_transfer_is_one_sum_on_two_accounts(session):
    before = balance(session, RAINY), balance(session, EVERYDAY)
    moved = transfer(session, RAINY, EVERYDAY, 12_345).value
    assert (moved["sent"]["amount"], moved["received"]["amount"]) == (-12_345, 12_345)
    assert (balance(session, RAINY), balance(session, EVERYDAY)) == (before[0] - 12_345, before[1] + 12_345)


def test_an_account_goes_down_to_its_overdraft_and_no_further(session):
    left = balance(session, HOLIDAY)
    assert transfer(session, HOLIDAY, EVERYDAY, left + 1).code == "resource_exhausted"  # savings have no overdraft
    assert transfer(session, HOLIDAY, EVERYDAY, left).ok
    available = balance(session, EVERYDAY) + 20_000
    assert transfer(session, EVERYDAY, RAINY, available + 1).code == "resource_exhausted"
    assert transfer(session, EVERYDAY, RAINY, available).ok


def test_a_card_account_is_paid_off_and_pays_nobody(session):
    send(session, 100)
    owed = -balance(session, CARD)
    for refused in (transfer(session, CARD, EVERYDAY, 100), send(session, 100, CARD), schedule(session, 100, "2026-10-20", CARD)):
        assert refused.code == "failed_precondition"
        assert "send money from a checking or savings account" in refused.value["error"]["message"]
    assert owed > 0
    assert transfer(session, EVERYDAY, CARD, owed).ok
    assert balance(session, CARD) == 0


def test_only_an_open_account_sends_or_takes_money(session):
    for refused in (transfer(session, STUDENT, EVERYDAY, 100), transfer(session, EVERYDAY, STUDENT, 100), send(session, 100, STUDENT)):
        assert refused.code == "failed_precondition"
    assert transfer(session, EVERYDAY, EVERYDAY, 100).code == "invalid_argument"


# --- payments to come


def test_a_monthly_payment_keeps_its_day_of_the_month(session):
    payee = fresh_payee(session)
    schedule(session, 1_000, "2026-10-31", payee_id=payee, repeats="monthly")
    session.advance(days=170)  # until 2027-04-01, in one go
    paid = scheduled(session, "paid", payee)
    days = ["2026-10-31", "2026-11-30", "2026-12-31", "2027-01-31", "2027-02-28", "2027-03-31"]
    assert [p["day"] for p in reversed(paid)] == days
    entries = [session.call("get_transaction", {"transaction_id": p["transaction_id"]}).value for p in reversed(paid)]
    assert [e["posted"] for e in entries] == [f"{day}T06:00:00Z" for day in days]
    assert [p["day"] for p in scheduled(session, payee_id=payee)] == ["2027-04-30"]


def test_a_weekly_payment_is_made_every_week_also_after_a_jump(session):
    payee = fresh_payee(session)
    schedule(session, 100, "2026-10-20", payee_id=payee, repeats="weekly")
    session.advance(days=60)  # until 2026-12-12
    assert [p["day"] for p in reversed(scheduled(session, "paid", payee))] == [
        "2026-10-20", "2026-10-27", "2026-11-03", "2026-11-10", "2026-11-17", "2026-11-24", "2026-12-01", "2026-12-08"
    ]  # fmt: skip
    assert [p["day"] for p in scheduled(session, payee_id=payee)] == ["2026-12-15"]


def test_what_is_due_on_the_last_of_a_month_stands_in_that_months_statement(session):
    twin = session.fork()
    schedule(session, 4_321, "2026-10-31")
    for one in (session, twin):
        one.advance(days=40)
    october, without = (s.call("get_statement", {"account_id": EVERYDAY, "month": "2026-10"}).value for s in (session, twin))
    assert october["money_out"] == without["money_out"] + 4_321
    assert october["closing_balance"] == without["closing_balance"] - 4_321


def test_a_scheduled_payment_is_for_a_later_day_and_within_the_limit(session):
    assert schedule(session, 100, "2026-10-13").code == "failed_precondition"
    assert schedule(session, 200_001, "2026-10-20").code == "resource_exhausted"
    assert schedule(session, 200_000, "2026-10-20").ok


def test_the_daily_limit_holds_for_scheduled_payments_too_and_what_failed_says_why(session):
    payee = fresh_payee(session)
    for amount in (150_000, 60_000):
        schedule(session, amount, "2026-10-19", payee_id=payee)  # no bill is due on that day
    session.advance(days=8)
    assert [p["amount"] for p in scheduled(session, "paid", payee)] == [150_000]
    (failed,) = scheduled(session, "failed", payee)
    assert failed["problem"] == "only 50000 cents of ACC-4001's daily limit are left today"


def test_a_payment_without_cover_fails_and_the_next_of_its_kind_is_still_to_come(session):
    payee = fresh_payee(session)
    schedule(session, balance(session, HOLIDAY) + 1, "2026-10-20", HOLIDAY, payee_id=payee, repeats="monthly")
    session.advance(days=8)
    (failed,) = scheduled(session, "failed", payee)
    assert failed["problem"] == f"ACC-4004 has only {balance(session, HOLIDAY)} cents available"
    assert [p["day"] for p in scheduled(session, payee_id=payee)] == ["2026-11-20"]


def test_a_cancelled_payment_is_not_made_nor_are_those_that_would_follow(session):
    payee = fresh_payee(session)
    planned = schedule(session, 1_000, "2026-10-20", payee_id=payee, repeats="weekly").value["scheduled_payment_id"]
    assert session.call("cancel_scheduled_payment", {"scheduled_payment_id": planned}).ok
    assert session.call("cancel_scheduled_payment", {"scheduled_payment_id": planned}).code == "failed_precondition"
    session.advance(days=30)
    assert [p["scheduled_payment_id"] for p in scheduled(session, "cancelled", payee)] == [planned]
    assert not scheduled(session, "paid", payee)
    assert not scheduled(session, "pending", payee)


# --- payees


def test_the_customers_own_account_is_no_payee(session):
    number = session.call("get_account", {"account_id": JOINT}).value["number"]
    refused = session.call("add_payee", {"name": "Myself", "account_number": number})
    assert refused.code == "conflict"
    assert f"{JOINT}: use transfer_between_accounts" in refused.value["error"]["message"]
    assert transfer(session, EVERYDAY, JOINT, 100).ok


def test_an_account_number_is_saved_once_and_a_name_is_no_blank(session):
    payee = fresh_payee(session)
    again = session.call("add_payee", {"name": "The Nursery", "account_number": "5520193847"})
    assert again.code == "conflict"
    assert payee in again.text
    assert session.call("add_payee", {"name": " \t", "account_number": "5520193848"}).code == "invalid_argument"
    assert session.call("add_payee", {"name": "A", "account_number": "5520193848\n"}).code == "invalid_argument"


def test_a_payee_goes_once_the_payments_that_the_refusal_names_are_cancelled(session):
    payee = fresh_payee(session)
    schedule(session, 1_000, "2026-10-20", payee_id=payee)
    refused = session.call("remove_payee", {"payee_id": payee})
    assert refused.code == "failed_precondition"
    named = [p["scheduled_payment_id"] for p in scheduled(session, payee_id=payee)]
    assert f"cancel {', '.join(named)} first" in refused.value["error"]["message"]
    for key in named:
        session.call("cancel_scheduled_payment", {"scheduled_payment_id": key})
    assert session.call("remove_payee", {"payee_id": payee}).ok


# --- cards and disputes


def test_a_card_is_frozen_and_thawed_and_an_expired_one_stays_so(session):
    cards = session.call("list_cards", {}).value["items"]
    active = next(c["card_id"] for c in cards if c["status"] == "active")
    expired = next(c["card_id"] for c in cards if c["status"] == "expired")
    assert session.call("freeze_card", {"card_id": active}).value["status"] == "frozen"
    assert session.call("freeze_card", {"card_id": active}).code == "failed_precondition"
    assert session.call("unfreeze_card", {"card_id": active, "pin": pin(session)}).value["status"] == "active"
    assert session.call("unfreeze_card", {"card_id": expired, "pin": pin(session)}).code == "failed_precondition"


def test_a_card_is_good_until_its_last_month_is_over(session):
    bank = session.servers["banking"]
    card = next(c.card_id for c in bank.cards if c.status == "active")
    bank.cards.update(card, expires="2026-11")
    advance_to(session, "2026-11-30")
    assert bank.cards.get(card).status == "active"
    advance_to(session, "2026-12-01")
    assert bank.cards.get(card).status == "expired"


def dispute(session, charge, reason="not_recognised"):
    return session.call("dispute_transaction", {"transaction_id": charge.transaction_id, "reason": reason})


def test_a_dispute_can_be_read_and_gives_the_money_back_after_ten_days(session):
    charge = a_charge(session)
    assert dispute(session, charge).ok
    shown = session.call("get_transaction", {"transaction_id": charge.transaction_id}).value
    assert (shown["status"], shown["dispute_reason"], shown["dispute_status"]) == ("disputed", "not_recognised", "open")
    assert dispute(session, charge).code == "conflict"
    session.advance(days=10)
    shown = session.call("get_transaction", {"transaction_id": charge.transaction_id}).value
    assert (shown["status"], shown["dispute_status"]) == ("refunded", "refunded")
    (refund,) = session.servers["banking"].transactions.where(memo=f"Dispute {shown['dispute_id']}")
    assert (refund.amount, refund.kind) == (-charge.amount, "refund")
    assert refund.posted - session.worlds["banking"].start == timedelta(days=10)


def test_what_was_charged_once_was_not_charged_twice(session):
    bank, charge = session.servers["banking"], a_charge(session)
    bank.transactions.update(charge.transaction_id, amount=-77_777)  # no other charge is of that amount
    dispute(session, charge, "charged_twice")
    session.advance(days=10)
    shown = session.call("get_transaction", {"transaction_id": charge.transaction_id}).value
    assert (shown["status"], shown["dispute_status"]) == ("posted", "rejected")


def test_what_was_charged_twice_is_given_back_once(session):
    charge = a_charge(session)
    bank = session.servers["banking"]
    twin = bank._post(bank.accounts.get(EVERYDAY), charge.amount, charge.counterparty, "card purchase", "card")
    dispute(session, twin, "charged_twice")
    session.advance(days=10)
    assert bank.transactions.get(twin.transaction_id).status == "refunded"
    assert bank.transactions.get(charge.transaction_id).status == "posted"


def test_two_charges_of_which_each_is_the_others_twin_are_not_both_given_back(session):
    charge = a_charge(session)
    bank = session.servers["banking"]
    twin = bank._post(bank.accounts.get(EVERYDAY), charge.amount, charge.counterparty, "card purchase", "card")
    for one in (charge, twin):
        assert dispute(session, one, "charged_twice").ok
    session.advance(days=10)
    assert [bank.transactions.get(t.transaction_id).status for t in (charge, twin)] == ["refunded", "posted"]


def test_a_subscription_is_charged_every_month_and_not_while_its_card_is_frozen(session):
    bank = session.servers["banking"]
    subscription = next(s for s in bank.subscriptions if bank.cards.get(s.card_id).account_id == CARD)
    whole = {"account_id": CARD, "query": subscription.merchant, "limit": 50}

    def charged():
        return session.call("list_transactions", whole).value["total"]

    before, card = charged(), {"card_id": subscription.card_id}
    assert before >= 10
    session.advance(days=31)
    assert charged() == before + 1
    assert session.call("freeze_card", card).ok
    session.advance(days=31)
    assert charged() == before + 1
    assert session.call("unfreeze_card", {**card, "pin": pin(session)}).ok
    session.advance(days=31)
    assert charged() == before + 2


def test_no_more_is_paid_to_a_card_than_is_owed_on_it_as_it_could_not_be_moved_back(session):
    send(session, 100)
    owed = -balance(session, CARD)
    refused = transfer(session, EVERYDAY, CARD, owed + 1)
    assert (refused.code, f"{owed} cents are owed" in refused.text) == ("failed_precondition", True)
    assert transfer(session, EVERYDAY, CARD, owed).ok


def test_only_a_card_charge_can_be_disputed_and_no_old_one(session):
    bank = session.servers["banking"]
    for kind in ("income", "payment", "transfer", "refund"):  # what the PIN has confirmed is not taken back
        assert dispute(session, bank.transactions.where(kind=kind)[-1]).code == "failed_precondition"
    charges = bank.transactions.where(kind="card", status="posted")
    age = {t: (bank.today - t.posted.date()).days for t in charges}
    assert dispute(session, max((t for t in charges if age[t] <= 120), key=age.get)).ok
    assert dispute(session, min((t for t in charges if age[t] > 120), key=age.get)).code == "failed_precondition"


# --- reading


def test_entries_of_one_moment_are_listed_the_last_first(session):
    for amount in (100, 200, 300):
        send(session, amount)
    listed = session.call("list_transactions", {"account_id": EVERYDAY, "limit": 3}).value["items"]
    assert [t["amount"] for t in listed] == [-300, -200, -100]


def test_all_entries_can_be_reached(session):
    whole = {"account_id": EVERYDAY, "limit": 50}
    total = session.call("list_transactions", whole).value["total"]
    assert total > 50
    pages = [session.call("list_transactions", {**whole, "offset": at}).value["items"] for at in range(0, total, 50)]
    assert len({t["transaction_id"] for page in pages for t in page}) == total


def test_statements_follow_one_another_and_end_at_the_balance(session):
    statements = [session.call("get_statement", {"account_id": JOINT, "month": f"2026-{m:02}"}).value for m in range(1, 11)]
    for earlier, later in pairwise(statements):
        assert later["opening_balance"] == earlier["closing_balance"]
    assert statements[-1]["closing_balance"] == balance(session, JOINT)


@pytest.mark.parametrize("month", ["2025-09", "2026-11"])
def test_there_is_no_statement_outside_the_books_and_the_refusal_says_which_there_are(session, month):
    refused = session.call("get_statement", {"account_id": JOINT, "month": month})
    assert refused.code == "failed_precondition"
    assert "ask for a month from 2025-10 to 2026-10" in refused.value["error"]["message"]
    for named in ("2025-10", "2026-10"):
        assert session.call("get_statement", {"account_id": JOINT, "month": named}).ok


# --- worlds


@pytest.mark.parametrize("seed", range(40))
def test_what_is_planned_in_a_world_can_be_paid(seed):
    session = Session.open("banking", seed)
    bank = session.servers["banking"]
    failed = len(bank.scheduled_payments.where(status="failed"))
    assert failed >= 1  # there is something to ask about
    assert len(bank.scheduled_payments.where(status="pending")) >= 8
    session.advance(days=40)
    assert len(bank.scheduled_payments.where(status="failed")) == failed


@pytest.mark.parametrize("seed", range(40))
def test_a_world_has_bills_once_a_month_a_card_paid_off_and_a_joint_account_that_lives(seed):
    bank = Session.open("banking", seed).servers["banking"]
    for name in ("City Power & Light", "Brightnet Internet", "Lakeview Apartments", "Anytime Gym"):
        months = [f"{t.posted:%Y-%m}" for t in bank.transactions.where(counterparty=name)]
        assert len(months) == len(set(months)) >= 10, name
    running, seen = 0, []
    for entry in bank.transactions.where(account_id=CARD):
        running += entry.amount
        seen += [running] if entry.kind == "transfer" else []
    assert len(seen) >= 11
    assert set(seen) == {0}
    joint = bank.transactions.where(account_id=JOINT)
    assert sum(t.kind == "income" for t in joint) >= 11
    assert bank.accounts.get(JOINT).balance > 50_000
    assert any((bank.today - t.posted.date()).days <= 20 for t in joint)


def test_three_wrong_pins_lock_it_for_a_day_and_a_right_one_begins_the_count_anew():
    session = Session.open("banking", 0)
    bank = session.servers["banking"]
    card, right = next(c.card_id for c in bank.cards if c.status == "frozen"), bank.customers.one().pin
    wrong = "0000" if right != "0000" else "1111"
    for _ in range(2):
        assert session.call("unfreeze_card", {"card_id": card, "pin": wrong}).code == "permission_denied"
    assert session.fork().call("unfreeze_card", {"card_id": card, "pin": right}).ok
    untouched = Session.open("banking", 0)
    assert untouched.call("unfreeze_card", {"card_id": card, "pin": right}).ok
    two_wrong = session.fork()
    assert two_wrong.call("unfreeze_card", {"card_id": card, "pin": right}).ok
    assert two_wrong.outcome() == untouched.outcome()
    assert "3 of 3" in session.call("unfreeze_card", {"card_id": card, "pin": wrong}).text
    assert "locked until" in session.call("unfreeze_card", {"card_id": card, "pin": right}).text
    session.advance(days=1)
    assert session.call("unfreeze_card", {"card_id": card, "pin": right}).ok
