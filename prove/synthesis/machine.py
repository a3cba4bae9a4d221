"""The state machine that makes a conversation: query, turn, tool execution, response, continuation.

(arXiv:2606.03892, section 3.) Each state is a method that does its part and names the next state; `TRANSITIONS` says which may
follow, and is what the figure of the machine is drawn from.
"""

from collections.abc import Callable
from random import Random
from typing import Literal

import msgspec

from prove.episode import Limits
from prove.records import Answer, Attempt, Conversation, GroundTruthCall, Level, Turn
from prove.servers.server import Server
from prove.servers.session import Session
from prove.synthesis.ambiguity import given_away
from prove.synthesis.certify import Rejected
from prove.synthesis.language import refusing
from prove.synthesis.language.phrases import phrasebook
from prove.synthesis.planning.causes import names_in, said_before
from prove.synthesis.planning.goals import Last, Seeker
from prove.synthesis.planning.memory import Goal
from prove.synthesis.planning.mistakes import with_mistake
from prove.synthesis.planning.obstacles import Obstacles
from prove.synthesis.planning.planner import Draft
from prove.synthesis.planning.wishes import PERSONAS, Wish
from prove.synthesis.teachers.scripted import Teacher

State = Literal[
    "draw_goal", "choose_level",  # query
    "ask", "clarify", "agree", "decline",  # turn
    "execute", "success", "partial_success", "failure",  # tool execution
    "answer", "question", "propose", "give_up",  # response
    "continue", "end",  # continuation
]  # fmt: skip

GROUPS: dict[str, tuple[State, ...]] = {
    "query": ("draw_goal", "choose_level"),
    "turn": ("ask", "clarify", "agree", "decline"),
    "tool execution": ("execute", "success", "partial_success", "failure"),
    "response": ("answer", "question", "propose", "give_up"),
    "continuation": ("continue", "end"),
}

TRANSITIONS: dict[State, tuple[State, ...]] = {
    "draw_goal": ("choose_level",),
    "choose_level": ("ask",),
    "ask": ("execute", "question"),
    "question": ("clarify",),
    "clarify": ("execute",),
    "execute": ("success", "partial_success", "failure"),
    "success": ("answer",),
    "partial_success": ("answer",),
    "failure": ("propose", "give_up"),
    "answer": ("continue",),
    "propose": ("agree", "decline"),
    "agree": ("execute",),
    "decline": ("continue",),
    "give_up": ("continue",),
    "continue": ("draw_goal", "end"),
    "end": (),
}


class Shape(msgspec.Struct, frozen=True):
    """What conversations are to look like; the defaults are the paper's shares."""

    levels: tuple[tuple[Level, float], ...] = (("complete", 0.6), ("missing_required", 0.2), ("minimal", 0.2))
    min_turns: int = 2  # queries; a question back does not count
    max_turns: int = 3
    another: float = 0.5  # chance of a further query after those, halved each time
    second_wish: float = 0.25  # chance that a query asks for two things
    corrected: float = 0.08  # chance that the assistant first makes a mistake, and corrects it
    alternative: float = 0.024  # ... that something stands in the way, and another tool clears it: found on a good half of the servers
    impossible: float = 0.055  # ... that the wish cannot be met, and the assistant says why: found on three in four
    max_calls: int = 5  # ground-truth calls a query
    chained: float = 0.3  # chance that in a conversation of more than `min_turns` queries each builds on the one before


