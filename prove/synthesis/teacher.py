"""Who speaks: the user's words and the assistant's, for a goal that is already grounded in a live world.

A teacher puts into words; it decides nothing about the calls. `Scripted` speaks from `phrases.toml`.
"""

from random import Random
from typing import Any, Protocol

import msgspec

from prove.servers.tools import Tool
from prove.synthesis.language import say
from prove.synthesis.phrases import Ask, Phrasebook, Template, paths_of, polished, value_at
from prove.synthesis.values import name_of


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

_QUESTIONS = (
    "Sure. Which {what} do you mean?",
    "Happy to. Could you tell me the {what}?",
    "I can do that, but I still need the {what}.",
    "What should the {what} be?",
)
_SUPPLIES = ("{it}.", "Oh, sorry: {it}.", "Right, {it}.", "I meant {it}.", "That would be {it}.")
_JOINTS = ("And then: ", "After that, one more thing. ", "Also: ", "Once that's done: ")


class Wish(msgspec.Struct, frozen=True):
    """One grounded goal: the call to make, and the words for each of its arguments."""

    ask: Ask
    template: Template
    arguments: dict[str, Any]
    spoken: dict[str, str]  # argument -> words
    held_back: tuple[str, ...] = ()  # arguments that the user does not give at first


class Teacher(Protocol):
    """The interface: four ways of speaking. Every text goes through certification."""

    name: str

    def request(self, wishes: list[Wish], persona: Persona, rng: Random) -> str: ...

    def question(self, wish: Wish, rng: Random) -> str: ...

    def supply(self, wish: Wish, persona: Persona, rng: Random) -> str: ...

    def reply(self, wish: Wish, tool: Tool, result: Any, book: Phrasebook, server: Any) -> str: ...


class Scripted:
    """Speaks from the domain's phrasebook; the same words for the same chance."""

    name = "scripted"

    def request(self, wishes: list[Wish], persona: Persona, rng: Random) -> str:
        sentences = [_sentence(w) for w in wishes]
        return polished(sentences[0] + "".join(f" {rng.choice(_JOINTS)}{s}" for s in sentences[1:]))

    def question(self, wish: Wish, rng: Random) -> str:
        what = " and the ".join(label(p) for p in wish.held_back)
        return rng.choice(_QUESTIONS).format(what=what)

    def supply(self, wish: Wish, persona: Persona, rng: Random) -> str:
        it = ", ".join(wish.spoken[p] for p in wish.held_back)
        return polished(rng.choice(_SUPPLIES[: 1 if persona.register == 0 else None]).format(it=it))

    def reply(self, wish: Wish, tool: Tool, result: Any, book: Phrasebook, server: Any) -> str:
        hints = paths_of(tool.returns)

        def word(path: str, spec: str) -> str:
            value, hint = value_at(result, path), hints[path]
            words = book.words_for(name_of(type(server), hint), path.rsplit(".", 1)[-1])
            values = value if isinstance(value, list) else [value]
            said = [say(hint, v, server.today, None, words) for v in values[:12]]
            return ", ".join(said) or "nothing"

        return polished(wish.ask.reply.fill(word))


def _sentence(wish: Wish) -> str:
    said = wish.arguments.keys() - set(wish.held_back)
    return wish.template.fill(lambda slot, _: wish.spoken[slot], lambda slot: slot in said)


def label(parameter: str) -> str:
    """What to call an argument when asking for it: `payee_id` -> "payee"."""
    return parameter.removesuffix("_id").replace("_", " ")
