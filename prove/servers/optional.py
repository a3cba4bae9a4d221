"""What tools with optional arguments share: None stands for "not given"."""

from typing import Any

from prove.servers.errors import require


def given(**arguments: Any) -> dict[str, Any]:
    """The arguments that were given, to filter by or to change: `table.where(**given(kind=kind, status=status))`."""
    return {name: value for name, value in arguments.items() if value is not None}


def some_given(**arguments: Any) -> dict[str, Any]:
    """The same for a tool that changes a record. Refuses where nothing was given."""
    found = given(**arguments)
    require(found, "invalid_argument", f"nothing to change: give at least one of {', '.join(arguments)}")
    return found
