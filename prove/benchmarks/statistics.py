"""Counts, means and 95 % intervals. Every figure names its n and its seed; differences are paired by task."""

from collections.abc import Sequence
from math import comb
from statistics import NormalDist

import msgspec
import numpy as np

RESAMPLES = 10_000
POWER = 0.8  # with which a difference is to be seen that is there


class Estimate(msgspec.Struct, frozen=True):
    """A mean with its 95 % interval over `n` tasks."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + (f" [{self.low:.3f}, {self.high:.3f}]" if self.n > 1 else "")  # of one task there is no interval


class Difference(msgspec.Struct, frozen=True):
    """A mean gain, paired by task, with its 95 % interval; `p` is the chance of one as large where there is none."""

    mean: float
    low: float
    high: float
    n: int
    p: float
    detectable: float  # the smallest true gain that so many tasks show with a power of 80 %

    @property
    def within_noise(self) -> bool:
        return self.p >= 0.05 or self.low <= 0 <= self.high

    def __str__(self) -> str:
        noise = ", within noise" if self.within_noise else ""
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}], p = {self.p:.3f}{noise}"


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


def rate(values: Sequence[float], seed: int = 0) -> Estimate:
    """The mean of one score a task; where all are 0 or 1, with Wilson's interval (1927): 0 of 200 is not known to be 0.

    Raises ValueError for no value at all.
    """
    if not set(values) <= {0.0, 1.0} or not len(values):
        return estimate(values, seed)
    from scipy import stats  # slow to import, and whoever only plays does not need it

    interval = stats.binomtest(int(sum(values)), len(values)).proportion_ci(method="wilson")
    return Estimate(sum(values) / len(values), float(interval.low), float(interval.high), len(values))


def difference(after: Sequence[float], before: Sequence[float], seed: int = 0) -> Estimate:
    """The mean gain, paired by task: both sequences hold the same tasks in the same order."""
    if len(after) != len(before):
        raise ValueError(f"{len(after)} values cannot be paired with {len(before)}: play the same tasks")
    return estimate([a - b for a, b in zip(after, before, strict=True)], seed)


def compare(after: Sequence[float], before: Sequence[float], seed: int = 0) -> Difference:
    """The mean gain, paired by task, and whether it is more than chance.

    By McNemar's exact test (1947) where all scores are 0 or 1, else by a permutation test of the signs, seeded. Raises ValueError
    where the sequences cannot be paired or are empty.
    """
    from scipy import stats

    gain = difference(after, before, seed)
    gains_N = np.asarray(after, float) - np.asarray(before, float)
    if {*after, *before} <= {0.0, 1.0}:
        won, lost = int((gains_N > 0).sum()), int((gains_N < 0).sum())
        p = stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    elif gains_N.any():
        p = stats.permutation_test(
            (gains_N,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, rng=np.random.default_rng(seed), vectorized=True
        ).pvalue
    else:
        p = 1.0
    return Difference(gain.mean, gain.low, gain.high, gain.n, float(p), detectable(gain.n, float(gains_N.std())))


def detectable(n: int, deviation: float = 1.0) -> float:
    """The smallest mean gain over n tasks that a two-sided test at 5 % sees with a power of 80 %, by the normal approximation.

    `deviation` is the standard deviation of one task's gain: at most 1 for outcomes of 0 and 1, and sqrt(the share of tasks whose
    outcome differs) where the gain is small. Never less than one task.
    """
    normal = NormalDist()
    return max((normal.inv_cdf(0.975) + normal.inv_cdf(POWER)) * deviation / n**0.5, 1 / n)


def pass_hat(outcomes: Sequence[Sequence[float]], k: int) -> float:
    """pass^k: the chance that k trials of a task all succeed, C(c, k) / C(m, k) for c successes in m trials, averaged over tasks.

    Yao et al. (2024), tau-bench. Raises ValueError where a task has fewer than k trials.
    """
    if any(len(trials) < k for trials in outcomes):
        raise ValueError(f"pass^{k} needs {k} trials of every task")
    return float(np.mean([comb(sum(t >= 1.0 for t in trials), k) / comb(len(trials), k) for trials in outcomes]))
