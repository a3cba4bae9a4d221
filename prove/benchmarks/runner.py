"""Plays a benchmark's tasks with any policy, into a run folder: one line a task, locked, resumable, several at a time.

Tasks are played in processes of their own (`prove.benchmarks.worker`); the policy answers here. A task that is done is never
played again, one whose policy could not be asked is not done, and a harness that dies or hangs takes nothing with it.
"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

import prove
from prove.benchmarks.contract import Policy
from prove.files import locked
from prove.run import Run, RunError, cache, results, unwritable

PATIENCE = 3  # tasks in a row whose policy cannot be asked, and the run stops
SILENCE = 180.0  # seconds without a sign of life from a harness, and its task has failed


class Spec(msgspec.Struct, frozen=True):
    """What is played and by whom. Everything here is part of the run's name: other values, another run."""

    benchmark: str
    policy: str  # a reference policy's name, or how a model is known
    options: dict[str, Any] = {}  # the adapter's
    user: str = ""  # the model that plays the user, where there is one
    sampling: dict[str, Any] = {}
    reference: bool = False  # whether the policy is one of `prove.benchmarks.reference`


class Harness:
    """One worker process. `python` is the interpreter that has the benchmark, ours by default."""

    def __init__(self, spec: Spec, python: str = "", silence: float = SILENCE) -> None:
        self.spec, self.python, self.silence = spec, python or sys.executable, silence
        self.log = results() / "runs" / "benchmark" / "log.txt"  # what all harnesses print
        self._start()

    def _start(self) -> None:
        spec = self.spec
        words = [self.python, "-m", "prove.benchmarks.worker", spec.benchmark, json.dumps(spec.options), spec.policy * spec.reference]
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            log = self.log.open("ab")
        except OSError as error:
            raise unwritable(self.log, error) from None
        with log:
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8", env=self._environment()
            )
        self.hello = self._receive()
        if self.hello is None:
            raise RunError(f"the harness of {spec.benchmark} does not start: see {self.log}")
        if "missing" in self.hello:
            raise RunError(self.hello["missing"])

    def _environment(self) -> dict[str, str]:
        """Our package on the path of whatever Python it is: an interpreter of somebody else's sees nothing of ours but that."""
        home = Path(prove.__file__).resolve().parent
        place = home.parent
        if self.python != sys.executable:
            place = cache() / "benchmarks" / hashlib.blake2b(bytes(home), digest_size=4).hexdigest()  # one a checkout
            place.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                (place / "prove").symlink_to(home)
        known = os.environ.get("PYTHONPATH") if self.python == sys.executable else None
        return {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), *([known] if known else [])]), "PYTHONHASHSEED": "0"}

    def tasks(self, subset: str) -> list[str]:
        """The ids of a subset's tasks. Raises LookupError for an unknown subset."""
        answer = self._exchange({"subset": subset})
        if answer is None:
            raise RunError(f"the harness of {self.spec.benchmark} died: see {self.log}")
        if "unknown" in answer:
            raise LookupError(answer["unknown"])
        return list(answer["tasks"])

    def play(self, task: str, trial: int, roles: dict[str, Policy | None]) -> dict[str, Any]:
        """The row of a task's outcome. `roles` answer for the agent and for the user."""
        said = self._exchange({"task": task, "trial": trial})
        while said and "ask" in said:
            said = self._exchange(_answer(roles[said["ask"]], said))
        if said is None:
            code = self.close()
            self._start()
            why = f"the harness died or was silent for {self.silence:.0f} s (exit code {code})"
            return {"task": task, "trial": trial, "score": 0.0, "error": why}
        return said

    def _exchange(self, value: Any) -> Any:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(value) + "\n")
            self.process.stdin.flush()
        except OSError:
            return None
        return self._receive()

    def _receive(self) -> Any:
        """The next line, None if the process dies or is silent for too long: it is killed then."""
        assert self.process.stdout
        watch = threading.Timer(self.silence, self.process.kill)
        watch.start()
        try:
            line = self.process.stdout.readline()
        finally:
            watch.cancel()
        return json.loads(line) if line.endswith("\n") else None

    def close(self) -> int:
        self.process.kill()
        self.process.communicate()
        return self.process.returncode


