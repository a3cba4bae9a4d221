"""Files that are whole or not there at all, and that one process writes at a time, whoever is stopped and whenever."""

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to, of this thread alone: what is there at the end takes its name, and after an error nothing
    does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.stem}.{os.getpid()}.{threading.get_ident()}.part{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` to write to, not yet there; what one that was stopped has left is taken away. At the end it takes the name."""
    draft = path.with_name(f"{path.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    yield draft
    draft.replace(path)


def whole_lines(path: Path) -> list[bytes]:
    """The complete lines of a file; what a kill has left behind the last of them is cut off."""
    data = path.read_bytes()
    complete = data[: data.rfind(b"\n") + 1]
    if len(complete) != len(data):
        os.truncate(path, len(complete))
    return complete.splitlines()


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[int]:
    """Hold a lock file: yields its descriptor, which a child may inherit and then holds too; it is free when nobody is left.

    `wait` for whoever holds it. Raises BlockingIOError for a lock that is held, otherwise.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)
