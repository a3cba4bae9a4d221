"""What the kernel costs, beside what a session costs elsewhere: `python benchmarks/kernel.py`.

Prints the median of a fork, a snapshot, a digest and a call, and how a fork grows with the world, against copying and
pickling the same records; every ratio is from this one run.
"""

import copy
import pickle
import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from prove.servers import Record, Server, table
from prove.servers.catalog import catalogue
from prove.servers.server import World
from prove.servers.session import Session
from prove.synthesis.planning.wander import wander

REPEATS = 20  # of one call


class Row(Record):
    row_id: str
    name: str
    amount: int


class Sheet(Server):
    """One table of any size."""

    rows = table(Row, "R-{}")


def median_us(function: Callable[[], Any], repeats: int = 200) -> float:
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


def sized(size: int) -> Session:
    """A session on a world of `size` records."""

    def populate(sheet: Sheet, make: Any) -> None:
        for i in range(size):
            sheet.rows.add(Row(sheet.rows.mint(), f"name {i}", i))

    world = World(Sheet, 0, populate)
    return Session({"sheet": world}, (world.start, [{}]), {}, None)


def growth() -> None:
    """How a fork grows with the world, against a copy of the same records by pickle and, as plain dicts, by deepcopy."""
    print(f"{'records':>9} {'fork us':>9} {'pickle us':>11} {'deepcopy us':>12} {'pickle/fork':>12} {'deepcopy/fork':>14}")
    for size in (10, 1_000, 100_000):
        session = sized(size)
        records = session.servers["sheet"].state["rows"].base.records
        plain = {key: msgspec.to_builtins(record) for key, record in records.items()}
        fork = median_us(session.fork)
        pickled = median_us(lambda records=records: pickle.loads(pickle.dumps(records)), 3)
        copied = median_us(lambda plain=plain: copy.deepcopy(plain), 1)
        print(f"{size:>9} {fork:>9.1f} {pickled:>11.0f} {copied:>12.0f} {pickled / fork:>12.0f} {copied / fork:>14.0f}")


def calls() -> None:
    """The cost of the calls that a wanderer makes, on every server: each is made again and again, every time on a fork of the
    session as it was, so that a change stays a change and a refusal a refusal."""
    every = []
    print(f"\n{'server':<16} {'call us (median)':>17} {'p90':>8} {'fork us':>9} {'digest us':>10}")
    for server in catalogue():
        session = Session.open(server, 0)
        costs = []
        for visit in wander(session.fork(), server, 150, Random(server)):
            forks = iter([session.fork() for _ in range(REPEATS)])
            costs.append(median_us(lambda forks=forks, v=visit: next(forks).call(v.tool.name, v.arguments), REPEATS))
        every += costs
        p90 = statistics.quantiles(costs, n=10)[-1]
        print(
            f"{server:<16} {statistics.median(costs):>17.1f} {p90:>8.1f} {median_us(session.fork):>9.1f} {median_us(session.digest):>10.1f}"
        )
    print(f"{'all':<16} {statistics.median(every):>17.1f}")


if __name__ == "__main__":
    growth()
    calls()
