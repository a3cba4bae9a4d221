"""A tool's arguments as they are typed: name=value."""

import json
from collections.abc import Iterable
from typing import Any


def arguments(words: Iterable[str], session: Any, tool: str) -> dict[str, Any]:
    """The arguments that the words name: a value is JSON, or text where it is not, or where the tool takes text. Raises LookupError
    for a word without `=`."""
    return dict(_pair(word, session, tool) for word in words)


def _pair(text: str, session: Any, tool: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise LookupError(f"{text!r} is not of the form name=value")
    known = session.tools[tool][1].input_schema["properties"] if tool in session.tools else {}
    if known.get(name, {}).get("type") == "string":
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
