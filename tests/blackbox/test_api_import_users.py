# SPDX-License-Identifier: Apache-2.0
"""POST /api/v1/import: users with their rights, in one change with the groups that these are for."""

import itertools

import pytest
from support.v1 import V1
from support.wait import wait_until
from test_api_import import bring, job, jobs, newest, refused

_apps = (f"users-{n}" for n in itertools.count())
PASSWORD = "a first password"


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture
def app():
    return next(_apps)


def user(app, name, **more):
    return {"name": f"{app}-{name}", **more}


def grant(role, *apps):
    return {"role": role, "groups": list(apps) or None}


def whole(app):
    """Two groups, and users for both, for one and for all."""
    return {"peal": 1, "groups": [{"app": app, "title": "First"}, {"app": app + "-b", "title": "Second"}],
            "users": [user(app, "dev", grants=[grant("developer", app, app + "-b")], password=PASSWORD),
                      user(app, "mixed", grants=[grant("viewer"), grant("operator", app + "-b")]),
                      user(app, "audits", center="auditor")]}


def mine(v1, app):
    return {one["name"].removeprefix(f"{app}-"): one for one in v1.get(f"/users?q={app}-&limit=200")["items"]}


def exported_of(v1, app):
    everything = v1.get("/export?include=groups,jobs,users")
    return {"peal": 1, "groups": [g for g in everything["groups"] if g["app"].startswith(app)],
            "users": [u for u in everything["users"] if u["name"].startswith(f"{app}-")]}


def done(result):
    return [(s["kind"], s["action"], s["name"], s["changes"]) for s in result["steps"]]


def logs_in(v1, app, name, password):
    return v1.ask("POST", "/session", {"name": f"{app}-{name}", "password": password}).status


def grants_of(one):
    return sorted((g["role"], g["groups"]) for g in one["grants"])


def test_users_are_made_with_rights_on_groups_that_are_made(v1, app):
    made = bring(v1, whole(app), "?remark=release%207")
    assert done(made)[2:] == [("user", "make", f"{app}-{name}", []) for name in ("dev", "mixed", "audits")]
    assert [s["path"] for s in made["steps"]][2:] == ["/users/0", "/users/1", "/users/2"]
    assert all(s["group"] is None and s["firings"] is None for s in made["steps"][2:])
    ids = {g["app"]: g["id"] for g in v1.get("/groups?limit=500")["items"]}
    users = mine(v1, app)
    assert grants_of(users["dev"]) == [("developer", sorted([ids[app], ids[app + "-b"]]))]
    assert grants_of(users["mixed"]) == [("operator", [ids[app + "-b"]]), ("viewer", None)]
    assert [users[name]["center"] for name in ("dev", "mixed", "audits")] == ["none", "none", "auditor"]
    entries = v1.get("/audit?limit=5")["items"]
    assert sorted(e["action"] for e in entries) == ["group.create"] * 2 + ["user.create"] * 3
    assert {e["reason"] for e in entries} == {"release 7"}
    audit, exported = newest(v1), exported_of(v1, app)
    assert len(exported["users"]) == 3 and "password" not in str(exported)
    for document in (whole(app), exported):
        again = bring(v1, document)
        assert (again["steps"], again["same"]) == ([], 5)
    assert newest(v1) == audit and exported_of(v1, app) == exported


def test_a_password_is_of_a_user_that_is_made_and_of_no_other(v1, app):
    bring(v1, whole(app))
    assert logs_in(v1, app, "dev", PASSWORD) == 200
    for password in ("", PASSWORD, f"{app}-mixed"):
        assert logs_in(v1, app, "mixed", password) in (400, 401, 422), password
    mixed = mine(v1, app)["mixed"]["id"]
    got = v1.ask("PATCH", f"/users/{mixed}", {"password": "given by the admin"}, If_Match="*")
    assert got.status == 200, got.json
    wait_until(lambda: logs_in(v1, app, "mixed", "given by the admin") == 200, "a login, when tries are free again", 60)
    other = bring(v1, {"peal": 1, "users": [user(app, "dev", password="another password")]})
    assert (other["steps"], other["same"]) == ([], 1)
    assert logs_in(v1, app, "dev", PASSWORD) == 200


