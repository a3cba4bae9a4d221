"""The library by hand: what there is, and one call."""

import json
from typing import Annotated

import typer

from prove.cli.app import Seed, app
from prove.cli.arguments import arguments as read_arguments


@app.command(epilog="Example: `prove servers` or `prove servers --json > catalogue.json`")
def servers(as_json: Annotated[bool, typer.Option("--json", help="Everything, with every schema, as JSON.")] = False) -> None:
    """Show the library: servers, tools, reads, writes, ids minted, records in the default world."""
    from prove.servers.overview import overview, table_text

    typer.echo(json.dumps(overview(), indent=2) if as_json else table_text())


@app.command(epilog='Example: `prove call banking list_accounts kind="savings"`')
def call(
    server: Annotated[str, typer.Argument(help="A server's name.")],
    tool: Annotated[str, typer.Argument(help="One of its tools.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="name=value pairs; a value is JSON, or text where it is not.")] = None,
    seed: Seed = 0,
) -> None:
    """Call one tool by hand on a fresh world; prints its result, exit code 1 for a refusal."""
    from prove.servers.session import Session

    session = Session.open(server, seed)
    result = session.call(tool, read_arguments(arguments or [], session, tool))
    typer.echo(json.dumps(result.value, indent=2, ensure_ascii=False))
    raise typer.Exit(0 if result.ok else 1)


@app.command(epilog="Example: `prove shell banking`, or `echo 'list_accounts kind=savings' | prove shell banking`")
def shell(
    servers: Annotated[list[str], typer.Argument(help="Names of servers: their worlds are one session's.")],
    seed: Seed = 0,
) -> None:
    """Call tools by hand on one world, which keeps what they change; `help` in it tells the rest."""
    from prove.cli.shell import Shell
    from prove.servers.session import Session

    Shell(Session.open(servers, seed)).cmdloop()


@app.command(epilog="Example: `prove models`")
def models() -> None:
    """Show what can be named in --model and --reward."""
    from prove.rewards import PRESETS
    from prove.training.models import MODELS

    for model in MODELS.values():
        typer.echo(f"{model.name:<16}{model.hub[0]:<37}{model.note}".rstrip())
    typer.echo("any other: a hub id, or a folder with a checkpoint")
    typer.echo(f"rewards: {', '.join(PRESETS)}")
