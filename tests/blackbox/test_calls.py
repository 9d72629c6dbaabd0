# SPDX-License-Identifier: Apache-2.0
"""What a center tells an executor with a run, and what it makes of the answer."""

import pathlib
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import ledger  # noqa: E402 (path just set)
from support.center import Center  # noqa: E402
from support.puppet import NO_LOG, Page, Puppet  # noqa: E402
from support.standin import YES  # noqa: E402
from support.wait import wait_until  # noqa: E402


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("calls")) as it:
        yield it


@pytest.fixture
def group(center, request):
    return center.api().add_group(request.node.name[:60])


@pytest.fixture
def puppet(center, request, group):
    with Puppet(center, request.node.name[:60], automatic=False) as it:
        yield it


def header(call, name):
    return int(call.headers[f"Peal-{name}"])


def calls_of(puppet, job, count):
    puppet.wait_for_runs(count, job)
    return [call for call in puppet.of("run") if call.body["jobId"] == job]


def test_scheduled_time_attempt_deadline(center, group, puppet):
    """The planned instant to the millisecond, and until when the run may start; those of a retry are told from it."""
    puppet.automatic, puppet.result = True, lambda run: {"handleCode": 500, "handleMsg": "not this time"}
    api = center.api()
    job = api.add_job(group, "each second", scheduleType="CRON", scheduleConf="* * * * * ?", startDeadlineMs=9000,
                      executorFailRetryCount=1, retryDelayMs=400)
    api.start_job(job)
    calls = calls_of(puppet, job, 5)
    api.stop_job(job)
    firsts = [call for call in calls if header(call, "Attempt") == 0]
    again = [call for call in calls if header(call, "Attempt") == 1]
    assert firsts and again and len(firsts) + len(again) == len(calls)
    for call in firsts:
        assert header(call, "Moment") % 1000 == 0 and header(call, "Moment") <= call.wall_ms
        assert header(call, "Deadline") == header(call, "Moment") + 9000
    for call in again:
        assert header(call, "Moment") in {header(first, "Moment") for first in firsts}, "the time that it is for"
        assert call.wall_ms < header(call, "Deadline") <= call.wall_ms + 9000, "from when it was due"
    ledger.settle(center, jobs=[job])


def test_a_proxys_page_is_no_refusal(center, group, puppet):
    """The executor has the run, and a proxy between says 502: the executor is asked, and the run goes on."""
    puppet.answer = lambda action, body: Page(502, "<html>Bad Gateway</html>") if action == "run" else YES
    api = center.api()
    job = api.add_job(group, "behind a proxy", executorFailRetryCount=3, retryDelayMs=100)
    api.trigger(job)
    run = puppet.wait_for_runs(1, job)[0]
    row = ledger.wait_for_rows(center, "what the center makes of it",
                               "SELECT trigger_code FROM xxl_job_log WHERE id = ? AND trigger_code <> 0", run["logId"])
    assert row[0]["trigger_code"] == 200
    puppet.report(run)
    ledger.settle(center, jobs=[job])
    assert len(puppet.runs(job)) == 1
    assert [row["handleCode"] for row in api.logs(job)] == [200]


@pytest.mark.every_engine
def test_a_run_that_never_arrived_leaves_by_the_edit(center, group, puppet):
    """The first connection breaks, the job is edited, and the executor knows nothing of the run: it is sent again, with
    what the edit says, and its log row says so."""
    broken = []

    def answer(action, body):
        if action == "run" and not broken:
            broken.append(body["logId"])
            return None
        return {"run": YES, "idleBeat": dict(YES), "log": dict(YES, content=NO_LOG, data=NO_LOG)}.get(action, YES)

    puppet.answer, puppet.automatic = answer, True
    api = center.api()
    job = api.add_job(group, "edited", scheduleType="CRON", scheduleConf="* * * * * ?", executorParam="old")
    api.start_job(job)
    wait_until(lambda: broken, "a run whose connection breaks")
    api.call(
        "/jobinfo/update", id=job, jobGroup=group, jobDesc="edited", author="tests", scheduleType="CRON", scheduleConf="* * * * * ?",
        misfireStrategy="DO_NOTHING", executorRouteStrategy="FIRST", executorHandler="newHandler", executorParam="new",
        executorBlockStrategy="SERIAL_EXECUTION", executorTimeout=0, executorFailRetryCount=0, glueType="BEAN")

    def sent():
        return [run for run in puppet.runs(job) if run["logId"] == broken[0]]

    wait_until(lambda: len(sent()) == 2, "the run to be sent again", 60)
    api.stop_job(job)
    ledger.settle(center, jobs=[job])
    first, second = [(run["executorHandler"], run["executorParams"]) for run in sent()]
    assert first[1] == "old" and second == ("newHandler", "new")
    row, = ledger.rows(center, "SELECT executor_handler, executor_param, handle_code FROM xxl_job_log WHERE id = ?", broken[0])
    assert dict(row) == {"executor_handler": "newHandler", "executor_param": "new", "handle_code": 200}
