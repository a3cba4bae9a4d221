"""Who speaks: the user's words and the assistant's, for a goal that is already grounded in a live world.

A teacher puts into words; it decides nothing about the calls. `Scripted` speaks from `phrases.toml`.
"""

import re
from collections import Counter
from itertools import groupby
from random import Random
from typing import Any, Protocol

from prove.servers.tools import Tool
from prove.synthesis.language.phrases import Phrasebook, Template, paths_of, polished, value_at
from prove.synthesis.language.saying import say
from prove.synthesis.planning.values import name_of
from prove.synthesis.planning.wishes import Persona, Wish

_WHICH = (  # of things that are there
    "Sure. Which {what} do you mean?",
    "Happy to. Which {what}?",
    "I can do that, but I need to know which {what} you mean.",
)
_WHAT = (  # of texts, days and amounts
    "Happy to. Could you tell me the {what}?",
    "I can do that, but I still need the {what}.",
    "What should the {what} be?",
)
_SUPPLIES = ("{it}.", "Oh, sorry: {it}.", "Right, {it}.", "I meant {it}.", "That would be {it}.")
_GREETING = re.compile(r"^(?:Hi|Hey|Hello|So|Good (?:morning|afternoon|evening))(?:[!,]| there[!,]) ")  # said once, at the start
_LISTED = 12  # items of a list that a reply goes through
_JOINTS = ("And then: ", "After that, one more thing. ", "Also: ", "Once that's done: ")


class Teacher(Protocol):
    """The interface: four ways of speaking. Every text goes through certification."""

    name: str

    def request(self, wishes: list[Wish], persona: Persona, rng: Random, later: bool = False) -> str: ...

    def question(self, wish: Wish, rng: Random) -> str: ...

    def supply(self, wish: Wish, persona: Persona, rng: Random) -> str: ...

    def reply(self, wish: Wish, tool: Tool, result: Any, book: Phrasebook, server: Any) -> str: ...


class Scripted:
    """Speaks from the domain's phrasebook; the same words for the same chance."""

    name = "scripted"

    def request(self, wishes: list[Wish], persona: Persona, rng: Random, later: bool = False) -> str:
        first, *others = (_sentence(w) for w in wishes)
        said = _GREETING.sub("", first) if later else first
        return polished(said + "".join(f" {rng.choice(_JOINTS)}{_GREETING.sub('', s)}" for s in others))

    def question(self, wish: Wish, rng: Random) -> str:
        questions = _WHICH if all(p.endswith("_id") for p in wish.held_back) else _WHAT
        return rng.choice(questions).format(what=" and the ".join(label(p) for p in wish.held_back))

    def supply(self, wish: Wish, persona: Persona, rng: Random) -> str:
        it = ", ".join(wish.spoken[p] for p in wish.held_back)
        said = polished(rng.choice(_SUPPLIES[: 1 if persona.register == 0 else None]).format(it=it))
        verbatim = wish.spoken[wish.held_back[0]] == wish.arguments[wish.held_back[0]]  # then a capital would be another text
        return it[0] + said[1:] if verbatim and said[1:].startswith(it[1:]) else said

    def reply(self, wish: Wish, tool: Tool, result: Any, book: Phrasebook, server: Any) -> str:
        hints = paths_of(tool.returns)

        def word(path: str, spec: str) -> str:
            value, hint = value_at(result, path), hints[re.sub(r"\.\d+\b", "", path)]
            words = book.words_for(name_of(type(server), hint), path.rsplit(".", 1)[-1])
            values = value if isinstance(value, list) else [value]
            said = [say(hint, v, server.today, None, words) for v in values[:_LISTED]]
            return ", ".join(f"{text} ({n} times)" if n > 1 else text for text, n in _runs(said)) or "nothing"

        return polished(_item_by_item(wish.ask.reply, result).fill(word))


def _runs(texts: list[str]) -> list[tuple[str, int]]:
    """Equal neighbours once, with how many they are."""
    return [(text, len(list(same))) for text, same in groupby(texts)]


def _item_by_item(reply: Template, result: Any) -> Template:
    """A reply that says several things of each item of a list in one sentence, with that part once an item: "A at 1; B at 2"."""
    text = "".join(part for part, _ in reply.parts)
    slots = list(re.finditer(r"\{(\w+)\.[^}]*\}", text))
    lists = (name for name, n in Counter(m[1] for m in slots).items() if n > 1 and isinstance(result.get(name), list) and result[name])
    name = next(lists, "")
    mine = [m for m in slots if m[1] == name]
    each = text[mine[0].start() : mine[-1].end()] if mine else ""
    if not each or re.search(r"[.!?] ", each):
        return reply
    items = [each.replace(f"{{{name}.", f"{{{name}.{i}.") for i in range(min(len(result[name]), _LISTED))]
    return Template.parse(text[: mine[0].start()] + "; ".join(items) + text[mine[-1].end() :])


def _sentence(wish: Wish) -> str:
    said = wish.arguments.keys() - set(wish.held_back)
    return wish.template.fill(lambda slot, _: wish.spoken[slot], lambda slot: slot in said)


def label(parameter: str) -> str:
    """What to call an argument when asking for it: `payee_id` -> "payee", `to_category_id` -> "category that it goes to"."""
    words = parameter.removesuffix("_id").replace("_", " ")
    for preposition, goes in (("to ", "goes to"), ("from ", "comes from")):
        if words.startswith(preposition):
            return f"{words.removeprefix(preposition)} that it {goes}"
    return f"{words} one" if words in ("new", "old") else words
