"""Conversations as a person reads them: HTML for notebooks and for a page of many."""

import json
from collections.abc import Sequence
from html import escape
from random import Random
from typing import Any

from prove.records import Attempt, Conversation, GroundTruthCall, Recovery, Turn
from prove.synthesis.certify import replay_results

_STYLE = """<style>
.prove{font:14px/1.45 system-ui,sans-serif;max-width:860px;color:#222}
.prove .user,.prove .assistant{padding:.5em .8em;border-radius:10px;margin:.35em 0;max-width:80%}
.prove .user{background:#e3eefa;margin-left:auto;width:fit-content}
.prove .assistant{background:#f2f2f2;width:fit-content}
.prove .call{font:12px/1.4 ui-monospace,monospace;border-left:3px solid #E69F00;overflow-wrap:anywhere}
.prove .call{padding:.15em .7em;margin:.2em 0 .2em 1em}
.prove .failed{border-color:#D55E00;color:#8a3a00}
.prove .note{color:#777;font-size:12px}
.prove h2{font-size:15px;margin:1.6em 0 .2em}
.prove nav{columns:4;font-size:12px}
.prove nav a{display:block;color:#0072B2}
</style>"""

_RECOVERIES: dict[Recovery, str] = {
    "corrected": "a mistake, corrected next",
    "alternative": "another tool clears the way",
    "asked": "the assistant asks before it clears the way",
    "give_up": "it cannot be done: the assistant says why",
}


def conversation_html(conversation: Conversation, results: bool = True, longest: int = 400) -> str:
    """One conversation with its calls, what they returned (cut at `longest` characters), and its certificate."""
    return f"{_STYLE}<div class='prove'>{_heading(conversation)}{_body(conversation, results, longest)}</div>"


def _heading(conversation: Conversation) -> str:
    return f"<h2 id='{escape(conversation.id)}'>{escape(conversation.id)}</h2>"


def _body(conversation: Conversation, results: bool, longest: int) -> str:
    returned = replay_results(conversation) if results else {}
    candidates = f"{len(conversation.tools)} tools, {len(conversation.distractors)} distractors"
    facts = [conversation.persona, conversation.today, conversation.kind.replace("_", " "), candidates]
    parts = [_note(" · ".join([*facts, *(["enums stripped"] if conversation.stripped_enums else [])]))]
    for turn in conversation.turns:
        parts += _turn(conversation, turn, returned, longest)
    return "".join(parts) + _certificate(conversation)


def _certificate(conversation: Conversation) -> str:
    """The certificate in words: the end state, and the orders that no argument shows."""
    certificate = conversation.certificate
    if certificate is None:
        return _note("not certified")
    orders = ", ".join(f"{later} after {earlier}" for earlier, later in certificate.implicit)
    others = "; ".join(
        f"{' and '.join(_shown(c.name, c.arguments) for c in found.calls)} in place of {' and '.join(found.steps)}"
        for found in certificate.alternatives
    )
    return _note(
        f"certificate: ends in state {certificate.replay[:12]}{f'; execution needs {orders}' if orders else ''}"
        f"{f'; as good: {others}' if others else ''}"
    )


def _note(text: str) -> str:
    return f"<div class='note'>{escape(text)}</div>"


def messages_html(messages: list[dict[str, Any]], title: str = "", longest: int = 400) -> str:
    """An episode's messages as they went: what was said, called and returned."""
    parts = [f"<div class='note'>{escape(title)}</div>"] if title else []
    for message in messages:
        text = str(message.get("content") or "")
        if message["role"] == "tool":
            parts.append(f"<div class='call'>→ {escape(text[:longest])}{'…' if len(text) > longest else ''}</div>")
        elif text and message["role"] in ("user", "assistant"):
            parts.append(f"<div class='{message['role']}'>{escape(text[:longest])}</div>")
        for call in message.get("tool_calls", ()):
            arguments = json.dumps(call["function"]["arguments"], ensure_ascii=False)
            parts.append(f"<div class='call'><b>{escape(call['function']['name'])}</b> {escape(arguments)}</div>")
    return f"{_STYLE}<div class='prove'>{''.join(parts)}</div>"


def sample(conversations: Sequence[Conversation], n: int, seed: int) -> list[Conversation]:
    """At most `n` conversations, picked with a seed, in their own order."""
    picked = sorted(Random(seed).sample(range(len(conversations)), min(n, len(conversations))))
    return [conversations[i] for i in picked]


def page_html(conversations: Sequence[Conversation], title: str) -> str:
    """A page of many conversations, to read through; each has its id as anchor, and the list of them stands in front."""
    index = "".join(f"<a href='#{escape(c.id)}'>{escape(c.id)}</a>" for c in conversations)
    bodies = "".join(_heading(c) + _body(c, results=True, longest=400) for c in conversations)
    head = f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title>{_STYLE}"
    return f"{head}<body class='prove'><h1>{escape(title)}</h1><nav>{index}</nav>{bodies}</body></html>"


def _turn(conversation: Conversation, turn: Turn, returned: dict[str, Any], longest: int) -> list[str]:
    parts = [f"<div class='user'>{escape(turn.user)}<div class='note'>{turn.level.replace('_', ' ')}</div></div>"]
    for call in turn.shown:
        parts.append(_attempt(call) if isinstance(call, Attempt) else _call(conversation, call, returned, longest))
    return [*parts, f"<div class='assistant'>{escape(turn.reply)}</div>"]


def _call(conversation: Conversation, call: GroundTruthCall, returned: dict[str, Any], longest: int) -> str:
    shown = _shown(call.name, call.arguments)
    text = json.dumps(returned[call.id], ensure_ascii=False) if call.id in returned else ""
    result = f"<br>→ {escape(text[:longest])}{'…' if len(text) > longest else ''}" if text else ""
    why = conversation.certificate.necessity.get(call.id, "") if conversation.certificate else ""
    after = f", after {', '.join(call.after)}" if call.after else ""
    origins = "; ".join(f"{name} from {source}" for name, source in call.origin.items())
    spare = f"; would do without {' or '.join(call.spare)}" if call.spare else ""
    note = f"needed for: {why}{after}{f'; {origins}' if origins else ''}{spare}"
    return f"<div class='call'><b>{call.id}</b> {escape(shown)}{result}<div class='note'>{escape(note)}</div></div>"


def _attempt(attempt: Attempt) -> str:
    why = f"{attempt.code}: {attempt.message}" if attempt.message else attempt.code
    note = f"<div class='note'>{_RECOVERIES[attempt.recovery]}</div>"
    return f"<div class='call failed'>{escape(_shown(attempt.name, attempt.arguments))}<br>→ refused, {escape(why)}{note}</div>"


def _shown(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={json.dumps(v, ensure_ascii=False)}' for k, v in arguments.items())})"
