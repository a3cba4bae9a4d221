"""The documentation: what it shows runs, where it points is there, and the messages that it explains are those that are said."""

import ast
import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

from prove.cli import app

HOME = Path(__file__).parent.parent
DOCS = sorted((HOME / "docs").glob("*.md"))
PAGES = [HOME / "README.md", *DOCS, HOME / "CONTRIBUTING.md", HOME / "CHANGELOG.md"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)


def blocks(page, *languages):
    return [(language, text) for language, text in BLOCK.findall(page.read_text(encoding="utf-8")) if language in languages]


def commands(text):
    """The commands of ours in a block, comments left out."""
    lines = [line.split("  #")[0].strip() for line in text.replace("\\\n", " ").splitlines()]
    return [line for line in lines if re.match(r"prove |.*\| prove ", line)]


@pytest.mark.parametrize("page", DOCS, ids=lambda p: p.stem)
def test_what_a_page_shows_runs_from_top_to_bottom(page, tmp_path):
    """Plain blocks and those of Python are run, in order, in one folder."""
    environment = {**os.environ, "PROVE_RESULTS": str(tmp_path / "results"), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (tmp_path / "prove").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m prove "$@"\n')
    (tmp_path / "prove").chmod(0o755)
    for language, text in blocks(page, "", "python"):
        words = [sys.executable, "-c", text] if language else ["bash", "-ec", "\n".join(commands(text))]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (text, done.stderr)


SHOWN = sorted({line for page in PAGES for _, text in blocks(page, "sh") for line in commands(text)})


@pytest.mark.parametrize("line", SHOWN)
def test_a_command_that_is_only_shown_has_the_options_it_is_shown_with(line):
    """Blocks marked `sh` need what is not here: a GPU, an endpoint, a hub."""
    name, *words = shlex.split(line)[1:]
    command = typer.main.get_command(app).commands[name]
    with contextlib.suppress(FileNotFoundError):
        command.make_context(name, words)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if not re.match(r"https?:", target):
            file, _, anchor = target.partition("#")
            there = (page.parent / file) if file else page
            assert there.exists(), f"{page.name}: {target}"
            if anchor:
                heads = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.M)
                assert anchor in [re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads], target


def said():
    """All text that the package can say: its string constants, what is filled in marked."""
    out = []
    for path in (HOME / "prove").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                out.append("".join(str(v.value) if isinstance(v, ast.Constant) else "…" for v in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                out.append(node.value)
    return "\n".join(out).replace("`", "")


def test_the_messages_that_are_explained_are_those_that_are_said():
    everything = said()
    explained = re.findall(r"^### `(.+)`$", (HOME / "docs" / "troubleshooting.md").read_text(encoding="utf-8"), re.M)
    assert len(explained) > 10
    for message in explained:
        for piece in message.split("…"):
            assert piece.strip(" ,;:()[]") in everything, (message, piece)


def test_every_page_is_in_the_navigation():
    nav = yaml.safe_load((HOME / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    named = {page for entry in nav for page in entry.values()}
    assert {page.name for page in DOCS} <= named


@pytest.mark.skipif(not (Path(sys.executable).parent / "mkdocs").exists(), reason="mkdocs is not installed: make")
def test_the_site_is_built_without_a_warning_and_knows_every_name_of_the_face(tmp_path):
    command = [Path(sys.executable).parent / "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    api = (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")
    assert "Sessions share structure and never state" in api
