# SPDX-License-Identifier: Apache-2.0
"""`peal ctl export` and `peal ctl apply`: a center as files, and files as a center."""

import base64
import json
import random
import re
import subprocess

import pytest
from support.center import Center, binary
from support.ctl import CONFLICT, FAILED, NOT_FOUND, NOT_PERMITTED, USAGE, Ctl
from support.v1 import V1, problem
from support.wait import PATIENCE

GLUE = "#!/bin/bash\necho one\n"


# the zone has no summer time: each hour comes once in 24 hours, on every day
def job(name, group="first-app", **more):
    return {"group": group, "name": name, "owner": "ops", "state": "stopped",
            "schedule": {"type": "CRON", "conf": "0 0 3 * * ?", "zone": "Asia/Shanghai"},
            "task": {"kind": "BEAN", "handler": "h", "param": ""}, **more}


def whole():
    """Groups, jobs with children before and behind them, a script, jobs that run."""
    return {"peal": 1,
            "groups": [{"app": "first-app", "title": "First"},
                       {"app": "second-app", "title": "Second", "addressing": "manual",
                        "addresses": ["http://127.0.0.1:9/"]}],
            "jobs": [job("parent", children=[{"group": "second-app", "name": "child"},
                                             {"group": "first-app", "name": "glue"}]),
                     job("glue", task={"kind": "GLUE_SHELL", "handler": "", "param": "p"}, script=GLUE),
                     job("child", "second-app", state="scheduled", alarmEmails=["a@example.com"],
                         running={"retries": 2, "timeoutS": 60, "retryBackoff": 1.5})]}


class Files:
    """A center and a folder of files for it."""

    def __init__(self, center, ctl, folder):
        self.center, self.ctl, self.folder = center, ctl, folder
        folder.mkdir()

    def put(self, document, name="a.json"):
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    def apply(self, *args, **more):
        return self.ctl("apply", "-f", self.folder, *args, **more)

    def export(self, *args):
        return self.ctl("export", *args).stdout

    def jobs(self):
        return {j["name"]: j for j in self.ctl.json("job", "list")}


@pytest.fixture
def files(tmp_path):
    with Center(tmp_path / "center") as center:
        ctl = Ctl(tmp_path / "home")
        ctl.login(center.url)
        yield Files(center, ctl, tmp_path / "files")


def test_what_is_applied_is_exported_and_applied_again(files, tmp_path):
    files.put(whole())
    done = files.apply("--yes")
    assert "make group first-app\n" in done.stdout and "make job second-app child, and start it\n" in done.stdout
    jobs = files.jobs()
    assert jobs["parent"]["children"] == [jobs["child"]["id"], jobs["glue"]["id"]]
    assert (jobs["child"]["state"], jobs["parent"]["state"]) == ("scheduled", "stopped")
    assert jobs["child"]["running"]["retryBackoff"] == 1.5
    assert "0 to do, 5 as they are to be" in files.apply().stdout  # nothing is to be done: nothing is asked
    first = files.export()
    assert first == files.export()
    exported = json.loads(first)
    assert [j["name"] for j in exported["jobs"] if j["group"] == "first-app"] == ["glue", "parent"]
    assert next(j for j in exported["jobs"] if j["name"] == "glue")["script"] == GLUE
    assert '"id"' not in first and '"createdAt"' not in first
    versions = {n: j["version"] for n, j in jobs.items()}
    (files.folder / "a.json").write_text(first)
    assert re.search(r"^0 to do, ", files.apply("--yes").stdout, re.M)
    assert {n: j["version"] for n, j in files.jobs().items()} == versions
    with Center(tmp_path / "other") as other:  # another center becomes the same
        ctl = Ctl(tmp_path / "other-home")
        ctl.login(other.url)
        ctl("apply", "-f", files.folder, "--yes")
        assert ctl("export", "--group", "first-app,second-app").stdout == files.export("--group", "first-app,second-app")


