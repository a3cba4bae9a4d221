"""Truth is an effect: what each step is for, that nothing else is asked for, and what else does the same. Both sides of each law."""

from itertools import combinations
from random import Random

import msgspec
import pytest

from prove.episode import Episode, ToolCall, ground_truth, play
from prove.facts import told
from prove.policies import Oracle, Reply, Script
from prove.records import Alternative, Answer, Effect, Fact, GroundTruthCall, OtherCall, Turn, read_conversations, write_conversations
from prove.rewards import PRESETS, reward
from prove.servers.session import Session
from prove.synthesis.certify import Rejected, certify
from prove.synthesis.data.dataset import item
from prove.synthesis.data.knobs import narrow
from prove.synthesis.data.plan import Plan

from .test_verify import edit, failing, talk

SERVERS = ("calendar", "email", "food_delivery", "maps", "trading")


@pytest.fixture(scope="module")
def conversations():
    made = (item(Plan(20, servers=SERVERS), i)[0] for i in range(20))
    return [c for c in made if c is not None]


BANK = Session.open("banking", 0).servers["banking"]
ACTIVE = [card for card in BANK.cards if card.status == "active"]
CARD = next(card for card in ACTIVE if sum(c.last_four == card.last_four for c in BANK.cards) == 1)
ACCOUNT = BANK.accounts.get(CARD.account_id)


def freeze(*lookups, words=f"Freeze my card ending {CARD.last_four} on {ACCOUNT.name}."):
    calls = [*lookups, GroundTruthCall(f"c{len(lookups) + 1}", "freeze_card", {"card_id": CARD.card_id})]
    return talk([Turn(words, "complete", calls, "It is frozen.")])


def played(conversation, turns):
    """The episode in which those calls are made, turn by turn."""
    return play(Script(lambda e: Reply("", turns[e.turn]) if turns[e.turn] and not e.calls_in_turn else Reply("Done.")), [conversation])[0]


def calls_of(turn):
    return [ToolCall(c.name, c.arguments) for c in turn.calls]


# --- arguments


def test_a_look_up_with_an_argument_that_it_can_do_without_is_turned_down_and_a_lean_one_passes():
    accounts = GroundTruthCall("c1", "list_accounts", {})
    with pytest.raises(Rejected, match="list_cards finds it without account_id"):
        certify(freeze(accounts, GroundTruthCall("c2", "list_cards", {"account_id": ACCOUNT.account_id})))
    lean = certify(freeze(GroundTruthCall("c1", "list_cards", {})))
    assert failing(lean) == set()
    wordy = edit(lean.calls[0], arguments={"account_id": ACCOUNT.account_id}, origin={"account_id": "user"})
    assert "arguments" in failing(edit(lean, turns=[edit(lean.turns[0], calls=[wordy, lean.calls[1]])]))


def test_an_argument_that_tells_which_is_meant_is_sent_and_not_asked_for():
    """Without the account the card is among others that the words fit: an assistant who reads them all may have read that one elsewhere."""
    accounts = GroundTruthCall("c1", "list_accounts", {})
    cards = GroundTruthCall("c2", "list_cards", {"account_id": ACCOUNT.account_id})
    record = certify(freeze(accounts, cards, words=f"Freeze my active {CARD.kind} card on {ACCOUNT.name}."))
    assert record.calls[1].spare == ["account_id"]
    assert ground_truth(record)[1].arguments == {}
    assert failing(record) == set()


def test_what_a_user_asks_for_is_spare_where_the_answer_is_there_without_it_and_needed_where_it_is_not():
    whole = Session.open("trading", 0).call("search_symbols", {}).value
    first = whole["items"][0]
    ask = GroundTruthCall("c1", "search_symbols", {"query": first["name"]})
    result = Session.open("trading", 0).call(ask.name, ask.arguments).value
    said = f"Find the symbol of {first['name']}."
    name = Answer("c1", "items.name", [i["name"] for i in result["items"]])
    count = Answer("c1", "total", result["total"])
    free = certify(talk([Turn(said, "complete", [ask], "", [name])], server="trading"))
    bound = certify(talk([Turn(said, "complete", [ask], "", [name, count])], server="trading"))
    assert (free.calls[0].spare, bound.calls[0].spare) == (["query"], [])
    assert failing(free) == failing(bound) == set()
    for record, reached in ((free, True), (bound, False)):
        episode = played(record, [[ToolCall("search_symbols", {})]])
        assert episode.goal_reached() == reached
        assert (reward(episode.trajectory()) == pytest.approx(1.3)) == reached
    claimed = edit(bound, turns=[edit(bound.turns[0], calls=[edit(bound.calls[0], spare=["query"])])])
    silent = edit(free, turns=[edit(free.turns[0], calls=[edit(free.calls[0], spare=[])])])
    assert "arguments" in failing(claimed) & failing(silent)


