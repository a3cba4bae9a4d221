"""Questions that none of the offered tools can answer, from public data sets (arXiv:2606.03892, section 3.4): 806 parts of
When2Call's supervised set, whose answers call nothing, to 316 of xLAM-Irrelevance."""

import json
import re
from datetime import date
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from prove.records import Conversation, Split, Turn
from prove.run import RunError
from prove.servers.session import Session
from prove.synthesis.certify import certify

HUB = "hub"
NO_TOOL = "I'm sorry, none of my tools can do that."


class Outside(msgspec.Struct, frozen=True):
    """A data set on the hub: which configuration and revision of it, and its weight in the mix."""

    name: str
    config: str | None
    revision: str
    weight: int


SETS = (
    Outside("nvidia/When2Call", "train_sft", "0582f7749df63a96fdc3070932e83e72396ace53", 806),
    Outside("MadeAgents/xlam-irrelevance-7.5k", None, "34323bf09efc7e4a394998a0fa91ff997617c369", 316),
)
#: Of every sixteen rows one is held out and one is for validation: the splits share no question.
_PART: dict[Split, tuple[int, ...]] = {"heldout": (0,), "validation": (1,), "train": tuple(range(2, 16))}


class Question(msgspec.Struct, frozen=True):
    """A row of such a set in our form: `functions` are in the chat format, by name."""

    row: int
    user: str
    reply: str
    functions: dict[str, Any]


def abstention(where: str, seed: int, i: int, split: Split, server: str, world: int) -> Conversation:
    """Item i as a question from elsewhere, certified; played in a world of `server`, none of whose tools is offered.

    `where` is `HUB`, or a folder with copies of the data sets under their names. Raises `RunError` where they are not.
    """
    rng = Random(f"outside:{seed}:{split}:{i}")
    chosen = rng.choices(SETS, [s.weight for s in SETS])[0]
    mine = [q for q in questions(where, chosen) if q.row % 16 in _PART[split]]
    if not mine:
        raise RunError(f"{chosen.name} has no question for the split {split}: it needs more rows")
    question = rng.choice(mine)
    short = chosen.name.rsplit("/", 1)[1].split("-")[0].lower()
    record = Conversation(
        id=f"{short}-{question.row}-{i:06}",
        server=server,
        seed=world,
        kind="abstention",
        persona="somebody",
        today=_today(server, world).isoformat(),
        tools=[],
        distractors=[],
        stripped_enums=False,
        turns=[Turn(question.user, "complete", [], question.reply)],
        certificate=None,
        split=split,
        source=chosen.name,
        schemas=question.functions,
    )
    return certify(record)


def _today(server: str, world: int) -> date:
    return Session.open(server, world).clock.now.date()


@cache
def questions(where: str, outside: Outside) -> list[Question]:
    """The rows of a set that can be used, in its order. Raises `RunError` where it cannot be loaded."""
    found = [_question(number, row) for number, row in enumerate(_rows(where, outside))]
    return [q for q in found if q is not None]


def reachable(where: str) -> str:
    """Why the sets cannot be loaded from there; "" if they can."""
    try:
        for outside in SETS:
            questions(where, outside)
    except RunError as error:
        return str(error)
    return ""


def _rows(where: str, outside: Outside) -> Any:
    from datasets import load_dataset  # slow to import

    path, revision = (outside.name, outside.revision) if where == HUB else (str(Path(where) / outside.name), None)
    try:
        if where != HUB and not Path(path).is_dir():
            raise FileNotFoundError(f"{path} is no folder")
        return load_dataset(path, outside.config, split="train", revision=revision)
    except (OSError, ValueError) as error:  # no network, no such folder, or no such configuration in it
        raise RunError(f"{outside.name} cannot be loaded: {' '.join(str(error).split())[:160]}") from None


def _question(number: int, row: dict[str, Any]) -> Question | None:
    """A row of either set as a question; None for one that calls something, offers nothing or cannot be read."""
    try:
        functions = _functions(_plain(row["tools"]))
        if "query" in row:
            user, reply, calls = row["query"], NO_TOOL, _plain(row["answers"])
        else:
            said = [(m["role"], m["content"]) for m in _plain(row["messages"]) if m["role"] != "system"]
            (first, user), (second, reply) = said
            calls = (first, second) != ("user", "assistant") or "<TOOLCALL>" in reply
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return Question(number, user.strip(), reply.strip(), functions) if functions and user.strip() and not calls else None


def _plain(value: Any) -> Any:
    """A column as data: some are JSON text, as a whole or item by item; a field that only other rows have is left out."""
    if isinstance(value, str):
        value = json.loads(value)
    items = [json.loads(v) if isinstance(v, str) else v for v in value]
    return [_filled(v) for v in items]


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _filled(v) for k, v in value.items() if v is not None}
    return [_filled(v) for v in value] if isinstance(value, list) else value


# --- their schemas in ours

_TYPES = {
    **dict.fromkeys(("str", "string", "text"), "string"),
    **dict.fromkeys(("int", "integer"), "integer"),
    **dict.fromkeys(("float", "number", "double"), "number"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("list", "array", "tuple", "set"), "array"),
    **dict.fromkeys(("dict", "object"), "object"),
}


def _functions(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Tools of either set in the chat format. Raises ValueError where two have the same name."""
    functions = {}
    for tool in tools:
        tool = tool.get("function", tool)
        name = re.sub(r"[^\w-]", "_", tool["name"])[:64]
        schema = _schema(tool.get("parameters") or {})
        functions[name] = {"type": "function", "function": {"name": name, "description": tool.get("description", ""), "parameters": schema}}
    if len(functions) != len(tools):
        raise ValueError("two tools have the same name")
    return functions


def _schema(parameters: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema for parameters that stand under `properties`, or for a flat {name: {type: "str, optional", ...}}."""
    if "properties" in parameters:
        properties, required = parameters["properties"], parameters.get("required") or []
    else:
        properties = parameters
        required = [n for n, p in properties.items() if "optional" not in str(p.get("type")).lower() and "default" not in p]
    return {
        "type": "object",
        "properties": {name: _property(p) for name, p in properties.items()},
        "required": [n for n in required if n in properties],
    }


def _property(raw: dict[str, Any]) -> dict[str, Any]:
    word = re.match(r"[a-z]*", str(raw.get("type", "")).lower())
    kind = _TYPES.get(word[0] if word else "")
    kept = {k: raw[k] for k in ("description", "enum") if raw.get(k)}
    return ({"type": kind} if kind else {}) | kept
