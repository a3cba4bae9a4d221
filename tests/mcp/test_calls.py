"""What is wrong with a call is said in the words of the core, and nothing of the inside gets out."""

import json

import anyio
import msgspec
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from prove.mcp.adapter import adapt
from prove.mcp.sessions import Face, Served
from prove.servers.session import Session

from .helpers import ERAS, TRANSFER, message, opened, post, shown

BAD_CALLS = [
    ("transfer_between_accounts", TRANSFER | {"amount": "12"}, "amount must be an integer above 0"),
    ("transfer_between_accounts", TRANSFER | {"amount": 12.5}, "amount must be an integer above 0"),
    ("transfer_between_accounts", TRANSFER | {"amount": True}, "amount must be an integer above 0"),
    ("transfer_between_accounts", TRANSFER | {"note": "hi"}, "has no argument 'note'"),
    ("get_account", {}, "account_id is missing"),
    ("get_acount", {}, "did you mean 'get_account'"),
    ("reset", {}, "there is no tool 'reset'"),
]


@pytest.mark.parametrize(("name", "arguments", "words"), BAD_CALLS)
def test_a_bad_call_is_refused_in_the_words_of_the_core(web, name, arguments, words):
    there = opened(web)
    result = post(web, there["urls"]["banking"], message(name=name, arguments=arguments)).json()["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == Session.open("banking", 0).call(name, arguments).text
    assert words in result["content"][0]["text"]
    assert shown(web, there)["digest"] == there["digest"]


@pytest.mark.parametrize("era", ERAS)
def test_a_crash_in_a_tool_is_an_error_that_tells_nothing_of_the_inside(era, caplog):
    def broken(server, *arguments):
        raise ZeroDivisionError("a line of the inside")

    served = Served.fresh("banking")
    home, tool = served.session.tools["list_accounts"]
    served.session.tools = {**served.session.tools, "list_accounts": (home, msgspec.structs.replace(tool, function=broken))}

    async def call():
        async with Client(adapt("banking", "", lambda context: served.whole), mode=era) as client:
            with pytest.raises(MCPError) as crash:
                await client.call_tool("list_accounts", {})
            return crash.value.error

    error = anyio.run(call)
    assert (error.message, error.data) == ("the server crashed; its log says why", None)
    assert "a line of the inside" in caplog.text


KEPT = [("banking", "customers", {"pin": "0000"}), ("iot_devices", "households", {"door_code": "0000", "alarm_code": "0001"})]


@pytest.mark.parametrize(("server", "table", "secrets"), KEPT)
def test_the_changes_that_a_client_can_read_hold_no_secret(server, table, secrets):
    session = Session.open(server, 1)
    rows = session.servers[server].state[table]
    old = rows.one()
    rows.update(rows.key_of(old), **secrets)

    async def changes():
        async with Client(adapt(server, "", lambda context: Face(None, session))) as client:
            return (await client.read_resource("prove://changes")).contents[0].text

    before, after = json.loads(anyio.run(changes))[f"{server}.{table}"][rows.key_of(old)]
    assert dict.fromkeys(secrets).items() <= before.items() & after.items()
    assert before.keys() == set(old.__struct_fields__)
