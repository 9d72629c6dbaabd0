# SPDX-License-Identifier: Apache-2.0
"""`peal doctor`: each insecure or risky thing is found, and is not found where it is not."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess

import pytest
from support.center import Center, binary, clean_environment
from support.disk import SmallDisk, may_mount
from support.v1 import V1
from support.wait import PATIENCE
from test_users import make, token

SECRET = "a-token-of-24-characters"


def doctor(data, *args, env=None, **more):
    return subprocess.run([str(binary()), "doctor", "--data", str(data), *args], capture_output=True, text=True,
                          timeout=60 * PATIENCE, env=clean_environment(**(env or {})), check=False, **more)


def found(data, *args, env=None):
    """The findings' names; what the exit status says must fit."""
    done = doctor(data, "-o", "json", *args, env=env)
    assert done.returncode in (0, 1), done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if findings else 0)
    assert all(f["id"] and f["what"] and f["mend"] for f in findings)
    return {f["id"]: f for f in findings if f["id"] != "disk.full"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The data folder of a center that ran once, and a fresh backup: nothing is wrong with it."""
    folder = tmp_path_factory.mktemp("doctor")
    center = Center(folder, password="a right password")
    with center:
        pass
    (center.data).chmod(0o750)
    (folder / "backup").mkdir()
    (folder / "backup" / "peal.db").write_bytes(b"x")
    return center.data, folder / "backup"


@pytest.fixture
def data(site, tmp_path):
    """A copy of it that a case may spoil."""
    shutil.copytree(site[0], tmp_path / "data")
    (tmp_path / "data").chmod(0o750)
    return tmp_path / "data"


@pytest.fixture
def backup(site):
    return ["--backup", str(site[1])]


def sql(data, *statements):
    with contextlib.closing(sqlite3.connect(data / "peal.db")) as db, db:
        for statement in statements:
            db.execute(*statement) if isinstance(statement, tuple) else db.execute(statement)


def test_nothing_is_found_where_nothing_is_wrong(site, backup):
    assert found(site[0], *backup, "--token", SECRET) == {"token.visible": found(site[0], *backup, "--token", SECRET)[
        "token.visible"]}
    assert found(site[0], *backup, env={"PEAL_TOKEN": SECRET}) == {}
    assert found(site[0], *backup) == {}
    text = doctor(site[0], *backup)
    if "disk.full" not in text.stdout:
        assert (text.returncode, text.stdout) == (0, "0 findings\n")


@pytest.mark.parametrize("name,args,env", [
    ("listen.open", ["--listen", "0.0.0.0:8080"], {"PEAL_METRICS_TOKEN": "of the scraper"}),
    ("listen.open", ["--listen", "192.0.2.7:8080", "--metrics.allow", "192.0.2.0/24"], {}),
    ("token.empty", [], {"PEAL_TOKEN": ""}),
    ("token.empty", ["--insecure-no-token"], {}),
    ("token.known", [], {"PEAL_TOKEN": "default_token"}),
    ("token.known", [], {"XXL_JOB_ACCESSTOKEN": "default_token"}),
    ("token.short", [], {"PEAL_TOKEN": "short"}),
    ("token.visible", ["--token", SECRET], {}),
    ("token.known-allowed", ["--insecure-known-token"], {}),
    ("admin.password", [], {"PEAL_ADMIN_PASSWORD": "something"}),
    ("compat.write-passwords", ["--compat.write-passwords"], {}),
    ("compat.get-changes", ["--compat.get-changes"], {}),
    ("session.idle", ["--session.idle", "60d"], {}),
    ("limit.token", ["--limit.token", "0"], {}),
    ("limit.session", ["--limit.session", "0"], {}),
    ("limit.login", ["--limit.login", "0"], {}),
    ("log.retention-days", ["--log.retention-days", "0"], {}),
    ("log.retention-days", ["--log.retention-days", "2"], {}),
])
def test_a_setting_is_found(site, backup, name, args, env):
    assert set(found(site[0], *backup, *args, env=env)) == {name}


@pytest.mark.parametrize("args", [["--listen", "127.0.0.1:8080"], ["--listen", "[::1]:8080"],
                                  ["--listen", "localhost:1"], ["--session.idle", "30d"],
                                  ["--log.retention-days", "3"], ["--limit.login", "1"]])
def test_a_good_setting_is_not(site, backup, args):
    assert found(site[0], *backup, *args) == {}


def test_files_that_others_can_read_are_found(data, backup):
    data.chmod(0o755)
    (data / "peal.db").chmod(0o644)
    (data / "token").write_text(SECRET)
    (data / "token").chmod(0o644)
    assert set(found(data, *backup)) == {"data.readable", "token.readable", "db.readable"}
    data.chmod(0o750)
    (data / "token").chmod(0o600)
    assert found(data, *backup) == {}, "who cannot enter the folder cannot read the file"


def test_a_known_token_in_the_folder_is_found(data, backup):
    (data / "token").write_text("default_token\n")
    (data / "token").chmod(0o600)
    assert set(found(data, *backup)) == {"token.known"}


def test_passwords_that_everybody_tries_are_found(data, backup):
    sha = "8d969eef6ecad3c29a3a629280e686cf0c3f5d5a86aff3ca12020c923adc6c92"  # of 123456
    sql(data, ("INSERT INTO xxl_job_user (username, password, role) VALUES ('imported', ?, 1)", (sha,)))
    findings = found(data, *backup)
    assert set(findings) == {"password.known", "password.legacy"}
    assert "imported" in findings["password.known"]["what"]
    sql(data, "UPDATE xxl_job_user SET password = 'e10adc3949ba59abbe56e057f20f883e' WHERE username = 'imported'")
    assert set(found(data, *backup)) == {"password.known", "password.legacy"}, "MD5 of the same"
    sql(data, ("UPDATE xxl_job_user SET password = ? WHERE username = 'imported'", ("0" * 64,)))
    assert set(found(data, *backup)) == {"password.legacy"}


def test_rights_and_tokens_are_found_beside_a_running_server(tmp_path, backup):
    with Center(tmp_path, password="a right password") as center:
        center.data.chmod(0o750)
        v1 = V1(center)
        make(center, "narrow", password="long and hard", grants=[{"role": "developer", "groups": [1]}])
        token(center, v1, name="ends", permissions=["read"], days=1)
        assert found(center.data, *backup) == {}
        make(center, "wide", password="long and hard", grants=[{"role": "developer", "groups": None}])
        make(center, "guessed", password="guessed")
        token(center, v1, name="endless", permissions=["read"], days=0)
        center.api().add_group("plain", addresses=["http://192.0.2.1:9999/"])
        center.api().add_group("safe", addresses=["https://192.0.2.1:9999/", "http://127.0.0.1:9999/"])
        findings = found(center.data, *backup)
    assert set(findings) == {"scripts.all-groups", "password.known", "token.endless", "executors.plain"}
    for name, who in (("scripts.all-groups", "wide"), ("password.known", "guessed"), ("token.endless", "endless"),
                      ("executors.plain", "plain")):
        assert findings[name]["what"].endswith(f": {who}"), findings[name]


def test_tokens_of_groups_that_are_shared_or_change_for_ever_are_found(tmp_path, backup):
    with Center(tmp_path, password="a right password") as center:
        center.data.chmod(0o750)
        api, v1 = center.api(), V1(center)
        one, two = [int(api.add_group(name)) for name in ("team-one", "team-two")]

        def change(group, action="", **body):
            path = f"/groups/{group}/token"
            answer = v1.ask("POST", path + action, None if action else body, If_Match=v1.ask("GET", path).etag)
            assert answer.status == 200, answer.json

        change(one, token="a-token-of-one-team")
        change(one, "/finish")
        change(two)
        assert found(center.data, *backup) == {}
        change(two, "/finish")
        change(two, token="a-token-of-one-team")
        assert set(found(center.data, *backup)) == {"token.shared"}
    sql(center.data, "UPDATE peal_group SET since_ms = since_ms - 8 * 86400000")
    findings = found(center.data, *backup)
    assert set(findings) == {"token.shared", "token.changing"}
    assert findings["token.shared"]["what"].endswith(": team-one, team-two")
    assert findings["token.changing"]["what"].endswith(": team-two")
    assert "a-token-of-one-team" not in str(findings)


def test_backups_are_asked_for(site, tmp_path):
    assert set(found(site[0])) == {"backup.unknown"}
    assert set(found(site[0], "--backup", str(tmp_path / "nowhere"))) == {"backup.absent"}
    old = tmp_path / "peal.db"
    old.write_bytes(b"")
    assert set(found(site[0], "--backup", str(tmp_path))) == {"backup.absent"}, "an empty file is none"
    old.write_bytes(b"x")
    os.utime(old, (1e9, 1e9))
    assert set(found(site[0], "--backup", str(tmp_path))) == {"backup.old"}


def test_a_disk_without_room_is_found(site, tmp_path, backup):
    if not may_mount(tmp_path / "try"):
        pytest.skip("a small disk cannot be mounted here")
    with SmallDisk(tmp_path / "small") as disk:
        shutil.copytree(site[0], disk.folder / "data", ignore=shutil.ignore_patterns("callbacks.journal*"))
        (disk.folder / "data").chmod(0o750)
        done = doctor(disk.folder / "data", *backup)
        assert done.returncode == 1 and "disk.full" in done.stdout


def test_text_says_what_and_how_to_mend_it(site, backup):
    done = doctor(site[0], *backup, "--listen", "0.0.0.0:1")
    assert done.returncode == 1 and done.stderr == ""
    assert "listen.open\n    0.0.0.0:1 takes connections" in done.stdout and "\n    mend: give it a certificate" in done.stdout


def test_what_cannot_be_looked_at_is_said(data, backup, tmp_path):
    (data / "peal.db").write_bytes(b"this is no database" * 1000)
    for folder in (data, tmp_path / "nowhere"):
        done = doctor(folder, "-o", "json", *backup)
        assert done.returncode == 2 and "cannot look at" in done.stderr
        assert json.loads(done.stdout)["complete"] is False


def test_it_changes_nothing(data, backup):
    before = {p.name: p.read_bytes() for p in data.iterdir() if p.suffix not in (".db-shm", ".db-wal")}
    doctor(data, *backup)
    assert {p.name: p.read_bytes() for p in data.iterdir() if p.name in before} == before


@pytest.mark.parametrize("args", [["-o", "xml"], ["-o"], ["--backup"], ["--no-such-option"], ["--limit.login", "x"]])
def test_bad_arguments_are_refused(tmp_path, args):
    done = doctor(tmp_path, *args)
    assert done.returncode == 2 and done.stderr.startswith("peal doctor: ") and done.stdout == ""


def test_help_names_status_and_options(tmp_path):
    text = doctor(tmp_path, "--help").stdout
    assert "Exit status: 0" in text and "--backup DIR" in text and "--listen" in text
