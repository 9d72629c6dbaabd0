# SPDX-License-Identifier: Apache-2.0
"""The screens on which one watches: a job and its tabs, a run with its story and log, executors, the overview."""

import re

import pytest
from playwright.sync_api import expect
from support.executor import Executor
from support.v1 import V1
from support.wait import PATIENCE, wait_until


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
    expect(page.get_by_label("Retries")).to_be_focused()


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


# ---- a run and its log ----


@pytest.fixture(scope="module")
def shell(center, tmp_path_factory):
    """An executor of a group of its own that runs shell scripts."""
    group = center.api().add_group("console-shell")
    with Executor(tmp_path_factory.mktemp("shell"), center.url, app="console-shell", args=["--peal.executor.glue=shell"]) as it:
        wait_until(lambda: center.api().addresses("console-shell"), "the executor to register")
        it.group = group
        yield it


def run_script(v1, shell, name, script, **more):
    """Make a job of that script and trigger it; the run's id."""
    job = new_job(v1, shell, name, task={"kind": "GLUE_SHELL"}, script=script, **more)
    answer = v1.ask("POST", f"/jobs/{job}/trigger", {})
    assert answer.status == 201, answer.json
    return answer.json["runId"]


def ended(v1, run):
    return wait_until(lambda: (r := v1.ask("GET", f"/runs/{run}").json["run"])["outcome"] != "open" and r, f"run {run} to end")


FAILING = r"""for i in $(seq 1 300); do echo "chunk $i of table a.b.c"; done
printf '\033[31mpg_dump: error: disk quota exceeded\033[0m\n'
exit 3
"""


def test_a_failed_run_says_why_and_its_log_is_searched(visit, v1, shell):
    run = run_script(v1, shell, "Backup", FAILING)
    ended(v1, run)
    page = visit().login(f"/runs/{run}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Failed: script exit value(3)")
    log = page.get_by_role("region", name="Log")
    expect(log).to_contain_text("disk quota exceeded")  # a run that failed opens at the end of its log
    find = page.get_by_role("searchbox", name="Find")
    find.fill("chunk 29")
    expect(page.get_by_role("status").filter(has_text="11")).to_be_visible()
    find.press("Enter")
    expect(page.get_by_text("1 of 11")).to_be_visible()
    expect(log.locator("mark").first).to_have_text("chunk 29")
    find.press("Shift+Enter")
    expect(page.get_by_text("11 of 11")).to_be_visible()
    page.get_by_role("button", name="Regular expression").click()
    find.fill("chunk (1|2) of")
    expect(page.get_by_role("status").filter(has_text="2")).to_be_visible()
    find.fill("(")
    expect(page.get_by_text("No regular expression")).to_be_visible()
    page.get_by_role("button", name="First error").click()
    expect(page).to_have_url(re.compile(r"#L30\d$"))
    expect(log.locator(".marked")).to_contain_text("disk quota exceeded")


def test_a_link_to_lines_of_a_log_opens_there(visit, v1, shell):
    run = run_script(v1, shell, "Linked", "seq -f 'line %g' 1 2000\n")
    ended(v1, run)
    page = visit().login(f"/runs/{run}#L1200-L1201")
    expect(page.locator(".marked")).to_have_count(2)
    expect(page.locator(".marked").first).to_contain_text("line 11")
    page.get_by_role("link", name="1203", exact=True).click(modifiers=["Shift"])
    expect(page).to_have_url(re.compile(r"#L1200-L1203$"))


def test_an_open_run_is_followed_until_it_ends(visit, v1, shell):
    run = run_script(v1, shell, "Followed", "echo begun; while [ ! -e go ]; do sleep 0.1; done; seq -f 'more %g' 1 100; echo done now\n")
    page = visit().login(f"/runs/{run}")
    log = page.get_by_role("region", name="Log")
    expect(log).to_contain_text("begun")
    expect(page.get_by_role("switch", name="Follow")).to_be_checked()
    expect(page.locator(".story .hollow").last).to_contain_text("Ended")
    for folder in (shell.folder, shell.logs, shell.logs / "gluesource"):
        (folder / "go").touch()
    expect(log).to_contain_text("done now")
    expect(page.get_by_role("heading", level=1)).to_have_text("Succeeded: Followed")
    expect(page.get_by_text("Finished. The whole log is here.")).to_be_visible()


def test_long_lines_wrap_and_the_rows_below_stay_in_their_place(visit, v1, shell):
    run = run_script(v1, shell, "Wrapped", "head -c 4000 /dev/zero | tr '\\0' x; echo; echo below\n")
    ended(v1, run)
    page = visit().login(f"/runs/{run}")
    log = page.get_by_role("region", name="Log")
    expect(log).to_contain_text("below")
    page.get_by_role("button", name="Show and take along").click()
    page.get_by_role("menuitemcheckbox", name="Wrap lines").click()
    page.keyboard.press("Escape")
    wide = "e => e.scrollWidth - e.clientWidth"
    wait_until(lambda: log.evaluate(wide) <= 0, "the log to need no scrolling to the side")
    row = log.locator(".row", has_text="xxxx").first
    assert row.evaluate("e => e.scrollHeight - e.clientHeight") <= 0


