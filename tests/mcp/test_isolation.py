"""Sessions share a server and nothing else, however many there are and however they are used at once."""

import gc
import json
import re
import subprocess
import sys
import weakref
from pathlib import Path

import anyio
import pytest
from mcp import Client

from prove.servers.session import Session

from .helpers import ERAS, LEGACY, MODERN, TRANSFER, balances, control, headers_of, message, opened, post, raw, serving, shown, walk

CONNECTIONS = 512


@pytest.mark.parametrize("era", ERAS)
def test_a_hundred_transfers_at_once_leave_exactly_what_they_should(web, era):
    there = opened(web)
    before = balances(web, there)

    async def hammer():
        async with Client(f"{web.base_url}{there['urls']['banking']}", mode=era) as client, anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(client.call_tool, "transfer_between_accounts", TRANSFER)

    anyio.run(hammer)
    assert balances(web, there) == [before[0] - 100, before[1] + 100]


def test_two_hundred_sessions_at_once_each_end_as_if_alone_and_leave_nothing():
    script = Path(__file__).parents[2] / "benchmarks" / "sessions.py"
    done = subprocess.run([sys.executable, script, "200"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("200 sessions at once, twice:")


def test_what_one_session_does_no_other_sees_and_a_fork_goes_its_own_way(web):
    one, other = opened(web), opened(web)
    start = one["digest"]
    assert (
        post(web, one["urls"]["banking"], message(name="transfer_between_accounts", arguments=TRANSFER)).json()["result"]["isError"]
        is False
    )
    moved = shown(web, one)["digest"]
    assert moved != start
    assert shown(web, other)["digest"] == start
    fork = control(web, one, "fork").json()
    assert (fork["digest"], fork["token"] != one["token"]) == (moved, True)
    assert control(web, one, "reset").json()["digest"] == start
    assert shown(web, fork)["digest"] == moved
    assert control(web, fork, "reset").json()["digest"] == start


def test_the_tools_and_the_state_are_the_same_after_a_hundred_resets(web):
    there = opened(web)
    listed = post(web, there["urls"]["banking"], message("tools/list")).content
    for _ in range(100):
        post(web, there["urls"]["banking"], message(name="transfer_between_accounts", arguments=TRANSFER))
        assert control(web, there, "reset").json()["digest"] == there["digest"]
    assert post(web, there["urls"]["banking"], message("tools/list")).content == listed


def test_five_hundred_connections_at_once_get_the_same_bytes(web):
    there = opened(web)
    request = raw(there["urls"]["banking"], message(name="list_accounts", arguments={}))

    async def asked():
        line = await anyio.connect_tcp(web.base_url.host, web.base_url.port)
        async with line:
            connected.append(1)
            while len(connected) < CONNECTIONS:  # all of them, before the first asks
                await anyio.sleep(0.01)
            await line.send(request)
            answer = b""
            while b"\r\n\r\n" not in answer or len(answer.split(b"\r\n\r\n", 1)[1]) < length_in(answer):
                answer += await line.receive()
            bodies.append(answer.split(b"\r\n\r\n", 1)[1])

    async def all_at_once():
        async with anyio.create_task_group() as group:
            for _ in range(CONNECTIONS):
                group.start_soon(asked)

    connected, bodies = [], []
    anyio.run(all_at_once)
    assert len(bodies) == CONNECTIONS
    assert len(set(bodies)) == 1
    assert json.loads(bodies[0])["result"]["content"][0]["text"] == Session.open("banking", 0).call("list_accounts", {}).text


def length_in(answer):
    return int(re.search(rb"content-length: (\d+)", answer)[1])


def test_a_reset_turns_the_clock_back_too(web):
    there = opened(web)
    assert control(web, there, "advance", minutes=60 * 24 * 40).json()["now"] != there["now"]
    reset = control(web, there, "reset").json()
    assert (reset["now"], reset["digest"]) == (there["now"], there["digest"])


def test_ended_sessions_leave_nothing():
    with serving() as (web, app):
        for era in (MODERN, LEGACY):
            there = [opened(web) for _ in range(20)]
            body = message(name="list_accounts", arguments={})
            assert all(web.post(s["urls"]["banking"], json=body, headers=headers_of(body, era)).status_code == 200 for s in there)
            watched = [weakref.ref(served) for served in app.state.sessions._by_digest.values()]
            assert [control(web, s, method="DELETE").status_code for s in there] == [204] * 20
            assert len(app.state.sessions) == 0
            post(web, opened(web)["urls"]["banking"], body)  # frames of the last request are gone with the next one
            gc.collect()
            assert [w() for w in watched] == [None] * 20
            app.state.sessions._by_digest.clear()


def test_a_batch_runs_calls_of_many_sessions_in_order_and_tells_a_crash_from_a_refusal(web):
    calls, digest, _ = walk()
    one, other = opened(web), opened(web)
    both = [{"session": s["token"], "name": n, "arguments": a} for n, a, _ in calls for s in (one, other)]
    results = web.post("/control/batch", json={"calls": [*both, {"session": "gone", "name": "list_accounts"}]}, headers=web.key).json()[
        "results"
    ]
    assert [(r["ok"], r["text"], r["code"]) for r in results[:-1:2]] == [(r.ok, r.text, r.code) for *_, r in calls]
    assert results[1:-1:2] == results[:-1:2]
    assert results[-1] == {"ok": None, "text": "", "code": "no_session"}
    assert shown(web, one)["digest"] == shown(web, other)["digest"] == digest
