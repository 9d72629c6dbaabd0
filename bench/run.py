#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench: the figures of docs/benchmarks.md, measured on real processes.

Each case starts a fresh center on an empty SQLite database, fills in its jobs, runs the stub
executor beside it (one thread, no log files) on the same cores, and reads what happened from
/metrics, /proc and the tables. Beside each rate stand the center's CPU microseconds per firing and
a spin control of the same minute: the share of wall time that pinned spinning threads did not get,
the worse of before and after.

    bench/run.py                 all cases
    bench/run.py a b --quick     some of them, shortened (for trying the script, not for figures)
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "release")
PEAL = os.path.join(BUILD, "peal")
STUB = os.path.join(BUILD, "bench", "peal_stub")
SPIN = os.path.join(BUILD, "bench", "peal_spin")
TOKEN = "bench-token"
TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def free_ports(n):
    """First of n ports in a row, below the range that outgoing connections take."""
    for base in range(20000 + os.getpid() % 1000, 30000, n):
        sockets = []
        try:
            for port in range(base, base + n):
                sockets.append(socket.socket())
                sockets[-1].bind(("127.0.0.1", port))
            return base
        except OSError:
            pass
        finally:
            for s in sockets:
                s.close()
    sys.exit("no free ports")


def get(url, timeout=10):
    with urllib.request.urlopen(url, timeout=timeout) as r:
        return r.read().decode()


def spin(seconds):
    """Share of wall time lost by two pinned spinning threads, 0..1."""
    out = subprocess.run([SPIN, str(seconds)], capture_output=True, text=True, check=True).stdout
    return json.loads(out)["lost"]


