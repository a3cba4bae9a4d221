"""What somebody could want next: goals that the live world can grant, or visibly cannot, found by trying them out."""

from collections.abc import Collection
from random import Random
from typing import Any

import msgspec

from prove.records import Answer, Level, leaves
from prove.servers.errors import Code
from prove.servers.session import Result, Session
from prove.servers.tools import Tool
from prove.synthesis.language.phrases import Ask, Phrasebook, value_at
from prove.synthesis.language.saying import say
from prove.synthesis.language.zones import zone_of
from prove.synthesis.planning.memory import Goal, Memory
from prove.synthesis.planning.planner import Draft, Unplannable, name_record, resolve
from prove.synthesis.planning.values import NoValue, draw, name_of
from prove.synthesis.planning.wander import refusing
from prove.synthesis.planning.wishes import Persona, Wish

TRIES = 40
_LINKS = 24  # tries for the next link of a chain: what is possible is found early, what is not costs all of them
BLOCKED: tuple[Code, ...] = ("failed_precondition", "resource_exhausted")


class Last(msgspec.Struct, frozen=True):
    """The last wish, what came of it, and the world before it: what the next link of a chain hangs on."""

    wish: Wish
    result: Any
    world: Session


def _hangs_on(wish: Wish, result: Any, last: Last) -> bool:
    """Whether one of two wishes, done in the other order, would be refused, or show something else if it is a read."""
    tools, there = last.world.tools, last.world.fork()
    for done, was in ((wish, result), (last.wish, last.result)):
        again = there.call(done.ask.tool, done.arguments)
        if not again.ok or (not tools[done.ask.tool][1].marks.writes and again.value != was):
            return True
    return False


