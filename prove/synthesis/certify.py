"""Certification: what makes a conversation's ground truth the truth.

1. *Replay*: the whole conversation runs again on a fresh world, every call succeeds, every attempt fails as planned.
2. *Provenance*: every argument value traces to the user's words so far, to an earlier result, or to a named computation
   on the words. Every fact that the user wants names its record.
3. *Necessity*: without any one call, or any several, another refuses, the end state differs, an answer stays unread, or an
   argument loses its origin. A look-up has no argument without which it finds the same.
4. *Order*: a call comes `after` another exactly where execution needs it.
5. *Effect*: what each call changes, and the facts it shows that are needed; other calls that do the same are kept beside it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from prove.facts import located
from prove.records import Answer, Certificate, Conversation, GroundTruthCall, leaves
from prove.synthesis.proof.alternatives import alternatives
from prove.synthesis.proof.necessity import Truth
from prove.synthesis.proof.provenance import heard, provenance, sources, worked_out
from prove.synthesis.proof.refused import heard_instead
from prove.synthesis.proof.replay import Rejected, Run, Whole, home, replay_results

__all__ = ["Rejected", "certify", "heard", "home", "replay_results"]


def certify(conversation: Conversation) -> Conversation:
    """The conversation with records of answers, origins, order and certificate filled in. Raises `Rejected`."""
    whole = Whole(conversation)
    worked_out(conversation, whole.results)
    traced = provenance(_with_records(conversation, whole), whole.results)
    calls, whole.wanted = traced.calls, traced.wanted
    if calls and not traced.wanted and whole.before[0].outcome() == whole.outcome:
        raise Rejected("goal true at the start", "the end is the beginning")  # what was made has been undone: silence would do
    truth = Truth(traced, whole)
    necessity = {c.id: truth.loss_without(i) for i, c in enumerate(calls)}
    truth.needed_together()
    spare = {c.id: truth.spare(i) for i, c in enumerate(calls)}
    implicit = [[a.id, b.id] for a, b in _unshown_orders(calls, whole)]
    order = {c.id: sorted({*sources(c), *(a for a, b in implicit if b == c.id)}) for c in calls}
    turns = [
        msgspec.structs.replace(t, calls=[msgspec.structs.replace(c, after=order[c.id], spare=spare[c.id]) for c in t.calls])
        for t in traced.turns
    ]
    effects = {c.id: truth.effect(i) for i, c in enumerate(calls)}
    others = [*alternatives(truth), *heard_instead(truth)]
    certificate = Certificate(whole.session.digest(), whole.outcome, necessity, implicit, effects, others)
    return msgspec.structs.replace(traced, turns=turns, certificate=certificate)


def _with_records(conversation: Conversation, whole: Whole) -> Conversation:
    """The conversation in which every answer says whose values it holds."""
    turns = [msgspec.structs.replace(t, answers=[_with_record(a, whole) for a in t.answers]) for t in conversation.turns]
    return msgspec.structs.replace(conversation, turns=turns)


def _with_record(answer: Answer, whole: Whole) -> Answer:
    call = whole.calls.get(answer.call)
    if call is None:
        return answer
    inside = _any_place(answer.path)
    facts = [f for path, f in located(whole.session, call.name, call.arguments, whole.results[call.id]) if inside.match(path)]
    if [(f.field, f.value) for f in facts] != list(leaves(answer.value, answer.path.rsplit(".", 1)[-1])):
        raise Rejected("replay", f"{answer.value!r} is not at {answer.path} of {call.id}")
    return msgspec.structs.replace(answer, records=[f.record or "" for f in facts])


def _any_place(path: str) -> re.Pattern[str]:
    """The paths at or below a dotted path in which a list may be passed without saying which item."""
    return re.compile(r"\.(?:\d+\.)*".join(map(re.escape, path.split("."))) + r"(?:\.|$)")


# --- order


def _unshown_orders(calls: Sequence[GroundTruthCall], whole: Whole) -> Iterator[tuple[GroundTruthCall, GroundTruthCall]]:
    """Pairs whose order no argument shows but execution needs: with the later one moved before the earlier one, and what it
    needs along with it, something refuses, or the end or an answer differs. What follows from other orders is left out."""
    needs = {c.id: sources(c) for c in calls}
    for j, later in enumerate(calls):
        for i, earlier in reversed(list(enumerate(calls[:j]))):
            along = _needed(calls[i:j], later, needs)
            if earlier in along or not (whole.writes(earlier) or whole.writes(later)) or whole.home(earlier) != whole.home(later):
                continue  # two servers have nothing in common but the clock
            staying = [c for c in calls[i:j] if c not in along]
            run = whole.instead(i, [*along, later, *staying, *calls[j + 1 :]])
            if not whole.reached_by(run) or not _same_results(run, whole, later, earlier):
                needs[later.id].add(earlier.id)
                yield earlier, later


def _needed(calls: Sequence[GroundTruthCall], call: GroundTruthCall, needs: dict[str, set[str]]) -> list[GroundTruthCall]:
    """Those of some calls, in their order, that must come before a call, be it by way of another."""
    wanted, out = set(needs[call.id]), list[GroundTruthCall]()
    for earlier in reversed(calls):
        if earlier.id in wanted:
            out, wanted = [earlier, *out], wanted | needs[earlier.id]
    return out


def _same_results(run: Run, whole: Whole, *calls: GroundTruthCall) -> bool:
    """Whether the calls returned what they did before; minted ids may differ, so only reads of values count."""
    return all(_values(run.results.get(c.id)) == _values(whole.results[c.id]) for c in calls)


def _values(result: Any) -> list[Any]:
    return sorted(repr(leaf) for leaf in leaves(result) if not isinstance(leaf[1], str))
