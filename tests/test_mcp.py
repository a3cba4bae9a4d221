"""The MCP face: over any transport and in both eras a client sees what a rollout sees in process, and nothing else."""

import asyncio
import contextlib
import gc
import json
import os
import re
import socket
import subprocess
import sys
import threading
import weakref
from functools import cache
from random import Random

import anyio
import httpx
import msgspec
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from prove import cli
from prove.episode import open_session
from prove.mcp.adapter import adapt
from prove.mcp.config import launch, snippets
from prove.mcp.guard import nests_deeper_than
from prove.mcp.http import application, bind
from prove.mcp.sessions import Face, Full, Limits, Served, Sessions
from prove.servers.catalog import catalogue, load
from prove.servers.session import Session
from prove.synthesis.dataset import Plan, item
from prove.synthesis.wander import wander

ERAS = ("2026-07-28", "legacy")
MODERN = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
LEGACY = {**MODERN, "MCP-Protocol-Version": "2025-11-25"}
TRANSFER = {"from_account": "ACC-4003", "to_account": "ACC-4001", "amount": 1}


# --- a real server, real clients


class Web(httpx.Client):
    """An HTTP client of a served library, and what its control endpoint wants to see."""

    def __init__(self, address, token):
        super().__init__(base_url=address, timeout=30)
        self.key = {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def web():
    """The whole library as the command serves it, in a process of its own."""
    with command("serve", "--all", "--http", "--port", "0", stdout=subprocess.PIPE) as process:
        address, token = (process.stdout.readline().split()[-1] for _ in range(2))
        with Web(address, token) as client:
            yield client
        process.terminate()


def command(*words, **pipes):
    return subprocess.Popen([sys.executable, "-c", "from prove.cli import main; main()", *words], text=True, **pipes)


@contextlib.contextmanager
def serving(**options):
    """Banking on a free loopback port, in a thread of this process: (an HTTP client, the app)."""
    listener = bind("127.0.0.1", 0)
    app = application(["banking"], "secret", **options)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        with Web(f"http://127.0.0.1:{listener.getsockname()[1]}", "secret") as client:
            yield client, app
    finally:
        server.should_exit = True
        thread.join()


def opened(web, *servers, seed=0, only=None):
    """A new session as the control endpoint shows it."""
    answer = web.post("/control/sessions", json={"servers": servers or ["banking"], "seed": seed, "only": only}, headers=web.key)
    assert answer.status_code == 201, answer.text
    return answer.json()


def control(web, session, action="", method="POST", **body):
    path = f"/control/sessions/{session['token']}" + (f"/{action}" if action else "")
    return web.request(method, path, json=body or None, headers=web.key)


def shown(web, session):
    return control(web, session, method="GET").json()


def message(method="tools/call", number=1, **params):
    """A request of the modern era, which says with each request who it is from; the other era ignores that."""
    who = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": who}}


def headers_of(body, era=MODERN):
    """The era's headers, with the routing headers that the modern one asks for."""
    params = body["params"]
    return era | {"Mcp-Method": body["method"]} | ({"Mcp-Name": params["name"]} if "name" in params else {})


def post(web, url, body, **headers):
    return web.post(url, content=json.dumps(body), headers={"Content-Type": "application/json"} | headers_of(body) | headers)


def raw(url, body, era=MODERN):
    """A request as it goes over the line."""
    content = json.dumps(body).encode()
    lines = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(content)), **headers_of(body, era)}
    return (f"POST {url} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n").encode() + content


def stdio(*words, seed=0):
    return stdio_client(StdioServerParameters(**launch(words, seed), env=dict(os.environ)))


async def replay(target, calls, era):
    """Make calls one after the other; each must give what it gave in process."""
    async with Client(target, mode=era) as client:
        for name, arguments, expected in calls:
            same(await client.call_tool(name, arguments), expected)
        return [c.text for c in (await client.read_resource("prove://changes")).contents]


def same(result, expected):
    assert [c.text for c in result.content] == [expected.text]
    assert result.is_error is not expected.ok
    assert result.structured_content == (expected.value if expected.ok else None)


