#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make crash: kill -9 of an executor under load, again and again, and an account of every run.

  crash.py --rounds 100          rounds of one executor on one journal; a seed is printed first
  crash.py --seed N              the same choices again (not the same instants: those are the machine's)
  crash.py --agent               `peal executor` with its command handler in place of the test's executor
  crash.py --defect forget       the journal is thrown away at each kill; rewind: an older copy comes back.
                                 Both must be found: they show that these rounds would find the mistake
  crash.py --power               each kill is a power cut: of what was not synced the disk keeps a random part
                                 (tests/support/power.py)

bench/run_load.c plays the center: it sends runs of many jobs and kinds, sends again what was in doubt, and keeps
the fate of each log id. The handlers of tests/programs/test_executor.c write down what really ran. In each round
the executor is killed at a random moment, sometimes more than once, sometimes while the center is away, refuses
results, or the disk under the journal is full; then it is started again, and when all has come to its end:

  lost       accepted, but without a result                                           must be 0
  conflict   two results of one run that differ (but see below)                       must be 0
  twice      executed more than once, without being declared idempotent               must be 0
  uninvited  executed or reported although it was refused                             must be 0
  untrue     reported as done, but never executed; idempotent, but not done           must be 0

Every round looks at all runs since the first: what a later start does to an old run is found too. A disk that was
full could not keep a result that the center has; after a crash the executor then says that the run died. Such a
pair is no conflict. Exit status 0: all are 0; 3: not all; anything else: the rounds could not be done.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from support.center import TOKEN, clean_environment  # noqa: E402 (path just set)
from support.disk import SmallDisk  # noqa: E402
from support.power import PowerDisk  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

JOBS = 84  # of seven kinds: twelve each, so that runs wait for each other
IDEMPOTENT = {"againNoteJobHandler"}
NEVER_200 = {"failNoteJobHandler", "crashNoteJobHandler"}
KINDS = ["quietNoteJobHandler", "noteJobHandler,param=20", "noteJobHandler,param=300,block=DISCARD_LATER",
         "noteJobHandler,param=150,block=COVER_EARLY", "againNoteJobHandler,param=60",
         "failNoteJobHandler,param=out of coffee", "noteJobHandler,param=3000,timeout=1,block=DISCARD_LATER",
         "processNoteJobHandler,param=30", "crashNoteJobHandler,block=DISCARD_LATER"]


def quiet_port():
    """A free port below those that outgoing connections take: else one of them may have it when the executor
    comes back, even one that the load generator opens to the executor's own address."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.sample(range(lowest // 2, lowest), 1000):
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port
    sys.exit("crash: no free port")


def build():
    """The folder of the binaries under test."""
    return pathlib.Path(os.environ.get("PEAL_BIN", ROOT / "build" / "dev" / "peal")).resolve().parent


class Load:
    """The other end: run_load as a process."""

    def __init__(self, kinds, rate, most_open):
        self.port, self.control = quiet_port(), quiet_port()
        self.process = subprocess.Popen(
            [build() / "bench" / "peal_run_load", "--port", str(self.port), "--control", str(self.control),
             "--jobs", str(JOBS), "--rate", str(rate), "--open", str(most_open), "--connections", "3",
             *(word for kind in kinds for word in ("--kind", kind))],
            env=clean_environment(PEAL_ACCESS_TOKEN=TOKEN), stdout=subprocess.DEVNULL)
        wait_until(self._answers, "the load generator to listen")

    def _answers(self):
        with contextlib.suppress(OSError):
            return self.ask("stats")

    def ask(self, what):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.control}/{what}", timeout=60) as reply:
            return reply.read().decode()

    def stats(self):
        found = re.findall(r'"(\w+)":(\d+)', self.ask("stats"))
        return collections.defaultdict(int, {name: int(value) for name, value in found})

    def ledger(self):
        """(id, handler, state, results, code, conflict) of each run."""
        for line in self.ask("ledger").splitlines():
            number, handler, state, results, code, conflict = line.split(" ")
            yield int(number), handler, state, int(results), int(code), conflict == "1"

    def settled(self):
        stats = self.stats()
        return stats["waiting_for_answers"] == 0 and stats["open"] == 0 and stats["accepted"] > 0

    def end(self):
        with contextlib.suppress(OSError):  # it may have been stopped together with us
            self.ask("quit")
        self.process.wait()


class Victim:
    """The executor."""

    def __init__(self, folder, load, agent, defect, dice):
        """dice: None, or the machine loses its power at each kill, and they say what the disk keeps."""
        self.folder = folder
        self.defect = defect
        self.dice = dice
        self.evidence = folder / "evidence"
        self.evidence.touch()
        self.data = folder / "disk"  # logs and journal
        program = [build() / "peal", "executor"] if agent else [build() / "tests" / "peal_test_executor"]
        if not os.access(program[0], os.X_OK):
            sys.exit(f"crash: {program[0]} is not built")
        self.command = [*program, "--xxl.job.admin.addresses", f"http://127.0.0.1:{load.port}",
                        "--xxl.job.executor.appname", "crash", "--xxl.job.executor.logpath", self.data / "logs",
                        "--listen", "127.0.0.1", "--xxl.job.executor.port", str(quiet_port()),
                        *(["--peal.executor.commands=sh"] if agent else [])]
        self.env = clean_environment(PEAL_ACCESS_TOKEN=TOKEN, PEAL_TEST_EVIDENCE=str(self.evidence))
        self.process = None
        self.power = PowerDisk(self.data, folder / "power") if dice else None
        self.env.update(self.power.env if dice else {})

    def start(self):
        self.make_mistake()
        with open(self.folder / "executor.log", "ab") as out:
            self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=out, cwd=self.folder)

    def make_mistake(self):
        """What a defect does to the journal before a start."""
        journal = [path for path in self.data.glob("logs/journal.db*") if self.defect]
        old = self.folder / "old-journal"
        for path in journal:
            path.unlink()
        if self.defect == "rewind" and journal:
            for path in old.iterdir():
                shutil.copy(path, self.data / "logs")

    def remember_journal(self):
        """For the defect that rewinds: what the next start will find in place of the truth."""
        old = self.folder / "old-journal"
        shutil.rmtree(old, ignore_errors=True)
        old.mkdir()
        for path in self.data.glob("logs/journal.db*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, old)

    def check_alive(self):
        if self.process.poll() is not None:
            sys.exit(f"crash: the executor ended by itself with {self.process.returncode}:\n{self.tail()}")

    def kill(self):
        self.check_alive()
        self.process.kill()
        self.process.wait()
        if self.power:
            self.power.cut(self.dice)

    def remove_logs(self):
        """As its cleaning does after days: the small disk is for the journal, not for a hundred rounds of logs."""
        for day in self.data.glob("logs/????-??-??"):
            shutil.rmtree(day)
        if self.power:
            self.power.power_on()

    def executions(self):
        return collections.Counter(map(int, self.evidence.read_text().split()))

    def tail(self):
        return (self.folder / "executor.log").read_text(errors="replace")[-4000:]


class Account:
    """What the rounds have found wrong; each run is named once."""

    def __init__(self):
        self.found = {}  # (fault, id) -> sentence
        self.forgiven = 0  # conflicts that a full disk explains

    def add(self, fault, run, handler, sentence):
        self.found.setdefault((fault, run), f"{fault}: run {run} ({handler}) {sentence}")

    def check(self, load, executions, disk_was_full):
        last = 0
        for run, handler, state, results, code, conflict in load.ledger():
            last, ran = run, executions[run]
            if state == "refused":
                if ran or results:
                    self.add("uninvited", run, handler, f"was refused, executed {ran} times, {results} results")
                continue
            if state != "accepted":
                self.add("lost", run, handler, f"is {state} although all came to rest")
            elif not results:
                self.add("lost", run, handler, f"was accepted and has no result; executed {ran} times")
            if ran > 1 and handler not in IDEMPOTENT:
                self.add("twice", run, handler, f"was executed {ran} times")
            if code == 200 and not ran or code == 200 and handler in NEVER_200:
                self.add("untrue", run, handler, f"is reported as done, executed {ran} times")
            if handler in IDEMPOTENT and state == "accepted" and results and code != 200:
                self.add("untrue", run, handler, f"is idempotent and ended with {code}")
            if conflict and disk_was_full:
                self.forgiven += 1
            elif conflict:
                self.add("conflict", run, handler, "has results that differ")
        for run in executions:
            if run > last:
                self.add("uninvited", run, "?", "was executed and never sent")

    def sum(self):
        faults = collections.Counter(fault for fault, _ in self.found)
        return ", ".join(f"{fault} {faults[fault]}" for fault in ("lost", "conflict", "twice", "uninvited", "untrue"))


class Rounds:
    def __init__(self, options, folder, disk):
        self.dice = random.Random(options.seed)
        self.disk = disk  # None: cannot be filled here
        kinds = [agent_kind(folder / "evidence", kind) for kind in ("0", "0.05", "0.3")] if options.agent else KINDS
        self.load = Load(kinds, options.rate, options.open)
        self.victim = Victim(folder, self.load, options.agent, options.defect, self.dice if options.power else None)
        self.settle_s = options.settle
        self.account = Account()
        self.kills = 0
        self.disk_was_full = False

    def wait(self, least, most):
        """A random span: the moment of a kill is the one thing here that is not an event."""
        time.sleep(self.dice.uniform(least, most))
        self.victim.check_alive()

    def wait_runs(self):
        seen = self.load.stats()["accepted"]

        def more():
            self.victim.check_alive()
            assert self.load.stats()["accepted"] > seen, self.load.ask("stats")
            return True
        wait_until(more, "runs to be accepted", max(self.settle_s, 60), 0.01)  # the executor may only just start

    def fill_disk(self):
        """Until a run is refused for it; files have room of their own for a while, which may be longer than
        a round."""
        self.disk_was_full = True
        self.disk.fill(self.victim)
        seen = self.load.stats()["refused"]
        with contextlib.suppress(AssertionError):
            wait_until(lambda: self.load.stats()["refused"] > seen, "a refusal", 5)

    def one(self, number):
        what = self.dice.choice(["plain", "plain", "twice", "away", "refuse"] + ["full"] * (self.disk is not None))
        self.load.ask("go")
        self.victim.start()
        self.wait_runs()
        if self.victim.defect == "rewind":
            self.victim.remember_journal()
        if what in ("away", "refuse"):
            self.load.ask(what)
        if what == "full":
            self.wait(0.05, 0.3)
            self.fill_disk()
        self.wait(0.02, 1.5)
        self.kill()
        if what == "full":
            self.disk.free(self.victim)
        if what == "twice":
            for _ in range(self.dice.randrange(1, 4)):
                self.victim.start()
                self.wait(0.0, 0.3)
                self.kill()
        self.victim.start()
        if what in ("away", "refuse"):
            self.wait(0.0, 1.5)
            self.load.ask("back")
        with contextlib.suppress(AssertionError if self.victim.defect else ()):
            self.wait_runs()  # with a mistake, as many runs may be lost as the load keeps open: it sends no more
        self.settle()
        self.account.check(self.load, self.victim.executions(), self.disk_was_full)
        self.kill()  # at rest: nothing of this round may come again in a later one
        self.victim.remove_logs()
        self.tell(number, what)

    def kill(self):
        self.victim.kill()
        self.kills += 1

    def settle(self):
        self.load.ask("stop")

        def done():
            self.victim.check_alive()
            return self.load.settled()
        with contextlib.suppress(AssertionError):  # what has not come by then is lost, and named
            wait_until(done, "all runs to have a result", self.settle_s, 0.05)

    def tell(self, number, what):
        stats = self.load.stats()
        print(f"round {number} ({what}): {stats['accepted']} accepted, {stats['refused']} refused, "
              f"{stats['results']} results, {stats['results_again']} again, {stats['repeats']} repeats; "
              f"{self.account.sum()}", flush=True)


def agent_kind(evidence, seconds):
    return rf'commandJobHandler,param=sh -c \"echo {{id}} >> {evidence}; sleep {seconds}\"'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--rate", type=int, default=1500, help="runs a second")
    parser.add_argument("--open", type=int, default=1500, help="runs under way at most")
    parser.add_argument("--agent", action="store_true")
    parser.add_argument("--defect", choices=["forget", "rewind"])
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--settle", type=float, default=60, help="seconds after which what has no result is lost")
    parser.add_argument("--keep", action="store_true", help="leave journal, logs and evidence behind")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that processes and the mount go too
    folder = pathlib.Path(tempfile.mkdtemp(prefix="peal-crash-"))
    with SmallDisk(folder, "64m") as disk:
        rounds = Rounds(options, folder, disk if disk.mounted and not options.power else None)
        if not disk.mounted:
            print("no tmpfs can be mounted here: rounds with a full disk are left out")
        try:
            for number in range(1, options.rounds + 1):
                rounds.one(number)
                if rounds.account.found:
                    break
        finally:
            if rounds.victim.process and rounds.victim.process.poll() is None:
                rounds.victim.kill()
            rounds.load.end()
        said = rounds.victim.tail()
        if disk.mounted and (options.keep or rounds.account.found):
            shutil.copytree(disk.folder, folder / "kept")
    account = rounds.account
    for sentence in list(account.found.values())[:20]:
        print(sentence)
    if account.found:
        print(said)
    if options.keep or account.found:
        print(f"left in {folder}")
    else:
        shutil.rmtree(folder)
    print(f"{rounds.kills} kills: {account.sum()}"
          + (f"; {account.forgiven} results that a full disk could not keep" if account.forgiven else ""))
    return 3 if account.found else 0


if __name__ == "__main__":
    sys.exit(main())
