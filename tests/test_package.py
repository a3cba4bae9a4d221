"""The package as others install it: a light core, extras that say their names, and a place of its own among their packages."""

import ast
import json
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import prove
from prove.extras import EXTRAS
from prove.servers.catalog import packages

HOME = Path(__file__).parent.parent
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def closure(requirements):
    """The distributions that requirements bring here, with all that those need; our own extras are followed."""
    found, wanted = set(), [(Requirement(r), ()) for r in requirements]
    while wanted:
        requirement, _ = wanted.pop()
        name = canonicalize_name(requirement.name)
        if name == "prove-rl":
            wanted += [(Requirement(r), ()) for extra in requirement.extras for r in PROJECT["optional-dependencies"][extra]]
            continue
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        for line in distribution(name).requires or ():
            of_theirs = Requirement(line)
            if not of_theirs.marker or any(of_theirs.marker.evaluate({"extra": e}) for e in ("", *requirement.extras)):
                of_theirs.marker = None
                wanted.append((of_theirs, ()))
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    source = tmp_path_factory.mktemp("source")
    for name in ("prove", "servers"):
        shutil.copytree(HOME / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(HOME / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "."]
    subprocess.run(command, cwd=source, check=True)
    (built,) = (source / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def light(wheel, tmp_path_factory):
    """The interpreter of an environment with the wheel and what it requires: nothing else is there."""
    home = tmp_path_factory.mktemp("light")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--quiet", "--python", str(python), "install", "--no-deps", str(wheel)]
    subprocess.run(command, check=True)
    (site,) = home.glob("lib/*/site-packages")
    for name in closure(PROJECT["dependencies"]):
        for top in {file.parts[0] for file in distribution(name).files if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution(name).locate_file(top))
    return python


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Somebody's project: it has a package `servers`, and another version of transformers than we train with."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "servers" / "banking").mkdir(parents=True)
    (folder / "servers" / "__init__.py").write_text("OURS = False\n")
    (folder / "servers" / "banking" / "__init__.py").write_text("raise ImportError('somebody else's')\n")
    (folder / "transformers.py").write_text("__version__ = '4.40.0'\n")
    return folder


def run(python, project, *words):
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(project), "COLUMNS": "200"}
    return subprocess.run([python, "-m", "prove", *words], cwd=project, env=environment, capture_output=True, text=True)


def test_the_wheel_claims_one_name_and_holds_every_domain(wheel):
    names = ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"prove"}
    assert "prove/py.typed" in names
    for domain in packages():
        assert {f"prove/library/{domain}/{part}" for part in ("tools.py", "world.py", "phrases.toml")} <= set(names)


def test_the_core_alone_makes_verifies_scores_and_shows_conversations_beside_somebody_elses_servers(light, project):
    message = {"tools": [], "messages": [], "ground_truth": []}
    (project / "messages.jsonl").write_text(json.dumps(message) + "\n")
    for words in (
        ["--version"],
        ["servers"],
        ["models"],
        ["call", "banking", "list_accounts"],
        ["graph", "budget"],
        ["synthesize", "--servers", "budget", "-n", "3", "--out", "made.jsonl"],
        ["verify", "made.jsonl", "--workers", "1"],
        ["read", "made.jsonl", "--out", "page.html"],
        ["score", "made.jsonl"],
        ["score", "messages.jsonl"],
    ):
        done = run(light, project, *words)
        assert done.returncode == 0, (words, done.stderr)
    script = "import prove, servers, transformers; prove.Session.open('banking'); print(servers.OURS, transformers.__version__)"
    done = subprocess.run([light, "-c", script], cwd=project, capture_output=True, text=True)
    assert done.stdout == "False 4.40.0\n", done.stderr


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("mcp", "serve budget"),
        ("mcp", "serve budget --http"),
        ("mcp", "adopt -- true"),
        ("llm", "synthesize --teacher http://127.0.0.1:9 --teacher-model m --out unmade.jsonl"),
        ("bench", "evaluate --benchmark heldout --option file=made.jsonl --endpoint http://127.0.0.1:9 --model m"),
        ("export", "export made.jsonl --out set"),
        ("bench", "score --audit -n 2 --servers budget"),
        ("notebooks", "graph budget --picture graph.svg"),
        ("train", "train --profile smoke"),
        ("distributed", "synthesize --ray --out unmade.jsonl"),
    ],
)
def test_a_command_whose_extra_is_missing_says_which_one_in_one_line(light, project, extra, words):
    if "made.jsonl" in words and not (project / "made.jsonl").exists():
        run(light, project, "synthesize", "--servers", "budget", "-n", "3", "--out", "made.jsonl")
    done = run(light, project, *words.split())
    assert done.returncode == 2
    assert f"pip install 'prove-rl[{extra}]'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not any((project / name).exists() for name in ("unmade.jsonl", "set"))