def test_a_run_is_run_again_and_leads_to_the_new_one(visit, v1, shell):
    run = run_script(v1, shell, "Again", "echo \"$1\"\n")
    ended(v1, run)
    page = visit().login(f"/runs/{run}")
    page.get_by_role("button", name="Run again…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Parameter").fill("another")
    dialog.get_by_role("button", name="Run again").click()
    page.wait_for_url(lambda url: "/runs/" in url and not url.endswith(f"/runs/{run}"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Succeeded: Again")
    expect(page.locator(".facts")).to_contain_text("another")


def test_the_shards_of_a_broadcast_stand_side_by_side(visit, v1, shell, center, tmp_path):
    with Executor(tmp_path, center.url, app="console-shell", args=["--peal.executor.glue=shell"]):
        wait_until(lambda: len(center.api().addresses("console-shell")) == 2, "two executors to register")
        run = run_script(v1, shell, "Broadcast", "echo shard\n", running={"route": "SHARDING_BROADCAST"})
        ended(v1, run)
        page = visit().login(f"/runs/{run}")
        shards = page.get_by_role("navigation", name="Shards of this broadcast").get_by_role("link")
        expect(shards).to_have_count(2)
        shards.last.click()
        expect(page).not_to_have_url(re.compile(rf"/runs/{run}$"))
        expect(shards.last).to_have_attribute("aria-current", "page")


# ---- executors ----


def test_a_groups_token_is_changed_while_its_executors_come_with_it(visit, center):
    group = center.api().add_group("console-token")
    wide = {"timeout": 60000 * PATIENCE}

    def register(port, token):
        return center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": "console-token",
                                            "registryValue": f"http://127.0.0.1:{port}/"}, token=token)["code"]

    assert register(1, center.token) == register(2, center.token) == 200
    wait_until(lambda: len(center.api().addresses("console-token")) == 2, "two addresses")
    v = visit()
    page = v.login(f"/executors/{group}")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Access token").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("The group has no token of its own")).to_be_visible()
    dialog.get_by_label("A token of your choice").fill("default_token")
    dialog.get_by_role("button", name="Begin a change").click()
    expect(dialog.get_by_text("Everybody knows this one")).to_be_visible()
    dialog.get_by_label("A token of your choice").fill("")
    dialog.get_by_role("button", name="Begin a change").click()
    expect(dialog.get_by_text("0 of 2 addresses came with the new one.")).to_be_visible()
    token = dialog.get_by_label("New token").input_value()
    assert len(token) == 43
    assert register(2, token) == 200
    expect(dialog.get_by_text("1 of 2 addresses came with the new one.")).to_be_visible(**wide)
    expect(dialog.get_by_text("http://127.0.0.1:1/")).to_be_visible()
    expect(dialog.get_by_text("http://127.0.0.1:2/")).to_have_count(0)
    assert not v.axe()
    v.picture("group-token")
    assert register(1, token) == 200
    expect(dialog.get_by_text("2 of 2 addresses came with the new one.")).to_be_visible(**wide)
    dialog.get_by_role("button", name="Finish").click()
    expect(dialog.get_by_label("In force")).to_have_value(token)
    assert register(1, center.token) == 500
    dialog.get_by_role("button", name="Remove").click()
    expect(dialog.get_by_text("The center’s token serves again, at once.", exact=False)).to_be_visible()
    dialog.get_by_role("button", name="Remove").click()
    expect(dialog.get_by_text("The group has no token of its own")).to_be_visible()
    assert register(1, center.token) == 200


def test_a_group_is_made_and_says_how_executors_find_it(visit):
    v = visit()
    page = v.login("/executors")
    page.get_by_role("button", name="New group").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("App name").fill("abc")
    dialog.get_by_label("Title").fill("Made in the console")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("App name")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("Title")).to_have_value("Made in the console")
    dialog.get_by_label("App name").fill("made-in-console")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Made in the console")
    expect(page.get_by_text(f"xxl.job.admin.addresses={v.url}").first).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    dialog.get_by_label("By hand").check()
    dialog.get_by_label("Addresses *").fill("http://127.0.0.1:9/")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="127.0.0.1:9")).to_be_visible()
    page.get_by_role("button", name="Query now").click()
    expect(page.get_by_role("status").filter(has_text="Does not answer")).to_be_visible()


