"""The library over streamable HTTP: one isolated session a URL, `/s/{token}/{server}/mcp`.

The 2026-07-28 protocol has no sessions of its own, so the session is in the URL, with a token that nobody can guess. A
control endpoint, guarded by a token of its own and never listed as a tool, makes, resets, forks and ends sessions, and runs
many calls in one request for remote rollouts; that is ours, not MCP:

    POST   /control/sessions {"seed": 0}                       -> {"token": ...}
    POST   /control/sessions/{token}/reset | fork
    POST   /control/sessions/{token}/calls {"server": ..., "calls": [{"name": ..., "arguments": {...}}]}
    DELETE /control/sessions/{token}
"""

import hmac
import secrets
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prove.mcp.adapter import adapt
from prove.servers.session import Session

HOSTS = ("127.0.0.1", "localhost")


class Limits(msgspec.Struct, frozen=True):
    """What one client can use up at most."""

    sessions: int = 10_000
    calls: int = 10_000  # of one session
    idle_seconds: float = 1800.0
    body_bytes: int = 1_000_000
    batch: int = 1000  # calls in one request


class Slot:
    """One token's sessions, a server's being opened when it is first asked for."""

    def __init__(self, seed: int) -> None:
        self.seed, self.sessions, self.calls, self.used = seed, dict[str, Session](), 0, time.monotonic()

    def session(self, server: str) -> Session:
        if server not in self.sessions:
            self.sessions[server] = Session.open(server, self.seed)
        return self.sessions[server]

    def fork(self) -> "Slot":
        copy = Slot(self.seed)
        copy.sessions = {name: session.fork() for name, session in self.sessions.items()}
        return copy


