# SPDX-License-Identifier: Apache-2.0
"""POST /api/v1/import: a file of groups and jobs as one change of a center, which is made whole or not at all."""

import concurrent.futures
import copy
import gzip
import itertools
import json

import pytest
from support.center import Center
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import wait_until

_apps = (f"import-{n}" for n in itertools.count())
NEVER = {"type": "CRON", "conf": "0 0 0 1 1 ? 2098"}
DAILY = {"type": "CRON", "conf": "0 0 3 * * ?", "zone": "Asia/Shanghai"}  # no summer time: once in 24 h
GLUE = "#!/bin/bash\necho one\n"


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def app():
    return next(_apps)


def job(app, name, **more):
    return {"group": app, "name": name, "owner": "ops", "state": "stopped", "schedule": dict(NEVER),
            "task": {"kind": "BEAN", "handler": "demo", "param": ""}, **more}


def ref(app, name):
    return {"group": app, "name": name}


def whole(app):
    """Children before and behind their parents, a chain of three that are new, a script, a job that is scheduled."""
    return {"peal": 1, "groups": [{"app": app, "title": "First"},
                                  {"app": app + "-b", "title": "Second", "addressing": "manual",
                                   "addresses": ["http://127.0.0.1:9/"]}],
            "jobs": [job(app, "parent", children=[ref(app + "-b", "child"), ref(app, "glue")]),
                     job(app, "glue", task={"kind": "GLUE_SHELL", "handler": "", "param": "p"}, script=GLUE,
                         children=[ref(app, "last")]),
                     job(app, "last"),
                     job(app + "-b", "child", state="scheduled", schedule=dict(DAILY), alarmEmails=["a@example.com"],
                         running={"retries": 2, "retryBackoff": 1.5})]}


def bring(v1, document, query="", status=200, **headers):
    answer = v1.ask("POST", "/import" + query, document, **headers)
    assert answer.status == status, answer.json
    return answer.json


def refused(v1, document, *errors, status=422, query=""):
    """Each error: (field, rule). Nothing has changed."""
    before = v1.get("/export"), newest(v1)
    answer = v1.ask("POST", "/import" + query, document)
    problem(answer, status, {422: "invalid", 409: "conflict", 403: "forbidden", 412: "changed_meanwhile"}[status], *errors)
    assert (v1.get("/export"), newest(v1)) == before
    return answer.json


def newest(v1):
    return v1.get("/audit?limit=1")["items"][0]["id"]


def jobs(v1, app):
    group = next(g["id"] for g in v1.get("/groups?limit=500")["items"] if g["app"] == app)
    return {j["name"]: j for j in v1.get(f"/jobs?limit=500&group={group}")["items"]}


def steps(result):
    return [(s["kind"], s["action"], s["group"], s["name"]) for s in result["steps"]]


def without_time(result):
    for step in result["steps"]:
        if step["firings"]:
            step["firings"].pop("untilMs")
    return result


def test_a_center_becomes_another_and_the_same_file_again_changes_nothing(v1, app, tmp_path):
    done = bring(v1, whole(app), "?remark=release%207")
    assert [s["action"] for s in done["steps"]] == ["make"] * 6 and (done["same"], done["dryRun"]) == (0, False)
    made = {**jobs(v1, app), **jobs(v1, app + "-b")}
    assert made["parent"]["children"] == [made["child"]["id"], made["glue"]["id"]]
    assert made["glue"]["children"] == [made["last"]["id"]] and made["child"]["state"] == "scheduled"
    entries = v1.get("/audit?limit=6")["items"]
    assert sorted(e["action"] for e in entries) == ["group.create"] * 2 + ["job.create"] * 4
    assert {e["reason"] for e in entries} == {"release 7"}
    versions, audit = {n: j["version"] for n, j in made.items()}, newest(v1)
    exported = v1.get(f"/export?apps={app},{app}-b")
    for document in (whole(app), exported):
        again = bring(v1, document)
        assert (again["steps"], again["same"]) == ([], 6)
    assert newest(v1) == audit
    assert {n: j["version"] for n, j in {**jobs(v1, app), **jobs(v1, app + "-b")}.items()} == versions
    with Center(tmp_path / "other") as center:
        other = V1(center)
        bring(other, exported)
        assert other.get(f"/export?apps={app},{app}-b") == exported


