"""What the tests of several processes start: toy training of every kind, into a folder. `python -m worker FOLDER WHAT...`"""

import json
import os
import sys
import time
from pathlib import Path

import msgspec
import torch
from accelerate import DistributedType, PartialState
from toys import BOTH, CARDS, Mixed, conversation, toy_model, toy_tokenizer

from prove.training import grpo, launch, sft, weights
from prove.training.decoding import Decoder
from prove.training.sampler import LocalModel, stop_tokens

SFT = sft.SFT(steps=3, batch=6, learning_rate=1e-3, save_every=3)
GRPO = grpo.GRPO(
    learning_rate=1e-3, steps=3, prompts_per_step=3, group=4, reply_tokens=60, episode_tokens=1200, prompt_tokens=4000, rows=2, save_every=1
)
KINDS = {
    "sft": ("qwen2.5-7b", SFT),
    "sft-lora": ("qwen3-4b", msgspec.structs.replace(SFT, lora_rank=4)),
    "grpo": ("qwen3-4b", GRPO),
    "grpo-lora": ("granite-4.1-8b", msgspec.structs.replace(GRPO, lora_rank=4, beta=0.0)),
}


def play_mixed() -> None:
    def made(model, tokenizer, **rest):
        policy = LocalModel(model, tokenizer, **rest)
        policy.engine = Mixed(policy.renderer, Decoder(model, stop_tokens(model, tokenizer), rest["temperature"]))
        return policy

    grpo.LocalModel = made


def shard_on_cpus() -> None:
    """Let accelerate shard on CPUs, too: it looks for FSDP only where there are several GPUs."""
    original = PartialState.__init__

    def as_if_gpus(self, *args, **rest):
        original(self, *args, **rest)
        if self.distributed_type == DistributedType.MULTI_CPU:
            self.distributed_type = DistributedType.MULTI_GPU

    PartialState.__init__ = as_if_gpus


def main(folder: Path, kinds: list[str], pause: float) -> None:
    launch.end_with_parent()
    torch.set_num_threads(1)
    if os.environ.get("ACCELERATE_USE_FSDP") == "true":
        shard_on_cpus()
    state = PartialState(cpu=True)
    play_mixed()
    data = [conversation(i, BOTH if i % 2 else CARDS, two_turns=i % 2 == 1) for i in range(6)]
    for kind in kinds:
        family, config = KINDS[kind]
        tokenizer = toy_tokenizer(family)
        model = toy_model(family, tokenizer)
        out = folder / kind
        out.mkdir(parents=True, exist_ok=True)

        def log(numbers, out=out):
            with (out / "steps.jsonl").open("a") as file:
                file.write(json.dumps(numbers) + "\n")
            time.sleep(pause)

        if not (out / "model").is_dir():
            train = grpo.train if isinstance(config, grpo.GRPO) else sft.train
            weights.save(train(model, tokenizer, data, config, out, log), tokenizer, out / "model", state.is_main_process)
        state.wait_for_everyone()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[3:], float(sys.argv[2]))
