# SPDX-License-Identifier: Apache-2.0
"""Executors in surroundings with habits of their own: how a process is started, what a host does with its
signals, its children, its descriptors."""

import os
import pathlib
import re
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import binary  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import wait_until  # noqa: E402

HOST = binary().parent / "tests" / "peal_test_host"
SCRIPTS = ["--peal.executor.glue", "shell"]


@pytest.fixture
def center():
    with StandinCenter() as it:
        yield it


def host(folder, center, *habits, args=()):
    """The test's own program with libpeal; its settings are the agent's."""
    executor = Executor(folder, center.url, args)
    executor.command = [str(HOST), *habits, *executor.command[2:], "--xxl.job.accessToken", executor.token]
    return executor


def agent(folder, center, *wrapper, args=()):
    executor = Executor(folder, center.url, ["--peal.executor.commands=*", *args])
    executor.command = [*wrapper, *executor.command]
    return executor


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def state(pid):
    """Z: it has ended and nobody has waited for it. None: it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return None


# -- SIGCHLD --


STARTS = {
    "agent, ignored": lambda folder, center: agent(folder, center, "/bin/sh", "-c", "trap '' CHLD; exec \"$@\"", "sh",
                                                   args=SCRIPTS),
    "host, ignored": lambda folder, center: host(folder, center, "ignore-children", args=SCRIPTS),
    "host, reaped": lambda folder, center: host(folder, center, "reap-children", args=SCRIPTS),
}


@pytest.mark.parametrize("how", STARTS)
def test_a_failed_script_is_a_failure_whoever_waits_for_children(tmp_path, center, how):
    with STARTS[how](tmp_path, center) as executor:
        executor.run_shell(1, 1, "exit 3")
        executor.run_shell(2, 2, "kill -9 $$")
        executor.run_shell(3, 3, "echo fine")
        assert center.result(1)["handleCode"] == 500
        assert center.result(1)["handleMsg"] == "script exit value(3) is failed"
        assert center.result(2)["handleCode"] == 500
        assert "ended by signal 9" in center.result(2)["handleMsg"]
        assert center.result(3)["handleCode"] == 200
        if how.startswith("agent"):
            executor.run(4, 4, "commandJobHandler", "bash -c 'exit 7'")
            assert center.result(4)["handleMsg"] == "command exit value(7) is failed"


def test_a_script_that_kills_its_parent_fails_and_others_run(tmp_path, center):
    with agent(tmp_path, center, args=SCRIPTS) as executor:
        for log in range(1, 6, 2):
            executor.run_shell(1, log, "sleep 3600 & echo left $!; kill -9 $PPID; sleep 3600")
            result = center.result(log)
            assert result["handleCode"] == 500 and "has died" in result["handleMsg"], result
            left = int(re.search(r"^left (\d+)$", executor.log(log)["logContent"], re.M)[1])
            wait_until(lambda: state(left) in (None, "Z"), "what the script left to be gone")
            executor.run_shell(1, log + 1, "exit 0")
            assert center.result(log + 1)["handleCode"] == 200


# -- what handlers say --


@pytest.mark.parametrize("handler", ["resultJobHandler", "resultProcessJobHandler"])
@pytest.mark.parametrize("params, code, text", [
    ("0 none", 200, ""),
    ("7 none", 500, "the handler returned 7"),
    ("0 200 fine", 200, "fine"),
    ("1 200", 200, ""),                        # what was said counts, an empty text too
    ("1 200 fine", 200, "fine"),
    ("0 0 no code", 500, "no code"),
    ("1 0 no code", 500, "no code"),
    ("0 -1 less than that", 500, "less than that"),
    ("0 -2147483648 least", 500, "least"),
    ("0 502 late", 502, "late"),
    ("0 7 a code of its own", 7, "a code of its own"),
])
def test_a_result_is_the_same_in_a_thread_and_in_a_process(tmp_path, center, handler, params, code, text):
    with host(tmp_path, center) as executor:
        executor.run(1, 1, handler, params)
        result = center.result(1)
        assert (result["handleCode"], result["handleMsg"] or "") == (code, text)
