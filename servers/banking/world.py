"""One customer's bank: six accounts, a year lived on them day by day, payees with a namesake, cards in every state."""

from datetime import timedelta
from typing import get_args

from dateutil.relativedelta import relativedelta

from prove.servers.maker import Maker

from .records import Account, Card, Customer, Income, Payee, Reason, ScheduledPayment, StandingTransfer, Subscription
from .tools import Banking, morning_of

DAYS = 360
MERCHANTS = {  # counterparty -> (lowest, highest) charge in cents
    "Greenleaf Market": (1200, 14500),
    "Corner Coffee": (350, 1450),
    "Metro Transit": (275, 2750),
    "Northside Pharmacy": (600, 5200),
    "Blue Door Books": (900, 4800),
    "Harbor Cinema": (1100, 3900),
    "Fleet Fuel": (2500, 7800),
    "Sakura Sushi": (1800, 8900),
    "Stitch & Sole": (2500, 18000),
}
EMPLOYERS = ("Orion Logistics", "Maple Health", "Quarry Software")
MEMOS = ("card purchase", "contactless", "online order", "")
BILLS = ("City Power & Light", "Brightnet Internet", "Lakeview Apartments", "Anytime Gym")

ACCOUNTS = (  # name, kind, status, usual opening balance, overdraft, daily limit
    ("Everyday Checking", "checking", "open", 320_000, 20_000, 200_000),
    ("Joint Checking", "checking", "open", 150_000, 0, 100_000),
    ("Rainy Day Savings", "savings", "open", 900_000, 0, 500_000),
    ("Holiday Savings", "savings", "open", 42_000, 0, 500_000),
    ("Rewards Card", "credit", "open", 0, 500_000, 300_000),
    ("Old Student Checking", "checking", "closed", 0, 0, 50_000),
)


def populate(bank: Banking, make: Maker) -> None:
    bank.customers.add(Customer("CUS-1", make.person(), make.digits(4)))
    for account in ACCOUNTS:
        _open(bank, make, *account)
    if make.chance(0.5):  # some customers have an account under review
        _open(bank, make, "Travel Savings", "savings", "frozen", 60_000, 0, 100_000)
    _payees(bank, make)
    _cards(bank, make)
    _regulars(bank, make)
    _live(bank, make)
    _upcoming(bank, make)


def _open(bank: Banking, make: Maker, name: str, kind: str, status: str, usual: int, overdraft: int, limit: int) -> None:
    opening, since = usual * make.between(60, 140) // 100, make.day(-DAYS)
    number = make.digits(10)
    bank.accounts.add(Account(bank.accounts.mint(), name, kind, number, status, since, opening, opening, overdraft, limit))


def _payees(bank: Banking, make: Maker) -> None:
    people = [make.person() for _ in range(10)]
    namesake = f"{people[0].split()[0]} {make.faker.last_name()}"  # two people of one first name
    for name in [*people, namesake, *BILLS]:
        bank.payees.add(Payee(bank.payees.mint(), name, make.digits(10)))


def _cards(bank: Banking, make: Maker) -> None:
    everyday, joint, *_, credit, _closed = [a.account_id for a in list(bank.accounts)[:6]]
    cards = ((everyday, "debit", "active"), (joint, "debit", "active"), (joint, "debit", "frozen"), (credit, "credit", "active"))
    for account_id, kind, status in (*cards, (everyday, "debit", "expired"), (credit, "credit", "frozen")):
        ahead = -make.between(1, 12) if status == "expired" else make.between(0, 40)
        expires = f"{make.today + relativedelta(months=ahead):%Y-%m}"
        bank.cards.add(Card(bank.cards.mint(), account_id, kind, make.digits(4), expires, status))


