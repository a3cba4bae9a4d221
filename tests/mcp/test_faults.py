"""Clients as they are: they vanish, repeat themselves and send nonsense."""

import json
import socket
import subprocess

from prove.servers.session import Session

from .helpers import TRANSFER, balances, command, message, opened, post, raw


def test_a_client_that_vanishes_in_the_middle_leaves_whole_calls_and_a_server_that_goes_on(web):
    there = opened(web)
    before = balances(web, there)
    body = message(name="transfer_between_accounts", arguments=TRANSFER)
    request = raw(there["urls"]["banking"], body)
    for sent in (request[: request.index(b"{")], request[:-50], request) * 10:
        with socket.create_connection((web.base_url.host, web.base_url.port)) as line:
            line.sendall(sent)
    after = balances(web, there)
    assert before[0] - after[0] == after[1] - before[1] <= 10
    assert post(web, there["urls"]["banking"], body).json()["result"]["isError"] is False


def test_requests_with_the_same_id_are_different_requests(web):
    there = opened(web)
    before = balances(web, there)
    body = message(number=7, name="transfer_between_accounts", arguments=TRANSFER)
    answers = [post(web, there["urls"]["banking"], body).json() for _ in range(3)]
    assert [a["id"] for a in answers] == [7, 7, 7]
    assert balances(web, there) == [before[0] - 3, before[1] + 3]


def test_over_stdio_too_and_the_next_line_may_come_later():
    one = json.dumps(message(number=7, name="transfer_between_accounts", arguments=TRANSFER)) + "\n"
    mine = Session.open("banking", 0)
    with command("serve", "banking", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for lines in (1, 2, 1):
            process.stdin.write(one * lines)
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline()) for _ in range(lines)]
            expected = [mine.call("transfer_between_accounts", TRANSFER).text for _ in range(lines)]
            assert [(a["id"], a["result"]["content"][0]["text"]) for a in answers] == [(7, text) for text in expected]
        process.stdin.close()
        assert process.wait(timeout=20) == 0
