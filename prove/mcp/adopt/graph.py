"""What depends on what in a foreign server: guessed from names and types, kept only where an execution shows it.

The edges are those of `prove.synthesis.planning.graph` (arXiv:2606.03892, section 3.1), found without forks: each trial is a fresh session.
"""

import json
import time
from typing import Any

import msgspec
import networkx as nx

from prove.mcp.adopt.server import Adopted, ForeignSession, ForeignTool
from prove.mcp.adopt.values import Leaf, arguments, at, filled, fits, leaves, resolved, unlike
from prove.servers.session import Result

TURNS = 3  # plausible arguments tried for each tool
TICK = 1.1  # seconds after which what tells the time, if only in seconds, reads differently


class Probe(msgspec.Struct, frozen=True):
    """A tool's first call on a fresh session: the arguments that succeeded, or those tried first."""

    tool: ForeignTool
    arguments: dict[str, Any]
    result: Result


def build(server: Adopted) -> nx.DiGraph:
    """The graph of a foreign server, in the form of `prove.synthesis.planning.graph.build`; says of itself whether it is `isolated`."""
    graph = nx.DiGraph(server=server.name)
    for tool in server.tools.values():
        graph.add_node(tool.name, writes=not tool.reads, description=tool.description)
    reads = [_probe(server, tool) for tool in server.tools.values() if tool.reads]  # before anything is written anywhere
    time.sleep(TICK)
    steady = _same_in_a_fresh_session(server, reads)
    probes = reads + [_probe(server, tool) for tool in server.tools.values() if not tool.reads]
    for a in (p for p in probes if p.result.ok):
        _explicit_from(graph, server, a, probes)
        if not a.tool.reads:
            _implicit_from(graph, server, a, [p for p in probes if not p.result.ok and p.tool.name != a.tool.name])
    for probe in probes:
        node = graph.nodes[probe.tool.name]
        node["alone"] = probe.arguments if probe.result.ok else None
        node["succeeded"] = probe.result.ok or graph.in_degree(probe.tool.name) > 0
    graph.graph["isolated"] = _isolated(server, graph, steady)
    return graph


def _probe(server: Adopted, tool: ForeignTool) -> Probe:
    tried: list[Probe] = []
    with server.open() as session:
        for turn in range(TURNS):
            given = arguments(tool, turn)
            if given in [p.arguments for p in tried]:
                break
            tried.append(Probe(tool, given, session.call(tool.name, given)))
            if tried[-1].result.ok:
                return tried[-1]
    return tried[0]


# --- explicit: a result holds what another tool asks for


def _explicit_from(graph: nx.DiGraph, server: Adopted, a: Probe, probes: list[Probe]) -> None:
    told = {leaf.value for leaf in leaves(a.arguments)}
    news = [leaf for leaf in leaves(a.result.value) if leaf.value not in told]
    for b in probes:
        for parameter in b.arguments:
            found = next((leaf for leaf in news if fits(leaf, parameter, b.tool)), None)
            if found and b.tool.name != a.tool.name and not graph.has_edge(a.tool.name, b.tool.name):
                _try_explicit(graph, server, a, b, parameter, found)


def _try_explicit(graph: nx.DiGraph, server: Adopted, a: Probe, b: Probe, parameter: str, leaf: Leaf) -> None:
    """B must refuse a value that A did not return, and take the one that it did."""
    spec = resolved(b.tool.input_schema["properties"][parameter], b.tool.input_schema)
    with server.open() as session:
        first = session.call(a.tool.name, a.arguments)
        try:
            value = at(first.value, leaf.path)
        except LookupError:
            return  # not the same in every session
        if session.call(b.tool.name, b.arguments | {parameter: filled(spec, b.tool, unlike(value))}).ok:
            return
        given = b.arguments | {parameter: filled(spec, b.tool, value)}
        if session.call(b.tool.name, given).ok:
            why = f"{a.tool.name} returns {value!r}, which {b.tool.name} takes as {parameter}, and {unlike(value)!r} it does not"
            calls = [(a.tool.name, a.arguments), (b.tool.name, given)]
            _add(graph, "explicit", why, calls, {"parameter": parameter, "path": list(leaf.path)})


# --- implicit: a tool refuses until another has run


def _implicit_from(graph: nx.DiGraph, server: Adopted, a: Probe, refused: list[Probe]) -> None:
    """All of them before A and after it in one session; what then succeeds is tried again alone with A."""
    with server.open() as session:
        still = [b for b in refused if not _run(session, b).ok]
        helped = [b for b in still if _run(session, b).ok] if _run(session, a).ok else []
    for b in helped:
        if graph.has_edge(a.tool.name, b.tool.name):
            continue
        with server.open() as session:
            results = [_run(session, probe).ok for probe in (b, a, b)]
        if results == [False, True, True]:
            why = f"{b.tool.name} refuses before {a.tool.name} and succeeds after it"
            _add(graph, "implicit", why, [(p.tool.name, p.arguments) for p in (b, a, b)], None)


def _run(session: ForeignSession, probe: Probe) -> Result:
    return session.call(probe.tool.name, probe.arguments)


def _add(graph: nx.DiGraph, kind: str, why: str, calls: list[tuple[str, dict[str, Any]]], flow: dict[str, Any] | None) -> None:
    shown = [{"name": name, "arguments": json.loads(json.dumps(given))} for name, given in calls]
    graph.add_edge(calls[-2][0], calls[-1][0], kind=kind, why=why, calls=shown, flow=flow)


# --- what is not assumed


def _same_in_a_fresh_session(server: Adopted, probes: list[Probe]) -> list[Probe]:
    with server.open() as session:
        return [p for p in probes if _run(session, p).text == p.result.text]


def _isolated(server: Adopted, graph: nx.DiGraph, steady: list[Probe]) -> bool | None:
    """Whether what one session does another does not see; None where nothing was written that could be seen.

    All that was tried on the way must have left the reads of a fresh session as they were, and of two sessions at once the one
    must go on refusing what the other has just made possible.
    """
    if len(_same_in_a_fresh_session(server, steady)) < len(steady):
        return False
    for _, b, edge in graph.edges(data=True):
        if edge["kind"] == "implicit":
            deed, again = edge["calls"][1:]
            with server.open() as one, server.open() as other:
                return one.call(**deed).ok and not other.call(b, again["arguments"]).ok
    return None


def transcript(session: ForeignSession, calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """What the calls give, one after the other: all that can be compared of two foreign sessions."""
    return [session.call(name, given).text for name, given in calls]