def _answer(policy: Policy | None, said: dict[str, Any]) -> dict[str, Any]:
    if policy is None:
        return {"failed": f"there is no model for the {said['ask']}"}
    try:
        return {"message": policy(said["messages"], said["tools"])}
    except RunError as error:
        return {"failed": str(error)}


def play(
    spec: Spec,
    agent: Policy | None = None,
    user: Policy | None = None,
    subset: str = "",
    limit: int = 0,
    trials: int = 1,
    workers: int = 1,
    python: str = "",
    silence: float = SILENCE,
    tell: Callable[[int, int, str], None] = lambda done, total, note: None,
) -> tuple[Run, list[dict[str, Any]], int]:
    """Play what has not been played yet: (the run, the rows asked for that are done, how many were asked for).

    `limit` takes so many of the subset's tasks by chance, always the same ones, and a larger sample holds the smaller. Raises
    LookupError for an unknown subset, `RunError` where the benchmark is missing, where another process plays the same run, and
    where the policy cannot be asked any more.
    """
    first = Harness(spec, python, silence)
    with ExitStack() as stack:
        stack.callback(lambda: first.close())
        facts = {"version": first.hello["version"], "about": first.hello["about"]}
        run = Run.open("benchmark", msgspec.to_builtins(spec) | facts)
        stack.enter_context(_locked(run))
        tasks = first.tasks(subset)
        wanted = [(task, trial) for trial in range(trials) for task in _sample(tasks, limit)]
        done = {(row["task"], row["trial"]): row["score"] for row in run.rows("tasks")}
        book = _Book(run, [one for one in wanted if one not in done], [done[one] for one in wanted if one in done], tell)

        def work(number: int) -> None:
            harness = Harness(spec, python, silence) if number else first
            try:
                for task, trial in book:
                    book.write(harness.play(task, trial, {"agent": agent, "user": user}))
            finally:
                harness.close()

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(work, range(min(workers, len(book.left)))))
        if book.failed >= PATIENCE:
            raise RunError(f"{spec.benchmark} cannot go on: {book.problem}")
        rows = {(row["task"], row["trial"]): row for row in run.rows("tasks")}
        return run, [rows[one] for one in wanted if one in rows], len(wanted)


def _sample(tasks: list[str], limit: int) -> list[str]:
    """So many tasks, 0 for all, in the benchmark's order."""
    chosen = sorted(tasks, key=lambda task: hashlib.blake2b(task.encode()).digest())[: limit or None]
    return sorted(chosen, key=tasks.index)


class _Book:
    """What is left to play, handed out to threads, and what they have played, written down."""

    def __init__(self, run: Run, left: list[tuple[str, int]], scores: list[float], tell: Callable[[int, int, str], None]) -> None:
        self.run, self.left, self.scores, self.tell = run, left[::-1], scores, tell
        self.failed, self.problem, self.total = 0, "", len(left) + len(scores)
        self.lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[str, int]]:
        while self.left and self.failed < PATIENCE:
            with self.lock:
                one = self.left.pop() if self.left else None
            if one:
                yield one

    def write(self, row: dict[str, Any]) -> None:
        with self.lock:
            if "failed" in row:
                self.failed, self.problem = self.failed + 1, row["failed"]
                self.run.append("failures", row)
                return
            self.failed = 0
            self.run.append("records", {"task": row["task"], "trial": row["trial"], "record": row.pop("record", None)})
            self.run.append("tasks", row)
            self.scores.append(row["score"])
            self.tell(len(self.scores), self.total, f"score {sum(self.scores) / len(self.scores):.3f}")


@contextmanager
def _locked(run: Run) -> Iterator[None]:
    """The run for us alone; what a kill left half-written is cut off. Raises `RunError` where another process has it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(run.path / "lock", wait=False))
        except BlockingIOError:
            raise RunError(f"another process plays {run.path}: wait for it, or end it") from None
        run.mend()
        yield
