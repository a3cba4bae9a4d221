"""The reward in real sessions: gold and cheats played live, damage of known size, recorded messages, the command line, the pictures."""

import json
import subprocess
import sys
from random import Random

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from prove import figures, figures_rewards
from prove.episode import Episode, ToolCall, play
from prove.policies import Oracle
from prove.records import BadRecord, write_conversations
from prove.rewards import PAPER, STRICT, Call, audit, bfcl, explain, report, reward
from prove.rewards import agreement as agree
from prove.rewards.cheats import Cheat, cheats
from prove.rewards.messages import read_trajectories, scores

N = 16


@pytest.fixture(scope="module")
def tasks():
    return audit.tasks(N, ("banking",))


@pytest.fixture(scope="module")
def rows(tasks):
    return audit.rollouts(tasks)


@pytest.fixture(scope="module")
def table(rows):
    return audit.table(rows)


@pytest.fixture(scope="module")
def damage():
    return agree.rollouts(audit.tasks(4 * N, ("banking",)))  # of fewer, two neighbouring sizes may change places by chance


# --- the audit


def test_gold_played_live_scores_exactly_1_3_and_abstention_1(tasks):
    for episode in play(Oracle(attempts=False), tasks):
        best = 1.3 if episode.conversation.calls else 1.0
        assert reward(episode.trajectory(), PAPER) == reward(episode.trajectory(), STRICT) == best


def test_at_least_fifteen_policies_are_audited_on_most_tasks(table):
    assert len(table) > 15
    assert table.loc["gold", "n"] == N
    assert (table.n >= 1).sum() >= 18


def test_no_policy_ever_beats_gold(rows):
    gold = rows[rows.policy == "gold"].set_index("task")
    for preset in audit.PRESETS:
        assert (rows[preset] <= rows.task.map(gold[preset]) + 1e-9).all()


@pytest.mark.parametrize("policy", ["no calls", "always asks back", "answers from memory", "unknown tools"])
def test_who_does_nothing_real_scores_0_under_both_presets(table, policy):
    line = table.loc[policy]
    assert line.paper_mean == line.paper_std == line.strict_mean == line.strict_std == 0


def test_papers_loopholes_are_where_they_were_found_and_strict_closes_them(table):
    for policy in ("gold, then undo", "gold, always refused", "gold twice", "first gold call only", "gold names, wrong values"):
        if policy in table.index:
            assert table.loc[policy, "paper_mean"] > 0.85
            assert table.loc[policy, "strict_mean"] < table.loc[policy, "paper_mean"] - 0.3
    assert table.loc["gold, always refused", "paper_mean"] == pytest.approx(17 / 15)
    assert table.paper_near.sum() > table.paper_fooled.sum() > 0
    assert (table.strict_near == 0).all()


def test_only_gold_in_another_order_is_equivalent_to_gold(rows, tasks):
    bare = {t.id for t in tasks if not any(call.needed for call in t.calls)}  # of these, gold without arguments is gold
    assert set(rows[rows.equivalent & ~rows.task.isin(bare)].policy) <= {"gold", "gold backwards"}
    assert rows[rows.policy == "gold"].equivalent.all()
    assert rows[rows.equivalent].goal.all()


def test_an_undone_write_ends_where_it_began(tasks):
    undone = [e for e in play(cheats(tasks)["gold, then undo"], tasks) if len(e.calls) > len(e.conversation.calls)]
    assert undone
    for episode in undone:
        gold = {(c.name, json.dumps(c.arguments)) for c in episode.conversation.calls}
        undoing = [i for i, call in enumerate(episode.calls) if (call.name, json.dumps(call.arguments)) not in gold]
        assert all(episode.calls[i].ok for i in undoing)
        assert all(call.ok for call in episode.calls[: undoing[0]])  # after it gold may need what was undone, and be refused
        assert not episode.same_outcome()


def test_a_rollout_that_is_gold_itself_is_not_held_against_a_cheat(rows, tasks):
    abstaining = {t.id for t in tasks if not t.calls}
    assert not set(rows[rows.policy == "no calls"].task) & abstaining


def test_the_same_seed_gives_the_same_audit(tasks, rows):
    few = tasks[:4]
    pd.testing.assert_frame_equal(audit.rollouts(few), audit.rollouts(few))
    assert [t.id for t in audit.tasks(4, ("banking",))] == [t.id for t in few]


# --- agreement with the outcome


