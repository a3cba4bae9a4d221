"""Certified conversations give the same bytes and end in the same digest in process, over stdio and over HTTP."""

from functools import cache

import anyio
import pytest
from mcp import Client

from prove.offered import open_session
from prove.synthesis.data.dataset import item
from prove.synthesis.data.plan import PAPER_MIX, Plan

from .helpers import ERAS, control, opened, same, script, shown, stdio

CONVERSATIONS = 40  # over all servers and kinds, tools of other servers among them
PROCESSES = 2  # over stdio each conversation starts one


@cache
def conversations():
    plan = Plan(CONVERSATIONS, seed=5, mix=tuple(PAPER_MIX.items()))
    return [record for record in (item(plan, i)[0] for i in range(CONVERSATIONS)) if record]


def test_the_conversations_are_many_and_make_calls():
    assert len(conversations()) >= 0.9 * CONVERSATIONS
    assert {record.kind for record in conversations()} >= {"multi_turn"}
    assert sum(len(calls) for record in conversations() for _, calls in script(record)) >= 2 * CONVERSATIONS


@pytest.mark.parametrize("era", ERAS)
def test_over_http_a_conversation_gives_the_bytes_and_the_digest_of_one_in_process(web, era):
    async def played(record):
        mine = open_session(record)
        there = opened(web, *mine.servers, seed=record.seed, only=sorted(mine.only))
        async with Client(f"{web.base_url}{there['urls'][record.server]}", mode=era) as client:
            for minutes, calls in script(record):
                mine.advance(minutes=minutes)
                control(web, there, "advance", minutes=minutes)
                for name, arguments in calls:
                    same(await client.call_tool(name, arguments), mine.call(name, arguments))
        end = shown(web, there)
        control(web, there, method="DELETE")
        assert end["digest"] == mine.digest()
        assert end["outcome"] == mine.outcome()
        assert record.certificate is None or end["outcome"] == record.certificate.outcome

    for record in conversations():
        anyio.run(played, record)


def test_over_stdio_a_conversation_gives_the_bytes_and_the_digest_of_one_in_process():
    async def played(record, era, turn):
        mine = open_session(record)
        async with turn, Client(stdio(*mine.servers, seed=record.seed), mode=era) as client:
            for minutes, calls in script(record):
                assert not minutes  # over stdio nothing moves the clock
                for name, arguments in calls:
                    same(await client.call_tool(name, arguments), mine.call(name, arguments))
            (digest,) = (await client.read_resource("prove://digest")).contents
        assert digest.text == mine.digest()

    async def all_of_them():
        turn = anyio.CapacityLimiter(PROCESSES)
        async with anyio.create_task_group() as group:
            for number, record in enumerate(conversations()):
                group.start_soon(played, record, ERAS[number % 2], turn)

    anyio.run(all_of_them)