def test_whatever_shows_what_is_needed_with_fewer_arguments_scores_the_most(conversations):
    """Every set of arguments that a call can go without, played: where a later value is still shown and the goal reached, 1.3."""
    played_leaner = 0
    for c in conversations:
        for call in c.calls:
            required = Episode(c).schemas[call.name]["required"]
            optional = [name for name in call.arguments if name not in required]
            for gone in (g for n in range(1, len(optional) + 1) for g in combinations(optional, n)):
                shorter = {n: v for n, v in call.arguments.items() if n not in gone}
                turns = [[ToolCall(k.name, shorter if k.id == call.id else k.arguments) for k in t.calls] for t in c.turns]
                episode = played(c, turns)
                result = episode.results[c.calls.index(call)].text
                if episode.goal_reached() and all(f'"{value}"' in result for value in taken(c, call)):
                    played_leaner += 1
                    scores = [reward(episode.trajectory(), PRESETS[name]) for name in ("paper", "effect")]
                    assert scores[0] == pytest.approx(1.3), (c.id, call, gone)
                    assert scores[1] >= 0.93, (c.id, call, gone)  # all but words
    assert played_leaner


def taken(c, call):
    for later in c.calls:
        for name, origin in later.origin.items():
            if f"{call.id}: " in origin:
                value = later.arguments[name]
                yield from value if isinstance(value, list) else [value]


# --- calls


def test_what_is_made_and_undone_on_the_way_is_no_part_of_the_truth():
    card, pin = CARD.card_id, BANK.customers.one().pin
    stop = GroundTruthCall("c1", "freeze_card", {"card_id": card})
    go = GroundTruthCall("c2", "unfreeze_card", {"card_id": card, "pin": pin})
    saved = GroundTruthCall("c3", "add_payee", {"name": "Ada Bright", "account_number": "5550001111"})
    turns = [
        Turn(f"Freeze my card {card}.", "complete", [stop], ""),
        Turn(f"Unfreeze it, my PIN is {pin}.", "complete", [go], ""),
        Turn("Save Ada Bright, 5550001111, as a payee.", "complete", [saved], ""),
    ]
    with pytest.raises(Rejected, match="nothing is lost without c1, c2"):
        certify(talk(turns))
    assert "together" in failing(talk(turns))
    lasting = certify(talk([turns[0], turns[2]]))
    assert failing(lasting) == set()


def test_what_is_undone_and_made_again_is_no_goal_though_it_was_needed_in_between():
    """Only a follower may comment: the follow is needed, and to end it and begin another is not."""
    follow, comment = ("follow_user", {"user_id": "USR-321"}), ("comment_on_post", {"post_id": "PST-9053", "text": "Well done"})
    calls = [follow, comment, ("unfollow_user", follow[1]), follow]
    said = ["Follow USR-321.", "Comment on PST-9053: Well done", "Unfollow USR-321.", "Follow USR-321 again."]
    turns = [Turn(w, "complete", [GroundTruthCall(f"c{i}", *c)], "Done.") for i, (w, c) in enumerate(zip(said, calls, strict=True), 1)]
    with pytest.raises(Rejected, match="nothing is lost without c3, c4"):
        certify(talk(turns, "social_media"))
    assert "together" in failing(talk(turns, "social_media"))
    assert failing(certify(talk(turns[:2], "social_media"))) == set()


