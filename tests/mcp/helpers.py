"""What the tests of the MCP face share: a real server, real clients, conversations and walks to replay."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from functools import cache
from random import Random

import httpx
import msgspec
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from prove.mcp.config import launch
from prove.mcp.http import application, bind
from prove.servers.session import Session
from prove.synthesis.planning.wander import wander

ERAS = ("2026-07-28", "legacy")
MODERN = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
LEGACY = {**MODERN, "MCP-Protocol-Version": "2025-11-25"}
TRANSFER = {"from_account": "ACC-4003", "to_account": "ACC-4001", "amount": 1}


class Web(httpx.Client):
    """An HTTP client of a served library, and what its control endpoint wants to see."""

    def __init__(self, address, token):
        super().__init__(base_url=address, timeout=30)
        self.key = {"Authorization": f"Bearer {token}"}


def command(*words, text=True, **pipes):
    return subprocess.Popen([sys.executable, "-m", "prove", *words], text=text, **pipes)


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
    named = params.get("name") or params.get("uri")
    return era | {"Mcp-Method": body["method"]} | ({"Mcp-Name": named} if named else {})


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


def balances(web, session):
    calls = [{"session": session["token"], "name": "get_account", "arguments": {"account_id": a}} for a in ("ACC-4003", "ACC-4001")]
    results = web.post("/control/batch", json={"calls": calls}, headers=web.key).json()["results"]
    return [json.loads(r["text"])["balance"] for r in results]
