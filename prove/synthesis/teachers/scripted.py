"""Who speaks: the user's words and the assistant's, for a goal that is already grounded in a live world.

A teacher puts into words; it decides nothing about the calls. `Scripted` speaks from `phrases.toml`.
"""

import re
from random import Random
from typing import Any, Protocol

from prove.servers.tools import Tool
from prove.synthesis.language.composing import Composer, forms, question
from prove.synthesis.language.phrases import Phrasebook, paths_of, polished
from prove.synthesis.language.telling import tell, told
from prove.synthesis.language.zones import zone_of
from prove.synthesis.planning.values import name_of
from prove.synthesis.planning.wishes import Persona, Wish

_GREETING = re.compile(r"^(?:Hi|Hey|Hello|So|Good (?:morning|afternoon|evening))(?:[!,]| there[!,]) ")  # said once, at the start


class Teacher(Protocol):
    """The interface: four ways of speaking. Every text goes through certification."""

    name: str

    def request(self, wishes: list[Wish], persona: Persona, rng: Random, later: bool = False) -> str: ...

    def question(self, wish: Wish, rng: Random) -> str: ...

    def supply(self, wish: Wish, persona: Persona, rng: Random) -> str: ...

    def reply(self, wish: Wish, tool: Tool, result: Any, book: Phrasebook, server: Any) -> str: ...


class Scripted:
    """Speaks in one conversation, from the domain's phrasebook; the same words for the same chance."""

    name = "scripted"

    def __init__(self) -> None:
        self._composer = Composer()

    def request(self, wishes: list[Wish], persona: Persona, rng: Random, later: bool = False) -> str:
        first, *others = wishes
        asked = self._sentence(first, persona, rng)
        if later:
            asked = _GREETING.sub("", asked)
        for wish in others:
            asked += f" {self._composer.then(_GREETING.sub('', self._sentence(wish, persona, rng)), rng)}"
        story = first.template.form == "story" or bool(others)
        return polished(self._composer.around(asked, () if story else first.ask.why, first.ask.around, persona, rng, later))

    def question(self, wish: Wish, rng: Random) -> str:
        return question([self._questions(wish, p) for p in wish.held_back], rng)

    def supply(self, wish: Wish, persona: Persona, rng: Random) -> str:
        it = ", ".join(_quoted(wish, p) for p in wish.held_back)
        return polished(self._composer.answer(it, wish.ask.around, persona, rng))

    def reply(self, wish: Wish, tool: Tool, result: Any, book: Phrasebook, server: Any) -> str:
        hints, zone = paths_of(tool.returns), zone_of(server, wish.arguments)

        def one(path: str, value: Any, spec: str) -> str:
            hint = hints[re.sub(r"\.\d+\b", "", path)]
            words = book.words_for(name_of(type(server), hint), path.rsplit(".", 1)[-1])
            return tell(hint, value, server.today, words, spec, zone)

        return polished(told(wish.ask.reply, result, one))

    def _sentence(self, wish: Wish, persona: Persona, rng: Random) -> str:
        said = wish.arguments.keys() - set(wish.held_back)
        text = wish.template.fill(lambda slot, _: wish.spoken[slot], lambda slot: slot in said)
        return self._composer.framed(text, wish.template.form, persona, rng)

    def _questions(self, wish: Wish, parameter: str) -> tuple[str, ...] | list[str]:
        """Ways of asking for an argument: the domain's, or general ones with the argument's name."""
        if own := wish.ask.questions.get(parameter):
            return own
        return [form.format(what=label(parameter)) for form in forms("ask_which" if parameter.endswith("_id") else "ask_what")]


def _quoted(wish: Wish, parameter: str) -> str:
    """The words for an argument: in quotes where they are a text of several words, or in small letters, which a sentence would begin
    with a capital."""
    words = wish.spoken[parameter]
    free = words == wish.arguments[parameter] and parameter in wish.ask.texts and not re.search(r"[\d@/\"]|\w[._]\w", words)
    return f'"{words}"' if free and (" " in words or words[:1].islower()) else words


def label(parameter: str) -> str:
    """What to call an argument when asking for it: `payee_id` -> "payee", `to_category_id` -> "category that it goes to"."""
    words = parameter.removesuffix("_id").replace("_", " ")
    for preposition, goes in (("to ", "goes to"), ("from ", "comes from")):
        if words.startswith(preposition):
            return f"{words.removeprefix(preposition)} that it {goes}"
    return f"{words} one" if words in ("new", "old") else words
