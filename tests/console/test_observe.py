# SPDX-License-Identifier: Apache-2.0
"""The screens on which one watches: a job and its tabs, a run with its story and log, executors, the overview."""

import re

import pytest
from playwright.sync_api import expect
from support.v1 import V1


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def new_job(v1, executor, name, **more):
    """Make a job of the group console-tests; its id."""
    body = {"name": name, "groupId": executor.group, "schedule": {"type": "NONE"}, "task": {"kind": "BEAN", "handler": "demoJobHandler"}, **more}
    answer = v1.ask("POST", "/jobs", body)
    assert answer.status == 201, answer.json
    return answer.json["id"]


def test_the_settings_of_a_job_show_each_field_and_lead_to_the_form(visit, v1, executor):
    job = new_job(v1, executor, "Settings", schedule={"type": "CRON", "conf": "0 30 2 * * ?"}, running={"retries": 4})
    page = visit().login(f"/jobs/{job}?tab=settings")
    retries = page.locator(".row", has_text=re.compile("^Retries"))
    expect(retries).to_contain_text("4")
    expect(retries).not_to_contain_text("default")
    expect(page.locator(".row", has_text="Block strategy")).to_contain_text("default")
    page.get_by_role("link", name="Edit: Retries").click()
    expect(page).to_have_url(re.compile(rf"/jobs/{job}/edit#running/retries$"))


def test_the_history_says_who_changed_what_and_puts_it_back(visit, v1, executor):
    job = new_job(v1, executor, "History", schedule={"type": "CRON", "conf": "0 30 2 * * ?"})
    answer = v1.ask("PATCH", f"/jobs/{job}", {"schedule": {"conf": "0 45 3 * * ?"}}, If_Match="*")
    assert answer.status == 200, answer.json
    page = visit().login(f"/jobs/{job}?tab=history")
    entry = page.locator("li", has_text="admin changed the job")
    expect(entry.get_by_role("cell", name="0 30 2 * * ?")).to_be_visible()
    expect(entry.get_by_role("cell", name="0 45 3 * * ?")).to_be_visible()
    entry.get_by_role("button", name="Put back").click()
    expect(page.get_by_label("Expression")).to_have_value("0 30 2 * * ?")


def test_the_tabs_of_a_job_are_walked_with_the_keyboard(visit, v1, executor):
    job = new_job(v1, executor, "Tabs")
    page = visit().login(f"/jobs/{job}")
    page.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Schedule")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("This job has no schedule.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"tab=schedule"))


def test_a_job_that_fails_says_so_first_with_its_reason(visit, v1, executor):
    job = new_job(v1, executor, "Fails", task={"kind": "BEAN", "handler": "noSuchHandler"})
    for _ in range(2):
        v1.ask("POST", f"/jobs/{job}/trigger", {})
    page = visit().login(f"/jobs/{job}")
    expect(page.get_by_role("heading", name="The last run did not succeed")).to_be_visible()
    expect(page.locator(".reason")).to_contain_text("noSuchHandler")
    page.get_by_role("button", name="As table").first.click()
    expect(page.get_by_role("cell", name=re.compile("Refused|Failed"))).to_have_count(2)
