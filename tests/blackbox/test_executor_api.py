# SPDX-License-Identifier: Apache-2.0
"""What executors call: always HTTP 200 and a JSON object with a numeric code, in every dialect."""

import http.client
import json
import socket

import pytest
from support import webapi
from support.stub_executor import Stub
from support.wait import PATIENCE, wait_until

PREFIXES = ["", "/xxl-job-admin", "/", "/xxl-job-admin/"]


def post(center, path, body, headers=None, method="POST"):
    """(reply object); asserts what holds for every answer."""
    sent = {"XXL-JOB-ACCESS-TOKEN": center.token}
    sent.update(headers or {})
    sent = {k: v for k, v in sent.items() if v is not None}
    status, answered, reply = webapi.request(center.port, method, path, body, sent)
    assert status == 200, (status, reply)
    assert answered.get_content_type() == "application/json"
    reply = json.loads(reply)
    assert isinstance(reply["code"], int)
    assert reply.get("content") is None and reply.get("data") is None
    return reply


def registration(app, address="http://127.0.0.1:1/"):
    return json.dumps({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address}).encode()


@pytest.fixture(scope="module")
def admin(center):
    return center.api()


@pytest.fixture(scope="module")
def group(admin):
    return admin.add_group("executor-api")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_registration_acts_at_once_and_its_removal_too(center, admin, group, prefix):
    address = f"http://127.0.0.1:2/{len(prefix)}/"
    assert post(center, prefix + "/api/registry", registration("executor-api", address))["code"] == 200
    wait_until(lambda: address in admin.addresses("executor-api"), "the address in the group")
    assert post(center, prefix + "/api/registryRemove", registration("executor-api", address))["code"] == 200
    wait_until(lambda: address not in admin.addresses("executor-api"), "the address to leave the group")


@pytest.mark.parametrize("headers,code", [
    ({}, 200), ({"XXL-JOB-ACCESS-TOKEN": None, "Xxl-Job-Access-Token": "{token}"}, 200),
    ({"XXL-JOB-ACCESS-TOKEN": None, "XXL-RPC-ACCESS-TOKEN": "{token}"}, 200),
    ({"XXL-JOB-ACCESS-TOKEN": "wrong"}, 500), ({"XXL-JOB-ACCESS-TOKEN": ""}, 500),
    ({"XXL-JOB-ACCESS-TOKEN": None}, 500), ({"XXL-JOB-ACCESS-TOKEN": "{token}x"}, 500),
    ({"XXL-JOB-ACCESS-TOKEN": "wrong", "XXL-RPC-ACCESS-TOKEN": "{token}"}, 500)])
def test_the_token_is_wanted(center, headers, code):
    headers = {k: v and v.format(token=center.token) for k, v in headers.items()}
    reply = post(center, "/api/registry", registration("token-test"), headers)
    assert reply["code"] == code
    if code == 500:
        assert reply["msg"] == "The access token is wrong."
        assert "refused /api/registry from 127.0.0.1: wrong access token" in center.tail()


@pytest.mark.parametrize("method,path,body,text", [
    ("GET", "/api/registry", None, "invalid request, HttpMethod not support."),
    ("PUT", "/api/callback", b"[]", "invalid request, HttpMethod not support."),
    ("POST", "/api/nothing", b"{}", "invalid request, uri-mapping(/api/nothing) not found."),
    ("POST", "/xxl-job-admin/api/", b"{}", "uri-mapping"),
    ("POST", "/api/registry", b"", "invalid request, requestBody empty."),
    ("POST", "/api/callback", b" \r\n", "invalid request, requestBody empty."),
    ("POST", "/api/registry", b"{", "registry"),
    ("POST", "/api/registry", b"[]", "registryGroup"),
    ("POST", "/api/registry", b'{"registryGroup":"EXECUTOR","registryKey":"","registryValue":"http://a/"}', "registryKey"),
    ("POST", "/api/registry", b'{"registryGroup":"EXECUTOR","registryKey":"abcd","registryValue":"ftp://a/"}', "registryValue"),
    ("POST", "/api/registry", b'{"registryGroup":"ADMIN","registryKey":"abcd","registryValue":"http://a/"}', "registryGroup"),
    ("POST", "/api/callback", b"{}", "array"),
    ("POST", "/api/callback", b"[" * 100000, "callback")])
def test_refusals_name_field_and_rule_with_status_200(center, method, path, body, text):
    reply = post(center, path, body, method=method)
    assert reply["code"] == 500 and text in reply["msg"]


