"""What all commands share: the application, its usual options, and how it says that something is wrong."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prove import __version__

if TYPE_CHECKING:
    from prove.records import Conversation

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
Servers = Annotated[list[str] | None, typer.Option(help="Comma-separated names; all of the library by default.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same bytes.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"prove {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)] = False,
) -> None:
    """Live tool servers, certified conversations, a judge-free reward, GRPO."""


def fail(message: object) -> None:
    """Say what is wrong in one line, and stop."""
    text = message.args[0] if isinstance(message, KeyError) and message.args else message
    typer.echo(f"prove: {text}", err=True)
    sys.exit(2)


def some(file: Path) -> "list[Conversation]":
    """The conversations of a file. Raises `BadRecord` where there is none: what says that nothing is wrong must have seen some."""
    from prove.records import BadRecord, read_conversations

    found = read_conversations(file)
    if not found:
        raise BadRecord(f"{file}: no conversation in it")
    return found


@contextmanager
def interruptible(kept: Callable[[], str]) -> Iterator[None]:
    """On Ctrl-C say what is kept, and stop with exit code 130, as shells expect it."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\nprove: stopped; {kept()}", err=True)
        raise typer.Exit(130) from None


def known_split(name: str) -> str:
    """The split named in an option. Raises LookupError for an unknown one."""
    from prove.synthesis.data.plan import WORLDS

    if name not in WORLDS:
        raise LookupError(f"there is no split {name!r}; there are: {', '.join(WORLDS)}")
    return name
