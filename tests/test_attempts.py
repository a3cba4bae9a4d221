"""What is refused: shown to whoever learns, followed by what the refusal says, and where it stands, heard or read."""

from random import Random

import msgspec
import pytest

from prove.benchmarks.heldout import evaluate
from prove.display import conversation_html
from prove.episode import Limits, Reply, ToolCall, current_turn, play
from prove.policies import Oracle, Script
from prove.records import Answer, Attempt, Conversation, GroundTruthCall, Turn
from prove.servers.catalog import load
from prove.servers.session import Session
from prove.synthesis.certify import Rejected, certify
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import Plan
from prove.synthesis.data.report import queries, recoveries
from prove.synthesis.language.refusing import advice, offered, passed_on, suggests
from prove.synthesis.machine import TRANSITIONS, Shape
from prove.synthesis.planning.wander import wander
from prove.verify.report import check

edit = msgspec.structs.replace
SERVERS = ("banking", "food_delivery", "iot_devices", "issue_tracker", "travel_booking", "vehicle")
OFTEN_REFUSED = ("banking", "marketplace", "payments", "trading", "issue_tracker")
N = 42
SHAPE = Shape(levels=(("complete", 1.0),), corrected=0.5, alternative=0.3, impossible=0.4)


@pytest.fixture(scope="module")
def conversations():
    made = (item(Plan(N, 3, SERVERS, shape=SHAPE), i)[0] for i in range(N))
    return [c for c in made if c is not None]


@pytest.fixture(scope="module")
def standing(conversations):
    """Those in which a refusal stands."""
    return [c for c in conversations if any(turn.refusal for turn in c.turns)]


def said(call):
    return ToolCall(call.name, call.arguments)


def plays(calls_of):
    """Plays what `calls_of` gives for each turn, one call a reply, and then the record's reply."""

    def reply(episode):
        turn, done = current_turn(episode), episode.calls_in_turn
        calls = calls_of(episode, turn)
        return Reply("", [said(calls[done])]) if done < len(calls) else Reply(turn.reply)

    return Script(reply)


def until_refused(turn):
    return turn.shown[: turn.shown.index(turn.refusal) + 1] if turn.refusal else turn.calls


@pytest.fixture(scope="module")
def hundreds():
    """Conversations with 300 turns or more that end on a refusal."""
    shape = edit(SHAPE, corrected=0.0, alternative=0.0, impossible=1.0, second_wish=0.0, another=0.0)
    plan, made, turns = Plan(400, 8, OFTEN_REFUSED, shape=shape), list[Conversation](), 0
    for i in range(400):
        if turns < 300 and (c := item(plan, i)[0]) and (standing := sum(turn.refusal is not None for turn in c.turns)):
            made, turns = [*made, c], turns + standing
    assert turns >= 300
    return made


# --- what the oracle shows


def test_every_way_to_recover_is_among_them(conversations):
    kinds = {attempt.recovery for c in conversations for turn in c.turns for attempt in turn.attempts}
    assert kinds == {"corrected", "alternative", "asked", "give_up"}
    answered = [(turn, c.turns[i + 1]) for c in conversations for i, turn in enumerate(c.turns) if turn.refusal and "?" in turn.reply]
    assert {bool(following.calls) for _, following in answered} == {True, False}  # some agree, some do not


def test_the_oracle_shows_every_attempt_with_its_refusal_and_reaches_every_goal(conversations):
    for episode in play(Oracle(), conversations):
        shown = [call for turn in episode.conversation.turns for call in turn.shown]
        assert [(c.name, c.arguments) for c in episode.calls] == [(c.name, c.arguments) for c in shown]
        for call, result in zip(shown, episode.results, strict=True):
            assert result.ok != isinstance(call, Attempt)
            assert result.ok or result.value["error"] == {"code": call.code, "message": call.message}
        assert episode.goal_reached()


def test_the_ground_truth_alone_reaches_every_goal_and_scores_the_most(conversations):
    scores = evaluate(Oracle(attempts=False), conversations)
    assert all(s.goal and round(s.reward, 9) == 1.3 for s in scores)


def test_no_record_has_a_fault_and_each_certificate_is_made_again(conversations):
    assert not [fault for c in conversations for fault in check(c)[1]]
    assert all(certify(edit(c, certificate=None)) == c for c in conversations[::4])


def test_whoever_is_told_no_hears_the_reason_and_offers_are_no_queries(conversations):
    for c in conversations:
        assert len(recoveries(c)) == len(queries(c))
        assert all(turn.refusal.message and turn.reply for turn in c.turns if turn.refusal)


