"""Synthesis: whatever is made is certified, deterministic, answerable, and survives being killed."""

import os
import signal
import subprocess
import sys
import time
from datetime import date
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prove.benchmarks.heldout import evaluate
from prove.episode import Episode
from prove.policies import SILENT, Oracle
from prove.records import BadRecord, read_conversations, write_conversations
from prove.run import RunError
from prove.servers import Query
from prove.servers.catalog import catalogue, load
from prove.servers.schema import bare, without_none
from prove.servers.session import Session
from prove.synthesis.certify import Rejected, certify, heard
from prove.synthesis.data.dataset import item, synthesize
from prove.synthesis.data.dedup import THRESHOLD, features, jaccard
from prove.synthesis.data.plan import PAPER_MIX, WORLDS, Plan
from prove.synthesis.data.report import chain_length
from prove.synthesis.language.phrases import phrasebook, polished
from prove.synthesis.language.saying import readings, say
from prove.synthesis.machine import Shape
from prove.synthesis.planning.graph import _search
from prove.synthesis.planning.memory import Goal, Memory
from prove.synthesis.planning.planner import Draft
from prove.synthesis.planning.wishes import PERSONAS, Wish
from prove.synthesis.teachers.scripted import Scripted

from .sayable import HINTS

MIX = tuple(PAPER_MIX.items())
N = 60


@pytest.fixture(scope="module")
def conversations():
    made = (item(Plan(N, mix=MIX), i)[0] for i in range(2 * N))
    return [c for c in made if c is not None][:N]


def test_the_ground_truth_scores_the_most_and_reaches_every_goal(conversations):
    scores = evaluate(Oracle(attempts=False), conversations)
    assert {round(s.reward, 9) for s in scores} <= {1.3, 1.0}
    assert all(s.goal for s in scores)


def test_who_does_nothing_reaches_no_goal_that_needs_a_call(conversations):
    scores = evaluate(SILENT, conversations)
    assert not any(s.goal for s in scores if s.ground_truth)
    assert all(s.goal and s.reward == 1.0 for s in scores if not s.ground_truth)


def test_a_certificate_holds_when_it_is_made_again(conversations):
    for conversation in (c for c in conversations if c.kind == "multi_turn"):
        plain = msgspec.structs.replace(conversation, certificate=None)
        assert certify(plain) == conversation


def test_a_superfluous_call_a_foreign_value_or_a_failing_call_is_rejected(conversations):
    def reads(server, call):  # a read made twice is superfluous, a write may be wanted twice
        return not load(server).server.tools[call.name].marks.writes and any(isinstance(v, str) for v in call.arguments.values())

    conversation = next(c for c in conversations if c.kind == "multi_turn" and any(reads(c.server, k) for k in c.turns[-1].calls[-1:]))
    *turns, last = conversation.turns
    call = last.calls[-1]
    wrong = {k: "nobody said this" if isinstance(v, str) else v for k, v in call.arguments.items()}
    bad = {
        "doubled": [*last.calls, msgspec.structs.replace(call, id="c99")],
        "foreign": [*last.calls[:-1], msgspec.structs.replace(call, arguments=wrong)],
        "unknown tool": [*last.calls, msgspec.structs.replace(call, id="c99", name="no_such_tool")],
    }
    for calls in bad.values():
        with pytest.raises(Rejected):
            certify(msgspec.structs.replace(conversation, turns=[*turns, msgspec.structs.replace(last, calls=calls)]))


def test_an_item_depends_on_its_seed_and_number_alone(conversations, tmp_path):
    script = (
        "import sys, msgspec\nfrom prove.synthesis.data.dataset import *\nfrom prove.synthesis.data.plan import *\n"
        f"plan = Plan({N}, mix=tuple(PAPER_MIX.items()))\n"
        "sys.stdout.buffer.write(b''.join(msgspec.json.encode(item(plan, i)[0]) for i in (7, 3, 11)))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": s}, capture_output=True, check=True).stdout
        for s in ("1", "77")
    ]
    here = b"".join(msgspec.json.encode(item(Plan(N, mix=MIX), i)[0]) for i in (7, 3, 11))
    assert runs == [here, here]


def test_any_number_of_workers_gives_the_same_bytes(tmp_path):
    plan = Plan(40, servers=("banking", "food_delivery"), mix=MIX)
    one, two = synthesize(plan, tmp_path / "one.jsonl"), synthesize(plan, tmp_path / "two.jsonl", workers=2)
    assert one.read_bytes() == two.read_bytes()
    assert one.with_name("one.rejects.jsonl").read_bytes() == two.with_name("two.rejects.jsonl").read_bytes()


