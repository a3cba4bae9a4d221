"""Our own evaluation: conversations whose worlds training never saw, played live."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

import prove
from prove.benchmarks import contract, suite
from prove.benchmarks.statistics import Estimate, difference, estimate
from prove.episode import Episode, Limits, Policy, Reply, ToolCall, play
from prove.policies import Oracle, parse_arguments, with_text_arguments
from prove.records import Conversation, read_conversations
from prove.rewards import explain
from prove.rewards.paper import COMPONENTS


class Score(msgspec.Struct, frozen=True):
    """How one conversation went. Components that do not apply are None."""

    id: str
    kind: str
    goal: bool
    reward: float
    calls: int
    ground_truth: int
    validity: float | None = None
    coverage: float | None = None
    efficiency: float | None = None
    name: float | None = None
    argument: float | None = None
    abstention: float | None = None


def score(episode: Episode) -> Score:
    """The score of a finished episode."""
    why = explain(episode.trajectory())
    return Score(
        episode.conversation.id,
        episode.conversation.kind,
        episode.goal_reached(),
        why.total,
        len(episode.calls),
        len(episode.conversation.calls),
        **why.values,
    )


def evaluate(
    policy: Policy,
    conversations: Sequence[Conversation],
    limits: Limits | None = None,
    batch: int = 16,
    keep: Callable[[Episode, Score], None] = lambda episode, score: None,
) -> list[Score]:
    """Play every conversation, `batch` at a time; `keep` is told of each as soon as it is finished."""
    scores = []
    for start in range(0, len(conversations), batch):
        for episode in play(policy, conversations[start : start + batch], limits):
            scores.append(score(episode))
            keep(episode, scores[-1])
    return scores


def by_server(scores: dict[str, Sequence[Score]], trained_on: Collection[str]) -> dict[str, list[Score]]:
    """The scores of each model on the servers that training had and, apart, on those that it never saw; an id begins with its server."""
    out: dict[str, list[Score]] = {}
    for name, found in scores.items():
        for s in found:
            group = "seen" if s.id.rsplit("-", 2)[0] in trained_on else "unseen"
            out.setdefault(f"{name}, {group} servers", []).append(s)
    return out


def summary(scores: Sequence[Score], seed: int = 0) -> dict[str, Estimate]:
    """The mean of every metric with its interval; of `calls`, the ratio to the ground truth's where there is one."""
    columns: dict[str, list[float]] = {
        "goal": [float(s.goal) for s in scores],
        "reward": [s.reward for s in scores],
        "calls_per_ground_truth": [s.calls / s.ground_truth for s in scores if s.ground_truth],
    }
    for name in COMPONENTS:
        columns[name] = [value for s in scores if (value := getattr(s, name)) is not None]
    return {name: estimate(values, seed) for name, values in columns.items() if values}


def gains(scores: dict[str, Sequence[Score]], seed: int = 0) -> dict[str, dict[str, Estimate]]:
    """What each model gains over each before it ("grpo - warm"), paired by conversation, for every metric both have."""
    names = list(scores)
    pairs = [(after, before) for i, after in enumerate(names) for before in names[:i]]
    return {f"{after} - {before}": _gain(scores[after], scores[before], seed) for after, before in pairs}


def _gain(after: Sequence[Score], before: Sequence[Score], seed: int) -> dict[str, Estimate]:
    out = {}
    for metric in ("goal", "reward", *COMPONENTS):
        pairs = [(getattr(a, metric), getattr(b, metric)) for a, b in zip(after, before, strict=True)]
        both = [(float(a), float(b)) for a, b in pairs if a is not None and b is not None]
        if both:
            out[metric] = difference([a for a, _ in both], [b for _, b in both], seed)
    return out


def as_numbers(summary: dict[str, Estimate]) -> dict[str, Any]:
    """A summary as plain data, for `numbers.json`."""
    return {name: msgspec.to_builtins(value) for name, value in summary.items()}


class Heldout:
    """Our conversations under the contract of all benchmarks, for any policy that answers messages: the tasks of the suite, of which a
    subset is a level or a server, or those of a `file` that `prove synthesize` has made, of which a subset is a server.
    """

    def __init__(self, file: str = "") -> None:
        if file:
            path = Path(file)
            if not path.is_file():
                raise contract.NotInstalled(f"there is no file {path}: make one with prove synthesize --split heldout")
            self.suite, tasks, self.version = None, read_conversations(path), prove.__version__
            self.about: dict[str, Any] = {"conversations": suite.digest(path.read_bytes())}
        else:
            self.suite = suite.read()
            tasks, self.version = self.suite.tasks, self.suite.header.version
            self.about = {"tasks": self.suite.header.digest, "replies": suite.LIMITS.assistant_turns}
        self.conversations = {c.id: c for c in tasks}

    def tasks(self, subset: str) -> list[str]:
        subsets: dict[str, list[str]] = {}
        for c in self.conversations.values():
            for name in (c.server, *([f"level-{suite.level(c.id)}"] if self.suite else [])):
                subsets.setdefault(name, []).append(c.id)
        if subset and subset not in subsets:
            kinds = "level or server" if self.suite else "server"
            raise LookupError(f"these tasks have no {kinds} {subset!r}; they have: {', '.join(sorted(subsets))}")
        return subsets[subset] if subset else list(self.conversations)

    def play(self, task: str, trial: int, agent: contract.Policy, user: contract.Policy | None) -> contract.Outcome:
        episode = self._episode(task)
        while not episode.done:
            episode.step(_as_reply(agent([with_text_arguments(m) for m in episode.messages], episode.tools)))
        found = score(episode)
        parts = {name: value for name in ("reward", *COMPONENTS) if (value := getattr(found, name)) is not None}
        if self.suite:
            parts |= dict.fromkeys(suite.groups(episode.conversation), float(found.goal))
        return contract.Outcome(float(found.goal), parts, "" if found.goal else "goal missed", found.calls, episode.messages)

    def gold(self, task: str) -> contract.Policy:
        shadow, oracle = self._episode(task), Oracle(attempts=False)

        def policy(messages: list[contract.Message], tools: list[dict[str, Any]]) -> contract.Message:
            [reply] = oracle.reply([shadow])
            shadow.step(reply)
            return contract.say(reply.content, *((call.name, call.arguments) for call in reply.calls))

        return policy

    def _episode(self, task: str) -> Episode:
        conversation = self.conversations[task]
        return suite.Task(conversation, self.suite.header.places) if self.suite else Episode(conversation)


def _as_reply(message: contract.Message) -> Reply:
    calls = [ToolCall(contract.plain(name), contract.plain(parse_arguments(text))) for _, name, text in contract.calls_of(message)]
    return Reply(contract.plain(message.get("content") or ""), calls)
