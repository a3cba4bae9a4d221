"""Which tools a user's words ask for, by the phrasings of the domain: whether something that was refused could have been done."""

import re
from collections.abc import Iterator
from functools import cache

from prove.servers.catalog import load

_PART = re.compile(r"(\[[^\]]*\])")
_SLOT = re.compile(r"\{[^}]*\}")
_GREETING = re.compile(r"(\w+(?: there)?[,!] )")  # said at the start of a conversation only


def asked_for(server: str, text: str) -> list[set[str]]:
    """For each place in the words where a request begins, the tools whose phrasing fits it best: with the most words said.

    A phrasing that also fits inside another's words, of which more are said, is no request of its own.
    """
    found = [(*match.span(1), said, tool) for tool, pattern, said in _phrasings(server) for match in pattern.finditer(text)]
    own = [f for f in found if not any(start < f[0] < end and said > f[2] for start, end, said, _ in found)]
    best = {start: max(said for at, _, said, _ in own if at == start) for start, *_ in own}
    return [{tool for at, _, said, tool in own if (at, said) == place} for place in sorted(best.items())]


@cache
def _phrasings(server: str) -> list[tuple[str, re.Pattern[str], int]]:
    """(tool, pattern, how many letters of it are always said) of every phrasing."""
    out = []
    for tool, asks in load(server).phrases().get("ask", {}).items():
        for phrasing, framed in _phrasings_of(asks if isinstance(asks, list) else [asks]):
            greeting = _GREETING.match(phrasing)
            marked = f"[{greeting[1]}]{phrasing[greeting.end() :]}" if greeting else phrasing
            parts = [(p[1:-1], True) if p.startswith("[") else (p, False) for p in _PART.split(marked)]
            pattern = "".join(f"(?:{_open(text)})?" if droppable else _open(text) for text, droppable in parts)
            if pattern.endswith(r"\."):  # what is quoted at the end may bring its own full stop
                pattern = rf"{pattern[:-2]}(?:\.|(?<=\"))"
            letters = sum(len(_SLOT.sub("", text)) for text, droppable in parts if not droppable)
            begins, ends = (r"(?<!\S)", r"(?=[ ,.?!]|$)") if framed else (r"(?:^|[.!?:] )", r"(?= |$)")
            out.append((tool, re.compile(rf"{begins}({pattern}){ends}", re.IGNORECASE), letters))
    return out


def _phrasings_of(asks: list[dict[str, list[str]]]) -> Iterator[tuple[str, bool]]:
    """Every phrasing, with whether it is a clause that stands within a sentence."""
    for ask in asks:
        yield from ((text, False) for text in ask["say"])
        yield from ((text, True) for form in ("do", "know") for text in ask.get(form, ()))


def _open(text: str) -> str:
    """A pattern for text with slots."""
    return ".+?".join(map(re.escape, _SLOT.split(text)))
