"""The suite of the benchmark `heldout`: 500 fixed tasks of five levels, kept in one file beside this module.

The file holds the tasks, not what makes them (`prove.synthesis.data.suite`), so that whoever only measures needs neither that nor
time. Its first line names the version, a digest of each place that the tasks live in (its world and its tools: tasks are played there
or not at all), and a digest of those and of all other lines.
"""

import hashlib
import lzma
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from prove.benchmarks.contract import NotInstalled
from prove.episode import Episode, Limits, play
from prove.offered import SYSTEM
from prove.policies import Oracle
from prove.records import Conversation
from prove.servers.catalog import heldout, load, world_of
from prove.servers.equality import fingerprint
from prove.servers.schema import bare, fields_of, is_id, metas
from prove.servers.session import Session
from prove.servers.state import Record

FILE = Path(__file__).parent / "suite.jsonl.xz"
LEVELS = {1: "one call", 2: "chains", 3: "several turns", 4: "several servers", 5: "policies"}
LIMITS = Limits(user_turns=8, assistant_turns=24)  # about twice what the longest ground truth takes


class Header(msgspec.Struct, frozen=True):
    """The first line of the file."""

    version: str
    digest: str
    places: dict[str, str]  # "clinic-52" -> what `place` says of the clinic of that seed


class Suite(msgspec.Struct, frozen=True):
    """The tasks, and what they are."""

    header: Header
    tasks: list[Conversation]


def read(path: Path = FILE) -> Suite:
    """The suite. Raises `NotInstalled` where its file is missing or damaged."""
    try:
        head, _, rest = lzma.decompress(path.read_bytes()).partition(b"\n")
        suite = Suite(msgspec.json.decode(head, type=Header), [msgspec.json.decode(line, type=Conversation) for line in rest.splitlines()])
    except (OSError, EOFError, lzma.LZMAError, msgspec.MsgspecError) as error:
        raise NotInstalled(f"{path} cannot be read ({error}): install prove-rl anew") from None
    if suite.header.digest != _digest(suite.header.places, rest):
        raise NotInstalled(f"{path} is not what it says it is: install prove-rl anew")
    return suite


def write(tasks: Sequence[Conversation], version: str, path: Path = FILE) -> Header:
    """Write a suite; returns its header. The same tasks give the same digest."""
    lines = b"".join(msgspec.json.encode(task) + b"\n" for task in tasks)
    lived_in = sorted({(home, task.seed) for task in tasks for home in task.homes})
    places = {f"{home}-{seed}": place(home, seed) for home, seed in lived_in}
    header = Header(version, _digest(places, lines), places)
    path.write_bytes(lzma.compress(msgspec.json.encode(header) + b"\n" + lines, preset=9 | lzma.PRESET_EXTREME))
    return header


def _digest(places: dict[str, str], lines: bytes) -> str:
    return digest(msgspec.json.encode(places) + lines)


def digest(lines: bytes) -> str:
    return hashlib.blake2b(lines, digest_size=8).hexdigest()


def place(home: str, seed: int) -> str:
    """A digest of where a task lives: the world, and all that is said to a model about the tools there."""
    return digest(f"{world_of(home, seed).digest} {_told(home)}".encode())


@cache
def _told(home: str) -> str:
    return digest(msgspec.json.encode([SYSTEM, *(tool.as_function() for tool in load(home).server.tools.values())]))


def level(task: str) -> int:
    """The level of a task, by its id: "clinic-4-07" is of level 4."""
    return int(task.rsplit("-", 2)[1])


def groups(task: Conversation) -> list[str]:
    """What a task counts for: its level, and whether training may have its server."""
    number = level(task.id)
    return [f"level {number}, {LEVELS[number]}", "its own servers" if task.server in heldout() else "the twenty servers"]


def table(scores: dict[str, float]) -> dict[str, dict[str, str]]:
    """The mean score of each server at each level, and of all, as text: "0.85 of 20"; nothing where there is no task."""
    cells: dict[str, dict[str, list[float]]] = {}
    for task, score in scores.items():
        for server in (task.rsplit("-", 2)[0], "all"):
            for column in (f"level {level(task)}", "all"):
                cells.setdefault(server, {}).setdefault(column, []).append(score)
    columns = [*(f"level {n}" for n in LEVELS), "all"]
    servers = sorted(cells, key=lambda name: (name == "all", name))
    return {server: {c: _mean(cells[server].get(c, [])) for c in columns} for server in servers}


def _mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):.2f} of {len(values)}" if values else ""


def table_lines(scores: dict[str, float]) -> list[str]:
    """The same to read."""
    rows = table(scores)
    header = ["", *next(iter(rows.values()), {})]
    shown = [header, *([name, *cells.values()] for name, cells in rows.items())]
    return ["".join(f"  {cell:<14}" for cell in row).rstrip() for row in shown]


class Task(Episode):
    """A task being played. Whatever has the effect of the ground truth does it, however it was done, and in whatever letters."""

    def __init__(self, conversation: Conversation, places: dict[str, str]) -> None:
        for home in conversation.homes:
            name = f"{home}-{conversation.seed}"
            if place(home, conversation.seed) != places[name]:
                changed = f"the world or the tools of {name} are not those that the suite was made with"
                raise NotInstalled(f"{changed}: use the prove-rl that came with it, or make the suite anew (benchmarks/suite.py)")
        super().__init__(conversation, LIMITS)

    def same_outcome(self) -> bool | None:
        """As an episode has it; or the same but for how free texts are put down: case, white space, an article, a full stop."""
        if super().same_outcome():
            return True
        [gold] = play(Oracle(attempts=False), [self.conversation], LIMITS)
        return loosely(self.session) == loosely(gold.session)


def loosely(session: Session) -> str:
    """The outcome of a session in which free texts are told by their words alone."""
    tables = {name: [(t, _Loose(rows)) for t, rows in server.state.touched()] for name, server in session.servers.items()}
    return fingerprint(tables)  # type: ignore[arg-type]


class _Loose:
    """A table whose changes are told with loose texts."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.spec = rows, rows.spec

    def changes(self) -> dict[str, tuple[Any, Any]]:
        return {key: (before, after and _loosened(after)) for key, (before, after) in self.rows.changes().items()}


def _loosened(record: Record) -> Record:
    told = {name: getattr(record, name) for name in _free_texts(type(record))}
    return msgspec.structs.replace(record, **{name: loose(text) for name, text in told.items() if isinstance(text, str)})


def loose(text: str) -> str:
    """The words of a text, without case, article, quotes and final stop."""
    words = text.casefold().strip(" \"'.!").split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("a", "an", "the") else words)


@cache
def _free_texts(kind: type[Record]) -> list[str]:
    """The fields of a record that hold whatever people say: no id, no pattern, nothing of which every character counts."""
    _, *fields = fields_of(kind).items()
    return [name for name, hint in fields if bare(hint) is str and not is_id(bare(hint)) and not _spelled(hint)]


def _spelled(hint: Any) -> bool:
    return any(meta.pattern or (meta.extra_json_schema or {}).get("x-normal") == "exact" for meta in metas(hint))
