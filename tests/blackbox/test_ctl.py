# SPDX-License-Identifier: Apache-2.0
"""`peal ctl` against a real center with a real executor: what it prints, what it does, how it ends."""

import http.server
import json
import os
import pathlib
import pty
import re
import stat
import subprocess
import threading

import pytest
from support.center import PASSWORD, ROOT, Center, binary, free_port
from support.ctl import CONFLICT, FAILED, NOT_FOUND, NOT_PERMITTED, TIMED_OUT, UNREACHABLE, USAGE, Ctl
from support.executor import Executor
from support.tls_center import TlsCenter
from support.v1 import V1
from support.wait import PATIENCE, wait_until

class Site:
    """A center, an executor with the sample handlers, a user who has logged in."""

    def __init__(self, center, ctl, executor):
        self.center, self.ctl, self.executor = center, ctl, executor
        self.api = center.api()
        self.group = self.api.add_group("tools")
        wait_until(lambda: self.api.addresses("tools"), "registration")
        self.jobs = {}
        for name, handler in [("all is well", "demoJobHandler"), ("never good", "failJobHandler"),
                              ("asleep", "sleepJobHandler")]:
            self.jobs[name] = self.api.add_job(self.group, handler, jobDesc=name)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ctl")
    with Center(folder / "center") as center, \
            Executor(folder / "executor", center.url, ["--peal.executor.samples=demo,fail,sleep"], app="tools") as executor:
        ctl = Ctl(folder / "home")
        ctl.login(center.url)
        yield Site(center, ctl, executor)


@pytest.fixture
def ctl(site):
    return site.ctl


# ---- login ---------------------------------------------------------------------------------------


