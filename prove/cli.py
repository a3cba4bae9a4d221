"""`prove`: the library from the command line. Each command is a thin face of a function of the package."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Live tool servers, certified conversations, a judge-free reward, GRPO.", no_args_is_help=True, rich_markup_mode="markdown"
)
Servers = Annotated[str, typer.Option(help="Comma-separated names; all of the library by default.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same bytes.")]


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2, never a traceback."""
    from prove.records import BadRecord
    from prove.run import ModelError, RunError

    try:
        app()
    except (LookupError, BadRecord, RunError, ModelError) as error:
        fail(error)
    except OSError as error:
        fail(f"{error.filename or 'output'}: {error.strerror or error}")


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
    result = session.call(tool, dict(_pair(a, session, tool) for a in arguments or []))
    typer.echo(json.dumps(result.value, indent=2, ensure_ascii=False))
    raise typer.Exit(0 if result.ok else 1)


def _pair(text: str, session: Any, tool: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        fail(f"{text!r} is not of the form name=value")
    known = session.tools[tool][1].input_schema["properties"] if tool in session.tools else {}
    if known.get(name, {}).get("type") == "string":
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@app.command(epilog="Example: `prove serve banking` for a client on this machine, or `prove serve --all --http --port 8000`")
def serve(
    servers: Annotated[list[str] | None, typer.Argument(help="Names of servers.")] = None,
    every: Annotated[bool, typer.Option("--all", help="The whole library.")] = False,
    seed: Annotated[int, typer.Option(help="Over stdio: the world of the one session. Over HTTP each session has its own.")] = 0,
    print_config: Annotated[bool, typer.Option("--print-config", help="Only print what to paste into an MCP client's settings.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP, one session a URL, instead of stdin and stdout.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes any port that is free.")] = 8000,
    host: Annotated[str, typer.Option(help="Where to listen; this machine only by default.")] = "127.0.0.1",
    allow_host: Annotated[list[str] | None, typer.Option(help="A further name under which to answer (Host and Origin headers).")] = None,
    bearer: Annotated[str, typer.Option(envvar="PROVE_BEARER", help="Ask MCP clients for this bearer token too.")] = "",
    max_sessions: Annotated[int, typer.Option(min=1, help="How many sessions there may be.")] = 4096,
    idle_minutes: Annotated[float, typer.Option(min=0.1, help="A session that nobody uses for so long is ended.")] = 30.0,
) -> None:
    """Serve tools to any MCP client: one session over stdin and stdout, or any number over HTTP."""
    if every == bool(servers):
        fail("name the servers to serve, or give --all")
    names = chosen(",".join(servers or []))
    if print_config:
        from prove.mcp.config import snippets

        typer.echo(snippets(names, seed))
    elif http:
        from prove.mcp.http import LOOPBACK, serve
        from prove.mcp.sessions import Limits

        if host not in LOOPBACK and not allow_host:
            fail(f"listening on {host}: name with --allow-host the hosts under which clients will reach it")
        limits = Limits(sessions=max_sessions, idle_seconds=idle_minutes * 60)
        serve(names, host, port, [*LOOPBACK, *(allow_host or [])], limits, bearer)
    else:
        from prove.mcp.stdio import serve as serve_stdio

        serve_stdio(names, seed)


@app.command(epilog="Example: `prove graph banking --explain remove_payee`")
def graph(
    server: Annotated[str, typer.Argument(help="A server's name.")],
    explain: Annotated[str, typer.Option(help="Show why each edge from or to this tool is there.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The graph as node-link JSON.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Draw it into this file (.svg, .pdf, .png).")] = None,
) -> None:
    """Show which tools depend on which: explicit edges from types, implicit ones found by execution."""
    from prove.synthesis.graph import build, explained, node_link, summary

    it = build(server)
    if picture:
        from prove.figures import save, tool_graph

        save(tool_graph(it), picture)
    if as_json:
        typer.echo(json.dumps(node_link(it), indent=2))
    elif explain:
        typer.echo(explained(it, explain))
    else:
        typer.echo(summary(it))


@app.command(epilog="Example: `prove synthesize --servers banking -n 100 --out banking.jsonl`")
def synthesize(
    out: Annotated[Path, typer.Option(help="The JSON-lines file to write.")] = Path("conversations.jsonl"),
    n: Annotated[int, typer.Option("-n", min=1, help="How many conversations.")] = 1000,
    servers: Servers = "",
    seed: Seed = 0,
    split: Annotated[str, typer.Option(help="train, validation or heldout: which worlds they live in.")] = "train",
    mix: Annotated[str, typer.Option(help="multi_turn, or paper: the paper's shares of all kinds.")] = "multi_turn",
    max_tools: Annotated[int, typer.Option(help="At most so many candidate tools of the server; 0 for all.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes; the bytes are the same for any number.")] = 1,
) -> None:
    """Make certified conversations; goes on where a killed run stopped."""
    from prove.progress import Progress
    from prove.synthesis.dataset import PAPER_MIX, WORLDS, Plan, read_rejects
    from prove.synthesis.dataset import synthesize as make

    mixes = {"multi_turn": (("multi_turn", 1),), "paper": tuple(PAPER_MIX.items())}
    if split not in WORLDS:
        fail(f"there is no split {split!r}; there are: {', '.join(WORLDS)}")
    if mix not in mixes:
        fail(f"there is no mix {mix!r}; there are: {', '.join(mixes)}")
    plan = Plan(n, seed, tuple(chosen(servers)), split, mixes[mix], max_tools=max_tools)  # type: ignore[arg-type]
    with Progress("conversations") as progress:
        make(plan, out, workers, progress)
    rejects = read_rejects(out)
    typer.echo(f"{n} conversations in {out}; rejected tries: " + (", ".join(f"{k} {v}" for k, v in rejects.most_common()) or "none"))


@app.command(epilog="Example: `prove score conversations.jsonl`, or `prove score --audit -n 200 --servers banking,email`")
def score(
    file: Annotated[Path | None, typer.Argument(help="Conversations of `prove synthesize`, or JSON lines of tool-call messages.")] = None,
    policy: Annotated[str, typer.Option(help="oracle or silent: who plays the conversations.")] = "oracle",
    audit: Annotated[bool, typer.Option("--audit", help="No file: what cheating policies get on fresh tasks, live.")] = False,
    n: Annotated[int, typer.Option("-n", min=2, help="How many tasks the audit plays.")] = 200,
    servers: Servers = "",
    seed: Seed = 0,
    picture: Annotated[Path | None, typer.Option(help="Draw the audit into this file (.svg, .pdf, .png).")] = None,
) -> None:
    """Score every reward component: of conversations played live, of recorded messages, or of cheating policies."""
    from prove.rewards.messages import are_messages

    if audit == (file is not None):
        fail("name either a file to score or --audit")
    if file is None:
        _score_cheats(n, chosen(servers), seed, picture)
    elif are_messages(file):
        _score_messages(file)
    else:
        _score_conversations(file, policy)


def _score_cheats(n: int, servers: list[str], seed: int, picture: Path | None) -> None:
    from prove.progress import Progress
    from prove.rewards import agreement, audit

    with Progress("tasks") as tell:
        tasks = audit.tasks(n, servers, seed, tell)
    with Progress("policies") as tell:
        table = audit.table(audit.rollouts(tasks, tell))
    with Progress("sizes of damage") as tell:
        agrees = agreement.agreement(agreement.rollouts(tasks, seed, tell), seed)
    typer.echo(table.to_string(float_format="{:.3f}".format))
    typer.echo("\nRank correlation with the goal and with the damage done to gold; agreement within a task:")
    typer.echo(agrees.to_string(float_format="{:.3f}".format))
    if picture:
        from prove import figures, figures_rewards

        figures.save(figures_rewards.audit(table), picture)


def _score_messages(file: Path) -> None:
    from prove.rewards.messages import read_trajectories, scores

    table = scores(read_trajectories(file))
    typer.echo(table.to_string(float_format="{:.3f}".format, na_rep="-"))


def _score_conversations(file: Path, policy: str) -> None:
    from prove.benchmarks.heldout import evaluate, summary
    from prove.policies import SILENT, Oracle
    from prove.records import read_conversations

    policies = {"oracle": Oracle(), "silent": SILENT}
    if policy not in policies:
        fail(f"there is no policy {policy!r}; there are: {', '.join(policies)}")
    for name, value in summary(evaluate(policies[policy], read_conversations(file))).items():
        typer.echo(f"{name:<24}{value}  n={value.n}")


Profile = Annotated[str, typer.Option(help="smoke, small or paper: how big everything is.")]
Model = Annotated[str, typer.Option(help="A model's name, a hub id or a local folder; the profile's own by default.")]


@app.command(epilog="Example: `prove train --profile smoke`")
def train(profile: Profile = "small", model: Model = "", seed: Seed = 0) -> None:
    """Make the data, the warm start and the GRPO run of a profile; goes on where it stopped."""
    from prove import stages
    from prove.profiles import find

    size = find(profile)
    for name, run in stages.train(size, model or size.model, seed).items():
        typer.echo(f"{name}: {run.path / 'model'}")


@app.command(epilog="Example: `prove evaluate --profile smoke`")
def evaluate(
    profile: Profile = "small",
    model: Model = "",
    seed: Seed = 0,
    base_only: Annotated[bool, typer.Option(help="Only the untrained model.")] = False,
) -> None:
    """Play the profile's held-out conversations with the model as it is, after the warm start and after GRPO."""
    from prove import stages
    from prove.benchmarks.heldout import summary
    from prove.profiles import find

    size = find(profile)
    for name, scores in stages.compare(size, model or size.model, seed, base_only).items():
        for metric, value in summary(scores).items():
            typer.echo(f"{name:<6}{metric:<24}{value}  n={value.n}")


@app.command(epilog="Example: `prove figures`")
def figures() -> None:
    """Draw the tables and figures of `results/` again from its numbers, and the README's if they are the repository's own."""
    from prove import run, stages, tables

    numbers, home = stages.numbers(), run.repository()
    for path in tables.write_all(numbers):
        typer.echo(path)
    if home and run.results() == home / "results" and tables.update_readme(home / "README.md", numbers):
        typer.echo(home / "README.md")
