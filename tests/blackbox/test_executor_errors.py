# SPDX-License-Identifier: Apache-2.0
"""System calls that fail under an executor: a disk that cannot be read, written or synced, descriptors used up. It
says what is the matter, loses nothing, does not spin, and goes on when the cause is gone."""

import errno
import http.client
import json
import os
import pathlib
import re
import resource
import sys
import time
import urllib.parse

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import TOKEN, binary  # noqa: E402 (path just set)
from support.disk import DiskErrors  # noqa: E402
from support.executor import Executor  # noqa: E402
from support.processes import children  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

FEW = 400  # calls that may fail while a disk fails: tens, of those who try again in a moment; a loop has thousands


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


def status(who):
    return who.call("peal/status", {})["data"]


def refused_at_start(executor):
    with pytest.raises(RuntimeError) as refusal:
        executor.start()
    assert executor.process.returncode > 0, "refused, not ended by a signal: " + str(refusal.value)
    return str(refusal.value)


# -- disks --


def test_a_journal_that_cannot_be_read_is_no_damaged_one(tmp_path, center):
    """The next start waits for people, with the disk's own words; when it can be read again, all is there."""
    disk = DiskErrors(tmp_path / "errors", "journal.db")
    executor = Executor(tmp_path, center.url, env=disk.env)
    with executor:
        for log in range(1, 31):
            assert executor.run(1, log, "sleepJobHandler", "3600000" if log == 1 else "0")["code"] == 200
        executor.process.kill()
        executor.process.wait()
        disk.begin(disk.READS, errno.EIO)
        for _ in range(2):
            said = refused_at_start(executor)
            assert "journal.db" in said and "Input/output error" in said and "system's log" in said, said
        disk.end()
        assert not list(executor.logs.glob("*damaged*"))
        executor.start()
        for log in range(1, 31):
            assert center.result(log)["handleCode"] == (500 if log == 1 else 200)
        executor.stop()
    assert sorted(r["logId"] for r in center.results()) == list(range(1, 31))


@pytest.mark.parametrize("what, error", [(DiskErrors.WRITES, errno.EIO), (DiskErrors.SYNCS, errno.EIO),
                                         (DiskErrors.READS | DiskErrors.WRITES | DiskErrors.SYNCS, errno.EIO),
                                         (DiskErrors.WRITES, errno.EROFS)])
def test_a_disk_that_fails_under_the_journal_is_waited_for(tmp_path, center, what, error):
    disk = DiskErrors(tmp_path / "errors", "journal.db")
    with Executor(tmp_path, center.url, env=disk.env) as executor:
        executor.run(1, 1, "failJobHandler")
        center.result(1)
        executor.run(2, 2, "sleepJobHandler", "3600000")
        executor.wait_for_log(2, "sleeping")
        disk.begin(what, error)
        reply = executor.run(3, 3, "failJobHandler")
        assert reply["code"] == 500 and reply["msg"].startswith("the run cannot be kept: "), reply
        assert "journal.db" in reply["msg"], reply
        executor.call("kill", {"jobId": 2})
        assert center.result(2)["handleCode"] == 500, "the result of what ran goes out nevertheless"
        wait_until(lambda: "new runs are refused" in executor.said(), "the log to say it")
        assert executor.call("beat", {})["code"] == 200
        assert disk.end() < FEW
        wait_until(lambda: executor.run(3, 3, "failJobHandler")["code"] == 200, "the disk to be found well again")
        center.result(3)
        wait_until(lambda: "can be written again" in executor.said(), "the log to say that too")
        executor.process.kill()  # what is on disk is what was said
        executor.process.wait()
        executor.start()
        for log in (1, 2, 3):
            assert "repeat" in executor.run(log, log, "failJobHandler")["msg"]
        executor.stop()
    assert sorted({r["logId"] for r in center.results()}) == [1, 2, 3]
    assert not list(executor.logs.glob("*damaged*"))


