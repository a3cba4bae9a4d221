"""Nobody lives here: the fixture's tools need no state."""

from conformance_fixture.tools import Fixture
from prove.servers.maker import Maker


def populate(fixture: Fixture, make: Maker) -> None:
    pass
