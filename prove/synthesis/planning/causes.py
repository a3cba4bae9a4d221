"""Why a call is refused, as reads show it: the values of the records in question that the refusal speaks of, and without which
there would be none."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any, Literal, get_args, get_origin

import msgspec

from prove.records import Answer
from prove.servers.schema import bare, fields_of, without_none
from prove.synthesis.language.phrases import value_at
from prove.synthesis.planning.planner import Draft, Unplannable, name_record
from prove.synthesis.planning.wishes import Wish

_OTHERS = 6  # other values that are tried in a field
_SMALL = 12  # numbers up to here stand in many texts by chance


def telling(trial: Draft, wish: Wish, message: str, result: Any, decided: dict[Any, bool]) -> list[tuple[str, Any]]:
    """What a result tells of why a wish is refused, as (path, value); nothing that the user said.

    A value of a record counts where with another value in its place the wish would be granted; one that the tool has worked out
    (how much is left) where the refusal says it. What has been tried of the same wish is `decided`.
    """
    tool = type(trial.live).tools[wish.ask.tool]
    keys = set(tool.ids_of(wish.arguments).values())
    named = {key for _, key in named_in(message, trial)} - keys
    said = " ".join([*wish.spoken.values(), *(str(v) for v in wish.arguments.values())]).casefold()
    only = {rows.keys()[0] for rows in trial.live.state.values() if len(rows) == 1}  # the car, the household: there is no other
    found = []
    for start, about in _objects(result):
        whose = set(map(str, about.values()))
        if not ((keys | named) & whose or (not keys and (not start or only & whose))):
            continue
        for field, value in about.items():
            if value in (None, "") or isinstance(value, list | dict) or stands_in(str(value).casefold(), said):
                continue
            place = _place(trial, about, field)
            if place and (place, value) not in decided:
                decided[place, value] = _decides(trial, wish, place, value)
            if decided[place, value] if place else _says(message, field, value) and str(value) not in said:
                found.append((f"{start}.{field}" if start else field, value))
    return found


def _objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(dotted path, object) of every object in a result."""
    if isinstance(value, dict):
        yield path, value
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _objects(inner, f"{path}.{key}" if path else str(key))


def holder(result: Any, path: str) -> dict[str, Any]:
    """The object in which a path of a result ends."""
    about = value_at(result, path.rpartition(".")[0]) if "." in path else result
    return about if isinstance(about, dict) else {}


def newly(call: str, told: list[tuple[str, Any]], old: set[tuple[str, Any]]) -> list[Answer]:
    """Answers of the first object in which something is told that no earlier result has told."""
    fresh = [(p, v) for p, v in told if (p.rsplit(".", 1)[-1], v) not in old]
    first = fresh[0][0].rpartition(".")[0] if fresh else ""
    return [Answer(call, p, v) for p, v in fresh if p.rpartition(".")[0] == first]


def named_in(message: str, draft: Draft) -> list[tuple[Any, str]]:
    """(id type, key) of the records that a message names by their keys."""
    words = dict.fromkeys(re.findall(r"[\w#/.~-]*\w", message))
    homes = type(draft.live).homes.items()
    return [(kind, word) for word in words for kind, table in homes if word in draft.live.state[table]]


def said_before(reason: list[Answer], words: str) -> list[str]:
    """What of a reason the user's own words say."""
    texts = [answer.value for answer in reason if isinstance(answer.value, str)]
    return [text for text in texts if stands_in(text.casefold(), words.casefold())]


def names_in(message: str, wish: Wish, draft: Draft, rng: Random) -> dict[str, str]:
    """Words for the records that a message names, by key: the user's own for those of the wish, else such as users say."""
    tool, names = type(draft.live).tools[wish.ask.tool], {}
    for kind, key in named_in(message, draft):
        mine = [wish.spoken[p.name] for p in tool.parameters if p.id_type is kind and wish.arguments.get(p.name) == key]
        try:
            said = [words for words in mine if words not in draft.book.mentions[kind.__name__].again]
            names[key] = said[0] if said else name_record(draft, kind, key, rng).text
        except (Unplannable, LookupError):
            continue
    return names


# --- what decides


def _place(trial: Draft, about: dict[str, Any], field: str) -> tuple[str, str, str] | None:
    """(table, key, field) of the record that an object of a result shows; None for what the tool has worked out."""
    key = next(iter(about.values()), None)
    for name, rows in trial.live.state.items():
        if isinstance(key, str) and key in rows and field in fields_of(rows.spec.record):
            return name, key, field
    single = [n for n, rows in trial.live.state.items() if len(rows) == 1 and field in fields_of(rows.spec.record)]
    return (single[0], trial.live.state[single[0]].keys()[0], field) if len(single) == 1 else None


def _decides(trial: Draft, wish: Wish, place: tuple[str, str, str], value: Any) -> bool:
    """Whether the wish would be granted if the field held another value, or if a record that it does not name were not there."""
    table, key, field = place
    if value == key:  # it is there at all: a payment that is still to be made
        return key not in wish.arguments.values() and _granted(trial, wish, table, key, {})
    if msgspec.to_builtins(getattr(trial.live.state[table].get(key), field)) != value:
        return False
    return any(_granted(trial, wish, table, key, {field: other}) for other in _others(trial, table, key, field))


def _others(trial: Draft, table: str, key: str, field: str) -> Iterator[Any]:
    rows = trial.live.state[table]
    core, mine = bare(without_none(fields_of(rows.spec.record)[field])), getattr(rows.get(key), field)
    choices = [True, False] if core is bool else get_args(core) if get_origin(core) is Literal else (getattr(r, field) for r in rows)
    seen = {mine, None} if not isinstance(mine, list | dict) else {None}
    for choice in choices:
        if not isinstance(choice, list | dict) and choice not in seen:
            seen.add(choice)
            yield choice
        if len(seen) > _OTHERS + 1:
            return


def _granted(trial: Draft, wish: Wish, table: str, key: str, change: dict[str, Any]) -> bool:
    """Whether a wish is granted in a world in which a record is another, or gone where nothing is said of how."""
    there = trial.session.fork()
    rows = there.servers[trial.server].state[table]
    rows.update(key, **change) if change else rows.remove(key)
    try:
        return there.call(wish.ask.tool, wish.arguments).ok
    except Exception:  # a world that its rules could not have made may break a tool: it shows nothing
        return False


# --- what is said


def _says(message: str, field: str, value: Any) -> bool:
    """Whether a message says a value: a text of some length as it is, a small number or a yes with what it is of."""
    text = message.casefold()
    its_field = stands_in(field.replace("_", " "), text)
    if isinstance(value, bool):
        return value and its_field
    if isinstance(value, int | float):
        return (abs(value) > _SMALL or its_field) and stands_in(str(value), text)
    said = str(value).casefold()
    return len(said) > 2 and (stands_in(said, text) or stands_in(said.replace("_", " "), text))


def stands_in(word: str, text: str) -> bool:
    """Whether a word stands in a text by itself."""
    return re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])", text) is not None
