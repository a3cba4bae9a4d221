"""The second opinion: certified conversations pass it, every kind of damage is found, and it shares nothing with synthesis."""

import json
from datetime import date
from pathlib import Path
from random import Random
from zipfile import ZipFile

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import prove.verify
from prove.cli import app
from prove.display import page_html, sample
from prove.records import Conversation, GroundTruthCall, Turn, write_conversations
from prove.servers.catalog import load
from prove.servers.schema import schema
from prove.servers.session import Session
from prove.synthesis.ambiguity import single_out
from prove.synthesis.certify import Rejected, certify, home
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import Plan
from prove.synthesis.language import wording
from prove.synthesis.language.saying import say
from prove.verify.asks import asked_for
from prove.verify.report import check, verify
from prove.verify.words import heard

from .sayable import HINTS

edit = msgspec.structs.replace


def clear(record):
    try:
        single_out(record, home(record))
    except Rejected:
        return False
    return True


def lasting(record):
    """Whether each query that asks for nothing to be told leaves something changed."""
    session, seen = home(record), [home(record).outcome()]
    for turn in record.turns:
        for call in turn.calls:
            session.call(call.name, call.arguments)
        if turn.calls and not turn.answers and session.outcome() == seen[-1]:
            return False
        seen.append(session.outcome())
    return True


@pytest.fixture(scope="module")
def conversations():
    made = (item(Plan(8, servers=("banking", "calendar")), i)[0] for i in range(8))
    return [c for c in made if c is not None and clear(c) and lasting(c)]


@pytest.fixture(scope="module")
def paid():
    """Somebody pays: accounts and payees are looked up, and the PIN is told when the assistant asks for it."""
    bank = Session.open("banking", 0)
    pin, payee = bank.servers["banking"].customers.one().pin, next(iter(bank.servers["banking"].payees))
    account = next(a for a in bank.servers["banking"].accounts if a.name == "Everyday Checking")
    arguments = {"account_id": account.account_id, "payee_id": payee.payee_id, "amount": 1500, "pin": pin}
    asked = Turn(f"Please send $15 to {payee.name} from my Everyday Checking account.", "missing_required", [], "What is your PIN?")
    calls = [
        GroundTruthCall("c1", "list_accounts", {}),
        GroundTruthCall("c2", "list_payees", {"query": payee.name}),
        GroundTruthCall("c3", "send_payment", arguments),
    ]
    return certify(talk([asked, Turn(f"It's {pin}.", "missing_required", calls, "Paid.")]))


def talk(turns, server="banking", seed=0):
    session = Session.open(server, seed)
    tools, today = sorted(session.servers[server].tools), session.clock.now.date().isoformat()
    return Conversation(f"{server}-{seed}-0", server, seed, "multi_turn", "", today, tools, [], False, turns, None, "train")


def failing(record):
    return {fault.check for fault in check(record)[1]}


# --- what is right passes, what is damaged does not


def test_what_synthesis_certifies_passes_every_check(conversations):
    assert len(conversations) >= 4
    assert [fault for c in conversations for fault in check(c)[1]] == []


def test_what_is_made_and_undone_is_no_goal():
    """Each query changes something, yet the end is the beginning: who does nothing would have reached it."""
    bank = Session.open("banking", 0).servers["banking"]
    card, pin = next(c for c in bank.cards if c.status == "active"), bank.customers.one().pin
    freeze = GroundTruthCall("c1", "freeze_card", {"card_id": card.card_id})
    thaw = GroundTruthCall("c2", "unfreeze_card", {"card_id": card.card_id, "pin": pin})
    turns = [
        Turn(f"Freeze my card {card.card_id}.", "complete", [freeze], "It is frozen."),
        Turn(f"Unfreeze that card, my PIN is {pin}.", "complete", [thaw], "Ok."),
    ]
    with pytest.raises(Rejected, match="the end is the beginning"):
        certify(talk(turns))
    assert "goal" in failing(talk(turns))
    assert "goal" not in failing(talk(turns[:1]))


