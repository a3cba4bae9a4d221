"""The mix `broad`: each kind of query holds what it promises, and what is worked out is asked about by two who share nothing."""

from random import Random

import msgspec
import pytest

from prove.benchmarks.heldout import evaluate
from prove.episode import Episode, Reply, ToolCall
from prove.policies import Oracle, at_once
from prove.records import Working
from prove.servers.catalog import catalogue, toolbox
from prove.servers.session import Session
from prove.synthesis.ambiguity import single_out
from prove.synthesis.broad import policy as rules
from prove.synthesis.broad.book import book
from prove.synthesis.broad.compose import GENERATORS, Shares, compose
from prove.synthesis.certify import Rejected, certify, home
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import PAPER_MIX, Plan
from prove.synthesis.planning.working import compute
from prove.synthesis.replies import tell_truth
from prove.verify.report import check
from prove.verify.working import again

edit = msgspec.structs.replace
KINDS = [name for name in GENERATORS if name != "policy"]


def some(kind, n=4, servers=("banking", "budget", "marketplace", "travel_booking", "crm", "trading"), **shares):
    """A few certified conversations of one kind of query."""
    settings = Shares(**{"kinds": ((kind, 1.0),), "turns": (1.0,), "several": 1.0, "policy": 0.0, **shares})
    found = []
    for i in range(12 * n):
        try:
            made = certify(compose(f"x-0-{i:06}", servers[i % len(servers)], i % 5, Random(f"fate{i}"), Random(f"{kind}{i}"), settings))
            single_out(made, home(made))
            tell_truth(made, home(made))
        except Rejected:
            continue
        found.append(made)
        if len(found) == n:
            return found
    raise AssertionError(f"{len(found)} of {n} conversations of kind {kind}")


@pytest.fixture(scope="module")
def made():
    return {kind: some(kind) for kind in KINDS}


@pytest.fixture(scope="module")
def ruled():
    return some("in_full", 16, ("banking", "travel_booking", "marketplace", "shopping", "crm", "budget"), policy=1.0)


