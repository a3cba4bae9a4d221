"""A local model as a policy. It keeps, for every episode, the exact tokens it read and sampled."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import msgspec

from prove.episode import Episode, Policy, Reply
from prove.policies import mistaken
from prove.training.decoding import Decoder, Sample
from prove.training.rendering import Renderer


class Engine(Protocol):
    """What samples: a `Decoder`, or an inference engine with a prefix cache of its own."""

    def __call__(self, contexts: list[list[int]], limits: list[int], seeds: list[int]) -> list[Sample]:
        """A continuation of each context, at most `limits[i]` tokens long, by the chance of `seeds[i]`."""
        ...

    def room(self, tokens: int) -> int | None:
        """How many episodes of so many tokens its cache holds at once; None for any number."""
        ...


class Track(msgspec.Struct):
    """The tokens of one episode. `sampled[i]` says whether the model sampled `completion[i]`; only those carry loss."""

    prompt: list[int]
    completion: list[int] = []
    sampled: list[bool] = []
    logprobs: list[float] = []  # 0.0 where nothing was sampled
    messages: int = 0  # how many of the episode's messages these tokens hold
    full: bool = False  # whether the budget is spent: nothing more is sampled

    @property
    def tokens(self) -> list[int]:
        return self.prompt + self.completion

    def add(self, ids: list[int], logprobs: list[float] | None = None, learnt: bool = True) -> None:
        """Append tokens: a sampled reply's with their log-probabilities, or the environment's without. A reply that is not to be
        `learnt` carries no loss."""
        self.messages += logprobs is not None
        self.completion += ids
        self.sampled += [logprobs is not None and learnt] * len(ids)
        self.logprobs += logprobs or [0.0] * len(ids)


class Recorder:
    """Keeps the tracks of the episodes that are alive, and brings them up to date before each reply."""

    def __init__(self, renderer: Renderer, episode_tokens: int) -> None:
        self.renderer, self.episode_tokens = renderer, episode_tokens
        self.tracks: WeakKeyDictionary[Episode, Track] = WeakKeyDictionary()

    def read(self, episode: Episode) -> Track:
        """The episode's track, with everything said to the model so far. Full if that does not fit the budget."""
        if episode not in self.tracks:
            self.tracks[episode] = Track(self.renderer.prompt(episode.messages, episode.tools))
        elif not self.tracks[episode].full:
            self._append(episode, self.tracks[episode])
        track = self.tracks[episode]
        track.messages = len(episode.messages)
        return track

    def _append(self, episode: Episode, track: Track) -> None:
        if track.messages == len(episode.messages):
            return
        ended = track.completion[-1:] == [self.renderer.eos]
        new = self.renderer.between(episode.messages[track.messages :], ended)
        if len(track.completion) + len(new) >= self.episode_tokens:
            track.full = True
        else:
            track.add(new)


class LocalModel:
    """A policy that samples replies with a local model, many episodes in one batch.

    `reply_tokens` bounds one reply, `episode_tokens` all that follows the first prompt, tool results included; an
    episode that has used them up is answered with silence. `engine` replaces the decoder, for instance by vLLM. What is
    sampled hangs on `seed`, the episode's `name` and the place in it, on nothing else.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        temperature: float = 0.0,
        reply_tokens: int = 256,
        episode_tokens: int = 4096,
        seed: int = 0,
        engine: Engine | None = None,
        name: Callable[[Episode], object] = lambda episode: episode.conversation.id,
    ) -> None:
        self.renderer = Renderer(tokenizer)
        self.recorder = Recorder(self.renderer, episode_tokens)
        self.reply_tokens, self.episode_tokens = reply_tokens, episode_tokens
        self.engine: Engine = engine or Decoder(model, stop_tokens(model, tokenizer), temperature)
        self.seed, self.name = seed, name

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        tracks = [self.recorder.read(e) for e in episodes]
        open_ = [t for t in tracks if not t.full]
        limits = [min(self.reply_tokens, self.episode_tokens - len(t.completion)) for t in open_]
        seeds = [self._seed(e, t) for e, t in zip(episodes, tracks, strict=True) if not t.full]
        replies = {}
        for track, (ids, logprobs) in zip(open_, self.engine([t.tokens for t in open_], limits, seeds) if open_ else [], strict=True):
            track.add(ids, logprobs)
            replies[id(track)] = self.renderer.read(ids)
        return [replies.get(id(t), Reply()) for t in tracks]

    def _seed(self, episode: Episode, track: Track) -> int:
        return Random(f"{self.seed} {self.name(episode)} {len(track.completion)}").getrandbits(63)

    def track(self, episode: Episode) -> Track:
        """The tokens of an episode that this policy played."""
        return self.recorder.tracks[episode]


class Teacher:
    """Plays another policy and keeps what a model would have had to sample to say the same: supervised data. A mistake that is
    corrected afterwards is read as what had been said, and carries no loss."""

    def __init__(self, policy: Policy, tokenizer: Any, episode_tokens: int = 4096) -> None:
        self.policy, self.renderer = policy, Renderer(tokenizer)
        self.recorder = Recorder(self.renderer, episode_tokens)

    def reply(self, episodes: list[Episode]) -> list[Reply]:
        replies = self.policy.reply(episodes)
        for episode, reply in zip(episodes, replies, strict=True):
            track = self.recorder.read(episode)
            if not track.full:
                ids = self.renderer.reply(reply)
                track.add(ids, [0.0] * len(ids), learnt=not mistaken(episode, reply))
        return replies

    def track(self, episode: Episode) -> Track:
        """The tokens of an episode that was played."""
        return self.recorder.tracks[episode]


def stop_tokens(model: Any, tokenizer: Any, folder: Path | None = None) -> set[int]:
    """The ids that end a reply: the tokenizer's, and those of the generation settings of a model, or of a model's folder."""
    if folder:
        from transformers import GenerationConfig

        settings = GenerationConfig.from_pretrained(folder) if (folder / "generation_config.json").is_file() else None
    else:
        settings = model.generation_config
    more = getattr(settings, "eos_token_id", None)
    return {tokenizer.eos_token_id, *(more if isinstance(more, list) else [more])} - {None}