def test_the_page_shows_what_was_refused_and_why(standing):
    turn = next(turn for turn in standing[0].turns if turn.refusal)
    page = conversation_html(standing[0])
    assert turn.refusal.code in page
    assert page.count("call failed") == sum(len(t.attempts) for t in standing[0].turns)


# --- the goal where a refusal stands


def test_who_tries_hears_the_refusal_and_reports_it_reaches_every_goal(hundreds):
    assert all(s.goal for s in evaluate(plays(lambda e, turn: until_refused(turn)), hundreds))


def heard_alone(conversation):
    """The reads that a certificate says the refusal stands for."""
    refused = [(turn.refusal.name, turn.refusal.arguments) for turn in conversation.turns if turn.refusal]
    others = conversation.certificate.alternatives
    return {step for a in others if (a.calls[0].name, a.calls[0].arguments) in refused for step in a.steps}


def test_a_refusal_stands_for_the_reads_that_show_its_reason(hundreds):
    def calls(episode, turn):
        return [call for call in turn.shown if isinstance(call, Attempt) or call.id not in heard_alone(episode.conversation)]

    assert sum(bool(heard_alone(c)) for c in hundreds) > 50
    assert all(s.goal for s in evaluate(plays(calls), hundreds))
    assert not [fault for c in hundreds for fault in check(c)[1]]
    silent = next(c for c in hundreds if heard_alone(c))
    assert not evaluate(plays(lambda e, turn: [c for c in calls(e, turn) if not isinstance(c, Attempt)]), [silent])[0].goal
    other = [
        edit(a, steps=[c.id for c in silent.calls if silent.certificate.necessity[c.id] == "state"][:1] or ["c99"])
        for a in silent.certificate.alternatives
    ]
    damaged = edit(silent, certificate=edit(silent.certificate, alternatives=other))
    assert "alternatives" in {fault.check for fault in check(damaged)[1]}


def test_who_reports_without_having_seen_the_reason_reaches_none(standing):
    assert not any(s.goal for s in evaluate(plays(lambda e, turn: [] if turn.refusal else turn.calls), standing))


def test_who_sees_the_reason_only_later_reaches_none(standing):
    """The calls of a refused turn, made at the end of the conversation."""

    def late(episode, turn):
        missed = [c for t in episode.conversation.turns if t.refusal for c in until_refused(t)]
        return [*([] if turn.refusal else turn.calls), *(missed if turn is episode.conversation.turns[-1] else [])]

    last = [c for c in standing if not c.turns[-1].refusal and c.turns[-1].calls and len(c.calls) < 6]
    assert last
    assert not any(s.goal for s in evaluate(plays(late), last, Limits(assistant_turns=40)))


def test_who_changes_something_else_reaches_none(standing):
    """After the refusal a write that nobody asked for, and then everything as it should be."""

    def meddles(episode, turn):
        at = episode.conversation.turns.index(turn)
        refused = [i for i, t in enumerate(episode.conversation.turns) if t.refusal]
        if at != refused[0]:
            return until_refused(turn)
        return [*until_refused(turn), some_write(episode)]

    assert not any(s.goal for s in evaluate(plays(meddles), standing, Limits(assistant_turns=40)))


def some_write_in(server, seed):
    session = Session.open(server, seed)
    tools = {name: tool for name, (_, tool) in session.tools.items()}
    for visit in wander(session, server, 400, Random(server), mistakes=0):
        fresh = Session.open(server, seed)
        before = fresh.outcome()
        if tools[visit.tool.name].marks.writes and fresh.call(visit.tool.name, visit.arguments).ok and fresh.outcome() != before:
            yield visit.tool.name, visit.arguments


def some_write(episode):
    """A write that succeeds now, changes something and is none of the ground truth's."""
    record = episode.conversation
    for name, arguments in some_write_in(record.server, record.seed):
        trial = episode.session.fork()
        before = trial.outcome()
        if name not in {c.name for c in record.calls} and trial.call(name, arguments).ok and trial.outcome() != before:
            return ToolCall(name, arguments)
    raise AssertionError(record.id)


# --- one by one, by hand


def unfreezing(session, status="active"):
    bank = session.servers["banking"]
    return next(c for c in bank.cards if c.status == status), bank.customers.one().pin


