# SPDX-License-Identifier: Apache-2.0
"""peal import: files into the database of a center that does not run, by the rules of one that does."""

import json
import pathlib
import re
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support import ledger  # noqa: E402
from support.center import Center, binary  # noqa: E402
from support.load import Load  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402
from test_ctl_apply import whole  # noqa: E402

SETTLED = ["--zone", "UTC"]
HOOK = {"name": "hook", "kind": "webhook", "settings": {"url": "https://example.org/hook"}}


def run(center, document, *args, status=0, data=None, pause=0):
    """peal import with the settings of the center, from standard input, which is silent for so many seconds."""
    process = subprocess.Popen([str(binary()), "import", "--file", "-", "--data", str(data or center.data), *center.args, *args],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=center._env)
    time.sleep(pause)
    out, err = process.communicate(json.dumps(document), timeout=120 * PATIENCE)
    assert process.returncode == status, (process.returncode, out, err)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def everything():
    return {**whole(), "channels": [HOOK], "rules": [{"name": "all", "kind": "failed", "channels": ["hook"]}],
            "users": [{"name": "anna", "password": "pass-of-anna", "grants": [{"role": "operator", "groups": ["first-app"]}]}]}


@pytest.mark.every_engine
def test_what_is_imported_is_what_apply_would_have_made(tmp_path):
    """One center gets the file by HTTP, another one while it is down; they have the same afterwards."""
    with Center(tmp_path / "one", SETTLED) as one:
        assert V1(one).ask("POST", "/import", everything()).status == 200
        wanted = V1(one).get("/export?include=groups,jobs,users,channels,rules")
    with Center(tmp_path / "two", SETTLED) as two:
        two.stop()
        told = run(two, everything(), "--dry-run").stdout
        made = run(two, everything(), "--yes").stdout
        assert told == made and re.search(r"^make group first-app$", made, re.M), (told, made)
        assert re.search(r"^0 to do, \d+ as they are to be$", run(two, everything(), "--yes").stdout, re.M)
        two.start()
        v1 = V1(two)
        assert v1.get("/export?include=groups,jobs,users,channels,rules") == wanted
        assert V1(two, "anna", "pass-of-anna").ask("GET", "/session").status == 200
        entries = [e for e in v1.get("/audit?limit=100")["items"] if e["via"] == "cli"]
        assert {e["action"] for e in entries} >= {"group.create", "job.create", "rule.create", "channel.create", "user.create"}
        assert {(e["actor"], e["reason"]) for e in entries} == {(None, "peal import")}
        ledger.check_accounts(two)


@pytest.mark.every_engine
def test_nothing_fires_meanwhile_and_what_was_planned_follows_the_edit(tmp_path):
    """Per-second jobs are planned when the center stops: one is deleted, one changes, one stays."""
    def job(name, cron, handler):
        return {"group": "tests", "name": name, "state": "scheduled", "schedule": {"type": "CRON", "conf": cron},
                "task": {"kind": "BEAN", "handler": handler}, "running": {"block": "SERIAL_EXECUTION"}}
    before = {"peal": 1, "groups": [{"app": "tests", "title": "Tests"}], "jobs": [
        job("goes", "* * * * * ?", "goes"), job("changes", "* * * * * ?", "before"), job("stays", "* * * * * ?", "stays")]}
    after = {"peal": 1, "groups": before["groups"], "jobs": [job("changes", "0/2 * * * * ?", "after"), before["jobs"][2]]}
    with Center(tmp_path / "center", SETTLED) as center, Puppet(center, "tests") as puppet:
        center.stop()
        run(center, before, "--yes")
        center.start()
        puppet.wait_for_runs(9)
        center.stop()
        sent = len(puppet.runs())
        told = run(center, after, "--prune", "--yes", pause=3).stdout  # it has the database, and jobs are due each second
        assert "delete job tests goes" in told and re.search(r"change job tests changes: schedule/conf, task/handler", told), told
        assert len(puppet.runs()) == sent
        center.start()
        wait_until(lambda: {r["executorHandler"] for r in puppet.runs()[sent:]} >= {"after", "stays"}, "both to fire")
        assert {r["executorHandler"] for r in puppet.runs()[sent:]} == {"after", "stays"}
        ids = [r["logId"] for r in puppet.runs()]
        assert len(ids) == len(set(ids))
        for job_id in [j["id"] for j in V1(center).get("/jobs")["items"]]:
            center.api().stop_job(job_id)
        ledger.settle(center)
        assert center.metric("peal_firings_unaccounted") == 0  # rows of the log have gone with their job


def test_after_a_kill_an_import_loses_and_doubles_nothing(tmp_path):
    """The import reads the flight recorder of the killed center, and leaves what it says to the next one."""
    with Load(tmp_path) as load:
        for _ in range(2):
            load.wait_for_more(200)
            load.center.kill()
            run(load.center, {"peal": 1, "groups": [{"app": "more", "title": "More"}], "jobs": [
                {"group": "more", "name": "new", "schedule": {"type": "CRON", "conf": "0 0 3 * * ?"},
                 "task": {"kind": "BEAN", "handler": "h"}}]}, "--yes")
            load.center.start()
        load.wait_for_more(200)
        load.finish()
        load.check()


def test_what_cannot_be_is_refused_and_changes_nothing(tmp_path):
    with Center(tmp_path / "center", SETTLED) as center:
        assert "is in use by another server" in run(center, whole(), "--yes", status=3).stderr
        v1 = V1(center)
        admin, before = v1.get("/users")["items"][0]["name"], v1.get("/export?include=groups,jobs,users")
        center.stop()
        bad = whole()
        bad["jobs"][0]["schedule"] = {"type": "CRON", "conf": "no cron"}
        said = run(center, bad, "--yes", status=1).stderr
        assert "/jobs/0/schedule/conf" in said and "nothing was changed" in said, said
        assert "no terminal" in run(center, whole(), status=2).stderr
        assert "--bogus" in run(center, whole(), "--bogus", "1", status=2).stderr
        assert "last administrator" in run(center, {"peal": 1, "users": [{"name": admin, "center": "none"}]}, "--yes",
                                           status=5).stderr
        nowhere = tmp_path / "nowhere"
        assert "first start" in run(center, whole(), "--yes", status=3, data=nowhere).stderr
        assert not nowhere.exists()
        center.start()
        assert V1(center).get("/export?include=groups,jobs,users") == before
        ledger.check_accounts(center)