def test_a_dry_run_tells_and_changes_nothing(files):
    files.put(whole())
    told = files.apply("--dry-run").stdout
    assert "make job first-app parent\n" in told and "5 to do, 0 as they are to be" in told
    assert re.search(r"second-app child, and start it\n    firings of the next 24 h: 0 vanish, 1 appear, 0 move", told)
    assert files.jobs() == {}
    files.apply("--yes")
    changed = whole()
    changed["jobs"][2]["schedule"]["conf"] = "0 0 4,5 * * ?"
    changed["jobs"][0]["state"] = "scheduled"
    del changed["jobs"][1]
    changed["jobs"][0]["children"] = []
    files.put(changed)
    before = files.export()
    told = files.apply("--dry-run", "--prune").stdout
    assert "change job second-app child: schedule/conf\n    firings of the next 24 h: " in told
    assert "change job first-app parent: children, state\n" in told and "delete job first-app glue\n" in told
    steps = files.ctl.json("apply", "-f", files.folder, "--dry-run", "--prune")["steps"]
    assert [(s["action"], s["name"]) for s in steps] == [("change", "parent"), ("change", "child"), ("delete", "glue")]
    child = steps[1]["firings"]
    assert child["vanish"] + child["move"] == 1 and child["appear"] + child["move"] == 2
    assert len(child["items"]) == child["vanish"] + child["appear"] + child["move"]
    assert files.export() == before


def test_changes_children_scripts_states(files):
    files.put(whole())
    files.apply("--yes")
    changed = whole()
    changed["groups"][0]["title"] = "Other title"
    changed["jobs"][0]["children"] = [{"group": "first-app", "name": "new"}]
    changed["jobs"][1]["script"] = GLUE + "echo two\n"
    changed["jobs"][2].update(state="stopped", owner="ops-2")
    changed["jobs"].append(job("new", state="scheduled"))
    files.put(changed)
    told = files.apply("--yes").stdout
    assert "change job first-app glue: script\n" in told and "change group first-app: title\n" in told
    jobs = files.jobs()
    assert jobs["parent"]["children"] == [jobs["new"]["id"]] and jobs["new"]["state"] == "scheduled"
    assert (jobs["child"]["state"], jobs["child"]["owner"]) == ("stopped", "ops-2")
    scripts = V1(files.center).get(f"/jobs/{jobs['glue']['id']}/scripts")["items"]
    assert len(scripts) == 2 and scripts[0]["remark"] == "peal ctl apply"
    assert re.search(r"^0 to do, ", files.apply().stdout, re.M)


def test_what_a_file_does_not_say_stays(files):
    files.put(whole())
    files.apply("--yes")
    files.put({"peal": 1, "jobs": [{"group": "second-app", "name": "child", "running": {"retries": 3}}]})
    assert "change job second-app child: running/retries\n" in files.apply("--yes").stdout
    child = files.jobs()["child"]
    assert (child["running"]["retries"], child["running"]["timeoutS"], child["state"]) == (3, 60, "scheduled")
    assert set(files.jobs()) == {"parent", "glue", "child"}


def test_prune_deletes_in_the_named_groups_only(files):
    files.put(whole())
    files.apply("--yes")
    files.put({"peal": 1, "jobs": [{"group": "first-app", "name": "parent", "children": []}]})
    assert "--yes" in files.apply("--prune", status=USAGE).stderr
    assert set(files.jobs()) == {"parent", "glue", "child"}
    files.apply("--prune", "--yes")
    assert set(files.jobs()) == {"parent", "child"}


def test_several_files(files):
    both = whole()
    files.put({"peal": 1, "jobs": both["jobs"]}, "a.json")
    files.put({"peal": 1, "groups": both["groups"]}, "b.json")
    files.put("no JSON", "c.txt")
    files.apply("--yes")
    assert set(files.jobs()) == {"parent", "glue", "child"}
    files.put({"peal": 1, "groups": both["groups"]}, "c.json")
    done = files.apply(status=USAGE)
    assert f"{files.folder}/c.json: /groups/0: it stands in {files.folder}/b.json: /groups/0, too" in done.stderr