def test_what_changes_and_what_stays(v1, app):
    bring(v1, whole(app))
    was = {**jobs(v1, app), **jobs(v1, app + "-b")}
    changed = whole(app)
    changed["groups"][0]["title"] = "Other"
    changed["jobs"][0]["children"] = [ref(app, "new")]
    changed["jobs"][1]["script"] = GLUE + "echo two\n"
    changed["jobs"][3] = {"group": app + "-b", "name": "child", "owner": "nights", "state": "stopped"}
    changed["jobs"].append(job(app, "new", state="scheduled", children=[ref(app, "last")]))
    dry = bring(v1, changed, "?dryRun=true&remark=by%20hand")
    done = bring(v1, changed, "?remark=by%20hand")
    assert without_time(done) == {**without_time(dry), "dryRun": False}
    assert {(s["name"], s["action"], *s["changes"]) for s in done["steps"]} == {
        (None, "change", "/title"), ("parent", "change", "/children"), ("glue", "change", "/script"),
        ("child", "change", "/owner", "/state"), ("new", "make")}
    now = {**jobs(v1, app), **jobs(v1, app + "-b")}
    assert now["parent"]["children"] == [now["new"]["id"]] and now["new"]["children"] == [now["last"]["id"]]
    assert (now["child"]["owner"], now["child"]["state"], now["child"]["running"]["retries"]) == ("nights", "stopped", 2)
    assert now["child"]["schedule"] == was["child"]["schedule"] and now["last"]["version"] == was["last"]["version"]
    scripts = v1.get(f"/jobs/{now['glue']['id']}/scripts")["items"]
    assert [s["remark"] for s in scripts] == ["by hand", "first version"]
    assert bring(v1, changed)["steps"] == []


def test_the_dry_run_tells_the_firings(v1, app):
    told = bring(v1, whole(app), "?dryRun=true")
    child = told["steps"][-1]
    assert (child["scheduled"], child["firings"]["appear"], len(child["firings"]["items"])) == (True, 1, 1)
    assert [s["firings"] for s in told["steps"][:-1]] == [None] * 5
    assert app not in [g["app"] for g in v1.get("/groups?limit=500")["items"]]
    bring(v1, whole(app))
    changed = whole(app)
    changed["jobs"][3]["schedule"] = {**DAILY, "conf": "0 0 4,5 * * ?"}
    firings = bring(v1, changed, "?dryRun=true")["steps"][0]["firings"]
    assert firings["vanish"] + firings["move"] == 1 and firings["appear"] + firings["move"] == 2
    changed["jobs"][3]["state"] = "stopped"
    [step] = bring(v1, changed, "?dryRun=true")["steps"]
    assert (step["firings"]["vanish"], step["firings"]["appear"], step["scheduled"]) == (1, 0, False)
    del changed["jobs"][3]
    pruned = bring(v1, {**changed, "jobs": [dict(j, children=[]) for j in changed["jobs"]]}, "?dryRun=true&prune=true")
    assert steps(pruned)[-1] == ("job", "delete", app + "-b", "child") and pruned["steps"][-1]["firings"]["vanish"] == 1


def test_prune_deletes_in_the_named_groups_only(v1, app):
    bring(v1, whole(app))
    file = {"peal": 1, "jobs": [job(app, "parent", children=[ref(app, "glue")])]}
    refused(v1, file, ("/jobs/0/children/0", "child.exists"), query="?prune=true")
    file["jobs"][0]["children"] = []
    assert set(jobs(v1, app)) == {"parent", "glue", "last"} and bring(v1, file)["same"] == 0
    bring(v1, file, "?prune=true")
    assert set(jobs(v1, app)) == {"parent"} and set(jobs(v1, app + "-b")) == {"child"}


