#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make bench, the executor's half: the figures of docs/benchmarks.md, section "The executor".

An executor of our own (tests/programs/test_executor.c, on the public header) on a fresh journal, and beside it
on the same cores bench/run_load.c, which sends runs as fast as they are answered, over as many connections as a
lane of our center has, and acknowledges results at once. Beside each rate stand the executor's CPU microseconds
a run and a spin control of the same minute.

    bench/executor.py                  all cases
    bench/executor.py rate --quick     some of them, shortened (for trying the script, not for figures)
"""
import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import run
from run import BUILD, ROOT, TOKEN, Process, free_ports, get, spin, until

EXECUTOR = os.path.join(BUILD, "tests", "peal_test_executor")
LOAD = os.path.join(BUILD, "bench", "peal_run_load")


class Load(Process):
    def __init__(self, folder, kinds, *options):
        self.port = free_ports(2)
        self.control = f"http://127.0.0.1:{self.port + 1}/"
        super().__init__([LOAD, "--port", str(self.port), "--control", str(self.port + 1),
                          *(word for kind in kinds for word in ("--kind", kind)), *options],
                         {"PEAL_ACCESS_TOKEN": TOKEN}, os.path.join(folder, "load.log"))

    def stats(self):
        with contextlib.suppress(OSError):
            return json.loads(get(self.control + "stats", 60))
        return {"accepted": 0}

    def quit(self):
        get(self.control + "quit", 60)
        self.p.wait(60)


class Executor(Process):
    def __init__(self, folder, load, *options):
        super().__init__([EXECUTOR, "--xxl.job.admin.addresses", f"http://127.0.0.1:{load.port}",
                          "--xxl.job.executor.appname", "bench", "--xxl.job.executor.logpath",
                          os.path.join(folder, "logs"), "--listen", "127.0.0.1",
                          "--xxl.job.executor.port", str(free_ports(1)), *options],
                         {"PEAL_ACCESS_TOKEN": TOKEN}, os.path.join(folder, "executor.log"))


class Pair:
    """An executor and its load, in a folder that goes away when all is measured: ext4 passes over each inode that
    was freed in the last minutes, so removing one case's logs would be felt as the next case's cost of a file."""

    folders = []

    def __init__(self, kinds, load_options, *options):
        self.folder = tempfile.mkdtemp(prefix="peal-bench-", dir=os.path.join(ROOT, "build"))
        self.folders.append(self.folder)
        self.load = Load(self.folder, kinds, *load_options)
        until(lambda: "begun" in self.load.stats(), 10)
        self.executor = Executor(self.folder, self.load, *options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.load.quit()
        self.executor.stop()

    def check(self):
        if self.executor.p.poll() is not None:
            with open(os.path.join(self.folder, "executor.log"), errors="replace") as f:
                sys.exit("the executor ended:\n" + f.read()[-4000:])


class Bench(run.Bench):
    def rate(self):
        """Accepted, run, journalled, called back: what came to its end in a window."""
        for what, kind, goal in (("a line in its log", "lineJobHandler", 20000),
                                 ("nothing in its log", "emptyJobHandler", 40000)):
            lost_before = spin(1 if self.quick else 5)
            with Pair([kind], ["--jobs", "2000", "--open", "8000", "--connections", "64", "--window", "8"]) as pair:
                until(lambda: pair.load.stats().get("results", 0) > 1000, 20)
                pair.check()
                before, cpu, other, began = (pair.load.stats(), pair.executor.cpu(), pair.load.cpu(),
                                             time.monotonic())
                time.sleep(3 if self.quick else 60)
                pair.check()
                after, took = pair.load.stats(), time.monotonic() - began
                cpu, other = pair.executor.cpu() - cpu, pair.load.cpu() - other
                rss = pair.executor.rss_mb()
                get(pair.load.control + "stop")
                settled = until(lambda: pair.load.stats()["open"] == 0, 60)
                final = pair.load.stats()
            done = after["results"] - before["results"]
            batch = done / max(after["callbacks"] - before["callbacks"], 1)
            lost = final["accepted"] - final["results"]
            self.say(f"(g) runs a second, {what}", f"{goal}/s",
                     f"{done / took:.0f}/s, {cpu * 1e6 / max(done, 1):.1f} us CPU, lost {lost}, twice told "
                     f"{final['results_again']}, refused {final['refused']}",
                     f"spin lost {max(lost_before, spin(1 if self.quick else 5)) * 100:.1f} %, load "
                     f"{other * 1e6 / max(done, 1):.1f} us, {batch:.0f} results a callback, {rss:.0f} MB"
                     + ("" if settled else ", NOT SETTLED"))

    def memory(self):
        """Runs that wait: 64 at work, the others in their jobs' queues."""
        n = 1000 if self.quick else 10000
        with Pair(["waitJobHandler,param=3600000"],
                  ["--jobs", str(n + 64), "--runs", str(n + 64), "--connections", "64"],
                  "--peal.executor.stop.timeout=0") as pair:
            until(lambda: pair.load.stats()["accepted"] >= n + 64, 60)
            pair.check()
            full = pair.executor.rss_mb()
        with Pair(["emptyJobHandler"], ["--jobs", "1000", "--runs", "1000", "--connections", "64"]) as pair:
            until(lambda: pair.load.stats().get("results", 0) >= 1000, 60)
            pair.check()
            empty = pair.executor.rss_mb()
        self.say(f"(h) {n} runs waiting, each of a job of its own", "no goal",
                 f"{full:.1f} MB, {(full - empty) * 1024 / n:.2f} KB a run", f"at rest {empty:.1f} MB")

    def program(self, letter, figure, goal, name, *arguments):
        """A program that measures one part and prints its lines."""
        path = os.path.join(BUILD, "bench", name)
        if not os.access(path, os.X_OK):
            self.say(f"({letter}) {figure}", goal, f"bench/{name}.c is not there")
            return
        out = subprocess.run([path, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
        lines = [line.strip() for line in out.stdout.splitlines() if line.strip()]
        text = "; ".join(lines)[-900:] if out.returncode == 0 else f"FAILED: {out.stderr[-300:]}"
        self.say(f"({letter}) {figure}", goal, text, f"spin lost {spin(1) * 100:.1f} %")

    def logs(self):
        self.program("i", "log lines written and read", "line 1,000,000 as fast as line 1", "bench_runlog")

    def store(self):
        self.program("j", "the journal alone", "", "bench_run_journal")

    def scripts(self):
        self.program("k", "scripts started", "<= 1.3 x a bare fork+exec loop", "bench_script")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_cases = {"rate": Bench.rate, "memory": Bench.memory, "logs": Bench.logs, "store": Bench.store,
                   "scripts": Bench.scripts}
    parser.add_argument("cases", nargs="*", help=f"of {' '.join(bench_cases)}; all without")
    parser.add_argument("--quick", action="store_true", help="shortened: tries the script")
    options = parser.parse_args()
    if not os.access(EXECUTOR, os.X_OK):
        sys.exit(f"{EXECUTOR} is not built")
    bench = Bench(options.quick)
    try:
        for name, case in bench_cases.items():
            if not options.cases or name in options.cases:
                case(bench)
    finally:
        for folder in Pair.folders:
            shutil.rmtree(folder)
    bench.write("bench-executor.md")


if __name__ == "__main__":
    main()
