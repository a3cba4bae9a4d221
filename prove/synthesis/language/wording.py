"""How users' queries read: how long, how varied, what they ask for and how, and whether they give away what only the tools know.

The same is measured of BFCL Multi-Turn's own user turns (`wording.toml` beside this file), so that there is something to compare with.
"""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import msgspec

from prove.records import Conversation, GroundTruthCall
from prove.servers.catalog import catalogue, load, toolbox
from prove.servers.schema import ids_in
from prove.servers.server import Server

if TYPE_CHECKING:
    import pandas as pd

WORDS = 5000  # of which the variety is taken: the ratios fall with every further text
ALIKE = 734  # queries among which alike skeletons are looked for: as many as BFCL has
OPENINGS = 20
_BFCL = Path(__file__).with_suffix(".toml")
_DATA = "bfcl_eval/data/BFCL_v4_multi_turn_base.json"
_TRUTH = "bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json"
_DOCS = "bfcl_eval/data/multi_turn_func_doc/"

_IF = re.compile(r"\bif\b", re.I)
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|best|worst|(?:cheap|larg|bigg|small|high|low|old|new|long|short|near|clos|fast|slow|earli|lat|heavi|strong|weak|bright|few|"
    r"busi|dear|full|hott|cold|deep|great|quick|tini|clean|safe|simpl|rich|poor)est|top[- ]rated|at the (?:earliest|latest))\b", re.I
)  # fmt: skip
_ALL = re.compile(r"\b(?:all(?: of)? (?:the|my|our|its|his|her|their|that|those|these)|every|each (?:of|and))\b", re.I)
_SENTENCE = re.compile(r"[.!?]+[\"')]*(?:\s|$)")


class Talk(msgspec.Struct, frozen=True):
    """One conversation as far as its wording goes."""

    queries: list[str]
    values: list[list[Any]]  # by turn: the argument values of its calls, ids left out
    calls: int
    turns_with_calls: int
    toolsets: int  # that its calls are from
    candidates: int  # tools that are offered


class Wording(msgspec.Struct, frozen=True):
    """What is measured of queries; shares are of queries where nothing else is said."""

    queries: int
    mean_words: float
    p90_words: float
    sentences: float  # in a query
    distinct_2: float  # distinct among the pairs of words in the first `WORDS` words, queries in a seeded order
    distinct_3: float  # likewise, of three words in a row
    openings: float  # begin with one of the commonest `OPENINGS` beginnings of three words
    skeletons: float  # among `ALIKE`: the same as another once values, names and numbers are masked
    conditional: float
    superlative: float
    every: float  # "all the", "every"
    names: float  # share with a tool's or a parameter's name, as written in the schema
    unsaid: float  # share of argument values, ids apart, that do not stand literally in the words so far
    calls: float  # in a conversation
    calls_a_turn: float  # of those with calls
    toolsets: float  # share of conversations whose calls are from two or more
    candidates: float  # tools offered in a conversation


def measure(talks: Sequence[Talk], names: Iterable[str], seed: int = 0) -> Wording:
    """The wording of conversations with an assistant whose tools and parameters have those names. Raises LookupError for no query.

    A name without an underscore ("amount", "move") is an everyday word: only the others can be given away.
    """
    queries = [q for talk in talks for q in talk.queries]
    if not queries:
        raise LookupError("there is no query to measure the wording of")
    telling = re.compile(rf"\b(?:{'|'.join(sorted(n for n in names if '_' in n)) or '(?!)'})\b")
    shuffled = Random(seed).sample(queries, len(queries))
    share = lambda pattern: fmean(bool(pattern.search(q)) for q in queries)
    lengths = [len(q.split()) for q in queries]
    values = [said for talk in talks for said in _literal(talk)]
    turns = sum(talk.turns_with_calls for talk in talks)
    return Wording(
        queries=len(queries),
        mean_words=fmean(lengths),
        p90_words=quantiles(lengths, n=10, method="inclusive")[8] if len(lengths) > 1 else lengths[0],
        sentences=fmean(max(1, len(_SENTENCE.findall(q))) for q in queries),
        distinct_2=_distinct(shuffled, 2),
        distinct_3=_distinct(shuffled, 3),
        openings=_commonest([" ".join(_words(q)[:3]) for q in queries]),
        skeletons=_alike(Random(seed).sample(list(_skeletons(talks)), min(ALIKE, len(queries)))),
        conditional=share(_IF),
        superlative=share(_SUPERLATIVE),
        every=share(_ALL),
        names=share(telling),
        unsaid=1 - fmean(values) if values else 0.0,
        calls=fmean(talk.calls for talk in talks),
        calls_a_turn=sum(talk.calls for talk in talks) / turns if turns else 0.0,
        toolsets=fmean(talk.toolsets > 1 for talk in talks),
        candidates=fmean(talk.candidates for talk in talks),
    )