def test_a_file_that_another_plan_has_made_is_left_alone(tmp_path):
    out = synthesize(Plan(3, servers=("banking",)), tmp_path / "a.jsonl")
    before = out.read_bytes()
    assert synthesize(Plan(3, servers=("banking",)), out).read_bytes() == before
    for other in (Plan(3, 1, servers=("banking",)), Plan(2, servers=("banking",))):
        with pytest.raises(RunError, match="made with other settings"):
            synthesize(other, out)
    assert out.read_bytes() == before


@pytest.mark.parametrize("mix", [(("multi_turn", 1),), MIX], ids=["one kind", "all kinds"])
def test_a_finished_file_grows_to_what_a_larger_plan_makes(mix, tmp_path):
    plans = [Plan(n, servers=("budget", "email"), mix=mix) for n in (5, 12, 30)]
    grown, fresh = tmp_path / "grown.jsonl", synthesize(plans[-1], tmp_path / "fresh.jsonl")
    for plan in plans:
        assert len(read_conversations(synthesize(plan, grown))) == plan.n
    assert grown.read_bytes() == fresh.read_bytes()
    assert (tmp_path / "grown.rejects.jsonl").read_bytes() == (tmp_path / "fresh.rejects.jsonl").read_bytes()


def test_what_other_settings_have_begun_is_not_thrown_away(tmp_path):
    out = synthesize(Plan(3, servers=("budget",)), tmp_path / "a.jsonl")
    begun = out.rename(tmp_path / "a.jsonl.part").read_bytes()
    with pytest.raises(RunError, match="begun with other settings"):
        synthesize(Plan(3, 1, servers=("budget",)), out)
    assert (tmp_path / "a.jsonl.part").read_bytes() == begun


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    plan = Plan(30, servers=("banking",))
    whole = synthesize(plan, tmp_path / "whole.jsonl").read_bytes()
    rejects = (tmp_path / "whole.rejects.jsonl").read_bytes()
    script = (
        "import sys\nfrom pathlib import Path\nfrom prove.synthesis.data.dataset import synthesize\n"
        "from prove.synthesis.data.plan import Plan\n"
        "synthesize(Plan(30, servers=('banking',)), Path(sys.argv[1]))"
    )
    out, part = tmp_path / "killed.jsonl", tmp_path / "killed.jsonl.part"
    for wanted in (0, 3, 11):  # kill it three times, each time after so many conversations
        process = subprocess.Popen([sys.executable, "-c", script, str(out)])
        while process.poll() is None and not (part.exists() and part.read_bytes().count(b"\n") >= wanted):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with part.open("ab") as file:
            file.write(b'{"id": "torn')
    assert synthesize(plan, out).read_bytes() == whole
    assert out.with_name("killed.rejects.jsonl").read_bytes() == rejects


def test_no_two_conversations_are_the_same_calls_in_other_words(tmp_path):
    made = read_conversations(synthesize(Plan(80, servers=("banking",)), tmp_path / "a.jsonl"))
    sets = [features(c) for c in made]
    assert max(jaccard(a, b) for i, a in enumerate(sets) for b in sets[:i]) <= THRESHOLD


def test_in_a_chained_conversation_more_calls_need_those_before():
    def longest(chained):
        plan = Plan(24, shape=Shape(chained=chained, another=1.0))
        return [chain_length(c) for i in range(plan.n) if (c := item(plan, i)[0])]

    free, chained = longest(0.0), longest(1.0)
    assert sum(chained) > 1.1 * sum(free)


def test_splits_never_share_a_world():
    worlds = [set(w) for w in WORLDS.values()]
    assert sum(map(len, worlds)) == len(set().union(*worlds))
    assert all(item(Plan(4, split=split), 0)[0].seed in WORLDS[split] for split in WORLDS)


def test_candidates_are_what_the_record_says(conversations):
    for conversation in conversations:
        episode = Episode(conversation)
        assert len(episode.tools) == len(conversation.tools) + len(conversation.distractors)
        assert ("enum" in str(episode.tools)) <= (not conversation.stripped_enums)


def test_no_query_names_a_tool(conversations):
    snake = {name for server in catalogue() for name in load(server).server.tools if "_" in name}
    said = [turn.user for c in conversations for turn in c.turns]
    assert sum(any(name in text for name in snake) for text in said) / len(said) < 0.02


