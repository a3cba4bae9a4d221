"""The house itself: notebooks stay thin, environments agree, the README and the command line tell the truth."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import msgspec
import nbformat
import papermill
import pytest

from prove import stages
from prove.profiles import find
from prove.records import read_conversations
from prove.servers.catalog import packages
from prove.synthesis.language.phrases import phrasebook, problems
from prove.tables import PAGES, heldout, update_pages

HOME = Path(__file__).parent.parent
NOTEBOOKS = sorted((HOME / "notebooks").glob("*.ipynb"))
README = (HOME / "README.md").read_text(encoding="utf-8")
COMMANDS = (
    "servers", "models", "call", "shell", "serve", "adopt", "graph", "synthesize", "export", "verify", "read", "score", "train", "evaluate",
    "figures",
)  # fmt: skip


def prove(*words, cwd=None, **environment):
    command = [sys.executable, "-m", "prove", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_thin_and_clean(path):
    cells = nbformat.read(path, 4).cells
    code = [c for c in cells if c.cell_type == "code"]
    assert not any(c.outputs or c.execution_count for c in code)
    assert sum(len(c.source.splitlines()) for c in code) <= 80
    assert all(len(c.source.splitlines()) <= 20 for c in code)
    assert not any(isinstance(n, ast.FunctionDef | ast.ClassDef) for c in code for n in ast.walk(ast.parse(c.source)))
    assert not re.search(r"^\s*[!%]|sys\.path|\.\./", "\n".join(c.source for c in code), re.M)
    assert sum("parameters" in c.metadata.get("tags", []) for c in code) == 1
    assert all(before.cell_type == "markdown" for before, c in pairwise(cells) if c.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_parameter_says_what_it_means(path):
    cell = next(c for c in nbformat.read(path, 4).cells if "parameters" in c.metadata.get("tags", []))
    assert all(re.fullmatch(r"\w+: \w+ = .+  # .+", line) for line in cell.source.splitlines())


@pytest.mark.parametrize(
    ("name", "parameters"), [("01_servers", {}), ("02_synthesis", {"profile": "smoke", "n": 20}), ("03_rewards", {"n": 6})]
)
def test_a_notebook_runs_under_papermill(name, parameters, tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path))
    done = papermill.execute_notebook(HOME / "notebooks" / f"{name}.ipynb", tmp_path / "out.ipynb", parameters, progress_bar=False)
    shown = [output.data for cell in done.cells for output in cell.get("outputs", []) if "data" in output]
    figures = [data for data in shown if "Axes>" in data.get("text/plain", "")]
    assert figures
    assert all("image/png" in data for data in figures)  # a picture, not the name of one


def test_a_notebook_with_an_unknown_profile_says_which_there_are(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path))
    notebook = HOME / "notebooks" / "02_synthesis.ipynb"
    with pytest.raises(papermill.PapermillExecutionError, match="there is no profile 'smal' \\(did you mean 'small'"):
        papermill.execute_notebook(notebook, tmp_path / "out.ipynb", {"profile": "smal"}, progress_bar=False)


def test_conda_installs_what_make_does():
    lines = (HOME / "environment.yml").read_text().splitlines()
    assert [line.strip()[2:] for line in lines if line.startswith("      - ")] == ["-r requirements.lock", "-e ."]


def test_the_lock_names_every_dependency_and_no_cuda():
    lock = (HOME / "requirements.lock").read_text()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lock.splitlines()}
    project = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for name in extras if name not in ("gpu", "distributed") for line in extras[name])]
    names = {re.match(r"[\w.-]+", line).group().lower() for line in wanted} - {"prove-rl"}
    assert names <= pinned
    assert not any("nvidia" in name or "cuda" in name for name in pinned)


def test_every_folder_and_file_of_the_readmes_tree_exists():
    tree = README.split("## Where things are")[1].split("```")[1]
    stack = []
    for line in tree.strip().splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2, line.split()[0]
        stack[depth:] = [name]
        assert (HOME / "".join(stack)).exists(), line


def test_the_pages_numbers_are_those_of_the_committed_runs(tmp_path):
    numbers = HOME / "results" / "numbers.json"
    for page in PAGES:
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text((HOME / page).read_text(encoding="utf-8"), encoding="utf-8")
    assert update_pages(tmp_path, json.loads(numbers.read_text()) if numbers.exists() else {}) == []


def test_a_profile_trains_on_any_preset_of_the_reward_and_names_those_there_are():
    small, paper = find("small"), find("small", "paper")
    assert (small.grpo.reward, paper.grpo.reward, find("paper").grpo.reward) == ("effect", "paper", "paper")
    assert paper == msgspec.structs.replace(small, grpo=paper.grpo, variant="paper")
    assert (small.variant, find("small", method="sft").variant) == ("effect", "sft")
    with pytest.raises(LookupError, match="there is no reward 'efect' \\(did you mean 'effect'"):
        find("small", "efect")


def test_models_are_shown_in_the_order_of_training(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path))
    summary = {"goal": {"mean": 0.5, "low": 0.25, "high": 0.75, "n": 8}}
    stages.record("heldout", {"models": dict.fromkeys(("base", "warm", "grpo"), summary)})
    assert list(heldout(stages.numbers()["heldout"]).index) == ["base", "warm", "grpo"]


def readme_commands():
    blocks = [block for block in README.split("```")[1::2] if block.startswith("\n")]  # every second piece is fenced
    return [line.split("  #")[0].strip() for block in blocks for line in block.splitlines() if line.startswith("prove ")]


@pytest.mark.parametrize("command", readme_commands())
def test_the_readmes_commands_run(command, tmp_path):
    if "conversations.jsonl" in command and "synthesize" not in command:
        assert prove("synthesize", "--servers", "banking", "-n", "5", "--out", "conversations.jsonl", cwd=tmp_path).returncode == 0
    done = prove(*shlex.split(command)[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    done = prove(command, "--help")
    assert done.returncode == 0
    assert f"prove {command}" in done.stdout


BAD = [
    (["call", "bankng", "list_accounts"], "did you mean 'banking'"),
    (["graph", "banking", "--explain", "nothing"], "there is no tool 'nothing'"),
    (["synthesize", "--servers", "banking", "--split", "tomorrow"], "there is no split 'tomorrow'"),
    (["synthesize", "--servers", "bank"], "there is no server 'bank'"),
    (["score", "no-such-file.jsonl"], "no-such-file.jsonl"),
    (["train", "--profile", "big"], "there is no profile 'big'"),
    (["train", "--profile", "smoke", "--model", "smolm2-135m"], "did you mean 'smollm2-135m'"),
    (["train", "--profile", "smoke", "--model", "./nowhere"], "nowhere"),
    (["figures"], "does not exist yet"),
    (["graph", "budget", "--picture", "g"], "g is no name for a picture: it must end in .svg, .pdf, .png"),
    (["graph", "budget", "--picture", "g.jpgg"], "g.jpgg is no name for a picture"),
    (["synthesize", "--servers", "budget", "-n", "1", "--out", "."], "is a folder"),
    (["verify", os.devnull], "no conversation in it"),
    (["score", os.devnull], "no conversation in it"),
    (["read", os.devnull], "no conversation in it"),
    (["score", os.devnull, "-n", "3"], "-n says nothing of a file"),
    (["score", "--audit", "--policy", "silent"], "--policy says nothing with --audit"),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_a_users_mistake_is_one_clear_line(words, said, tmp_path):
    done = prove(*words, cwd=tmp_path, PROVE_RESULTS=str(tmp_path), COLUMNS="200")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_every_option_servers_counts(tmp_path):
    done = prove("synthesize", "--servers", "budget", "--servers", "email", "-n", "4", "--out", "made.jsonl", cwd=tmp_path)
    assert done.returncode == 0
    assert {c.server for c in read_conversations(tmp_path / "made.jsonl")} == {"budget", "email"}


def test_a_conversation_that_misses_its_own_goal_is_not_scored_without_a_word(tmp_path):
    out = tmp_path / "made.jsonl"
    assert prove("synthesize", "--servers", "banking", "-n", "3", "--out", str(out)).returncode == 0
    text = out.read_text()
    outcome = json.loads(text.splitlines()[0])["certificate"]["outcome"]
    out.write_text(text.replace(outcome, outcome[::-1]))
    done = prove("score", str(out))
    assert done.returncode == 1
    assert "the ground truth of 1 conversations misses its own goal (banking-" in done.stderr


def test_a_tool_refusal_is_exit_code_one():
    done = prove("call", "banking", "get_account", "account_id=ACC-1")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "not_found"


def test_results_that_cannot_be_written_are_said_in_one_line(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = prove("train", "--profile", "smoke", PROVE_RESULTS=str(blocked))
    assert done.returncode == 2
    assert "set PROVE_RESULTS to a folder that can be written" in done.stderr
    assert blocked.read_text() == "not a folder"


@pytest.mark.parametrize("server", packages())
def test_every_phrasebook_is_whole(server):
    assert list(problems(phrasebook(server))) == []
