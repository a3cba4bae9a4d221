"""Run folders: parameters -> folder -> append -> resume.

A run lives in `results/runs/<stage>/<hash of stage and parameters>/`. It holds `run.json` (parameters, versions, hardware, the
code's git state) and append-only JSON lines. The same parameters open the same folder, so that a rerun goes on where it
stopped, also after a kill.
"""

import fcntl
import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec

from prove.files import whole, whole_lines

PACKAGES = ("torch", "transformers", "trl", "peft", "msgspec", "faker", "networkx", "mcp")


class RunError(Exception):
    """A run that cannot be opened or written; one line that says what to do."""


class ModelError(Exception):
    """A model that does not exist or cannot be fetched; one line that says what to do."""


def results() -> Path:
    """Where results go: `PROVE_RESULTS`, else `results/` of the repository, else of the current folder."""
    if "PROVE_RESULTS" in os.environ:
        return Path(os.environ["PROVE_RESULTS"]).expanduser()
    home = repository()
    return (home or Path.cwd()) / "results"


def cache() -> Path:
    """Where what can be made again is kept: `PROVE_CACHE`, or ~/.cache/prove."""
    return Path(os.environ.get("PROVE_CACHE") or Path.home() / ".cache" / "prove")


def repository() -> Path | None:
    """The repository this package is used from; None if it is installed elsewhere."""
    home = Path(__file__).resolve().parent.parent
    return home if (home / "pyproject.toml").is_file() else None


class Run:
    """One run of a stage. `path` is its folder; `done` whether it has been finished."""

    def __init__(self, path: Path, parameters: dict[str, Any]) -> None:
        self.path, self.parameters = path, parameters

    @classmethod
    def open(cls, stage: str, parameters: msgspec.Struct | dict[str, Any]) -> "Run":
        """The run of these parameters, made if it is new. Raises `RunError` where nothing can be written."""
        plain = msgspec.to_builtins(parameters)
        text = json.dumps([stage, plain], sort_keys=True)
        path = results() / "runs" / stage / hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / "run.json").exists():
                write_json(path / "run.json", {"stage": stage, "parameters": plain, **circumstances()})
        except OSError as error:
            raise unwritable(path, error) from None
        return cls(path, plain)

    @property
    def done(self) -> bool:
        return (self.path / "done").exists()

    def finish(self) -> None:
        """Say that the run is complete: a rerun takes what is there."""
        (self.path / "done").touch()

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add a line to `<name>.jsonl`."""
        with (self.path / f"{name}.jsonl").open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")

    def mend(self) -> None:
        """Cut off what a kill has left half-written: the next line would become part of it. For whoever alone writes here now."""
        for path in self.path.glob("*.jsonl"):
            whole_lines(path)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The complete lines of `<name>.jsonl`, none if it does not exist; a line torn by a kill is left out."""
        path = self.path / f"{name}.jsonl"
        if not path.exists():
            return []
        return [msgspec.json.decode(line) for line in path.read_bytes().split(b"\n")[:-1]]


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


def unwritable(path: Path, error: OSError) -> RunError:
    """What to tell somebody whose disk is full or read-only."""
    return RunError(
        f"cannot write {path}: {error.strerror or error}; free some space, or set PROVE_RESULTS to a folder that can be written"
    )


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole, keys in the order given (models in the order of training): it appears complete, or not at all."""
    with whole(path) as draft:
        draft.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def circumstances() -> dict[str, Any]:
    """What a result depends on beside its parameters."""
    return {
        "git": _git(),
        "versions": {"python": platform.python_version(), **{name: v for name in PACKAGES if (v := _version(name))}},
        "hardware": {"machine": platform.machine(), "cores": os.cpu_count(), "gpus": _gpus()},
        "command": sys.argv,
    }


def _git() -> dict[str, Any] | None:
    home = repository()
    if home is None or not (home / ".git").exists():
        return None
    try:
        sha, status = (
            subprocess.run(["git", *words], cwd=home, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain"])
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return {"sha": sha, "dirty": bool(status)}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gpus() -> list[str]:
    torch = sys.modules.get("torch")  # whoever computes on a GPU has imported it
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch else []
