"""Whether a user's words pick out the records that the calls are about.

The words of a query are searched for every way in which the phrasebook names a record of the live world. Where the longest
words that name the wanted record name another one too, or where "that account" could be either of two, the assistant would
have to ask: such a conversation is rejected.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import product
from typing import Any

import msgspec

from prove.records import Attempt, Conversation, GroundTruthCall, leaves
from prove.servers.catalog import toolbox
from prove.servers.schema import bare, fields_of, ids_in, is_id, without_none
from prove.servers.server import Server
from prove.servers.session import Session
from prove.servers.tools import Parameter, Tool
from prove.synthesis.certify import Rejected, heard
from prove.synthesis.language.phrases import Phrasebook, Template, phrasebook, polished
from prove.synthesis.language.saying import is_money, is_month, ways
from prove.synthesis.planning.values import key_type, name_of, shown_alone, table_of, texts_of
from prove.synthesis.planning.working import picked

Span = tuple[int, int]  # where in the words something begins and ends


def single_out(conversation: Conversation, session: Session) -> None:
    """Check every id argument on a fresh session of the conversation's world. Raises `Rejected("ambiguous")`."""
    tools, recent = toolbox(conversation.homes), dict[Any, set[str]]()  # id type -> the records that the last query about such was about
    words = ""
    for turn in conversation.turns:
        session.advance(minutes=turn.minutes_later)
        words = f"{words}\n{turn.user}".strip()
        if not turn.calls and not turn.attempts and (turn.level != "complete" or turn.held):
            continue  # the assistant asks back, and the answer goes on with the same query
        calls = [(*tools[c.name], c) for c in turn.calls]
        tried = [(*tools[a.name], a) for a in turn.attempts if a.recovery != "corrected"]
        for home in conversation.homes:
            live = session.servers[home]
            query = Query(words, live, phrasebook(home))
            wanted = [(*pair, call) for server, tool, call in [*calls, *tried] if server == home for pair in _ids(tool, call)]
            for kind, key, call in wanted:
                if not (table := table_of(type(live), kind)) or _by_rank(conversation, call, key):
                    continue  # "the largest" is one, whatever else is large
                others = query.mistakable(kind, key, recent.get(kind, set()))
                if key not in live.state[table]:  # what the query itself has made is "that one" only where it speaks of no other
                    others = others | {other for like, other, _ in wanted if like == kind} - {key}
                if others:
                    raise Rejected("ambiguous", f"{key} in {words!r}: it could be {', '.join(sorted(others))}")
        results = [session.call(c.name, c.arguments).value for c in turn.calls]
        for home in conversation.homes:
            live, shown = session.servers[home], [r for (server, *_), r in zip(calls, results, strict=True) if server == home]
            about = [pair for server, tool, call in calls if server == home for pair in _ids(tool, call)]
            recent |= {kind: {key} for kind, key in shown_alone(live, shown).items()} | _about(about, live, shown)
        words = ""


def given_away(value: Any, spoken: str, parameter: Parameter, words: str, live: Server, book: Phrasebook) -> bool:
    """Whether words give a value that is `spoken` elsewhere: 30 in "9:30", or a text of the record that is spoken of."""
    named = texts_of(live, parameter.id_type, value, spoken)
    said = bool(heard(value, parameter, type(live), book, words, live.today))
    return said or any(re.search(_whole(text.casefold()), words.casefold()) for text in named)


def _by_rank(conversation: Conversation, call: GroundTruthCall | Attempt, key: str) -> bool:
    return isinstance(call, GroundTruthCall) and key in picked(conversation.turns, call.id)


def _ids(tool: Tool, call: GroundTruthCall | Attempt) -> Iterator[tuple[Any, str]]:
    """(id type, key) of every record that a call's arguments name, by itself or in a list."""
    for p in (p for p in tool.parameters if p.name in call.arguments):
        value = call.arguments[p.name]
        yield from ((kind, key) for kind in ids_in(p.hint) for key in (value if isinstance(value, list) else [value]))


def _about(wanted: list[tuple[Any, str]], live: Server, results: list[Any]) -> dict[Any, set[str]]:
    """The records that a query was about: those it named or, where it named none of a kind, those that it made and showed."""
    shown = {value for result in results for _, value in leaves(result) if isinstance(value, str)}
    out: dict[Any, set[str]] = {}
    for kind, key in wanted:
        out.setdefault(kind, set()).add(key)
    for table, rows in live.state.items():
        kind = key_type(type(live), table)
        made = {key for key, (before, after) in rows.changes().items() if before is None and after is not None} & shown
        if is_id(kind) and made and kind not in out:
            out[kind] = made
    return out


