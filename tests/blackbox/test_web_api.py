# SPDX-License-Identifier: Apache-2.0
"""The web API as scripts of both generations use it: groups, jobs, runs and their logs."""

import itertools
import json
import re
import time
import urllib.parse

import pytest
from support import webapi
from support.stub_executor import Stub
from support.wait import wait_until

pytestmark = pytest.mark.every_engine

_names = (f"web-api-{n}" for n in itertools.count())


@pytest.fixture
def group(api):
    """A fresh group, filled by registration: (id, app name)."""
    app = next(_names)
    return api.add_group(app), app


@pytest.fixture
def stub(center, api, group):
    with Stub(center, group[1]) as it:
        wait_until(lambda: it.address in api.addresses(group[1]), "the stub in its group")
        yield it


def job_row(api, group, job):
    rows = [r for r in api.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, jobDesc="",
                                 executorHandler="", author="") if r["id"] == job]
    assert len(rows) == 1
    return rows[0]


def fault(api, path, **form):
    reply = api.raw(path, **form)
    assert reply["code"] == 500 and reply["content"] is None and reply["data"] is None
    return reply["msg"]


# ---- groups ----


def test_groups_come_and_go(api, group):
    app = next(_names)
    number = api.add_group(app, "标题 & more")
    row = api.groups(app)[0]
    assert (row["id"], row["title"], row["addressType"]) == (number, "标题 & more", 0)
    assert row["registryList"] is None and row["updateTime"]
    api.call("/jobgroup/update", id=number, appname=app, title="t2", addressType=1,
             addressList="http://10.0.0.1:9999/,10.0.0.2:9999")
    assert api.call("/jobgroup/loadById", id=number)["title"] == "t2"
    assert api.addresses(app) == ["http://10.0.0.1:9999/", "10.0.0.2:9999"]
    api.by_id("/jobgroup/delete" if api.generation == "3.3" else "/jobgroup/remove", number)
    assert api.groups(app) == []
    assert "group" in fault(api, "/jobgroup/loadById", id=number)


def test_a_group_with_jobs_stays(api, group):
    job = api.add_job(group[0], "h")
    remove = "/jobgroup/delete" if api.generation == "3.3" else "/jobgroup/remove"
    assert "has 1 jobs" in fault(api, remove, id=group[0])
    api.delete_job(job)
    api.by_id(remove, group[0])


def test_the_last_group_stays(tmp_path):
    from support.center import Center
    with Center(tmp_path) as center:
        api = center.api()
        for row in api.groups()[1:]:
            api.by_id("/jobgroup/delete", row["id"])
        last = api.groups()[0]["id"] if api.groups() else api.add_group("last-one")
        assert "last one" in fault(api, "/jobgroup/delete", **{"ids[]": last})


def test_group_rules_name_the_field(api, group):
    insert = "/jobgroup/insert" if api.generation == "3.3" else "/jobgroup/save"
    assert "appname" in fault(api, insert, appname="abc", title="t")
    assert "title" in fault(api, insert, appname="abcd", title=" ")
    assert "addressList" in fault(api, insert, appname="abcd", title="t", addressType=1)
    assert "commas separate addresses" in fault(api, insert, appname="abcd", title="t", addressType=1,
                                                addressList="http://10.0.0.1:9999/;http://10.0.0.2:9999/")
    assert "addressType" in fault(api, insert, appname="abcd", title="t", addressType=3)
    assert "id" in fault(api, "/jobgroup/update", appname="abcd", title="t")
    assert "999" in fault(api, "/jobgroup/update", id=999, appname="abcd", title="t")


