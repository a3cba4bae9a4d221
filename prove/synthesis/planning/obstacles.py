"""Wishes that the state refuses: why, as a read shows it, and what clears the way, if anything does. All found by trying."""

from collections import Counter
from collections.abc import Callable, Iterator, Set
from itertools import islice, product
from typing import Any, Literal, get_args, get_origin

import msgspec

from prove.records import Answer, Attempt, leaves, paths
from prove.servers.errors import Code
from prove.servers.schema import bare
from prove.servers.session import Session
from prove.servers.tools import Parameter, Tool
from prove.synthesis.language.refusing import advice, suggests
from prove.synthesis.planning.causes import holder, named_in, newly, telling
from prove.synthesis.planning.goals import BLOCKED, TRIES, Seeker
from prove.synthesis.planning.memory import Goal
from prove.synthesis.planning.planner import Draft, Unplannable
from prove.synthesis.planning.values import NoValue
from prove.synthesis.planning.wander import refusing
from prove.synthesis.planning.wishes import Wish

_CLEARINGS = 8  # refused wishes for which a way out is looked for: one that is not found early is rarely found late
_OF_ONE_TOOL = 5  # refused wishes of one tool: others may do where none of these did
_AGREE = 0.7  # how often a user takes what the assistant offers
_FILLINGS = 6  # ways of calling one tool that is to clear the way


class Refused(msgspec.Struct, frozen=True):
    """A wish that the state refuses: the draft in which its look-ups are done, and what the refusal says."""

    wish: Wish
    trial: Draft
    code: Code
    message: str
    advice: str
    decided: dict[Any, bool] = msgspec.field(default_factory=dict)  # of places in the world, whether the refusal hangs on them

    def told(self, result: Any) -> list[tuple[str, Any]]:
        """What a result tells of why."""
        return telling(self.trial, self.wish, self.message, result, self.decided)

    def attempt(self, before: str, recovery: Literal["alternative", "asked", "give_up"]) -> Attempt:
        return Attempt(before, self.wish.ask.tool, self.wish.arguments, self.code, self.message, recovery)


