# SPDX-License-Identifier: Apache-2.0
"""What changes, as it changes: /api/v1/events on a real center."""

import contextlib
import socket
import threading
import time

import pytest
from support.center import Center
from support.contract import Contract
from support.sse import Ended, Events
from support.stub_executor import Stub
from support.v1 import V1, problem
from support.wait import PATIENCE, wait_until
from test_users import make

SCHEMAS = {"run": "EventRun", "runs": "EventRuns", "job": "EventJob", "executor": "EventExecutor",
           "alarm": "EventAlarm", "vitals": "EventVitals"}
CONTRACT = Contract()


def checked(event):
    """The event, as the contract has it."""
    name, data = event
    if name in SCHEMAS:
        CONTRACT.judge({"$ref": f"#/components/schemas/{SCHEMAS[name]}"}, data, name)
    return event


class Site:
    """A center with a stub executor, two groups, and a job in each; the first job's runs end when the test says."""

    def __init__(self, center, stub):
        self.center, self.stub, self.api = center, stub, center.api()
        self.mine = next(g["id"] for g in self.api.groups() if g["appname"] == stub.app)
        self.other = self.api.add_group("somewhere-else")
        self.job = self.api.add_job(self.mine, "h")
        self.hidden = self.api.add_job(self.other, "h", scheduleType="FIX_RATE", scheduleConf="3600")
        self.v1 = V1(center)

    def open(self, query="topics=run,job", last=None, v1=None):
        return Events(self.center.port, f"/api/v1/events?{query}", (v1 or self.v1).headers, last)

    def run(self, job=None):
        """Runs once, up to its end; its id."""
        job = job or self.job
        before = len(self.stub.runs(job))
        self.api.trigger(job)
        run = self.stub.wait_runs(before + 1, job)[before]["logId"]
        self.stub.call_back(run)
        return run


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with Center(tmp_path_factory.mktemp("events")) as center:
        api = center.api()
        api.add_group("events-app")
        with Stub(center, "events-app") as stub:
            wait_until(lambda: api.addresses("events-app"), "registration")
            yield Site(center, stub)


def until(stream, run, *phases):
    """The phases that the run is told to be in, until the last of these."""
    seen = []
    while not seen or seen[-1] not in phases:
        name, data = checked(stream.next("run", "reset"))
        assert name == "run"
        if data["id"] == run:
            seen.append(data["phase"])
    return seen


def test_a_run_from_its_plan_to_its_end(site):
    with site.open() as stream:
        assert stream.status == 200 and stream.headers["Content-Type"] == "text/event-stream"
        run = site.run()
        seen = until(stream, run, "succeeded")
        assert seen[-1] == "succeeded" and "sent" in seen
        assert site.v1.get(f"/runs/{run}")["run"]["outcome"] == "succeeded"  # what is told is on disk
        before = len(site.stub.runs(site.job))
        site.api.trigger(site.job)
        run = site.stub.wait_runs(before + 1, site.job)[-1]["logId"]
        site.stub.call_back(run, 500, "no")
        assert until(stream, run, "failed")[-1] == "failed"


def test_edits_of_jobs(site):
    with site.open("topics=job") as stream:
        job = site.api.add_job(site.mine, "h", scheduleType="FIX_RATE", scheduleConf="3600")
        name, made = checked(stream.next())
        assert (name, made["id"], made["change"]) == ("job", job, "created")
        site.api.start_job(job)
        site.api.stop_job(job)
        site.api.delete_job(job)
        changes = [checked(stream.next())[1] for _ in range(3)]
        assert [c["change"] for c in changes] == ["started", "stopped", "deleted"]
        assert {c["id"] for c in changes} == {job}


