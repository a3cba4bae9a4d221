"""Near-duplicates: the same calls said in other words."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from prove.records import Conversation

THRESHOLD = 0.70


def features(conversation: Conversation) -> frozenset[str]:
    """What two conversations are compared by: the (tool, argument, value) triples of the ground truth, joined with the
    bigrams of its tool names. The same chain about other entities stays; the same calls in other words go."""
    calls = conversation.calls
    triples = {f"{c.name}.{a}={msgspec.json.encode(v).decode()}" for c in calls for a, v in c.arguments.items()}
    names = ["^", *(c.name for c in calls), "$"]
    bigrams = {f"{a}>{b}" for a, b in pairwise(names)}
    said = set() if calls else {conversation.turns[-1].user}  # without calls, the words are all there is
    return frozenset(triples | bigrams | said)


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """|a and b| / |a or b|."""
    return len(a & b) / len(a | b)


class Seen:
    """The conversations kept so far, by server; finds whether a new one is too like one of them."""

    def __init__(self, kept: Iterable[Conversation] = ()) -> None:
        self._sets: list[frozenset[str]] = []
        self._holders: dict[tuple[str, str], list[int]] = defaultdict(list)  # (server, feature) -> who has it
        for conversation in kept:
            self.known(conversation)

    def known(self, conversation: Conversation) -> bool:
        """Whether one of the same server has a Jaccard similarity above the threshold; if not, it joins the kept."""
        new = features(conversation)
        shared: dict[int, int] = defaultdict(int)
        for feature in new:
            for holder in self._holders.get((conversation.server, feature), ()):
                shared[holder] += 1
        if any(n / (len(new) + len(self._sets[h]) - n) > THRESHOLD for h, n in shared.items()):
            return True
        for feature in new:
            self._holders[conversation.server, feature].append(len(self._sets))
        self._sets.append(new)
        return False
