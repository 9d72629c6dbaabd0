# SPDX-License-Identifier: Apache-2.0
"""Rules of alarms: as a resource, and what they find: one message for a burst and for a dead executor, recovery, what a
crash keeps, what a user closes. A webhook on plain HTTP hears the messages."""

import datetime
import http.server
import json
import threading
import time

import pytest
from support import ledger
from support.center import Center, free_port
from support.stub_executor import Stub
from support.v1 import V1
from support.wait import wait_until
from test_users import make


class Hook:
    """Takes every message."""

    def __init__(self):
        self.got = []
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                hook.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.settings = ["--webhook.url", f"http://127.0.0.1:{self._server.server_port}/", "--webhook.private"]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def of(self, rule):
        """What it was told for that rule."""
        return [m for m in list(self.got) if m.get("ruleId") == rule]

    def wait(self, rule, n, timeout=90):
        wait_until(lambda: len(self.of(rule)) >= n, f"{n} messages of rule {rule}", timeout)
        return self.of(rule)


@pytest.fixture(scope="module")
def hook():
    with Hook() as it:
        yield it


@pytest.fixture(scope="module")
def center(tmp_path_factory, hook):
    with Center(tmp_path_factory.mktemp("rules"), hook.settings) as it:
        yield it


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def rule(v1, kind="failed", **more):
    answer = v1.ask("POST", "/alarm-rules", {"name": "a rule", "kind": kind, "channels": ["webhook"], **more})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def run(stub, api, job, code=200, msg="done"):
    """Trigger the job, and end that run."""
    before = len(stub.runs(job))
    api.trigger(job)
    log_id = stub.wait_runs(before + 1, job)[-1]["logId"]
    stub.call_back(log_id, code, msg)
    wait_until(lambda: next(r for r in api.logs(job) if r["id"] == log_id)["handleCode"] == code, "the end of the run")
    return log_id


def listed(stub, api):
    wait_until(lambda: stub.address in api.addresses(stub.app), "the stub in its group")


# ---- the resource ----

FULL = {"name": "Payments fail", "kind": "failed", "level": "critical", "inARow": 3, "channels": ["webhook"],
        "quiet": {"from": "22:00", "to": "06:30"}, "repeatMs": 3600000, "enabled": False}


@pytest.mark.every_engine
def test_a_rule_is_made_read_changed_and_deleted(center, v1):
    group = center.api().add_group("rules-crud")
    made = v1.ask("POST", "/alarm-rules", {**FULL, "groupId": group})
    assert made.status == 201
    one = made.json
    assert {key: one[key] for key in FULL} == FULL and (one["groupId"], one["jobId"]) == (group, None)
    path = f"/alarm-rules/{one['id']}"
    assert made.headers["Location"].endswith(path) and v1.get(path) == one
    assert one in v1.pages("/alarm-rules", limit=2)

    assert v1.ask("PATCH", path, {"name": "x"}).status == 428
    now = v1.ask("PATCH", path, {"kind": "slow", "inARow": None, "longerMs": 5000, "quiet": None, "repeatMs": None,
                                 "groupId": None}, If_Match=made.etag)
    assert now.status == 200
    assert (now.json["kind"], now.json["inARow"], now.json["longerMs"]) == ("slow", None, 5000)
    assert now.json["quiet"] is now.json["repeatMs"] is now.json["groupId"] is None
    assert now.json["name"] == FULL["name"] and now.json["version"] == one["version"] + 1
    assert v1.ask("PATCH", path, {"name": "x"}, If_Match=made.etag).status == 412
    assert v1.ask("DELETE", path, If_Match=made.etag).status == 412
    assert v1.ask("DELETE", path, If_Match=now.etag).status == 204
    assert v1.ask("GET", path).status == 404 and v1.ask("DELETE", path, If_Match="*").status == 404
    actions = [row["action"] for row in v1.get("/audit?object=rule:" + str(one["id"]))["items"]]
    assert actions == ["rule.delete", "rule.update", "rule.create"]


