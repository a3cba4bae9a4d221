"""A whole file verified: by record, by server, and in one table."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec

from prove.records import Conversation, read_conversations
from prove.servers.catalog import catalogue, load, toolbox
from prove.verify import checks
from prove.verify.evidence import gather

SIMILAR = 0.70  # so alike may two conversations of a server be at most (PAPER, section 3.5)
_SHOWN = 12  # faults that are named, of each check


class Fault(msgspec.Struct, frozen=True):
    """One thing that does not hold, of one record."""

    check: str
    record: str
    detail: str


class Verdict(msgspec.Struct):
    """How often each check was made, and what failed."""

    made: Counter[str]
    faults: list[Fault]
    calls: Counter[str]  # "server.tool" -> how often the ground truth calls it
    tools: int  # of all servers of the library

    def failed(self, check: str) -> int:
        """How many records fail a check."""
        return len({f.record for f in self.faults if f.check == check})

    def table(self) -> str:
        """The checks with how often they were made, passed and failed, the tools called, and the first faults."""
        lines = [f"{'check':<14}{'made':>8}{'passed':>8}{'failed':>8}"]
        lines += [f"{c:<14}{n:>8}{n - self.failed(c):>8}{self.failed(c):>8}" for c, n in self.made.items()]
        lines.append(f"\ntools called: {len(self.calls)} of {self.tools}, each {min(self.calls.values(), default=0)} times or more")
        for check in self.made:
            mine = [f for f in self.faults if f.check == check]
            lines += [f"{check}: {f.record}: {f.detail}" for f in mine[:_SHOWN]]
            lines += [f"{check}: and {len(mine) - _SHOWN} more"] if len(mine) > _SHOWN else []
        return "\n".join(lines)


def verify(file: Path, workers: int = 0, tell: Callable[[int, int], None] | None = None) -> Verdict:
    """Check every record of a JSON-lines file. `workers` processes, 0 for one a core; the verdict is the same for any number.

    Raises `BadRecord` for a line that is no conversation, LookupError for an unknown server, OSError for no file.
    """
    records = sorted(read_conversations(file), key=lambda r: (r.server, r.seed))  # so that worlds are built once
    for server in {home for r in records for home in r.homes}:
        load(server)
    made, faults = Counter({check.__name__: 0 for check in checks.ALL}), list[Fault]()
    for done, (names, found) in enumerate(_checked(records, workers or os.cpu_count() or 1), 1):
        made.update(names)
        faults += found
        if tell:
            tell(done, len(records))
    for name, check in (("duplicates", duplicates), ("identity", identity)):
        made[name] = len(records)
        faults += check(records)
    library = set(catalogue())
    calls = Counter(f"{home}.{tool.name}" for r in records for home, tool in (toolbox(r.homes)[c.name] for c in r.calls) if home in library)
    return Verdict(made, faults, calls, sum(len(load(s).server.tools) for s in library))


def _checked(records: Sequence[Conversation], workers: int) -> Iterator[tuple[list[str], list[Fault]]]:
    if workers == 1:
        yield from map(check, records)
        return
    with get_context("fork").Pool(workers) as pool:
        yield from pool.imap(check, records, chunksize=8)


def check(record: Conversation) -> tuple[list[str], list[Fault]]:
    """The checks that could be made of one record, and what they found."""
    evidence = gather(record)
    made = checks.ALL if not evidence.whole.refused else [c for c in checks.ALL if c not in checks.NEED_A_RUN]
    return [c.__name__ for c in made], [Fault(c.__name__, record.id, detail) for c in made for detail in c(evidence)]


# --- what only a whole file shows


def duplicates(records: Iterable[Conversation]) -> Iterator[Fault]:
    """Pairs of a server's conversations that are too alike, every pair compared."""
    for group in _by_server(records).values():
        for (one, a), (other, b) in combinations([(r.id, _features(r)) for r in group], 2):
            both = len(a & b)
            if both > SIMILAR * (len(a) + len(b) - both):
                yield Fault("duplicates", one, f"the same as {other} by {both / (len(a) + len(b) - both):.2f}")


def _features(record: Conversation) -> set[tuple[Any, ...]]:
    """(tool, argument, value) of every call, and each two tools that follow each other, the start and the end among them.

    Where nothing is called, what the user says at last is all there is.
    """
    values = {(c.name, name, msgspec.json.encode(value)) for c in record.calls for name, value in c.arguments.items()}
    follow = set(pairwise([None, *(c.name for c in record.calls), None]))
    return values | follow | (set() if record.calls else {(record.turns[-1].user,)})


def _by_server(records: Iterable[Conversation]) -> dict[str, list[Conversation]]:
    groups = defaultdict(list)
    for record in records:
        groups[record.server].append(record)
    return groups


def identity(records: Sequence[Conversation]) -> Iterator[Fault]:
    """No two records have the same id, and no world is in two splits."""
    ids, splits = Counter(r.id for r in records), defaultdict[tuple[str, int], set[str]](set)
    for record in records:
        for home in record.homes:
            splits[home, record.seed].add(record.split)
    for record in records:
        if ids[record.id] > 1:
            yield Fault("identity", record.id, f"{ids[record.id]} records have this id")
        if several := [splits[home, record.seed] for home in record.homes if len(splits[home, record.seed]) > 1]:
            yield Fault("identity", record.id, f"its world is in {' and '.join(sorted(several[0]))}")
