#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A center and a Java admin schedule on one database at the same time. Each scheduled time is fired by one of them: judged
by what the executor has seen, and by the tables. As a program it does the same for longer: --seconds 1800."""
import argparse
import calendar
import contextlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support import mariadb, webapi
from support.center import Center, binary
from support.java_admin import JavaAdmin, now_ms
from support.puppet import Puppet
from support.wait import PATIENCE, wait_until
from support.xxl_tables import make

pytestmark = pytest.mark.skipif(mariadb.missing() is not None and not os.environ.get("CI"),
                                reason="no MariaDB server here (apt-get install mariadb-server)")
ZONE, ZONE_S = "Asia/Shanghai", 8 * 3600
PARKED = 4_102_444_800_000
STEADY, EDITED, PARKED_JOB = range(1, 9), range(11, 15), 21
SECONDS = 40
MANUAL_ENDED = f"SELECT count(*) FROM NAME.xxl_job_log WHERE job_id = {PARKED_JOB} AND handle_code = 200"
PAUSES = [0.001] * 10 + [0.5, 1, 2]  # between two scans of the Java admin
THOUGHTS = [0, 0.05, 0.5]            # between what it reads and what it writes, under the lock


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="peal-beside-") as folder, mariadb.MariaDB(folder + "/db") as it:
        yield it


def ms(wall):
    return (calendar.timegm(time.strptime(wall[:19], "%Y-%m-%d %H:%M:%S")) - ZONE_S) * 1000


class QuickAdmin(JavaAdmin):
    """Scans in bursts, as fast as it can, with pauses in which the center comes first. Says which scheduled times it leaves
    out because it was late, as XXL-JOB does."""

    def __init__(self, *args):
        super().__init__(*args)
        self.left_out = []  # (job, behind, before)

    def rest(self, found, began):
        self.stopping.wait(random.choice(PAUSES))

    def think(self, rows):
        if rows:
            self.stopping.wait(random.choice(THOUGHTS))

    def late(self, job, moment, following):
        self.left_out.append((job, moment, following))


class Shared:
    """An installation whose jobs fire each second or two, and one that XXL-JOB does not know."""

    def __init__(self, server, name, layout="3.4"):
        self.server, self.name = server, name
        self.db = server.connect("")
        make(self.db, name, layout)
        self.db.run("USE mysql")
        first = now_ms() // 1000 * 1000 + 6000
        for job in (*STEADY, *EDITED):
            self.job(job, "CRON", f"0/{1 + job % 2} * * * * ?", first // 2000 * 2000)
        self.job(PARKED_JOB, "FIX_RATE", "1500ms", 0, running=0)

    def job(self, job, kind, conf, following, running=1):
        self.run("INSERT INTO NAME.xxl_job_info (id, job_group, job_desc, author, schedule_type, schedule_conf, glue_type, "
                 "executor_handler, executor_route_strategy, executor_block_strategy, trigger_status, trigger_next_time) "
                 "VALUES (%s, 1, '任务', 'us', %s, %s, 'BEAN', 'demo', 'FIRST', 'SERIAL_EXECUTION', %s, %s)", job, kind, conf,
                 running, following)

    def run(self, sql, *values):
        return self.db.run(sql.replace("NAME", self.name), *values)

    def migrate(self, *args):
        got = subprocess.run([binary(), "db", "migrate", "--db", self.server.url(self.name), "--zone", ZONE, *args],
                             capture_output=True, text=True, timeout=120 * PATIENCE)
        return got.returncode, got.stdout, got.stderr

    def java(self):
        return QuickAdmin(lambda: self.server.connect(self.name), ZONE_S)

    def center(self, folder):
        return Center(folder, ["--db", self.server.url(self.name), "--zone", ZONE], password="123456")

    # ---- judging

    def fired(self, puppet):
        """job -> the scheduled times that were fired, by XXL-JOB's rows and by what the executor was told."""
        found = {}
        for job, wall in self.run("SELECT job_id, trigger_time FROM NAME.xxl_job_log WHERE trigger_msg LIKE %s",
                                  "%Cron触发%"):
            found.setdefault(int(job), []).append(ms(wall))
        rows = {int(log): (int(job), ms(wall)) for log, job, wall in self.run(
            "SELECT id, job_id, trigger_time FROM NAME.xxl_job_log WHERE trigger_msg IS NULL OR trigger_msg NOT LIKE %s",
            "%触发%")}
        told = set()
        for call in list(puppet.calls):
            if call.action == "run":
                assert call.body["logId"] not in told, call
                told.add(call.body["logId"])
                job, at = rows.get(call.body["logId"], (None, None))
                assert job == call.body["jobId"], call
                found.setdefault(job, []).append(at)
        return found

    def missing(self, puppet, java, first, last):
        """Of the jobs that nobody edits: scheduled times that were neither fired nor said to be left out."""
        fired, gone = self.fired(puppet), set()
        skips = [(int(job), int(begin), int(end)) for job, begin, end in
                 self.run("SELECT job_id, from_ms, to_ms FROM NAME.peal_skip")]
        for job in STEADY:
            every = (1 + job % 2) * 1000
            for at in range(-(-first // every) * every, last, every):
                skipped = any(j == job and begin <= at <= end for j, begin, end in skips)
                left_out = any(j == job and behind < at < before for j, behind, before in java.left_out)
                if at not in fired.get(job, ()) and not skipped and not left_out:
                    gone.add((job, at))
        return gone

    def check_once(self, puppet):
        for job, times in self.fired(puppet).items():
            if job != PARKED_JOB:  # two of its times may lie in one second
                twice = sorted({at for at in times if times.count(at) > 1})
                assert not twice, (job, twice)


def people(it, java, stopping):
    """Stop, start, change and trigger jobs in XXL-JOB, each in a transaction that has the job's row first."""
    db, n = it.server.connect(it.name), 0
    with contextlib.closing(db):
        while not stopping.wait(0.3):
            job = EDITED[n % len(EDITED)]
            db.run("START TRANSACTION")
            status = int(db.run("SELECT trigger_status FROM xxl_job_info WHERE id = %s FOR UPDATE", job)[0][0])
            if n % 3 == 0 and status:
                java.set_conf(db, job, "CRON", f"0/{1 + n % 2} * * * * ?")
            else:
                java.set_running(db, job, not status)
            db.run("COMMIT")
            java.trigger(db, job, "MANUAL", now_ms())
            n += 1


def both_at_work(it, folder, seconds):
    status, out, err = it.migrate("--beside", "--indexes")
    assert (status, err) == (0, "") and "go on scheduling" in out
    stopping = threading.Event()
    with it.center(folder) as center, Puppet(center, "app") as puppet, it.java() as java:
        api = webapi.WebApi(center.port, "3.3", "admin", "123456")
        office = threading.Thread(target=java._guard, args=(lambda _db: people(it, java, stopping),))
        office.start()
        first = now_ms() + 10_000  # the first jobs are due by then, for both
        api.start_job(PARKED_JOB)
        until = time.monotonic() + seconds
        wait_until(lambda: now_ms() > first, "the time that is judged to begin", 60)
        while time.monotonic() < until:
            puppet.register()  # as an executor does
            api.call("/jobinfo/update", **{**changed(api, STEADY[0]), "executorParam": str(now_ms())})
            stopping.wait(1)
        last = now_ms()

        def all_fired():
            gone = it.missing(puppet, java, first, last)
            assert not gone, sorted(gone)
            return True

        wait_until(all_fired, "each scheduled time to be fired", 40)
        stopping.set()
        office.join()
        wait_until(lambda: by_time(it, api, first, last), "all rows of the log to be found by their time", 60)
        wait_until(lambda: sum(call.action == "run" and call.body["jobId"] == PARKED_JOB for call in puppet.calls) > 3,
                   "runs of the job that XXL-JOB does not know", 60)
        assert it.run("SELECT trigger_next_time FROM NAME.xxl_job_info WHERE id = %s", PARKED_JOB) == [(str(PARKED),)]
    it.check_once(puppet)
    fired = it.fired(puppet)
    by_java = int(it.run("SELECT count(*) FROM NAME.xxl_job_log WHERE trigger_msg LIKE %s", "%Cron触发%")[0][0])
    by_peal = sum(call.action == "run" and call.body["jobId"] != PARKED_JOB for call in puppet.calls)
    assert by_java and by_peal, (by_java, by_peal)
    return by_java, by_peal, sum(map(len, fired.values()))


def by_time(it, api, first, last):
    begin, end = (time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at // 1000 + ZONE_S)) for at in (first, last))
    want = it.run("SELECT id FROM NAME.xxl_job_log WHERE job_id = %s AND trigger_time BETWEEN %s AND %s",
                  STEADY[1], begin, end)
    page = api.pages("/joblog/pageList", jobGroup=1, jobId=STEADY[1], logStatus=-1, filterTime=f"{begin} - {end}")
    assert sorted(row["id"] for row in page) == sorted(int(row[0]) for row in want)
    return True


def changed(api, job):
    keep = ("id", "jobGroup", "jobDesc", "author", "alarmEmail", "scheduleType", "scheduleConf", "misfireStrategy",
            "executorRouteStrategy", "executorHandler", "executorParam", "executorBlockStrategy", "executorTimeout",
            "executorFailRetryCount", "glueType", "childJobId")
    row = next(row for row in api.pages("/jobinfo/pageList", jobGroup=1, triggerStatus=-1) if row["id"] == job)
    return {name: "" if row.get(name) is None else row[name] for name in keep}


def test_each_scheduled_time_is_fired_by_one_of_them(server, tmp_path):
    it = Shared(server, "mixed")
    both_at_work(it, tmp_path, SECONDS)
    it.db.close()


def test_nothing_is_planned_while_a_java_admin_scans(server, tmp_path):
    """Results, and runs that people ask for, do not wait for its scan."""
    it = Shared(server, "scan")
    assert it.migrate("--beside")[0] == 0
    next_times = "SELECT id, trigger_next_time FROM NAME.xxl_job_info ORDER BY id"
    with it.center(tmp_path) as center, Puppet(center, "app") as puppet:
        wait_until(lambda: puppet.calls, "a run", 60)
        java = server.connect(it.name)
        java.run("START TRANSACTION")
        java.run("SELECT * FROM xxl_job_lock WHERE lock_name = 'schedule_lock' FOR UPDATE")
        planned, errors = it.run(next_times), center.metric("peal_commit_errors_total")
        wait_until(lambda: it.run("SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"),
                   "the center to wait for the lock", 60, 0.3)  # the server keeps what was read 0.1 s before
        api = webapi.WebApi(center.port, "3.3", "admin", "123456")
        for _ in range(3):
            ended = it.run(MANUAL_ENDED)[0][0]
            api.trigger(PARKED_JOB)
            wait_until(lambda: it.run(MANUAL_ENDED)[0][0] > ended, "a run by hand to have its result", 60)
        assert it.run(next_times) == planned and center.metric("peal_commit_errors_total") == errors
        java.close()
        wait_until(lambda: it.run(next_times) != planned, "the center to plan", 60)
    it.db.close()


def test_an_edit_leaves_a_job_where_a_java_admin_has_put_it(server, tmp_path):
    it, job = Shared(server, "put"), 41
    far = now_ms() // 1000 * 1000 + 100 * 86_400_000  # peal_due is not looked at so far ahead
    it.job(job, "CRON", "0 0 0 1 1 ?", far)
    assert it.migrate("--beside")[0] == 0
    with it.center(tmp_path) as center:
        it.run("UPDATE NAME.xxl_job_info SET trigger_next_time = %s WHERE id = %s", far + 86_400_000, job)
        api = webapi.WebApi(center.port, "3.3", "admin", "123456")
        api.call("/jobinfo/update", **{**changed(api, job), "executorParam": "another"})
        row = it.run("SELECT executor_param, trigger_next_time FROM NAME.xxl_job_info WHERE id = %s", job)
        assert row == [("another", str(far + 86_400_000))]
    it.db.close()


def test_what_is_refused(server, tmp_path):
    it = Shared(server, "refused")
    assert it.migrate("--beside")[0] == 0
    status, _, err = it.migrate()
    assert status == 2 and "with --beside" in err
    it.run("DELETE FROM NAME.xxl_job_lock")
    center = it.center(tmp_path)
    center.launch()
    wait_until(lambda: center.process.poll() is not None, "the center to give up", 60)
    assert "INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock')" in center.output.read_text()
    it.db.close()


def test_what_java_admins_register_is_known(server, tmp_path):
    """A group, its job and its executor that a Java admin has made since the center started; results go to the admin."""
    it = Shared(server, "heard")
    assert it.migrate("--beside")[0] == 0
    with it.center(tmp_path) as center, Puppet(center, "other", automatic=False, register=False) as puppet:
        it.run("INSERT INTO NAME.xxl_job_group (id, app_name, title, address_list) VALUES (2, 'other', 'other', NULL)")
        it.run("INSERT INTO NAME.xxl_job_registry (registry_group, registry_key, registry_value, update_time) "
               "VALUES ('EXECUTOR', 'other', %s, '2020-01-01 00:00:00')", f"http://127.0.0.1:{puppet.port}/")
        it.job(31, "CRON", "0/2 * * * * ?", now_ms() // 2000 * 2000 + 6000)
        it.run("UPDATE NAME.xxl_job_info SET job_group = 2 WHERE id = 31")

        def told():
            wall = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() + ZONE_S))
            it.run("UPDATE NAME.xxl_job_registry SET update_time = %s", wall)  # as a Java admin does with each beat
            return any(call.action == "run" and call.body["jobId"] == 31 for call in puppet.calls)

        wait_until(told, "a run on the executor of the Java admin", 60)
        log = next(call.body["logId"] for call in puppet.calls if call.action == "run")
        it.run("UPDATE NAME.xxl_job_log SET handle_time = now(), handle_code = 500, handle_msg = 'of java' WHERE id = %s", log)
        wait_until(lambda: not it.run("SELECT 1 FROM NAME.peal_run WHERE log_id = %s", log), "the run to be over", 60)
        assert it.run("SELECT handle_code, handle_msg, alarm_status FROM NAME.xxl_job_log WHERE id = %s", log) == [
            ("500", "of java", "0")]  # the admin looks for failures that are in state 0
    it.db.close()


def test_a_stop_leaves_nothing_planned_to_the_java_admins(server, tmp_path):
    """They go on behind what the center has planned: all of that has left when its process is gone."""
    it = Shared(server, "emptied")
    assert it.migrate("--beside")[0] == 0
    with it.center(tmp_path) as center, Puppet(center, "app") as puppet:
        puppet.wait_for_runs(4, timeout=60)
        first = max(min(it.fired(puppet)[job]) for job in STEADY if job in it.fired(puppet))
        center.stop()
        now = now_ms()
        behind = {int(job): int(at) for job, at in it.run("SELECT id, trigger_next_time FROM NAME.xxl_job_info")}
        assert it.run("SELECT count(*) FROM NAME.peal_run WHERE phase = 1") == [("0",)]
        for job in STEADY:
            every = (1 + job % 2) * 1000
            assert behind[job] > now - every, (job, behind[job], now)
            fired = it.fired(puppet)[job]
            gone = [at for at in range(-(-first // every) * every, behind[job], every) if at not in fired]
            assert not gone, (job, gone)
    it.db.close()


def test_results_of_their_runs_end_them(server, tmp_path):
    """An executor that names the center as well may report the run of a Java admin here: the end is the admin's own text, once,
    and the children follow as they would there."""
    it, parent, child = Shared(server, "ends"), 51, 52
    it.job(parent, "NONE", "", 0, running=0)
    it.job(child, "NONE", "", 0, running=0)
    it.run("UPDATE NAME.xxl_job_info SET child_jobid = %s WHERE id = %s", f"{child},{parent},999", parent)
    assert it.migrate("--beside")[0] == 0
    log = ("INSERT INTO NAME.xxl_job_log (id, job_group, job_id, trigger_time, trigger_code, trigger_msg, handle_code, handle_msg,"
           " alarm_status) VALUES (%s, 1, %s, now(), 200, 'Cron触发', 0, %s, 0)")
    it.run(log, 5_000_001, parent, None)
    it.run(log, 5_000_002, parent, "before")
    ended = "SELECT handle_code, handle_msg, alarm_status FROM NAME.xxl_job_log WHERE id = %s AND handle_time IS NOT NULL"
    children = "SELECT count(*) FROM NAME.xxl_job_log WHERE job_id = %s AND handle_code = 200"
    with it.center(tmp_path) as center, Puppet(center, "app") as puppet:
        def report(run, code, msg):
            reply = center.open_api("callback", [{"logId": run, "logDateTim": 0, "handleCode": code, "handleMsg": msg}])
            assert reply["code"] == 200, reply

        report(5_000_002, 500, "it failed")
        report(5_000_001, 200, "well done")
        for run in (5_000_001, 5_000_002):
            wait_until(lambda run=run: it.run(ended, run), "the result to be in the row", 60)
        assert it.run(ended, 5_000_002) == [("500", "before<br>it failed", "0")]  # its retry and its alarm are the admin's
        assert it.run(ended, 5_000_001) == [("200", "well done", "0")]
        puppet.wait_for_runs(1, child, timeout=60)
        report(5_000_001, 500, "again")
        report(5_000_002, 200, "again")
        wait_until(lambda: it.run(children, child) == [("1",)], "the child to end", 60)
        api = webapi.WebApi(center.port, "3.3", "admin", "123456")
        api.trigger(child)
        wait_until(lambda: it.run(children, child) == [("2",)], "a later run of the child to end", 60)
        assert it.run(ended, 5_000_001) == [("200", "well done", "0")]
        assert it.run(ended, 5_000_002) == [("500", "before<br>it failed", "0")]
        assert len(puppet.runs(child)) == 2 and not puppet.runs(parent)
        assert center.metric("peal_firings_unaccounted") == 0
    it.db.close()


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--seconds", type=float, default=1800)
    with tempfile.TemporaryDirectory(prefix="peal-beside-") as folder, mariadb.MariaDB(folder + "/db") as it:
        print("fired by Java, by Peal, in all:", *both_at_work(Shared(it, "mixed"), pathlib.Path(folder), args.parse_args().seconds))


if __name__ == "__main__":
    main()