@pytest.mark.parametrize("body, field", [
    ({}, "/name"), ({"name": ""}, "/name"), ({"name": "x" * 101}, "/name"), ({"name": "a\u0007"}, "/name"),
    ({"kind": "odd"}, "/kind"), ({"level": "loud"}, "/level"), ({"channels": []}, "/channels"),
    ({"channels": ["a,b"]}, "/channels"), ({"channels": [" a"]}, "/channels"), ({"channels": ["x" * 65]}, "/channels"),
    ({"channels": ["a", "a"]}, "/channels"), ({"inARow": 0}, "/inARow"), ({"inARow": 1001}, "/inARow"),
    ({"longerMs": 5000}, "/longerMs"), ({"kind": "slow"}, "/longerMs"), ({"kind": "slow", "longerMs": 999}, "/longerMs"),
    ({"kind": "recovered", "inARow": 2}, "/inARow"), ({"repeatMs": 59999}, "/repeatMs"), ({"repeatMs": "1h"}, "/repeatMs"),
    ({"quiet": "night"}, "/quiet"), ({"quiet": {"from": "24:00", "to": "06:00"}}, "/quiet"),
    ({"quiet": {"from": "6:00", "to": "07:00"}}, "/quiet"), ({"quiet": {"from": "06:00", "to": "06:00"}}, "/quiet"),
    ({"quiet": {"from": "06:00"}}, "/quiet"), ({"groupId": 4711}, "/groupId"), ({"jobId": 4711}, "/jobId"),
    ({"groupId": 1, "jobId": 1}, "/jobId"), ({"enabled": 1}, "/enabled"), ({"colour": "red"}, "/colour"),
])
def test_every_bad_field_is_told_and_nothing_is_made(v1, body, field):
    before = v1.get("/alarm-rules")["page"]["total"]["value"]
    given = {**({"name": "n", "kind": "failed", "channels": ["webhook"]} if body else {}), **body}
    answer = v1.ask("POST", "/alarm-rules", given)
    assert answer.status == 422 and field in [e["field"] for e in answer.json["errors"]], answer.json
    assert v1.get("/alarm-rules")["page"]["total"]["value"] == before


def test_who_sees_rules_and_who_makes_them(center, v1):
    api = center.api()
    mine, other = api.add_group("rules-mine"), api.add_group("rules-other")
    job, far = api.add_job(mine, "h"), api.add_job(other, "h")
    ids = {name: rule(v1, enabled=False, **more) for name, more in {
        "all": {}, "mine": {"groupId": mine}, "other": {"groupId": other}, "job": {"jobId": job},
        "far": {"jobId": far}}.items()}
    make(center, "r-developer", grants=[{"role": "developer", "groups": [mine]}])
    it = V1(center, "r-developer", "r-developer")
    seen = [r["id"] for r in it.pages("/alarm-rules")]
    assert {name for name, number in ids.items() if number in seen} == {"all", "mine", "job"}
    assert it.ask("GET", f"/alarm-rules/{ids['mine']}").status == 200
    assert it.ask("GET", f"/alarm-rules/{ids['other']}").status == 404
    assert it.ask("POST", "/alarm-rules", {"name": "n", "kind": "failed", "channels": ["a"]}).status == 403
    assert it.ask("DELETE", f"/alarm-rules/{ids['mine']}", If_Match="*").status == 403


# ---- what rules find ----

