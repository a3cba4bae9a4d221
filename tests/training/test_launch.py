"""How stages are started: layouts, the words of `accelerate launch`, two machines on this one, locks, joining, last words."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from accelerate.commands.launch import launch_command_parser

from prove import stages
from prove.files import locked
from prove.run import Run, RunError
from prove.training import launch
from prove.training.launch import Layout, choose


def test_a_layout_is_what_there_is_and_says_so(monkeypatch):
    assert str(choose(None, full=True)) == "the CPU"
    with pytest.raises(RunError, match="this machine has 0 GPUs, not 2: say `--gpus 0`"):
        choose(2, full=True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 8)
    assert choose(None, full=True) == Layout(8, True, sharded=True)
    assert str(choose(None, full=True)) == "8 GPUs, FSDP2: sharded"
    assert str(choose(None, full=False)) == "8 GPUs, DDP: one copy each"
    assert choose(1, full=True) == Layout(1, True)  # a single one has nobody to share with
    assert str(choose(8, True, 2, 1, "10.0.0.1:29500")) == "16 GPUs on 2 machines, FSDP2: sharded"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"nodes": 2}, "2 machines need `--rendezvous HOST:PORT`"),
        ({"nodes": 2, "rendezvous": "here"}, "got 'here'"),
        ({"nodes": 2, "rendezvous": "h:1", "node": 2}, "machine 2 is not one of 0 to 1"),
    ],
)
def test_machines_that_cannot_find_each_other_are_an_error(more, said):
    with pytest.raises(RunError, match=said):
        choose(None, full=True, **more)


def test_accelerate_understands_the_words(tmp_path):
    """By its own parser: each word is known there, and means what it is to mean."""
    sharded = launch_command_parser().parse_args(launch.arguments(tmp_path, Layout(8, True, 2, 1, "10.0.0.1:29500", True)))
    assert (sharded.num_processes, sharded.num_machines, sharded.machine_rank) == (16, 2, 1)
    assert (sharded.main_process_ip, sharded.main_process_port) == ("10.0.0.1", 29500)
    assert sharded.use_fsdp
    assert (sharded.fsdp_version, sharded.mixed_precision) == ("2", "bf16")
    assert (sharded.training_script, sharded.training_script_args) == ("prove.training.job", [str(tmp_path)])
    plain = launch_command_parser().parse_args(launch.arguments(tmp_path, Layout(8, True)))
    assert plain.multi_gpu
    assert not plain.use_fsdp


def test_two_machines_meet(tmp_path):
    """Two launchers on this machine, as on two: one world of two processes, which know their ranks."""
    (tmp_path / "meet.py").write_text(
        "import sys, torch.distributed as dist\nfrom accelerate import PartialState\ns = PartialState(cpu=True)\n"
        "out = [None] * s.num_processes\ndist.all_gather_object(out, s.process_index)\nprint('met', out, flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    port = 20000 + os.getpid() % 10000
    processes = []
    for node in range(2):
        words = launch.arguments(tmp_path, Layout(1, False, 2, node, f"127.0.0.1:{port}"))[:-2]
        command = [sys.executable, "-m", "accelerate.commands.launch", *words, "meet"]
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    said = [process.communicate(timeout=120)[0] for process in processes]
    assert all("met [0, 1]" in text for text in said), said


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path))
    return tmp_path


def stand_in(monkeypatch, code):
    """Start this code with the run's folder instead of training."""
    monkeypatch.setattr(launch, "command", lambda run, layout: [sys.executable, "-c", code, str(run)])


WORK = """
import sys, time, pathlib
run = pathlib.Path(sys.argv[1])
with (run / 'started.txt').open('a') as f: f.write('x')
time.sleep(1.5)
(run / 'done').touch()
"""


def test_a_run_that_somebody_is_at_is_joined_not_doubled(results, monkeypatch):
    stand_in(monkeypatch, WORK)
    found: list[Run] = []
    threads = [threading.Thread(target=lambda: found.append(stages.job("warm", {"a": 1}, 1))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(found) == 3
    assert {run.path for run in found} == {found[0].path}
    assert (found[0].path / "started.txt").read_text() == "x"


def test_whoever_joined_goes_on_when_the_first_is_stopped(results, monkeypatch):
    stand_in(monkeypatch, WORK)
    run = Run.open("warm", {"a": 2})
    joined: list[Run] = []
    with locked(run.path / ".lock-0"):
        thread = threading.Thread(target=lambda: joined.append(stages.job("warm", {"a": 2}, 1)))
        thread.start()
        time.sleep(1.0)
        assert not (run.path / "started.txt").exists()
    thread.join(timeout=60)
    assert joined[0].done


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", ""),
        ("one\ntwo\n", "two"),
        ("x\nprove stopped: the disk is full\n[W] torchrun: bye\n====", "the disk is full"),
        ("Traceback\n[rank1]: ValueError: 7 rollouts\nE1130 failed\ntorch.ChildFailedError: x\n=====", "ValueError: 7 rollouts"),
    ],
)
def test_the_reason_is_found_in_what_several_processes_say(log, said):
    assert stages._last_words(log) == said


def test_a_failed_stage_says_its_own_last_words_not_those_of_an_earlier_start(results, monkeypatch):
    stand_in(monkeypatch, "import sys; sys.exit('prove stopped: first')")
    with pytest.raises(RunError, match="warm stopped: first"):
        stages.job("warm", {"a": 3}, 1)
    stand_in(monkeypatch, "import sys; sys.exit('prove stopped: second')")
    with pytest.raises(RunError, match="warm stopped: second"):
        stages.job("warm", {"a": 3}, 1)
    assert len(Run.open("warm", {"a": 3}).rows("launches")) == 2


def test_numbers_recorded_by_several_at_once_are_all_kept(results):
    threads = [threading.Thread(target=stages.record, args=(f"s{i}", {"i": i})) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stages.numbers() == {f"s{i}": {"i": i} for i in range(12)}


def test_a_whole_model_that_a_stopped_run_has_left_is_finished_work(results, monkeypatch):
    """Killed between the model's rename and `done`: nothing is trained again."""
    run = Run.open("grpo", {"model": "nowhere", "data": "none", "config": {}})
    (run.path / "model").mkdir()
    assert stages.job("grpo", run.parameters, 1).done
    assert Path(run.path / "model").is_dir()
