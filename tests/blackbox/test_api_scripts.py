# SPDX-License-Identifier: Apache-2.0
"""Scripts of GLUE jobs and their versions, over /api/v1 and /jobcode/save, on a real center."""

import concurrent.futures
import itertools
import sqlite3

import pytest
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import wait_until

_names = (f"v1-scripts-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def group(center):
    app = next(_names)
    return center.api().add_group(app), app


def glue(v1, group, kind="GLUE_SHELL", **more):
    answer = v1.ask("POST", "/jobs", {"name": "n", "groupId": group[0], "schedule": {"type": "NONE"},
                                      "task": {"kind": kind, "handler": "h"}, **more})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def publish(v1, job, source, base=None, remark="a remark"):
    return v1.ask("POST", f"/jobs/{job}/scripts", {"source": source, "remark": remark, "baseVersion": base})


def rows(center, job):
    with sqlite3.connect(f"file:{center.data}/peal.db?mode=ro", uri=True) as db:
        return list(db.execute("SELECT id, glue_type, glue_source, glue_remark FROM xxl_job_logglue "
                               "WHERE job_id = ? ORDER BY id", (job,)))


def test_a_new_job_has_its_first_version(center, v1, group):
    job = glue(v1, group, script="echo 1\r\n")
    [first] = v1.pages(f"/jobs/{job}/scripts")
    assert (first["bytes"], first["source"], first["remark"]) == (7, None, "first version")
    assert rows(center, job) == [(first["version"], "GLUE_SHELL", "echo 1\n", "first version")]
    one = v1.ask("GET", f"/jobs/{job}/scripts/{first['version']}")
    assert one.json == {**first, "source": "echo 1\n"} and one.etag == f'"s{job}-{first["version"]}"'


def test_a_published_version_acts_from_the_next_run_on(center, v1, group):
    job = glue(v1, group, script="echo 1")
    [first] = v1.pages(f"/jobs/{job}/scripts")
    before = v1.get(f"/jobs/{job}")
    answer = publish(v1, job, "echo 2", first["version"], "zstd in place of gzip")
    assert answer.status == 201 and answer.json["source"] == "echo 2"
    path = f"/jobs/{job}/scripts/{answer.json['version']}"
    assert answer.headers["Location"] == f"/api/v1{path}"
    assert v1.get(path) == answer.json and answer.json["createdMs"] >= before["updatedMs"]
    assert v1.get(f"/jobs/{job}")["version"] == before["version"] + 1
    assert [s["version"] for s in v1.pages(f"/jobs/{job}/scripts", limit=1)] == [answer.json["version"],
                                                                                 first["version"]]
    with Stub(center, group[1]) as stub:
        wait_until(lambda: stub.address in center.api().addresses(group[1]), "the stub in its group")
        v1.ask("POST", f"/jobs/{job}/trigger", {})
        wait_until(lambda: [c for c in stub.calls if c[0] == "run"], "the run")
        body = next(c[1] for c in stub.calls if c[0] == "run")
        assert (body["glueSource"], body["glueType"]) == ("echo 2", "GLUE_SHELL")
        assert body["glueUpdatetime"] == answer.json["createdMs"]


def test_who_edited_an_old_version_is_told(center, v1, group):
    job = glue(v1, group, script="echo 1")
    [first] = v1.pages(f"/jobs/{job}/scripts")
    assert publish(v1, job, "echo 2", first["version"]).status == 201
    late = publish(v1, job, "echo 3", first["version"])
    problem(late, 412, "changed_meanwhile")
    newest = rows(center, job)[-1]
    assert newest[2] == "echo 2" and late.etag == f'"s{job}-{newest[0]}"'
    assert publish(v1, job, "echo 3").status == 201  # null: on top of whatever is there
    base = rows(center, job)[-1][0]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda n: publish(v1, job, f"echo {n}", base).status, range(4)))
    assert sorted(statuses) == [201, 412, 412, 412]


def test_an_edit_of_the_job_does_not_overtake_a_script(v1, group):
    job = glue(v1, group, script="echo 1")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        edits = [pool.submit(v1.ask, "PATCH", f"/jobs/{job}", {"name": f"n{n}"}, If_Match="*") for n in range(6)]
        scripts = [pool.submit(publish, v1, job, f"echo {n}") for n in range(6)]
    assert {e.result().status for e in edits} <= {200, 412} and {s.result().status for s in scripts} == {201}
    assert len(v1.pages(f"/jobs/{job}/scripts")) == 7


