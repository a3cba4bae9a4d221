"""Everything that touches TRL's inside: `GRPOTrainer` of TRL 1.16, its names not promised by its authors.

Two things are taken into our own hands. `TreeTrainer` reads what the rollouts of a group share once, not once a rollout:
the prompt with its tools, and every call and result on which they agree. `VLLM` samples with the engine that TRL keeps in
step with the weights.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import torch
from torch import Tensor
from trl import GRPOTrainer

from prove.training.decoding import Sample


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

    def inputs(self, device: Any) -> dict[str, Tensor]:
        """The tree as one row of model inputs: each node sees its ancestors and itself, at its depth."""
        size = len(self.tokens)
        sees_N_N = torch.eye(size, dtype=torch.bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                sees_N_N[node] |= sees_N_N[parent]
        return {
            "input_ids": torch.tensor([self.tokens], device=device),
            "position_ids": (sees_N_N.sum(1) - 1)[None].to(device),
            "attention_mask": sees_N_N[None, None].to(device),
        }


class TreeTrainer(GRPOTrainer):
    """`GRPOTrainer` whose loss reads a group as a tree. The numbers are the same; `trees = False` is TRL's own way."""

    trees = True
    _sampled_B_C: Tensor | None = None  # in the loss, which tokens carry it: only those are brought to the vocabulary

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        self._sampled_B_C = inputs.get("tool_mask")
        if self._sampled_B_C is not None and not self.beta:  # a group that agrees has no advantage: nothing to compute
            self._sampled_B_C = self._sampled_B_C * (inputs["advantages"] != 0)[:, None]
        try:
            return super()._compute_loss(model, inputs)
        finally:
            self._sampled_B_C = None

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: Tensor,
        attention_mask: Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        compute_entropy: bool = False,
        **rest: Any,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        if not self.trees or any(value is not None and value is not False for value in rest.values()):
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, batch_size, compute_entropy, **rest
            )
        width = logits_to_keep
        scored_B_C = attention_mask[:, -width:].bool()
        if self._sampled_B_C is not None:
            scored_B_C = scored_B_C & self._sampled_B_C.bool()
        logprobs_B_C = torch.zeros(scored_B_C.shape, device=input_ids.device)
        entropies_B_C = torch.zeros_like(logprobs_B_C)
        rows = [ids_T[mask_T.bool()].tolist() for ids_T, mask_T in zip(input_ids, attention_mask, strict=True)]
        starts = [len(row) - int(n) for row, n in zip(rows, attention_mask[:, -width:].sum(1), strict=True)]
        for group in _groups([tuple(row[:start]) for row, start in zip(rows, starts, strict=True)]):
            cells = [(i, int(c)) for i in group for c in scored_B_C[i].nonzero()[:, 0]]
            if cells:
                tree = Tree.of([rows[i] for i in group])
                nodes = [tree.paths[group.index(i)][starts[i] + c] for i, c in cells]
                at = tuple(torch.tensor(cells, device=input_ids.device).T)
                logprobs_S, entropies_S = self._score(model, tree, nodes)
                logprobs_B_C = logprobs_B_C.index_put(at, logprobs_S)
                entropies_B_C = entropies_B_C.index_put(at, entropies_S)
        if torch.is_grad_enabled() and not logprobs_B_C.requires_grad:  # nothing was scored: a gradient of zero
            logprobs_B_C = logprobs_B_C + 0.0 * sum(p.sum() for p in model.parameters() if p.requires_grad)
        return logprobs_B_C, entropies_B_C if compute_entropy else None, None

    def _score(self, model: Any, tree: Tree, nodes: list[int]) -> tuple[Tensor, Tensor]:
        """For each of S nodes: the log-probability of its token, and the entropy of the choice."""
        device = self.accelerator.device
        before_P, choice_S = torch.tensor([tree.parents[n] for n in nodes], device=device).unique(return_inverse=True)
        with self.accelerator.autocast():
            logits_P_V = model(**tree.inputs(device), logits_to_keep=before_P, use_cache=False).logits[0]
        logprobs_P_V = (logits_P_V.float() / self.temperature).log_softmax(-1)
        with torch.no_grad():
            entropies_P = -(logprobs_P_V.exp() * logprobs_P_V).sum(-1)
        return logprobs_P_V[choice_S, torch.tensor([tree.tokens[n] for n in nodes], device=device)], entropies_P[choice_S]


def _groups(keys: Sequence[Any]) -> list[list[int]]:
    """The positions that hold the same key, together."""
    found: dict[Any, list[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    return list(found.values())


class VLLM:
    """Samples with the vLLM engine of a trainer in colocate mode, tensor parallel 1; its prefix cache stands in for ours.

    Not run here: it needs a GPU.
    """

    def __init__(self, trainer: Any, temperature: float) -> None:
        self.llm, self.temperature = trainer.vllm_generation.llm, temperature

    def __call__(self, contexts: list[list[int]], limits: list[int]) -> list[Sample]:
        from vllm import SamplingParams

        settings = [SamplingParams(temperature=self.temperature, max_tokens=limit, logprobs=0) for limit in limits]
        answers = self.llm.generate([{"prompt_token_ids": c} for c in contexts], sampling_params=settings, use_tqdm=False)
        first = [answer.outputs[0] for answer in answers]
        return [(list(o.token_ids), [step[i].logprob for i, step in zip(o.token_ids, o.logprobs, strict=True)]) for o in first]
