"""What the ground truth is for, asked again: whether it needs each of its parts, what each step does, and what else does the same."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import Any

import msgspec

from prove.records import Alternative, Attempt, Conversation, GroundTruthCall, Turn
from prove.verify.evidence import Evidence, Run, run, told_by, untraced
from prove.verify.facts import told
from prove.verify.words import Said, heard

edit = msgspec.structs.replace


def together(e: Evidence) -> Iterator[str]:
    """No several writes can be left out at once, with what then has no source or is refused, and the goal be reached."""
    writes = [c.id for c in e.record.calls if _writes(e, c)]
    for gone in chain.from_iterable(combinations(writes, count) for count in range(2, len(writes) + 1)):
        left, lost = _with(e.record, {call: [] for call in gone}), set(gone)
        other = run(left)
        while unfit := {c for c, *_ in _untraced(e, left, other)} - lost:
            lost |= unfit
            left = _with(e.record, {call: [] for call in lost})
            other = run(left)
        if e.ends_as(other):
            yield f"nothing is lost without {', '.join(sorted(lost))}"


def arguments(e: Evidence) -> Iterator[str]:
    """Of the arguments that a tool can go without, those are spare without which, left out alone or with others, the call does its
    job; a look-up has none by which it does not tell which record is meant."""
    for call in e.record.calls:
        schema, needless = e.whole.states[0].tools[call.name][1].input_schema, set[str]()
        optional = [name for name in call.arguments if name not in schema["required"]]
        for gone in chain.from_iterable(combinations(optional, count) for count in range(1, len(optional) + 1)):
            changed = _with(e.record, {call.id: [edit(call, arguments={n: v for n, v in call.arguments.items() if n not in gone})]})
            other = run(changed)
            if e.reached(other) and not any(_untraced(e, changed, other)) and not any(only_told_by(e, call, other)):
                needless.update(gone)
                if not _asked(e, call) and all(_told_apart(other.results[call.id], *taken) for _, *taken in _taken(e, call)):
                    yield f"{call.id} {call.name} finds it without {' and '.join(gone)}"
        if needless != set(call.spare):
            found, said = (", ".join(sorted(names)) or "nothing" for names in (needless, call.spare))
            yield f"{call.id} {call.name} can do without {found}, not {said}"


def effects(e: Evidence) -> Iterator[str]:
    """The certificate says of every call what it changes, and the facts that it shows of those that are wanted or taken up."""
    if e.record.certificate is None:
        return
    stated, whole = e.record.certificate.effects, e.whole
    if stated.keys() != {c.id for c in e.record.calls}:
        yield f"effects of {', '.join(stated) or 'nothing'} are stated"
        return
    for call, changes in zip(e.record.calls, _changes(e), strict=True):
        places = {p for c in e.record.calls for o in c.origin.values() for p in o.split("; ") if p.startswith(f"{call.id}: ")}
        found = told(whole.states[0], call.name, call.arguments, whole.results[call.id])
        facts = {t.fact for t in found if t.fact in e.wanted or f"{call.id}: {t.path}" in places}
        if changes != stated[call.id].changes:
            yield f"{call.id} {call.name} changes {', '.join(changes) or 'nothing'}, not {', '.join(stated[call.id].changes) or 'nothing'}"
        if facts != {(f.record, f.field, msgspec.json.encode(f.value).decode()) for f in stated[call.id].facts}:
            yield f"{call.id} {call.name}: the facts that it is for are not those that are stated"


def alternatives(e: Evidence) -> Iterator[str]:
    """With an alternative in place of its steps the goal is reached, every later value has a source, and the words tell which is meant."""
    for found in e.record.certificate.alternatives if e.record.certificate else []:
        what = f"{' and '.join(c.name for c in found.calls)} in place of {', '.join(found.steps)}"
        steps = [c for c in e.record.calls if c.id in found.steps]
        if len(steps) != len(found.steps) or any(c.name not in e.record.tools for c in found.calls):
            yield f"{what}: not all of these are there"
            continue
        if refusal := next((t for t in e.record.turns if t.refusal and _is_attempt(found, t)), None):
            yield from _not_heard(e, found, refusal, what)
            continue
        changed = _replaced(e.record, found)
        other = run(changed)
        own = {c.id for c in e.record.calls}
        if not e.reached(other) or any(call in own for call, *_ in _untraced(e, changed, other)):
            yield f"{what} does not reach the goal"
        results = list(other.results.values())
        taken = [pair for step in steps if not _asked(e, step) and not _writes(e, step) for pair in _taken(e, step)]
        left = {c.id for c in e.record.calls} - set(found.steps)
        for value, said in [(value, said) for later, value, said in taken if later in left]:
            if not any(_told_apart(result, value, said) for result in results if value in set(_scalars(result))):
                yield f"{what} does not tell which is {value}"


def _is_attempt(found: Alternative, turn: Turn) -> bool:
    return [(c.name, c.arguments) for c in found.calls] == [(a.name, a.arguments) for a in turn.attempts if a.stands]


def _not_heard(e: Evidence, found: Alternative, turn: Turn, what: str) -> Iterator[str]:
    """What is missing where a refusal is heard in place of the reads that show its reason: all but what that turn asks for is there."""
    changed = _with(e.record, {step: [] for step in found.steps})
    attempts = [[_at(a, found.steps) for a in t.attempts] for t in e.record.turns]
    moved = edit(changed, turns=[edit(t, attempts=mine) for t, mine in zip(changed.turns, attempts, strict=True)])
    other = run(moved)
    wanted = {leaf for t in e.record.turns if t is not turn for answer in t.answers for leaf in told_by(answer)}
    same = other.states[-1].outcome() == e.whole.states[-1].outcome()
    if other.refused or other.attempts or not other.read(wanted) or not same or any(_untraced(e, moved, other)):
        yield f"{what}: the refusal alone does not reach the goal"


def _at(attempt: Attempt, gone: Sequence[str]) -> Attempt:
    return edit(attempt, before="") if attempt.before in gone else attempt


# --- other ways of running it


def _with(record: Conversation, other: dict[str, Sequence[GroundTruthCall]]) -> Conversation:
    """The record with other calls in the place of some."""
    turns = [edit(t, calls=[new for c in t.calls for new in other.get(c.id, [c])], attempts=[]) for t in record.turns]
    return edit(record, turns=turns)


def _replaced(record: Conversation, found: Alternative) -> Conversation:
    new = [GroundTruthCall(f"{found.steps[0]}.{n}", c.name, c.arguments) for n, c in enumerate(found.calls)]
    return _with(record, {step: [] for step in found.steps} | {found.steps[0]: new})


def _untraced(e: Evidence, changed: Conversation, other: Run) -> Iterator[tuple[str, str, Any]]:
    return untraced(edit(e, record=changed), other.results, e.said)


# --- what a step is for


def _writes(e: Evidence, call: GroundTruthCall) -> bool:
    return e.whole.states[0].tools[call.name][1].marks.writes


def _asked(e: Evidence, call: GroundTruthCall) -> bool:
    """Whether somebody wanted what a call shows or does, other than to find something by it."""
    return _writes(e, call) or any(answer.call == call.id for turn in e.record.turns for answer in turn.answers)


def _changes(e: Evidence) -> list[list[str]]:
    """The records that each call changes, by table and key."""
    out = list[list[str]]()
    for turn, state in zip(e.record.turns, e.whole.states, strict=False):
        session = state.fork()
        for call in turn.calls:
            before = session.fork()
            session.call(call.name, call.arguments)
            out.append(sorted(f"{place} {_known(e, place, key)}" for place, rows in before.diff(session).items() for key in rows))
    return out


def _known(e: Evidence, place: str, key: str) -> str:
    server, table = place.split(".")
    rows = e.whole.states[0].servers[server].state[table]
    return key if key in rows or not rows.spec.id_format else "new"


def only_told_by(e: Evidence, call: GroundTruthCall, rest: Run) -> Iterator[Any]:
    """The records that later calls take from a call's result, where it alone tells that they are the ones that the words speak of."""
    order = [c.id for c in e.record.calls]
    for later, key, said in _taken(e, call):
        before = order[: order.index(later)]
        own = [item for c in before for item in _items(e.whole.results[c]) if next(iter(item.values()), None) == key]
        texts = {v for item in own for v in item.values() if not isinstance(v, list | dict) and v != key and _said(v, said)}
        left = [rest.results[c] for c in before if c in rest.results]
        if _beside(key, texts, e.whole.results[call.id]) and not any(_beside(key, texts, result) for result in left):
            yield key


