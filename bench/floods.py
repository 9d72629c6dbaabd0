#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What many clients that mean no good, or too many that do, cost those who work: the same 1,000 firings a second, a
page five times a second, and beside them in turn

  nothing    the figures to compare with
  idle       10,000 connections that are kept alive and ask nothing more
  slow       500 clients that send a request at a byte a second
  bodies     8 clients that send results of 1 MB, one after another (with the token, of runs that nobody knows)
  beats      2,000 executors in 25 groups that all beat in the same second, each on a connection of its own

    bench/floods.py                        all cases, 20 s each, with build/release/peal
    bench/floods.py idle beats             some of them
    bench/floods.py --peal build/dev/peal  another binary

Printed for each: firings a second that began and ended, how late they began (p50, p99), how long the page took (p50, p99,
longest), the center's memory before and at its highest, and what the clients saw. The clients run in a process of their
own on the same cores.
"""
import argparse
import collections
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import resource
import selectors
import socket
import statistics
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

RATE, IDLE, SLOW, BODIES, EXECUTORS, GROUPS = 1000, 10000, 500, 8, 2000, 25
MB = 1 << 20


def request(path, body, token, more=""):
    return (f"POST {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n{more}"
            f"XXL-JOB-ACCESS-TOKEN: {token}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def connect(port, n):
    """From one of twenty addresses, as behind a few proxies."""
    return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(f"127.0.1.{1 + n % 20}", 0))


def idle(port, _token, seen, _until):
    """Each asks once, and stays."""
    sockets = []
    for n in range(IDLE):
        s = connect(port, n)
        s.sendall(b"GET /livez HTTP/1.1\r\nHost: bench\r\n\r\n")
        seen["answers"] += s.recv(4096).startswith(b"HTTP/1.1 200")
        sockets.append(s)
    time.sleep(max(0, _until - time.monotonic()))
    for s in sockets:
        s.setblocking(False)
        try:
            seen["closed by the center"] += s.recv(1) == b""
        except BlockingIOError:
            seen["still open"] += 1
        except ConnectionError:
            seen["closed by the center"] += 1


def slow(port, token, seen, until):
    data = request("/api/callback", b"[" + b" " * 2000 + b"]", token)
    sockets = {connect(port, n): 0 for n in range(SLOW)}
    seen["connections"] = SLOW
    while time.monotonic() < until:
        began = time.monotonic()
        for s, at in list(sockets.items()):
            try:
                s.send(data[at:at + 1])
                sockets[s] = at + 1
            except OSError:
                seen["closed by the center"] += 1
                del sockets[s]
                new = connect(port, seen["closed by the center"])
                sockets[new] = 0
        time.sleep(max(0, 1 - (time.monotonic() - began)))


def bodies(port, token, seen, until):
    result = {"logId": 1 << 50, "logDateTim": 1, "handleCode": 200, "handleMsg": "x" * 900}
    body = json.dumps([result] * (MB // len(json.dumps(result)))).encode()

    def client(n):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(f"127.0.1.{n + 1}", 0))
        while time.monotonic() < until:
            connection.request("POST", "/api/callback", body, {"XXL-JOB-ACCESS-TOKEN": token,
                                                              "Content-Type": "application/json"})
            seen[f"HTTP {connection.getresponse().read()[:11].decode()}"] += 1
    threads = [threading.Thread(target=client, args=(n,)) for n in range(BODIES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def beats(port, token, seen, until):
    """All 2,000 at once, every five seconds (thirty, in life), each on a new connection."""
    waiting = selectors.DefaultSelector()
    took = []
    while time.monotonic() < until:
        began = time.monotonic()
        for n in range(EXECUTORS):
            body = json.dumps({"registryGroup": "EXECUTOR", "registryKey": f"fleet-{n % GROUPS}",
                               "registryValue": f"http://127.2.{n // 250}.{n % 250 + 1}:9999/"}).encode()
            s = connect(port, n)
            s.sendall(request("/api/registry", body, token, "Connection: close\r\n"))
            s.setblocking(False)
            waiting.register(s, selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < began + 30:
            for key, _ in waiting.select(1):
                waiting.unregister(key.fileobj)
                answer = key.fileobj.recv(65536)
                seen["beats taken"] += b'"code":200' in answer
                seen["other answers"] += b'"code":200' not in answer
                key.fileobj.close()
        took.append(time.monotonic() - began)
        time.sleep(max(0, 5 - (time.monotonic() - began)))
    seen["longest round, ms"] = round(max(took) * 1000)


CASES = {"nothing": None, "idle": idle, "slow": slow, "bodies": bodies, "beats": beats}


def flood(name, port, token, seconds, queue):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    seen = collections.Counter()
    CASES[name](port, token, seen, time.monotonic() + seconds)
    queue.put(dict(seen))


def rss_mb(center):
    status = pathlib.Path(f"/proc/{center.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def samples(center):
    """/metrics as bench/run.py reads it, with each sample's whole name."""
    return {name + "{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "}": value
            for name, labels, value in center.metrics()}


