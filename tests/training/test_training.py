"""Training on a tiny random model with a tokenizer made here: nothing is downloaded."""

import json
from pathlib import Path
from random import Random
from types import SimpleNamespace

import msgspec
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from toys import BOTH, CARDS, conversation
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from prove.episode import Episode, Reply, ToolCall, play
from prove.policies import Oracle, Script
from prove.records import Attempt, Turn
from prove.run import RunError
from prove.servers.session import Session
from prove.training import grpo, sft, weights
from prove.training import models as entries
from prove.training.decoding import Batch, Decoder
from prove.training.models import TEMPLATE, ModelError
from prove.training.rendering import Renderer, read_reply, write_reply
from prove.training.sampler import LocalModel, Teacher

edit = msgspec.structs.replace
SPECIALS = ["<|im_end|>", "<|im_start|>"]


@pytest.fixture(scope="module")
def tokenizer():
    """A byte-level BPE of 700 tokens, trained on two conversations."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    episodes = play(Oracle(), [conversation(number, BOTH, two_turns=True) for number in (90, 91)])
    core.train_from_iterator(
        [json.dumps(e.tools) + "<tool_call>\n".join(m["content"] for m in e.messages) for e in episodes],
        trainers.BpeTrainer(vocab_size=700, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False),
    )
    made = PreTrainedTokenizerFast(tokenizer_object=core, eos_token=SPECIALS[0], pad_token=SPECIALS[0], padding_side="left")
    made.chat_template = TEMPLATE.read_text()
    return made


@pytest.fixture
def model(tokenizer):
    return tiny(tokenizer)


def tiny(tokenizer, seed=0):
    return tiny_of(len(tokenizer), seed, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)


def tiny_of(vocabulary, seed=0, **tokens):
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        initializer_range=0.2,  # far enough from uniform that greedy choices are not ties
        **tokens,
    )
    return LlamaForCausalLM(config).eval()


# --- rendering


def test_a_malformed_call_is_answered_with_an_error_and_counted():
    episode = Episode(conversation(0, CARDS))
    episode.step(read_reply('<tool_call>{"name": "list_cards"</tool_call>'))
    assert episode.calls[0].name == ""
    assert not episode.calls[0].ok
    assert not episode.done
    assert "not readable" in episode.messages[-1]["content"]


HALF = "\ud83d"
HALVED = [
    Reply(HALF),
    Reply("", [ToolCall(HALF, {})]),
    Reply("", [ToolCall("list_cards", {"kind": HALF})]),
    Reply("", [ToolCall("", HALF)]),
]


@pytest.mark.parametrize("reply", HALVED)
def test_half_of_a_surrogate_pair_is_rendered_as_it_is_recorded(tokenizer, reply):
    teacher, episode = Teacher(Script(lambda _: reply), tokenizer), Episode(conversation(0, CARDS))
    for _ in range(2):
        episode.step(teacher.reply([episode])[0])
    assert "\\ud83d" in tokenizer.decode(teacher.track(episode).completion)
    assert "\\\\ud83d" in msgspec.json.encode(episode.messages).decode()
    assert not any(call.ok for call in episode.calls)


def test_a_prompt_lists_its_own_tools_and_no_others(tokenizer):
    renderer = Renderer(tokenizer)
    for tools in (CARDS, BOTH):
        episode = Episode(conversation(0, tools))
        text = tokenizer.decode(renderer.prompt(episode.messages, episode.tools))
        shown = [json.JSONDecoder().raw_decode(line)[0]["name"] for line in text.splitlines() if line.startswith('{"name":')]
        assert shown == sorted(tools)


def test_what_is_recorded_equals_the_whole_conversation_rendered(tokenizer):
    """Turn by turn, token by token, over tool results and a second user turn."""
    teacher = Teacher(Oracle(), tokenizer)
    for episode in play(teacher, [conversation(0, BOTH, two_turns=True), conversation(1, CARDS)]):
        recorded = tokenizer.decode(teacher.track(episode).tokens)
        whole = tokenizer.apply_chat_template(episode.messages, tools=episode.tools, tokenize=False)
        assert recorded == whole.removesuffix("\n")


# --- sampling


def test_greedy_is_what_generate_says_also_in_later_turns(model, tokenizer):
    """Three episodes of different lengths in one batch, two of them with the same prompt, against one at a time."""
    made = [conversation(0, CARDS), conversation(0, CARDS), conversation(1, BOTH, two_turns=True)]
    policy = LocalModel(model, tokenizer, reply_tokens=12, episode_tokens=4000)
    episodes = [Episode(c) for c in made]
    for _ in range(3):
        before = [list(policy.recorder.read(e).tokens) for e in episodes]
        replies = policy.reply(episodes)
        for episode, context, reply in zip(episodes, before, replies, strict=True):
            ids_1_T = torch.tensor([context])
            ids_T = model.generate(ids_1_T, attention_mask=torch.ones_like(ids_1_T), max_new_tokens=12, do_sample=False)[0]
            assert policy.track(episode).tokens == ids_T.tolist()
            # whatever it said, go on as if it had called a tool
            episode.step(Reply(reply.content, [ToolCall("list_cards", {})]))


@pytest.fixture
def fed(monkeypatch):
    """How many tokens each row was given, a list each time that a batch is fed."""
    lengths, original = [], Batch.feed
    monkeypatch.setattr(Batch, "feed", lambda self, chunks: lengths.append([len(c) for c in chunks]) or original(self, chunks))
    return lengths


def test_the_cache_is_used_where_a_context_goes_on_and_only_there(model, fed):
    decoder = Decoder(model, {0})
    start = list(range(5, 25))
    (first, _), (second, _) = decoder([start, start], [1, 1], [0, 1])
    assert fed == [[20]]  # one prefill for both
    decoder([[*start, *first, 7, 8], [*start, *second, 9]], [1, 1], [2, 3])
    assert fed[1:] == [[len(second) + 1], [len(first) + 2]]
    decoder([[9, *start]], [1], [4])
    assert fed[3:] == [[21]]


def test_texts_of_different_lengths_are_not_padded_to_the_longest(model, fed):
    Decoder(model, {0})([[5] * 60, [6] * 10, [7] * 9, [8] * 50], [1, 1, 1, 1], [0] * 4)
    assert fed == [[9, 10], [50, 60]]


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 9), min_size=3, max_size=3)), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
def test_a_batch_says_what_each_context_would_hear_alone(rows):
    """Whatever ends first, goes on, begins or is asked twice: three rounds of one decoder against a fresh one for each context."""
    model = tiny_of(40)
    together, contexts = Decoder(model, {0}, temperature=0.0), [[2 + kind, 9, *range(20, 24 + 5 * kind)] for kind, _ in rows]
    for turn in range(3):
        limits = [budgets[turn] for _, budgets in rows]
        said = together(contexts, limits, [0] * len(rows))
        for context, limit, (ids, logprobs) in zip(contexts, limits, said, strict=True):
            ((alone, expected),) = Decoder(model, {0}, temperature=0.0)([context], [limit], [0])
            assert ids == alone
            assert logprobs == pytest.approx(expected, abs=1e-4)
        contexts = [[*context, *ids, 30 + turn] for context, (ids, _) in zip(contexts, said, strict=True)]


def test_sampling_follows_the_probabilities(model):
    """60,000 draws from five tokens, one of them impossible: each share is within four standard deviations."""
    p = torch.tensor([0.5, 0.3, 0.15, 0.05, 0.0])
    chance = Random(1)
    ids, logprobs = Decoder(model, {0})._pick(p.log().repeat(60_000, 1), [chance.random() for _ in range(60_000)])
    shares = torch.bincount(torch.tensor(ids), minlength=5) / len(ids)
    assert shares[4] == 0
    assert ((shares - p).abs() <= 4 * (p * (1 - p) / len(ids)).sqrt()).all()
    assert logprobs == pytest.approx([p[i].log().item() for i in ids])


def test_sampling_is_repeatable_and_keeps_its_log_probabilities(model):
    contexts = [[5, 6, 7], [9, 10, 11, 12]]
    a = Decoder(model, {0})(contexts, [8, 8], [3, 4])
    assert a == Decoder(model, {0})(contexts, [8, 8], [3, 4])
    assert a[0][0] == Decoder(model, {0})(contexts[:1], [8], [3])[0][0]  # whoever stands beside it
    assert a != Decoder(model, {0})(contexts, [8, 8], [5, 6])
    for context, (ids, logprobs) in zip(contexts, a, strict=True):
        logits_T_V = model(torch.tensor([context + ids])).logits[0].log_softmax(-1)
        expected = [logits_T_V[len(context) - 1 + i, token].item() for i, token in enumerate(ids)]
        assert logprobs == pytest.approx(expected, abs=1e-4)


def test_an_episode_that_spends_its_budget_is_answered_with_silence(model, tokenizer):
    policy = LocalModel(model, tokenizer, temperature=1.0, reply_tokens=30, episode_tokens=50)
    (episode,) = play(policy, [conversation(0, CARDS)])
    assert episode.done
    assert len(policy.track(episode).completion) <= 50


# --- supervised fine-tuning


def test_supervised_loss_falls_on_the_assistants_tokens_only(tokenizer):
    (row,) = sft.rows(tokenizer, [conversation(0, BOTH, two_turns=True)], 10_000)
    said = tokenizer.decode([i for i in row["labels"] if i != -100])
    assert said.count("<|im_end|>") == 6
    assert "It is frozen." in said
    assert "That much." in said
    assert "last_four" not in said
    assert "Freeze my card" not in said


def test_a_refused_call_is_read_with_its_refusal_and_a_mistake_is_not_learnt(tokenizer):
    """A mistake, its correction, and a call that is right to try: all of it is in the text, the mistake carries no loss."""
    record = conversation(0, [*BOTH, "unfreeze_card"])
    listed, freeze = record.turns[0].calls
    session, wrong = Session.open("banking", record.seed), {"card_id": "the blue card"}
    refused = [session.call("freeze_card", wrong).value["error"]]
    mistake = Attempt("c1", "freeze_card", wrong, refused[0]["code"], refused[0]["message"])
    assert all(session.call(c.name, c.arguments).ok for c in (listed, freeze))
    again = dict(freeze.arguments)
    refused.append(session.call("freeze_card", again).value["error"])
    tried = Attempt("", "freeze_card", again, refused[1]["code"], refused[1]["message"], "give_up")
    turns = [edit(record.turns[0], attempts=[mistake]), Turn("Freeze it once more.", "complete", [], "It is frozen already.", [], [tried])]
    (row,) = sft.rows(tokenizer, [edit(record, turns=turns)], 10_000)
    text, learnt = (tokenizer.decode([i for i in ids if i != -100]) for ids in (row["input_ids"], row["labels"]))
    calls = [write_reply(Reply("", [ToolCall(c.name, c.arguments)])) for c in (mistake, listed, freeze, tried)]
    assert [text.index(call) for call in calls[:3]] == sorted(text.index(call) for call in calls[:3])
    assert text.count(calls[2]) == 2
    assert all(json.dumps(error["message"], ensure_ascii=False)[1:-1] in text for error in refused)
    assert calls[0] not in learnt
    assert calls[1] in learnt
    assert learnt.count(calls[2]) == 2
    assert not any(error["message"][:30] in learnt for error in refused)
    assert learnt.count("<|im_end|>") == 5  # three calls and two replies


def test_supervised_training_learns_its_rows_and_goes_on_after_a_stop(tokenizer, tmp_path):
    data, steps = [conversation(i, CARDS) for i in range(2)], []
    config = sft.SFT(steps=6, batch=2, learning_rate=1e-2, save_every=3)
    trained = sft.train(tiny(tokenizer), tokenizer, data, config, tmp_path, steps.append)
    assert [s["step"] for s in steps] == [1, 2, 3, 4, 5, 6]
    assert steps[-1]["loss"] < steps[0]["loss"]
    again: list[dict] = []
    longer = sft.SFT(steps=8, batch=2, learning_rate=1e-2, save_every=3)
    sft.train(trained, tokenizer, data, longer, tmp_path, again.append)
    assert [s["step"] for s in again] == [7, 8]


# --- GRPO


def small(**changes):
    base = {
        "learning_rate": 1e-2,
        "steps": 2,
        "prompts_per_step": 2,
        "group": 4,
        "reply_tokens": 48,
        "episode_tokens": 1500,
        "rows": 4,
        "share_prompts": True,
    }
    return grpo.GRPO(**base | changes)


class Helped:
    """Stands in for the decoder: samples, but half of the time the right call, so that groups differ and tools run."""

    def __init__(self, renderer):
        self.call = renderer.reply(Reply("", [ToolCall("list_cards", {})]))
        self.asked = 0

    def room(self, tokens):
        return None

    def __call__(self, contexts, limits, seeds):
        out = []
        for _context, limit in zip(contexts, limits, strict=True):
            self.asked += 1
            ids = (self.call if self.asked % 2 else [40 + self.asked % 50, 0])[:limit]
            out.append((ids, [float("nan")] * len(ids)))
        return out


@pytest.fixture
def helped(monkeypatch, tokenizer):
    helper = Helped(Renderer(tokenizer))
    monkeypatch.setattr(grpo, "LocalModel", lambda model, tok, **rest: LocalModel(model, tok, **rest | {"engine": helper}))
    return helper


@pytest.fixture
def watched(monkeypatch):
    """Catches the per-token log-probabilities that the loss is made of, with their gradients."""
    seen = []
    score, loss = grpo.TreeTrainer._get_per_token_logps_and_entropies, grpo.TreeTrainer._compute_loss

    def keep(self, *args, **kwargs):
        out = score(self, *args, **kwargs)
        if out[0].requires_grad:
            out[0].retain_grad()
            seen[-1]["logprobs"] = out[0]
        return out

    def compute(self, model, inputs):
        seen.append({"inputs": inputs})
        return loss(self, model, inputs)

    monkeypatch.setattr(grpo.TreeTrainer, "_get_per_token_logps_and_entropies", keep)
    monkeypatch.setattr(grpo.TreeTrainer, "_compute_loss", compute)
    return seen


def test_only_sampled_tokens_carry_loss_and_two_steps_move_the_weights(tokenizer, tmp_path, helped, watched):
    data = [conversation(0, CARDS), conversation(1, BOTH, two_turns=True)]
    model, steps = tiny(tokenizer), []
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    trained = grpo.train(model, tokenizer, data, small(beta=0.01), tmp_path, steps.append)
    environment = sampled = 0
    for step in watched:
        real_B_C, mine_B_C = step["inputs"]["completion_mask"].bool(), step["inputs"]["tool_mask"].bool()
        gradient_B_C = step["logprobs"].grad
        environment += int((real_B_C & ~mine_B_C).sum())
        assert gradient_B_C[real_B_C & ~mine_B_C].abs().sum() == 0
        assert gradient_B_C[~real_B_C].abs().sum() == 0
        sampled += int((gradient_B_C[real_B_C & mine_B_C] != 0).sum())
    assert environment > 100
    assert sampled > 20
    assert all((p != before[name]).any() for name, p in trained.named_parameters())
    assert [s["step"] for s in steps] == [1, 2]
    assert {"reward", "validity", "coverage", "goal", "calls", "dropped", "kl", "loss", "seconds"} <= steps[0].keys()
    assert steps[0]["dropped"] == 0
    assert 0 < steps[0]["reward"] < 1.3


def test_rows_without_padding_and_trees_give_trls_numbers_and_gradients(tokenizer, tmp_path, helped, watched, monkeypatch):
    gradients = {}
    for way in ("trl", "rows", "tree", "fused"):
        watched.clear()
        monkeypatch.setattr(grpo.TreeTrainer, "own_forward", way != "trl")
        monkeypatch.setattr(grpo.TreeTrainer, "fused", way == "fused")
        helped.asked = 0  # the same samples again
        grpo.train(
            tiny(tokenizer),
            tokenizer,
            [conversation(0, CARDS), conversation(1, BOTH)],
            small(steps=1, rows=8, share_prompts=way in ("tree", "fused")),
            tmp_path / way,
        )
        step = watched[0]
        mine_B_C = step["inputs"]["completion_mask"] * step["inputs"]["tool_mask"]
        gradients[way] = step["logprobs"].detach() * mine_B_C, step["logprobs"].grad * mine_B_C
    for way in ("rows", "tree", "fused"):
        torch.testing.assert_close(gradients[way], gradients["trl"], atol=2e-4, rtol=1e-3)


def test_an_adapter_alone_is_trained(tokenizer, tmp_path, helped):
    model, model_before = tiny(tokenizer), tiny(tokenizer)
    trained = grpo.train(model, tokenizer, [conversation(0, CARDS), conversation(1, BOTH)], small(lora_rank=4, steps=1), tmp_path)
    plain = dict(weights.plain_weights(trained))
    assert plain.keys() == dict(model_before.named_parameters()).keys()
    assert torch.equal(plain["model.embed_tokens.weight"], model_before.model.embed_tokens.weight)
    moved = [name for name, weight in plain.items() if not torch.equal(weight, model_before.get_parameter(name))]
    assert len(moved) == 14  # every linear layer of both blocks


def test_an_episode_that_dies_is_played_again_and_then_dropped_not_scored(tokenizer, tmp_path, helped, monkeypatch):
    data, steps, deaths = [conversation(0, CARDS), conversation(1, BOTH)], [], []
    call = Session.call

    def fragile(self, name, arguments):
        if len(deaths) < 2:  # the first episode dies, and its second life too
            deaths.append(name)
            raise ConnectionError("the server went away")
        return call(self, name, arguments)

    monkeypatch.setattr(Session, "call", fragile)
    # one group of two: whoever dies first is played again alone
    grpo.train(tiny(tokenizer), tokenizer, data, small(steps=1, prompts_per_step=1, group=4), tmp_path, steps.append)
    assert len(deaths) == 2
    assert steps[0]["dropped"] in (0, 1)
    assert steps[0]["reward"] > 0.1


def test_training_goes_on_from_its_last_whole_checkpoint(tokenizer, tmp_path, helped):
    data = [conversation(0, CARDS), conversation(1, BOTH)]
    grpo.train(tiny(tokenizer), tokenizer, data, small(steps=2, save_every=1), tmp_path)
    (tmp_path / "checkpoints" / "checkpoint-2" / "trainer_state.json").unlink()  # as a kill in the middle of it leaves it
    steps: list[dict] = []
    grpo.train(tiny(tokenizer), tokenizer, data, small(steps=3, save_every=1), tmp_path, steps.append)
    assert [s["step"] for s in steps] == [2, 3]


def test_a_disk_too_small_for_the_checkpoints_is_said_before_the_first_step(tokenizer, tmp_path, helped, monkeypatch):
    model, data, steps = tiny(tokenizer), [conversation(0, CARDS)], []
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=7 * weights - 1))  # the model and two checkpoints
    with pytest.raises(RunError, match=r"training needs .* GB .* PROVE_RESULTS"):
        grpo.train(model, tokenizer, data, small(steps=2, save_every=1, lora_rank=0), tmp_path, steps.append)
    with pytest.raises(RunError, match=r"training needs .* GB .* PROVE_RESULTS"):
        sft.train(model, tokenizer, data, sft.SFT(steps=2, save_every=1), tmp_path, steps.append)
    assert not steps


# --- models


def test_a_misspelt_model_is_an_error_that_names_what_exists():
    with pytest.raises(ModelError, match=r"qwen3-4b.*smollm2-135m.*folder"):
        entries.load("qwen3-4")
    with pytest.raises(ModelError, match="no folder"):
        entries.load("./nowhere/at-all")


def test_a_folder_without_a_model_is_an_error(tmp_path):
    with pytest.raises(ModelError, match=r"no config\.json"):
        entries.load(tmp_path)


def test_a_local_folder_is_loaded_with_its_template(tokenizer, tmp_path):
    tiny(tokenizer).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model, loaded = entries.load(tmp_path)
    assert loaded.chat_template == tokenizer.chat_template
    assert model.config.hidden_size == 32


def test_a_package_that_cannot_be_fetched_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVE_CACHE", str(tmp_path))
    monkeypatch.setattr(entries.subprocess, "run", lambda *a, **k: entries.subprocess.CompletedProcess(a, 1, "", "no network"))
    with pytest.raises(ModelError, match=r"could not be fetched \(no network\)"):
        entries.load("smollm2-135m")
    assert not list(Path(tmp_path).iterdir())
