"""A data set to hand on: JSON lines for this library, Parquet for every other, and a card that says what is in it.

A Parquet row has the fields of a record. What has a shape of its own in every record (arguments, their origins, values read)
stands there as JSON text, so that all rows have the same columns.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from prove.files import whole_folder
from prove.records import BadRecord, Conversation, read_conversations, write_conversations
from prove.run import RunError, writing
from prove.synthesis.data.card import card

SPLITS = ("train", "validation", "heldout_worlds", "heldout_servers")
_FREE = {"arguments", "origin", "value", "necessity", "effects", "alternatives", "schemas"}  # fields that hold JSON text in a row


def export(files: Sequence[Path], out: Path, heldout_servers: Sequence[str] = ()) -> dict[str, int]:
    """Write the conversations of `files` into a new folder; returns how many each split has.

    `datasets.load_dataset(out)` loads it. Whatever lives on one of `heldout_servers` goes into a split of its own. Raises
    `RunError` for a folder in use, or where there is nothing to write; `BadRecord` for a broken line or an id that occurs twice.
    """
    with writing(out):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise RunError(f"{out} is not an empty folder: give another --out, or move it away")
        with whole_folder(out) as draft:
            return _export(files, draft, heldout_servers)


def _export(files: Sequence[Path], out: Path, heldout_servers: Sequence[str]) -> dict[str, int]:
    splits: dict[str, list[Conversation]] = {name: [] for name in SPLITS}
    for conversation in _unique(files):
        splits[split_of(conversation, heldout_servers)].append(conversation)
    filled = {name: conversations for name, conversations in splits.items() if conversations}
    if not filled:
        raise RunError(f"there is no conversation in {', '.join(map(str, files))}; `prove synthesize` makes some")
    for name, conversations in filled.items():
        write_conversations(out / "jsonl" / f"{name}.jsonl", conversations)
        _write_parquet(out / "data" / f"{name}.parquet", conversations)
    (out / "README.md").write_text(card(filled, files, heldout_servers), encoding="utf-8")
    return {name: len(conversations) for name, conversations in filled.items()}


def split_of(conversation: Conversation, heldout_servers: Sequence[str]) -> str:
    """Which of `SPLITS` a conversation belongs to."""
    if set(conversation.homes) & set(heldout_servers):
        return "heldout_servers"
    return "heldout_worlds" if conversation.split == "heldout" else conversation.split


def row(conversation: Conversation) -> dict[str, Any]:
    """A record as a Parquet row."""
    return {"schemas": None} | _with_text(msgspec.to_builtins(conversation))


def record(row: dict[str, Any]) -> Conversation:
    """The record that a row was made from."""
    fields = {k: v for k, v in row.items() if not (k == "schemas" and v is None)}
    return msgspec.convert(_without_text(fields), Conversation)


def _unique(files: Sequence[Path]) -> list[Conversation]:
    seen: dict[str, Path] = {}
    out = []
    for path in files:
        for conversation in read_conversations(path):
            if conversation.id in seen:
                raise BadRecord(f"{path}: {conversation.id} is also in {seen[conversation.id]}; export files of one plan and its splits")
            seen[conversation.id] = path
            out.append(conversation)
    return out


def _with_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_text(v) for v in value]
    if isinstance(value, dict):
        return {k: msgspec.json.encode(v).decode() if k in _FREE else _with_text(v) for k, v in value.items()}
    return value


def _without_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_text(v) for v in value]
    if isinstance(value, dict):
        return {k: msgspec.json.decode(v) if k in _FREE else _without_text(v) for k, v in value.items()}
    return value


def _write_parquet(path: Path, conversations: Sequence[Conversation]) -> None:
    import pyarrow as pa  # slow to import
    import pyarrow.parquet as parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist([row(c) for c in conversations], schema=_schema()), path)


def _schema() -> Any:
    """The columns of a row; every free-form field is text."""
    import pyarrow as pa

    text = pa.string()
    texts = pa.list_(text)

    def texts_of(*names: str) -> list[Any]:
        return [pa.field(n, text) for n in names]

    call = pa.struct([*texts_of("id", "name", "arguments"), pa.field("after", texts), *texts_of("origin"), pa.field("spare", texts)])
    answer = pa.struct([*texts_of("call", "path", "value"), pa.field("records", texts)])
    attempt = pa.struct(texts_of("before", "name", "arguments", "code", "message", "recovery"))
    turn = pa.struct(
        [
            *texts_of("user", "level"),
            pa.field("calls", pa.list_(call)),
            *texts_of("reply"),
            pa.field("answers", pa.list_(answer)),
            pa.field("attempts", pa.list_(attempt)),
            pa.field("minutes_later", pa.int64()),
        ]
    )
    certificate = pa.struct(
        [*texts_of("replay", "outcome", "necessity"), pa.field("implicit", pa.list_(texts)), *texts_of("effects", "alternatives")]
    )
    return pa.schema(
        [
            *texts_of("id", "server"),
            pa.field("seed", pa.int64()),
            *texts_of("kind", "persona", "today"),
            pa.field("tools", texts),
            pa.field("distractors", texts),
            pa.field("stripped_enums", pa.bool_()),
            pa.field("turns", pa.list_(turn)),
            pa.field("certificate", certificate),
            *texts_of("split", "source", "schemas"),
        ]
    )
