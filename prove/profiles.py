"""How big a run is: from a minute's smoke test to the paper's own size.

`smoke` shows that everything works; `small` trains a real pretrained model of 135M parameters on two CPU cores; `paper` is the
paper's setting, for GPUs (arXiv:2606.03892, section 5), and `transfer` the same without four servers, which only its evaluation
plays.
"""

import msgspec

from prove.rewards import PRESETS
from prove.servers.catalog import catalogue
from prove.servers.errors import did_you_mean
from prove.synthesis.data.dataset import PAPER_MIX, UNSEEN, Plan
from prove.synthesis.machine import Shape
from prove.training.grpo import GRPO
from prove.training.sft import SFT


class Profile(msgspec.Struct, frozen=True):
    """One size of everything. A learning rate of 0 stands for the model's own (`prove.training.models`)."""

    name: str
    model: str  # the default; any entry, hub id or folder works
    train: Plan
    heldout: Plan
    warm: SFT | None  # the supervised start; None: straight to GRPO, as in the paper
    grpo: GRPO
    reply_tokens: int  # at most so many tokens in one reply of an evaluation
    episode_tokens: int
    batch: int  # episodes evaluated side by side


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
            warm=SFT(steps=1, batch=2, learning_rate=5e-5, row_tokens=900, save_every=1),
            grpo=GRPO(
                learning_rate=2e-5,
                lora_rank=16,
                steps=2,
                prompts_per_step=1,
                group=2,
                beta=0.0,
                reply_tokens=32,
                episode_tokens=300,
                prompt_tokens=480,
                rows=2,
                share_prompts=True,
                save_every=1,
            ),
            reply_tokens=32,
            episode_tokens=300,
            batch=6,
        ),
        Profile(
            name="small",
            model="smollm2-135m",
            train=_LITTLE,
            heldout=msgspec.structs.replace(_LITTLE, n=200, split="heldout"),
            warm=SFT(steps=40, batch=4, learning_rate=5e-5, row_tokens=700, save_every=10),
            grpo=GRPO(
                learning_rate=2e-4,
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
                share_prompts=True,
                save_every=4,
            ),
            reply_tokens=64,
            episode_tokens=400,
            batch=25,
        ),
        *(
            Profile(
                name=name,
                model="qwen3-4b",
                train=msgspec.structs.replace(_PAPER, servers=servers),
                heldout=msgspec.structs.replace(_PAPER, n=1000, split="heldout"),
                warm=None,
                grpo=GRPO(learning_rate=0.0, vllm=True),
                reply_tokens=1024,
                episode_tokens=16_384,
                batch=64,
            )
            for name, servers in (("paper", ()), ("transfer", _SEEN))
        ),
    )
}


def find(name: str, reward: str = "paper") -> Profile:
    """A profile by name, its GRPO trained on one of the reward's presets (`prove.rewards.PRESETS`). Raises LookupError for an
    unknown profile or preset, naming those there are."""
    for what, given, known in (("profile", name, PROFILES), ("reward", reward, PRESETS)):
        if given not in known:
            raise LookupError(f"there is no {what} {given!r}{did_you_mean(given, known)}; there are: {', '.join(known)}")
    profile = PROFILES[name]
    return msgspec.structs.replace(profile, grpo=msgspec.structs.replace(profile.grpo, weights=PRESETS[reward]))
