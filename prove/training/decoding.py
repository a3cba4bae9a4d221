"""Sampling from a Hugging Face model, with a cache that lives across turns.

A decoder is asked with whole contexts, as an inference server is, and keeps the keys and values of the last batch: a
context that continues one of its rows costs only its new tokens, and a context that several episodes share, as a group's
prompt or the result of the same call, is computed once. Rows have different lengths, so the cache has holes, which the
mask covers. Models with full attention only.
"""

from typing import Any

import torch
from torch import Tensor
from transformers import Cache, DynamicLayer

Sample = tuple[list[int], list[float]]  # the sampled ids and the log-probability of each


class RoomyLayer(DynamicLayer):
    """A cache layer with room to grow: a new token copies itself, not the whole past as the parent does.

    On a CPU that copy costs more than the model at a thousand tokens.
    """

    keys: Tensor
    values: Tensor
    block = 256
    room: tuple[Tensor, Tensor] | None = None

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        past, new = self.get_seq_length(), key_states.shape[-2]
        if self.room is None or past + new > self.room[0].shape[-2]:
            shape = (*key_states.shape[:2], (past + new) // self.block * self.block + self.block, key_states.shape[-1])
            rooms = key_states.new_empty(shape), value_states.new_empty(shape)
            if past:
                rooms[0][:, :, :past].copy_(self.keys)
                rooms[1][:, :, :past].copy_(self.values)
            self.room, self.is_initialized = rooms, True
        keys_room, values_room = self.room
        keys_room[:, :, past : past + new], values_room[:, :, past : past + new] = key_states, value_states
        self.keys, self.values = keys_room[:, :, : past + new], values_room[:, :, : past + new]
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        self.room = None
        super().batch_select_indices(indices)


class Decoder:
    """Samples continuations in one batch. Temperature 0 is greedy; the rest is plain sampling from the whole vocabulary."""

    def __init__(self, model: Any, eos: set[int], temperature: float = 1.0, seed: int = 0) -> None:
        self.model, self.eos, self.temperature = model, eos, temperature
        self.generator = torch.Generator(model.device).manual_seed(seed)
        self.forget()

    def forget(self) -> None:
        """Drop the cache: needed whenever the weights have changed."""
        self.rows: list[list[int]] = []  # the tokens that each row of the cache holds
        self.cache = Cache(layers=[RoomyLayer() for _ in range(self.model.config.num_hidden_layers)])
        self.valid_B_T = torch.zeros(0, 0, dtype=torch.bool, device=self.model.device)

    @torch.inference_mode()
    def __call__(self, contexts: list[list[int]], limits: list[int]) -> list[Sample]:
        """A continuation of each context, at most `limits[i]` tokens long, the end-of-sequence token included."""
        logits_B_V = self._read(contexts)
        out: list[Sample] = [([], []) for _ in contexts]
        live = [limit > 0 for limit in limits]
        while any(live):
            ids_B, logprobs_B = self._pick(logits_B_V)
            for i, (token, logprob) in enumerate(zip(ids_B, logprobs_B, strict=True)):
                if live[i]:
                    out[i][0].append(token)
                    out[i][1].append(logprob)
                    live[i] = token not in self.eos and len(out[i][0]) < limits[i]
            if any(live):
                logits_B_V = self._feed([[token] if go else [] for token, go in zip(ids_B, live, strict=True)])
        return out

    def _read(self, contexts: list[list[int]]) -> Tensor:
        """The logits after each context. What the cache holds is not read again, and what is asked twice is read once."""
        different = [list(context) for context in dict.fromkeys(map(tuple, contexts))]
        found = [self._row_of(context) for context in different]
        if None in found:
            self.forget()
            self.rows, self.valid_B_T = [[] for _ in different], self.valid_B_T.new_zeros(len(different), 0)
        else:
            self._select([row for row in found if row is not None])
        logits_U_V = self._feed([context[len(row) :] for context, row in zip(different, self.rows, strict=True)])
        rows = [different.index(context) for context in contexts]
        self._select(rows)
        return logits_U_V[rows]

    def _row_of(self, context: list[int]) -> int | None:
        fits = (i for i, row in enumerate(self.rows) if len(row) < len(context) and context[: len(row)] == row)
        return next(fits, None)

    def _select(self, rows: list[int]) -> None:
        if rows != list(range(len(self.rows))):
            indices = torch.tensor(rows, device=self.model.device)
            self.cache.batch_select_indices(indices)
            self.valid_B_T = self.valid_B_T[indices]
        self.rows = [list(self.rows[i]) for i in rows]

    def _feed(self, chunks: list[list[int]]) -> Tensor:
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
        for row, chunk in zip(self.rows, chunks, strict=True):
            row.extend(chunk)
        return logits_B_1_V[:, -1].float()

    def _mask(self, past: int, length: int) -> Tensor:
        """Who sees whom, (B, 1, length, past + length): valid columns, none to the right; each column sees itself, so
        that no row of the softmax is empty."""
        total = past + length
        causal_L_T = torch.ones(length, total, dtype=torch.bool, device=self.model.device).tril(past)
        itself_L_T = torch.eye(total, dtype=torch.bool, device=self.model.device)[past:]
        return (self.valid_B_T[:, None, None, :] & causal_L_T) | itself_L_T

    def _pick(self, logits_B_V: Tensor) -> tuple[list[int], list[float]]:
        logprobs_B_V = (logits_B_V / (self.temperature or 1.0)).log_softmax(-1)
        if self.temperature:
            noise_B_V = torch.empty_like(logprobs_B_V).exponential_(generator=self.generator)
            ids_B = (logprobs_B_V.exp() / noise_B_V).argmax(-1)  # the first of exponential clocks to ring
        else:
            ids_B = logits_B_V.argmax(-1)
        return ids_B.tolist(), logprobs_B_V.gather(1, ids_B[:, None])[:, 0].tolist()
