"""What `prove adopt` says of a foreign server."""

from collections.abc import Iterator
from pathlib import Path

from prove.mcp.adopt.graph import build
from prove.mcp.adopt.play import evaluate, tasks
from prove.mcp.adopt.server import Adopted
from prove.policies import SILENT, Oracle
from prove.records import write_conversations
from prove.synthesis.planning.graph import summary

_ISOLATION = {
    True: "sessions are isolated: what one did, another did not see",
    False: "sessions are NOT isolated: what one did, another saw; give each its own state, for example with {folder} in the command",
    None: "whether sessions are isolated could not be tried: no tool waits for another's deed",
}


def report(server: Adopted, out: Path | None = None) -> Iterator[str]:
    """Line by line: the graph, tools that never succeeded, isolation, tasks and who reaches their goals; tasks go to `out`."""
    graph = build(server)
    yield summary(graph)
    never = [name for name, node in graph.nodes(data=True) if not node["succeeded"]]
    if never:
        yield f"never succeeded with made-up arguments: {', '.join(never)}"
    yield _ISOLATION[graph.graph["isolated"]]
    made = list(tasks(server, graph))
    reached = [sum(score.goal for score in evaluate(policy, made, server)) for policy in (Oracle(), SILENT)]
    yield f"{len(made)} tasks that repeat; the oracle reaches {reached[0]} goals, silence {reached[1]}"
    if out:
        write_conversations(out, made)
        yield f"tasks in {out}"
    yield f"{server.opened} sessions were opened and ended"
