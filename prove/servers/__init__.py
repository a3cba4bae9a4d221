"""Live tool servers: state, tools, sessions, the catalogue. Imports no MCP SDK."""

from msgspec import Meta

from prove.servers.errors import Strike, ToolError, require
from prove.servers.lists import brief, matches, newest, page
from prove.servers.lockout import check_secret
from prove.servers.optional import given, some_given
from prove.servers.server import Server
from prove.servers.state import Record, Table, table
from prove.servers.tools import read, write
from prove.servers.types import (
    Caseless,
    Cents,
    Day,
    EmailAddress,
    Exact,
    Latitude,
    Limit,
    Longitude,
    Moment,
    Money,
    Month,
    Offset,
    Page,
    PersonName,
    Quantity,
    Query,
    Secret,
    Unordered,
)

__all__ = [
    "Caseless", "Cents", "Day", "EmailAddress", "Exact", "Latitude", "Limit", "Longitude", "Meta", "Moment", "Money",
    "Month", "Offset", "Page", "PersonName", "Quantity", "Query", "Record", "Secret", "Server", "Strike", "Table", "ToolError", "Unordered",
    "brief", "check_secret", "given", "matches", "newest", "page", "read", "require", "some_given", "table", "write",
]  # fmt: skip
