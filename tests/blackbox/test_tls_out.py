# SPDX-License-Identifier: Apache-2.0
"""Calls to https addresses: of a center to executors, and of an executor to centers. Which certificates are taken,
and what is said of those that are not."""

import contextlib
import http.server
import json
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading

import pytest
from support import ledger
from support.center import Center, binary, clean_environment
from support.executor import Executor
from support.mailserver import certificates
from support.tls_center import WAIT, TlsCenter
from support.wait import wait_until


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """(ca, certificate, key) for 127.0.0.1 and localhost."""
    return certificates(tmp_path_factory.mktemp("files"))


def offers_a_session(hello):
    """Has this ClientHello the extension pre_shared_key of TLS 1.3 (RFC 8446, 4.1.2)?"""
    at = 5 + 4 + 2 + 32                                # record, handshake, version, random
    at += 1 + hello[at]                                # session id
    at += 2 + int.from_bytes(hello[at:at + 2], "big")  # cipher suites
    at += 1 + hello[at] + 2                            # compression methods, size of the extensions
    while at < len(hello):
        kind, size = struct.unpack_from("!HH", hello, at)
        if kind == 41:
            return True
        at += 4 + size
    return False


class NeverResumes(http.server.ThreadingHTTPServer):
    """Gives sessions like any server, but ends each connection that offers one: with these bytes, then closed."""

    says, context, ended = b"", None, 0

    def get_request(self):
        connection, peer = super().get_request()
        start = connection.recv(5, socket.MSG_PEEK | socket.MSG_WAITALL)
        size = 5 + int.from_bytes(start[3:5], "big")
        hello = connection.recv(size, socket.MSG_PEEK | socket.MSG_WAITALL)
        if len(hello) == size and offers_a_session(hello):
            self.ended += 1
            connection.recv(size, socket.MSG_WAITALL)  # what is unread makes a reset of the close
            connection.sendall(self.says)
            connection.close()
            raise ConnectionAbortedError
        return self.context.wrap_socket(connection, server_side=True), peer


class HttpsExecutor:
    """Says yes to everything, over TLS."""

    def __init__(self, files, host="127.0.0.1", version=ssl.TLSVersion.TLSv1_3, port=0, ends_with=None):
        self.runs, self.resumed, self.close_each = [], [], False
        _, cert, key = files
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.maximum_version = version
        context.load_cert_chain(cert, key)
        listener = http.server.ThreadingHTTPServer if ends_with is None else NeverResumes
        self._server = listener((host, port), self._handler())
        self._server.daemon_threads = True
        if ends_with is None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        else:
            self._server.says, self._server.context = ends_with, context
        self.port = self._server.server_port

    def _handler(self):
        executor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                executor.resumed.append(self.connection.session_reused)

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/run":
                    executor.runs.append(json.loads(body))
                reply = b'{"code":200,"msg":null}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                if executor.close_each:
                    self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(reply)

        return Handler

    @property
    def ended(self):
        """Connections that offered a session, of one that ends those."""
        return self._server.ended

    def __enter__(self):
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def _serve(self):
        with contextlib.suppress(OSError):
            self._server.serve_forever()

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def run_at(center, address, times=1):
    """The rows of the log, of runs at that address: [(code, what was said)]."""
    api = center.api()
    group = api.add_group(f"group-{address[-6:-1].replace(':', '')}-{len(api.groups())}", addresses=[address])
    job = api.add_job(group, "demo")
    for i in range(times):
        api.trigger(job)
        wait_until(lambda n=i + 1: len(dispatched(center, job)) == n, "the run's dispatch")
    return [(row["trigger_code"], row["trigger_msg"]) for row in dispatched(center, job)]


def dispatched(center, job):
    return ledger.rows(center, "SELECT trigger_code, trigger_msg FROM xxl_job_log WHERE job_id = ? AND "
                               "trigger_code <> 0", job)


