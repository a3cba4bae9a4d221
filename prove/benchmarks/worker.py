"""What plays tasks, in a process of its own: `python -m prove.benchmarks.worker BENCHMARK OPTIONS POLICY`.

It speaks JSON lines with whoever started it (`prove.benchmarks.runner`): a task comes in; questions to the policy go out and
answers come in; an outcome goes out. A benchmark may print, keep state in globals, hang or die: it does so here.
"""

import importlib
import json
import os
import sys
import time
import traceback
from dataclasses import asdict
from typing import Any, TextIO

from prove.benchmarks import reference
from prove.benchmarks.contract import Benchmark, Message, NotInstalled, Outcome, Policy, PolicyFailed

ADAPTERS = {"bfcl": "Bfcl", "tau2": "Tau2", "teval": "TEval", "agentdojo": "AgentDojo", "heldout": "Heldout"}


class Line:
    """The line to the process that asked: one JSON value a line in both directions."""

    def __init__(self, read: TextIO, write: TextIO) -> None:
        self.read, self.write = read, write

    def send(self, value: Any) -> None:
        self.write.write(json.dumps(value) + "\n")
        self.write.flush()

    def receive(self) -> Any:
        text = self.read.readline()
        if not text:
            sys.exit(0)  # whoever asked is gone
        return json.loads(text)


class Asker:
    """A policy at the other end of the line. It counts what is asked, and the time that answers take."""

    def __init__(self, line: Line, role: str, here: Policy | None = None) -> None:
        self.line, self.role, self.here = line, role, here
        self.replies = self.tokens_in = self.tokens_out = self.retries = 0
        self.seconds = 0.0

    def __call__(self, messages: list[Message], tools: list[dict[str, Any]]) -> Message:
        begun = time.perf_counter()
        answer = {"message": self.here(messages, tools)} if self.here else self._ask(messages, tools)
        self.seconds += time.perf_counter() - begun
        self.replies += 1
        if "message" not in answer:
            raise PolicyFailed(answer["failed"])
        message = dict(answer["message"])
        usage = message.pop("usage", {})
        self.tokens_in += usage.get("prompt_tokens") or 0
        self.tokens_out += usage.get("completion_tokens") or 0
        self.retries += usage.get("retries") or 0
        return message

    def _ask(self, messages: list[Message], tools: list[dict[str, Any]]) -> Any:
        self.line.send({"ask": self.role, "messages": messages, "tools": tools})
        return self.line.receive()


def main(name: str, options: dict[str, Any], policy: str) -> None:
    """Say what there is to play, then play whatever comes in until the line closes."""
    line = Line(sys.stdin, os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)  # what a benchmark prints belongs to the log
    try:
        benchmark = getattr(importlib.import_module(f"prove.benchmarks.{name}"), ADAPTERS[name])(**options)
    except NotInstalled as missing:
        line.send({"missing": str(missing)})
        return
    line.send({"version": benchmark.version, "about": benchmark.about})
    while True:
        asked = line.receive()
        if "subset" in asked:
            line.send(_tasks(benchmark, asked["subset"]))
        else:
            line.send(_played(benchmark, asked["task"], asked["trial"], line, policy))


def _tasks(benchmark: Benchmark, subset: str) -> dict[str, Any]:
    try:
        return {"tasks": benchmark.tasks(subset)}
    except LookupError as error:
        return {"unknown": str(error.args[0])}


def _played(benchmark: Benchmark, task: str, trial: int, line: Line, policy: str) -> dict[str, Any]:
    """The outcome of a task, with what it cost; a task whose policy fell silent, or that is not the one it is to be, has none."""
    agent = Asker(line, "agent", reference.find(policy, benchmark, task, trial) if policy else None)
    user = None if policy else Asker(line, "user")
    begun = time.perf_counter()
    error, result = "", {"score": 0.0}
    try:
        result = asdict(_checked(benchmark.play(task, trial, agent, user)))
    except (PolicyFailed, NotInstalled) as failed:
        return {"failed": str(failed), "trial": trial, "task": task}
    except Exception as crash:  # a crash of the harness is no answer of the model: it is counted apart, and its traceback kept
        traceback.print_exc()
        error = f"{type(crash).__name__}: {crash}"[:500]
    took = time.perf_counter() - begun
    cost = {"replies": agent.replies, "tokens_in": agent.tokens_in, "tokens_out": agent.tokens_out, "retries": agent.retries}
    waited = agent.seconds
    if user:
        waited, cost["retries"] = waited + user.seconds, agent.retries + user.retries
    return {"task": task, "trial": trial, **result, **cost, "seconds": took, "harness_seconds": took - waited, "error": error}


def _checked(outcome: Outcome) -> Outcome:
    if not 0.0 <= outcome.score <= 1.0:  # nor NaN
        raise ValueError(f"the benchmark gave the score {outcome.score}, which is not between 0 and 1")
    return outcome


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3])
