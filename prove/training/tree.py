"""Token sequences that share their beginnings, read once: the rollouts of a group share the prompt with its tools, and every
call and result on which they agree."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import torch
from torch import Tensor


class Tree(msgspec.Struct):
    """Token sequences with shared beginnings as one tree: node n holds a token, `parents[n]` < n the node before it."""

    tokens: list[int]
    parents: list[int]  # -1 at a root
    paths: list[list[int]]  # the nodes of each sequence, in order

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Tree":
        node_of: dict[tuple[int, int], int] = {}
        paths = []
        for row in rows:
            path, node = [], -1
            for token in row:
                node = node_of.setdefault((node, token), len(node_of))
                path.append(node)
            paths.append(path)
        parents, tokens = zip(*node_of, strict=True)
        return cls(list(tokens), list(parents), paths)

    def places(self, nodes: Sequence[int]) -> list[int]:
        """For each of the nodes (each named once), a place of its own whose next token it is: the node before it, or, where that
        one already serves another, a twin that is added, and that nobody else sees."""
        taken: set[int] = set()
        places = []
        for node in nodes:
            place = self.parents[node]
            if place in taken:
                self.tokens.append(self.tokens[place])
                self.parents.append(self.parents[place])
                place = len(self.tokens) - 1
            taken.add(place)
            places.append(place)
        return places

    def inputs(self, device: Any) -> dict[str, Tensor]:
        """The tree as one row of model inputs: each node sees its ancestors and itself, at its depth. A single sequence needs no
        mask, and so is read by the fastest attention there is."""
        size = len(self.tokens)
        row = {"input_ids": torch.tensor([self.tokens], device=device)}
        if all(parent == node - 1 for node, parent in enumerate(self.parents)):
            return row | {"position_ids": torch.arange(size, device=device)[None]}
        sees_N_N = torch.eye(size, dtype=torch.bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                sees_N_N[node] |= sees_N_N[parent]
        return row | {"position_ids": (sees_N_N.sum(1) - 1)[None].to(device), "attention_mask": sees_N_N[None, None].to(device)}


def bunches(rows: Sequence[Sequence[int]], prompts: Sequence[int], share: bool, most: int) -> Iterator[list[int]]:
    """Positions of rows to read as one tree: those that share their first `prompts[i]` tokens, up to `most` tokens in all; without
    `share`, each alone."""
    groups: dict[Any, list[int]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(tuple(row[: prompts[i]]) if share else i, []).append(i)
    for group in groups.values():
        bunch: list[int] = []
        size = 0
        for i in group:
            more = len(rows[i]) - (prompts[i] if bunch else 0)
            if bunch and size + more > most:
                yield bunch
                bunch, size, more = [], 0, len(rows[i])
            bunch.append(i)
            size += more
        yield bunch
