"""What samples instead of our own decoder: vLLM, inside a training process, behind TRL's server, or alone for an evaluation.

All three take token ids and give token ids with their log-probabilities: what was sampled is never tokenised again.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

from prove.run import RunError
from prove.training.decoding import Sample
from prove.training.sampler import Engine

AT_ONCE = 64  # requests to a server


class VLLMHere:
    """A `vllm.LLM` of this process. Its prefix cache stands in for ours, and its scheduler makes the batches."""

    def __init__(self, llm: Any, temperature: float, eos: set[int] | None = None) -> None:
        self.llm, self.temperature, self.eos = llm, temperature, sorted(eos or ())

    def room(self, tokens: int) -> int | None:
        """How many sequences of so many tokens the paged cache holds."""
        cache = self.llm.llm_engine.vllm_config.cache_config
        return max(1, cache.num_gpu_blocks * cache.block_size // tokens)

    def __call__(self, contexts: list[list[int]], limits: list[int], seeds: list[int]) -> list[Sample]:
        from vllm import SamplingParams

        settings = [
            SamplingParams(
                temperature=self.temperature, max_tokens=limit, seed=seed, logprobs=0, stop_token_ids=self.eos or None, detokenize=False
            )
            for limit, seed in zip(limits, seeds, strict=True)
        ]
        answers = self.llm.generate([{"prompt_token_ids": c} for c in contexts], sampling_params=settings, use_tqdm=False)
        first = [answer.outputs[0] for answer in answers]
        return [(list(o.token_ids), [step[i].logprob for i, step in zip(o.token_ids, o.logprobs, strict=True)]) for o in first]


class VLLMServer:
    """`trl vllm-serve`, by TRL's client. A request a row, each with its own limit and seed; the server makes the batches."""

    def __init__(self, client: Any, temperature: float) -> None:
        self.client, self.temperature = client, temperature

    def room(self, tokens: int) -> int | None:
        return None  # it queues what does not fit

    def __call__(self, contexts: list[list[int]], limits: list[int], seeds: list[int]) -> list[Sample]:
        with ThreadPoolExecutor(min(AT_ONCE, len(contexts))) as pool:
            return list(pool.map(self._ask, contexts, limits, seeds))

    def _ask(self, context: list[int], limit: int, seed: int) -> Sample:
        out = self.client.generate(
            prompts=[context], n=1, temperature=self.temperature, max_tokens=limit, logprobs=0, generation_kwargs={"seed": seed}
        )
        ids, logprobs = out["completion_ids"][0], out["logprobs"][0]
        return list(ids), [float("nan") if step[0] is None else step[0] for step in logprobs]


class Timed:
    """An engine, and the seconds it has taken."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.seconds = engine, 0.0

    def room(self, tokens: int) -> int | None:
        return self.engine.room(tokens)

    def __call__(self, contexts: list[list[int]], limits: list[int], seeds: list[int]) -> list[Sample]:
        begun = perf_counter()
        try:
            return self.engine(contexts, limits, seeds)
        finally:
            self.seconds += perf_counter() - begun


def alone(folder: Path, tensor_parallel: int, tokens: int, eos: set[int]) -> VLLMHere:
    """vLLM on a model folder, greedy, spread over so many GPUs, for contexts of up to `tokens`. Raises `RunError` without vLLM."""
    try:
        from vllm import LLM
    except ImportError:
        raise RunError("vLLM is not installed here: `make gpu` makes an environment that has it; or take `--engine transformers`") from None
    llm = LLM(model=str(folder), tensor_parallel_size=tensor_parallel, max_model_len=tokens, dtype="bfloat16", gpu_memory_utilization=0.9)
    return VLLMHere(llm, 0.0, eos)
