"""The library over streamable HTTP: one isolated session a URL, `/s/{token}/{server}/mcp`.

The protocol of 2026-07-28 has no sessions of its own, and clients of 2025-11-25 open and drop theirs as they please; so a
session is its URL, whose token nobody can guess, in both eras alike. No `Mcp-Session-Id` is ever given out, and a request
that brings one is told that there is no such session: there is nothing to steal, to bind or to clean up.
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Literal

import mcp_types as types
import msgspec
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from prove.mcp.adapter import adapt
from prove.mcp.control import Control
from prove.mcp.guard import Guard
from prove.mcp.sessions import Limits, Sessions
from prove.servers.catalog import load

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Envelope(msgspec.Struct):
    """A JSON-RPC request or notification, the only messages that a client sends."""

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | msgspec.UnsetType = msgspec.UNSET
    params: dict[str, Any] | None = None


class Door:
    """`/s/{token}/{server}/mcp`: finds the session, and hands over to the SDK."""

    def __init__(self, sessions: Sessions, servers: Sequence[str]) -> None:
        self.sessions = sessions
        self.managers = {name: _manager(name, sessions.limits) for name in servers}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        served, server = self.sessions.find(request.path_params["token"]), request.path_params["server"]
        if served is None or server not in served.faces or "mcp-session-id" in request.headers:
            answer: Response | None = error(404, types.INVALID_REQUEST, "there is no such session")
        elif request.method != "POST":
            answer = Response(status_code=405, headers={"Allow": "POST"})  # no stream to GET, nothing to DELETE
        else:
            answer = malformed(scope["prove.body"])
        if answer:
            await answer(scope, receive, send)
            return
        scope["prove.face"] = served.faces[server]  # type: ignore[union-attr]
        await self.managers[server].handle_request(scope, receive, send)


def malformed(body: bytes) -> Response | None:
    """The answer to a body that is no message, in words of ours; None for one that is.

    Stricter than the SDK, which takes NaN, Infinity and half of a surrogate pair for JSON.
    """
    try:
        msgspec.json.decode(body, type=Envelope)
    except msgspec.ValidationError:
        return error(400, types.INVALID_REQUEST, "the body must be one JSON-RPC request or notification")
    except msgspec.DecodeError:
        return error(400, types.PARSE_ERROR, "the body is not JSON")
    return None


def error(status: int, code: int, message: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}, status)


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
        routes=[Route("/s/{token}/{server}/mcp", door), *Control(sessions, servers, control_token).routes],
        middleware=[Middleware(Guard, hosts=hosts, limits=limits, bearer=bearer)],
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
    """Serve until interrupted; prints where, and the control token. Raises OSError where the port is taken."""
    token = secrets.token_urlsafe(24)
    listener = bind(host, port)
    name = f"[{host}]" if ":" in host else host
    print(f"serving on http://{name}:{listener.getsockname()[1]}\ncontrol token: {token}", flush=True)
    app = application(servers, token, hosts, limits, bearer)
    config = uvicorn.Config(app, log_level="warning", access_log=False, ws="none", server_header=False, timeout_graceful_shutdown=2)
    uvicorn.Server(config).run(sockets=[listener])


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
