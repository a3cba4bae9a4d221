"""Many sessions at once over streamable HTTP: `python benchmarks/sessions.py [SESSIONS]`, 2,000 by default.

Each session has a URL and a connection of its own and makes calls that a wanderer drew for it, successes, refusals and mistakes,
in both protocol eras by turns, while all others make theirs. What must hold, or the script stops with what did not: every answer
is byte for byte what the same session gives alone in process, every session ends in the digest of running alone, and once the
sessions are ended the server has no session, process, thread or file descriptor more than before, and no more than a tenth more
memory. That is measured from a server that has served as many sessions before, since what a first crowd costs Python's allocator
keeps; the first crowd's growth is printed too.
"""

import asyncio
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random
from typing import Any

import httpx
import psutil

from prove.servers.session import Session
from prove.synthesis.planning.wander import wander

WORLDS, WALKS, CALLS = 4, 10, 6
PROVE = ["-m", "prove", "serve", "banking", "--http", "--port", "0", "--max-sessions", "10000"]
ERAS = ("2026-07-28", "2025-11-25")
WHO = {"io.modelcontextprotocol/protocolVersion": ERAS[0], "io.modelcontextprotocol/clientCapabilities": {}}
Call = tuple[str, dict[str, Any], str]  # name, arguments, the text it gives in process


@cache
def alone(seed: int, walk: int) -> tuple[list[Call], str]:
    """A session's calls with what each gives when nobody else is there, and the digest at the end."""
    rng, session = Random(f"sessions:{seed}:{walk}"), Session.open("banking", seed)
    drawn = [(v.tool.name, v.arguments) for v in wander(session.fork(), "banking", CALLS, rng, mistakes=0.2)]
    calls = [(name, arguments, session.call(name, arguments).text) for name, arguments in drawn]
    return calls, session.digest()


def part(number: int) -> tuple[list[Call], str]:
    """What session `number` plays: neighbours differ in world and in walk."""
    return alone(number % WORLDS, number // WORLDS % WALKS)


async def play(host: str, port: int, path: str, calls: list[Call], first: int, turn: Random) -> None:
    """One session's calls on a connection of its own, the eras by turns, others coming in between."""
    reader, writer = await asyncio.open_connection(host, port)
    for number, (name, arguments, expected) in enumerate(calls, first):
        await asyncio.sleep(turn.random() / 100)
        writer.write(request(host, path, number, name, arguments))
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length, head
        text = json.loads(await reader.readexactly(int(length[1])))["result"]["content"][0]["text"]
        assert text == expected, f"{name}({arguments}) gave {text}, alone {expected}"
    writer.close()
    await writer.wait_closed()


def request(host: str, path: str, number: int, name: str, arguments: dict[str, Any]) -> bytes:
    params = {"name": name, "arguments": arguments, "_meta": WHO}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()
    headers = {
        "Host": host,
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "MCP-Protocol-Version": ERAS[number % 2],
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    return (f"POST {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode() + body


def crowd(web: httpx.Client, size: int) -> float:
    """Open, play and end that many sessions; returns calls a second. Raises AssertionError for what must not be."""
    worlds = [{"servers": ["banking"], "seed": number % WORLDS} for number in range(size)]
    sessions = [web.post("/control/sessions", json=world).json() for world in worlds]

    async def all_at_once() -> float:
        begun = time.perf_counter()
        host, port = web.base_url.host, web.base_url.port or 80
        plays = (play(host, port, s["urls"]["banking"], part(i)[0], i, Random(i)) for i, s in enumerate(sessions))
        await asyncio.gather(*plays)
        return time.perf_counter() - begun

    took = asyncio.run(all_at_once())
    paths = [f"/control/sessions/{s['token']}" for s in sessions]
    wrong = [i for i, path in enumerate(paths) if web.get(path).json()["digest"] != part(i)[1]]
    assert not wrong, f"sessions {wrong[:5]} did not end as they do alone"
    assert {web.delete(path).status_code for path in paths} == {204}
    assert {web.get(path).status_code for path in paths} == {404}
    return sum(len(part(i)[0]) for i in range(size)) / took


def held(server: psutil.Process) -> dict[str, int]:
    """What the server holds: child processes, threads, file descriptors."""
    return {"processes": len(server.children(recursive=True)), "threads": server.num_threads(), "descriptors": server.num_fds()}


def settled(server: psutil.Process, before: dict[str, int]) -> dict[str, int]:
    """What the server holds once closed connections have gone, which takes a moment."""
    for _ in itertools.takewhile(lambda _: held(server) != before, range(100)):
        time.sleep(0.1)
    return held(server)


@contextmanager
def served() -> Iterator[tuple[httpx.Client, psutil.Process]]:
    with subprocess.Popen([sys.executable, *PROVE], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address, token = (process.stdout.readline().split()[-1] for _ in range(2))
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=120) as web:
            web.get("/control/sessions/nobody")  # the connection that stays
            yield web, psutil.Process(process.pid)
        process.terminate()


def main(size: int) -> None:
    with served() as (web, server):
        memory = [server.memory_info().rss / 2**20]
        before = held(server)
        rates = []
        for _ in range(2):
            rates.append(crowd(web, size))
            assert settled(server, before) == before, f"the server held {before}, now {held(server)}"
            memory.append(server.memory_info().rss / 2**20)
    growth = memory[2] / memory[1] - 1
    print(f"{size} sessions at once, twice: {rates[0]:.0f} and {rates[1]:.0f} calls/s; every digest as alone; nothing left: {before}")
    print(
        f"memory: {memory[0]:.0f} MiB at the start, {memory[1]:.0f} after the first crowd, {memory[2]:.0f} after the second ({growth:+.1%})"
    )
    assert growth < 0.1, "the second crowd left more than a tenth more memory behind"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
