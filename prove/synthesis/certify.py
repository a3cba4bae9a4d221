"""Certification: what makes a conversation's ground truth the truth.

1. *Replay*: the whole conversation runs again on a fresh world, every call succeeds, every attempt fails as planned.
2. *Provenance*: every argument value traces to the user's words so far, to an earlier result, or to a named computation
   on the words.
3. *Necessity*: without any one call, another refuses, the end state differs, an answer stays unread, or an argument loses
   its origin.
4. *Order*: a call comes `after` another exactly where execution needs it.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Literal, get_origin

import msgspec

from prove.records import Certificate, Conversation, GroundTruthCall, Turn, leaves, paths
from prove.servers import Query
from prove.servers.catalog import load
from prove.servers.schema import bare, without_none
from prove.servers.server import Server
from prove.servers.session import Session
from prove.servers.tools import Parameter
from prove.synthesis.language.phrases import Phrasebook, phrasebook
from prove.synthesis.language.saying import readings
from prove.synthesis.planning.values import name_of


class Rejected(Exception):
    """A conversation that certification turned down; `reason` is one of a few words, for counting."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class Run(msgspec.Struct):
    """One execution of a conversation's calls, some of them maybe: whether all succeeded, what they returned, and the end state."""

    ok: bool
    results: dict[str, Any]
    outcome: str
    before: list[Session] = []  # as it was before each call; only of the whole


def certify(conversation: Conversation) -> Conversation:
    """The conversation with origins, order and certificate filled in. Raises `Rejected`."""
    session = home(conversation)
    before: list[Session] = []
    results = replay(conversation, session, before)
    traced = provenance(conversation, results)
    whole = Run(True, results, session.outcome(), before)
    calls = traced.calls
    if calls and not traced.wanted and before[0].outcome() == whole.outcome:
        raise Rejected("goal true at the start", "the end is the beginning")  # what was made has been undone: silence would do
    necessity = {c.id: _loss_without(traced, i, whole) for i, c in enumerate(calls)}
    implicit = [[a.id, b.id] for a, b in _unshown_orders(traced, whole)]
    order = {c.id: sorted({*_sources(c), *(a for a, b in implicit if b == c.id)}) for c in calls}
    turns = [msgspec.structs.replace(t, calls=[msgspec.structs.replace(c, after=order[c.id]) for c in t.calls]) for t in traced.turns]
    certificate = Certificate(session.digest(), whole.outcome, necessity, implicit)
    return msgspec.structs.replace(traced, turns=turns, certificate=certificate)


def home(conversation: Conversation) -> Session:
    """A fresh session on the conversation's own server; what its distractors' servers hold plays no part."""
    return Session.open(conversation.server, conversation.seed, only=conversation.tools)


def replay(conversation: Conversation, session: Session, befores: list[Session] | None = None) -> dict[str, Any]:
    """Run everything in order on a fresh session; returns each ground-truth call's result, and adds to `befores` the session as it
    was before each of them. Raises `Rejected`."""
    results = {}
    for turn in conversation.turns:
        session.advance(minutes=turn.minutes_later)
        before = session.outcome()
        for call in turn.calls:
            _expect_failures(turn, call.id, session)
            if befores is not None:
                befores.append(session.fork())
            result = session.call(call.name, call.arguments)
            if not result.ok:
                raise Rejected("replay", f"{call.name}({call.arguments}) -> {result.text}")
            results[call.id] = result.value
        _expect_failures(turn, "", session)
        if turn.calls and not turn.answers and session.outcome() == before:
            raise Rejected("goal true at the start", turn.user)
    return results


def replay_results(conversation: Conversation) -> dict[str, Any]:
    """What each ground-truth call returns, on a fresh session. Raises `Rejected` if the record no longer replays."""
    return replay(conversation, home(conversation))


