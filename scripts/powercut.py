#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make powercut: the power of a center's machine goes under load, again and again, and an account of every run.

  powercut.py --rounds 200       cuts of one center on one disk; a seed is printed first
  powercut.py --seed N           the same choices again (not the same instants: those are the machine's)
  powercut.py --defect database  the disk has not got what it confirms of the database; journal: of the results
                                 journal. Both must be found: they show that these rounds would find the mistake

A cut is kill -9 at a random moment, sometimes while the center starts; in half of the rounds the database's disk is
slow, so that results are acknowledged by the journal. Then the center's folder becomes what a disk may hold:
what was synced, and a random part of the rest (tests/support/power.py). The next start finds another boot id, and no
flight recorder, or the old one, which it must not believe. Executors live on other machines: a stub that forgets log
ids (310 firings a second), `peal executor`, and one in this process whose results are looked at one by one.

Judged by the tables and by what executors and users were told, never by the center's word:

  - after each cut the database opens, and its accounts are whole;
  - a result that was acknowledged stands in its row, with its own text; so does an edit;
  - in the end each scheduled time of each job has run once: nothing is missing, nothing was sent twice.

Exit status 0: all of this holds; 3: it does not; anything else: the rounds could not be done.
"""
import argparse
import contextlib
import http.client
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from support import ledger, power  # noqa: E402 (path just set)
from support.load import Load  # noqa: E402
from support.puppet import NO_LOG, Puppet  # noqa: E402
from support.standin import YES  # noqa: E402
from support.wait import wait_until  # noqa: E402
from support.webapi import ApiError  # noqa: E402


SETTLED = 10  # cuts after which what is in doubt may come to its end
NOT_KEPT = {None: None, "database": "peal.db", "journal": "callbacks.journal"}


class Watched(Puppet):
    """An executor that knows which of its results the center has acknowledged; each has a text of its own."""

    def __init__(self, center):
        super().__init__(center, "watched")
        self.result = lambda body: {"handleCode": 200, "handleMsg": f"result of {body['logId']}"}
        self.acknowledged = set()
        self.stops = False
        self.given = {}  # {job: {log id: how often}}

    def take(self, call):
        if call.action == "run":
            with self.lock:
                ids = self.given.setdefault(call.body["jobId"], {})
                ids[call.body["logId"]] = ids.get(call.body["logId"], 0) + 1
        return super().take(call)

    def _truth(self, call):
        """As a puppet's, but quick, as there are thousands of questions."""
        if call.action == "idleBeat":
            busy = self.given.get(call.body["jobId"], {}).keys() - self.ended
            return {"code": 500, "msg": "job thread is running or has trigger queue."} if busy else YES
        if call.action != "log":
            return YES
        log = call.body["logId"]
        text = "job execute start\n" * any(log in ids for ids in self.given.values())
        text += "job execute end(finish)\n" * (log in self.ended)
        page = dict(NO_LOG, logContent=text, toLineNum=text.count("\n"))
        return dict(YES, content=page, data=page)

    def report(self, run, **result):
        self.ended.add(run["logId"])
        item = {"logId": run["logId"], "logDateTim": run["logDateTime"], **self.result(run)}
        while not self.stops:
            with contextlib.suppress(OSError, http.client.HTTPException, AssertionError, ValueError):
                if self.center.open_api("callback", [item])["code"] == 200:
                    self.acknowledged.add(run["logId"])
                    return
            time.sleep(0.05)

    def missing(self, acknowledged):
        """Of these, the ones whose row does not have the result."""
        found = {row["id"]: row["handle_msg"] for row in ledger.rows(
            self.center, "SELECT id, handle_msg FROM xxl_job_log WHERE job_group = "
            "(SELECT id FROM xxl_job_group WHERE app_name = 'watched') AND handle_code = 200")}
        return sorted(one for one in acknowledged if found.get(one) != f"result of {one}")

    def doubled(self):
        with self.lock:
            return [one for ids in self.given.values() for one, n in ids.items() if n > 1]


class Editor(threading.Thread):
    """A user who adds a group every now and then, and keeps the names of those that were acknowledged."""

    def __init__(self, center):
        super().__init__(daemon=True)
        self.center, self.api, self.stops = center, center.api(), threading.Event()
        self.acknowledged, self.refused = [], []

    def run(self):
        n = 0
        while not self.stops.wait(0.05):
            n += 1
            try:
                self.api.call("/jobgroup/insert", appname=f"edit-{n}", title="of a user", addressType=0, addressList="")
                self.acknowledged.append(f"edit-{n}")
            except (OSError, http.client.HTTPException, ValueError):
                pass  # the center is away: what has become of it is not known
            except (ApiError, AssertionError) as refused:
                self.refused.append(str(refused))

    def missing(self):
        known = list(self.acknowledged)
        found = {row[0] for row in ledger.rows(self.center, "SELECT app_name FROM xxl_job_group")}
        return [name for name in known if name not in found]


class Machine(Load):
    """The load, with a center whose machine loses its power."""

    def __init__(self, folder, dice, defect):
        super().__init__(folder, one=120, ten=2, ours=10, watched=3)
        self.dice = dice
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="peal-power-", dir="/dev/shm"))
        self.disk = power.PowerDisk(self.center.data, self.work, NOT_KEPT[defect])
        self.by_journal = 0  # rounds in which the journal had results at the cut
        self.pace()

    def pace(self):
        """What the disk is like from the next start on."""
        self.disk.pace(3000, *self.dice.choice([("", 0), ("peal.db", 60000)]))
        self.center._env.update(self.disk.env)

    def __enter__(self):
        super().__enter__()
        self.watcher = Watched(self.center).__enter__()
        self.editor = Editor(self.center)
        self.editor.start()
        return self

    def __exit__(self, kind, *_):
        self.watcher.stops = True
        self.editor.stops.set()
        self.editor.join()
        self.watcher.__exit__()
        super().__exit__(kind)
        shutil.rmtree(self.work)

    def cut(self):
        self.center.kill()
        said = self.disk.cut(self.dice)
        if self.dice.random() < 0.7:  # memory is empty; else as after hibernation with another kernel
            for path in self.center.recorder.iterdir():
                path.unlink()
            said += ", no recorder"
        return said

    def start_and_cut(self):
        """The next cut comes while it starts, or soon after."""
        before = self.center.process
        starting = threading.Thread(target=self._try_to_start)
        starting.start()
        wait_until(lambda: self.center.process is not before, "the new process", 20, 0.001)
        time.sleep(self.dice.random() * 0.3)
        self.center.process.kill()
        self.center.process.wait()
        starting.join()
        self.center._down = True
        return self.disk.cut(self.dice)

    def _try_to_start(self):
        with contextlib.suppress(RuntimeError):
            self.center.start()

    def play(self, number):
        if number % SETTLED == 0:  # an executor in Python answers some questions a second only
            wait_until(lambda: self.center.metric("peal_queue_length", queue="in_doubt") < 20, "doubts to end", 120, 0.5)
        self.wait_for_more(self.dice.randrange(10, 200))
        self.by_journal += self.center.metric("peal_journal_records") > 0
        time.sleep(self.dice.random() / 10)
        acknowledged = set(self.watcher.acknowledged)
        said = [self.cut()]
        while self.dice.random() < 0.15:
            said.append("again: " + self.start_and_cut())
        self.pace()
        self.center.start()
        found = []
        if lost := wait_a_moment(lambda: self.watcher.missing(acknowledged)):
            found.append(f"acknowledged results that are gone: {lost[:5]}")
        if lost := self.editor.missing():
            found.append(f"acknowledged edits that are gone: {lost[:5]}")
        if self.editor.refused:
            found.append(f"a user is told: {self.editor.refused[:5]}")
        if twice := self.watcher.doubled():
            found.append(f"sent twice: {twice[:5]}")
        if doubled := self.stub.stats()["doubled"]:
            found.append(f"{doubled} runs were sent twice")
        ledger.check_accounts(self.center)
        print(f"cut {number}: {'; '.join(said)}; {len(acknowledged)} results and {len(self.editor.acknowledged)} edits "
              "acknowledged so far", flush=True)
        return found

    def check(self):
        super().check()
        assert not self.watcher.doubled(), self.watcher.doubled()
        assert not self.watcher.missing(set(self.watcher.acknowledged))


def wait_a_moment(left):
    """What is left of something that comes to nothing soon: a journal's results are in the tables after a commit."""
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not left(), "nothing to be left", 20)
    return left()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--defect", choices=["database", "journal"])
    parser.add_argument("--keep", action="store_true", help="leave everything behind")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that processes go too
    folder = pathlib.Path(tempfile.mkdtemp(prefix="peal-powercut-"))
    found = []
    try:
        with Machine(folder, random.Random(options.seed), options.defect) as machine:
            for number in range(1, options.rounds + 1):
                found = machine.play(number)
                if found:
                    break
            else:
                machine.finish()
                machine.check()
                total = ledger.totals(machine.center)
                print(", ".join(f"{name} {total[name]}" for name in (
                    "planned", "finished", "lost", "found", "rejected", "resent")),
                    f"; results in the journal at {machine.by_journal} cuts", sep="")
    except (AssertionError, RuntimeError) as error:
        found.append(str(error))
    print("\n".join(found))
    if found or options.keep:
        print(f"left in {folder}")
    else:
        shutil.rmtree(folder)
    print(f"{options.rounds} cuts: nothing lost, nothing sent twice" if not found else "a promise was broken")
    return 3 if found else 0


if __name__ == "__main__":
    sys.exit(main())
