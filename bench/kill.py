#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a kill and a restart cost, measured on real processes: the goals of the flight recorder.

The stub plays a stock executor: it does not remember log ids, answers at once and counts every id that it is given.

    bench/kill.py                    all cases
    bench/kill.py few --recorder none   one of them, as without a recorder
    bench/kill.py many --kills 100 --jobs 2000
"""
import argparse
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import run
from run import PEAL, Process, Stub, fill, fresh, get, quantile, until

SAID = re.compile(r"flight recorder of the last process: (\d+) runs may have left, (\d+) were accepted")
AWAY = 0.010


class Center(run.Center):
    """One that is started again on the same port, on a socket that this script holds (as a socket unit does)."""

    def __init__(self, data, recorder, passed):
        self.data, self.socket = data, passed
        self.port = passed.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_path = os.path.join(data, "server.log")
        begun = time.monotonic()
        command = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&%d' % passed.fileno(), "sh", PEAL,
                   "server", "--data", data, "--recorder", recorder]
        self.log = open(self.log_path, "ab")
        self.p = subprocess.Popen(command, stdout=self.log, stderr=self.log, pass_fds=[passed.fileno()],
                                  env={**os.environ, "PEAL_ACCESS_TOKEN": run.TOKEN,
                                       "PEAL_ADMIN_PASSWORD": "bench-password"})
        while True:
            if self.p.poll() is not None:
                sys.exit("the center ended: " + open(self.log_path).read())
            try:
                if get(self.url + "/readyz", 5):
                    break
            except OSError:
                time.sleep(0.001)
        self.start_ms = (time.monotonic() - begun) * 1000


class World:
    """jobs per-second jobs on one stub, and a center that is killed."""

    def __init__(self, jobs, ports, recorder):
        self.recorder = recorder
        self.folder = None
        if recorder != "none":
            self.folder = self.recorder = tempfile.mkdtemp(prefix="peal-bench-", dir="/dev/shm")
        self.data = fresh()
        self.passed = socket.create_server(("127.0.0.1", 0), backlog=4096)
        begin = (int(time.time()) + 4) * 1000
        fill(self.data, [("FIX_RATE", "1000ms", "ROUND", begin + i * 1000 // jobs) for i in range(jobs)])
        self.start()
        self.stub = Stub(self.center, "single" if jobs < 1000 else "batch", ports, 64 if jobs < 1000 else None)
        until(lambda: self.center.metrics().get("peal_executors", 0) >= ports, 20)
        until(lambda: self.stub.stats()["runs"] > 3 * jobs, 60)

    def start(self):
        self.center = Center(self.data, self.recorder, self.passed)

    def kill(self):
        self.center.stop(signal.SIGKILL)
        time.sleep(AWAY)

    def doubted(self):
        return sum(v for k, v in self.center.metrics().items() if k.startswith('peal_queue_length{queue="in_doubt"'))

    def end(self):
        until(lambda: self.doubted() == 0, 120)
        db = self.center.db()
        db.close()
        time.sleep(1)
        self.center.stop()
        time.sleep(2)  # results that the stub still sends reach no server: judged is what was given
        db = self.center.db()
        ids = get(f"http://127.0.0.1:{self.stub.port}/stub/ids")
        first = self.stub.stats()["first_id"]
        ran = {first + i for i, n in enumerate(ids) if n != "0"}
        rows = dict(db.execute("SELECT id, trigger_code FROM xxl_job_log"))
        open_rows = {row[0] for row in db.execute("SELECT log_id FROM peal_run")}
        lost = [i for i, code in rows.items() if i not in ran and i not in open_rows]
        db.close()
        doubled = self.stub.stats()["doubled"]
        self.stub.stop()
        self.passed.close()
        shutil.rmtree(self.data)
        if self.folder:
            left = glob.glob(self.folder + "/*")
            shutil.rmtree(self.folder)
            assert not left, left
        return len(lost), doubled


def asked(world):
    """(said by the recorder, in doubt at most) of the life that has just begun."""
    found = SAID.findall(open(world.center.log_path).read())
    return found[-1] if found else ("-", "-")


def one_kill(name, jobs, ports, recorder, seconds):
    world = World(jobs, ports, recorder)
    world.kill()
    world.start()
    ready = world.center.metrics()  # what fell due meanwhile has left
    most, settled, begun = 0, None, time.monotonic()
    while time.monotonic() < begun + seconds:
        now = world.doubted()
        most = max(most, now)
        if now == 0 and settled is None and most:
            settled = time.monotonic() - begun
        time.sleep(0.02)
    metrics = world.center.metrics()
    leaving, accepted = asked(world)
    since = {k: v - ready.get(k, 0) for k, v in metrics.items()}
    p99, latest = quantile(since, "peal_lateness_seconds", 0.99), metrics["peal_lateness_max_seconds"] * 1000
    lost, doubled = world.end()
    print(f"{name}: {jobs} firings/s, recorder {'none' if recorder == 'none' else 'yes'}: leaving {leaving}, accepted "
          f"{accepted}, in doubt at most {most:.0f}, settled after {settled or 0:.1f} s; restart {world.center.start_ms:.0f} "
          f"ms; lateness of the {seconds} s after it p99 {p99:.1f} ms, latest {latest:.0f} ms; lost {lost}, doubled {doubled}",
          flush=True)


def many_kills(recorder, kills, jobs):
    seconds = kills * 2
    world = World(jobs, 2 if jobs < 1000 else 8, recorder)
    longest, late, doubts, begun = 0.0, [], 0, time.monotonic()
    for i in range(kills):
        time.sleep(max(0, begun + i * seconds / kills - time.monotonic()))
        late.append(world.center.metrics()["peal_lateness_max_seconds"] * 1000)
        before = time.monotonic()
        world.kill()
        world.start()
        longest = max(longest, (time.monotonic() - before) * 1000)
        leaving, accepted = asked(world)
        doubts += int(leaving) if leaving != "-" else 0
    time.sleep(3)
    stats, unaccounted = world.stub.stats(), world.center.metrics()["peal_firings_unaccounted"]
    lost, doubled = world.end()
    print(f"many: {kills} kills in {seconds} s, {jobs} firings/s: runs that may have left {doubts}; longest restart "
          f"{longest:.0f} ms; latest send of any life {max(late):.0f} ms; at the stub {lateness(stats)}; lost {lost}, "
          f"doubled {doubled}, unaccounted {unaccounted:.0f}", flush=True)


def lateness(stats):
    late = stats["lateness_us"]
    return f"p50 {late['p50'] / 1000:.1f} ms, p99 {late['p99'] / 1000:.1f} ms, latest {late['max'] / 1000:.0f} ms"


def restart(recorder, jobs=5000):
    world = World(jobs, 8, recorder)
    before = time.monotonic()
    world.center.stop()
    stopped = (time.monotonic() - before) * 1000
    world.start()
    gap = (time.monotonic() - before) * 1000
    time.sleep(10)
    metrics = world.center.metrics()
    latest, p99 = metrics["peal_lateness_max_seconds"] * 1000, quantile(metrics, "peal_lateness_seconds", 0.99)
    again = world.stub.stats()
    lost, doubled = world.end()
    print(f"restart: SIGTERM and start under {jobs} firings/s: gap {gap:.0f} ms ({stopped:.0f} "
          f"to stop), latest send {latest:.0f} ms, p99 of 10 s "
          f"{p99:.1f} ms, callbacks that failed {again['callback_requests_failed']}, lost {lost}, doubled {doubled}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="*", help="of cost few fast many restart; all without")
    parser.add_argument("--recorder", default="yes", help="none: as without one")
    parser.add_argument("--kills", type=int, default=60, help="of many, one in two seconds")
    parser.add_argument("--jobs", type=int, default=500, help="of many, each due once a second")
    options = parser.parse_args()
    cases = {
        "cost": lambda: print("cost:", subprocess.run([os.path.join(run.BUILD, "bench", "bench_flight")], check=True,
                                                      capture_output=True, text=True).stdout.strip(), flush=True),
        "few": lambda: one_kill("few", 150, 1, options.recorder, 20),
        "fast": lambda: one_kill("fast", 5000, 8, options.recorder, 20),
        "many": lambda: many_kills(options.recorder, options.kills, options.jobs),
        "restart": lambda: restart(options.recorder),
    }
    for name, case in cases.items():
        if not options.cases or name in options.cases:
            case()


if __name__ == "__main__":
    main()
