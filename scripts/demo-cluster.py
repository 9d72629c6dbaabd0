#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make demo-cluster: three nodes on one database, two executors, jobs that fire each second. Kill a node and watch the
others take over.

  demo-cluster.py                on PostgreSQL or MariaDB, whichever is installed
  demo-cluster.py mariadb        on that one
  demo-cluster.py --seconds 60   end by itself

The keys: 1 2 3 kill node 1 2 3 with kill -9; 4 5 6 start it again; 0 (or Ctrl-C) ends all. On a terminal the screen is
drawn anew four times a second; in a pipe a line is written each second and at each event, and the keys are read from
standard input all the same. Everything is in a temporary folder, which is removed at the end.

What it shows is read from the tables: which node a run belongs to (peal_run), what has become of it (xxl_job_log), and
`unaccounted`: planned less ended less open, which stays 0.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
import tty

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from chaos.nodes import Node  # noqa: E402 (path just set)
from support import servers  # noqa: E402
from support.center import PASSWORD, binary  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.wait import wait_until  # noqa: E402

NAME = "demo"
JOBS = 6
SECONDS = 24  # that the screen shows of each node
KILL, START, END = "123", "456", "0"
RUNS = """SELECT r.log_id, r.job_id, n.name, r.due_ms, r.phase FROM peal_run r
    JOIN peal_node n ON n.node = r.node AND n.epoch = r.epoch"""
ENDED = "SELECT count(*) FROM xxl_job_log WHERE handle_code = 200"
UNACCOUNTED = """SELECT (SELECT sum(planned - finished - rejected - lost - skipped - withdrawn + found) FROM peal_epoch)
    - (SELECT count(*) FROM peal_run WHERE phase <= 4)"""


class Board:
    """What is known of the runs: which node fired which job at which second."""

    def __init__(self, db):
        self.link = db.snapshot(NAME)
        self.link.run("COMMIT")
        self.fired = collections.defaultdict(dict)  # second: {job: node's name}
        self.ended = self.unaccounted = 0

    def look(self):
        now = time.time()
        for _, job, node, due, phase in self.link.run(RUNS):
            second = int(due) // 1000
            if int(phase) > 1 or second < now:  # planned ones may still go to another node
                self.fired[second][int(job)] = node
            elif second < now + 0.3:
                self.fired[second].setdefault(int(job), node)
        self.ended = int(self.link.run(ENDED)[0][0])
        self.unaccounted = int(self.link.run(UNACCOUNTED)[0][0] or 0)
        for old in [second for second in self.fired if second < now - 2 * SECONDS]:
            del self.fired[old]

    def jobs(self, second, node):
        return sorted(job for job, name in self.fired.get(second, {}).items() if name == node)


