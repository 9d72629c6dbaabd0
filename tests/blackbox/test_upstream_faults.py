# SPDX-License-Identifier: Apache-2.0
"""Faults of the original that a center of ours must not have, each shown from outside. The numbers are
those of the list that names them; fault 7 (runs lost with an executor that comes back on its address) is in
test_recovery.py, 2 needs a cluster."""

import json
import pathlib
import re
import signal
import sqlite3
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger, webapi  # noqa: E402
from support.center import Center  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.stub import Stub  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


@pytest.fixture
def center(tmp_path):
    with Center(tmp_path / "center") as it:
        yield it


def later(seconds):
    """A full second so far ahead, in ms."""
    return (int(time.time()) + 1 + seconds) * 1000


def rfc3339(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms / 1000)) + f".{ms % 1000:03d}Z"


def test_fault_1_a_crash_between_planning_and_the_scheduled_time_loses_nothing(center, tmp_path):
    api = center.api()
    group = api.add_group("bench")
    center.stop()
    scheduled = later(int(8 * PATIENCE))  # planning runs ahead by 5 s, in which the test has to see the rows
    jobs = ledger.add_jobs(center, group, [("stub", "", "ONCE", rfc3339(scheduled), "FIRST", scheduled)] * 200)
    center.start()
    with Stub(tmp_path, center):
        planned = wait_until(lambda: {row["log_id"]: row["moment_ms"] for row in ledger.rows(
            center, "SELECT log_id, moment_ms FROM peal_run WHERE phase = 1 "
                    "AND (SELECT count(*) FROM peal_run) = 200")}, "all firings to be rows", 20, 0.02)
        assert set(planned.values()) == {scheduled}
        center.restart()  # kill -9: memory is gone, and with it the original's whole ring
        wait_until(lambda: ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE handle_code = 200") == 200,
                   "200 successes", 30)
        rows = ledger.rows(center, "SELECT id, job_id FROM xxl_job_log")
        assert {row["id"] for row in rows} == set(planned)  # the same firings, not others in their place
        assert {row["job_id"] for row in rows} == set(jobs)
        ledger.check_accounts(center)


