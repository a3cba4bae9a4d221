"""The paper's way to a dependency graph (arXiv:2606.03892, section 3.1): a language model classifies every pair of tools.

Here the graph is found by execution; the model's is only held against it.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Literal

import msgspec
import networkx as nx

from prove.servers.catalog import load
from prove.servers.tools import Tool
from prove.synthesis.teachers.llm import LLM

_SYSTEM = """You are given two tools of one server. Say which depends on which.
explicit: a result of the first holds something that the second requires as an argument.
implicit: the second refuses until the first has changed the server's state.
Leave out what only often goes together. There can be no edge, one, or one in each direction.
Answer with one JSON object and nothing else: {"edges": [{"first": "...", "second": "...", "kind": "explicit"}]}"""


class Edge(msgspec.Struct, frozen=True):
    first: str
    second: str
    kind: Literal["explicit", "implicit"]


class Verdict(msgspec.Struct, frozen=True):
    """A model's answer on one pair."""

    edges: list[Edge] = []


class Agreement(msgspec.Struct, frozen=True):
    """The model's edges against those that execution showed. A share is None where there is nothing to take it of."""

    claimed: int
    shown: int
    both: int
    same_kind: int  # of those in both, how many are of the kind that was shown
    unreadable: int  # pairs without a verdict

    @property
    def precision(self) -> float | None:
        return self.both / self.claimed if self.claimed else None

    @property
    def recall(self) -> float | None:
        return self.both / self.shown if self.shown else None

    def __str__(self) -> str:
        share = lambda s: "-" if s is None else f"{s:.3f}"
        return (
            f"precision {share(self.precision)} of {self.claimed} claimed edges, recall {share(self.recall)} of {self.shown} shown ones, "
            f"{self.same_kind} of {self.both} of the right kind, {self.unreadable} verdicts unreadable"
        )


def judge(graph: nx.DiGraph, llm: LLM, concurrency: int = 8) -> Agreement:
    """Ask the model about every pair of the graph's tools, and compare. Raises `RunError` without an endpoint."""
    tools = load(graph.graph["server"]).server.tools
    pairs = list(combinations(graph.nodes, 2))
    with ThreadPoolExecutor(concurrency) as pool:
        verdicts = list(pool.map(lambda pair: _verdict(llm, tools[pair[0]], tools[pair[1]]), pairs))
    claimed = {(e.first, e.second): e.kind for v in verdicts if v for e in v.edges}
    shown = {(a, b): edge["kind"] for a, b, edge in graph.edges(data=True)}
    both = claimed.keys() & shown.keys()
    return Agreement(len(claimed), len(shown), len(both), sum(claimed[e] == shown[e] for e in both), sum(v is None for v in verdicts))


def _verdict(llm: LLM, a: Tool, b: Tool) -> Verdict | None:
    """The model's edges between two tools; None if its answer cannot be read, or is about others."""
    question = "\n".join(json.dumps(_described(tool)) for tool in (a, b))
    text = llm.ask([{"role": "system", "content": _SYSTEM}, {"role": "user", "content": question}]).rsplit("</think>", 1)[-1]
    try:
        verdict = msgspec.json.decode(text[text.find("{") : text.rfind("}") + 1], type=Verdict)
    except msgspec.DecodeError:
        return None
    return verdict if all({e.first, e.second} == {a.name, b.name} for e in verdict.edges) else None


def _described(tool: Tool) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.input_schema, "result": tool.output_schema}
