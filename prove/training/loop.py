"""What both trainers share: arguments, adapters, the log, the room that checkpoints need, and where to go on after a stop."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from transformers import PrinterCallback, TrainerCallback
from transformers.integrations import is_tensorboard_available
from transformers.trainer_utils import get_last_checkpoint

from prove.run import RunError

Log = Callable[[dict[str, Any]], None]

KEPT = 2  # checkpoints: a kill while the last one is written leaves the one before
PATIENCE = 7200  # seconds that processes wait for each other: one may play long episodes while the others are done
LOOKED_AT = 100_000  # weights of a tensor, at most, that say how finely it can be moved


def arguments(out: Path, learning_rate: float, seed: int, save_every: int, decay: bool = False) -> dict[str, Any]:
    """The arguments of `transformers.Trainer` that do not depend on what is trained; with `decay` the rate falls to 0 at the end."""
    gpu = torch.cuda.is_available()
    return {
        "output_dir": str(out / "checkpoints"),
        "learning_rate": learning_rate,
        "lr_scheduler_type": "linear" if decay else "constant",
        "seed": seed,
        "bf16": gpu,
        "use_cpu": not gpu,
        "gradient_checkpointing": gpu,  # on a CPU time is scarcer than memory
        "logging_steps": 1,
        "save_steps": save_every,
        "save_total_limit": KEPT,
        "report_to": reports(),
        "ddp_timeout": PATIENCE,
        "ddp_find_unused_parameters": False,
        "ddp_broadcast_buffers": False,  # they hold no state
        "disable_tqdm": True,
        "dataloader_pin_memory": gpu,
    }


def reports() -> list[str]:
    """Where else the numbers of each step go: TensorBoard's files if it is there, Weights & Biases if it is asked for."""
    tensorboard = is_tensorboard_available() and "TENSORBOARD_LOGGING_DIR" in os.environ
    return ["tensorboard"] * tensorboard + ["wandb"] * ("WANDB_PROJECT" in os.environ)


def local_rows(batch: int, rows: int, what: str) -> int:
    """How many forward passes a step is on each process, `rows` at a time. Raises ValueError for what does not come out even."""
    processes = PartialState().num_processes
    if batch % (rows * processes):
        raise ValueError(f"{batch} {what} a step do not divide into {processes} processes with {rows} at a time; take another number")
    return batch // (rows * processes)


def need_moving(model: Any, learning_rate: float) -> None:
    """Raises `RunError` if steps of the learning rate would leave most weights where they are.

    AdamW moves a weight by about the learning rate; where the distance to the next number of its type is more than twice that,
    the step rounds away. bfloat16 has 8 bits: next to 0.02 the distance is 1.2e-4, a hundred steps of 1e-6.
    """
    stuck = seen = 0
    for p in (p for p in model.parameters() if p.requires_grad and not p.is_meta):
        some = p.detach().flatten()[:: max(1, p.numel() // LOOKED_AT)]
        lost = ((some.float() + learning_rate).to(p.dtype) == some) & (some != 0)
        share = lost.float().mean().item()
        stuck, seen = stuck + share * p.numel(), seen + p.numel()
    if seen and stuck / seen > 0.5:
        kind = next(str(p.dtype).removeprefix("torch.") for p in model.parameters() if p.requires_grad)
        raise RunError(
            f"steps of {learning_rate:g} round away on {stuck / seen:.0%} of the weights, which are {kind}: train float32 weights"
            " (`dtype` float32), an adapter (`--lora 16`), or take a larger learning rate"
        )


def quiet(trainer: Any) -> None:
    """Take the trainer's own printing away: `log` says it."""
    trainer.remove_callback(PrinterCallback)


class Narrator(TrainerCallback):
    """Hands each step's numbers to `log`, as one flat dict; the trainer's closing summary is left out."""

    def __init__(self, log: Log, rename: dict[str, str]) -> None:
        self.log, self.rename = log, rename

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        if logs and state.is_world_process_zero and "train_runtime" not in logs:
            self.log({"step": state.global_step} | {new: logs[old] for old, new in self.rename.items() if old in logs})


def need_room(model: Any, out: Path, steps: int, save_every: int) -> None:
    """Raises `RunError` unless the disk has room for the model and for as many of its checkpoints as are there at once: what is
    trained, and the optimiser's two moments of it."""
    out.mkdir(parents=True, exist_ok=True)
    size = [p.numel() * p.element_size() for p in model.parameters()]
    trained = [p.numel() * p.element_size() for p in model.parameters() if p.requires_grad]
    at_once = min(-(-steps // save_every), KEPT + 1)  # the oldest goes once the newest is there
    there = sum(file.stat().st_size for file in (out / "checkpoints").rglob("*"))
    needed = sum(size) + 3 * sum(trained) * at_once - there
    free = shutil.disk_usage(out).free
    if free < needed:
        raise RunError(
            f"{out} has {free / 1e9:.1f} GB of disk left and training needs {needed / 1e9:.1f} GB for the model and its checkpoints;"
            " free some, or set PROVE_RESULTS to a folder on another disk"
        )


def last_checkpoint(out: Path) -> str | None:
    """The newest whole checkpoint, or None. The trainer's state is what a checkpoint gets last, so without it one is broken,
    and is taken away."""
    folder, state = out / "checkpoints", PartialState()
    if state.is_main_process:
        for broken in [c for c in folder.glob("checkpoint-*") if not (c / "trainer_state.json").is_file()]:
            shutil.rmtree(broken)
    state.wait_for_everyone()
    return get_last_checkpoint(str(folder)) if folder.is_dir() else None


def adapt(model: Any, rank: int) -> Any:
    """The model with a LoRA adapter on every linear layer, or as it is for rank 0. Adapters are float32, whatever the model is."""
    if not rank:
        return model
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM"))
