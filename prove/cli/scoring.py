"""The reward, of whatever there is to score."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from prove.cli.app import Seed, Servers, app, fail, known_split, some


@app.command(epilog="Example: `prove score conversations.jsonl`, or `prove score --audit -n 200 --servers banking,email`")
def score(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="Conversations, messages with tool calls, or results of BFCL.")] = None,
    policy: Annotated[str, typer.Option(help="oracle or silent: who plays the conversations.")] = "oracle",
    audit: Annotated[bool, typer.Option("--audit", help="No file: what a reward buys, on fresh tasks, live.")] = False,
    n: Annotated[int, typer.Option("-n", min=2, help="How many tasks the audit plays.")] = 200,
    servers: Servers = None,
    seed: Seed = 0,
    split: Annotated[str, typer.Option(help="train, validation or heldout: which worlds the audit's tasks live in.")] = "validation",
    reward: Annotated[str, typer.Option(help="Another preset, or your own as module:function, beside paper and effect.")] = "",
    picture: Annotated[Path | None, typer.Option(help="Draw the audit into this file (.svg, .pdf, .png).")] = None,
    numbers: Annotated[Path | None, typer.Option(help="Write the audit's tables into this JSON file.")] = None,
) -> None:
    """Score every reward component: of conversations played live, or of recorded messages or results; or ask what a reward buys."""
    from prove.rewards import bfcl, messages
    from prove.servers.catalog import chosen

    if audit == (file is not None):
        fail("name either a file to score or --audit")
    for name in ("policy",) if audit else ("n", "servers", "seed", "split", "picture", "numbers"):
        if str(context.get_parameter_source(name)).endswith("COMMANDLINE"):
            fail(f"{'-n' if name == 'n' else f'--{name}'} says nothing {'with --audit' if audit else 'of a file: it is for --audit'}")
    if file is None:
        _audit(n, chosen(",".join(servers or [])), seed, split, reward, picture, numbers)
    elif messages.are_messages(file):
        _score_recorded(messages.read_trajectories(file), reward)
    elif bfcl.are_results(file):
        _score_recorded(messages.read_trajectories(file, bfcl.trajectory), reward)
    else:
        _score_conversations(file, policy)


def _audit(n: int, servers: list[str], seed: int, split: str, preset: str, picture: Path | None, out: Path | None) -> None:
    from prove.audit import audit, report
    from prove.progress import Progress
    from prove.rewards import find
    from prove.run import write_json

    known_split(split)
    presets = {name: find(name) for name in dict.fromkeys([*audit.AUDITED, *([preset] if preset else [])])}
    with ExitStack() as stack:
        tell = lambda what: stack.enter_context(Progress(what))
        tasks = audit.tasks(n, servers, seed, split, tell("tasks"))  # type: ignore[arg-type]
        measured = report.measure(tasks, seed, tell, presets)
    found = {"seed": seed, "split": split, "servers": servers, **measured}
    typer.echo(report.text(found))
    if out:
        write_json(out, found)
    if picture:
        from prove import figures, figures_rewards

        figures.save(figures_rewards.audit(report.table(found["audit"])), picture)


def _score_recorded(trajectories: list[Any], reward: str) -> None:
    from prove.columns import columns
    from prove.rewards import find
    from prove.rewards.effect import AS_CALLED
    from prove.rewards.messages import rows

    typer.echo(columns(rows(trajectories, {reward: find(reward)} if reward else {})))
    typer.echo(AS_CALLED)


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