@pytest.mark.every_engine
def test_a_burst_is_one_message_and_recovery_closes_it(center, v1, hook):
    api = center.api()
    group = api.add_group("burst")
    jobs = [api.add_job(group, "demo", jobDesc=f"burst {i}") for i in range(3)]
    number = rule(v1, groupId=group, level="critical", name="Burst")
    with Stub(center, "burst") as stub:
        listed(stub, api)
        for job in jobs:
            api.trigger(job)
        logs = [stub.wait_runs(1, job)[0]["logId"] for job in jobs]
        results = [{"logId": log, "logDateTim": 0, "handleCode": 500, "handleMsg": f"order {i} not found"}
                   for i, log in enumerate(logs)]
        assert center.open_api("callback", results, token=center.token)["code"] == 200  # all of them at once
        ledger.wait_for_rows(center, "the alarm", "SELECT 1 FROM peal_incident WHERE rule_id = ? AND jobs = 3", number)
        run(stub, api, jobs[0], 500, "again")  # it is open: no other alarm
        opened, = hook.wait(number, 1)
        assert (opened["event"], opened["state"]) == ("job.failed", "opened") and opened["rule"] == "Burst" and opened["level"] == "critical"
        assert (opened["jobs"], opened["open"], opened["groupId"]) == (3, 3, group)
        assert sorted(item["jobId"] for item in opened["items"]) == jobs
        assert {item["cause"] for item in opened["items"]} == {"order # not found"}
        alarm = v1.get(f"/alarms/{opened['alarmId']}")
        assert alarm["cause"] == "group" and alarm["messages"] == 1 and alarm["closedAt"] is None
        assert opened["alarmId"] in [a["id"] for a in v1.get(f"/alarms?open=true&rule={number}")["items"]]
        for job in jobs:
            assert len(hook.of(number)) == 1  # until the last one has recovered
            run(stub, api, job)
        closed = hook.wait(number, 2)[-1]
        assert closed["state"] == "closed" and closed["key"] == opened["key"] and closed["open"] == 0
        assert v1.get(f"/alarms?open=false&rule={number}")["items"][0]["id"] == opened["alarmId"]
    assert len(hook.of(number)) == 2 and ledger.number(
        center, "SELECT count(*) FROM peal_incident WHERE rule_id = ?", number) == 1


def test_a_dead_executor_is_one_message_that_lists_its_jobs(center, v1, hook):
    api = center.api()
    address = f"http://127.0.0.1:{free_port()}/"  # nothing listens there
    group = api.add_group("dead", addresses=[address])
    jobs = [api.add_job(group, "demo") for _ in range(25)]
    number = rule(v1, groupId=group)
    for job in jobs:
        api.trigger(job)
    opened, = hook.wait(number, 1)
    assert opened["executor"] == address and "cannot connect" in opened["cause"]
    wait_until(lambda: v1.get(f"/alarms/{opened['alarmId']}")["jobs"] == 25, "all jobs in the alarm")
    alarms = v1.get(f"/alarms?rule={number}")["items"]
    assert [(a["cause"], a["executor"]) for a in alarms] == [("executor", address)]
    assert 1 <= len(opened["items"]) <= 20


def test_so_many_failures_in_a_row_and_a_group_without_executors(center, v1, hook):
    api = center.api()
    group = api.add_group("in-a-row")
    job = api.add_job(group, "demo")
    number = rule(v1, jobId=job, inARow=3)
    for n in (1, 2):
        api.trigger(job)
        wait_until(lambda n=n: len([r for r in api.logs(job) if r["triggerCode"] == 500]) == n, f"failure {n}")
    assert v1.get(f"/alarms?rule={number}")["items"] == []
    api.trigger(job)
    opened, = hook.wait(number, 1)
    assert opened["event"] == "job.streak" and opened["items"][0]["failures"] == 3 and opened["jobs"] == 1
    assert v1.get(f"/alarms/{opened['alarmId']}")["cause"] == "no_executor"
    # a user acknowledges it, and closes it
    path = f"/alarms/{opened['alarmId']}"
    assert v1.ask("POST", path + "/acknowledge").json["acknowledgedBy"] == "admin"
    done = v1.ask("POST", path + "/close")
    assert done.status == 200 and done.json["closedBy"] == "admin" and done.json["open"] == 0
    assert v1.ask("POST", path + "/close").status == 409 and v1.ask("POST", path + "/acknowledge").status == 409
    assert hook.wait(number, 2)[-1]["state"] == "closed"
    assert {row["action"] for row in v1.get(f"/audit?object=alarm:{opened['alarmId']}")["items"]} == {
        "alarm.acknowledge", "alarm.close"}
    # it goes on failing: no other alarm until it has recovered
    api.trigger(job)
    wait_until(lambda: len([r for r in api.logs(job) if r["triggerCode"] == 500]) == 4, "failure 4")
    assert len(v1.get(f"/alarms?rule={number}")["items"]) == 1


