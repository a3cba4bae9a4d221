"""How users' queries read: how long, how varied, and whether they give away names that only the tools' schemas know.

The same is measured of BFCL Multi-Turn's own user turns (`wording.toml` beside this file), so that there is something to compare with.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any
from zipfile import ZipFile

import msgspec
import pandas as pd

from prove.records import Conversation
from prove.servers.catalog import catalogue, load
from prove.servers.server import Server

TRIGRAMS = 5000  # the ratio falls with every further text: it is always taken over so many
_BFCL = Path(__file__).with_suffix(".toml")
_DATA = "bfcl_eval/data/BFCL_v4_multi_turn_base.json"
_DOCS = "bfcl_eval/data/multi_turn_func_doc/"


class Wording(msgspec.Struct, frozen=True):
    """What is measured of queries."""

    queries: int
    mean_words: float
    distinct_3: float  # distinct among the first `TRIGRAMS` trigrams of words, queries in a seeded order
    names: float  # share of queries with a tool's or a parameter's name, as written in the schema


def measure(queries: Sequence[str], names: Iterable[str], seed: int = 0) -> Wording:
    """The wording of queries to an assistant whose tools and parameters have those names. Raises LookupError for no query.

    A name without an underscore ("amount", "move") is an everyday word: only the others can be given away.
    """
    if not queries:
        raise LookupError("there is no query to measure the wording of")
    telling = re.compile(rf"\b(?:{'|'.join(sorted(n for n in names if '_' in n)) or '(?!)'})\b")
    grams = [gram for text in Random(seed).sample(queries, len(queries)) for gram in trigrams(text)][:TRIGRAMS]
    return Wording(
        queries=len(queries),
        mean_words=fmean(len(text.split()) for text in queries),
        distinct_3=len(set(grams)) / len(grams) if grams else 1.0,
        names=fmean(bool(telling.search(text)) for text in queries),
    )


def telling_names(server: type[Server]) -> set[str]:
    """The names of a server's tools and parameters that cannot be everyday words."""
    names = {n for tool in server.tools.values() for n in (tool.name, *(p.name for p in tool.parameters))}
    return {n for n in names if "_" in n}


def trigrams(text: str) -> list[tuple[str, ...]]:
    """Every three words in a row, case and punctuation ignored."""
    words = re.findall(r"[\w'@#/.-]*\w", text.casefold())
    return list(zip(words, words[1:], words[2:], strict=False))


def of_library(conversations: Iterable[Conversation]) -> Wording:
    """The wording of a data set's user turns."""
    names = {n for server in catalogue() for n in telling_names(load(server).server)}
    return measure([turn.user for c in conversations for turn in c.turns], names)


def of_bfcl(wheel: Path) -> Wording:
    """The wording of BFCL Multi-Turn's base category, read from the wheel of `bfcl-eval`: its other categories repeat those turns.

    Raises OSError for no such file, and KeyError for a wheel without the data.
    """
    with ZipFile(wheel) as archive:
        entries = list(map(msgspec.json.decode, archive.read(_DATA).splitlines()))
        files = [name for name in archive.namelist() if name.startswith(_DOCS) and name.endswith(".json")]
        tools = [msgspec.json.decode(line) for name in files for line in archive.read(name).splitlines() if line.strip()]
    queries = [m["content"] for entry in entries for turn in entry["question"] for m in turn if m["role"] == "user"]
    return measure(queries, {n for tool in tools for n in (tool["name"], *tool["parameters"]["properties"])})


def table(conversations: Iterable[Conversation]) -> pd.DataFrame:
    """The wording of a data set beside BFCL Multi-Turn's: a row each."""
    stored: dict[str, Any] = tomllib.loads(_BFCL.read_text(encoding="utf-8"))
    rows = {"this data set": of_library(conversations), stored["name"]: msgspec.convert(stored["wording"], Wording)}
    return pd.DataFrame.from_dict({name: msgspec.structs.asdict(w) for name, w in rows.items()}, orient="index")
