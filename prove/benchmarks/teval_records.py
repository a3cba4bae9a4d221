"""T-Eval's kinds of records: who judges each, what its ground truth is as a reply, and the second edition's rule for arguments."""

import json
from typing import Any

_RRU = "ReasonRetrieveUnderstandEvaluator"
#: Of each kind of file: its evaluator, the evaluator's options, and the metric of each dimension.
KINDS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "instruct": ("InstructEvaluator", {}, {"instruct": ""}),
    "plan_json": ("PlanningEvaluator", {"default_prompt_type": "json"}, {"plan": "f1_score"}),
    "plan_str": ("PlanningEvaluator", {"default_prompt_type": "str"}, {"plan": "f1_score"}),
    "reason_str": (_RRU, {"default_prompt_type": "str", "eval_type": "reason"}, {"reason": "thought"}),
    "retrieve_str": (_RRU, {"default_prompt_type": "str", "eval_type": "retrieve"}, {"retrieve": "name"}),
    "understand_str": (_RRU, {"default_prompt_type": "str", "eval_type": "understand"}, {"understand": "args"}),
    "reason_retrieve_understand_json": (
        _RRU,
        {"default_prompt_type": "json"},
        {"reason": "thought", "retrieve": "name", "understand": "args"},
    ),
    "review_str": ("ReviewEvaluator", {}, {"review": "review_quality"}),
}


def exact(said: Any, wanted: Any) -> float:
    """The second edition's rule for arguments: the share that is given as it should be, or of a text whether it is the same."""
    if not isinstance(wanted, dict):
        return float(said is not None and str(said).strip("'\"") == wanted)
    if not isinstance(said, dict) or not wanted:
        return float(said == wanted)
    return sum(str(said.get(name, object())) == str(value) for name, value in wanted.items()) / len(wanted)


def form_of(kind: str, record: dict[str, Any]) -> str:
    return record["meta_data"]["response_format"] if kind == "instruct" else kind.rpartition("_")[2]


def gold(kind: str, record: dict[str, Any]) -> str:
    """The reply that says the ground truth."""
    truth = record["ground_truth"]
    if kind == "plan_json":
        return json.dumps([{"id": step["id"], "name": step["name"], "args": step["args"]} for step in truth])
    if kind == "plan_str":  # a full stop would end the step
        return "\n".join(f"{step['args']} {step['name']}".replace(". ", ".").replace("\n", " ") for step in truth)
    if kind == "review_str":
        return f"Answer: {truth['answer']}"
    if kind == "reason_retrieve_understand_json":
        return truth if isinstance(truth, str) else json.dumps(truth)
    if kind == "instruct":
        return _instructed(record["template"], truth, record["meta_data"]["response_format"])
    fields = json.loads(truth) if isinstance(truth, str) else truth
    return str(fields[{"reason_str": "thought", "retrieve_str": "name", "understand_str": "args"}[kind]])


def _instructed(template: dict[str, str], truth: dict[str, Any], form: str) -> str:
    """The action in the form that the record asks for."""
    if form == "json":
        return json.dumps({template["thought"]: "so", template["action"]: truth["action"], template["args"]: truth["args"]})
    values = {"thought": "so", "action": truth["action"], "args": str(truth["args"])}
    return "".join(f"{template[f'{name}_start']}{value}{template[f'{name}_end']}" for name, value in values.items())
