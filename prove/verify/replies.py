"""Whether replies are true: an independent reading of what the assistant tells.

Synthesis asks whether each thing told is a form of something shown. This goes the other way: amounts, days, times, measures and
counts are read out of a reply as values, and looked for among the values that results hold by then.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from prove.servers.catalog import load
from prove.verify.evidence import Evidence

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
_NEAR = {
    "the day after tomorrow": 2, "the day before yesterday": -2, "today": 0, "tomorrow": 1, "yesterday": -1,
    "a week from today": 7, "two weeks from today": 14, "a week ago": -7, "two weeks ago": -14,
}  # fmt: skip
_MONEY = re.compile(
    r"(up |down |a gain of |a loss of )?(-)?\$((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d\d)?)(?!\d)"
    r"((?: in credit| in| out| left| overspent| owed)(?= on\b|[.,;)]|$))?"
)
_DAY = re.compile(
    rf"\b(?:({'|'.join(sorted(_NEAR, key=len, reverse=True))})|({'|'.join(_MONTHS)}) (\d{{1,2}})(?!\d)(?:, (\d{{4}}))?)"
    r"(?: at (\d{1,2})(?::(\d\d))? ([ap]m)(?: (UTC)\b| ([A-Z][\w-]*(?: [A-Z][\w-]*)*) time\b)?)?"
)
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)}) (\d{{4}})\b")
_SPAN = re.compile(r"(?<![\w.,$-])(?:(\d+) hours? )?(\d+) (hours?|minutes?)\b")
_MEASURE = re.compile(r"(?<![\w.,$-])([-+]?[\d,]*\d(?:\.\d+)?) ?(km|m|kg|g|GB|MB|kB|bytes|%)(?![\w/])")
_SIZES = {"km": 1000.0, "m": 1.0, "kg": 1000.0, "g": 1.0, "GB": 1e9, "MB": 1e6, "kB": 1e3, "bytes": 1.0, "%": 0.01}
_CUT = re.compile(r"\(the first (\d+) of (\d+)(?: lines)?\)")
_NUMBER = re.compile(r"(?<![\w.,:/@#$-])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w@/#%]|[.,:-]\w)")
_BACKWARD = re.compile(r"down |a loss of | out$| overspent$| owed$")
_SPENT = re.compile(r"\b(?:out|paid|sent|moved|charged|spent|costs?|took|taken|fees?)\b", re.I)


class Shown(NamedTuple):
    """What results hold: numbers with the name and the description of their field, times, days, texts, and the lengths of lists."""

    numbers: list[tuple[str, str, float]]
    times: set[datetime]
    days: set[date]
    texts: set[str]
    lengths: set[int]


def replies(e: Evidence) -> Iterator[str]:
    """Each amount, number, day and time in a reply is one that a result shows by then, or one that was said."""
    shown, heard = Shown([], set(), set(), set(), set()), e.record.policy
    for turn, words, state in zip(e.record.turns, e.said, e.whole.states, strict=False):
        heard += "\n" + words[-1][0] + "\n".join(_refused(state, turn))
        for call in (c for c in turn.calls if c.id in e.whole.results):
            home, tool = state.tools[call.name]
            _collect(shown, load(home).server.tools[tool.name].output_schema, e.whole.results[call.id], "")
            shown.texts.update(v for v in call.arguments.values() if isinstance(v, str))
            shown.numbers.extend((n, "", v) for n, v in call.arguments.items() if isinstance(v, int | float) and not isinstance(v, bool))
        for working in turn.workings:
            _worked(shown, working.value, working.given)
        if turn.calls or turn.attempts:
            today = state.clock.now.date()
            yield from (f"{what!r} in {turn.reply!r} is from nowhere" for what in _unfounded(turn.reply, shown, heard, today))


def _refused(state: Any, turn: Any) -> Iterator[str]:
    """What the refusals of a turn's attempts say."""
    trial = state.fork()
    for call in turn.calls:
        yield from (_message(trial, a) for a in turn.attempts if a.before == call.id)
        trial.call(call.name, call.arguments)
    yield from (_message(trial, a) for a in turn.attempts if not a.before)


def _message(session: Any, attempt: Any) -> str:
    result = session.call(attempt.name, attempt.arguments)
    return "" if result.ok else str(result.value["error"]["message"])