SHAPES = [
    ('{"peal": 1', "a.json: "),
    ('[]', "/: must be an object"),
    ('{}', "/peal: must be 1"),
    ('{"peal": 1, "job": []}', "/job: there is no such member"),
    ('{"peal": 1, "jobs": {}}', "/jobs: must be an array"),
    ('{"peal": 1, "jobs": [7]}', "/jobs/0: must be an object"),
    ('{"peal": 1, "jobs": [{"group": "g"}]}', "/jobs/0/name: is missing"),
    ('{"peal": 1, "jobs": [{"group": "", "name": "n"}]}', "/jobs/0/group: must not be empty"),
    ('{"peal": 1, "jobs": [{"group": "g", "name": "n", "id": 7}]}', "/jobs/0/id: there is no such member"),
    ('{"peal": 1, "jobs": [{"group": "g", "name": "n", "state": "on"}]}', "/jobs/0/state: must be scheduled or stopped"),
    ('{"peal": 1, "jobs": [{"group": "g", "name": "n", "children": [{"name": "x"}]}]}', "/jobs/0/children/0/group: is missing"),
    ('{"peal": 1, "jobs": [{"group": "g", "name": "n"}, {"group": "g", "name": "n"}]}', "/jobs/1/name: stands in this file twice"),
    ('{"peal": 1, "groups": [{"app": "g"}]}', "/groups/0/title: is missing"),
    ('{"peal": 1, "users": [{"name": "abcd", "grants": [{"role": "", "groups": null}]}]}',
     "/users/0/grants/0/role: must not be empty"),
    ('{"peal": 1, "rules": [{"name": "r", "kind": "failed", "channels": [], "job": {"group": "g"}}]}',
     "/rules/0/job/name: is missing"),
    ('{"peal": 1, "rules": [{"name": "r", "kind": "failed", "channels": [], "enabled": 1}]}',
     "/rules/0/enabled: must be true or false"),
    ('{"peal": 1, "silences": [{"untilMs": "x", "reason": "r"}]}', "/silences/0/untilMs: must be a whole number"),
    ('{"peal": 1, "channels": [{"name": "c", "kind": "k"}, {"name": "c", "kind": "k"}]}',
     "/channels/1/name: stands in this file twice"),
    ('{"peal": 1, "peal": 1}', "a.json: "),
]


def test_bad_files_name_the_place_and_the_rule(files):
    """None of these asks the center anything."""
    for text, said in SHAPES:
        files.put(text)
        done = files.apply("--yes", status=USAGE, env={"PEAL_URL": "http://127.0.0.1:1", "PEAL_TOKEN": "t"})
        assert f"{files.folder}/a.json: " in done.stderr and said in done.stderr, text
    assert "--file" in files.ctl("apply", status=USAGE).stderr
    assert "no file that ends in .json" in Files(files.center, files.ctl, files.folder / "empty").apply(status=USAGE).stderr
    files.put("{\"peal\": 1, \"jobs\": [" + "[" * 100_000)
    assert "a.json: " in files.apply(status=USAGE).stderr


def test_a_broken_rule_changes_nothing_and_all_are_told(files):
    files.put(whole())
    files.apply("--yes")
    before = files.export()
    changed = whole()
    changed["groups"].append({"app": "third-app", "title": "T"})
    changed["groups"][0]["title"] = ""
    changed["jobs"][2]["schedule"]["conf"] = "0 0 25 * * ?"
    changed["jobs"].append(job("bad", "third-app", task={"kind": "BEAN", "handler": "", "nothing": 1}))
    changed["jobs"].append(job("fine", "third-app"))
    changed["groups"][0]["title"] = "x" * 65
    files.put(changed)
    done = files.apply("--yes", status=FAILED)
    where = f"{files.folder}/a.json: "
    assert where + "/groups/0/title: " in done.stderr
    assert where + "/jobs/2/schedule/conf: cron: hour" in done.stderr
    assert where + "/jobs/3/task/nothing: " in done.stderr and where + "/jobs/3/task/handler: " in done.stderr
    assert "nothing was changed" in done.stderr and done.stdout == "" and "/jobs/4" not in done.stderr
    assert files.export() == before


