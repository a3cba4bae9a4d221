"""What is said and told: other words for a value, whose time it is, replies that hold, and the talk around a request."""

import re
from datetime import date
from itertools import product
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prove.records import Attempt, Turn
from prove.servers import Moment
from prove.servers.catalog import catalogue, heldout, load
from prove.servers.schema import schema
from prove.servers.session import Session
from prove.synthesis.certify import Rejected, home
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import Plan
from prove.synthesis.language import composing
from prove.synthesis.language.composing import PERSONAS, Composer
from prove.synthesis.language.phrases import Template, phrasebook, value_at
from prove.synthesis.language.saying import MONTHS, readings, say, ways
from prove.synthesis.language.telling import LISTED, tell, told
from prove.synthesis.language.zones import has_zones, zone_of
from prove.synthesis.replies import tell_truth
from prove.verify.evidence import gather, stands_at
from prove.verify.replies import replies
from prove.verify.words import heard

from .sayable import HINTS

edit = msgspec.structs.replace
ZONES = ("", "UTC", "Europe/Berlin", "Australia/Sydney", "America/Sao_Paulo", "Asia/Kolkata")


def minutes():
    return next(p.hint for p in load("calendar").server.tools["create_event"].parameters if p.name == "duration")


def days():
    return next(p.hint for p in load("calendar").server.tools["list_events"].parameters if p.name == "days")


# --- other words


@given(st.data(), st.dates(date(2026, 1, 20), date(2026, 12, 10)))
@settings(max_examples=150, deadline=None)
def test_every_way_of_saying_a_value_is_read_back_and_heard_as_that_value_alone(data, today):
    hint, values = HINTS[data.draw(st.sampled_from(sorted(HINTS)))]
    value, other = data.draw(values), data.draw(values)
    for text in ways(hint, value, today):
        words = f"It is {text}."
        assert value in [found for found, _ in readings(words, hint, today)], words
        assert heard(value, schema(hint), [(words, today)], {}), words
        assert value == other or not heard(other, schema(hint), [(words, today)], {}), words


SPANS = {"minutes": (5, 15, 20, 30, 45, 60, 90, 120, 150, 180), "days": (3, 7, 10, 14, 30)}


@pytest.mark.parametrize("unit", SPANS)
def test_spans_are_said_in_hours_and_weeks_and_mean_the_same(unit):
    today, values, hint = date(2026, 3, 2), SPANS[unit], minutes() if unit == "minutes" else days()
    for value, other in product(values, values):
        for text in ways(hint, value, today, unit=unit):
            words = f"It takes {text}, I think."
            assert value in [found for found, _ in readings(words, hint, today)], words
            assert bool(heard(other, schema(hint), [(words, today)], {})) == (value == other), (words, other)


@given(st.integers(0, 300 * 48), st.sampled_from(ZONES), st.integers())
@settings(max_examples=100, deadline=None)
def test_a_time_says_whose_it_is_and_means_that_instant_alone(steps, zone, seed):
    today, (day, half) = date(2026, 3, 2), divmod(steps, 48)
    value = f"2026-{day // 28 + 1:02}-{day % 28 + 1:02}T{half // 2:02}:{half % 2 * 30:02}:00Z"
    words = f"Move it to {say(Moment, value, today, Random(seed), zone=zone)}, please."
    assert (zone == "") or "UTC" in words or " time" in words
    assert value in [found for found, _ in readings(words, Moment, today)], words
    assert heard(value, schema(Moment), [(words, today)], {}), words
    later = value[:14] + ("15" if value[14:16] == "00" else "45") + value[16:]
    assert not heard(later, schema(Moment), [(words, today)], {})


def test_a_server_with_zones_says_times_in_the_zone_of_the_calendar_they_are_for():
    live = Session.open("calendar", 3).servers["calendar"]
    for calendar in live.calendars:
        assert zone_of(live, {"calendar_id": calendar.calendar_id}) == calendar.zone
        event = next((e for e in live.events if e.calendar_id == calendar.calendar_id), None)
        assert event is None or zone_of(live, {"event_id": event.event_id}) == calendar.zone
    assert zone_of(live, {}) == "UTC"
    assert not has_zones(load("banking").server)


def test_a_number_is_only_shortened_where_it_stays_the_same():
    for value in (44.880704, 1.5, 3.0, -0.25, 1234567.5, 20.1):
        assert float(say(float, value, date(2026, 1, 1), None)) == value


def test_a_list_in_a_list_is_looked_through_by_both():
    result = {"items": [{"lines": [{"n": 1}, {"n": 2}]}, {"lines": []}, {"lines": [{"n": 3}]}]}
    assert value_at(result, "items.lines.n") == stands_at(result, "items.lines.n") == [1, 2, 3]
    assert value_at(result, "items.2.lines.n") == [3]


# --- replies


