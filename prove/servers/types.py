"""Named types that several domains share: what an argument means, said once.

A parameter's meaning lives in its type: `amount: Cents` is an integer above zero *and* "an amount in cents". So does its
normal form (`prove.servers.normal`): `Caseless[str]`, `Unordered[list[...]]`, `Exact[str]`. Domains declare their own
beside these. An id is a `NewType` of `str`, declared by the server that mints it.
"""

from datetime import date, datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

T = TypeVar("T")

#: A PIN, a password, a token: `Secret[str]`. Whoever uses one must have been told it, and no refusal shows it.
Secret = Annotated[T, Meta(extra={"secret": True}, extra_json_schema={"writeOnly": True, "x-normal": "exact"})]
#: A text of which every character counts, white space too: what a file holds.
Exact = Annotated[T, Meta(extra_json_schema={"x-normal": "exact"})]
#: A text in which case says nothing. It is kept in small letters.
Caseless = Annotated[T, Meta(extra_json_schema={"x-normal": "caseless"})]
#: A list in which neither order nor repetition says anything. It is kept sorted.
Unordered = Annotated[T, Meta(extra_json_schema={"x-normal": "set"})]

Cents = Annotated[int, Meta(gt=0, le=10**11, description="an amount in cents")]
Money = Annotated[int, Meta(description="an amount in cents, negative for money out or owed")]
Quantity = Annotated[int, Meta(ge=1, le=1000, description="how many")]
Limit = Annotated[int, Meta(ge=1, le=50, description="how many results to return at most")]
Offset = Annotated[int, Meta(ge=0, le=100_000, description="how many results to skip first")]
Query = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="words to look for, in any order, case ignored",
        extra_json_schema={"x-normal": "words"},
    ),
]
Day = Annotated[date, Meta(description="a date, YYYY-MM-DD")]
Month = Annotated[str, Meta(pattern=r"^(19|20|21)\d{2}-(0[1-9]|1[0-2])$", description="a month, YYYY-MM")]
Moment = Annotated[datetime, Meta(tz=True, description="a time with its zone, for example 2026-03-04T09:30:00Z")]
PersonName = Annotated[str, Meta(min_length=1, max_length=100, description="a person's full name")]
EmailAddress = Annotated[
    Caseless[str],
    Meta(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", max_length=254, description="an email address"),
]
Latitude = Annotated[float, Meta(ge=-90, le=90, description="degrees north")]
Longitude = Annotated[float, Meta(ge=-180, le=180, description="degrees east")]


#: What a parameter may hold at most where its type says nothing narrower, as JSON Schema keywords by JSON type.
BOUNDS: dict[str, dict[str, Any]] = {
    "string": {"maxLength": 1000},
    "integer": {"minimum": -(2**53) + 1, "maximum": 2**53 - 1},  # what all readers of JSON agree on (RFC 8259, section 6)
    "number": {"minimum": -1e15, "maximum": 1e15},
    "array": {"maxItems": 100},
}
ID_BOUNDS: dict[str, Any] = {"maxLength": 255}


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A bounded list: the first `items` after those skipped, and how many there are in all."""

    items: list[T]
    total: int
