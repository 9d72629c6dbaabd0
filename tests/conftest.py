# SPDX-License-Identifier: Apache-2.0
"""A case that hangs fails: each has a limit of time, far above what any takes."""
import os
import signal

import pytest

LIMITS = {"setup": 1500, "call": 600, "teardown": 120}  # seconds; a setup may build foreign clients
PATIENCE = float(os.environ.get("PEAL_TEST_PATIENCE", "1"))


class Hangs(BaseException):
    """Not an Exception, so that no test takes it for something that it waits out."""


def limited(phase):
    limit = int(LIMITS[phase] * PATIENCE)

    def too_long(_number, _frame):
        raise Hangs(f"its {phase} has taken longer than {limit} s")
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(limit)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup():
    yield from limited("setup")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call():
    yield from limited("call")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown():
    yield from limited("teardown")


def pytest_configure(config):
    config.addinivalue_line("markers", "every_engine: also played on database servers, by scripts/test-db.py blackbox")
