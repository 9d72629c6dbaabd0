# SPDX-License-Identifier: Apache-2.0
"""What is wrong in a form stands at its field, in the user's language, with the rule; the rest stays as it was typed."""

import re

import pytest
from playwright.sync_api import expect
from steps import new_job
from support.v1 import V1

CHINESE = {"locale": "zh-CN"}
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")  # three words of a sentence


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


def said(control):
    """The error at that field; it must be one that belongs to it, and no sentence of another language."""
    expect(control).to_have_attribute("aria-invalid", "true")
    text = control.page.locator(f"[id='{control.get_attribute('aria-describedby')}']").inner_text()
    assert text and not ENGLISH.search(text), text
    return text


def field(page, pointer):
    """The control of the job's form that the API calls so."""
    return page.locator(f"[data-field='{pointer}']")


def test_errors_of_a_job_stand_at_their_fields_in_chinese(visit, executor):
    page = visit(**CHINESE).login("/jobs/new")
    field(page, "/owner").fill("")
    field(page, "/schedule/conf").fill("0 0 25 * * ?")
    assert said(field(page, "/schedule/conf")) == "无法识别该调度：时（第 5 列）：25 不在 0–23 之内"
    field(page, "/running/retries").fill("99999")
    field(page, "/running/timeoutS").fill("")
    field(page, "/task/param").fill("kept")
    page.locator("details > summary").last.click()
    field(page, "/children").fill("987654")
    page.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    for pointer in ("/name", "/groupId", "/owner", "/task/handler", "/running/timeoutS", "/running/retries", "/children", "/schedule/conf"):
        said(field(page, pointer))
    assert said(field(page, "/running/retries")) == "应为 0 至 10,000 的数。"
    assert said(field(page, "/children")) == "任务 #987654 不存在。"
    assert not ENGLISH.search(page.get_by_role("alert").inner_text())
    expect(field(page, "/task/param")).to_have_value("kept")
    expect(field(page, "/running/retries")).to_have_value("99999")


def test_a_schedule_that_is_over_is_said_at_the_expression(visit, executor):
    page = visit(**CHINESE).login("/jobs/new")
    field(page, "/name").fill("Over")
    field(page, "/groupId").select_option(str(executor.group))
    field(page, "/task/handler").fill("demoJobHandler")
    page.locator("input[value=once]").check(force=True)
    field(page, "/schedule/conf").fill("2020-01-01T00:00:00Z")
    page.keyboard.press("Control+Enter")
    assert said(field(page, "/schedule/conf")) == "该调度不会再触发。"
    expect(field(page, "/name")).to_have_value("Over")


def test_errors_of_users_groups_tokens_and_passwords_stand_at_their_fields_in_chinese(visit, v1):
    assert v1.ask("POST", "/users", {"name": "form-taken", "password": "first-password"}).status == 201
    v = visit(**CHINESE)
    page = v.login("/users")
    page.get_by_role("button", name="新建用户").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="添加", exact=True).click()
    said(dialog.get_by_label("用户名"))
    dialog.get_by_label("用户名").fill("form-taken")
    dialog.get_by_role("button", name="添加", exact=True).click()
    expect(dialog.get_by_text("已有同名用户。")).to_be_visible()
    said(dialog.get_by_label("用户名"))
    page.goto(v.url + "/executors")
    page.get_by_role("button", name="新建执行器").first.click()
    dialog.get_by_label("手动").check()
    dialog.get_by_role("button", name="保存").click()
    for label in ("AppName", "名称", "地址 *"):
        said(dialog.get_by_label(label))
    dialog.get_by_label("AppName").fill("form-group")
    dialog.get_by_label("地址 *").fill("http://nowhere/?query")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog.get_by_label("AppName")).not_to_have_attribute("aria-invalid", "true")
    said(dialog.get_by_label("地址 *"))
    expect(dialog.get_by_label("地址 *")).to_have_value("http://nowhere/?query")
    page.goto(v.url + "/me")
    page.get_by_role("button", name="修改密码").click()
    said(page.get_by_label("新密码").first)
    page.get_by_role("button", name="新建令牌").click()
    dialog.get_by_label("有效天数").fill("99999")
    dialog.get_by_role("button", name="创建令牌").click()
    for label in ("用途", "有效天数"):
        said(dialog.get_by_label(label))


def test_errors_of_a_script_and_of_a_run_by_hand_stand_at_their_fields_in_chinese(visit, v1, executor):
    job = new_job(v1, executor.group, "Script of the form", task={"kind": "GLUE_SHELL"}, script="echo\n")
    v = visit(**CHINESE)
    page = v.login(f"/jobs/{job}?tab=script")
    page.get_by_role("button", name="编辑", exact=True).click()
    page.get_by_role("button", name="发布").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("备注").fill("abc")
    dialog.get_by_role("button", name="发布").click()
    assert said(dialog.get_by_label("备注")) == "4 至 100 个字符。"
    expect(dialog.get_by_label("备注")).to_have_value("abc")


def test_a_session_that_ends_under_a_dialog_costs_nothing(visit, center):
    v = visit()
    page = v.login("/executors")
    page.get_by_role("button", name="New group").first.click()
    form = page.get_by_role("dialog", name="New group")
    form.get_by_label("App name").fill("typed-in-dialog")
    form.get_by_label("Title").fill("Typed before the end")
    v.context.clear_cookies()
    form.get_by_role("button", name="Save").click()
    over = page.get_by_role("dialog", name="Log in")
    expect(over).to_be_visible()
    over.get_by_label("Name").fill("admin")
    over.get_by_label("Password").fill(center.password)
    over.get_by_role("button", name="Log in").click()
    expect(over).to_have_count(0)
    expect(form.get_by_label("Title")).to_have_value("Typed before the end")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Typed before the end")
