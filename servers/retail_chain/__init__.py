"""A retail chain's stock, seen by the manager of some of its stores: levels, reservations, transfers, purchase orders."""
