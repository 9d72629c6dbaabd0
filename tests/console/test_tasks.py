# SPDX-License-Identifier: Apache-2.0
"""The ten tasks for which the console was designed, each done as a person does it: with clicks and keys that are
counted. What comes out is checked; seconds and clicks are only told, beside the goals, at the end, and with PEAL_TASKS
written to that file as well."""

import contextlib
import os
import pathlib
import re
import time

import pytest
from conftest import Visitor
from playwright.sync_api import expect
from steps import ended, new_job, trigger
from support.executor import Executor
from support.v1 import V1
from support.wait import wait_until

CLICK_S, KEY_S, THOUGHT_S = 1.3, 0.28, 1.35  # a person points and clicks, presses a key, thinks before a click (keystroke-level model)
GOALS = {  # clicks and seconds
    1: ("What is broken now?", 0, 2), 2: ("Why did this run fail?", 1, 4), 3: ("Read or follow its log", "0–1", 1),
    4: ("Run it again, watch", 2, 5), 5: ("Make a job", 6, 30), 6: ("When does it fire next?", 0, 1),
    7: ("Change a schedule safely", 4, 12), 8: ("Stop 20 jobs for a release", 4, 10),
    9: ("Which executors are up?", 1, 2), 10: ("Who changed this?", 1, 3),
}
HEAD = "| # | task | clicks | goal | keys | the console, s | and hands, s | and thought, s | goal, s |\n|---|---|---|---|---|---|---|---|---|\n"
BACKUP = r"""for i in $(seq 1 300); do echo "dump chunk $i of 300"; done
[ -e mended ] || { echo 'pg_dump: error: disk quota exceeded'; exit 3; }
echo "the disk has room again"
while [ ! -e go ]; do sleep 0.05; done
echo "the dump is whole"
"""


class Task:
    """One task under way. What it does not count is what is there before it begins and what is checked afterwards."""

    def __init__(self, page):
        self.page, self.clicks, self.keys = page, 0, 0
        self.begun = time.monotonic()

    def click(self, locator):
        locator.click()
        self.clicks += 1

    def choose(self, locator, text):
        """From a list that a click opens and another closes."""
        locator.select_option(label=text)
        self.clicks += 2

    def type(self, text):
        """Where the focus is already."""
        self.page.keyboard.type(text)
        self.keys += len(text)

    def press(self, key):
        self.page.keyboard.press(key)
        self.keys += 1

    def see(self, *locators):
        """What the person waits for. The page itself watches for it, so that no interval of asking is measured."""
        for one in locators:
            one.first.wait_for()


@pytest.fixture(scope="module")
def tasks(request):
    """Run a task, by its number; at the end the table."""
    done = {}

    @contextlib.contextmanager
    def task(number, page):
        it = Task(page)
        yield it
        done[number] = it.clicks, it.keys, time.monotonic() - it.begun
    yield task
    table = HEAD
    for n, (clicks, keys, seconds) in sorted(done.items()):
        name, goal_clicks, goal_s = GOALS[n]
        hands = seconds + clicks * CLICK_S + keys * KEY_S
        table += f"| {n} | {name} | {clicks} | {goal_clicks} | {keys} | {seconds:.1f} | {hands:.1f} | {hands + clicks * THOUGHT_S:.1f} | {goal_s} |\n"
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print("\n" + table)
    if "PEAL_TASKS" in os.environ:
        pathlib.Path(os.environ["PEAL_TASKS"]).write_text(table)


