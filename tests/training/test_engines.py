"""vLLM without vLLM: a stand-in with the signatures of 0.30 under TRL's own code, which pushes weights and samples as it would."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace

import msgspec
import pytest
import requests
import torch
from toys import BOTH, CARDS, Scripted, conversation, toy_model, toy_tokenizer
from transformers import AutoModelForCausalLM
from trl.generation import vllm_generation
from trl.generation.vllm_client import VLLMClient

from prove.episode import Episode, play
from prove.run import RunError
from prove.training import engines, grpo
from prove.training.decoding import Decoder
from prove.training.rendering import Renderer
from prove.training.sampler import LocalModel, stop_tokens

DATA = [conversation(0, CARDS), conversation(1, BOTH, two_turns=True)]
GRPO = grpo.GRPO(
    learning_rate=1e-2, steps=2, prompts_per_step=2, group=4, reply_tokens=20, episode_tokens=900, prompt_tokens=4000, rows=4, vllm=True
)


class SamplingParams(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The fields of `vllm.SamplingParams`: another one is an error, as there."""

    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool = False
    max_tokens: int | None = 16
    min_tokens: int = 0
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    detokenize: bool = True
    skip_special_tokens: bool = True


class LLM:
    """The face of `vllm.LLM` that is used. Behind it, a model of `transformers`."""

    made: list["LLM"] = []
    blocks = 4096
    wrong = 0.0  # how far its log-probabilities are off

    def __init__(
        self,
        model: str,
        *,
        tensor_parallel_size: int = 1,
        gpu_memory_utilization: float = 0.9,
        max_model_len: int | None = None,
        max_num_seqs: int | None = None,
        enable_sleep_mode: bool = False,
        model_impl: str = "auto",
        distributed_executor_backend: str | None = None,
        seed: int = 0,
        max_num_batched_tokens: int | None = None,
        logprobs_mode: str = "raw_logprobs",
        quantization: str | None = None,
        trust_remote_code: bool = False,
        dtype: str = "auto",
    ) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
        self.pushes, self.asked = [], []
        self.settings = {"logprobs_mode": logprobs_mode, "tensor_parallel_size": tensor_parallel_size, "max_model_len": max_model_len}
        self.model.load_weights = self._load
        runner = SimpleNamespace(model=self.model)
        self.llm_engine = SimpleNamespace(
            model_executor=SimpleNamespace(driver_worker=SimpleNamespace(model_runner=runner)),
            vllm_config=SimpleNamespace(cache_config=SimpleNamespace(num_gpu_blocks=self.blocks, block_size=16)),
        )
        LLM.made.append(self)

    @torch.no_grad()
    def _load(self, weights):
        for name, weight in weights:
            self.model.get_parameter(name).copy_(weight)
            self.pushes.append((name, weight.dtype))

    def reset_prefix_cache(self) -> bool:
        return True

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True, lora_request=None, priority=None):
        assert all(p.keys() == {"prompt_token_ids"} for p in prompts)
        assert len(sampling_params) == len(prompts)
        self.asked.append(len(prompts))
        eos = set(sampling_params[0].stop_token_ids or [self.model.config.eos_token_id])
        decoder = Decoder(self.model, eos, sampling_params[0].temperature)
        contexts = [p["prompt_token_ids"] for p in prompts]
        samples = decoder(contexts, [s.max_tokens for s in sampling_params], [s.seed for s in sampling_params])
        return [SimpleNamespace(outputs=[self._output(*sample)]) for sample in samples]

    def _output(self, ids, logprobs):
        told = [{i: SimpleNamespace(logprob=p + self.wrong)} for i, p in zip(ids, logprobs, strict=True)]
        return SimpleNamespace(token_ids=ids, logprobs=told)


@pytest.fixture
def vllm(monkeypatch):
    module = ModuleType("vllm")
    module.SamplingParams, module.LLM = SamplingParams, LLM
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setattr(vllm_generation, "is_vllm_available", lambda: True)
    monkeypatch.setattr(vllm_generation, "LLM", LLM, raising=False)
    monkeypatch.setattr(LLM, "made", [])
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):  # TRL sets them, for the rest of the process
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    yield LLM
    torch.set_num_threads(1)


@pytest.mark.parametrize(("family", "rank"), [("qwen3-4b", 0), ("granite-4.1-8b", 4)])
def test_weights_are_pushed_once_a_step_and_sampler_and_trainer_agree(family, rank, tmp_path, vllm):
    tokenizer, steps = toy_tokenizer(family), []
    model = toy_model(family, tokenizer)
    names = sorted(name for name, _ in model.named_parameters())
    grpo.train(model, tokenizer, DATA, msgspec.structs.replace(GRPO, lora_rank=rank), tmp_path, steps.append)
    (llm,) = vllm.made
    assert llm.settings["logprobs_mode"] == "processed_logprobs"
    assert sorted(name for name, _ in llm.pushes) == sorted(names * 2)  # two steps
    assert {dtype for _, dtype in llm.pushes} == {torch.bfloat16}
    assert all(0 < s["gap"] < 0.1 for s in steps)  # as far as bfloat16 is off


