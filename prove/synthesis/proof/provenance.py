"""Where values come from: every argument traces to the user's words so far, to an earlier result, or to a named computation on the
words."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_origin

import msgspec

from prove.records import Conversation, GroundTruthCall, Working, paths
from prove.servers import Cents, Query
from prove.servers.catalog import load, toolbox
from prove.servers.schema import bare, without_none
from prove.servers.server import Server, start_of
from prove.servers.tools import Parameter
from prove.synthesis.language.phrases import Phrasebook, phrasebook
from prove.synthesis.language.saying import readings
from prove.synthesis.planning import working
from prove.synthesis.planning.causes import holder
from prove.synthesis.planning.values import name_of
from prove.synthesis.proof.replay import Rejected

Said = tuple[str, date]  # a user's words, and the day they were said on


class Place(NamedTuple):
    """Where a text stands in a result."""

    call: str
    path: str
    result: Any

    @property
    def item(self) -> dict[str, Any]:
        """The object that it stands in."""
        return holder(self.result, self.path)


class Seen:
    """What results have shown so far."""

    def __init__(self) -> None:
        self._places: dict[str, list[Place]] = {}

    def add(self, call: str, result: Any) -> None:
        for path, value in paths(result):
            if isinstance(value, str):
                self._places.setdefault(value, []).append(Place(call, path, result))

    def source(self, value: Any, said: Sequence[Said]) -> Place | None:
        """The first place of a text: of a key, the first at which words tell that it is meant, if any does."""
        return next(iter(self._fit(value, said)), None)

    def only_in(self, call: str, value: Any, said: Sequence[Said]) -> bool:
        """Whether a call's result is the only one from which it can be taken."""
        return all(place.call == call for place in self._fit(value, said))

    def _fit(self, value: Any, said: Sequence[Said]) -> list[Place]:
        places = self._places.get(value, []) if isinstance(value, str) else []
        if len({place.call for place in places}) < 2:
            return places
        items = [place.item for place in places]
        own = [item for item in items if _is_key(value, item)]
        its = {v for item in own for v in item.values() if isinstance(v, str | int | float)} - {value}
        told = {v for v in its if says(v, said)}
        return [
            p for p, item in zip(places, items, strict=True) if any(v in told for v in item.values() if not isinstance(v, list | dict))
        ] or places


def _is_key(value: str, item: dict[str, Any]) -> bool:
    return next(iter(item.values()), None) == value


def provenance(conversation: Conversation, results: dict[str, Any]) -> Conversation:
    """The conversation with every argument's origin. Raises `Rejected` for a value from nowhere."""
    seen, turns, tools, hinges = Seen(), [], toolbox(conversation.homes), working.sources(conversation.turns)
    for turn, said in zip(conversation.turns, said_by(conversation), strict=True):
        calls = []
        for call in turn.calls:
            home, tool = tools[call.name]
            parameters = {p.name: p for p in tool.parameters}
            workings = working.workings_of(conversation.turns, call.id)
            origin = {n: _origin(v, parameters[n], home, said, seen, workings) for n, v in call.arguments.items()}
            calls.append(msgspec.structs.replace(call, origin=origin, hinges=sorted(hinges.get(call.id, ()))))
            seen.add(call.id, results[call.id])
        turns.append(msgspec.structs.replace(turn, calls=calls))
    return msgspec.structs.replace(conversation, turns=turns)


def said_by(conversation: Conversation) -> list[list[Said]]:
    """By each turn, everything that the assistant has been told so far: the rules first, if there are any."""
    now = start_of(conversation.seed)
    said, out = [(conversation.policy, now.date())] if conversation.policy else [], []
    for turn in conversation.turns:
        now += timedelta(minutes=turn.minutes_later)
        said = [*said, (turn.user, now.date())]
        out.append(said)
        if turn.refusal and turn.refusal.recovery == "asked":
            said = [*said, (turn.reply, now.date())]  # what the assistant offers, the user has said with "yes"
    return out


