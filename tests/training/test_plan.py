"""What training takes, before anything is fetched: the arithmetic against real architectures, and environments that agree."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from toys import toy_model, toy_tokenizer

from prove import stages
from prove.profiles import PROFILES, find
from prove.run import ModelError, RunError
from prove.training import models, plan
from prove.training.launch import Layout, choose
from prove.training.loop import adapt, local_rows
from prove.training.models import MODELS

HOME = Path(__file__).parent.parent.parent
#: Parameters in billions, as the models' cards state them.
STATED = {"qwen3-4b": 4.02, "qwen3-8b": 8.19, "qwen2.5-7b": 7.62, "qwen3-0.6b": 0.60, "qwen2.5-0.5b": 0.49, "smollm2-135m": 0.1345}


@pytest.mark.parametrize("model", STATED)
def test_parameters_are_those_of_the_real_architecture(model):
    assert plan.count(model)[1] / 1e9 == pytest.approx(STATED[model], rel=0.01)


def test_an_adapter_is_as_large_as_pefts(tmp_path):
    model = toy_model("granite-4.1-8b", toy_tokenizer("granite-4.1-8b"))
    model.save_pretrained(tmp_path)
    adapted = adapt(model, 16)
    assert plan.count(str(tmp_path))[2] * 16 == sum(p.numel() for p in adapted.parameters() if p.requires_grad)


def test_full_training_takes_what_its_tensors_take():
    """float32 weights, gradients and two moments; autocast's copies and the reference in bfloat16; a share of each where sharded."""
    size = plan.count("qwen3-8b")[1]
    alone = plan.needs(find("paper"), "qwen3-8b", Layout(gpu=True), 80)
    assert (alone.weights, alone.gradients, alone.optimiser) == pytest.approx((6 * size / 1e9, 4 * size / 1e9, 8 * size / 1e9))
    assert alone.reference == pytest.approx(2 * size / 1e9)
    shared = plan.needs(find("paper"), "qwen3-8b", Layout(8, True, sharded=True), 80)
    assert shared.optimiser == pytest.approx(alone.optimiser / 8)
    assert shared.gradients == pytest.approx(alone.gradients / 8)
    adapter = plan.needs(find("paper", lora=16), "qwen3-8b", Layout(gpu=True), 80)
    assert adapter.weights == pytest.approx(2 * size / 1e9, rel=0.02)
    assert adapter.optimiser < 0.5
    assert adapter.reference == 0


def test_a_tokens_cache_is_as_large_as_the_decoders(tmp_path):
    from prove.training.decoding import Decoder, cache_bytes

    tokenizer = toy_tokenizer("qwen3-4b")
    model = toy_model("qwen3-4b", tokenizer)
    decoder = Decoder(model, {0})
    decoder([[5] * 10], [1], [0])
    held = sum(part.numel() * part.element_size() for layer in decoder.rows[0].layers for part in layer)
    assert held == 10 * cache_bytes(model.config, 4)


def test_the_table_has_four_models_and_four_layouts_and_says_where_each_dies():
    shown = plan.shown(find("paper"), [m.name for m in MODELS.values() if m.profile == "paper"])
    assert len(shown) == 4 * 4 * 2
    dies = shown["dies in"].unstack("layout")
    full, lora = (dies.xs(kind, level="trained") for kind in ("all weights", "LoRA 16"))
    assert (full["1 x 80 GB"] != "-").all()  # 8B on one card: in the first backward pass, or before
    assert (full["8 x 80 GB"] == "-").all()
    assert (lora == "-").all(axis=None)


def test_more_rows_at_once_never_fit_where_fewer_do_not():
    profile = find("paper", lora=16)
    for card in (40, 60, 80, 141):
        found = plan.rows(profile, "granite-4.1-8b", Layout(gpu=True), card)
        fits = [not plan.needs(profile, "granite-4.1-8b", Layout(gpu=True, rows=n), card).dies for n in (1, 2, 4, 8, 16)]
        assert fits == sorted(fits, reverse=True)
        assert found == 1 or fits[[1, 2, 4, 8, 16].index(found)]


def test_a_model_that_cannot_fit_is_refused_in_one_line_before_anything_is_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("PROVE_RESULTS", str(tmp_path))
    monkeypatch.setattr(models, "_from_hub", lambda *hub: pytest.fail("fetched"))
    said = r"it needs a GPU, and this machine has none.*1 x 80 GB with an adapter.*Nothing has been fetched"
    with pytest.raises(RunError, match=said) as told:
        stages.train(find("", model="qwen2.5-7b"), "qwen2.5-7b")
    assert "\n" not in str(told.value)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(plan, "memory", lambda layout: 80.0)
    with pytest.raises(RunError, match="one GPU with 80 GB would die in starting the sampler"):
        plan.fitted(find("", model="qwen3-8b"), "qwen3-8b", Layout(gpu=True))
    assert plan.fitted(find("", model="qwen3-8b"), "qwen3-8b", Layout(8, True, sharded=True)).rows >= 1
    assert plan.fitted(find(""), "smollm2-135m", choose(0, False)) == Layout()


