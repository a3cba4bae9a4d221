"""What every benchmark agrees on: who answers, what a task's outcome is, what an adapter offers.

Adapters run in a process of their own (`prove.benchmarks.worker`), under any Python that has their benchmark: this module and
they import nothing but the standard library and that benchmark.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = dict[str, Any]  # of the chat-completions API
Policy = Callable[[list[Message], list[dict[str, Any]]], Message]  # messages, tools -> the assistant's message


class PolicyFailed(Exception):
    """Nobody answered: the task has not been played, and is played again by a rerun. Never a wrong answer."""


class NotInstalled(Exception):
    """A benchmark's package or data is missing; one line that says what to do."""


@dataclass
class Outcome:
    """How one task went. `score` is the benchmark's own verdict, between 0 and 1."""

    score: float
    parts: dict[str, float] = field(default_factory=dict)  # what the score is made of, or stands beside it
    why: str = ""  # the benchmark's word for a failure
    calls: int = 0  # tool calls that the policy made
    record: Any = None  # the play in the benchmark's own format, to be scored again by its own command


class Benchmark(Protocol):
    """An adapter. It is made with keyword options, which are part of a result's name; raises `NotInstalled`."""

    version: str  # of the benchmark's code
    about: dict[str, Any]  # whatever else makes results comparable: data, rules, who plays the user

    def tasks(self, subset: str) -> list[str]:
        """The ids of a subset's tasks, "" for all of them, always in the same order. Raises LookupError for an unknown subset."""

    def play(self, task: str, trial: int, agent: Policy, user: Policy | None) -> Outcome:
        """Play one task from its beginning to its end. `user` plays the user where the benchmark has one that is a model; None where
        the agent is a policy of reference, and the adapter's own script plays the user."""

    def gold(self, task: str) -> Policy:
        """A policy that plays the task's ground truth, as far as there is one."""


def calls_of(message: Message) -> Iterator[tuple[str, str, str]]:
    """(id, name, arguments as text) of each call of an assistant message; text that says nothing where a field is missing."""
    for number, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function") or {}
        arguments = function.get("arguments", "")
        yield (
            str(call.get("id") or f"call_{number}"),
            str(function.get("name") or ""),
            arguments if isinstance(arguments, str) else json.dumps(arguments),
        )


def arguments_of(text: str) -> dict[str, Any] | None:
    """The arguments of a call as an object; None where the text is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def say(text: str = "", *calls: tuple[str, dict[str, Any]]) -> Message:
    """An assistant message with this text and these calls, (name, arguments) each."""
    message: Message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for i, (name, arguments) in enumerate(calls)
        ]
    return message


def plain(value: Any) -> Any:
    """Text without half surrogates, however deep it lies: what UTF-8 cannot say, a benchmark's own code need not survive."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
