"""Benchmarks by their own code: ground truth gets everything, nothing gets the floor, and no policy, endpoint or kill breaks a run."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from prove.benchmarks.evaluate import Who, evaluate
from prove.benchmarks.reference import POLICIES
from prove.benchmarks.report import gain, lines
from prove.benchmarks.runner import Harness, Spec, play
from prove.run import Run, RunError
from prove.synthesis.data.dataset import synthesize
from prove.synthesis.data.plan import Plan

sys.path.insert(0, str(Path(__file__).parent))
from endpoint import Endpoint, serve

needs = {
    name: pytest.mark.skipif(find_spec(package) is None, reason=f"{package} is not installed: make bench-env")
    for name, package in {"bfcl": "bfcl_eval", "tau2": "tau2", "agentdojo": "agentdojo", "teval": "opencompass"}.items()
}
HERE: dict[str, dict[str, str]] = {}  # options
ALL = [pytest.param("heldout", "", id="heldout")] + [
    pytest.param(name, subset, marks=needs[name], id=name)
    for name, subset in (("bfcl", "base"), ("tau2", "telecom-solo"), ("agentdojo", "banking"))
]


@pytest.fixture(autouse=True, scope="module")
def _conversations(tmp_path_factory):
    path = tmp_path_factory.mktemp("heldout") / "conversations.jsonl"
    synthesize(Plan(6, servers=("banking", "email"), split="heldout"), path)
    HERE["heldout"] = {"file": str(path)}


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path / "results"))


def score(benchmark, policy, subset="", limit=8, **how):
    return evaluate(benchmark, Who(policy), subset=subset, limit=limit, options=HERE.get(benchmark, {}) | how.pop("options", {}), **how)[1]


@pytest.mark.parametrize(("benchmark", "subset"), ALL)
def test_the_ground_truth_gets_everything(benchmark, subset):
    found = score(benchmark, "gold", subset)
    assert found["score"].mean == 1.0
    assert found["errors"] == 0


@pytest.mark.parametrize(("benchmark", "subset"), ALL)
def test_doing_nothing_gets_less_than_half(benchmark, subset):
    assert score(benchmark, "silent", subset)["score"].mean < 0.5


@pytest.mark.parametrize("policy", ["random", "hostile"])
@pytest.mark.parametrize(("benchmark", "subset"), ALL)
def test_no_policy_takes_a_harness_down(benchmark, subset, policy):
    found = score(benchmark, policy, subset, 4, silence=60.0)
    assert found["n"] == 4
    assert found["unplayed"] == 0
    assert found["score"].mean < 1.0


@needs["bfcl"]
@pytest.mark.parametrize("category", ["base", "miss_func", "miss_param", "long_context"])
def test_bfcl_gives_the_ground_truth_of_each_category_all_points(category):
    found = score("bfcl", "gold", category, 25)
    assert found["score"].mean == 1.0
    assert found["parts"][category].n == 25


@needs["bfcl"]
def test_bfcls_known_defects_stop_a_policy_that_makes_one_call_a_step():
    tasks = {"multi_turn_miss_func_49", "multi_turn_long_context_38", "multi_turn_long_context_46"}
    with_all = {True: 1.0, False: 0.0}
    for parallel, expected in with_all.items():
        harness = Harness(Spec("bfcl", "gold", {"parallel": parallel}, reference=True))
        assert {harness.play(task, 0, {})["score"] for task in tasks} == {expected}
        harness.close()


@needs["bfcl"]
def test_what_bfcl_evaluates_never_holds_a_name_that_was_not_offered():
    from prove.benchmarks.bfcl import Bfcl
    from prove.benchmarks.contract import say

    marker = "__import__('os').environ.__setitem__('PROVE_PWNED', '1')"
    bfcl = Bfcl()
    for name, arguments in ((marker, {}), ("ls", {f"a=1) or {marker} or dict(a": 1}), ("ls", {"class": 1}), ("print", {"end": ""})):
        asked = []

        def policy(messages, tools, name=name, arguments=arguments, asked=asked):
            asked.append(messages[-1]["content"])
            return say("", (name, arguments)) if len(asked) == 1 else say("Done.")

        assert bfcl.play("multi_turn_base_0", 0, policy, None).score == 0.0
        assert asked[1].startswith("Error during execution: name 'unknown_")
    assert "PROVE_PWNED" not in os.environ


@needs["bfcl"]
def test_no_instance_of_a_task_outlives_it():
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils

    from prove.benchmarks.bfcl import Bfcl

    bfcl = Bfcl()
    for policy in ("random", "gold"):
        outcome = bfcl.play("multi_turn_base_7", 0, POLICIES[policy](bfcl, "multi_turn_base_7", __import__("random").Random(0)), None)
    assert outcome.score == 1.0
    assert not [name for name in vars(multi_turn_utils) if name.endswith("_instance")]


class Gold:
    """Plays ground truths for whoever asks: a conversation is known by its first words, and begins anew where they stand alone."""

    def __init__(self, adapter, tasks):
        self.adapter, self.firsts, self.policies = adapter, {}, {}
        for task in tasks:
            adapter.play(
                task, 0, lambda messages, tools, task=task: self.firsts.update({self.key(messages): task}) or {"content": "-"}, None
            )

    @staticmethod
    def key(messages):
        return next(m["content"] for m in messages if m["role"] == "user")

    def __call__(self, model, messages, tools):
        task = self.firsts[self.key(messages)]
        if not any(m["role"] == "assistant" for m in messages):
            self.policies[task] = self.adapter.gold(task)
        return self.policies[task](messages, tools)


def adapter_of(benchmark):
    if benchmark == "bfcl":
        from prove.benchmarks.bfcl import Bfcl

        return Bfcl(), {}
    from prove.benchmarks.heldout import Heldout

    return Heldout(**HERE["heldout"]), HERE["heldout"]


@pytest.mark.parametrize("benchmark", ["heldout", pytest.param("bfcl", marks=needs["bfcl"])])
def test_an_endpoint_that_drops_and_garbles_a_fifth_costs_retries_and_no_points(benchmark):
    adapter, options = adapter_of(benchmark)
    subset = "miss_param" if benchmark == "bfcl" else ""
    tasks = 4
    with serve(Endpoint(Gold(adapter, adapter.tasks(subset)))) as endpoint:
        who = Who(model="m", endpoint=endpoint.url)
        run, found = evaluate(benchmark, who, subset=subset, limit=tasks, workers=2, options=options)
    assert found["score"].mean == 1.0
    assert found["retries"] == endpoint.faults > 0
    assert found["tokens_out"] == 2 * endpoint.answers
    assert found["floor"].mean < 1.0
    assert any("doing nothing" in line for line in lines(found))
    kept = json.loads(next((run.path.parent.parent.parent / "benchmarks").iterdir()).read_text())
    assert kept["score"]["n"] == kept["n"] == len(kept["scores"]) == tasks


@needs["bfcl"]
def test_a_run_that_is_killed_goes_on_without_playing_a_task_again(tmp_path):
    adapter, _ = adapter_of("bfcl")
    gold = Gold(adapter, adapter.tasks("base"))

    def slowly(model, messages, tools):
        time.sleep(0.05)
        return gold(model, messages, tools)

    with serve(Endpoint(slowly)) as endpoint:
        words = ["evaluate", "--benchmark", "bfcl", "--subset", "base", "--limit", "8", "--model", "m", "--endpoint", endpoint.url]
        command = [sys.executable, "-m", "prove", *words]
        process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (begun := [row for path in played(tmp_path) for row in path.read_text().splitlines()]):
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        [path] = played(tmp_path)
        with path.open("a") as file:
            file.write('{"task": "multi_tu')  # what a kill may leave
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [json.loads(line) for line in begun] == rows[: len(begun)]
    assert len({row["task"] for row in rows}) == len(rows) == 8
    assert all(row["score"] == 1.0 for row in rows)


def played(folder):
    """The files of tasks that a model has played, silence apart."""
    return [p for p in (folder / "results" / "runs").glob("benchmark/*/tasks.jsonl") if "silent" not in (p.parent / "run.json").read_text()]


def test_a_policy_that_cannot_be_asked_is_no_wrong_answer():
    spec, asked = Spec("heldout", "m", HERE["heldout"]), []

    def broken(messages, tools):
        asked.append(1)
        raise RunError("nobody is there")

    with pytest.raises(RunError, match="nobody is there"):
        play(spec, broken)
    run, rows, wanted = play(spec, lambda messages, tools: {"role": "assistant", "content": "No."})
    assert len(asked) == 3  # and then it stops
    assert len(rows) == wanted == 6
    assert len(run.rows("failures")) == 3


def test_two_processes_cannot_play_the_same_run():
    spec = Spec("heldout", "m", HERE["heldout"])
    seen = []

    def meanwhile(messages, tools):
        if not seen:
            seen.append(1)
            with pytest.raises(RunError, match="another process plays"):
                play(spec, meanwhile)
        return {"role": "assistant", "content": "No."}

    assert len(play(spec, meanwhile)[1]) == 6


def test_a_harness_that_hangs_or_dies_is_an_error_of_its_task_alone(monkeypatch):
    spec = Spec("heldout", "m", HERE["heldout"])
    harness = Harness(spec)
    first, second = harness.tasks("")[:2]
    row = harness.play(first, 0, {"agent": lambda messages, tools: harness.process.kill()})
    assert (row["score"], "died" in row["error"]) == (0.0, True)
    assert harness.play(second, 0, {"agent": lambda messages, tools: {"role": "assistant", "content": "No."}})["error"] == ""
    harness.close()


def test_results_of_other_rules_refuse_to_be_compared():
    gold, silent = score("heldout", "gold"), score("heldout", "silent")
    assert gain(gold, silent).mean > 0
    for name in ("version", "user", "about"):
        with pytest.raises(RunError, match=f"do not compare: {name}"):
            gain(gold, silent | {name: "other"})


@pytest.mark.parametrize(
    ("benchmark", "subset", "said"),
    [
        ("heldout", "nowhere", "no server 'nowhere'"),
        pytest.param("bfcl", "simple", "no subset 'simple'", marks=needs["bfcl"]),
        ("bfkl", "", "did you mean 'bfcl'"),
    ],
)
def test_an_unknown_name_is_an_error_that_names_those_there_are(benchmark, subset, said):
    with pytest.raises(LookupError, match=said):
        score(benchmark, "gold", subset)


@pytest.mark.parametrize("benchmark", ["bfcl", "tau2", "agentdojo", "teval"])
def test_a_benchmark_that_is_missing_is_one_line(benchmark):
    bare = str(Path(sys.base_prefix) / "bin" / "python3")
    with pytest.raises(RunError, match=f"^{benchmark} needs the package .*make bench-env"):
        score(benchmark, "gold", python=bare)


@pytest.mark.parametrize("name", [str(Path(__file__).parents[2] / "prove" / "benchmarks")])
def test_an_adapter_is_short(name):
    for path in Path(name).glob("*.py"):
        assert len(path.read_text().splitlines()) <= (150 if path.stem in ("bfcl", "tau2", "teval", "agentdojo") else 300)


def test_a_run_is_named_by_everything_that_makes_it_comparable():
    paths = {Run.open("benchmark", {"a": 1, "about": about}).path for about in ({}, {"tasks": "x"})}
    assert len(paths) == 2
