"""What is in a data set, beside what it should hold."""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from statistics import fmean
from typing import Any

from prove.policies import at_once
from prove.records import Attempt, Conversation, Level, Turn
from prove.servers.catalog import toolbox
from prove.servers.tools import Tool
from prove.synthesis.data.plan import Plan
from prove.synthesis.language.wording import rows
from prove.synthesis.machine import Shape


def queries(conversation: Conversation) -> list[Level]:
    """The information level of each query; the answer to a question, or to an offer, is no query of its own."""
    levels, asked = list[Level](), False
    for turn in conversation.turns:
        if not asked:
            levels.append(turn.level)
        asks_back = not turn.calls and turn.level != "complete"
        asked = (asks_back or (turn.refusal is not None and turn.refusal.recovery == "asked")) and not asked
    return levels


def tools_called(conversation: Conversation) -> list[tuple[str, Tool]]:
    """(server, tool) of each call of the ground truth."""
    tools = toolbox(conversation.homes)
    return [tools[call.name] for call in conversation.calls]


def report(conversations: Sequence[Conversation], rejects: Counter[str]) -> dict[str, Any]:
    """Counts, shares, lengths, wording (beside that of BFCL Multi-Turn) and yield. Shares are of conversations; those of levels and
    recoveries are of queries."""
    n = len(conversations)
    live = [c for c in conversations if c.calls]
    levels = Counter(level for c in live for level in queries(c))
    tools = {(home, tool.name) for c in conversations for home, tool in tools_called(c)}
    return {
        "n": n,
        "kinds": _shares(Counter(c.kind for c in conversations)),
        "levels": _shares(levels),
        "calls": _shares(Counter(min(len(c.calls), 8) for c in live)),
        "chains": _shares(Counter(chain_length(c) for c in live)),
        "queries": _shares(Counter(len(queries(c)) for c in live)),
        "recoveries": _shares(Counter(r for c in live for r in recoveries(c))),
        "knobs": {
            "distractors": sum(bool(c.distractors) for c in conversations) / n,
            "stripped_enums": sum(c.stripped_enums for c in conversations) / n,
        },
        "tools_called": len(tools),
        "servers": dict(sorted(Counter(c.server for c in conversations).items())),
        "necessity": _shares(Counter(v for c in live if c.certificate for v in c.certificate.necessity.values())),
        "implicit_orders": sum(len(c.certificate.implicit) for c in live if c.certificate),
        "mean_query_words": fmean(len(t.user.split()) for c in conversations for t in c.turns),
        "sent_together": sent_together(conversations),
        "wording": rows(conversations),
        "rejected": dict(sorted(rejects.items())),
        "yield": n / (n + sum(rejects.values())),
    }


def sent_together(conversations: Sequence[Conversation]) -> float:
    """Of the calls that need not wait for the one beside them, the share that go into one message with it; 0 where there are none."""
    free = Counter[bool]()
    for c in conversations:
        for turn in c.turns:
            left: Sequence[Any] = turn.calls
            while left:
                group = at_once(left)
                free[c.together] += len(group) if len(group) > 1 else 0
                left = left[len(group) :]
    return free[True] / (free.total() or 1)


def chain_length(conversation: Conversation) -> int:
    """The length, in calls, of the longest chain in which each call needs the one before; 0 without calls."""
    upto = dict[str, int]()
    for call in conversation.calls:
        upto[call.id] = 1 + max((upto[needed] for needed in call.after), default=0)
    return max(upto.values(), default=0)


def recoveries(conversation: Conversation) -> list[str]:
    """How the assistant recovers from a failure, for each query; "none" where nothing fails."""
    turns = zip_longest(conversation.turns, conversation.turns[1:])
    kinds = [_recovery(turn.attempts[0], following) for turn, following in turns if turn and turn.attempts]
    return kinds + ["none"] * (len(queries(conversation)) - len(kinds))


def _recovery(attempt: Attempt, following: Turn | None) -> str:
    if attempt.recovery == "asked":
        return "alternative" if following and following.calls else "give up"  # the user agrees, or does not
    return attempt.recovery.replace("_", " ")


def targets(plan: Plan) -> dict[str, dict[str, float]]:
    """What the shares should be, under the names that `report` uses; of `broad` those that its plan gives as such."""
    if plan.broad:
        many = plan.broad.many_tools
        distractors = many + (1 - many) * plan.distractors
        return {"kinds": _shares(Counter(dict(plan.mix))), "knobs": {"distractors": distractors, "stripped_enums": plan.stripped_enums}}
    shape = plan.shape
    levels = dict[str, float](shape.levels)
    failing = {"alternative": shape.alternative, "give up": shape.impossible}
    failing["corrected"] = (1 - sum(failing.values())) * shape.corrected
    recovering = {kind: levels["complete"] * share for kind, share in failing.items()}
    return {
        "kinds": _shares(Counter(dict(plan.mix))),
        "levels": levels,
        "queries": _how_many(shape),
        "recoveries": recovering | {"none": 1 - sum(recovering.values())},
        "knobs": {"distractors": plan.distractors, "stripped_enums": plan.stripped_enums},
    }


def _how_many(shape: Shape) -> dict[str, float]:
    """The chance of each number of queries."""
    out, left, chance = dict[str, float](), 1.0, shape.another
    for n in range(shape.min_turns, shape.max_turns):
        out[str(n)], left, chance = left * (1 - chance), left * chance, chance / 2
    return out | {str(shape.max_turns): left}


def _shares(counts: Counter[Any]) -> dict[str, float]:
    total = sum(counts.values()) or 1
    return {str(k): v / total for k, v in sorted(counts.items(), key=lambda kv: str(kv[0]))}