class Obstacles:
    """Finds what cannot be done as it stands, for the conversation of a seeker; only what `fits` into it."""

    def __init__(self, seeker: Seeker, fits: Callable[[Goal], bool]) -> None:
        self.seeker, self.rng, self.fits = seeker, seeker.rng, fits

    def impossible(self, draft: Draft, focus: str | None) -> Goal | None:
        """A wish that cannot be met, with the reads that show why. Where the refusal names a way out the assistant offers it; the
        user may agree, where there is a tool for it."""
        self.seeker.memory.begin(draft)
        for refused in self._refused(draft, focus):
            ways = self._cleared(refused) if refused.advice and self.rng.random() < _AGREE else ()
            offers = (self._asked(draft, cleared, refused) for cleared, _ in ways)
            goal = next(filter(None, offers), None) or self._hopeless(draft, refused)
            if goal and self.fits(goal):
                return self._remembered(goal)
        return None

    def blocked(self, draft: Draft, focus: str | None) -> Goal | None:
        """A wish that the state refuses until another tool has done what the refusal says. The assistant asks first and does it
        when it may; or the user has said that it need not ask, and what clears the way takes nothing away."""
        self.seeker.memory.begin(draft)
        for refused in islice((r for r in self._refused(draft, focus) if r.advice), _CLEARINGS):
            for cleared, gone in self._cleared(refused):
                goal = self._at_once(draft, cleared, refused) if self.rng.random() < 0.5 and not gone else None
                goal = goal or self._asked(draft, cleared, refused)
                if goal and self.fits(goal):
                    return self._remembered(goal)
        return None

    def _remembered(self, goal: Goal) -> Goal:
        if goal.refusal and not goal.then:
            self.seeker.memory.remember_refused(goal)
        else:
            self.seeker.memory.remember(goal.then or goal)
        return goal

    # --- refusals

    def among(self, server: str) -> frozenset[str]:
        """What can be asked for, and a state can refuse."""
        return refusing(server, *BLOCKED) & self.seeker.book.asks_at["complete"].keys()

    def _refused(self, draft: Draft, focus: str | None) -> Iterator[Refused]:
        """Wishes that are refused for the state of the world; none if that is not so of the tool in focus."""
        among = self.among(draft.server)
        if focus is not None and focus not in among:
            return
        found = Counter[str]()
        for _ in range(TRIES):
            left = (among if focus is None else {focus}) - {tool for tool, times in found.items() if times == _OF_ONE_TOOL}
            if not left:
                return
            if refused := self._try(draft, focus, left):
                found[refused.wish.ask.tool] += 1
                yield refused

    def _try(self, draft: Draft, focus: str | None, among: Set[str]) -> Refused | None:
        seeker = self.seeker
        try:
            wish = seeker.wish(draft, seeker.ask(draft, focus, among=among), "complete", later=False)
            result = seeker.outlook(draft, wish)
            if result.code not in BLOCKED:
                return None
            trial = draft.fork()
            wish, message = seeker.named(trial, wish), result.value["error"]["message"]
            if len(ids := [v for p, v in wish.arguments.items() if p.endswith("_id")]) != len(set(ids)):
                return None  # nobody moves something to where it is
        except (NoValue, Unplannable):
            return None
        return Refused(wish, trial, result.code, message, advice(message, type(draft.live)))

    # --- no way

    def _hopeless(self, draft: Draft, refused: Refused) -> Goal | None:
        reason = self._reason(draft, refused)
        if reason is None:
            return None
        trial, answers, before = reason
        if not _all_used(trial, len(draft.calls), answers, refused.wish):
            return None
        attempt = refused.attempt(before, "asked" if refused.advice else "give_up")
        return Goal((refused.wish,), trial, (), answers, [attempt])

    def _reason(self, draft: Draft, refused: Refused) -> tuple[Draft, list[Answer], str] | None:
        """The reads that show a reason: (draft with them, what they show, the call before which the wish is tried).

        The wish's own look-ups may show it; else it is tried first, and then what stands in the way is read.
        """
        old = {leaf for result in draft.results for leaf in leaves(result)}
        trial, since = refused.trial, len(draft.calls)
        for call, result in zip(trial.calls[since:], trial.results[since:], strict=True):
            if answers := newly(call.id, refused.told(result), old):
                return trial, answers, ""
        for tool, arguments in self._reads(trial, refused):
            result = trial.session.call(tool.name, arguments)
            if result.ok and newly("", refused.told(result.value), old):
                trial = trial.fork()
                trial.call(tool.name, arguments)
                last = trial.calls[-1].id
                return trial, newly(last, refused.told(result.value), old), last
        return None

    def _reads(self, trial: Draft, refused: Refused) -> Iterator[tuple[Tool, dict[str, Any]]]:
        """Reads of the records that a wish or its refusal names, and reads that need no record."""
        tools = type(trial.live).tools
        known: dict[Any, list[str]] = {k: [key] for k, key in tools[refused.wish.ask.tool].ids_of(refused.wish.arguments).items()}
        for kind, key in named_in(refused.message, trial):
            known.setdefault(kind, []).append(key)
        for tool in (t for t in tools.values() if not t.marks.writes):
            needed = [p for p in tool.parameters if p.required]
            narrowing = [p for p in tool.parameters if not p.required and p.id_type in known and not needed]
            if all(p.id_type in known for p in needed):
                chosen = needed or narrowing[:1]
                for keys in product(*(known[p.id_type] for p in chosen)):
                    yield tool, {p.name: key for p, key in zip(chosen, keys, strict=True)}

    # --- a way

    def _cleared(self, refused: Refused) -> Iterator[tuple[tuple[Wish, dict[str, Any]], bool]]:
        """Calls that do what the refusal says, after which the wish succeeds: the call as a wish with what it gave, and whether it
        takes something away."""
        trial, wish = refused.trial, refused.wish
        tools = type(trial.live).tools
        fitting = [t for t in tools.values() if t.marks.writes and t.name != wish.ask.tool and suggests(refused.advice, t)]
        for tool in sorted(fitting, key=lambda t: t.name not in refused.advice):
            for arguments in islice(self._fillings(trial, tool, refused), _FILLINGS):
                after = trial.session.fork()
                cleared = after.call(tool.name, arguments)
                between = after.fork()
                if not cleared.ok or not after.call(wish.ask.tool, wish.arguments).ok or _only_undoes(trial.session, between, after):
                    continue
                ask = self.seeker.book.asks[tool.name][0]
                yield (Wish(ask, ask.say[0], arguments, {}), cleared.value), tool.marks.destructive

    def _fillings(self, trial: Draft, tool: Tool, refused: Refused) -> Iterator[dict[str, Any]]:
        """Arguments for a tool from what the wish and its refusal name; a choice or a yes/no as it may be."""
        named = named_in(refused.message, trial)
        mine = type(trial.live).tools[refused.wish.ask.tool].ids_of(refused.wish.arguments)
        options = [_options(p, named, mine, refused.wish.arguments) for p in tool.parameters if p.required]
        names = [p.name for p in tool.parameters if p.required]
        for values in product(*options):
            yield dict(zip(names, values, strict=True))

    def _at_once(self, draft: Draft, cleared: tuple[Wish, Any], refused: Refused) -> Goal | None:
        """The way is cleared in the same turn. None where an id that is needed has been shown by no read."""
        clearing, _ = cleared
        trial = refused.trial.fork()
        if not all(_known(v, trial, refused.wish) for v in clearing.arguments.values()):
            return None
        done = self._both(trial, cleared, refused.wish)
        first = done.draft.calls[-2].id
        return msgspec.structs.replace(done, attempts=[refused.attempt(first, "alternative")])

    def _asked(self, draft: Draft, cleared: tuple[Wish, Any], refused: Refused) -> Goal | None:
        """The assistant says what stands in the way, and does what the refusal says once the user agrees. What stands in the way
        is what clearing it changes."""
        clearing, _ = cleared
        after = refused.trial.session.fork()
        after.call(clearing.ask.tool, clearing.arguments)
        reason = self._reason(draft, refused) or self._reason_changed(draft, refused, after)
        if reason is None:
            return None
        trial, answers, before = reason
        then = self._both(trial.fork(), cleared, refused.wish)
        return Goal((refused.wish,), trial, (), answers, [refused.attempt(before, "asked")], then)

    def _reason_changed(self, draft: Draft, refused: Refused, after: Session) -> tuple[Draft, list[Answer], str] | None:
        """The look-ups of a wish, where they show what clearing the way changes of the record."""
        old = {leaf for result in draft.results for leaf in leaves(result)}
        tool = type(draft.live).tools[refused.wish.ask.tool]
        since, ids = len(draft.calls), set(tool.ids_of(refused.wish.arguments).values())
        for call, result in zip(refused.trial.calls[since:], refused.trial.results[since:], strict=True):
            again = after.call(call.name, call.arguments)
            changed = set(paths(result)) - set(paths(again.value)) if again.ok else set()
            about = [(p, v) for p, v in paths(result) if (p, v) in changed and ids & set(map(str, holder(result, p).values()))]
            if answers := newly(call.id, about, old):
                return refused.trial, answers, ""
        return None

    def _both(self, trial: Draft, cleared: tuple[Wish, Any], wish: Wish) -> Goal:
        clearing, _ = cleared
        first = trial.call(clearing.ask.tool, clearing.arguments).value
        second = trial.call(wish.ask.tool, wish.arguments).value
        return Goal((clearing, wish), trial, (first, second), [])