def _words(text: str) -> list[str]:
    """The words of a text, case and punctuation ignored."""
    return re.findall(r"[\w'@#/.-]*\w", text.casefold())


def grams(text: str, n: int) -> list[tuple[str, ...]]:
    """Every n words in a row."""
    words = _words(text)
    return list(zip(*(words[i:] for i in range(n)), strict=False))


def _distinct(queries: Sequence[str], n: int) -> float:
    """The share of distinct n-grams in the first queries that have `WORDS` words together."""
    found, words = list[tuple[str, ...]](), 0
    for query in queries:
        if words >= WORDS:
            break
        found += grams(query, n)
        words += len(_words(query))
    return len(set(found)) / len(found) if found else 1.0


def _commonest(beginnings: Sequence[str]) -> float:
    counts = Counter(beginnings).most_common(OPENINGS)
    return sum(n for _, n in counts) / len(beginnings)


def _alike(skeletons: Sequence[str]) -> float:
    counts = Counter(skeletons)
    return sum(n for n in counts.values() if n > 1) / len(skeletons)


def _skeletons(talks: Sequence[Talk]) -> Iterator[str]:
    """Each query with what differs from case to case masked: its argument values, what is quoted, names and numbers."""
    for talk in talks:
        for query, values in zip(talk.queries, talk.values, strict=True):
            for text in sorted({str(v) for v in values}, key=len, reverse=True):
                query = query.replace(text, "_") if text else query
            query = re.sub(r"([\"']).{1,200}?\1", "_", query)
            query = re.sub(r"(?<![.!?] )(?<!^)\b[A-Z][\w'-]*|\S*[\d@/_]\S*", "_", query)
            yield re.sub(r"(?:_[\s,]*)+", "_ ", query.casefold()).strip()


