"""The stages of a run, each a function that goes on where it stopped: data, warm start, GRPO, evaluation.

Every stage has a run folder named by what it depends on, so that asking for the same thing again finds it done. Whatever
needs a model runs in a process of its own (`prove.training.job`): a notebook's kernel holds no weights.
"""

import errno
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from prove.benchmarks.heldout import Score
from prove.files import locked, whole
from prove.profiles import Profile
from prove.progress import Progress
from prove.records import read_conversations
from prove.run import Run, RunError, circumstances, results, unwritable, write_json
from prove.synthesis.data.dataset import synthesize
from prove.synthesis.data.plan import Plan
from prove.training import launch
from prove.training.launch import LAST_WORDS, Layout

WAIT = 0.5  # seconds between looks at a training process
FULL = 64_000_000  # bytes of disk with which a checkpoint cannot be written
_RAISED = re.compile(r"(?:\[rank\d+\]: ?)?((?:\w+\.)*\w*(?:Error|Exception): .*)")


def data(profile: Profile, seed: int = 0, source: str = "") -> Run:
    """The profile's conversations: `train.jsonl` and `heldout.jsonl` in the run's folder; those for training from the file `source`,
    if one is named."""
    plans = {name: msgspec.structs.replace(plan, seed=seed) for name, plan in (("train", profile.train), ("heldout", profile.heldout))}
    parameters: dict[str, Any] = {name: msgspec.to_builtins(plan) for name, plan in plans.items()}
    if source:
        parameters["train"] = {"digest": hashlib.blake2b(Path(source).read_bytes(), digest_size=8).hexdigest()}
    run = Run.open("data", parameters)
    with _writing(run.path / ".lock"):
        for name, plan in plans.items():
            if source and name == "train":
                _copy(Path(source), run.path / "train.jsonl")
            else:
                _make(plan, run.path / f"{name}.jsonl")
        run.finish()
    return run


def sample(plan: Plan) -> Path:
    """The file with a plan's conversations, in a run folder of its own."""
    run = Run.open("mix", plan)
    with _writing(run.path / ".lock"):
        _make(plan, run.path / "conversations.jsonl")
        run.finish()
    return run.path / "conversations.jsonl"


@contextmanager
def _writing(lock: Path) -> Iterator[None]:
    """Nobody else writes meanwhile; whoever comes second waits, and finds the work done."""
    try:
        with locked(lock):
            yield
    except OSError as error:
        raise unwritable(lock.parent, error) from None


def _make(plan: Plan, out: Path) -> None:
    """A plan's conversations, made unless they are there."""
    with Progress(f"{plan.split} conversations") as tell:
        synthesize(plan, out, workers=os.cpu_count() or 1, tell=tell)


def _copy(source: Path, out: Path) -> None:
    """A file of conversations, checked and taken over."""
    if not out.exists():
        for _ in read_conversations(source):
            pass
        with whole(out) as draft:
            shutil.copyfile(source, draft)


def train(profile: Profile, model: str, seed: int = 0, layout: Layout | None = None, source: str = "") -> dict[str, Run]:
    """The warm start (if the profile has one) and GRPO on top: {"warm": run, "grpo": run}, or supervised training alone:
    {"sft": run}. Each has a `model` folder. `source` is a file of conversations to train on instead of the profile's own.

    Raises `RunError` before anything is fetched or made if the model does not fit into the machine, and `ModelError` for an
    unknown one.
    """
    from prove.training import plan
    from prove.training.models import locate

    layout = layout or launch.choose(None, full=not profile.lora_rank)
    layout = plan.fitted(profile, model, layout)
    locate(model)  # an unknown model is said before anything is computed
    made = data(profile, seed, source)
    common = {"model": model, "data": made.path.name}
    runs: dict[str, Run] = {}
    start: dict[str, str] = {}
    if profile.sft:
        config = msgspec.structs.replace(profile.sft, seed=seed)
        name = "warm" if profile.grpo else "sft"
        runs[name] = job(name, common | {"config": msgspec.to_builtins(config)}, config.steps, layout)
        start = {"start": runs[name].path.name}
    if profile.grpo:
        settings = msgspec.structs.replace(profile.grpo, seed=seed, vllm=profile.grpo.vllm and layout.gpu)
        runs["grpo"] = job("grpo", common | start | {"config": msgspec.to_builtins(settings)}, settings.steps, layout)
    return runs


class Engine(msgspec.Struct, frozen=True):
    """Who samples in an evaluation: `transformers` or `vllm` here, spread over `tensor_parallel` GPUs, or the `model` at an
    `endpoint`, asked for `concurrency` episodes at a time."""

    name: str = "transformers"
    tensor_parallel: int = 1
    endpoint: str = ""
    model: str = ""
    concurrency: int = 64


def evaluate(
    profile: Profile, model: str, trained: Run | None = None, seed: int = 0, engine: Engine | None = None, source: str = ""
) -> Run:
    """The held-out evaluation of a model, or of what a run made of it: `steps.jsonl` and `episodes.jsonl`, greedy."""
    engine = engine or Engine()
    parameters = {
        "model": engine.model if engine.endpoint else model,
        "of": f"{trained.path.parent.name}/{trained.path.name}" if trained else "base",
        "data": data(profile, seed, source).path.name,
        "prompt_tokens": profile.prompt_tokens,
        "reply_tokens": profile.reply_tokens,
        "episode_tokens": profile.episode_tokens,
        "batch": engine.concurrency if engine.endpoint else profile.batch,
        **({} if engine == Engine() else {"engine": engine.name, "tensor_parallel": engine.tensor_parallel, "endpoint": engine.endpoint}),
    }
    return job("evaluate", parameters, profile.heldout.n)


