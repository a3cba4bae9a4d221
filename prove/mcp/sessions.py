"""Sessions that clients reach from outside: by a token nobody can guess, for a while, for so many calls."""

import copy
import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from prove.servers.session import Result, Session, Snapshot, refusal
from prove.strict_json import DEPTH

TOKEN_BYTES = 24  # 192 bits; the protocol's advice for handles without authentication is 128


class Limits(msgspec.Struct, frozen=True):
    """What clients can use up at most."""

    sessions: int = 4096
    calls: int = 10_000  # of one session
    idle_seconds: float = 1800.0  # a session that nobody used for so long is ended
    batch: int = 1000  # calls in one request of the control endpoint
    body_bytes: int = 4 * 1024 * 1024  # of one request
    body_seconds: float = 30.0  # in which a request's body must have arrived
    depth: int = DEPTH  # how deep the JSON of a request may nest


class Full(Exception):
    """There are as many sessions as there may be."""


class Served:
    """A session and what its clients have used of it."""

    def __init__(self, session: Session, start: Snapshot, limits: Limits) -> None:
        self.session, self.start, self.limits = session, start, limits
        self.calls, self.used = 0, 0.0
        self.whole = Face(self, session)
        self.faces = {server: Face(self, facing(session, server)) for server in session.servers}

    @classmethod
    def fresh(
        cls, servers: str | Sequence[str], seed: int = 0, only: Collection[str] | None = None, limits: Limits | None = None
    ) -> "Served":
        """A new session. Raises LookupError for an unknown server, naming those there are."""
        session = Session.open(servers, seed, only)
        return cls(session, session.snapshot(), limits or Limits())

    def reset(self) -> None:
        """Go back to the start of the world, the clock too. Calls already made still count."""
        self.session.restore(self.start)

    def fork(self) -> "Served":
        """An independent copy, which resets to the same start."""
        return Served(self.session.fork(), self.start, self.limits)


class Face:
    """What one client sees of a session: the whole of it, or one of its servers."""

    def __init__(self, served: Served, session: Session) -> None:
        self.served, self.session = served, session

    def call(self, name: str, arguments: Any) -> Result:
        """`Session.call`, until the session has made all its calls."""
        served = self.served
        if served.calls >= served.limits.calls:
            return refusal("resource_exhausted", f"this session has made its {served.limits.calls} calls: start another one")
        served.calls += 1
        return self.session.call(name, arguments)


def facing(session: Session, server: str) -> Session:
    """The same session, in which only that server's tools can be called: state and clock are shared, not copied."""
    view = copy.copy(session)
    own = (name for name, (home, _) in session.tools.items() if home == server)
    view.only = frozenset(name for name in own if session.only is None or name in session.only)
    return view


class Sessions:
    """All sessions by token, the one unused for longest first. Tokens themselves are not kept, only their digests."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits, self.clock = limits, clock
        self._by_digest: OrderedDict[bytes, Served] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_digest)

    def add(self, served: Served) -> str:
        """Its token. Raises Full."""
        self.sweep()
        if len(self) >= self.limits.sessions:
            raise Full
        token = secrets.token_urlsafe(TOKEN_BYTES)
        served.used = self.clock()
        self._by_digest[_digest(token)] = served
        return token

    def find(self, token: str) -> Served | None:
        """The session of a token, which counts as used; None for one that never was, has ended or has expired."""
        self.sweep()
        key = _digest(token)
        served = self._by_digest.get(key)
        if served is not None:
            served.used = self.clock()
            self._by_digest.move_to_end(key)
        return served

    def end(self, token: str) -> bool:
        """Forget a session; whether there was one."""
        return self._by_digest.pop(_digest(token), None) is not None

    def sweep(self) -> None:
        """Forget the sessions that nobody has used for too long."""
        oldest_kept = self.clock() - self.limits.idle_seconds
        while self._by_digest and next(iter(self._by_digest.values())).used < oldest_kept:
            self._by_digest.popitem(last=False)


def _digest(token: str) -> bytes:
    # looking up a digest tells nothing by its timing about the tokens there are
    return hashlib.blake2b(token.encode(errors="replace"), digest_size=16).digest()