def test_a_key_is_from_the_record_that_the_words_describe_not_from_one_that_only_mentions_it():
    session = Session.open("email", 35)
    looks = [GroundTruthCall("c1", "search_emails", {"query": "Harbor Insurance"}), GroundTruthCall("c2", "list_labels", {})]
    email = session.call(looks[0].name, looks[0].arguments).value["items"][0]
    label = next(i for i in session.call("list_labels", {}).value["items"] if i["label_id"] in email["labels"])
    off = GroundTruthCall("c3", "remove_label", {"email_id": email["email_id"], "label_id": label["label_id"]})
    words = f"Take the {label['name']} label off the email from {email['sender']}."
    record = certify(talk([Turn(words, "complete", [*looks, off], "The label is off.")], "email", 35))
    assert record.calls[2].origin["label_id"].startswith("c2: items.")
    assert record.certificate.necessity["c2"] == "origin"  # the email tells that there is such a label, not what it is called
    assert failing(record) == set()


def test_no_part_of_the_truth_reaches_the_goal_by_itself(conversations):
    """With a part left out, something wanted stays unread or undone, or a value that is sent has been shown by nothing."""
    for c in conversations[:8]:
        for size in range(len(c.calls)):
            for kept in combinations(c.calls, size):
                if any(set(sources(call)) - {k.id for k in kept} for call in kept):
                    continue
                assert not played(c, [[ToolCall(k.name, k.arguments) for k in t.calls if k in kept] for t in c.turns]).goal_reached()


def sources(call):
    return [part.split(":")[0] for origin in call.origin.values() for part in origin.split("; ") if not part.startswith("user")]


# --- facts


def test_a_fact_is_of_its_record():
    session = Session.open("banking", 0)
    facts = told(session, "list_cards", {}, session.call("list_cards", {}).value)
    frozen = next(c for c in BANK.cards if c.status == "frozen")
    assert {Fact(CARD.card_id, "status", "active"), Fact("CardId", "total", len(BANK.cards))} <= facts
    assert Fact(frozen.card_id, "status", "active") not in facts
    made = session.call("add_payee", {"name": "Ada Bright", "account_number": "5550001111"}).value
    assert Fact("new", "name", "Ada Bright") in told(session, "add_payee", {}, made)
    assert Fact("ACC-4001", "message", "no") in told(session, "get_account", {"account_id": "ACC-4001"}, {"error": {"message": "no"}})


def test_the_same_value_of_another_record_answers_nothing(tmp_path):
    """Both cards are active: who reads the other one has not read what was asked."""
    other = next(c for c in ACTIVE if c.account_id != CARD.account_id)
    ask = GroundTruthCall("c1", "list_cards", {"account_id": CARD.account_id})
    at = [c.card_id for c in BANK.cards if c.account_id == CARD.account_id].index(CARD.card_id)
    told = [Answer("c1", f"items.{at}.status", "active")]
    record = certify(talk([Turn(f"Is the card ending {CARD.last_four} on {CARD.account_id} active?", "complete", [ask], "", told)]))
    assert record.turns[0].answers[0].records == [CARD.card_id]
    for account, reached in ((CARD.account_id, True), (other.account_id, False), (None, True)):
        arguments = {"account_id": account} if account else {}
        assert played(record, [[ToolCall("list_cards", arguments)]]).goal_reached() == reached
    nameless = edit(record, turns=[edit(t, answers=[edit(a, records=[]) for a in t.answers]) for t in record.turns])
    assert played(nameless, [[ToolCall("list_cards", {"account_id": other.account_id})]]).goal_reached()  # as older files have it
    elsewhere = edit(record, turns=[edit(t, answers=[edit(a, records=[other.card_id]) for a in t.answers]) for t in record.turns])
    assert "answers" in failing(elsewhere)
    write_conversations(tmp_path / "a.jsonl", [record])
    assert read_conversations(tmp_path / "a.jsonl") == [record]


# --- effects and alternatives


