"""Whether a reply says what the user asked for: values in the forms in which certification lets an assistant tell them.

Asked for is what the ground truth's own reply tells of a turn's answers: of a list that it cuts, only what it goes through.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, get_args, get_origin

from prove.records import Conversation, GroundTruthCall, Turn
from prove.servers.schema import bare, fields_of, metas
from prove.servers.server import Server
from prove.servers.session import Session
from prove.synthesis.language.phrases import Phrasebook, phrasebook
from prove.synthesis.language.saying import amount, is_money, ways
from prove.synthesis.language.telling import SPECS, tell
from prove.synthesis.language.zones import has_zones, zones_held
from prove.synthesis.planning.values import name_of
from prove.synthesis.replies import UNITS

Sayings = list[tuple[int, re.Pattern[str]]]  # (position of the turn that asks, what says one of the values)


def sayings(conversation: Conversation, session: Session) -> Sayings:
    """What replies have to say, each in the turn that asks for it or later. The session is a fresh one of the conversation's."""
    calls = {call.id: call for call in conversation.calls}
    found = list[tuple[int, re.Pattern[str]]]()
    for i, turn in enumerate(conversation.turns):
        session.advance(minutes=turn.minutes_later)
        patterns = dict.fromkeys(_pattern(forms) for forms in _forms(turn, calls, session))
        found += [(i, p) for p in map(re.compile, patterns) if p.search(turn.reply.casefold())]
    return found


def share_said(wanted: Sayings, replies: list[str]) -> float | None:
    """The share of what is wanted that a reply says, in its turn or later; None where nothing is. `replies` are one text a turn."""
    if not wanted:
        return None
    later, text = [""] * len(replies), ""
    for i in range(len(replies) - 1, -1, -1):
        later[i] = text = f"{replies[i]}\n{text}".casefold()
    return sum(turn < len(later) and pattern.search(later[turn]) is not None for turn, pattern in wanted) / len(wanted)


def _pattern(forms: Iterable[str]) -> str:
    """Any of the forms by itself, as no part of a longer word or number."""
    texts = "|".join(re.escape(form.casefold()) for form in sorted(set(forms), key=lambda f: (-len(f), f)) if form)
    return rf"(?<![\w.,-])(?:{texts})(?!\w|[.,]\d)"


def _forms(turn: Turn, calls: dict[str, GroundTruthCall], session: Session) -> Iterator[set[str]]:
    """Of each value that a turn asks for, the forms in which it may be said."""
    for answer in turn.answers:
        if answer.call in calls:
            home, tool = session.tools[calls[answer.call].name]
            live, book, hint = session.servers[home], phrasebook(home), _hint(tool.returns, answer.path)
            values = answer.value if isinstance(answer.value, list) else [answer.value]
            for value in values:
                if value is not None and value != "" and not isinstance(value, dict | list):
                    yield forms(answer.path, hint, value, live, book)


def _hint(hint: Any, path: str) -> Any:
    """The type of what stands at a path of a result."""
    for part in path.split("."):
        core = bare(hint)
        while get_origin(core) is list:
            core = bare(get_args(core)[0])
        hint = hint if part.isdecimal() else fields_of(core).get(part, str)
    return hint


def forms(path: str, hint: Any, value: Any, live: Server, book: Phrasebook) -> set[str]:
    """The forms in which one value of a result may be said."""
    kind, today = name_of(type(live), hint), live.today
    words = book.words_for(kind, path.rsplit(".", 1)[-1])
    if isinstance(value, bool):
        return {tell(hint, value, today, words)}
    if is_money(hint):
        return {amount(value), amount(abs(value))}
    if isinstance(value, int | float):
        about = f"{path} {kind} {' '.join(m.description or '' for m in metas(hint))}".lower()
        plain = {str(value), f"{value:,}", f"{value:g}", f"{value:,.10g}"}
        return plain | {SPECS[spec](value) for spec, of in UNITS.items() if re.search(of, about)}
    zones = ["UTC", *zones_held(live)] if has_zones(type(live)) and bare(hint) is datetime else [""]
    said = {way for zone in zones for way in ways(hint, value, today, words, zone=zone)}
    return said | {value, value.replace("_", " "), tell(hint, value, today, words)}
