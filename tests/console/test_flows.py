# SPDX-License-Identifier: Apache-2.0
"""What people do with the console: log in, make a job, run it, read its log, change it, two at once."""

import os
import re

import pytest
from playwright.sync_api import expect
from support.v1 import V1
from support.wait import PATIENCE

WIDE = {"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", "color_scheme": "light"}
PHONE = {"viewport": {"width": 390, "height": 844}, "locale": "zh-CN", "color_scheme": "dark", "has_touch": True}


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(scope="module")
def job(v1, executor):
    """A job of the group that runs when it is triggered."""
    answer = v1.ask("POST", "/jobs", {"name": "Nightly settlement", "groupId": executor.group, "schedule": {"type": "CRON", "conf": "0 30 2 * * ?"},
                                      "task": {"kind": "BEAN", "handler": "demoJobHandler", "param": "hello"}, "start": True})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def test_a_wrong_password_is_said_and_the_right_one_leads_where_one_wanted(visit):
    v = visit()
    page = v.page
    page.goto(v.url + "/executors")
    expect(page).to_have_url(re.compile(r"/login\?to="))
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_have_text("Name or password is wrong.")
    page.get_by_label("Password").fill(v.center.password)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(v.url + "/executors")
    page.get_by_role("button", name="Your menu").click()
    page.get_by_role("menuitem", name="Log out").click()
    expect(page.get_by_label("Password")).to_be_visible()
    page.goto(v.url + "/jobs")
    expect(page.get_by_label("Password")).to_be_visible()


def test_a_job_is_made_run_and_its_log_read(visit, executor):
    page = visit().login("/jobs/new")
    page.get_by_label("Name").fill("Report of the week")
    page.get_by_label("Group").select_option(str(executor.group))
    page.get_by_label("Expression").fill("0 0 3 ? * MON-FRI")
    page.get_by_label("JobHandler").fill("demoJobHandler")
    page.get_by_label("Parameter").fill("from the console")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Report of the week")
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    page.get_by_role("status").get_by_role("button", name="Open the run").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Succeeded: Report of the week")
    expect(page.get_by_role("region", name="Log")).to_contain_text("job execute end(finish)")


def test_an_error_stands_at_its_field_and_nothing_typed_is_lost(visit, executor):
    page = visit().login("/jobs/new")
    page.get_by_label("Name").fill("Wrong schedule")
    page.get_by_label("Group").select_option(str(executor.group))
    page.get_by_label("Expression").fill("0 0 25 * * ?")
    page.get_by_label("JobHandler").fill("demoJobHandler")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Expression")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Expression")).to_be_focused()
    page.once("dialog", lambda d: d.accept())
    page.reload()
    expect(page.get_by_label("Name")).to_have_value("Wrong schedule")
    expect(page.get_by_label("Expression")).to_have_value("0 0 25 * * ?")


def test_of_two_who_edit_one_job_the_second_is_told(visit, job):
    first, second = visit().login(f"/jobs/{job}/edit"), visit().login(f"/jobs/{job}/edit")
    for page, text in ((first, "of the first"), (second, "of the second")):
        expect(page.get_by_label("Parameter")).not_to_have_value("")
        page.get_by_label("Parameter").fill(text)
    first.get_by_role("button", name="Save", exact=True).click()
    expect(first.get_by_role("heading", level=1)).to_have_text("Nightly settlement")
    second.get_by_role("button", name="Save", exact=True).click()
    expect(second.get_by_role("alert")).to_contain_text("Somebody changed this job")
    expect(second.get_by_label("Parameter")).to_have_value("of the second")
    expect(second.get_by_role("row", name="Parameter")).to_contain_text("of the first")
    second.get_by_role("button", name="Take what is chosen").click()
    expect(second.get_by_label("Parameter")).to_have_value("of the second")
    second.get_by_role("button", name="Save", exact=True).click()
    expect(second.get_by_role("heading", level=1)).to_have_text("Nightly settlement")


def test_a_job_is_stopped_and_started_again(visit, job):
    page = visit().login(f"/jobs/{job}")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()


def test_a_session_that_ends_under_a_form_costs_nothing(visit, job, center):
    v = visit()
    page = v.login(f"/jobs/{job}/edit")
    page.get_by_label("Parameter").fill("typed before the end")
    v.context.clear_cookies()
    over = page.get_by_role("dialog")
    expect(over).to_be_visible(timeout=60000 * PATIENCE)  # what the frame reads by itself meets the end first
    over.get_by_label("Name").fill("admin")
    over.get_by_label("Password").fill(center.password)
    over.get_by_role("button", name="Log in").click()
    expect(over).to_have_count(0)
    expect(page.get_by_label("Parameter")).to_have_value("typed before the end")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Nightly settlement")


def test_everything_works_under_xxl_jobs_prefix(visit, job):
    v = visit()
    page = v.login(f"/jobs/{job}", prefix="/xxl-job-admin")
    expect(page).to_have_url(f"{v.url}/xxl-job-admin/jobs/{job}")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    expect(page).to_have_url(f"{v.url}/xxl-job-admin/runs")
    page.goto(f"{v.url}/xxl-job-admin/jobcode?jobId={job}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nightly settlement")


SCREENS = ["/login", "/", "/?range=7d", "/upcoming", "/audit", "/users", "/users/1", "/system", "/system?tab=settings", "/system?tab=about", "/jobs", "/jobs/new", "/jobs/{job}", "/jobs/{job}?tab=schedule", "/jobs/{job}?tab=runs", "/jobs/{job}?tab=settings", "/jobs/{job}?tab=history", "/jobs/{job}/edit",
           "/runs", "/runs/{run}", "/executors", "/executors/{group}", "/executors/-/{key}", "/me", "/no/such/screen"]


def looks():
    """The two that are always looked at; with PEAL_AXE=all each theme, width and language."""
    yield "light-1440", WIDE
    yield "zh-dark-390", PHONE
    if os.environ.get("PEAL_AXE") == "all":
        for theme in ("light", "dark"):
            for base in (WIDE, PHONE):
                for locale in ("en-GB", "zh-CN", "zh-TW"):
                    yield f"{locale}-{theme}-{base['viewport']['width']}-axe", {**base, "locale": locale, "color_scheme": theme}


@pytest.mark.parametrize("look, options", looks())
def test_each_screen_has_no_complaint_and_no_sideways_scrolling(visit, v1, executor, job, look, options):
    ids = {"job": job, "run": v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"], "group": executor.group,
           "key": v1.ask("GET", "/executors").json["items"][0]["key"]}
    v = visit(**options)
    page = v.login()
    for path in SCREENS:
        page.goto(v.url + path.format(**ids))
        page.locator("main h1").first.wait_for()
        expect(page.get_by_text(re.compile("^(Loading|加载中)…$"))).to_have_count(0)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} is {wide} pixels too wide"
        assert not v.axe(), path + "".join("\n  " + line for line in v.axe())
        v.picture(f"{path.strip('/').translate(str.maketrans('', '', '{}')).replace('/', '-').replace('?tab=', '-')}-{look}")
