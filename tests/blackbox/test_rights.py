# SPDX-License-Identifier: Apache-2.0
"""Every route of both APIs, asked by everybody: nobody, each role, a token of each permission, a token of another group.

Three tables must agree: what the server does, what its tables of routes declare, and what people wrote down: the
contract for /api/v1, FORM below for the form API."""

import base64
import json
import pathlib
import re
import urllib.parse

import pytest
import yaml
from support import webapi
from support.center import Center
from support.wait import wait_until
from test_users import Client, admin, make, token

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUP = ["read", "run", "jobs:write", "scripts:write"]
SERVER = ["audit:read", "executors:write", "users:admin", "system:admin"]
ROLES = {"viewer": GROUP[:1], "operator": GROUP[:2], "editor": GROUP[:3], "developer": GROUP}

# What the form API's paths need; none: public, login: any user.
FORM = {
    "none": "/ /toLogin /auth/login /metrics /actuator/prometheus /login /auth/doLogin /logout /auth/logout",
    "login": "/chartInfo /jobinfo/nextTriggerTime /user/updatePwd /auth/updatePwd",
    "read": "/jobinfo/pageList /joblog/pageList /joblog/logDetailCat /joblog/getJobsByGroup",
    "run": "/jobinfo/start /jobinfo/stop /jobinfo/trigger /joblog/logKill",
    "jobs:write": "/jobinfo/add /jobinfo/insert /jobinfo/update /jobinfo/remove /jobinfo/delete /joblog/clearLog",
    "scripts:write": "/jobcode/save",
    "executors:write": "/jobgroup/pageList /jobgroup/save /jobgroup/insert /jobgroup/update /jobgroup/remove "
                       "/jobgroup/delete",
    "users:admin": "/user/pageList /user/add /user/insert /user/update /user/remove /user/delete",
}
ANY_LOGIN = "/jobgroup/loadById"  # any user, for a group that it may read
FORM_BY_PATH = {path: permission for permission, paths in FORM.items() for path in paths.split()}