def _regulars(bank: Banking, make: Maker) -> None:
    """What comes and goes every month: pay, the household's share, savings, the card's payment, bills."""
    everyday, joint, rainy, holiday, credit, _closed = [a.account_id for a in list(bank.accounts)[:6]]
    begins = make.day(-DAYS + 1)
    salary = make.between(350_000, 490_000, 1000)

    def from_day(day: int) -> dict[str, object]:
        first = begins + relativedelta(day=day)
        first = first if first >= begins else begins + relativedelta(months=1, day=day)
        return {"first_day": first, "day": first}

    def income(account_id: str, sender: str, amount: int, memo: str, day: int) -> None:
        bank.incomes.add(Income(bank.incomes.mint(), account_id, sender, amount, memo, **from_day(day)))

    def standing(source: str, target: str, amount: int | None, day: int) -> None:
        bank.standing_transfers.add(StandingTransfer(bank.standing_transfers.mint(), source, target, amount, **from_day(day)))

    def bill(payee: str, account_id: str, amount: int, day: int) -> None:
        key, payee_id = bank.scheduled_payments.mint(), bank.payees.where(name=payee)[0].payee_id
        bank.scheduled_payments.add(ScheduledPayment(key, account_id, payee_id, amount, repeats="monthly", **from_day(day)))

    income(everyday, make.pick(EMPLOYERS), salary, "salary", 1)
    income(joint, make.person(), make.between(30_000, 45_000, 1000), "household", make.between(2, 6))
    standing(everyday, joint, make.between(30_000, 45_000, 1000), 3)
    standing(everyday, rainy, salary // 8, 4)
    standing(everyday, holiday, make.between(2_000, 6_000, 500), 5)
    standing(everyday, credit, None, make.between(20, 27))
    bill("Lakeview Apartments", everyday, make.between(90_000, 125_000, 1000), make.pick((2, 31)))
    bill("City Power & Light", joint, make.between(6_500, 12_500, 100), 12)
    bill("Brightnet Internet", joint, 5_999, make.between(7, 28))
    bill("Anytime Gym", everyday, 3_499, make.between(2, 28))
    for merchant, account_id, amount, day in (("Reelhouse Streaming", credit, 1_599, 9), ("The Daily Ledger", everyday, 1_250, 16)):
        card = bank.cards.where(account_id=account_id, status="active")[0].card_id
        key = bank.subscriptions.mint()
        bank.subscriptions.add(Subscription(key, card, merchant, amount, **from_day(day + make.between(0, 5))))


def _live(bank: Banking, make: Maker) -> None:
    """A year of daily life: what is due in the morning, then purchases, now and then a payment, a complaint, a change of mind."""
    for ago in range(DAYS - 1, 0, -1):
        morning = bank.clock.now = morning_of(make.day(-ago))
        bank.elapse()
        if ago in ERRANDS:
            ERRANDS[ago](bank, make)
        for minutes, account_id, merchant in _purchases(bank, make):
            bank.clock.now = morning + timedelta(minutes=minutes)
            account, amount = bank.accounts.get(account_id), make.between(*MERCHANTS[merchant])
            if amount <= account.balance + account.overdraft:  # the bank would decline more
                bank._post(account, -amount, merchant, make.pick(MEMOS), "card")
    bank.clock.now = morning_of(make.today)
    bank.elapse()
    bank.clock.now = make.start


def _purchases(bank: Banking, make: Maker) -> list[tuple[int, str, str]]:
    """(minutes since the morning, account, merchant) of one day's purchases, in the order of time."""
    everyday, joint, _, _, credit = bank.accounts.keys()[:5]
    buying = [key for key, often in ((everyday, 0.7), (joint, 0.25), (credit, 0.25)) if make.chance(often)]
    return sorted((make.between(60, 900), key, make.pick(list(MERCHANTS))) for key in buying)


def _people(bank: Banking) -> list[Payee]:
    return [p for p in bank.payees if p.name not in BILLS]


def _pay_somebody(bank: Banking, make: Maker) -> None:
    amount = make.between(1500, 9000, 50)  # out of savings, which are never low
    bank.send_payment(bank.accounts.keys()[2], make.pick(_people(bank)).payee_id, amount, bank.customers.one().pin, "thank you!")


def _plan_too_much(bank: Banking, make: Maker) -> None:
    """Two payments on one day, which together are more than the joint account lets go on a day."""
    for payee in make.some(_people(bank), 2):
        bank.schedule_payment(
            bank.accounts.keys()[1], payee.payee_id, 52_000, bank.today + timedelta(days=3), bank.customers.one().pin, "once"
        )


def _change_a_plan(bank: Banking, make: Maker) -> None:
    payee, amount, day = make.pick(_people(bank)), make.between(2000, 20000, 500), bank.today + timedelta(days=9)
    planned = bank.schedule_payment(bank.accounts.keys()[0], payee.payee_id, amount, day, bank.customers.one().pin, "monthly")
    bank.cancel_scheduled_payment(planned.scheduled_payment_id)


def _complain(bank: Banking, make: Maker) -> None:
    *_, charge = bank.transactions.where(kind="card")
    bank.dispute_transaction(charge.transaction_id, make.pick(get_args(get_args(Reason)[0])))


ERRANDS = {
    150: _pay_somebody,
    96: _plan_too_much,
    75: _complain,
    45: _complain,
    40: _change_a_plan,
    33: _pay_somebody,
    4: _complain,
}  # by how many days ago


def _upcoming(bank: Banking, make: Maker) -> None:
    """Payments to come that the accounts can well afford."""
    checking = [a for a in bank.accounts if a.status == "open" and a.kind == "checking"]
    for payee in make.some(_people(bank), 6):
        account = make.pick(checking)
        amount = make.between(2000, max(2500, min(45_000, account.balance // 40)), 500)
        repeats = make.pick(("once", "weekly", "monthly"))
        day = make.day(make.between(1, 40))
        bank.schedule_payment(account.account_id, payee.payee_id, amount, day, bank.customers.one().pin, repeats)