# --- what calls are made of


def _options(parameter: Parameter, named: list[tuple[Any, str]], mine: dict[Any, str], arguments: dict[str, Any]) -> list[Any]:
    if parameter.id_type:
        keys = [key for kind, key in named if kind is parameter.id_type and key != mine.get(kind)]
        return [*keys, *([mine[parameter.id_type]] if parameter.id_type in mine else [])]
    if parameter.name in arguments:
        return [arguments[parameter.name]]
    core = bare(parameter.hint)
    return [True, False] if core is bool else list(get_args(core)) if get_origin(core) is Literal else []


def _all_used(trial: Draft, since: int, answers: list[Answer], wish: Wish) -> bool:
    """Whether each read is needed to show the reason: it does, or tells a later one what to look up."""
    said = {v for p, v in wish.arguments.items() if wish.spoken.get(p) == v}
    needed = {answer.call for answer in answers}
    for call, result in reversed(list(zip(trial.calls[since:], trial.results[since:], strict=True))):
        texts = {value for _, value in leaves(result) if isinstance(value, str)} - said
        later = [c for c in trial.calls[since:] if c.id in needed and c is not call]
        if call.id not in needed and not any(texts & set(map(str, c.arguments.values())) for c in later):
            return False
        needed.add(call.id)
    return True


def _known(value: Any, draft: Draft, wish: Wish) -> bool:
    """Whether the assistant knows a value without the refusal."""
    return not isinstance(value, str) or value in draft.known or value in wish.arguments.values()


def _only_undoes(start: Session, before: Session, after: Session) -> bool:
    """Whether a call just brought back what had been there at the start: unfreezing what was frozen for it."""
    for table, changed in before.diff(after).items():
        rows = start.servers[table.split(".")[0]].state[table.split(".")[1]]
        for key, (was, now) in changed.items():
            first = rows.find(key)
            if None in (was, now, first) or any(getattr(now, f) not in (getattr(was, f), getattr(first, f)) for f in now.__struct_fields__):
                return False
    return True
