"""Tools for others, and others' tools for us: the Model Context Protocol."""

from pathlib import Path
from typing import Annotated

import typer

from prove.cli.app import app, fail


@app.command(epilog="Example: `prove serve banking` for a client on this machine, or `prove serve --all --http --port 8000`")
def serve(
    servers: Annotated[list[str] | None, typer.Argument(help="Names of servers.")] = None,
    every: Annotated[bool, typer.Option("--all", help="The whole library.")] = False,
    seed: Annotated[int, typer.Option(help="Over stdio: the world of the one session. Over HTTP each session has its own.")] = 0,
    print_config: Annotated[bool, typer.Option("--print-config", help="Only print what to paste into an MCP client's settings.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP, one session a URL, instead of stdin and stdout.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes any port that is free.")] = 8000,
    host: Annotated[str, typer.Option(help="Where to listen; this machine only by default.")] = "127.0.0.1",
    allow_host: Annotated[list[str] | None, typer.Option(help="A further name under which to answer (Host and Origin headers).")] = None,
    bearer: Annotated[str, typer.Option(envvar="PROVE_BEARER", help="Ask MCP clients for this bearer token too.")] = "",
    max_sessions: Annotated[int, typer.Option(min=1, help="How many sessions there may be.")] = 4096,
    idle_minutes: Annotated[float, typer.Option(min=0.1, help="A session that nobody uses for so long is ended.")] = 30.0,
) -> None:
    """Serve tools to any MCP client: one session over stdin and stdout, or any number over HTTP."""
    if every == bool(servers):
        fail("name the servers to serve, or give --all")
    from prove.servers.catalog import chosen

    names = chosen(",".join(servers or []))
    if print_config:
        from prove.mcp.config import snippets

        typer.echo(snippets(names, seed))
    elif http:
        from prove.mcp.http import LOOPBACK, serve
        from prove.mcp.sessions import Limits

        if host not in LOOPBACK and not allow_host:
            fail(f"listening on {host}: name with --allow-host the hosts under which clients will reach it")
        limits = Limits(sessions=max_sessions, idle_seconds=idle_minutes * 60)
        serve(names, host, port, [*LOOPBACK, *(allow_host or [])], limits, bearer)
    else:
        from prove.mcp.stdio import serve as serve_stdio

        serve_stdio(names, seed)


@app.command(epilog="Example: `prove adopt -- npx -y some-mcp-server {folder}`, or `prove adopt https://tools.example/mcp`")
def adopt(
    command: Annotated[list[str], typer.Argument(help="What starts the server, or its URL; {folder} is each session's own folder.")],
    only: Annotated[str, typer.Option(help="Comma-separated names of the tools to use; all by default.")] = "",
    start: Annotated[Path | None, typer.Option(help="What {folder} holds when a session begins: a copy of this folder.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the tasks that were made into this JSON-lines file.")] = None,
) -> None:
    """Try out somebody else's MCP server as an environment: really calls its tools, with made-up arguments."""
    from prove.mcp.adopt.report import report
    from prove.mcp.adopt.server import Adopted

    with Adopted(command, [name.strip() for name in only.split(",") if name.strip()], start) as server:
        for line in report(server, out):
            typer.echo(line)
