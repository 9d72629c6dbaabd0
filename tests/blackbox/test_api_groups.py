# SPDX-License-Identifier: Apache-2.0
"""/api/v1/groups and /jobs/{id}/fires on a real center with real executors, and /joblog/getJobsByGroup."""

import itertools
import sqlite3
import time

import pytest
from support import webapi
from support.center import Center
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import wait_until

_names = (f"v1-groups-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def made(v1, **more):
    answer = v1.ask("POST", "/groups", {"app": next(_names), "title": "made", **more})
    assert answer.status == 201, answer.json
    return answer


# -- groups --

def test_a_group_is_made_changed_and_deleted(v1, center):
    made(v1)  # the last one stays
    answer = made(v1, title=" Operations ")
    group = answer.json
    path = f"/groups/{group['id']}"
    assert answer.headers["Location"] == f"/api/v1{path}"
    assert (group["title"], group["addressing"], group["addresses"]) == ("Operations", "registry", [])
    assert (group["up"], group["total"], group["jobs"]) == (0, 0, 0)
    read = v1.ask("GET", path)
    assert (read.json, read.etag) == (group, answer.etag) and answer.etag == f'"g{group["id"]}-{group["version"]}"'
    listed = ["http://10.0.0.1:9999/", "10.0.0.2:9999"]
    changed = v1.ask("PATCH", path, {"addressing": "manual", "addresses": listed}, If_Match=answer.etag)
    assert (changed.json["addressing"], changed.json["addresses"]) == ("manual", listed)
    assert changed.json["title"] == "Operations" and changed.etag != answer.etag
    wait_until(lambda: v1.get(path)["total"] == 2, "its addresses")
    row = center.api().groups(group["app"])[0]
    assert (row["addressType"], row["addressList"]) == (1, ",".join(listed))
    assert v1.ask("DELETE", path, If_Match=changed.etag).status == 204
    problem(v1.ask("GET", path), 404, "not_found")


def test_an_edit_of_a_group_says_what_it_was_made_from(v1, center):
    answer = made(v1)
    path = f"/groups/{answer.json['id']}"
    problem(v1.ask("PATCH", path, {"title": "x"}), 428, "if_match_required")
    problem(v1.ask("DELETE", path), 428, "if_match_required")
    first = v1.ask("PATCH", path, {"title": "x"}, If_Match=answer.etag)
    assert first.status == 200
    late = v1.ask("PATCH", path, {"title": "y"}, If_Match=answer.etag)
    problem(late, 412, "changed_meanwhile")
    assert late.etag == first.etag
    problem(v1.ask("DELETE", path, If_Match=answer.etag), 412, "changed_meanwhile")
    assert v1.ask("PATCH", path, {"title": "y"}, If_Match="*").json["title"] == "y"


def test_all_bad_fields_of_a_group_are_told(v1):
    problem(v1.ask("POST", "/groups", {"app": "a<bcd", "title": " ", "addressing": "manual", "extra": 1}), 422,
            "invalid", ("/app", "text.markup"), ("/title", "text.empty"), ("/addresses", "list.empty"),
            ("/extra", "unknown"))
    problem(v1.ask("POST", "/groups", {"app": "abc", "addressing": "both", "addresses": ["x"]}), 422, "invalid",
            ("/app", "text.length"), ("/title", "required"), ("/addressing", "word"),
            ("/addresses", "list.registry"))
    problem(v1.ask("POST", "/groups", {"app": "abcd", "title": "t", "addressing": "manual",
                                       "addresses": ["ftp://h:1/"]}), 422, "invalid", ("/addresses", "address"))
    path = f"/groups/{made(v1).json['id']}"
    problem(v1.ask("PATCH", path, {"app": "other"}, If_Match="*"), 422, "invalid", ("/app", "unknown"))


def test_a_group_with_jobs_stays(v1, center):
    group = made(v1).json
    job = v1.ask("POST", "/jobs", {"name": "n", "groupId": group["id"], "schedule": {"type": "NONE"},
                                   "task": {"kind": "BEAN", "handler": "h"}}).json
    path = f"/groups/{group['id']}"
    assert v1.get(path)["jobs"] == 1
    assert "has 1 jobs" in problem(v1.ask("DELETE", path, If_Match="*"), 409, "conflict")["detail"]
    v1.ask("DELETE", f"/jobs/{job['id']}", If_Match="*")
    assert v1.ask("DELETE", path, If_Match="*").status == 204


def test_the_list_knows_who_is_there(v1, center):
    with Stub(center, made(v1, title="health one").json["app"]) as stub:
        wait_until(lambda: v1.get(f"/groups?q={stub.app}")["items"][0]["up"] == 1, "the executor")
        empty = made(v1, title="health two").json

        def found(**query):
            return [g["app"] for g in v1.pages("/groups", limit=1, **query)]
        assert found(q="health") == [stub.app, empty["app"]]
        assert found(q="health", health="ok") == [stub.app]
        assert found(q="health", health="bad") == [empty["app"]]
        assert found(q=f"#{empty['id']}") == [empty["app"]]
        answer = v1.ask("GET", f"/groups?q={stub.app}&fields=app,up", sparse=True)
        assert answer.json["items"] == [{"id": answer.json["items"][0]["id"], "app": stub.app, "up": 1}]
    problem(v1.ask("GET", "/groups?health=ill&limit=x"), 400, "malformed", ("health", "enum"),
            ("limit", "type.integer"))


def test_groups_of_others_are_not_there(tmp_path):
    with Center(tmp_path) as center:
        forms = center.api()
        mine, other = forms.add_group("app-mine"), forms.add_group("app-other")
        forms.add_job(mine, "h")
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, ?, 0, ?)",
                       ("bob", "e10adc3949ba59abbe56e057f20f883e", str(mine)))  # 123456
        center.start()
        bob = V1(center, "bob", "123456")
        assert [g["id"] for g in bob.pages("/groups")] == [mine]
        assert bob.get("/groups")["page"]["total"] == {"value": 1, "exact": True}
        problem(bob.ask("GET", f"/groups/{other}"), 404, "not_found")
        problem(bob.ask("POST", "/groups", {"app": "more", "title": "t"}), 403, "forbidden")
        problem(bob.ask("DELETE", f"/groups/{mine}", If_Match="*"), 403, "forbidden")
        forms = webapi.WebApi(center.port, "2.x", "bob", "123456")
        assert [j["executorHandler"] for j in forms.call("/joblog/getJobsByGroup", jobGroup=mine)] == ["h"]
        assert forms.raw("/joblog/getJobsByGroup", jobGroup=other)["msg"] == "permission limit"