def test_a_callback_is_kept_when_it_is_answered(center, admin, group):
    with Stub(center, "executor-api") as stub:
        wait_until(lambda: stub.address in admin.addresses("executor-api"), "the stub's address")
        job = admin.add_job(group, "h")
        admin.trigger(job)
        run = stub.wait_runs(1, job)[0]
        stub.call_back(run["logId"], 200, "first")  # on disk: in the row, or in the journal until then
        row = wait_until(lambda: admin.logs(job)[0]["handleCode"] and admin.logs(job)[0], "the row")
        assert (row["handleCode"], row["handleMsg"]) == (200, "first")
        stub.call_back(run["logId"], 500, "second")  # repeats change nothing
        wait_until(lambda: center.metric("peal_journal_records") == 0, "the repeat to be committed as well")
        row = admin.logs(job)[0]
        assert (row["handleCode"], row["handleMsg"]) == (200, "first")
        stub.register("registryRemove")
        admin.delete_job(job)


SHAPES = [
    ({"handleCode": 200, "handleMsg": "m"}, 200, "m"),
    ({"executeResult": {"code": 200, "msg": "old"}}, 200, "old"),
    ({"handleCode": 502, "handleMsg": "t", "executeResult": {"code": 200, "msg": "x"}}, 502, "t"),
    ({"handleCode": "200", "handleMsg": None}, 200, None),
    ({"handleCode": 200, "handleMsg": {"a": [1, None]}}, 200, '{"a":[1,null]}'),
    ({"handleCode": 200, "handleMsg": 12}, 200, "12"),
    ({"handleCode": 777, "handleMsg": "own"}, 777, "own"),
]


def test_every_dialect_of_a_callback_in_one_request(center, admin, group):
    """With malformed elements, unknown ids and repeats between them, which harm nobody."""
    with Stub(center, "executor-api") as stub:
        wait_until(lambda: stub.address in admin.addresses("executor-api"), "the stub's address")
        job = admin.add_job(group, "h")
        for _ in SHAPES:
            admin.trigger(job)
        ids = sorted(run["logId"] for run in stub.wait_runs(len(SHAPES), job))
        elements = [None, 7, {}, {"logId": "x", "handleCode": 200}, {"logId": 99999999, "handleCode": 200}]
        for number, (shape, _, _) in zip(ids, SHAPES):
            elements += [dict(shape, logId=number, extra={"deep": [[]]}), {"logId": number}]
        elements.append({"logId": str(ids[0]), "handleCode": 500})
        assert post(center, "/api/callback", json.dumps(elements).encode())["code"] == 200
        wait_until(lambda: all(row["handleCode"] for row in admin.logs(job)), "the rows to have them")
        rows = {row["id"]: row for row in admin.logs(job)}
        for number, (_, code, msg) in zip(ids, SHAPES):
            assert rows[number]["handleCode"] == code
            assert (rows[number]["handleMsg"] or None) == msg
        stub.register("registryRemove")
        admin.delete_job(job)


def test_framings_that_clients_use(center):
    """Chunked, header and body in pieces, several requests on one connection, 100-continue, no type."""
    body = registration("framing-test")
    head = f"POST /api/registry HTTP/1.1\r\nHost: x\r\nxxl-job-access-token: {center.token}\r\n"
    chunked = (head + "Transfer-Encoding: chunked\r\n\r\n").encode()
    chunked += b"5\r\n" + body[:5] + b"\r\n" + f"{len(body) - 5:x}\r\n".encode() + body[5:] + b"\r\n0\r\n\r\n"
    plain = (head + f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    waiting = (head + f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n").encode()
    with socket.create_connection(("127.0.0.1", center.port), timeout=15 * PATIENCE) as s:
        replies = s.makefile("rb")  # one buffer for all of them: pipelined answers come together
        for request in (chunked, plain):
            for piece in (request[:30], request[30:90], request[90:]):
                s.sendall(piece)
            assert read_reply(replies)["code"] == 200
        s.sendall(plain + plain)
        assert read_reply(replies)["code"] == 200
        assert read_reply(replies)["code"] == 200
        s.sendall(waiting)
        assert replies.readline().startswith(b"HTTP/1.1 100 ") and replies.readline() == b"\r\n"
        s.sendall(body)
        assert read_reply(replies)["code"] == 200


def read_reply(replies):
    assert replies.readline().startswith(b"HTTP/1.1 200 ")
    length = int(http.client.parse_headers(replies)["Content-Length"])
    return json.loads(replies.read(length))


def test_one_connection_may_change_sides(center):
    """A page, then an executor's call, then a probe, then a page again, on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", center.port, timeout=15 * PATIENCE)
    connection.connect()
    own = connection.sock
    for _ in range(3):
        for method, path, body, part in [("GET", "/toLogin", None, b"Peal"),
                                         ("POST", "/api/registry", registration("side-test"), b'"code":200'),
                                         ("GET", "/livez", None, b"ok"),
                                         ("GET", "/metrics", None, b"peal_firings_unaccounted 0\n")]:
            connection.request(method, path, body, {"XXL-JOB-ACCESS-TOKEN": center.token})
            assert part in connection.getresponse().read()
            assert connection.sock is own
    connection.close()
