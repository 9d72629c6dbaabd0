# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database: logs, waiting, kills, scripts and keys of requests at a server that does not own the run."""

import contextlib
import itertools
import pathlib
import subprocess
import sys
import threading

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import pytest  # noqa: E402 (path just set)

from support.cluster import database, fresh, node, wait_for  # noqa: E402, F401 (a fixture)
from support.center import binary  # noqa: E402
from support.ctl import DONE, FAILED, Ctl  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.proxy import Proxy  # noqa: E402
from support.v1 import V1  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

UNTIL = 'echo begun; while [ ! -e "$1" ]; do sleep 0.05; done; echo over\n'  # its parameter: a file that ends it


class Balancer(Proxy):
    """A load balancer without stickiness: each request goes to the next server."""

    def __init__(self, *ports):
        self.ports = itertools.cycle(ports)
        super().__init__(None, "", False)

    target = property(lambda self: next(self.ports), lambda self, port: None)


class Site:
    """Two servers, an executor that both know, and a shell's user at each: `here` at the owner of what is triggered,
    `there` at the other one; and one, `balanced`, whose requests go to both in turn."""

    def __init__(self, db, name, folder, one, two, balancer):
        self.db, self.name, self.folder, self.one, self.two = db, name, folder, one, two
        self.group = one.api().add_group("tests")
        self.v1 = V1(one), V1(two)
        self.here, self.there, self.balanced = (Ctl(folder / f"home-{i}") for i in range(3))
        for ctl, url in (self.here, one.url), (self.there, two.url), (self.balanced, f"http://127.0.0.1:{balancer.port}"):
            ctl.login(url)
        for api in self.v1:
            wait_until(lambda a=api: a.get(f"/groups/{self.group}")["up"] == 1, "the executor at both servers", 30)

    def script(self, source):
        answer = self.v1[0].ask("POST", "/jobs", {"name": "script", "groupId": self.group, "schedule": {"type": "NONE"},
                                                  "task": {"kind": "GLUE_SHELL", "handler": ""}, "script": source})
        assert answer.status == 201, answer.json
        return answer.json["id"]

    def trigger(self, job, param="", api=None, **headers):
        answer = (api or self.v1[0]).ask("POST", f"/jobs/{job}/trigger", {"param": param}, **headers)
        assert answer.status == 201, answer.json
        return answer.json["runId"]

    def running(self, job, param=""):
        """A run that its owner, the first server, knows to be under way."""
        run = self.trigger(job, param)
        query = f"SELECT r.phase, n.name FROM peal_run r JOIN peal_epoch e ON e.epoch = r.epoch " \
                f"JOIN peal_node n ON n.node = e.node WHERE r.log_id = {run}"
        wait_until(lambda: [list(row) for row in self.db.run(query, self.name)] == [["4", "one"]],
                   "the run to be accepted", 30)
        return run

    def rows(self, job):
        return [int(row[0]) for row in
                self.db.run(f"SELECT id FROM xxl_job_log WHERE job_id = {job} ORDER BY id", self.name)]

    @contextlib.contextmanager
    def at_work(self, ctl, *args):
        """`peal ctl` of that user while something else happens: itself, and its lines so far."""
        with subprocess.Popen([str(binary()), "ctl", *map(str, args)], env=ctl.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            lines = []
            collect = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
            collect.start()
            try:
                yield process, lines
                process.wait(60 * PATIENCE)
                collect.join()
            finally:
                process.kill()


@pytest.fixture(scope="module")
def site(db, tmp_path_factory):
    """One pair for all cases: each makes jobs of its own."""
    name, url = fresh(db)
    folder = tmp_path_factory.mktemp("elsewhere")
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(node(folder / n, url, n)) for n in ("one", "two"))
        for center in one, two:
            wait_for(center, one="up", two="up")
        stack.enter_context(Executor(folder / "executor", f"{one.url},{two.url}", ["--peal.executor.glue", "shell"]))
        yield Site(db, name, folder, one, two, stack.enter_context(Balancer(one.port, two.port)))


@pytest.mark.parametrize("who", ["there", "balanced"])
def test_a_log_is_followed_at_another_server(site, who):
    ctl, end = getattr(site, who), site.folder / f"followed-{who}"
    run = site.running(site.script(UNTIL), str(end))
    with site.at_work(ctl, "logs", run, "-f") as (process, lines):
        wait_until(lambda: any("begun" in line for line in lines), "the log of the run that goes on", 30)
        assert process.poll() is None and not any("over" in line for line in lines), lines
        end.touch()
    assert process.returncode == 0 and any("over" in line for line in lines), lines
    assert site.here("logs", run).stdout == site.there("logs", run).stdout == "".join(lines)


@pytest.mark.parametrize("code, status", [(0, DONE), (3, FAILED)])
def test_a_run_is_waited_for_at_whichever_server(site, code, status):
    job, end = site.script(UNTIL + f"exit {code}\n"), site.folder / f"waited-{code}"
    with site.at_work(site.balanced, "job", "trigger", job, "--param", end, "--wait") as (process, lines):
        run, = wait_until(lambda: site.rows(job), "the run", 30)
        for api in site.v1:
            wait_until(lambda a=api: a.get(f"/runs/{run}")["run"]["outcome"] == "open", "the run to go on", 30)
        assert process.poll() is None, lines
        end.touch()
    assert process.returncode == status, lines
    assert site.rows(job) == [run]


def test_a_run_is_killed_at_another_server(site):
    run = site.running(site.script(UNTIL), str(site.folder / "never"))
    site.there("run", "kill", run, "--yes")
    for api in site.v1:
        wait_until(lambda a=api: a.get(f"/runs/{run}")["run"]["outcome"] == "killed", "the killed run at both servers", 30)


def test_a_request_that_is_repeated_at_another_server_runs_nothing_twice(site):
    job = site.script("echo once\n")
    run = site.trigger(job, Idempotency_Key="elsewhere-1")
    assert site.trigger(job, api=site.v1[1], Idempotency_Key="elsewhere-1") == run
    assert site.rows(job) == [run]
    answers = [None, None]  # at both at the same moment

    def ask(i):
        answers[i] = site.v1[i].ask("POST", f"/jobs/{job}/trigger", {"param": "x"}, Idempotency_Key="elsewhere-2")
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 201 in [a.status for a in answers] and {a.status for a in answers} <= {201, 409}, [a.json for a in answers]
    assert len(site.rows(job)) == 2
    for api in site.v1:
        assert site.trigger(job, "x", api=api, Idempotency_Key="elsewhere-2") == site.rows(job)[1]


def test_a_script_that_is_published_at_one_server_is_run_by_all(site):
    job, base = site.script("echo version 0\n"), None
    for no in range(1, 3):
        at = site.v1[no % 2]
        base = at.get(f"/jobs/{job}/scripts")["items"][0]["version"]
        answer = at.ask("POST", f"/jobs/{job}/scripts", {"source": f"echo version {no}\n", "remark": "a remark",
                                                         "baseVersion": base})
        assert answer.status == 201, answer.json
        for api, ctl in zip(site.v1, (site.here, site.there)):  # answered: the next run of each has it
            run = site.trigger(job, api=api)
            assert f"version {no}\n" in ctl("logs", run, "-f").stdout
