"""What the rollouts of one GRPO step cost: our decoder against `transformers.generate`, which reads every context anew.

Run: python benchmarks/sampling.py [MODEL]     (a folder, entry or hub id; one that calls tools says more than one that does not)
"""

import sys
import time
from typing import Any

import msgspec
import torch

from prove.episode import play
from prove.profiles import PROFILES
from prove.records import Conversation, read_conversations
from prove.stages import sample
from prove.training.decoding import Sample
from prove.training.models import load
from prove.training.sampler import Engine, LocalModel, stop_tokens

GRPO = PROFILES["small"].grpo


class Generate:
    """Asks `generate` with padded contexts. It returns no log-probabilities: those are zeros here."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.eos, self.pad = model, stop_tokens(model, tokenizer), tokenizer.pad_token_id

    @torch.inference_mode()
    def __call__(self, contexts: list[list[int]], limits: list[int]) -> list[Sample]:
        longest = max(map(len, contexts))
        ids_B_T = torch.tensor([[self.pad] * (longest - len(c)) + c for c in contexts])
        mask_B_T = torch.tensor([[0] * (longest - len(c)) + [1] * len(c) for c in contexts])
        out_B_T = self.model.generate(
            ids_B_T, attention_mask=mask_B_T, do_sample=True, top_k=0, top_p=1.0, temperature=1.0, max_new_tokens=max(limits)
        )
        return [self._cut(row, limit) for row, limit in zip(out_B_T[:, longest:].tolist(), limits, strict=True)]

    def _cut(self, ids: list[int], limit: int) -> Sample:
        end = next((i + 1 for i, token in enumerate(ids) if token in self.eos), len(ids))
        kept = ids[: min(end, limit)]
        return kept, [0.0] * len(kept)


def cost(model: Any, tokenizer: Any, conversations: list[Conversation], engine: Engine | None, seed: int) -> tuple[float, int]:
    """Seconds and sampled tokens of one step's rollouts."""
    torch.manual_seed(seed)
    policy = LocalModel(model, tokenizer, 1.0, GRPO.reply_tokens, GRPO.episode_tokens, seed, engine)
    begun = time.perf_counter()
    episodes = play(policy, conversations)
    return time.perf_counter() - begun, sum(sum(policy.track(e).sampled) for e in episodes)


def main(name: str) -> None:
    torch.set_float32_matmul_precision("medium")
    model, tokenizer = load(name)
    model.eval()
    size = GRPO.prompts_per_step
    made = list(read_conversations(sample(msgspec.structs.replace(PROFILES["small"].train, n=3 * size))))
    print(f"{name}: {size} prompts, {GRPO.group} rollouts each, milliseconds a sampled token (tokens)")
    print(f"{'step':>4}{'ours':>16}{'generate':>16}{'ratio':>8}")
    for step in range(3):
        prompts = [c for c in made[step * size : (step + 1) * size] for _ in range(GRPO.group)]
        ours, theirs = (cost(model, tokenizer, prompts, engine, step) for engine in (None, Generate(model, tokenizer)))
        (a, n), (b, m) = ours, theirs
        print(f"{step:>4}{1000 * a / n:>9.1f} ({n:>4}){1000 * b / m:>9.1f} ({m:>4}){(b / m) / (a / n):>8.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else PROFILES["small"].model)
