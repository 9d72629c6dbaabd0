#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a firing costs on a database server: CPU time of the server's processes and of the center's, apart.

  bench/databases.py [mariadb|postgres...] [--rate 2000] [--seconds 30] [--peal OLD --peal NEW --rounds 3]
  bench/databases.py [mariadb|postgres...] [--rate 2000] [--seconds 30] --nodes 1 --nodes 3
  bench/databases.py [mariadb|postgres...] --retention 10000000

Per-second jobs at phases spread over the milliseconds, the stub executor with batched callbacks, and a server of Debian's
that syncs as it does by itself, all on the same cores. CPU time does not depend much on what else the machine does; rates
do, and stand beside a spin control. With several programs these are measured in turns, so that what else the machine
does meets all of them; so are numbers of centers that share the database (--nodes; 0: one that has it alone), where all
results come to the first of them. With --retention: a log of so many rows is written, and goes when it is too old.
"""
import argparse
import itertools
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests")]

import run as bench  # noqa: E402

from support import servers  # noqa: E402

PORTS = 20
GOALS = {"mariadb": (45, 30), "postgres": (25, 28)}
TRANSACTIONS = {"mariadb": "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'com_commit'",
                "postgres": "SELECT xact_commit FROM pg_stat_database WHERE datname = 'jobs'"}


def cpu_s(pid):
    """Of a process, its threads, and those of its children: that are there, and that have gone."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rpartition(")")[2].split()
    total = sum(int(field) for field in fields[11:15]) / bench.TICK
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as f:
        return total + sum(cpu_s(child) for child in f.read().split())


def filled(rate, begin_ms, url):
    """A data folder, whose jobs are in the database that url names."""
    data = bench.fresh()
    bench.fill(data, (("FIX_RATE", "1000ms", "ROUND", begin_ms + i * 1000 // rate) for i in range(rate)))
    subprocess.run([bench.PEAL, "db", "move", "--from", f"sqlite:{data}/peal.db", "--db", url], check=True, capture_output=True)
    return data


def centers_of(data, url, nodes):
    """One that has the database alone, or so many that share it, with their data folders."""
    if not nodes:
        return [bench.Center(data, ["--db", url])]
    shared = ["--db", url, "--node.cluster", "--node.name"]
    return [bench.Center(data if i == 0 else bench.fresh(), [*shared, f"node-{i}"]) for i in range(nodes)]


def measure(kind, rate, seconds, nodes):
    with servers.open(kind, durable=True) as db:
        url = db.create("jobs")
        begin = int(time.time()) + 20
        data = filled(rate, begin * 1000, url)
        lost = bench.spin(3)
        centers = centers_of(data, url, nodes)
        stub = bench.Stub(centers[0], "batch", PORTS)
        for center in centers:
            bench.until(lambda c=center: c.metrics().get("peal_executors", 0) >= PORTS, 20)
        if time.time() > begin - 1:
            sys.exit("the machine was too slow to be ready in time")
        time.sleep(begin + 5 - time.time())

        def now():
            return (centers[0].metrics(), sum(center.cpu() for center in centers), cpu_s(db.process.pid),
                    db.number(TRANSACTIONS[kind], "jobs"))

        finished = 'peal_firings_total{outcome="finished"}'
        m0, c0, s0, x0 = now()
        began = time.monotonic()
        time.sleep(seconds)
        m1, c1, s1, x1 = now()
        took, n = time.monotonic() - began, m1[finished] - m0[finished]
        for center in centers:
            center.stop()
        stub.stop()
        lost = max(lost, bench.spin(3))
        bad = {name: int(m1[f'peal_firings_total{{outcome="{name}"}}']) for name in ("lost", "rejected", "skipped", "withdrawn")}
        for center in centers:
            shutil.rmtree(center.data)
    server, own = GOALS[kind]
    name = os.path.relpath(bench.PEAL, ROOT)
    print(f"| {kind} | {name} | {nodes or 'alone'} | {rate:,} | {n / took:,.0f} | {(s1 - s0) * 1e6 / n:.1f} ({server}) | "
          f"{(c1 - c0) * 1e6 / n:.1f} ({own}) | {(x1 - x0) / n:.4f} | {lost:.1%} | {bad} |", flush=True)


def retention(kind, rows):
    with servers.open(kind, durable=True) as db:
        url = db.create("jobs")
        work = subprocess.Popen([os.path.join(ROOT, "build", "release", "bench", "bench_retention"), str(rows), url],
                                stdout=subprocess.PIPE, text=True)
        at = cpu_s(db.process.pid)
        for line in work.stdout:
            now, n = cpu_s(db.process.pid), int(line.split(" rows,")[0].split()[-1])
            print(f"{kind}: {line.rstrip()}; server {(now - at) * 1e6 / max(n, 1):.1f} us CPU a row", flush=True)
            at = now
        if work.wait():
            sys.exit("bench_retention has failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="mariadb|postgres")
    parser.add_argument("--rate", type=int, action="append", help="firings a second; may be repeated (2000)")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--peal", action="append", metavar="PROGRAM", help="to measure; may be repeated (the release build's)")
    parser.add_argument("--nodes", type=int, action="append", help="centers that share the database; may be repeated (0)")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--retention", type=int, metavar="ROWS", help="of the log, which go by their age")
    a = parser.parse_args()
    for kind in a.kinds or servers.KINDS if a.retention else ():
        retention(kind, a.retention)
    if a.retention:
        return
    print("| server | program | nodes | due a second | finished a second | server, µs of CPU a firing (goal) | center, µs (goal) | "
          "transactions a firing | spin control, lost | other ends |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    runs = itertools.product(range(a.rounds), a.kinds or servers.KINDS, a.rate or [2000], a.peal or [bench.PEAL], a.nodes or [0])
    for _, kind, rate, program, nodes in runs:
        bench.PEAL = program
        measure(kind, rate, a.seconds, nodes)


if __name__ == "__main__":
    main()