def compare(
    profile: Profile,
    model: str,
    seed: int = 0,
    base_only: bool = False,
    layout: Layout | None = None,
    engine: Engine | None = None,
    source: str = "",
) -> dict[str, list[Score]]:
    """The held-out scores of the model as it is and of everything trained from it, the same tasks in the same order."""
    trained: dict[str, Run | None] = {"base": None} | ({} if base_only else train(profile, model, seed, layout, source))
    return {name: scores(evaluate(profile, model, run, seed, engine, source)) for name, run in trained.items()}


def scores(run: Run) -> list[Score]:
    """The scores of a finished evaluation, by task."""
    return sorted((msgspec.convert(row, Score) for row in run.rows("steps")), key=lambda s: s.id)


def transcript(
    profile: Profile, model: str, conversation: str, seed: int = 0, engine: Engine | None = None, source: str = ""
) -> list[dict[str, Any]]:
    """The messages of one held-out episode, as the last trained model played it. Raises LookupError for an unknown one."""
    run = evaluate(profile, model, list(train(profile, model, seed, source=source).values())[-1], seed, engine, source)
    for row in run.rows("episodes"):
        if row["id"] == conversation:
            return list(row["messages"])
    raise LookupError(f"{run.path} has no episode {conversation!r}")


def job(stage: str, parameters: dict[str, Any], total: int, layout: Layout | None = None) -> Run:
    """A stage in processes of its own, followed to its end; one that another notebook or command has started is joined.

    Raises `RunError` with its last words if it fails.
    """
    run = Run.open(stage, parameters)
    layout = layout or launch.choose(None, full=False, most=1)
    with Progress(stage) as tell:
        while not run.done:
            try:
                with locked(run.path / f".lock-{layout.node}", wait=False) as lock:
                    _start(run, stage, layout, lock, lambda: _tell(run, total, tell))
            except BlockingIOError:  # somebody else's, whom we watch: if it is stopped, we go on in its place
                _tell(run, total, tell)
                time.sleep(WAIT)
        _tell(run, total, tell)
    return run


def _tell(run: Run, total: int, tell: Progress) -> None:
    rows = run.rows("steps")
    tell(len({row.get("step", row.get("id")) for row in rows}), total, _note(rows))


def _start(run: Run, stage: str, layout: Layout, lock: int, tell: Callable[[], None]) -> None:
    """Start a run's processes and wait for them; they hold the lock as long as they live."""
    run.append("launches", {"layout": msgspec.to_builtins(layout), "hardware": circumstances()["hardware"]})
    log = run.path / (f"log-{layout.node}.txt" if layout.node else "log.txt")
    before = log.stat().st_size if log.exists() else 0
    with log.open("ab") as output:
        process = subprocess.Popen(
            launch.command(run.path, layout), stdout=output, stderr=output, env=launch.environment(layout), pass_fds=[lock]
        )
    try:
        while process.poll() is None:
            tell()
            time.sleep(WAIT)
    finally:
        if process.poll() is None:  # the notebook was interrupted: the run goes on from here next time
            process.terminate()
            process.wait()
    if process.returncode:
        if shutil.disk_usage(log).free < FULL:  # whatever its last words are, they come from that
            raise unwritable(run.path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        said = _last_words(log.read_bytes()[before:].decode(errors="replace"))
        raise RunError(f"{stage} stopped: {said or f'exit code {process.returncode}'} (all of it in {log})")


def _last_words(log: str) -> str:
    """The reason in a log: what a process said of it, or the first error that one of them raised, or the last line."""
    lines = log.strip().splitlines()
    said = [line.split(LAST_WORDS, 1)[1] for line in lines if LAST_WORDS in line]
    raised = [m[1] for line in lines if (m := _RAISED.match(line)) and "ChildFailedError" not in line]
    return next(iter(said or raised or lines[-1:]), "")


def _note(rows: list[dict[str, Any]]) -> str:
    """The latest reward, goal or loss, for the live line."""
    for name in ("reward", "goal", "loss"):
        recent = [row[name] for row in rows[-20:] if isinstance(row.get(name), int | float)]
        if recent:
            return f"{name} {sum(recent) / len(recent):.3f}"
    return ""


def record(section: str, numbers: Any) -> Path:
    """Put a section into `results/numbers.json`, from which every table and the README's figures are made."""
    path = results() / "numbers.json"
    with _writing(results() / "runs" / ".numbers"):
        everything = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
        everything[section] = msgspec.to_builtins(numbers)
        write_json(path, everything)
    return path


def numbers() -> dict[str, Any]:
    """What `record` has collected. Raises `RunError` if nothing has been yet."""
    path = results() / "numbers.json"
    if not path.exists():
        raise RunError(f"{path} does not exist yet: run notebooks 01 to 05 first, or `make reproduce`")
    return dict(msgspec.json.decode(path.read_bytes()))
