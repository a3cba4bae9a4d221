"""Which extra of the package brings what the core does without: `pip install 'prove-rl[train]'`."""

from importlib.util import find_spec

#: What each extra is for, by the names under which its packages are imported; where two bring one, the first is named.
EXTRAS = {
    "mcp": ("mcp", "mcp_types", "anyio", "starlette", "uvicorn"),
    "llm": ("openai",),
    "export": ("pyarrow",),
    "bench": ("pandas", "scipy"),
    "notebooks": ("matplotlib", "IPython", "papermill"),
    "train": ("torch", "transformers", "trl", "peft", "accelerate", "datasets", "huggingface_hub", "gguf"),
    "distributed": ("ray",),
    "gpu": ("vllm",),
}


def need(extra: str) -> None:
    """See that an extra is installed before anything is begun. Raises ModuleNotFoundError where it is not."""
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def missing(error: ModuleNotFoundError) -> str:
    """What to install for a module that is not there; "" for one that no extra brings."""
    module = (error.name or "").split(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules:
            return f"this needs {module}, which is not installed: pip install 'prove-rl[{extra}]'"
    return ""
