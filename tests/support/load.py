# SPDX-License-Identifier: Apache-2.0
"""A center under load, with executors that forget log ids (bench/stub) and one that remembers them, and an account of
every run. The account is made from the tables and from what executors saw."""

import collections
import time

from . import figures, ledger
from .center import Center
from .executor import Executor
from .stub import Stub
from .wait import PATIENCE, wait_until

EVERY_SECOND, TEN_A_SECOND = 260, 5  # jobs of the stub: 310 firings a second
OF_OURS = 20                         # per-second jobs of `peal executor`


def started(executor):
    """{log id: how often its run began} by the logs of an executor."""
    found = collections.Counter()
    for path in executor.logs.glob("*/*.log"):
        found[int(path.stem)] += path.read_text(errors="replace").count("job execute start")
    return found


def ended(executor):
    """Log ids whose run has ended by the logs of an executor."""
    return {int(path.stem) for path in executor.logs.glob("*/*.log")
            if "job execute end(" in path.read_text(errors="replace")}


class Load:
    """A center with per-second and 100 ms jobs on the stub and on an executor of ours. However late something is, it
    runs: a machine that has no time for the stub is no loss. watched: per-second jobs of a group "watched", whose
    executor the caller is."""

    def __init__(self, folder, one=EVERY_SECOND, ten=TEN_A_SECOND, ours=OF_OURS, watched=0):
        self.folder = folder
        self.may_refuse = None  # a text: runs that were refused with it, before a byte of them left, are no fault
        self.refused = set()
        self.center = Center(folder / "center", ["--start.deadline", "1h"]).start()
        api = self.center.api()
        self.groups = {app: api.add_group(app) for app in ("bench", "ours", "watched")}
        self.center.stop()
        begin = int((time.time() + 4 * PATIENCE) * 1000)  # when executors have registered, on a slow machine too

        def add(app, jobs):
            return ledger.add_jobs(self.center, self.groups[app], jobs, misfire="FIRE_ALL")
        self.one = add("bench", [
            ("stub", "", "FIX_RATE", "1000ms", "ROUND", begin + i * 1000 // one) for i in range(one)])
        self.ten = add("bench", [("stub", "", "FIX_RATE", "100ms", "ROUND", begin + i) for i in range(ten)])
        self.ours = add("ours", [
            ("shardingJobHandler", "", "FIX_RATE", "1000ms", "FIRST", begin + i * 50) for i in range(ours)])
        self.watched = add("watched", [
            ("watched", "", "FIX_RATE", "1000ms", "FIRST", begin + i * 50) for i in range(watched)])
        self.jobs = self.one + self.ten + self.ours + self.watched

    def __enter__(self):
        self.center.start()
        self.stub = Stub(self.folder, self.center, "--ports", "2").__enter__()
        self.executor = Executor(self.folder / "executor", self.center.url, app="ours").start()
        return self

    def __exit__(self, kind, *_):
        self.executor.__exit__(kind)
        self.stub.__exit__()
        self.center.__exit__(kind)

    def wait_for_more(self, runs):
        """Wait until the stub was given so many more."""
        goal = self.stub.stats()["runs"] + runs
        wait_until(lambda: self.stub.stats()["runs"] >= goal, f"{runs} more runs", 60, 0.02)

    def finish(self):
        """Stop all jobs and wait until every run has ended. A stop would withdraw what is in doubt."""
        wait_until(lambda: self.center.metric("peal_queue_length", queue="in_doubt") == 0, "doubts to end", 60)
        api = self.center.api()
        for job in self.jobs:
            api.stop_job(job)
        ledger.settle(self.center, 120)

    def check(self):
        with ledger.one_look(self.center):
            self.check_rows()

    def check_rows(self):
        ledger.check_accounts(self.center)
        figures.check(self.center)
        bad = ledger.rows(self.center, "SELECT id, trigger_code, trigger_msg, handle_code, handle_msg "
                                       "FROM xxl_job_log WHERE handle_code <> 200")
        self.refused = {row["id"] for row in bad if row["trigger_code"] == 500 and self.may_refuse
                        and self.may_refuse in row["trigger_msg"]}
        bad = [row for row in bad if row["id"] not in self.refused]
        assert not bad, f"{len(bad)} runs without success: {[tuple(row) for row in bad[:5]]}"
        rows = sum(ledger.check_contiguous(self.center, job, 1) for job in self.one + self.ours + self.watched)
        rows += sum(ledger.check_contiguous(self.center, job, 10) for job in self.ten)
        assert rows == ledger.number(self.center, "SELECT count(*) FROM xxl_job_log")
        self.check_stub()
        self.check_ours()
        total = ledger.totals(self.center)
        assert total["lost"] - total["found"] == total["late"] == 0, total
        assert total["rejected"] == len(self.refused), (total, self.refused)

    def check_stub(self):
        ids = self.stub.ids()
        assert self.stub.stats()["doubled"] == 0, [i for i, n in ids.items() if n > 1][:5]
        given = {row[0] for row in ledger.rows(
            self.center, "SELECT id FROM xxl_job_log WHERE job_group = ?", self.groups["bench"])} - self.refused
        assert set(ids) == given, (sorted(set(ids) - given)[:5], sorted(given - set(ids))[:5])

    def check_ours(self):
        given = {row[0] for row in ledger.rows(
            self.center, "SELECT id FROM xxl_job_log WHERE job_group = ?", self.groups["ours"])} - self.refused
        runs = started(self.executor)
        for one in sorted(set(runs) ^ given)[:3]:
            self.tell(one)
        assert not set(runs) - given, "run, but not in the ledger"
        assert not given - set(runs), "in the ledger, but not run"
        assert set(runs.values()) == {1}, runs.most_common(3)

    def tell(self, log_id):
        """Print what is known of a run that should not be as it is."""
        for table, key in (("xxl_job_log", "id"), ("peal_run", "log_id")):
            for row in ledger.rows(self.center, f"SELECT * FROM {table} WHERE {key} = ?", log_id):
                print(table, dict(row))
        print(self.center.tail(200))
