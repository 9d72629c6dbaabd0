# SPDX-License-Identifier: Apache-2.0
"""Logs that are followed: /api/v1/runs/{id}/log/stream on a real center, against a stub executor that counts what it
is asked."""

import contextlib
import threading
import time

import pytest
from support.center import Center
from support.sse import Ended, open_log, lines_until
from support.stub_executor import OK, Stub
from support.v1 import V1, problem
from support.wait import PATIENCE, wait_until

START = "<br>----------- xxl-job job execute start -----------<br>----------- Param:x"


class Logs:
    """The logs of a stub's runs, as a Java executor keeps them: a file for each run."""

    def __init__(self, stub):
        self.files, self.asked, self.under_way, self.most = {}, [], 0, 0
        self.hang = threading.Event()
        self.hang.set()
        self.lock = threading.Lock()
        stub.answers["log"] = self.page

    def page(self, body):
        with self.lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            self.asked.append((body["logId"], body["fromLineNum"]))
        self.hang.wait(60 * PATIENCE)
        with self.lock:
            self.under_way -= 1
        lines = self.files.get(body["logId"])
        if lines is None:
            page = {"fromLineNum": body["fromLineNum"], "toLineNum": 0,
                    "logContent": "readLog fail, logFile not exists", "isEnd": True}
        else:
            begin = body["fromLineNum"]
            page = {"fromLineNum": begin, "toLineNum": max(len(lines), begin - 1),
                    "logContent": "".join(line + "\n" for line in lines[begin - 1:]), "isEnd": False}
        return {**OK, "content": page, "data": page}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """(center, v1, stub, logs, job): a job of the stub's, which runs until the test ends it."""
    with Center(tmp_path_factory.mktemp("logs")) as center:
        api = center.api()
        group = api.add_group("tails")
        job = api.add_job(group, "h", executorBlockStrategy="DISCARD_LATER")
        with Stub(center, "tails") as stub:
            wait_until(lambda: api.addresses("tails"), "registration")
            yield center, V1(center), stub, Logs(stub), job


def start(site):
    """A run that goes on; its id."""
    center, _, stub, _, job = site
    before = len(stub.runs(job))
    center.api().trigger(job)
    return stub.wait_runs(before + 1, job)[before]["logId"]


def test_lines_come_as_they_are_written_and_then_the_end(site):
    _, v1, stub, logs, _ = site
    run = start(site)
    with open_log(v1, run) as stream:
        assert stream.status == 200
        assert stream.headers["Content-Type"] == "text/event-stream"
        assert (stream.headers["Cache-Control"], stream.headers["X-Accel-Buffering"]) == ("no-store", "no")
        assert stream.next()[1] == {"state": "not_started", "end": False, "detail": None}
        assert 2000 <= stream.retry <= 5000
        logs.files[run] = ["one", START, "three ä"]
        assert stream.next() == ("lines", {"fromLine": 1, "lines": ["one", START.replace("<br>", "\n"), "three ä"]})
        assert stream.last == "3"
        assert stream.next() == ("state", {"state": "running", "end": False, "detail": None})
        logs.files[run] += ["four", "x" * 70000]
        name, data = stream.next()
        assert (name, data["fromLine"], data["lines"][0]) == ("lines", 4, "four")
        assert data["lines"][1] == "x" * 65536 + " [cut: this line has 70000 bytes]"
        logs.files[run] += ["last"]
        stub.call_back(run)
        rest = stream.rest()
        assert rest[0] == ("lines", {"fromLine": 6, "lines": ["last"]})
        assert rest[-1] == ("state", {"state": "finished", "end": True, "detail": None})
    with open_log(v1, run) as again:  # for those who come back
        assert lines_until(again, 6)[5] == "last"
        assert again.rest() == [("state", {"state": "finished", "end": True, "detail": None})]


