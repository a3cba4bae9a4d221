"""An online store, seen by one customer: catalogue, cart, checkout, orders, returns."""