def _collect(shown: Shown, spec: dict[str, Any], value: Any, name: str) -> None:
    """Add what a result holds, read by its JSON Schema."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _collect(shown, spec.get("properties", {}).get(key, {}), inner, key)
            if key == "total" and isinstance(inner, int):
                shown.lengths.add(inner)
    elif isinstance(value, list):
        shown.lengths.add(len(value))
        for inner in value:
            _collect(shown, spec.get("items", {}), inner, name)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        shown.numbers.append((name, spec.get("description", ""), value))
    else:
        shown.texts.add(value)
        shown.lengths.add(len(value.splitlines()))
        _add_time(shown, value)


def _add_time(shown: Shown, value: str) -> None:
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            shown.days.add(date.fromisoformat(value))
        elif re.match(r"\d{4}-\d\d-\d\dT", value):
            shown.times.add(datetime.fromisoformat(value).astimezone(UTC))
    except ValueError:
        return


def _worked(shown: Shown, value: Any, given: list[Any]) -> None:
    """What was worked out is told as a number, as an amount, or as a day."""
    values = value if isinstance(value, list) else [value]
    shown.lengths.add(len(values))
    for one in [*values, *given]:
        if isinstance(one, int | float) and not isinstance(one, bool):
            shown.numbers.extend([("", "", one), ("", "in cents", one)])
        elif isinstance(one, str):
            shown.texts.add(one)
            _add_time(shown, one)


def _unfounded(reply: str, shown: Shown, heard: str, today: date) -> Iterator[str]:
    """What a reply tells that is neither shown nor said."""
    text = whole = _without(reply, shown.texts)
    for pattern, founded in (
        (_CUT, lambda m: int(m[2]) in shown.lengths and int(m[1]) < int(m[2])),
        (re.compile(r"\((\d+) times\)"), lambda m: int(m[1]) <= max(shown.lengths, default=0)),
        (_MONEY, lambda m: _amount(m, shown, whole) or m[0].strip() in heard),
        (_MONTH, lambda m: any(t == f"{m[2]}-{_MONTHS.index(m[1]) + 1:02}" for t in shown.texts) or m[0] in heard),
        (_DAY, lambda m: _moment(m, shown, today) or m[0] in heard),
        (_SPAN, lambda m: _span(m, shown) or m[0] in heard),
        (_MEASURE, lambda m: _measure(m, shown) or m[0] in heard),
        (_NUMBER, lambda m: _count(m, shown, heard)),
    ):
        yield from (m[0].strip() for m in pattern.finditer(text) if not founded(m))
        text = pattern.sub(" ", text)


def _without(reply: str, texts: Iterable[str]) -> str:
    """A reply without the texts of results, or whole lines or long beginnings of them, that it quotes."""
    for whole in sorted(texts, key=len, reverse=True):
        for text in [whole, *(whole.splitlines() if "\n" in whole else []), *_starts(whole)]:
            if len(text) > 1 and re.search(r"\d|[A-Z]", text) and text in reply and not re.fullmatch(r"\d{4}-\d\d(-\d\d)?", text):
                reply = re.sub(rf"(?<![\w$.-]){re.escape(text)}(?!\w)", " _ ", reply)
    return reply


def _starts(text: str) -> list[str]:
    return [text[:n] for n in range(len(text), 100, -1) if text[n : n + 1] == " "] if len(text) > 240 else []


def _amount(m: re.Match[str], shown: Shown, text: str) -> bool:
    cents = round(float(m[3].replace(",", "")) * 100)
    amounts = {int(v) for _, told, v in shown.numbers if "in cents" in told}
    if m[2]:
        return -cents in amounts
    if _BACKWARD.search(f"{m[1] or ''}{m[4] or ''}"):
        return -cents in amounts
    near = text[max(0, m.start() - 60) : m.end() + 40]
    return cents in amounts or (-cents in amounts and not m[1] and not m[4] and bool(_SPENT.search(near)))


def _moment(m: re.Match[str], shown: Shown, today: date) -> bool:
    """Whether a day, or a time in the zone that it names (else in UTC), was shown."""
    try:
        day = today + timedelta(days=_NEAR[m[1]]) if m[1] else date(int(m[4] or today.year), _MONTHS.index(m[2]) + 1, int(m[3]))
    except ValueError:
        return False
    if not m[5]:
        return day in shown.days or day in {t.date() for t in shown.times}
    towns = {z.rsplit("/", 1)[-1].replace("_", " "): z for z in sorted(available_timezones())}
    zones = [ZoneInfo(z) for z in available_timezones() if z.rsplit("/", 1)[-1].replace("_", " ") == m[9]] if m[9] in towns else [UTC]
    clock = datetime(day.year, day.month, day.day, int(m[5]) % 12 + 12 * (m[7] == "pm"), int(m[6] or 0))
    return any(abs(clock.replace(tzinfo=zone) - time) < timedelta(minutes=1) for zone in zones for time in shown.times)


def _span(m: re.Match[str], shown: Shown) -> bool:
    minutes = int(m[1] or 0) * 60 + int(m[2]) * (60 if m[3].startswith("hour") else 1)
    named = [v for name, told, v in shown.numbers if re.search(r"minute|duration|lead|second|^mins?$", f"{name} {told}", re.I)]
    return any(round(v) == minutes or round(v / 60) == minutes for v in named)


def _measure(m: re.Match[str], shown: Shown) -> bool:
    number, size = float(m[1].replace(",", "")), _SIZES[m[2]]
    close = lambda v: abs(v / size - number) <= 0.0501 or v == number
    return any(close(v) for _, told, v in shown.numbers if "in cents" not in told)


def _count(m: re.Match[str], shown: Shown, heard: str) -> bool:
    number = float(m[0].replace(",", ""))
    plain = any(abs(v - number) < 1e-9 for _, told, v in shown.numbers if "in cents" not in told)
    return plain or number in shown.lengths or re.search(rf"(?<![\w.]){re.escape(m[0])}(?![\w])", heard) is not None
