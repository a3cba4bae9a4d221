"""In front of every path: whether a request may come in at all, before anything is made of it."""

import asyncio
import hmac
import re
from collections.abc import Collection
from urllib.parse import urlsplit

import mcp_types as types
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prove.mcp.message import error, too_large
from prove.mcp.sessions import Limits

CONTROL = "/control/"


class Guard:
    """Checks Host, Origin and, where one is set, the bearer token; reads the body, bounded in size and time.

    The body is then in the scope as `prove.body`. `hosts` are the names under which this server answers. There is no way to
    switch that check off: a page in somebody's browser can reach a loopback port, and only these two headers tell.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], limits: Limits, bearer: str = "") -> None:
        self.app, self.hosts, self.limits, self.bearer = app, frozenset(map(str.lower, hosts)), limits, bearer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            self._check_headers(request)
            body = await self._body(request)
        except Refused as refused:
            await refused.response(scope["path"])(scope, receive, send)
        except ClientDisconnect:
            pass  # nobody is there to be told
        else:
            scope["prove.body"] = body
            await self.app(scope, _replay(body, receive), send)

    def _check_headers(self, request: Request) -> None:
        headers = request.headers
        if _hostname(f"//{headers.get('host', '')}") not in self.hosts:
            raise Refused(421, "this server does not answer under that Host")
        if "origin" in headers and _hostname(headers["origin"]) not in self.hosts:
            raise Refused(403, "this server does not answer pages of that Origin")
        if self.bearer and not request.scope["path"].startswith(CONTROL) and not bears(request, self.bearer):
            raise Refused(401, "the bearer token is missing or wrong")

    async def _body(self, request: Request) -> bytes:
        """The whole body. Raises Refused for one that is too large or too slow."""
        limits, body = self.limits, bytearray()
        if int(request.headers.get("content-length", "0")) > limits.body_bytes:  # a number: HTTP parsers let nothing else pass
            raise Refused(413, f"{too_large(limits)}")
        try:
            async with asyncio.timeout(limits.body_seconds):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > limits.body_bytes:
                        raise Refused(413, f"{too_large(limits)}")
        except TimeoutError:
            raise Refused(408, f"the body did not arrive within {limits.body_seconds:g} seconds") from None
        return bytes(body)


class Refused(Exception):
    """A request that cannot be granted, and why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    def response(self, path: str) -> Response:
        """As the control endpoint answers on its paths, as JSON-RPC on all others."""
        ours = path.startswith(CONTROL)
        return JSONResponse({"error": self.message} if ours else error(types.INVALID_REQUEST, self.message), self.status)


def bears(request: Request, token: str) -> bool:
    """Whether the request carries `Authorization: Bearer <token>`."""
    return hmac.compare_digest(request.headers.get("authorization", "").encode(), f"Bearer {token}".encode())


def origins(hosts: Collection[str]) -> str:
    """A pattern of the Origins that `_check_headers` lets in: pages of these hosts, whatever their port."""
    names = "|".join(re.escape(f"[{host}]" if ":" in host else host) for host in map(str.lower, hosts))
    return rf"https?://({names})(:\d+)?"


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _replay(body: bytes, receive: Receive) -> Receive:
    """A channel that gives the body that was read already, and then what follows."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
