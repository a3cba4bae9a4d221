"""Whether what the assistant tells is true: every amount, number, day, time, name and id of a reply stands in a result, in a
refusal, or in the user's words so far, with its sign, its unit and its zone, and a list that is cut says of how many it is.

The other way round than replies are made: from the values that were shown, every form in which they may be told; what a reply says
beyond those is from nowhere.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from functools import cache
from typing import Any

from prove.records import Conversation, leaves
from prove.servers.schema import bare, fields_of, metas
from prove.servers.session import Session
from prove.servers.tools import Tool
from prove.synthesis.certify import Rejected
from prove.synthesis.language.phrases import Phrasebook, phrasebook
from prove.synthesis.language.saying import MONTHS, NEAR, amount, is_money, ways
from prove.synthesis.language.telling import SPECS, tell
from prove.synthesis.language.zones import has_zones, zones_held
from prove.synthesis.planning.values import name_of

#: What a unit of measure in a reply may be of: words in the description of a type, or in the name of a field.
UNITS = {
    "minutes": r"minute|duration|_min\b",
    "seconds": r"second",
    "metres": r"metre|_m\b|distance",
    "km": r"km|kilometre|kilometer",
    "bytes": r"byte|size|\bused\b|\bleft\b|limit\b|freed",
    "grams": r"gram|weight",
    "percent": r"percent|brightness|position",
    "share": r"share",
    "hours": r"hour",
}
_UNIT = r"(?:hours?|minutes?|seconds?|km/h|km|m|kg|g|GB|MB|kB|bytes|liters?|kPa|degrees|%|percent)"
_MEASURED = {
    "liters": r"liter|fuel", "kPa": r"kpa|pressure|front|rear|recommended", "degrees": r"degree|target|temperature|latitude|longitude",
    "percent": UNITS["percent"], "%": UNITS["percent"], "MB": r"_mb\b", "km": UNITS["km"], "km/h": r"speed", "minutes": UNITS["minutes"],
    "minute": UNITS["minutes"], "hours": UNITS["hours"], "bytes": UNITS["bytes"], "m": UNITS["metres"],
}  # fmt: skip
_DAY = rf"(?:{'|'.join(sorted(NEAR.values(), key=len, reverse=True))}|(?:{'|'.join(MONTHS)}) \d{{1,2}}(?!\d)(?:, \d{{4}})?)"
_CLOCK = r" at \d{1,2}(?::\d\d)? [ap]m(?: UTC| [A-Z][\w-]*(?: [A-Z][\w-]*)* time)?"
_NUM = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_SIDE = r"(?: (?:in credit|in|out|left|overspent|owed)(?= on\b|[.,;)]|$))?"
_ALONE = r"(?<![\w.,:/@#$-])"
_CLAIMS = re.compile(
    r"(?P<cut>\(the first (?P<few>\d+) of (?P<all>\d+)(?: lines)?\))|(?P<times>\((?P<n>\d+) times\))"
    rf"|(?P<when>\b{_DAY}(?:{_CLOCK})?)|(?P<month>\b(?:{'|'.join(MONTHS)}) \d{{4}})"
    rf"|(?P<money>(?:\b(?:up|down|a gain of|a loss of) )?-?\$(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d\d)?{_SIDE})"
    rf"|{_ALONE}(?P<measure>{_NUM}(?: hours? \d+)? ?{_UNIT}(?![\w/]))|{_ALONE}(?P<number>{_NUM}(?![\w@/#%]|[.,:-]\w))"
    r"|(?P<token>[\w@/.:#+-]*\d[\w@/.:#+-]*)|(?<=[a-z,;:] )(?P<name>[A-Z][\w'-]+)"
)
_OUTGOING = re.compile(r"\b(?:out|paid|sent|moved|charged|spent|costs?|took|taken|fees?)\b", re.I)


def tell_truth(conversation: Conversation, session: Session) -> None:
    """Check every reply on a fresh session of the conversation's world. Raises `Rejected("reply")` for the first false word."""
    known = Known(conversation, session)
    for turn in conversation.turns:
        session.advance(minutes=turn.minutes_later)
        known.hear(turn.user)
        for step in turn.shown:
            known.read(step.name, session.call(step.name, step.arguments), step.arguments)
        known.work_out(turn.workings)
        for claim in known.unsourced(turn.reply) if turn.calls or turn.attempts else ():
            raise Rejected("reply", f"{claim!r} of {turn.reply!r} is from nowhere")


