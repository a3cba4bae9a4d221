"""Our suite: fixed, whole, in no world or server that training has, and played by any endpoint without anything of training."""

import json
import lzma
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest

from prove.benchmarks import suite
from prove.benchmarks.contract import NotInstalled, say
from prove.benchmarks.evaluate import Who, evaluate
from prove.benchmarks.heldout import Heldout
from prove.benchmarks.report import gain, lines
from prove.benchmarks.runner import Spec, play
from prove.episode import Reply, ToolCall
from prove.policies import Oracle
from prove.run import RunError
from prove.servers.catalog import catalogue, heldout
from prove.synthesis.broad.book import book, with_a_book
from prove.synthesis.broad.policy import policy, with_rules
from prove.synthesis.data.dataset import item
from prove.synthesis.data.dedup import Seen
from prove.synthesis.data.plan import WORLDS, Plan
from prove.synthesis.data.suite import places, some

sys.path.insert(0, str(Path(__file__).parent))
from endpoint import Endpoint, serve

edit = msgspec.structs.replace
TRAINING = ("torch", "transformers", "trl", "peft", "accelerate", "datasets", "gguf", "vllm", "deepspeed", "ray")
OTHERS = ("pyarrow", "matplotlib", "mcp", "jupyterlab", "papermill", "ipywidgets")

BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"{{name}} is not part of a light install")

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(scope="module")
def tasks():
    return suite.read().tasks


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path / "results"))


# --- what there is


def test_there_are_five_hundred_tasks_a_hundred_of_each_level_and_forty_of_those_on_servers_of_its_own(tasks):
    assert len(tasks) == len({t.id for t in tasks}) == 500
    at = Counter((suite.level(t.id), t.server) for t in tasks)
    for level in suite.LEVELS:
        assert {server: n for (of, server), n in at.items() if of == level} == places(level)
        assert sum(places(level).values()) == 100
        assert sum(places(level)[server] for server in heldout()) == 40


def test_no_task_is_in_a_world_or_near_a_server_that_training_has(tasks):
    trained = {seed for split in ("train", "validation") for seed in WORLDS[split]}
    assert not trained & {t.seed for t in tasks}
    assert {t.split for t in tasks} == {"heldout"}
    for i in range(40):
        conversation, _ = item(Plan(40, seed=7, distractors=1.0), i)
        assert conversation is None or not {d.split(".")[0] for d in conversation.distractors} & {*heldout()}
    assert {t.server for t in tasks} == {*catalogue(), *heldout()}


def test_the_servers_of_its_own_say_of_themselves_what_every_level_needs():
    for server in heldout():
        it = book(server)
        assert all((it.deeds, it.why, it.facts, it.listings, policy(server)))
        assert server not in {*with_a_book(), *with_rules()}  # which training draws from


def test_each_level_is_what_it_says(tasks):
    for task in tasks:
        match suite.level(task.id):
            case 1:
                assert (len(task.turns), len(task.calls)) == (1, 1)
            case 2:
                assert len(task.turns) == 1 < len(task.calls)
            case 3:
                assert len(task.turns) > 1 < len(task.calls)
            case 4:
                assert len(task.homes) > 1
            case 5:
                assert task.policy
        assert task.calls
        assert not task.stripped_enums


def test_a_task_depends_on_the_seed_alone():
    once, again = ([list(some(level, "clinic", 1, 3, Seen())) for level in (2, 4)] for _ in range(2))
    assert once == again


# --- a file that is what it says


def test_a_damaged_file_is_named_and_a_rewritten_one_is_another_digest(tasks, tmp_path):
    path = tmp_path / "suite.jsonl.xz"
    header = suite.write(tasks[:3], "x", path)
    assert suite.read(path).tasks == tasks[:3]
    assert suite.write(tasks[:2], "x", path).digest != header.digest
    whole = lzma.decompress(path.read_bytes())
    for damaged in (b"", path.read_bytes()[:-9], lzma.compress(whole[:-1]), lzma.compress(whole.replace(b"heldout", b"train", 1)), b"x"):
        path.write_bytes(damaged)
        with pytest.raises(NotInstalled, match="install prove-rl anew"):
            suite.read(path)
    with pytest.raises(NotInstalled):
        suite.read(tmp_path / "nothing")


def test_a_task_is_not_played_in_another_world(tasks):
    task = tasks[0]
    with pytest.raises(NotInstalled, match="not those that the suite was made with"):
        suite.Task(task, {f"{home}-{task.seed}": "0" * 16 for home in task.homes})


def test_what_a_model_is_told_of_a_tool_is_part_of_the_place(monkeypatch):
    before = suite.place("clinic", 52)
    assert before == suite.place("clinic", 52) != suite.place("clinic", 53)
    monkeypatch.setattr(suite, "SYSTEM", "You are somebody else.")
    suite._told.cache_clear()
    assert suite.place("clinic", 52) != before
    suite._told.cache_clear()


