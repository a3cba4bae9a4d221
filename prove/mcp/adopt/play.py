"""Episodes on a foreign server: tasks made of its tools and certified edges, played and scored like any other conversation."""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import date
from typing import Any

import networkx as nx

from prove.benchmarks.heldout import Score, score
from prove.episode import Episode, Limits, Policy
from prove.mcp.adopt.graph import TICK, transcript
from prove.mcp.adopt.server import Adopted, ForeignSession
from prove.records import Conversation, GroundTruthCall, Turn

Calls = list[tuple[str, dict[str, Any]]]


def tasks(server: Adopted, graph: nx.DiGraph) -> Iterator[Conversation]:
    """One conversation a tool that succeeds alone, one an edge. Left out where two fresh sessions give different results."""
    singles = [([(name, node["alone"])], None) for name, node in graph.nodes(data=True) if node["alone"] is not None]
    pairs = [([(c["name"], c["arguments"]) for c in edge["calls"][-2:]], edge["flow"]) for *_, edge in graph.edges(data=True)]
    once = [_afresh(server, calls) for calls, _ in singles + pairs]
    time.sleep(TICK)
    for number, (calls, flow) in enumerate(singles + pairs):
        if _afresh(server, calls) == once[number]:
            yield _conversation(server, f"{server.name}-{number:03}", calls, flow)


def _afresh(server: Adopted, calls: Calls) -> list[str]:
    with server.open() as session:
        return transcript(session, calls)


def _conversation(server: Adopted, name: str, given: Calls, flow: dict[str, Any] | None) -> Conversation:
    origins = [dict.fromkeys(arguments, "user") for _, arguments in given]
    if flow:
        origins[1][flow["parameter"]] = f"c1: {'.'.join(map(str, flow['path']))}"
    calls = [GroundTruthCall("c1", *given[0], origin=origins[0])]
    calls += [GroundTruthCall("c2", *call, after=["c1"], origin=origins[1]) for call in given[1:]]
    return Conversation(
        id=name,
        server=server.name,
        seed=0,
        kind="multi_turn",
        persona="",
        today=date.today().isoformat(),  # a foreign server lives in our time
        tools=list(server.tools),
        distractors=[],
        stripped_enums=False,
        turns=[Turn(" Then: ".join(_asked(server, call) for call in calls), "complete", calls, "Done.")],
        certificate=None,
        split="heldout",
        source="adopted",
    )


def _asked(server: Adopted, call: GroundTruthCall) -> str:
    """What to do in the tool's own words, with the values that the user has to say."""
    what = server.tools[call.name].description.split("\n")[0].split(". ")[0].rstrip(".")
    said = [
        f"{name}: {value}" if call.origin[name] == "user" else f"{name}: from the result before" for name, value in call.arguments.items()
    ]
    return f"{what} ({'; '.join(said)})." if said else f"{what}."


class ForeignEpisode(Episode):
    """An episode on an adopted server. The goal is reached where every result of the ground truth has been seen."""

    def __init__(self, conversation: Conversation, session: ForeignSession, wanted: list[str], limits: Limits | None = None) -> None:
        super().__init__(conversation, limits, session)
        self.wanted = wanted

    def _candidates(self) -> dict[str, dict[str, Any]]:
        return {name: tool.input_schema for name, (_, tool) in self.session.tools.items() if name in self.conversation.tools}

    def goal_reached(self) -> bool:
        """Whether each result of the ground truth came, successes only, as often as it should."""
        seen = [result.text for result in self.results if result.ok]
        return all(seen.count(text) >= self.wanted.count(text) for text in self.wanted)


def play(policy: Policy, conversations: Iterable[Conversation], server: Adopted, limits: Limits | None = None) -> Iterator[ForeignEpisode]:
    """Play each conversation to its end, on a session of its own; the ground truth is played on another one first."""
    for conversation in conversations:
        with ExitStack() as stack:
            reference, session = stack.enter_context(server.open()), stack.enter_context(server.open())
            wanted = transcript(reference, [(c.name, c.arguments) for c in conversation.calls])
            episode = ForeignEpisode(conversation, session, wanted, limits)
            while not episode.done:
                episode.step(policy.reply([episode])[0])
            yield episode


def evaluate(policy: Policy, conversations: Iterable[Conversation], server: Adopted, limits: Limits | None = None) -> list[Score]:
    """The score of each conversation, as `prove.benchmarks.heldout.evaluate` gives it for servers of the library."""
    return [score(episode) for episode in play(policy, conversations, server, limits)]
