"""JSON as every reader of it understands it: what a model or a client sends is held to that, or kept as text.

Python's own reader takes NaN, infinities, half of a surrogate pair and nesting without a bound (RFC 8259, sections 6, 8.2 and 9; RFC
7493, section 2), and what it took so nobody can write down again.
"""

import json
import re
from itertools import accumulate
from math import isfinite
from typing import Any, NoReturn

DEPTH = 32  # how deep what is read from others may nest

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # possessive: linear in time, also for a string that never ends
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHER = bytes(byte for byte in range(256) if byte not in _STEP)
_DEEP = f"it nests deeper than {DEPTH} levels"


def loads(text: str) -> Any:
    """The value. Raises ValueError, which says why the text is no JSON or holds what cannot be written down again."""
    if nests_deeper_than(DEPTH, text.encode(errors="surrogatepass")):
        raise ValueError(_DEEP)
    value = json.loads(text, parse_constant=_no_number)
    if why := fault(value):
        raise ValueError(why)
    return value


def fault(value: Any, depth: int = DEPTH) -> str:
    """Why a value cannot be written as JSON and read again; empty where it can."""
    if isinstance(value, str):
        return "" if _is_text(value) else "it holds half of a surrogate pair"
    if isinstance(value, float):
        return "" if isfinite(value) else "it holds a number that is none, or too large for one"
    if isinstance(value, list | tuple | dict):
        if not depth:
            return _DEEP
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        return next((why for item in inside if (why := fault(item, depth - 1))), "")
    return ""


def escaped(text: str) -> str:
    r"""A text in which half of a surrogate pair is spelled out, as `\ud83d`; any other text as it is."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def nests_deeper_than(depth: int, text: bytes) -> bool:
    """Whether JSON text opens more than `depth` brackets inside each other, without parsing it."""
    if text.count(b"[") + text.count(b"{") <= depth:
        return False
    brackets = _STRING.sub(b"", text).translate(None, _OTHER)
    return any(level > depth for level in accumulate(map(_STEP.__getitem__, brackets)))


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which is no JSON")
