# SPDX-License-Identifier: Apache-2.0
"""peal server as a process: settings, token, start, probes, stop."""

import errno
import http.client
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import threading

import pytest
from support import ledger, webapi
from support.center import Center, binary, clean_environment, free_port
from support.puppet import Puppet
from support.stub_executor import Stub
from support.wait import PATIENCE, wait_until

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def server(*args, **env):
    """(status, output) of a server that is expected to refuse."""
    done = subprocess.run([str(binary()), "server", *args], env=clean_environment(**env), capture_output=True,
                          text=True, timeout=60 * PATIENCE)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("args,env,status,text", [
    (["--colour"], {}, 2, "there is no option --colour"),
    (["--lane.queue", "0"], {}, 2, "lane.queue"),
    (["--misfire.threshold=soon"], {}, 2, "misfire.threshold"),
    (["--listen", "nowhere"], {}, 3, "host:port"),
    (["--listen", "127.0.0.1:99999"], {}, 3, "port"),
    (["--token", ""], {}, 2, "--insecure-no-token"),
    ([], {"PEAL_ACCESS_TOKEN": ""}, 2, "--insecure-no-token"),
    (["--token", "a b"], {}, 2, "without blanks"),
    (["--token", "x" * 257], {}, 2, "256 bytes"),
    (["--zone", "Mars/Olympus"], {}, 3, "Mars/Olympus"),
    (["--db", "oracle://x"], {}, 3, "sqlite:FILE, mysql://"),
    (["--data", "/proc/nowhere/data"], {}, 2, "/proc/nowhere"),
    (["--language", "fr"], {}, 2, "language"),
    (["--log.level", "loud"], {}, 2, "log.level"),
    (["-c", "/nonexistent"], {}, 2, "/nonexistent"),
    (["--admin.password", "abc"], {"PEAL_ACCESS_TOKEN": "t"}, 3, "admin.password: must have 4-20"),
])
def test_a_wrong_setting_is_refused_by_name(tmp_path, args, env, status, text):
    data = [] if "--data" in args else ["--data", str(tmp_path / "data")]
    listen = [] if "--listen" in args else ["--listen", "127.0.0.1:0"]
    got, output = server(*listen, *data, *args, **env)
    assert (got, text in output) == (status, True), output


def test_help_and_the_docs_have_the_same_settings():
    status, text = server("--help")
    assert status == 0
    told = re.findall(r"^  --([\w.-]+)", text, re.M)
    page = re.findall(r"^\| `([\w.-]+)` \|", (DOCS / "configuration.md").read_text(), re.M)
    assert sorted(told) == sorted(page)


def test_a_random_token_is_made_kept_and_wanted(tmp_path):
    center = Center(tmp_path)
    del center._env["PEAL_ACCESS_TOKEN"]
    center.start()
    file = center.data / "token"
    token = file.read_text().strip()
    assert len(token) >= 32 and file.stat().st_mode & 0o777 == 0o600
    assert token in center.output.read_text()
    assert center.open_api("registry", registration(), token=token)["code"] == 200
    assert center.open_api("registry", registration(), token="")["code"] == 500
    center.restart()
    assert file.read_text().strip() == token
    assert center.output.read_text().count(token) == 1  # shown at the first start only
    center.stop()


def registration():
    return {"registryGroup": "EXECUTOR", "registryKey": "token-test", "registryValue": "http://127.0.0.1:1/"}


def test_without_a_token_only_if_one_insists(tmp_path):
    with Center(tmp_path, ["--insecure-no-token"], token="") as center:
        assert center.open_api("registry", registration(), token="")["code"] == 200
        assert "no access token" in center.tail()


def test_settings_come_from_a_file_too(tmp_path):
    file = tmp_path / "peal.properties"
    file.write_text("# settings\nzone=Asia/Shanghai\nadmin.password : from-the-file\nstart.deadline 7s\n")
    center = Center(tmp_path / "c", ["-c", str(file)], password="from-the-file")
    del center._env["PEAL_ADMIN_PASSWORD"]
    with center:
        api = center.api()
        assert api.call("/jobinfo/nextTriggerTime", scheduleType="ONCE",
                        scheduleConf="2090-01-01T00:00:00Z") == ["2090-01-01 08:00:00"]
        job = api.add_job(api.add_group("from-file"), "h")
        row = next(r for r in api.pages("/jobinfo/pageList", jobGroup=0, triggerStatus=-1) if r["id"] == job)
        assert row["startDeadlineMs"] == 7000


