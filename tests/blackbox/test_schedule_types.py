# SPDX-License-Identifier: Apache-2.0
"""Every schedule type really fires; misfires, edits, broadcasts, children, retries, manual runs and kills do
what they say; rows that another program has spoiled stop nobody else."""

import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger, webapi  # noqa: E402
from support.center import Center, free_port  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


@pytest.fixture
def center(tmp_path):
    with Center(tmp_path / "center", ["--zone", "UTC"]) as it:
        yield it


@pytest.fixture
def puppet(center):
    with Puppet(center, "tests") as it:
        yield it


@pytest.fixture
def api(center):
    return center.api()


@pytest.fixture
def group(api):
    return api.add_group("tests")


def started(api, group, kind, conf, **fields):
    job = api.add_job(group, f"{kind} {conf}", scheduleType=kind, scheduleConf=conf, **fields)
    api.start_job(job)
    return job


def scheduled_times(puppet, job):
    """Scheduled times of a job's runs in ms, oldest first: those that leave together may come in any order."""
    return sorted(int(call.headers["Peal-Moment"]) for call in puppet.of("run") if call.body["jobId"] == job)


def evenly(puppet, job, count, gap):
    """So many scheduled times or more, each gap ms after the one before. One that has come may have overtaken another."""
    def found():
        times = scheduled_times(puppet, job)
        assert len(times) >= count and {b - a for a, b in zip(times, times[1:])} == {gap}, times
        return times
    return wait_until(found, f"{count} runs, one each {gap} ms", 20, 0.02)


def never_early(puppet):
    early = [call for call in puppet.of("run") if call.wall_ms < int(call.headers["Peal-Moment"])]
    assert not early, early


def job_row(api, group, job):
    return next(row for row in api.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, jobDesc="",
                                         executorHandler="", author="") if row["id"] == job)


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


# ---- types ---------------------------------------------------------------------------------------

@pytest.mark.every_engine
def test_cron_fires_each_scheduled_time_in_the_zone_of_its_job(center, puppet, api, group):
    """Of two jobs for the same hour of the day one is for Shanghai's: it alone is due in the hour to come."""
    now = time.gmtime()
    there = (now.tm_hour + 8) % 24
    if now.tm_min == 59:  # the hour must not change under the test
        time.sleep(61 - now.tm_sec)
        now = time.gmtime()
        there = (now.tm_hour + 8) % 24
    here = started(api, group, "CRON", f"* * {there} * * ?")
    shanghai = started(api, group, "CRON", f"* * {there} * * ?", zone="Asia/Shanghai")
    assert evenly(puppet, shanghai, 3, 1000)[0] % 1000 == 0
    assert not puppet.runs(here)
    never_early(puppet)


@pytest.mark.every_engine
@pytest.mark.parametrize("conf, gap", [("1", 1000), ("250ms", 250), ("100ms", 100)])
def test_fix_rate_fires_at_its_rate(center, puppet, api, group, conf, gap):
    job = started(api, group, "FIX_RATE", conf)
    found = evenly(puppet, job, 3 if gap >= 1000 else 12, gap)
    if not conf.endswith("ms"):
        assert found[0] % 1000 == 0, "whole seconds, as the original"
    never_early(puppet)


@pytest.mark.every_engine
def test_fix_delay_counts_from_the_end_of_the_run(center, puppet, api, group):
    puppet.automatic = False
    job = started(api, group, "FIX_DELAY", "1")
    first = puppet.wait_for_runs(1, job)[0]
    time.sleep(1.5)  # longer than the delay: nothing may come while the run goes on
    assert len(puppet.runs(job)) == 1
    end = time.time() * 1000
    puppet.report(first)
    second = puppet.wait_for_runs(2, job)[1]
    assert scheduled_times(puppet, job)[1] >= end + 999
    puppet.report(second, handleCode=500, handleMsg="a failure is an end as well")
    puppet.wait_for_runs(3, job)
    never_early(puppet)


@pytest.mark.every_engine
def test_once_fires_once_and_is_stopped_visibly(center, puppet, api, group):
    scheduled = int(time.time()) + 5
    job = started(api, group, "ONCE", rfc3339(scheduled))
    puppet.wait_for_runs(1, job)
    assert scheduled_times(puppet, job) == [scheduled * 1000]
    wait_until(lambda: job_row(api, group, job)["triggerStatus"] == 0, "the job to be stopped")
    assert ledger.rows(center, "SELECT stop_reason FROM peal_job WHERE job_id = ?", job)[0]["stop_reason"]
    with pytest.raises(webapi.ApiError):
        api.start_job(job)  # it has no scheduled time any more
    assert len(puppet.runs(job)) == 1
    never_early(puppet)


