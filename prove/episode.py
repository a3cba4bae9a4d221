"""The only loop in which a policy meets a server.

An `Episode` is one conversation being played live: the user's turns are those of the record, the next one is given when
the assistant answers without a call, and every call runs on the episode's own session. `play` moves many episodes in step,
so that a model can answer them as one batch.
"""

import json
from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from prove.facts import all_told, told_in
from prove.findings import findings_of
from prove.offered import as_function, candidate_schemas, open_session, system_prompt
from prove.outcome import truth
from prove.records import Attempt, Conversation, Fact, Turn
from prove.rewards import Call, Step, Trajectory
from prove.servers.session import Result, Session, refusal
from prove.strict_json import escaped, fault, loads


class Limits(msgspec.Struct, frozen=True):
    """Where an episode ends at the latest; the defaults are the paper's (section 5), and a cap on calls in one reply."""

    user_turns: int = 5
    assistant_turns: int = 10
    calls_per_reply: int = 16


class ToolCall(msgspec.Struct, frozen=True):
    """A call as the policy wrote it. `arguments` is an object, or the raw text where that is no JSON object."""

    name: str
    arguments: Any


class Reply(msgspec.Struct, frozen=True):
    """What a policy says: text, calls, or both. A reply without calls ends the turn."""

    content: str = ""
    calls: list[ToolCall] = []


class Episode:
    """One conversation, live. Look at `messages` and `tools`, then `step` with a reply, until `done`."""

    def __init__(self, conversation: Conversation, limits: Limits | None = None, session: Any = None) -> None:
        self.conversation, self.limits = conversation, limits or Limits()
        self.session = session or open_session(conversation)
        self.schemas = self._candidates()
        self.tools = [as_function(self.session, name, self.schemas[name]) for name in self.schemas]
        if conversation.schemas is not msgspec.UNSET:  # tools of another data set: offered, though no server of ours has them
            self.schemas |= {name: f["function"]["parameters"] for name, f in conversation.schemas.items()}
            self.tools += conversation.schemas.values()
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": system_prompt(conversation)}]
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self.turn_of: list[int] = []  # result -> position of the user's turn in which it came
        self.touched: list[set[tuple[str, str]]] = []  # (table, key) of what each call that succeeded has written to
        self._told_by: dict[int, frozenset[Fact]] = {}  # result -> the facts that it tells, once somebody asks
        self.turn = -1  # position of the user's turn that is being answered
        self.calls_in_turn = 0
        self.replies = 0
        self.done = False
        self._before = ""  # the outcome at the start of such a turn
        self.broke_in = False  # whether something was changed in a turn in which the rules allow nothing yet
        self.failure: Exception | None = None  # what ended the episode where `play` was told to keep going
        self._next_turn()

    def _candidates(self) -> dict[str, dict[str, Any]]:
        """The schemas of the tools that are offered, by name."""
        return candidate_schemas(self.conversation, self.session)

    def step(self, reply: Reply) -> None:
        """Take the policy's reply: run its calls, or go on to the user's next turn."""
        reply = legible(reply)
        self.replies += 1
        self.messages.append(_assistant_message(reply, len(self.calls)))
        if not reply.calls:
            self._next_turn()
        for number, call in enumerate(reply.calls):
            result = self._run(call, number)
            name = call.name or "unreadable"
            self.messages.append({"role": "tool", "tool_call_id": f"call_{len(self.calls)}", "name": name, "content": result.text})
            arguments = call.arguments if isinstance(call.arguments, dict) else None
            self.calls.append(Call(call.name, arguments, result.ok, self.turn))
            self.results.append(result)
            self.turn_of.append(self.turn)
            self.calls_in_turn += 1
        if self.replies >= self.limits.assistant_turns:
            self.done = True

    def _run(self, call: ToolCall, number: int) -> Result:
        if number >= self.limits.calls_per_reply:
            return refusal("resource_exhausted", f"at most {self.limits.calls_per_reply} calls in one reply: this one was not run")
        if not isinstance(call.arguments, dict):
            return refusal(
                "invalid_argument", f"the call is not readable: {_why_unreadable(call)}; send a name and a JSON object of arguments"
            )
        result: Result = self.session.call(call.name, call.arguments)
        if result.ok and isinstance(self.session, Session) and (places := self.session.written_by(call.name)):
            self.touched.append(places)
        return result

    def _next_turn(self) -> None:
        if 0 <= self.turn < len(self.conversation.turns) and self.conversation.turns[self.turn].held:
            self.broke_in |= self.session.outcome() != self._before
        self.turn += 1
        self.calls_in_turn = 0
        if self.turn >= min(len(self.conversation.turns), self.limits.user_turns):
            self.done = True
            return
        turn = self.conversation.turns[self.turn]
        self.session.advance(minutes=turn.minutes_later)
        self._before = self.session.outcome() if turn.held else ""
        self.messages.append({"role": "user", "content": turn.user})

    def trajectory(self) -> Trajectory:
        """What the reward looks at."""
        goal = None if self.conversation.certificate is None else self.goal_reached()
        findings = findings_of(self, goal) if goal is not None and isinstance(self.session, Session) else None
        return Trajectory(self.schemas, ground_truth(self.conversation), tuple(self.calls), goal, findings)

    def same_outcome(self) -> bool | None:
        """Whether the session is in the ground truth's state, up to a renaming of minted ids; None without a certificate."""
        certificate, homes = self.conversation.certificate, self.conversation.homes
        if certificate is None or self.session.outcome(homes) != certificate.outcome:
            return None if certificate is None else False
        others = self.session.servers.keys() - set(homes)
        return self.session.outcome(others) == self.untouched().outcome(others)

    def untouched(self) -> Session:
        """A session in which nothing was called, at this one's time: what the servers of distractors should be like."""
        session = open_session(self.conversation)
        session.advance(seconds=(self.session.clock.now - session.clock.now).total_seconds())
        return session

    def goal_reached(self) -> bool:
        """Whether the state is the ground truth's, every fact the user asked for was read, of the record it was asked of, and nothing
        was done before the rules allow it.

        Where the assistant has to give up, or to ask first, the goal is to have seen the reason by then, and to have changed
        nothing. Where there is nothing to call, the goal is to call nothing.
        """
        if not self.conversation.calls:
            return not self.calls
        told = all(self._told(i, turn) for i, turn in enumerate(self.conversation.turns))
        return not self.broke_in and told and bool(self.same_outcome())

    def _told(self, position: int, turn: Turn) -> bool:
        """Whether what a turn asks to know was read, or its refusal was heard."""
        if turn.refusal and self.heard(position, turn):
            return True
        if not turn.answers:
            return True
        until = position if turn.refusal else len(self.conversation.turns)
        made = [i for i, when in enumerate(self.turn_of) if when <= until]
        return all_told(truth(self.conversation, self.session).answers[position], self.facts(made))

    def heard(self, position: int, turn: Turn) -> bool:
        """Whether the refusal on which a turn ends was heard by then."""
        return any(when <= position and _is(turn.refusal, self.results[i]) for i, when in enumerate(self.turn_of))

    def facts(self, made: Iterable[int] | None = None) -> set[Fact]:
        """Every fact that the results of some calls have told, or of all so far; a refusal tells why."""
        return set[Fact]().union(*map(self._facts, range(len(self.results)) if made is None else made))

    def _facts(self, position: int) -> frozenset[Fact]:
        """The facts that one result tells."""
        if position not in self._told_by:
            call, result = self.calls[position], self.results[position]
            legal = call.name in self.session.tools and isinstance(call.arguments, dict)
            self._told_by[position] = told_in(self.session, call.name, call.arguments, result.text) if legal else frozenset()
        return self._told_by[position]