def test_a_disk_that_fails_under_the_logs_costs_lines_and_no_run(tmp_path, center):
    disk = DiskErrors(tmp_path / "errors", "/logs/20")  # the folders of days
    with Executor(tmp_path, center.url, env=disk.env) as executor:
        disk.begin(disk.WRITES, errno.EIO)
        for log in range(1, 11):
            assert executor.run(log, log, "demoJobHandler")["code"] == 200
        for log in range(1, 11):
            assert center.result(log)["handleCode"] == 200
        wait_until(lambda: "Input/output error" in executor.said(), "the log to name the reason")
        assert disk.end() < FEW
        executor.run(11, 11, "demoJobHandler")
        executor.wait_for_log(11, "job execute end")


# -- descriptors --


class Connection:
    """A connection of its own, for as long as it is kept."""

    def __init__(self, executor):
        url = urllib.parse.urlsplit(executor.address)
        self.http = http.client.HTTPConnection(url.hostname, url.port, timeout=60 * PATIENCE)

    def call(self, action, body):
        self.http.request("POST", "/" + action, json.dumps(body), {"XXL-JOB-ACCESS-TOKEN": TOKEN})
        return json.loads(self.http.getresponse().read())

    def run(self, log, handler, params="", **fields):
        return self.call("run", {"jobId": log, "executorHandler": handler, "executorParams": params,
                                 "executorBlockStrategy": "SERIAL_EXECUTION", "executorTimeout": 0, "logId": log,
                                 "logDateTime": int(time.time()) * 1000, "glueType": "BEAN", "glueSource": "",
                                 "glueUpdatetime": 1541254891000, "broadcastIndex": 0, "broadcastTotal": 1, **fields})


class NoDescriptors:
    """No descriptor more for this process than it has now (and a few)."""

    def __init__(self, pid, more=0):
        self.pid, self.more = pid, more

    def __enter__(self):
        self.before = resource.prlimit(self.pid, resource.RLIMIT_NOFILE)
        highest = max(int(fd) for fd in os.listdir(f"/proc/{self.pid}/fd"))
        used = {int(fd) for fd in os.listdir(f"/proc/{self.pid}/fd")}
        gaps = [fd for fd in range(highest) if fd not in used]
        limit = (gaps[self.more] if len(gaps) > self.more else highest + 1 + self.more - len(gaps))
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (limit, self.before[1]))
        return self

    def __exit__(self, *_):
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, self.before)


def test_no_descriptor_for_a_connection(tmp_path, center):
    """Who comes meanwhile waits and is served; those who are there are served all the time."""
    with Executor(tmp_path, center.url) as executor:
        old = Connection(executor)
        assert old.call("beat", {})["code"] == 200
        with NoDescriptors(executor.process.pid):
            new = Connection(executor)
            new.http.request("POST", "/beat", "{}", {"XXL-JOB-ACCESS-TOKEN": TOKEN})
            wait_until(lambda: "cannot accept a connection" in executor.said(), "the log to say it")
            for _ in range(3):
                time.sleep(0.15)  # so that it tries in vain more than once
                assert old.call("beat", {})["code"] == 200
        assert json.loads(new.http.getresponse().read())["code"] == 200
        wait_until(lambda: "accepting connections again" in executor.said(), "the log to say that too")
        assert executor.said().count("cannot accept a connection") == 1
        assert executor.run(1, 1)["code"] == 200
        assert center.result(1)["handleCode"] == 200


def executor_for(tmp_path, center, handler):
    """The agent, or the test's program if the handler is one of that."""
    args = ["--peal.executor.glue", "shell"]
    if handler != "processNoteJobHandler":
        return Executor(tmp_path, center.url, [*args, "--peal.executor.commands", "echo"])
    executor = Executor(tmp_path, center.url, args, env={"PEAL_TEST_EVIDENCE": str(tmp_path / "notes")})
    executor.command = [str(binary().parent / "tests" / "peal_test_executor"), *executor.command[2:]]
    return executor