# ---- misfires --------------------------------------------------------------------------------------

def test_a_long_outage_of_many_jobs_stops_nobody(center, puppet, api, group):
    """600 jobs that are due each second, 30 days behind: a fresh job fires while they are counted, and each
    missed scheduled time is."""
    idle = api.add_group("nobody-there")
    center.stop()
    behind = (int(time.time()) - 30 * 86400) * 1000
    ledger.add_jobs(center, idle, [("demo", "", "CRON", "* * * * * ?", "FIRST", behind)] * 600)
    center.start()
    api = center.api()
    fresh = started(api, group, "FIX_RATE", "200ms")
    puppet.wait_for_runs(10, fresh)
    assert center.get("/readyz")[0] == 200
    wait_until(lambda: ledger.number(center, "SELECT count(*) FROM peal_due WHERE next_ms < ?",
                                     (time.time() - 60) * 1000) == 0, "every job to have been counted", 60)
    wrong = ledger.rows(center, "SELECT job_id, sum(count), min(from_ms), max(to_ms) FROM peal_skip GROUP BY job_id "
                        "HAVING sum(count) <> (max(to_ms) - min(from_ms)) / 1000 + 1 OR min(from_ms) <> ?", behind)
    assert not wrong, [tuple(row) for row in wrong[:3]]
    assert ledger.number(center, "SELECT count(DISTINCT job_id) FROM peal_skip") == 600
    ledger.check_accounts(center)


