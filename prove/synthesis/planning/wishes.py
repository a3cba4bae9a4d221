"""What somebody wants, and who they are: the plan of a query before it is put into words."""

from typing import Any

import msgspec

from prove.synthesis.language.composing import PERSONAS, Persona
from prove.synthesis.language.phrases import Ask, Template

__all__ = ["PERSONAS", "Persona", "Wish"]


class Wish(msgspec.Struct, frozen=True):
    """One grounded goal: the call to make, and the words for each of its arguments."""

    ask: Ask
    template: Template
    arguments: dict[str, Any]
    spoken: dict[str, str]  # argument -> words
    held_back: tuple[str, ...] = ()  # arguments that the user does not give at first