def test_what_one_import_does_not_take_is_told(files):
    """What does not pack well, of what packs well more than 16 MiB, and too many things."""
    def large(n, text, name="a.json", first=0):
        files.put({"peal": 1, "jobs": [job(f"job {i}", task={"kind": "BEAN", "handler": "h", "param": text()})
                                       for i in range(first, first + n)]}, name)
    chance = random.Random(1)
    large(60, lambda: base64.b64encode(chance.randbytes(45_000)).decode())
    done = files.apply("--yes", status=FAILED)
    assert "more than one import takes (16 MiB, and packed by gzip 2 MiB)" in done.stderr
    assert "nothing was changed" in done.stderr
    large(150, lambda: "p" * 60_000)
    large(150, lambda: "p" * 60_000, "b.json", 150)
    done = files.apply("--yes", status=FAILED)
    assert "longer than 16777216 bytes when it is unpacked" in done.stderr and "more than one import takes" in done.stderr
    (files.folder / "b.json").unlink()
    files.put({"peal": 1, "groups": whole()["groups"], "jobs": [job(f"job {n}") for n in range(10_000)]})
    assert "more than 10000 things would change" in files.apply("--yes", status=CONFLICT).stderr
    assert files.jobs() == {}


def test_five_thousand_jobs_are_one_import(files):
    """With all members that export writes: 3.5 MB."""
    files.put({"peal": 1, "groups": whole()["groups"], "jobs": [job(f"job {n}") for n in range(5000)]})
    assert "5002 to do, 0 as they are to be" in files.apply("--yes").stdout
    exported = files.export()
    assert len(exported) > 3_000_000 and exported.count('"name": "job ') == 5000
    files.put(exported.replace('"owner": "ops"', '"owner": "nights"'))
    assert "5000 to do, 2 as they are to be" in files.apply("--yes").stdout
    assert files.export().count('"owner": "nights"') == 5000


def test_names_that_lead_nowhere(files):
    files.put({"peal": 1, "jobs": [job("a", "no-group")]})
    assert "/jobs/0/group: there is no group no-group" in files.apply("--yes", status=NOT_FOUND).stderr
    files.put({**whole(), "jobs": [job("a", children=[{"group": "first-app", "name": "b"}])]})
    assert "/jobs/0/children/0: there is no job b" in files.apply("--yes", status=NOT_FOUND).stderr
    assert files.jobs() == {}


def test_a_script_belongs_to_a_job_of_its_kind(files):
    files.put(whole())
    files.apply("--yes")
    files.put({"peal": 1, "jobs": [{"group": "second-app", "name": "child", "script": GLUE},
                                   {"group": "first-app", "name": "glue", "script": ""}]})
    done = files.apply("--yes", status=FAILED)
    assert "/jobs/0/script: the job is of a kind that has no script" in done.stderr
    assert "/jobs/1/script: must not be empty" in done.stderr and "nothing was changed" in done.stderr


def test_a_name_that_several_jobs_have(files):
    files.put(whole())
    files.apply("--yes")
    group = files.jobs()["parent"]["group"]["id"]
    for _ in range(2):
        files.center.api().add_job(group, "h", jobDesc="twin")
    assert "several jobs of group first-app have the name twin" in files.ctl("export", status=CONFLICT).stderr
    files.export("--group", "second-app")
    files.put({"peal": 1, "jobs": [job("twin")]})
    assert "/jobs/0: the center has several jobs of that name" in files.apply("--yes", status=CONFLICT).stderr
    files.put({"peal": 1, "jobs": [{"group": "first-app", "name": "parent"}]})
    assert "twin" not in files.apply("--prune", "--dry-run").stdout


def test_rights_are_the_tokens(files):
    files.put(whole())
    made = V1(files.center).ask("POST", "/tokens", {"name": "t", "permissions": ["read"], "groups": None, "days": 1})
    done = files.apply("--yes", env={"PEAL_URL": files.center.url, "PEAL_TOKEN": made.json["secret"]}, status=NOT_PERMITTED)
    assert "nothing was changed" in done.stderr and files.jobs() == {}


