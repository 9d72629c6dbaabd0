# SPDX-License-Identifier: Apache-2.0
"""A restart without refused connections: the listening socket outlives the process, as with systemd's socket units, and what
connects meanwhile waits in its backlog."""

import collections
import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support import ledger  # noqa: E402 (path just set)
from support.center import Center, binary  # noqa: E402
from support.puppet import Puppet  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402


class Passed(Center):
    """A center that is given its socket, which the test holds as systemd does."""

    def __init__(self, folder, **more):
        super().__init__(folder, **more)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.socket.getsockname()[1]

    def start(self, timeout=20):
        self.begin()
        wait_until(self._ready, f"{self.url}/readyz to answer 200", timeout, 0.02)
        return self

    def begin(self):
        """Start and do not wait."""
        # the shell's process becomes the server's, so that LISTEN_PID is right
        command = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "sh", str(binary()), "server",
                   "--listen", "127.0.0.1:1", "--data", str(self.data), *self.args]
        three = os.dup(self.socket.fileno())
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(["/usr/bin/python3", "-c", (
                "import os, sys\n"
                "fd = int(sys.argv[1])\n"
                "os.dup2(fd, 3)\n"
                "os.set_inheritable(3, True)\n"
                "os.execv(sys.argv[2], sys.argv[2:])\n"), str(three), *command], stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, env=self._env, pass_fds=[three])
        os.close(three)
        self._down = False


def test_what_connects_during_a_restart_is_answered_after_it(tmp_path):
    with Passed(tmp_path / "center") as center:
        assert "sockets that were passed" in center.tail()
        center.stop()
        answers = []

        def ask():
            answers.append(center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": "waiting",
                                                        "registryValue": "http://127.0.0.1:1/"})["code"])
        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)  # they wait; if they had been refused, they would have failed by now
        assert answers == [] and all(thread.is_alive() for thread in threads)
        center.start()
        for thread in threads:
            thread.join(20 * PATIENCE)
        assert answers == [200] * 20


def test_a_restart_under_load_refuses_no_result(tmp_path):
    """Executors keep their connections and their results: none is lost, doubled or refused."""
    with Passed(tmp_path / "center") as center:
        group = center.api().add_group("upgrade")
        center.stop()
        begin = int((time.time() + 2 * PATIENCE) * 1000)
        jobs = ledger.add_jobs(center, group, [
            ("demo", "", "FIX_RATE", "1000ms", "FIRST", begin + i * 1000 // 40) for i in range(40)])
        center.start()
        with Puppet(center, "upgrade") as puppet:
            for _ in range(3):
                puppet.wait_for_runs(len(puppet.runs()) + 40, timeout=60)
                center.stop()
                center.start()
            puppet.wait_for_runs(len(puppet.runs()) + 40, timeout=60)
            asked = puppet.of("log")
            api = center.api()
            for job in jobs:
                api.stop_job(job)
            ledger.settle(center, 60)
            ids = collections.Counter(run["logId"] for run in puppet.runs())
            assert set(ids.values()) == {1}
            assert set(ids) == {row[0] for row in ledger.rows(center, "SELECT id FROM xxl_job_log")}
            assert not asked, "a clean stop leaves nothing in doubt"
            for job in jobs:
                ledger.check_contiguous(center, job, 1)
            ledger.check_accounts(center)


@pytest.mark.parametrize("env, why", [
    ({"LISTEN_FDS": "1", "LISTEN_PID": "0"}, None), ({"LISTEN_FDS": "1"}, None), ({"LISTEN_PID": "x"}, None)])
def test_what_was_not_meant_for_this_process_is_not_taken(tmp_path, env, why):
    with Center(tmp_path / "center", env=env) as center:
        assert "passed" not in center.tail()


def test_a_descriptor_that_does_not_listen_is_named(tmp_path):
    center = Passed(tmp_path / "center")
    center.socket.close()
    center.socket = socket.socket()
    center.begin()
    assert center.process.wait(20 * PATIENCE) != 0
    center._down = True
    assert "descriptor 3, which was passed by LISTEN_FDS, is not a listening socket" in center.tail()