def test_every_call_says_what_it_is_for(conversations):
    record = certify(freeze(GroundTruthCall("c1", "list_cards", {})))
    found, frozen = Effect([], [Fact(CARD.card_id, "card_id", CARD.card_id)]), Effect([f"banking.cards {CARD.card_id}"], [])
    assert record.certificate.effects == {"c1": found, "c2": frozen}
    assert all(e.changes or e.facts for c in conversations for e in c.certificate.effects.values())
    for wrong in ({"c1": found, "c2": found}, {"c1": frozen, "c2": frozen}, {"c1": found}):
        assert "effects" in failing(edit(record, certificate=edit(record.certificate, effects=wrong)))


@pytest.fixture(scope="module")
def updated():
    """An event gets another title and a note in one call."""
    session = Session.open("calendar", 0)
    events = (e for e in session.servers["calendar"].events if e.recurrence is None and not e.attendees)
    event = next(e for e in events if session.fork().call("update_event", {"event_id": e.event_id, "notes": "a"}).ok)
    change = {"event_id": event.event_id, "summary": "Quarterly planning", "notes": "Bring the figures"}
    words = f'Call {event.event_id} "Quarterly planning" and note "Bring the figures".'
    return certify(talk([Turn(words, "complete", [GroundTruthCall("c1", "update_event", change)], "")], server="calendar"))


def test_what_does_the_same_reaches_the_goal_and_is_in_the_certificate(updated):
    change = updated.calls[0].arguments
    title, note = ({k: v for k, v in change.items() if k != left_out} for left_out in ("notes", "summary"))
    assert Alternative(["c1"], [OtherCall("update_event", title), OtherCall("update_event", note)]) in updated.certificate.alternatives
    assert played(updated, [[ToolCall("update_event", title), ToolCall("update_event", note)]]).goal_reached()
    assert failing(updated) == set()


def test_what_does_something_else_is_not(updated):
    change = updated.calls[0].arguments
    other = {**change, "summary": "Another title"}
    for calls in ([other], [{k: v for k, v in change.items() if k != "notes"}]):
        assert not played(updated, [[ToolCall("update_event", a) for a in calls]]).goal_reached()
        claim = Alternative(["c1"], [OtherCall("update_event", a) for a in calls])
        assert claim not in updated.certificate.alternatives
        assert "alternatives" in failing(edit(updated, certificate=edit(updated.certificate, alternatives=[claim])))


def test_every_alternative_that_is_kept_reaches_the_goal(conversations):
    kept = 0
    for c in conversations:
        for found in c.certificate.alternatives:
            new = [ToolCall(o.name, o.arguments) for o in found.calls]
            here = {found.steps[0]: new} | {step: [] for step in found.steps[1:]}
            turns = [[call for k in t.calls for call in here.get(k.id, [ToolCall(k.name, k.arguments)])] for t in c.turns]
            assert played(c, turns).goal_reached(), (c.id, found)
            kept += 1
    assert kept >= 5


def test_an_alternative_goes_with_the_tool_that_it_calls(updated, conversations):
    assert narrow(updated, 1, Random(0)).certificate.alternatives == updated.certificate.alternatives  # it calls the same tool
    c = next(c for c in conversations if any(o.name not in {k.name for k in c.calls} for a in c.certificate.alternatives for o in a.calls))
    kept = narrow(c, 1, Random(0))
    assert {o.name for a in kept.certificate.alternatives for o in a.calls} <= set(kept.tools)


def test_gold_scores_the_most_with_what_it_sends_and_with_what_it_needs(conversations):
    for c in conversations:
        assert reward(play(Oracle(attempts=False), [c])[0].trajectory()) == pytest.approx(1.3)
        lean = played(c, [[ToolCall(k.name, k.needed) for k in t.calls] for t in c.turns])
        assert all(k.needed == k.arguments for k in c.calls) or not lean.goal_reached() or reward(lean.trajectory()) == pytest.approx(1.3)
    assert any(k.spare for c in conversations for k in c.calls)


def test_a_certificate_is_the_same_when_it_is_made_again(conversations):
    for c in conversations[:5]:
        plain = [edit(t, calls=[edit(k, after=[], origin={}, spare=[]) for k in t.calls]) for t in c.turns]
        unnamed = [edit(t, answers=[edit(a, records=[]) for a in t.answers]) for t in plain]
        assert msgspec.json.encode(certify(edit(c, turns=unnamed, certificate=None))) == msgspec.json.encode(c)
