"""A travel agency, seen by one customer: flights, hotels, rental cars and the itineraries that join them."""
