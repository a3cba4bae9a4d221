"""Policies that need no model: the ceiling (the ground truth), the floors (nothing, chance), and the hostile."""

from collections.abc import Callable
from random import Random
from typing import Any

from prove.benchmarks.contract import Benchmark, Message, Policy, say

CALLS = 6  # that a policy of chance makes at most before it leaves the turn

_ODD: list[Any] = [None, -1, 0, 10**30, 1e308, True, "", "\ud800", "a" * 1_000_000, [], {}, [[[[]]]], {"": {"": None}}, "')#{{}}%s\x00"]
_BROKEN = ["", "{", "[1, 2]", "null", "\ud800", '{"a": NaN}', '{"class": 1, "1 + 1": 2}', "[" * 5_000, '{"x": "' + "a" * 1_000_000 + '"}']


def find(name: str, benchmark: Benchmark, task: str, trial: int) -> Policy:
    """The policy of a name, fresh for one task. Chance is seeded by the task and the trial."""
    return POLICIES[name](benchmark, task, Random(f"{task}:{trial}"))


def _silent(benchmark: Benchmark, task: str, chance: Random) -> Policy:
    return lambda messages, tools: say("I can't help with that.")


def _random(benchmark: Benchmark, task: str, chance: Random) -> Policy:
    """Calls any tool with values of the right types, made up."""
    return lambda messages, tools: _stop(messages) or say("", *(_call(tools, chance, _made_up) for _ in range(chance.randint(1, 2))))


def _hostile(benchmark: Benchmark, task: str, chance: Random) -> Policy:
    """Odd values, unknown tools, arguments that are no JSON, half surrogates, a megabyte: whatever a broken model may say."""

    def reply(messages: list[Message], tools: list[dict[str, Any]]) -> Message:
        if done := _stop(messages):
            return done
        message = say(chance.choice(["", "\ud800", "x" * 1_000_000]), _call(tools, chance, lambda spec, chance: chance.choice(_ODD)))
        function = message["tool_calls"][0]["function"]
        match chance.randrange(6):
            case 0:
                function["arguments"] = chance.choice(_BROKEN)
            case 1:
                function["name"] = chance.choice(["", "\ud800", "__import__('os').system", "no such tool", "print", "copy.deepcopy"])
            case 2:
                del function["arguments"], message["tool_calls"][0]["id"]
            case 3:
                return {"role": "assistant", "content": None, "tool_calls": None}
        return message

    return reply


def _stop(messages: list[Message]) -> Message | None:
    """The end of a turn, once it holds calls enough."""
    turn = 0
    for message in reversed(messages):
        if message["role"] == "user":
            break
        turn += message["role"] == "assistant"
    return say("Done.") if turn >= CALLS else None


def _call(tools: list[dict[str, Any]], chance: Random, value: Callable[[dict[str, Any], Random], Any]) -> tuple[str, dict[str, Any]]:
    if not tools:
        return "no_tool", {}
    function = chance.choice(tools)["function"]
    properties = function.get("parameters", {}).get("properties", {})
    required = function.get("parameters", {}).get("required") or []
    return function["name"], {name: value(spec, chance) for name, spec in properties.items() if name in required or chance.random() < 0.2}


def _made_up(spec: dict[str, Any], chance: Random) -> Any:
    """A value of the type that a schema asks for."""
    if spec.get("enum"):
        return chance.choice(spec["enum"])
    match spec.get("type"):
        case "integer":
            return chance.randint(0, 100)
        case "number":
            return chance.random() * 100
        case "boolean":
            return chance.random() < 0.5
        case "array":
            return [_made_up(spec.get("items", {}), chance) for _ in range(chance.randint(0, 2))]
        case "object":
            return {name: _made_up(inner, chance) for name, inner in spec.get("properties", {}).items()}
    return chance.choice(["", "a", "document", "1234", "user@example.com", "2024-05-15"])


POLICIES: dict[str, Callable[[Benchmark, str, Random], Policy]] = {
    "gold": lambda benchmark, task, chance: benchmark.gold(task),
    "silent": _silent,
    "random": _random,
    "hostile": _hostile,
}
