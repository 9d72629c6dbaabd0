# SPDX-License-Identifier: Apache-2.0
"""Clients that want everything for themselves: waiting logins, half-sent bodies, connections that trickle. Others, and
executors before all, are served on."""

import contextlib
import http.client
import json
import os
import pathlib
import resource
import socket
import threading
import urllib.parse

import pytest
from support import webapi
from support.center import TOKEN, Center, binary
from support.executor import Executor
from support.wait import PATIENCE, wait_until

SANITIZED = {"asan": 3, "tsan": 4}.get(os.environ.get("PEAL_PRESET"), 1)  # times the memory of the program itself
FILES = 16384  # that a center may open here: a quarter of them are what its front holds
CONNECTIONS = FILES // 4 + 64  # and the 64 that it tells so


@pytest.fixture(autouse=True, scope="module")
def descriptors():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def limited(folder, files):
    """The binary, for PEAL_BIN, in a process that may open so many files."""
    wrapper = folder / "few"
    wrapper.write_text(f'#!/bin/sh\nulimit -n {files}\nexec "{binary()}" "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    folder = tmp_path_factory.mktemp("center")
    with contextlib.ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PEAL_BIN", limited(folder, FILES))
            it = stack.enter_context(Center(folder))
        yield it


@pytest.fixture
def flood(center):
    """flood(n, bytes, addresses): so many connections from these addresses, each of which has sent the bytes."""
    with contextlib.ExitStack() as stack:
        def make(n, data, addresses=("127.0.0.2",)):
            sockets = []
            for i in range(n):
                s = socket.create_connection(("127.0.0.1", center.port), timeout=60 * PATIENCE,
                                             source_address=(addresses[i % len(addresses)], 0))
                stack.enter_context(s)
                sockets.append(s)
                with contextlib.suppress(ConnectionError):  # it has yielded already
                    s.sendall(data)
            return sockets
        yield make
    wait_until(lambda: center.get("/readyz")[0] == 200, "/readyz")
    assert center.metric("peal_firings_unaccounted") == 0


def head(path, length, **more):
    lines = [f"POST {path} HTTP/1.1", "Host: a", "Content-Type: application/x-www-form-urlencoded",
             f"Content-Length: {length}", *(f"{name.replace('_', '-')}: {value}" for name, value in more.items()), "", ""]
    return "\r\n".join(lines).encode()


def login_bytes(name):
    body = urllib.parse.urlencode({"userName": name, "password": "guess"}).encode()
    return head("/auth/doLogin", len(body)) + body


def rss_mib(center):
    status = pathlib.Path(f"/proc/{center.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def test_waiting_logins_shut_nobody_out(center, flood):
    """Without a password, from eight addresses, each login of another name, which costs a hash."""
    api = center.api()
    stop = threading.Event()

    def keep_on(address):
        n = 0
        while not stop.is_set():
            with contextlib.suppress(OSError), socket.create_connection(
                    ("127.0.0.1", center.port), timeout=60 * PATIENCE, source_address=(address, 0)) as s:
                n += 1
                s.sendall(login_bytes(f"{address}-{n}"))
                s.recv(100)

    addresses = [f"127.0.0.{n}" for n in range(2, 10)]
    crowd = flood(1000, login_bytes("nobody"), addresses)
    threads = [threading.Thread(target=keep_on, args=(a,)) for a in addresses * 8]
    for thread in threads:
        thread.start()
    try:
        for _ in range(40):
            assert api.groups() is not None  # pages: none is 503
        for _ in range(5):
            center.api()  # a right login, at the first try
        refused = sum(b" 503 " in s.recv(100) for s in crowd[:900])
        assert refused > 300, "what is beyond the queue is told so"
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_login_has_a_small_body(center, flood):
    before = rss_mib(center)
    sockets = flood(100, head("/login", 2 << 20) + b"userName=admin&password=" + b"x" * 30000)
    for s in sockets:
        assert s.recv(100).startswith(b"HTTP/1.1 413 ")
    body = b"userName=admin&password=" + b"x" * 5000
    s, = flood(1, head("/login", len(body)) + body)
    assert s.recv(100).startswith(b"HTTP/1.1 413 ")
    assert rss_mib(center) < before + 60 * SANITIZED


def test_large_pages_have_a_budget_of_their_own(center, flood):
    """300 bodies of 2 MiB would be 600: what waits counts, and executors' results have another budget."""
    before = rss_mib(center)
    flood(300, head("/jobinfo/add", 2 << 20) + b"x=" + b"y" * (1 << 20))
    assert rss_mib(center) < before + 150 * SANITIZED
    assert callback(center, 8 << 20)["code"] == 200
    api = center.api()
    group = api.add_group("large-forms")
    job = api.add_job(group, "h", glueSource="x" * 500000)
    api.delete_job(job)


def callback(center, size, address="127.0.0.1"):
    """A callback of many results of unknown runs, on a connection of its own."""
    one = json.dumps({"logId": 1 << 50, "logDateTim": 0, "handleCode": 200, "handleMsg": "m" * 4000}) + ","
    body = "[" + (one * (size // len(one)))[:-1] + "]"
    connection = http.client.HTTPConnection("127.0.0.1", center.port, timeout=60 * PATIENCE, source_address=(address, 0))
    with contextlib.closing(connection):
        connection.request("POST", "/api/callback", body.encode(),
                           {"Content-Type": "application/json", "XXL-JOB-ACCESS-TOKEN": center.token})
        return json.loads(connection.getresponse().read())


def test_half_sent_bodies_without_the_token_take_nothing(center, flood):
    """Each says that 16 MiB will come. The head is enough to refuse it, as executors understand it."""
    for more in ({}, {"XXL_JOB_ACCESS_TOKEN": "wrong"}):
        for s in flood(40, head("/api/callback", 16 << 20, **more) + b"[" + b" " * 3000):
            reply = http.client.HTTPResponse(s)
            reply.begin()
            assert (reply.status, reply.getheader("Content-Type")) == (200, "application/json")
            assert json.loads(reply.read()) == {"code": 500, "msg": "The access token is wrong.", "content": None,
                                                "data": None}
    assert callback(center, 8 << 20)["code"] == 200


def test_half_sent_bodies_with_the_token_yield(center, flood):
    flood(20, head("/api/callback", 16 << 20, XXL_JOB_ACCESS_TOKEN=TOKEN) + b"[" + b" " * (15 << 20))
    for _ in range(3):
        assert callback(center, 8 << 20)["code"] == 200


def test_a_large_body_in_pieces_of_any_kind_arrives(center):
    """Expect: 100-continue and chunks: the head is judged, then the body is asked for."""
    for framing in ("Content-Length: 40000\r\nExpect: 100-continue", "Transfer-Encoding: chunked"):
        with socket.create_connection(("127.0.0.1", center.port), timeout=60 * PATIENCE) as s:
            s.sendall(f"POST /api/callback HTTP/1.1\r\nHost: a\r\nXXL-JOB-ACCESS-TOKEN: {TOKEN}\r\n{framing}\r\n\r\n".encode())
            if "Expect" in framing:
                assert s.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
                s.sendall(b"[" + b" " * 39998 + b"]")
            else:
                for piece in (b"[" + b" " * 29999, b" " * 30000, b"]"):
                    s.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
                s.sendall(b"0\r\n\r\n")
            reply = http.client.HTTPResponse(s)
            reply.begin()
            assert json.loads(reply.read())["code"] == 200


SILENT, HEAD = b"", b"POST /api/callback HT"
BODY, KEPT, PAGE = head("/api/callback", 1000) + b"[", b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", head("/jobinfo/add", 100) + b"x"
OWN, OTHER, MANY = ["127.0.0.1"], ["127.0.0.2"], [f"127.0.0.{n}" for n in range(2, 250)]


@pytest.mark.parametrize("data,addresses", [(SILENT, OWN), (HEAD, OWN), (BODY, OWN), (KEPT, OWN), (PAGE, OWN),
                                            (HEAD, OTHER), (KEPT, OTHER), (HEAD, MANY)],
                         ids=lambda value: value[:9] if isinstance(value, bytes) else f"{len(value)} {value[0]}")
def test_connections_that_trickle_lock_nobody_out(tmp_path, center, flood, data, addresses):
    """Executors register, get their runs and report them; pages are shown; whoever was connected stays so."""
    api = center.api()
    with Executor(tmp_path, center.url, ["--peal.executor.glue", "shell"]) as executor:
        app = "tests"
        group = (api.groups(app) or [{"id": None}])[0]["id"] or api.add_group(app)
        wait_until(lambda: executor.address.rstrip("/") in str(api.addresses(app)), "the executor's registration")
        job = api.add_job(group, "h", glueType="GLUE_SHELL", glueSource="echo it ran", scheduleType="FIX_RATE",
                          scheduleConf="1")
        api.start_job(job)
        wait_until(lambda: any(webapi.finished(row) for row in api.logs(job)), "a first run")
        sockets = flood(CONNECTIONS, data, addresses)
        seen = {row["id"] for row in api.logs(job)}
        for s in sockets[::40]:
            with contextlib.suppress(OSError):
                s.sendall(b"P")
        wait_until(lambda: sum(webapi.finished(row) for row in api.logs(job) if row["id"] not in seen) >= 3,
                   "three runs that began and ended in the flood", 30)
        for _ in range(20):  # connections of their own
            assert center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": "other-app",
                                                "registryValue": "http://127.0.0.1:9/"})["code"] == 200
        assert center.metric("peal_firings_total", outcome="lost") == 0
        api.stop_job(job)
        wait_until(lambda: all(webapi.finished(row) for row in api.logs(job)), "the last run's end")
        assert {row["handleCode"] for row in api.logs(job)} == {200}
        api.delete_job(job)


def test_the_token_counts_as_long_as_it_is_asked_for(tmp_path, monkeypatch):
    """Without a token nobody proves anything: everybody still gets a share."""
    monkeypatch.setenv("PEAL_BIN", limited(tmp_path, FILES))
    with Center(tmp_path, args=["--insecure-no-token"], token="") as center, contextlib.ExitStack() as stack:
        for _ in range(CONNECTIONS):
            s = stack.enter_context(socket.create_connection(("127.0.0.1", center.port), timeout=60 * PATIENCE,
                                                             source_address=("127.0.0.2", 0)))
            s.sendall(b"POST /api/callback HT")
        for _ in range(20):
            assert center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": "any-app",
                                                "registryValue": "http://127.0.0.1:9/"})["code"] == 200


def test_few_descriptors_are_not_all_taken(tmp_path, monkeypatch):
    """Where the process may open 1,024 files a flood of 2,000 connections leaves some for those who come next."""
    monkeypatch.setenv("PEAL_BIN", limited(tmp_path, 1024))
    with Center(tmp_path / "center") as center, contextlib.ExitStack() as stack:
        for n in range(2000):
            s = stack.enter_context(socket.create_connection(("127.0.0.1", center.port), timeout=60 * PATIENCE,
                                                             source_address=("127.0.0.2", 0)))
            with contextlib.suppress(ConnectionError):
                s.sendall(b"POST /api/callback HT" if n % 2 else head("/jobinfo/add", 100000) + b"x=")
        for _ in range(20):
            assert center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": "any-app",
                                                "registryValue": "http://127.0.0.1:9/"})["code"] == 200
        assert center.api().groups() is not None
        assert "cannot accept" not in center.output.read_text()
