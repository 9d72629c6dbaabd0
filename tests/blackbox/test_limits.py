# SPDX-License-Identifier: Apache-2.0
"""How often somebody may ask: tokens, sessions and addresses by the minute; logins by name and by address."""

import http.client
import json
import re
import urllib.parse

import pytest
from support.center import Center
from support.v1 import V1
from support.wait import PATIENCE
from test_users import make, token

POLICY = re.compile(r'^"(token|session|login)";q=(\d+);w=60$')
STATE = re.compile(r'^"(token|session|login)";r=(\d+);t=(\d+)$')


def ask(center, method, path, body=None, source="127.0.0.1", **headers):
    """(status, headers, text), from that address."""
    connection = http.client.HTTPConnection("127.0.0.1", center.port, timeout=30 * PATIENCE, source_address=(source, 0))
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read().decode()
    connection.close()
    return found


def login(center, name, password, source="127.0.0.1"):
    return ask(center, "POST", "/api/v1/session", json.dumps({"name": name, "password": password}), source,
               Content_Type="application/json")


def form_login(center, name, password, source):
    body = urllib.parse.urlencode({"userName": name, "password": password})
    return json.loads(ask(center, "POST", "/auth/doLogin", body, source,
                          Content_Type="application/x-www-form-urlencoded")[2])


def state(headers):
    """(policy, quota, left, seconds until it is full)"""
    policy, now = POLICY.match(headers["RateLimit-Policy"]), STATE.match(headers["RateLimit"])
    assert policy and now and policy[1] == now[1], headers
    assert int(now[2]) <= int(policy[2]) and int(now[3]) <= 60
    return policy[1], int(policy[2]), int(now[2]), int(now[3])


def spend(center, path, **headers):
    """Ask until it is refused; how often it was not."""
    for n in range(5000):
        answer = ask(center, "GET", path, **headers)
        if answer[0] == 429:
            return n, answer
        assert answer[0] in (200, 401)
    raise AssertionError("it is never refused")


@pytest.fixture(scope="module")
def tight(tmp_path_factory):
    """Small limits: what refills within a test is less than what they hold."""
    args = ["--limit.token", "20", "--limit.session", "60", "--limit.login", "8"]
    with Center(tmp_path_factory.mktemp("tight"), args=args) as center:
        yield center


def test_every_answer_says_what_is_left(center):
    v1 = V1(center)
    assert state(v1.ask("GET", "/jobs").headers)[:2] == ("session", 1200)
    assert state(v1.ask("GET", "/jobs/999999").headers)[:2] == ("session", 1200)
    bearer = V1(center, token=token(center, v1, permissions=["read"])["secret"])
    first, second = bearer.ask("GET", "/jobs"), bearer.ask("GET", "/jobs?limit=0")
    assert state(first.headers)[:2] == state(second.headers)[:2] == ("token", 600)
    assert state(second.headers)[2] < 600
    status, headers, _ = login(center, "nobody-at-all", "wrong")
    assert (status, *state(headers)[:2]) == (401, "login", 10)
    for path in ("/api/v1/nothing", "/api/v1/session", "/api/v1/openapi.json"):
        assert state(ask(center, "GET", path)[1])[0] == "session", path


def test_the_form_api_is_as_it_was(center):
    status, headers, _ = ask(center, "POST", "/jobinfo/pageList", "")
    assert "RateLimit" not in headers and status == 302


def test_a_token_that_asks_too_often_waits(tight):
    it = V1(tight)
    busy, calm = (token(tight, it, name=name, permissions=["read"])["secret"] for name in ("busy", "calm"))
    n, (status, headers, text) = spend(tight, "/api/v1/jobs?limit=1", Authorization=f"Bearer {busy}")
    assert 19 <= n <= 60
    body = json.loads(text)
    assert (status, body["code"], body["status"]) == (429, "too_many_requests", 429)
    assert 1 <= int(headers["Retry-After"]) <= 3 and body["retryAfterMs"] <= 3000
    assert state(headers)[:3] == ("token", 20, 0)
    assert ask(tight, "GET", "/api/v1/jobs", Authorization=f"Bearer {calm}")[0] == 200, "others go on"
    assert it.ask("GET", "/jobs").status == 200


def test_invented_tokens_are_one_asker(tight):
    source = "127.0.0.31"
    for n in range(200):
        answer = ask(tight, "GET", "/api/v1/jobs", source=source, Authorization=f"Bearer pat_{n:043}")
        if answer[0] == 429:
            break
        assert answer[0] == 401
    assert answer[0] == 429 and n < 100
    assert ask(tight, "GET", "/api/v1/jobs", source="127.0.0.32", Authorization="Bearer pat_x")[0] == 401


def test_0_is_no_limit(tmp_path):
    with Center(tmp_path, args=["--limit.session", "0", "--limit.token", "0", "--limit.login", "0"]) as center:
        answer = V1(center).ask("GET", "/jobs")
        assert answer.status == 200 and "RateLimit" not in answer.headers
        for n in range(15):
            assert login(center, f"nobody-{n}", "wrong")[0] == 401


def test_a_spray_over_many_names_from_one_address_is_stopped(tight):
    source = "127.0.0.41"
    statuses = [login(tight, f"sprayed-{n}", "123456", source)[0] for n in range(30)]
    assert set(statuses) == {401, 429} and statuses.index(429) <= 12
    status, headers, text = login(tight, "sprayed-again", "123456", source)
    assert status == 429 and "from this address" in json.loads(text)["detail"]
    assert state(headers)[:3] == ("login", 8, 0) and int(headers["Retry-After"]) >= 1
    answer = form_login(tight, "sprayed-form", "123456", source)
    assert answer["code"] == 500 and "from this address" in answer["msg"]
    assert login(tight, "somebody", "wrong", "127.0.0.42")[0] == 401, "another address may try"


def test_one_name_from_many_addresses_is_slowed_and_its_owner_is_not_locked_out(tight):
    make(tight, "attacked")
    home = "127.0.0.50"
    assert login(tight, "attacked", "attacked", home)[0] == 200
    statuses = [login(tight, "attacked", f"guess-{n}", f"127.0.0.{51 + n}")[0] for n in range(30)]
    assert statuses.count(401) <= 12 and statuses[-1] == 429
    detail = json.loads(login(tight, "attacked", "guess", "127.0.0.99")[2])["detail"]
    assert "of this user" in detail
    assert login(tight, "attacked", "attacked", home)[0] == 200, "where the owner was before, nothing has changed"
    tight.restart()
    assert login(tight, "attacked", "attacked", home)[0] == 200


def test_a_spray_from_an_address_does_not_lock_out_who_logged_in_there(tight):
    make(tight, "neighbour")
    source = "127.0.0.120"
    assert login(tight, "neighbour", "neighbour", source)[0] == 200
    assert 429 in [login(tight, f"other-{n}", "x", source)[0] for n in range(20)]
    assert login(tight, "neighbour", "neighbour", source)[0] == 200
