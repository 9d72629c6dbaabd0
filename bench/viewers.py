#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What those who look on cost those who fire: the same load without and with 2,000 viewers of /events and 100 viewers
of one log, in turn; and what the board costs a firing, which is all that the web loop does without them.

    bench/viewers.py                            5,000 firings a second, 10 s each, seven rounds
    bench/viewers.py --most 105                 fails if the scheduler's thread takes more than 105 % a firing

Each viewer's events are counted: their numbers follow on each other, or the viewer was told `reset`. The log is one of
an executor in this process, which counts how often it is asked.
"""
import argparse
import contextlib
import hashlib
import http.server
import json
import multiprocessing
import os
import re
import resource
import selectors
import socket
import sqlite3
import statistics
import sys
import threading
import time
import urllib.request

import run

USERS, EACH = 140, 16  # 16 streams are a user's
ID = re.compile(rb"id: \d+-(\d+)\nevent: (\w+)")


def secret(n):
    return f"{n:043d}"


def users(data):
    """Sessions for the viewers, written into the stopped center's tables, and a job whose run does not end."""
    with contextlib.closing(sqlite3.connect(os.path.join(data, "peal.db"))) as db, db:
        now = int(time.time() * 1000)
        for n in range(USERS):
            db.execute("INSERT INTO xxl_job_user (id, username, password, role) VALUES (?, ?, '', 1)",
                       (5000 + n, f"viewer{n}"))
            db.execute("INSERT INTO peal_session (digest, user_id, created_ms, expires_ms, address, used_ms) "
                       "VALUES (?, ?, ?, ?, '', ?)",
                       (hashlib.sha256(secret(n).encode()).hexdigest(), 5000 + n, now, now + 86400000, now))
        db.execute("INSERT INTO xxl_job_group (id, app_name, title, address_type) VALUES (901, 'tail', 'tail', 0)")
        db.execute("INSERT INTO xxl_job_info (id, job_group, job_desc, author, schedule_type, schedule_conf, "
                   "misfire_strategy, executor_route_strategy, executor_handler, executor_param, "
                   "executor_block_strategy, glue_type, trigger_status) VALUES (900000, 901, 'tail', 'b', 'NONE', '', "
                   "'DO_NOTHING', 'FIRST', 'h', '', 'SERIAL_EXECUTION', 'BEAN', 0)")
        db.execute("INSERT INTO peal_due (job_id, next_ms, last_ms, planned_until_ms, version) "
                   "VALUES (900000, 0, 0, 0, 1)")


