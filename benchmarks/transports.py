"""What a call costs on its way: `python benchmarks/transports.py`; with `--record` for the README's table too (`prove figures`).

The same read, `get_account` of banking, in process, through the SDK's in-memory client, over stdio and over streamable HTTP
with 1 and with 64 sessions at once, and in batches of 100 at the control endpoint. Servers are processes of their own, the
clients are the official SDK's and part of the cost, but for the row `plain`: a client that only writes a request to a connection
that it keeps, and reads the answer. The rows `empty` are a server of one tool that does nothing, written on the SDK alone: what no
server of ours can be faster than. Prints the median of a call as its caller sees it, how many calls a second all callers make
together, and what such a call takes compared with one in process; every ratio is from this one run.

The aim is about our server: a loopback call takes it less than 5 ms. The plain client measures that; what the SDK's client
takes more is its own, and is printed beside it.
"""

import asyncio
import contextlib
import http.client
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import mcp_types as types
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.lowlevel import Server

from prove.mcp.adapter import adapt
from prove.mcp.http import bind
from prove.mcp.sessions import Limits, Served
from prove.servers.session import Session
from prove.stages import record

CALL = ("get_account", {"account_id": "ACC-4001"})
PROVE = ["-m", "prove", "serve", "banking"]
CEILING_MS = 5.0  # what a loopback call may take: ten times as much is the sign of held-back packets
Row = tuple[str, float, float]  # what, median us a call, calls a second


def in_process(calls: int) -> Row:
    session, times = Session.open("banking", 0), []
    begun = time.perf_counter()
    for _ in range(calls):
        start = time.perf_counter()
        session.call(*CALL)
        times.append(time.perf_counter() - start)
    return "in process", statistics.median(times) * 1e6, calls / (time.perf_counter() - begun)


async def by_client(what: str, targets: list[Any], calls: int, era: str) -> Row:
    """`calls` calls by one client a target, all clients at once."""
    times: list[float] = []

    async def work(client: Client) -> None:
        for _ in range(calls):
            start = time.perf_counter()
            await client.call_tool(*CALL)
            times.append(time.perf_counter() - start)

    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(target, mode=era)) for target in targets]
        await asyncio.gather(*(client.call_tool(*CALL) for client in clients))  # the first call also lists the tools
        begun = time.perf_counter()
        await asyncio.gather(*map(work, clients))
        took = time.perf_counter() - begun
    return what, statistics.median(times) * 1e6, len(times) / took


def empty() -> Server:
    """The control: a server on the SDK alone, whose one tool does nothing."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name=CALL[0], input_schema={"type": "object"})])

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(text="{}")])

    return Server("empty", on_list_tools=list_tools, on_call_tool=call_tool)


def serve_empty() -> None:
    listener = bind("127.0.0.1", 0)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    app = empty().streamable_http_app(json_response=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, ws="none")).run(sockets=[listener])


def by_plain_client(web: httpx.Client, path: str, calls: int) -> Row:
    """The same requests by a client that only sends and reads: what the SDK's client adds is the difference."""
    who = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": CALL[0], "arguments": CALL[1], "_meta": who}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    routing = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": CALL[0]}
    headers = {"Accept": "application/json", "Content-Type": "application/json", **routing}
    line, times = http.client.HTTPConnection(web.base_url.host, web.base_url.port or 80), []
    for _ in range(calls):
        start = time.perf_counter()
        line.request("POST", path, body, headers)
        assert b'"isError":false' in line.getresponse().read()
        times.append(time.perf_counter() - start)
    return "HTTP, 1 session, plain", statistics.median(times) * 1e6, 1 / statistics.mean(times)


def by_batch(web: httpx.Client, token: str, batches: int, size: int = 100) -> Row:
    body = {"calls": [{"session": token, "name": CALL[0], "arguments": CALL[1]}] * size}
    times = []
    for _ in range(batches):
        start = time.perf_counter()
        assert len(web.post("/control/batch", json=body).json()["results"]) == size
        times.append((time.perf_counter() - start) / size)
    return f"HTTP, batches of {size}", statistics.median(times) * 1e6, 1 / statistics.mean(times)


@contextlib.contextmanager
def process(*words: str) -> Iterator[Iterator[str]]:
    """A server process: what it prints, line by line."""
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        yield (line.split()[-1] for line in running.stdout)
        running.terminate()


def rows() -> Iterator[Row]:
    yield in_process(20_000)
    face = Served.fresh("banking", limits=Limits(calls=10**9)).whole
    stdio = StdioServerParameters(command=sys.executable, args=PROVE)
    with process(*PROVE, "--http", "--port", "0") as lines, process(__file__, "empty") as control_lines:
        address, token, control = next(lines), next(lines), f"{next(control_lines)}/mcp"
        web = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60)

        def new() -> Any:
            return web.post("/control/sessions", json={"servers": ["banking"]}).json()

        def urls(count: int) -> list[str]:
            return [address + new()["urls"]["banking"] for _ in range(count)]

        for era, name in (("2026-07-28", "2026"), ("legacy", "2025")):
            yield asyncio.run(by_client(f"in memory, empty, {name}", [empty()], 500, era))
            yield asyncio.run(by_client(f"in memory, {name}", [adapt("banking", "", lambda context: face)], 500, era))
            yield asyncio.run(by_client(f"stdio, {name}", [stdio_client(stdio)], 300, era))
            yield asyncio.run(by_client(f"HTTP, 1 client, empty, {name}", [control], 300, era))
            yield asyncio.run(by_client(f"HTTP, 1 session, {name}", urls(1), 300, era))
            yield asyncio.run(by_client(f"HTTP, 64 sessions, {name}", urls(64), 8, era))
        yield by_plain_client(web, new()["urls"]["banking"], 300)
        yield by_batch(web, new()["token"], 50)


def verdict(plain: float, by_sdk: float, by_sdk_empty: float) -> str:
    """Whether the server keeps its aim, and whose the rest of the time is; medians in us."""
    kept = "under" if plain < CEILING_MS * 1000 else "OVER"
    return (
        f"A loopback call: {plain / 1000:.2f} ms by a plain client on a kept connection, {kept} the aim of {CEILING_MS:g} ms.\n"
        f"By the SDK's client: {by_sdk / 1000:.2f} ms, {(by_sdk - plain) / 1000:.2f} ms of it the client's own;\n"
        f"and {by_sdk_empty / 1000:.2f} ms where the tool does nothing and promises no structure that the client would have to check."
    )


def main() -> None:
    print(f"{'':<30} {'median us':>10} {'calls/s':>10} {'x in process':>13}")
    table: dict[str, dict[str, float]] = {}
    base = 0.0
    for what, median, rate in rows():
        base = base or 1 / rate
        table[what] = {"median us": round(median, 1), "calls/s": round(rate), "x in process": round(1 / rate / base, 1)}
        print(f"{what:<30} {median:>10.1f} {rate:>10.0f} {1 / rate / base:>13.1f}", flush=True)
    print()
    judged = ("HTTP, 1 session, plain", "HTTP, 1 session, 2026", "HTTP, 1 client, empty, 2026")
    print(verdict(*(table[what]["median us"] for what in judged)))
    if "--record" in sys.argv:
        print(record("transports", table))


if __name__ == "__main__":
    if sys.argv[1:] == ["empty"]:
        serve_empty()
    else:
        main()
