"""What training takes, before anything is fetched: memory by part, where it would die first, time, disk.

Parameters are counted on the real class, without its weights. The rest is arithmetic on stated assumptions, and has not been
measured on a GPU; `benchmarks/gpu.sh` compares it with one.
"""

import os
from functools import cache
from typing import Any

import msgspec

from prove.profiles import Profile
from prove.run import RunError
from prove.training.decoding import cache_bytes
from prove.training.launch import Layout
from prove.training.loop import KEPT
from prove.training.models import architecture

GB = 1e9
SPARE = 2.5  # GB of a card for the CUDA context, NCCL's buffers and fragments
#: Means over 60 conversations of the paper's mix by the Qwen3 tokenizer: tokens of a prompt, of what follows it, and sampled
#: of that.
PROMPT, FOLLOWS, SAMPLED = 3037, 754, 330
#: Of a card, by its memory in GB: FLOP/s in bfloat16 (dense) and bytes/s of its memory; H100, H200.
CARDS = {80: (989e12, 3.35e12), 141: (989e12, 4.8e12)}
USED = 0.35  # of a card's FLOP/s that training and prefill reach, its memory's bandwidth that decoding reaches twice that


STRAGGLERS = 3  # replies are waited for in step: the longest of them against the mean
NOTE = (
    "GB for each GPU, with the longest rows that are allowed; H100 and H200 cards. Arithmetic on means of 60 conversations by Qwen3's"
    f" tokenizer (a prompt of {PROMPT} tokens, {FOLLOWS} after it, {SAMPLED} of them sampled), at {USED:.0%} of a card's FLOP/s: not"
    " measured."
)


class Needs(msgspec.Struct, frozen=True):
    """What one process needs of its GPU, in GB by part, and what a run takes."""

    parameters: int
    weights: float  # of the trainer, with the copies in bfloat16 that autocast keeps
    gradients: float
    optimiser: float
    reference: float  # of the KL term
    sampler: float  # vLLM's weights and cache, or ours
    activations: float  # of the longest rows that are allowed
    card: float  # GB there are
    tokens: int  # sampled a step, all processes together
    seconds: float  # a step
    hours: float
    disk: float  # GB

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimiser + self.reference + self.sampler + self.activations + SPARE

    @property
    def dies(self) -> str:
        """In which phase memory runs out first; empty where it does not."""
        used = SPARE
        for phase, more in (
            ("loading", self.weights + self.reference),
            ("starting the sampler", self.sampler),
            ("the first backward pass", self.activations + self.gradients),
            ("the first update", self.optimiser),
        ):
            used += more
            if used > self.card:
                return phase
        return ""


@cache
def count(model: str) -> tuple[Any, int, int, int]:
    """(configuration, parameters, those of a LoRA adapter of rank 1 on every linear layer, those of the largest embedding), by the
    real class on the meta device. Raises LookupError where nothing is known of the model."""
    import torch
    from transformers import AutoModelForCausalLM

    config = architecture(model)
    if config is None:
        raise LookupError(model)
    with torch.device("meta"):
        made = AutoModelForCausalLM.from_config(config)
    linear = [m for name, m in made.named_modules() if isinstance(m, torch.nn.Linear) and name != "lm_head"]
    embedding = made.get_input_embeddings().weight.numel()
    return config, sum(p.numel() for p in made.parameters()), sum(m.in_features + m.out_features for m in linear), embedding


