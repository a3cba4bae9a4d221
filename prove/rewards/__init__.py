"""The judge-free reward: pure functions of a trajectory."""

from prove.rewards.reward import ABLATIONS, PAPER, PRESETS, STRICT, Explanation, Weights, explain, reward
from prove.rewards.trajectory import Call, Step, Trajectory

__all__ = ["ABLATIONS", "PAPER", "PRESETS", "STRICT", "Call", "Explanation", "Step", "Trajectory", "Weights", "explain", "reward"]
