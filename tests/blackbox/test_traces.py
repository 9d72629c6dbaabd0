# SPDX-License-Identifier: Apache-2.0
"""traceparent (W3C Trace Context): on calls about a run, in the answer of /api/v1, and with what runs at our executor."""

import itertools
import json
import re
import time
import uuid

import pytest
from support import webapi
from support.center import Center
from support.executor import Executor
from support.puppet import Puppet
from support.standin import StandinCenter
from support.v1 import V1
from support.wait import wait_until

PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01")
GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
_apps = (f"traces-{n}" for n in itertools.count())


def ids(call):
    """(trace, span) of a call's header."""
    trace, span = PARENT.fullmatch(call.headers["traceparent"]).groups()
    assert int(trace, 16) and int(span, 16)
    return trace, span


def trace_in_the_api(v1, run):
    return v1.get(f"/runs/{run}")["traceId"]


def test_calls_about_a_run_carry_its_trace(center):
    v1, app = V1(center), next(_apps)
    with Puppet(center, app, automatic=False) as puppet:
        api = center.api()
        job = api.add_job(api.add_group(app), "traced")
        runs = [v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"] for _ in range(2)]
        wait_until(lambda: len(puppet.of("run")) == 2, "both runs")
        sent = {call.body["logId"]: ids(call) for call in puppet.of("run")}
        assert sorted(sent) == sorted(runs)
        assert sent[runs[0]][0] != sent[runs[1]][0] and sent[runs[0]][1] != sent[runs[1]][1], "each has its own"
        assert {run: trace_in_the_api(v1, run) for run in runs} == {run: sent[run][0] for run in runs}
        assert v1.ask("POST", f"/runs/{runs[0]}/kill").status == 200
        wait_until(lambda: puppet.of("kill"), "the call that ends it")
        assert ids(puppet.of("kill")[0]) == sent[runs[0]]


def test_a_run_keeps_its_trace(tmp_path):
    """After a kill -9, and when it is sent again; of another database the same log id has another one."""
    with Center(tmp_path / "a") as one, Center(tmp_path / "b") as other:
        seen = []
        for center in (one, other):
            app = next(_apps)
            with Puppet(center, app) as puppet:
                api = center.api()
                v1 = V1(center)
                run = v1.ask("POST", f"/jobs/{api.add_job(api.add_group(app), 'x')}/trigger", {}).json["runId"]
                wait_until(lambda: puppet.of("run"), "the run")
                seen.append((run, ids(puppet.of("run")[0])[0]))
                wait_until(lambda: v1.get(f"/runs/{run}")["run"]["outcome"] == "succeeded", "its end")
        assert seen[0][0] == seen[1][0] and seen[0][1] != seen[1][1]
        one.restart()
        assert trace_in_the_api(V1(one), seen[0][0]) == seen[0][1]


def test_a_script_at_our_executor_gets_it_from_our_center(center, tmp_path):
    v1, app = V1(center), next(_apps)
    group = center.api().add_group(app)
    with Executor(tmp_path, center.url, ["--peal.executor.glue", "shell"], app=app) as executor:
        wait_until(lambda: center.api().addresses(app), "the executor in its group")
        api = center.api()
        job = api.add_job(group, "", jobDesc="a script", glueType="GLUE_SHELL", glueRemark="first",
                          glueSource="echo \"it is $TRACEPARENT\"")
        run = v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"]
        said = wait_until(lambda: re.search(r"it is (\S+)", logged(executor, tmp_path, run)), "the script's line", 20)
        assert PARENT.fullmatch(said[1])[1] == trace_in_the_api(v1, run)


def parent(trace, flags="01"):
    return f"00-{trace}-b7ad6b7169203331-{flags}"


def trigger_v1(center, job, header):
    answer = V1(center).ask("POST", f"/jobs/{job}/trigger", {}, traceparent=header)
    assert answer.status == 201, answer.json
    return answer.json["runId"]


def trigger_batch(center, job, header):
    answer = V1(center).ask("POST", "/jobs/batch", {"action": "trigger", "ids": [job]}, traceparent=header)
    assert answer.status == 200, answer.json


def trigger_form(center, job, header):
    api = center.api()
    form = f"id={job}&executorParam=&addressList=".encode()
    status, _, body = webapi.request(center.port, "POST", "/xxl-job-admin/jobinfo/trigger", form, {
        "Content-Type": "application/x-www-form-urlencoded", "Cookie": api.cookie, "traceparent": header})
    assert status == 200 and json.loads(body)["code"] == 200, body


@pytest.mark.parametrize("trigger", [trigger_v1, trigger_batch, trigger_form])
def test_the_trace_of_a_request_goes_on_through_retry_and_child(center, trigger):
    """Each run is a span of its own in it; the API has the id while they run and when they have ended."""
    v1, app, trace = V1(center), next(_apps), uuid.uuid4().hex
    with Puppet(center, app) as puppet:
        api = center.api()
        group = api.add_group(app)
        child = api.add_job(group, "child")
        job = api.add_job(group, "parent", childJobId=str(child), executorFailRetryCount=1)
        puppet.result = lambda body: {"handleCode": 500 if body["jobId"] == job and len(of(puppet, job)) == 1 else 200}
        trigger(center, job, parent(trace))
        wait_until(lambda: of(puppet, child), "the child's run", 90)
        calls = [*of(puppet, job), *of(puppet, child)]
        assert len(calls) == 3 and [ids(c)[0] for c in calls] == [trace] * 3
        spans = {ids(c)[1] for c in calls}
        assert len(spans) == 3 and "b7ad6b7169203331" not in spans
        for call in calls:
            run = call.body["logId"]
            wait_until(lambda run=run: v1.get(f"/runs/{run}")["run"]["outcome"] in ("succeeded", "failed"), "its end")
            assert trace_in_the_api(v1, run) == trace


def test_without_a_request_retry_and_child_are_of_the_first_runs_trace(center):
    v1, app = V1(center), next(_apps)
    with Puppet(center, app) as puppet:
        api = center.api()
        group = api.add_group(app)
        child = api.add_job(group, "child")
        job = api.add_job(group, "parent", childJobId=str(child), executorFailRetryCount=1)
        puppet.result = lambda body: {"handleCode": 500 if body["jobId"] == job and len(of(puppet, job)) == 1 else 200}
        first = v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"]
        wait_until(lambda: of(puppet, child), "the child's run", 90)
        calls = [*of(puppet, job), *of(puppet, child)]
        assert calls[0].body["logId"] == first and len({ids(c) for c in calls}) == 3
        assert {ids(c)[0] for c in calls} == {trace_in_the_api(v1, c.body["logId"]) for c in calls} == {ids(calls[0])[0]}


def test_a_request_that_is_not_sampled_and_one_that_cannot_be_read(center):
    app, trace = next(_apps), uuid.uuid4().hex
    with Puppet(center, app) as puppet:
        api = center.api()
        job = api.add_job(api.add_group(app), "x")
        trigger_v1(center, job, parent(trace, "00"))
        call = wait_until(lambda: of(puppet, job), "the run")[0]
        assert re.fullmatch(rf"00-{trace}-[0-9a-f]{{16}}-00", call.headers["traceparent"])
        for bad in (parent(trace.upper()), parent("0" * 32), "ff" + parent(trace)[2:], "x" * 300):
            before = len(of(puppet, job))
            trigger_v1(center, job, bad)
            wait_until(lambda before=before: len(of(puppet, job)) > before, "the run")
            assert ids(of(puppet, job)[-1])[0] not in (trace, "0" * 32)


def test_a_trace_that_was_given_outlives_a_kill(tmp_path):
    app, trace = next(_apps), uuid.uuid4().hex
    with Center(tmp_path / "center") as center, Puppet(center, app, automatic=False) as puppet:
        api = center.api()
        run = trigger_v1(center, api.add_job(api.add_group(app), "x"), parent(trace))
        wait_until(lambda: puppet.of("run"), "the run")
        center.kill()
        center.start()
        puppet.register()
        v1 = V1(center)
        assert trace_in_the_api(v1, run) == trace
        assert v1.ask("POST", f"/runs/{run}/kill").status == 200
        wait_until(lambda: puppet.of("kill"), "the call that ends it")
        assert ids(puppet.of("kill")[0]) == ids(puppet.of("run")[0])


def of(puppet, job):
    return [call for call in puppet.of("run") if call.body["jobId"] == job]


def logged(executor, folder, run):
    """The log file of a run, whatever its day."""
    files = list(folder.rglob(f"{run}.log"))
    return files[0].read_text() if files else ""


@pytest.mark.parametrize("value", [None, "", "00-0-0-01", GIVEN.upper(), GIVEN + "-x", "ff" + GIVEN[2:],
                                   "00-" + "0" * 32 + GIVEN[35:], "x" * 5000])
def test_what_is_none_is_ignored(tmp_path, value):
    with StandinCenter() as center, Executor(tmp_path, center.url, ["--peal.executor.glue", "shell"]) as executor:
        headers = {} if value is None else {"traceparent": value}
        reply = executor.call("run", shell(1, "echo it is ${TRACEPARENT-unset}"), headers=headers)
        assert reply["code"] == 200
        assert center.result(1)["handleCode"] == 200
        assert "it is unset" in executor.log(1, date_ms=DATE)["logContent"]


def test_what_is_one_reaches_scripts_and_commands(tmp_path):
    with StandinCenter() as center, Executor(tmp_path, center.url, ["--peal.executor.glue", "shell",
                                                                    "--peal.executor.commands=*"]) as executor:
        body = shell(1, "echo it is $TRACEPARENT")
        command = {**shell(2, ""), "glueType": "BEAN", "executorHandler": "commandJobHandler", "executorParams": "env",
                   "jobId": 2}
        for each in (body, command):
            assert executor.call("run", each, headers={"Traceparent": GIVEN})["code"] == 200
            assert center.result(each["logId"])["handleCode"] == 200
        assert f"it is {GIVEN}" in executor.log(1, date_ms=DATE)["logContent"]
        assert f"TRACEPARENT={GIVEN}" in executor.log(2, date_ms=DATE)["logContent"]


DATE = int(time.time() * 1000)  # the executor removes logs of old days, and looks for them at its start


def shell(log, source):
    return {"jobId": 1, "logId": log, "logDateTime": DATE, "glueType": "GLUE_SHELL", "glueSource": source,
            "executorHandler": "", "executorParams": "", "executorTimeout": 0, "glueUpdatetime": 1}
