"""The record of one conversation, as the data set holds it: JSON lines, one conversation a line."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from prove.files import whole

#: Of the records that this version writes, and the only one that it reads: raised when a field changes its meaning or goes.
SCHEMA_VERSION = 1

Kind = Literal["multi_turn", "clarification", "abstention"]
Level = Literal["complete", "missing_required", "minimal"]
Split = Literal["train", "validation", "heldout"]
Recovery = Literal["corrected", "alternative", "asked", "give_up"]


class Fact(NamedTuple):
    """One thing that a result tells: the value in a field of a record. See `prove.facts`."""

    record: str | None  # None: of any record, in files written before facts named theirs
    field: str
    value: Any


class GroundTruthCall(msgspec.Struct, frozen=True):
    """One call of the ground truth: it succeeds, and certification found it necessary.

    `arguments` are what a good assistant sends. Those in `spare` it sends because the user said them, though the call does its
    job without them, be it that others go too: no reward asks for them (`needed`).
    """

    id: str
    name: str
    arguments: dict[str, Any]
    after: list[str] = []  # ids of earlier calls that must come before it
    hinges: list[str] = []  # ids of calls from whose results it was worked out that this one is made, or with which values
    origin: dict[str, str] = {}  # argument -> where its value is from: "user", "user: dollars to cents", "c1: items.2.account_id"
    spare: list[str] = []

    @property
    def needed(self) -> dict[str, Any]:
        """The arguments without which the call does not do its job."""
        return {name: value for name, value in self.arguments.items() if name not in self.spare}


class Answer(msgspec.Struct, frozen=True):
    """A value the user asked for: what stands at `path` in the result of `call`."""

    call: str
    path: str
    value: Any
    records: list[str] = []  # whose each scalar of the value is, in their order; none in files written before facts named theirs

    @property
    def facts(self) -> set[Fact]:
        """What has to be read: each scalar of the value, with the name of its field and its record."""
        told = list(leaves(self.value, self.path.rsplit(".", 1)[-1]))
        records: Sequence[str | None] = self.records or [None] * len(told)
        return {Fact(record, *leaf) for record, leaf in zip(records, told, strict=True)}

    @property
    def leaves(self) -> set[tuple[str, Any]]:
        """What has to be read: each scalar of the value, with the name of its field."""
        return set(leaves(self.value, self.path.rsplit(".", 1)[-1]))


def leaves(value: Any, field: str = "") -> Iterator[tuple[str, Any]]:
    """Every (field name, scalar) of a result, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, field)
    else:
        yield field, value


