"""Nothing is lost, doubled or half-written, also when two run at once, or one is stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest

from prove.files import whole
from prove.records import read_conversations
from prove.run import Run, RunError, writing
from prove.synthesis.data.dataset import synthesize
from prove.synthesis.data.plan import Plan


def begun(folder, *words):
    """`prove synthesize` in a group of its own, with some conversations made."""
    command = [sys.executable, "-m", "prove", "synthesize", "--servers", "budget", "--out", "made.jsonl", "-n", "2000", *words]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True)
    part = folder / "made.jsonl.part"
    while process.poll() is None and not (part.exists() and part.read_bytes().count(b"\n") >= 3):
        time.sleep(0.02)
    return process


def test_a_second_writer_is_told_who_the_first_is_and_changes_nothing(tmp_path):
    first = begun(tmp_path)
    try:
        command = [sys.executable, "-m", "prove", "synthesize", "--servers", "email", "--out", "made.jsonl", "-n", "3"]
        second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert second.returncode == 2
        assert second.stderr.startswith(f"prove: another process ({first.pid}: ")
        assert second.stderr.count("\n") == 1
        assert first.poll() is None
        assert all(c.server == "budget" for c in read_lines(tmp_path / "made.jsonl.part"))
    finally:
        first.kill()
        first.communicate()


def read_lines(part):
    """The whole conversations of a file that grows."""
    copy = part.with_name("copy.jsonl")
    copy.write_bytes(part.read_bytes().rpartition(b"\n")[0] + b"\n")
    return read_conversations(copy)


@pytest.mark.parametrize("words", [(), ("--workers", "2")], ids=["alone", "with workers"])
def test_ctrl_c_says_what_is_kept_and_the_rest_is_made_later(words, tmp_path):
    process = begun(tmp_path, *words)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    said = process.communicate()[1]
    kept = len(read_lines(tmp_path / "made.jsonl.part"))
    assert process.returncode == 130
    assert said.strip() == (
        f"prove: stopped; {kept} of 2000 conversations are kept in made.jsonl.part, and the same command goes on from there"
    )
    assert not (tmp_path / ".made.jsonl.lock").exists()


def test_a_second_reproduction_is_told_of_the_first(tmp_path):
    with writing(tmp_path / "reproduce"):
        command = [sys.executable, "-m", "prove.reproduce", "--profile", "smoke"]
        second = subprocess.run(command, env={**os.environ, "PROVE_RESULTS": str(tmp_path)}, capture_output=True, text=True)
    assert second.returncode == 1
    assert second.stderr.startswith(f"prove: another process ({os.getpid()}: ")
    assert second.stderr.count("\n") == 1


def test_ctrl_c_on_a_benchmark_says_where_what_is_done_is_kept(tmp_path):
    tasks = synthesize(Plan(40, servers=("budget",)), tmp_path / "made.jsonl")
    words = ["--benchmark", "heldout", "--option", f"file={tasks}", "--policy", "gold", "--trials", "50"]
    command = [sys.executable, "-m", "prove", "evaluate", *words]
    environment = {**os.environ, "PROVE_RESULTS": str(tmp_path / "results")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and not any(path.stat().st_size for path in (tmp_path / "results").rglob("*.jsonl")):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate()[1]
    assert process.returncode == 130
    assert f"what is done is kept in {tmp_path / 'results' / 'runs'}, and the same command goes on from there" in said
    assert "Traceback" not in said


def test_a_lock_ends_with_its_process_however_that_ends(tmp_path):
    script = f"import time\nfrom pathlib import Path\nfrom prove.run import writing\nwith writing(Path({str(tmp_path / 'x')!r})):"
    holder = subprocess.Popen([sys.executable, "-c", f"{script}\n print(1, flush=True)\n time.sleep(60)"], stdout=subprocess.PIPE)
    holder.stdout.readline()
    said = f"another process \\({holder.pid}: .* is writing .*/x: wait for it, or end it"
    with pytest.raises(RunError, match=said), writing(tmp_path / "x"):
        pass
    holder.kill()
    holder.wait()
    with writing(tmp_path / "x"):
        assert (tmp_path / ".x.lock").exists()
    assert list(tmp_path.iterdir()) == []


def _stopped_halfway(draft):
    draft.write_text("half")
    raise ZeroDivisionError


def test_what_a_kill_left_half_written_does_not_spoil_the_next_line(tmp_path):
    run = Run(tmp_path, {})
    run.append("steps", {"step": 1})
    with (tmp_path / "steps.jsonl").open("ab") as file:
        file.write(b'{"step": 2, "lo')
    assert run.rows("steps") == [{"step": 1}]
    run.mend()
    run.append("steps", {"step": 2})
    assert run.rows("steps") == [{"step": 1}, {"step": 2}]


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    (tmp_path / "a.txt").write_text("before")
    with pytest.raises(ZeroDivisionError), whole(tmp_path / "a.txt") as draft:
        _stopped_halfway(draft)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"
    with whole(tmp_path / "a.txt") as draft:
        draft.write_text("after")
    assert (tmp_path / "a.txt").read_text() == "after"
