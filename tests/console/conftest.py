# SPDX-License-Identifier: Apache-2.0
"""The console in Debian's Chromium: a real server, a real executor, and a browser whose complaints fail the test."""

import os
import pathlib
import sys

import pytest
from playwright.sync_api import expect, sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.center import Center, ROOT  # noqa: E402 (found through the path just set)
from support.executor import Executor  # noqa: E402
from support.wait import PATIENCE, wait_until  # noqa: E402

PICTURES = ROOT / "build" / "console"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP peal.test 127.0.0.1"]  # a name without TLS
expect.set_options(timeout=30000 * PATIENCE)  # of its own it has 5 s
APP = "console-tests"
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as p:
        it = p.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGS)
        yield it
        it.close()


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("center")) as it:
        yield it


@pytest.fixture(scope="module")
def executor(center, tmp_path_factory):
    """One executor of the group console-tests, which is there as well."""
    group = center.api().add_group(APP)
    with Executor(tmp_path_factory.mktemp("executor"), center.url, app=APP) as it:
        wait_until(lambda: center.api().addresses(APP), "the executor to register")
        it.group = group
        yield it


class Visitor:
    """One user's browser: a page, and what the browser complained of."""

    def __init__(self, browser, center, **options):
        self.center = center
        self.url = f"http://127.0.0.1:{center.port}"
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", **options})
        self.context.set_default_timeout(30000 * PATIENCE)
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", lambda m: self.heard(m.type, f"{m.text} ({self.page.url})"))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))

    def heard(self, kind, text):
        """An answer that is no success is no fault of the page; all else that it says is."""
        if kind in ("error", "warning") and not text.startswith("Failed to load resource"):
            self.complaints.append(f"{kind}: {text}")

    def login(self, path="/jobs", name="admin", password=None, prefix=""):
        self.page.goto(self.url + prefix + path)
        self.page.get_by_label("Name").or_(self.page.get_by_label("用户名")).or_(self.page.get_by_label("使用者名稱")).fill(name)
        self.page.locator("input[type=password]").fill(password or self.center.password)
        self.page.locator("button[type=submit]").click()
        self.page.locator("nav.rail").wait_for()
        return self.page

    def axe(self):
        """What breaks WCAG 2.2 AA on the page, as lines; read by axe-core of web/node_modules."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text() + ";0")
        found = self.page.evaluate("""async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}))
            .violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary.split('\\n')[1]}`))""")
        return found

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(PICTURES / f"{name}.png"))


@pytest.fixture
def visit(browser, center):
    """Make visitors; at the end none of them may have had a complaint."""
    made = []

    def new(**options):
        made.append(Visitor(browser, center, **options))
        return made[-1]
    yield new
    complaints = [text for one in made for text in one.complaints]
    for one in made:
        one.context.close()
    assert not complaints, complaints
