"""Training, evaluation, and what they leave in `results/`."""

from typing import Annotated

import typer

from prove.cli.app import Seed, app, fail

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


@app.command(epilog="Examples: `prove evaluate --profile smoke`, `prove evaluate --benchmark bfcl --subset base --model qwen3-4b`")
def evaluate(
    profile: Profile = "small",
    model: Model = "",
    reward: Reward = "paper",
    seed: Seed = 0,
    base_only: Annotated[bool, typer.Option(help="Only the untrained model.")] = False,
    benchmark: Annotated[
        str, typer.Option(help="bfcl, tau2, teval, agentdojo or heldout, for one policy; without it, the profile's.")
    ] = "",
    endpoint: Annotated[str, typer.Option(help="The URL of an OpenAI-compatible endpoint that serves the model.")] = "",
    policy: Annotated[str, typer.Option(help="Instead of a model: gold, silent, random or hostile.")] = "",
    subset: Annotated[str, typer.Option(help="A part of the benchmark: a category, domain, suite or dimension.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="So many tasks by chance, always the same; 0 for all.")] = 0,
    trials: Annotated[int, typer.Option(min=1, help="How often each task is played, for pass^k.")] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Tasks at a time.")] = 1,
    user: Annotated[str, typer.Option(help="The model that plays tau2's user, as MODEL@URL.")] = "",
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE for the benchmark: tasks=FILE (tau2), data=FOLDER (teval).")] = None,
    temperature: Annotated[float, typer.Option(min=0, help="Of the model.")] = 0.0,
    reply_tokens: Annotated[int, typer.Option(min=1, help="The longest reply.")] = 1024,
    dtype: Annotated[str, typer.Option(help="float32 or bfloat16, of a local model.")] = "",
    python: Annotated[str, typer.Option(help="The interpreter that has the benchmark, if it is not ours.")] = "",
) -> None:
    """Score a policy on a benchmark, or play the profile's held-out conversations with the model as it is, after the warm start and
    after GRPO; goes on where it stopped."""
    if not benchmark:
        _compare(profile, model, reward, seed, base_only)
        return
    from prove.benchmarks import evaluate as benchmarks
    from prove.benchmarks import report

    who = benchmarks.Who(policy, "" if policy else model or _model_of(profile), endpoint, temperature, reply_tokens, dtype)
    other = benchmarks.Who("", *_model_at(user), temperature) if user else None
    options = dict(_pair(text) for text in option or [])
    run, found = benchmarks.evaluate(benchmark, who, other, subset, limit, trials, workers, options, python)
    typer.echo("\n".join(report.lines(found)))
    typer.echo(run.path)
    raise typer.Exit(1 if found["unplayed"] else 0)


def _model_of(profile: str) -> str:
    from prove.profiles import find  # knows of training, and imports it

    return find(profile).model


def _compare(profile: str, model: str, reward: str, seed: int, base_only: bool) -> None:
    from prove import stages
    from prove.benchmarks.heldout import summary
    from prove.profiles import find

    size = find(profile, reward)
    for name, scores in stages.compare(size, model or size.model, seed, base_only).items():
        for metric, value in summary(scores).items():
            typer.echo(f"{name:<6}{metric:<24}{value}  n={value.n}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        fail(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def _model_at(text: str) -> tuple[str, str]:
    """(model, URL) of MODEL@URL."""
    model, at, url = text.partition("@http")
    if not at:
        fail(f"{text!r} is not of the form MODEL@URL, as in gpt-4.1@https://api.openai.com/v1")
    return model, f"http{url}"


@app.command(epilog="Example: `prove figures`")
def figures() -> None:
    """Draw the tables and figures of `results/` again from its numbers, and the README's if they are the repository's own."""
    from prove import run, stages, tables

    numbers, home = stages.numbers(), run.repository()
    for path in tables.write_all(numbers):
        typer.echo(path)
    if home and run.results() == home / "results" and tables.update_readme(home / "README.md", numbers):
        typer.echo(home / "README.md")
