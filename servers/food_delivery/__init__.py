"""Food delivery in one city, seen by one hungry customer: restaurants, menus, carts, couriers."""
