# SPDX-License-Identifier: Apache-2.0
"""Processes are killed under load, on real files and sockets: nothing planned is lost, nothing runs twice."""

import collections
import pathlib
import random
import re
import signal
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger  # noqa: E402 (path just set)
from support.center import Center, free_port  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.load import Load, ended, started  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

ROUNDS = 5


def test_kill_9_of_the_center_under_load_loses_and_doubles_nothing(tmp_path):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    with Load(tmp_path) as load:
        for _ in range(ROUNDS):
            load.wait_for_more(dice.randrange(50, 500))
            time.sleep(dice.random() / 10)  # any instruction, not the one after an answer
            load.center.kill()
            time.sleep(dice.random())
            load.center.start()
            ledger.check_accounts(load.center)
        load.wait_for_more(300)
        load.finish()
        load.check()


def test_sigterm_under_load_ends_cleanly_and_loses_nothing(tmp_path):
    with Load(tmp_path) as load:
        for _ in range(2):
            load.wait_for_more(500)
            load.center.stop()  # status 0, in its time
            sent = ledger.rows(load.center, "SELECT log_id FROM peal_run WHERE phase IN (2, 3)")
            assert not sent, "what was in flight has ended, or was answered, before the end"
            load.center.start()
        load.wait_for_more(300)
        load.finish()
        load.check()
        assert ledger.totals(load.center)["resent"] == 0


@pytest.mark.every_engine
def test_after_a_clean_stop_nothing_that_was_not_sent_is_asked_about(tmp_path):
    """Shards, and a run with addresses of its own, that the stop found within the watermark: their rows keep the
    address, and the executor hears of them by /run alone."""
    center = Center(tmp_path / "center", ["--lane.connections", "1"])
    with center, Puppet(center, "tests") as puppet, Puppet(center, "tests") as other:
        api = center.api()
        group = api.add_group("tests")
        wait_until(lambda: len(api.addresses("tests")) == 2, "both in their group")
        by_hand = api.add_job(group, "demo")
        shards = api.add_job(group, "demo", scheduleType="FIX_RATE", scheduleConf="100ms",
                             executorRouteStrategy="SHARDING_BROADCAST")
        api.start_job(shards)
        puppet.wait_for_runs(5)
        puppet.hold()
        held = wait_until(lambda: puppet.open, "a run that waits for its answer")
        assert held == 1, "the others wait in the lane"
        other.wait_for_runs(len(other.runs()) + 5)
        api.trigger(by_hand, "p", puppet.address)
        center.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "stopping" in center.tail(), "the center to stop")
        puppet.release()
        wait_until(lambda: not center.running(), "the center to end")  # a second SIGTERM would hurry it
        assert center.process.returncode == 0, center.tail()
        mark, clean = ledger.rows(center, "SELECT watermark_ms, clean FROM peal_epoch ORDER BY epoch DESC")[0]
        assert clean == 1
        # broadcasts of which nothing has left are planned again by a start; of these the other's shard has
        unsent = {row["log_id"]: row["job_id"] for row in ledger.rows(
            center, "SELECT r.log_id, r.job_id FROM peal_run r WHERE phase = 1 AND due_ms <= ? AND address = ? AND "
            "(job_id <> ? OR NOT EXISTS (SELECT 1 FROM peal_run o WHERE o.job_id = r.job_id AND "
            "o.moment_ms = r.moment_ms AND o.log_id <> r.log_id))", mark, puppet.address, shards)}
        assert set(unsent.values()) == {by_hand, shards}
        center.start()
        wait_until(lambda: set(unsent) <= {run["logId"] for run in puppet.runs()}, "the runs to be sent")
        center.api().stop_job(shards)
        ledger.settle(center)
        for each in (puppet, other):
            assert not set(unsent) & {call.body["logId"] for call in each.of("log")}, "none was reconciled"
            ids = [run["logId"] for run in each.runs()]
            assert len(ids) == len(set(ids)), "nothing was sent twice"
        ledger.check_accounts(center)


def sleeping_jobs(center, api, app, count, block="SERIAL_EXECUTION", **fields):
    group = api.add_group(app)
    return [api.add_job(group, "sleepJobHandler", executorBlockStrategy=block, **fields)
            for _ in range(count)]


