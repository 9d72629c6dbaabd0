#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What TLS costs a center: requests over kept connections and handshakes, plain HTTP beside it, in turn.

    bench/tls.py                                3 s each, three rounds
    bench/tls.py --peal build/dev/peal          another binary than build/release/peal

A client keeps 8 connections and sends 32 requests of /livez at once on each, so that Python is not what is measured.
CPU is that of the center's process, of all its threads (/proc), divided by what was answered; the rate is that of one
client on the same machine and means little on a shared one. The answer of /livez comes from the scheduler's loop, as
those to executors do.
"""
import argparse
import contextlib
import http.client
import os
import pathlib
import socket
import ssl
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CONNECTIONS, AT_ONCE = 8, 32
REQUESTS = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n" * AT_ONCE
TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def certificate(folder):
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=bench", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


class Center:
    def __init__(self, peal, folder, files=None):
        self.port, folder = free_port(), pathlib.Path(folder)
        folder.mkdir()
        self.context = None
        args = []
        if files:
            args = ["--tls.cert", str(files[0]), "--tls.key", str(files[1])]
            self.context = ssl.create_default_context(cafile=str(files[0]))
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen([peal, "server", "--listen", f"127.0.0.1:{self.port}", "--data",
                                             str(folder / "data"), "--recorder", "none", *args], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        for _ in range(2000):
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.ready():
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise SystemExit((folder / "log").read_text())

    def ready(self):
        with self.connect() as s:
            s.sendall(b"GET /readyz HTTP/1.0\r\nHost: a\r\n\r\n")
            return b" 200 " in s.recv(4096)

    def connect(self, session=None):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.context.wrap_socket(s, server_hostname="127.0.0.1", session=session) if self.context else s

    def cpu_s(self):
        """Of all its threads."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def read_answers(s, size):
    """Of all requests that were sent at once: they have the same length."""
    left = size * AT_ONCE
    while left > 0:
        piece = s.recv(65536)
        if not piece:
            raise SystemExit("the center has closed a connection")
        left -= len(piece)


def answer_size(center):
    with center.connect() as s:
        s.sendall(REQUESTS[:len(REQUESTS) // AT_ONCE])
        answer = s.recv(4096)
        if b" 200 " not in answer or not answer.endswith(b"ok\n"):
            raise SystemExit(f"not a whole answer: {answer!r}")
        return len(answer)


def requests(center, seconds):
    """(answered a second, CPU µs of the center for each)."""
    size = answer_size(center)
    sockets = [center.connect() for _ in range(CONNECTIONS)]
    answered, begun, cpu = 0, time.monotonic(), center.cpu_s()
    while time.monotonic() - begun < seconds:
        for s in sockets:
            s.sendall(REQUESTS)
        for s in sockets:
            read_answers(s, size)
            answered += AT_ONCE
    took, cpu = time.monotonic() - begun, center.cpu_s() - cpu
    for s in sockets:
        s.close()
    return answered / took, cpu * 1e6 / answered


def connections(center, seconds, resume=False):
    """Connections that ask for one thing: (a second, CPU µs of the center for each)."""
    made, session, begun, cpu = 0, None, time.monotonic(), center.cpu_s()
    while time.monotonic() - begun < seconds:
        with center.connect(session if resume else None) as s:
            s.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            while s.recv(4096):
                pass
            if resume:
                if session and not s.session_reused:
                    raise SystemExit("a session was not resumed")
                session = s.session
        made += 1
    took, cpu = time.monotonic() - begun, center.cpu_s() - cpu
    return made / took, cpu * 1e6 / made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peal", default=str(ROOT / "build" / "release" / "peal"))
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="peal-tls-") as folder:
        folder = pathlib.Path(folder)
        centers = {"http": Center(args.peal, folder / "http"), "https": Center(args.peal, folder / "https", certificate(folder))}
        rows = {}
        try:
            for _ in range(args.rounds):
                for name, center in centers.items():
                    rows.setdefault(f"{name}, request", []).append(requests(center, args.seconds))
                    rows.setdefault(f"{name}, new connection", []).append(connections(center, args.seconds))
                rows.setdefault("https, resumed", []).append(connections(centers["https"], args.seconds, resume=True))
        finally:
            for center in centers.values():
                center.stop()
    print(f"{'':24} {'a second':>10} {'CPU µs each':>12}   median of {args.rounds}")
    for name, found in sorted(rows.items()):
        print(f"{name:24} {statistics.median(f[0] for f in found):10,.0f} {statistics.median(f[1] for f in found):12.1f}")


if __name__ == "__main__":
    main()
