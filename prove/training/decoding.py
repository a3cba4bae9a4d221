"""Sampling from a Hugging Face model, with a cache that lives across turns.

A decoder is asked with whole contexts, as an inference server is, and keeps the keys and values of the last batch: a
context that continues one of its rows costs only its new tokens, and a context that several episodes share, as a group's
prompt or the result of the same call, is computed once. A row that has ended leaves the batch before the others do. Models
with full attention only.
"""

from random import Random
from typing import Any

import msgspec
import torch
from torch import Tensor
from transformers import Cache, DynamicLayer

Sample = tuple[list[int], list[float]]  # the sampled ids and the log-probability of each

CROWDED = 3 / 4  # of a batch's rows still go on: with fewer, a smaller batch is worth its copy
PADDED = 5 / 4  # so much longer than the shortest may the longest of the texts be that are read side by side
CACHE_SHARE = 0.4  # of a GPU's free memory may keys and values take; batches are copied as rows leave them


class RoomyLayer(DynamicLayer):
    """A cache layer with room to grow: a new token copies itself, not the whole past as the parent does.

    On a CPU that copy costs more than the model at a thousand tokens.
    """

    keys: Tensor
    values: Tensor
    block = 256
    room: tuple[Tensor, Tensor] | None = None

    @classmethod
    def of(cls, pasts: list[tuple[Tensor, Tensor] | None]) -> "RoomyLayer":
        """A layer that holds the keys and values of each row, (heads, tokens, size), right edges aligned; zeros lie in the holes."""
        layer = cls()
        known = [past for past in pasts if past]
        if known:
            heads, _, size = known[0][0].shape
            length = max(keys.shape[1] for keys, _ in known)
            layer._make_room(known[0][0], (len(pasts), heads, length, size))
            for i, past in enumerate(pasts):
                for kept, states in zip((layer.keys, layer.values), past or (), strict=False):
                    kept[i, :, length - states.shape[1] :] = states
        return layer

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        past, new = self.get_seq_length(), key_states.shape[-2]
        if self.room is None or past + new > self.room[0].shape[-2]:
            before = (self.keys, self.values) if past else ()
            self._make_room(key_states, (*key_states.shape[:2], past + new, key_states.shape[-1]))
            for kept, states in zip((self.keys, self.values), before, strict=False):
                kept[:, :, :past] = states
        assert self.room
        self.keys, self.values = (room[:, :, : past + new] for room in self.room)
        self.keys[:, :, past:], self.values[:, :, past:] = key_states, value_states
        return self.keys, self.values

    def _make_room(self, like: Tensor, shape: tuple[int, int, int, int]) -> None:
        """Zeros of this shape (rows, heads, tokens, size) as keys and as values, and room behind them."""
        rows, heads, length, size = shape
        roomy = (rows, heads, length // self.block * self.block + self.block, size)
        self.room, self.is_initialized = (like.new_zeros(roomy), like.new_zeros(roomy)), True
        self.keys, self.values = (room[:, :, :length] for room in self.room)


class Row(msgspec.Struct):
    """One sequence as it is kept between batches: what the model has read, and its keys and values, without holes."""

    tokens: list[int] = []
    layers: list[tuple[Tensor, Tensor]] = []  # of each layer, both (heads, tokens, size); none before the first token


class Batch:
    """Rows that are read and continued side by side. They have different lengths, so the cache has holes, which a mask covers."""

    def __init__(self, model: Any, rows: list[Row]) -> None:
        self.model, self.tokens = model, [list(row.tokens) for row in rows]
        longest = max(map(len, self.tokens))
        self.valid_B_T = torch.tensor([[column >= longest - len(t) for column in range(longest)] for t in self.tokens], dtype=torch.bool)
        self.valid_B_T = self.valid_B_T.to(model.device)
        layers = range(model.config.num_hidden_layers)
        self.cache = Cache(layers=[RoomyLayer.of([row.layers[i] if row.layers else None for row in rows]) for i in layers])

    def row(self, i: int) -> Row:
        """What is worth keeping of row i."""
        valid_T = self.valid_B_T[i]
        return Row(list(self.tokens[i]), [(layer.keys[i][:, valid_T], layer.values[i][:, valid_T]) for layer in self.cache.layers])

    def feed(self, chunks: list[list[int]]) -> Tensor:
        """Append a chunk to each row, on the right edge of the new columns; the logits after its last token."""
        longest = max(map(len, chunks))
        padded = [[0] * (longest - len(chunk)) + chunk for chunk in chunks]
        new_B_L = torch.tensor([[0] * (longest - len(c)) + [1] * len(c) for c in chunks], dtype=torch.bool, device=self.model.device)
        past = self.valid_B_T.shape[1]
        self.valid_B_T = torch.cat([self.valid_B_T, new_B_L], dim=1)
        positions_B_T = (self.valid_B_T.cumsum(1) - 1).clamp(min=0)
        logits_B_1_V = self.model(
            input_ids=torch.tensor(padded, device=self.model.device),
            attention_mask=self._mask(past, longest),
            position_ids=positions_B_T[:, past:],
            cache=self.cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits
        for tokens, chunk in zip(self.tokens, chunks, strict=True):
            tokens.extend(chunk)
        return logits_B_1_V[:, -1].float()

    def _mask(self, past: int, length: int) -> Tensor:
        """Who sees whom, (B, 1, length, past + length): valid columns, none to the right; each column sees itself, so
        that no row of the softmax is empty."""
        total = past + length
        causal_L_T = torch.ones(length, total, dtype=torch.bool, device=self.model.device).tril(past)
        itself_L_T = torch.eye(total, dtype=torch.bool, device=self.model.device)[past:]
        return (self.valid_B_T[:, None, None, :] & causal_L_T) | itself_L_T


class Decoder:
    """Samples continuations in one batch. Temperature 0 is greedy; the rest is plain sampling from the whole vocabulary.

    A row's choices hang on its own seed, not on who stands beside it.
    """

    def __init__(self, model: Any, eos: set[int], temperature: float = 1.0) -> None:
        self.model, self.eos, self.temperature = model, eos, temperature
        self.rows: list[Row] = []  # those of the last batch; for one set of weights

    def room(self, tokens: int) -> int | None:
        """How many rows of so many tokens fit into memory at once; None where nothing says so (on a CPU)."""
        device = self.model.device
        if device.type != "cuda":
            return None
        free = torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return max(1, int(CACHE_SHARE * free / (tokens * cache_bytes(self.model.config, self.model.dtype.itemsize))))

    @torch.inference_mode()
    def __call__(self, contexts: list[list[int]], limits: list[int], seeds: list[int]) -> list[Sample]:
        """A continuation of each context, at most `limits[i]` tokens long, the end-of-sequence token included."""
        chance = [Random(seed) for seed in seeds]
        out: list[Sample] = [([], []) for _ in contexts]
        live = {i for i, limit in enumerate(limits) if limit > 0}
        batch, logits_B_V = self._read(contexts)
        at = list(range(len(contexts)))  # the context that each row of the batch continues
        while True:
            for i, token, logprob in zip(at, *self._pick(logits_B_V, [chance[i].random() for i in at]), strict=True):
                if i in live:
                    out[i][0].append(token)
                    out[i][1].append(logprob)
                    if token in self.eos or len(out[i][0]) == limits[i]:
                        live.remove(i)
            if len(live) <= CROWDED * len(at):
                rows = {i: batch.row(r) for r, i in enumerate(at)}
                self.rows += [row for i, row in rows.items() if i not in live]
                if not live:
                    return out
                at = sorted(live)
                batch = Batch(self.model, [rows[i] for i in at])
            logits_B_V = batch.feed([out[i][0][-1:] if i in live else [] for i in at])

    def _read(self, contexts: list[list[int]]) -> tuple[Batch, Tensor]:
        """A batch that has read the contexts, and the logits after each. What the last batch held is not read again, and what
        is asked twice is read once."""
        different = list(dict.fromkeys(map(tuple, contexts)))
        rows = [self._row_before(context) for context in different]
        new = [list(context[len(row.tokens) :]) for context, row in zip(different, rows, strict=True)]
        self.rows = []
        logits: dict[int, Tensor] = {}
        for group in _alike([len(chunk) for chunk in new]):
            batch = Batch(self.model, [rows[i] for i in group])
            logits |= zip(group, batch.feed([new[i] for i in group]), strict=True)
            for r, i in enumerate(group):
                rows[i] = batch.row(r)
        which = [different.index(tuple(context)) for context in contexts]
        return Batch(self.model, [rows[i] for i in which]), torch.stack([logits[i] for i in which])

    def _row_before(self, context: tuple[int, ...]) -> Row:
        """A row of the last batch that this context continues, or an empty one."""
        fits = (row for row in self.rows if len(row.tokens) < len(context) and context[: len(row.tokens)] == tuple(row.tokens))
        return next(fits, Row())

    def _pick(self, logits_B_V: Tensor, chance_B: list[float]) -> tuple[list[int], list[float]]:
        logprobs_B_V = (logits_B_V / (self.temperature or 1.0)).log_softmax(-1)
        if self.temperature:
            upto_B_V = logprobs_B_V.exp().cumsum(-1, dtype=torch.float64)
            at_B_1 = torch.tensor(chance_B, dtype=torch.float64, device=upto_B_V.device)[:, None] * upto_B_V[:, -1:]
            ids_B = torch.searchsorted(upto_B_V, at_B_1, right=True)[:, 0]
        else:
            ids_B = logits_B_V.argmax(-1)
        return ids_B.tolist(), logprobs_B_V.gather(1, ids_B[:, None])[:, 0].tolist()


def cache_bytes(config: Any, itemsize: int = 2) -> int:
    """Bytes of keys and values that one token takes."""
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(2 * config.num_hidden_layers * config.num_key_value_heads * size * itemsize)


def _alike(lengths: list[int]) -> list[list[int]]:
    """Positions in groups of nearly the same length: what is read side by side is padded to the longest."""
    groups: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and lengths[i] <= PADDED * lengths[groups[-1][0]]:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups
