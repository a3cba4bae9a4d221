"""A marketplace of private buyers and sellers, seen by one member: listings, auctions, orders, messages, feedback."""
