# SPDX-License-Identifier: Apache-2.0
"""/api/v1/jobs on a real center: made, read, listed, changed by two at once, started, stopped, run, deleted."""

import concurrent.futures
import itertools
import re
import sqlite3

import pytest
from support.center import Center
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import PATIENCE, wait_until

_names = (f"v1-jobs-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(scope="module")
def forms(center):
    return center.api()


@pytest.fixture
def group(forms):
    app = next(_names)
    return forms.add_group(app), app


def small(group, **more):
    return {"name": "nightly", "groupId": group[0], "schedule": {"type": "NONE"},
            "task": {"kind": "BEAN", "handler": "demo"}, **more}


def version_of(answer):
    """The tag without what the answer shows."""
    return re.sub(r'\.[0-9a-f]{16}"$', '"', answer.etag)


def made(v1, group, **more):
    answer = v1.ask("POST", "/jobs", small(group, **more))
    assert answer.status == 201, answer.json
    return answer


# -- make and read --

def test_a_job_is_made_and_found_where_the_answer_says(v1, group, forms):
    answer = made(v1, group, schedule={"type": "CRON", "conf": "0 0 9 * * ?", "zone": "Asia/Shanghai",
                                       "dst": "smart"},
                  running={"route": "ROUND", "retries": 2, "retryBackoff": 1.5}, alarmEmails=["a@b", "c@d"],
                  task={"kind": "BEAN", "handler": "demo", "param": " p\n"}, start=True)
    job = answer.json
    assert answer.headers["Location"] == f"/api/v1/jobs/{job['id']}"
    assert version_of(answer) == f'"j{job["id"]}-{job["version"]}"'
    read = v1.ask("GET", f"/jobs/{job['id']}")
    assert (read.json, read.etag) == (job, answer.etag)
    assert job["group"] == {"id": group[0], "app": group[1], "title": "made by a test"}
    assert (job["name"], job["owner"], job["state"], job["stopReason"]) == ("nightly", "admin", "scheduled", None)
    assert job["schedule"] == {"type": "CRON", "conf": "0 0 9 * * ?", "misfire": "DO_NOTHING",
                               "zone": "Asia/Shanghai", "dst": "smart", "misfireMax": 100}
    assert job["task"] == {"kind": "BEAN", "handler": "demo", "param": " p\n"}
    assert (job["running"]["route"], job["running"]["block"]) == ("ROUND", "SERIAL_EXECUTION")
    assert (job["running"]["retries"], job["running"]["retryBackoff"]) == (2, 1.5)
    assert job["alarmEmails"] == ["a@b", "c@d"] and job["children"] == []
    assert job["nextMs"] % 86_400_000 == 3_600_000  # 09:00 in Shanghai
    assert (job["lastAt"], job["lastMs"]) == (None, None)
    row = [r for r in forms.pages("/jobinfo/pageList", jobGroup=group[0], triggerStatus=-1) if r["id"] == job["id"]]
    assert (row[0]["jobDesc"], row[0]["triggerNextTime"]) == ("nightly", job["nextMs"])


def test_what_a_form_made_is_read_in_full(v1, group, forms):
    job = forms.add_job(group[0], "h", jobDesc="from a form", scheduleType="FIX_RATE", scheduleConf="30",
                        childJobId="", executorTimeout=7, glueType="GLUE_SHELL", glueSource="true")
    read = v1.get(f"/jobs/{job}")
    assert (read["name"], read["task"]["kind"], read["running"]["timeoutS"]) == ("from a form", "GLUE_SHELL", 7)
    assert read["schedule"]["zone"] is None and read["nextMs"] is None and read["state"] == "stopped"


def test_what_one_has_is_not_sent_again(v1, group):
    job = made(v1, group)
    path = f"/jobs/{job.json['id']}"
    for tag in (job.etag, f'"x", W/{job.etag}', "*"):
        answer = v1.ask("GET", path, If_None_Match=tag)
        assert (answer.status, answer.json, answer.etag) == (304, None, job.etag)
    assert v1.ask("GET", path, If_None_Match='"j1-0"').status == 200
    assert v1.ask("GET", path, If_None_Match=version_of(job)).status == 200, "the version alone is not all that it shows"


def test_what_is_shown_changes_without_an_edit(v1, group, forms):
    job = made(v1, group)
    path = f"/jobs/{job.json['id']}"
    run = v1.ask("POST", path + "/trigger", {}).json["runId"]  # nobody serves the group
    wait_until(lambda: v1.get(f"/runs/{run}")["run"]["outcome"] == "unroutable", "the run to end")
    wait_until(lambda: v1.get(path)["recent"], "the job to tell of it")
    now = v1.ask("GET", path, If_None_Match=job.etag)
    assert now.status == 200 and now.json["streak"] and now.etag != job.etag and version_of(now) == version_of(job)
    assert v1.ask("GET", path, If_None_Match=now.etag).status == 304
    assert v1.ask("PATCH", path, {"name": "x"}, If_Match=job.etag).status == 200, "nobody has changed the job"
    problem(v1.ask("PATCH", path, {"name": "y"}, If_Match=now.etag), 412, "changed_meanwhile")


def test_all_bad_fields_are_told_and_nothing_is_made(v1, group):
    before = len(v1.pages("/jobs", group=group[1]))
    answer = v1.ask("POST", "/jobs", {
        "name": " ", "groupId": 999_999, "schedule": {"type": "CRON", "conf": "0 0 25 * * ?", "zone": "Mars"},
        "task": {"kind": "BEAN"}, "running": {"route": "first", "retries": -1, "speed": 1}, "children": [987654],
        "extra": 1})
    problem(answer, 422, "invalid",
            ("/name", "text.empty"), ("/groupId", "group.exists"), ("/schedule/conf", "schedule.conf"),
            ("/schedule/zone", "zone"), ("/task/handler", "handler.needed"), ("/running/route", "word"),
            ("/running/retries", "number.range"), ("/running/speed", "unknown"), ("/children", "child.exists"),
            ("/extra", "unknown"))
    limits = [e["params"] for e in answer.json["errors"] if e["field"] == "/running/retries"]
    assert limits == [{"min": 0, "max": 10000}]
    assert len(v1.pages("/jobs", group=group[1])) == before


def test_a_job_without_a_further_firing_is_not_started(v1, group):
    answer = v1.ask("POST", "/jobs", small(group, start=True))
    problem(answer, 422, "invalid", ("/start", "schedule.over"))
    job = made(v1, group).json["id"]
    problem(v1.ask("POST", f"/jobs/{job}/start"), 409, "conflict")


@pytest.mark.parametrize("path", ["/jobs/999999", "/jobs/9007199254740991"])
def test_a_job_that_is_not_there(v1, path):
    problem(v1.ask("GET", path), 404, "not_found")
    problem(v1.ask("PATCH", path, {"name": "x"}, If_Match="*"), 404, "not_found")
    problem(v1.ask("DELETE", path, If_Match="*"), 404, "not_found")
    problem(v1.ask("POST", path + "/start"), 404, "not_found")


# -- change --

def test_a_patch_changes_what_it_names(v1, group):
    job = made(v1, group, running={"retries": 3, "route": "LAST"})
    path = f"/jobs/{job.json['id']}"
    answer = v1.ask("PATCH", path, {"schedule": {"type": "FIX_RATE", "conf": "60"}, "running": {"retries": None}},
                    If_Match=job.etag)
    assert answer.status == 200 and answer.json["version"] == job.json["version"] + 1
    assert answer.json["schedule"]["type"] == "FIX_RATE" and answer.json["schedule"]["conf"] == "60"
    assert (answer.json["running"]["retries"], answer.json["running"]["route"]) == (0, "LAST")
    assert answer.json["name"] == "nightly"
    assert v1.ask("GET", path).etag == answer.etag != job.etag
    again = v1.ask("PATCH", path, {}, If_Match=answer.etag)
    assert (again.status, again.etag) == (200, answer.etag)


def test_an_edit_says_what_it_was_made_from(v1, group):
    job = made(v1, group)
    path = f"/jobs/{job.json['id']}"
    problem(v1.ask("PATCH", path, {"name": "x"}), 428, "if_match_required")
    problem(v1.ask("DELETE", path), 428, "if_match_required")
    for wrong in (f'"j{job.json["id"] + 1}-1"', "W/" + job.etag, job.etag.strip('"'), job.etag[:-1],
                  version_of(job)[:-1] + '0"', ""):
        answer = v1.ask("PATCH", path, {"name": "x"}, If_Match=wrong)
        problem(answer, 412, "changed_meanwhile")
        assert answer.etag == version_of(job)
        problem(v1.ask("DELETE", path, If_Match=wrong), 412, "changed_meanwhile")
    assert v1.get(path)["name"] == "nightly"
    assert v1.ask("PATCH", path, {"name": "x"}, If_Match="*").json["name"] == "x"
    version = version_of(v1.ask("GET", path))
    assert v1.ask("PATCH", path, {"name": "z"}, If_Match=version).json["name"] == "z"


def test_of_two_clients_one_is_told(v1, group):
    """Whichever comes first: no edit is lost."""
    for _ in range(5):
        job = made(v1, group)
        path = f"/jobs/{job.json['id']}"
        edits = [{"name": "one"}, {"owner": "two"}, {"task": {"param": "three"}}, {"running": {"retries": 4}}]
        with concurrent.futures.ThreadPoolExecutor(len(edits)) as pool:
            answers = list(pool.map(lambda e: v1.ask("PATCH", path, e, If_Match=job.etag), edits))
        assert sorted(a.status for a in answers) == [200, 412, 412, 412]
        assert v1.get(path)["version"] == job.json["version"] + 1


def test_an_edit_through_the_form_overtakes_too(v1, group, forms):
    job = made(v1, group)
    path = f"/jobs/{job.json['id']}"
    forms.start_job(forms.add_job(group[0], "h", scheduleType="FIX_RATE", scheduleConf="3600"))
    forms.call("/jobinfo/update", id=job.json["id"], jobGroup=group[0], jobDesc="by form", author="a",
               scheduleType="NONE", executorRouteStrategy="FIRST", misfireStrategy="DO_NOTHING",
               executorBlockStrategy="SERIAL_EXECUTION", executorHandler="h")
    problem(v1.ask("PATCH", path, {"name": "mine"}, If_Match=job.etag), 412, "changed_meanwhile")
    problem(v1.ask("DELETE", path, If_Match=job.etag), 412, "changed_meanwhile")
    assert v1.get(path)["name"] == "by form"


def test_a_patch_is_a_merge_patch(v1, group):
    job = made(v1, group)
    path = f"/jobs/{job.json['id']}"
    answer = v1.ask("PATCH", path, {"name": "x"}, If_Match=job.etag, Content_Type="application/json")
    problem(answer, 415, "unsupported_media_type")
    problem(v1.ask("PATCH", path, {"name": None, "task": {"kind": "GLUE_SHELL"}, "start": True, "id": 1},
                   If_Match=job.etag), 422, "invalid", ("/name", "type.text"), ("/task/kind", "fixed"),
            ("/start", "unknown"), ("/id", "unknown"))
    problem(v1.ask("PATCH", path, {"children": [job.json["id"]]}, If_Match=job.etag), 422, "invalid",
            ("/children", "child.self"))
    assert v1.ask("GET", path).etag == job.etag


def test_a_deleted_job_is_gone(v1, group):
    job = made(v1, group)
    path = f"/jobs/{job.json['id']}"
    answer = v1.ask("DELETE", path, If_Match=job.etag)
    assert (answer.status, answer.json) == (204, None)
    problem(v1.ask("GET", path), 404, "not_found")


# -- start, stop, run --

def test_start_and_stop(v1, group):
    job = made(v1, group, schedule={"type": "FIX_RATE", "conf": "3600"})
    path = f"/jobs/{job.json['id']}"
    started = v1.ask("POST", path + "/start")
    assert started.json["state"] == "scheduled" and started.json["nextMs"] and started.etag != job.etag
    stopped = v1.ask("POST", path + "/stop", {"reason": "release of 14:00"})
    assert stopped.json["state"] == "stopped" and stopped.json["nextMs"] is None
    assert stopped.json["stopReason"] is None  # that is the center's own; a user's stands in the history
    entry = v1.get(f"/audit?action=job.stop&object=job:{job.json['id']}")["items"][0]
    assert entry["reason"] == "release of 14:00"
    problem(v1.ask("POST", path + "/stop", {"reason": 1, "why": ""}), 422, "invalid", ("/reason", "type.text"),
            ("/why", "unknown"))


def test_a_run_by_hand_comes_to_an_executor(center, v1, group, forms):
    job = made(v1, group, task={"kind": "BEAN", "handler": "demo", "param": "own"}).json["id"]
    with Stub(center, group[1]) as stub:
        wait_until(lambda: stub.address in forms.addresses(group[1]), "the stub in its group")
        runs = [v1.ask("POST", f"/jobs/{job}/trigger", body)
                for body in ({}, {"param": None, "addresses": []}, {"param": "mine", "addresses": [stub.address]},
                             {"param": ""})]
        assert [r.status for r in runs] == [201] * 4
        ids = [r.json["runId"] for r in runs]
        assert runs[0].headers["Location"] == f"/api/v1/runs/{ids[0]}"
        wait_until(lambda: len([c for c in stub.calls if c[0] == "run"]) >= 1, "a run")
        params = {row["id"]: row["executorParam"] for row in forms.logs(job)}
        assert [params[i] for i in ids] == ["own", "own", "mine", ""]
        problem(v1.ask("POST", f"/jobs/{job}/trigger", {"addresses": ["http://10.9.9.9:1/"]}), 422, "invalid",
                ("/addresses", "run"))
        problem(v1.ask("POST", f"/jobs/{job}/trigger", {"param": "x" * 65537}), 422, "invalid",
                ("/param", "text.length"))


# -- list --

def test_pages_go_by_key_while_rows_come_and_go(v1, group):
    ids = [made(v1, group, name=f"n{9 - n}").json["id"] for n in range(10)]
    assert [j["id"] for j in v1.pages("/jobs", group=group[0])] == ids[::-1]
    assert [j["id"] for j in v1.pages("/jobs", group=group[1], sort="id")] == ids
    assert [j["id"] for j in v1.pages("/jobs", group=group[1], sort="name")] == ids[::-1]
    first = v1.get(f"/jobs?group={group[1]}&limit=4&sort=id")
    assert first["page"]["total"] == {"value": 10, "exact": True}
    gone = v1.ask("DELETE", f"/jobs/{ids[3]}", If_Match="*")  # the last of the page
    assert gone.status == 204
    made(v1, group)
    rest = v1.get(f"/jobs?group={group[1]}&limit=500&sort=id&cursor={first['page']['next']}")
    assert [j["id"] for j in rest["items"]][:6] == ids[4:]
    assert rest["page"]["next"] is None


def test_by_the_next_firing(v1, group):
    rates = [made(v1, group, schedule={"type": "ONCE", "conf": f"20{y}-01-01T00:00:00Z"}, start=True).json["id"]
             for y in (95, 90, 92)]
    never = [made(v1, group).json["id"] for _ in range(3)]
    order = [j["id"] for j in v1.pages("/jobs", limit=2, group=group[1], sort="next")]
    assert order == [rates[1], rates[2], rates[0], *never]


def test_the_parents_of_a_job(v1, group):
    child = made(v1, group).json["id"]
    parents = [made(v1, group, children=ids).json["id"] for ids in ([child], [child], [])][:2]
    made(v1, group, children=[parents[0]])
    assert [j["id"] for j in v1.pages("/jobs", limit=1, child=child, sort="id")] == parents
    assert v1.pages("/jobs", child=parents[1]) == []
    problem(v1.ask("GET", "/jobs?child=0"), 400, "malformed", ("child", "number.range"))


def test_by_the_last_firing(v1, group, center):
    ids = [made(v1, group).json["id"] for _ in range(5)]
    with sqlite3.connect(center.data / "peal.db", timeout=30 * PATIENCE) as db:
        for i, ms in ((0, 2000), (1, 1000), (3, 2000)):
            db.execute("UPDATE peal_due SET last_ms = ? WHERE job_id = ?", (ms, ids[i]))
    assert [j["id"] for j in v1.pages("/jobs", limit=2, group=group[1], sort="last")] == \
        [ids[1], ids[0], ids[3], ids[2], ids[4]]
    newest = list(v1.pages("/jobs", limit=2, group=group[1], sort="-last"))
    assert [j["id"] for j in newest] == [ids[3], ids[0], ids[1], ids[4], ids[2]]
    assert [j["lastMs"] for j in newest] == [2000, 2000, 1000, None, None]


def test_filters(v1, group, forms):
    a = made(v1, group, name="Alpha import", owner="ann", schedule={"type": "FIX_RATE", "conf": "3600"},
             start=True).json["id"]
    b = made(v1, group, name="beta", owner="bob", task={"kind": "BEAN", "handler": "importHandler"}).json["id"]

    def found(**query):
        return sorted(j["id"] for j in v1.pages("/jobs", group=group[1], **query))
    assert found() == [a, b]
    assert found(q="IMPORT") == [a, b]
    assert found(q="import ann") == [a]
    assert found(q=f"#{b}") == found(q=b) == [b]
    assert found(state="scheduled") == found(type="FIX_RATE") == found(owner="ann") == [a]
    assert found(state="stopped") == found(handler="importH") == [b]
    assert found(owner="an") == found(q="nothing") == []
    other = forms.add_group(next(_names))
    assert v1.pages("/jobs", group=other) == [] and v1.pages("/jobs", group="no-such-group") == []


def test_only_the_members_asked_for(v1, group):
    job = made(v1, group).json["id"]
    answer = v1.ask("GET", f"/jobs?group={group[1]}&fields=name,nextMs", sparse=True)
    assert answer.json["items"] == [{"id": job, "name": "nightly", "nextMs": None}]


def test_parameters_of_a_list_are_looked_at(v1, group):
    answer = v1.ask("GET", "/jobs?limit=0&sort=up&state=scheduled,stopped&fields=x&staat=1&cursor=x")
    names = {e["field"] for e in problem(answer, 400, "malformed")["errors"]}
    assert names == {"limit", "sort", "state", "fields", "staat", "cursor"}
    made(v1, group)
    made(v1, group)
    cursor = v1.get(f"/jobs?group={group[1]}&limit=1")["page"]["next"]
    problem(v1.ask("GET", f"/jobs?limit=1&cursor={cursor}"), 400, "malformed")  # of another list


# -- rights --

def test_groups_out_of_sight_do_not_exist(tmp_path):
    with Center(tmp_path) as center:
        forms = center.api()
        mine, other = forms.add_group("app-mine"), forms.add_group("app-other")
        jobs = [forms.add_job(g, "h") for g in (mine, other)]
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, ?, 0, ?)",
                       ("bob", "e10adc3949ba59abbe56e057f20f883e", str(mine)))  # 123456
        center.start()
        bob = V1(center, "bob", "123456")
        assert [j["id"] for j in bob.pages("/jobs")] == [jobs[0]]
        assert bob.pages("/jobs", group=other) == []
        problem(bob.ask("GET", f"/jobs/{jobs[1]}"), 404, "not_found")
        problem(bob.ask("PATCH", f"/jobs/{jobs[1]}", {"name": "x"}, If_Match="*"), 404, "not_found")
        problem(bob.ask("POST", f"/jobs/{jobs[1]}/trigger", {}), 404, "not_found")
        nowhere = ("/groupId", "group.exists")
        problem(bob.ask("POST", "/jobs", small((other, ""))), 422, "invalid", nowhere)
        problem(bob.ask("PATCH", f"/jobs/{jobs[0]}", {"groupId": other}, If_Match="*"), 422, "invalid", nowhere)
        problem(bob.ask("PATCH", f"/jobs/{jobs[0]}", {"children": [jobs[1]]}, If_Match="*"), 422, "invalid",
                ("/children", "child.permission"))
        assert bob.ask("POST", "/jobs", small((mine, ""))).status == 201