def test_recovered_slow_and_stopped_are_told_once(center, v1, hook):
    api = center.api()
    group = api.add_group("kinds")
    job = api.add_job(group, "demo")
    back, stopped = rule(v1, "recovered", jobId=job), rule(v1, "stopped", groupId=group)
    with Stub(center, "kinds") as stub:
        listed(stub, api)
        run(stub, api, job, 500)
        slow = rule(v1, "slow", jobId=job, longerMs=1000)
        api.trigger(job)
        log_id = stub.wait_runs(2, job)[-1]["logId"]
        wait_until(lambda: ledger.number(center, "SELECT count(*) FROM peal_run WHERE log_id = ? AND phase = 4",
                                         log_id), "the run accepted")
        threading.Event().wait(1.2)  # longer than the rule allows
        stub.call_back(log_id)
        told, = hook.wait(back, 1)
        assert (told["event"], told["state"]) == ("job.recovered", "") and told["items"][0]["jobId"] == job
        told, = hook.wait(slow, 1)
        assert told["items"][0]["tookMs"] > 1000 and told["items"][0]["runId"] == log_id
    for number in (back, slow):
        alarm, = v1.get(f"/alarms?rule={number}")["items"]
        assert alarm["closedAt"] and alarm["messages"] == 1
    # its last scheduled time is soon; the other one is over as it should be
    then = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=20)
    last, once = (api.add_job(group, "demo", scheduleType=kind, scheduleConf=conf, zone="UTC") for kind, conf in (
        ("CRON", f"{then:%-S %-M %-H %-d %-m} ? {then:%Y}"), ("ONCE", f"{then:%Y-%m-%dT%H:%M:%SZ}")))
    for number in (last, once):
        api.start_job(number)
    told, = hook.wait(stopped, 1)
    assert [item["jobId"] for item in told["items"]] == [last] and "no further scheduled time" in told["cause"]
    wait_until(lambda: not ledger.number(center, "SELECT trigger_status FROM xxl_job_info WHERE id = ?", once),
               "the job that was due once to be stopped")
    assert ledger.number(center, "SELECT count(*) FROM peal_incident_job WHERE job_id = ?", once) == 0


@pytest.mark.every_engine
def test_a_crash_neither_loses_nor_repeats_a_message(tmp_path):
    with Hook() as hook, Center(tmp_path / "center", hook.settings) as center:
        v1, api = V1(center), center.api()
        job = api.add_job(api.add_group("crash"), "demo")
        number = rule(v1)
        api.trigger(job)
        ledger.wait_for_rows(center, "the alarm", "SELECT 1 FROM peal_incident")
        center.kill()
        center.start()
        opened, = hook.wait(number, 1)
        ledger.wait_for_rows(center, "the message to be noted as sent",
                             "SELECT 1 FROM peal_alarm WHERE log_id < 0 AND status = 2")
        center.restart()
        api = center.api()
        api.trigger(job)  # it goes on failing: told already
        wait_until(lambda: len([r for r in api.logs(job) if r["triggerCode"] == 500]) == 2, "the second failure")
        assert hook.of(number) == [opened] and ledger.number(center, "SELECT count(*) FROM peal_tell") == 1


def test_a_rule_that_is_turned_off_has_no_alarms(center, v1, hook):
    api = center.api()
    group = api.add_group("turned-off")
    job = api.add_job(group, "demo")
    v1.ask("POST", "/alarm-silences", {"groupId": group, "untilMs": int(time.time() * 1000) + 3600000, "reason": "r"})
    number = rule(v1, jobId=job)
    api.trigger(job)
    ledger.wait_for_rows(center, "the alarm", "SELECT 1 FROM peal_incident WHERE rule_id = ?", number)
    path = f"/alarm-rules/{number}"
    assert v1.ask("PATCH", path, {"enabled": False}, If_Match="*").status == 200
    alarm, = v1.get(f"/alarms?rule={number}")["items"]
    assert alarm["closedAt"] and alarm["closedBy"] is None
    assert v1.ask("DELETE", path, If_Match="*").status == 204
    api.trigger(job)
    wait_until(lambda: len([r for r in api.logs(job) if r["triggerCode"] == 500]) == 2, "the second failure")
    alarm, = v1.get(f"/alarms?rule={number}")["items"]
    assert alarm["messages"] == 0 and alarm["rule"]["name"] is None and not hook.of(number)