def declared_form():
    """{path: permission} of src/api/xxl/routes.c."""
    text = (ROOT / "src/api/xxl/routes.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{ (?:READS|CHANGES), "([^"]+)", (PAGE|SESSION|READ|CHANGE)(?:\((\w+))?', text)
    return {path: permission.lower().replace("_", ":") if kind in ("READ", "CHANGE") else "none"
            for path, kind, permission in rows}


def declared_v1():
    """{(method, path): (permission, body)} of src/api/v1/routes.def."""
    text = (ROOT / "src/api/v1/routes.def").read_text(encoding="utf-8")
    rows = re.findall(r'^ROUTE\((\w+),\s*"([^"]+)",\s*(\w+),\s*(\w+)', text, re.M)
    return {(method, path): ({"PUBLIC": "none"}.get(permission, permission.lower().replace("_", ":")), body)
            for method, path, permission, body in rows}


def test_the_tables_agree():
    form = declared_form()
    del form[ANY_LOGIN]
    assert form == FORM_BY_PATH
    paths = yaml.safe_load((ROOT / "docs/api-v1.yaml").read_text(encoding="utf-8"))["paths"]
    for (method, path), (permission, _) in declared_v1().items():
        said = paths[path][method.lower()]["x-peal-permission"]
        needed = {said} if isinstance(said, str) else set(next(iter(said.values())).values())
        assert permission == "action" if len(needed) > 1 else {permission} == needed, (method, path)


class World:
    """A center with two groups, a job in each, and everybody who may ask."""

    def __init__(self, center):
        self.center = center
        form = center.api()
        self.mine, self.other = form.add_group("walk-mine"), form.add_group("walk-other")
        self.jobs = {group: form.add_job(group, "h") for group in (self.mine, self.other)}
        it = admin(center)
        # name -> (client, permissions on mine, permissions on other, is a session)
        self.askers = {"nobody": (Client(center), [], [], False)}
        self.askers["admin"] = (it, GROUP + SERVER, GROUP + SERVER, True)
        self._user("without", [])
        self._user("auditor", ["read", "audit:read"], ["read", "audit:read"], center="auditor")
        for role, permissions in ROLES.items():
            self._user(role, permissions, grants=[{"role": role, "groups": [self.mine]}])
            self._user(role + "-all", permissions, permissions, grants=[{"role": role, "groups": None}])
        for permission in GROUP + SERVER:
            groups = [self.mine] if permission in GROUP else None  # those of the server know no groups
            secret = token(center, it, permissions=[permission], groups=groups)["secret"]
            on_server = [permission] if permission in SERVER else []
            self.askers["token " + permission] = (Client(center, token=secret), [permission], on_server, False)
        secret = token(center, it, permissions=GROUP, groups=[self.other])["secret"]
        self.askers["token of another group"] = (Client(center, token=secret), [], GROUP, False)

    def _user(self, name, mine, other=(), **rights):
        name = "w-" + name
        make(self.center, name, **rights)
        self.askers[name] = (Client(self.center, name, name), list(mine), list(other), True)

    def allowed(self, asker, permission, group=None):
        """What the rules say. group None: on some group."""
        client, mine, other, session = self.askers[asker]
        if permission == "none":
            return True
        if permission in ("login", "session", "action"):
            return session or (permission != "session" and "Authorization" in client.sent)
        have = {self.mine: mine, self.other: other}.get(group, mine + other)
        return permission in have


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("walk")) as center:
        yield World(center)


def ask(world, asker, method, path, body_kind):
    """The status. A body is not JSON: a request that passes the gate is refused by 400 and changes nothing."""
    client = world.askers[asker][0]
    method = "HEAD" if path == "/events" else method  # it would go on for ever
    headers, body = dict(client.sent), None
    if body_kind in ("JSON", "MERGE"):
        body = b"{"
        headers["Content-Type"] = "application/json" if body_kind == "JSON" else "application/merge-patch+json"
    return webapi.request(world.center.port, method, "/api/v1" + path, body, headers)[0]


@pytest.mark.parametrize("method, path", sorted(declared_v1()))
def test_the_walk_over_v1(world, method, path):
    permission, body = declared_v1()[method, path]
    if (method, path) == ("DELETE", "/session"):
        return  # it would log everybody out; test_users has it
    thing = world.jobs[world.mine] if path.startswith("/jobs/") else 4711
    real = re.sub(r"\{\w+\}", str(thing), path)
    for asker, (client, *_) in world.askers.items():
        status = ask(world, asker, method, real, body)
        known = bool(client.sent)
        if permission != "none" and not known:
            assert status == 401, (asker, status)
        elif world.allowed(asker, permission):
            assert status not in (401, 403), (asker, status)
        else:
            assert status == 403, (asker, status)


@pytest.mark.parametrize("method, path", sorted(key for key in declared_v1() if key[1].startswith("/jobs/{id}")))
def test_a_job_of_another_group_is_out_of_sight(world, method, path):
    permission, body = declared_v1()[method, path]
    if body != "NONE":
        return  # the gate is all that is asked without a good body; test_api_jobs has them
    real = path.replace("{id}", str(world.jobs[world.other])).replace("{version}", "0")
    there = "{version}" not in path  # the job has no script: whoever may look finds none
    for asker, (client, *_) in world.askers.items():
        if not client.sent:
            continue
        status = ask(world, asker, method, real, body)
        if not world.allowed(asker, permission):
            wanted = status == 403
        elif world.allowed(asker, permission, world.other):
            wanted = status not in (401, 403, 404) if there else status == 404
        elif world.allowed(asker, "read", world.other):
            wanted = status == 403
        else:
            wanted = status == 404
        assert wanted, (asker, status)


# What a bulk action needs, and what it needs besides its jobs
BATCH_ACTIONS = {"start": "run", "stop": "run", "trigger": "run", "delete": "jobs:write", "set_owner": "jobs:write",
                 "move_group": "jobs:write"}


@pytest.mark.parametrize("action", BATCH_ACTIONS)
def test_a_bulk_action_needs_the_permission_of_that_action(world, action):
    permission = BATCH_ACTIONS[action]
    more = {"set_owner": {"owner": "x"}, "move_group": {"groupId": int(world.mine)}}.get(action, {})
    job = world.jobs[world.mine]
    for asker, (client, *_) in world.askers.items():
        if not client.sent:
            continue
        answer = client.ask("POST", "/jobs/batch", {"action": action, "ids": [job], "dryRun": True, **more})
        sees = world.allowed(asker, "read", world.mine)
        if not world.allowed(asker, permission):
            assert answer.status == 403, asker
        elif action == "move_group" and not (sees and world.allowed(asker, permission, world.mine)):
            assert answer.status == (403 if sees else 422), asker
        else:
            assert answer.status == 200, (asker, answer.json)
            [item] = answer.json["items"]
            assert item["ok"] == (sees and world.allowed(asker, permission, world.mine)), (asker, item)
            if not item["ok"]:
                assert item["problem"]["code"] == ("forbidden" if sees else "not_found"), asker


def test_who_may_only_change_jobs_changes_many(world):
    it = world.askers["admin"][0]
    secret = token(world.center, it, permissions=["read", "jobs:write"], groups=[world.mine])["secret"]
    client, job = Client(world.center, token=secret), world.jobs[world.mine]
    assert client.ask("POST", "/jobs/batch", {"action": "set_owner", "ids": [job], "owner": "nights"}).json["done"] == 1
    assert it.ask("GET", f"/jobs/{job}").json["owner"] == "nights"
    assert client.ask("POST", "/jobs/batch", {"action": "trigger", "ids": [job]}).status == 403


def a_run(world, group):
    """A new run of the group's job; it ends at once, because nobody serves the group."""
    job = world.jobs[group]
    answer = world.askers["admin"][0].ask("POST", f"/jobs/{job}/trigger", {})
    assert answer.status == 201, answer.json
    run = answer.json["runId"]
    wait_until(lambda: world.askers["admin"][0].ask("GET", f"/runs/{run}").json["run"]["outcome"] == "unroutable",
               "the run to end")
    return run


# What is done to one run: permission, and what it answers to those who may
RUN_OPERATIONS = {("GET", "", None): ("read", {200}), ("GET", "/log", None): ("read", {200}),
                  ("GET", "/log/download", None): ("read", {200, 404, 409}), ("POST", "/kill", None): ("run", {200}),
                  ("POST", "/rerun", "{}"): ("run", {201})}


@pytest.mark.parametrize("method, path, body", sorted(RUN_OPERATIONS, key=str))
def test_a_run_of_another_group_is_out_of_sight(world, method, path, body):
    permission, good = RUN_OPERATIONS[method, path, body]
    run = a_run(world, world.other)
    for asker, (client, *_) in world.askers.items():
        if not client.sent:
            continue
        headers = {**client.sent, **({"Content-Type": "application/json"} if body else {})}
        status = webapi.request(world.center.port, method, f"/api/v1/runs/{run}{path}", body and body.encode(),
                                headers)[0]
        if world.allowed(asker, permission, world.other):
            assert status in good, (asker, status)
        elif not world.allowed(asker, permission) or world.allowed(asker, "read", world.other):
            assert status == 403, (asker, status)
        else:
            assert status == 404, (asker, status)


def test_the_log_stream_of_another_group_is_out_of_sight(world):
    run = a_run(world, world.other)
    for asker, (client, *_) in world.askers.items():
        if not client.sent or world.allowed(asker, "read", world.other):
            continue  # who may gets a stream, see test_streams
        status = webapi.request(world.center.port, "GET", f"/api/v1/runs/{run}/log/stream", None, client.sent)[0]
        assert status == (404 if world.allowed(asker, "read") else 403), (asker, status)


def test_runs_of_another_group_in_lists_and_batches(world):
    run, job = a_run(world, world.other), world.jobs[world.other]
    for asker, (client, *_) in world.askers.items():
        if not client.sent:
            continue
        sees = world.allowed(asker, "read", world.other)
        if world.allowed(asker, "read"):
            seen = {item["id"] for item in client.ask("GET", "/runs?limit=500").json["items"]}
            assert (run in seen) == sees, asker
        batch = client.ask("POST", "/runs/batch", {"action": "rerun", "ids": [run], "dryRun": True})
        if world.allowed(asker, "run"):
            [item] = batch.json["items"]
            assert item["ok"] == world.allowed(asker, "run", world.other), asker
            if not item["ok"]:
                assert item["problem"]["code"] == ("forbidden" if sees else "not_found"), asker
        else:
            assert batch.status == 403, asker
        clean = client.ask("POST", "/runs/clean", {"rule": "all", "jobId": job, "dryRun": True})
        if world.allowed(asker, "jobs:write", world.other):
            assert clean.status == 200, asker
        elif world.allowed(asker, "jobs:write") and not sees:  # a job that is not there
            assert clean.status == 422, asker
        else:
            assert clean.status == 403, asker


def test_an_executor_of_another_group_is_out_of_sight(world):
    address = "http://127.0.0.1:9/"
    admin_ = world.askers["admin"][0]
    other = admin_.ask("GET", f"/groups/{world.other}").json
    world.center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": other["app"],
                                       "registryValue": address})
    key = base64.urlsafe_b64encode(address.encode()).rstrip(b"=").decode()

    def get(client):
        return client.ask("GET", f"/executors/{key}", contract="/executors/{key}")
    wait_until(lambda: get(admin_).json.get("groups"), "it to be in its group")
    for asker, (client, *_) in world.askers.items():
        if not client.sent:
            continue
        sees = world.allowed(asker, "read", world.other)
        if world.allowed(asker, "read"):
            assert get(client).status == (200 if sees else 404), asker
            listed = {item["key"] for item in client.ask("GET", "/executors").json["items"]}
            assert (key in listed) == sees, asker
        probe = client.ask("POST", f"/executors/{key}/probe", contract="/executors/{key}/probe").status
        if world.allowed(asker, "run", world.other):
            assert probe == 200, asker
        else:
            assert probe == (404 if world.allowed(asker, "run") and not sees else 403), asker


def test_lists_hold_what_one_may_read(world):
    for asker, (client, *_) in world.askers.items():
        if not world.allowed(asker, "read"):
            continue
        names = {group: world.allowed(asker, "read", group) for group in (world.mine, world.other)}
        seen = {job["id"] for job in client.ask("GET", "/jobs").json["items"]}
        for group, job in world.jobs.items():
            assert (job in seen) == names[group], asker


@pytest.mark.parametrize("path", sorted(FORM_BY_PATH))
def test_the_walk_over_the_form_api(world, path):
    permission = FORM_BY_PATH[path]
    if permission == "none":
        return
    for asker, (client, *_) in world.askers.items():
        if "Authorization" in client.sent:
            continue  # the form API does not know tokens
        for group in (world.mine, world.other):
            cookie = {"Cookie": client.sent["Cookie"].replace("peal_session", "xxl_job_login_token")} \
                if client.sent else {}
            body = urllib.parse.urlencode({"jobGroup": group, "triggerStatus": -1, "offset": 0}).encode()
            status, _, answer = webapi.request(world.center.port, "POST", path, body, {
                "Content-Type": "application/x-www-form-urlencoded", **cookie})
            reply = json.loads(answer)
            names_group = path in ("/jobinfo/pageList", "/jobinfo/insert", "/jobinfo/add", "/joblog/pageList",
                                   "/joblog/clearLog", "/joblog/getJobsByGroup")
            if not client.sent:
                assert status == 302 or reply["msg"].startswith("not login"), (asker, reply)
            elif world.allowed(asker, permission, group if names_group else None):
                assert reply["msg"] != "permission limit", (asker, group)
            else:
                assert reply["msg"] == "permission limit", (asker, group, reply)