def test_a_login_keeps_a_token_and_not_the_password(site, tmp_path):
    ctl = Ctl(tmp_path / "home")
    done = ctl.login(site.center.url + "/")
    assert "logged in as admin" in done.stdout and str(ctl.kept) in done.stdout
    assert stat.S_IMODE(ctl.kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(ctl.kept.parent.stat().st_mode) == 0o700
    kept = json.loads(ctl.kept.read_text())
    assert kept["url"] == site.center.url and kept["token"].startswith("pat_") and PASSWORD not in ctl.kept.read_text()
    assert [p.name for p in ctl.kept.parent.iterdir()] == ["ctl.json"]
    assert ctl.json("job", "list")
    tokens = V1(site.center).get("/tokens")["items"]
    assert any(t["name"].startswith("peal ctl") and kept["token"].startswith(t["prefix"]) for t in tokens)
    assert "forgotten" in ctl("logout").stdout and not ctl.kept.exists()
    assert "peal ctl login" in ctl("job", "list", env={"PEAL_URL": site.center.url}, status=NOT_PERMITTED).stderr


def test_a_login_with_a_wrong_password_keeps_nothing(site, tmp_path):
    ctl = Ctl(tmp_path / "home")
    done = ctl("login", site.center.url, "--user", "nobody", "--password-file", "-", given="wrong\n", status=NOT_PERMITTED)
    assert "login" in done.stderr and not ctl.kept.exists()
    assert "--password-file" in ctl("login", site.center.url, "--user", "admin", status=USAGE).stderr
    assert "--user" in ctl("login", site.center.url, status=USAGE).stderr


def test_a_token_of_a_file_is_kept_and_one_of_the_environment_is_used(site, tmp_path):
    made = V1(site.center).ask("POST", "/tokens", {"name": "t", "permissions": ["read"], "groups": None, "days": 1})
    secret = made.json["secret"]
    (tmp_path / "token").write_text(secret + "\n")
    ctl = Ctl(tmp_path / "home")
    ctl("login", site.center.url, "--token-file", tmp_path / "token")
    assert json.loads(ctl.kept.read_text())["token"] == secret
    other = Ctl(tmp_path / "other", PEAL_URL=site.center.url)
    assert len(other.json("job", "list", env={"PEAL_TOKEN": secret})) == len(ctl.json("job", "list"))
    assert other.json("job", "list", "--token-file", "-", given=secret)
    done = other("job", "stop", site.jobs["asleep"], env={"PEAL_TOKEN": secret}, status=NOT_PERMITTED)
    assert "right" in done.stderr
    done = other("job", "list", env={"PEAL_TOKEN": "pat_wrong"}, status=NOT_PERMITTED)
    assert "log in again" in done.stderr and "pat_wrong" not in done.stderr


def test_the_kept_token_goes_to_its_center_only(site):
    asked = []
    with Fake(lambda path: (200, b"{}"), asked) as fake:
        done = site.ctl("job", "list", "--url", fake.url, status=NOT_PERMITTED)
        assert f"peal ctl login {fake.url}" in done.stderr and asked == []


def test_a_file_that_others_may_read_is_refused(site, tmp_path):
    ctl = Ctl(tmp_path / "home")
    ctl.login(site.center.url)
    ctl.kept.chmod(0o640)
    assert "chmod 600" in ctl("job", "list", status=FAILED).stderr
    ctl.kept.chmod(0o600)
    ctl.kept.write_text("{")
    assert "log in again" in ctl("job", "list", status=FAILED).stderr


# ---- jobs ----------------------------------------------------------------------------------------


def test_jobs_as_table_names_and_json(site, ctl):
    table = ctl("job", "list", "--sort", "id").stdout.splitlines()
    assert table[0].split() == ["ID", "NAME", "GROUP", "STATE", "TYPE", "SCHEDULE", "NEXT", "LAST"]
    assert [re.split(r"  +", row)[:4] for row in table[1:4]] == \
        [[str(n), name, "tools", "stopped"] for name, n in site.jobs.items()]
    names = ctl("job", "list", "-o", "name", "--sort", "id").stdout.splitlines()
    assert names[:3] == list(site.jobs)
    assert [j["name"] for j in ctl.json("job", "list", "--match", "well")] == ["all is well"]
    limited = ctl("job", "list", "--limit", 1, "-o", "name")
    assert len(limited.stdout.splitlines()) == 1 and "--limit" in limited.stderr
    assert ctl.json("job", "list", "--group", "nobody") == []
    assert "no job" in ctl("job", "list", "--group", "nobody").stderr


def test_a_job_by_id_and_by_name(site, ctl):
    number = site.jobs["asleep"]
    assert ctl.json("job", "get", number) == ctl.json("job", "get", "asleep")
    lines = dict(re.split(r" +", line, maxsplit=1) for line in ctl("job", "get", "asleep").stdout.splitlines())
    assert lines["id"] == str(number) and lines["task.handler"] == "sleepJobHandler"
    assert ctl("job", "get", number, "-o", "name").stdout == "asleep\n"


def test_a_job_that_is_not_there(site, ctl):
    assert "did you mean asleep?" in ctl("job", "get", "aslep", status=NOT_FOUND).stderr
    far = ctl("job", "get", "xyzzy-xyzzy", status=NOT_FOUND).stderr
    assert "there is no job xyzzy-xyzzy" in far and "did you mean" not in far and "peal ctl job list" in far
    assert ctl("job", "get", 999999, status=NOT_FOUND).stderr.startswith("peal ctl job get: ")


def test_a_name_that_several_jobs_have(site, ctl):
    ids = [site.api.add_job(site.group, "demoJobHandler", jobDesc="twin") for _ in range(2)]
    done = ctl("job", "get", "twin", status=CONFLICT)
    assert all(f"{n} of tools" in done.stderr for n in ids)


def test_a_job_is_made_changed_started_stopped(site, ctl):
    made = ctl("job", "add", "--name", "by hand", "--group", "tools", "--cron", "0 30 2 * * ?", "--zone", "Europe/Berlin",
               "--handler", "demoJobHandler", "--param", "a b", "--set", "running.timeoutS=60", "--set",
               "alarmEmails=[\"a@example.com\"]").stdout.strip()
    job = ctl.json("job", "get", made)
    assert (job["schedule"]["type"], job["schedule"]["conf"], job["schedule"]["zone"]) == \
        ("CRON", "0 30 2 * * ?", "Europe/Berlin")
    assert job["task"] == {"kind": "BEAN", "handler": "demoJobHandler", "param": "a b"}
    assert (job["running"]["timeoutS"], job["alarmEmails"], job["state"]) == (60, ["a@example.com"], "stopped")
    edited = ctl.json("job", "edit", "by hand", "--cron", "0 0 3 * * ?")
    assert edited["schedule"]["conf"] == "0 0 3 * * ?" and edited["schedule"]["zone"] == "Europe/Berlin"
    assert edited["version"] > job["version"]
    assert re.match(rf"{made} by hand: scheduled, next \d{{4}}-", ctl("job", "start", "by hand").stdout)
    assert ctl.json("job", "stop", made, "--reason", "release")["state"] == "stopped"
    audit = ctl.json("audit", "--object", f"job:{made}", "--since", "1h")
    assert [e["action"] for e in audit] == ["job.stop", "job.start", "job.update", "job.create"]
    assert audit[0]["reason"] == "release" and "release" in ctl("audit", "--action", "job.stop").stdout


def test_a_job_is_made_of_a_file(site, ctl, tmp_path):
    (tmp_path / "job.json").write_text(json.dumps({
        "name": "of a file", "groupId": site.group, "schedule": {"type": "FIX_RATE", "conf": "3600"},
        "task": {"kind": "BEAN", "handler": "demoJobHandler"}}))
    made = ctl("job", "add", "-f", tmp_path / "job.json", "--owner", "ops-7", "--start").stdout.strip()
    job = ctl.json("job", "get", made)
    assert (job["owner"], job["state"], job["schedule"]["conf"]) == ("ops-7", "scheduled", "3600")
    ctl("job", "stop", made)
    (tmp_path / "bad.json").write_text("{\n\"name\": }")
    assert "bad.json, line 2" in ctl("job", "add", "-f", tmp_path / "bad.json", status=USAGE).stderr
    (tmp_path / "list.json").write_text("[]")
    assert "not a JSON object" in ctl("job", "add", "-f", tmp_path / "list.json", status=USAGE).stderr


@pytest.mark.parametrize("args,status,said", [
    (["--name", "x", "--group", "tools", "--cron", "0 0 25 * * ?", "--handler", "h"], FAILED, "schedule/conf: cron: hour"),
    (["--name", "x", "--group", "tools", "--set", "task.nothing=1"], FAILED, "task/nothing: "),
    (["--group", "tools"], USAGE, "--name"),
    (["--name", "x"], USAGE, "--group"),
    (["--name", "x", "--group", "tolls"], NOT_FOUND, "did you mean tools?"),
    (["--name", "x", "--group", "tools", "--cron", "* * * * * ?", "--every", "5"], USAGE, "one schedule"),
    (["--name", "x", "--group", "tools", "--set", "novalue"], USAGE, "PATH=VALUE"),
    (["--name", "x", "--group", "tools", "--set", "a..b=1"], USAGE, "a..b"),
    ([], USAGE, "--help"),
])
def test_a_job_that_is_refused(site, ctl, args, status, said):
    before = len(ctl.json("job", "list"))
    assert said in ctl("job", "add", *args, status=status).stderr
    assert len(ctl.json("job", "list")) == before


def test_start_goes_on_behind_a_failure(site, ctl):
    other = ctl("job", "add", "--name", "second", "--group", "tools", "--every", "3600", "--handler", "h").stdout.strip()
    done = ctl("job", "start", "no such job", other, status=NOT_FOUND)
    assert "second: scheduled" in done.stdout
    ctl("job", "stop", other)


# ---- runs ----------------------------------------------------------------------------------------


def test_trigger_prints_the_run(site, ctl):
    run = int(ctl("job", "trigger", "all is well", "--param", "hello").stdout)
    assert ctl.json("run", "get", run)["run"]["param"] == "hello"
    wait_until(lambda: ctl.json("run", "get", run)["run"]["outcome"] == "succeeded", "the run to succeed")
    assert ctl.json("job", "trigger", "asleep", "--param", "1")["runId"] > run


def test_trigger_waits_for_the_outcome(site, ctl):
    good = ctl("job", "trigger", "asleep", "--param", "1", "--wait")
    assert re.fullmatch(r"\d+\n", good.stdout) and good.stderr == ""
    bad = ctl("job", "trigger", "never good", "--param", "no disk", "--wait", status=FAILED)
    assert f"run {bad.stdout.strip()} failed" in bad.stderr and "no disk" in bad.stderr
    assert ctl.json("job", "trigger", "asleep", "--param", "1", "--wait")["outcome"] == "succeeded"
    listed = ctl("run", "list", "--job", "never good", "--outcome", "failed", "--since", "1h").stdout
    assert re.search(rf"^{bad.stdout.strip()} +never good +tools +failed .* no disk$", listed, re.M)
    assert bad.stdout.strip() in ctl("run", "list", "-o", "name").stdout.splitlines()


def test_trigger_prints_the_log_and_the_outcome(site, ctl, tmp_path):
    (tmp_path / "param").write_text("of a file")
    good = ctl("job", "trigger", "all is well", "--logs", "--param", f"@{tmp_path / 'param'}")
    run = re.fullmatch(r"run (\d+)\n", good.stderr)[1]
    assert "of a file" in good.stdout
    assert good.stdout == ctl("logs", run).stdout == ctl("logs", run, "-f").stdout
    lines = ctl("logs", run, "--from-line", 2).stdout
    assert good.stdout.endswith(lines) and len(lines) < len(good.stdout)
    quoted = ctl("logs", run, "-o", "json").stdout.splitlines()
    assert "\n".join(map(json.loads, quoted)) + "\n" == good.stdout
    bad = ctl("job", "trigger", "never good", "--logs", "--param", "no disk", status=FAILED)
    assert "no disk" in bad.stdout and "failed: " in bad.stderr


def test_a_run_that_no_executor_took_has_no_log_and_an_end(site, ctl):
    site.api.add_group("tools-empty")
    ctl("job", "add", "--name", "alone", "--group", "tools-empty", "--handler", "h")
    done = ctl("job", "trigger", "alone", "--logs", status=FAILED)
    assert done.stdout == "" and "unroutable" in done.stderr


def test_a_wait_that_is_too_long(site, ctl):
    done = ctl("job", "trigger", "asleep", "--param", "600000", "--wait", "--timeout", f"{round(5 * PATIENCE)}s",
               status=TIMED_OUT)
    run = done.stdout.strip()
    assert ctl.json("run", "get", run)["run"]["outcome"] == "open"
    ctl("logs", run, "-f", "--timeout", "1", status=TIMED_OUT)
    assert "--yes" in ctl("run", "kill", run, status=USAGE).stderr
    assert ctl.json("run", "get", run)["run"]["outcome"] == "open"
    assert f"{run} killed" in ctl("run", "kill", run, "--yes").stdout
    assert "killed" in ctl("run", "get", run).stdout
    ctl("run", "kill", 999999999, "--yes", status=NOT_FOUND)


def test_nodes(site, ctl):
    node, = ctl.json("node", "list")
    assert node["self"] is True and node["address"] == f"127.0.0.1:{site.center.port}"
    header, row = ctl("node", "list").stdout.splitlines()
    assert header.split()[:3] == ["NAME", "STATE", "SELF"] and row.split()[:2] == [node["name"], "up"]


def test_executors(site, ctl):
    assert ctl("executor", "list", "-o", "name").stdout.split() == [e["address"] for e in ctl.json("executor", "list")]
    row = ctl("executor", "list", "--group", "tools", "--state", "up").stdout.splitlines()[1]
    assert row.startswith("http://127.0.0.1:") and " up " in row


def test_alarms(site, ctl):
    assert "no alarm" in ctl("alarm", "list").stderr
    v1 = V1(site.center)
    hook = v1.ask("POST", "/alarm-channels", {"name": "hook", "kind": "webhook",
                                              "settings": {"url": "https://hooks.example.com/x"}})
    assert hook.status == 201, hook.json
    rule = v1.ask("POST", "/alarm-rules", {"name": "Tools fail", "kind": "failed", "level": "critical",
                                           "groupId": site.group, "channels": ["hook"]})
    assert rule.status == 201, rule.json
    job = site.api.add_job(site.group, "failJobHandler", jobDesc="fails once")
    ctl("job", "trigger", job, "--param", "no disk", "--wait", status=FAILED)
    alarm = wait_until(lambda: ctl.json("alarm", "list"), "an alarm", 40)[0]
    row = ctl("alarm", "list").stdout.splitlines()[1]
    assert row.startswith(f"{alarm['id']} ") and "critical  Tools fail  tools" in row
    closed = v1.ask("POST", f"/alarms/{alarm['id']}/close")
    assert closed.status == 200, closed.json
    assert ctl.json("alarm", "list") == []
    assert str(alarm["id"]) in ctl("alarm", "list", "--all", "-o", "name").stdout.split()


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("args,said", [
    (["job"], "job list, job get"),
    (["jobs"], "peal ctl --help"),
    (["job", "list", "--nothing"], "there is no option --nothing"),
    (["job", "list", "too", "many"], "too many: too"),
    (["job", "list", "-o", "yaml"], "table, json or name"),
    (["job", "list", "--limit", "0"], "from 1 to"),
    (["job", "list", "--timeout", "soon"], "--timeout"),
    (["job", "get"], "JOB is missing"),
    (["job", "list", "--url"], "a value is missing after --url"),
    (["job", "list", "--url", "ftp://x"], "http://HOST"),
    (["job", "list", "--url", "http://u:p@h/"], "without a user"),
    (["logs", "seven"], "by its id"),
    (["--limit", "5", "job", "list"], "there is no option --limit"),
    (["-o", "json", "jobs"], "no command jobs"),
    (["--url", "http://127.0.0.1:1"], "a command is missing"),
    (["job", "--url", "http://127.0.0.1:1", "list"], "no command job --url"),
    (["completion", "fish"], "bash"),
])
def test_words_that_are_wrong(ctl, args, said):
    done = ctl(*args, status=USAGE)
    assert said in done.stderr and done.stdout == ""


def test_options_of_every_command_may_stand_in_front_of_it(site, ctl):
    behind = ctl("job", "list", "-o", "name", "--url", site.center.url).stdout
    for words in (["-o", "name", "--url", site.center.url], [f"--url={site.center.url}", "--output=name", "--timeout", "1m"]):
        assert ctl(*words, "job", "list").stdout == behind and behind
    assert ctl("-o", "json", "job", "list", "-o", "name").stdout == behind  # the last one counts
    away = f"http://127.0.0.1:{free_port()}"
    assert away in Ctl(ctl.home, PEAL_TOKEN="x")("--url", away, "job", "list", status=UNREACHABLE).stderr
    assert ctl("--url", away, "--help").stdout == ctl("--help").stdout
    assert ctl("-o", "json", "job", "get", "--help").stdout.startswith("usage: peal ctl job get")


def test_without_a_center(tmp_path):
    assert "peal ctl login URL" in Ctl(tmp_path)("job", "list", status=USAGE).stderr


def verbs():
    out = subprocess.run([str(binary()), "ctl", "--help"], capture_output=True, text=True, check=True).stdout
    return [m.strip() for m in re.findall(r"^  ([a-z]+(?: [a-z]+)?) +[a-z]", out.split("Options")[0], re.M)]


def test_each_verb_explains_itself(ctl):
    names = verbs()
    assert len(names) >= 15 and {"login", "job trigger", "logs", "audit"} <= set(names)
    for verb in names:
        told = ctl(*verb.split(), "--help").stdout
        assert told.startswith(f"usage: peal ctl {verb}") and "Exit status" in told
    assert ctl("--help").stdout == subprocess.run([str(binary()), "help", "ctl"], capture_output=True, text=True,
                                                  check=True).stdout


def test_the_manual_page_is_what_the_table_says(ctl):
    made, page = ctl("man").stdout, ROOT / "man" / "peal-ctl.1"
    assert made == page.read_text(), f"peal ctl man > {page}"
    assert all(f"\n.Ss {verb}" in made for verb in verbs())


# ---- completion ----------------------------------------------------------------------------------


def complete(site, line, env=None):
    """What bash offers for a line with the cursor at its end."""
    script = ROOT / "packaging" / "completion" / "peal"
    programs = site.ctl.home / "bin"
    programs.mkdir(exist_ok=True)
    if not (programs / "peal").exists():
        (programs / "peal").symlink_to(binary())
    quoted = [f"'{word}'" if "'" not in word else f'"{word}"' for word in line]
    program = (f'PATH={programs}:$PATH; source {script}; COMP_WORDS=({" ".join(quoted)}); '
               f'COMP_CWORD={len(line) - 1}; _peal; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True, check=True, timeout=60 * PATIENCE,
                          env={**site.ctl.env, **(env or {})})
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


def test_the_completion_is_what_is_installed(ctl):
    path = ROOT / "packaging" / "completion" / "peal"
    assert ctl("completion", "bash").stdout == path.read_text(), f"peal ctl completion bash > {path}"


def test_completion(site):
    v1 = V1(site.center)
    for name in ("bell tower", "drum"):
        assert v1.ask("POST", "/alarm-channels", {"name": name, "kind": "slack",
                                                  "settings": {"url": "https://hooks.slack.com/services/x"}}).status == 201
    assert complete(site, ["peal", "ct"]) == ["ctl"]
    assert {"job", "run", "logs", "audit"} <= set(complete(site, ["peal", "ctl", ""]))
    assert complete(site, ["peal", "ctl", "job", "st"]) == ["start", "stop"]
    assert complete(site, ["peal", "ctl", "job", "trigger", "--wa"]) == ["--wait"]
    assert complete(site, ["peal", "ctl", "job", "list", "--state", ""]) == ["scheduled", "stopped"]
    assert complete(site, ["peal", "ctl", "job", "list", "-o", "j"]) == ["json"]
    assert complete(site, ["peal", "ctl", "--to"]) == ["--token-file"]
    assert complete(site, ["peal", "ctl", "-o", "j"]) == ["json"]
    assert complete(site, ["peal", "ctl", "-o", "json", "--url=http://x", "job", "st"]) == ["start", "stop"]
    for line, name in [(["job", "get", "asl"], "asleep"), (["job", "get", "all\\ is"], "all\\ is\\ well"),
                       (["run", "list", "--job", "never"], "never\\ good"), (["alarm", "test", "bell"], "bell\\ tower")]:
        # a center that takes longer than a second has nothing to offer
        wait_until(lambda words=line, wanted=name: complete(site, ["peal", "ctl", *words]) == [wanted], name, 30)
    assert complete(site, ["peal", "ctl", "job", "get", "asl"], {"PEAL_URL": f"http://127.0.0.1:{free_port()}",
                                                                 "PEAL_TOKEN": "x"}) == []


# ---- a center that is away, or that is none ------------------------------------------------------


class Fake:
    """Answers each request with answer(path) = (status, body)."""

    def __init__(self, answer, asked=None, wrap=lambda socket: socket):
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                if asked is not None:
                    asked.append((self.path, dict(self.headers)))
                status, body, *more = answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                for name, value in more:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # it has heard enough

            do_POST = do_PATCH = do_DELETE = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = wrap(self.server.socket)
        self.server.daemon_threads = True
        fake.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def stranger(tmp_path):
    return Ctl(tmp_path / "home", PEAL_TOKEN="pat_of_the_tests")


def test_a_center_that_is_away(stranger):
    url = f"http://127.0.0.1:{free_port()}"
    done = stranger("job", "list", "--url", url, status=UNREACHABLE)
    assert f"cannot reach the center at {url}" in done.stderr and "PEAL_URL" in done.stderr


@pytest.mark.parametrize("answer,status,said", [
    ((200, b"<html>"), FAILED, "not from a center"),
    ((200, b"[]"), FAILED, "not a list"),
    ((200, b'{"items": {}}'), FAILED, "not a list"),
    ((500, b""), FAILED, "HTTP 500"),
    ((302, b"", ("Location", "http://127.0.0.1:1/")), FAILED, "HTTP 302"),
    ((503, b'{"detail": "not\\u001b[2J now"}', ("Retry-After", "600")), UNREACHABLE, "not [2J now\nTry again later"),
    ((404, b'{"detail": 7, "errors": [1, {"field": 2}]}'), NOT_FOUND, "HTTP 404"),
    ((200, b'{"items": [' + b"[" * 100_000), FAILED, "not from a center"),
    ((200, b" " * (33 << 20)), FAILED, "larger than 32 MiB"),
], ids=["html", "array", "object", "empty", "redirect", "control", "types", "deep", "large"])
def test_answers_that_no_center_gives(stranger, answer, status, said):
    with Fake(lambda path: answer) as fake:
        done = stranger("job", "list", "--url", fake.url, status=status)
        assert said in done.stderr and done.stdout == "" and "\x1b" not in done.stderr


def test_an_answer_that_says_not_now_is_asked_for_again(stranger):
    answers = [(503, b'{"detail": "wait"}', ("Retry-After", "0")), (200, b'{"items": [], "page": {"next": null}}')]
    asked = []
    with Fake(lambda path: answers[len(asked) - 1], asked) as fake:
        assert stranger.json("job", "list", "--url", fake.url) == []
    assert len(asked) == 2 and asked[0][1]["Authorization"] == "Bearer pat_of_the_tests"


def test_control_characters_do_not_reach_a_table(stranger):
    items = [{"id": 1, "name": "a\x1b]0;title\x07b\nc\u009b2J", "group": {"app": "g"}}]
    page = json.dumps({"items": items, "page": {"next": None}}).encode()
    with Fake(lambda path: (200, page)) as fake:
        table = stranger("job", "list", "--url", fake.url).stdout
        assert "a ]0;title b c 2J" in table and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", table)
        assert stranger.json("job", "list", "--url", fake.url) == items


def test_a_terminal_gets_colours_of_a_log_and_nothing_else(stranger):
    log = {"fromLine": 1, "toLine": 1, "lines": ["\x1b[31mred\x1b[0m\x1b[2Jgone\x07\ttab"], "end": True, "state": "finished"}
    with Fake(lambda path: (200, json.dumps(log).encode())) as fake:
        assert stranger("logs", 1, "--url", fake.url).stdout == log["lines"][0] + "\n"
        ours, theirs = pty.openpty()
        subprocess.run([str(binary()), "ctl", "logs", "1", "--url", fake.url], stdout=theirs, env=stranger.env,
                       timeout=60 * PATIENCE, check=True)
        os.close(theirs)
        seen = os.read(ours, 4096).decode()
        os.close(ours)
    assert seen == "\x1b[31mred\x1b[0m [2Jgone \ttab\r\n"


# ---- TLS -----------------------------------------------------------------------------------------


def test_https_is_verified_by_the_named_authority(stranger, tmp_path):
    ssl = pytest.importorskip("ssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                    key, "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    asked = []
    with Fake(lambda path: (200, b'{"items": [], "page": {"next": null}}'), asked,
              wrap=lambda socket: context.wrap_socket(socket, server_side=True)) as fake:
        url = fake.url.replace("http:", "https:")
        done = stranger("job", "list", "--url", url, status=UNREACHABLE)
        assert "--ca" in done.stderr and asked == []
        assert stranger.json("job", "list", "--url", url, "--ca", certificate) == []
        assert stranger.json("job", "list", env={"PEAL_URL": url, "PEAL_CA": str(certificate)}) == []
        other = stranger("job", "list", "--url", url.replace("127.0.0.1", "localhost"), "--ca", certificate,
                         status=UNREACHABLE)
        assert "certificate" in other.stderr and len(asked) == 2


def test_a_center_that_speaks_tls(tmp_path):
    with TlsCenter(tmp_path / "center") as center:
        ctl = Ctl(tmp_path / "home")
        refused = ctl("login", center.url, "--user", "admin", "--password-file", "-", given=PASSWORD + "\n", status=UNREACHABLE)
        assert "--ca" in refused.stderr and not ctl.kept.exists()
        ctl.login(center.url, "--ca", center.ca)
        assert json.loads(ctl.kept.read_text())["ca"] == str(pathlib.Path(center.ca).resolve())
        assert ctl.json("job", "list") == []  # by the kept certificates
        center.stop()
        assert "cannot reach the center" in ctl("job", "list", status=UNREACHABLE).stderr