class Hub:
    """All sessions by token. Those that nobody has used for a while are forgotten."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.slots = limits, dict[str, Slot]()

    def add(self, slot: Slot) -> str | None:
        """A new token, or None where there are too many sessions already."""
        now = time.monotonic()
        self.slots = {t: s for t, s in self.slots.items() if now - s.used <= self.limits.idle_seconds}
        if len(self.slots) >= self.limits.sessions:
            return None
        token = secrets.token_urlsafe(24)  # 192 bits
        self.slots[token] = slot
        return token

    def get(self, token: str, calls: int = 0) -> Slot | None:
        """The slot of a token; None for a token that is unknown, has ended, expired, or used up its calls."""
        slot = self.slots.get(token)
        if slot is None or time.monotonic() - slot.used > self.limits.idle_seconds or slot.calls + calls > self.limits.calls:
            return None
        slot.used, slot.calls = time.monotonic(), slot.calls + calls
        return slot


class Bound:
    """In front of the SDK: only known tokens pass, and a legacy session id only on the URL that it was made on."""

    def __init__(self, app: ASGIApp, hub: Hub) -> None:
        self.app, self.hub, self.owner = app, hub, dict[str, str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = scope["path_params"]["token"]
        named = dict(scope["headers"]).get(b"mcp-session-id", b"").decode()
        if self.hub.get(token, calls=1) is None or (named and self.owner.get(named) != token):
            await NOT_FOUND(scope, receive, send)
            return

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                minted = dict(message["headers"]).get(b"mcp-session-id", b"").decode()
                if minted:
                    self.owner[minted] = token
                self.owner = {i: t for i, t in self.owner.items() if t in self.hub.slots} if len(self.owner) > 20_000 else self.owner
            await send(message)

        await self.app(scope, receive, watch)


NOT_FOUND = JSONResponse({"error": "there is no such session"}, 404)


def application(servers: list[str], control_token: str, limits: Limits | None = None, hosts: tuple[str, ...] = HOSTS) -> Starlette:
    """The whole app: every server under every token, and the control endpoint."""
    hub = Hub(limits or Limits())
    security = TransportSecuritySettings(
        allowed_hosts=[f"{h}:*" for h in hosts] + list(hosts), allowed_origins=[f"http://{h}:*" for h in hosts]
    )
    apps = {name: _mcp_app(name, hub, security) for name in servers}
    control = Control(hub, servers, control_token)

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for inner in apps.values():
                await stack.enter_async_context(inner.router.lifespan_context(inner))
            yield

    return Starlette(
        routes=[
            *(Mount(f"/s/{{token}}/{name}", Bound(app, hub)) for name, app in apps.items()),
            Route("/control/sessions", control.open, methods=["POST"]),
            Route("/control/sessions/{token}", control.end, methods=["DELETE"]),
            Route("/control/sessions/{token}/{action}", control.act, methods=["POST"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))],
        lifespan=lifespan,
    )


def _mcp_app(name: str, hub: Hub, security: TransportSecuritySettings) -> Starlette:
    def session_of(context: Any) -> Session:
        return hub.slots[context.request.path_params["token"]].session(name)

    server = adapt(name, session_of)
    return server.streamable_http_app(json_response=True, max_request_body_size=hub.limits.body_bytes, transport_security=security)


class Control:
    """Sessions made, reset, forked, ended, and batches of calls. Every request carries the control token."""

    def __init__(self, hub: Hub, servers: list[str], token: str) -> None:
        self.hub, self.servers, self.token = hub, servers, token

    async def open(self, request: Request) -> Response:
        body = await self._body(request)
        if isinstance(body, Response):
            return body
        seed = body.get("seed", 0)
        if not isinstance(seed, int):
            return JSONResponse({"error": f"seed must be an integer, got {seed!r}"}, 400)
        return self._made(Slot(seed))

    async def end(self, request: Request) -> Response:
        if refused := self._refused(request):
            return refused
        return Response(status_code=204) if self.hub.slots.pop(request.path_params["token"], None) else NOT_FOUND

    async def act(self, request: Request) -> Response:
        body = await self._body(request)
        if isinstance(body, Response):
            return body
        slot, action = self.hub.get(request.path_params["token"]), request.path_params["action"]
        if slot is None or action not in ("reset", "fork", "calls"):
            return NOT_FOUND
        if action == "reset":
            slot.sessions.clear()
            return JSONResponse({})
        return self._made(slot.fork()) if action == "fork" else self._calls(request.path_params["token"], slot, body)

    def _calls(self, token: str, slot: Slot, body: dict[str, Any]) -> Response:
        server, calls = body.get("server"), body.get("calls")
        if server not in self.servers:
            return JSONResponse({"error": f"there is no server {server!r}; there are: {', '.join(self.servers)}"}, 400)
        if not isinstance(calls, list) or not all(isinstance(c, dict) and isinstance(c.get("name"), str) for c in calls):
            return JSONResponse({"error": 'calls must be a list of {"name": ..., "arguments": {...}}'}, 400)
        if len(calls) > self.hub.limits.batch or self.hub.get(token, len(calls)) is None:
            return JSONResponse({"error": "too many calls"}, 429)
        session = slot.session(server)
        results = [session.call(c["name"], c.get("arguments", {})) for c in calls]
        return JSONResponse({"results": [{"ok": r.ok, "text": r.text} for r in results], "digest": session.digest()})

    def _made(self, slot: Slot) -> Response:
        token = self.hub.add(slot)
        return JSONResponse({"token": token} if token else {"error": "too many sessions"}, 200 if token else 503)

    def _refused(self, request: Request) -> Response | None:
        given = request.headers.get("authorization", "")
        if "origin" in request.headers or not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
            return JSONResponse({"error": "the control token is missing or wrong"}, 401)
        return None

    async def _body(self, request: Request) -> Any:
        """The request's JSON object, or the response that refuses it: unauthorised, too large, or no object."""
        if refused := self._refused(request):
            return refused
        content = b""
        async for chunk in request.stream():
            content += chunk
            if len(content) > self.hub.limits.body_bytes:
                return JSONResponse({"error": f"the body is larger than {self.hub.limits.body_bytes} bytes"}, 413)
        try:
            body = msgspec.json.decode(content or b"{}")
        except (msgspec.DecodeError, RecursionError):
            return JSONResponse({"error": "the body is not JSON that can be read"}, 400)
        return body if isinstance(body, dict) else JSONResponse({"error": "the body must be an object"}, 400)


def serve(servers: list[str], port: int, host: str = "127.0.0.1") -> None:
    """Serve until interrupted; prints the control token. Raises OSError where the port is taken."""
    token = secrets.token_urlsafe(24)
    # without the protocol's number asyncio leaves Nagle's algorithm on, and every call costs 40 ms
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen()  # who connects before the app is up waits for it
    print(f"listening on http://{host}:{listener.getsockname()[1]}\ncontrol token: {token}", flush=True)
    hosts = HOSTS if host in ("127.0.0.1", "localhost") else (*HOSTS, host)
    app = application(servers, token, hosts=hosts)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
