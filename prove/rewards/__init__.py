"""The judge-free reward: pure functions of a trajectory."""

from prove.rewards.effect import effect
from prove.rewards.explanation import Explanation
from prove.rewards.paper import ABLATIONS, PAPER, Weights
from prove.rewards.reward import PRESETS, Preset, explain, find, reward
from prove.rewards.trajectory import Call, Findings, Step, Trajectory

__all__ = [
    "ABLATIONS",
    "PAPER",
    "PRESETS",
    "Call",
    "Explanation",
    "Findings",
    "Preset",
    "Step",
    "Trajectory",
    "Weights",
    "effect",
    "explain",
    "find",
    "reward",
]
