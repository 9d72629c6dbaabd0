# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/, built as a user would against an installed libpeal, and run."""

import contextlib
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import ROOT, TOKEN, Center, clean_environment  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.installed import Installed  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402
from support.webapi import finished  # noqa: E402

NEEDS = {"sharded_scan": ["-lsqlite3"], "event_loop": ["-pthread"]}
EXAMPLES = sorted(p.stem for p in (ROOT / "examples").glob("*.c"))


class Workshop:
    """Builds each example once in each form."""

    def __init__(self, folder):
        self.folder = folder
        self.installed = Installed(folder / "installed")
        self.built = {}

    def program(self, name, form="shared"):
        if (name, form) not in self.built:
            source = self.installed.prefix / "share" / "doc" / "peal" / "examples" / f"{name}.c"
            self.built[name, form] = self.installed.compile(source, self.folder / f"{name}-{form}", form == "static",
                                                            NEEDS.get(name, []))
        return str(self.built[name, form])


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


class Example(Executor):
    """An example that takes an executor's options. Its address is what it tells its center."""

    def __init__(self, folder, center, workshop, name, form="shared", command=None):
        super().__init__(folder, center.url, env=workshop.installed.environment(), app=name)
        self.center, self.app = center, name
        self.command = [workshop.program(name, form), *(command or self.command[2:])]

    def _address(self):
        if not self.running():
            raise RuntimeError(f"{self.app} ended with {self.process.returncode}:\n{self.said()}")
        told = [body["registryValue"] for body in self.center.of("registry") if body["registryKey"] == self.app]
        return told and told[-1]


# -- every one of them --


