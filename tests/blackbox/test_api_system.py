# SPDX-License-Identifier: Apache-2.0
"""/api/v1/system, its settings, and the contract that the server answers for itself."""

import json
import os
import pathlib
import sqlite3
import time

import pytest
import yaml
from support.center import PASSWORD, TOKEN, Center
from support.sse import Events
from support.tls_center import TlsCenter
from support.v1 import V1, problem
from support.wait import PATIENCE, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(scope="module")
def developer(center):
    """A user with role 0 and one group."""
    md5 = "e10adc3949ba59abbe56e057f20f883e"  # of 123456
    group = center.api().add_group("system-of-a-developer")
    with sqlite3.connect(center.data / "peal.db", timeout=30 * PATIENCE) as db:
        db.execute("INSERT INTO xxl_job_user (username, password, role, permission) VALUES (?, ?, 0, ?)",
                   ("system-developer", md5, str(group)))
    return V1(center, "system-developer", "123456")


# -- state --

def test_the_state_of_a_center(v1, center):
    state = v1.get("/system")
    assert state["ready"] is True and [c["name"] for c in state["checks"] if c["ok"]] == \
        ["commit", "schedule", "running"]
    assert state["zone"] == "UTC"
    assert abs(state["startedMs"] - time.time() * 1000) < 3600_000
    database = state["database"]
    assert database["kind"] == "sqlite"
    assert database["bytes"] >= 4096 and database["walBytes"] == os.path.getsize(center.data / "peal.db-wal")
    assert state["warnings"] == []


def test_the_oldest_row_of_the_log(tmp_path):
    with Center(tmp_path) as center:
        v1, api = V1(center), center.api()
        assert v1.get("/system")["database"]["oldestLogMs"] is None
        job = api.add_job(api.add_group("nowhere"), "demoJobHandler")
        for _ in range(2):
            api.trigger(job)
        rows = wait_until(lambda: len(api.logs(job)) == 2 and api.logs(job), "two rows")
        assert v1.get("/system")["database"]["oldestLogMs"] == rows[0]["triggerTime"]


def test_streams_that_are_open_are_counted(tmp_path):
    with Center(tmp_path, ["--streams.max=7"]) as center:
        v1 = V1(center)
        assert v1.get("/system")["limits"] == {"viewers": 7, "viewersNow": 0}
        with Events(center.port, "/api/v1/events?topics=job", v1.headers) as stream:
            assert stream.status == 200
            assert v1.get("/system")["limits"]["viewersNow"] == 1
        wait_until(lambda: v1.get("/system")["limits"]["viewersNow"] == 0, "the stream to be over")


def test_a_port_with_tls_is_no_warning(tmp_path):
    center = TlsCenter(tmp_path)
    center.args += ["--listen", f"0.0.0.0:{center.port}"]
    with center:
        login = json.dumps({"name": "admin", "password": PASSWORD})
        status, headers, _ = center.ask("POST", "/api/v1/session", login, {"Content-Type": "application/json"})
        assert status == 200
        cookie = headers["Set-Cookie"].split(";")[0]
        status, _, body = center.ask("GET", "/api/v1/system", headers={"Cookie": cookie})
        assert status == 200 and json.loads(body)["warnings"] == []


def test_insecure_settings_are_told_to_administrators(tmp_path):
    center = Center(tmp_path, ["--insecure-no-token", "--compat.get-changes"], token="")
    center.args += ["--listen", f"0.0.0.0:{center.port}"]
    with center:
        told = " ".join(V1(center).get("/system")["warnings"])
        assert "no access token" in told and "without TLS" in told and "GET requests" in told


def test_what_names_files_and_weak_settings_is_for_administrators(developer):
    state = developer.get("/system")
    assert state["ready"] is True and "warnings" not in state
    problem(developer.ask("GET", "/system/settings"), 403, "forbidden")


def test_a_database_in_a_file_has_one_server(v1, developer, center):
    node, = developer.get("/nodes")["items"]  # any user
    assert node == {"id": 1, "name": node["name"], "epoch": 1, "state": "up", "drainAsked": False, "self": True,
                    "address": f"127.0.0.1:{center.port}", "version": v1.get("/system")["version"], "protocol": 1,
                    "runs": node["runs"], "jobs": None, "beatAt": None, "beatMs": None, "beatAgeMs": None, "leased": True,
                    "skewMs": None,
                    "startedAt": v1.get("/system")["startedAt"], "startedMs": v1.get("/system")["startedMs"]}
    assert node["name"] and node["runs"] >= 0
    assert f'peal_node_info{{node="1",epoch="1",name="{node["name"]}"}} 1' in center.get("/metrics")[2].decode()
    problem(v1.ask("GET", "/nodes?x=1"), 400, "malformed")


# -- settings --

def test_each_setting_with_value_and_origin(tmp_path):
    file = tmp_path / "peal.conf"
    file.write_text("# ours\nlane.queue=123\nmisfire.threshold=7s\n")
    with Center(tmp_path / "center", ["-c", str(file), "--misfire.threshold", "9s"],
                env={"PEAL_START_DEADLINE": "90s"}) as center:
        settings = {s["key"]: s for s in V1(center).get("/system/settings")["items"]}
        shown = {key: (s["value"], s["origin"]) for key, s in settings.items()}
        assert shown["lane.queue"] == ("123", f"{file}:2")
        assert shown["misfire.threshold"] == ("9s", "command line")
        assert shown["start.deadline"] == ("90s", "environment")
        assert shown["language"] == ("en", "default")
        assert shown["db"] == ("", "default")
        assert "\n" not in settings["lane.queue"]["help"]


def test_secrets_are_not_shown(tmp_path):
    mail = "password-of-the-mail"
    with Center(tmp_path, env={"PEAL_MAIL_PASSWORD": mail}) as center:
        items = V1(center).get("/system/settings")["items"]
    secret = {s["key"]: s["value"] for s in items if s["secret"]}
    assert {"token", "admin.password", "mail.password"} <= set(secret) and set(secret.values()) == {None}
    assert [s["key"] for s in items if not s["secret"] and s["key"].endswith(("password", "secret", "token"))] == \
        ["insecure-no-token", "limit.token", "insecure-known-token"]
    text = json.dumps(items)
    assert TOKEN not in text and center.password not in text and mail not in text


# -- the contract --

def test_the_document_is_the_one_of_the_tree(v1, center):
    nobody = V1(center, token="none")
    nobody.headers = {}
    answer = nobody.ask("GET", "/openapi.json")
    assert (answer.status, answer.type) == (200, "application/json")
    with open(ROOT / "docs" / "api-v1.yaml", encoding="utf-8") as f:
        assert answer.json == json.loads(json.dumps(yaml.safe_load(f)))  # numbers as keys are texts in JSON
    again = nobody.ask("GET", "/openapi.json", If_None_Match=answer.etag)
    assert (again.status, again.json, again.etag) == (304, None, answer.etag)
    assert nobody.ask("GET", "/openapi.json", If_None_Match='"o1-1"').status == 200
