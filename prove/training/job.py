"""What runs in a process of its own, or in several: `python -m prove.training.job RUN_FOLDER`. `prove.stages` starts it and reads
its lines.

Of several processes only the first writes: rows, checkpoints, the model, `done`.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec
import torch
from accelerate import PartialState

from prove.benchmarks.heldout import Score, evaluate
from prove.episode import Episode
from prove.files import locked
from prove.policies import Endpoint
from prove.records import read_conversations
from prove.run import Run, RunError
from prove.training import engines, grpo, launch, sft, weights
from prove.training.models import ModelError, load, load_tokenizer, locate
from prove.training.sampler import LocalModel, stop_tokens


def main(folder: Path) -> None:
    """Do what the folder's `run.json` says, and mark it done. A whole model that a stopped run has left is finished work."""
    launch.end_with_parent()
    torch.set_float32_matmul_precision("medium")  # factors in bfloat16, sums in float32, where the processor has it: twice as fast
    layout = launch.given()
    state = PartialState(cpu=not layout.gpu)
    described = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run, stage = Run(folder, described["parameters"]), described["stage"]
    os.environ["TENSORBOARD_LOGGING_DIR"] = str(folder / "tensorboard")
    if layout.wandb:
        os.environ.setdefault("WANDB_PROJECT", "prove")
    # a process that outlived its launcher for a moment still holds its lock
    with locked(folder / f".process-{state.process_index}"):
        if state.is_main_process:
            run.mend()
        if not run.done and not (folder / "model").is_dir():
            {"warm": supervise, "sft": supervise, "grpo": reinforce, "evaluate": measure}[stage](run)
        state.wait_for_everyone()
        if state.is_main_process:
            run.finish()
            for leftover in ("checkpoints", "start"):  # they are for going on after a stop, and take gigabytes
                shutil.rmtree(folder / leftover, ignore_errors=True)
        state.wait_for_everyone()


def supervise(run: Run) -> None:
    """Supervised training on the oracle's play of the training conversations: a warm start, or the paper's baseline."""
    config = msgspec.convert(run.parameters["config"], sft.SFT)
    model, tokenizer = load(run.parameters["model"], trained_dtype(config.lora_rank), device="cpu")
    save(sft.train(model, tokenizer, conversations(run, "train"), config, run.path, logger(run)), tokenizer, run)


def reinforce(run: Run) -> None:
    """GRPO, from the model or from what a warm start made of it."""
    start = run.parameters.get("start")
    config = msgspec.convert(run.parameters["config"], grpo.GRPO)
    config = msgspec.structs.replace(config, rows=launch.given().rows or config.rows)
    source = beside(run, "warm", start, "model") if start else run.parameters["model"]
    model, tokenizer = load(source, trained_dtype(config.lora_rank), device="cpu")
    save(grpo.train(model, tokenizer, conversations(run, "train"), config, run.path, logger(run)), tokenizer, run)


def trained_dtype(lora_rank: int) -> str:
    """float32 for weights that are trained, of which steps must not round away; bfloat16 for those under an adapter, on a GPU."""
    return "bfloat16" if lora_rank and torch.cuda.is_available() else "float32"


def save(trained: Any, tokenizer: Any, run: Run) -> None:
    weights.save(trained, tokenizer, run.path / "model", PartialState().is_main_process)


def measure(run: Run) -> None:
    """The held-out conversations, greedily; those that an earlier, interrupted run has played are left out."""
    played = {row["id"] for row in run.rows("steps")}

    def keep(episode: Episode, score: Score) -> None:
        run.append("episodes", {"id": score.id, "messages": episode.messages})
        run.append("steps", msgspec.to_builtins(score))

    left = [c for c in conversations(run, "heldout") if c.id not in played]
    if left:
        policy, batch = answering(run)
        evaluate(policy, left, batch=batch, keep=keep)


def answering(run: Run) -> tuple[Any, int]:
    """(who answers, episodes side by side) of an evaluation: a model here, by `transformers` or vLLM, or an endpoint's."""
    given = run.parameters
    if url := given.get("endpoint"):
        return Endpoint(given["model"], url, temperature=0.0, max_tokens=given["reply_tokens"]), given["batch"]
    source = given["model"] if given["of"] == "base" else beside(run, given["of"], "model")
    longest = given["prompt_tokens"] + given["episode_tokens"]
    settings = {"temperature": 0.0, "reply_tokens": given["reply_tokens"], "episode_tokens": given["episode_tokens"]}
    if given.get("engine") == "vllm":
        folder = locate(source)
        tokenizer = load_tokenizer(folder)
        engine = engines.alone(folder, given["tensor_parallel"], longest, stop_tokens(None, tokenizer, folder))
        policy = LocalModel(None, tokenizer, engine=engine, **settings)
    else:
        model, tokenizer = load(source)
        policy = LocalModel(model.eval(), tokenizer, **settings)
    return policy, min(given["batch"], policy.engine.room(longest) or given["batch"])


def conversations(run: Run, split: str) -> Any:
    return read_conversations(beside(run, "data", run.parameters["data"], f"{split}.jsonl"))


def beside(run: Run, *parts: str) -> Path:
    """A path in another run's folder: all of them stand in one."""
    return run.path.parent.parent.joinpath(*parts)


def logger(run: Run) -> Any:
    """Appends each step's numbers; a step that a resumed run does again replaces nothing, the reader takes the last."""
    return lambda numbers: run.append("steps", numbers)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except (ModelError, RunError, ValueError) as error:
        sys.exit(f"{launch.LAST_WORDS}{error}")
