# SPDX-License-Identifier: Apache-2.0
"""The audit: who changed what, from where, through what, before and after; written with the change or not at all."""

import sqlite3

import pytest
from support import webapi
from support.center import Center
from support.v1 import V1
from support.wait import PATIENCE, wait_until
from test_users import Client, admin, make, token


def entries(center, query=""):
    page = admin(center).ask("GET", "/audit?limit=500" + query).json
    return page["items"]


def changes(entry):
    return {change["field"]: (change["before"], change["after"]) for change in entry["changes"]}


def test_edits_of_both_apis_tell_before_and_after(center):
    form = center.api()
    group = form.add_group("audited", title="first")
    job = form.add_job(group, "theHandler", jobDesc="Nightly", executorParam="a")
    form.call("/jobinfo/update", id=job, jobDesc="Hourly")
    form.start_job(form.add_job(group, "h", scheduleType="FIX_RATE", scheduleConf="3600"))
    form.delete_job(job)
    created, updated, deleted = reversed(entries(center, f"&object=job:{job}"))
    assert (created["action"], updated["action"], deleted["action"]) == ("job.create", "job.update", "job.delete")
    assert all(e["via"] == "form_api" and e["address"] == "127.0.0.1" and e["actor"]["name"] == "admin"
               for e in (created, updated, deleted))
    assert created["object"] == {"kind": "job", "id": str(job), "name": "Nightly"}
    assert {"Nightly", "theHandler", "a", group} <= {after for _, after in changes(created).values()}
    assert all(before is None for before, _ in changes(created).values())
    assert list(changes(updated).values()) == [("Nightly", "Hourly")]
    assert all(after is None for _, after in changes(deleted).values())
    [one] = entries(center, f"&object=group:{group}")
    assert changes(one)["/title"] == (None, "first")
    [started] = entries(center, "&action=job.start")
    assert changes(started) == {next(iter(changes(started))): (0, 1)}
    assert admin(center).ask("GET", f"/audit/{created['id']}").json == created


def test_an_optional_text_that_stays_empty_has_not_changed(center):
    form, it = center.api(), admin(center)
    job = form.add_job(form.add_group("audited-empty"), "h", jobDesc="Weekly")
    with sqlite3.connect(center.data / "peal.db", timeout=30 * PATIENCE) as db:
        db.execute("UPDATE xxl_job_info SET alarm_email = NULL, child_jobid = NULL WHERE id = ?", (job,))
    tag = it.ask("GET", f"/jobs/{job}").headers["ETag"]
    answer = it.ask("PATCH", f"/jobs/{job}", {"name": "Monthly", "alarmEmails": [], "children": []}, If_Match=tag)
    assert answer.status == 200, answer.json
    assert changes(entries(center, f"&object=job:{job}")[0]) == {"/name": ("Weekly", "Monthly")}


def test_a_refused_edit_leaves_no_entry(center):
    form = center.api()
    before = [e["id"] for e in entries(center, "&action=group.*")]
    with pytest.raises(webapi.ApiError):
        form.call("/jobgroup/insert", appname="x", title="y")
    last = form.groups()[0]["id"]
    form.add_job(last, "h")
    with pytest.raises(webapi.ApiError):
        form.by_id("/jobgroup/delete", last)
    assert [e["id"] for e in entries(center, "&action=group.*")] == before


def test_users_tokens_and_logins_are_there_without_secrets(center):
    it = admin(center)
    user = make(center, "audited", grants=[{"role": "viewer", "groups": [3]}])
    who = Client(center, "audited", "audited")
    who.ask("PUT", "/me/password", {"old": "audited", "new": "very secret word"})
    made = token(center, who, name="deploy")
    bearer = Client(center, token=token(center, it, permissions=["read", "users:admin", "audit:read"])["secret"])
    assert bearer.status("PATCH", f"/users/{user}", {"center": "auditor", "password": "another secret"},
                         If_Match="*") == 200
    who = Client(center, "audited", "another secret")
    assert who.status("DELETE", f"/tokens/{made['token']['id']}") == 204
    assert who.status("DELETE", "/session") == 204
    assert it.status("DELETE", f"/users/{user}", If_Match="*") == 204

    [created, *_] = entries(center, f"&object=user:{user}&action=user.create")
    assert changes(created) == {"/center": (None, "none"), "/grants": (None, ["viewer@3"])}
    [password] = entries(center, f"&object=user:{user}&action=user.password")
    assert list(changes(password)) == ["/password"] and password["actor"]["name"] == "audited"
    [updated] = entries(center, f"&object=user:{user}&action=user.update")
    assert updated["via"] == "token" and changes(updated)["/center"] == ("none", "auditor")
    assert "/password" in changes(updated)
    mine = [e["action"] for e in entries(center, "&actor=audited")]
    assert mine == ["session.logout", "token.delete", "session.login", "token.create", "user.password",
                    "session.login"]
    with sqlite3.connect(center.data / "peal.db") as db:
        everything = str(db.execute("SELECT * FROM peal_audit").fetchall())
    for secret in ("very secret word", "another secret", made["secret"], "$argon2"):
        assert secret not in everything


