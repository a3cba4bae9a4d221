"""Mistakes that an assistant makes before it does the right thing: found by making them, kept where they are refused.

Each is one that people see assistants make: a call before its time, a name where an id belongs, the id of another record of the
list that was just read or of another kind, a value spelled the way the user said it, a longer page than there is.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from random import Random
from typing import Any

import msgspec

from prove.records import Attempt, GroundTruthCall
from prove.servers.errors import Code
from prove.servers.schema import bare, without_none
from prove.servers.session import Session
from prove.servers.tools import Parameter, Tool
from prove.synthesis.language.saying import is_money
from prove.synthesis.planning.memory import Goal
from prove.synthesis.planning.planner import Draft
from prove.synthesis.planning.values import table_of, texts_of
from prove.synthesis.planning.wishes import Wish

_CODES: tuple[Code, ...] = ("invalid_argument", "not_found", "failed_precondition", "conflict", "resource_exhausted")
_OTHERS = 4  # records that are tried in place of the right one
_PAGES = 0.25  # where nothing but the length of a page could go wrong, it seldom does
_LONG_PAGES = (100, 200, 500, 1000)

Mistake = tuple[str, str, str, dict[str, Any]]  # what kind of mistake, the call before which it is made, the tool, the arguments


def with_mistake(before: Draft, goal: Goal, rng: Random) -> Goal:
    """The same goal with a mistake in it, of a kind drawn from those that are refused here; the goal as it is where none is.

    `before` is the draft in which the query began. What a mistake says is what the assistant knows by then.
    """
    query = _Query(before, goal)
    found: dict[str, list[Attempt]] = {}
    for kind, call, tool, arguments in query.mistakes(rng):
        session = query.at[call].fork()
        state, result = session.digest(), session.call(tool, arguments)
        if result.code in _CODES and session.digest() == state:
            message = result.value["error"]["message"]
            found.setdefault(kind, []).append(Attempt(call, tool, arguments, result.code, message, "corrected"))
    if not found or (found.keys() == {"page"} and rng.random() > _PAGES):
        return goal
    return msgspec.structs.replace(goal, attempts=[rng.choice(found[rng.choice(sorted(found))])])


class _Query:
    """A query's calls, with the world and what the assistant knows before each of them."""

    def __init__(self, before: Draft, goal: Goal) -> None:
        self.goal, self.tools = goal, type(before.live).tools
        self.calls: Sequence[GroundTruthCall] = goal.draft.calls[len(before.calls) :]
        self.at: dict[str, Session] = {}
        self.known: dict[str, set[str]] = {}  # texts of results
        trial = before.fork()
        self.live = trial.live
        for call in self.calls:
            self.at[call.id], self.known[call.id] = trial.session.fork(), set(trial.known)
            trial.call(call.name, call.arguments)

    def mistakes(self, rng: Random) -> Iterator[Mistake]:
        for place, call in enumerate(self.calls):
            tool, wish = self.tools[call.name], self._wish(call)
            yield from self._too_long(call, tool, rng)
            if wish is None:
                continue
            yield from self._too_early(place, call, tool)
            yield from self._by_name(call, tool, wish)
            yield from self._another(call, tool, rng)
            yield from self._of_another_kind(call, tool, rng)
            yield from self._as_said(call, tool, wish)

    def _wish(self, call: GroundTruthCall) -> Wish | None:
        """The wish that a call grants; None for a look-up."""
        return next((w for w in self.goal.wishes if w.ask.tool == call.name and w.arguments == call.arguments), None)

    def _too_long(self, call: GroundTruthCall, tool: Tool, rng: Random) -> Iterator[Mistake]:
        """A page longer than the tool gives."""
        if any(p.name == "limit" for p in tool.parameters) and "limit" not in call.arguments:
            yield "page", call.id, call.name, {**call.arguments, "limit": rng.choice(_LONG_PAGES)}

    def _too_early(self, place: int, call: GroundTruthCall, tool: Tool) -> Iterator[Mistake]:
        """A step before another that makes it possible."""
        for earlier in self.calls[:place]:
            ids = set(tool.ids_of(call.arguments).values())
            if self.tools[earlier.name].marks.writes and tool.marks.writes and ids <= self._told_by(earlier):
                yield "early", earlier.id, call.name, call.arguments

    def _told_by(self, call: GroundTruthCall) -> set[str]:
        """The texts known before a call: from results, and to the letter from the user."""
        return self.known[call.id] | {v for w in self.goal.wishes for p, v in w.arguments.items() if w.spoken.get(p) == v}

    def _by_name(self, call: GroundTruthCall, tool: Tool, wish: Wish) -> Iterator[Mistake]:
        """The name of a record instead of the id that nothing has shown yet."""
        first = self.calls[0]
        told = self._told_by(first)
        unknown = [p for p in tool.parameters if p.id_type and wish.arguments.get(p.name, "") not in ("", *told)]
        names = {p.name: self._name(p, wish) for p in unknown}
        if call is not first and not self.tools[first.name].marks.writes and names and all(names.values()):
            yield "name", first.id, call.name, {**call.arguments, **names}

    def _name(self, parameter: Parameter, wish: Wish) -> str:
        """The longest text of a record that the user says where the record is named; "" for none."""
        said = texts_of(self.live, parameter.id_type, wish.arguments[parameter.name], wish.spoken.get(parameter.name, ""))
        return max(said, key=len, default="")

    def _another(self, call: GroundTruthCall, tool: Tool, rng: Random) -> Iterator[Mistake]:
        """Another record of those that were read: an old order, a closed account."""
        for p in (p for p in tool.parameters if p.id_type and p.name in call.arguments and tool.marks.writes):
            table = table_of(type(self.live), p.id_type)
            others = sorted(self.known[call.id] & set(self.live.state[table].keys())) if table else []
            meant = {v for w in self.goal.wishes for v in w.arguments.values() if isinstance(v, str)}
            others = [key for key in others if key not in meant]
            for key in rng.sample(others, min(_OTHERS, len(others))):
                yield "another", call.id, call.name, {**call.arguments, p.name: key}

    def _of_another_kind(self, call: GroundTruthCall, tool: Tool, rng: Random) -> Iterator[Mistake]:
        """The id of another kind of record that was read: the account where its card belongs."""
        for p in (p for p in tool.parameters if p.id_type and call.arguments.get(p.name) in self.known[call.id]):
            tables = [rows for name, rows in self.live.state.items() if name != table_of(type(self.live), p.id_type)]
            others = sorted(key for key in self.known[call.id] if re.search(r"\d", key) and any(key in rows for rows in tables))
            for key in rng.sample(others, min(_OTHERS, len(others))):
                yield "kind", call.id, call.name, {**call.arguments, p.name: key}

    def _as_said(self, call: GroundTruthCall, tool: Tool, wish: Wish) -> Iterator[Mistake]:
        """A value as the user spells it, or a person would."""
        for p in (p for p in tool.parameters if not p.id_type and p.name in call.arguments):
            for value in _spellings(p, call.arguments[p.name], wish.spoken.get(p.name)):
                if value != call.arguments[p.name]:
                    yield "spelling", call.id, call.name, {**call.arguments, p.name: value}


def _spellings(parameter: Parameter, value: Any, said: str | None) -> Iterator[Any]:
    hint = without_none(parameter.hint)
    core = bare(hint)
    if isinstance(value, bool | list) or value is None:
        return
    if is_money(hint):
        yield from (f"${value / 100:,.2f}", value / 100)
    elif core is date:
        day = date.fromisoformat(value)
        yield from (f"{day:%m/%d/%Y}", f"{day:%B} {day.day}")
    elif core is datetime:
        moment = datetime.fromisoformat(value)
        yield from (f"{moment:%Y-%m-%d} {moment.hour % 12 or 12}:{moment:%M %p}", f"{moment:%m/%d/%Y %H:%M}")
    elif said and said != value and isinstance(value, str):
        yield said.removeprefix("the ").removeprefix("my ")
