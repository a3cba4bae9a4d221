"""Between messages and tokens: the prompt, what is appended to it, and the calls in what a model says.

A conversation is rendered once, at its start. From then on only what is new is rendered, alone, and appended: what a
model sampled is never tokenised again, so a token that was sampled is the token that is trained on.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from prove.episode import Reply, ToolCall, legible
from prove.strict_json import loads

#: Stands for an assistant's reply while what follows it is rendered. It comes before all that users and tools say.
_REPLY = "\u241freply\u241f"
_OPEN = re.compile(r"<tool_call>\s*")
_CLOSE = re.compile(r"\s*</tool_call>")
_PROSE = re.compile(r"<(\\*)tool_call>")  # written with a backslash more where it is no call's tag


class Renderer:
    """A tokenizer's chat template, in the two ways an episode needs it. `options` go to the template (thinking off).

    What users, tools and schemas say never becomes a control token: where it spells one, it is tokenised as the text it is.
    """

    def __init__(self, tokenizer: Any, options: dict[str, Any] | None = None) -> None:
        self.tokenizer = tokenizer
        self.options = {"enable_thinking": False} if options is None else options
        self.eos = tokenizer.eos_token_id
        added = sorted((t.content for t in tokenizer.added_tokens_decoder.values()), key=len, reverse=True)
        self.control = re.compile("|".join(map(re.escape, added)) or r"(?!)")
        tags = set(self.encode("<tool_call></tool_call>"))  # where they are control tokens, decoding would leave them out
        self.unsaid = {i for i, t in tokenizer.added_tokens_decoder.items() if t.special} - tags

    def prompt(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
        """The tokens up to where the assistant's first reply begins."""
        mark = self._mark(messages, tools)
        return self.encode(self._render(self._veiled(messages, mark), self._veiled(tools, mark)), mark)

    def between(self, new: list[dict[str, Any]], ended: bool) -> list[int]:
        """The tokens from the end of a reply to the beginning of the next: tool results, a user's turn.

        `ended` says whether the reply closed itself with the end-of-sequence token; if not, that is added here.
        """
        before = [{"role": "user", "content": ""}, {"role": "assistant", "content": _REPLY}]
        mark = self._mark(new)
        text = self._render([*before, *self._veiled(new, mark)], None).split(_REPLY, 1)[1]
        return self.encode(text.removeprefix(self.tokenizer.eos_token) if ended else text, mark)

    def encode(self, text: str, mark: str = "") -> list[int]:
        """The tokens of a text; of what is veiled by `mark`, ordinary ones."""
        if not mark:
            return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        ids: list[int] = []
        for i, piece in enumerate(text.split(mark)):
            ids += self.ordinary(_unveiled(piece)) if i % 2 else self.encode(piece) if piece else []
        return ids

    def ordinary(self, text: str) -> list[int]:
        """The tokens of a text, none of them a control token."""
        found = self.control.search(text)
        if not found:
            return self.encode(text) if text else []
        at = found.start() + 1
        return self.ordinary(text[:at]) + self.ordinary(text[at:])

    def reply(self, reply: Reply) -> list[int]:
        """The tokens a model should have sampled to say this, the end-of-sequence token last."""
        reply = legible(reply)
        prose, calls = _as_prose(reply.content), [[c.name, c.arguments] for c in reply.calls]
        mark = self._mark(prose, calls)
        veiled = [ToolCall(*self._veiled(call, mark)) for call in calls]
        return [*self.encode(_written(self._veiled(prose, mark), veiled), mark), self.eos]

    def read(self, ids: list[int]) -> Reply:
        """What sampled tokens say."""
        return read_reply(self.tokenizer.decode([i for i in ids if i not in self.unsaid], skip_special_tokens=False))

    def _mark(self, *values: Any) -> str:
        """A character that none of the values holds, if one of them spells a control token; else nothing."""
        text = "".join(_texts(values))
        return next(chr(c) for c in range(0xE000, 0xF900) if chr(c) not in text) if self.control.search(text) else ""

    def _veiled(self, value: Any, mark: str) -> Any:
        """The value, with each control token that it spells behind a veil: templates and JSON leave it as it is."""
        if not mark:
            return value
        if isinstance(value, str):
            return self.control.sub(lambda m: mark + m[0].encode().hex() + mark, value)
        if isinstance(value, dict):
            return {self._veiled(k, mark): v if k in ("role", "type") else self._veiled(v, mark) for k, v in value.items()}
        return [self._veiled(item, mark) for item in value] if isinstance(value, list) else value

    def _render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
        text = self.tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=True, tokenize=False, **self.options)
        return str(text)


