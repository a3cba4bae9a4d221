"""How people ask, read from a domain's `phrases.toml`.

A template is text with `{slots}` and `[droppable parts]`. In `say` a slot is an argument of the tool; in a mention it is
a field of the record; in a reply it is a path into the result. `{slot:spec}` says how: `{duration:minutes}` with its unit,
`{posted:day}` a time as its day; of a reply's specs see `prove.synthesis.language.telling`.

A thing to ask for may also be given as a clause, which a frame makes into a request (see `composing`): `do`, in the imperative
("freeze {card_id}"), or `know`, an indirect question ("how much is in {account_id}"). `why` are sentences that people say around it.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any, Literal, get_args

import msgspec

from prove.records import Level
from prove.servers import Query
from prove.servers.catalog import load
from prove.servers.schema import bare, fields_of, is_id, without_none
from prove.servers.server import Server
from prove.servers.tools import Tool

_SLOT = re.compile(r"\{([a-z_0-9.]+)(?::([a-z]+))?\}")


#: A whole utterance, one that brings a story of its own, or a clause to be framed.
Form = Literal["whole", "story", "do", "know"]
REGISTERS = 4  # terse, polite, chatty, indirect: the order of the first phrasings of an ask


class Template(msgspec.Struct, frozen=True):
    """Parsed text: parts in order, each with whether it may be left out."""

    parts: tuple[tuple[str, bool], ...]
    form: Form = "whole"

    @classmethod
    def parse(cls, text: str, form: Form = "whole") -> "Template":
        pieces = re.split(r"(\[[^\]]*\])", text)
        return cls(tuple((p[1:-1], True) if p.startswith("[") else (p, False) for p in pieces if p), form)

    def slots(self, droppable: bool | None = None) -> list[str]:
        """The slots' names, of all parts or of those that may (not) be left out."""
        return [m[1] for text, may in self.parts if droppable in (None, may) for m in _SLOT.finditer(text)]

    def spec(self, slot: str) -> str:
        """What is asked of a slot: "minutes" of `{duration:minutes}`."""
        return next((m[2] or "" for text, _ in self.parts for m in _SLOT.finditer(text) if m[1] == slot), "")

    def fill(self, value: Callable[[str, str], str], keep: Callable[[str], bool] = lambda slot: True) -> str:
        """The text with `value(slot, spec)` in its slots; a droppable part stays if `keep` wants all of its slots."""
        kept = (text for text, may in self.parts if not may or all(keep(m[1]) for m in _SLOT.finditer(text)))
        return _SLOT.sub(lambda m: value(m[1], m[2] or ""), "".join(kept)).strip()


def polished(text: str) -> str:
    """A filled sentence as people write it: a capital after a full stop, one full stop, no "on yesterday", "1 days" or "a aisle seat"."""
    text = re.sub(rf"\b(?:on|in|for) ({_NO_ON})\b", lambda m: m[1] if m[0][:2] != "fo" else m[0], text)
    text = re.sub(r"\b(since|until|before|after|by) at (?=\d|noon)", r"\1 ", text)
    text = re.sub(r"(?<!\.)([.!?]\"?)\.(?!\.)", r"\1", text)
    text = re.sub(r"\bThere are 1\b(?![.,:]\d)", "There is 1", text)
    text = re.sub(rf"(?<![\w.,:$€£-])1 ({'|'.join(_COUNTED)})s\b", r"1 \1", text)
    text = re.sub(r"(?<![\w'-])([Aa]) (?=(?!eu|one)[aeio][a-z])", r"\1n ", text)
    return re.sub(r"(^|[.!?] )([a-z])(?!\S*[@_/\d-]|\S*\.\w)", lambda m: m[1] + m[2].upper(), text)


_NO_ON = (
    "yesterday|today|tomorrow|(?:last|this) month|last (?:[MTWFS][a-z]+day)|this coming|the day (?:before|after) (?:yesterday|tomorrow)"
    "|a week (?:ago|from)|two weeks (?:ago|from)"
)
_COUNTED = (
    "minute", "hour", "day", "week", "month", "time", "line", "word", "item", "unit", "share", "file", "message", "degree", "bid",
    "comment", "like", "invoice", "ticket", "email",
)  # fmt: skip


