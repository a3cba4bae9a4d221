"""A retail bank, seen by one customer: accounts, payments, cards, disputes."""
