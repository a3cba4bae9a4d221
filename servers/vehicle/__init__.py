"""A connected car, seen by its driver: driving controls gated by mode, climate, fuel, navigation, service."""
