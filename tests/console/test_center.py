# SPDX-License-Identifier: Apache-2.0
"""The center's side of the console: users, tokens, profile, audit, system; palette and keys."""

import re

import pytest
from conftest import Visitor
from playwright.sync_api import expect
from support import servers
from support.cluster import fresh, node, wait_for
from support.v1 import V1
from support.wait import PATIENCE


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(scope="module")
def job(v1, executor):
    answer = v1.ask("POST", "/jobs", {"name": "Settle card payments", "groupId": executor.group, "schedule": {"type": "CRON", "conf": "0 30 2 * * ?"},
                                      "task": {"kind": "BEAN", "handler": "demoJobHandler"}})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def new_user(v1, name, **rights):
    answer = v1.ask("POST", "/users", {"name": name, "password": "first-password", **rights})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def test_a_user_is_added_with_a_grant_and_logs_in_with_the_password_shown_once(visit, executor):
    page = visit().login("/users")
    page.get_by_role("button", name="New user").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("X")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_text("4 to 20 characters.", exact=True)).to_be_visible()
    dialog.get_by_label("Name").fill("dev-2")
    dialog.get_by_label("Role").select_option("operator")
    dialog.get_by_label("In which groups").select_option("some")
    dialog.get_by_label("console-tests").check()
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("heading")).to_have_text("dev-2 can log in now")
    password = dialog.get_by_label("Password").input_value()
    assert len(password) == 16
    dialog.get_by_role("button", name="Close").click()
    row = page.get_by_role("row", name=re.compile("dev-2"))
    expect(row).to_contain_text("Operator")
    expect(row).to_contain_text("console-tests")
    other = visit().login("/users", name="dev-2", password=password)
    expect(other.get_by_role("heading", level=1)).to_have_text("You may not see this")
    expect(other.get_by_role("navigation", name="Main").get_by_role("link", name="Users")).to_have_count(0)
    expect(other.get_by_role("navigation", name="Main").get_by_role("link", name="Jobs")).to_be_visible()


def test_rights_are_changed_a_password_renewed_and_the_user_deleted(visit, v1, executor):
    user = new_user(v1, "changed-1", grants=[{"role": "viewer", "groups": None}])
    v = visit()
    page = v.login(f"/users/{user}")
    page.get_by_label("Role").first.select_option("developer")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("The rights of changed-1 are saved.")
    assert v1.get(f"/users/{user}")["grants"] == [{"role": "developer", "groups": None}]
    page.get_by_role("button", name="New password").click()
    page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    password = page.get_by_role("dialog").get_by_label("Password").input_value()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    visit().login("/me", name="changed-1", password=password)
    page.reload()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page).to_have_url(v.url + "/users")
    assert v1.ask("GET", f"/users/{user}").status == 404


def test_nobody_changes_the_own_rights(visit):
    page = visit().login("/users/1")
    expect(page.get_by_text("Nobody changes the own rights.")).to_be_visible()
    expect(page.get_by_role("button", name="Delete")).to_be_disabled()
    expect(page.get_by_label("For the whole center")).to_be_disabled()


def test_a_token_is_made_shown_once_with_a_line_that_works_and_withdrawn(visit, center):
    page = visit().login("/me")
    page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What for").fill("deploy")
    read = dialog.get_by_role("checkbox", name=re.compile("^read"))
    read.uncheck()
    dialog.get_by_role("checkbox", name=re.compile("^run")).check()
    expect(read).to_be_checked()
    expect(read).to_be_disabled()
    dialog.get_by_role("button", name="Make the token").click()
    secret = dialog.get_by_label("Token", exact=True).input_value()
    assert dialog.get_by_label("Try it").input_value() == f"curl -H 'Authorization: Bearer {secret}' {center.url}/api/v1/jobs"
    token = V1(center, token=secret)
    assert token.ask("GET", "/jobs").status == 200
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_text(secret)).to_have_count(0)
    page.get_by_role("button", name="Withdraw deploy?").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("The token deploy is withdrawn.")).to_be_visible()
    assert token.ask("GET", "/jobs").status == 401


def test_ones_own_password_is_changed_and_other_sessions_are_ended(visit, v1):
    new_user(v1, "myself-1", grants=[{"role": "viewer", "groups": None}])
    first, second = (visit().login("/me", name="myself-1", password="first-password") for _ in range(2))
    expect(second.get_by_role("button", name=re.compile("End the session"))).to_have_count(1)
    second.get_by_role("button", name=re.compile("End the session")).click()
    expect(second.get_by_role("button", name=re.compile("End the session"))).to_have_count(0)
    first.reload()
    expect(first.get_by_label("Password")).to_be_visible()
    second.get_by_label("Present password").fill("not this")
    second.get_by_label("New password", exact=False).first.fill("a-longer-word")
    second.get_by_label("New password again").fill("another-word")
    second.get_by_role("button", name="Change the password").click()
    expect(second.get_by_text("The two new passwords differ.")).to_be_visible()
    second.get_by_label("New password again").fill("a-longer-word")
    second.get_by_role("button", name="Change the password").click()
    expect(second.get_by_text("This is not your present password.")).to_be_visible()
    second.get_by_label("Present password").fill("first-password")
    second.get_by_role("button", name="Change the password").click()
    expect(second.get_by_text("The password is changed.")).to_be_visible()
    visit().login("/me", name="myself-1", password="a-longer-word")


