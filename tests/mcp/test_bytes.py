"""Over any transport and in both eras a client sees what a rollout sees in process."""

import json

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from prove.mcp.adapter import adapt
from prove.mcp.sessions import Served
from prove.servers.catalog import catalogue, load
from prove.servers.session import Session

from .helpers import ERAS, TRANSFER, control, opened, replay, same, shown, stdio, walk


@pytest.mark.parametrize("era", ERAS)
def test_a_client_over_stdio_sees_the_bytes_of_a_session_in_process(era):
    calls, _, changes = walk(seed=3)
    assert {result.ok for *_, result in calls} == {True, False}
    assert anyio.run(replay, stdio("banking", seed=3), calls, era) == [changes]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("server", ["filesystem", "budget"])
def test_other_servers_give_the_same_bytes_too(web, server, era):
    there = opened(web, server)
    calls, digest, changes = walk(server)
    assert anyio.run(replay, f"{web.base_url}{there['urls'][server]}", calls, era) == [changes]
    assert shown(web, there)["digest"] == digest


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_of_the_library_is_listed_in_order_with_both_schemas_and_its_hints(era):
    async def listed(server):
        face = Served.fresh(server).whole
        async with Client(adapt(server, "", lambda context: face), mode=era) as client:
            return (await client.list_tools()).tools

    for server in catalogue():
        mine, theirs = load(server).server.tools, anyio.run(listed, server)
        assert [t.name for t in theirs] == list(mine)
        for tool in theirs:
            marks = mine[tool.name].marks
            assert (tool.description, tool.input_schema) == (mine[tool.name].description, mine[tool.name].input_schema)
            assert tool.output_schema == mine[tool.name].output_schema
            assert tool.annotations.read_only_hint is not marks.writes
            assert (tool.annotations.destructive_hint, tool.annotations.open_world_hint) == (marks.destructive, False)


def test_clients_of_both_eras_on_one_url_share_its_session(web):
    there, mine = opened(web), Session.open("banking", 0)
    url = f"{web.base_url}{there['urls']['banking']}"

    async def taking_turns():
        async with Client(url, mode=ERAS[0]) as new, Client(url, mode=ERAS[1]) as old:
            for client in (new, old, new, old):
                same(await client.call_tool("transfer_between_accounts", TRANSFER), mine.call("transfer_between_accounts", TRANSFER))

    anyio.run(taking_turns)
    assert shown(web, there)["digest"] == mine.digest()


def test_a_session_over_several_servers_has_a_url_a_server_and_one_clock(web):
    there = opened(web, "banking", "budget")
    mine = Session.open(["banking", "budget"], 0)

    async def names(server):
        async with Client(f"{web.base_url}{there['urls'][server]}") as client:
            tools = [t.name for t in (await client.list_tools()).tools]
            foreign = await client.call_tool("get_summary" if server == "banking" else "list_accounts", {})
            now = (await client.read_resource("prove://now")).contents[0].text
            return tools, foreign.content[0].text, now

    control(web, there, "advance", minutes=90)
    mine.advance(minutes=90)
    for server in ("banking", "budget"):
        tools, foreign, now = anyio.run(names, server)
        assert tools == [name for name, (home, _) in mine.tools.items() if home == server]
        assert json.loads(foreign)["error"]["code"] == "not_found"
        assert now == mine.clock.now.isoformat()


def test_an_unknown_resource_says_which_there_are():
    async def read():
        face = Served.fresh("banking").whole
        async with Client(adapt("banking", "", lambda context: face)) as client:
            with pytest.raises(MCPError, match="there is no resource 'prove://balance'; there are: prove://now"):
                await client.read_resource("prove://balance")

    anyio.run(read)
