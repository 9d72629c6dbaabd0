# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documentation: a center that has worked for a day, seen in the browser. `make pictures` keeps them
in docs/pictures; else they are made in build/console and shown to nobody, so that the way to them stays open."""

import base64
import contextlib
import http.server
import os
import pathlib
import random
import threading

import pytest
from conftest import PICTURES, Visitor
from playwright.sync_api import expect
from steps import ended, new_job
from support.center import Center
from support.executor import Executor
from support.stepped import Clock
from support.v1 import V1
from support.wait import wait_until

FOLDER = pathlib.Path(os.environ.get("PEAL_PICTURES", PICTURES))
STEP_S = 900
STEPS = 96 if "PEAL_PICTURES" in os.environ else 8  # a day, or enough to see that it works
BYTES = 150000
LIGHT = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}
DARK = {**LIGHT, "color_scheme": "dark"}
PHONE = {"viewport": {"width": 390, "height": 844}, "locale": "zh-CN", "color_scheme": "dark", "has_touch": True}

GROUPS = (("pay-executor", "Payments", 2), ("report-executor", "Reports", 1), ("ml-agent", "Models", 2), ("crm-executor", "Customers", 1))

# name, group, owner, cron, milliseconds that a run takes, runs in a quarter of an hour
STEADY = (
    ("Settle card payments", "pay-executor", "dev-1", "0 0/5 * * * ?", 60, 3),
    ("Refund queue sweep", "pay-executor", "dev-1", "20 0/2 * * * ?", 40, 4),
    ("Heartbeat of partner API", "pay-executor", "dev-2", "0/30 * * * * ?", 15, 5),
    ("FX rates import", "pay-executor", "dev-2", "0 0 * * * ?", 90, 1),
    ("Close the books of the day", "pay-executor", "dev-1", "0 15 0 ? * MON-FRI", 200, 0.1),
    ("Search index delta", "report-executor", "dev-3", "0 * * * * ?", 50, 4),
    ("Customer statements", "report-executor", "dev-3", "0 0 6 1 * ?", 150, 0.1),
    ("Invoices by mail", "report-executor", "dev-3", "0 0/10 * * * ?", 80, 2),
    ("Fraud model features", "ml-agent", "ml-1", "0 0/5 * * * ?", 110, 2),
    ("Retrain the ranking", "ml-agent", "ml-1", "0 30 3 * * ?", 250, 0.1),
    ("Session clean-up", "ml-agent", "ml-2", "0 0/1 * * * ?", 30, 3),
    ("Lead scoring refresh", "crm-executor", "crm-1", "0 0/10 * * * ?", 70, 2),
    ("Mailing list hygiene", "crm-executor", "crm-1", "0 0/30 * * * ?", 60, 1),
)
BACKUP = r"""#!/bin/bash
# Dump the ledger; a parameter stands for a disk that is full.
set -euo pipefail
for part in $(seq 1 60); do
    printf '%s dump chunk %s of 60  table=ledger.entries part=%s\n' "$(date +%T.%3N)" "$part" "$((part % 8))"
    [ $((part % 20)) -ne 0 ] || printf '\033[32mok\033[0m   ledger.entries_%s %s rows\n' "$((2020 + part / 10))" "$((part * 11251))"
done
[ -n "${1:-}" ] || exit 0
printf '\033[31mpg_dump: error: could not write to output file: Disk quota exceeded\033[0m\n'
printf '\033[31mzstd: error 70: Write error: cannot write block\033[0m\n'
exit 3
"""


class Taker(http.server.BaseHTTPRequestHandler):
    """What a channel of alarms sends to: all is taken."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()