def test_rights_that_change_end_sessions_and_what_is_not_said_stays(v1, app, center):
    bring(v1, whole(app))
    session = V1(center, f"{app}-dev", PASSWORD)
    assert session.ask("GET", "/session").status == 200
    before = mine(v1, app)
    file = {"peal": 1, "users": [user(app, "dev", grants=[grant("viewer", app)]), user(app, "mixed", center="auditor"),
                                 user(app, "audits")]}
    told = bring(v1, file, "?dryRun=true")
    assert done(told) == [("user", "change", f"{app}-dev", ["/grants"]), ("user", "change", f"{app}-mixed", ["/center"])]
    assert told["same"] == 1 and mine(v1, app) == before
    assert bring(v1, file)["steps"] == told["steps"]
    after = mine(v1, app)
    assert [(g["role"], len(g["groups"])) for g in after["dev"]["grants"]] == [("viewer", 1)]
    assert after["mixed"]["center"] == "auditor" and grants_of(after["mixed"]) == grants_of(before["mixed"])
    assert session.ask("GET", "/session").status == 401
    assert set(mine(v1, app)) == {"dev", "mixed", "audits"}


@pytest.mark.parametrize(("more", "field", "rule"), [
    ({"center": "root"}, "/center", "word"),
    ({"grants": [{"role": "owner", "groups": None}]}, "/grants/0/role", "word"),
    ({"grants": [{"role": "viewer"}]}, "/grants/0/groups", "required"),
    ({"grants": [{"role": "viewer", "groups": ["no-such-group"]}]}, "/grants/0/groups/0", "group.exists"),
    ({"password": "abc"}, "/password", "password"),
    ({"name": "Upper"}, "/name", "user.name"),
    ({"name": "abc"}, "/name", "user.name"),
])
def test_a_fault_names_its_user_and_changes_nothing(v1, app, more, field, rule):
    groups = [{"app": app, "title": "First"}]
    refused(v1, {"peal": 1, "groups": groups, "users": [user(app, "dev"), {**user(app, "bad"), **more}]},
            ("/users/1" + field, rule))
    assert mine(v1, app) == {}


def test_rights_of_the_asker_stay_and_need_a_permission(v1, app, center):
    me = "admin"
    refused(v1, {"peal": 1, "users": [{"name": me, "center": "none"}]}, ("/users/0", "user.self"), status=409)
    same = bring(v1, {"peal": 1, "users": [{"name": me, "center": "admin"}]})
    assert (same["steps"], same["same"]) == ([], 1)
    bring(v1, {"peal": 1, "users": [user(app, "dev", grants=[grant("developer")], password=PASSWORD)]})
    dev = V1(center, f"{app}-dev", PASSWORD)
    answer = dev.ask("POST", "/import", {"peal": 1, "users": [user(app, "dev", center="admin")]})
    assert (answer.status, answer.json["errors"][0]["field"]) == (403, "/users/0"), answer.json
    assert mine(v1, app)["dev"]["center"] == "none"


def test_what_was_shown_is_what_is_done(v1, app):
    bring(v1, whole(app))
    file = {"peal": 1, "users": [user(app, "dev", grants=[])]}
    told = v1.ask("POST", "/import?dryRun=true", file)
    dev = mine(v1, app)["dev"]["id"]
    assert v1.ask("PATCH", f"/users/{dev}", {"center": "auditor"}, If_Match="*").status == 200
    answer = v1.ask("POST", "/import", file, If_Match=told.etag)
    assert answer.status == 412, answer.json
    assert mine(v1, app)["dev"]["grants"] != []


def test_one_file_makes_jobs_and_those_that_may_run_them(v1, app):
    file = {**whole(app), "jobs": [job(app, "nightly")]}
    file["users"].append(user(app, "late", password="x"))
    refused(v1, file, ("/users/3/password", "password"))
    file["users"].pop()
    assert [s["kind"] for s in bring(v1, file)["steps"]] == ["group", "group", "job", "user", "user", "user"]
    assert set(jobs(v1, app)) == {"nightly"} and set(mine(v1, app)) == {"dev", "mixed", "audits"}