@cache
def conversations():
    plan = Plan(20, seed=5, servers=("banking",))
    return [record for record in (item(plan, i)[0] for i in range(20)) if record]


def script(record):
    """What happens in a conversation: how much time passes before each turn, and the calls of the turn."""
    for turn in record.turns:
        calls = []
        for call in turn.calls:
            calls += [(a.name, a.arguments) for a in turn.attempts if a.before == call.id]
            calls.append((call.name, call.arguments))
        yield turn.minutes_later, calls + [(a.name, a.arguments) for a in turn.attempts if not a.before]


@cache
def walk(server="banking", seed=0):
    """A wanderer's calls while the clock stands still and what each gives; the digest and the changes afterwards."""
    session = Session.open(server, seed)
    visits = [(v.tool.name, v.arguments) for v in wander(session.fork(), server, 60, Random(f"mcp:{seed}"))]
    calls = [(name, arguments, session.call(name, arguments)) for name, arguments in visits]
    return calls, session.digest(), msgspec.json.encode(session.changes()).decode()


# --- the same bytes everywhere


@pytest.mark.parametrize("era", ERAS)
def test_conversations_over_http_give_the_bytes_and_the_digest_they_give_in_process(web, era):
    async def played(record):
        mine = open_session(record)
        there = opened(web, *mine.servers, seed=record.seed, only=sorted(mine.only))
        async with Client(f"{web.base_url}{there['urls'][record.server]}", mode=era) as client:
            for minutes, calls in script(record):
                mine.advance(minutes=minutes)
                control(web, there, "advance", minutes=minutes)
                for name, arguments in calls:
                    same(await client.call_tool(name, arguments), mine.call(name, arguments))
        assert shown(web, there)["digest"] == mine.digest()
        assert shown(web, there)["outcome"] == mine.outcome() == record.certificate.outcome

    for record in conversations():
        anyio.run(played, record)
    assert len(conversations()) == 20
    assert any(calls for record in conversations() for _, calls in script(record))


@pytest.mark.parametrize("era", ERAS)
def test_a_client_over_stdio_sees_the_bytes_of_a_session_in_process(era):
    calls, _, changes = walk(seed=3)
    assert {result.ok for *_, result in calls} == {True, False}
    assert anyio.run(replay, stdio("banking", seed=3), calls, era) == [changes]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("server", ["filesystem", "budget"])
def test_other_servers_give_the_same_bytes_too(web, server, era):
    there = opened(web, server)
    calls, digest, changes = walk(server)
    assert anyio.run(replay, f"{web.base_url}{there['urls'][server]}", calls, era) == [changes]
    assert shown(web, there)["digest"] == digest


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_of_the_library_is_listed_in_order_with_both_schemas_and_its_hints(era):
    async def listed(server):
        face = Served.fresh(server).whole
        async with Client(adapt(server, "", lambda context: face), mode=era) as client:
            return (await client.list_tools()).tools

    for server in catalogue():
        mine, theirs = load(server).server.tools, anyio.run(listed, server)
        assert [t.name for t in theirs] == list(mine)
        for tool in theirs:
            marks = mine[tool.name].marks
            assert (tool.description, tool.input_schema) == (mine[tool.name].description, mine[tool.name].input_schema)
            assert tool.output_schema == mine[tool.name].output_schema
            assert tool.annotations.read_only_hint is not marks.writes
            assert (tool.annotations.destructive_hint, tool.annotations.open_world_hint) == (marks.destructive, False)


def test_clients_of_both_eras_on_one_url_share_its_session(web):
    there, mine = opened(web), Session.open("banking", 0)
    url = f"{web.base_url}{there['urls']['banking']}"

    async def taking_turns():
        async with Client(url, mode=ERAS[0]) as new, Client(url, mode=ERAS[1]) as old:
            for client in (new, old, new, old):
                same(await client.call_tool("transfer_between_accounts", TRANSFER), mine.call("transfer_between_accounts", TRANSFER))

    anyio.run(taking_turns)
    assert shown(web, there)["digest"] == mine.digest()


