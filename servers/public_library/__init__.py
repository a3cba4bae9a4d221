"""The desk of a town's library."""
