"""From what a user says to the calls that a good assistant makes: look up what is named, then act.

The user names records as people do; the assistant needs their ids. `resolve` finds the reads that lead from the words to
the id, using nothing but those words and what earlier calls returned, by executing them on the live session.
"""

from collections.abc import Iterator
from datetime import date, datetime
from itertools import combinations
from random import Random
from typing import Any, NewType, cast

import msgspec

from prove.records import GroundTruthCall
from prove.servers import Query
from prove.servers.schema import bare, fields_of, is_id, without_none
from prove.servers.server import Server
from prove.servers.session import Result, Session
from prove.servers.tools import Parameter, Tool
from prove.synthesis.language.phrases import Phrasebook, Template
from prove.synthesis.language.saying import is_money, say
from prove.synthesis.planning.values import name_of, table_of


class Unplannable(Exception):
    """No reads lead from these words to that record."""


class Draft:
    """A conversation in the making: its live session, the calls so far, and what they have shown."""

    def __init__(self, server: str, book: Phrasebook, session: Session) -> None:
        self.server, self.book, self.session = server, book, session
        self.calls: list[GroundTruthCall] = []
        self.results: list[Any] = []
        self.known: set[str] = set()  # texts that the assistant has seen in results
        self._outcome = ""

    def fork(self) -> "Draft":
        copy = Draft(self.server, self.book, self.session.fork())
        copy.calls, copy.results, copy.known, copy._outcome = [*self.calls], [*self.results], {*self.known}, self._outcome
        return copy

    @property
    def live(self) -> Server:
        return self.session.servers[self.server]

    def outcome(self) -> str:
        """The session's outcome, looked at once after each write."""
        self._outcome = self._outcome or self.session.outcome()
        return self._outcome

    def shows(self, key: str, named: "Named") -> bool:
        """Whether some result so far holds the key beside all that the user said of its record."""
        return key in self.known and any(_shows(result, key, named) for result in self.results)

    def call(self, tool: str, arguments: dict[str, Any]) -> Result:
        """Run a call; one that succeeds joins the ground truth."""
        result = self.session.call(tool, arguments)
        if result.ok:
            if type(self.live).tools[tool].marks.writes:
                self._outcome = ""
            value = result.value
            self.calls.append(GroundTruthCall(f"c{len(self.calls) + 1}", tool, arguments))
            self.results.append(value)
            self.known.update(_texts(value))
        return result

    def forget(self, calls: int) -> None:
        """Take back the reads after the first `calls` calls: they have led nowhere."""
        if len(self.calls) > calls:
            del self.calls[calls:], self.results[calls:]
            self.known = {text for result in self.results for text in _texts(result)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


class Named(msgspec.Struct, frozen=True):
    """A record as the user names it: the words, and what of the record they give away."""

    text: str
    fields: dict[str, Any]  # field -> raw value
    hints: dict[str, Any]  # field -> type
    owners: dict[str, "tuple[str, Named]"]  # field -> the id that stands there, and how the user names that record


def name_record(draft: Draft, id_type: NewType, key: str, rng: Random) -> Named:
    """Words that pick out exactly this record of the world. Raises `Unplannable` where no way of naming it does."""
    mention, table = draft.book.mentions[id_type.__name__], table_of(type(draft.live), id_type)
    if table is None:
        raise Unplannable(f"{id_type.__name__} keys no table")
    rows = draft.live.state[table]
    record = rows.find(key)
    if record is None:
        raise Unplannable(f"{key} is gone")
    hints = fields_of(type(record))
    for template in rng.sample(mention.by, len(mention.by)):
        slots = set(template.slots())
        if not all(getattr(record, s) not in (None, "") for s in slots) or not _unique(record, slots, rows):
            continue
        try:
            return _fill_mention(draft, template, record, hints, rng)
        except Unplannable:
            continue
    raise Unplannable(f"nothing tells {key} from its like")


def _unique(record: Any, slots: set[str], rows: Any) -> bool:
    """Whether no other record agrees in all of these fields, days compared as days and case ignored."""
    heard = [(slot, _heard(getattr(record, slot))) for slot in slots]
    alike = [r for r in rows if r is not record]
    for slot, value in heard:
        alike = [r for r in alike if _heard(getattr(r, slot)) == value]
    return not alike


def _heard(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value.date() if isinstance(value, datetime) else value


def _fill_mention(draft: Draft, template: Template, record: Any, hints: dict[str, Any], rng: Random) -> Named:
    named = Named("", {}, hints, {})
    key_field = next(iter(hints))

    def word(slot: str, spec: str) -> str:
        value, hint = getattr(record, slot), without_none(hints[slot])
        if is_id(bare(hint)) and slot != key_field:
            owner = name_record(draft, bare(hint), value, rng)
            named.owners[slot] = (value, owner)
            return owner.text
        named.fields[slot] = value
        if spec == "day":
            value, hint = value.date(), type(value.date())
        words = draft.book.words_for(name_of(type(draft.live), hint), slot)
        # in front of a noun an amount is "the $25 charge", never "the 25 dollars charge"
        return say(hint, abs(value), draft.live.today, None) if is_money(hint) else say(hint, value, draft.live.today, rng, words)

    return msgspec.structs.replace(named, text=template.fill(word))


def resolve(draft: Draft, id_type: NewType, key: str, named: Named, rng: Random, depth: int = 3) -> None:
    """Make the calls after which the assistant knows `key`. Raises `Unplannable` where none do.

    Nothing is called for an id that the user's own words give, or that an earlier result has shown beside them.
    """
    if key in named.fields.values() or draft.shows(key, named):
        return
    if depth == 0:
        raise Unplannable(f"the way to {key} is too long")
    quoted = msgspec.json.encode(key).decode()
    for tool in (t for t in type(draft.live).sources.get(id_type, []) if not t.marks.writes):
        before = len(draft.calls)
        for arguments in _lookups(draft, tool, named, rng, depth):
            if draft.shows(key, named):
                return  # looking up its owner has shown it
            result = draft.session.call(tool.name, arguments)
            if result.ok and quoted in result.text and _tells(draft, result.value, key, named):
                draft.call(tool.name, arguments)
                return
        draft.forget(before)  # whatever was looked up for it
    raise Unplannable(f"no read shows {key} to somebody who hears {named.text!r}")


def _lookups(draft: Draft, tool: Tool, named: Named, rng: Random, depth: int) -> Iterator[dict[str, Any]]:
    """Arguments for a look-up that the words give, leanest first: what is required, then with one thing more that narrows it, with
    two; at last, the records that the wanted one belongs to are looked up and narrow it too."""
    required: dict[str, Any] = {}
    narrowing: dict[str, Any] = {}
    owners = list[Parameter]()
    for p in tool.parameters:
        value = _from_words(p, named)
        if value is None and p.id_type is not None and p.required:
            value = _resolved_owner(draft, p.id_type, named, rng, depth)
        elif value is None and p.id_type is not None and _names_owner(p.id_type, named):
            owners.append(p)
        if value is None and p.required:
            return
        if value is not None:
            (required if p.required else narrowing)[p.name] = msgspec.to_builtins(value)
    yield from _leanest(required, narrowing)
    for p in owners:
        narrowing[p.name] = _resolved_owner(draft, cast("NewType", p.id_type), named, rng, depth)
    if owners:
        yield from _leanest(required, narrowing)


def _leanest(required: dict[str, Any], narrowing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The required arguments with some of the others, the fewest first."""
    for count in range(len(narrowing) + 1):
        for chosen in combinations(narrowing.items(), count):
            yield required | dict(chosen)


def _from_words(parameter: Parameter, named: Named) -> Any:
    """A value for a parameter that the words hold: a text for a search, a day as the bounds `since` and `until`, or a
    field of the very same type."""
    hint = without_none(parameter.hint)
    if hint == Query:
        texts = [v for f, v in named.fields.items() if isinstance(v, str) and bare(named.hints[f]) is str]
        return texts[0] if texts else None
    if parameter.name in ("since", "until"):
        days = [v.date() if isinstance(v, datetime) else v for v in named.fields.values() if isinstance(v, date)]
        return days[0] if days else None
    matching = [v for f, v in named.fields.items() if without_none(named.hints[f]) == hint and not is_id(bare(hint))]
    return matching[0] if matching else None


def _names_owner(id_type: NewType, named: Named) -> bool:
    return any(bare(named.hints[field]) is id_type for field in named.owners)


def _resolved_owner(draft: Draft, id_type: NewType, named: Named, rng: Random, depth: int) -> str | None:
    """The id of the record that the wanted one belongs to (the restaurant of a dish), itself looked up if need be.

    Where the words name no owner, the one such record that the conversation has been about so far.
    """
    for field, (owner, how) in named.owners.items():
        if bare(named.hints[field]) is id_type:
            resolve(draft, id_type, owner, how, rng, depth - 1)
            return owner
    table = table_of(type(draft.live), id_type)
    seen = [k for k in sorted(draft.known) if k in draft.live.state[table]] if table else []
    return seen[0] if len(seen) == 1 else None


def _tells(draft: Draft, result: Any, key: str, named: Named) -> bool:
    """Whether a result shows the key so that it can be told which it is: no other record of its kind in it agrees with all that the
    user said, as far as the assistant knows the records that were named for it."""
    if not _shows(result, key, named):
        return False
    known = {f: owner for f, (owner, how) in named.owners.items() if draft.shows(owner, how)}
    said = {f: msgspec.to_builtins(v) for f, v in named.fields.items()} | known
    like = [item for item in _objects(result) if all(item.get(f) == v for f, v in said.items())]
    places = {field for item in like for field, value in item.items() if value == key}
    return all(item.get(field, key) == key for item in like for field in places)


def _shows(result: Any, key: str, named: Named) -> bool:
    """Whether a result holds the key beside all that the user said of its record, so that it can be told which it is."""
    wanted = {f: msgspec.to_builtins(v) for f, v in named.fields.items()}
    found = [item for item in _objects(result) if key in item.values()]
    return any(all(item.get(f) == v for f, v in wanted.items()) for item in found)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)