def test_an_executor_is_asked_and_one_that_is_gone_forgotten(visit, center, executor, tmp_path):
    gone = Executor(tmp_path, center.url, app="console-tests").start()
    wait_until(lambda: len(center.api().addresses("console-tests")) == 2, "two executors to register")
    gone.process.kill()
    gone.process.wait()
    page = visit().login(f"/executors/{executor.group}")
    host = executor.address.removeprefix("http://").rstrip("/")
    page.get_by_role("row", name=host).get_by_role("button", name="Query now").click()
    expect(page.get_by_role("status").filter(has_text="Answered after")).to_be_visible()
    other = page.get_by_role("row", name=gone.address.removeprefix("http://").rstrip("/"))
    other.get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(other).to_have_count(0)
    page.get_by_role("link", name=host).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(host)
    expect(page.get_by_role("heading", name="What ran here")).to_be_visible()


# ---- overview and upcoming ----


def test_the_overview_says_what_is_broken_and_runs_it_again(visit, v1, shell):
    job = new_job(v1, shell, "Broken for the overview", task={"kind": "GLUE_SHELL"}, script="echo; exit 7\n")
    page = visit().login("/")
    expect(page.get_by_text("Every firing is accounted for")).to_be_visible()
    for _ in range(2):
        ended(v1, v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"])
    row = page.locator("[data-row]", has_text="Broken for the overview")  # it comes by itself
    expect(row).to_contain_text("2× in a row")
    expect(page).to_have_title(re.compile(r"^\(\d+\) Overview"))
    row.get_by_role("button", name="Run again").click()
    page.get_by_role("dialog").get_by_role("button", name="Run again").click()
    page.wait_for_url(re.compile(r"/runs/\d+$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Failed")


def test_the_range_of_the_overview_stands_in_its_address(visit, v1, shell):
    page = visit().login("/")
    page.get_by_role("link", name="7 d").click()
    expect(page).to_have_url(re.compile(r"/\?range=7d$"))
    expect(page.get_by_role("heading", name="Last 7 days")).to_be_visible()
    ended(v1, run_script(v1, shell, "For the bars", "exit 0\n"))
    page.get_by_role("button", name="As table").click()
    page.get_by_role("region", name="Last 7 days").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/runs\?from=\d+&to=\d+"))


def test_what_changes_is_told_by_one_stream_for_all_tabs(visit, v1, shell):
    v = visit()
    first, asked = v.login("/"), []
    expect(first.get_by_text("Every firing is accounted for")).to_be_visible()
    second = v.context.new_page()
    second.on("request", lambda r: asked.append(r.url))
    second.goto(v.url + "/")
    expect(second.get_by_text("Every firing is accounted for")).to_be_visible()
    job = new_job(v1, shell, "Told to both tabs", task={"kind": "GLUE_SHELL"}, script="echo; exit 9\n")
    ended(v1, v1.ask("POST", f"/jobs/{job}/trigger", {}).json["runId"])
    for page in (first, second):
        expect(page.locator("[data-row]", has_text="Told to both tabs")).to_be_visible(timeout=30000 * PATIENCE)
    assert not [url for url in asked if url.endswith("/events")], "the second tab has a stream of its own"


def test_upcoming_shows_the_day_by_minute_and_full_seconds(visit, v1, executor):
    for i in range(3):
        new_job(v1, executor, f"Crowd {i}", schedule={"type": "CRON", "conf": "0 0/10 * * * ?"}, start=True)
    page = visit().login("/upcoming")
    expect(page.get_by_text(re.compile(r"\d+ firings? in the next 24 hours"))).to_be_visible()
    expect(page.get_by_text("3 jobs share this second")).to_be_visible(timeout=30000 * PATIENCE)  # once for all its times
    expect(page.get_by_text(re.compile("and 9 times more by .*, every 10 min"))).to_be_visible()


def test_the_hours_of_a_job_that_fires_often_are_told(visit, v1, executor):
    job = new_job(v1, executor, "Fires often", schedule={"type": "CRON", "conf": "0/10 * 3-4 * * ?", "zone": "Asia/Shanghai"})
    page = visit().login(f"/jobs/{job}?tab=schedule")
    hours = page.get_by_role("list", name="The next 24 hours by hour").get_by_role("listitem")
    expect(hours).to_have_count(24)
    expect(hours.nth(3)).to_contain_text("3:00: 360 firings")
    expect(hours.nth(5)).to_contain_text("5:00: 0 firings")


def test_a_job_that_is_gone_says_who_deleted_it(visit, v1, executor):
    job = new_job(v1, executor, "Soon gone")
    assert v1.ask("DELETE", f"/jobs/{job}", If_Match="*").status == 204
    page = visit().login(f"/jobs/{job}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Job {job} was deleted by admin at ")
    expect(page.get_by_text("Soon gone")).to_be_visible()
    page.get_by_role("link", name="History").click()
    expect(page.get_by_role("row", name=re.compile("Deleted a job"))).to_be_visible()
