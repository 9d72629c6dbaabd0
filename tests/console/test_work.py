# SPDX-License-Identifier: Apache-2.0
"""The form of a job and the list of runs, beyond the first steps: kinds of schedules, preview, errors, filters, many at once."""

import re

import pytest
from playwright.sync_api import expect
from support.v1 import V1
from support.wait import PATIENCE, wait_until


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def make(v1, group, name, handler="demoJobHandler", **more):
    answer = v1.ask("POST", "/jobs", {"name": name, "groupId": group, "schedule": {"type": "CRON", "conf": "0 30 2 * * ?"},
                                      "task": {"kind": "BEAN", "handler": handler}, **more})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def run(v1, job):
    number = v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"]
    wait_until(lambda: v1.get(f"/runs/{number}")["run"]["outcome"] != "open", "the run to end")
    return number


def test_a_schedule_is_chosen_in_words_and_its_firings_are_told_while_one_types(visit, executor, v1):
    page = visit().login("/jobs/new")
    page.get_by_label("Name").fill("Report of each Friday")
    page.get_by_label("Group").select_option(str(executor.group))
    page.get_by_text("Weekly", exact=True).click()
    expect(page.get_by_label("Expression")).to_have_value("0 0 2 ? * MON")
    page.get_by_role("button", name="Fri", exact=True).click()
    page.get_by_role("button", name="Mon", exact=True).click()
    page.get_by_label("At", exact=True).fill("17:30")
    expect(page.get_by_label("Expression")).to_have_value("0 30 17 ? * FRI")
    preview = page.get_by_role("complementary")
    expect(preview.get_by_role("row").nth(5)).to_contain_text("17:30:00")
    page.get_by_text("Cron", exact=True).click()
    page.get_by_label("Expression").fill("30 17 * * 5")
    page.get_by_role("button", name=re.compile("^Use ")).click()
    expect(preview.get_by_role("row").nth(5)).to_contain_text("17:30:00")
    page.get_by_label("Retries").fill("2")
    expect(page.get_by_text("Tries at 0 s, 5 s, 10 s")).to_be_visible()
    page.get_by_label("JobHandler").fill("demoJobHandler")
    page.get_by_role("button", name="Save and run once").click()
    page.get_by_role("status").get_by_role("button", name="Open the run").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Report of each Friday")


def test_a_faulty_expression_is_said_at_its_field_before_it_is_saved(visit, executor):
    v = visit()
    page = v.login("/jobs/new")
    page.get_by_text("Cron", exact=True).click()
    page.get_by_label("Expression").fill("0 0 25 * * ?")
    expect(page.get_by_label("Expression")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("The schedule cannot be read:")).to_be_visible()
    page.get_by_label("Expression").fill("0 0 0 29 2 ?")
    expect(page.get_by_text("29 February")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    summary = page.get_by_role("alert")
    expect(summary).to_contain_text("This must not be empty.")
    summary.get_by_role("link").last.click()
    assert page.evaluate("document.activeElement.dataset.field")
    assert not v.axe()


def test_what_another_changed_and_what_i_changed_are_put_together(visit, v1, executor):
    job = make(v1, executor.group, "Edited by two")
    page = visit().login(f"/jobs/{job}/edit")
    page.get_by_label("Parameter").fill("mine")
    etag = v1.ask("GET", f"/jobs/{job}").etag
    assert v1.ask("PATCH", f"/jobs/{job}", {"owner": "dev-9"}, If_Match=etag).status == 200
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("row", name="Owner")).to_contain_text("dev-9")
    expect(page.get_by_role("row", name="Owner").get_by_role("radio").first).to_be_checked()
    page.get_by_role("button", name="Take what is chosen").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edited by two")
    now = v1.get(f"/jobs/{job}")
    assert (now["owner"], now["task"]["param"]) == ("dev-9", "mine")


def test_a_script_begins_with_the_template_of_its_language(visit, v1, executor):
    page = visit().login("/jobs/new")
    page.get_by_label("Name").fill("A script")
    page.get_by_label("Group").select_option(str(executor.group))
    page.get_by_text("By hand", exact=True).click()
    page.get_by_label("Run mode").select_option("GLUE_PYTHON")
    expect(page.get_by_role("textbox", name="Script")).to_contain_text("import sys")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("tab", name="Script").click()
    expect(page.get_by_role("textbox", name=re.compile("^Version"))).to_contain_text("import sys")
    page.get_by_role("link", name="Jobs", exact=False).first.click()
    page.get_by_role("link", name="New job").click()
    expect(page.get_by_label("Group")).to_have_value(str(executor.group))  # the one last used


def test_runs_are_filtered_and_new_ones_wait_until_they_are_asked_for(visit, v1, executor):
    job, other = make(v1, executor.group, "Filtered"), make(v1, executor.group, "Failing", handler="noSuchHandler")
    run(v1, job)
    failed = run(v1, other)
    v = visit()
    page = v.login(f"/runs?job={job}")
    expect(page.locator("tbody tr")).to_have_count(1)
    run(v1, job)
    page.get_by_role("button", name="1 new").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_label("Follow").check()
    run(v1, job)
    expect(page.locator("tbody tr")).to_have_count(3, timeout=30000 * PATIENCE)
    page.goto(f"{v.url}/runs?outcome={v1.get(f'/runs/{failed}')['run']['outcome']}")
    expect(page.get_by_role("link", name="Failing")).to_be_visible()
    expect(page.get_by_role("link", name="Filtered")).to_have_count(0)
    page.get_by_role("button", name="More filters").click()
    page.get_by_label("Took at least, seconds").fill("3600")
    page.get_by_label("Took at least, seconds").press("Enter")
    expect(page.get_by_text("No run matches these filters.")).to_be_visible()
    expect(page).to_have_url(re.compile("minTookMs=3600000"))
    assert not v.axe()