def test_undamaged_gold_reaches_every_goal_and_the_damaged_few(damage):
    by_size = damage.groupby("damage")[["goal", "paper", "strict"]].mean()
    assert by_size.loc[0, "goal"] == 1
    assert by_size.loc[0, "paper"] == by_size.loc[0, "strict"] == pytest.approx(1.3)
    assert (by_size.goal[1:] < 0.7).all()
    assert by_size.loc[6, "paper"] < by_size.loc[1, "paper"]
    assert by_size.loc[6, "strict"] < by_size.loc[1, "strict"]


def test_damage_is_done_as_often_as_asked(tasks):
    conversation = next(t for t in tasks if len(t.calls) > 3)
    gold = [[ToolCall(c.name, c.arguments) for c in turn.calls] for turn in conversation.turns]
    episode = Episode(conversation)
    assert agree.damaged(episode, 0, Random(1)) == gold
    assert all(agree.damaged(episode, 1, Random(i)) != gold for i in range(50))
    assert agree.damaged(episode, 3, Random(1)) == agree.damaged(episode, 3, Random(1))


def test_every_preset_ranks_goals_up_and_damage_down(damage):
    found = agree.agreement(damage, resamples=50)
    assert (found.goal > 0).all()
    assert (found.damage < 0).all()
    assert (found.within > 0.5).all()
    for what in ("goal", "damage", "within"):
        assert (found[f"{what}_low"] <= found[what]).all()
        assert (found[what] <= found[f"{what}_high"]).all()


def test_rank_correlation_is_spearmans():
    a, b = np.random.default_rng(0).integers(0, 5, (2, 60, 2))
    found = agree.spearman(a, b)
    assert found == pytest.approx(np.array([[spearmanr(x, y).statistic for y in b.T] for x in a.T]))
    assert np.isnan(agree.spearman(np.ones((3, 1)), b[:3])).all()


def test_calibration_counts_every_rollout_once(damage):
    curve = agree.calibration(damage, "strict")
    assert curve.n.sum() == len(damage)
    assert curve.reward.is_monotonic_increasing
    assert ((curve.low <= curve.goal) & (curve.goal <= curve.high)).all()
    assert (curve.goal * curve.n).sum() == pytest.approx(damage.goal.sum())


def test_damage_leaves_something_to_learn_from(damage):
    left = agree.signal(damage, "strict")
    assert (left.nothing < 0.2).all()
    assert (left.different[1:] > 3).all()
    assert (left["median"].diff()[1:] <= 0).all()


def test_the_numbers_to_record_survive_json(rows, damage, table):
    numbers = report.numbers(rows, damage, {"seed": 0}, resamples=20)
    again = json.loads(json.dumps(numbers))
    pd.testing.assert_frame_equal(report.table(again["audit"]), table, check_dtype=False, check_names=False)
    assert again["tasks"] == N
    assert all(name in report.text(again) for name in table.index)


# --- messages

