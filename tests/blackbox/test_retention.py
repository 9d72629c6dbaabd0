# SPDX-License-Identifier: Apache-2.0
"""Log rows that go: by age, by number of a job's rows, and as clearLog asks; seen in the tables of a real center."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from support import ledger, webapi
from support.center import Center
from support.disk import DiskErrors
from support.executor import Executor
from support.history import days_ago, fill
from support.stepped import Clock
from support.wait import wait_until

MANY = 3000


def ids(center, where="1"):
    return [row[0] for row in ledger.rows(center, f"SELECT id FROM xxl_job_log WHERE {where} ORDER BY id")]


def made(tmp_path, rows, *args):
    """A stopped center that has these rows, and their ids; it gets the arguments."""
    center = Center(tmp_path)
    center.start()
    center.stop()
    center.args += args
    return center, fill(center, rows)


def gone(center, expected, why="the rows to go"):
    wait_until(lambda: ids(center) == expected, why, 30)


def counted(center, why, number):
    """What is gone from the tables is counted right after."""
    wait_until(lambda: center.metric("peal_log_rows_deleted_total", why=why) == number, f"{number} to be counted")


# -- by age --

def test_a_clock_far_ahead_of_the_last_commit_deletes_nothing_by_age(tmp_path):
    """What is one too many goes in the same round, after the look at ages."""
    clock = Clock(tmp_path)
    center = Center(tmp_path / "center", env=clock.env)
    center.start()
    center.stop()
    center.args += ("--log.retention-rows", "3")
    made_ids = fill(center, [{"ms": days_ago(d)} for d in (20, 10, 5, 1, 0)])
    clock.step(40 * 24 * 3600_000)
    with center:
        gone(center, made_ids[2:])
        assert center.metric("peal_log_rows_deleted_total", why="age") == 0
        assert "nothing is deleted by its age for an hour" in center.tail()
        assert b"ahead of the database's last commit" in center.get("/readyz?verbose")[2]


@pytest.mark.every_engine
def test_rows_go_after_thirty_days_unless_told_otherwise(tmp_path):
    center, made_ids = made(tmp_path, [{"ms": days_ago(d)} for d in (400, 40, 31, 29, 5, 0)])
    with center:
        gone(center, made_ids[3:])
        counted(center, "age", 3)
        assert center.metric("peal_log_rows_deleted_total") == 3
        wait_until(lambda: "3 by age" in center.tail(), "the log to say so")
        wait_until(lambda: ledger.number(center, "SELECT count(*) FROM peal_log_span") == 3, "the spans to go")


@pytest.mark.parametrize("setting", ["PEAL_LOG_RETENTION_DAYS", "XXL_JOB_LOGRETENTIONDAYS"])
def test_the_number_of_days_is_a_setting_known_by_the_name_of_xxl_job(tmp_path, setting):
    center, made_ids = made(tmp_path, [{"ms": days_ago(d)} for d in (12, 8, 6)])
    center._env[setting] = "7"
    with center:
        gone(center, made_ids[2:])


@pytest.mark.parametrize("days", ["0", "1", "2"])
def test_a_number_below_three_keeps_everything(tmp_path, days):
    rows = [{"ms": days_ago(4000)} for _ in range(3)] + [{"ms": days_ago(1), "job": 2}] * 3
    center, made_ids = made(tmp_path, rows, "--log.retention-days", days, "--log.retention-rows", "2")
    with center:  # the walk by number comes after the one by age would have come
        gone(center, made_ids[1:3] + made_ids[4:])


@pytest.mark.every_engine
def test_failures_may_stay_longer(tmp_path):
    rows = [{"ms": days_ago(d), "handle_code": code} for d in (100, 50, 20, 5) for code in (200, 500)]
    rows.append({"ms": days_ago(50), "trigger_code": 500, "handle_code": 0})
    center, made_ids = made(tmp_path, rows, "--log.retention-days", "10", "--log.retention-failed-days", "60")
    with center:
        gone(center, [made_ids[3], made_ids[5], *made_ids[6:]])


@pytest.mark.every_engine
def test_live_runs_stay_however_old(tmp_path):
    center, made_ids = made(tmp_path, [{"ms": days_ago(90)} for _ in range(5)])
    with ledger.opened(center, write=True) as db:
        db.execute("UPDATE xxl_job_log SET handle_code = 0, handle_time = NULL WHERE id = ?", (made_ids[2],))
        db.execute("INSERT INTO peal_run (log_id, job_id, kind, moment_ms, shard, shard_total, attempt, cause, phase, "
                   "doubted, broadcast, retries_left, due_ms, version, node, epoch, address) VALUES "
                   "(?, 1, 2, ?, 0, 1, 0, 1, 4, 0, 0, 0, ?, 0, 1, 1, 'http://10.255.255.1:9/')",
                   (made_ids[2], days_ago(90), days_ago(90)))
    with center:
        gone(center, [made_ids[2]])


# -- by number --

def test_of_each_job_the_newest_rows_stay(tmp_path):
    rows = [{"ms": days_ago(2) + i * 1000, "job": 1 if i % 100 else 2} for i in range(6000)]
    center, made_ids = made(tmp_path, rows, "--log.retention-rows", "50")
    jobs = {job: [n for n, row in zip(made_ids, rows) if row["job"] == job] for job in (1, 2)}
    with center:
        gone(center, sorted(jobs[1][-50:] + jobs[2][-50:]))
        counted(center, "rows", 5900)


# -- on request: clearLog --

@pytest.fixture
def kept(tmp_path):
    """A center that deletes nothing by itself, with rows of two groups and three jobs: (center, rows by id)."""
    rows = [{"ms": days_ago(d), "group": 1 + i % 2, "job": 1 + i % 3}
            for d in (400, 200, 100, 40, 3) for i in range(6)]
    center, made_ids = made(tmp_path, rows, "--log.retention-days", "0")
    with center:
        yield center, dict(zip(made_ids, rows))


@pytest.mark.every_engine
@pytest.mark.parametrize("generation", webapi.GENERATIONS)
@pytest.mark.parametrize("rule,days", [(1, 30), (2, 91), (3, 183), (4, 366), (9, -1)])
def test_clear_log_by_age(kept, generation, rule, days):
    center, rows = kept
    reply = center.api(generation).raw("/joblog/clearLog", jobGroup=0, jobId=0, type=rule)
    assert (reply["code"], reply["content"], reply["data"]) == (200, None, None)
    gone(center, [n for n, row in rows.items() if row["ms"] > days_ago(days)])


@pytest.mark.every_engine
def test_clear_log_of_a_group_and_of_a_job(kept):
    center, rows = kept
    api = center.api()
    api.call("/joblog/clearLog", jobGroup=1, jobId=0, type=3)
    old = days_ago(183)
    left = [n for n, row in rows.items() if row["group"] != 1 or row["ms"] > old]
    gone(center, left)
    api.call("/joblog/clearLog", jobGroup=2, jobId=2, type=9)
    gone(center, [n for n in left if (rows[n]["group"], rows[n]["job"]) != (2, 2)])
    counted(center, "request", len(rows) - len(ids(center)))
    wait_until(lambda: "request 2 to delete log rows is done" in center.tail(), "the log to say so")
    wait_until(lambda: ledger.number(center, "SELECT count(*) FROM peal_clean") == 0, "the request to go")


@pytest.mark.parametrize("rule,keep", [(5, 1000), (6, 10000), (7, 30000), (8, 100000)])
def test_clear_log_by_number_keeps_the_newest(tmp_path, rule, keep):
    few = MANY if keep == 1000 else 50  # what is beyond the number is tested once
    center, made_ids = made(tmp_path, [{"ms": days_ago(1), "job": 1 + i % 2} for i in range(few)],
                            "--log.retention-days", "0")
    with center:
        api = center.api()
        api.call("/joblog/clearLog", jobGroup=0, jobId=1, type=rule)
        api.call("/joblog/clearLog", jobGroup=7, jobId=0, type=9)  # nobody's: when it is done, the first is
        wait_until(lambda: ledger.number(center, "SELECT count(*) FROM peal_clean") == 0, "both requests", 30)
        of_one = made_ids[0::2]
        assert ids(center) == sorted(of_one[-keep:] + made_ids[1::2])


def test_clear_log_goes_on_after_kill_9(tmp_path):
    disk = DiskErrors(tmp_path / "errors", "peal.db-wal")
    center, _ = made(tmp_path, [{"ms": days_ago(1)} for _ in range(40_000)], "--log.retention-days", "0")
    center._env.update(disk.env)
    with center:
        api = center.api()
        disk.begin(disk.STOPS)
        with ThreadPoolExecutor() as threads:
            asked = threads.submit(api.call, "/joblog/clearLog", jobGroup=0, jobId=0, type=5)

            def written():  # one commit at a time, so that none deletes more than a step before the kill
                wait_until(disk.failures, "a commit to stand still", 20, 0.01)
                disk.let_one()
                wait_until(disk.failures, "the next one to stand still", 20, 0.01)
                return ledger.number(center, "SELECT count(*) FROM peal_clean")
            wait_until(written, "the request to be in the database", 30, 0.01)
            asked.result()
        center.kill()  # what was answered is on disk
        disk.end()
        assert ledger.number(center, "SELECT count(*) FROM peal_clean") == 1
        assert len(ids(center)) > 1000
        center.start()
        wait_until(lambda: len(ids(center)) == 1000, "the newest thousand to be left", 60)


def test_clear_log_refuses_what_breaks_a_rule(kept):
    center, rows = kept
    api = center.api()
    for rule in (0, 10, -1, None):
        reply = api.raw("/joblog/clearLog", jobGroup=0, jobId=0, type=rule)
        assert reply["code"] == 500 and "type" in reply["msg"]
    assert "jobId" in api.raw("/joblog/clearLog", jobGroup=0, jobId="x", type=9)["msg"]
    status, _, _ = webapi.request(center.port, "GET", "/joblog/clearLog?jobGroup=0&jobId=0&type=9",
                                  headers={"Cookie": api.cookie})
    assert status == 405
    assert len(ids(center)) == len(rows)


def test_clear_log_is_for_those_who_may_work_on_the_group(kept):
    center, rows = kept
    center.stop()
    with ledger.opened(center, write=True) as db:
        db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES "
                   "('bob', 'e10adc3949ba59abbe56e057f20f883e', 0, '1')")  # MD5 of 123456
    center.start()
    bob = webapi.WebApi(center.port, "3.3", "bob", "123456")
    for group in (0, 2):
        reply = bob.raw("/joblog/clearLog", jobGroup=group, jobId=0, type=9)
        assert (reply["code"], reply["msg"]) == (500, "permission limit")
    bob.call("/joblog/clearLog", jobGroup=1, jobId=0, type=9)
    gone(center, [n for n, row in rows.items() if row["group"] == 2])


def test_what_fires_meanwhile_is_kept(tmp_path):
    center, made_ids = made(tmp_path, [{"ms": days_ago(90)} for _ in range(20_000)])
    with center:
        api = center.api()
        group = api.add_group("retention")
        with Executor(tmp_path / "executor", center.url, app="retention"):
            wait_until(lambda: api.addresses("retention"), "the executor in its group")
            job = api.add_job(group, "shardingJobHandler", scheduleType="CRON", scheduleConf="* * * * * ?")
            api.start_job(job)
            wait_until(lambda: not [n for n in ids(center, f"id <= {made_ids[-1]}")], "the old rows to go", 60)
            wait_until(lambda: len([r for r in api.logs(job) if r["handleCode"] == 200]) >= 2, "two runs", 30)
            api.stop_job(job)
            ledger.settle(center, 30)
        ledger.check_accounts(center)
        assert center.metric("peal_firings_unaccounted") == 0
