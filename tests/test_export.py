"""What is handed on: a data set that others load whole, a card that tells the truth, and questions that come from elsewhere."""

import json
import re
import subprocess
import sys

import msgspec
import pytest
from datasets import load_dataset
from hypothesis import given, settings
from hypothesis import strategies as st

from prove.benchmarks.heldout import evaluate
from prove.episode import Episode
from prove.policies import SILENT
from prove.records import BadRecord, Conversation, read_conversations, write_conversations
from prove.run import RunError
from prove.synthesis.data import abstention
from prove.synthesis.data.dataset import item, synthesize
from prove.synthesis.data.export import export, record, row, split_of
from prove.synthesis.data.plan import PAPER_MIX, WORLDS, Plan

MIX = tuple(PAPER_MIX.items())
SERVERS = ("banking", "calendar")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    plans = {split: Plan(n, 3, SERVERS, split, MIX) for split, n in (("train", 14), ("validation", 3), ("heldout", 4))}
    return [synthesize(plan, folder / f"{split}.jsonl") for split, plan in plans.items()]


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported") / "set"
    export(files, out, heldout_servers=["calendar"])
    return out


def test_others_load_every_record_as_it_is_in_the_json_lines(files, folder, tmp_path):
    loaded = load_dataset(str(folder), cache_dir=str(tmp_path))
    assert set(loaded) == {"train", "validation", "heldout_worlds", "heldout_servers"}
    for split, rows in loaded.items():
        assert [record(r) for r in rows] == read_conversations(folder / "jsonl" / f"{split}.jsonl")
    everything = [c for file in files for c in read_conversations(file)]
    again = [record(r) for rows in loaded.values() for r in rows]
    assert sorted(again, key=lambda c: c.id) == sorted(everything, key=lambda c: c.id)