def needs(profile: Profile, model: str, layout: Layout, card: float) -> Needs:
    """What `profile` takes with `model` on such cards of `card` GB (on a CPU: of memory). Raises LookupError for an unknown model."""
    config, size, adapter, embedding = count(model)
    part = profile.grpo or profile.sft
    assert part
    trained = part.lora_rank * adapter or size
    shards = layout.world if layout.sharded else 1
    held = (2 if part.lora_rank and layout.gpu else 4) * size / shards
    copies = 0.0 if part.lora_rank or not layout.gpu else 2 * (2 * embedding if layout.sharded else size)
    grpo = profile.grpo
    vllm = bool(grpo and grpo.vllm and layout.gpu)
    reference = (2 if layout.gpu else 4) * size / shards if grpo and grpo.beta and not grpo.lora_rank else 0.0
    longest = profile.prompt_tokens + profile.episode_tokens
    sampler = card * grpo.vllm_memory if grpo and vllm else _own_sampler(profile, config, layout) / GB
    rows = layout.rows or (grpo.rows if grpo else 1)
    seconds = step_seconds(profile, config, size, layout, card, sampler * GB - 2 * size) if layout.gpu else float("nan")
    disk = 4 * size + 2 * size * (not vllm) + 2 * size * (1 + vllm) + (KEPT + 1) * (12 * trained)
    return Needs(
        parameters=size,
        weights=(held + copies + 4 * trained * bool(part.lora_rank)) / GB,
        gradients=4 * trained / shards / GB,
        optimiser=8 * trained / shards / GB,
        reference=reference / GB,
        sampler=sampler,
        activations=activation_bytes(config, rows * longest if layout.gpu else _likely(profile), longest, layout.gpu) / GB,
        card=card,
        tokens=grpo.prompts_per_step * grpo.group * SAMPLED if grpo else 0,
        seconds=seconds,
        hours=seconds * part.steps / 3600,
        disk=disk / GB,
    )


def activation_bytes(config: Any, tokens: int, longest: int, checkpointed: bool) -> float:
    """Bytes that the backward pass holds for so many tokens: each layer's input, and all that is inside of one layer, of the longest
    row; without checkpoints, all that is inside of all. Inside of a layer are about 10 vectors of the hidden size and 3 of the MLP's."""
    inside = 10 * config.hidden_size + 3 * config.intermediate_size
    if checkpointed:
        return 2 * config.num_hidden_layers * config.hidden_size * tokens + 2 * 2 * inside * longest
    return 4 * config.num_hidden_layers * inside * tokens


def _likely(profile: Profile) -> int:
    """Tokens of a forward pass on a CPU, where groups are read as trees."""
    rows = profile.grpo.rows if profile.grpo else 1
    return profile.prompt_tokens + rows * min(profile.episode_tokens, 4 * profile.reply_tokens)


def _own_sampler(profile: Profile, config: Any, layout: Layout) -> float:
    """Bytes of our own decoder's cache: of a process's rollouts at once, or of one on a GPU, which plays as many as fit."""
    grpo = profile.grpo
    if grpo is None:
        return 0.0
    rollouts = 1 if layout.gpu else grpo.prompts_per_step * grpo.group // layout.world
    return 2.0 * rollouts * _likely(profile) * cache_bytes(config, 2 if layout.gpu else 4)


