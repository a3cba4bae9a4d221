"""What both trainers share: arguments, adapters, the log, and where to go on after a stop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import PrinterCallback, TrainerCallback
from transformers.trainer_utils import get_last_checkpoint

Log = Callable[[dict[str, Any]], None]


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
        "save_total_limit": 2,  # a kill while the last one is written leaves the one before
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
