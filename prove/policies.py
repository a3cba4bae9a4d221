"""Who answers in an episode: the oracle, a script, an OpenAI-compatible endpoint. A local model is `prove.training.sampler`."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prove.endpoint import connect
from prove.episode import Episode, Reply, ToolCall, current_turn
from prove.strict_json import loads


class Oracle:
    """Plays the ground truth: each turn's calls one by one, then the reply."""

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        return [self._next(e) for e in episodes]

    def _next(self, episode: Episode) -> Reply:
        turn = current_turn(episode)
        if episode.calls_in_turn < len(turn.calls):
            call = turn.calls[episode.calls_in_turn]
            return Reply("", [ToolCall(call.name, call.arguments)])
        return Reply(turn.reply)


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

    Parameters are those of the chat-completions API; `api_key` falls back to the environment's OPENAI_API_KEY.
    Episodes are asked for in parallel; retries with backoff are the client's own.
    """

    def __init__(self, model: str, base_url: str | None = None, api_key: str | None = None, concurrency: int = 16, **sampling: Any) -> None:
        self.client = connect(base_url, api_key, max_retries=4)
        self.model, self.concurrency, self.sampling = model, concurrency, sampling

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        with ThreadPoolExecutor(self.concurrency) as pool:
            return list(pool.map(self._ask, episodes))

    def _ask(self, episode: Episode) -> Reply:
        messages: Any = [_with_text_arguments(m) for m in episode.messages]
        tools: Any = episode.tools
        answer = self.client.chat.completions.create(model=self.model, messages=messages, tools=tools, **self.sampling)
        message = answer.choices[0].message
        calls = [ToolCall(c.function.name, parse_arguments(c.function.arguments)) for c in message.tool_calls or [] if c.type == "function"]
        return Reply(message.content or "", calls)


def parse_arguments(text: str) -> Any:
    """The arguments of a call as data, or the text itself where it is no JSON: the episode then says so to the model."""
    try:
        return loads(text or "{}")
    except ValueError:
        return text


def _with_text_arguments(message: dict[str, Any]) -> dict[str, Any]:
    if "tool_calls" not in message:
        return message
    return {**message, "tool_calls": [{**c, "function": _as_sent(c["function"])} for c in message["tool_calls"]]}


def _as_sent(function: dict[str, Any]) -> dict[str, str]:
    arguments = function["arguments"]
    name = function["name"] or "unreadable"  # endpoints ask for one
    return {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