class Query:
    """A query's words, and what they name in the world as it is when they are said."""

    def __init__(self, words: str, live: Server, book: Phrasebook) -> None:
        self.words, self.live, self.book = words.casefold(), live, book
        self.found: dict[Any, dict[Span, set[str]]] = {}

    def mistakable(self, kind: Any, key: str, recent: set[str]) -> set[str]:
        """The other records that the words for this one could mean; empty where they are clear, or say the key itself."""
        places = self.named(kind)
        mine = [keys for keys in places.values() if key in keys]
        if mine or re.search(_whole(key), self.words):
            return min((keys - {key} for keys in mine), key=len, default=set())
        if not (again := [m.start() for text in self.book.mentions[kind.__name__].again for m in re.finditer(_whole(text), self.words)]):
            return set()  # it is not spoken of at all: an earlier call has found or made it
        before = {other for (_, end), keys in places.items() if end <= max(again) for other in keys}
        made_now = key not in self.live.state[table_of(type(self.live), kind) or ""]
        return (before or (set() if made_now else recent)) - {key}

    def named(self, kind: Any) -> dict[Span, set[str]]:
        """Where the words name records of a kind, the longest words each: place -> the records that they fit."""
        if kind not in self.found:
            places: dict[Span, set[str]] = {}
            rows = self.live.state[table_of(type(self.live), kind) or ""]
            for record in rows:
                for text in set(self.ways(kind, record)):
                    for m in re.finditer(_whole(text), self.words):
                        places.setdefault(m.span(), set()).add(rows.key_of(record))
            self.found[kind] = {p: k for p, k in places.items() if not any(q != p and q[0] <= p[0] and p[1] <= q[1] for q in places)}
        return self.found[kind]

    def ways(self, kind: Any, record: Any) -> Iterator[str]:
        """The ways of naming a record that have a chance to be among the words."""
        for template in self.book.mentions[kind.__name__].by:
            said: dict[str, list[str]] = {}
            for slot, spec in _specs(template).items():
                said[slot] = self._slot(record, slot, spec)
                if not said[slot]:
                    break  # the words do not say it: nor do they name the record in this way
            for chosen in product(*said.values()):
                words = dict(zip(said, chosen, strict=True))
                yield polished(template.fill(lambda slot, _, words=words: words[slot])).casefold()  # type: ignore[misc]

    def _slot(self, record: Any, slot: str, spec: str) -> list[str]:
        """How a field of a record may stand among the words; empty where it does not."""
        value, field = getattr(record, slot), _field(type(self.live), type(record), slot)
        hint, texts = field.hint, self.book.words_for(field.type_name, slot)
        if value in (None, ""):
            return []
        if field.owner:
            named = self.live.state[field.owner].find(value)
            said = list(self.ways(bare(hint), named)) if named else []
        elif field.text and not texts:
            said = [value]
        else:
            if isinstance(value, datetime) and spec == "day":
                value = value.date()
                hint = type(value)
            # of amounts mentions say the figure, whichever way they went
            said = ways(hint, abs(value), self.live.today)[:1] if is_money(hint) else ways(hint, value, self.live.today, texts)
        return [text for text in dict.fromkeys(said) if text.casefold() in self.words]


class _Field(msgspec.Struct, frozen=True):
    """What is known of a record's field: `owner` is the table of the record that it names, `text` whether it is said as it is."""

    hint: Any
    type_name: str
    owner: str | None
    text: bool


@cache
def _field(server: type[Server], record: type, slot: str) -> _Field:
    hints = fields_of(record)
    hint = without_none(hints[slot])
    core = bare(hint)
    owner = table_of(server, core) if is_id(core) and slot != next(iter(hints)) else None
    return _Field(hint, name_of(server, hint), owner, (core is str and not is_month(hint)) or is_id(core))


@cache
def _specs(template: Template) -> dict[str, str]:
    """The slots of a mention, each with what is asked of it ("day")."""
    specs: dict[str, str] = {}
    template.fill(lambda slot, spec: specs.setdefault(slot, spec))
    return specs


def _whole(text: str) -> str:
    return rf"(?<!\w){re.escape(text.casefold())}(?!\w)"