def test_no_two_splits_share_a_world_and_a_held_out_server_is_in_one_split(folder):
    splits = {p.stem: read_conversations(p) for p in (folder / "jsonl").iterdir()}
    worlds = [{(c.server, c.seed) for c in split} for split in splits.values()]
    assert sum(map(len, worlds)) == len(set().union(*worlds))
    assert {c.server for c in splits["heldout_servers"]} == {"calendar"}
    assert all(c.server != "calendar" for name, split in splits.items() if name != "heldout_servers" for c in split)
    assert all(c.split == "heldout" for c in splits["heldout_worlds"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(value=JSON, arguments=st.dictionaries(st.sampled_from(["value", "origin", "x"]), JSON, max_size=3))
@settings(max_examples=100, deadline=None)
def test_whatever_a_call_says_survives_being_a_row(value, arguments):
    turn = {"user": "u", "level": "complete", "reply": "r", "calls": [{"id": "c1", "name": "n", "arguments": arguments}]}
    turn["answers"] = [{"call": "c1", "path": "p", "value": value}]
    plain = {"id": "a", "server": "b", "seed": 1, "kind": "multi_turn", "persona": "", "today": "2026-01-01", "tools": [], "turns": [turn]}
    plain |= {"distractors": [], "stripped_enums": False, "certificate": None, "split": "train", "schemas": {"f": {"value": value}}}
    conversation = msgspec.convert(plain, Conversation)
    assert record(json.loads(json.dumps(row(conversation)))) == conversation


def read_one():
    return item(Plan(1, servers=("banking",)), 0)[0]


def test_the_same_files_give_the_same_bytes(files, folder, tmp_path):
    export(files, tmp_path / "again", heldout_servers=["calendar"])
    paths = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    assert len(paths) == 9
    assert all((folder / p).read_bytes() == (tmp_path / "again" / p).read_bytes() for p in paths)


def test_the_card_says_what_is_in_the_data(files, folder):
    import yaml

    _, header, text = (folder / "README.md").read_text().split("---\n", 2)
    facts = yaml.safe_load(header)
    assert facts["license"] == ["apache-2.0"]
    assert facts["size_categories"] == ["n<1K"]
    assert [f["split"] for f in facts["configs"][0]["data_files"]] == ["train", "validation", "heldout_worlds", "heldout_servers"]
    assert all((folder / f["path"]).exists() for f in facts["configs"][0]["data_files"])
    conversations = [c for file in files for c in read_conversations(file)]
    share = 100 * sum(c.kind == "clarification" for c in conversations) / len(conversations)
    assert f"| clarification | {share:.1f} % |" in text
    assert re.search(rf"\| scripted \| {len(conversations)} \| apache-2.0 \|", text)
    assert all(f.with_name(f.stem + ".rejects.jsonl").read_text().splitlines()[0] in text for f in files)
    calls = sum(len(c.calls) for c in conversations) / len(conversations)
    assert f"| ground-truth calls | {calls:.1f} |" in text


def test_a_folder_in_use_an_empty_file_and_a_repeated_id_are_refused_in_a_line(files, folder, tmp_path):
    with pytest.raises(RunError, match="is not an empty folder"):
        export(files, folder)
    write_conversations(tmp_path / "none.jsonl", [])
    with pytest.raises(RunError, match=r"no conversation in .*none\.jsonl"):
        export([tmp_path / "none.jsonl"], tmp_path / "x")
    with pytest.raises(BadRecord, match="is also in"):
        export([files[0], files[0]], tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_the_command_line_exports(files, tmp_path):
    words = ["export", *map(str, files), "--out", str(tmp_path / "set"), "--heldout-servers", "calendar"]
    done = subprocess.run([sys.executable, "-m", "prove", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "train"
    assert (tmp_path / "set" / "README.md").exists()


# --- questions from elsewhere

WEATHER = {
    "name": "weather.today",
    "description": "The weather of a city.",
    "parameters": {"type": "dict", "properties": {"city": {"type": "string", "description": "a city"}}, "required": ["city"]},
}
PRIMES = {
    "name": "primes",
    "description": "The first primes.",
    "parameters": {
        "n": {"description": "how many", "type": "int"},
        "below": {"description": "a bound", "type": "float, optional"},
        "skip": {"description": "left out", "type": "List[int]", "default": "[]"},
    },
}


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """Small sets with the columns, files and configurations of the public ones."""
    home = tmp_path_factory.mktemp("sets")
    first = home / "nvidia" / "When2Call"
    (first / "train").mkdir(parents=True)
    (first / "README.md").write_text(
        "---\nconfigs:\n- config_name: train_sft\n  data_files:\n  - split: train\n    path: train/when2call_train_sft.jsonl\n---\n"
    )
    refusals = [("user", f"Who won the cup in {1950 + n}?", "I have no tool that knows.") for n in range(32)]
    called = ("user", "What is the weather in Rome?", '<TOOLCALL>[{"name": "weather.today", "arguments": {"city": "Rome"}}]</TOOLCALL>')
    rows = [
        {"tools": [json.dumps(WEATHER)], "messages": [{"role": role, "content": said}, {"role": "assistant", "content": reply}]}
        for role, said, reply in [*refusals, called]
    ]
    (first / "train" / "when2call_train_sft.jsonl").write_text("\n".join(map(json.dumps, rows)))
    second = home / "MadeAgents" / "xlam-irrelevance-7.5k"
    second.mkdir(parents=True)
    columns = [{"query": f"Sing me song {n}.", "tools": json.dumps([PRIMES]), "answers": "[]"} for n in range(32)]
    called = {"query": "Three primes", "tools": json.dumps([PRIMES]), "answers": '[{"name": "primes"}]'}
    columns += [{"query": "Sing.", "tools": "[]", "answers": "[]"}, called]
    (second / "xlam-7.5k-irrelevancek.json").write_text(json.dumps(columns))
    return str(home)


def test_rows_that_call_something_or_offer_nothing_are_left_out(sets):
    one, two = (abstention.questions(sets, s) for s in abstention.SETS)
    assert [q.row for q in one] == [q.row for q in two] == list(range(32))
    assert one[3].user == "Who won the cup in 1953?"
    assert one[3].reply == "I have no tool that knows."


def test_their_schemas_become_ours(sets):
    one, two = (abstention.questions(sets, s)[0].functions for s in abstention.SETS)
    city = {"type": "string", "description": "a city"}
    assert one["weather_today"]["function"]["parameters"] == {"type": "object", "properties": {"city": city}, "required": ["city"]}
    parameters = two["primes"]["function"]["parameters"]
    assert {n: p["type"] for n, p in parameters["properties"].items()} == {"n": "integer", "below": "number", "skip": "array"}
    assert parameters["required"] == ["n"]


def test_abstentions_from_elsewhere_say_where_they_are_from_and_play_like_any_other(sets, tmp_path):
    plan = Plan(12, servers=("banking",), mix=(("multi_turn", 1), ("abstention", 1)))
    one = synthesize(plan, tmp_path / "one.jsonl", outside=sets)
    two = synthesize(plan, tmp_path / "two.jsonl", outside=sets, workers=2)
    assert one.read_bytes() == two.read_bytes()
    made = read_conversations(one)
    asked = [c for c in made if c.kind == "abstention"]
    assert len(asked) == 6
    assert {c.source for c in asked} <= {s.name for s in abstention.SETS}
    assert {c.source for c in made if c.kind != "abstention"} == {"scripted"}
    scores = evaluate(SILENT, asked)
    assert all(s.goal and s.reward == 1.0 for s in scores)
    episode = Episode(asked[0])
    assert [t["function"]["name"] for t in episode.tools] == list(episode.schemas) == list(asked[0].schemas)
    export([one], tmp_path / "set")
    assert read_conversations(tmp_path / "set" / "jsonl" / "train.jsonl") == made
    assert "| cc-by-4.0 |" in (tmp_path / "set" / "README.md").read_text()
    with pytest.raises(RunError, match="made with other settings"):
        synthesize(plan, one)


def test_no_split_shares_a_question_from_elsewhere(sets):
    rows = {}
    for split in WORLDS:
        asked = [abstention.abstention(sets, 0, i, split, "banking", WORLDS[split][0]) for i in range(40)]
        rows[split] = {(c.source, c.turns[0].user) for c in asked}
    assert sum(map(len, rows.values())) == len(set().union(*rows.values()))


def test_sets_that_are_not_there_are_named(tmp_path):
    with pytest.raises(RunError, match=r"nvidia/When2Call cannot be loaded: .* is no folder"):
        abstention.questions(str(tmp_path), abstention.SETS[0])
    assert "cannot be loaded" in abstention.reachable(str(tmp_path))


def test_without_the_hub_our_own_questions_stand_in_and_it_is_said(tmp_path):
    words = ["synthesize", "-n", "3", "--servers", "banking", "--abstention", "hub", "--out", str(tmp_path / "a.jsonl")]
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "PATH": "", "PROVE_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "prove", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "our own irrelevant questions stand in" in done.stderr
    assert {c.source for c in read_conversations(tmp_path / "a.jsonl")} == {"scripted"}


# --- many machines


def test_a_ray_cluster_gives_the_same_bytes(tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is an optional extra: pip install 'prove-rl[distributed]'")
    plan = Plan(6, servers=("banking",), mix=MIX)
    here = synthesize(plan, tmp_path / "here.jsonl")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        there = synthesize(plan, tmp_path / "there.jsonl", workers=2, ray=True)
    finally:
        ray.shutdown()
    assert here.read_bytes() == there.read_bytes()
    assert here.with_name("here.rejects.jsonl").read_bytes() == there.with_name("there.rejects.jsonl").read_bytes()


def test_without_ray_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.util.multiprocessing", None)
    with pytest.raises(RunError, match="Ray is not installed"):
        synthesize(Plan(1), tmp_path / "a.jsonl", ray=True)


def test_a_split_is_a_matter_of_the_server_first_and_of_the_world_then():
    one = read_one()
    names = {s: split_of(msgspec.structs.replace(one, split=s), ()) for s in WORLDS}
    assert names == {"train": "train", "validation": "validation", "heldout": "heldout_worlds"}
    assert split_of(one, ["banking"]) == "heldout_servers"
