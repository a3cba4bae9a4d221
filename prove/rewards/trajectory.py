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
    turn: int = 0  # position of the user's turn in which it was made


class Step(msgspec.Struct, frozen=True):
    """One call of the ground truth; `after` holds the positions of the steps it depends on (the edges E)."""

    name: str
    arguments: dict[str, Any]
    after: tuple[int, ...] = ()
    turn: int = 0  # position of the user's turn that asks for it


class Findings(msgspec.Struct, frozen=True):
    """What is found in the live session afterwards (`prove.outcome`)."""

    done: tuple[float, ...]  # of each step, the share of what it is for that is so at the end, or was seen
    harm: float  # what was left otherwise than on any way to the goal: about 1 for a call that did so, 0 for none
    said: float | None = None  # share of the values asked for that a reply says, in their turn or later; None where none has to be
    timely: float | None = None  # share of the changes that were made in the turn that asks for them; None where there are none


class Trajectory(msgspec.Struct, frozen=True):
    """One rollout: candidate schemas by tool name, ground truth G in order, calls C in order.

    `goal` says whether the goal was reached (`prove.episode.Episode.goal_reached`); None where nobody looked, as with recorded
    messages, which have no `findings` either.
    """

    schemas: dict[str, dict[str, Any]]  # tool name -> JSON Schema of its arguments
    ground_truth: tuple[Step, ...]
    calls: tuple[Call, ...]
    goal: bool | None = None
    findings: Findings | None = None
