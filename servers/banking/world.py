"""One customer's bank: six accounts, a year of transactions, payees with a namesake, cards in every state."""

from prove.servers.maker import Maker
from servers.banking.tools import (
    Account,
    Banking,
    Card,
    Customer,
    Payee,
    ScheduledPayment,
    Transaction,
)

MERCHANTS = {  # counterparty -> (lowest, highest) charge in cents
    "Greenleaf Market": (1200, 14500),
    "Corner Coffee": (350, 1450),
    "Metro Transit": (275, 2750),
    "City Power & Light": (4500, 16000),
    "Northside Pharmacy": (600, 5200),
    "Blue Door Books": (900, 4800),
    "Harbor Cinema": (1100, 3900),
    "Fleet Fuel": (2500, 7800),
    "Sakura Sushi": (1800, 8900),
    "Brightnet Internet": (5999, 5999),
    "Anytime Gym": (3499, 3499),
    "Stitch & Sole": (2500, 18000),
}
EMPLOYERS = ("Orion Logistics", "Maple Health", "Quarry Software")
MEMOS = ("card purchase", "contactless", "online order", "")

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
    _history(bank, make)
    _payees(bank, make)
    _scheduled(bank, make)
    _cards(bank, make)


def _open(bank: Banking, make: Maker, name: str, kind: str, status: str, usual: int, overdraft: int, limit: int) -> None:
    opening = usual * make.between(60, 140) // 100
    number = make.digits(10)
    bank.accounts.add(Account(bank.accounts.mint(), name, kind, number, status, opening, opening, overdraft, limit))


def _history(bank: Banking, make: Maker) -> None:
    """A year of daily life on the spending accounts, oldest first, with a salary on the first of each month."""
    employer = make.pick(EMPLOYERS)
    salary = make.between(280_000, 520_000, 1000)
    everyday, joint, *_, card, _closed = list(bank.accounts)[:6]
    for ago in range(360, 0, -1):
        if make.day(-ago).day == 1:
            _post(bank, make, everyday, ago, salary, employer, "salary")
        for account, daily in ((everyday, 0.7), (joint, 0.25), (card, 0.25)):
            if make.chance(daily):
                merchant = make.pick(list(MERCHANTS))
                _post(bank, make, account, ago, -make.between(*MERCHANTS[merchant]), merchant, make.pick(MEMOS))


def _post(bank: Banking, make: Maker, account: Account, ago: int, amount: int, counterparty: str, memo: str) -> None:
    balance = bank.accounts.get(account.account_id).balance + amount
    if balance + account.overdraft < 0:
        return  # the bank would have declined it
    posted = make.moment(-ago, make.between(7, 21), make.between(0, 59))
    bank.transactions.add(Transaction(bank.transactions.mint(), account.account_id, posted, amount, counterparty, memo))
    bank.accounts.update(account.account_id, balance=balance)


def _payees(bank: Banking, make: Maker) -> None:
    people = [make.person() for _ in range(10)]
    namesake = f"{people[0].split()[0]} {make.faker.last_name()}"  # two people of one first name
    for name in [*people, namesake, "City Power & Light", "Brightnet Internet", "Lakeview Apartments"]:
        bank.payees.add(Payee(bank.payees.mint(), name, make.digits(10)))


def _scheduled(bank: Banking, make: Maker) -> None:
    accounts = [a for a in bank.accounts if a.status == "open" and a.kind == "checking"]
    for payee in make.some(list(bank.payees), 6):
        account, amount = make.pick(accounts), make.between(2000, 45000, 500)
        repeats = make.pick(("once", "weekly", "monthly"))
        day = make.day(make.between(1, 40))
        scheduled = ScheduledPayment(bank.scheduled_payments.mint(), account.account_id, payee.payee_id, amount, day, repeats)
        bank.scheduled_payments.add(scheduled)


def _cards(bank: Banking, make: Maker) -> None:
    everyday, joint, *_, credit, _closed = [a.account_id for a in list(bank.accounts)[:6]]
    cards = ((everyday, "debit", "active"), (joint, "debit", "active"), (joint, "debit", "frozen"), (credit, "credit", "active"))
    for account_id, kind, status in (*cards, (everyday, "debit", "expired"), (credit, "credit", "frozen")):
        bank.cards.add(Card(bank.cards.mint(), account_id, kind, make.digits(4), status))
