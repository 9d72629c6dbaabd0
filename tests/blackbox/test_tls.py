# SPDX-License-Identifier: Apache-2.0
"""The port with a certificate of its own: what a client must speak, what each thing that goes over it looks like, how
the certificate is changed, and that clients which do not finish hold up nobody."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading

import pytest
from support import webapi
from support.center import PASSWORD, Center, binary, clean_environment
from support.mailserver import certificates
from support.sse import Events, lines_until
from support.stub_executor import OK, Stub
from support.tls_center import WAIT, TlsCenter
from support.wait import PATIENCE, wait_until

REGISTRY = {"registryGroup": "EXECUTOR", "registryKey": "tests", "registryValue": "http://127.0.0.1:9/"}


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    with TlsCenter(tmp_path_factory.mktemp("tls")) as c:
        yield c


def login(center, **headers):
    status, answer, body = center.ask("POST", "/api/v1/session", json.dumps({"name": "admin", "password": PASSWORD}),
                                      {"Content-Type": "application/json", **headers})
    assert status == 200, body
    return answer["Set-Cookie"]


def login_behind(center):
    """The cookie of a login through a proxy on this machine that speaks TLS to the client."""
    body = json.dumps({"name": "admin", "password": PASSWORD}).encode()
    headers = {"Content-Type": "application/json", "X-Forwarded-Proto": "https"}
    status, answer, body = webapi.request(center.port, "POST", "/api/v1/session", body, headers)
    assert status == 200, body
    return answer["Set-Cookie"]


def hang_up(center):
    center.process.send_signal(signal.SIGHUP)


def serial(center):
    """Of the certificate that a new connection gets, whoever signed it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", center.port), timeout=WAIT) as s, context.wrap_socket(s) as t:
        return t.getpeercert(binary_form=True)


# ---- what it speaks ----

def test_requests_of_every_loop_go_over_one_connection(center):
    c = center.connect()
    for _ in range(3):
        assert center.ask("GET", "/readyz", over=c)[0] == 200  # the scheduler's loop
        assert center.ask("GET", "/metrics", over=c)[0] == 200  # the web loop
        assert center.open_api("registry", REGISTRY, over=c)["code"] == 200
    c.close()


def test_peal_health_asks_over_tls_what_has_a_certificate(center):
    words = [binary(), "health", "--listen", f"127.0.0.1:{center.port}"]
    assert subprocess.run([*words, "--tls.cert", center.cert, "--tls.key", center.key], env=clean_environment(),
                          capture_output=True, check=False).returncode == 0
    assert subprocess.run(words, env=clean_environment(), capture_output=True, check=False).returncode == 1


def test_bodies_larger_than_a_record_arrive_whole(center):
    c = center.connect()
    for size in (16383, 16384, 16385, 40000, 1_000_000):
        body = [{"logId": 1, "logDateTim": 1, "handleCode": 200, "handleMsg": "x" * size}]
        assert "code" in center.open_api("callback", body, over=c)
    status, _, page = center.ask("GET", "/api/v1/openapi.json", over=c)  # answers are, too
    assert status == 200 and len(page) > 100_000 and json.loads(page)["openapi"]
    c.close()


