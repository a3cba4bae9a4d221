"""The weights of what is being trained, as those of a plain model: whole where they are sharded, with adapters added.

One walk serves all who need them: the sampler, once a step, and the model that is saved. Adapters are added to a copy of each
weight: adding them to a bfloat16 weight itself and taking them away again, at each step, would leave it changed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from prove.files import whole_folder
from prove.run import RunError


def plain_weights(model: Any, dtype: torch.dtype | None = None) -> Iterator[tuple[str, Tensor]]:
    """(name, weight) of each parameter of the plain model, one at a time; float32 where an adapter is added, or all in `dtype`.

    Where the model is sharded, every process has to take part.
    """
    adapted = {name: module for name, module in model.named_modules() if hasattr(module, "lora_A") and hasattr(module, "base_layer")}
    for name, parameter in model.named_parameters():
        if ".lora_A." in name or ".lora_B." in name:
            continue
        weight = whole(parameter.detach())
        layer = adapted.get(name.removesuffix(".base_layer.weight"))
        if layer is not None:
            a, b = (whole(side["default"].weight.detach()).float() for side in (layer.lora_A, layer.lora_B))
            weight = weight.float() + layer.scaling["default"] * (b @ a)
        yield name.removeprefix("base_model.model.").replace(".base_layer", ""), weight if dtype is None else weight.to(dtype)


def whole(tensor: Tensor) -> Tensor:
    """A tensor that is all here."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def is_sharded(model: Any) -> bool:
    return any(isinstance(p, DTensor) for p in model.parameters())


def empty_like(model: Any) -> Any:
    """A plain model of the same architecture without weights (on the meta device)."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    kind = next(c for c in type(base).__mro__ if not c.__name__.startswith("FSDP"))
    with torch.device("meta"):
        return kind(base.config)


class Copy:
    """A whole model for sampling where the one that is trained is sharded: there, a forward pass is a matter of all processes."""

    def __init__(self, model: Any, device: torch.device) -> None:
        from transformers import AutoModelForCausalLM

        config = empty_like(model).config
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        self.model = AutoModelForCausalLM.from_config(config, dtype=dtype).to(device).eval()
        self.model.generation_config = model.generation_config
        self.parameters = dict(self.model.named_parameters())

    @torch.no_grad()
    def refresh(self, model: Any) -> None:
        """Take over the weights as they are now. Every process has to take part."""
        for name, weight in plain_weights(model):
            self.parameters[name].copy_(weight)


def save(model: Any, tokenizer: Any, folder: Path, writes: bool) -> None:
    """Save the plain model whole: the folder appears complete, and after it has been loaded again, or not at all.

    Every process has to take part where the model is sharded; only the one that `writes` keeps and writes the weights.
    Raises `RunError` if what was written is not what is loaded.
    """
    weights = {name: weight.cpu() for name, weight in plain_weights(model) if writes}
    if not writes:
        return
    plain = empty_like(model)
    plain.config.dtype = next(iter(weights.values())).dtype
    plain.generation_config = model.generation_config
    with whole_folder(folder) as draft:
        plain.save_pretrained(draft, state_dict=weights)
        tokenizer.save_pretrained(draft)
        verify(draft, weights)


def verify(folder: Path, weights: dict[str, Tensor]) -> None:
    """Raises `RunError` unless the model in the folder loads with exactly these weights."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    AutoTokenizer.from_pretrained(folder)
    loaded, told = AutoModelForCausalLM.from_pretrained(folder, dtype="auto", output_loading_info=True)
    there = dict(loaded.named_parameters())
    wrong = sorted(name for name, weight in weights.items() if name not in there or not torch.equal(there[name], weight.to(there[name])))
    if wrong or told["missing_keys"]:
        names = ", ".join([*wrong, *sorted(told["missing_keys"])][:3])
        raise RunError(f"{folder} was written, but does not load as it was trained ({names}); the checkpoints are kept, run it again")
