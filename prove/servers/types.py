"""Named types that several domains share: what an argument means, said once.

A parameter's meaning lives in its type: `amount: Cents` is an integer above zero *and* "an amount in cents".
Domains declare their own beside these. An id is a `NewType` of `str`, declared by the server that mints it.
"""

from datetime import date, datetime
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

T = TypeVar("T")

#: A PIN, a password, a token: `Secret[str]`. Whoever uses one must have been told it.
Secret = Annotated[T, Meta(extra={"secret": True}, extra_json_schema={"format": "password"})]

Cents = Annotated[int, Meta(gt=0, description="an amount in cents")]
Money = Annotated[int, Meta(description="an amount in cents, negative for money out or owed")]
Quantity = Annotated[int, Meta(ge=1, le=1000, description="how many")]
Limit = Annotated[int, Meta(ge=1, le=50, description="how many results to return at most")]
Query = Annotated[str, Meta(min_length=1, description="words to look for, in any order, case ignored")]
Day = Annotated[date, Meta(description="a date, YYYY-MM-DD")]
Month = Annotated[str, Meta(pattern=r"^(19|20|21)\d{2}-(0[1-9]|1[0-2])$", description="a month, YYYY-MM")]
Moment = Annotated[datetime, Meta(tz=True, description="a time with its zone, for example 2026-03-04T09:30:00Z")]
PersonName = Annotated[str, Meta(min_length=1, description="a person's full name")]
EmailAddress = Annotated[
    str,
    Meta(
        pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
        description="an email address",
        extra_json_schema={"x-case-insensitive": True},
    ),
]
Latitude = Annotated[float, Meta(ge=-90, le=90, description="degrees north")]
Longitude = Annotated[float, Meta(ge=-180, le=180, description="degrees east")]


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A bounded list: the first `items`, and how many there are in all."""

    items: list[T]
    total: int