class Process:
    def __init__(self, argv, env=None, log=None):
        self.log = open(log, "wb") if log else subprocess.DEVNULL
        self.p = subprocess.Popen(argv, env={**os.environ, **(env or {})}, stdout=self.log,
                                  stderr=self.log)

    def cpu(self, task=""):
        with open(f"/proc/{self.p.pid}/{task}stat") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def loop_cpu(self):
        """Of the first thread, which is the center's scheduler."""
        return self.cpu(f"task/{self.p.pid}/")

    def thread_us(self, name):
        """CPU of the thread of that name."""
        for task in os.listdir(f"/proc/{self.p.pid}/task"):
            with open(f"/proc/{self.p.pid}/task/{task}/comm", encoding="utf-8") as f:
                if f.read().strip() != name:
                    continue
            with open(f"/proc/{self.p.pid}/task/{task}/schedstat", encoding="utf-8") as f:
                return int(f.read().split()[0]) / 1000
        sys.exit(f"the process has no thread {name}")

    def rss_mb(self):
        with open(f"/proc/{self.p.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024

    def stop(self, sig=signal.SIGTERM):
        if self.p.poll() is None:
            self.p.send_signal(sig)
            try:
                self.p.wait(60)
            except subprocess.TimeoutExpired:
                self.p.kill()
                self.p.wait()


class Center(Process):
    def __init__(self, data, more=()):
        self.data = data
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        began = time.monotonic()
        super().__init__(
            [PEAL, "server", "--listen", f"127.0.0.1:{self.port}", "--data", data, *more],
            {"PEAL_ACCESS_TOKEN": TOKEN, "PEAL_ADMIN_PASSWORD": "bench-password", "PEAL_LIMIT_TOKEN": "0",
             "PEAL_LIMIT_SESSION": "0"},
            os.path.join(data, "server.log"))
        while True:
            if self.p.poll() is not None:
                sys.exit("the center ended: " + open(os.path.join(data, "server.log")).read())
            try:
                get(self.url + "/readyz", 1)
                break
            except OSError:
                time.sleep(0.002)
        self.start_ms = (time.monotonic() - began) * 1000

    def metrics(self):
        values = {}
        for line in get(self.url + "/metrics").splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                values[name] = float(value)
        return values

    def db(self):
        return sqlite3.connect(os.path.join(self.data, "peal.db"))


class Stub(Process):
    def __init__(self, center, callbacks, ports, connections=None):
        self.port = free_ports(ports)
        # batch: one connection an executor, as the original's one callback thread; single: a client
        # that calls back once a run, from as many connections as it has runs that end
        connections = connections or (1024 if callbacks == "single" else ports)
        super().__init__(
            [STUB, "--center", center.url, "--token", TOKEN, "--app", "bench", "--ports",
             str(ports), "--port", str(self.port), "--callbacks", str(callbacks), "--connections",
             str(connections)],
            log=os.path.join(center.data, "stub.log"))
        self.ports = ports

    def stats(self):
        return json.loads(get(f"http://127.0.0.1:{self.port}/stub/stats"))


def fill(center_data, jobs):
    """Write jobs straight into the tables of a stopped center: (type, conf, route, next_ms)."""
    jobs = list(jobs)
    db = sqlite3.connect(os.path.join(center_data, "peal.db"))
    now = int(time.time() * 1000)
    with db:
        db.execute("INSERT INTO xxl_job_group (id, app_name, title, address_type) "
                   "VALUES (900, 'bench', 'bench', 0)")
        first = db.execute("SELECT coalesce(max(id), 0) + 1 FROM xxl_job_info").fetchone()[0]
        db.executemany(
            "INSERT INTO xxl_job_info (id, job_group, job_desc, add_time, update_time, author, "
            "schedule_type, schedule_conf, misfire_strategy, executor_route_strategy, "
            "executor_handler, executor_param, executor_block_strategy, glue_type, "
            "glue_updatetime, trigger_status) VALUES (?, 900, 'bench', ?, ?, 'bench', ?, ?, "
            "'DO_NOTHING', ?, 'demoJobHandler', '', 'SERIAL_EXECUTION', 'BEAN', ?, 1)",
            ((first + i, now, now, j[0], j[1], j[2], now) for i, j in enumerate(jobs)))
        db.executemany("INSERT INTO peal_due (job_id, next_ms, last_ms, planned_until_ms, version) "
                       "VALUES (?, ?, 0, 0, 1)",
                       ((first + i, j[3]) for i, j in enumerate(jobs)))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def fresh():
    data = tempfile.mkdtemp(prefix="peal-bench-", dir=os.path.join(ROOT, "build"))
    Center(data).stop()
    return data


def until(predicate, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if predicate():
            return True
        time.sleep(0.05)
    return False


def totals(db):
    """The totals of a database by name; compare.py's older binary may still keep a row for each."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'peal_total'").fetchone():
        return dict(db.execute("SELECT name, value FROM peal_total WHERE job_id = 0"))
    rows = db.execute("SELECT planned, finished, rejected, lost, skipped, withdrawn, sent, resent, late, found "
                      "FROM peal_epoch WHERE epoch = 1")
    return dict(zip((column[0] for column in rows.description), rows.fetchone()))


def fsync_p50_ms():
    """The median of 200 overwrites of 4 KiB, each made durable, on the disk of the benchmarks."""
    times = []
    with tempfile.NamedTemporaryFile(dir=os.path.join(ROOT, "build"), buffering=0) as f:
        f.write(bytes(1 << 20))
        os.fsync(f.fileno())
        for i in range(200):
            began = time.perf_counter()
            os.pwrite(f.fileno(), bytes(4096), i % 256 * 4096)
            os.fdatasync(f.fileno())
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def quantile(metrics, name, q):
    """From the histogram's buckets, linear within one; ms."""
    buckets = sorted(((float("inf") if le == "+Inf" else float(le)), v) for le, v in
                     ((re.search(r'le="([^"]+)"', k).group(1), v) for k, v in metrics.items()
                      if k.startswith(name + "_bucket")))
    total = buckets[-1][1]
    if not total:
        return float("nan")
    low, before = 0.0, 0.0
    for le, v in buckets:
        if v >= q * total:
            if le == float("inf"):
                return low * 1000
            return (low + (le - low) * (q * total - before) / max(v - before, 1)) * 1000
        low, before = le, v
    return float("nan")


class Bench:
    def __init__(self, quick):
        self.quick = quick
        self.rows = []

    def say(self, figure, goal, result, note=""):
        self.rows.append((figure, goal, result, note))
        print(f"{figure}: {result}   (goal {goal}) {note}", flush=True)

    def rate_jobs(self, rate, begin_ms):
        """One job a second each, phases spread evenly over the milliseconds."""
        return [("FIX_RATE", "1000ms", "ROUND", begin_ms + i * 1000 // rate) for i in range(rate)]

    def load(self, rate, seconds, callbacks, ports, connections=None, jobs=None, prepare=None, beside=None):
        """Run `rate` per-second jobs; returns what happened. prepare: is given the data folder of the stopped
        center; beside: a context manager for the time of the measurement, given the center."""
        data = fresh()
        lost_before = spin(1 if self.quick else 5)
        begin = (int(time.time()) + 9) * 1000
        fill(data, (jobs or self.rate_jobs)(rate, begin))
        if prepare:
            prepare(data)
        center = Center(data)
        stub = Stub(center, callbacks, ports, connections)
        until(lambda: center.metrics().get("peal_executors", 0) >= ports, 20)
        while time.time() * 1000 < begin + 1000:
            time.sleep(0.01)
        with beside(center) if beside else contextlib.nullcontext():
            m0, c0, l0, s0, t0 = center.metrics(), center.cpu(), center.loop_cpu(), stub.cpu(), time.monotonic()
            web = center.thread_us("peal-web")
            time.sleep(seconds)
            m1, c1, l1, s1, t1 = center.metrics(), center.cpu(), center.loop_cpu(), stub.cpu(), time.monotonic()
            rss, web = center.rss_mb(), center.thread_us("peal-web") - web
        sent = lambda m: m.get('peal_firings_total{outcome="sent"}', 0)
        finished = lambda m: m.get('peal_firings_total{outcome="finished"}', 0)
        n, done = sent(m1) - sent(m0), finished(m1) - finished(m0)
        backlog = sent(m1) - finished(m1)
        # stop the jobs by stopping the center: what is under way ends, the rest stays planned
        center.stop()
        stats = stub.stats()
        stub.stop()
        db = sqlite3.connect(os.path.join(data, "peal.db"))
        total = totals(db)
        rows_ok = db.execute("SELECT count(*) FROM xxl_job_log WHERE handle_code = 200").fetchone()[0]
        open_rows = db.execute("SELECT count(*) FROM peal_run WHERE phase < 5").fetchone()[0]
        misfires = db.execute("SELECT coalesce(sum(count), 0) FROM peal_skip").fetchone()[0]
        db.close()
        lost_after = spin(1 if self.quick else 5)
        ended = sum(total.get(k, 0) for k in ("finished", "rejected", "lost", "skipped", "withdrawn"))
        delta = {k: v - m0.get(k, 0) for k, v in m1.items() if k.startswith("peal_lateness_seconds")}
        result = {
            "rate": n / (t1 - t0), "done_rate": done / (t1 - t0),
            "cpu_us": (c1 - c0) * 1e6 / max(done, 1), "loop_us": (l1 - l0) * 1e6 / max(done, 1), "stub_us": (s1 - s0) * 1e6 / max(done, 1),
            "web_us": web / max(done, 1), "p50": quantile(delta, "peal_lateness_seconds", 0.5),
            "p99": quantile(delta, "peal_lateness_seconds", 0.99),
            "late_max": m1["peal_lateness_max_seconds"] * 1000, "misfires": misfires,
            "doubled": stats.get("doubled", -1), "distinct": stats.get("distinct", -1),
            "unaccounted": total.get("planned", 0) - ended - open_rows,
            "lost": total.get("lost", 0) + total.get("rejected", 0) + total.get("skipped", 0),
            "rows_ok": rows_ok, "backlog": backlog, "rss": rss,
            "spin": max(lost_before, lost_after),
        }
        shutil.rmtree(data)
        return result

    def throughput(self):
        seconds = 10 if self.quick else 120
        for callbacks, goal_rate, goal_us in (("single", 30000, 30), ("batch", 50000, 22)):
            best = None
            for rate in (goal_rate, goal_rate * 3 // 4, goal_rate // 2, goal_rate // 4):
                r = self.load(rate, seconds, callbacks, 8)
                print("   ", rate, json.dumps({k: round(v, 2) for k, v in r.items()}), flush=True)
                best = best or r
                if r["done_rate"] >= rate * 0.98:
                    best = r
                    break
                best = max(best, r, key=lambda x: x["done_rate"])
            self.say(f"(a) end to end, callbacks {callbacks}", f"{goal_rate}/s, {goal_us} us",
                     f"{best['done_rate']:.0f}/s, {best['cpu_us']:.1f} us CPU, lost {best['lost']}, "
                     f"doubled {best['doubled']}, unaccounted {best['unaccounted']}",
                     f"spin lost {best['spin']*100:.1f} %, stub {best['stub_us']:.1f} us, "
                     f"{best['rss']:.0f} MB")

    def full_second(self, rate, begin_ms):
        """Every job on the full second, as most people write them."""
        return [("FIX_RATE", "1000ms", "ROUND", begin_ms)] * rate

    def unfriendly(self):
        """Sends in bursts, results over few connections: do results keep pace?"""
        seconds = 10 if self.quick else 60
        for rate in (20000, 30000):
            r = self.load(rate, seconds, 100, 8, 8, self.full_second)
            self.say(f"(l) {rate}/s on the full second, 8 callback connections, 100 results a request",
                     "results keep pace",
                     f"{r['rate']:.0f}/s sent, {r['done_rate']:.0f}/s finished, {r['cpu_us']:.1f} us CPU",
                     f"lost {r['lost']}, doubled {r['doubled']}, unaccounted {r['unaccounted']}, spin lost "
                     f"{r['spin']*100:.1f} %")
        fsync_ms = fsync_p50_ms()
        goal = min(20000, 64 / (2 * fsync_ms + 1) * 1000)
        r = self.load(20000, seconds, 1, 8, 64)
        self.say("(m) results one a request, 64 connections", f"{goal:.0f}/s (fdatasync p50 {fsync_ms:.2f} ms)",
                 f"{r['rate']:.0f}/s sent, {r['done_rate']:.0f}/s finished, {r['cpu_us']:.1f} us CPU",
                 f"lost {r['lost']}, doubled {r['doubled']}, unaccounted {r['unaccounted']}, spin lost "
                 f"{r['spin']*100:.1f} %")

    def lateness(self):
        for rate, goal in ((1000, 2), (5000, 3)):
            r = self.load(rate, 8 if self.quick else 60, "single", 8)
            self.say(f"(b) lateness at {rate}/s", f"p99 <= {goal} ms",
                     f"p50 {r['p50']:.2f} ms, p99 {r['p99']:.2f} ms",
                     f"{r['cpu_us']:.1f} us CPU, spin lost {r['spin']*100:.1f} %")

    def burst(self):
        for n in (1000, 5000, 100000):
            goal = 5 + 0.01 * n if n < 100000 else 2500
            data = fresh()
            lost = spin(1)
            second = (int(time.time()) + (9 if n < 100000 else 14)) * 1000
            scheduled = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second / 1000))
            fill(data, [("ONCE", scheduled, "ROUND", second)] * n)
            center = Center(data)
            stub = Stub(center, "batch", 16)
            until(lambda: center.metrics().get("peal_executors", 0) >= 16, 20)
            while time.time() * 1000 < second:
                time.sleep(0.01)
            until(lambda: center.metrics().get('peal_firings_total{outcome="finished"}', 0) >= n, 60)
            m = center.metrics()
            last = m.get("peal_lateness_max_seconds", float("nan")) * 1000
            done = m.get('peal_firings_total{outcome="finished"}', 0)
            center.stop()
            stats = stub.stats()
            stub.stop()
            self.say(f"(c) {n} jobs on one second", f"last leaves <= {goal:.0f} ms",
                     f"{last:.1f} ms, finished {done:.0f}, doubled {stats.get('doubled', -1)}",
                     f"spin lost {max(lost, spin(1))*100:.1f} %")
            shutil.rmtree(data)

    def million(self):
        n = 50000 if self.quick else 1000000
        data = fresh()
        far = int(time.time() * 1000) + 10 * 86400000
        soon = int(time.time() * 1000) + 45000
        fill(data, (("CRON", "0 0 3 * * ?", "FIRST", soon + i if i < 1000 else far + i)
                    for i in range(n)))
        center = Center(data)
        until(lambda: center.metrics().get("peal_planned_jobs_total", 0) >= 1000, 90)
        time.sleep(3)
        m, rss = center.metrics(), center.rss_mb()
        self.say(f"(d) {n} stored jobs", "<= 300 MB, start <= 1 s, touches only what is due",
                 f"{rss:.0f} MB, start {center.start_ms:.0f} ms, jobs looked at "
                 f"{m.get('peal_planned_jobs_total', 0):.0f} (1000 due)")
        center.stop()
        shutil.rmtree(data)

    def idle(self):
        data = fresh()
        starts = []
        for _ in range(5):
            c = Center(data)
            starts.append(c.start_ms)
            c.stop()
        center = Center(data)
        time.sleep(2)
        c0, t0 = center.cpu(), time.monotonic()
        time.sleep(5 if self.quick else 60)
        cpu = (center.cpu() - c0) / (time.monotonic() - t0) * 100
        rss = center.rss_mb()
        center.stop()
        stripped = os.path.join(data, "peal")
        subprocess.run(["strip", "-o", stripped, PEAL], check=True)
        size = os.path.getsize(stripped) / 1e6
        self.say("(e) idle", "<= 20 MB, <= 0.5 % CPU, binary <= 5 MB, start <= 100 ms",
                 f"{rss:.1f} MB, {cpu:.2f} % CPU, binary {size:.2f} MB, "
                 f"start {statistics.median(starts):.0f} ms")
        shutil.rmtree(data)

    def cron(self):
        out = subprocess.run([os.path.join(BUILD, "bench", "bench_cron")], capture_output=True,
                             text=True, cwd=ROOT).stdout
        self.say("(f) cron", ">= 10 x 0.2-0.9 M/s parsed, 0.1 M/s with parsing",
                 "; ".join(line.strip() for line in out.splitlines() if line.strip())[-600:])

    def write(self, name="bench.md"):
        lines = ["| figure | goal | measured | beside it |", "|---|---|---|---|"]
        lines += ["| " + " | ".join(r) + " |" for r in self.rows]
        path = os.path.join(ROOT, "build", name)
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        print("\n" + "\n".join(lines) + f"\n\nalso in {os.path.relpath(path)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", help="of a b c d e f l; all without")
    parser.add_argument("--quick", action="store_true", help="shortened: tries the script")
    options = parser.parse_args()
    bench = Bench(options.quick)
    cases = {"a": bench.throughput, "b": bench.lateness, "c": bench.burst, "d": bench.million,
             "e": bench.idle, "f": bench.cron, "l": bench.unfriendly}
    for name, run in cases.items():
        if not options.cases or name in options.cases:
            run()
    bench.write()


if __name__ == "__main__":
    main()
