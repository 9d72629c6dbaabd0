# SPDX-License-Identifier: Apache-2.0
"""POST /api/v1/import: channels and rules of alarms, in one change with the groups and jobs that they are about."""

import itertools

import pytest
from support.stub_executor import Stub
from support.v1 import V1
from support.wait import wait_until
from test_api_import import bring, job, jobs, newest, ref, refused

_apps = (f"alarms-{n}" for n in itertools.count())
HOOK = {"kind": "webhook", "settings": {"url": "https://example.org/hook"}}


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def app():
    return next(_apps)


def rule(name, channel, **more):
    return {"name": name, "kind": "failed", "channels": [channel], **more}


def whole(app):
    """A rule of all, one of a group and one of a job that the file makes, and the channel that they tell."""
    return {"peal": 1, "groups": [{"app": app, "title": "First"}], "jobs": [job(app, "nightly")],
            "channels": [{"name": f"{app} hook", "perMinute": 30, **HOOK}],
            "rules": [rule(f"{app} all", f"{app} hook", level="critical", inARow=3, repeatMs=3600000,
                           quiet={"from": "22:00", "to": "06:30"}),
                      rule(f"{app} group", f"{app} hook", group=app, enabled=False),
                      rule(f"{app} job", f"{app} hook", kind="slow", longerMs=60000, job=ref(app, "nightly"))]}


def mine(v1, app, what):
    return {one["name"].removeprefix(f"{app} "): one for one in v1.get(f"/{what}?limit=200" if "rules" in what else f"/{what}")
            ["items"] if one["name"].startswith(f"{app} ")}


def exported_of(v1, app):
    """What an export has of this file's: other cases have theirs in the same center."""
    everything = v1.get("/export?include=groups,jobs,channels,rules")
    return {"peal": 1, "groups": [g for g in everything["groups"] if g["app"] == app],
            "jobs": [j for j in everything["jobs"] if j["group"] == app],
            **{name: [one for one in everything[name] if one["name"].startswith(f"{app} ")]
               for name in ("channels", "rules")}}


def done(result):
    return [(s["kind"], s["action"], s["name"], s["changes"]) for s in result["steps"]]


def test_rules_are_made_with_what_they_are_about(v1, app):
    made = bring(v1, whole(app), "?remark=release%207")
    assert [(s["kind"], s["action"]) for s in made["steps"]] == [
        ("group", "make"), ("job", "make"), ("channel", "make"), ("rule", "make"), ("rule", "make"), ("rule", "make")]
    assert made["left"] == {"silences": 0}
    assert [s["path"] for s in made["steps"][2:]] == ["/channels/0", "/rules/0", "/rules/1", "/rules/2"]
    rules, nightly = mine(v1, app, "alarm-rules"), jobs(v1, app)["nightly"]
    assert (rules["job"]["jobId"], rules["job"]["groupId"], rules["job"]["longerMs"]) == (nightly["id"], None, 60000)
    assert (rules["group"]["groupId"], rules["group"]["enabled"]) == (nightly["group"]["id"], False)
    assert rules["all"]["quiet"] == {"from": "22:00", "to": "06:30"} and rules["all"]["inARow"] == 3
    channel = mine(v1, app, "alarm-channels")["hook"]
    assert (channel["target"], channel["perMinute"], channel["enabled"]) == ("https://example.org", 30, True)
    entries = v1.get("/audit?limit=6")["items"]
    assert sorted(e["action"] for e in entries) == ["channel.create", "group.create", "job.create"] + ["rule.create"] * 3
    assert {e["reason"] for e in entries} == {"release 7"}
    audit, exported = newest(v1), exported_of(v1, app)
    assert [len(exported[name]) for name in ("channels", "rules")] == [1, 3]
    for document in (whole(app), exported):
        assert bring(v1, document)["steps"] == []
    assert newest(v1) == audit and exported_of(v1, app) == exported