def test_a_session_over_several_servers_has_a_url_a_server_and_one_clock(web):
    there = opened(web, "banking", "budget")
    mine = Session.open(["banking", "budget"], 0)

    async def names(server):
        async with Client(f"{web.base_url}{there['urls'][server]}") as client:
            tools = [t.name for t in (await client.list_tools()).tools]
            foreign = await client.call_tool("get_summary" if server == "banking" else "list_accounts", {})
            now = (await client.read_resource("prove://now")).contents[0].text
            return tools, foreign.content[0].text, now

    control(web, there, "advance", minutes=90)
    mine.advance(minutes=90)
    for server in ("banking", "budget"):
        tools, foreign, now = anyio.run(names, server)
        assert tools == [name for name, (home, _) in mine.tools.items() if home == server]
        assert json.loads(foreign)["error"]["code"] == "not_found"
        assert now == mine.clock.now.isoformat()


def test_an_unknown_resource_says_which_there_are():
    async def read():
        face = Served.fresh("banking").whole
        async with Client(adapt("banking", "", lambda context: face)) as client:
            with pytest.raises(MCPError, match="there is no resource prove://balance; there are: prove://now"):
                await client.read_resource("prove://balance")

    anyio.run(read)


# --- concurrency and isolation


def balances(web, session):
    calls = [{"session": session["token"], "name": "get_account", "arguments": {"account_id": a}} for a in ("ACC-4003", "ACC-4001")]
    results = web.post("/control/batch", json={"calls": calls}, headers=web.key).json()["results"]
    return [json.loads(r["text"])["balance"] for r in results]


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


def test_two_hundred_sessions_at_once_each_end_as_if_alone(web):
    sessions = [opened(web, seed=i % 4) for i in range(200)]

    async def play(session, calls):
        reader, writer = await asyncio.open_connection(web.base_url.host, web.base_url.port)
        for number, (name, arguments, expected) in enumerate(calls[:6]):
            body = message(number=number, name=name, arguments=arguments)
            writer.write(raw(session["urls"]["banking"], body, (MODERN, LEGACY)[number % 2]))
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"content-length: (\d+)", answer)[1])
            assert json.loads(await reader.readexactly(length))["result"]["content"][0]["text"] == expected.text
        writer.close()

    async def all_of_them():
        await asyncio.gather(*(play(session, walk(seed=i % 4)[0]) for i, session in enumerate(sessions)))

    asyncio.run(all_of_them())
    alone = []
    for seed in range(4):
        mine = Session.open("banking", seed)
        for name, arguments, _ in walk(seed=seed)[0][:6]:
            mine.call(name, arguments)
        alone.append(mine.digest())
    assert [shown(web, s)["digest"] for s in sessions] == [alone[i % 4] for i in range(200)]


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


# --- what is refused


BAD_CALLS = [
    ("transfer_between_accounts", TRANSFER | {"amount": "12"}, "amount must be an integer above 0"),
    ("transfer_between_accounts", TRANSFER | {"amount": 12.5}, "amount must be an integer above 0"),
    ("transfer_between_accounts", TRANSFER | {"amount": True}, "amount must be an integer above 0"),
    ("transfer_between_accounts", TRANSFER | {"note": "hi"}, "has no argument 'note'"),
    ("get_account", {}, "account_id is missing"),
    ("get_acount", {}, "did you mean 'get_account'"),
    ("reset", {}, "there is no tool 'reset'"),
]


