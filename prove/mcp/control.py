"""The control endpoint: sessions made, reset, forked, moved in time and ended, and many calls in one request.

This is ours, not MCP, and never listed as a tool. Each request carries `Authorization: Bearer <control token>`; bodies and
answers are JSON; an error is `{"error": "..."}` with status 400, 401, 404, 413 for a body that is too large, 500 for a bug of ours, or
503 where there are too many sessions. Whatever failed has changed nothing.

    POST   /control/sessions          {"servers": ["banking"], "seed": 0, "only": null}  -> 201, a session
    GET    /control/sessions/{token}                                                     -> the session
    POST   /control/sessions/{token}/reset                                               -> the session at its start
    POST   /control/sessions/{token}/fork                                                -> 201, a session in the same state
    POST   /control/sessions/{token}/advance   {"minutes": 90}                           -> the session, later
    DELETE /control/sessions/{token}                                                     -> 204
    POST   /control/batch  {"calls": [{"session": token, "name": "list_accounts", "arguments": {}}]}
           -> {"results": [{"ok": true, "text": "...", "code": null}]}

A session is `{"token", "urls": {server: path}, "now", "digest", "outcome", "calls"}`: `urls` are where an MCP client finds it
(the token only where it was just made), `digest` and `outcome` are `Session.digest()` and `.outcome()`. `only` names the tools
that can be called, all by default. A batch runs in the order given, over any sessions; a tool has the name it has in
`Session.open(servers)`. In a result, `ok` is null where the call could not be judged: `code` is then "no_session" or "crashed",
so that neither can be taken for a refusal.
"""

import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prove.mcp.guard import Refused, bears
from prove.mcp.sessions import Full, Served, Sessions
from prove.servers.decoding import quoted
from prove.strict_json import nests_deeper_than

log = logging.getLogger(__name__)
T = TypeVar("T")
END = datetime(2200, 1, 1, tzinfo=UTC)  # of the years that tools take


class Open(msgspec.Struct, forbid_unknown_fields=True):
    servers: Annotated[list[str], msgspec.Meta(min_length=1)]
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    only: list[str] | None = None


class Advance(msgspec.Struct, forbid_unknown_fields=True):
    minutes: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class Call(msgspec.Struct, forbid_unknown_fields=True):
    session: str
    name: str
    arguments: dict[str, Any] = {}


class Batch(msgspec.Struct, forbid_unknown_fields=True):
    calls: list[Call]


class Answer(msgspec.Struct):
    """What became of a call of a batch."""

    ok: bool | None
    text: str
    code: str | None = None


class Control:
    """The endpoint's routes over all sessions; `servers` are those that may be opened."""

    def __init__(self, sessions: Sessions, servers: Collection[str], token: str) -> None:
        self.sessions, self.servers, self.token = sessions, servers, token
        one = "/control/sessions/{token}"
        self.routes = [
            self._route("/control/sessions", self.open, "POST"),
            self._route("/control/batch", self.batch, "POST"),
            self._route(one, self.show, "GET"),
            self._route(one, self.end, "DELETE"),
            self._route(f"{one}/reset", self.reset, "POST"),
            self._route(f"{one}/fork", self.fork, "POST"),
            self._route(f"{one}/advance", self.advance, "POST"),
        ]

    def _route(self, path: str, act: Callable[[Request], Awaitable[Response]], method: str) -> Route:
        async def guarded(request: Request) -> Response:
            try:
                if not bears(request, self.token):
                    raise Refused(401, "the control token is missing or wrong")
                return await act(request)
            except Refused as refused:
                return refused.response(path)
            except Exception:
                log.exception("%s %s crashed", method, path)
                return Refused(500, "the server failed; its log says why").response(path)

        return Route(path, guarded, methods=[method])

    async def open(self, request: Request) -> Response:
        wanted = self._read(request, Open)
        unknown = [s for s in wanted.servers if s not in self.servers]
        if unknown:
            raise Refused(400, f"there is no server {quoted(unknown[0])} here; there are: {', '.join(self.servers)}")
        served = Served.fresh(wanted.servers, wanted.seed, wanted.only, self.sessions.limits)
        missing = sorted(set(wanted.only or ()) - served.session.tools.keys())
        if missing:
            raise Refused(400, f"only: there is no tool {quoted(missing[0])} in {', '.join(served.session.servers)}")
        return self._made(served)

    async def show(self, request: Request) -> Response:
        return _reply(_shown(self._find(request)))

    async def reset(self, request: Request) -> Response:
        served = self._find(request)
        served.reset()
        return _reply(_shown(served))

    async def fork(self, request: Request) -> Response:
        return self._made(self._find(request).fork())

    async def advance(self, request: Request) -> Response:
        served, minutes = self._find(request), self._read(request, Advance).minutes
        session, before = served.session, served.session.snapshot()
        if session.clock.now > END - timedelta(minutes=minutes):
            raise Refused(400, f"minutes: the session's time ends at {END:%Y-%m-%d}")
        try:
            session.advance(minutes=minutes)
            return _reply(_shown(served))
        except BaseException:
            session.restore(before)
            raise

    async def end(self, request: Request) -> Response:
        if not self.sessions.end(request.path_params["token"]):
            raise Refused(404, "there is no such session")
        return Response(status_code=204)

    async def batch(self, request: Request) -> Response:
        calls = self._read(request, Batch).calls
        if len(calls) > self.sessions.limits.batch:
            raise Refused(400, f"{len(calls)} calls in one batch: at most {self.sessions.limits.batch}")
        return _reply({"results": [self._answer(call) for call in calls]})

    def _answer(self, call: Call) -> Answer:
        served = self.sessions.find(call.session)
        if served is None:
            return Answer(None, "", "no_session")
        try:
            result = served.whole.call(call.name, call.arguments)
        except Exception:
            log.exception("%s crashed", call.name)
            return Answer(None, "", "crashed")
        return Answer(result.ok, result.text, result.code)

    def _read(self, request: Request, shape: type[T]) -> T:
        body, depth = request.scope["prove.body"], self.sessions.limits.depth
        if nests_deeper_than(depth, body):
            raise Refused(400, f"the body nests deeper than {depth} levels")
        try:
            return msgspec.json.decode(body, type=shape)
        except msgspec.ValidationError as error:  # says what in the client's own words is wrong, and where
            raise Refused(400, f"{error}") from None
        except msgspec.DecodeError as error:
            raise Refused(400, f"the body is not JSON: {error}") from None

    def _find(self, request: Request) -> Served:
        served = self.sessions.find(request.path_params["token"])
        if served is None:
            raise Refused(404, "there is no such session")
        return served

    def _made(self, served: Served) -> Response:
        description = _shown(served)  # first: a session that cannot be described is none
        try:
            token = self.sessions.add(served)
        except Full:
            raise Refused(503, f"there are {len(self.sessions)} sessions already: end some") from None
        urls = {server: f"/s/{token}/{server}/mcp" for server in served.faces}
        return _reply({"token": token, "urls": urls, **description}, 201)


def _shown(served: Served) -> dict[str, Any]:
    session = served.session
    return {"now": session.clock.now, "digest": session.digest(), "outcome": session.outcome(), "calls": served.calls}


def _reply(content: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")
