"""Between messages and tokens: the prompt, what is appended to it, and the calls in what a model says.

A conversation is rendered once, at its start. From then on only what is new is rendered, alone, and appended: what a
model sampled is never tokenised again, so a token that was sampled is the token that is trained on.
"""

import json
import re
from typing import Any

from prove.episode import Reply, ToolCall, legible
from prove.strict_json import loads

#: Stands for an assistant's reply while what follows it is rendered. No template changes it, and no user says it.
_REPLY = "\u241freply\u241f"
_CALL = re.compile(r"<tool_call>(.*?)(</tool_call>|\Z)", re.DOTALL)


class Renderer:
    """A tokenizer's chat template, in the two ways an episode needs it. `options` go to the template (thinking off)."""

    def __init__(self, tokenizer: Any, options: dict[str, Any] | None = None) -> None:
        self.tokenizer = tokenizer
        self.options = {"enable_thinking": False} if options is None else options
        self.eos = tokenizer.eos_token_id

    def prompt(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
        """The tokens up to where the assistant's first reply begins."""
        return self.encode(self._render(messages, tools))

    def between(self, new: list[dict[str, Any]], ended: bool) -> list[int]:
        """The tokens from the end of a reply to the beginning of the next: tool results, a user's turn.

        `ended` says whether the reply closed itself with the end-of-sequence token; if not, that is added here.
        """
        before = [{"role": "user", "content": ""}, {"role": "assistant", "content": _REPLY}]
        text = self._render([*before, *new], None).split(_REPLY, 1)[1]
        return self.encode(text.removeprefix(self.tokenizer.eos_token) if ended else text)

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def reply(self, reply: Reply) -> list[int]:
        """The tokens a model should have sampled to say this, the end-of-sequence token last."""
        return [*self.encode(write_reply(reply)), self.eos]

    def read(self, ids: list[int]) -> Reply:
        """What sampled tokens say."""
        return read_reply(self.tokenizer.decode(ids, skip_special_tokens=True))

    def _render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
        text = self.tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=True, tokenize=False, **self.options)
        return str(text)


def read_reply(text: str) -> Reply:
    """Text with Hermes calls, `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, as Qwen and Granite write them.

    A call that cannot be read, or does not close, is `ToolCall("", text)`: the episode says so to the model. Nothing is
    repaired or coerced, so that training is as strict as any evaluation.
    """
    calls = [_read_call(m[1].strip(), closed=bool(m[2])) for m in _CALL.finditer(text)]
    return legible(Reply(_CALL.sub("", text).strip(), calls))


def _read_call(text: str, closed: bool) -> ToolCall:
    try:
        call = loads(text)
    except ValueError:
        return ToolCall("", text)
    if not (closed and isinstance(call, dict) and isinstance(call.get("name"), str)):
        return ToolCall("", text)
    return ToolCall(call["name"], call.get("arguments", {}))


def write_reply(reply: Reply) -> str:
    """A reply as text, the inverse of `read_reply`."""
    reply = legible(reply)
    calls = (json.dumps({"name": c.name, "arguments": c.arguments}, ensure_ascii=False) for c in reply.calls)
    return "\n".join([*([reply.content] if reply.content else []), *(f"<tool_call>\n{c}\n</tool_call>" for c in calls)])
