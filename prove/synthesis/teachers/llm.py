"""A language model behind an OpenAI-compatible endpoint, asked through a cache on disk: the same question is paid for once,
and gives the same words ever after."""

import hashlib
import json
import os
import threading
import time
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from prove import run
from prove.endpoint import connect

TRIES = 6  # requests for one answer before the run stops
LONGEST_PAUSE = 60.0  # seconds
_PASSING = (408, 409, 425, 429)  # refusals, beside all of 500 and above, that may not last

Message = dict[str, str]


class Kept(msgspec.Struct, frozen=True):
    """One answer as the cache holds it, with the question."""

    model: str
    sampling: dict[str, Any]
    messages: list[Message]
    text: str
    tokens_in: int
    tokens_out: int


class Usage(msgspec.Struct):
    """What has been asked for; `prices` are per million tokens (in, out), in whatever currency they were given in."""

    prices: tuple[float, float] | None = None
    answers: int = 0  # paid for
    retries: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def cost(self) -> float | None:
        return None if self.prices is None else (self.tokens_in * self.prices[0] + self.tokens_out * self.prices[1]) / 1e6

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", cost {self.cost:.4f}"
        asked = f"{self.answers} answers ({self.retries} retries), {self.cached} more from the cache"
        return f"{asked}; {self.tokens_in:,} tokens in, {self.tokens_out:,} out{cost}"


class LLM:
    """`ask(messages)` gives the model's text. Any number of threads may ask at once; `usage` counts for all of them.

    `sampling` are parameters of the chat-completions API (temperature, max_tokens, ...); with the model and the messages
    they are the key of the cache. `pause` seconds, doubled each time and jittered by the seed, lie between two tries.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        api_key: str | None = None,
        sampling: dict[str, Any] | None = None,
        prices: tuple[float, float] | None = None,
        seed: int = 0,
        timeout: float = 120.0,
        pause: float = 0.5,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise run.RunError(f"{base_url!r} is no endpoint: give a URL such as http://localhost:8000/v1")
        self.client = connect(base_url, api_key, max_retries=0, timeout=timeout)  # retries are ours: seeded, counted
        self.model, self.base_url, self.sampling, self.seed, self.pause = model, base_url, sampling or {}, seed, pause
        self.usage = Usage(prices)
        self._lock = threading.Lock()

    def ask(self, messages: list[Message]) -> str:
        """The answer, from the cache if it is there. Raises `RunError` where the endpoint gives none."""
        path = self._path(messages)
        kept = _read(path)
        if kept is not None:
            self._count(cached=1)
            return kept.text
        text, tokens_in, tokens_out = self._answer(messages, path.stem)
        _write(path, Kept(self.model, self.sampling, messages, text, tokens_in, tokens_out))
        self._count(answers=1, tokens_in=tokens_in, tokens_out=tokens_out)
        return text

    def _path(self, messages: list[Message]) -> Path:
        content = json.dumps([self.model, self.sampling, messages], sort_keys=True)
        key = hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
        return run.cache() / "llm" / key[:2] / f"{key}.json"

    def _answer(self, messages: list[Message], key: str) -> tuple[str, int, int]:
        """(text, tokens in, tokens out), asked for until there is one."""
        problem = ""
        for attempt in range(TRIES):
            if attempt:
                self._count(retries=1)
            try:
                return self._once(messages)
            except _Passing as passing:
                problem = str(passing)
                if attempt + 1 < TRIES:
                    time.sleep(max(passing.wait, self._backoff(key, attempt)))
        raise run.RunError(f"{self.base_url} gave no answer in {TRIES} tries: {problem}; what has been made is kept, a rerun goes on")

    def _backoff(self, key: str, attempt: int) -> float:
        """Seconds before the next try: exponential, between half and one and a half times the middle."""
        return min(LONGEST_PAUSE, self.pause * 2**attempt * (0.5 + Random(f"{self.seed}:{key}:{attempt}").random()))

    def _once(self, messages: list[Message]) -> tuple[str, int, int]:
        """One request. Raises `_Passing` for what may be better next time, `RunError` for what will not."""
        import openai

        try:
            answer: Any = self.client.chat.completions.create(model=self.model, messages=messages, **self.sampling)  # type: ignore[call-overload]
        except openai.APIStatusError as error:
            if error.status_code < 500 and error.status_code not in _PASSING:
                raise run.RunError(f"{self.base_url} refuses: {_line(error)}; check the model's name and OPENAI_API_KEY") from None
            raise _Passing(_line(error), _retry_after(error.response.headers.get("retry-after", ""))) from None
        except (openai.APIError, ValueError) as error:  # no connection, a time-out, or no JSON
            raise _Passing(_line(error)) from None
        try:
            text = (answer.choices[0].message.content or "").encode(errors="replace").decode()  # no half surrogates
            usage = answer.usage
            return text, usage.prompt_tokens if usage else 0, usage.completion_tokens if usage else 0
        except (AttributeError, IndexError, TypeError):
            raise _Passing(f"no chat completion: {str(answer)[:80]!r}") from None

    def _count(self, **more: int) -> None:
        with self._lock:
            for name, number in more.items():
                setattr(self.usage, name, getattr(self.usage, name) + number)


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


def _read(path: Path) -> Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Kept)
    except (FileNotFoundError, msgspec.DecodeError):  # a torn file is asked for again
        return None


def _write(path: Path, kept: Kept) -> None:
    """Write whole: several threads and processes may have had the same question."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    draft.write_bytes(msgspec.json.encode(kept))
    draft.replace(path)