@pytest.mark.parametrize(("name", "arguments", "words"), BAD_CALLS)
def test_a_bad_call_is_refused_in_the_words_of_the_core(web, name, arguments, words):
    there = opened(web)
    result = post(web, there["urls"]["banking"], message(name=name, arguments=arguments)).json()["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == Session.open("banking", 0).call(name, arguments).text
    assert words in result["content"][0]["text"]
    assert shown(web, there)["digest"] == there["digest"]


@pytest.mark.parametrize("era", ERAS)
def test_a_crash_in_a_tool_is_an_error_that_tells_nothing_of_the_inside(era, caplog):
    def broken(server, *arguments):
        raise ZeroDivisionError("a line of the inside")

    served = Served.fresh("banking")
    home, tool = served.session.tools["list_accounts"]
    served.session.tools["list_accounts"] = (home, msgspec.structs.replace(tool, function=broken))

    async def call():
        async with Client(adapt("banking", "", lambda context: served.whole), mode=era) as client:
            with pytest.raises(MCPError) as crash:
                await client.call_tool("list_accounts", {})
            return crash.value.error

    error = anyio.run(call)
    assert (error.message, error.data) == ("the tool crashed; the server's log says why", None)
    assert "a line of the inside" in caplog.text


def test_unknown_ended_and_foreign_tokens_and_servers_get_one_and_the_same_answer(web):
    ended, banking = opened(web), opened(web)
    control(web, ended, method="DELETE")
    body = message(name="list_accounts", arguments={})
    urls = ["/s/nobody/banking/mcp", ended["urls"]["banking"], f"/s/{banking['token']}/budget/mcp", f"/s/{banking['token']}/nothing/mcp"]
    answers = [post(web, url, body) for url in urls]
    answers += [post(web, banking["urls"]["banking"], body, **{"Mcp-Session-Id": "made up"}), web.get(urls[0]), web.delete(urls[1])]
    assert {(a.status_code, a.text) for a in answers} == {(404, answers[0].text)}


def test_no_session_id_is_given_out_that_could_be_used_on_another_url(web):
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    url = opened(web)["urls"]["banking"]
    answer = web.post(url, json=body, headers={"Accept": MODERN["Accept"]})
    assert answer.json()["result"]["protocolVersion"] == "2025-11-25"
    assert "mcp-session-id" not in answer.headers
    assert (web.get(url).status_code, web.delete(url).status_code) == (405, 405)


def test_tokens_are_long_and_never_alike(web):
    tokens = {opened(web)["token"] for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) * 6 >= 128


REFUSED_BODIES = [
    (b"[" * 10_000 + b"]" * 10_000, 400, "nests deeper than 32 levels"),
    (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, 400, "nests deeper than 32 levels"),
    (b"[" * 10_000, 400, "nests deeper than 32 levels"),
    (b" " * 5_000_000, 413, "larger than 4194304 bytes"),
]


@pytest.mark.parametrize(("body", "status", "words"), REFUSED_BODIES, ids=["arrays", "objects", "open", "large"])
def test_a_body_that_is_too_deep_or_too_large_is_refused_everywhere(web, body, status, words):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), (url, LEGACY), ("/control/sessions", web.key), ("/control/batch", web.key), ("/nowhere", {})):
        answer = web.post(path, content=body, headers={"Content-Type": "application/json", **headers})
        assert (answer.status_code, words in answer.text) == (status, True)


def test_a_body_that_does_not_say_how_large_it_is_is_cut_off_too(web):
    answer = web.post("/control/batch", content=(b" " * 100_000 for _ in range(100)), headers=web.key)
    assert answer.status_code == 413


MALFORMED = [
    b"",
    b"{",
    b"[]",
    b"7",
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}',
]


@pytest.mark.parametrize("body", MALFORMED)
@pytest.mark.parametrize("era", [MODERN, LEGACY], ids=ERAS)
def test_what_is_no_message_is_refused_without_words_of_the_inside(web, body, era):
    answer = web.post(opened(web)["urls"]["banking"], content=body, headers={"Content-Type": "application/json", **era})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("the body ")
    assert "pydantic" not in answer.text


@given(
    st.recursive(st.integers() | st.text('[]{}"\\ax'), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text("[{\\"), x, max_size=3))
)
def test_the_depth_of_json_is_counted_right_whatever_its_strings_hold(value):
    def depth(v):
        inside = v.values() if isinstance(v, dict) else v if isinstance(v, list) else None
        return 0 if inside is None else 1 + max(map(depth, inside), default=0)

    text = json.dumps(value).encode()
    assert [nests_deeper_than(limit, text) for limit in range(6)] == [depth(value) > limit for limit in range(6)]