@pytest.mark.parametrize("handler, params", [("commandJobHandler", "echo hello"), ("processNoteJobHandler", "0"),
                                             ("GLUE_SHELL", "")])
def test_no_descriptor_for_a_child_is_a_failed_run_that_says_so(tmp_path, center, handler, params):
    executor = executor_for(tmp_path, center, handler)
    with executor:
        glue = {"glueType": "GLUE_SHELL", "glueSource": "echo hello"} if handler == "GLUE_SHELL" else {}
        connection = Connection(executor)
        connection.run(1, handler, params, **glue)
        assert center.result(1)["handleCode"] == 200
        before = len(os.listdir(f"/proc/{executor.process.pid}/fd"))
        with NoDescriptors(executor.process.pid, 1):
            assert connection.run(2, handler, params, **glue)["code"] == 200
            wait_until(lambda: status(connection)["ended"] == 2, "it to end")
            assert connection.call("beat", {})["code"] == 200
        result = center.result(2)
        assert result["handleCode"] == 500 and "Too many open files" in result["handleMsg"], result
        assert connection.run(3, handler, params, **glue)["code"] == 200
        assert center.result(3)["handleCode"] == 200
        wait_until(lambda: len(os.listdir(f"/proc/{executor.process.pid}/fd")) <= before, "no descriptor to be lost")


@pytest.mark.parametrize("more", [0, 1, 2])
def test_no_descriptor_in_the_fork_server_is_a_failed_run_that_says_so(tmp_path, center, more):
    """It takes three with an order; however many it gets, the others go on."""
    with executor_for(tmp_path, center, "processNoteJobHandler") as executor:
        connection = Connection(executor)
        connection.run(1, "processNoteJobHandler", "3600000")
        executor.wait_for_log(1, "noted")
        server = children(children(executor.process.pid)[0])[0]  # its parent is its watch
        with NoDescriptors(server, more):
            connection.run(2, "processNoteJobHandler", "0")
            result = center.result(2)
            assert result["handleCode"] == 500 and "Too many open files" in result["handleMsg"], result
        connection.run(3, "processNoteJobHandler", "0")
        assert center.result(3)["handleCode"] == 200
        connection.call("kill", {"jobId": 1})
        assert center.result(1)["handleCode"] == 500
        assert "has died" not in executor.said()


def test_no_descriptor_for_a_log_costs_its_lines_and_says_so(tmp_path, center):
    with Executor(tmp_path, center.url) as executor:
        connection = Connection(executor)
        connection.run(1, "demoJobHandler")
        center.result(1)
        with NoDescriptors(executor.process.pid):
            assert connection.run(2, "demoJobHandler")["code"] == 200
            wait_until(lambda: re.search(r"run 2: .*Too many open files", executor.said()), "the log to name the reason")
        assert center.result(2)["handleCode"] == 200
        connection.run(3, "demoJobHandler")
        center.result(3)
        executor.wait_for_log(3, "job execute end")


def test_no_descriptor_for_a_center_is_tried_again(tmp_path, center):
    """Results wait until there is a connection for them."""
    with Executor(tmp_path, center.url) as executor:
        connection = Connection(executor)
        connection.run(1, "sleepJobHandler", "3600000")
        executor.wait_for_log(1, "sleeping")
        center.answer = lambda action, body: None  # connections to it end
        connection.call("kill", {"jobId": 1})
        wait_until(lambda: center.results(1), "an attempt")
        with NoDescriptors(executor.process.pid):
            # a connection that was open before may still bring the result to a center that takes it
            wait_until(lambda: "Too many open files" in executor.said(), "the log to name the reason", 40)
            center.answer = lambda action, body: {"code": 200, "msg": None, "content": None}
            assert status(connection)["resultsPending"] >= 1
        wait_until(lambda: status(executor)["resultsPending"] == 0, "the result to be delivered", 60)
