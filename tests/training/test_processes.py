"""Training in one, two and three processes (gloo, on the CPU): the same parameters, one writer, and a kill at any point.

A launch costs seconds for each process, so each does several trainings, and the tests look at what they left.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from prove.training.launch import LAYOUT, PARENT, Layout, arguments

HERE = Path(__file__).parent
TOLERANCE = 1e-5  # of a weight, after steps of 1e-3: sums in another order, and Adam's division, which makes most of the smallest
KINDS = {
    Layout(): ("sft", "sft-lora", "grpo", "grpo-lora"),
    Layout(processes=2): ("sft", "grpo-lora"),
    Layout(processes=3): ("sft", "sft-lora", "grpo", "grpo-lora"),
    Layout(processes=2, sharded=True): ("sft", "sft-lora", "grpo", "grpo-lora"),
    Layout(processes=3, sharded=True): ("sft-lora", "grpo"),
}


ALONE = Layout()


def start(folder, kinds, layout=ALONE, pause=0.0):
    """Start the worker as a stage starts a job; it ends with this process."""
    module = ["worker", str(folder), str(pause), *kinds]
    command = [sys.executable, "-m", *module]
    if layout.world > 1:
        command = [sys.executable, "-m", "accelerate.commands.launch", *arguments(folder, layout)[:-2], *module]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent.parent), os.environ.get("PYTHONPATH", "")]),
        "ACCELERATE_USE_CPU": "true",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
        "TRL_EXPERIMENTAL_SILENCE": "1",
        PARENT: str(os.getpid()) if layout.world == 1 else "",
        LAYOUT: "",
    }
    log = (folder.parent / f"{folder.name}.log").open("ab")
    return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def finish(process, folder):
    assert process.wait(timeout=300) == 0, (folder.parent / f"{folder.name}.log").read_text()[-3000:]


def weights(folder, kind):
    return load_file(folder / kind / "model" / "model.safetensors")


def steps(folder, kind):
    path = folder / kind / "steps.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of each layout's trainings."""
    folders = {}

    def of(layout):
        if layout not in folders:
            folders[layout] = tmp_path_factory.mktemp("trained") / "out"
            finish(start(folders[layout], KINDS[layout], layout), folders[layout])
        return folders[layout]

    return of


@pytest.mark.parametrize("layout", [layout for layout in KINDS if layout.world > 1], ids=str)
def test_any_number_of_processes_ends_in_the_same_parameters(trained, layout):
    alone, together = trained(Layout()), trained(layout)
    for kind in KINDS[layout]:
        expected, found = weights(alone, kind), weights(together, kind)
        assert expected.keys() == found.keys()
        assert max((expected[name] - found[name]).abs().max().item() for name in expected) < TOLERANCE
        pairs = list(zip(steps(alone, kind), steps(together, kind), strict=True))
        assert len(pairs) == 3  # rows of one writer, each step once
        for one, many in pairs:
            same = ("step", "loss", "reward", "calls", "sampled_tokens", "groups_without_signal")
            assert {k: many[k] for k in same if k in many} == pytest.approx({k: one[k] for k in same if k in one}, abs=1e-5)


def test_what_was_saved_loads_and_sampler_and_trainer_agree(trained):
    for layout in (Layout(), Layout(processes=2, sharded=True)):
        for kind in KINDS[layout]:
            model, told = AutoModelForCausalLM.from_pretrained(trained(layout) / kind / "model", output_loading_info=True)
            assert not told["missing_keys"]
            assert not told["unexpected_keys"]
            assert all(torch.isfinite(p).all() for p in model.parameters())
        for step in steps(trained(layout), "grpo"):
            assert step["gap"] < 1e-4
            assert abs(step["importance"] - 1) < 1e-4
            assert step["tokens_read"] <= 1.1 * step["tokens_of_rows"]


def test_three_kills_at_random_and_a_resume_each_give_the_parameters_bit_by_bit(trained, tmp_path):
    folder, chance, kills = tmp_path / "killed", random.Random(7), 0
    while kills < 3:
        process = start(folder, ["grpo"], pause=0.6)
        done = len(steps(folder, "grpo"))
        while len(steps(folder, "grpo")) == done and process.poll() is None:  # at least to where this start has told of a step
            time.sleep(0.02)
        time.sleep(chance.uniform(0.0, 0.9))  # in the pause, in rollouts, in a checkpoint
        if process.poll() is None:
            process.kill()
            process.wait()
        kills += 1
    finish(start(folder, ["grpo"]), folder)
    expected, found = weights(trained(Layout()), "grpo"), weights(folder, "grpo")
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    last = {row["step"]: row["loss"] for row in steps(folder, "grpo")}
    assert last == {row["step"]: row["loss"] for row in steps(trained(Layout()), "grpo")}


def test_a_rank_that_is_killed_ends_all_and_the_rerun_goes_on(trained, tmp_path):
    layout = Layout(processes=2, sharded=True)
    folder = tmp_path / "torn"
    process = start(folder, ["grpo"], layout, pause=0.5)
    while not steps(folder, "grpo"):
        assert process.poll() is None
        time.sleep(0.05)
    ranks = psutil.Process(process.pid).children()
    assert len(ranks) == 2
    ranks[1].kill()
    assert process.wait(timeout=120) != 0
    assert not any(rank.is_running() and rank.status() != psutil.STATUS_ZOMBIE for rank in ranks)
    assert not (folder / "grpo" / "model").exists()
    finish(start(folder, ["grpo"], layout), folder)
    expected, found = weights(trained(layout), "grpo"), weights(folder, "grpo")
    assert max((expected[name] - found[name]).abs().max().item() for name in expected) < TOLERANCE


def test_processes_end_with_who_started_them(tmp_path):
    """A launcher in between is killed without a chance to end its ranks."""
    code = "import sys, time\nfrom prove.training import launch\nlaunch.end_with_parent(0.1)\ntime.sleep(60)"
    parent = f"import os, subprocess, sys, time\nos.environ['{PARENT}'] = str(os.getpid())\n"
    parent += f"print(subprocess.Popen([sys.executable, '-c', {code!r}]).pid, flush=True)\ntime.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True, cwd=HERE.parent.parent)
    child = psutil.Process(int(process.stdout.readline()))
    time.sleep(3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    gone, _ = psutil.wait_procs([child], timeout=20)
    assert gone
