"""Who answers in an episode: the oracle, a script, an OpenAI-compatible endpoint. A local model is `prove.training.sampler`."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prove.endpoint import ContextFull, ask, connect
from prove.episode import Episode, Reply, ToolCall, current_turn
from prove.records import Attempt, GroundTruthCall
from prove.strict_json import loads


class Oracle:
    """Plays the record: each turn's calls, those among them that are refused, then the reply.

    Without `attempts` it plays the ground truth alone, which no reward can rate higher. `together`: whether calls that need not
    wait for each other go into one message; by default as the record has it.
    """

    def __init__(self, attempts: bool = True, together: bool | None = None) -> None:
        self.attempts, self.together = attempts, together

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        return [self._next(e) for e in episodes]

    def _next(self, episode: Episode) -> Reply:
        turn = current_turn(episode)
        calls = (turn.shown if self.attempts else turn.calls)[episode.calls_in_turn :]
        if not calls:
            return Reply(turn.reply)
        together = episode.conversation.together if self.together is None else self.together
        return Reply("", [ToolCall(call.name, call.arguments) for call in (at_once(calls) if together else calls[:1])])


def at_once(calls: Sequence[GroundTruthCall | Attempt]) -> Sequence[GroundTruthCall | Attempt]:
    """The calls from the first on of which none waits for another of them; one that will be refused is sent alone."""
    known = set[str]()
    for i, call in enumerate(calls):
        if isinstance(call, Attempt) or known & set(call.after):
            return calls[: max(i, 1)]
        known.add(call.id)
    return calls


def mistaken(episode: Episode, reply: Reply) -> bool:
    """Whether a reply is a mistake that the record's conversation then corrects: to be seen in training, and not to be learnt."""
    if episode.done:
        return False
    corrected = [(a.name, a.arguments) for a in current_turn(episode).attempts if a.recovery == "corrected"]
    return any((call.name, call.arguments) in corrected for call in reply.calls)


class Script:
    """Plays a function of the episode: `Script(lambda episode: Reply("No."))`."""

    def __init__(self, function: Callable[[Episode], Reply]) -> None:
        self.function = function

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        return [self.function(e) for e in episodes]


#: Does nothing: answers every turn without a call.
SILENT = Script(lambda episode: Reply("I can't help with that."))


class Endpoint:
    """A model behind an OpenAI-compatible endpoint (vLLM, Ollama, a cloud).

    Parameters are those of the chat-completions API; `api_key` falls back to the environment's OPENAI_API_KEY. Episodes are asked
    for in parallel. What may not last (no connection, a time-out, an answer that is none) is asked again, and counted in `retries`.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        concurrency: int = 16,
        timeout: float = 600.0,
        pause: float = 0.5,
        **sampling: Any,
    ) -> None:
        self.client = connect(base_url, api_key, max_retries=0, timeout=timeout)
        self.model, self.concurrency, self.pause, self.sampling = model, concurrency, pause, sampling
        self.retries = 0

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        with ThreadPoolExecutor(self.concurrency) as pool:
            return list(pool.map(self._ask, episodes))

    def __call__(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The assistant's message after these, such that it can be sent back, with what it cost under `usage`. A model that cannot
        read so much says nothing. Raises `RunError` where the endpoint gives no answer."""
        return _sendable(self._answer(messages, tools))

    def _answer(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The same, to the letter: with what cannot be sent back."""
        retries: list[int] = []
        request = {"model": self.model, "messages": messages, **({"tools": tools} if tools else {}), **self.sampling}
        try:
            message = ask(self.client, request, _message, f"{self.model}:{len(messages)}", self.pause, lambda: retries.append(1))
        except ContextFull:
            message = {"role": "assistant", "content": "", "usage": {"context_full": 1}}
        self.retries += len(retries)
        message["usage"]["retries"] = len(retries)
        return message

    def _ask(self, episode: Episode) -> Reply:
        message = self._answer([with_text_arguments(m) for m in episode.messages], episode.tools)
        functions = (call["function"] for call in message.get("tool_calls", ()))
        return Reply(message["content"], [ToolCall(f["name"], parse_arguments(f["arguments"])) for f in functions])


def _message(answer: Any) -> dict[str, Any]:
    """The message of a chat completion, as plain data."""
    said, usage = answer.choices[0].message, answer.usage
    message: dict[str, Any] = {"role": "assistant", "content": _text(said.content or "")}
    calls = [(call.id, call.function) for call in said.tool_calls or () if call.type == "function"]
    if calls:
        message["tool_calls"] = [
            {"id": name, "type": "function", "function": {"name": _text(f.name), "arguments": _text(f.arguments)}} for name, f in calls
        ]
    cost = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens} if usage else {}
    return {**message, "usage": cost}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _sendable(value: Any) -> Any:
    """A message that can be sent back: half surrogates replaced."""
    if isinstance(value, dict):
        return {k: _sendable(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_sendable(v) for v in value]
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def parse_arguments(text: str) -> Any:
    """The arguments of a call as data, or the text itself where it is no JSON: the episode then says so to the model."""
    try:
        return loads(text or "{}")
    except ValueError:
        return text


def with_text_arguments(message: dict[str, Any]) -> dict[str, Any]:
    """An episode's message in the form of chat completions, which has a call's arguments as text."""
    if "tool_calls" not in message:
        return message
    return {**message, "tool_calls": [{**c, "function": _as_sent(c["function"])} for c in message["tool_calls"]]}


def _as_sent(function: dict[str, Any]) -> dict[str, str]:
    arguments = function["arguments"]
    name = function["name"] or "unreadable"  # endpoints ask for one
    return {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