def paths(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every (dotted path, scalar) of a result, list positions counted from 0."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path, value
        return
    for key, item in items:
        yield from paths(item, f"{path}.{key}" if path else str(key))


class Attempt(msgspec.Struct, frozen=True):
    """A call that is refused before the assistant recovers: part of the conversation shown, not of the ground truth.

    It recovers with corrected arguments; by an alternative that clears what stands in the way; by asking whether to clear it; or
    by giving up. Where it asks or gives up the refusal stands: the turn's `answers` are what a read shows of its reason, and to
    have heard the refusal is as good as to have read them.
    """

    before: str  # the id of the ground-truth call that it precedes; "" at the end of the turn
    name: str
    arguments: dict[str, Any]
    code: str
    message: str = ""  # what the refusal says; "" in files written before it was kept
    recovery: Recovery = "corrected"

    @property
    def stands(self) -> bool:
        """Whether the turn ends without what was attempted."""
        return self.recovery in ("asked", "give_up")


class Working(msgspec.Struct, frozen=True):
    """Something that has to be worked out from results before calls can be made: which one is the largest, how much it all is,
    whether it is under a bound. `how` is a computation that `prove.synthesis.planning.working` describes."""

    how: str
    of: list[str]  # where the values stand, as in an origin: "c1: items.total"
    value: Any  # what comes out: a number, a day, a text, a key or a list of keys, true or false
    given: list[Any] = []  # what the user's words add to it: a bound, a percentage, a number of days
    pick: str = ""  # where a record is picked by it: the path of the keys, beside the values
    calls: list[str] = []  # the calls that hinge on it, be it by an argument or by being made at all


class Turn(msgspec.Struct, frozen=True):
    """What the user says, what a good assistant does about it, and what it then answers."""

    user: str
    level: Level
    calls: list[GroundTruthCall]
    reply: str
    answers: list[Answer] = []
    attempts: list[Attempt] = []
    minutes_later: int = 0  # how much time passes before the user says it
    workings: list[Working] = []
    held: bool = False  # by the rules nothing may be done yet: the assistant asks whether it may, or declines; nothing changes

    @property
    def refusal(self) -> Attempt | None:
        """The attempt on which the turn ends: what was wished for is not done, and the user hears why."""
        return next((attempt for attempt in self.attempts if attempt.stands), None)

    @property
    def shown(self) -> list[GroundTruthCall | Attempt]:
        """Everything that the assistant calls, in order, with what is refused."""
        out: list[GroundTruthCall | Attempt] = []
        for call in self.calls:
            out += [*(a for a in self.attempts if a.before == call.id), call]
        return out + [a for a in self.attempts if not a.before]


class Effect(msgspec.Struct, frozen=True):
    """What a step is for: the records that it changes, and the facts it shows that the user or a later step needs of it."""

    changes: list[str] = []  # "banking.accounts ACC-4001"; the key of a record made in the session is "new"
    facts: list[Fact] = []


class OtherCall(msgspec.Struct, frozen=True):
    """A call that is not in the ground truth, and could be."""

    name: str
    arguments: dict[str, Any]


class Alternative(msgspec.Struct, frozen=True):
    """Calls that were executed in place of some steps, at the place of the first, to the same effect; where a turn ends on a refusal,
    the refused call in place of the reads that show its reason."""

    steps: list[str]
    calls: list[OtherCall]


class Certificate(msgspec.Struct, frozen=True):
    """What was shown by execution. See `prove.synthesis.certify`."""

    replay: str  # digest of the state after all calls
    outcome: str  # the same up to a renaming of minted ids
    necessity: dict[str, str]  # call -> what is lost without it: "refusal", "state", "answer" or "origin"
    implicit: list[list[str]]  # [earlier, later]: orders that no argument shows but execution needs
    effects: dict[str, Effect] = {}  # call -> what it is for
    alternatives: list[Alternative] = []


class Conversation(msgspec.Struct, frozen=True):
    """A conversation with its ground truth and its certificate."""

    id: str
    server: str
    seed: int
    kind: Kind
    persona: str
    today: str
    tools: list[str]
    distractors: list[str]  # "server.tool"
    stripped_enums: bool
    turns: list[Turn]
    certificate: Certificate | None
    split: Split
    source: str = "scripted"  # who spoke: "scripted", the teacher model's name, or the data set it is from
    schemas: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET  # candidate tools of no server of ours: chat-format functions by name
    servers: list[str] = []  # further servers whose tools are used beside those of `server`, in one session with it
    policy: str = ""  # the rules that the assistant has to keep: part of the system prompt
    together: bool = False  # whether calls that need not wait for each other are sent in one message
    schema_version: int = SCHEMA_VERSION

    @property
    def homes(self) -> tuple[str, ...]:
        """All servers whose tools are used, in the order in which the session opens them: `server` comes first.

        `tools` and calls have the names of such a session (`prove.servers.catalog.toolbox`).
        """
        return (self.server, *self.servers)

    @property
    def calls(self) -> list[GroundTruthCall]:
        """The whole ground truth, in order."""
        return [call for turn in self.turns for call in turn.calls]

    @property
    def wanted(self) -> set[Fact]:
        """Everything the user asked to know."""
        return {fact for turn in self.turns for answer in turn.answers for fact in answer.facts}


class _Versioned(msgspec.Struct):
    """What is asked of a line before anything else; files written before versions were kept have the first."""

    schema_version: int = 1


class BadRecord(ValueError):
    """A line of a data set that is not a conversation: names file, line and reason."""


def read_conversations(path: str | Path) -> list[Conversation]:
    """The conversations of a JSON-lines file. Raises `BadRecord` for a broken line, FileNotFoundError for no file."""
    decoder, versions = msgspec.json.Decoder(Conversation), msgspec.json.Decoder(_Versioned)
    out = []
    for number, line in _lines(Path(path)):
        try:
            version = versions.decode(line).schema_version
            if version != SCHEMA_VERSION:
                raise BadRecord(
                    f"{path}, line {number}: a record of schema version {version}; this version of prove reads {SCHEMA_VERSION}: "
                    f"{'upgrade prove' if version > SCHEMA_VERSION else 'make the file again with `prove synthesize`'}"
                )
            out.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise BadRecord(f"{path}, line {number}: {error}; `prove synthesize` writes such files") from None
    return out


def write_conversations(path: str | Path, conversations: Iterable[Conversation]) -> None:
    """Write a JSON-lines file whole: it appears complete, or not at all."""
    with whole(Path(path)) as draft, draft.open("wb") as file:
        for conversation in conversations:
            file.write(msgspec.json.encode(conversation) + b"\n")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line