# -- the form API's list of a group's jobs --

def test_jobs_by_group_are_whole(center, api):
    group = api.add_group(next(_names))
    ids = [api.add_job(group, f"h{n}", jobDesc=f"job {n}") for n in range(3)]
    rows = api.call("/joblog/getJobsByGroup", jobGroup=group)
    assert [r["id"] for r in rows] == ids[::-1]
    assert rows == api.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1)


# -- firings --

def job_of(v1, group, kind, conf, **schedule):
    return v1.ask("POST", "/jobs", {"name": "n", "groupId": group, "schedule": {"type": kind, "conf": conf, **schedule},
                                    "task": {"kind": "BEAN", "handler": "h"}, "start": kind != "NONE"}).json["id"]


def test_firings_of_a_calendar_know_the_clocks(v1):
    group = made(v1).json["id"]
    job = job_of(v1, group, "CRON", "0 30 2 * * ?", zone="Europe/Berlin", dst="smart")
    fires = v1.get(f"/jobs/{job}/fires?from=2027-03-26T23:00:00Z&count=4")["items"]
    assert [(f["local"], f["offset"], f["note"]) for f in fires] == [
        ("2027-03-27T02:30:00", "+01:00", None), ("2027-03-28T03:00:00", "+02:00", "gap_moved"),
        ("2027-03-29T02:30:00", "+02:00", None), ("2027-03-30T02:30:00", "+02:00", None)]
    assert fires[0] == {"at": "2027-03-27T01:30:00.000Z", "ms": 1806111000000, "local": "2027-03-27T02:30:00",
                        "offset": "+01:00", "zone": "Europe/Berlin", "planned": False, "note": None}
    fires = v1.get(f"/jobs/{job}/fires?from=1824933600000&count=1")["items"]  # the day the hour comes twice
    assert [(f["local"], f["note"]) for f in fires] == [("2027-10-31T02:30:00", "overlap_first")]


def test_firings_of_other_schedules(v1):
    group = made(v1).json["id"]
    rate = job_of(v1, group, "FIX_RATE", "3600")
    fires = v1.get(f"/jobs/{rate}/fires?count=3")["items"]
    assert fires[0]["ms"] == v1.get(f"/jobs/{rate}")["nextMs"]
    assert [f["ms"] - fires[0]["ms"] for f in fires] == [0, 3_600_000, 7_200_000]
    assert len(v1.get(f"/jobs/{job_of(v1, group, 'CRON', '0 0 9 * * ?')}/fires")["items"]) == 10
    once = job_of(v1, group, "ONCE", "2090-01-01T00:00:00Z")
    assert [f["at"] for f in v1.get(f"/jobs/{once}/fires")["items"]] == ["2090-01-01T00:00:00.000Z"]
    assert v1.get(f"/jobs/{job_of(v1, group, 'NONE', '')}/fires")["items"] == []
    assert v1.get(f"/jobs/{rate}/fires?from=9007199254740991")["items"] == []
    problem(v1.ask("GET", f"/jobs/{rate}/fires?count=1001&from=noon"), 400, "malformed",
            ("count", "number.range"), ("from", "type.instant"))
    problem(v1.ask("GET", "/jobs/999999/fires"), 404, "not_found")


def test_what_is_planned_is_said(v1):
    job = job_of(v1, made(v1).json["id"], "FIX_RATE", "1")

    def some_planned():
        fires = v1.get(f"/jobs/{job}/fires?from={int(time.time() * 1000)}")["items"]
        return any(f["planned"] for f in fires) and not fires[-1]["planned"]
    wait_until(some_planned, "firings on disk")
