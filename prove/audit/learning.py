"""GRPO simulated on exact tables: a policy of a few parameters learns on tasks of which every outcome is known.

It has habits (of looking or acting, first or later: to call, to call again when refused, to invent an argument, to leave out), which
change quickly, and skill (to get a value right), which changes slowly; a second try is right where either would have been. The
expected share of goals and the calls are exact: nothing is sampled but the groups that it learns from.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from prove.audit.choices import ACTIONS, Choices
from prove.benchmarks.statistics import estimate

#: Learners: habits to (call, invent, leave out, call twice), skill in (reads, writes), how fast skill is learnt beside habits.
LEARNERS = {
    "beginner": ((0.52, 0.20, 0.23, 0.05), (0.75, 0.55), 0.1),
    "weak beginner": ((0.52, 0.20, 0.23, 0.05), (0.50, 0.30), 0.1),
    "no skill to gain": ((0.52, 0.20, 0.23, 0.05), (0.40, 0.20), 0.0),
    "inventive": ((0.28, 0.50, 0.17, 0.05), (0.75, 0.55), 0.1),
}
STEPS, RATE, GROUP, TASKS, SEEDS = 100, 0.25, 16, 8, 3
_RIGHT, _WRONG, _INVENTED, _SKIPPED, _TWICE = range(len(ACTIONS))


class Learner:
    """Parameters: logits of four habits in four contexts (4, 4), logits of two skills (2)."""

    def __init__(self, habits: Any, skill: Any) -> None:
        self.habits = np.log(np.tile(habits, (4, 1)))
        self.skill = np.log(np.array(skill) / (1 - np.array(skill)))

    def actions(self, it: Choices) -> tuple[Any, Any, Any]:
        """Of every step the chance of each action (n, 5), of each habit (n, 4), and the skill (n)."""
        contexts = 2 * (np.arange(len(it.writes_n)) > 0) + it.writes_n
        habits = np.exp(self.habits - self.habits.max(axis=1, keepdims=True))
        habits_n = (habits / habits.sum(axis=1, keepdims=True))[contexts]
        skill = (1 / (1 + np.exp(-self.skill)))[it.writes_n.astype(int)]
        call, invent, leave, twice = habits_n.T
        again = 1 - (1 - skill) ** 2
        wrong = call * (1 - skill) + twice * (1 - again)  # a second try that is wrong too leaves what one wrong call leaves
        return np.stack([call * skill, wrong, invent, leave, twice * again], axis=1), habits_n, skill

    def chances(self, it: Choices) -> Any:
        """The chance of every sequence of a table (K)."""
        chance_n, _, _ = self.actions(it)
        return np.prod([chance_n[i, it.actions_K_n[:, i]] for i in range(len(chance_n))], axis=0)

    def learn(self, batch: Sequence[tuple[Choices, Any, Any]], pace: float) -> None:
        """One step up the gradient of log-chances weighted by advantages; the batch holds (table, picked rows, their advantages)."""
        habits, skill, n = np.zeros_like(self.habits), np.zeros_like(self.skill), sum(len(picked) for _, picked, _ in batch)
        for it, picked, advantages_G in batch:
            chance_n, habits_n, skill_n = self.actions(it)
            for i, write in enumerate(it.writes_n.astype(int)):
                actions_G = it.actions_K_n[picked, i]
                once = habits_n[i, 0] * (1 - skill_n[i]) / chance_n[i, _WRONG]  # of a wrong value: that it came of one call, not of two
                behind_A = np.array([[1, 0, 0, 0], [once, 0, 0, 1 - once], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
                habits[2 * (i > 0) + write] += advantages_G @ (behind_A[actions_G] - habits_n[i])
                called_G = np.isin(actions_G, (_RIGHT, _WRONG))
                skill[write] += (advantages_G * called_G) @ ((actions_G == _RIGHT) - skill_n[i])
        self.habits += RATE * habits / n
        self.skill += pace * RATE * skill / n


def run(tables: Sequence[Choices], preset: str, learner: str, seed: int, divide: bool = True) -> dict[str, float]:
    """One learner's way: share of goals before and after, calls per ground-truth call before and after. Advantages are divided by the
    group's deviation, or not (`divide`)."""
    habits, skill, pace = LEARNERS[learner]
    it, rng = Learner(habits, skill), np.random.default_rng(seed)
    before, calls_before = _measure(it, tables)
    for _ in range(STEPS):
        batch = []
        for at in rng.integers(0, len(tables), TASKS):
            chances = it.chances(tables[at])
            picked = rng.choice(len(chances), GROUP, p=chances / chances.sum())
            rewards = tables[at].rewards[preset][picked]
            advantages = rewards - rewards.mean()
            batch.append((tables[at], picked, advantages / (rewards.std() + 1e-4) if divide else advantages / 0.3))
        it.learn(batch, pace)
    after, calls_after = _measure(it, tables)
    return {"before": before, "after": after, "calls_before": calls_before, "calls_after": calls_after}


def _measure(it: Learner, tables: Sequence[Choices]) -> tuple[float, float]:
    chances = [it.chances(table) for table in tables]
    goal = np.mean([c @ t.goal_K for c, t in zip(chances, tables, strict=True)])
    calls = np.mean([c @ t.calls_K / len(t.writes_n) for c, t in zip(chances, tables, strict=True)])
    return float(goal), float(calls)


def learnt(tables: Sequence[Choices], presets: Sequence[str], seeds: int = SEEDS) -> pd.DataFrame:
    """One line a learner and preset: goals `before` and `after` (mean over seeds, its interval over seeds), and calls per ground-truth
    call `calls_before`, `calls_after`."""
    rows = []
    for learner in LEARNERS:
        for preset in presets:
            ways = pd.DataFrame([run(tables, preset, learner, seed) for seed in range(seeds)])
            after = estimate(ways.after.to_list())
            about = {"learner": learner, "preset": preset, "n": len(tables)}
            rows.append(about | ways.mean().to_dict() | {"after_low": after.low, "after_high": after.high})
    return pd.DataFrame(rows)
