"""What a reward looks at: the tools a policy could see, what it did, and what it should have done."""

from typing import Any

import msgspec


class Call(msgspec.Struct, frozen=True):
    """One call of the policy and whether the live execution succeeded.

    A reply in which no call could be read is a call too: `Call("", None, False)`.
    """

    name: str
    arguments: Any
    ok: bool


class Step(msgspec.Struct, frozen=True):
    """One call of the ground truth; `after` holds the positions of the steps it depends on (the edges E)."""

    name: str
    arguments: dict[str, Any]
    after: tuple[int, ...] = ()


class Trajectory(msgspec.Struct, frozen=True):
    """One rollout: candidate schemas by tool name, ground truth G in order, calls C in order.

    `goal` says whether the goal was reached (`prove.episode.Episode.goal_reached`); None where nobody looked.
    """

    schemas: dict[str, dict[str, Any]]  # tool name -> JSON Schema of its arguments
    ground_truth: tuple[Step, ...]
    calls: tuple[Call, ...]
    goal: bool | None = None