FIND = {"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}}


def asked(*calls):
    functions = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {"role": "assistant", "tool_calls": [{"id": f"c{i}", "type": "function", "function": f} for i, f in enumerate(functions)]}


def answered(number, content="{}", **more):
    return {"role": "tool", "tool_call_id": f"c{number}", "content": content, **more}


def line(messages, ground_truth=({"name": "find", "arguments": {"q": "a"}},), tools=(FIND,)):
    return json.dumps({"tools": tools, "messages": messages, "ground_truth": ground_truth})


def trajectory(tmp_path, *lines):
    path = tmp_path / "messages.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return read_trajectories(path)


def test_a_transcript_of_an_episode_scores_as_the_episode_does(tasks, tmp_path):
    for policy in (Oracle(), cheats(tasks)["gold names, wrong values"], cheats(tasks)["malformed JSON"]):
        for episode in play(policy, tasks[:6]):
            truth = [[{"name": s.name, "arguments": s.arguments, "after": list(s.after)} for _, s in pairs] for pairs in by_turn(episode)]
            (it,) = trajectory(tmp_path, line(episode.messages, truth, episode.tools))
            live = explain(episode.trajectory()).contributions()
            assert explain(it).contributions() == live


def by_turn(episode):
    steps = iter(episode.trajectory().ground_truth)
    return [[(call, next(steps)) for call in turn.calls] for turn in episode.conversation.turns]


@pytest.mark.parametrize(
    ("answer", "ok"),
    [
        ([answered(0)], True),
        ([answered(0, "plain words")], True),
        ([answered(0, '{"error": {"code": "not_found"}}')], False),
        ([answered(0, '{"error": null}')], True),
        ([answered(0, "no", is_error=True)], False),
        ([answered(0, [{"type": "text", "text": '{"error": "no"}'}])], False),
        ([], False),
        ([{"role": "assistant", "content": "well"}, answered(0)], False),
    ],
)
def test_a_call_succeeded_if_it_was_answered_without_an_error(tmp_path, answer, ok):
    (it,) = trajectory(tmp_path, line([asked(("find", '{"q": "a"}')), *answer]))
    assert it.calls[0].ok is ok


def test_an_id_that_is_used_again_is_another_call(tmp_path):
    first, again = asked(("find", '{"q": "a"}')), asked(("find", '{"q": "b"}'))
    (it,) = trajectory(tmp_path, line([first, answered(0, '{"error": 1}'), again, answered(0)]))
    assert [call.ok for call in it.calls] == [False, True]


def test_ground_truth_may_be_flat_or_by_turn_and_arguments_text_or_object(tmp_path):
    call = {"name": "find", "arguments": {"q": "a"}}
    for truth in ([call], [[call]], [[], [call]]):
        for arguments in ('{"q": "a"}', {"q": "a"}):
            (it,) = trajectory(tmp_path, line([asked(("find", arguments)), answered(0)], truth))
            assert reward(it) == 1.3
    assert scores(trajectory(tmp_path, line([], []))).loc["mean", "abstention"] == 1


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "not JSON"),
        ("[]", "the line must be an object"),
        ('{"messages": [], "ground_truth": []}', "the line has no 'tools'"),
        ('{"tools": [], "messages": {}, "ground_truth": []}', "messages must be a list"),
        ('{"tools": [3], "messages": [], "ground_truth": []}', r"tools\[0\] must be an object"),
        ('{"tools": [], "messages": ["hi"], "ground_truth": []}', r"messages\[0\] must be an object"),
        (line([{"role": "assistant", "tool_calls": {}}]).replace("{}", '{"a": 1}', 1), "tool_calls must be a list"),
        (line([{"role": "assistant", "tool_calls": [{"id": "c0"}]}]), r"tool_calls\[0\] has no 'function'"),
        (line([{"role": "assistant", "tool_calls": [{"id": "c0", "function": {}}]}]), "function has no 'name'"),
        (line([asked(("find", "{}")), {"role": "tool"}]), r"messages\[1\] has no 'tool_call_id'"),
        (line([], [{"arguments": {}}]), "ground_truth call 0 has no 'name'"),
        (line([], [{"name": "find", "arguments": {}, "after": [0]}]), "after must hold positions of earlier calls"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_malformed_line_is_named_with_its_number(tmp_path, bad, said):
    with pytest.raises(BadRecord, match=f"line 2: .*{said}"):
        trajectory(tmp_path, line([]), bad)


# --- BFCL


@pytest.fixture
def gorilla(tmp_path, monkeypatch):
    """A package with the data of one task, laid out as that of `bfcl-eval` is."""
    data = tmp_path / "bfcl_eval" / "data"
    files = {
        "BFCL_v4_multi_turn_base.json": {"id": "multi_turn_base_0", "involved_classes": ["GorillaFileSystem"]},
        "possible_answer/BFCL_v4_multi_turn_base.json": {"id": "multi_turn_base_0", "ground_truth": [["cd('a')", "tail(lines=-1)"], []]},
    }
    docs = [("cd", {"folder": {"type": "string"}}), ("tail", {"lines": {"type": "integer"}, "x": {"type": "any"}, "y": {"type": "float"}})]
    lines = [{"name": n, "parameters": {"type": "dict", "properties": p, "required": list(p)[:1]}} for n, p in docs]
    for name, records in {**{k: [v] for k, v in files.items()}, "multi_turn_func_doc/gorilla_file_system.json": lines}.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "bfcl_eval" / "__init__.py").write_text("raise ImportError('only its data is read')")
    monkeypatch.delitem(sys.modules, "bfcl_eval", raising=False)  # the real one may have been imported
    monkeypatch.syspath_prepend(tmp_path)
    bfcl._lines.cache_clear()
    bfcl._entries.cache_clear()
    return tmp_path / "BFCL_v4_multi_turn_base_result.json"


def result(*turns, log=(), task="multi_turn_base_0"):
    return json.dumps({"id": task, "result": turns, "inference_log": [[{"role": "state_info"}], *log]})


def step(*answers):
    return [{"role": "assistant"}, *[{"role": "tool", "content": a} for a in answers]]


