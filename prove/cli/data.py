"""Graphs and conversations: made, handed on, checked again, read."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from prove.cli.app import Seed, Servers, app, fail, interruptible, known_split, some


@app.command(epilog="Example: `prove graph banking --explain remove_payee`")
def graph(
    server: Annotated[str, typer.Argument(help="A server's name.")],
    explain: Annotated[str, typer.Option(help="Show why each edge from or to this tool is there.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The graph as node-link JSON.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Draw it into this file (.svg, .pdf, .png).")] = None,
    judge: Annotated[str, typer.Option(help="The URL of an endpoint whose model guesses the edges, to compare.")] = "",
    judge_model: Annotated[str, typer.Option(help="The name of that model.")] = "",
) -> None:
    """Show which tools depend on which: explicit edges from types, implicit ones found by execution."""
    from prove.synthesis.planning.graph import build, explained, node_link, summary

    it = build(server)
    if picture:
        from prove.figures import save, tool_graph

        save(tool_graph(it), picture)
    if judge:
        from prove.synthesis.teachers.llm_judge import judge as compare

        model = _llm(judge, judge_model, "judge")
        typer.echo(f"{judge_model}: {compare(it, model)}\n{model.usage}")
    elif as_json:
        typer.echo(json.dumps(node_link(it), indent=2))
    elif explain:
        typer.echo(explained(it, explain))
    else:
        typer.echo(summary(it))


@app.command(epilog="Example: `prove synthesize --servers banking -n 100 --out banking.jsonl`")
def synthesize(
    out: Annotated[Path, typer.Option(help="The JSON-lines file to write.")] = Path("conversations.jsonl"),
    n: Annotated[int, typer.Option("-n", min=1, help="How many conversations.")] = 1000,
    servers: Servers = None,
    seed: Seed = 0,
    split: Annotated[str, typer.Option(help="train, validation or heldout: which worlds they live in.")] = "train",
    mix: Annotated[
        str, typer.Option(help="multi_turn, paper (its shares of all kinds), transfer (and four servers held out), or broad (our own).")
    ] = "multi_turn",
    max_tools: Annotated[int, typer.Option(help="At most so many candidate tools of the server; 0 for all.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes, or requests at a time; the bytes are the same for any number.")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="Spread the work over the Ray cluster at RAY_ADDRESS, or a local one.")] = False,
    teacher: Annotated[str, typer.Option(help="The URL of an OpenAI-compatible endpoint that words the conversations.")] = "",
    teacher_model: Annotated[str, typer.Option(help="The name of the endpoint's model.")] = "",
    abstention: Annotated[str, typer.Option(help="Where When2Call and xLAM-Irrelevance are: hub, or a folder; ours by default.")] = "",
    teacher_goals: Annotated[float, typer.Option(min=0, max=1, help="Share of conversations whose goals the teacher proposes.")] = 0.0,
    temperature: Annotated[float | None, typer.Option(min=0, help="Of the teacher; the endpoint's own by default.")] = None,
    prices: Annotated[str, typer.Option(help="Per million tokens in and out, as in 0.15,0.60: the teacher's cost is then told.")] = "",
) -> None:
    """Make certified conversations; goes on where a killed run stopped."""
    from prove.progress import Progress
    from prove.servers.catalog import chosen
    from prove.synthesis.data.dataset import item, read_rejects
    from prove.synthesis.data.dataset import synthesize as make
    from prove.synthesis.data.mixes import plan_for
    from prove.synthesis.teachers.llm_teacher import LLMTeacher

    known_split(split)
    try:
        plan = plan_for(mix, n, seed, chosen(",".join(servers or [])), split, max_tools)  # type: ignore[arg-type]
    except LookupError as error:
        fail(f"{error}")
    words = LLMTeacher(_llm(teacher, teacher_model, "teacher", temperature, prices, seed), teacher_goals) if teacher else None
    if words and ray:
        fail("give either --teacher, which waits more than it computes, or --ray")
    if words:
        like = [made for i in range(8) if (made := item(plan, i)[0])]
        typer.echo(f"teacher: {words.estimate(like, n)}, if every answer holds at once")
    try:
        with Progress("conversations") as progress, interruptible(lambda: _kept(out, n)):
            make(plan, out, workers, progress, words, ray, _outside(abstention))
    finally:
        if words:
            typer.echo(f"teacher: {words.llm.usage}")
    rejects = read_rejects(out)
    typer.echo(f"{n} conversations in {out}; rejected tries: " + (", ".join(f"{k} {v}" for k, v in rejects.most_common()) or "none"))


def _kept(out: Path, n: int) -> str:
    from prove.synthesis.data.dataset import part_of

    part = part_of(out)
    made = part.read_bytes().count(b"\n") if part.exists() else 0
    return f"{made} of {n} conversations are kept in {part}, and the same command goes on from there"


def _outside(where: str) -> str:
    """Where the public abstention sets are; "", for our own questions, with a word on stderr where the hub is out of reach."""
    from prove.run import RunError
    from prove.synthesis.data.abstention import HUB, reachable

    why_not = reachable(where) if where else ""
    if why_not and where != HUB:
        raise RunError(why_not)
    if why_not:
        typer.echo(f"{why_not}; our own irrelevant questions stand in, with the source that they have", err=True)
    return "" if why_not else where


def _llm(url: str, model: str, role: str, temperature: float | None = None, prices: str = "", seed: int = 0) -> Any:
    """The language model of the options --teacher or --judge."""
    from prove.synthesis.teachers.llm import LLM

    if not model:
        fail(f"--{role} needs --{role}-model, the name under which the endpoint knows its model")
    per_million = None
    try:
        if prices:
            price_in, price_out = (float(p) for p in prices.split(","))
            per_million = price_in, price_out
    except ValueError:
        fail(f"{prices!r} are no prices: give two numbers, per million tokens in and out, as in 0.15,0.60")
    return LLM(model, url, sampling={} if temperature is None else {"temperature": temperature}, prices=per_million, seed=seed)


@app.command(epilog="Example: `prove export train.jsonl heldout.jsonl --out dataset`")
def export(
    files: Annotated[list[Path], typer.Argument(help="Conversations of `prove synthesize`, of one split or several.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")] = Path("dataset"),
    heldout_servers: Annotated[str, typer.Option(help="Comma-separated: whatever lives there is a split of its own.")] = "",
) -> None:
    """Write a data set to hand on: JSON lines, Parquet for `datasets.load_dataset`, and a card of what is in it."""
    from prove.servers.catalog import chosen
    from prove.synthesis.data.export import export as write

    held_out = chosen(heldout_servers) if heldout_servers else []
    for split, n in write(files, out, held_out).items():
        typer.echo(f"{split:<18}{n}")
    typer.echo(out / "README.md")


@app.command(epilog="Example: `prove verify conversations.jsonl`")
def verify(
    file: Annotated[Path, typer.Argument(help="Conversations of `prove synthesize`.")],
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
) -> None:
    """Check every certificate again, by code that shares nothing with what made it; exit code 1 if anything fails."""
    from prove.progress import Progress
    from prove.verify.report import verify as check

    some(file)
    with Progress("conversations") as progress:
        verdict = check(file, workers, progress)
    typer.echo(verdict.table())
    raise typer.Exit(1 if verdict.faults else 0)


@app.command(epilog="Example: `prove read conversations.jsonl --out page.html`")
def read(
    file: Annotated[Path, typer.Argument(help="Conversations of `prove synthesize`.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("conversations.html"),
    n: Annotated[int, typer.Option("-n", min=1, help="How many conversations.")] = 200,
    seed: Annotated[int, typer.Option(help="The same seed picks the same conversations.")] = 0,
) -> None:
    """Write one page of conversations to read: what is said, called and returned, and why each call is there."""
    from prove.display import page_html, sample
    from prove.files import whole

    picked = sample(some(file), n, seed)
    with whole(out) as draft:
        draft.write_text(page_html(picked, f"{len(picked)} conversations of {file.name}"), encoding="utf-8")
    typer.echo(out)
