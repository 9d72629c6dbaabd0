#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make crash-db: kill -9 of the center, of its database server, or of both, again and again under load, and an account
of every firing.

  crash-db.py --rounds 30 mariadb|postgres...   each round kills all three ways in turn; a seed is printed first
  crash-db.py --seed N                          the same choices again

Per-second jobs run on a `peal executor`, which writes down in its logs what it began and ended. When the rounds are
over the jobs are stopped, and once nothing is open:

  unaccounted  planned, and the tables do not say what became of it                    must be 0
  holes        seconds of a job between its first and last that are neither in the log nor in peal_skip   must be 0
  twice        seconds of a job with two rows in the log                               must be 0
  begun twice  log ids that the executor began more than once                          must be 0
  untrue       rows that succeeded and were never begun; ended on the executor and not so in the log      must be 0

Exit status 0: all are 0; 3: not all; anything else: the rounds could not be done.
"""
import argparse
import contextlib
import pathlib
import random
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from support import servers  # noqa: E402 (path just set)
from support.center import Center, binary  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.load import ended, started  # noqa: E402
from support.wait import wait_until  # noqa: E402

JOBS = 40
WAYS = ("center", "database", "both")
OPEN = "(1, 2, 3, 4)"
SPAN = {"mariadb": "timestampdiff(SECOND, min(trigger_time), max(trigger_time))",
        "postgres": "extract(epoch FROM max(trigger_time) - min(trigger_time))::bigint"}


def crash(db, center, way, dice):
    """Kill at a random moment, start again in either order, wait until all is well and some runs have ended."""
    time.sleep(dice.uniform(0.2, 2.0))
    if way != "center":
        db.kill()
        time.sleep(dice.choice((0, 0, dice.uniform(0, 1.5))))
    if way != "database":
        center.kill()
    if way != "center":
        db.start()
    if way != "database":
        center.start(60)
    wait_until(lambda: center.answers("/readyz"), "the center to be ready", 90)


def settle(db, center, api, jobs):
    for job in jobs:
        api.stop_job(job)
    wait_until(lambda: db.number(f"SELECT count(*) FROM peal_run WHERE phase IN {OPEN}", "crash") == 0,
               "every run to end", 120, 0.2)
    wait_until(lambda: center.metric("peal_firings_unaccounted") == 0, "the books to balance")


def account(db, executor):
    """{what: how many}, all of which must be 0."""
    rows = db.run("SELECT job_id, count(*), count(DISTINCT trigger_time), " + SPAN[db.kind] +
                  " FROM xxl_job_log WHERE trigger_msg IS NULL OR trigger_msg NOT LIKE 'retry%' GROUP BY job_id", "crash")
    skipped = {job: int(n) for job, n in db.run("SELECT job_id, sum(count) FROM peal_skip GROUP BY job_id", "crash")}
    begun, done = started(executor), ended(executor)
    ok = {int(i) for i, in db.run("SELECT id FROM xxl_job_log WHERE handle_code = 200", "crash")}
    holes = sum(max(0, int(span) + 1 - int(distinct) - skipped.get(job, 0)) for job, _, distinct, span in rows)
    return {"holes": holes,
            "twice": sum(int(n) - int(distinct) for _, n, distinct, _ in rows),
            "begun twice": sum(n > 1 for n in begun.values()),
            "untrue": len(ok - set(begun)) + len(done - ok)}, len(ok)


def play(kind, rounds, dice):
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(servers.open(kind))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="peal-crash-")))
        url = db.create("crash")
        center = stack.enter_context(Center(folder / "center", ["--db", url, "--start.deadline", "1h"]))
        executor = Executor(folder / "executor", center.url, app="ours").start()
        stack.callback(executor.stop)
        api = center.api()
        group = api.add_group("ours")
        jobs = [api.add_job(group, "shardingJobHandler", scheduleType="CRON", scheduleConf="* * * * * ?")
                for _ in range(JOBS)]
        for job in jobs:
            api.start_job(job)
        wait_until(lambda: db.number("SELECT count(*) FROM xxl_job_log WHERE handle_code = 200", "crash") > JOBS,
                   "the first runs to end", 60)
        began = time.monotonic()
        for n in range(rounds):
            for way in WAYS:
                crash(db, center, way, dice)
            if (n + 1) % 5 == 0:
                print(f"{kind}: {n + 1} rounds, {time.monotonic() - began:.0f} s", flush=True)
        settle(db, center, center.api(), jobs)
        wrong, good = account(db, executor)
        print(f"{kind}: {3 * rounds} kills, {good} runs succeeded, {time.monotonic() - began:.0f} s; " +
              ", ".join(f"{what} {n}" for what, n in wrong.items()), flush=True)
        return any(wrong.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--built", action="store_true", help="of the servers named, those that the binary can use")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    a = parser.parse_args()
    if any(kind not in servers.KINDS for kind in a.kinds):
        parser.error("name mariadb or postgres")
    print(f"seed {a.seed}", flush=True)
    wrong = False
    kinds = a.kinds or servers.KINDS
    for kind in [kind for kind in kinds if kind in servers.built(binary())] if a.built else kinds:
        wrong |= play(kind, a.rounds, random.Random(a.seed))
    sys.exit(3 if wrong else 0)


main()
