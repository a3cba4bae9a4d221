"""The MCP face: what a real client sees over any transport is what a rollout sees in process."""

import contextlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from random import Random

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from prove.mcp.adapter import adapt
from prove.mcp.http import HOSTS, Hub, Limits, Slot, application
from prove.servers.catalog import catalogue, load
from prove.servers.session import Session
from prove.synthesis.wander import wander

MODES = ("2026-07-28", "legacy")
SERVE = ["-c", "from prove.cli import main; main()", "serve"]


def walk(server="banking"):
    """A wanderer's calls on a session whose clock stands still, what each gives, and the digest afterwards."""
    session, out = Session.open(server, 0), []
    for visit in wander(session.fork(), server, 40, Random("mcp")):
        out.append((visit.tool.name, visit.arguments, session.call(visit.tool.name, visit.arguments)))
    return out, session.digest()


async def replay(target, calls, mode="auto"):
    async with Client(target, mode=mode) as client:
        for name, arguments, expected in calls:
            result = await client.call_tool(name, arguments)
            assert [c.text for c in result.content] == [expected.text]
            assert result.is_error == (not expected.ok)
            assert result.structured_content == (expected.value if expected.ok else None)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("server", ["banking", "filesystem"])
def test_in_memory_a_client_sees_the_same_bytes(mode, server):
    calls, digest = walk(server)
    session = Session.open(server, 0)
    anyio.run(replay, adapt(server, lambda context: session), calls, mode)
    assert {result.ok for *_, result in calls} == {True, False}
    assert session.digest() == digest


def test_over_stdio_a_client_sees_the_same_bytes():
    calls, _ = walk()
    anyio.run(replay, StdioServerParameters(command=sys.executable, args=[*SERVE, "banking"]), calls)


@pytest.mark.parametrize("server", catalogue())
def test_every_tool_is_listed_with_both_schemas_and_its_hints(server):
    async def listed():
        async with Client(adapt(server, lambda context: None)) as client:
            return (await client.list_tools()).tools

    tools = load(server).server.tools
    shown = anyio.run(listed)
    assert [t.name for t in shown] == list(tools)
    for tool in shown:
        mine = tools[tool.name]
        assert (tool.input_schema, tool.output_schema) == (mine.input_schema, mine.output_schema)
        assert tool.annotations.read_only_hint is not mine.marks.writes


def test_a_hundred_transfers_at_once_leave_exactly_what_they_should():
    session = Session.open("banking", 0)
    before = session.call("get_account", {"account_id": "ACC-4003"}).value["balance"]

    async def hammer():
        async with Client(adapt("banking", lambda context: session)) as client, anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(
                    client.call_tool, "transfer_between_accounts", {"from_account": "ACC-4003", "to_account": "ACC-4001", "amount": 1}
                )

    anyio.run(hammer)
    assert session.call("get_account", {"account_id": "ACC-4003"}).value["balance"] == before - 100


@contextlib.contextmanager
def http_server(*words):
    """A real server process on a free port: (url, control token)."""
    process = subprocess.Popen([sys.executable, *SERVE, *words, "--http", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().split()[-1]
        yield url, process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait()


def post(url, body=None, method="POST", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_over_http_sessions_are_isolated_guarded_and_the_same_in_both_eras():
    with http_server("banking,food_delivery") as (url, control):
        key = {"Authorization": f"Bearer {control}"}
        tokens = [post(f"{url}/control/sessions", {"seed": 0}, **key)[1]["token"] for _ in range(3)]
        calls, digest = walk()
        for token, mode in zip(tokens, MODES, strict=False):
            anyio.run(replay, f"{url}/s/{token}/banking/mcp", calls, mode)

        # the third saw nothing of what the others did; a batch does the same, and says the digest
        batch = {"server": "banking", "calls": [{"name": n, "arguments": a} for n, a, _ in calls]}
        status, answer = post(f"{url}/control/sessions/{tokens[2]}/calls", batch, **key)
        assert status == 200
        assert [r["text"] for r in answer["results"]] == [r.text for *_, r in calls]
        assert answer["digest"] == digest

        fork = post(f"{url}/control/sessions/{tokens[2]}/fork", **key)[1]["token"]
        empty = {"server": "banking", "calls": []}
        assert post(f"{url}/control/sessions/{fork}/calls", empty, **key)[1]["digest"] == digest
        assert post(f"{url}/control/sessions/{tokens[2]}/reset", **key)[0] == 200
        fresh = Session.open("banking", 0).digest()
        assert post(f"{url}/control/sessions/{tokens[2]}/calls", empty, **key)[1]["digest"] == fresh
        assert post(f"{url}/control/sessions/{fork}/calls", empty, **key)[1]["digest"] == digest

        assert post(f"{url}/control/sessions/{tokens[2]}", method="DELETE", **key)[0] == 204
        gone = post(f"{url}/s/{tokens[2]}/banking/mcp", {})
        assert gone == post(f"{url}/s/{'x' * 32}/banking/mcp", {})
        assert gone[0] == 404

        assert post(f"{url}/control/sessions", {"seed": 0})[0] == 401
        assert post(f"{url}/control/sessions", {"seed": 0}, Authorization="Bearer wrong")[0] == 401
        assert post(f"{url}/control/sessions", {"seed": 0}, **key, Origin="http://evil.example")[0] == 401
        assert post(f"{url}/control/sessions", {"seed": "x"}, **key)[0] == 400
        assert post(f"{url}/control/sessions", b"[" * 100_000, **key)[0] == 400
        assert post(f"{url}/control/sessions", b" " * 2_000_000, **key)[0] == 413
        assert post(f"{url}/control/sessions", {}, **key, Host="evil.example")[0] == 400
        assert post(f"{url}/s/{tokens[0]}/banking/mcp", {}, Host="evil.example")[0] in (400, 421)
        assert post(f"{url}/s/{tokens[0]}/banking/mcp", b"x" * 2_000_000)[0] == 413


def test_a_hub_forgets_idle_sessions_and_holds_its_caps():
    hub = Hub(Limits(sessions=2, calls=3, idle_seconds=100.0))
    tokens = [hub.add(Slot(0)) for _ in range(2)]
    assert hub.add(Slot(0)) is None
    assert hub.get(tokens[0], calls=3) is not None
    assert hub.get(tokens[0], calls=1) is None
    hub.slots[tokens[1]].used -= 1000.0
    assert hub.get(tokens[1]) is None
    assert hub.add(Slot(0)) is not None
    assert tokens[1] not in hub.slots


def test_nothing_listens_beyond_this_machine_without_checks():
    app = application(["banking"], "token")
    assert HOSTS == ("127.0.0.1", "localhost")
    assert any("TrustedHost" in str(m) for m in app.user_middleware)
