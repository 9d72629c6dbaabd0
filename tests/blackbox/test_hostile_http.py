# SPDX-License-Identifier: Apache-2.0
"""Requests that nobody should send: each gets a clear refusal, and the center goes on."""

import json
import socket

import pytest
from support import webapi
from support.wait import PATIENCE, wait_until


def raw(center, data, half=False):
    """What comes back for these bytes until the center closes (or answers and waits)."""
    with socket.create_connection(("127.0.0.1", center.port), timeout=15 * PATIENCE) as s:
        s.sendall(data)
        if half:
            s.shutdown(socket.SHUT_WR)
        got = b""
        while b"\r\n\r\n" not in got:
            piece = s.recv(65536)
            if not piece:
                break
            got += piece
        return got


@pytest.fixture(autouse=True)
def still_alive(center):
    """After each attack the center answers, fires, and has closed what it refused."""
    yield
    assert center.get("/livez")[0] == 200
    wait_until(lambda: center.get("/readyz")[0] == 200, "/readyz")
    assert center.metric("peal_firings_unaccounted") == 0


@pytest.mark.parametrize("head,status", [
    (b"GET / HTTP/1.1\r\n\r\n", 400),  # no Host
    (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    (b"POST /api/registry HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", 400),
    (b"POST /api/registry HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST /api/registry HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 400),
    (b"POST /api/registry HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nabcde", 400),
    (b"POST /api/registry HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nabcde", 400),
    (b"GET / HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\nHost: a\n\n", 400),
    (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", 505),
    (b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 400),
    (b"POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    (b"POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n", 413),
    (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),  # TLS
    (b"\r\n" * 3000, 400),
])
def test_malformed_and_smuggling_requests_are_refused(center, head, status):
    got = raw(center, head, half=True)
    first = got.split(b"\r\n")[0]
    assert got.startswith(b"HTTP/1.1 ") and int(first.split()[1]) // 100 in (4, 5), first
    assert int(first.split()[1]) == status or status in (400, 431), first


def test_a_refused_request_hides_no_second_one(center):
    """What follows a message of doubtful length is never read as a request."""
    inner = b"POST /api/registry HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % len(inner)
    with socket.create_connection(("127.0.0.1", center.port), timeout=15 * PATIENCE) as s:
        s.sendall(head + inner)
        got = b""
        while piece := s.recv(65536):
            got += piece
    assert got.count(b"HTTP/1.1 ") == 1 and got.startswith(b"HTTP/1.1 400")


def test_half_a_request_that_goes_away(center):
    for data in (b"POST /api/callback HT", b"POST /api/callback HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n[{"):
        with socket.create_connection(("127.0.0.1", center.port), timeout=15 * PATIENCE) as s:
            s.sendall(data)


def form(center, path, body, cookie=None, kind="application/x-www-form-urlencoded"):
    headers = {"Content-Type": kind}
    if cookie:
        headers["Cookie"] = cookie
    status, _, reply = webapi.request(center.port, "POST", path, body, headers)
    return status, json.loads(reply)


@pytest.fixture(scope="module")
def admin(center):
    return center.api()


@pytest.mark.parametrize("body,text", [
    (b"jobDesc=%ff%fe", "jobDesc: must be UTF-8"), (b"jobDesc=%00", "without NUL"),
    (b"jobDesc=%e4%b8", "UTF-8"), (b"a=%zz", "hexadecimal"), (b"a=1&" * 300, "more than 200 parameters"),
    (b"x" * 70 + b"=1", "at most 64 bytes"), (b"jobGroup=1e3", "jobGroup: must be a whole number"),
    (b"jobGroup=99999999999999999999", "jobGroup: must be a whole number"),
])
def test_odd_forms_are_refused_by_name(center, admin, body, text):
    status, reply = form(center, "/jobinfo/insert", body, admin.cookie)
    assert (status, reply["code"]) == (200, 500) and text in reply["msg"]


@pytest.mark.parametrize("kind", ["application/json", "text/plain;charset=UTF-8"])
def test_with_parameters_in_the_query_a_body_of_another_type_does_not_count(center, admin, kind):
    """As programs with RestTemplate or OkHttp send it. Another site's page gains nothing by it."""
    path = "/jobinfo/pageList?jobGroup=0&triggerStatus=-1&jobDesc=&executorHandler=&author="
    assert form(center, path, b'{"jobGroup":"x"}', admin.cookie, kind)[1]["code"] == 200
    change = "/jobgroup/insert?appname=by-the-query&title=t&addressType=0&addressList="
    foreign = webapi.request(center.port, "POST", change, b"{}",
                             {"Cookie": admin.cookie, "Content-Type": kind, "Origin": "http://evil.example"})
    assert foreign[0] == 403 or json.loads(foreign[2])["code"] == 403
    assert form(center, change, b"{}", admin.cookie, kind)[1]["code"] == 200


def test_bodies_of_other_kinds_and_sizes(center, admin):
    assert form(center, "/jobinfo/insert?jobGroup=1", b"{}", admin.cookie, "multipart/form-data; boundary=x")[0] == 415
    assert form(center, "/jobinfo/insert", b"{}", admin.cookie, "application/json")[0] == 415
    assert form(center, "/jobinfo/insert", b"a=" + b"x" * (2 << 20), admin.cookie)[0] == 413


def test_unknown_paths_and_methods(center):
    assert center.get("/nothing/here")[0] == 404
    assert center.get("/..%2f..%2fetc/passwd")[0] == 404
    status, headers, _ = webapi.request(center.port, "DELETE", "/jobinfo/pageList")
    assert status == 405 and "POST" in headers["Allow"]
    assert webapi.request(center.port, "POST", "/livez", b"")[0] == 405


NAMES = ["'; DROP TABLE xxl_job_info; --", '" OR 1=1', "%", "_", "\\", "<script>alert(1)</script>", "a\r\nSet-Cookie: x=y",
         "\u202e\u0000".replace("\u0000", ""), "😀" * 50, "${jndi:ldap://x}", "../../etc/passwd"]


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_are_text_and_nothing_else(center, admin, name):
    group = admin.groups("hostile-names")
    group = group[0]["id"] if group else admin.add_group("hostile-names")
    job = admin.add_job(group, name.strip(), jobDesc=name.strip(), executorParam=name)
    rows = admin.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, jobDesc=name.strip())
    assert [r["id"] for r in rows] == [job]
    assert rows[0]["executorHandler"] == name.strip() and rows[0]["executorParam"] == name
    admin.delete_job(job)


def test_log_in_with_anything(center):
    for user in [*NAMES, "x" * 100000, "a" * 51]:
        _, reply = form(center, "/login", webapi.urllib.parse.urlencode(
            {"userName": user, "password": user}).encode())
        assert reply["code"] == (413 if len(user) > 2000 else 500)


def test_json_of_any_depth_and_size(center):
    token = {"XXL-JOB-ACCESS-TOKEN": center.token, "Content-Type": "application/json"}
    for body in (b"[" * 200000, b'[{"logId":1,"x":' + b"[" * 100000, b'{"a":' * 50000, b'"' + b"\\u0000" * 1000 + b'"',
                 b"[1e999]", b'[{"logId":1e400}]', b"[" + b"{}," * 200000 + b"{}]", b"\xff\xfe\x00", b"null", b"[null]"):
        for action in ("registry", "callback"):
            status, headers, reply = webapi.request(center.port, "POST", f"/api/{action}", body, token)
            assert status == 200 and headers.get_content_type() == "application/json"
            assert json.loads(reply)["code"] in (200, 500)


def test_many_connections_that_say_nothing(center):
    quiet = [socket.create_connection(("127.0.0.1", center.port), timeout=15 * PATIENCE) for _ in range(300)]
    try:
        assert center.get("/readyz")[0] == 200
        assert center.api().groups() is not None
    finally:
        for s in quiet:
            s.close()
