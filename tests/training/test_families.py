"""Each of the paper's four families at toy size: supervised training, then GRPO on live episodes, checked against a slow computation
that shares nothing with the trainer; and steps so small that bfloat16 would lose them."""

from statistics import mean, stdev

import msgspec
import pytest
import torch
from toys import BOTH, CARDS, FAMILIES, Scripted, conversation, toy_model, toy_tokenizer

from prove.episode import Episode
from prove.rewards import explain
from prove.run import RunError
from prove.training import grpo, sft, weights
from prove.training.models import settled
from prove.training.rendering import read_reply
from prove.training.sampler import LocalModel

DATA = [conversation(0, CARDS), conversation(1, BOTH, two_turns=True), conversation(2, BOTH, two_turns=True)]
GRPO = grpo.GRPO(
    learning_rate=1e-3, steps=3, prompts_per_step=3, group=4, reply_tokens=60, episode_tokens=700, prompt_tokens=4000, rows=4, save_every=9
)


@pytest.fixture
def watched(monkeypatch):
    """What each step was made of: the trainer's batches, and the episodes that were played."""
    seen = {"batches": [], "episodes": []}
    play, prepare = grpo.play_again_once, grpo.TreeTrainer._generate_and_score_completions

    def made(model, tokenizer, **rest):
        policy = LocalModel(model, tokenizer, **rest)
        policy.engine = Scripted(policy.renderer)
        return policy

    monkeypatch.setattr(grpo, "LocalModel", made)
    monkeypatch.setattr(grpo, "play_again_once", lambda *a: seen["episodes"].append(play(*a)) or seen["episodes"][-1])

    def keep(self, batch):
        seen["batches"].append(prepare(self, batch))
        return seen["batches"][-1]

    monkeypatch.setattr(grpo.TreeTrainer, "_generate_and_score_completions", keep)
    return seen


def runs(ids, mask, wanted):
    """The stretches of ids whose mask is `wanted`."""
    out, inside = [], False
    for token, m in zip(ids, mask, strict=True):
        if m == wanted:
            out = out if inside else [*out, []]
            out[-1].append(token)
        inside = m == wanted
    return out


@pytest.mark.parametrize("family", FAMILIES)
def test_masks_rewards_and_advantages_are_those_of_a_slow_computation(family, tmp_path, watched):
    tokenizer = toy_tokenizer(family)
    tokenizer.chat_template = settled(tokenizer)
    model = toy_model(family, tokenizer)
    started = sft.train(model, tokenizer, DATA, sft.SFT(steps=2, batch=2, learning_rate=1e-3, save_every=9), tmp_path / "sft")
    steps: list[dict] = []
    grpo.train(started, tokenizer, DATA, GRPO, tmp_path / "grpo", steps.append)
    kinds = set()
    for batch, episodes, told in zip(watched["batches"], watched["episodes"], steps, strict=True):
        rewards, tokens = [], []
        for i, episode in enumerate(episodes):
            real = batch["completion_mask"][i].bool()
            ids, mask = batch["completion_ids"][i][real].tolist(), batch["tool_mask"][i][real].tolist()
            said, heard = runs(ids, mask, 1), runs(ids, mask, 0)
            again = Episode(msgspec.structs.replace(episode.conversation))  # the same replies, from their text, on a fresh world
            for reply in said:
                again.step(read_reply(tokenizer.decode([t for t in reply if t != tokenizer.eos_token_id])))
            last = max(n for n, m in enumerate(again.messages) if m["role"] == "assistant")
            shown, at = "".join(map(tokenizer.decode, heard)), 0
            for text in [m["content"] for m in again.messages[2:last] if m["role"] in ("tool", "user")]:  # all that was answered, in order
                at = shown.find(text, at)
                assert at >= 0
            assert again.messages[: len(episode.messages)] == episode.messages[: len(again.messages)]
            rewards.append(explain(episode.trajectory()).total)
            tokens.append(sum(map(len, said)))
            kinds |= {"turns"} if episode.turn > 1 else set()
            kinds |= {"malformed"} if any(c.name == "" for c in episode.calls) else set()
            kinds |= {"refused"} if any(c.name and not c.ok for c in episode.calls) else set()
            kinds |= {"too long"} if episode.replies > len(said) else set()
        advantages = []
        for at in range(0, len(rewards), GRPO.group):
            group = rewards[at : at + GRPO.group]
            advantages += [(r - mean(group)) / (stdev(group) + 1e-4) for r in group]
        assert batch["advantages"].tolist() == pytest.approx(advantages, abs=1e-3)
        assert told["reward"] == pytest.approx(mean(rewards), abs=1e-5)
        if told["step"] == 1:  # the ratio is 1, the KL divergence 0: what is left is the advantages over all sampled tokens
            assert told["loss"] == pytest.approx(-sum(a * n for a, n in zip(advantages, tokens, strict=True)) / sum(tokens), abs=1e-4)
    assert kinds == {"turns", "malformed", "refused", "too long"}


@pytest.mark.parametrize("rate", [5e-8, 1e-6])
def test_the_papers_smallest_steps_move_most_float32_weights_and_are_refused_in_bfloat16(rate, tmp_path):
    tokenizer = toy_tokenizer("qwen3-8b")
    config = sft.SFT(steps=5, batch=2, learning_rate=rate, save_every=9)

    def small():
        model = toy_model("qwen3-8b", tokenizer)
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.mul_(0.1 if "norm" not in name else 1.0)  # as wide as the real ones: 0.02
        return model

    before = small()
    after = dict(weights.plain_weights(sft.train(small(), tokenizer, DATA, config, tmp_path / "float32")))
    changed = sum((after[name] != p).sum().item() for name, p in before.named_parameters())
    assert changed > 0.5 * sum(p.numel() for p in before.parameters())
    with pytest.raises(RunError, match=r"steps of .* round away on \d+% of the weights, which are bfloat16.*--lora"):
        sft.train(small().to(torch.bfloat16), tokenizer, DATA, config, tmp_path / "bfloat16")
    with pytest.raises(RunError, match="round away"):
        grpo.train(small().to(torch.bfloat16), tokenizer, DATA, msgspec.structs.replace(GRPO, learning_rate=rate), tmp_path / "grpo")


def test_an_adapter_over_bfloat16_weights_is_float32_and_leaves_them_as_they_are(tmp_path, watched):
    tokenizer = toy_tokenizer("qwen2.5-7b")
    base = toy_model("qwen2.5-7b", tokenizer).to(torch.bfloat16)
    before = {name: p.clone() for name, p in base.named_parameters()}
    config = msgspec.structs.replace(GRPO, lora_rank=4, steps=1, learning_rate=1e-5, beta=0.0)
    trained = grpo.train(base, tokenizer, DATA, config, tmp_path)
    assert {p.dtype for p in trained.parameters() if p.requires_grad} == {torch.float32}
    plain = dict(weights.plain_weights(trained))
    assert all(torch.equal(before[name], p) for name, p in trained.get_base_model().named_parameters() if name in before)
    merged = trained.merge_and_unload().state_dict()  # PEFT's own sum, rounded to bfloat16
    for name, weight in plain.items():
        torch.testing.assert_close(weight.to(torch.bfloat16), merged[name].to(torch.bfloat16), atol=0.02, rtol=0.02)
