#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The center comes back after a power cut: how long until nothing is in doubt any more?

The state is written into the database of a stopped center, as the cut leaves it: 20,000 rows PLANNED
and due within the watermark, 80,000 ACCEPTED, on 50 addresses of stock executors (bench/stub: no memory of
log ids, idleBeat and log answered as Java answers them). Half of the planned ones had arrived. The
executors outlived the cut; they tell the results of all runs that they had once more 15 s after the
center is back (Java: every 30 s). Ten jobs of another group fire each second, 100 ms apart from each
other, on an executor of their own.

Settled is a run that is in doubt no more: finished, or known to be at work, or planned again and sent.
Printed: seconds until all of them are settled and finished, calls that it took, and the lateness of
the other jobs meanwhile; lost and doubled runs.

    bench/power_cut.py [--planned N] [--accepted N] [--addresses N] [--jobs N]
"""
import argparse
import json
import os
import shutil
import sqlite3
import sys
import time

import run

PHASES = {1: "planned", 2: "sent", 3: "unknown", 4: "accepted", 5: "lost"}


class Others(run.Process):
    """The executor of the undisturbed jobs."""

    def __init__(self, center, port):
        self.port = port
        super().__init__([run.STUB, "--center", center.url, "--token", run.TOKEN, "--app", "others", "--port",
                          str(self.port), "--callbacks", "single"], log=os.path.join(center.data, "others.log"))

    def stats(self):
        return json.loads(run.get(f"http://127.0.0.1:{self.port}/stub/stats"))


class Executors(run.Process):
    def __init__(self, center, port, addresses, had):
        self.port = port
        super().__init__([run.STUB, "--center", center.url, "--token", run.TOKEN, "--app", "bench", "--ports",
                          str(addresses), "--port", str(port), "--callbacks", "batch", "--connections",
                          str(addresses), "--had", f"1-{had}", "--late", "15"],
                         log=os.path.join(center.data, "stub.log"))

    def stats(self):
        return json.loads(run.get(f"http://127.0.0.1:{self.port}/stub/stats"))


def write_state(data, options, port):
    """What the disk holds after the cut. Ids: accepted ones, planned ones that had arrived, the others."""
    now = int(time.time() * 1000)
    address = [f"http://127.0.0.1:{port + i}/" for i in range(options.addresses)]
    n = options.accepted + options.planned
    db = sqlite3.connect(os.path.join(data, "peal.db"))
    with db:
        db.executemany("INSERT INTO xxl_job_group (id, app_name, title, address_type) VALUES (?, ?, ?, 0)",
                       [(900, "bench", "bench"), (901, "others", "others")])
        job = "INSERT INTO xxl_job_info (id, job_group, job_desc, add_time, update_time, author, schedule_type, " \
              "schedule_conf, misfire_strategy, executor_route_strategy, executor_handler, executor_param, " \
              "executor_block_strategy, glue_type, glue_updatetime, trigger_status) VALUES (?, ?, 'bench', ?, ?, " \
              "'bench', ?, ?, 'DO_NOTHING', 'ROUND', 'demoJobHandler', '', 'SERIAL_EXECUTION', 'BEAN', ?, ?)"
        db.executemany(job, ((1000 + i, 900, now, now, "NONE", "", now, 0) for i in range(options.jobs)))
        db.executemany(job, ((100 + i, 901, now, now, "FIX_RATE", "1", now, 1) for i in range(10)))
        due = "INSERT INTO peal_due (job_id, next_ms, last_ms, planned_until_ms, version) VALUES (?, ?, 0, 0, 1)"
        db.executemany(due, ((1000 + i, None) for i in range(options.jobs)))

        def rows():
            for i in range(n):
                accepted = i < options.accepted
                k = i if accepted else i - options.accepted
                scheduled = now - 20000 - (k // options.jobs) * 1000 if accepted else now + k * 2000 // options.planned
                yield i + 1, 1000 + i % options.jobs, scheduled, 4 if accepted else 1, address[i % options.addresses]
        db.executemany("INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, executor_handler, "
                       "executor_param, trigger_time, trigger_code, handle_code) VALUES (?, 900, ?, ?, "
                       "'demoJobHandler', '', ?, ?, 0)",
                       ((i, j, a, m - m % 1000, 200 if p == 4 else 0) for i, j, m, p, a in rows()))
        db.executemany("INSERT INTO peal_run (log_id, job_id, kind, moment_ms, shard, shard_total, attempt, cause, "
                       "phase, doubted, broadcast, retries_left, due_ms, version, node, epoch, address) VALUES "
                       "(?, ?, 0, ?, 0, 0, 0, 0, ?, 0, 0, 0, ?, 1, 1, 1, ?)",
                       ((i, j, m, p, m, a) for i, j, m, p, a in rows()))
        begin = (int(time.time()) + 4) * 1000
        db.executemany(due, ((100 + i, begin + i * 100) for i in range(10)))
        db.execute("UPDATE peal_seq SET value = ? WHERE name = 'log'", (n,))
        db.execute("UPDATE peal_epoch SET watermark_ms = ?, clean = 0, planned = ?, sent = ?",
                   (now + 2000, n, options.accepted))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, value in (("planned", 20000), ("accepted", 80000), ("addresses", 50), ("jobs", 10000)):
        parser.add_argument("--" + name, type=int, default=value)
    options = parser.parse_args()
    n = options.accepted + options.planned
    data = run.fresh()
    port = run.free_ports(options.addresses + 1)
    lost_cpu = run.spin(1)
    write_state(data, options, port)
    began = time.monotonic()
    center = run.Center(data)
    started = time.monotonic()
    others = Others(center, port + options.addresses)
    executors = Executors(center, port, options.addresses, options.accepted + options.planned // 2)
    settled = finished = None
    peak = 0
    while finished is None and time.monotonic() < started + 150:
        m = center.metrics()
        doubt, accepted = m['peal_queue_length{queue="in_doubt"}'], m['peal_queue_length{queue="accepted"}']
        peak = max(peak, doubt)
        done = m['peal_firings_total{outcome="finished"}'] + m['peal_firings_total{outcome="lost"}'] + \
            m['peal_firings_total{outcome="rejected"}'] + m['peal_firings_total{outcome="skipped"}']
        if settled is None and doubt == 0 and accepted <= 10:
            settled = time.monotonic() - started
        if done >= n and settled is not None:
            finished = time.monotonic() - started
        print(f"{time.monotonic() - started:6.1f} s  in doubt {doubt:.0f}, accepted {accepted:.0f}, ended {done:.0f}",
              file=sys.stderr, flush=True)
        time.sleep(0.5)
    m = center.metrics()
    while time.monotonic() < started + 40:  # the other jobs have their say
        time.sleep(0.2)
    cpu = center.cpu()
    stats, other = executors.stats(), others.stats()
    rss = center.rss_mb()
    center.stop()
    db = sqlite3.connect(os.path.join(data, "peal.db"))
    codes = dict(db.execute("SELECT handle_code, count(*) FROM xxl_job_log WHERE id <= ? GROUP BY 1", (n,)))
    total = run.totals(db)
    db.close()
    executors.stop()
    others.stop()
    result = {"start_s": round(started - began, 2), "in_doubt_at_most": peak, "settled_s": settled and round(settled, 1),
              "finished_s": finished and round(finished, 1), "codes": codes, "lost": total.get("lost", 0),
              "resent": total.get("resent", 0), "skipped": total.get("skipped", 0), "sent_again": stats["distinct"], "idle_beats": stats["idle_beats"], "logs": stats["logs"], "doubled": stats["doubled"],
              "had_and_sent_again": max(0, options.accepted + options.planned // 2 - stats["first_id"] + 1)
              if stats["runs"] else 0,
              "others_lateness_us": other["lateness_us"], "cpu_s": cpu, "rss_mb": round(rss),
              "spin_lost": max(lost_cpu, run.spin(1))}
    print(json.dumps(result, indent=1))
    shutil.rmtree(data)


if __name__ == "__main__":
    main()