def test_the_api_looks_and_changes_nothing(files):
    files.put(whole())
    files.apply("--yes")
    v1 = V1(files.center)
    before, parent = files.export(), files.jobs()["parent"]
    etag = v1.ask("GET", f"/jobs/{parent['id']}").etag
    group = v1.ask("GET", f"/groups/{parent['group']['id']}")
    good = {"name": "n", "groupId": parent["group"]["id"], "schedule": {"type": "NONE"}, "task": {"kind": "BEAN", "handler": "h"}}
    for method, path, body, headers in [
            ("POST", "/jobs", good, {"Idempotency_Key": "key-of-a-dry-run"}),
            ("PATCH", f"/jobs/{parent['id']}", {"owner": "other"}, {"If_Match": etag}),
            ("POST", "/groups", {"app": "dry-app", "title": "t"}, {}),
            ("PATCH", f"/groups/{parent['group']['id']}", {"title": "t"}, {"If_Match": group.etag})]:
        assert v1.ask(method, path + "?dryRun=true", body, **headers).status == 204
        assert v1.ask(method, path + "?dryRun=maybe", body, **headers).status == 400
        bad = {**body, "nothing": 1}
        problem(v1.ask(method, path + "?dryRun=true", bad, **{**headers, "Idempotency_Key": "another-key"}), 422, "invalid",
                ("/nothing", "unknown"))
    assert v1.ask("PATCH", f"/jobs/{parent['id']}?dryRun=true", {"owner": "o"}, If_Match='"j1-0"').status == 412
    assert files.export() == before
    made = v1.ask("POST", "/jobs", good, Idempotency_Key="key-of-a-dry-run")
    assert made.status == 201 and "n" in files.jobs()


def test_users_of_files_are_made_and_said_to_have_no_password(files):
    files.put({**whole(), "users": [{"name": "with-one", "password": "a password", "grants": [
        {"role": "operator", "groups": ["first-app"]}]}, {"name": "without", "center": "auditor"}]})
    done = files.apply("--yes").stdout
    assert "make user with-one\n" in done
    assert "make user without, which has no password: an administrator sets one\n" in done
    assert V1(files.center, "with-one", "a password").ask("GET", "/session").status == 200
    assert re.search(r"^0 to do, ", files.apply("--yes").stdout, re.M)


# ---- all that is configured ----------------------------------------------------------------------


def configured(center):
    """Users, channels, rules and silences on top of whole()."""
    v1 = V1(center)
    groups = {g["app"]: g["id"] for g in v1.get("/groups?limit=500")["items"]}
    jobs = {j["name"]: j["id"] for j in v1.get("/jobs?limit=500")["items"]}
    hook = {"url": "https://hooks.example.com/secret-path", "secret": "sealed-and-secret", "method": "PUT"}
    made = [v1.ask("POST", path, body) for path, body in [
        ("/users", {"name": "zoe-1", "password": "pass-of-zoe", "grants": [{"role": "developer", "groups": [
            groups["second-app"], groups["first-app"]]}, {"role": "viewer", "groups": None}]}),
        ("/users", {"name": "anna-1", "password": "pass-of-anna", "center": "admin"}),
        ("/alarm-channels", {"name": "night shift", "kind": "webhook", "settings": hook, "perMinute": 20}),
        ("/alarm-rules", {"name": "two", "kind": "slow", "longerMs": 5000, "jobId": jobs["child"], "channels": ["night shift"]}),
        ("/alarm-rules", {"name": "one", "kind": "failed", "groupId": groups["first-app"], "channels": ["night shift"],
                          "quiet": {"from": "22:00", "to": "06:30"}})]]
    assert all(m.status == 201 for m in made), [m.json for m in made]
    silence = {"ruleId": made[-1].json["id"], "untilMs": 10**9 + made[-1].json["createdMs"], "reason": "they move"}
    of_job = {"jobId": jobs["child"], "untilMs": silence["untilMs"], "reason": "it is mended"}
    assert [v1.ask("POST", "/alarm-silences", s).status for s in (silence, of_job)] == [201, 201]
    return v1


