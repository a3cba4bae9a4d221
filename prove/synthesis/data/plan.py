"""What a data set is to be: how many conversations of which kinds, on which servers, in which worlds."""

import msgspec

from prove.records import Kind, Split
from prove.servers.catalog import catalogue, load
from prove.synthesis.broad.compose import Shares
from prove.synthesis.machine import Shape

#: Which worlds each split lives in: what is held out is held out by world, always.
WORLDS: dict[Split, range] = {"train": range(0, 48), "validation": range(48, 52), "heldout": range(52, 64)}

#: The paper's mix of 13,517: multi-turn, missing function, abstention.
PAPER_MIX: dict[Kind, int] = {"multi_turn": 10895, "clarification": 1500, "abstention": 1122}

#: The four servers that the mix `transfer` never trains on, one of a kind: records, orders, a market, a machine.
UNSEEN = ("crm", "food_delivery", "trading", "vehicle")


class Plan(msgspec.Struct, frozen=True):
    """What to make. `mix` gives each kind its weight; knobs are the paper's shares."""

    n: int
    seed: int = 0
    servers: tuple[str, ...] = ()  # empty: the whole library
    split: Split = "train"
    mix: tuple[tuple[Kind, int], ...] = (("multi_turn", 1),)
    shape: Shape = Shape()
    distractors: float = 0.4
    stripped_enums: float = 0.3
    max_tools: int = 0  # at most so many candidate tools of the server; 0: all of them
    broad: Shares | None = None  # queries of the kinds of `prove.synthesis.broad`, in these shares

    def __post_init__(self) -> None:
        if kept := [s for s in self.servers if self.split != "heldout" and load(s).server.heldout]:
            raise LookupError(f"{', '.join(kept)} is there to measure by, and in no split but heldout: leave it out")

    @property
    def homes(self) -> tuple[str, ...]:
        return self.servers or tuple(catalogue())

    def kind(self, i: int) -> Kind:
        """The kind of item i: each kind in its share over any stretch of items."""
        total = sum(weight for _, weight in self.mix)
        place, upto = (i * 7919 + 1) % total, 0  # 7919 is a prime: neighbours differ in kind
        for kind, weight in self.mix:
            upto += weight
            if place < upto:
                return kind
        raise AssertionError("the weights of a mix add up to nothing")