@given(st.data(), st.dates(date(2026, 1, 1), date(2026, 12, 31)), st.integers())
@settings(max_examples=300, deadline=None)
def test_what_is_said_can_be_read_back(data, today, seed):
    name = data.draw(st.sampled_from(sorted(HINTS)))
    hint, values = HINTS[name]
    value = data.draw(values)
    text = f"It is {say(hint, value, today, Random(seed))}."
    assert value in [found for found, _ in readings(text, hint, today)], text


def test_every_edge_of_a_graph_is_shown_by_calls_that_work():
    graph = _search("banking")
    kinds = {edge["kind"] for *_, edge in graph.edges(data=True)}
    assert kinds == {"explicit", "implicit"}
    assert graph.has_edge("list_accounts", "get_account")
    assert graph.edges["freeze_card", "unfreeze_card"]["kind"] == "implicit"
    assert not graph.has_edge("get_statement", "freeze_card")
    assert all(edge["calls"] and edge["why"] for *_, edge in graph.edges(data=True))


def test_a_broken_line_is_named(conversations, tmp_path):
    path = tmp_path / "broken.jsonl"
    write_conversations(path, conversations[:2])
    path.write_bytes(path.read_bytes() + b'{"id": 3}\n')
    with pytest.raises(BadRecord, match=r"broken\.jsonl, line 3"):
        read_conversations(path)


def test_who_was_found_and_then_shown_among_others_is_not_that_one():
    book, memory = phrasebook("banking"), Memory()
    draft = Draft("banking", book, Session.open("banking", 0))
    memory.begin(draft)
    payee = next(iter(draft.live.payees))
    for tool, arguments, alone in (("list_payees", {"query": payee.name}, True), ("list_scheduled_payments", {}, False)):
        ask = book.asks[tool][0]
        result = draft.call(tool, arguments).value
        memory.remember(Goal((Wish(ask, ask.say[0], arguments, {}),), draft, (result,), []))
        assert (payee.payee_id in memory.recent.values()) == alone


def test_a_text_is_said_only_where_it_stands_by_itself():
    key = next(p for p in load("payments").server.tools["pay_invoice"].parameters if p.name == "idempotency_key")
    today = date(2026, 3, 2)
    for words, said in (("Use DESK-118-A as the key.", True), ("Use DESK-118-An as the key.", False), ("use desk-118-a, please", True)):
        assert bool(heard("DESK-118-A", key, load("payments").server, phrasebook("payments"), words, today)) == said
    assert polished("use DESK-118-A as the key, for a aisle seat") == "Use DESK-118-A as the key, for an aisle seat"


def test_a_free_text_is_said_to_the_letter(conversations):
    """What a user says in capitals would be another name, label or file."""
    for c in conversations:
        tools, said = load(c.server).server.tools, ""
        for turn in c.turns:
            said += f" {turn.user}"
            for call in turn.calls:
                for p in (p for p in tools[call.name].parameters if call.origin.get(p.name) == "user" and not p.id_type):
                    value, hint = call.arguments[p.name], without_none(p.hint)
                    assert bare(hint) is not str or hint == Query or value in said, (c.id, value)


def test_a_text_with_marks_in_it_gets_no_capital():
    assert polished("second_try.md. customer-visits. nap time.") == "second_try.md. customer-visits. Nap time."
    ask = phrasebook("iot_devices").asks["create_scene"][0]
    wish = Wish(ask, ask.say[0], {"name": "nap time"}, {"name": "nap time"}, ("name",))
    said = {Scripted().supply(wish, persona, Random(i)) for persona in PERSONAS for i in range(20)}
    assert len(said) > 15
    assert all("nap time" in words for words in said)


def test_after_a_record_is_made_from_another_neither_is_that_one():
    book, memory = phrasebook("issue_tracker"), Memory()
    draft = Draft("issue_tracker", book, Session.open("issue_tracker", 0))
    memory.begin(draft)
    parent = next(i for i in draft.live.issues if i.kind == "epic")
    ask = book.asks["create_issue"][0]
    arguments = {"project_key": parent.project_key, "kind": "task", "summary": "A dark theme", "parent": parent.issue_key}
    made = draft.call("create_issue", arguments).value
    memory.remember(Goal((Wish(ask, ask.say[0], arguments, {}),), draft, (made,), []))
    assert not {made["issue_key"], parent.issue_key} & set(memory.recent.values())
