"""The reward, of whatever there is to score."""

from pathlib import Path
from typing import Annotated, Any

import typer

from prove.cli.app import Seed, Servers, app, fail, known_split, some


@app.command(epilog="Example: `prove score conversations.jsonl`, or `prove score --audit -n 200 --servers banking,email`")
def score(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Conversations, messages with tool calls, or results of BFCL.")] = None,
    policy: Annotated[str, typer.Option(help="oracle or silent: who plays the conversations.")] = "oracle",
    audit: Annotated[bool, typer.Option("--audit", help="No file: what cheating policies get on fresh tasks, live.")] = False,
    n: Annotated[int, typer.Option("-n", min=2, help="How many tasks the audit plays.")] = 200,
    servers: Servers = None,
    seed: Seed = 0,
    split: Annotated[str, typer.Option(help="train, validation or heldout: which worlds the audit's tasks live in.")] = "validation",
    picture: Annotated[Path | None, typer.Option(help="Draw the audit into this file (.svg, .pdf, .png).")] = None,
    numbers: Annotated[Path | None, typer.Option(help="Write the audit's tables into this JSON file.")] = None,
) -> None:
    """Score every reward component: of conversations played live, of recorded messages or results, or of cheating policies."""
    from prove.rewards import bfcl, messages
    from prove.servers.catalog import chosen

    if audit == (file is not None):
        fail("name either a file to score or --audit")
    for name in ("policy",) if audit else ("n", "servers", "seed", "split", "picture", "numbers"):
        if str(context.get_parameter_source(name)).endswith("COMMANDLINE"):
            fail(f"{'-n' if name == 'n' else f'--{name}'} says nothing {'with --audit' if audit else 'of a file: it is for --audit'}")
    if file is None:
        _score_cheats(n, chosen(",".join(servers or [])), seed, split, picture, numbers)
    elif messages.are_messages(file):
        _score_recorded(messages.read_trajectories(file))
    elif bfcl.are_results(file):
        _score_recorded(messages.read_trajectories(file, bfcl.trajectory))
    else:
        _score_conversations(file, policy)


def _score_cheats(n: int, servers: list[str], seed: int, split: str, picture: Path | None, out: Path | None) -> None:
    from prove.progress import Progress
    from prove.rewards import agreement, audit, report
    from prove.run import write_json

    known_split(split)
    with Progress("tasks") as tell:
        tasks = audit.tasks(n, servers, seed, split, tell)  # type: ignore[arg-type]
    with Progress("policies") as tell:
        rollouts = audit.rollouts(tasks, tell)
    with Progress("sizes of damage") as tell:
        damage = agreement.rollouts(tasks, seed, tell)
    found = report.numbers(rollouts, damage, {"seed": seed, "split": split, "servers": servers})
    typer.echo(report.text(found))
    if out:
        write_json(out, found)
    if picture:
        from prove import figures, figures_rewards

        figures.save(figures_rewards.audit(report.table(found["audit"])), picture)


def _score_recorded(trajectories: list[Any]) -> None:
    from prove.columns import columns
    from prove.rewards.messages import rows

    typer.echo(columns(rows(trajectories)))


def _score_conversations(file: Path, policy: str) -> None:
    from prove.benchmarks.heldout import evaluate, summary
    from prove.policies import SILENT, Oracle

    policies = {"oracle": Oracle(attempts=False), "silent": SILENT}
    if policy not in policies:
        fail(f"there is no policy {policy!r}; there are: {', '.join(policies)}")
    scores = evaluate(policies[policy], some(file))
    for name, value in summary(scores).items():
        typer.echo(f"{name:<24}{value}  n={value.n}")
    if policy == "oracle" and (missed := [s.id for s in scores if not s.goal]):
        named = f"{', '.join(missed[:3])}{', ...' if len(missed) > 3 else ''}"
        typer.echo(f"the ground truth of {len(missed)} conversations misses its own goal ({named}): `prove verify` says why", err=True)
        raise typer.Exit(1)
