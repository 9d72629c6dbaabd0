# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the interop suite: see README.md."""

import fcntl
import os
import pathlib
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import executors  # noqa: E402 (found through the path just set)
from support.center import Center  # noqa: E402
from support.wait import wait_until  # noqa: E402

LIBRARIES = executors.libraries()
MISSING, UNREACHABLE = 77, 76  # build.sh's statuses
_built = {}


def build(library):
    """Build a library's executor once a session. Without its tool chain the library's tests are left
    out, saying how to get it; in CI that is an error."""
    if library.name not in _built:
        with open(executors.HERE / "build.sh", "rb") as turn:  # files of the suite run side by side
            fcntl.flock(turn, fcntl.LOCK_EX)
            _built[library.name] = subprocess.run([executors.HERE / "build.sh", library.name],
                                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    done = _built[library.name]
    if done.returncode == 0:
        return
    reason = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "build.sh failed"
    if done.returncode in (MISSING, UNREACHABLE) and os.environ.get("CI") != "true":
        pytest.skip(f"{library.name} left out: {reason}")
    pytest.fail(f"cannot build {library.name}:\n{done.stdout}", pytrace=False)


@pytest.fixture(scope="session")
def center(tmp_path_factory):
    """The center of the session."""
    with Center(tmp_path_factory.mktemp("center")) as it:
        yield it


@pytest.fixture(scope="session")
def built():
    """A function that builds a library's programs, or leaves the test out; it returns the library."""
    def make(library):
        build(library)
        return library
    return make


@pytest.fixture(scope="session", params=LIBRARIES, ids=lambda library: library.name)
def library(request, built):
    """Each library in turn; the executor of one is stopped before the next one starts."""
    return built(request.param)


@pytest.fixture(scope="session")
def api(center, library):
    """The web API as a script of the library's time uses it."""
    return center.api(library.generation, library.prefix)


@pytest.fixture(scope="session")
def app(api, library):
    """The app name of the library's group, which the center fills by registration."""
    name = f"interop-{library.name}"
    api.add_group(name)
    return name


@pytest.fixture(scope="session")
def group(api, app):
    return api.groups(app)[0]["id"]


@pytest.fixture(scope="session")
def executor(tmp_path_factory, center, api, app, library, group):
    """The library's executor, registered."""
    it = executors.Executor(library, center, app, tmp_path_factory.mktemp(library.name))
    try:
        it.start()
        wait_until(lambda: it.address in api.addresses(app), f"{it.address} to be registered", 15)
        yield it
    finally:
        it.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure shows what the processes of the test wrote last."""
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    for name, value in getattr(item, "funcargs", {}).items():
        if isinstance(value, (Center, executors.Executor)):
            report.sections.append((f"output of {name}", value.tail()))
