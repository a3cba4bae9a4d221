"""A refusal tells its reason: where a turn ends on one, to have heard it stands for the reads that show why."""

from collections.abc import Iterator

from prove.records import Alternative, Attempt, OtherCall, Turn
from prove.synthesis.proof.necessity import Truth
from prove.synthesis.proof.provenance import sources


def heard_instead(truth: Truth) -> list[Alternative]:
    """For each turn that ends on a refusal the reads that show its reason and nothing else, with the refused call in their place.

    Without them the rest of the ground truth comes to the same end, and tells all else that is asked for.
    """
    return [found for turn in truth.conversation.turns if turn.refusal for found in _heard(truth, turn, turn.refusal)]


def _heard(truth: Truth, turn: Turn, refused: Attempt) -> Iterator[Alternative]:
    reason = {fact for answer in turn.answers for fact in answer.facts}
    gone, known = list[str](), set(map(str, refused.arguments.values()))
    for call in reversed(truth.calls):
        needs = truth.needs[call.id]
        users = {c.id for c in truth.calls if call.id in sources(c)}
        shows = call in turn.calls and call.id in {answer.call for answer in turn.answers}
        idle = users <= set(gone) and call.id not in truth.hinged and not known & needs.values.keys()
        if idle and needs.facts <= reason and (shows or (truth.is_lookup(call) and users)):
            gone.append(call.id)
    if gone:
        first = next(i for i, call in enumerate(truth.calls) if call.id in gone)
        run = truth.whole.instead(first, [c for c in truth.calls[first:] if c.id not in gone])
        elsewhere = {f for t in truth.conversation.turns if t is not turn for answer in t.answers for f in answer.facts}
        if run.ok and run.outcome == truth.whole.outcome and run.tells(elsewhere):
            yield Alternative(gone[::-1], [OtherCall(refused.name, refused.arguments)])
