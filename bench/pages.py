#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users wait for when they read a large center that is at work.

    bench/pages.py [--jobs 1000000] [--rows 10000000] [--rate 5000] [--rounds 40] [--keep DIR]

Fills a fresh database: JOBS jobs in 50 groups (a thousandth fires once a minute, the rest at night), and ROWS log
rows of the last 20 days, 2 % of which failed. Then RATE jobs fire once a second while one client reads pages, each
kind ROUNDS times in turn. Beside the milliseconds of each page stand how late the firings were sent meanwhile, and
that none was lost. Retention is on, at 30 days: nothing is old enough to go.

--keep DIR: the filled database is made in DIR once, and copied for each run.
"""
import argparse
import http.client
import json
import os
import shutil
import sqlite3
import statistics
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run as bench  # noqa: E402

GROUPS = 50
DAY_MS = 86400000
SPAN_MS = 600000  # of peal_log_span: SQLITE_SPAN_MS
FIRST_PAGE_MS, DEEP_PAGE_MS = 50, 1000  # goals, p99
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1) "

JOBS = NUMBERS + """
INSERT INTO xxl_job_info (job_group, job_desc, add_time, update_time, author, schedule_type, schedule_conf,
    misfire_strategy, executor_route_strategy, executor_handler, executor_param, executor_block_strategy, glue_type,
    glue_updatetime, trigger_status)
SELECT 1000 + i % ?2, 'settle accounts of branch ' || i, ?3, ?3, 'owner-' || (i % 97), 'CRON',
    '0 ' || (i % 60) || ' 3 * * ?', 'DO_NOTHING', 'ROUND', 'settleHandler' || (i % 300), '', 'SERIAL_EXECUTION', 'BEAN',
    ?3, i % 10 <> 0 FROM n"""

# Ids and times rise together, as they do in a center's life. 60 % of the rows are those of 1 % of the jobs.
ROWS = NUMBERS + """
INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, executor_handler, executor_param,
    trigger_time, trigger_code, trigger_msg, handle_time, handle_code, handle_msg)
SELECT i + 1, 1000 + j % ?6, ?5 + j, 'http://10.0.' || (i % 4) || '.' || (i % 250) || ':9999/', 'settleHandler' || (j % 300),
    '', at, 200, '', at + 1500 + i % 3000, iif(i % 50 = 7, 500, 200), iif(i % 50 = 7, 'the branch is closed', '')