class Demo:
    def __init__(self, kind, folder, stack):
        self.db = stack.enter_context(servers.open(kind))
        url = self.db.create(NAME).replace(f":{servers.WRITTEN}@", "@")
        self.nodes = [Node(folder, i + 1, url) for i in range(3)]
        for node in self.nodes:
            stack.callback(self._end, node)
            node.launch()
            wait_until(node.ready, f"{node.name} to be ready", 60)
        urls = ",".join(node.center.url for node in self.nodes)
        self.executors = [Executor(folder / f"executor{i}", urls, app="demo").start() for i in (1, 2)]
        for executor in self.executors:
            stack.callback(lambda e=executor: e.running() and e.process.kill())
        api = self.nodes[0].center.api()
        group = api.add_group("demo")
        wait_until(lambda: len(api.addresses("demo")) == 2, "the executors to register", 60)
        jobs = [api.add_job(group, "shardingJobHandler", jobDesc=f"job {i + 1}", scheduleType="CRON",
                            scheduleConf="* * * * * ?", misfireStrategy="FIRE_ALL", executorRouteStrategy="ROUND")
                for i in range(JOBS)]
        for job in jobs:
            api.start_job(job)
        self.board = Board(self.db)
        self.events = collections.deque(maxlen=5)
        self.pipe = not sys.stdout.isatty()

    @staticmethod
    def _end(node):
        node.wanted = False
        if node.center.running():
            node.signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                node.process.wait(10)
            node.signal(signal.SIGKILL)
            node.process.wait()

    # -- keys --

    def key(self, key):
        """False: the end."""
        if key == END:
            return False
        if key in KILL and self.nodes[KILL.index(key)].center.running():
            node = self.nodes[KILL.index(key)]
            node.kill()
            self.event(f"{node.name} killed with -9")
        elif key in START and not self.nodes[START.index(key)].center.running():
            node = self.nodes[START.index(key)]
            node.launch()
            self.event(f"{node.name} started again")
        return True

    def event(self, text):
        self.events.append(f"{time.strftime('%H:%M:%S')}  {text}")
        if self.pipe:
            print(self.events[-1], flush=True)

    def watch(self):
        """A node that has ended by itself was given up by the others."""
        for node in self.nodes:
            if node.wanted and not node.center.running():
                node.wanted = False
                self.event(f"{node.name} has ended by itself, status {node.process.returncode}")

    # -- what is shown --

    def introduce(self):
        for node in self.nodes:
            print(f"{node.name}: console {node.center.url}, user admin, password {PASSWORD}")
        print(f"database: {self.db.kind}; {JOBS} jobs fire each second; executors "
              f"{', '.join(e.address for e in self.executors)}")
        print("keys: 1 2 3 kill a node with -9, 4 5 6 start it again, 0 ends all", flush=True)

    def line(self, second):
        """A second that is over, as a line."""
        jobs = {node.name: " ".join(map(str, self.board.jobs(second, node.name))) or "-" for node in self.nodes}
        parts = [f"{name}: {found}" for name, found in jobs.items()]
        print(f"{time.strftime('%H:%M:%S', time.localtime(second))}  fired by " + " | ".join(parts) +
              f" | succeeded {self.board.ended}, unaccounted {self.board.unaccounted}", flush=True)

    def draw(self):
        now = int(time.time())
        out = ["\033[H\033[J", f"Three nodes, one {self.db.kind} database. Which jobs each node fired, by the second:\r\n\r\n"]
        for job in range(1, JOBS + 1):
            cells = [self.board.fired.get(s, {}).get(job, "") for s in range(now - SECONDS, now)]
            out.append(f"  job {job}   " + "".join(self._cell(name) for name in cells) + "\r\n")
        out.append("\r\n")
        for i, node in enumerate(self.nodes):
            state = "up  " if node.center.running() else "DOWN"
            jobs = " ".join(map(str, self.board.jobs(now - 1, node.name))) or "-"
            color = 41 + i if node.center.running() else 7
            out.append(f"  \033[{color}m {i + 1} \033[0m {node.name}  {state}  {node.center.url}  fires {jobs}\r\n")
        out.append(f"\r\n  succeeded {self.board.ended}   unaccounted {self.board.unaccounted}\r\n\r\n")
        out += [f"  {event}\r\n" for event in self.events]
        out.append("\r\n  1 2 3 kill a node with -9   4 5 6 start it again   0 ends all\r\n")
        sys.stdout.write("".join(out))
        sys.stdout.flush()

    @staticmethod
    def _cell(name):
        return f"\033[{40 + int(name[4:])}m {name[4:]}\033[0m" if name else " ."

    def run(self, seconds):
        end, said, keys = time.monotonic() + seconds, int(time.time()), True
        while time.monotonic() < end:
            ready = keys and select.select([sys.stdin], [], [], 0.25)[0]
            if not keys:
                time.sleep(0.25)
            pressed = os.read(sys.stdin.fileno(), 64).decode(errors="replace") if ready else ""
            keys = keys and not (ready and not pressed)  # the input has ended: nobody presses keys
            if not all([self.key(key) for key in pressed if key.isdigit()]):
                return
            self.watch()
            self.board.look()
            if not self.pipe:
                self.draw()
            while self.pipe and said < int(time.time()) - 1:
                said += 1
                self.line(said)


@contextlib.contextmanager
def keyboard():
    """Keys come at once, without Enter, where there is a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=servers.KINDS)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()
    there = [kind for kind in reversed(servers.built(binary())) if not servers.missing(kind)]
    if args.kind and args.kind not in there or not there:
        sys.exit(f"{args.kind or 'a database server'} is not installed: scripts/install-deps.sh database")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="peal-cluster-")))
        print("starting the database, three nodes and two executors ...", flush=True)
        demo = Demo(args.kind or there[0], folder, stack)
        demo.introduce()
        with keyboard(), contextlib.suppress(KeyboardInterrupt):
            demo.run(args.seconds)
        print("stopping ...", flush=True)
    print("Everything is stopped; the data is removed.", flush=True)


main()