def test_language_theme_and_keys_follow_the_user_to_another_browser(visit, v1):
    new_user(v1, "shown-1", grants=[{"role": "viewer", "groups": None}])
    page = visit().login("/me", name="shown-1", password="first-password")
    page.get_by_label("Language").select_option("zh-CN")
    page.get_by_label("主题").select_option("dark")
    page.get_by_label("单字母快捷键").uncheck()
    page.get_by_role("button", name="保存").click()
    expect(page.get_by_text("已保存。")).to_be_visible()
    other = visit().login("/jobs", name="shown-1", password="first-password")
    expect(other.get_by_role("heading", level=1)).to_have_text("任务")
    expect(other.locator("html")).to_have_attribute("data-theme", "dark")
    other.keyboard.press("?")
    other.keyboard.press("Control+k")
    expect(other.get_by_role("dialog")).to_have_count(1)
    expect(other.get_by_role("combobox", name="搜索与命令")).to_be_focused()


def test_the_audit_says_who_did_what_with_before_and_after(visit, v1, job):
    etag = v1.ask("GET", f"/jobs/{job}").etag
    assert v1.ask("PATCH", f"/jobs/{job}", {"owner": "dev-9"}, If_Match=etag).status == 200
    v = visit()
    page = v.login(f"/audit?object=job:{job}&action=job.update")
    row = page.get_by_role("row", name=re.compile("Changed a job"))
    expect(row).to_contain_text("Settle card payments")
    expect(row).to_contain_text("admin")
    expect(row.locator("del")).to_have_text("admin")
    expect(row.locator("ins")).to_have_text("dev-9")
    page.get_by_label("Action").select_option("job.delete")
    expect(page).to_have_url(f"{v.url}/audit?object=job:{job}&action=job.delete")
    expect(page.get_by_text("No change matches these filters.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").first.click()
    expect(page.get_by_role("row").nth(1)).to_be_visible()


def test_one_of_several_servers_is_drained(browser, tmp_path):
    with servers.open("mariadb") as db:
        db.count = 0
        _, url = fresh(db)
        with node(tmp_path / "a", url, "one") as one, node(tmp_path / "b", url, "two") as two:
            wait_for(one, one="up", two="up")
            v = Visitor(browser, one)
            page = v.login("/system")
            rows = page.get_by_role("region", name="Servers of this database").get_by_role("row")
            row = rows.filter(has_text=f":{two.port}")
            row.get_by_role("button", name="Drain").click()
            page.get_by_role("dialog").get_by_role("button", name="Drain").click()
            expect(row).to_contain_text("Draining")
            wait_for(two, one="up", two="draining")
            assert v.axe() == []
            rows.filter(has_text=f":{one.port}").get_by_role("button", name="Drain").click()
            page.get_by_role("dialog").get_by_role("button", name="Drain").click()
            page.get_by_role("alert").get_by_text("Details").click()
            expect(page.get_by_text("no other server plans")).to_be_visible()
            row.get_by_role("button", name="Undrain").click()
            expect(row).to_contain_text("Up")
            wait_for(two, one="up", two="up")
            v.context.close()
            assert not v.complaints, v.complaints


def test_the_system_tells_health_settings_with_origin_and_no_secret(visit, center):
    page = visit().login("/system")
    expect(page.get_by_text("The database takes writes")).to_be_visible()
    servers = page.get_by_role("region", name="Servers of this database").get_by_role("row")
    expect(servers).to_have_count(2)  # the head, and a database in a file has one
    for text in ("this server", "Up", f":{center.port}"):
        expect(servers.nth(1)).to_contain_text(text)
    page.get_by_role("tab", name="Settings").click()
    page.get_by_label("Search keys, values, texts").fill("token")
    row = page.get_by_role("row", name=re.compile("^token"))
    expect(row).to_contain_text("secret")
    expect(row).to_contain_text("environment")
    assert center.token not in page.content()
    page.get_by_role("tab", name="About").click()
    expect(page.get_by_role("link", name="openapi.json")).to_be_visible()


def test_settings_are_described_in_the_language_of_the_page(visit, center):
    page = visit(locale="zh-CN").login("/system?tab=settings")
    row = page.get_by_role("row", name=re.compile("^lane.queue"))
    expect(row).to_contain_text("一个地址上等待的运行数")
    page.get_by_role("searchbox").fill("等待的运行数")
    expect(row).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^log.level"))).to_have_count(0)


def test_the_palette_finds_jobs_goes_places_and_runs(visit, job):
    v = visit()
    page = v.login("/runs")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search and commands")
    box.fill("card pay")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Settle card payments")
    box.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Settle card payments")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option").first).to_contain_text("Settle card payments")
    box.fill("system")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Go to: System")
    box.press("Enter")
    expect(page).to_have_url(v.url + "/system")
    page.keyboard.press("Control+k")
    box.fill(f"#{job}")
    expect(page.get_by_role("option")).to_have_count(1)
    expect(page.get_by_role("option", selected=True)).to_contain_text(f"#{job}")
    box.fill("Run a job")
    box.press("Enter")
    page.get_by_role("combobox", name="Run a job").fill("card pay")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Settle card payments")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text("Run Settle card payments now")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_keys_lead_to_places_rows_and_the_sheet(visit, job):
    v = visit()
    page = v.login("/runs")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("g")
    page.keyboard.press("j")
    expect(page).to_have_url(v.url + "/jobs")
    expect(page.get_by_role("link", name="Settle card payments")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("tbody tr").first.get_by_role("link").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_server_that_is_away_is_said_and_what_was_typed_stays(visit, v1, job, center):
    page = visit().login(f"/jobs/{job}/edit")
    page.get_by_label("Parameter").fill("typed while it was away")
    center.kill()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Not connected since")).to_be_visible(timeout=60000 * PATIENCE)
    expect(page.get_by_label("Parameter")).to_have_value("typed while it was away")
    center.start()
    expect(page.get_by_text("Not connected since")).to_have_count(0, timeout=60000 * PATIENCE)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Settle card payments")
    assert V1(center).get(f"/jobs/{job}")["task"]["param"] == "typed while it was away"
