"""Somebody else's server as an environment: what is said of it was tried, and it can be played like one of the library."""

import sys
from pathlib import Path

import psutil
import pytest

from prove import cli
from prove.episode import Reply, ToolCall
from prove.mcp.adopt.graph import build
from prove.mcp.adopt.play import evaluate, play, tasks
from prove.mcp.adopt.server import Adopted
from prove.mcp.adopt.values import Leaf, arguments, fits, leaves, words
from prove.policies import SILENT, Oracle, Script
from prove.records import read_conversations
from prove.run import RunError
from prove.synthesis.planning.graph import explained

from .helpers import opened

LIBRARY = [sys.executable, str(Path(__file__).parent / "foreign.py")]


@pytest.fixture(scope="module")
def library():
    with Adopted(LIBRARY) as server:
        yield server


@pytest.fixture(scope="module")
def graph(library):
    return build(library)


def test_edges_are_those_that_execution_shows_and_carry_the_calls(graph):
    kinds = {(a, b): edge["kind"] for a, b, edge in graph.edges(data=True)}
    assert kinds == {
        ("list_books", "read_book"): "explicit",
        ("write_note", "read_note"): "implicit",
    }
    assert "list_books returns 'B-7', which read_book takes as bookId, and 'B-7-x' it does not" in explained(graph, "read_book")
    assert not graph.nodes["launch"]["succeeded"]
    assert not graph.nodes["lend"]["succeeded"]  # needs two things at once, which no pair of calls can show


def test_sessions_of_a_process_each_are_isolated_and_those_that_share_a_file_are_not(graph, tmp_path):
    assert graph.graph["isolated"] is True
    with Adopted([*LIBRARY, "shared", str(tmp_path / "members.json")]) as shared:
        assert build(shared).graph["isolated"] is False


def test_a_file_in_the_sessions_folder_makes_them_isolated_again():
    with Adopted([*LIBRARY, "shared", "{folder}/members.json"], only=["add_member", "list_members", "write_note", "read_note"]) as own:
        assert build(own).graph["isolated"] is True
        with own.open() as one, own.open() as other:
            assert one.call("add_member", {"member_name": "Ada", "level": "full"}).ok
            assert (one.call("list_members", {}).value, other.call("list_members", {}).value) == ({"members": ["Ada"]}, {"members": []})


def test_the_folder_has_one_name_in_every_session_and_holds_what_it_is_told_to(tmp_path):
    (tmp_path / "note.txt").write_text("was here before")
    with Adopted(LIBRARY, start=tmp_path) as server, server.open() as session:
        assert session.call("read_note", {"path": "{folder}/note.txt"}).text == "was here before"
        assert session.call("write_note", {"path": "{folder}/note.txt"}).text == "wrote {folder}/note.txt"
    assert (tmp_path / "note.txt").read_text() == "was here before"


def test_the_oracle_reaches_every_goal_and_silence_none(library, graph):
    made = list(tasks(library, graph))
    assert [[c.name for c in task.calls] for task in made] == [
        ["list_books"],
        ["add_member"],
        ["list_members"],
        ["write_note"],
        ["list_books", "read_book"],
        ["write_note", "read_note"],
    ]
    assert "bookId: from the result before" in made[4].turns[0].user
    assert [(s.goal, s.coverage) for s in evaluate(Oracle(), made, library)] == [(True, 1.0)] * len(made)
    assert [s.goal for s in evaluate(SILENT, made, library)] == [False] * len(made)


def test_an_episode_shows_the_foreign_tools_and_a_refusal_as_the_server_says_it(library, graph):
    task = next(t for t in tasks(library, graph) if t.calls[-1].name == "read_book")
    wrong = Script(lambda e: Reply("", [ToolCall("read_book", {"bookId": "B-1"})]) if not e.calls else Reply("It is not there."))
    (episode,) = play(wrong, [task], library)
    assert [tool["function"]["name"] for tool in episode.tools] == list(library.tools)
    assert (episode.results[0].ok, episode.results[0].text) == (False, "no such book")
    assert not episode.goal_reached()


def test_results_that_differ_from_session_to_session_make_no_task(library, graph):
    assert graph.nodes["clock"]["alone"] == {}
    assert "clock" not in [task.calls[0].name for task in tasks(library, graph)]


