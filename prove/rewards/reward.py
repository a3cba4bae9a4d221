"""The reward of a trajectory by any preset: a function of a trajectory that says what each component adds.

def thrifty(trajectory):
    return {"goal": float(bool(trajectory.goal)), "calls": -0.1 * len(trajectory.calls)}
"""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prove.rewards.effect import effect
from prove.rewards.explanation import Explanation, as_explanation
from prove.rewards.paper import ABLATIONS, PAPER
from prove.rewards.trajectory import Trajectory
from prove.servers.errors import did_you_mean

Preset = Callable[[Trajectory], Any]  # an Explanation, or a dict of what each component adds

PRESETS: dict[str, Preset] = {"paper": PAPER, "effect": effect, **ABLATIONS}


def explain(trajectory: Trajectory, preset: Preset = PAPER) -> Explanation:
    """The reward of a trajectory with all of its parts."""
    return as_explanation(preset(trajectory), trajectory)


def reward(trajectory: Trajectory, preset: Preset = PAPER) -> float:
    """The reward of a trajectory. An exception is a bug, never a 0."""
    return explain(trajectory, preset).total


def find(name: str) -> Preset:
    """A preset by name, or one of your own as `module:function`, of any module that Python finds or that stands in the current folder.
    Raises LookupError, naming those there are."""
    if name in PRESETS:
        return PRESETS[name]
    module, colon, function = name.partition(":")
    if colon:
        if str(Path.cwd()) not in sys.path and "" not in sys.path:  # a console script does not look there
            sys.path.append(str(Path.cwd()))
        try:
            return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]
        except (ImportError, AttributeError) as error:
            raise LookupError(f"there is no reward {name!r}: {error}") from None
    known = ", ".join(PRESETS)
    raise LookupError(f"there is no reward {name!r}{did_you_mean(name, PRESETS)}; there are: {known}, and your own as module:function")