# --- what holds of every kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_conversation_of_each_kind_passes_the_second_opinion_and_is_played_to_its_goal(kind, made):
    assert [fault for c in made[kind] for fault in check(c)[1]] == []
    for together in (True, False):
        assert all(s.goal and round(s.reward, 9) == 1.3 for s in evaluate(Oracle(together=together), made[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_conversation_of_each_kind_can_be_made_again(kind, made):
    assert some(kind) == made[kind]


def test_every_server_says_of_itself_what_there_is_to_know_and_to_do():
    assert all(book(server).deeds and book(server).why and (book(server).facts or book(server).listings) for server in catalogue())


# --- what each kind promises


def test_a_fact_of_one_server_is_used_on_another(made):
    for c in made["across"]:
        tools = toolbox(c.homes)
        last = c.turns[-1].calls[-1]
        of = {tools[k.name][0] for k in c.calls if k.id in last.after}
        assert of - {tools[last.name][0]}, c.turns[-1].user


def test_a_condition_is_read_before_anything_is_done_and_decides_whether_it_is(made):
    found = made["condition"] + some("condition", 12)
    truths = {w.value for c in found for t in c.turns for w in t.workings if not w.pick}
    assert truths == {True, False}
    for c in found:
        for turn in c.turns:
            working = next(w for w in turn.workings if not w.pick)
            read = working.of[0].split(":")[0]
            assert all(read in call.after for call in turn.calls if call.id in working.calls)
            assert turn.answers


def test_all_that_is_meant_gets_the_same_and_nothing_else_does(made):
    for c in made["each"]:
        working = next(w for t in c.turns for w in t.workings)
        calls = [k for k in c.calls if k.id in working.calls]
        assert len(working.value) == len(calls) >= 2
        assert all(any(key in k.arguments.values() for k in calls) for key in working.value)


def test_what_need_not_wait_is_sent_in_one_message(made):
    for c in made["at_once"]:
        episode = Episode(c)
        (reply,) = Oracle(together=True).reply([episode])
        assert len(reply.calls) == len(at_once(c.turns[0].calls))
    assert any(len(at_once(c.turns[0].calls)) > 1 for c in made["at_once"])


def test_time_that_passes_makes_a_fact_another(made):
    for c in made["later"]:
        first, second = c.turns
        assert second.minutes_later > 0
        assert first.answers[0].value != second.answers[0].value


def test_a_correction_changes_what_was_made(made):
    assert any(len(c.turns) == 2 and c.turns[1].calls[0].after for c in made["correction"])


def test_a_long_result_is_long(made):
    for c in made["long"]:
        session = home(c)
        assert max(len(session.call(k.name, k.arguments).text) for k in c.calls) > 1500


# --- rules


def test_the_rules_are_in_the_prompt_and_the_calls_keep_them(ruled):
    assert [fault for c in ruled for fault in check(c)[1]] == []
    for c in ruled:
        assert c.policy in Episode(c).messages[0]["content"]
        assert all(s.goal for s in evaluate(Oracle(), [c]))
    assert any(t.held for c in ruled for t in c.turns)


def test_who_does_not_wait_for_a_yes_misses_the_goal(ruled):
    waits = next(c for c in ruled if c.turns[0].held and not c.turns[0].calls and c.turns[1].calls)
    episode = Episode(waits)
    for call in waits.turns[1].calls:
        episode.step(Reply("", [ToolCall(call.name, call.arguments)]))
    for turn in waits.turns[:2]:
        episode.step(Reply(turn.reply))
    for turn in waits.turns[2:]:
        for call in turn.calls:
            episode.step(Reply("", [ToolCall(call.name, call.arguments)]))
        episode.step(Reply(turn.reply))
    assert episode.same_outcome()
    assert not episode.goal_reached()


def test_a_call_that_breaks_a_rule_is_found_by_both(ruled):
    asks = {tool for c in ruled for rule in rules.policy(c.server).rule if rule.kind == "confirm" for tool in rule.tools}
    held = (c for c in ruled if c.turns[0].held and not c.turns[0].calls and c.turns[1].calls)
    waits = next(c for c in held if c.turns[1].calls[-1].name in asks)
    first, second, *rest = waits.turns
    hasty = edit(waits, turns=[edit(first, calls=second.calls, held=False), edit(second, calls=[]), *rest])
    with pytest.raises(Rejected):
        rules.check(hasty)
    assert "policy" in {fault.check for fault in check(hasty)[1]}


def test_a_page_of_rules_without_a_way_out_is_named(tmp_path, monkeypatch):
    class Package:
        __path__ = [str(tmp_path)]

    (tmp_path / "policy.toml").write_text(
        'intro = "x"\n[[rule]]\nkind = "limit"\ntext = "no"\ntools = ["send_payment"]\n', encoding="utf-8"
    )
    domain = edit(rules.load("banking"), package=Package)
    monkeypatch.setattr(rules, "load", lambda name: domain)
    with pytest.raises(LookupError, match="needs a `why`"):
        rules.policy.__wrapped__("banking")


# --- what is worked out


RESULTS = {
    "c1": {"items": [{"id": "a", "n": 5}, {"id": "b", "n": 7}, {"id": "c", "n": 2}], "total": 3},
    "c2": {"day": "2026-03-01", "n": 20},
}
N, ID = "c1: items.n", "items.id"


@pytest.mark.parametrize(
    ("working", "value"),
    [
        (Working("largest", [N], None, pick=ID), "b"),
        (Working("smallest", [N], None, pick=ID), "c"),
        (Working("over", [N], None, [4], ID), ["a", "b"]),
        (Working("under", [N], None, [4], ID), ["c"]),
        (Working("every", [f"c1: {ID}"], None, pick=ID), ["a", "b", "c"]),
        (Working("over", ["c2: n"], None, [19]), True),
        (Working("under", ["c2: n"], None, [20]), False),
        (Working("sum", [N], None), 14),
        (Working("difference", ["c1: items.0.n", "c2: n"], None), 15),
        (Working("plus", ["c2: n"], None, [3]), 23),
        (Working("minus", ["c2: n"], None, [3]), 17),
        (Working("share", ["c2: n"], None, [25]), 5),
        (Working("count", [N], None), 3),
        (Working("day", ["c2: day"], None, [-1]), "2026-02-28"),
        (Working("same", ["c2: n"], None), 20),
    ],
)
def test_two_who_share_nothing_work_out_the_same(working, value):
    assert compute(working, RESULTS) == again(working, RESULTS) == value


@pytest.mark.parametrize(
    "working", [Working("largest", [N], None, pick=ID), Working("over", [N], None, [4], ID), Working("sum", [N], None)]
)
def test_nothing_is_worked_out_from_a_part_of_a_list_unless_that_was_said(working):
    part = {"c1": {**RESULTS["c1"], "total": 9}}
    for function in (compute, again):
        with pytest.raises(ValueError, match="of 9 were read"):
            function(working, part)
        assert function(edit(working, given=[*working.given, 3]), part) is not None


def test_two_that_are_equal_are_not_the_largest():
    tied = {"c1": {"items": [{"id": "a", "n": 7}, {"id": "b", "n": 7}], "total": 2}}
    for function in (compute, again):
        with pytest.raises(ValueError, match="largest"):
            function(Working("largest", [N], None, pick=ID), tied)


def test_a_wrong_or_unsaid_working_is_found_by_both(made):
    good = next(c for c in made["best"] if c.turns[0].workings[0].calls)
    (turn,), working = good.turns, good.turns[0].workings[0]
    other = "smallest" if working.how == "largest" else "largest"
    for damaged in (edit(working, how=other), edit(working, value="nobody"), edit(working, given=[37])):
        bad = edit(good, turns=[edit(turn, workings=[damaged, *turn.workings[1:]])])
        with pytest.raises(Rejected):
            certify(bad)
        assert "workings" in {fault.check for fault in check(bad)[1]}
    silent = edit(good, turns=[edit(turn, user="Please do what I told you.")])
    assert "workings" in {fault.check for fault in check(silent)[1]}


# --- the plan


def test_the_mix_paper_knows_nothing_of_it():
    record = item(Plan(4, mix=tuple(PAPER_MIX.items())), 1)[0]
    assert (record.servers, record.policy, record.together) == ([], "", False)
    assert not any(t.workings or t.minutes_later or t.held for t in record.turns)


def test_an_item_of_the_mix_depends_on_its_seed_and_number_alone():
    plan = Plan(6, mix=tuple(PAPER_MIX.items()), broad=Shares())
    assert [item(plan, i)[0] for i in (4, 1)] == [item(plan, i)[0] for i in (4, 1)]


def test_servers_of_the_same_tool_names_are_told_apart_in_one_session():
    session = Session.open(["marketplace", "trading"], 0)
    assert session.tools["list_orders"][0] == "marketplace"
    assert session.tools["trading_list_orders"][0] == "trading"
    assert toolbox(("marketplace", "trading")).keys() == session.tools.keys()