@pytest.mark.parametrize("form", ["shared", "static"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_it_builds_without_a_warning(workshop, name, form):
    program = workshop.program(name, form)
    needed = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True).stdout
    assert ("[libpeal.so.0]" in needed) == (form == "shared")


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_head_says_how_it_is_built(name):
    head = (ROOT / "examples" / f"{name}.c").read_text().split("*/")[1]
    assert re.search(rf"cc {name}\.c \$\(pkg-config --cflags --libs peal\b.*\)( -pthread)? -o {name}\n", head)
    assert len(head.splitlines()) > 6


# -- hello --


@pytest.mark.parametrize("form", ["shared", "static"])
def test_hello_says_hello(workshop, tmp_path, center, form):
    with Example(tmp_path, center, workshop, "hello", form) as it:
        assert it.run(1, 11, "helloJobHandler", "world")["code"] == 200
        assert center.result(11)["handleCode"] == 200
        assert "hello, world" in it.log(11)["logContent"]
    assert center.of("registryRemove")


def test_hello_works_for_a_real_center(workshop, tmp_path):
    with Center(tmp_path / "center") as center:
        api = center.api()
        env = clean_environment(PEAL_ACCESS_TOKEN=TOKEN, **workshop.installed.environment())
        with open(tmp_path / "hello.log", "wb") as out, subprocess.Popen(
                [workshop.program("hello"), "--centers", center.url, "--app", "hello", "--listen", "127.0.0.1",
                 "--port", "0", "--logs", str(tmp_path / "logs")], stdout=out, stderr=out, env=env) as process:
            try:
                group = api.add_group("hello")
                wait_until(lambda: api.addresses("hello"), "hello to register", 20)
                job = api.add_job(group, "helloJobHandler")
                api.trigger(job, "center")
                row = wait_until(lambda: [r for r in api.logs(job) if finished(r)], "the run to end", 20)[0]
                assert row["handleCode"] == 200
                assert "hello, center" in api.log_detail(row["id"])["logContent"]
            finally:
                process.send_signal(signal.SIGTERM)
            assert process.wait(60 * PATIENCE) == 0, (tmp_path / "hello.log").read_text()


def test_hello_explains_itself_and_wants_a_token(workshop):
    env = clean_environment(**workshop.installed.environment())
    told = subprocess.run([workshop.program("hello"), "--help"], env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 0 and "--centers" in told.stdout
    bad = subprocess.run([workshop.program("hello")], env=env, capture_output=True, text=True, check=False)
    assert bad.returncode == 2 and "token" in bad.stderr


# -- sharded_scan --


def test_shards_together_see_each_row_once(workshop, tmp_path, center):
    path = tmp_path / "orders.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE orders(id INTEGER PRIMARY KEY, cents INTEGER)")
        db.executemany("INSERT INTO orders VALUES(?, ?)", [(i, i * 7 % 100) for i in range(1, 5001)])
        db.commit()
        rows, cents = db.execute("SELECT count(*), sum(cents) FROM orders").fetchone()
    with Example(tmp_path, center, workshop, "sharded_scan") as it:
        for shard in range(3):
            it.run(shard + 1, shard + 11, "scanJobHandler", str(path), broadcastIndex=shard, broadcastTotal=3)
        results = [center.result(shard + 11) for shard in range(3)]
        assert [r["handleCode"] for r in results] == [200] * 3
        said = [re.fullmatch(r"(\d+) rows, (\d+) cents", r["handleMsg"]) for r in results]
        assert sum(int(s[1]) for s in said) == rows and sum(int(s[2]) for s in said) == cents
        assert "progress" in it.log(11)["logContent"]
        it.run(9, 19, "scanJobHandler", str(tmp_path / "nothing.db"))
        failed = center.result(19)
        assert failed["handleCode"] == 500 and "nothing.db" in failed["handleMsg"]


# -- long_job --


def test_a_long_job_shows_progress_and_goes_on_where_it_was_stopped(workshop, tmp_path, center):
    with Example(tmp_path, center, workshop, "long_job") as it:
        assert it.run(1, 11, "longJobHandler", "1000000 1")["code"] == 200
        it.wait_for_log(11, "step 1 of 1000000")
        assert it.call("kill", {"jobId": 1})["code"] == 200
        killed = center.result(11)
        assert killed["handleCode"] == 500 and "step" in killed["handleMsg"]
        it.run(1, 12, "longJobHandler", "1 0", executorTimeout=3600)
        assert center.result(12)["handleCode"] == 200
        log = it.log(12)["logContent"]
        assert "going on after step" in log and "until the timeout" in log
        it.run(2, 13, "longJobHandler", "5")
        wrong = center.result(13)
        assert wrong["handleCode"] == 500 and "STEPS MILLISECONDS" in wrong["handleMsg"]


# -- crasher --


@pytest.mark.parametrize("how, text", [("segv", "signal 11"), ("abort", "signal 6"), ("exit", "3")])
def test_a_crash_is_a_failed_run(workshop, tmp_path, center, how, text):
    it = Example(tmp_path, center, workshop, "crasher")
    if how == "exit":  # LeakSanitizer would look at the child, whose memory is its parent's
        it.env["ASAN_OPTIONS"] = it.env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    with it:
        it.run(1, 11, "crashJobHandler", how)
        result = center.result(11)
        assert result["handleCode"] == 500 and text in result["handleMsg"]
        assert f"about to: {how}" in it.log(11)["logContent"]
        it.run(1, 12, "crashJobHandler", "nothing of the kind")
        assert "survived" in center.result(12)["handleMsg"]
        it.run(2, 13, "steadyJobHandler")
        assert center.result(13)["handleMsg"] == f"process {it.process.pid}"


def test_what_does_not_stop_is_killed(workshop, tmp_path, center):
    with Example(tmp_path, center, workshop, "crasher") as it:
        it.run(1, 11, "crashJobHandler", "hang")
        it.wait_for_log(11, "hanging")
        child = int(re.search(r"process (\d+), about to: hang", it.log(11)["logContent"])[1])
        assert child != it.process.pid and it.call("kill", {"jobId": 1})["code"] == 200
        assert center.result(11, 60)["handleCode"] == 500
        wait_until(lambda: not os.path.exists(f"/proc/{child}"), "the child to be gone", 20)


# -- in programs that do other things --


def test_handlers_hand_work_to_the_loop_of_their_host(workshop, tmp_path, center):
    settings = {"xxl.job.admin.addresses": center.url, "xxl.job.executor.appname": "event_loop",
                "xxl.job.accessToken": TOKEN, "xxl.job.executor.port": "0", "listen": "127.0.0.1",
                "xxl.job.executor.logpath": tmp_path / "logs"}
    with Example(tmp_path, center, workshop, "event_loop",
                 command=[f"{key}={value}" for key, value in settings.items()]) as it:
        for i in range(1, 21):
            assert it.run(i, 100 + i, "addJobHandler", str(i))["code"] == 200
        said = [center.result(100 + i)["handleMsg"] for i in range(1, 21)]
        sums = sorted(int(s.removeprefix("the sum is ")) for s in said)
        assert len(set(sums)) == 20 and sums[-1] == 210
    assert "the sum is 210" in it.said()


def test_a_wrong_setting_is_told_to_the_host(workshop, tmp_path):
    done = subprocess.run([workshop.program("event_loop"), "peal.executor.workers=many"], cwd=tmp_path,
                          env=clean_environment(**workshop.installed.environment()), capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and "peal.executor.workers" in done.stderr


def test_two_executors_live_in_one_process(workshop, tmp_path, center):
    env = clean_environment(PEAL_ACCESS_TOKEN=TOKEN, **workshop.installed.environment())
    with open(tmp_path / "out", "wb") as out, subprocess.Popen(
            [workshop.program("two_executors"), center.url, str(tmp_path)], stdout=out, stderr=out, env=env) as process:
        try:
            def both():
                told = {body["registryKey"]: body["registryValue"] for body in center.of("registry")}
                assert process.poll() is None, (tmp_path / "out").read_text()
                return len(told) == 2 and told
            for i, (app, address) in enumerate(sorted(wait_until(both, "both to register", 20).items())):
                one = Executor(tmp_path / app, center.url)  # not started: only to speak to
                one.address = address
                assert one.run(1, 11 + i, "whoseJobHandler")["code"] == 200
                assert center.result(11 + i)["handleMsg"] == f"of {app}"
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60 * PATIENCE) == 0, (tmp_path / "out").read_text()
    assert len(center.of("registryRemove")) == 2
