"""A stock market with real order books, and one trader's margin account in it."""
