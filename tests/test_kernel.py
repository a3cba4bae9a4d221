"""The kernel: tables, transactions, schemas, sessions."""

import subprocess
import sys
from multiprocessing.pool import ThreadPool
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prove.episode import Episode, Reply, ToolCall
from prove.policies import parse_arguments
from prove.servers import Record, catalog, table, write
from prove.servers.catalog import catalogue, heldout, load
from prove.servers.server import World
from prove.servers.session import Session
from prove.servers.state import Base, Table
from prove.servers.tools import tool_of
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import Plan
from prove.synthesis.planning.wander import wander
from prove.training.rendering import read_reply


class Thing(Record):
    thing_id: str
    colour: str
    size: int = 0


KEYS = st.sampled_from([f"T{i}" for i in range(6)])
STEPS = st.lists(st.tuples(st.sampled_from(["add", "update", "remove", "save", "load"]), KEYS, st.sampled_from("rgb")), max_size=30)


@given(STEPS)
@settings(max_examples=300, deadline=None)
def test_a_table_behaves_like_a_dictionary_with_snapshots(steps):
    base = {f"T{i}": Thing(f"T{i}", "r") for i in range(3)}
    rows, model = Table(table(Thing), Base(dict(base))), dict(base)
    saved, saved_model = rows.save(), dict(model)
    for what, key, colour in steps:
        if what == "save":
            saved, saved_model = rows.save(), dict(model)
        elif what == "load":
            rows.load(saved)
            model = dict(saved_model)
        elif what == "add" and key not in model:
            model[key] = rows.add(Thing(key, colour))
        elif what == "update" and key in model:
            model[key] = rows.update(key, colour=colour)
        elif what == "remove" and key in model:
            assert rows.remove(key) == model.pop(key)
        assert {r.thing_id: r for r in rows} == model
        assert len(rows) == len(model)
        for wanted in "rgb":
            assert {r.thing_id for r in rows.where(colour=wanted)} == {k for k, r in model.items() if r.colour == wanted}
    assert rows.base.records == base


@pytest.mark.parametrize("server", [*catalogue(), *heldout()])
def test_a_fork_and_its_origin_never_see_each_other(server):
    origin = Session.open(server, 1)
    list(wander(origin, server, 40, Random(1)))
    before, fork = origin.digest(), origin.fork()
    assert fork.digest() == before
    assert fork.diff(origin) == {}
    list(wander(fork, server, 80, Random(2)))
    assert origin.digest() == before
    snapshot = fork.snapshot()
    reached = fork.digest()
    list(wander(fork, server, 40, Random(3)))
    fork.restore(snapshot)
    assert fork.digest() == reached


def test_a_thousand_interleaved_sessions_end_as_if_alone():
    alone = [wander_alone(seed) for seed in range(50)]
    sessions = [Session.open("banking", i % 50 % 4) for i in range(1000)]
    walks = [wander(s, "banking", 12, Random(i % 50)) for i, s in enumerate(sessions)]
    order = Random("interleave")
    live = list(walks)
    while live:
        walk = order.choice(live)
        if next(walk, None) is None:
            live.remove(walk)
    assert [s.digest() for s in sessions] == [alone[i % 50] for i in range(1000)]


def wander_alone(seed):
    session = Session.open("banking", seed % 4)
    list(wander(session, "banking", 12, Random(seed)))
    return session.digest()


def test_two_creations_in_the_other_order_are_the_same_deed():
    one, other = Session.open("banking", 0), Session.open("banking", 0)
    people = [{"name": "Ana Diaz", "account_number": "1234567890"}, {"name": "Bo Lind", "account_number": "0987654321"}]
    ids_one = [one.call("add_payee", p).value["payee_id"] for p in people]
    ids_other = [other.call("add_payee", p).value["payee_id"] for p in reversed(people)][::-1]
    for session, ids in ((one, ids_one), (other, ids_other)):
        pin = session.servers["banking"].customers.one().pin
        call = {"account_id": "ACC-4001", "payee_id": ids[0], "amount": 500, "day": "2027-01-01", "pin": pin}
        assert session.call("schedule_payment", call).ok
    assert one.digest() != other.digest()
    assert one.outcome() == other.outcome()
    other.call("remove_payee", {"payee_id": ids_other[1]})
    assert one.outcome() != other.outcome()


