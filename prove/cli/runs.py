"""Training, evaluation, and what they leave in `results/`."""

from typing import Annotated, Any

import typer

from prove.cli.app import Seed, app, fail, interruptible

Profile = Annotated[str, typer.Option(help="smoke, small, paper or transfer: how big everything is; the model's own by default.")]
Reward = Annotated[str, typer.Option(help="effect, paper, an ablation, or your own as module:function; the profile's own by default.")]
Model = Annotated[str, typer.Option(help="A model's name, a hub id or a local folder; the profile's own by default.")]
Method = Annotated[str, typer.Option(help="grpo, or sft: three epochs of supervised training instead.")]
Rate = Annotated[float, typer.Option(min=0.0, help="The learning rate; 0 for the model's own.")]
Lora = Annotated[int, typer.Option(min=-1, help="The rank of an adapter to train; 0 for all weights, -1 for the profile's own.")]
Sampler = Annotated[str, typer.Option(help="Who samples while training: vllm or transformers; the profile's own by default.")]
Conversations = Annotated[str, typer.Option(help="A file of `prove synthesize` to train on, instead of the profile's conversations.")]


@app.command(epilog="Examples: `prove train --profile smoke`, `prove train --model qwen3-4b --gpus 8`, `prove train --plan`")
def train(
    profile: Profile = "",
    model: Model = "",
    reward: Reward = "",
    seed: Seed = 0,
    method: Method = "grpo",
    learning_rate: Rate = 0.0,
    lora: Lora = -1,
    engine: Sampler = "",
    conversations: Conversations = "",
    gpus: Annotated[int, typer.Option(min=-1, help="GPUs on each machine, a process each; -1 for all there are, 0 for the CPU.")] = -1,
    nodes: Annotated[int, typer.Option(min=1, help="Machines. Start the same command on each, with its --node.")] = 1,
    node: Annotated[int, typer.Option(min=0, help="Which machine this is; 0 writes.")] = 0,
    rendezvous: Annotated[str, typer.Option(help="HOST:PORT of machine 0, as the others reach it.")] = "",
    wandb: Annotated[bool, typer.Option("--wandb", help="Tell Weights & Biases, too.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what it takes: memory, time, disk.")] = False,
) -> None:
    """Make the data, the warm start and the GRPO run of a profile; goes on where it stopped."""
    from prove import stages
    from prove.profiles import find
    from prove.training import launch

    if plan:
        _show_plan(model, find("paper", reward, model, method, learning_rate, lora, engine))
        return
    size = find(profile, reward, model, method, learning_rate, lora, engine)
    layout = launch.choose(None if gpus < 0 else gpus, not size.lora_rank, nodes, node, rendezvous, wandb)
    typer.echo(f"{size.model}, profile {size.name}, on {layout}")
    with interruptible(_kept):
        runs = stages.train(size, size.model, seed, layout, conversations)
    for name, run in runs.items():
        typer.echo(f"{name}: {run.path / 'model'}")


def _kept() -> str:
    from prove.run import results

    return f"what is done is kept in {results() / 'runs'}, and the same command goes on from there"


def _show_plan(model: str, size: Any) -> None:
    from prove.training import plan
    from prove.training.models import MODELS, architecture

    if model and architecture(model) is None:
        raise LookupError(f"nothing is known of {model!r} without fetching it; known are: {', '.join(MODELS)}, and folders")
    models = [model] if model else [m.name for m in MODELS.values() if m.profile == "paper"]
    typer.echo(plan.shown(size, models).to_string())
    typer.echo(plan.NOTE)


@app.command(epilog="Examples: `prove evaluate --profile smoke`, `prove evaluate --benchmark bfcl --subset base --model qwen3-4b`")
def evaluate(
    profile: Profile = "",
    model: Model = "",
    reward: Reward = "",
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
    method: Method = "grpo",
    learning_rate: Rate = 0.0,
    lora: Lora = -1,
    conversations: Conversations = "",
    engine: Annotated[str, typer.Option(help="Who samples: transformers, or vllm where a GPU is.")] = "transformers",
    tensor_parallel: Annotated[int, typer.Option(min=1, help="GPUs that vLLM spreads the model over.")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes that the endpoint is asked for at a time.")] = 64,
) -> None:
    """Score a policy on a benchmark, or play the profile's held-out conversations with the model as it is, after the warm start and
    after GRPO; goes on where it stopped."""
    if not benchmark:
        from prove import stages
        from prove.profiles import find

        size = find(profile, reward, "" if endpoint else model, method, learning_rate, lora)
        who = stages.Engine(engine, tensor_parallel, endpoint, model, concurrency) if endpoint else stages.Engine(engine, tensor_parallel)
        _compare(size, who, seed, base_only or bool(endpoint), conversations)
        return
    from prove.benchmarks import evaluate as benchmarks
    from prove.benchmarks import report
    from prove.extras import need

    need("bench")
    player = benchmarks.Who(policy, "" if policy else model or _model_of(profile), endpoint, temperature, reply_tokens, dtype)
    other = benchmarks.Who("", *_model_at(user), temperature) if user else None
    options = dict(_pair(text) for text in option or [])
    with interruptible(_kept):
        run, found = benchmarks.evaluate(benchmark, player, other, subset, limit, trials, workers, options, python)
    typer.echo("\n".join(report.lines(found)))
    typer.echo(run.path)
    raise typer.Exit(1 if found["unplayed"] else 0)


def _model_of(profile: str) -> str:
    from prove.profiles import find  # knows of training, and imports it

    return find(profile).model


def _compare(size: Any, who: Any, seed: int, base_only: bool, conversations: str) -> None:
    from prove import stages
    from prove.benchmarks.heldout import summary

    with interruptible(_kept):
        found = stages.compare(size, size.model, seed, base_only, engine=who, source=conversations)
    for name, scores in found.items():
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
    """Draw the tables and figures of `results/` again from its numbers, and those of its pages if they are the repository's own."""
    from prove import run, stages, tables

    numbers, home = stages.numbers(), run.repository()
    for path in tables.write_all(numbers):
        typer.echo(path)
    if home and run.results() == home / "results":
        for page in tables.update_pages(home, numbers):
            typer.echo(page)
