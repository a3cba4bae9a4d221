"""A conversation's ground truth, run: as it stands, and in other ways."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from prove.facts import all_told, told
from prove.records import Conversation, Fact, GroundTruthCall, Turn
from prove.servers.session import Session


class Rejected(Exception):
    """A conversation that certification turned down; `reason` is one of a few words, for counting."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class Run:
    """One execution of a conversation's calls, some of them maybe: whether all succeeded, what they returned and told, and the end."""

    def __init__(self, session: Session) -> None:
        self.session, self.ok = session, True
        self.results: dict[str, Any] = {}
        self.told: dict[str, set[Fact]] = {}

    @cached_property
    def outcome(self) -> str:
        return self.session.outcome()

    def tells(self, wanted: set[Fact]) -> bool:
        """Whether every fact that the user asked for was read."""
        return all_told(wanted, set().union(*self.told.values()))


class Whole(Run):
    """The ground truth as it stands; `before` is the session as it was before each call. Raises `Rejected` where it does not run."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(home(conversation))
        self.before: list[Session] = []
        self.results = replay(conversation, self.session, self.before)
        self.calls = {call.id: call for call in conversation.calls}
        self.wanted = conversation.wanted
        for call in conversation.calls:
            self.told[call.id] = told(self.session, call.name, call.arguments, self.results[call.id])
        self._minutes = _minutes(conversation)

    def instead(self, i: int, order: Sequence[GroundTruthCall]) -> Run:
        """Run other calls in place of those from the i-th on, each in the time of its own turn."""
        run = Run(self.before[i].fork())
        earlier = list(self.calls)[:i]
        run.results, run.told = {c: self.results[c] for c in earlier}, {c: self.told[c] for c in earlier}
        for call in order:
            self.wait(run.session, call.id)
            result = run.session.call(call.name, call.arguments)
            run.ok = run.ok and result.ok
            if result.ok:
                value = run.results[call.id] = result.value
                as_it_was = self.calls.get(call.id) == call and value == self.results[call.id]
                run.told[call.id] = self.told[call.id] if as_it_was else told(run.session, call.name, call.arguments, value)
        return run

    def wait(self, session: Session, call: str) -> None:
        """Let the time come at which a call is made."""
        start = next(iter(session.worlds.values())).start
        due = self._minutes.get(call, 0) - (session.clock.now - start).total_seconds() / 60
        if due > 0:
            session.advance(minutes=due)

    def reached_by(self, run: Run) -> bool:
        """Whether another run comes to the same end, with nothing refused and everything wanted read."""
        return run.ok and run.tells(self.wanted) and run.outcome == self.outcome

    def home(self, call: GroundTruthCall) -> str:
        return self.session.tools[call.name][0]

    def writes(self, call: GroundTruthCall) -> bool:
        return self.session.tools[call.name][1].marks.writes


def home(conversation: Conversation) -> Session:
    """A fresh session on the conversation's own servers; what its distractors' servers hold plays no part."""
    return Session.open(conversation.homes, conversation.seed, only=conversation.tools)


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
            if (result.code, result.ok or result.value["error"]["message"]) != (attempt.code, attempt.message):
                raise Rejected("replay", f"{attempt.name} should fail with {attempt.code}: {attempt.message}; it gave {result.text}")


def _minutes(conversation: Conversation) -> dict[str, int]:
    """How many minutes after the start each call is made."""
    passed, out = 0, dict[str, int]()
    for turn in conversation.turns:
        passed += turn.minutes_later
        out |= {c.id: passed for c in turn.calls}
    return out
