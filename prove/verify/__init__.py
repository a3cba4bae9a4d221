"""A second opinion on a data set: every claim of every certificate, checked by code that shares nothing with what made it.

Imports sessions, the catalogue, type hints and the records' types, and nothing of `prove.synthesis`: `evidence` runs the ground
truth again from its seed, `words` reads what users say, `mentions` finds which records they can mean, and each function of
`checks` yields what does not hold.
"""
