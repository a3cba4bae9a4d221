"""What somebody wants, and who they are: the plan of a query before it is put into words."""

from typing import Any

import msgspec

from prove.synthesis.language.phrases import Ask, Template


class Persona(msgspec.Struct, frozen=True):
    """Who asks: a few words, and the register in which they speak (terse, polite, chatty, indirect)."""

    description: str
    register: int


PERSONAS = (
    Persona("a nurse between two shifts", 0),
    Persona("a founder who types with one thumb", 0),
    Persona("a courier on the road", 0),
    Persona("a retired teacher", 1),
    Persona("an executive assistant", 1),
    Persona("a librarian", 1),
    Persona("a student with a lot on their mind", 2),
    Persona("a new parent", 2),
    Persona("a friendly shop owner", 2),
    Persona("a novelist", 3),
    Persona("a careful accountant", 3),
    Persona("somebody new to the city", 3),
)


class Wish(msgspec.Struct, frozen=True):
    """One grounded goal: the call to make, and the words for each of its arguments."""

    ask: Ask
    template: Template
    arguments: dict[str, Any]
    spoken: dict[str, str]  # argument -> words
    held_back: tuple[str, ...] = ()  # arguments that the user does not give at first
