"""GRPO over live episodes (arXiv:2606.03892, section 5): sample a group of episodes for each prompt, reward each without a
judge, and raise the probability of those that did better than their group.

TRL is the optimiser; the episodes are our own (`rollout_func`). What TRL's own tool loop does otherwise, and why it is
not used: it has one user turn, ours have up to five; it ends an episode in silence where a call cannot be read, ours
answers with an error, as the evaluation does; it coerces argument types, so that training would be laxer than
evaluation; it offers every example the same tools, or one environment class a set; and it prefills the whole
conversation again for each reply, where ours keeps the cache.

Any number of processes trains the same: what is sampled hangs on the seed, the step, the example and the sample, never on
the process. While episodes are played nothing is collective, because their number of turns differs between processes: each
has a sampler of its own, whose weights are renewed once a step, all processes together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import torch
from accelerate import PartialState
from datasets import Dataset
from trl import GRPOConfig

from prove.episode import Episode, Limits, play
from prove.files import whole_folder
from prove.records import Conversation
from prove.rewards import Explanation, explain, find
from prove.rewards.effect import VALUES
from prove.rewards.paper import COMPONENTS
from prove.training.engines import Timed, VLLMHere, VLLMServer
from prove.training.loop import Log, Narrator, adapt, arguments, last_checkpoint, local_rows, need_moving, need_room, quiet
from prove.training.rendering import Renderer
from prove.training.sampler import Engine, LocalModel
from prove.training.trainer import TreeTrainer
from prove.training.weights import Copy, is_sharded


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
    reward: str = "paper"  # a preset of `prove.rewards`, or one of your own as module:function
    lora_rank: int = 0  # 0 trains all weights
    rows: int = 1  # rollouts whose activations are held at once, on one device
    share_prompts: bool = True  # read what the rollouts of a group share once in the loss
    vllm: bool = False  # sample with vLLM inside each process; else with `transformers`
    vllm_server: str = ""  # the URL of `trl vllm-serve` instead: one process trains
    vllm_memory: float = 0.35  # of a GPU's memory, for vLLM's weights and cache
    save_every: int = 10
    seed: int = 0


def train(
    model: Any, tokenizer: Any, conversations: Sequence[Conversation], config: GRPO, out: Path, log: Log = lambda numbers: None
) -> Any:
    """Train on `conversations`; returns what was trained, adapters and all (`weights.save` makes a plain model of it). Goes on
    from the last checkpoint under `out`.

    `log` gets one flat dict a step, on the first process: see `LOGGED`. Raises ValueError for a batch that does not divide
    into rows and processes, or if no prompt fits, and `RunError` if the disk has no room for the checkpoints, if steps of the
    learning rate would round away, or if sampler and trainer disagree.
    """
    fitting = [c for c in conversations if _prompt_length(c, tokenizer) <= config.prompt_tokens]
    if not fitting:
        raise ValueError(f"no conversation has a prompt of at most {config.prompt_tokens} tokens")
    if config.vllm_server and PartialState().num_processes > 1:
        raise ValueError("a vLLM server serves one training process: say `--gpus 1`, or let each process have its own (`--engine vllm`)")
    torch.manual_seed(config.seed)  # an adapter begins with chance
    start_from(model, tokenizer, out / "start", config)
    rollouts = Rollouts(fitting, tokenizer, config)
    model = adapt(model, config.lora_rank)
    need_moving(model, config.learning_rate)
    need_room(model, out, config.steps, config.save_every)
    trainer = TreeTrainer(
        model=model,
        args=settings(config, out),
        train_dataset=Dataset.from_list([{"prompt": prompt(c)} for c in fitting]),
        processing_class=tokenizer,
        reward_funcs=rollouts.rewards,
        rollout_func=rollouts,
        callbacks=[Narrator(lambda numbers: log(with_rates(numbers, config)), LOGGED)],
    )
    trainer.share = config.share_prompts
    quiet(trainer)
    trainer.train(resume_from_checkpoint=last_checkpoint(out))
    return trainer.accelerator.unwrap_model(trainer.model)


def settings(config: GRPO, out: Path) -> GRPOConfig:
    """Our settings in TRL's words: one update for each batch of rollouts, advantages normalised in each group."""
    batch = config.prompts_per_step * config.group
    return GRPOConfig(
        **arguments(out, config.learning_rate, config.seed, config.save_every, config.decay),
        max_steps=config.steps,
        num_generations=config.group,
        per_device_train_batch_size=config.rows,
        gradient_accumulation_steps=local_rows(batch, config.rows, "rollouts"),
        beta=config.beta,
        temperature=config.temperature,
        max_completion_length=config.episode_tokens,
        scale_rewards="group",
        loss_type="dapo",  # the mean over all sampled tokens of the step
        use_vllm=config.vllm or bool(config.vllm_server),
        vllm_mode="server" if config.vllm_server else "colocate",
        vllm_server_base_url=config.vllm_server or None,
        vllm_gpu_memory_utilization=config.vllm_memory,
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
        self.copy: Copy | None = None  # what is sampled from, where the model is sharded

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """`prompts` holds this process's share of the step: each example once a rollout, groups side by side."""
        first = trainer.accelerator.process_index * len(prompts)
        # a copy of its own tells the rollouts of an example apart
        wanted = [msgspec.structs.replace(self.conversations[p[-1]["example"]]) for p in prompts]
        samples = {id(c): (first + i) % self.config.group for i, c in enumerate(wanted)}
        policy = self._policy(trainer, samples)
        policy.engine = timed = Timed(policy.engine)
        begun = perf_counter()
        with trainer.accelerator.autocast(), sampling(trainer.model):
            episodes = self._play(policy, wanted)
        if all(e.failure for e in episodes):
            raise RuntimeError(f"every episode of step {trainer.state.global_step} failed") from episodes[0].failure
        tracks = [policy.track(e) for e in episodes]
        alive = [not e.failure and bool(t.completion) for e, t in zip(episodes, tracks, strict=True)]
        outcomes = [Outcome.of(e, self.config.reward) if ok else None for e, ok in zip(episodes, alive, strict=True)]
        trainer.note("sampling", timed.seconds)
        trainer.note("aside", perf_counter() - begun - timed.seconds)
        nothing = [self.tokenizer.eos_token_id]  # TRL needs a token; a masked one carries no loss
        return {
            "prompt_ids": [t.prompt for t in tracks],
            "completion_ids": [t.completion if ok else nothing for t, ok in zip(tracks, alive, strict=True)],
            "env_mask": [list(map(int, t.sampled)) if ok else [0] for t, ok in zip(tracks, alive, strict=True)],
            "logprobs": [t.logprobs if ok else [0.0] for t, ok in zip(tracks, alive, strict=True)],
            "outcome": outcomes,
        }

    def _play(self, policy: LocalModel, wanted: list[Conversation]) -> list[Episode]:
        """Play in waves of as many episodes as the sampler's cache holds: more would push each other out, turn after turn."""
        config = self.config
        likely = config.prompt_tokens // 2 + min(config.episode_tokens, 4 * config.reply_tokens)
        wave = policy.engine.room(likely) or len(wanted)
        return [e for at in range(0, len(wanted), wave) for e in play_again_once(policy, wanted[at : at + wave], config.limits)]

    def _policy(self, trainer: Any, samples: dict[int, int]) -> LocalModel:
        config, step = self.config, trainer.state.global_step
        model = trainer.accelerator.unwrap_model(trainer.model)
        engine: Engine | None = None
        if config.vllm_server:
            engine = VLLMServer(trainer.vllm_generation.vllm_client, config.temperature)
        elif config.vllm:
            engine = VLLMHere(trainer.vllm_generation.llm, config.temperature)
        elif is_sharded(model):
            self.copy = self.copy or Copy(model, trainer.accelerator.device)
            self.copy.refresh(model)
            model = self.copy.model
        return LocalModel(
            model,
            self.tokenizer,
            temperature=config.temperature,
            reply_tokens=config.reply_tokens,
            episode_tokens=config.episode_tokens,
            seed=config.seed,
            engine=engine,
            name=lambda e: (step, e.conversation.id, samples[id(e.conversation)]),
        )

    def rewards(self, outcome: list["Outcome | None"], log_metric: Any, **_: Any) -> list[float | None]:
        """TRL's reward function. None, for a dropped episode, leaves it out of its group's mean and gives it no advantage."""
        log_metric("dropped", sum(o is None for o in outcome))
        for o in (o for o in outcome if o is not None):
            log_metric("goal", float(o.goal))
            log_metric("calls", float(o.calls))
            for name, value in o.explanation.values.items():
                log_metric(name, value)
        return [None if o is None else o.explanation.total for o in outcome]


@contextmanager
def sampling(model: Any) -> Iterator[None]:
    """No dropout, and a cache: gradient checkpointing takes it away from a model that is being trained."""
    was = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was)