def test_pipelined_requests_are_answered_in_order(center):
    with socket.create_connection(("127.0.0.1", center.port), timeout=WAIT) as s, \
            center.context().wrap_socket(s, server_hostname="127.0.0.1") as t:
        t.sendall(b"".join(b"GET /readyz HTTP/1.1\r\nHost: a\r\nX: %d\r\n%s\r\n" %
                           (i, b"Connection: close\r\n" if i == 9 else b"") for i in range(10)))
        got = b""
        while piece := t.recv(65536):
            got += piece
    assert got.count(b"HTTP/1.1 200 OK") == 10
    assert got.count(b"Connection: close") == 1


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_are_resumed(center, version):
    context = center.context()
    context.minimum_version = context.maximum_version = version
    session = None
    for again in (False, True):
        with socket.create_connection(("127.0.0.1", center.port), timeout=WAIT) as s, \
                context.wrap_socket(s, server_hostname="127.0.0.1", session=session) as t:
            t.sendall(b"GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            while t.recv(4096):  # TLS 1.3 sends its tickets behind the handshake
                pass
            assert t.version() == version.name.replace("_", ".")
            assert t.session_reused == again
            session = t.session


def openssl(center, *args, said=b""):
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{center.port}", "-CAfile", str(center.ca), *args],
                          input=said, capture_output=True, timeout=WAIT, check=False)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def test_nothing_older_than_tls_1_2_and_no_cipher_without_forward_secrecy(center):
    status, said = openssl(center, "-tls1_2", "-cipher", "AES128-SHA:AES128-GCM-SHA256:ECDHE-RSA-AES128-SHA@SECLEVEL=0")
    assert status != 0 and "handshake failure" in said
    status, said = openssl(center, "-tls1_1", "-cipher", "ALL@SECLEVEL=0")
    assert status != 0 and "protocol version" in said
    status, said = openssl(center, "-tls1_2")
    assert "Verify return code: 0" in said and "Secure Renegotiation IS supported" in said


def test_a_client_may_not_renegotiate(center):
    _, said = openssl(center, "-tls1_2", said=b"R\n")  # s_client renegotiates at a line with R
    assert "RENEGOTIATING" in said
    assert "no renegotiation" in said
    assert center.get("/readyz")[0] == 200


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_curl_takes_it(center):
    done = subprocess.run(["curl", "-sS", "--cacert", str(center.ca), "-w", "%{num_connects} ", f"{center.url}/readyz",
                           f"{center.url}/readyz"], capture_output=True, text=True, timeout=WAIT, check=False,
                          env=clean_environment())
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("0 ")  # the second went over the first's connection


def test_plain_http_is_told_what_is_wrong(center):
    for method in ("GET", "POST", "DELETE"):
        status, headers, body = webapi.request(center.port, method, "/readyz")
        assert status == 400 and headers["Connection"] == "close"
        assert "https://" in json.loads(body)["msg"]


def test_tls_to_a_plain_port_is_closed(tmp_path):
    with Center(tmp_path / "plain") as plain:
        with pytest.raises(ssl.SSLError), socket.create_connection(("127.0.0.1", plain.port), timeout=WAIT) as s:
            ssl.create_default_context().wrap_socket(s, server_hostname="localhost")
        assert plain.get("/readyz")[0] == 200


# ---- what goes over it ----

def test_cookies_are_for_tls_only(center):
    assert "; Secure" in login(center)
    status, headers, _ = center.ask("POST", "/login", f"userName=admin&password={PASSWORD}",
                                    {"Content-Type": "application/x-www-form-urlencoded"})
    assert status == 200 and "; Secure" in headers["Set-Cookie"]


def test_events_come(center):
    cookie = login(center).split(";")[0]
    c = center.connect()
    c.request("GET", "/api/v1/events", headers={"Cookie": cookie, "Accept": "text/event-stream"})
    sock, answer = c.sock, c.getresponse()
    assert answer.status == 200
    while not answer.readline().startswith(b"id: "):
        pass
    answer.close()
    sock.close()


