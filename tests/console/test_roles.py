# SPDX-License-Identifier: Apache-2.0
"""Who sees what: each role goes through the pages and finds what it may do, and nothing else. XXL-JOB's two roles as
well, made as its console makes them."""

import re

import pytest
from conftest import Visitor
from playwright.sync_api import expect
from steps import ended, new_job, trigger
from support.center import Center
from support.v1 import V1

PASSWORD = "of-the-role"
ROLES = ["viewer", "operator", "editor", "developer"]
# What a page offers, the least role of its group that is offered it, and how it is found.
OFFERS = [
    ("/jobs", "editor", lambda p: p.get_by_role("link", name="New job")),
    ("/jobs", "operator", lambda p: p.get_by_label("Choose Shown to roles")),
    ("/jobs/{job}", "operator", lambda p: p.get_by_role("button", name="Run now")),
    ("/jobs/{job}", "operator", lambda p: p.get_by_role("button", name="Start", exact=True)),
    ("/jobs/{job}", "editor", lambda p: p.get_by_role("link", name="Edit", exact=True)),
    ("/jobs/{job}?tab=settings", "editor", lambda p: p.get_by_role("link", name="Edit: Retries")),
    ("/jobs/{script}?tab=script", "developer", lambda p: p.get_by_role("button", name="Edit", exact=True)),
    ("/runs", "operator", lambda p: p.get_by_label("Choose all rows here")),
    ("/runs", "editor", lambda p: p.get_by_role("button", name="Clean…")),
    ("/runs/{run}", "operator", lambda p: p.get_by_role("button", name="Run again…")),
    ("/executors/{group}", "operator", lambda p: p.get_by_role("button", name="Query now")),
    ("/executors", "admin", lambda p: p.get_by_role("button", name="New group")),
    ("/executors/{group}", "admin", lambda p: p.get_by_role("button", name="Edit", exact=True)),
    ("/executors/{group}", "admin", lambda p: p.get_by_role("button", name="Forget")),
    ("/system", "admin", lambda p: p.get_by_role("tab", name="Settings")),
]
# A page of its own permission: who may see it, and its heading.
PAGES = [("/audit", {"auditor", "admin"}, "Audit"), ("/users", {"admin"}, "Users"),
         ("/jobs/new", {"editor", "developer", "admin"}, "New job"),
         ("/jobs/{job}/edit", {"editor", "developer", "admin"}, "Edit Shown to roles")]


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(scope="module")
def shown(v1, center, executor):
    """Things of the group, and a job of another group."""
    job = new_job(v1, executor.group, "Shown to roles", schedule={"type": "CRON", "conf": "0 30 2 * * ?"})
    other = v1.ask("POST", "/groups", {"app": "other-people", "title": "Others", "addressing": "registry"}).json["id"]
    script = new_job(v1, executor.group, "Script of the roles", task={"kind": "GLUE_SHELL"}, script="echo\n")
    run = trigger(v1, job)
    ended(v1, run)
    return {"job": job, "run": run, "group": executor.group, "script": script, "elsewhere": new_job(v1, other, "Of other people")}


def made(v1, center, name, group):
    """A user of that role in the group; its grade among OFFERS."""
    api = center.api()
    if name == "xxl-admin":
        api.call("/user/insert", username=name, password=PASSWORD, role=1, permission="")
        return "admin"
    if name == "xxl-user":
        api.call("/user/insert", username=name, password=PASSWORD, role=0, permission=str(group))
        return "developer"
    rights = {"center": name} if name in ("auditor", "admin") else {"grants": [{"role": name, "groups": [group]}]}
    answer = v1.ask("POST", "/users", {"name": f"role-{name}", "password": PASSWORD, **rights})
    assert answer.status == 201, answer.json
    return name