def _expect_failures(turn: Turn, before: str, session: Session) -> None:
    for attempt in turn.attempts:
        if attempt.before == before:
            result = session.call(attempt.name, attempt.arguments)
            if result.code != attempt.code:
                raise Rejected("replay", f"{attempt.name} should fail with {attempt.code}, gave {result.text}")


# --- provenance


def provenance(conversation: Conversation, results: dict[str, Any]) -> Conversation:
    """The conversation with every argument's origin. Raises `Rejected` for a value from nowhere."""
    words, seen, turns = "", list[tuple[str, str, Any]](), []
    server, today = load(conversation.server).server, date.fromisoformat(conversation.today)
    for turn in conversation.turns:
        words += "\n" + turn.user
        calls = []
        for call in turn.calls:
            parameters = {p.name: p for p in server.tools[call.name].parameters}
            origin = {n: _origin(v, parameters[n], conversation, server, words, seen, today) for n, v in call.arguments.items()}
            calls.append(msgspec.structs.replace(call, origin=origin))
            seen += [(call.id, path, value) for path, value in paths(results[call.id])]
        turns.append(msgspec.structs.replace(turn, calls=calls))
    return msgspec.structs.replace(conversation, turns=turns)


def _origin(
    value: Any,
    parameter: Parameter,
    conversation: Conversation,
    server: type[Server],
    words: str,
    seen: Sequence[tuple[str, str, Any]],
    today: date,
) -> str:
    if isinstance(value, list):
        parts = [_origin(v, parameter, conversation, server, words, seen, today) for v in value]
        return "; ".join(dict.fromkeys(parts))
    said = heard(value, parameter, server, phrasebook(conversation.server), words, today)
    if said:
        return said
    for call, path, known in seen:
        if known == value and not isinstance(value, bool | int | float):
            return f"{call}: {path}"
    raise Rejected("provenance", f"{parameter.name}={value!r} is nowhere in {words!r}")


def heard(value: Any, parameter: Parameter, server: type[Server], book: Phrasebook, words: str, today: date) -> str:
    """How words give a value: "user", "user: " and what has to be worked out, or "" if they do not."""
    for number, why in readings(words, parameter.hint, today):
        if number == value:
            return f"user: {why}"
    hint = without_none(parameter.hint)
    free = hint != Query and get_origin(bare(hint)) is not Literal  # no choice and no search, for which case is nothing
    return _said(value, book.words_for(name_of(server, parameter.hint), parameter.name), words, free)


def _said(value: Any, vocabulary: dict[str, str] | None, words: str, free: bool) -> str:
    """Whether the words say a text, a choice or a yes/no; free texts, secrets and ids must be there to the letter."""
    key = str(value).lower() if isinstance(value, bool) else str(value)
    heard = words.casefold()
    if isinstance(value, str) and (_whole(value, words) if free else _whole(value.casefold(), heard)):
        return "user"
    if vocabulary and key in vocabulary and vocabulary[key].casefold() in heard:
        return "user: choice in words"
    if isinstance(value, str) and _whole(value.replace("_", " ").casefold(), heard):
        return "user: choice in words"
    return ""


def _whole(text: str, heard: str) -> bool:
    """Whether a text stands somewhere by itself, as no part of a longer word."""
    return text in heard and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", heard) is not None


def _sources(call: GroundTruthCall) -> set[str]:
    """The calls whose results an argument comes from."""
    return {source for origin in call.origin.values() for source in _cited(origin)}


def _cited(origin: str) -> set[str]:
    """The calls that the origin of one argument names."""
    return {part.split(":")[0] for part in origin.split("; ") if not part.startswith("user")}


# --- necessity and order


def _execute(conversation: Conversation, whole: Run, i: int, order: Sequence[GroundTruthCall]) -> Run:
    """Run other calls in place of those from the i-th on, each in the time of its own turn."""
    session = whole.before[i].fork()
    start, late = session.worlds[conversation.server].start, _minutes(conversation)
    results, ok = {c.id: whole.results[c.id] for c in conversation.calls[:i]}, True
    for call in order:
        due = late[call.id] - (session.clock.now - start).total_seconds() / 60
        if due > 0:
            session.advance(minutes=due)
        result = session.call(call.name, call.arguments)
        ok = ok and result.ok
        if result.ok:
            results[call.id] = result.value
    return Run(ok, results, session.outcome())