def _unveiled(piece: str) -> str:
    return bytes.fromhex(piece).decode()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(item)


def keeps_turns(tokenizer: Any) -> bool:
    """Whether a conversation rendered turn by turn, as it is played, is what the template makes of it as a whole."""
    renderer = Renderer(tokenizer)
    tools = [{"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}}]
    said = Reply("", [ToolCall("look", {})]), Reply("It is there.")
    calls = [{"id": "call_0", "type": "function", "function": {"name": "look", "arguments": {}}}]
    start = [{"role": "system", "content": "Today is Monday."}, {"role": "user", "content": "Where is it?"}]
    result = {"role": "tool", "tool_call_id": "call_0", "name": "look", "content": "[1]"}
    thanks = {"role": "user", "content": "Thank you."}
    ids = renderer.prompt(start, tools) + renderer.reply(said[0]) + renderer.between([result], True)
    ids += renderer.reply(said[1]) + renderer.between([thanks], True)
    called: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": calls}
    return ids == renderer.prompt([*start, called, result, {"role": "assistant", "content": said[1].content}, thanks], tools)


def read_reply(text: str) -> Reply:
    """Text with Hermes calls, `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, as Qwen and Granite write them.

    A call is read to the end of its JSON, whatever its strings say. One that cannot be read, or does not close, is
    `ToolCall("", text)`: the episode says so to the model. Nothing is repaired or coerced, so that training is as strict as any
    evaluation.
    """
    prose, calls, at = [], [], 0
    while found := _OPEN.search(text, at):
        prose.append(text[at : found.start()])
        call, at = _read_call(text, found.end())
        calls.append(call)
    prose.append(text[at:])
    return legible(Reply(_PROSE.sub(lambda m: f"<{m[1][:-1]}tool_call>", "".join(prose)).strip(), calls))


def _read_call(text: str, start: int) -> tuple[ToolCall, int]:
    """The call whose JSON begins at `start`, and where the text goes on."""
    try:
        end = json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        end = start
    closed = _CLOSE.match(text, end) or _CLOSE.search(text, start)
    inside = text[start : closed.start() if closed else len(text)].strip()
    return _call(inside) if closed else ToolCall("", inside), closed.end() if closed else len(text)


def _call(text: str) -> ToolCall:
    try:
        call = loads(text)
    except ValueError:
        return ToolCall("", text)
    if not (isinstance(call, dict) and isinstance(call.get("name"), str)):
        return ToolCall("", text)
    return ToolCall(call["name"], call.get("arguments", {}))


def write_reply(reply: Reply) -> str:
    """A reply as text, the inverse of `read_reply`, but for white space around its words."""
    reply = legible(reply)
    return _written(_as_prose(reply.content), reply.calls)


def _as_prose(content: str) -> str:
    return _PROSE.sub(lambda m: f"<\\{m[1]}tool_call>", content)


def _written(prose: str, calls: list[ToolCall]) -> str:
    texts = (json.dumps({"name": c.name, "arguments": c.arguments}, ensure_ascii=False) for c in calls)
    return "\n".join([*([prose] if prose else []), *(f"<tool_call>\n{text}\n</tool_call>" for text in texts)])