class Known:
    """What an assistant knows by now: all that was shown and said, in every form in which it may be told."""

    def __init__(self, conversation: Conversation, session: Session) -> None:
        self.session = session
        self.text = conversation.policy  # what was said, and what refusals say
        self.strings: set[str] = set()
        self.said = {word for server in conversation.homes for word in _own_words(server)}
        self.forms: set[str] = set()
        self.numbers: dict[str, set[str]] = {}  # a number as it is told -> what it may be of
        self.counts: set[int] = set()

    def hear(self, words: str) -> None:
        """The user's words: they may be said back."""
        self.text += f"\n{words}"

    def read(self, name: str, result: Any, arguments: dict[str, Any]) -> None:
        """What a call has shown."""
        home, tool = self.session.tools[name]
        live = self.session.servers[home]
        for _, value in leaves(arguments):  # what was done may be told as it was done
            if isinstance(value, str):
                self.strings.add(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                self._count(value, "")
        if not result.ok:
            self.text += f"\n{result.value['error']['message']}"
            return
        book, zones = phrasebook(home), ["UTC", *zones_held(live)] if has_zones(type(live)) else [""]
        for path, hint, value in _leaves(tool, result.value):
            self._keep(path, hint, value, live, book, zones)
        self.counts |= set(_lengths(result.value))

    def work_out(self, workings: Iterable[Any]) -> None:
        """What was worked out from results."""
        for value in (v for w in workings for v in (w.value if isinstance(w.value, list) else [w.value], *w.given)):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, int | float) and not isinstance(one, bool):
                    self.forms.add(amount(int(one)))
                    self._count(one, "")
                elif isinstance(one, str):
                    self.strings.add(one)
                    self.forms |= set(_day_forms(one, self.session.clock.now.date()))
            self.counts.add(len(value) if isinstance(value, list) else 1)

    def _keep(self, path: str, hint: Any, value: Any, live: Any, book: Phrasebook, zones: list[str]) -> None:
        field, today = path.rsplit(".", 1)[-1], live.today
        words = book.words_for(name_of(type(live), hint), field)
        about = f"{path} {name_of(type(live), hint)} {' '.join(m.description or '' for m in metas(hint))}".lower()
        if value is None or isinstance(value, bool):
            self.forms |= {tell(hint, value, today, words)} if value is not None else set()
        elif is_money(hint):
            self.forms |= {tell(hint, value, today), *(SPECS[s](value) for s in ("change", "gain", "side", "left", "owed"))}
            self.forms |= {tell(hint, abs(value), today)} if value >= 0 else {f"{tell(hint, -value, today)}*"}
        elif isinstance(value, int | float):
            self._count(value, about)
            self.forms |= {SPECS[spec](value) for spec, of in UNITS.items() if re.search(of, about)}
        elif isinstance(value, str):
            self.strings |= {value, value.replace("_", " ")}
            for form in (w for zone in zones for w in ways(hint, value, today, words, zone=zone)):
                self.forms.add(form)
            if bare(hint) is datetime:
                self.forms |= set(_day_forms(value[:10], today))

    def _count(self, value: float, about: str) -> None:
        for text in {str(value), f"{value:,}", f"{value:g}", f"{value:,.10g}"}:
            self.numbers.setdefault(text, set()).add(about)

    # --- what a reply says

    def unsourced(self, reply: str) -> Iterator[str]:
        """What a reply says that nothing has shown."""
        text = self._masked(reply)
        for m in _CLAIMS.finditer(text):
            if not self._sourced(m, text):
                yield m[0].strip()

    def _masked(self, reply: str) -> str:
        """The reply without what is told word for word: texts of results, and their beginnings and lines."""
        text = reply
        for string in sorted((s for s in self.strings if len(s) > 1 and re.search(r"[A-Z\d]", s)), key=len, reverse=True):
            for piece in dict.fromkeys((string, *(string.splitlines() if "\n" in string else ()), *_beginnings(string))):
                if piece and piece in text:
                    before = r"(?<![\w$.-])" if re.match(r"\w", piece) else ""
                    text = re.sub(rf"{before}{re.escape(piece)}(?!\w)", "_", text)
        return text

    def _sourced(self, m: re.Match[str], text: str) -> bool:
        claim = m[0].strip()
        if m["cut"]:
            return int(m["all"]) in self.counts and int(m["few"]) < int(m["all"])
        if m["times"]:
            return int(m["n"]) <= max(self.counts, default=0)
        if m["money"]:
            plain = re.search(r"-?\$[\d,.]*\d", claim)[0]  # type: ignore[index]
            around = text[max(0, m.start() - 60) : m.end() + 40]
            if claim != plain or claim in self.forms:
                return claim in self.forms or claim in self.text
            return claim in self.text or (f"{claim}*" in self.forms and bool(_OUTGOING.search(around)))
        if m["name"]:
            return claim in self.said or claim in self.text or any(claim in s for s in self.strings | self.forms)
        if claim in self.forms or _whole(claim, self.text) or claim.strip("().,;:\"'") in self.text:
            return True
        number = re.match(r"[-+]?[\d,]*\d(?:\.\d+)?", claim)
        if m["measure"] and number:
            unit = claim[number.end() :].strip()
            told = unit in self.strings  # a sensor says its unit itself
            return any(told or re.search(_MEASURED.get(unit, "."), about) for about in self.numbers.get(number[0], ()))
        if m["number"]:
            return claim in self.numbers or (claim.replace(",", "").isdigit() and int(claim.replace(",", "")) in self.counts)
        return any(claim.strip("().,;:\"'") in s for s in self.strings)