def test_ended_sessions_leave_no_process_and_no_folder(library):
    with library.open() as one:
        pid = one.call("clock", {}).value["pid"]
        folder = one._folder
        assert (psutil.pid_exists(pid), Path(folder).is_dir()) == (True, True)
    assert (psutil.pid_exists(pid), Path(folder).exists()) == (False, False)


@pytest.mark.parametrize("kind", ["\ud83d", {"\udc00": 1}, float("nan")])
def test_arguments_that_are_no_json_are_refused_and_the_connection_lives(library, kind):
    with library.open() as session:
        assert session.call("add_member", {"member_name": kind, "level": "full"}).code == "invalid_argument"
        assert session.call("list_members", {}).value == {"members": []}


@pytest.mark.parametrize("text", ['{"half": "\\ud83d"}', '{"x": NaN}', "[" * 5000 + "]" * 5000])
def test_a_result_that_looks_like_json_and_is_none_is_a_text(library, text, tmp_path):
    (tmp_path / "note.txt").write_text(text)
    with library.open() as session:
        assert session.call("read_note", {"path": f"{tmp_path}/note.txt"}).value == text


def test_a_server_that_dies_in_a_call_is_no_refusal():
    stopped = pytest.raises(RunError, match="library stopped answering in lend")
    with Adopted([*LIBRARY, "vanish"]) as server, server.open() as session, stopped:
        session.call("lend", {"book_id": "B-7", "member": "Ada"})


def test_a_served_library_can_be_adopted_by_its_url(web):
    url = f"{web.base_url}{opened(web)['urls']['banking']}"
    with Adopted([url], only=["list_accounts", "get_account"]) as server, server.open() as session:
        account = session.call("list_accounts", {}).value["items"][0]["account_id"]
        assert session.call("get_account", {"account_id": account}).value["account_id"] == account
        (edge,) = build(server).edges(data=True)
        assert (*edge[:2], edge[2]["kind"]) == ("list_accounts", "get_account", "explicit")


@pytest.mark.parametrize(
    ("result", "parameter", "fitting"),
    [
        ({"books": [{"id": "B-7"}]}, "book_id", True),
        ({"books": [{"id": "B-7"}]}, "bookId", True),
        ({"books": [{"id": "B-7"}]}, "member_id", False),
        ({"books": [{"id": 7}]}, "book_id", False),
        ({"note": {"path": "a"}}, "path", True),
    ],
)
def test_a_result_fits_a_parameter_by_name_and_type(result, parameter, fitting, library):
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    tool = library.tools["launch"].__class__("use", "", schema, True)
    (leaf,) = leaves(result)
    assert isinstance(leaf, Leaf)
    assert fits(leaf, parameter, tool) is fitting


def test_arguments_are_made_from_the_schema_alone(library):
    assert arguments(library.tools["add_member"], 0) == {"member_name": "alpha", "level": "junior"}
    assert arguments(library.tools["add_member"], 1) == {"member_name": "alpha", "level": "full"}
    assert arguments(library.tools["write_note"], 0) == {"path": "{folder}/alpha.txt"}
    assert words("entityNames") == words("entity_name") == ["entity", "name"]


def test_the_command_says_what_it_found_and_writes_the_tasks(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["prove", "adopt", "--out", str(tmp_path / "tasks.jsonl"), "--only", "list_books,read_book", *LIBRARY])
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capsys.readouterr().out
    assert not done.value.code, said
    assert "library: 2 tools, 1 edges" in said
    assert "2 tasks that repeat; the oracle reaches 2 goals, silence 0" in said
    written = read_conversations(tmp_path / "tasks.jsonl")
    assert [[c.name for c in task.calls] for task in written] == [["list_books"], ["list_books", "read_book"]]


MISTAKES = [
    ([*LIBRARY, "die"], "its last words: the library is closed"),
    (["no-such-command-anywhere"], "no-such-command-anywhere"),
    (["http://127.0.0.1:9/mcp"], "no MCP server answers at"),
    (["--only", "fly", *LIBRARY], "library has no tool 'fly'; it has: list_books"),
    (["--start", "/nowhere", *LIBRARY], "/nowhere"),
]


@pytest.mark.parametrize(("typed", "said"), MISTAKES)
def test_a_mistake_in_adopting_is_one_clear_line(typed, said, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["prove", "adopt", *typed])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    error = capsys.readouterr().err
    assert stopped.value.code == 2
    assert said in error
    assert len(error.strip().splitlines()) == 1
