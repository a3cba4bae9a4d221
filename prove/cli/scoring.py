"""The reward, of whatever there is to score."""

from pathlib import Path
from typing import Annotated, Any

import typer

from prove.cli.app import Seed, Servers, app, fail, known_split


@app.command(epilog="Example: `prove score conversations.jsonl`, or `prove score --audit -n 200 --servers banking,email`")
def score(
    file: Annotated[Path | None, typer.Argument(help="Conversations, messages with tool calls, or results of BFCL.")] = None,
    policy: Annotated[str, typer.Option(help="oracle or silent: who plays the conversations.")] = "oracle",
    audit: Annotated[bool, typer.Option("--audit", help="No file: what cheating policies get on fresh tasks, live.")] = False,
    n: Annotated[int, typer.Option("-n", min=2, help="How many tasks the audit plays.")] = 200,
    servers: Servers = "",
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
    if file is None:
        _score_cheats(n, chosen(servers), seed, split, picture, numbers)
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
    from prove.records import read_conversations

    policies = {"oracle": Oracle(attempts=False), "silent": SILENT}
    if policy not in policies:
        fail(f"there is no policy {policy!r}; there are: {', '.join(policies)}")
    for name, value in summary(evaluate(policies[policy], read_conversations(file))).items():
        typer.echo(f"{name:<24}{value}  n={value.n}")
