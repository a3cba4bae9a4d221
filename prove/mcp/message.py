"""What comes over the line, whichever line: one JSON-RPC request or notification, or the error that answers what is none.

Stricter than the SDK, which takes NaN, infinities and half of a surrogate pair for JSON, and answers nothing that it cannot read.
"""

import json
import re
from itertools import islice
from typing import Any, Literal

import mcp_types as types
import msgspec

from prove.mcp.sessions import Limits
from prove.strict_json import fault, nests_deeper_than

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]|[^"\[\]{}]++', re.DOTALL)
_TOKENS = 100_000  # that are looked at for an id: some 50 ms


class Envelope(msgspec.Struct):
    """A JSON-RPC request or notification, the only messages that a client sends: a server of ours asks for nothing."""

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | msgspec.UnsetType = msgspec.UNSET
    params: dict[str, Any] | None = None


class Unreadable(Exception):
    """What came is no message. The answer goes to the request's id where one can be made out."""

    def __init__(self, code: int, message: str, request: str | int | None = None) -> None:
        super().__init__(message)
        self.answer = error(code, message, request)


def read(body: bytes, limits: Limits) -> Envelope:
    """The message in a body or a line. Raises Unreadable, before anything is made of it."""
    if len(body) > limits.body_bytes:
        raise too_large(limits)
    if nests_deeper_than(limits.depth, body):
        raise Unreadable(types.INVALID_REQUEST, f"the message nests deeper than {limits.depth} levels", _id_in(body))
    try:
        return msgspec.json.decode(body, type=Envelope)
    except msgspec.ValidationError:
        raise Unreadable(types.INVALID_REQUEST, "the message is not one JSON-RPC request or notification", _id_in(body)) from None
    except msgspec.DecodeError:
        raise Unreadable(types.PARSE_ERROR, "the message is not JSON", _id_in(body)) from None


def too_large(limits: Limits) -> Unreadable:
    return Unreadable(types.INVALID_REQUEST, f"the message is larger than {limits.body_bytes} bytes")


def error(code: int, message: str, request: str | int | None = None) -> dict[str, Any]:
    """A JSON-RPC error as data."""
    return {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}}


def _id_in(body: bytes) -> str | int | None:
    """The id of a request whose contents are not readable, so that nobody waits for its answer; None where there is no request, as in
    a response, and where its own level is not readable either."""
    try:
        message = json.loads(_outline(body).decode())
    except ValueError:
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    found = message.get("id")
    return found if isinstance(found, str | int) and not isinstance(found, bool) and not fault(found) else None


def _outline(body: bytes) -> bytes:
    """The outermost level of JSON text, null in the place of all objects and lists in it."""
    depth, out = 0, []
    for token in islice(_TOKEN.finditer(body), _TOKENS):
        text = token[0]
        if text in (b"]", b"}"):
            depth -= 1
            out.append(text if depth == 0 else b"")
        elif text in (b"[", b"{"):
            depth += 1
            out.append(text if depth == 1 else b"null" if depth == 2 else b"")
        elif depth <= 1:
            out.append(text)
    return b"".join(out)