@pytest.mark.every_engine
def test_fault_7_runs_that_died_with_their_executor_are_found_when_it_is_back_on_its_address(tmp_path):
    port = free_port()
    with Center(tmp_path / "center") as center:
        api = center.api()
        running, queued = sleeping_jobs(center, api, "ours", 2, executorFailRetryCount=1, retryDelayMs=100)
        executor = Executor(tmp_path / "executor", center.url, ["--xxl.job.executor.port", str(port)], app="ours")
        with executor:
            wait_until(lambda: executor.address.rstrip("/") in
                       {a.rstrip("/") for a in api.addresses("ours")}, "the executor to register")
            for job in (running, queued, queued):  # the last waits behind the one before
                api.trigger(job, "600000")
            first = wait_until(lambda: ledger.number(
                center, "SELECT count(*) FROM xxl_job_log WHERE trigger_code = 200") == 3, "three accepted runs")
            assert first
            wait_until(lambda: len(started(executor)) == 2, "two runs to begin")
            executor.process.kill()
            executor.process.wait()
            for kept in executor.logs.glob("journal.db*"):  # as one in memory: ours would report what it had
                kept.unlink()
            executor.start()
            lost = ledger.wait_for_rows(
                center, "three lost runs", "SELECT id, handle_code, handle_msg, alarm_status FROM xxl_job_log "
                "WHERE handle_msg LIKE 'lost:%' AND (SELECT count(*) FROM xxl_job_log WHERE handle_msg LIKE 'lost:%') = 3",
                timeout=60)
            assert {row["handle_code"] for row in lost} == {500}
            # each is tried again by the job's policy, once
            retries = ledger.wait_for_rows(
                center, "three accepted retries", "SELECT id FROM xxl_job_log WHERE id > ? AND trigger_code = 200 AND "
                "(SELECT count(*) FROM xxl_job_log WHERE id > ? AND trigger_code = 200) = 3",
                lost[-1]["id"], lost[-1]["id"])
            wait_until(lambda: len(set(started(executor)) & {row["id"] for row in retries}) == 2, "two retries to begin")
            total = ledger.totals(center)
            assert (total["planned"], total["lost"], total["resent"]) == (6, 3, 0)
            ledger.check_accounts(center)


@pytest.mark.every_engine
def test_every_run_that_ended_has_its_result_though_the_center_was_away(tmp_path):
    with Center(tmp_path / "center") as center:
        api = center.api()
        group = api.add_group("ours")
        jobs = {api.add_job(group, "sleepJobHandler"): str(500 + 150 * i) for i in range(8)}
        jobs[api.add_job(group, "failJobHandler")] = "as asked"
        with Executor(tmp_path / "executor", center.url, app="ours") as executor:
            wait_until(lambda: api.addresses("ours"), "the executor to register")
            for job, param in jobs.items():
                api.trigger(job, param)
            wait_until(lambda: ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE trigger_code = 200")
                       == len(jobs), "the runs to be accepted")
            center.kill()
            wait_until(lambda: len(ended(executor)) == len(jobs), "the runs to end while the center is down")
            center.start()
            ledger.settle(center, 60)
            codes = collections.Counter(row["handle_code"] for row in ledger.rows(
                center, "SELECT handle_code FROM xxl_job_log"))
            assert codes == {200: 8, 500: 1}
            said = ledger.rows(center, "SELECT handle_msg FROM xxl_job_log WHERE handle_code = 500")[0][0]
            assert "as asked" in said and not said.startswith("lost")
            assert ledger.totals(center)["finished"] == 9
            ledger.check_accounts(center)


def test_a_second_sigterm_ends_at_once_and_loses_nothing(tmp_path):
    with Load(tmp_path, one=100, ten=1, ours=5) as load:
        load.wait_for_more(150)
        load.center.process.send_signal(signal.SIGTERM)
        load.center.process.send_signal(signal.SIGTERM)
        load.center.process.wait(20 * PATIENCE)
        load.center._down = True
        assert load.center.process.returncode in (0, -signal.SIGTERM), load.center.tail()
        assert not re.search("level=error", load.center.tail()), load.center.tail()
        load.center.start()
        load.wait_for_more(100)
        load.finish()
        load.check()


@pytest.mark.every_engine
def test_a_result_of_an_older_run_with_the_same_id_is_left_out(tmp_path):
    with Center(tmp_path / "center") as center, Puppet(center, "dated", automatic=False) as executor:
        api = center.api()
        job = api.add_job(api.add_group("dated"), "waits")
        for n in (1, 2):
            api.trigger(job)
            run = executor.wait_for_runs(n)[-1]
            old = [{"logId": run["logId"], "logDateTim": run["logDateTime"] - 3600_000, "handleCode": 500}]
            if n == 2:  # the first has shown that this executor brings dates back
                assert center.open_api("callback", old)["code"] == 200
                wait_until(lambda: center.metric("peal_callbacks_foreign_total") == 1, "it to be counted")
            executor.report(run)  # acknowledged by the journal perhaps, before the database has it
            wait_until(lambda: ledger.number(center, "SELECT handle_code FROM xxl_job_log WHERE id = ?",
                                             run["logId"]) == 200, "the result to be in the log")
        wait_until(lambda: re.search(r"level=warn .*1 results are left out, the last for log id " + str(run["logId"]),
                                     center.tail()), "the log to say so")
        ledger.check_accounts(center)
