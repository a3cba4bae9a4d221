"""Our own evaluation: conversations whose worlds training never saw, played live."""

import hashlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

import prove
from prove.benchmarks import contract
from prove.benchmarks.statistics import Estimate, difference, estimate
from prove.episode import Episode, Limits, Policy, Reply, ToolCall, play
from prove.policies import Oracle, parse_arguments, with_text_arguments
from prove.records import Conversation, read_conversations
from prove.rewards import explain
from prove.rewards.reward import COMPONENTS


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
        **{name: getattr(why, name) for name in COMPONENTS},
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
    """The same conversations under the contract of all benchmarks, for any policy that answers messages; a subset is a server.

    They are those of `file`, made by `prove synthesize`, or the held-out ones of a profile.
    """

    def __init__(self, profile: str = "small", seed: str = "0", file: str = "") -> None:
        path = Path(file) if file else _profiles(profile, int(seed))
        if not path.is_file():
            raise contract.NotInstalled(f"there is no file {path}: make one with prove synthesize --split heldout")
        self.conversations = {c.id: c for c in read_conversations(path)}
        self.version = prove.__version__
        self.about: dict[str, Any] = {"conversations": hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()}

    def tasks(self, subset: str) -> list[str]:
        servers = sorted({c.server for c in self.conversations.values()})
        if subset and subset not in servers:
            raise LookupError(f"these conversations have no server {subset!r}; they have: {', '.join(servers)}")
        return [c.id for c in self.conversations.values() if subset in ("", c.server)]

    def play(self, task: str, trial: int, agent: contract.Policy, user: contract.Policy | None) -> contract.Outcome:
        episode = Episode(self.conversations[task])
        while not episode.done:
            episode.step(_as_reply(agent([with_text_arguments(m) for m in episode.messages], episode.tools)))
        found = score(episode)
        parts = {name: value for name in ("reward", *COMPONENTS) if (value := getattr(found, name)) is not None}
        return contract.Outcome(float(found.goal), parts, "" if found.goal else "goal missed", found.calls, episode.messages)

    def gold(self, task: str) -> contract.Policy:
        shadow, oracle = Episode(self.conversations[task]), Oracle(attempts=False)

        def policy(messages: list[contract.Message], tools: list[dict[str, Any]]) -> contract.Message:
            [reply] = oracle.reply([shadow])
            shadow.step(reply)
            return contract.say(reply.content, *((call.name, call.arguments) for call in reply.calls))

        return policy


def _profiles(name: str, seed: int) -> Path:
    """The file with a profile's held-out conversations, made if need be."""
    from prove import stages  # knows of training, and imports it: a file of conversations asks for none of that
    from prove.profiles import find

    return stages.sample(msgspec.structs.replace(find(name).heldout, seed=seed))


def _as_reply(message: contract.Message) -> Reply:
    calls = [ToolCall(contract.plain(name), contract.plain(parse_arguments(text))) for _, name, text in contract.calls_of(message)]
    return Reply(contract.plain(message.get("content") or ""), calls)
