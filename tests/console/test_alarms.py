# SPDX-License-Identifier: Apache-2.0
"""Alarms in a browser: a channel is made and tested, a rule is made and says in words what it does, a job fails and its
alarm is acknowledged, read, silenced and closed; who may only look finds nothing to press."""

import http.server
import re
import threading

import pytest
from playwright.sync_api import expect
from steps import new_job, trigger
from support.center import Center
from support.v1 import V1
from support.wait import wait_until
from test_flows import looks


@pytest.fixture(scope="module")
def hook():
    """Takes every message that is sent to it."""
    got = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(400 if self.path == "/refused" else 204)
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.got = got
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def center(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("center"), ["--alarm.targets", "127.0.0.0/8"]) as it:
        yield it


@pytest.fixture(scope="module")
def group(center):
    return center.api().add_group("nobody-there")


def test_a_failure_goes_from_a_rule_to_a_channel_and_is_dealt_with(visit, center, group, hook):
    v1 = V1(center)
    job = new_job(v1, group, "Settle payments")
    v = visit()
    page = v.login("/alarms")
    expect(page.get_by_text("No alarm is open.")).to_be_visible()

    page.get_by_role("tab", name="Channels").click()
    page.get_by_role("button", name="New channel").click()
    page.get_by_label("Name").fill("night shift")
    page.get_by_label("URL").fill(f"http://127.0.0.1:{hook.server_port}/secret-path")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Test night shift").click()
    expect(page.get_by_role("status").filter(has_text="Taken after")).to_be_visible()
    assert hook.got and b'"test"' in hook.got[0]
    page.get_by_role("button", name="Edit night shift").click()
    expect(page.get_by_label("URL")).to_have_value("")
    expect(page.get_by_text("Is set and not shown.").first).to_be_visible()
    assert not v.axe()
    page.get_by_role("button", name="Cancel").click()

    page.goto(f"{v.url}/jobs/{job}")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Alarm for this job…").click()
    expect(page.get_by_role("combobox", name="Job")).to_have_value("Settle payments")
    expect(page.get_by_role("dialog")).to_contain_text("When Settle payments fails")
    page.get_by_label("A group", exact=True).check()
    page.get_by_label("Group *").select_option(str(group))
    page.get_by_label("Name *").fill("Payments fail")
    page.get_by_label("night shift").check()
    page.get_by_label("Tell again").select_option("14400000")
    expect(page.get_by_text(re.compile("^When a job of .* fails, tell night shift, and again every 4 h while it lasts.$"))).to_be_visible()
    expect(page.get_by_text("That is 1 job now.")).to_be_visible()
    assert not v.axe()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("Payments fail", exact=True)).to_be_visible()

    trigger(v1, job)
    page.get_by_role("tab", name="Open").click()
    found = page.get_by_role("link", name=re.compile("^1 job fails: "))
    expect(found).to_be_visible()  # by itself
    expect(page.get_by_role("link", name=re.compile("^Alarms 1 open"))).to_be_visible()
    page.get_by_role("button", name=re.compile("^Acknowledge")).click()
    expect(page.get_by_text("Acknowledged by admin")).to_be_visible()
    found.click()
    expect(page.get_by_role("link", name="Settle payments")).to_be_visible()
    messages = page.locator("section").filter(has=page.get_by_role("heading", name="Messages"))
    expect(messages.get_by_text("Taken")).to_be_visible()
    messages.get_by_role("button", name=re.compile("^1 try")).click()
    expect(messages.get_by_text("HTTP 204")).to_be_visible()
    sent = len(hook.got)
    messages.get_by_role("button", name=re.compile("^Send again")).click()
    wait_until(lambda: len(hook.got) > sent, "the message to be sent again")
    assert not v.axe()

    page.get_by_role("button", name="Silence…").click()
    page.get_by_label("Reason").fill("The executors move")
    page.get_by_role("button", name="Silence", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Close alarm").click()
    page.get_by_role("dialog").get_by_role("button", name="Close alarm").click()
    expect(page.get_by_text("Closed by admin")).to_be_visible()
    page.goto(f"{v.url}/alarms?tab=silences")
    page.get_by_role("button", name=re.compile("^End: .*Payments fail")).click()
    page.get_by_role("dialog").get_by_role("button", name="End").click()
    expect(page.get_by_text("Nothing is silenced.")).to_be_visible()


def test_a_job_is_silenced_from_its_page_and_goes_by_its_name(visit, center, group):
    v1 = V1(center)
    job = new_job(v1, group, "Count the stock")
    made = v1.ask("POST", "/alarm-channels", {"name": "stock", "kind": "webhook", "settings": {"url": "https://example.org/"}})
    assert made.status == 201, made.json
    made = v1.ask("POST", "/alarm-rules", {"name": "Stock", "kind": "failed", "jobId": job, "channels": ["stock"]})
    assert made.status == 201, made.json
    v = visit()
    page = v.login("/alarms?tab=rules")
    expect(page.get_by_text(re.compile("Count the stock fails, tell stock"))).to_be_visible()
    page.goto(f"{v.url}/jobs/{job}")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Silence this job…").click()
    expect(page.get_by_role("combobox", name="Job")).to_have_value("Count the stock")
    page.get_by_label("Reason").fill("It is counted by hand")
    assert not v.axe()
    page.get_by_role("button", name="Silence", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    end = page.get_by_role("button", name=re.compile("^End: .*Count the stock"))
    expect(end).to_be_visible()
    silence = next(s for s in v1.get("/alarm-silences")["items"] if s["jobId"] == job)
    assert silence["active"] and silence["reason"] == "It is counted by hand"
    end.click()
    page.get_by_role("dialog").get_by_role("button", name="End").click()
    expect(end).to_have_count(0)


def test_a_job_is_picked_by_its_name(visit, center, group):
    """By keys and by mouse; an input method's keys are its own; what is not chosen is no job."""
    v1 = V1(center)
    first, second, third = (new_job(v1, group, name) for name in ("Wash the first car", "Wash the second car", "洗车"))
    v = visit()
    page = v.login("/alarms?tab=silences")
    page.get_by_role("button", name="New silence").click()
    dialog = page.get_by_role("dialog")
    page.get_by_label("One job").check()
    page.get_by_label("Reason").fill("Rain")
    field, go = page.get_by_role("combobox", name="Job"), page.get_by_role("button", name="Silence", exact=True)
    field.fill("wash the")
    options = dialog.get_by_role("listbox", name="Jobs").get_by_role("option")
    expect(options).to_have_count(2)
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(dialog.get_by_role("status").filter(has_text="2 jobs")).to_have_count(1)
    chosen = dialog.get_by_role("listbox", name="Jobs").get_by_role("option", selected=True)
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    assert not v.axe()
    before = chosen.inner_text()
    field.press("ArrowDown")
    expect(chosen).not_to_have_text(before)
    field.press("ArrowDown")
    expect(chosen).to_contain_text(before.split("\n")[0])
    field.press("Escape")  # closes the list and no more
    expect(options).to_have_count(0)
    expect(field).to_have_value("")
    expect(go).to_be_disabled()
    field.fill("second")
    expect(options).to_have_count(1)
    field.press("Enter")  # chooses, and sends nothing
    expect(field).to_have_value("Wash the second car")
    expect(go).to_be_enabled()
    field.fill("Wash the sec")
    expect(options).to_have_count(1)
    page.get_by_label("Reason").click()  # away: what was chosen stands there again
    expect(field).to_have_value("Wash the second car")
    expect(options).to_have_count(0)

    typing = page.context.new_cdp_session(page)
    field.fill("")
    expect(go).to_be_enabled()  # until the field is left
    expect(options.first).to_be_visible()
    typing.send("Input.imeSetComposition", {"text": "xi", "selectionStart": 2, "selectionEnd": 2})
    field.dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    expect(options.filter(has_text="洗车")).to_be_visible()  # among all: what is composed is no word yet
    typing.send("Input.insertText", {"text": "洗"})
    expect(options).to_have_count(1)
    options.click()
    expect(field).to_have_value("洗车")
    field.fill("no such thing")
    expect(dialog.get_by_text("No job has that in its name.").first).to_be_visible()
    field.fill(f"#{first}")
    expect(options.first).to_contain_text("Wash the first car")
    field.press("Enter")
    go.click()
    expect(dialog).to_have_count(0)
    silence = next(s for s in v1.get("/alarm-silences")["items"] if s["reason"] == "Rain")
    assert silence["jobId"] == first and first not in (second, third)
    assert v1.ask("DELETE", f"/alarm-silences/{silence['id']}").status == 204

    page.get_by_role("tab", name="Rules").click()
    page.get_by_role("button", name="New rule").click()
    page.get_by_label("One job").check()
    field.click()  # opens the list of all
    expect(options.nth(2)).to_be_visible()
    field.fill("first car")
    expect(options).to_have_count(1)
    options.click()
    expect(page.get_by_text("When Wash the first car fails")).to_be_visible()
    assert not v.axe()


def test_a_message_that_was_given_up_is_found_from_the_overview(visit, center, group, hook):
    v1 = V1(center)
    job = new_job(v1, group, "Nobody hears of it")
    for path, body in (("/alarm-channels", {"name": "deaf", "kind": "webhook",
                                            "settings": {"url": f"http://127.0.0.1:{hook.server_port}/refused"}}),
                       ("/alarm-rules", {"name": "Deaf", "kind": "failed", "jobId": job, "channels": ["deaf"]})):
        made = v1.ask("POST", path, body)
        assert made.status == 201, made.json
    trigger(v1, job)
    [given_up] = wait_until(lambda: v1.get("/alarm-deliveries?state=failed&sinceMs=1")["items"], "a message that is given up", 60)
    v = visit()
    page = v.login("/")
    page.get_by_role("link", name=re.compile("1 ?messages given up")).click()
    expect(page.get_by_role("tab", name="Messages", selected=True)).to_be_visible()
    expect(page.get_by_label("State")).to_have_value("failed")
    row = page.get_by_role("listitem").filter(has_text="deaf")
    expect(row).to_contain_text("Given up")
    expect(row.get_by_role("link", name=f"Alarm {given_up['alarmId']}")).to_be_visible()
    assert not v.axe()
    page.get_by_label("State").select_option("waiting")
    expect(page.get_by_text("No such message in the last 30 days.")).to_be_visible()
    page.get_by_label("State").select_option("")
    row.get_by_role("link", name=re.compile("^Alarm")).click()
    expect(page.get_by_role("heading", name="Messages")).to_be_visible()


@pytest.mark.parametrize("look, options", looks())
def test_each_tab_has_no_complaint_and_no_sideways_scrolling(visit, center, group, look, options):
    v1 = V1(center)
    v = visit(**options)
    page = v.login()
    alarm = v1.ask("GET", "/alarms").json["items"][0]["id"]
    for path in ("/alarms", "/alarms?tab=closed", "/alarms?tab=messages", "/alarms?tab=rules", "/alarms?tab=silences", "/alarms?tab=channels", f"/alarms/{alarm}"):
        page.goto(v.url + path)
        page.locator("main h1").first.wait_for()
        expect(page.get_by_text(re.compile("^(Loading|加载中|載入中)…$"))).to_have_count(0)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} is {wide} pixels too wide"
        assert not v.axe(), path + "".join("\n  " + line for line in v.axe())
        v.picture(f"{re.sub('[/?=]+', '-', path.strip('/'))}-{look}")


def test_who_may_only_look_finds_nothing_to_press(visit, center, group):
    v1 = V1(center)
    made = v1.ask("POST", "/users", {"name": "looker", "password": "of-the-looker", "grants": [{"role": "viewer", "groups": [group]}]})
    assert made.status == 201, made.json
    alarm = v1.ask("GET", "/alarms").json["items"][0]["id"]
    page = visit().login("/alarms?tab=rules", name="looker", password="of-the-looker")
    expect(page.get_by_text("Payments fail", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="New rule")).to_have_count(0)
    expect(page.get_by_role("tab", name="Channels")).to_have_count(0)
    page.get_by_role("tab", name="Silences").click()
    expect(page.get_by_text("Nothing is silenced.")).to_be_visible()
    expect(page.get_by_role("button", name="New silence")).to_have_count(0)
    page.goto(page.url.split("/alarms")[0] + f"/alarms/{alarm}")
    expect(page.get_by_role("heading", name="Messages")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Silence|Acknowledge|Close alarm|Send again"))).to_have_count(0)
