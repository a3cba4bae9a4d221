"""The laws that every tool of every server obeys, by one wanderer a server and one look at every signature."""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random

import pytest
from jsonschema import Draft202012Validator

from prove.servers.catalog import catalogue, heldout, load, packages
from prove.servers.schema import fields_of, is_secret
from prove.servers.session import Session
from prove.synthesis.data.plan import Plan
from prove.synthesis.planning.wander import wander

COUNTS = {  # arXiv:2606.03892, table 2
    "banking": 17, "trading": 13, "payments": 10, "calendar": 17, "email": 17, "filesystem": 40, "shopping": 23,
    "marketplace": 13, "retail_chain": 11, "travel_booking": 20, "maps": 16, "social_media": 15, "team_chat": 11,
    "iot_devices": 25, "vehicle": 20, "crm": 16, "issue_tracker": 20, "budget": 12, "food_delivery": 17, "video_meeting": 10,
}  # fmt: skip
SERVERS = list(packages())
TOOLS = [(server, tool) for server in SERVERS for tool in load(server).server.tools]
WORLDS, CALLS = 4, 700


@cache
def walk(server):
    """Wander through some worlds of a server, checking the laws of state at every call; returns what each tool did."""
    outcomes = {name: set() for name in load(server).server.tools}
    for seed in range(WORLDS):
        session, domain = Session.open(server, seed), load(server)
        before = session.digest()
        for visit in wander(session, server, CALLS, Random(f"walk:{server}:{seed}")):
            after = session.digest()
            tool, shown = visit.tool, f"{visit.tool.name}({visit.arguments}) -> {visit.result.text[:200]}"
            outcomes[tool.name].add(visit.result.ok)
            if visit.time_passed:
                pass  # what became due changed the state too
            elif visit.result.code == "permission_denied" and any(p.secret for p in tool.parameters):
                pass  # a wrong PIN may be counted
            elif not visit.result.ok or not tool.marks.writes:
                assert after == before, f"the state changed: {shown}"
            elif not tool.marks.idempotent:
                assert after != before, f"the state did not change: {shown}"
            problems = list(domain.invariants(session.servers[server])) if after != before else []
            assert not problems, f"{problems} after {shown}"
            before = after
        for name in outcomes:
            outcomes[name].add(session.call(name, {"no_such_argument": 1}).ok)
        assert session.digest() == before, "a call with an unknown argument changed the state"
    return outcomes


@pytest.mark.parametrize("server", catalogue())
def test_a_server_has_exactly_the_papers_count_of_tools(server):
    assert len(load(server).server.tools) == COUNTS[server]


def test_what_is_held_out_is_none_of_the_twenty_and_in_no_split_that_trains():
    assert len(COUNTS) == len(catalogue()) == 20
    assert not {*heldout()} & {*catalogue()}
    for server in heldout():
        assert 12 <= len(load(server).server.tools) <= 18
        assert not {*load(server).server.tools} & {tool for other in catalogue() for tool in load(other).server.tools}
        assert Plan(1, servers=(server,), split="heldout").homes == (server,)
        for split in ("train", "validation"):
            with pytest.raises(LookupError, match=f"{server} is there to measure by"):
                Plan(1, servers=("banking", server), split=split)


@pytest.mark.parametrize(("server", "tool"), TOOLS)
def test_a_tool_succeeds_in_some_state_and_refuses_in_another(server, tool):
    assert walk(server)[tool] == {True, False}


@pytest.mark.parametrize(("server", "tool"), TOOLS)
def test_every_required_id_can_be_produced_by_another_tool(server, tool):
    it = load(server).server
    for id_type in it.tools[tool].consumes:
        assert any(t.name != tool for t in it.sources.get(id_type, [])), f"nobody hands out {id_type.__name__}"


@pytest.mark.parametrize(("server", "tool"), TOOLS)
def test_a_schema_is_valid_flat_and_described(server, tool):
    it = load(server).server.tools[tool]
    Draft202012Validator.check_schema(it.input_schema)
    Draft202012Validator.check_schema(it.output_schema)
    text = json.dumps(it.input_schema)
    assert not any(word in text for word in ('"$ref"', '"$defs"', '"anyOf"', '"title": "'))
    assert it.description.endswith(".")
    assert len(it.description) < 160
    assert "\n" not in it.description
    assert len(it.parameters) <= 6
    assert all(p.get("description") or p.get("items", {}).get("description") for p in it.input_schema["properties"].values())
    assert it.output_schema["type"] == "object"
    assert len(text) < 2500


@pytest.mark.parametrize(("server", "tool"), TOOLS)
def test_no_result_shows_a_secret(server, tool):
    def secrets(hint):
        return [n for n, h in fields_of(hint).items() if is_secret(h)] + [s for h in fields_of(hint).values() for s in secrets(h)]

    assert not secrets(load(server).server.tools[tool].returns)


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_knows_no_wall_clock_and_no_chance(server):
    for path in Path(load(server).package.__path__[0]).glob("*.py"):
        tree = ast.parse(path.read_text())
        imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        imported |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
        called = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        assert not imported & {"random", "uuid", "time", "secrets"}, path
        assert not called & {"utcnow"}, path
        assert "datetime.now" not in path.read_text(), path
        assert "date.today" not in path.read_text(), path
        inside = {m for m in imported if m.startswith(("prove", "servers"))}
        allowed = ("prove.servers", load(server).package.__name__)
        assert all(m.startswith(allowed) for m in inside), f"{path} imports {inside}"


@pytest.mark.parametrize("server", SERVERS)
def test_a_world_is_lived_in_and_keeps_its_own_rules(server):
    for seed in range(4):
        session = Session.open(server, seed)
        records = len(session.worlds[server])
        assert load(server).server.hidden or 100 <= records <= 1500, records
        assert not list(load(server).invariants(session.servers[server]))


REPLAY = """
import hashlib
from random import Random
from prove.servers.catalog import packages
from prove.servers.session import Session
from prove.synthesis.data.plan import Plan
from prove.synthesis.planning.wander import wander

for server in packages():
    session = Session.open(server, 3)
    texts = [visit.result.text for visit in wander(session, server, 150, Random("replay"))]
    print(server, session.digest(), hashlib.sha256("".join(texts).encode()).hexdigest())
"""


def test_a_replay_gives_the_same_bytes_under_any_hash_seed():
    environments = ({**os.environ, "PYTHONHASHSEED": seed} for seed in ("0", "4242"))
    first, second = (subprocess.run([sys.executable, "-c", REPLAY], env=e, capture_output=True, check=True).stdout for e in environments)
    assert first == second
    assert len(first.splitlines()) == len(SERVERS)