def test_the_first_user_is_the_centers(center):
    entry = entries(center)[-1]
    assert (entry["via"], entry["actor"], entry["action"], entry["object"]["name"]) \
        == ("center", None, "user.create", "admin")


def test_only_auditors_read_it(center):
    make(center, "auditor", center="auditor")
    make(center, "developer", grants=[{"role": "developer", "groups": None}])
    assert Client(center, "auditor", "auditor").status("GET", "/audit") == 200
    it = Client(center, "developer", "developer")
    assert (it.status("GET", "/audit"), it.status("GET", "/audit/1")) == (403, 403)
    assert Client(center).status("GET", "/audit") == 401


def test_it_is_read_page_by_page(center):
    for i in range(3):
        make(center, f"paged-{i}")
    it = admin(center)
    everything = it.ask("GET", "/audit?limit=500").json["items"]
    found, path = [], "/audit?limit=3"
    while path:
        page = it.ask("GET", path).json
        found += page["items"]
        path = page["page"]["next"] and f"/audit?limit=3&cursor={page['page']['next']}"
    assert len(everything) > 3 and found == everything
    assert [e["object"]["name"] for e in it.ask("GET", "/audit?q=PAGED-&limit=2").json["items"]] \
        == ["paged-2", "paged-1"]
    assert it.ask("GET", "/audit?limit=1&fields=action,ms").json["items"][0].keys() == {"id", "action", "ms"}
    for bad in ("object=job", "object=:1", "from=yesterday", "limit=0", "nothing=1"):
        assert it.status("GET", f"/audit?{bad}") == 400, bad


def test_what_is_done_to_runs_is_noted(center):
    form = center.api()
    group = form.add_group("noted-runs")
    job = form.add_job(group, "h", jobDesc="Noted")
    form.trigger(job)
    [entry] = wait_until(lambda: entries(center, "&action=run.trigger"), "the trigger to be noted")
    [row] = wait_until(lambda: form.logs(job), "the run in the log")
    assert entry["object"] == {"kind": "run", "id": str(row["id"]), "name": "Noted"}


def test_old_entries_go(tmp_path):
    with Center(tmp_path, args=["--audit.keep", "1d"]) as center:
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("UPDATE peal_audit SET at_ms = at_ms - 90000000")
        center.start()
        center.api().add_group("after-that")

        def actions():
            return [e["action"] for e in entries(center)]
        wait_until(lambda: "user.create" not in actions(), "the entry to go")
        assert "group.create" in actions()


def test_old_entries_go_though_nothing_new_is_noted(tmp_path):
    with Center(tmp_path, args=["--audit.keep", "1d"]) as center:
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("UPDATE peal_audit SET at_ms = at_ms - 90000000")
            assert db.execute("SELECT COUNT(*) FROM peal_audit").fetchone()[0] > 0
        center.start()

        def left():
            with sqlite3.connect(center.data / "peal.db") as db:
                return db.execute("SELECT COUNT(*) FROM peal_audit").fetchone()[0]
        wait_until(lambda: left() == 0, "the entries to go")


def test_an_entry_is_of_the_same_commit(tmp_path):
    """kill -9 right after the answer: the edit and its entry are both there."""
    with Center(tmp_path) as center:
        group = center.api().add_group("committed")
        center.restart()
        assert [e["action"] for e in entries(center, f"&object=group:{group}")] == ["group.create"]


def test_a_jobs_changes_are_for_those_who_may_read_it(center):
    form = center.api()
    mine, others = form.add_group("changes-mine"), form.add_group("changes-others")
    job, hidden = form.add_job(mine, "h", jobDesc="Counted"), form.add_job(others, "h")
    it = V1(center)
    for i in range(4):
        it.ask("PATCH", f"/jobs/{job}", {"name": f"Counted {i}"}, If_Match="*")
    it.ask("POST", f"/jobs/{job}/stop", {"reason": "release of 14:00"})
    make(center, "changes-viewer", grants=[{"role": "viewer", "groups": [int(mine)]}])
    viewer = V1(center, "changes-viewer", "changes-viewer")
    found = viewer.pages(f"/jobs/{job}/changes", limit=2)
    assert [e["action"] for e in found] == ["job.stop"] + 4 * ["job.update"] + ["job.create"]
    assert found[0]["reason"] == "release of 14:00" and found[1]["reason"] is None
    assert changes(found[1]) == {"/name": ("Counted 2", "Counted 3")}
    assert {e["object"]["id"] for e in found} == {str(job)}
    assert viewer.ask("GET", f"/jobs/{hidden}/changes").status == 404
    assert it.ask("GET", "/jobs/999999/changes").status == 404
    for bad in ("limit=0", "cursor=x", "actor=admin"):
        assert viewer.ask("GET", f"/jobs/{job}/changes?{bad}").status == 400, bad