class Outcome(msgspec.Struct, frozen=True):
    """What is told about one episode."""

    explanation: Explanation
    goal: bool
    calls: int

    @classmethod
    def of(cls, episode: Episode, reward: str) -> "Outcome":
        return cls(explain(episode.trajectory(), find(reward)), episode.goal_reached(), len(episode.calls))


def play_again_once(policy: LocalModel, conversations: list[Conversation], limits: Limits) -> list[Episode]:
    """Play all; an episode that an exception ended is played once more, and then stays as it is, its `failure` set."""
    episodes = play(policy, conversations, limits, keep_going=True)
    failed = [i for i, e in enumerate(episodes) if e.failure]
    for i, episode in zip(failed, play(policy, [conversations[i] for i in failed], limits, keep_going=True), strict=True):
        episodes[i] = episode
    return episodes


#: What is told of a step, and TRL's name for it. `gap` is the mean distance of sampler's and trainer's log-probabilities of a
#: sampled token, `importance` the mean of their ratio, `clipped` the share of tokens whose ratio the loss clips.
LOGGED = {name: name for name in ("reward", "reward_std", *COMPONENTS, *VALUES, "goal", "calls", "dropped", "loss", "kl", "grad_norm")} | {
    "frac_reward_zero_std": "groups_without_signal",
    "completions/mean_length": "sampled_tokens",
    "step_time": "seconds",
    "entropy": "entropy",
    "clip_ratio/region_mean": "clipped",
    "gap": "gap",
    "importance": "importance",
    "sampling": "sampling_seconds",
    "aside": "aside_seconds",  # in environments, templates and reward
    "read": "tokens_read",
    "real": "tokens_of_rows",
    "learning_rate": "learning_rate",
}