def test_a_log_is_followed(center):
    cookie = login(center).split(";")[0]

    def post(path, body):
        status, _, answer = center.ask("POST", f"/api/v1{path}", json.dumps(body),
                                       {"Content-Type": "application/json", "Cookie": cookie})
        assert status in (200, 201, 202), answer
        return json.loads(answer)
    lines = [f"line {n} " + "x" * (n % 100) for n in range(1, 2001)]  # more than fits into a record

    def page(body):
        begin = body["fromLineNum"]
        found = {"fromLineNum": begin, "toLineNum": max(len(lines), begin - 1),
                 "logContent": "".join(line + "\n" for line in lines[begin - 1:]), "isEnd": False}
        return {**OK, "content": found, "data": found}
    group = post("/groups", {"app": "tls-logs", "title": "Logs"})["id"]
    job = post("/jobs", {"name": "followed", "groupId": group, "schedule": {"type": "NONE"},
                         "task": {"kind": "BEAN", "handler": "h"}})["id"]
    with Stub(center, "tls-logs") as stub:
        stub.answers["log"] = page
        run = post(f"/jobs/{job}/trigger", {})["runId"]
        stub.wait_runs(1, job)
        with Events(center.port, f"/api/v1/runs/{run}/log/stream", {"Cookie": cookie}, context=center.context()) as stream:
            assert stream.status == 200 and lines_until(stream, 2000) == lines[:2000]
            lines.append("the last")
            assert lines_until(stream, 1) == ["the last"]
            stub.call_back(run)
            assert stream.rest()[-1] == ("state", {"state": "finished", "end": True, "detail": None})


def test_it_prints_where_it_listens(center):
    assert f"https://127.0.0.1:{center.port}" in center.tail(100)