def test_a_database_is_its_owners_alone(tmp_path):
    """Also in a folder that was there before, by a shell whose umask lets others read."""
    center = Center(tmp_path)
    center.data.mkdir(parents=True, exist_ok=True)
    center.data.chmod(0o755)
    with center:
        files = list(center.data.glob("peal.db*"))
        assert len(files) >= 3 and not [file for file in files if file.stat().st_mode & 0o077], files


def test_one_center_on_one_database(tmp_path):
    with Center(tmp_path) as center:
        status, output = server("--listen", "127.0.0.1:0", "--data", str(center.data), "--token", "t")
        assert status == 3 and str(center.process.pid) in output
        status, output = server("--listen", f"127.0.0.1:{center.port}", "--data", str(tmp_path / "b"), "--token", "t")
        assert status == 3 and str(center.port) in output
        assert not (tmp_path / "b" / "peal.db").exists()
        assert center.get("/readyz")[0] == 200


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_one_center_on_one_file_whatever_its_name(tmp_path, link):
    with Center(tmp_path / "a") as center:
        other = tmp_path / "b"
        other.mkdir()
        link(center.data / "peal.db", other / "peal.db")
        status, output = server("--listen", "127.0.0.1:0", "--data", str(other), "--token", "t")
        assert status == 3 and "in use by another server, under another name" in output, output
        assert center.get("/readyz")[0] == 200
    if link is os.link:
        with center:
            assert "has 2 names (hard links)" in center.tail(1 << 30)


@pytest.mark.parametrize("how, said", [("removed", "was removed or moved away"), ("moved", "was removed or moved away"),
                                       ("replaced", "another file was put in the place")])
def test_a_database_that_is_taken_away_ends_the_server(tmp_path, how, said):
    """At its next commit, of which there is one a second: nothing is acknowledged into a file that nobody finds."""
    center = Center(tmp_path / "center")
    center.start()
    try:
        center.api().add_group("kept")
        if how == "replaced":
            (tmp_path / "copy.db").write_bytes(b"")
            os.replace(tmp_path / "copy.db", center.data / "peal.db")
        for file in list(center.data.glob("peal.db*")):
            if how == "removed" and file.suffix != ".lock":
                file.unlink()
            elif how == "moved" and file.name == "peal.db":
                file.rename(tmp_path / "elsewhere.db")
        wait_until(lambda: center.process.poll() is not None, "the server to end", 30)
    finally:
        if center.running():
            center.kill()
    assert center.process.returncode == 3 and said in center.tail(1 << 30), center.tail()


@pytest.mark.parametrize("path,body", [
    ("/livez", b"ok\n"), ("/readyz", b"ok\n"), ("/startupz", b"ok\n"), ("/health", b'"status":"UP"'),
    ("/healthz", b'"status":"UP"'), ("/actuator/health", b'"status":"UP"'),
    ("/actuator/health/liveness", b'"status":"UP"'), ("/xxl-job-admin/actuator/health", b'"status":"UP"'),
    ("/readyz?verbose", b"[+] schedule fires"), ("/metrics", b"peal_firings_unaccounted 0\n"),
    ("/actuator/prometheus", b"# TYPE peal_lateness_seconds histogram")])
def test_probes_need_no_login(center, path, body):
    status, _, got = center.get(path)
    assert status == 200 and body in got


def test_probes_answer_head_too(center):
    status, headers, body = webapi.request(center.port, "HEAD", "/readyz")
    assert (status, body) == (200, b"") and headers["Content-Length"] == "3"


