"""What both trainers share: arguments, adapters, the log, the room that checkpoints need, and where to go on after a stop."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, TrainerCallback
from transformers.trainer_utils import get_last_checkpoint

from prove.run import RunError

Log = Callable[[dict[str, Any]], None]

KEPT = 2  # checkpoints: a kill while the last one is written leaves the one before


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
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": gpu,
    }


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
    """The newest whole checkpoint, or None. The trainer's state is what a checkpoint gets last, so without it one is broken."""
    folder = out / "checkpoints"
    for broken in [c for c in folder.glob("checkpoint-*") if not (c / "trainer_state.json").is_file()]:
        broken.rename(broken.with_name(f"broken-{broken.name}"))
    return get_last_checkpoint(str(folder)) if folder.is_dir() else None


def adapt(model: Any, rank: int) -> Any:
    """The model with a LoRA adapter on every linear layer, or as it is for rank 0."""
    if not rank:
        return model
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM"))


def merged(model: Any) -> Any:
    """A plain model again: an adapter's weights are added to those it adapts."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