class Seeker:
    """Finds goals for one conversation, and remembers what it has been about."""

    def __init__(self, book: Phrasebook, persona: Persona, rng: Random, max_calls: int) -> None:
        self.book, self.persona, self.rng, self.max_calls = book, persona, rng, max_calls
        self.memory = Memory()
        self.terse = False  # no small talk: a wish that is only there to clear the way for another

    def goal(self, draft: Draft, level: Level, focus: str | None, later: bool, last: Last | None = None) -> Goal | None:
        """A goal that succeeds; about `focus` if it can be asked for at this level, else about what came before. None where
        none is found.

        After a `last` wish, a goal that hangs on it is better than any other.
        """
        self.memory.begin(draft)
        found = self._find(TRIES, draft, focus, level, later, self.max_calls, last)
        if found:
            self.memory.remember(found)
        return found

    def and_then(self, first: Goal, last: Last | None = None) -> Goal | None:
        """The same goal with a second wish that builds on it; `last` is the first, if the second is to hang on it."""
        room = min(2, self.max_calls - self.memory.calls_since(first.draft))
        second = self._find(TRIES // 4, first.draft, None, "complete", True, room, last)
        if second is None:
            return None
        self.memory.remember(second)
        wishes, results = first.wishes + second.wishes, first.results + second.results
        return Goal(wishes, second.draft, results, first.answers + second.answers)

    # --- one try

    def _find(self, tries: int, draft: Draft, focus: str | None, level: Level, later: bool, room: int, last: Last | None) -> Goal | None:
        """A goal of at most `room` calls: one that hangs on the `last` wish, else the first that is found in so many tries."""
        if last and (linked := self._link(draft, focus, level, later, room, last)):
            return linked
        found = (self.grant(draft, self.ask(draft, focus, level), level, later, room) for _ in range(tries))
        return next(filter(None, found), None)

    def _link(self, draft: Draft, focus: str | None, level: Level, later: bool, room: int, last: Last) -> Goal | None:
        """The next link of a chain: the first write that hangs on the last wish, else a read that does. It is looked for mostly
        among the tools that a state can refuse."""
        reads = None
        for i in range(_LINKS):
            among = refusing(draft.server, *BLOCKED) & self.book.asks_at[level].keys() if i % 4 else None
            found = self.grant(draft, self.ask(draft, focus, level, among or None), level, later, room, last)
            if found and type(draft.live).tools[found.wishes[0].ask.tool].marks.writes:
                return found
            reads = reads or found
        return reads

    def ask(self, draft: Draft, focus: str | None, level: Level = "complete", among: Collection[str] | None = None) -> Ask:
        """A thing to ask for, that this level can express: of the tool in focus if there is one, else of one among some, preferably
        about a record that the conversation has touched, and preferably not asked for yet."""
        tools, fitting = type(draft.live).tools, self.book.asks_at[level]
        if focus in fitting:
            return self.rng.choice(fitting[focus])
        names = [name for name in fitting if among is None or name in among]
        likely = (5.0 if tools[name].consumes & self.memory.recent.keys() else 1.0 for name in names)
        weights = [weight * 0.2 ** self.memory.done.count(name) for name, weight in zip(names, likely, strict=True)]
        return self.rng.choice(fitting[self.rng.choices(names, weights)[0]])

    def grant(self, draft: Draft, ask: Ask, level: Level, later: bool, room: int, last: Last | None = None) -> Goal | None:
        """Ground the ask in the live state, look up what it names, and do it, in at most `room` calls. None if anything stands in
        the way, or if it does not hang on the `last` wish."""
        try:
            wish = self.wish(draft, ask, level, later)
            outlook = self.outlook(draft, wish)
            if not outlook.ok or (last and not _hangs_on(wish, outlook.value, last)):
                return None
            trial = draft.fork()
            wish = self.named(trial, wish)
        except (NoValue, Unplannable):
            return None
        result = trial.call(ask.tool, wish.arguments)
        if len(trial.calls) - len(draft.calls) > room:
            return None
        if type(draft.live).tools[ask.tool].marks.writes:
            return Goal((wish,), trial, (result.value,), []) if trial.outcome() != draft.outcome() else None
        if result.value.get("total") == 0:
            return None  # an empty list answers nothing
        answers = self._answers(ask, trial, result.value)
        seen = {leaf for result in trial.results[:-1] for leaf in leaves(result)}
        new = [a for a in answers if not a.leaves <= seen]
        return Goal((wish,), trial, (result.value,), answers) if new else None

    def outlook(self, draft: Draft, wish: Wish) -> Result:
        """What would come of a wish: cheaper to see before its records are named and looked up than after."""
        return draft.session.fork().call(wish.ask.tool, wish.arguments)

    def wish(self, draft: Draft, ask: Ask, level: Level, later: bool) -> Wish:
        """Choose a phrasing, arguments, and the words for them; records that need a name get it from `_named`."""
        tool = type(draft.live).tools[ask.tool]
        template = ask.say[0] if self.terse else ask.phrasing(level, self.persona.register, self.rng)
        required = {p.name for p in tool.parameters if p.required}
        droppable = [s for s in template.slots(droppable=True) if s in required]
        held_back = tuple(droppable if level == "minimal" else self.rng.sample(droppable, 1) if level == "missing_required" else ())
        optional = {s for s in template.slots(droppable=True) if s not in required and level != "minimal" and self.rng.random() < 0.5}
        chosen = set(template.slots(droppable=False)) | required | optional
        arguments: dict[str, Any] = {}
        spoken: dict[str, str] = {}
        for parameter in (p for p in tool.parameters if p.name in chosen):
            again = later and parameter.name not in held_back  # "which one do you mean?" is not answered by "that one"
            unit = template.spec(parameter.name)
            arguments[parameter.name], words = self._argument(draft, tool, parameter, again, arguments, unit)
            if words is not None:
                spoken[parameter.name] = words
        return Wish(ask, template, arguments, spoken, held_back)

    def named(self, trial: Draft, wish: Wish) -> Wish:
        """The same wish with words for all its records; makes the look-ups that lead from the words to them."""
        spoken = dict(wish.spoken)
        for parameter in type(trial.live).tools[wish.ask.tool].parameters:
            if parameter.id_type and parameter.name in wish.arguments.keys() - spoken.keys():
                key = wish.arguments[parameter.name]
                named = name_record(trial, parameter.id_type, key, self.rng)
                resolve(trial, parameter.id_type, key, named, self.rng)
                spoken[parameter.name] = named.text
        return msgspec.structs.replace(wish, spoken=spoken)

    def _argument(self, draft: Draft, tool: Tool, parameter: Any, later: bool, so_far: dict[str, Any], unit: str) -> tuple[Any, str | None]:
        """A value for one argument and the words for it; None for a record to be named."""
        id_type, rng = parameter.id_type, self.rng
        if id_type is None:
            value = draw(draft.live, tool, parameter, rng, self.book.values, so_far)
            words = self.book.words_for(name_of(type(draft.live), parameter.hint), parameter.name)
            return value, say(parameter.hint, value, draft.live.today, rng, words, unit, zone_of(draft.live, so_far))
        recent = self.memory.still_there(draft, id_type)
        again = self.book.mentions[id_type.__name__].again
        alone = id_type not in {p.id_type for p in tool.parameters if p.name in so_far}  # else "that one" would be the other
        if later and recent is not None and alone and rng.random() < 0.75:
            return recent, rng.choice(again) if again and rng.random() < 0.7 else None
        return draw(draft.live, tool, parameter, rng, self.book.values), None

    def _answers(self, ask: Ask, trial: Draft, result: Any) -> list[Answer]:
        """What the reply will tell: the values that the user wanted to know."""
        found = [Answer(trial.calls[-1].id, path, value_at(result, path)) for path in ask.reply.slots()]
        return [a for a in found if a.value not in (None, "", [])]
