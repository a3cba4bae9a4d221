"""Files that several may write: one writer at a time, and each file whole or not at all."""

import fcntl
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prove.run import RunError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Nobody else writes `path`, a file or a folder, meanwhile. Raises `RunError` that names the process which does, and OSError
    where nothing can be written.

    The lock is a file beside it. It is held by the process and so ends with it, however it ends.
    """
    place = path.absolute()  # the current folder has no name of its own
    lock = place.with_name(f".{place.name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _held(lock, path)
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}: {shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])}".encode())
        yield
    finally:
        lock.unlink(missing_ok=True)  # while it is held: whoever waits for the old file sees that it is gone
        os.close(descriptor)


def _held(lock: Path, path: Path) -> int:
    """The descriptor of a lock that is ours and that others find under its name."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 300).decode(errors="replace")
            os.close(descriptor)
            raise RunError(f"another process{f' ({holder})' if holder else ''} is writing {path}: wait for it, or end it") from None
        if lock.exists() and os.path.samestat(os.fstat(descriptor), lock.stat()):
            return descriptor
        os.close(descriptor)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to: what is there at the end takes its name, and after an error nothing does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