def test_what_changes_and_what_stays(v1, app):
    file = whole(app)
    bring(v1, file)
    was = mine(v1, app, "alarm-rules")
    file["rules"][0] = rule(f"{app} all", f"{app} hook", inARow=2, group=app)
    file["rules"][2]["job"] = None
    file["channels"][0]["settings"] = {"method": "PUT"}
    file["channels"][0]["perMinute"] = None
    dry = bring(v1, file, "?dryRun=true")
    assert mine(v1, app, "alarm-rules") == was
    assert done(dry) == [("channel", "change", f"{app} hook", ["/perMinute", "/settings/method"]),
                         ("rule", "change", f"{app} all", ["/inARow", "/group"]),
                         ("rule", "change", f"{app} job", ["/job"])]
    assert done(bring(v1, file)) == done(dry)
    rules, channel = mine(v1, app, "alarm-rules"), mine(v1, app, "alarm-channels")["hook"]
    assert (channel["settings"], channel["secrets"], channel["perMinute"]) == ({"method": "PUT"}, ["url"], None)
    assert (rules["all"]["inARow"], rules["all"]["level"], rules["all"]["repeatMs"]) == (2, "critical", 3600000)
    assert rules["all"]["groupId"] == rules["group"]["groupId"] and rules["job"]["jobId"] is None
    assert rules["group"]["version"] == was["group"]["version"]
    file["channels"][0]["settings"]["secret"] = None  # it has none
    assert bring(v1, file)["steps"] == []


def test_an_error_in_a_rule_changes_nothing(v1, app):
    other = f"{app} other"
    for change, error in [
            ({"channels": [other]}, ("/rules/1/channels", "exists")),
            ({"group": "nowhere-at-all"}, ("/rules/1/group", "group.exists")),
            ({"group": None, "job": ref(app, "nothing")}, ("/rules/1/job", "job.exists")),
            ({"job": ref(app, "nightly")}, ("/rules/1/job", "rule.place")),
            ({"kind": "center"}, ("/rules/1/groupId", "rule.kind")),
            ({"kind": "gone", "group": None, "job": ref(app, "nightly")}, ("/rules/1/jobId", "rule.kind")),
            ({"longerMs": 1000}, ("/rules/1/longerMs", "rule.kind"))]:
        file = whole(app)
        file["rules"][1] = {**file["rules"][1], **change}
        refused(v1, file, error)
    file = whole(app)
    file["channels"][0]["settings"] = {"url": "no url"}
    refused(v1, file, ("/channels/0/settings/url", "channel.setting"))
    file = whole(app)
    file["channels"] += [{"name": f"{app} {i}", **HOOK} for i in range(101)]
    refused(v1, file, ("/channels", "list.length"))
    file = whole(app)
    file["rules"] *= 2
    refused(v1, file, ("/rules/3", "name.unclear"), ("/rules/4", "name.unclear"), ("/rules/5", "name.unclear"), status=409)


def test_a_rule_that_the_transaction_refuses_takes_all_along(v1, app):
    """There are 200 rules at most, which only the transaction can count."""
    bring(v1, {"peal": 1, "channels": whole(app)["channels"]})
    rules = [rule(f"{app} {i}", f"{app} hook", enabled=False) for i in range(200)]
    assert mine(v1, app, "alarm-rules") == {}
    bring(v1, {"peal": 1, "rules": rules[:1]})
    many = {"peal": 1, "rules": [rule(f"{app} again {i}", f"{app} hook", enabled=False) for i in range(200)]}
    assert "there are 200 rules" in refused(v1, many, status=409)["detail"]
    many["groups"] = [{"app": app, "title": "First"}]  # written in the same transaction, before the rules
    assert "there are 200 rules" in refused(v1, many, status=409)["detail"]
    assert list(mine(v1, app, "alarm-rules")) == ["0"]


