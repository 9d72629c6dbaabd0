#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs that a result comes to a node which does not own its run: CPU time of both nodes and of the database.

  bench/forwards.py [mariadb|postgres] [--runs 2000] [--rounds 5]

Two nodes share a database. One owns all runs; their results are told to one node or the other, 50 a request on 8
connections, and what was used until all runs have ended is divided by their number:

  owner   the node that owns the runs is told, so nothing is to be brought anywhere
  direct  the other node is told, and brings them to the owner
  inbox   the other node is told, and cannot reach the owner: it leaves them in peal_inbox

The difference of direct and owner is what bringing a result costs. CPU time does not depend much on what else the
machine does.
"""
import argparse
import concurrent.futures
import contextlib
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]

from support import cluster, servers  # noqa: E402 (path just set)
from support.puppet import Puppet  # noqa: E402
from support.standin import YES  # noqa: E402
from support.wait import wait_until  # noqa: E402

BATCH, CONNECTIONS = 50, 8
UNREACHABLE = ("--node.address", "127.0.0.1:1")


def cpu_us(pid):
    """Of a process, its threads and its children that are there, as the kernel's scheduler counts it."""
    total, tasks = 0, pathlib.Path(f"/proc/{pid}/task")
    with contextlib.suppress(OSError):  # it has gone just now
        for task in tasks.iterdir():
            total += int((task / "schedstat").read_text().split()[0]) / 1000
        total += sum(cpu_us(child) for child in (tasks / str(pid) / "children").read_text().split())
    return total


def told(center, results):
    """Every result, until it is taken."""
    def tell(some):
        while center.open_api("callback", some)["code"] != 200:
            pass
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(tell, [results[i:i + BATCH] for i in range(0, len(results), BATCH)]))


def fired(db, name, center, job, puppet, runs):
    """Results of so many runs that center owns and that their executor has accepted."""
    before = len(puppet.runs())
    apis = [center.api() for _ in range(CONNECTIONS)]
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(lambda i: apis[i % CONNECTIONS].trigger(job), range(runs)))
    wait_until(lambda: len(puppet.runs()) == before + runs, "the runs to be sent", 300)
    wait_until(lambda: db.number("SELECT count(*) FROM peal_run WHERE phase < 4", name) == 0, "them to be accepted", 300)
    return [{"logId": r["logId"], "logDateTim": r["logDateTime"], "handleCode": 200, "handleMsg": "done"}
            for r in puppet.runs()[before:]]


def measured(kind, where, args):
    """CPU microseconds a result of: the node that owns the runs, the other one, the database; the median round."""
    settings = UNREACHABLE if where == "inbox" else ()
    with servers.open(kind, durable=True) as db, tempfile.TemporaryDirectory() as folder:
        db.count = 0
        name, url = cluster.fresh(db)
        folder = pathlib.Path(folder)
        with cluster.node(folder / "a", url, "one", settings=settings) as one, \
                cluster.node(folder / "b", url, "two", settings=settings) as two, \
                Puppet(one, "bench", register=False, automatic=False) as puppet:
            cluster.wait_for(one, one="up", two="up")
            puppet.answer = lambda action, body: YES if action == "run" else None  # asked, it proves nothing
            job = one.api().add_job(one.api().add_group("bench", addresses=[puppet.address]), "measured")
            pids, rounds = (one.process.pid, two.process.pid, db.process.pid), []
            for _ in range(args.rounds):
                results = fired(db, name, one, job, puppet, args.runs)
                before = [cpu_us(pid) for pid in pids]
                told(one if where == "owner" else two, results)
                wait_until(lambda: db.number("SELECT count(*) FROM peal_run", name) == 0, "the runs to end", 300, 0.5)
                rounds.append([(cpu_us(pid) - b) / args.runs for pid, b in zip(pids, before)])
            brought = two.metric("peal_node_results_forwarded_total")
    return [statistics.median(column) for column in zip(*rounds)], brought / args.runs / args.rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", nargs="?", default="postgres", choices=["mariadb", "postgres"])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    print("CPU us a result   the owner   the other   database    sum   brought directly")
    for where in "owner", "direct", "inbox":
        (owner, other, database), brought = measured(args.kind, where, args)
        print(f"{where:16} {owner:11.1f} {other:11.1f} {database:10.1f} {owner + other + database:6.1f} {brought:13.0%}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