def test_an_executor_of_that_ca_is_called(tmp_path, files):
    with HttpsExecutor(files) as executor, Center(tmp_path / "c", ["--executor.ca", str(files[0])]) as center:
        assert [code for code, _ in run_at(center, f"https://127.0.0.1:{executor.port}/", 3)] == [200] * 3
        assert len(executor.runs) == 3
        assert [code for code, _ in run_at(center, f"https://localhost:{executor.port}/")] == [200]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_next_connection_to_an_executor_resumes_its_session(tmp_path, files, version):
    """A whole handshake costs the center half a millisecond, and the executor as much."""
    with HttpsExecutor(files, version=version) as executor, \
            Center(tmp_path / "c", ["--executor.ca", str(files[0])]) as center:
        executor.close_each = True
        assert [code for code, _ in run_at(center, f"https://127.0.0.1:{executor.port}/", 4)] == [200] * 4
        assert executor.resumed == [False, True, True, True]


def test_an_executor_that_has_forgotten_its_sessions_is_called(tmp_path, files):
    """It was started again, on the same port with other keys."""
    with Center(tmp_path / "c", ["--executor.ca", str(files[0])]) as center:
        with HttpsExecutor(files) as executor:
            executor.close_each = True
            port = executor.port
            assert [code for code, _ in run_at(center, f"https://127.0.0.1:{port}/", 2)] == [200] * 2
        with HttpsExecutor(files, port=port) as executor:
            executor.close_each = True
            assert [code for code, _ in run_at(center, f"https://127.0.0.1:{port}/", 2)] == [200] * 2
            assert executor.resumed == [False, True]


@pytest.mark.parametrize("ends_with", [bytes.fromhex("15030300020228"), b""], ids=["alert", "closed"])
def test_an_executor_that_refuses_sessions_is_called(tmp_path, files, ends_with):
    """It should make a whole handshake instead (RFC 8446, 4.2.11), but some servers end the connection: no run fails
    by that, and none is sent twice."""
    with HttpsExecutor(files, ends_with=ends_with) as executor, \
            Center(tmp_path / "c", ["--executor.ca", str(files[0])]) as center:
        executor.close_each = True
        assert [code for code, _ in run_at(center, f"https://127.0.0.1:{executor.port}/", 4)] == [200] * 4
        assert len({run["logId"] for run in executor.runs}) == len(executor.runs) == 4
        assert executor.ended > 0 and not any(executor.resumed)


@pytest.mark.parametrize("args", [[], ["--executor.ca", "OTHER"]])
def test_an_untrusted_certificate_is_said_on_the_run(tmp_path, files, args):
    (tmp_path / "other").mkdir()
    other = certificates(tmp_path / "other")[0]
    args = [str(other) if a == "OTHER" else a for a in args]
    with HttpsExecutor(files) as executor, Center(tmp_path / "c", args) as center:
        (code, said), = run_at(center, f"https://127.0.0.1:{executor.port}/")
        assert code == 500
        assert "the certificate is not trusted: " in said and "executor.ca" in said
        assert not executor.runs


def read_again(center, said):
    """SIGHUP, and wait for the line that the log says then."""
    before = center.output.read_text().count(said)
    center.process.send_signal(signal.SIGHUP)
    wait_until(lambda: center.output.read_text().count(said) > before, "the certificates to be read again")


def test_a_new_ca_counts_at_sighup(tmp_path, files):
    """The file is read again, though the setting is the same; what was trusted before is not trusted by a session."""
    (tmp_path / "other").mkdir()
    other = certificates(tmp_path / "other")[0]
    ca = tmp_path / "ca.pem"
    counts = "new connections to executors are checked with"
    shutil.copy(other, ca)
    with HttpsExecutor(files) as executor, Center(tmp_path / "c", ["--executor.ca", str(ca)]) as center:
        executor.close_each = True
        address = f"https://127.0.0.1:{executor.port}/"
        assert [code for code, _ in run_at(center, address)] == [500]
        shutil.copy(files[0], ca)
        read_again(center, counts)
        assert [code for code, _ in run_at(center, address, 2)] == [200] * 2
        assert executor.resumed[-1]
        ca.write_text("no certificate")
        read_again(center, "executors are checked as before: executor.ca: ")
        assert [code for code, _ in run_at(center, address)] == [200]
        shutil.copy(other, ca)
        read_again(center, counts)
        (code, said), = run_at(center, address)
        assert code == 500 and "the certificate is not trusted: " in said
        assert len(executor.runs) == 3


def test_a_certificate_for_another_address_is_not_taken(tmp_path, files):
    with HttpsExecutor(files, "127.0.0.2") as executor, \
            Center(tmp_path / "c", ["--executor.ca", str(files[0])]) as center:
        (code, said), = run_at(center, f"https://127.0.0.2:{executor.port}/")
        assert code == 500 and "IP address mismatch" in said and not executor.runs


