"""The card of a data set: a README whose YAML header hubs read, written from what is in the data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

from prove.records import Conversation
from prove.synthesis.data.dataset import read_rejects
from prove.synthesis.data.report import report, tools_called

LICENCE = "apache-2.0"
#: What was made elsewhere, with its own licence and where to find it.
OUTSIDE = {
    "nvidia/When2Call": "cc-by-4.0",
    "MadeAgents/xlam-irrelevance-7.5k": "cc-by-4.0",
}

_TABLES = {
    "kinds": "Kinds of conversations",
    "levels": "Information that a query gives",
    "queries": "Queries in a conversation",
    "calls": "Ground-truth calls in a conversation (8: eight or more)",
    "chains": "Calls in the longest chain of which each needs the one before",
    "recoveries": "How the assistant recovers from a failure",
    "necessity": "What is lost without a call",
}


def card(splits: Mapping[str, Sequence[Conversation]], files: Sequence[Path], heldout_servers: Sequence[str] = ()) -> str:
    """The card of these splits, made from those files of `prove synthesize`."""
    conversations = [c for split in splits.values() for c in split]
    rejects = sum((read_rejects(f) for f in files if _rejects(f).exists()), Counter[str]())
    facts = report(conversations, rejects)
    sources = Counter(c.source for c in conversations)
    sections = [
        _header(list(splits), len(conversations), sources),
        _what(conversations, sources),
        _splits(splits, heldout_servers),
        *(_shares(title, facts[key]) for key, title in _TABLES.items() if facts[key]),
        _shares("Robustness knobs", {"distractors": facts["knobs"]["distractors"], "enums stripped": facts["knobs"]["stripped_enums"]}),
        _lengths(conversations),
        _wording(facts["wording"]),
        _yield(facts["yield"], rejects),
        _plans(files),
        _USE,
    ]
    return "\n\n".join(sections) + "\n"


def _header(splits: list[str], n: int, sources: Counter[str]) -> str:
    licences = sorted({OUTSIDE.get(s, LICENCE) for s in sources})
    lines = ["pretty_name: PROVE conversations", "license:", *(f"- {name}" for name in licences)]
    lines += ["language:", "- en", "task_categories:", "- text-generation", "tags:"]
    lines += [f"- {tag}" for tag in ("tool-use", "function-calling", "multi-turn", "reinforcement-learning", "synthetic")]
    lines += ["size_categories:", f"- {_size(n)}", "configs:", "- config_name: default", "  data_files:"]
    for split in splits:
        lines += [f"  - split: {split}", f"    path: data/{split}.parquet"]
    return "\n".join(["---", *lines, "---"])


def _size(n: int) -> str:
    """The size class that hubs know."""
    steps = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
    return next((name for below, name in steps if n < below), "n>1M")


def _what(conversations: Sequence[Conversation], sources: Counter[str]) -> str:
    servers = {home for c in conversations for home in c.homes}
    tools = {(home, tool.name) for c in conversations for home, tool in tools_called(c)}
    return "\n".join(
        [
            "# PROVE conversations",
            "",
            f"{len(conversations):,} conversations between a user and an assistant that acts through the tools of live servers: "
            f"{len(servers)} servers, {len(tools)} different tools called. The ground truth of each one is certified by execution: it "
            "replays without error, every argument traces to the user's words or to an earlier result, no call is superfluous, and "
            "its order constraints are those that execution needs. Method: arXiv:2606.03892, in an independent implementation.",
            "",
            *_table(("words by", "conversations", "licence"), [(s, f"{n:,}", OUTSIDE.get(s, LICENCE)) for s, n in sorted(sources.items())]),
        ]
    )


def _splits(splits: Mapping[str, Sequence[Conversation]], heldout_servers: Sequence[str]) -> str:
    rows = [
        (name, f"{len(cs):,}", str(len({c.server for c in cs})), str(len({(c.server, c.seed) for c in cs}))) for name, cs in splits.items()
    ]
    apart = f" Held out as a whole: {', '.join(sorted(heldout_servers))}." if heldout_servers else ""
    return "\n".join(
        [
            "## Splits",
            "",
            "No two splits share a world, and what is held out as a server is in no other split." + apart,
            "",
            *_table(("split", "conversations", "servers", "worlds"), rows),
        ]
    )


def _shares(title: str, shares: Mapping[str, float]) -> str:
    return "\n".join([f"## {title}", "", *_table(("what", "share"), [(k, f"{100 * v:.1f} %") for k, v in shares.items()])])


def _lengths(conversations: Sequence[Conversation]) -> str:
    measures = {
        "turns of the user": [len(c.turns) for c in conversations],
        "ground-truth calls": [len(c.calls) for c in conversations],
        "candidate tools": [len(c.tools) + len(c.distractors) for c in conversations],
        "words in a turn of the user": [len(t.user.split()) for c in conversations for t in c.turns],
        "words in a reply": [len(t.reply.split()) for c in conversations for t in c.turns],
    }
    rows = [(name, f"{fmean(v):.1f}", *_spread(v)) for name, v in measures.items()]
    return "\n".join(["## Lengths", "", *_table(("what", "mean", "5 %", "median", "95 %", "most"), rows)])


def _spread(values: Sequence[int]) -> tuple[str, ...]:
    cuts = quantiles(values, n=20, method="inclusive") if len(values) > 1 else [values[0]] * 19
    return tuple(f"{v:g}" for v in (cuts[0], cuts[9], cuts[18], max(values)))


_WORDING = {
    "queries": "queries",
    "mean_words": "words a query, mean",
    "p90_words": "words a query, 90 %",
    "sentences": "sentences a query",
    "distinct_2": "distinct pairs of words, first 5,000 words",
    "distinct_3": "distinct triples of words, first 5,000 words",
    "openings": "queries in the 20 commonest openings of three words",
    "skeletons": "queries alike once values are masked, of 734",
    "conditional": 'queries with "if"',
    "superlative": "queries with a superlative",
    "every": 'queries with "all the" or "every"',
    "names": "queries that name a tool or a parameter",
    "unsaid": "argument values, ids apart, not literally in the words",
    "calls": "calls a conversation",
    "calls_a_turn": "calls a turn with calls",
    "toolsets": "conversations over two toolsets or more",
    "candidates": "tools offered",
}


def _wording(measured: Mapping[str, Mapping[str, float]]) -> str:
    """How the queries read, beside those of a benchmark, measured by the same code."""
    figure = lambda v: f"{v:,.0f}" if v >= 100 else f"{v:.3g}"
    cells = [(text, *(figure(row[name]) for row in measured.values())) for name, text in _WORDING.items()]
    return "\n".join(["## Wording", "", *_table(("what", *measured), cells)])


def _yield(share: float, rejects: Counter[str]) -> str:
    if not rejects:
        return "## Yield\n\nNothing is known of rejected tries: no file of rejects lies beside the conversations, or it is empty."
    told = f"{100 * share:.1f} % of all tries are in the data. The others, by reason:"
    rows = [(reason, f"{n:,}") for reason, n in rejects.most_common()]
    return "\n".join(["## Yield", "", told, "", *_table(("reason", "tries"), rows)])


def _plans(files: Sequence[Path]) -> str:
    """The plan of each file, seed and all: `prove synthesize` makes the same bytes from it."""
    lines = ["## Made from", ""]
    for file in files:
        beside = _rejects(file)
        plan = beside.read_text(encoding="utf-8").splitlines()[0] if beside.exists() else "its plan is not known"
        lines += [f"- `{file.name}`: `{plan}`"]
    return "\n".join(lines)


def _rejects(file: Path) -> Path:
    return file.with_name(file.stem + ".rejects.jsonl")


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return [line(head), line(["---", *["--:"] * (len(head) - 1)]), *map(line, rows)]


_USE = """## Use

```python
from datasets import load_dataset
from prove.synthesis.data.export import record

data = load_dataset("path/of/this/folder")
conversation = record(data["train"][0])  # arguments, origins and values are JSON text in a row
```

The same conversations as JSON lines, one a line, are in `jsonl/`: `prove score`, `prove verify` and the trainer read those."""