def test_counting_depth_takes_time_in_proportion_to_the_text_even_for_strings_that_never_end():
    assert nests_deeper_than(32, b'"' + b'\\"' * 1_000_000 + b'"' + b"[" * 40)
    assert not nests_deeper_than(32, b'"' + b'\\"' * 1_000_000 + b"[" * 40)


WRONG_HOSTS = ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "[::1", ""]


@pytest.mark.parametrize("host", WRONG_HOSTS)
def test_no_path_answers_under_a_foreign_host(web, host):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), ("/control/sessions", web.key), ("/nowhere", {})):
        assert web.post(path, json={}, headers={**headers, "Host": host}).status_code in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://[::1", ""])
def test_no_path_answers_a_foreign_page(web, origin):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), ("/control/sessions", web.key), ("/nowhere", {})):
        assert web.post(path, json={}, headers={**headers, "Origin": origin}).status_code == 403
    body = message(name="list_accounts", arguments={})
    assert post(web, url, body, Origin="http://localhost:6274").status_code == 200


def test_the_control_endpoint_asks_for_its_token_and_says_what_is_wrong(web):
    there = opened(web)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": web.key["Authorization"].split()[-1]}):
        for method, path in (("POST", "/control/sessions"), ("POST", "/control/batch"), ("GET", f"/control/sessions/{there['token']}")):
            assert web.request(method, path, headers=headers).status_code == 401
    wrong = [
        ({"servers": ["bank"]}, "there is no server 'bank' here"),
        ({"servers": []}, "Expected `array` of length >= 1"),
        ({"servers": ["banking"], "seed": "7"}, "Expected `int`, got `str`"),
        ({"servers": ["banking"], "sed": 7}, "unknown field `sed`"),
        ({"servers": ["banking"], "only": ["fly"]}, "there is no tool 'fly'"),
    ]
    for body, words in wrong:
        answer = web.post("/control/sessions", json=body, headers=web.key)
        assert (answer.status_code, words in answer.json()["error"]) == (400, True)
    assert web.get("/control/sessions/nobody", headers=web.key).status_code == 404


def test_a_bearer_token_is_asked_for_where_one_is_set():
    with serving(bearer="sesame") as (web, _):
        url, body = opened(web)["urls"]["banking"], message(name="list_accounts", arguments={})
        assert [
            post(web, url, body, **h).status_code for h in ({}, {"Authorization": "Bearer open"}, {"Authorization": "Bearer sesame"})
        ] == [401, 401, 200]


def test_further_hosts_are_answered_only_where_they_are_named():
    with serving(hosts=["tools.example"]) as (web, _):
        assert web.post("/control/sessions", json={"servers": ["banking"]}, headers=web.key).status_code == 421
        named = web.key | {"Host": "tools.example:443", "Origin": "https://tools.example"}
        assert web.post("/control/sessions", json={"servers": ["banking"]}, headers=named).status_code == 201


# --- limits


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


# --- clients as they are


def test_a_client_that_vanishes_in_the_middle_leaves_whole_calls_and_a_server_that_goes_on(web):
    there = opened(web)
    before = balances(web, there)
    body = message(name="transfer_between_accounts", arguments=TRANSFER)
    request = raw(there["urls"]["banking"], body)
    for sent in (request[: request.index(b"{")], request[:-50], request) * 10:
        with socket.create_connection((web.base_url.host, web.base_url.port)) as line:
            line.sendall(sent)
    after = balances(web, there)
    assert before[0] - after[0] == after[1] - before[1] <= 10
    assert post(web, there["urls"]["banking"], body).json()["result"]["isError"] is False


def test_requests_with_the_same_id_are_different_requests(web):
    there = opened(web)
    before = balances(web, there)
    body = message(number=7, name="transfer_between_accounts", arguments=TRANSFER)
    answers = [post(web, there["urls"]["banking"], body).json() for _ in range(3)]
    assert [a["id"] for a in answers] == [7, 7, 7]
    assert balances(web, there) == [before[0] - 3, before[1] + 3]


