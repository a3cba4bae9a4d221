"""The library over streamable HTTP: one isolated session a URL, `/s/{token}/{server}/mcp`.

The protocol of 2026-07-28 has no sessions of its own, and clients of 2025-11-25 open and drop theirs as they please; so a
session is its URL, whose token nobody can guess, in both eras alike. The `Mcp-Session-Id` that a client of 2025-11-25 is given
is a keyed hash of its URL: at any other URL there is no such session, and there is nothing to store or to clean up.
"""

import asyncio
import hashlib
import hmac
import json
import secrets
import socket
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import mcp_types as types
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from prove.mcp.adapter import adapt
from prove.mcp.control import Control
from prove.mcp.guard import Guard, origins
from prove.mcp.message import Unreadable, error, read
from prove.mcp.sessions import Limits, Sessions
from prove.servers.catalog import load

LOOPBACK = ("127.0.0.1", "localhost", "::1")
METHODS = ("GET", "POST", "DELETE")
EXPOSED = ("Mcp-Session-Id",)
LOST = (
    "there is no session here: each has a URL of its own. POST /control/sessions with the control token makes one; the server said "
    "how when it started"
)


class Door:
    """`/s/{token}/{server}/mcp`: finds the session, and hands over to the SDK."""

    def __init__(self, sessions: Sessions, servers: Sequence[str]) -> None:
        self.sessions = sessions
        self.managers = {name: _manager(name, sessions.limits) for name in servers}
        self.key = secrets.token_bytes(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        served, server = self.sessions.find(request.path_params["token"]), request.path_params["server"]
        if served is None or server not in served.faces or not self._belongs(request):
            await _no_session()(scope, receive, send)
            return
        if request.method != "POST":  # no stream to GET, nothing to DELETE
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        try:
            message = read(scope["prove.body"], self.sessions.limits)
        except Unreadable as unreadable:
            await JSONResponse(unreadable.answer, 400)(scope, receive, send)
            return
        if message.method == "initialize":
            send = _giving(send, self._id_of(request))
        scope["prove.face"] = served.faces[server]
        await self.managers[server].handle_request(scope, receive, send)

    def _id_of(self, request: Request) -> str:
        """The `Mcp-Session-Id` of a URL: 128 bits that no other URL has, and that end with this process."""
        return hashlib.blake2b(request.url.path.encode(), key=self.key, digest_size=16).hexdigest()

    def _belongs(self, request: Request) -> bool:
        given = request.headers.get("mcp-session-id")
        return given is None or hmac.compare_digest(given.encode(), self._id_of(request).encode())


def _giving(send: Send, session_id: str) -> Send:
    """A channel whose answer, where it grants what was asked, carries the session id."""

    async def giving(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            MutableHeaders(scope=message)["Mcp-Session-Id"] = session_id
        await send(message)

    return giving


def _no_session() -> Response:
    return JSONResponse(error(types.INVALID_REQUEST, "there is no such session"), 404)


async def _lost(request: Request) -> Response:
    """For clients that were given the server's address instead of a session's."""
    return JSONResponse(error(types.INVALID_REQUEST, LOST), 404)


def _manager(name: str, limits: Limits) -> StreamableHTTPSessionManager:
    server = adapt(name, load(name).summary, lambda context: context.request.scope["prove.face"])
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True, max_request_body_size=limits.body_bytes)


def application(
    servers: Sequence[str], control_token: str, hosts: Collection[str] = LOOPBACK, limits: Limits | None = None, bearer: str = ""
) -> Starlette:
    """The whole app: sessions of these servers, reached under the names in `hosts`, made at the control endpoint.

    `bearer`, where set, is asked of MCP clients in addition to a session's token.
    """
    limits = limits or Limits()
    sessions = Sessions(limits)
    door = Door(sessions, servers)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for manager in door.managers.values():
                await stack.enter_async_context(manager.run())
            sweeper = asyncio.create_task(_sweep(sessions))
            yield
            sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await sweeper

    app = Starlette(
        routes=[
            Route("/s/{token}/{server}/mcp", door),
            *(Route(path, _lost, methods=METHODS) for path in ("/", "/mcp")),
            *Control(sessions, servers, control_token).routes,
        ],
        middleware=[
            # outermost, so that a page which may come in can read a refusal too; what it lets pass is checked all the same
            Middleware(
                CORSMiddleware, allow_origin_regex=origins(hosts), allow_methods=METHODS, allow_headers=["*"], expose_headers=EXPOSED
            ),
            Middleware(Guard, hosts=hosts, limits=limits, bearer=bearer),
        ],
        lifespan=lifespan,
    )
    app.state.sessions = sessions
    return app


async def _sweep(sessions: Sessions) -> None:
    """Also where nobody asks for anything any more, idle sessions go."""
    while True:
        await asyncio.sleep(sessions.limits.idle_seconds / 4)
        sessions.sweep()


def serve(servers: Sequence[str], host: str, port: int, hosts: Collection[str], limits: Limits, bearer: str = "") -> None:
    """Serve until interrupted; prints where, the control token, and the line that makes a session. Raises OSError where the port is
    taken."""
    token = secrets.token_urlsafe(24)
    listener = bind(host, port)
    name = f"[{host}]" if ":" in host else host
    print(greeting(f"http://{name}:{listener.getsockname()[1]}", token, servers), flush=True)
    app = application(servers, token, hosts, limits, bearer)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=75,  # longer than clients keep an idle connection: else they send into one that is being closed
    )
    uvicorn.Server(config).run(sockets=[listener])


def greeting(address: str, token: str, servers: Sequence[str]) -> str:
    """What is said at the start: where, the control token, and what to paste into a shell to have a session."""
    wanted = json.dumps({"servers": servers[:1], "seed": 0})
    return "\n".join(
        (
            f"serving on {address}",
            f"control token: {token}",
            f"this makes a session; the URL in its answer, put after {address}, is what an MCP client is given:",
            f"curl -s {address}/control/sessions -H 'Authorization: Bearer {token}' -d '{wanted}'",
        )
    )


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any that is free. Raises OSError with the address in it."""
    try:
        # with the protocol's number: without it asyncio leaves Nagle's algorithm on, and every call takes 40 ms
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)  # who connects before the app is up waits for it
    except OSError as failed:
        raise OSError(failed.errno, failed.strerror, f"{host}:{port}") from None
    return listener
