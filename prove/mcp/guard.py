"""In front of every path: whether a request may come in at all, before anything is made of it."""

import asyncio
import hmac
import re
from collections.abc import Collection
from itertools import accumulate
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prove.mcp.sessions import Limits

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # possessive: linear in time, also for a string that never ends
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHER = bytes(byte for byte in range(256) if byte not in _STEP)


class Guard:
    """Checks Host, Origin and, where one is set, the bearer token; reads the body, bounded in size, time and depth.

    The body is then in the scope as `prove.body`. `hosts` are the names under which this server answers. There is no way to
    switch that check off: a page in somebody's browser can reach a loopback port, and only these two headers tell.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], limits: Limits, bearer: str = "") -> None:
        self.app, self.hosts, self.limits, self.bearer = app, frozenset(hosts), limits, bearer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            self._check_headers(request)
            body = await self._body(request)
        except Refused as refused:
            await refused.response()(scope, receive, send)
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
        if self.bearer and not request.url.path.startswith("/control/") and not bears(request, self.bearer):
            raise Refused(401, "the bearer token is missing or wrong")

    async def _body(self, request: Request) -> bytes:
        """The whole body. Raises Refused for one that is too large, too slow or too deep, before it becomes objects."""
        limits, body = self.limits, bytearray()
        if int(request.headers.get("content-length", "0")) > limits.body_bytes:  # a number: HTTP parsers let nothing else pass
            raise Refused(413, f"the body is larger than {limits.body_bytes} bytes")
        try:
            async with asyncio.timeout(limits.body_seconds):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > limits.body_bytes:
                        raise Refused(413, f"the body is larger than {limits.body_bytes} bytes")
        except TimeoutError:
            raise Refused(408, f"the body did not arrive within {limits.body_seconds:g} seconds") from None
        if nests_deeper_than(limits.depth, bytes(body)):
            raise Refused(400, f"the body nests deeper than {limits.depth} levels")
        return bytes(body)


class Refused(Exception):
    """A request that cannot be granted, and why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    def response(self) -> Response:
        return JSONResponse({"error": self.message}, self.status)


def bears(request: Request, token: str) -> bool:
    """Whether the request carries `Authorization: Bearer <token>`."""
    return hmac.compare_digest(request.headers.get("authorization", "").encode(), f"Bearer {token}".encode())


def nests_deeper_than(depth: int, text: bytes) -> bool:
    """Whether JSON text opens more than `depth` brackets inside each other, without parsing it."""
    if text.count(b"[") + text.count(b"{") <= depth:
        return False
    brackets = _STRING.sub(b"", text).translate(None, _OTHER)
    return any(level > depth for level in accumulate(map(_STEP.__getitem__, brackets)))


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