@pytest.mark.every_engine
def test_misfire_policies_after_a_downtime(center, puppet, api, group):
    """The center is away for longer than the threshold, which is 3 s here and longer on a slow machine, so that one
    that stands still for a moment makes no misfires of its own: what was not planned goes to each job's policy, and
    the skipped scheduled times are counted exactly."""
    threshold = int(3 * PATIENCE)
    center.args += ["--misfire.threshold", f"{threshold}s"]
    policies = ("DO_NOTHING", "FIRE_ONCE_NOW", "FIRE_ALL")
    jobs = {policy: started(api, group, "CRON", "* * * * * ?", misfireStrategy=policy, misfireMax=3)
            for policy in policies}
    for job in jobs.values():
        puppet.wait_for_runs(1, job)
    center.kill()
    down = int(time.time()) + 1
    time.sleep(9 + threshold)  # the horizon is planned for 5 s; of the rest, what is younger than the threshold is not late
    center.start()
    api = center.api()
    for job in jobs.values():
        count = len(puppet.runs(job))
        puppet.wait_for_runs(count + 2, job)
    for job in jobs.values():
        api.stop_job(job)
    ledger.settle(center, 60)
    misfired = {}
    for policy, job in jobs.items():
        skipped = ledger.skips(center, job)
        found = scheduled_times(puppet, job)
        last = max(found)
        all_of = set(range(found[0], last + 1, 1000))
        gone = all_of - set(found)
        counted = set()
        for row in skipped:
            assert row["policy"] == policy
            counted |= set(range(-(-row["from_ms"] // 1000) * 1000, row["to_ms"] + 1, 1000))
        assert sum(row["count"] for row in skipped) == len(gone), (policy, [tuple(r) for r in skipped], gone)
        assert counted == gone, (policy, counted ^ gone)
        assert len(found) == len(set(found)), "no scheduled time twice"
        misfired[policy] = gone
    assert len(misfired["DO_NOTHING"]) >= 2, "the downtime was too short to show anything"
    assert min(misfired["DO_NOTHING"]) >= down * 1000
    nothing, once, every = (len(misfired[policy]) for policy in policies)
    assert nothing - once == 1, "one run for all that was missed"
    assert nothing - every == min(3, nothing), "all that was missed, up to the bound"
    ledger.check_accounts(center)


# ---- edits -----------------------------------------------------------------------------------------

@pytest.mark.every_engine
def test_stop_withdraws_what_is_planned_and_nothing_fires_after_the_answer(center, puppet, api, group):
    jobs = [started(api, group, "FIX_RATE", "100ms") for _ in range(5)]
    puppet.wait_for_runs(30)
    for job in jobs:
        api.stop_job(job)
        answered = time.time() * 1000
        gone = ledger.number(center, "SELECT count(*) FROM peal_run WHERE job_id = ? AND phase = 1 AND moment_ms > ?",
                             job, answered)  # a row that has been sent says "planned" until its next change
        assert gone == 0, "planned runs of a stopped job"
        time.sleep(0.3)  # three scheduled times that must not come
        late = [call for call in puppet.of("run") if call.body["jobId"] == job
                and int(call.headers["Peal-Moment"]) > answered]
        assert not late, late
    ledger.settle(center)
    assert ledger.totals(center)["withdrawn"] > 0
    ledger.check_accounts(center)


@pytest.mark.every_engine
def test_a_new_schedule_acts_at_once(center, puppet, api, group):
    job = started(api, group, "CRON", "0 0 0 1 1 ? 2099")
    row = job_row(api, group, job)
    assert not puppet.runs(job)

    def update(kind, conf):
        form = {key: row[key] for key in (
            "id", "jobGroup", "jobDesc", "author", "misfireStrategy", "executorRouteStrategy", "executorHandler",
            "executorBlockStrategy", "executorTimeout", "executorFailRetryCount", "glueType")}
        api.call("/jobinfo/update", **form, scheduleType=kind, scheduleConf=conf)
    update("FIX_RATE", "200ms")
    puppet.wait_for_runs(5, job)
    update("CRON", "0 0 0 1 1 ? 2099")
    answered = time.time() * 1000
    time.sleep(0.5)
    assert not [m for m in scheduled_times(puppet, job) if m > answered], "planned runs of the old schedule"
    update("FIX_RATE", "1")
    seen = len(puppet.runs(job))
    puppet.wait_for_runs(seen + 2, job)
    found = scheduled_times(puppet, job)[seen:]
    assert found[1] - found[0] == 1000
    api.stop_job(job)
    ledger.settle(center)
    ledger.check_accounts(center)


@pytest.mark.every_engine
def test_a_broadcast_is_planned_again_when_an_executor_joins_before_its_scheduled_time(center, puppet, api, group):
    scheduled = int(time.time()) + 8
    job = started(api, group, "ONCE", rfc3339(scheduled), executorRouteStrategy="SHARDING_BROADCAST")
    ledger.wait_for_rows(center, "the shard to be planned", "SELECT 1 FROM peal_run WHERE job_id = ?", job)
    with Puppet(center, "tests") as second:
        runs = puppet.wait_for_runs(1, job) + second.wait_for_runs(1, job)
        assert time.time() >= scheduled
        assert sorted((run["broadcastIndex"], run["broadcastTotal"]) for run in runs) == [(0, 2), (1, 2)]
        ledger.settle(center)
        assert len(puppet.runs(job)) == len(second.runs(job)) == 1
        ledger.check_accounts(center)


# ---- other kinds of runs -----------------------------------------------------------------------------

@pytest.mark.every_engine
def test_children_run_after_success_only(center, puppet, api, group):
    children = [api.add_job(group, f"child {i}") for i in range(2)]
    parent = api.add_job(group, "parent", childJobId=",".join(map(str, children)))
    puppet.result = lambda run: {"handleCode": 500 if run["executorParams"] == "fail" else 200, "handleMsg": "x"}
    api.trigger(parent, "fail")
    ledger.wait_for_rows(center, "the failure", "SELECT 1 FROM xxl_job_log WHERE job_id = ? AND handle_code = 500", parent)
    api.trigger(parent, "well")
    for child in children:
        puppet.wait_for_runs(1, child)
    ledger.settle(center)
    assert [len(puppet.runs(child)) for child in children] == [1, 1]
    ledger.check_accounts(center)


@pytest.mark.every_engine
def test_retries_come_after_their_delay_which_grows(center, puppet, api, group):
    puppet.result = lambda run: {"handleCode": 500, "handleMsg": "never"}
    job = api.add_job(group, "fails", executorFailRetryCount=3, retryDelayMs=200, retryBackoff=2)
    api.trigger(job, "p")
    runs = puppet.wait_for_runs(4, job)
    ledger.settle(center)
    calls = [call for call in puppet.of("run") if call.body["jobId"] == job]
    assert len(calls) == 4 and [run["executorParams"] for run in runs] == ["p"] * 4
    assert [int(call.headers["Peal-Attempt"]) for call in calls] == [0, 1, 2, 3]
    assert len({run["logId"] for run in runs}) == 4
    gaps = [b.wall_ms - a.wall_ms for a, b in zip(calls, calls[1:])]
    assert gaps[0] >= 100 and gaps[1] >= 200 and gaps[2] >= 400, gaps  # half of it may go as jitter
    ledger.check_accounts(center)


@pytest.mark.every_engine
def test_a_manual_run_takes_its_own_parameter_and_address(center, puppet, api, group):
    with Puppet(center, "tests") as second:
        job = api.add_job(group, "x", executorParam="the job's", executorRouteStrategy="FIRST")
        wait_until(lambda: len(api.addresses("tests")) == 2, "both to be listed")
        for one, text in ((puppet, "für den ersten"), (second, "给第二个")):
            api.trigger(job, text, one.address)
            assert one.wait_for_runs(1, job)[-1]["executorParams"] == text
        with pytest.raises(webapi.ApiError, match="addressList"):
            api.trigger(job, "x", f"http://127.0.0.1:{free_port()}/")
        ledger.settle(center)
        assert len(puppet.runs(job)) == len(second.runs(job)) == 1


@pytest.mark.every_engine
def test_kill_ends_a_run_that_goes_on(center, puppet, api, group):
    puppet.automatic = False
    job = api.add_job(group, "goes on")
    api.trigger(job, "")
    run = puppet.wait_for_runs(1, job)[0]
    ledger.wait_for_rows(center, "it to be accepted", "SELECT 1 FROM xxl_job_log WHERE trigger_code = 200")
    api.log_kill(run["logId"])
    assert [call.body["jobId"] for call in puppet.of("kill")] == [job]
    row = ledger.wait_for_rows(center, "the end", "SELECT handle_code FROM xxl_job_log WHERE handle_code <> 0")[0]
    assert row["handle_code"] == 500
    puppet.report(run)  # too late: what is over is not changed
    assert ledger.rows(center, "SELECT handle_code FROM xxl_job_log")[0]["handle_code"] == 500
    ledger.check_accounts(center)


# ---- rows of others -----------------------------------------------------------------------------------

BAD = [("CRON", "this is no cron"), ("CRON", ""), ("CRON", None), ("FIX_RATE", "-1"), ("FIX_RATE", "1ms"),
       ("FIX_RATE", "9" * 400), ("FIX_DELAY", "0"), ("ONCE", "yesterday"), ("WEEKLY", "1"), ("", ""),
       ("CRON", "0 0 0 30 2 ?"), ("CRON", "\udc80".encode("utf-8", "surrogateescape"))]


def test_spoiled_schedules_stop_nobody_else_and_are_stopped_visibly(center, puppet, api, group):
    good = started(api, group, "FIX_RATE", "200ms")
    center.stop()
    due = int(time.time() * 1000)
    bad = ledger.add_jobs(center, group, [("bad", "", "CRON", "* * * * * ?", "FIRST", due)] * len(BAD))
    with ledger.opened(center, write=True) as db:
        for job, (kind, conf) in zip(bad, BAD):
            text = conf if not isinstance(conf, bytes) else None
            db.execute("UPDATE xxl_job_info SET schedule_type = ?, schedule_conf = ? WHERE id = ?", (kind, text, job))
            if isinstance(conf, bytes):
                db.execute("UPDATE xxl_job_info SET schedule_conf = CAST(x'80ff' AS TEXT) WHERE id = ?", (job,))
        db.execute("INSERT INTO peal_due (job_id, next_ms) VALUES (999999, ?)", (due,))  # of no job at all
        db.execute("UPDATE xxl_job_info SET executor_route_strategy = 'SIDEWAYS', misfire_strategy = 'LATER' "
                   "WHERE id = ?", (good,))
    center.start()
    seen = len(puppet.runs(good))
    puppet.wait_for_runs(seen + 10, good)

    def all_stopped():
        on = [row["id"] for row in ledger.rows(center, "SELECT id FROM xxl_job_info WHERE trigger_status = 1")]
        assert on == [good], on
        return True
    wait_until(all_stopped, "the bad ones to be stopped")
    for job, (_, conf) in zip(bad, BAD):
        assert ledger.rows(center, "SELECT stop_reason FROM peal_job WHERE job_id = ?", job)[0]["stop_reason"], job
        assert len(puppet.runs(job)) <= (conf == "0 0 0 30 2 ?"), "that one's text is good: its due row counts, once"
    center.api().stop_job(good)
    ledger.settle(center)
    ledger.check_accounts(center)