def test_an_error_in_the_middle_changes_nothing(v1, app):
    def broken(change):
        document = copy.deepcopy(whole(app))
        change(document["jobs"], document["groups"])
        return document
    cases = [
        (lambda j, g: j[2]["schedule"].update(conf="0 0 25 * * ?"), ("/jobs/2/schedule/conf", "schedule.conf")),
        (lambda j, g: j[2]["task"].update(nothing=1), ("/jobs/2/task/nothing", "unknown")),
        (lambda j, g: g[1].update(title="x" * 65), ("/groups/1/title", "text.length")),
        (lambda j, g: g[1].update(addressing="registry"), ("/groups/1/addresses", "list.registry")),
        (lambda j, g: j[0].update(group="nowhere"), ("/jobs/0/group", "group.exists")),
        (lambda j, g: j[2].update(children=[ref(app, "nobody")]), ("/jobs/2/children/0", "child.exists")),
        (lambda j, g: j[2].update(children=[ref(app, "last")]), ("/jobs/2/children/0", "child.self")),
        (lambda j, g: j[2].update(children=[ref(app, "parent")]), ("/jobs/0/children", "child.cycle")),
        (lambda j, g: j[2].update(children=[ref(app, "parent")] * 41), ("/jobs/2/children", "list.length")),
        (lambda j, g: j[2].update(state="on"), ("/jobs/2/state", "file.shape")),
        (lambda j, g: j[2].update(id=7), ("/jobs/2/id", "file.shape")),
        (lambda j, g: j.append(j[0]), ("/jobs/4/name", "file.shape")),
        (lambda j, g: j[2].update(state="scheduled", schedule={"type": "ONCE", "conf": "2001-01-01T00:00:00Z"}), None),
        (lambda j, g: j[2].update(state="scheduled", schedule={"type": "NONE", "conf": ""}), None),
    ]
    for change, error in cases:
        refused(v1, broken(change), *([error] if error else []))
    bring(v1, whole(app))
    for change, error in cases[:4] + cases[5:]:  # and on top of what is there
        if error == ("/jobs/0/children", "child.cycle"):  # the parent is as it was
            error = ("/jobs/2/children", "child.cycle")
        refused(v1, broken(change), *([error] if error else []))
    for body in (b"[]", b"{", b'{"peal": 2}', b'{"peal": 1, "jobs": ' + b"[" * 5000):
        assert v1.ask("POST", "/import", body).status in (400, 422)
    assert v1.ask("POST", "/import?dryRun=maybe", whole(app)).status == 400
    assert v1.ask("POST", "/import?remark=abc", whole(app)).status == 400
    assert v1.ask("POST", "/import", b'{"peal": 1, "jobs": ["' + b"x" * (2 << 20) + b'"]}').status == 413


PACKED = {"Content_Encoding": "gzip"}


def test_a_packed_file_may_be_larger(v1, app):
    file = {"peal": 1, "groups": [{"app": app, "title": "First"}],
            "jobs": [job(app, f"job {n}", task={"kind": "BEAN", "handler": "demo", "param": "p" * 60_000}) for n in range(50)]}
    text = json.dumps(file).encode()
    assert len(text) > 2 << 20 and v1.ask("POST", "/import", text).status == 413
    assert len(bring(v1, gzip.compress(text), **PACKED)["steps"]) == 51
    assert len(jobs(v1, app)) == 50
    assert bring(v1, gzip.compress(text), "?dryRun=true", **PACKED)["steps"] == []


def test_a_packed_file_is_bounded_and_only_of_who_may_send_it(v1, app):
    small = json.dumps(whole(app)).encode()
    packed = gzip.compress(small)
    bomb = gzip.compress(b'{"peal": 1, "jobs": [' + b" " * (100 << 20) + b"]}")
    assert len(bomb) < 2 << 20
    cases = [(bomb, 413, "too_large"), (gzip.compress(b'{"peal": 1, "jobs": [' + b"1," * 500_000 + b"1]}"), 400, "malformed"),
             (small, 400, "malformed"), (packed[:-9], 400, "malformed"), (packed + b"{}", 400, "malformed"),
             (packed + packed, 400, "malformed"), (gzip.compress(b"[]"), 400, "malformed")]
    for body, status, code in cases:
        problem(v1.ask("POST", "/import", body, **PACKED), status, code)
    for name in ("br", "deflate", "gzip, gzip"):
        problem(v1.ask("POST", "/import", packed, Content_Encoding=name), 415, "unsupported_media_type")
    problem(v1.ask("POST", "/jobs", packed, **PACKED), 415, "unsupported_media_type")
    stranger = V1(v1.center, token="peal_0")
    reader = V1(v1.center, token=v1.ask("POST", "/tokens", {"name": "r", "permissions": ["read"], "groups": None,
                                                            "days": 1}).json["secret"])
    problem(stranger.ask("POST", "/import", bomb, **PACKED), 401, "unauthenticated")
    problem(reader.ask("POST", "/import", bomb, **PACKED), 403, "forbidden")
    assert app not in [g["app"] for g in v1.get("/groups?limit=500")["items"]]
    assert len(bring(v1, packed, **PACKED)["steps"]) == 6
    assert bring(v1, small, "?dryRun=true", Content_Encoding="identity")["steps"] == []


