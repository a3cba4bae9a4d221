"""Counts, means and 95 % intervals. Every figure names its n and its seed; differences are paired by task."""

from collections.abc import Sequence

import msgspec
import numpy as np

RESAMPLES = 10_000


class Estimate(msgspec.Struct, frozen=True):
    """A mean with its 95 % percentile bootstrap interval over `n` tasks."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def estimate(values: Sequence[float], seed: int = 0) -> Estimate:
    """The mean of one value a task. Raises ValueError for no value at all.

    The percentile bootstrap of Efron (1979), `RESAMPLES` resamples of the tasks, seeded.
    """
    if not len(values):
        raise ValueError("no values to take a mean of")
    values_N = np.asarray(values, float)
    picks_R_N = np.random.default_rng(seed).integers(0, len(values_N), (RESAMPLES, len(values_N)))
    means_R = values_N[picks_R_N].mean(axis=1)
    low, high = np.percentile(means_R, [2.5, 97.5])
    return Estimate(float(values_N.mean()), float(low), float(high), len(values_N))


def difference(after: Sequence[float], before: Sequence[float], seed: int = 0) -> Estimate:
    """The mean gain, paired by task: both sequences hold the same tasks in the same order."""
    if len(after) != len(before):
        raise ValueError(f"{len(after)} values cannot be paired with {len(before)}: play the same tasks")
    return estimate([a - b for a, b in zip(after, before, strict=True)], seed)