def test_group_pages(api, group):
    apps = [f"{next(_names)}-paged" for _ in range(3)]
    for app in apps:
        api.add_group(app)
    new = api.generation == "3.3"
    first = api.raw("/jobgroup/pageList", appname="-paged", **({"offset": 0, "pagesize": 2} if new
                                                              else {"start": 0, "length": 2}))
    page = first["data"] if new else first
    assert len(page["data"]) == 2
    assert page["total" if new else "recordsFiltered"] >= 3
    if new:
        assert set(page) == {"offset", "pagesize", "data", "total"} and first["code"] == 200
    else:
        assert set(page) == {"recordsTotal", "recordsFiltered", "data"}
    for app in apps:
        api.by_id("/jobgroup/delete" if new else "/jobgroup/remove", api.groups(app)[0]["id"])


# ---- jobs ----


def test_a_job_is_kept_as_it_was_sent(api, group):
    fields = {"jobDesc": "描述 <b>&\"'", "author": "me", "alarmEmail": "a@b", "scheduleType": "CRON",
              "scheduleConf": "0 0 9 * * ?", "misfireStrategy": "FIRE_ONCE_NOW",
              "executorRouteStrategy": "CONSISTENT_HASH", "executorParam": " a=1\n+%\u00e9 ",
              "executorBlockStrategy": "COVER_EARLY", "executorTimeout": 7, "executorFailRetryCount": 2,
              "glueRemark": "r"}
    own = {"zone": "Asia/Shanghai", "dst": "smart", "misfireMax": 5, "retryDelayMs": 250, "retryBackoff": 1.5,
           "startDeadlineMs": 9000, "onDoubt": "resend"}
    job = api.add_job(group[0], "demo", **fields, **own)
    row = job_row(api, group[0], job)
    for name, value in {**fields, **own, "executorHandler": "demo", "jobGroup": group[0], "triggerStatus": 0,
                        "triggerNextTime": 0, "glueType": "BEAN", "childJobId": ""}.items():
        assert row[name] == value, name
    for name in ("addTime", "updateTime", "glueUpdatetime"):
        pattern = (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d" if api.generation == "3.3"
                   else r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")
        assert re.fullmatch(pattern, row[name])
    api.call("/jobinfo/update", id=job, jobGroup=group[0], jobDesc="d2", author="me", scheduleType="FIX_RATE",
             scheduleConf="30", misfireStrategy="DO_NOTHING", executorRouteStrategy="ROUND", executorHandler="h2",
             executorParam="", executorBlockStrategy="SERIAL_EXECUTION", executorTimeout=0,
             executorFailRetryCount=0, childJobId="")
    after = job_row(api, group[0], job)
    assert (after["jobDesc"], after["scheduleConf"], after["executorParam"]) == ("d2", "30", "")
    assert {name: after[name] for name in own} == own  # absent: unchanged
    api.delete_job(job)
    assert not [r for r in api.pages("/jobinfo/pageList", jobGroup=group[0], triggerStatus=-1)]


def test_defaults_of_a_job_made_here(api, group):
    job = api.add_job(group[0], "demo")
    row = job_row(api, group[0], job)
    assert {n: row[n] for n in ("zone", "dst", "misfireMax", "retryDelayMs", "retryBackoff", "startDeadlineMs",
                                "onDoubt")} == {"zone": "", "dst": "xxl", "misfireMax": 100, "retryDelayMs": 5000,
                                                "retryBackoff": 1, "startDeadlineMs": 60000, "onDoubt": "wait"}
    once = api.add_job(group[0], "demo", scheduleType="ONCE", scheduleConf="2090-01-01T00:00:00+08:00",
                       misfireStrategy=None)
    assert job_row(api, group[0], once)["misfireStrategy"] == "FIRE_ONCE_NOW"
    api.delete_job(job)
    api.delete_job(once)


def test_the_new_id_is_text_in_both_members(api, group):
    insert = "/jobinfo/insert" if api.generation == "3.3" else "/jobinfo/add"
    reply = api.raw(insert, jobGroup=group[0], scheduleType="NONE", executorRouteStrategy="FIRST", glueType="BEAN",
                    executorHandler="h", executorBlockStrategy="SERIAL_EXECUTION", misfireStrategy="DO_NOTHING")
    assert reply["content"] == reply["data"] and reply["content"].isdigit()
    assert job_row(api, group[0], int(reply["content"]))["author"] == "admin"
    api.delete_job(int(reply["content"]))


def test_filters_of_the_job_list(api, group):
    jobs = [api.add_job(group[0], f"handler{n}", jobDesc=f"desc{n}", author=f"author{n}",
                        scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2090") for n in range(3)]
    api.start_job(jobs[1])

    def found(**form):
        rows = api.pages("/jobinfo/pageList", **{"jobGroup": group[0], "triggerStatus": -1, **form})
        return sorted(r["id"] for r in rows)
    assert found() == jobs
    assert found(triggerStatus=1) == [jobs[1]]
    assert found(triggerStatus=0) == [jobs[0], jobs[2]]
    assert found(jobDesc="esc2") == [jobs[2]]
    assert found(executorHandler="handler0", author="author0") == [jobs[0]]
    assert found(jobDesc="%") == []
    assert set(jobs) <= set(found(jobGroup=0))
    for job in jobs:
        api.delete_job(job)


def test_start_stop_and_next_time(api, group):
    job = api.add_job(group[0], "h", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2090")
    api.start_job(job)
    row = job_row(api, group[0], job)
    assert row["triggerStatus"] == 1 and row["triggerNextTime"] == 3786912000000
    api.call("/jobinfo/update", id=job, scheduleConf="0 0 0 1 1 ? 2091")
    assert job_row(api, group[0], job)["triggerNextTime"] == 3818448000000
    api.stop_job(job)
    row = job_row(api, group[0], job)
    assert (row["triggerStatus"], row["triggerNextTime"]) == (0, 0)
    api.call("/jobinfo/update", id=job, scheduleType="NONE", scheduleConf="")
    assert "NONE" in fault(api, "/jobinfo/start", id=job)
    api.call("/jobinfo/update", id=job, scheduleType="ONCE", scheduleConf="2001-01-01T00:00:00Z")
    assert "no scheduled time" in fault(api, "/jobinfo/start", id=job)
    api.delete_job(job)


def test_ids_in_all_their_forms(api, group):
    job = api.add_job(group[0], "h", scheduleType="FIX_RATE", scheduleConf="3600")
    for form in ({"id": job}, {"ids[]": job}, {"ids": job}):
        api.call("/jobinfo/start", **form)
        api.call("/jobinfo/stop", **form)
    assert "exactly one" in fault(api, "/jobinfo/start", **{"id": job, "ids[]": job})
    assert "id" in fault(api, "/jobinfo/start")
    assert "number" in fault(api, "/jobinfo/start", id="1x")
    assert "999999" in fault(api, "/jobinfo/start", id=999999)
    api.delete_job(job)
    assert str(job) in fault(api, "/jobinfo/stop", id=job)


def test_reading_takes_get_as_well(center, api, group):
    job = api.add_job(group[0], "h")
    path = f"{api.prefix}/jobinfo/pageList?" + urllib.parse.urlencode(
        {"jobGroup": group[0], "triggerStatus": -1, "start": 0, "length": 10})
    status, _, body = webapi.request(center.port, "GET", path, headers={"Cookie": api.cookie})
    assert status == 200 and [row["id"] for row in json.loads(body)["data"]] == [job]
    api.delete_job(job)


def test_children_form_no_cycle(api, group):
    a = api.add_job(group[0], "h")
    b = api.add_job(group[0], "h", childJobId=str(a))
    c = api.add_job(group[0], "h", childJobId=f"{b},{a},")
    assert job_row(api, group[0], c)["childJobId"] == f"{b},{a}"
    assert "descendant" in fault(api, "/jobinfo/update", id=a, childJobId=str(c))
    assert "own child" in fault(api, "/jobinfo/update", id=a, childJobId=str(a))
    assert "there is no job" in fault(api, "/jobinfo/update", id=a, childJobId="99999")
    for job in (c, b, a):
        api.delete_job(job)


def test_next_trigger_time(api):
    scheduled_times = api.call("/jobinfo/nextTriggerTime", scheduleType="CRON", scheduleConf="0 0 3 1 1 ? 2090-2096")
    assert scheduled_times == [f"{year}-01-01 03:00:00" for year in range(2090, 2095)]
    assert api.call("/jobinfo/nextTriggerTime", cron="0 0 3 1 1 ? 2090") == ["2090-01-01 03:00:00"]
    assert api.call("/jobinfo/nextTriggerTime", scheduleType="NONE", scheduleConf="") == []
    assert len(api.call("/jobinfo/nextTriggerTime", scheduleType="FIX_RATE", scheduleConf="30")) == 5
    assert "scheduleConf" in fault(api, "/jobinfo/nextTriggerTime", scheduleType="CRON", scheduleConf="0 0 25 * * ?")
    assert "scheduleType" in fault(api, "/jobinfo/nextTriggerTime", scheduleType="HOURLY", scheduleConf="")


# ---- runs and logs ----


def test_run_once_with_everything(api, group, stub):
    job = api.add_job(group[0], "demo", executorParam="of the job")
    api.trigger(job, "по-русски & 100%+", stub.address)
    api.call("/jobinfo/trigger", id=job)  # no parameter: an empty one, as the original
    runs = stub.wait_runs(2, job)
    assert sorted(r["executorParams"] for r in runs) == ["", "по-русски & 100%+"]
    assert all(r["executorHandler"] == "demo" and r["jobId"] == job for r in runs)
    first = next(r for r in runs if r["executorParams"])
    stub.call_back(first["logId"], 200, "fine")
    row = wait_until(lambda: next((r for r in api.logs(job, group[0]) if r["id"] == first["logId"] and
                                   r["triggerCode"] == 200 and r["handleCode"]), None), "answer and result in the log")
    assert row["executorAddress"] == stub.address and row["executorParam"] == first["executorParams"]
    assert row["triggerTime"] == first["logDateTime"] and row["triggerTime"] % 1000 == 0
    assert row["handleTime"] and row["handleMsg"] == "fine" and row["handleCode"] == 200
    for part in (stub.address, "demo", "200"):
        assert part in row["triggerMsg"]
    assert "<script" not in row["triggerMsg"]


def test_a_run_goes_nowhere_else(api, group, stub):
    job = api.add_job(group[0], "demo")
    assert "neither registered" in fault(api, "/jobinfo/trigger", id=job, addressList="http://169.254.169.254/")
    assert "neither registered" in fault(api, "/jobinfo/trigger", id=job,
                                         addressList=f"{stub.address},http://10.1.1.1/")
    assert "does not exist" in fault(api, "/jobinfo/trigger", id=987654)
    assert "executorParam" in fault(api, "/jobinfo/trigger", id=job, executorParam="x" * 65537)
    assert api.logs(job) == []
    api.delete_job(job)


def test_log_filters(api, group, stub):
    job = api.add_job(group[0], "demo")
    for _ in range(3):
        api.trigger(job)
    ids = sorted(r["logId"] for r in stub.wait_runs(3, job))
    stub.call_back(ids[0], 200)
    stub.call_back(ids[1], 500, "failed")

    def found(**form):
        form = {"jobGroup": group[0], "jobId": job, "logStatus": -1, "filterTime": "", **form}
        return sorted(r["id"] for r in api.pages("/joblog/pageList", **form))
    # the third one's call may be written before the results of the others
    wait_until(lambda: (found(logStatus=1), found(logStatus=2), found(logStatus=3)) == ([ids[0]], [ids[1]], [ids[2]]),
               "two results and the open run")
    # a failure is claimed at once, as another program's monitor looks for 0; nobody wants an alarm
    assert {r["id"]: r["alarmStatus"] for r in api.logs(job, group[0])} == {ids[0]: 0, ids[1]: 1, ids[2]: 0}
    assert found() == found(filterTime="0") == ids
    assert found(filterTime="2001-01-01 00:00:00 - 2001-01-02 00:00:00") == []
    assert found(filterTime="2001-01-01 00:00:00 - 2100-01-01 00:00:00") == ids
    assert found(jobId=0) == ids
    assert "filterTime" in fault(api, "/joblog/pageList", jobGroup=0, jobId=job, logStatus=1, filterTime="today")


def test_the_rolling_log_is_the_executors(api, group, stub):
    page = {"fromLineNum": 3, "toLineNum": 2, "logContent": "<br>x<b>y</b><i>&", "isEnd": False}
    asked = []

    def answer(member):
        def reply(body):
            asked.append(body)
            return {"code": 200, "msg": None, member: page}
        return reply
    job = api.add_job(group[0], "demo")
    api.trigger(job)
    run = stub.wait_runs(1, job)[0]
    for member in ("content", "data"):  # to 3.2, from 3.3
        stub.answers["log"] = answer(member)
        got = api.log_detail(run["logId"], 3)
        assert got == {"fromLineNum": 3, "toLineNum": 2, "logContent": "<br>x<b>y</b>&lt;i&gt;&amp;", "end": False}
    ours = [b for b in asked if b["fromLineNum"] == 3][0]
    assert (ours["logId"], ours["logDateTim"]) == (run["logId"], run["logDateTime"])
    stub.answers.pop("log")
    stub.answers["log"] = answer("content")
    stub.call_back(run["logId"])
    wait_until(lambda: api.log_detail(run["logId"], 3)["end"], "the end, now that the run is over")
    for nothing in ({"code": 200, "msg": None, "content": None}, {"code": 200}):  # an executor without logs
        stub.answers["log"] = nothing
        assert api.log_detail(run["logId"], 3) == {"fromLineNum": 3, "toLineNum": 2, "logContent": "", "end": True}
    stub.answers["log"] = {"code": 500, "msg": "no such file"}
    assert "no such file" in fault(api, "/joblog/logDetailCat", logId=run["logId"], fromLineNum=1)
    assert "logId" in fault(api, "/joblog/logDetailCat", fromLineNum=1)
    assert fault(api, "/joblog/logDetailCat", logId=99999999, fromLineNum=1)


def test_kill(api, group, stub):
    job = api.add_job(group[0], "demo")
    api.trigger(job)
    run = stub.wait_runs(1, job)[0]
    wait_until(lambda: api.logs(job)[0]["triggerCode"] == 200, "the run to be accepted")
    api.log_kill(run["logId"])
    assert [b for a, b, _ in stub.calls if a == "kill"] == [{"jobId": job}]
    row = wait_until(lambda: [r for r in api.logs(job) if r["handleCode"]], "the killed run's end")[0]
    assert row["handleCode"] == 500 and "killed" in row["handleMsg"]
    stub.call_back(run["logId"], 200, "too late")
    assert api.logs(job)[0]["handleCode"] == 500
    assert fault(api, "/joblog/logKill", id=run["logId"])
    assert fault(api, "/joblog/logKill", id=99999999)


def test_a_run_that_nobody_takes_says_why(api, group):
    job = api.add_job(group[0], "demo")
    api.trigger(job)
    row = wait_until(lambda: next((r for r in api.logs(job) if r["triggerCode"] == 500), None), "the refusal")
    assert row["executorAddress"] is None and row["triggerMsg"]
    assert fault(api, "/joblog/logDetailCat", logId=row["id"], fromLineNum=1)
    assert fault(api, "/joblog/logKill", id=row["id"])


def test_a_scheduled_job_fires_and_stops(center, api, group, stub):
    job = api.add_job(group[0], "tick", scheduleType="FIX_RATE", scheduleConf="200ms")
    api.start_job(job)
    for run in stub.wait_runs(5, job):
        stub.call_back(run["logId"])
    api.stop_job(job)
    for run in stub.runs(job):
        stub.call_back(run["logId"])
    wait_until(lambda: all(webapi.finished(r) for r in api.logs(job)), "all runs to be over")
    scheduled_times = [int(h["Peal-Moment"]) for a, b, h in stub.calls if a == "run" and b["jobId"] == job]
    assert len(set(scheduled_times)) == len(scheduled_times)
    assert all((b - a) % 200 == 0 for a, b in zip(sorted(scheduled_times), sorted(scheduled_times)[1:]))
    assert center.metric("peal_firings_unaccounted") == 0


def test_nothing_is_shown_ahead_of_its_time(api, group, stub):
    """Firings are rows up to five seconds before their scheduled time; users see what has happened and what is next."""
    job = api.add_job(group[0], "tick", scheduleType="FIX_RATE", scheduleConf="1")
    api.start_job(job)
    stub.wait_runs(1, job)
    for count in range(2, 5):
        before = time.time() * 1000
        row = job_row(api, group[0], job)
        after = time.time() * 1000
        assert before < row["triggerNextTime"] <= after + 1000
        assert 0 < row["triggerLastTime"] <= after and row["triggerLastTime"] > before - 10000
        rows = api.logs(job)
        after = time.time() * 1000
        assert rows and all(r["triggerTime"] <= after for r in rows)
        stub.wait_runs(count, job)
    api.stop_job(job)
    for run in stub.runs(job):
        stub.call_back(run["logId"])


def kind_of(row):
    """Why a run exists, as its trigger message says."""
    text = re.sub(r"<[^>]*>", " ", row["triggerMsg"])
    return next(word for word in ("by hand", "retry", "parent job", "schedule", "misfire", "API call")
                if re.search(rf"Trigger kind\W+{word}", text))


def test_a_run_that_is_over_still_says_why_it_was(api, group, stub):
    child = api.add_job(group[0], "child")
    parent = api.add_job(group[0], "parent", childJobId=str(child), executorFailRetryCount=1, retryDelayMs=100)
    tick = api.add_job(group[0], "tick", scheduleType="FIX_RATE", scheduleConf="500ms")
    api.trigger(parent)
    stub.call_back(stub.wait_runs(1, parent)[0]["logId"], 500, "once more")
    stub.call_back(stub.wait_runs(2, parent)[1]["logId"], 200)
    stub.call_back(stub.wait_runs(1, child)[0]["logId"], 200)
    api.start_job(tick)
    stub.call_back(stub.wait_runs(1, tick)[0]["logId"], 200)
    api.stop_job(tick)

    def ended(job, count):
        rows = api.logs(job)
        assert len(rows) >= count and all("pealPhase" not in r for r in rows[:count]), rows
        return [kind_of(r) for r in rows[:count]]
    assert wait_until(lambda: ended(parent, 2), "both runs to be closed") == ["by hand", "retry"]
    assert wait_until(lambda: ended(child, 1), "the child to be closed") == ["parent job"]
    assert wait_until(lambda: ended(tick, 1), "the schedule's run to be closed") == ["schedule"]
    for run in stub.runs(tick)[1:]:
        stub.call_back(run["logId"])


def test_large_pages_and_odd_paging(api, group):
    assert api.raw("/jobinfo/pageList", start=0, length=0, jobGroup=group[0])["data"] == []
    assert api.raw("/jobinfo/pageList", start=10 ** 15, length=5)["data"] == []
    assert "start" in fault(api, "/jobinfo/pageList", start=-1, length=5)
    assert "pagesize" in fault(api, "/jobinfo/pageList", offset=0, pagesize="many")
