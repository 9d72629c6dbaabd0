# SPDX-License-Identifier: Apache-2.0
"""What has become of runs, by day: XXL-JOB's chart and report, a job's page, and that a kill changes nothing."""

import datetime
import itertools

import pytest
from support import figures, ledger, webapi
from support.center import Center
from support.contract import Contract
from support.stub_executor import Stub
from support.wait import wait_until
from test_api_v1 import COOKIES, ask, log_in, problem

pytestmark = pytest.mark.every_engine

_names = (f"figures-{n}" for n in itertools.count())
LISTS = {"running": "triggerDayCountRunningList", "succeeded": "triggerDayCountSucList",
         "failed": "triggerDayCountFailList"}
TOTALS = {"running": "triggerCountRunningTotal", "succeeded": "triggerCountSucTotal",
          "failed": "triggerCountFailTotal"}


@pytest.fixture
def stub(center, api):
    app = next(_names)
    group = api.add_group(app)
    with Stub(center, app) as it:
        it.group = group
        wait_until(lambda: it.address in api.addresses(app), "the stub in its group")
        yield it


def around_now():
    """The days from yesterday to tomorrow, as the chart's parameters: a test may run at midnight."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    day = datetime.timedelta(days=1)
    return {"startDate": f"{today - day} 00:00:00", "endDate": f"{today + day} 23:59:59"}


def chart(api, **dates):
    it = api.call("/chartInfo", **(dates or around_now()))
    days = it["triggerDayList"]
    assert days == sorted(days)
    for name, of in LISTS.items():
        assert len(it[of]) == len(days) and sum(it[of]) == it[TOTALS[name]]
    return it


def totals(api):
    it = chart(api)
    return tuple(it[TOTALS[name]] for name in ("running", "succeeded", "failed"))


def totals_of_log(center, api):
    """The totals, once they are those of the log."""
    def agree():
        codes = [row["handle_code"] for row in ledger.rows(center, "SELECT handle_code FROM xxl_job_log")]
        good, running = codes.count(200), codes.count(0)
        found = totals(api)
        return found if found == (running, good, len(codes) - good - running) else None
    return wait_until(agree, "the chart to be that of the log", 20)


def run(api, stub, job, code):
    """Trigger the job and end the run so; None: it goes on."""
    before = len(stub.runs(job))
    api.trigger(job)
    log_id = stub.wait_runs(before + 1, job)[before]["logId"]
    if code:
        stub.call_back(log_id, code)
    return log_id


def test_the_chart_counts_runs_of_today(center, api, stub):
    job = api.add_job(stub.group, "counted", executorBlockStrategy="DISCARD_LATER")
    running, succeeded, failed = totals(api)
    for code in (200, 500, 502, 200, 77):
        run(api, stub, job, code)
    log_id = run(api, stub, job, None)
    wait_until(lambda: totals(api) == (running + 1, succeeded + 2, failed + 3), "the chart", 20)
    stub.call_back(log_id)
    wait_until(lambda: totals(api) == (running, succeeded + 3, failed + 3), "the chart", 20)
    figures.check(center)


def test_the_chart_has_seven_days_of_nothing(api):
    it = chart(api, startDate="2001-01-01 00:00:00", endDate="2001-02-01 00:00:00")
    assert len(it["triggerDayList"]) == 7
    assert it[LISTS["succeeded"]] == [0] * 7
    first = datetime.date.fromisoformat(it["triggerDayList"][0])
    assert datetime.date.fromisoformat(it["triggerDayList"][6]) - first == datetime.timedelta(days=6)


@pytest.mark.parametrize("dates", [{}, {"startDate": "2001-01-01 00:00:00"},
                                   {"startDate": "today", "endDate": "2001-01-01 00:00:00"}])
def test_the_chart_wants_two_dates(api, dates):
    reply = api.raw("/chartInfo", **dates)
    assert reply["code"] == 500 and "yyyy-MM-dd HH:mm:ss" in reply["msg"]


def test_a_job_tells_how_it_does(center):
    api = center.api()
    app = next(_names)
    group = api.add_group(app)
    cookie = dict(c.split("=", 1) for c in [f"{COOKIES[0]}={log_in(center).headers['Set-Cookie']}"])
    cookie = cookie[COOKIES[0]].split(";")[0]
    with Stub(center, app) as stub:
        wait_until(lambda: stub.address in api.addresses(app), "the stub in its group")
        job = api.add_job(group, "told")
        path = f"/api/v1/jobs/{job}/stats"
        empty = ask(center, "GET", path, cookie=cookie)
        assert empty.status == 200
        assert empty.json == {"window": 0, "durations": None, "days": [], "heat": [0] * 24}
        for code in (200, 500, 200):
            run(api, stub, job, code)

        def told():
            it = ask(center, "GET", path, cookie=cookie)
            Contract().check("GET", "/jobs/{id}/stats", it.status, it.headers, it.json)
            return it.json if it.json["window"] == 3 else None
        it = wait_until(told, "three runs", 20)
        assert sum(day["succeeded"] for day in it["days"]) == 2
        assert sum(day["failed"] for day in it["days"]) == 1
        assert len(it["heat"]) == 24 and sum(it["heat"]) == 3
        took = it["durations"]
        assert 0 <= took["p50Ms"] <= took["p95Ms"] <= took["maxMs"] < 60000
    problem(ask(center, "GET", "/api/v1/jobs/987654/stats", cookie=cookie), 404, "not_found")


def test_a_kill_changes_no_figure(center):
    """Bytes, and rows that were written meanwhile, come to the same in the next life."""
    api = center.api()
    app = next(_names)
    group = api.add_group(app)
    with Stub(center, app) as stub:
        wait_until(lambda: stub.address in api.addresses(app), "the stub in its group")
        job = api.add_job(group, "killed")
        for code in (200, 500, 502):
            run(api, stub, job, code)
        ledger.settle(center, jobs=[job])
        before = totals_of_log(center, api)
        for _ in range(2):
            center.kill()
            figures.check(center)
            center.start()
            assert totals(center.api()) == before
        assert figures.check(center) == before[1] + before[2]
        run(center.api(), stub, job, 200)
        ledger.settle(center, jobs=[job])
        assert totals_of_log(center, center.api()) == (before[0], before[1] + 1, before[2])
    center.restart()  # each life writes the report's rows with its first commit

    def reported():
        days = ledger.rows(center, "SELECT suc_count, fail_count FROM xxl_job_log_report")
        return sum(row[0] for row in days), sum(row[1] for row in days)
    wait_until(lambda: reported() == (before[1] + 1, before[2]), "the report")


def test_metrics_of_single_jobs(center):
    api = center.api()
    app = next(_names)
    group = api.add_group(app)
    with Stub(center, app) as stub:
        wait_until(lambda: stub.address in api.addresses(app), "the stub in its group")
        job = api.add_job(group, "measured", jobDesc='quoted "name" \\ of a job', author="o")
        for code in (200, 500, 500):
            run(api, stub, job, code)
        label = {"job": str(job)}
        wait_until(lambda: center.metric("peal_job_failures", **label) == 2, "two failures", 20)
        assert center.metric("peal_job_runs_total", **label, result="succeeded") == 1
        assert center.metric("peal_job_runs_total", **label, result="failed") == 2
        assert center.metric("peal_job_last_run_result", **label) == 0
        assert center.metric("peal_job_last_success_timestamp_seconds", **label) > 1e9
        info = f'peal_job_info{{job="{job}",name="quoted \\"name\\" \\\\ of a job",app="{app}",owner="o"}} 1\n'
        assert info in center.get("/metrics")[2].decode()


@pytest.mark.parametrize("setting, there", [("off", False), ("failing", False), ("all", True)])
def test_whose_metrics_is_a_setting(tmp_path, setting, there):
    with Center(tmp_path, ["--metrics.per_job", setting]) as it:
        api = it.api()
        group = api.add_group("only-one")
        with Stub(it, "only-one") as stub:
            wait_until(lambda: stub.address in api.addresses("only-one"), "the stub in its group")
            good, bad = (api.add_job(group, name) for name in ("good", "bad"))
            run(api, stub, good, 200)
            run(api, stub, bad, 500)
            wait_until(lambda: totals(api) == (0, 1, 1), "both ends", 20)

            def shown():
                text = it.get("/metrics")[2].decode()
                return tuple(f'peal_job_last_run_result{{job="{job}"}} {result}' in text
                             for job, result in ((good, 1), (bad, 0)))
            wait_until(lambda: shown() == (there, setting != "off"), "the metrics of the setting")


def test_nobody_else_sees_the_chart(center):
    status, headers, _ = webapi.request(center.port, "GET", "/chartInfo")
    assert status == 302 or headers.get_content_type() == "application/json"
