"""A local model that answers messages. What it has read stays in its cache, also where only a prompt's beginning is that of the last."""

import json
import threading
import time
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from prove.benchmarks.contract import Message
from prove.episode import Reply
from prove.policies import parse_arguments
from prove.servers.server import stable_hash
from prove.training.decoding import Decoder, Row
from prove.training.models import load
from prove.training.rendering import Renderer
from prove.training.sampler import stop_tokens

JOIN = 0.05  # seconds that a batch waits for others to join


class LocalChat:
    """A policy that is asked with whole conversations, by any number of threads; whoever waits is answered in one batch.

    `reply_tokens` bounds a reply. A conversation longer than the model's context is answered with silence, and counted under `usage`.
    """

    def __init__(self, name_or_path: str, temperature: float = 0.0, reply_tokens: int = 256, dtype: str = "", seed: int = 0) -> None:
        model, tokenizer = load(name_or_path, dtype or None)
        self.renderer, self.reply_tokens = Renderer(tokenizer), reply_tokens
        self.context = int(model.config.max_position_embeddings)
        self.decoder, self.seed = Decoder(model, stop_tokens(model, tokenizer), temperature), seed
        self.waiting: list[_Question] = []
        self.turn = threading.Lock()  # of who decodes

    def __call__(self, messages: list[Message], tools: list[dict[str, Any]]) -> Message:
        """The assistant's message after these, with its tokens under `usage`."""
        question = _Question(self.renderer.prompt([_as_rendered(m) for m in _with_system(messages)], tools))
        if len(question.prompt) >= self.context:
            return {"role": "assistant", "content": "", "usage": {"context_full": 1, "prompt_tokens": len(question.prompt)}}
        self.waiting.append(question)
        with self.turn:
            if question.ids is None:
                time.sleep(JOIN)
                self._answer()
        assert question.ids is not None
        usage = {"prompt_tokens": len(question.prompt), "completion_tokens": len(question.ids)}
        return {**_message(self.renderer.read(question.ids)), "usage": usage}

    def _answer(self) -> None:
        """Answer whoever waits."""
        questions = [self.waiting.pop(0) for _ in range(len(self.waiting))]
        prompts = [question.prompt for question in questions]
        rows = [max((_shared(row, prompt) for row in self.decoder.rows), key=lambda r: len(r.tokens), default=Row()) for prompt in prompts]
        self.decoder.rows = sorted(rows, key=lambda row: -len(row.tokens))
        limits = [min(self.context - len(prompt), self.reply_tokens) for prompt in prompts]
        seeds = [stable_hash(self.seed, *prompt) for prompt in prompts]  # whoever is answered beside it changes nothing
        for question, (ids, _) in zip(questions, self.decoder(prompts, limits, seeds), strict=True):
            question.ids = ids


@dataclass
class _Question:
    prompt: list[int]
    ids: list[int] | None = None  # the answer


def _shared(row: Row, prompt: list[int]) -> Row:
    """As much of a row as the prompt begins with; the prompt's last token is left to be read."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(row.tokens, prompt[:-1], strict=False)))
    return Row(row.tokens[:same], [(keys[:, :same], values[:, :same]) for keys, values in row.layers])


def _with_system(messages: list[Message]) -> list[Message]:
    """Some templates show tools only beside a system message, and not every benchmark has one."""
    return messages if messages[0]["role"] == "system" else [{"role": "system", "content": "You act through tools."}, *messages]


def _as_rendered(message: Message) -> Message:
    """A message as templates take it: text everywhere, and calls with arguments as data."""
    plain = {**message, "content": message.get("content") or ""}
    if "tool_calls" in message:
        functions = (call["function"] for call in message["tool_calls"])
        plain["tool_calls"] = [
            {"type": "function", "function": {"name": f["name"], "arguments": parse_arguments(f["arguments"])}} for f in functions
        ]
    return plain


def _message(reply: Reply) -> Message:
    """A reply in the form of chat completions. A call that could not be read has no name, as the episode's loop has it."""
    message: Message = {"role": "assistant", "content": reply.content}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{i}", "type": "function", "function": {"name": c.name, "arguments": _as_text(c.arguments)}}
            for i, c in enumerate(reply.calls)
        ]
    return message


def _as_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