def taker(stack):
    """Its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}/"


class World:
    """A center with its executors and jobs, whose clock begins STEPS quarters of an hour ago."""

    def __init__(self, folder, stack):
        self.clock = Clock(folder)
        self.clock.step(-STEPS * STEP_S * 1000)
        self.center = stack.enter_context(Center(folder / "center", ["--alarm.targets", "127.0.0.0/8"], env=self.clock.env))
        self.taker = taker(stack)
        self.v1 = V1(self.center)
        self.executors, self.jobs, self.chance = {}, {}, random.Random(7)
        for app, title, count in GROUPS:
            answer = self.v1.ask("POST", "/groups", {"app": app, "title": title, "addressing": "registry", "addresses": []})
            assert answer.status == 201, answer.json
            group = answer.json["id"]
            self.executors[app] = group, [stack.enter_context(Executor(folder / f"{app}-{i}", self.center.url, app=app, env={**self.clock.env, "TZ": "Europe/Berlin"},
                                                                      args=["--peal.executor.glue=shell"])) for i in range(count)]
            wait_until(lambda a=app, n=count: len(self.center.api().addresses(a)) == n, f"the executors of {app}")
        for name, app, owner, cron, ms, _ in STEADY:
            self.make(name, app, owner, cron, {"kind": "BEAN", "handler": "sleepJobHandler", "param": str(ms)},
                      running={"timeoutS": 60, "retries": 1 if name.startswith("Settle") else 0})
        self.make("Nightly ledger backup", "report-executor", "ops-1", "0 30 2 ? * SUN-FRI", {"kind": "GLUE_SHELL"}, script=BACKUP, running={"retries": 2, "retryDelayMs": 1000})
        self.make("Regional revenue cube", "report-executor", "dev-3", "0 0/20 * * * ?",
                  {"kind": "BEAN", "handler": "sleepJobHandler", "param": "40"}, running={"timeoutS": 1})

    def make(self, name, app, owner, cron, task, **more):
        self.jobs[name] = new_job(self.v1, self.executors[app][0], name, owner=owner, task=task,
                                  schedule={"type": "CRON", "conf": cron, "zone": "Europe/Berlin"}, **more)

    def present(self):
        """After a step of the clock the last beat of each executor is old; this is what they say next."""
        for app, (_, ours) in self.executors.items():
            for one in ours:
                if one.running():
                    self.center.open_api("registry", {"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": one.address})

    def run(self, name, param=None):
        answer = self.v1.ask("POST", f"/jobs/{self.jobs[name]}/trigger", {} if param is None else {"param": param})
        assert answer.status == 201, answer.json
        return answer.json["runId"]

    def settle(self):
        wait_until(lambda: self.v1.get("/runs?outcome=open&limit=1")["items"] == [], "all runs to end", 60)

    def live(self):
        """Quarter after quarter: each job a few times, some of them badly."""
        for step in range(STEPS):
            hour = step * STEP_S / 3600
            busy = 1.0 + 0.7 * (6 < hour % 24 < 15) + self.chance.uniform(-0.3, 0.3)
            for name, _, _, _, _, rate in STEADY:
                for _ in range(int(rate * busy * 0.35 + self.chance.random())):
                    bad = self.chance.random() < (0.2 if step in (STEPS // 3, STEPS // 3 + 1) else 0.008)
                    self.run(name, "soon" if bad else str(self.chance.randrange(10, 120)))
            if step % 4 == 0:
                self.run("Nightly ledger backup", "full" if step == STEPS // 2 else None)
                self.run("Regional revenue cube")
            self.settle()
            self.clock.step(STEP_S * 1000)
            if step % 8 == 7:
                self.v1 = V1(self.center)  # a session does not last for a day
            self.present()

    def foreseen(self):
        """The forecast has the jobs that were started last, to the end of its hour."""
        minutes = self.v1.get("/forecast")
        return not minutes["partial"] and sum(minutes["counts"][45:60]) > 0

    def watch(self):
        """Rules that will find what is about to go wrong."""
        for path, body in (("/alarm-channels", {"name": "on call", "kind": "webhook", "settings": {"url": self.taker}}),
                           ("/alarm-rules", {"name": "A job fails", "kind": "failed", "level": "critical", "channels": ["on call"]}),
                           ("/alarm-rules", {"name": "No executor", "kind": "empty", "level": "warning", "channels": ["on call"]})):
            answer = self.v1.ask("POST", path, body)
            assert answer.status == 201, answer.json

    def told(self):
        """All that the rules have found, if their messages have been taken."""
        alarms = self.v1.get("/alarms?open=true")["items"]
        kinds = [a["kind"] for a in alarms if a["toldMs"] and self.v1.get(f"/alarm-deliveries?alarm={a['id']}&state=sent")["items"]]
        return kinds.count("empty") and kinds.count("failed") > 1 and alarms

    def end(self):
        """What is wrong now: a full disk, a time limit, an executor that has gone."""
        self.center.stop()  # what it has foreseen is of yesterday
        self.center.start()
        self.v1 = V1(self.center)
        self.present()
        self.stopped = "Retrain the ranking"
        for name, job in self.jobs.items():
            if name != self.stopped:
                answer = self.v1.ask("POST", f"/jobs/{job}/start")
                assert answer.status in (200, 204), answer.json
        self.watch()
        self.failed = self.run("Nightly ledger backup", "full")
        for _ in range(3):
            self.run("Regional revenue cube", "20000")
        for one in self.executors["crm-executor"][1]:
            one.stop()
        wait_until(lambda: not self.center.api().addresses("crm-executor"), "the executor to say good-bye")
        for name in ("Lead scoring refresh",) * 4 + ("Mailing list hygiene",) * 2:
            self.run(name)
        wait_until(lambda: ended(self.v1, self.failed)["outcome"] == "failed", "the backup to fail", 60)
        wait_until(self.foreseen, "the next hours to be computed", 60)
        self.alarms = wait_until(self.told, "the alarms to be told", 60)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        it = World(tmp_path_factory.mktemp("pictures"), stack)
        it.live()
        it.end()
        yield it


def keep(visitor, name):
    """The page as a WebP, small enough for a repository."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    visitor.page.mouse.move(0, 0)
    session = visitor.context.new_cdp_session(visitor.page)
    for quality in (82, 70, 50, 30):
        data = base64.b64decode(session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})["data"])
        if len(data) <= BYTES:
            break
    assert len(data) <= BYTES, f"{name}: {len(data)} bytes"
    (FOLDER / f"{name}.webp").write_bytes(data)


