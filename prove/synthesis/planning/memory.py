"""What a conversation has been about: the records that "it" and "that one" can mean."""

from collections import Counter
from itertools import zip_longest
from typing import Any

import msgspec

from prove.records import Answer, Attempt
from prove.servers.tools import Tool
from prove.synthesis.planning.planner import Draft
from prove.synthesis.planning.values import looked_up, shown_alone, table_of
from prove.synthesis.planning.wishes import Wish


class Goal(msgspec.Struct, frozen=True):
    """One query's worth: what is wished, and the draft in which it has been done."""

    wishes: tuple[Wish, ...]
    draft: Draft
    results: tuple[Any, ...]
    answers: list[Answer]
    attempts: list[Attempt] = []
    then: "Goal | None" = None  # where the assistant asks whether to clear the way: what it does once it may

    @property
    def refusal(self) -> Attempt | None:
        """What the wish comes to, where it is not met."""
        return next((attempt for attempt in self.attempts if attempt.stands), None)


class Memory:
    """What was spoken of so far, as a user knows it."""

    def __init__(self) -> None:
        self.recent: dict[Any, str] = {}  # id type -> the record last talked about
        self.done: list[str] = []  # tools asked for so far
        self._unread: set[Any] = set()  # kinds of which this query's own look-ups found that record: nobody can speak of it yet
        self._before = 0  # how many results there were when the query began

    def begin(self, draft: Draft) -> None:
        """A new query: what the last one's look-ups have found can be spoken of now."""
        self._before, self._unread = len(draft.results), set()

    def calls_since(self, draft: Draft) -> int:
        """How many calls the query has made in a draft."""
        return len(draft.calls) - self._before

    def still_there(self, trial: Draft, id_type: Any) -> str | None:
        """The record of that kind last talked about, unless it is gone."""
        key, table = self.recent.get(id_type), table_of(type(trial.live), id_type)
        return key if key and id_type not in self._unread and (table is None or key in trial.live.state[table]) else None

    def remember(self, goal: Goal) -> None:
        """Speak next of the records that the goal was about."""
        server, alone = type(goal.draft.live), self._clear_up(goal)
        for wish, result in zip_longest(goal.wishes, goal.results):
            tool = server.tools[wish.ask.tool]
            if found := looked_up(tool, wish.arguments, result):  # one record is what is spoken of next; of several none is
                kind, keys = found
                self.recent.pop(kind, None)
                if len(keys) == 1 and alone.get(kind) == keys[0]:
                    self.recent[kind] = keys[0]
                    self._unread.add(kind)
            self.recent |= tool.ids_of(wish.arguments)
            for kind in _named_twice(tool, wish.arguments):
                self.recent.pop(kind, None)  # "that account" would be either of the two
            self.done.append(tool.name)
        self._speak_of_made(goal)

    def remember_refused(self, goal: Goal) -> None:
        """The records of a wish that cannot be met: nothing else of their kinds is "that one" after it."""
        self._clear_up(goal)
        tool = type(goal.draft.live).tools[goal.wishes[0].ask.tool]
        named = tool.ids_of(goal.wishes[0].arguments)
        self.recent = {kind: key for kind, key in self.recent.items() if named.get(kind, key) == key}
        self.done.append(tool.name)

    def _clear_up(self, goal: Goal) -> dict[Any, str]:
        """Forget what could be mistaken for the only record of its kind that the goal's results show, and what this query has
        found and then shown among others; returns all that are shown alone."""
        alone = shown_alone(goal.draft.live, goal.draft.results[self._before :])
        stays = {kind: key for kind, key in self.recent.items() if kind not in self._unread} | alone
        self.recent = {kind: key for kind, key in self.recent.items() if stays.get(kind) == key}
        return alone

    def _speak_of_made(self, goal: Goal) -> None:
        """A new record is what one speaks of next; neither it nor another of its kind that was named for it."""
        server = type(goal.draft.live)
        last, given = server.tools[goal.wishes[-1].ask.tool], goal.wishes[-1].arguments
        if last.marks.writes and goal.results and isinstance(goal.results[-1], dict):
            kind, key = last.subject, next(iter(goal.results[-1].values()))
            table = table_of(server, kind) if kind and isinstance(key, str) else None
            made = table and key not in goal.draft.live.state[table].base.records
            if made and kind in last.ids_of(given):
                self.recent.pop(kind, None)
            elif made:
                self.recent[kind] = key


def _named_twice(tool: Tool, arguments: dict[str, Any]) -> set[Any]:
    """The id types of which a call names two records: a transfer from one account to another."""
    kinds = Counter(p.id_type for p in tool.parameters if p.id_type and p.name in arguments)
    return {kind for kind, n in kinds.items() if n > 1}
