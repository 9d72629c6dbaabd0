# SPDX-License-Identifier: Apache-2.0
"""Operators can tell the threads of a process apart (top -H, ps -L): each of ours has a name, and takes no signal."""

import pathlib
import re
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import Center  # noqa: E402 (path just set)
from support.executor import Executor  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import wait_until  # noqa: E402

SIGTERM = 1 << 14


def threads(pid):
    """[(name, signals that it blocks)] of all but the first one and a sanitizer's own, which has the name of that."""
    sanitized = re.search(r"lib[at]san", pathlib.Path(f"/proc/{pid}/maps").read_text())
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            lines = (task / "status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):  # it has ended since
            continue
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        if int(task.name) != pid and not (sanitized and status["Name"] == "peal"):
            found.append((status["Name"], int(status["SigBlk"], 16)))
    return found


def check(pid, wanted):
    def named():
        found = threads(pid)
        return set(wanted) <= {name for name, _ in found} and found
    found = wait_until(named, f"threads named {wanted}")
    assert all(name.startswith("peal-") and len(name) <= 15 for name, _ in found), found
    assert all(mask & SIGTERM for _, mask in found), found


@pytest.fixture(scope="module")
def standin():
    with StandinCenter() as it:
        yield it


def test_the_threads_of_an_executor_have_names(tmp_path, standin):
    with Executor(tmp_path, standin.url.replace("127.0.0.1", "localhost")) as executor:
        for job in (1, 2):
            executor.run(job, job, "sleepJobHandler", "3600000")
            executor.wait_for_log(job, "sleeping")
        check(executor.process.pid, ["peal-loop", "peal-journal", "peal-logs", "peal-resolver", "peal-run-1",
                                     "peal-run-2"])


def test_the_threads_of_a_center_have_names(tmp_path):
    with Center(tmp_path) as center:
        center.api()
        check(center.process.pid, ["peal-writer", "peal-journal", "peal-maintain", "peal-web", "peal-web-1",
                                   "peal-forecast"])