def test_over_stdio_bad_lines_and_repeated_ids_do_no_harm_and_the_end_of_input_ends_it():
    one = json.dumps(message(number=7, name="transfer_between_accounts", arguments=TRANSFER))
    account = json.dumps(message(number=8, name="get_account", arguments={"account_id": "ACC-4003"}))
    lines = ["[" * 10_000 + "]" * 10_000, "no json", '{"jsonrpc":"2.0"}', one, one, '{"a": "\\ud800"}', one]
    with command("serve", "banking", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.stdin.write(account + "\n")
        process.stdin.flush()
        answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(timeout=20) == 0
    mine = Session.open("banking", 0)
    texts = [mine.call("transfer_between_accounts", TRANSFER).text for _ in range(3)] + [
        mine.call("get_account", {"account_id": "ACC-4003"}).text
    ]
    assert [a["result"]["content"][0]["text"] for a in answers] == texts


# --- the command


def test_the_snippets_start_a_server_that_answers():
    text = snippets(["banking"], seed=3)
    decoder = json.JSONDecoder()
    claude, code = (decoder.raw_decode(text, text.index("{", text.index(title)))[0] for title in ("Claude Desktop", "VS Code"))
    entry = claude["mcpServers"]["banking"]
    assert code["servers"]["banking"] == {"type": "stdio", **entry}
    assert " ".join([entry["command"], *entry["args"]]) in text.splitlines()[-1]

    async def list_accounts():
        async with Client(stdio_client(StdioServerParameters(**entry, env=dict(os.environ))), mode="auto") as client:
            same(await client.call_tool("list_accounts", {}), Session.open("banking", 3).call("list_accounts", {}))

    anyio.run(list_accounts)


def test_the_command_says_where_it_serves_and_stops_without_a_word_when_told():
    with command("serve", "banking", "--http", "--port", "0", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        address, token = (process.stdout.readline().split()[-1] for _ in range(2))
        with Web(address, token) as client:
            assert opened(client)["digest"] == Session.open("banking", 0).digest()
        process.terminate()
        process.wait(timeout=20)
        assert process.stderr.read() == ""


MISTAKES = [
    ([], "name the servers to serve, or give --all"),
    (["banking", "--all"], "name the servers to serve, or give --all"),
    (["bankng"], "did you mean 'banking'"),
    (["banking", "--http", "--host", "0.0.0.0"], "name with --allow-host the hosts"),
    (["banking", "--http", "--port", "{taken}"], "127.0.0.1:{taken}: Address already in use"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_in_serving_is_one_clear_line(words, said, monkeypatch, capsys):
    with bind("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        monkeypatch.setattr(sys, "argv", ["prove", "serve", *(w.replace("{taken}", port) for w in words)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
    error = capsys.readouterr().err
    assert stopped.value.code == 2
    assert said.replace("{taken}", port) in error
    assert len(error.strip().splitlines()) == 1


def test_small_packets_are_not_held_back():
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # asyncio turns Nagle's algorithm off only on sockets that say so


def test_the_core_works_where_no_mcp_sdk_is_installed():
    lines = [
        "import sys",
        "sys.modules.update({m: None for m in ('mcp', 'mcp_types', 'starlette', 'uvicorn', 'anyio')})",
        "import prove.servers, prove.episode, prove.rewards, prove.synthesis.dataset",
        "from prove.servers.session import Session",
        "print(Session.open('banking', 0).call('list_accounts', {}).ok)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


KEPT = [("banking", "customers", {"pin": "0000"}), ("iot_devices", "households", {"door_code": "0000", "alarm_code": "0001"})]


@pytest.mark.parametrize(("server", "table", "secrets"), KEPT)
def test_the_changes_that_a_client_can_read_hold_no_secret(server, table, secrets):
    session = Session.open(server, 1)
    rows = session.servers[server].state[table]
    old = rows.one()
    rows.update(rows.key_of(old), **secrets)

    async def changes():
        async with Client(adapt(server, "", lambda context: Face(None, session))) as client:
            return (await client.read_resource("prove://changes")).contents[0].text

    before, after = json.loads(anyio.run(changes))[f"{server}.{table}"][rows.key_of(old)]
    assert dict.fromkeys(secrets).items() <= before.items() & after.items()
    assert before.keys() == set(old.__struct_fields__)