def test_packed_files_are_read_one_at_a_time(v1, app):
    """Of some that come together one at least is told to wait, and each that waits gets its turn."""
    text = gzip.compress(json.dumps({"peal": 1, "groups": [{"app": app, "title": "First"}],
                                     "jobs": [job(app, f"job {n}", schedule=DAILY, state="scheduled") for n in range(2000)]}).encode())
    told = []

    def once():
        answer = v1.ask("POST", "/import?dryRun=true", text, **PACKED)
        if answer.status == 429:
            problem(answer, 429, "too_many_requests")
            assert int(answer.headers["Retry-After"]) >= 1
            told.append(answer)
        return answer.status

    def together():
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            status = [s.result() for s in [pool.submit(once) for _ in range(4)]]
        assert 200 in status and set(status) <= {200, 429}
        return told
    wait_until(together, what="two packed files that come together")
    wait_until(lambda: once() == 200, what="the turn of the next one")


def test_a_cycle_through_jobs_that_the_file_does_not_change(v1, app):
    bring(v1, whole(app))  # parent > glue > last
    refused(v1, {"peal": 1, "jobs": [{"group": app, "name": "last", "children": [ref(app, "new")]},
                                     job(app, "new", children=[ref(app, "parent")])]}, ("/jobs/0/children", "child.cycle"))
    turned = {"peal": 1, "jobs": [{"group": app, "name": "last", "children": [ref(app, "parent")]},
                                  {"group": app, "name": "parent", "children": []}]}
    assert len(bring(v1, turned)["steps"]) == 2
    now = jobs(v1, app)
    assert (now["last"]["children"], now["parent"]["children"]) == ([now["parent"]["id"]], [])


def test_names_that_several_things_have(center, v1, app):
    bring(v1, whole(app))
    group = jobs(v1, app)["parent"]["group"]["id"]
    for _ in range(2):
        center.api().add_job(group, "h", jobDesc="twin")
    file = {"peal": 1, "jobs": [job(app, "twin")]}
    problem(v1.ask("POST", "/import", file), 409, "conflict", ("/jobs/0", "name.unclear"))
    pruned = bring(v1, {"peal": 1, "jobs": [dict(job(app, "last"))]}, "?prune=true&dryRun=true")
    assert "twin" not in [s["name"] for s in pruned["steps"]]


def test_what_changed_since_the_dry_run_is_told(v1, app):
    bring(v1, whole(app))
    changed = whole(app)
    changed["jobs"][0]["owner"] = "nights"
    etag = v1.ask("POST", "/import?dryRun=true", changed).etag
    parent = jobs(v1, app)["parent"]
    asked = v1.ask("PATCH", f"/jobs/{parent['id']}", {"owner": "days"}, If_Match="*")
    assert asked.status == 200
    problem(v1.ask("POST", "/import", changed, If_Match=etag), 412, "changed_meanwhile")
    assert jobs(v1, app)["parent"]["owner"] == "days"
    etag = v1.ask("POST", "/import?dryRun=true", changed).etag
    bring(v1, changed, If_Match=etag)
    assert jobs(v1, app)["parent"]["owner"] == "nights"


def test_two_imports_at_once_are_each_made_whole(v1, app):
    """Both change the same fifty jobs. Whatever becomes of each, the jobs are those of one of them."""
    names = [f"job {n}" for n in range(50)]
    bring(v1, {"peal": 1, "groups": [{"app": app, "title": "t"}], "jobs": [job(app, n) for n in names]})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for n in range(10):
            asked = [pool.submit(v1.ask, "POST", "/import", {"peal": 1, "jobs": [
                {"group": app, "name": name, "owner": f"{who} {n}"} for name in names]}) for who in "abcd"]
            answers = [a.result() for a in asked]
            assert {a.status for a in answers} <= {200, 409} and 200 in [a.status for a in answers]
            [owner] = {j["owner"] for j in jobs(v1, app).values()}
            assert owner[1:] == f" {n}"


