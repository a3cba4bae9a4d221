"""How big a run is: from a minute's smoke test to the paper's own size.

`smoke` shows that everything works; `small` trains a real pretrained model of 135M parameters on two CPU cores; `paper` is the
paper's setting, for GPUs (arXiv:2606.03892, section 5), and `transfer` the same without four servers, which only its evaluation
plays.
"""

import msgspec

from prove.rewards import find as find_reward
from prove.servers.catalog import catalogue
from prove.servers.errors import did_you_mean
from prove.synthesis.data.plan import PAPER_MIX, UNSEEN, Plan
from prove.synthesis.machine import Shape
from prove.training.grpo import GRPO
from prove.training.models import MODELS
from prove.training.sft import SFT


class Profile(msgspec.Struct, frozen=True):
    """One size of everything. A learning rate of 0 stands for the model's own (`prove.training.models`)."""

    name: str
    model: str  # the default; any entry, hub id or folder works
    train: Plan
    heldout: Plan
    sft: SFT | None  # the supervised start; None: straight to GRPO, as in the paper
    grpo: GRPO | None  # None: supervised training alone
    prompt_tokens: int  # an evaluation's longest prompt; what follows it; and of that, the longest reply
    episode_tokens: int
    reply_tokens: int
    batch: int  # episodes evaluated side by side, if memory has room for them
    variant: str = "paper"  # what is otherwise than the paper has it: the reward, the method, a learning rate, an adapter

    @property
    def lora_rank(self) -> int:
        """0 where all weights are trained."""
        return min(part.lora_rank for part in (self.sft, self.grpo) if part)


_SHORT = Shape(
    levels=(("complete", 1.0),), min_turns=1, max_turns=1, second_wish=0.0, corrected=0.0, alternative=0.0, impossible=0.0, max_calls=2
)
_LITTLE = Plan(
    n=400, servers=("budget", "iot_devices"), shape=_SHORT, distractors=0.0, stripped_enums=0.0, max_tools=4
)  # one query, few tools and short results: on a CPU every token is felt

_PAPER = Plan(n=13517, mix=tuple(PAPER_MIX.items()))
_SEEN = tuple(name for name in catalogue() if name not in UNSEEN)

PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            name="smoke",
            model="smollm2-135m",
            train=msgspec.structs.replace(_LITTLE, n=24),
            heldout=msgspec.structs.replace(_LITTLE, n=6, split="heldout"),
            sft=SFT(steps=1, batch=2, learning_rate=5e-5, row_tokens=900, save_every=1),
            grpo=GRPO(
                learning_rate=2e-5,
                reward="effect",
                lora_rank=16,
                steps=2,
                prompts_per_step=1,
                group=2,
                beta=0.0,
                reply_tokens=32,
                episode_tokens=300,
                prompt_tokens=480,
                rows=2,
                save_every=1,
            ),
            prompt_tokens=480,
            episode_tokens=300,
            reply_tokens=32,
            batch=6,
        ),
        Profile(
            name="small",
            model="smollm2-135m",
            train=_LITTLE,
            heldout=msgspec.structs.replace(_LITTLE, n=200, split="heldout"),
            sft=SFT(steps=40, batch=4, learning_rate=5e-5, row_tokens=700, save_every=10),
            grpo=GRPO(
                learning_rate=2e-4,
                reward="effect",
                decay=True,  # so few prompts a step teach with much noise: the last steps are small
                lora_rank=16,
                steps=16,
                prompts_per_step=4,
                group=8,
                beta=0.0,  # so few steps do not stray: the reference model's forward pass is time better spent
                temperature=0.7,  # at 1.0 so small a model garbles nearly every second call, and learns to leave it out
                reply_tokens=64,
                episode_tokens=400,
                prompt_tokens=430,
                rows=8,  # a group: the activations of one tree at a time
                save_every=4,
            ),
            prompt_tokens=430,
            episode_tokens=400,
            reply_tokens=64,
            batch=25,
        ),
        *(
            Profile(
                name=name,
                model="qwen3-4b",
                train=msgspec.structs.replace(_PAPER, servers=servers),
                heldout=msgspec.structs.replace(_PAPER, n=1000, split="heldout"),
                sft=None,
                grpo=GRPO(learning_rate=0.0, rows=2, vllm=True),
                prompt_tokens=12_384,
                episode_tokens=16_384,
                reply_tokens=1024,
                batch=64,
            )
            for name, servers in (("paper", ()), ("transfer", _SEEN))
        ),
    )
}


METHODS = ("grpo", "sft")
ENGINES = ("vllm", "transformers")


def find(
    name: str,
    reward: str = "",
    model: str = "",
    method: str = "grpo",
    learning_rate: float = 0.0,
    lora: int = -1,
    engine: str = "",
) -> Profile:
    """A profile by name, or the model's own for none (`paper` for the paper's four), and what of it is to be otherwise: GRPO's
    `reward` (`prove.rewards.find`), not the profile's own; `method` "sft" for three epochs of supervised training instead of GRPO; a
    `learning_rate`; `lora`, the rank of an adapter (0: all weights are trained); `engine`, who samples while training.

    The learning rate of a profile that leaves it open is the model's. Raises LookupError for an unknown word, naming those there are.
    """
    size = name or (MODELS[model].profile if model in MODELS else "paper" if model else "small")
    asked = (("profile", size, PROFILES), ("method", method, METHODS), ("engine", engine or "vllm", ENGINES))
    find_reward(reward or "paper")
    for what, given, known in asked:
        if given not in known:
            raise LookupError(f"there is no {what} {given!r}{did_you_mean(given, known)}; there are: {', '.join(known)}")
    profile = PROFILES[size]
    model = model or profile.model
    assert profile.grpo
    reward = reward or profile.grpo.reward
    rate = learning_rate or profile.grpo.learning_rate or (MODELS[model].learning_rate if model in MODELS else 1e-6)
    grpo = msgspec.structs.replace(profile.grpo, reward=reward, learning_rate=rate)
    if engine:
        grpo = msgspec.structs.replace(grpo, vllm=engine == "vllm")
    sft = profile.sft
    if method == "sft":
        most = profile.prompt_tokens + profile.episode_tokens
        sft = SFT(steps=-(-3 * profile.train.n // 16), batch=16, learning_rate=learning_rate or 1e-5, row_tokens=most)
    otherwise = [reward] * (reward != "paper" and method == "grpo") + ["sft"] * (method == "sft")
    otherwise += [f"{learning_rate:g}"] * bool(learning_rate) + [f"lora{lora}"] * (lora >= 0)
    variant = "_".join(otherwise) or "paper"
    found = msgspec.structs.replace(profile, model=model, sft=sft, grpo=None if method == "sft" else grpo, variant=variant)
    return found if lora < 0 else with_lora(found, lora)


def with_lora(profile: Profile, rank: int) -> Profile:
    """The profile with adapters of a rank, in all that it trains; 0 for all weights."""
    parts = {"sft": profile.sft, "grpo": profile.grpo}
    return msgspec.structs.replace(profile, **{n: p and msgspec.structs.replace(p, lora_rank=rank) for n, p in parts.items()})