def test_any_takes_all(tmp_path, files):
    with HttpsExecutor(files) as executor, Center(tmp_path / "c", ["--executor.ca", "any"]) as center:
        assert [code for code, _ in run_at(center, f"https://127.0.0.1:{executor.port}/")] == [200]


def test_a_file_that_is_no_certificate_is_named(tmp_path, files):
    for command, setting in ((["server", "--data", str(tmp_path / "d"), "--listen", "127.0.0.1:0", "--executor.ca"],
                              "executor.ca"),
                             (["executor", "--centers", "https://127.0.0.1:9/", "--app", "tests", "--port", "0",
                               "--peal.executor.centers.ca"], "peal.executor.centers.ca")):
        for file in ("/nowhere", str(files[2])):
            done = subprocess.run([str(binary()), *command, file], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=WAIT, check=False, cwd=tmp_path,
                                  env=clean_environment(PEAL_ACCESS_TOKEN="t" * 20))
            assert done.returncode != 0 and f"{setting}: {file}: " in done.stderr, done


# ---- a word from a shell ----

def test_a_word_to_an_executor_checks_its_certificate_too(tmp_path, files):
    (tmp_path / "other").mkdir()
    other = str(certificates(tmp_path / "other")[0])

    def ask(*args):
        done = subprocess.run([str(binary()), "executor", "status", "--url", f"https://127.0.0.1:{executor.port}/", *args],
                              capture_output=True, text=True, timeout=WAIT, check=False,
                              env=clean_environment(PEAL_ACCESS_TOKEN="t" * 20))
        return done.returncode, done.stderr
    with HttpsExecutor(files) as executor:
        for args in ([], ["--ca", other]):
            status, said = ask(*args)
            assert status == 3 and "the certificate is not trusted: " in said and "--ca" in said
        for args in (["--ca", str(files[0])], ["--insecure"]):
            status, said = ask(*args)
            assert status == 3 and "the answer is not an executor's" in said
        status, said = ask("--ca", "/nowhere")
        assert status == 2 and "--ca: /nowhere" in said
        status, said = ask("--ca", other, "--insecure")
        assert status == 2 and "exclude each other" in said


# ---- the executor's side ----

def executors(center):
    """What the center knows of them, as text."""
    status, headers, body = center.ask("POST", "/api/v1/session", json.dumps({"name": "admin", "password": center.password}),
                                       {"Content-Type": "application/json"})
    assert status == 200, body
    status, _, body = center.ask("GET", "/api/v1/executors", headers={"Cookie": headers["Set-Cookie"].split(";")[0]})
    assert status == 200, body
    return body.decode()


def test_an_executor_registers_with_a_center_over_tls(tmp_path, files):
    ca, cert, key = files
    with TlsCenter(tmp_path / "c", ["--tls.client-ca", str(ca)]) as center:
        ours = ["--peal.executor.centers.ca", str(center.ca)]
        shown = ["--peal.executor.centers.cert", str(cert), "--peal.executor.centers.key", str(key)]
        with Executor(tmp_path / "untrusting", center.url) as executor:
            wait_until(lambda: "certificate is not trusted" in executor.said(), "the executor to say why")
            assert "peal.executor.centers.ca" in executor.said()
        with Executor(tmp_path / "bare", center.url, ours) as executor:
            wait_until(lambda: "no client certificate" in center.tail(), "the refusal")
        with Executor(tmp_path / "full", center.url, [*ours, *shown]) as executor:
            wait_until(lambda: executor.address in executors(center), "the registration", 30, 0.5)


@pytest.mark.parametrize("args, says", [
    (["--peal.executor.centers.cert", "/nowhere"], "one needs the other"),
    (["--peal.executor.centers.cert", "/nowhere", "--peal.executor.centers.key", "/nowhere"],
     "peal.executor.centers.cert: /nowhere"),
])
def test_bad_certificates_of_an_executor_are_named(tmp_path, args, says):
    done = subprocess.run([str(binary()), "executor", "--centers", "https://127.0.0.1:9/", "--app", "tests", "--port", "0",
                           *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT, check=False,
                          cwd=tmp_path, env=clean_environment(PEAL_ACCESS_TOKEN="t" * 20))
    assert done.returncode != 0 and says in done.stderr, done