def worked_out(conversation: Conversation, results: dict[str, Any]) -> None:
    """Raise `Rejected` where something comes out otherwise than the record says, or nobody says it."""
    try:
        working.check(conversation, results, said_by(conversation))
    except (LookupError, TypeError, ValueError) as error:
        raise Rejected("worked out wrongly", str(error)) from None


def _origin(
    value: Any,
    parameter: Parameter,
    home: str,
    said: Sequence[Said],
    seen: Seen,
    workings: Sequence[Working],
) -> str:
    if why := working.origin_of(value, workings):
        return why
    if isinstance(value, list):
        parts = [_origin(v, parameter, home, said, seen, workings) for v in value]
        return "; ".join(dict.fromkeys(parts))
    server, book = load(home).server, phrasebook(home)
    for words, today in said:
        if why := heard(value, parameter, server, book, words, today):
            return why
    if place := seen.source(value, said):
        return f"{place.call}: {place.path}"
    raise Rejected("provenance", f"{parameter.name}={value!r} is nowhere in {[words for words, _ in said]}")


def heard(value: Any, parameter: Parameter, server: type[Server], book: Phrasebook, words: str, today: date) -> str:
    """How words give a value: "user", "user: " and what has to be worked out, or "" if they do not."""
    for number, why in readings(words, parameter.hint, today):
        if number == value:
            return f"user: {why}"
    hint = without_none(parameter.hint)
    free = hint != Query and get_origin(bare(hint)) is not Literal  # no choice and no search, for which case is nothing
    return _said(value, book.words_for(name_of(server, parameter.hint), parameter.name), words, free)


def _said(value: Any, vocabulary: dict[str, str] | None, words: str, free: bool) -> str:
    """Whether the words say a text, a choice or a yes/no; free texts, secrets and ids must be there to the letter."""
    key = str(value).lower() if isinstance(value, bool) else str(value)
    heard = words.casefold()
    if isinstance(value, str) and (_whole(value, words) if free else _whole(value.casefold(), heard)):
        return "user"
    if vocabulary and key in vocabulary and vocabulary[key].casefold() in heard:
        return "user: choice in words"
    if isinstance(value, str) and _whole(value.replace("_", " ").casefold(), heard):
        return "user: choice in words"
    return ""


def _whole(text: str, heard: str) -> bool:
    """Whether a text stands somewhere by itself, as no part of a longer word."""
    return text in heard and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", heard) is not None


def said_whole(text: str, words: str) -> bool:
    """Whether words say a text by itself, case ignored."""
    return _whole(text.casefold(), words.casefold())


def says(value: Any, said: Sequence[Said]) -> bool:
    """Whether words say what stands in a field: a text as it is or a choice without its underscores, a day, a number, an amount."""
    return any(_says(value, words, today) for words, today in said)


def _says(value: Any, words: str, today: date) -> bool:
    if isinstance(value, str) and value:
        if value[:4].isdigit() and value[4:5] == "-":
            return value[:10] in _days(words, today)
        return said_whole(value, words) or ("_" in value and said_whole(value.replace("_", " "), words))
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) in _numbers(words, today)


@lru_cache(maxsize=1 << 10)
def _days(words: str, today: date) -> set[str]:
    return {day for day, _ in readings(words, date, today)}


@lru_cache(maxsize=1 << 10)
def _numbers(words: str, today: date) -> set[float]:
    return {value for kind in (float, Cents) for value, _ in readings(words, kind, today)}


def sources(call: GroundTruthCall) -> set[str]:
    """The calls whose results an argument comes from, or from which it was worked out."""
    return {*(source for source, _ in places(call)), *call.hinges}


def places(call: GroundTruthCall) -> Iterator[tuple[str, str]]:
    """(call, path) of every place in earlier results from which an argument comes."""
    for origin in call.origin.values():
        for part in origin.split("; "):
            source, _, path = part.partition(": ")
            if source not in ("user", "worked out") and path:
                yield source, path


def cited(origin: str) -> set[str]:
    """The calls that the origin of one argument names."""
    return {part.split(":")[0] for part in origin.split("; ") if not part.startswith(("user", "worked out"))}