def test_executors_come_and_go(site):
    make(site.center, "events-reader", grants=[{"role": "viewer", "groups": [int(site.mine)]}])
    reader = V1(site.center, "events-reader", "events-reader")
    site.api.add_group("events-hidden")
    with site.open("topics=executor,job") as all_, site.open("topics=executor,job", v1=reader) as mine:
        def told(stream, address, state):
            while True:
                name, data = checked(stream.next("executor"))
                if (data["address"], data["state"]) == (address, state):
                    return
        with Stub(site.center, "events-hidden") as hidden, Stub(site.center, site.stub.app) as stub:
            told(all_, hidden.address, "up")
            told(mine, stub.address, "up")
            hidden.register("registryRemove")
            told(all_, hidden.address, "gone")
            stub.register("registryRemove")
            told(mine, stub.address, "gone")
        moved = site.api.add_job(site.mine, "h")
        site.v1.ask("PATCH", f"/jobs/{moved}", {"groupId": int(site.other)}, If_Match="*")
        site.v1.ask("DELETE", f"/jobs/{moved}", If_Match="*")
        seen = site.api.add_job(site.mine, "h")
        site.api.delete_job(seen)
        changes = []
        while (seen, "deleted") not in changes:
            name, data = checked(mine.next())
            assert name == "job" or data["address"] == stub.address, "of a group out of sight"
            if name == "job":
                changes.append((data["id"], data["change"]))
        assert changes == [(moved, "created"), (moved, "updated"), (seen, "created"), (seen, "deleted")]


def told(stream, alarm, state):
    """Wait until the stream says that of the alarm."""
    while True:
        name, data = checked(stream.next(beats=4 * PATIENCE))
        assert name == "alarm"
        if (data["id"], data["state"]) == (alarm, state):
            return


def test_alarms_as_they_open_and_change(site):
    """To those who may see their group; one who comes while an alarm is open is told so when nobody looked on before."""
    v1 = site.v1
    made = v1.ask("POST", "/tokens", {"name": "other", "permissions": ["read"], "groups": [site.other], "days": 1})
    reader = V1(site.center, token=made.json["secret"])
    channel = v1.ask("POST", "/alarm-channels", {"name": "nowhere", "kind": "slack", "enabled": False,
                                                 "settings": {"url": "https://hooks.slack.com/services/x"}})
    rule = v1.ask("POST", "/alarm-rules", {"name": "Fails", "kind": "failed", "groupId": site.mine, "channels": ["nowhere"]})
    assert (channel.status, rule.status) == (201, 201), (channel.json, rule.json)
    with site.open("topics=alarm,job", v1=reader) as elsewhere:
        with site.open("topics=alarm") as stream, site.open("topics=run") as runs:
            until(runs, site.run(), "succeeded")  # what failed before is not new
            before = len(site.stub.runs(site.job))
            site.api.trigger(site.job)
            site.stub.call_back(site.stub.wait_runs(before + 1, site.job)[before]["logId"], code=500)
            name, opened = checked(stream.next(beats=4 * PATIENCE))
            assert (name, opened["groupId"], opened["state"]) == ("alarm", site.mine, "open")
            alarm = opened["id"]
            assert v1.get(f"/alarms/{alarm}")["open"] == 1
            assert v1.ask("POST", f"/alarms/{alarm}/acknowledge").status == 200
            told(stream, alarm, "acknowledged")
        with site.open("topics=alarm") as stream:
            assert v1.ask("POST", f"/alarms/{alarm}/close").status == 200
            told(stream, alarm, "closed")
        assert v1.ask("DELETE", f"/alarm-rules/{rule.json['id']}", If_Match="*").status == 204
        site.run()
        site.api.start_job(site.hidden)
        site.api.stop_job(site.hidden)
        name, data = elsewhere.next(beats=4 * PATIENCE)
        assert (name, data["id"]) == ("job", site.hidden)  # and no alarm before it


def test_vitals_come_every_two_seconds(site):
    with site.open("topics=vitals") as stream:
        first, second = checked(stream.next())[1], checked(stream.next())[1]
        assert first["ok"] is True
        assert second["nowMs"] > first["nowMs"]
        assert stream.last is not None  # a client that comes back has a place, though nothing was told


def test_one_who_comes_back_misses_nothing(site):
    with site.open() as stream:
        first = site.run()
        until(stream, first, "succeeded")
        last = stream.last
    runs = [site.run() for _ in range(3)]
    site.run()
    with site.open(last=last) as stream:
        ends = []
        while len(ends) < 3:
            name, data = stream.next()
            assert name == "run"
            assert data["id"] != first or data["phase"] == "succeeded"
            if data["phase"] == "succeeded" and data["id"] in runs:
                ends.append(data["id"])
        assert ends == runs


