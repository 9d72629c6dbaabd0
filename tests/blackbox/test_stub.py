# SPDX-License-Identifier: Apache-2.0
"""bench/stub, the executor of the benchmarks: its figures must be true before any rate is believed."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import binary  # noqa: E402 (path just set)
from support.standin import YES, StandinCenter, call  # noqa: E402
from support.stub import Stub  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

NO = {"code": 500, "msg": "not now"}


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


def test_it_registers_every_port(tmp_path, center):
    with Stub(tmp_path, center, "--ports", "3") as stub:
        wait_until(lambda: {b["registryValue"] for b in center.of("registry")} == set(stub.addresses),
                   "three registrations")
        assert {b["registryKey"] for b in center.of("registry")} == {"bench"}
        assert center.headers_of("registry")[0]["Peal-Executor"] == "1"


@pytest.mark.parametrize("kind, most", [("single", 1), ("batch", 100)])
def test_every_run_is_counted_and_called_back(tmp_path, center, kind, most):
    with Stub(tmp_path, center, "--ports", "2", "--callbacks", kind) as stub:
        for log in range(10, 60):
            assert stub.run(log, port=log % 2) == 200
        stub.run(30)
        stub.run(30)
        wait_until(lambda: stub.stats()["results_waiting"] == 0, "all results to be acknowledged")
        stats = stub.stats()
        assert (stats["runs"], stats["distinct"], stats["doubled"]) == (52, 50, 1)
        assert (stats["first_id"], stats["last_id"]) == (10, 59)
        assert stats["results_acknowledged"] == 52 and stats["callback_requests_failed"] == 0
        assert sorted(r["logId"] for r in center.results()) == sorted([*range(10, 60), 30, 30])
        assert all(r["handleCode"] == 200 and r["executeResult"]["code"] == 200 for r in center.results())
        assert max(len(body) for body in center.of("callback")) <= most


def test_lost_and_doubled_ids_can_be_told(tmp_path, center):
    with Stub(tmp_path, center) as stub:
        for log in (65530, 65536, 65536, 65540):
            stub.run(log)
        host, port = stub.addresses[0].removeprefix("http://").strip("/").split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=10 * PATIENCE)
        connection.request("GET", "/stub/ids")
        assert connection.getresponse().read() == b"10000020001"
        connection.close()
        assert "execute end(" in call(stub.addresses[0], "log", b'{"logId":65530}')[1]["data"]["logContent"]
        assert call(stub.addresses[0], "log", b'{"logId":65531}')[1]["data"]["isEnd"] is True


def test_results_are_kept_until_they_are_acknowledged(tmp_path, center):
    refusals = [NO, 500, None]
    center.answer = lambda action, body: refusals.pop(0) if action == "callback" and refusals else YES
    with Stub(tmp_path, center) as stub:
        stub.run(1)
        wait_until(lambda: stub.stats()["results_waiting"] == 0, "the result to be acknowledged", 30)
        stats = stub.stats()
        assert (stats["callback_requests"], stats["callback_requests_failed"]) == (4, 3)


def test_lateness_is_measured_from_the_scheduled_time(tmp_path, center):
    with Stub(tmp_path, center) as stub:
        for _ in range(90):
            stub.run(1, late_ms=20000)
        for _ in range(10):
            stub.run(1, late_ms=40000)
        stub.run(1, late_ms=-50000)
        late = stub.stats()["lateness_us"]
        assert (late["n"], late["early"]) == (101, 1)
        assert late["min"] < -10000000
        assert 20000000 <= late["p50"] < 40000000 <= late["p99"] <= late["max"]


def test_sigterm_prints_the_figures(tmp_path, center):
    with Stub(tmp_path, center) as stub:
        stub.run(1)
        stub.process.send_signal(signal.SIGTERM)
        assert stub.process.wait(20 * PATIENCE) == 0
        stats = json.loads(stub.output.read_text().splitlines()[-1])
        assert stats["runs"] == 1 and stats["cpu_us"] > 0


def test_the_spin_control_prints_the_share_lost(tmp_path):
    spin = binary().parent / "bench" / "peal_spin"
    done = subprocess.run([str(spin), "1"], capture_output=True, text=True, timeout=60 * PATIENCE, check=True)
    figures = json.loads(done.stdout)
    assert len(figures["cores"]) == len(os.sched_getaffinity(0))
    assert figures["lost"] == max(figures["cores"]) and 0 <= figures["lost"] <= 1
