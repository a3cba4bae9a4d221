"""What tools that list things share."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar, cast
from unicodedata import normalize

import msgspec

from prove.servers.types import Page

R = TypeVar("R")
T = TypeVar("T", bound=msgspec.Struct)


def brief(record: Any, shape: type[T]) -> T:
    """The fields of a record that `shape` names: what a list shows of it."""
    if type(record) is shape:
        return cast("T", record)
    return shape(*[getattr(record, field) for field in shape.__struct_fields__])


def page(records: Iterable[Any], limit: int, shape: type[T], offset: int = 0) -> Page[T]:
    """The first `limit` records after `offset`, each as `shape`, and how many there are in all."""
    found = list(records)
    return Page([brief(r, shape) for r in found[offset : offset + limit]], len(found))


def newest(records: Iterable[R], when: Callable[[R], Any]) -> list[R]:
    """The records, newest first; of those of one moment the one made last comes first, as the clock may stand still."""
    found = list(records)[::-1]
    return sorted(found, key=when, reverse=True)  # which keeps those of one moment in the order in which it finds them


def matches(query: str | None, *texts: str) -> bool:
    """Whether every word of the query occurs in one of the texts, case ignored. No query matches everything."""
    if not query:
        return True
    haystack = _haystack(texts)
    for word in _words(query):  # noqa: SIM110 - every search of every server comes by here, and `all` would cost twice as much
        if word not in haystack:
            return False
    return True


@lru_cache(maxsize=1 << 14)  # of one world's records the texts are searched again and again
def _haystack(texts: tuple[str, ...]) -> str:
    return normalize("NFC", " ".join(texts)).casefold()


@lru_cache(maxsize=1 << 10)
def _words(query: str) -> list[str]:
    return query.casefold().split()
