# SPDX-License-Identifier: Apache-2.0
"""Users, rights, sessions, passwords and tokens: /api/v1 and /user of the form API, against a real server."""

import concurrent.futures
import hashlib
import json
import sqlite3
import urllib.parse

import pytest
from support import webapi
from support.center import Center
from support.contract import Contract
from support.wait import wait_until

CONTRACT = Contract()
GROUP = ["read", "run", "jobs:write", "scripts:write"]
SERVER = ["audit:read", "executors:write", "users:admin", "system:admin"]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    """Its tests fail to log in more often than an address may within a minute: test_limits.py has that limit."""
    with Center(tmp_path_factory.mktemp("center"), args=["--limit.login", "0"]) as it:
        yield it


class Reply:
    def __init__(self, raw):
        self.status, self.headers, body = raw
        self.json = json.loads(body) if body else None


class Client:
    """Somebody at /api/v1: logged in, with a token, or nobody. Each answer is judged by the contract."""

    def __init__(self, center, name=None, password=None, token=None):
        self.center = center
        self.sent = {}
        if token:
            self.sent["Authorization"] = f"Bearer {token}"
        elif name:
            reply = self.ask("POST", "/session", {"name": name, "password": password})
            assert reply.status == 200, reply.json
            self.sent["Cookie"] = reply.headers["Set-Cookie"].split(";")[0]
            self.me = reply.json

    def ask(self, method, path, body=None, contract=None, **headers):
        sent = dict(self.sent, **{name.replace("_", "-"): value for name, value in headers.items()})
        if body is not None:
            sent["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
            body = json.dumps(body).encode()
        reply = Reply(webapi.request(self.center.port, method, "/api/v1" + path, body, sent))
        shape = contract or "/".join("{id}" if part.isdigit() else part for part in path.split("?")[0].split("/"))
        if "fields=" not in path:  # the contract describes whole items
            CONTRACT.check(method, shape, reply.status, reply.headers, reply.json)
        return reply

    def status(self, method, path, body=None, **headers):
        return self.ask(method, path, body, **headers).status


def admin(center):
    return Client(center, "admin", center.password)


def make(center, name, /, **more):
    """A new user of that name and password."""
    reply = admin(center).ask("POST", "/users", {"name": name, "password": name, **more})
    assert reply.status == 201, reply.json
    return reply.json["id"]


def code(reply):
    return json.loads(reply[2])["code"]


def form_post(center, path, cookie=None, **form):
    headers = dict(FORM, **({"Cookie": cookie} if cookie else {}))
    return webapi.request(center.port, "POST", path, urllib.parse.urlencode(form).encode(), headers)


# -- users --

@pytest.mark.every_engine
def test_a_user_is_made_read_changed_and_deleted(center):
    it = admin(center)
    made = it.ask("POST", "/users", {"name": "dev-2", "password": "first password of it",
                                     "grants": [{"role": "developer", "groups": [4, 3]},
                                                {"role": "viewer", "groups": None}]})
    assert made.status == 201
    user = made.json
    assert made.headers["Location"] == f"/api/v1/users/{user['id']}"
    assert made.headers["ETag"] == f'"u{user["id"]}-0"'
    assert (user["name"], user["center"], user["version"], user["sessions"]) == ("dev-2", "none", 0, 0)
    assert user["grants"] == [{"role": "viewer", "groups": None}, {"role": "developer", "groups": [3, 4]}]
    assert user["createdMs"] > 0 and user["lastLoginMs"] is None
    path = f"/users/{user['id']}"
    assert it.ask("GET", path).json == user
    Client(center, "dev-2", "first password of it")
    seen = it.ask("GET", path).json
    assert seen["lastLoginMs"] >= user["createdMs"] and seen["sessions"] == 1

    changed = it.ask("PATCH", path, {"grants": [{"role": "operator", "groups": [4]}]}, If_Match=made.headers["ETag"])
    assert changed.status == 200 and changed.json["version"] == 1
    assert changed.json["grants"] == [{"role": "operator", "groups": [4]}]
    assert changed.json["sessions"] == 0  # other rights end the sessions
    assert it.status("DELETE", path, If_Match=made.headers["ETag"]) == 412
    assert it.status("DELETE", path, If_Match=changed.headers["ETag"]) == 204
    assert it.status("GET", path) == 404


@pytest.mark.every_engine
def test_edits_say_which_version_they_were_made_from(center):
    it = admin(center)
    path = f"/users/{make(center, 'versions')}"
    tag = it.ask("GET", path).headers["ETag"]
    assert it.status("PATCH", path, {"center": "auditor"}) == 428
    assert it.status("DELETE", path) == 428
    assert it.status("PATCH", path, {"center": "auditor"}, If_Match=tag) == 200
    late = it.ask("PATCH", path, {"center": "none"}, If_Match=tag)
    assert late.status == 412 and late.headers["ETag"] != tag
    assert it.ask("GET", path).json["center"] == "auditor"
    assert it.status("PATCH", path, {"center": "none"}, If_Match="*") == 200


@pytest.mark.parametrize("body, fields", [
    ({"name": "abc", "password": "abcd"}, ["/name"]),
    ({"name": "Abcd", "password": "abcd"}, ["/name"]),
    ({"name": "1abcd", "password": "abc"}, ["/name", "/password"]),
    ({"name": "abcd"}, ["/password"]),
    ({"name": "abcd", "password": " abcd"}, ["/password"]),
    ({"name": "abcd", "password": "x" * 257}, ["/password"]),
    ({"name": "abcd", "password": "abcd", "center": "king"}, ["/center"]),
    ({"name": "abcd", "password": "abcd", "grants": {}}, ["/grants"]),
    ({"name": "abcd", "password": "abcd", "grants": [{"role": "x", "groups": [0]}, 1]},
     ["/grants/0/role", "/grants/0/groups/0", "/grants/1"]),
    ({"name": "abcd", "password": "abcd", "grants": [{"role": "viewer"}]}, ["/grants/0/groups"]),
    ({"name": "abcd", "password": "abcd", "admin": True}, ["/admin"]),
])
def test_every_bad_field_is_told_and_nothing_is_made(center, body, fields):
    it = admin(center)
    reply = it.ask("POST", "/users", body)
    assert reply.status == 422
    told = [error["field"] for error in reply.json["errors"]]
    assert all(any(t == f or t.startswith(f + "/") for t in told) for f in fields), told
    assert it.ask("GET", "/users?q=abcd").json["items"] == []


@pytest.mark.every_engine
def test_names_are_given_once_and_the_last_admin_stays(center):
    it = admin(center)
    make(center, "twice")
    assert it.status("POST", "/users", {"name": "twice", "password": "abcd"}) == 409
    me = f"/users/{it.me['user']['id']}"
    assert it.status("PATCH", me, {"center": "none"}, If_Match="*") == 409
    assert it.status("DELETE", me, If_Match="*") == 409
    assert it.status("PATCH", me, {"center": "admin"}, If_Match="*") == 200  # nothing changes
    other = make(center, "admin-2", center="admin")
    second = Client(center, "admin-2", "admin-2")
    assert second.status("PATCH", me, {"center": "auditor"}, If_Match="*") == 200
    third = f"/users/{other}"
    assert second.status("DELETE", third, If_Match="*") == 409  # oneself
    assert second.status("PATCH", me, {"center": "admin"}, If_Match="*") == 200
    assert admin(center).status("DELETE", third, If_Match="*") == 204


def test_of_two_admins_who_demote_each_other_one_stays(center):
    """Each is an admin when asked. Only the transaction knows that the other has gone meanwhile."""
    users = {name: make(center, name, center="admin") for name in ("left", "right")}
    first = f"/users/{admin(center).me['user']['id']}"
    assert Client(center, "left", "left").status("PATCH", first, {"center": "none"}, If_Match="*") == 200

    def demote(who, whom):
        return who.status("PATCH", f"/users/{users[whom]}", {"center": "none"}, If_Match="*")
    met = False
    while not met:
        left, right = Client(center, "left", "left"), Client(center, "right", "right")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = [pool.submit(demote, left, "right"), pool.submit(demote, right, "left")]
            statuses = [answer.result() for answer in answers]
        assert sorted(statuses) in ([200, 401], [200, 403], [200, 409])
        met = 409 in statuses  # else one had gone before the other asked
        stayed = Client(center, *["left", "right"][statuses.index(200)].split() * 2)
        for each in users:
            assert stayed.status("PATCH", f"/users/{users[each]}", {"center": "admin"}, If_Match="*") in (200, 409)
    assert stayed.status("PATCH", first, {"center": "admin"}, If_Match="*") == 200
    for name in users:
        assert admin(center).status("DELETE", f"/users/{users[name]}", If_Match="*") == 204


@pytest.mark.every_engine
def test_users_are_listed_page_by_page(center):
    it = admin(center)
    names = [f"page-{i}" for i in range(5)]
    for name in names:
        make(center, name)
    found, path = [], "/users?limit=2&q=PAGE-"
    while path:
        page = it.ask("GET", path).json
        found += [user["name"] for user in page["items"]]
        assert page["page"]["total"] == {"value": 5, "exact": True}
        following = page["page"]["next"]
        path = f"/users?limit=2&q=PAGE-&cursor={following}" if following else None
    assert found == names
    assert it.ask("GET", "/users?limit=1&fields=name,version").json["items"][0].keys() == {"id", "name", "version"}
    assert it.status("GET", "/users?limit=501") == 400
    assert it.status("GET", "/users?nmae=x") == 400
    assert it.status("GET", f"/users?cursor={following or 'x'}") == 400


@pytest.mark.every_engine
def test_rights_act_with_the_next_request(center):
    it = admin(center)
    group = center.api().add_group("rights-act")
    user = make(center, "watcher", grants=[{"role": "viewer", "groups": [group]}])
    job = center.api().add_job(group, "h")
    watcher = Client(center, "watcher", "watcher")
    assert watcher.me["rights"] == [{"permissions": ["read"], "groups": [group]}]
    form = webapi.WebApi(center.port, "3.3", "watcher", "watcher")
    assert [row["id"] for row in form.call("/jobinfo/pageList", offset=0, jobGroup=group, triggerStatus=-1)["data"]] \
        == [job]
    for path, body in [("/jobinfo/trigger", {"id": job}), ("/jobinfo/update", {"id": job}),
                       ("/jobinfo/start", {"id": job}), ("/jobinfo/delete", {"ids[]": job}),
                       ("/user/pageList", {}), ("/jobgroup/pageList", {})]:
        assert form.raw(path, **body)["msg"] == "permission limit", path
    assert it.status("PATCH", f"/users/{user}", {"grants": [{"role": "editor", "groups": [group]}]}, If_Match="*") == 200
    form = webapi.WebApi(center.port, "3.3", "watcher", "watcher")
    form.call("/jobinfo/update", id=job, jobDesc="changed")
    script = {"glueType": "GLUE_SHELL", "glueSource": "echo hi", "executorHandler": ""}
    with pytest.raises(webapi.ApiError, match="permission limit"):
        form.add_job(group, "h", **script)  # needs scripts:write
    assert it.status("PATCH", f"/users/{user}", {"grants": [{"role": "developer", "groups": [group]}]},
                     If_Match="*") == 200
    form = webapi.WebApi(center.port, "3.3", "watcher", "watcher")
    form.add_job(group, "h", **script)


# -- XXL-JOB's words --

def test_users_of_the_form_api(api, center):
    name = "form-2x" if api.generation == "2.x" else "form-33"
    new = api.generation == "3.3"
    api.call("/user/insert" if new else "/user/add", username=f" {name} ", password=" secret ", role=0, permission="3,4")
    row = [u for u in api.pages("/user/pageList", username=name[:6], role=-1) if u["username"] == name][0]
    assert (row["password"], row["role"], row["permission"]) == (None, 0, "3,4")
    assert [u["username"] for u in api.pages("/user/pageList", username=name, role=1)] == []
    user = admin(center).ask("GET", f"/users/{row['id']}").json
    assert user["grants"] == [{"role": "developer", "groups": [3, 4]}]
    with pytest.raises(webapi.ApiError, match="username"):
        api.call("/user/insert" if new else "/user/add", username=name, password="secret", role=0, permission="")
    webapi.WebApi(center.port, api.generation, name, "secret")
    api.call("/user/update", id=row["id"], username=name, password="", role=0, permission="4")
    webapi.WebApi(center.port, api.generation, name, "secret")  # blank: it stays
    api.call("/user/update", id=row["id"], username=name, password="another", role=1, permission="4")
    webapi.WebApi(center.port, api.generation, name, "another")
    assert admin(center).ask("GET", f"/users/{row['id']}").json["center"] == "admin"
    api.by_id("/user/delete" if new else "/user/remove", row["id"])
    with pytest.raises(webapi.ApiError):
        webapi.WebApi(center.port, api.generation, name, "another")


@pytest.mark.parametrize("form, reason", [
    ({"username": "abc"}, "username"), ({"username": "x" * 21}, "username"), ({"password": "abc"}, "password"),
    ({"password": "x" * 21}, "password"), ({"role": "2"}, "role"), ({"role": "x"}, "role"),
    ({"permission": "1,x"}, "permission"), ({"permission": "1" * 256}, "permission")])
def test_bad_fields_of_the_form_make_no_user(center, form, reason):
    it = center.api()
    reply = it.raw("/user/insert", **{"username": "good-name", "password": "good", "role": 0, "permission": "", **form})
    assert reply["code"] == 500 and reply["msg"].startswith(reason), reply
    assert it.pages("/user/pageList", username="good-name", role=-1) == []


def test_nobody_changes_or_deletes_oneself_by_the_form(center):
    it = center.api()
    me = it.pages("/user/pageList", username="admin", role=1)[0]["id"]
    assert it.raw("/user/update", id=me, role=0, password="", permission="")["code"] == 500
    assert it.raw("/user/delete", **{"ids[]": me})["code"] == 500
    center.api()


def test_the_words_of_the_form_keep_rights_that_they_cannot_say(center):
    it, form = admin(center), center.api()
    user = make(center, "keeper", center="auditor", grants=[{"role": "operator", "groups": [2]},
                                                            {"role": "developer", "groups": [7]}])
    row = form.pages("/user/pageList", username="keeper", role=-1)[0]
    assert (row["role"], row["permission"]) == (0, "7")
    before = it.ask("GET", f"/users/{user}").json
    form.call("/user/update", id=user, role=0, permission="7", password="")
    after = it.ask("GET", f"/users/{user}").json
    assert (after["center"], after["grants"]) == (before["center"], before["grants"])
    form.call("/user/update", id=user, role=0, permission="8", password="")
    after = it.ask("GET", f"/users/{user}").json
    assert (after["center"], after["grants"]) == ("none", [{"role": "developer", "groups": [8]}])


def test_columns_that_another_program_changed_count(tmp_path):
    with Center(tmp_path) as center:
        user = make(center, "shared", center="admin")
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            assert db.execute("SELECT role, password FROM xxl_job_user WHERE id = ?", (user,)).fetchone() == (1, "")
            db.execute("UPDATE xxl_job_user SET role = 0, permission = '5', password = ? WHERE id = ?",
                       (hashlib.md5(b"of java").hexdigest(), user))
        center.start()
        with pytest.raises(AssertionError):
            Client(center, "shared", "shared")
        me = Client(center, "shared", "of java").me
        assert (me["center"], me["grants"]) == ("none", [{"role": "developer", "groups": [5]}])


# -- passwords --

def stored(center, name):
    with sqlite3.connect(center.data / "peal.db") as db:
        return db.execute("SELECT password FROM xxl_job_user WHERE username = ?", (name,)).fetchone()[0]


def test_a_new_password_ends_the_other_sessions(center):
    make(center, "changer")
    first, second = Client(center, "changer", "changer"), Client(center, "changer", "changer")
    assert second.status("PUT", "/me/password", {"old": "wrong", "new": "a longer new one"}) == 422
    assert second.status("PUT", "/me/password", {"old": "changer", "new": "abc"}) == 422
    assert second.status("PUT", "/me/password", {"old": "changer", "new": " a longer new one"}) == 422
    assert second.status("PUT", "/me/password", {"old": "changer", "new": "a longer new one, of 40 characters or so"}) == 204
    assert (first.status("GET", "/session"), second.status("GET", "/session")) == (401, 200)
    Client(center, "changer", "a longer new one, of 40 characters or so")
    assert stored(center, "changer") == ""


@pytest.mark.parametrize("path", ["/user/updatePwd", "/auth/updatePwd"])
def test_the_form_changes_ones_own_password(center, path):
    name = "own-" + path[1:5]
    make(center, name)
    it = webapi.WebApi(center.port, "3.3", name, name)
    for form in ({"oldPassword": "wrong", "password": "another"}, {"oldPassword": name, "password": "abc"},
                 {"password": "another"}, {"oldPassword": name, "password": "x" * 21}):
        assert it.raw(path, **form)["code"] == 500, form
    it.call(path, oldPassword=name, password=" another ")
    webapi.WebApi(center.port, "2.x", name, "another")


def test_guessing_the_old_password_has_to_wait(center):
    make(center, "guessed")
    it = Client(center, "guessed", "guessed")
    statuses = [it.status("PUT", "/me/password", {"old": f"guess {i}", "new": "another"}) for i in range(7)]
    assert 429 in statuses and statuses[0] == 422


def test_the_shared_column_is_written_when_asked(tmp_path):
    with Center(tmp_path, args=["--compat.write-passwords"]) as center:
        make(center, "both-1")
        assert stored(center, "both-1") == hashlib.sha256(b"both-1").hexdigest()
        it = Client(center, "both-1", "both-1")
        assert it.status("PUT", "/me/password", {"old": "both-1", "new": "changed"}) == 204
        assert stored(center, "both-1") == hashlib.sha256(b"changed").hexdigest()
        user = admin(center).ask("GET", "/users?q=both-1").json["items"][0]["id"]
        center.api().call("/user/update", id=user, role=0, permission="", password="again")
        assert stored(center, "both-1") == hashlib.sha256(b"again").hexdigest()
        Client(center, "both-1", "again")


def test_a_generated_password_must_be_changed(tmp_path):
    with Center(tmp_path, env={"PEAL_ADMIN_PASSWORD": ""}) as center:
        center.password = center.output.read_text().split("password  ")[1].split()[0]
        it = admin(center)
        assert it.me["mustChangePassword"] is True
        center.api().groups()  # scripts go on
        center.restart()
        reminder = "still has the password that the first start printed"
        assert center.output.read_text().count(reminder) == 1
        it = admin(center)
        assert it.status("PUT", "/me/password", {"old": center.password, "new": "chosen by a person"}) == 204
        assert it.ask("GET", "/session").json["mustChangePassword"] is False
        center.restart()
        assert center.output.read_text().count(reminder) == 1


# -- sessions and preferences --

@pytest.mark.every_engine
def test_sessions_are_listed_and_ended(center):
    make(center, "sessions")
    one, two = Client(center, "sessions", "sessions"), Client(center, "sessions", "sessions")
    page = two.ask("GET", "/me/sessions").json
    assert [s["current"] for s in page["items"]] == [True, False] and page["page"]["total"]["value"] == 2
    assert all(s["address"] == "127.0.0.1" and len(s["id"]) == 16 for s in page["items"])
    first = two.ask("GET", "/me/sessions?limit=1").json
    rest = two.ask("GET", f"/me/sessions?limit=1&cursor={first['page']['next']}").json
    assert first["items"] + rest["items"] == page["items"] and rest["page"]["next"] is None
    end = "/me/sessions/{session}"
    other = page["items"][1]["id"]
    assert admin(center).ask("DELETE", f"/me/sessions/{other}", contract=end).status == 404  # not theirs
    assert two.ask("DELETE", f"/me/sessions/{other[:15]}", contract=end).status == 404
    assert two.ask("DELETE", f"/me/sessions/{other}", contract=end).status == 204
    assert (one.status("GET", "/session"), two.status("GET", "/session")) == (401, 200)


def test_an_idle_session_ends(tmp_path):
    with Center(tmp_path, args=["--session.idle", "60s"]) as center:
        it = admin(center)
        assert it.status("GET", "/session") == 200
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("UPDATE peal_session SET used_ms = used_ms - 20000")
        center.start()
        assert it.status("GET", "/session") == 200
        center.stop()
        with sqlite3.connect(center.data / "peal.db") as db:
            db.execute("UPDATE peal_session SET used_ms = used_ms - 61000")
        center.start()
        assert it.status("GET", "/session") == 401
        assert admin(center).ask("GET", "/me/sessions").json["page"]["total"]["value"] == 1


@pytest.mark.every_engine
def test_preferences_are_merged(center):
    it = admin(center)
    assert it.me["preferences"] == {}
    assert it.ask("PATCH", "/me/preferences", {"language": "zh-CN", "shortcuts": True}).json \
        == {"language": "zh-CN", "shortcuts": True}
    assert it.ask("PATCH", "/me/preferences", {"shortcuts": None, "zone": "browser"}).json \
        == {"language": "zh-CN", "zone": "browser"}
    for bad in ({"nothing": None}, {"language": "xx"}, {"zone": ""}, {"shortcuts": 1}, {"colour": "red"}):
        assert it.status("PATCH", "/me/preferences", bad) == 422, bad
    assert admin(center).me["preferences"] == {"language": "zh-CN", "zone": "browser"}


# -- tokens --

def token(center, who, **more):
    reply = who.ask("POST", "/tokens", {"name": "t", "permissions": ["read"], **more})
    assert reply.status == 201, reply.json
    return reply.json


def test_a_token_is_shown_once_and_its_digest_kept(center):
    it = admin(center)
    made = token(center, it, name="deploy", permissions=["run", "read"], groups=[7, 3], days=1)
    secret, row = made["secret"], made["token"]
    assert secret.startswith(row["prefix"]) and len(secret) == 47
    assert (row["permissions"], row["groups"], row["lastUsedMs"]) == (["read", "run"], [3, 7], None)
    assert row["expiresMs"] - row["createdMs"] == 86_400_000
    with sqlite3.connect(center.data / "peal.db") as db:
        assert db.execute("SELECT digest FROM peal_token WHERE id = ?", (row["id"],)).fetchone()[0] \
            == hashlib.sha256(secret.encode()).hexdigest()
        assert secret not in str(db.execute("SELECT * FROM peal_token").fetchall())
    user = Client(center, token=secret)
    me = user.ask("GET", "/session").json
    assert me["rights"] == [{"permissions": ["read", "run"], "groups": [3, 7]}]
    assert me["session"] == {"kind": "token", "expiresAt": row["expiresAt"], "expiresMs": row["expiresMs"]}
    wait_until(lambda: it.ask("GET", "/tokens").json["items"][-1]["lastUsedMs"], "the last use to be known")
    assert it.status("DELETE", f"/tokens/{row['id']}") == 204
    assert it.status("DELETE", f"/tokens/{row['id']}") == 404
    assert user.status("GET", "/session") == 401


@pytest.mark.parametrize("text", ["pat_", "pat_" + "x" * 43, "pat_" + "x" * 42 + "!", "Pat_" + "x" * 43, "x" * 47, ""])
def test_what_is_no_token_is_nobody(center, text):
    assert Client(center, token=text or "x").status("GET", "/session") == 401


def test_a_token_is_cut_to_its_owner_at_each_request(center):
    group = center.api().add_group("cut-tokens")
    user = make(center, "cutter", grants=[{"role": "developer", "groups": [group]}])
    it = Client(center, "cutter", "cutter")
    wide = Client(center, token=token(center, it, permissions=["read", "jobs:write", "users:admin"])["secret"])
    other = Client(center, token=token(center, it, groups=[group + 1])["secret"])
    assert wide.ask("GET", "/session").json["rights"] == [{"permissions": ["read", "jobs:write"], "groups": [group]}]
    assert other.ask("GET", "/session").json["rights"] == []
    assert wide.status("GET", "/users") == 403
    assert admin(center).status("PATCH", f"/users/{user}", {"center": "admin", "grants": []}, If_Match="*") == 200
    assert wide.ask("GET", "/session").json["rights"] == [{"permissions": ["read", "jobs:write", "users:admin"],
                                                           "groups": None}]
    assert wide.status("GET", "/users") == 200
    assert admin(center).status("DELETE", f"/users/{user}", If_Match="*") == 204
    assert wide.status("GET", "/session") == 401


def test_a_token_cannot_do_what_is_for_sessions(center):
    it = Client(center, token=token(center, admin(center), permissions=GROUP + SERVER)["secret"])
    for method, path, body in [("GET", "/me/sessions", None), ("GET", "/tokens", None), ("DELETE", "/session", None),
                               ("POST", "/tokens", {"name": "x", "permissions": ["read"]}),
                               ("PATCH", "/me/preferences", {}), ("PUT", "/me/password", {"old": "x", "new": "abcd"})]:
        assert it.status(method, path, body) == 403, path
    assert it.status("GET", "/users") == 200


def test_a_token_makes_nobody_who_may_more_than_it(center):
    """Not by the resource, the form API or an import; nor does it reach somebody's rights by that person's password."""
    it = Client(center, token=token(center, admin(center), permissions=["read", "users:admin"])["secret"])
    boss, reader = make(center, "boss-1", center="admin"), make(center, "reader-1", grants=[{"role": "viewer", "groups": None}])
    me = f"/users/{admin(center).me['user']['id']}"
    new = {"name": "newcomer", "password": "newcomer"}
    for method, path, body in [
            ("POST", "/users", {**new, "center": "admin"}), ("POST", "/users", {**new, "center": "auditor"}),
            ("POST", "/users", {**new, "grants": [{"role": "operator", "groups": [1]}]}),
            ("PATCH", f"/users/{reader}", {"center": "admin"}), ("PATCH", f"/users/{boss}", {"password": "mine now"}),
            ("PATCH", f"/users/{boss}", {"center": "none"}), ("DELETE", f"/users/{boss}", None),
            ("PATCH", me, {"password": "mine now"}), ("DELETE", me, None),
            ("POST", "/import", {"peal": 1, "users": [{"name": "newcomer", "password": "newcomer", "center": "admin"}]}),
            ("POST", "/import", {"peal": 1, "users": [{"name": "boss-1", "center": "none"}]})]:
        headers = {"If_Match": "*"} if path.startswith("/users/") else {}
        assert it.status(method, path, body, **headers) in (403, 409), (method, path, body)
    names = {u["name"]: u for u in admin(center).ask("GET", "/users").json["items"]}
    assert "newcomer" not in names and names["boss-1"]["center"] == "admin" and names["reader-1"]["center"] == "none"
    Client(center, "boss-1", "boss-1")
    assert it.status("PATCH", f"/users/{reader}", {"password": "another one"}, If_Match="*") == 200
    assert it.status("POST", "/users", {**new, "grants": [{"role": "viewer", "groups": [1]}]}) == 201


def test_ones_own_password_needs_the_old_one(center):
    make(center, "own-pass", center="admin")
    it = Client(center, "own-pass", "own-pass")
    path = f"/users/{it.me['user']['id']}"
    assert it.status("PATCH", path, {"password": "without the old"}, If_Match="*") == 409
    Client(center, "own-pass", "own-pass")
    assert it.status("PUT", "/me/password", {"old": "own-pass", "new": "another one"}) == 204


def test_a_token_for_groups_has_no_permission_of_the_server(center):
    """One that an older release has made may say both."""
    it = admin(center)
    made = token(center, it, permissions=["read", "executors:write", "system:admin"])
    mine, other = center.api().add_group("token-mine"), center.api().add_group("token-other")
    user = Client(center, token=made["secret"])
    assert user.status("GET", f"/groups/{other}/token") == 200
    with sqlite3.connect(center.data / "peal.db", timeout=10) as db:
        db.execute("UPDATE peal_token SET group_ids = ? WHERE id = ?", (f"{mine}", made["token"]["id"]))
    assert user.ask("GET", "/session").json["rights"] == [{"permissions": ["read"], "groups": [mine]}]
    assert user.status("GET", f"/groups/{other}/token") == 403
    assert user.status("PATCH", f"/groups/{other}", {"title": "taken"}, If_Match="*") == 403


@pytest.mark.parametrize("body, field", [
    ({"name": "", "permissions": ["read"]}, "/name"), ({"name": "x"}, "/permissions"),
    ({"name": "x", "permissions": []}, "/permissions"), ({"name": "x", "permissions": ["READ"]}, "/permissions"),
    ({"name": "x", "permissions": ["read", "read"]}, "/permissions"),
    ({"name": "x", "permissions": ["read"], "days": 0}, "/days"),
    ({"name": "x", "permissions": ["read"], "days": 3651}, "/days"),
    ({"name": "x", "permissions": ["read"], "groups": [0]}, "/groups"),
    ({"name": "x", "permissions": ["read", "executors:write"], "groups": [1]}, "/groups"),
    ({"name": "x", "permissions": ["users:admin"], "groups": []}, "/groups")])
def test_a_bad_token_is_not_made(center, body, field):
    with_user = f"bad-{abs(hash(str(body))) % 10**9}"
    make(center, with_user)
    it = Client(center, with_user, with_user)
    reply = it.ask("POST", "/tokens", body)
    assert reply.status == 422
    assert any(error["field"].startswith(field) for error in reply.json["errors"]), reply.json
    assert it.ask("GET", "/tokens").json["items"] == []


def test_tokens_of_others_are_out_of_sight(center):
    mine = token(center, admin(center))["token"]["id"]
    make(center, "stranger")
    it = Client(center, "stranger", "stranger")
    assert it.ask("GET", "/tokens").json["items"] == []
    assert it.status("DELETE", f"/tokens/{mine}") == 404
    assert token(center, admin(center), days=0)["token"]["expiresMs"] is None


# -- the token of executors --

def test_a_token_that_everybody_knows_is_refused(tmp_path):
    center = Center(tmp_path, token="default_token")
    with pytest.raises(RuntimeError, match="ended by itself"):
        center.start()
    assert "Choose another" in center.output.read_text()
    with Center(tmp_path / "loud", token="default_token", args=["--insecure-known-token"]) as loud:
        assert "which everybody knows" in loud.output.read_text()
