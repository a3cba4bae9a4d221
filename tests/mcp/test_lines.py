"""What is no message gets one and the same answer over both transports, and the process lives."""

import json
import signal
import subprocess
from contextlib import suppress

import pytest

from prove.servers.session import Session

from .helpers import ERAS, LEGACY, MODERN, command, headers_of, message, opened

PARSE, INVALID, NO_METHOD, PARAMS = -32700, -32600, -32601, -32602
HELLO = message("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "raw", "version": "0"})


def line(method, number, era, **params):
    """A request as text, without the envelope where its era has none."""
    body = message(method, number, **params)
    return json.dumps(body if era is MODERN else body | {"params": params}).encode()


def hostile(era):
    """kind -> (line, code, the id that the answer bears)"""

    def call(arguments, number="7"):
        text = line("tools/call", "NUMBER", era, name="list_accounts", arguments="ARGUMENTS")
        return text.replace(b'"ARGUMENTS"', arguments.encode()).replace(b'"NUMBER"', number.encode())

    return {
        "half a word": (b"{", PARSE, None),
        "no JSON": (b"GET / HTTP/1.1", PARSE, None),
        "NaN": (call('{"x": NaN}'), PARSE, 7),
        "infinity": (call('{"x": -Infinity}'), PARSE, 7),
        "half a surrogate pair": (call(r'{"kind": "\ud83d"}'), PARSE, 7),
        "half a surrogate pair in a key": (call(r'{"\udc00": 1}', '"seven"'), PARSE, "seven"),
        "half a surrogate pair in the id": (call("{}", r'"\ud83d"'), PARSE, None),
        "a trailing comma": (call('{"x": 1,}'), PARSE, 7),
        "a trailing comma where the id is": (b'{"jsonrpc":"2.0","id":1,"method":"ping",}', PARSE, None),
        "a raw control character": (call('{"x": "\x01"}'), PARSE, 7),
        "bytes that are no UTF-8": (call('{"x": "?"}').replace(b"?", b"\xff"), PARSE, 7),
        "a surrogate in UTF-8": (call('{"x": "?"}').replace(b"?", b"\xed\xa0\xbd"), PARSE, 7),
        "a byte order mark": (b"\xef\xbb\xbf" + call("{}"), PARSE, None),
        "two messages in a line": (call("{}") + b" " + call("{}"), PARSE, None),
        "nested 5,000 deep": (call('{"x":' * 5000 + "1" + "}" * 5000), INVALID, 7),
        "nested 5,000 deep and open": (b"[" * 5000, INVALID, None),
        "nested 33 deep": (call("[" * 31 + "]" * 31), INVALID, 7),
        "too large": (call('{"x": "' + "x" * 5_000_000 + '"}'), INVALID, None),
        "a number": (b"7", INVALID, None),
        "a batch": (b"[" + call("{}") + b"]", INVALID, None),
        "no method": (b'{"jsonrpc":"2.0","id":1}', INVALID, None),
        "a method that is no text": (b'{"jsonrpc":"2.0","id":1,"method":2}', INVALID, 1),
        "parameters in a list": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', INVALID, 1),
        "another version": (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID, 1),
        "no version": (b'{"id":1,"method":"ping"}', INVALID, 1),
        "no id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID, None),
        "a list for an id": (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', INVALID, None),
        "true for an id": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID, None),
        "an answer that nobody asked for": (b'{"jsonrpc":"2.0","id":1,"result":{}}', INVALID, None),
        "a number too large for one": (call('{"x": 1e400}'), INVALID, 7),
        "an unknown method": (line("tools/fly", 7, era), NO_METHOD, 7),
        "an unknown resource": (line("resources/read", 7, era, uri="prove://x"), PARAMS, 7),
        "a list for arguments": (call("[]"), PARAMS, 7),
        "a text for arguments": (call('"x"'), PARAMS, 7),
    }


@pytest.mark.parametrize("era", [MODERN, LEGACY], ids=ERAS)
def test_each_kind_of_hostile_line_gets_the_same_answer_over_both_transports_and_the_process_lives(web, era):
    kinds, fine = hostile(era), line("tools/call", "fine", era, name="list_accounts", arguments={})
    lines = [part for sent, *_ in kinds.values() for part in (sent, fine)]
    if era is LEGACY:
        lines = [json.dumps(HELLO).encode(), *lines]
    answers, code = answers_to(b"\n".join(lines))
    assert code == 0
    answers = answers[-2 * len(kinds) :]
    url = opened(web)["urls"]["banking"]
    for (kind, (sent, code, number)), over_stdio, after in zip(kinds.items(), answers[::2], answers[1::2], strict=True):
        over_http = web.post(url, content=sent, headers={"Content-Type": "application/json", **routing(sent, era)})
        assert (over_stdio["error"]["code"], over_stdio["id"]) == (code, number), kind
        assert over_http.json() == over_stdio, kind
        assert after["result"]["content"][0]["text"] == Session.open("banking", 0).call("list_accounts", {}).text, kind
        assert not any(word in f"{over_stdio}" for word in ("pydantic", "Traceback", "msgspec")), kind


def answers_to(lines):
    """What a process says to these lines and the end of input, and its exit code."""
    with command("serve", "banking", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False) as process:
        said, _ = process.communicate(lines)
    return [json.loads(answer) for answer in said.splitlines()], process.returncode


def routing(sent, era):
    """The headers that an era asks for, as far as the line says them."""
    try:
        return headers_of(json.loads(sent), era)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return era


def test_all_that_came_before_the_end_of_input_is_answered_in_its_order():
    calls = [line("tools/call", number, MODERN, name="list_accounts", arguments={}) for number in range(20)]
    answers, code = answers_to(b"\r\n \n\n".join(calls))  # blank lines are no messages, and the last line has no end
    assert [answer["id"] for answer in answers] == list(range(20))
    assert all("result" in answer for answer in answers)
    assert code == 0


def test_a_client_may_write_everything_before_it_reads_anything():
    many = 600  # more than two pipes hold
    with command("serve", "banking", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False) as process:
        for number in range(many):
            process.stdin.write(line("tools/call", number, MODERN, name="list_accounts", arguments={}) + b"\n")
        process.stdin.close()
        assert sum(1 for _ in process.stdout) == many
    assert process.returncode == 0


def test_a_client_that_reads_no_more_or_an_interrupt_ends_the_process_without_a_word_of_the_inside():
    ping = line("tools/call", 1, MODERN, name="list_accounts", arguments={}) + b"\n"
    for end, expected in ((lambda p: p.stdout.close(), 0), (lambda p: p.send_signal(signal.SIGINT), 130)):
        with command("serve", "banking", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=False) as process:
            process.stdin.write(ping)
            process.stdin.flush()
            process.stdout.readline()
            end(process)
            with suppress(BrokenPipeError):
                process.stdin.write(ping)
                process.stdin.flush()
            assert process.wait(timeout=20) == expected  # though its input is still open
            assert process.stderr.read().strip() in (b"", b"Aborted!")