REFUSED = [
    ({}, "account_id is missing; expected a string of at most 255 characters (the id of an account"),
    ({"account_id": 7}, "account_id must be a string"),
    ({"acount_id": "ACC-4001"}, "did you mean 'account_id'?"),
    ([1], "arguments must be an object"),
    ({"account_id": "ACC-1"}, "there is no account 'ACC-1'"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_a_bad_call_is_refused_in_words_that_help(arguments, words):
    result = Session.open("banking", 0).call("get_account", arguments)
    assert not result.ok
    assert words in result.value["error"]["message"]


@pytest.mark.parametrize("amount", ["12", 12.5, True, 0, -5, None])
def test_an_amount_is_an_integer_above_zero_and_nothing_else(amount):
    session = Session.open("banking", 0)
    call = {"from_account": "ACC-4001", "to_account": "ACC-4003", "amount": amount}
    assert session.call("transfer_between_accounts", call).code == "invalid_argument"


@pytest.mark.parametrize(
    "arguments", [{"name": "\ud800", "account_number": "1234567890"}, {"name": 7, "account_number": "\udfff"}, {"\ud800": 1}]
)
def test_text_that_is_no_unicode_is_refused_and_leaves_no_trace(arguments):
    session = Session.open("banking", 0)
    before = session.digest()
    assert session.call("add_payee", arguments).code == "invalid_argument"
    assert session.digest() == before


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 100_000, "{", "7", '"x"'])
def test_a_call_that_cannot_be_read_is_answered_and_counted(text):
    conversation = next(c for c in (item(Plan(1, servers=("banking",)), i)[0] for i in range(9)) if c)
    episode = Episode(conversation)
    episode.step(Reply("", [ToolCall("list_accounts", parse_arguments(text))]))
    assert episode.results[0].code == "invalid_argument"
    assert episode.messages[-1]["role"] == "tool"
    hermes = read_reply(f'<tool_call>{{"name": "list_accounts", "arguments": {text}}}</tool_call>')
    assert len(hermes.calls) == 1


def test_a_bug_in_a_tool_is_loud_and_leaves_no_trace():
    session = Session.open("banking", 0)
    before = session.digest()

    def broken(server, payee_id):
        server.payees.remove(payee_id)
        raise ZeroDivisionError

    home, tool = session.tools["remove_payee"]
    session.tools = {**session.tools, "remove_payee": (home, msgspec.structs.replace(tool, function=broken))}
    with pytest.raises(ZeroDivisionError):
        session.call("remove_payee", {"payee_id": "PAY-201"})
    assert session.digest() == before


def test_a_parameter_without_a_meaning_is_turned_down_when_the_class_is_made():
    def rename(self, thing: str) -> Thing:
        """Rename a thing."""

    with pytest.raises(TypeError, match="give it a named type that says what it means"):
        tool_of(write(rename))


def test_the_core_imports_no_mcp_and_nothing_above_it():
    script = "import sys, prove.servers.session, prove.servers.overview\nprint(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "mcp" not in modules
    assert all(m.startswith("prove.servers") for m in modules if m.startswith("prove."))


def test_unknown_names_say_what_exists():
    with pytest.raises(LookupError, match="did you mean 'banking'"):
        load("bankng")
    assert "did you mean 'list_accounts'" in Session.open("banking", 0).call("list_account", {}).text


def test_a_folder_that_is_no_server_is_said_and_not_passed_over(tmp_path, monkeypatch):
    (tmp_path / "half_a_server").mkdir()
    (tmp_path / "half_a_server" / "__init__.py").touch()
    (tmp_path / "half_a_server" / "tools.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(catalog, "packages", lambda: {"half": "half_a_server"})
    with pytest.raises(LookupError, match=r"half_a_server has no world\.py"):
        catalog.load.__wrapped__("half")


def test_worlds_built_side_by_side_in_threads_are_those_built_alone():
    domain, seeds = load("crm"), range(900, 912)
    alone = [World(domain.server, seed, domain.populate).digest for seed in seeds]
    with ThreadPool(4) as pool:
        assert pool.map(lambda seed: World(domain.server, seed, domain.populate).digest, seeds) == alone
