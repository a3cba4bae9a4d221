"""What runs in a process of its own: `python -m prove.training.job RUN_FOLDER`. `prove.stages` starts it and reads its lines."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec
import torch

from prove.benchmarks.heldout import Score, evaluate
from prove.episode import Episode
from prove.records import read_conversations
from prove.run import Run, RunError
from prove.training import grpo, sft
from prove.training.models import ModelError, load
from prove.training.sampler import LocalModel


def main(folder: Path) -> None:
    """Do what the folder's `run.json` says, and mark it done."""
    torch.set_float32_matmul_precision("medium")  # factors in bfloat16, sums in float32, where the processor has it: twice as fast
    described = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run, stage = Run(folder, described["parameters"]), described["stage"]
    {"warm": warm, "grpo": reinforce, "evaluate": measure}[stage](run)
    run.finish()
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)  # they are for going on after a stop, and take gigabytes


def warm(run: Run) -> None:
    """The supervised start, on the oracle's play of the training conversations."""
    model, tokenizer = load(run.parameters["model"])
    config = msgspec.convert(run.parameters["config"], sft.SFT)
    save(sft.train(model, tokenizer, conversations(run, "train"), config, run.path, logger(run)), tokenizer, run)


def reinforce(run: Run) -> None:
    """GRPO, from the model or from what a warm start made of it."""
    start = run.parameters.get("start")
    model, tokenizer = load(beside(run, "warm", start, "model") if start else run.parameters["model"])
    config = msgspec.convert(run.parameters["config"], grpo.GRPO)
    save(grpo.train(model, tokenizer, conversations(run, "train"), config, run.path, logger(run)), tokenizer, run)


def measure(run: Run) -> None:
    """The held-out conversations, greedily; those that an earlier, interrupted run has played are left out."""
    given = run.parameters
    model, tokenizer = load(given["model"] if given["of"] == "base" else beside(run, given["of"], "model"))
    policy = LocalModel(model, tokenizer, temperature=0.0, reply_tokens=given["reply_tokens"], episode_tokens=given["episode_tokens"])
    played = {row["id"] for row in run.rows("steps")}

    def keep(episode: Episode, score: Score) -> None:
        run.append("episodes", {"id": score.id, "messages": episode.messages})
        run.append("steps", msgspec.to_builtins(score))

    left = [c for c in conversations(run, "heldout") if c.id not in played]
    evaluate(policy, left, batch=given["batch"], keep=keep)


def conversations(run: Run, split: str) -> Any:
    return read_conversations(beside(run, "data", run.parameters["data"], f"{split}.jsonl"))


def beside(run: Run, *parts: str) -> Path:
    """A path in another run's folder: all of them stand in one."""
    return run.path.parent.parent.joinpath(*parts)


def logger(run: Run) -> Any:
    """Appends each step's numbers; a step that a resumed run does again replaces nothing, the reader takes the last."""
    return lambda numbers: run.append("steps", numbers)


def save(model: Any, tokenizer: Any, run: Run) -> None:
    """Save a model whole: the folder appears complete, or not at all."""
    draft = run.path / "model.part"
    model.save_pretrained(draft)
    tokenizer.save_pretrained(draft)
    draft.replace(run.path / "model")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except (ModelError, RunError, ValueError) as error:
        sys.exit(f"{error}")
