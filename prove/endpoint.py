"""An OpenAI-compatible endpoint (vLLM, Ollama, a cloud), for whoever asks one: a client, and patience with what may not last."""

import os
import time
from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

from prove.run import RunError

TRIES = 6  # requests for one answer before the run stops
LONGEST_PAUSE = 60.0  # seconds
_PASSING = (408, 409, 425, 429)  # refusals, beside all of 500 and above, that may not last
_FULL = (
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "context size",
    "maximum model length",
    "prompt is too long",
)

Read = TypeVar("Read")


class ContextFull(Exception):
    """The endpoint's model cannot read so much."""


def connect(base_url: str | None, api_key: str | None, **options: Any) -> Any:
    """An `openai.OpenAI` client; the key falls back to the environment's OPENAI_API_KEY, and local servers ask for none."""
    from openai import OpenAI  # slow to import, and only endpoints need it

    return OpenAI(base_url=base_url, api_key=api_key or os.environ.get("OPENAI_API_KEY") or "none", **options)


def ask(
    client: Any,
    request: dict[str, Any],
    read: Callable[[Any], Read],
    key: str,
    pause: float = 0.5,
    again: Callable[[], None] = lambda: None,
) -> Read:
    """What `read` finds in the answer to a chat-completions request, asked for until there is one; `again` is told of each retry.

    Between two tries lie `pause` seconds, doubled each time and jittered by `key`, or what the endpoint asks for. `client` makes no
    retries of its own. `read` raises AttributeError, IndexError or TypeError for what is no answer. Raises `RunError` where there is
    none, `ContextFull` where the request is too long for the model.
    """
    problem = ""
    for attempt in range(TRIES):
        if attempt:
            again()
        try:
            return _once(client, request, read)
        except _Passing as passing:
            problem = str(passing)
            if attempt + 1 < TRIES:
                time.sleep(max(passing.wait, backoff(key, attempt, pause)))
    raise RunError(f"{_where(client)} gave no answer in {TRIES} tries: {problem}; what has been made is kept, a rerun goes on")


def backoff(key: str, attempt: int, pause: float) -> float:
    """Seconds before the next try: exponential, between half and one and a half times the middle."""
    return min(LONGEST_PAUSE, pause * 2**attempt * (0.5 + Random(f"{key}:{attempt}").random()))


def _once(client: Any, request: dict[str, Any], read: Callable[[Any], Read]) -> Read:
    """One request. Raises `_Passing` for what may be better next time."""
    import openai

    try:
        answer = client.chat.completions.create(**request)
    except openai.APIStatusError as error:
        if error.status_code in (400, 413, 422) and any(words in f"{error}".lower() for words in _FULL):
            raise ContextFull(_line(error)) from None
        if error.status_code < 500 and error.status_code not in _PASSING:
            raise RunError(f"{_where(client)} refuses: {_line(error)}; check the model's name and OPENAI_API_KEY") from None
        raise _Passing(_line(error), _retry_after(error.response.headers.get("retry-after", ""))) from None
    except (openai.APIError, ValueError) as error:  # no connection, a time-out, or no JSON
        raise _Passing(_line(error)) from None
    try:
        return read(answer)
    except (AttributeError, IndexError, TypeError):
        raise _Passing(f"no chat completion: {str(answer)[:80]!r}") from None


def _where(client: Any) -> str:
    return str(client.base_url).rstrip("/")


class _Passing(Exception):
    """A failure that may not last; `wait` is how many seconds the endpoint asks us to."""

    def __init__(self, problem: str, wait: float = 0.0) -> None:
        super().__init__(problem)
        self.wait = wait


def _retry_after(header: str) -> float:
    """Seconds to wait by a Retry-After header; a date, or nonsense, is no number and left to the backoff."""
    return min(LONGEST_PAUSE, float(header)) if header.isdecimal() else 0.0


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