class World:
    """A center with executors that are up and gone, jobs that work and that do not, and a change by another user."""

    def __init__(self, center, shell):
        self.shell = shell
        self.v1 = V1(center)
        self.groups = {app: self.v1.ask("POST", "/groups", {"app": app, "title": title, "addressing": "registry", "addresses": []}).json["id"]
                       for app, title in (("pay-executor", "Payments"), ("crm-executor", "Customers"))}
        shell.start()
        wait_until(lambda: center.api().addresses("pay-executor"), "the executor to register")
        pay, crm = self.groups["pay-executor"], self.groups["crm-executor"]
        self.backup = new_job(self.v1, pay, "Ledger backup", task={"kind": "GLUE_SHELL"}, script=BACKUP)
        self.lead = new_job(self.v1, crm, "Lead scoring")
        self.daily = new_job(self.v1, pay, "Close the books", start=True, schedule={"type": "CRON", "conf": "0 15 3 * * ?", "zone": "UTC"})
        for n in range(20):
            new_job(self.v1, pay, f"Branch {n} of the release", start=True, schedule={"type": "CRON", "conf": f"0 {n} 2 * * ?"})
        for _ in range(2):
            self.failed = ended(self.v1, trigger(self.v1, self.backup))["id"]
        assert ended(self.v1, trigger(self.v1, self.lead))["outcome"] == "unroutable"
        assert self.v1.ask("POST", "/users", {"name": "dev-2", "password": "first-password", "grants": [{"role": "developer", "groups": None}]}).status == 201
        answer = V1(center, "dev-2", "first-password").ask("PATCH", f"/jobs/{self.daily}", {"schedule": {"conf": "0 30 2 * * ?"}}, If_Match="*")
        assert answer.status == 200, answer.json

    def released(self, state):
        """All 20 jobs of the release are in that state."""
        return [j["state"] for j in self.v1.get("/jobs?q=release&limit=100")["items"]] == [state] * 20

    def touch(self, name):
        """A file that scripts look for, wherever they run."""
        for folder in (self.shell.folder, self.shell.logs, self.shell.logs / "gluesource"):
            (folder / name).touch()


@pytest.fixture(scope="module")
def world(center, tmp_path_factory):
    shell = Executor(tmp_path_factory.mktemp("shell"), center.url, app="pay-executor", args=["--peal.executor.glue=shell"])
    yield World(center, shell)
    shell.stop()


@pytest.fixture(scope="module")
def user(browser, center, world):
    """A person who is logged in, and whose browser knows the console."""
    it = Visitor(browser, center, timezone_id="UTC")
    it.login("/jobs").locator("tbody tr").first.wait_for()
    yield it
    it.context.close()
    assert not it.complaints


def at(user, path):
    """The page on which a task begins, with what it shows."""
    user.page.goto(user.url + path)
    user.page.locator("main h1").first.wait_for()
    return user.page


def broken(page, name):
    return page.locator("[data-row]").filter(has_text=name)


def test_1_what_is_broken_now(tasks, user):
    page = user.page
    with tasks(1, page) as it:
        page.goto(user.url + "/")
        it.see(broken(page, "Ledger backup"), broken(page, "Lead scoring"))
    expect(broken(page, "Ledger backup")).to_contain_text("2× in a row")
    expect(page.locator(".cause").filter(has=broken(page, "Ledger backup"))).to_contain_text("script exit value")
    expect(page).to_have_title(re.compile(r"^\(2\) Overview"))


def test_2_why_a_run_failed(tasks, user, world):
    page = at(user, "/")
    row = broken(page, "Ledger backup")
    row.wait_for()
    with tasks(2, page) as it:
        it.click(row.get_by_role("link", name="Open run"))
        it.see(page.get_by_role("heading", level=1).filter(has_text="Failed: script exit value(3)"))
    expect(page).to_have_url(f"{user.url}/runs/{world.failed}")


def test_3_read_and_follow_its_log(tasks, user, world):
    page = at(user, f"/jobs/{world.backup}")
    link = page.get_by_role("link", name="Open the run").first
    link.wait_for()
    log = page.get_by_role("region", name="Log")
    with tasks(3, page) as it:
        it.click(link)
        it.see(log.get_by_text("disk quota exceeded"))  # a run that failed opens at the end of its log
    expect(log).to_contain_text("dump chunk 300 of 300")


def test_4_run_it_again_and_watch(tasks, user, world):
    world.touch("mended")
    page = at(user, f"/runs/{world.failed}")
    log = page.get_by_role("region", name="Log")
    with tasks(4, page) as it:
        it.click(page.get_by_role("button", name="Run again…"))
        it.click(page.get_by_role("dialog").get_by_role("button", name="Run again"))
        it.see(log.get_by_text("the disk has room again"))
    assert not page.url.endswith(f"/runs/{world.failed}")
    expect(page.get_by_role("switch", name="Follow")).to_be_checked()
    world.touch("go")
    expect(log).to_contain_text("the dump is whole")  # comes without a click
    expect(page.get_by_role("heading", level=1)).to_have_text("Succeeded: Ledger backup")


