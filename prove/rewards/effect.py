"""The project's own reward: what came of it, and not how it was called.

    goal reached:  0.80 + 0.08 economy + 0.06 said + 0.06 timely               1 for the ground truth, never below 0.80
    goal missed:   0.60 done - 0.08 (1 - economy) - 0.60 harm / n              at most 0.60
    nothing to do: 0.5 ^ calls

n is the number of the ground truth's steps.

- `done` is the mean over them of the share of their effect that is there: changes that hold at the end, facts and values that were
  seen, whoever showed them (`prove.outcome`). A wanted thing that is done wrongly is as good as undone.
- `harm` is what becomes of other records: the first call that leaves one otherwise costs what a step earns, each other one a
  tenth, so that touching what nobody asked about always pays less than leaving it alone.
- `economy` is the ground truth's calls over those made, at most 1. Calls cost in misses too, or a policy that misses grows wordy.
- `said` is the share of the values asked for that a reply says, in their turn or later; `timely` the share of the changes that were
  made in the turn that asks for them. Both count once the goal is reached, and never as much as it.

Other calls to the same effect earn the same, a look more or a refusal that is recovered from costs a little economy, and a mistake
that was put right nothing else. Why these terms and no others: docs/reward.md.
"""

from prove.rewards.components import in_order
from prove.rewards.explanation import Explanation
from prove.rewards.matching import match
from prove.rewards.trajectory import Findings, Trajectory

VALUES = ("done", "harm", "economy", "said", "timely")  # what is told beside the goal
GOAL, ECONOMY, SAID, TIMELY = 0.80, 0.08, 0.06, 0.06
AS_CALLED = "No state was looked at: for effect, a step is done where it was called as the ground truth calls it, the goal where all are."
DONE = 0.60  # of a miss in which everything is done


def effect(trajectory: Trajectory) -> Explanation:
    """The reward of a rollout, 1 for the ground truth."""
    steps, calls = trajectory.ground_truth, len(trajectory.calls)
    n = len(steps)
    if not n:
        return Explanation(trajectory, {"abstention": 0.5**calls})
    found = trajectory.findings or as_called(trajectory)
    notes: tuple[str, ...] = () if trajectory.findings else (AS_CALLED,)
    notes += tuple(f"step {i + 1}  {step.name}: {found.done[i]:.0%} of its effect is there" for i, step in enumerate(steps))
    reached = trajectory.goal if trajectory.goal is not None else min(found.done) == 1.0
    economy = min(1.0, n / calls) if calls else 1.0
    if reached:
        said, timely = (1.0 if share is None else share for share in (found.said, found.timely))
        values = {"economy": economy, "said": said, "timely": timely}
        added = {"goal": GOAL, "economy": ECONOMY * economy, "said": SAID * said, "timely": TIMELY * timely}
    else:
        values = {"done": sum(found.done) / n, "economy": economy, "harm": float(found.harm)}
        added = {"done": DONE * values["done"], "economy": -ECONOMY * (1.0 - economy), "harm": -DONE * found.harm / n}
    return Explanation(trajectory, added, values, notes=notes)


def as_called(trajectory: Trajectory) -> Findings:
    """What can be told of a rollout whose session nobody has: the steps that were called as they should be, in order."""
    matches = match(trajectory)
    right = {m.step for m in in_order(trajectory.ground_truth, matches) if m.equal == 1.0 and trajectory.calls[m.call].ok}
    return Findings(tuple(float(i in right) for i in range(len(trajectory.ground_truth))), 0)