def _minutes(conversation: Conversation) -> dict[str, int]:
    """How many minutes after the start each call is made."""
    passed, out = 0, dict[str, int]()
    for turn in conversation.turns:
        passed += turn.minutes_later
        out |= {c.id: passed for c in turn.calls}
    return out


def _loss_without(conversation: Conversation, i: int, whole: Run) -> str:
    """What is lost if the i-th call is left out: "origin", "refusal", "state" or "answer". Raises `Rejected` for nothing."""
    call, calls = conversation.calls[i], conversation.calls
    if _only_source(conversation, call, whole.results):
        return "origin"
    run = _execute(conversation, whole, i, calls[i + 1 :])
    if not run.ok:
        return "refusal"
    if run.outcome != whole.outcome:
        return "state"
    if not _answered(conversation, run):
        return "answer"
    raise Rejected("necessity", f"{call.name} changes nothing")


def _only_source(conversation: Conversation, call: GroundTruthCall, results: dict[str, Any]) -> bool:
    """Whether a later argument comes from this call's result, and from no other that is there by then."""
    shown = set[Any]()
    for other in conversation.calls:
        for name, origin in other.origin.items():
            value = other.arguments[name]
            values = value if isinstance(value, list) else [value]
            if call.id in _cited(origin) and not shown.issuperset(values):
                return True
        if other is not call:
            shown |= {value for _, value in leaves(results[other.id])}
    return False


def _answered(conversation: Conversation, run: Run) -> bool:
    """Whether every value that the user asked for was read."""
    return conversation.wanted <= {leaf for result in run.results.values() for leaf in leaves(result)}


def _unshown_orders(conversation: Conversation, whole: Run) -> Iterator[tuple[GroundTruthCall, GroundTruthCall]]:
    """Pairs whose order no argument shows but execution needs: with the later one moved before the earlier one, and what it
    needs along with it, something refuses, or the end or an answer differs. What follows from other orders is left out."""
    calls = conversation.calls
    reads = {n for n, t in load(conversation.server).server.tools.items() if not t.marks.writes}
    needs = {c.id: _sources(c) for c in calls}
    for j, later in enumerate(calls):
        for i, earlier in reversed(list(enumerate(calls[:j]))):
            along = _needed(calls[i:j], later, needs)
            if earlier in along or (earlier.name in reads and later.name in reads):
                continue
            staying = [c for c in calls[i:j] if c not in along]
            run = _execute(conversation, whole, i, [*along, later, *staying, *calls[j + 1 :]])
            same = run.outcome == whole.outcome and _same_results(run, whole, later, earlier) and _answered(conversation, run)
            if not run.ok or not same:
                needs[later.id].add(earlier.id)
                yield earlier, later


def _needed(calls: Sequence[GroundTruthCall], call: GroundTruthCall, needs: dict[str, set[str]]) -> list[GroundTruthCall]:
    """Those of some calls, in their order, that must come before a call, be it by way of another."""
    wanted, out = set(needs[call.id]), list[GroundTruthCall]()
    for earlier in reversed(calls):
        if earlier.id in wanted:
            out, wanted = [earlier, *out], wanted | needs[earlier.id]
    return out


def _same_results(run: Run, whole: Run, *calls: GroundTruthCall) -> bool:
    """Whether the calls returned what they did before; minted ids may differ, so only reads of values count."""
    return all(_values(run.results.get(c.id)) == _values(whole.results[c.id]) for c in calls)


def _values(result: Any) -> list[Any]:
    return sorted(repr(leaf) for leaf in leaves(result) if not isinstance(leaf[1], str))
