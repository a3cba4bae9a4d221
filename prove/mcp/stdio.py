"""One session over stdin and stdout: it begins and ends with the process."""

from collections.abc import Sequence

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from prove.mcp.adapter import adapt
from prove.mcp.sessions import Served
from prove.servers.catalog import load


def serve(servers: Sequence[str], seed: int = 0) -> None:
    """Serve until the client closes its end. Raises LookupError for an unknown server."""
    face = Served.fresh(servers, seed).whole
    name, summary = (servers[0], load(servers[0]).summary) if len(servers) == 1 else ("prove", f"The servers {', '.join(servers)}.")
    anyio.run(_serve, adapt(name, summary, lambda context: face))


async def _serve(server: Server) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
