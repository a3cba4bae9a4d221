"""A smart home, seen by one household: rooms, devices, sensors, scenes, automations, an alarm."""
