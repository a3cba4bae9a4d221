"""One server over stdin and stdout: one session a process."""

from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from prove.mcp.adapter import adapt
from prove.servers.session import Session


def serve(server: str, seed: int = 0) -> None:
    """Serve until the client closes its end. Raises LookupError for an unknown server."""
    session = Session.open(server, seed)
    anyio.run(_serve, adapt(server, lambda context: session))


async def _serve(server: Any) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def config(server: str, command: str) -> dict[str, Any]:
    """What Claude Desktop and the MCP Inspector (`mcpServers`) and VS Code (`servers`) want to be told."""
    entry = {"command": command, "args": ["serve", server]}
    return {"mcpServers": {f"prove-{server}": entry}, "servers": {f"prove-{server}": {"type": "stdio", **entry}}}
