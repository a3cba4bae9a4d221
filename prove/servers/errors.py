"""The one way a tool says no."""

import difflib
from collections.abc import Iterable
from typing import Literal

Code = Literal[
    "invalid_argument",  # the call itself is wrong: unknown tool or argument, missing or mistyped value
    "not_found",  # the thing it names is not there
    "conflict",  # it is there already, or something else has taken its place
    "failed_precondition",  # right call, wrong moment: the state must change first
    "permission_denied",  # this user may not do it, or the secret is wrong
    "resource_exhausted",  # a limit, a quota, a stock or a balance is used up
]


class ToolError(Exception):
    """A refusal: the state stays as it was, and the message lets a model recover.

    Say what was wrong, with the offending value, and what to do instead:
    `ToolError("failed_precondition", "card CRD-7 is frozen: unfreeze it first")`.
    """

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message


class Strike(ToolError):
    """A refusal that is remembered: a wrong PIN. What the tool has noted stays, so that the next ones can be counted."""


def require(condition: object, code: Code, message: str) -> None:
    """Refuse with `ToolError(code, message)` unless `condition` holds."""
    if not condition:
        raise ToolError(code, message)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`" (did you mean 'x'?)"` for the closest known word, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
