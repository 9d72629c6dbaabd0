#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make chaos: three nodes on one database server, executors, and everything that can break breaks, again and again.
At the end every firing is accounted for.

  chaos.py                       2 minutes on each database, 20 executors, a new seed
  chaos.py --long                30 minutes on each, 200 executors
  chaos.py mariadb --minutes 5   one database
  chaos.py postgres --seed 17    the same faults again (when they strike what is under way differs a little)
  chaos.py galera                two servers of a Galera cluster, of which one at a time is broken (not without its name)
  chaos.py --plan --seed 17      print the faults of that seed and do nothing
  chaos.py --without pause,hold  leave kinds of faults out, to find out which one it is
  chaos.py --keep                leave the folder: logs of the nodes, records, the plan

The script starts a database server, the nodes (setting node.cluster), executors that remember log ids, some with
peal's own library among them, and some that do not (stock). Jobs fire each second; others are broadcast, fail and are
tried again, have children, are run by hand, edited, stopped and started at any node. The faults are:

  kill            kill -9 of a node, and a start some seconds later
  stop            SIGTERM, and a start
  pause           SIGSTOP of a node for up to 20 s, then SIGCONT; it is given up meanwhile, and ends
  cut             the node's connections to the database break, and it gets no others for up to 12 s
  hold            its connections stay open and carry nothing for up to 8 s
  drain           another node is asked to let it leave its jobs to the others, and after up to 10 s to end that
  kill database   kill -9 of the database server, and a start
  kill server, restart server, part server
                  of a Galera cluster, in its place: kill -9 or SIGTERM of one of its two servers, and a start; one is cut
                  from the other and from the arbitrator for up to 10 s, and answers its clients
  promote         kill -9 of the database server; its standby, which every commit waits for, takes its place and gets a
                  standby in turn. Only with --promote, which --long has

No two faults of one node overlap and one node at least is well, but for the database. Then all is calm, the jobs are
stopped, and once nothing is open the records of the executors and the tables are compared; no node is asked. These
must be 0:

  lost          a scheduled time without a run, a shard, a retry, a child or an answered run by hand that is missing
  doubled       one of these with two runs, or a run that an executor with a memory began twice
  unaccounted   planned, and the tables do not say what became of it
  failed        rows that did not succeed though their executor did
  results lost  results that a node acknowledged and that are not in the row
  and: not ended, skipped, untrue (ended well and never begun), without a row, left in the inbox, crashed nodes

Counted apart: stale sends to stock executors (a run that came twice to one that does not remember), and what left
after the answer to a stop or an edit; with --told that must be 0 as well, and jobs that are edited must fire each
second like the others.

Then it prints p50 / p99 / max in ms: take-over (from a kill -9 to the first run, due after it, of each job that the
node had), stops of a node, answers to stops and edits of jobs while all was calm, and in all.

