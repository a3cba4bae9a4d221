"""Live tool servers: state, tools, sessions, the catalogue. Imports no MCP SDK."""

from msgspec import Meta

from prove.servers.errors import ToolError, require
from prove.servers.lists import brief, matches, page
from prove.servers.optional import given, some_given
from prove.servers.server import Server
from prove.servers.state import Record, Table, table
from prove.servers.tools import read, write
from prove.servers.types import (
    Cents,
    Day,
    EmailAddress,
    Latitude,
    Limit,
    Longitude,
    Moment,
    Money,
    Month,
    Page,
    PersonName,
    Quantity,
    Query,
    Secret,
)

__all__ = [
    "Cents", "Day", "EmailAddress", "Latitude", "Limit", "Longitude", "Meta", "Moment", "Money",
    "Month", "Page", "PersonName", "Quantity", "Query", "Record", "Secret", "Server", "Table", "ToolError",
    "brief", "given", "matches", "page", "read", "require", "some_given", "table", "write",
]  # fmt: skip
