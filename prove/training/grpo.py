"""GRPO over live episodes (arXiv:2606.03892, section 5): sample a group of episodes for each prompt, reward each without a
judge, and raise the probability of those that did better than their group.

TRL is the optimiser; the episodes are our own (`rollout_func`). What TRL's own tool loop does otherwise, and why it is
not used: it has one user turn, ours have up to five; it ends an episode in silence where a call cannot be read, ours
answers with an error, as the evaluation does; it coerces argument types, so that training would be laxer than
evaluation; it offers every example the same tools, or one environment class a set; and it prefills the whole
conversation again for each reply, where ours keeps the cache.

On GPUs (`vllm=True`) start one process a GPU: `accelerate launch`, plain DDP for LoRA, ZeRO-3 for full training.
vLLM runs inside each process with tensor parallel 1 and without sleep mode: the number of turns differs between
processes, and anything collective inside a turn would pair the wrong ones. This path is configuration that was read
out of TRL's source and has not been run here.
"""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import torch
from datasets import Dataset
from trl import GRPOConfig

from prove.episode import Episode, Limits, play
from prove.records import Conversation
from prove.rewards import PAPER, Explanation, Weights, explain
from prove.rewards.reward import COMPONENTS
from prove.training.loop import Log, Narrator, adapt, arguments, last_checkpoint, merged, need_room, quiet
from prove.training.rendering import Renderer
from prove.training.sampler import LocalModel
from prove.training.trainer import VLLM, TreeTrainer


class GRPO(msgspec.Struct, frozen=True):
    """The defaults are the paper's; `learning_rate` is the model's (`prove.training.models`)."""

    learning_rate: float
    decay: bool = False  # whether the learning rate falls to 0 over the steps, or stays
    steps: int = 350
    prompts_per_step: int = 16
    group: int = 16
    beta: float = 0.01  # weight of the KL divergence from the model that training starts from
    temperature: float = 1.0
    reply_tokens: int = 1024
    episode_tokens: int = 16_384  # all that follows the first prompt, tool results included
    prompt_tokens: int = 12_384  # conversations whose prompt is longer are left out
    limits: Limits = Limits()
    weights: Weights = PAPER
    lora_rank: int = 0  # 0 trains all weights
    rows: int = 1  # rollouts in one forward pass of the loss, on one device
    share_prompts: bool = False  # read what the rollouts of a group share once in the loss: the way of CPUs
    vllm: bool = False
    save_every: int = 10
    seed: int = 0


def train(
    model: Any, tokenizer: Any, conversations: Sequence[Conversation], config: GRPO, out: Path, log: Log = lambda numbers: None
) -> Any:
    """Train on `conversations`; returns the trained model, adapters merged. Goes on from the last checkpoint under `out`.

    `log` gets one flat dict a step: reward, its spread, each component, goal, calls, dropped, tokens, loss, kl,
    grad_norm, seconds. Raises ValueError for a group that does not divide into rows, or if no prompt fits, and
    `RunError` if the disk has no room for the checkpoints.
    """
    fitting = [c for c in conversations if _prompt_length(c, tokenizer) <= config.prompt_tokens]
    if not fitting:
        raise ValueError(f"no conversation has a prompt of at most {config.prompt_tokens} tokens")
    start_from(model, tokenizer, out / "start", config)
    rollouts = Rollouts(fitting, tokenizer, config)
    model = adapt(model, config.lora_rank)
    need_room(model, out, config.steps, config.save_every)
    trainer = TreeTrainer(
        model=model,
        args=settings(config, out),
        train_dataset=Dataset.from_list([{"prompt": prompt(c)} for c in fitting]),
        processing_class=tokenizer,
        reward_funcs=total_reward,
        rollout_func=rollouts,
        callbacks=[Narrator(log, LOGGED)],
    )
    trainer.trees = config.share_prompts
    quiet(trainer)
    trainer.train(resume_from_checkpoint=last_checkpoint(out))
    return merged(trainer.accelerator.unwrap_model(trainer.model))


def settings(config: GRPO, out: Path) -> GRPOConfig:
    """Our settings in TRL's words: one update for each batch of rollouts, advantages normalised in each group."""
    batch = config.prompts_per_step * config.group
    rows = config.rows * max(1, torch.cuda.device_count())
    if batch % rows:
        raise ValueError(f"{batch} rollouts a step do not divide into rows of {rows}")
    return GRPOConfig(
        **arguments(out, config.learning_rate, config.seed, config.save_every, config.decay),
        max_steps=config.steps,
        num_generations=config.group,
        per_device_train_batch_size=config.rows,
        gradient_accumulation_steps=batch // rows,
        beta=config.beta,
        temperature=config.temperature,
        max_completion_length=config.episode_tokens,
        scale_rewards="group",
        loss_type="dapo",  # the mean over all sampled tokens of the step
        use_vllm=config.vllm,
        vllm_mode="colocate",
        vllm_gpu_memory_utilization=0.35,
        vllm_max_model_length=config.prompt_tokens + config.episode_tokens,
        # the default drops a whole rollout whose summed difference exceeds log 3, which long ones all do
        vllm_importance_sampling_mode="token_truncate",
    )


