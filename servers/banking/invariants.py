"""What must hold in a bank after every call."""

from collections.abc import Iterator

from servers.banking.tools import Banking


def invariants(bank: Banking) -> Iterator[str]:
    for account in bank.accounts:
        moved = sum(t.amount for t in bank.transactions.where(account_id=account.account_id))
        if account.balance != account.opening_balance + moved:
            yield f"{account.account_id}: the balance {account.balance} is not the opening balance and what moved since"
        if account.balance < -account.overdraft:
            yield f"{account.account_id}: the balance {account.balance} is below the overdraft of {account.overdraft}"
    internal = sum(t.amount for t in bank.transactions if t.memo == "Transfer")
    if internal:
        yield f"transfers between own accounts made {internal} cents"
    for dispute in bank.disputes:
        if bank.transactions.get(dispute.transaction_id).status != "disputed":
            yield f"{dispute.dispute_id}: its transaction is not marked as disputed"
    for scheduled in bank.scheduled_payments:
        if scheduled.status == "pending" and scheduled.payee_id not in bank.payees:
            yield f"{scheduled.scheduled_payment_id} is to a payee that is gone"