class Machine:
    """One conversation in the making. `run` gives it, uncertified; `path` is the way through the states.

    `fate` decides what kind of queries there are and how many, `rng` everything else: tries that share their fate make what
    is hard to make as often as what is easy. A `patient` one makes none at all where fate wants a failure and none is found.
    """

    def __init__(
        self, server: str, seed: int, focus: str | None, fate: Random, rng: Random, teacher: Teacher, shape: Shape, patient: bool = False
    ) -> None:
        self.server, self.seed, self.fate, self.rng, self.teacher, self.shape = server, seed, fate, rng, teacher, shape
        self.book = phrasebook(server)
        self.draft = Draft(server, self.book, Session.open(server, seed))
        self.start = self.draft.live.today
        self.persona = rng.choice(PERSONAS)
        self.seeker = Seeker(self.book, self.persona, rng, shape.max_calls)
        self.obstacles = Obstacles(self.seeker, self._fits)
        self.limits = Limits()
        self.patient = patient and bool(self.obstacles.among(server))
        self.focus = focus
        self.owed: Callable[[Draft, str | None], Goal | None] | None = None  # a failure that was due and not found
        self.owes_mistake = False  # likewise a mistake
        self.turns: list[Turn] = []
        self.path: list[State] = []
        self.queries, self.wanted = 0, self._how_many()
        self.chained = self.wanted > shape.min_turns and fate.random() < shape.chained
        self.last: Last | None = None  # in a chain, the last wish

    def _how_many(self) -> int:
        """How many queries there will be: each one more half as likely as the one before."""
        more, chance = 0, self.shape.another
        while self.shape.min_turns + more < self.shape.max_turns and self.fate.random() < chance:
            more, chance = more + 1, chance / 2
        return self.shape.min_turns + more

    def run(self, name: str) -> Conversation:
        """Walk from the first query to the end. Raises `Rejected` where there is no way on."""
        state: State = "draw_goal"
        while state != "end":
            self.path.append(state)
            following: State = getattr(self, f"_{state}")()
            if following not in TRANSITIONS[state]:
                raise AssertionError(f"{state} -> {following} is not a transition")
            state = following
        if self._replies() > self.limits.assistant_turns:
            raise Rejected("too long", f"{self._replies()} replies in {len(self.turns)} turns")
        return Conversation(
            id=name,
            server=self.server,
            seed=self.seed,
            kind="multi_turn",
            persona=self.persona.description,
            today=self.start.isoformat(),
            tools=sorted(type(self.draft.live).tools),
            distractors=[],
            stripped_enums=False,
            turns=self.turns,
            certificate=None,
            split="train",
            source=self.teacher.name,
        )

    # --- query

    def _draw_goal(self) -> State:
        fate, shape = self.fate, self.shape
        self.level = fate.choices([n for n, _ in shape.levels], [w for _, w in shape.levels])[0]
        if len(self.turns) + self.wanted - self.queries >= self.limits.user_turns:
            self.level = "complete"  # a question back now would leave no turn for the queries to come
        self.rolls = {name: fate.random() for name in ("failure", "second_wish", "corrected")}
        if self.level == "complete":
            self.owes_mistake |= self.rolls["corrected"] < shape.corrected
        self.seeker.max_calls = max(1, min(shape.max_calls, self._room() - self.owes_mistake))
        return "choose_level"

    def _replies(self) -> int:
        """How many replies the assistant has made: one a call, be it refused, and one at the end of each turn."""
        return sum(len(turn.calls) + len(turn.attempts) + 1 for turn in self.turns)

    def _room(self) -> int:
        """How many calls this query may take: the replies there are, less those that follow the calls or ask back, and three for each
        later query, a look-up, a call and an answer. Raises `Rejected` where none is left."""
        replies = self.limits.assistant_turns - self._replies()
        room = replies - (1 if self.level == "complete" else 2) - 3 * (self.wanted - self.queries - 1)
        if room < 1:
            raise Rejected("too long", f"no room for query {self.queries + 1} of {self.wanted}")
        return room

    def _choose_level(self) -> State:
        """Find something to want that this level of information can express, and that the world can grant."""
        goal = self._failing() if self.level == "complete" else None
        goal = goal or self.seeker.goal(self.draft, self.level, self.focus, later=self.queries > 0, last=self.last)
        if goal is None and self.focus and self.level == "complete":
            goal = self.obstacles.blocked(self.draft, self.focus)  # its moment has not come: clear the way first
        if goal is None:
            raise Rejected("no goal", f"{self.focus or 'anything'} at level {self.level}")
        self.goal: Goal = goal
        if self.chained and goal.results:
            self.last = Last(goal.wishes[-1], goal.results[-1], self.draft.session)
        if self.level == "complete" and not goal.attempts and (self.chained or self.rolls["second_wish"] < self.shape.second_wish):
            self.goal = self.seeker.and_then(goal, self.last) or goal
            if self.chained and self.goal is not goal:
                self.last = Last(self.goal.wishes[-1], self.goal.results[-1], goal.draft.session)
        if self.owes_mistake and not self.goal.attempts:
            mistaken = with_mistake(self.draft, self.goal, self.rng)
            self.goal = mistaken if self._fits(mistaken) else self.goal
            self.owes_mistake = not self.goal.attempts
        self.focus = None
        self.queries += 1
        return "ask"

    def _failing(self) -> Goal | None:
        """A wish in whose way something stands, or one that cannot be met, in the shape's shares of complete queries; one that is
        not found now is looked for again at the next."""
        roll, shape = self.rolls["failure"], self.shape
        if roll < shape.alternative + shape.impossible:
            self.owed = self.obstacles.blocked if roll < shape.alternative else self.obstacles.impossible
        if self.owed is None:
            return None
        goal = (self.owed(self.draft, self.focus) if self.focus else None) or self.owed(self.draft, None)
        self.owed = None if goal else self.owed
        return goal

    def _fits(self, goal: Goal) -> bool:
        """Whether there are replies enough for a goal, its attempts among them, and turns where the assistant asks."""
        offers = goal.refusal is not None and goal.refusal.recovery == "asked"
        asks = offers or self.level != "complete"
        calls = len((goal.then or goal).draft.calls) - len(self.draft.calls) + len(goal.attempts)
        later = self.wanted - self.queries - 1
        fits = self._replies() + calls + 1 + asks + 3 * later <= self.limits.assistant_turns
        return fits and len(self.turns) + 1 + asks + later <= self.limits.user_turns

    # --- turn

    def _ask(self) -> State:
        later = self.queries > 1
        at_once = any(attempt.recovery == "alternative" for attempt in self.goal.attempts)
        asked_for = self.goal.wishes[-1:] if at_once else self.goal.wishes  # not for what clears the way
        self.words = self.teacher.request(list(asked_for), self.persona, self.rng, later)
        if at_once:
            self.words += f" {refusing.leave(self.rng)}"
        self._holds_back(self.goal.wishes[0])
        return "question" if self.goal.wishes[0].held_back else "execute"

    def _holds_back(self, wish: Wish) -> None:
        """Raise `Rejected` if the words give by accident what the wish keeps for the answer to a question."""
        for p in (p for p in type(self.draft.live).tools[wish.ask.tool].parameters if p.name in wish.held_back):
            if given_away(wish.arguments[p.name], wish.spoken[p.name], p, self.words, self.draft.live, self.book):
                raise Rejected("asks what was said", f"{p.name} in {self.words!r}")

    def _clarify(self) -> State:
        self.words = self.teacher.supply(self.goal.wishes[0], self.persona, self.rng)
        return "execute"

    def _agree(self) -> State:
        assert self.goal.then
        self.words, self.goal = refusing.consent(self.rng), self.goal.then
        return "execute"

    def _decline(self) -> State:
        self.turns.append(Turn(refusing.decline(self.rng), self.level, [], refusing.left(self.rng)))
        return "continue"

    # --- tool execution

    def _execute(self) -> State:
        self.new: list[GroundTruthCall] = self.goal.draft.calls[len(self.draft.calls) :]
        self.draft = self.goal.draft
        if self.goal.refusal:
            return "failure"
        return "partial_success" if self.goal.attempts else "success"

    def _partial_success(self) -> State:
        return "answer"

    _success = _partial_success

    def _failure(self) -> State:
        if told := said_before(self.goal.answers, self.words):
            raise Rejected("the reason is said", f"{told!r} in {self.words!r}")
        return "propose" if self.goal.refusal and self.goal.refusal.recovery == "asked" else "give_up"

    # --- response

    def _question(self) -> State:
        self.turns.append(Turn(self.words, self.level, [], self.teacher.question(self.goal.wishes[0], self.rng)))
        return "clarify"

    def _answer(self) -> State:
        said = zip(self.goal.wishes, self.goal.results, strict=True)
        *others, last = (self.teacher.reply(w, type(self.draft.live).tools[w.ask.tool], r, self.book, self.draft.live) for w, r in said)
        ended = [f"{reply}." if reply[-1].isalnum() else reply for reply in others]
        self._say(" ".join([*ended, last]), self.goal.answers, self.goal.attempts)
        return "continue"

    def _propose(self) -> State:
        self._tell(refusing.offered)
        return "agree" if self.goal.then else "decline"

    def _give_up(self) -> State:
        self._tell(refusing.passed_on)
        return "continue"

    def _tell(self, put: Callable[[str, type[Server], dict[str, str], Random], str]) -> None:
        """Say why the wish was refused, put in such words."""
        message = self.goal.refusal.message if self.goal.refusal else ""
        said = put(message, type(self.draft.live), names_in(message, self.goal.wishes[0], self.draft, self.rng), self.rng)
        self._say(said, self.goal.answers, self.goal.attempts)

    def _say(self, reply: str, answers: list[Answer], attempts: list[Attempt]) -> None:
        self.turns.append(Turn(self.words, self.level, self.new, reply, answers, attempts))

    # --- continuation

    def _continue(self) -> State:
        if self.queries < self.wanted:
            return "draw_goal"
        if self.patient and (self.owed or self.owes_mistake):
            raise Rejected("nothing refused")
        return "end"