def test_a_sampler_with_other_weights_stops_the_first_step(tmp_path, vllm, monkeypatch):
    monkeypatch.setattr(LLM, "wrong", 0.3)
    tokenizer = toy_tokenizer("qwen2.5-7b")
    steps: list[dict] = []
    with pytest.raises(RunError, match=r"log-probabilities that are 0\.\d+ apart in the mean.*nothing has been trained"):
        grpo.train(toy_model("qwen2.5-7b", tokenizer), tokenizer, DATA, GRPO, tmp_path, steps.append)
    assert not steps


def test_no_more_episodes_are_played_at_once_than_the_cache_holds(tmp_path, vllm, monkeypatch):
    monkeypatch.setattr(LLM, "blocks", 3 * (GRPO.prompt_tokens // 2 + 80) // 16)
    tokenizer = toy_tokenizer("qwen2.5-7b")
    grpo.train(toy_model("qwen2.5-7b", tokenizer), tokenizer, DATA, msgspec.structs.replace(GRPO, steps=1), tmp_path)
    assert max(vllm.made[0].asked) <= 3


def test_an_evaluation_by_vllm_says_what_the_decoder_says(tmp_path, vllm):
    tokenizer = toy_tokenizer("qwen2.5-7b")
    model = toy_model("qwen2.5-7b", tokenizer)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    engine = engines.alone(tmp_path, 2, 4096, stop_tokens(None, tokenizer, tmp_path))
    assert vllm.made[0].settings["tensor_parallel_size"] == 2
    assert engine.room(4096) == LLM.blocks * 16 // 4096
    here = LocalModel(model, tokenizer, reply_tokens=12)
    there = LocalModel(None, tokenizer, reply_tokens=12, engine=engine)
    said = [[m["content"] for e in play(policy, DATA) for m in e.messages] for policy in (here, there)]
    assert said[0] == said[1]


def test_without_vllm_it_is_said_what_to_do(tmp_path):
    with pytest.raises(RunError, match=r"vLLM is not installed here: `make gpu`.*--engine transformers"):
        engines.alone(tmp_path, 1, 100, set())


def test_a_server_is_asked_row_by_row_each_with_its_limit_and_seed():
    """TRL's own client against a server that answers as vLLM's `/v1/completions` does."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(request)
            ids = [7, 8, 9][: request["max_tokens"]]
            tokens = [f"token_id:{i}" for i in ids]
            told = {"tokens": tokens, "token_logprobs": [-0.5] * len(ids), "top_logprobs": [{t: -0.5} for t in tokens]}
            choice = {"prompt_token_ids": request["prompt"][0], "token_ids": ids, "logprobs": told}
            body = json.dumps({"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = object.__new__(VLLMClient)  # its constructor asks for vLLM itself
    client.session, client.base_url, client.model = requests.Session(), f"http://127.0.0.1:{server.server_port}", "toy"
    samples = engines.VLLMServer(client, 0.7)([[1, 2], [3]], [2, 3], [11, 12])
    server.shutdown()
    assert samples == [([7, 8], [-0.5, -0.5]), ([7, 8, 9], [-0.5, -0.5, -0.5])]
    told = sorted((r["prompt"], r["max_tokens"], r["seed"], r["temperature"]) for r in asked)
    assert told == [([[1, 2]], 2, 11, 0.7), ([[3]], 3, 12, 0.7)]


def test_the_decoder_plays_no_more_at_once_than_memory_holds(monkeypatch):
    tokenizer = toy_tokenizer("qwen2.5-7b")
    config = toy_model("qwen2.5-7b", tokenizer).config
    decoder = Decoder(SimpleNamespace(device=torch.device("cuda", 0), dtype=torch.bfloat16, config=config), {0})
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (10_000_000, 0))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)
    assert decoder.room(1000) == int(0.4 * 10_000_000 / (1000 * 2 * 2 * 2 * 8 * 2))  # two layers, two heads of 8, keys and values, 2 bytes
    assert decoder.room(10**9) == 1


def test_timing_is_of_the_engine_alone():
    tokenizer = toy_tokenizer("qwen2.5-7b")
    timed = engines.Timed(Scripted(Renderer(tokenizer)))
    policy = LocalModel(None, tokenizer, reply_tokens=12, engine=timed)
    policy.reply([Episode(DATA[0])])
    assert 0 < timed.seconds < 1
