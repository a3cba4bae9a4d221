"""Scores a policy on a benchmark: a reference policy, a local model, or a model behind an endpoint. `prove evaluate` and notebook 05
call it."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from prove.benchmarks import report
from prove.benchmarks.contract import Policy
from prove.benchmarks.reference import POLICIES
from prove.benchmarks.runner import SILENCE, Spec, play
from prove.benchmarks.worker import ADAPTERS
from prove.policies import Endpoint
from prove.progress import Progress
from prove.run import Run, results, write_json
from prove.servers.errors import did_you_mean


class Who(msgspec.Struct, frozen=True):
    """Who answers: the name of a reference policy, a local model, or a model behind an endpoint (then both are given)."""

    policy: str = ""
    model: str = ""
    endpoint: str = ""
    temperature: float = 0.0
    reply_tokens: int = 1024
    dtype: str = ""  # of a local model, the device's own by default


def evaluate(
    benchmark: str,
    who: Who,
    user: Who | None = None,
    subset: str = "",
    limit: int = 0,
    trials: int = 1,
    workers: int = 1,
    options: dict[str, Any] | None = None,
    python: str = "",
    silence: float = SILENCE,
) -> tuple[Run, dict[str, Any]]:
    """(the run, its summary); a model's summary is also kept in `results/benchmarks/`, with what doing nothing scores as `floor`.

    `options` are the adapter's, `python` an interpreter that has the benchmark. Raises LookupError for unknown names and `RunError`
    for whatever cannot be played.
    """
    for what, given, known in (("benchmark", benchmark, ADAPTERS), ("policy", who.policy or "gold", POLICIES)):
        if given not in known:
            raise LookupError(f"there is no {what} {given!r}{did_you_mean(given, known)}; there are: {', '.join(known)}")
    if not (who.policy or who.model):
        raise LookupError("say who answers: a model, a model behind an endpoint, or a reference policy")
    spec = Spec(benchmark, _name(who), options or {}, _name(user) if user else "", _sampling(who), bool(who.policy))
    common = {"subset": subset, "limit": limit, "python": python, "silence": silence, "workers": workers}
    floor = None
    if not who.policy:
        nothing = msgspec.structs.replace(spec, policy="silent", reference=True, user="", sampling={})
        floor = report.summary(*_played(nothing, None, None, trials=1, **common), subset)["score"]
    run, rows, asked = _played(spec, _policy(who), _policy(user) if user else None, trials=trials, **common)
    found = report.summary(run, rows, asked, subset) | {"floor": floor}
    if not who.policy:
        name = "-".join(part for part in (benchmark, subset, spec.policy, f"{spec.user}" if user else "") if part)
        write_json(results() / "benchmarks" / f"{_file(name)}.json", msgspec.to_builtins(found))
    return run, found


def _played(spec: Spec, agent: Policy | None, user: Policy | None, **how: Any) -> tuple[Run, list[dict[str, Any]], int]:
    with Progress(f"{spec.benchmark}, {spec.policy}") as tell:
        return play(spec, agent, user, tell=tell, **how)


def _name(who: Who) -> str:
    """How a result is labelled; a folder by the digest of its weights, so that other weights are another model."""
    folder = Path(who.model).expanduser()
    if who.policy or who.endpoint or not folder.is_dir():
        return who.policy or (f"{who.model} at {who.endpoint}" if who.endpoint else who.model)
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return f"{folder.resolve().name}@{digest.hexdigest()}"


def _sampling(who: Who) -> dict[str, Any]:
    if who.policy:
        return {}
    return {"temperature": who.temperature, "max_tokens": who.reply_tokens} | ({"dtype": who.dtype} if who.dtype else {})


def _policy(who: Who) -> Policy | None:
    if who.policy:
        return None
    if who.endpoint:
        return Endpoint(who.model, who.endpoint, temperature=who.temperature, max_tokens=who.reply_tokens)
    from prove.benchmarks.local import LocalChat  # torch, only where a model is computed here

    return LocalChat(who.model, who.temperature, who.reply_tokens, who.dtype)


def _file(name: str) -> str:
    return "".join(c if c.isalnum() or c in ".-_@" else "-" for c in name)
