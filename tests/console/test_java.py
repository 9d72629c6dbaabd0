# SPDX-License-Identifier: Apache-2.0
"""An executor of XXL-JOB's own library behind the console: run, follow its log, kill. The interop suite builds it."""

import importlib.util
import os
import subprocess

import pytest
from playwright.sync_api import expect
from steps import new_job
from support.center import ROOT
from support.v1 import V1
from support.wait import PATIENCE, wait_until

LONG = 60000 * PATIENCE
INTEROP, MISSING, UNREACHABLE = ROOT / "tests" / "interop", 77, 76  # build.sh's statuses


@pytest.fixture(scope="module")
def java(center, tmp_path_factory):
    """A Java executor, registered. Without the tool chain these flows are left out, as the interop suite's are."""
    spec = importlib.util.spec_from_file_location("interop_executors", INTEROP / "executors.py")
    executors = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(executors)
    library = next(one for one in executors.libraries() if one.name.startswith("java-3"))
    done = subprocess.run([INTEROP / "build.sh", library.name], capture_output=True, text=True, check=False)
    if done.returncode in (MISSING, UNREACHABLE) and os.environ.get("CI") != "true":
        pytest.skip(done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    it = executors.Executor(library, center, "console-java", tmp_path_factory.mktemp("java"))
    it.group = center.api().add_group("console-java")
    try:
        it.start()
        wait_until(lambda: it.address in center.api().addresses("console-java"), "the Java executor to register", 30)
        yield it
    finally:
        it.stop()


def test_a_java_executor_runs_logs_and_is_killed_from_the_console(visit, center, java):
    v1 = V1(center)
    short = new_job(v1, java.group, "Java, short", task={"kind": "BEAN", "handler": "demoJobHandler", "param": "from the console"})
    endless = new_job(v1, java.group, "Java, endless", task={"kind": "BEAN", "handler": "sleepJobHandler", "param": "600000"})
    v = visit()
    page = v.login(f"/executors/{java.group}")
    row = page.get_by_role("row", name=java.address.removeprefix("http://").rstrip("/"))
    expect(row).to_contain_text("XXL-JOB")
    row.get_by_role("button", name="Query now").click()
    expect(page.get_by_role("status").filter(has_text="Answered after")).to_be_visible(timeout=LONG)
    page.goto(f"{v.url}/jobs/{short}")
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    page.get_by_role("status").get_by_role("button", name="Open the run").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Succeeded: Java, short", timeout=LONG)
    expect(page.get_by_role("region", name="Log")).to_contain_text("from the console", timeout=LONG)
    expect(page.get_by_text("Finished. The whole log is here.")).to_be_visible(timeout=LONG)
    page.goto(f"{v.url}/jobs/{endless}")
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    page.get_by_role("status").get_by_role("button", name="Open the run").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Running: Java, endless", timeout=LONG)
    wait_until(lambda: java.trace(event="start")[1:], "the handler to start", 30)
    expect(page.get_by_role("region", name="Log")).to_contain_text("before the sleep", timeout=LONG)
    page.get_by_role("button", name="Kill").click()
    page.get_by_role("dialog").get_by_role("button", name="Kill").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Killed", timeout=LONG)
    wait_until(lambda: java.trace(event="interrupted"), "the handler to be interrupted", 30)
