# SPDX-License-Identifier: Apache-2.0
"""The script of a GLUE job in the console: read, compared, drafted, published, against others' edits, restored."""

import re

import pytest
from playwright.sync_api import expect
from support.executor import Executor
from support.v1 import V1
from support.wait import PATIENCE, wait_until


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


@pytest.fixture(scope="module")
def group(center, tmp_path_factory):
    """A group whose executor runs shell scripts."""
    group = center.api().add_group("script-tests")
    with Executor(tmp_path_factory.mktemp("scripts"), center.url, ["--peal.executor.glue=shell"], app="script-tests"):
        wait_until(lambda: center.api().addresses("script-tests"), "the executor to register")
        yield group


@pytest.fixture
def job(v1, group):
    answer = v1.ask("POST", "/jobs", {"name": "Ledger backup", "groupId": group, "schedule": {"type": "NONE"}, "task": {"kind": "GLUE_SHELL"},
                                      "script": "#!/bin/bash\nset -eu\necho first\n"})
    assert answer.status == 201, answer.json
    return answer.json["id"]


def newest(v1, job):
    version = v1.get(f"/jobs/{job}/scripts")["items"][0]["version"]
    return v1.get(f"/jobs/{job}/scripts/{version}")


def publish(v1, job, source, remark):
    answer = v1.ask("POST", f"/jobs/{job}/scripts", {"source": source, "remark": remark, "baseVersion": newest(v1, job)["version"]})
    assert answer.status == 201, answer.json


def retype(page, text):
    editor = page.get_by_role("textbox", name="Draft")
    editor.click()
    editor.press("Control+a")
    editor.press("Delete")
    page.keyboard.type(text)
    expect(editor).to_contain_text(text.split("\n")[-2])


def test_a_draft_survives_a_reload_is_published_with_a_remark_and_runs(visit, v1, job):
    page = visit().login(f"/jobs/{job}?tab=script")
    expect(page.get_by_label("Version", exact=False).get_by_text("echo first")).to_be_visible()
    page.get_by_role("tabpanel").get_by_role("button", name="Edit").click()
    retype(page, "#!/bin/bash\necho from the console\n")
    page.reload()
    expect(page.get_by_role("textbox", name="Draft")).to_contain_text("echo from the console")
    page.get_by_role("button", name="Publish").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("echo first")).to_be_visible()
    dialog.get_by_label("Remark").fill("no")
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog.get_by_text("4 to 100 characters.", exact=True)).to_be_visible()
    dialog.get_by_label("Remark").fill("says where it is from")
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("says where it is from")).to_be_visible()
    assert newest(v1, job)["source"] == "#!/bin/bash\necho from the console\n"
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    page.get_by_role("status").get_by_role("button", name="Open the run").click()
    expect(page.get_by_role("region", name="Log")).to_contain_text("from the console", timeout=30000 * PATIENCE)


def test_who_publishes_second_is_told_compares_and_decides(visit, v1, job):
    page = visit().login(f"/jobs/{job}?tab=script")
    expect(page.get_by_label("Version", exact=False).get_by_text("echo first")).to_be_visible()
    page.get_by_role("tabpanel").get_by_role("button", name="Edit").click()
    retype(page, "#!/bin/bash\necho mine\n")
    publish(v1, job, "#!/bin/bash\necho theirs\n", "of another")
    page.get_by_role("button", name="Publish").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Remark").fill("mine is better")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("was published meanwhile")
    dialog.get_by_role("button", name="Compare").click()
    expect(dialog.get_by_text("echo theirs")).to_be_visible()
    expect(dialog.get_by_text("echo mine")).to_be_visible()
    dialog.get_by_role("button", name="Publish mine over it").click()
    expect(dialog).to_have_count(0)
    assert newest(v1, job)["source"] == "#!/bin/bash\necho mine\n"


def test_two_versions_are_compared_and_an_old_one_is_restored(visit, v1, job):
    publish(v1, job, "#!/bin/bash\nset -eu\necho second\n", "the second one")
    old = v1.get(f"/jobs/{job}/scripts")["items"][-1]["version"]
    v = visit()
    page = v.login(f"/jobs/{job}?tab=script")
    page.get_by_role("button", name=f"Compare with version {old}").click()
    expect(page).to_have_url(re.compile(f"with={old}"))
    expect(page.get_by_label(f"Version {old}", exact=True).get_by_text("echo first")).to_be_visible()
    expect(page.get_by_label("Version", exact=False).get_by_text("echo second")).to_be_visible()
    page.get_by_role("button", name="first version").first.click()
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text(f"Restores version {old}")).to_be_visible()
    assert newest(v1, job)["source"] == "#!/bin/bash\nset -eu\necho first\n"
    assert not v.axe()
    v.picture("jobs-job-script-light-1440")