def test_thirty_versions_are_kept(center, v1, group):
    job, other = glue(v1, group, script="echo x"), glue(v1, group, script="echo y")
    made = [publish(v1, job, f"echo {n}").json["version"] for n in range(32)]
    assert [s["version"] for s in v1.pages(f"/jobs/{job}/scripts", limit=7)] == made[:1:-1]
    assert v1.get(f"/jobs/{job}/scripts?limit=1")["page"]["total"] == {"value": 30, "exact": True}
    problem(v1.ask("GET", f"/jobs/{job}/scripts/{made[0]}"), 404, "not_found")
    assert len(rows(center, other)) == 1


def test_a_source_without_versions_is_version_zero(center, v1, group):
    forms = center.api()
    job = forms.add_job(group[0], "h", glueType="GLUE_PYTHON", glueSource="print(1)", glueRemark="by a form")
    [own] = v1.pages(f"/jobs/{job}/scripts")
    assert (own["version"], own["bytes"], own["remark"], own["source"]) == (0, 8, "by a form", None)
    assert v1.get(f"/jobs/{job}/scripts/0")["source"] == "print(1)"
    assert publish(v1, job, "print(2)", 0).status == 201
    problem(v1.ask("GET", f"/jobs/{job}/scripts/0"), 404, "not_found")
    problem(publish(v1, job, "print(3)", 0), 412, "changed_meanwhile")


def test_bad_scripts_are_refused(center, v1, group):
    job = glue(v1, group, script="echo 1")
    problem(v1.ask("POST", f"/jobs/{job}/scripts", {"source": " ", "remark": "abc", "more": 1}), 422, "invalid",
            ("/source", "text.empty"), ("/remark", "text.length"), ("/baseVersion", "required"), ("/more", "unknown"))
    problem(publish(v1, job, "x" * 1_048_577), 422, "invalid", ("/source", "text.length"))
    assert len(rows(center, job)) == 1
    bean = glue(v1, group, kind="BEAN")
    problem(publish(v1, bean, "echo"), 409, "conflict")
    assert v1.pages(f"/jobs/{bean}/scripts") == []
    other = glue(v1, group, script="echo other")
    version = rows(center, other)[0][0]
    for wrong in (version, 999_999, "x", -1, 0):
        problem(v1.ask("GET", f"/jobs/{job}/scripts/{wrong}"), 404, "not_found")
    problem(v1.ask("GET", "/jobs/999999/scripts"), 404, "not_found")


def test_the_forms_editor_saves_a_version(center, api, v1, group):
    job = api.add_job(group[0], "h", glueType="GLUE_SHELL", glueSource="echo 1")
    for n in range(2):
        api.call("/jobcode/save", id=job, glueSource=f"echo {n}\r\n", glueRemark="四个字符")
    assert [(r[1], r[2], r[3]) for r in rows(center, job)] == [("GLUE_SHELL", f"echo {n}\n", "四个字符")
                                                              for n in range(2)]
    [row] = [r for r in api.pages("/jobinfo/pageList", jobGroup=group[0], triggerStatus=-1) if r["id"] == job]
    assert (row["glueSource"], row["glueRemark"]) == ("echo 1\n", "四个字符")
    assert [s["remark"] for s in v1.pages(f"/jobs/{job}/scripts")] == ["四个字符"] * 2


@pytest.mark.parametrize("form, text", [
    ({"glueRemark": "abc"}, "glueRemark: must have 4-100 characters"),
    ({"glueRemark": None}, "glueRemark: must have 4-100 characters"),
    ({"glueRemark": "x" * 101}, "glueRemark: must have 4-100 characters"),
    ({"glueSource": " "}, "glueSource: must not be empty"),
    ({"glueSource": None}, "glueSource: must not be empty"),
    ({"id": 999_999}, "job 999999 does not exist"),
    ({"id": None}, "id (or ids[]): is missing")])
def test_the_forms_editor_refuses(center, api, group, form, text):
    job = api.add_job(group[0], "h", glueType="GLUE_SHELL", glueSource="echo 1")
    reply = api.raw("/jobcode/save", **{"id": job, "glueSource": "echo", "glueRemark": "good", **form})
    assert reply["code"] == 500 and reply["msg"].startswith(text)
    assert rows(center, job) == []


def test_a_deleted_jobs_versions_go(center, v1, group):
    job = glue(v1, group, script="echo 1")
    assert v1.ask("DELETE", f"/jobs/{job}", If_Match="*").status == 204
    assert rows(center, job) == []