def _literal(talk: Talk) -> Iterator[bool]:
    """Of each argument value, whether it stands literally in what was said so far."""
    words = ""
    for query, values in zip(talk.queries, talk.values, strict=True):
        words += f"\n{query.casefold()}"
        for value in values:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            yield re.search(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", words) is not None


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _scalars(inner)
    elif value is not None and not isinstance(value, bool) and value != "":
        yield value


# --- of our conversations


def telling_names(server: type[Server]) -> set[str]:
    """The names of a server's tools and parameters that cannot be everyday words."""
    names = {n for tool in server.tools.values() for n in (tool.name, *(p.name for p in tool.parameters))}
    return {n for n in names if "_" in n}


def of_library(conversations: Iterable[Conversation]) -> Wording:
    """The wording of a data set's user turns."""
    names = {n for server in catalogue() for n in telling_names(load(server).server)}
    return measure([_talk(c) for c in conversations], names)


def _talk(c: Conversation) -> Talk:
    return Talk(
        [turn.user for turn in c.turns],
        [[v for call in turn.calls for v in _values(c, call)] for turn in c.turns],
        len(c.calls),
        sum(bool(turn.calls) for turn in c.turns),
        len({toolbox(c.homes)[call.name][0] for call in c.calls}),
        len(c.tools) + len(c.distractors) + (0 if c.schemas is msgspec.UNSET else len(c.schemas)),
    )


def _values(c: Conversation, call: GroundTruthCall) -> Iterator[Any]:
    """The values of a call's arguments, ids apart."""
    for p in toolbox(c.homes)[call.name][1].parameters:
        if p.name in call.arguments and not list(ids_in(p.hint)):
            yield from _scalars(call.arguments[p.name])


# --- of BFCL's


def of_bfcl(wheel: Path) -> Wording:
    """The wording of BFCL Multi-Turn's base category, read from the wheel of `bfcl-eval`: its other categories repeat those turns.

    Raises OSError for no such file, and KeyError for a wheel without the data.
    """
    with ZipFile(wheel) as archive:
        entries, truths = (list(map(msgspec.json.decode, archive.read(name).splitlines())) for name in (_DATA, _TRUTH))
        docs = {
            Path(name).stem: [msgspec.json.decode(line) for line in archive.read(name).splitlines() if line.strip()]
            for name in archive.namelist()
            if name.startswith(_DOCS) and name.endswith(".json")
        }
    tools = [tool for of_file in docs.values() for tool in of_file]
    parameters = {tool["name"]: list(tool["parameters"]["properties"]) for tool in tools}
    homes = {tool["name"]: stem for stem, of_file in docs.items() for tool in of_file}
    offered = {name: len(docs[stem]) for name, stem in _toolsets(entries, docs).items()}
    truth = {t["id"]: t["ground_truth"] for t in truths}
    talks = [_bfcl_talk(e, truth[e["id"]], parameters, homes, offered) for e in entries]
    return measure(talks, {n for tool in tools for n in (tool["name"], *tool["parameters"]["properties"])})


def _toolsets(entries: list[Any], docs: dict[str, Any]) -> dict[str, str]:
    """The file in which the tools of each class are described: "GorillaFileSystem" -> "gorilla_file_system"."""
    plain = {stem.replace("_", ""): stem for stem in docs}
    special = {"twitterapi": "postingapi", "postingapi": "postingapi", "vehiclecontrolapi": "vehiclecontrol", "travelapi": "travelbooking"}
    out = {}
    for name in {c for e in entries for c in e["involved_classes"]}:
        key = name.lower()
        out[name] = plain.get(key) or plain[special[key]]
    return out


def _bfcl_talk(
    entry: Any, truth: list[list[str]], parameters: dict[str, list[str]], homes: dict[str, str], offered: dict[str, int]
) -> Talk:
    queries = ["\n".join(m["content"] for m in turn if m["role"] == "user") for turn in entry["question"]]
    calls = [[_call(text) for text in turn] for turn in truth]
    return Talk(
        queries,
        [[v for name, positional, named in turn for v in _bfcl_values(parameters[name], positional, named)] for turn in calls],
        sum(map(len, calls)),
        sum(map(bool, calls)),
        len({homes[name] for turn in calls for name, _, _ in turn}),
        sum(offered[name] for name in entry["involved_classes"]),
    )


def _call(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    """A call as BFCL writes it: "mv(source='a', destination='b')"."""
    node: Any = ast.parse(text, mode="eval").body
    return node.func.id, [ast.literal_eval(a) for a in node.args], {k.arg: ast.literal_eval(k.value) for k in node.keywords}


def _bfcl_values(parameters: list[str], positional: list[Any], named: dict[str, Any]) -> Iterator[Any]:
    for name, value in [*zip(parameters, positional, strict=False), *named.items()]:
        if not re.search(r"(?:^|_)ids?$", name):
            yield from _scalars(value)


def rows(conversations: Iterable[Conversation]) -> dict[str, dict[str, float]]:
    """What is measured of a data set, and the same of BFCL Multi-Turn, by name."""
    stored: dict[str, Any] = tomllib.loads(_BFCL.read_text(encoding="utf-8"))
    measured = {"this data set": of_library(conversations), stored["name"]: msgspec.convert(stored["wording"], Wording)}
    return {name: msgspec.structs.asdict(w) for name, w in measured.items()}


def table(conversations: Iterable[Conversation]) -> "pd.DataFrame":
    """The wording of a data set beside BFCL Multi-Turn's: a row each."""
    import pandas as pd  # slow to import, and only tables need it

    return pd.DataFrame.from_dict(rows(conversations), orient="index")
