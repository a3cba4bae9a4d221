"""Maps of one island: towns, places, addresses, the road graph between them, and what one user has saved."""
