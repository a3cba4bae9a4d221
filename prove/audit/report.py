"""The whole of it on some tasks: plain numbers to record (`prove.stages.record("rewards", ...)`), and as tables again."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from prove.audit import agreement, audit, choices, learning
from prove.audit.audit import AUDITED
from prove.records import Conversation
from prove.rewards import Preset

TABLES = 60  # short tasks whose every sequence of actions is played

Progressed = Callable[[str], Callable[[int, int], None]]  # what is being done -> how far it is


def measure(
    tasks: Sequence[Conversation],
    seed: int = 0,
    tell: Progressed = lambda what: lambda done, n: None,
    presets: Mapping[str, Preset] = AUDITED,
    tables: int = TABLES,
) -> dict[str, Any]:
    """Everything that there is to know of some presets, as plain data: the `audit`, its `faults`, the `agreement` of weak rollouts with
    distances, their `calibration`, the `slopes` of one change, and what simulated learners have `learnt`."""
    played = audit.rollouts(tasks, tell("policies"), presets)
    weak = agreement.rollouts(tasks, seed, tell("weak rollouts"), presets)
    short = [c for c in tasks if 1 <= len(c.calls) <= choices.LONGEST][:tables]
    every = choices.tables(short, tell("all sequences"), presets)
    return {
        "tasks": len(tasks),
        "policies": int(played.policy.nunique()),
        "weak": len(weak),
        "tables": len(every),
        "audit": rows(audit.table(played, seed, presets)),
        "faults": rows(audit.faults(played, presets)),
        "agreement": rows(agreement.agreement(weak, seed, presets=presets)),
        "calibration": {name: rows(agreement.calibration(weak, name, seed=seed)) for name in presets},
        "slopes": rows(choices.slopes(choices.changes(every))) if every else {},
        "learnt": rows(learning.learnt(every, list(presets))) if every else {},
    }


def rows(table: pd.DataFrame) -> dict[str, Any]:
    """A table as plain data, None for what could not be measured: JSON knows no nan."""
    return {str(name): row for name, row in table.astype(object).where(table.notna(), None).to_dict("index").items()}


def table(rows: dict[str, Any]) -> pd.DataFrame:
    """One of these tables as it was, its index as text."""
    return pd.DataFrame.from_dict(rows, orient="index").infer_objects()


HEADS = {
    "audit": "What every policy gets, as a share of what gold gets on the same tasks (95 % intervals); miss: the most that a miss gets",
    "faults": "Misses that get 80 % of gold or more; hits with at most twice gold's calls that get less",
    "agreement": "Pairs of weak rollouts of which the nearer one is paid less, by calls missing, steps not done, fields of the state",
    "slopes": "One action changed, all other calls as they were: what it costs, and how often it pays",
    "learnt": "GRPO simulated on exact tables: share of goals, calls per ground-truth call",
}


def text(numbers: dict[str, Any]) -> str:
    """The tables to read on a terminal."""
    shown = ((head, numbers[name]) for name, head in HEADS.items() if numbers[name])
    return "\n\n".join(f"{head}\n{table(found).to_string(float_format='{:.3f}'.format)}" for head, found in shown)