@pytest.fixture
def given_up():
    """Somebody wants a card unfrozen that is not frozen."""
    session = Session.open("banking", 0)
    card, pin = unfreezing(session)
    calls = [GroundTruthCall("c1", "list_cards", {})]
    items = session.call("list_cards", {}).value["items"]
    at = next(i for i, line in enumerate(items) if line["card_id"] == card.card_id)
    arguments = {"card_id": card.card_id, "pin": pin}
    refused = session.call("unfreeze_card", arguments).value["error"]
    attempt = Attempt("", "unfreeze_card", arguments, refused["code"], refused["message"], "give_up")
    asks = f"Please unfreeze my card that ends in {card.last_four}; my PIN is {pin}."
    turn = Turn(asks, "complete", calls, "It isn't frozen.", [Answer("c1", f"items.{at}.status", "active")], [attempt])
    freeze = GroundTruthCall("c2", "freeze_card", {"card_id": card.card_id})
    return talk([turn, Turn(f"Then freeze the card that ends in {card.last_four}.", "complete", [freeze], "Done.")])


def talk(turns):
    session = Session.open("banking", 0)
    tools, day = sorted(session.servers["banking"].tools), session.clock.now.date().isoformat()
    return Conversation("banking-0-0", "banking", 0, "multi_turn", "", day, tools, [], False, turns, None, "train")


def first(record, **changes):
    return edit(record, turns=[edit(record.turns[0], **changes), *record.turns[1:]])


def tried(record, **changes):
    return first(record, attempts=[edit(record.turns[0].attempts[0], **changes)])


def failing(record):
    return {fault.check for fault in check(record)[1]}


DAMAGE = {
    "another message": (lambda r: tried(r, message="card CRD-0 is lost"), {"replay"}),
    "no reason": (lambda r: first(r, answers=[]), {"recovery", "goal"}),
    "done after all": (lambda r: tried(r, recovery="corrected"), {"recovery"}),
    "asked, and nobody answers": (lambda r: tried(r, recovery="asked"), {"recovery"}),
    "a secret that nobody told": (lambda r: first(r, user=r.turns[0].user.split("; my PIN")[0]), {"recovery"}),
    "an empty reason": (lambda r: first(r, answers=[edit(r.turns[0].answers[0], path="total", value="")]), {"answers", "recovery"}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_give_up_is_held_to_its_reason(given_up, name):
    damage, expected = DAMAGE[name]
    record = certify(given_up)
    assert failing(record) == set()
    assert expected <= failing(damage(record))


def test_a_refusal_that_says_something_else_is_not_certified(given_up):
    with pytest.raises(Rejected, match="should fail"):
        certify(tried(given_up, message="no"))


def test_only_the_same_reason_counts(given_up):
    """Whoever is refused for the same reason has heard it; whoever is refused for another one has not."""
    record = certify(given_up)
    arguments = record.turns[0].attempts[0].arguments

    def goal(**changes):
        tries = GroundTruthCall("x", "unfreeze_card", {**arguments, **changes})
        return evaluate(plays(lambda episode, turn: [tries] if turn.refusal else turn.calls), [record])[0].goal

    assert goal()
    assert goal(pin="0000")  # the status is looked at before the PIN
    assert not goal(card_id="CRD-0")
    assert not goal(pin=None)


# --- words


ADVICE = {
    "PAY-206 still has scheduled payments: cancel SCH-559 first": "cancel SCH-559 first",
    "you are not in #photography: join_channel first": "join_channel first",
    "HTL-339 is full on 2026-08-25: choose other nights": "choose other nights",
    "card CRD-14 is active, not frozen": "",
    "2026-06 is closed: only 2026-07 and 2026-08 can be changed": "",
    "TXN-70557 is no card charge but a income, which cannot be disputed": "",
}


@pytest.mark.parametrize("message", ADVICE)
def test_what_a_refusal_says_to_do_is_told_from_what_is_so(message):
    assert advice(message, load("banking").server) == ADVICE[message]


def test_advice_suggests_the_tool_that_it_names_and_no_other():
    bank, chat = load("banking").server.tools, load("team_chat").server.tools
    assert suggests("cancel SCH-559 first", bank["cancel_scheduled_payment"])
    assert not suggests("cancel SCH-559 first", bank["freeze_card"])
    assert suggests("join_channel first", chat["join_channel"])


def test_a_refusal_is_passed_on_in_the_users_words():
    bank = load("banking").server
    words = passed_on("card CRD-14 is in_review and costs 1250 cents", bank, {"CRD-14": "my card ending in 6243"}, Random(0))
    assert words.endswith("your card ending in 6243 is in review and costs $12.50.")
    words = offered("PAY-2 still has payments: cancel SCH-5 first", bank, {"PAY-2": "Ann", "SCH-5": "the payment of $5"}, Random(0))
    assert "Ann still has payments" in words
    assert words.endswith("?")
    assert "cancel the payment of $5 first" in words


def test_a_failure_is_offered_a_way_or_given_up():
    assert TRANSITIONS["failure"] == ("propose", "give_up")
    assert set(TRANSITIONS["propose"]) == {"agree", "decline"}