def imported(path):
    """Every module that a file asks for, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_whatever_the_package_imports_is_in_the_core_or_in_an_extra():
    theirs = ("bfcl_eval", "tau2", "agentdojo", "opencompass")  # benchmarks, whose own environments say what they need
    asked = {name.split(".")[0] for room in ("prove", "servers") for path in (HOME / room).rglob("*.py") for name in imported(path)}
    asked -= {"prove", *theirs, *sys.stdlib_module_names}
    brings, core = packages_distributions(), closure(PROJECT["dependencies"])
    of_core = {name for name in asked if {canonicalize_name(d) for d in brings.get(name, ())} & core}
    assert asked - of_core == asked & {name for names in EXTRAS.values() for name in names}


@pytest.mark.parametrize("extra", [name for name in EXTRAS if name not in ("gpu", "distributed")])  # those are not installed here
def test_an_extra_brings_what_it_is_said_to_bring(extra):
    brought, brings = closure(PROJECT["optional-dependencies"][extra]), packages_distributions()
    for module in EXTRAS[extra]:
        assert {canonicalize_name(d) for d in brings[module]} & brought, module


@pytest.mark.parametrize(
    ("gpu", "index_answers", "chosen"), [(False, True, "CPU build"), (False, False, "default build"), (True, True, "default build")]
)
def test_make_takes_the_cpu_build_of_pytorch_where_there_is_no_gpu_and_its_index_answers(tmp_path, gpu, index_answers, chosen):
    asked = tmp_path / "asked"
    programs = {"pip": f'echo "$@" >> {asked}; exit {int(not index_answers)}', "nvidia-smi": f"exit {int(not gpu)}", "uname": "echo Linux"}
    (tmp_path / "bin").mkdir()
    for name, does in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    done = subprocess.run(["make", "torch", f"VENV={tmp_path}"], cwd=HOME, env=environment, capture_output=True, text=True, check=True)
    assert chosen in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert asked.exists() != gpu
    if not gpu:
        lock = (HOME / "requirements.lock").read_text().splitlines()
        assert asked.read_text().split()[-1] in [line for line in lock if line.startswith("torch==")]


# --- the public face


def test_the_face_is_what_type_checkers_see_and_what_is_there():
    tree = ast.parse((HOME / "prove" / "__init__.py").read_text(encoding="utf-8"))
    (checking,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in checking.body for alias in node.names}
    assert seen | {"__version__"} == set(prove.__all__)
    assert all(getattr(prove, name) is not None for name in prove.__all__)
    assert set(prove.__all__) <= set(dir(prove))
    with pytest.raises(AttributeError, match="has no attribute 'Sesion'"):
        _ = prove.Sesion


def test_the_page_of_the_face_lists_it_and_nothing_else():
    page = (HOME / "docs" / "api.md").read_text(encoding="utf-8")
    listed = [line.removeprefix("::: prove.").strip() for line in page.splitlines() if line.startswith("::: prove.")]
    assert sorted(listed) == sorted(set(prove.__all__) - {"__version__"})


def test_nothing_imports_from_the_command_line():
    files = [p for room in ("prove", "servers", "benchmarks") for p in (HOME / room).rglob("*.py")]
    own = {HOME / "prove" / "__main__.py"}
    for path in files:
        if path.parent.name != "cli" and path not in own:
            assert not [name for name in imported(path) if name.startswith("prove.cli")], path
    assert not [path for path in (HOME / "notebooks").glob("*.ipynb") if "prove.cli" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (["-c", "import prove"], {"msgspec", "typer", "numpy", "faker"}),
        (["-m", "prove", "--help"], {"faker", "numpy", "networkx", "prove.servers"}),
        (["-m", "prove", "call", "banking", "list_accounts"], {"numpy", "networkx", "pandas", "prove.synthesis"}),
    ],
)
def test_what_is_not_needed_is_not_imported(words, unwanted):
    done = subprocess.run([sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True)
    loaded = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert not loaded & unwanted
