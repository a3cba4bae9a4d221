"""A value means one thing: how a spelling becomes the normal form of its type.

A type says its form in its schema, so that whoever holds the schema alone (a reward, a client) can ask the same question:

- `x-normal: words` (a search): case and the order of words are ignored
- `x-normal: caseless` (an address, a town): case is ignored
- `x-normal: set` (recipients, labels): a list in which neither order nor repetition says anything
- `x-normal: exact` (a file's text, a PIN): every character counts, white space too
- `date-time`: the instant, whatever its offset
- `pattern`, `enum`, `date`: spelled as the schema says, and no other way
- any other string: stripped, in Unicode's composed form (NFC); blank is no text
- numbers: by value, so that 5.0 is 5 and -0.0 is 0
"""

from collections.abc import Callable
from datetime import UTC, datetime
from math import isfinite
from typing import Any
from unicodedata import normalize

Form = Callable[[Any], Any]

_SPELLED = ("pattern", "enum", "format")


def text(value: str) -> str:
    """Stripped, in NFC. Raises UnicodeEncodeError for half of a surrogate pair, which is no text."""
    value = value.strip()
    return value if value.isascii() else exact(normalize("NFC", value).strip())


def exact(value: str) -> str:
    """As it is. Raises UnicodeEncodeError for half of a surrogate pair, which is no text."""
    if not value.isascii():
        value.encode()
    return value


def caseless(value: str) -> str:
    """A text in small letters."""
    return text(value.lower())


def words(value: str) -> str:
    """The words of a search, in an order of their own, case folded."""
    return " ".join(sorted(text(value).casefold().split()))


def instant(value: datetime) -> datetime:
    """The same moment in UTC."""
    return value.astimezone(UTC)


def number(value: float) -> float:
    """A finite number, with one zero. Raises ValueError for NaN and infinities, which JSON does not have."""
    if not isfinite(value):
        raise ValueError(f"{value} is no number")
    return value + 0.0


def form_of(spec: dict[str, Any]) -> Form | None:
    """How decoded values of a parameter's schema become their normal form; None where every value has it already."""
    kind, named = spec.get("type"), spec.get("x-normal")
    if kind == "array":
        return _list_form(form_of(spec.get("items", {})), named == "set")
    if kind == "number":
        return number
    if kind != "string" or "enum" in spec or spec.get("format") == "date":
        return None
    if spec.get("format") == "date-time":
        return instant
    return _TEXT_FORMS[named] if named else exact if any(word in spec for word in _SPELLED) else text


_TEXT_FORMS: dict[str, Form] = {"words": words, "caseless": caseless, "exact": exact}


def _list_form(form: Form | None, unordered: bool) -> Form | None:
    if unordered:
        return lambda values: sorted({form(v) for v in values} if form else set(values))
    return (lambda values: [form(v) for v in values]) if form else None


def canonical(value: Any, spec: dict[str, Any]) -> Any:
    """The normal form of an argument in JSON, for comparing two; a value that does not fit its schema stays as it is.

    `True` equals 1 in Python: compare types too where the schema leaves them open.
    """
    kind = spec.get("type")
    if isinstance(value, list) and kind == "array":
        items = [canonical(v, spec.get("items", {})) for v in value]
        return sorted(set(items)) if spec.get("x-normal") == "set" and all(type(i) is str for i in items) else items
    if isinstance(value, dict):
        properties = spec.get("properties", {})
        return {k: canonical(v, properties.get(k, {})) for k, v in value.items()}
    form = form_of(spec) if isinstance(value, str) and kind == "string" else None
    if form is None:
        return value
    try:
        return form(datetime.fromisoformat(value)).isoformat() if form is instant else form(value)
    except (ValueError, OverflowError):  # no time, no zone that exists, no text: itself and nothing else
        return value