def test_a_page_of_a_run_that_has_no_file_yet_is_not_its_end(site):
    """The executor has taken the run, and makes the file when it starts it: a reader comes again."""
    _, v1, stub, logs, _ = site
    run = start(site)
    page = v1.get(f"/runs/{run}/log")
    assert (page["state"], page["end"], page["lines"]) == ("not_started", False, []), page
    logs.files[run] = ["one"]
    page = v1.get(f"/runs/{run}/log")
    assert (page["state"], page["end"], page["lines"]) == ("running", False, ["one"]), page
    stub.call_back(run)
    wait_until(lambda: v1.get(f"/runs/{run}/log?fromLine=2")["end"], "its end")
    del logs.files[run]  # as executors do after some days
    page = v1.get(f"/runs/{run}/log")
    assert (page["state"], page["end"], page["lines"]) == ("cleaned", True, []), page


def test_one_who_comes_back_goes_on_behind_the_last_line(site):
    _, v1, stub, logs, _ = site
    run = start(site)
    logs.files[run] = [f"line {n}" for n in range(1, 2001)]
    with open_log(v1, run, query="?fromLine=11") as stream:
        got = lines_until(stream, 1500)
        assert got[0] == "line 11"
        last = int(stream.last)
    logs.files[run] += ["one more"]
    with open_log(v1, run, last=last, query="?fromLine=1") as stream:
        more = lines_until(stream, 2001 - last)
        assert (more[0], more[-1], len(more)) == (f"line {last + 1}" if last < 2000 else "one more", "one more",
                                                  2001 - last)
    with open_log(v1, run, last=1990) as middle:  # of an event that is kept
        assert lines_until(middle, 11) == [f"line {n}" for n in range(1991, 2001)] + ["one more"]
    stub.call_back(run)


def test_a_long_log_comes_whole_to_a_slow_reader(site):
    _, v1, stub, logs, _ = site
    run = start(site)
    logs.files[run] = [f"{n} " + "y" * 200 for n in range(1, 20001)]  # four times what is kept
    stub.call_back(run)
    with open_log(v1, run) as stream:
        lines = []
        for n in range(20):
            lines += lines_until(stream, 50)
            time.sleep(0.01)
        while len(lines) < 20000:
            lines += stream.next("lines")[1]["lines"]
        assert lines == logs.files[run]
        assert stream.rest()[-1] == ("state", {"state": "finished", "end": True, "detail": None})


def test_many_viewers_are_one_poll(site):
    center, v1, stub, logs, _ = site
    run = start(site)
    logs.files[run] = ["one"]
    names = [f"viewer-{n}" for n in range(7)]
    for name in names:
        answer = v1.ask("POST", "/users", {"name": name, "password": "password-of-a-viewer", "center": "none",
                                           "grants": [{"role": "viewer", "groups": None}]})
        assert answer.status == 201, answer.json
    users = [V1(center, name, "password-of-a-viewer") for name in names]
    logs.asked.clear()
    logs.most = 0
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(open_log(users[n % len(users)], run)) for n in range(100)]
        for stream in streams:
            assert stream.status == 200
            assert lines_until(stream, 1) == ["one"]
        logs.files[run] += ["two"]
        for stream in streams:
            assert lines_until(stream, 1) == ["two"]
        asked = [entry for entry in logs.asked if entry[0] == run]
        assert logs.most == 1
        assert len(asked) <= (time.monotonic() - begun) / 0.5 + 2
        stub.call_back(run)
        for stream in streams:
            assert stream.rest()[-1][1]["state"] == "finished"


def test_a_hanging_executor_holds_up_nobody(site):
    _, v1, stub, logs, _ = site
    run = start(site)
    logs.files[run] = ["one"]
    logs.hang.clear()
    try:
        with open_log(v1, run) as stream, open_log(v1, run) as second:
            assert (stream.status, second.status) == (200, 200)
            for _ in range(20):  # as many pages as one likes
                assert v1.get("/runs?limit=1")
            name, data = stream.next("state")
            assert (data["state"], data["end"]) == ("unreachable", False)
            assert data["detail"]
            assert second.next("state")[1]["state"] == "unreachable"
            logs.hang.set()
            assert lines_until(stream, 1) == ["one"]
            assert stream.next("state")[1]["state"] == "running"
            assert lines_until(second, 1) == ["one"]
    finally:
        logs.hang.set()
    stub.call_back(run)