def test_a_reply_tells_sign_unit_and_of_how_many():
    today, cents = date(2026, 3, 2), HINTS["cents"][0]
    assert tell(cents, -497804, today) == "-$4,978.04"
    assert (tell(cents, -20248, today, spec="gain"), tell(cents, 20248, today, spec="gain")) == ("a loss of $202.48", "a gain of $202.48")
    assert (tell(int, 140966, today, spec="metres"), tell(int, 850, today, spec="metres")) == ("141 km", "850 m")
    assert (tell(int, 135, today, spec="minutes"), tell(int, 60, today, spec="minutes")) == ("2 hours 15 minutes", "1 hour")
    page = {"items": [{"name": f"n{i}", "at": i} for i in range(20)], "total": 73}
    one = lambda path, value, spec: str(value)
    assert told(Template.parse("{total}: {items.name}."), page, one).endswith(f"(the first {LISTED} of 73).")
    assert told(Template.parse("{items.name} at {items.at}."), page, one).startswith("n0 at 0; n1 at 1; ")
    short = {"items": [{"name": "a", "at": None}, {"name": "b", "at": 2}], "total": 2}
    assert told(Template.parse("{items.name}[ at {items.at}]."), short, one) == "a; b at 2."


@pytest.fixture(scope="module")
def conversations():
    made = (item(Plan(80), i)[0] for i in range(60))
    return [c for c in made if c is not None]


def _judged(record):
    """Whether synthesis and verify each hold the replies for true."""
    try:
        tell_truth(record, home(record))
    except Rejected:
        mine = False
    else:
        mine = True
    return mine, not list(replies(gather(record)))


def test_what_synthesis_tells_is_true_for_both(conversations):
    assert {_judged(c) for c in conversations} == {(True, True)}


FALSE = {
    "another amount": (r"\$\d[\d,]*(?:\.\d\d)?", lambda m: "$987,654.31"),
    "another sign": (r"(?<![\w-])(?<!of )\$[1-9][\d,]*(?:\.\d\d)?", lambda m: f"-{m[0]}"),
    "another day": (rf"({'|'.join(MONTHS)}) \d{{1,2}}(?!\d)", lambda m: f"{m[1]} 28, 1999"),
    "another count": (r"(?<=There are )\d+", lambda m: str(int(m[0]) + 4321)),
    "another whole": (r"\(the first 8 of \d+\)", lambda m: "(the first 8 of 99999)"),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_word_in_a_reply_is_found_by_both(conversations, name):
    pattern, wrong = FALSE[name]
    found = 0
    for record in conversations:
        for i, turn in enumerate(record.turns):
            both_signs = name == "another sign" and any(c.name.startswith("transfer") for c in turn.calls)  # sent here, received there
            if both_signs or not turn.calls or turn.attempts or not (m := re.search(pattern, turn.reply)):
                continue
            reply = turn.reply[: m.start()] + wrong(m) + turn.reply[m.end() :]
            turns = [*record.turns[:i], edit(turn, reply=reply), *record.turns[i + 1 :]]
            assert _judged(edit(record, turns=turns)) == (False, False), reply
            found += 1
            break
    assert found, name


def test_what_a_refusal_says_may_be_told():
    record = next(c for i in range(200) if (c := item(Plan(200), i)[0]) and any(t.attempts and not t.attempts[0].before for t in c.turns))
    assert _judged(record) == (True, True)
    assert isinstance(record.turns[-1], Turn)
    assert all(isinstance(a, Attempt) for t in record.turns for a in t.attempts)


# --- around a request


def _everything_around():
    for kind, groups in composing._TALK.items():
        yield from ((f"talk {kind}", text) for forms in groups.values() for text in forms)
    yield from ((p.description, text) for p in PERSONAS for text in p.moments)
    for server in [*catalogue(), *heldout()]:
        raw = load(server).phrases()
        yield from ((server, text) for text in raw.get("around", ()))
        asks = [a for several in raw["ask"].values() for a in (several if isinstance(several, list) else [several])]
        yield from ((server, text) for ask in asks for text in ask.get("why", ()))


def test_nothing_said_around_a_request_can_be_taken_for_a_value():
    hints = [hint for hint, _ in HINTS.values()] + [minutes(), days(), float]
    for where, text in _everything_around():
        bare = re.sub(r"\{\w+\}", "", text)
        taken = [found for hint in hints for found, _ in readings(bare, hint, date(2026, 3, 2))]
        assert not taken or where == "talk lead", (where, text, taken)  # an assistant leads, no user


def test_nothing_is_said_twice_in_a_conversation():
    persona, rng, composer = PERSONAS[0], Random(3), Composer()
    whys = [f"Reason {c}." for c in "abcdefgh"]
    said = " ".join(composer.around("Do it.", whys, ["Elsewhere."], persona, rng, later=True) for _ in range(6))
    sentences = re.findall(r"Reason \w|Elsewhere", said)
    assert sentences
    assert len(sentences) == len(set(sentences))


def test_every_clause_reads_as_a_request_in_every_register():
    ask = phrasebook("banking").asks["freeze_card"][0]
    for persona, seed in product(PERSONAS, range(6)):
        text = Composer().framed(ask.clauses[0].fill(lambda slot, _: "my card"), "do", persona, Random(seed))
        assert "reeze my card" in text
        assert "{" not in text