def test_a_result_of_bfcl_scores_by_its_log_and_the_package_s_ground_truth(gorilla):
    right = [[{"cd": '{"folder": "a"}'}, {"tail": {"lines": -1.0}}], "Done."]
    log = [{"step_0": step('{"ok": 1}', "fine"), "step_1": step()}]
    gorilla.write_text("\n".join([result(right, ["Bye."], log=log), result(["[cd(folder='a'), tail(lines=-1)]"], log=log), result(right)]))
    assert bfcl.are_results(gorilla)
    whole, prompted, unlogged = read_trajectories(gorilla, bfcl.trajectory)
    assert reward(whole) == reward(prompted) == 1.3
    assert [call.ok for call in unlogged.calls] == [False, False]
    assert whole.schemas["tail"] == {
        "type": "object",
        "properties": {"lines": {"type": "integer"}, "x": {}, "y": {"type": "number"}},
        "required": ["lines"],
    }


def test_what_bfcl_calls_an_error_is_a_call_that_failed(gorilla):
    log = [{"step_0": step('{"error": "no such folder"}', "Error during execution: no")}]
    gorilla.write_text(result([[{"cd": '{"folder": "b"}'}, {"tail": '{"lines": 1'}]], log=log))
    (it,) = read_trajectories(gorilla, bfcl.trajectory)
    assert it.calls == (Call("cd", {"folder": "b"}, False), Call("tail", None, False))


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (result([], task="multi_turn_base_7"), "no task of BFCL"),
        (result([], task="simple_python_1"), "no task of BFCL"),
        (result({}), r"result\[0\] must be a list"),
        (result([3]), r"result\[0\]\[0\] must be a list"),
        (result([["cd"]]), r"result\[0\]\[0\] must be an object"),
        ('{"id": "multi_turn_base_0", "result": "Error during inference: timeout"}', "no result to score"),
        ('{"result": []}', "has no 'id'"),
    ],
)
def test_a_malformed_result_is_named_with_its_number(gorilla, bad, said):
    gorilla.write_text(result([]) + "\n" + bad)
    with pytest.raises(BadRecord, match=f"line 2: .*{said}"):
        read_trajectories(gorilla, bfcl.trajectory)


def test_without_the_package_it_says_what_to_install(gorilla, monkeypatch):
    monkeypatch.setattr(bfcl, "find_spec", lambda name: None)
    gorilla.write_text(result([]))
    with pytest.raises(LookupError, match="pip install --no-deps bfcl-eval"):
        read_trajectories(gorilla, bfcl.trajectory)


# --- the command line


def score(*words):
    command = [sys.executable, "-m", "prove", "score", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_command_scores_conversations_and_messages(tasks, tmp_path):
    conversations, messages = tmp_path / "conversations.jsonl", tmp_path / "messages.jsonl"
    write_conversations(conversations, [t for t in tasks if t.calls][:2])
    messages.write_text(line([asked(("find", '{"q": "a"}')), answered(0)]) + "\n")
    assert "reward                  1.300" in score(conversations).stdout
    assert "reward                  0.000" in score(conversations, "--policy", "silent").stdout
    assert score(messages).stdout.splitlines()[-1].split()[-2:] == ["1.300", "1.300"]


def test_the_command_says_in_one_line_what_is_wrong(tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text(line([]) + "\n" + '{"messages": 3}\n')
    for words, said in (
        ((), "name either a file"),
        ((broken,), "line 2"),
        ((tmp_path / "none",), "No such file"),
        (("--audit", broken), "either"),
        (("--audit", "--split", "test"), "there is no split"),
    ):
        found = score(*words)
        assert found.returncode == 2
        assert said in found.stderr
        assert found.stderr.count("\n") == 1


# --- pictures


def test_every_picture_is_drawn_and_is_the_same_twice(tasks, table, damage, tmp_path):
    cheat = Cheat(lambda e: [ToolCall("nowhere", {}), *[ToolCall(c.name, c.arguments) for c in e.conversation.turns[e.turn].calls]][::-1])
    whys = [explain(e.trajectory(), w) for e in play(cheat, tasks[:1]) for w in (PAPER, STRICT)]
    draws = [
        *(lambda why=why: figures_rewards.waterfall(why) for why in whys),
        lambda: figures_rewards.audit(table),
        lambda: figures_rewards.calibration({p: agree.calibration(damage, p) for p in audit.PRESETS}),
    ]
    for draw in draws:
        one, two = (figures.save(draw(), tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two"))
        assert one == two
        assert len(one) > 5000
