"""One live line: how far, how fast, how long still. Readable on a terminal, in a log and in a saved notebook."""

import sys
import time
from types import TracebackType


class Progress:
    """`with Progress("conversations") as tell: tell(done, total)`.

    On a terminal the line is rewritten in place; elsewhere a new one is printed every half minute and at the end.
    """

    def __init__(self, what: str, every: float = 30.0) -> None:
        self.what, self.live = what, sys.stderr.isatty()
        self.every = 0.2 if self.live else every
        self.begun = self.told = time.monotonic()
        self.first: int | None = None
        self.over = False  # whether the last line has been said: once

    def __enter__(self) -> "Progress":
        return self

    def __call__(self, done: int, total: int, note: str = "") -> None:
        self.first = done if self.first is None else self.first
        now = time.monotonic()
        if self.over or (now - self.told < self.every and done < total):
            return
        self.told, self.over = now, done >= total
        rate = (done - self.first) / max(now - self.begun, 1e-9)
        left = f", {_span((total - done) / rate)} left" if rate and done < total else ""
        line = f"{self.what}: {done} of {total}, {rate:.1f} a second{left}{f', {note}' if note else ''}"
        print(f"\r\x1b[K{line}" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.live:
            print(file=sys.stderr)


def _span(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
