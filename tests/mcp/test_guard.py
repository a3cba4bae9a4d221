"""Who may come in: tokens, hosts and origins, and bodies that are refused before anything is made of them."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prove.mcp.guard import nests_deeper_than

from .helpers import ERAS, LEGACY, MODERN, control, message, opened, post, serving


def test_unknown_ended_and_foreign_tokens_and_servers_get_one_and_the_same_answer(web):
    ended, banking = opened(web), opened(web)
    control(web, ended, method="DELETE")
    body = message(name="list_accounts", arguments={})
    urls = ["/s/nobody/banking/mcp", ended["urls"]["banking"], f"/s/{banking['token']}/budget/mcp", f"/s/{banking['token']}/nothing/mcp"]
    answers = [post(web, url, body) for url in urls]
    answers += [post(web, banking["urls"]["banking"], body, **{"Mcp-Session-Id": "made up"}), web.get(urls[0]), web.delete(urls[1])]
    assert {(a.status_code, a.text) for a in answers} == {(404, answers[0].text)}


def test_the_session_id_that_an_old_client_is_given_is_good_at_its_own_url_only(web):
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    urls = [*opened(web, "banking", "budget")["urls"].values(), opened(web)["urls"]["banking"]]
    answers = [post(web, url, message("initialize", **hello), **LEGACY) for url in urls]
    assert {a.json()["result"]["protocolVersion"] for a in answers} == {"2025-11-25"}
    ids = [a.headers["Mcp-Session-Id"] for a in answers]
    assert len(set(ids)) == 3
    assert min(map(len, ids)) * 4 >= 128
    ping = message("ping")
    status = [[post(web, url, ping, **LEGACY, **{"Mcp-Session-Id": one}).status_code for one in ids] for url in urls]
    assert status == [[200, 404, 404], [404, 200, 404], [404, 404, 200]]
    assert "Mcp-Session-Id" not in post(web, urls[0], ping, **LEGACY).headers
    assert [(web.get(url).status_code, web.delete(url).status_code) for url in urls] == [(405, 405)] * 3


def test_tokens_are_long_and_never_alike(web):
    tokens = {opened(web)["token"] for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) * 6 >= 128


REFUSED_BODIES = [
    (b"[" * 10_000 + b"]" * 10_000, 400, "nests deeper than 32 levels"),
    (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, 400, "nests deeper than 32 levels"),
    (b"[" * 10_000, 400, "nests deeper than 32 levels"),
    (b" " * 5_000_000, 413, "larger than 4194304 bytes"),
]


@pytest.mark.parametrize(("body", "status", "words"), REFUSED_BODIES, ids=["arrays", "objects", "open", "large"])
def test_a_body_that_is_too_deep_or_too_large_is_refused_everywhere(web, body, status, words):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), (url, LEGACY), ("/control/sessions", web.key), ("/control/batch", web.key), ("/nowhere", {})):
        answer = web.post(path, content=body, headers={"Content-Type": "application/json", **headers})
        assert (answer.status_code, words in answer.text) == (status, True)


def test_a_body_that_does_not_say_how_large_it_is_is_cut_off_too(web):
    answer = web.post("/control/batch", content=(b" " * 100_000 for _ in range(100)), headers=web.key)
    assert answer.status_code == 413


MALFORMED = [
    b"",
    b"{",
    b"[]",
    b"7",
    b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}',
]


@pytest.mark.parametrize("body", MALFORMED)
@pytest.mark.parametrize("era", [MODERN, LEGACY], ids=ERAS)
def test_what_is_no_message_is_refused_without_words_of_the_inside(web, body, era):
    answer = web.post(opened(web)["urls"]["banking"], content=body, headers={"Content-Type": "application/json", **era})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("the body ")
    assert "pydantic" not in answer.text


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a law, however busy the machine is
@given(
    st.recursive(st.integers() | st.text('[]{}"\\ax'), lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text("[{\\"), x, max_size=3))
)
def test_the_depth_of_json_is_counted_right_whatever_its_strings_hold(value):
    def depth(v):
        inside = v.values() if isinstance(v, dict) else v if isinstance(v, list) else None
        return 0 if inside is None else 1 + max(map(depth, inside), default=0)

    text = json.dumps(value).encode()
    assert [nests_deeper_than(limit, text) for limit in range(6)] == [depth(value) > limit for limit in range(6)]


def test_counting_depth_takes_time_in_proportion_to_the_text_even_for_strings_that_never_end():
    assert nests_deeper_than(32, b'"' + b'\\"' * 1_000_000 + b'"' + b"[" * 40)
    assert not nests_deeper_than(32, b'"' + b'\\"' * 1_000_000 + b"[" * 40)


WRONG_HOSTS = ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "[::1", ""]


@pytest.mark.parametrize("host", WRONG_HOSTS)
def test_no_path_answers_under_a_foreign_host(web, host):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), ("/control/sessions", web.key), ("/nowhere", {})):
        assert web.post(path, json={}, headers={**headers, "Host": host}).status_code in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://[::1", ""])
def test_no_path_answers_a_foreign_page(web, origin):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), ("/control/sessions", web.key), ("/nowhere", {})):
        assert web.post(path, json={}, headers={**headers, "Origin": origin}).status_code == 403
    body = message(name="list_accounts", arguments={})
    assert post(web, url, body, Origin="http://localhost:6274").status_code == 200


def test_the_control_endpoint_asks_for_its_token_and_says_what_is_wrong(web):
    there = opened(web)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": web.key["Authorization"].split()[-1]}):
        for method, path in (("POST", "/control/sessions"), ("POST", "/control/batch"), ("GET", f"/control/sessions/{there['token']}")):
            assert web.request(method, path, headers=headers).status_code == 401
    wrong = [
        ({"servers": ["bank"]}, "there is no server 'bank' here"),
        ({"servers": []}, "Expected `array` of length >= 1"),
        ({"servers": ["banking"], "seed": "7"}, "Expected `int`, got `str`"),
        ({"servers": ["banking"], "sed": 7}, "unknown field `sed`"),
        ({"servers": ["banking"], "only": ["fly"]}, "there is no tool 'fly'"),
    ]
    for body, words in wrong:
        answer = web.post("/control/sessions", json=body, headers=web.key)
        assert (answer.status_code, words in answer.json()["error"]) == (400, True)
    assert web.get("/control/sessions/nobody", headers=web.key).status_code == 404


def test_a_bearer_token_is_asked_for_where_one_is_set():
    with serving(bearer="sesame") as (web, _):
        url, body = opened(web)["urls"]["banking"], message(name="list_accounts", arguments={})
        assert [
            post(web, url, body, **h).status_code for h in ({}, {"Authorization": "Bearer open"}, {"Authorization": "Bearer sesame"})
        ] == [401, 401, 200]


def test_further_hosts_are_answered_only_where_they_are_named():
    with serving(hosts=["tools.example"]) as (web, _):
        assert web.post("/control/sessions", json={"servers": ["banking"]}, headers=web.key).status_code == 421
        named = web.key | {"Host": "tools.example:443", "Origin": "https://tools.example"}
        assert web.post("/control/sessions", json={"servers": ["banking"]}, headers=named).status_code == 201
