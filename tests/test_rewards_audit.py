"""The reward in real sessions: gold and cheats played live, damage of known size, recorded messages, the command line, the pictures."""

import json
import subprocess
import sys
from random import Random

import msgspec
import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from prove import figures, figures_rewards
from prove.audit import agreement as agree
from prove.audit import audit, choices, learning, report
from prove.audit.cheats import Cheat, cheats
from prove.audit.weak import RIGHT, SKIPPED, distance, perform, state_facts
from prove.episode import ToolCall, play
from prove.policies import Oracle
from prove.records import BadRecord, write_conversations
from prove.rewards import PAPER, Call, bfcl, effect, explain, reward
from prove.rewards.messages import read_trajectories, scores

N = 20


@pytest.fixture(scope="module")
def tasks():
    return audit.tasks(N, ("banking", "budget"))


@pytest.fixture(scope="module")
def rows(tasks):
    return audit.rollouts(tasks)


@pytest.fixture(scope="module")
def table(rows):
    return audit.table(rows)


# --- the audit


def test_gold_played_live_scores_1_3_and_abstention_1_under_paper_and_1_by_effect(tasks):
    for episode in play(Oracle(attempts=False), tasks):
        assert reward(episode.trajectory(), PAPER) == pytest.approx(1.3 if episode.conversation.calls else 1.0)
        assert reward(episode.trajectory(), effect) == pytest.approx(1.0)