class Tail:
    """An executor with one run, whose log grows by a line each 100 ms."""

    def __init__(self, center):
        tail = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "null")
                reply = json.dumps({"code": 200, "msg": None, **tail.answer(self.path, body)}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        self.asked, self.run, self.begun = 0, None, time.monotonic()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.post(center, "/api/registry", {"registryGroup": "EXECUTOR", "registryKey": "tail", "registryValue":
                                            f"http://127.0.0.1:{self.server.server_port}/"},
                  {"XXL-JOB-ACCESS-TOKEN": run.TOKEN})
        end = time.monotonic() + 20
        while not self.run and time.monotonic() < end:
            with contextlib.suppress(OSError):
                self.post(center, "/api/v1/jobs/900000/trigger", {}, {"Cookie": "peal_session=" + secret(0)})
            time.sleep(1)

    @staticmethod
    def post(center, path, body, headers):
        request = urllib.request.Request(center.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json", **headers})
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()

    def answer(self, path, body):
        if path == "/run":
            self.run = self.run or body["logId"]
        if path != "/log":
            return {"content": None}
        self.asked += body["fromLineNum"] > 1 or body["logId"] == self.run
        n, begin = int((time.monotonic() - self.begun) * 10), body["fromLineNum"]
        page = {"fromLineNum": begin, "toLineNum": max(n, begin - 1), "isEnd": False,
                "logContent": "".join(f"line {i}\n" for i in range(begin, n + 1))}
        return {"content": page, "data": page}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def watch(port, viewers, tails, log, pipe):
    """The clients, in a process of their own: reads everything, counts, tells at the end."""
    selector, found = selectors.EpollSelector(), []
    for n in range(viewers + tails):
        s = socket.create_connection(("127.0.0.1", port))
        path = "/api/v1/events?topics=run" if n < viewers else f"/api/v1/runs/{log}/log/stream"
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n"
                  f"Cookie: peal_session={secret(n // EACH)}\r\n\r\n".encode())
        s.setblocking(False)
        found.append({"last": 0, "gaps": 0, "resets": 0, "events": 0, "bytes": 0, "lines": 0, "ok": False})
        selector.register(s, selectors.EVENT_READ, found[-1])
    pipe.send("open")
    while not pipe.poll():
        for key, _ in selector.select(0.2):
            try:
                data = key.fileobj.recv(262144)
            except OSError:
                continue
            if not data:
                selector.unregister(key.fileobj)
                continue
            v = key.data
            v["ok"] |= b" 200 OK" in data[:20]
            v["bytes"] += len(data)
            v["lines"] += data.count(b"event: lines")
            for number, name in ID.findall(data):
                if name == b"reset":
                    v["resets"] += 1
                elif v["last"] and int(number) != v["last"] + 1:
                    v["gaps"] += 1
                v["last"], v["events"] = int(number), v["events"] + 1
    pipe.send(found)


class Beside:
    """The viewers of one measurement."""

    def __init__(self, viewers, tails):
        self.viewers, self.tails, self.result = viewers, tails, {}

    @contextlib.contextmanager
    def __call__(self, center):
        if not self.viewers:
            yield
            return
        tail = Tail(center)
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=watch,
                                          args=(center.port, self.viewers, self.tails, tail.run, theirs))
        process.start()
        ours.recv()
        time.sleep(1)
        asked, begun = tail.asked, time.monotonic()
        yield
        seconds, asked = time.monotonic() - begun, tail.asked - asked
        ours.send("end")
        found = ours.recv()
        process.join()
        tail.close()
        events, logs = found[:self.viewers], found[self.viewers:]
        self.result = {"open": sum(v["ok"] for v in found), "gaps": sum(v["gaps"] for v in events),
                       "resets": sum(v["resets"] for v in events),
                       "events": statistics.median(v["events"] for v in events) / seconds,
                       "asked": asked / seconds, "lines": min(v["lines"] for v in logs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=5000, help="firings a second")
    parser.add_argument("--seconds", type=int, default=10, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--viewers", type=int, default=2000)
    parser.add_argument("--tails", type=int, default=100)
    parser.add_argument("--most", type=float, help="percent of the cost without viewers that a firing may have")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.environ["PEAL_STREAMS_MAX"] = str(options.viewers + options.tails)  # of the center
    bench, found = run.Bench(quick=True), ([], [])
    for i in range(options.rounds):
        for which, n in enumerate((0, options.viewers)):
            beside = Beside(n, options.tails)
            r = bench.load(options.rate, options.seconds, "single", 8, prepare=users, beside=beside)
            found[which].append(r)
            print(f"round {i + 1}  {('without', 'with   ')[which]}  "
                  f"loop {r['loop_us']:6.2f} us  web {r['web_us']:6.2f} us  all {r['cpu_us']:6.2f} us  p99 {r['p99']:6.2f} ms  rss {r['rss']:5.0f} MB  {r['done_rate']:6.0f}/s  lost {r['lost']}  "
                  f"unaccounted {r['unaccounted']}  spin lost {r['spin'] * 100:.0f} %  {beside.result or ''}", flush=True)
            if r["lost"] or r["unaccounted"]:
                sys.exit("firings were lost: not a measurement")
    loop = [statistics.median(r["loop_us"] for r in side) for side in found]
    web = [statistics.median(r["web_us"] for r in side) for side in found]
    p99 = [statistics.median(r["p99"] for r in side) for side in found]
    percent = loop[1] / loop[0] * 100
    print(f"median: scheduler's thread {loop[0]:.2f} us without, {loop[1]:.2f} us with: {percent:.1f} %; "
          f"web loop's {web[0]:.2f} us (all of it the board's and its feed's) and {web[1]:.2f} us; "
          f"p99 {p99[0]:.2f} and {p99[1]:.2f} ms")
    if options.most and percent > options.most:
        sys.exit(f"more than {options.most} %")


if __name__ == "__main__":
    main()
