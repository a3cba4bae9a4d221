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


def test_over_stdio_bad_lines_and_repeated_ids_do_no_harm_and_the_end_of_input_ends_it():
    one = json.dumps(message(number=7, name="transfer_between_accounts", arguments=TRANSFER))
    account = json.dumps(message(number=8, name="get_account", arguments={"account_id": "ACC-4003"}))
    lines = ["[" * 10_000 + "]" * 10_000, "no json", '{"jsonrpc":"2.0"}', one, one, '{"a": "\\ud800"}', one]
    with command("serve", "banking", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.stdin.write(account + "\n")
        process.stdin.flush()
        answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(timeout=20) == 0
    mine = Session.open("banking", 0)
    texts = [mine.call("transfer_between_accounts", TRANSFER).text for _ in range(3)] + [
        mine.call("get_account", {"account_id": "ACC-4003"}).text
    ]
    assert [a["result"]["content"][0]["text"] for a in answers] == texts
