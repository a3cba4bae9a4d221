"""Supervised fine-tuning on what the oracle says: a short warm start, or the paper's baseline of three epochs.

The tokens are those that the sampler would have read and sampled, so that both see the same format; loss falls on the
assistant's tokens only. Rows are read one at a time: nothing is padded, and only scored positions reach the vocabulary.
"""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import torch
from torch import Tensor
from torch.utils.data import SequentialSampler
from transformers import Trainer, TrainingArguments

from prove.episode import play
from prove.policies import Oracle
from prove.records import Conversation
from prove.training.loop import Log, Narrator, adapt, arguments, last_checkpoint, local_rows, need_moving, need_room, quiet
from prove.training.sampler import Teacher


class SFT(msgspec.Struct, frozen=True):
    """`steps` of `batch` conversations; the paper's baseline has 3 epochs, `steps_of(n, 3)`."""

    steps: int
    batch: int = 8
    learning_rate: float = 2e-5
    lora_rank: int = 0  # 0 trains all weights
    row_tokens: int = 4096  # longer conversations are left out
    save_every: int = 100
    seed: int = 0

    def steps_of(self, conversations: int, epochs: int) -> int:
        """How many steps that many epochs are."""
        return -(-conversations * epochs // self.batch)


def train(
    model: Any, tokenizer: Any, conversations: Sequence[Conversation], config: SFT, out: Path, log: Log = lambda numbers: None
) -> Any:
    """Train on the oracle's play; returns what was trained, adapters and all (`weights.save` makes a plain model of it). Goes on
    from the last checkpoint under `out`.

    `log` gets {"step", "loss", "grad_norm", "learning_rate"} after each step, on the first process. Raises ValueError if no
    conversation fits `row_tokens` or the batch does not divide into the processes, and `RunError` if the disk has no room for
    the checkpoints or if steps of the learning rate would round away.
    """
    data = rows(tokenizer, conversations, config.row_tokens)
    if not data:
        raise ValueError(f"no conversation fits into {config.row_tokens} tokens; the shortest prompt alone may be longer")
    settings = TrainingArguments(
        **arguments(out, config.learning_rate, config.seed, config.save_every),
        max_steps=config.steps,
        per_device_train_batch_size=1,
        gradient_accumulation_steps=local_rows(config.batch, 1, "conversations"),
        remove_unused_columns=False,
    )
    torch.manual_seed(config.seed)  # an adapter begins with chance
    model = adapt(model, config.lora_rank)
    need_moving(model, config.learning_rate)
    need_room(model, out, config.steps, config.save_every)
    trainer = SampledTokens(
        model,
        settings,
        data_collator=lambda batch: {key: torch.tensor([value]) for key, value in batch[0].items()},
        train_dataset=in_order(data, config),
        callbacks=[Narrator(log, {name: name for name in ("loss", "grad_norm", "learning_rate")})],
    )
    quiet(trainer)
    trainer.train(resume_from_checkpoint=last_checkpoint(out))
    return trainer.accelerator.unwrap_model(trainer.model)


def in_order(data: list[Any], config: SFT) -> list[Any]:
    """The rows of all steps, epoch after epoch, each shuffled by the seed and its number: the same for any number of processes."""
    wanted = config.steps * config.batch
    epochs = (Random(f"{config.seed} {epoch}").sample(data, len(data)) for epoch in range(-(-wanted // len(data))))
    return [row for epoch in epochs for row in epoch][:wanted]


def rows(tokenizer: Any, conversations: Sequence[Conversation], row_tokens: int) -> list[dict[str, list[int]]]:
    """One row a conversation: `input_ids`, and `labels` that are -100 wherever the assistant does not speak."""
    teacher = Teacher(Oracle(), tokenizer, episode_tokens=10 * row_tokens)
    tracks = [teacher.track(episode) for episode in play(teacher, conversations)]
    return [
        {
            "input_ids": t.tokens,
            "labels": [-100] * len(t.prompt) + [i if s else -100 for i, s in zip(t.completion, t.sampled, strict=True)],
        }
        for t in tracks
        if len(t.tokens) <= row_tokens
    ]


class SampledTokens(Trainer):
    """The mean of -log p over the tokens that carry a label, over all rows of a step."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return SequentialSampler(self.train_dataset if train_dataset is None else train_dataset)

    def compute_loss(self, model: Any, inputs: dict[str, Tensor], return_outputs: bool = False, num_items_in_batch: Any = None) -> Any:
        labels_T = inputs["labels"][0]
        scored_S = (labels_T != -100).nonzero()[:, 0]
        logits_S_V = model(input_ids=inputs["input_ids"], logits_to_keep=scored_S - 1, use_cache=False).logits[0]
        loss = torch.nn.functional.cross_entropy(logits_S_V.float(), labels_T[scored_S], reduction="sum")
        # the processes' gradients are averaged, the tokens counted over all of them
        loss = loss / len(scored_S) if num_items_in_batch is None else loss * self.accelerator.num_processes / num_items_in_batch
        return (loss, {}) if return_outputs else loss