def test_5_make_a_job(tasks, user, world):
    page = at(user, "/jobs")
    with tasks(5, page) as it:
        it.click(page.get_by_role("link", name="New job"))
        it.see(page.locator("[data-field='/name']:focus"))
        it.type("Weekly report")
        it.choose(page.get_by_label("Group"), "pay-executor (1 of 1)")
        it.click(page.get_by_text("Daily", exact=True))
        it.click(page.get_by_label("JobHandler"))
        it.type("demoJobHandler")
        it.see(page.get_by_role("complementary").get_by_role("row").nth(5))  # when it will fire
        it.click(page.get_by_role("button", name="Save and start"))
        it.see(page.get_by_role("heading", level=1).filter(has_text="Weekly report"))
    made = world.v1.get("/jobs?q=Weekly+report")["items"]
    assert [(j["state"], j["group"]["id"], j["schedule"]["conf"], j["task"]["handler"]) for j in made] == [
        ("scheduled", world.groups["pay-executor"], "0 0 2 * * ?", "demoJobHandler")]


def test_6_when_it_fires_next(tasks, user, world):
    page = user.page
    row = page.get_by_role("row").filter(has_text="Close the books")
    with tasks(6, page) as it:
        page.goto(user.url + "/jobs")
        it.see(row.locator("time"))
    told = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(world.v1.get(f"/jobs/{world.daily}")["nextMs"] / 1000))
    expect(row.locator("time")).to_have_attribute("datetime", told)
    expect(row.locator("time")).to_have_text(re.compile(r"^in \d+"))


def test_7_change_a_schedule_safely(tasks, user, world):
    page = at(user, f"/jobs/{world.daily}")
    changes = page.get_by_role("region", name="What saving will change")
    with tasks(7, page) as it:
        it.click(page.get_by_role("link", name="Edit"))
        it.click(page.get_by_label("Expression"))
        it.press("Control+a")
        it.type("0 45 4 * * ?")
        it.see(changes.locator("del").get_by_text("0 30 2 * * ?"), changes.locator("ins").get_by_text("0 45 4 * * ?"),
               page.get_by_role("complementary").get_by_text("04:45:00"))
        it.click(page.get_by_role("button", name="Save", exact=True))
        it.see(page.get_by_role("heading", level=1).filter(has_text=re.compile("^Close the books$")))
    assert world.v1.get(f"/jobs/{world.daily}")["schedule"]["conf"] == "0 45 4 * * ?"


def test_8_stop_20_jobs_for_a_release(tasks, user, world):
    page = at(user, "/jobs")
    with tasks(8, page) as it:
        it.click(page.get_by_label("Name, handler, owner or id"))
        it.type("release")
        it.see(page.locator("tbody:not(:has(tr:nth-child(21))) tr:nth-child(20)"))
        it.click(page.get_by_label("Choose all rows here"))
        it.click(page.get_by_role("button", name="Stop", exact=True))
        it.click(page.get_by_role("dialog").get_by_role("button", name="Do it for 20"))
        it.see(page.get_by_role("status").get_by_text("Done for 20."))
    assert world.released("stopped")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    wait_until(lambda: world.released("scheduled"), "the jobs to be scheduled again")


def test_9_which_executors_are_up(tasks, user):
    page = at(user, "/")
    with tasks(9, page) as it:
        it.click(page.get_by_role("navigation", name="Main").get_by_role("link", name="Executors"))
        it.see(page.get_by_role("row").filter(has_text="pay-executor"), page.get_by_role("row").filter(has_text="crm-executor"))
    expect(page.get_by_role("row").filter(has_text="pay-executor")).to_contain_text("1 of 1")
    expect(page.get_by_role("row").nth(1)).to_contain_text("crm-executor")  # the bad ones first


def test_10_who_changed_this(tasks, user, world):
    page = at(user, f"/jobs/{world.daily}")
    with tasks(10, page) as it:
        it.click(page.get_by_role("tab", name="History"))
        it.see(page.locator("li").filter(has_text="dev-2 changed the job"))
    entry = page.locator("li").filter(has_text="dev-2 changed the job")
    expect(entry.get_by_role("cell", name="0 15 3 * * ?")).to_be_visible()
    expect(entry.get_by_role("cell", name="0 30 2 * * ?")).to_be_visible()