def test_stop_answers_what_is_open(tmp_path):
    """SIGTERM while edits stream in: each is answered, or its connection closed; the end is clean."""
    with Center(tmp_path) as center:
        api = center.api()
        group = api.add_group("stopping")
        made, stop = [], threading.Event()

        def insert():
            while not stop.is_set():
                try:
                    made.append(api.add_job(group, "h"))
                except (OSError, webapi.ApiError, webapi.http.client.HTTPException):
                    return
        threads = [threading.Thread(target=insert) for _ in range(3)]
        for t in threads:
            t.start()
        wait_until(lambda: len(made) > 20, "edits")
        center.stop()
        stop.set()
        for t in threads:
            t.join()
        center.start()
        rows = {r["id"] for r in center.api().pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1)}
        assert set(made) <= rows  # what was answered is there


def test_stop_does_not_wait_for_an_executor_that_says_nothing(tmp_path):
    with Center(tmp_path) as center:
        api = center.api()
        group = api.add_group("silent-log")
        release = threading.Event()
        with Stub(center, "silent-log") as stub:
            wait_until(lambda: api.addresses("silent-log"), "the stub")
            job = api.add_job(group, "h")
            api.trigger(job)
            run = stub.wait_runs(1, job)[0]
            asked = threading.Event()

            def silent(_):
                asked.set()
                release.wait(60 * PATIENCE)
                return {"code": 200}
            stub.answers["log"] = silent

            def detail():
                try:
                    api.log_detail(run["logId"])
                except (OSError, webapi.ApiError, webapi.http.client.HTTPException):
                    pass
            waiting = [threading.Thread(target=detail) for _ in range(4)]
            for t in waiting:
                t.start()
            assert asked.wait(30 * PATIENCE)
            assert api.groups()  # pages are still served
            center.stop()
            release.set()
            for t in waiting:
                t.join()


def test_a_second_signal_ends_at_once(tmp_path):
    with Center(tmp_path) as center:
        center._down = True
        center.process.send_signal(signal.SIGINT)
        center.process.send_signal(signal.SIGINT)
        assert center.process.wait(30 * PATIENCE) == 0


def early_end(tmp_path, command, *before):
    """The exit status of a command that gets SIGTERM while it reads its settings, which never come."""
    fifo = tmp_path / "settings"
    os.mkfifo(fifo)
    own = ["--port", "0"] if command == "executor" else ["--data", str(tmp_path / "data")]
    process = subprocess.Popen([*before, str(binary()), command, "-c", str(fifo), *own], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, cwd=tmp_path, env=clean_environment(PEAL_ACCESS_TOKEN="t" * 20))
    writer = None

    def opened():
        assert process.poll() is None
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as e:
            assert e.errno == errno.ENXIO  # nothing reads yet
            return None
    try:
        writer = wait_until(opened, f"peal {command} to read its settings")
        pid = process.pid
        if before:
            pid = int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        os.kill(pid, signal.SIGTERM)
        if command == "executor":
            os.close(writer)  # it goes on, and finds the signal when it takes them
            writer = None
        return process.wait(60 * PATIENCE)
    finally:
        if writer is not None:
            os.close(writer)
        process.kill()
        process.wait()


def test_a_signal_before_there_is_a_center_ends_it(tmp_path):
    assert early_end(tmp_path, "server") == 0