@cache
def _own_words(server: str) -> frozenset[str]:
    """The words with a capital in the domain's own replies, and those for its choices."""
    book = phrasebook(server)
    texts = [part for asks in book.asks.values() for ask in asks for part, _ in ask.reply.parts]
    texts += [text for table in book.words.values() for text in table.values()]
    return frozenset(word for text in texts for word in re.findall(r"\b[A-Z][\w'-]*", text)) | {"I", "I'm", "I'd", "I've", "I'll", "UTC"}


def _whole(claim: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,$-]){re.escape(claim)}(?![\w]|[.,]\d)", text) is not None


def _beginnings(text: str) -> Iterator[str]:
    """The beginnings of a long text that a reply may quote."""
    if len(text) > 100:
        words = text.split(" ")
        yield from (" ".join(words[:n]) for n in range(len(words) - 1, 5, -1))


def _day_forms(value: str, today: date) -> Iterator[str]:
    try:
        yield from ways(date, date.fromisoformat(value), today)
    except ValueError:
        return


def _lengths(value: Any) -> Iterator[int]:
    """How many things every list in a result has, and how many a page says that there are."""
    if isinstance(value, list):
        yield len(value)
        for item in value:
            yield from _lengths(item)
    elif isinstance(value, dict):
        yield from (v for k, v in value.items() if k == "total" and isinstance(v, int))
        for item in value.values():
            yield from _lengths(item)
    elif isinstance(value, str):
        yield len(value.splitlines())


def _leaves(tool: Tool, value: Any) -> Iterator[tuple[str, Any, Any]]:
    """(path, hint, scalar) of everything in a result."""
    yield from _typed(tool.returns, value, "")


def _typed(hint: Any, value: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    core = bare(hint)
    if isinstance(value, dict):
        fields = fields_of(core)
        for key, inner in value.items():
            yield from _typed(fields.get(key, str), inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        item = (getattr(core, "__args__", None) or (str,))[0]
        for inner in value:
            yield from _typed(item, inner, path)
    else:
        yield path, hint, value
