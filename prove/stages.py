"""The stages of a run, each a function that goes on where it stopped: data, warm start, GRPO, evaluation.

Every stage has a run folder named by what it depends on, so that asking for the same thing again finds it done. Whatever
needs a model runs in a process of its own (`prove.training.job`): a notebook's kernel holds no weights.
"""

import errno
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from prove.benchmarks.heldout import Score
from prove.profiles import Profile
from prove.progress import Progress
from prove.run import Run, RunError, results, unwritable, write_json
from prove.synthesis.data.dataset import Plan, synthesize

WAIT = 0.5  # seconds between looks at a training process
FULL = 64_000_000  # bytes of disk with which a checkpoint cannot be written


def data(profile: Profile, seed: int = 0) -> Run:
    """The profile's conversations: `train.jsonl` and `heldout.jsonl` in the run's folder."""
    plans = {name: msgspec.structs.replace(plan, seed=seed) for name, plan in (("train", profile.train), ("heldout", profile.heldout))}
    run = Run.open("data", plans)
    for name, plan in plans.items():
        _make(plan, run.path / f"{name}.jsonl")
    run.finish()
    return run


def sample(plan: Plan) -> Path:
    """The file with a plan's conversations, in a run folder of its own."""
    run = Run.open("mix", plan)
    _make(plan, run.path / "conversations.jsonl")
    run.finish()
    return run.path / "conversations.jsonl"


def _make(plan: Plan, out: Path) -> None:
    """A plan's conversations, made unless they are there."""
    try:
        with Progress(f"{plan.split} conversations") as tell:
            synthesize(plan, out, workers=os.cpu_count() or 1, tell=tell)
    except OSError as error:
        raise unwritable(out, error) from None


def train(profile: Profile, model: str, seed: int = 0) -> dict[str, Run]:
    """The warm start (if the profile has one) and GRPO on top: {"warm": run, "grpo": run}, each with a `model` folder."""
    from prove.training.models import MODELS, locate

    locate(model)  # an unknown model is said before anything is computed
    conversations = data(profile, seed)
    runs: dict[str, Run] = {}
    common = {"model": model, "data": conversations.path.name}
    if profile.warm:
        config = msgspec.structs.replace(profile.warm, seed=seed)
        runs["warm"] = job("warm", common | {"config": msgspec.to_builtins(config)}, config.steps)
    rate = profile.grpo.learning_rate or (MODELS[model].learning_rate if model in MODELS else 1e-6)
    settings = msgspec.structs.replace(profile.grpo, seed=seed, learning_rate=rate)
    start = {"start": runs["warm"].path.name} if "warm" in runs else {}
    runs["grpo"] = job("grpo", common | start | {"config": msgspec.to_builtins(settings)}, settings.steps)
    return runs


def evaluate(profile: Profile, model: str, trained: Run | None = None, seed: int = 0) -> Run:
    """The held-out evaluation of a model, or of what a run made of it: `steps.jsonl` and `episodes.jsonl`, greedy."""
    conversations = data(profile, seed)
    parameters = {
        "model": model,
        "of": f"{trained.path.parent.name}/{trained.path.name}" if trained else "base",
        "data": conversations.path.name,
        "reply_tokens": profile.reply_tokens,
        "episode_tokens": profile.episode_tokens,
        "batch": profile.batch,
    }
    return job("evaluate", parameters, profile.heldout.n)


def compare(profile: Profile, model: str, seed: int = 0, base_only: bool = False) -> dict[str, list[Score]]:
    """The held-out scores of the model as it is and of everything trained from it, the same tasks in the same order."""
    trained: dict[str, Run | None] = {"base": None} | ({} if base_only else train(profile, model, seed))
    return {name: scores(evaluate(profile, model, run, seed)) for name, run in trained.items()}


def scores(run: Run) -> list[Score]:
    """The scores of a finished evaluation, by task."""
    return sorted((msgspec.convert(row, Score) for row in run.rows("steps")), key=lambda s: s.id)


def transcript(profile: Profile, model: str, conversation: str, seed: int = 0) -> list[dict[str, Any]]:
    """The messages of one held-out episode, as the last trained model played it. Raises LookupError for an unknown one."""
    run = evaluate(profile, model, list(train(profile, model, seed).values())[-1], seed)
    for row in run.rows("episodes"):
        if row["id"] == conversation:
            return list(row["messages"])
    raise LookupError(f"{run.path} has no episode {conversation!r}")


def job(stage: str, parameters: dict[str, Any], total: int) -> Run:
    """A stage in a process of its own, followed to its end. Raises `RunError` with its last words if it fails."""
    run = Run.open(stage, parameters)
    if run.done:
        return run
    log = run.path / "log.txt"
    with log.open("ab") as output:
        process = subprocess.Popen([sys.executable, "-m", "prove.training.job", str(run.path)], stdout=output, stderr=output)
    try:
        with Progress(stage) as tell:
            while process.poll() is None:
                rows = run.rows("steps")
                tell(len(rows), total, _note(rows))
                time.sleep(WAIT)
            tell(len(run.rows("steps")), total)
    finally:
        if process.poll() is None:  # the notebook was interrupted: the run goes on from here next time
            process.terminate()
            process.wait()
    if process.returncode:
        if shutil.disk_usage(log).free < FULL:  # whatever its last words are, they come from that
            raise unwritable(run.path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        last = log.read_text(errors="replace").strip().splitlines()[-1:]
        raise RunError(f"{stage} stopped: {' '.join(last) or f'exit code {process.returncode}'} (all of it in {log})")
    return run


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
    everything = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
    everything[section] = msgspec.to_builtins(numbers)
    try:
        write_json(path, everything)
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def numbers() -> dict[str, Any]:
    """What `record` has collected. Raises `RunError` if nothing has been yet."""
    path = results() / "numbers.json"
    if not path.exists():
        raise RunError(f"{path} does not exist yet: run notebooks 01 to 05 first, or `make reproduce`")
    return dict(msgspec.json.decode(path.read_bytes()))
