"""Everything that touches TRL's inside: `GRPOTrainer` of TRL 1.16, its names not promised by its authors.

The forward pass of the loss is our own: TRL pads every row to the longest of the step, ours reads no padding, and what the
rollouts of a group share only once. So are two things that TRL does to the batch: it shuffles the rollouts, which tears groups
apart, and it adds adapters to the weights themselves before it hands them to vLLM.
"""

from collections.abc import Sequence
from typing import Any

import torch
from accelerate.utils import is_peft_model
from accelerate.utils.fsdp_utils import fsdp2_prepare_model
from torch import Tensor
from transformers import AutoModelForCausalLM
from trl import GRPOTrainer
from trl.trainer.utils import add_fused_lm_head, split_tensor_dict

from prove.run import RunError
from prove.training.tree import Tree, bunches
from prove.training.weights import plain_weights

MOST = 16_384  # tokens of a tree, if it is more than one row: its mask has the square of them
GAP = 0.1  # mean distance of two log-probabilities of the same token, from which on sampler and trainer are two models


class TreeTrainer(GRPOTrainer):
    """`GRPOTrainer` whose loss reads no padding. The numbers are TRL's; `own_forward = False` is TRL's own way.

    `share` reads a group as a tree. `fused` computes the log-probabilities piece by piece, never all logits at once, which GPUs
    have no room for; on a CPU it is slower.
    """

    share = True
    own_forward = True
    _buffered_inputs: Any
    fused: bool | None = None  # None: on a GPU
    _scored_B_C: Tensor | None = None  # in the loss, which tokens carry it: only those are brought to the vocabulary
    _sampler_B_C: Tensor | None = None  # in the loss, what the sampler said of them

    def __init__(self, model: Any, args: Any, **rest: Any) -> None:
        beta, args.beta = args.beta, 0.0  # the KL term's reference is ours: TRL's, if it is sharded, is gathered whole to be read
        super().__init__(model=model, args=args, **rest)
        self.beta = args.beta = beta
        if beta and not is_peft_model(self.model):  # without its adapter, an adapted model is its own
            self.ref_model = self._reference()
        if self.fused is None:
            self.fused = self.accelerator.device.type == "cuda"
        self.agreed = False  # whether sampler and trainer have been compared
        if self.use_vllm:
            self.vllm_generation._iter_named_params = lambda: plain_weights(self.accelerator.unwrap_model(self.model), torch.bfloat16)

    def _reference(self) -> Any:
        """The model that training starts from, frozen, in bfloat16 on a GPU; layer by layer sharded where the other is."""
        dtype = torch.bfloat16 if self.accelerator.device.type == "cuda" else torch.float32
        model = AutoModelForCausalLM.from_pretrained(self.model.config._name_or_path, dtype=dtype).requires_grad_(False).eval()
        add_fused_lm_head(model, temperature=self.temperature)
        if self.is_fsdp_enabled:
            return fsdp2_prepare_model(self.accelerator, model).eval()
        return model.to(self.accelerator.device)

    def note(self, name: str, value: float) -> None:
        """A number of this step: what is told is the mean of all that are noted."""
        self._metrics["train"][name].append(value)

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        if not self.model.training:
            return super()._prepare_inputs(generation_batch)
        position = self._step % self.args.steps_per_generation
        if position == 0 or self._buffered_inputs is None:
            batch = self._generate_and_score_completions(generation_batch)
            self._buffered_inputs = split_tensor_dict(batch, self.args.steps_per_generation)
        return self._buffered_inputs[position]

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
        if "tool_mask" in inputs:
            self._scored_B_C = inputs["tool_mask"] * inputs["completion_mask"]
            if not self.beta:  # a group that agrees has no advantage: nothing to compute
                self._scored_B_C = self._scored_B_C * (inputs["advantages"] != 0)[:, None]
        self._sampler_B_C = inputs.get("sampling_per_token_logps")
        try:
            return super()._compute_loss(model, inputs)
        finally:
            self._scored_B_C = self._sampler_B_C = None

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
        if not self.own_forward or any(value is not None and value is not False for value in rest.values()):
            return super()._get_per_token_logps_and_entropies(
                model, input_ids, attention_mask, logits_to_keep, batch_size, compute_entropy, **rest
            )
        width, device = logits_to_keep, input_ids.device
        in_loss = self._scored_B_C is not None
        scored_B_C = (attention_mask[:, -width:] if self._scored_B_C is None else self._scored_B_C).bool()
        rows = [ids_T[mask_T.bool()].tolist() for ids_T, mask_T in zip(input_ids, attention_mask, strict=True)]
        starts = [len(row) - int(n) for row, n in zip(rows, attention_mask[:, -width:].sum(1), strict=True)]
        logprobs_B_C = torch.zeros(scored_B_C.shape, device=device)
        entropies_B_C = torch.zeros_like(logprobs_B_C)
        work = []
        for bunch in bunches(rows, starts, self.share, MOST):
            cells = [(i, int(c)) for i in bunch for c in scored_B_C[i].nonzero()[:, 0]]
            if cells:
                tree = Tree.of([rows[i] for i in bunch])
                work.append((tree, cells, [tree.paths[bunch.index(i)][starts[i] + c] for i, c in cells]))
        idle = self._most(len(work)) - len(work)
        for tree, cells, nodes in work:
            scores_S = self._score(model, tree, nodes)
            at = tuple(torch.tensor(cells, device=device).T)
            logprobs_B_C = logprobs_B_C.index_put(at, scores_S[0])
            entropies_B_C = entropies_B_C.index_put(at, scores_S[1])
            if in_loss:
                self.note("read", len(tree.tokens))
                self.note("real", sum(map(len, tree.paths)))
        # a forward pass is a matter of all processes: whoever has fewer to do takes part in the others', and changes nothing
        for _ in range(idle):
            logprobs_B_C = logprobs_B_C + 0.0 * self._score(model, Tree.of([rows[0][:2]]), [1])[0].sum()
        if in_loss and self._sampler_B_C is not None:
            self._compare(logprobs_B_C.detach(), self._sampler_B_C, scored_B_C)
        return logprobs_B_C, entropies_B_C if compute_entropy else None, None

    def _most(self, count: int) -> int:
        """The largest count of all processes, and at least 1: a step without a forward pass has no gradient, not one of zero."""
        counts = self.accelerator.gather(torch.tensor([max(1, count)], device=self.accelerator.device))
        return int(counts.max())

    def _score(self, model: Any, tree: Tree, nodes: Sequence[int]) -> tuple[Tensor, Tensor]:
        """For each of S nodes: the log-probability of its token, and the entropy of the choice."""
        device = self.accelerator.device
        different = {n: d for d, n in enumerate(dict.fromkeys(nodes))}  # rows may say the same for a while
        which_S = torch.tensor([different[n] for n in nodes], device=device)
        if self.fused:
            places = tree.places(list(different))
            labels_1_N = torch.full((1, len(tree.tokens)), -100, device=device)
            labels_1_N[0, places] = torch.tensor([tree.tokens[n] for n in different], device=device)
            with self.accelerator.autocast():
                out = model(**tree.inputs(device), shift_labels=labels_1_N, fused_lm_head=True)
            entropy_1_N = torch.zeros_like(out.log_probs) if out.entropy is None else out.entropy
            return out.log_probs[0, places][which_S].float(), entropy_1_N[0, places][which_S].float().detach()
        before_P, choice_D = torch.tensor([tree.parents[n] for n in different], device=device).unique(return_inverse=True)
        with self.accelerator.autocast():
            logits_P_V = model(**tree.inputs(device), logits_to_keep=before_P, use_cache=False).logits[0]
        logprobs_P_V = (logits_P_V.float() / self.temperature).log_softmax(-1)
        with torch.no_grad():
            entropies_P = -(logprobs_P_V.exp() * logprobs_P_V).sum(-1)
        tokens_D = torch.tensor([tree.tokens[n] for n in different], device=device)
        return logprobs_P_V[choice_D, tokens_D][which_S], entropies_P[choice_D][which_S]

    @torch.no_grad()
    def _compare(self, trainer_B_C: Tensor, sampler_B_C: Tensor, scored_B_C: Tensor) -> None:
        """Note how far sampler and trainer are apart. Raises `RunError` on all processes if they are in the first step."""
        apart = (trainer_B_C - sampler_B_C)[scored_B_C]
        apart = apart[~apart.isnan()]
        sums = torch.stack([apart.abs().sum(), apart.exp().sum(), torch.tensor(float(len(apart)), device=apart.device)])
        gap, ratio, count = self.accelerator.reduce(sums, reduction="sum").tolist()
        if not count:
            return
        self.note("gap", gap / count)
        self.note("importance", ratio / count)
        if not self.agreed and gap / count > GAP:
            raise RunError(
                f"the sampler and the trainer give the same tokens log-probabilities that are {gap / count:.2f} apart in the mean"
                f" (at most {GAP}): they do not hold the same weights, template or temperature; nothing has been trained"
            )
        self.agreed = True