def test_all_that_is_configured_is_exported_without_secrets(files):
    files.put(whole())
    files.apply("--yes")
    v1 = configured(files.center)
    text = files.export("--include", "all")
    assert text == files.export("--include", "all") and "secret-path" not in text and "sealed" not in text
    assert "argon2" not in text and "pass-of" not in text and '"id"' not in text
    all_ = json.loads(text)
    assert list(all_) == ["peal", "groups", "jobs", "users", "channels", "rules", "silences"]
    assert [u["name"] for u in all_["users"]] == ["admin", "anna-1", "zoe-1"]
    assert all_["users"][2]["grants"] == [{"role": "viewer", "groups": None},
                                          {"role": "developer", "groups": ["first-app", "second-app"]}]
    assert all_["channels"] == [{"name": "night shift", "kind": "webhook", "enabled": True, "settings": {"method": "PUT"},
                                 "secrets": ["url", "secret"], "perMinute": 20}]
    one, two = all_["rules"]
    assert (one["name"], one["group"], one["job"], one["quiet"]) == ("one", "first-app", None, {"from": "22:00", "to": "06:30"})
    assert (two["group"], two["job"], two["longerMs"]) == (None, {"group": "second-app", "name": "child"}, 5000)
    child = {"group": "second-app", "name": "child"}
    assert [(s["group"], s["job"], s["rule"], s["reason"]) for s in all_["silences"]] == [
        (None, None, "one", "they move"), (None, child, None, "it is mended")]
    some = json.loads(files.export("--include", "rules,jobs", "--group", "second-app"))
    assert [j["name"] for j in some["jobs"]] == ["child"] and [r["name"] for r in some["rules"]] == ["two"]
    assert v1.get("/export?include=users") == {"peal": 1, "users": all_["users"]}  # as the contract says
    problem(v1.ask("GET", "/export?include=passwords"), 400, "malformed")
    (files.folder / "a.json").write_text(text)
    done = files.apply("--yes")
    assert re.search(r"^0 to do, ", done.stdout, re.M) and "/silences: these 2 are left as they are" in done.stderr
    # the same of the database alone, while the server has it and when it has gone
    def offline(*args, status=0):
        done = subprocess.run([str(binary()), "export", *args], capture_output=True, text=True, timeout=60 * PATIENCE, check=False)
        assert done.returncode == status, done
        return done.stdout
    data = ["--data", str(files.center.data)]
    assert offline(*data, "--include", "all") == text
    files.center.stop()
    assert offline(*data, "--include=all") == text and offline(*data) == json_text({k: all_[k] for k in ("peal", "groups", "jobs")})
    assert offline("--data", str(files.folder / "nothing"), status=3) == ""
    assert offline(*data, "--include", "tokens", status=2) == ""


def json_text(document):
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def test_an_export_shows_what_its_asker_may_read(files):
    files.put(whole())
    files.apply("--yes")
    v1 = configured(files.center)
    first = next(g["id"] for g in v1.get("/groups?limit=500")["items"] if g["app"] == "first-app")
    made = v1.ask("POST", "/tokens", {"name": "t", "permissions": ["read"], "groups": [first], "days": 1})
    env = {"PEAL_URL": files.center.url, "PEAL_TOKEN": made.json["secret"]}
    seen = json.loads(files.ctl("export", "--include", "groups,jobs,rules,silences", env=env).stdout)
    assert [g["app"] for g in seen["groups"]] == ["first-app"] and {j["group"] for j in seen["jobs"]} == {"first-app"}
    parent = next(j for j in seen["jobs"] if j["name"] == "parent")
    assert parent["children"] == [{"group": "first-app", "name": "glue"}]  # the other one is out of sight
    assert [r["name"] for r in seen["rules"]] == ["one"]
    for words in ("users", "channels", "all"):
        files.ctl("export", "--include", words, env=env, status=NOT_PERMITTED)