@pytest.mark.parametrize("command", ["server", "executor"])
def test_an_early_signal_is_not_lost_on_process_1(tmp_path, command):
    alone = ["unshare", "--pid", "--fork", "--kill-child"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a process namespace takes root and a kernel that allows it")
    assert early_end(tmp_path, command, *alone) == 0


def test_a_signal_before_the_first_user_is_made_is_no_failure(tmp_path):
    center = Center(tmp_path / "c")
    center.launch()
    wait_until(lambda: center.answers("/livez"), "the first answer", 20, 0.005)
    center.process.send_signal(signal.SIGTERM)
    assert center.process.wait(60 * PATIENCE) == 0
    assert "level=error" not in center.tail() and "stopped" in center.tail()
    with center:  # what the first start did not do the second does
        assert center.get("/readyz")[0] == 200


def test_kill_nine_loses_no_acknowledged_edit(tmp_path):
    with Center(tmp_path) as center:
        api = center.api()
        group = api.add_group("killed")
        jobs = []
        for _ in range(3):
            jobs += [api.add_job(group, "h", jobDesc=f"job {len(jobs)}") for _ in range(5)]
            center.restart()
            rows = api.pages("/jobinfo/pageList", jobGroup=group, triggerStatus=-1)
            assert sorted(r["id"] for r in rows) == jobs


def test_the_log_of_a_deleted_job_goes(tmp_path):
    """And no other's. It goes in the background, if need be in the next life."""
    with Center(tmp_path) as center, Puppet(center, "tests") as puppet:
        api = center.api()
        group = api.add_group("tests")
        goes, stays = (api.add_job(group, name) for name in ("goes", "stays"))
        for job in (goes, stays):
            for _ in range(3):
                api.trigger(job)
            puppet.wait_for_runs(3, job)
        ledger.settle(center)
        api.delete_job(goes)
        center.restart()
        wait_until(lambda: [r[0] for r in ledger.rows(center, "SELECT DISTINCT job_id FROM xxl_job_log")] == [stays],
                   "the log of the deleted job to go")
        assert ledger.number(center, "SELECT count(*) FROM xxl_job_log WHERE job_id = ? AND handle_code = 200", stays) == 3


def test_full_of_waiting_requests_is_said(tmp_path):
    """Requests beyond the bound are refused, not kept. The center stands still until all have come: how fast they come
    does not matter."""
    with Center(tmp_path, args=["--limit.login", "0"]) as center:
        head = (f"POST /auth/doLogin HTTP/1.1\r\nHost: 127.0.0.1:{center.port}\r\n"
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 26\r\n\r\n")
        sockets = []
        center.process.send_signal(signal.SIGSTOP)
        try:
            for n in range(1300):  # of 1,300 names, so that each costs the time of a hash
                s = socket.create_connection(("127.0.0.1", center.port), timeout=60 * PATIENCE)
                s.sendall(f"{head}userName={n:06}&password=x".encode())
                sockets.append(s)
            center.process.send_signal(signal.SIGCONT)
            assert any(b" 503 " in s.recv(64) for s in sockets[-100:])
            assert center.get("/livez")[0] == 200
        finally:
            center.process.send_signal(signal.SIGCONT)
            for s in sockets:
                s.close()


def test_it_takes_the_descriptors_that_it_may_have(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))  # as a login shell has it
    try:
        with Center(tmp_path) as center:
            limits = pathlib.Path(f"/proc/{center.process.pid}/limits").read_text()
            soft, hard = re.search(r"^Max open files +(\S+) +(\S+)", limits, re.M).groups()
            assert soft == hard == str(before[1]) != "1024"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_environment_is_not_needed(tmp_path):
    """An empty environment, no HOME, no TZ: it starts."""
    port = free_port()
    process = subprocess.Popen([str(binary()), "server", "--listen", f"127.0.0.1:{port}", "--data", str(tmp_path / "d")],
                               env={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        def ready():
            try:
                return webapi.request(port, "GET", "/readyz")[0] == 200
            except OSError:
                return False
        wait_until(ready, "/readyz", 20)
        assert json.loads(webapi.request(port, "GET", "/health")[2])["status"] == "UP"
    finally:
        process.terminate()
        assert process.wait(30 * PATIENCE) == 0


def test_every_answer_is_counted_once(center):
    """On connections of their own, kept alive on either loop, moving between the loops, and refused ones."""
    def count():
        return center.metric("peal_http_requests_total")  # its own answer is not in it yet

    before = count()
    connection = http.client.HTTPConnection("127.0.0.1", center.port, timeout=15 * PATIENCE)
    for path in ["/toLogin"] * 5 + ["/livez"] * 3 + ["/toLogin", "/livez", "/nothing/here"]:
        connection.request("GET", path)
        assert connection.getresponse().read()
    connection.request("GET", "/toLogin", headers={"Transfer-Encoding": "nonsense"})
    assert connection.getresponse().status == 501
    connection.close()
    asked = itertools.count(1)
    wait_until(lambda: count() == before + next(asked) + 12, "each to be counted, and once")
