"""The judge-free reward: pure functions of a trajectory."""

from prove.rewards.reward import PAPER, Explanation, Weights, explain, reward
from prove.rewards.trajectory import Call, Step, Trajectory

__all__ = ["PAPER", "Call", "Explanation", "Step", "Trajectory", "Weights", "explain", "reward"]