# ---- silences ----

def test_a_silence_holds_back_until_it_ends(center, v1, hook):
    api = center.api()
    group, other = api.add_group("silent"), api.add_group("loud")
    job, far = api.add_job(group, "demo"), api.add_job(other, "demo")
    number = rule(v1)
    now = int(time.time() * 1000)
    made = v1.ask("POST", "/alarm-silences", {"groupId": group, "untilMs": now + 3600000, "reason": "they move"})
    assert made.status == 201 and made.json["active"] and made.json["by"] == "admin" and made.json["ruleId"] is None
    assert made.json in v1.pages("/alarm-silences", limit=2)
    api.trigger(job)
    ledger.wait_for_rows(center, "the alarm", "SELECT 1 FROM peal_incident WHERE rule_id = ? AND group_id = ?", number,
                         group)
    api.trigger(far)
    opened = hook.wait(number, 1)  # that of the other group is told, and began later
    assert [m["groupId"] for m in opened] == [other]
    alarm, = [a for a in v1.get(f"/alarms?rule={number}")["items"] if a["group"]["id"] == group]
    assert alarm["open"] == 1 and alarm["messages"] == 0
    assert v1.ask("DELETE", f"/alarm-silences/{made.json['id']}").status == 204
    wait_until(lambda: [m["groupId"] for m in hook.of(number)] == [other, group], "the alarm that was held back", 90)
    assert v1.ask("DELETE", f"/alarm-silences/{made.json['id']}").status == 404
    actions = [row["action"] for row in v1.get(f"/audit?object=silence:{made.json['id']}")["items"]]
    assert actions == ["silence.delete", "silence.create"]
    assert v1.ask("DELETE", f"/alarm-rules/{number}", If_Match="*").status == 204  # other tests' groups are in it


def test_who_silences_what(center, v1):
    api = center.api()
    mine, other = api.add_group("silences-mine"), api.add_group("silences-other")
    make(center, "s-operator", grants=[{"role": "operator", "groups": [mine]}])
    it = V1(center, "s-operator", "s-operator")
    good = {"untilMs": int(time.time() * 1000) + 3600000, "reason": "r"}
    own = it.ask("POST", "/alarm-silences", {**good, "groupId": mine})
    assert own.status == 201
    assert it.ask("POST", "/alarm-silences", {**good, "groupId": other}).status == 404
    assert it.ask("POST", "/alarm-silences", good).status == 403
    far = v1.ask("POST", "/alarm-silences", {**good, "groupId": other}).json["id"]
    assert [s["id"] for s in it.pages("/alarm-silences")] == [own.json["id"]]
    assert it.ask("DELETE", f"/alarm-silences/{far}").status == 404
    assert it.ask("DELETE", f"/alarm-silences/{own.json['id']}").status == 204
    assert v1.ask("DELETE", f"/alarm-silences/{far}").status == 204
    for bad, field in (({"untilMs": 5}, "/untilMs"), ({"untilMs": good["untilMs"] * 2}, "/untilMs"), ({"reason": ""}, "/reason"),
                       ({"reason": "a\nb"}, "/reason"), ({"ruleId": 4711}, "/ruleId"), ({"groupId": 4711}, "/groupId"),
                       ({"fromMs": good["untilMs"]}, "/untilMs"), ({"x": 1}, "/x")):
        answer = v1.ask("POST", "/alarm-silences", {**good, **bad})
        assert answer.status == 422, (bad, answer.json)
        assert field in [e["field"] for e in answer.json["errors"]], (bad, answer.json)