@pytest.mark.parametrize("last", ["7-4711", "x", "1-", "-", "0-0"])
def test_a_place_that_is_not_known_is_told(site, last):
    with site.open(last=last) as stream:
        assert stream.next()[0] == "reset"
        run = site.run()
        until(stream, run, "succeeded")


def test_one_sees_ones_groups_and_chosen_jobs_only(site):
    answer = site.v1.ask("POST", "/users", {"name": "watcher", "password": "password-of-watcher", "center": "none",
                                            "grants": [{"role": "viewer", "groups": [site.mine]}]})
    assert answer.status == 201, answer.json
    watcher = V1(site.center, "watcher", "password-of-watcher")
    with contextlib.ExitStack() as stack:
        theirs = stack.enter_context(site.open(v1=watcher))
        group = stack.enter_context(site.open("topics=run&group=somewhere-else"))
        other = stack.enter_context(site.open(f"topics=run&job={site.hidden}"))
        site.api.trigger(site.hidden)  # nobody takes it
        run = site.run()
        until(theirs, run, "succeeded")
        for stream in (group, other):
            name, data = checked(stream.next("run"))
            assert data["jobId"] == site.hidden
            assert data["groupId"] == site.other
        with site.open(v1=watcher, last=theirs.last) as again:
            site.api.start_job(site.hidden)
            site.api.stop_job(site.hidden)
            run = site.run()
            while True:
                name, data = again.next()
                assert data.get("jobId", data["id"]) != site.hidden
                if name == "run" and data["id"] == run and data["phase"] == "succeeded":
                    break


def test_many_at_once_are_one_event(site):
    with site.open("topics=run") as stream, site.open(f"topics=run&job={site.job}") as own, \
            site.open(f"topics=run&job={site.hidden}") as none:
        before = len(site.stub.runs())
        jobs = [site.api.add_job(site.mine, "h", scheduleType="FIX_RATE", scheduleConf="1") for _ in range(120)]
        for job in jobs:
            site.api.start_job(job)
        site.stub.wait_runs(before + 240, timeout=60)
        crowd = None
        while not crowd or sum(crowd["counts"].values()) <= 50:
            _, crowd = checked(stream.next("runs"))
        assert set(crowd["jobs"]) <= set(jobs) | {site.job}
        assert set(crowd["counts"]) <= {"open", "succeeded", "lost", "rejected", "failed"}
        for job in jobs:
            site.api.stop_job(job)
        run = site.run(site.job)
        while True:  # alone, or as a number in an event of many
            name, data = checked(own.next())
            if name == "runs":
                assert data["jobs"] == [site.job]
                break
            if (data["id"], data["phase"]) == (run, "succeeded"):
                break
        site.api.trigger(site.hidden)
        name, data = checked(none.next())
        assert data.get("jobId") == site.hidden or data.get("jobs") == [site.hidden]
        for job in jobs:
            site.api.delete_job(job)


def test_what_is_refused(site):
    ask = site.v1.ask
    problem(ask("GET", "/events?topics=run,what", Accept="text/event-stream"), 400, "malformed", ("topics", "enum"))
    problem(ask("GET", "/events?job=x", Accept="text/event-stream"), 400, "malformed", ("job", "type.ids"))
    problem(ask("GET", "/events", Accept="text/event-stream", Last_Event_ID="1" * 65), 400, "malformed",
            ("Last-Event-ID", "text.length"))
    problem(ask("GET", "/events", Accept="application/json"), 406, "not_acceptable")
    with Events(site.center.port, "/api/v1/events", {}) as nobody:
        assert nobody.status == 401


def test_a_heartbeat_when_nothing_happens(site):
    with site.open("topics=executor") as stream:
        stream.comment()


