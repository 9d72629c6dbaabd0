# SPDX-License-Identifier: Apache-2.0
"""What the console says and keeps while something is broken: a center that was killed, an executor that hangs, a
database that takes no writes."""

import re
import sqlite3

import pytest
from playwright.sync_api import expect
from steps import Hanging, ended, log_of, new_job, run_script, trigger
from support.executor import Executor
from support.v1 import V1
from support.wait import PATIENCE, wait_until

LONG = 60000 * PATIENCE
COUNTS = 'i=0; while [ ! -e go ]; do i=$((i+1)); echo "line $i"; sleep 0.02; done; echo "$i lines"\n'


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(scope="module")
def shell(center, tmp_path_factory):
    """An executor of a group of its own that runs shell scripts."""
    group = center.api().add_group("faults-shell")
    with Executor(tmp_path_factory.mktemp("shell"), center.url, app="faults-shell", args=["--peal.executor.glue=shell"]) as it:
        wait_until(lambda: center.api().addresses("faults-shell"), "the executor to register")
        it.group = group
        yield it


def go(shell):
    """Scripts that wait for it end."""
    for folder in (shell.folder, shell.logs, shell.logs / "gluesource"):
        (folder / "go").touch()


def last_number(log):
    """The number of the last line that the page shows, of those that count."""
    return max([0, *(int(n) for n in re.findall(r"line (\d+)", log.inner_text()))])


def test_a_center_that_is_killed_under_an_open_log_loses_and_doubles_no_line(visit, v1, shell, center):
    run = run_script(v1, shell.group, "Counts", COUNTS)
    v = visit(permissions=["clipboard-read", "clipboard-write"])
    page = v.login(f"/runs/{run}")
    log, cut = page.get_by_role("region", name="Log"), page.locator(".notices").get_by_text("Not connected since")
    wait_until(lambda: last_number(log) > 20, "lines in the page")
    center.kill()
    expect(cut).to_be_visible(timeout=LONG)
    before = last_number(log)
    center.start()
    expect(cut).to_have_count(0, timeout=LONG)
    wait_until(lambda: last_number(log) > before + 20, "lines that came after the kill", 60)
    go(shell)
    expect(log).to_contain_text(re.compile(r"\d+ lines"), timeout=LONG)
    expect(page.get_by_role("heading", level=1)).to_have_text("Succeeded: Counts", timeout=LONG)
    page.get_by_role("button", name="Show and take along").click()
    page.get_by_role("menuitem", name="Copy the marked lines, or all").click()
    shown = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert len(shown) == len(log_of(v1, run))
    counted = [int(line[5:]) for line in shown if line.startswith("line ")]
    assert counted == list(range(1, len(counted) + 1)), "a line is lost, or doubled"
    assert f"{len(counted)} lines" in shown


def test_an_executor_that_hangs_is_said_and_the_pages_stay_usable(visit, v1, shell):
    with Hanging() as hanging:
        answer = v1.ask("POST", "/groups", {"app": "faults-hang", "title": "Hangs", "addressing": "manual", "addresses": [hanging.address]})
        assert answer.status == 201, answer.json
        group, host = answer.json["id"], hanging.address.removeprefix("http://").rstrip("/")
        job = new_job(v1, group, "Sent into silence", running={"route": "FIRST"})
        v = visit()
        page = v.login(f"/runs/{trigger(v1, job)}")
        expect(page.get_by_role("heading", level=1)).to_have_text("Outcome unknown: Sent into silence", timeout=LONG)
        expect(page.locator(".story")).to_contain_text("Executor queried")
        expect(page.get_by_text("No answer came in time.")).to_be_visible(timeout=LONG)  # in place of the log
        expect(page.get_by_text("The executor cannot be reached.")).to_be_visible()
        # The others go on meanwhile, and each page says what hangs.
        other = run_script(v1, shell.group, "Not hanging", "echo fine\n")
        assert ended(v1, other)["outcome"] == "succeeded"
        page.goto(f"{v.url}/executors/{group}")
        row = page.get_by_role("row", name=host)
        expect(row).to_contain_text("Does not answer")
        expect(row).to_contain_text("1 outcome unknown")
        expect(row).to_contain_text("no whole answer in time")
        row.get_by_role("button", name="Query now").click()
        expect(page.get_by_role("status").filter(has_text="Does not answer")).to_be_visible(timeout=LONG)
        page.goto(f"{v.url}/executors")
        expect(page.get_by_role("row", name="faults-hang")).to_contain_text("Does not answer")
        page.goto(f"{v.url}/")
        expect(page.get_by_role("listitem").filter(has_text="faults-hang")).to_contain_text(f"{host} Does not answer")
        attention = page.get_by_role("listitem").filter(has_text="outcome unknown")
        expect(attention).to_contain_text("1")
        attention.get_by_role("link").click()
        expect(page.get_by_role("row", name="Sent into silence")).to_contain_text("Outcome unknown")
        page.goto(f"{v.url}/jobs/{job}")
        expect(page.get_by_role("heading", level=1)).to_have_text("Sent into silence")


def test_a_database_that_takes_no_writes_is_said_on_each_page_and_nothing_typed_is_lost(visit, v1, shell, center):
    job = new_job(v1, shell.group, "Saved later")
    v = visit()
    page = v.login(f"/jobs/{job}/edit")
    page.get_by_label("Parameter").fill("typed while nothing could be written")
    blocker = sqlite3.connect(center.data / "peal.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")  # another program holds the write lock for longer than the center waits
    try:
        v1.ask("POST", f"/jobs/{job}/trigger", {})
        strip = page.get_by_text("The database takes no writes; results are kept.")
        expect(strip).to_be_visible(timeout=LONG)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert").get_by_text("The server cannot do this now. Nothing was changed.")).to_be_visible(timeout=LONG)
        expect(page.get_by_label("Parameter")).to_have_value("typed while nothing could be written")
        second = v.context.new_page()
        for path in ("/jobs", f"/jobs/{job}", "/runs", "/executors", "/upcoming", "/system"):
            second.goto(v.url + path)
            expect(second.locator("main h1").first).to_be_visible()
            expect(second.locator(".notices").get_by_text("The database takes no writes; results are kept.")).to_be_visible(timeout=LONG)
        second.close()
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()
    expect(strip).to_have_count(0, timeout=LONG)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Saved later", timeout=LONG)
    assert v1.get(f"/jobs/{job}")["task"]["param"] == "typed while nothing could be written"
