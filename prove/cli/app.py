"""What all commands share: the application, its usual options, and how it says that something is wrong."""

import sys
from typing import Annotated

import typer

app = typer.Typer(
    help="Live tool servers, certified conversations, a judge-free reward, GRPO.", no_args_is_help=True, rich_markup_mode="markdown"
)
Servers = Annotated[str, typer.Option(help="Comma-separated names; all of the library by default.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same bytes.")]


def fail(message: object) -> None:
    """Say what is wrong in one line, and stop."""
    text = message.args[0] if isinstance(message, KeyError) and message.args else message
    typer.echo(f"prove: {text}", err=True)
    sys.exit(2)


def chosen(servers: str) -> list[str]:
    """The servers named in an option. Raises LookupError for an unknown one."""
    from prove.servers.catalog import catalogue, load

    names = [s.strip() for s in servers.split(",") if s.strip()] or catalogue()
    return [load(name).name for name in names]


def known_split(name: str) -> str:
    """The split named in an option. Raises LookupError for an unknown one."""
    from prove.synthesis.data.dataset import WORLDS

    if name not in WORLDS:
        raise LookupError(f"there is no split {name!r}; there are: {', '.join(WORLDS)}")
    return name
