"""The command: what it prints starts a server, and a mistake in it is one clear line."""

import json
import os
import socket
import subprocess
import sys

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from prove import cli
from prove.mcp.config import snippets
from prove.mcp.http import bind
from prove.servers.session import Session

from .helpers import Web, command, opened, same


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


def test_the_line_that_the_command_prints_makes_a_session():
    with command("serve", "banking", "email", "--http", "--port", "0", stdout=subprocess.PIPE) as process:
        address, *_, line = (process.stdout.readline().strip() for _ in range(4))
        try:
            made = subprocess.run(["bash", "-c", f"{line} --retry 5 --retry-connrefused"], capture_output=True, check=True).stdout
            assert list(json.loads(made)["urls"]) == ["banking"]
            for path in ("", "/mcp"):
                asked = ["curl", "-s", "-w", "%{http_code}", f"{address.split()[-1]}{path}"]
                said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
                assert said.endswith("404")
                assert "POST /control/sessions with the control token makes one" in said
        finally:
            process.terminate()


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
        "import prove.servers, prove.episode, prove.rewards, prove.synthesis.data.dataset",
        "from prove.servers.session import Session",
        "print(Session.open('banking', 0).call('list_accounts', {}).ok)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
