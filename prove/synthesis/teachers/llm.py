"""A language model behind an OpenAI-compatible endpoint, asked through a cache on disk: the same question is paid for once,
and gives the same words ever after."""

import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import msgspec

from prove import run
from prove.endpoint import ContextFull, ask, connect
from prove.files import whole

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
        request = {"model": self.model, "messages": messages, **self.sampling}
        try:
            return ask(self.client, request, _read_answer, f"{self.seed}:{key}", self.pause, lambda: self._count(retries=1))
        except ContextFull as full:
            raise run.RunError(f"{self.base_url} refuses: {full}") from None

    def _count(self, **more: int) -> None:
        with self._lock:
            for name, number in more.items():
                setattr(self.usage, name, getattr(self.usage, name) + number)


def _read_answer(answer: Any) -> tuple[str, int, int]:
    text = (answer.choices[0].message.content or "").encode(errors="replace").decode()  # no half surrogates
    usage = answer.usage
    return text, usage.prompt_tokens if usage else 0, usage.completion_tokens if usage else 0


def _read(path: Path) -> Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Kept)
    except (FileNotFoundError, msgspec.DecodeError):  # a torn file is asked for again
        return None


def _write(path: Path, kept: Kept) -> None:
    """Write whole: several threads and processes may have had the same question."""
    with whole(path) as draft:
        draft.write_bytes(msgspec.json.encode(kept))