def test_rights(v1, app):
    bring(v1, whole(app))
    group = jobs(v1, app)["parent"]["group"]["id"]

    def client(permissions, groups):
        made = v1.ask("POST", "/tokens", {"name": "t", "permissions": permissions, "groups": groups, "days": 1})
        return V1(v1.center, token=made.json["secret"])
    editor, all_jobs = client(["read", "jobs:write"], [group]), client(["read", "jobs:write"], None)
    owner = {"peal": 1, "jobs": [{"group": app, "name": "parent", "owner": "by-token"}]}
    assert len(bring(editor, owner)["steps"]) == 1
    problem(client(["read"], None).ask("POST", "/import", owner), 403, "forbidden")
    for who, document, error in [
            (editor, {"peal": 1, "jobs": [{"group": app, "name": "parent", "state": "scheduled"}]}, ("/jobs/0", "permission")),
            (editor, {"peal": 1, "jobs": [{"group": app, "name": "glue", "script": "other"}]}, ("/jobs/0", "permission")),
            (editor, {"peal": 1, "groups": [{"app": app, "title": "other"}]}, ("/groups/0", "permission")),
            (all_jobs, {"peal": 1, "groups": [{"app": app + "-c", "title": "new"}]}, ("/groups/0", "permission")),
            (editor, {"peal": 1, "jobs": [{"group": app, "name": "last", "children": [ref(app, "parent")]}]},
             ("/jobs/0/children/0", "child.permission"))]:
        status = 422 if error[1] == "child.permission" else 403
        problem(who.ask("POST", "/import", document), status, "invalid" if status == 422 else "forbidden", error)
    # a group out of sight does not exist
    problem(editor.ask("POST", "/import", {"peal": 1, "jobs": [job(app + "-b", "child")]}), 422, "invalid",
            ("/jobs/0/group", "group.exists"))
    assert bring(v1, whole(app), "?dryRun=true")["steps"][0]["changes"] == ["/owner"]


def test_scheduled_jobs_fire_after_an_import(center, v1, app):
    with Stub(center, app) as executor:
        file = {"peal": 1, "groups": [{"app": app, "title": "t", "addressing": "manual", "addresses": [executor.address]}],
                "jobs": [job(app, "first", state="scheduled", schedule={"type": "FIX_RATE", "conf": "1"}),
                         job(app, "second")]}
        bring(v1, file)
        ids = {n: j["id"] for n, j in jobs(v1, app).items()}
        wait_until(lambda: executor.runs(ids["first"]), "the first job to fire")
        file["jobs"][0]["state"] = "stopped"
        file["jobs"][1].update(state="scheduled", owner="nights", schedule={"type": "FIX_RATE", "conf": "1"})
        bring(v1, file)
        wait_until(lambda: executor.runs(ids["second"]), "the second job to fire")
        now = jobs(v1, app)
        assert (now["first"]["state"], now["second"]["state"], now["second"]["owner"]) == ("stopped", "scheduled", "nights")


def test_a_kill_in_the_middle_leaves_all_or_nothing(tmp_path):
    with Center(tmp_path / "center") as center:
        for n in range(5):  # the later, the more of the transaction is in the write-ahead log
            app, names = f"killed-{n}", {f"job {i}" for i in range(400)}
            file = {"peal": 1, "groups": [{"app": app, "title": "t"}], "jobs": [job(app, name) for name in sorted(names)]}
            v1, wal = V1(center), center.data / "peal.db-wal"
            before = wal.stat().st_size
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                asked = pool.submit(v1.ask, "POST", "/import", file)
                wait_until(lambda: asked.done() or wal.stat().st_size - before >= n * 40_000, "the import to come so far", interval=0)
                center.kill()
                answered = asked.exception() is None and asked.result().status
            center.start()
            v1 = V1(center)
            there = app in [g["app"] for g in v1.get("/groups?limit=500")["items"]]
            assert there or answered is False
            assert not there or set(jobs(v1, app)) == names