def test_the_end_of_a_connection_is_said(center):
    """Without close_notify a client cannot tell a whole answer from one that was cut."""
    context = center.context()
    with socket.create_connection(("127.0.0.1", center.port), timeout=WAIT) as s, \
            context.wrap_socket(s, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as t:
        t.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
        while t.recv(4096):
            pass


# ---- clients that do not finish ----

def test_broken_and_half_sent_records_end_their_connection_alone(center):
    hello = bytes.fromhex("160301")
    pieces = [hello, hello + b"\x02\x00" + b"\x01" * 30, hello + b"\xff\xff" + b"\0" * 100, b"\x80\x2e\x01\x03\x01",
              b"\x15\x03\x01\x00\x02\x02\x28", b"\x17\x03\x03\x00\x10" + b"\0" * 16, b"\0" * 64, b"\x16", os.urandom(300)]
    for piece in pieces:
        with socket.create_connection(("127.0.0.1", center.port), timeout=WAIT) as s:
            s.sendall(piece)
            with contextlib.suppress(OSError):  # it may be at its end already
                s.shutdown(socket.SHUT_WR)
                while s.recv(4096):
                    pass
    assert center.get("/readyz")[0] == 200


def test_a_record_that_was_tampered_with_ends_its_connection(center):
    with socket.create_connection(("127.0.0.1", center.port), timeout=WAIT) as s:
        into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
        t = center.context().wrap_bio(into, out, server_hostname="127.0.0.1")
        while True:
            try:
                t.do_handshake()
                break
            except ssl.SSLWantReadError:
                s.sendall(out.read())
                into.write(s.recv(65536))
        s.sendall(out.read())
        t.write(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
        record = bytearray(out.read())
        assert struct.unpack(">H", record[3:5])[0] == len(record) - 5
        record[-1] ^= 1
        s.sendall(record)
        with contextlib.suppress(ConnectionError):
            while s.recv(65536):
                pass
    assert center.get("/readyz")[0] == 200


def test_clients_that_stop_hold_up_nobody(center):
    """Five hundred that stop: before the handshake, within it, in the middle of a record, in a body."""
    with contextlib.ExitStack() as stack:
        context = center.context()
        for i in range(500):
            s = stack.enter_context(socket.create_connection(("127.0.0.1", center.port), timeout=WAIT,
                                                             source_address=("127.0.0.2", 0)))
            if i % 4 == 1:
                s.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01")
            elif i % 4 == 2 and i < 100:
                t = stack.enter_context(context.wrap_socket(s, server_hostname="127.0.0.1"))
                t.sendall(b"POST /api/callback HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{")
            elif i % 4 == 3 and i < 100:
                t = stack.enter_context(context.wrap_socket(s, server_hostname="127.0.0.1"))
                socket.socket.send(t, b"\x17\x03\x03\x40\x00half of a record")  # past the encryption
        assert center.get("/readyz")[0] == 200
        cookie = login(center).split(";")[0]
        assert center.ask("GET", "/api/v1/session", headers={"Cookie": cookie})[0] == 200
        assert center.open_api("registry", REGISTRY)["code"] == 200


def test_a_flood_of_handshakes_leaves_kept_connections_alone(center):
    kept = center.connect()
    assert center.ask("GET", "/readyz", over=kept)[0] == 200
    over, made = threading.Event(), []

    def flood():
        context = center.context()
        while not over.is_set():
            with contextlib.suppress(OSError), \
                    socket.create_connection(("127.0.0.1", center.port), timeout=WAIT,
                                             source_address=("127.0.0.2", 0)) as s, \
                    context.wrap_socket(s, server_hostname="127.0.0.1"):
                made.append(1)

    threads = [threading.Thread(target=flood, daemon=True) for _ in range(8)]
    for t in threads:
        t.start()
    try:
        wait_until(lambda: len(made) > 50, "handshakes", 30)
        for _ in range(100):
            assert center.ask("GET", "/readyz", over=kept)[0] == 200
            assert center.open_api("registry", REGISTRY, over=kept)["code"] == 200
        assert center.get("/readyz")[0] == 200  # one more gets in
    finally:
        over.set()
        for t in threads:
            t.join()
        kept.close()


# ---- a new certificate ----

def test_a_new_certificate_counts_for_new_connections_and_a_bad_one_for_none(tmp_path):
    with TlsCenter(tmp_path / "c") as center:
        kept, first = center.connect(), serial(center)
        (tmp_path / "new").mkdir()
        ca, cert, key = certificates(tmp_path / "new")
        shutil.copy(cert, center.cert)
        hang_up(center)  # the key is still the old one
        wait_until(lambda: "the certificate in use stays" in center.tail(), "the refusal in the log")
        assert "is not the key of the certificate" in center.tail()
        assert serial(center) == first
        shutil.copy(key, center.key)
        hang_up(center)
        wait_until(lambda: "new connections get the certificate" in center.tail(), "the change in the log")
        assert serial(center) != first
        assert center.ask("GET", "/readyz", over=kept)[0] == 200
        kept.close()
        center.ca = ca
        assert center.get("/readyz")[0] == 200
        pathlib.Path(center.cert).write_text("no certificate")
        hang_up(center)
        wait_until(lambda: center.tail().count("the certificate in use stays") == 2, "the refusal in the log")
        assert center.get("/readyz")[0] == 200


def test_settings_that_can_be_are_read_again(tmp_path):
    file = tmp_path / "server.properties"
    file.write_text("log.level=info\nlane.queue=10\n")
    with Center(tmp_path / "c", ["-c", str(file)]) as center:
        file.write_text("log.level=debug\nlog.format=json\nlane.queue=20\nzone=Asia/Tokyo\n")
        hang_up(center)
        wait_until(lambda: "need a restart" in center.tail(), "the answer in the log")
        lines = [json.loads(line) for line in center.tail().splitlines() if line.startswith("{")]
        said = " ".join(line["msg"] for line in lines)
        assert "changed: log.level, log.format" in said and "need a restart: zone, lane.queue" in said
        assert "; Secure" not in login_behind(center)
        folder = tmp_path / "backups"
        folder.mkdir()
        file.write_text(f"lane.queue=10\nhttp.proxies=127.0.0.1\nbackup.folder={folder}\nbackup.every=1s\n")
        hang_up(center)
        wait_until(lambda: "http.proxies" in center.tail(), "the answer in the log")
        assert "backup.folder, backup.every" in center.tail()
        assert "; Secure" in login_behind(center)
        wait_until(lambda: any(name.suffix == ".db" for name in folder.iterdir()), "a backup")
        assert center.metric("peal_backup_errors_total") == 0
        file.write_text("lane.queue=10\n")
        hang_up(center)
        wait_until(lambda: "peal_backup" not in center.get("/metrics")[2].decode(), "the end of backups")
        assert "; Secure" not in login_behind(center)
        file.write_text("log.level=loud\n")
        hang_up(center)
        wait_until(lambda: "no setting is changed" in center.tail(), "the refusal in the log")
        assert "log.level must be" in center.tail()
        assert center.get("/readyz")[0] == 200


# ---- certificates of executors ----

def test_executors_need_a_certificate_where_a_ca_is_named_and_people_do_not(tmp_path):
    for name in ("ours", "other"):
        (tmp_path / name).mkdir()
    ca, cert, key = certificates(tmp_path / "ours")
    _, other_cert, other_key = certificates(tmp_path / "other")
    with TlsCenter(tmp_path / "c", ["--tls.client-ca", str(ca)]) as center:
        refused = center.open_api("registry", REGISTRY)
        assert refused["code"] == 500 and "client certificate" in refused["msg"]
        refused = center.open_api("callback", [{"logId": 1, "handleMsg": "x" * 50000}])  # judged by its head
        assert refused["code"] == 500 and "client certificate" in refused["msg"]
        c = center.connect(center.context(cert=cert, key=key))
        assert center.open_api("registry", REGISTRY, over=c)["code"] == 200
        c.close()
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            center.open_api("registry", REGISTRY, over=center.connect(center.context(cert=other_cert, key=other_key)))
        assert "; Secure" in login(center)
        words = ["--tls.cert", center.cert, "--tls.key", center.key, "--tls.client-ca", str(ca)]
        assert subprocess.run([binary(), "health", "--listen", f"127.0.0.1:{center.port}", *words],
                              env=clean_environment(), capture_output=True, check=False).returncode == 0


# ---- settings ----

@pytest.mark.parametrize("args, says", [
    (["--tls.cert", "CERT"], "tls.cert needs tls.key"),
    (["--tls.key", "KEY"], "tls.key needs tls.cert"),
    (["--tls.client-ca", "CERT"], "tls.client-ca needs tls.cert"),
    (["--tls.cert", "/nowhere", "--tls.key", "KEY"], "tls.cert: /nowhere"),
    (["--tls.cert", "CERT", "--tls.key", "/nowhere"], "tls.key: /nowhere"),
    (["--tls.cert", "CERT", "--tls.key", "OTHER"], "is not the key of the certificate"),
    (["--tls.cert", "CERT", "--tls.key", "CERT"], "tls.key: "),
    (["--tls.cert", "CERT", "--tls.key", "LOCKED"], "tls.key: "),
    (["--tls.cert", "CERT", "--tls.key", "KEY", "--tls.client-ca", "KEY"], "tls.client-ca: "),
])
def test_bad_settings_are_named(tmp_path, args, says):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    _, cert, key = certificates(tmp_path / "one")
    _, _, other = certificates(tmp_path / "two")
    locked = tmp_path / "locked.pem"
    subprocess.run(["openssl", "pkey", "-in", str(key), "-aes256", "-passout", "pass:secret", "-out", str(locked)],
                   check=True, capture_output=True, timeout=WAIT)
    files = {"CERT": str(cert), "KEY": str(key), "OTHER": str(other), "LOCKED": str(locked)}
    done = subprocess.run([str(binary()), "server", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0",
                           *(files.get(a, a) for a in args)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=WAIT, check=False, env=clean_environment(PEAL_ACCESS_TOKEN="t" * 20))
    assert done.returncode == 2, done
    assert says in done.stderr
    assert not re.search("BEGIN|secret", done.stderr)


def test_the_doctor_finds_a_key_that_others_can_read(tmp_path):
    with TlsCenter(tmp_path / "c") as center:
        center.stop()
    for mode, found in ((0o600, False), (0o644, True)):
        os.chmod(center.key, mode)
        done = subprocess.run([str(binary()), "doctor", "-o", "json", "--listen", "0.0.0.0:1", "--data", str(center.data),
                               "--tls.cert", str(center.cert), "--tls.key", str(center.key)], capture_output=True,
                              text=True, timeout=WAIT, check=False, env=clean_environment())
        ids = [f["id"] for f in json.loads(done.stdout)["findings"]]
        assert ("tls.readable" in ids) == found, ids
        assert "listen.open" not in ids