def _beside(key: Any, texts: set[Any], result: Any) -> bool:
    """Whether a result shows a key in one item with one of the texts."""
    for item in _items(result):
        values = [v for v in item.values() if not isinstance(v, list | dict)]
        if key in values and texts.intersection(values):
            return True
    return False


def _taken(e: Evidence, call: GroundTruthCall) -> Iterator[tuple[str, Any, list[Said]]]:
    """(call, value, words so far) of the values that later calls take from a call's result."""
    for turn, said in zip(e.record.turns, e.said, strict=True):
        for later in turn.calls:
            for name, origin in later.origin.items():
                if any(part.startswith(f"{call.id}: ") for part in origin.split("; ")):
                    value = later.arguments[name]
                    yield from ((later.id, v, said) for v in (value if isinstance(value, list) else [value]))


def _told_apart(result: Any, value: Any, said: list[Said]) -> bool:
    """Whether what the words say of the item with that value is true of no other item in its place."""
    items = list(_items(result))
    for item in (item for item in items if value in [v for v in item.values() if not isinstance(v, list | dict)]):
        place = next(name for name, v in item.items() if v == value)
        told = {name: v for name, v in item.items() if name != place and _said(v, said)}
        if any(all(other.get(n) == v for n, v in told.items()) for other in items if other.get(place, value) != value):
            return False
    return True


def _said(value: Any, said: list[Said]) -> bool:
    if isinstance(value, bool) or value is None or value == "" or isinstance(value, list | dict):
        return False
    if isinstance(value, str) and len(value) >= 10 and value[4:5] == value[7:8] == "-":
        return bool(heard(value[:10], {"format": "date"}, said, {}))
    specs: list[dict[str, Any]] = [{}] if isinstance(value, str) else [{}, {"description": "an amount in cents"}]
    return any(heard(abs(value) if isinstance(value, int | float) else value, spec, said, {}) for spec in specs)


def _items(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _items(inner)


def _scalars(value: Any) -> Iterator[Any]:
    for item in _items(value):
        yield from (v for v in item.values() if not isinstance(v, list | dict))