def with_rates(numbers: dict[str, Any], config: GRPO) -> dict[str, Any]:
    """A step's numbers, with what follows from them: sampled tokens a second, and the share of environments and reward."""
    if "aside_seconds" not in numbers or "seconds" not in numbers:
        return numbers
    sampled = numbers["sampled_tokens"] * config.prompts_per_step * config.group
    rates = {"tokens_per_second": sampled / numbers["seconds"], "aside_share": numbers["aside_seconds"] / numbers["seconds"]}
    return numbers | rates


def start_from(model: Any, tokenizer: Any, folder: Path, config: GRPO) -> None:
    """Have what training starts from in a folder, where TRL looks for it: the reference of the KL term, and what vLLM loads first."""
    sampler = config.vllm or config.vllm_server
    needed = sampler or (config.beta and not config.lora_rank)
    state = PartialState()
    if needed and state.is_main_process and not (folder / "config.json").is_file():
        rounded = {k: v.to(torch.bfloat16) for k, v in model.state_dict().items()} if torch.cuda.is_available() else None
        with whole_folder(folder) as draft:
            model.save_pretrained(draft, state_dict=rounded)
            tokenizer.save_pretrained(draft)
    state.wait_for_everyone()
    if needed:
        model.name_or_path = model.config._name_or_path = str(folder)


def _prompt_length(conversation: Conversation, tokenizer: Any) -> int:
    episode = Episode(conversation)
    return len(Renderer(tokenizer).prompt(episode.messages, episode.tools))
