"""All that a policy could do on a short task: every sequence of right, wrong, refused, left out and tried twice, played live.

What one change of one action pays is read off these tables, and policies learn on them (`prove.audit.learning`).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from prove.audit.audit import AUDITED
from prove.audit.slips import tool
from prove.audit.weak import INVENTED, RIGHT, SKIPPED, TWICE, WRONG, perform
from prove.episode import Episode
from prove.records import Conversation
from prove.rewards import Preset, reward

ACTIONS = RIGHT + WRONG + INVENTED + SKIPPED + TWICE
LONGEST = 3  # calls of a task whose every sequence is played

Tell = Callable[[int, int], None]


class Choices:
    """One task's table. K sequences of n actions: `actions_K_n` (positions in `ACTIONS`), `made_K` (the calls of each step), `calls_K`,
    `goal_K`, `harm_K`, `rewards` (by preset, K)."""

    def __init__(self, conversation: Conversation, presets: Mapping[str, Preset]) -> None:
        self.task, n = conversation.id, len(conversation.calls)
        self.actions_K_n = np.array(list(product(range(len(ACTIONS)), repeat=n)))
        played = [self._play(conversation, row) for row in self.actions_K_n]
        session = played[0].session
        self.writes_n = np.array([tool(session, call.name).marks.writes for call in conversation.calls])
        found = [episode.trajectory() for episode in played]
        self.calls_K = np.array([len(t.calls) for t in found])
        self.goal_K = np.array([bool(t.goal) for t in found])
        self.harm_K = np.array([t.findings.harm if t.findings else 0 for t in found])
        self.made_K = [_made(e, row) for e, row in zip(played, self.actions_K_n, strict=True)]
        self.rewards = {name: np.array([reward(t, preset) for t in found]) for name, preset in presets.items()}

    def _play(self, conversation: Conversation, row: Any) -> Episode:
        return perform(conversation, lambda i: ACTIONS[row[i]], lambda i: Random(f"{conversation.id}:{i}"))


def _made(episode: Episode, row: Any) -> list[list[Any]]:
    """The calls of each step: (name, arguments), and whether it is the ground truth's own, went through and is made for the first time."""
    calls, out, known = iter(zip(episode.calls, episode.results, strict=True)), list[list[Any]](), list[Any]()
    for gold, action in zip(episode.conversation.calls, (ACTIONS[a] for a in row), strict=True):
        out.append([])
        for call, result in (next(calls) for _ in range({SKIPPED: 0, TWICE: 2}.get(action, 1))):
            deed = (call.name, call.arguments)
            out[-1].append((*deed, result.ok and deed == (gold.name, gold.arguments) and deed not in known))
            known.append(deed)
    return out


def tables(
    conversations: Sequence[Conversation], tell: Tell = lambda done, n: None, presets: Mapping[str, Preset] = AUDITED
) -> list[Choices]:
    """The tables of those tasks that have one to three calls."""
    short = [c for c in conversations if 1 <= len(c.calls) <= LONGEST]
    out = []
    for number, conversation in enumerate(short):
        out.append(Choices(conversation, presets))
        tell(number + 1, len(short))
    return out


#: What is asked of a change from one action to another.
QUESTIONS = {"less": (RIGHT, SKIPPED), "wrong": (RIGHT, WRONG), "refused": (RIGHT, INVENTED), "harm": (SKIPPED, WRONG)}


def changes(tables: Sequence[Choices]) -> pd.DataFrame:
    """One row a change of one action that should not pay, a preset: the `question`, what it `gains`, the `task` and both sequences.
    All other calls are the same.

    less: what was done right is left out; wrong: it is done with a wrong value; refused: with an argument that does not exist;
    harm: something that leaves more records otherwise is done in place of nothing.
    """
    rows = list[dict[str, Any]]()
    for it in tables:
        place = {tuple(actions): k for k, actions in enumerate(it.actions_K_n.tolist())}
        for actions, k in place.items():
            for i, action in enumerate(actions):
                for question in (q for q, (before, _) in QUESTIONS.items() if before == ACTIONS[action]):
                    other = place[(*actions[:i], ACTIONS.index(QUESTIONS[question][1]), *actions[i + 1 :])]
                    if _asked(it, question, k, other, i):
                        about = {"question": question, "task": it.task, "before": k, "after": other}
                        rows += [about | {"preset": name, "gains": r[other] - r[k]} for name, r in it.rewards.items()]
    return pd.DataFrame(rows)


def _asked(it: Choices, question: str, k: int, other: int, i: int) -> bool:
    """Whether a change is one that the question is about."""
    rest = [[call[:2] for call in step] for at, made in ((k, it.made_K[k]), (other, it.made_K[other])) for step in made[:i] + made[i + 1 :]]
    if rest[: len(rest) // 2] != rest[len(rest) // 2 :]:
        return False
    return bool(it.harm_K[other] > it.harm_K[k]) if question == "harm" else it.made_K[k][i][-1][2]


def slopes(changes: pd.DataFrame) -> pd.DataFrame:
    """Of every question and preset: `n` changes, the mean of what they cost (`costs`), the share that pays (`pays`) and that changes
    nothing (`flat`)."""
    groups = changes.groupby(["question", "preset"], sort=False).gains
    return groups.agg(
        n="size", costs=lambda g: -g.mean(), pays=lambda g: (g > 1e-9).mean(), flat=lambda g: (g.abs() <= 1e-9).mean()
    ).reset_index()
