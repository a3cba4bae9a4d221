"""Who may come in: tokens, hosts and origins, and bodies that are refused before anything is made of them."""

import pytest

from .helpers import LEGACY, MODERN, control, message, opened, post, serving


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


DEEP = [b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000, b"[" * 10_000]


@pytest.mark.parametrize("body", DEEP, ids=["arrays", "objects", "open"])
def test_a_body_that_nests_too_deep_is_refused_wherever_one_is_read(web, body):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), (url, LEGACY), ("/control/sessions", web.key), ("/control/batch", web.key)):
        answer = web.post(path, content=body, headers={"Content-Type": "application/json", **headers})
        assert (answer.status_code, "nests deeper than 32 levels" in answer.text) == (400, True)


def test_a_body_that_is_too_large_is_refused_everywhere(web):
    url = opened(web)["urls"]["banking"]
    for path, headers in ((url, MODERN), (url, LEGACY), ("/control/sessions", web.key), ("/control/batch", web.key), ("/nowhere", {})):
        answer = web.post(path, content=b" " * 5_000_000, headers={"Content-Type": "application/json", **headers})
        assert (answer.status_code, "larger than 4194304 bytes" in answer.text) == (413, True)


def test_a_body_that_does_not_say_how_large_it_is_is_cut_off_too(web):
    answer = web.post("/control/batch", content=(b" " * 100_000 for _ in range(100)), headers=web.key)
    assert answer.status_code == 413


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
    with serving(hosts=["Tools.Example"]) as (web, _):
        assert web.post("/control/sessions", json={"servers": ["banking"]}, headers=web.key).status_code == 421
        named = web.key | {"Host": "tools.example:443", "Origin": "https://tools.example"}
        assert web.post("/control/sessions", json={"servers": ["banking"]}, headers=named).status_code == 201


PAGE = "http://localhost:6274"
ASKED = "authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id"


def preflight(web, path, origin, method="POST", **headers):
    asked = {"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": ASKED}
    return web.options(path, headers=asked | headers)


@pytest.mark.parametrize("origin", [PAGE, "https://127.0.0.1", "http://[::1]:3000"])
def test_a_page_that_may_come_in_is_told_so_before_it_asks_and_can_read_what_it_gets(origin):
    with serving(bearer="sesame") as (web, _):
        url = opened(web)["urls"]["banking"]
        for path, method in ((url, "POST"), (url, "DELETE"), ("/control/sessions", "POST")):
            answer = preflight(web, path, origin, method)
            assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, origin)
            assert method in answer.headers["Access-Control-Allow-Methods"]
            assert set(ASKED.split(", ")) <= set(answer.headers["Access-Control-Allow-Headers"].lower().split(", "))
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "page", "version": "0"}}
        body = message("initialize", **hello)
        refused = post(web, url, body, Origin=origin, **LEGACY)
        granted = post(web, url, body, Origin=origin, **LEGACY, Authorization="Bearer sesame")
        assert (refused.status_code, granted.status_code) == (401, 200)
        assert {a.headers["Access-Control-Allow-Origin"] for a in (refused, granted)} == {origin}
        assert "Mcp-Session-Id" in granted.headers["Access-Control-Expose-Headers"]
        assert "Mcp-Session-Id" in granted.headers


FOREIGN = [
    "http://evil.example",
    "http://localhost.evil.example",
    "http://localhost@evil.example",
    "null",
    "http://localhostx",
    "localhost",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_page_is_told_nothing_whatever_it_asks(web, origin):
    url = opened(web)["urls"]["banking"]
    answers = [preflight(web, url, origin), post(web, url, message(name="list_accounts", arguments={}), Origin=origin)]
    assert [a.status_code >= 400 for a in answers] == [True, True]
    assert not any("Access-Control-Allow-Origin" in a.headers for a in answers)


def test_a_page_is_answered_under_a_further_host_only_where_it_is_named():
    with serving(hosts=["Tools.Example"]) as (web, _):
        named, other = (preflight(web, "/control/sessions", o, Host="tools.example") for o in ("https://tools.example:444", PAGE))
        assert (named.status_code, other.status_code) == (200, 400)