def test_what_is_refused(site):
    center, v1, stub, logs, _ = site
    run = start(site)
    logs.files[run] = ["one"]
    problem(v1.ask("GET", f"/runs/{run}/log/stream?fromLine=0", Accept="text/event-stream"), 400, "malformed",
            ("fromLine", "number.range"))
    problem(v1.ask("GET", f"/runs/{run}/log/stream", Accept="text/event-stream", Last_Event_ID="7-9"), 400, "malformed",
            ("Last-Event-ID", "line"))
    problem(v1.ask("GET", "/runs/999999/log/stream", Accept="text/event-stream"), 404, "not_found")
    problem(v1.ask("GET", f"/runs/{run}/log/stream", Accept="application/json"), 406, "not_acceptable")
    answer = v1.ask("POST", "/users", {"name": "stranger", "password": "password-of-a-stranger", "center": "none",
                                       "grants": [{"role": "viewer", "groups": [4711]}]})
    if answer.status == 201:
        stranger = V1(center, "stranger", "password-of-a-stranger")
        problem(stranger.ask("GET", f"/runs/{run}/log/stream", Accept="text/event-stream"), 404, "not_found")
    answer = v1.ask("POST", "/users", {"name": "many-streams", "password": "password-of-many", "center": "none",
                                       "grants": [{"role": "viewer", "groups": None}]})
    assert answer.status == 201, answer.json
    many = V1(center, "many-streams", "password-of-many")  # the streams of other tests may not be seen to have gone
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            assert stack.enter_context(open_log(many, run)).status == 200
        with open_log(many, run) as refused:
            assert refused.status == 503
            assert refused.headers["Retry-After"] == "5"
            assert refused.problem()["code"] == "unavailable"
    wait_until(lambda: opens(many, run), "a place")  # they have gone
    stub.call_back(run)


def opens(v1, run):
    with open_log(v1, run) as stream:
        return stream.status == 200


def test_a_stream_ends_with_its_session(site):
    center, v1, stub, logs, _ = site
    run = start(site)
    logs.files[run] = ["one"]
    leaves = V1(center)
    with open_log(leaves, run) as theirs, open_log(v1, run) as ours:
        assert lines_until(theirs, 1) == lines_until(ours, 1) == ["one"]
        assert leaves.ask("DELETE", "/session").status == 204
        theirs.rest()  # ends
        logs.files[run] += ["two"]
        assert lines_until(ours, 1) == ["two"]
        assert ours.comments + theirs.comments >= 1  # it was noticed with the heartbeat
    with open_log(leaves, run) as refused:
        assert refused.status == 401
    stub.call_back(run)


def test_bye_at_a_stop_and_on_after_a_kill(tmp_path):
    """A center is stopped, then killed, under an open log; the client goes on where it was."""
    with Center(tmp_path) as center:
        api = center.api()
        job = api.add_job(api.add_group("tails"), "h")
        with Stub(center, "tails") as stub:
            wait_until(lambda: api.addresses("tails"), "registration")
            logs, v1 = Logs(stub), V1(center)
            api.trigger(job)
            run = stub.wait_runs(1)[0]["logId"]
            logs.files[run] = ["one", "two"]
            with open_log(v1, run) as stream:
                assert lines_until(stream, 2) == ["one", "two"]
                last = stream.last
                center.stop()
                assert stream.rest()[-1] == ("bye", {})
            center.start()
            logs.files[run] += ["three"]
            with open_log(v1, run, last) as stream:
                assert lines_until(stream, 1) == ["three"]
                last = stream.last
                center.kill()
                with pytest.raises(Ended):
                    while True:
                        stream.next("lines")
            center.start()
            logs.files[run] += ["four"]
            with open_log(v1, run, last) as stream:
                assert lines_until(stream, 1) == ["four"]