@pytest.mark.parametrize("name", [*ROLES, "auditor", "admin", "xxl-user", "xxl-admin"])
def test_a_role_sees_what_it_may_do_and_nothing_else(visit, v1, center, shown, name):
    grade = made(v1, center, name, shown["group"])
    may = set(ROLES[:ROLES.index(grade) + 1]) if grade in ROLES else {*ROLES, "admin"} if grade == "admin" else {"viewer"}
    v = visit()
    page = v.login("/jobs", name=name if name.startswith("xxl") else f"role-{name}", password=PASSWORD)
    expect(page.get_by_role("link", name="Shown to roles")).to_be_visible()
    everywhere = grade in ("auditor", "admin")
    expect(page.get_by_role("link", name="Of other people")).to_have_count(1 if everywhere else 0)
    rail = page.get_by_role("navigation", name="Main")
    for place, who in (("Audit", {"auditor", "admin"}), ("Users", {"admin"}), ("System", {grade})):
        expect(rail.get_by_role("link", name=place)).to_have_count(1 if grade in who else 0)
    at = None
    for path, least, offer in OFFERS:
        if path != at:
            at = path
            page.goto(v.url + path.format(**shown))
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            expect(page.get_by_text(re.compile("^Loading…$"))).to_have_count(0)
        if least in may:
            expect(offer(page).first).to_be_visible()
        else:
            expect(offer(page)).to_have_count(0)
    for path, who, heading in PAGES:
        page.goto(v.url + path.format(**shown))
        expect(page.get_by_role("heading", level=1)).to_have_text(heading if grade in who else "You may not see this")
    page.goto(f"{v.url}/jobs/{shown['elsewhere']}")
    if everywhere:
        expect(page.get_by_role("heading", level=1)).to_have_text("Of other people")
    else:
        expect(page.get_by_role("alert")).to_contain_text("This does not exist, or you may not see it.")


def test_a_user_without_a_grant_is_told_so_on_each_page(visit, v1, center, shown):
    assert v1.ask("POST", "/users", {"name": "no-grant", "password": PASSWORD}).status == 201
    v = visit()
    page = v.login("/", name="no-grant", password=PASSWORD)
    for path in ("/", "/jobs", "/runs", "/upcoming", "/executors", "/system", f"/jobs/{shown['job']}", f"/runs/{shown['run']}"):
        page.goto(v.url + path)
        expect(page.get_by_role("heading", level=1)).to_have_text("You may not see this")
        expect(page.get_by_text("see jobs, runs, logs. An administrator can give it.")).to_be_visible()
    expect(page.get_by_role("navigation", name="Main").get_by_role("listitem")).to_have_count(0)
    page.goto(v.url + "/me")
    expect(page.get_by_role("heading", name="Password")).to_be_visible()


def test_a_generated_password_is_changed_before_anything_else(browser, tmp_path):
    with Center(tmp_path, env={"PEAL_ADMIN_PASSWORD": ""}) as center:
        v = Visitor(browser, center)
        page = v.login("/jobs", password=center.output.read_text().split("password  ")[1].split()[0])
        expect(page).to_have_url(f"{v.url}/me?to=/jobs")
        expect(page.get_by_role("alert")).to_contain_text("Your password was generated.")
        page.goto(v.url + "/runs")
        expect(page).to_have_url(f"{v.url}/me?to=/runs")
        page.get_by_label("Present password").fill("mistyped")
        page.get_by_label("New password", exact=True).or_(page.get_by_label("New password *", exact=True)).fill("chosen by a person")
        page.get_by_label("New password again").fill("chosen by a person")
        page.get_by_role("button", name="Change the password").click()
        expect(page.get_by_text("This is not your present password.")).to_be_visible()
        page.get_by_label("Present password").fill(center.output.read_text().split("password  ")[1].split()[0])
        page.get_by_role("button", name="Change the password").click()
        expect(page).to_have_url(f"{v.url}/runs")
        expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
        expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Users")).to_be_visible()
        v.context.close()
        assert not v.complaints