def test_results_of_different_versions_refuse_to_be_compared():
    found = [evaluate("heldout", Who(policy), limit=4)[1] for policy in ("gold", "silent")]
    header = suite.read().header
    assert [(f["version"], f["about"]["tasks"]) for f in found] == [(header.version, header.digest)] * 2
    assert gain(*found).mean == 1.0
    for other in ({"version": "0"}, {"about": found[1]["about"] | {"tasks": "another"}}):
        with pytest.raises(RunError, match="do not compare"):
            gain(found[0], found[1] | other)


def test_an_unknown_part_of_it_names_those_there_are():
    with pytest.raises(LookupError, match=r"no level or server 'level-6'; they have: banking, .*level-1, level-2"):
        evaluate("heldout", Who("gold"), subset="level-6")
    adapter = Heldout()
    assert len(adapter.tasks("level-5")) == len(adapter.tasks("clinic")) == 100


# --- what is reached, and by whom


@pytest.mark.parametrize("level", suite.LEVELS)
def test_the_ground_truth_reaches_every_goal_and_nothing_and_chance_hardly_any(level):
    """A tenth of each level; `make bench-gold` plays all."""
    adapter = Heldout()
    names = Random(level).sample(adapter.tasks(f"level-{level}"), 10)
    assert all(adapter.play(name, 0, adapter.gold(name), None).score == 1.0 for name in names)
    assert not any(adapter.play(name, 0, lambda messages, tools: say("I can't."), None).score for name in names)


def _played(task, change):
    """A task played by its ground truth, each call of which has been through `change`."""
    episode = suite.Task(task, suite.read().header.places)
    while not episode.done:
        [reply] = Oracle(attempts=False).reply([episode])
        episode.step(Reply(reply.content, [change(call) for call in reply.calls]))
    return episode


def _reason(call, words):
    return ToolCall(call.name, {k: words(v) if k == "reason" else v for k, v in call.arguments.items()})


def test_another_way_to_the_same_effect_is_as_good(tasks):
    task = next(t for t in tasks if any(c.name == "book_appointment" for c in t.calls))
    right = next(c.arguments["reason"] for c in task.calls if c.name == "book_appointment")
    for words in (right, right.upper(), f' "{right}." ', right.removeprefix("a ").title()):
        assert _played(task, lambda call, words=words: _reason(call, lambda _: words)).goal_reached(), words
    for words in ("something else", f"not {right}", right[:-2]):
        assert not _played(task, lambda call, words=words: _reason(call, lambda _: words)).goal_reached(), words


def test_looking_around_costs_nothing_and_doing_more_costs_the_goal(tasks):
    task = next(t for t in tasks if t.server == "clinic" and suite.level(t.id) == 2 and t.calls[-1].name == "create_referral")
    for extra, reached in (("search_patients", True), ("withdraw_referral", False)):
        episode = suite.Task(task, suite.read().header.places)
        while not episode.done:
            [reply] = Oracle(attempts=False).reply([episode])
            if not reply.calls:
                made = next((r.value["referral_id"] for r in episode.results if r.ok and "referral_id" in r.value), "")
                episode.step(Reply("", [ToolCall(extra, {"referral_id": made} if extra == "withdraw_referral" else {"query": "a"})]))
            episode.step(reply)
        assert episode.goal_reached() == reached


def test_a_table_shows_every_server_and_level():
    found = evaluate("heldout", Who("gold"), subset="level-2", limit=6)[1]
    text = lines(found)
    assert any(line.startswith("  level 2, chains") for line in text)
    assert any(line.split()[:1] == ["all"] and "1.00 of 6" in line for line in text)
    table = suite.table({"clinic-1-00": 1.0, "clinic-1-01": 0.0, "email-4-00": 1.0})
    assert table["clinic"] == {"level 1": "0.50 of 2", "level 2": "", "level 3": "", "level 4": "", "level 5": "", "all": "0.50 of 2"}
    assert table["all"]["all"] == "0.67 of 3"


def test_another_world_stops_a_run_and_is_no_wrong_answer(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "from prove.benchmarks import suite\nread = suite.read\n"
        "suite.read = lambda: (lambda s: type(s)(type(s.header)(s.header.version, s.header.digest,"
        " dict.fromkeys(s.header.places, '')), s.tasks))(read())\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(Path(suite.__file__).parents[2])]))
    with pytest.raises(RunError, match="not those that the suite was made with"):
        play(Spec("heldout", "m"), lambda messages, tools: say("No."))


def test_one_command_plays_it_against_an_endpoint_without_anything_of_training(tmp_path):
    blocked = tmp_path / "light"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text(BLOCK.format(names=(*TRAINING, *OTHERS)))
    path = os.pathsep.join([str(blocked), str(Path(suite.__file__).parents[2])])
    with serve(Endpoint(lambda model, messages, tools: say("I can't."))) as endpoint:
        words = ["evaluate", "--benchmark", "heldout", "--endpoint", endpoint.url, "--model", "m", "--limit", "3", "--trials", "2"]
        done = subprocess.run(
            [sys.executable, "-c", "from prove.cli import main; main()", *words],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    assert "pass^2" in done.stdout
    [kept] = (tmp_path / "results" / "benchmarks").glob("*.json")
    found = json.loads(kept.read_text())
    assert (found["n"], found["trials"], found["about"]["tasks"]) == (3, 2, suite.read().header.digest)
    assert found["floor"]["mean"] == 0.0