def on_last_call(**changes):
    def damage(record):
        *turns, last = record.turns
        *calls, call = last.calls
        return edit(record, turns=[*turns, edit(last, calls=[*calls, edit(call, **{k: f(call) for k, f in changes.items()})])])

    return damage


def with_words(position, words):
    return lambda r: edit(r, turns=[edit(t, user=words(t.user)) if i == position else t for i, t in enumerate(r.turns)])


def one_more_call(record):
    *turns, last = record.turns
    return edit(record, turns=[*turns, edit(last, calls=[*last.calls, edit(last.calls[0], id="c9")])])


DAMAGE = {
    "another end": (lambda r: edit(r, certificate=edit(r.certificate, replay="0" * 32)), {"replay"}),
    "no certificate": (lambda r: edit(r, certificate=None), {"replay"}),
    "another amount": (on_last_call(arguments=lambda c: {**c.arguments, "amount": 1600}), {"replay", "provenance"}),
    "a call that is refused": (on_last_call(arguments=lambda c: {**c.arguments, "pin": "0000"}), {"replay"}),
    "a call too many": (one_more_call, {"necessity", "effects"}),
    "an untold PIN": (with_words(1, lambda text: "Well, you know it."), {"provenance", "secrets"}),
    "a PIN that was told at once": (lambda r: with_words(0, lambda t: f"{t} {r.turns[1].user}")(r), {"questions"}),
    "no order": (on_last_call(after=lambda c: []), {"origins"}),
    "an order that points forward": (on_last_call(after=lambda c: ["c1", "c2", "c3"]), {"order"}),
    "an origin elsewhere": (on_last_call(origin=lambda c: {**c.origin, "payee_id": "c1: items.0.account_id"}), {"origins", "effects"}),
    "an unstated origin": (on_last_call(origin=lambda c: {}), {"origins", "effects"}),
    "a tool of nobody": (lambda r: edit(r, tools=[*r.tools, "fly_away"]), {"candidates"}),
    "a distractor of its own": (lambda r: edit(r, distractors=["banking.list_cards"] * 3), {"candidates"}),
    "two distractors": (lambda r: edit(r, distractors=["calendar.list_calendars", "maps.geocode"]), {"candidates"}),
    "another kind": (lambda r: edit(r, kind="abstention"), {"kind"}),
    "an account that nobody named": (with_words(0, lambda t: t.replace(" from my Everyday Checking account", "")), {"ambiguity"}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found(paid, name):
    damage, expected = DAMAGE[name]
    assert failing(paid) == set()
    assert failing(damage(paid)) == expected


def writing(conversation, turn):
    tools = load(conversation.server).server.tools
    return any(tools[call.name].marks.writes for call in turn.calls)


def test_an_answer_that_is_not_there_and_a_goal_that_is_true_already_are_found(conversations):
    turns = [(c, t, {call.id for call in t.calls}) for c in conversations for t in c.turns if not writing(c, t) and not t.attempts]
    asking, told = next((c, t) for c, t, calls in turns if calls and calls == {a.call for a in t.answers})
    lying = [edit(t, answers=[edit(a, value="a fairy tale") for a in t.answers]) for t in asking.turns]
    assert "answers" in failing(edit(asking, turns=lying))
    at = asking.turns.index(told) + 1
    assert "goal" in failing(edit(asking, turns=[*asking.turns[:at], told]))


def test_that_one_is_ambiguous_after_two_and_clear_after_one():
    move = {"from_account": "ACC-4001", "to_account": "ACC-4003", "amount": 1000}
    names = {a.account_id: a.name for a in Session.open("banking", 0).servers["banking"].accounts}
    moved = [GroundTruthCall("c1", "list_accounts", {}), GroundTruthCall("c2", "transfer_between_accounts", move)]
    both = Turn(f"Move $10 from {names['ACC-4001']} to {names['ACC-4003']}.", "complete", moved, "Done.")
    looked = [GroundTruthCall("c3", "get_account", {"account_id": "ACC-4003"})]
    again = Turn("Balance of that account?", "complete", looked, "")
    cards = [moved[0], GroundTruthCall("c2", "list_cards", {"account_id": "ACC-4003"})]
    one = Turn(f"Cards on {names['ACC-4003']}?", "complete", cards, "")
    for turns, ambiguous in (([both, again], True), ([one, again], False)):
        record = talk(turns)
        assert clear(record) != ambiguous
        assert ("ambiguity" in failing(record)) == ambiguous


def test_a_name_within_another_arguments_name_does_not_say_it():
    entry = {"category_id": "CAT-27", "amount": 1250, "merchant": "Blue Door Books"}
    calls = [GroundTruthCall("c1", "list_categories", {"query": "Books"}), GroundTruthCall("c2", "add_expense", entry)]
    for words, missing in (("A receipt from Blue Door Books over $12.50.", True), ("Books: $12.50 at Blue Door Books.", False)):
        asked = Turn(words, "missing_required", [], "Which category do you mean?")
        record = talk([asked, Turn("The Books category.", "missing_required", calls, "Recorded.")], server="budget", seed=6)
        assert ("questions" in failing(record)) != missing


def test_a_phrasing_inside_another_is_no_request_of_its_own():
    flights = "I just want to get away: where can I fly from Rome Fiumicino?"
    assert asked_for("travel_booking", f"{flights} Show the shortest first, please.") == [{"search_flights"}]
    portfolio = "Be honest, how is my portfolio doing all in all? After that, one more thing."  # "So, be honest" at the start only
    assert asked_for("trading", f"{portfolio} Bid and ask of Veridex.") == [{"get_portfolio"}, {"get_quote"}]
    quoted = 'IAM-3 isn\'t quite right as it stands; the description should read "On staging." Also: Comments on IAM-4?'
    assert {"transition_issue"} not in asked_for("issue_tracker", quoted)
    assert asked_for("travel_booking", f"{flights} Once that's done: Show Summer trip.") == [{"search_flights"}, {"get_itinerary"}]


def test_words_that_fit_two_records_are_ambiguous():
    places = list(Session.open("food_delivery", 0).servers["food_delivery"].restaurants)
    place = next(p for p in places if sum(p.name == q.name for q in places) > 1)
    calls = [
        GroundTruthCall("c1", "search_restaurants", {"query": place.name}),
        GroundTruthCall("c2", "get_restaurant", {"restaurant_id": place.restaurant_id}),
    ]
    for words, ambiguous in ((place.name, True), (f"{place.name} in {place.neighbourhood}", False)):
        record = talk([Turn(f"When does {words} open?", "complete", calls, "")], server="food_delivery")
        assert clear(record) != ambiguous
        assert ("ambiguity" in failing(record)) == ambiguous


def test_a_missing_tool_hides_nothing_else_that_was_asked_for():
    turns = [Turn("List my accounts.", "complete", [GroundTruthCall("c1", "list_accounts", {})], "")]
    turns.append(Turn("Find payee Jo. And then: Cards on that account?", "complete", [], "I have no tool for that."))
    record = edit(talk(turns), kind="clarification")
    assert "refusal" in failing(edit(record, tools=[t for t in record.tools if t != "list_cards"]))
    assert "refusal" not in failing(edit(record, tools=[t for t in record.tools if t not in ("list_cards", "list_payees")]))


# --- a whole file


def test_a_file_with_a_fault_is_named_and_ends_with_exit_code_1(conversations, paid, tmp_path):
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    write_conversations(good, conversations)
    write_conversations(bad, [*conversations, edit(paid, certificate=None), edit(paid, split="heldout")])
    assert CliRunner().invoke(app, ["verify", str(good), "--workers", "1"]).exit_code == 0
    result = CliRunner().invoke(app, ["verify", str(bad), "--workers", "1"])
    assert result.exit_code == 1
    assert f"replay: {paid.id}: there is no certificate" in result.stdout
    verdict = verify(bad, workers=1)
    assert {c for c in verdict.made if verdict.failed(c)} == {"replay", "duplicates", "identity"}
    assert verify(bad, workers=2) == verdict


def test_verification_imports_nothing_of_synthesis():
    for file in Path(prove.verify.__path__[0]).glob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.strip().startswith(("from prove.synthesis", "import prove.synthesis"))], file.name


@given(st.data(), st.dates(date(2026, 1, 1), date(2026, 12, 31)), st.integers())
@settings(max_examples=200, deadline=None)
def test_what_is_said_is_heard_and_nothing_else(data, today, seed):
    hint, values = HINTS[data.draw(st.sampled_from(sorted(HINTS)))]
    value, other = data.draw(values), data.draw(values)
    said = [(f"It is {say(hint, value, today, Random(seed))}.", today)]
    assert heard(value, schema(hint), said, {}), said
    assert value == other or not heard(other, schema(hint), said, {}), said


# --- pages and wording


def test_a_page_shows_each_sampled_conversation_once(conversations):
    picked = sample(conversations, 3, seed=1)
    assert picked == sample(conversations, 3, seed=1)
    assert len(sample(conversations, 1000, seed=1)) == len(conversations)
    page = page_html(picked, "a < b")
    assert all(page.count(f"id='{c.id}'") == 1 for c in picked)
    assert "a &lt; b" in page
    assert page.count("certificate: ends in state") == len(picked)


def spoken(*queries, values=(), calls=0, toolsets=0):
    return wording.Talk(list(queries), [[*values], *([[]] * (len(queries) - 1))], calls, int(calls > 0), toolsets, 5)


def test_names_from_schemas_are_found_in_queries_and_everyday_words_are_not():
    queries = ["Call list_accounts now", "Move the amount, please", "What are my list accounts?", "Use from_account"]
    measured = wording.measure([spoken(*queries)], ["list_accounts", "from_account", "amount", "move"])
    assert measured.names == 0.5
    assert wording.measure([spoken(*["one two three four"] * 4)], []).distinct_3 == 2 / 8
    with pytest.raises(LookupError, match="no query"):
        wording.measure([], [])


def test_wording_counts_what_it_says():
    measured = wording.measure(
        [spoken("If it is the cheapest, send 45 to Ann Lee. All the others can wait.", values=[4500, "Ann Lee"], calls=2, toolsets=2)], []
    )
    assert (measured.conditional, measured.superlative, measured.every, measured.sentences) == (1.0, 1.0, 1.0, 2.0)
    assert (measured.unsaid, measured.toolsets, measured.calls_a_turn, measured.candidates) == (0.5, 1.0, 2.0, 5.0)
    alike = [spoken("Please pay Ann Lee 30 today."), spoken("Please pay Bob Ray 45 today."), spoken("Quite another thing.")]
    assert wording.measure(alike, []).skeletons == pytest.approx(2 / 3)


def test_the_wording_of_bfcl_is_read_from_its_wheel(conversations, tmp_path):
    said = [[{"role": "user", "content": "Please run my_tool on it"}], [{"role": "user", "content": "Thanks a lot"}]]
    entries = [{"id": "a", "question": said, "involved_classes": ["Mine"]}]
    truths = [{"id": "a", "ground_truth": [["my_tool(some_thing='it', some_id=3)"], []]}]
    with ZipFile(tmp_path / "bfcl.whl", "w") as archive:
        archive.writestr("bfcl_eval/data/BFCL_v4_multi_turn_base.json", "\n".join(map(json.dumps, entries)))
        archive.writestr("bfcl_eval/data/possible_answer/BFCL_v4_multi_turn_base.json", "\n".join(map(json.dumps, truths)))
        tool = {"name": "my_tool", "parameters": {"properties": {"some_thing": {}, "some_id": {}}}}
        archive.writestr("bfcl_eval/data/multi_turn_func_doc/mine.json", json.dumps(tool))
    measured = wording.of_bfcl(tmp_path / "bfcl.whl")
    assert (measured.queries, measured.mean_words, measured.names) == (2, 4.0, 0.5)
    assert (measured.calls, measured.unsaid, measured.toolsets, measured.candidates) == (1.0, 0.0, 0.0, 1.0)
    table = wording.table(conversations)
    assert list(table.index) == ["this data set", "BFCL v4 Multi-Turn base"]
    assert (table["names"] < 0.02).all()
