"""A long walk through all servers: `python benchmarks/endurance.py --calls 1000000`.

Random calls, guided by the schemas alone, on worlds of many seeds; some hold a mistake, some a value that no schema can have
meant (NaN, half a surrogate pair, a list nested 2,000 deep), and now and then time passes. After every call that changed a
world, all that the domain says must hold is checked: money conserved, no negative stock, the tree a tree; at the end of each
walk, that the past is one which the domain's rules could have made. Prints one line a server, and ends with exit code 1 where
an exception escaped or an invariant broke.
"""

import argparse
import math
import os
import sys
import time
import traceback
from collections import Counter
from multiprocessing import Pool
from random import Random
from typing import Any

import msgspec

from prove.servers.catalog import catalogue, load
from prove.servers.session import Session
from prove.synthesis.planning.wander import wander

DEEP: list[Any] = []
for _ in range(2000):
    DEEP = [DEEP]
HOSTILE = (2**64, -(2**64), math.inf, math.nan, -0.0, 5.5, True, None, "", " \t", "x" * 20_000, "\ud800", "٣", DEEP, {}, [""])
STRIDE = 250  # calls in one world: far enough from where it began, and not so far that every call is slow


class Walk(msgspec.Struct):
    """What happened on one server."""

    server: str
    calls: int = 0
    changes: int = 0
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    succeeded: set[str] = msgspec.field(default_factory=set)
    problem: str = ""
    seconds: float = 0.0


def walk(server: str, calls: int, seed: int) -> Walk:
    """Walk on until so many calls are made, or something breaks."""
    found, begun = Walk(server), time.perf_counter()
    world = seed
    while found.calls < calls and not found.problem:
        _through(found, Session.open(server, world), min(STRIDE, calls - found.calls), Random(f"{seed}:{server}:{world}"))
        world += 1
    found.seconds = time.perf_counter() - begun
    return found


def _through(found: Walk, session: Session, calls: int, rng: Random) -> None:
    domain, before, last = load(found.server), session.digest(), "the first call"
    try:
        for visit in wander(session, found.server, calls, rng):
            last = f"{visit.tool.name}({visit.arguments}) -> {visit.result.text[:200]}"
            after = session.digest()
            found.calls += 1
            if visit.result.ok:
                found.succeeded.add(visit.tool.name)
            else:
                found.refused[visit.result.code or ""] += 1
            broken = list(domain.invariants(session.servers[found.server])) if after != before else []
            if broken:
                found.problem = f"{broken} after {last}"
                return
            found.changes += after != before
            before = after
            if visit.arguments and rng.random() < 0.05:
                last = f"something hostile in {last}"
                hostile = {**visit.arguments, rng.choice(sorted(visit.arguments)): rng.choice(HOSTILE)}
                found.refused[session.fork().call(visit.tool.name, hostile).code or "hostile, and taken"] += 1
                found.calls += 1
        if broken := list(domain.past(session.servers[found.server])):
            found.problem = f"in the past: {broken[:3]}, after {last}"
    except Exception:
        found.problem = f"after {last}:\n{traceback.format_exc()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=20_000, help="over all servers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    given = parser.parse_args()
    servers = list(catalogue())
    each = -(-given.calls // len(servers))
    print(f"{'server':16}{'calls':>9}{'changes':>9}{'refusals':>10}{'tools that succeeded':>22}{'us a call':>11}")
    with Pool(given.workers) as pool:
        walks = pool.starmap(walk, [(server, each, given.seed) for server in servers], chunksize=1)
    for w in walks:
        tools = f"{len(w.succeeded)} of {len(load(w.server).server.tools)}"
        cost = w.seconds / max(w.calls, 1) * 1e6
        print(f"{w.server:16}{w.calls:>9}{w.changes:>9}{w.refused.total():>10}{tools:>22}{cost:>11.0f}")
    refused = sum((w.refused for w in walks), Counter[str]())
    print(f"{sum(w.calls for w in walks)} calls; refused: {', '.join(f'{code} {n}' for code, n in refused.most_common())}")
    for w in (w for w in walks if w.problem):
        print(f"{w.server}: {w.problem}")
    sys.exit(any(w.problem for w in walks))


if __name__ == "__main__":
    main()