def step_seconds(profile: Profile, config: Any, size: int, layout: Layout, card: float, room: float) -> float:
    """Seconds of a step: prefill and decoding of this process's rollouts in waves that fit into `room` bytes of cache, and the
    forward and backward passes of the loss."""
    flops, bandwidth = next((speed for memory, speed in CARDS.items() if card <= memory), CARDS[141])
    flops, bandwidth = USED * flops, 2 * USED * bandwidth
    grpo = profile.grpo
    if grpo is None:
        assert profile.sft
        return 8 * size * profile.sft.batch / layout.world * (PROMPT + FOLLOWS) / flops
    rollouts = -(-grpo.prompts_per_step * grpo.group // layout.world)
    context = PROMPT + FOLLOWS
    at_once = min(rollouts, max(1, int(room // (context * cache_bytes(config)))))
    waves = -(-rollouts // at_once)
    decode = STRAGGLERS * waves * SAMPLED * (2 * size + at_once * context * cache_bytes(config)) / bandwidth
    prefill = 2 * size * rollouts * (PROMPT / grpo.group + FOLLOWS) / flops
    read = rollouts * (PROMPT / (layout.rows or grpo.rows if grpo.share_prompts else 1) + FOLLOWS)
    passes = (6 if grpo.lora_rank else 8) + 2 * bool(grpo.beta) + 2 * grpo.vllm
    return float(decode + prefill + passes * size * read / flops)


def rows(profile: Profile, model: str, layout: Layout, card: float) -> int:
    """How many rollouts a process of the layout can hold the activations of at once, of those that divide a step evenly; at least 1."""
    grpo = profile.grpo
    if grpo is None:
        return 1
    even = [n for n in (16, 8, 4, 2) if grpo.prompts_per_step * grpo.group % (n * layout.world) == 0]
    fit = (n for n in even if not needs(profile, model, msgspec.structs.replace(layout, rows=n), card).dies)
    return next(fit, 1)


def fitted(profile: Profile, model: str, layout: Layout) -> Layout:
    """The layout with as many rows at once as fit into this machine's GPUs (on a CPU: the profile's). Raises `RunError` if the
    model does not fit at all, in one line that says what it would take."""
    card = memory(layout)
    try:
        if layout.gpu:
            layout = msgspec.structs.replace(layout, rows=rows(profile, model, layout, card))
        found = needs(profile, model, layout, card)
    except LookupError:  # nothing is known of it: what is wrong is said when it is fetched
        return layout
    if not found.dies:
        return layout
    if layout.gpu:
        why = f"it takes {found.total:.0f} GB on each GPU, and {layout} with {card:.0f} GB would die in {found.dies}"
    else:
        held = found.weights + found.gradients + found.optimiser
        why = f"it needs a GPU, and this machine has none (and {card:.0f} GB of memory, where {held:.0f} are needed for the weights alone)"
    raise RunError(
        f"{model} with the profile {profile.name} does not fit: {why}. {advice(profile, model)}"
        f" `prove train --plan --model {model}` shows more. Nothing has been fetched"
    )


def line(profile: Profile, model: str, layout: Layout) -> str:
    """What a run takes on this machine, or why it does not fit, for people."""
    try:
        found = needs(profile, model, fitted(profile, model, layout), memory(layout))
    except LookupError:
        return "nothing is known of the model before it is fetched"
    except RunError as error:
        return str(error)
    time = f"about {found.hours:.1f} h, " if layout.gpu else ""
    return f"{found.total:.1f} of {found.card:.0f} GB of memory at most, {time}{found.disk:.1f} GB of disk"


def memory(layout: Layout) -> float:
    """GB of this machine's GPU, or of its memory for each process where there is none."""
    if layout.gpu:
        import torch

        return float(torch.cuda.get_device_properties(0).total_memory / GB)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GB / layout.processes


def advice(profile: Profile, model: str) -> str:
    """The smallest layouts that a model fits into."""
    fit = [(rank, name) for name, _, rank, found in table(profile, model) if not found.dies]
    ways = [f"{name} with an adapter (--lora 16)" for rank, name in fit if rank][:1] + [name for rank, name in fit if not rank][:1]
    return f"It fits into {' or '.join(ways)}." if ways else "It fits into none of the layouts that are known here."


#: The layouts that are shown: what it is called, the machines, the GPUs of each, GB of each GPU.
LAYOUTS = (("1 x 80 GB", 1, 1, 80), ("1 x 141 GB", 1, 1, 141), ("8 x 80 GB", 1, 8, 80), ("2 machines of 8 x 80 GB", 2, 8, 80))


def table(profile: Profile, model: str) -> list[tuple[str, Layout, int, Needs]]:
    """(layout's name, layout, LoRA rank, needs) of each layout, all weights trained and with an adapter of rank 16."""
    from prove.profiles import with_lora

    lines = []
    for name, nodes, gpus, card in LAYOUTS:
        for rank in (0, 16):
            layout = Layout(gpus, True, nodes, 0, "", not rank and nodes * gpus > 1)
            sized = with_lora(profile, rank)
            layout = msgspec.structs.replace(layout, rows=rows(sized, model, layout, card))
            lines.append((name, layout, rank, needs(sized, model, layout, card)))
    return lines


def shown(profile: Profile, models: list[str]) -> Any:
    """The table for people, as a pandas frame."""
    import pandas as pd

    lines = []
    for model in models:
        for name, layout, rank, found in table(profile, model):
            parts = {f: f"{getattr(found, f):.1f}" for f in ("weights", "gradients", "optimiser", "reference", "sampler", "activations")}
            lines.append(
                {
                    "model": f"{model} ({found.parameters / 1e9:.2f}B)",
                    "layout": name,
                    "trained": f"LoRA {rank}" if rank else "all weights",
                    **parts,
                    "GB": f"{found.total:.0f} of {found.card:.0f}",
                    "dies in": found.dies or "-",
                    "rows": layout.rows,
                    "tokens a step": found.tokens,
                    "s a step": f"{found.seconds:.0f}",
                    "hours": f"{found.hours:.1f}",
                    "disk GB": f"{found.disk:.0f}",
                }
            )
    return pd.DataFrame(lines).set_index(["model", "layout", "trained"])
