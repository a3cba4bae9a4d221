"""The client of an OpenAI-compatible endpoint (vLLM, Ollama, a cloud), for whoever asks one."""

import os
from typing import Any


def connect(base_url: str | None, api_key: str | None, **options: Any) -> Any:
    """An `openai.OpenAI` client; the key falls back to the environment's OPENAI_API_KEY, and local servers ask for none."""
    from openai import OpenAI  # slow to import, and only endpoints need it

    return OpenAI(base_url=base_url, api_key=api_key or os.environ.get("OPENAI_API_KEY") or "none", **options)