def test_fault_3_jobs_with_high_ids_do_not_starve_behind_many_due_ones(center, tmp_path):
    """The original takes the first 5,000 due jobs by id. Here 12,000 are due within three seconds, and of these the
    ones with the highest ids first: they leave first."""
    group = center.api().add_group("bench")
    with Stub(tmp_path, center, "--callbacks", "batch") as stub:
        wait_until(lambda: center.metric("peal_executors") == 1, "the stub to register")
        center.stop()
        now = later(int(4 * PATIENCE))  # what is over five seconds late is a misfire, and in no order with the others
        jobs = ledger.add_jobs(center, group, [
            ("stub", "", "ONCE", rfc3339(now - i // 4), "ROUND", now - i // 4) for i in range(12000)],
            misfire="FIRE_ONCE_NOW")  # a start that takes seconds skips none of them
        center.start()
        wait_until(lambda: stub.stats()["distinct"] == 12000, "all of them", 60)
        ledger.settle(center)
        order = [row["job_id"] for row in ledger.rows(center, "SELECT job_id FROM xxl_job_log ORDER BY id")]
        assert set(order[:4000]) == set(jobs[-4000:]), "log ids are given in the order of their times"
        assert sorted(order) == jobs
        ledger.check_accounts(center)


def test_fault_4_a_stall_of_four_seconds_costs_no_scheduled_time_and_no_minute(tmp_path):
    threshold = f"{int(5 * PATIENCE)}s"  # a slow machine adds to the stall
    with Center(tmp_path / "center", ["--misfire.threshold", threshold]) as center, Puppet(center, "tests") as puppet:
        api = center.api()
        job = api.add_job(api.add_group("tests"), "each second", scheduleType="CRON", scheduleConf="* * * * * ?")
        api.start_job(job)
        puppet.wait_for_runs(2)
        center.process.send_signal(signal.SIGSTOP)
        time.sleep(4)  # the stall itself
        before = len(puppet.runs())
        center.process.send_signal(signal.SIGCONT)

        def each_second():  # the scheduled times of the stall come at once, each for itself, and the next ones on time
            times = sorted(run["logDateTime"] for run in puppet.wait_for_runs(before + 5))
            assert {b - a for a, b in zip(times, times[1:])} == {1000}, times  # one may have overtaken another
            return True
        wait_until(each_second, "every scheduled time")
        calls = puppet.of("run")
        woke = min(call.wall_ms for call in calls[before:])
        overdue = [call for call in calls[before:] if call.body["logDateTime"] <= woke]
        assert len(overdue) >= 3, "the stall was shorter than the test means it to be"
        assert max(call.wall_ms - woke for call in overdue) < 3000 * PATIENCE, "and not a minute later"
        api.stop_job(job)
        ledger.settle(center)
        ledger.check_accounts(center)


def test_fault_5_no_run_is_dropped_in_silence_when_an_executor_is_slow(tmp_path):
    """3,000 runs are due at once at an executor that answers nothing for a while, with room for 500 in its lane
    and a start deadline of 4 s: each ends in the table, and those that were refused say why."""
    center = Center(tmp_path / "center", ["--lane.queue", "500", "--lane.connections", "8"])
    with center:
        api = center.api()
        group = api.add_group("tests")
        center.stop()
        scheduled = later(int(6 * PATIENCE))
        ledger.add_jobs(center, group, [("slow", "", "ONCE", rfc3339(scheduled), "FIRST", scheduled)] * 3000, 4000)
        center.start()
        with Puppet(center, "tests") as puppet:
            puppet.hold()
            puppet.wait_for_runs(8, timeout=30)
            rejected = ledger.wait_for_rows(
                center, "runs to be refused", "SELECT id, trigger_code, trigger_msg FROM xxl_job_log "
                "WHERE trigger_code = 500", timeout=30)
            puppet.release()
            ledger.settle(center, 60)
            total = ledger.totals(center)
            assert total["planned"] == total["finished"] + total["rejected"] + total["lost"] - total["found"] + total["skipped"]
            assert total["planned"] == 3000 and total["rejected"] >= 1, total
            rejected = ledger.rows(center, "SELECT trigger_msg FROM xxl_job_log WHERE trigger_code = 500")
            assert len(rejected) == total["rejected"]
            assert all(row["trigger_msg"] for row in rejected), "each says why"
            assert re.search("deadline|queue|full", rejected[0]["trigger_msg"]), rejected[0]["trigger_msg"]
            ran = {run["logId"] for run in puppet.runs()}
            done = {row["id"] for row in ledger.rows(
                center, "SELECT id FROM xxl_job_log WHERE handle_code = 200")}
            assert ran == done
            ledger.check_accounts(center)


def test_fault_6_a_deregistered_executor_gets_not_one_more_call(center):
    with Puppet(center, "tests") as stays, Puppet(center, "tests") as goes:
        api = center.api()
        group = api.add_group("tests")
        for i in range(20):
            api.start_job(api.add_job(group, f"job {i}", scheduleType="FIX_RATE", scheduleConf="100ms",
                                      executorRouteStrategy="ROUND"))
        goes.wait_for_runs(50)
        goes.deregister()
        after = time.time() * 1000  # the answer is here: it holds from now on
        stays.wait_for_runs(len(stays.runs()) + 100)  # what was on the wire to the one that went has been read by then
        calls = len([call for call in goes.calls if call.action != "beat"])
        stays.wait_for_runs(len(stays.runs()) + 400)  # two seconds of load, and all of it goes to the other
        assert not [call for call in goes.of("run") if float(call.headers["Peal-Moment"]) > after]
        assert len([call for call in goes.calls if call.action != "beat"]) == calls
        assert api.addresses("tests") == [stays.address]
        # and one that registers is called at once, not after the next refresh
        seen = len(goes.runs())
        goes.register()
        goes.wait_for_runs(seen + 1)
        ledger.check_accounts(center)


def test_fault_12_nobody_comes_in_with_the_names_that_everybody_knows(tmp_path):
    """No admin/123456, no default_token, no empty token: what a first start makes is random, printed once."""
    words = []
    for name in ("one", "two"):
        center = Center(tmp_path / name)
        for key in ("PEAL_ADMIN_PASSWORD", "PEAL_ACCESS_TOKEN"):
            center._env.pop(key)
        with center:
            said = center.output.read_text()
            password = re.search(r"password\S* +(\S+)", said, re.I)[1]
            token = re.search(r"token\S* +(\S+)", said, re.I)[1]
            words.append((password, token))
            for generation in webapi.GENERATIONS:
                for guess in ("123456", "admin", "", "e10adc3949ba59abbe56e057f20f883e"):
                    with pytest.raises(webapi.ApiError):
                        webapi.WebApi(center.port, generation, "admin", guess)
                webapi.WebApi(center.port, generation, "admin", password)
            me = {"registryGroup": "EXECUTOR", "registryKey": "x", "registryValue": "http://127.0.0.1:1/"}
            for action, body in (("registry", me), ("registryRemove", me), ("callback", [])):
                for guess in ("default_token", "", "xxl-job"):
                    assert center.open_api(action, body, token=guess)["code"] == 500, (action, guess)
            assert center.open_api("registry", me, token=token)["code"] == 200
            with ledger.opened(center) as db:
                users = db.execute("SELECT username, password FROM xxl_job_user").fetchall()
            assert [user["username"] for user in users] == ["admin"]
            assert password not in json.dumps([tuple(user) for user in users])
            center.restart()
            assert password not in center.output.read_text()[len(said):], "printed once"
    (password, token), (other_password, other_token) = words
    assert len(password) >= 12 and len(token) >= 20
    assert password != other_password and token != other_token


def test_fault_12_an_empty_token_is_refused_unless_it_is_asked_for(tmp_path):
    center = Center(tmp_path / "center", token="")
    with pytest.raises(RuntimeError, match="insecure-no-token"):
        center.start()
    assert not (center.data / "peal.db").exists() or sqlite3.connect(center.data / "peal.db")
    with Center(tmp_path / "open", ["--insecure-no-token"], token="") as center:
        assert center.open_api("callback", [], token="")["code"] == 200
