"""Which tools depend on which (arXiv:2606.03892, section 3.1), without asking a language model.

An edge A -> B is *explicit* if a result of A holds an id that B requires, and *implicit* if B refuses before A and succeeds
after it. Types propose the explicit ones; every edge is there only because an execution showed it, and carries the calls
that did.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, get_args, get_origin

import networkx as nx

from prove import run
from prove.servers.catalog import load
from prove.servers.schema import bare, fields_of, is_id
from prove.servers.server import stable_hash
from prove.servers.session import Session
from prove.servers.tools import Tool
from prove.synthesis.planning.values import NoValue, draw
from prove.synthesis.planning.wander import arguments_for, curated, wander

WORLDS = range(4)
WALK = 250  # calls of the wanderer a world: the states in which edges are looked for
TRIES = 12  # draws of arguments for one pair in one state
REPAIRABLE = ("failed_precondition", "not_found", "resource_exhausted")


def build(server: str, cache_folder: Path | None = None) -> nx.DiGraph:
    """The certified graph of a server; taken from the cache where its code has not changed."""
    path = (cache_folder or run.cache()) / "graphs" / f"{server}-{_version(server)}.json"
    if path.exists():
        return nx.node_link_graph(json.loads(path.read_text(encoding="utf-8")), edges="edges")
    graph = _search(server)
    run.write_json(path, node_link(graph))
    return graph


def node_link(graph: nx.DiGraph) -> dict[str, Any]:
    """The graph as node-link data, the same bytes for the same graph."""
    data: dict[str, Any] = nx.node_link_data(graph, edges="edges")
    return data


def _version(server: str) -> str:
    """A digest of the domain's code and phrases: what the graph depends on."""
    folder = Path(load(server).package.__path__[0])
    content = b"".join(p.name.encode() + p.read_bytes() for p in sorted(folder.iterdir()) if p.suffix in (".py", ".toml"))
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _search(server: str) -> nx.DiGraph:
    tools = load(server).server.tools
    graph = nx.DiGraph(server=server)
    for tool in tools.values():
        graph.add_node(tool.name, writes=tool.marks.writes, description=tool.description)
    for seed in WORLDS:
        session = Session.open(server, seed)
        rng = Random(stable_hash("graph", server, seed))
        for visit in wander(session, server, WALK, rng, mistakes=0.0):
            if visit.result.ok:
                _explicit_from(graph, session, server, visit.tool, visit.arguments, visit.result.value, rng)
            elif visit.result.code in REPAIRABLE:
                _implicit_to(graph, session, server, visit.tool, visit.arguments, rng)
    return graph


# --- explicit


def _explicit_from(graph: nx.DiGraph, session: Session, server: str, a: Tool, given: dict[str, Any], result: Any, rng: Random) -> None:
    """Use what A returned in every tool that requires such an id, if that has not been shown yet."""
    found = _fresh_ids(a, given, result)
    for b in session.servers[server].tools.values():
        for parameter in (p for p in b.parameters if p.required and p.id_type in found):
            if b.name == a.name or graph.has_edge(a.name, b.name):
                continue
            for _ in range(TRIES):
                try:
                    drawn = arguments_for(session, server, b, rng, curated(server))
                except NoValue:
                    break
                drawn[parameter.name] = rng.choice(found[parameter.id_type])
                if session.fork().call(b.name, drawn).ok:
                    why = f"{a.name} returns {drawn[parameter.name]!r}, which {b.name} takes as {parameter.name}"
                    _add(graph, a.name, b.name, "explicit", why, [(a.name, given), (b.name, drawn)])
                    break


def _fresh_ids(tool: Tool, given: dict[str, Any], result: Any) -> dict[Any, list[str]]:
    """The ids in a result, by type, that the call was not told."""
    told = {v for v in given.values() if isinstance(v, str)}
    out: dict[Any, list[str]] = {}
    for id_type, value in _typed_ids(bare(tool.returns), result):
        if value not in told:
            out.setdefault(id_type, []).append(value)
    return out


def _typed_ids(hint: Any, value: Any) -> Iterator[tuple[Any, str]]:
    core = bare(hint)
    if value is None:
        return
    if is_id(core):
        yield core, value
    elif get_origin(core) is list:
        for item in value:
            yield from _typed_ids(get_args(core)[0], item)
    else:
        for name, inner in fields_of(core).items():
            yield from _typed_ids(inner, value[name])


# --- implicit


def _implicit_to(graph: nx.DiGraph, session: Session, server: str, b: Tool, refused: dict[str, Any], rng: Random) -> None:
    """Look for a write after which the refused call succeeds."""
    ids = b.ids_of(refused)
    for a in session.servers[server].tools.values():
        if not a.marks.writes or a.name == b.name or graph.has_edge(a.name, b.name):
            continue
        for _ in range(TRIES):
            fork = session.fork()
            try:
                drawn = _about(fork, server, a, ids, rng)
            except NoValue:
                break
            if fork.call(a.name, drawn).ok and fork.call(b.name, refused).ok:
                why = f"{b.name} refuses before {a.name} and succeeds after it"
                _add(graph, a.name, b.name, "implicit", why, [(b.name, refused), (a.name, drawn), (b.name, refused)])
                break


def _about(session: Session, server: str, tool: Tool, ids: dict[Any, str], rng: Random) -> dict[str, Any]:
    """Arguments for a tool that are about the given records where they can be."""
    live, values = session.servers[server], curated(server)
    return {p.name: ids.get(p.id_type) or draw(live, tool, p, rng, values) for p in tool.parameters if p.required or rng.random() < 0.3}


def _add(graph: nx.DiGraph, a: str, b: str, kind: str, why: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    graph.add_edge(a, b, kind=kind, why=why, calls=[{"name": n, "arguments": args} for n, args in calls])


# --- showing


def summary(graph: nx.DiGraph) -> str:
    """A line a tool: what it leads to."""
    lines = [f"{graph.graph['server']}: {graph.number_of_nodes()} tools, {graph.number_of_edges()} edges"]
    for name in graph:
        after = [f"{b}{'' if e['kind'] == 'explicit' else ' (implicit)'}" for _, b, e in graph.out_edges(name, data=True)]
        lines.append(f"  {name} -> {', '.join(after) or 'nothing'}")
    return "\n".join(lines)


def explained(graph: nx.DiGraph, tool: str) -> str:
    """Why each edge from and to a tool is there, with the calls that show it. Raises LookupError for an unknown tool."""
    if tool not in graph:
        raise LookupError(f"there is no tool {tool!r}; there are: {', '.join(graph)}")
    edges = [*graph.in_edges(tool, data=True), *graph.out_edges(tool, data=True)]
    lines = []
    for a, b, edge in edges:
        lines.append(f"{a} -> {b} ({edge['kind']}): {edge['why']}")
        lines += [f"    {c['name']}({', '.join(f'{k}={v!r}' for k, v in c['arguments'].items())})" for c in edge["calls"]]
    return "\n".join(lines) or f"{tool} depends on nothing, and nothing on it"