class Policy(Protocol):
    """Who answers."""

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        """The next reply of each episode, in order."""
        ...


def play(policy: Policy, conversations: Iterable[Conversation], limits: Limits | None = None, keep_going: bool = False) -> list[Episode]:
    """Play every conversation to its end, all of them in step; returns the finished episodes, in order.

    An exception that a refusal does not explain is raised; with `keep_going` it ends its own episode, as its `failure`.
    """
    episodes = [Episode(c, limits) for c in conversations]
    while live := [e for e in episodes if not e.done]:
        for episode, reply in zip(live, policy.reply(live), strict=True):
            try:
                episode.step(reply)
            except Exception as error:
                if not keep_going:
                    raise
                episode.failure, episode.done = error, True
    return episodes


def ground_truth(conversation: Conversation) -> tuple[Step, ...]:
    """The record's calls as the reward's steps, with the arguments that they need: ids of earlier calls become positions."""
    at = {call.id: i for i, call in enumerate(conversation.calls)}
    turns = ((i, call) for i, turn in enumerate(conversation.turns) for call in turn.calls)
    return tuple(Step(c.name, c.needed, tuple(at[a] for a in c.after), i) for i, c in turns)


def _assistant_message(reply: Reply, calls_before: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{calls_before + i}", "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
            for i, c in enumerate(reply.calls)
        ]
    return message


def legible(reply: Reply) -> Reply:
    """The reply as it can be recorded, whoever made it: half of a surrogate pair spelled out, and a call that holds what JSON
    cannot say as its text, which is unreadable."""
    return Reply(escaped(reply.content), [_legible(c) for c in reply.calls])


def _legible(call: ToolCall) -> ToolCall:
    if not fault(call.name):
        return call if not fault(call.arguments) else ToolCall(call.name, _as_text(call.arguments))
    return ToolCall("", _as_text({"name": call.name, "arguments": call.arguments}))


def _as_text(value: Any) -> str:
    try:
        return escaped(value if isinstance(value, str) else json.dumps(value))
    except RecursionError:
        return "nested too deep to be written down"


def _why_unreadable(call: ToolCall) -> str:
    try:
        loads(_as_text(call.arguments))
    except ValueError as error:
        return f"{error}"
    return "its arguments are not an object"


def _is(refusal: Attempt | None, result: Result) -> bool:
    """Whether a result is that refusal: for the same reason, whatever was called."""
    return refusal is not None and result.code == refusal.code and result.value["error"]["message"] == refusal.message


def current_turn(episode: Episode) -> Turn:
    """The record's turn that the episode is in."""
    return episode.conversation.turns[episode.turn]
