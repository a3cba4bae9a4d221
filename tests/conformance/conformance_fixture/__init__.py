"""The domain that the protocol's conformance suite is run against."""