FROM (SELECT i, iif(i % 5 < 3, i % (?4 / 100), i % ?4) AS j, ?2 + i * ?3 / ?1 AS at FROM n)"""

SPANS = """
INSERT INTO peal_log_span (slot, first_id, last_id)
SELECT trigger_time / ?1, min(id), max(id) FROM xxl_job_log GROUP BY 1"""


def fill(data, jobs, rows):
    """The tables of a stopped center; ids of jobs begin at what this returns."""
    now = int(time.time() * 1000)
    db = sqlite3.connect(os.path.join(data, "peal.db"), isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    db.executemany("INSERT INTO xxl_job_group (id, app_name, title, address_type) VALUES (?, ?, ?, 0)",
                   ((1000 + i, f"branch-app-{i}", f"Branches {i}") for i in range(GROUPS)))
    first = db.execute("SELECT coalesce(max(id), 0) + 1 FROM xxl_job_info").fetchone()[0]
    db.execute(JOBS, (jobs, GROUPS, now))
    db.execute("INSERT INTO peal_due (job_id, next_ms, last_ms, planned_until_ms, version) "
               "SELECT id, iif(trigger_status = 1, ?1 + id * 20, NULL), iif(id % 10, ?2 - id * 7, 0), 0, 1 "
               "FROM xxl_job_info WHERE id >= ?3",
               (now + 10 * DAY_MS, now, first))
    db.execute(ROWS, (rows, now - 20 * DAY_MS, 20 * DAY_MS - 60000, jobs, first, GROUPS))
    db.execute(SPANS, (SPAN_MS,))
    db.execute("UPDATE peal_seq SET value = max(value, ?) WHERE name = 'log'", (rows,))
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return first


class Client:
    """One user's browser or script: a connection that stays, a session of each API."""

    def __init__(self, center):
        self.http = http.client.HTTPConnection("127.0.0.1", center.port, timeout=60)
        status, headers, _ = self.ask("POST", "/api/v1/session", json.dumps(
            {"name": "admin", "password": "bench-password"}), {"Content-Type": "application/json"})
        assert status == 200, status
        self.cookies = headers["Set-Cookie"].split(";")[0]
        status, headers, _ = self.ask("POST", "/auth/doLogin", urllib.parse.urlencode(
            {"userName": "admin", "password": "bench-password"}), {"Content-Type": "application/x-www-form-urlencoded"})
        self.cookies += "; " + headers["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None, headers=None):
        self.http.request(method, path, body, headers or {})
        answer = self.http.getresponse()
        return answer.status, answer.headers, answer.read()

    def page(self, path, form=None):
        """Milliseconds and the body of one page; without end and None for one that took the center too long."""
        headers = {"Cookie": self.cookies}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        began = time.perf_counter()
        status, _, body = self.ask("GET" if form is None else "POST", path,
                                   None if form is None else urllib.parse.urlencode(form), headers)
        took = (time.perf_counter() - began) * 1000
        if status == 503 or b"longer than a second" in body:
            return float("inf"), None
        if status != 200:
            sys.exit(f"{path}: {status} {body[:300]}")
        return took, json.loads(body)


def v1(path, **query):
    return "/api/v1" + path + "?" + urllib.parse.urlencode({"limit": 50, **query}), None


def form(path, **fields):
    return path, fields


def cases(job, rare, now):
    """Name, goal, request."""
    week = {"from": now - 7 * DAY_MS, "to": now}
    log = {"jobGroup": 0, "jobId": 0, "logStatus": -1, "filterTime": "", "offset": 0, "pagesize": 50}
    jobs = {"jobGroup": 0, "triggerStatus": -1, "jobDesc": "", "executorHandler": "", "author": "", "offset": 0,
            "pagesize": 50}
    day = time.strftime("%Y-%m-%d 00:00:00 - ", time.localtime(now / 1000 - 5 * 86400)) + \
        time.strftime("%Y-%m-%d 23:59:59", time.localtime(now / 1000 - 5 * 86400))
    return [
        ("v1 runs, newest", FIRST_PAGE_MS, v1("/runs")),
        ("v1 runs that failed", FIRST_PAGE_MS, v1("/runs", outcome="failed")),
        ("v1 runs of a job", FIRST_PAGE_MS, v1("/runs", job=job, **week)),
        ("v1 runs of a job with few", FIRST_PAGE_MS, v1("/runs", job=rare, **week)),
        ("v1 runs of a group", FIRST_PAGE_MS, v1("/runs", group=1007)),
        ("v1 runs, 500 pages on", FIRST_PAGE_MS, "walk"),
        ("v1 runs, words that no row has", DEEP_PAGE_MS, v1("/runs", q="nowhere", **week)),
        ("v1 jobs, newest", FIRST_PAGE_MS, v1("/jobs")),
        ("v1 jobs of a group", FIRST_PAGE_MS, v1("/jobs", group=1007)),
        ("v1 jobs by name", FIRST_PAGE_MS, v1("/jobs", sort="name")),
        ("v1 jobs by next", FIRST_PAGE_MS, v1("/jobs", sort="next")),
        ("v1 jobs by last", FIRST_PAGE_MS, v1("/jobs", sort="last")),
        ("v1 jobs by last, newest", FIRST_PAGE_MS, v1("/jobs", sort="-last")),
        ("v1 jobs, words", DEEP_PAGE_MS, v1("/jobs", q="branch 777777")),
        ("form log, first page", FIRST_PAGE_MS, form("/joblog/pageList", **log)),
        ("form log of a group", DEEP_PAGE_MS, form("/joblog/pageList", **{**log, "jobGroup": 1007})),
        ("form log of a job", DEEP_PAGE_MS, form("/joblog/pageList", **{**log, "jobGroup": 0, "jobId": job})),
        ("form log, failures", DEEP_PAGE_MS, form("/joblog/pageList", **{**log, "logStatus": 2})),
        ("form log of a day", DEEP_PAGE_MS, form("/joblog/pageList", **{**log, "filterTime": day})),
        ("form log, row 5,000 on", DEEP_PAGE_MS, form("/joblog/pageList", **{**log, "offset": 5000})),
        ("form log, row 1,000,000 on", DEEP_PAGE_MS, form("/joblog/pageList", **{**log, "offset": 1000000})),
        ("form jobs, first page", FIRST_PAGE_MS, form("/jobinfo/pageList", **jobs)),
        ("form jobs, words", DEEP_PAGE_MS, form("/jobinfo/pageList", **{**jobs, "jobDesc": "branch 777777"})),
        ("form jobs, row 500,000 on", DEEP_PAGE_MS, form("/jobinfo/pageList", **{**jobs, "offset": 500000})),
    ]


def walk(client, pages):
    """Follow `next` this often; the time of the last page."""
    path, cursor, took = v1("/runs")[0], None, 0
    for _ in range(pages):
        took, page = client.page(path + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else ""))
        cursor = page["page"]["next"]
        if not cursor:
            break
    return took


