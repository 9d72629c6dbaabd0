# SPDX-License-Identifier: Apache-2.0
"""A host outlives the lack of memory: the n-th allocation fails, for each n, while an executor starts and while it
takes and runs a run. Calls say no or threads wait; the host is never aborted, and no run is lost."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.center import SANITIZER, clean_environment  # noqa: E402 (path just set)
from support.installed import Installed, command  # noqa: E402
from support.standin import StandinCenter  # noqa: E402
from support.wait import PATIENCE  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "nomem"
PRESET = os.environ.get("PEAL_PRESET", "dev")
# everybody's allocations need the process's own allocator, which a sanitizer replaces
WHOSE = ["library"] if PRESET in ("asan", "tsan") else ["library", "everybody"]
WRAP = ["-DWRAP", *(f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc"))]


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """{whose allocations fail: (program, environment)}"""
    folder = tmp_path_factory.mktemp("nomem")
    installed = Installed(folder / "installed")
    fail, host = FOLDER / "failmalloc.c", FOLDER / "host.c"
    built = {"library": (installed.compile([host, fail], folder / "wrapped", True, WRAP), {})}
    if "everybody" in WHOSE:
        preload = folder / "libfailmalloc.so"
        command("gcc", "-std=c11", "-O1", "-g", "-fPIC", "-shared", "-Wl,-soname,libfailmalloc.so", fail, "-o", preload)
        program = installed.compile(host, folder / "preloaded", False, [f"-L{folder}", "-lfailmalloc"])
        env = installed.environment()
        env["LD_LIBRARY_PATH"] += f":{folder}"
        built["everybody"] = (program, {**env, "LD_PRELOAD": str(preload)})
    return built


def host(hosts, whose, folder, center, what, times):
    program, env = hosts[whose]
    done = subprocess.run([program, center.url, folder, what, str(times)], env=clean_environment(**env),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600 * PATIENCE,
                          check=False)
    assert done.returncode == 0 and not SANITIZER.search(done.stdout), (done.returncode, done.stdout[-4000:])
    assert "signals untouched" in done.stdout
    return {name: int(number) for name, number in re.findall(r"^(\w+) (\d+)$", done.stdout, re.M)}


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize("whose", WHOSE)
def test_a_start_without_memory_works_or_says_no(hosts, tmp_path, whose, times):
    with StandinCenter() as center:
        told = host(hosts, whose, tmp_path, center, "start", times)
        assert not center.unreadable
    assert 20 < told["rounds"] < 1000


@pytest.mark.parametrize("what, whose, times", [
    (what, *how) for what in ("run", "process") for how in [*((whose, 1) for whose in WHOSE), ("library", 4)]])
def test_a_run_without_memory_ends_or_is_refused(hosts, tmp_path, what, whose, times):
    with StandinCenter() as center:
        told = host(hosts, whose, tmp_path, center, what, times)
        assert not center.unreadable
        ids = {item["logId"] for item in center.results()}
    assert 10 < told["rounds"] < 1000
    assert ids == set(range(1, told["rounds"] + 1))
    assert 0 < told["entered"] <= told["rounds"]