def measure(center, v1, seconds):
    """Look at the center for so long: what it did, and how a user's page fared."""
    before, pages, memory = samples(center), [], [rss_mb(center)]
    begun = time.monotonic()
    while time.monotonic() < begun + seconds:
        at = time.monotonic()
        v1.get("/jobs?limit=20")
        pages.append((time.monotonic() - at) * 1000)
        memory.append(rss_mb(center))
        time.sleep(max(0, 0.2 - (time.monotonic() - at)))
    took, after = time.monotonic() - begun, samples(center)
    change = {key: value - before.get(key, 0) for key, value in after.items()}
    late = {key: value for key, value in change.items() if key.startswith("peal_lateness_seconds")}
    ended = change['peal_firings_total{outcome="finished"}'] / took
    sent = change['peal_firings_total{outcome="sent"}'] / took
    pages.sort()
    return (f"{sent:.0f} sent, {ended:.0f} ended a second; late p50 {run.quantile(late, 'peal_lateness_seconds', 0.5):.1f} "
            f"p99 {run.quantile(late, 'peal_lateness_seconds', 0.99):.1f} ms; page p50 {statistics.median(pages):.1f} "
            f"p99 {pages[len(pages) * 99 // 100]:.0f}, longest {pages[-1]:.0f} ms; "
            f"memory {memory[0]:.0f}, highest {max(memory):.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peal", default=str(ROOT / "build/release/peal"))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    args = parser.parse_args()
    for name in args.cases:
        if name not in CASES:
            parser.error(f"{name}: there are {', '.join(CASES)}")
    os.environ["PEAL_BIN"] = os.path.abspath(args.peal)
    global run
    import run
    from support import ledger
    from support.center import TOKEN, Center
    from support.stub import Stub
    from support.v1 import V1
    from support.wait import wait_until
    with tempfile.TemporaryDirectory(prefix="peal-bench-floods-") as folder:
        folder = pathlib.Path(folder)
        with Center(folder / "center") as center, Stub(folder, center, "--callbacks", "batch", app="bench"):
            group = center.api().add_group("bench")
            for n in range(GROUPS):
                center.api().add_group(f"fleet-{n}")
            center.stop()
            begin = (int(time.time()) + 3) * 1000
            ledger.add_jobs(center, group, [("stub", "", "FIX_RATE", "1000ms", "ROUND", begin + i * 1000 // RATE)
                                            for i in range(RATE)])
            center.start()
            wait_until(lambda: center.metric("peal_firings_total", outcome="finished") > 5 * RATE, "the load", 120)
            v1 = V1(center)
            for name in args.cases or CASES:
                seen, queue = {}, multiprocessing.Queue()
                if CASES[name]:
                    process = multiprocessing.Process(target=flood, args=(name, center.port, TOKEN, args.seconds, queue))
                    process.start()
                said = measure(center, v1, args.seconds)
                if CASES[name]:
                    seen = queue.get(timeout=120)
                    process.join()
                print(f"{name}: {said}; {', '.join(f'{key} {value}' for key, value in seen.items())}", flush=True)
            print(f"lost {center.metric('peal_firings_total', outcome='lost'):.0f}, "
                  f"unaccounted {center.metric('peal_firings_unaccounted'):.0f}")


if __name__ == "__main__":
    main()