class Mention(msgspec.Struct, frozen=True):
    """How people name a record of one kind."""

    by: tuple[Template, ...]
    again: tuple[str, ...]


CLAUSES = 0.55  # chance that a request is a framed clause, where there is one


class Ask(msgspec.Struct, frozen=True):
    """One thing people want of a tool: ways of asking, and what a good assistant says afterwards."""

    tool: str
    say: tuple[Template, ...]
    reply: Template
    required: frozenset[str]  # the arguments that the tool cannot do without
    clauses: tuple[Template, ...] = ()  # to be framed
    why: tuple[str, ...] = ()  # what people say around it
    around: tuple[str, ...] = ()  # what people say around anything in this domain
    questions: dict[str, tuple[str, ...]] = {}  # how to ask back for an argument
    texts: frozenset[str] = frozenset()  # the arguments that are free texts

    def at(self, level: Level) -> list[Template]:
        """The phrasings that can leave out what a level of information leaves out: nothing, one required value, or all
        that can be; what needs no value is minimal as it is."""
        every = [*self.say, *self.clauses]
        if level == "complete" or (level == "minimal" and not self.required):
            return every
        return [t for t in every if self.required & set(t.slots(droppable=True))]

    def phrasing(self, level: Level, register: int, rng: Random) -> Template:
        """One of them: a clause as often as not, else an utterance, mostly in that register."""
        options = self.at(level)
        clauses = [t for t in options if t.form in ("do", "know")]
        if clauses and (len(clauses) == len(options) or rng.random() < CLAUSES):
            return rng.choice(clauses)
        whole = [t for t in options if t.form not in ("do", "know")]
        mine = [t for t in whole if t in self.say[register::REGISTERS]]
        return rng.choice(mine if mine and rng.random() < 0.7 else whole)


class Phrasebook(msgspec.Struct, frozen=True):
    """A domain's `phrases.toml`."""

    server: str
    mentions: dict[str, Mention]  # by the name of the id type
    values: dict[str, list[Any]]  # by the name of the type
    words: dict[str, dict[str, str]]  # by the name of the type, or of the parameter
    asks: dict[str, tuple[Ask, ...]]  # by tool
    asks_at: dict[Level, dict[str, tuple[Ask, ...]]]  # those of them that a level of information can express

    def words_for(self, type_name: str, parameter: str) -> dict[str, str] | None:
        return self.words.get(type_name) or self.words.get(parameter)


@cache
def phrasebook(server: str) -> Phrasebook:
    """The phrasebook of a server. Raises LookupError with the first problem of a broken one."""
    raw, tools = load(server).phrases(), load(server).server.tools
    asks = {
        tool: tuple(_ask(tool, tools.get(tool), one, raw) for one in (several if isinstance(several, list) else [several]))
        for tool, several in raw.get("ask", {}).items()
    }
    book = Phrasebook(
        server,
        {name: _mention(m) for name, m in raw.get("mention", {}).items()},
        raw.get("values", {}),
        raw.get("words", {}),
        asks,
        {level: _expressible(asks, level) for level in get_args(Level)},
    )
    for problem in problems(book):
        raise LookupError(f"servers/{server}/phrases.toml: {problem}")
    return book


def _mention(raw: dict[str, Any]) -> Mention:
    return Mention(tuple(map(Template.parse, raw["by"])), tuple(raw.get("again", ())))


def _ask(name: str, tool: Tool | None, raw: dict[str, Any], book: dict[str, Any]) -> Ask:
    parameters = [p.name for p in tool.parameters] if tool else []
    asked = book.get("question", {})
    return Ask(
        name,
        tuple(Template.parse(text, "whole" if i % REGISTERS < 2 else "story") for i, text in enumerate(raw["say"])),
        Template.parse(raw.get("reply", "Done.")),
        frozenset(p.name for p in tool.parameters if p.required) if tool else frozenset[str](),
        tuple(Template.parse(text, form) for form in _CLAUSES for text in raw.get(form, ())),
        tuple(raw.get("why", ())),
        tuple(book.get("around", ())),
        {p: tuple(asked.get(f"{name}.{p}", asked.get(p, ()))) for p in parameters if f"{name}.{p}" in asked or p in asked},
        frozenset(p.name for p in tool.parameters if bare(p.hint) is str and without_none(p.hint) != Query) if tool else frozenset[str](),
    )


