"""How an assistant tells what stands in a result: with its sign, its unit, its zone, and of how many it is one.

A reply's slot may say what is wanted of a value: `{distance:km}`. Without, an amount is told with its sign, a time with its zone.
"""

import re
from collections import Counter
from collections.abc import Callable
from datetime import date
from itertools import groupby
from typing import Any

from prove.synthesis.language.phrases import Template, value_at
from prove.synthesis.language.saying import amount, is_money, listed, say

LISTED = 8  # items of a longer list that a reply goes through
_SPARED = 2  # of so few more it tells as well
LONGEST = 240  # characters of a text that a reply quotes


def _minutes(value: float) -> str:
    hours, minutes = divmod(round(value), 60)
    parts = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in ((hours, "hour"), (minutes, "minute")) if n]
    return " ".join(parts) or "0 minutes"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """In the largest unit of which it is at least one, to one place."""
    size, name = next(((s, n) for s, n in units if abs(value) >= s), units[-1])
    return f"{_short(value / size)} {name}"


def _short(value: float) -> str:
    return f"{round(value, 1):,.1f}".removesuffix(".0")


#: What a slot may ask of a number.
SPECS: dict[str, Callable[[Any], str]] = {
    "minutes": _minutes,
    "seconds": lambda v: _minutes(v / 60) if v >= 60 else f"{v} seconds",
    "hours": lambda v: f"{_short(v)} hours",
    "metres": lambda v: _scaled(v, ((1000, "km"), (1, "m"))),
    "km": lambda v: f"{_short(v)} km",
    "bytes": lambda v: _scaled(v, ((10**9, "GB"), (10**6, "MB"), (1000, "kB"), (1, "bytes"))),
    "grams": lambda v: _scaled(v, ((1000, "kg"), (1, "g"))),
    "percent": lambda v: f"{_short(v)}%",
    "share": lambda v: f"{_short(100 * v)}%",
    "size": lambda v: amount(abs(v)),
    "change": lambda v: f"up {amount(v)}" if v > 0 else f"down {amount(-v)}" if v else "unchanged",
    "gain": lambda v: f"a gain of {amount(v)}" if v > 0 else f"a loss of {amount(-v)}" if v else "neither gain nor loss",
    "side": lambda v: f"{amount(v)} in" if v >= 0 else f"{amount(-v)} out",
    "left": lambda v: f"{amount(v)} left" if v >= 0 else f"{amount(-v)} overspent",
    "owed": lambda v: f"{amount(v)} in credit" if v > 0 else f"{amount(-v)} owed" if v else "nothing owed",
    "shares": lambda v: f"{v} shares" if v >= 0 else f"{v} shares (sold short)",
}


def tell(hint: Any, value: Any, today: date, words: dict[str, str] | None = None, spec: str = "", zone: str = "") -> str:
    """One value as an assistant tells it."""
    if isinstance(value, bool) or value in (None, "") or isinstance(value, list):
        return say(hint, value, today, None, words, zone=zone) if value != "" else "nothing"
    if spec in SPECS:
        return SPECS[spec](value)
    if isinstance(value, str) and not words and (spec == "quoted" or len(value) > LONGEST):
        text = value if len(value) <= LONGEST else _beginning(value)
        return f'"{text}"' if spec == "quoted" else text
    if spec == "day":
        return say(date, value if isinstance(value, date) else str(value)[:10], today, None)
    if isinstance(value, float):
        return f"{value:,.10g}" if abs(value) < 1e9 else say(hint, value, today, None)
    if isinstance(value, int) and not is_money(hint) and abs(value) >= 10_000 and not words:
        return f"{value:,}"
    return say(hint, value, today, None, words, zone=zone)


def _beginning(text: str) -> str:
    """The beginning of a long text: whole lines of it, and of how many, or whole words."""
    lines, shown = text.splitlines(), 1
    while shown < len(lines) and len("\n".join(lines[: shown + 1])) <= LONGEST:
        shown += 1
    start = "\n".join(lines[:shown])
    start = start if len(start) <= LONGEST else start[:LONGEST].rsplit(" ", 1)[0] + " ..."
    return f"{start} (the first {shown} of {len(lines)} lines)" if shown < len(lines) else start


def told(reply: Template, result: Any, one: Callable[[str, Any, str], str]) -> str:
    """A reply with what stands in a result in its slots; `one(path, value, spec)` tells one value.

    A list is told to its first `LISTED` items, and then of how many they are. A [part] about nothing is left out.
    """

    def word(path: str, spec: str) -> str:
        value = value_at(result, path)
        if not isinstance(value, list):
            return one(path, value, spec)
        said = [f"{text} ({n} times)" if n > 1 else text for text, n in _runs([one(path, v, spec) for v in value[: _listed(value)]])]
        return listed(said) + _of_how_many(result, path, value)

    return _item_by_item(reply, result).fill(word, lambda path: value_at(result, path) not in (None, "", []))


def _listed(value: list[Any]) -> int:
    """How many items of a list are told."""
    return len(value) if len(value) <= LISTED + _SPARED else LISTED


def _runs(texts: list[str]) -> list[tuple[str, int]]:
    """Equal neighbours once, with how many they are."""
    return [(text, len(list(same))) for text, same in groupby(texts)]


def _of_how_many(result: Any, path: str, value: list[Any]) -> str:
    """ " (the first 8 of 73)" where not all is told that there is; a page says itself how many there are in all."""
    page = value_at(result, path.rpartition("items.")[0].rstrip(".")) if ".items." in path else result
    whole = page.get("total", len(value)) if re.search(r"(?:^|\.)items\.", path) and isinstance(page, dict) else len(value)
    shown = _listed(value)
    return f" (the first {shown} of {whole})" if whole > shown > 0 else ""


def _item_by_item(reply: Template, result: Any) -> Template:
    """A reply that says several things of each item of a list in one sentence, with that part once an item: "A at 1; B at 2"."""
    text = "".join(f"[{part}]" if may else part for part, may in reply.parts)
    counts = Counter(m[1] for m in _OF_LIST.finditer(text))
    for name in (name for name, n in counts.items() if n > 1 and isinstance(result.get(name), list) and result[name]):
        start, end = _each(text, name)
        if start < end:
            items = [text[start:end].replace(f"{{{name}.", f"{{{name}.{i}.") for i in range(_listed(result[name]))]
            text = text[:start] + "; ".join(items) + _of_how_many(result, f"{name}.", result[name]) + text[end:]
    return Template.parse(text)


_OF_LIST = re.compile(r"\{(\w+)\.[^}]*\}")


def _each(text: str, name: str) -> tuple[int, int]:
    """Where what a reply says of each item of a list begins and ends, brackets and quotes closed; (0, 0) where it is no one clause."""
    mine = [m for m in _OF_LIST.finditer(text) if m[1] == name]
    start, end = mine[0].start(), mine[-1].end()
    if text.count('"', start, end) % 2:
        end = text.index('"', end) + 1
    for opening, closing in ("()", "[]"):
        if text.count(opening, start, end) > text.count(closing, start, end):
            end = text.index(closing, end) + 1
    return (0, 0) if re.search(r"[.!?] ", text[start:end]) else (start, end)
