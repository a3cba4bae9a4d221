"""The audit and the agreement as plain numbers to record (`prove.stages.record("rewards", ...)`), and as tables again."""

from typing import Any

import pandas as pd

from prove.rewards import agreement, audit


def numbers(rollouts: pd.DataFrame, damage: pd.DataFrame, about: dict[str, Any], resamples: int = agreement.RESAMPLES) -> dict[str, Any]:
    """What `audit.rollouts` and `agreement.rollouts` show. `about` says of which tasks they are, among it the `seed`."""
    seed = about["seed"]
    return {
        **about,
        "tasks": int(rollouts.task.nunique()),
        "damaged": len(damage),
        "audit": _rows(audit.table(rollouts)),
        "agreement": _rows(agreement.agreement(damage, seed, resamples)),
        "calibration": {name: _rows(agreement.calibration(damage, name, seed=seed)) for name in audit.PRESETS},
        "signal": {name: _rows(agreement.signal(damage, name)) for name in audit.PRESETS},
    }


def _rows(table: pd.DataFrame) -> dict[str, Any]:
    """A table as plain data, None for what could not be measured: JSON knows no nan."""
    return {str(name): row for name, row in table.astype(object).where(table.notna(), None).to_dict("index").items()}


def table(rows: dict[str, Any]) -> pd.DataFrame:
    """One of these tables as it was, its index as text."""
    return pd.DataFrame.from_dict(rows, orient="index").infer_objects()


def text(numbers: dict[str, Any]) -> str:
    """The tables to read on a terminal."""
    heads = {
        "What every policy gets; near, fooled: passes for gold without being equivalent, without reaching the goal": numbers["audit"],
        "Rank correlation with the goal and with the damage done to gold; agreement within a task": numbers["agreement"],
        **{f"What {name} leaves to learn from, by the damage done to gold": rows for name, rows in numbers["signal"].items()},
    }
    return "\n\n".join(f"{head}\n{table(rows).to_string(float_format='{:.3f}'.format)}" for head, rows in heads.items())
