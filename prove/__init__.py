"""PROVE: live tool servers, certified conversations, a judge-free reward, and the training that uses them.

An independent implementation of "Synthesize and Reward: Reinforcement Learning for Multi-Step Tool Use
in Live Environments" (arXiv:2606.03892).

The names below are the public face; each is imported when it is first asked for, so that `import prove` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prove.episode import Episode, Limits, Policy, Reply, ToolCall, play
    from prove.policies import SILENT, Endpoint, Oracle, Script
    from prove.records import BadRecord, Conversation, read_conversations, write_conversations
    from prove.rewards import PAPER, PRESETS, Call, Explanation, Findings, Step, Trajectory, Weights, effect, explain, reward
    from prove.servers import Server, ToolError
    from prove.servers.catalog import catalogue
    from prove.servers.session import Result, Session
    from prove.synthesis.data.dataset import synthesize
    from prove.synthesis.data.plan import Plan

__version__ = "0.1.0"

_HOMES = {
    "prove.servers.session": ("Session", "Result"),
    "prove.servers.catalog": ("catalogue",),
    "prove.servers": ("Server", "ToolError"),
    "prove.records": ("Conversation", "BadRecord", "read_conversations", "write_conversations"),
    "prove.synthesis.data.dataset": ("synthesize",),
    "prove.synthesis.data.plan": ("Plan",),
    "prove.episode": ("Episode", "Limits", "Policy", "Reply", "ToolCall", "play"),
    "prove.policies": ("Oracle", "Script", "SILENT", "Endpoint"),
    "prove.rewards.trajectory": ("Trajectory", "Findings", "Call", "Step"),
    "prove.rewards": ("reward", "explain", "effect", "Explanation", "Weights", "PAPER", "PRESETS"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "PAPER", "PRESETS", "SILENT", "BadRecord", "Call", "Conversation", "Endpoint", "Episode", "Explanation", "Findings", "Limits",
    "Oracle", "Plan", "Policy", "Reply", "Result", "Script", "Server", "Session", "Step", "ToolCall", "ToolError", "Trajectory", "Weights",
    "__version__", "catalogue", "effect", "explain", "play", "read_conversations", "reward", "synthesize", "write_conversations",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'prove' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
