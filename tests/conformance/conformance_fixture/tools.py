"""The tools that the conformance suite looks for, as far as ours can be like them: text, structured results, refusals."""

from prove.servers import Record, Server, ToolError, read


class Said(Record):
    text: str


class Fixture(Server):
    """What the protocol's conformance suite calls."""

    hidden = True

    @read
    def test_simple_text(self) -> Said:
        """Return a text."""
        return Said("This is a simple text response for testing.")

    @read
    def test_error_handling(self) -> Said:
        """Refuse, always."""
        raise ToolError("failed_precondition", "This tool intentionally returns an error for testing")
