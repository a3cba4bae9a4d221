"""What people say around what they ask for: frames, reasons, where they are, how they go on, in an order drawn for each query.

The parts are data: `talk.toml` and `personas.toml` beside this file, and the `around`, `why` and clauses of each phrasebook. They
are drawn for a persona and a domain, none of them twice in a conversation.
"""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from random import Random

import msgspec

from prove.synthesis.language.phrases import REGISTERS, Form

_HERE = Path(__file__).parent
_TALK: dict[str, dict[str, list[str]]] = tomllib.loads((_HERE / "talk.toml").read_text(encoding="utf-8"))
_NAMES = ("terse", "polite", "chatty", "indirect")
#: By register, the chances that no, one, two or three sentences of context surround a request.
_CONTEXT = ((0.1, 0.5, 0.35, 0.05), (0.05, 0.45, 0.4, 0.1), (0.05, 0.35, 0.45, 0.15), (0.05, 0.4, 0.45, 0.1))
_SHORT = 0.6  # chance of a short frame, which leaves more to the domain's own words
#: A reason with such a word in it speaks of what is asked for, and so comes after it.
_POINTS_BACK = re.compile(
    r"\b(?:it|its|it's|it'll|they|them|their|they've|they're|they'll|that|that's|this|those|these|there|there's|both|then|others?|here)\b",
    re.I,
)
_GREETS, _CLOSES = 0.2, 0.12  # chances
#: A choice in words that is a sentence of its own: "the amount is wrong".
_CLAUSE = re.compile(r"(?:I|it|they|we|the amount) (?!\d)[a-z']+ ")
#: A request that begins with one of these may follow "so".
_OPEN = frozenset((
    "could", "would", "can", "please", "may", "might", "kindly", "what", "which", "how", "where", "when", "who", "is", "are", "do", "does",
    "tell", "show", "find", "check", "let", "remind", "go", "just", "need", "look",
))  # fmt: skip


class Persona(msgspec.Struct, frozen=True):
    """Who asks: a few words, the register in which they speak (terse, polite, chatty, indirect), and what they say of themselves."""

    description: str
    register: int
    moments: tuple[str, ...] = ()


def _personas() -> tuple[Persona, ...]:
    raw = tomllib.loads((_HERE / "personas.toml").read_text(encoding="utf-8"))["persona"]
    return tuple(msgspec.convert(one, Persona) for one in raw)


PERSONAS = _personas()


def forms(kind: str) -> list[str]:
    """The forms of a part of talk that is the same for everybody."""
    return _TALK[kind]["forms"]


class Composer:
    """Puts one conversation's queries together, and remembers what has been said around them."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def framed(self, text: str, form: Form, persona: Persona, rng: Random) -> str:
        """A clause as a request; any other text as it is."""
        if form not in ("do", "know"):
            return text
        longer = self._mine(form, persona)
        if form == "do" and not re.search(r"\bme\b", text):
            longer = [*longer, *self._mine("do_self", persona)]
        frame = self._fresh(_TALK[form]["short"] if rng.random() < _SHORT else longer, rng) or longer[0]
        return frame.replace("{" + form + "}", text).replace("{" + form.capitalize() + "}", capital(text))

    def _mine(self, kind: str, persona: Persona) -> list[str]:
        """The forms of a part of talk in a persona's register."""
        return _TALK[kind][_NAMES[persona.register % REGISTERS]]

    def around(self, request: str, whys: Sequence[str], elsewhere: Sequence[str], persona: Persona, rng: Random, later: bool) -> str:
        """A request with sentences of context before it and after it: reasons for it, what else goes on in the domain, or what
        goes on where the persona is, the last rather at the start."""
        count = rng.choices((0, 1, 2, 3), _CONTEXT[persona.register % REGISTERS])[0]
        before, after = list[str](), list[str]()
        for _ in range(count):
            pools = [(whys, 5), (elsewhere, 3.5), (persona.moments, 0.8 if later else 2)]
            pool = rng.choices([p for p, _ in pools], [w * bool(p) for p, w in pools])[0] if any(p for p, _ in pools) else ()
            if said := self._fresh(pool, rng):
                follows = pool is whys and (_POINTS_BACK.search(said) or rng.random() < 0.3)
                (after if follows else before).append(said)
        if not later and rng.random() < _GREETS:
            before.insert(0, rng.choice(self._mine("greet", persona)))
        if not after and rng.random() < _CLOSES:
            after.append(rng.choice(self._mine("close", persona)))
        return " ".join([*_led(before, request, rng), *after])

    def then(self, request: str, rng: Random) -> str:
        """A further request, after another: after a colon it goes on in small letters, where that is no value's capital."""
        form = self._fresh(_TALK["then"]["short" if rng.random() < _SHORT else "forms"], rng) or "{it}"
        goes_on = form.endswith(": {it}") and re.split(r"\W", request, maxsplit=1)[0].lower() in _OPEN
        return form.replace("{it}", _small(request) if goes_on else request)

    def answer(self, it: str, elsewhere: Sequence[str], persona: Persona, rng: Random) -> str:
        """An answer to a question back, and mostly something else with it."""
        short = rng.random() < _SHORT
        if _CLAUSE.match(it):
            return self._fresh(_TALK["answer"]["clause"], rng).replace("{it}", it) or f"{it}."
        said = (self._fresh(_TALK["answer"]["short" if short else "forms"], rng) or "{it}.").replace("{it}", it)
        if short or rng.random() < (0.5, 0.85, 0.95, 0.9)[persona.register % REGISTERS]:
            said += f" {self._fresh(elsewhere if elsewhere and rng.random() < 0.25 else _TALK['answer']['more'], rng)}"
        return said.strip()

    def _fresh(self, pool: Sequence[str], rng: Random) -> str:
        """One of some texts that was not said yet; "" where all were."""
        left = [text for text in pool if text not in self._said]
        if not left:
            return ""
        chosen = rng.choice(left)
        self._said.add(chosen)
        return chosen


def _led(before: list[str], request: str, rng: Random) -> list[str]:
    """What is said before a request, and the request: as sentences of their own, or joined by "so"."""
    first = request.split(" ", 1)[0].rstrip(",").lower()
    if before and before[-1].endswith(".") and first in _OPEN and rng.random() < 0.3:
        return [*before[:-1], f"{before[-1][:-1]}, so {request[0].lower()}{request[1:]}"]
    return [*before, request]


def capital(text: str) -> str:
    """A text with its first letter in capitals."""
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    """A sentence as it goes on within another."""
    return text if re.match(r"I\b", text) else text[:1].lower() + text[1:]


def question(forms_of: Sequence[Sequence[str]], rng: Random) -> str:
    """One question for several missing values, from the forms of each."""
    first, *others = (rng.choice(f) for f in forms_of)
    lead = rng.choice(forms("lead"))
    first = first if not lead.endswith(":") else _small(first)
    return " ".join([*([lead] if lead else []), first, *(f"And {_small(o)}" for o in others)])
