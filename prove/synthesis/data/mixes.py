"""Mixes by name: the paper's, the paper's on the servers that `transfer` trains on, conversations alone, and our own."""

from collections.abc import Sequence

from prove.records import Split
from prove.servers.errors import did_you_mean
from prove.synthesis.broad.compose import Shares
from prove.synthesis.data.plan import PAPER_MIX, UNSEEN, Plan

MIXES = ("multi_turn", "paper", "transfer", "broad")


def plan_for(mix: str, n: int, seed: int = 0, servers: Sequence[str] = (), split: Split = "train", max_tools: int = 0) -> Plan:
    """The plan of a mix, on those servers or on all. `transfer` leaves its unseen servers to the split "heldout"; `broad` has the
    paper's kinds, and queries of the kinds of `prove.synthesis.broad`. Raises LookupError for a mix that there is not."""
    if mix not in MIXES:
        raise LookupError(f"there is no mix {mix!r}{did_you_mean(mix, MIXES)}; there are: {', '.join(MIXES)}")
    plan = Plan(n, seed, tuple(servers), split, max_tools=max_tools)
    homes = tuple(name for name in plan.homes if mix != "transfer" or split == "heldout" or name not in UNSEEN)
    kinds = plan.mix if mix == "multi_turn" else tuple(PAPER_MIX.items())
    return Plan(n, seed, homes, split, kinds, max_tools=max_tools, broad=Shares() if mix == "broad" else None)
