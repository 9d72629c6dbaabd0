#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the forecast of the next 24 hours costs.

    bench/forecast.py [--jobs 100000] [--rounds 30]

Fills a fresh database with JOBS scheduled jobs in 50 groups: half fire once a day, a third each hour, the others
every five minutes, on different seconds. Says how long the first pass takes after the start and how much CPU its
thread spends, what a request for the forecast and a preview take (median and worst of ROUNDS), how soon an edit is
seen, and by how much the center's memory grows.
"""
import argparse
import json
import os
import shutil
import sqlite3
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages  # noqa: E402
import run as bench  # noqa: E402

CONF = """CASE i % 6 WHEN 0 THEN '%1 0/5 * * * ?' WHEN 1 THEN '%1 %2 * * * ?' WHEN 2 THEN '%1 %2 * * * ?'
          ELSE '%1 %2 %3 * * ?' END""".replace("%1", "' || (i % 59) || '").replace("%2", "' || (i % 60) || '").replace(
              "%3", "' || (i % 24) || '")
JOBS = pages.NUMBERS + f"""
INSERT INTO xxl_job_info (job_group, job_desc, add_time, update_time, author, schedule_type, schedule_conf,
    misfire_strategy, executor_route_strategy, executor_handler, executor_param, executor_block_strategy, glue_type,
    glue_updatetime, trigger_status)
SELECT 1000 + i % ?2, 'branch ' || i, ?3, ?3, 'owner', 'CRON', {CONF}, 'DO_NOTHING', 'ROUND', 'h', '',
    'SERIAL_EXECUTION', 'BEAN', ?3, 1 FROM n"""


def fill(data, jobs):
    """Nothing is due for ten days: what is measured is the forecast alone."""
    now = int(time.time() * 1000)
    db = sqlite3.connect(os.path.join(data, "peal.db"), isolation_level=None)
    db.execute("BEGIN")
    db.executemany("INSERT INTO xxl_job_group (id, app_name, title, address_type) VALUES (?, ?, ?, 0)",
                   ((1000 + i, f"branch-app-{i}", f"Branches {i}") for i in range(pages.GROUPS)))
    db.execute(JOBS, (jobs, pages.GROUPS, now))
    db.execute("INSERT INTO peal_due (job_id, next_ms, last_ms, planned_until_ms, version) "
               "SELECT id, ?1, 0, 0, 1 FROM xxl_job_info", (now + 10 * pages.DAY_MS,))
    db.execute("COMMIT")
    db.close()


def timed(rounds, ask):
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        ask()
        times.append((time.perf_counter() - began) * 1000)
    return f"{statistics.median(times):.1f} ms, at most {max(times):.1f} ms"


def post(client, method, path, body, **headers):
    status, _, answer = client.ask(method, "/api/v1" + path, json.dumps(body),
                                   {"Cookie": client.cookies, "Content-Type": "application/json", **headers})
    assert status in (200, 201), (status, answer)
    return json.loads(answer)


def seen_after(client):
    """Milliseconds from the answer to an edit to the forecast that has it."""
    def total():
        return sum(client.page("/api/v1/forecast?group=1000")[1]["counts"])
    before = total()
    post(client, "POST", "/jobs", {"name": "new", "groupId": 1000, "start": True, "schedule": {
        "type": "CRON", "conf": "0 0/5 * * * ?"}, "task": {"kind": "BEAN", "handler": "h"}})
    began = time.perf_counter()
    while total() < before + 280:
        assert time.perf_counter() - began < 10
    return (time.perf_counter() - began) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    data = bench.fresh()
    fill(data, options.jobs)
    center = bench.Center(data)
    began, early_mb = time.monotonic(), center.rss_mb()
    try:
        client = pages.Client(center)
        while client.page("/api/v1/forecast?minutes=1")[1]["partial"]:
            time.sleep(0.05)
        print(f"{options.jobs} jobs: first pass {time.monotonic() - began:.1f} s, CPU of its thread "
              f"{center.thread_us('peal-forecast') / 1000:.0f} ms; memory {early_mb:.0f} MB, then {center.rss_mb():.0f} MB")
        said = client.page("/api/v1/forecast")[1]
        print(f"{sum(said['counts'])} firings in 24 hours, {said['peaks'][0]['count']} in the fullest second")
        print("GET /forecast:", timed(options.rounds, lambda: client.page("/api/v1/forecast")))
        print("GET /forecast of one group:", timed(options.rounds, lambda: client.page("/api/v1/forecast?group=1007")))
        schedule = {"type": "CRON", "conf": "0 0/5 * * * ?", "zone": "Europe/Berlin"}
        print("POST /schedules/preview, 10 firings, a year:", timed(options.rounds, lambda: post(
            client, "POST", "/schedules/preview", {"schedule": schedule, "count": 10, "days": 371})))
        print(f"an edit is seen after {seen_after(client):.0f} ms")
    finally:
        center.stop()
        shutil.rmtree(data)


if __name__ == "__main__":
    main()
