# SPDX-License-Identifier: Apache-2.0
"""The console in front of much: a log of 20,000 lines, 20,000 jobs, 50,000 runs. bench/console.py measures more."""

import pathlib
import re
import sys

import pytest
from conftest import Visitor
from playwright.sync_api import expect
from steps import ended, run_script
from support.center import ROOT, Center
from support.executor import Executor
from support.v1 import V1
from support.wait import PATIENCE, wait_until

sys.path.append(str(ROOT / "bench"))
import pages  # noqa: E402 (found through the path just set)

LINES, JOBS, RUNS = 20000, 20000, 50000
LONG = 60000 * PATIENCE


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    """A center whose tables were filled while it was stopped."""
    it = Center(tmp_path_factory.mktemp("center"), ["--log.retention-days", "30"])
    it.start()
    it.stop()
    pages.fill(pathlib.Path(it.data), JOBS, RUNS)
    with it:
        yield it


def frames(page, what):
    """How long the page did not draw while `what` went on: the longest pause between two frames, in ms."""
    page.evaluate("""() => { window.pauses = {last: performance.now(), most: 0, on: true}; const look = now => {
        pauses.most = Math.max(pauses.most, now - pauses.last); pauses.last = now; if (pauses.on) requestAnimationFrame(look) }; requestAnimationFrame(look) }""")
    what()
    return page.evaluate("() => { pauses.on = false; return pauses.most }")


def test_a_log_of_20000_lines_is_searched_walked_and_jumped_in(browser, center, tmp_path):
    v1, group = V1(center), center.api().add_group("scale-shell")
    with Executor(tmp_path, center.url, app="scale-shell", args=["--peal.executor.glue=shell"]):
        wait_until(lambda: center.api().addresses("scale-shell"), "the executor to register")
        run = run_script(v1, group, "Talks much", f"seq -f 'row %.0f of the table' 1 {LINES}\n")
        ended(v1, run, 60)
        v = Visitor(browser, center)
        page = v.login(f"/runs/{run}")
        log, find = page.get_by_role("region", name="Log"), page.get_by_role("searchbox", name="Find")
        expect(page.get_by_text(re.compile(r"^20,0\d\d lines"))).to_be_visible(timeout=LONG)

        def walk():
            find.fill(f"row {LINES - 1} ")
            expect(page.get_by_role("status").filter(has_text=re.compile("^1$"))).to_be_visible()
            find.press("Enter")
            expect(log.locator("mark")).to_have_text(f"row {LINES - 1} ")
            find.fill("row 1")
            expect(page.get_by_role("status").filter(has_text="11,111")).to_be_visible()
            find.fill("")
            log.focus()
            page.keyboard.press("Home")
            expect(log).to_contain_text("row 1 of the table")
            page.keyboard.press("End")
            expect(log).to_contain_text(f"row {LINES} of the table")
            log.evaluate("e => { e.scrollTop = e.scrollHeight / 2 }")
            expect(log).to_contain_text(re.compile(r"row (99|100)\d\d of the table"))
        most = frames(page, walk)
        assert most < 5000 * PATIENCE, f"the page stood still for {most:.0f} ms"
        assert log.locator(".row").count() < 200, "lines out of sight are in the page"
        page.goto(f"{v.url}/runs/{run}#L15000-L15002")
        page.reload()
        expect(page.locator(".marked")).to_have_count(3, timeout=LONG)
        v.context.close()
        assert not v.complaints


def test_the_screens_are_usable_over_many_jobs_and_runs(browser, center):
    v = Visitor(browser, center)
    page = v.login("/jobs")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(50)
    expect(page.locator("main")).to_contain_text(re.compile(r"20,000 in all|over 10,000"))
    page.get_by_role("button", name="Older").click()
    expect(page).to_have_url(re.compile("cursor="))
    expect(rows).to_have_count(50)
    words = page.get_by_label("Name, handler, owner or id")
    words.fill("branch 1777")
    expect(page.get_by_role("link", name="settle accounts of branch 17779", exact=True)).to_be_visible(timeout=LONG)
    words.fill("group:branch-app-7 owner:owner-7 ")
    expect(page).to_have_url(re.compile("group=branch-app-7"))
    expect(rows.first).to_contain_text("branch-app-7")
    expect(rows.first).to_contain_text("owner-7")
    page.goto(f"{v.url}/jobs?sort=next")
    expect(rows).to_have_count(50, timeout=LONG)
    page.get_by_label("Choose all rows here").check()
    page.get_by_role("button", name=re.compile("^Choose all")).click()
    expect(page.get_by_text("1000 chosen")).to_be_visible(timeout=LONG)
    page.goto(f"{v.url}/runs?span=all")
    expect(rows).to_have_count(50, timeout=LONG)
    page.get_by_label("Outcome").select_option("failed")
    expect(rows.first).to_contain_text("the branch is closed", timeout=LONG)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search and commands")
    box.fill("branch 19999")
    expect(page.get_by_role("option", selected=True)).to_contain_text("settle accounts of branch 19999", timeout=LONG)
    box.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("settle accounts of branch 19999", timeout=LONG)
    page.goto(f"{v.url}/upcoming")
    expect(page.get_by_text(re.compile(r"firings in the next 24 hours"))).to_be_visible(timeout=LONG)
    page.goto(f"{v.url}/")
    expect(page.get_by_text("Every firing is accounted for")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("heading", name="Fires next")).to_be_visible()
    v.context.close()
    assert not v.complaints
