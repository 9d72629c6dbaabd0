# SPDX-License-Identifier: Apache-2.0
"""What a service manager (systemd) is told: ready, the status, signs of life from the loop that does the work, the end.
The manager is a socket of the test; a thread that hangs is one that the test holds with ptrace."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess

import pytest
from support.center import PASSWORD, TOKEN, Center, binary, clean_environment
from support.executor import Executor
from support.processes import state
from support.standin import StandinCenter
from support.wait import PATIENCE, wait_until

SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


class Manager:
    """The socket, and what came so far: {key: value} a datagram."""

    def __init__(self, name):
        self.name = name
        self.messages = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + name[1:] if name.startswith("@") else name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def next(self, timeout=20):
        """The next message; None if none comes in that time."""
        self._socket.settimeout(timeout)
        try:
            data = self._socket.recv(65536).decode()
        except TimeoutError:
            return None
        assert data and all("=" in line for line in data.split("\n")), data
        self.messages.append(dict(line.split("=", 1) for line in data.split("\n")))
        return self.messages[-1]

    def wait(self, what, fits):
        """Read until a message fits, and return it."""
        return wait_until(lambda: (m := self.next(timeout=1)) and fits(m) and m, what, 30, 0)

    def heard(self, what, fits):
        """Read until a message fits, or one that has come already does: what is told only when it changes."""
        return wait_until(lambda: any(map(fits, self.messages)) or (self.next(timeout=1) and None), what, 30, 0)

    def read_all(self):
        """Take what has come already."""
        while self.next(timeout=0.001):
            pass


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    name = f"@peal-tests-{os.getpid()}-{tmp_path.name}" if request.param == "abstract" else str(tmp_path / "notify")
    with Manager(name) as m:
        yield m


def ptrace(request, tid):
    if LIBC.ptrace(request, tid, None, None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


@contextlib.contextmanager
def held(tid):
    """That thread alone stands still; where ptrace is not allowed, its whole process."""
    try:
        ptrace(SEIZE, tid)
    except PermissionError:
        os.kill(tid, signal.SIGSTOP)
        wait_until(lambda: state(tid) == "T", "the process to stand still")
        yield
        os.kill(tid, signal.SIGCONT)
        return
    ptrace(INTERRUPT, tid)
    os.waitpid(tid, WALL)
    try:
        yield
    finally:
        ptrace(DETACH, tid)


def thread_of(pid, name):
    """The number of a process's thread."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as f:
            if f.read().strip() == name:
                return int(tid)
    raise AssertionError(f"process {pid} has no thread {name}")


def is_beat(message):
    return message.get("WATCHDOG") == "1"


def check_watchdog(manager, tid):
    """Signs of life come while the thread runs, none while it stands still, and again afterwards."""
    for _ in range(3):
        manager.wait("a sign of life", is_beat)
    with held(tid):
        manager.read_all()
        seen = [manager.next(timeout=0.1) for _ in range(10)]  # ten times as long as it may take
        assert not any(m and is_beat(m) for m in seen), seen
    manager.wait("a sign of life after it went on", is_beat)


def test_the_server_says_how_it_is(tmp_path, manager):
    center = Center(tmp_path / "center", env={"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "300000"})
    with center:
        manager.wait("READY", lambda m: m.get("READY") == "1")
        assert center.get("/startupz")[0] == 200, "ready is said when the start is complete"
        manager.heard("the status", lambda m: m.get("STATUS", "").startswith("executors: "))
        center.process.send_signal(signal.SIGHUP)
        told = manager.wait("RELOADING", lambda m: m.get("RELOADING") == "1")
        assert int(told["MONOTONIC_USEC"]) > 0
        manager.wait("READY again", lambda m: m.get("READY") == "1")
        check_watchdog(manager, center.process.pid)
        center.stop()
        manager.wait("STOPPING", lambda m: m.get("STOPPING") == "1")


def test_the_executor_says_how_it_is(tmp_path, manager):
    env = {"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "300000"}
    with StandinCenter() as center, Executor(tmp_path / "executor", center.url, env=env) as executor:
        manager.wait("READY", lambda m: m.get("READY") == "1")
        manager.wait("the status", lambda m: m.get("STATUS") == executor.address)
        check_watchdog(manager, thread_of(executor.process.pid, "peal-loop"))
        executor.stop()
        manager.wait("STOPPING", lambda m: m.get("STOPPING") == "1")


def test_a_server_that_does_not_start_is_not_ready(tmp_path):
    with Manager(str(tmp_path / "notify")) as manager:
        env = clean_environment(NOTIFY_SOCKET=manager.name, PEAL_ACCESS_TOKEN=TOKEN, PEAL_ADMIN_PASSWORD=PASSWORD)
        done = subprocess.run([str(binary()), "server", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "d"), "--db",
                               "sqlite:/nowhere/peal.db"], env=env, capture_output=True, timeout=20 * PATIENCE, check=False)
        assert done.returncode == 3
        assert manager.next(timeout=0.001) is None


@pytest.mark.parametrize("name, said", [("relative", "must begin with / or @"), ("/" + "x" * 200, "must have 2-107 bytes"),
                                        ("/nowhere/socket", None)])
def test_a_manager_that_cannot_be_told_stops_nothing(tmp_path, name, said):
    with Center(tmp_path, env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "300000"}) as center:
        assert not said or said in center.tail()


def test_the_watchdog_of_another_process_is_not_ours(tmp_path):
    with Manager(str(tmp_path / "notify")) as manager:
        env = {"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "30000", "WATCHDOG_PID": "1"}
        with Center(tmp_path / "center", env=env) as center:
            manager.wait("READY", lambda m: "READY" in m)
            center.stop()
        manager.wait("STOPPING", lambda m: "STOPPING" in m)
        assert not any(map(is_beat, manager.messages)), manager.messages


@pytest.mark.parametrize("usec", ["soon", "-1", "99999999999999999999"])
def test_a_watchdog_of_nonsense_is_a_line_in_the_log(tmp_path, usec):
    with Manager(str(tmp_path / "notify")) as manager:
        with Center(tmp_path / "center", env={"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": usec}) as center:
            assert "WATCHDOG_USEC must be a number of microseconds" in center.tail()