def test_an_empty_profile_is_the_models_own():
    assert {name: find("", model=name).name for name in MODELS} == {name: model.profile for name, model in MODELS.items()}
    assert find("").name == "small"
    assert find("", model="somebody/something").name == "paper"
    paper = find("", model="qwen2.5-7b")
    assert (paper.grpo.learning_rate, paper.grpo.steps, paper.grpo.group, paper.grpo.beta) == (3e-7, 350, 16, 0.01)
    assert paper.sft is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"method": "sfd"}, "there is no method 'sfd' \\(did you mean 'sft'"),
        ({"engine": "vlm"}, "there is no engine 'vlm' \\(did you mean 'vllm'"),
        ({"name": "papre"}, "there is no profile 'papre'"),
    ],
)
def test_a_misspelt_word_is_an_error_that_names_what_there_is(words, said):
    with pytest.raises(LookupError, match=said):
        find(**{"name": "paper"} | words)


def test_each_row_of_the_papers_tables_is_one_parameter():
    base = find("paper", model="qwen3-4b")
    assert find("paper", model="qwen3-4b", learning_rate=5e-8) == msgspec.structs.replace(
        base, grpo=msgspec.structs.replace(base.grpo, learning_rate=5e-8), variant="5e-08"
    )
    sft = find("paper", model="qwen3-4b", method="sft")
    assert sft.grpo is None
    assert sft.sft.steps * sft.sft.batch == pytest.approx(3 * PROFILES["paper"].train.n, abs=sft.sft.batch)
    assert find("smoke", lora=4).lora_rank == 4
    assert len({find("paper", reward=reward).variant for reward in ("paper", "effect")}) == 2


def test_a_batch_that_does_not_divide_is_an_error_that_names_the_numbers(monkeypatch):
    monkeypatch.setattr("prove.training.loop.PartialState", lambda: type("S", (), {"num_processes": 3}))
    assert local_rows(12, 2, "rollouts") == 2
    with pytest.raises(ValueError, match="256 rollouts a step do not divide into 3 processes with 1 at a time"):
        local_rows(256, 1, "rollouts")


def test_the_hub_is_asked_for_both_names_of_granite(monkeypatch):
    from huggingface_hub.errors import RepositoryNotFoundError

    asked = []

    def hub(name, allow_patterns):
        asked.append(name)
        if len(asked) == 1:
            raise RepositoryNotFoundError("404", response=type("R", (), {"headers": {}, "request": None, "status_code": 404})())
        return f"/hub/{name}"

    monkeypatch.setattr("huggingface_hub.snapshot_download", hub)
    assert models.locate("granite-4.1-8b") == Path("/hub/ibm-granite/granite-4.1-8b-instruct")
    assert asked == ["ibm-granite/granite-4.1-8b", "ibm-granite/granite-4.1-8b-instruct"]
    asked.clear()
    with pytest.raises(ModelError, match="the hub has no model 'somebody/none'"):
        models.locate("somebody/none")


LOCKS = ("requirements-gpu.lock", "requirements.lock")


def test_the_environment_for_gpus_is_the_projects_and_vllm():
    project = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    gpu, ours = ({n: v for n, _, v in (line.partition("==") for line in (HOME / f).read_text().splitlines())} for f in LOCKS)
    pinned = dict(d.split("==") for d in extras["gpu"] if "==" in d)
    assert pinned.keys() == {"torch", "transformers", "trl", "peft", "vllm"}
    assert {name: gpu[name] for name in pinned} == pinned
    assert {name: ours[name] for name in pinned if name != "vllm"} == {n: v for n, v in pinned.items() if n != "vllm"}
    wanted = {re.match(r"[\w.-]+", d).group().lower() for d in project["dependencies"] + extras["train"]}
    assert wanted <= {name.split("[")[0].lower() for name in gpu}
    assert "-r requirements-gpu.lock" in (HOME / "environment-gpu.yml").read_text()


def test_sharded_layouts_never_read_a_model_on_one_process_alone():
    """The reference would be empty on the others."""
    from prove.training.launch import arguments

    words = arguments(Path("run"), Layout(8, True, sharded=True))
    assert words[words.index("--fsdp_cpu_ram_efficient_loading") + 1] == "false"
