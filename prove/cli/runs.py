"""Training, evaluation, and what they leave in `results/`."""

from typing import Annotated

import typer

from prove.cli.app import Seed, app

Profile = Annotated[str, typer.Option(help="smoke, small, paper or transfer: how big everything is.")]
Reward = Annotated[str, typer.Option(help="What GRPO is trained on: paper, strict, or one of the paper's ablations.")]
Model = Annotated[str, typer.Option(help="A model's name, a hub id or a local folder; the profile's own by default.")]


@app.command(epilog="Example: `prove train --profile smoke`")
def train(profile: Profile = "small", model: Model = "", reward: Reward = "paper", seed: Seed = 0) -> None:
    """Make the data, the warm start and the GRPO run of a profile; goes on where it stopped."""
    from prove import stages
    from prove.profiles import find

    size = find(profile, reward)
    for name, run in stages.train(size, model or size.model, seed).items():
        typer.echo(f"{name}: {run.path / 'model'}")


@app.command(epilog="Example: `prove evaluate --profile smoke`")
def evaluate(
    profile: Profile = "small",
    model: Model = "",
    reward: Reward = "paper",
    seed: Seed = 0,
    base_only: Annotated[bool, typer.Option(help="Only the untrained model.")] = False,
) -> None:
    """Play the profile's held-out conversations with the model as it is, after the warm start and after GRPO."""
    from prove import stages
    from prove.benchmarks.heldout import summary
    from prove.profiles import find

    size = find(profile, reward)
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