def prompt(conversation: Conversation) -> list[dict[str, str]]:
    """What TRL carries for an example. A rollout function sees nothing but prompts, so the example's id rides in one."""
    return [{"role": "user", "content": conversation.turns[0].user, "example": conversation.id}]


class Rollouts:
    """TRL's `rollout_func`: prompts in; tokens, masks and rewards of live episodes out."""

    def __init__(self, conversations: Sequence[Conversation], tokenizer: Any, config: GRPO) -> None:
        self.conversations = {c.id: c for c in conversations}
        self.tokenizer, self.config = tokenizer, config

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """`prompts` holds each example once a rollout, groups side by side."""
        policy = self._policy(trainer)
        wanted = [self.conversations[p[-1]["example"]] for p in prompts]
        episodes = play_again_once(policy, wanted, self.config.limits)
        if all(e.failure for e in episodes):
            raise RuntimeError(f"every episode of step {trainer.state.global_step} failed") from episodes[0].failure
        tracks = [policy.track(e) for e in episodes]
        alive = [not e.failure and bool(t.completion) for e, t in zip(episodes, tracks, strict=True)]
        nothing = [self.tokenizer.eos_token_id]  # TRL needs a token; a masked one carries no loss
        return {
            "prompt_ids": [t.prompt for t in tracks],
            "completion_ids": [t.completion if ok else nothing for t, ok in zip(tracks, alive, strict=True)],
            "env_mask": [list(map(int, t.sampled)) if ok else [0] for t, ok in zip(tracks, alive, strict=True)],
            "logprobs": [t.logprobs if ok else [0.0] for t, ok in zip(tracks, alive, strict=True)],
            "outcome": [Outcome.of(e, self.config.weights) if ok else None for e, ok in zip(episodes, alive, strict=True)],
        }

    def _policy(self, trainer: Any) -> LocalModel:
        config, step = self.config, trainer.state.global_step
        return LocalModel(
            trainer.accelerator.unwrap_model(trainer.model),
            self.tokenizer,
            temperature=config.temperature,
            reply_tokens=config.reply_tokens,
            episode_tokens=config.episode_tokens,
            seed=Random(f"{config.seed} {step} {trainer.accelerator.process_index}").getrandbits(63),
            engine=VLLM(trainer, config.temperature) if config.vllm else None,
        )


class Outcome(msgspec.Struct, frozen=True):
    """What is told about one episode."""

    explanation: Explanation
    goal: bool
    calls: int

    @classmethod
    def of(cls, episode: Episode, weights: Weights) -> "Outcome":
        return cls(explain(episode.trajectory(), weights), episode.goal_reached(), len(episode.calls))


def play_again_once(policy: LocalModel, conversations: list[Conversation], limits: Limits) -> list[Episode]:
    """Play all; an episode that an exception ended is played once more, and then stays as it is, its `failure` set."""
    episodes = play(policy, conversations, limits, keep_going=True)
    failed = [i for i, e in enumerate(episodes) if e.failure]
    for i, episode in zip(failed, play(policy, [conversations[i] for i in failed], limits, keep_going=True), strict=True):
        episodes[i] = episode
    return episodes


def total_reward(outcome: list[Outcome | None], log_metric: Any, **_: Any) -> list[float | None]:
    """TRL's reward function. None, for a dropped episode, leaves it out of its group's mean and gives it no advantage."""
    log_metric("dropped", sum(o is None for o in outcome))
    for o in (o for o in outcome if o is not None):
        log_metric("goal", float(o.goal))
        log_metric("calls", float(o.calls))
        for name in COMPONENTS:
            if (value := getattr(o.explanation, name)) is not None:
                log_metric(name, value)
    return [None if o is None else o.explanation.total for o in outcome]


LOGGED = {name: name for name in ("reward", "reward_std", *COMPONENTS, "goal", "calls", "dropped", "loss", "kl", "grad_norm")} | {
    "frac_reward_zero_std": "groups_without_signal",
    "completions/mean_length": "sampled_tokens",
    "step_time": "seconds",
}


def start_from(model: Any, tokenizer: Any, folder: Path, config: GRPO) -> None:
    """Save what training starts from, where TRL looks for it: the reference of the KL term, and what vLLM loads first."""
    needed = config.vllm or (config.beta and not config.lora_rank)
    if needed and not (folder / "config.json").is_file():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    if needed:
        model.config._name_or_path = str(folder)


def _prompt_length(conversation: Conversation, tokenizer: Any) -> int:
    episode = Episode(conversation)
    return len(Renderer(tokenizer).prompt(episode.messages, episode.tools))