def test_chosen_runs_run_again_and_old_ones_are_counted_before_they_go(visit, v1, executor):
    job = make(v1, executor.group, "Again and again")
    run(v1, job)
    run(v1, job)
    page = visit().login(f"/runs?job={job}")
    page.get_by_label("Choose all rows here").check()
    page.get_by_role("button", name="Run again").click()
    page.get_by_role("dialog").get_by_role("button", name="Do it for 2").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    wait_until(lambda: v1.get(f"/runs?job={job}")["page"]["total"]["value"] == 4, "two more runs")
    page.get_by_role("button", name="Clean").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("0 rows will go.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Delete them")).to_be_disabled()
    wait_until(lambda: all(r["outcome"] != "open" for r in v1.get(f"/runs?job={job}")["items"]), "the runs to end")
    dialog.get_by_label("Which").select_option("all")
    expect(dialog.get_by_text("4 rows will go.")).to_be_visible()
    dialog.get_by_role("button", name="Delete them").click()
    expect(page.get_by_text("4 rows are deleted.")).to_be_visible()
    wait_until(lambda: not v1.get(f"/runs?job={job}")["items"], "the rows to go")


def test_jobs_are_found_by_words_and_tokens_and_sorted(visit, v1, executor):
    make(v1, executor.group, "Zebra count", owner="dev-7")
    make(v1, executor.group, "Apple count", owner="dev-7")
    make(v1, executor.group, "Pear count", owner="dev-8")
    v = visit()
    page = v.login("/jobs")
    field = page.get_by_label("Name, handler, owner or id")
    field.fill("owner:dev-7 state:stopped count")
    field.press("Enter")
    expect(page).to_have_url(re.compile(r"owner=dev-7.*q=count|q=count.*owner=dev-7"))
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Name", exact=True).click()
    expect(page.locator("tbody tr").first).to_contain_text("Apple count")
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name=re.compile("Take away: Owner")).click()
    expect(page.locator("tbody tr")).to_have_count(3)
    owner = page.get_by_role("combobox", name="Owner")
    expect(page.locator("datalist#known-owner option[value=dev-8]")).to_be_attached()
    owner.fill("dev-8")
    owner.press("Enter")
    expect(page).to_have_url(re.compile("owner=dev-8"))
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("Pear count")
    assert not v.axe()


def test_jobs_that_come_wait_until_they_are_asked_for_and_cells_change_in_place(visit, v1, executor):
    first = make(v1, executor.group, "Waits 1", schedule={"type": "CRON", "conf": "0 30 2 * * ?"}, start=True)
    page = visit().login("/jobs?q=Waits&state=scheduled")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("Every day at 02:30")
    make(v1, executor.group, "Waits 2", schedule={"type": "CRON", "conf": "0 30 2 * * ?"}, start=True)
    expect(page.get_by_role("button", name="1 changed – show")).to_be_visible(timeout=30000 * PATIENCE)
    assert v1.ask("PATCH", f"/jobs/{first}", {"owner": "another"}, If_Match="*").status == 200
    expect(rows.first).to_contain_text("another", timeout=30000 * PATIENCE)
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="1 changed – show").click()
    expect(rows).to_have_count(2)
    expect(page.get_by_role("button", name="1 changed – show")).to_have_count(0)
    page.get_by_label("Choose Waits 2").check()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Do it for 1").click()
    expect(rows).to_have_count(1)  # one's own change is no surprise


def test_many_jobs_are_stopped_after_a_look_and_started_again(visit, v1, executor):
    ids = [v1.ask("POST", "/jobs", {"name": f"Bulk {n}", "groupId": executor.group, "start": True,
                                    "schedule": {"type": "CRON", "conf": f"0 {n} 2 * * ?"},
                                    "task": {"kind": "BEAN", "handler": "demoJobHandler"}}).json["id"] for n in (1, 2)]
    page = visit().login("/jobs?q=Bulk")
    for n in (1, 2):
        page.get_by_label(f"Choose Bulk {n}").check()
    page.get_by_role("button", name="Stop", exact=True).click()
    dialog = page.get_by_role("dialog", name="Stop these jobs?")
    dialog.get_by_role("button", name="Do it for 2").click()
    expect(page.get_by_role("status")).to_contain_text("Done for 2.")
    assert {v1.get(f"/jobs/{i}")["state"] for i in ids} == {"stopped"}
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    wait_until(lambda: {v1.get(f"/jobs/{i}")["state"] for i in ids} == {"scheduled"}, "both jobs to be scheduled again")


def test_a_deletion_of_many_can_be_called_back(visit, v1, executor):
    made = v1.ask("POST", "/jobs", {"name": "Not deleted", "groupId": executor.group, "schedule": {"type": "NONE"},
                                    "task": {"kind": "BEAN", "handler": "demoJobHandler"}}).json["id"]
    page = visit().login("/jobs?q=Not+deleted")
    page.get_by_label("Choose Not deleted").check()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Do it for 1").click()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.wait_for_timeout(11000)  # the time for which a deletion is held
    assert v1.get(f"/jobs/{made}")["name"] == "Not deleted"
