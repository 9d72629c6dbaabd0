# SPDX-License-Identifier: Apache-2.0
"""What a proxy says of the client behind it: believed if the proxy is named in http.proxies, and else not."""

import http.client
import json
import subprocess

import pytest
from support.center import PASSWORD, Center, binary, clean_environment
from support.tls_center import WAIT


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("proxies"), ["--http.proxies", "127.0.0.2, 10.0.0.0/8"]) as c:
        yield c


def ask(center, method, path, body=None, source="127.0.0.2", headers=()):
    """headers: pairs, so that one name can come twice."""
    c = http.client.HTTPConnection("127.0.0.1", center.port, timeout=WAIT, source_address=(source, 0))
    try:
        c.putrequest(method, path)
        data = json.dumps(body).encode() if body else b""
        for name, value in (*headers, ("Content-Type", "application/json"), ("Content-Length", str(len(data)))):
            c.putheader(name, value)
        c.endheaders(data)
        answer = c.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        c.close()


def login(center, **more):
    status, headers, body = ask(center, "POST", "/api/v1/session", {"name": "admin", "password": PASSWORD}, **more)
    assert status == 200, body
    return headers["Set-Cookie"]


def address_of(center, **more):
    """That the audit has of a login with these headers."""
    cookie = login(center, **more).split(";")[0]
    status, _, body = ask(center, "GET", "/api/v1/audit?action=session.login&limit=1", headers=[("Cookie", cookie)])
    assert status == 200, body
    return json.loads(body)["items"][0]["address"]


@pytest.mark.parametrize("sent, known", [
    (["203.0.113.9"], "203.0.113.9"),
    (["1.1.1.1, 203.0.113.9, 10.1.2.3"], "203.0.113.9"),  # the first is the client's own invention
    (["1.1.1.1", "203.0.113.9"], "203.0.113.9"),  # a proxy that adds a header of its own
    (["203.0.113.9", "10.1.2.3"], "203.0.113.9"),
    (["[2001:db8::7]:4711"], "2001:db8::7"),
    (["unknown"], "127.0.0.2"),
    (["1.1.1.1, " * 500 + "10.0.0.1, " * 40 + "10.0.0.2"], "10.0.0.1"),
    ([], "127.0.0.2"),
])
def test_the_address_that_a_named_proxy_tells_is_in_the_audit(center, sent, known):
    assert address_of(center, headers=[("X-Forwarded-For", value) for value in sent]) == known


def test_others_are_not_believed(center):
    assert address_of(center, source="127.0.0.3", headers=[("X-Forwarded-For", "203.0.113.9")]) == "127.0.0.3"
    assert "Secure" not in login(center, source="127.0.0.3", headers=[("X-Forwarded-Proto", "https")])


def test_the_cookie_is_secure_where_the_proxy_speaks_tls(center):
    assert "; Secure" in login(center, headers=[("X-Forwarded-Proto", "https")])
    assert "; Secure" in login(center, headers=[("X-Forwarded-Proto", "HTTPS, http")])
    assert "; Secure" not in login(center, headers=[("X-Forwarded-Proto", "http")])


def test_the_host_that_the_browser_asked_is_the_sites_own(center):
    own = [("Origin", "https://peal.example"), ("X-Forwarded-Host", "peal.example")]
    login(center, headers=own)
    for source, headers in (("127.0.0.3", own), ("127.0.0.2", [own[0], ("X-Forwarded-Host", "other.example")])):
        status, _, _ = ask(center, "POST", "/api/v1/session", {"name": "admin", "password": PASSWORD}, source=source,
                           headers=headers)
        assert status == 403


def test_a_limit_counts_clients_not_the_proxy(tmp_path):
    """One client that guesses passwords does not lock out those behind the same proxy."""
    with Center(tmp_path / "c", ["--http.proxies", "127.0.0.0/8", "--limit.login", "3"]) as center:
        wrong = {"name": "nobody", "password": "wrong-password"}
        for i in range(20):
            status, _, _ = ask(center, "POST", "/api/v1/session", {**wrong, "name": f"nobody{i}"},
                               headers=[("X-Forwarded-For", "203.0.113.9")])
            if status == 429:
                break
        assert status == 429
        status, _, _ = ask(center, "POST", "/api/v1/session", {**wrong, "name": "nobody-else"},
                           headers=[("X-Forwarded-For", "203.0.113.10")])
        assert status == 401


def test_what_this_machine_may_see_a_client_behind_its_proxy_may_not(tmp_path):
    with Center(tmp_path / "c", ["--http.proxies", "127.0.0.1"]) as center:
        here = ask(center, "GET", "/readyz?verbose", source="127.0.0.1")[2]
        there = ask(center, "GET", "/readyz?verbose", source="127.0.0.1", headers=[("X-Forwarded-For", "203.0.113.9")])[2]
        assert here != there and there == ask(center, "GET", "/readyz", source="127.0.0.1")[2]


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.0/33", "10.0.0.1,,10.0.0.2", ",".join(["10.0.0.1"] * 65)])
def test_a_bad_list_is_refused(tmp_path, value):
    done = subprocess.run([str(binary()), "server", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0",
                           "--http.proxies", value], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=WAIT, check=False, env=clean_environment(PEAL_ACCESS_TOKEN="t" * 20))
    assert done.returncode == 2 and "http.proxies: " in done.stderr