@pytest.fixture
def look(browser, world):
    """Log in with these options and go there; what the browser complained of fails the test."""
    made = []

    def at(path, options):
        made.append(Visitor(browser, world.center, **{"timezone_id": "Europe/Berlin", **options}))
        made[-1].login(path)
        made[-1].page.locator("main h1").first.wait_for()
        return made[-1]
    yield at
    for one in made:
        one.context.close()
    assert not [text for one in made for text in one.complaints]


@pytest.mark.parametrize("name, options", [("overview", LIGHT), ("overview-dark", DARK), ("overview-zh", {**LIGHT, "locale": "zh-CN"}), ("overview-phone", PHONE)])
def test_the_overview(look, name, options):
    v = look("/", options)
    v.page.locator("[data-row]", has_text="Lead scoring refresh").wait_for()
    keep(v, name)


def test_the_jobs(look, world):
    v = look("/jobs", LIGHT)
    v.page.get_by_role("link", name=world.stopped).wait_for()
    keep(v, "jobs")


@pytest.mark.parametrize("name, options, language", [("job", LIGHT, "en"), ("job-zh", {**LIGHT, "locale": "zh-CN"}, "zh")])
def test_the_schedule_of_a_job(look, world, name, options, language):
    v = look(f"/jobs/{world.jobs['Nightly ledger backup']}?tab=schedule", options)
    v.page.get_by_text("2:30" if language == "en" else "02:30").first.wait_for()
    keep(v, name)


@pytest.mark.parametrize("name, options", [("run", LIGHT), ("run-dark", DARK), ("run-phone", PHONE), ("run-zh", {**LIGHT, "locale": "zh-CN"})])
def test_why_a_run_failed(look, world, name, options):
    ended(world.v1, world.failed)
    v = look(f"/runs/{world.failed}", options)
    expect(v.page.get_by_text("Disk quota exceeded").first).to_be_visible()
    keep(v, name)


@pytest.mark.parametrize("path", ["executors", "runs", "upcoming"])
def test_lists(look, path):
    v = look("/" + path, LIGHT)
    v.page.locator("main table, main svg").first.wait_for()
    keep(v, path)


def test_alarms(look, world):
    v = look("/alarms", LIGHT)
    v.page.get_by_role("link", name="No executor is up: Customers").wait_for()
    keep(v, "alarms")


def test_an_alarm(look, world):
    alarm = next(a for a in world.alarms if a["kind"] == "failed" and a["cause"] == "no_executor")
    v = look(f"/alarms/{alarm['id']}", LIGHT)
    expect(v.page.get_by_role("link", name="Lead scoring refresh")).to_be_visible()
    expect(v.page.get_by_text("Taken").first).to_be_visible()
    keep(v, "alarm")


def test_the_palette(look):
    v = look("/", DARK)
    v.page.keyboard.press("Control+k")
    v.page.get_by_role("combobox").fill("re")
    v.page.get_by_role("option").nth(2).wait_for()
    keep(v, "palette")