_CLAUSES: tuple[Form, ...] = ("do", "know")


def _expressible(asks: dict[str, tuple[Ask, ...]], level: Level) -> dict[str, tuple[Ask, ...]]:
    fitting = {tool: tuple(a for a in several if a.at(level)) for tool, several in asks.items()}
    return {tool: several for tool, several in fitting.items() if several}


def problems(book: Phrasebook) -> Iterator[str]:
    """What is wrong with a phrasebook, one sentence each."""
    server = load(book.server).server
    for tool in server.tools.keys() - book.asks.keys():
        yield f"nobody asks for {tool}"
    for name, asks in book.asks.items():
        if name not in server.tools:
            yield f"[[ask.{name}]]: there is no such tool"
            continue
        for ask in asks:
            yield from _problems_of(ask, server)
    for name in {p.id_type.__name__ for t in server.tools.values() for p in t.parameters if p.id_type} - book.mentions.keys():
        yield f"[mention.{name}] is missing: how do people name such a record?"
    parameters = {p.name for t in server.tools.values() for p in t.parameters}
    for name in (n for n in load(book.server).phrases().get("question", {}) if n.rpartition(".")[2] not in parameters):
        yield f"[question]: no argument is called {name}"
    for name, mention in book.mentions.items():
        fields = _record_fields(server, name)
        for slot in {s for template in mention.by for s in template.slots()} - fields.keys():
            yield f"[mention.{name}]: the record has no field {slot!r}"


def _problems_of(ask: Ask, server: type[Server]) -> Iterator[str]:
    tool = server.tools[ask.tool]
    known = {p.name for p in tool.parameters}
    if len(ask.say) < 4:
        yield f"[[ask.{ask.tool}]]: {len(ask.say)} phrasings, at least 4 are needed"
    for template in (*ask.say, *ask.clauses):
        slots = set(template.slots())
        if slots - known:
            yield f"[[ask.{ask.tool}]]: no argument is called {', '.join(sorted(slots - known))}"
        if ask.required - slots:
            yield f"[[ask.{ask.tool}]]: {', '.join(sorted(ask.required - slots))} must be in every phrasing"
        if any(len(_SLOT.findall(text)) != 1 for text, may in template.parts if may):
            yield f"[[ask.{ask.tool}]]: each [part] holds exactly one argument"
    for path in ask.reply.slots():
        if path not in paths_of(tool.returns):
            yield f"[[ask.{ask.tool}]]: the result has no {path!r}"


def _record_fields(server: type[Server], id_name: str) -> dict[str, Any]:
    for spec in server.tables.values():
        fields = fields_of(spec.record)
        first = next(iter(fields.values()))
        if is_id(first) and first.__name__ == id_name:
            return fields
    return {}


def paths_of(hint: Any, depth: int = 4) -> dict[str, Any]:
    """Every dotted path into a result of that type, with its hint; a list is looked through."""
    core = bare(hint)
    if getattr(core, "__origin__", None) is list:
        return paths_of(core.__args__[0], depth)
    out: dict[str, Any] = {}
    for name, inner in fields_of(core).items():
        out[name] = inner
        if depth:
            out |= {f"{name}.{path}": h for path, h in paths_of(inner, depth - 1).items()}
    return out


def value_at(result: Any, path: str) -> Any:
    """What stands at a dotted path of a result; a list on the way gives the list of what stands in its items, those of a list
    inside it in a row, or one by number."""
    for step in path.split("."):
        if not isinstance(result, list):
            result = result[step]
        elif step.isdigit():
            result = result[int(step)]
        else:
            result = [item[step] for item in _flat(result)]
    return result


def _flat(items: list[Any]) -> Iterator[Any]:
    for item in items:
        yield from _flat(item) if isinstance(item, list) else (item,)
