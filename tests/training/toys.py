"""The four families at toy size: the real classes, small; their templates; tokenizers made here, with their control tokens."""

import json
from functools import cache
from pathlib import Path
from random import Random

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast
from trl import chat_template_utils

from prove.episode import Reply, ToolCall, play
from prove.policies import Oracle
from prove.records import Answer, Certificate, Conversation, GroundTruthCall, Turn
from prove.servers.session import Session
from prove.training.models import MODELS

FAMILIES = ("qwen3-4b", "qwen3-8b", "qwen2.5-7b", "granite-4.1-8b")
TEMPLATES = {
    "qwen3-4b": chat_template_utils.qwen3_instruct_2507_chat_template,
    "qwen3-8b": chat_template_utils.qwen3_chat_template,
    "qwen2.5-7b": chat_template_utils.qwen2_5_chat_template,
    "granite-4.1-8b": (Path(__file__).parent / "granite.jinja").read_text(encoding="utf-8"),
}
QWEN = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
GRANITE = ["<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"]
TAGS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
CARDS = ["freeze_card", "list_cards"]
BOTH = [*CARDS, "get_account", "list_accounts"]


def conversation(number: int, tools: list[str], two_turns: bool = False) -> Conversation:
    """Freeze a card; then, perhaps, ask for a balance."""
    session = Session.open("banking", 100 + number)
    card = next(c for c in session.servers["banking"].state["cards"] if c.status == "active")
    account = next(iter(session.servers["banking"].state["accounts"]))
    turns = [
        Turn(
            f"Freeze my card ending in {card.last_four}.",
            "complete",
            [GroundTruthCall("c1", "list_cards", {}), GroundTruthCall("c2", "freeze_card", {"card_id": card.card_id}, ["c1"])],
            "It is frozen.",
        )
    ]
    if two_turns:
        calls = [
            GroundTruthCall("c3", "list_accounts", {}),
            GroundTruthCall("c4", "get_account", {"account_id": account.account_id}, ["c3"]),
        ]
        turns.append(Turn(f"How much is in {account.name}?", "complete", calls, "That much.", [Answer("c4", "balance", account.balance)]))
    for turn in turns:
        assert all(session.call(c.name, c.arguments).ok for c in turn.calls)
    certificate = Certificate(session.digest(), session.outcome(), {}, [])
    day = str(session.clock.now.date())
    return Conversation(f"banking-{number}", "banking", 100 + number, "multi_turn", "", day, tools, [], False, turns, certificate, "train")


@cache
def core(size: int, alphabet: int = 0) -> str:
    """A byte-level BPE trained on two conversations, as JSON."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    episodes = play(Oracle(), [conversation(number, BOTH, two_turns=True) for number in (90, 91)])
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    made.train_from_iterator([json.dumps(e.tools) + "<tool_call>\n".join(m["content"] for m in e.messages) for e in episodes], trainer)
    return made.to_str()


def toy_tokenizer(family: str, special_tags: bool = False) -> PreTrainedTokenizerFast:
    """A tokenizer with the family's control tokens and template. Tags of calls are tokens, as in all of these; `special_tags` makes
    them such as decoding leaves out."""
    granite = family.startswith("granite")
    made = Tokenizer.from_str(core(640))
    made.add_special_tokens([AddedToken(t, special=True) for t in (GRANITE if granite else QWEN)])
    tags = [AddedToken(t, special=special_tags, normalized=False) for t in TAGS]
    made.add_special_tokens(tags) if special_tags else made.add_tokens(tags)
    end, pad = ("<|end_of_text|>", "<|end_of_text|>") if granite else ("<|im_end|>", "<|endoftext|>")
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token=end, pad_token=pad, padding_side="left")
    fast.chat_template = TEMPLATES[family]
    return fast


def toy_model(family: str, tokenizer: PreTrainedTokenizerFast, seed: int = 0):
    """The family's class with its own settings, two layers of 32. Scaled so that greedy choices are no ties."""
    torch.manual_seed(seed)
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    more = {"head_dim": 8, "vocab_size": len(tokenizer), "max_position_embeddings": 8192, "initializer_range": 0.2}
    granite = {"logits_scaling": 4.0, "embedding_multiplier": 2.0, "residual_multiplier": 0.5, "attention_multiplier": 0.3}
    settings = MODELS[family].config | small | more | (granite if family.startswith("granite") else {})
    if settings["model_type"] in ("qwen2", "granite"):
        settings.pop("head_dim")
    config = AutoConfig.for_model(**settings, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    return AutoModelForCausalLM.from_config(config).eval()


class Scripted:
    """Stands in for a sampler: what it says hangs on the seed and on nothing else. A call, two, one that is malformed, one that is
    refused, words, or a reply that does not end: groups differ, tools run, episodes go over several turns."""

    def __init__(self, renderer):
        says = [
            Reply("", [ToolCall("list_cards", {})]),
            Reply("Let me see.", [ToolCall("list_cards", {}), ToolCall("freeze_card", {"card_id": "CARD-1"})]),
            Reply("", [ToolCall("freeze_card", {"card_id": "CARD-999"})]),
            Reply("It is done."),
        ]
        self.said = [renderer.reply(reply) for reply in says]
        self.said.append([*renderer.encode('<tool_call>\n{"name": "list_cards"\n</tool_call>'), renderer.eos])
        self.said.append(renderer.encode("and so on and on") * 40)

    def room(self, tokens):
        return None

    def __call__(self, contexts, limits, seeds):
        out = []
        for limit, seed in zip(limits, seeds, strict=True):
            ids = Random(seed).choice(self.said)[:limit]
            out.append((ids, [float("nan")] * len(ids)))
        return out


class Mixed(Scripted):
    """Every third reply is really sampled."""

    def __init__(self, renderer, decoder):
        super().__init__(renderer)
        self.decoder = decoder

    def __call__(self, contexts, limits, seeds):
        out = super().__call__(contexts, limits, seeds)
        real = [i for i, seed in enumerate(seeds) if seed % 3 == 0]
        if real:
            sampled = self.decoder([contexts[i] for i in real], [min(limits[i], 12) for i in real], [seeds[i] for i in real])
            for i, sample in zip(real, sampled, strict=True):
                out[i] = sample
        return out
