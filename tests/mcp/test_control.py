"""The control endpoint: what fails leaves nothing behind."""

import asyncio
import gc

import pytest

from prove.mcp.http import application
from prove.mcp.sessions import Served
from prove.servers.session import Session

from .helpers import control, message, opened, post, serving, shown


def broken(*arguments, **options):
    raise OverflowError("a line of the inside")


@pytest.mark.parametrize("part", ["digest", "outcome"])
def test_a_session_that_cannot_be_described_is_not_made(part, monkeypatch, caplog):
    with serving() as (web, app):
        there = opened(web)
        with monkeypatch.context() as patch:
            patch.setattr(Session, part, broken)
            answers = [control(web, there, "fork") for _ in range(3)]
            answers.append(web.post("/control/sessions", json={"servers": ["banking"]}, headers=web.key))
        assert {(a.status_code, a.text) for a in answers} == {(500, '{"error":"the server failed; its log says why"}')}
        assert len(app.state.sessions) == 1
        assert "a line of the inside" in caplog.text
        fork = control(web, there, "fork").json()
        assert fork["digest"] == there["digest"]
        assert len(app.state.sessions) == 2


def test_time_that_fails_to_pass_has_not_passed(monkeypatch, caplog):
    with serving() as (web, app):
        there = opened(web)
        (served,) = app.state.sessions._by_digest.values()
        (server,) = served.session.servers.values()

        def half_done():
            post_office = server.payees
            post_office.remove(next(iter(post_office.keys())))
            broken()

        with monkeypatch.context() as patch:
            patch.setattr(server, "elapse", half_done)
            assert control(web, there, "advance", minutes=60).status_code == 500
        assert shown(web, there) == {k: there[k] for k in ("now", "digest", "outcome", "calls")}


def test_time_ends_where_the_years_of_the_tools_do(web):
    there = opened(web, "vehicle")
    minutes, refused = 1_000_000, None
    for _ in range(100):
        answer = control(web, there, "advance", minutes=minutes)
        if answer.status_code != 200:
            refused = answer
            break
    assert (refused.status_code, refused.json()["error"]) == (400, "minutes: the session's time ends at 2200-01-01")
    assert shown(web, there)["now"] < "2200"
    assert control(web, there, "reset").json()["digest"] == there["digest"]


@pytest.mark.parametrize("uri", ["prove://digest", "prove://changes"])
def test_a_resource_that_cannot_be_read_tells_nothing_of_the_inside(uri, monkeypatch):
    with serving() as (web, _):
        there = opened(web)
        monkeypatch.setattr(Session, uri.split("/")[-1], broken)
        answer = post(web, there["urls"]["banking"], message("resources/read", uri=uri))
        assert answer.json()["error"] == {"code": -32603, "message": "the server crashed; its log says why"}


def test_ten_thousand_rejected_requests_leave_nothing():
    app = application(["banking"], "secret")
    key, here = (b"authorization", b"Bearer secret"), (b"host", b"localhost")
    rejected = [
        ("/control/sessions", b"{}", (here,)),
        ("/control/sessions", b'{"servers": ["nothing"]}', (here, key)),
        ("/control/sessions", b"[" * 5000, (here, key)),
        ("/control/sessions/nobody/fork", b"", (here, key)),
        ("/s/nobody/banking/mcp", b"{}", (here,)),
        ("/s/nobody/banking/mcp", b"{}", ((b"host", b"evil.example"),)),
        ("/s/nobody/banking/mcp", b"{}", (here, (b"origin", b"http://evil.example"))),
        ("/s/{token}/banking/mcp", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', (here,)),
        ("/s/{token}/banking/mcp", b"[" * 5000, (here,)),
        ("/s/{token}/banking/mcp", b"{}", (here, (b"mcp-session-id", b"made up"))),
    ]

    async def ask(path, body, headers):
        said = []

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(part):
            said.append(part)

        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": [*headers]}
        await app(scope | {"http_version": "1.1", "scheme": "http", "server": ("localhost", 80), "client": None}, receive, send)
        return said[0]["status"], b"".join(part.get("body", b"") for part in said)

    async def ask_for_everything(times):
        for _ in range(times):
            for path, body, headers in rejected:
                status, _ = await ask(path.format(token=token), body, headers)
                assert status >= 400
                await asyncio.sleep(0)  # the loop forgets timers that were stopped

    async def measured():
        await ask_for_everything(20)
        gc.collect()
        before = len(gc.get_objects())
        await ask_for_everything(1000)
        await asyncio.sleep(0)
        gc.collect()
        return len(gc.get_objects()) - before, len(app.state.sessions)

    token = app.state.sessions.add(Served.fresh("banking"))
    grown, sessions = asyncio.run(measured())
    assert sessions == 1
    assert grown < 300  # at most the timers that are still to be forgotten
