#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make soak: an hour under load, with the center killed every five minutes.

A center on an empty SQLite database fires 5,000 per-second jobs at the stub executor (one thread, no log
files, on the same cores). Every five minutes it gets kill -9 and is started again on the same data. At the
end the tables must account for every firing, the stub must have run each log id exactly once, and the
center's memory must not have grown by more than 5 % between equal points: so many minutes after the second
start and after the last one (the first has an empty database below it: its page cache is still filling).
Anything else is a defect, and the exit status is 1.

With --retention the log has three days of history behind it, of which as many rows grow too old each second as
are added, and 25 minutes before that, which the first walk takes. Rows go by whole slots of ten minutes of
peal_log_span, so these are the room that the file breathes in: it must not grow either, between the same points,
and at the end no row may be older than three days and 15 minutes.

    bench/soak.py                      an hour
    bench/soak.py --minutes 6 --rate 1000
    bench/soak.py --rate 2000 --retention

Results are in build/soak/DATE/: the center's log, the database, the stub's figures. It needs about 200 bytes
of disk a firing: 4 GB for the hour. SIGINT ends it early and judges what there is.
"""
import argparse
import collections
import json
import os
import shutil
import sqlite3
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__))))

import run as bench  # noqa: E402 (beside this file)

KILL_EVERY_S = 300
GROWTH_PERCENT = 5
DAYS = 3            # of history
OLD_JOB = 10 ** 9   # whose runs these are: the job is gone
BEYOND_S = 25 * 60  # of history that is too old at the start
LATE_S = 15 * 60    # that a row may stay too long: a slot, a minute until the walk begins, the walk, a restart
SLOT_MS = 600_000   # of peal_log_span
ENDS = ("finished", "rejected", "lost", "skipped", "withdrawn")
OPEN = "(1, 2, 3, 4)"


class Progress:
    """A bar on a terminal, else a line a minute."""

    def __init__(self, seconds):
        self.seconds, self.began, self.said = seconds, time.monotonic(), 0.0
        self.bar = sys.stdout.isatty()

    def show(self, text):
        now = time.monotonic() - self.began
        part = min(1.0, now / self.seconds)
        if self.bar:
            full = round(part * 30)
            line = f"[{'#' * full}{'.' * (30 - full)}] {part * 100:3.0f} %  {text}"
            print("\r" + line[:shutil.get_terminal_size().columns - 1].ljust(1) + "\033[K", end="", flush=True)
        elif now - self.said >= 60:
            self.said = now
            print(f"{now / 60:5.1f} min  {text}", flush=True)

    def event(self, text):
        clear = "\r\033[K" if self.bar else ""
        print(f"{clear}{(time.monotonic() - self.began) / 60:5.1f} min  {text}", flush=True)


class Soak:
    def __init__(self, folder, rate, minutes, retention):
        self.rate, self.seconds, self.retention = rate, minutes * 60, retention
        self.folder = folder
        self.kills = 0
        self.faults = []
        self.memory = []  # MB at equal points: so many seconds after each start
        self.files = []   # MB of the database, at the same points
        self.progress = None

    # -- the center --

    def start(self, port=None):
        """Start the center, on its first port again: the stub knows it by that."""
        if port:
            bench.free_port, kept = lambda: port, bench.free_port
            try:
                return bench.Center(self.folder)
            finally:
                bench.free_port = kept
        return bench.Center(self.folder)

    def prepare(self):
        bench.Center(self.folder).stop()
        if self.retention:
            os.environ["PEAL_LOG_RETENTION_DAYS"] = str(DAYS)
            self.grow_old()
        begin = int(time.time() * 1000) + 6000
        jobs = [("FIX_RATE", "1000ms", "ROUND", begin + i * 1000 // self.rate) for i in range(self.rate)]
        bench.fill(self.folder, jobs)

    def grow_old(self):
        """Rows of a past of which each second of the run ends what a second of it adds."""
        begin = int(time.time() * 1000) - DAYS * 86_400_000 - BEYOND_S * 1000
        rows = int((BEYOND_S + self.seconds) * self.rate)
        db = sqlite3.connect(os.path.join(self.folder, "peal.db"))
        with db:
            first = db.execute("SELECT value FROM peal_seq WHERE name = 'log'").fetchone()[0] + 1
            db.execute(
                "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) "
                "INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, executor_handler, trigger_time, "
                "trigger_code, handle_time, handle_code) SELECT ? + i, 900, ?, 'http://127.0.0.1:9999/', "
                "'demoJobHandler', ? + i * 1000 / ?, 200, ? + i * 1000 / ? + 20, 200 FROM n",
                (rows, first, OLD_JOB, begin, self.rate, begin, self.rate))
            db.execute("INSERT INTO peal_log_span (slot, first_id, last_id) SELECT trigger_time / ?, min(id), max(id) "
                       "FROM xxl_job_log WHERE job_id = ? GROUP BY 1", (SLOT_MS, OLD_JOB))
            db.execute("UPDATE peal_seq SET value = ? WHERE name = 'log'", (first + rows,))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()

    def file_mb(self):
        return sum(os.path.getsize(path) for name in ("peal.db", "peal.db-wal")
                   if os.path.exists(path := os.path.join(self.folder, name))) / 1e6

    def kill(self, center):
        center.p.kill()
        center.p.wait()
        self.kills += 1
        return self.start(center.port)

    # -- watching --

    def state(self, center, stub):
        m, s = center.metrics(), stub.stats()
        unaccounted = m["peal_firings_unaccounted"]
        if unaccounted:
            self.fault(f"unaccounted is {unaccounted:.0f}")
        if s["doubled"]:
            self.fault(f"{s['doubled']} log ids ran twice")
        finished = m['peal_firings_total{outcome="finished"}']
        doubt = m.get('peal_queue_length{queue="in_doubt"}', 0)
        return (f"{finished:,.0f} finished, unaccounted {unaccounted:.0f}, "
                f"doubled {s['doubled']}, in doubt {doubt:.0f}, {center.rss_mb():.1f} MB, file {self.file_mb():.0f} MB, {self.kills} kills")

    def fault(self, text):
        if text not in self.faults:
            self.faults.append(text)
            self.progress.event("FAULT: " + text)

    def watch(self, center, stub, measure_after, until):
        """Follow one life of the center; True unless it ended by itself."""
        started, measured = time.monotonic(), False
        while time.monotonic() < until:
            if center.p.poll() is not None:
                self.fault(f"the center ended by itself with {center.p.returncode}")
                return False
            try:
                self.progress.show(self.state(center, stub))
            except OSError as away:
                self.fault(f"the center does not answer: {away}")
            if not measured and time.monotonic() - started >= measure_after:
                measured = True
                self.memory.append(center.rss_mb())
                self.files.append(self.file_mb())
            time.sleep(1)
        return True

    def run(self):
        self.prepare()
        center = self.start()
        stub = bench.Stub(center, "batch", 4)
        if not bench.until(lambda: center.metrics().get("peal_executors", 0) >= 4, 20):
            sys.exit("the stub did not register: " + center.data)
        self.progress = Progress(self.seconds)
        end = time.monotonic() + self.seconds
        every = min(KILL_EVERY_S, max(60, self.seconds / 3))
        alive = True
        try:
            while alive and time.monotonic() < end:
                until = min(end, time.monotonic() + every)
                alive = self.watch(center, stub, every * 0.8, until)
                if alive and end - time.monotonic() > 30:
                    center = self.kill(center)
                    self.progress.event("killed the center and started it again")
        except KeyboardInterrupt:
            self.progress.event("interrupted: judging what there is")
        if alive:
            self.finish(center, stub)
        stub.stop()
        return self.judge()

    # -- the end --

    def finish(self, center, stub):
        """No new scheduled times, then wait until the last run has ended."""
        doubt = 'peal_queue_length{queue="in_doubt"}'
        bench.until(lambda: center.metrics().get(doubt, 0) == 0, 120)
        center.stop()
        db = sqlite3.connect(os.path.join(self.folder, "peal.db"))
        with db:
            db.execute("UPDATE xxl_job_info SET trigger_status = 0")
            db.execute("UPDATE peal_due SET next_ms = NULL")
        db.close()
        center = self.start(center.port)

        def ended():
            m = center.metrics()
            return all(m.get(f'peal_queue_length{{queue="{q}"}}', 0) == 0
                       for q in ("planned", "lanes", "in_flight", "in_doubt", "accepted", "writer"))
        if not bench.until(ended, 180):
            self.fault("runs were still open three minutes after the last scheduled time")
        self.ids = self.count_ids(stub)
        self.stats = stub.stats()
        center.stop()

    @staticmethod
    def count_ids(stub):
        """How often each id from the first on was run: a byte each."""
        with urllib.request.urlopen(f"http://127.0.0.1:{stub.port}/stub/ids", timeout=120) as reply:
            return reply.read()

    def judge(self):
        db = sqlite3.connect(os.path.join(self.folder, "peal.db"))
        total = collections.Counter(bench.totals(db))
        total["lost"] -= total["found"]  # what stays lost: the others have finished too
        live = db.execute(f"SELECT count(*) FROM peal_run WHERE phase IN {OPEN}").fetchone()[0]
        unaccounted = total["planned"] - sum(total[name] for name in ENDS) - live
        if unaccounted:
            self.fault(f"unaccounted is {unaccounted} at the end")
        for name in ("lost", "rejected", "skipped", "withdrawn", "resent"):
            if total[name]:
                self.fault(f"{total[name]} runs {name}")
        self.judge_ids(db)
        self.judge_times(db)
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            self.fault("the database is damaged")
        db.close()
        growth = self.growth("memory", self.memory)
        if self.retention:
            self.growth("the database", self.files)
            self.judge_old(db_path=os.path.join(self.folder, "peal.db"))
        figures = {"minutes": self.seconds / 60, "rate": self.rate, "kills": self.kills, **total,
                   "unaccounted": unaccounted, "doubled": getattr(self, "stats", {}).get("doubled"),
                   "memory_mb": [round(m, 1) for m in self.memory], "growth_percent": growth, "file_mb": [round(m, 1) for m in self.files], "faults": self.faults}
        with open(os.path.join(self.folder, "figures.json"), "w") as f:
            json.dump(figures, f, indent=1)
        print(json.dumps(figures, indent=1))
        print("soak: " + (f"{len(self.faults)} faults" if self.faults else
                          f"{total['finished']:,} firings, {self.kills} kills: unaccounted 0, lost 0, doubled 0")
              + f"; {self.folder}")
        return 1 if self.faults else 0

    def judge_times(self, db):
        """Each second between a job's first and last run has one. What a machine without time to spare left to the
        misfire policy is a fault as well, but not a loss."""
        seconds = (f"(SELECT job_id, count(*) n, min(trigger_time) a, max(trigger_time) b FROM xxl_job_log "
                   f"WHERE job_id <> {OLD_JOB} GROUP BY job_id)")
        missing = db.execute(f"SELECT coalesce(sum((b - a) / 1000 + 1 - n), 0) FROM {seconds}").fetchone()[0]
        late = db.execute(f"SELECT coalesce(sum(s.count), 0) FROM peal_skip s JOIN {seconds} j ON j.job_id = s.job_id "
                          "AND s.from_ms > j.a AND s.to_ms < j.b").fetchone()[0]
        if late:
            self.fault(f"{late} scheduled times were over 5 s late and left to the misfire policy")
        if missing != late:
            self.fault(f"{missing - late} scheduled times are missing")

    def judge_ids(self, db):
        if not hasattr(self, "ids"):
            return
        first = self.stats["first_id"]
        missing = sum(1 for (log,) in db.execute(f"SELECT id FROM xxl_job_log WHERE job_id <> {OLD_JOB}")
                      if not 0 <= log - first < len(self.ids) or self.ids[log - first] == ord("0"))
        if missing:
            self.fault(f"{missing} runs are in the log, but the executor never had them")
        if self.stats["doubled"]:
            self.fault(f"{self.stats['doubled']} log ids ran twice")

    def judge_old(self, db_path):
        """Rows of the past have gone when they grew too old."""
        db = sqlite3.connect(db_path)
        left = db.execute("SELECT count(*) FROM xxl_job_log WHERE trigger_time < ?",
                          (int(time.time() * 1000) - DAYS * 86_400_000 - LATE_S * 1000,)).fetchone()[0]
        db.close()
        if left:
            self.fault(f"{left} rows are older than {DAYS} days and {LATE_S // 60} minutes")

    def growth(self, what, points):
        """Percent between the first equal point (see above) and the last; None with fewer than two."""
        if len(points) < 2:
            return None
        first, last = points[len(points) > 2], points[-1]
        percent = round((last / first - 1) * 100, 1)
        if percent > GROWTH_PERCENT:
            self.fault(f"{what} grew by {percent} % ({first:.1f} to {last:.1f} MB)")
        return percent


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=5000, help="firings a second")
    parser.add_argument("--retention", action="store_true")
    options = parser.parse_args()
    for needed in (bench.PEAL, bench.STUB):
        if not os.access(needed, os.X_OK):
            sys.exit(f"soak: {needed} is missing: run make")
    folder = os.path.join(bench.ROOT, "build", "soak", time.strftime("%Y%m%d-%H%M%S"))
    os.makedirs(folder)
    print(f"soak: {options.rate} firings/s for {options.minutes:g} minutes, kill -9 in between; {folder}", flush=True)
    return Soak(folder, options.rate, options.minutes, options.retention).run()


if __name__ == "__main__":
    sys.exit(main())
