"""Calls that are refused: what comes of each, and what was to be seen of why."""

import re
from collections.abc import Iterator

import msgspec

from prove.records import Answer, Attempt, Turn
from prove.servers.catalog import toolbox
from prove.verify.evidence import Evidence, scalars, stands_at
from prove.verify.words import choices_of, heard, verbatim


def recoveries(e: Evidence) -> Iterator[str]:
    """Every attempt that does not end as its recovery says, or whose values nobody could know; every reason that is none."""
    for i, turn in enumerate(e.record.turns):
        for attempt in turn.attempts:
            if not _recovers(e, i, turn, attempt):
                yield f"turn {i + 1}: {attempt.name} is refused and not {attempt.recovery.replace('_', ' ')}"
            if attempt.recovery != "corrected":
                yield from (f"turn {i + 1}: {attempt.name} is tried with {name} from nowhere" for name in _foreign(e, i, attempt))
            if attempt.recovery in ("asked", "give_up"):
                yield from _unreasonable(e, i, turn, attempt)


def _recovers(e: Evidence, i: int, turn: Turn, attempt: Attempt) -> bool:
    later = turn.calls[next((k for k, c in enumerate(turn.calls) if c.id == attempt.before), len(turn.calls)) :]
    again = [c for c in later if c.name == attempt.name]
    same = any(c.arguments == attempt.arguments for c in again)
    following = e.record.turns[i + 1] if i + 1 < len(e.record.turns) else None
    match attempt.recovery:
        case "corrected":
            return bool(again)
        case "alternative":
            return same and later[0].name != attempt.name
        case "asked":
            done = following and any((c.name, c.arguments) == (attempt.name, attempt.arguments) for c in following.calls)
            return not same and following is not None and "?" in turn.reply and bool(done or not following.calls)
        case "give_up":
            return not same


def _foreign(e: Evidence, i: int, attempt: Attempt) -> Iterator[str]:
    """The arguments of an attempt that neither the user's words so far nor a result up to the end of the turn give."""
    home, tool = toolbox(e.record.homes)[attempt.name]
    shown = {text for turn in e.record.turns[: i + 1] for c in turn.calls for _, text in scalars(e.whole.results.get(c.id))}
    for p in (p for p in tool.parameters if p.name in attempt.arguments):
        spec, value = tool.input_schema["properties"][p.name], attempt.arguments[p.name]
        items, spec = (value, spec["items"]) if isinstance(value, list) else ([value], spec)
        choices = choices_of(home, p.name, p.hint)
        known = (heard(v, spec, e.said[i], choices) or msgspec.json.encode(v).decode() in shown for v in items)
        if not all(known) and spec.get("default") != value:
            yield p.name


def _unreasonable(e: Evidence, i: int, turn: Turn, attempt: Attempt) -> Iterator[str]:
    """What is wrong with the reason why a turn ends undone: it must be read in this turn, of a record that the call or its refusal
    names, and be no word of the user's."""
    if not turn.answers:
        yield f"turn {i + 1}: nothing shows why {attempt.name} is refused"
    mine = {c.id for c in turn.calls}
    _, tool = toolbox(e.record.homes)[attempt.name]
    ids = [attempt.arguments[p.name] for p in tool.parameters if p.id_type and p.name in attempt.arguments]
    for answer in turn.answers:
        if answer.call not in mine or answer.value in ("", None, [], {}):
            yield f"turn {i + 1}: {answer.path} of {answer.call} is no reason"
            continue
        if isinstance(answer.value, str) and verbatim(answer.value, e.said[i][-1:]):
            yield f"turn {i + 1}: the user has said {answer.value!r}"
        named = set(re.findall(r"[\w#/.~-]*\w", attempt.message)) | set(ids)
        if ids and "." in answer.path and not _around(e, answer) & named:
            yield f"turn {i + 1}: {answer.path} of {answer.call} is of another record"


def _around(e: Evidence, answer: Answer) -> set[str]:
    """What stands beside an answer, as texts; nothing where there is no such place (`checks.answers` says so)."""
    try:
        around = stands_at(e.whole.results[answer.call], answer.path.rpartition(".")[0])
    except (LookupError, TypeError):
        return set()
    return {str(v) for v in (around.values() if isinstance(around, dict) else around if isinstance(around, list) else [around])}
