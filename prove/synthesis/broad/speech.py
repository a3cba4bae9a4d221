"""How one user puts what they want, in clauses and noun phrases that the generators give; and what the assistant says afterwards."""

import re
import tomllib
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from random import Random

from prove.synthesis.broad.book import Deed, Fact, Listing, book
from prove.synthesis.language.composing import Composer, Persona, capital
from prove.synthesis.language.phrases import phrasebook, polished

_TALK: dict[str, list[str]] = {
    kind: table["forms"] for kind, table in tomllib.loads(Path(__file__).with_name("talk.toml").read_text(encoding="utf-8")).items()
}
_REASONS = 0.5  # chance that the reasons for a deed are said as readily as what else goes on
_DONE = ("done: {did}.", "I've {did}.", "that's done: I've {did}.", "all set, I've {did}.")


class Voice:
    """One user in one conversation: nothing around their requests is said twice."""

    def __init__(self, persona: Persona) -> None:
        self.persona, self._composer, self._later = persona, Composer(), False

    def fork(self) -> "Voice":
        """The same user, who may go on in another way."""
        copy = Voice(self.persona)
        copy._composer, copy._later = deepcopy(self._composer), self._later
        return copy

    def wants(self, clauses: Sequence[str], about: Sequence[Deed], rng: Random, reasons: bool = True) -> str:
        """A request for things to be done, one after the other; with `reasons` that people have for doing one of these."""
        first, *others = (self._composer.framed(clause, "do", self.persona, rng) for clause in clauses)
        following = [self._composer.then(capital(other), rng) for other in others]
        return self.says(" ".join([first, *following]), about, rng, about if reasons else ())

    def asks(self, what: Sequence[str], about: Sequence[Fact | Listing], rng: Random, kind: str = "") -> str:
        """A question for some things."""
        kinds = [kind] if kind else ["ask", "one" if len(what) == 1 else "several"]
        forms = [form for k in kinds for form in _TALK[k]]
        return self.says(_filled(rng.choice(forms), what=enumerated(what)), about, rng)

    def says(self, request: str, about: Sequence[Fact | Deed | Listing], rng: Random, deeds: Sequence[Deed] = ()) -> str:
        """A request with what this user says around it: what goes on in the domain, and why anybody does those deeds."""
        servers = list(dict.fromkeys(it.server for it in about))
        server = rng.choice(servers)
        around = [*(next(iter(phrasebook(server).asks.values()))[0].around), *book(server).why]
        whys = [why for it in deeds for why in _why(it)] if rng.random() < _REASONS else []
        later, self._later = self._later, True
        said = re.sub(r",(?:,| (?=[.?!]))", ",", self._composer.around(sentence(request), whys, around, self.persona, rng, later))
        return polished(re.sub(r",([.?!])", r"\1", said))


def _why(deed: Deed) -> tuple[str, ...]:
    """Why people do it, if they use that tool for one thing only."""
    asks = phrasebook(deed.server).asks.get(deed.tool, ())
    return asks[0].why if len(asks) == 1 else ()


def form(kind: str, rng: Random, **parts: str) -> str:
    """One of the forms of a kind, with its parts; a part in capitals begins with one."""
    return _filled(rng.choice(_TALK[kind]), **parts)


def _filled(text: str, **parts: str) -> str:
    return text.format(**parts, **{capital(name): capital(part) for name, part in parts.items()})


def sentence(text: str) -> str:
    """With a capital and an end."""
    text = text.strip()
    ended = text if text[-1] in ".?!" or text[-2:] in ('."', '?"', '!"') else f"{text}."
    return capital(ended)


def done(deeds: Sequence[str], rng: Random) -> str:
    """What the assistant says of deeds, in the past."""
    return polished(sentence(rng.choice(_DONE).format(did=enumerated(deeds))))


def enumerated(parts: Sequence[str]) -> str:
    """Parts of a sentence as an enumeration."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