def slow(port, headers):
    """A connection that opens the stream and then reads nothing by itself."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    s.settimeout(30)
    s.connect(("127.0.0.1", port))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    s.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: a\r\n{lines}\r\n".encode())
    return s


class Reader:
    """Reads a stream as it comes (who is too far behind is set to the end), and counts the successes: each alone, or as
    a number in an event of many."""

    def __init__(self, stream):
        self.stream, self.told, self.resets = stream, 0, 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with contextlib.suppress(Ended, OSError, ValueError, AttributeError):  # the test closes the stream under it
            while True:
                name, data = self.stream.next("run", "runs", "reset")
                if name == "reset":
                    self.resets += 1
                elif name == "run":
                    self.told += data["phase"] == "succeeded"
                else:
                    self.told += data["counts"].get("succeeded", 0)


def resident(center):
    """Memory of the center's process, in bytes."""
    with open(f"/proc/{center.process.pid}/status", encoding="ascii") as f:
        return 1024 * int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def test_five_hundred_slow_readers_hold_up_nobody(tmp_path):
    """They read a byte a second; others get everything, pages are served, and memory is bounded."""
    with Center(tmp_path) as center:
        api = center.api()
        group = api.add_group("slow-app")
        with Stub(center, "slow-app") as stub:
            wait_until(lambda: api.addresses("slow-app"), "registration")
            v1 = V1(center)
            users = []
            for n in range(32):
                assert v1.ask("POST", "/users", {"name": f"slow-{n}", "password": "password-of-slow", "center": "none",
                                                 "grants": [{"role": "viewer", "groups": None}]}).status == 201
                users.append(V1(center, f"slow-{n}", "password-of-slow"))
            job = api.add_job(group, "h")
            with contextlib.ExitStack() as stack:
                readers = [stack.enter_context(slow(center.port, users[n % 32].headers)) for n in range(500)]
                for s in readers:
                    assert s.recv(1)
                before = resident(center)
                with Events(center.port, "/api/v1/events?topics=run", v1.headers) as stream:
                    reader = Reader(stream)
                    end, ended = time.monotonic() + 10, 0
                    while time.monotonic() < end:
                        api.trigger(job)
                        ended += 1
                        stub.call_back(stub.wait_runs(ended)[ended - 1]["logId"])
                        for s in readers[:500:7]:
                            with contextlib.suppress(OSError):
                                s.setblocking(False)
                                s.recv(1)
                    wait_until(lambda: reader.told >= ended, f"{ended} ends to be told", 60)
                    assert reader.told == ended and not reader.resets
                    assert v1.get("/runs?limit=1")["items"]
                assert resident(center) - before < 64 << 20


def test_bye_at_a_stop_and_reset_after_it(tmp_path):
    with Center(tmp_path) as center:
        v1 = V1(center)
        with Events(center.port, "/api/v1/events?topics=vitals", v1.headers) as stream:
            stream.next("vitals")
            last = stream.last
            center.stop()
            assert stream.rest()[-1] == ("bye", {})
        center.start()
        with Events(center.port, "/api/v1/events?topics=vitals", v1.headers, last) as stream:
            assert stream.next()[0] == "reset"
            center.kill()
            with pytest.raises(Ended):
                while True:
                    stream.next()
        center.start()


def test_other_rights_end_a_stream(site):
    answer = site.v1.ask("POST", "/users", {"name": "moved", "password": "password-of-moved", "center": "none",
                                            "grants": [{"role": "viewer", "groups": [site.mine]}]})
    assert answer.status == 201, answer.json
    user = answer.json
    made = V1(site.center, "moved", "password-of-moved")
    token = made.ask("POST", "/tokens", {"name": "t", "permissions": ["read"], "groups": None, "days": 1})
    assert token.status == 201, token.json
    headers = {"Authorization": f"Bearer {token.json['secret']}"}  # it outlives the change, as the sessions do not
    with Events(site.center.port, "/api/v1/events?topics=job", headers) as stream:
        assert stream.status == 200
        etag = site.v1.ask("GET", f"/users/{user['id']}").etag
        answer = site.v1.ask("PATCH", f"/users/{user['id']}", {"grants": [{"role": "viewer", "groups": [site.other]}]},
                             If_Match=etag)
        assert answer.status == 200, answer.json
        stream.rest()  # ends