def test_files_have_no_secrets(v1, app):
    channel = {"name": f"{app} ding", "kind": "dingtalk", "settings": {"url": "https://example.org/robot", "secret": "SEC1"}}
    v1.ask("POST", "/alarm-channels", channel)
    exported = next(c for c in v1.get("/export?include=channels")["channels"] if c["name"] == f"{app} ding")
    assert "SEC1" not in str(exported) and exported["secrets"] == ["url", "secret"]
    exported["enabled"] = False
    assert done(bring(v1, {"peal": 1, "channels": [exported]})) == [("channel", "change", f"{app} ding", ["/enabled"])]
    now = mine(v1, app, "alarm-channels")["ding"]
    assert now["secrets"] == exported["secrets"] and now["enabled"] is False
    new = {**exported, "name": f"{app} new"}
    refused(v1, {"peal": 1, "channels": [new]}, ("/channels/0/secrets", "channel.secret"))
    new["settings"] = {**channel["settings"]}
    bring(v1, {"peal": 1, "channels": [new]})
    assert mine(v1, app, "alarm-channels")["new"]["secrets"] == exported["secrets"]
    refused(v1, {"peal": 1, "channels": [{**new, "kind": "wecom"}]}, ("/channels/0/kind", "channel.kind"))


def test_names_that_several_rules_have(v1, app):
    bring(v1, whole(app))
    body = {"name": f"{app} all", "kind": "recovered", "channels": [f"{app} hook"]}
    assert v1.ask("POST", "/alarm-rules", body).status == 201
    refused(v1, {"peal": 1, "rules": [rule(f"{app} all", f"{app} hook")]}, ("/rules/0", "name.unclear"), status=409)


def test_what_changed_since_the_dry_run_is_told(v1, app):
    file = whole(app)
    bring(v1, file)
    file["rules"][0]["inARow"] = 7
    told = v1.ask("POST", "/import?dryRun=true", file)
    number = mine(v1, app, "alarm-rules")["all"]["id"]
    assert v1.ask("PATCH", f"/alarm-rules/{number}", {"level": "info"}, If_Match="*").status == 200
    answer = v1.ask("POST", "/import", file, If_Match=told.headers["ETag"])
    assert answer.status == 412, answer.json
    assert mine(v1, app, "alarm-rules")["all"]["inARow"] == 3


def test_only_administrators_bring_rules(v1, app):
    bring(v1, whole(app))
    made = v1.ask("POST", "/tokens", {"name": "t", "permissions": ["read", "jobs:write", "run"], "groups": None, "days": 1})
    editor = V1(v1.center, token=made.json["secret"])
    file = {"peal": 1, "channels": whole(app)["channels"], "rules": [rule(f"{app} x", f"{app} hook")]}
    answer = editor.ask("POST", "/import", file)
    assert answer.status == 403, answer.json
    assert [e["field"] for e in answer.json["errors"]] == ["/channels/0", "/rules/0"]
    assert "x" not in mine(v1, app, "alarm-rules")


def test_a_rule_counts_from_the_import_on(center, v1, app):
    """One of a job that the same file makes, and later one alone."""
    with Stub(center, app) as executor:
        executor.answers["run"] = {"code": 500, "msg": "not today"}
        file = whole(app)
        file["groups"][0].update(addressing="manual", addresses=[executor.address])
        file["jobs"].append(job(app, "second"))
        file["rules"] = [rule(f"{app} job", f"{app} hook", job=ref(app, "nightly"))]
        bring(v1, file)

        def alarms(name):
            number = mine(v1, app, "alarm-rules")[name]["id"]
            return [a for a in v1.get("/alarms?limit=200")["items"] if a["rule"]["id"] == number]
        def trigger(name):
            answer = v1.ask("POST", f"/jobs/{jobs(v1, app)[name]['id']}/trigger", {})
            assert answer.status < 300, answer.json
        trigger("nightly")
        wait_until(lambda: alarms("job"), "the alarm of the rule")
        bring(v1, {"peal": 1, "rules": [rule(f"{app} later", f"{app} hook", group=app)]})
        trigger("second")
        wait_until(lambda: alarms("later"), "the alarm of the later rule")
