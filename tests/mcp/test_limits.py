"""What clients can use up: sessions, calls, time."""

import json
import socket

import pytest

from prove.mcp.sessions import Full, Limits, Served, Sessions

from .helpers import control, message, opened, post, serving


def test_there_are_no_more_sessions_and_calls_than_allowed():
    with serving(limits=Limits(sessions=2, calls=3, batch=5)) as (web, _):
        first, _ = opened(web), opened(web)
        answer = web.post("/control/sessions", json={"servers": ["banking"]}, headers=web.key)
        assert (answer.status_code, answer.json()["error"]) == (503, "there are 2 sessions already: end some")
        body = message(name="list_accounts", arguments={})
        texts = [post(web, first["urls"]["banking"], body).json()["result"]["content"][0]["text"] for _ in range(4)]
        assert texts[0] == texts[2]
        assert json.loads(texts[3])["error"]["code"] == "resource_exhausted"
        too_many = web.post("/control/batch", json={"calls": [{"session": first["token"], "name": "x"}] * 6}, headers=web.key)
        assert (too_many.status_code, too_many.json()["error"]) == (400, "6 calls in one batch: at most 5")
        control(web, first, method="DELETE")
        opened(web)


def test_a_session_that_nobody_uses_ends_and_one_in_use_stays():
    time = [0.0]
    sessions = Sessions(Limits(sessions=2, idle_seconds=60), clock=lambda: time[0])
    used, unused = sessions.add(Served.fresh("banking")), sessions.add(Served.fresh("banking"))
    with pytest.raises(Full):
        sessions.add(Served.fresh("banking"))
    time[0] = 50.0
    assert sessions.find(used)
    time[0] = 70.0
    assert sessions.find(unused) is None
    assert sessions.find(used)
    assert len(sessions) == 1
    sessions.add(Served.fresh("banking"))
    time[0] = 200.0
    sessions.sweep()
    assert len(sessions) == 0


def test_a_body_that_never_arrives_is_given_up():
    with (
        serving(limits=Limits(body_seconds=0.2)) as (web, _),
        socket.create_connection((web.base_url.host, web.base_url.port)) as line,
    ):
        line.sendall(b"POST /control/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        assert line.recv(4096).startswith(b"HTTP/1.1 408")