Exit status 0: all are 0. 1: not all. Anything else: it could not be done.
"""
import argparse
import contextlib
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from chaos import faults, judge, links, nodes, users  # noqa: E402 (path just set)
from support import failover, galera, servers  # noqa: E402
from support.center import PASSWORD, TOKEN, binary  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.load import started  # noqa: E402
from support.wait import wait_until  # noqa: E402

NODES = 3
NAME = "chaos"
SHORT = {"minutes": 2, "executors": 20, "second": 30, "ours": 2}
LONG = {"minutes": 30, "executors": 200, "second": 120, "ours": 6}
EVERY = {"second": "* * * * * ?", "two": "0/2 * * * * ?", "three": "0/3 * * * * ?"}


GALERA = "galera"


def servers_of(db):
    return getattr(db, "servers", [db])


class Play:
    """One database: everything from its start to the verdict."""

    def __init__(self, kind, folder, args, stack):
        self.args, self.stack = args, stack
        self.folder = pathlib.Path(folder)
        self.db = stack.enter_context(galera.open() if kind == GALERA else
                                      failover.Pair(kind, sync=True) if args.promote else servers.open(kind))
        self.db.create(NAME)
        self.links = stack.enter_context(links.Links([server.port for server in servers_of(self.db)], NODES))
        self.nodes = [nodes.Node(self.folder, i + 1, self._url(i)) for i in range(NODES)]
        self.keeper = nodes.Keeper(self.nodes)
        self.chaos = faults.Chaos(self.nodes, self.db, self.links, self.homes)

    def _url(self, node):
        """Each begins with another server."""
        ports = self.links.ports[node]
        first = node % len(ports)
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports[first:] + ports[:first])
        url = servers_of(self.db)[0].url(NAME, 1).replace(f":{servers.WRITTEN}@", "@")
        return url.replace("127.0.0.1:1/", f"{hosts}/")

    def homes(self, node):
        """Jobs whose next runs a node has."""
        try:
            return [int(row[0]) for row in self.db.run(
                "SELECT DISTINCT r.job_id FROM peal_run r JOIN peal_node n ON n.node = r.node AND n.epoch = r.epoch "
                f"WHERE r.phase = 1 AND n.name = '{node.name}'", NAME)]
        except Exception:  # pylint: disable=broad-except
            return []  # the database is away as well

    # -- what there is --

    def start(self):
        for node in self.nodes:
            node.launch()
            wait_until(node.ready, f"{node.name} to be ready", 60)
            self.stack.callback(self._end, node)
        self._executors()
        self._jobs()

    @staticmethod
    def _end(node):
        node.wanted = False
        if node.center.running():
            node.signal(signal.SIGKILL)
            node.process.wait()

    def _executors(self):
        ours = min(self.args.ours, self.args.executors)
        stock = max(1, self.args.executors // 8)
        apps = {"fleet": self.args.executors - ours - stock - 3, "three": 3, "stock": stock}
        urls = ",".join(node.center.url for node in self.nodes)
        command = [sys.executable, str(ROOT / "tests" / "chaos" / "fleet.py"), "--admins", urls, "--token", TOKEN,
                   "--records", str(self.folder / "records")]
        for app, count in apps.items():
            command += ["--app", f"{app}:{count}" + (":stock" if app == "stock" else "")]
        self.fleet = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.stack.callback(self.fleet.kill)
        assert self.fleet.stdout.readline() == b"ready\n"
        self.ours = [Executor(self.folder / f"ours{i}", urls, app="ours").start() for i in range(ours)]
        for executor in self.ours:
            self.stack.callback(lambda e=executor: e.running() and e.process.kill())
        self.apps = {**apps, "ours": ours}

    def _jobs(self):
        api = self.nodes[0].center.api()
        groups = {app: api.add_group(app) for app in self.apps}
        wait_until(lambda: all(len(api.addresses(app)) == count for app, count in self.apps.items()),
                   "the executors to register", 60)

        def add(app, count, every, handler="shardingJobHandler", **more):
            schedule = {"scheduleType": "CRON", "scheduleConf": EVERY[every]} if every else {}
            more = {"executorRouteStrategy": "ROUND", "misfireStrategy": "FIRE_ALL", **schedule, **more}
            return [api.add_job(groups[app], handler, **more) for _ in range(count)]
        count = self.args.second
        self.jobs = {"second": add("fleet", count * 2 // 3, "second") + add("ours", count // 6, "second") +
                     add("fleet", 2, "second", executorParam="slow"),
                     "stock": add("stock", count // 6, "second"),
                     "broadcast": add("three", 2, "two", executorRouteStrategy="SHARDING_BROADCAST"),
                     "shaky": add("fleet", 2, "three", executorParam="fail", executorFailRetryCount=1, retryDelayMs=500),
                     "child": add("fleet", 2, None)}
        self.jobs["parent"] = [add("fleet", 1, "two", childJobId=str(child))[0] for child in self.jobs["child"]]
        self.jobs.update({"by hand": add("fleet", 2, None), "edited": add("fleet", 2, "second", executorParam="edit 0"),
                          "stopped": add("fleet", 2, "second")})
        self.started = [job for what, found in self.jobs.items() if what not in ("by hand", "child") for job in found]
        for job in self.started:
            api.start_job(job)
        self.first = int(time.time() * 1000) + 2000

    # -- the minutes --

    def run(self):
        several = len(self.db.servers) if self.db.kind == GALERA else 1
        plan = faults.plan(self.args.seed, self.args.minutes * 60, NODES, self.args.without, several)
        (self.folder / "plan").write_text("".join(f"{fault}\n" for fault in plan))
        self.users = users.Users(self.nodes, PASSWORD, self.jobs, self.chaos.calm, self.args.seed)
        self.chaos.ask = self.users.ask
        began = time.monotonic()
        with self.keeper:
            with self.users:
                self.chaos.run(plan, lambda fault: self.args.verbose and print(fault, flush=True))
                self.chaos.join()
                time.sleep(max(0, began + self.args.minutes * 60 - time.monotonic()))
            for node in self.nodes:
                wait_until(node.ready, f"{node.name} to be ready again", 120, 0.2)
            self._settle()

    def _settle(self):
        """Each-second jobs have caught up; then all jobs are stopped, and everything ends."""
        as_ms = self.db.as_ms("max(trigger_time)")

        def behind():
            link = self.db.snapshot(NAME)
            try:
                now = int(time.time() * 1000)
                late = link.run(f"SELECT job_id, {as_ms} FROM xxl_job_log WHERE job_id IN "
                                f"({','.join(map(str, self.jobs['second'] + self.jobs['stock']))}) GROUP BY job_id "
                                f"HAVING {as_ms} < {now - 2500}")
            finally:
                link.close()
            assert not late, f"jobs that are behind: {late[:5]}"
            return True
        wait_until(behind, "the jobs to catch up", 90, 0.5)
        self.last = int(time.time() * 1000) - 1000
        time.sleep(2)
        for job in self.started:
            self.users.insist("POST", f"/jobs/{job}/stop", {})
        open_runs = f"SELECT count(*) FROM peal_run WHERE phase IN {judge.OPEN}"
        with contextlib.suppress(AssertionError):  # the judge says what is open
            wait_until(lambda: self.db.number(open_runs, NAME) == 0, "every run to end", 150, 0.3)
            wait_until(lambda: self.db.number("SELECT count(*) FROM peal_inbox", NAME) == 0, "the inbox to be empty", 30)
        time.sleep(1)

    # -- the verdict --

    def verdict(self):
        self.fleet.stdin.close()
        self.fleet.wait(30)
        begun = {}
        for executor in self.ours:
            executor.stop()
            for log, count in started(executor).items():
                begun[log] = begun.get(log, 0) + count
        records = judge.Records(self.folder / "records", begun)
        link = self.db.snapshot(NAME)
        it = judge.Judge(link, self.db.as_ms, records, self.jobs, self.users.asks)
        it.all(self.first, self.last, self.args.told)
        late = it.after_answers()
        if self.args.told:
            for what, found in late.items():
                it.faults[f"after the answer to a {what} of a job"] += map(str, found)
        for crash in self.keeper.crashes:
            it.faults["crashed"].append(crash)
        if self.args.keep or any(it.faults.values()):
            self._dump(link)
        self._tell(it, late)
        return not any(it.faults.values())

    def _dump(self, link):
        """The tables that were judged, for whoever looks for the cause."""
        for table in ("xxl_job_log", "peal_run", "peal_epoch", "peal_node", "peal_inbox", "peal_skip"):
            with open(self.folder / table, "w") as file:
                for row in link.run(f"SELECT * FROM {table}"):
                    file.write("\t".join("NULL" if value is None else value.replace("\n", " ") for value in row) + "\n")

    def _tell(self, it, late):
        kind = self.db.kind
        done = ", ".join(f"{count} x {what}" for what, count in sorted(self.chaos.done.items()))
        print(f"{kind}: {done}; nodes that ended by themselves: {dict(self.keeper.ends)}; answers to drains: "
              f"{dict(self.chaos.drains)}")
        print(f"{kind}: " + ", ".join(f"{what} {count}" for what, count in sorted(it.counted.items())))
        for what, found in sorted(it.faults.items()):
            print(f"{kind}: {what.upper()}: {len(found)}")
            for text in found[:self.args.show]:
                print(f"    {text}")
        must = ("lost", "doubled", "unaccounted", "failed", "results lost")
        print(f"{kind}: " + ", ".join(f"{what} {len(it.faults[what])}" for what in must))
        calm = {what: [a.took for a in self.users.of(what) if a.status == 200 and a.calm] for what in ("stop", "edit")}
        every = {what: [a.took for a in self.users.of(what) if a.status == 200] for what in ("stop", "edit")}
        figures = {"take-over": it.take_over(self.chaos.killed), "stop of a node": [s * 1000 for s in self.chaos.stops],
                   "retry, 500 after the failure was acknowledged": it.retried(),
                   "stop of a job, calm": calm["stop"], "stop of a job, all": every["stop"],
                   "edit of a job, calm": calm["edit"], "edit of a job, all": every["edit"]}
        for what, times in figures.items():
            print(f"{kind}: {what}, p50 / p99 / max ms: {judge.percentiles(times)}")
        for what, found in late.items():
            print(f"{kind}: left after the answer to a {what} of a job: {len(found)}, ms later (p50 / p99 / max): "
                  f"{judge.percentiles([ms for _, ms in found])}", flush=True)


def play(kind, args):
    folder = tempfile.mkdtemp(prefix="peal-chaos-")
    good = False
    try:
        with contextlib.ExitStack() as stack:
            it = Play(kind, folder, args, stack)
            it.start()
            it.run()
            good = it.verdict()
    finally:
        if args.keep or not good:
            print(f"{kind}: logs, records and the plan of faults are in {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help="mariadb, postgres, galera; without: those that the binary has an engine for")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--executors", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--without", default="", help="kinds of faults, separated by commas")
    parser.add_argument("--promote", action="store_true", help="with a standby, which is promoted now and then")
    parser.add_argument("--told", action="store_true", help="nothing may leave after the answer to a stop or an edit")
    parser.add_argument("--plan", action="store_true", help="print the faults and do nothing")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="say each fault when it happens")
    parser.add_argument("--show", type=int, default=5, help="so many of each kind of defect")
    args = parser.parse_args()
    for name, value in (LONG if args.long else SHORT).items():
        if getattr(args, name, None) is None:
            setattr(args, name, value)
    args.promote |= args.long
    args.without = [kind for kind in args.without.replace("-", " ").split(",") if kind]
    args.without += [] if args.promote else ["promote"]
    kinds, known = (*servers.KINDS, GALERA), (*faults.KINDS, *faults.SERVER_KINDS)
    if any(kind not in kinds for kind in args.kinds) or any(kind not in known for kind in args.without):
        parser.error(f"databases: {', '.join(kinds)}; faults: {', '.join(known)}")
    if args.executors < 10:
        parser.error("--executors: 10 at least")
    print(f"seed {args.seed}, {args.minutes:g} minutes, {args.executors} executors", flush=True)
    if args.plan:
        count = 2 if args.kinds == [GALERA] else 1
        print(*faults.plan(args.seed, args.minutes * 60, NODES, args.without, count), sep="\n")
        return
    kinds = args.kinds or [kind for kind in servers.built(binary()) if not servers.missing(kind)]
    sys.exit(0 if all([play(kind, args) for kind in kinds]) and kinds else 1)


main()
