# SPDX-License-Identifier: Apache-2.0
"""Rules that look for states: a job that is not sent in time, a group without executors, an executor that is gone, the
center itself. Each opens when the state is there and closes when it is over, with no run that would say so."""

import datetime
import http.server
import signal
import socket
import threading
import time

import pytest
from support.center import Center, free_port
from support.v1 import V1
from support.wait import PATIENCE, wait_until
from test_alarm_rules import Hook, rule


@pytest.fixture(scope="module")
def hook():
    with Hook() as it:
        yield it


@pytest.fixture(scope="module")
def center(tmp_path_factory, hook):
    folder = tmp_path_factory.mktemp("watch")
    settings = [*hook.settings, "--lane.connections", "1", "--backup.folder", str(folder / "none"), "--backup.every", "1s"]
    with Center(folder / "center", settings) as it:
        yield it


@pytest.fixture(scope="module")
def v1(center):
    return V1(center)


class Beats(http.server.BaseHTTPRequestHandler):
    """An executor that answers whatever it is asked."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b'{"code":200}')


def states(hook, number):
    return [m["state"] for m in hook.of(number)]


def test_states_open_alarms_and_their_end_closes_them(center, v1, hook):
    api = center.api()
    port = free_port()
    address = f"http://127.0.0.1:{port}/"  # nothing listens there yet
    empty, gone = api.add_group("watch-empty"), api.add_group("watch-gone", addresses=[address])
    idle = api.add_group("watch-idle")  # its job is not enabled
    job = api.add_job(empty, "h", scheduleType="CRON", scheduleConf="0 0 0 1 1 ? 2099")
    api.add_job(idle, "h")
    api.start_job(job)
    dead = api.add_job(gone, "h")
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # takes a connection, and never answers
        stuck = api.add_group("watch-stuck", addresses=[f"http://127.0.0.1:{deaf.getsockname()[1]}/"])
        late = api.add_job(stuck, "h", scheduleType="CRON", scheduleConf="* * * * * ?")
        api.start_job(late)
        numbers = {kind: rule(v1, kind, **more) for kind, more in {
            "empty": {}, "gone": {}, "late": {"longerMs": 1000, "groupId": stuck}, "center": {"level": "critical"}}.items()}
        api.trigger(dead)  # refused: the address counts as gone until it answers

        opened = {kind: hook.wait(number, 1)[0] for kind, number in numbers.items()}
        assert {kind: (m["event"], m["state"]) for kind, m in opened.items()} == {
            "empty": ("group.empty", "opened"), "gone": ("executor.gone", "opened"), "late": ("job.late", "opened"),
            "center": ("center.backup", "opened")}
        assert opened["empty"]["groupId"] == empty and opened["gone"]["executor"] == address
        assert [i["jobId"] for i in opened["late"]["items"]] == [late] and "due at" in opened["late"]["cause"]
        assert "backup" in opened["center"]["title"] and opened["center"]["groupId"] == 0
        shown = {kind: v1.get(f"/alarms/{m['alarmId']}") for kind, m in opened.items()}
        assert {kind: (a["cause"], a["check"], a["executor"]) for kind, a in shown.items()} == {
            "empty": ("no_executor", None, None), "gone": ("executor", None, address), "late": ("group", None, None),
            "center": ("center", "backup", None)}

        api.stop_job(late)  # what was to be sent is withdrawn
        api.stop_job(job)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Beats)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            for kind in ("empty", "gone", "late"):
                wait_until(lambda kind=kind: states(hook, numbers[kind]) == ["opened", "closed"], f"the end of {kind}", 90)
        finally:
            server.shutdown()
            server.server_close()
    # what a user has closed is not opened again while it lasts
    alarm = f"/alarms/{opened['center']['alarmId']}"
    assert v1.ask("POST", alarm + "/close").status == 200
    assert hook.wait(numbers["center"], 2)[-1]["state"] == "closed"
    # looks go on: another rule finds the same
    other = rule(v1, "center")
    hook.wait(other, 1)
    assert [a["id"] for a in v1.get(f"/alarms?rule={numbers['center']}")["items"]] == [opened["center"]["alarmId"]]


def test_a_firing_that_was_skipped_is_late(tmp_path):
    """Nothing of it waits any more, and its job, which was due once, has even ended: a rule tells it all the same."""
    with Hook() as hook, Center(tmp_path / "center", [*hook.settings, "--misfire.threshold", "1s"]) as center:
        api = center.api()
        then = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=15 * PATIENCE)
        job = api.add_job(api.add_group("watch-skips"), "h", misfireStrategy="DO_NOTHING", scheduleType="ONCE",
                          scheduleConf=f"{then:%Y-%m-%dT%H:%M:%SZ}")
        number = rule(V1(center), "late", longerMs=1000, jobId=job)
        api.start_job(job)
        center.stop()
        wait_until(lambda: time.time() > then.timestamp() + 2, "the firing to be missed", 20 + 15 * PATIENCE)
        center.start()
        opened = hook.wait(number, 1)[0]
        assert opened["event"] == "job.late" and [i["jobId"] for i in opened["items"]] == [job]
        assert "the misfire strategy skipped what was due at" in opened["cause"]


@pytest.mark.parametrize("body, field", [
    ({"kind": "late"}, "/longerMs"), ({"kind": "late", "longerMs": 999}, "/longerMs"), ({"kind": "empty", "jobId": 1}, "/jobId"),
    ({"kind": "gone", "inARow": 2}, "/inARow"), ({"kind": "center", "groupId": 1}, "/groupId"),
    ({"kind": "stopped", "longerMs": 5000}, "/longerMs"),
])
def test_what_such_a_rule_cannot_have_is_told(v1, center, body, field):
    api = center.api()
    group = api.add_group(f"watch-bad-{body['kind']}")
    places = {"jobId": api.add_job(group, "h"), "groupId": group}
    given = {"name": "n", "channels": ["webhook"], **{k: places.get(k, v) for k, v in body.items()}}
    answer = v1.ask("POST", "/alarm-rules", given)
    assert answer.status == 422 and [e["field"] for e in answer.json["errors"]] == [field], answer.json


def test_an_old_backup_is_judged_by_what_sighup_has_set(tmp_path):
    settings = tmp_path / "peal.conf"
    settings.write_text(f"backup.folder = {tmp_path / 'none'}\nbackup.every = 365d\n")
    with Hook() as hook, Center(tmp_path / "center", ["--config", str(settings), *hook.settings]) as center:
        number = rule(V1(center), "center")
        settings.write_text(settings.read_text().replace("365d", "1s"))
        center.process.send_signal(signal.SIGHUP)
        assert hook.wait(number, 1)[0]["event"] == "center.backup"
