# SPDX-License-Identifier: Apache-2.0
"""The JSON API's frame and its first resource: /api/v1/session, problems, methods, types, hostile requests."""

import json
import re
import socket
import sqlite3
import urllib.parse

import pytest
from support import webapi
from support.center import Center
from support.contract import Contract
from support.wait import PATIENCE

SESSION = "/api/v1/session"
COOKIES = ("peal_session", "XXL_JOB_LOGIN_IDENTITY", "xxl_job_login_token")
CONTRACT = Contract()
CENTER = ["audit:read", "executors:write", "users:admin", "system:admin"]
GROUP = ["read", "run", "jobs:write", "scripts:write"]


class Reply:
    """An answer: status, headers, and its JSON (None without a body)."""

    def __init__(self, raw):
        self.status, self.headers, body = raw
        self.type = self.headers.get_content_type() if body or "Content-Type" in self.headers else None
        self.json = json.loads(body) if body else None


def ask(center, method, path=SESSION, body=None, cookie=None, **headers):
    """body: JSON that is written, or bytes that go as they are. Headers by name, _ for -. The answer must be
    one that the contract has."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        sent.setdefault("Content-Type", "application/json")
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
    if cookie:
        sent["Cookie"] = cookie
    reply = Reply(webapi.request(center.port, method, path, body, sent))
    if path.endswith(SESSION) and method in ("GET", "POST", "DELETE"):
        CONTRACT.check(method, "/session", reply.status, reply.headers, reply.json)
    return reply


def problem(reply, status, code):
    """The reply is that problem, in every place that says so."""
    assert (reply.status, reply.type) == (status, "application/problem+json"), reply.json
    it = reply.json
    assert (it["status"], it["code"], it["type"]) == (status, code, "/problems/" + code.replace("_", "-"))
    assert it["title"] and it["detail"]
    assert it["requestId"] == reply.headers["Peal-Request-Id"]
    assert re.fullmatch("[A-Z2-7]{13}", it["requestId"])
    assert reply.headers["Cache-Control"] == "no-store"
    return it


def log_in(center, name="admin", password=None, **more):
    return ask(center, "POST", body={"name": name, "password": password or center.password, **more})


def cookie_of(reply):
    return reply.headers["Set-Cookie"].split(";")[0]


def form_login(center, path="/auth/doLogin"):
    body = urllib.parse.urlencode({"userName": "admin", "password": center.password}).encode()
    _, headers, _ = webapi.request(center.port, "POST", path, body,
                                   {"Content-Type": "application/x-www-form-urlencoded"})
    return headers["Set-Cookie"].split(";")[0]


def form_knows(center, cookie):
    """Is the cookie a session for the form API?"""
    status, _, body = webapi.request(center.port, "GET", "/jobinfo/pageList?offset=0&jobGroup=0&triggerStatus=-1",
                                     headers={"Cookie": cookie})
    return status == 200 and json.loads(body)["code"] == 200


# -- log in, own user, log out --

@pytest.mark.parametrize("prefix", ["", "/xxl-job-admin"])
def test_login_answers_who_one_is_and_sets_one_cookie(center, prefix):
    reply = ask(center, "POST", prefix + SESSION, {"name": "admin", "password": center.password})
    assert (reply.status, reply.type) == (200, "application/json")
    [cookie] = reply.headers.get_all("Set-Cookie")
    assert re.fullmatch(r"peal_session=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict", cookie)
    me = reply.json
    assert me["user"] == {"id": me["user"]["id"], "name": "admin"} and me["user"]["id"] >= 1
    assert (me["center"], me["grants"]) == ("admin", [])
    assert me["rights"] == [{"permissions": GROUP + CENTER, "groups": None}]
    assert me["session"]["kind"] == "cookie"
    assert webapi.epoch_ms(me["session"]["expiresAt"]) == me["session"]["expiresMs"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", me["session"]["expiresAt"])
    assert ask(center, "GET", prefix + SESSION, cookie=cookie_of(reply)).json == me


def test_a_remembered_login_lives_longer(center):
    short, long = log_in(center), log_in(center, remember=True)
    assert "; Max-Age=2592000" in long.headers["Set-Cookie"]
    days = (long.json["session"]["expiresMs"] - short.json["session"]["expiresMs"]) / 86_400_000
    assert 22.9 < days < 23.1


def test_behind_tls_the_cookie_is_for_tls_only(center):
    host = f"127.0.0.1:{center.port}"
    body = {"name": "admin", "password": center.password}
    secure = ask(center, "POST", body=body, Origin=f"https://{host}")
    assert secure.headers["Set-Cookie"].endswith("; SameSite=Strict; Secure")
    plain = ask(center, "POST", body=body, Origin=f"http://{host}")
    assert "Secure" not in plain.headers["Set-Cookie"]


def test_logout_ends_the_session_not_only_the_cookie(center):
    cookie = cookie_of(log_in(center))
    reply = ask(center, "DELETE", cookie=cookie)
    assert (reply.status, reply.json, reply.type) == (204, None, None)
    assert reply.headers.get_all("Set-Cookie") == ["peal_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"]
    problem(ask(center, "GET", cookie=cookie), 401, "unauthenticated")
    problem(ask(center, "DELETE", cookie=cookie), 401, "unauthenticated")
    assert not form_knows(center, cookie)


def test_head_is_get_without_a_body(center):
    cookie = cookie_of(log_in(center))
    reply = ask(center, "HEAD", cookie=cookie)
    assert (reply.status, reply.json) == (200, None)
    assert int(reply.headers["Content-Length"]) == len(json.dumps(ask(center, "GET", cookie=cookie).json,
                                                                  separators=(",", ":")))
    assert ask(center, "HEAD").status == 401


@pytest.mark.parametrize("path", ["/login", "/auth/doLogin"])
def test_a_form_login_is_one_and_the_same_session(center, path):
    cookie = form_login(center, path)
    token = cookie.split("=")[1]
    me = ask(center, "GET", cookie=cookie)
    assert (me.status, me.json["user"]["name"]) == (200, "admin")
    for name in COOKIES:  # each name is taken by both APIs
        assert ask(center, "GET", cookie=f"{name}={token}").json == me.json
        assert form_knows(center, f"{name}={token}")
    gone = ask(center, "DELETE", cookie=cookie)
    assert gone.status == 204
    assert gone.headers["Set-Cookie"].startswith(cookie.split("=")[0] + "=;")
    assert not form_knows(center, cookie)


def test_the_form_logout_ends_a_session_of_this_api(center):
    cookie = cookie_of(log_in(center))
    assert form_knows(center, cookie)
    webapi.request(center.port, "POST", "/logout", b"", {"Cookie": cookie})
    problem(ask(center, "GET", cookie=cookie), 401, "unauthenticated")


def test_sessions_outlive_a_restart_and_are_no_cookie_in_the_database(tmp_path):
    with Center(tmp_path) as center:
        cookie = cookie_of(log_in(center))
        center.restart()
        assert ask(center, "GET", cookie=cookie).status == 200
        with sqlite3.connect(center.data / "peal.db") as db:
            rows = list(db.execute("SELECT * FROM peal_session"))
        assert rows and cookie.split("=")[1] not in str(rows)


def test_a_user_without_role_is_a_developer_of_the_permitted_groups(tmp_path):
    with Center(tmp_path) as center:
        center.stop()
        md5 = "e10adc3949ba59abbe56e057f20f883e"  # of 123456
        with sqlite3.connect(center.data / "peal.db") as db:
            for name, groups in (("bob", "3,1, 3,x,0,-1"), ("eve", None)):
                db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, ?, 0, ?)",
                           (name, md5, groups))
        center.start()
        bob, eve = log_in(center, "bob", "123456").json, log_in(center, "eve", "123456").json
    assert (bob["center"], eve["center"]) == ("none", "none")
    assert bob["grants"] == [{"role": "developer", "groups": [1, 3]}]
    assert bob["rights"] == [{"permissions": GROUP, "groups": [1, 3]}]
    assert eve["grants"] == eve["rights"] == []


# -- who may not --

def test_without_a_session_one_is_told_so(center):
    for cookie in (None, "peal_session=", "peal_session=" + "x" * 43, "other=" + "x" * 43):
        reply = ask(center, "GET", cookie=cookie)
        problem(reply, 401, "unauthenticated")
        assert reply.headers["WWW-Authenticate"] == 'Bearer realm="peal"'


def test_a_token_counts_before_the_cookie(center):
    cookie = cookie_of(log_in(center))
    assert problem(ask(center, "GET", cookie=cookie, Authorization="Bearer pat_" + "x" * 43), 401,
                   "unauthenticated")["detail"] == "this token is not known, or has ended"
    assert ask(center, "GET", cookie=cookie, Authorization="Basic YTpi").status == 200  # a proxy's


def test_wrong_name_and_wrong_password_get_the_same_answer(center):
    replies = [log_in(center, "admin", "wrong password"), log_in(center, "nobody", "wrong password"),
               log_in(center, "n" * 64, "wrong password")]
    details = {problem(reply, 401, "unauthenticated")["detail"] for reply in replies}
    assert details == {"the user name or the password is wrong"}
    assert all("Set-Cookie" not in reply.headers for reply in replies)


def test_guessing_is_slowed_down_over_both_apis_together(tmp_path):
    with Center(tmp_path) as center:
        form = urllib.parse.urlencode({"userName": "eve", "password": "guess"}).encode()
        for _ in range(3):
            webapi.request(center.port, "POST", "/login", form)
        statuses = [log_in(center, "eve", "guess").status for _ in range(2)]
        assert statuses == [401, 401]
        for _ in range(9):  # the wait doubles with each failure that finds none
            reply = log_in(center, "eve", "guess")
            if reply.status == 429:
                break
        wait_ms = problem(reply, 429, "too_many_requests")["retryAfterMs"]
        assert 0 < wait_ms <= 300_000
        assert int(reply.headers["Retry-After"]) == -(-wait_ms // 1000)
        messages = [json.loads(webapi.request(center.port, "POST", "/login", form)[2])["msg"] for _ in range(9)]
        assert any("too many failed logins" in text for text in messages)
        assert log_in(center).status == 200


FOREIGN = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"},
           {"Origin": "null"}, {"Origin": "http://127.0.0.1"}, {"Referer": "http://evil.example/"}]


@pytest.mark.parametrize("headers", FOREIGN)
def test_pages_of_other_sites_can_neither_log_out_nor_in(center, headers):
    cookie = cookie_of(log_in(center))
    sent = {name.replace("-", "_"): value for name, value in headers.items()}
    problem(ask(center, "DELETE", cookie=cookie, **sent), 403, "forbidden")
    reply = ask(center, "POST", body={"name": "admin", "password": center.password}, **sent)
    problem(reply, 403, "forbidden")
    assert "Set-Cookie" not in reply.headers
    assert ask(center, "GET", cookie=cookie, **sent).status == 200  # a read changes nothing


def test_own_pages_can(center):
    for headers in ({"Sec_Fetch_Site": "same-origin"}, {"Sec_Fetch_Site": "none"},
                    {"Origin": f"http://127.0.0.1:{center.port}"}, {"Referer": f"{center.url}/a"},
                    {"Host": "peal.example", "Origin": "https://peal.example"}):
        cookie = cookie_of(log_in(center))
        assert ask(center, "DELETE", cookie=cookie, **headers).status == 204


# -- requests that break a rule --

def test_every_bad_field_is_named_at_once(center):
    reply = ask(center, "POST", body={"name": "", "remember": "yes", "user/name": 1})
    errors = problem(reply, 422, "invalid")["errors"]
    assert [(e["field"], e["rule"]) for e in errors] == [
        ("/name", "text.length"), ("/password", "required"), ("/remember", "type.boolean"),
        ("/user~1name", "unknown")]
    assert errors[0]["params"] == {"min": 1, "max": 64}
    assert all(e["detail"] for e in errors)


@pytest.mark.parametrize("body", [
    b"", b" ", b"{", b"[]", b"null", b'"x"', b'{"name":"a","name":"b","password":"x"}',
    b'{"name":"a\\u0000","password":"x"}', b'{"name":"\xff","password":"x"}', b'{"name":"a","password":"x"}x',
    b"[" * 2000, b'{"a":' * 20 + b"1" + b"}" * 20])
def test_a_body_that_is_no_json_object_is_refused(center, body):
    problem(ask(center, "POST", body=body), 400, "malformed")


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "application/jsonp",
                                  "multipart/form-data", ""])
def test_only_json_is_read(center, kind):
    """What a page of another site can send without being asked first is none of it."""
    reply = ask(center, "POST", body={"name": "admin", "password": center.password}, Content_Type=kind)
    problem(reply, 415, "unsupported_media_type")
    assert "Set-Cookie" not in reply.headers


def test_json_may_have_parameters(center):
    reply = ask(center, "POST", body={"name": "admin", "password": center.password},
                Content_Type="Application/JSON; charset=utf-8")
    assert reply.status == 200


def test_what_takes_no_body_gets_none(center):
    cookie = cookie_of(log_in(center))
    problem(ask(center, "DELETE", body={}, cookie=cookie), 400, "malformed")
    assert ask(center, "GET", cookie=cookie).status == 200


def test_another_type_of_answer_is_not_to_be_had(center):
    cookie = cookie_of(log_in(center))
    for accept in ("text/html", "application/json;q=0, text/*"):
        problem(ask(center, "GET", cookie=cookie, Accept=accept), 406, "not_acceptable")
    for accept in ("application/json", "text/html, */*;q=0.1", "application/*"):
        assert ask(center, "GET", cookie=cookie, Accept=accept).status == 200
    assert ask(center, "DELETE", cookie=cookie, Accept="text/html").status == 204


def test_methods_that_a_path_does_not_take(center):
    for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "get"):
        reply = ask(center, method)
        problem(reply, 405, "method_not_allowed")
        assert reply.headers["Allow"] == "GET, HEAD, POST, DELETE"
        assert "Access-Control-Allow-Origin" not in reply.headers


@pytest.mark.parametrize("path", ["/api/v1/", "/api/v1/nothing", "/api/v1/session/", "/api/v1/session/x",
                                  "/api/v1//session", "/api/v1/%73ession", "/api/v1/session%2F",
                                  "/api/v1/../v1/session", "/api/v1/" + "a/" * 3000, "/api/v1/%", "/api/v1/%00"])
def test_paths_that_are_not_there(center, path):
    problem(ask(center, "GET", path), 404, "not_found")


def test_a_query_must_be_text(center):
    for query in ("%", "%ff", "a=%00", "&".join(f"a{i}=" for i in range(300))):
        problem(ask(center, "GET", f"{SESSION}?{query}"), 400, "malformed")


def test_a_large_body_is_a_problem_too(center):
    problem(ask(center, "POST", body=b" " * 5000), 413, "too_large")
    with socket.create_connection(("127.0.0.1", center.port), timeout=20 * PATIENCE) as raw:  # only its length is sent
        raw.sendall(b"POST /api/v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
        head, _, body = raw.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ") and json.loads(body)["code"] == "too_large"


def test_the_form_api_and_executors_are_answered_as_before(center):
    """The corner of the JSON API is /api/v1/ and no more."""
    for path, status in (("/api/v1", 200), ("/api/v2/session", 200), ("/v1/session", 404), ("/session", 404)):
        got, headers, body = webapi.request(center.port, "POST", path, b"{}")
        assert got == status and headers.get_content_type() == "application/json", path
        assert json.loads(body)["code"] in (404, 500)
        assert "Peal-Request-Id" not in headers
