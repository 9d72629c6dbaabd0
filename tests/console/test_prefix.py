# SPDX-License-Identifier: Apache-2.0
"""Under a path, and over plain HTTP: what people do works there as well, and nothing leads out of it."""

import re
import urllib.parse

import pytest
from conftest import Visitor
from playwright.sync_api import expect
from steps import ended, run_script
from support.center import Center
from support.executor import Executor
from support.v1 import V1
from support.wait import PATIENCE, wait_until

PREFIX = "/tools/peal"


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("center"), ["--http.prefix", PREFIX]) as it:
        yield it


@pytest.fixture(scope="module")
def shell(center, tmp_path_factory):
    group = center.api().add_group("prefix-shell")
    with Executor(tmp_path_factory.mktemp("shell"), center.url, app="prefix-shell", args=["--peal.executor.glue=shell"]) as it:
        wait_until(lambda: center.api().addresses("prefix-shell"), "the executor to register")
        it.group = group
        yield it


@pytest.mark.parametrize("host", ["127.0.0.1", "peal.test"])
def test_the_day_of_a_user_under_a_prefix(browser, center, shell, host):
    """By the address of this machine, where browsers allow everything, and by a name over plain HTTP, where there is
    no secure context."""
    v1 = V1(center)
    run = run_script(v1, shell.group, f"Under a path by {host}", "seq -f 'line %g' 1 300; echo wrong; exit 3\n")
    job = ended(v1, run)["job"]["id"]
    v = Visitor(browser, center)
    v.url = v.url.replace("127.0.0.1", host)
    asked = []
    v.page.on("request", lambda r: asked.append(r.url))
    page = v.login("/runs", prefix=PREFIX)
    assert page.evaluate("isSecureContext") == (host == "127.0.0.1")
    expect(page).to_have_url(f"{v.url}{PREFIX}/runs")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Overview").click()
    expect(page.get_by_text("Every firing is accounted for")).to_be_visible()
    expect(page.locator("[data-row]", has_text=f"Under a path by {host}")).to_be_visible(timeout=30000 * PATIENCE)
    page.locator("[data-row]", has_text=f"by {host}").get_by_role("link", name="Open run").click()
    expect(page).to_have_url(re.compile(rf"^{re.escape(v.url + PREFIX)}/runs/\d+$"))
    expect(page.get_by_role("region", name="Log")).to_contain_text("wrong")
    page.get_by_role("searchbox", name="Find").fill("line 29")
    expect(page.get_by_role("status").filter(has_text="11")).to_be_visible()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Copied").or_(page.get_by_label("Copy link").and_(page.locator("input")))).to_be_visible()
    page.get_by_role("button", name="Run again…").click()
    page.get_by_role("dialog").get_by_role("button", name="Run again").click()
    page.wait_for_url(lambda url: "/runs/" in url and not url.endswith(f"/runs/{run}"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Failed")
    page.goto(f"{v.url}{PREFIX}/jobs/{job}?tab=script")
    page.get_by_role("tabpanel").get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Draft").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(f"echo published by {host}\n")
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("dialog").get_by_label("Remark").fill("under a path")
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Published. The next run takes it.")).to_be_visible()
    newest = v1.get(f"/jobs/{job}/scripts?limit=1")["items"][0]["version"]
    assert v1.get(f"/jobs/{job}/scripts/{newest}")["source"].strip() == f"echo published by {host}"
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search and commands").fill("executors")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{v.url}{PREFIX}/executors")
    page.get_by_role("button", name="Your menu").click()
    page.get_by_role("menuitem", name="Log out").click()
    expect(page).to_have_url(re.compile(rf"^{re.escape(v.url + PREFIX)}/login"))
    out = {url for url in asked if not urllib.parse.urlsplit(url).path.startswith(PREFIX + "/") and not url.startswith("data:")}
    v.context.close()
    assert not out, f"requests that left {PREFIX}: {out}"
    assert not v.complaints
