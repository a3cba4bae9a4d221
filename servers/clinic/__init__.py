"""The front desk of a medical practice."""
