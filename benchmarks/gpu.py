"""One GPU against the plan: see gpu.sh. Each part runs in a process of its own, so that its peak memory is its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import torch
from toys import BOTH, CARDS, Mixed, conversation, toy_model, toy_tokenizer

from prove.profiles import find, with_lora
from prove.run import circumstances, results, write_json
from prove.training import grpo, plan, weights
from prove.training.decoding import Decoder
from prove.training.launch import Layout
from prove.training.models import MODELS
from prove.training.sampler import LocalModel, stop_tokens

MODEL = "qwen3-4b"
GRPO = grpo.GRPO(
    learning_rate=1e-6,
    steps=2,
    prompts_per_step=2,
    group=8,
    reply_tokens=200,
    episode_tokens=4096,
    prompt_tokens=12_384,
    rows=4,
    save_every=99,
)
KINDS = {
    "LoRA 16": {"lora_rank": 16, "learning_rate": 1e-5},
    "float32 masters": {"learning_rate": 5e-8},
    "rows without padding, no trees": {"lora_rank": 16, "learning_rate": 1e-5, "share_prompts": False},
    "TRL's padded rows": {"lora_rank": 16, "learning_rate": 1e-5, "share_prompts": False, "rows": 1},
    "vLLM, LoRA 16": {"lora_rank": 16, "learning_rate": 1e-5, "vllm": True, "temperature": 1.0},
}
SECONDS = 500  # after which no other part is begun


def build(folder: Path, toy: bool) -> None:
    """A model of random weights, in bfloat16 where a GPU is, with a tokenizer that is made here."""
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = toy_tokenizer(MODEL)
    if toy:
        model = toy_model(MODEL, tokenizer)
    else:
        config = AutoConfig.for_model(**MODELS[MODEL].config, max_position_embeddings=32_768, eos_token_id=tokenizer.eos_token_id)
        with torch.device("cuda"):
            model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def part(kind: str, folder: Path, out: Path, toy: bool) -> dict[str, Any]:
    """Two steps of GRPO of one kind. A third of what is said is really sampled; the rest hangs on the seed, so that tools run."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    def made(model: Any, tokenizer: Any, **rest: Any) -> LocalModel:
        policy = LocalModel(model, tokenizer, **rest)
        policy.engine = Mixed(policy.renderer, rest.get("engine") or Decoder(model, stop_tokens(model, tokenizer), rest["temperature"]))
        return policy

    grpo.LocalModel = made  # type: ignore[misc, assignment]
    config = msgspec.structs.replace(GRPO, **KINDS[kind])
    grpo.TreeTrainer.own_forward = not kind.startswith("TRL")
    dtype = torch.bfloat16 if config.lora_rank and not toy else torch.float32
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    before = {name: p.detach().clone() for name, p in list(model.named_parameters())[:40]}
    data = [conversation(i, BOTH if i % 2 else CARDS, two_turns=i % 2 == 1) for i in range(4)]
    told: list[dict[str, Any]] = []
    begun = time.perf_counter()
    trained = grpo.train(model, tokenizer, data, config, out, told.append)
    seconds = time.perf_counter() - begun
    peak = torch.cuda.max_memory_reserved() / 1e9 if torch.cuda.is_available() else 0.0
    after = ((name, w) for name, w in weights.plain_weights(trained) if name in before)
    moved = [((w.cpu() != before[name]).sum().item(), w.numel()) for name, w in after]
    last = told[-1]
    return {
        "seconds of two steps": round(seconds, 1),
        "peak GB": round(peak, 1),
        "tokens a second": round(last["tokens_per_second"], 1),
        "gap in step 1": told[0].get("gap"),
        "weights changed": round(sum(m for m, _ in moved) / sum(n for _, n in moved), 3),
        "tokens read of a row's": round(last["tokens_read"] / last["tokens_of_rows"], 2) if "tokens_read" in last else None,
        "loss": last["loss"],
        "share of environments and reward": round(last["aside_share"], 4),
    }


def planned(kind: str, card: float) -> float | None:
    """GB that the plan has for these settings."""
    config = msgspec.structs.replace(GRPO, **KINDS[kind])
    size = with_lora(find("paper", model=MODEL), config.lora_rank)
    grown = msgspec.structs.replace(size, grpo=config, episode_tokens=config.episode_tokens)
    return round(plan.needs(grown, MODEL, Layout(gpu=True, rows=config.rows), card).total, 1)


def killed(folder: Path, out: Path, toy: bool) -> dict[str, Any]:
    """Kill a run after its first checkpoint, resume it, and compare with one that was left alone."""
    losses = {}
    for name in ("alone", "killed"):
        at = out / name
        process = start("kill-and-resume", folder, at, toy)
        if name == "killed":
            while process.poll() is None and not (at / "checkpoints" / "checkpoint-1" / "trainer_state.json").exists():
                time.sleep(0.2)
            process.kill()
            process.wait()
            process = start("kill-and-resume", folder, at, toy)
        said = process.communicate()[0]
        losses[name] = json.loads(said.splitlines()[-1])["loss"] if process.returncode == 0 else None
    return {"loss of the last step": losses["alone"], "after a kill and a resume": losses["killed"]}


KINDS["kill-and-resume"] = {"lora_rank": 16, "learning_rate": 1e-5, "save_every": 1}


def start(kind: str, folder: Path, out: Path, toy: bool) -> subprocess.Popen[str]:
    words = [sys.executable, __file__, "--part", kind, str(folder), str(out), *["--toy"] * toy]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def main(toy: bool) -> None:
    if not toy and not torch.cuda.is_available():
        sys.exit("benchmarks/gpu.sh: there is no GPU here; `benchmarks/gpu.sh --toy` runs the same on a CPU, tiny")
    begun, card = time.perf_counter(), torch.cuda.get_device_properties(0).total_memory / 1e9 if not toy else 0.0
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="prove-gpu-") as name:
        work = Path(name)
        build(work / "model", toy)
        for kind in KINDS:
            if time.perf_counter() - begun > SECONDS or (kind.startswith("vLLM") and shutil.which("vllm") is None):
                found[kind] = {"not run": "no vLLM here" if kind.startswith("vLLM") else "no time left"}
                continue
            if kind == "kill-and-resume":
                found[kind] = killed(work / "model", work / kind, toy)
            else:
                process = start(kind, work / "model", work / kind.replace(" ", "-"), toy)
                said = process.communicate()[0]
                found[kind] = json.loads(said.splitlines()[-1]) if process.returncode == 0 else {"failed": process.returncode}
                if not toy:
                    found[kind]["planned GB"] = planned(kind, card)
            shutil.rmtree(work / kind.replace(" ", "-"), ignore_errors=True)
            print(kind, found[kind], flush=True)
    report = {"model": MODEL if not toy else "toy", "seconds": time.perf_counter() - begun, **circumstances(), "parts": found}
    write_json(results() / "gpu" / ("toy.json" if toy else "numbers.json"), report)
    columns = list(dict.fromkeys(key for row in found.values() for key in row))
    cells = [[kind, *(str(row.get(c, "-")) for c in columns)] for kind, row in found.items()]
    lines = [["", *columns], ["---"] * (len(columns) + 1), *cells]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
    (results() / "gpu" / ("toy.md" if toy else "table.md")).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1" if "--toy" in sys.argv else "8")
    if "--part" in sys.argv:
        kind, folder, out = sys.argv[2:5]
        print(json.dumps(part(kind, Path(folder), Path(out), "--toy" in sys.argv)))
    else:
        main("--toy" in sys.argv)
