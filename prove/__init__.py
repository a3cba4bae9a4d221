"""PROVE: live tool servers, certified conversations, a judge-free reward, and the training that uses them.

An independent implementation of "Synthesize and Reward: Reinforcement Learning for Multi-Step Tool Use
in Live Environments" (arXiv:2606.03892).
"""

__version__ = "0.1.0"