def measure(client, list_of_cases, rounds):
    times = {name: [] for name, _, _ in list_of_cases}
    for n in range(rounds):
        print(f"\rround {n + 1} of {rounds}", end="", file=sys.stderr, flush=True)
        for name, _, request in list_of_cases:
            if request == "walk":
                times[name].append(walk(client, 500 if n == 0 else 3))
            else:
                times[name].append(client.page(*request)[0])
    print(file=sys.stderr)
    return times


def prepared(options):
    """A data folder with its rows, and the first job's id."""
    kept = options.keep and os.path.join(options.keep, f"{options.jobs}-{options.rows}")
    data = bench.fresh()
    note = os.path.join(kept, "first") if kept else None
    if not note or not os.path.exists(note):
        began = time.monotonic()
        first = fill(data, options.jobs, options.rows)
        print(f"filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
        if kept:
            shutil.copytree(data, kept, dirs_exist_ok=True)
            with open(note, "w", encoding="utf-8") as f:
                f.write(str(first))
        return data, first
    shutil.copy(os.path.join(kept, "peal.db"), os.path.join(data, "peal.db"))
    with open(note, encoding="utf-8") as f:
        return data, int(f.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1000000)
    parser.add_argument("--rows", type=int, default=10000000)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    data, first = prepared(options)
    begin = (int(time.time()) + 15) * 1000
    bench.fill(data, bench.Bench(quick=False).rate_jobs(options.rate, begin))
    center = bench.Center(data)
    stub = bench.Stub(center, "batch", 8)
    try:
        bench.until(lambda: center.metrics().get("peal_executors", 0) >= 8, 30)
        while time.time() * 1000 < begin + 3000:
            time.sleep(0.05)
        m0 = center.metrics()
        client, now = Client(center), int(time.time() * 1000)
        listed = cases(first + 3, first + options.jobs - 10, now)
        times = measure(client, listed, options.rounds)
        m1 = center.metrics()
        report(listed, times, m0, m1, center, data)
    finally:
        center.stop()
        stub.stop()
        shutil.rmtree(data)


def report(listed, times, m0, m1, center, data):
    late = {k: v - m0.get(k, 0) for k, v in m1.items() if k.startswith("peal_lateness_seconds")}
    gone = sum(m1.get('peal_firings_total{outcome="%s"}' % outcome, 0) for outcome in ("rejected", "lost"))
    sent = m1['peal_firings_total{outcome="sent"}'] - m0['peal_firings_total{outcome="sent"}']
    print("| page | goal p99, ms | p50 | p99 | most |\n|---|---|---|---|---|")
    for name, goal, _ in listed:
        all_of = sorted(times[name])
        p99 = all_of[min(len(all_of) - 1, int(len(all_of) * 0.99))]
        print(f"| {name} | {goal} | {statistics.median(all_of):.1f} | {p99:.1f} | {all_of[-1]:.1f} |"
              + ("" if p99 <= goal else " missed"))
    print(f"\n{sent:.0f} firings sent meanwhile; lateness p50 {bench.quantile(late, 'peal_lateness_seconds', 0.5):.1f}, "
          f"p99 {bench.quantile(late, 'peal_lateness_seconds', 0.99):.1f} ms; rejected or lost "
          f"{gone:.0f}; "
          f"center {center.rss_mb():.0f} MB, database {os.path.getsize(os.path.join(data, 'peal.db')) / 1e9:.2f} GB, "
          f"start {center.start_ms:.0f} ms")


if __name__ == "__main__":
    main()
