"""One world by hand: many calls, time that passes, what has changed, and a way back."""

import cmd
import json
import re
import shlex
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from prove.cli.arguments import arguments
from prove.servers.session import Session, Snapshot

END = datetime(2200, 1, 1, tzinfo=UTC)  # of the years that tools take
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class Shell(cmd.Cmd):
    """A line is a tool and its arguments (`transfer amount=100`), or one of `tools`, `time`, `diff`, `undo`, `exit`."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.before: list[tuple[str, Snapshot]] = []  # what was done, and the state before it
        self.live = sys.stdin.isatty()
        self.use_rawinput = self.live
        self.prompt = f"{'+'.join(session.servers)}> " if self.live else ""
        self.intro = f"{self._now()}; {len(session.tools)} tools. `help` shows what there is to say." if self.live else None

    def say(self, text: str) -> None:
        self.stdout.write(f"{text}\n")

    def emptyline(self) -> bool:
        return False  # rather than doing the last thing again

    def onecmd(self, line: str) -> bool:
        """One line; what is wrong with it is said, and nothing has happened then."""
        try:
            return bool(super().onecmd(line))
        except (LookupError, ValueError) as error:
            self.say(f"{error.args[0] if isinstance(error, KeyError) and error.args else error}")
            return False

    def parseline(self, line: str) -> tuple[str | None, str | None, str]:
        found = super().parseline(line)
        return (None, None, line) if found[0] in self.session.tools else found  # tools first, whatever they are called

    def default(self, line: str) -> None:
        """Call a tool."""
        if line.strip() == "EOF":
            raise EOFError
        name, *words = shlex.split(line)
        if name not in self.session.tools:
            self.say(f"there is neither a tool nor a word {name!r}: `tools` lists the tools, `help` the words")
            return
        given = arguments(words, self.session, name)
        result = self._done(line.strip(), lambda: self.session.call(name, given))
        self.say(json.dumps(result.value, indent=2, ensure_ascii=False))

    def _done(self, what: str, act: Any) -> Any:
        """Do something; if it changes the state, it can be undone."""
        state, snapshot = self.session.digest(), self.session.snapshot()
        try:
            return act()
        except BaseException:
            self.session.restore(snapshot)
            raise
        finally:
            if self.session.digest() != state:
                self.before.append((what, snapshot))

    def do_tools(self, name: str) -> None:
        """tools [NAME]: the tools that there are, or what one of them takes."""
        for tool_name, (_, tool) in self.session.tools.items():
            if not name:
                self.say(f"{tool_name:<32}{tool.description}")
            elif name == tool_name:
                self.say(f"{tool.description}\n{json.dumps(tool.input_schema, indent=2)}")
        if name and name not in self.session.tools:
            self.say(f"there is no tool {name!r}")

    def do_time(self, span: str) -> None:
        """time [SPAN]: what time it is; with a span (30m, 2h, 3d) it passes, and what becomes due happens."""
        if span:
            number, unit = self._span(span)
            self._done(f"time {span}", lambda: self.session.advance(**{UNITS[unit]: number}))
        self.say(self._now())

    def _span(self, text: str) -> tuple[int, str]:
        found = re.fullmatch(r"(\d{1,8})\s*([mhd])", text)
        if not found:
            raise ValueError(f"{text!r} is no span of time: give minutes, hours or days, as in 30m, 2h or 3d")
        number, unit = int(found[1]), found[2]
        if timedelta(**{UNITS[unit]: number}) > END - self.session.clock.now:
            raise ValueError(f"a world's time ends at {END:%Y-%m-%d}")
        return number, unit

    def _now(self) -> str:
        return f"{self.session.clock.now:%A, %Y-%m-%d %H:%M} UTC"

    def do_diff(self, _: str) -> None:
        """diff: what is otherwise than in the world that the shell began with."""
        for table, changed in self.session.changes().items():
            for key, (before, after) in changed.items():
                self.say(f"{table} {key}{'' if before and after else ' is new' if after else ' is gone'}")
                was, now = (msgspec.to_builtins(record) if record else {} for record in (before, after))
                for field in {**was, **now}:
                    if was.get(field) != now.get(field) and after:
                        old = f"{_text(was[field])} -> " if before else ""
                        self.say(f"  {field}: {old}{_text(now[field])}")
        if not self.session.changes():
            self.say("nothing has changed")

    def do_undo(self, _: str) -> None:
        """undo: go back to before the last line that changed something."""
        if not self.before:
            self.say("there is nothing to undo")
            return
        what, snapshot = self.before.pop()
        self.session.restore(snapshot)
        self.say(f"undone: {what}")

    def do_exit(self, _: str) -> bool:
        """exit (or Ctrl-D): leave. The world is not kept."""
        return True

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        return [*super().completenames(text, *ignored), *(name for name in self.session.tools if name.startswith(text))]

    def completedefault(self, text: str, line: str, *ignored: Any) -> list[str]:
        found = self.session.tools.get(line.split()[0])
        return [f"{p.name}=" for p in found[1].parameters if p.name.startswith(text)] if found else []

    def cmdloop(self, intro: Any = None) -> None:
        """All lines; Ctrl-D leaves, Ctrl-C leaves a line unsaid."""
        while True:
            try:
                super().cmdloop(intro)
                return
            except EOFError:
                if self.live:
                    self.say("")
                return
            except KeyboardInterrupt:
                self.say("")
                self.intro = None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