def test_at_least_forty_policies_are_audited_on_most_tasks(table):
    assert len(table) >= 50
    assert table.loc["gold", "n"] == N
    assert (table.n >= N // 4).sum() >= 40


def test_no_policy_ever_beats_gold(rows):
    for preset in audit.AUDITED:
        assert (rows[f"{preset} of gold"] <= 1 + 1e-9).all()


def test_every_policy_is_paired_with_gold_on_its_own_tasks(rows, table):
    gold = rows[rows.policy == "gold"].set_index("task").effect
    for name, group in rows.groupby("policy"):
        line = table.loc[name]
        assert line.n == len(group)
        assert line.effect_mean == pytest.approx((group.effect / group.task.map(gold)).mean())
        assert line.effect_low <= line.effect_mean <= line.effect_high


@pytest.mark.parametrize("policy", ["no calls", "always asks back", "answers from memory", "unknown tools", "gold, always refused"])
def test_who_does_nothing_real_gets_nothing_by_effect(table, policy):
    assert table.loc[policy, "effect_mean"] == pytest.approx(0, abs=1e-9)


def test_by_effect_no_miss_passes_for_gold_and_no_hit_with_few_calls_for_a_miss_where_paper_has_both(rows):
    found = audit.faults(rows)
    assert found.loc["effect", ["passing", "denied"]].tolist() == [0, 0]
    assert found.loc["effect", "most"] <= 0.6 + 1e-9
    assert found.loc["paper", "passing"] > 100
    assert found.loc["paper", "denied"] > 5


SAME = ["another way to the same effect", "needed arguments only", "defaults spelled out", "numbers as floats"]


@pytest.mark.parametrize("policy", [*SAME, "gold, all words at the end"])
def test_whoever_comes_to_the_same_end_gets_what_gold_gets(rows, policy):
    hits = rows[(rows.policy == policy) & rows.goal & (rows.calls <= rows.least)]
    assert len(hits) >= 2
    assert hits["effect of gold"].to_numpy() == pytest.approx(1)


def test_a_look_more_and_a_recovery_cost_little(table):
    for policy in ("one more read", "a read to confirm each write", "as the conversation shows it", "every call fails first"):
        assert table.loc[policy, "effect_mean"] > 0.9


def test_what_touches_other_records_never_pays(rows):
    """Nor where its result shows a fact that is wanted, which counts as one step done."""
    stray = rows[(rows.policy == "only a write that nobody asked for") & (rows.calls > 0) & (rows.least > 0)]
    assert len(stray) >= 5
    assert (stray.effect <= 0).all()
    assert (stray.effect < 0).sum() >= len(stray) - 1


def test_silence_lies_and_wrong_times_are_seen_once_the_goal_is_reached(rows):
    for policy in ("gold, silent", "gold, and says it failed", "all in the first turn", "each next turn's calls too early"):
        hits = rows[(rows.policy == policy) & rows.goal & (rows.least > 0)]
        assert hits.effect.mean() < 0.975
        assert (hits.effect >= 0.8).all()
        assert hits.paper.to_numpy() == pytest.approx(1.3)


def test_an_undone_write_ends_where_it_began(tasks):
    undone = [e for e in play(cheats(tasks)["gold, then undo"], tasks) if len(e.calls) > len(e.conversation.calls)]
    assert undone
    for episode in undone:
        gold = {(c.name, json.dumps(c.arguments)) for c in episode.conversation.calls}
        undoing = [i for i, call in enumerate(episode.calls) if (call.name, json.dumps(call.arguments)) not in gold]
        assert all(episode.calls[i].ok for i in undoing)
        assert all(call.ok for call in episode.calls[: undoing[0]])  # after it gold may need what was undone, and be refused
        assert not episode.same_outcome()


def test_the_same_seed_gives_the_same_audit(tasks):
    few = tasks[:3]
    pd.testing.assert_frame_equal(audit.rollouts(few), audit.rollouts(few))
    assert [t.id for t in audit.tasks(3, ("banking", "budget"))] == [t.id for t in few]


# --- agreement with the distance from the goal


@pytest.fixture(scope="module")
def weak(tasks):
    return agree.rollouts(tasks)


def test_what_is_nearer_to_the_goal_is_seldom_paid_less_by_effect_and_often_under_paper(weak):
    found = agree.agreement(weak, resamples=50)
    assert (found.loc["effect", ["missing", "steps"]].astype(float) <= 0.04).all()
    assert found.loc["effect", "state"] <= 0.2
    for far in agree.DISTANCES:
        assert found.loc["paper", far] > found.loc["effect", far]
        assert (found[f"{far}_low"] <= found[far]).all()
        assert (found[far] <= found[f"{far}_high"]).all()
        assert (found[f"{far}_pairs"] > 100).all()
    assert found.loc["effect", "hit"] == 1


def test_a_pair_is_perverse_where_the_nearer_one_is_paid_less():
    rows = pd.DataFrame({"task": ["a"] * 3, "far": [0, 1, 2], "x": [1.0, 1.0, 0.0], "y": [0.0, 1.0, 2.0]})
    assert agree.perverse(rows, "x", "far")[["pairs", "perverse"]].to_numpy().tolist() == [[3, 0]]
    assert agree.perverse(rows, "y", "far")[["pairs", "perverse"]].to_numpy().tolist() == [[3, 3]]


def test_the_distances_of_gold_are_0_and_of_silence_all_of_it(tasks):
    for task in [t for t in tasks if 0 < len(t.calls) <= agree.LONGEST][:6]:
        gold, silent = (perform(task, lambda i, a=a: a, Random) for a in (RIGHT, SKIPPED))
        goal = state_facts(gold.session)
        assert msgspec.structs.astuple(distance(gold, goal)) == (0, 0, 0, True)
        assert msgspec.structs.astuple(distance(silent, goal))[:2] == (len(task.calls),) * 2


def test_rank_correlation_is_spearmans():
    a, b = np.random.default_rng(0).integers(0, 5, (2, 60, 2))
    found = agree.spearman(a, b)
    assert found == pytest.approx(np.array([[spearmanr(x, y).statistic for y in b.T] for x in a.T]))
    assert np.isnan(agree.spearman(np.ones((3, 1)), b[:3])).all()


def test_calibration_counts_every_rollout_once(weak):
    curve = agree.calibration(weak, "effect")
    assert curve.n.sum() == len(weak)
    assert curve.reward.is_monotonic_increasing
    assert ((curve.low <= curve.goal) & (curve.goal <= curve.high)).all()
    assert (curve.goal * curve.n).sum() == pytest.approx(weak.goal.sum())


# --- all sequences of actions, and learning on them


@pytest.fixture(scope="module")
def tables(tasks):
    return choices.tables([t for t in tasks if 1 <= len(t.calls) <= 3][:6])


def test_one_change_for_the_worse_never_pays_by_effect_and_harm_pays_under_paper(tables):
    slopes = choices.slopes(choices.changes(tables)).set_index(["question", "preset"])
    assert (slopes.n >= 20).all()
    for question in ("less", "refused", "harm"):
        assert slopes.loc[(question, "effect"), "pays"] == 0
    assert slopes.loc[("harm", "paper"), "pays"] > 0.5
    assert slopes.loc[("wrong", "effect"), "costs"] > 3 * slopes.loc[("wrong", "paper"), "costs"]


def test_chances_of_all_sequences_add_up_to_1_and_their_gradient_is_that_of_their_logarithm(tables):
    it = max(tables, key=lambda t: len(t.writes_n))
    learner = learning.Learner((0.4, 0.2, 0.3, 0.1), (0.7, 0.4))
    before = learner.chances(it)
    assert before.sum() == pytest.approx(1)
    k, small = int(np.argmax(before)), 1e-4
    habits, skill = learner.habits.copy(), learner.skill.copy()
    learner.learn([(it, np.array([k]), np.array([small]))], pace=1.0)
    moved = np.concatenate([(learner.habits - habits).ravel(), learner.skill - skill]) / (small * learning.RATE)
    assert np.log(learner.chances(it)[k] / before[k]) == pytest.approx(small * learning.RATE * (moved @ moved), rel=1e-2)


def test_a_simulated_beginner_reaches_more_goals_and_calls_no_more_than_needed(tables):
    found = learning.run(tables, "effect", "beginner", 0)
    assert found["after"] > found["before"] + 0.1
    assert found["calls_after"] <= 1.05


def test_the_numbers_to_record_survive_json(tasks):
    numbers = report.measure(tasks[:4], presets={**audit.AUDITED, "thrifty": thrifty}, tables=2)
    again = json.loads(json.dumps(numbers))
    assert again["tasks"] == 4
    assert {"paper_mean", "effect_mean", "thrifty_mean"} <= set(report.table(again["audit"]).columns)
    assert all(name in report.text(again) for name in ("gold, then undo", "thrifty", "weak beginner"))


def thrifty(trajectory):
    return {"goal": float(bool(trajectory.goal)), "calls": -0.1 * len(trajectory.calls)}


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
            live = explain(episode.trajectory()).added
            assert explain(it).added == live


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
    *_, mean, note = score(messages).stdout.splitlines()
    assert mean.split()[-2:] == ["1.300", "1.000"]
    assert "No state was looked at" in note


def test_a_reward_of_ones_own_stands_in_the_current_folder(tmp_path):
    (tmp_path / "mine.py").write_text("def half(trajectory):\n    return {'half': 0.5}\n")
    (tmp_path / "messages.jsonl").write_text(line([asked(("find", '{"q": "a"}')), answered(0)]) + "\n")
    command = [sys.executable, "-P", "-c", "from prove.cli import main; main()", "score", "messages.jsonl", "--reward", "mine:half"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout.splitlines()[-2].split()[-3:] == ["1.300", "1.000", "0.500"], found.stderr


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


def test_every_picture_is_drawn_and_is_the_same_twice(tasks, table, weak, tmp_path):
    cheat = Cheat(lambda e: [ToolCall("nowhere", {}), *[ToolCall(c.name, c.arguments) for c in e.conversation.turns[e.turn].calls]][::-1])
    whys = [explain(e.trajectory(), w) for e in play(cheat, tasks[:1]) for w in (PAPER, effect)]
    draws = [
        *(lambda why=why: figures_rewards.waterfall(why) for why in whys),
        lambda: figures_rewards.audit(table),
        lambda: figures_rewards.calibration({p: agree.calibration(weak, p) for p in audit.AUDITED}),
    ]
    for draw in draws:
        one, two = (figures.save(draw(), tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two"))
        assert one == two
        assert len(one) > 5000


@pytest.mark.parametrize(
    ("parts", "titles"),
    [
        (("validity", "coverage", "efficiency", "name", "argument"), ["validity, coverage, name, argument", "efficiency"]),
        (("done", "harm", "economy", "said", "timely"), ["done, said, timely", "economy, harm"]),
    ],
)
def test_training_curves_show_the_parts_of_the_reward_that_was_trained_on(parts, titles):
    rows = [{"step": step, "reward": 0.5, "goal": 0.2, **dict.fromkeys(parts, 0.4)} for step in (1, 2)]
    panels = figures.training_curves(rows).axes
    assert [panels[i].get_title(loc="left") or panels[i].get_title() for i in (1, 3)] == titles
    assert all(panel.lines for panel in panels)
