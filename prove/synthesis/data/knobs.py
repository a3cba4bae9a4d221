"""The robustness knobs (arXiv:2606.03892, section 3.4): pure functions on a certified record, seeded by the caller's `rng`."""

from random import Random

import msgspec

from prove.records import Conversation, Turn
from prove.servers.catalog import catalogue, load, toolbox
from prove.synthesis.certify import Rejected

_NO_TOOL = (
    "I'm sorry, none of my tools can do that.",
    "I can't do that with the tools I have here.",
    "That is something I have no tool for, I'm afraid.",
)


def narrow(record: Conversation, count: int, rng: Random) -> Conversation:
    """At most `count` candidate tools: those that the conversation uses, and others of its server."""
    used = {c.name for c in record.calls} | {a.name for t in record.turns for a in t.attempts}
    others = [t for t in record.tools if t not in used]
    kept = used | set(rng.sample(others, max(0, min(len(others), count - len(used)))))
    certificate = record.certificate
    if certificate:
        there = [a for a in certificate.alternatives if {c.name for c in a.calls} <= kept]
        certificate = msgspec.structs.replace(certificate, alternatives=there)
    return msgspec.structs.replace(record, tools=sorted(kept), certificate=certificate)


def with_distractors(record: Conversation, rng: Random, low: int = 3, high: int = 8) -> Conversation:
    """Three to eight tools of other servers join the candidates, none of them named like one of its own."""
    own = set(toolbox(record.homes))
    others = [f"{s}.{t}" for s in catalogue() if s not in record.homes for t in load(s).server.tools if t not in own]
    count = min(rng.randint(low, high), len(others))
    picked: dict[str, str] = {}
    for name in rng.sample(others, len(others)):
        picked.setdefault(name.split(".")[1], name)  # no two of the same bare name
        if len(picked) == count:
            break
    return msgspec.structs.replace(record, distractors=sorted(picked.values()))


def with_stripped_enums(record: Conversation) -> Conversation:
    """The schemas no longer list the values of a closed choice."""
    return msgspec.structs.replace(record, stripped_enums=True)


def missing_function(record: Conversation, rng: Random) -> Conversation:
    """The tool that the last query needs is hidden after the chain was chosen; the assistant says so and makes no call.

    The earlier queries stay as they are. Raises `Rejected` where the tool is used earlier too.
    """
    *before, last = record.turns
    tools, told = toolbox(record.homes), {answer.call for answer in last.answers}
    hidden = {c.name for c in last.calls if tools[c.name][1].marks.writes or c.id in told}  # all that was asked for, look-ups aside
    if not hidden or hidden & {c.name for t in before for c in t.calls} or last.attempts or not any(t.calls for t in before):
        raise Rejected("missing function", f"{', '.join(sorted(hidden)) or 'nothing'} cannot be hidden")
    if before[-1].level != "complete" and not before[-1].calls:
        before = before[:-1]  # what the assistant asked back about is not asked when the tool is missing
        last = msgspec.structs.replace(last, user=record.turns[-2].user)
    turns = [*before, Turn(last.user, last.level, [], rng.choice(_NO_TOOL))]
    return msgspec.structs.replace(record, kind="clarification", turns=turns, tools=[t for t in record.tools if t not in hidden])


def irrelevant(record: Conversation, rng: Random) -> Conversation:
    """The first query, put to an assistant with the tools of another line of business: the right answer is no call."""
    home = load(record.server).server
    elsewhere = [s for s in catalogue() if load(s).server.category != home.category and not home.tools.keys() & load(s).server.tools.keys()]
    if not elsewhere:
        raise Rejected("irrelevance", "there is no other line of business")
    other = rng.choice(elsewhere)
    turns = [Turn(record.turns[0].user, record.turns[0].level, [], rng.choice(_NO_TOOL))]
    return msgspec.structs.replace(
        record, kind="abstention", server=other, servers=[], policy="", turns=turns, tools=sorted(load(other).server.tools)
    )
